"""The KS error: add up scores and outcomes, and see how far the two totals part."""

from functools import cache
from typing import Any

import numpy as np

from calibcore.binning import BinTable, bin_scores
from calibcore.cumulative import CumulativeCurves, cumulative_curves, ks_error
from calibcore.data import EventScores
from calibcore.results import result_class
from dashboard.figures import Palette
from dashboard.figures.layout import middles
from dashboard.figures.thinning import thin
from dashboard.learn import data, pictures
from dashboard.learn.laboratory import PRESETS
from dashboard.learn.lesson import (
    Check,
    ChoiceGuess,
    Lesson,
    LessonPicture,
    LessonView,
    Link,
    State,
    Steps,
)
from dashboard.texts.numbers import difference, percent, points

KEY = "ks"

FEW, SEED = 60, 39
"""Rows that are drawn, and which: their KS error is near the middle of draws, and beyond luck."""

ADDED = tuple(range(1, FEW + 1))
"""Steps of the rows added: one is one of the few rows, or as large a share of all."""

N_DRAWS = 50
"""Draws of so few rows, to compare with."""

HEIGHT = 304

WINDOW = 0.2
"""Share of the rows over which the slope is taken."""

LOWEST = 0.4
"""Score above which they are drawn, see `data.few_rows`."""

_NEAR = 1e-9
"""Shares of rows that differ by less are the same, but for rounding."""

HALF_OFF = 10
"""Percentage points by which each half of the rows of the check is off."""


@result_class
class Walk:
    """The rows added so far, lowest score first."""

    curves: CumulativeCurves
    """Of all rows."""
    bins: BinTable
    """Of all rows, in tenths of the score."""
    limit: float
    """KS error below which a perfectly calibrated model stays in about 95% of draws."""
    here: int
    back: int
    """Places in the curves: of the last row added, and where the slope is taken from."""

    @property
    def n_added(self) -> int:
        """Rows added."""
        return self._rows(self.here)

    @property
    def n_recent(self) -> int:
        """Rows over which the slope is taken."""
        return self.n_added - self._rows(self.back)

    @property
    def passed_widest(self) -> bool:
        """Whether the widest gap is among the rows added."""
        return self.here >= self.curves.ks_index

    @property
    def rise(self) -> float:
        """How much the gap grew over these rows."""
        return float(self.curves.gap[self.here] - self.curves.gap[self.back])

    @property
    def mean_score(self) -> float:
        """Mean score of these rows: the slope of the cumulative score."""
        return self._slope(self.curves.cum_score)

    @property
    def frequency(self) -> float:
        """Observed frequency of these rows: the slope of the cumulative outcomes."""
        return self._slope(self.curves.cum_hits)

    def _rows(self, place: int) -> int:
        return round(float(self.curves.fractile[place]) * self.curves.n_samples)

    def _slope(self, total: Any) -> float:
        across = self.curves.fractile[self.here] - self.curves.fractile[self.back]
        return float((total[self.here] - total[self.back]) / across)


def few_drawn() -> EventScores:
    """Return the few rows."""
    return data.few_rows(FEW, SEED)


@cache
def _counted(which: str) -> tuple[CumulativeCurves, BinTable, float]:
    """Add up the rows, which are the same for everybody, once."""
    rows = few_drawn() if which == "few" else data.top_scores()
    curves = cumulative_curves(rows.scores, rows.hits)
    return curves, bin_scores(rows.scores, rows.hits, n_bins=10), curves.ks_null_95


def find(which: str, share: float) -> Walk:
    """Add the rows up to a share of all."""
    curves, bins, limit = _counted(which)
    before = share - WINDOW
    back = curves.place_at(before - _NEAR) if before > _NEAR else 0
    return Walk(curves, bins, limit, curves.place_at(share - _NEAR), back)


@cache
def usual_ks() -> float:
    """Return the median KS error of other draws of so few rows."""
    draws = [data.few_rows(FEW, seed) for seed in range(N_DRAWS)]
    return float(np.median([ks_error(rows.scores, rows.hits) for rows in draws]))


