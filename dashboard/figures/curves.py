"""Reliability curves: through the bins, isotonic and smoothed, with their 95% bands."""

from typing import Any

import numpy as np

from calibcore.binning import BinTable
from calibcore.reliability import Band, CorpReliability, SmoothReliability
from calibcore.validation import Floats
from dashboard.figures.bands import DrawnBand, add_band
from dashboard.figures.layout import Sketch
from dashboard.figures.palette import Palette
from dashboard.figures.thinning import thin

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


def add_isotonic(figure: Sketch, found: CorpReliability, palette: Palette) -> None:
    """Add the isotonic curve, its steps level, its confidence band and the consistency band.

    ``figure``: what is added to. ``found``: what is drawn.
    """
    words = "consistency band,<br>if perfectly calibrated"
    consistency = _region(found.consistency, "consistency band", words)
    add_band(figure, consistency, palette.band)
    uncertainty = _region(found.confidence, "confidence band", "confidence band")
    add_band(figure, uncertainty, palette.frequency, outlined=True)
    score = np.stack([found.first, found.last], axis=1).ravel()
    frequency = np.repeat(found.step_frequency, 2)
    shown = thin(score, frequency)
    figure.add_scatter(
        x=score[shown].astype(np.float32),
        y=frequency[shown].astype(np.float32),
        customdata=np.repeat(found.step_count, 2)[shown].astype(np.int32),
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


def add_smoothed(figure: Sketch, found: SmoothReliability, palette: Palette) -> None:
    """Add the smoothed curve, pale where rows are few, its band, and the smoothed mean score.

    ``figure``: what is added to. ``found``: what is drawn.
    """
    region = _region(found.confidence, "confidence band", "confidence band")
    add_band(figure, region, palette.gap)
    dense = np.where(found.density >= PALE_BELOW, 0.0, np.nan)
    drawn = (
        (found.mean_score, "mean score, few rows", "mean score", palette.score, 1.5),
        (
            found.frequency,
            "observed frequency, few rows",
            "observed frequency",
            palette.frequency,
            2.5,
        ),
    )
    for values, pale_name, name, colour, width in drawn:
        for line, shown, opacity in ((values, pale_name, 0.35), (values + dense, name, 1)):
            figure.add_scatter(
                x=found.score.astype(np.float32),
                y=line.astype(np.float32),
                mode="lines",
                name=shown,
                opacity=opacity,
                line={"color": colour, "width": width},
                hovertemplate=f"near score %{{x:.1%}}<br>{name} %{{y:.1%}}<extra></extra>",
            )
    name_above(
        figure,
        ("\u2501", FREQUENCY, palette.frequency),
        ("\u2501", "Mean score", palette.score),
    )


def _region(band: Band, name: str, words: str) -> DrawnBand:
    said = f"{100 * band.level:.0f}% {words},<br>at each score on its own"
    return DrawnBand(band.score, band.lower, band.upper, name, said)


def name_above(figure: Sketch, *names: tuple[str, str, str]) -> None:
    """Add a line above the figure that names what is drawn, each with its sign and colour."""
    figure.add_annotation(
        xref="paper",
        yref="paper",
        x=0,
        y=1,
        xanchor="left",
        yanchor="bottom",
        yshift=5,
        text="\u2002 ".join(
            f'<span style="color:{colour}">{sign} {name}</span>' for sign, name, colour in names
        ),
        font={"size": 12},
        showarrow=False,
    )
