"""Pictures of your own calibration: bars with intervals, the gap, the four graphs, a class."""

from collections.abc import Sequence

import numpy as np
from plotly import graph_objects as go

from calibcore.reliability import BinnedReliability
from dashboard.figures import Palette, four_graphs
from dashboard.figures.layout import TEXT_SIZE, middles, parted
from dashboard.learn import pictures
from dashboard.learn.binomial import chances_of, usual_range
from dashboard.learn.lesson import LessonPicture
from dashboard.learn.own import OwnAnswer, Result
from dashboard.learn.questions import N_QUESTIONS
from dashboard.texts.numbers import percent, pp

_RIGHT = ("\u25a0 share right", "frequency")
_CONFIDENCE = ("\u25cf confidence", "score")
_NETWORK = ("\u25c6 network", "text")
"""Names of what is drawn, and their colours."""

_SIDE_STEP = 0.012
"""How far the network's error bars stand beside yours."""


def diagram(result: Result, network: Result | None, palette: Palette) -> LessonPicture:
    """Draw share right by confidence, with error bars; the network's as diamonds beside."""
    binned = result.binned
    filled = binned.bins.counts > 0
    middle = middles(binned.bins.edges)
    score = binned.bins.mean_score[filled]
    traces = [
        pictures.bars(
            middle[filled],
            binned.bins.frequency[filled],
            palette.frequency,
            np.diff(binned.bins.edges)[filled] - 0.01,
            opacity=0.6,
        ),
        _diagonal(palette),
        _error_bars(binned, middle, palette.text),
        pictures.dots(score, score, palette.score, size=9),
    ]
    named = [_RIGHT, _CONFIDENCE]
    text = f"Share right by confidence: {_spoken(binned)}. Error bars: 95% CI."
    if network is not None:
        other = network.binned
        there = other.bins.counts > 0
        beside = middle + 2 * _SIDE_STEP
        traces += [
            _error_bars(other, beside, palette.neutral),
            pictures.dots(
                beside[there],
                other.bins.frequency[there],
                palette.text,
                size=12,
                symbol="diamond",
                cliponaxis=False,
            ),
        ]
        named.append(_NETWORK)
        text += f" Diamonds, network: {_spoken(other)}."
    return LessonPicture(
        "diagram", _figure("Right, by confidence", traces, _above(named, palette)), text
    )


def pooled(result: Result, palette: Palette) -> LessonPicture:
    """Draw the diagram of many people, without error bars."""
    shown = pictures.bin_bars(result.binned.bins, palette)
    above = _above([_RIGHT, _CONFIDENCE], palette)
    figure = _figure("Right, by confidence: all answers", shown, above)
    return LessonPicture("pooled", figure, f"Share right by confidence: {_spoken(result.binned)}.")


def people(every: Sequence[Sequence[OwnAnswer]], palette: Palette) -> LessonPicture:
    """Draw each person as a dot, over what luck does with as many answers."""
    confidence = np.array([np.mean([one.level for one in answers]) for answers in every]) / 100
    right = np.array([np.mean([one.right for one in answers]) for answers in every])
    grid = np.linspace(0.5, 1, 51)
    ends = [usual_range(chances_of(one, N_QUESTIONS)) for one in grid.tolist()]
    low, high = np.array(ends).T / N_QUESTIONS
    traces = [
        pictures.ground(grid, low, high, palette, "luck"),
        _diagonal(palette),
        pictures.dots(confidence, right, palette.score, size=10, opacity=0.7),
    ]
    over = int((confidence > right).sum())
    return LessonPicture(
        "people",
        _figure("Each person", traces, [], x="Mean confidence"),
        f"A dot per person; {over} of {len(every)} below the diagonal: more confident than right."
        " Grey: luck, where at least 95% of perfectly calibrated people lie (binomial).",
    )


