"""The events a classifier's probabilities are about: a rank, the first ranks together, a class."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.blocks import block_rows, row_blocks
from calibcore.data import EventScores
from calibcore.errors import CalibrationInputError
from calibcore.validation import Floats, Labels

_FEW = 8
"""Ranks up to which finding the largest again and again beats sorting each row."""


class Event(Protocol):
    """Anything that turns class probabilities into one score and one hit a row."""

    def outcomes(self, probabilities: ArrayLike, labels: ArrayLike) -> EventScores:
        """Give the probability of the event and whether it happened, row by row."""
        ...


def _table(probabilities: ArrayLike, labels: ArrayLike) -> tuple[Floats, Labels]:
    table = validation.probabilities(probabilities)
    n_rows, n_classes = table.shape
    return table, validation.labels(labels, n_rows=n_rows, n_classes=n_classes)


def _check_rank(r: int, n_classes: int) -> None:
    if r > n_classes:
        raise CalibrationInputError("r", str(r), f"a rank from 1 to {n_classes}, the classes")


def _leading_classes(table: Floats, r: int) -> NDArray[np.intp]:
    """Give the classes of the r largest probabilities, largest first, equal ones by index."""
    n_rows, n_classes = table.shape
    classes = np.empty((r, n_rows), dtype=np.intp)
    starts = np.arange(block_rows(n_classes)) * n_classes
    room = np.empty((starts.size if 1 < r <= _FEW else 0, n_classes))
    for rows in row_blocks(n_rows, n_classes):
        block, found = table[rows], classes[:, rows]
        if r > _FEW:
            found[:] = np.argsort(-block, axis=1, kind="stable")[:, :r].T
            continue
        if r > 1:
            block = room[: len(block)]
            np.copyto(block, table[rows])
        for rank in range(r):
            block.argmax(axis=1, out=found[rank])
            if rank + 1 < r:  # below every probability
                block.reshape(-1)[starts[: len(block)] + found[rank]] = -1
    return classes.T


def _picked(table: Floats, classes: NDArray[np.intp]) -> Floats:
    """Give the probability of one class a row."""
    n_rows, n_classes = table.shape
    return np.asarray(table.reshape(-1)[np.arange(n_rows) * n_classes + classes])


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
    the lower first, as `numpy.argmax` does.

    References
    ----------
    Gupta et al., ICLR 2021, eqs. 3-4.

    Examples
    --------
    >>> TopR(2).outcomes([[0.7, 0.2, 0.1]], [1])
    EventScores(scores=array([0.2]), hits=array([1], dtype=int8))
    """

    r: int = 1

    def __post_init__(self) -> None:
        """Refuse a rank below 1."""
        validation.whole_number(self.r, "r", least=1)

    def outcomes(self, probabilities: ArrayLike, labels: ArrayLike) -> EventScores:
        """Give the r-th largest probability and whether its class is the true one.

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
        table, true = _table(probabilities, labels)
        _check_rank(self.r, table.shape[1])
        ranked = _leading_classes(table, self.r)[:, -1]
        return EventScores(_picked(table, ranked), ranked == true)


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
    Classes of equal probability rank by their index, the lower first.

    References
    ----------
    Gupta et al., ICLR 2021, eq. 5 and appendix B.

    Examples
    --------
    >>> WithinTopR(2).outcomes([[0.5, 0.25, 0.25]], [1])
    EventScores(scores=array([0.75]), hits=array([1], dtype=int8))
    """

    r: int = 2

    def __post_init__(self) -> None:
        """Refuse a rank below 1."""
        validation.whole_number(self.r, "r", least=1)

    def outcomes(self, probabilities: ArrayLike, labels: ArrayLike) -> EventScores:
        """Give the summed probability of the r first classes and whether the truth is among them.

        Parameters, returns and errors are those of `TopR.outcomes`.
        """
        table, true = _table(probabilities, labels)
        _check_rank(self.r, table.shape[1])
        first = _leading_classes(table, self.r)
        scores = np.zeros(len(table))
        for rank in range(self.r):
            scores += _picked(table, first[:, rank])
        within = (first == true[:, np.newaxis]).any(axis=1)
        return EventScores(np.minimum(scores, 1.0), within)


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
    >>> OneClass(0).outcomes([[0.7, 0.3]], [1])
    EventScores(scores=array([0.7]), hits=array([0], dtype=int8))
    """

    k: int

    def __post_init__(self) -> None:
        """Refuse a negative class."""
        validation.whole_number(self.k, "k", least=0)

    def outcomes(self, probabilities: ArrayLike, labels: ArrayLike) -> EventScores:
        """Give the probability of class k and whether it is the true class.

        Parameters, returns and errors are those of `TopR.outcomes`.
        """
        table, true = _table(probabilities, labels)
        if self.k >= table.shape[1]:
            raise CalibrationInputError("k", str(self.k), f"a class from 0 to {table.shape[1] - 1}")
        return EventScores(table[:, self.k], true == self.k)
