"""A column that says of which set each row is tells the sets apart; so do names of parts."""

import json
import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, Upload, read
from dashboard.readers.refusal import Question
from tests.readers.files import (
    HEADER,
    LABELS,
    LOGITS,
    NN,
    PROBABILITIES,
    N,
    good_csv,
    headed,
    logit_set,
    npz,
    parquet,
    same,
    same_hits,
)
from tests.readers.test_xlsx import of_rows

HITS = (PROBABILITIES.argmax(axis=1) == LABELS).astype(int)
TOP = PROBABILITIES.max(axis=1)


def spread(texts: Sequence[str]) -> list[str]:
    """Give each row a text, in an order that no slice of the rows has."""
    return [texts[(k * k + k // 5) % len(texts)] for k in range(N)]


def table(sets: Sequence[object], name: str = "split") -> bytes:
    return good_csv(**{name: sets})


def are(upload: Upload, sets: Sequence[str], calibration: set[str], test: set[str]) -> None:
    """Expect the rows that the column gives to each set, in the order of the file."""
    assert list(upload.sets) == ["calibration", "test"]
    for rows, texts in ((upload.calibration, calibration), (upload.test, test)):
        chosen = [k for k in range(N) if sets[k] in texts]
        assert chosen
        same(rows, LOGITS[chosen], LABELS[chosen])


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        (("val", "test"), "Subset"), (("validate", "evaluation"), "fold"),
        (("calib set", "eval-data"), "x"), (("Validation", "Holdout"), "kind"),
        (("tune", "out-of-time"), ".set"), (("cal", "blind"), "data_split"),
        (("Calib", "TEST", "Valid"), "phase"), (("val", "test", "train", "Training"), "place"),
        (("val", "test", "holdout"), "split"), (("DEV", "OOT"), "sample"),
        (("val", "Score", "Fit"), "split"), (("development", "test", "learn"), "x"),
        (("Dev", "TEST", "Valid", "Train"), "phase"),
    ],
)  # fmt: skip
def test_a_column_of_any_name_tells_the_sets_apart(texts: Sequence[str], name: str) -> None:
    sets = spread(texts)
    upload = read("a.csv", table(sets, name))
    others = {"Valid"} & {*texts}
    are(upload, sets, {texts[0], *others}, {texts[1]})
    assert any(f'"{name}"' in sentence and texts[0] in sentence for sentence in upload.notes)
    n_left = sum(sets.count(text) for text in texts[2:] if text not in others)
    assert [sentence.split()[0] for sentence in upload.repairs] == ([str(n_left)] if n_left else [])
    assert upload.preview.roles[-1] == "set"
    whole = read("a.csv", table(sets, name), sets="one")
    assert whole.sets["rows"].n_samples == N
    assert not whole.repairs


@pytest.mark.parametrize(
    ("texts", "name", "doubt"),
    [
        (("val", "test", "x"), "split", "names a calibration and a test set in 29 of 40 rows"),
        (("a val", "a test"), "split", "but does not say which is which"),
        (("Public", "Private"), "usage", "but does not say which is which"),
        (("T", "V"), "partition", "but does not say which is which"),
        (("1", "2", "3"), "split", "but does not say which is which"),
        (("True", "False"), "is_test", "says which rows are the test set"),
        (("0", "1"), "holdout", "says which rows are the test set"),
        (("1", "2"), "_PartInd_", "(1, 2) may tell a calibration from a test set"),
        (("train", "the rest"), "partition", "but does not say which is which"),
        (("val", "valid"), "dataset", "does not say which rows are calibration or test"),
        (("1", "0"), "test", ""), (("fit", "unfit"), "sample", "but does not say which"),
        (("yes", "no"), "in_val", "says which rows are the calibration set"),
        (("1", "0"), "is_train", "says which rows are for training"),
        (("val",), "split", ""), (("test", "eval"), "fold", ""), (("here", "test"), "place", ""),
        (("T", "V"), "grade", ""), (("1", "0"), "is_old", ""),
    ],
)  # fmt: skip
def test_sets_that_are_not_told_apart_are_doubted(
    texts: Sequence[str], name: str, doubt: str
) -> None:
    sets = spread(texts)
    upload = read("a.csv", table(sets, name))
    assert list(upload.sets) == ["rows"]
    assert upload.sets["rows"].n_samples == N
    about = [one for one in upload.doubts if f'"{name}"' in one]
    assert [doubt in one for one in about] == [True] * bool(doubt)
    kept = read("a.csv", table(sets, name), sets="one")
    assert not [one for one in kept.doubts if f'"{name}"' in one]


@pytest.mark.parametrize(
    "texts",
    [
        ("development", "validation"), ("DEV", "VAL"), ("build", "holdout"), ("learn", "test"),
        ("in-sample", "out-of-sample"), ("INS", "OOS"), ("fit", "eval"), ("Train", "Score"),
        ("Development cohort", "Validation cohort"), ("estimation", "hold-out"),
        ("Entwicklung", "Validierung"), ("InSample", "OOT"), ("desarrollo", "prueba"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["set", "x"])
def test_rows_that_a_model_was_developed_on_are_left_out(texts: Sequence[str], name: str) -> None:
    sets = spread(texts)
    upload = read("a.csv", table(sets, name))
    assert list(upload.sets) == ["rows"]
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.logits, LOGITS[[of == texts[1] for of in sets]])
    assert upload.repairs == (f'{sets.count(texts[0])} training rows left out by column "{name}".',)


@pytest.mark.parametrize(
    ("texts", "name", "doubted"),
    [
        (("0", "1"), "holdout", False), (("0", "1"), "is_test", False),
        (("no", "yes"), "oot_flag", False), (("1", "2"), "_PartInd_", True),
        (("True", "False"), "in_val", False), (("the rest", "test"), "split", False),
        (("A", "B"), "partition", True),
    ],
)  # fmt: skip
def test_the_user_may_say_that_a_column_of_two_cells_tells_the_sets(
    texts: Sequence[str], name: str, *, doubted: bool
) -> None:
    sets = spread(texts)
    unsure = read("a.csv", table(sets, name))
    (proposal,) = unsure.proposals
    assert proposal.doubt in unsure.doubts
    change = proposal.question.answers[0].change
    assert change == {"roles": ((name, "set"),)}
    upload = read("a.csv", table(sets, name), **change)
    are(upload, sets, {texts[0]}, {texts[1]})
    text = f'Column "{name}": {texts[0]} is the calibration set, {texts[1]} the test set.'
    assert text in upload.notes
    assert text in proposal.question.answers[0].why
    assert any("Only the order" in doubt for doubt in upload.doubts) == doubted
    assert not read("a.csv", table(sets, name), roles=((name, "group"),)).proposals


def test_sets_in_which_the_scores_differ_are_no_outcome() -> None:
    rng = np.random.default_rng(5)
    held_out, scores = np.arange(400) % 3 == 0, rng.random(400)
    bad = (rng.random(400) < scores).astype(int)
    shown = np.where(held_out, (3 + scores) / 4, scores / 4)
    sets = np.where(held_out, "validation", "development")
    upload = read("a.csv", headed("dataset,pd,bad", sets, shown.round(4), bad))
    assert upload.sets["rows"].n_samples == 134
    assert 'Outcome: column "bad".' in upload.notes


def test_the_user_may_leave_out_rows_that_a_flag_calls_training() -> None:
    sets = spread(("0", "1"))
    upload = read("a.csv", table(sets, "is_train"), roles=(("is_train", "set"),))
    np.testing.assert_array_equal(logit_set(upload.rows).logits, LOGITS[[of == "0" for of in sets]])


def test_the_user_may_leave_rows_of_neither_set_out() -> None:
    sets = spread(("val", "test", "x"))
    upload = read("a.csv", table(sets), roles=(("split", "set"),))
    are(upload, sets, {"val"}, {"test"})
    assert upload.repairs == ('11 rows left out by column "split": x.',)
    blank = spread(("val", "test", ""))
    with pytest.raises(Question, match=r"split 11 \(blank\)"):
        read("a.csv", table(blank))
    are(read("a.csv", table(blank), leave_out=True), blank, {"val"}, {"test"})


def test_top_scores_and_predictions_are_parted_too() -> None:
    sets = spread(("val", "test", "train"))
    upload = read("a.csv", headed("confidence,correct,split", TOP, HITS, sets))
    for rows, text in ((upload.calibration, "val"), (upload.test, "test")):
        chosen = [k for k in range(N) if sets[k] == text]
        same_hits(rows, TOP[chosen], HITS[chosen])


def test_of_two_columns_of_sets_the_one_that_is_called_so_is_followed() -> None:
    sets, others = spread(("val", "test")), ["test", "val"] * (N // 2)
    upload = read("a.csv", good_csv(place=others, split=sets))
    are(upload, sets, {"val"}, {"test"})
    assert "place" in upload.columns["test"]


# Rows that are left out are not evaluated -----------------------------------------------------

SETS = spread(["train", "val", "test"])
OUT, USED = SETS.index("train"), SETS.index("val")


def upload_of(kind: str, row: int, cell: Any, label: Any = None) -> Upload:
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
    records = [dict(zip(heads, values, strict=True)) for values in rows]
    return read("a.jsonl", "\n".join(map(json.dumps, records)).encode())


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet", "jsonl"])
def test_cells_of_training_rows_do_not_matter(kind: str) -> None:
    spoilt: list[tuple[Any, Any]] = [(None, None), (0.5, 17), (0.5, -100)]
    spoilt += [] if kind == "parquet" else [("n/a", None), (0.5, "")]
    for cell, label in spoilt:
        are(upload_of(kind, OUT, cell, label), SETS, {"val"}, {"test"})
    row = USED + (2 if kind in ("csv", "xlsx") else 1)
    with pytest.raises(Question, match=rf"logit_1 1 \(blank\); in 1 row \(row {row}\)"):
        upload_of(kind, USED, None)
    with pytest.raises(FileError, match=rf"label 1 of no class .*in 1 row \(row {row}\)"):
        upload_of(kind, USED, 0.5, 17)


# Parts of archives, pickles and JSON ----------------------------------------------------------


def some(n_rows: int) -> dict[str, Any]:
    return {"logits": LOGITS[:n_rows].tolist(), "labels": LABELS[:n_rows].tolist()}


def records(n_rows: int) -> list[dict[str, Any]]:
    values = zip(LOGITS[:n_rows].tolist(), LABELS[:n_rows].tolist(), strict=True)
    return [{**{f"logit_{k}": v for k, v in enumerate(z)}, "label": y} for z, y in values]


TWO = {"logits_val": LOGITS, "labels_val": LABELS, "logits_test": LOGITS, "labels_test": LABELS}
NAMED = {"val": {"logits": LOGITS, "labels": LABELS}, "test": {"logits": LOGITS, "labels": LABELS}}
TUPLES = tuple((logits, labels) for logits, labels in NN)
PARTS = [
    ("a.npz", npz(**TWO), False), ("a.pkl", pickle.dumps(NAMED), False),
    ("a.json", json.dumps({"val": some(40), "test": some(40)}).encode(), False),
    ("a.npz", npz(*[], **{f"arr_{k}": one for k, one in enumerate(TWO.values())}), True),
    ("a.pkl", pickle.dumps(TUPLES), True), ("a.pkl", pickle.dumps([*TUPLES]), True),
]  # fmt: skip


@pytest.mark.parametrize(("name", "data", "by_order"), PARTS)
def test_parts_are_two_sets_or_one(name: str, data: bytes, by_order: bool) -> None:  # noqa: FBT001
    upload = read(name, data)
    assert [rows.n_samples for rows in upload.sets.values()] == [N, N]
    assert any("Only the order of the sets" in doubt for doubt in upload.doubts) == by_order
    whole = read(name, data, sets="one")
    assert isinstance(whole.rows, LogitSet)
    assert whole.rows.n_samples == 2 * N
    np.testing.assert_array_equal(whole.rows.labels[:N], LABELS)
    assert whole.columns["rows"]["set"].categories == ("calibration", "test")
    assert not any("Only the order of the sets" in doubt for doubt in whole.doubts)


@pytest.mark.parametrize("other", ["other", "train", "holdout", "unseen", "extra"])
@pytest.mark.parametrize("made", [some, records])
@pytest.mark.parametrize("first", [False, True])
def test_a_further_part_is_in_neither_set(other: str, made: Any, first: bool) -> None:  # noqa: FBT001
    parts: Mapping[str, Any] = {"val": made(40), "test": made(40)}
    whole = {other: made(10), **parts} if first else {**parts, other: made(10)}
    upload = read("a.json", json.dumps(whole).encode())
    if list(upload.sets) == ["rows"]:  # records of a set that is not known are doubted
        assert any("in 80 of 90 rows" in doubt for doubt in upload.doubts)
        upload = read("a.json", json.dumps(whole).encode(), roles=(("set", "set"),))
    assert [rows.n_samples for rows in upload.sets.values()] == [40, 40]
    assert any(other in text for text in (*upload.notes, *upload.repairs)) or other == "train"
