"""The smoothed reliability diagram: hits averaged over scores by a reflected Gaussian kernel."""

import math

import numpy as np
from numpy.typing import ArrayLike

from calibcore.errors import CalibrationInputError
from calibcore.reliability.bands import Band, Resampling, quantile_band, widened
from calibcore.reliability.bins import binomial_interval
from calibcore.results import result_class
from calibcore.tally import Tally, counted_rows
from calibcore.validation import Floats
from calibcore.weights import OrderedDesign, SampleWeight

LEAST_BANDWIDTH = 0.001

_SHOWN = 512
"""Intervals of the mesh the curve is given on."""
_FINEST = 8192
_STEPS_A_BANDWIDTH = 8
_DRAWN_AT_ONCE = 1 << 17
"""Cells of the mesh."""
_REACH = math.exp(-8)
"""Weight of one row at four bandwidths, of 1 at its own score."""


@result_class
class SmoothReliability:
    """A kernel-smoothed reliability curve."""

    score: Floats
    """Evenly spaced from 0 to 1; shape (513,)."""
    frequency: Floats
    """Kernel-weighted share of hits; NaN where no score is near; shape (513,)."""
    mean_score: Floats
    """Kernel-weighted mean of the scores: where the curve of a calibrated model is expected, which
    near the ends and at gaps of the scores is not the diagonal. NaN as ``frequency``; shape (513,).
    """
    density: Floats
    """Density of the scores, smoothed by the same kernel: it averages 1. Where it is low, the curve
    rests on few rows; shape (513,).
    """
    confidence: Band
    """How sure the smoothed curve is, from resampled rows; NaN as ``frequency``."""
    bandwidth: float
    """Standard deviation of the kernel, in score."""

    @property
    def gap(self) -> Floats:
        """``mean_score - frequency``: positive where scores are too high."""
        return self.mean_score - self.frequency


def smooth_reliability(  # noqa: PLR0913 - each has a default that serves
    scores: ArrayLike,
    hits: ArrayLike,
    *,
    bandwidth: float | None = None,
    n_resamples: int = 399,
    seed: int = 0,
    level: float = 0.95,
    sample_weight: SampleWeight = None,
    clusters: object | None = None,
) -> SmoothReliability:
    """Compute the kernel-smoothed reliability curve: a weighted mean of the hits near each score.

    ``scores``: predicted probability of the event (y_prob), in [0, 1]; shape (n_samples,).
    ``hits``: whether the event happened (y_true of the event); shape (n_samples,). ``bandwidth``:
    standard deviation of the kernel, from 0.001 to 1; without one, that of smooth ECE.
    ``n_resamples``: sets of rows drawn for the band. ``seed``: of the draws. ``level``: of the
    band, at each score on its own. ``sample_weight``: of the rows, as in `calibcore.weights`.
    ``clusters``: whom each row belongs to; shape (n_samples,).

    Raises `CalibrationInputError` for scores, hits, weights or a bandwidth out of range, fewer than
    one resample, and a level that is not between 0 and 1.

    frequency(t) = sum_i K(t, s_i) hit_i / sum_i K(t, s_i), where K is the Gaussian of standard
    deviation sigma with its mass beyond 0 and 1 reflected back, so that a row weighs the same
    wherever its score is. ``mean_score`` is the same of the scores, and their mean distance,
    weighted with the density, is the smooth ECE of this bandwidth. Without a bandwidth, sigma is
    the one that equals its own smooth ECE: mean over t of |sum_i K(t, s_i)(hit_i - s_i)| / N =
    sigma, but at least 0.001.

    The sums run over a mesh of at least 8 steps a bandwidth, each row shared between its two
    nearest points, by cosine transform: to about 0.001 of the curve's exact value. A curve is NaN
    where the weights K add up to less than those of one row at four bandwidths.

    The band holds the middle of the curves of rows drawn with replacement, the bandwidth kept. Rows
    that are all hits stay so however they are drawn, so the band is widened to Wilson's interval of
    as many rows as the weights amount to, (sum K)^2 / sum K^2. It is about the smoothed curve: it
    knows nothing of the smoothing itself, for which the curve is compared with ``mean_score``. Of
    rows with sampling weights or clusters, gaps from the curve are drawn as the units' own vary
    (`calibcore.weights.OrderedDesign.drawn_gaps`), and these rows count as the design effect says.

    Source: Błasiok and Nakkiran, *Smooth ECE: principled reliability diagrams via kernel
    smoothing*, ICLR 2024.
    """
    counted = counted_rows(scores, hits, sample_weight, clusters)
    return smooth_of(counted, bandwidth=bandwidth, n_resamples=n_resamples, seed=seed, level=level)


