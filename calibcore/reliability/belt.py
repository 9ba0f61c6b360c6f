"""The calibration belt: a polynomial in the log-odds, how sure it is, and its test."""

import math
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike, NDArray

from calibcore.errors import CalibrationInputError
from calibcore.probabilities import log_odds, sigmoid
from calibcore.reliability.bands import check_level
from calibcore.results import result_class
from calibcore.tally import Tally, counted_rows
from calibcore.validation import Floats
from calibcore.weights import SampleWeight

MOST_DEGREES = 4
"""The highest degree that is tried."""

SELECTION = 3.841458820694124
"""The 95% point of chi-squared with one degree of freedom: what a further degree has to gain."""

_PASSES = 0.05
"""How often a degree that is not needed gains that much."""

_LEAST = 10
"""Rows of each outcome, at least: of fewer, no log-likelihood is near a parabola."""

_PLACES = 40
"""Scores of the belt at even steps, and as many at even steps of their log-odds."""

_MOST_SCORES = 5_000
"""Up to so many distinct scores the belt is exact; beyond, the log-likelihood is a parabola."""

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(40)

_FLATTEST = 1e-8
"""Share of the curvature at the fit that the log-likelihood has at least in a step."""

_CELLS = 1 << 21
"""Of the tables of scores by places, at a time."""


@result_class
class CalibrationBelt:
    """The calibration curve as a polynomial in the log-odds, with its belt and its test."""

    degree: int
    """Of the polynomial, 1 to 4, by forward selection."""
    coefficients: Floats
    """Of the powers of the log-odds, the constant first; shape (degree + 1,)."""
    statistic: float
    """Twice what the log-likelihood gains on that of the scores as they are."""
    p_value: float
    """How often calibrated scores for which this degree is selected have a larger one."""
    score: Floats
    """Where the belt is given, from the lowest score to the highest; shape (n_places,)."""
    frequency: Floats
    """The curve there; shape (n_places,)."""
    levels: tuple[float, ...]
    """Of the belts, ascending."""
    lower: Floats
    upper: Floats
    """Ends of each belt, in [0, 1]; shape (n_levels, n_places)."""

    def departures(self, level: float) -> tuple[tuple[float, float, bool], ...]:
        """Return the ranges of scores at which a belt leaves the diagonal.

        Each is its first and last place, and whether the belt is above, so scores are too low.
        """
        place = self.levels.index(level)
        side = (self.lower[place] > self.score) * 1 - (self.upper[place] < self.score) * 1
        starts = np.flatnonzero(np.diff(side, prepend=2) != 0)
        ends = [*(starts[1:] - 1).tolist(), side.size - 1]
        return tuple(
            (float(self.score[first]), float(self.score[last]), bool(side[first] > 0))
            for first, last in zip(starts.tolist(), ends, strict=True)
            if side[first]
        )


