"""What every calibrator is: the classes of fits and of fitted maps, and their JSON."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.calibrators.descriptions import Description, Recipe
from calibcore.errors import CalibrationInputError
from calibcore.validation import Floats, Labels
from calibcore.weights import RowWeights, SampleWeight, repeats, shares_of, weights_of

_ROUNDING = 1e-9


class FieldRule(NamedTuple):
    """What holds of all values of a field, and how it is said."""

    holds: Callable[[Floats], bool]
    wanted: str


def _within(values: Floats) -> bool:
    return bool(np.all((values >= -_ROUNDING) & (values <= 1 + _ROUNDING)))


def _rises(values: Floats) -> bool:
    return bool(np.all(np.diff(values) >= -_ROUNDING))


POSITIVE = FieldRule(lambda values: bool(np.all(values > 0)), "above 0")
AT_LEAST_0 = FieldRule(lambda values: bool(np.all(values >= 0)), "at least 0")
PARTS = FieldRule(_within, "from 0 to 1")
NOT_ALL = FieldRule(
    lambda values: bool(values.min() >= 0 and values.max() < 1), "from 0 to below 1"
)
RISING = FieldRule(_rises, "in rising order")
RISING_PARTS = FieldRule(lambda values: _within(values) and _rises(values), "from 0 to 1, rising")
EDGES = FieldRule(
    lambda values: bool(values.size > 1 and values[0] == 0 and values[-1] == 1 and _rises(values)),
    "rising from 0 to 1",
)
SHARES = FieldRule(
    lambda values: bool(values.min(initial=0) >= 0 and abs(values.sum() - 1) <= _ROUNDING),
    "at least 0, summing to 1",
)


def check_values(fitted: "FittedCalibrator") -> None:
    """Raise `CalibrationInputError` if a map holds what no fit can leave there.

    It names the field that is out of its range, or the map whose arrays do not fit each other.
    """
    kind = type(fitted).__name__
    for field, rule in fitted.RULES.items():
        value = getattr(fitted, field)
        if not rule.holds(np.atleast_1d(np.asarray(value, dtype=np.float64))):
            raise CalibrationInputError(field, f"{value!r:.40}", rule.wanted)
    for alike in fitted.ALIKE:
        lengths = {len(getattr(fitted, field)) + more for field, more in alike.items()}
        if len(lengths) > 1 or min(lengths) < 1:
            raise CalibrationInputError(
                kind, "arrays that do not fit each other", "those of one fit"
            )


Rules = Mapping[str, FieldRule]
Lengths = tuple[Mapping[str, int], ...]


class Breaks(NamedTuple):
    """Scores at which a map has a step or a corner, ascending."""

    starts: Floats = np.empty(0)
    """Where a new value begins."""
    ends: Floats = np.empty(0)
    """Where an old value ends."""
    corners: Floats = np.empty(0)
    """Corners without a step."""


# The two families of calibrators: maps of one score, and maps of a row of logits --------------


Positive = Annotated[float, "above 0"]
"""A number that makes no sense at 0 or below, such as a temperature."""

Progress = Callable[[float], None]
"""Told the share of a long fit that is done; whatever it raises ends the fit."""


def part_of(progress: Progress | None, start: float = 0.0, end: float = 1.0) -> Progress:
    """Return what is told of one part of some work, from a share of all of it to another."""

    def report(share: float) -> None:
        if progress is not None:
            progress(start + share * (end - start))

    return report


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedCalibrator:
    """A fitted calibrator: a frozen dataclass of numbers, arrays and further fitted maps."""

    warnings: tuple[str, ...] = ()
    """What the user should know of the fit, in sentences."""

    RULES: ClassVar[Rules] = {}
    """What holds of the values of a field, in every fit."""
    ALIKE: ClassVar[Lengths] = ()
    """Arrays whose lengths are the same number, above 0, once the one beside each is added."""
    HARMLESS: ClassVar[frozenset[str]] = frozenset()
    """Warnings that a calibrator made of many such maps does not pass on."""

    def recipe(self) -> Recipe | None:
        """Return its lines of NumPy; None where it is not written in such."""
        return None

    def describe(self) -> Description:
        """Return what it holds, in words; nothing of a map that only holds others."""
        return Description()

    def to_json(self) -> str:
        """Write the map as plain JSON, from which `from_json` makes the same map to the bit."""
        return json.dumps(_encode(self), allow_nan=False)

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same map, to the bit."""
        return isinstance(other, type(self)) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        """Hash the map's content."""
        return hash(self.to_json())


class FittedScoreMap(FittedCalibrator, ABC):
    """A fitted map from the score of one event to its calibrated score."""

    HAS_BREAKS: ClassVar[bool] = False
    """Whether it has steps or corners, at which a last digit of a score decides."""

    @abstractmethod
    def predict(self, scores: ArrayLike) -> Floats:
        """Calibrate scores.

        Parameters
        ----------
        scores : array_like of float, shape (n_samples,)
            Predicted probability of the event (y_prob), in [0, 1].

        Returns
        -------
        ndarray of float64, shape (n_samples,)
            In [0, 1].

        Raises
        ------
        CalibrationInputError
            Scores out of range.
        """

    def breaks(self) -> Breaks:
        """Return where it has steps and corners; nowhere, for a smooth map."""
        return Breaks()


