"""Results as pandas tables, for notebooks; pandas is imported when one is made."""

from typing import TYPE_CHECKING

from calibcore.errors import CalibrationInputError
from calibcore.evaluation import SetResult
from calibcore.inference import Inference, Interval, Uncertainty, perfect_limits

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
    limit. Shares are shares, not percent.
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
            "after": one.after,
            "change": one.change,
        }
        finding = None
        if intervals is not None and one.measure in intervals.plan.measures:
            finding = intervals.find(one.measure.key)
        if intervals is not None:
            for side in ("before", "after"):
                known: Uncertainty | None = getattr(finding, side, None)
                row |= _ends(side, None if known is None else known.interval)
                curves = getattr(evaluated, side).curves
                limits = perfect_limits(one.measure, known, curves)
                row |= _ends(f"{side}_limit", Interval(*limits))
            row |= _ends("change", None if finding is None else finding.change)
            row["mark"] = None if finding is None else finding.mark
        rows.append(row)
    keys = Index([one.measure.key for one in evaluated.comparisons], name="measure")
    frame = DataFrame(rows, index=keys)
    numbers = [name for name in frame.columns if name not in {"name", "unit", "mark"}]
    return frame.astype(dict.fromkeys(numbers, "float64"))


def _ends(name: str, interval: Interval | None) -> dict[str, object]:
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return {f"{name}_low": low, f"{name}_high": high}
