"""Fit here, evaluate there: why the rows of the fit say nothing about a calibrator."""

from dataclasses import replace
from functools import cache

import numpy as np

from calibcore.binning import bin_tally
from calibcore.calibrators import IsotonicCalibration, TemperatureScaling
from calibcore.data import EventScores, LogitSet
from calibcore.events import TopR
from calibcore.metrics.binned import ece_of
from calibcore.metrics.proper import event_brier, event_brier_of
from calibcore.results import result_class
from calibcore.tally import Tally, tally
from calibcore.validation import Floats
from dashboard.figures import Palette
from dashboard.learn import data, pictures
from dashboard.learn.laboratory import PRESETS, drawn_of
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
from dashboard.texts import learn as words
from dashboard.texts.numbers import amount, of_100, percent

KEY = "held_out"

SIZES = (50, 100, 200, 500, 1000, 5000)

FEW = SIZES[0]

EXACT = 1e-9
"""What is left to rounding."""

CALIBRATORS = ("Uncalibrated", "Temperature scaling", "Isotonic regression")

GUESSES = {
    "none": "The uncalibrated ones",
    "temperature": "Those after temperature scaling",
    "isotonic": "Those after isotonic regression",
}
"""In the order of `CALIBRATORS`."""

REPEATS = 100
"""Other draws, to say how usual one is."""

SETS = {"fit": "The rows of the fit", "other": "Other rows"}


@result_class
class Result:
    """Two calibrators fitted on some calibration rows, and the scores as they were."""

    fit: tuple[Tally, ...]
    other: tuple[Tally, ...]
    """Top predictions counted by score, one tally of each of `CALIBRATORS`: the rows of the fit,
    and the test set.
    """

    def briers(self, which: str) -> list[float]:
        """Return the Brier score of each calibrator on a set of rows."""
        return [float(event_brier_of(one)) for one in self.on(which)]

    def best(self, which: str) -> int:
        """Return the place of the calibrator with the least Brier score."""
        return int(np.argmin(self.briers(which)))

    def on(self, which: str) -> tuple[Tally, ...]:
        """Return what was counted on a set of rows."""
        return self.fit if which == "fit" else self.other


def find(state: State, size: int) -> Result:
    """Fit on rows of a draw, of which a larger number holds the smaller ones."""
    rows = data.sample()
    chosen = state.rng(KEY).permutation(rows.calibration.n_samples)[:size]
    fit, top = rows.calibration.rows(chosen), data.top_scores(which="calibration").rows(chosen)
    temperature = TemperatureScaling().fit(fit.logits, fit.labels)
    isotonic = IsotonicCalibration().fit(top.scores, top.hits)

    def counted(event: EventScores, of: LogitSet) -> tuple[Tally, ...]:
        scaled = TopR(1).outcomes(temperature.predict_proba(of.logits), of.labels)
        scores = event.scores, scaled.scores, isotonic.predict(event.scores)
        return tuple(tally(one, event.hits) for one in scores)

    return Result(counted(top, fit), counted(data.top_scores(), rows.test))


@cache
def spread(size: int) -> Floats:
    """Return the Brier scores on other rows of many draws, the same for everybody.

    ``size``: rows of the fit. Shape (REPEATS, 3).
    """
    rows, top = data.sample(), data.top_scores(which="calibration")
    other, rng = data.top_scores(), np.random.default_rng((size, *KEY.encode()))
    briers = np.empty((REPEATS, len(CALIBRATORS)))
    for k in range(REPEATS):
        chosen = rng.permutation(top.n_samples)[:size]
        fit, one = rows.calibration.rows(chosen), top.rows(chosen)
        isotonic = IsotonicCalibration().fit(one.scores, one.hits)
        scaled = TemperatureScaling().fit(fit.logits, fit.labels).predict_proba(rows.test.logits)
        scores = other.scores, scaled.max(axis=1), isotonic.predict(other.scores)
        briers[k] = [event_brier(each, other.hits) for each in scores]
    return briers


def show(state: State) -> LessonView:
    """Show the steps of isotonic regression, and the Brier scores, on the chosen rows."""
    few = find(state, FEW)
    if not state.revealed:
        return LessonView(_both(few, "fit", state.palette), _sentence(few, "fit", before=True))
    size, which = int(state.chosen["rows"]), state.chosen["evaluate"]
    result = few if size == FEW else find(state, size)
    rows: list[tuple[str, ...]] = [
        ("Scores", "Brier, rows of the fit", "Brier, other rows", "ECE, fit", "ECE, other")
    ]
    rows += [
        (
            name,
            *(_number(result.briers(one)[k]) for one in SETS),
            *(_ece(result, one, k) for one in SETS),
        )
        for k, name in enumerate(CALIBRATORS)
    ]
    return LessonView(
        _both(result, which, state.palette, size if which == "other" else None),
        _sentence(result, which),
        answer=f"{CALIBRATORS[few.best('other')]}, with {FEW} rows",
        right=list(GUESSES)[few.best("other")],
        note=_note(result, size),
        numbers=tuple(rows),
    )


