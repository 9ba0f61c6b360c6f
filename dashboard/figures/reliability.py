"""Reliability diagrams: bins and curves with their bands, whole and small."""

from typing import Any, Literal

import numpy as np
from plotly import graph_objects as go

from calibcore.binning import BinTable
from calibcore.evaluation import Side
from calibcore.reliability import (
    Band,
    BinnedReliability,
    CalibrationBelt,
    CorpReliability,
    SmoothReliability,
)
from calibcore.validation import Floats
from dashboard.figures.bands import DrawnBand, add_band
from dashboard.figures.drawing import Drawing
from dashboard.figures.layout import (
    HEIGHT,
    TEXT_SIZE,
    Sketch,
    base_layout,
    middles,
    panel,
    parted,
    plain_line,
    share_axis,
)
from dashboard.figures.palette import Palette
from dashboard.figures.thinning import thin
from dashboard.texts.numbers import percent
from dashboard.texts.rows import rows_of

FREQUENCY = "<b>Observed frequency</b>"

PALE_BELOW = 0.1
"""Density, of an average of 1, below which the smoothed curve is drawn pale."""


def points(bins: BinTable, palette: Palette, *, sizes: Floats, width: float) -> dict[str, Any]:
    """Draw a point for each bin that holds rows, and a line through them.

    ``bins``: of one event. ``sizes``: of the points, in pixels. ``width``: of the line, in pixels.

    The line as plotly takes it.
    """
    filled = bins.counts > 0
    return {
        "x": bins.mean_score[filled],
        "y": bins.frequency[filled],
        "customdata": bins.counts[filled],
        "mode": "lines+markers",
        "name": "observed frequency",
        "line": {"color": palette.frequency, "width": width},
        "marker": {"color": palette.frequency, "size": sizes, "opacity": 1, "line": {"width": 0}},
        "cliponaxis": False,
        "hovertemplate": "mean score %{x:.1%}<br>observed frequency %{y:.1%}"
        "<br>bin of %{customdata:,} rows<extra></extra>",
    }


def add_isotonic(figure: Sketch, reliability: CorpReliability, palette: Palette) -> None:
    """Add the isotonic curve, its steps level, its confidence band and the consistency band."""
    words = "consistency band,<br>if perfectly calibrated"
    consistency = _region(reliability.consistency, "consistency band", words)
    add_band(figure, consistency, palette.band)
    uncertainty = _region(reliability.confidence, "confidence band", "confidence band")
    add_band(figure, uncertainty, palette.frequency, outlined=True)
    score = np.stack([reliability.first, reliability.last], axis=1).ravel()
    frequency = np.repeat(reliability.step_frequency, 2)
    shown = thin(score, frequency)
    figure.add_scatter(
        x=score[shown].astype(np.float32),
        y=frequency[shown].astype(np.float32),
        customdata=np.repeat(reliability.step_count, 2)[shown].astype(np.int32),
        mode="lines",
        name="observed frequency",
        line={"color": palette.frequency, "width": 2.5},
        hovertemplate="score %{x:.1%}<br>observed frequency %{y:.1%}"
        "<br>step of %{customdata:,} rows<extra></extra>",
    )
    name_above(
        figure,
        ("\u2501", FREQUENCY, palette.frequency),
        ("\u2508", "95% CI", palette.frequency),
        ("\u25a0", "Perfectly calibrated", palette.neutral),
    )


def add_smoothed(figure: Sketch, reliability: SmoothReliability, palette: Palette) -> None:
    """Add the smoothed curve, pale where rows are few, its band, and the smoothed mean score."""
    region = _region(reliability.confidence, "confidence band", "confidence band")
    add_band(figure, region, palette.gap)
    dense = np.where(reliability.density >= PALE_BELOW, 0.0, np.nan)
    drawn = (
        (reliability.mean_score, "mean score, few rows", "mean score", palette.score, 1.5),
        (
            reliability.frequency,
            "observed frequency, few rows",
            "observed frequency",
            palette.frequency,
            2.5,
        ),
    )
    for values, pale_name, name, colour, width in drawn:
        for line, shown, opacity in ((values, pale_name, 0.35), (values + dense, name, 1)):
            figure.add_scatter(
                x=reliability.score.astype(np.float32),
                y=line.astype(np.float32),
                mode="lines",
                name=shown,
                opacity=opacity,
                line={"color": colour, "width": width},
                hovertemplate=f"near score %{{x:.1%}}<br>{name} %{{y:.1%}}<extra></extra>",
            )
    name_above(
        figure, ("\u2501", FREQUENCY, palette.frequency), ("\u2501", "Mean score", palette.score)
    )


def add_belt(figure: Sketch, belt: CalibrationBelt, palette: Palette) -> None:
    """Add the curve with its belts: the narrow one filled, the wide one as an outline."""
    for place, (colour, outlined) in enumerate(((palette.gap, False), (palette.frequency, True))):
        name = f"{100 * belt.levels[place]:.0f}% belt"
        band = DrawnBand(belt.score, belt.lower[place], belt.upper[place], name, name)
        add_band(figure, band, colour, outlined=outlined)
    figure.add_scatter(
        x=belt.score.astype(np.float32),
        y=belt.frequency.astype(np.float32),
        mode="lines",
        name="observed frequency",
        line={"color": palette.frequency, "width": 2.5},
        hovertemplate="score %{x:.1%}<br>fitted frequency %{y:.1%}<extra></extra>",
    )
    narrow, wide = (f"{100 * level:.0f}% belt" for level in belt.levels)
    name_above(
        figure,
        ("\u2501", FREQUENCY, palette.frequency),
        ("\u25a0", narrow, palette.frequency),
        ("\u2508", wide, palette.frequency),
    )


