"""A new batch beside an audited one: two samples, or row by row where rows are the same."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibcore.data import EventScores, check_same_design, like
from calibcore.errors import CalibrationInputError
from calibcore.inference import Interval
from calibcore.inference.draws import (
    chunks,
    count_places,
    draw_rows,
    group_starts,
    grouped,
    tally_of,
)
from calibcore.inference.multiple_testing import holm
from calibcore.metrics import METRICS, EventMeasure, Options
from calibcore.metrics.proper import event_brier_rows, event_nll_rows
from calibcore.results import find, result_class
from calibcore.tally import Tally
from calibcore.validation import Floats, Labels
from calibcore.weights import shares_of

COMPARED = ("mean_gap", "ks_error", "event_brier", "event_nll", "auroc", "mean_score", "hit_rate")
"""Keys of the measures that are compared."""

LEVEL = 0.05
"""Of the test, unless another is chosen."""

MOST_SCORES = 1_000
"""Scores of each batch that is drawn; neighbours are joined where there are more. What a batch
shows is computed from all of its scores."""

Cause = Literal["nothing", "frequency", "fit"]

_RATE, _LEAST_SPREAD, _LEAST_CHANGE = "hit_rate", 1e-12, 1e-6


@result_class
class Rule:
    """When a measure counts as changed."""

    measures: tuple[str, ...] = COMPARED
    """Keys of those that are compared, of `COMPARED`."""
    level: float = LEVEL
    """Of the test, for all of them together; from 0.001 to 0.5."""
    least: Mapping[str, float] = field(default_factory=dict)
    """The smallest change of a measure that matters, in its unit, by its key; 0 where none is
    named. A measure counts as changed where a change of no more than that is rejected.
    """

    def __post_init__(self) -> None:
        """Refuse what cannot be compared."""
        for key in (*self.measures, *self.least):
            find(dict.fromkeys(COMPARED, key), key, "measures")
        if not self.measures:
            raise CalibrationInputError("measures", "none", f"one of {', '.join(COMPARED)}")
        if not _LEAST_LEVEL <= self.level <= _LARGEST_LEVEL:
            wanted = f"from {_LEAST_LEVEL} to {_LARGEST_LEVEL}"
            raise CalibrationInputError("level", str(self.level), wanted)
        for value in self.least.values():
            if not 0 <= value < np.inf:
                raise CalibrationInputError("least", str(value), "a finite number from 0")

    @property
    def n_draws(self) -> int:
        """Draws with which p-values far below the level can be seen: 2,000 at 5%."""
        return max(_DRAWS, round(_DRAWS * LEVEL / self.level))


_DRAWS, _LEAST_LEVEL, _LARGEST_LEVEL = 2000, 0.001, 0.5

ORDINARY = Rule()
"""All measures, at 5%, and any change matters."""


@result_class
class MeasureChange:
    """One measure of both batches."""

    key: str
    name: str
    """Of the measure."""
    reference: float
    new: float
    """Its values."""
    interval: Interval | None
    """95%, for new minus reference; None of the KS error, which noise can only raise."""
    p_value: float
    adjusted: float
    """If both batches were drawn alike, or differ by no more than matters; adjusted (Holm) for all
    measures.
    """
    expected: float
    """What the new batch would show if the event had become more or less frequent and nothing else
    had changed; NaN where the reference has no event, or nothing but events. Of the same rows: if
    their outcomes alone had changed; NaN where none has.
    """
    beyond: float
    """Adjusted p-value of new minus expected, if nothing else had changed; NaN as ``expected``, and
    of the frequency itself.
    """
    visible: float
    """The change that would have been seen with 80% power."""

    @property
    def change(self) -> float:
        """New minus reference."""
        return self.new - self.reference


@result_class
class BatchComparison:
    """Both batches, measure by measure."""

    rows: tuple[MeasureChange, ...]
    """One a measure that is defined for both batches."""
    n_reference: int
    n_new: int
    """Rows of each."""
    size: float
    power: float
    """A change of the mean gap, and the power to have seen it; NaN where the mean gap is not
    compared.
    """
    changed_outcomes: int | None = None
    """Of the same rows in both, how many have another outcome now; None of other rows."""
    rule: Rule = ORDINARY
    """When a measure counts as changed."""

    def find(self, key: str) -> MeasureChange:
        """Find a measure."""
        return find({row.key: row for row in self.rows}, key, "measure")

    @property
    def moved(self) -> tuple[MeasureChange, ...]:
        """The measures that moved, at the level of the rule for all of them together."""
        return tuple(row for row in self.rows if row.adjusted < self.rule.level)

    @property
    def beyond_the_frequency(self) -> tuple[MeasureChange, ...]:
        """Those that moved by more than the frequency of the event explains."""
        return tuple(row for row in self.rows if row.beyond < self.rule.level)

    @property
    def cause(self) -> Cause:
        """What the change is of.

        Of the frequency where the event became more or less frequent, or outcomes of the same rows
        changed, and that explains whatever else changed; of the fit where it does not.
        """
        if not self.moved:
            return "nothing"
        rate = any(row.key == _RATE for row in self.moved)
        explained = rate or bool(self.changed_outcomes)
        return "frequency" if explained and not self.beyond_the_frequency else "fit"


def compare_batches(
    reference: Tally,
    new: Tally,
    *,
    size: float = 0.02,
    n_draws: int | None = None,
    seed: int = 0,
    rule: Rule = ORDINARY,
) -> BatchComparison:
    """Compare a new batch with an audited one.

    Parameters
    ----------
    reference, new : Tally
        Rows and hits by score, with ``counts`` of shape (n_blocks,).
    size : float, default 0.02
        A change of the mean gap for which the power is asked, above 0.
    n_draws : int, optional
        Pairs of batches that are drawn. As many as the rule needs by default, 2,000 at 5%.
    seed : int, default 0
        Of the draws.
    rule : Rule, optional
        Which measures are compared, and which changes matter; all, and any, by default.

    Raises
    ------
    CalibrationInputError
        No rows, a size that is not above 0, fewer than 100 draws, no measure that both have.

    Notes
    -----
    p-values are shares of pairs of batches, both drawn from all rows together and as large as
    these, whose measures differ as much from what such pairs show on average. To separate a
    change of the event's frequency from others (label shift: the scores of events, and those of
    the others, are distributed as before), events and others are drawn from those of both batches
    separately, and the reference is weighted to the new frequency, which may be 0 or 1. If only
    changes above some size matter, what such pairs differ by is compared with what is seen less
    that size: the chance to reject a true change of that size is at most the level. Intervals are
    percentiles over resamples of each batch by itself. Of weighted rows and of clusters, units are
    drawn (clusters, or rows with their weights); what a new frequency explains is then not
    separated.

    Examples
    --------
    >>> from calibcore.tally import tally
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(4000)
    >>> hits = rng.random(4000) < scores
    >>> audited = tally(scores[:2000], hits[:2000])
    >>> compare_batches(audited, tally(scores[2000:], hits[2000:]), n_draws=200).moved
    ()
    >>> worse = compare_batches(audited, tally(scores**2, hits), n_draws=200)
    >>> [row.key for row in worse.beyond_the_frequency]
    ['mean_gap', 'ks_error', 'event_brier', 'event_nll', 'mean_score']
    """
    n_draws = n_draws or rule.n_draws
    check(reference.n_samples, new.n_samples, size, n_draws)
    rng = np.random.default_rng(seed)
    both = _Both.of(grouped(reference, MOST_SCORES), grouped(new, MOST_SCORES))
    measures, was, now = measured(reference, new, rule)
    seen = values_of(measures, both.new) - values_of(measures, both.reference)
    alike, own = (
        np.concatenate([
            values_of(measures, fresh) - values_of(measures, old) for old, fresh in draws
        ])
        for draws in (both.alike(rng, n_draws), both.resampled(rng, n_draws))
    )  # fmt: skip
    draws = Draws(seen, alike, own, np.nanmean(alike, axis=0), rule, least_of(measures, rule))
    explained = _by_frequency(both, (reference, new), measures, draws, rng)
    changes = Changes(measures, was, now, draws, *explained)
    return BatchComparison(
        changes.rows(), reference.n_samples, new.n_samples, size, changes.power(size), rule=rule
    )


def _by_frequency(
    both: "_Both",
    batches: tuple[Tally, Tally],
    measures: list[EventMeasure],
    draws: "Draws",
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Return what a new frequency alone would show, and the p-values of what it does not.

    ``batches``: with all scores, for the first.
    """
    expected, beyond = np.full(len(measures), np.nan), np.full(len(measures), np.nan)
    rest = not_the_rate(measures)
    if both.units is not None or not (both.can_be_weighted and rest.any()):
        return expected, beyond
    expected = values_of(measures, both.weighted(*batches))
    now, alone = (
        values_of(measures, one) for one in (both.new, both.weighted(both.reference, both.new))
    )
    drawn = np.concatenate([
        values_of(measures, fresh) - values_of(measures, both.weighted(old, fresh))
        for old, fresh in both.alike_by_outcome(rng, len(draws.alike))
    ])  # fmt: skip
    middle = np.nanmean(drawn, axis=0)
    of_rest = replace(draws, seen=now - alone, alike=drawn, middle=middle)
    beyond[rest] = holm(of_rest.p_values[rest])
    return expected, beyond


