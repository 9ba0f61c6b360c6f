"""Whether a new batch behaves as an audited one: two samples of rows, measure by measure."""

from collections.abc import Iterator
from statistics import NormalDist

import numpy as np

from calibcore.errors import CalibrationInputError
from calibcore.inference import Interval
from calibcore.inference.bootstrap import chunks
from calibcore.inference.multiple_testing import holm
from calibcore.inference.null_outcomes import grouped
from calibcore.metrics import METRICS, EventMeasure, Options
from calibcore.results import find, result_class
from calibcore.tally import Tally
from calibcore.validation import Floats

COMPARED = ("mean_gap", "ks_error", "event_brier", "event_nll", "auroc", "mean_score", "hit_rate")
"""Keys of the measures that are compared."""

LEVEL = 0.05

MOST_SCORES = 1_000
"""Scores of each batch; neighbours are joined where there are more."""

_RATE, _LEAST_SPREAD = "hit_rate", 1e-12


@result_class
class Moved:
    """One measure of both batches.

    Attributes
    ----------
    key, name : str
        Of the measure.
    reference, new : float
        Its values.
    interval : Interval or None
        95%, for new minus reference; None of the KS error, which noise can only raise.
    p_value, adjusted : float
        If both batches were drawn alike; adjusted (Holm) for all measures.
    expected : float
        What the new batch would show if the event had become more or less frequent and nothing
        else had changed; NaN where one batch has no event, or nothing but events.
    beyond : float
        Adjusted p-value of new minus expected, if nothing but the frequency had changed; NaN as
        ``expected``, and of the frequency itself.
    visible : float
        The change that would have been seen with 80% power.
    """

    key: str
    name: str
    reference: float
    new: float
    interval: Interval | None
    p_value: float
    adjusted: float
    expected: float
    beyond: float
    visible: float

    @property
    def change(self) -> float:
        """New minus reference."""
        return self.new - self.reference


@result_class
class BatchComparison:
    """Both batches, measure by measure.

    Attributes
    ----------
    rows : tuple of Moved
        One a measure that is defined for both batches.
    n_reference, n_new : int
        Rows of each.
    size, power : float
        A change of the mean gap, and the power to have seen it.
    """

    rows: tuple[Moved, ...]
    n_reference: int
    n_new: int
    size: float
    power: float

    def find(self, key: str) -> Moved:
        """Find a measure."""
        return find({row.key: row for row in self.rows}, key, "measure")

    @property
    def moved(self) -> tuple[Moved, ...]:
        """The measures that moved, at 5% for all of them together."""
        return tuple(row for row in self.rows if row.adjusted < LEVEL)

    @property
    def beyond_the_frequency(self) -> tuple[Moved, ...]:
        """Those that moved by more than the frequency of the event explains."""
        return tuple(row for row in self.rows if row.beyond < LEVEL)


