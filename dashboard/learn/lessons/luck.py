"""What luck looks like: five pictures of luck and one of a miscalibrated network, in a row."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from calibcore.binning import bin_tally
from calibcore.cumulative import CumulativeCurves, curves_of, ks_of
from calibcore.data import EventScores
from calibcore.inference.draws import redrawn
from calibcore.metrics.binned import ece_of
from calibcore.results import result_class
from calibcore.tally import tally
from calibcore.validation import Floats
from dashboard.figures import Palette
from dashboard.figures.layout import panel
from dashboard.figures.thinning import thin
from dashboard.learn import data, pictures
from dashboard.learn.lesson import (
    DRAW,
    Check,
    ChoiceGuess,
    Lesson,
    LessonPicture,
    LessonView,
    Link,
    State,
    Steps,
)
from dashboard.texts.numbers import of_100, p_words, percent

KEY = "luck"

MODEL = "fashion_cnn_focal"
"""A network whose miscalibration is about as large as what luck makes of 500 rows."""

ROWS = (50, 100, 200, 500, 1000, 2000, 5000, 10_000)

N_PICTURES, COLUMNS = 6, 3

GUTTER = 0.03
"""Between pictures, as a share of the width."""

REPEATS = 100
"""Other line-ups, to say how often the network stands out."""

N_LUCK = 10
"""Pictures of luck drawn beside each of them, to say how often luck is beyond the limit."""

LEVEL = 0.05

CAREFUL = 0.8
"""Part of the level; with fewer false alarms than that, the test is called careful."""

N_BINS = 15
"""Of the ECE."""

HEIGHT = 384

BEYOND = 1.5
"""Height of the axis in limits at least, so that the grey band ends inside each picture."""

POINTS = 120
"""Most points of a line in a picture so small."""


@result_class
class LineUp:
    """Pictures of the same scores: one with the network's outcomes, the others with luck's."""

    curves: tuple[CumulativeCurves, ...]
    """One per picture."""
    place: int
    """Which of them is the network, from 0."""
    limit: float
    """KS error that luck exceeds in 5% of draws."""

    @property
    def network(self) -> CumulativeCurves:
        """The network's curves."""
        return self.curves[self.place]

    @property
    def beyond(self) -> tuple[int, ...]:
        """Pictures, from 0, whose KS error exceeds the limit."""
        return tuple(k for k, one in enumerate(self.curves) if one.ks_error > self.limit)


@result_class
class LineUpRates:
    """How often the network stands out of other line-ups of so many rows."""

    detected: float
    """Share in which the p-value of its KS error is below `LEVEL`."""
    widest: float
    """Share in which its KS error is the largest of all."""
    alarms: float
    """Share of the pictures of luck in which it is detected as well."""
    usual_ks: float
    usual_ece: float
    """Median KS error and ECE of luck alone."""


def draw(state: State) -> LineUp:
    """Draw a line-up; with more rows, the network stays in its place."""
    n_rows = int(state.chosen["rows"])
    place = int(state.rng(KEY).integers(N_PICTURES))
    rng = state.rng(f"{KEY}{n_rows}")
    rows = data.drawn(n_rows, rng, data.top_scores(MODEL))
    counted = tally(rows.scores, rows.hits)
    alike = redrawn(rng, counted, counted.scores, N_PICTURES - 1).hits
    curves = [curves_of(replace(counted, hits=hits)) for hits in alike]
    curves.insert(place, curves_of(counted))
    return LineUp(tuple(curves), place, curves[0].ks_null_95)


@cache
def often(n_rows: int) -> LineUpRates:
    """Draw many line-ups, the same for everybody, each of rows drawn with repetition."""
    rng = np.random.default_rng((n_rows, *KEY.encode()))
    every = data.top_scores(MODEL)
    n_detected = n_widest = n_alarms = 0
    errors, eces = list[Floats](), list[Floats]()
    for _ in range(REPEATS):
        chosen = rng.integers(every.n_samples, size=n_rows)
        counted = tally(every.scores[chosen], every.hits[chosen])
        network = curves_of(counted)
        luck = redrawn(rng, counted, counted.scores, N_LUCK)
        alike = ks_of(luck)
        errors.append(alike)
        eces.append(ece_of(bin_tally(luck, n_bins=N_BINS)))
        n_detected += network.ks_p_value < LEVEL
        n_widest += network.ks_error > alike[: N_PICTURES - 1].max()
        n_alarms += int(np.count_nonzero(alike > network.ks_null_95))
    return LineUpRates(
        n_detected / REPEATS,
        n_widest / REPEATS,
        n_alarms / (REPEATS * N_LUCK),
        float(np.median(errors)),
        float(np.median(eces)),
    )


