"""Conditions on an audit's figures, by which a command fails."""

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from calibcore.errors import CalibrationInputError
from calibcore.metrics import METRICS

SUBGROUP = "subgroup.gap"
"""Largest mean gap of a subgroup that chance does not explain, without its sign; 0 without one."""

_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}

_RANGES = {
    "mean_gap": (-1.0, 1.0), "brier": (0.0, 2.0), "calibration_gain": (-2.0, 2.0),
    "auroc": (0.0, 1.0), "observed_expected_ratio": (0.0, math.inf),
}  # fmt: skip
_USUAL = {
    "share": (0.0, 1.0), "squared": (0.0, 1.0), "small": (-2.0, 2.0),
    "number": (-math.inf, math.inf),
}  # fmt: skip
"""Least and largest value of a measure, by its key or else its unit; of others from 0."""

_WRITTEN = re.compile(r"\s*([\w.]+)\s*(>=|<=|>|<)\s*([^\s%]+)(\s*%)?\s*")


@dataclass(frozen=True)
class Condition:
    """One figure compared with a limit.

    Examples
    --------
    >>> Condition.parse("ks_error > 3%").holds({"ks_error": 0.04})
    True
    """

    name: str
    """Key of a measure, or `SUBGROUP`."""
    sign: str
    """How it is compared."""
    limit: float
    """With what."""

    @classmethod
    def parse(cls, text: str) -> "Condition":
        """Read a condition.

        Raises
        ------
        CalibrationInputError
            Another form, no such measure, or a limit that is no number, or one that the measure
            never reaches: ``ks_error>3`` is 3% mistyped, and would never hold.
        """
        found = _WRITTEN.fullmatch(text)
        if found is None:
            raise CalibrationInputError("condition", repr(text), 'one such as "ks_error>0.03"')
        name, sign, number, percent = found.groups()
        known = [measure.key for measure in METRICS]
        if name not in {*known, SUBGROUP}:
            wanted = f"{SUBGROUP} or one of {', '.join(known)}"
            raise CalibrationInputError("condition", repr(name), wanted)
        try:
            limit = float(number) / (100 if percent else 1)
        except ValueError:
            limit = math.nan
        if math.isnan(limit):
            raise CalibrationInputError("condition", repr(number), "a number after the sign")
        low, high = _range_of(name)
        if not (low <= limit <= high and math.isfinite(limit)):
            raise CalibrationInputError(
                "condition", f"{name} {sign} {number}{percent or ''}", _expected(low, high)
            )
        return cls(name, sign, limit)

    def holds(self, figures: Mapping[str, float | None]) -> bool:
        """Return whether it holds.

        Raises
        ------
        CalibrationInputError
            The data leave the figure undefined, so that nothing can be said.
        """
        value = figures.get(self.name)
        if value is None or math.isnan(value):
            raise CalibrationInputError(
                "condition", f"{self.name}, which these data leave undefined", "another measure"
            )
        return _SIGNS[self.sign](value, self.limit)

    def __str__(self) -> str:
        """Write it as it was read."""
        return f"{self.name} {self.sign} {self.limit:g}"


def _range_of(name: str) -> tuple[float, float]:
    """Return the least and the largest value of a figure."""
    units = {measure.key: measure.unit for measure in METRICS} | {SUBGROUP: "share"}
    return _RANGES.get(name, _USUAL.get(units[name], (0.0, math.inf)))


def _expected(low: float, high: float) -> str:
    if math.isfinite(high):
        return f"a limit from {low:g} to {high:g}, or a percentage such as 3%"
    return "a finite limit" if math.isinf(low) else f"a finite limit from {low:g}"
