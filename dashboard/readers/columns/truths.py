"""Which column is the label, or the prediction beside it, where no heading is sure to say so."""

import math
import re
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from calibcore.validation import Floats
from dashboard.readers.columns.headings import (
    CONFIDENCE,
    HITS,
    LABELS,
    PREDICTED,
    WEAK_LABELS,
    WEAK_PREDICTED,
    is_score,
    key_of,
    strip_prefix,
)
from dashboard.readers.columns.slices import NUMBER, is_number
from dashboard.readers.contents import Array
from dashboard.readers.meaning.labels import NO_AND_YES, NUMBERED
from dashboard.readers.refusal import FileError, plain, quoted

Sample = Sequence[Sequence[str]]
"""The first rows of a table, as texts."""

_OF_SPSS = re.compile(r"\$[A-Z]{1,3}-")
"""How SPSS Modeler begins the names of predictions, as ``$N-species``."""

_LEAST = 5
_PLAIN = frozenset({"label", "class"})
_PREDICTED_WORDS = frozenset(
    {
        "pred",
        "predicted",
        "prediction",
        "predictions",
        "predict",
        "yhat",
        "into",
        "pgr",
        "pre",
        "classification",
    }
)
_OTHER_WORDS = frozenset(
    {"sex", "gender", "age", "fold", "split", "group", "treatment", "weight", "batch", "epoch",
     "seed", "site", "year", "month", "day", "rank", "cluster", "threshold", "level"}
)  # fmt: skip


def label_by_name(
    keys: Sequence[str], names: Sequence[str], sample: Sample, but: Collection[int | None]
) -> int | None:
    """Find the one column that is called a label, setting aside shares that go by such a name."""
    columns = [c for c, key in enumerate(keys) if key in LABELS and c not in but]
    if len(columns) > 1:
        # A class may be called True, or y.
        columns = [c for c in columns if not has_fractions(c, sample)] or columns
    return one_of(columns, names)


def prediction_called_label(
    keys: Sequence[str], sample: Sample, label: int | None
) -> tuple[int, int] | None:
    """Find a true label and, called a label too, the class that a score is of.

    Classifiers give ``label`` and ``score``, to which ``true_label`` is added.

    Returns
    -------
    tuple of int, optional
        Columns of the true and of the predicted label.
    """
    plain_names = [c for c, key in enumerate(keys) if key in _PLAIN and c != label]
    told = [c for c, key in enumerate(keys) if key in LABELS - _PLAIN] if label is None else [label]
    scores = [c for c, key in enumerate(keys) if key in CONFIDENCE or is_score(key)]
    others = PREDICTED | HITS
    if (len(plain_names), len(told), len(scores)) != (1, 1, 1) or others.intersection(keys):
        return None
    true, called = ({row[c[0]].strip() for row in sample} for c in (told, plain_names))
    numbered = all(map(NUMBERED.fullmatch, called)) and all(map(is_whole, true))
    return (told[0], plain_names[0]) if true & called or (numbered and true) else None


def one_of(columns: Sequence[int], names: Sequence[str]) -> int | None:
    """Give the only column, or refuse those that mean the same."""
    if len(columns) > 1:
        listed = " and ".join(quoted(names[column], 30) for column in columns[:3])
        raise FileError(
            "header", f"columns {listed}, which mean the same",
            "one column of them, or your word on which is the label",
        )  # fmt: skip
    return columns[0] if columns else None


def has_fractions(column: int, sample: Sample) -> bool:
    """Tell a column of numbers of which some are no whole ones."""
    cells = [row[column] for row in sample]
    return all(map(is_number, cells)) and not all(map(is_whole, cells))


def is_whole(cell: str) -> bool:
    """Tell a whole number, however it is spelled.

    Examples
    --------
    >>> is_whole("3"), is_whole("2.000e+00"), is_whole("2.5"), is_whole("x")
    (True, True, False, False)
    """
    return NUMBER.fullmatch(cell) is not None and len(cell) < 40 and float(cell).is_integer()