def _region(band: Band, name: str, words: str) -> DrawnBand:
    text = f"{100 * band.level:.0f}% {words},<br>at each score on its own"
    return DrawnBand(band.score, band.lower, band.upper, name, text)


def name_above(figure: Sketch, *names: tuple[str, str, str]) -> None:
    """Add a line above the figure that names what is drawn, each with its sign and colour."""
    figure.add_annotation(
        xref="paper",
        yref="paper",
        x=0,
        y=1,
        xanchor="left",
        yanchor="bottom",
        xshift=-54,  # below the title, so that it fits where pictures are narrow
        yshift=5,
        text="\u2002 ".join(
            f'<span style="color:{colour}">{sign} {name}</span>' for sign, name, colour in names
        ),
        font={"size": TEXT_SIZE},
        showarrow=False,
    )


Diagram = Literal["bins", "plot", "isotonic", "smoothed", "belt"]

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
    "belt": "Reliability diagram, calibration belt",
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

    Source: Vasilev and D'yakonov 2023, figure 1; Guo et al., ICML 2017, figure 1.
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
    if diagram == "belt" and side.belt is not None:
        add_belt(figure, side.belt, palette)
    _add_shares(figure, side.binned, palette)
    most = max(float(_shares(s.bins).max()) for s in (side, beside))
    _add_means(figure, side, most, palette)
    return figure.figure(
        base_layout(TITLES[diagram], t=50),  # names stand below the title
        height=HEIGHT + 130,
        barmode="overlay",
        bargap=0,
        xaxis={**share_axis("Score", (0, 1)), "anchor": "y2"},
        yaxis={**share_axis("Observed frequency", (0, 1)), "domain": [0.37, 1]},
        yaxis2={
            **share_axis("Rows", (0, ROOM * most)),
            "domain": [0, 0.3],
            "tickvals": [0, most],
            "tickformat": ".0~%",
        },
    )


def _add_diagonal(figure: Sketch, palette: Palette) -> None:
    figure.add_scatter(**_diagonal(palette, width=1))


def _diagonal(palette: Palette, *, width: float) -> dict[str, Any]:
    name = "score = frequency"
    return plain_line([0, 1], [0, 1], name, palette.neutral, width=width, dash="dot")


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
    _add_error_bars(figure, binned, middles(bins.edges)[filled], palette)
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
            x=parted(middle, middle),
            y=parted(lower, upper),
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
            font={"size": TEXT_SIZE, "color": colour},
            showarrow=False,
        )


def _bars(binned: BinnedReliability) -> dict[str, Any]:
    """Return place, width and words of the bars of the bins that hold rows."""
    filled = binned.bins.counts > 0
    return {
        "x": middles(binned.bins.edges)[filled],
        "width": np.diff(binned.bins.edges)[filled],
        "textposition": "none",
        **_hover(binned),
    }


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


SMALL_HEIGHT = 150
"""Pixels of a small picture, of which its axes take nearly 120."""


def class_picture(
    before: BinnedReliability, after: BinnedReliability | None, palette: Palette
) -> go.Figure:
    """Draw the bins of one class before calibration and, to the right, after.

    ``before``: of the class against the others. ``after``: None where no class probabilities are
    left, or nothing has changed: one picture alone.

    In each, over the diagonal, a point per bin with its interval and a line through them.
    """
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        **base_layout(""),
        "title": None,
        "height": SMALL_HEIGHT,
        "margin": {"l": 44, "r": 20, "t": 18, "b": 18, "pad": 0},
        "annotations": [],
    }
    sides = [("Before", before)] if after is None else [("Before", before), ("After", after)]
    for place, (name, binned) in enumerate(sides):
        domain = [place * 0.54, place * 0.54 + 0.46] if after is not None else [0, 1]
        # The end of one axis is the start of the next: its name has no room there.
        last = {"ticktext": ["0", "100%" if place == len(sides) - 1 else ""]}
        across, up = {"domain": domain, **last}, {"showticklabels": place == 0}
        axes, on = panel(place, _axis(palette) | across, _axis(palette) | up)
        traces += [one | on for one in _side(binned, palette)]
        layout |= axes
        if after is not None:
            layout["annotations"].append(_name(name, on["xaxis"], palette))
    return Drawing(traces, layout)  # at once: updating it afterwards takes four times as long


def _side(binned: BinnedReliability, palette: Palette) -> list[dict[str, Any]]:
    filled = binned.bins.counts > 0
    score, lower, upper = (
        values[filled] for values in (binned.bins.mean_score, binned.lower, binned.upper)
    )
    sizes = np.where(binned.telling[filled], 5.0, 3.0)
    return [
        _diagonal(palette, width=0.75),
        plain_line(
            parted(score, score), parted(lower, upper), "interval", palette.neutral, width=0.75
        ),
        points(binned.bins, palette, sizes=sizes, width=1),
    ]


def _axis(palette: Palette) -> dict[str, Any]:
    return {
        "range": [-0.04, 1.04],
        "tickvals": [0, 1],
        "ticktext": ["0", "100%"],
        "tickfont": {"size": TEXT_SIZE},
        "ticks": "",
        "zeroline": False,
        "showgrid": False,
        "showline": True,
        "mirror": True,
        "linecolor": palette.band,
        "linewidth": 1,
        "fixedrange": True,
        "automargin": False,
    }


def _name(name: str, axis: str, palette: Palette) -> dict[str, Any]:
    """Return the name of the side, above its picture."""
    return {
        "xref": axis,
        "yref": "paper",
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "yshift": 1,
        "text": name,
        "font": {"size": TEXT_SIZE, "color": palette.neutral},
        "showarrow": False,
    }
