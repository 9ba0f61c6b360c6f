"""Binned and cumulative calibration errors of every class, for labels that are exchanged."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calibcore.binning import bin_places, equal_mass_starts
from calibcore.inference.draws import SideRows
from calibcore.inference.findings import Plan, Reference, Uncertainty, reference
from calibcore.inference.intervals import DistanceEstimate, Interval
from calibcore.inference.inversion import N_DRAWS, Usual, largest_allowed
from calibcore.metrics.classwise import classwise_ks_errors
from calibcore.metrics.kernel import (
    class_masses,
    half_width,
    kde_classwise_ece,
    kde_of_densities,
    per_unit,
    share_out,
    spread_of,
)
from calibcore.metrics.measure import ClassMeasure
from calibcore.metrics.pairwise import skce_test
from calibcore.results import result_class
from calibcore.strips import row_strips
from calibcore.tally import tally
from calibcore.validation import Floats, Labels

Kind = Literal["equal_width", "equal_mass", "cumulative", "top_label"]

AnyLabels = NDArray[np.unsignedinteger]
"""In as few bytes as hold them."""

_CELLS = 1 << 20

_FINE, _FEWEST, _MOST = 1 << 14, 1 << 7, 1 << 10
"""Bins of all classes together whose gaps are added up; least and most of a class."""


# Probabilities that might be the true ones -----------------------------------------------------


_EVEN = 0
"""Times of classes that are all as probable."""


@result_class
class Others:
    """Other probabilities, further and further away, of which only the rows in hand are made."""

    probabilities: Floats
    """What they are beside; shape (n_samples, n_classes)."""
    other: Floats | None
    """Those that are once as far; None for softened ones: square roots, scaled to sum to 1."""
    times: int
    """How many times as far, in the logarithm; 0 where all classes are as probable."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and classes."""
        return self.probabilities.shape

    def __getitem__(self, rows: slice) -> Floats:
        """Make some rows of them."""
        near = self.probabilities[rows]
        if self.times == _EVEN:
            return np.full_like(near, 1 / near.shape[1])
        if self.other is not None:
            far = self.other[rows]
        else:
            far = np.sqrt(near)
            far /= far.sum(axis=1, keepdims=True)
        return far if self.times == 1 else _moved(near, far, self.times)


def _moved(near: Floats, far: Floats, times: int) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 stays 0
        start, end = np.log(near), np.log(far)
        distant = np.where(np.isneginf(start), end, start + times * (end - start))
        distant = np.exp(distant - distant.max(axis=1, keepdims=True))
    return np.asarray(distant / distant.sum(axis=1, keepdims=True))


# Every class's probabilities in bins -----------------------------------------------------------


