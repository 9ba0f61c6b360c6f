"""Subgroups of the rows, each evaluated by itself: where a model is miscalibrated."""

import math
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.cumulative import curves_of
from calibcore.errors import CalibrationInputError
from calibcore.inference.groups import LEAST_CLUSTERS, GroupGaps, Screen, clusters_in, stays_off
from calibcore.inference.multiple_testing import gap_p_values, holm
from calibcore.reliability import binomial_interval
from calibcore.results import result_class
from calibcore.tally import Tally, tally
from calibcore.validation import Floats, Hits, Labels
from calibcore.weights import (
    RowDesign,
    SampleWeight,
    design_of,
    frequency_weights,
    sampling_weights,
)

LEAST_ROWS = 30
"""A subgroup with fewer rows is shown, but not evaluated."""

Places = NDArray[np.intp]
RowOrder = Literal["errors", "scores", "file"]


@result_class
class SubgroupShares:
    """A share of the rows of each subgroup, with its interval."""

    share: Floats
    """NaN in a subgroup without rows; shape (n_subgroups,)."""
    low: Floats
    high: Floats
    """Ends of its Wilson interval of 95%; NaN in a subgroup without rows; shape (n_subgroups,)."""


@result_class
class SubgroupScreen(Screen):
    """Every subgroup of one set by itself, and whether chance explains how far it is off."""

    rows: Labels
    """Rows of each subgroup; shape (n_subgroups,)."""
    mean_score: Floats
    """Mean score; NaN in a subgroup without rows, as all that follows; shape (n_subgroups,)."""
    frequency: SubgroupShares
    """Observed frequency of the event."""
    ks_error: Floats
    """Largest absolute gap of the subgroup's own running totals, in probability units; shape
    (n_subgroups,).
    """
    p_value: Floats
    """Of the KS error, in the limit of many rows; NaN where the subgroup is not evaluated; shape
    (n_subgroups,).
    """
    adjusted: Floats
    """Careful with few rows, and adjusted by `calibcore.inference.holm` for the subgroups that are
    evaluated; NaN elsewhere; shape (n_subgroups,).
    """
    least: int
    """A subgroup with fewer rows is not evaluated."""
    remains: NDArray[np.bool_]
    """Which subgroups were off before calibration and keep most of that mean gap, as of `since`;
    shape (n_subgroups,).
    """

    @property
    def n_subgroups(self) -> int:
        """Number of subgroups, those without rows among them."""
        return self.rows.size

    @property
    def mean_gap(self) -> Floats:
        """Mean score less observed frequency: above 0 where scores are too high."""
        return self.mean_score - self.frequency.share

    @property
    def gap_low(self) -> Floats:
        """Lower end of the interval of the mean gap, the scores as they are.

        Wilson's interval of the frequency, which is a little wide for rows of different scores.
        """
        return self.mean_score - self.frequency.high

    @property
    def gap_high(self) -> Floats:
        """Upper end of the interval of the mean gap."""
        return self.mean_score - self.frequency.low

    @property
    def widest(self) -> int | None:
        """The one with the largest mean gap, of those with enough rows; None where none has."""
        enough = self.rows >= max(self.least, 1)
        gaps = np.where(enough, np.abs(np.nan_to_num(self.mean_gap)), -1.0)
        return int(gaps.argmax()) if enough.any() else None

    @cached_property
    def evaluated(self) -> NDArray[np.bool_]:
        """Which subgroups are evaluated."""
        return ~np.isnan(self.adjusted)

    def since(self, before: "SubgroupScreen") -> "SubgroupScreen":
        """Return the same, with those that `before` calibration were off and still are."""
        left = stays_off(before.mean_gap, self.mean_gap, before.ks_error)
        return replace(self, remains=before.off() & left)

    def order(self, level: float = 0.05) -> Places:
        """List the subgroups that have rows, worst first.

        Notes
        -----
        Those that are flagged, then those with enough rows, then the small ones; of each, the
        largest `distance` first. So a small subgroup, far off by chance alone, cannot head the
        list.
        """
        kind = np.where(self.off(level), 0, np.where(self.rows >= self.least, 1, 2))
        places = np.lexsort((-np.nan_to_num(self.distance), kind))
        return places[self.rows[places] > 0]

    @property
    def distance(self) -> Floats:
        """What subgroups are ordered by: the KS error."""
        return self.ks_error


