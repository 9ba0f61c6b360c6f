"""The gap, the four graphs of cumulative curves and fractiles, and the fit behind them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from plotly import graph_objects as go

from calibcore.evaluation import Side
from calibcore.reliability import SplineFit
from calibcore.validation import Floats
from dashboard.figures.bands import DrawnBand, band_trace
from dashboard.figures.drawing import Drawing
from dashboard.figures.layout import (
    base_layout,
    in_corner,
    plain_line,
    pp_ticks,
    same_scale,
    share_axis,
    unit_range,
)
from dashboard.figures.palette import Palette
from dashboard.figures.thinning import MOST_POINTS, thin

PERFECT = "Perfectly calibrated"
"""Name of the band under perfect calibration."""

ROWS = "share of rows"
"""Name of the axis of (a) and (c), which name the lines of (b) and (d) too."""

CURSOR = "Cursor"
"""Name of the marks at the fractile that is asked for."""


@dataclass(frozen=True)
class FourGraphs:
    """The four graphs of one side of the comparison."""

    cumulative_by_fractile: go.Figure
    cumulative_by_score: go.Figure
    """(a) and (b): cumulative score and outcomes, against fractile and cumulative score."""
    frequency_by_fractile: go.Figure | None
    frequency_by_score: go.Figure | None
    """(c) and (d): score and observed frequency against fractile and against score; None where
    there are too few rows for the curve.
    """


@dataclass(frozen=True)
class RowMark:
    """Two points at the marked rows of a graph, over a dotted line.

    It is added when a graph is sent, because plotly takes long to copy a figure.
    """

    points: dict[str, Any]
    line: dict[str, Any]
    """A line of points and a shape, as plotly takes them."""


@dataclass(frozen=True)
class _Lines:
    """Score and observed frequency over a common axis, thinned, with the words of the hover.

    Behind them the band of the frequency under perfect calibration.
    """

    x: Floats
    score: Floats
    frequency: Floats
    x_name: str
    score_name: str
    frequency_name: str
    band: DrawnBand | None


@dataclass(frozen=True)
class _Frame:
    """What the graphs of one side share: axes, colours, and how fine they are."""

    total: tuple[float, float]
    highest: tuple[float, float]
    palette: Palette
    most: int


Part = dict[str, Any]
"""A line, an axis or a layout as plotly takes it.

