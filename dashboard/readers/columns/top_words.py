"""True and predicted classes beside the only score of a table, told by their cells."""

from collections.abc import Sequence

from dashboard.readers.columns.headings import INDEX, WEAK_LABELS, key_of
from dashboard.readers.columns.slices import is_number
from dashboard.readers.columns.truths import Sample, is_other, is_prediction, is_whole
from dashboard.readers.meaning.labels import NO_AND_YES
from dashboard.readers.refusal import FileError, quoted

_HALF = 0.5
_OF_EITHER = frozenset({"label", "labels", "class"})
"""What a true class is called, and a predicted one where another column is called the true one."""


def compared_words(
    names: Sequence[str], label: int | None, score: int, free: Sequence[int], sample: Sample
) -> tuple[int | None, int | None]:
    """Find the true and the predicted class that a lone score is of.

    Parameters
    ----------
    names, sample : sequence
        The header and the first rows.
    label : int, optional
        Column of the true class, where its name says so.
    score : int
        Column of the score.
    free : sequence of int
        Columns that nothing else claims.

    Returns
    -------
    tuple of int
        Columns of the true and of the predicted class; None for one that its cells alone tell.

    Notes
    -----
    A score of one of two classes is nothing that three words can be labels of. Of two words, no
    score may be below one half, nor they be no and yes.

    Examples
    --------
    >>> rows = [["a", "a", "0.9"], ["b", "c", "0.8"], ["c", "b", "0.7"], ["a", "a", "0.6"]]
    >>> compared_words(["y", "$N-y", "$NC-y"], 0, 2, [1], rows)
    (0, 1)
    >>> compared_words(["a1", "a2", "p"], None, 2, [0, 1], rows)
    (None, None)
    """
    columns = free if label is None else [label, *free]
    words = {c: kinds for c in columns if (kinds := _words(c, names, sample))}
    if label is not None and label not in words:
        return _compared_numbers(names, label, free, sample)
    if label is None:
        predicted = [c for c in words if is_prediction(names[c])]
        true = [c for c in words if c not in predicted]
        if len(words) != 2 or len(predicted) != 1:
            return None, None
        label = true[0]
    kinds = words.pop(label, set())
    like = [c for c, others in words.items() if kinds & others]
    few = len(kinds) < 3
    values = [c for c in (score, *free) if any(is_number(row[c]) for row in sample)]
    alone = values == [score] and all(is_number(row[score]) for row in sample)
    if not few and len(like) != 1 and alone:
        raise _without_prediction(names, label, score, like)
    if not kinds or len(like) != 1 or (few and not _of_likelier(kinds, score, sample)):
        return None, None
    if key_of(names[like[0]]) in WEAK_LABELS and key_of(names[label]) in _OF_EITHER:
        return like[0], label
    return label, like[0] if is_prediction(names[like[0]]) else None


def _without_prediction(
    names: Sequence[str], label: int, score: int, like: Sequence[int]
) -> FileError:
    """Refuse three classes or more beside one score, of which no column says the class."""
    where = f"one score, in {quoted(names[score], 30)}, beside more than two classes in"
    if not like:
        found, wanted = "no other column of classes", "true and predicted class and confidence"
    else:
        listed = " and ".join(quoted(names[c], 30) for c in like[:3])
        found, wanted = f"predictions in {listed}", "one of them called prediction"
    return FileError("header", f"{where} {quoted(names[label], 30)}, and {found}", wanted)


def _compared_numbers(
    names: Sequence[str], label: int, free: Sequence[int], sample: Sample
) -> tuple[int | None, int | None]:
    """Find class numbers beside those of the label, more than two, that are called a prediction."""
    columns = [label, *(c for c in free if is_prediction(names[c]))]
    if len(columns) != 2 or not all(is_whole(row[c]) for row in sample for c in columns):
        return None, None
    true, predicted = ({float(row[c]) for row in sample} for c in columns)
    return (label, columns[1]) if len(true) > 2 and true & predicted else (None, None)


def _words(column: int, names: Sequence[str], sample: Sample) -> set[str]:
    """Give the different words of a column that says a class in every row."""
    kinds = {row[column].strip() for row in sample}
    further = is_other(names[column]) and not is_prediction(names[column])
    if further or key_of(names[column]) in INDEX or not 1 < len(kinds) < len(sample):
        return set()
    return set() if "" in kinds or any(map(is_number, kinds)) else kinds


def _of_likelier(kinds: set[str], score: int, sample: Sample) -> bool:
    """Tell scores that may be of the likelier of two classes and are not called of one."""
    lower = {kind.lower() for kind in kinds}
    known = any(lower <= {*pair} for pair in NO_AND_YES)
    cells = [row[score].strip() for row in sample]
    if known or not all(map(is_number, cells)) or any("%" in cell for cell in cells):
        return False
    return all(_HALF <= float(cell.replace(",", ".", 1)) <= 1 for cell in cells)
