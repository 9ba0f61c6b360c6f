"""A measure before and after calibration."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import overload

from calibcore.metrics import METRICS, EventMeasure, Measure, RowMeasure
from calibcore.results import short_repr


@dataclass(frozen=True)
class Comparison:
    """One measure before and after calibration."""

    measure: Measure
    """What is compared."""
    before: float | None
    after: float | None
    """None where the data or the calibrator leave it undefined."""

    __repr__ = short_repr

    @property
    def change(self) -> float | None:
        """After minus before."""
        if self.before is None or self.after is None:
            return None
        return self.after - self.before


class Comparisons(Sequence[Comparison]):
    """One comparison a measure, in the order of `METRICS`, each made when first asked for.

    ``make``: given measures of one kind, their comparisons. Those that need the probabilities of
    all classes are made together, so that these are found once and not kept.
    """

    def __init__(self, make: Callable[[Sequence[Measure]], Sequence[Comparison]]) -> None:
        self._make = make
        self._made: dict[str, Comparison] = {}

    def __len__(self) -> int:  # noqa: D105 - as of every sequence
        return len(METRICS)

    @overload
    def __getitem__(self, place: int) -> Comparison: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Comparison, ...]: ...

    def __getitem__(self, place: int | slice) -> Comparison | tuple[Comparison, ...]:  # noqa: D105
        if isinstance(place, slice):
            return tuple(self[k] for k in range(*place.indices(len(self))))
        asked = METRICS[place]
        if asked.key not in self._made:
            alone = isinstance(asked, EventMeasure) or asked.compares_pairs
            alike = [asked] if alone else [one for one in METRICS if _together(one, asked)]
            self._made |= {one.measure.key: one for one in self._make(alike)}
        return self._made[asked.key]


def _together(one: Measure, asked: Measure) -> bool:
    """Return whether one is measured with another; sorts wait for the full list."""
    alike = type(one) is type(asked) and not one.compares_pairs
    return alike and (isinstance(one, RowMeasure) or one.short == asked.short)
