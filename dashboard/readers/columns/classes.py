"""Which columns are the classes, where no one says so."""

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from dashboard.readers.columns.headings import (
    digits_after,
    is_score,
    key_of,
    prefixed,
    strip_prefix,
)
from dashboard.readers.columns.slices import is_number
from dashboard.readers.columns.truths import Sample, has_fractions, is_other
from dashboard.readers.contents import Array, SliceColumn
from dashboard.readers.meaning.labels import NO_AND_YES

_OFF, _LEAST, _SEARCHED = 0.02, 5, 200
DECIDED = ("0", "1", "0.0", "1.0")
_MEASURES = frozenset(
    {"weight", "weights", "loss", "losses", "entropy", "margin", "uncertainty", "variance", "std",
     "sd", "stderr", "lower", "upper", "latency", "time", "timestamp", "duration", "age", "epoch",
     "perplexity", "energy"}
)  # fmt: skip
"""Words in names of numbers that stand beside a model's answers."""

_TRUTH = frozenset(
    {"label", "labels", "true", "truth", "y", "is", "target", "targets", "gt", "actual", "gold",
     "ground", "onehot", "real"}
)  # fmt: skip
"""Words in names of columns that say what is true."""

_WHOLE = re.compile(r"\s*[+-]?[0-9]+(?:[.,]0*)?\s*", re.ASCII)


def class_columns(
    free: list[int], names: tuple[str, ...], sample: Sample
) -> tuple[list[int], bool]:
    """Choose the class columns: by a telling prefix, by a sum of 1, else all that hold numbers.

    Returns
    -------
    list of int
        The columns, one of which alone is the score of class 1.
    bool
        Whether names or sums tell them, so that they are no other numbers.
    """
    numeric = numeric_columns(free, sample)
    chosen = prefixed(free, names)
    if chosen:
        numbered, numbers = digits_after([names[c] for c in chosen]), {*numeric}
        chosen = [
            c
            for c, fits in zip(chosen, numbered, strict=True)
            # A numbered one without numbers is refused later, not passed over.
            if fits and (c in numbers or names[c].strip()[-1:].isdigit())
        ]
        counted = all(names[c].strip()[-1:].isdigit() for c in chosen)
        return (chosen if counted else summing(chosen, sample) or chosen), True
    scores = [c for c in numeric if is_score(key_of(names[c]))]
    others = _no_measures(numeric, names, sample)
    shares = summing(others, sample) if len(scores) != 1 or _are_whole(scores, sample) else []
    if all_decided(shares, sample):
        spare = {*shares}
        others = [c for c in others if c not in spare]
        more = summing(others, sample)
        shares = more if len(more) == len(shares) else shares
    if len(scores) == 1 and len(shares) < 3:
        return scores, True
    return (shares, True) if shares else (with_fractions(others, sample), False)


def _are_whole(columns: Sequence[int], sample: Sample) -> bool:
    return all(_WHOLE.fullmatch(row[c]) for row in sample for c in columns)


def numeric_columns(free: Sequence[int], sample: Sample) -> list[int]:
    """List the columns that hold a number in some row."""
    return [c for c in free if any(is_number(row[c]) for row in sample)]


def _no_measures(columns: list[int], names: tuple[str, ...], sample: Sample) -> list[int]:
    """Leave out what is called a weight, a loss or a mark and is the name of no cell."""
    spare = {c for c in columns if is_measure(key_of(names[c]))}
    if len(columns) - len(spare) < 2 or not spare:
        return columns
    cells = {cell.strip() for row in sample for cell in row}
    return [c for c in columns if c not in spare or names[c].strip() in cells]


def is_measure(key: str) -> bool:
    """Tell the name of a weight, a loss or a mark."""
    return key.startswith(("is_", "has_")) or not _MEASURES.isdisjoint(key.split("_"))


def summing(columns: list[int], sample: Sample) -> list[int]:
    """Find the most neighbours that sum to 1, or to 100, in every row.

    Columns that cannot be shares, being negative or larger, do not stand between neighbours.
    """
    if len(columns) < 2 or not sample:
        return []
    try:
        cells = [[value_of(row[c]) for c in columns] for row in sample]
    except ValueError:
        return []
    values = np.array(cells)
    shares = ((values >= 0) & (values <= 100 * (1 + _OFF))).all(axis=0)
    columns = [columns[k] for k in np.flatnonzero(shares)]
    sums = np.cumsum(np.pad(values[:, shares], ((0, 0), (1, 0))), axis=1)
    fewest = 2 if len(columns) <= _SEARCHED else len(columns)
    for length in range(len(columns), fewest - 1, -1):
        parts = sums[:, length:] - sums[:, :-length]
        for whole in (1, 100):
            fits = (np.abs(parts - whole) <= _OFF * whole).all(axis=0)
            if fits.any():
                first = int(fits.argmax())
                return columns[first : first + length]
    return []


