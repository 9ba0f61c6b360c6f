"""Columns of known roles become sets, and rows that cannot be used are asked about."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from dashboard.readers import recognition
from dashboard.readers.recognition.groups import ids_of
from dashboard.readers.records import (
    Column,
    ColumnRole,
    Contents,
    FileTable,
    Odd,
    RawEvent,
    RawSet,
    Reading,
    ReadingOptions,
)
from dashboard.readers.refusal import FileError, Question
from dashboard.readers.sets import contents_of, sets_from

LEAVE_OUT = ReadingOptions(leave_out=True)


def numbers(name: str, cells: Any, **more: Any) -> Column:
    """Make a column of numbers; a text among the cells is an odd one."""
    odd = [k for k, cell in enumerate(cells) if isinstance(cell, str)]
    if not odd:
        return Column(name, np.asarray(cells), **more)
    texts = tuple(dict.fromkeys(cells[k] for k in odd))
    codes = np.array([texts.index(cells[k]) for k in odd], np.int32)
    values = np.array([np.nan if isinstance(cell, str) else cell for cell in cells])
    return Column(name, values, None, Odd(np.array(odd), codes, texts), **more)


def texts(name: str, cells: Sequence[str]) -> Column:
    different = tuple(dict.fromkeys(cells))
    return Column(name, np.array([different.index(c) for c in cells], np.int32), different)


def read(
    columns: dict[ColumnRole, Column] | Sequence[tuple[ColumnRole, Column]],
    options: ReadingOptions = ReadingOptions(),  # noqa: B008 - frozen
    *,
    table: dict[str, Any] | None = None,
    **reading: Any,
) -> Contents:
    """Read columns of the roles given."""
    pairs = list(columns.items()) if isinstance(columns, dict) else list(columns)
    made = tuple(column for _, column in pairs)
    whole = FileTable(made, len(made[0].values), **(table or {}))
    roles = tuple(role for role, _ in pairs)
    return sets_from(whole, Reading(roles, ("",) * len(roles), **reading), options)


def rows_of(contents: Contents) -> RawSet:
    raw = contents.sets["rows"]
    assert isinstance(raw, RawSet)
    return raw


def event_of(contents: Contents) -> RawEvent:
    raw = contents.sets["rows"]
    assert isinstance(raw, RawEvent)
    return raw


def binary(scores: Any, outcomes: Any, **more: Any) -> dict[ColumnRole, Column]:
    return {"score": numbers("p", scores, **more), "outcome": numbers("y", outcomes)}


CLASSES: list[tuple[ColumnRole, Column]] = [
    ("class", numbers("p_cat", np.array([0.75, 0.25, 0.5], np.float32))),
    ("class", numbers("p_dog", np.array([0.25, 0.75, 0.5], np.float32))),
]


def test_one_score_of_an_event_gives_1_where_the_event_is() -> None:
    """Capital letters do not make another value, which is said."""
    contents = read(
        {
            "score": numbers("risk", [0.9, 0.2, 0.7]),
            "outcome": texts("status", ["Died", "alive", "died"]),
        },
        event="died",
    )
    raw = rows_of(contents)
    assert np.asarray(raw.labels).tolist() == [1, 0, 1]
    assert raw.label_texts == raw.class_names == ("alive", "Died")
    assert raw.headings == ("risk",)
    assert any("(1 labels)" in text and '"died"' in text for text in contents.repairs)


def test_the_score_may_be_of_the_lower_number() -> None:
    columns = binary([0.9, 0.2, 0.1], [0, 1, 1])
    raw = rows_of(read(columns, ReadingOptions(event="0")))
    assert np.asarray(raw.labels).tolist() == [1, 0, 0]
    assert raw.class_names == ("1", "0")
    with pytest.raises(FileError, match='"7"'):
        read(columns, ReadingOptions(event="7"))


def test_a_prediction_by_threshold_leaves_the_score_to_the_event() -> None:
    """Where the predicted 1 begins above the highest score of a predicted 0, it is its score."""
    columns = binary([0.9, 0.1, 0.3], [1, 1, 0]) | {"prediction": numbers("pred", [1, 0, 0])}
    raw = rows_of(read(columns))
    assert np.asarray(raw.table).tolist() == [0.9, 0.1, 0.3]
    assert [column.name for column in raw.columns] == ["pred"]
    upload = read(columns, ReadingOptions(roles=(("pred", "prediction"),)))
    assert event_of(upload).hits.tolist() == [True, False, True]


def test_ranks_out_of_order_are_refused() -> None:
    with pytest.raises(FileError, match="a later score above the first in 1 row"):
        read(
            [
                ("ranked class", texts("top1", ["b", "a", "c"])),
                ("ranked score", numbers("s1", [0.3, 0.6, 0.5])),
                ("ranked class", texts("top2", ["a", "b", "a"])),
                ("ranked score", numbers("s2", [0.6, 0.4, 0.1])),
                ("outcome", texts("y", ["b", "b", "c"])),
            ]
        )


def test_percent_signs_divide_once() -> None:
    contents = read(binary([50.0, 2.0], [0, 1], percents=2))
    assert np.asarray(rows_of(contents).table).tolist() == [0.5, 0.02]
    assert contents.repairs == ("Percentages were divided by 100 in all 2 rows.",)
    with pytest.raises(FileError, match="1 of 2 cells with a percent sign"):
        read(binary([50.0, 2.0], [0, 1], percents=1))


def test_training_rows_beside_one_set_are_left_out() -> None:
    columns = binary([0.1, 0.2, 0.3], [0, 1, 1])
    contents = read(columns | {"set": texts("split", ["train", "test", "test"])})
    assert np.asarray(rows_of(contents).table).tolist() == [0.2, 0.3]


def test_cells_that_name_no_set_become_a_group() -> None:
    contents = read(binary([0.1, 0.2], [0, 1]) | {"set": texts("split", ["A", "B"])})
    assert [column.name for column in rows_of(contents).columns] == ["split"]
    assert contents.doubts == ('Column "split" does not say which rows are calibration or test.',)


def test_dates_become_months() -> None:
    """Days before months are told by a day above 12; where none is, slashes stay as they are."""
    columns: list[tuple[ColumnRole, Column]] = [
        *CLASSES,
        ("outcome", numbers("y", [0, 1, 1])),
        ("date", texts("day", ["03.12.2024", "25.12.2024", "01.02.2025"])),
        ("date", texts("when", ["2024-03-05T10:00", "2024-03-17", "2024-04-01"])),
        ("date", numbers("code", [20240305, 20240317, 20240401])),
        ("date", texts("odd", ["spring", "autumn", "spring"])),
        ("date", texts("american", ["3/14/2025", "4/2/2025 8:15", "4/2/2025"])),
        ("date", texts("british", ["14/3/2025", "2/4/2025", "2/4/2025"])),
        ("date", texts("unclear", ["3/4/2025", "2/4/2025", "2/4/2025"])),
    ]
    raw = rows_of(read(columns))
    assert [column.categories for column in raw.columns] == [
        ("2024-12", "2025-02"), ("2024-03", "2024-04"), ("2024-03", "2024-04"),
        ("spring", "autumn"), ("2025-03", "2025-04"), ("2025-03", "2025-04"),
        ("3/4/2025", "2/4/2025"),
    ]  # fmt: skip


def test_every_set_keeps_what_names_its_rows() -> None:
    """Of a lone piece, a whole set, top-1 scores, and of the rows that are left."""
    ids, outcome = texts("id", ["a", "b", "7"]), numbers("y", [0, 1, 1])
    score = numbers("p", [0.9, 0.8, 0.7])
    kinds: list[list[tuple[ColumnRole, Column]]] = [
        [*CLASSES],
        [("outcome", outcome)],
        [*CLASSES, ("outcome", outcome)],
        [("score", score), ("correct", outcome)],
        [("score", score), ("prediction", outcome), ("outcome", outcome)],
    ]
    for columns in kinds:
        raw = read([*columns, ("id", ids)]).sets["rows"]
        assert [column.name for column in raw.ids] == ["id"]
        (left,) = raw.rows(np.array([True, False, True])).ids
        made = ids_of(left)
        assert made is not None
        assert made.values[1] == 7
    assert read(CLASSES).sets["rows"].ids == ()


def test_scores_of_predictions_without_outcomes_wait_for_them() -> None:
    raw = rows_of(read({"score": numbers("conf", [0.9]), "prediction": texts("pred", ["cat"])}))
    assert raw.predicted is not None
    assert raw.predicted.categories == ("cat",)


def test_two_scores_are_asked_about() -> None:
    scores: list[tuple[ColumnRole, Column]]
    scores = [("score", numbers(f"model_{name}", [0.1, 0.9])) for name in "ab"]
    with pytest.raises(Question) as caught:
        read([*scores, ("outcome", numbers("y", [0, 1]))])
    assert caught.value.answers[1].change == {
        "roles": (("model_b", "score"), ("model_a", "left out"))
    }


def test_no_column_of_either_is_refused() -> None:
    with pytest.raises(FileError, match="neither scores nor outcomes"):
        read({"group": texts("ward", ["A", "B"])})


def test_the_preview_shows_what_matters_first() -> None:
    contents = read(
        [("group", texts("ward", ["A", "B"])), *binary([0.5, 0.25], [0, 1]).items()],
        table={"first_row": 2, "shown": (("A", "50 %", "0"), ("B", "25 %", "1"))},
    )
    preview = contents.preview
    assert preview is not None
    assert preview.headings == ("y", "p", "ward")
    assert preview.roles == ("outcome", "score", "group")
    assert preview.uses == ("label", "class", "group")
    assert preview.rows == (("0", "50 %", "A"), ("1", "25 %", "B"))
    assert preview.numbers == (2, 3)
    assert contents.uses == {"ward": "group", "p": "class", "y": "label"}


def test_a_question_of_recognition_shows_the_first_rows(monkeypatch: pytest.MonkeyPatch) -> None:

    def asks(*_: object) -> Reading:
        raise FileError("columns", "several", "one")

    monkeypatch.setattr(recognition, "recognise", asks)
    with pytest.raises(FileError) as caught:
        contents_of(FileTable((numbers("p", [0.5]),), 1), ReadingOptions())
    assert isinstance(caught.value.known, Contents)
    assert caught.value.known.uses == {"p": "undecided"}