def show(state: State) -> LessonView:
    """Show the two totals with their gap, and the reliability diagram."""
    if not state.revealed:
        return LessonView((_rows_picture(state.palette),), "")
    walk = find(state.chosen["rows"], state.number("added") / FEW)
    curves, n_rows = walk.curves, walk.curves.n_samples
    scores, correct = (n_rows * float(t[walk.here]) for t in (curves.cum_score, curves.cum_hits))
    n_widest = round(curves.ks_fractile * n_rows)
    digits = 2 if n_rows == FEW else 1  # so that the gap can be worked out from them
    return LessonView(
        (_totals(walk, state.palette), _diagram(walk, state.palette)),
        f"{_added(walk.n_added)} **{scores:,.{digits}f}**; correct predictions:"
        f" **{correct:,.0f}**. Divided by all {n_rows:,} rows, their gap is"
        f" {percent(float(curves.gap[walk.here]), n_rows)}. {_local(walk)} The widest gap,"
        f" {percent(curves.ks_error, n_rows)} after {n_widest:,} rows, is the **KS error**. Luck"
        f" alone keeps it below {percent(walk.limit, n_rows)} in about"
        " 95% of draws.",
        answer=_answer(state.chosen["rows"]),
        right=_right(),
        note=_note(state.chosen["rows"]),
        numbers=_numbers(state.chosen["rows"]),
    )


def _added(n_added: int) -> str:
    return "The first score is" if n_added == 1 else f"The first {n_added:,} scores add up to"


def _last(n_recent: int) -> str:
    return "the last row" if n_recent == 1 else f"the last {n_recent:,} rows"


def _answer(which: str) -> str:
    """Return where the two totals are farthest apart, of the rows that are shown."""
    curves = _counted(which)[0]
    n_rows = curves.n_samples
    where = {
        "lowest": "at the lowest scores: ",
        "highest": "at the highest scores, as gaps of one sign add up (where signs alternate, it is"
        " in between): ",
    }
    return (
        f"{where.get(_right(), '')}after {round(curves.ks_fractile * n_rows):,} of {n_rows:,} rows"
    )


def _right() -> str:
    """Return the guess that is right: the end of the rows where the gap is widest, or neither."""
    place = _counted("few")[0].ks_fractile
    return "highest" if place > 2 / 3 else "lowest" if place < 1 / 3 else "steepest"


def _note(which: str) -> str:
    own = [_draw_note()] if which == "few" else []
    return " ".join([*own, _alternating(), _four_graphs()])


def _draw_note() -> str:
    """Say how these rows were drawn, and what other rows show."""
    every = _counted("all")[0]
    return (
        f"These {FEW} rows are spread evenly over scores above 40%, where most scores are too high."
        f" The median KS error of {N_DRAWS} such draws is {percent(usual_ks(), FEW)}; of all"
        f" {every.n_samples:,} rows, most of them near 100%, it is"
        f" {percent(every.ks_error, every.n_samples)}."
    )


def _four_graphs() -> str:
    """Say what the page shows, what differs between its first two graphs, and how to see it."""
    half = find("all", 0.5)
    place = percent(float(half.curves.cum_score[half.here]), half.curves.n_samples)
    return (
        "The page Cumulative shows four graphs: (a) both totals by share of rows, as here; (b) by"
        " cumulative score: each row is as wide as its score, so that the score is a straight line,"
        " on which a calibrated model lies; (c) the slopes of (a), score and observed frequency;"
        " (d) these by score."
        " Try it (View, Mark rows at 50%): where in (b) is the middle of all 10,000 rows? (At"
        f" {place}.)"
    )


def _alternating() -> str:
    """Say where the KS error is small though scores are far from right."""
    truth = PRESETS["wavy"].model.truth()
    return (
        "Where errors alternate, the gap closes again: a model whose scores are too low below"
        " 50% and too high above (S-shaped, in the Laboratory) has a true ECE of"
        f" {percent(truth.mean_distance, FEW)}, but a true KS error of {percent(truth.ks, FEW)}."
    )


def _local(walk: Walk) -> str:
    """Say what the slope is at the last rows."""
    n_rows = walk.curves.n_samples
    size = points(abs(walk.rise), n_rows)
    flat = size == points(0.0, n_rows)
    change = "stayed" if flat else f"{'grew' if walk.rise > 0 else 'shrank'} by {size}"
    off = difference(walk.frequency, walk.mean_score, "share", n_rows)
    weight = "" if flat else (
        f" (about {points(abs(off), n_rows)} too {'high' if walk.rise > 0 else 'low'}, times"
        f" {walk.n_recent:,} of {n_rows:,} rows)"
    )  # fmt: skip
    if walk.n_recent == 1:
        return f"It was {'correct' if walk.frequency else 'wrong'}: the gap {change}."
    return (
        f"Of the last {walk.n_recent:,}, {percent(walk.frequency, n_rows)} were correct, at a mean"
        f" score of {percent(walk.mean_score, n_rows)}: there the gap {change}{weight}."
    )