def smooth_of(
    counted: Tally,
    *,
    bandwidth: float | None = None,
    n_resamples: int = 399,
    seed: int = 0,
    level: float = 0.95,
) -> SmoothReliability:
    """Estimate from rows counted by score, one set of them, as `smooth_reliability`."""
    resampling = Resampling(n_resamples, seed, level)
    sigma = _own_bandwidth(counted) if bandwidth is None else _checked(bandwidth)
    cells = _Cells(counted, _steps_for(sigma))
    rows, hits = cells.on_nodes(cells.counts)
    smooth_rows, smooth_hits, smooth_scores = cells.show(
        _smoothed(np.stack([rows, hits, rows * cells.nodes]), sigma)
    )
    # One row weighs 1 / (sigma sqrt(2 pi)) at its own score.
    least = _REACH / (sigma * math.sqrt(2 * math.pi))
    frequency = _share(smooth_hits, smooth_rows, least)
    rows_near = _rows_near(
        np.maximum(smooth_rows, least), cells.show(cells.squared(rows, sigma)), counted.n_samples
    )
    score, design = cells.show(cells.nodes), counted.design
    if design is None:
        curves = cells.resample(resampling, sigma, least)
    else:
        rows_near /= design.effect_by_score
        own = np.interp(counted.scores, score, frequency)
        gaps = cells.show(_smoothed(cells.drawn_gaps(counted, design, own, resampling), sigma))
        curves = frequency - gaps / np.maximum(smooth_rows, least)
    exact = binomial_interval(frequency * rows_near, rows_near, level=level)
    drawn = quantile_band(curves, level)
    return SmoothReliability(
        score=score,
        frequency=frequency,
        mean_score=_share(smooth_scores, smooth_rows, least),
        density=np.maximum(smooth_rows, 0.0) / counted.n_samples,
        confidence=resampling.band(score, *widened(drawn, exact, frequency)),
        bandwidth=sigma,
    )


def _checked(bandwidth: float) -> float:
    if isinstance(bandwidth, float | int | np.number) and LEAST_BANDWIDTH <= bandwidth <= 1:
        return float(bandwidth)
    raise CalibrationInputError("bandwidth", repr(bandwidth), f"from {LEAST_BANDWIDTH} to 1")


def _steps_for(bandwidth: float) -> int:
    """Return how fine a mesh the bandwidth needs: a power of two."""
    needed = 2 ** math.ceil(math.log2(_STEPS_A_BANDWIDTH / bandwidth))
    return int(min(max(needed, _SHOWN), _FINEST))


