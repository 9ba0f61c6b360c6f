"""What ``fractile check`` writes for programs: flat JSON by a schema of its own, and JUnit."""

import json
import math
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import quoteattr

from calibcore.drift import BatchComparison, MeasureChange
from calibcore.group_drift import GroupChanges

FORMAT = 1

SCHEMA = "urn:fractile:check:1"
"""Its ``$id``; the schema is beside this file."""

_NO_PART_OF_XML = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF))


@dataclass(frozen=True, eq=False)
class Subgroups:
    """The subgroups of both batches."""

    changes: GroupChanges
    """What was found."""
    names: tuple[tuple[str, str], ...]
    """Column and value of each; text of the file."""


def record_of(
    comparison: BatchComparison, batch: str, against: str, how: str, groups: Subgroups | None
) -> dict[str, Any]:
    """Return a comparison as plain values; numbers that are undefined are None."""
    return {
        "$schema": SCHEMA,
        "format": FORMAT,
        "batch": batch,
        "against": against,
        "how": how,
        "paired": comparison.changed_outcomes is not None,
        "rows_before": comparison.n_reference,
        "rows_after": comparison.n_new,
        "cause": comparison.cause,
        "level": comparison.rule.level,
        "change": comparison.size,
        "power": _number(comparison.power),
        "changed_outcomes": comparison.changed_outcomes,
        "measures": [_measure(row, comparison) for row in comparison.rows],
        "subgroups": None if groups is None else _subgroups(groups),
    }


def _subgroups(groups: Subgroups) -> list[dict[str, Any]]:
    one = groups.changes
    return [
        {
            "by": by,
            "subgroup": name,
            "measure": "mean_gap",
            "rows_before": int(one.rows_reference[k]),
            "rows_after": int(one.rows_new[k]),
            "before": float(one.reference[k]),
            "after": float(one.new[k]),
            "p": float(one.adjusted[k]),
            "changed": bool(one.moved[k]),
        }
        for k, (by, name) in enumerate(groups.names)
    ]


def _measure(row: MeasureChange, comparison: BatchComparison) -> dict[str, Any]:
    ends = (None, None) if row.interval is None else (row.interval.low, row.interval.high)
    return {
        "measure": row.key,
        "name": row.name,
        "before": row.reference,
        "after": row.new,
        "low": ends[0],
        "high": ends[1],
        "p": row.adjusted,
        "changed": row in comparison.moved,
        "min_change": comparison.rule.least.get(row.key, 0.0),
        "expected": _number(row.expected),
        "p_beyond": _number(row.beyond),
        "detectable": row.visible,
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def json_of(record: dict[str, Any], lacks: str) -> str:
    """Write a record as JSON; ``lacks``: why it fails beside changes, empty if it does not."""
    some = any(one["changed"] for one in record["subgroups"] or ())
    failed = bool(lacks) or some or record["cause"] != "nothing"
    return json.dumps(record | {"failed": failed}, ensure_ascii=False, allow_nan=False, indent=1)


def junit_of(record: dict[str, Any], lacks: str) -> str:
    """Write a record as JUnit does: a test a measure, and one of the power.

    A failure is of the type ``frequency`` where a new frequency of the event explains what changed,
    else ``fit``.
    """
    tests = [(one["measure"], _failure(one, record)) for one in record["measures"]]
    tests += [
        (f"mean_gap of {one['by']} = {one['subgroup']}", _of_subgroup(one))
        for one in record["subgroups"] or ()
    ]
    if record["power"] is not None:
        tests.append(("power", ("power", lacks) if lacks else None))
    n_failed = sum(bool(failure) for _, failure in tests)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name="fractile check" tests="{len(tests)}" failures="{n_failed}" errors="0">',
    ]
    for name, failure in tests:
        head = f"  <testcase classname={_quoted(record['batch'])} name={_quoted(name)}"
        if failure:
            kind, text = failure
            fault = f"<failure type={_quoted(kind)} message={_quoted(text)}/>"
            lines += [f"{head}>", f"    {fault}", "  </testcase>"]
        else:
            lines.append(f"{head}/>")
    return "\n".join([*lines, "</testsuite>", ""])


def _failure(one: dict[str, Any], record: dict[str, Any]) -> tuple[str, str] | None:
    if not one["changed"]:
        return None
    text = f"{one['name']}: {one['before']:.4g} \u2192 {one['after']:.4g}, p = {one['p']:.2g}"
    return record["cause"], text


def _of_subgroup(one: dict[str, Any]) -> tuple[str, str] | None:
    text = f"{one['before']:.4g} \u2192 {one['after']:.4g}, p = {one['p']:.2g}"
    return ("subgroup", text) if one["changed"] else None


def _quoted(text: str) -> str:
    return quoteattr(text.translate(_NO_PART_OF_XML))
