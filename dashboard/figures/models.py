"""Several models in the plane of miscalibration and discrimination."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from calibcore.models import Plane
from calibcore.validation import Floats
from dashboard.figures.layout import base_layout, round_step, wrapped
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
    up_name = "Discrimination" if plane.shared else "Adjusted discrimination"
    sides = slice(2 if calibrated else 1)
    across, up = plane.miscalibration[:, sides], plane.discrimination[:, sides]
    x_range, y_range = _range(np.append(across, 0.0)), _range(up)
    x_range = (-0.03 * x_range[1], x_range[1])
    y_range = (y_range[0], y_range[1] + 0.15 * (y_range[1] - y_range[0]))  # for a name
    _add_lines(figure, plane, x_range, y_range, palette)
    if calibrated:
        _add_moves(figure, across, up, palette)
    looks = [("before", "circle-open", palette.neutral)]
    looks += [("after", "circle", palette.text)] if calibrated else []
    for side, (name, symbol, colour) in enumerate(looks):
        figure.add_scatter(
            x=across[:, side],
            y=up[:, side],
            mode="markers",
            name=name,
            marker={
                "symbol": symbol,
                "size": 11,
                "color": colour,
                "line": {"width": 2, "color": colour},
            },
            text=[_shown(one) for one in names],
            customdata=plane.brier[:, side],
            hovertemplate=(
                f"%{{text}}<br>miscalibration %{{x:.4f}}<br>{up_name.lower()} %{{y:.4f}}"
                f"<br>Brier score %{{customdata:.4f}}<extra>{name}</extra>"
            ),
        )
    _name_models(figure, across[:, 0], up[:, 0], names, (x_range, palette))
    title = "\u25cb before \u00a0 \u25cf after calibration" if calibrated else "\u25cb uncalibrated"
    return figure.update_layout(
        base_layout(title),
        height=PIXELS,
        margin={"l": 70, "r": 64, "t": 46, "b": 44},
        xaxis=_axis("Miscalibration (lower is better)", x_range),
        yaxis=_axis(f"{up_name} (higher is better)", y_range),
    )


def _range(values: Floats) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    room = 0.18 * (high - low) or 0.1 * max(high, 1e-3)
    return low - room, high + room


def _axis(title: str, limits: tuple[float, float]) -> dict[str, Any]:
    return {
        "title": {"text": title, "font": {"size": 12}, "standoff": 4},
        "range": list(limits),
        "tickformat": ".3f" if limits[1] - limits[0] > 0.005 else ".4f",
        "nticks": 6,
        "tickfont": {"size": 11},
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
            x=[left, right],
            y=heights,
            mode="lines",
            name="equal Brier score",
            line={"color": palette.neutral, "width": 1, "dash": "dot"},
            hoverinfo="skip",
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
                font={"size": 11, "color": palette.neutral},
                showarrow=False,
            )


def _add_moves(figure: go.Figure, across: Floats, up: Floats, palette: Palette) -> None:
    gap = np.full((len(across), 1), np.nan)
    figure.add_scatter(
        x=np.hstack([across, gap]).ravel(),
        y=np.hstack([up, gap]).ravel(),
        mode="lines",
        name="from before to after",
        line={"color": palette.neutral, "width": 1.25},
        hoverinfo="skip",
    )


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
            text=_shown(name),
            xanchor="left" if rightward else "right",
            align="left" if rightward else "right",
            yanchor="bottom",
            yshift=7,
            bgcolor=palette.ground,
            font={"size": 12, "color": palette.text},
            showarrow=False,
        )


def _shown(name: str) -> str:
    cut = name if len(name) <= _MOST_SIGNS else f"{name[: _MOST_SIGNS - 1]}\u2026"
    return wrapped(cut, NAME_SIGNS)
