"""Words of the comparison of a new batch with an audited one."""

import math

from calibcore.batches import LEVEL, BatchComparison, Moved
from calibcore.metrics import METRICS
from dashboard.wording.numbers import amount, percent, span
from dashboard.wording.rows import rows_of

HEAD = (
    "Measure",
    "Audited",
    "Now",
    "Change",
    "Adjusted p",
    "If only the frequency changed",
    "Detectable",
)

_UNITS = {measure.key: measure.unit for measure in METRICS}


def conclusion(found: BatchComparison) -> str:
    """Return what has changed, and whether the frequency of the event explains it."""
    if not found.moved:
        least = min(row.adjusted for row in found.rows)
        return f"No change detected (smallest adjusted p = {least:.2g})."
    names = ", ".join(row.name for row in found.moved)
    rate = found.find("hit_rate")
    gap = found.find("mean_gap")
    text = f"Changed: {names}."
    if found.beyond_the_frequency:
        beyond = ", ".join(row.name for row in found.beyond_the_frequency)
        if rate.adjusted < LEVEL:
            return f"{text} The frequency of the event changed too, but does not explain: {beyond}."
        return f"{text} The frequency of the event does not explain it."
    if rate.adjusted < LEVEL:
        was, now = percent(rate.reference, found.n_reference), percent(rate.new, found.n_new)
        text += f" The event became {'more' if rate.change > 0 else 'less'} frequent: {was} \u2192"
        text += f" {now}."
        if not math.isnan(gap.expected):
            shown = _value(gap, gap.expected, found.n_new, signed=True)
            text += (
                " That alone can explain what else changed: with it, the audited scores would show"
                f" a mean gap of {shown}."
            )
    return text


def power(found: BatchComparison) -> str:
    """Return what change so many rows would have shown."""
    size = f"{100 * found.size:.3g} percentage points"
    chance = f"{100 * found.power:.0f}%"
    return (
        f"{rows_of(found.n_new).capitalize()} now, {found.n_reference:,} audited: a change of the"
        f" mean gap by {size} would have been detected with probability {chance}."
    )


NOTE = (
    "Change: now minus audited, 95% CI; none for the KS error, which noise only raises. p: adjusted"
    " for all measures (Holm). If only the frequency changed: what the audited scores would show at"
    " the event's new one; * where that does not explain what is seen. Detectable: the change that"
    " would have been detected with 80% power."
)


def cells(row: Moved, found: BatchComparison) -> tuple[str, ...]:
    """Return a row of the table under `HEAD`."""
    n_rows = found.n_new
    change = _value(row, row.change, n_rows, signed=True)
    if row.interval is not None:
        ends = row.interval.low, row.interval.high
        change += f" ({span(*(_written(row, end, n_rows, signed=True) for end in ends))})"
    expected = "\u2013" if math.isnan(row.expected) else _value(row, row.expected, n_rows)
    return (
        row.name,
        _value(row, row.reference, n_rows),
        _value(row, row.new, n_rows),
        change,
        f"{row.adjusted:.2g}" + ("*" if row.adjusted < LEVEL else ""),
        expected + ("*" if row.beyond < LEVEL else ""),
        _value(row, row.visible, n_rows, signed=True).removeprefix("+"),
    )


def _value(row: Moved, value: float, n_rows: int, *, signed: bool = False) -> str:
    """Write a value with its unit; signed, a difference."""
    text = _written(row, value, n_rows, signed=signed)
    if _UNITS[row.key] != "share":
        return text
    return f"{text} pp" if signed or row.key == "mean_gap" else f"{text}%"


def _written(row: Moved, value: float, n_rows: int, *, signed: bool) -> str:
    signs = signed or row.key == "mean_gap"
    return amount(value, _UNITS[row.key], n_rows, signed=signs)
