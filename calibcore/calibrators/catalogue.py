"""Every calibrator once: what the page, the command line, the benchmarks and the tests offer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from calibcore.calibrators.base import ScoreMap, VectorMap
from calibcore.calibrators.spline import SplineCalibration
from calibcore.calibrators.temperature import TemperatureScaling


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
    """An option that is on or off."""

    name: str
    default: bool


Option = WholeNumber | Choice | Switch


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
    options : tuple of Option
        What a user may set; names are those of the factory's keywords.
    paper : str
        Where it comes from.
    explained : str
        One plain sentence.
    formula : str
        One line.
    acts_on : {"event", "classes"}
        The chosen event's score alone, or all class probabilities.
    preserves_accuracy : bool
        The most probable class stays the same in every row.
    cost : str
        How the time to fit grows.
    """

    key: str
    name: str
    factory: Callable[..., ScoreMap | VectorMap]
    options: tuple[Option, ...]
    paper: str
    explained: str
    formula: str
    acts_on: Literal["event", "classes"]
    preserves_accuracy: bool
    cost: str


CATALOGUE: tuple[Method, ...] = (
    Method(
        key="spline",
        name="Spline",
        factory=SplineCalibration,
        options=(
            WholeNumber("n_knots", 6, 4, 30),
            Choice("runout", "natural", ("natural", "parabolic", "cubic")),
            Choice("fit_to", "difference", ("difference", "hits")),
            Switch("constrained", default=False),
            Switch("cross_validated", default=False),
        ),
        paper="Gupta 2021, section 4",
        explained="Replaces each score by how often the event happened at scores like it, read off"
        " a smooth curve through the running totals of the calibration set.",
        formula="calibrated score = slope, at the fractile of the score, of a cubic spline through"
        " the cumulative hits",
        acts_on="event",
        preserves_accuracy=True,
        cost="one sort",
    ),
    Method(
        key="temperature",
        name="Temperature scaling",
        factory=TemperatureScaling,
        options=(),
        paper="Guo 2017, section 4.2",
        explained="Divides all logits by one number, the temperature, chosen so that the labels of"
        " the calibration set become as likely as possible.",
        formula="calibrated probabilities = softmax(logits / T)",
        acts_on="classes",
        preserves_accuracy=True,
        cost="some ten passes over the logits",
    ),
)
"""Every method, in the order in which they are offered."""
