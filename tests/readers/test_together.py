"""Several files become parts of a table, values with labels, or two sets."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from dashboard.readers import recognition
from dashboard.readers.records import (
    Arrays,
    Column,
    ColumnRole,
    Contents,
    Odd,
    Options,
    Parsed,
    RawSet,
    Reading,
    Table,
)
from dashboard.readers.refusal import FileError, Question
from dashboard.readers.together import combine_parsed

OF_NAMES: dict[str, ColumnRole] = {
    "y": "outcome",
    "id": "id",
    "ward": "group",
    "ward (labels)": "group",
}
LOGITS = np.array([[2.0, 0.0, -1.0], [0.0, 3.0, -1.0], [-2.0, 0.0, 1.0]])
LABELS = np.array([0, 1, 2])


@pytest.fixture(autouse=True)
def _recognised_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let names alone tell roles: y, id, ward; all others are the one score."""

    def by_name(table: Table, _: Options) -> Reading:
        roles = tuple(OF_NAMES.get(column.name, "score") for column in table.columns)
        return Reading(roles, ("",) * len(roles))

    monkeypatch.setattr(recognition, "recognise", by_name)


def table(columns: dict[str, Any], **more: Any) -> Table:
    """Make a table; lists of words are columns of text."""
    made = []
    for name, cells in columns.items():
        if isinstance(cells, list) and isinstance(cells[0], str):
            texts = tuple(dict.fromkeys(cells))
            made.append(Column(name, np.array([texts.index(c) for c in cells], np.int32), texts))
        else:
            made.append(cells if isinstance(cells, Column) else Column(name, np.asarray(cells)))
    return Table(tuple(made), len(made[0].values), **more)


def bare(values: np.ndarray[Any, Any]) -> Arrays:
    """Make what a .npy file holds."""
    return Arrays((Column("", values),))


def read(*files: tuple[str, Parsed], options: Options = Options()) -> Contents:  # noqa: B008
    """Read files of their names."""
    return combine_parsed(files, options)


def one_of(contents: Contents) -> RawSet:
    """Give the one set."""
    raw = contents.sets["rows"]
    assert isinstance(raw, RawSet)
    return raw


def scores_by_set(contents: Contents) -> dict[str, list[Any]]:
    """Give the values of each set."""
    return {
        role: np.asarray(raw.table).tolist()
        for role, raw in contents.sets.items()
        if isinstance(raw, RawSet)
    }


def test_parts_of_one_table_are_joined_by_rows() -> None:
    """Texts are coded alike, and the file of each row is a column to group by."""
    contents = read(
        *(
            (f"part-{k}.parquet", table({"p": [0.1 * k, 0.5], "y": [0, 1], "ward": [ward, "A"]}))
            for k, ward in enumerate("ABC")
        )
    )
    raw = one_of(contents)
    assert np.asarray(raw.table) == pytest.approx([0.0, 0.5, 0.1, 0.5, 0.2, 0.5])
    wards, files = raw.columns
    assert [(wards.categories or ())[k] for k in wards.values] == ["A", "A", "B", "A", "C", "A"]
    assert files.name == "file"
    assert files.categories == ("part-0", "part-1", "part-2")
    assert files.values.tolist() == [0, 0, 1, 1, 2, 2]
    assert contents.notes[0] == '3 parts of one table: "part-0", "part-1", "part-2".'


def test_two_sets_by_the_names_of_the_files() -> None:
    """The order of the files and of their columns does not matter."""
    test = ("my_test.csv", table({"y": [0], "p": [0.9]}, first_row=2))
    contents = read(test, ("my_val.csv", table({"p": [0.1, 0.2], "y": [0, 1]}, first_row=3)))
    assert scores_by_set(contents) == {"calibration": [0.1, 0.2], "test": [0.9]}
    assert contents.sets["calibration"].first_row == 3
    assert contents.sets["test"].first_row == 2
    assert contents.notes[0].startswith('Calibration set from "my_val", test set from "my_test"')


def test_rows_left_out_are_those_of_their_file() -> None:
    """Each set marks its own rows, also where lines of the file were blank."""
    odd = Odd(np.array([1]), np.array([0], np.int32), ("",))
    faulty = Column("p", np.array([0.1, np.nan, 0.3]), None, odd)
    among = np.array([True, False, True, True])
    contents = read(
        ("val.csv", table({"p": [0.5, 0.6], "y": [0, 1]})),
        ("test.csv", table({"p": faulty, "y": [0, 1, 1]}, among=among)),
        options=Options(leave_out=True),
    )
    assert scores_by_set(contents) == {"calibration": [0.5, 0.6], "test": [0.1, 0.3]}
    kept = [part.among for part in contents.sets.values()]
    assert [marks.tolist() for marks in kept if marks is not None] == [
        [True, True], [True, False, False, True],
    ]  # fmt: skip
    assert contents.repairs == ("1 of 5 rows left out: p 1 (blank).",)