def label_by_cells(
    names: Sequence[str], classes: Sequence[int], free: Sequence[int], sample: Sample
) -> tuple[int, str, bool] | None:
    """Find the one column whose cells are names of classes, or class numbers that often come true.

    Returns
    -------
    tuple, optional
        The column; the sentence that says so; and whether it is only likely.
    """
    keys = {key_of(name) for name in names}
    # As SAS writes them: from which class a row is, and into which it was put.
    free = [
        c
        for c in free
        if not is_other(names[c])
        and not (key_of(names[c])[:2] == "i_" and f"f_{key_of(names[c])[2:]}" in keys)
    ]
    whole = [names[c].strip() for c in classes]
    short = strip_prefix(whole)
    # Numbers from 0 or 1 are not only those of classes.
    counted = {*short} <= {str(k) for k in range(len(classes) + 1)}
    known = set() if counted or len(classes) < 2 else {*whole, *short}
    named = [c for c in free if sample and all(row[c].strip() in known for row in sample)]
    if len(named) > 1:
        # What is the likeliest class in every row is the prediction.
        named = [c for c in named if not _is_likeliest(c, names, classes, sample)] or named
    if len(named) == 1:
        name = plain(names[named[0]], 30)
        return named[0], f"Column {name} was taken for the label: its cells name classes.", False
    called = [c for c in free if key_of(names[c]) in WEAK_LABELS]
    fitting = [c for c in called if _may_be_true(c, classes, sample)]
    if len(fitting) == 1 and not named:
        return fitting[0], f"Column {plain(names[fitting[0]], 30)} was taken for the label.", False
    numbered = _coming_true(free, names, classes, sample)
    if len(numbered) != 1 or named:
        return None
    said = (
        f"Column {plain(names[numbered[0]], 30)} was taken for the label, because its cells are"
        f" class numbers that go with the values in the first {len(sample):,} rows; if it is not,"
        " choose the column of the labels."
    )
    return numbered[0], said, True


def lone_label(names: Sequence[str], free: Sequence[int], sample: Sample) -> int | None:
    """Find the only column of a file of labels: whole numbers, or words."""
    free = [c for c in free if not is_other(names[c])]
    if len(free) != 1 or not sample:
        return None
    cells = [row[free[0]] for row in sample]
    if len(set(cells)) == len(cells):
        return None
    words = not any(map(NUMBER.fullmatch, cells)) and all(cell.strip() for cell in cells)
    return free[0] if words or all(map(is_whole, cells)) else None


def lone_outcome(
    names: Sequence[str], classes: Sequence[int], free: Sequence[int], sample: Sample
) -> tuple[int, str, bool] | None:
    """Find the only column beside one score whose cells are 0 and 1, or no and yes.

    Where there are further columns, it must rise with the score. Returns what `label_by_cells`
    does.
    """
    values = _values(classes, sample) if len(classes) == 1 and len(sample) >= _LEAST else None
    two = [c for c in free if not is_other(names[c]) and _are_outcomes(c, sample)]
    if len(two) != 1 or values is None:
        return None
    one = np.array([_is_yes(row[two[0]].strip().lower()) for row in sample])
    alone = len(free) == 1 and sum(bool(name.strip()) for name in names) == 2
    if _rise(values[:, 0], one) < (-2 if alone else 2):
        return None
    only = "being the only one beside the score and of two values"
    if not alone:
        only = "being the only one of two values, and the score is higher in rows with the second"
    said = f"Column {plain(names[two[0]], 30)} was taken for the label, {only};"
    return two[0], f"{said} if it is not, choose the column of the labels.", True


def _are_outcomes(column: int, sample: Sample) -> bool:
    """Tell cells that are 0 and 1, or no and yes, both of them."""
    kinds = {row[column].strip().lower() for row in sample}
    known = kinds <= {"0", "1", "0.0", "1.0"} or any(kinds == {*pair} for pair in NO_AND_YES)
    return len(kinds) == 2 and known


def _is_yes(cell: str) -> bool:
    return cell in {"1", "1.0"} or cell in {yes for _, yes in NO_AND_YES}


def beside(
    column: int, names: Sequence[str], free: Sequence[int], sample: Sample, weak: Collection[str]
) -> int | None:
    """Find the one column with the words of another, such as the prediction beside a label."""
    words = {row[column].strip() for row in sample}
    like = [
        c
        for c in free
        if words.intersection(cells := {row[c].strip() for row in sample})
        and len(cells) > 1
        and not has_fractions(c, sample)
        and not _words(names[c]) & _OTHER_WORDS
    ]
    called = [c for c in like if key_of(names[c]) in weak]
    chosen = called or like
    return chosen[0] if len(chosen) == 1 else None


def first_is_label(sample: Sample) -> bool:
    """Tell a first column of class numbers, before values that they go with."""
    width = len(sample[0])
    return width > 1 and bool(_coming_true([0], None, range(1, width), sample))