def show(state: State) -> LessonView:
    """Show the line-up, and after the answer which of them is the network."""
    line_up, n_rows = draw(state), int(state.chosen["rows"])
    figure = _pictures(line_up, state.palette, revealed=state.revealed)
    if not state.revealed:
        return LessonView((figure,), "")
    stands_out, which = often(n_rows), f"picture {line_up.place + 1}"
    rows = [("Picture", "Of", "KS error", "p-value")]
    rows += [
        (
            str(k + 1),
            "the network" if k == line_up.place else "luck",
            percent(one.ks_error, n_rows),
            p_words(one.ks_p_value),
        )
        for k, one in enumerate(line_up.curves)
    ]
    return LessonView(
        (figure,),
        f"**{which.capitalize()}** is the network: {_which_way(line_up)} KS error"
        f" {percent(line_up.network.ks_error, n_rows)}, {p_words(line_up.network.ks_p_value)}."
        f" With {n_rows:,} rows the KS test (p below {LEVEL:g}) finds this network in"
        f" **{of_100(stands_out.detected)}** of"
        f" samples (false alarms, of luck alone: {_alarms(stands_out)}). It has the widest"
        f" gap of the six in **{of_100(stands_out.widest)}**; guessing finds it in"
        f" {of_100(1 / N_PICTURES)}.",
        answer=which,
        right=str(line_up.place + 1),
        if_right=_if_right(line_up),
        note=" ".join(
            [_usual(stands_out, n_rows), *_careful(stands_out), _unusual(line_up)]
        ).strip(),
        numbers=tuple(rows),
    )


def _if_right(line_up: LineUp) -> str:
    """Say of the right guess whether the rows show it, or it is right by luck."""
    p_value = line_up.network.ks_p_value
    if p_value < LEVEL:
        return "right"
    return f"right, but by luck: {of_100(p_value)} of pictures of luck have so wide a gap"


def _usual(line_ups: LineUpRates, n_rows: int) -> str:
    """Say how large errors of luck alone are, with so many rows."""
    return (
        f"Perfectly calibrated, {n_rows:,} such rows show a KS error of"
        f" {percent(line_ups.usual_ks, n_rows)} and an ECE ({N_BINS} bins) of"
        f" {percent(line_ups.usual_ece, n_rows)}, by luck alone (medians): both shrink with"
        " more rows."
    )


def _which_way(line_up: LineUp) -> str:
    """Say which way the line of the network goes with all rows, and whether these rows show it."""
    every, here = data.top_scores(MODEL), line_up.network
    side, way = ("low", "falls") if _gap_of(every) < 0 else ("high", "rises")
    if here.ks_p_value < LEVEL and here.gap[here.ks_index] * _gap_of(every) > 0:
        return f"its scores are too {side}, so its line {way}."
    truth = f"its scores are too {side}. With {every.n_samples:,} rows its line {way}"
    if here.ks_p_value < LEVEL:
        return (
            f"{truth}; here it leaves the grey the wrong way: a small p-value says that, not how."
        )
    return f"{truth}; here this cannot be seen."


def _gap_of(rows: EventScores) -> float:
    return float(rows.scores.mean() - rows.hits.mean())


def _alarms(line_ups: LineUpRates) -> str:
    return of_100(line_ups.alarms)


def _careful(line_ups: LineUpRates) -> list[str]:
    """Say it where the test is careful, as its p-values are those of many rows."""
    if line_ups.alarms >= CAREFUL * LEVEL:
        return []
    return [
        (
            "With so few rows the test rejects too seldom, as its limit is too far out: false"
            f" alarms are {_alarms(line_ups)}, not {of_100(LEVEL)}."
        )
    ]


def _unusual(line_up: LineUp) -> str:
    """Name the pictures of luck that look like miscalibration."""
    lucky = [str(k + 1) for k in line_up.beyond if k != line_up.place]
    if not lucky:
        return ""
    chance = of_100(1 - (1 - often(line_up.network.n_samples).alarms) ** (N_PICTURES - 1))
    return (
        f"Luck, yet beyond the limit: {', '.join(lucky)}. Among {N_PICTURES - 1} pictures of luck,"
        f" that happens in {chance} of draws."
    )


def _pictures(line_up: LineUp, palette: Palette, *, revealed: bool) -> LessonPicture:
    n_rows = line_up.network.n_samples
    top = max(BEYOND * line_up.limit, *(1.1 * one.ks_error for one in line_up.curves))
    traces, names = list[pictures.Trace](), list[pictures.Trace]()
    axes = dict[str, dict[str, Any]]()
    for k, curves in enumerate(line_up.curves):
        own, on = _axes(k, top)
        axes |= own
        is_network = revealed and k == line_up.place
        if revealed:
            traces.append(pictures.luck(line_up.limit, palette) | on)
        traces.append(_line(curves, palette.frequency if is_network else palette.text) | on)
        text = f"<b>{k + 1}</b>"
        if revealed:
            of = "<b>network</b>" if is_network else "luck"
            text = f"{text} {of}<br>KS {percent(curves.ks_error, n_rows)}"
        place = {"xref": on["xaxis"], "yref": f"{on['yaxis']} domain"}
        colour = palette.frequency if is_network else palette.text
        names.append(pictures.label(text, 0, 1, colour, **place, align="left"))
    figure = pictures.picture(
        "Cumulative gap",
        traces,
        x=axes.pop("xaxis"),
        y=axes.pop("yaxis"),
        names=names,
        height=HEIGHT,
        **axes,
    )
    return LessonPicture("lineup", figure, _caption(line_up, revealed=revealed))


