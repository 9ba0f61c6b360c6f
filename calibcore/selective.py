"""Acting on predictions of high score alone: how many are kept, and how many of them are right."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore.data import EventScores, refuse_rows
from calibcore.decisions import LEVEL
from calibcore.errors import CalibrationInputError
from calibcore.inference.groups import groups_of
from calibcore.inference.intervals import Interval, share_interval
from calibcore.inference.multiple_testing import holm
from calibcore.results import result_class
from calibcore.splits import Folds, checked_folds
from calibcore.tally import tally
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

    Notes
    -----
    Rows of equal score are kept together, so their order does not matter.

    References
    ----------
    Geifman and El-Yaniv, NeurIPS 2017.

    Examples
    --------
    >>> found = risk_coverage(EventScores([0.6, 0.9, 0.9, 0.7], [0, 1, 1, 1]))
    >>> found.coverage.tolist(), found.accuracy.tolist(), found.aurc
    ([0.5, 0.75, 1.0], [1.0, 1.0, 0.75], 0.0625)
    """
    refuse_rows(event, "selective prediction")
    counted = tally(event.scores, event.hits)
    counts, hits = counted.counts[::-1], counted.hits[::-1]
    kept, right = np.cumsum(counts), np.cumsum(hits)
    accuracy = right / kept
    aurc = float(counts @ (1 - accuracy)) / counted.n_samples
    return RiskCoverage(counted.scores[::-1], kept / counted.n_samples, accuracy, aurc)


@result_class
class HeldAccuracy:
    """What a threshold that was chosen for its accuracy holds on rows that had no part in it."""

    kept: int
    right: int
    n_samples: int
    """Rows that are kept, right ones among them, and rows in all; each row by the threshold that
    the other folds choose.
    """

    @property
    def accuracy(self) -> Interval | None:
        """Interval of the accuracy (Wilson); None where nothing is kept."""
        return share_interval(self.right, self.kept, LEVEL) if self.kept else None


def held_accuracy(event: EventScores, wanted: float, fold: Folds) -> HeldAccuracy:
    """Choose a threshold for an accuracy on all folds but one, and keep the rows of that one by it.

    ``event``: that a prediction is right, with its score. ``wanted``: accuracy, in [0, 1].
    ``fold``: fold of each row, as of `calibcore.splits.deal_folds`; shape (n_samples,).

    Where no threshold reaches the accuracy nothing is kept.

    Raises
    ------
    CalibrationInputError
        An accuracy or folds out of range.

    Examples
    --------
    >>> rows = EventScores([0.6, 0.9, 0.6, 0.9], [0, 1, 0, 1])
    >>> found = held_accuracy(rows, 1.0, np.array([0, 0, 1, 1]))
    >>> found.kept, found.right
    (2, 2)
    """
    refuse_rows(event, "selective prediction")
    if not 0 <= wanted <= 1:
        raise CalibrationInputError("wanted", str(wanted), "an accuracy from 0 to 1")
    dealt = checked_folds(fold, event.n_samples)
    kept = right = 0
    for number in range(int(dealt.max()) + 1):
        mine = dealt == number
        seen = risk_coverage(event.rows(~mine))
        place = seen.lowest_for(wanted)
        if place is not None:
            chosen = mine & (event.scores >= seen.score[place])
            kept, right = kept + int(chosen.sum()), right + int(event.hits[chosen].sum())
    return HeldAccuracy(kept, right, event.n_samples)


@result_class
class KeptGroups:
    """How many of the kept rows are right in each group of several groupings."""

    grouping: NDArray[np.intp]
    place: NDArray[np.intp]
    """Which grouping, and which of its groups: those that hold some of the kept rows, not all;
    shape (n_groups,).
    """
    kept: NDArray[np.intp]
    right: NDArray[np.intp]
    """Rows that are kept, and right ones among them; shape (n_groups,)."""
    adjusted: Floats
    """P-value of so few right ones if each were right with the accuracy that was wanted: the exact
    binomial tail, adjusted for all groups by Holm's method; shape (n_groups,).
    """

    def below(self, level: float = 0.05) -> NDArray[np.intp]:
        """List the groups that are shown to be below the accuracy, the lowest accuracy first."""
        found = np.flatnonzero(self.adjusted < level)
        return found[np.argsort(self.right[found] / self.kept[found], kind="stable")]

    def accuracy(self, k: int) -> Interval:
        """Return the interval of the accuracy of a group (Wilson)."""
        return share_interval(int(self.right[k]), int(self.kept[k]), LEVEL)


def kept_groups(
    event: EventScores, score: float, wanted: float, groupings: Sequence[ArrayLike]
) -> KeptGroups:
    """Keep the rows from a score on, and compare each group's accuracy with the one wanted.

    ``event``: that a prediction is right, with its score. ``score``: rows with at least this score
    are kept. ``wanted``: accuracy, in [0, 1]. ``groupings``: group of each row, from 0, in each of
    several groupings; shape (n_samples,).

    Raises
    ------
    CalibrationInputError
        An accuracy out of range, or not one group a row.

    Examples
    --------
    >>> rows = EventScores([0.9] * 40, [1] * 30 + [0] * 10)
    >>> found = kept_groups(rows, 0.9, 0.9, [[0] * 28 + [1] * 12])
    >>> found.right.tolist(), found.kept.tolist(), found.below().tolist()
    ([28, 2], [28, 12], [1])
    """
    refuse_rows(event, "selective prediction")
    from scipy.special import bdtr  # noqa: PLC0415 - a tenth of a second to import

    if not 0 <= wanted <= 1:
        raise CalibrationInputError("wanted", str(wanted), "an accuracy from 0 to 1")
    chosen = event.scores >= score
    counted = []
    for which, given in enumerate(groupings):
        groups = groups_of(given, event.n_samples, 1)
        mine, n_groups = groups.of_row[chosen] + 1, groups.names.size + 1
        kept = np.bincount(mine, minlength=n_groups)[1:]
        right = np.bincount(mine, event.hits[chosen], minlength=n_groups)[1:].astype(np.intp)
        some = np.flatnonzero((kept > 0) & (kept < chosen.sum()))
        each = np.full(some.size, which), groups.names[some], kept[some], right[some]
        counted.append(np.stack(each))
    found = np.concatenate([np.empty((4, 0), dtype=np.intp), *counted], axis=1)
    grouping, place, kept, right = found
    adjusted = holm(bdtr(right, kept, wanted)) if kept.size else np.empty(0)
    return KeptGroups(grouping, place, kept, right, adjusted)
