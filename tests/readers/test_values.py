"""Logits, probabilities or percentages: what values are taken for, and what is said of it."""

from typing import Any

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, Question, Upload, read
from tests.readers.files import (
    LABELS,
    LABELS_TEST,
    LOGITS,
    LOGITS_TEST,
    PROBABILITIES,
    Array,
    event_scores,
    headed,
    logit_set,
    npz,
)

OTHERS = np.exp(LOGITS_TEST) / np.exp(LOGITS_TEST).sum(axis=1, keepdims=True)
SCORES = np.linspace(0.02, 0.97, 40)
ODDS = np.log(SCORES / (1 - SCORES))


def upload_of(table: Array, labels: Array = LABELS, **options: Any) -> Upload:
    return read("a.npz", npz(logits=table, labels=labels), **options)


def rows_of(upload: Upload) -> LogitSet:
    assert isinstance(upload.rows, LogitSet)
    return upload.rows


def changed(array: Array, row: Any, value: Any) -> Array:
    copy = array.copy()
    copy[row] = value
    return copy


LEAST = np.unravel_index(PROBABILITIES.argmin(), (40, 4))


@pytest.mark.parametrize(
    ("table", "kind", "repair"),
    [
        (PROBABILITIES, "probabilities", ""),
        (PROBABILITIES.astype(np.float32), "probabilities", ""),
        (PROBABILITIES * 100, "probabilities", "divided by 100 in all 40 rows"),
        (PROBABILITIES.round(2), "probabilities", "rescaled"),
        (PROBABILITIES * 1.04, "probabilities", "rescaled"),
        (
            changed(PROBABILITIES, LEAST, -1e-9),
            "probabilities",
            "(row 28), by at most 1e-09, were moved",
        ),
        (LOGITS, "logits", ""),
        (np.log(PROBABILITIES), "logits", ""),
        (np.zeros((40, 4)), "logits", "same values"),
        (np.where(np.arange(4) == LABELS[:, np.newaxis], 0.0, -np.inf), "logits", "in 120 cells"),
    ],
)
def test_logits_or_probabilities(table: Array, kind: str, repair: str) -> None:
    upload = upload_of(table)
    notes = " ".join((*upload.repairs, *upload.missing))
    assert upload.values_kind == kind
    assert repair in notes
    assert repair or not notes
    if kind == "logits":
        np.testing.assert_array_equal(rows_of(upload).logits, table)
        return
    expected = np.clip(table / table.sum(axis=1, keepdims=True), 0, 1)
    np.testing.assert_allclose(rows_of(upload).probabilities, expected, rtol=1e-6, atol=1e-8)


MIXED = [np.where(np.arange(40)[:, np.newaxis] < n, LOGITS, PROBABILITIES) for n in (4, 20, 36)]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (changed(LOGITS, ([3, 5], 0), np.nan), r"NaN.* in 2 rows \(rows 4, 6\)"),
        (changed(LOGITS, (7, 1), np.inf), r"logits 1 \(infinite\); in 1 row \(row 8\)"),
        (changed(LOGITS, 7, -np.inf), r"every class.*row 8"),
        (changed(LOGITS, (range(40), LABELS), -np.inf), "true class .*first in rows 1, 2, 3"),
        (LOGITS[:-1], "40 rows where the others have 39"),
        (np.abs(LOGITS) / 20, r"within 0 to 1 whose rows sum to .*What are these values\?"),
        (PROBABILITIES * 0.9, "within 0 to 1 whose rows sum to 0.9"),
        (changed(PROBABILITIES, (3, 0), 1.7), r"rows sum to .* in 1 row \(row 4\)"),
        (np.exp(ODDS)[:, np.newaxis] * [1, 2], "no value below 0"),
        (MIXED[0], "probabilities in most rows, but not in 4 rows"),
        (MIXED[1], "logits in most rows, but probabilities in 20 rows"),
        (MIXED[2], r"logits in most rows, but probabilities in 4 rows \(first in rows 37, 38"),
    ],
)
def test_refused_or_asked(table: Array, message: str) -> None:
    labels = LABELS % 2 if table.shape[1] == 2 else LABELS
    with pytest.raises(FileError, match=message) as caught:
        upload_of(table, labels)
    assert len(str(caught.value)) <= 600
    if isinstance(caught.value, Question) and "values" in caught.value.field:
        (answer,) = (one for one in caught.value.answers if one.label == "Logits")
        with pytest.raises(FileError, match="Expected probabilities from 0 to 1"):
            upload_of(table, labels, values="none")
        upload = upload_of(table, labels, **answer.change)
        np.testing.assert_array_equal(rows_of(upload).logits, table)


