"""Files that belong together."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, Upload, combine, read
from tests.readers.files import (
    HEADER,
    LABELS,
    LABELS_TEST,
    LOGITS,
    LOGITS_TEST,
    Array,
    csv_of,
    npy,
    npz,
)


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


# The same rows and the same classes ----------------------------------------------------------

CLASSES = ("ant", "bee", "cow", "doe")
TEXTS = [CLASSES[k] for k in LABELS]


def lines(header: str, *columns: Array | Sequence[object]) -> bytes:
    rows = (",".join(map(str, row)) for row in zip(*columns, strict=True))
    return "\n".join([header, *rows]).encode()


def values(ids: Sequence[object], name: str = "id") -> Upload:
    return read("p.csv", lines(f"{name},{','.join(CLASSES)}", ids, *LOGITS.T.tolist()))


def by_id(ids: Sequence[object], order: Array, name: str = "id") -> Upload:
    columns = [[ids[k] for k in order], [TEXTS[k] for k in order]]
    return read("y.csv", lines(f"{name},label", *columns))


@pytest.mark.parametrize("ids", [list(range(100, 140)), [f"{k}.png" for k in range(40)]])
def test_labels_in_another_order_than_the_rows(ids: Sequence[object]) -> None:
    order = np.roll(np.arange(40)[::-1], 3)
    upload = combine([values(ids), by_id(ids, order)])
    same(upload.rows, LOGITS, LABELS)
    assert 'in the order of the rows by column "id" (40 rows)' in " ".join(upload.repairs)
    plain = combine([values(ids), by_id(ids, np.arange(40))])
    same(plain.rows, LOGITS, LABELS)
    assert 'Column "id" is the same in both files, row by row.' in plain.found
    unnamed = combine([values(ids), read("y.csv", lines("label", TEXTS))])
    same(unnamed.rows, LOGITS, LABELS)


def test_labels_of_other_rows() -> None:
    ids = list(range(40))
    with pytest.raises(FileError, match="rows that are not those of the other file"):
        combine([values(ids), by_id(list(range(1, 41)), np.arange(40))])
    twice = [0, *range(39)]
    with pytest.raises(FileError, match="rows in another order, and some twice"):
        combine([values(twice), by_id(twice, np.arange(40)[::-1])])
    # Without a name, an index may have been counted anew.
    other = combine([values(ids, ""), by_id(list(range(1, 41)), np.arange(40), "")])
    same(other.rows, LOGITS, LABELS)


def whole(
    name: str, order: Sequence[int], labels: Array | Sequence[object], turned: int = 1
) -> Upload:
    names = ",".join(CLASSES[k] for k in order)
    columns = [LOGITS[::turned, k].tolist() for k in order]
    return read(name, lines(f"{names},label", *columns, list(labels)[::turned]))


def test_class_columns_in_another_order() -> None:
    upload = combine(
        [whole("val.csv", range(4), TEXTS), whole("test.csv", (2, 0, 3, 1), TEXTS, -1)]
    )
    same(upload.calibration, LOGITS, LABELS)
    same(upload.test, LOGITS_TEST, LABELS_TEST)
    assert "were put in the order" in " ".join(upload.repairs)
    with pytest.raises(FileError, match="columns in another order in the test set"):
        combine([whole("val.csv", range(4), LABELS), whole("test.csv", (2, 0, 3, 1), LABELS, -1)])


def test_classes_of_other_names() -> None:
    odd = read("test.csv", lines("a,b,c,d,label", *LOGITS_TEST.T.tolist(), LABELS_TEST))
    upload = combine([whole("val.csv", range(4), LABELS), odd])
    same(upload.test, LOGITS_TEST, LABELS_TEST)
    assert 'name their classes differently ("ant" in one, "a" in the other)' in " ".join(
        upload.doubts
    )


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("train.csv", "test.csv"), ("train.csv", "valid.csv"), ("train.csv", "x.csv"),
        ("in-sample.csv", "out-of-sample.csv"), ("InSample.csv", "test.csv"),
    ],
)  # fmt: skip
def test_a_training_file_is_no_test_set(name: str, other: str) -> None:
    pair = [whole(other, range(4), TEXTS, -1), whole(name, range(4), TEXTS)]
    for files in (pair, pair[::-1]):
        upload = combine(files)
        same(upload.calibration, LOGITS, LABELS)
        same(upload.test, LOGITS_TEST, LABELS_TEST)
        assert f'File "{name}" is called a training set' in " ".join(upload.doubts)


NAMES = ["cat", "dog", "eel", "fox"]


@pytest.mark.parametrize(
    "train", [("train.csv",), ("training_set.csv",), ("my-train.csv", "train2.csv")]
)
def test_training_files_beside_both_sets_are_left_out(train: Sequence[str]) -> None:
    halves = table("test.csv", LOGITS_TEST, LABELS_TEST), table("val.csv", LOGITS, LABELS)
    upload = combine([halves[0], *(table(n, LOGITS[::-1], LABELS) for n in train), halves[1]])
    same(upload.calibration, LOGITS, LABELS)
    same(upload.test, LOGITS_TEST, LABELS_TEST)
    (said,) = (one for one in upload.repairs if "left out, being of the training set" in one)
    assert all(f'"{name}"' in said for name in train)
    assert not any("training" in doubt for doubt in upload.doubts)
    assert (upload.name, upload.digest) == ("test.csv + val.csv", combine(halves).digest)


@pytest.mark.parametrize("labelled", [True, False])
def test_bare_training_files_are_left_out(labelled: bool) -> None:  # noqa: FBT001
    arrays = {
        "train_probs": LOGITS[:5], "val_probs": LOGITS, "test_probs": LOGITS_TEST,
        "train_y": LABELS[:5], "val_y": LABELS, "test_y": LABELS_TEST,
    }  # fmt: skip
    if not labelled:
        del arrays["train_y"]
    upload = combine([read(f"{name}.npy", npy(array)) for name, array in arrays.items()])
    same(upload.calibration, LOGITS, LABELS)
    same(upload.test, LOGITS_TEST, LABELS_TEST)
    del arrays["val_y"]
    found = '3 files beside those of a training set .* missing are the labels of "val_probs.npy"'
    with pytest.raises(FileError, match=found):
        combine([read(f"{name}.npy", npy(array)) for name, array in arrays.items()])


def test_a_first_label_that_looks_like_a_header() -> None:
    texts = [NAMES[k] for k in LABELS]
    head = ",".join(NAMES)
    rows = [",".join(map(str, row)) for row in LOGITS.tolist()]
    values = read("p.csv", "\n".join([head, *rows]).encode())
    labels = read("y.txt", "\n".join(texts).encode())
    upload = combine([values, labels])
    same(upload.rows, LOGITS, LABELS)
    assert 'The first line of "y.txt", "cat", was taken for the first label' in upload.repairs[0]
    fewer = read("p.csv", "\n".join([head, *rows[1:]]).encode())
    upload = combine([fewer, labels])
    same(upload.rows, LOGITS[1:], LABELS[1:])
    assert '"y.txt", "cat", was taken for its header and is a label below' in upload.doubts[0]
    headed = read("y.txt", "\n".join(["animal", *texts]).encode())
    upload = combine([values, headed])
    same(upload.rows, LOGITS, LABELS)
    assert not upload.repairs
    short = read("y.txt", "\n".join(["animal", *texts[1:]]).encode())
    with pytest.raises(FileError, match=r"40 rows in .* and 39 labels"):
        combine([values, short])
    said = read("y.txt", "\n".join(texts).encode(), header=True)
    with pytest.raises(FileError, match=r"40 rows in .* and 39 labels"):
        combine([values, said])


@pytest.mark.parametrize(
    ("names", "calibration_first"),
    [
        (("holdout.csv", "validation.csv"), False),
        (("out-of-sample.csv", "in-sample.csv"), False),
        (("hold-out.csv", "test.csv"), True),
        (("test.csv", "oot.csv"), False),
        (("tune.csv", "val.csv"), False),
        (("tune.csv", "test.csv"), True),
    ],
)
def test_further_words_for_sets(names: tuple[str, str], calibration_first: bool) -> None:  # noqa: FBT001
    upload = combine([table(names[0], LOGITS, LABELS), table(names[1], LOGITS_TEST, LABELS_TEST)])
    sets = (upload.calibration, upload.test)
    first, second = sets if calibration_first else sets[::-1]
    same(first, LOGITS, LABELS)
    same(second, LOGITS_TEST, LABELS_TEST)
    assert "by its name" in upload.found[0]


def test_names_that_do_not_tell_the_sets_are_doubted() -> None:
    parts = table("external.csv", LOGITS, LABELS), table("internal.csv", LOGITS_TEST, LABELS_TEST)
    assert any("do not tell a calibration set from a test set" in d for d in combine(parts).doubts)


def test_a_further_set_in_an_archive_is_left_out() -> None:
    arrays = {"val_logits": LOGITS, "val_labels": LABELS, "test_logits": LOGITS_TEST}
    more = {"holdout_logits": LOGITS, "holdout_labels": LABELS}
    upload = read("a.npz", npz(**arrays, test_labels=LABELS_TEST, **more))
    same(upload.test, LOGITS_TEST, LABELS_TEST)
    assert "holdout_labels, holdout_logits" in " ".join(upload.found)
    del arrays["test_logits"]
    upload = read("a.npz", npz(**arrays, **more))
    same(upload.calibration, LOGITS, LABELS)
    same(upload.test, LOGITS, LABELS)
