"""Over- and underconfident: a temperature moves every score, and no prediction."""

import itertools
from typing import Any

import numpy as np

from calibcore.calibrators import FittedTemperature
from calibcore.validation import Floats
from dashboard.figures import Palette
from dashboard.figures.layout import TEXT_SIZE
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
from dashboard.learn.tempered import (
    HEAD,
    TemperedPrediction,
    at_temperature,
    diagram,
    fitted_temperature,
    row,
    sentence,
    verdict,
)
from dashboard.texts import learn as words
from dashboard.texts.numbers import percent

KEY = "confident"

TEMPERATURES = tuple(f"{10 ** (3 * k / 40):.3g}" for k in range(-8, 9))
"""From 0.251 to 3.98 by even factors: every third that the page Calibration maps offers, and the
words in the address.
"""


ROW = 239
"""A row of the test set whose top prediction has a score of about 80%, and is wrong."""

QUESTION_TEMPERATURE = 2
"""The temperature of the question."""

GUESSES = {"falls": "It falls", "same": "It stays the same", "rises": "It rises"}


def show(state: State) -> LessonView:
    """Show one row, and all rows, at a temperature."""
    temperature = state.number("temperature") if state.revealed else 1.0
    network = at_temperature(temperature)
    pictures_of = (
        _one_row(temperature, state),
        diagram(network, state.palette, f"All {network.n_rows:,} rows"),
    )
    if not state.revealed:
        return LessonView(pictures_of, "")
    best = at_temperature(fitted_temperature())
    every = [at_temperature(float(word)) for word in TEMPERATURES]
    ordered = sorted([*every, best], key=lambda one: one.temperature)
    lines = [f"T = {network.shown}: {sentence(network)} {_errors(network)}"]
    if temperature != 1:
        lines += [f"As trained (T = 1): {_in_short(at_temperature(1.0))}"]
    lines += [f"Fitted on other rows (T = {best.shown}): {_in_short(best)}"]
    return LessonView(
        pictures_of,
        "  \n".join(lines),
        answer=_answer(every),
        right=_what_happens(every),
        note=_entropy(ordered),
        numbers=(HEAD, *map(row, ordered)),
    )


def _entropy(ordered: list[TemperedPrediction]) -> str:
    """Say which of NLL and entropy has a least value between the ends."""
    rises = all(a.entropy < b.entropy for a, b in itertools.pairwise(ordered))
    least = min(ordered, key=lambda one: one.nll)
    how = "only rises with T" if rises else "has no least value at the fitted T"
    return (
        f"Entropy (how spread out the scores of a row are) {how}: {ordered[0].entropy:.3f} at T ="
        f" {ordered[0].shown}, {ordered[-1].entropy:.3f} at T ="
        f" {ordered[-1].shown}. The NLL, which"
        f" looks at the true classes, has a least value: {least.nll:.3f} at T = {least.shown}."
    )


def _in_short(network: TemperedPrediction) -> str:
    return f"{verdict(network)}. {_errors(network)}"


def _errors(network: TemperedPrediction) -> str:
    return f"KS error {network.ks_shown}, NLL (all classes) {network.nll:.3f}."


def _answer(every: list[TemperedPrediction]) -> str:
    """Return what happens to the accuracy at the temperature of the question, and at all others."""
    accuracies = {one.temperature: one.accuracy for one in every}
    text = percent(accuracies[float(QUESTION_TEMPERATURE)], every[0].n_rows)
    everywhere = ", at every T" if len({*accuracies.values()}) == 1 else ""
    return f"{GUESSES[_what_happens(every)]}, {text}{everywhere}"


def _what_happens(every: list[TemperedPrediction]) -> str:
    accuracies = {one.temperature: one.accuracy for one in every}
    was, now = accuracies[1.0], accuracies[float(QUESTION_TEMPERATURE)]
    return "same" if now == was else "falls" if now < was else "rises"


