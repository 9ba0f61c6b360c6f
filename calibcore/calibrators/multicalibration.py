"""Corrections of the score for the groups of several grouping columns at once."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.calibrators.base import (
    AT_LEAST_0,
    RISING_PARTS,
    Breaks,
    FittedGroupMap,
    GroupMap,
    Lengths,
    Rules,
    weighed_rows,
)
from calibcore.calibrators.descriptions import Description, Recipe, rounded
from calibcore.calibrators.method import Cost, Fits, Method
from calibcore.calibrators.score_maps.logistic import ODDS, SIGMOID
from calibcore.errors import CalibrationInputError
from calibcore.probabilities import log_odds, sigmoid
from calibcore.results import result_class
from calibcore.validation import Floats, Hits, Labels
from calibcore.weights import SampleWeight, refuse_sampling

_FOLDS = 5

_SLACK = 0.3
"""A gain counts above log(n_cells / this): of calibrated sets, 2 to 4% have such a cell."""

_LONGEST_STEP = 1.0
"""In log-odds, of a step of Newton's method."""

_ALL = -1
"""Number of the grouping whose only group has all rows, and of the bin that has all scores."""


@result_class
class FittedMulticalibration(FittedGroupMap):
    """What is added to the log-odds of the score in each cell that was corrected."""

    known_grouping: Labels
    """Column, from 0, of every group of the fit, corrected or not; shape (n_groups,)."""
    known_group: Labels
    """Its number in that column, rising; shape (n_groups,)."""
    edges: Floats
    """Where a bin of scores ends and the next begins, which has the edge; shape (n_edges,)."""
    grouping: Labels
    """Column of each cell, from 0, or -1 where all rows are one group (0); in the order of the fit;
    shape (n_cells,).
    """
    group: Labels
    """The group of each cell in its column; shape (n_cells,)."""
    bin: Labels
    """Its bin of scores, from 0, or -1 for all scores; shape (n_cells,)."""
    shift: Floats
    """Added to the log-odds of the rows in the cell; shape (n_cells,)."""
    gain: float
    """By how much these corrections lowered the sum of the NLL over rows left out, in nats."""

    RULES: ClassVar[Rules] = {"edges": RISING_PARTS, "gain": AT_LEAST_0}
    ALIKE: ClassVar[Lengths] = (
        {"grouping": 1, "group": 1, "bin": 1, "shift": 1},
        {"known_grouping": 1, "known_group": 1},
    )

    def __post_init__(self) -> None:
        """Check that columns are numbered, and that every cell is of a group and bin there are."""
        columns = np.unique(self.known_grouping)
        if not np.array_equal(columns, np.arange(columns.size)):
            raise CalibrationInputError("known_grouping", f"{columns!r:.40}", "0, 1, 2 and so on")
        if np.any((self.bin < _ALL) | (self.bin > self.edges.size)):
            wanted = f"-1 to {self.edges.size}, as there are as many edges"
            raise CalibrationInputError("bin", f"{self.bin!r:.40}", wanted)
        known = {*zip(self.known_grouping.tolist(), self.known_group.tolist(), strict=False)}
        cells = {*zip(self.grouping.tolist(), self.group.tolist(), strict=False)}
        if not cells <= known | {(_ALL, 0)}:
            wanted = "columns and groups of the fit, or -1 for all rows"
            raise CalibrationInputError("grouping", f"{self.grouping!r:.40}", wanted)

    @property
    def n_groupings(self) -> int:
        """Grouping columns of the fit."""
        return int(self.known_grouping.max(initial=_ALL)) + 1

    @property
    def groups_used(self) -> Mapping[int, Labels]:
        used = np.unique(self.grouping[self.grouping != _ALL]).tolist()
        return {column: self.known_group[self.known_grouping == column] for column in used}

    def predict(self, scores: ArrayLike, groups: ArrayLike | None = None) -> Floats:
        checked = validation.scores(scores)
        table = None if groups is None else self._table(groups, checked.size)
        bins, added = np.searchsorted(self.edges, checked, side="right"), np.zeros(checked.size)
        cells = zip(self.grouping, self.group, self.bin, self.shift, strict=True)
        for grouping, group, own_bin, shift in cells:
            inside = (own_bin == _ALL) | (bins == own_bin)
            if grouping != _ALL:
                inside &= False if table is None else table[:, grouping] == group
            added[inside] += shift
        moved, result = added != 0, checked.copy()
        result[moved] = sigmoid(log_odds(checked[moved]) + added[moved])
        return result

    def _table(self, groups: ArrayLike, n_rows: int) -> Labels:
        """Check that there is a group for each row and column."""
        table = _table(groups, n_rows)
        if table.shape[1] != self.n_groupings:
            actual, wanted = f"{table.shape[1]} columns", f"the {self.n_groupings} of the fit"
            raise CalibrationInputError("groups", actual, wanted)
        return table

    def added(self, grouping: int = _ALL, group: int = 0) -> Floats:
        """Return what one group, or all rows, adds to the log-odds in each bin: (n_bins,)."""
        mine = (self.grouping == grouping) & (self.group == group)
        shift, own_bin = self.shift[mine], self.bin[mine]
        whole = np.full(self.edges.size + 1, shift[own_bin == _ALL].sum())
        np.add.at(whole, own_bin[own_bin != _ALL], shift[own_bin != _ALL])
        return whole

    def recipe(self) -> Recipe:
        """Return the map of all rows, with what the groups at each row's places add to it."""
        numbers: dict[str, Any] = {"edges": self.edges, "of_all": self.added()}
        lines = ['bins = np.searchsorted(EDGES, x, side="right")', "added = OF_ALL[bins]"]
        if self.groups_used:
            none = np.zeros(self.edges.size + 1)  # the last row is for groups that were not there
            numbers["shifts"] = [
                np.array([*(self.added(column, group) for group in groups), none])
                for column, groups in self.groups_used.items()
            ]
            lines.append("added = added + sum(s[place, bins] for s, place in zip(SHIFTS, places))")
        return numbers, [
            *lines,
            "before = x",
            *ODDS,
            "y = low + high + added",
            *SIGMOID,
            "y = np.where(added == 0, before, y)",
        ]

    def describe(self) -> Description:
        n_cells = self.shift.size
        if not n_cells:
            return Description("No group is shown to be off: scores stay as they are.")
        what = "1 correction was" if n_cells == 1 else f"{n_cells} corrections were"
        return Description(
            f"{what} confirmed by rows left out of the fit, whose log loss fell by"
            f" {rounded(self.gain)} nats in all."
        )

    def breaks(self) -> Breaks:
        return Breaks(starts=self.edges if (self.bin != _ALL).any() else np.empty(0))


