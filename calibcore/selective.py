"""Acting on predictions of high score alone: how many are kept, and how many of them are right."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore.data import EventScores, is_designed
from calibcore.decisions import LEVEL, rows_alike, weights_in
from calibcore.errors import CalibrationInputError
from calibcore.inference.draws import tally_of
from calibcore.inference.groups import groups_of
from calibcore.inference.intervals import Interval, share_interval
from calibcore.inference.multiple_testing import holm
from calibcore.results import result_class
from calibcore.splits import Folds, checked_folds, refuse_cut_clusters
from calibcore.validation import Floats


@result_class
class RiskCoverage:
    """Accuracy among the rows with the highest scores, by how many are kept."""

    score: Floats
    """Distinct scores, descending: rows with at least this score are kept; shape (n_blocks,)."""
    coverage: Floats
    accuracy: Floats
    """Share of the rows that is kept, and share of right ones among these; shape (n_blocks,)."""
    aurc: float
    """Area under the curve of 1 - accuracy over the coverage: the mean over the rows, each at its
    own score.
    """

    def lowest_for(self, accuracy: float) -> int | None:
        """Find the lowest score above which the accuracy is reached; its place, None if nowhere."""
        reached = np.flatnonzero(self.accuracy >= accuracy)
        return int(reached[-1]) if reached.size else None


def risk_coverage(event: EventScores) -> RiskCoverage:
    """Compute the accuracy of the rows that are kept, by their share.

    ``event``: that a prediction is right, with its score.

    Rows of equal score are kept together, so their order does not matter.

    Source: Geifman and El-Yaniv, NeurIPS 2017.
    """
    counted = tally_of(event)
    counts, hits = counted.counts[::-1], counted.hits[::-1]
    rows, right = np.cumsum(counts), np.cumsum(hits)
    accuracy = right / rows
    aurc = float(counts @ (1 - accuracy)) / counted.n_samples
    return RiskCoverage(counted.scores[::-1], rows / counted.n_samples, accuracy, aurc)


@result_class
class OutOfFoldAccuracy:
    """What a threshold that was chosen for its accuracy holds on rows that had no part in it."""

    rows: float
    right: float
    n_samples: int
    """Rows that are kept, right ones among them, and rows in all; each row by the threshold that
    the other folds choose. Of rows with sampling weights, sums of these, of mean 1.
    """
    alike: float | None = None
    """As many rows drawn one by one would tell the accuracy of weighted rows, or of rows in
    clusters, as well.
    """

    @property
    def accuracy(self) -> Interval | None:
        """Interval of the accuracy (Wilson); None where nothing is kept."""
        if not self.rows:
            return None
        alike = self.rows if self.alike is None else self.alike
        return share_interval(self.right / self.rows * alike, alike, LEVEL)


def out_of_fold_accuracy(event: EventScores, wanted: float, fold: Folds) -> OutOfFoldAccuracy:
    """Choose a threshold for an accuracy on all folds but one, and keep the rows of that one by it.

    ``event``: that a prediction is right, with its score. ``wanted``: accuracy, in [0, 1].
    ``fold``: fold of each row, as of `calibcore.splits.deal_folds`; shape (n_samples,).

    Where no threshold reaches the accuracy nothing is kept.

    Raises `CalibrationInputError` for an accuracy or folds out of range.
    """
    if not 0 <= wanted <= 1:
        raise CalibrationInputError("wanted", str(wanted), "an accuracy from 0 to 1")
    folds = checked_folds(fold, event.n_samples)
    refuse_cut_clusters(folds, event)
    above = np.zeros(event.n_samples, dtype=np.bool_)
    for number in range(int(folds.max()) + 1):
        mine = folds == number
        seen = risk_coverage(event.rows(~mine))
        place = seen.lowest_for(wanted)
        if place is not None:
            above |= mine & (event.scores >= seen.score[place])
    if event.weights is None and event.clusters is None:
        return OutOfFoldAccuracy(int(above.sum()), int(event.hits[above].sum()), event.n_samples)
    weights = weights_in(event)
    each = np.ones(event.n_samples) if weights is None else weights
    sums = float(each[above].sum()), float(each[above] @ event.hits[above])
    return OutOfFoldAccuracy(*sums, event.n_samples, rows_alike(event, event.hits, above))


@result_class
class GroupAccuracies:
    """How many of the kept rows are right in each group of several groupings."""

    grouping: NDArray[np.intp]
    place: NDArray[np.intp]
    """Which grouping, and which of its groups: those that hold some of the kept rows, not all;
    shape (n_groups,).
    """
    rows: NDArray[np.intp] | Floats
    right: NDArray[np.intp] | Floats
    """Rows that are kept, and right ones among them, or sums of their sampling weights, of mean 1;
    shape (n_groups,).
    """
    adjusted: Floats
    """P-value of so few right ones if each were right with the accuracy that was wanted: the exact
    binomial tail, adjusted for all groups by Holm's method; shape (n_groups,). Of weighted rows and
    of clusters, the tail of ``alike`` rows, by the incomplete beta function.
    """
    alike: Floats | None = None
    """As many rows drawn one by one would tell each accuracy as well; shape (n_groups,)."""

    def below(self, level: float = 0.05) -> NDArray[np.intp]:
        """List the groups that are shown to be below the accuracy, the lowest accuracy first."""
        places = np.flatnonzero(self.adjusted < level)
        return places[np.argsort(self.right[places] / self.rows[places], kind="stable")]

    def accuracy(self, k: int) -> Interval:
        """Return the interval of the accuracy of a group (Wilson)."""
        share = float(self.right[k] / self.rows[k])
        rows = float(self.rows[k] if self.alike is None else self.alike[k])
        return share_interval(share * rows, rows, LEVEL)


def group_accuracies(
    event: EventScores, score: float, wanted: float, groupings: Sequence[ArrayLike]
) -> GroupAccuracies:
    """Keep the rows from a score on, and compare each group's accuracy with the one wanted.

    ``event``: that a prediction is right, with its score. ``score``: rows with at least this score
    are kept. ``wanted``: accuracy, in [0, 1]. ``groupings``: group of each row, from 0, in each of
    several groupings; shape (n_samples,).

    Raises `CalibrationInputError` for an accuracy out of range, and groupings that have not one
    group a row.
    """
    from scipy.special import bdtr, betainc  # noqa: PLC0415 - a tenth of a second to import

    if not 0 <= wanted <= 1:
        raise CalibrationInputError("wanted", str(wanted), "an accuracy from 0 to 1")
    chosen, weights, counted, alike = event.scores >= score, weights_in(event), [], []
    has_design, each = is_designed(event), None
    if weights is not None:
        each = weights[chosen]
    for which, given in enumerate(groupings):
        groups = groups_of(given, event.n_samples, 1)
        mine, n_groups = groups.of_row[chosen] + 1, groups.names.size + 1
        rows = np.bincount(mine, minlength=n_groups)[1:]
        some = np.flatnonzero((rows > 0) & (rows < chosen.sum()))
        hits = event.hits[chosen] if each is None else each * event.hits[chosen]
        sizes, right = (np.bincount(mine, of, minlength=n_groups)[1:][some] for of in (each, hits))
        counted.append(np.stack([np.full(some.size, which), groups.names[some], sizes, right]))
        if has_design:
            of_some = (chosen & (groups.of_row == k) for k in some)
            alike += [rows_alike(event, event.hits, part) for part in of_some]
    grouping, place, sizes, right = np.concatenate([np.empty((4, 0)), *counted], axis=1)
    where = grouping.astype(np.intp), place.astype(np.intp)
    if not has_design:
        adjusted = holm(bdtr(right, sizes.astype(np.intp), wanted)) if sizes.size else np.empty(0)
        counts = sizes.astype(np.intp), right.astype(np.intp)
        return GroupAccuracies(where[0], where[1], counts[0], counts[1], adjusted)
    many, share = np.array(alike, dtype=np.float64), right / sizes
    tail = betainc(np.maximum(many * (1 - share), 1e-12), many * share + 1, 1 - wanted)
    adjusted = holm(np.where(share < 1, tail, 1.0)) if sizes.size else np.empty(0)
    return GroupAccuracies(where[0], where[1], sizes, right, adjusted, many)