def screen_subgroups(  # noqa: PLR0913 - each has a default that serves
    scores: ArrayLike,
    hits: ArrayLike,
    places: ArrayLike,
    *,
    n_subgroups: int,
    sample_weight: SampleWeight = None,
    clusters: object | None = None,
    least: int = LEAST_ROWS,
    evaluate: bool = True,
) -> SubgroupScreen:
    """Test the calibration of every subgroup of rows, adjusted for the number of tests.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
    places : array_like of int, shape (n_samples,)
        Subgroup of each row, from 0.
    n_subgroups : int
        Number of subgroups; some may have no rows.
    sample_weight, clusters : array_like, shape (n_samples,), optional
        As for `calibcore.cumulative.cumulative_curves`.
    least : int, default 30
        Subgroups with fewer rows are not evaluated, nor are those with rows of fewer than five
        clusters.
    evaluate : bool, default True
        Whether any is. If the subgroups were made with the truth in hand, such as the true class, a
        perfectly calibrated model looks miscalibrated in them too, and no p-value means anything.

    Returns
    -------
    SubgroupScreen

    Raises
    ------
    CalibrationInputError
        Scores or hits out of range; a subgroup that is not one of ``n_subgroups``, or not one a
        row.

    Notes
    -----
    Subgroup k is `calibcore.cumulative.cumulative_curves` of its rows. P-values as in
    `calibcore.inference.screen_classes`: that of its curves, and adjusted the larger of it and a
    tail corrected for skew. Of clusters, the larger of it and what gaps give that are drawn as the
    clusters' own vary. The subgroups are as given before any label was seen.

    References
    ----------
    Gupta et al., ICLR 2021, eqs. 9-12; Holm 1979.

    Examples
    --------
    >>> hits, places = [1] * 40 + [0] * 40, [0] * 40 + [1] * 40
    >>> screen = screen_subgroups([0.9] * 80, hits, places, n_subgroups=3)
    >>> screen.mean_gap.round(2).tolist(), screen.off().tolist()
    ([-0.1, 0.9, nan], [False, True, False])
    """
    checked_scores, checked_hits = validation.scores_and_hits(
        scores, hits, places=places, sample_weight=sample_weight, clusters=clusters
    )
    design = design_of(sample_weight, clusters, checked_scores.size, 0)
    checked_scores, checked_hits = design.of(checked_scores), design.of(checked_hits)
    least = validation.whole_number(least, "least", least=0)
    members = _members(design.of(places), checked_scores.size, n_subgroups)
    rows = _rows_in(members, design).astype(np.int64)
    enough = rows >= max(least, 1)
    if design.clusters is not None:
        enough &= clusters_in(design.of(places), design.clusters, n_subgroups) >= LEAST_CLUSTERS
    mean_score, gap, variance, skew, of_units = np.full((5, n_subgroups), np.nan)
    for k, chosen in enumerate(members):
        if chosen.size == 0:
            continue
        counted = _tally_of(checked_scores, checked_hits, design, chosen, by_unit=bool(enough[k]))
        curves = curves_of(counted)
        mean_score[k], gap[k] = curves.cum_score[-1], curves.ks_error
        variance[k], skew[k] = curves.null_cumulants
        of_units[k] = curves.ks_p_value if design.clusters is not None and enough[k] else 0.0
    p_value, adjusted = np.full((2, n_subgroups), np.nan)
    if evaluate and enough.any():
        plain, careful = gap_p_values(gap[enough], rows[enough], variance[enough], skew[enough])
        p_value[enough] = np.maximum(plain, of_units[enough])
        adjusted[enough] = holm(np.maximum(careful, of_units[enough]))
    shares = _shares_of(checked_hits, members, design)
    remains = np.zeros(n_subgroups, dtype=np.bool_)
    return SubgroupScreen(rows, mean_score, shares, gap, p_value, adjusted, least, remains)