def calibration_belt(
    scores: ArrayLike,
    hits: ArrayLike,
    *,
    levels: tuple[float, ...] = (0.8, 0.95),
    sample_weight: SampleWeight = None,
    clusters: object | None = None,
) -> CalibrationBelt:
    """Fit the calibration belt to rows that the model has not seen (external validation).

    ``scores``: predicted probability of the event (y_prob), in [0, 1]; shape (n_samples,).
    ``hits``: whether the event happened (y_true of the event); shape (n_samples,). ``levels``: of
    the belts, ascending. ``sample_weight``: of the rows, as in `calibcore.weights`. ``clusters``:
    whom each row belongs to; shape (n_samples,).

    Raises `CalibrationInputError` for scores or hits out of range; fewer than ten hits or ten other
    rows, or clusters that have some; one distinct score; scores that separate the outcomes
    completely, so that no finite curve fits best; and levels that do not ascend between 0 and 1.

    logit P(hit) = b_0 + b_1 l + ... + b_m l^m with l the log-odds of the score, by maximum
    likelihood. Forward selection begins at m = 1, as for rows that the model was not fitted on, and
    adds a power, up to the fourth, as long as twice the log-likelihood gains `SELECTION`; a degree
    for which no finite curve fits best ends it.

    The test compares the fit with the diagonal, b = (0, 1, 0, ...). Given m, its statistic is under
    calibration a chi-squared of two degrees of freedom and m - 1 of one, each above `SELECTION`: by
    that distribution, not by a chi-squared of m + 1, the p-value counts the selection. A belt holds
    at each score the frequencies of all polynomials of degree m whose log-likelihood is within half
    that distribution's point at the level of the best: where it leaves the diagonal at any score,
    the test rejects at that level.

    With more than 5,000 distinct scores the log-likelihood is taken for its parabola at the fit,
    as the authors' program for Stata does from 10,000 rows on. Scores count as at least 2^-52 from
    0 and from 1.

    Of rows with sampling weights or clusters, whose likelihood is not that of rows drawn one by
    one, distances from the fit are by the robust covariance of its coefficients (the sandwich of
    Liang and Zeger), in no direction less than of rows drawn one by one, and as uncertain as
    Student's t of so many clusters: the statistic is that distance of the diagonal, a power gains
    the square of its coefficient in standard errors, and the belt holds what is as near as the
    point at the level.

    Source: Nattino, Finazzi, Bertolini, *A new calibration test and a reappraisal of the
    calibration belt for the assessment of prediction models based on dichotomous outcomes*,
    Statistics in Medicine 2014; Finazzi et al., *Calibration belt for quality-of-care assessment
    based on dichotomous outcomes*, PLoS ONE 2011; Liang and Zeger, *Longitudinal data analysis
    using generalized linear models*, Biometrika 1986.

    >>> scores = np.repeat([0.1, 0.3, 0.5, 0.7, 0.9], 100)
    >>> hits = np.tile(np.arange(100), 5) < np.repeat([25, 40, 50, 60, 75], 100)
    >>> belt = calibration_belt(scores, hits)
    >>> belt.degree, round(float(belt.coefficients[1]), 2), belt.p_value < 0.001
    (1, 0.5, True)
    >>> [(round(low, 2), round(high, 2), above) for low, high, above in belt.departures(0.95)]
    [(0.1, 0.38, True), (0.62, 0.9, False)]
    """
    return belt_of(counted_rows(scores, hits, sample_weight, clusters), levels)


def belt_of(counted: Tally, levels: tuple[float, ...] = (0.8, 0.95)) -> CalibrationBelt:
    """Fit the belt to rows counted by score, as `calibration_belt`."""
    checked = tuple(check_level(level) for level in levels)
    if not checked or list(checked) != sorted({*checked}):
        raise CalibrationInputError("levels", repr(levels), "ascending numbers between 0 and 1")
    _refuse_few(counted)
    odds = log_odds(counted.scores)
    best = _selected(odds, counted)
    statistic = _distance(best, odds, counted)
    score = np.sort(
        np.concatenate(
            [
                np.linspace(float(counted.scores[0]), float(counted.scores[-1]), _PLACES),
                sigmoid(np.linspace(float(odds[0]), float(odds[-1]), _PLACES)[1:-1]),
            ]
        )
    )
    at = best.basis.at(log_odds(score))
    bounds = np.stack([_bounds(best, counted, at, _quantile(one, best.degree)) for one in checked])
    return CalibrationBelt(
        degree=best.degree,
        coefficients=best.basis.powers(best.values),
        statistic=statistic,
        p_value=min(float(_survival(np.array(statistic), best.degree)), 1.0),
        score=score,
        frequency=sigmoid(at @ best.values),
        levels=checked,
        lower=sigmoid(bounds[:, 0]),
        upper=sigmoid(bounds[:, 1]),
    )


