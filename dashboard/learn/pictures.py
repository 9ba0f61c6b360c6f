"""What the pictures of all lessons share: large enough to be projected, and the two colours.

Scores are blue and solid, what happened is orange and dashed or a bar; grey is what luck alone
does; a dotted line is the truth, where it is known. Nothing is told by colour alone.
"""

from collections.abc import Sequence
from typing import Any

from plotly import graph_objects as go

from dashboard.figures.layout import base_layout, share_axis
from dashboard.figures.palette import Palette

HEIGHT = 360

Trace = dict[str, Any]


def picture(
    title: str,
    traces: Sequence[Trace],
    *,
    x: dict[str, Any],
    y: dict[str, Any],
    names: Sequence[Trace] = (),
    **more: Any,
) -> go.Figure:
    """Make a figure of traces.

    Parameters
    ----------
    title : str
        A name, not a sentence.
    traces : sequence of mappings
        As plotly takes them; their ``type`` is scatter unless given.
    x, y : mapping
        Axes, as `percent_axis` and `number_axis` make them.
    names : sequence of mappings
        Labels in the picture, as `label` makes them; they stand instead of a legend.
    **more
        Of the layout.
    """
    layout = base_layout(title)
    layout["margin"] = {"l": 64, "r": 24, "t": 38, "b": 52, "pad": 4}
    data = [{"type": "scatter", **trace} for trace in traces]
    both = {"xaxis": x, "yaxis": y, "annotations": list(names), "height": HEIGHT, "dragmode": False}
    return go.Figure(data, {**layout, **both, **more})


def percent_axis(title: str, high: float = 1.0, low: float = 0.0) -> dict[str, Any]:
    """Return an axis of shares, in percent."""
    return _large(share_axis(title, (low, high)))


def number_axis(title: str, low: float, high: float, **more: Any) -> dict[str, Any]:
    """Return an axis of numbers."""
    axis = {"title": {"text": title, "standoff": 4}, "range": [low, high], "fixedrange": True}
    return _large({**axis, "zeroline": False, "ticks": "", **more})


def no_axis(low: float, high: float) -> dict[str, Any]:
    """Return an axis that is not drawn, for pictures of people or rows."""
    return {"range": [low, high], "visible": False, "fixedrange": True}


def line(x: Any, y: Any, colour: str, *, dash: str = "solid", **more: Any) -> Trace:
    """Return a line."""
    style = {"color": colour, "width": 3, "dash": dash}
    return {"x": x, "y": y, "mode": "lines", "line": style, "hoverinfo": "skip", **more}


def dots(x: Any, y: Any, colour: Any, *, size: Any = 10, **more: Any) -> Trace:
    """Return dots; ``symbol`` distinguishes kinds by more than colour; ``size`` may be one each."""
    symbol = more.pop("symbol", "circle")
    marker = {"color": colour, "size": size, "symbol": symbol}
    return {"x": x, "y": y, "mode": "markers", "marker": marker, "hoverinfo": "skip", **more}


def bars(x: Any, y: Any, colour: Any, width: Any = None, **more: Any) -> Trace:
    """Return bars."""
    marker = {"color": colour, "line": {"width": 0}}
    shape = {} if width is None else {"width": width}
    return {"type": "bar", "x": x, "y": y, "marker": marker, "hoverinfo": "skip", **shape, **more}


def diagonal(palette: Palette) -> Trace:
    """Return the line on which scores are as large as observed frequencies."""
    return line([0, 1], [0, 1], palette.neutral, dash="dot", name="perfectly calibrated")


def ground(x: Any, low: Any, high: Any, palette: Palette, name: str) -> Trace:
    """Return a grey band between two lines: what luck alone does."""
    return {
        "x": [*x, *reversed(list(x))], "y": [*high, *reversed(list(low))],
        "mode": "lines", "fill": "toself", "fillcolor": palette.band, "name": name,
        "line": {"width": 0}, "hoverinfo": "skip",
    }  # fmt: skip


def label(text: str, x: float, y: float, colour: str, **more: Any) -> Trace:
    """Return a name inside a picture, in the colour of what it names."""
    font = {"size": 14, "color": colour}
    place = {"x": x, "y": y, "showarrow": False, "xanchor": "left", "yanchor": "bottom"}
    return {"text": text, "font": font, **place, **more}


def _large(axis: dict[str, Any]) -> dict[str, Any]:
    title = {**axis["title"], "font": {"size": 14}}
    return {**axis, "title": title, "tickfont": {"size": 13}}