def _numbers(which: str) -> tuple[tuple[str, ...], ...]:
    rows: list[tuple[str, ...]] = [("Rows added", "Cumulative score", "Cumulative outcomes", "Gap")]
    for tenth in range(1, 11):
        walk = find(which, tenth / 10)
        curves, here = walk.curves, walk.here
        totals = (percent(float(t[here]), 1) for t in (curves.cum_score, curves.cum_hits))
        rows.append((f"{walk.n_added:,}", *totals, percent(float(curves.gap[here]), 1)))
    return tuple(rows)


def _rows_picture(palette: Palette) -> LessonPicture:
    """Show every row with its outcome, before anything is added up."""
    rows = few_drawn()
    place = np.arange(1, FEW + 1)
    correct = rows.hits == 1
    kinds = ((correct, palette.frequency, "circle"), (~correct, palette.neutral, "circle-open"))
    figure = pictures.picture(
        f"{FEW} predictions, lowest score first",
        [
            pictures.dots(
                place[of], rows.scores[of], colour, size=6, symbol=symbol, cliponaxis=False
            )
            for of, colour, symbol in kinds
        ],
        x=pictures.number_axis("Row, lowest score first", 0, FEW + 1),
        # From where scores start, and small, so that dots lie apart on a narrow screen too.
        y=pictures.percent_axis("Score", low=LOWEST),
        names=[
            pictures.label("\u25cf correct", 2, 0.92, palette.frequency),
            pictures.label("\u25cb wrong", 2, 0.86, palette.neutral),
        ],
    )
    text = f"{FEW} dots, one per prediction, at the height of its score. Rings are wrong."
    return LessonPicture("rows", figure, text)


def _totals(walk: Walk, palette: Palette) -> LessonPicture:
    """Draw both totals up to the last row added, and below them their gap on its own axis."""
    curves, end = walk.curves, walk.here
    keep = [walk.back, *([curves.ks_index] if curves.ks_index <= end else [])]
    drawn = thin(curves.fractile[: end + 1], curves.gap[: end + 1], keep=keep)
    x = curves.fractile[drawn]
    ends = _gap_range(walk)
    figure = pictures.picture(
        "Cumulative score and outcomes, and their gap",
        [
            # Thin, so that the eye is left to the gap.
            pictures.line(x, curves.cum_hits[drawn], palette.frequency, dash="dash", width=1.5),
            pictures.line(x, curves.cum_score[drawn], palette.score, width=1.5),
            *_gap_traces(walk, drawn, palette),
        ],
        x={**pictures.percent_axis("Rows added, lowest score first"), "anchor": "y2"},
        y={**pictures.percent_axis("Total"), "domain": [0.64, 1], "tickvals": [0, 0.5, 1]},
        yaxis2={
            **pictures.number_axis("Gap", *ends, zeroline=True, tickformat=".3~%", nticks=5),
            "domain": [0, 0.53],
        },
        names=[*_total_names(palette), *_gap_names(walk, palette)],
        height=HEIGHT,
    )
    return LessonPicture(
        "totals",
        figure,
        f"Rows added: {walk.n_added:,}; thick: {_last(walk.n_recent)}. Below: the gap of"
        " both totals. Grey: how wide luck alone makes it in about 95% of draws.",
    )


def _gap_range(walk: Walk) -> tuple[float, float]:
    gap = walk.curves.gap
    low, high = min(float(gap.min()), -walk.limit), max(float(gap.max()), walk.limit)
    return low - 0.1 * (high - low), high + 0.3 * (high - low)


def _gap_traces(walk: Walk, drawn: Any, palette: Palette) -> list[pictures.Trace]:
    curves, limit = walk.curves, walk.limit
    gap = pictures.line(curves.fractile[drawn], curves.gap[drawn], palette.text)
    recent = drawn[drawn >= walk.back]
    traces = [
        pictures.luck(limit, palette),
        {**gap, "fill": "tozeroy", "fillcolor": palette.gap},
        pictures.line(curves.fractile[recent], curves.gap[recent], palette.text, width=7),
    ]
    if walk.passed_widest:
        place = [curves.ks_fractile], [curves.gap[curves.ks_index]]
        traces.append(pictures.dots(*place, palette.text, size=13, symbol="diamond"))
    return [{**trace, "yaxis": "y2"} for trace in traces]


def _total_names(palette: Palette) -> list[pictures.Trace]:
    """Name both lines, in the corners where they never are."""
    low = {"xanchor": "right", "yshift": -7}
    return [
        pictures.label("\u2014 Cumulative score", 0.01, 0.62, palette.score),
        pictures.label("- - Cumulative outcomes", 1, 0, palette.frequency, **low),
    ]