@result_class
class ClassBins:
    """Every class's probabilities in bins, so that labels can be exchanged.

    Bins are of equal width or mass, as the class-wise ECE has them. Those whose gaps are added up
    are fine ones of equal sums of probability, so that the KS error, read at their ends alone, is
    too small by at most what a bin holds, 1 / 16,384 of the rows (with more than 128 classes, 1 /
    128 of the class). Those of the top label hold the probabilities of the class predicted alone;
    all others are in one more bin of each class, which does not count.
    """

    places: NDArray[np.uint16]
    """Bin of each probability; shape (n_samples, n_classes)."""
    sums: Floats
    """Sum of the probabilities in each bin; shape (n_classes, n_bins)."""
    kind: Kind
    """Of the bins, and of the error."""

    @classmethod
    def of(cls, probabilities: Floats, n_bins: int, kind: Kind = "equal_width") -> "ClassBins":
        """Bin the probabilities of every class; ``n_bins`` does not count where gaps add up."""
        n_classes = probabilities.shape[1]
        if kind == "top_label":
            decided = probabilities.argmax(axis=1)[:, np.newaxis]
            places = np.full(probabilities.shape, n_bins, dtype=np.uint16)
            top = np.take_along_axis(probabilities, decided, axis=1)
            np.put_along_axis(places, decided, bin_places(np.minimum(top, 1.0), n_bins), axis=1)
            bins = cls(places, np.empty((n_classes, n_bins + 1)), kind)
            return replace(bins, sums=bins.weighted(probabilities))
        if kind != "equal_width":
            n_places = max(_FEWEST, min(_MOST, _FINE // n_classes))
            n_bins = n_places if kind == "cumulative" else n_bins
            places = np.empty(probabilities.shape, dtype=np.uint16)
            for k in range(n_classes):
                scores = np.minimum(probabilities[:, k], 1.0)
                places[:, k] = np.searchsorted(_firsts(scores, n_bins, kind), scores, side="right")
            bins = cls(places, np.empty((n_classes, n_bins)), kind)
            return replace(bins, sums=bins.weighted(probabilities))
        places = np.empty(probabilities.shape, dtype=np.uint16)
        sums = np.zeros(n_classes * n_bins)
        firsts = np.arange(n_classes) * n_bins
        for rows in row_strips(*probabilities.shape):
            block = probabilities[rows]
            of_block = bin_places(block, n_bins)
            places[rows] = of_block
            cells = (of_block + firsts).ravel()
            sums += np.bincount(cells, weights=block.ravel(), minlength=sums.size)
        return cls(places, sums.reshape(n_classes, n_bins), kind)

    def weighted(self, table: Floats | Others) -> Floats:
        """Sum another table over the bins, shape (n_classes, n_bins)."""
        n_classes, n_bins = self.sums.shape
        sums = np.zeros(self.sums.size)
        firsts = np.arange(n_classes) * n_bins
        for rows in row_strips(*table.shape):
            cells = (self.places[rows] + firsts).ravel()
            sums += np.bincount(cells, weights=table[rows].ravel(), minlength=sums.size)
        return sums.reshape(self.sums.shape)

    def distances(self, other: Floats | Others) -> Floats:
        """Return each class's error in unlimited rows, if other probabilities are true."""
        return self._error(self.weighted(other) - self.sums) / len(self.places)

    def errors(self, labels: NDArray[np.integer]) -> Floats:
        """Return each class's expected calibration error for given labels.

        ``labels``: shape (n_draws, n_samples). The errors have the shape (n_draws, n_classes).
        """
        n_draws, n_rows = labels.shape
        n_bins = self.sums.shape[1]
        errors = np.empty((n_draws, len(self.sums)))
        at_once = max(1, _CELLS // max(self.sums.size, n_rows))
        for start in range(0, n_draws, at_once):
            chosen = labels[start : start + at_once]
            cells = chosen.astype(np.intp) * n_bins + self.places[np.arange(n_rows), chosen]
            cells += np.arange(len(chosen))[:, np.newaxis] * self.sums.size
            hits = np.bincount(cells.ravel(), minlength=len(chosen) * self.sums.size)
            gaps = hits.reshape(len(chosen), *self.sums.shape) - self.sums
            errors[start : start + at_once] = self._error(gaps) / n_rows
        return errors

    def _error(self, gaps: Floats) -> Floats:
        """Return the error in rows from the gap of every bin, along the last axis."""
        if self.kind == "cumulative":
            np.cumsum(gaps, axis=-1, out=gaps)
            return np.asarray(np.abs(gaps, out=gaps).max(axis=-1))
        if self.kind == "top_label":
            gaps = gaps[..., :-1]
        return np.asarray(np.abs(gaps).sum(axis=-1))


def _firsts(scores: Floats, n_bins: int, kind: Kind) -> Floats:
    """Return the lowest score of each bin but the first, of one class; infinity of those left."""
    counted = tally(scores, np.zeros(scores.size))
    if kind == "equal_mass":
        starts = equal_mass_starts(counted, n_bins)[1:]
    else:
        totals = np.cumsum(counted.counts * counted.scores)
        starts = np.searchsorted(totals, totals[-1] * np.arange(1, n_bins) / n_bins) + 1
    return np.append(counted.scores, np.inf)[starts]


# Kernel-smoothed calibration errors of every class, for labels that are exchanged -------------


MESH = 1 << 8
"""Cells of the mesh on [0, 1], where draws are compared with each other alone."""

_MESH_CELLS = 1 << 20  # of meshes at once
_BATCH = 128  # curves at once: their meshes stay in a processor's cache


@result_class
class ClassKernels:
    """Every class's probabilities with what labels do not change."""

    probabilities: Floats
    """Shape (n_samples, n_classes)."""

    @cached_property
    def density(self) -> Floats:
        """Density of all rows of each class on the mesh."""
        ones = np.broadcast_to(1.0, self.probabilities.shape)
        return per_unit(class_masses(self.probabilities, ones, MESH))

    @cached_property
    def _spread(self) -> Floats:
        """Spread of all probabilities of each class, which counts where hits are too few."""
        table = self.probabilities
        total: Floats = np.einsum("ij->j", table)
        squares: Floats = np.einsum("ij,ij->j", table, table)
        return spread_of(total, squares, len(table))

    def errors(self, labels: NDArray[np.integer]) -> Floats:
        """Return each class's kernel calibration error for given labels.

        ``labels``: shape (n_draws, n_samples). The errors have the shape (n_draws, n_classes).
        """
        n_draws, n_rows = labels.shape
        n_classes = self.probabilities.shape[1]
        errors = np.empty(n_draws * n_classes)
        at_once = max(1, _MESH_CELLS // max(n_rows, n_classes * (MESH + 2)))
        for start in range(0, n_draws, at_once):
            hits, width = self._hits(labels[start : start + at_once])
            into = errors[start * n_classes :]
            for first in range(0, len(hits), _BATCH):
                curves = np.arange(first, min(first + _BATCH, len(hits)))
                density = self.density[curves % n_classes]
                into[curves] = kde_of_densities(density, hits[curves], width[curves], 1)
        return errors.reshape(n_draws, n_classes)

    def _hits(self, labels: NDArray[np.integer]) -> tuple[Floats, Floats]:
        """Return the density of the hits and the half width, one row a draw and class."""
        n_draws, n_rows = labels.shape
        n_classes = self.probabilities.shape[1]
        own = np.minimum(self.probabilities[np.arange(n_rows), labels], 1.0).ravel()
        curve = (labels + np.arange(n_draws)[:, np.newaxis] * n_classes).ravel()
        size = n_draws * n_classes
        ones = np.ones(own.size)
        n_hits, total, squares = (
            np.bincount(curve, weights=w, minlength=size).astype(np.float64)
            for w in (ones, own, own * own)
        )
        few = np.tile(self._spread, n_draws)
        spread = np.where(n_hits < 2, few, spread_of(total, squares, n_hits))
        mass = np.zeros((size, MESH + 2))
        share_out(mass, curve, own, ones)
        return per_unit(mass), half_width(spread, n_rows)


# Labels drawn from class probabilities --------------------------------------------------------


def drawn_labels(
    rng: np.random.Generator, probabilities: Floats | Others, n_draws: int
) -> AnyLabels:
    """Draw the label of every row from its probabilities, some times over, in as few bytes as hold.

    ``rng``: where the draws come from. ``probabilities``: rows that sum to 1 (y_prob); shape
    (n_samples, n_classes). ``n_draws``: how many times.
    """
    n_rows, n_classes = probabilities.shape
    labels = np.empty((n_draws, n_rows), dtype=np.min_scalar_type(n_classes - 1))
    for rows in row_strips(n_rows, n_classes):
        totals = np.cumsum(probabilities[rows], axis=1)
        totals /= totals[:, -1:]  # a row may sum to a little less than 1
        if n_classes == 2:  # a tenth of the time of a search
            labels[:, rows] = rng.random((n_draws, len(totals))) >= totals[:, 0]
            continue
        # One search serves all rows of a block: each is lifted above the one before.
        lift = np.arange(len(totals))
        totals += lift[:, np.newaxis]
        places = rng.random((n_draws, len(totals))) + lift
        classes = np.searchsorted(totals.ravel(), places, side="right") - lift * n_classes
        labels[:, rows] = np.minimum(classes, n_classes - 1)
    return labels


# The uncertainty of class-wise calibration errors ---------------------------------------------


_STRENGTHS = (0.25, 0.5, 0.75, 1.0)
"""Shares of the labels that are drawn from other probabilities."""

_FURTHER, _FURTHER_STRENGTHS = (2, 4, 8, 16), (0.75, 1.0)
"""How many times as far others are looked for where the value observed is usual with all before."""

_EVEN_STRENGTHS = (0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 1.0)
"""Then labels are drawn from classes that are all as probable, which certain rows need."""

_EVERY_STRENGTH = sorted({*_STRENGTHS, *_FURTHER_STRENGTHS, *_EVEN_STRENGTHS})

_FEW = 30
"""Up to so many misses (or hits), values seldom tell small shares of other labels from none."""

_LEAST_DRAWS, _MOST_LABELS = 50, 4_000_000
"""Labels are slow to draw, so there are fewer draws where there are many rows."""

_LEAST_BLURRED, _MOST_CURVES = 100, 200_000
"""Curves are slow to blur, so fewer draws are where there are many classes: 200 of 1,000."""

_UNKNOWN = DistanceEstimate(math.nan, Interval(math.nan, math.nan))

Summary = Callable[[Floats], Floats]


def _mean(errors: Floats) -> Floats:
    return np.asarray(errors.mean(axis=-1))


def _max(errors: Floats) -> Floats:
    return np.asarray(errors.max(axis=-1))


def _sum(errors: Floats) -> Floats:
    return np.asarray(errors.sum(axis=-1))


_BINNED: dict[Kind, dict[str, Summary]] = {
    "equal_width": {"classwise_ece": _mean, "max_classwise_ece": _max},
    "equal_mass": {"classwise_ece_equal_mass": _mean},
    "cumulative": {"classwise_ks": _mean, "max_classwise_ks": _max},
    "top_label": {"top_label_ece": _sum},
}
_BLURRED: dict[str, Summary] = {"kde_classwise_ece": _mean}
_WHOLE = "skce"
SUMMARIES = {key: summary for kind in _BINNED.values() for key, summary in kind.items()} | _BLURRED
"""What is made of the errors of all classes, by the key of the measure."""


def evaluate_classes(
    rng: np.random.Generator, side: SideRows, other: Floats | None, plan: Plan
) -> dict[str, Uncertainty]:
    """Evaluate the class-wise errors of one side.

    ``rng``: where the draws come from. ``side``: what is evaluated; without probabilities, there is
    nothing to evaluate. ``other``: probabilities that might be the true ones: those after
    calibration evaluate those before. Without them, or where they are the same, softened ones;
    shape (n_samples, n_classes). ``plan``: which measures, bins, draws and level.

    For those of `SUMMARIES` that are in the plan, and for the SKCE.

    As `calibcore.inference.inversion.invert`: labels are drawn from mixtures of both tables, whose
    true error is known. Where the value observed would be usual even if the others were true, they
    are moved on in the same direction, log q to log p + times (log q - log p), until it is not; at
    last, as nothing moves a probability of 0 so, all classes are as probable in the others.
    Where few or no misses are seen, values hardly differ between such truths, and no interval ends
    before what the number of top-1 hits leaves possible.
    KS errors of classes are read at the ends of fine bins (see `ClassBins`), drawn and observed
    alike. The SKCE has its reference alone, from its own test, and so has what is blurred by a
    kernel: where most probabilities are near 0, the blur parts score and frequency by more than
    miscalibration does, and may do so less where calibration is worse, so its value does not tell
    how far from true the probabilities are.
    """
    probabilities, labels = side.probabilities, side.labels
    wanted = {measure.key for measure in plan.measures} & {*SUMMARIES, _WHOLE}
    if probabilities is None or labels is None or not wanted:
        return {}
    if side.event.weights is not None or side.event.clusters is not None:
        return _values_alone(side, probabilities, labels, plan, wanted)
    evaluated: dict[str, Uncertainty] = {}
    if _WHOLE in wanted:
        evaluated[_WHOLE] = _evaluate_whole(probabilities, labels)
    if wanted == {_WHOLE}:
        return evaluated
    if other is not None and np.array_equal(other, probabilities):
        other = None
    n_draws = min(plan.n_resamples, max(_LEAST_DRAWS, _MOST_LABELS // len(labels)))
    drawn = _Labels.drawn(rng, labels, probabilities, other, n_draws)
    searches = []
    for kind, summaries in _BINNED.items():
        if makes := {key: make for key, make in summaries.items() if key in wanted}:
            bins = ClassBins.of(probabilities, plan.options.n_bins, kind)
            searches.append(_Search.of(drawn, bins, makes, plan.level))
    _search(drawn, searches)
    for one in searches:
        cumulative = one.bins.kind == "cumulative"
        exact = classwise_ks_errors(probabilities, labels) if cumulative else None
        evaluated |= one.uncertainties(drawn, exact, plan.level)
    if not wanted.isdisjoint(_BLURRED):
        evaluated |= _evaluate_blurred(drawn)
    return {key: evaluated[key] for key in wanted}


def _values_alone(
    side: SideRows, probabilities: Floats, labels: Labels, plan: Plan, wanted: set[str]
) -> dict[str, Uncertainty]:
    """Evaluate weighted rows, or clusters: labels drawn one by one say nothing of how they vary."""
    unknown = Reference(math.nan, math.nan, math.nan)
    by_key = {}
    for one in plan.measures:
        if one.key in wanted and isinstance(one, ClassMeasure):
            value = one.after(
                probabilities, probabilities, labels, plan.options, side.event.weights
            )
            by_key[one.key] = Uncertainty(value, _UNKNOWN.interval, unknown, _UNKNOWN)
    return by_key


@result_class
class _Labels:
    """Labels as they are, drawn from the probabilities, and drawn from others.

    Those whose ``order``, a place among `_EVERY_STRENGTH`, is low are the first to be taken from
    the others.
    """

    rng: np.random.Generator
    probabilities: Floats
    other: Floats | None
    observed: Labels
    calibrated: AnyLabels
    order: NDArray[np.uint8]

    @classmethod
    def drawn(
        cls,
        rng: np.random.Generator,
        observed: Labels,
        probabilities: Floats,
        other: Floats | None,
        n_draws: int,
    ) -> "_Labels":
        calibrated = drawn_labels(rng, probabilities, n_draws)
        order = np.empty((min(N_DRAWS, n_draws), len(observed)), dtype=np.uint8)
        ends = np.array(_EVERY_STRENGTH, dtype=np.float32)
        for of_draw in order:
            share = rng.random(len(observed), dtype=np.float32)
            of_draw[:] = np.searchsorted(ends, share, side="right")
        return cls(rng, probabilities, other, observed, calibrated, order)

    def mixed(self) -> Iterator[tuple[Others, Iterator[tuple[float, AnyLabels]]]]:
        """Return others, further and further away, and labels partly drawn from them."""
        mixed = np.empty_like(self.calibrated[: len(self.order)])
        for times in (1, *_FURTHER, _EVEN):
            table = Others(self.probabilities, self.other, times)
            yield table, self._shares(table, mixed)

    def _shares(self, table: Others, mixed: AnyLabels) -> Iterator[tuple[float, AnyLabels]]:
        others = drawn_labels(self.rng, table, len(mixed))
        mixed[:] = self.calibrated[: len(mixed)]
        strengths = {1: _STRENGTHS, _EVEN: _EVEN_STRENGTHS}.get(table.times, _FURTHER_STRENGTHS)
        for strength in strengths:  # more and more in the same memory, draw by draw
            most = _EVERY_STRENGTH.index(strength)
            for labels, of_draw, other in zip(mixed, self.order, others, strict=True):
                np.copyto(labels, other, where=of_draw <= most)
            yield strength, mixed


@result_class
class _Search:
    """Errors of one kind, and what is usual of them at each distance from the probabilities."""

    bins: ClassBins
    makes: Mapping[str, Summary]
    """What is made of the errors, by the key of the measure."""
    values: Mapping[str, float]
    null: Floats
    """Errors of labels drawn from the probabilities; shape (n_draws, n_classes)."""
    usual: Mapping[str, Usual]

    @classmethod
    def of(
        cls, drawn: _Labels, bins: ClassBins, makes: Mapping[str, Summary], level: float
    ) -> "_Search":
        observed, null = bins.errors(drawn.observed[np.newaxis]), bins.errors(drawn.calibrated)
        values = {key: float(make(observed)[0]) for key, make in makes.items()}
        usual = {key: Usual.beginning(make(null), level) for key, make in makes.items()}
        return cls(bins, makes, values, null, usual)

    def add(self, labels: AnyLabels, true: Floats, keys: Sequence[str]) -> None:
        """Add what labels show where the errors truly are so large."""
        errors = self.bins.errors(labels)
        for key in keys:
            make = self.makes[key]
            self.usual[key].add(float(make(true)), make(errors))

    def uncertainties(
        self, drawn: _Labels, exact: Floats | None, level: float
    ) -> dict[str, Uncertainty]:
        """Return what is known of each; ``exact`` errors are given where the bins' differ."""
        allowed = _allowed_errors(drawn, self.bins.distances, level)
        evaluated = {}
        for key, make in self.makes.items():
            value = self.values[key] if exact is None else float(make(exact))
            estimate = self.usual[key].estimate(self.values[key])
            estimate = estimate.reaching(float(make(allowed).max()))
            known = reference(make(self.null), value, 0.0, self.values[key])
            evaluated[key] = Uncertainty(value, estimate.interval, known, estimate)
        return evaluated


def _search(drawn: _Labels, searches: Sequence[_Search]) -> None:
    """Go further and further away, until the values observed are usual no more."""
    going = [(one, [*one.makes]) for one in searches]
    for table, shares in drawn.mixed():
        if not going:
            return
        furthest = [one.bins.distances(table) for one, _ in going]
        for strength, labels in shares:
            for (one, keys), most in zip(going, furthest, strict=True):
                one.add(labels, strength * most, keys)
        rest = [
            (one, [key for key in keys if not one.usual[key].passes(one.values[key])])
            for one, keys in going
        ]
        going = [(one, keys) for one, keys in rest if keys]


def _allowed_errors(
    drawn: _Labels, distances_of: Callable[[Floats], Floats], level: float
) -> Floats:
    """Return each class's error where as many labels are from others as the top-1 hits allow.

    The others are those drawn from, up to the least share drawn; even ones; and certain ones, from
    which none are drawn. Where misses and hits are many, the draws tell more.
    """
    probabilities = drawn.probabilities
    n_rows, n_classes = probabilities.shape
    first = probabilities.argmax(axis=1)[:, np.newaxis]
    scores = np.take_along_axis(probabilities, first, axis=1)[:, 0]
    hits = float(np.count_nonzero(first[:, 0] == drawn.observed))
    if min(hits, n_rows - hits) > _FEW:
        return np.zeros((1, n_classes))
    even = np.broadcast_to(1 / n_classes, probabilities.shape)
    certain = np.zeros_like(probabilities)
    np.put_along_axis(certain, first, 1.0, axis=1)
    errors, least_drawn = [], _STRENGTHS[0]
    other = Others(probabilities, drawn.other, 1)[:]
    for table, most in ((other, least_drawn), (even, least_drawn), (certain, 1.0)):
        true = np.take_along_axis(table, first, axis=1)[:, 0]
        share = min(_allowed_share(scores, true, hits, level), most)
        errors.append(share * distances_of(table))
    return np.array(errors)


def _allowed_share(scores: Floats, true: Floats, hits: float, level: float) -> float:
    """Find how many of the rows may have another true probability, by the number of hits."""
    if true.sum() > scores.sum():
        scores, true, hits = 1 - scores, 1 - true, scores.size - hits
    return largest_allowed(
        lambda share: scores + share * (true - scores), np.ones(scores.size), hits, level
    )


def _evaluate_whole(probabilities: Floats, labels: Labels) -> Uncertainty:
    """Compare the SKCE with perfect calibration, of which its test has the law."""
    test = skce_test(probabilities, labels)
    lower, upper, *central = test.null_quantiles(0.05, 0.95, 0.025, 0.975)
    known = Reference(0.0, upper, test.p_value, lower, (central[0], central[1]))
    return Uncertainty(test.value, _UNKNOWN.interval, known, _UNKNOWN)


def _evaluate_blurred(drawn: _Labels) -> dict[str, Uncertainty]:
    """Compare the measure with perfect calibration; no interval of it would say what is true."""
    probabilities, labels = drawn.probabilities, drawn.observed
    kernels = ClassKernels(probabilities)
    n_draws = max(_LEAST_BLURRED, _MOST_CURVES // probabilities.shape[1])
    null = kernels.errors(drawn.calibrated[:n_draws])
    seen, value = kernels.errors(labels[np.newaxis]), kde_classwise_ece(probabilities, labels)
    evaluated = {}
    for key, make in _BLURRED.items():
        known = reference(make(null), float(make(seen)[0]), 0.0)
        evaluated[key] = Uncertainty(value, _UNKNOWN.interval, known, _UNKNOWN)
    return evaluated
