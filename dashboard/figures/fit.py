"""The fitted spline, over the cumulative curve it was fitted to."""

import numpy as np
from plotly import graph_objects as go

from calibcore.reliability import SplineFit
from dashboard.figures.layout import base_layout, share_axis
from dashboard.figures.palette import Palette
from dashboard.figures.thinning import thin

MOST_FIT_POINTS = 400
"""Points of a line, at most."""

_TITLES = {
    "difference": "Cumulative outcomes \u2212 scores",
    "hits": "Cumulative outcomes",
}


def fit_graph(fit: SplineFit, palette: Palette) -> go.Figure:
    """Draw the cumulative curve of the calibration set, the spline through it, and its knots.

    ``fit``: the spline and what it was fitted to.
    """
    figure = go.Figure()
    shown = thin(fit.fractile, fit.total, most=MOST_FIT_POINTS)
    x = fit.fractile[shown].astype(np.float32)
    drawn = (
        ("cumulative curve", fit.total, {"color": palette.frequency, "width": 2.5}),
        ("spline", fit.fitted, {"color": palette.text, "width": 1.5, "dash": "dash"}),
    )
    for name, values, line in drawn:
        figure.add_scatter(
            x=x,
            y=values[shown].astype(np.float32),
            mode="lines",
            name=name,
            line=line,
            hovertemplate=f"share of rows %{{x:.1%}}<br>{name} %{{y:.2%}}<extra></extra>",
        )
    spline = fit.spline
    figure.add_scatter(
        x=spline.knots,
        y=spline.values,
        mode="markers",
        name="knots",
        cliponaxis=False,
        marker={
            "symbol": "diamond",
            "size": 9,
            "color": palette.text,
            "line": {"width": 1.5, "color": palette.ground},
        },
        hovertemplate="knot at %{x:.1%} of rows<br>%{y:.2%}<extra></extra>",
    )
    return figure.update_layout(
        base_layout(_TITLES[fit.fit_to]),
        xaxis=share_axis("Share of rows, lowest score first", (0, 1)),
        yaxis=_totals_axis(fit),
        annotations=[_names(fit, palette)],
    )


def _totals_axis(fit: SplineFit) -> dict[str, object]:
    """Return the axis of the totals, which may be on either side of 0."""
    ends = (fit.total, fit.fitted, fit.spline.values)
    low = min(0.0, *(float(values.min()) for values in ends))
    high = max(0.0, *(float(values.max()) for values in ends))
    room = 0.06 * (high - low) or 0.01
    axis = share_axis("Cumulative", (0, 1))
    del axis["tickvals"]
    return {**axis, "range": [low - room, high + room], "zeroline": True}


def _names(fit: SplineFit, palette: Palette) -> dict[str, object]:
    """Return the names of what is drawn, in the corner that is farther from the curve."""
    half = fit.total.size // 2
    left, right = (np.abs(part).mean() for part in (fit.total[:half], fit.total[half:]))
    falls = fit.total.sum() < 0
    on_left = left < right
    names = (("Cumulative curve", palette.frequency), ("Spline, knots", palette.text))
    return {
        "xref": "x domain",
        "yref": "y domain",
        "x": 0.03 if on_left else 0.98,
        "y": 0.06 if falls else 0.94,
        "xanchor": "left" if on_left else "right",
        "yanchor": "bottom" if falls else "top",
        "align": "left" if on_left else "right",
        "text": "<br>".join(
            f'<span style="color:{colour}"><b>{name}</b></span>' for name, colour in names
        ),
        "font": {"size": 12},
        "showarrow": False,
    }