class FittedGroupMap(FittedScoreMap):
    """A fitted map of a score that can make use of the groups that a row belongs to."""

    @property
    def n_groupings(self) -> int:
        """Grouping columns of the fit."""
        return 1

    @property
    def groups_used(self) -> Mapping[int, Labels]:
        """Groups of the fit, rising, by the place of their column: of those that change a score."""
        return {}

    @abstractmethod
    def predict(self, scores: ArrayLike, groups: ArrayLike | None = None) -> Floats:
        """Calibrate scores, as `FittedScoreMap.predict` does.

        Parameters
        ----------
        scores : array_like of float, shape (n_samples,)
            Predicted probability of the event (y_prob), in [0, 1].
        groups : array_like of int, shape (n_samples,) or (n_samples, n_columns), optional
            Group of each row in each column, numbered as in the fit.
        """


class FittedVectorMap(FittedCalibrator, ABC):
    """A fitted map from logits to calibrated class probabilities."""

    @abstractmethod
    def predict_proba(self, logits: ArrayLike) -> Floats:
        """Calibrate rows of logits.

        Parameters
        ----------
        logits : array_like of float, shape (n_samples, n_classes)
            Raw outputs before softmax.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_classes)
            Rows sum to 1.

        Raises
        ------
        CalibrationInputError
            NaN or plus infinity, or another number of classes than in the fit.
        """


FittedMap = FittedScoreMap | FittedVectorMap
"""What a fit gives, for one event or for all classes."""


class ScoreMap(ABC):
    """A calibrator that learns from the scores and hits of one event."""

    HAS_BREAKS: ClassVar[bool] = False
    """Whether what it fits has steps or corners: those of `FittedScoreMap`."""

    @abstractmethod
    def fit(
        self, scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None
    ) -> FittedScoreMap:
        """Fit on the scores and hits of the calibration set.

        Parameters
        ----------
        scores : array_like of float, shape (n_samples,)
            Predicted probability of the event (y_prob), in [0, 1].
        hits : array_like of {0, 1}, shape (n_samples,)
            Whether the event happened (y_true of the event).
        sample_weight : array_like or RowWeights, shape (n_samples,), optional
            Of the rows: see `calibcore.weights`. Frequency weights repeat rows.

        Returns
        -------
        FittedScoreMap

        Raises
        ------
        CalibrationInputError
            Scores or hits out of range, too few rows, or sampling weights where the calibrator has
            no form for them.
        """


class GroupMap(ScoreMap):
    """A score map that also learns from the groups that each row belongs to."""

    @abstractmethod
    def fit(
        self,
        scores: ArrayLike,
        hits: ArrayLike,
        groups: ArrayLike | None = None,
        *,
        sample_weight: SampleWeight = None,
    ) -> FittedGroupMap:
        """Fit as `ScoreMap.fit`, with the group of each row as a whole number, in each column."""


class VectorMap(ABC):
    """A calibrator that learns from the logits of all classes and the labels."""

    @abstractmethod
    def fit(
        self, logits: ArrayLike, labels: ArrayLike, *, sample_weight: SampleWeight = None
    ) -> FittedVectorMap:
        """Fit on the logits and labels of the calibration set.

        Parameters
        ----------
        logits : array_like of float, shape (n_samples, n_classes)
            Raw outputs before softmax.
        labels : array_like of int, shape (n_samples,)
            True classes (y_true), from 0.
        sample_weight : array_like or RowWeights, shape (n_samples,), optional
            Of the rows: see `calibcore.weights`. Frequency weights repeat rows.

        Returns
        -------
        FittedVectorMap

        Raises
        ------
        CalibrationInputError
            NaN or infinity in the logits, labels that do not fit, or sampling weights where the
            calibrator has no form for them.
        """


class SlowVectorMap(VectorMap):
    """A vector map whose fit can take long enough to be watched, and to be stopped."""

    @abstractmethod
    def fit(
        self,
        logits: ArrayLike,
        labels: ArrayLike,
        *,
        progress: Progress | None = None,
        sample_weight: SampleWeight = None,
    ) -> FittedVectorMap:
        """Fit as `VectorMap.fit`, calling ``progress`` with the share of the fit that is done."""


def weighed_rows(
    inputs: ArrayLike, outcomes: ArrayLike, sample_weight: SampleWeight
) -> tuple[ArrayLike, ArrayLike, RowWeights | None]:
    """Repeat rows as often as frequency weights say; keep sampling weights, but those of 0.

    Raises `CalibrationInputError` for weights that are none, and for columns of data frames whose
    rows are in another order.
    """
    validation.refuse_reordered(rows=inputs, outcomes=outcomes, sample_weight=sample_weight)
    if sample_weight is None:
        return inputs, outcomes, None
    rows = validation.array_of(inputs, "rows")
    truth = validation.array_of(outcomes, "outcomes")
    weights = weights_of(sample_weight, len(rows))
    if weights is None or len(truth) != len(rows):
        return rows, truth, None  # refused by whoever fits them
    if weights.counts:
        chosen = repeats(weights)
        return rows[chosen], truth[chosen], None
    some = weights.values > 0
    return rows[some], truth[some], RowWeights(shares_of(weights.values[some]), "sampling")


