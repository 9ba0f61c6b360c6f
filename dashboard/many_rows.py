"""A file of very many rows: whether they are to be counted by score is asked, and they are."""

from dataclasses import replace

from calibcore.data import EventScores, LogitSet
from calibcore.events import OneClass
from calibcore.summary import MOST_GROUPS, BatchCounts
from dashboard.readers.records import GroupingColumn
from dashboard.readers.refusal import Answer, FileError, Question, visible
from dashboard.readers.upload import Upload
from dashboard.summaries import NO_COLUMN, NO_PAIRS, NO_ROWS, size_sentence, upload_of

MANY_ROWS = 1 << 22
"""From which on one is asked whether rows are to be counted by score."""

_MOST_CATEGORIES = 20
"""Of a column by which the rows of a file are counted."""


def are_countable(upload: Upload) -> bool:
    """Return whether a file's rows can be counted: of one set, one score and one outcome each."""
    rows, options = upload.rows, upload.options
    if rows is None or upload.summary is not None or options.prevalence is not None:
        return False
    one_event = isinstance(rows, EventScores) or rows.n_classes == 2
    return one_event and rows.weights is None and rows.clusters is None


def counted_columns(upload: Upload) -> dict[str, GroupingColumn]:
    """Return the columns by which rows are counted: of few texts, and of few groups together."""
    chosen, n_groups = {}, 1
    for name, column in upload.columns.get("rows", {}).items():
        texts = column.categories
        if (
            texts is not None
            and len(texts) <= _MOST_CATEGORIES
            and n_groups * len(texts) <= MOST_GROUPS
        ):
            chosen[name], n_groups = column, n_groups * len(texts)
    return chosen


def ask_of_many(upload: Upload) -> Question | None:
    """Ask whether the rows of a large file are to be counted; None where they are few or cannot."""
    rows = upload.rows
    is_open = upload.options.many == "auto" and are_countable(upload)
    if rows is None or rows.n_samples < MANY_ROWS or not is_open:
        return None
    by = [*counted_columns(upload)]
    groups = f"other subgroups than by {visible(', '.join(by), 60)}" if by else "subgroups"
    answers = (
        Answer(
            "Count them by score",
            "Recommended: first results within seconds. Measures, curves, tests and calibrators of"
            " one score are those of all rows; where more than a million scores differ, within a"
            f" bound that is shown. Without {groups}, SKCE and single rows, such as those behind a"
            " bin.",
            {"many": "counted"},
        ),
        Answer(
            "Keep every row",
            "Nothing is left out, but every view takes many times as long.",
            {"many": "every"},
        ),
    )
    ask = "How should so many rows be kept?"
    actual = f"{rows.n_samples:,} in {upload.name}"
    question = Question("rows", actual, ask, answers, ranked=False)
    question.known = upload.contents
    return question


def counted(upload: Upload) -> Upload:
    """Return the rows of a file counted by score, and by what groups they have.

    Raises `FileError` for rows that cannot be counted so.
    """
    if not are_countable(upload):
        wanted = "one score and one outcome in each row, of one set, without weights or clusters"
        raise FileError("rows", "rows that cannot be counted by score", wanted)
    event, words = _counted_event(upload)
    by = {name: (one.values, one.categories or ()) for name, one in counted_columns(upload).items()}
    counts = BatchCounts(tuple(by))
    counts.add(event.scores, event.hits, [*by.values()])
    summary = counts.summary
    left = [name for name in upload.columns.get("rows", {}) if name not in by]
    lost = (f"Left out: the groups of {visible(', '.join(left), 60)}.",) if left else ()
    whole = upload_of({upload.name: summary}, upload.digest)
    return replace(
        whole,
        contents=replace(upload.contents, sets={}),
        options=replace(upload.options, many="counted"),
        notes=(size_sentence(summary, 0), *lost),
        missing=whole.missing if by else (NO_ROWS, NO_PAIRS, NO_COLUMN),
        counted_event=words,
    )


def _counted_event(upload: Upload) -> tuple[EventScores, tuple[str, tuple[str, str]]]:
    """Return the scores of the one event of a file, and what it is called."""
    preview, rows = upload.preview, upload.rows
    named = dict(zip(preview.roles, preview.headings, strict=False))
    if isinstance(rows, LogitSet):
        column = named.get("outcome") or "outcome"
        event = OneClass(1).outcomes(rows.probabilities, rows.labels)
        return event, (column, (rows.class_names[0], rows.class_names[1]))
    assert rows is not None  # noqa: S101 - as `are_countable` has found
    return rows, (named.get("correct") or "correct", ("0", "1"))
