"""Rows that cannot be used are asked about, or left out as agreed."""

from dataclasses import replace

import numpy as np
import pytest

from dashboard.readers.records import Column, ColumnRole, Contents, ReadingOptions
from dashboard.readers.refusal import Question
from tests.readers.test_sets import LEAVE_OUT, binary, numbers, read, rows_of, texts

BLANKS: dict[ColumnRole, Column] = {
    "score": numbers("risk", [0.5, "", "n/a", "", 0.2, 0.3, 0.4, 0.9]),
    "outcome": texts("y", ["yes", "no", "no", "", "yes", "no", "yes", "yes"]),
    "group": texts("ward", ["A", "B", "B", "", "A", "C", "A", "C"]),
}


def test_rows_that_cannot_be_used_are_asked_about() -> None:
    """The question counts by column and reason, and names the first rows."""
    with pytest.raises(Question) as caught:
        read(BLANKS, table={"first_row": 2, "cut": np.array([40, 41])})
    question = caught.value
    assert question.actual.startswith(
        '5 of 10 with missing or unusable cells: risk 3 (2 blank, 1 "n/a"), y 1 (blank),'
        " 2 with too few or too many cells; in 3 rows (rows 3, 4, 5)"
    )
    assert [answer.change for answer in question.answers] == [{"leave_out": True}]
    assert question.answers[0].label == "Leave out 5 rows"
    known = question.known
    assert isinstance(known, Contents)
    assert known.preview is not None
    assert known.preview.headings == ("y", "risk", "ward")


def test_rows_are_left_out_as_agreed() -> None:
    """Labels, groups and the numbers of the rows follow; what was done is said."""
    among = np.array([True, True, False, True, True, True, True, True, True])
    contents = read(BLANKS, LEAVE_OUT, table={"first_row": 2, "among": among})
    raw = rows_of(contents)
    assert np.asarray(raw.table).tolist() == [0.5, 0.2, 0.3, 0.4, 0.9]
    assert np.asarray(raw.labels).tolist() == [1, 1, 0, 1, 1]
    assert raw.columns[0].categories == ("A", "C")
    assert raw.among is not None
    assert np.flatnonzero(raw.among).tolist() == [0, 5, 6, 7, 8]
    assert contents.repairs == ('3 of 8 rows left out: risk 3 (2 blank, 1 "n/a"), y 1 (blank).',)


def test_a_column_without_numbers_is_asked_about_by_itself() -> None:
    """If all its rows were left out, nothing would remain."""
    columns: dict[ColumnRole, Column] = {
        "score": texts("risk", ["low", "high"]),
        "outcome": numbers("y", [0, 1]),
    }
    for options in (ReadingOptions(), LEAVE_OUT):
        with pytest.raises(Question, match='column "risk"') as caught:
            read(columns, options)
        assert [answer.change for answer in caught.value.answers] == [
            {"roles": (("risk", "left out"),)}
        ]


def test_few_scores_out_of_range_are_faults_of_their_rows() -> None:
    """Many are of logits, and a column that is called so is not asked about."""
    score = np.full(100, 0.25)
    score[7] = 1.5
    columns = binary(score, np.arange(100) % 2)
    with pytest.raises(Question, match=r"p 1 \(outside 0 to 1\)"):
        read(columns)
    assert len(np.asarray(rows_of(read(columns, LEAVE_OUT)).table)) == 99
    logits = columns | {"score": replace(columns["score"], name="logit")}
    assert len(np.asarray(rows_of(read(logits)).table)) == 100
    score[:6] = 2
    assert len(np.asarray(rows_of(read(columns)).table)) == 100


def test_missing_words_in_a_group_need_no_question() -> None:
    raw = rows_of(read(binary([0.5, 0.2], [0, 1]) | {"group": numbers("age", [40.0, ""])}))
    assert np.isnan(raw.columns[0].values[1])