def _refuse_few(counted: Tally) -> None:
    """Raise where no line fits best."""
    design, n_hits, n_rows = counted.design, int(counted.hits.sum()), counted.n_samples
    fewest, what = min(n_hits, n_rows - n_hits), "rows"
    if design is not None:
        n_hits = int(design.hits.sum())
        units = np.arange(n_rows) if design.clusters is None else design.clusters
        fewest = min(np.unique(units[design.hits == outcome]).size for outcome in (0, 1))
        what = "rows" if design.clusters is None else "clusters with rows"
    if fewest < _LEAST:
        wanted = f"at least {_LEAST} {what} of each outcome"
        raise CalibrationInputError("hits", f"{n_hits} of {n_rows}", wanted)
    of_hits = counted.scores[counted.hits > 0]
    of_rest = counted.scores[counted.hits < counted.counts]
    if of_hits[0] >= of_rest[-1] or of_rest[0] >= of_hits[-1]:
        wanted = "outcomes that no score separates, and two scores at least"
        raise CalibrationInputError("scores", "all of one outcome on one side", wanted)


# The curve -----------------------------------------------------------------------------------


class _Basis(NamedTuple):
    """Polynomials that are uncorrelated over the rows, in log-odds of mean 0 and deviation 1."""

    middle: float
    spread: float
    inverse: Floats
    """From powers to these; shape (degree + 1, degree + 1)."""

    def at(self, odds: Floats) -> Floats:
        """Return their values; shape (n_places, degree + 1)."""
        unit = (odds - self.middle) / self.spread
        return np.asarray(np.vander(unit, len(self.inverse), increasing=True) @ self.inverse)

    @property
    def of_line(self) -> Floats:
        """Their weights in the log-odds themselves: the diagonal."""
        unit = np.zeros(len(self.inverse))
        unit[:2] = self.middle, self.spread
        return np.asarray(np.linalg.solve(self.inverse, unit))

    def powers(self, values: Floats) -> Floats:
        """Return the coefficients of powers of the log-odds."""
        unit = Polynomial([-self.middle / self.spread, 1 / self.spread])
        whole = np.asarray(Polynomial(self.inverse @ values)(unit).coef, dtype=np.float64)
        return np.append(whole, np.zeros(values.size - whole.size))


class _Fit(NamedTuple):
    """The polynomial of one degree with the highest log-likelihood."""

    basis: _Basis
    table: Floats
    """The basis at each distinct score; shape (n_scores, degree + 1)."""
    values: Floats
    likelihood: float
    curved: Floats
    """Minus the second derivatives of the log-likelihood; of rows with weights or clusters, the
    inverse of the robust covariance of the values.
    """

    @property
    def degree(self) -> int:
        return self.values.size - 1


def _basis(odds: Floats, counted: Tally, degree: int) -> _Basis:
    middle = float(np.average(odds, weights=counted.counts))
    spread = math.sqrt(float(np.average((odds - middle) ** 2, weights=counted.counts)))
    table = np.vander((odds - middle) / spread, degree + 1, increasing=True)
    triangle = np.linalg.qr(np.sqrt(counted.counts)[:, np.newaxis] * table, mode="r")
    scale = math.sqrt(counted.n_samples)
    return _Basis(middle, spread, np.asarray(np.linalg.inv(triangle) * scale))


def _selected(odds: Floats, counted: Tally) -> _Fit:
    """Add powers as long as each gains enough."""
    best = _fit(odds, counted, 1)
    if best is None:
        raise CalibrationInputError("scores", "no finite best curve", "outcomes that overlap more")
    for degree in range(2, min(MOST_DEGREES, odds.size - 1) + 1):
        following = _fit(odds, counted, degree)
        if following is None or _gain(best, following, counted) < SELECTION:
            break
        best = following
    return best


def _gain(best: _Fit, following: _Fit, counted: Tally) -> float:
    """Return twice the log-likelihood that a further power gains, or what stands for it."""
    if counted.design is None:
        return 2 * (following.likelihood - best.likelihood)
    variance = float(np.linalg.inv(following.curved)[-1, -1])
    return float(following.values[-1] ** 2 / variance)


def _distance(best: _Fit, odds: Floats, counted: Tally) -> float:
    """Return twice the log-likelihood that the fit gains on the diagonal, or what stands for it."""
    if counted.design is None:
        return max(2 * (best.likelihood + float(_losses(odds, counted).sum())), 0.0)
    off = best.values - best.basis.of_line
    return float(off @ best.curved @ off)


