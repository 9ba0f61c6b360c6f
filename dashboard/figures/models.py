"""Several models beside each other, and series of networks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from plotly import graph_objects as go

from calibcore.models import Plane
from calibcore.series import Checkpoint
from calibcore.validation import Floats
from dashboard.figures.layout import (
    TEXT_SIZE,
    Sketch,
    base_layout,
    dot,
    harmless,
    names_axis,
    parted,
    plain_line,
    round_step,
    share_axis,
    sides_key,
    strip,
    wrapped,
)
from dashboard.figures.palette import Palette

PIXELS = 360
NAME_SIGNS = 26

_MOST_SIGNS = 36


def plane_figure(
    plane: Plane, names: Sequence[str], palette: Palette, *, calibrated: bool
) -> go.Figure:
    """Draw each model before and after calibration over lines of equal Brier score.

    ``plane``: the points. ``names``: of the models, as the files have them. ``calibrated``: whether
    there is an after.

    Miscalibration across, discrimination up: a named circle before calibration, and a line to a dot
    after it. Dotted lines of equal Brier score rise to the right.
    """
    figure = go.Figure()
    up_name = "Discrimination" if plane.shared else "Discrimination at equal uncertainty"
    sides = slice(2 if calibrated else 1)
    across, up = plane.miscalibration[:, sides], plane.discrimination[:, sides]
    x_range, y_range = _range(np.append(across, 0.0)), _range(up)
    x_range = (-0.03 * x_range[1], x_range[1])
    y_range = (y_range[0], y_range[1] + 0.15 * (y_range[1] - y_range[0]))  # for a name
    _add_lines(figure, plane, x_range, y_range, palette)
    if calibrated:
        _add_moves(figure, across, up, palette)
    for side, look in enumerate(_sides(palette, calibrated=calibrated)):
        figure.add_scatter(
            x=across[:, side],
            y=up[:, side],
            text=[wrapped(one, NAME_SIGNS, _MOST_SIGNS) for one in names],
            customdata=plane.brier[:, side],
            hovertemplate=(
                f"%{{text}}<br>miscalibration %{{x:.4f}}<br>{up_name.lower()} %{{y:.4f}}"
                f"<br>Brier score %{{customdata:.4f}}<extra>{look['name']}</extra>"
            ),
            **look,
        )
    _name_models(figure, across[:, 0], up[:, 0], names, (x_range, palette))
    return figure.update_layout(
        base_layout(sides_key(calibrated=calibrated)),
        height=PIXELS,
        margin={"l": 70, "r": 64, "t": 46, "b": 44},
        xaxis=_axis("Miscalibration (lower is better)", x_range),
        yaxis=_axis(f"{up_name} (higher is better)", y_range),
    )


def measure_figure(
    rows: Sequence[tuple[str, float, float]], measure: str, palette: Palette, *, calibrated: bool
) -> go.Figure:
    """Draw one measure, a share, of every model: an open circle before, a dot after calibration.

    ``rows``: name of each model, as the files have it, and its values; from the top.
    """
    figure, places = go.Figure(), list(range(len(rows)))
    if calibrated:
        moves = np.array([one[1:] for one in rows]), np.array([(k, k) for k in places])
        _add_moves(figure, *moves, palette)
    for side, look in enumerate(_sides(palette, calibrated=calibrated), start=1):
        figure.add_scatter(
            x=[float(one[side]) for one in rows],
            y=places,
            text=[wrapped(one[0], NAME_SIGNS, _MOST_SIGNS) for one in rows],
            hovertemplate=f"%{{text}}<br>{measure} %{{x:.2%}}<extra>{look['name']}</extra>",
            **look,
        )
    highest = max(max(one[1:]) for one in rows)
    return figure.update_layout(
        base_layout(sides_key(calibrated=calibrated)),
        height=88 + 36 * len(rows),
        margin={"l": 170, "r": 22, "t": 34, "b": 48},
        xaxis=share_axis(f"{measure} (lower is better)", (0.0, 1.06 * highest or 1e-3)),
        yaxis=names_axis([wrapped(one[0], NAME_SIGNS) for one in rows], palette),
    )


def _sides(palette: Palette, *, calibrated: bool) -> list[dict[str, Any]]:
    """Return the looks of before and, where there is one, of after."""
    looks = [("before", "circle-open", palette.neutral), ("after", "circle", palette.text)]
    return [
        {"mode": "markers", "name": name, "marker": dot(symbol, colour, 11)}
        for name, symbol, colour in looks[: 2 if calibrated else 1]
    ]


def _range(values: Floats) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    room = 0.18 * (high - low) or 0.1 * max(high, 1e-3)
    return low - room, high + room


def _axis(title: str, limits: tuple[float, float]) -> dict[str, Any]:
    return {
        "title": {"text": title, "font": {"size": TEXT_SIZE}, "standoff": 4},
        "range": list(limits),
        "tickformat": ".3f" if limits[1] - limits[0] > 0.005 else ".4f",
        "nticks": 6,
        "tickfont": {"size": TEXT_SIZE},
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
    }


def _add_lines(
    figure: go.Figure,
    plane: Plane,
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    palette: Palette,
) -> None:
    """Add some lines of equal Brier score, named where they leave the graph at the right."""
    (left, right), base = x_range, plane.uncertainty
    lowest, highest = left - y_range[1] + base, right - y_range[0] + base
    step = round_step((highest - lowest) / 6)
    digits = max(-int(np.floor(np.log10(step))), 0)
    for score in (np.arange(np.ceil(lowest / step), np.floor(highest / step) + 1) * step).tolist():
        heights = np.array([left, right]) - score + base
        figure.add_scatter(
            **plain_line(
                [left, right], heights, "equal Brier score", palette.neutral, width=1, dash="dot"
            )
        )
        if y_range[0] <= heights[1] and left < y_range[1] + score - base:
            beyond = heights[1] > y_range[1]  # it leaves the graph above
            figure.add_annotation(
                x=y_range[1] + score - base if beyond else right,
                y=min(heights[1], y_range[1]),
                text=f"Brier {score:.{digits}f}",
                xanchor="center" if beyond else "left",
                yanchor="bottom" if beyond else "middle",
                xshift=0 if beyond else 3,
                font={"size": TEXT_SIZE, "color": palette.neutral},
                showarrow=False,
            )


def _add_moves(figure: go.Figure, across: Floats, up: Floats, palette: Palette) -> None:
    ends, name = (parted(*across.T), parted(*up.T)), "from before to after"
    figure.add_scatter(**plain_line(*ends, name, palette.neutral, width=1.25))


def _name_models(
    figure: go.Figure,
    across: Floats,
    up: Floats,
    names: Sequence[str],
    look: tuple[tuple[float, float], Palette],
) -> None:
    """Add each model's name next to its circle, on the side with more room."""
    (left, right), palette = look
    for x, y, name in zip(across.tolist(), up.tolist(), names, strict=True):
        rightward = x < (left + right) / 2
        figure.add_annotation(
            x=x,
            y=y,
            text=wrapped(name, NAME_SIGNS, _MOST_SIGNS),
            xanchor="left" if rightward else "right",
            align="left" if rightward else "right",
            yanchor="bottom",
            yshift=7,
            bgcolor=palette.ground,
            font={"size": TEXT_SIZE, "color": palette.text},
            showarrow=False,
        )


