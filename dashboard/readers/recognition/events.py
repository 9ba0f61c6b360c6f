"""Which of two outcomes is the event that the score is of."""

import re
from collections.abc import Iterable, Sequence

from dashboard.readers.recognition import vocabulary as terms
from dashboard.readers.recognition.columns import (
    EVERY,
    Hypothesis,
    is_called_confidence,
    outcome_marks,
    relation,
)
from dashboard.readers.recognition.features import Feature, says_event
from dashboard.readers.recognition.vocabulary import begins, folded, words_of
from dashboard.readers.records import ReadingOptions
from dashboard.readers.refusal import Answer, Question, percent, plain, quoted

_COUNTED = re.compile(r"(arr_|column )?\d+", re.ASCII)
"""Names that arrays and columns without a name get."""

_NUMBERED = re.compile(r"(\d*)\Z", re.ASCII)
"""The number at the end of the name of a class, as of ``BAD1``."""

_CLEAR = 2.0
"""Standard errors beyond which the scores tell the event, or contradict the words."""


def event_of(
    best: Hypothesis, features: Sequence[Feature], options: ReadingOptions
) -> tuple[str | None, tuple[str, ...]]:
    """Return the value of the outcome that the score is of, and what should be checked.

    It is asked where words and numbers disagree, or neither says.
    """
    if len(best.outcome) != 1 or best.prediction is not None or best.one is None:
        return None, ()
    outcome, score = features[best.outcome[0]], features[best.one]
    names = [*outcome.kinds[0]]
    if options.event is not None:
        return options.event, ()
    kinds = outcome.main
    others = outcome.n_kinds > 2 and not options.leave_out  # which are asked about first
    points = score.is_number and score.low >= 0 and score.high > 100  # refused for any event
    if kinds is None or not score.is_number or others or points:
        return None, ()
    no, yes = kinds
    marks = outcome_marks(outcome)
    sure = 0.0 if marks is None else relation(score, marks, EVERY).sure
    higher, lower = (yes, no) if sure >= 0 else (no, yes)
    by_heading = _by_heading(score, outcome, names, kinds)
    heading = by_heading if by_heading is not None else yes if names_event(names, kinds) else None
    if _is_confident(score):
        raise _which(score, outcome, sure, options)
    clear = abs(sure) > (2 * _CLEAR if heading is None else _CLEAR)
    quiet = not clear and _mood(outcome.words) < 0 and not says_event({folded(n) for n in names})
    opposed = by_heading is None and (quiet or _mood(score.words) * _mood(outcome.words) < 0)
    if not clear and heading is not None and not opposed:
        return names[heading], ()
    if not clear or (heading == lower and not opposed):
        raise _which(score, outcome, sure, options)
    event = quoted(names[higher], 30)
    check = f"Event: {event}, since the scores are higher there. Please check."
    return names[higher], () if heading == higher else (check,)


def names_event(names: Sequence[str], kinds: tuple[int, int]) -> bool:
    """Return whether words or numbers say which of two values is the event."""
    no, yes = (folded(names[k]) for k in kinds)
    numbers = (no, yes) in (("0", "1"), ("-1", "1"), ("false", "true"))
    return numbers or (yes in terms.YES and no in terms.NO) or says_event({no, yes}) == yes


def is_event_first(names: Sequence[str]) -> bool:
    """Return whether the first of two classes is the event by its words or by its number."""
    stems, ends = zip(*(_NUMBERED.split(name, maxsplit=1)[:2] for name in names), strict=True)
    numbers = stems[0] == stems[1] and all(ends) and int(ends[0]) > int(ends[1])
    return numbers or names_event(names, (1, 0))


def _by_heading(
    score: Feature, outcome: Feature, names: Sequence[str], kinds: tuple[int, int]
) -> int | None:
    """Return the value that the heading of the score names, as ``p_yes`` does."""
    own = [*score.words]
    if _COUNTED.fullmatch(score.name):
        return None
    about = {*outcome.words}
    values = [
        k for k in kinds
        if (words := words_of(names[k])) and {*words} <= {*own} and not {*words} <= about
        and (not names[k].isdigit() or _numbers_class(own, names[k]))
    ]  # fmt: skip
    if not values and not {folded(names[k]) for k in kinds} & (terms.YES | terms.NO):
        values = [k for k in kinds if _mood([names[k]]) == _mood(own) != 0]
    return values[0] if len(values) == 1 else None


def _numbers_class(own: Sequence[str], number: str) -> bool:
    """Return whether a heading ends with the number of a class, as ``prob_0`` but no version."""
    return own[-1] == number and {*own[:-1]} <= terms.VALUE_WORDS | terms.CLASS_WORDS | {
        "p",
        "y",
        "pred",
    }


def _mood(texts: Iterable[str]) -> int:
    """Return 1 where texts speak of an event or a risk, -1 of its absence, 0 of neither or both."""
    words = [word for text in texts for word in words_of(text)]
    return begins(words, terms.EVENT_STEMS + terms.RISK_STEMS) - begins(words, terms.QUIET_STEMS)


def no_event(score: str, options: ReadingOptions) -> Answer:
    """Return the answer that a score is of no value of the outcome."""
    why = "Then the file needs a column per class; or, beside a confidence, the predicted class."
    return Answer("None of these", why, options.with_roles((score, "group")))


def _is_confident(score: Feature) -> bool:
    """Return whether a score may be of the predicted one of two classes."""
    return score.low >= (0.5 if score.is_share else 50) and is_called_confidence(score)


def _which(score: Feature, outcome: Feature, sure: float, options: ReadingOptions) -> Question:
    n_rows, names = int(outcome.counts.sum()), outcome.kinds[0]
    answers: list[Answer] = []
    order = (outcome.main or ())[:: -1 if sure >= 0 else 1]
    for place, k in enumerate(order):
        count = int(outcome.counts[k])
        name, share = plain(names[k], 30), percent(count / max(n_rows, 1))
        why = f"{count:,} of {n_rows:,} rows ({share}) are {name}"
        if abs(sure) > 1:
            higher = "higher" if place == 0 else "lower"
            why += f"; their scores are {higher}"
        answers.append(Answer(quoted(names[k]), why + ".", {"event": names[k]}))
    first = order[0]
    text = f"{int(outcome.counts[first]):,} of {n_rows:,} rows are {quoted(names[first])}"
    answers.insert(
        0 if _is_confident(score) and abs(sure) < 2 * _CLEAR else 2, no_event(score.name, options)
    )
    field = f"column {quoted(outcome.name, 30)}"
    return Question(field, text, "Which one is the event?", tuple(answers))