def _fit(odds: Floats, counted: Tally, degree: int) -> _Fit | None:
    """Fit by Newton's method; None where no finite polynomial is best."""
    basis = _basis(odds, counted, degree)
    table, values = basis.at(odds), np.zeros(degree + 1)
    loss = float(_losses(table @ values, counted).sum())
    for _ in range(100):
        slope, curved = _derivatives(table, counted, (table @ values)[:, np.newaxis])
        if np.linalg.eigvalsh(curved[0])[0] < 1e-9 * counted.n_samples:
            return None
        step = np.linalg.solve(curved[0], slope[0])
        expected = float(slope[0] @ step)
        if expected <= 1e-13 * max(1.0, loss):
            return _Fit(
                basis, table, values + step, -loss, _known(table, counted, values, curved[0])
            )
        while (after := float(_losses(table @ (values + step), counted).sum())) > loss:
            step /= 2
            if float(slope[0] @ step) <= 1e-15 * max(1.0, loss):
                return _Fit(basis, table, values, -loss, _known(table, counted, values, curved[0]))
        values, loss = values + step, after
    return None


def _known(table: Floats, counted: Tally, values: Floats, curved: Floats) -> Floats:
    """Return how well the values are known, as `_Fit.curved`."""
    design = counted.design
    if design is None:
        return curved
    frequency = sigmoid(table @ values)
    gaps = design.about(frequency).gaps
    own = design.covariance_of(gaps[:, np.newaxis] * table[design.block]) * design.times_by_t
    alone = (table.T * counted.variances_of(frequency)) @ table
    return np.asarray(curved @ np.linalg.inv(_at_least(alone, own)) @ curved)


def _at_least(least: Floats, covariance: Floats) -> Floats:
    """Return a covariance that is in no direction less than another.

    >>> _at_least(np.diag([1.0, 4.0]), np.diag([2.0, 3.0])).round(9).tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """
    root = np.linalg.cholesky(least)
    alike = np.linalg.solve(root, np.linalg.solve(root, covariance).T)
    values, vectors = np.linalg.eigh((alike + alike.T) / 2)
    sides = root @ vectors
    return np.asarray((sides * np.maximum(values, 1)) @ sides.T)


def _losses(odds: Floats, counted: Tally) -> Floats:
    """Return minus the log-likelihood of the rows of each score; odds may be of several curves."""
    counts, hits = (
        one.reshape(-1, *[1] * (odds.ndim - 1)) for one in (counted.counts, counted.hits)
    )
    return np.asarray(
        counts * (np.log1p(np.exp(-np.abs(odds))) + np.maximum(odds, 0)) - hits * odds
    )


def _derivatives(table: Floats, counted: Tally, odds: Floats) -> tuple[Floats, Floats]:
    """Return first and minus second derivatives of the log-likelihood of several curves.

    ``odds``: of each score by each curve; shape (n_scores, n_curves). Shapes (n_curves, n_values)
    and (n_curves, n_values, n_values).
    """
    chance, n_values = sigmoid(odds), table.shape[1]
    counts = counted.counts[:, np.newaxis]
    slope = (counted.hits[:, np.newaxis] - counts * chance).T @ table
    products = (table[:, :, np.newaxis] * table[:, np.newaxis]).reshape(len(table), -1)
    curved = (counts * chance * (1 - chance)).T @ products
    return slope, curved.reshape(-1, n_values, n_values)


# The belt ------------------------------------------------------------------------------------


