"""Write a sample's arrays and its entry in ``manifest.toml``.

Every script in this folder ends in :func:`write_sample`, which measures the test-set accuracy
from the arrays it stores, so the manifest and the arrays cannot disagree.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int64]
TextArray = NDArray[np.str_]

SAMPLES_FOLDER = Path(__file__).resolve().parents[1]
"""The folder that holds the ``.npz`` files and the manifest."""

SERIES_FOLDER = SAMPLES_FOLDER / "series"
"""The folder of the files that belong to a series, whose list is ``series.toml``."""

ORDER = (
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
)
"""The order of the samples in the manifest."""


@dataclass(frozen=True)
class Rows:
    """The logits and labels of one set (calibration or test), with its slicing columns."""

    logits: FloatArray
    labels: IntArray
    columns: dict[str, TextArray] = field(default_factory=dict)

    def accuracy(self) -> float:
        """Return the fraction of rows whose largest logit is at the label."""
        return float(np.mean(self.logits.argmax(axis=1) == self.labels))


@dataclass(frozen=True)
class Description:
    """The texts of a sample that a person reads, and its seed."""

    name: str
    title: str
    source: str
    licence: str
    model: str
    training: str
    seed: int
    teaches: str
    kind: str = "trained model"


def write_sample(
    description: Description,
    calibration: Rows,
    test: Rows,
    class_names: list[str],
    folder: Path = SAMPLES_FOLDER,
) -> None:
    """Write ``<name>.npz`` and put the sample's entry into the manifest.

    Parameters
    ----------
    description
        The texts of the sample.
    calibration, test
        The two sets.
    class_names
        One name for each column of the logits.
    folder
        Where the files go.
    """
    _check(calibration, class_names)
    _check(test, class_names)
    columns = sorted(calibration.columns)
    if columns != sorted(test.columns):
        raise ValueError("The calibration set and the test set must have the same columns.")
    arrays: dict[str, NDArray[Any]] = {
        "logits_calibration": calibration.logits,
        "labels_calibration": calibration.labels,
        "logits_test": test.logits,
        "labels_test": test.labels,
        "class_names": np.array(class_names, dtype=np.str_),
    }
    for name in columns:
        arrays[f"column_{name}_calibration"] = calibration.columns[name]
        arrays[f"column_{name}_test"] = test.columns[name]
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / f"{description.name}.npz", allow_pickle=False, **arrays)
    _update_manifest(folder / "manifest.toml", _entry(description, calibration, test, columns))


def write_checkpoint(
    path: Path,
    calibration: tuple[FloatArray, IntArray],
    test: tuple[FloatArray, IntArray],
    class_names: list[str],
) -> None:
    """Write one file of a series: logits below the largest of their row as float16, and labels.

    The largest logit of each row becomes 0, which leaves its probabilities as they are and the
    logits that count with most digits.
    """
    arrays: dict[str, NDArray[Any]] = {"class_names": np.array(class_names, dtype=np.str_)}
    for part, (logits, labels) in (("calibration", calibration), ("test", test)):
        below = logits - logits.max(axis=1, keepdims=True)
        arrays[f"logits_{part}"] = below.astype(np.float16)
        arrays[f"labels_{part}"] = labels.astype(np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, allow_pickle=False, **arrays)


def _check(rows: Rows, class_names: list[str]) -> None:
    """Raise ``ValueError`` where one set is not fit to be stored."""
    if rows.logits.dtype != np.float32 or rows.labels.dtype != np.int64:
        raise ValueError("Logits must be float32 and labels int64.")
    if rows.logits.shape != (len(rows.labels), len(class_names)):
        raise ValueError("The logits need one row per label and one column per class.")
    if not np.isfinite(rows.logits).all():
        raise ValueError("Every logit must be finite.")
    for name, column in rows.columns.items():
        if column.shape != rows.labels.shape or column.dtype.kind != "U":
            raise ValueError(f"Column {name!r} must hold one text per row.")


def _entry(
    description: Description, calibration: Rows, test: Rows, columns: list[str]
) -> dict[str, Any]:
    """Return the manifest entry of a sample, its numbers measured from the arrays."""
    entry: dict[str, Any] = {
        "name": description.name,
        "title": description.title,
        "kind": description.kind,
        "source": description.source,
        "licence": description.licence,
        "model": description.model,
        "training": description.training,
        "seed": description.seed,
        "classes": test.logits.shape[1],
        "calibration_rows": len(calibration.labels),
        "test_rows": len(test.labels),
        "accuracy": round(test.accuracy(), 4),
        "teaches": description.teaches,
    }
    if columns:
        entry["columns"] = columns
    return entry


def _update_manifest(path: Path, entry: dict[str, Any]) -> None:
    """Replace or add one entry of the manifest, and keep the entries in :data:`ORDER`."""
    known: dict[str, dict[str, Any]] = {}
    if path.exists():
        stored = tomllib.loads(path.read_text(encoding="utf-8"))
        known = {old["name"]: old for old in stored.get("sample", [])}
    known[entry["name"]] = entry
    entries = [known[name] for name in ORDER if name in known]
    path.write_text("\n".join(_table(each) for each in entries), encoding="utf-8")


def _table(entry: dict[str, Any]) -> str:
    """Return one ``[[sample]]`` table as TOML."""
    lines = [f"{key} = {_value(key, value)}" for key, value in entry.items()]
    return "\n".join(["[[sample]]", *lines, ""])


def _value(key: str, value: Any) -> str:
    """Return one TOML value; a JSON string of printable text is a TOML basic string."""
    if key == "accuracy":
        return f"{value:.4f}"
    return json.dumps(value, ensure_ascii=False)
