"""Two sets of class columns side by side, such as ``logit_cat`` and ``prob_cat``."""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from calibcore.probabilities import softmax
from calibcore.validation import Floats
from dashboard.readers.columns.classes import all_decided, called_as, is_measure, value_of
from dashboard.readers.columns.headings import SCORE_WORDS, key_of, strip_prefix
from dashboard.readers.columns.slices import is_number
from dashboard.readers.columns.truths import Sample
from dashboard.readers.refusal import FileError, quoted

_OFF, _SAME = 0.02, 0.01
_FRAMES = ("(", "=", "[", ":")
_SCORE_WORDS = SCORE_WORDS | {"probas", "logits", "scores", "calibrated", "uncalibrated"}
_NO_SHARES = frozenset({"logit", "logits", "calibrated", "uncalibrated"})
"""Words of values that may belong to probabilities without sums of 1, whatever stands beside."""

_MOST = 500


def refuse_rivals(
    names: Sequence[str], classes: Sequence[int], free: Sequence[int], sample: Sample
) -> None:
    """Refuse class columns beside others of the same classes, unless they say the same.

    Parameters
    ----------
    names : sequence of str
        The header.
    classes, free : sequence of int
        The columns taken for the classes, and those that nothing else claims.
    sample : sequence of rows
        The first rows.

    Raises
    ------
    FileError
        Both may be meant: neither is the softmax of the other.
    """
    values = _values(classes, sample) if 1 < len(classes) <= _MOST else None
    if values is None:
        return
    for group, before, after in _groups(names, classes, free):
        others = _values(group, sample)
        if others is None or all_decided(group, sample) or _say_the_same(values, others):
            continue
        words = {*re.split("[^a-z]+", key_of(f"{before} {after}"))}
        own = names[classes[0]].strip().rpartition(strip_prefix([names[c] for c in classes])[0])[0]
        bracketed = before.endswith(_FRAMES) and own.endswith(_FRAMES)
        telling = _shares(others) and not _shares(values)
        if telling or bracketed or _speak(words, alike=_shares(others) >= _shares(values)):
            first, second = (quoted(names[columns[0]], 30) for columns in (classes, group))
            raise FileError(
                "header", f"two sets of class columns, such as {first} and {second}",
                "one set, or your word on the class columns",
            )  # fmt: skip


def _speak(words: set[str], *, alike: bool) -> bool:
    """Tell words of scores; beside probabilities, what has no sums of 1 may be scores of foods."""
    if alike or words & _NO_SHARES:
        return not words.isdisjoint(_SCORE_WORDS)
    return bool(words & _SCORE_WORDS) and words <= _SCORE_WORDS | {"", "raw"}


def _groups(
    names: Sequence[str], classes: Sequence[int], free: Sequence[int]
) -> Iterator[tuple[list[int], str, str]]:
    """Give other columns that are called by the same classes, and what stands around these."""
    words = strip_prefix([names[c] for c in classes])
    taken = {*classes}
    there = {names[c].strip(): c for c in free if c not in taken}
    for name in there:
        before, found, after = name.rpartition(words[0])
        if found and not is_measure(key_of(f"{before}_{after}")):
            group = called_as(name, words, there)
            if group:
                yield group, before, after


def _values(columns: Sequence[int], sample: Sample) -> Floats | None:
    """Give the cells of the rows that hold numbers in all of these columns."""
    rows = [
        [value_of(row[c]) for c in columns] if all(is_number(row[c]) for c in columns) else None
        for row in sample
    ]
    if not rows or None in rows:
        return None
    values = np.array(rows, dtype=np.float64)
    return values if np.isfinite(values).all() else None


def _shares(values: Floats) -> bool:
    """Tell rows that sum to 1 or to 100."""
    sums = values.sum(axis=1)
    return bool((values >= 0).all()) and any(
        bool((np.abs(sums - whole) <= _OFF * whole).all()) for whole in (1, 100)
    )


def _say_the_same(one: Floats, other: Floats) -> bool:
    """Tell the same probabilities, written as such or as logits or in percent."""
    return any(
        bool(np.abs(ours - theirs).max() < _SAME)
        for ours in _probabilities(one)
        for theirs in _probabilities(other)
    )


def _probabilities(values: Floats) -> list[Floats]:
    shares = [values / values.sum(axis=1, keepdims=True)] if _shares(values) else []
    return [*shares, softmax(values)]
