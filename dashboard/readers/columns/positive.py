"""The score of class 1: which column it is, and whether it is of class 1 at all."""

import math
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calibcore.validation import Floats
from dashboard.readers.columns.classes import is_likeliest, is_measure, is_share, summing, value_of
from dashboard.readers.columns.headings import LABELS, SCORE_WORDS, is_score, key_of, strip_prefix
from dashboard.readers.columns.slices import NUMBER, is_number
from dashboard.readers.columns.truths import Sample, has_fractions, is_whole
from dashboard.readers.meaning.labels import NO_AND_YES
from dashboard.readers.refusal import FileError, plain, quoted

_LEAST = 5
_CLEAR, _OPPOSED, _HALF = 2.0, -0.5, 0.5
_NO = frozenset(no for no, _ in NO_AND_YES)
_ABOUT = SCORE_WORDS | {"p", "pr", "class", "label", "target", "y"}
_RUNS = frozenset({"model", "fold", "run", "seed", "version", "v", "epoch", "split"})
"""Words before a number that is not that of a class."""

_WORDS = re.compile(r"(?:(?<![^\W_])-)?[0-9]+(?:\.[0-9]+)?|[^\W\d_]+")
_ENDS_IN_0 = re.compile(r"(?<![0-9.])0$")


def of_two_kinds(
    classes: list[int], label: int, names: Sequence[str], sample: Sample, *, told: bool
) -> tuple[list[int], tuple[str, ...], tuple[str, ...]]:
    """Choose the score of class 1 among columns that stand beside a label of two kinds.

    Parameters
    ----------
    classes : list of int
        What would be the class columns, two or more.
    label : int
        Column of the label.
    names, sample : sequence
        The header and the first rows.
    told : bool
        Whether a prefix tells that these are classes.

    Returns
    -------
    list of int
        The class columns, of which one alone is the score of class 1.
    tuple of str
        What was found.
    tuple of str
        What may be doubted.

    Raises
    ------
    FileError
        Several columns may be the score.
    """
    kinds = {row[label].strip() for row in sample}
    few = len(sample) < _LEAST or len(kinds) > 2 or (len(classes) > 2 and (told or len(kinds) < 2))
    if few or _named(classes, names, kinds) or len(summing(classes, sample)) == len(classes):
        return classes, (), ()
    if not told or _is_part(names, classes):
        likely = [c for c in classes if not is_measure(key_of(names[c]))] or classes
        scores = [c for c in likely if is_share(c, sample)] or _alone(classes, sample)
        if len(scores) == 1:
            name = plain(names[scores[0]], 30)
            return scores, (f"Of all columns of numbers, {name} alone can be the score.",), ()
        if len(scores) > 1:
            raise _several(scores, names)
    if len(classes) > 2 or any(not is_number(row[c]) for row in sample for c in classes):
        return classes, (), ()
    return classes, (), _opposed(classes, label, names, sample, told=told)


def _named(classes: Sequence[int], names: Sequence[str], kinds: set[str]) -> bool:
    """Tell columns that are named by the labels, by numbers, or by no and yes."""
    whole = [names[c].strip() for c in classes]
    short = strip_prefix(whole)
    named = kinds <= {*whole, *short} or short[0].lower() in _NO
    return named or all(name.isascii() and name[-1:].isdigit() for name in short)


def _is_part(names: Sequence[str], classes: Sequence[int]) -> bool:
    """Tell two headings of which one begins with the other, as ``p_yes`` and ``p_yes_logit``."""
    short, long = sorted((names[c].strip() for c in classes[:2]), key=len)
    return len(classes) == 2 and long.startswith(short)


def _alone(classes: Sequence[int], sample: Sample) -> list[int]:
    """Find the one column with fractions, where all others count something."""
    scores = [c for c in classes if has_fractions(c, sample)]
    counts = [
        c
        for c in classes
        if all(is_whole(row[c]) for row in sample) and len({row[c] for row in sample}) > 1
    ]
    return scores if len(scores) == 1 and len(counts) == len(classes) - 1 else []


def _opposed(
    classes: Sequence[int], label: int, names: Sequence[str], sample: Sample, *, told: bool
) -> tuple[str, ...]:
    """Refuse two columns that rise with the same label, and doubt those that tell nothing.

    Of the logits of two classes one rises with its class and the other falls.
    """
    values = np.array([[value_of(row[c]) for c in classes] for row in sample])
    labels = [row[label].strip() for row in sample]
    one = np.array([text == labels[0] for text in labels])
    rises = _rises(values, one)
    if rises.min() > _CLEAR or rises.max() < -_CLEAR:
        raise _several(classes, names)
    varies = values.std(axis=0).min() > 0
    opposed = varies and np.corrcoef(values.T)[0, 1] < _OPPOSED
    if told or opposed or not varies:
        return ()
    first, second = (quoted(names[c], 30) for c in classes)
    said = f"Columns {first} and {second} were taken for the logits of the two classes"
    return (f"{said}, but no name says so: perhaps one of them alone is the score of class 1.",)


