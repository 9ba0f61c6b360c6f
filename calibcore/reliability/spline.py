"""How often an event happens at each score, by a spline: the curve behind graphs (c) and (d)."""

from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.errors import CalibrationInputError
from calibcore.ordering import sort_by_score, tie_ends, tie_starts
from calibcore.results import result_class
from calibcore.splines import (
    SLOPE_WITHIN,
    CubicSpline,
    Runout,
    check_knots,
    fit_bounded_slope,
    fit_spline,
)
from calibcore.validation import Floats, Hits
from calibcore.weights import EventRows, SampleWeight, event_rows

FitTo = Literal["difference", "hits"]


@result_class
class FrequencyCurve:
    """Estimated frequency of the event at each distinct score."""

    score: Floats
    """Distinct scores, ascending; shape (n_blocks,)."""
    fractile: Floats
    """Share of the rows up to the end of each block; shape (n_blocks,)."""
    slope: Floats
    """Estimated frequency before clipping, which may leave [0, 1]; shape (n_blocks,)."""
    observed: Floats
    """Share of hits at each score; shape (n_blocks,)."""
    spline: CubicSpline
    """The spline fitted to the running totals, over fractile."""

    @cached_property
    def frequency(self) -> Floats:
        """Estimated frequency, clipped to [0, 1], shape (n_blocks,)."""
        return np.clip(self.slope, 0.0, 1.0)

    @property
    def mean_gap(self) -> float:
        """Average over the rows of the distance between score and estimated frequency."""
        weights = np.diff(self.fractile, prepend=0.0)
        return float(weights @ np.abs(self.score - self.frequency))


@result_class
class RunningTotals:
    """The points a spline is fitted to, a row each, lowest score first."""

    score: Floats
    """Ascending; shape (n_samples,)."""
    fractile: Floats
    """Row i of N is at i / N; shape (n_samples,)."""
    total: Floats
    """Hits of the rows so far, less their scores where that is fitted, divided by N. Rows of equal
    score share their hits evenly; shape (n_samples,).
    """
    base: Floats
    """What the slope at each row is added to: its score, or 0; shape (n_samples,)."""
    ends: NDArray[np.intp]
    """Last row of each block of equal scores; shape (n_blocks,)."""
    observed: Floats
    """Share of hits in each block; shape (n_blocks,)."""
    weights: Floats | None = None
    """Sampling weights, of mean 1; row i is then at the share of the weight up to it; shape
    (n_samples,).
    """


@result_class
class SplineFit:
    """A spline beside the points it was fitted to."""

    fractile: Floats
    total: Floats
    """The points; see `RunningTotals`; shape (n_samples,)."""
    spline: CubicSpline
    """Over fractile."""
    fit_to: FitTo
    """What the totals are of."""

    @cached_property
    def fitted(self) -> Floats:
        """The spline at each point, shape (n_samples,)."""
        return self.spline(self.fractile)

    @property
    def farthest(self) -> float:
        """Largest distance of a point from the spline."""
        return float(np.abs(self.total - self.fitted).max())

    @property
    def root_mean_square(self) -> float:
        """Root of the mean squared distance of the points from the spline."""
        return float(np.sqrt(np.mean(np.square(self.total - self.fitted))))


def running_totals(rows: EventRows, fit_to: FitTo) -> RunningTotals:
    """Compute cumulative hits, or hits minus scores; of weighted rows those that are in order."""
    weights = rows.weights
    if weights is None:
        return _of_equal_rows(rows.scores, rows.hits, fit_to)
    ends = tie_ends(rows.scores)
    starts = tie_starts(ends)
    of_hits = np.add.reduceat(weights * rows.hits, starts) / np.add.reduceat(weights, starts)
    expected = np.repeat(of_hits, ends - starts + 1)
    base = rows.scores if fit_to == "difference" else np.zeros(rows.scores.size)
    totals = np.cumsum(weights)
    fractile, total = totals / totals[-1], np.cumsum(weights * (expected - base)) / totals[-1]
    return RunningTotals(rows.scores, fractile, total, base, ends, of_hits, weights)


def _of_equal_rows(scores: Floats, hits: Hits, fit_to: FitTo) -> RunningTotals:
    ordered, ordered_hits = sort_by_score(scores, hits)
    n_samples = ordered.size
    ends = tie_ends(ordered)
    if ends.size == n_samples:
        observed = expected = ordered_hits.astype(np.float64)
    else:
        starts = tie_starts(ends)
        sizes = ends - starts + 1
        observed = np.add.reduceat(ordered_hits, starts, dtype=np.float64) / sizes
        expected = np.repeat(observed, sizes)
    base = ordered if fit_to == "difference" else np.zeros(n_samples)
    fractile = np.arange(1, n_samples + 1) / n_samples
    total = np.cumsum(expected - base) / n_samples
    return RunningTotals(ordered, fractile, total, base, ends, observed)