class _Cells:
    """Misses and hits counted between the nodes of a mesh.

    Sharing the rows of a cell between its two nodes depends on their number and mean place alone,
    so a resample needs no more than new counts.
    """

    def __init__(self, counted: Tally, n_steps: int) -> None:
        self.nodes = np.arange(n_steps + 1) / n_steps
        self._every = n_steps // _SHOWN
        place = counted.scores * n_steps
        cell = self._cell = np.minimum(place.astype(np.intp), n_steps - 1)
        kinds = np.stack([counted.counts - counted.hits, counted.hits])
        within = kinds * (place - cell)
        self.counts, totals = (
            np.array([np.bincount(cell, kind, n_steps) for kind in both], dtype=np.float64)
            for both in (kinds, within)
        )
        self._right = np.divide(totals, self.counts, where=self.counts > 0, out=0 * totals)

    def on_nodes(self, counts: Floats) -> Floats:
        """Share rows, and hits, between the nodes; (..., 2, n_steps) to (2, ..., n_steps + 1)."""
        nodes = np.zeros((*counts.shape[:-1], self.nodes.size))
        right = counts * self._right
        nodes[..., :-1] = counts - right
        nodes[..., 1:] += right
        return np.stack([nodes.sum(axis=-2), nodes[..., 1, :]])

    def drawn_gaps(
        self, counted: Tally, design: OrderedDesign, frequency: Floats, resampling: Resampling
    ) -> Floats:
        """Draw gaps from the curve on the nodes, shape (n_resamples, n_steps + 1).

        ``frequency``: of the curve at each score; shape (n_blocks,).
        """
        firsts = np.flatnonzero(np.diff(self._cell, prepend=-1))
        filled, joined = self._cell[firsts], design.about(frequency).joined(firsts)
        rows = self.counts.sum(axis=0)[filled]
        mean = np.add.reduceat(counted.counts * frequency, firsts) / rows
        right = (self.counts * self._right).sum(axis=0)[filled] / rows
        drawn, _ = joined.drawn_gaps(resampling.generator(), resampling.n_resamples, mean)
        gaps = np.zeros((len(drawn), self.nodes.size))
        gaps[:, filled] = drawn * (1 - right)
        gaps[:, filled + 1] += drawn * right
        return gaps

    def squared(self, rows: Floats, sigma: float) -> Floats:
        """Sum the squared weights of the rows at each node; the rows stand on the nodes."""
        inner = _smoothed(rows, sigma / math.sqrt(2)) / (2 * sigma * math.sqrt(math.pi))
        # Near an end a row meets its own reflection.
        from_0 = np.exp(-((self.nodes / sigma) ** 2))
        from_1 = from_0[::-1]
        met = from_0 * (rows @ from_0) + from_1 * (rows @ from_1)
        return np.asarray(inner + met / (math.pi * sigma**2))

    def show(self, values: Floats) -> Floats:
        """Keep the nodes that are shown."""
        return values[..., :: self._every]

    def resample(self, resampling: Resampling, sigma: float, least: float) -> Floats:
        """Draw the rows with replacement and smooth, shape (n_resamples, 513)."""
        filled = np.flatnonzero(self.counts)
        chances = self.counts.ravel()[filled] / self.counts.sum()
        rng, n_samples = resampling.generator(), int(self.counts.sum())
        at_once = max(1, _DRAWN_AT_ONCE // self.counts.size)
        curves = []
        for start in range(0, resampling.n_resamples, at_once):
            size = min(at_once, resampling.n_resamples - start)
            counts = np.zeros((size, self.counts.size))
            counts[:, filled] = rng.multinomial(n_samples, chances, size)
            drawn = self.on_nodes(counts.reshape(size, *self.counts.shape))
            rows, hits = self.show(_smoothed(drawn, sigma))
            curves.append(_share(hits, rows, least))
        return np.concatenate(curves)


def _smoothed(totals: Floats, sigma: float) -> Floats:
    """Smooth totals at evenly spaced nodes by the reflected Gaussian, which cosines diagonalise."""
    from scipy.fft import dct  # noqa: PLC0415 - a tenth of a second to import

    doubled = totals.copy()
    doubled[..., [0, -1]] *= 2  # the transform counts the two ends half
    waves = dct(doubled, type=1) / 2
    waves *= np.exp(-((np.arange(totals.shape[-1]) * (math.pi * sigma)) ** 2) / 2)
    return np.asarray(dct(waves, type=1), dtype=np.float64)


def _share(hits: Floats, rows: Floats, least: float) -> Floats:
    near = rows >= least
    return np.where(near, np.clip(hits / np.where(near, rows, 1.0), 0.0, 1.0), np.nan)


def _rows_near(weights: Floats, squared: Floats, n_samples: int) -> Floats:
    """Return how many rows the weights amount to; by Schwarz's inequality from 1 to all."""
    total = np.square(weights)
    return np.clip(total / np.maximum(squared, total / n_samples), 1.0, n_samples)


def _own_bandwidth(counted: Tally) -> float:
    """Find the bandwidth that equals its own smooth ECE, which falls with the bandwidth."""
    cells = _Cells(counted, _FINEST)
    rows, hits = cells.on_nodes(cells.counts)
    residual = (hits - rows * cells.nodes) / counted.n_samples
    low, high = LEAST_BANDWIDTH, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        distance = np.abs(_smoothed(residual, middle))
        error = (distance.sum() - (distance[0] + distance[-1]) / 2) / _FINEST
        low, high = (middle, high) if error > middle else (low, middle)
    return (low + high) / 2
