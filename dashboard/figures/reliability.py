"""Reliability diagram, in bins or as a curve, over a histogram of the scores."""

from typing import Any, Literal

import numpy as np
from plotly import graph_objects as go

from calibcore.binning import BinTable
from calibcore.evaluation import Side
from calibcore.reliability import BinnedReliability
from calibcore.validation import Floats
from dashboard.figures.curves import FREQUENCY, add_isotonic, add_smoothed, name_above, points
from dashboard.figures.layout import HEIGHT, Sketch, base_layout, share_axis
from dashboard.figures.palette import Palette
from dashboard.texts.numbers import percent
from dashboard.texts.rows import rows_of

Diagram = Literal["bins", "plot", "isotonic", "smoothed"]

MOST_CAPS = 30
"""Bins whose intervals are drawn with caps, at most."""

PALE = 0.35
"""Opacity of a bin with few rows."""

ROOM = 1.65
"""Height of the histogram's panel, of 1 for the longest bar: two lines of text stand above it."""

TITLES: dict[Diagram, str] = {
    "bins": "Reliability diagram",
    "plot": "Reliability plot",
    "isotonic": "Reliability diagram, isotonic (CORP)",
    "smoothed": "Reliability diagram, smoothed",
}


def reliability_diagram(
    side: Side, beside: Side, palette: Palette, diagram: Diagram = "bins"
) -> go.Figure:
    """Draw how often the event happened at each score, and the bin counts.

    ``side``: what is drawn. ``beside``: the other side of the comparison, with which the axes are
    shared. ``diagram``: what shows the frequency.

    Above, with the dotted line on which score and frequency are equal: bars up to the observed
    frequency, error bars, the gap to the mean score hatched and a dot at the mean score; or points
    and a line through them; or one of the curves with its bands. Below: the share of rows in each
    bin, with the mean of all scores and the observed frequency of all rows.

    References
    ----------
    Vasilev and D'yakonov 2023, figure 1; Guo et al., ICML 2017, figure 1.
    """
    figure = Sketch()
    if diagram == "bins":
        _add_bins(figure, side.binned, palette)
    _add_diagonal(figure, palette)
    if diagram == "plot":
        _add_plot(figure, side.binned, palette)
    if diagram == "isotonic":
        add_isotonic(figure, side.corp, palette)
    if diagram == "smoothed":
        add_smoothed(figure, side.smooth, palette)
    _add_shares(figure, side.binned, palette)
    most = max(float(_shares(s.bins).max()) for s in (side, beside))
    _add_means(figure, side, most, palette)
    layout = base_layout(TITLES[diagram])
    return figure.figure(
        layout,
        height=HEIGHT + 140,
        margin={**layout["margin"], "t": 50},  # names stand below the title
        barmode="overlay",
        bargap=0,
        xaxis={**share_axis("Score", (0, 1)), "anchor": "y2"},
        yaxis={**share_axis("Observed frequency", (0, 1)), "domain": [0.37, 1]},
        yaxis2={
            **share_axis("Rows", (0, ROOM * most)),
            "domain": [0, 0.3],
            "tickvals": [0, most],
            "tickformat": ".1~%",
        },
    )


def _add_diagonal(figure: Sketch, palette: Palette) -> None:
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        name="score = frequency",
        line={"color": palette.neutral, "width": 1, "dash": "dot"},
        hoverinfo="skip",
    )


def _add_bins(figure: Sketch, binned: BinnedReliability, palette: Palette) -> None:
    """Add frequency, gap, interval and mean score of the bins that hold rows."""
    bins = binned.bins
    filled = bins.counts > 0
    frequency, score = bins.frequency[filled], bins.mean_score[filled]
    edge = {"width": 1, "color": palette.ground}
    strength = np.where(binned.telling[filled], 1.0, PALE)
    bars = _bars(binned)
    figure.add_bar(
        y=frequency,
        name="observed frequency",
        marker={"color": palette.frequency, "line": edge, "opacity": strength},
        **bars,
    )
    figure.add_bar(
        y=bins.gap[filled],
        base=frequency,
        name="gap to the mean score",
        marker={**_hatching(palette), "opacity": strength},
        **bars,
    )
    _add_error_bars(figure, binned, _middles(bins)[filled], palette)
    figure.add_scatter(
        x=score,
        y=score,
        mode="markers",
        name="mean score",
        marker={"color": palette.score, "line": edge, "size": 7},
        **_hover(binned),
    )
    name_above(
        figure,
        ("\u25a0", FREQUENCY, palette.frequency),
        ("\u25cf", "Mean score", palette.score),
        ("\u25a8", "Gap", palette.text),
    )


def _add_plot(figure: Sketch, binned: BinnedReliability, palette: Palette) -> None:
    """Add a point per bin that holds rows, larger with more, with its interval, and a line."""
    bins = binned.bins
    filled = bins.counts > 0
    score, shares = bins.mean_score[filled], _shares(bins)[filled]
    _add_error_bars(figure, binned, score, palette)
    figure.add_scatter(
        x=score, y=score, mode="lines", name="mean score", line={"width": 0}, hoverinfo="skip"
    )
    line = points(bins, palette, sizes=5 + 9 * np.sqrt(shares), width=2.5)
    figure.add_scatter(**line, fill="tonexty", fillcolor=palette.gap)
    name_above(
        figure,
        ("\u25cf", FREQUENCY, palette.frequency),
        ("\u2508", "Perfectly calibrated", palette.neutral),
    )


