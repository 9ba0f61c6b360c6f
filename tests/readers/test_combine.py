"""Files that belong together."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, Upload, combine, read
from tests.readers.files import HEADER, LABELS, LABELS_TEST, LOGITS, LOGITS_TEST, Array, csv_of, npy


def piece(name: str, array: Array) -> Upload:
    return read(name, npy(array))


def table(name: str, logits: Array, labels: Array) -> Upload:
    return read(name, csv_of(logits, labels, header=HEADER))


def same(rows: object, logits: Array, labels: Array) -> None:
    assert isinstance(rows, LogitSet)
    np.testing.assert_array_equal(rows.logits, logits)
    np.testing.assert_array_equal(rows.labels, labels)


def test_one_passes_through() -> None:
    upload = piece("a.npy", LOGITS)
    assert combine([upload]) is upload


@pytest.mark.parametrize("labels", [LABELS, LABELS + 1, np.eye(4)[LABELS], LABELS[:, np.newaxis]])
@pytest.mark.parametrize("turned", [1, -1])
def test_logits_and_labels(labels: Array, turned: int) -> None:
    both = [piece("a.npy", LOGITS), piece("b.npy", labels)][::turned]
    upload = combine(both)
    same(upload.rows, LOGITS, LABELS)
    digests = "".join(part.digest for part in both)
    assert upload.digest == hashlib.sha256(digests.encode()).hexdigest()
    assert '"a.npy" with labels from "b.npy"' in upload.found[0]


@pytest.mark.parametrize(
    ("names", "calibration_first", "why"),
    [
        (("x_val.csv", "x_test.csv"), True, "by its name"),
        (("x_test.csv", "x_valid.csv"), False, "by its name"),
        (("x_test.csv", "other.csv"), False, "by its name"),
        (("medical.csv", "other.csv"), True, "being the first"),
    ],
)
def test_calibration_and_test(names: tuple[str, str], calibration_first: bool, why: str) -> None:  # noqa: FBT001
    upload = combine([table(names[0], LOGITS, LABELS), table(names[1], LOGITS_TEST, LABELS_TEST)])
    sets = (upload.calibration, upload.test)
    first, second = sets if calibration_first else sets[::-1]
    same(first, LOGITS, LABELS)
    same(second, LOGITS_TEST, LABELS_TEST)
    assert why in upload.found[0]


def test_labels_from_one_are_judged_together() -> None:
    few = np.array([1, 2, 3])
    upload = combine([table("val.csv", LOGITS, LABELS + 1), table("test.csv", LOGITS[:3], few)])
    same(upload.test, LOGITS[:3], few - 1)


@pytest.mark.parametrize(
    "names",
    [
        ("logits_val.npy", "y_val.npy", "logits_test.npy", "y_test.npy"),
        ("a.npy", "y_val.npy", "b.npy", "y_test.npy"),
        ("logits_val.npy", "c.npy", "logits_test.npy", "d.npy"),
        ("a.npy", "b.npy", "c.npy", "d.npy"),
    ],
)
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 3, 1)])
def test_four(names: Sequence[str], order: Sequence[int]) -> None:
    arrays = (LOGITS, LABELS, LOGITS_TEST[:30], LABELS_TEST[:30])
    pieces = [piece(name, array) for name, array in zip(names, arrays, strict=True)]
    upload = combine([pieces[k] for k in order])
    same(upload.calibration, LOGITS, LABELS)
    same(upload.test, LOGITS_TEST[:30], LABELS_TEST[:30])


def test_four_when_only_the_labels_are_named() -> None:
    pieces = [
        piece("a.npy", LOGITS_TEST[:30]), piece("b.npy", LOGITS),
        piece("y_val.npy", LABELS), piece("y_test.npy", LABELS_TEST[:30]),
    ]  # fmt: skip
    upload = combine(pieces)
    same(upload.calibration, LOGITS, LABELS)
    assert "by the names that tell" in " ".join(upload.found)


def test_scores_and_one_hot_labels() -> None:
    upload = combine([piece("s.npy", np.array([0.9, 0.2])), piece("y.npy", np.eye(2)[[1, 0]])])
    assert isinstance(upload.rows, LogitSet)
    assert upload.rows.labels.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("uploads", "message"),
    [
        ([], "0 files"),
        ([piece("a.npy", LOGITS)] * 3, "3 files"),
        ([piece("a.npy", LOGITS)] * 2, "2 with bare values"),
        ([piece("a.npy", LABELS)] * 2, "2 with bare labels"),
        ([piece("a.npy", LABELS), table("b.csv", LOGITS, LABELS)], "1 with both"),
        ([piece("a.npy", LOGITS), piece("b.npy", LABELS[:-1])], "40 rows in .* 39 labels"),
        (
            [piece(f"{k}.npy", array) for k, array in enumerate([LOGITS] * 2 + [LABELS] * 2)],
            "do not tell calibration",
        ),
        (
            [table("val.csv", LOGITS, LABELS), read("test.csv", b"confidence,correct\n0.5,1\n")],
            "one layout",
        ),
    ],
)
def test_refused(uploads: Sequence[Upload], message: str) -> None:
    with pytest.raises(FileError, match=message):
        combine(uploads)


def test_what_was_overruled_holds_for_all() -> None:
    first = read("val.csv", csv_of(LOGITS, LABELS, header=HEADER), values="logits")
    second = table("test.csv", LOGITS_TEST, LABELS_TEST)
    assert re.search("said so", " ".join(combine([first, second]).found))
    third = read("test.csv", csv_of(LOGITS, LABELS, header=HEADER), first_label=0)
    with pytest.raises(FileError, match="different readings"):
        combine([first, third])