def _axes(k: int, top: float) -> tuple[pictures.Trace, pictures.Trace]:
    """Return the axes of one picture: three stand side by side, in two lines."""
    line, column = divmod(k, COLUMNS)
    left, low = column * (1 + GUTTER) / COLUMNS, (0.54, 0.0)[line]
    across = pictures.percent_axis("Rows, lowest score first" if k == N_PICTURES - 2 else "")
    up = pictures.number_axis("Gap" if column == 0 else "", -top, top, tickformat=".3~%")
    across |= {
        "domain": [left, left + (1 + GUTTER) / COLUMNS - GUTTER],
        "tickvals": [0, 0.5, 1],
        "showticklabels": k == N_PICTURES - 2,
    }
    up |= {"domain": [low, low + 0.33], "nticks": 3, "showticklabels": column == 0}
    return panel(k, across, {**up, "zeroline": True})


def _line(curves: CumulativeCurves, colour: str) -> pictures.Trace:
    drawn = thin(curves.fractile, curves.gap, keep=[curves.ks_index], most=POINTS)
    return pictures.line(curves.fractile[drawn], curves.gap[drawn], colour)


def _caption(line_up: LineUp, *, revealed: bool) -> str:
    """Tell what the pictures show: before the answer, the same of each."""
    n_rows = line_up.network.n_samples
    if not revealed:
        return (
            f"Each line: the gap between cumulative score and cumulative outcomes of the same"
            f" {n_rows:,} scores, on the same axes."
        )
    return (
        f"Orange, picture {line_up.place + 1}: the network. The other {N_PICTURES - 1}: luck. Grey:"
        f" where {of_100(1 - often(n_rows).alarms)} of pictures of luck stay, up to"
        f" {percent(line_up.limit, n_rows)}. Beyond it: {_named(line_up.beyond)}."
    )


def _named(places: tuple[int, ...]) -> str:
    """Name pictures by their numbers, which begin with 1.

    >>> _named((2,)), _named((0, 4)), _named(())
    ('picture 3', 'pictures 1, 5', 'no picture')
    """
    numbers = ", ".join(str(k + 1) for k in places)
    return f"picture{'s' if len(places) > 1 else ''} {numbers}" if places else "no picture"


LESSON = Lesson(
    key=KEY,
    minutes=7,
    title="Miscalibrated or luck?",
    question="Five of these pictures are luck alone: their outcomes are drawn as if the scores were"
    " the true probabilities. One is a real network, not that of the lessons before, and"
    " **miscalibrated**. Which?",
    guess=ChoiceGuess({str(k): str(k) for k in range(1, N_PICTURES + 1)}),
    controls=(Steps("rows", "Rows in each picture", {str(n): f"{n:,}" for n in ROWS}, "100"),),
    show=show,
    takeaway="With few rows, luck looks like miscalibration, and miscalibration like luck. Ask how"
    " large an error luck alone would show.",
    check=Check(
        "On 100 rows, a model's KS error is no larger than luck makes it; on 10,000 rows of the"
        " same kind it is far larger. Which is most likely?",
        {
            "worse": "The model has become worse",
            "lucky": "The 10,000 rows are bad luck",
            "few": "100 rows are too few to show it",
        },
        "few",
        "The network of this lesson is miscalibrated, yet with 100 rows its KS error is mostly"
        " no larger than luck makes it either.",
    ),
    link=lambda _: Link(
        "ks", {"sample": MODEL, "method": "none"}, "All 10,000 rows in the dashboard"
    ),
    computed="Luck: outcomes drawn from the network's own scores. KS error, p-value and limit:"
    " `calibcore.cumulative.cumulative_curves` (Gupta 2021; Brownian limit, or a Poisson tail where"
    f" few are expected to be wrong). How often: {REPEATS} further line-ups, of rows drawn with"
    " repetition. Network: the example trained with focal loss, test set.",
    draw="Draw six others",
    draw_open="Six others, with the answer",
    play=DRAW,
    terms={
        "Gap": "cumulative score minus cumulative outcomes; the KS error is the widest.",
    },
    later={
        "p-value": "about how often luck alone shows a KS error at least as large; with few rows"
        " the test rejects too seldom.",
    },
    guess_each_draw=True,
)
