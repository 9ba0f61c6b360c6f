"""Calibration in the large and slope: a total that is right, and risks that are too extreme."""

import math

import numpy as np

from calibcore.calibrators import QuadraticScaling
from calibcore.data import EventScores
from calibcore.metrics import calibration_intercept, calibration_slope, observed_expected_ratio
from calibcore.results import result_class
from calibcore.synthetic import Truth
from calibcore.validation import Floats
from dashboard.figures import Palette
from dashboard.learn import data, pictures
from dashboard.learn.laboratory import LaboratoryModel, drawn_of
from dashboard.learn.lesson import (
    Check,
    ChoiceGuess,
    Lesson,
    LessonPicture,
    LessonView,
    State,
    Steps,
)
from dashboard.texts.numbers import percent, with_sign

KEY = "large"

N_ROWS, N_FIFTHS = 2_000, 5

SLOPES = ("0.4", "0.6", "0.8", "1", "1.25", "1.6")

SHIFTS = ("-1", "-0.5", "0", "0.5", "1")

QUESTION_SLOPE = "0.6"

AT = (0.1, 0.9)
"""Scores at which the true risk is said."""

DRAWN = (0.01, 0.99)
"""Shares of the patients between which the curve is drawn: beyond, it rests on very few."""


@result_class
class Result:
    """Patients of one model: how far its risks are from what is observed."""

    event: EventScores
    """Risks and outcomes."""
    curve: tuple[Floats, Floats]
    """Flexible calibration curve: scores, and the observed frequency at each, smoothed."""
    truth: Truth
    """Of the model."""
    ratio: float
    intercept: float
    slope: float
    """O/E, calibration intercept and calibration slope."""
    expected: Floats
    observed: Floats
    """Events by fifth of the risk; shape (N_FIFTHS,)."""

    @property
    def n_events(self) -> int:
        """Patients with the event."""
        return int(self.event.hits.sum())

    def true_at(self, score: float) -> float:
        """Return the true risk at a score."""
        return float(self.truth.curve(np.array([score]))[0])


def model_of(state: State) -> LaboratoryModel:
    """Return the model of the laboratory that a state stands for."""
    slope, shift = state.number("slope"), state.number("shift")
    chosen = LaboratoryModel(rows=N_ROWS, rate=0, slope=round(100 * slope), shift=round(10 * shift))
    return data.in_laboratory(chosen, state, KEY)


def find(state: State) -> Result:
    """Draw patients, and compute what is usual to report of a model's risks."""
    chosen = model_of(state)
    event = drawn_of(chosen, 1).event
    scores, hits = event.scores, event.hits
    fifths = np.array_split(np.argsort(scores, kind="stable"), N_FIFTHS)
    low, high = (float(end) for end in np.quantile(scores, DRAWN))
    grid = np.linspace(low, high, 99)
    return Result(
        event,
        (grid, QuadraticScaling().fit(scores, hits).predict(grid)),
        chosen.model.truth(),
        observed_expected_ratio(scores, hits),
        calibration_intercept(scores, hits),
        calibration_slope(scores, hits),
        np.array([scores[rows].sum() for rows in fifths]),
        np.array([hits[rows].sum() for rows in fifths], dtype=np.float64),
    )


def show(state: State) -> LessonView:
    """Show the flexible calibration curve, and expected beside observed events."""
    result = find(state)
    if not state.revealed:
        return LessonView(
            (_totals(result, state.palette, by_risk=False),),
            f"O/E = {result.ratio:.2f}: {result.n_events:,} of {N_ROWS:,} patients had the event.",
        )
    truth = LaboratoryModel(rate=50, slope=round(100 * float(QUESTION_SLOPE))).model.truth()
    right, answer = _answer(truth)
    return LessonView(
        (_curve(result, state.palette), _totals(result, state.palette, by_risk=True)),
        _sentence(result, state),
        answer=answer,
        right=right,
        note=_note(result),
        numbers=_numbers(result),
    )


