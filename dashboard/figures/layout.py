"""The parts of a figure, gathered before it is made."""

import textwrap
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from calibcore.validation import Floats
from dashboard.figures.drawing import Drawing
from dashboard.figures.palette import Palette
from dashboard.texts.classes import shortened
from dashboard.texts.numbers import MINUS


class Sketch:
    """Lines, bars and names, which `figure` makes into one figure at once.

    Plotly checks the whole figure at each addition, which takes five times as long.
    """

    def __init__(self) -> None:
        self.data: list[dict[str, Any]] = []
        self.annotations: list[dict[str, Any]] = []

    def add_scatter(self, **trace: Any) -> None:
        """Add points or a line, as `plotly.graph_objects.Figure.add_scatter` takes them."""
        self.data.append({"type": "scatter", **trace})

    def add_bar(self, **trace: Any) -> None:
        """Add bars, as `plotly.graph_objects.Figure.add_bar` takes them."""
        self.data.append({"type": "bar", **trace})

    def add_annotation(self, **annotation: Any) -> None:
        """Add a name, as `plotly.graph_objects.Figure.add_annotation` takes it."""
        self.annotations.append(annotation)

    def figure(self, layout: dict[str, Any], **more: Any) -> go.Figure:
        """Make the figure."""
        return Drawing(self.data, {**layout, "annotations": self.annotations, **more})


# What all figures share: size, margins, axes in percent ---------------------------------------


HEIGHT = 280
"""Pixels of a graph."""

TEXT_SIZE = 14
"""Pixels of all text in figures: the least that can be read where a page is projected."""

_STEPS = (1.0, 2.0, 5.0)


def base_layout(title: str, **margin: int) -> dict[str, Any]:
    """Return the layout every graph starts from.

    ``**margin``: pixels at an edge, by plotly's letter for it, where they are not those of all.
    """
    return {
        "title": {"text": title, "font": {"size": TEXT_SIZE}, "x": 0, "xanchor": "left", "y": 0.97},
        "height": HEIGHT,
        "margin": {"l": 58, "r": 18, "t": 30, "b": 42, "pad": 4, **margin},
        "showlegend": False,
        "hovermode": "closest",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    }


def plain_line(
    x: Any, y: Any, name: str, colour: str, *, width: float, dash: str | None = None
) -> dict[str, Any]:
    """Return a line that has no words of its own."""
    style = {"color": colour, "width": width} | ({"dash": dash} if dash else {})
    return {"x": x, "y": y, "mode": "lines", "name": name, "line": style, "hoverinfo": "skip"}


def strip(low: float, high: float, palette: Palette) -> dict[str, Any]:
    """Return a grey strip behind a picture, from one place of its horizontal axis to another."""
    place = {"x0": low, "x1": high, "y0": 0, "y1": 1, "yref": "paper", "layer": "below"}
    return {"type": "rect", **place, "fillcolor": palette.band, "line": {"width": 0}}


def share_axis(title: str, limits: tuple[float, float]) -> dict[str, Any]:
    """Return an axis of shares, drawn in percent from the first to the second limit."""
    axis: dict[str, Any] = {
        "title": {"text": title, "font": {"size": TEXT_SIZE}, "standoff": 4},
        "range": [limits[0] - 0.01 * limits[1], limits[1] * 1.01],
        "tickformat": ".3~%",
        "zeroline": False,
        "fixedrange": True,
        "ticks": "",
        "tickfont": {"size": TEXT_SIZE},
        "tickangle": 0,
        "nticks": 6,
        "automargin": False,
    }
    if limits[1] == 1:
        axis["tickvals"] = [0, 0.2, 0.4, 0.6, 0.8, 1]
    return axis


def round_step(least: float) -> float:
    """Return the smallest step of 1, 2 or 5 times a power of ten that is not below."""
    power = 10.0 ** np.floor(np.log10(least))
    return next((float(power * one) for one in _STEPS if power * one >= least), float(power * 10))


