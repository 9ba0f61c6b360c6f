"""What acting on a score is worth: net benefit by cut-off, accuracy by how many are kept."""

from collections.abc import Sequence

import numpy as np
from plotly import graph_objects as go

from calibcore.decisions import DecisionCurve
from calibcore.selective import RiskCoverage
from calibcore.validation import Floats
from dashboard.figures.intervals import MARGIN, LineEnd, Look, name_ends
from dashboard.figures.layout import HEIGHT, base_layout, share_axis
from dashboard.figures.palette import Palette
from dashboard.figures.thinning import thin
from dashboard.texts.rows import say_rows

MESH = np.linspace(0.005, 0.995, 199)
"""Cut-offs of the curve."""

ALL, NONE = "All rows", "No row"
TALL = HEIGHT + 60
_PIXELS = TALL - 72


def side_looks(palette: Palette) -> tuple[Look, Look]:
    """Return how lines before and after are drawn."""
    return Look(palette.neutral, "dash", 2.0), Look(palette.score, "solid", 2.5)


def decision_graph(
    sides: Sequence[tuple[str, DecisionCurve]], cutoff: float, palette: Palette
) -> go.Figure:
    """Draw net benefit against the cut-off, per 100 rows.

    ``sides``: name and curve, before first. ``cutoff``: the one that is chosen, which is marked.

    The axis ends where calling all rows costs a fifth of what a model that knew every outcome would
    gain.
    """
    first = sides[0][1]
    top, bottom = 105 * first.prevalence or 1.0, -21 * first.prevalence
    figure, ends = go.Figure(), []
    every, none = (Look(palette.neutral, dash, 1.5) for dash in ("dashdot", "dot"))
    drawn = [(say_rows(ALL), first.every, every), (NONE, np.zeros(first.cutoff.size), none)]
    for (name, curve), look in zip(sides, side_looks(palette)[-len(sides) :], strict=True):
        drawn.append((name, curve.model, look))
    for name, values, look in drawn:
        height = 100 * values
        _add(figure, first.cutoff, height, (name, look), "%{y:.2f} per 100 rows")
        inside = height[height >= bottom]
        last = float(inside[-1]) if inside.size == height.size else bottom
        ends.append(LineEnd(name, (last - bottom) / (top - bottom), look))
    name_ends(figure, ends, pixels=_PIXELS)
    figure.add_vline(x=cutoff, line={"color": palette.text, "width": 1, "dash": "dot"})
    return figure.update_layout(
        base_layout("Net benefit by cut-off", r=MARGIN),
        height=TALL,
        xaxis=share_axis("Cut-off", (0, 1)),
        yaxis={
            **share_axis(say_rows("Net benefit per 100 rows"), (0, top)),
            "range": [bottom, top],
            "tickformat": ".3~g",
        },
    )


def coverage_graph(
    sides: Sequence[tuple[str, RiskCoverage]], number: float | None, palette: Palette
) -> go.Figure:
    """Draw accuracy among the rows with the highest scores against the share that is kept.

    ``sides``: name and curve, before first. ``number``: share that is chosen, which is marked.
    """
    figure, ends = go.Figure(), []
    usual = [curve.accuracy[curve.coverage >= 0.02] for _, curve in sides]
    low = max(min(float(each.min()) for each in usual) - 0.02, 0.0)
    for (name, curve), look in zip(sides, side_looks(palette)[-len(sides) :], strict=True):
        _add(figure, curve.coverage, curve.accuracy, (name, look), "accuracy %{y:.1%}")
        ends.append(LineEnd(name, (float(curve.accuracy[-1]) - low) / (1.01 - low), look))
    name_ends(figure, ends, pixels=_PIXELS)
    if number is not None:
        figure.add_vline(x=number, line={"color": palette.text, "width": 1, "dash": "dot"})
    return figure.update_layout(
        base_layout(say_rows("Accuracy by share of rows kept"), r=MARGIN),
        height=TALL,
        xaxis=share_axis(say_rows("Share of rows kept, highest score first"), (0, 1)),
        yaxis={**share_axis("Accuracy", (0, 1)), "range": [low, 1.01], "tickvals": None},
    )


def _add(figure: go.Figure, x: Floats, y: Floats, named: tuple[str, Look], words: str) -> None:
    name, look = named
    shown = thin(x, y)
    figure.add_scatter(
        x=x[shown].astype(np.float32),
        y=y[shown].astype(np.float32),
        mode="lines",
        name=name,
        line=look.line,
        hovertemplate=f"{name}: %{{x:.1%}}<br>{words}<extra></extra>",
    )
