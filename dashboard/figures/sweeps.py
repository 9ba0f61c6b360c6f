"""Measures against the temperature or the number of knots, with what is chosen marked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from plotly import graph_objects as go

from calibcore.curves import KnotSweep, TemperatureSweep
from calibcore.validation import Floats
from dashboard.figures.intervals import MARGIN, LineEnd, Look, name_ends
from dashboard.figures.layout import HEIGHT, TEXT_SIZE, Sketch, base_layout, plain_line, share_axis
from dashboard.figures.palette import Palette

Unit = Literal["share", "nats"]

TEST, CALIBRATION = "Test set", "Calib. set"
CROSSED, FITTED = "Cross-val.", "Fit"
"""Names of the two lines over the number of knots, of two sets and of one."""

_NEAR, _FLATTENED = 3.0, 1.5
"""A temperature within this factor is near; a line this many times as high as there is cut."""

_UNUSUAL = 3.0
"""Over the number of knots, a line this many times as high as usual is cut."""

PIXELS = HEIGHT - 70
"""Height of the axis."""


@dataclass(frozen=True)
class AxisMark:
    """A place on the horizontal axis that is pointed out."""

    name: str
    """Written above it."""
    place: float
    """Where it is."""
    values: tuple[float, ...]
    """Of each line there."""


@dataclass(frozen=True, eq=False)
class SweepLines:
    """Lines over one axis."""

    title: str
    """Of the figure."""
    along: str
    measure: str
    """Names of the two axes."""
    unit: Unit
    """A share is drawn in percent."""
    x: Floats
    """Horizontal places, ascending; shape (n_places,)."""
    lines: tuple[tuple[str, Floats], ...]
    """Name and values of each line; the first is drawn solid, the second dashed."""


def sweep_graph(
    swept: SweepLines, marks: Sequence[AxisMark], palette: Palette, *, in_log: bool = False
) -> go.Figure:
    """Draw the lines, and a dot on each with a dotted line up to its name at every mark.

    ``swept``: what is drawn. ``marks``: what is pointed out, the manual one last. ``in_log``:
    whether the horizontal axis is logarithmic.

    Lines are named at their ends where there are two. A line that far from the marks is many times
    as high as near them leaves the graph, so that it does not flatten the rest.
    """
    sketch = Sketch()
    drawn = (Look(palette.text, "solid", 2), Look(palette.neutral, "dash", 2))
    pairs = list(zip(swept.lines, drawn, strict=False))
    share = swept.unit == "share"
    shown = "%{y:.2%}" if share else "%{y:.4f}"
    for (name, values), look in pairs:
        sketch.add_scatter(
            x=swept.x,
            y=values,
            mode="lines",
            name=name,
            line=look.line,
            hovertemplate=f"{name}, %{{x:.3~g}}: {shown}<extra></extra>",
        )
    top = _highest(swept, marks, in_log=in_log)
    lowest = _lowest(swept, top)
    _add_marks(sketch, (swept.unit, top), marks, palette, in_log=in_log)
    named = len(pairs) > 1
    layout = base_layout(swept.title, t=48, b=50, **({"r": MARGIN} if named else {}))
    axis = share_axis(swept.measure, (0, top))
    if not share:
        axis["tickformat"] = ".3~g"
    axis |= {"range": [lowest, top], "tickvals": None}
    figure = sketch.figure(
        layout,
        xaxis=_horizontal(swept, in_log=in_log),
        yaxis=axis,
    )
    if named:
        name_ends(figure, _ends(swept, drawn, (lowest, top)), pixels=PIXELS)
    return figure


def _ends(swept: SweepLines, drawn: Sequence[Look], limits: tuple[float, float]) -> list[LineEnd]:
    lowest, top = limits
    last = [(name, float((values[-1] - lowest) / (top - lowest))) for name, values in swept.lines]
    return [
        LineEnd(f"{name} \u2191" if end > 1 else name, end, look)
        for (name, end), look in zip(last, drawn, strict=True)
    ]


def temperature_graphs(
    swept: TemperatureSweep,
    at_fitted: TemperatureSweep,
    by_hand: TemperatureSweep,
    names: tuple[str, str],
    palette: Palette,
) -> dict[str, go.Figure]:
    """Draw NLL, entropy and ECE against the temperature, by their names in the sweep.

    ``swept``: the lines. ``at_fitted``, ``by_hand``: of one temperature each: the fitted one and
    the manual one. ``names``: of these two.
    """
    drawn: tuple[tuple[str, str, str, Unit], ...] = (
        ("nll", "NLL", "NLL (nats)", "nats"),
        ("entropy", "Entropy", "Entropy (nats)", "nats"),
        ("ece", "ECE", f"ECE, equal-width bins ({swept.n_bins})", "share"),
    )
    graphs = {}
    for field, title, axis, unit in drawn:
        lines = ((title, getattr(swept, field)),)
        shown = SweepLines(
            f"{title} by temperature", "Temperature T", axis, unit, swept.temperatures, lines
        )
        marks = [
            AxisMark(name, float(at.temperatures[0]), (float(getattr(at, field)[0]),))
            for name, at in zip(names, (at_fitted, by_hand), strict=True)
        ]
        graphs[field] = sweep_graph(shown, marks, palette, in_log=True)
    return graphs


def knot_graphs(
    swept: KnotSweep, marked: Mapping[int, str], palette: Palette, *, in_folds: bool = False
) -> dict[str, go.Figure]:
    """Draw KS error and NLL of both sets against the number of knots, by the measure's name.

    ``swept``: the lines. ``marked``: numbers of knots and their names, the manual one last; those
    that are not in the sweep are left out. ``in_folds``: whether both sets are the same rows, the
    second cross-validated.
    """
    drawn: tuple[tuple[str, Unit, Floats, Floats], ...] = (
        ("KS error", "share", swept.test_ks, swept.calibration_ks),
        ("NLL (event)", "nats", swept.test_nll, swept.calibration_nll),
    )
    places = {n: name for n, name in marked.items() if n in swept.n_knots}
    graphs, ends = {}, (CROSSED, FITTED) if in_folds else (TEST, CALIBRATION)
    for name, unit, test, calibration in drawn:
        lines = ((ends[0], test), (ends[1], calibration))
        shown = SweepLines(
            f"{name} by number of knots",
            "Knots",
            name if unit == "share" else f"{name} (nats)",
            unit,
            swept.n_knots.astype(np.float64),
            lines,
        )
        marks = [
            AxisMark(text, n, tuple(float(values[swept.place(n)]) for _, values in lines))
            for n, text in places.items()
        ]
        graphs[name] = sweep_graph(shown, marks, palette)
    return graphs


def _highest(swept: SweepLines, marks: Sequence[AxisMark], *, in_log: bool) -> float:
    """Return the top of the axis: what holds the lines, or at least what is near the marks."""
    everything = np.concatenate([values for _, values in swept.lines])
    marked = max((value for mark in marks for value in mark.values), default=0.0)
    usual = _UNUSUAL * float(np.median(everything))
    if in_log and marks:
        near = np.abs(np.log(swept.x / marks[0].place)) < np.log(_NEAR)
        usual = _FLATTENED * max(float(values[near].max()) for _, values in swept.lines)
    return 1.06 * max(min(float(everything.max()), usual), marked) or 1.0


def _lowest(swept: SweepLines, top: float) -> float:
    """Return the bottom of the axis: 0 for shares, a little below the least of the others."""
    if swept.unit == "share":
        return 0.0
    least = min(float(values.min()) for _, values in swept.lines)
    return max(least - 0.08 * (top - least), 0.0)


def _horizontal(swept: SweepLines, *, in_log: bool) -> dict[str, Any]:
    axis = share_axis(swept.along, (0, 1))
    axis |= {"tickformat": ".3~g", "tickvals": None}
    axis["title"] = {**axis["title"], "standoff": 12}
    first, last = float(swept.x[0]), float(swept.x[-1])
    if not in_log:
        return axis | {"range": [first - 0.5, last + 0.5], "nticks": 10}
    ticks = [digit * 10.0**power for power in range(-3, 4) for digit in (1, 2, 5)]
    return axis | {
        "type": "log",
        "range": [np.log10(first), np.log10(last)],
        "tickvals": [tick for tick in ticks if first <= tick <= last * (1 + 1e-9)],
    }


def _add_marks(
    sketch: Sketch,
    axis: tuple[Unit, float],
    marks: Sequence[AxisMark],
    palette: Palette,
    *,
    in_log: bool,
) -> None:
    unit, top = axis
    rightmost = max(range(len(marks)), key=lambda number: (marks[number].place, number), default=0)
    for number, mark in enumerate(marks):
        by_hand = number == len(marks) - 1
        colour = palette.text if by_hand else palette.neutral
        ends, name = [min(mark.values), top], f"{mark.name}, line"
        line = plain_line([mark.place, mark.place], ends, name, colour, width=1, dash="dot")
        sketch.add_scatter(**line)
        sketch.add_scatter(
            x=[mark.place] * len(mark.values),
            y=list(mark.values),
            mode="markers",
            name=mark.name,
            marker={
                "size": 10,
                "symbol": "circle" if by_hand else "diamond",
                "color": colour,
                "line": {"width": 1, "color": palette.ground},
            },
            hovertemplate=f"{mark.name}: "
            + ("%{y:.2%}" if unit == "share" else "%{y:.4f}")
            + "<extra></extra>",
        )
        later = number == rightmost
        sketch.add_annotation(
            x=np.log10(mark.place) if in_log else mark.place,
            y=1,
            yref="y domain",
            yanchor="bottom",
            xanchor="left" if later else "right",
            xshift=3 if later else -3,
            text=mark.name,
            font={"size": TEXT_SIZE, "color": colour},
            showarrow=False,
        )
