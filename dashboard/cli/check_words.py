"""Words of the comparison of a new batch with an audited one."""

import math
from collections.abc import Sequence

import numpy as np

from calibcore.drift import LEVEL, BatchComparison, MeasureChange
from calibcore.errors import CalibrationInputError
from calibcore.metrics import METRICS
from dashboard.cli.check_files import Subgroups
from dashboard.cli.pairing import FEWEST, MATCHING, NoPairs, PairedRows
from dashboard.texts.numbers import DASH, amount, percent, span
from dashboard.texts.rows import rows_of

SUBGROUP_HEAD = "Subgroup", "Rows", "Audited", "Now", "Change", "Adjusted p"


def subgroups(groups: Subgroups | None) -> str:
    """Return whether the mean gap of a subgroup changed, or why none was compared."""
    if groups is None:
        return "Subgroups: not compared, which needs the audited rows, or summaries by groups."
    n_groups = len(groups.names)
    if not n_groups:
        return "Subgroups: none to compare."
    n_moved = int(groups.changes.moved.sum())
    if not n_moved:
        least = groups.changes.adjusted.min()
        return (
            f"Subgroups: no change of the mean gap in any of {n_groups} (smallest p = {least:.2g})."
        )
    return f"Subgroups: the mean gap changed in {n_moved} of {n_groups}."


def subgroup_cells(groups: Subgroups) -> list[tuple[str, ...]]:
    """Return the rows of the table of the subgroups that changed, largest change first."""
    one = groups.changes
    order = np.argsort(-np.abs(one.new - one.reference))
    return [
        (
            " = ".join(groups.names[k]),
            f"{one.rows_new[k]:,}",
            *(
                f"{amount(value, 'share', int(one.rows_new[k]), signed=True)} pp"
                for value in (one.reference[k], one.new[k], one.new[k] - one.reference[k])
            ),
            f"{one.adjusted[k]:.2g}",
        )
        for k in order
        if one.moved[k]
    ]


_UNITS = {measure.key: measure.unit for measure in METRICS}

_MOST_FINER = 3

SUMMARY = "a summary keeps no row IDs"
NO_FILE = "the report does not name the audited file"
AUDITED_FILES = "the files that the report names"


# Pairs, or two samples ----------------------------------------------------------------------


def paired(pairs: PairedRows) -> str:
    """Return how many rows are pairs, and which are not compared."""
    n_pairs = pairs.new.n_samples
    text = f"Paired: {n_pairs:,} of {pairs.n_new:,} row IDs match (column {pairs.column})."
    alone = [
        f"{rows_of(count)} {where}"
        for count, where in (
            (pairs.n_new - n_pairs, "of the new batch"),
            (pairs.n_reference - n_pairs, "of the audited file"),
        )
        if count
    ]
    return f"{text} Not compared: {' and '.join(alone)}." if alone else text


def two_samples(why: str) -> str:
    """Return that other rows are compared, and why."""
    return f"Two samples: {why}."


def unmatched(fault: NoPairs, audited: str, new: str) -> str:
    """Return why the rows of two files are no pairs."""
    match fault.why:
        case "none":
            return f"no column of row IDs is in both {audited} and {new}"
        case "repeated":
            return f"row IDs repeat in {fault.file} (column {fault.column})"
        case "counted":
            return (
                f"column {fault.column} only counts the rows; if it names them in both files, add"
                f' --column "{fault.column}=id"'
            )
    if not fault.n_matched:
        return f"no row IDs in common with {audited} (column {fault.column})"
    least = str(FEWEST) if fault.n_matched < FEWEST else f"{MATCHING:.0%}"
    return (
        f"{fault.n_matched:,} of {fault.n_new:,} row IDs match (column {fault.column}), fewer than"
        f" {least}"
    )


def not_here(files: Sequence[str]) -> str:
    """Return that audited files were not found."""
    return f"{_and(files)}, which the report names, {_is(files)} not here; --audited says where"


def other_files(files: Sequence[str]) -> str:
    """Return that files of the names of the audited ones are others."""
    return f"{_and(files)} here {_is(files)} not what was audited (another SHA-256)"


