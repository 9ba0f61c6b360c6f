"""The four cumulative and fractile graphs of Gupta et al., ICLR 2021, figures 1-10."""

from dataclasses import dataclass

import numpy as np
from plotly import graph_objects as go

from calibcore.evaluation import Side
from calibcore.validation import Floats
from dashboard.figures.bands import DrawnBand, add_band
from dashboard.figures.layout import base_layout, same_scale, share_axis, unit_range
from dashboard.figures.palette import Palette
from dashboard.figures.thinning import thin

PERFECT = "Perfect model"
"""Name of the band under perfect calibration."""


@dataclass(frozen=True)
class FourGraphs:
    """The four graphs of one side of the comparison.

    Parameters
    ----------
    cumulative_by_fractile, cumulative_by_score : plotly.graph_objects.Figure
        (a) and (b): running totals against fractile and against the cumulative score.
    frequency_by_fractile, frequency_by_score : plotly.graph_objects.Figure or None
        (c) and (d): score and probability against fractile and against score; None where there are
        too few rows for the curve.
    """

    cumulative_by_fractile: go.Figure
    cumulative_by_score: go.Figure
    frequency_by_fractile: go.Figure | None
    frequency_by_score: go.Figure | None


@dataclass(frozen=True)
class _Lines:
    """Score and probability over a common axis, thinned, with the words of the hover.

    Behind them the band in which the probability stays under perfect calibration.
    """

    x: Floats
    score: Floats
    frequency: Floats
    x_name: str
    score_name: str
    frequency_name: str
    band: DrawnBand


def four_graphs(side: Side, beside: Side, palette: Palette) -> FourGraphs:
    """Draw the four graphs of one side.

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
    FourGraphs
    """
    both = (side, beside)
    total = unit_range(*(max(s.null.upper[-1], s.curves.cum_hits[-1]) for s in both))
    if side.frequency is None:
        return FourGraphs(
            _cumulative_by_fractile(side, palette, total),
            _cumulative_by_score(side, palette, total),
            None,
            None,
        )
    highest = unit_range(
        *(s.frequency.score[-1] for s in both if s.frequency),
        *(s.frequency.frequency.max() for s in both if s.frequency),
        *(s.frequency_null.upper.max() for s in both if s.frequency_null),
    )
    return FourGraphs(
        _cumulative_by_fractile(side, palette, total),
        _cumulative_by_score(side, palette, total),
        _frequency(side, palette, highest, against="fractile"),
        _frequency(side, palette, highest, against="score"),
    )


def _cumulative_lines(side: Side, x: Floats, x_name: str) -> _Lines:
    curves = side.curves
    shown = thin(x, curves.gap, keep=[curves.ks_index])
    band = side.null
    words = f"A perfect model of this size stays here<br>in {_of_100(band.level)} cases"
    return _Lines(
        x[shown],
        curves.cum_score[shown],
        curves.cum_hits[shown],
        x_name,
        "cumulative score",
        "cumulative probability",
        DrawnBand(x, band.lower, band.upper, PERFECT, words).thinned(),
    )


def _cumulative_by_fractile(side: Side, palette: Palette, total: tuple[float, float]) -> go.Figure:
    lines = _cumulative_lines(side, side.curves.fractile, "fractile")
    figure = _draw(lines, palette)
    _mark_ks(figure, side, side.curves.fractile, palette)
    return figure.update_layout(
        base_layout("(a) Cumulative, by fractile"),
        xaxis=share_axis("Fractile of rows, lowest score first", (0, 1)),
        yaxis=share_axis("Cumulative", total),
    )


def _cumulative_by_score(side: Side, palette: Palette, total: tuple[float, float]) -> go.Figure:
    lines = _cumulative_lines(side, side.curves.cum_score, "cumulative score")
    figure = _draw(lines, palette)
    _mark_ks(figure, side, side.curves.cum_score, palette)
    return figure.update_layout(
        base_layout("(b) Cumulative, by cumulative score"),
        xaxis=share_axis("Cumulative score", total),
        yaxis=same_scale(share_axis("Cumulative", total)),
    )


