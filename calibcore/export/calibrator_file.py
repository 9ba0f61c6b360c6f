"""A fitted calibrator as a file of JSON, with what it was fitted to and what it takes."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, Literal, TypeVar, cast, get_args

import numpy as np
from numpy.typing import NDArray

from calibcore import validation
from calibcore.auditing import AuditResult
from calibcore.calibrators.base import (
    FittedCalibrator,
    FittedGroupMap,
    FittedMap,
    FittedScoreMap,
    FittedVectorMap,
    from_json,
)
from calibcore.calibrators.score_maps.spline import FittedSpline
from calibcore.data import LogitSet, Rows
from calibcore.errors import CalibrationInputError
from calibcore.events import Event, OneClass, TopR, WithinTopR
from calibcore.fitting import calibrate
from calibcore.grouping import UNKNOWN, Grouping, numbers_of
from calibcore.results import finite
from calibcore.tables import are_probabilities, class_names_of, refuse_percentages
from calibcore.validation import Floats, Labels

ACCURACY = 1e-5
"""By so much a thinned map may differ: a thousandth of a percentage point."""

MANY = 20_000
"""Points of a spline from which on it is thinned."""

_FIRST = 1_024
"""Points that are kept at first, as many rows between each two."""

Map = TypeVar("Map")


def thinned(fitted: Map) -> Map:
    """Keep of every spline in a fitted map the points that `ACCURACY` needs.

    ``fitted``: any fitted map; what holds no spline of more than `MANY` points is returned itself.

    Notes
    -----
    Points are added in the middle between two that are kept, until no point that is left out is
    off by more. Between points both maps are straight, so no other score is off by more either.

    Examples
    --------
    >>> scores = np.linspace(0, 1, 100_001)
    >>> few = thinned(FittedSpline(scores=scores, slope=scores**2, knot_values=np.zeros(2)))
    >>> few.scores.size, bool(np.abs(few.predict(scores) - scores**2).max() <= ACCURACY)
    (1025, True)
    """
    if isinstance(fitted, FittedSpline):
        return cast("Map", _spline(fitted))
    if not is_dataclass(fitted) or isinstance(fitted, type):
        return fitted
    changed = {}
    for one in fields(fitted):
        value = getattr(fitted, one.name)
        fewer = _inside(value)
        if fewer is not value:
            changed[one.name] = fewer
    return replace(fitted, **changed) if changed else fitted


def _inside(value: Any) -> Any:
    if isinstance(value, tuple):
        fewer = tuple(map(_inside, value))
        return fewer if any(a is not b for a, b in zip(fewer, value, strict=True)) else value
    return thinned(value)


def _spline(fitted: FittedSpline) -> FittedSpline:
    scores, slope = fitted.scores, fitted.slope
    if scores.size <= MANY:
        return fitted
    places = np.unique(np.linspace(0, scores.size - 1, _FIRST + 1).astype(np.intp))
    while True:
        off = np.abs(np.interp(scores, scores[places], slope[places]) - slope) > ACCURACY
        between = np.unique(np.searchsorted(places, np.flatnonzero(off)))
        if not between.size:
            break
        places = np.union1d(places, (places[between - 1] + places[between]) // 2)
    return replace(fitted, scores=scores[places], slope=slope[places])


# A fitted calibrator as a file that says what it takes, so that it cannot be misapplied -------


FORMAT = 1
"""Of the files written; one that is newer is refused."""

Takes = Literal["logits", "probabilities", "scores", "unknown"]
"""What a calibrator is applied to; unknown of a map that was written without its file."""


@dataclass(frozen=True, eq=False)
class CalibratorFile:
    """A fitted calibrator, what it takes, and what it was fitted on.

    Notes
    -----
    Written, it has a checksum too: SHA-256 of its contents as JSON without it, keys sorted, no
    blanks. One whose contents are others is refused; one without is read.

    Examples
    --------
    >>> from calibcore import audit
    >>> from calibcore.calibrators import PlattScaling
    >>> result = audit([0.2, 0.4, 0.6, 0.8] * 25, [0, 0, 1, 1] * 25, calibrator=PlattScaling())
    >>> text = CalibratorFile.of(result).to_json()
    >>> CalibratorFile.from_json(text).apply([0.5]).round(2).tolist()
    [0.5]
    """

    fitted: FittedCalibrator
    """The map."""
    takes: Takes = "unknown"
    """What `apply` wants: logits or probabilities of all classes, or the scores of one event."""
    class_names: tuple[str, ...] = ()
    """The classes in the order of the columns; empty where only scores were known."""
    event: Event | None = None
    """What scores are about; None of a map of all classes."""
    n_rows: int = 0
    """Rows that it was fitted on."""
    data: str = ""
    """SHA-256 of the data."""
    figures: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    """Measures of the evaluation, by key, before and after."""
    made_by: str = ""
    """Version of Fractile."""
    accuracy: float = 0.0
    """By how much the map may differ from the one that was evaluated, as a share; 0 of most. A
    spline of very many points is `calibcore.export.calibrator_file.thinned`.
    """
    groups: tuple[Grouping, ...] = ()
    """The groups that a calibrator by group was fitted for, column by column, and the columns that
    tell them; () where it needs none, or none are named.
    """
    percent_column: str = ""
    """The column of scores, where the file that it was fitted on has them in percent; "" else.
    `apply` wants shares all the same.
    """
    column: str = ""
    """The column of scores in the file that it was fitted on; "" where none is named."""
    date: str = ""
    """When it was fitted, such as "2026-03-31", by UTC; "" where it is not known."""
    model: str = ""
    """Name and version of the model whose scores it corrects; "" where none is given."""

    @classmethod
    def of(
        cls, result: AuditResult, *, data: str | None = None, model: str = ""
    ) -> "CalibratorFile":
        """Take home what an audit has fitted.

        Parameters
        ----------
        result : AuditResult
            Of `calibcore.audit`, with a calibrator.
        data : str, optional
            SHA-256 of the file that was audited; by default of the rows fitted on.
        model : str, default ""
            Name and version of the model whose scores it corrects.

        Raises
        ------
        CalibrationInputError
            Nothing was fitted.
        """
        request, fitted = result.request, result.fitted
        if request is None or fitted is None:
            raise CalibrationInputError("result", "no fitted calibrator", "an audit of one")
        file = cls.about(request.split.calibration, fitted, request.event, result, data=data)
        file = replace(file, model=model)
        return replace(file, groups=request.groupings) if file.needs_groups else file

    @classmethod
    def about(
        cls,
        rows: Rows,
        fitted: FittedMap,
        event: Event,
        result: AuditResult,
        *,
        data: str | None = None,
    ) -> "CalibratorFile":
        """Put together what is known of a calibrator that was fitted on some rows."""
        of_classes = isinstance(fitted, FittedVectorMap)
        names = rows.class_names if isinstance(rows, LogitSet) else ()
        figures = {one.measure.key: (one.before, one.after) for one in result.test.comparisons}
        fewer = thinned(fitted)
        return cls(
            fewer,
            rows.values_kind if of_classes and isinstance(rows, LogitSet) else "scores",
            names,
            None if of_classes else event,
            rows.n_samples,
            _digest(rows) if data is None else data,
            figures,
            version("fractile"),
            0.0 if fewer is fitted else ACCURACY,
            date=datetime.now(UTC).date().isoformat(),
        )

    def to_json(self) -> str:
        """Write the file; `from_json` makes the same calibrator of it to the bit."""
        content: dict[str, object] = {"format": FORMAT}
        content |= {f.name: getattr(self, f.name) for f in fields(self)}
        content["event"] = None if self.event is None else _event_written(self.event)
        content["groups"] = [asdict(one) for one in self.groups]
        content["figures"] = {
            key: [finite(value) for value in sides] for key, sides in self.figures.items()
        }
        content["fitted"] = json.loads(self.fitted.to_json())
        content["checksum"] = _checksum(content)
        return json.dumps(content, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "CalibratorFile":
        """Read a file; fields it does not know are passed over, later ones have their defaults.

        Raises
        ------
        CalibrationInputError
            No such file, one of a newer format, a map that is none, or contents that are not those
            of the checksum.
        """
        try:
            content = json.loads(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise CalibrationInputError("calibrator", "no JSON", "a calibrator file") from error
        if not isinstance(content, dict):
            raise CalibrationInputError("calibrator", "JSON of another kind", "a calibrator file")
        if not {"fitted", "kind"} & {*content}:
            raise CalibrationInputError("calibrator", "JSON without one", "a calibrator file")
        if "format" not in content:
            return cls(from_json(text))
        written = content["format"]
        if type(written) is not int or written > FORMAT:
            wanted = f"at most format {FORMAT}, which Fractile {version('fractile')} reads"
            raise CalibrationInputError("calibrator", f"a file of format {written!r:.20}", wanted)
        known = {f.name for f in fields(cls)}
        values = {name: value for name, value in content.items() if name in known}
        fitted = from_json(json.dumps(values.pop("fitted", None)))
        file = cls(fitted, **{name: _read(name, value) for name, value in values.items()})
        if file.groups:
            _check_names(file.groups, file.groups_used)
        if "checksum" in content and content["checksum"] != _checksum(content):
            actual = "another than that of the contents"
            raise CalibrationInputError("checksum", actual, "the file as it was written")
        return file

    @property
    def groups_used(self) -> Mapping[int, Labels]:
        """Groups of the fit, by the place of their column: of those that new rows have to tell."""
        return self.fitted.groups_used if isinstance(self.fitted, FittedGroupMap) else {}

    @property
    def needs_groups(self) -> bool:
        """Whether groups differ in the calibrator, so that new rows have to tell theirs."""
        return bool(self.groups_used)

    @property
    def columns(self) -> tuple[Grouping, ...]:
        """The columns that new rows have to tell, in the order in which `apply` takes them."""
        return tuple(self.groups[column] for column in self.groups_used if self.groups)

    def apply(self, table: object, groups: object | None = None) -> Floats:
        """Calibrate new rows, if they are what the calibrator takes.

        Parameters
        ----------
        table : array_like, data frame or tensor
            Scores, shape (n_samples,), or a row of all classes each, shape (n_samples, n_classes);
            of these an event's score is found first. Columns of a data frame are matched with the
            classes by their names; columns without names are in the order of the classes.
        groups : array_like or data frame, shape (n_samples,) or (n_samples, n_columns), optional
            Of a calibrator by group, each row's value in the columns that it needs, see `columns`;
            where the file names no groups, their numbers in the fit. A group that was not fitted
            adds nothing to the map of all rows: see `unfitted`.

        Returns
        -------
        ndarray of float64
            Calibrated scores, shape (n_samples,); or probabilities, shape (n_samples, n_classes).

        Raises
        ------
        CalibrationInputError
            No table, other classes, another number of columns, or values that do not look like
            what it takes; columns called 0, 1, 2 where the classes have these names in another
            order; no groups where it needs them, or groups where it knows none.
        """
        known = self._group_numbers(groups)
        values = self._values(table)
        if isinstance(self.fitted, FittedVectorMap):
            return self.fitted.predict_proba(self._logits(values))
        if not isinstance(self.fitted, FittedScoreMap):
            raise CalibrationInputError("calibrator", type(self.fitted).__name__, "a map of rows")
        return calibrate(self.fitted, self._scores(values), known)

    def scores(self, table: object) -> Floats:
        """Return the event's score in each new row, which a calibrator of scores is applied to.

        Parameters
        ----------
        table : array_like, data frame or tensor
            As for `apply`.
        """
        return self._scores(self._values(table))

    def unfitted(self, groups: object) -> NDArray[np.bool_]:
        """Mark the rows with a group that was not fitted, which adds nothing in `apply`.

        Parameters
        ----------
        groups : array_like or data frame, shape (n_samples,) or (n_samples, n_columns)
            As for `apply`.
        """
        known = self._group_numbers(groups)
        if known is None:
            return np.zeros(0, dtype=np.bool_)
        pairs = self.groups_used.items()
        missing = [np.isin(_column(known, k), fitted, invert=True) for k, fitted in pairs]
        return np.asarray(np.any(missing, axis=0))

    def _group_numbers(self, groups: object | None) -> Labels | None:
        """Return the number that each row's group had in the fit, in each column of it."""
        if groups is None:
            if not self.needs_groups:
                return None
            names = [repr(one.column) for one in self.columns if one.column]
            columns = f"column{'s' * (len(names) > 1)} {', '.join(names)} of each row"
            raise CalibrationInputError("groups", "none", columns if names else _EACH)
        if not self.needs_groups:
            wanted = f"none, as {type(self.fitted).__name__} knows none"
            raise CalibrationInputError("groups", "some", wanted)
        if self.groups:
            numbers = numbers_of(self.columns, groups)
        else:
            values = validation.array_of(groups, "groups")
            numbers = validation.group_columns(values, n_rows=len(np.atleast_1d(values)))
        return self._in_places(numbers.reshape(len(numbers), -1))

    def _in_places(self, numbers: Labels) -> Labels:
        """Put the columns that are needed where the fit had them; of others no group is known."""
        used, n_used = [*self.groups_used], numbers.shape[1]
        if n_used != len(used):
            raise CalibrationInputError("groups", f"{n_used} columns", f"{len(used)}")
        n_columns = self.fitted.n_groupings if isinstance(self.fitted, FittedGroupMap) else 1
        whole = np.full((len(numbers), n_columns), UNKNOWN, dtype=np.int64)
        whole[:, used] = numbers
        return whole[:, 0] if n_columns == 1 else whole

    def _values(self, table: object) -> NDArray[Any]:
        """Return a table as an array, a column a class in their order."""
        values = validation.array_of(table, "table")
        if not values.ndim:
            actual = "none" if table is None else f"a {type(table).__name__}"
            raise CalibrationInputError("table", actual, "a score, or one of each class, in a row")
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        return values if values.ndim < 2 else self._in_order(values, class_names_of(table))

    def _in_order(self, values: NDArray[Any], names: tuple[str, ...] | None) -> NDArray[Any]:
        """Put columns in the order of the classes, by their names if they have some."""
        if not self.class_names:
            if self.takes == "unknown":
                return values
            actual = f"{values.shape[1]} columns"
            raise CalibrationInputError("table", actual, "one score a row, which it was fitted on")
        listed = ", ".join(self.class_names)
        if values.ndim != 2 or values.shape[1] != len(self.class_names):
            actual = f"an array of shape {values.shape}"
            raise CalibrationInputError("table", actual, f"a column for each of {listed}")
        if names is None or (_are_numbers(names) and {*names} != {*self.class_names}):
            return values
        counted = _are_numbers(names) and names != self.class_names
        if counted or sorted(names) != sorted(self.class_names):
            actual = f"columns {', '.join(names)}"
            raise CalibrationInputError("table", actual, listed + ", in this order" * counted)
        return values[:, [names.index(name) for name in self.class_names]]

    def _logits(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return what a map of all classes was fitted on; of two, the second's score tells both."""
        if values.ndim == 1 and self.takes == "probabilities" and len(self.class_names) == 2:
            values = np.column_stack([1 - validation.scores(values, "table"), values])
        if values.ndim != 2:
            actual = f"an array of shape {values.shape}"
            raise CalibrationInputError("table", actual, "a row of all classes each")
        if self.takes == "unknown":
            return values
        checked = validation.logits(values)
        refuse_percentages(checked, "table")
        if self.takes == "logits":
            if are_probabilities(checked):
                wanted = "logits, the outputs before softmax"
                raise CalibrationInputError("table", "probabilities", wanted)
            return checked
        return LogitSet.from_probabilities(values, np.zeros(len(values), dtype=int)).logits

    def _scores(self, values: NDArray[Any]) -> NDArray[Any]:
        if values.ndim == 1 or self.event is None:
            return values
        none = np.zeros(len(values), dtype=int)
        checked = validation.logits(values)
        refuse_percentages(checked, "table")
        make = LogitSet.from_probabilities if are_probabilities(checked) else LogitSet
        table = make(values, none)
        return self.event.outcomes(table.probabilities, none).scores


def _checksum(content: Mapping[str, object]) -> str:
    rest = {name: value for name, value in content.items() if name != "checksum"}
    written = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(written.encode("ascii")).hexdigest()


def _digest(rows: Rows) -> str:
    arrays = (rows.given, rows.labels) if isinstance(rows, LogitSet) else (rows.scores, rows.hits)
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _are_numbers(names: tuple[str, ...]) -> bool:
    """Return whether columns have no names of their own."""
    return names == tuple(str(number) for number in range(len(names)))


def _event_written(event: Event) -> dict[str, object]:
    match event:
        case TopR(r):
            return {"kind": "top", "r": r}
        case WithinTopR(r):
            return {"kind": "within", "r": r}
        case OneClass(k):
            return {"kind": "class", "k": k}
    raise CalibrationInputError("event", repr(event), "a rank, or a class")


def _event_read(value: Any) -> Event | None:
    try:
        match value:
            case None:
                return None
            case {"kind": "top", "r": int(r)}:
                return TopR(r)
            case {"kind": "within", "r": int(r)}:
                return WithinTopR(r)
            case {"kind": "class", "k": int(k)}:
                return OneClass(k)
    except CalibrationInputError:
        pass
    raise CalibrationInputError("event", f"{value!r:.40}", "a rank, or a class")


_EACH = "the group of each row"


def _column(numbers: Labels, place: int) -> Labels:
    return numbers if numbers.ndim == 1 else numbers[:, place]


def _check_names(groups: tuple[Grouping, ...], used: Mapping[int, Labels]) -> None:
    """Raise if a group of the fit has no name."""
    if max(used, default=-1) >= len(groups):
        actual, wanted = f"{len(groups)} columns", "those of the fit"
        raise CalibrationInputError("groups", actual, wanted)
    for column, fitted in used.items():
        n_names = len(groups[column].names)
        if not np.isin(fitted, np.arange(n_names)).all():
            wanted = "one for every fitted group"
            raise CalibrationInputError("groups", f"{n_names} names", wanted)


def _groups_read(value: Any) -> tuple[Grouping, ...]:
    """Read the groups of every column; files of one column had no list around it."""
    columns = value if isinstance(value, list) else [] if value is None else [value]
    return tuple(map(_grouping_read, columns))


def _grouping_read(value: Any) -> Grouping:
    match value:
        case {"names": list(names), "column": str(column)}:
            cuts = value.get("cuts")
            numbers = cuts if isinstance(cuts, list) else []
            ascend = (
                all(type(one) in {int, float} for one in numbers) and sorted({*numbers}) == numbers
            )
            named = all(isinstance(one, str) for one in names) and len({*names}) == len(names)
            if named and ascend and cuts in (None, numbers):
                return Grouping(tuple(names), column, None if cuts is None else tuple(numbers))
    raise CalibrationInputError("groups", f"{value!r:.40}", "a column, and names of its groups")


def _read(name: str, value: Any) -> Any:
    """Check one field of a file."""
    if name == "event":
        return _event_read(value)
    if name == "takes" and value not in get_args(Takes):
        raise CalibrationInputError(name, repr(value), f"one of {', '.join(get_args(Takes))}")
    if name == "groups":
        return _groups_read(value)
    if name == "class_names" and isinstance(value, list):
        return tuple(str(one) for one in value)
    if name == "figures" and isinstance(value, dict):
        return {key: tuple(sides) for key, sides in value.items() if isinstance(sides, list)}
    if type(value) is not _PLAIN.get(name):
        raise CalibrationInputError(name, f"{value!r:.40}", "what to_json writes there")
    if isinstance(value, int | float) and value < 0:
        raise CalibrationInputError(name, f"{value!r:.40}", "0 or more")
    return value


_PLAIN: dict[str, type] = {
    "takes": str,
    "n_rows": int,
    "data": str,
    "made_by": str,
    "accuracy": float,
    "percent_column": str,
    "column": str,
    "date": str,
    "model": str,
}
