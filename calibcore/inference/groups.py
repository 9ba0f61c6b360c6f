"""Sums over the groups of several groupings, with their covariance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.cumulative import expected_steps, rare_tail
from calibcore.errors import CalibrationInputError
from calibcore.inference.omnibus import N_DRAWS, recalibrated
from calibcore.results import result_class
from calibcore.validation import Floats, Hits, Labels
from calibcore.weights import RowDesign, SampleWeight, design_of

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class GroupMembership:
    """The groups of one grouping that are tested: their names, and each row's, -1 for none."""

    names: Places
    rows: Places
    of_row: Places


def groups_of(
    given: ArrayLike,
    n_rows: int,
    least: int,
    clusters: Labels | None = None,
    times: Floats | None = None,
) -> GroupMembership:
    """Choose the groups with enough rows, and enough clusters, but not one that holds all.

    ``times``: how many equal rows each is; shape (n_rows,).
    """
    where = validation.real_array(given, "groupings")
    if where.shape != (n_rows,) or where.dtype.kind not in "biu" or where.min() < 0:
        actual = f"shape {where.shape}, type {where.dtype}"
        wanted = f"a whole number from 0 for each of {n_rows:,} rows"
        raise CalibrationInputError("groupings", actual, wanted)
    counts = np.bincount(where, times).astype(np.intp)
    enough = counts >= max(least, 1)
    if clusters is not None:
        enough &= clusters_in(where, clusters, counts.size) >= LEAST_CLUSTERS
    chosen = np.flatnonzero(enough & (counts < counts.sum()))
    renamed = np.full(counts.size, -1)
    renamed[chosen] = np.arange(chosen.size)
    return GroupMembership(chosen, counts[chosen], renamed[where])


def clusters_in(places: ArrayLike, clusters: Labels, n_groups: int) -> Places:
    """Count the clusters of which each group has rows, shape (n_groups,).

    >>> clusters_in([0, 0, 1, 1], np.array([4, 5, 5, 5]), 3).tolist()
    [2, 1, 0]
    """
    pairs = np.unique(np.stack([np.asarray(places, dtype=np.int64), clusters]), axis=1)
    return np.bincount(pairs[0], minlength=n_groups)


class Sums:
    """Adds up over the rows of each group."""

    def __init__(
        self, groupings: list[GroupMembership], n_rows: int, times: Floats | None = None
    ) -> None:
        self.groupings, self.n_rows = groupings, n_rows
        self.times: Floats | float = 1.0 if times is None else times
        """How many equal rows each is."""
        self.ends = np.cumsum([0, *(one.names.size for one in groupings)]).tolist()

    def of(self, values: Floats) -> Floats:
        """Return the sum over each group, shape (n_groups,)."""
        sums = [
            np.bincount(counted, values, minlength=one.names.size + 1)[1:]
            for one, counted in zip(self.groupings, self._counted, strict=True)
        ]
        return np.concatenate(sums)

    @cached_property
    def _counted(self) -> list[Places]:
        """Each row's group in each grouping, counted from 1; 0 for none."""
        return [one.of_row + 1 for one in self.groupings]

    def covariance(self, variance: Floats) -> Floats:
        """Return the covariance of the groups' sums, shape (n_groups, n_groups)."""
        covariance = np.diag(self.of(variance))  # groups of one grouping share no rows
        for k, first in enumerate(self.groupings):
            for m, second in enumerate(self.groupings[:k]):
                shape = first.names.size + 1, second.names.size + 1
                both = self._counted[k] * shape[1]
                both += self._counted[m]
                sums = np.bincount(both, variance, minlength=shape[0] * shape[1])
                here, there = (slice(*self.ends[j : j + 2]) for j in (k, m))
                covariance[here, there] = sums.reshape(shape)[1:, 1:]
                covariance[there, here] = covariance[here, there].T
        return covariance

    @cached_property
    def members(self) -> Any:
        """Which rows are in each group: a sparse array of shape (n_groups, n_samples)."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - a tenth of a second to import

        order = [np.argsort(one.of_row, kind="stable")[-one.rows.sum() :] for one in self.groupings]
        rows = np.concatenate(order)
        ends = np.cumsum([0, *np.concatenate([one.rows for one in self.groupings])])
        shape = ends.size - 1, self.n_rows
        return csr_array((np.ones(rows.size, dtype=np.float32), rows, ends), shape=shape)

    def of_labels(self, labels: NDArray[np.floating]) -> Floats:
        """Return the hits of each group in several sets of labels, shape (n_groups, n_draws)."""
        if labels.shape[1] == 1:
            return self.of(labels[:, 0].astype(np.float64))[:, np.newaxis]
        return np.asarray(self.members @ labels, dtype=np.float64)  # exact up to 2 ** 24 rows


# Subgroups of several groupings, tested jointly: where scores are too high or too low ---------


LEAST_ROWS = 30
"""A group with fewer rows is not tested."""

LEAST_CLUSTERS = 5
"""A group with rows of fewer clusters is not tested: they do not show how clusters differ."""

_MOST_ROWS = 20_000
"""Up to so many rows labels are drawn; beyond, sums of groups are normal but for their skewness."""

_MOST_GROUPS = 2_000
"""Up to so many groups their overlap counts; beyond, p-values are a little too large (Sidak)."""

_MOST_PAIRS = 1 << 27
"""Likewise, of rows times pairs of groupings."""

_CELLS = 1 << 22
"""Labels drawn at a time."""

_SKEWED = 100.0
"""Steps of the gap (see `calibcore.cumulative.expected_steps`) below which a sum is not normal."""

_HALVINGS = 40
"""Steps of a bisection, and of the doublings that find its upper end."""

_NOTHING = 1e-9
"""Share of a group's variance below which the whole score explains all of it; also of a tie."""


