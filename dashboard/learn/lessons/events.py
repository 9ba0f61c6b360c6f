"""What a score is about: the top prediction, the second one, a set of two, one class."""

from functools import cache

import numpy as np

from calibcore.binning import BinTable, bin_tally
from calibcore.calibrators import EnsembleTemperatureScaling
from calibcore.cumulative import CumulativeCurves, curves_of
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.inference.multiple_testing import holm
from calibcore.results import result_class
from calibcore.tally import tally
from calibcore.validation import Floats
from dashboard.figures import Palette
from dashboard.learn import data, pictures
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
from dashboard.texts.numbers import listing, of_100, percent

KEY = "events"

Event = TopR | WithinTopR | OneClass

EVENTS = {
    "top": "Top prediction",
    "second": "Prediction 2",
    "set": "Top-2 set",
    "class": "One class",
}

MEANT = {
    "top": "the picture shows the most probable class",
    "second": "the picture shows the second most probable class",
    "set": "the picture shows one of the two most probable classes",
    "class": "the picture shows the class {}",
}
"""What happens where an event happens."""

CALIBRATORS = {"none": "Uncalibrated", "ensemble_temperature": "Calibrated"}
"""By their word in the addresses of the dashboard."""

BETWEEN = (0.4, 0.9)
"""Score of the top prediction of a picture that is drawn: the bars of most others are one."""

SEEN = 0.005
"""Smallest score that is written at its bar."""

LEVEL = 0.05
"""Of the tests of all classes."""

VISIBLE = 0.1
"""Score of the class of a picture that is drawn, at least."""

LEAST = 20
"""Bins with fewer rows are not drawn."""


@result_class
class EventCurves:
    """One event over all rows."""

    bins: BinTable
    """Ten of equal width."""
    curves: CumulativeCurves
    """Cumulative score and outcomes."""

    @property
    def score(self) -> float:
        """Mean score."""
        return float(self.curves.cum_score[-1])

    @property
    def frequency(self) -> float:
        """How often it happened."""
        return float(self.curves.cum_hits[-1])


@cache
def probabilities(calibrator: str) -> Floats:
    """Return the class probabilities of the test set, of shape (n_samples, n_classes)."""
    rows = data.sample()
    if calibrator == "none":
        return rows.test.probabilities
    fitted = EnsembleTemperatureScaling().fit(rows.calibration.logits, rows.calibration.labels)
    return fitted.predict_proba(rows.test.logits)


@cache
def worst_class() -> int:
    """Return the class with the largest KS error after calibration."""
    every = [one.curves.ks_error for one in of_classes("ensemble_temperature")]
    return int(np.argmax(every))


def of_classes(calibrator: str) -> list["EventCurves"]:
    """Evaluate the event of each class."""
    return [measured(OneClass(k), calibrator) for k in range(len(_classes()))]


def event_of(word: str) -> Event:
    """Return the event that a word stands for."""
    match word:
        case "top":
            return TopR(1)
        case "second":
            return TopR(2)
        case "set":
            return WithinTopR(2)
        case _:
            return OneClass(worst_class())


@cache
def measured(event: Event, calibrator: str) -> EventCurves:
    """Evaluate an event on the test set."""
    outcomes = event.outcomes(probabilities(calibrator), data.sample().test.labels)
    counted = tally(outcomes.scores, outcomes.hits, outcomes.rest)
    return EventCurves(bin_tally(counted, n_bins=10), curves_of(counted))


@cache
def drawable() -> tuple[int, ...]:
    """Return the rows of which one is drawn: those with more than one bar to see."""
    table = probabilities("none")
    top = table.max(axis=1)
    seen = (top > BETWEEN[0]) & (top < BETWEEN[1]) & (table[:, worst_class()] > VISIBLE)
    return tuple(np.flatnonzero(seen).tolist())


def name_of(word: str) -> str:
    """Return what an event is called."""
    return f"Class {_classes()[worst_class()]}" if word == "class" else EVENTS[word]


def verdict(word: str, evaluation: EventCurves) -> str:
    """Say what is found of an event over all rows."""
    curves = evaluation.curves
    if curves.ks_error <= curves.ks_null_95:
        return "no miscalibration detected"
    gap = evaluation.score - evaluation.frequency
    if word in {"top", "second"}:
        return "overconfident" if gap > 0 else "underconfident"
    return "scores too high" if gap > 0 else "scores too low"