def _gap_names(walk: Walk, palette: Palette) -> list[pictures.Trace]:
    curves, limit = walk.curves, walk.limit
    names = [
        pictures.label("luck", 1, -limit, palette.neutral, xanchor="right", yref="y2"),
    ]
    if walk.passed_widest:
        text = f"KS error {percent(curves.ks_error, curves.n_samples)}"
        top = float(curves.gap[curves.ks_index])
        place = {"xanchor": "right", "yref": "y2", "xshift": -9}
        names.append(pictures.label(text, curves.ks_fractile, top, palette.text, **place))
    return names


def _diagram(walk: Walk, palette: Palette) -> LessonPicture:
    """Draw the reliability diagram, with the last rows in it."""
    table, score, frequency = walk.bins, walk.mean_score, walk.frequency
    filled = table.counts > 0
    reached = table.edges[:-1] < walk.curves.score[walk.here]
    traces = [
        pictures.bars(
            middles(table.edges)[of],
            table.frequency[of],
            palette.frequency,
            np.diff(table.edges)[of],
            opacity=opacity,
        )
        for of, opacity in ((filled & reached, 0.6), (filled & ~reached, 0.15))
    ]
    traces += [
        pictures.diagonal(palette),
        pictures.line([score, score], [frequency, score], palette.text, width=7),
        pictures.dots([score], [frequency], palette.frequency, size=11, symbol="square"),
        pictures.dots([score], [score], palette.score, size=11, cliponaxis=False),
    ]
    n_recent = _last(walk.n_recent)
    figure = pictures.by_score(
        "Reliability diagram",
        traces,
        names=[pictures.label(f"\u2501 {n_recent}", 0.02, 0.88, palette.text)],
        height=HEIGHT,
    )
    return LessonPicture(
        "diagram",
        figure,
        f"Strong bars: rows added. Thick: from the frequency, {percent(frequency, 1)}, to the mean"
        f" score, {percent(score, 1)}, of {n_recent}; the longer, the faster the gap grows.",
    )


LESSON = Lesson(
    key=KEY,
    play="added",
    minutes=6,
    title="Adding up instead of binning",
    question=f"{FEW} other predictions of the same network, **ten each** with scores of"
    " 40\u201350%, 50\u201360% and so on, lowest score first. One total adds up scores, one counts"
    " correct predictions. Where are the two totals **farthest apart**?",
    guess=ChoiceGuess(
        {
            "lowest": "At the lowest scores",
            "steepest": "At the scores that are most often wrong",
            "highest": "At the highest scores",
        }
    ),
    controls=(
        Steps(
            "added",
            "Rows added, lowest score first",
            {str(step): f"{100 * step / FEW:.3g}%" for step in ADDED},
            str(FEW),
        ),
        Steps(
            "rows",
            "Rows",
            {"few": f"{FEW} rows", "all": "All 10,000"},
            "few",
            as_buttons=True,
        ),
    ),
    show=show,
    takeaway="The gap adds up: it rises while scores are too high, falls while they are too low."
    " Its widest point is the KS error. Luck widens it, too; opposite errors partly cancel.",
    check=Check(
        f"In the lower half of the rows, scores are {HALF_OFF} percentage points too high; in the"
        " upper half as much too low. What is the KS error?",
        {
            "none": "0%",
            "half": f"{HALF_OFF // 2}%",
            "whole": f"{HALF_OFF}%",
        },
        "half",
        f"Half of the rows, each {HALF_OFF} percentage points too high, make a gap of"
        f" {HALF_OFF // 2}%. The other half closes it: in the end it is 0, but the KS error keeps"
        " the widest gap.",
    ),
    link=lambda state: Link(
        "ks",
        {
            "sample": data.NETWORK,
            "method": "none",
            "fractile": f"{100 * state.number('added') / FEW:.0f}",
        },
        "All 10,000 rows in the dashboard, in four graphs",
    ),
    computed="Rows are sorted by score; scores and correct predictions are added up row by row."
    " `calibcore.cumulative.cumulative_curves`: Gupta 2021, eqs. 9 to 12. Grey: where the"
    " largest gap of a perfectly calibrated model stays in about 95% of draws (Brownian limit)."
    f" Rows: the test set of the first example, or {FEW} of it, evenly over scores above 40%.",
    terms={
        "Cumulative score": "the scores added up, lowest first, divided by the number of rows.",
        "Cumulative outcomes": "correct predictions counted in the same order, divided by the"
        " number of rows.",
    },
)
