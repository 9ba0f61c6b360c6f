"""Ranges of scores that are shown to be too high or too low, with all ranges looked at together."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.binning import bin_sums, bin_tally, equal_width_starts
from calibcore.inference.draws import group_starts, redrawn
from calibcore.inference.groups import adjusted_by, sum_p_values
from calibcore.inference.omnibus import N_DRAWS
from calibcore.reliability.bands import check_level
from calibcore.reliability.bins import LEAST_SHARE
from calibcore.results import result_class
from calibcore.tally import Tally, counted_rows
from calibcore.validation import Floats
from calibcore.weights import OrderedDesign, SampleWeight

Places = NDArray[np.intp]

_CELLS = 1 << 21
"""Sums of runs at a time."""


@result_class
class OffRange:
    """Neighbouring bins whose scores are shown to be off in one direction."""

    low: float
    high: float
    """Ends of the range, in [0, 1]; it holds the scores above ``low`` and up to ``high``."""
    first: bool
    last: bool
    """Whether no score is below the range, and none above it."""
    n_rows: int
    """Rows in the range."""
    mean_score: float
    frequency: float
    """Mean predicted score and observed frequency of these rows."""
    least: float
    most: float
    """Smallest and largest size of the gap in its bins, of those with at least 1% of all rows."""

    @property
    def gap(self) -> float:
        """``mean_score - frequency``: above 0 where scores are too high."""
        return self.mean_score - self.frequency


def off_ranges(  # noqa: PLR0913 - each has a default that serves
    scores: ArrayLike,
    hits: ArrayLike,
    *,
    n_bins: int = 15,
    level: float = 0.05,
    n_draws: int = N_DRAWS,
    seed: int = 0,
    sample_weight: SampleWeight = None,
    clusters: object | None = None,
) -> tuple[OffRange, ...]:
    """Find the ranges of scores that are too high or too low, beyond chance.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
    n_bins : int, default 15
        Bins of equal width, at whose edges ranges begin and end.
    level : float, default 0.05
        Chance of naming even one range if the scores are the true probabilities; in (0, 1).
    n_draws : int, default 1000
        Sets of labels drawn from the scores; at least 20.
    seed : int, default 0
        Of the draws.
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.
    clusters : array_like, shape (n_samples,), optional
        Whom each row belongs to.

    Returns
    -------
    tuple of OffRange
        From low to high scores; empty where no range is shown to be off.

    Raises
    ------
    CalibrationInputError
        Scores or hits out of range, a level that is not between 0 and 1, fewer bins or draws.

    Notes
    -----
    Every run of neighbouring bins is tested by its sum of s - h, as the groups of
    `calibcore.inference.group_gaps` are: adjusted for all runs by labels drawn from the scores, so
    many bins that are each a little off count together. Of the runs that are significant the one
    with most null deviations is a range, then the next that does not overlap, and so on: a bin
    joins a range that it makes stronger. A run is none if one of its bins has a gap of the other
    sign and either at least 1% of the rows, or p < 0.05 by itself. Ranges of one direction with no
    other rows between them are joined.

    References
    ----------
    Westfall, Young, *Resampling-Based Multiple Testing*, 1993; Kulldorff, *A spatial scan
    statistic*, Communications in Statistics 1997.

    Examples
    --------
    >>> (span,) = off_ranges([0.2] * 50 + [0.9] * 50, [0] * 40 + [1] * 35 + [0] * 25)
    >>> round(span.low, 2), span.last, span.n_rows, round(span.gap, 2)
    (0.87, True, 50, 0.4)
    """
    check_level(level)
    counted = counted_rows(scores, hits, sample_weight, clusters)
    return ranges_of(counted, n_bins, level=level, n_draws=n_draws, seed=seed)


def ranges_of(
    counted: Tally, n_bins: int, *, level: float = 0.05, n_draws: int = N_DRAWS, seed: int = 0
) -> tuple[OffRange, ...]:
    """Return the `off_ranges` of score-tallied rows."""
    validation.whole_number(n_draws, "n_draws", least=20)
    bins = bin_tally(counted, n_bins=n_bins)
    filled = np.flatnonzero(bins.counts)
    runs = _Runs(counted, equal_width_starts(counted, n_bins)[filled])
    adjusted = runs.adjusted(np.random.default_rng(seed), n_draws)
    totals, rows = np.stack([bins.mean_score, bins.frequency]), bins.counts
    n_rows = bin_sums(counted.rows_at, equal_width_starts(counted, n_bins))

    def range_of(start: int, end: int) -> OffRange:
        places = filled[start : end + 1]
        mean_score, frequency = np.average(totals[:, places], weights=rows[places], axis=1)
        gap = mean_score - frequency
        telling = places[rows[places] >= LEAST_SHARE * counted.n_samples]
        gaps = np.abs(bins.gap[telling] if telling.size else gap)
        return OffRange(
            low=float(bins.edges[places[0]]),
            high=float(bins.edges[places[-1] + 1]),
            first=start == 0,
            last=end == filled.size - 1,
            n_rows=int(n_rows[places].sum()),
            mean_score=float(mean_score),
            frequency=float(frequency),
            least=float(gaps.min()),
            most=float(gaps.max()),
        )

    return tuple(range_of(*ends) for ends in runs.chosen(adjusted < level))


class _Runs:
    """Every run of neighbouring bins that hold rows: its sum of scores less hits, and the null."""

    def __init__(self, counted: Tally, starts: Places) -> None:
        self.n_bins = starts.size
        self.start, self.end = np.triu_indices(starts.size)
        scores, counts, design = counted.scores, counted.counts, counted.design
        variance = counted.variances
        skew = variance * np.abs(1 - 2 * scores)
        if design is not None and design.clusters is None:
            skew = np.add.reduceat(design.null_moments[1], design.starts)
        of_bins = np.add.reduceat(
            [counts * scores - counted.hits, variance, skew, counts], starts, axis=1
        )
        self.sums, self.spread, self.skew, self.rows = self._of(of_bins)
        if design is not None and not design.is_drawn:
            self.spread = np.maximum(self.spread, self._of(self._own(design, starts)))
        # Draws join scores, but never of two bins.
        blocks = np.union1d(group_starts(scores, counts), starts)
        rows = np.add.reduceat(counts, blocks)
        mean = np.add.reduceat(counts * scores, blocks) / rows
        self.few = Tally(mean, rows, np.zeros_like(rows), counted.n_samples)
        if counted.design is not None:
            self.few = replace(self.few, design=counted.design.joined(blocks))
        self.starts = np.searchsorted(blocks, starts)

    @staticmethod
    def _own(design: OrderedDesign, starts: Places) -> Floats:
        """Return the variance of the gaps of weighted rows that was seen in each bin."""
        return np.asarray(np.add.reduceat(np.square(design.gaps), design.starts[starts]))

    def _of(self, of_bins: Floats) -> Floats:
        """Add up over each run, shape (..., n_runs)."""
        totals = np.cumsum(of_bins, axis=-1)
        return np.asarray(totals[..., self.end] - (totals - of_bins)[..., self.start])

    def _p_values(self, sums: Floats) -> Floats:
        return sum_p_values(sums.T, self.spread, self.skew, self.spread == 0)

    def adjusted(self, rng: np.random.Generator, n_draws: int) -> Floats:
        """Return the p-value of each run, adjusted for looking at all of them."""
        few, p_values = self.few, self._p_values(self.sums[np.newaxis])
        least = [p_values.min(axis=0)]
        step = max(1, _CELLS // max(self.sums.size, few.scores.size))
        for first in range(0, n_draws, step):
            drawn = redrawn(rng, few, few.scores, min(step, n_draws - first))
            gaps = np.add.reduceat(few.counts * few.scores - drawn.hits, self.starts, axis=1)
            least.append(self._p_values(self._of(gaps)).min(axis=0))
        return adjusted_by(p_values[:, 0], np.sort(np.concatenate(least)))[0]

    def chosen(self, significant: NDArray[np.bool_]) -> list[tuple[int, int]]:
        """Return first and last bin of each range, ascending."""
        sign, alone = np.sign(self.sums), self.start == self.end
        off = self._p_values(self.sums[np.newaxis])[:, 0] < 0.05
        counts = (off | (self.rows >= LEAST_SHARE * self.few.n_samples))[alone]
        high, low = (self._of((counts & (sign[alone] == way)).astype(float)) for way in (1, -1))
        right = significant & (np.where(sign > 0, low, high) == 0)
        deviation = np.sqrt(self.spread)
        strength = np.full_like(deviation, np.inf)
        np.divide(np.abs(self.sums), deviation, out=strength, where=deviation > 0)
        free, label = np.ones(self.n_bins, dtype=np.bool_), np.zeros(self.n_bins)
        for k in np.lexsort((self.end - self.start, -strength)).tolist():
            inside = slice(self.start[k], self.end[k] + 1)
            if right[k] and free[inside].all():
                free[inside], label[inside] = False, sign[k]
        # A range ends where the direction changes.
        firsts = np.flatnonzero(np.diff(label, prepend=np.nan) != 0)
        lasts = np.append(firsts[1:], label.size) - 1
        return [
            (first, last)
            for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True)
            if label[first]
        ]