class Screen:
    """Parts of the rows that are tested together: classes, subgroups, groups."""

    adjusted: Floats
    remains: NDArray[np.bool_]

    def off(self, level: float = 0.05) -> NDArray[np.bool_]:
        """Return which parts are off; with this probability any is, if the scores are true.

        One that `remains` is off whatever its p-value: what chance may explain is not gone.
        """
        return np.asarray((self.adjusted < level) | self.remains)


@result_class
class GroupGaps(Screen):
    """Every group of every grouping: its mean gap, and whether chance or the whole explains it."""

    grouping: Places
    place: Places
    """Which grouping, and which of its groups; those alone that are tested; shape (n_groups,)."""
    rows: Places
    """Rows of each; shape (n_groups,)."""
    mean_score: Floats
    frequency: Floats
    """Mean score, and observed frequency; shape (n_groups,)."""
    low: Floats
    high: Floats
    """Ends of the interval of the mean gap; all hold at once with about 95%; shape (n_groups,)."""
    adjusted: Floats
    """P-value of the mean gap, adjusted for looking at all groups; shape (n_groups,)."""
    beyond: Floats
    """The mean gap once the whole score is recalibrated; shape (n_groups,)."""
    beyond_adjusted: Floats
    """Its p-value, likewise adjusted; shape (n_groups,)."""
    n_draws: int
    seed: int
    """Of the labels drawn, and from where."""
    remains: NDArray[np.bool_]
    """Which groups were off before calibration and keep most of that gap, as of `since`; shape
    (n_groups,).
    """

    @property
    def n_groups(self) -> int:
        """Number of groups that are tested."""
        return self.rows.size

    @property
    def gap(self) -> Floats:
        """Mean score minus observed frequency: above 0 where scores are too high."""
        return self.mean_score - self.frequency

    @property
    def mean_size(self) -> float:
        """Mean size of the mean gap, groups weighted by their rows; NaN without groups."""
        return float(np.average(np.abs(self.gap), weights=self.rows)) if self.n_groups else math.nan

    def own(self, level: float = 0.05) -> NDArray[np.bool_]:
        """Return which groups are off by more than the whole score is, in the same direction."""
        same = self.beyond * self.gap > 0
        return self.off(level) & (self.beyond_adjusted < level) & same

    def since(self, before: "GroupGaps") -> "GroupGaps":
        """Return the same groups, with those that `before` calibration were off and still are."""
        return replace(self, remains=before.off() & most_left(before.gap, self.gap))

    def worst(self, level: float = 0.05) -> int | None:
        """Return the group that is off the most, of all groupings; None where none is off."""
        off = self.off(level)
        return int(np.argmax(np.where(off, np.abs(self.gap), -1.0))) if off.any() else None