Kind = Literal["share", "nats", "temperature"]

HEIGHT = 240

WIDE_RANGE = 100.0
"""Numbers above 0 whose largest is so many times the smallest are drawn on a logarithmic axis."""


@dataclass(frozen=True)
class SeriesPanel:
    """One picture."""

    field: str
    """Of `Checkpoint`; two values are before and after."""
    title: str
    """Of the picture."""
    kind: Kind
    """How its axis is drawn."""


PANELS = (
    SeriesPanel("error", "Error", "share"),
    SeriesPanel("nll", "NLL (nats)", "nats"),
    SeriesPanel("entropy", "Entropy (nats)", "nats"),
    SeriesPanel("ece", "ECE", "share"),
    SeriesPanel("ks_error", "KS error", "share"),
    SeriesPanel("classwise_ece", "Class-wise ECE", "share"),
    SeriesPanel("temperature", "Temperature T", "temperature"),
)
"""The pictures, in their order on the page."""

_FORMATS = {"share": ".2%", "nats": ".4f", "temperature": ".3f"}


def values_of(panel: SeriesPanel, checkpoints: Sequence[Checkpoint]) -> Floats:
    """Return the values of a picture: shape (2, n) before and after, or (1, n) where none changes.

    ``panel``: which picture. ``checkpoints``: the series, ascending.
    """
    values = [getattr(one, panel.field) for one in checkpoints]
    return np.atleast_2d(np.array(values, dtype=np.float64).T)


