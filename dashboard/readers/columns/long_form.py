"""Tables with one row a sample and class, put together to one row a sample."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from calibcore.blocks import row_blocks
from calibcore.validation import Floats
from dashboard.readers.columns.ranked import in_words_of, ranked_set
from dashboard.readers.columns.slices import NUMBER
from dashboard.readers.contents import Array, RawEvent, RawSet, SliceColumn
from dashboard.readers.refusal import FileError, plain, quoted

_LEAST, _MANY = 3, 10
"""Fewest samples of all classes, and of some of them, that are no chance."""

_MOST_LISTED = 20
_ROUNDING = 1e-9
_WHOLE, _MOST_OFF, _DECIMALS = 0.01, 0.05, 3
_STARTS, _HELD, _NEARLY_ALL, _NEAR = 1000, 0.9, 0.95, 0.05
_WANTED = "one row a sample, with a column of scores for every class"


def samples_of(
    scores: Floats,
    truth: NDArray[np.int32],
    predicted: NDArray[np.int32],
    names: Sequence[str],
    columns: Sequence[SliceColumn],
) -> tuple[RawSet | RawEvent, tuple[str, ...]] | None:
    """Put rows of one sample together, where they list every class once and sum to 1.

    Parameters
    ----------
    scores, truth, predicted : ndarray, shape (n_rows,)
        Of each row its score, and the places of its true and of its own class among ``names``.
    names : sequence of str
        Every class that occurs, each once.
    columns : sequence of SliceColumn
        Further columns, of which those are kept that are the same in all rows of a sample.

    Returns
    -------
    tuple, optional
        The table of all classes and what was done; nothing where each row is a sample.

    Raises
    ------
    FileError
        The rows are plainly of samples and classes, but in another order, or not of all classes.
    """
    every = _counts(predicted, len(names))
    listed = np.flatnonzero(every)
    counts, n_classes, n_rows = every[listed], len(listed), len(scores)
    # Equal scores sum to 1 whatever they are of.
    if n_classes < 2 or scores.min() == scores.max():
        return None
    whole = n_rows % n_classes == 0 and n_rows >= _LEAST * n_classes
    for turned in _orders(n_classes) if whole else ():
        own, true, values = (_turn(x, turned) for x in (predicted, truth, scores))
        if not (_same(true) and bool((np.sort(own, axis=1) == listed).all())):
            continue
        if _sums(values):
            kept = [
                replace(column, values=table[:, 0])
                for column in columns
                if _same(table := _turn(column.values, turned))
            ]
            rows = RawSet(None, None, columns=tuple(kept))
            labels, told = in_words_of(names, true[:, 0], own)
            made, _ = ranked_set(values, own, labels, names, rows)
            return made, (*_said(len(values), n_classes, turned), *told, *_left(columns, kept))
        _refuse_coarse(values)
    if whole and bool((counts == counts[0]).all()) and _is_total(scores, n_rows // n_classes):
        raise FileError(
            "rows", f"one row a sample and class: each of {n_classes:,} classes is in"
            f" {counts[0]:,} rows, whose scores sum to the number of samples", _WANTED,
        )  # fmt: skip
    _refuse_some_classes(scores, truth, predicted)
    _refuse_missing(scores[:_STARTS], truth[:_STARTS], predicted[:_STARTS])
    return None


def refuse_flattened(scores: Array, outcomes: Array) -> None:
    """Refuse scores of all classes one below another, beside whether each is the true one.

    Examples
    --------
    >>> refuse_flattened(np.full(30, 0.5), np.zeros(30))
    """
    n_rows, n_samples = len(scores), int(np.count_nonzero(outcomes == 1))
    if n_samples < _MANY or n_rows % n_samples or n_rows == n_samples:
        return
    for shape in _orders(n_rows // n_samples):
        values, hot = _turn(scores, shape), _turn(outcomes, shape)
        fits = _sums(values) and bool((np.count_nonzero(hot, axis=1) == 1).all())
        # A pattern of few scores has such sums by chance.
        if fits and len(np.unique(values)) >= _MANY:
            raise FileError(
                "rows", f"one row a sample and class: each {values.shape[1]:,} scores sum to 1, and"
                " one of them is of the true class", _WANTED,
            )  # fmt: skip


def refuse_fractions(
    names: Sequence[str], truth: Array, predicted: Array, places: tuple[str, str]
) -> None:
    """Refuse numbers with fractions for classes, true and predicted: those of a regression."""
    odd = np.array([_is_fraction(name) for name in names], dtype=np.bool_)
    counts = [_counts(codes, len(names)) for codes in (truth, predicted)] if odd.any() else []
    marks = [odd & (count > 0) for count in counts]
    first = [names[int(np.argmax(mark))] for mark in marks if mark.any()]
    if len(first) == 2:
        raise FileError(
            places[0], f"{quoted(first[0], 30)}, and {quoted(first[1], 30)} in {places[1]}:"
            " numbers with fractions, and no classes", "the same class names or numbers in both",
        )  # fmt: skip


def _is_fraction(name: str) -> bool:
    return NUMBER.fullmatch(name) is not None and not float(name).is_integer()


def _orders(n_classes: int) -> Iterator[tuple[int, int]]:
    """Give the shapes of rows sample by sample, and class by class."""
    yield -1, n_classes
    yield n_classes, -1


def _turn(rows: Array, shape: tuple[int, int]) -> Array:
    table = rows.reshape(shape)
    return table if shape[0] < 0 else table.T


def _counts(codes: Array, n_codes: int) -> Array:
    """Count each code, some rows at a time, since an index takes 8 bytes a row."""
    counts = np.zeros(n_codes, dtype=np.int64)
    for rows in row_blocks(len(codes), 1):
        counts += np.bincount(codes[rows], minlength=n_codes)
    return counts


def _same(table: Array) -> bool:
    return bool((table == table[:, :1]).all())


def _sums(values: Floats) -> bool:
    """Tell rows that sum to 1, or to 100; what is not so shows in the first rows.

    Of three values or more with few decimals each may be off by half a unit of the last.
    """
    off = {top: min(max(_WHOLE, _rounding(values, top)), _MOST_OFF) for top in (1, 100)}
    return all(
        any(bool((np.abs(part.sum(axis=1) / top - 1) <= off[top]).all()) for top in (1, 100))
        for part in (values[:_MANY], values)
    )


def _rounding(values: Floats, top: int) -> float:
    """Give how far from 1 rows of shares may sum since they have few decimals."""
    width = values.shape[1]
    return width // 2 * _unit(values[:_STARTS]) / top + _ROUNDING if width > 2 else 0.0


def _refuse_coarse(values: Floats) -> None:
    """Refuse rows of all classes with so few decimals that they are no probabilities."""
    sums = values.sum(axis=1)
    near = any(bool((np.abs(sums / top - 1) <= _rounding(values, top)).all()) for top in (1, 100))
    if near and len(values) >= _MANY:
        raise FileError(
            "rows", f"one row a sample and class: scores that sum to {sums.min():.4g} to"
            f" {sums.max():.4g} in a sample, as of so few decimals", f"{_WANTED} and more decimals",
        )  # fmt: skip


def _unit(values: Floats) -> float:
    """Give the last decimal that some values have, or 0 where they have more than a few.

    Examples
    --------
    >>> _unit(np.array([0.25, 0.5])), _unit(np.array([1 / 3]))
    (0.01, 0.0)
    """
    for decimals in range(_DECIMALS + 1):
        if bool((np.abs(values - values.round(decimals)) < _ROUNDING).all()):
            return float(10.0**-decimals)
    return 0.0


def _fall(values: Floats) -> bool:
    """Tell rows of shares, each at most the one before it."""
    falls = bool((values[:, 1:] <= values[:, :-1]).all())
    return falls and float(values.sum(axis=1).max()) <= 1 + _WHOLE


def _is_total(scores: Floats, n_samples: int) -> bool:
    return n_samples >= _MANY and abs(float(scores.sum()) / n_samples - 1) < 1e-4


def _said(n_samples: int, n_classes: int, shape: tuple[int, int]) -> Iterator[str]:
    order = f"every {n_classes:,} rows in turn" if shape[0] < 0 else f"rows {n_samples:,} apart"
    yield (
        f"One row a sample and class: {n_samples * n_classes:,} rows were put together to"
        f" {n_samples:,} samples, since {order} have one label and list all {n_classes:,} classes"
        " once, with scores that sum to 1."
    )


def _left(columns: Sequence[SliceColumn], kept: Sequence[SliceColumn]) -> Iterator[str]:
    names = {column.name for column in kept}
    left = ", ".join(plain(column.name, 30) for column in columns if column.name not in names)
    if left:
        yield f"Left out, as they differ within a sample: {left}."


def _refuse_some_classes(scores: Floats, truth: Array, predicted: Array) -> None:
    """Refuse rows of which each few list the likeliest classes of one sample, one below another."""
    for n_listed in range(2, _MOST_LISTED + 1):
        if len(scores) % n_listed or len(scores) < _MANY * n_listed:
            continue
        own, true, values = (x.reshape(-1, n_listed) for x in (predicted, truth, scores))
        if not (_fall(values[:_MANY]) and _fall(values) and _same(true)):
            continue
        ordered = np.sort(own, axis=1)
        if bool((ordered[:, 1:] != ordered[:, :-1]).all()):
            raise FileError(
                "rows", f"one row a sample and rank: each {n_listed} rows have one label, list"
                " different classes, and their scores fall", _WANTED,
            )  # fmt: skip


def _refuse_missing(scores: Floats, truth: Array, predicted: Array) -> None:
    """Refuse rows that go through all classes in turn, sample by sample, but for a few of them.

    Their scores sum to about the number of samples, and labels change where a turn ends.
    """
    listed, own = np.unique(predicted, return_inverse=True)
    n_classes, n_rows = len(listed), len(own)
    if n_classes < _LEAST or n_rows < _MANY * n_classes:
        return
    pairs = np.zeros((n_classes, n_classes), dtype=np.int64)
    np.add.at(pairs, (own[:-1], own[1:]), 1)
    follows, share = pairs.argmax(axis=1), float(scores.mean()) * n_classes
    moves = bool((follows != np.arange(n_classes)).all())
    in_turn = moves and len({*follows.tolist()}) == n_classes
    mostly = int(pairs.max(axis=1).sum()) >= _NEARLY_ALL * n_rows
    held = float(np.mean(truth[1:] == truth[:-1])) >= _HELD * (1 - 1 / n_classes)
    if in_turn and mostly and held and any(abs(share / top - 1) <= _NEAR for top in (1, 100)):
        raise FileError(
            "rows", f"one row a sample and class, since they go through {n_classes:,} classes in"
            " turn, but the scores of some sample have another sum than 1", _WANTED,
        )  # fmt: skip