def _rises(values: Floats, one: NDArray[np.bool_]) -> Floats:
    """Give by how many standard errors each column is larger in some rows than in the others."""
    if one.all() or not np.isfinite(values).all():
        return np.zeros(values.shape[1])
    gap = values[one].mean(axis=0) - values[~one].mean(axis=0)
    noise = values.std(axis=0) * math.sqrt(1 / one.sum() + 1 / (~one).sum())
    return np.asarray(np.divide(gap, noise, out=np.zeros_like(gap), where=noise > 0))


def _several(scores: Sequence[int], names: Sequence[str]) -> FileError:
    listed = " and ".join(quoted(names[c], 30) for c in scores[:3])
    more = f" and {len(scores) - 3} more" if len(scores) > 3 else ""
    return FileError(
        "header", f"columns {listed}{more}, each of which may be the score of class 1",
        "your word on the class columns: one of them, or two if they are the two classes",
    )  # fmt: skip


def label_beside_decision(
    keys: Sequence[str], names: tuple[str, ...], sample: Sample
) -> int | None:
    """Find the label where of two columns called so the other only repeats what the scores say."""
    labels = [c for c, key in enumerate(keys) if key in LABELS and not has_fractions(c, sample)]
    if len(labels) != 2 or len(sample) < _LEAST:
        return None
    called = [
        c for c, key in enumerate(keys) if is_score(key) or SCORE_WORDS & {*_WORDS.findall(key)}
    ]
    scores = [c for c in called if c not in labels and has_fractions(c, sample)]
    if len(scores) > 1:
        words = dict(zip(strip_prefix([names[c].strip() for c in scores]), scores, strict=True))
        decided = [c for c in labels if is_likeliest(c, words, sample)]
    else:
        scores = [c for c in scores if is_share(c, sample)]
        decided = [c for c in labels if scores and _decides(c, scores[0], sample)]
    return next(c for c in labels if c != decided[0]) if len(decided) == 1 else None


def _decides(column: int, score: int, sample: Sample) -> bool:
    pairs = {(row[column].strip(), value_of(row[score]) > _HALF) for row in sample}
    return len(pairs) == 2 and len({cell for cell, _ in pairs}) == len({up for _, up in pairs}) == 2


def class_of_score(
    name: str, label: str | None, cells: Sequence[str], *, by_user: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tell of which class a lone score is, and refuse what is of class 0.

    Parameters
    ----------
    name : str
        Heading of the score.
    label : str, optional
        Heading of the label.
    cells : sequence of str
        The first labels.
    by_user : bool, default False
        The user chose this column.

    Returns
    -------
    tuple of str
        The class, where the labels are words and the heading has one of them.
    tuple of str
        What may be doubted.

    Raises
    ------
    FileError
        The score is of class 0, or may be.

    Examples
    --------
    >>> class_of_score("negative_score", "y", ["positive", "negative"])
    (('negative',), ())
    """
    said = _WORDS.findall(name)
    about = _ABOUT | {word.lower() for word in _WORDS.findall(label or "")}
    words = [word for word in said if word.lower() not in about] or said[-1:]
    word = words[0] if len(words) == 1 else ""
    kinds = {cell.strip() for cell in cells}
    of_no, number = word.lower() in _NO, NUMBER.fullmatch(word) is not None
    if kinds and not any(map(NUMBER.fullmatch, kinds)) and word:
        same = [kind for kind in sorted(kinds) if kind.lower() == word.lower()]
        return ((same[0],) if same else (word,) if of_no else ()), ()
    ends = _ENDS_IN_0.search(name.strip()) and _RUNS.isdisjoint(map(str.lower, words))
    low = bool(ends) or (number and float(word) <= 0)
    if (low and not by_user) or (of_no and kinds):
        of = min(float(word), 0) if number else 0
        found = f"column {quoted(name, 30)} alone, of class {of:g} by its name"
        wanted = "the score of class 1" + (", or your word on the class column if this is it" * low)
        raise FileError("header", found, wanted)
    values = {float(kind) for kind in kinds if NUMBER.fullmatch(kind)}
    if number and not by_user and len(values) == 2 and float(word) == min(values):
        found = f"column {quoted(name, 30)} alone, perhaps of the lower of two labels"
        raise FileError("header", found, "the score of the higher label, or your word on it")
    if not of_no:
        return (), ()
    return (), (f"Column {plain(name, 30)} is read as the score of class 1, not of class 0.",)