def show(state: State) -> LessonView:
    """Show an event on one row, and over all rows."""
    word = state.chosen["event"] if state.revealed else "top"
    calibrator = state.chosen["calibrator"] if state.revealed else "none"
    evaluation = measured(event_of(word), calibrator)
    row = int(state.rng(KEY).choice(drawable()))
    both = _row(row, word, calibrator, state.palette), _diagram(evaluation, word, state.palette)
    if not state.revealed:
        return LessonView(both, f"{name_of('top')}: {_means(evaluation)}.")
    second = measured(event_of("second"), "none")
    return LessonView(
        both,
        _sentence(word, calibrator),
        answer=f"{verdict('second', second)}: {_means(second)}",
        right={"overconfident": "over", "underconfident": "under"}.get(
            verdict("second", second), "well"
        ),
        note=_note(word, calibrator),
        numbers=_numbers(calibrator),
    )


def _classes() -> tuple[str, ...]:
    return data.sample().test.class_names


def _percent(value: float) -> str:
    return percent(value, data.sample().test.n_samples)


def _means(evaluation: EventCurves) -> str:
    score, frequency = _percent(evaluation.score), _percent(evaluation.frequency)
    return f"mean score {score}, observed frequency {frequency}"


def _luck(evaluation: EventCurves) -> str:
    errors = (evaluation.curves.ks_error, evaluation.curves.ks_null_95)
    return "KS error {} (luck alone: up to {})".format(*map(_percent, errors))


def _sentence(word: str, calibrator: str) -> str:
    """Say what is found of the event, and of the top prediction."""
    evaluation, top = (measured(event_of(one), calibrator) for one in (word, "top"))
    own = (
        f"**{name_of(word)}**: {_means(evaluation)}. {_luck(evaluation)}:"
        f" **{verdict(word, evaluation)}**."
    )
    if word == "top":
        return own
    return f"{own} {name_of('top')}: {_luck(top)}: {verdict('top', top)}."


def _note(word: str, calibrator: str) -> str:
    """Say why it is so of the second prediction, and how many classes are so."""
    calibrated = calibrator != "none"
    how = "Calibrated by ensemble temperature scaling, fitted on other rows." if calibrated else ""
    if word == "class":
        p_values = holm([one.curves.ks_p_value for one in of_classes(calibrator)])
        many = int(np.count_nonzero(p_values < LEVEL))
        before, after = (measured(event_of("class"), one).curves.ks_error for one in CALIBRATORS)
        return (
            f"{many} of {p_values.size} classes are miscalibrated (adjusted for {p_values.size}"
            f" tests). {_both_ways(calibrator, p_values)} {_classes()[worst_class()]} is shown,"
            " the most miscalibrated one after"
            f" calibration: its KS error is {_percent(before)} before and {_percent(after)} after,"
            f" as the calibrator was fitted to all classes together. {how}"
        ).strip()
    if word == "second" and not calibrated:
        return (
            "The scores of a row add up to 100%: what the first has too much, others have too"
            f" little. {NEXT}"
        )
    return f"{how} {NEXT if not calibrated else 'Next, choose One class.'}".strip()


NEXT = "Next, choose Calibrated, then One class."


def _both_ways(calibrator: str, p_values: Floats) -> str:
    """Name the miscalibrated classes by their mean gaps, which cancel in the top prediction."""
    every = of_classes(calibrator)
    off = [k for k in range(len(every)) if p_values[k] < LEVEL]
    sides = (
        (name, [_classes()[k] for k in off if sign * (every[k].score - every[k].frequency) > 0])
        for name, sign in (("Too high on average", 1), ("Too low", -1))
    )
    return " ".join(f"{name}: {listing(classes)}." for name, classes in sides if classes)


def _numbers(calibrator: str) -> tuple[tuple[str, ...], ...]:
    every: list[tuple[str, Event]] = [
        (name_of(word), event_of(word)) for word in EVENTS if word != "class"
    ]
    every += [(f"Class {name}", OneClass(k)) for k, name in enumerate(_classes())]
    rows: list[tuple[str, ...]] = [
        ("Event", "Mean score", "Observed frequency", "KS error", "By luck, up to")
    ]
    for name, event in every:
        one = measured(event, calibrator)
        values = one.score, one.frequency, one.curves.ks_error, one.curves.ks_null_95
        rows.append((name, *map(_percent, values)))
    return tuple(rows)


def _bar_name(score: float, *, true: bool) -> str:
    """Write a score at its bar; nothing at a bar that is too small to see."""
    return f"{of_100(score)}{', true class' if true else ''}" if score >= SEEN or true else ""


