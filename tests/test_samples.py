"""The stored samples hold what their manifest says."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOLDER = Path(__file__).parents[1] / "sample_logits"
ENTRIES: list[dict[str, Any]] = tomllib.loads(
    (FOLDER / "manifest.toml").read_text(encoding="utf-8")
)["sample"]
NAMES = [
    "fashion_cnn_overconfident",
    "fashion_cnn_label_smoothing",
    "fashion_cnn_focal",
    "fashion_cnn_label_smoothing_0_1",
    "fashion_cnn_focal_1",
    "fashion_cnn_focal_2",
    "city_country_100",
    "crash_survival",
    "three_garments",
    "perfect_synthetic",
]
TEXTS = ["name", "title", "kind", "source", "licence", "model", "training", "teaches"]
NUMBERS = ["seed", "classes", "calibration_rows", "test_rows"]
FASHION = [name for name in NAMES if name.startswith("fashion_cnn")]
ROWS = {
    **dict.fromkeys(FASHION, (5000, 10_000)),
    "city_country_100": (5000, 5000),
    "three_garments": (1500, 3000),
    "perfect_synthetic": (5000, 10_000),
}
SERIES: list[dict[str, Any]] = tomllib.loads((FOLDER / "series.toml").read_text(encoding="utf-8"))[
    "series"
]
SERIES_DIFFERENCE = 5e-4
"""By which a probability may differ: what float16 leaves off."""

LARGEST_TOTAL = 20_000_000

each_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry["name"]))


def load(name: str) -> dict[str, NDArray[Any]]:
    """Read every array of a sample, refusing pickled objects."""
    with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as stored:
        return {key: stored[key] for key in stored.files}


def softmax(logits: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the probabilities of a matrix of logits."""
    wide = logits.astype(np.float64)
    weights = np.exp(wide - wide.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)


def top_score_excess(name: str, part: str) -> tuple[float, float]:
    """Return mean top-1 score minus accuracy, and its standard error if scores are true."""
    arrays = load(name)
    top = softmax(arrays[f"logits_{part}"]).max(axis=1)
    hits = arrays[f"logits_{part}"].argmax(axis=1) == arrays[f"labels_{part}"]
    error = np.sqrt((top * (1 - top)).sum()) / len(top)
    return float(top.mean() - hits.mean()), float(error)


def test_manifest_lists_the_samples_in_order() -> None:
    assert [entry["name"] for entry in ENTRIES] == NAMES


