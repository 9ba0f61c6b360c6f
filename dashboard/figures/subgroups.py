"""Mean gap of each subgroup, and the histogram of scores with the wrong rows marked."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from calibcore.binning import BinTable
from calibcore.subgroups import Places, SubgroupScreen
from calibcore.validation import Floats
from dashboard.figures.layout import (
    TEXT_SIZE,
    Sketch,
    base_layout,
    dot,
    harmless,
    middles,
    parted,
    pp_ticks,
    share_axis,
    sides_key,
    wrapped,
)
from dashboard.figures.palette import Palette
from dashboard.texts.rows import rows_of, say_rows

ROW, NAME_WIDTH, NAME_SIGNS = 50, 150, 22
"""Pixels of a row, as in the table next to it, and of the names; signs of a name on a line."""

TOP, BOTTOM = 34, 52
"""Pixels above the first row, as in the table, and below the last, as the axis needs."""


def subgroup_plot(
    screens: tuple[SubgroupScreen, SubgroupScreen | None],
    names: Sequence[str],
    order: Places,
    palette: Palette,
) -> go.Figure:
    """Draw the mean gap of subgroups with its interval.

    ``screens``: before and after calibration; after is None where nothing was fitted. ``names``: of
    all subgroups, as the file has them. ``order``: the subgroups to draw, from the top.

    One row per subgroup: a circle before and a dot after, each with an error bar; a dotted line at
    no gap. Subgroups with too few rows for a test are pale.
    """
    figure, after = Sketch(), screens[1]
    _add_gaps(figure, screens, names, order, palette, ("x", "y"))
    return figure.figure(
        base_layout(sides_key(calibrated=after is not None)),
        height=TOP + BOTTOM + ROW * order.size,
        margin={"l": NAME_WIDTH, "r": 16, "t": TOP, "b": BOTTOM},
        xaxis=_gap_axis(screens, order, palette),
        yaxis=_name_axis([wrapped(names[k], NAME_SIGNS, 2 * NAME_SIGNS) for k in order], palette),
        shapes=[_no_gap(palette)],
    )


def period_plot(
    screens: tuple[SubgroupScreen, SubgroupScreen | None], names: Sequence[str], palette: Palette
) -> go.Figure:
    """Draw the mean gap of all periods of time with its interval, from left to right.

    Parameters are those of `subgroup_plot`, without an order.

    The period with the largest mean gap before calibration, of those with enough rows, is marked by
    a ring and its name.
    """
    figure, (before, after) = Sketch(), screens
    order = np.flatnonzero(before.rows > 0)
    _add_gaps(figure, screens, names, order, palette, ("y", "x"))
    worst = before.widest
    if worst is not None:
        place, gap = int(np.searchsorted(order, worst)), float(before.mean_gap[worst])
        x = [place - (0.17 if after else 0.0)]
        ring = {
            "symbol": "circle-open",
            "size": 20,
            "line": {"width": 2, "color": palette.frequency},
        }
        figure.add_scatter(
            x=x, y=[gap], mode="markers", name="worst", marker=ring, hoverinfo="skip"
        )
        late = 2 * place > order.size
        figure.add_annotation(
            x=x[0], y=gap, text=harmless(names[worst]), showarrow=False,
            xanchor="right" if late else "left", xshift=-14 if late else 14,
            font={"size": TEXT_SIZE, "color": palette.text},
        )  # fmt: skip
    line = _no_gap(palette)
    line |= {"xref": "paper", "yref": "y", "x1": 1, "y1": 0}
    ticks = _name_axis([harmless(names[k]) for k in order.tolist()], palette)
    return figure.figure(
        base_layout(sides_key(calibrated=after is not None)),
        height=320,
        margin={"l": 58, "r": 16, "t": TOP, "b": 76},
        xaxis={**ticks, "range": [-0.5, order.size - 0.5], "tickangle": -60},
        yaxis=_gap_axis(screens, order, palette),
        shapes=[line],
    )


def _add_gaps(
    figure: Sketch,
    screens: tuple[SubgroupScreen, SubgroupScreen | None],
    names: Sequence[str],
    order: Places,
    palette: Palette,
    axes: tuple[str, str],
) -> None:
    """Draw gaps along the first axis, one row or column for each subgroup along the second."""
    before, after = screens
    along, across = axes
    looks = [("before", before, "circle-open", palette.neutral, -0.17 if after else 0.0)]
    if after is not None:
        looks.append(("after", after, "circle", palette.text, 0.17))
    for name, screen, symbol, colour, shift in looks:
        rows = np.arange(order.size, dtype=np.float64) + shift
        strength = np.where(screen.rows[order] >= screen.least, 1.0, 0.45)
        _add_error_bars(figure, screen, order, rows, (name, colour), axes)
        figure.add_scatter(
            **{along: screen.mean_gap[order], across: rows},
            mode="markers",
            name=name,
            marker=dot(symbol, colour, 9, opacity=strength),
            text=[_hover(screen, int(k), harmless(names[k])) for k in order],
            hovertemplate=f"%{{text}}<extra>{name}</extra>",
        )


def _add_error_bars(
    figure: Sketch,
    screen: SubgroupScreen,
    order: Places,
    rows: Floats,
    look: tuple[str, str],
    axes: tuple[str, str],
) -> None:
    (name, colour), (along, across) = look, axes
    figure.add_scatter(
        **{
            along: parted(screen.gap_low[order], screen.gap_high[order]),
            across: parted(rows, rows),
        },
        mode="lines",
        name=f"95% CI, {name}",
        line={"color": colour, "width": 1.5},
        hoverinfo="skip",
    )


def _hover(screen: SubgroupScreen, k: int, name: str) -> str:
    return (
        f"{name}<br>{rows_of(int(screen.rows[k]))}<br>mean score {screen.mean_score[k]:.1%}"
        f"<br>observed frequency {screen.frequency.share[k]:.1%}"
    )


def _gap_axis(
    screens: Sequence[SubgroupScreen | None], order: Places, palette: Palette
) -> dict[str, Any]:
    """Return an axis that holds every error bar, with some room at its ends."""
    ends = [
        end[order]
        for screen in screens
        if screen is not None
        for end in (screen.gap_low, screen.gap_high)
    ]
    known = np.concatenate([[0.0], *ends])
    low, high = float(np.nanmin(known)), float(np.nanmax(known))
    room = 0.04 * (high - low) or 0.01
    return {
        "range": [low - room, high + room],
        "title": {"text": "Mean gap, score \u2212 observed (pp)", "font": {"size": TEXT_SIZE}},
        **pp_ticks(low - room, high + room),
        "tickfont": {"size": TEXT_SIZE},
        "showgrid": True,
        "gridcolor": palette.band,
        "gridwidth": 0.5,
        "zeroline": False,
        "fixedrange": True,
    }


def _name_axis(names: list[str], palette: Palette) -> dict[str, Any]:
    return {
        "tickvals": list(range(len(names))),
        "ticktext": names,
        "ticks": "",
        "tickfont": {"size": TEXT_SIZE, "color": palette.text},
        "range": [len(names) - 0.5, -0.5],
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
    }


def _no_gap(palette: Palette) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": "x",
        "yref": "paper",
        "x0": 0,
        "x1": 0,
        "y0": 0,
        "y1": 1,
        "layer": "below",
        "line": {"color": palette.neutral, "width": 1.5, "dash": "dot"},
    }


def score_histogram(
    bins: BinTable, listed: tuple[float, float], missed: str, palette: Palette
) -> go.Figure:
    """Draw how many rows have which score, and for how many of them the event did not happen.

    ``bins``: of the event. ``listed``: the range that is listed, drawn as a grey ground unless it
    is the whole. ``missed``: what a row is called for which the event did not happen, as plain
    text.

    One bar per bin that holds rows, hatched from below as far as the event did not happen.
    """
    missed = harmless(missed)
    filled = bins.counts > 0
    shares = bins.counts[filled] / bins.counts.sum()
    misses = shares * (1 - bins.frequency[filled])
    place, (low, high) = _bars(bins, missed), listed
    edge = {"width": 1, "color": palette.ground}
    figure = Sketch()
    figure.add_bar(y=shares, name="rows", marker={"color": palette.score, "line": edge}, **place)
    hatching = {"shape": "/", "fgcolor": palette.ground, "size": 5, "solidity": 0.25}
    figure.add_bar(
        y=misses,
        name=missed,
        marker={"color": palette.score, "line": edge, "pattern": hatching},
        **place,
    )
    layout = base_layout(f"{say_rows('Rows by score')} \u00a0 \u25a8 {missed}")
    return figure.figure(
        layout,
        height=200,
        barmode="overlay",
        bargap=0,
        xaxis=share_axis("Score before calibration", (0, 1)),
        yaxis=share_axis(say_rows("Rows"), (0, float(shares.max()) * 1.05)),
        shapes=[_ground(low, high, palette)] if high - low < 1 else [],
    )


def _bars(bins: BinTable, missed: str) -> dict[str, Any]:
    """Return place, width and text of the bars of the bins that hold rows."""
    filled = bins.counts > 0
    edges = zip(bins.edges[:-1], bins.edges[1:], bins.counts, bins.frequency, strict=True)
    return {
        "x": middles(bins.edges)[filled],
        "width": np.diff(bins.edges)[filled],
        "hovertemplate": "%{text}<extra></extra>",
        "textposition": "none",
        "text": [
            f"scores {100 * first:.1f}\u2013{last:.1%}<br>{rows_of(count)}"
            f"<br>{1 - seen:.1%} of them {missed}"
            for first, last, count, seen in edges
            if count
        ],
    }


def _ground(low: float, high: float, palette: Palette) -> dict[str, Any]:
    return {
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "x0": low,
        "x1": high,
        "y0": 0,
        "y1": 1,
        "layer": "below",
        "fillcolor": palette.band,
        "line": {"width": 0},
    }