def test_two_files_without_names_of_sets() -> None:
    """It is asked whether they are parts, or which is for calibration; numbers say parts."""
    one, other = table({"p": [0.1], "y": [0]}), table({"p": [0.9], "y": [1]})
    made = answers_to(("monday.csv", one), ("tuesday.csv", other))
    assert {said: scores_by_set(contents) for said, contents in made.items()} == {
        "Parts of one table": {"rows": [0.1, 0.9]},
        "Two sets: calibration monday.csv": {"calibration": [0.1], "test": [0.9]},
        "Two sets: calibration tuesday.csv": {"calibration": [0.9], "test": [0.1]},
    }
    assert scores_by_set(read(("day1.csv", one), ("day2.csv", other))) == {"rows": [0.1, 0.9]}
    first = read(("a.csv", one), ("b.csv", other), options=Options(together=("sets",)))
    assert scores_by_set(first) == {"calibration": [0.1], "test": [0.9]}
    with pytest.raises(FileError, match="no models of the same rows"):
        read(("a.csv", one), ("b.csv", other), options=Options(together=("models",)))


def test_training_files_are_left_out_beside_both_sets() -> None:
    """That is said."""
    file = table({"p": [0.1, 0.2], "y": [0, 1]})
    contents = read(("train.csv", file), ("val.csv", file), ("test.csv", file))
    assert [*contents.sets] == ["calibration", "test"]
    assert contents.repairs == ('Left out as a training set: "train".',)


@pytest.mark.parametrize("turn", [1, -1])
def test_values_and_labels_are_joined_by_id(turn: int) -> None:
    """Labels follow the order of the values, whatever the ids are and whichever comes first."""
    files = [
        ("values.csv", table({"id": ["a", "b", "c"], "p": [0.1, 0.2, 0.3]})),
        ("labels.csv", table({"id": ["c", "a", "b"], "y": [3, 1, 2]})),
    ]
    raw = one_of(read(*files[::turn]))
    pairs = sorted(
        zip(np.asarray(raw.table).tolist(), np.asarray(raw.labels).tolist(), strict=True)
    )
    assert pairs == [(0.1, 1), (0.2, 2), (0.3, 3)]


def test_odd_cells_follow_the_order_of_ids() -> None:
    """A blank label stays with its row."""
    odd = Odd(np.array([0]), np.array([0], np.int32), ("",))
    labels = Column("y", np.array([np.nan, 1.0, 0.0]), None, odd)
    raw = one_of(
        read(
            ("values.csv", table({"id": [1, 2, 3], "p": [0.1, 0.2, 0.3]})),
            ("labels.csv", table({"id": [3, 1, 2], "y": labels})),
            options=Options(leave_out=True),
        )
    )
    assert np.asarray(raw.table).tolist() == [0.1, 0.2]
    assert np.asarray(raw.labels).tolist() == [1, 0]


def test_values_and_labels_without_ids_stand_in_order() -> None:
    """Other counts of rows are refused, and columns that differ are doubted."""
    values = ("values.csv", table({"p": [0.1, 0.2], "ward": ["A", "B"]}))
    contents = read(values, ("labels.csv", table({"y": [1, 0]})))
    assert np.asarray(one_of(contents).labels).tolist() == [1, 0]
    assert contents.doubts == ()
    differing = read(values, ("labels.csv", table({"y": [1, 0], "ward": ["A", "A"]})))
    assert any("ward" in said for said in differing.doubts)
    with pytest.raises(FileError, match="2 and 3 rows"):
        read(values, ("labels.csv", table({"y": [1, 0, 1]})))


def test_bare_arrays_of_values_and_labels() -> None:
    """Two .npy files are one set."""
    raw = one_of(read(("y.npy", bare(LABELS)), ("outputs.npy", bare(LOGITS))))
    assert np.array_equal(np.asarray(raw.table), LOGITS)
    assert np.array_equal(np.asarray(raw.labels), LABELS)


@pytest.mark.parametrize(
    "names",
    [
        ("val_logits.npy", "val_labels.npy", "test_logits.npy", "test_labels.npy"),
        ("logits_cal.npy", "labels_cal.npy", "logits_eval.npy", "labels_eval.npy"),
        ("a.npy", "b.npy", "c.npy", "d.npy"),
    ],
)
def test_four_bare_arrays(names: Sequence[str]) -> None:
    """Names pair them, or their counts of rows."""
    arrays = [LOGITS[:2], LABELS[:2], LOGITS, LABELS]
    files = [(name, bare(values)) for name, values in zip(names, arrays, strict=True)]
    told = Options() if "val" in names[0] or "cal" in names[0] else Options(together=("sets",))
    if told.together:
        with pytest.raises(Question, match="the same columns"):
            read(*files)
    contents = read(*files, options=told)
    assert scores_by_set(contents) == {"calibration": LOGITS[:2].tolist(), "test": LOGITS.tolist()}
    for raw, labels in zip(contents.sets.values(), (LABELS[:2], LABELS), strict=True):
        assert isinstance(raw, RawSet)
        assert np.array_equal(np.asarray(raw.labels), labels)