def most_left(before: Floats, after: Floats) -> NDArray[np.bool_]:
    """Return which mean gaps keep more than half of their size, in the same direction.

    The outcomes are the same before and after, so how far a calibrator moves a mean gap is known
    without an error, and no test of the change is needed.

    >>> most_left(np.array([-0.06, -0.06, -0.06]), np.array([-0.057, -0.03, 0.04])).tolist()
    [True, False, False]
    """
    return np.asarray((before * after > 0) & (2 * np.abs(after) > np.abs(before)))


def stays_off(before: Floats, after: Floats, ks_error: Floats) -> NDArray[np.bool_]:
    """Return which mean gaps that explain the KS error before keep most of their size.

    Those whose errors were of both directions, with a mean gap below half the KS error, are left to
    the test.
    """
    return most_left(before, after) & (2 * np.abs(before) >= ks_error)


def _checked(
    scores: ArrayLike,
    hits: ArrayLike,
    groupings: Sequence[ArrayLike],
    sample_weight: SampleWeight,
    clusters: object | None,
) -> tuple[Floats, Hits]:
    """Check scores and hits, and of all columns the order of the rows."""
    others: dict[str, Any] = {f"groupings[{k}]": one for k, one in enumerate(groupings)}
    others |= {"sample_weight": sample_weight, "clusters": clusters}
    return validation.scores_and_hits(scores, hits, **others)


def group_gaps(  # noqa: PLR0913 - each has a default that serves
    scores: ArrayLike,
    hits: ArrayLike,
    groupings: Sequence[ArrayLike],
    *,
    sample_weight: SampleWeight = None,
    clusters: object | None = None,
    least: int = LEAST_ROWS,
    n_draws: int = N_DRAWS,
    seed: int = 0,
) -> GroupGaps:
    """Test the mean gap of every group of several groupings, jointly.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
    groupings : sequence of array_like of int, shape (n_samples,)
        Group of each row, from 0, in each of several groupings that were made without the hits.
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.
    clusters : array_like, shape (n_samples,), optional
        Whom each row belongs to, such as a patient.
    least : int, default 30
        Smaller groups are not tested, nor is one that holds all rows, or rows of fewer than five
        clusters.
    n_draws : int, default 1000
        Sets of labels drawn from the scores; at least 20.
    seed : int, default 0
        Of the draws.

    Returns
    -------
    GroupGaps

    Raises
    ------
    CalibrationInputError
        Scores or hits out of range; a grouping that is not a whole number from 0 for each row;
        fewer draws.

    Notes
    -----
    The sum of s - h over a group has the null variance sum s (1 - s). Its p-value by itself is
    normal, or, where steps are few, the larger of that and `calibcore.cumulative.rare_tail`, so
    that a group in which hits are rare does not outweigh all others. A group's adjusted p-value is
    the share of drawn sets of labels whose smallest p-value over all groups is as small: the same
    labels for all groups, so overlap costs nothing (single-step min-p, Westfall and Young 1993).
    With more than 20,000 rows the sums are drawn from their normal limit with their covariance,
    with very many groups or groupings as if independent, which is on the safe side.

    Intervals are Wilson's at the level that corresponds to the smallest p-value's 5% point, of as
    many rows as would have the group's null variance at its mean score; so one leaves out 0 where
    the adjusted p-value is below 5%.

    A fault of the whole score shows in many groups. ``beyond`` is the mean gap after a logistic
    recalibration of the whole: an offset, the score's log-odds, and polynomials of degree 0 to 5
    in the share of variance up to the score. They are smooth, so a group that is a range of scores
    keeps what is its own, and need not be monotone, as nobody will use the map. Sums are corrected
    for the fit (efficient score), and compared with what labels drawn from the recalibrated scores
    give.

    Of weighted rows and of clusters, sums are of weighted gaps, and their variance is how the sums
    of the units differ (clusters, or rows), by linearisation, not less than if rows were drawn one
    by one and scores were true; their p-value by itself is Student's of as many units as the group
    has rows of, less one. Adjusted p-values follow from normal sums with the covariance of the
    units'.

    References
    ----------
    Westfall, Young, *Resampling-Based Multiple Testing*, 1993; Hebert-Johnson et al., ICML 2018.

    Examples
    --------
    >>> scores, hits = [0.5] * 200, [0, 0, 0, 1] * 25 + [0, 1, 1, 1] * 25
    >>> gaps = group_gaps(scores, hits, [[0] * 100 + [1] * 100])
    >>> gaps.gap.tolist(), gaps.off().tolist(), gaps.worst()
    ([0.25, -0.25], [True, True], 0)
    """
    given, seen = _checked(scores, hits, groupings, sample_weight, clusters)
    design = design_of(sample_weight, clusters, given.size, _MOST_ROWS)
    given, seen = design.of(given), design.of(seen)
    least = validation.whole_number(least, "least", least=0)
    validation.whole_number(n_draws, "n_draws", least=20)
    shape = given.size, least, design.clusters, design.times
    tested = [groups_of(design.of(one), *shape) for one in groupings]
    grouping = np.repeat(np.arange(len(tested)), [one.names.size for one in tested])
    if not grouping.size:
        return _no_groups(n_draws, seed)
    place = np.concatenate([one.names for one in tested])
    rows = np.concatenate([one.rows for one in tested])
    draws = np.random.default_rng(seed), n_draws
    sums = Sums([one for one in tested if one.names.size], given.size, design.times)
    each = sums.times * (np.ones(given.size) if design.weights is None else design.weights)
    total = sums.of(each)
    mean_score, frequency = sums.of(each * given) / total, sums.of(each * seen) / total
    true, powers = recalibrated(given, seen, design)
    if design.tells:
        raw = _joint_of_units(sums, given, seen, None, draws, design)
        rest = _joint_of_units(sums, true, seen, powers, draws, design)
    else:
        raw = _joint(sums, given, seen, None, draws)
        rest = _joint(sums, true, seen, powers, draws)
    low, high = _interval(sums, raw, (mean_score, frequency, total), design)
    ends = mean_score - high, mean_score - low
    return GroupGaps(
        grouping,
        place,
        rows,
        mean_score,
        frequency,
        *ends,
        raw.adjusted,
        rest.sums / total,
        rest.adjusted,
        n_draws,
        seed,
        np.zeros(rows.size, dtype=np.bool_),
    )


