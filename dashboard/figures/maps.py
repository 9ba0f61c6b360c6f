"""How calibrators change scores: their curves over the histogram, and the rows they move."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from calibcore.curves import ScoreCurve
from calibcore.data import EventScores
from calibcore.evaluation import Side
from calibcore.validation import Floats
from dashboard.figures.intervals import MARGIN, LineEnd, Look, looks, name_ends
from dashboard.figures.layout import HEIGHT, base_layout, pp_ticks, share_axis, unit_range
from dashboard.figures.palette import Palette
from dashboard.figures.thinning import thin
from dashboard.texts.numbers import ci
from dashboard.texts.rows import rows_of

TALL = HEIGHT + 100
"""Pixels of a graph with a histogram below."""

USUAL_SHARE = 0.01
"""Share of the rows that a bin holds at least, to be in the graph of the changes."""

Mask = NDArray[np.bool_]

MOST_ROWS = 1000
"""Rows of a cloud, at most."""

_ABOVE, _BELOW = (0.33, 1.0), (0.0, 0.2)
_ABOVE_PIXELS = int((TALL - 70) * (_ABOVE[1] - _ABOVE[0]))


@dataclass(frozen=True, eq=False)
class NamedCurve:
    """A curve with its name."""

    name: str
    """Written at its end."""
    curve: ScoreCurve
    """What is drawn."""
    chosen: bool = False
    """Whether it is the calibrator that is chosen on the page."""
    folds: tuple[ScoreCurve, ...] = ()
    """The same calibrator fitted without each fold, which are drawn as thin lines."""


def map_graph(curves: Sequence[NamedCurve], side: Side, palette: Palette) -> go.Figure:
    """Draw calibrated score against score, over the histogram of a set's scores.

    ``curves``: what is drawn. ``side``: a set before calibration: its observed frequencies stand
    behind, its histogram below.

    Steps are drawn as steps. The dotted line leaves scores as they are.
    """
    figure = go.Figure()
    _add_frequencies(figure, side, palette, 0.0, shown=side.bins.counts > 0)
    _add_unchanged(figure, (0, 1), palette)
    drawn = list(zip(curves, _looks(curves, palette), strict=True))
    for named, look in drawn:
        for fold in named.folds:
            _add_fold(figure, fold.score, fold.calibrated, look)
        _add_curve(figure, named, look, named.curve.calibrated, "%{y:.2%}")
    _add_histogram(figure, side, palette)
    ends = [LineEnd(n.name, float(n.curve.calibrated[-1]), look) for n, look in drawn]
    name_ends(figure, ends, domain=_ABOVE, pixels=_ABOVE_PIXELS)
    return _laid_out(figure, "Calibration map", side, MARGIN).update_layout(
        yaxis={**share_axis("Calibrated score", (0, 1)), "domain": list(_ABOVE)}
    )


def shift_graph(curves: Sequence[NamedCurve], side: Side, palette: Palette) -> go.Figure:
    """Draw the change of each score, and of observed frequencies from it.

    Parameters, returns and conventions are those of `map_graph`; upwards is raised. The axis holds
    the changes of the middle 99% of the rows, and the bins that hold at least 1% of the rows; other
    bins are left out.
    """
    figure = go.Figure()
    _add_frequencies(figure, side, palette, side.bins.mean_score, shown=_usual(side))
    _add_unchanged(figure, (0, 0), palette)
    drawn = list(zip(curves, _looks(curves, palette), strict=True))
    limit = _farthest(curves, side)
    ends = []
    for named, look in drawn:
        for fold in named.folds:
            _add_fold(figure, fold.score, fold.calibrated - fold.score, look)
        moved = named.curve.calibrated - named.curve.score
        _add_curve(figure, named, look, moved, "change %{customdata:+.2f} pp")
        ends.append(LineEnd(named.name, float(moved[-1] / limit + 1) / 2, look))
    _add_histogram(figure, side, palette)
    name_ends(figure, ends, domain=_ABOVE, pixels=_ABOVE_PIXELS)
    axis = share_axis("Calibrated minus score (pp)", (0, limit)) | {"range": [-limit, limit]}
    return _laid_out(figure, "Change in score", side, MARGIN).update_layout(
        yaxis={**axis, "domain": list(_ABOVE), **pp_ticks(-limit, limit)}
    )


def cloud_graph(
    before: EventScores,
    after: EventScores,
    side: Side,
    names: tuple[str, str],
    palette: Palette,
) -> go.Figure:
    """Draw rows by their score before and after calibration, over the histogram before.

    ``before``, ``after``: row by row the same rows; the outcomes are those of after. ``side``: the
    same set before calibration. ``names``: of the rows with outcome 1, and of the others.

    At most 1,000 rows, at even steps of their order by score, with the extremes of both scores.
    """
    figure = go.Figure()
    _add_unchanged(figure, (0, 1), palette)
    shown = chosen_rows(before.scores, after.scores)
    happened = after.hits[shown] == 1
    looks_of = (
        (names[0], happened, "circle-open", palette.score, 5),
        (names[1], ~happened, "x-thin-open", palette.frequency, 6),
    )
    for name, rows, symbol, colour, size in looks_of:
        figure.add_scatter(
            x=before.scores[shown][rows].astype(np.float32),
            y=after.scores[shown][rows].astype(np.float32),
            mode="markers",
            name=name,
            marker={
                "symbol": symbol,
                "size": size,
                "color": colour,
                "opacity": 0.7,
                "line": {"width": 1.25, "color": colour},
            },
            hovertemplate=f"score %{{x:.2%}}, calibrated %{{y:.2%}}<br>{name}<extra></extra>",
        )
    _add_histogram(figure, side, palette)
    _name_rows(figure, names, palette, low=float(np.mean(after.scores - before.scores)) > 0)
    return _laid_out(figure, "Scores before and after", side, 18).update_layout(
        yaxis={**share_axis("Score after", (0, 1)), "domain": list(_ABOVE)}
    )


def chosen_rows(before: Floats, after: Floats) -> NDArray[np.intp]:
    """Return at most 1,000 rows at even steps of their order by score, and the extremes of both."""
    if before.size <= MOST_ROWS:
        return np.arange(before.size)
    order = np.argsort(before, kind="stable")
    steps = np.linspace(0, before.size - 1, MOST_ROWS - 2).round().astype(np.intp)
    extremes = [int(after.argmin()), int(after.argmax())]
    return np.unique(np.concatenate([order[steps], extremes]))


def _looks(curves: Sequence[NamedCurve], palette: Palette) -> list[Look]:
    """Return the looks: the chosen one in the colour of scores, the others by their dashes."""
    solid_is_taken = any(one.chosen for one in curves)
    others = iter(looks(len(curves) + 1, palette)[solid_is_taken:])
    return [Look(palette.score, "solid", 2.5) if one.chosen else next(others) for one in curves]


def _add_curve(
    figure: go.Figure, named: NamedCurve, look: Look, height: Floats, words: str
) -> None:
    shown = thin(named.curve.score, height)
    figure.add_scatter(
        x=named.curve.score[shown].astype(np.float32),
        y=height[shown].astype(np.float32),
        customdata=(100 * height[shown]).astype(np.float32) if "customdata" in words else None,
        mode="lines",
        name=named.name,
        line={"color": look.colour, "dash": look.dash, "width": look.width},
        hovertemplate=f"{named.name}: score %{{x:.2%}}<br>{words}<extra></extra>",
    )


def _add_fold(figure: go.Figure, score: Floats, height: Floats, look: Look) -> None:
    shown = thin(score, height)
    figure.add_scatter(
        x=score[shown].astype(np.float32),
        y=height[shown].astype(np.float32),
        mode="lines",
        name="fold",
        opacity=0.45,
        line={"color": look.colour, "width": 1},
        hoverinfo="skip",
    )


def _add_unchanged(figure: go.Figure, ends: tuple[float, float], palette: Palette) -> None:
    figure.add_scatter(
        x=[0, 1],
        y=list(ends),
        mode="lines",
        name="unchanged",
        line={"color": palette.neutral, "width": 1, "dash": "dot"},
        hoverinfo="skip",
    )


def _add_frequencies(
    figure: go.Figure, side: Side, palette: Palette, base: Floats | float, *, shown: Mask
) -> None:
    """Draw the observed frequency of bins at their mean score, with its interval, minus a base."""
    binned = side.binned
    words = [
        f"{rows_of(count)}, mean score {score:.1%}"
        f"<br>observed {seen:.1%} ({ci(f'{low:.1%}', f'{up:.1%}')})"
        for count, score, seen, low, up in zip(
            side.bins.counts[shown],
            side.bins.mean_score[shown],
            side.bins.frequency[shown],
            binned.lower[shown],
            binned.upper[shown],
            strict=True,
        )
    ]
    seen = side.bins.frequency[shown]
    figure.add_scatter(
        x=side.bins.mean_score[shown],
        y=(side.bins.frequency - base)[shown],
        error_y={
            "type": "data",
            "symmetric": False,
            "array": binned.upper[shown] - seen,
            "arrayminus": seen - binned.lower[shown],
            "color": palette.frequency,
            "thickness": 1,
            "width": 3,
        },
        mode="markers",
        name="observed frequency",
        marker={"color": palette.frequency, "size": 6, "symbol": "diamond"},
        text=words,
        hovertemplate="%{text}<extra></extra>",
    )


def _add_histogram(figure: go.Figure, side: Side, palette: Palette) -> None:
    bins, filled = side.bins, side.bins.counts > 0
    figure.add_bar(
        x=((bins.edges[:-1] + bins.edges[1:]) / 2)[filled],
        width=np.diff(bins.edges)[filled],
        y=(bins.counts / bins.counts.sum())[filled],
        name="share of rows",
        yaxis="y2",
        marker={"color": palette.score, "line": {"width": 1, "color": palette.ground}},
        hovertemplate="near score %{x:.0%}<br>%{y:.1%} of rows<extra></extra>",
    )


def _farthest(curves: Sequence[NamedCurve], side: Side) -> float:
    """Return the largest distance from unchanged among usual scores and bins."""
    places = np.quantile(side.event.scores, np.linspace(0.005, 0.995, 100))
    moved = [np.interp(places, one.curve.score, one.curve.calibrated) - places for one in curves]
    usual = _usual(side)
    ends = [side.binned.lower - side.bins.mean_score, side.binned.upper - side.bins.mean_score]
    found = np.concatenate([*moved, *(end[usual] for end in ends)])
    return 1.08 * float(np.abs(found).max()) or 0.01


def _usual(side: Side) -> Mask:
    """Return which bins hold at least 1% of the rows."""
    return np.asarray(side.bins.counts >= USUAL_SHARE * side.bins.counts.sum())


def leaves_bins_out(side: Side) -> bool:
    """Return whether `shift_graph` leaves out bins that hold rows."""
    return bool((side.bins.counts[~_usual(side)] > 0).any())


def _name_rows(figure: go.Figure, names: tuple[str, str], palette: Palette, *, low: bool) -> None:
    """Draw the names of the two kinds of rows in the corner that the cloud leaves free."""
    figure.add_annotation(
        xref="x domain",
        yref="y domain",
        x=0.98 if low else 0.02,
        y=0.04 if low else 0.97,
        xanchor="right" if low else "left",
        yanchor="bottom" if low else "top",
        align="right" if low else "left",
        text=f'<span style="color:{palette.score}"><b>\u25cb {names[0]}</b></span><br>'
        f'<span style="color:{palette.frequency}"><b>\u2715 {names[1]}</b></span>',
        font={"size": 12},
        showarrow=False,
    )


def _laid_out(figure: go.Figure, title: str, side: Side, right: int) -> go.Figure:
    layout = base_layout(title)
    most = float((side.bins.counts / side.bins.counts.sum()).max())
    return figure.update_layout(
        layout,
        height=TALL,
        margin={**layout["margin"], "r": right},
        bargap=0,
        xaxis={**share_axis("Score", (0, 1)), "anchor": "y2"},
        yaxis2={
            **share_axis("Rows", unit_range(most)),
            "domain": list(_BELOW),
            "tickvals": [0, most],
            "tickformat": ".1~%",
        },
    )