def _one_row(temperature: float, state: State) -> LessonPicture:
    rows = data.sample().test
    assert rows.class_names is not None  # noqa: S101 - for the type; the samples have names
    logits, true = rows.logits[ROW], int(rows.labels[ROW])
    order = np.argsort(-logits, kind="stable")
    scores: Floats = FittedTemperature(temperature).predict_proba(logits[np.newaxis])[0][order]
    names = [str(rows.class_names[k]) for k in order]
    here = order.tolist().index(true)
    shown = [_share(value) for value in scores.tolist()]
    of_true = shown[here]
    shown[here] += "  \u25c6 true class"
    places = np.arange(len(names))[::-1]
    axis = pictures.number_axis("", -0.6, len(names) - 0.4, showgrid=False)
    figure = pictures.picture(
        "Scores of one row",
        [_probabilities(scores, places, shown, here, state.palette)],
        x=pictures.percent_axis("Score of each class", 1.12),
        y={**axis, "tickvals": places.tolist(), "ticktext": names},
        margin=pictures.margin(92),
    )
    on_order = " A temperature never changes the order of the classes." if state.revealed else ""
    return LessonPicture(
        "row",
        figure,
        f"Predicted: {names[0]}, with a score of {shown[0]}. The true class, {names[here]}, has"
        f" {of_true}.{on_order}",
    )


def _share(value: float) -> str:
    """Write a score; no score is exactly 0% or 100%."""
    return "<1%" if value < 0.005 else ">99%" if value > 0.995 else f"{100 * value:.0f}%"


def _probabilities(
    scores: Floats, places: Any, shown: list[str], here: int, palette: Palette
) -> pictures.Trace:
    colours = [palette.text] * len(shown)
    colours[here] = palette.frequency
    return pictures.bars(
        scores, places, palette.score, 0.7, orientation="h", text=shown, textposition="outside",
        textfont={"size": TEXT_SIZE, "color": colours}, constraintext="none", cliponaxis=False,
    )  # fmt: skip


LESSON = Lesson(
    key=KEY,
    title="Over- and underconfident",
    question=f"Take {data.NETWORK_NAME}. Divide all its outputs by a **temperature**"
    f" of {QUESTION_TEMPERATURE}: its top scores fall. What happens to its **accuracy**?",
    guess=ChoiceGuess(GUESSES),
    controls=(
        Steps(
            "temperature",
            "Temperature T",
            {word: word for word in TEMPERATURES},
            str(QUESTION_TEMPERATURE),
        ),
    ),
    show=show,
    takeaway="Overconfident: mean score above the accuracy; underconfident: below it. A temperature"
    " moves the scores and leaves every prediction as it is.",
    check=Check(
        "A network is underconfident. Which temperature corrects it?",
        {
            "below": "One below 1",
            "above": "One above 1",
            "unknown": "That depends on its accuracy",
        },
        "below",
        "Dividing by less than 1 moves scores away from each other: the largest rises. Accuracy"
        " alone does not tell; mean score minus accuracy does. A temperature changes only the mean"
        " score.",
    ),
    link=lambda state: Link(
        "maps",
        {
            "sample": data.NETWORK,
            "method": "temperature",
            "by_hand": "temperature",
            "hand_t": state.chosen["temperature"],
        },
        "NLL, entropy and ECE by temperature: further down, under Manual settings",
    ),
    computed="The outputs of each row are divided by T, and become scores that add up to 100%."
    " Scores at T: softmax of outputs / T, Guo 2017, section 4.2; T is fitted on the 5,000"
    " calibration rows by `calibcore.calibrators.TemperatureScaling`. All figures are of the test"
    " set of the first example. No clear gap: the KS test finds none (p at least 0.05). KS error:"
    " largest gap between cumulative scores and outcomes. NLL, all classes: mean of \u2212ln of the"
    " score of the true class. Lower is better for both.",
    terms={
        "Score": "the probability that the network gives to a class; of a prediction, the largest"
        " of its class probabilities.",
        "NLL": words.NLL,
        "Accuracy": "the share of predictions that are correct.",
        "Temperature": "a number that divides all outputs (logits) before they become scores.",
        "Logits": words.LOGITS,
    },
    later={
        "Entropy": "how spread out the scores of a row are: 0 where one class has 100%, highest"
        " where all classes have the same score.",
    },
    minutes=4,
)