def compare_batches(
    reference: Tally, new: Tally, *, size: float = 0.02, n_draws: int = 2000, seed: int = 0
) -> BatchComparison:
    """Compare a new batch with an audited one.

    Parameters
    ----------
    reference, new : Tally
        Rows and hits by score, with ``counts`` of shape (n_blocks,).
    size : float, default 0.02
        A change of the mean gap for which the power is asked, above 0.
    n_draws : int, default 2000
        Pairs of batches that are drawn.
    seed : int, default 0
        Of the draws.

    Raises
    ------
    CalibrationInputError
        No rows, a size that is not above 0, fewer than 100 draws.

    Notes
    -----
    p-values are shares of pairs of batches, both drawn from all rows together and as large as
    these, whose measures differ as much from what such pairs show on average. To separate a
    change of the event's frequency from others (label shift: the scores of events, and those of
    the others, are distributed as before), events and others are drawn from those of both batches
    separately, and the reference is weighted to the new frequency. Intervals are percentiles over
    resamples of each batch by itself.

    Examples
    --------
    >>> from calibcore.tally import tally
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(4000)
    >>> hits = rng.random(4000) < scores
    >>> audited = tally(scores[:2000], hits[:2000])
    >>> compare_batches(audited, tally(scores[2000:], hits[2000:])).moved
    ()
    >>> [row.key for row in compare_batches(audited, tally(scores**2, hits)).beyond_the_frequency]
    ['mean_gap', 'ks_error', 'event_brier', 'event_nll', 'mean_score']
    """
    _check(reference, new, size, n_draws)
    rng = np.random.default_rng(seed)
    both = _Both.of(grouped(reference, MOST_SCORES), grouped(new, MOST_SCORES))
    measures = [m for m in METRICS if m.key in COMPARED and isinstance(m, EventMeasure)]
    measures.sort(key=lambda measure: COMPARED.index(measure.key))
    was, now = (_values(measures, one) for one in (both.reference, both.new))
    defined = np.isfinite(was) & np.isfinite(now)
    measures = [m for m, known in zip(measures, defined, strict=True) if known]
    was, now = was[defined], now[defined]
    alike, own = (
        np.concatenate([
            _values(measures, fresh) - _values(measures, old) for old, fresh in draws
        ])
        for draws in (both.alike(rng, n_draws), both.resampled(rng, n_draws))
    )  # fmt: skip
    p_values = _tail(now - was, alike)
    adjusted = holm(p_values)
    expected, beyond = _by_frequency(both, measures, now, rng, n_draws)
    spread = np.nanstd(alike, axis=0)
    critical = np.nanquantile(
        np.abs(alike - np.nanmean(alike, axis=0)), 1 - LEVEL / was.size, axis=0
    )
    low, high = np.nanquantile(own, [LEVEL / 2, 1 - LEVEL / 2], axis=0)
    rows = tuple(
        Moved(
            measure.key, measure.name, float(was[k]), float(now[k]),
            None if measure.is_distance else Interval(float(low[k]), float(high[k])),
            float(p_values[k]), float(adjusted[k]), float(expected[k]), float(beyond[k]),
            float(critical[k] + NormalDist().inv_cdf(0.8) * spread[k]),
        )
        for k, measure in enumerate(measures)
    )  # fmt: skip
    gap = [measure.key for measure in measures].index("mean_gap")
    normal = NormalDist(critical[gap], max(float(spread[gap]), _LEAST_SPREAD))
    power = sum(normal.cdf(end) for end in (size, -size))
    return BatchComparison(rows, reference.n_samples, new.n_samples, size, power)


def _by_frequency(
    both: "_Both", measures: list[EventMeasure], now: Floats, rng: np.random.Generator, n_draws: int
) -> tuple[Floats, Floats]:
    """Return what a new frequency alone would show, and the p-values of what it does not."""
    expected, beyond = np.full(now.size, np.nan), np.full(now.size, np.nan)
    if not both.has_both_outcomes:
        return expected, beyond
    expected = _values(measures, both.weighted(both.reference, both.new))
    drawn = np.concatenate([
        _values(measures, fresh) - _values(measures, both.weighted(old, fresh))
        for old, fresh in both.alike_by_outcome(rng, n_draws)
    ])  # fmt: skip
    rest = np.array([measure.key != _RATE for measure in measures])
    beyond[rest] = holm(_tail(now - expected, drawn)[rest])
    return expected, beyond


def _check(reference: Tally, new: Tally, size: float, n_draws: int) -> None:
    for name, value, least in (
        ("reference", reference.n_samples, 1),
        ("new", new.n_samples, 1),
        ("n_draws", n_draws, 100),
    ):
        if value < least:
            raise CalibrationInputError(name, str(value), f"at least {least}")
    if not 0 < size < np.inf:
        raise CalibrationInputError("size", str(size), "a number above 0")


