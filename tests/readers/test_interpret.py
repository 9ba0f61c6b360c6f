"""What values and labels are taken for, what is mended, and what is refused."""

from typing import Any

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, Upload, read
from tests.readers.files import LABELS, LABELS_TEST, LOGITS, LOGITS_TEST, PROBABILITIES, Array, npz


def upload_of(table: Array, labels: Array = LABELS, **options: Any) -> Upload:
    return read("a.npz", npz(logits=table, labels=labels), **options)


def rows_of(upload: Upload) -> LogitSet:
    assert isinstance(upload.rows, LogitSet)
    return upload.rows


def changed(array: Array, row: Any, value: Any) -> Array:
    copy = array.copy()
    copy[row] = value
    return copy


@pytest.mark.parametrize(
    ("table", "kind", "repair"),
    [
        (PROBABILITIES, "probabilities", None),
        (PROBABILITIES.astype(np.float32), "probabilities", None),
        (PROBABILITIES * 100, "probabilities", "divided by 100 in all 40 rows"),
        (PROBABILITIES.round(2), "probabilities", "rescaled"),
        (PROBABILITIES * 1.04, "probabilities", "rescaled"),
        (
            changed(PROBABILITIES, np.unravel_index(PROBABILITIES.argmin(), (40, 4)), -1e-9),
            "probabilities",
            "below 0",
        ),
        (LOGITS, "logits", None),
        (np.log(PROBABILITIES), "logits", None),
        (np.zeros((40, 4)), "logits", "same values"),
    ],
)
def test_logits_or_probabilities(table: Array, kind: str, repair: str | None) -> None:
    upload = upload_of(table)
    notes = " ".join((*upload.repairs, *upload.missing))
    assert upload.values_kind == kind
    assert (repair or "") in notes
    assert repair or not notes
    if kind == "probabilities":
        expected = table / table.sum(axis=1, keepdims=True)
        got = rows_of(upload).probabilities
        np.testing.assert_allclose(got, np.clip(expected, 0, 1), rtol=1e-6, atol=1e-8)
    else:
        np.testing.assert_array_equal(rows_of(upload).logits, table)


def test_the_user_overrules() -> None:
    upload = upload_of(PROBABILITIES, values="logits")
    assert upload.values_kind == "logits"
    np.testing.assert_array_equal(rows_of(upload).logits, PROBABILITIES)
    assert "you said so" in " ".join(upload.found)
    assert upload.digest == upload_of(PROBABILITIES).digest
    with pytest.raises(FileError, match="probabilities: found rows sum to"):
        upload_of(LOGITS, values="probabilities")
    from_one = upload_of(LOGITS, np.minimum(LABELS + 1, 3), first_label=1)
    np.testing.assert_array_equal(rows_of(from_one).labels, np.minimum(LABELS, 2))
    with pytest.raises(FileError, match=r"labels: found values such as 4, out of range"):
        upload_of(LOGITS, LABELS + 1, first_label=0)


@pytest.mark.parametrize(
    ("labels", "repair"),
    [
        (LABELS + 1, r"1 to 4 were shifted to 0 to 3 \(40 labels\)"),
        (LABELS.astype(float), r"decimals.*\(40 labels\)"),
        (np.eye(4)[LABELS], r"One-hot.*\(40 rows\)"),
        (np.eye(4, dtype=bool)[LABELS], r"One-hot"),
        (LABELS[:, np.newaxis], ""),
        (LABELS.astype(np.uint64), ""),
    ],
)
def test_labels_are_mended(labels: Array, repair: str) -> None:
    upload = upload_of(LOGITS, labels)
    np.testing.assert_array_equal(rows_of(upload).labels, LABELS)
    if repair:
        with pytest.raises(AssertionError, match=repair):
            raise AssertionError(upload.repairs)
    else:
        assert upload.repairs == ()