@dataclass(frozen=True)
class Multicalibration(GroupMap):
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
    for sampling weights, and frequency weights repeat rows.

    Without groups only corrections of all rows apply. A group that the fit has not seen has no
    correction of its own, and rows in no corrected cell keep their score to the bit.

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

    def fit(
        self,
        scores: ArrayLike,
        hits: ArrayLike,
        groups: ArrayLike | None = None,
        *,
        sample_weight: SampleWeight = None,
    ) -> FittedMulticalibration:
        if groups is not None:
            groups = weighed_rows(groups, hits, sample_weight)[0]
        scores, hits, weights = weighed_rows(scores, hits, sample_weight)
        if weights is not None:
            refuse_sampling("multicalibration", "a search that a test of equal rows ends")
        checked, outcomes = validation.scores_and_hits(scores, hits)
        none = np.empty((checked.size, 0), dtype=np.int64)
        table = none if groups is None else _table(groups, checked.size)
        order = np.lexsort((*table.T, outcomes, checked))
        checked, outcomes, table = checked[order], outcomes[order], table[order]
        edges = np.unique(checked[np.arange(1, self.n_bins) * checked.size // self.n_bins])
        cells = _cells(table, np.searchsorted(edges, checked, side="right"))
        chosen, shift, gain = _boosted(log_odds(checked), outcomes, cells, self)
        warnings: tuple[str, ...] = ()
        if gain.size == self.rounds:
            left = "cells may be left to correct"
            warnings = (f"The fit ended at its limit of rounds, {self.rounds:,}: {left}.",)
        known = (cells.grouping != _ALL) & (cells.bin == _ALL)
        return FittedMulticalibration(
            *(cells.grouping[known], cells.group[known], edges),
            *(cells.grouping[chosen], cells.group[chosen], cells.bin[chosen]),
            *(shift, float(gain.sum())),
            warnings=warnings,
        )


def _table(groups: ArrayLike, n_rows: int) -> Labels:
    """Check the group of each row in each column: shape (n_rows, n_groupings)."""
    return validation.group_columns(groups, n_rows=n_rows).reshape(n_rows, -1)


class _Cells(NamedTuple):
    """Every cell by grouping, group and bin; and those that each row is in, two a grouping.

    Of these the first is its whole group, and the second its group's rows in its bin.
    """

    grouping: Labels
    group: Labels
    bin: Labels
    of_row: NDArray[np.intp]
    whole: NDArray[np.intp]
    """The whole group of every cell in a bin, in their order."""

    def sums(self, values: Floats) -> Floats:
        """Add up over the rows of each cell: shape (n_cells,)."""
        total = np.zeros(self.bin.size)
        for column in self.of_row[1::2]:
            total += np.bincount(column, values, minlength=total.size)
        in_bins = total[self.bin != _ALL]
        return total + np.bincount(self.whole, in_bins, minlength=total.size)


def _cells(table: Labels, bins: NDArray[np.intp]) -> _Cells:
    parts: list[tuple[Labels, Labels, Labels]] = []
    of_row, whole, n_cells = [], [], 0
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
            if own_bin is bins:  # after the whole groups, which have a cell each
                whole.append(n_cells - names.size + pairs // n_bins)
            n_cells += pairs.size
    grouping_, group, bin_ = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _Cells(grouping_, group, bin_, np.stack(of_row), np.concatenate(whole))


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
        steps = np.stack([
            _steps(at, hits, fold != k, cells, options.penalty)
            for k, at in enumerate(odds[:_FOLDS])
        ])  # fmt: skip
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
    own, n_hits, shift = odds[chosen], float(hits[chosen].sum()), 0.0
    for _ in range(10_000):  # a step of at most 1 gains at least a quarter of what it promises
        chance = sigmoid(own + shift)
        left = n_hits - float(chance.sum()) - options.penalty * shift
        step = left / (float((chance * (1 - chance)).sum()) + options.penalty)
        shift += min(max(step, -_LONGEST_STEP), _LONGEST_STEP)
        if abs(step) <= 1e-12 * max(1.0, abs(shift)):
            break
    return shift


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


MULTICALIBRATION = Method(
    key="multicalibration",
    name="Multicalibration",
    short="Multi-group",
    factory=Multicalibration,
    paper="Hebert-Johnson 2018; MCGrad, arXiv 2509.19884",
    explained="Corrects groups of all columns at once, as a whole or in a range of scores, where"
    " rows left out of the fit confirm it.",
    formula="log-odds = logit(p) + the shifts of all corrected groups and ranges that a row is in",
    acts_on="event",
    preserves_accuracy=True,
    fits=Fits("curves", 1),
    cost=Cost((300, 30, 3), spread=8.0),  # how many cells are off decides the rounds
    knows_groups=True,
    all_columns=True,
    weighs=False,
)