def pp_ticks(low: float, high: float) -> dict[str, Any]:
    """Return round ticks of an axis of differences of shares, in percentage points."""
    step = round_step((high - low) / 6)
    first, last = np.ceil(low / step), np.floor(high / step)
    ticks = (np.arange(first, last + 1) * step + 0.0).tolist()  # no minus before 0
    texts = [f"{100 * tick:.3g}".replace("-", MINUS) for tick in ticks]
    return {"tickvals": ticks, "ticktext": texts}


def same_scale(axis: dict[str, Any]) -> dict[str, Any]:
    """Make a vertical axis as long a percent as the horizontal one."""
    return {**axis, "scaleanchor": "x", "constrain": "domain"}


def unit_range(*ends: float) -> tuple[float, float]:
    """Return the range from 0 that holds every value: 0 to 1 if they fill most of it."""
    highest = max(map(float, ends))
    return (0, 1) if highest > 0.6 or highest == 0 else (0, highest * 1.04)


def names_axis(names: Sequence[str], palette: Palette, **more: Any) -> dict[str, Any]:
    """Return a vertical axis of names, one a row from the top, over dotted lines."""
    return {
        "tickvals": list(range(len(names))),
        "ticktext": list(names),
        "ticks": "",
        "range": [len(names) - 0.5, -0.5],
        "showgrid": True,
        "gridcolor": palette.band,
        "griddash": "dot",
        "zeroline": False,
        "fixedrange": True,
        **more,
    }


def panel(
    k: int, across: dict[str, Any], up: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the axes of one of several pictures in a figure, and what puts a trace on them.

    ``k``: which, from 0. ``across``, ``up``: its axes, each with its domain.
    """
    number = "" if k == 0 else str(k + 1)
    x, y = f"x{number}", f"y{number}"
    axes = {f"xaxis{number}": {**across, "anchor": y}, f"yaxis{number}": {**up, "anchor": x}}
    return axes, {"xaxis": x, "yaxis": y}


def in_corner(text: str, x: float, y: float) -> dict[str, Any]:
    """Return a text in the corner of a graph that is nearest to a place, in shares of its axes."""
    side = "left" if x < 0.5 else "right"
    return {
        "xref": "x domain", "yref": "y domain", "x": x, "y": y,
        "xanchor": side, "yanchor": "top" if y > 0.5 else "bottom", "align": side,
        "text": text, "font": {"size": TEXT_SIZE}, "showarrow": False,
    }  # fmt: skip


def parted(*columns: NDArray[Any]) -> Floats:
    """Return a line in each row as one, which a browser draws faster than many.

    >>> parted(np.array([1.0, 2.0]), np.array([3.0, 4.0])).tolist()
    [1.0, 3.0, nan, 2.0, 4.0, nan]
    """
    apart = np.full(len(columns[0]), np.nan)
    return np.stack([*columns, apart], axis=1).ravel()


def dot(symbol: str, colour: str, size: float, **more: Any) -> dict[str, Any]:
    """Return a mark whose edge is as strong where it is open as where it is filled."""
    edge = {"width": 2, "color": colour}
    return {"symbol": symbol, "size": size, "color": colour, "line": edge, **more}


def sides_key(*, calibrated: bool) -> str:
    """Return the title of a figure of dots that tells its two sides apart."""
    return "\u25cb before \u00a0 \u25cf after calibration" if calibrated else "\u25cb uncalibrated"


def middles(edges: Floats) -> Floats:
    """Return the middle between each edge and the next."""
    return np.asarray((edges[:-1] + edges[1:]) / 2)


def harmless(name: str) -> str:
    """Take away what plotly would read as markup.

    >>> harmless("<b>$x$ & y")
    '&lt;b&gt;x &amp; y'
    """
    return escape(name.replace("$", ""), quote=False)


def wrapped(name: str, n_signs: int, most: int | None = None) -> str:
    """Make text from a file show as it is, on lines of at most so many signs; cut to the most."""
    text = name if most is None else shortened(name, most)
    return "<br>".join(map(harmless, textwrap.wrap(text, n_signs)))