def _tally_of(
    scores: Floats, flags: NDArray[Any], design: RowDesign, chosen: Places, *, by_unit: bool = True
) -> Tally:
    """Count some of the rows by score, with what they stand for."""
    weights = None if design.weights is None else sampling_weights(design.weights[chosen])
    if design.times is not None:
        weights = frequency_weights(design.times[chosen])
    clusters = None
    if design.clusters is not None and by_unit:
        clusters = np.unique(design.clusters[chosen], return_inverse=True)[1]
    return tally(scores[chosen], flags[chosen], sample_weight=weights, clusters=clusters)


def subgroup_shares(
    flags: ArrayLike,
    places: ArrayLike,
    *,
    n_subgroups: int,
    sample_weight: SampleWeight = None,
    clusters: object | None = None,
) -> SubgroupShares:
    """Return the share of the rows of each subgroup that are flagged.

    Parameters
    ----------
    flags : array_like of {0, 1}, shape (n_samples,)
        Such as whether the row was classified rightly.
    places, n_subgroups, sample_weight, clusters
        As for `screen_subgroups`.

    Returns
    -------
    SubgroupShares
        The interval, of weighted rows and of clusters, is of as many rows drawn one by one as would
        tell the share as well (`calibcore.reliability.binned_reliability`).

    Raises
    ------
    CalibrationInputError
        Flags other than 0 and 1, a subgroup that is not one of ``n_subgroups``, or not one a row.

    Examples
    --------
    >>> subgroup_shares([1, 1, 0, 1], [0, 0, 1, 1], n_subgroups=2).share.tolist()
    [1.0, 0.5]
    """
    validation.refuse_reordered(
        flags=flags, places=places, sample_weight=sample_weight, clusters=clusters
    )
    flagged = validation.real_array(flags, "flags")
    if flagged.ndim != 1 or not np.isin(flagged, (0, 1)).all():
        raise CalibrationInputError("flags", "other values than 0 and 1", "0 or 1 for each row")
    design = design_of(sample_weight, clusters, flagged.size, 0)
    flagged = design.of(flagged)
    return _shares_of(flagged, _members(design.of(places), flagged.size, n_subgroups), design)


def _shares_of(flagged: NDArray[Any], members: list[Places], design: RowDesign) -> SubgroupShares:
    rows, times = _rows_in(members, design), design.times
    flagged_rows = np.array(
        [
            flagged[chosen].sum() if times is None else times[chosen] @ flagged[chosen]
            for chosen in members
        ],
        dtype=np.float64,
    )
    if design.tells:
        alike = np.zeros(flagged.size)
        for k, chosen in enumerate(members):
            if chosen.size:
                counted = _tally_of(alike, flagged, design, chosen)
                rows[k] = counted.rows_alike
                flagged_rows[k] = rows[k] * float(counted.hits[0] / counted.counts[0])
    low, high = binomial_interval(flagged_rows, rows)
    with np.errstate(invalid="ignore"):  # a subgroup without rows has no share: 0 / 0 is NaN
        return SubgroupShares(flagged_rows / rows, low, high)


def _rows_in(members: list[Places], design: RowDesign) -> Floats:
    """Count the rows of each subgroup."""
    times = design.times
    sizes = [chosen.size if times is None else times[chosen].sum() for chosen in members]
    return np.array(sizes, dtype=np.float64)


