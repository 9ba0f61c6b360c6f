"""One measure of many calibrators: a line each, cross-validated and on the test set."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from plotly import graph_objects as go

from calibcore.comparison import Contestant, EvaluatedOn, penalty, sides_shown
from calibcore.inference import Interval
from calibcore.metrics import Measure
from calibcore.validation import Floats
from dashboard.figures.layout import (
    TEXT_SIZE,
    base_layout,
    dot,
    harmless,
    names_axis,
    plain_line,
    wrapped,
)
from dashboard.figures.palette import Palette

Changes = Mapping[tuple[str, EvaluatedOn], Interval]
"""Interval of the change from uncalibrated, by calibrator and by where it is evaluated."""

CROSSED, TEST = "cross-validation", "test set"
"""Names of the two marks."""

_ROW, _NAME_WIDTH, _NAME_SIGNS = 36, 172, 27
"""Pixels of a row and of the names, and how many signs fit into them."""

_INSIDE = 0.001
"""Share of the width that marks keep from the edge: outside by a rounding, they would not show."""

_SHIFT = 0.21
"""Rows by which the two marks of a calibrator stand above and below its line."""

_FORMS = {"share": ".1%", "rows": ",.0f", "small": ".5f"}
"""How a value is written at the edge; with three decimals where nothing stands here."""

_UNITS = {"share": "", "nats": ", nats", "squared": "", "small": "", "rows": ", rows", "number": ""}


@dataclass(frozen=True)
class _Look:
    """How the values of one set are drawn."""

    side: EvaluatedOn
    name: str
    symbol: str
    colour: str
    dash: str
    shift: float


def dot_plot(
    contestants: Sequence[Contestant],
    names: Sequence[str],
    measure: Measure,
    palette: Palette,
    changes: Changes | None = None,
) -> go.Figure:
    """Draw one measure of every calibrator, and the uncalibrated values as vertical lines.

    ``contestants``: one per row, from the top. ``names``: theirs. ``measure``: what is drawn;
    calibrators that leave it undefined have an empty row. ``changes``: intervals of the changes,
    drawn as error bars from the line they are changes from.

    A filled dot for cross-validation, an open diamond for the test set, a vertical line each for
    uncalibrated scores. A value far outside stands at the edge, as a triangle with its number;
    error bars end behind that number.
    """
    figure = go.Figure()
    looks = [
        _Look("crossed", CROSSED, "circle", palette.text, "solid", -_SHIFT),
        _Look("test", TEST, "diamond-open", palette.neutral, "dash", _SHIFT),
    ][: len(sides_shown(contestants))]
    bars = {look.side: _error_bars(contestants, measure, look.side, changes) for look in looks}
    limits = _limits(contestants, measure, bars)
    for look in looks:
        _add_line(figure, contestants, measure, look)
        _add_bars(figure, bars[look.side], look)
        _add_dots(figure, contestants, names, measure, look)
    for look in looks:
        _add_far(figure, contestants, measure, look, (limits, palette.ground))
    height = 86 + _ROW * len(contestants)
    test = f" \u00a0 \u25c7 {TEST} \u00a0 lines" if len(looks) > 1 else " \u00a0 line"
    layout = base_layout(f"\u25cf {CROSSED}{test}: uncalibrated")
    return figure.update_layout(
        layout,
        title_y=1 - 9 / height,  # as far from the edge as on a graph of the usual height
        height=height,
        margin={"l": _NAME_WIDTH, "r": 22, "t": 30, "b": 56},
        xaxis=_axis(measure, limits, palette),
        yaxis=names_axis(
            [wrapped(name, _NAME_SIGNS) for name in names],
            palette,
            tickfont={"size": TEXT_SIZE, "color": palette.text},
        ),
    )


def _axis(measure: Measure, limits: tuple[float, float], palette: Palette) -> dict[str, Any]:
    ideal = "" if measure.ideal is None else f"{measure.ideal:g}"
    better = {
        "lower": "better to the left",
        "higher": "better to the right",
        "nearer": f"best at {ideal}",
        "neither": "no direction is better",
    }[measure.better]
    title = f"{measure.name}{_UNITS[measure.unit]}<br>{better}"
    step = (limits[1] - limits[0]) / 10  # at most; two ticks are not to read alike
    digits = max(3, math.ceil(-math.log10(step)))
    return {
        "title": {"text": title, "font": {"size": TEXT_SIZE}, "standoff": 4},
        "range": list(limits),
        "tickformat": {"share": ".3~%", "rows": ",d", "small": ".2~g"}.get(
            measure.unit, f".{digits}~f"
        ),
        "nticks": 6,
        "tickfont": {"size": TEXT_SIZE},
        "showgrid": True,
        "gridcolor": palette.band,
        "gridwidth": 0.5,
        "zeroline": False,
        "fixedrange": True,
    }


def _values(contestants: Sequence[Contestant], measure: Measure, side: EvaluatedOn) -> Floats:
    values = (one.value(measure, side) for one in contestants)
    return np.array([np.nan if value is None else value for value in values])


def _uncalibrated(
    contestants: Sequence[Contestant], measure: Measure, side: EvaluatedOn
) -> float | None:
    return contestants[0].on(side).compare(measure.key).before if contestants else None


def _error_bars(
    contestants: Sequence[Contestant], measure: Measure, side: EvaluatedOn, changes: Changes | None
) -> dict[int, tuple[float, float]]:
    """Return the ends of the error bars by row, counted from the uncalibrated value."""
    start = _uncalibrated(contestants, measure, side)
    if start is None or not changes:
        return {}
    by_row = {row: changes.get((one.key, side)) for row, one in enumerate(contestants)}
    return {
        row: (start + change.low, start + change.high)
        for row, change in by_row.items()
        if change is not None and np.isfinite([change.low, change.high]).all()
    }


def _limits(
    contestants: Sequence[Contestant],
    measure: Measure,
    bars: Mapping[EvaluatedOn, Mapping[int, tuple[float, float]]],
) -> tuple[float, float]:
    """Return a range that holds the uncalibrated value and the better half, with some room."""
    near: list[float] = []
    drawn: list[float] = []
    for side, ends in bars.items():
        values = _values(contestants, measure, side)
        rows = np.flatnonzero(np.isfinite(values)).tolist()
        ordered = sorted(rows, key=lambda row: penalty(measure, float(values[row])))
        better = ordered[: -(-len(ordered) // 2)]
        before = _uncalibrated(contestants, measure, side)
        near += values[better].tolist() + ([before] if before is not None else [])
        near += [end for row in better for end in ends.get(row, ())]
        drawn += values[ordered].tolist() + [end for both in ends.values() for end in both]
    if not near:
        return 0.0, 1.0
    low, high = min(near), max(near)
    width = high - low or abs(high) or 1.0
    low, high = max(min(drawn), low - width / 2), min(max(drawn), high + width / 2)
    room = 0.06 * ((high - low) or width)
    return low - room, high + room


def _add_line(
    figure: go.Figure, contestants: Sequence[Contestant], measure: Measure, look: _Look
) -> None:
    value = _uncalibrated(contestants, measure, look.side)
    if value is None:
        return
    name, ends = f"uncalibrated, {look.name}", [-0.5, len(contestants) - 0.5]
    line = plain_line([value, value], ends, name, look.colour, width=1.25, dash=look.dash)
    figure.add_scatter(**line)


def _add_bars(figure: go.Figure, ends: Mapping[int, tuple[float, float]], look: _Look) -> None:
    x: list[float] = []
    y: list[float] = []
    for row, (low, high) in ends.items():
        x += [low, high, np.nan]
        y += [row + look.shift] * 2 + [np.nan]
    if x:
        figure.add_scatter(**plain_line(x, y, f"95% CI, {look.name}", look.colour, width=2))


def _add_dots(
    figure: go.Figure,
    contestants: Sequence[Contestant],
    names: Sequence[str],
    measure: Measure,
    look: _Look,
) -> None:
    form = {"share": ".2%", "rows": ",d", "small": ".6f"}.get(measure.unit, ".4f")
    figure.add_scatter(
        x=_values(contestants, measure, look.side),
        y=np.arange(len(contestants)) + look.shift,
        text=[harmless(name) for name in names],
        mode="markers",
        name=look.name,
        marker=dot(look.symbol, look.colour, 10),
        cliponaxis=False,  # whole at the edge; those beyond it are hidden
        hovertemplate=f"%{{text}}<br>{look.name}: %{{x:{form}}}<extra></extra>",
    )


def _add_far(
    figure: go.Figure,
    contestants: Sequence[Contestant],
    measure: Measure,
    look: _Look,
    ground: tuple[tuple[float, float], str],
) -> None:
    """Draw a triangle at the edge for each value beyond it, and its number on clear ground."""
    values = _values(contestants, measure, look.side)
    (low, high), behind = ground
    rows = np.flatnonzero((values < low) | (values > high))
    if not rows.size:
        return
    above, inside = values[rows] > high, _INSIDE * (high - low)
    figure.add_scatter(
        x=np.where(above, high - inside, low + inside),
        y=rows + look.shift,
        mode="markers",
        name=f"beyond, {look.name}",
        marker={
            "symbol": np.where(above, "triangle-right", "triangle-left"),
            "size": 9,
            "color": look.colour,
        },
        cliponaxis=False,
        hoverinfo="skip",
    )
    for row, right in zip(rows.tolist(), above.tolist(), strict=True):
        figure.add_annotation(
            x=high if right else low,
            y=row + look.shift,
            text=f"\u00a0{float(values[row]):{_FORMS.get(measure.unit, '.3f')}}\u00a0",
            xanchor="right" if right else "left",
            xshift=-7 if right else 7,
            borderpad=0,
            bgcolor=behind,
            font={"size": TEXT_SIZE, "color": look.colour},
            showarrow=False,
        )