def from_json(text: str) -> FittedCalibrator:
    """Load a fitted calibrator from what `FittedCalibrator.to_json` wrote.

    Parameters
    ----------
    text : str
        Plain JSON; nothing in it is run.

    Returns
    -------
    FittedCalibrator
        A `FittedScoreMap` or a `FittedVectorMap`.

    Raises
    ------
    CalibrationInputError
        No JSON, an unknown kind of map, fields that do not belong to it or do not hold what a fit
        leaves there, or arrays that do not fit each other.
    """
    try:
        return _decode(json.loads(text))
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        if isinstance(error, CalibrationInputError):
            raise
        raise CalibrationInputError(
            "fitted map", "text that cannot be read", "JSON written by to_json"
        ) from error


def fitted_kinds(
    base: type[FittedCalibrator] = FittedCalibrator,
) -> dict[str, type[FittedCalibrator]]:
    """List every class of fitted maps in this package, by name."""
    kinds = {}
    for kind in base.__subclasses__():
        ours = kind.__module__.startswith(__package__)
        if ours and not getattr(kind, "__abstractmethods__", None):
            kinds[kind.__name__] = kind
        kinds.update(fitted_kinds(kind))
    return kinds


def _encode(value: Any) -> Any:
    if isinstance(value, FittedCalibrator):
        content = {f.name: _encode(getattr(value, f.name)) for f in fields(value)}
        return {"kind": type(value).__name__, **content}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    return value


def _decode(content: Any) -> FittedCalibrator:
    kinds = fitted_kinds()
    if not isinstance(content, dict) or content.get("kind") not in kinds:
        raise CalibrationInputError("kind", "no known kind of fitted map", ", ".join(kinds))
    kind = kinds[content["kind"]]
    hints = get_type_hints(kind, include_extras=True)
    # What later versions add is passed over, or has its default.
    given = {f.name for f in fields(kind)} & set(content)
    needed = {f.name for f in fields(kind) if f.default is MISSING}
    if needed - given:
        raise CalibrationInputError(
            kind.__name__, f"the fields {', '.join(sorted(content))}", ", ".join(sorted(needed))
        )
    restored = kind(**{name: _restored(content[name], hints[name], name) for name in given})
    check_values(restored)
    _try_out(restored)
    return restored


def _restored(value: Any, hint: Any, field: str) -> Any:
    """Turn JSON into what the hint of a field asks for."""
    origin, options = get_origin(hint), get_args(hint)
    if origin is tuple and isinstance(value, list):
        return tuple(_restored(item, options[0], field) for item in value)
    if isinstance(value, dict):
        restored: Any = _decode(value)
        fits = isinstance(hint, type) and isinstance(restored, hint)
    elif origin is np.ndarray:
        restored = validation.real_array(value, field)
        dtype = get_args(options[1])[0]  # NDArray[T] is ndarray[shape, dtype[T]]
        whole = dtype is not np.int64 or restored.dtype.kind == "i" or not restored.size
        fits = isinstance(value, list) and whole and bool(np.isfinite(restored).all())
        restored = restored.astype(dtype) if fits else value
    else:
        restored, fits = value, _is_plain(value, hint)
    if not fits:
        raise CalibrationInputError(field, f"{value!r:.40}", "what to_json writes there")
    return restored


def _is_plain(value: Any, hint: Any) -> bool:
    """Return whether a JSON value has the option's type."""
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if hint in {float, Positive}:
        number = type(value) in {int, float} and math.isfinite(value)
        return number and (hint is float or value > 0)
    return hint in {str, bool, int} and type(value) is hint


def _try_out(fitted: FittedCalibrator) -> None:
    """Raise if a map gives no probabilities, as arrays of unequal lengths."""
    values = [getattr(fitted, f.name) for f in fields(fitted) if f.name != "warnings"]
    if any(isinstance(value, FittedVectorMap) for value in values):
        return  # of a chain, which may need any number of classes, each link has been tried
    sizes = [len(value) for value in values if isinstance(value, tuple | np.ndarray)]
    try:
        with np.errstate(all="ignore"):
            if isinstance(fitted, FittedScoreMap):
                validation.scores(fitted.predict([0.0, 0.5, 1.0]))
            elif isinstance(fitted, FittedVectorMap):
                n_classes = max([2, *sizes[:1]])
                validation.probabilities(fitted.predict_proba([-np.arange(n_classes)]))
    except (ValueError, IndexError, TypeError, ArithmeticError, LinAlgError) as error:
        raise CalibrationInputError(
            type(fitted).__name__, "arrays that do not fit each other", "those of one fit"
        ) from error