FOREST = {"id": [1, 2, 3], "p": [0.1, 0.2, 0.9], "y": [0, 1, 1]}
BOOST = {"id": [3, 2, 1], "p": [0.7, 0.4, 0.3], "y": [1, 1, 0]}


def answers_to(
    *files: tuple[str, Parsed],
    options: Options = Options(),  # noqa: B008
) -> dict[str, Contents]:
    """Give what each answer to the question about files leads to, by what it says."""
    with pytest.raises(Question) as caught:
        read(*files, options=options)
    return {
        answer.label: read(*files, options=Options(**answer.change))
        for answer in caught.value.answers
    }


def test_of_two_models_one_is_chosen() -> None:
    """The same rows with other scores are no two sets, in whatever order they are."""
    given = [("forest.csv", table(FOREST)), ("boost.csv", table(BOOST))]
    with pytest.raises(Question, match="2 models of the same rows") as caught:
        read(*given)
    assert ["Models" in answer.why for answer in caught.value.answers] == [True, True, False, False]
    made = answers_to(*given)
    assert np.asarray(one_of(made["forest.csv"]).table).tolist() == FOREST["p"]
    assert np.asarray(one_of(made["boost.csv"]).table).tolist() == BOOST["p"]
    assert 'Left out, as chosen: "boost.csv"' in made["forest.csv"].notes[0]
    assert [*made["Neither: two sets"].sets] == ["calibration", "test"]
    # A file that is not there any more changes nothing.
    gone = read(*given[:1], options=Options(together=("without", "boost.csv")))
    assert np.asarray(one_of(gone).table).tolist() == FOREST["p"]


def test_predictions_of_two_models_differ_too() -> None:
    """Rows that only count alike, with other outcomes, are no models."""
    given = [
        ("forest.csv", table({**FOREST, "ward": [0, 0, 1]})),
        ("boost.csv", table({**BOOST, "ward": [1, 1, 0]})),
    ]
    assert "boost.csv" in answers_to(*given)
    other = ("boost.csv", table({"id": [1, 2, 3], "p": [0.7, 0.4, 0.3], "y": [1, 0, 0]}))
    assert "Parts of one table" in answers_to(("forest.csv", table(FOREST)), other)


def test_models_of_two_sets_are_chosen_with_both() -> None:
    """The files of a model in both sets are told by the words that they share."""
    names = ["val_forest.csv", "val_boost.csv", "test_boost.csv", "test_forest.csv"]
    scores = [[0.1, 0.2, 0.9], [0.3, 0.4, 0.7], [0.4, 0.5, 0.6], [0.2, 0.3, 0.8]]
    given = [
        (name, table({**FOREST, "p": values}))
        for name, values in zip(names, scores, strict=True)
    ]  # fmt: skip
    made = answers_to(*given)
    assert [*made] == ["val_forest.csv + test_forest.csv", "val_boost.csv + test_boost.csv"]
    assert [scores_by_set(contents) for contents in made.values()] == [
        {"calibration": scores[0], "test": scores[3]},
        {"calibration": scores[1], "test": scores[2]},
    ]


def test_models_beside_one_file_of_labels() -> None:
    """Each has all the labels."""
    files = [("a.npy", bare(LOGITS / 8)), ("b.npy", bare(LOGITS / 2)), ("y.npy", bare(LABELS))]
    made = answers_to(*files)
    assert np.array_equal(np.asarray(one_of(made["b.npy"]).table), LOGITS / 2)
    assert np.array_equal(np.asarray(one_of(made["b.npy"]).labels), LABELS)


def test_files_of_other_columns_are_refused() -> None:
    """Three kinds of files are more than values and labels."""
    with pytest.raises(FileError, match="3 files of other columns"):
        read(*((f"{name}.csv", table({name: [0.1, 0.2]})) for name in ("a", "b", "c")))
    with pytest.raises(FileError, match="no labels"):
        read(("val.csv", table({"p": [0.1, 0.2]})), ("test.csv", table({"p": [0.5]})))


def test_one_file_passes_through() -> None:
    """Nothing is said of files."""
    contents = read(("a.csv", table({"p": [0.1, 0.9], "y": [0, 1]})))
    assert contents.notes == ()
    assert [*contents.sets] == ["rows"]
