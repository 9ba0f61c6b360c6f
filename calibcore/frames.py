"""Results as pandas tables, for notebooks; pandas is imported when one is made."""

from typing import TYPE_CHECKING

from calibcore.errors import CalibrationInputError
from calibcore.evaluation import SetResult
from calibcore.inference import Inference, Interval, Uncertainty, perfect_limits
from calibcore.metrics import Measure

if TYPE_CHECKING:
    from pandas import DataFrame


def measures_frame(evaluated: SetResult, intervals: Inference | None = None) -> "DataFrame":
    """Tabulate every measure before and after calibration.

    ``evaluated``: one set. ``intervals``: what is known of its measures, found on the same rows.

    One row a measure, by its key: name, unit, before, after and change; with intervals also their
    ends (``before_low``, ``before_high``), the 95% limits under perfect calibration
    (``before_limit_low``, ``before_limit_high``), the same of after, and the change in a word. A
    limit is on the side that is worse, and on both where a value in between is best
    (`calibcore.inference.perfect_limits`). NaN where something is not defined, or a side has no
    limit; all of after and of the change, and no mark, where nothing was fitted. Shares are shares,
    not percent.
    """
    try:
        from pandas import DataFrame, Index  # noqa: PLC0415 - half a second, for notebooks alone
    except ModuleNotFoundError as error:
        raise CalibrationInputError(
            "table", f"no {error.name}", "pandas to be installed"
        ) from error

    rows = []
    for one in evaluated.comparisons:
        row: dict[str, object] = {
            "name": one.measure.name,
            "unit": one.measure.unit,
            "before": one.before,
            "after": one.after if evaluated.calibrated else None,
            "change": one.change if evaluated.calibrated else None,
        }
        if intervals is not None:
            row |= _known(one.measure, evaluated, intervals)
        rows.append(row)
    keys = Index([one.measure.key for one in evaluated.comparisons], name="measure")
    frame = DataFrame(rows, index=keys)
    numbers = [name for name in frame.columns if name not in {"name", "unit", "mark"}]
    return frame.astype(dict.fromkeys(numbers, "float64"))


def _known(measure: Measure, evaluated: SetResult, intervals: Inference) -> dict[str, object]:
    """Return the columns of what is known of a measure."""
    finding = intervals.find(measure.key) if measure in intervals.plan.measures else None
    row: dict[str, object] = {}
    for name, side in (("before", evaluated.before), ("after", evaluated.after)):
        if name == "after" and not evaluated.calibrated:
            row |= _ends(name, None) | _ends(f"{name}_limit", None)
            continue
        known: Uncertainty | None = getattr(finding, name, None)
        row |= _ends(name, None if known is None else known.interval)
        row |= _ends(f"{name}_limit", Interval(*perfect_limits(measure, known, side.curves)))
    calibrated = finding if evaluated.calibrated else None
    row |= _ends("change", None if calibrated is None else calibrated.change)
    return row | {"mark": None if calibrated is None else calibrated.mark}


def _ends(name: str, interval: Interval | None) -> dict[str, object]:
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return {f"{name}_low": low, f"{name}_high": high}