def _bounds(best: _Fit, counted: Tally, at: Floats, enough: float) -> NDArray[np.float64]:
    """Return the least and the greatest log-odds at some places; shape (2, n_places).

    Over all polynomials whose log-likelihood is at most ``enough`` / 2 below the best.
    """
    directions = np.concatenate([-at, at])
    solved = np.linalg.solve(best.curved, directions.T).T
    length = np.sqrt(np.einsum("gi,gi->g", directions, solved))[:, np.newaxis]
    moved = math.sqrt(enough) * solved / length
    if counted.design is None and len(best.table) <= _MOST_SCORES:
        a_time = max(_CELLS // len(best.table), 1)
        parts = [slice(start, start + a_time) for start in range(0, len(moved), a_time)]
        moved = np.concatenate(
            [_outermost(best, counted, directions[one], moved[one], enough) for one in parts]
        )
    odds = np.einsum("gi,gi->g", directions, best.values + moved)
    return np.asarray(odds.reshape(2, -1) * np.array([[-1.0], [1.0]]))


def _outermost(
    best: _Fit, counted: Tally, directions: Floats, moved: Floats, enough: float
) -> Floats:
    """Find where the log-likelihood is ``enough`` / 2 below the best, farthest in each direction.

    Each step solves that for the parabola at the last place, which is Newton's method for the
    place and its multiplier. Where that ends nowhere, as with a few scores of 0 or 1 far from all
    others, it is the place on the line to the parabola's.
    """
    start = moved
    floor = best.likelihood - enough / 2
    least = _FLATTEST * np.diag(np.diag(best.curved))  # where rows no longer tell, far out
    for _ in range(100):
        odds = best.table @ (best.values + moved).T
        likelihood = -_losses(odds, counted).sum(axis=0)
        while (far := likelihood < floor - enough).any():  # where the parabola misleads
            moved = np.where(far[:, np.newaxis], moved / 2, moved)
            odds = best.table @ (best.values + moved).T
            likelihood = -_losses(odds, counted).sum(axis=0)
        slope, curved = _derivatives(best.table, counted, odds)
        towards = np.linalg.solve(curved + least, np.stack([slope, directions], axis=2))
        to_best, outward = towards[:, :, 0], towards[:, :, 1]
        left = likelihood + np.einsum("gi,gi->g", slope, to_best) / 2 - floor
        length = np.einsum("gi,gi->g", directions, outward)
        step = to_best + np.sqrt(2 * np.maximum(left, 0) / length)[:, np.newaxis] * outward
        moved = moved + step
        open_ = ~(np.abs(np.einsum("gi,gi->g", directions, step)) < 1e-9)
        if not open_.any():
            return moved
    moved[open_] = _on_line(best, counted, start[open_], floor)
    return moved


def _on_line(best: _Fit, counted: Tally, moved: Floats, floor: float) -> Floats:
    """Return where each line from the best place leaves what is likely enough."""
    low, high = np.zeros(len(moved)), np.full(len(moved), 64.0)
    for _ in range(60):
        middle = (low + high) / 2
        odds = best.table @ (best.values + middle[:, np.newaxis] * moved).T
        inside = -_losses(odds, counted).sum(axis=0) >= floor
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.asarray(low[:, np.newaxis] * moved)


# Its distribution ----------------------------------------------------------------------------


def _survival(statistic: Floats, degree: int) -> Floats:
    """Return how often calibrated scores with this degree selected have a larger statistic.

    Of a chi-squared of two degrees of freedom and ``degree`` - 1 of one, each above `SELECTION`.
    """
    if degree == 1:
        return np.exp(-np.maximum(statistic, 0) / 2)
    from scipy.special import erfc  # noqa: PLC0415 - only where a degree was added

    first = math.sqrt(SELECTION)
    last = np.sqrt(np.maximum(statistic - (degree - 2) * SELECTION, SELECTION))
    half = (last - first)[..., np.newaxis] / 2
    root = first + half * (1 + _NODES)
    density = 2 * np.exp(-(root**2) / 2) / math.sqrt(2 * math.pi) / _PASSES
    rest = _survival(np.asarray(statistic)[..., np.newaxis] - root**2, degree - 1)
    inside = (half * _NODE_WEIGHTS * density * rest).sum(axis=-1)
    return np.asarray(inside + erfc(last / math.sqrt(2)) / _PASSES)


def _quantile(level: float, degree: int) -> float:
    """Return the statistic that is not exceeded with this probability."""
    low = (degree - 1) * SELECTION
    high = low + 1.0
    while _survival(np.array(high), degree) > 1 - level:
        high += high
    for _ in range(100):
        middle = (low + high) / 2
        below = _survival(np.array(middle), degree) > 1 - level
        low, high = (middle, high) if below else (low, middle)
    return high
