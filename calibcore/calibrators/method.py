"""How a calibrator is declared: its names, source, options, and what a fit takes."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from calibcore.calibrators.base import ScoreMap, VectorMap
from calibcore.calibrators.lifts import PooledScores

MOST_CELLS = 1 << 22
MOST_CLASSES = 300
"""Rows times classes, and classes, up to which strengths are cross-validated.

It would take hours beyond: a fit on 3,200 rows of 1,000 classes takes a minute, and a search is 50.
"""

_LOG_CLASSES = np.log([10, 100, 1000])

_FEW_A_CLASS = 10
_OF_FOLDS = 6.0
"""What the folds of a cross-validation add to the memory, as a multiple of the logits."""


def is_searched(n_rows: int, n_classes: int) -> bool:
    """Return whether strengths are cross-validated for a table of this size."""
    return n_rows * n_classes <= MOST_CELLS and n_classes <= MOST_CLASSES


@dataclass(frozen=True)
class Cost:
    """Time and memory of fitting a method and applying it."""

    passes: tuple[float, float, float]
    """Time in passes of `numpy.exp` over the logits in float32, as measured on 5,000 rows of 10
    classes, 5,000 of 100, and 25,000 of 1,000 (benchmarks/CALIBRATORS.md). With ODIR's penalty it
    is more, a row, on some tables of 4,000 rows of 1,000 classes (Dirichlet 9,000 on one and 80,000
    on another, matrix some 10,500 on both): there, about the geometric mean of the most and the
    least.
    """
    memory: float = 3.0
    """Peak beyond the logits, as a multiple of their size in float32."""
    searched: tuple[float, float, float] | None = None
    """Time on tables of which `calibcore.calibrators.linear.odir` cross-validates, if another. A
    search goes further on some rows than on others: it is the geometric mean of that table and of
    the sample logits with as many classes; with 1,000, where there is none, what it would be by
    8,000 rows of 300 classes.
    """
    few: tuple[float, float, float] | None = None
    """Time where there are at most 10 rows a class, if it is another. A matrix without a penalty is
    then sought where nothing determines it: 5,000 to 109,000 passes on tables of (4,000, 1,000),
    2,000 to 43,000 of (1,000, 300), by what the rows say; about the middle of these. So it is of
    100 classes with 5,000 rows, fewer than its 10,100 numbers: 1,200 to 65,000.
    """
    matrices: float = 0.0
    """Tables of a double for each pair of classes that are held beside it, at most."""
    fixed: float = 0.0
    """Time beyond that, in exponentials of one logit, which small tables take too."""
    spread: float = 3.0
    """Factor within which the time is right, either way. It is more than some three where the rows,
    not their number, decide how long a search goes on.
    """

    def seconds(self, n_rows: int, n_classes: int, seconds_per_logit: float) -> float:
        """Estimate the time.

        ``n_rows``, ``n_classes``: of the calibration set. ``seconds_per_logit``: what this machine
        takes for the exponential of one logit.

        In seconds, right within a factor of some ``spread``.
        """
        search = self.searched if is_searched(n_rows, n_classes) else None
        few = self.few if n_rows <= _FEW_A_CLASS * n_classes else None
        at, known = math.log(max(n_classes, 2)), np.log(search or few or self.passes)
        passes = float(np.interp(at, _LOG_CLASSES, known))
        if at > _LOG_CLASSES[-1]:  # grows on as from 100 to 1,000 classes
            slope = (known[-1] - known[-2]) / (_LOG_CLASSES[-1] - _LOG_CLASSES[-2])
            passes += max(float(slope), 0.0) * (at - float(_LOG_CLASSES[-1]))
        return (self.fixed + math.exp(passes) * n_rows * n_classes) * seconds_per_logit

    def bytes(self, n_rows: int, n_classes: int) -> float:
        """Estimate the memory beyond the logits, in bytes."""
        folds = _OF_FOLDS if self.searched and is_searched(n_rows, n_classes) else 0.0
        tables = (self.memory + folds) * 4 * n_rows * n_classes
        return tables + self.matrices * 8 * n_classes**2


# How the catalogue describes a method and its options -----------------------------------------


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

    >>> Fits("numbers", per_class=1, per_pair=1).count(10)
    110
    """

    kind: Literal["numbers", "curves"]
    """A curve stands for a spline, a histogram or steps, whatever its options."""
    whole: int = 0
    """How many, whatever the classes."""
    per_class: int = 0
    """How many for each class."""
    per_pair: int = 0
    """How many for each pair of classes."""

    def count(self, n_classes: int) -> int:
        """Return how many there are with that many classes."""
        return self.whole + self.per_class * n_classes + self.per_pair * n_classes**2


@dataclass(frozen=True)
class Method:
    """One calibrator as users choose it."""

    key: str
    """Name in code, addresses and exports."""
    name: str
    """Name on screen."""
    short: str
    """Name where there is little room, at most 12 letters."""
    factory: Callable[..., Calibrator]
    """Takes the options by keyword and gives the calibrator."""
    paper: str
    """Where it comes from."""
    explained: str
    """One plain sentence."""
    formula: str
    """One line."""
    acts_on: Literal["event", "classes"]
    """The chosen event's score alone, or all class probabilities."""
    preserves_accuracy: bool
    """The most probable class stays the same in every row, and so does the order of the classes."""
    fits: Fits
    """What its fit determines, which decides how many rows it needs."""
    cost: Cost
    """What it takes to fit it and to apply it."""
    options: tuple[Option, ...] = ()
    """What a user may set; names are those of the factory's keywords."""
    costs: Mapping[str, Cost] = field(default_factory=dict)
    """Of some words that can be chosen, where it is another."""
    knows_groups: bool = False
    """It needs to know the group of each row, and without is the map of all rows."""
    all_columns: bool = False
    """It takes the groups of every column at once; else those of one."""
    weighs: bool = True
    """It has a form for rows with sampling weights."""

    @property
    def asks_column(self) -> bool:
        """Whether one column of groups has to be chosen for it."""
        return self.knows_groups and not self.all_columns

    def make(self, **chosen: int | str | bool) -> Calibrator:
        """Make the calibrator with the chosen options, and the default of every other."""
        return self.factory(**self._chosen(chosen))

    def cost_of(self, **chosen: int | str | bool) -> Cost:
        """Return the cost with the chosen options, and the default of every other."""
        words = (word for word in self._chosen(chosen).values() if isinstance(word, str))
        return next((self.costs[word] for word in words if word in self.costs), self.cost)

    def _chosen(self, chosen: Mapping[str, int | str | bool]) -> dict[str, int | str | bool]:
        return {option.name: option.default for option in self.options} | dict(chosen)