def test_folder_holds_no_other_arrays() -> None:
    listed = {*NAMES, *(name for one in SERIES for name in one["files"])}
    held = {path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.npz")}
    assert held == listed


def test_total_size() -> None:
    assert sum(path.stat().st_size for path in FOLDER.rglob("*.npz")) < LARGEST_TOTAL


@pytest.mark.parametrize("one", SERIES, ids=lambda one: str(one["name"]))
def test_a_series_is_ascending_and_of_the_same_rows(one: dict[str, Any]) -> None:
    assert one["numbers"] == sorted(set(one["numbers"]))
    assert len(one["numbers"]) == len(one["files"])
    first, *others = map(load, one["files"])
    for other in others:
        for part in ("calibration", "test"):
            np.testing.assert_array_equal(first[f"labels_{part}"], other[f"labels_{part}"])


def test_files_of_a_series_are_small_and_end_where_the_sample_does() -> None:
    last, sample = load("series/fashion_cnn_epoch_20"), load("fashion_cnn_overconfident")
    for part, n_rows in (("calibration", 2000), ("test", 5000)):
        logits = last[f"logits_{part}"]
        assert logits.dtype == np.float16
        assert logits.shape == (n_rows, 10)
        np.testing.assert_array_equal(last[f"labels_{part}"], sample[f"labels_{part}"][:n_rows])
        full = softmax(sample[f"logits_{part}"][:n_rows])
        assert np.abs(softmax(logits) - full).max() < SERIES_DIFFERENCE


@each_entry
def test_entry_fields(entry: dict[str, Any]) -> None:
    assert set(entry) - {"columns"} == {*TEXTS, *NUMBERS, "accuracy"}
    assert all(isinstance(entry[key], str) and entry[key].strip() for key in TEXTS)
    assert all(type(entry[key]) is int for key in NUMBERS)
    assert type(entry["accuracy"]) is float
    synthetic = entry["name"] == "perfect_synthetic"
    assert entry["kind"] == ("synthetic" if synthetic else "trained model")
    assert ("synthetic" in entry["title"].lower()) == synthetic


@each_entry
def test_array_names(entry: dict[str, Any]) -> None:
    expected = {"class_names"}
    for part in ("calibration", "test"):
        expected |= {f"logits_{part}", f"labels_{part}"}
        expected |= {f"column_{column}_{part}" for column in entry.get("columns", [])}
    assert set(load(entry["name"])) == expected


@each_entry
@pytest.mark.parametrize("part", ["calibration", "test"])
def test_logits_and_labels(entry: dict[str, Any], part: str) -> None:
    arrays = load(entry["name"])
    logits, labels = arrays[f"logits_{part}"], arrays[f"labels_{part}"]
    assert logits.dtype == np.float32
    assert labels.dtype == np.int64
    assert logits.shape == (entry[f"{part}_rows"], entry["classes"])
    assert labels.shape == (entry[f"{part}_rows"],)
    assert np.isfinite(logits).all()
    assert set(np.unique(labels)) == set(range(entry["classes"]))


@each_entry
def test_row_counts(entry: dict[str, Any]) -> None:
    counted = (entry["calibration_rows"], entry["test_rows"])
    assert ROWS.get(entry["name"], counted) == counted


@each_entry
def test_class_names(entry: dict[str, Any]) -> None:
    names = load(entry["name"])["class_names"]
    assert names.dtype.kind == "U"
    assert names.shape == (entry["classes"],)
    assert len({str(name).strip() for name in names} - {""}) == entry["classes"]


@each_entry
def test_accuracy(entry: dict[str, Any]) -> None:
    arrays = load(entry["name"])
    hits = arrays["logits_test"].argmax(axis=1) == arrays["labels_test"]
    assert entry["accuracy"] == round(float(hits.mean()), 4)


@each_entry
@pytest.mark.parametrize("part", ["calibration", "test"])
def test_slicing_columns(entry: dict[str, Any], part: str) -> None:
    arrays = load(entry["name"])
    for column in entry.get("columns", []):
        values = arrays[f"column_{column}_{part}"]
        assert values.dtype.kind == "U"
        assert values.shape == (entry[f"{part}_rows"],)
        assert len(np.unique(values)) > 1
        assert not (values == "").any()


def test_crash_survival() -> None:
    entry = ENTRIES[NAMES.index("crash_survival")]
    arrays = load("crash_survival")
    assert set(entry["columns"]) == {"sex", "airbag", "seatbelt", "age_band"}
    assert arrays["class_names"].tolist() == ["survived", "died"]
    for part in ("calibration", "test"):
        total = np.exp(arrays[f"logits_{part}"].astype(np.float64)).sum(axis=1)
        np.testing.assert_allclose(total, 1, atol=1e-6)


@pytest.mark.parametrize("part", ["calibration", "test"])
def test_fashion_samples_share_labels(part: str) -> None:
    first, *others = (load(name)[f"labels_{part}"] for name in FASHION)
    for other in others:
        np.testing.assert_array_equal(first, other)


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("fashion_cnn_overconfident", 0.04, 0.08),
        ("city_country_100", 0.1, 1.0),
        ("three_garments", 0.03, 1.0),
    ],
)
def test_overconfident_samples(name: str, least: float, most: float) -> None:
    excess, _ = top_score_excess(name, "test")
    assert least < excess < most


@pytest.mark.parametrize("part", ["calibration", "test"])
def test_perfect_synthetic_scores_are_true(part: str) -> None:
    excess, error = top_score_excess("perfect_synthetic", part)
    assert abs(excess) < 3 * error
