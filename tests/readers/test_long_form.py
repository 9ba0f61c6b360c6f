"""One row a sample and class, or a sample and rank, instead of a column a class."""

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcore.data import EventScores, LogitSet
from dashboard.readers import FileError, Upload, read
from tests.readers.files import LABELS, PROBABILITIES, Array, K, N

NAMES = np.array(["cat", "dog", "fox", "hen"])
WANTED = "wanted one row a sample, with a column of scores for every class"


def columns(order: Array, scores: Array = PROBABILITIES) -> dict[str, Array]:
    """Give rows of samples and classes, in an order."""
    long = {
        "image": np.repeat(np.arange(N), K), "true_label": np.repeat(NAMES[LABELS], K),
        "pred_label": np.tile(NAMES, N), "confidence": scores.ravel(),
        "site": np.repeat(np.arange(N) % 3, K), "rank": np.tile(np.arange(K), N),
    }  # fmt: skip
    return {name: values[order] for name, values in long.items()}


def text(made: dict[str, Array]) -> bytes:
    rows = [",".join(map(str, row)) for row in zip(*made.values(), strict=True)]
    return "\n".join([",".join(made), *rows]).encode()


def parquet(made: dict[str, Array]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(made), buffer)
    return buffer.getvalue()


BY_SAMPLE = np.arange(N * K)
BY_CLASS = BY_SAMPLE.reshape(N, K).T.ravel()
BY_SCORE = np.concatenate([k * K + np.argsort(-row) for k, row in enumerate(PROBABILITIES)])


@pytest.mark.parametrize("order", [BY_SAMPLE, BY_CLASS, BY_SCORE])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("top", [1, 100])
def test_rows_of_samples_and_classes_are_put_together(order: Array, kind: str, top: int) -> None:
    made = columns(order, top * PROBABILITIES)
    upload = read(f"a.{kind}", text(made) if kind == "csv" else parquet(made))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities, PROBABILITIES, atol=1e-9)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    assert upload.rows.class_names == tuple(NAMES)
    assert any("160 rows were put together to 40 samples" in said for said in upload.repairs)
    assert "Left out, as they differ within a sample: rank." in upload.repairs
    assert "rank" not in upload.columns["rows"]
    np.testing.assert_array_equal(upload.columns["rows"]["site"].values, np.arange(N) % 3)


def test_true_labels_of_samples_in_other_letters() -> None:
    made = columns(BY_SAMPLE)
    upload = read("a.csv", text({**made, "true_label": np.char.upper(made["true_label"])}))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    assert any("differ in capital letters" in said for said in upload.repairs)


def test_rows_of_samples_and_classes_in_no_order_are_refused() -> None:
    mixed = np.random.default_rng(1).permutation(N * K)
    with pytest.raises(FileError, match="whose scores sum to the number of samples") as caught:
        read("a.csv", text(columns(mixed)))
    assert WANTED in str(caught.value)


def test_rows_of_samples_and_ranks_are_refused() -> None:
    with pytest.raises(FileError, match="one row a sample and rank: each 2 rows have one label"):
        read("a.csv", text(columns(BY_SCORE.reshape(N, K)[:, :2].ravel())))


def test_a_list_of_each_class_beside_its_truth_is_refused() -> None:
    hot = np.eye(K, dtype=int)[LABELS]
    for scores, truth in ((PROBABILITIES, hot), (PROBABILITIES.T, hot.T)):
        with pytest.raises(FileError, match="each 4 scores sum to 1, and one of them is of"):
            read("a.csv", text({"prob": scores.ravel(), "label": truth.ravel()}))


def test_one_score_a_sample_stays_so_however_its_rows_are_sorted() -> None:
    best = PROBABILITIES.argmax(axis=1)
    order = np.argsort(LABELS, kind="stable")
    made: dict[str, Any] = {
        "true_label": NAMES[LABELS], "pred_label": NAMES[best],
        "confidence": PROBABILITIES.max(axis=1),
    }  # fmt: skip
    upload = read("a.csv", text({name: values[order] for name, values in made.items()}))
    is_of(upload, PROBABILITIES.max(axis=1)[order], (best == LABELS)[order])


def is_of(upload: Upload, scores: Array, hits: Array) -> None:
    assert isinstance(upload.rows, EventScores)
    np.testing.assert_allclose(upload.rows.scores, scores)
    np.testing.assert_array_equal(upload.rows.hits, hits)
    assert "Scores: column confidence." in upload.found


def top_one(name: str, scores: Array) -> bytes:
    best = PROBABILITIES.argmax(axis=1)
    return text({"y_true": LABELS, "y_pred": best, name: scores})


