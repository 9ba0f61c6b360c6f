"""Slices of one grouping, tested jointly with the groups of all other groupings."""

from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from calibcore.inference.groups import GroupGaps
from calibcore.results import result_class
from calibcore.slices import Places, SliceScreen
from calibcore.validation import Floats


@result_class
class JointScreen(SliceScreen):
    """Slices whose test is of the mean gap, adjusted for all groups of all groupings."""

    low: Floats
    high: Floats
    """Ends of the interval of the mean gap. Those of the slices that are tested hold at once with
    about 95%; of the others, each by itself; shape (n_slices,).
    """
    differs: NDArray[np.bool_]
    """Whether a slice is flagged and its gap larger than that of other rows with such scores; shape
    (n_slices,).
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

    def order(self, level: float = 0.05) -> Places:
        """List the slices that have rows, worst first, as `GroupGaps.worst` does.

        Notes
        -----
        Those that are flagged, then the others with enough rows, and the small ones; of each, the
        largest mean gap first.
        """
        kind = np.where(self.off(level), 0, np.where(self.rows >= self.least, 1, 2))
        found = np.lexsort((-np.abs(np.nan_to_num(self.mean_gap)), kind))
        return found[self.rows[found] > 0]


def joint_screen(
    screen: SliceScreen, gaps: GroupGaps, grouping: int, level: float = 0.05
) -> JointScreen:
    """Put the joint test in place of the test of each slice by itself.

    ``screen``: every slice by itself. ``gaps``: all groups of all groupings of the same rows.
    ``grouping``: which of the groupings the slices are. ``level``: at which a slice is said to
    differ from other rows.

    Slices that are not tested jointly, as they are small or hold all rows, are not tested.

    Examples
    --------
    >>> from calibcore.inference import group_gaps
    >>> from calibcore.slices import screen_slices
    >>> scores, hits, places = [0.5] * 80, [0] * 40 + [1] * 40, [0] * 40 + [1] * 40
    >>> alone = screen_slices(scores, hits, places, n_slices=2)
    >>> found = joint_screen(alone, group_gaps(scores, hits, [places]), 0)
    >>> found.off().tolist(), found.differs.tolist(), found.n_tests
    ([True, True], [True, True], 2)
    """
    chosen = gaps.grouping == grouping
    place = gaps.place[chosen]
    low, high = screen.gap_low.copy(), screen.gap_high.copy()
    low[place], high[place] = gaps.low[chosen], gaps.high[chosen]
    p_value, adjusted = np.full((2, screen.n_slices), np.nan)
    p_value[place] = adjusted[place] = gaps.adjusted[chosen]
    differs = np.zeros(screen.n_slices, dtype=np.bool_)
    differs[place] = gaps.own(level)[chosen]
    kept = {field.name: getattr(screen, field.name) for field in fields(SliceScreen)}
    remains = np.zeros(screen.n_slices, dtype=np.bool_)
    remains[place] = gaps.remains[chosen]
    kept |= {"p_value": p_value, "adjusted": adjusted, "remains": remains}
    return JointScreen(**kept, low=low, high=high, differs=differs, n_tests=gaps.n_groups)
