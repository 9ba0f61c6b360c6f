"""Learning curves: a measure against the number of calibration rows, one line per calibrator."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from plotly import graph_objects as go

from calibcore.data_needed import LearningCurve, LearningCurves
from calibcore.validation import Floats
from dashboard.figures.intervals import MARGIN, LineEnd, Look, looks, name_ends
from dashboard.figures.layout import HEIGHT, base_layout, share_axis
from dashboard.figures.palette import Palette
from dashboard.settings import NO_METHOD

LOW, HIGH = 0.1, 0.9
"""Shares of the draws between which the error bars reach."""

PIXELS = HEIGHT - 70

PROPER = ("nll", "event_nll", "event_brier")
"""Measures whose axis does not start at 0, as their best value is not 0."""

_APART = 0.012
"""Distance of two calibrators' error bars, in powers of ten, so that they stay apart."""


def learning_graph(
    learning: LearningCurves,
    measure: str,
    title: str,
    names: Mapping[str, str],
    palette: Palette,
    chosen: str = NO_METHOD,
) -> go.Figure:
    """Draw the mean over the draws at each size, with error bars over the middle 80% of them.

    ``learning``: what is drawn; calibrators for which the measure is not defined are left out.
    ``measure``: one of `calibcore.data_needed.LEARNED`. ``title``: of the figure, and what its
    vertical axis shows. ``names``: name of each calibrator, by key. ``chosen``: key of the
    calibrator to stand out.

    Sizes on a logarithmic axis. A mean of more than twice the uncalibrated value leaves the graph;
    a line that ends above it has an arrow at its name.
    """
    figure = go.Figure()
    curves = [c for c in learning.curves if c.sizes.size and not np.isnan(c.mean(measure)).any()]
    share = measure not in PROPER
    limits = axis_limits(curves, measure)
    ends = []
    for number, (curve, look) in enumerate(
        zip(curves, _looks(curves, chosen, palette), strict=True)
    ):
        mean = curve.mean(measure)
        aside = 10 ** (_APART * (number - (len(curves) - 1) / 2))
        _add_line(figure, curve, measure, (names[curve.key], look, aside), limits[1])
        height = (float(mean[-1]) - limits[0]) / (limits[1] - limits[0])
        above = " \u2191" if height > 1 else ""
        ends.append(LineEnd(names[curve.key] + above, height, look))
    name_ends(figure, ends, pixels=PIXELS)
    axis = share_axis("", (0, limits[1]))
    axis |= {"range": list(limits), "tickvals": None}
    if not share:
        axis["tickformat"] = ".3~g"
    return figure.update_layout(
        base_layout(title, r=MARGIN, b=46),
        xaxis=_sizes_axis(learning.plan.sizes),
        yaxis=axis,
    )


def axis_limits(curves: list[LearningCurve], measure: str) -> tuple[float, float]:
    """Return the bottom and the top of the axis.

    Errors start at 0. The axis holds every mean and error bar, but for what is more than twice as
    high as uncalibrated, or as the best, if that is worse: it would squeeze the rest.
    """
    if not curves:
        return (0.0, 1.0)
    low, high = _drawn_range(curves, measure, np.inf)
    if measure == "accuracy":
        room = max(0.06 * (high - low), 0.005)
        return (max(low - room, 0.0), min(high + room, 1.0))
    ends = {curve.key: float(curve.mean(measure)[-1]) for curve in curves}
    best = min(ends.values())
    most = 2 * max(best, ends.get(NO_METHOD, best))
    low, high = _drawn_range(curves, measure, most)
    if measure in PROPER:
        room = 0.06 * (high - low) or 0.01
        return (max(low - room, 0.0), high + room)
    return (0.0, 1.06 * high or 0.01)


def _drawn_range(curves: list[LearningCurve], measure: str, most: float) -> tuple[float, float]:
    """Return the lowest and the highest end of what is drawn, cut off at the most allowed."""
    ends = []
    for curve in curves:
        drawn = curve.mean(measure) <= most
        low, high = _bar_ends(curve, measure)
        ends += [low[drawn], high[drawn], np.minimum(curve.mean(measure), most)]
    values = np.concatenate(ends)
    return float(values.min()), min(float(values.max()), most)


def _bar_ends(curve: LearningCurve, measure: str) -> tuple[Floats, Floats]:
    """Return the lower and the upper end of each error bar; a mean can lie outside of both.

    The uncalibrated value is the same in every draw.
    """
    mean = curve.mean(measure)
    if curve.key == NO_METHOD:
        return mean, mean
    low, high = curve.quantile(measure, LOW), curve.quantile(measure, HIGH)
    return np.minimum(low, mean), np.maximum(high, mean)


def leaves(curves: LearningCurves, measure: str) -> bool:
    """Return whether some mean or error bar goes on above the graph."""
    drawn = [c for c in curves.curves if c.sizes.size and not np.isnan(c.mean(measure)).any()]
    top = axis_limits(drawn, measure)[1]
    return any(bool((_bar_ends(curve, measure)[1] > top).any()) for curve in drawn)


def _looks(curves: list[LearningCurve], chosen: str, palette: Palette) -> list[Look]:
    others = iter(looks(len(curves) + 2, palette)[1:])
    styles = []
    for curve in curves:
        if curve.key == chosen:
            styles.append(Look(palette.text, "solid", 2.5))
        elif curve.key == NO_METHOD:
            styles.append(Look(palette.neutral, "solid", 1.25))
        else:
            styles.append(next(others))
    return styles


def _add_line(
    figure: go.Figure,
    curve: LearningCurve,
    measure: str,
    drawn: tuple[str, Look, float],
    top: float,
) -> None:
    (name, look, aside), mean = drawn, curve.mean(measure)
    low, high = _bar_ends(curve, measure)
    style = "%{y:.4f}" if measure in PROPER else "%{y:.2%}"
    spread: dict[str, Any] = {}
    if curve.key != NO_METHOD:
        spread = _error_bars(np.where(mean > top, np.nan, mean), low, high, look)
    figure.add_scatter(
        x=curve.sizes * aside,
        y=mean,
        error_y=spread,
        mode="lines+markers",
        name=name,
        line=look.line,
        marker={"size": 5 if curve.key != NO_METHOD else 1, "color": look.colour},
        customdata=np.stack([curve.sizes, [len(p.values) for p in curve.usable]], axis=1),
        hovertemplate=f"{name}, %{{customdata[0]:,}} rows: {style}"
        "<br>mean of %{customdata[1]} draws<extra></extra>",
    )


def _error_bars(mean: Floats, low: Floats, high: Floats, look: Look) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": high - mean,
        "arrayminus": mean - low,
        "color": look.colour,
        "thickness": 1,
        "width": 2,
    }


def _sizes_axis(sizes: tuple[int, ...]) -> dict[str, Any]:
    axis = share_axis("Calibration rows", (0, 1))
    return axis | {
        "title": {**axis["title"], "standoff": 12},
        "type": "log",
        "range": [np.log10(sizes[0]) - 0.06, np.log10(sizes[-1]) + 0.06],
        "tickvals": [*sizes[:-1:2], sizes[-1]] if len(sizes) > 4 else list(sizes),
        "tickformat": ",",
    }
