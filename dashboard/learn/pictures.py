"""What the pictures of all lessons share: large enough to be projected, and the two colours.

Scores are blue and solid, what happened is orange and dashed or a bar; grey is what luck alone
does; a dotted line is the truth, where it is known. Nothing is told by colour alone.
"""

from collections.abc import Sequence
from typing import Any

from plotly import graph_objects as go

from calibcore.binning import BinTable
from dashboard.figures.drawing import Drawing
from dashboard.figures.layout import TEXT_SIZE, base_layout, share_axis
from dashboard.figures.palette import Palette

HEIGHT = 300

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

    ``title``: a name, not a sentence. ``traces``: as plotly takes them; their ``type`` is scatter
    unless given. ``x``, ``y``: axes, as `percent_axis` and `number_axis` make them. ``names``:
    labels in the picture, as `label` makes them; they stand instead of a legend. ``**more``: of the
    layout.
    """
    layout = base_layout(title, **margin(top=34, bottom=46))
    both = {"xaxis": x, "yaxis": y, "annotations": list(names), "height": HEIGHT, "dragmode": False}
    return Drawing(traces, {**layout, **both, **more})


def by_score(
    title: str,
    traces: Sequence[Trace],
    names: Sequence[Trace] = (),
    *,
    x: str = "Score",
    **more: Any,
) -> go.Figure:
    """Make a figure of observed frequencies by score; parameters are those of `picture`."""
    across, up = percent_axis(x), percent_axis("Observed frequency")
    return picture(title, traces, x=across, y=up, names=names, **more)


def margin(left: int = 64, top: int = 38, bottom: int = 52) -> dict[str, int]:
    """Return the margins of a picture whose own are not those of all, in pixels."""
    return {"l": left, "r": 24, "t": top, "b": bottom, "pad": 4}


def percent_axis(title: str, high: float = 1.0, low: float = 0.0) -> dict[str, Any]:
    """Return an axis of shares, in percent."""
    return share_axis(title, (low, high))


def number_axis(title: str, low: float, high: float, **more: Any) -> dict[str, Any]:
    """Return an axis of numbers."""
    font = {"size": TEXT_SIZE}
    return {
        "title": {"text": title, "font": font, "standoff": 4}, "tickfont": font, "tickangle": 0,
        "range": [low, high], "fixedrange": True, "zeroline": False, "ticks": "", **more,
    }  # fmt: skip


def no_axis(low: float, high: float) -> dict[str, Any]:
    """Return an axis that is not drawn, for pictures of people or rows."""
    return {"range": [low, high], "visible": False, "fixedrange": True}


def line(
    x: Any, y: Any, colour: str, *, dash: str = "solid", width: float = 3, **more: Any
) -> Trace:
    """Return a line."""
    style = {"color": colour, "width": width, "dash": dash}
    return {"x": x, "y": y, "mode": "lines", "line": style, "hoverinfo": "skip", **more}


def dots(x: Any, y: Any, colour: Any, *, size: Any = 10, **more: Any) -> Trace:
    """Return dots; ``symbol`` distinguishes kinds by more than colour; ``size`` may be one each."""
    symbol = more.pop("symbol", "circle")
    edge = {"color": colour, "width": 2}
    marker = {"color": colour, "size": size, "symbol": symbol, "line": edge}
    return {"x": x, "y": y, "mode": "markers", "marker": marker, "hoverinfo": "skip", **more}


def bars(x: Any, y: Any, colour: Any, width: Any = None, **more: Any) -> Trace:
    """Return bars."""
    marker = {"color": colour, "line": {"width": 0}}
    shape = {} if width is None else {"width": width}
    return {"type": "bar", "x": x, "y": y, "marker": marker, "hoverinfo": "skip", **shape, **more}


def bin_bars(table: BinTable, palette: Palette, least: int = 1) -> list[Trace]:
    """Return a reliability diagram, of bins with so many rows: bars, diagonal, mean scores."""
    shown = table.counts >= least
    low, high = table.edges[:-1][shown], table.edges[1:][shown]
    heights, score = table.frequency[shown], table.mean_score[shown]
    bar_trace = bars((low + high) / 2, heights, palette.frequency, high - low, opacity=0.6)
    # A bar of 0 is its edge alone: without one, a bin with none looks like no bin.
    bar_trace["marker"]["line"] = {"width": 2, "color": palette.frequency}
    means = dots(score, score, palette.score, size=9, cliponaxis=False)
    return [bar_trace, diagonal(palette), means]


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


def luck(limit: float, palette: Palette) -> Trace:
    """Return the band in which luck keeps a cumulative gap."""
    return ground([0, 1], [-limit] * 2, [limit] * 2, palette, "luck")


def boxed(text: str, x: float, y: float, colour: str, palette: Palette, **more: Any) -> Trace:
    """Return a `label` that can be read over bars."""
    return label(text, x, y, colour, bgcolor=palette.ground, borderpad=2, **more)


def label(text: str, x: float, y: float, colour: str, **more: Any) -> Trace:
    """Return a name inside a picture, in the colour of what it names."""
    font = {"size": TEXT_SIZE, "color": colour}
    place = {"x": x, "y": y, "showarrow": False, "xanchor": "left", "yanchor": "bottom"}
    return {"text": text, "font": font, **place, **more}


def names_at_end(named: Sequence[tuple[str, float, str]], x: float, high: float) -> list[Trace]:
    """Return the names of lines at their right ends, kept apart where the ends are near.

    ``named``: where each line ends. ``x``: the right end. ``high``: height of the axis, from 0.
    """
    placed: list[float] = []
    ordered = sorted(named, key=lambda one: one[1])
    for _, height, _ in ordered:
        lowest = placed[-1] + 0.09 * high if placed else 0.0
        placed.append(max(height + 0.01 * high, lowest))
    return [
        label(text, x, height, colour, xanchor="right")
        for (text, _, colour), height in zip(ordered, placed, strict=True)
    ]