def test_the_user_overrules() -> None:
    upload = upload_of(PROBABILITIES, values="logits")
    np.testing.assert_array_equal(rows_of(upload).logits, PROBABILITIES)
    assert "Logits, because you said so." in upload.notes
    assert upload.digest == upload_of(PROBABILITIES).digest
    assert "because you said so" in " ".join(upload_of(PROBABILITIES, values="probabilities").notes)
    assert "you said" not in " ".join(upload_of(PROBABILITIES, values="percentages").notes)
    for word in ("probabilities", "percentages"):
        with pytest.raises(FileError, match="probabilities: rows sum to"):
            upload_of(LOGITS, values=word)
    with pytest.raises(FileError, match=r"unfit in 1 row \(row 8\)"):
        upload_of(changed(np.full((40, 4), 0.25), 7, [1.5, 0, 0, 0]), values="probabilities")


@pytest.mark.parametrize(
    ("labels", "table", "sentence"),
    [
        (np.minimum(LABELS, 2), LOGITS, "No row is of class 3"),
        (LABELS[:1], LOGITS[:1], "One row only"),
        (LABELS, np.full((40, 4), 2.0), "All rows have the same values"),
        (LABELS, np.eye(4)[LABELS[::-1]], "probability 0"),
        (LABELS, changed(LOGITS, (range(40), (LABELS + 1) % 4), -np.inf), "in 40 cells"),
    ],
)
def test_warned_of(labels: Array, table: Array, sentence: str) -> None:
    upload = upload_of(table, labels)
    assert sentence in " ".join((*upload.repairs, *upload.missing, *upload.doubts))
    assert np.isfinite(rows_of(upload).probabilities).all()


def test_one_row_cannot_be_split() -> None:
    with pytest.raises(FileError, match="at least 2"):
        upload_of(LOGITS[:1], LABELS[:1]).split()
    assert upload_of(LOGITS).split(calibration_share=0.25, seed=1).calibration.n_samples == 10


@pytest.mark.parametrize("lift", [0.0, 1e-9, 3e-7])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_rounded_rows_are_scaled_as_a_set_does(dtype: type[np.floating], lift: float) -> None:
    rng = np.random.default_rng(3)
    exact = rng.dirichlet(np.full(5, 0.05), 4000)
    table = np.maximum(exact.astype(dtype) + lift * rng.normal(size=exact.shape), 0).astype(dtype)
    labels = rng.integers(0, 5, len(table))
    wanted = LogitSet.from_probabilities(table.astype(np.float64), labels)
    rows = rows_of(read("a.npz", npz(probs=table, labels=labels)))
    assert rows.probabilities.tobytes() == wanted.probabilities.tobytes()
    assert rows.labels.dtype == np.int64


@pytest.mark.parametrize(
    ("name", "table", "text"),
    [
        ("probs", LOGITS, "but they are outside 0 to 1 and were read as logits"),
        ("logits", PROBABILITIES, "but every row sums to 1 and they were read as probabilities"),
        ("logits", 100 * PROBABILITIES, "but every row sums to 100 and they were read as prob"),
        ("outputs", PROBABILITIES, ""),
        ("log_probs", LOGITS, ""),
        ("probs", np.log(PROBABILITIES), ""),
    ],
)
def test_values_that_are_called_otherwise_are_doubted(name: str, table: Array, text: str) -> None:
    doubts = " ".join(read("a.npz", npz(compress=False, labels=LABELS, **{name: table})).doubts)
    assert (f'The values are called "{name}", {text}' in doubts) == bool(text)
    assert ("The values are called" in doubts) == bool(text)


def one_archive(calibration: Array, test: Array, **choices: Any) -> Upload:
    return read("a.npz", npz(
        logits_val=calibration, labels_val=LABELS, logits_test=test, labels_test=LABELS_TEST
    ), **choices)  # fmt: skip


