"""Calibrate while training: losses at several strengths, before and after a temperature."""

from dataclasses import dataclass

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
from dashboard.learn.tempered import (
    HEAD,
    Loss,
    TemperedPrediction,
    at_temperature,
    diagram,
    fitted_temperature,
    loss_picture,
    row,
    sentence,
)
from dashboard.texts import learn as words
from dashboard.texts.numbers import percent

KEY = "training"

N_CLASSES = 10

QUESTION_LOSS = "smoothing"

LEAST, MOST = 0.82, 0.98
"""Ends of the axis of mean scores and accuracies."""

HEIGHT = 350
"""Pixels of the picture of all networks."""

SPACE = 13
"""Pixels between the middle of a mark and its value."""

NEAR = 0.05
"""A temperature so near to 1 counts as 1."""

GUESSES = {
    "below": "Below 1: raises the scores",
    "one": "About 1: no correction needed",
    "above": "Above 1: lowers the scores",
}


@dataclass(frozen=True)
class TrainedNetwork:
    """A loss, and the network that was trained by it."""

    loss: Loss
    """By which it was trained."""
    sample: str
    """Of the network."""

    @property
    def name(self) -> str:
        """Name of the loss."""
        return self.loss.name

    @property
    def before(self) -> TemperedPrediction:
        """The network as it was trained."""
        return at_temperature(1.0, self.sample)

    @property
    def after(self) -> TemperedPrediction:
        """The network at the temperature that fits its calibration set."""
        return at_temperature(fitted_temperature(self.sample), self.sample)

    def at(self, stage: str) -> TemperedPrediction:
        """Return the network before or after."""
        return self.after if stage == "after" else self.before


LOSSES = {
    "entropy": TrainedNetwork(Loss("Cross-entropy"), data.NETWORK),
    "smoothing": TrainedNetwork(
        Loss("Label smoothing 0.05", smoothing=0.05), "fashion_cnn_label_smoothing"
    ),
    "smoothing_0_1": TrainedNetwork(
        Loss("Label smoothing 0.1", smoothing=0.1), "fashion_cnn_label_smoothing_0_1"
    ),
    "focal_1": TrainedNetwork(Loss("Focal loss (gamma 1)", gamma=1), "fashion_cnn_focal_1"),
    "focal_2": TrainedNetwork(Loss("Focal loss (gamma 2)", gamma=2), "fashion_cnn_focal_2"),
    "focal": TrainedNetwork(Loss("Focal loss (gamma 3)", gamma=3), "fashion_cnn_focal"),
}

COMPARED = "For comparison: the usual training, by cross-entropy"

ALPHA = LOSSES[QUESTION_LOSS].loss.smoothing


def show(state: State) -> LessonView:
    """Show one network, and all of them."""
    if not state.revealed:
        usual = LOSSES["entropy"]
        return LessonView((diagram(usual.before, state.palette, COMPARED),), "")
    stage, chosen = state.chosen["stage"], LOSSES[state.chosen["loss"]]
    network = chosen.at(stage)
    right = _right(LOSSES[QUESTION_LOSS].after.temperature)
    first = diagram(network, state.palette, _title(chosen, network))
    if stage == "loss":
        first = loss_picture(
            [one.loss for one in LOSSES.values()], chosen.loss, N_CLASSES, state.palette
        )
    rows = (row(one.at(s), one.name) for s in ("before", "after") for one in LOSSES.values())
    return LessonView(
        (
            first,
            _all_networks(stage, chosen, state.palette),
        ),
        f"**{chosen.name}**, T = {network.shown}: {sentence(network)}  \n{_best(chosen)}"
        f" {_at_the_fit(chosen)}".rstrip(),
        answer=f"{GUESSES[right]} (T = {LOSSES[QUESTION_LOSS].after.shown})",
        right=right,
        note=_compared(),
        numbers=(("Loss", *HEAD), *rows),
    )


def _title(one: TrainedNetwork, network: TemperedPrediction) -> str:
    return f"Trained by {one.name.lower()}, T = {network.shown}"


def _best(chosen: TrainedNetwork) -> str:
    """Return the temperature that a network needs, what it does, and the same of the usual one."""
    usual = LOSSES["entropy"]
    named = [chosen] if chosen is usual else [chosen, usual]
    fitted = (
        f"for {one.name.lower()}: {one.after.shown}"
        f" (KS error {one.before.ks_shown} \u2192 {one.after.ks_shown})"
        for one in named
    )
    return f"Fitted T (lowest NLL on calibration rows) {'; '.join(fitted)}."


def _at_the_fit(chosen: TrainedNetwork) -> str:
    """Say whether scores are too high or too low at the fitted temperature, where it is found."""
    after = chosen.after
    if not after.badge.one_way:
        return ""
    score, correct = (percent(v, after.n_rows) for v in (after.mean_score, after.accuracy))
    side = "high" if after.mean_score > after.accuracy else "low"
    return (
        f"At its fitted T, scores of {chosen.name.lower()} are slightly too {side}: {score} against"
        f" {correct} correct, as T is fitted by the NLL of all classes, not by the mean score."
    )


def _compared() -> str:
    """Return which network has the lowest KS error, before and after."""
    before = min(LOSSES.values(), key=lambda one: one.before.ks_error)
    after = min(LOSSES.values(), key=lambda one: one.after.ks_error)
    return (
        f"Lowest KS error: {before.name.lower()} as trained, {after.name.lower()} at the fitted T."
        " Each network was trained once; another run may order them otherwise."
    )


