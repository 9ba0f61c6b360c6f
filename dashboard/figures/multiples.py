"""The reliability of one class, small, so that many can be compared."""

from typing import Any

import numpy as np
from plotly import graph_objects as go

from calibcore.reliability import BinnedReliability
from dashboard.figures.curves import points
from dashboard.figures.drawing import Drawing
from dashboard.figures.layout import base_layout
from dashboard.figures.palette import Palette

SMALL_HEIGHT = 150
"""Pixels of a small picture, of which its axes take nearly 120."""


def class_picture(
    before: BinnedReliability, after: BinnedReliability | None, palette: Palette
) -> go.Figure:
    """Draw the bins of one class before calibration and, to the right, after.

    ``before``: of the class against the others. ``after``: None where no class probabilities are
    left, or nothing has changed: one picture alone.

    In each, over the diagonal, a point per bin with its interval and a line through them.
    """
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        **base_layout(""),
        "title": None,
        "height": SMALL_HEIGHT,
        "margin": {"l": 34, "r": 12, "t": 18, "b": 18, "pad": 0},
        "annotations": [],
    }
    sides = [("Before", before)] if after is None else [("Before", before), ("After", after)]
    for place, (name, binned) in enumerate(sides, start=1):
        number = "" if place == 1 else str(place)
        traces += _side(binned, number, palette)
        start = (place - 1) * 0.54
        layout[f"xaxis{number}"] = {
            **_axis(palette),
            "anchor": f"y{number}",
            "domain": [start, start + 0.46] if after is not None else [0, 1],
        }
        layout[f"yaxis{number}"] = {
            **_axis(palette),
            "anchor": f"x{number}",
            "showticklabels": place == 1,
        }
        if after is not None:
            layout["annotations"].append(_name(name, number, palette))
    return Drawing(traces, layout)  # at once: updating it afterwards takes four times as long


def _side(binned: BinnedReliability, number: str, palette: Palette) -> list[dict[str, Any]]:
    filled = binned.bins.counts > 0
    score, lower, upper = (
        values[filled] for values in (binned.bins.mean_score, binned.lower, binned.upper)
    )
    sizes = np.where(binned.telling[filled], 5.0, 3.0)
    thin = {"color": palette.neutral, "width": 0.75}
    gap = np.full_like(score, np.nan)
    drawn: list[dict[str, Any]] = [
        {
            "x": [0, 1],
            "y": [0, 1],
            "mode": "lines",
            "name": "score = frequency",
            "line": {**thin, "dash": "dot"},
            "hoverinfo": "skip",
        },
        {
            "x": np.stack([score, score, gap], axis=1).ravel(),
            "y": np.stack([lower, upper, gap], axis=1).ravel(),
            "mode": "lines",
            "name": "interval",
            "line": thin,
            "hoverinfo": "skip",
        },
        points(binned.bins, palette, sizes=sizes, width=1),
    ]
    return [{**one, "xaxis": f"x{number}", "yaxis": f"y{number}"} for one in drawn]


def _axis(palette: Palette) -> dict[str, Any]:
    return {
        "range": [-0.04, 1.04],
        "tickvals": [0, 1],
        "ticktext": ["0", "100%"],
        "tickfont": {"size": 10},
        "ticks": "",
        "zeroline": False,
        "showgrid": False,
        "showline": True,
        "mirror": True,
        "linecolor": palette.band,
        "linewidth": 1,
        "fixedrange": True,
        "automargin": False,
    }


def _name(name: str, number: str, palette: Palette) -> dict[str, Any]:
    """Return the name of the side, above its picture."""
    return {
        "xref": f"x{number}",
        "yref": "paper",
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "yshift": 1,
        "text": name,
        "font": {"size": 11, "color": palette.neutral},
        "showarrow": False,
    }
