"""Three class probabilities as places in a triangle, and arrows to where calibration takes them."""

import math
from html import escape

import numpy as np
from plotly import graph_objects as go

from calibcore.curves import ClassMoves
from calibcore.validation import Floats
from dashboard.figures.layout import base_layout
from dashboard.figures.palette import Palette

HEIGHT = 380
"""Pixels of the triangle."""

_LONGEST = 26
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, math.sqrt(3) / 2]])
"""Where the three classes are certain."""


def triangle(
    moves: ClassMoves, class_names: tuple[str, ...], title: str, palette: Palette
) -> go.Figure:
    """Draw an arrow from each row's probabilities before to those after.

    ``moves``: of three classes. ``class_names``: of the corners, as they came. ``title``: of the
    figure.

    A dot where a row was and an arrow's head where it is now. The dotted lines separate the three
    regions in which each class is the most probable one.
    """
    figure = go.Figure()
    _add_edges(figure, palette)
    before, after = moves.before @ _CORNERS, moves.after @ _CORNERS
    names = [_shown(name) for name in class_names]
    words = [_words(names, was, now) for was, now in zip(moves.before, moves.after, strict=True)]
    figure.add_scatter(
        x=before[:, 0],
        y=before[:, 1],
        mode="markers",
        name="before",
        marker={"size": 4, "color": palette.neutral},
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=_between(before[:, 0], after[:, 0]),
        y=_between(before[:, 1], after[:, 1]),
        mode="lines+markers",
        name="after",
        line={"color": palette.score, "width": 1.25},
        marker={
            "size": [part for _ in words for part in (0, 8, 0)],
            "symbol": "arrow",
            "angleref": "previous",
            "color": palette.score,
            "line": {"width": 0},
        },
        text=[part for text in words for part in ("", text, "")],
        hovertemplate="%{text}<extra></extra>",
    )
    _name_corners(figure, names, palette)
    hidden = {"visible": False, "fixedrange": True}
    return figure.update_layout(
        base_layout(title),
        height=HEIGHT,
        margin={"l": 8, "r": 8, "t": 30, "b": 8},
        xaxis={**hidden, "range": [-0.12, 1.12]},
        yaxis={**hidden, "range": [-0.12, 1.0], "scaleanchor": "x"},
    )


def _between(start: Floats, end: Floats) -> Floats:
    """Return starts and ends joined, with a gap after each pair."""
    return np.stack([start, end, np.full_like(start, np.nan)], axis=1).ravel().astype(np.float32)


def _shown(name: str) -> str:
    """Return a name from a file so that it shows as it is, on one short line."""
    flat = " ".join(name.replace("$", "").split())
    short = flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}\u2026"
    return escape(short, quote=False)


def _words(names: list[str], before: Floats, after: Floats) -> str:
    return "<br>".join(
        f"{name}: {was:.1%} \u2192 {now:.1%}"
        for name, was, now in zip(names, before, after, strict=True)
    )


def _add_edges(figure: go.Figure, palette: Palette) -> None:
    outline = np.vstack([_CORNERS, _CORNERS[:1]])
    middle = _CORNERS.mean(axis=0)
    halves = (_CORNERS + np.roll(_CORNERS, -1, axis=0)) / 2
    parts = np.stack([np.tile(middle, (3, 1)), halves, np.full((3, 2), np.nan)], axis=1)
    drawn = (
        ("edges", outline, "solid", 1.5),
        ("borders of the predicted classes", parts.reshape(-1, 2), "dot", 1.0),
    )
    for name, places, dash, width in drawn:
        figure.add_scatter(
            x=places[:, 0],
            y=places[:, 1],
            mode="lines",
            name=name,
            line={"color": palette.neutral, "dash": dash, "width": width},
            hoverinfo="skip",
        )


def _name_corners(figure: go.Figure, names: list[str], palette: Palette) -> None:
    anchors = (("center", "top"), ("center", "top"), ("center", "bottom"))
    for name, (x, y), (across, along) in zip(names, _CORNERS, anchors, strict=True):
        figure.add_annotation(
            x=x,
            y=y,
            yshift=-6 if along == "top" else 6,
            xanchor=across,
            yanchor=along,
            text=f"<b>{name}</b>",
            font={"size": 12, "color": palette.text},
            showarrow=False,
        )
