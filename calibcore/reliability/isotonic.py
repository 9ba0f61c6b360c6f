"""The CORP reliability diagram: isotonic regression of the hits on the scores."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore.reliability.bands import Band, Resampling, quantile_band, widened
from calibcore.reliability.bins import binomial_interval
from calibcore.results import result_class
from calibcore.tally import Tally, counted_rows
from calibcore.validation import Floats
from calibcore.weights import OrderedDesign, SampleWeight

MOST_PLACES = 512
"""Most scores a band is given at."""

MOST_GROUPS = 2048
"""Most groups of neighbouring scores that a resample is drawn and fitted on."""

_DRAWN_AT_ONCE = 64


@result_class
class CorpReliability:
    """The isotonic reliability curve, its steps and its two bands."""

    score: Floats
    """Distinct scores, ascending; shape (n_blocks,)."""
    frequency: Floats
    """The curve there; it never falls. Between two scores it is drawn as a straight line; shape
    (n_blocks,).
    """
    first: Floats
    last: Floats
    """Lowest and highest score of each step, on which the curve is level; shape (n_steps,)."""
    step_frequency: Floats
    """Height of each step: its observed frequency, ascending; shape (n_steps,)."""
    step_count: NDArray[np.int64]
    step_hits: NDArray[np.int64]
    """Rows on each step, and hits among them, whatever their weights; shape (n_steps,)."""
    consistency: Band
    """Where the curve of a perfectly calibrated model with these scores lies: about the diagonal,
    to be compared with the curve.
    """
    confidence: Band
    """How sure the curve is: about the curve, to be compared with the diagonal."""


def corp_reliability(  # noqa: PLR0913 - each has a default that serves
    scores: ArrayLike,
    hits: ArrayLike,
    *,
    n_resamples: int = 399,
    seed: int = 0,
    level: float = 0.95,
    sample_weight: SampleWeight = None,
    clusters: object | None = None,
) -> CorpReliability:
    """Compute the isotonic reliability curve (CORP): the nearest curve that never falls.

    It needs no bins: isotonic regression finds them.

    ``scores``: predicted probability of the event (y_prob), in [0, 1]; shape (n_samples,).
    ``hits``: whether the event happened (y_true of the event); shape (n_samples,). ``n_resamples``:
    label sets drawn for each band; (n_resamples + 1)(1 - level) / 2 is best a whole number.
    ``seed``: of the draws. ``level``: of both bands, at each score on its own. ``sample_weight``:
    of the rows, as in `calibcore.weights`. ``clusters``: whom each row belongs to; shape
    (n_samples,).

    Raises `CalibrationInputError` for scores, hits or weights out of range, fewer than one
    resample, and a level that is not between 0 and 1.

    The curve minimises sum_i (hit_i - p(s_i))^2 over all p that never fall; its value on a step is
    the observed frequency there. Rows of equal score form one block.

    Both bands keep the scores, draw labels, fit each draw and take pointwise quantiles.
    *Consistency*: each label is 1 with the probability of its score; the curve of a calibrated
    model still leaves the band by chance, at about 1 - ``level`` of the scores. *Confidence*: each
    label is 1 with the probability of the fitted curve. The paper's program also draws the scores
    with replacement; here they are kept.

    The confidence band is widened to hold the curve and, as a fit of 0 or 1 redraws as itself and
    the fit strays outward at its ends, the Clopper-Pearson interval of each step, from which are
    cut what no step below or above allows. It is no exact interval: simulated for four curves of
    300 and 3000 rows, it held the true frequency at 93 to 99% of the scores between 0.05 and 0.95
    (level 0.95), at 96 to 100% of those beyond, but of these at only 86 to 95% if the true curve
    was flat.

    With more than 2048 distinct scores, neighbouring scores, a share of 1 / 2048 of the rows at a
    time, are drawn and fitted as one group of their mean probability; bands are given at no more
    than 512 of the scores, evenly spaced in fractile. The curve itself is never grouped.

    Of rows with sampling weights or clusters, gaps from the scores, or from the fitted curve, are
    drawn as the units' own vary (`calibcore.weights.OrderedDesign.drawn_gaps`), and the interval of
    a step is of as many rows as tell its frequency as well.

    Source: Dimitriadis, Gneiting, Jordan, *Stable reliability diagrams for probabilistic
    classifiers*, PNAS 2021.
    """
    counted = counted_rows(scores, hits, sample_weight, clusters)
    return corp_of(counted, n_resamples=n_resamples, seed=seed, level=level)


def corp_of(
    counted: Tally, *, n_resamples: int = 399, seed: int = 0, level: float = 0.95
) -> CorpReliability:
    """Estimate from rows counted by score, one a score at least, as `corp_reliability`."""
    resampling = Resampling(n_resamples, seed, level)
    starts = _step_starts(counted)
    ends = np.append(starts[1:], counted.scores.size)
    rows, hits, alike = _of_steps(counted, starts)
    heights = np.maximum.accumulate(_heights(counted, starts))
    frequency = np.repeat(heights, ends - starts)
    groups, rng = _Groups(counted), resampling.generator()
    consistency = quantile_band(groups.refit(counted.scores, rng, n_resamples), level)
    drawn = quantile_band(groups.refit(frequency, rng, n_resamples), level)
    step = np.searchsorted(ends, groups.places, side="right")
    exact = _rising(hits if counted.design is None else heights * alike, alike, level)
    confidence = widened(drawn, (exact[0][step], exact[1][step]), heights[step])
    at = counted.scores[groups.places]
    return CorpReliability(
        score=counted.scores,
        frequency=frequency,
        first=counted.scores[starts],
        last=counted.scores[ends - 1],
        step_frequency=heights,
        step_count=rows.astype(np.int64),
        step_hits=hits.astype(np.int64),
        consistency=resampling.band(at, *consistency),
        confidence=resampling.band(at, *confidence),
    )


def _step_starts(counted: Tally) -> NDArray[np.intp]:
    """Return the first block of each step of the isotonic fit."""
    starts = _isotonic(counted.hits / counted.counts, counted.counts)[1][:-1]
    # From whole numbers the heights are right to the last digit, and equal ones are one step.
    return starts[np.diff(_heights(counted, starts), prepend=-1.0) > 0]


def _heights(counted: Tally, starts: NDArray[np.intp]) -> Floats:
    """Return the observed frequency of each step."""
    return np.asarray(
        np.add.reduceat(counted.hits, starts) / np.add.reduceat(counted.counts, starts)
    )


def _of_steps(counted: Tally, starts: NDArray[np.intp]) -> tuple[Floats, Floats, Floats]:
    """Return rows of each step, hits among them, and how many rows tell its frequency as well."""
    rows, design = np.add.reduceat(counted.rows_at, starts), counted.design
    if design is None:
        return rows, np.add.reduceat(counted.hits, starts), rows
    hits = np.add.reduceat(design.hits, design.starts[starts])
    return rows, hits, design.rows_alike(_heights(counted, starts), starts)


def _isotonic(values: Floats, weights: Floats) -> tuple[Floats, NDArray[np.intp]]:
    from scipy.optimize import isotonic_regression  # noqa: PLC0415 - slow to import

    fit = isotonic_regression(values, weights=weights)
    return fit.x, fit.blocks


def _rising(hits: Floats, count: Floats, level: float) -> tuple[Floats, Floats]:
    """Return monotone pointwise intervals per step."""
    lower, upper = binomial_interval(hits, count, interval="clopper_pearson", level=level)
    return np.maximum.accumulate(lower), np.minimum.accumulate(upper[::-1])[::-1]


class _Groups:
    """Neighbouring scores gathered, so that many label sets are cheap to draw and to fit."""

    def __init__(self, counted: Tally) -> None:
        n_blocks = counted.scores.size
        self._block_counts, self._design = counted.counts, counted.design
        self.places = np.arange(n_blocks)
        group = self.places
        if n_blocks > MOST_GROUPS:
            group = _shares(counted, MOST_GROUPS)
        if n_blocks > MOST_PLACES:
            share = _shares(counted, MOST_PLACES - 1)
            self.places = np.flatnonzero(np.diff(share, prepend=-1))
            self.places = np.union1d(self.places, [n_blocks - 1])
        self._starts = np.flatnonzero(np.diff(group, prepend=-1))
        self._counts = np.add.reduceat(counted.counts, self._starts)
        self._at = np.searchsorted(self._starts, self.places, side="right") - 1

    def refit(self, probability: Floats, rng: np.random.Generator, n_resamples: int) -> Floats:
        """Draw labels, fit, and read the fit at the places, shape (n_resamples, n_places)."""
        hits = np.add.reduceat(probability * self._block_counts, self._starts)
        chance = np.clip(hits / self._counts, 0.0, 1.0)
        design = self._design and self._design.about(probability).joined(self._starts)
        curves = np.empty((n_resamples, self.places.size))
        for start in range(0, n_resamples, _DRAWN_AT_ONCE):
            size = min(_DRAWN_AT_ONCE, n_resamples - start)
            for row, share in enumerate(_draw(self._counts, chance, rng, size, design), start):
                curves[row] = _isotonic(share, self._counts)[0][self._at]
        return np.clip(curves, 0.0, 1.0, out=curves)


def _draw(
    counts: Floats,
    chance: Floats,
    rng: np.random.Generator,
    size: int,
    design: OrderedDesign | None,
) -> Floats:
    """Draw the share of hits in each group, shape (size, n_groups)."""
    if design is not None:
        return np.asarray(chance - design.drawn_gaps(rng, size, chance)[0] / counts)
    if counts.max() == 1:
        return (rng.random((size, chance.size)) < chance).astype(np.float64)
    return np.asarray(rng.binomial(counts.astype(np.int64), chance, (size, chance.size)) / counts)


def _shares(counted: Tally, n_shares: int) -> NDArray[np.intp]:
    """Return which equal share of the rows the middle row of each score is in."""
    middle = np.cumsum(counted.counts) - counted.counts / 2
    return (middle * n_shares // counted.n_samples).astype(np.intp)
