"""A column that says of which set each row is tells the sets apart."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from calibcore.data import EventScores, LogitSet
from dashboard.readers import FileError, Upload, combine, read
from tests.readers.files import HEADER, LABELS, LOGITS, PROBABILITIES, N, csv_of, npy, npz
from tests.readers.test_parquet import COLUMNS, parquet
from tests.readers.test_xlsx import of_rows

TOWNS = [f"town {k % 3}" for k in range(N)]
HITS = (PROBABILITIES.argmax(axis=1) == LABELS).astype(int)
TOP = PROBABILITIES.max(axis=1)


def spread(texts: Sequence[str]) -> list[str]:
    """Give each row a text, in an order that no slice of the rows has."""
    return [texts[(k * k + k // 5) % len(texts)] for k in range(N)]


def table(sets: Sequence[str], name: str = "split", logits: Any = LOGITS) -> bytes:
    head, *rows = csv_of(logits, LABELS, header=HEADER).decode().splitlines()
    lines = [f"{row},{of},{town}" for row, of, town in zip(rows, sets, TOWNS, strict=True)]
    return "\n".join([f"{head},{name},town", *lines]).encode()


def events(sets: Sequence[str], top: Any = TOP, name: str = "split") -> bytes:
    lines = [f"{p!r},{hit},{of}" for p, hit, of in zip(top.tolist(), HITS, sets, strict=True)]
    return "\n".join([f"confidence,correct,{name}", *lines]).encode()


def arrays_of(logits: Any, labels: list[Any], **beside: Sequence[object]) -> bytes:
    return json.dumps({"logits": logits.tolist(), "labels": labels, **beside}).encode()


def are(upload: Upload, sets: Sequence[str], calibration: set[str], test: set[str]) -> None:
    """Expect the rows that the column gives to each set, in the order of the file."""
    assert list(upload.sets) == ["calibration", "test"]
    for rows, texts in ((upload.calibration, calibration), (upload.test, test)):
        chosen = [k for k in range(N) if sets[k] in texts]
        assert chosen
        assert isinstance(rows, LogitSet)
        np.testing.assert_array_equal(rows.logits, LOGITS[chosen])
        np.testing.assert_array_equal(rows.labels, LABELS[chosen])


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (("val", "test"), "val is the calibration set, test the test set."),
        (("Dev", "TEST", "Valid"), "Dev and Valid are the calibration set, TEST the test set."),
        (("validate", "evaluation"), "validate is the calibration set, evaluation the test set."),
        (("calib set", "eval-data"), "calib set is the calibration set, eval-data the test set."),
        (("Validation", "Holdout"), "Validation is the calibration set, Holdout the test set."),
        (("tune", "out-of-time"), "tune is the calibration set, out-of-time the test set."),
        (("cal", "blind"), "cal is the calibration set, blind the test set."),
    ],
)
def test_a_column_tells_the_sets_apart(texts: tuple[str, ...], said: str) -> None:
    sets = spread(texts)
    upload = read("a.csv", table(sets, "Subset"))
    are(upload, sets, {texts[0], *texts[2:]}, {texts[1]})
    assert f'Column "Subset" tells the sets apart: {said}' in upload.found
    assert "Kept to tell rows apart: town." in upload.found
    assert not upload.repairs
    assert not [doubt for doubt in upload.doubts if "Subset" in doubt]
    for role, texts_of in (("calibration", {texts[0], *texts[2:]}), ("test", {texts[1]})):
        (town,) = upload.columns[role].values()
        assert town.categories is not None
        kept = [town.categories[code] for code in town.values]
        assert kept == [of for of, text in zip(TOWNS, sets, strict=True) if text in texts_of]


def test_other_formats() -> None:
    sets = spread(("val", "test"))
    records = [
        {**{f"logit_{k}": float(row[k]) for k in range(4)}, "label": int(label), "set": of}
        for row, label, of in zip(LOGITS, LABELS, sets, strict=True)
    ]
    rows = [[*one.values()] for one in records]
    for name, data in (
        ("a.parquet", parquet(COLUMNS | {"label": LABELS, "set": sets})),
        ("a.json", json.dumps(records).encode()),
        ("a.jsonl", "\n".join(map(json.dumps, records)).encode()),
        ("a.xlsx", of_rows([[*records[0]], *rows])),
        ("a.json", arrays_of(LOGITS, LABELS.tolist(), set=sets)),
    ):
        are(read(name, data), sets, {"val"}, {"test"})
    bare = "\n".join(["label,set", *(f"{k},{of}" for k, of in zip(LABELS, sets, strict=True))])
    both = combine([read("x.npy", npy(LOGITS)), read("y.csv", bare.encode())])
    are(both, sets, {"val"}, {"test"})


def test_top_scores() -> None:
    sets = spread(("val", "test", "train"))
    upload = read("a.csv", events(sets))
    for rows, text in ((upload.calibration, "val"), (upload.test, "test")):
        chosen = [k for k in range(N) if sets[k] == text]
        assert isinstance(rows, EventScores)
        np.testing.assert_array_equal(rows.scores, TOP[chosen])
        np.testing.assert_array_equal(rows.hits, HITS[chosen])
    assert upload.repairs[0].startswith(f"{sets.count('train')} training rows were left out: ")
    assert not upload.columns["test"]


def test_training_rows_are_left_out() -> None:
    sets = spread(("train", "val", "test", "Training"))
    upload = read("a.csv", table(sets))
    are(upload, sets, {"val"}, {"test"})
    count = sets.count("train") + sets.count("Training")
    said = "training rows were left out: a calibrator is fitted on rows that the model has not seen"
    assert upload.repairs == (f"{count} {said}.",)
    one = ["train", *spread(("val", "test"))[1:]]
    assert read("a.csv", table(one)).repairs[0].startswith("1 training row was left out: ")


@pytest.mark.parametrize(
    ("texts", "doubt"),
    [
        (("train", "test"), 'Column "split" calls {train} of 40 rows training rows'),
        (("val", "test", ""), 'Column "split" tells a calibration set from a test set in {named} '),
        (
            ("val", "test", "x"),
            'Column "split" tells a calibration set from a test set in {named} ',
        ),
        (("a val", "a test"), 'Column "split" tells a calibration set from a test set, but all'),
        (("val",), ""),
        (("a", "b"), 'Column "split" (a, b) may tell sets apart, but does not say which'),
    ],
)
def test_sets_that_are_not_told_apart(texts: tuple[str, ...], doubt: str) -> None:
    sets = spread(texts)
    upload = read("a.csv", table(sets))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    assert list(upload.columns["rows"]) == ["split", "town"]
    named = sets.count("val") + sets.count("test")
    start = doubt.format(train=sets.count("train"), named=f"{named} of 40 rows, but all rows")
    about = [one for one in upload.doubts if 'Column "split"' in one]
    assert [one.startswith(start) for one in about] == [True] * bool(doubt)


def test_two_such_columns_tell_nothing_apart() -> None:
    sets = spread(("val", "test"))
    head, *rows = table(sets).decode().splitlines()
    lines = [f"{row},{of}" for row, of in zip(rows, reversed(sets), strict=True)]
    upload = read("a.csv", "\n".join([f"{head},set", *lines]).encode())
    assert list(upload.sets) == ["rows"]
    assert sum("tells a calibration set" in doubt for doubt in upload.doubts) == 2


def test_the_user_keeps_the_rows_together() -> None:
    sets = spread(("val", "test"))
    for data in (table(sets), events(sets)):
        upload = read("a.csv", data, sets="one")
        assert list(upload.sets) == ["rows"]
        assert "split" in upload.columns["rows"]
        assert not [doubt for doubt in upload.doubts if "Column" in doubt]
    with pytest.raises(FileError, match="one of auto, one"):
        read("a.csv", table(sets), sets="two")  # type: ignore[arg-type]


def test_refusals_name_the_rows_of_the_file() -> None:
    sets = ["train"] * 3 + ["val", "test"] * 18 + ["test"]
    spoilt, wrong = LOGITS.astype(np.float64), TOP.copy()
    # Row 2 of a text table is the first below its header.
    spoilt[30], wrong[30] = -np.inf, 1.5
    spoilt[30, (LABELS[30] + 1) % 4] = 1.0
    with pytest.raises(FileError, match=r"true class in 1 row \(row 32\)"):
        read("a.csv", table(sets, logits=spoilt))
    with pytest.raises(FileError, match=r"test set: found .* in 1 row \(row 32\)"):
        read("a.csv", events(sets, wrong))
    spoilt[30] = np.inf
    with pytest.raises(FileError, match=r"infinity \(inf\) in 1 row \(row 31\)"):
        read("a.parquet", parquet(
            {f"logit_{k}": spoilt[:, k] for k in range(4)} | {"label": LABELS, "split": sets}
        ))  # fmt: skip
    labels = LABELS.copy()
    labels[30] = 7
    with pytest.raises(FileError, match=r"out of range, in 1 row \(row 31\)"):
        read("a.json", arrays_of(LOGITS, labels.tolist(), split=sets))


def test_rows_in_both_sets_are_doubted_by_their_numbers_in_the_file() -> None:
    sets = spread(("train", "val", "test"))
    first, second = sets.index("val"), N - 1 - sets[::-1].index("test")
    twice, labels = LOGITS.copy(), LABELS.copy()
    twice[second], labels[second] = twice[first], labels[first]
    upload = read("a.json", arrays_of(twice, labels.tolist(), split=sets))
    (doubt,) = (doubt for doubt in upload.doubts if "repeats" in doubt)
    assert f"in 1 row (row {second + 1}): " in doubt


def test_predictions_beside_are_parted_too() -> None:
    sets = ["val", "test", "test", "val"] * (N // 4)
    right = PROBABILITIES.argmax(axis=1)
    wrong = np.where(np.array(sets) == "test", (right + 1) % 4, right)
    for guess, doubt in (
        (right, ""),
        (wrong, "is the likeliest class in 0.0 % of the rows of the test set: perhaps"),
        (LABELS, "equals the label in all 40 rows"),
    ):
        data = parquet(COLUMNS | {"label": LABELS, "pred": guess, "split": sets})
        about = [one for one in read("a.parquet", data).doubts if 'column "pred"' in one.lower()]
        assert any(doubt in one for one in about) == bool(doubt)
        assert bool(about) == bool(doubt)


@pytest.mark.parametrize("name", ["fold", "type", "kind", "source", "datasplit", "place"])
def test_a_column_of_any_name_whose_texts_all_name_sets_tells_them_apart(name: str) -> None:
    sets = spread(("val", "test"))
    for data in (table(sets, name), events(sets, name=name)):
        upload = read("a.csv", data)
        assert list(upload.sets) == ["calibration", "test"]
        assert upload.sets["test"].n_samples == sets.count("test")
    for texts in (("val", "test", "barn"), ("test", "eval"), ("here", "test")):
        upload = read("a.csv", table(spread(texts), f"my_{name}"))
        assert list(upload.sets) == ["rows"]
        assert not [doubt for doubt in upload.doubts if name in doubt]


@pytest.mark.parametrize(
    ("name", "texts", "shown"),
    [
        ("usage", ("Public", "Private"), "Public, Private"),
        ("partition", ("T", "V"), "T, V"),
        ("split", ("1", "2", "3"), "1, 2, 3"),
        ("split", ("1", "2", "3", "4"), None),
        ("split", ("1",), None),
        ("stage", ("T", "V"), None),
    ],
)
def test_sets_in_words_that_are_not_understood_are_doubted(
    name: str, texts: Sequence[str], shown: str | None
) -> None:
    upload = read("a.csv", table(spread(texts), name))
    assert list(upload.sets) == ["rows"]
    about = [doubt for doubt in upload.doubts if f'"{name}"' in doubt]
    assert [doubt.partition(" may ")[0] for doubt in about] == (
        [f'Column "{name}" ({shown})'] if shown else []
    )


def test_a_column_of_sets_with_blanks_is_doubted() -> None:
    upload = read("a.csv", table(spread(("val", "test", "")), "place"))
    assert list(upload.sets) == ["rows"]
    assert [doubt for doubt in upload.doubts if 'Column "place" tells a calibration set' in doubt]


def test_of_two_columns_of_sets_the_one_that_is_called_so_is_followed() -> None:
    sets, others = spread(("val", "test")), ["test", "val"] * (N // 2)
    upload = read("a.json", arrays_of(LOGITS, LABELS.tolist(), place=others, split=sets))
    assert [part.n_samples for part in upload.sets.values()] == [
        sets.count("val"), sets.count("test"),
    ]  # fmt: skip
    assert "place" in upload.columns["test"]
    assert "split" not in upload.columns["test"]


@pytest.mark.parametrize(
    ("name", "yes", "no", "what"),
    [
        ("is_test", "True", "False", "of the test set"),
        ("isTest", 1, 0, "of the test set"),
        ("in_val", "yes", "no", "of the calibration set"),
        ("is_train", 1, 0, "training rows"),
        ("test", 1, 0, None),
        ("is_old", 1, 0, None),
        ("is_test", 2, 1, None),
    ],
)
def test_a_column_that_says_yes_or_no_to_a_set_is_doubted(
    name: str, yes: object, no: object, what: str | None
) -> None:
    flags = [no, no, *[yes, no] * (N // 2 - 1)]
    upload = read("a.json", arrays_of(PROBABILITIES, LABELS.tolist(), **{name: flags}))
    assert list(upload.sets) == ["rows"]
    about = [doubt for doubt in upload.doubts if f'"{name}"' in doubt]
    assert len(about) == (what is not None)
    assert all(f"says which rows are {what}" in doubt for doubt in about)
    kept = read("a.json", arrays_of(PROBABILITIES, LABELS.tolist(), **{name: flags}), sets="one")
    assert not [doubt for doubt in kept.doubts if f'"{name}"' in doubt]


def test_labels_that_are_too_few_are_refused_as_before() -> None:
    texts = [f"logit_{label}" for label in LABELS[:-1]]
    for beside in ({}, {"split": spread(("val", "test"))}):
        with pytest.raises(FileError, match="39"):
            read("a.json", arrays_of(LOGITS, texts, class_names=HEADER.split(",")[:4], **beside))


def test_two_files_that_both_name_the_sets_are_a_calibration_and_a_test_file() -> None:
    mixed = ["val", "test"] * (N // 2) + ["val"] * (N % 2)
    files = [read(f"{name}.csv", table(mixed)) for name in ("calibration", "test")]
    upload = combine(files)
    assert isinstance(upload.calibration, LogitSet)
    assert isinstance(upload.test, LogitSet)
    assert upload.calibration.n_samples == upload.test.n_samples == N


def test_files_with_two_sets_are_counted_in_a_refusal() -> None:
    two_sets = npz(
        logits_calibration=LOGITS, labels_calibration=LABELS, logits_test=LOGITS, labels_test=LABELS
    )
    with pytest.raises(FileError, match="0 with both, 2 with two sets"):
        combine([read("a.npz", two_sets), read("b.npz", two_sets)])


# Rows that are left out are not judged -------------------------------------------------------

SETS = spread(["train", "val", "test"])
OUT = SETS.index("train")
USED = SETS.index("val")


def written(kind: str, row: int, cell: Any, label: Any = None) -> Upload:
    """Read the table with one cell of another kind, and perhaps another label, in a row."""
    rows: list[list[Any]] = [[*map(float, z), int(y)] for z, y in zip(LOGITS, LABELS, strict=True)]
    rows[row][1] = cell
    rows[row][4] = rows[row][4] if label is None else label
    rows = [[*values, of] for values, of in zip(rows, SETS, strict=True)]
    heads = [*HEADER.split(","), "split"]
    if kind == "csv":
        cells = [",".join("" if c is None else str(c) for c in values) for values in rows]
        return read("a.csv", "\n".join([",".join(heads), *cells]).encode())
    if kind == "xlsx":
        return read("a.xlsx", of_rows([heads, *rows]))
    if kind == "parquet":
        columns = [list(column) for column in zip(*rows, strict=True)]
        return read("a.parquet", parquet(dict(zip(heads, columns, strict=True))))
    return read(
        "a.jsonl", "\n".join(json.dumps(dict(zip(heads, r, strict=True))) for r in rows).encode()
    )


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet", "jsonl"])
def test_a_blank_cell_of_a_training_row(kind: str) -> None:
    upload = written(kind, OUT, None)
    are(upload, SETS, {"val"}, {"test"})
    assert "What could not be read is in training rows alone" in " ".join(upload.repairs)
    assert f"{SETS.count('train')} training rows were left out" in " ".join(upload.repairs)
    with pytest.raises(FileError, match="blank"):
        written(kind, USED, None)


@pytest.mark.parametrize("kind", ["csv", "xlsx", "jsonl"])
def test_a_word_in_a_training_row(kind: str) -> None:
    are(written(kind, OUT, "n/a"), SETS, {"val"}, {"test"})
    number = USED + (2 if kind in ("csv", "xlsx") else 1)
    with pytest.raises(FileError, match=f'row {number}, column "logit_1": found "n/a"'):
        written(kind, USED, "n/a")


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet", "jsonl"])
def test_labels_of_training_rows(kind: str) -> None:
    for label in ("", -100, 17):
        if label == "" and kind == "parquet":
            continue
        are(written(kind, OUT, 0.5, label), SETS, {"val"}, {"test"})
    with pytest.raises(FileError, match="out of range"):
        written(kind, USED, 0.5, 17)


def test_values_of_training_rows_are_not_judged() -> None:
    broken = LOGITS.copy()
    broken[OUT] = np.nan
    are(read("a.csv", table(SETS, logits=broken)), SETS, {"val"}, {"test"})
    arrays = arrays_of(broken, LABELS.tolist(), split=SETS)
    are(read("a.json", arrays), SETS, {"val"}, {"test"})
    with pytest.raises(FileError, match=rf"NaN in 1 row \(row {OUT + 2}\) of the file"):
        read("a.csv", table(SETS, logits=broken), sets="one")
    broken[OUT] = 0.5
    are(read("a.csv", table(SETS, logits=broken)), SETS, {"val"}, {"test"})


def test_cells_that_cannot_be_read_without_two_sets() -> None:
    data = table(["train"] * N).replace(b"\n", b"\nx", 3)
    with pytest.raises(FileError, match='row 2, column "logit_0": found "x'):
        read("a.csv", data)


@pytest.mark.parametrize("name", ["phase", "data_split", ".set", "x"])
def test_further_names_of_columns_of_sets(name: str) -> None:
    are(read("a.csv", table(SETS, name)), SETS, {"val"}, {"test"})


def test_the_first_rows_say_which_column_tells_the_sets() -> None:
    upload = read("a.csv", table(SETS))
    assert upload.preview.uses[-2:] == ("set", "slice")
    assert upload.preview.numbers == tuple(range(2, 12))
    one = read("a.csv", table(SETS), sets="one")
    assert one.preview.uses[-2:] == ("slice", "slice")