def _answer(truth: Truth) -> tuple[str, str]:
    """Return the guess that is right, and why, of the model of the question."""
    low, high = (float(one) for one in truth.curve(np.array(AT)))
    word = "high" if high < AT[1] and low > AT[0] else "low" if high > AT[1] else "all"
    return word, (
        f"the {word} ones: at a score of {percent(AT[1], 1)} the true risk is {percent(high, 1)},"
        f" at {percent(AT[0], 1)} it is {percent(low, 1)}"
    )


def _sentence(result: Result, state: State) -> str:
    expected = float(result.expected.sum())
    level = "as many events as happened, but for luck" if round(result.ratio, 1) == 1 else (
        "too many events" if result.ratio < 1 else "too few events"
    )  # fmt: skip
    return (
        f"**O/E = {result.ratio:.2f}**: {result.n_events:,} observed, {expected:,.0f} expected; the"
        f" risks add up to {level}. **Calibration intercept {with_sign(result.intercept)}**,"
        f" **slope {result.slope:.2f}** (in truth {state.number('slope'):g}):"
        f" {_spread(result.slope)}."
    )


def _spread(slope: float) -> str:
    if round(slope, 1) == 1:
        return "as far apart as they should be"
    return "too extreme" if slope < 1 else "not extreme enough"


def _note(result: Result) -> str:
    ends = ", ".join(
        f"at {percent(score, 1)} the true risk is {percent(result.true_at(score), 1)}"
        for score in AT
    )
    return (
        f"Of these scores, {ends}. Both sliders move the truth, and so who has the event; the"
        " scores stay. True log-odds = shift + slope \u00d7 log-odds of the score. The intercept"
        " takes the slope as 1, so it is the shift, but for luck, only where the true slope is 1."
    )


def _numbers(result: Result) -> tuple[tuple[str, ...], ...]:
    rows: list[tuple[str, ...]] = [("Patients", "Expected", "Observed", "O/E")]
    names = [f"Fifth {k + 1} by risk" for k in range(N_FIFTHS)]
    for name, expected, observed in zip(names, result.expected, result.observed, strict=True):
        rows.append((name, f"{expected:.1f}", f"{observed:.0f}", f"{observed / expected:.2f}"))
    total = float(result.expected.sum())
    rows.append(("All", f"{total:.1f}", f"{result.n_events}", f"{result.ratio:.2f}"))
    return tuple(rows)


def _curve(result: Result, palette: Palette) -> LessonPicture:
    scores, frequency = result.curve
    grid = np.linspace(0.01, 0.99, 99)
    truth = pictures.line(grid, result.truth.curve(grid), palette.text, width=6, opacity=0.5)
    figure = pictures.by_score(
        "Flexible calibration curve",
        [
            pictures.diagonal(palette),
            truth,
            pictures.line(scores, frequency, palette.frequency),
        ],
        x="Score (risk)",
        names=[
            pictures.label("\u2501 observed, smoothed", 0.02, 0.9, palette.frequency),
            pictures.label("<b>\u2501 truth (wide)</b>", 0.02, 0.8, palette.text),
            pictures.label(
                "\u2508 perfectly calibrated", 0.98, 0.02, palette.neutral, xanchor="right"
            ),
        ],
    )
    return LessonPicture(
        "curve",
        figure,
        "Wide: the truth. Where it is below the dotted line, scores are too high; above it, too"
        " low. Thin: observed frequency, smoothed, where there are patients.",
    )