def is_other(name: str) -> bool:
    """Tell the name of a prediction, or of what tells rows apart."""
    return is_prediction(name) or bool(_words(name) & _OTHER_WORDS)


def is_prediction(name: str) -> bool:
    """Tell the name of a prediction.

    Examples
    --------
    >>> is_prediction("Prediction (class)"), is_prediction("$N-class"), is_prediction("site")
    (True, True, False)
    """
    known = key_of(name) in PREDICTED | WEAK_PREDICTED - WEAK_LABELS
    called = known or _OF_SPSS.match(name.strip()) is not None
    return called or bool(_words(name) & _PREDICTED_WORDS)


def _words(name: str) -> set[str]:
    return set(re.split(r"[^a-z]+", key_of(name)))


def _may_be_true(column: int, classes: Sequence[int], sample: Sample) -> bool:
    """Tell cells that are class numbers, or of two kinds beside one score."""
    cells = {row[column].strip() for row in sample}
    return _numbers(column, classes, sample) is not None or (len(classes) == 1 and len(cells) == 2)


def _is_likeliest(
    column: int, names: Sequence[str], classes: Sequence[int], sample: Sample
) -> bool:
    values = _values(classes, sample)
    if values is None:
        return False
    whole = [names[c].strip() for c in classes]
    short = strip_prefix(whole)
    best = values.argmax(axis=1)
    return all(
        row[column].strip() in (whole[k], short[k]) for row, k in zip(sample, best, strict=True)
    )


def _values(classes: Sequence[int], sample: Sample) -> Floats | None:
    """Give the cells of the classes as numbers, if they are."""
    try:
        cells = [[float(row[c].strip().removesuffix("%").replace(",", ".", 1)) for c in classes]
                 for row in sample]  # fmt: skip
    except ValueError:
        return None
    values = np.array(cells)
    return values if np.isfinite(values).all() else None


def _numbers(column: int, classes: Sequence[int], sample: Sample) -> Array | None:
    """Give cells as class numbers from 0, if they are such."""
    n_classes = max(2, len(classes))
    cells = [row[column] for row in sample]
    if not classes or not all(map(is_whole, cells)) or len(set(cells)) < 2:
        return None
    values = np.array([float(cell) for cell in cells])
    if n_classes == 2 and set(values.tolist()) == {-1.0, 1.0}:
        return values > 0
    first = int(values.min() >= 1 and values.max() == n_classes)
    fits = values.min() >= 0 and values.max() < n_classes + first
    return (values - first).astype(int) if fits else None


def _coming_true(
    free: Sequence[int], names: Sequence[str] | None, classes: Sequence[int], sample: Sample
) -> list[int]:
    """List class numbers that are the likeliest class more often than luck would have them."""
    read = ((c, _numbers(c, classes, sample)) for c in free)
    numbers = {c: labels for c, labels in read if labels is not None}
    values = _values(classes, sample) if numbers and len(sample) >= _LEAST else None
    if values is None:
        return []
    if len(classes) == 1:
        likely = [c for c, labels in numbers.items() if _rise(values[:, 0], labels == 1) > 2]
        # What a threshold of the score decides is a prediction.
        open_to = [c for c in likely if not _is_decided(values[:, 0], numbers[c] == 1)]
        return open_to if len(likely) > 1 else likely
    best, luck = _order(names, classes)[values.argmax(axis=1)], 1 / len(classes)
    least = luck + 2 * math.sqrt((1 - luck) * luck / len(sample))
    return [c for c, labels in numbers.items() if float(np.mean(best == labels)) > least]


def _rise(values: Floats, one: NDArray[np.bool_]) -> float:
    """Give by how many standard errors values are higher in some rows than in the others."""
    noise = values.var() * (1 / one.sum() + 1 / (~one).sum())
    gap = values[one].mean() - values[~one].mean()
    return float(gap / math.sqrt(noise)) if noise > 0 else 0.0


def _is_decided(values: Floats, one: NDArray[np.bool_]) -> bool:
    """Tell rows whose values are all above those of the others."""
    return bool(values[one].min() >= values[~one].max())


def _order(names: Sequence[str] | None, classes: Sequence[int]) -> Array:
    """Give the number of each class, where the columns are numbered in another order."""
    places = np.arange(len(classes))
    short = strip_prefix([names[c].strip() for c in classes]) if names else ()
    if sorted(short) != sorted(map(str, places)):
        return places
    return np.array([int(name) for name in short])
