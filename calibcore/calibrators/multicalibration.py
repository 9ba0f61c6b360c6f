"""Corrections of the score for the groups of several grouping columns at once."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.calibrators.base import AT_LEAST_0, RISING_PARTS, Fitted, Lengths, Rules
from calibcore.calibrators.score_maps.platt import log_odds, sigmoid
from calibcore.errors import CalibrationInputError
from calibcore.results import result_class
from calibcore.validation import Floats, Hits, Labels

_FOLDS = 5

_SLACK = 0.3
"""A gain counts above log(n_cells / this): of calibrated sets, 2 to 4% have such a cell."""

_LONGEST_STEP = 1.0
"""In log-odds, of the one step of Newton's method by which cells are compared."""

_ALL = -1
"""Number of the grouping whose only group has all rows, and of the bin that has all scores."""


@result_class
class FittedMulticalibration(Fitted):
    """What is added to the log-odds of the score in each cell that was corrected.

    Attributes
    ----------
    n_groupings : int
        Grouping columns of the fit.
    edges : ndarray of float64, shape (n_edges,)
        Where a bin of scores ends and the next begins, which has the edge.
    grouping, group, bin : ndarray of int64, shape (n_cells,)
        A cell: the column, from 0, or -1 where all rows are one group (0); the group in it; the
        bin of scores, from 0, or -1 for all scores. In the order of the fit.
    shift : ndarray of float64, shape (n_cells,)
        Added to the log-odds of the rows in the cell.
    gain : float
        By how much these corrections lowered the sum of the NLL over rows left out, in nats.
    """

    n_groupings: int
    edges: Floats
    grouping: Labels
    group: Labels
    bin: Labels
    shift: Floats
    gain: float

    RULES: ClassVar[Rules] = {"edges": RISING_PARTS, "gain": AT_LEAST_0}
    ALIKE: ClassVar[Lengths] = ({"grouping": 1, "group": 1, "bin": 1, "shift": 1},)

    def __post_init__(self) -> None:
        """Check that every cell is of a column that there is."""
        if np.any((self.grouping < _ALL) | (self.grouping >= self.n_groupings)):
            wanted = f"-1 to {self.n_groupings - 1}, as n_groupings is {self.n_groupings}"
            raise CalibrationInputError("grouping", f"{self.grouping!r:.40}", wanted)

    def predict(self, scores: ArrayLike, groups: ArrayLike) -> Floats:
        """Calibrate scores.

        Parameters
        ----------
        scores : array_like of float, shape (n_samples,)
            Predicted probability of the event (y_prob), in [0, 1].
        groups : array_like of int, shape (n_samples, n_groupings)
            Group of each row in each column, numbered as in the fit. One that the fit has not
            seen has no correction of its own.

        Returns
        -------
        ndarray of float64, shape (n_samples,)
            In [0, 1]; rows in no corrected cell keep their score to the bit.

        Raises
        ------
        CalibrationInputError
            Scores out of range, or groups that are no whole numbers or of other columns.
        """
        checked = validation.scores(scores)
        table = _table(groups, checked.size)
        if table.shape[1] != self.n_groupings:
            actual, wanted = f"{table.shape[1]} columns", f"the {self.n_groupings} of the fit"
            raise CalibrationInputError("groups", actual, wanted)
        bins, added = np.searchsorted(self.edges, checked, side="right"), np.zeros(checked.size)
        cells = zip(self.grouping, self.group, self.bin, self.shift, strict=True)
        for grouping, group, own_bin, shift in cells:
            inside = (grouping == _ALL) | (table[:, grouping] == group)
            added[inside & ((own_bin == _ALL) | (bins == own_bin))] += shift
        moved, result = added != 0, checked.copy()
        result[moved] = sigmoid(log_odds(checked[moved]) + added[moved])
        return result


