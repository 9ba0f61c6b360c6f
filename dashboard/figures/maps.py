"""What calibrators do to scores: curves, shifts, the probability triangle, and weights."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from calibcore.counted import score_quantiles
from calibcore.curves import ClassMoves, ScoreCurve
from calibcore.data import EventScores
from calibcore.evaluation import Side
from calibcore.validation import Floats
from dashboard.figures.intervals import MARGIN, LineEnd, Look, looks, name_ends
from dashboard.figures.layout import (
    HEIGHT,
    TEXT_SIZE,
    base_layout,
    harmless,
    in_corner,
    middles,
    parted,
    plain_line,
    pp_ticks,
    share_axis,
    unit_range,
)
from dashboard.figures.palette import Palette
from dashboard.figures.thinning import thin
from dashboard.texts.classes import shortened
from dashboard.texts.numbers import ci
from dashboard.texts.rows import rows_of

TALL = HEIGHT + 100
"""Pixels of a graph with a histogram below."""

USUAL_SHARE = 0.01
"""Share of the rows that a bin holds at least, to be in the graph of the changes."""

Mask = NDArray[np.bool_]

_ODDS_TICKS = (0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999)
"""Scores that are named on axes of log-odds, whose ends are the first and the last."""

_FAR = math.log(_ODDS_TICKS[-1] / (1 - _ODDS_TICKS[-1]))

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


def odds_graph(curves: Sequence[NamedCurve], palette: Palette) -> go.Figure:
    """Draw the log-odds of calibrated scores against those of scores.

    ``curves``: what is drawn, as far as neither score is 0% or 100%. The dotted line leaves scores
    as they are.
    """
    figure, ends = go.Figure(), list[LineEnd]()
    far = [-_FAR, _FAR]
    figure.add_scatter(**plain_line(far, far, "unchanged", palette.neutral, width=1, dash="dot"))
    for named, look in zip(curves, _looks(curves, palette), strict=True):
        with np.errstate(divide="ignore"):
            x, y = (np.log(p) - np.log1p(-p) for p in (named.curve.score, named.curve.calibrated))
        inside = (np.abs(x) <= _FAR) & np.isfinite(y)
        if not inside.any():
            continue
        x, y = x[inside], y[inside]
        shown = thin(x, y)
        figure.add_scatter(
            x=x[shown].astype(np.float32),
            y=y[shown].astype(np.float32),
            mode="lines",
            name=named.name,
            line=look.line,
            hoverinfo="skip",
        )
        ends.append(LineEnd(named.name, float(y[-1] / _FAR + 1) / 2, look))
    name_ends(figure, ends, pixels=HEIGHT - 72)
    return figure.update_layout(
        base_layout("Calibration map on log-odds", r=MARGIN),
        xaxis=_odds_axis("Score", _ODDS_TICKS[1::2]),  # as many as a phone has room for
        yaxis=_odds_axis("Calibrated score", _ODDS_TICKS),
    )


def _odds_axis(title: str, named: Sequence[float]) -> dict[str, object]:
    places = [math.log(p / (1 - p)) for p in named]
    names = [f"{100 * p:g}%" for p in named]
    axis = share_axis(title, (0, 1))
    return axis | {"range": [-_FAR, _FAR], "tickvals": places, "ticktext": names}


def cloud_graph(
    before: EventScores, after: EventScores, side: Side, names: tuple[str, str], palette: Palette
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
    texts = (
        f'<span style="color:{palette.score}"><b>\u25cb {names[0]}</b></span>',
        f'<span style="color:{palette.frequency}"><b>\u2715 {names[1]}</b></span>',
    )
    raised = float(np.mean(after.scores - before.scores)) > 0  # so below the cloud is room
    corner = (0.98, 0.04) if raised else (0.02, 0.97)
    figure.add_annotation(in_corner("<br>".join(texts), *corner))
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
        line=look.line,
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
    line = plain_line([0, 1], list(ends), "unchanged", palette.neutral, width=1, dash="dot")
    figure.add_scatter(**line)


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
        x=middles(bins.edges)[filled],
        width=np.diff(bins.edges)[filled],
        y=(bins.counts / bins.counts.sum())[filled],
        name="share of rows",
        yaxis="y2",
        marker={"color": palette.score, "line": {"width": 1, "color": palette.ground}},
        hovertemplate="near score %{x:.0%}<br>%{y:.1%} of rows<extra></extra>",
    )


def _farthest(curves: Sequence[NamedCurve], side: Side) -> float:
    """Return the largest distance from unchanged among usual scores and bins."""
    places = score_quantiles(side.event, np.linspace(0.005, 0.995, 100))
    moved = [np.interp(places, one.curve.score, one.curve.calibrated) - places for one in curves]
    usual = _usual(side)
    ends = [side.binned.lower - side.bins.mean_score, side.binned.upper - side.bins.mean_score]
    values = np.concatenate([*moved, *(end[usual] for end in ends)])
    return 1.08 * float(np.abs(values).max()) or 0.01


def _usual(side: Side) -> Mask:
    """Return which bins hold at least 1% of the rows."""
    return np.asarray(side.bins.counts >= USUAL_SHARE * side.bins.counts.sum())


def leaves_bins_out(side: Side) -> bool:
    """Return whether `shift_graph` leaves out bins that hold rows."""
    return bool((side.bins.counts[~_usual(side)] > 0).any())


def _laid_out(figure: go.Figure, title: str, side: Side, right: int) -> go.Figure:
    most = float((side.bins.counts / side.bins.counts.sum()).max())
    return figure.update_layout(
        base_layout(title, r=right),
        height=TALL,
        bargap=0,
        xaxis={**share_axis("Score", (0, 1)), "anchor": "y2"},
        yaxis2={
            **share_axis("Rows", unit_range(most)),
            "domain": list(_BELOW),
            "tickvals": [0, most],
            "tickformat": ".0~%",
        },
    )


TRIANGLE_HEIGHT = 380
"""Pixels of the triangle."""

_LONGEST = 26
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, math.sqrt(3) / 2]])
"""Where the three classes are certain."""


def triangle(
    moves: ClassMoves, class_names: tuple[str, ...], title: str, palette: Palette
) -> go.Figure:
    """Draw an arrow from each row's probabilities before to those after.

    ``moves``: of three classes. ``class_names``: of the corners, as they came. ``title``: of the
    figure.

    A dot where a row was and an arrow's head where it is now. The dotted lines separate the three
    regions in which each class is the most probable one.
    """
    figure = go.Figure()
    _add_edges(figure, palette)
    before, after = moves.before @ _CORNERS, moves.after @ _CORNERS
    names = [_shown(name) for name in class_names]
    words = [_words(names, was, now) for was, now in zip(moves.before, moves.after, strict=True)]
    figure.add_scatter(
        x=before[:, 0],
        y=before[:, 1],
        mode="markers",
        name="before",
        marker={"size": 4, "color": palette.neutral},
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=parted(before[:, 0], after[:, 0]).astype(np.float32),
        y=parted(before[:, 1], after[:, 1]).astype(np.float32),
        mode="lines+markers",
        name="after",
        line={"color": palette.score, "width": 1.25},
        marker={
            "size": [part for _ in words for part in (0, 8, 0)],
            "symbol": "arrow",
            "angleref": "previous",
            "color": palette.score,
            "line": {"width": 0},
        },
        text=[part for text in words for part in ("", text, "")],
        hovertemplate="%{text}<extra></extra>",
    )
    _name_corners(figure, names, palette)
    hidden = {"visible": False, "fixedrange": True}
    return figure.update_layout(
        base_layout(title),
        height=TRIANGLE_HEIGHT,
        margin={"l": 8, "r": 8, "t": 30, "b": 8},
        xaxis={**hidden, "range": [-0.12, 1.12]},
        yaxis={**hidden, "range": [-0.12, 1.0], "scaleanchor": "x"},
    )


def _shown(name: str) -> str:
    """Return a name from a file so that it shows as it is, on one short line."""
    flat = " ".join(name.replace("$", "").split())
    return escape(shortened(flat, _LONGEST), quote=False)


def _words(names: list[str], before: Floats, after: Floats) -> str:
    return "<br>".join(
        f"{name}: {was:.1%} \u2192 {now:.1%}"
        for name, was, now in zip(names, before, after, strict=True)
    )


def _add_edges(figure: go.Figure, palette: Palette) -> None:
    outline = np.vstack([_CORNERS, _CORNERS[:1]])
    middle = _CORNERS.mean(axis=0)
    halves = (_CORNERS + np.roll(_CORNERS, -1, axis=0)) / 2
    parts = np.stack([np.tile(middle, (3, 1)), halves, np.full((3, 2), np.nan)], axis=1)
    drawn = (
        ("edges", outline, "solid", 1.5),
        ("borders of the predicted classes", parts.reshape(-1, 2), "dot", 1.0),
    )
    for name, places, dash, width in drawn:
        ends = places[:, 0], places[:, 1]
        line = plain_line(*ends, name, palette.neutral, width=width, dash=dash)
        figure.add_scatter(**line)


def _name_corners(figure: go.Figure, names: list[str], palette: Palette) -> None:
    anchors = (("center", "top"), ("center", "top"), ("center", "bottom"))
    for name, (x, y), (across, along) in zip(names, _CORNERS, anchors, strict=True):
        figure.add_annotation(
            x=x,
            y=y,
            yshift=-6 if along == "top" else 6,
            xanchor=across,
            yanchor=along,
            text=f"<b>{name}</b>",
            font={"size": TEXT_SIZE, "color": palette.text},
            showarrow=False,
        )


MOST_CLASSES = 300
"""With more, the cells would be smaller than a pixel."""

_NAMED = 20
"""Classes whose names have room beside a heat map."""

_LETTERS = 14
_CELL, _LEAST, _MOST = 22, 280, 640
"""Pixels of a row, and of the whole figure at least and at most."""

BIAS = "b"


def weights_map(
    weights: Floats, bias: Floats, class_names: Sequence[str], title: str, palette: Palette
) -> go.Figure:
    """Draw W and b of a matrix, a row for each output.

    ``weights``: W; shape (n_classes, n_classes). ``bias``: b; shape (n_classes,). ``class_names``:
    as they came. ``title``: of the figure. ``palette``: colours: that of frequencies above 0, that
    of scores below, the ground at 0.

    Colours end where a hundredth of the cells are beyond, so that a few large ones do not pale all
    others; numbers are under the pointer.
    """
    names = [harmless(name) for name in class_names]
    cells = np.column_stack([weights, bias])
    most = float(np.quantile(np.abs(cells), 0.99)) or 1.0
    figure = go.Figure()
    figure.add_heatmap(
        z=cells.round(4).tolist(),
        zmin=-most,
        zmax=most,
        colorscale=[[0, palette.score], [0.5, palette.ground], [1, palette.frequency]],
        colorbar={"thickness": 10, "tickfont": {"size": TEXT_SIZE}},
        hovertemplate="output %{y}<br>input %{x}<br>%{z:.3f}<extra></extra>",
        x=[*names, BIAS],
        y=names,
    )
    figure.update_layout(**base_layout(title))
    height = min(max(_CELL * len(names) + 90, _LEAST), _MOST)
    figure.update_layout(
        height=height,
        title={"y": 1 - 8 / height, "yanchor": "top"},
        xaxis=_axis([*names, BIAS], "Input"),
        yaxis=_axis(names, "Output") | {"autorange": "reversed"},
    )
    return figure


def _axis(names: Sequence[str], title: str) -> dict[str, object]:
    """Return an axis that names as many classes as there is room for."""
    step = -(-len(names) // _NAMED)
    shown = names[::step]
    texts = [shortened(name, _LETTERS) for name in shown]
    return {
        "title": {"text": title, "font": {"size": TEXT_SIZE}, "standoff": 4},
        "type": "category",
        "tickvals": shown,
        "ticktext": texts,
        "tickfont": {"size": TEXT_SIZE},
        "fixedrange": True,
        "showgrid": False,
    }