def series_graph(
    panel: SeriesPanel,
    checkpoints: Sequence[Checkpoint],
    along: str,
    palette: Palette,
    overfit: tuple[float, float] | None = None,
) -> go.Figure:
    """Draw one measure over the number of the series.

    ``panel``: which measure. ``checkpoints``: the series, ascending. ``along``: what the number is.
    ``overfit``: from the lowest NLL to the lowest error, which is shaded.

    A solid line with filled dots before, a dashed one with open squares after.
    """
    sketch, numbers = Sketch(), [one.number for one in checkpoints]
    values = values_of(panel, checkpoints)
    in_log = numbers[0] > 0 and numbers[-1] / numbers[0] >= WIDE_RANGE
    for place, (name, line) in enumerate(zip(("before", "after"), values, strict=False)):
        look = _look(place, palette)
        shown = f"%{{x:.6~g}}: %{{y:{_FORMATS[panel.kind]}}}"
        named = f"{name}, " if len(values) > 1 else ""
        sketch.add_scatter(
            x=numbers, y=line, mode="lines+markers", name=name, cliponaxis=False, **look,
            hovertemplate=f"{named}{shown}<extra></extra>",
        )  # fmt: skip
    if len(values) > 1:
        _name_lines(sketch, numbers[-1], values, palette, in_log=in_log)
    shapes = []
    if overfit is not None:
        shapes.append(strip(min(overfit), max(overfit), palette) | {"opacity": 0.5})
    if panel.kind == "temperature":
        shapes.append(_one(palette))
    return sketch.figure(
        base_layout(panel.title, l=50, r=14, t=32, b=44),
        height=HEIGHT,
        shapes=shapes,
        xaxis=_horizontal(numbers, along, in_log=in_log),
        yaxis=_vertical(panel, values),
    )


def _look(place: int, palette: Palette) -> dict[str, Any]:
    colour = (palette.text, palette.neutral)[place]
    edge = {"width": 1.5, "color": colour}
    inside = (colour, palette.ground)[place]
    marker = {"size": 7, "symbol": ("circle", "square")[place], "color": inside, "line": edge}
    return {"line": {"color": colour, "width": 2, "dash": ("solid", "dash")[place]}} | {
        "marker": marker
    }


def _name_lines(
    sketch: Sketch, last: float, values: Floats, palette: Palette, *, in_log: bool
) -> None:
    """Add the names of both lines at their right ends, one above, one below."""
    higher = int(values[1, -1] > values[0, -1])
    for place, name in enumerate(("Before", "After")):
        above = place == higher
        sketch.add_annotation(
            x=np.log10(last) if in_log else last,
            y=float(values[place, -1]),
            text=name,
            showarrow=False,
            xanchor="right",
            yanchor="bottom" if above else "top",
            yshift=6 if above else -6,
            font={"size": TEXT_SIZE, "color": (palette.text, palette.neutral)[place]},
        )


def _one(palette: Palette) -> dict[str, Any]:
    """Return the line of T = 1, where nothing is changed."""
    line = {"color": palette.neutral, "width": 1, "dash": "dot"}
    return {"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": 1, "y1": 1, "line": line}


def _horizontal(numbers: Sequence[float], along: str, *, in_log: bool) -> dict[str, Any]:
    axis = share_axis(harmless(along), (0, 1)) | {"tickformat": ".6~g", "tickvals": None}
    if in_log:
        ends = np.log10([numbers[0], numbers[-1]])
        room = 0.05 * (ends[1] - ends[0])
        return axis | {"type": "log", "range": [ends[0] - room, ends[1] + room], "dtick": 1}
    room = 0.05 * (numbers[-1] - numbers[0]) or 0.5
    return axis | {"range": [numbers[0] - room, numbers[-1] + room], "nticks": 8}


def _vertical(panel: SeriesPanel, values: Floats) -> dict[str, Any]:
    """Return the axis: from 0 for calibration errors, else around the values."""
    low, high = float(values.min()), float(values.max())
    if panel.kind == "temperature":
        low, high = min(low, 1.0), max(high, 1.0)
    room = 0.14 * (high - low) or 0.1 * (abs(high) or 1.0)
    lowest = 0.0 if panel.field in ("ece", "ks_error", "classwise_ece") else max(low - room, 0.0)
    axis = share_axis("", (0, 1)) | {"range": [lowest, high + room], "tickvals": None}
    if panel.kind != "share":
        axis["tickformat"] = ".3~g"
    return axis