@dataclass(frozen=True)
class Multicalibration:
    """Correct groups of several columns where they are miscalibrated, all or a range of scores.

    `ByGroup` takes one column. Here rows are in a group of every column, such as ward, sex and
    age band, and what is added for one is known when the next is looked at.

    Parameters
    ----------
    n_bins : int, default 5
        Bins of scores with about as many rows each, 1 to 100; groups are corrected as a whole or
        in one of them.
    penalty : float, default 1
        Above 0: the correction of a cell is that of a normal distribution around 0 with a variance
        of 1 / penalty, in log-odds, so cells of few rows are corrected less.
    rounds : int, default 100
        Most corrections, 1 to 10,000.

    Notes
    -----
    A cell is a group of one column, or its rows in one bin of the score as it was given; all rows
    count as one more group. Each round looks for the cell in which one step of Newton's method,
    sum (h - q) / (sum q (1 - q) + penalty), at most 1 either way, lowers the summed NLL of rows
    left out the most (5 folds, each with the corrections that its other rows gave). There it adds
    the shift of log-odds with the least sum of NLL and penalty shift^2 / 2, if that lowers the
    summed NLL of rows left out by more than log(n_cells / 0.3); otherwise the fit ends. Where all
    cells are calibrated, twice a cell's gain is at most about chi-squared with one degree of
    freedom, so that one of 20 or more cells passes in less than 8% of sets by the union bound; in
    simulated sets it was 2 to 4%. Smaller differences are left as they are: a group of 1,000 rows
    may stay off by about 0.04.

    Hebert-Johnson et al. correct the level sets of the current score until no cell is off by more
    than a constant; MCGrad boosts trees on the score and the groups until held-out loss rises.
    Here bins are of the score as given, so that corrections add up in any order, and a cell has
    one number. Corrected scores need not increase with the score within a group.

    Folds are dealt at random, from seed 0, to the rows in the order of their scores, so the order
    in which they came does not change the fit. Rows count as drawn one by one: there is no form
    for weights or clusters, none for `calibcore.audit`, whose rows have one group each, and none
    as NumPy code, ONNX or a table.

    References
    ----------
    Hebert-Johnson, Kim, Reingold, Rothblum, *Multicalibration*, ICML 2018; *MCGrad*, arXiv
    2509.19884 (boosting in log-odds).

    Examples
    --------
    >>> scores, hits = [0.5] * 400, [1, 0, 0, 0] * 50 + [1, 1, 1, 0] * 50
    >>> ward, sex = [1] * 200 + [2] * 200, ([0] * 4 + [1] * 4) * 50
    >>> fitted = Multicalibration().fit(scores, hits, list(zip(ward, sex)))
    >>> fitted.predict([0.5, 0.5, 0.5], [[1, 0], [2, 0], [3, 0]]).round(2).tolist()
    [0.26, 0.74, 0.5]
    """

    n_bins: int = 5
    penalty: float = 1.0
    rounds: int = 100

    def __post_init__(self) -> None:
        """Check bins, penalty and rounds."""
        validation.whole_number(self.n_bins, "n_bins", least=1, most=100)
        validation.whole_number(self.rounds, "rounds", least=1, most=10_000)
        if not 0 < self.penalty < math.inf:
            raise CalibrationInputError("penalty", str(self.penalty), "a number above 0")

    def fit(self, scores: ArrayLike, hits: ArrayLike, groups: ArrayLike) -> FittedMulticalibration:
        """Fit on the scores, hits and groups of the calibration set.

        Parameters
        ----------
        scores : array_like of float, shape (n_samples,)
            Predicted probability of the event (y_prob), in [0, 1].
        hits : array_like of {0, 1}, shape (n_samples,)
            Whether the event happened (y_true of the event).
        groups : array_like of int, shape (n_samples, n_groupings)
            Group of each row in each of at least one column, as whole numbers of any size; made
            without the hits.

        Returns
        -------
        FittedMulticalibration

        Raises
        ------
        CalibrationInputError
            Scores or hits out of range, or groups that are no such table.
        """
        checked, outcomes = validation.scores_and_hits(scores, hits)
        table = _table(groups, checked.size)
        order = np.lexsort((*table.T, outcomes, checked))
        checked, outcomes, table = checked[order], outcomes[order], table[order]
        edges = np.unique(checked[np.arange(1, self.n_bins) * checked.size // self.n_bins])
        cells = _cells(table, np.searchsorted(edges, checked, side="right"))
        chosen, shift, gain = _boosted(log_odds(checked), outcomes, cells, self)
        warnings: tuple[str, ...] = ()
        if gain.size == self.rounds:
            left = "cells may be left to correct"
            warnings = (f"The fit ended at its limit of rounds, {self.rounds:,}: {left}.",)
        return FittedMulticalibration(
            *(table.shape[1], edges, cells.grouping[chosen], cells.group[chosen]),
            *(cells.bin[chosen], shift, float(gain.sum())),
            warnings=warnings,
        )


def _table(groups: ArrayLike, n_rows: int) -> Labels:
    """Check the group of each row in each column: whole numbers, of any size."""
    array = validation.real_array(groups, "groups")
    fits = array.ndim == 2 and len(array) == n_rows and array.shape[1] > 0
    if not fits or array.dtype.kind not in "biu":
        actual = f"an array of type {array.dtype} and shape {array.shape}"
        wanted = f"{n_rows:,} rows of whole numbers, a column for each grouping"
        raise CalibrationInputError("groups", actual, wanted)
    return array.astype(np.int64, copy=False)


class _Cells(NamedTuple):
    """Every cell by grouping, group and bin; and those that each row is in, two a grouping."""

    grouping: Labels
    group: Labels
    bin: Labels
    of_row: NDArray[np.intp]

    def sums(self, values: Floats) -> Floats:
        """Add up over the rows of each cell: shape (n_cells,)."""
        total = np.zeros(self.bin.size)
        for column in self.of_row:
            total += np.bincount(column, values, minlength=total.size)
        return total


def _cells(table: Labels, bins: NDArray[np.intp]) -> _Cells:
    parts: list[tuple[Labels, Labels, Labels]] = []
    of_row, n_cells = [], 0
    for grouping in range(_ALL, table.shape[1]):
        groups = np.zeros_like(bins) if grouping == _ALL else table[:, grouping]
        names, place = np.unique(groups, return_inverse=True)
        for own_bin in (np.full_like(bins, _ALL), bins):
            n_bins = int(bins.max()) + 2
            pairs, cell = np.unique(place * n_bins + own_bin + 1, return_inverse=True)
            parts.append(
                (np.full_like(pairs, grouping), names[pairs // n_bins], pairs % n_bins - 1)
            )
            of_row.append(cell + n_cells)
            n_cells += pairs.size
    grouping_, group, bin_ = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _Cells(grouping_, group, bin_, np.stack(of_row))


def _boosted(
    start: Floats, hits: Hits, cells: _Cells, options: Multicalibration
) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Return the corrected cells, the shift of each, and the gain of each round."""
    drawn = np.random.default_rng(0).permutation(hits.size)
    fold = np.empty(hits.size, dtype=np.intp)
    fold[drawn] = np.arange(hits.size) % _FOLDS
    odds = np.tile(start, (_FOLDS + 1, 1))  # as of the fit without each fold, and of all rows
    turn = np.arange(hits.size)
    shift: dict[int, float] = {}
    gains: list[float] = []
    while len(gains) < options.rounds:
        steps = np.stack(
            [_steps(at, hits, fold != k, cells, options.penalty) for k, at in enumerate(odds)]
        )
        gain = _gain(odds[fold, turn], steps, hits, fold, cells)
        best = int(np.argmax(gain))
        inside = (cells.of_row == best).any(axis=0)
        added = [_shift(at, hits, inside & (fold != k), options) for k, at in enumerate(odds)]
        following = odds + np.outer(added, inside)
        lowered = _nll(odds[fold, turn], hits) - _nll(following[fold, turn], hits)
        if lowered.sum() <= math.log(gain.size / _SLACK):
            break
        gains.append(float(lowered.sum()))
        shift[best] = shift.get(best, 0.0) + added[-1]
        odds = following
    return np.array(list(shift), dtype=np.intp), np.array(list(shift.values())), np.array(gains)


def _shift(odds: Floats, hits: Hits, chosen: NDArray[np.bool_], options: Multicalibration) -> float:
    """Return what, added to the log-odds of the chosen rows, has their least penalised NLL."""
    from scipy.optimize import brentq  # noqa: PLC0415 - a tenth of a second to import

    own, n_hits = odds[chosen], float(hits[chosen].sum())
    widest = (own.size + 1) / options.penalty

    def slope(shift: float) -> float:
        return n_hits - float(sigmoid(own + shift).sum()) - options.penalty * shift

    return float(brentq(slope, -widest, widest, xtol=1e-12, maxiter=1_000))


def _steps(
    odds: Floats, hits: Hits, seen: NDArray[np.bool_], cells: _Cells, penalty: float
) -> Floats:
    """Return the correction of each cell by the rows that are seen: shape (n_cells,)."""
    chance = sigmoid(odds)
    left, weight = cells.sums(seen * (hits - chance)), cells.sums(seen * chance * (1 - chance))
    return np.clip(left / (weight + penalty), -_LONGEST_STEP, _LONGEST_STEP)


def _gain(odds: Floats, steps: Floats, hits: Hits, fold: NDArray[np.intp], cells: _Cells) -> Floats:
    """Return by how much each cell's step lowers the NLL of rows left out: shape (n_cells,)."""
    now, gain = _nll(odds, hits), np.zeros(cells.bin.size)
    for column in cells.of_row:
        lowered = now - _nll(odds + steps[fold, column], hits)
        gain += np.bincount(column, lowered, minlength=gain.size)
    return gain


def _nll(odds: Floats, hits: Hits) -> Floats:
    return np.asarray(np.log1p(np.exp(-np.abs(odds))) + np.maximum(odds, 0) - hits * odds)