def _add_error_bars(
    figure: Sketch, binned: BinnedReliability, middle: Floats, palette: Palette
) -> None:
    """Add the interval of each frequency: a thin line with caps and an edge, if there is room."""
    filled = binned.bins.counts > 0
    lower, upper = binned.lower[filled], binned.upper[filled]
    looks = [("interval", palette.text, 0.75, "lines")]
    if filled.size <= MOST_CAPS:
        # The edge separates the line from a bar of nearly its own lightness.
        looks = [
            ("edge of the interval", palette.ground, 3.5, "lines+markers"),
            ("interval", palette.text, 1.25, "lines+markers"),
        ]
    for name, colour, width, mode in looks:
        line = {"width": width, "color": colour}
        figure.add_scatter(
            x=np.stack([middle, middle, np.full_like(middle, np.nan)], axis=1).ravel(),
            y=np.stack([lower, upper, np.full_like(lower, np.nan)], axis=1).ravel(),
            mode=mode,
            name=name,
            line=line,
            marker={"symbol": "line-ew", "size": 7, "line": line},
            hoverinfo="skip",
        )


def _add_shares(figure: Sketch, binned: BinnedReliability, palette: Palette) -> None:
    """Add the share of the rows in each bin that holds any."""
    figure.add_bar(
        y=_shares(binned.bins)[binned.bins.counts > 0],
        name="share of rows",
        yaxis="y2",
        marker={
            "color": palette.score,
            "line": {"width": 1, "color": palette.ground},
            "opacity": 0.45,
        },
        **_bars(binned),
    )


def _add_means(figure: Sketch, side: Side, most: float, palette: Palette) -> None:
    """Add the mean of all scores and the observed frequency of all rows, named above the bars.

    The names stand one above the other, and the line that a name would cross ends below it.
    """
    n_samples = side.event.n_samples
    score, frequency = float(side.curves.cum_score[-1]), float(side.curves.cum_hits[-1])
    drawn = (
        (score, "mean of all scores", "mean score", palette.score, "solid"),
        (frequency, "observed in all", "observed", palette.frequency, "dash"),
    )
    far, right_half = abs(score - frequency) > 0.45, score + frequency > 1
    for place, (value, name, label, colour, dash) in enumerate(sorted(drawn)):
        leftward = place == 1 if far else right_half
        upper = (place == 0) != (far or right_half)
        height = most * (1.45 if upper else 1.18)
        figure.add_scatter(
            x=[value, value],
            y=[0, height],
            yaxis="y2",
            mode="lines",
            name=name,
            line={"color": colour, "width": 2, "dash": dash},
            hoverinfo="skip",
        )
        figure.add_annotation(
            x=value,
            y=height,
            yref="y2",
            text=f"{label} {percent(value, n_samples)}",
            xanchor="right" if leftward else "left",
            yanchor="middle",
            xshift=-3 if leftward else 3,
            font={"size": 12, "color": colour},
            showarrow=False,
        )


def _bars(binned: BinnedReliability) -> dict[str, Any]:
    """Return place, width and words of the bars of the bins that hold rows."""
    filled = binned.bins.counts > 0
    return {
        "x": _middles(binned.bins)[filled],
        "width": np.diff(binned.bins.edges)[filled],
        "textposition": "none",
        **_hover(binned),
    }


def _middles(bins: BinTable) -> Floats:
    return np.asarray((bins.edges[:-1] + bins.edges[1:]) / 2)


def _shares(bins: BinTable) -> Floats:
    return np.asarray(bins.counts / bins.counts.sum(), dtype=np.float64)


def _hatching(palette: Palette) -> dict[str, Any]:
    """Hatch without a fill, so that it is seen on the bar and next to it."""
    return {
        "color": "rgba(0,0,0,0)",
        "line": {"width": 1, "color": palette.text},
        "pattern": {"shape": "/", "fgcolor": palette.text, "size": 5, "solidity": 0.2},
    }


def _hover(binned: BinnedReliability) -> dict[str, Any]:
    """Return the words over each bin that holds rows."""
    bins = binned.bins
    rows = zip(
        bins.edges[:-1],
        bins.edges[1:],
        bins.counts,
        bins.mean_score,
        bins.frequency,
        binned.lower,
        binned.upper,
        strict=True,
    )
    words = [
        f"scores {100 * low:.1f}\u2013{high:.1%}<br>{rows_of(count)}<br>mean score {score:.1%}"
        f"<br>observed frequency {seen:.1%} (95% CI {100 * least:.1f}\u2013{most:.1%})"
        for low, high, count, score, seen, least, most in rows
        if count
    ]
    return {"text": words, "hovertemplate": "%{text}<extra></extra>"}