def spline_frequency(  # noqa: PLR0913 - each has a default that serves
    scores: ArrayLike,
    hits: ArrayLike,
    *,
    n_knots: int = 6,
    runout: Runout = "natural",
    fit_to: FitTo = "difference",
    bounded: bool = False,
    sample_weight: SampleWeight = None,
) -> FrequencyCurve:
    """Compute the spline's calibration curve: the frequency at each score, by the totals' slope.

    ``scores``: predicted probability of the event (y_prob), in [0, 1]; shape (n_samples,).
    ``hits``: whether the event happened (y_true of the event); shape (n_samples,). ``n_knots``:
    evenly spaced in fractile; at most ``n_samples``. ``runout``: see
    `calibcore.splines.curvature_matrix`. ``fit_to``: fit the cumulative hits minus the cumulative
    scores, and add the score to the slope; or fit the cumulative hits themselves. ``bounded``:
    hold the estimate in [0, 1] at every row during the fit, which the paper names but does not use.
    ``sample_weight``: of the rows, as in `calibcore.weights`; shape (n_samples,).

    Raises
    ------
    CalibrationInputError
        Fewer rows than knots, or scores and hits out of range.

    Notes
    -----
    The points are (i / N, total of the i lowest rows / N), i = 1 ... N, and their slope at
    the fractile of a score is the frequency there (proposition 4.1). Rows of equal score form one
    block: each takes the block's mean hit, which is the average over all their orders, and the
    block's estimate is the mean of its rows'. Without ties this is the published method; its
    program places the points at (i - 1) / (N - 1) instead. With sampling weights a row is at the
    share of the weight up to it, and its square is weighted.

    References
    ----------
    Gupta et al., ICLR 2021, section 4 and appendix C.

    Examples
    --------
    >>> curve = spline_frequency([0.2, 0.4, 0.6, 0.8], [0, 0, 1, 1], n_knots=2)
    >>> curve.score.tolist()
    [0.2, 0.4, 0.6, 0.8]
    """
    if sample_weight is None:
        given = EventRows(*validation.scores_and_hits(scores, hits), None)
    else:
        given = event_rows(scores, hits, sample_weight)
    check_knots(n_knots, runout)
    validation.choice(fit_to, "fit_to", allowed=("difference", "hits"))
    n_samples = given.scores.size
    if n_samples < n_knots:
        raise CalibrationInputError(
            "scores", f"{n_samples} rows", f"at least {n_knots}, one a knot"
        )
    rows = running_totals(given, fit_to)
    each = rows.weights
    spline = fit_spline(rows.fractile, rows.total, n_knots=n_knots, runout=runout, weights=each)
    if bounded:
        spline = _bounded(rows, spline)
    slope = spline.derivative(rows.fractile)
    slope += rows.base
    slope = _at_bounds(slope) if bounded else slope
    if each is None and rows.ends.size == n_samples:
        return FrequencyCurve(rows.score, rows.fractile, slope, rows.observed, spline)
    starts = tie_starts(rows.ends)
    if each is None:
        fractile, sizes = (rows.ends + 1) / n_samples, rows.ends - starts + 1.0
    else:
        fractile, sizes = rows.fractile[rows.ends], np.add.reduceat(each, starts)
        slope *= each
    return FrequencyCurve(
        score=rows.score[rows.ends],
        fractile=fractile,
        slope=np.add.reduceat(slope, starts) / sizes,
        observed=rows.observed,
        spline=spline,
    )


def _bounded(rows: RunningTotals, start: CubicSpline) -> CubicSpline:
    """Bound the estimate at every row, and at fractile 0 as if by a row of the lowest score."""
    lowest = -np.concatenate([rows.base[:1], rows.base])
    return fit_bounded_slope(
        rows.fractile,
        rows.total,
        at=np.concatenate([[0.0], rows.fractile]),
        bounds=(lowest, lowest + 1),
        start=start,
        weights=rows.weights,
    )


def _at_bounds(slope: Floats) -> Floats:
    """Take a bound that is reached but for rounding as reached, whatever the processor."""
    slope = np.where(np.abs(slope) <= SLOPE_WITHIN, 0.0, slope)
    return np.where(np.abs(slope - 1) <= SLOPE_WITHIN, 1.0, slope)
