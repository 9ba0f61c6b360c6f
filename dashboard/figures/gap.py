"""The gap itself: cumulative score minus cumulative outcomes, on an axis of its own."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from calibcore.evaluation import Side
from calibcore.validation import Floats
from dashboard.figures.bands import DrawnBand, band_trace
from dashboard.figures.drawing import Drawing
from dashboard.figures.graphs import PERFECT, ROWS
from dashboard.figures.layout import base_layout, pp_ticks, share_axis
from dashboard.figures.palette import Palette
from dashboard.figures.thinning import MOST_POINTS, thin


def gap_graph(
    side: Side, alike: Sequence[Side], palette: Palette, *, most: int = MOST_POINTS
) -> go.Figure:
    """Draw the gap of one side against the share of rows, lowest score first.

    ``side``: what is drawn. ``alike``: sides that share the axis, with itself. ``most``: points of
    the line, at most.

    The slope of the line is how much too high the scores are there (Arrieta-Ibarra et al., JMLR
    2022). The band is that of the cumulative outcomes under perfect calibration.
    """
    curves, (lower, upper) = side.curves, _band(side)
    shown = thin(curves.fractile, curves.gap, keep=[curves.ks_index], most=most)
    ends = np.concatenate([end for one in alike for end in (one.curves.gap, *_band(one))])
    low, high = float(ends.min()), float(ends.max())
    room = 0.06 * (high - low) or 0.01
    words = f"{100 * side.null.level:.0f}% band if perfectly calibrated"
    band = DrawnBand(curves.fractile, lower, upper, PERFECT, words).thinned(3 * most // 4)
    layout = base_layout("Cumulative gap: score minus outcomes") | {
        "xaxis": share_axis("Share of rows, lowest score first", (0, 1)),
        "yaxis": {
            **share_axis("Cumulative gap (pp)", (0, 1)),
            "range": [low - room, high + room],
            **pp_ticks(low, high),
        },
    }
    return Drawing(
        [
            band_trace(band, palette.band),
            _no_gap(palette),
            _line(curves.fractile[shown], curves.gap[shown], palette),
            _largest(side, palette),
        ],
        layout,
    )


def _band(side: Side) -> tuple[Floats, Floats]:
    """Return the lowest and highest gap under perfect calibration."""
    total = side.curves.cum_score
    return total - side.null.upper, total - side.null.lower


def _no_gap(palette: Palette) -> dict[str, Any]:
    return {
        "x": [0, 1],
        "y": [0, 0],
        "mode": "lines",
        "name": "no gap",
        "line": {"color": palette.neutral, "width": 1},
        "hoverinfo": "skip",
    }


def _line(x: Floats, gap: Floats, palette: Palette) -> dict[str, Any]:
    return {
        "x": x.astype(np.float32),
        "y": gap.astype(np.float32),
        "customdata": (100 * gap).astype(np.float32),
        "mode": "lines",
        "name": "cumulative gap",
        "line": {"color": palette.score, "width": 2.5},
        "fill": "tozeroy",
        "fillcolor": palette.gap,
        "hovertemplate": f"{ROWS} %{{x:.1%}}<br>gap %{{customdata:+.2f}} pp<extra></extra>",
    }


def _largest(side: Side, palette: Palette) -> dict[str, Any]:
    """Mark the widest gap, which is the KS error."""
    curves = side.curves
    gap = float(curves.gap[curves.ks_index])
    return {
        "x": [curves.ks_fractile] * 2,
        "y": [0, gap],
        "mode": "lines+markers",
        "name": "KS gap",
        "line": {"color": palette.text, "width": 2},
        "marker": {"symbol": "line-ew", "size": 9, "line": {"width": 2, "color": palette.text}},
        "hovertemplate": f"largest gap: {100 * gap:+.2f} pp<extra></extra>",
    }