def _values(measures: list[EventMeasure], counted: Tally) -> Floats:
    """Return every measure, shape (..., n_measures)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack([np.asarray(m.compute(counted, Options())) for m in measures], axis=-1)


def _tail(found: Floats, drawn: Floats) -> Floats:
    """Return the share of draws that are as far from their mean, that found counted among them."""
    middle = np.nanmean(drawn, axis=0)
    far = np.abs(drawn - middle) >= np.abs(found - middle) * (1 - 1e-9)
    known = np.isfinite(drawn).sum(axis=0)
    return np.asarray((1 + far.sum(axis=0)) / (1 + known))


Pairs = Iterator[tuple[Tally, Tally]]


@result_class
class _Both:
    """Both batches on the scores of both.

    Attributes
    ----------
    reference, new : Tally
        With the same scores, of which each may have no rows at some.
    """

    reference: Tally
    new: Tally

    @classmethod
    def of(cls, reference: Tally, new: Tally) -> "_Both":
        scores = np.union1d(reference.scores, new.scores)
        return cls(*(_on(scores, one) for one in (reference, new)))

    @property
    def has_both_outcomes(self) -> bool:
        return all(0 < one.hits.sum() < one.n_samples for one in (self.reference, self.new))

    def alike(self, rng: np.random.Generator, n_draws: int) -> Pairs:
        """Draw pairs of batches from all rows together."""
        all_rows = _outcomes(self.reference) + _outcomes(self.new)
        return self._drawn(rng, n_draws, [all_rows, all_rows])

    def resampled(self, rng: np.random.Generator, n_draws: int) -> Pairs:
        """Draw each batch from its own rows."""
        return self._drawn(rng, n_draws, [_outcomes(self.reference), _outcomes(self.new)])

    def alike_by_outcome(self, rng: np.random.Generator, n_draws: int) -> Pairs:
        """Draw pairs of batches, as many events in each as it has, from those of both."""
        scores, half = self.reference.scores, self.reference.scores.size
        pooled = _outcomes(self.reference) + _outcomes(self.new)
        kinds = [part / part.sum() for part in (pooled[:half], pooled[half:])]
        for many in chunks(n_draws, 2 * scores.size):
            pair = []
            for one in (self.reference, self.new):
                n_hits = int(one.hits.sum())
                misses, hits = (
                    rng.multinomial(n, kind, size=many).astype(np.float64)
                    for n, kind in zip((one.n_samples - n_hits, n_hits), kinds, strict=True)
                )
                pair.append(Tally(scores, misses + hits, hits, one.n_samples))
            yield pair[0], pair[1]

    def weighted(self, old: Tally, fresh: Tally) -> Tally:
        """Weight events and others so that events are as frequent as in the other batch."""
        rate = (fresh.hits.sum(axis=-1) / fresh.n_samples)[..., np.newaxis]
        events = old.hits.sum(axis=-1)[..., np.newaxis]
        hits = old.hits * (rate * old.n_samples / events)
        others = (old.counts - old.hits) * ((1 - rate) * old.n_samples / (old.n_samples - events))
        return Tally(old.scores, hits + others, hits, old.n_samples)

    def _drawn(self, rng: np.random.Generator, n_draws: int, from_rows: list[Floats]) -> Pairs:
        scores, half = self.reference.scores, self.reference.scores.size
        for many in chunks(n_draws, 2 * scores.size):
            pair = []
            for one, rows in zip((self.reference, self.new), from_rows, strict=True):
                drawn = rng.multinomial(one.n_samples, rows / rows.sum(), size=many)
                hits = drawn[:, half:].astype(np.float64)
                pair.append(Tally(scores, drawn[:, :half] + hits, hits, one.n_samples))
            yield pair[0], pair[1]


def _on(scores: Floats, counted: Tally) -> Tally:
    """Return a tally on more scores than its own."""
    counts, hits = np.zeros(scores.size), np.zeros(scores.size)
    places = np.searchsorted(scores, counted.scores)
    counts[places], hits[places] = counted.counts, counted.hits
    return Tally(scores, counts, hits, counted.n_samples)


def _outcomes(counted: Tally) -> Floats:
    """Return the rows that are no hits at each score, then the hits."""
    return np.concatenate([counted.counts - counted.hits, counted.hits])
