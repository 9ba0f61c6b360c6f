"""What a user has chosen, as one value that the page, the address and the caches share."""

from dataclasses import dataclass
from typing import Literal

from calibcore.calibrators import CATALOGUE, Calibrator, Method
from calibcore.events import OneClass, TopR, WithinTopR

ChosenEvent = TopR | WithinTopR | OneClass
OptionValue = int | str | bool
SetChoice = Literal["calibration", "test"]

NO_METHOD = "none"
"""Key of the choice to change nothing."""

CLASS_BINS = 15
"""Bins of the small picture of each class, which has no room for more."""


USUAL = (
    "temperature",
    "ensemble_temperature",
    "vector",
    "structured_vector",
    "spline",
    "isotonic",
    "beta",
    "histogram",
)
"""Calibrators that are compared unless others are chosen; all of them are quick."""


@dataclass(frozen=True)
class Slice:
    """The part of the rows that is evaluated.

    Parameters
    ----------
    by : str
        What the rows are grouped by, as the page calls it.
    value : str
        Which of them are kept.
    """

    by: str
    value: str


@dataclass(frozen=True)
class Settings:
    """Everything that decides the numbers on the page, apart from the data.

    Parameters
    ----------
    event : TopR, WithinTopR or OneClass
        What the scores are about.
    method : str
        Key of a method in the catalogue, or `NO_METHOD`.
    options : tuple of (name, value)
        The method's options.
    n_bins : int
        Bins of the reliability diagram and of the binned measures.
    calibration_share : float or None
        Part of a single set to fit on; None where every row serves both ends, by cross-fitting.
    seed : int
        Of the split, or of the folds, of a single set.
    only : Slice or None
        The part of the rows of both sets that is evaluated; all are fitted on. None for all.
    group : str or None
        What a calibrator that knows groups groups the rows by, as the page calls it.
    """

    event: ChosenEvent
    method: str = "spline"
    options: tuple[tuple[str, OptionValue], ...] = ()
    n_bins: int = 15
    calibration_share: float | None = None
    seed: int = 0
    only: Slice | None = None
    group: str | None = None

    def calibrator(self) -> Calibrator | None:
        """Make the chosen calibrator; None for the choice to change nothing."""
        if self.method == NO_METHOD:
            return None
        return method_by_key(self.method).make(**dict(self.options))


def first_class(n_classes: int) -> int:
    """Return the class that is shown until one is chosen: of two the second, which is the event."""
    return int(n_classes == 2)


def method_by_key(key: str) -> Method:
    """Find a method of the catalogue."""
    return next(method for method in CATALOGUE if method.key == key)