def _right(temperature: float) -> str:
    """Return the guess that is right."""
    if abs(temperature - 1) < NEAR:
        return "one"
    return "below" if temperature < 1 else "above"


def _all_networks(stage: str, chosen: TrainedNetwork, palette: Palette) -> LessonPicture:
    """Draw mean score and accuracy of each network on one axis."""
    traces, names = list[pictures.Trace](), list[pictures.Trace]()
    for place, one in enumerate(reversed(LOSSES.values())):
        network = one.at(stage)
        score, accuracy = network.mean_score, network.accuracy
        width = 8 if one is chosen else 3
        ends = [(score, palette.score), (accuracy, palette.frequency)]
        traces += [
            pictures.line([score, accuracy], [place] * 2, palette.neutral, width=width),
            pictures.dots([score], [place], palette.score, size=17),
            pictures.dots([accuracy], [place], palette.frequency, size=17, symbol="diamond"),
        ]
        for (value, colour), side in zip(sorted(ends), (-1, 1), strict=True):
            names.append(_value(percent(value, network.n_rows), value, place, colour, side))
        text = f"{one.name}, T = {network.shown}"
        bold = f"<b>{text}</b>" if one is chosen else text
        names.append(pictures.label(bold, LEAST, place + 0.22, palette.text))
    axis = pictures.percent_axis("Mean score, accuracy", MOST, LEAST)
    figure = pictures.picture(
        "Mean score \u25cf and accuracy \u25c6",
        traces,
        x={**axis, "dtick": 0.02},
        y=pictures.no_axis(-0.6, len(LOSSES) - 0.4),
        names=names,
        margin=pictures.margin(24),
        height=HEIGHT,
    )
    networks = [(one.name.lower(), one.at(stage)) for one in LOSSES.values()]
    lower = ", ".join(name for name, one in networks if one.mean_score < one.accuracy) or "none"
    return LessonPicture(
        "all",
        figure,
        f"Blue dot: mean score. Orange diamond: accuracy. Mean score below accuracy: {lower}.",
    )


def _value(text: str, x: float, y: float, colour: str, side: int) -> pictures.Trace:
    """Return a value beside its mark: left of it or right of it."""
    anchor = "right" if side < 0 else "left"
    return pictures.label(text, x, y, colour, xanchor=anchor, yanchor="middle", xshift=side * SPACE)


LESSON = Lesson(
    key=KEY,
    title="Calibrate while training",
    question="Another network that names garments was trained with **label smoothing**:"
    f" towards a score of {percent(1 - ALPHA + ALPHA / N_CLASSES, 1)} for the true class,"
    " not 100%. Which **temperature** fits its scores best?",
    guess=ChoiceGuess(GUESSES),
    controls=(
        Steps("loss", "Trained by", {k: one.name for k, one in LOSSES.items()}, QUESTION_LOSS),
        Steps(
            "stage",
            "Show",
            {"loss": "The loss", "before": "As trained (T = 1)", "after": "At the fitted T"},
            "before",
            as_buttons=True,
        ),
    ),
    show=show,
    takeaway="A loss that holds scores back in training can leave them too low: whatever the loss,"
    " evaluate calibration on held-out rows, and fit a temperature where it helps.",
    check=Check(
        "A network was trained by focal loss (gamma 3), and its scores are too low. Which"
        " temperature corrects them?",
        {
            "above": "One above 1",
            "below": "One below 1",
            "none": "None: only another training helps",
        },
        "below",
        "Below 1, a temperature raises the highest score of each row. How high scores are depends"
        " on the loss: here, focal loss left them too high with gamma 1, too low with gamma 3. So"
        " evaluate calibration on held-out rows, whatever the loss.",
    ),
    link=lambda state: Link(
        "models",
        {
            "sample": data.NETWORK,
            "method": "temperature" if state.chosen["stage"] == "after" else "none",
            "beside": ",".join(one.sample for one in LOSSES.values() if one.sample != data.NETWORK),
        },
        "All of them in the dashboard",
    ),
    computed="Six networks that share images, layers, first weights and schedule (20 epochs), and"
    " differ in the loss of an image, with p the scores and y the true class."
    " Cross-entropy: \u2212ln p(y). Label smoothing (Vasilev 2023, eq. 17):"
    " \u2212(1 \u2212 \u03b1) ln p(y) \u2212 (\u03b1/K) \u03a3 ln p(k) over all K classes,"
    f" K = {N_CLASSES}, \u03b1 = 0.05 or 0.1. Focal loss (eq. 18):"
    " \u2212(1 \u2212 p(y))^\u03b3 ln p(y), \u03b3 = 1, 2 or 3. Fitted T: lowest NLL on 5,000"
    " calibration rows, by `calibcore.calibrators.TemperatureScaling`. Figures: 10,000 test rows.",
    terms={
        "Loss": "the quantity that training minimises. Cross-entropy, the usual one, is \u2212ln of"
        " the score of the true class.",
        "Label smoothing": "training towards a little less than 100% for the true class, and a"
        " little more than 0% for the others.",
        "Temperature": "a number that divides all outputs before they become scores.",
    },
    later={
        "Focal loss": "counts rows with a high score of the true class less than cross-entropy;"
        " a larger gamma makes this stronger.",
        "NLL": words.NLL,
    },
)