@dataclass(frozen=True, eq=False)
class _Joint:
    """What labels drawn give for all groups: the sums seen, adjusted, and the critical value.

    ``reach`` is in null standard deviations, of each group, and ``spread`` their squares.
    """

    sums: Floats
    adjusted: Floats
    reach: Floats
    spread: Floats


def _joint(
    sums: Sums,
    true: Floats,
    hits: ArrayLike,
    nuisance: Floats | None,
    draws: tuple[np.random.Generator, int],
) -> _Joint:
    """Compare the sums of ``true - hits`` with those of labels drawn from ``true``.

    ``sums``: of the groups. ``true``: probabilities; shape (n_samples,). ``hits``: outcomes; shape
    (n_samples,). ``nuisance``: what was fitted to the hits, in log-odds; taken out of the sums;
    shape (n_samples, n_columns). ``draws``: where labels come from, and how many sets.
    """
    variance = sums.times * true * (1 - true)
    spread, skew = sums.of(variance), sums.of(variance * np.abs(1 - 2 * true))
    fixed, taken = spread == 0, None
    if nuisance is not None:
        weighted = nuisance * variance[:, np.newaxis]
        of_groups = np.stack([sums.of(column) for column in weighted.T], axis=1)
        taken = of_groups @ np.linalg.pinv(nuisance.T @ weighted, hermitian=True)
        left = spread - np.einsum("gk,gk->g", taken, of_groups)
        spread = np.where(left > 1e-6 * spread, left, 0.0)

    expected = sums.of(sums.times * true)

    def gaps(labels: NDArray[np.floating]) -> Floats:
        differences = expected[:, np.newaxis] - sums.of_labels(labels)
        if nuisance is not None and taken is not None:
            # Not by BLAS: its threads wait for each other where other processes are at work.
            along = np.einsum("ik,ij->kj", nuisance, labels)
            differences -= taken @ ((nuisance.T @ (sums.times * true))[:, np.newaxis] - along)
        return differences

    seen = gaps((sums.times * np.asarray(hits, dtype=np.float64))[:, np.newaxis])
    p_values = sum_p_values(seen, spread, skew, fixed)
    least = [p_values.min(axis=0)]
    rng, n_draws = draws
    if np.ndim(sums.times) or sums.n_rows > _MOST_ROWS:
        covariance = None
        if spread.size <= _MOST_GROUPS and sums.n_rows * len(sums.groupings) ** 2 <= _MOST_PAIRS:
            covariance = sums.covariance(variance)
            if taken is not None:
                covariance -= taken @ of_groups.T
        drawn = _leaning(_normal(rng, spread, covariance, n_draws), spread, _lean(sums, true))
        least.append(sum_p_values(drawn, spread, skew, fixed).min(axis=0))
    else:
        step = max(1, _CELLS // sums.n_rows)
        for start in range(0, n_draws, step):
            size = sums.n_rows, min(step, n_draws - start)
            labels = (rng.random(size) < true[:, np.newaxis]).astype(np.float32)
            least.append(sum_p_values(gaps(labels), spread, skew, fixed).min(axis=0))
    adjusted, critical = adjusted_by(p_values[:, 0], np.sort(np.concatenate(least)))
    return _Joint(seen[:, 0], adjusted, _reach(spread, skew, fixed, critical), spread)


def _joint_of_units(
    sums: Sums,
    true: Floats,
    hits: Hits,
    nuisance: Floats | None,
    draws: tuple[np.random.Generator, int],
    design: RowDesign,
) -> _Joint:
    """Compare the weighted sums of ``true - hits`` with how those of the units differ."""
    from scipy.special import erfc, stdtr, stdtrit  # noqa: PLC0415 - slow to import

    units = _Units(sums, true, hits, nuisance, design)
    spread, freedom = units.spread, np.maximum(units.counts - 1, 1)
    deviation = np.sqrt(spread)
    some = deviation > 0
    scaled = np.divide(np.abs(units.sums), deviation, out=np.zeros_like(deviation), where=some)
    alone = sum_p_values(units.sums[:, np.newaxis], units.null, units.skew, units.fixed)[:, 0]
    p_values = np.where(some, np.maximum(2 * stdtr(freedom, -scaled), alone), alone)
    rng, n_draws = draws
    varied = np.diagonal(units.products).copy()
    few = varied.size <= _MOST_GROUPS
    drawn = _normal(rng, varied, units.products if few else None, n_draws)
    unit = np.sqrt(np.where(varied > 0, varied, 1.0))[:, np.newaxis]
    least = erfc(np.abs(drawn / unit) / np.sqrt(2))
    least[~some] = 1.0
    least = np.sort(np.append(least.min(axis=0), p_values.min()))
    adjusted, critical = adjusted_by(p_values, least)
    reach = np.abs(stdtrit(freedom, min(max(critical, 1e-300), 1.0) / 2))
    in_null = _reach(units.null, units.skew, units.fixed, critical) * np.sqrt(units.null)
    reach = np.maximum(reach, np.divide(in_null, deviation, out=reach.copy(), where=some))
    return _Joint(units.sums, adjusted, reach, spread)


class _Units:
    """Weighted sums of the gaps of each group, and of each unit's part of them.

    Parameters are those of `_joint_of_units`; all that is kept has shape (n_groups,).
    """

    def __init__(
        self, sums: Sums, true: Floats, hits: Hits, nuisance: Floats | None, design: RowDesign
    ) -> None:
        from scipy.sparse import csr_array  # noqa: PLC0415 - a tenth of a second to import

        n_rows = sums.n_rows
        each = np.ones(n_rows) if design.weights is None else design.weights
        numbers = np.arange(n_rows) if design.clusters is None else design.clusters
        off, variance = each * (true - hits), true * (1 - true)
        square = each**2 * variance
        members = sums.members.astype(np.float64)
        shape = n_rows, int(numbers.max()) + 1
        by_unit = csr_array((off, (np.arange(n_rows), numbers)), shape=shape)
        parts = members @ by_unit
        touched = members @ csr_array((np.ones(n_rows), (np.arange(n_rows), numbers)), shape=shape)
        self.counts = np.diff(touched.indptr).astype(np.float64)
        """Units of which each group has rows."""
        self.sums, self.null = sums.of(off), sums.of(square)
        self.skew = sums.of(each * square * np.abs(1 - 2 * true))
        self.fixed = self.null == 0
        self.products = (parts @ parts.T).toarray()
        """Sums over the units of the products of two groups' parts; shape (n_groups, n_groups)."""
        left = np.ones(self.null.size, dtype=np.bool_)
        if nuisance is not None:
            left = self._take(sums, nuisance, (each * variance, square, off), parts, by_unit)
        own = np.diagonal(self.products) - self.sums**2 / self.counts
        own *= self.counts / np.maximum(self.counts - 1, 1)
        self.spread = np.where(left, np.maximum(own, self.null), 0.0)
        """Variance of each group's sum, not less than ``null``, that of rows drawn one by one."""

    def _take(
        self,
        sums: Sums,
        nuisance: Floats,
        of_rows: tuple[Floats, Floats, Floats],
        parts: Any,
        by_unit: Any,
    ) -> NDArray[np.bool_]:
        """Take out of the sums what was fitted to the hits; return where something is left."""
        variance, square, off = of_rows
        weighted, squared = nuisance * variance[:, np.newaxis], nuisance * square[:, np.newaxis]
        of_groups = np.stack([sums.of(column) for column in weighted.T], axis=1)
        taken = of_groups @ np.linalg.pinv(nuisance.T @ weighted, hermitian=True)
        along = by_unit.T @ nuisance
        self.sums = self.sums - taken @ (nuisance.T @ off)
        cross = (parts @ along) @ taken.T
        self.products = self.products - cross - cross.T + taken @ (along.T @ along) @ taken.T
        both = np.stack([sums.of(column) for column in squared.T], axis=1)
        null = self.null - 2 * np.einsum("gk,gk->g", taken, both)
        null += np.einsum("gk,kl,gl->g", taken, nuisance.T @ squared, taken)
        left = np.asarray(null > 1e-6 * self.null)
        self.null = np.where(left, null, 0.0)
        return left


def adjusted_by(p_values: Floats, least: Floats) -> tuple[Floats, float]:
    """Return adjusted p-values, and the p-value below which they are below 5%.

    ``least`` are the smallest p-values of the labels seen and of each set drawn, ascending.
    """
    as_small = np.searchsorted(least, p_values * (1 + _NOTHING), side="right")
    n_below = max(math.ceil(0.05 * least.size) - 1, 1)  # so many of them are below 5%
    return as_small / least.size, float(least[n_below - 1 : n_below + 1].mean())


def _normal(
    rng: np.random.Generator, spread: Floats, covariance: Floats | None, n_draws: int
) -> Floats:
    """Draw sums from their normal limit, shape (n_groups, n_draws); independent without one."""
    scale = np.sqrt(spread)
    drawn = rng.normal(size=(scale.size, n_draws))
    if covariance is not None:
        some = scale > 0  # of others rounding alone is left, and of very many rows that is much
        unit = np.where(some, scale, 1.0)
        alike = np.where(np.outer(some, some), covariance / np.outer(unit, unit), 0.0)
        alike[np.diag_indices_from(alike)] = 1 + 1e-6  # groups of one grouping add up to the whole
        drawn = _root_of(alike) @ drawn
    return np.asarray(scale[:, np.newaxis] * drawn)


def _root_of(alike: Floats) -> Floats:
    """Return a root of a matrix of correlations, also where rounding takes some beyond 1.

    >>> root = _root_of(np.array([[1.0, -1.02], [-1.01, 1.0]]))
    >>> (root @ root.T).round(2).tolist()
    [[1.01, -1.01], [-1.01, 1.01]]
    """
    try:
        return np.asarray(np.linalg.cholesky(alike), dtype=np.float64)
    except np.linalg.LinAlgError:  # what is fitted takes nearly all of few different scores
        values, vectors = np.linalg.eigh((alike + alike.T) / 2)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))


