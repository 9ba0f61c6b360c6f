"""One test of calibration that no single measure decides."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.cumulative import CumulativeCurves, brownian_range_tail, brownian_tail
from calibcore.inference.draws import grouped, redrawn
from calibcore.results import find, result_class
from calibcore.tally import Tally, counted_rows, tally
from calibcore.validation import Floats
from calibcore.weights import RowDesign, RowWeights, SampleWeight

N_DRAWS = 1000
"""Sets of labels that are drawn from the scores."""

ORDER = 5
"""Highest degree of the polynomials of the smooth alternative."""

_MOST_SCORES = 1 << 10
"""Scores kept in the draws: joining neighbours changes power by less than draws do."""

_CELLS = 1 << 21
"""Outcomes drawn at a time."""

_MOST = 1e150
"""Of a statistic, so that its square is finite."""

_EDGE = 1e-9
"""Share by which a p-value counts as equal: sums of floats differ by their order."""

Departure = Literal["mean", "spread", "smooth", "ks", "kuiper"]

DEPARTURES: tuple[Departure, ...] = ("mean", "spread", "smooth", "ks", "kuiper")
"""What is tested jointly, the simplest to say first."""


@dataclass(frozen=True)
class OmnibusPart:
    """One of the statistics."""

    key: Departure
    """Which."""
    value: float
    """In null standard deviations; of ``smooth`` a sum of squares. Signed for ``mean`` (above 0:
    scores too high) and ``spread`` (above 0: scores too extreme).
    """
    p_value: float
    """By itself, in the limit of many rows."""
    adjusted: float
    """For all statistics looked at: the p-value that the whole test would have if this one decided.
    """


@result_class
class Omnibus:
    """Whether, and by which statistics, scores differ from the truth."""

    p_value: float
    """Of the smallest of the statistics' p-values; at least 1 / (n_draws + 1)."""
    parts: tuple[OmnibusPart, ...]
    """The statistics, in the order of `DEPARTURES`."""
    n_draws: int
    seed: int
    """Labels drawn, and from where."""

    def part(self, key: Departure) -> OmnibusPart:
        """Return one of the statistics."""
        return find({part.key: part for part in self.parts}, key, "statistic")

    def departures(self, level: float = 0.05) -> tuple[Departure, ...]:
        """Return which statistics are significant, adjusted for looking at all of them."""
        return tuple(part.key for part in self.parts if part.adjusted < level)


def omnibus_test(
    scores: ArrayLike,
    hits: ArrayLike,
    *,
    n_draws: int = N_DRAWS,
    seed: int = 0,
    sample_weight: SampleWeight = None,
    clusters: object | None = None,
) -> Omnibus:
    """Test whether scores are the true probabilities, against several alternatives at once.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
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
    Omnibus

    Raises
    ------
    CalibrationInputError
        Empty input, unequal lengths, NaN, values outside the stated range, fewer draws.

    Notes
    -----
    With D_i = s_i - h_i and v_i = s_i (1 - s_i), sorted by score:

    - ``mean``: sum D / sqrt(sum v), the score test of the calibration intercept;
    - ``spread``: the efficient score of the calibration slope: sum (x - x') D over its standard
      deviation, x the log-odds and x' their mean weighted by v;
    - ``smooth``: the sum of squares of D's components along polynomials of degree 0 to `ORDER` in
      the share of sum v so far, orthonormal under v (Neyman 1937; Hosmer and Lemeshow's sum
      without bins);
    - ``ks`` and ``kuiper``: largest and range of the running totals of D, over sqrt(sum v).

    Each has a p-value in its limit law. The smallest of the five is compared with the smallest in
    each of ``n_draws`` sets of labels drawn from the scores (min-p, Westfall and Young 1993). The
    limit laws weigh the statistics; the size is that of the draws, whatever the number of rows.
    Neighbouring scores are joined to at most 1,024, observed outcomes and drawn ones alike. Where
    all scores are 0 or 1 nothing varies: p is smallest if any outcome differs, else 1. A constant
    score has no spread, and a smooth alternative of degree 0. Of weighted rows and of clusters,
    gaps are drawn as their own vary (`calibcore.weights.OrderedDesign`), and v_i is theirs.

    References
    ----------
    Westfall, Young, *Resampling-Based Multiple Testing*, 1993; Neyman, *Skandinavisk
    Aktuarietidskrift* 1937; Cox, *Biometrika* 1958.

    Examples
    --------
    >>> omnibus = omnibus_test([0.3] * 50 + [0.7] * 50, [0, 1] * 50)
    >>> omnibus.p_value < 0.01, omnibus.departures()
    (True, ('spread', 'smooth'))
    """
    counted = counted_rows(scores, hits, sample_weight, clusters)
    return omnibus_of(counted, n_draws=n_draws, seed=seed)