def unread(files: Sequence[str], error: CalibrationInputError) -> str:
    """Return that audited files cannot be read."""
    return f"{_and(files)} cannot be read as in the audit ({error})"


def read_otherwise(files: Sequence[str]) -> str:
    """Return that the rows of the audited files are others when read by the report's options."""
    return f"the audit evaluated other rows of {_and(files)}"


def _and(files: Sequence[str]) -> str:
    return " and ".join(files)


def _is(files: Sequence[str]) -> str:
    return "is" if len(files) == 1 else "are"


# What was found -----------------------------------------------------------------------------


def head(comparison: BatchComparison) -> tuple[str, ...]:
    """Return the heads of the table."""
    changed = "frequency" if comparison.changed_outcomes is None else "outcomes"
    expected = () if comparison.changed_outcomes == 0 else (f"If only the {changed} changed",)
    return "Measure", "Audited", "Now", "Change", "Adjusted p", *expected, "Detectable"


def too_few(comparison: BatchComparison) -> bool:
    """Return whether a batch has too few rows to show the change that is asked about."""
    return not comparison.moved and comparison.power < _POWER


def too_little_power(comparison: BatchComparison, least: float) -> str:
    """Return that the power is below the least that was asked for."""
    return f"Fails: power {comparison.power:.0%}, below {least:.0%}"


_POWER = 0.8
"""Power from which on "no change detected" stands alone."""

_TOO_FEW = "Too few rows ({}) to show a change of the mean gap by {}."


def conclusion(comparison: BatchComparison) -> str:
    """Return what has changed, and whether the frequency of the event explains it."""
    if not comparison.moved:
        few = too_few(comparison)
        least = min(row.adjusted for row in comparison.rows)
        text = f"No change detected (smallest adjusted p = {least:.2g})."
        return (
            f"{_TOO_FEW.format(rows_of(comparison.n_new), _points(comparison.size))} {text}"
            if few
            else text
        )
    text = f"Changed: {', '.join(row.name for row in comparison.moved)}."
    beyond = ", ".join(row.name for row in comparison.beyond_the_frequency)
    rate_moved = any(row.key == "hit_rate" for row in comparison.moved)
    if comparison.changed_outcomes == 0:
        return f"{text} All outcomes are the same as audited: the scores changed."
    if comparison.changed_outcomes is not None and (beyond or not rate_moved):
        what = f"which does not explain: {beyond}" if beyond else "which can explain it"
        changed = f"{comparison.changed_outcomes:,} of {rows_of(comparison.n_new)}"
        return f"{text} The outcome changed in {changed}, {what}."
    if beyond and rate_moved:
        return f"{text} The frequency of the event changed too, but does not explain: {beyond}."
    if beyond:
        return f"{text} The frequency of the event does not explain it."
    return f"{text} {_of_frequency(comparison)}" if rate_moved else text


def _of_frequency(comparison: BatchComparison) -> str:
    """Return that the event's frequency changed, and what that alone would show."""
    rate = comparison.find("hit_rate")
    was, now = percent(rate.reference, comparison.n_reference), percent(rate.new, comparison.n_new)
    text = f"The event became {'more' if rate.change > 0 else 'less'} frequent: {was} \u2192 {now}."
    gap = next((row for row in comparison.rows if row.key == "mean_gap"), None)
    if gap is None or math.isnan(gap.expected):
        return text
    shown = _value(gap, gap.expected, comparison.n_new, signed=True)
    by = "it" if comparison.changed_outcomes is None else "the new outcomes"
    return (
        f"{text} That alone can explain what else changed: with {by}, the audited scores would show"
        f" a mean gap of {shown}."
    )


def power(comparison: BatchComparison) -> str:
    """Return what change so many rows would have shown; of the mean gap alone."""
    if math.isnan(comparison.power):
        return ""
    size = _points(comparison.size)
    chance = f"{100 * comparison.power:.0f}%"
    here = f"{rows_of(comparison.n_new).capitalize()} now, {comparison.n_reference:,} audited"
    if comparison.changed_outcomes is not None:
        here = f"{rows_of(comparison.n_new).capitalize()}, now and as audited"
    return (
        f"{here}: a change of the mean gap by {size} would have been detected with probability"
        f" {chance}."
    )