def _totals(result: Result, palette: Palette, *, by_risk: bool) -> LessonPicture:
    """Draw expected and observed events: of all patients, and of each fifth."""
    expected, observed = [float(result.expected.sum())], [float(result.n_events)]
    names = ["All"]
    if by_risk:
        expected, observed = result.expected.tolist(), result.observed.tolist()
        names = ["lowest<br>fifth", "2", "3", "4", "highest<br>fifth"]
    top = 1.45 * max(*expected, *observed)  # so that the names are above all numbers
    places = np.arange(len(names))
    bars = [
        pictures.bars(places - 0.2, expected, palette.score, 0.36),
        pictures.bars(places + 0.2, observed, palette.frequency, 0.36),
    ]
    labels = [
        pictures.label(f"{value:.0f}", place + side, value, colour, xanchor=anchor)
        for side, anchor, values, colour in (
            (-0.04, "right", expected, palette.score),
            (0.04, "left", observed, palette.frequency),
        )
        for place, value in zip(places.tolist(), values, strict=True)
    ]  # fmt: skip
    low = -0.55
    figure = pictures.picture(
        "Expected and observed events, by risk" if by_risk else "Expected and observed events",
        bars,
        x=pictures.number_axis(
            "", low, len(names) - 0.45, tickvals=places.tolist(), ticktext=names
        ),
        y=pictures.number_axis("Patients", 0, top),
        names=[
            *labels,
            pictures.label("\u25a0 expected", low + 0.03, 0.9 * top, palette.score),
            pictures.label("\u25a0 observed", low + 0.03, 0.8 * top, palette.frequency),
        ],
    )
    who = f"each fifth of the {N_ROWS:,} patients" if by_risk else f"{N_ROWS:,} patients"
    return LessonPicture(
        "totals", figure, f"Of {who}: the scores added up, and how many had the event."
    )


LESSON = Lesson(
    key=KEY,
    title="Right in total, and still wrong",
    question="A model expects as many events as happen (**O/E = 1**, but for luck). Its"
    f" **calibration slope is {QUESTION_SLOPE}**. Which of its risks are too high?",
    guess=ChoiceGuess(
        {"none": "None: the total is right", "low": "The low ones", "high": "The high ones"}
    ),
    controls=(
        Steps("slope", "True slope", {s: s for s in SLOPES}, QUESTION_SLOPE),
        Steps(
            "shift", "Shift of the true log-odds",
            {s: with_sign(float(s)) if float(s) else "0" for s in SHIFTS}, "0",
        ),
    ),
    show=show,
    takeaway="O/E and intercept say whether risks are too high in total, the slope whether they are"
    " too extreme. Report all three, with the curve.",
    check=Check(
        "In another hospital a model has O/E = 0.8. What does that say?",
        {
            "many": "It expects more events than happen",
            "few": "It expects fewer events than happen",
            "miss": "It misses 20% of the events",
        },
        "many",
        "Observed divided by expected: 80 events happen for each 100 that it expects. Which"
        " patients have them, O/E does not say.",
    ),
    link=lambda state: data.laboratory_link(
        "reliability", model_of(state), "These patients in the dashboard"
    ),
    computed="Patients are drawn by `calibcore.synthetic` from a model of the laboratory, whose"
    " scores lie around 50%: true log-odds = shift + slope \u00d7 log-odds of the score."
    " O/E, intercept and slope: `calibcore.metrics` (Cox 1958; Van Calster 2019). Curve: logistic"
    " regression on the log-odds and their square (`QuadraticScaling`), for the middle"
    f" {100 * (DRAWN[1] - DRAWN[0]):.0f}% of scores.",
    draw=f"Draw {N_ROWS:,} other patients",
    terms={
        "O/E": "observed events divided by expected ones, the sum of the risks.",
        "Calibration intercept": "log-odds to add to every risk until the total fits; 0 is right,"
        " below 0 the risks are too high in total.",
        "Calibration slope": "true log-odds = slope \u00d7 the model's; 1 is right, below 1 the"
        " risks"
        " are too extreme, above 1 not extreme enough.",
        "Log-odds": "natural logarithm of risk / (1 \u2212 risk): 0 at a risk of 50%,"
        f" {with_sign(math.log(0.9 / 0.1), 1)} at 90%, {with_sign(math.log(0.1 / 0.9), 1)} at 10%.",
    },
)  # fmt: skip
