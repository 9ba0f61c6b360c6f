"""Reliability diagram with gap bars, over a histogram of the scores."""

from typing import Any

import numpy as np
from plotly import graph_objects as go

from calibcore.binning import BinTable
from calibcore.evaluation import Side
from calibcore.validation import Floats
from dashboard.figures.layout import HEIGHT, base_layout, share_axis, unit_range
from dashboard.figures.palette import Palette


def reliability_diagram(side: Side, beside: Side, palette: Palette) -> go.Figure:
    """Draw the observed frequency in each bin, the gap to its mean score, and the bin counts.

    Parameters
    ----------
    side : Side
        What is drawn.
    beside : Side
        The other side of the comparison, with which the axes are shared.
    palette : Palette
        Colours.

    Returns
    -------
    plotly.graph_objects.Figure
        Above: bars up to the observed frequency, the gap to the mean score hatched, a dot at the
        mean score, and the dotted line on which the two are equal. Below: the share of rows.
    """
    figure = go.Figure()
    _add_bins(figure, side.bins, palette)
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        name="score = frequency",
        line={"color": palette.neutral, "width": 1, "dash": "dot"},
        hoverinfo="skip",
    )
    most = max(float(_shares(s.bins).max()) for s in (side, beside))
    return figure.update_layout(
        base_layout("Reliability diagram, scores below"),
        height=HEIGHT + 100,
        barmode="overlay",
        bargap=0,
        xaxis={**share_axis("Score", (0, 1)), "anchor": "y2"},
        yaxis={**share_axis("Observed frequency", (0, 1)), "domain": [0.33, 1]},
        yaxis2={
            **share_axis("Rows", unit_range(most)),
            "domain": [0, 0.22],
            "tickvals": [0, most],
            "tickformat": ".1~%",
        },
    )


def _add_bins(figure: go.Figure, bins: BinTable, palette: Palette) -> None:
    """Add frequency, gap, mean score and share of the bins that hold rows."""
    filled = bins.counts > 0
    frequency, gap, score = bins.frequency[filled], bins.gap[filled], bins.mean_score[filled]
    edge = {"width": 1, "color": palette.ground}
    hover = _hover(bins)
    bars: dict[str, Any] = {
        "x": ((bins.edges[:-1] + bins.edges[1:]) / 2)[filled],
        "width": np.diff(bins.edges)[filled],
        "textposition": "none",
        **hover,
    }
    marker = {"color": palette.frequency, "line": edge}
    figure.add_bar(y=frequency, name="observed frequency", marker=marker, **bars)
    figure.add_bar(
        y=gap, base=frequency, name="gap to the mean score", marker=_hatching(palette), **bars
    )
    marker = {"color": palette.score, "line": edge}
    figure.add_scatter(
        x=score, y=score, mode="markers", name="mean score", marker={**marker, "size": 7}, **hover
    )
    shares = _shares(bins)[filled]
    figure.add_bar(y=shares, name="share of rows", yaxis="y2", marker=marker, **bars)


def _shares(bins: BinTable) -> Floats:
    return np.asarray(bins.counts / bins.counts.sum(), dtype=np.float64)


def _hatching(palette: Palette) -> dict[str, Any]:
    """Hatch without a fill, so that it is seen on the bar and beside it."""
    return {
        "color": "rgba(0,0,0,0)",
        "line": {"width": 1, "color": palette.text},
        "pattern": {"shape": "/", "fgcolor": palette.text, "size": 5, "solidity": 0.2},
    }


def _hover(bins: BinTable) -> dict[str, Any]:
    """Give the words over each bin that holds rows."""
    rows = zip(
        bins.edges[:-1], bins.edges[1:], bins.counts, bins.mean_score, bins.frequency, strict=True
    )
    words = [
        f"scores {low:.1%} to {high:.1%}<br>{count:,} rows<br>mean score {score:.1%}"
        f"<br>observed frequency {seen:.1%}"
        for low, high, count, score, seen in rows
        if count
    ]
    return {"text": words, "hovertemplate": "%{text}<extra></extra>"}
