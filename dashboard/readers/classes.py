"""Which columns are the classes, where no one says so."""

import re
from collections.abc import Sequence

import numpy as np

from dashboard.readers.headings import digits_after, is_score, key_of, prefixed, strip_prefix
from dashboard.readers.slices import is_number

_OFF, _LEAST, _SEARCHED = 0.02, 5, 200
_DECIDED = ("0", "1", "0.0", "1.0")
_MEASURES = frozenset(
    {"weight", "weights", "loss", "losses", "entropy", "margin", "uncertainty", "variance", "std",
     "latency", "time", "timestamp", "duration", "age", "epoch", "perplexity", "energy"}
)  # fmt: skip
"""Words in names of numbers that stand beside a model's answers."""

_WHOLE = re.compile(r"\s*[+-]?[0-9]+(?:[.,]0*)?\s*", re.ASCII)
Sample = Sequence[Sequence[str]]


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
    numeric = [c for c in free if any(is_number(row[c]) for row in sample)]
    chosen = prefixed(free, names)
    if chosen:
        numbered = digits_after([names[c] for c in chosen])
        chosen = [
            c
            for c, fits in zip(chosen, numbered, strict=True)
            # A numbered one without numbers is refused later, not passed over.
            if fits and (c in numeric or names[c].strip()[-1:].isdigit())
        ]
        counted = all(names[c].strip()[-1:].isdigit() for c in chosen)
        return (chosen if counted else _summing(chosen, sample) or chosen), True
    scores = [c for c in numeric if is_score(key_of(names[c]))]
    if len(scores) == 1:
        return scores, True
    summing = _summing(numeric, sample)
    if summing:
        return summing, True
    return _with_fractions(_no_measures(numeric, names, sample), sample), False


def _no_measures(columns: list[int], names: tuple[str, ...], sample: Sample) -> list[int]:
    """Leave out what is called a weight or a loss and is the name of no cell."""
    rest = [c for c in columns if not _MEASURES.intersection(key_of(names[c]).split("_"))]
    if len(rest) < 2 or len(rest) == len(columns):
        return columns
    cells = {cell.strip() for row in sample for cell in row}
    return [c for c in columns if c in rest or names[c].strip() in cells]


def _summing(columns: list[int], sample: Sample) -> list[int]:
    """Find the most neighbours that sum to 1, or to 100, in every row.

    Columns that cannot be shares, being negative or larger, do not stand between neighbours.
    """
    if len(columns) < 2 or not sample:
        return []
    try:
        cells = [
            [float(row[c].strip().removesuffix("%").replace(",", ".", 1)) for c in columns]
            for row in sample
        ]
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


def _with_fractions(columns: list[int], sample: Sample) -> list[int]:
    """Leave out columns of whole numbers that vary, such as ages, where all others have fractions.

    A class that is ruled out, or whose logit is the reference, has the same number in every row.
    """
    counts = [
        c
        for c in columns
        if all(_WHOLE.fullmatch(row[c]) for row in sample) and len({row[c] for row in sample}) > 1
    ]
    rest = [c for c in columns if c not in counts]
    if len(columns) == 1:
        return columns if all(row[columns[0]].strip() in _DECIDED for row in sample) else rest
    if len(sample) < _LEAST or len(rest) < 2:
        return columns
    fractions = sum(not _WHOLE.fullmatch(row[c]) for row in sample for c in rest)
    return rest if 2 * fractions > len(rest) * len(sample) else columns


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
        if min(found) >= 0 and all(row[c].strip() in _DECIDED for row in sample for c in found):
            return found
    return []
