"""Acting on predictions of high score alone: how many are kept, and how many of them are right."""

import numpy as np

from calibcore.data import EventScores
from calibcore.decisions import LEVEL
from calibcore.errors import CalibrationInputError
from calibcore.inference.intervals import Interval, share_interval
from calibcore.results import result_class
from calibcore.splits import Folds, checked_folds
from calibcore.tally import tally
from calibcore.validation import Floats


@result_class
class RiskCoverage:
    """Accuracy among the rows with the highest scores, by how many are kept.

    Attributes
    ----------
    score : ndarray of float64, shape (n_blocks,)
        Distinct scores, descending: rows with at least this score are kept.
    coverage, accuracy : ndarray of float64, shape (n_blocks,)
        Share of the rows that is kept, and share of right ones among these.
    aurc : float
        Area under the curve of 1 - accuracy over the coverage: the mean over the rows, each at its
        own score.
    """

    score: Floats
    coverage: Floats
    accuracy: Floats
    aurc: float

    def lowest_for(self, accuracy: float) -> int | None:
        """Find the lowest score above which the accuracy is reached; its place, None if nowhere."""
        reached = np.flatnonzero(self.accuracy >= accuracy)
        return int(reached[-1]) if reached.size else None


def risk_coverage(event: EventScores) -> RiskCoverage:
    """Compute the accuracy of the rows that are kept, by their share.

    Parameters
    ----------
    event : EventScores
        That a prediction is right, with its score.

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
    counted = tally(event.scores, event.hits)
    counts, hits = counted.counts[::-1], counted.hits[::-1]
    kept, right = np.cumsum(counts), np.cumsum(hits)
    accuracy = right / kept
    aurc = float(counts @ (1 - accuracy)) / counted.n_samples
    return RiskCoverage(counted.scores[::-1], kept / counted.n_samples, accuracy, aurc)


@result_class
class HeldAccuracy:
    """What a threshold that was chosen for its accuracy holds on rows that had no part in it.

    Attributes
    ----------
    kept, right, n_samples : int
        Rows that are kept, right ones among them, and rows in all; each row by the threshold that
        the other folds choose.
    """

    kept: int
    right: int
    n_samples: int

    @property
    def accuracy(self) -> Interval | None:
        """Interval of the accuracy (Wilson); None where nothing is kept."""
        return share_interval(self.right, self.kept, LEVEL) if self.kept else None


def held_accuracy(event: EventScores, wanted: float, fold: Folds) -> HeldAccuracy:
    """Choose a threshold for an accuracy on all folds but one, and keep the rows of that one by it.

    Parameters
    ----------
    event : EventScores
        That a prediction is right, with its score.
    wanted : float
        Accuracy, in [0, 1].
    fold : ndarray of int, shape (n_samples,)
        Fold of each row, as of `calibcore.splits.deal_folds`.

    Returns
    -------
    HeldAccuracy
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
