"""Outcomes beside one score: which value is the event, and what counts as right."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.recognition.groups import in_use
from dashboard.readers.recognition.vocabulary import (
    EVENT_STEMS,
    NO,
    QUIET_STEMS,
    YES,
    begins,
    folded,
    missing_among,
    one_yes,
    words_of,
)
from dashboard.readers.records import (
    Array,
    Body,
    Column,
    FileTable,
    ReadingOptions,
    is_whole,
    texts_of,
)
from dashboard.readers.refusal import Answer, FileError, Question, plain, quoted

_MOST_ANSWERS = 6
OR = " or "
"""Between the values of which each is the event."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """Whether the event happened in each row.

    Labels are 1 where it did, with the names of the other value and of the event as the file
    writes them; or numbers as found.
    """

    labels: Array
    names: tuple[str, ...] | None = None
    repairs: tuple[str, ...] = ()


def outcome_of_event(
    column: Column,
    event: str | None,
    classes: tuple[str, ...] = (),
    none: tuple[Answer, ...] = (),
    scores: Array | None = None,
) -> Outcome:
    """Return in which rows the event happened that a score is of.

    Where it is asked, the value whose rows have the highest ``scores`` stands first.

    >>> column = Column("status", np.array([0, 1, 1], np.int32), ("died", "alive"))
    >>> outcome_of_event(column, "died").labels.tolist(), outcome_of_event(column, "died").names
    ([1, 0, 0], ('alive', 'died'))
    """
    codes, texts = in_use(*texts_of(column))
    keys = one_yes([folded(text) for text in texts])
    values = {*keys}
    several = 2 < len(values) <= min(_MOST_ANSWERS, len(codes) / 2)
    open_event = column.texts is None and several and "-1" not in values
    as_numbers = event is None and not open_event
    if column.texts is None and (as_numbers or (values <= {"0", "1"} and event == "1")):
        return Outcome(_whole(column.values))
    if event is None:
        firsts = np.array([*map(keys.index, keys)])
        event = _by_words(texts) or _ask(column, *in_use(firsts[codes], texts), none, scores)
    wanted = _values_of(event, values, as_text=column.texts is not None)
    key = wanted[0]
    known = {folded(name): name for name in classes}
    if len(values) == 1 and len(known) == 2 and values | {key} <= {*known}:
        (other,) = {*known} - {key}
        return Outcome(np.array([key in values] * len(codes), np.uint8), (known[other], known[key]))
    if not values.issuperset(wanted):
        listed = ", ".join(quoted(text, 20) for text in texts[:4])
        text = f"{quoted(event)}, which no row in use has in column {quoted(column.name)}"
        raise FileError("event", text, f"one of {listed}")
    is_event = np.array([own in wanted for own in keys])
    others = list(dict.fromkeys(own for own in keys if own not in wanted))
    first = OR.join(texts[keys.index(own)] for own in wanted)
    other = f"not {first}" if len(others) != 1 else texts[keys.index(others[0])]
    repairs = _spelled(codes, texts, keys)
    if len(others) > 1:
        listed = ", ".join(quoted(texts[keys.index(own)], 20) for own in others[:_MOST_ANSWERS])
        more = f" and {len(others) - _MOST_ANSWERS} more" if len(others) > _MOST_ANSWERS else ""
        repairs += (
            f"Counted as {quoted(other, 30)} in column {quoted(column.name)}: {listed}{more}.",
        )
    labels = is_event.astype(np.uint8)[codes]
    return Outcome(labels, (other, first), repairs)


def blank_as_other(body: Body, options: ReadingOptions) -> Body:
    """Return a table with an outcome in each row where the user's is marked, and else left blank.

    So are read a column of the role outcome and an event that is all that stands in it.

    >>> table = FileTable((Column("died", np.array([0, 1], np.int32), ("x", "")),), 2)
    >>> options = ReadingOptions(roles=(("died", "outcome"),), event="x")
    >>> blank_as_other(table, options).columns[0].texts
    ('x', 'not x')
    """
    if not isinstance(body, FileTable) or options.event is None:
        return body
    columns, repairs = [*body.columns], [*body.repairs]
    for place, column in enumerate(columns):
        if (column.name, "outcome") not in options.roles or column.values.ndim != 1:
            continue
        codes, texts = texts_of(column)
        missing = missing_among([folded(text) for text in texts])
        blank = np.array([folded(text) in missing for text in texts] or [False])[codes]
        if not blank.any() or {*in_use(codes[~blank], texts)[1]} != {options.event}:
            continue
        other = f"not {options.event}"
        columns[place] = replace(
            column, values=blank.astype(np.int32), texts=(options.event, other), odd=None
        )
        repairs.append(
            f"Blank cells of column {quoted(column.name)} were read as {quoted(other, 30)}"
            f" ({int(blank.sum()):,} rows)."
        )
    return replace(body, columns=tuple(columns), repairs=tuple(repairs))


def right_or_wrong(column: Column) -> NDArray[np.bool_]:
    """Return in which rows the prediction was right, by a column of yes and no or of 1 and 0."""
    if column.texts is None:
        return np.asarray(column.values == 1)
    right = np.array([folded(text) in YES for text in column.texts], dtype=np.bool_)
    return np.asarray(right[column.values])


def _values_of(event: str, values: set[str], *, as_text: bool) -> list[str]:
    """Return the value that is the event, or those of which each is, joined by " or "."""
    form = folded if as_text else _as_number
    parts = [event] if form(event) in values else event.split(OR)
    return [one_yes([*sorted(values), form(part)])[-1] for part in parts]


def _as_number(event: str) -> str:
    """Return an event in the form of numbers in `texts_of`, words of truth as 0 and 1."""
    key = folded(event)
    if key in ("true", "false"):
        return str(int(key == "true"))
    try:
        return f"{float(event):.12g}"
    except ValueError:
        return key


def _whole(values: Array) -> Array:
    if values.dtype.kind == "f" and is_whole(values):
        return values.astype(np.int64)
    return values.astype(np.uint8) if values.dtype.kind == "b" else values


def _by_words(texts: Sequence[str]) -> str | None:
    """Return the value that says yes where all others say no."""
    keys = one_yes([folded(text) for text in texts])
    yes = [text for text, key in zip(texts, keys, strict=True) if key in YES]
    kinds = {key for key in keys if key in YES}
    others_say_no = {*keys} - kinds and {*keys} - kinds <= NO
    return yes[0] if len(kinds) == 1 and others_say_no else None


def _ask(
    column: Column,
    codes: Array,
    texts: Sequence[str],
    none: tuple[Answer, ...],
    scores: Array | None,
) -> str:
    counts = np.bincount(codes, minlength=len(texts))
    means = counts if scores is None else -np.bincount(codes, scores, len(texts)) / counts
    order = np.argsort(means, kind="stable").tolist()[:_MOST_ANSWERS]
    highest = "" if scores is None else ", whose scores are the highest"
    answers = tuple(
        Answer(
            plain(texts[k], 30),
            f"In {counts[k]:,} of {len(codes):,} rows{highest if k == order[0] else ''}.",
            {"event": texts[k]},
        )
        for k in order
    )
    listed = ", ".join(quoted(text, 20) for text in texts[:_MOST_ANSWERS])
    happened = [text for text in texts if speaks_of_event(text)]
    if 1 < len(happened) < len(texts):
        count = int(sum(counts[texts.index(text)] for text in happened))
        together = f"In {count:,} of {len(codes):,} rows; all others count alike."
        own = OR.join(happened)
        answers = (Answer(plain(own, 80), together, {"event": own}), *answers)
    ordered = (*answers, *none) if column.texts else (*none, *answers)
    raise Question(f"column {quoted(column.name)}", f"the values {listed}",
                   "Which value does the score predict?", ordered)  # fmt: skip


def speaks_of_event(text: str) -> bool:
    """Return whether a cell is of what happened, not of its absence."""
    words = words_of(text)
    return begins(words, EVENT_STEMS) and not begins(words, QUIET_STEMS)


def _spelled(codes: Array, texts: Sequence[str], keys: Sequence[str]) -> tuple[str, ...]:
    """Return that values which differ by capitals or blanks alone were read as one."""
    odd = [k for k, key in enumerate(keys) if keys.index(key) != k]
    if not odd:
        return ()
    own = quoted(texts[keys.index(keys[odd[0]])], 30)
    count = int(np.isin(codes, odd).sum())
    return (f"Labels such as {quoted(texts[odd[0]], 30)} were read as {own} ({count:,} labels).",)
