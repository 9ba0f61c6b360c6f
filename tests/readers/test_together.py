"""Several files become parts of a table, values with labels, or two sets."""

from typing import Any

import numpy as np
import pytest

from dashboard.readers import recognition
from dashboard.readers.records import (
    Arrays,
    Body,
    Column,
    ColumnRole,
    Contents,
    FileTable,
    Odd,
    RawSet,
    Reading,
    ReadingOptions,
)
from dashboard.readers.refusal import FileError, Question
from dashboard.readers.together import combine_parsed
from tests.readers.test_sets import rows_of, texts

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

    def by_name(table: FileTable, _: ReadingOptions) -> Reading:
        roles = tuple(OF_NAMES.get(column.name, "score") for column in table.columns)
        return Reading(roles, ("",) * len(roles))

    monkeypatch.setattr(recognition, "recognise", by_name)


def table(columns: dict[str, Any], **more: Any) -> FileTable:
    """Make a table; lists of words are columns of text."""
    new = []
    for name, cells in columns.items():
        if isinstance(cells, list) and isinstance(cells[0], str):
            new.append(texts(name, cells))
        else:
            new.append(cells if isinstance(cells, Column) else Column(name, np.asarray(cells)))
    return FileTable(tuple(new), len(new[0].values), **more)


def bare(values: np.ndarray[Any, Any]) -> Arrays:
    return Arrays((Column("", values),))


def read(*files: tuple[str, Body], options: ReadingOptions = ReadingOptions()) -> Contents:  # noqa: B008
    return combine_parsed(files, options)


def scores_by_set(contents: Contents) -> dict[str, list[Any]]:
    return {
        role: np.asarray(raw.table).tolist()
        for role, raw in contents.sets.items()
        if isinstance(raw, RawSet)
    }


def test_rows_left_out_are_those_of_their_file() -> None:
    """Each set marks its own rows, also where lines of the file were blank."""
    odd = Odd(np.array([1]), np.array([0], np.int32), ("",))
    faulty = Column("p", np.array([0.1, np.nan, 0.3]), None, odd)
    among = np.array([True, False, True, True])
    contents = read(
        ("val.csv", table({"p": [0.5, 0.6], "y": [0, 1]})),
        ("test.csv", table({"p": faulty, "y": [0, 1, 1]}, among=among)),
        options=ReadingOptions(leave_out=True),
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
    result = answers_to(("monday.csv", one), ("tuesday.csv", other))
    assert {text: scores_by_set(contents) for text, contents in result.items()} == {
        "Parts of one table": {"rows": [0.1, 0.9]},
        "Two sets: calibration monday.csv": {"calibration": [0.1], "test": [0.9]},
        "Two sets: calibration tuesday.csv": {"calibration": [0.9], "test": [0.1]},
    }
    assert scores_by_set(read(("day1.csv", one), ("day2.csv", other))) == {"rows": [0.1, 0.9]}
    first = read(("a.csv", one), ("b.csv", other), options=ReadingOptions(together=("sets",)))
    assert scores_by_set(first) == {"calibration": [0.1], "test": [0.9]}
    with pytest.raises(FileError, match="no models of the same rows"):
        read(("a.csv", one), ("b.csv", other), options=ReadingOptions(together=("models",)))


FOREST = {"id": [1, 2, 3], "p": [0.1, 0.2, 0.9], "y": [0, 1, 1]}
BOOST = {"id": [3, 2, 1], "p": [0.7, 0.4, 0.3], "y": [1, 1, 0]}


def answers_to(
    *files: tuple[str, Body],
    options: ReadingOptions = ReadingOptions(),  # noqa: B008
) -> dict[str, Contents]:
    """Give what each answer to the question about files leads to, by what it says."""
    with pytest.raises(Question) as caught:
        read(*files, options=options)
    return {
        answer.label: read(*files, options=ReadingOptions(**answer.change))
        for answer in caught.value.answers
    }


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
    result = answers_to(*given)
    assert [*result] == ["val_forest.csv + test_forest.csv", "val_boost.csv + test_boost.csv"]
    assert [scores_by_set(contents) for contents in result.values()] == [
        {"calibration": scores[0], "test": scores[3]},
        {"calibration": scores[1], "test": scores[2]},
    ]


def test_models_beside_one_file_of_labels() -> None:
    files = [("a.npy", bare(LOGITS / 8)), ("b.npy", bare(LOGITS / 2)), ("y.npy", bare(LABELS))]
    result = answers_to(*files)
    assert np.array_equal(np.asarray(rows_of(result["b.npy"]).table), LOGITS / 2)
    assert np.array_equal(np.asarray(rows_of(result["b.npy"]).labels), LABELS)


def test_files_of_other_columns_are_refused() -> None:
    with pytest.raises(FileError, match="3 files of other columns"):
        read(*((f"{name}.csv", table({name: [0.1, 0.2]})) for name in ("a", "b", "c")))
    with pytest.raises(FileError, match="no labels"):
        read(("val.csv", table({"p": [0.1, 0.2]})), ("test.csv", table({"p": [0.5]})))