def _lean(sums: Sums, true: Floats) -> Floats:
    """Return the skewness of each group's sum of scores minus hits."""
    variance = sums.times * true * (1 - true)
    spread, third = sums.of(variance), -sums.of(variance * (1 - 2 * true))
    lean = np.divide(third, spread, out=np.zeros_like(spread), where=spread > 0)
    return np.asarray(np.clip(lean / np.sqrt(np.maximum(spread, 1e-9)), -1, 1))


def _leaning(drawn: Floats, spread: Floats, lean: Floats) -> Floats:
    """Give normal sums the skewness of their group, as rare events have (Cornish-Fisher)."""
    scale, lean = np.sqrt(spread)[:, np.newaxis], lean[:, np.newaxis]
    unit = np.divide(drawn, scale, out=np.zeros_like(drawn), where=scale > 0)
    more = lean * (unit**2 - 1) / 6 + lean**2 * (unit - unit**3) / 72
    return np.asarray(drawn + scale * more)


def sum_p_values(sums: Floats, spread: Floats, skew: Floats, fixed: NDArray[np.bool_]) -> Floats:
    """Return the p-value of each group's sum by itself, shape (n_groups, n_draws).

    Of a group that is ``fixed``, as all its scores are 0 or 1, any sum but 0 is impossible.
    """
    from scipy.special import erfc  # noqa: PLC0415 - a tenth of a second to import

    beyond, deviation = np.abs(sums), np.sqrt(2 * spread)[:, np.newaxis]
    some = deviation > 0
    scaled = np.divide(beyond, deviation, out=np.zeros_like(beyond), where=some)
    p_values = np.asarray(erfc(scaled))
    p_values[(beyond > _NOTHING) & fixed[:, np.newaxis]] = 0.0
    few = np.flatnonzero((expected_steps(spread, skew) < _SKEWED) & (spread > 0))
    if few.size:
        shape = few.size, beyond.shape[1]
        spreads, skews = (np.broadcast_to(of[few, np.newaxis], shape) for of in (spread, skew))
        p_values[few] = np.maximum(
            p_values[few], np.minimum(rare_tail(beyond[few], spreads, skews), 1)
        )
    return p_values