def with_fractions(columns: list[int], sample: Sample) -> list[int]:
    """Leave out columns of whole numbers that vary, such as ages, where all others have fractions.

    A class that is ruled out, or whose logit is the reference, has the same number in every row.
    """
    counts = [
        c
        for c in columns
        if all(_WHOLE.fullmatch(row[c]) for row in sample) and len({row[c] for row in sample}) > 1
    ]
    whole = {*counts}
    rest = [c for c in columns if c not in whole]
    if len(columns) == 1:
        return columns if all(row[columns[0]].strip() in DECIDED for row in sample) else rest
    if len(sample) < _LEAST or not rest or (len(rest) == 1 and not is_share(rest[0], sample)):
        return columns
    fractions = sum(not _WHOLE.fullmatch(row[c]) for row in sample for c in rest)
    return rest if 2 * fractions > len(rest) * len(sample) else columns


def is_share(column: int, sample: Sample) -> bool:
    """Tell fractions between 0 and 1, or shares of 100 with their sign."""
    if not has_fractions(column, sample):
        return False
    return all(0 <= value_of(row[column]) <= (100 if "%" in row[column] else 1) for row in sample)


def is_likeliest(column: int, words: Mapping[str, int], sample: Sample) -> bool:
    """Tell the class whose column has the largest value in every row: it is the prediction."""
    if not all(is_number(row[c]) for row in sample for c in words.values()):
        return False
    return all(
        row[column].strip() == max(words, key=lambda word: value_of(row[words[word]]))
        for row in sample
    )


def value_of(cell: str) -> float:
    """Read a cell that `is_number`."""
    return float(cell.strip().removesuffix("%").replace(",", ".", 1))


def all_decided(columns: Iterable[int], sample: Sample) -> bool:
    """Tell columns that are 0 or 1 in every row."""
    return all(row[c].strip() in DECIDED for c in columns for row in sample)


def one_hot_labels(
    free: list[int], names: tuple[str, ...], classes: list[int], sample: Sample
) -> list[int]:
    """Find one column of labels a class, such as ``label_0, label_1, ...``, in their order."""
    if len(classes) < 2 or not sample:
        return []
    short = strip_prefix([names[c] for c in classes])
    keys = {key_of(names[c]): c for c in free}
    for prefix in ("label", "y_true", "y", "true", "target", "truth"):
        found = [keys.get(f"{prefix}_{key_of(name)}", -1) for name in short]
        if min(found) >= 0 and (all_decided(found, sample) or _one_hot(found, sample)):
            return found
    return []


def one_hot_group(
    free: list[int], names: tuple[str, ...], classes: list[int], sample: Sample
) -> tuple[list[int], bool]:
    """Find the one group of columns called by the classes, as ``is_cat, is_dog`` or bare names.

    Returns
    -------
    list of int
        The columns, of which one is 1 in every row.
    bool
        Whether a word such as ``is`` or ``true`` says that they are no decisions of a model.
    """
    if len(classes) < 2 or not sample:
        return [], False
    short = strip_prefix([names[c] for c in classes])
    there = {names[c].strip(): c for c in free}
    groups = [group for name in there if _one_hot(group := called_as(name, short, there), sample)]
    if len(groups) != 1:
        return [], False
    before, _, after = names[groups[0][0]].strip().rpartition(short[0])
    words = re.split(r"[^a-z]+", f"{key_of(before)} {key_of(after)}")
    return groups[0], not _TRUTH.isdisjoint(words)


def called_as(name: str, classes: Sequence[str], there: Mapping[str, int]) -> list[int]:
    """Give the columns that are called as this one is by the first class, one a class."""
    before, found, after = name.rpartition(classes[0])
    if not found or is_other(f"{before} {after}"):
        return []
    group = []
    for other in classes:
        if (column := there.get(before + other + after)) is None:
            return []
        group.append(column)
    return group


def _one_hot(columns: Sequence[int], sample: Sample) -> bool:
    """Tell columns of 0 and 1, or of no and yes, of which one alone is 1 in every row."""
    cells = [[row[c].strip().lower() for c in columns] for row in sample]
    yes = _yes_of({cell for row in cells for cell in row})
    return bool(columns) and all(sum(cell in yes for cell in row) == 1 for row in cells)


def _yes_of(kinds: set[str]) -> tuple[str, ...]:
    """Give what means 1 among cells in lower case that are 0 and 1, or no and yes."""
    if kinds <= {*DECIDED}:
        return DECIDED[1::2]
    return next(((yes,) for no, yes in NO_AND_YES if kinds <= {no, yes}), ())


def ones_of(column: SliceColumn) -> Array | None:
    """Give the 0 and 1 of a column that says so in words too, or nothing.

    Examples
    --------
    >>> ones_of(SliceColumn("is_cat", np.array([1, 0]), ("True", "False")))
    array([False,  True])
    """
    if column.categories is None:
        return column.values
    lower = [text.strip().lower() for text in column.categories]
    yes = _yes_of({*lower})
    return np.array([text in yes for text in lower])[column.values] if yes else None
