"""Drift in sentences: since when scores differ, and by how much."""

from collections.abc import Sequence

from calibcore.inference import Drift
from dashboard.wording.numbers import detected_points, escape_markdown, p_words
from dashboard.wording.rows import rows
from dashboard.wording.step import Step
from dashboard.wording.verdicts import DETECTION_LEVEL

TOGETHER = (
    "Drift is tested over all periods together, so it can be detected where no single subgroup is."
)
"""Why drift is detected beside subgroups of which none is miscalibrated."""


def drifts(one: Drift | None) -> bool:
    """Return whether a drift is detected on one side."""
    return one is not None and one.p_value < DETECTION_LEVEL


def drift_line(
    by: str,
    shown: Sequence[str],
    sides: tuple[Drift, Drift | None],
    *,
    expert: bool = False,
    alone: bool = False,
) -> str:
    """Return since when scores differ from before, for Markdown.

    ``by``: the column of dates. ``shown``: its periods, as they are written. ``sides``: before and
    after calibration; after is None where nothing was fitted. ``expert``: whether p-values are
    named. ``alone``: whether no subgroup is miscalibrated on a side that drifts, which is
    explained.
    """
    before, after = sides
    found = [drifts(one) for one in sides]
    name = escape_markdown(by)
    if not any(found):
        when = "" if after is None else ", before or after calibration"
        return f"**Drift over {name}:** none detected{when}."
    one = before if found[0] else after
    if one is None:
        raise AssertionError(sides)
    when = "" if after is None else (" before calibration" if found[0] else " after calibration")
    line = f"**Drift over {name}{when}:** {_change(one, shown, expert=expert)}."
    if after is not None and found == [True, True]:
        line += f" It remains after calibration: {_change(after, shown, expert=expert)}."
    elif after is not None and found[0]:
        line += " After calibration: drift not detected."
    return f"{line} {TOGETHER}" if alone else line


def _change(one: Drift, shown: Sequence[str], *, expert: bool) -> str:
    evidence = f" ({p_words(one.p_value)})" if expert else ""
    return (
        f"since {escape_markdown(shown[one.since])} scores are"
        f" {_size(one.gap_since, one.rows_since)}; until then,"
        f" {_size(one.gap_before, one.rows_before)}{evidence}"
    )


def drift_step(by: str, shown: str, ends: tuple[str, str], split_at: tuple[str, ...] = ()) -> Step:
    """Advise to look at the rows since the scores have changed, with a filter and a split."""
    name, start = escape_markdown(by), escape_markdown(shown)
    split = (
        f" Split at {start} to see how a calibrator fitted before then does on the {rows()} since."
    )
    return Step(
        f"**Check recent {rows()}.** The scores drift over {name}: evaluate those since {start}"
        " alone. The filter changes what is evaluated, not what the calibrator is fitted on."
        f"{split if split_at else ''}",
        link=f"Filter to {shown} and later",
        since=(by, *ends),
        split_at=split_at,
    )


def _size(gap: float, rows: int) -> str:
    """Return a mean gap in words: "too low by 4.1 percentage points"."""
    size = detected_points(abs(gap), rows)
    return f"too {'high' if gap > 0 else 'low'} by {size}"