def _members(places: ArrayLike, n_samples: int, n_subgroups: int) -> list[Places]:
    """Return the rows of each subgroup, in their order."""
    n_subgroups = validation.whole_number(n_subgroups, "n_subgroups", least=1)
    where = validation.real_array(places, "places")
    if where.shape != (n_samples,) or where.size == 0:
        wanted = f"one for each of {n_samples:,} rows"
        raise CalibrationInputError("places", f"shape {where.shape}", wanted)
    wanted = f"whole numbers from 0 to {n_subgroups - 1}"
    if where.dtype.kind not in "biu":
        raise CalibrationInputError("places", f"values of type {where.dtype}", wanted)
    if not 0 <= where.min() <= where.max() < n_subgroups:
        raise CalibrationInputError("places", f"{where.min()} to {where.max()}", wanted)
    order = np.argsort(where, kind="stable")
    return np.split(order, np.searchsorted(where[order], np.arange(1, n_subgroups)))


def rows_in_range(
    scores: Floats,
    hits: Hits,
    *,
    low: float = 0.0,
    high: float = 1.0,
    above: bool = False,
    order: RowOrder = "errors",
) -> Places:
    """List the rows of a range of scores, hits and misses alike.

    Parameters
    ----------
    scores, hits : ndarray, shape (n_samples,)
        Of an event.
    low, high : float
        Lowest and highest score listed.
    above : bool, default False
        Whether ``low`` itself is left out, as from a bin.
    order : {"errors", "scores", "file"}, default "errors"
        First the rows for which the event did not happen, highest score first, then those for
        which it did, likewise; or all by score, the highest first; or as they stand. Of equal
        ones, the earlier row is first.

    Returns
    -------
    ndarray of int
        Places of the rows.

    Examples
    --------
    >>> rows_in_range(np.array([0.9, 0.8, 0.7, 0.2]), np.array([1, 0, 0, 0]), low=0.5).tolist()
    [1, 2, 0]
    """
    inside = (scores > low) if above else (scores >= low)
    places = np.flatnonzero(inside & (scores <= high))
    if order == "file":
        return places
    places = places[np.argsort(-scores[places], kind="stable")]
    if order == "scores":
        return places
    missed = hits[places] == 0
    return np.concatenate([places[missed], places[~missed]])


# Subgroups of one grouping, tested jointly with the groups of all other groupings ----------------


@result_class
class JointScreen(SubgroupScreen):
    """Subgroups whose test is of the mean gap, adjusted for all groups of all groupings."""

    low: Floats
    high: Floats
    """Ends of the interval of the mean gap. Those of the subgroups that are tested hold at once
    with about 95%; of the others, each by itself; shape (n_subgroups,).
    """
    differs: NDArray[np.bool_]
    """Whether a subgroup is flagged and its gap larger than that of other rows with such scores;
    shape (n_subgroups,).
    """
    n_tests: int
    """Groups that the p-values are adjusted for, those of other groupings among them."""

    @property
    def gap_low(self) -> Floats:
        """Lower end of the interval of the mean gap."""
        return self.low

    @property
    def gap_high(self) -> Floats:
        """Upper end of the interval of the mean gap."""
        return self.high

    @property
    def distance(self) -> Floats:
        """What subgroups are ordered by: the size of the mean gap, as of `GroupGaps.worst`."""
        return np.abs(self.mean_gap)