def _row(row: int, word: str, calibrator: str, palette: Palette) -> LessonPicture:
    """Draw the scores of one row, the largest first."""
    scores, true = probabilities(calibrator)[row], int(data.sample().test.labels[row])
    ranked = np.argsort(-scores, kind="stable")
    event = event_of(word)
    ours = {"top": ranked[:1], "second": ranked[1:2], "set": ranked[:2]}
    mine = set(ours.get(word, np.array([worst_class()])).tolist())
    one = event.outcomes(scores[np.newaxis], [true])
    heights = list(range(len(ranked) - 1, -1, -1))
    names = [
        pictures.label(
            _bar_name(float(scores[k]), true=k == true),
            float(scores[k]) + 0.01, height,
            palette.frequency if k == true else palette.text, yanchor="middle",
        )
        for k, height in zip(ranked, heights, strict=True)
    ]  # fmt: skip
    colours = [palette.score if k in mine else palette.band for k in ranked]
    figure = pictures.picture(
        f"One row: {name_of(word)}",
        [pictures.bars(scores[ranked], heights, colours, 0.7, orientation="h")],
        x=pictures.percent_axis("Score", 1.0),
        y=pictures.number_axis(
            "", -0.6, len(ranked) - 0.4,
            tickvals=heights, ticktext=[_classes()[k] for k in ranked],
        ),
        names=names,
        margin=pictures.margin(104),
    )  # fmt: skip
    meant = MEANT[word].format(_classes()[worst_class()])
    happened = "It does" if one.hits[0] else "It does not"
    return LessonPicture(
        "row",
        figure,
        f"Blue, the event: {meant}; its score is {_percent(float(one.scores[0]))}. {happened}: it"
        f" shows the class {_classes()[true]}.",
    )


def _diagram(evaluation: EventCurves, word: str, palette: Palette) -> LessonPicture:
    bins = evaluation.bins
    filled = bins.counts >= LEAST
    low, high = bins.edges[:-1][filled], bins.edges[1:][filled]
    score, frequency = bins.mean_score[filled], bins.frequency[filled]
    figure = pictures.by_score(
        f"All rows: {name_of(word)}",
        [
            pictures.bars((low + high) / 2, frequency, palette.frequency, high - low, opacity=0.6),
            pictures.diagonal(palette),
            pictures.dots(score, score, palette.score, size=11, cliponaxis=False),
        ],
    )
    return LessonPicture(
        "diagram",
        figure,
        f"Bars: observed frequency in bins of {LEAST} rows or more. Dots: mean score, above the"
        f" bar in {int(np.count_nonzero(score > frequency))} of {score.size} bins.",
    )


def _query(state: State) -> dict[str, str]:
    """Return the settings of the pages that stand for a state."""
    event = {
        "top": {"event": "top", "rank": "1"},
        "second": {"event": "top", "rank": "2"},
        "set": {"event": "within", "within": "2"},
        "class": {"event": "class", "class": _classes()[worst_class()]},
    }[state.chosen["event"]]
    return {"sample": data.NETWORK, "method": state.chosen["calibrator"], "bins": "10", **event}


LESSON = Lesson(
    key=KEY,
    title="Top prediction, top-2 set, one class",
    question=f"The **top prediction** of {data.NETWORK_NAME} is overconfident. And **prediction"
    " 2**, the second most probable class?",
    guess=ChoiceGuess(
        {"over": "Overconfident too", "under": "Underconfident", "well": "Well calibrated"}
    ),
    controls=(
        Steps("event", "Event", EVENTS, "second", as_buttons=True),
        Steps("calibrator", "Scores", CALIBRATORS, "none", as_buttons=True),
    ),
    show=show,
    takeaway="Always say which event you mean. A network can be calibrated for its top prediction"
    " and miscalibrated for one class.",
    check=Check(
        "After calibration, no miscalibration of the top prediction is detected, but one class is"
        " miscalibrated. How can that be?",
        {
            "wrong": "One of the two findings must be wrong",
            "cancel": "Errors of different classes cancel",
            "rare": "The class is too rare to be calibrated",
        },
        "cancel",
        "The top prediction is now of one class, now of another: scores too high for one and too"
        " low for another cancel in it. Choose the event One class above: the note below the"
        " picture names the classes"
        " with scores too high and those with scores too low.",
    ),
    link=lambda state: Link("reliability", _query(state)),
    computed="Each event turns every row into one score and one outcome, yes or no. `TopR`,"
    " `WithinTopR` and `OneClass` of `calibcore.events` (Gupta 2021, eqs. 3-5), on"
    " all rows of the test set. KS error by luck: its 95% limit under perfect calibration."
    " Calibrated: `EnsembleTemperatureScaling` (Zhang 2020, eq. 5), fitted on the calibration set;"
    " no class changes its place in a row. One row: drawn from those with several scores to see.",
    draw="Draw another row",
    terms={
        "Overconfident": "the mean score is above the observed frequency: scores too high."
        " Underconfident: below it.",
        "Top-2 set": "the two most probable classes; the event: one of them is the true one.",
        "KS error": "largest gap between cumulative scores and cumulative outcomes.",
    },
    later={
        "Ensemble temperature scaling": "a weighted mean of three scores of each class: at a fitted"
        " temperature, as trained, and equal for all classes.",
    },
)
