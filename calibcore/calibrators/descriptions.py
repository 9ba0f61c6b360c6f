"""What a fitted calibrator tells of itself: in words, and as a few lines of NumPy."""

from collections.abc import Sequence
from typing import Any, NamedTuple

MINUS = "\u2212"

Recipe = tuple[dict[str, Any], list[str]]
"""Constants, and the lines that turn ``x`` into ``y`` by them."""

SOFTMAX = ["y = np.exp(y - y.max(axis=1, keepdims=True))", "y /= y.sum(axis=1, keepdims=True)"]
"""From logits ``y`` to probabilities."""

TWELVE_DECIMALS = (
    "x = np.where(x < 2.0**-30, x, np.rint(x * 1e12) / 1e12)  # equal again, if given so"
)
"""As `calibcore.probabilities.twelve_decimals`."""


def steps(edges: Any, heights: Any, side: str) -> Recipe:
    """Return the recipe of a map that is level between edges; ``side`` as `numpy.searchsorted`."""
    numbers = {"edges": edges, "heights": heights}
    return numbers, [f'y = HEIGHTS[np.searchsorted(EDGES, x, side="{side}")]']


class DescriptionTable(NamedTuple):
    """A table: its heads, and its rows, the first cell of each its name."""

    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


class Description(NamedTuple):
    """What a fitted map holds, in words, and its numbers where there are many."""

    sentence: str = ""
    listed: DescriptionTable | None = None
    by_class: bool = False
    """Whether the table has a row a class, by its number, for which a name may be put."""


def rounded(value: float) -> str:
    """Write a parameter with three digits."""
    if 0 < abs(value) < 1e-4:
        return "\u2248 0"
    return f"{value:.3g}".replace("-", MINUS)


def percent(value: float) -> str:
    """Write a share in percent with three digits."""
    return f"{100 * value:.3g}%" if value >= 1e-5 or value == 0 else "< 0.001%"