@pytest.mark.parametrize("name", ["uncertainty", "loss", "brier", "sample_weight"])
def test_what_is_called_otherwise_is_no_confidence(name: str) -> None:
    with pytest.raises(FileError, match="which is no probability"):
        read("a.csv", top_one(name, 1 - PROBABILITIES.max(axis=1)))


@pytest.mark.parametrize("name", ["p_error", "error_probability"])
def test_a_probability_of_an_error_is_not_that_of_the_prediction(name: str) -> None:
    with pytest.raises(
        FileError, match="a probability called one of error, and not of the predicted class"
    ):
        read("a.csv", top_one(name, PROBABILITIES.max(axis=1)))


@pytest.mark.parametrize("name", ["x1", "similarity", "p_value", "ood_score"])
def test_an_unknown_name_of_the_confidence_is_doubted(name: str) -> None:
    upload = read("a.csv", top_one(name, PROBABILITIES.max(axis=1)))
    assert f"Scores: column {name}." in upload.found
    (said,) = [said for said in upload.doubts if "call the score confidence" in said]
    assert said.startswith(f"Column {name} was taken for the score of the predicted class")


@pytest.mark.parametrize("name", ["confidence", "max_prob", "msp", "certainty", "y_score", "p"])
def test_a_known_name_of_the_confidence_is_not_doubted(name: str) -> None:
    upload = read("a.csv", top_one(name, PROBABILITIES.max(axis=1)))
    assert f"Scores: column {name}." in upload.found
    assert not any("call the score" in said for said in upload.doubts)


def test_numbers_with_fractions_are_no_classes() -> None:
    made = {"y_true": PROBABILITIES[:, 0].round(2), "y_pred": PROBABILITIES[:, 1].round(2)}
    with pytest.raises(FileError, match="numbers with fractions, and no classes"):
        read("a.csv", text({**made, "confidence": PROBABILITIES.max(axis=1)}))
    whole = {"y_true": LABELS.astype(float), "y_pred": PROBABILITIES.argmax(axis=1)}
    upload = read("a.csv", text({**whole, "confidence": PROBABILITIES.max(axis=1)}))
    is_of(upload, PROBABILITIES.max(axis=1), PROBABILITIES.argmax(axis=1) == LABELS)


def rounded(decimals: int) -> Array:
    rows = np.random.default_rng(4).dirichlet(np.ones(K), N).round(decimals)
    assert np.abs(rows.sum(axis=1) - 1).max() > 0.01
    return rows


def test_rounded_scores_of_samples_and_classes() -> None:
    rows = rounded(2)
    upload = read("a.csv", text(columns(BY_SAMPLE, rows)))
    assert isinstance(upload.rows, LogitSet)
    expected = rows / rows.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(upload.rows.probabilities, expected, atol=1e-9)
    with pytest.raises(
        FileError, match=r"sum to 0\.\d to 1\.\d in a sample, as of so few decimals"
    ):
        read("a.csv", text(columns(BY_SAMPLE, rounded(1))))


def test_rows_of_samples_and_classes_of_which_one_is_missing() -> None:
    with pytest.raises(FileError, match=f"go through {K} classes in turn.*{WANTED}"):
        read("a.csv", text(columns(np.delete(BY_SAMPLE, 50))))


def test_one_confidence_in_all_rows_is_of_the_predictions() -> None:
    made = {
        "true_label": ["cat"] * 60 + ["dog"] * 60, "pred_label": ["cat", "dog"] * 60,
        "confidence": [0.5] * 120,
    }  # fmt: skip
    upload = read("a.csv", text({name: np.array(values) for name, values in made.items()}))
    assert isinstance(upload.rows, EventScores)
    assert upload.rows.n_samples == 120


@pytest.mark.parametrize("ids", [[], ["image"]])
def test_a_class_that_takes_every_value_within_a_sample_is_not_the_label(ids: list[str]) -> None:
    long = columns(BY_SAMPLE)
    made = {
        "class": long["pred_label"], "label": long["true_label"], "probability": long["confidence"]
    }  # fmt: skip
    upload = read("a.csv", text({name: long[name] for name in ids} | made))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities, PROBABILITIES)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    assert "were put together to 40 samples" in " ".join(upload.repairs)
    for odd in (
        {"label": long["pred_label"]}, {"label": np.roll(long["true_label"], 1)},
        {"probability": np.full(N * K, 0.5)},
    ):  # fmt: skip
        with pytest.raises(FileError, match="which mean the same"):
            read("a.csv", text(made | odd))
