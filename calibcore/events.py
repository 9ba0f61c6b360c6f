"""The events a classifier's probabilities are about: a rank, the first ranks together, a class."""

import itertools
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.data import EventScores
from calibcore.errors import CalibrationInputError
from calibcore.probabilities import SMALLEST_NUMBER
from calibcore.strips import row_strips, strip_rows
from calibcore.validation import Floats

_FEW = 4
"""Up to so many ranks, or one in so many classes, looking for each beats sorting a row."""

_NEAR_ONE = 1 - 2.0**-20
"""Up to this score, 1 minus it has 10 right digits or more."""


class Event(Protocol):
    """Anything that turns class probabilities into one score and one hit a row."""

    def outcomes(self, probabilities: ArrayLike, labels: ArrayLike) -> EventScores:
        """Return the probability of the event and whether it happened, row by row."""
        ...


def _check_rank(r: int, n_classes: int) -> None:
    if r > n_classes:
        raise CalibrationInputError("r", str(r), f"a rank from 1 to {n_classes}, the classes")


def _leading(
    probabilities: ArrayLike, labels: ArrayLike, r: int
) -> tuple[Floats, Floats, NDArray[np.intp], NDArray[np.bool_]]:
    """Check a table and its labels; give it and its r largest probabilities.

    The table, shape (n_samples, n_classes); then three of shape (r, n_samples): the probabilities,
    the largest first and those that are equal by the index of their class; whose each is; and
    whether that is the true class.
    """
    validation.refuse_reordered(probabilities=probabilities, labels=labels)
    table = np.asarray(validation.matrix(probabilities, "probabilities"), dtype=np.float64)
    n_rows, n_classes = table.shape
    values, classes = _leading_classes(table, min(r, n_classes))
    true = validation.labels(labels, n_rows=n_rows, n_classes=n_classes)
    _check_rank(r, n_classes)
    return table, values, classes, classes == true


def _event(
    table: Floats, classes: NDArray[np.intp], scores: Floats, hits: NDArray[np.bool_]
) -> EventScores:
    """Make event scores, with the sum of the other classes where a score near 1 missed.

    Such rows are few. Where all rows are hits, any might have missed: resamples have some misses.
    """
    scores = np.where(scores > table.shape[1] * SMALLEST_NUMBER, scores, 0.0)  # or it only ranks
    near = np.flatnonzero(scores > _NEAR_ONE)
    missed = near[~hits[near]]
    rows = missed if missed.size or not hits.all() else near
    if rows.size == 0 or len(classes) == table.shape[1]:
        return EventScores(scores, hits)
    rest = 1 - scores
    for part in row_strips(rows.size, table.shape[1]):
        others = table[rows[part]]
        np.put_along_axis(others, classes[:, rows[part]].T, 0.0, axis=1)
        rest[rows[part]] = others.sum(axis=1)
    return EventScores(scores, hits, rest)