Each figure is made of these at once, as plotly takes ten times as long to add them one by one.
"""


def four_graphs(
    side: Side,
    beside: Side,
    palette: Palette,
    *,
    alike: Sequence[Side] = (),
    most: int = MOST_POINTS,
) -> FourGraphs:
    """Draw the four graphs of one side.

    ``side``: what is drawn. ``beside``: the other side of the comparison, with which the axes are
    shared. ``alike``: further sides that share the axes. ``most``: points of a line, at most.
    """
    sides = (side, beside, *alike)
    frame = _Frame(
        unit_range(*(max(s.null.upper[-1], s.curves.cum_hits[-1]) for s in sides)),
        unit_range(
            0.0,
            *(s.frequency.score[-1] for s in sides if s.frequency),
            *(s.frequency.frequency.max() for s in sides if s.frequency),
            *(s.frequency_null.upper.max() for s in sides if s.frequency_null),
        ),
        palette,
        most,
    )
    by_fractile, by_score = _cumulative_by_fractile(side, frame), _cumulative_by_score(side, frame)
    if side.frequency is None:
        return FourGraphs(by_fractile, by_score, None, None)
    return FourGraphs(
        by_fractile,
        by_score,
        _frequency(side, frame, against="fractile"),
        _frequency(side, frame, against="score"),
    )


def mark_rows(side: Side, fractile: float, palette: Palette) -> dict[str, RowMark]:
    """Mark the same rows in all graphs of a side, at the nearest fractile.

    ``side``: what they show. ``fractile``: see `CumulativeCurves.place_at`.

    By the letter of the graph, for the graphs there are; that of the gap is "gap".
    """
    curves, frequency = side.curves, side.frequency
    place = curves.place_at(fractile)
    hover = f"share of rows {curves.fractile[place]:.1%}<br>%{{y:.1%}}<extra></extra>"
    total = float(curves.cum_score[place]), float(curves.cum_hits[place])
    places = {"a": (float(curves.fractile[place]), total), "b": (total[0], total)}
    gap = f"share of rows {curves.fractile[place]:.1%}<br>gap {100 * curves.gap[place]:+.2f} pp"
    if frequency is not None:
        row = place - 1  # the totals start with a point of no rows, the frequency does not
        there = float(frequency.score[row]), float(frequency.frequency[row])
        places |= {"c": (float(frequency.fractile[row]), there), "d": (there[0], there)}
    marks = {letter: _mark(x, ends, hover, palette) for letter, (x, ends) in places.items()}
    ends = float(curves.gap[place]), 0.0
    return marks | {"gap": _mark(places["a"][0], ends, f"{gap}<extra></extra>", palette)}


def _cumulative_lines(side: Side, x: Floats, x_name: str, most: int) -> _Lines:
    curves = side.curves
    shown = thin(x, curves.gap, keep=[curves.ks_index], most=most)
    band = side.null
    return _Lines(
        x[shown],
        curves.cum_score[shown],
        curves.cum_hits[shown],
        x_name,
        "cumulative score",
        "cumulative outcomes",
        DrawnBand(x, band.lower, band.upper, PERFECT, _band_words(band.level)).thinned(
            3 * most // 4
        ),
    )


def _cumulative_by_fractile(side: Side, frame: _Frame) -> go.Figure:
    axes = {
        "xaxis": share_axis("Share of rows, lowest score first", (0, 1)),
        "yaxis": share_axis("Cumulative", frame.total),
    }
    layout = base_layout("(a) Cumulative, by share of rows") | axes
    return _cumulative(side, frame, side.curves.fractile, ROWS, layout)


def _cumulative_by_score(side: Side, frame: _Frame) -> go.Figure:
    axes = {
        "xaxis": share_axis("Cumulative score", frame.total),
        "yaxis": same_scale(share_axis("Cumulative", frame.total)),
    }
    layout = base_layout("(b) Cumulative, by cumulative score") | axes
    return _cumulative(side, frame, side.curves.cum_score, "cumulative score", layout)


def _cumulative(side: Side, frame: _Frame, x: Floats, x_name: str, layout: Part) -> go.Figure:
    palette = frame.palette
    lines = _cumulative_lines(side, x, x_name, frame.most)
    if x_name == ROWS:
        layout["annotations"] = [_names(lines, layout, palette)]
    return Drawing([*_drawn(lines, palette), _ks_mark(side, x, palette)], layout)


def _frequency(side: Side, frame: _Frame, *, against: str) -> go.Figure:
    frequency, band, palette = side.frequency, side.frequency_null, frame.palette
    assert frequency is not None  # noqa: S101 - four_graphs asks only where there is one
    by_score = against == "score"
    x = frequency.score if by_score else frequency.fractile
    shown = thin(x, frequency.frequency, most=frame.most)
    drawn = None
    if band is not None:
        words = f"{_band_words(band.level)},<br>at each score on its own"
        drawn = DrawnBand(x, band.lower, band.upper, PERFECT, words).thinned(3 * frame.most // 4)
    lines = _Lines(
        x[shown],
        frequency.score[shown],
        frequency.frequency[shown],
        "score" if by_score else ROWS,
        "score",
        "observed frequency",
        drawn,
    )
    layout = _frequency_layout(frame, by_score=by_score)
    if not by_score:
        layout["annotations"] = [_names(lines, layout, palette)]
    return Drawing(_drawn(lines, palette), layout)


def _frequency_layout(frame: _Frame, *, by_score: bool) -> Part:
    y_axis = share_axis("Score, observed frequency", frame.highest)
    if not by_score:
        x_axis = share_axis("Share of rows, lowest score first", (0, 1))
        return base_layout("(c) By share of rows") | {"xaxis": x_axis, "yaxis": y_axis}
    x_axis = share_axis("Score", frame.highest)
    return base_layout("(d) By score") | {"xaxis": x_axis, "yaxis": same_scale(y_axis)}


def _drawn(lines: _Lines, palette: Palette) -> list[Part]:
    """Draw the two lines, the gap between them filled, in front of the band."""
    x = lines.x.astype(np.float32)
    drawn = (
        (lines.score, lines.score_name, palette.score, None, None),
        (lines.frequency, lines.frequency_name, palette.frequency, "tonexty", palette.gap),
    )
    return [
        *([] if lines.band is None else [band_trace(lines.band, palette.band)]),
        *(
            {
                "x": x,
                "y": values.astype(np.float32),
                "mode": "lines",
                "name": name,
                "line": {"color": colour, "width": 2.5},
                "fill": fill,
                "fillcolor": fill_colour,
                "hovertemplate": f"{lines.x_name} %{{x:.1%}}<br>{name} %{{y:.1%}}<extra></extra>",
            }
            for values, name, colour, fill, fill_colour in drawn
        ),
    ]


def _names(lines: _Lines, layout: Part, palette: Palette) -> Part:
    """Return the names of lines and band for the emptier corner, the upper line first."""
    colours = (palette.score, palette.frequency)
    named = (lines.score_name.capitalize(), lines.frequency_name.capitalize())
    names = list(zip(named, colours, strict=True))
    if np.mean(lines.frequency - lines.score) > 0.005 * lines.score[-1]:
        names.reverse()
    above = _is_free_above(lines, layout["xaxis"]["range"], layout["yaxis"]["range"])
    texts = [f'<span style="color:{colour}"><b>{name}</b></span>' for name, colour in names]
    texts.append(f'<span style="color:{palette.neutral}">{PERFECT}</span>')
    return in_corner("<br>".join(texts), *((0.04, 0.96) if above else (0.98, 0.04)))


def _is_free_above(lines: _Lines, across: list[float], up: list[float]) -> bool:
    """Return whether there is more room above the left part of the lines than below the right one.

    What is named rises, so one of these two corners is free.
    """
    place = (lines.x - across[0]) / (across[1] - across[0])
    both = np.stack([lines.score, lines.frequency])
    height = (both - up[0]) / (up[1] - up[0])
    left, right = height[:, place <= 0.6], height[:, place >= 0.4]
    above = 1 - left.max() if left.size else 1.0
    return bool(above >= (right.min() if right.size else 1.0))


def _ks_mark(side: Side, x: Floats, palette: Palette) -> Part:
    """Mark the largest gap where it occurs."""
    curves, place = side.curves, side.curves.ks_index
    ends = curves.cum_score[place], curves.cum_hits[place]
    return _ks_line(x[place], ends, f"{curves.ks_error:.2%}", palette)


def _ks_line(x: float, ends: tuple[float, float], size: str, palette: Palette) -> Part:
    line = {"color": palette.text, "width": 2}
    return {
        "x": [x, x],
        "y": list(ends),
        "mode": "lines+markers",
        "name": "KS gap",
        "line": line,
        "marker": {"symbol": "line-ew", "size": 9, "line": line},
        "hovertemplate": f"largest gap: {size}<extra></extra>",
    }


def _mark(x: float, ends: tuple[float, float], hover: str, palette: Palette) -> RowMark:
    points = {
        "type": "scatter",
        "x": [x, x],
        "y": list(ends),
        "mode": "markers",
        "name": CURSOR,
        "cliponaxis": False,
        "marker": {
            "size": [14, 9],  # where the two meet, both are seen
            "opacity": 1,
            "color": [palette.score, palette.frequency],
            "line": {"width": 2, "color": palette.ground},
        },
        "hovertemplate": hover,
    }
    line = {
        "type": "line",
        "x0": x,
        "x1": x,
        "y0": min(0.0, *ends),
        "y1": max(ends),
        "layer": "below",
        "line": {"color": palette.text, "width": 1, "dash": "dot"},
    }
    return RowMark(points, line)


def _band_words(level: float) -> str:
    return f"{100 * level:.0f}% band if perfectly calibrated"


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
    words = _band_words(side.null.level)
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
    return plain_line([0, 1], [0, 0], "no gap", palette.neutral, width=1)


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
    return _ks_line(curves.ks_fractile, (0, gap), f"{100 * gap:+.2f} pp", palette)


MOST_FIT_POINTS = 400
"""Points of a line, at most."""

_TITLES = {"difference": "Cumulative outcomes \u2212 scores", "hits": "Cumulative outcomes"}


def fit_graph(fit: SplineFit, palette: Palette) -> go.Figure:
    """Draw the cumulative curve of the calibration set, the spline through it, and its knots."""
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
        annotations=[_names_of_fit(fit, palette)],
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


def _names_of_fit(fit: SplineFit, palette: Palette) -> dict[str, object]:
    """Return the names of what is drawn, in the corner that is farther from the curve."""
    half = fit.total.size // 2
    left, right = (np.abs(part).mean() for part in (fit.total[:half], fit.total[half:]))
    falls = fit.total.sum() < 0
    names = (("Cumulative curve", palette.frequency), ("Spline, knots", palette.text))
    texts = (f'<span style="color:{colour}"><b>{name}</b></span>' for name, colour in names)
    return in_corner("<br>".join(texts), 0.03 if left < right else 0.98, 0.06 if falls else 0.94)
