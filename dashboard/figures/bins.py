"""The calibration error against the number of bins it was computed with."""

from typing import Any

import numpy as np
from plotly import graph_objects as go

from calibcore.metrics.binned import BinSweep
from dashboard.figures.intervals import apart
from dashboard.figures.layout import TEXT_SIZE, Sketch, base_layout, plain_line, share_axis
from dashboard.figures.palette import Palette

KS, WIDE, EVEN = "KS error", "ECE, equal width", "ECE, equal mass"
PERFECT = "Perfectly calibrated"
"""Names of the lines, as they stand at their ends."""

_APART = 0.085
"""Least distance of two names, as a share of the graph's height."""


def bins_graph(sweep: BinSweep, beside: BinSweep, n_bins: int, palette: Palette) -> go.Figure:
    """Draw the ECE of one side against the number of bins, and the KS error, which has none.

    ``sweep``: what is drawn. ``beside``: the other side of the comparison, with which the axes are
    shared. ``n_bins``: the number chosen on the page, which is marked.

    Two lines, a level one, the chosen number of bins, and in grey up to the 95% limit under perfect
    calibration with bins of equal width.
    """
    highest = 1.08 * max(map(_highest, (sweep, beside))) or 1.0
    figure = Sketch()
    _add_lines(figure, sweep, palette)
    _mark_chosen(figure, sweep, n_bins, highest, palette)
    _name_lines(figure, sweep, highest, palette)
    return figure.figure(
        base_layout("ECE by number of bins", r=134),
        xaxis={
            **share_axis("Number of bins", (0, 1)),
            "range": [0, int(sweep.n_bins[-1])],
            "tickformat": "d",
            "tickvals": None,
        },
        yaxis=share_axis("Calibration error", (0, highest)),
    )


def _highest(sweep: BinSweep) -> float:
    lines = (sweep.equal_width, sweep.equal_mass, sweep.limit_equal_width)
    return max(sweep.ks_error, *(float(line.max()) for line in lines))


def _add_lines(figure: Sketch, sweep: BinSweep, palette: Palette) -> None:
    figure.add_scatter(
        x=sweep.n_bins,
        y=sweep.limit_equal_width,
        mode="lines",
        name=PERFECT,
        line={"color": palette.band, "width": 1},
        fill="tozeroy",
        fillcolor=palette.band,
        hovertemplate="95% limit if perfectly calibrated, %{x} bins: %{y:.2%}<extra></extra>",
    )
    drawn: tuple[tuple[str, Any, dict[str, Any], str], ...] = (
        (EVEN, sweep.equal_mass, {"dash": "dash", "width": 2}, "%{x} bins of equal mass"),
        (WIDE, sweep.equal_width, {"width": 2}, "%{x} bins of equal width"),
    )
    for name, values, line, words in drawn:
        figure.add_scatter(
            x=sweep.n_bins,
            y=values,
            mode="lines",
            name=name,
            line={"color": palette.neutral, **line},
            hovertemplate=f"{words}: ECE %{{y:.2%}}<extra></extra>",
        )
    figure.add_scatter(
        x=[0, int(sweep.n_bins[-1])],
        y=[sweep.ks_error, sweep.ks_error],
        mode="lines",
        name=KS,
        line={"color": palette.text, "width": 2.5},
        hovertemplate="KS error, without bins: %{y:.2%}<extra></extra>",
    )


def _mark_chosen(
    figure: Sketch, sweep: BinSweep, n_bins: int, highest: float, palette: Palette
) -> None:
    """Mark the chosen number of bins on the line of equal width, if it is on it.

    Its name stands halfway to the farther end of the graph, clear of the lines.
    """
    (place,) = np.nonzero(sweep.n_bins == n_bins)
    if not place.size:
        return
    value = float(sweep.equal_width[place[0]])
    named = _beside(value / 2 if value > highest / 2 else (value + highest) / 2, sweep, highest)
    ends = [value, named]
    line = plain_line([n_bins] * 2, ends, "chosen, named", palette.text, width=1, dash="dot")
    figure.add_scatter(**line)
    figure.add_scatter(
        x=[n_bins],
        y=[value],
        mode="markers",
        name="chosen",
        marker={"size": 9, "color": palette.text, "line": {"width": 1, "color": palette.ground}},
        hovertemplate=f"{n_bins} bins, as chosen: ECE %{{y:.2%}}<extra></extra>",
    )
    right = n_bins > 0.8 * sweep.n_bins[-1]
    figure.add_annotation(
        x=n_bins,
        y=named,
        xanchor="right" if right else "left",
        yanchor="middle",
        xshift=-4 if right else 4,
        text=f"{n_bins} bins",
        font={"size": TEXT_SIZE, "color": palette.text},
        showarrow=False,
    )


def _beside(height: float, sweep: BinSweep, highest: float) -> float:
    """Move a name up or down where the level line would strike it through."""
    clear = _APART * highest
    if abs(height - sweep.ks_error) >= clear:
        return height
    below = height < sweep.ks_error and sweep.ks_error > 2 * clear
    return sweep.ks_error + (-clear if below else clear)


def _name_lines(figure: Sketch, sweep: BinSweep, highest: float, palette: Palette) -> None:
    """Add each line's name at its end, moved where another name or the top is in the way."""
    ends: list[tuple[str, float, str]] = [
        (PERFECT, sweep.limit_equal_width[-1], palette.neutral),
        (EVEN, sweep.equal_mass[-1], palette.neutral),
        (WIDE, sweep.equal_width[-1], palette.neutral),
        (KS, sweep.ks_error, palette.text),
    ]
    ends.sort(key=lambda end: float(end[1]))
    heights = apart([float(value) / highest for _, value, _ in ends], _APART)
    for (name, _, colour), height in zip(ends, heights, strict=True):
        figure.add_annotation(
            xref="paper",
            yref="paper",
            x=1.01,
            y=height,
            xanchor="left",
            yanchor="middle",
            text=f"<b>{name}</b>" if name == KS else name,
            font={"size": TEXT_SIZE, "color": colour},
            showarrow=False,
        )