def _leading_classes(table: Floats, r: int) -> tuple[Floats, NDArray[np.intp]]:
    """Check a table and rank its classes, in one pass while nothing is wrong with it.

    The bits of numbers from 0 to 1 sort like them, below those of all that is no probability.
    """
    n_rows, n_classes = table.shape
    values, classes = np.empty((r, n_rows)), np.empty((r, n_rows), dtype=np.intp)
    sums, starts = np.empty(n_rows), np.arange(strip_rows(n_classes)) * n_classes
    room = np.empty((starts.size if r > 1 else 0, n_classes))
    sorting = r > max(_FEW, n_classes // _FEW)
    for rows in row_strips(n_rows, n_classes):
        block, leading = table[rows], classes[:, rows]
        first = starts[: len(block)]
        np.einsum("ij->i", block, out=sums[rows])
        bits = block.view(np.uint64)
        if sorting:
            leading[:] = np.argsort(~bits, axis=1, kind="stable")[:, :r].T
        else:
            bits.argmax(axis=1, out=leading[0])
        if r > 1 and not sorting:
            rest = room[: len(block)]
            np.copyto(rest, block)
            for before, now in itertools.pairwise(leading):
                rest.reshape(-1)[first + before] = -1  # below every probability
                rest.argmax(axis=1, out=now)
        values[:, rows] = block.reshape(-1)[first + leading]
    if validation.are_probabilities(values[0].view(np.uint64).max(), sums):
        return values, classes
    return _leading_classes(validation.probabilities(table), r)


@dataclass(frozen=True)
class TopR:
    """The class with the r-th largest probability is the true one.

    Parameters
    ----------
    r : int, default 1
        Rank, from 1; ``TopR(1)`` is the usual prediction and its confidence.

    Notes
    -----
    The score is the r-th largest probability. Classes of equal probability rank by their index,
    the lower first, as `numpy.argmax` does. Those that are 0 for want of digits, as where logits
    are more than 745 below the largest, rank by their logits where these are known
    (`calibcore.probabilities.rank_by_logits`), and score 0.

    References
    ----------
    Gupta et al., ICLR 2021, eqs. 3-4.

    Examples
    --------
    >>> outcomes = TopR(2).outcomes([[0.7, 0.2, 0.1]], [1])
    >>> outcomes.scores, outcomes.hits
    (array([0.2]), array([1], dtype=int8))
    """

    r: int = 1

    def __post_init__(self) -> None:
        """Raise if the rank is below 1."""
        validation.whole_number(self.r, "r", least=1)

    def outcomes(self, probabilities: ArrayLike, labels: ArrayLike) -> EventScores:
        """Return the r-th largest probability and whether its class is the true one.

        Parameters
        ----------
        probabilities : array_like of float, shape (n_samples, n_classes)
            Rows that sum to 1.
        labels : array_like of int, shape (n_samples,)
            True classes, from 0.

        Returns
        -------
        EventScores
            One score and one hit a row.

        Raises
        ------
        CalibrationInputError
            Fewer than ``r`` classes, or labels that do not fit.
        """
        table, values, classes, true = _leading(probabilities, labels, self.r)
        return _event(table, classes[-1:], values[-1], true[-1])


@dataclass(frozen=True)
class WithinTopR:
    """The true class is among the r largest.

    Parameters
    ----------
    r : int, default 2
        How many classes count, from 1; ``WithinTopR(1)`` is ``TopR(1)``.

    Notes
    -----
    The score is the sum of the r largest probabilities, added largest first and capped at 1.
    Classes of equal probability rank as in `TopR`.

    References
    ----------
    Gupta et al., ICLR 2021, eq. 5 and appendix B.

    Examples
    --------
    >>> outcomes = WithinTopR(2).outcomes([[0.5, 0.25, 0.25]], [1])
    >>> outcomes.scores, outcomes.hits
    (array([0.75]), array([1], dtype=int8))
    """

    r: int = 2

    def __post_init__(self) -> None:
        """Raise if the rank is below 1."""
        validation.whole_number(self.r, "r", least=1)

    def outcomes(self, probabilities: ArrayLike, labels: ArrayLike) -> EventScores:
        """Return the summed probability of the r first classes and whether the truth is among them.

        Parameters, returns and errors are those of `TopR.outcomes`.
        """
        table, values, classes, true = _leading(probabilities, labels, self.r)
        scores = np.zeros(len(values[0]))
        for ranked in values:
            scores += ranked
        return _event(table, classes, np.minimum(scores, 1.0), np.logical_or.reduce(true))


@dataclass(frozen=True)
class OneClass:
    """The true class is class k.

    Parameters
    ----------
    k : int
        Class index, from 0.

    References
    ----------
    Gupta et al., ICLR 2021, eq. 2.

    Examples
    --------
    >>> outcomes = OneClass(0).outcomes([[0.7, 0.3]], [1])
    >>> outcomes.scores, outcomes.hits
    (array([0.7]), array([0], dtype=int8))
    """

    k: int

    def __post_init__(self) -> None:
        """Raise if the class is negative."""
        validation.whole_number(self.k, "k", least=0)

    def outcomes(self, probabilities: ArrayLike, labels: ArrayLike) -> EventScores:
        """Return the probability of class k and whether it is the true class.

        Parameters, returns and errors are those of `TopR.outcomes`.
        """
        table, true = validation.labelled(probabilities, labels)
        if self.k >= table.shape[1]:
            raise CalibrationInputError("k", str(self.k), f"a class from 0 to {table.shape[1] - 1}")
        classes = np.broadcast_to(np.intp(self.k), (1, len(table)))
        return _event(table, classes, table[:, self.k], true == self.k)


def past_half(event: Event, probabilities: Floats, scores: Floats) -> int | None:
    """Count, of two classes, the rows whose score is on the other side of one half than decided.

    Parameters
    ----------
    event : Event
        What the scores are about.
    probabilities : ndarray of float64, shape (n_samples, n_classes)
        Of the classes, by which it was decided; of equals the first.
    scores : ndarray of float64, shape (n_samples,)
        Of the event, calibrated by themselves.

    Returns
    -------
    int or None
        None with more classes, or where the event is not about one class of each row.

    Examples
    --------
    >>> past_half(OneClass(1), np.array([[0.4, 0.6], [0.2, 0.8]]), np.array([0.45, 0.7]))
    1
    """
    n_samples, n_classes = probabilities.shape
    if n_classes != 2:
        return None
    match event:
        case OneClass(k):
            decided = probabilities.argmax(axis=1) == k
        case TopR(r):
            decided = np.full(n_samples, r == 1)
        case WithinTopR(1):
            decided = np.full(n_samples, fill_value=True)
        case _:
            return None
    return int(np.count_nonzero(np.where(decided, scores < 0.5, scores > 0.5)))
