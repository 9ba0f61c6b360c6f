"""Bands: the region that holds the middle part of many resampled curves."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from calibcore import validation
from calibcore.cumulative import CumulativeCurves
from calibcore.errors import CalibrationInputError
from calibcore.reliability.spline import FitTo
from calibcore.results import result_class
from calibcore.splines import CubicSpline, Runout, check_knots
from calibcore.validation import Floats
from calibcore.weights import MOST_PARTS

MOST_RESAMPLES = 10_000


@result_class
class Band:
    """A pointwise region about a reliability curve."""

    score: Floats
    """Where the band is given, ascending; shape (n_places,)."""
    lower: Floats
    upper: Floats
    """Lowest and highest frequency, in [0, 1]; NaN where no resample has an estimate; shape
    (n_places,).
    """
    level: float
    """Share of the resampled curves inside, at each place on its own."""
    n_resamples: int
    seed: int
    """How many resamples, and the seed they were drawn from."""


@dataclass(frozen=True)
class Resampling:
    """How a band is drawn: checked once, then handed on."""

    n_resamples: int
    seed: int
    level: float
    """Of `Band`."""

    def __post_init__(self) -> None:
        """Check the options."""
        validation.whole_number(self.n_resamples, "n_resamples", least=1, most=MOST_RESAMPLES)
        validation.whole_number(self.seed, "seed", least=0)
        check_level(self.level)

    def generator(self) -> np.random.Generator:
        """Start the random numbers of this seed."""
        return np.random.default_rng(self.seed)

    def band(self, score: Floats, lower: Floats, upper: Floats) -> Band:
        """Make the band, with what it was drawn from."""
        return Band(score, lower, upper, self.level, self.n_resamples, self.seed)


def check_level(level: float) -> float:
    """Raise if a level is not strictly between 0 and 1."""
    if not isinstance(level, float | np.floating) or not 0 < level < 1:
        raise CalibrationInputError("level", repr(level), "a number between 0 and 1")
    return float(level)


def quantile_band(curves: Floats, level: float) -> tuple[Floats, Floats]:
    """Find where the middle of many curves lies, at each place on its own.

    ``curves``: NaN where a resample has no estimate; shape (n_resamples, n_places). ``level``:
    share of the curves inside.

    Lower and upper quantile; NaN where no resample has an estimate; shape (n_places,).

    Of n curves known at a place, the quantile q is the (n + 1) q-th lowest, interpolated. So one
    more curve like them is inside with probability ``level``, exactly so where
    (n + 1)(1 - level) / 2 is whole.
    """
    ordered = np.sort(curves, axis=0)  # NaN come last
    known = curves.shape[0] - np.isnan(curves).sum(axis=0)
    last = np.maximum(known - 1, 0)

    def quantile(share: float) -> Floats:
        place = np.clip(share * (known + 1) - 1, 0, last)
        below = place.astype(np.intp)
        low = np.take_along_axis(ordered, below[np.newaxis], axis=0)[0]
        above = np.minimum(below + 1, last)
        high = np.take_along_axis(ordered, above[np.newaxis], axis=0)[0]
        return np.asarray(low + (place - below) * (high - low))

    return quantile((1 - level) / 2), quantile((1 + level) / 2)


def widened(
    drawn: tuple[Floats, Floats], exact: tuple[Floats, Floats], frequency: Floats
) -> tuple[Floats, Floats]:
    """Widen a band to hold an interval and the curve; NaN where the curve is."""
    lower = np.fmin(np.minimum(exact[0], frequency), drawn[0])
    upper = np.fmax(np.maximum(exact[1], frequency), drawn[1])
    unknown = np.isnan(frequency)
    return np.where(unknown, np.nan, lower), np.where(unknown, np.nan, upper)


# Where the four graphs of Gupta 2021 would lie if the scores were the true probabilities ------


_ROWS_AT_ONCE = 1 << 15


@result_class
class NullBand:
    """Null band of the cumulative outcomes under perfect calibration."""

    fractile: Floats
    score: Floats
    cum_score: Floats
    """Of the `CumulativeCurves`: the band is about ``cum_score``; shape (n_blocks + 1,)."""
    simultaneous: float
    """Half width within which the whole curve stays with probability ``level``: it is left exactly
    where the KS error exceeds it.
    """
    pointwise: Floats
    """Half width within which the gap at one fractile, chosen beforehand, stays with probability
    ``level``; 0 at fractile 0; shape (n_blocks + 1,).
    """
    level: float
    """The probability."""

    @property
    def lower(self) -> Floats:
        """Lowest cumulative hits inside the simultaneous band; at least 0."""
        return np.maximum(self.cum_score - self.simultaneous, 0.0)

    @property
    def upper(self) -> Floats:
        """Highest cumulative hits inside the simultaneous band; at most the fractile."""
        return np.minimum(self.cum_score + self.simultaneous, self.fractile)


def null_band(curves: CumulativeCurves, *, level: float = 0.95) -> NullBand:
    """Compute the null band of the cumulative hits under perfect calibration.

    ``curves``: only its scores and counts are used, not its hits. ``level``: between 0 and 1.

    Raises
    ------
    CalibrationInputError
        A level that is not between 0 and 1.

    Notes
    -----
    If each hit has the probability of its score, the gap ``cum_score - cum_hits`` is a random walk
    whose variance at a fractile is V = sum_i s_i (1 - s_i) / N^2 over the rows so far. Pointwise:
    z sqrt(V), with z the normal quantile of (1 + level) / 2, good from some hundred rows that are
    not all sure. Simultaneous: `CumulativeCurves.ks_null`, which is x sqrt(V at the end), where
    standard Brownian motion strays as far as x from 0 with probability 1 - level (2.2414 for 0.95),
    but where few misses or hits are expected. With few rows it is left less often. No randomness is
    involved, but of clusters, whose gaps are drawn as they vary; pointwise, V is then by how the
    clusters' sums so far differ, not less than of rows drawn one by one, and Student's t.

    References
    ----------
    Gupta et al., ICLR 2021, section 3; Arrieta-Ibarra et al., JMLR 2022.

    Examples
    --------
    >>> from calibcore.cumulative import cumulative_curves
    >>> band = null_band(cumulative_curves([0.5, 0.5, 0.5, 1.0], [0, 1, 0, 1]))
    >>> round(band.simultaneous, 4), band.pointwise.round(4).tolist()
    (0.4853, [0.0, 0.4243, 0.4243])
    """
    z = _normal_bound(level)
    score = curves.score[1:]
    if curves.design is None:
        variance = np.cumsum(curves.counts * score * (1 - score)) / curves.n_samples**2
    else:
        design, variance = curves.design, curves.design.variance_so_far()
        if design.clusters is not None:  # of few rows, what was seen may be too little
            alone = np.cumsum(np.add.reduceat(design.null_moments[0], design.starts))
            variance = np.maximum(variance, alone) * design.times_by_t
        variance /= curves.n_samples**2
    return NullBand(
        fractile=curves.fractile,
        score=curves.score,
        cum_score=curves.cum_score,
        simultaneous=curves.ks_null(level),
        pointwise=np.concatenate([[0.0], z * np.sqrt(variance)]),
        level=level,
    )


@result_class
class SplineNullBand:
    """Where the spline estimate of a perfectly calibrated model of this size lies."""

    score: Floats
    fractile: Floats
    """Of the `FrequencyCurve`; shape (n_blocks,)."""
    expected: Floats
    deviation: Floats
    """Mean and standard deviation of the estimate before clipping. The mean is the score itself
    where the spline is fitted to the difference, and its smooth fit otherwise; shape (n_blocks,).
    """
    lower: Floats
    upper: Floats
    """Bounds of the estimate at each score on its own, clipped to [0, 1]; shape (n_blocks,)."""
    level: float
    """Probability of being inside."""


def spline_null_band(
    curves: CumulativeCurves,
    *,
    n_knots: int = 6,
    runout: Runout = "natural",
    fit_to: FitTo = "difference",
    level: float = 0.95,
) -> SplineNullBand:
    """Compute the null band of the spline estimate under perfect calibration.

    ``curves``: only its scores and counts are used, not its hits, but those of rows with sampling
    weights or clusters. ``n_knots``, ``runout``, ``fit_to``: as in
    `calibcore.reliability.spline_frequency`. ``level``: between 0 and 1; at each score on its own.

    Raises
    ------
    CalibrationInputError
        Fewer rows than knots, an unknown option, a level that is not between 0 and 1.

    Notes
    -----
    Unconstrained, the estimate is linear in the hits: slope = d' G^+ sum_i a_i h_i / N (+ s), where
    d are the basis splines' derivatives at its rows, a_i the sum of the basis over the points from
    row i on, and G = A'A; rows of equal score share the mean of their a_i. So if each hit has
    variance s (1 - s), the deviation is exact: d' G^+ (sum_i s_i (1 - s_i) a_i a_i') G^+ d / N^2,
    under the root. The bounds take the estimate as normal. The constrained fit is not linear; the
    band is that of the free one. Of rows with sampling weights or clusters, the sum in brackets is
    the covariance of the sums of a_i (s_i - h_i), by how the units' parts of them differ; of
    clusters it is as uncertain as Student's t.

    References
    ----------
    Gupta et al., ICLR 2021, section 4.

    Examples
    --------
    >>> from calibcore.cumulative import cumulative_curves
    >>> curves = cumulative_curves([0.2, 0.4, 0.6, 0.8], [0, 0, 1, 1])
    >>> band = spline_null_band(curves, n_knots=2)
    >>> band.expected.round(9).tolist(), band.deviation.round(4).tolist()
    ([0.2, 0.4, 0.6, 0.8], [0.2728, 0.2728, 0.2728, 0.2728])
    """
    z = _normal_bound(level)
    check_knots(n_knots, runout)
    validation.choice(fit_to, "fit_to", allowed=("difference", "hits"))
    if curves.n_samples < n_knots:
        raise CalibrationInputError(
            "scores", f"{curves.n_samples} rows", f"at least {n_knots}, one a knot"
        )
    fit = _LinearFit(curves, n_knots, runout)
    expected, deviation = fit.moments(about_score=fit_to == "difference")
    return SplineNullBand(
        score=curves.score[1:],
        fractile=curves.fractile[1:],
        expected=expected,
        deviation=deviation,
        lower=np.clip(expected - z * deviation, 0.0, 1.0),
        upper=np.clip(expected + z * deviation, 0.0, 1.0),
        level=level,
    )


class _LinearFit:
    """The spline estimate as a linear map of the hits, worked on in pieces of whole blocks."""

    def __init__(self, curves: CumulativeCurves, n_knots: int, runout: Runout) -> None:
        self._score, self._counts = curves.score[1:], curves.counts
        self._n_samples, self._design = curves.n_samples, curves.design
        self._basis = [CubicSpline(unit, runout) for unit in np.eye(n_knots)]
        # Of very many rows, parts of equal ones serve as rows, none of a larger share of all.
        share = min(1.0, MOST_PARTS / self._n_samples)
        self._parts = np.ceil(self._counts * share)
        if curves.design is not None:
            self._parts = np.diff(curves.design.starts, append=self._n_samples).astype(np.float64)
        self._ends = np.cumsum(self._parts)

    def moments(self, *, about_score: bool) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of the estimate at each distinct score."""
        gram, moment, spread = self._sums()
        solved = np.asarray(np.linalg.lstsq(gram, np.eye(len(gram)))[0])
        covariance = solved @ spread @ solved.T / self._n_samples**2
        knots = solved @ moment / self._n_samples
        expected, variance = self._score.copy(), np.empty(self._score.size)
        for piece in self._pieces():
            fractile, starts, each = self._rows(piece)
            slopes = np.stack([unit.derivative(fractile) * each for unit in self._basis])
            slopes = np.add.reduceat(slopes, starts, axis=1) / self._counts[piece]
            variance[piece] = np.einsum("kb,kl,lb->b", slopes, covariance, slopes, optimize=True)
            if not about_score:
                expected[piece] = knots @ slopes
        return expected, np.sqrt(np.maximum(variance, 0.0))

    def _sums(self) -> tuple[Floats, Floats, Floats]:
        """Accumulate A'A, sum a_i s_i and sum s_i (1 - s_i) a_i a_i', last rows first."""
        n_knots = len(self._basis)
        gram, moment = np.zeros((n_knots, n_knots)), np.zeros(n_knots)
        spread, above = np.zeros((n_knots, n_knots)), np.zeros((n_knots, 1))
        pulls = np.zeros((0 if self._design is None else self._counts.size, n_knots))
        for piece in reversed(list(self._pieces())):
            fractile, starts, each = self._rows(piece)
            basis = np.stack([unit(fractile) for unit in self._basis])
            gram += (basis * each) @ basis.T
            onward = np.cumsum((basis * each)[:, ::-1], axis=1)[:, ::-1] + above
            above = onward[:, :1]
            counts, score = self._counts[piece], self._score[piece]
            mean = np.add.reduceat(onward * each, starts, axis=1) / counts
            moment += mean @ (counts * score)
            if self._design is None:
                spread += (mean * (counts * score * (1 - score))) @ mean.T
            else:
                pulls[piece] = mean.T
        if self._design is not None:
            parts = pulls[self._design.block] * self._design.gaps[:, np.newaxis]
            spread = self._design.covariance_of(parts) * self._design.times_by_t
        return gram, moment, spread

    def _pieces(self) -> Iterator[slice]:
        """Cut the blocks into pieces of some ten thousand rows, one block at least."""
        cut = np.flatnonzero(np.diff(self._ends // _ROWS_AT_ONCE, prepend=0)) + 1
        bounds = np.unique(np.concatenate([[0], cut, [self._ends.size]]))
        return (slice(a, b) for a, b in pairwise(bounds))

    def _rows(self, piece: slice) -> tuple[Floats, NDArray[np.intp], Floats]:
        """Return the fractile of each row of a piece, where its blocks start, and rows of each."""
        starts, parts = np.concatenate([[0], self._ends])[piece], self._parts[piece]
        if self._design is None:
            each = np.repeat(self._counts[piece] / parts, parts.astype(np.intp))
        else:
            each = self._design.weights[int(starts[0]) : int(starts[0] + parts.sum())]
        fractile = (self._counts[: piece.start].sum() + np.cumsum(each)) / self._n_samples
        return fractile, (starts - starts[0]).astype(np.intp), each


def _normal_bound(level: float) -> float:
    return -NormalDist().inv_cdf((1 - check_level(level)) / 2)