def _reach(spread: Floats, skew: Floats, fixed: NDArray[np.bool_], critical: float) -> Floats:
    """Return how many null deviations from 0 the sum of each group is significant.

    It is where the p-value falls to the critical one, by bisection: the normal number, or, where
    steps are few, more. So it does not depend on the sum that was seen.
    """
    from scipy.special import erfcinv  # noqa: PLC0415 - a tenth of a second to import

    critical = max(critical, 1e-300)
    normal = np.sqrt(2) * float(erfcinv(min(critical, 1)))
    deviation = np.sqrt(spread)
    low, high = normal * deviation, np.maximum(2 * normal, 1.0) * deviation

    def is_nearer(sums: Floats) -> NDArray[np.bool_]:
        p_values = sum_p_values(sums[:, np.newaxis], spread, skew, fixed)[:, 0]
        return np.asarray((p_values > critical) & (spread > 0))

    for _ in range(_HALVINGS):
        nearer = is_nearer(high)
        if not nearer.any():
            break
        high = np.where(nearer, 2 * high, high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        nearer = is_nearer(middle)
        low, high = np.where(nearer, middle, low), np.where(nearer, high, middle)
    reach = np.divide(high, deviation, out=np.full_like(high, normal), where=deviation > 0)
    return np.asarray(reach * (1 + _NOTHING))  # the sum that is critical ends its interval at 0


def _no_groups(n_draws: int, seed: int) -> GroupGaps:
    none, empty, no = np.empty(0), np.empty(0, dtype=np.intp), np.empty(0, dtype=np.bool_)
    return GroupGaps(
        empty, empty, empty, none, none, none, none, none, none, none, n_draws, seed, no
    )


def _interval(
    sums: Sums, joint: _Joint, means: tuple[Floats, Floats, Floats], design: RowDesign
) -> tuple[Floats, Floats]:
    """Return the interval of each group's true frequency.

    ``means``: mean score, frequency and sum of weights.
    """
    mean_score, frequency, total = means
    rows = np.concatenate([one.rows for one in sums.groupings]).astype(np.float64)
    alike, some = rows.copy(), joint.spread > 0
    np.divide(mean_score * (1 - mean_score) * total**2, joint.spread, out=alike, where=some)
    # Rows drawn one by one are as many as they are at least: scores that differ tell more.
    return _wilson(frequency, alike if design.tells else np.maximum(alike, rows), joint.reach)


def _wilson(frequency: Floats, rows: Floats, reach: Floats) -> tuple[Floats, Floats]:
    """Return an interval of the true frequency, of rows as many as have the null variance."""
    square = reach**2 / rows
    middle = (frequency + square / 2) / (1 + square)
    inside = np.maximum(square * frequency * (1 - frequency) + square**2 / 4, 0)
    half = np.sqrt(inside) / (1 + square)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
