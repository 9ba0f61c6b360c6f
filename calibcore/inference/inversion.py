"""Truths that the number of hits does not rule out, however near to perfect the rows look."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from calibcore.inference.draws import chunks, redrawn_for
from calibcore.inference.intervals import DistanceEstimate, Interval, quantiles
from calibcore.metrics.measure import EventMeasure, Options
from calibcore.results import result_class
from calibcore.tally import Tally
from calibcore.validation import Floats

_HALVINGS = 40


def allowed_frequencies(counted: Tally, level: float) -> list[Floats]:
    """Return frequencies of which the hits seen are just not too many, and not too few.

    ``counted``: with ``counts`` and ``hits`` of shape (n_blocks,). ``level``: of the interval for
    the number of hits expected.

    Scores of which the same share is missing; then those of which the misses are so. Nearly the
    scores themselves, where those are ruled out on that side; shape (n_blocks,).
    """
    counts, hits = counted.counts, float(counted.hits.sum())

    def fewest(scores: Floats, seen: float) -> Floats:
        share = largest_allowed(
            lambda missing: scores * (1 - missing), counts, seen, level, counted.spreads
        )
        return scores * (1 - share)

    misses = fewest(1 - counted.scores, counted.n_samples - hits)
    return [fewest(counted.scores, hits), 1 - misses]


def largest_allowed(
    frequency_at: Callable[[float], Floats],
    counts: Floats,
    hits: float,
    level: float,
    spreads: Floats | None = None,
) -> float:
    """Find how strongly frequencies may fall before the hits seen would be too many.

    ``frequency_at``: frequencies at a strength from 0 to 1, shape (n_blocks,); their mean falls.
    ``counts``: rows at each; shape (n_blocks,). ``hits``: seen in all. ``level``: of the interval
    for the number of hits expected. ``spreads``: as of `Tally`; the counts of equal rows.

    Below 1.

    Hits are too many beyond as many standard deviations as the normal quantile of (1 + level) / 2.
    For frequencies that are all equal, this is the lower end of Wilson's interval.
    """
    far = NormalDist().inv_cdf((1 + level) / 2)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        frequency = frequency_at(middle)
        of_each = counts if spreads is None else spreads
        variance = float(of_each @ (frequency * (1 - frequency)))
        most = float(counts @ frequency) + far * math.sqrt(max(variance, 0.0))
        low, high = (middle, high) if most >= hits else (low, middle)
    return low


def likely_frequencies(counted: Tally, level: float) -> Floats:
    """Return the lowest and the highest frequencies of which the hits seen are not unusual.

    They lie on the way from no hits through the scores to hits alone: scores of which the same
    share is missing, and scores of whose misses the same share is missing. They are the scores'
    own on one side exactly where these are just not ruled out.

    ``counted``: with ``counts`` and ``hits`` of shape (n_blocks,). ``level``: of the interval for
    the number of hits expected.

    Shape (2, n_blocks).

    >>> from calibcore.tally import tally
    >>> low, high = likely_frequencies(tally([0.5] * 54, [1] * 54), 0.95)
    >>> low.round(4).tolist(), high.round(4).tolist()  # Wilson's interval for 54 of 54
    ([0.9336], [1.0])
    """
    counts, hits, scores = counted.counts, float(counted.hits.sum()), counted.scores

    def frequency(share: float) -> Floats:
        return np.asarray(2 * share * scores if share < 0.5 else 1 - (2 - 2 * share) * (1 - scores))

    low, high = (
        largest_allowed(one, counts, seen, level, counted.spreads)
        for one, seen in (
            (lambda fall: frequency(1 - fall), hits),
            (lambda rise: 1 - frequency(rise), float(counts.sum()) - hits),
        )
    )
    return np.array([frequency(1 - low), frequency(high)])


# Intervals for distances, which are biased upwards: the truths under which the value is usual ---


N_DRAWS = 200
"""Draws at each strength of each pattern."""

_LUCKY = 0.16
"""Share of perfectly calibrated sets below which a value counts as luck."""

_ROUNDING = 1e-9

_STRENGTHS = (0.35, 0.7, 1.0, 1.4, 2.0, 3.0, 4.5, 7.0, 10.0)
"""Tried in this order, until every value observed would be unusually low."""


@result_class
class Distance:
    """A distance from perfect calibration."""

    observed: float
    """Its value for the rows as they are."""
    null: Floats
    """Its values for labels drawn from the scores; shape (n_draws,)."""
    measure: EventMeasure
    """How it is computed."""
    options: Options
    """Of the measure."""


@result_class
class Usual:
    """The values that are usual at rising truths: low, median and high of each.

    A value that perfect scores seldom fall below counts as the ``least``: it is luck, and must not
    exclude what so many rows cannot.
    """

    tails: tuple[float, float, float]
    least: float
    truth: list[float]
    values: list[Floats]

    @classmethod
    def beginning(cls, null: Floats, level: float) -> "Usual":
        """Begin at 0, with what perfectly calibrated scores show."""
        tails = (1 - level) / 2, 0.5, (1 + level) / 2
        return cls(tails, quantiles(null, _LUCKY)[0], [0.0], [np.array(quantiles(null, *tails))])

    def add(self, truth: float, drawn: Floats) -> None:
        """Add a truth with the values drawn under it."""
        self.truth.append(truth)
        self.values.append(np.array(quantiles(drawn, *self.tails)))

    def passes(self, observed: float) -> bool:
        """Return whether the value observed would be unusually low under the last truth."""
        return bool(self.values[-1][0] > max(observed, self.least) * (1 + _ROUNDING))

    def estimate(self, observed: float) -> DistanceEstimate:
        """Find the truths under which the value observed is usual."""
        truth = np.maximum.accumulate(self.truth)
        usual = np.maximum.accumulate(np.array(self.values), axis=0)
        highest, middle, lowest = usual.T
        low, _ = _truths_at(observed, lowest, truth)
        _, high = _truths_at(max(observed, self.least), highest, truth)
        return DistanceEstimate(
            float(np.mean(_truths_at(observed, middle, truth))), Interval(low, high)
        )


def _truths_at(observed: float, values: Floats, truth: Floats) -> tuple[float, float]:
    """Read off the least and the largest truth at a value, which many truths have if it is common.

    Beyond the last value, both are taken to grow alike.
    """
    beyond = max(observed - float(values[-1]), 0.0)
    least = -np.interp(-observed * (1 - _ROUNDING), -values[::-1], -truth[::-1])
    largest = np.interp(observed * (1 + _ROUNDING), values, truth)
    return float(least) + beyond, float(largest) + beyond


def invert(
    rng: np.random.Generator,
    counted: Tally,
    distances: Mapping[str, Distance],
    patterns: list[Floats],
    level: float,
) -> dict[str, DistanceEstimate]:
    """Find for each distance the truths under which its observed value is usual.

    ``rng``: where the draws come from: each truth's from a generator of its own, so that those of
    one distance do not depend on how far the others have to be followed. ``counted``: the rows, at
    most some thousand distinct scores. ``distances``: what is evaluated. ``patterns``: frequencies
    of the event at each score that a miscalibrated model of this kind may have; shape (n_blocks,).
    ``level``: of the intervals.

    The truths tried are s + strength (f - s), clipped to [0, 1], for each pattern f. A percentile
    bootstrap would not do: a distance of perfect scores from noisy frequencies is above 0, that of
    resampled rows lies higher still, and the interval misses the truth nearly always. A test at
    each strength knows by how much noise alone lifts the value. The interval is the widest that
    any pattern gives. Its upper end is not below that of a value at the 16% quantile of perfectly
    calibrated sets, as a lucky draw tells no more of the truth (power-constrained limits: Cowan et
    al., arXiv 1105.3166). Nor is it below a distance that the number of hits leaves possible on
    either side of the scores: where few or no misses are seen, the patterns lie on one side alone.
    """
    estimates: dict[str, list[DistanceEstimate]] = {key: [] for key in distances}
    for pattern, its in zip(patterns, rng.spawn(len(patterns)), strict=True):
        by_key = {key: Usual.beginning(one.null, level) for key, one in distances.items()}
        going = dict(distances)
        stronger = _stronger(counted.scores, pattern)
        for frequency, one_rng in zip(stronger, its.spawn(len(_STRENGTHS)), strict=True):
            values = _drawn_values(one_rng, counted, frequency, going)
            true = replace(counted, hits=counted.counts * frequency)
            for key, one in going.items():
                truth = float(one.measure.true_distance(true, one.options))
                by_key[key].add(truth, values[key])
            # What is stronger still would no longer move the estimate.
            going = {key: one for key, one in going.items() if not by_key[key].passes(one.observed)}
            if not going:
                break
        for key, usual in by_key.items():
            estimates[key].append(usual.estimate(distances[key].observed))
    reach = _reach(counted, distances, level)
    return {key: widest(of_patterns).reaching(reach[key]) for key, of_patterns in estimates.items()}


def _reach(counted: Tally, distances: Mapping[str, Distance], level: float) -> dict[str, float]:
    """Find the longest of each distance that the number of hits does not rule out."""
    frequencies = np.array(allowed_frequencies(counted, level))
    true = replace(counted, hits=counted.counts * frequencies)
    return {
        key: float(one.measure.true_distances(true, one.options).max())
        for key, one in distances.items()
    }


def _drawn_values(
    rng: np.random.Generator, counted: Tally, frequency: Floats, distances: Mapping[str, Distance]
) -> dict[str, Floats]:
    """Measure labels that are drawn from these frequencies."""
    parts: dict[str, list[Floats]] = {key: [] for key in distances}
    for size in chunks(N_DRAWS, counted.scores.size):
        measures = [one.measure for one in distances.values()]
        of_each = redrawn_for(rng, counted, frequency, size, measures)
        for (key, one), drawn in zip(distances.items(), of_each, strict=True):
            parts[key].append(one.measure.compute(drawn, one.options))
    return {key: np.concatenate(values) for key, values in parts.items()}


def _stronger(scores: Floats, pattern: Floats) -> Iterator[Floats]:
    for strength in _STRENGTHS:
        yield np.clip(scores + strength * (pattern - scores), 0.0, 1.0)


def widest(estimates: list[DistanceEstimate]) -> DistanceEstimate:
    """Join the estimates of several patterns: the mean of their centres, their outermost ends."""
    low = min(estimate.interval.low for estimate in estimates)
    high = max(estimate.interval.high for estimate in estimates)
    centre = sum(estimate.centre for estimate in estimates) / len(estimates)
    return DistanceEstimate(centre, Interval(low, high))


def shifted(counted: Tally, null_deviation: float) -> Floats:
    """Return the frequencies of a model whose log-odds are all too high, or all too low.

    By as much as the mean score misses the frequency, but at least by what this many rows can show.
    """
    gap = float((counted.counts @ counted.scores - counted.hits.sum()) / counted.n_samples)
    wanted = -np.copysign(max(abs(gap), null_deviation), gap)
    spread = float(counted.counts @ (counted.scores * (1 - counted.scores))) / counted.n_samples
    factor = np.exp(np.clip(wanted / max(spread, 1e-12), -3.0, 3.0))
    return np.asarray(counted.scores * factor / (counted.scores * factor + 1 - counted.scores))