def test_first_label_is_decided_for_both_sets_together() -> None:
    data = npz(
        logits_val=LOGITS, labels_val=LABELS + 1, logits_test=LOGITS_TEST[:3],
        labels_test=np.array([1, 2, 3]),
    )  # fmt: skip
    upload = read("a.npz", data)
    assert isinstance(upload.test, LogitSet)
    assert upload.test.labels.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("table", "labels", "message"),
    [
        (changed(LOGITS, ([3, 5], 0), np.nan), LABELS, r"NaN in 2 rows \(rows 4, 6\)"),
        (changed(LOGITS, (7, 1), np.inf), LABELS, r"infinity.*1 row \(row 8\)"),
        (changed(LOGITS, 7, -np.inf), LABELS, r"every class.*row 8"),
        (changed(LOGITS, (range(40), LABELS), -np.inf), LABELS, r"true class.*first in rows 1, 2"),
        (LOGITS[:, :, np.newaxis], LABELS, "3 dimensions"),
        (LOGITS[:, :1], LABELS, "class numbers from 0 to 1"),
        (LOGITS[:-1], LABELS, "40 labels for 39 rows"),
        (LOGITS, LABELS - 1, r"negative labels down to -1"),
        (LOGITS, changed(LABELS, 2, -100), r"-100 in 1 row \(row 3\)"),
        (LOGITS, changed(LABELS, 2, 7), r"7, out of range, in 1 row \(row 3\)"),
        (LOGITS, changed(LABELS.astype(np.uint64), 2, 2**64 - 1), "out of range"),
        (LOGITS, changed(LABELS.astype(float), 2, np.inf), "NaN or inf"),
        (LOGITS, LABELS + 0.5, "not integers in 40 rows"),
        (LOGITS, PROBABILITIES, "soft or several labels"),
        (LOGITS, np.zeros((40, 3)), r"shape \(40, 3\)"),
        (LOGITS, np.array(1), r"shape \(\)"),
        (np.abs(LOGITS) / 20, LABELS, "within 0 to 1 whose rows sum to .* your word"),
        (PROBABILITIES * 0.9, LABELS, "within 0 to 1 whose rows sum to"),
        (changed(PROBABILITIES, (3, 0), 1.7), LABELS, "probabilities in most rows.*row 4"),
        (PROBABILITIES[:, 0] * 90, LABELS % 2, "outside 0 to 1"),
    ],
)
def test_refused(table: Array, labels: Array, message: str) -> None:
    with pytest.raises(FileError, match=message) as caught:
        upload_of(table, labels)
    assert len(str(caught.value)) <= 600


@pytest.mark.parametrize(
    ("table", "labels", "sentence"),
    [
        (LOGITS, np.minimum(LABELS, 2), "truly of class 3"),
        (LOGITS[:1], LABELS[:1], "One row only"),
        (np.full((40, 4), 2.0), LABELS, "All rows have the same values"),
        (np.eye(4)[LABELS[::-1]], LABELS, "probability 0"),
        (changed(LOGITS, (range(40), (LABELS + 1) % 4), -np.inf), LABELS, "in 40 cells"),
    ],
)
def test_warned_of(table: Array, labels: Array, sentence: str) -> None:
    upload = upload_of(table, labels)
    assert sentence in " ".join((*upload.repairs, *upload.missing, *upload.doubts))
    assert np.isfinite(rows_of(upload).probabilities).all()


def test_two_sets_of_different_classes() -> None:
    data = npz(
        logits_val=LOGITS, labels_val=LABELS, logits_test=LOGITS[:, :3], labels_test=LABELS_TEST
    )
    with pytest.raises(FileError, match="same classes"):
        read("a.npz", data)


def test_class_names_that_do_not_fit() -> None:
    for names in (["a", "b"], ["a", "a", "b", "c"]):
        data = npz(logits=LOGITS, labels=LABELS, class_names=np.array(names))
        with pytest.raises(FileError, match="class_names"):
            read("a.npz", data)


def test_one_row_cannot_be_split() -> None:
    with pytest.raises(FileError, match="at least 2"):
        upload_of(LOGITS[:1], LABELS[:1]).split()
    halves = upload_of(LOGITS).split(calibration_share=0.25, seed=1)
    assert halves.calibration.n_samples == 10


def test_text_labels_beside_class_names() -> None:
    names = np.array(["cat", "dog", "fox", "owl"])
    data = npz(logits=LOGITS, labels=names[LABELS], class_names=names)
    np.testing.assert_array_equal(rows_of(read("a.npz", data)).labels, LABELS)
    data = npz(logits=LOGITS, labels=np.where(LABELS == 2, "cow", names[LABELS]), class_names=names)
    count = int(np.sum(LABELS == 2))
    with pytest.raises(FileError, match=f'label "cow", which is the name of no .* in {count} rows'):
        read("a.npz", data)
    text = npz(logits=LOGITS, labels=LABELS, odd=names[LABELS], class_names=names)
    assert "Kept to tell rows apart: odd." in read("a.npz", text).found
    upload = read("a.npz", text, label_column="odd")
    np.testing.assert_array_equal(rows_of(upload).labels, LABELS)


def test_percentages_and_fractions_in_one_column_are_refused() -> None:
    scores = np.where(np.arange(40) < 3, PROBABILITIES.max(axis=1), 85.0)
    rows = [f"{score},{k % 2}" for k, score in enumerate(scores)]
    data = "\n".join(["confidence,correct", *rows]).encode()
    with pytest.raises(FileError, match=r"values below 1 in 3 rows \(rows 2, 3, 4\) of the file"):
        read("a.csv", data)
    told = read("a.csv", data, values="probabilities")
    assert any("divided by 100 in all 40" in said for said in told.repairs)
