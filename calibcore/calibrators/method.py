"""How the catalogue describes a method and its options."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from calibcore.calibrators.base import ScoreMap, VectorMap
from calibcore.calibrators.cost import Cost
from calibcore.calibrators.lifts.pooled import PooledScores

Calibrator = ScoreMap | VectorMap | PooledScores
"""Whatever is fitted on a calibration set."""


@dataclass(frozen=True)
class WholeNumber:
    """An option that is a whole number in a range."""

    name: str
    default: int
    least: int
    most: int


@dataclass(frozen=True)
class Choice:
    """An option that is one of a few words."""

    name: str
    default: str
    allowed: tuple[str, ...]


@dataclass(frozen=True)
class Switch:
    """An option that is on or off.

    ``one_class`` marks one that only an event has whose score is one class's probability.
    """

    name: str
    default: bool
    one_class: bool = False


Option = WholeNumber | Choice | Switch


@dataclass(frozen=True)
class Fits:
    """What a fit determines from its rows: some numbers, or some curves of free shape.

    Parameters
    ----------
    kind : {"numbers", "curves"}
        A curve stands for a spline, a histogram or steps, whatever its options.
    whole, per_class, per_pair : int
        How many, whatever the classes; for each class; and for each pair of classes.

    Examples
    --------
    >>> Fits("numbers", per_class=1, per_pair=1).count(10)
    110
    """

    kind: Literal["numbers", "curves"]
    whole: int = 0
    per_class: int = 0
    per_pair: int = 0

    def count(self, n_classes: int) -> int:
        """Return how many there are with that many classes."""
        return self.whole + self.per_class * n_classes + self.per_pair * n_classes**2


@dataclass(frozen=True)
class Method:
    """One calibrator as users choose it.

    Parameters
    ----------
    key : str
        Name in code, addresses and exports.
    name : str
        Name on screen.
    factory : callable
        Takes the options by keyword and gives the calibrator.
    paper : str
        Where it comes from.
    explained : str
        One plain sentence.
    formula : str
        One line.
    acts_on : {"event", "classes"}
        The chosen event's score alone, or all class probabilities.
    preserves_accuracy : bool
        The most probable class stays the same in every row, and so does the order of the classes.
    fits : Fits
        What its fit determines, which decides how many rows it needs.
    cost : Cost
        What it takes to fit it and to apply it.
    options : tuple of Option
        What a user may set; names are those of the factory's keywords.
    costs : mapping of str to Cost
        Of some words that can be chosen, where it is another.
    knows_groups : bool
        It needs to know the group of each row, and without is the map of all rows.
    """

    key: str
    name: str
    factory: Callable[..., Calibrator]
    paper: str
    explained: str
    formula: str
    acts_on: Literal["event", "classes"]
    preserves_accuracy: bool
    fits: Fits
    cost: Cost
    options: tuple[Option, ...] = ()
    costs: Mapping[str, Cost] = field(default_factory=dict)
    knows_groups: bool = False

    def make(self, **chosen: int | str | bool) -> Calibrator:
        """Make the calibrator with the chosen options, and the default of every other."""
        return self.factory(**self._chosen(chosen))

    def cost_of(self, **chosen: int | str | bool) -> Cost:
        """Return the cost with the chosen options, and the default of every other."""
        words = (word for word in self._chosen(chosen).values() if isinstance(word, str))
        return next((self.costs[word] for word in words if word in self.costs), self.cost)

    def _chosen(self, chosen: Mapping[str, int | str | bool]) -> dict[str, int | str | bool]:
        return {option.name: option.default for option in self.options} | dict(chosen)