def note(comparison: BatchComparison) -> str:
    """Return how to read the table."""
    texts = [
        "Change: now minus audited, 95% CI; none for the KS error, which noise only raises.",
        "p: adjusted for all measures (Holm).",
        "Detectable: the change that would have been detected with 80% power.",
    ]
    if comparison.rule.level != LEVEL:
        texts.append(f"Changed: adjusted p below {comparison.rule.level:g}.")
    if least := _least(comparison):
        texts.append(f"p: of a change larger than {least}.")
    if comparison.changed_outcomes is None:
        texts.insert(2, _IF_FREQUENCY)
    elif comparison.changed_outcomes:
        texts.insert(2, _IF_OUTCOMES)
    if comparison.changed_outcomes is not None:
        texts[1] = "p: by swapping audited and new rows, adjusted for all measures (Holm)."
    return " ".join(texts)


def _least(comparison: BatchComparison) -> str:
    """Return the smallest changes that matter, those of one size together."""
    sizes: dict[str, list[str]] = {}
    for row in comparison.rows:
        if size := comparison.rule.least.get(row.key, 0.0):
            shared = _UNITS[row.key] == "share"
            text = _points(size) if shared else f"{size:.3g}"
            sizes.setdefault(text, []).append(row.name)
    return ", ".join(f"{size} ({', '.join(names)})" for size, names in sizes.items())


def _points(share: float) -> str:
    """Write a difference of shares in full, in three digits.

    Examples
    --------
    >>> _points(0.01), _points(0.025)
    ('1 percentage point', '2.5 percentage points')
    """
    number = f"{100 * share:.3g}"
    return f"{number} percentage point{'' if number == '1' else 's'}"


_IF_FREQUENCY = (
    "If only the frequency changed: what the audited scores would show at the event's new one; *"
    " where that does not explain what is seen."
)

_IF_OUTCOMES = (
    "If only the outcomes changed: what the audited scores would show with the new outcomes; *"
    " where that does not explain what is seen."
)


def cells(row: MeasureChange, comparison: BatchComparison) -> tuple[str, ...]:
    """Return a row of the table under `head`."""
    n_rows, same = comparison.n_new, comparison.changed_outcomes == 0
    first = row.name, _value(row, row.reference, n_rows), _value(row, row.new, n_rows)
    if same and row.key == "hit_rate":
        return *first, "same outcomes", DASH, DASH
    finer = 0 if comparison.changed_outcomes is None else _finer(row, n_rows)
    change = _value(row, row.change, n_rows, signed=True, finer=finer)
    if row.interval is not None:
        ends = row.interval.low, row.interval.high
        low, high = (_written(row, end, n_rows, signed=True, finer=finer) for end in ends)
        change += f" ({span(low, high)})"
    expected = DASH if math.isnan(row.expected) else _value(row, row.expected, n_rows)
    visible = _value(row, row.visible, n_rows, signed=True, finer=finer)
    return (
        *first,
        change,
        f"{row.adjusted:.2g}",
        *(() if same else (expected + ("*" if row.beyond < comparison.rule.level else ""),)),
        visible.removeprefix("+"),
    )


def _finer(row: MeasureChange, n_rows: int) -> int:
    """Count the decimals beyond the usual ones with which the detectable change has two digits."""
    texts = (amount(row.visible, _UNITS[row.key], n_rows, finer=k) for k in range(_MOST_FINER))
    return next((k for k, text in enumerate(texts) if len(text.lstrip("0.")) > 1), 0)


def _value(
    row: MeasureChange, value: float, n_rows: int, *, signed: bool = False, finer: int = 0
) -> str:
    """Write a value with its unit; signed, a difference."""
    text = _written(row, value, n_rows, signed=signed, finer=finer)
    if _UNITS[row.key] != "share":
        return text
    return f"{text} pp" if signed or row.key == "mean_gap" else f"{text}%"


def _written(row: MeasureChange, value: float, n_rows: int, *, signed: bool, finer: int) -> str:
    signs = signed or row.key == "mean_gap"
    return amount(value, _UNITS[row.key], n_rows, signed=signs, finer=finer)