def gap(result: Result, palette: Palette) -> LessonPicture:
    """Draw the cumulative gap over the band of luck."""
    curves = result.side.curves
    limit, place = curves.ks_null_95, curves.ks_index
    top = 1.15 * max(limit, float(np.abs(curves.gap).max()), 0.01)
    widest = [0, float(curves.gap[place])]
    figure = pictures.picture(
        "Cumulative gap: confidence minus right",
        [
            pictures.luck(limit, palette),
            pictures.line([0, 1], [0, 0], palette.neutral, dash="dot"),
            pictures.line(curves.fractile, curves.gap, palette.score),
            pictures.line([curves.ks_fractile] * 2, widest, palette.text),
        ],
        x=pictures.percent_axis("Share of answers, lowest confidence first"),
        y=pictures.percent_axis("Cumulative gap", top, -top),
        names=[
            pictures.label("grey: luck", 0.02, -limit, palette.neutral),
            pictures.boxed("overconfident \u25b2", 0.02, top, palette.text, palette, yanchor="top"),
            pictures.boxed(
                "\u25bc underconfident", 0.98, -top, palette.text, palette, xanchor="right"
            ),
        ],
    )
    n = result.n_answers
    side = "confidence ahead" if widest[1] > 0 else "right answers ahead"
    where = f"largest gap {pp(abs(widest[1]), n)}" + (f" ({side})" if widest[1] else "")
    return LessonPicture(
        "gap",
        figure,
        f"Solid: your answers, {where}. Grey: {pp(limit, n)} either way, where perfectly calibrated"
        " answers stay in at least 95% of cases.",
    )


def four(result: Result, palette: Palette) -> list[LessonPicture]:
    """Draw the four graphs of Gupta et al., as the page Cumulative (KS) does."""
    side, n = result.side, result.n_answers
    graphs = four_graphs(side, side, palette)
    score, right = percent(result.mean_confidence, n), percent(result.right, n)
    totals = f"Cumulative score ends at {score}, cumulative outcomes at {right}."
    drawn = (
        ("a", graphs.cumulative_by_fractile, totals),
        ("b", graphs.cumulative_by_score, "The same; off the diagonal is the cumulative gap."),
        ("c", graphs.frequency_by_fractile, "Slopes of (a): score and smoothed share right."),
        ("d", graphs.frequency_by_score, "Smoothed share right by confidence."),
    )
    return [
        LessonPicture(letter, _readable(figure), text) for letter, figure, text in drawn if figure
    ]


def _readable(figure: go.Figure) -> go.Figure:
    """Enlarge the type, and call rows answers."""
    figure = go.Figure(figure.data, figure.layout)  # what was planned may be shared
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        axis.title.update(text=_of_answers(axis.title.text), font={"size": TEXT_SIZE})
        axis.tickfont = {"size": TEXT_SIZE}
    figure.layout.title.update(text=_of_answers(figure.layout.title.text), font={"size": TEXT_SIZE})
    for note in figure.layout.annotations:
        note.font = {"size": TEXT_SIZE}
    for trace in figure.data:
        if trace.hovertemplate:
            trace.hovertemplate = _of_answers(trace.hovertemplate)
    return figure


def _of_answers(text: str) -> str:
    return text.replace("rows", "answers").replace("lowest score first", "least confident first")


def _figure(
    title: str,
    traces: Sequence[pictures.Trace],
    names: Sequence[pictures.Trace],
    x: str = "Confidence",
) -> go.Figure:
    """Make a figure of shares right over confidences from 50 to 100%."""
    across = pictures.percent_axis(x) | {
        "range": [0.485, 1.015],
        "tickvals": [0.5, 0.6, 0.7, 0.8, 0.9, 1],
    }
    up = pictures.percent_axis("Share right")
    margin = pictures.margin(top=60 if names else 34, bottom=46)
    return pictures.picture(title, traces, x=across, y=up, names=names, margin=margin)


def _diagonal(palette: Palette) -> pictures.Trace:
    return pictures.line([0.5, 1], [0.5, 1], palette.neutral, dash="dot")


def _above(named: Sequence[tuple[str, str]], palette: Palette) -> list[pictures.Trace]:
    """Return names above the picture, each in the colour of a field of the palette."""
    text = "&nbsp; ".join(
        f'<span style="color:{getattr(palette, colour)}">{name}</span>' for name, colour in named
    )
    return [pictures.label(text, 0, 1.0, palette.text, xref="paper", yref="paper")]


def _error_bars(binned: BinnedReliability, at: np.ndarray, colour: str) -> pictures.Trace:
    """Return the interval of each bin that holds answers."""
    filled = binned.bins.counts > 0
    low, high = binned.lower[filled], binned.upper[filled]
    return pictures.line(parted(at[filled], at[filled]), parted(low, high), colour)


def _spoken(binned: BinnedReliability) -> str:
    """Say how many were right in each bin that holds answers."""
    bins = binned.bins
    return ", ".join(
        f"{round(share * count)} of {count} at {100 * low:.0f}\u2013{100 * high:.0f}%"
        for low, high, count, share in zip(
            bins.edges[:-1], bins.edges[1:], bins.counts, bins.frequency, strict=True
        )
        if count
    )