@pytest.mark.parametrize(
    ("calibration", "test", "text"),
    [
        (LOGITS, OTHERS, "logits in the calibration set, but probabilities in the test set"),
        (100 * PROBABILITIES, OTHERS, "percentages in the calibration set, but probabilities in"),
        # All of one set is at fault, not a few of all rows.
        (LOGITS, OTHERS * 0.8, "test set values: values within 0 to 1 whose rows sum to 0.8"),
        (LOGITS, LOGITS_TEST[:, :3], "4 classes in the calibration set but 3 classes in the test"),
    ],
)
def test_sets_of_other_values_are_refused(calibration: Array, test: Array, text: str) -> None:
    with pytest.raises(FileError, match=text):
        one_archive(calibration, test)


def test_a_question_about_one_set_can_be_answered() -> None:
    with pytest.raises(Question, match="calibration set values: no value below 0") as caught:
        one_archive(np.abs(LOGITS), LOGITS_TEST)
    answer = caught.value.answers[0]
    assert one_archive(np.abs(LOGITS), LOGITS_TEST, **answer.change).values_kind == "logits"


@pytest.mark.parametrize("test", [OTHERS, LOGITS_TEST])
def test_the_word_of_the_user_holds_for_both_sets(test: Array) -> None:
    upload = one_archive(LOGITS, test, values="logits")
    np.testing.assert_array_equal(logit_set(upload.test).logits, test)
    text = "Every row of the test set is within 0 to 1 and sums to 1, so these may be"
    assert any(doubt.startswith(text) for doubt in upload.doubts) == (test is OTHERS)


def two_scores(calibration: Array, test: Array, **choices: Any) -> Upload:
    halves = LABELS % 2
    return read("a.npz", npz(
        scores_val=calibration, labels_val=halves[: len(calibration)],
        scores_test=test, labels_test=halves[: len(test)],
    ), **choices)  # fmt: skip


def test_scores_of_other_values_are_refused() -> None:
    for scores, others in ((SCORES, ODDS), (ODDS, SCORES), (ODDS, SCORES[:20])):
        with pytest.raises(FileError, match=r"in the calibration set, but .* in the test set"):
            two_scores(scores, others)
    assert two_scores(ODDS, SCORES[:4]).values_kind == "logits"


def test_percentages_of_one_set_only_are_doubted() -> None:
    text = "No score of the test set is above 1"
    for test, doubted in ((SCORES, True), (90 * SCORES, False)):
        upload = two_scores(100 * SCORES, test, values="percentages")
        assert any(doubt.startswith(text) for doubt in upload.doubts) == doubted


@pytest.mark.parametrize("heads", ["confidence,correct", "score,label"])
def test_few_scores_above_1_are_no_percentages(heads: str) -> None:
    with pytest.raises(FileError, match=r"outside 0 to 1.* in 1 row \(row 4\) of the file"):
        read("a.csv", f"{heads}\n0.9,1\n0.2,0\n1.01,0\n".encode(), values="probabilities")


@pytest.mark.parametrize(
    ("scores", "asked"),
    [
        (np.arange(40) % 5 + 1, "whole numbers from 1 to 5"),
        (np.where(np.arange(40) < 3, 0.9, 85.5), r"from 0 to 1 in 3 rows \(rows 2, 3, 4\) of"),
    ],
)
def test_scores_of_predictions_that_may_be_no_percentages(scores: Array, asked: str) -> None:
    data = headed("confidence,correct", scores, np.arange(len(scores)) % 2)
    with pytest.raises(Question, match=asked) as caught:
        read("a.csv", data)
    texts = [answer.label for answer in caught.value.answers]
    assert texts == ["None of these", "Percentages"]
    rows_read = event_scores(read("a.csv", data, values="percentages").rows)
    np.testing.assert_allclose(rows_read.scores, scores / 100)
    with pytest.raises(FileError, match="called logits"):
        read("a.csv", data, values="logits")


def test_percentages_below_1_of_a_thousand_classes() -> None:
    rng = np.random.default_rng(8)
    truth = rng.integers(1000, size=3000)
    told = np.where(rng.random(3000) < 0.6, truth, rng.integers(1000, size=3000))
    scores = rng.uniform(0.5, 99, 3000).round(2)
    upload = read("a.csv", headed("true_label,pred_label,confidence", truth, told, scores))
    np.testing.assert_allclose(event_scores(upload.rows).scores, scores / 100)
