"""Every format and layout gives back the numbers that were put in."""

import hashlib

import numpy as np
import pytest

from calibcore.data import EventScores
from dashboard.readers import FileError, Upload, read
from tests.readers import adapter
from tests.readers.files import (
    GOOD,
    LABELS,
    LABELS_TEST,
    LOGITS,
    LOGITS_TEST,
    PROBABILITIES,
    Array,
    combined,
    logit_set,
    npy,
    npz,
    same,
)


def text_of(upload: Upload) -> str:
    return " ".join((*upload.notes, *upload.repairs, *upload.missing))


@pytest.mark.parametrize("name", sorted(set(GOOD) - {"good.npy", "good.p"}))
def test_one_set(name: str) -> None:
    upload = read(name, GOOD[name])
    same(upload.rows)
    assert upload.values_kind == "logits"
    assert upload.repairs == upload.missing == ()
    assert upload.digest == hashlib.sha256(GOOD[name]).hexdigest()
    assert (upload.calibration, upload.test, upload.piece) == (None, None, None)
    assert "of 40 rows have values outside 0 to 1" in text_of(upload)


def test_our_own_samples() -> None:
    data = npz(
        logits_calibration=LOGITS, labels_calibration=LABELS, logits_test=LOGITS_TEST[:9],
        labels_test=LABELS_TEST[:9], class_names=np.array(["a", "<b>", "é", "="]),
        column_age_test=np.array(["x"] * 9),
    )  # fmt: skip
    upload = read("sample.npz", data)
    same(upload.calibration)
    same(upload.test, LOGITS_TEST[:9], LABELS_TEST[:9])
    assert logit_set(upload.test).class_names == ("a", "<b>", "é", "=")
    assert upload.rows is None
    assert "age cannot be used for grouping: not in both sets" in text_of(upload)
    assert upload.split().test is upload.test


def test_only_a_test_set_is_one_set() -> None:
    same(read("one.npz", npz(logits_test=LOGITS, labels_test=LABELS)).rows)


@pytest.mark.parametrize(
    "array",
    [
        LOGITS.astype(np.float16), LOGITS.astype(">f4"), LOGITS.astype("<f8"),
        np.asfortranarray(LOGITS), LOGITS.round().astype(np.int8), LOGITS.round().astype(">i8"),
    ],
)  # fmt: skip
def test_types_of_numbers(array: Array) -> None:
    upload = read("types.npz", npz(logits=array, labels=LABELS))
    same(upload.rows, array.astype(np.float64).astype(logit_set(upload.rows).logits.dtype))


def test_lone_npy_is_a_piece() -> None:
    logits, labels = read("a.npy", npy(LOGITS)), read("b.npy", npy(LABELS.astype(float)))
    assert logits.piece is not None
    assert labels.piece is not None
    np.testing.assert_array_equal(logits.piece.table, LOGITS)
    np.testing.assert_array_equal(labels.piece.labels, LABELS)
    assert (logits.values_kind, labels.values_kind) == ("logits", None)
    with pytest.raises(FileError, match="no outcomes, only scores"):
        logits.split()
    with pytest.raises(FileError, match="outcomes, but no scores"):
        labels.split()


def test_python_2_strings() -> None:
    # As Python 2 wrote them: text and bytes alike under STRING, with escapes.
    data = (
        b"(dp0\nS'logits'\np1\n(lp2\n(lp3\nF1.5\naF-2\naa(lp4\nF0.25\naL3L\naasS\"labels\"\n"
        b"(lp5\nI0\naI1\nas."
    )
    same(read("old.p", data).rows, np.array([[1.5, -2.0], [0.25, 3.0]]), np.array([0, 1]))


def test_minus_infinity_rules_a_class_out() -> None:
    upload = read("a.csv", b"a,b,label\n-inf,2,b\n3,-Infinity,a\n")
    assert logit_set(upload.rows).probabilities.tolist() == [[0, 1], [1, 0]]
    assert "in 2 cells" in text_of(upload)


def test_two_sets_of_scores() -> None:
    scores = ("val.csv", b"confidence,correct\n0.5,1\n")
    both = combined([scores, scores])
    assert isinstance(both.split().calibration, EventScores)
    assert set(both.sets) == {"calibration", "test"}


def test_adapter_for_the_corpus() -> None:
    labels = adapter.check_adapter("a.npy", npy(LABELS))
    assert list(adapter.arrays_of(labels)) == ["labels"]
    probs = adapter.check_adapter("a.npz", npz(probs=PROBABILITIES * 100, labels=LABELS + 1))
    assert list(adapter.arrays_of(probs)) == ["probs", "labels"]
    assert adapter.warnings_of(probs) == probs.repairs + probs.doubts
    assert len(probs.repairs) == 2
    assert adapter.arrays_of(read("a.csv", b"confidence,correct\n0.5,1\n")) == {}


def test_labels_that_are_text_beside_bare_values() -> None:
    names = np.array([f"LABEL_{label}" for label in LABELS])
    for labels in (names, LABELS.astype("U2")):
        upload = combined([("logits.npy", npy(LOGITS)), ("labels.npy", npy(labels))])
        np.testing.assert_array_equal(logit_set(upload.rows).labels, LABELS)