def _number(value: float) -> str:
    return amount(value, "number", FEW)


def _ece(result: Result, which: str, place: int) -> str:
    return percent(float(ece_of(bin_tally(result.on(which)[place]))), FEW)


def _where(result: Result, which: str) -> str:
    n_rows = f"{result.on(which)[0].n_samples:,}"
    return f"the {n_rows} rows of the fit" if which == "fit" else f"{n_rows} other rows"


def _sentence(result: Result, which: str, *, before: bool = False) -> str:
    """Say which is best on the chosen rows, and what isotonic regression shows on both."""
    place = result.best(which)
    briers = [_number(one) for one in result.briers(which)]
    others = " and ".join(
        f"{briers[k]} ({name.lower()})" for k, name in enumerate(CALIBRATORS) if k != place
    )
    best = (
        f"On {_where(result, which)}, **{CALIBRATORS[place]}** is best: Brier score"
        f" **{briers[place]}**, against {others}."
    )
    if before:
        return best
    return (
        f"{best} The ECE of isotonic regression is {_ece(result, 'fit', -1)} on the rows of its"
        f" fit, {_ece(result, 'other', -1)} on others."
    )


def _note(result: Result, size: int) -> str:
    """Say where there is nothing to draw, and where few rows do not show what most draws do."""
    if size == SIZES[-1]:
        return (
            f"These are all {size:,} calibration rows, so a draw changes nothing here."
            f" {_where_steps_win(size)}"
        )
    none, temperature, isotonic = result.briers("other")
    usual = _often(size, isotonic)
    if size > FEW or temperature < none < isotonic:
        return usual
    if temperature < isotonic <= none:
        return f"With this draw, isotonic regression is no worse than uncalibrated. {usual}"
    return f"With this draw it does not show. Draw again. {usual}"


@cache
def _where_steps_win(size: int) -> str:
    """Compare the same calibrators on rows of a model that no temperature corrects."""
    fit, other = (drawn_of(replace(PRESETS["wavy"], rows=size), which) for which in (0, 1))
    temperature = TemperatureScaling().fit(fit.rows.logits, fit.rows.labels)
    isotonic = IsotonicCalibration().fit(fit.event.scores, fit.event.hits)
    scaled, steps = (
        event_brier(scores, other.event.hits)
        for scores in (
            temperature.predict_proba(other.rows.logits)[:, 1],
            isotonic.predict(other.event.scores),
        )
    )
    return (
        "Temperature scaling wins even so, as one number is all that this network needs. Where no"
        f" temperature fits, steps win: of {size:,} other rows of the model \u201cS-shaped\u201d"
        " in the"
        f" Laboratory, after a fit on as many, the Brier score is {_number(steps)} (isotonic"
        f" regression) against {_number(scaled)} (temperature scaling)."
    )


def _often(size: int, isotonic: float) -> str:
    """Say what many draws show, and where this one is among them."""
    every = spread(size)
    best = of_100(float((every.argmin(axis=1) == 1).mean()))
    worse = of_100(float((every[:, 2] > every[:, 0]).mean()))
    low, high = (_number(float(end)) for end in np.quantile(every[:, 2], (0.05, 0.95)))
    above = of_100(float((every[:, 2] < isotonic).mean()))
    return (
        f"Of {REPEATS} other draws of {size:,} rows, temperature scaling is best in {best},"
        " isotonic"
        f" regression worse than uncalibrated in {worse}; 90% of its Brier scores are between {low}"
        f" and {high}. This draw's is higher than {above} of them."
    )


def _both(
    result: Result, which: str, palette: Palette, size: int | None = None
) -> tuple[LessonPicture, LessonPicture]:
    return _steps(result, which, palette), _bars(result, which, palette, size)


def _steps(result: Result, which: str, palette: Palette) -> LessonPicture:
    steps = result.on(which)[-1]
    score, frequency = steps.scores, steps.hits / steps.counts
    stems = [y for ends in zip(score, frequency, strict=True) for y in (*map(float, ends), None)]
    sizes = 9 + 22 * np.sqrt(steps.counts / steps.n_samples)
    figure = pictures.picture(
        f"Isotonic regression: {_where(result, which)}",
        [
            pictures.diagonal(palette),
            pictures.line(np.repeat(score, 3), stems, palette.frequency, dash="dash"),
            pictures.dots(score, frequency, palette.frequency, size=sizes, cliponaxis=False),
        ],
        x=pictures.percent_axis("Calibrated score"),
        y=pictures.percent_axis("Observed frequency", 1.04),
        names=[pictures.label("calibrated: dots lie here", 0.52, 0.4, palette.neutral)],
    )
    return LessonPicture(
        "steps",
        figure,
        f"A dot is one of {score.size} steps, larger with more rows. {_farthest(score, frequency)}",
    )


