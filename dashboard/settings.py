"""What a user has chosen, as one value that the page, the address and the caches share."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from calibcore.calibrators import CATALOGUE, Calibrator, Choice, Method, Switch, WholeNumber
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass, TopR, WithinTopR

ChosenEvent = TopR | WithinTopR | OneClass
OptionValue = int | str | bool
SetChoice = Literal["calibration", "test"]
SETS: tuple[SetChoice, SetChoice] = ("calibration", "test")

NO_METHOD = "none"
"""Key of the choice to change nothing."""

CLASS_BINS = 15
"""Bins of the small picture of each class, which has no room for more."""


_RANKED = re.compile(r"(top|within)-([1-9]\d*)")


def is_rank(text: str) -> bool:
    """Return whether a text names an event by ranks."""
    return _RANKED.fullmatch(text) is not None


def named_event(text: str, names: Sequence[str] | None) -> ChosenEvent:
    """Return the event that ``top-1``, ``within-2`` and so on, or the name of a class, names.

    ``names``: of the classes, if they are known. Raises `CalibrationInputError` for what is none.
    """
    if names is not None and text in names:
        return OneClass(names.index(text))
    match = _RANKED.fullmatch(text)
    if match is None:
        classes = f", or a class: {', '.join(names)}" if names else ""
        raise CalibrationInputError("event", repr(text), f"top-1, within-2{classes}")
    kind, rank = match.groups()
    return TopR(int(rank)) if kind == "top" else WithinTopR(int(rank))


USUAL = (
    "temperature",
    "platt",
    "ensemble_temperature",
    "vector",
    "structured_vector",
    "spline",
    "isotonic",
    "beta",
    "histogram",
    "by_group",
    "multicalibration",
)
"""Calibrators that are compared unless others are chosen, as far as they fit the file; all are
quick."""


@dataclass(frozen=True)
class Subgroup:
    """The part of the rows that is evaluated."""

    by: str
    """What the rows are grouped by, as the page calls it."""
    value: str
    """Which of them are kept; of periods of time the first."""
    until: str = ""
    """The last period that is kept; empty for the first alone."""

    @property
    def shown(self) -> str:
        """What is kept, as it is chosen."""
        until = f" \u2013 {self.until}" if self.until else ""
        return f"{self.by} = {self.value}{until}"


@dataclass(frozen=True)
class Settings:
    """Everything that decides the numbers on the page, apart from the data."""

    event: ChosenEvent
    """What the scores are about."""
    method: str = "spline"
    """Key of a method in the catalogue, or `NO_METHOD`."""
    options: tuple[tuple[str, OptionValue], ...] = ()
    """The method's options."""
    n_bins: int = 15
    """Bins of the reliability diagram and of the binned measures."""
    calibration_share: float | None = None
    """Part of a single set to fit on; None where every row serves both ends, by cross-fitting."""
    seed: int = 0
    """Of the split, or of the folds, of a single set."""
    only: Subgroup | None = None
    """The part of the rows of both sets that is evaluated; all are fitted on. None for all."""
    group: str | None = None
    """What a calibrator that knows groups groups the rows by, as the page calls it."""

    @property
    def in_any_bins(self) -> "Settings":
        """The same in the usual bins: what has none is kept by these settings."""
        return replace(self, n_bins=Settings.n_bins)

    def calibrator(self) -> Calibrator | None:
        """Make the chosen calibrator; None for the choice to change nothing."""
        if self.method == NO_METHOD:
            return None
        return method_by_key(self.method).make(**dict(self.options))


def first_class(n_classes: int) -> int:
    """Return the class that is shown until one is chosen: of two the second, which is the event."""
    return int(n_classes == 2)


def method_by_key(key: str) -> Method:
    """Find a method of the catalogue, by its own key or by that of a variant."""
    return next(method for method in CATALOGUE if method.key == method_of(key))


# Variants: one calibrator several times, with other options ----------------------------------


def variant_key(method: str, options: Mapping[str, OptionValue]) -> str:
    """Return the key of a calibrator with some options of its own.

    >>> variant_key("spline", {"n_knots": 10, "constrained": False})
    'spline.n_knots=10.constrained=false'
    """
    words = (f"{name}={str(value).lower()}" for name, value in options.items())
    return ".".join([method, *words])


def method_of(key: str) -> str:
    """Return the key of the method of a variant; any other key as it is."""
    return key.partition(".")[0]


def options_of(key: str) -> dict[str, OptionValue]:
    """Return the options that a variant has of its own; none of any other key."""
    _, dot, text = key.partition(".")
    if not dot:
        return {}
    chosen: dict[str, OptionValue] = {}
    for part in text.split("."):
        name, _, word = part.partition("=")
        match allowed_values(key, name):
            case range():
                chosen[name] = int(word)
            case None:
                chosen[name] = word == "true"
            case _:
                chosen[name] = word
    return chosen


def allowed_values(key: str, name: str) -> range | tuple[str, ...] | None:
    """Return what an option of a calibrator may be; None for one that is on or off.

    >>> allowed_values("histogram", "binning"), allowed_values("vector", "bias")
    (('equal_width', 'equal_mass'), None)
    """
    option = {option.name: option for option in method_by_key(key).options}[name]
    match option:
        case WholeNumber():
            return range(option.least, option.most + 1)
        case Choice():
            return option.allowed
        case Switch():
            return None


def usual_options(key: str) -> dict[str, OptionValue]:
    """Return the default of every option of a calibrator."""
    return {option.name: option.default for option in method_by_key(key).options}


def is_variant(key: str) -> bool:
    """Return whether a key of an address names a calibrator with options that it has."""
    if "." not in key or method_of(key) not in {method.key for method in CATALOGUE}:
        return False
    try:
        chosen = options_of(key)
    except (KeyError, ValueError):
        return False
    for name, value in chosen.items():
        allowed = allowed_values(key, name)
        if allowed is not None and value not in allowed:
            return False
    return variant_key(method_of(key), chosen) == key