def not_the_rate(measures: list[EventMeasure]) -> NDArray[np.bool_]:
    """Return which measures are not the frequency of the event itself."""
    return np.array([measure.key != _RATE for measure in measures])


def check(n_reference: int, n_new: int, size: float, n_draws: int) -> None:
    """Raise if batches of so many rows cannot be compared so."""
    for name, value, least in (
        ("reference", n_reference, 1),
        ("new", n_new, 1),
        ("n_draws", n_draws, 100),
    ):
        if value < least:
            raise CalibrationInputError(name, str(value), f"at least {least}")
    if not 0 < size < np.inf:
        raise CalibrationInputError("size", str(size), "a number above 0")


def values_of(measures: list[EventMeasure], counted: Tally) -> Floats:
    """Return every measure, shape (..., n_measures)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack([np.asarray(m.compute(counted, Options())) for m in measures], axis=-1)


def least_of(measures: list[EventMeasure], rule: Rule) -> Floats:
    """Return the smallest change of each measure that matters."""
    return np.array([rule.least.get(measure.key, 0.0) for measure in measures])


def measured(reference: Tally, new: Tally, rule: Rule) -> tuple[list[EventMeasure], Floats, Floats]:
    """Return the measures of a rule that both batches have, and their values of each."""
    measures = [m for m in METRICS if m.key in rule.measures and isinstance(m, EventMeasure)]
    measures.sort(key=lambda measure: COMPARED.index(measure.key))
    was, now = (values_of(measures, one) for one in (reference, new))
    defined = np.isfinite(was) & np.isfinite(now)
    known = [m for m, is_defined in zip(measures, defined, strict=True) if is_defined]
    if not known:
        text = f"{', '.join(rule.measures)}, which these rows leave undefined"
        raise CalibrationInputError("measures", text, "others")
    return known, was[defined], now[defined]


@result_class
class Draws:
    """Changes of the measures as they were drawn."""

    seen: Floats
    """New minus reference; shape (n_measures,)."""
    alike: Floats
    own: Floats
    """The same if both batches are alike, and over resamples of each; shape (n_draws, n_measures).
    """
    middle: Floats
    """Mean of ``alike``; shape (n_measures,)."""
    rule: Rule
    """When a measure counts as changed."""
    least: Floats
    """The smallest change of each that matters; shape (n_measures,)."""

    @property
    def p_values(self) -> Floats:
        """The share of draws that are as far from their mean, that seen counted among them.

        What is seen counts as nearer by the smallest change that matters.
        """
        seen = np.maximum(np.abs(self.seen - self.middle) - self.least, 0.0)
        far = np.abs(self.alike - self.middle) >= seen * (1 - 1e-9)
        known = np.isfinite(self.alike).sum(axis=0)
        return np.asarray((1 + far.sum(axis=0)) / (1 + known))

    @property
    def spread(self) -> Floats:
        """Standard deviations of ``alike``."""
        return np.asarray(np.nanstd(self.alike, axis=0))

    @property
    def tested(self) -> NDArray[np.bool_]:
        """Which measures can change at all."""
        return self.spread > _LEAST_SPREAD

    @property
    def critical(self) -> Floats:
        """Distances from the mean that are significant, if all are tested at once."""
        level = self.rule.level / max(int(self.tested.sum()), 1)
        far = np.nanquantile(np.abs(self.alike - self.middle), 1 - level, axis=0)
        return np.asarray(far + self.least)

    @property
    def adjusted(self) -> Floats:
        """p-values adjusted for all measures that are tested."""
        adjusted, tested = np.ones(self.seen.size), self.tested
        if tested.any():
            adjusted[tested] = holm(self.p_values[tested])
        # The same scores as 32 and as 64 bits differ by less, if all to one side.
        return np.where(np.abs(self.seen) < _LEAST_CHANGE, 1.0, adjusted)


@result_class
class Changes:
    """What `MeasureChange` and `BatchComparison` are made of; arrays are of shape (n_measures,)."""

    measures: list[EventMeasure]
    was: Floats
    now: Floats
    draws: Draws
    expected: Floats
    beyond: Floats

    def rows(self) -> tuple[MeasureChange, ...]:
        """Return a row for each measure."""
        draws, change = self.draws, self.now - self.was
        low, high = np.nanquantile(draws.own, [LEVEL / 2, 1 - LEVEL / 2], axis=0)
        low, high = (end + (change - draws.seen) for end in (low, high))
        p_values, adjusted, critical, spread = (
            draws.p_values, draws.adjusted, draws.critical, draws.spread,
        )  # fmt: skip
        return tuple(
            MeasureChange(
                measure.key, measure.name, float(self.was[k]), float(self.now[k]),
                None if measure.is_distance else Interval(float(low[k]), float(high[k])),
                float(p_values[k]), float(adjusted[k]),
                float(self.expected[k]), float(self.beyond[k]),
                float(critical[k] + NormalDist().inv_cdf(0.8) * spread[k]),
            )
            for k, measure in enumerate(self.measures)
        )  # fmt: skip

    def power(self, size: float) -> float:
        """Return the power to have seen a change of the mean gap."""
        keys = [measure.key for measure in self.measures]
        if "mean_gap" not in keys:
            return float("nan")
        gap = keys.index("mean_gap")
        spread = max(float(self.draws.spread[gap]), _LEAST_SPREAD)
        normal = NormalDist(float(self.draws.critical[gap]), spread)
        return sum(normal.cdf(end) for end in (size, -size))


Pairs = Iterator[tuple[Tally, Tally]]


class _Cells(NamedTuple):
    """Rows counted in cells, from which rows are drawn with replacement."""

    rows: Floats
    cells: Labels | None
    """The cell of every row, where there are so few that each is drawn by itself; else None."""

    @classmethod
    def of(cls, rows: Floats) -> "_Cells":
        few = rows.sum() < 2 * rows.size
        return cls(rows, np.repeat(np.arange(rows.size), rows.astype(np.intp)) if few else None)

    def draw(self, rng: np.random.Generator, n_rows: int, many: int) -> Floats:
        """Return how many of some rows are of each cell; shape (many, n_cells)."""
        if self.cells is None:
            drawn = rng.multinomial(n_rows, self.rows / self.rows.sum(), size=many)
            return drawn.astype(np.float64)
        drawn = self.cells[rng.integers(self.cells.size, size=(many, n_rows))]
        drawn += np.arange(many)[:, np.newaxis] * self.rows.size
        return count_places(drawn, (many, self.rows.size))


@result_class
class _Both:
    """Both batches on the scores of both."""

    reference: Tally
    new: Tally
    """With the same scores, of which each may have no rows at some."""
    units: "tuple[csr_array, csr_array] | None" = None
    """Where rows are weighted or in clusters, what each unit of a batch has at each score that is
    no hit, then the hits; shape (n_units, 2 * n_blocks).
    """

    @classmethod
    def of(cls, reference: Tally, new: Tally) -> "_Both":
        scores = np.union1d(reference.scores, new.scores)
        units = None
        if reference.design is not None or new.design is not None:
            units = _by_unit(scores, reference), _by_unit(scores, new)
        return cls(_on(scores, reference), _on(scores, new), units)

    @property
    def can_be_weighted(self) -> bool:
        """Return whether the reference has both outcomes, so that it tells of any frequency."""
        return bool(0 < self.reference.hits.sum() < self.reference.n_samples)

    def alike(self, rng: np.random.Generator, n_draws: int) -> Pairs:
        """Draw pairs of batches from all rows together."""
        if self.units is not None:
            from scipy.sparse import vstack  # noqa: PLC0415 - a tenth of a second to import

            all_units = vstack(self.units, format="csr")
            return self._drawn_units(rng, n_draws, [all_units, all_units])
        all_rows = _outcomes(self.reference) + _outcomes(self.new)
        return self._drawn(rng, n_draws, [all_rows, all_rows])

    def resampled(self, rng: np.random.Generator, n_draws: int) -> Pairs:
        """Draw each batch from its own rows."""
        if self.units is not None:
            return self._drawn_units(rng, n_draws, list(self.units))
        return self._drawn(rng, n_draws, [_outcomes(self.reference), _outcomes(self.new)])

    def alike_by_outcome(self, rng: np.random.Generator, n_draws: int) -> Pairs:
        """Draw pairs of batches, as many events in each as it has, from those of both."""
        scores, half = self.reference.scores, self.reference.scores.size
        pooled = _outcomes(self.reference) + _outcomes(self.new)
        kinds = _Cells.of(pooled[:half]), _Cells.of(pooled[half:])
        for many in chunks(n_draws, 2 * scores.size):
            pair = []
            for one in (self.reference, self.new):
                n_hits = int(one.hits.sum())
                misses, hits = (
                    kind.draw(rng, n, many)
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
        cells = [_Cells.of(rows) for rows in from_rows]
        for many in chunks(n_draws, 2 * scores.size):
            pair = []
            for one, own in zip((self.reference, self.new), cells, strict=True):
                drawn = own.draw(rng, one.n_samples, many)
                hits = drawn[:, half:]
                pair.append(Tally(scores, drawn[:, :half] + hits, hits, one.n_samples))
            yield pair[0], pair[1]

    def _drawn_units(
        self, rng: np.random.Generator, n_draws: int, from_units: "list[csr_array]"
    ) -> Pairs:
        if self.units is None:
            raise AssertionError("rows without units")
        scores = self.reference.scores
        most = max(2 * scores.size, *(one.shape[0] for one in from_units))
        for many in chunks(n_draws, most):
            pair = []
            for one, own, units in zip(
                (self.reference, self.new), self.units, from_units, strict=True
            ):
                alike = np.full(units.shape[0], 1 / units.shape[0])
                drawn = rng.multinomial(own.shape[0], alike, size=many) @ units
                drawn *= one.n_samples / drawn.sum(axis=1, keepdims=True)
                misses, hits = np.split(drawn, 2, axis=1)
                pair.append(Tally(scores, misses + hits, hits, one.n_samples))
            yield pair[0], pair[1]


def _by_unit(scores: Floats, counted: Tally) -> "csr_array":
    """Return what each unit, a cluster or a row, has at each of some scores."""
    from scipy.sparse import coo_array  # noqa: PLC0415 - a tenth of a second to import

    design, own = counted.design, np.searchsorted(scores, counted.scores)
    if design is None:
        rows = _outcomes(counted).astype(np.intp)
        places = np.repeat(np.concatenate([own, own + scores.size]), rows)
        units, weights = np.arange(places.size), np.ones(places.size)
    else:
        sizes = np.diff(design.starts, append=design.scores.size)
        places = np.repeat(own, sizes) + scores.size * (design.hits > 0)
        units, weights = np.arange(places.size), design.weights
        if design.clusters is not None:
            units = design.clusters
    shape = int(units.max()) + 1, 2 * scores.size
    return coo_array((weights, (units, places)), shape).tocsr()


def _on(scores: Floats, counted: Tally) -> Tally:
    """Return a tally on more scores than its own."""
    counts, hits = np.zeros(scores.size), np.zeros(scores.size)
    places = np.searchsorted(scores, counted.scores)
    counts[places], hits[places] = counted.counts, counted.hits
    return Tally(scores, counts, hits, counted.n_samples)


def _outcomes(counted: Tally) -> Floats:
    """Return the rows that are no hits at each score, then the hits."""
    return np.concatenate([counted.counts - counted.hits, counted.hits])


# Whether the same rows behave as they did when they were audited: pairs of rows by their ids ---


if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_UNITS = 2_000
"""Pairs, or bundles of pairs where there are more, that are swapped and drawn as a whole."""

_MEANS: Mapping[str, Callable[[EventScores], Floats]] = {
    "mean_gap": lambda event: event.scores - event.hits,
    "event_brier": event_brier_rows,
    "event_nll": event_nll_rows,
    "mean_score": lambda event: event.scores,
    "hit_rate": lambda event: event.hits.astype(np.float64),
}
"""Measures that are means of the rows, and what each row adds."""


def compare_pairs(
    reference: EventScores,
    new: EventScores,
    *,
    size: float = 0.02,
    n_draws: int | None = None,
    seed: int = 0,
    rule: Rule = ORDINARY,
) -> BatchComparison:
    """Compare a new batch with an audited one of the same rows.

    Parameters
    ----------
    reference, new : EventScores
        The k-th row of both is the same, scored twice or with an outcome that may have changed.
    size : float, default 0.02
        A change of the mean gap for which the power is asked, above 0.
    n_draws : int, optional
        Swaps, and resamples, that are drawn. As many as the rule needs by default, 2,000 at 5%.
    seed : int, default 0
        Of the draws.
    rule : Rule, optional
        Which measures are compared, and which changes matter; all, and any, by default.

    Returns
    -------
    BatchComparison
        With ``changed_outcomes``; what is ``expected`` is that of the audited scores with the
        new outcomes.

    Raises
    ------
    CalibrationInputError
        Another number of rows, a size that is not above 0, fewer than 100 draws, no measure that
        both have.

    Notes
    -----
    If a row is as likely to be found one way round as the other, its score and outcome can be
    swapped between the batches: p-values are the shares of such swaps, drawn at random, that change
    a measure as much. What outcomes do not explain is tested by swaps of the scores alone.
    Intervals are percentiles over resamples of pairs.

    Of clusters, all pairs of one are swapped and drawn together; weights are those of the rows, the
    same in both batches.

    Pairs beyond 2,000 are dealt at random to so many bundles, which are swapped and drawn as a
    whole: the test stays exact, and memory and time do not grow with the rows. Means of rows are
    exact; for the KS error and the AUROC neighbouring scores of both batches are joined where there
    are more than 1,000.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(500)
    >>> hits = rng.random(500) < scores
    >>> raised = np.clip(scores + rng.normal(0.005, 0.02, 500), 0, 1)
    >>> comparison = compare_pairs(EventScores(scores, hits), EventScores(raised, hits))
    >>> [row.key for row in comparison.moved], comparison.changed_outcomes
    (['mean_gap', 'mean_score'], 0)
    """
    check_same_design(reference, new)
    n_draws = n_draws or rule.n_draws
    check(reference.n_samples, new.n_samples, size, n_draws)
    if reference.n_samples != new.n_samples:
        wanted = f"the {reference.n_samples:,} of the reference"
        raise CalibrationInputError("new", f"{new.n_samples:,} rows", wanted)
    rng = np.random.default_rng(seed)
    measures, was, now = measured(tally_of(reference), tally_of(new), rule)
    pairs = _Pairs.of(reference, new, rng)
    alike, own = (
        np.concatenate([pairs.changes(measures, *weights) for weights in drawn])
        for drawn in (pairs.swaps(rng, n_draws), pairs.resamples(rng, n_draws))
    )
    least = least_of(measures, rule)
    draws = Draws(pairs.seen(measures), alike, own, np.zeros(was.size), rule, least)
    n_changed = int(np.count_nonzero(reference.hits != new.hits))
    expected, beyond = np.full((2, was.size), np.nan)
    if n_changed:
        turned = like(EventScores(reference.scores, new.hits, reference.rest), reference)
        expected = values_of(measures, tally_of(turned))
        beyond = _beyond(_Pairs.of(turned, new, rng), measures, draws, rng)
    changes = Changes(measures, was, now, draws, expected, beyond)
    n_rows = new.n_samples
    return BatchComparison(
        changes.rows(), n_rows, n_rows, size, changes.power(size), n_changed, rule
    )


def _beyond(
    pairs: "_Pairs", measures: list[EventMeasure], draws: Draws, rng: np.random.Generator
) -> Floats:
    """Return the adjusted p-values of what the new outcomes do not explain."""
    beyond, swaps = np.full(len(measures), np.nan), pairs.swaps(rng, len(draws.alike))
    alike = np.concatenate([pairs.changes(measures, *one) for one in swaps])
    of_rest = replace(draws, seen=pairs.seen(measures), alike=alike, own=alike)
    rest = not_the_rate(measures)
    beyond[rest] = of_rest.adjusted[rest]
    return beyond


Weights = Iterator[tuple[Floats, Floats]]


@result_class
class _Pairs:
    """Bundles of pairs, and what each adds to the measures of both batches."""

    sizes: Floats
    """Pairs in each; shape (n_units,)."""
    means: Mapping[str, Floats]
    """Of measures that are means of the rows, by how much the new batch's sum is larger; shape
    (n_units,).
    """
    scores: Floats
    """Of both batches, neighbours joined; shape (n_scores,)."""
    old: "csr_array"
    step: "csr_array"
    """Rows of the reference that are no hits at each score, then the hits, and how many more the
    new batch has; shape (n_units, 2 * n_scores).
    """

    @classmethod
    def of(cls, reference: EventScores, new: EventScores, rng: np.random.Generator) -> "_Pairs":
        from scipy.sparse import coo_array  # noqa: PLC0415 - a tenth of a second to import

        n_rows = reference.n_samples
        own = np.arange(n_rows)
        if reference.clusters is not None:
            own = np.unique(reference.clusters, return_inverse=True)[1]
        n_own = int(own.max()) + 1
        n_units = min(n_own, MOST_UNITS)
        unit = own if n_own == n_units else (rng.permutation(n_own) % n_units)[own]
        weights = reference.weights
        each = np.ones(n_rows) if weights is None else shares_of(weights.values)
        both = reference, new
        scores, place, counts = np.unique(
            np.concatenate([one.scores for one in both]), return_inverse=True, return_counts=True
        )
        starts = group_starts(scores, counts.astype(np.float64), MOST_SCORES)
        joined = np.add.reduceat(scores * counts, starts) / np.add.reduceat(counts, starts)
        blocks = np.searchsorted(starts, place, side="right") - 1
        shape = n_units, 2 * starts.size
        old, fresh = (
            coo_array((each, (unit, block + starts.size * (one.hits > 0))), shape).tocsr()
            for one, block in zip(both, np.split(blocks, 2), strict=True)
        )
        means = {
            key: np.bincount(unit, each * (rows(new) - rows(reference))).astype(np.float64)
            for key, rows in _MEANS.items()
        }
        return cls(np.bincount(unit, each).astype(np.float64), means, joined, old, fresh - old)

    def swaps(self, rng: np.random.Generator, n_draws: int) -> Weights:
        """Draw which bundles are swapped; each is there once."""
        for many in chunks(n_draws, self.old.shape[1]):
            turned = rng.integers(2, size=(many, self.sizes.size)).astype(np.float64)
            yield np.ones((1, self.sizes.size)), turned

    def resamples(self, rng: np.random.Generator, n_draws: int) -> Weights:
        """Draw bundles with replacement; none is swapped."""
        for many in chunks(n_draws, self.old.shape[1]):
            yield draw_rows(rng, many, self.sizes.size).counts, np.zeros((1, self.sizes.size))

    def seen(self, measures: list[EventMeasure]) -> Floats:
        """Return new minus reference, shape (n_measures,)."""
        once = np.ones((1, self.sizes.size))
        return np.asarray(self.changes(measures, once, 0 * once)[0])

    def changes(self, measures: list[EventMeasure], drawn: Floats, swapped: Floats) -> Floats:
        """Return new minus reference, shape (n_draws, n_measures).

        ``measures``: which. ``drawn``, ``swapped``: how often each bundle is drawn, and how many of
        these the other way round; shape (n_draws, n_units).
        """
        n_rows = drawn @ self.sizes
        plain, moved = drawn @ self.old, swapped @ self.step
        old = self._tally(plain + moved, n_rows)
        fresh = self._tally(plain + drawn @ self.step - moved, n_rows)
        return np.stack(
            [
                (drawn - 2 * swapped) @ self.means[one.key] / n_rows
                if one.key in self.means
                else (values_of([one], fresh) - values_of([one], old))[:, 0]
                for one in measures
            ],
            axis=-1,
        )

    def _tally(self, cells: Floats, n_rows: Floats) -> Tally:
        # Bundles differ by a row, so that resamples of them have not quite as many rows.
        misses, hits = np.split(cells * (self.sizes.sum() / n_rows)[:, np.newaxis], 2, axis=1)
        return Tally(self.scores, misses + hits, hits, round(self.sizes.sum()))