def _farthest(score: Floats, frequency: Floats) -> str:
    gaps = np.abs(score - frequency)
    if gaps.max() < EXACT:
        return "All lie on the line."
    ends = (percent(float(one[gaps.argmax()]), FEW) for one in (score, frequency))
    return "Farthest from the line: score {}, observed frequency {}.".format(*ends)


def _bars(result: Result, which: str, palette: Palette, size: int | None) -> LessonPicture:
    """Draw the Brier scores; of some rows of the fit, also those of many other draws."""
    briers, best = result.briers(which), result.best(which)
    every = result.briers("fit") + result.briers("other")
    colours = [palette.score if k == best else palette.band for k in range(len(briers))]
    names = [
        pictures.label(
            f"<b>{_number(one)}</b>" if k == best else _number(one),
            k,
            one,
            palette.text,
            xanchor="center",
        )
        for k, one in enumerate(briers)
    ]
    traces, also, top = [pictures.bars([0, 1, 2], briers, colours, 0.6)], "", max(every)
    if size is not None and size < SIZES[-1]:
        drawn = spread(size)
        aside = 0.34 + 0.12 * (np.arange(REPEATS) * 0.618 % 1)
        traces += [
            pictures.dots(k + aside, drawn[:, k], palette.neutral, size=4) for k in range(1, 3)
        ]
        top = max(top, float(drawn.max()))
        also = f" Small dots: {REPEATS} other draws."
    figure = pictures.picture(
        f"Brier score: {_where(result, which)}",
        traces,
        x=pictures.number_axis(
            "",
            -0.5,
            2.5,
            tickvals=[0, 1, 2],
            ticktext=[name.replace(" ", "<br>") for name in CALIBRATORS],
        ),
        y=pictures.number_axis("Brier score (lower is better)", 0, 1.2 * top),
        names=names,
    )
    text = (
        f"Brier score on {_where(result, which)}; {CALIBRATORS[best].lower()} has the lowest.{also}"
    )
    return LessonPicture("bars", figure, text)


LESSON = Lesson(
    key=KEY,
    title="Fit here, evaluate there",
    question=f"Two calibrators are fitted on **{FEW} predictions**: temperature scaling (one"
    " number) and isotonic regression (steps). Which scores are best, by the Brier score, on"
    " **other rows**?",
    guess=ChoiceGuess(GUESSES),
    controls=(
        Steps("rows", "Calibration rows", {str(n): f"{n:,}" for n in SIZES}, str(FEW)),
        Steps("evaluate", "Evaluate on", SETS, "other", as_buttons=True),
    ),
    show=show,
    takeaway="Fit on some rows, evaluate on others. The fewer rows there are to fit on, the simpler"
    " the calibrator should be.",
    check=Check(
        "On its calibration rows, a calibrator has an ECE of 0%. What does that show?",
        {
            "little": "Little: it was fitted on these rows",
            "good": "It calibrates well",
            "wrong": "It calibrates badly",
        },
        "little",
        "The steps of isotonic regression are the observed frequencies of these very rows, so this"
        " ECE is always 0%, however it does on others.",
    ),
    link=lambda _: Link(
        "data-needed",
        {
            "sample": data.NETWORK,
            "method": "isotonic",
            "learners": "temperature,isotonic",
            "data_needed_error": "event_brier",
        },
        "More calibrators in the dashboard",
    ),
    computed="Both calibrators are fitted to the same rows, and evaluated on those and on others."
    " `TemperatureScaling` (Guo 2017) on all classes, `IsotonicCalibration` (Zadrozny 2002)"
    " on the score of the top prediction; `event_brier` and `ece` with 15 bins. Rows of the fit:"
    f" drawn from the calibration set of {data.NETWORK_NAME}. Other rows: its test set.",
    draw="Draw other calibration rows",
    terms={
        "Calibrator": "a map, fitted on some rows, that adjusts scores to observed frequencies.",
        "Temperature scaling": "all outputs (logits) are divided by one number.",
        "Logits": words.LOGITS,
        "Isotonic regression": "scores are replaced by observed frequencies, in increasing steps.",
        "Brier score": "mean squared distance between score and outcome.",
    },
)