def joint_screen(screen: SubgroupScreen, gaps: GroupGaps, grouping: int) -> JointScreen:
    """Put the joint test in place of the test of each subgroup by itself.

    ``screen``: every subgroup by itself. ``gaps``: all groups of all groupings of the same rows.
    ``grouping``: which of the groupings the subgroups are.

    Subgroups that are not tested jointly, as they are small or hold all rows, are not tested.

    Examples
    --------
    >>> from calibcore.inference import group_gaps
    >>> from calibcore.subgroups import screen_subgroups
    >>> scores, hits, places = [0.5] * 80, [0] * 40 + [1] * 40, [0] * 40 + [1] * 40
    >>> alone = screen_subgroups(scores, hits, places, n_subgroups=2)
    >>> screen = joint_screen(alone, group_gaps(scores, hits, [places]), 0)
    >>> screen.off().tolist(), screen.differs.tolist(), screen.n_tests
    ([True, True], [True, True], 2)
    """
    chosen = gaps.grouping == grouping
    place = gaps.place[chosen]
    low, high = screen.gap_low.copy(), screen.gap_high.copy()
    low[place], high[place] = gaps.low[chosen], gaps.high[chosen]
    p_value, adjusted = np.full((2, screen.n_subgroups), np.nan)
    p_value[place] = adjusted[place] = gaps.adjusted[chosen]
    differs = np.zeros(screen.n_subgroups, dtype=np.bool_)
    differs[place] = gaps.own()[chosen]
    values = {field.name: getattr(screen, field.name) for field in fields(SubgroupScreen)}
    remains = np.zeros(screen.n_subgroups, dtype=np.bool_)
    remains[place] = gaps.remains[chosen]
    values |= {"p_value": p_value, "adjusted": adjusted, "remains": remains}
    return JointScreen(**values, low=low, high=high, differs=differs, n_tests=gaps.n_groups)


# Groups that follow from the outcome ------------------------------------------------------------

_FEWEST_SETTLED = 20
"""Rows of a group below which nothing is said of it."""

_NO_CHANCE = 1e-9
"""Probability of outcomes that are all the same, below which they are no chance."""

_LIKELY = 0.8
"""Mean probability of an outcome from which on a group may well have no other one."""


def settled_group(
    labels: Labels, places: Places, score_of: Callable[[int], Floats], *, in_time: bool = False
) -> int | None:
    """Find the group of which it is least by chance that all rows have the outcome they have.

    A group that is made of the outcome, such as that of rows with a loss, tells nothing of scores.

    ``labels``: class of each row, from 0; shape (n_samples,). ``places``: group of each row, from
    0; shape (n_samples,). ``score_of``: of a class, its score in each row, in [0, 1]; shape
    (n_samples,). ``in_time``: whether groups are periods, one of which may have no outcomes yet.

    None where chance may be why, or no more than what kind of rows a group has: the probability is
    at least 1e-9, or rows with such scores have that outcome in 80% or more, unless each group of
    20 rows or more has one outcome, as a final score has.

    Notes
    -----
    Probabilities are the isotonic regression of the class on its score in these rows, so that a
    model that is off everywhere makes no group suspicious; it is above 0 at each row of the class.

    Examples
    --------
    >>> labels, loss = np.array([0, 1] * 100), np.array([0, 1] * 50 + [0, 0] * 50)
    >>> settled_group(labels, loss, lambda k: np.full(200, 0.5))
    1
    """
    sizes = np.bincount(places)
    lowest, highest = np.full(sizes.size, labels.max()), np.full(sizes.size, labels.min())
    np.minimum.at(lowest, places, labels)
    np.maximum.at(highest, places, labels)
    many = sizes >= _FEWEST_SETTLED
    pure = many & (lowest == highest)
    decides = np.array_equal(pure, many) and bool(2 * sizes[many].sum() > places.size)
    if in_time and not decides:
        return None

    def total(values: Floats) -> Floats:
        return np.bincount(places, values, sizes.size).astype(np.float64)

    chances = np.full(sizes.size, np.inf)
    for k in np.unique(lowest[pure]).tolist():
        scores = score_of(k)
        frequency = _rising(scores, labels == k)
        with np.errstate(divide="ignore"):
            chance = total(np.log(frequency))
        likely = np.maximum(total(scores), total(frequency)) >= _LIKELY * sizes
        own = pure & (lowest == k) & (decides | ~likely)
        chances[own] = chance[own]
    worst = int(chances.argmin())
    return worst if chances[worst] < math.log(_NO_CHANCE) else None


def _rising(scores: Floats, hits: NDArray[np.bool_]) -> Floats:
    """Return the isotonic regression of hits on the score, at each row."""
    from scipy.optimize import isotonic_regression  # noqa: PLC0415 - slow to import

    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    rates = np.bincount(place, hits) / counts
    return np.asarray(isotonic_regression(rates, weights=counts).x[place])
