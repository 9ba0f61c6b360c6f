"""The isotonic and the smoothed reliability curve, with their bands."""

import numpy as np
from plotly import graph_objects as go

from calibcore.reliability import Band, CorpReliability, SmoothReliability
from calibcore.validation import Floats
from dashboard.figures.bands import DrawnBand, add_band
from dashboard.figures.palette import Palette
from dashboard.figures.thinning import thin

PALE_BELOW = 0.1
"""Density, of an average of 1, below which the smoothed curve is drawn pale."""


def add_isotonic(figure: go.Figure, found: CorpReliability, palette: Palette) -> None:
    """Add the isotonic curve, its steps level; where it may truly lie; and the consistency band.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        What is added to.
    found : CorpReliability
        What is drawn.
    palette : Palette
        Colours.
    """
    words = "Consistency band: the curve of a perfect<br>model of this size lies here, at each"
    consistency = _region(found.consistency, "consistency band", f"{words} score")
    add_band(figure, consistency, palette.band)
    uncertainty = _region(found.confidence, "uncertainty", "The true frequency lies here")
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
    _name(figure, found.frequency - found.score, palette, claim=False)


def add_smoothed(figure: go.Figure, found: SmoothReliability, palette: Palette) -> None:
    """Add the smoothed curve, pale where rows are few; its band; and the claim, smoothed alike.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        What is added to.
    found : SmoothReliability
        What is drawn.
    palette : Palette
        Colours.
    """
    region = _region(found.confidence, "uncertainty", "The smoothed curve truly lies here")
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
    _name(figure, -found.gap, palette, claim=True)


def _region(band: Band, name: str, words: str) -> DrawnBand:
    share = f"<br>in about {100 * band.level:.0f} of 100 cases"
    return DrawnBand(band.score, band.lower, band.upper, name, words + share)


def _name(figure: go.Figure, above: Floats, palette: Palette, *, claim: bool) -> None:
    """Name what is drawn in the corner that the curve leaves free."""
    low = np.nanmean(above) > 0
    other = f'<span style="color:{palette.neutral}">Perfect model</span>'
    if claim:
        other = f'<span style="color:{palette.score}"><b>Mean score</b></span>'
    own = f'<span style="color:{palette.frequency}"><b>Observed frequency</b></span>'
    figure.add_annotation(
        xref="x domain",
        yref="y domain",
        x=0.98 if low else 0.02,
        y=0.04 if low else 0.97,
        xanchor="right" if low else "left",
        yanchor="bottom" if low else "top",
        align="right" if low else "left",
        text=f"{own}<br>{other}",
        font={"size": 12},
        showarrow=False,
    )