def omnibus_of(counted: Tally, *, n_draws: int = N_DRAWS, seed: int = 0) -> Omnibus:
    """Return the `omnibus_test` of score-tallied rows."""
    validation.whole_number(n_draws, "n_draws", least=20)
    few = grouped(counted, most=_MOST_SCORES)
    rng, weights = np.random.default_rng(seed), _Weights(few)
    values = [weights.statistics(few.hits[np.newaxis])]
    step = max(1, _CELLS // max(few.scores.size, 1))
    for start in range(0, n_draws, step):
        drawn = redrawn(rng, few, few.scores, min(step, n_draws - start))
        values.append(weights.statistics(drawn.hits))
    statistics = np.concatenate(values)
    p_values = _limits(statistics, weights.degree)
    least = p_values.min(axis=1)
    adjusted = [float(np.mean(least <= p * (1 + _EDGE))) for p in p_values[0]]
    parts = tuple(
        OmnibusPart(key, float(value), float(p), by_all)
        for key, value, p, by_all in zip(
            DEPARTURES, statistics[0], p_values[0], adjusted, strict=True
        )
    )
    return Omnibus(min(adjusted), parts, n_draws, seed)


class _Weights:
    """What of the scores the statistics need, computed once for all draws."""

    def __init__(self, counted: Tally) -> None:
        scores, counts = counted.scores, counted.counts
        self.expected = counts * scores
        variance = counted.variances if counted.design else self.expected * (1 - scores)
        self.deviation = float(np.sqrt(variance.sum()))
        moving = variance > 0
        self.columns = np.zeros((scores.size, ORDER + 2))
        if self.deviation:
            self.columns[moving] = _columns(scores[moving], variance[moving])
        self.degree = int(np.any(self.columns[:, 1:], axis=0).sum())

    def statistics(self, hits: Floats) -> Floats:
        """Return the value of every statistic, shape (n_draws, 5)."""
        gaps = self.expected - hits
        along = np.clip(gaps @ self.columns, -_MOST, _MOST)
        totals = np.cumsum(gaps, axis=1, out=gaps)
        high, low = np.maximum(totals.max(axis=1), 0), np.minimum(totals.min(axis=1), 0)
        bridge = np.stack([totals[:, -1], np.maximum(high, -low), high - low])
        if self.deviation:
            bridge /= self.deviation
        else:  # nothing can vary: any difference at all is impossible
            bridge = np.where(np.abs(bridge) > _EDGE, np.copysign(np.inf, bridge), 0.0)
        smooth = np.square(along[:, 1:]).sum(axis=1)
        return np.stack([bridge[0], along[:, 0], smooth, *bridge[1:]], axis=1)


def _columns(scores: Floats, variance: Floats) -> Floats:
    """Return the weights of a gap: in the slope's score, and in orthonormal polynomials."""
    log_odds = np.log(scores) - np.log1p(-scores)
    root, powers = np.sqrt(variance), smooth_powers(variance)
    odds = np.stack([np.ones_like(scores), log_odds], axis=1)
    slope, smooth = (_orthonormal(root[:, np.newaxis] * each) for each in (odds, powers))
    return np.column_stack([slope[:, 1:], smooth]) / root[:, np.newaxis]


def smooth_powers(variance: Floats) -> Floats:
    """Return Legendre polynomials in the share of the variance up to the middle of each score.

    ``variance``: null variance of the hits at each distinct score, ascending; above 0 in all; shape
    (n_blocks,).
    """
    place = (np.cumsum(variance) - variance / 2) / variance.sum()
    return np.polynomial.legendre.legvander(2 * place - 1, ORDER)


def _orthonormal(columns: Floats) -> Floats:
    """Return orthonormal columns, 0 where one depends on those before it."""
    table = np.zeros_like(columns)
    n_most = min(columns.shape)
    basis, rest = np.linalg.qr(columns)
    left = np.diagonal(rest)
    length = np.sqrt(np.square(columns).sum(axis=0))[:n_most]
    independent = np.abs(left) > 1e-7 * length
    table[:, :n_most] = np.where(independent, basis * np.sign(left), 0.0)
    return table


def _limits(values: Floats, degree: int) -> Floats:
    """Return each statistic's p-value in the limit of many rows, shape (n_draws, 5)."""
    from scipy.special import erfc, gammaincc  # noqa: PLC0415 - a tenth of a second to import

    normal = erfc(np.abs(values[:, :2]) / np.sqrt(2))
    smooth = gammaincc(degree / 2, values[:, 2] / 2) if degree else np.ones(len(values))
    ks, kuiper = (
        list(map(tail, values[:, k].tolist()))
        for k, tail in ((3, brownian_tail), (4, brownian_range_tail))
    )
    return np.column_stack([normal, smooth, ks, kuiper])


# How far the KS error rests on the order of rows whose scores are equal -----------------------


def ks_by_worst_order(curves: CumulativeCurves) -> float:
    """Find the largest KS error that any order of the rows of equal score gives.

    Parameters
    ----------
    curves : CumulativeCurves
        In which the rows of one score make one step.

    Returns
    -------
    float
        In [0, 1], at least ``curves.ks_error``, which no order undercuts. Were the scores rounded,
        the KS error of the exact order lies between the two, apart from what rounding did to the
        scores themselves.

    Notes
    -----
    Within a step the gap is highest with all misses first, and lowest with all hits first.

    Examples
    --------
    >>> from calibcore.cumulative import cumulative_curves
    >>> curves = cumulative_curves([0.5] * 4, [0, 1, 0, 1])
    >>> curves.ks_error, ks_by_worst_order(curves)
    (0.0, 0.25)
    """
    start, score = curves.gap[:-1], curves.score[1:]
    hits = np.diff(curves.cum_hits)
    highest = start + np.diff(curves.cum_score) - score * hits
    lowest = start - (1 - score) * hits
    return float(max(curves.ks_error, np.abs(highest).max(), np.abs(lowest).max()))


_RIDGE = 0.1
"""In rows of variance 1."""


def recalibrated(
    scores: Floats, hits: ArrayLike, design: RowDesign | None = None
) -> tuple[Floats, Floats]:
    """Return the scores after a smooth recalibration of the whole, and what it was fitted by.

    ``scores``, ``hits``: of an event, checked; shape (n_samples,). ``design``: what they stand for.

    The scores, of which 0 and 1 stay, shape (n_samples,); and the powers that they were fitted by,
    0 in rows that stay, shape (n_samples, ORDER + 1).
    """
    from scipy.special import expit  # noqa: PLC0415 - a tenth of a second to import

    weights: SampleWeight = None if design is None else design.weights
    if design is not None and design.times is not None:
        weights = RowWeights(design.times, "frequency")
    counted = tally(scores, hits, sample_weight=weights)
    order = np.argsort(scores)  # in order, a search takes a fifth of the time
    place = np.empty_like(order)
    place[order] = np.searchsorted(counted.scores, scores[order])
    variance = counted.counts * counted.scores * (1 - counted.scores)
    moving = variance > 0
    frequency, powers = counted.scores.copy(), np.zeros((counted.scores.size, ORDER + 1))
    if moving.any():
        powers[moving] = smooth_powers(variance[moving])
        odds = _log_odds(counted.scores[moving])
        frequency[moving] = expit(odds + powers[moving] @ _fitted(grouped(counted)))
    return frequency[place], powers[place]


def _log_odds(scores: Floats) -> Floats:
    return np.asarray(np.log(scores) - np.log1p(-scores))


def _fitted(counted: Tally) -> Floats:
    """Fit the weights of `smooth_powers`, with the log-odds as an offset, by Newton's method."""
    from scipy.special import expit  # noqa: PLC0415 - a tenth of a second to import

    variance = counted.counts * counted.scores * (1 - counted.scores)
    moving = variance > 0
    powers, odds = smooth_powers(variance[moving]), _log_odds(counted.scores[moving])
    counts, hits = counted.counts[moving], counted.hits[moving]
    weights, penalty = np.zeros(powers.shape[1]), _RIDGE * np.eye(powers.shape[1])
    for _ in range(50):
        frequencies = expit(odds + powers @ weights)
        slope = powers.T @ (hits - counts * frequencies) - _RIDGE * weights
        curved = (
            powers * (counts * frequencies * (1 - frequencies))[:, np.newaxis]
        ).T @ powers + penalty
        step = np.linalg.solve(curved, slope)
        weights += step / max(1.0, float(np.abs(powers @ step).max()))
        if np.abs(step).max() < 1e-8:
            break
    return weights