def _frequency(
    side: Side, palette: Palette, highest: tuple[float, float], *, against: str
) -> go.Figure:
    frequency, band = side.frequency, side.frequency_null
    assert frequency is not None  # noqa: S101 - four_graphs asks only where there is one
    assert band is not None  # noqa: S101 - it is there where the curve is
    by_score = against == "score"
    x = frequency.score if by_score else frequency.fractile
    shown = thin(x, frequency.frequency)
    words = (
        "The curve of a perfect model of this size lies here,"
        f"<br>at each {against} in {_of_100(band.level)} cases"
    )
    lines = _Lines(
        x[shown],
        frequency.score[shown],
        frequency.frequency[shown],
        against,
        "score",
        "probability",
        DrawnBand(x, band.lower, band.upper, PERFECT, words).thinned(),
    )
    x_axis = (
        share_axis("Score", highest)
        if by_score
        else share_axis("Fractile of rows, lowest score first", (0, 1))
    )
    y_axis = share_axis("Score, probability", highest)
    return _draw(lines, palette).update_layout(
        base_layout("(d) By score" if by_score else "(c) By fractile"),
        xaxis=x_axis,
        yaxis=same_scale(y_axis) if by_score else y_axis,
    )


def _draw(lines: _Lines, palette: Palette) -> go.Figure:
    """Draw the two lines, the gap between them filled, in front of the band."""
    figure = go.Figure()
    add_band(figure, lines.band, palette.band)
    x = lines.x.astype(np.float32)
    drawn = (
        (lines.score, lines.score_name, palette.score, None, None),
        (lines.frequency, lines.frequency_name, palette.frequency, "tonexty", palette.gap),
    )
    for values, name, colour, fill, fill_colour in drawn:
        figure.add_scatter(
            x=x,
            y=values.astype(np.float32),
            mode="lines",
            name=name,
            line={"color": colour, "width": 2.5},
            fill=fill,
            fillcolor=fill_colour,
            hovertemplate=f"{lines.x_name} %{{x:.1%}}<br>{name} %{{y:.1%}}<extra></extra>",
        )
    _label_lines(figure, lines, palette)
    return figure


def _label_lines(figure: go.Figure, lines: _Lines, palette: Palette) -> None:
    """Name lines and band in the empty corner, the upper line first."""
    names = [("Score", palette.score), ("Probability", palette.frequency)]
    if np.mean(lines.frequency - lines.score) > 0.005 * lines.score[-1]:
        names.reverse()
    # Running totals and sorted scores rise, so they leave one of two corners free.
    middle = np.searchsorted(lines.x, (lines.x[0] + lines.x[-1]) / 2)
    convex = lines.score[middle] < (lines.score[0] + lines.score[-1]) / 2
    figure.add_annotation(
        xref="x domain",
        yref="y domain",
        x=0.04 if convex else 0.98,
        y=0.96 if convex else 0.04,
        xanchor="left" if convex else "right",
        yanchor="top" if convex else "bottom",
        align="left" if convex else "right",
        text="<br>".join(
            [
                *(f'<span style="color:{colour}"><b>{name}</b></span>' for name, colour in names),
                f'<span style="color:{palette.neutral}">{PERFECT}</span>',
            ]
        ),
        font={"size": 12},
        showarrow=False,
    )


def _mark_ks(figure: go.Figure, side: Side, x: Floats, palette: Palette) -> None:
    """Mark the largest gap where it occurs."""
    curves, place = side.curves, side.curves.ks_index
    ends = [curves.cum_score[place], curves.cum_hits[place]]
    figure.add_scatter(
        x=[x[place], x[place]],
        y=ends,
        mode="lines+markers",
        name="KS gap",
        line={"color": palette.text, "width": 2},
        marker={"symbol": "line-ew", "size": 9, "line": {"width": 2, "color": palette.text}},
        hovertemplate=f"largest gap: {curves.ks_error:.2%}<extra></extra>",
    )


def _of_100(level: float) -> str:
    return f"{100 * level:.0f} of 100"
