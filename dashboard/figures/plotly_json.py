"""A figure as it is sent: in the colours of the page, and so that the browser draws it once."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from plotly import graph_objects as go

from dashboard.figures.drawing import Drawing
from dashboard.figures.graphs import RowMark
from dashboard.figures.layout import TEXT_SIZE
from dashboard.figures.palette import Palette
from dashboard.texts.rows import say_rows

DIGITS = 6
"""Decimals of the points of a line: a fifth of a pixel where an axis is 0.001 long."""

FEW = 100
"""So many numbers are sent as they are."""

_FONT = '"Source Sans", sans-serif'

_GRID = "rgba(128, 132, 149, 0.2)"


@dataclass(frozen=True)
class Titles:
    """How the titles of a figure and of its axes are written."""

    side: str = ""
    """Before or after, put before the figure's title."""
    write: Callable[[str], str] = say_rows
    """Writes a title in the words of the reader; by default rows as they are called."""

    def of_figure(self, title: str) -> str:
        """Return the title of a figure."""
        text = self.write(title)
        return f"{self.side}: {text}" if self.side else text


AS_DRAWN = Titles()


class LightFigure(go.Figure):  # type: ignore[misc]  # plotly has no types
    """A figure to be shown with ``theme=None``.

    ``figure``: what is drawn. ``palette``: colours of what it does not say itself. ``mark``: what
    is added to it. ``titles``: how its titles are written; None for as they are.

    Streamlit hands each figure to plotly.js twice. Under a template, and with arrays of bytes,
    plotly.js takes all of it for new and draws it again, at twice the time. Lists of numbers it
    takes for those it has drawn as long as ``datarevision`` is the same; a figure whose numbers
    change is another one to Streamlit, which draws it from the start.
    """

    def __init__(
        self,
        figure: go.Figure,
        palette: Palette,
        mark: RowMark | None = None,
        titles: Titles | None = None,
    ) -> None:
        # An empty figure of plotly's would be made here in vain: all that is asked for is a dict.
        self._figure, self._palette, self._mark, self._titles = figure, palette, mark, titles

    def to_dict(self) -> dict[str, Any]:
        """Return what is sent."""
        data, layout = _parts(self._figure)
        layout.pop("template", None)
        for name in [name for name in layout if name.startswith(("xaxis", "yaxis"))]:
            layout[name] = _under(_axis(name[0]), layout[name])
        if self._mark is not None:
            data.append({**self._mark.points})
            layout["shapes"] = [*layout.get("shapes", ()), self._mark.line]
        for trace in data:
            if isinstance(trace.get("hovertemplate"), str):
                trace["hovertemplate"] = say_rows(trace["hovertemplate"])
        layout = _under(_page(self._palette), layout)
        if self._titles is not None:
            _write_titles(layout, self._titles)
        return {"data": data, "layout": layout}


def _parts(figure: go.Figure) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return traces and layout, free to be changed."""
    if isinstance(figure, Drawing):
        return [_listed({"type": "scatter", **one}) for one in figure.traces], _listed(figure.plan)
    data = [_listed(trace.to_plotly_json()) for trace in figure.data]
    return data, figure.layout.to_plotly_json()


def _write_titles(layout: dict[str, Any], titles: Titles) -> None:
    for name in [name for name in layout if name.startswith(("title", "xaxis", "yaxis"))]:
        part = layout[name]
        title = part if name == "title" else part.get("title", {})
        if "text" in title:
            write = titles.of_figure if name == "title" else titles.write
            title["text"] = write(title["text"])


def _page(palette: Palette) -> dict[str, Any]:
    font = {"family": _FONT, "color": palette.neutral, "size": TEXT_SIZE}
    return {
        "font": font,
        "title": {"font": {**font, "color": palette.text, "weight": 700}, "pad": {"l": 4}},
        "hoverlabel": {"bgcolor": palette.ground, "bordercolor": palette.band, "font": font},
        "margin": {"pad": 8},
        "datarevision": 1,
    }


def _axis(direction: str) -> dict[str, Any]:
    upright = direction == "y"
    return {
        "gridcolor": _GRID,
        "zerolinecolor": _GRID,
        "showgrid": upright,
        "zeroline": upright,
        "automargin": True,
    }


def _under(usual: dict[str, Any], chosen: dict[str, Any]) -> dict[str, Any]:
    """Return what is chosen, with what is usual under it."""
    both = {
        key: _under(usual[key], value) if isinstance(usual.get(key), dict) else value
        for key, value in chosen.items()
    }
    return usual | both


def _listed(value: Any) -> Any:
    """Return arrays as lists, wherever they are; what is None is not set, and left out."""
    if isinstance(value, dict):
        return {key: _listed(part) for key, part in value.items() if part is not None}
    if isinstance(value, list | tuple):
        return [_listed(part) for part in value]
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.kind != "f":
        return value.tolist()
    sent = value.astype(np.float64)
    if sent.size > FEW:
        sent = sent.round(DIGITS)
    return [None if math.isnan(number) else number for number in sent.tolist()]
