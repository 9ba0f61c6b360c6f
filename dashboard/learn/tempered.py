"""A network of the samples at a temperature: what it shows on the test set, and the diagram."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from calibcore.calibrators import FittedTemperature, TemperatureScaling
from calibcore.cumulative import curves_of
from calibcore.events import TopR
from calibcore.metrics import mean_entropy, nll
from calibcore.metrics.binned import ece_of
from calibcore.reliability.bins import BinnedReliability, binned_of
from calibcore.results import result_class
from calibcore.tally import tally
from calibcore.validation import Floats
from dashboard.figures import Palette
from dashboard.learn import data, pictures
from dashboard.learn.lesson import LessonPicture
from dashboard.texts.badges import NOT_DETECTED, Badge, badge_for
from dashboard.texts.numbers import detected_points, difference, percent

N_BINS = 10

LEAST = 20
"""Rows from which on a bin has a bar: the frequency of fewer is vague."""

NO_GAP = "No clear gap"


@result_class
class TemperedPrediction:
    """The top prediction on the test set, all logits divided by one number."""

    temperature: float
    """That number."""
    n_rows: int
    """Rows of the test set."""
    mean_score: float
    accuracy: float
    """Mean score of the top prediction, and share of the rows in which it is correct."""
    ks_error: float
    p_value: float
    """KS error, and the p-value of its test."""
    nll: float
    entropy: float
    """NLL of all classes, and mean entropy of the scores; in nats."""
    binned: BinnedReliability
    """In `N_BINS` bins of equal width."""

    @property
    def shown(self) -> str:
        """The temperature as it is written everywhere."""
        return f"{self.temperature:.3g}"

    @property
    def ks_shown(self) -> str:
        """The KS error as it is written everywhere."""
        return percent(self.ks_error, self.n_rows)

    @property
    def ece(self) -> float:
        """ECE of the bins."""
        return float(ece_of(self.binned.bins))

    @property
    def badge(self) -> Badge:
        """Whether scores are above or below what is observed, by the test of the KS error."""
        gap = self.mean_score - self.accuracy
        return badge_for(gap, self.ks_error, self.p_value, prediction=True)


@cache
def fitted_temperature(name: str = data.NETWORK) -> float:
    """Return the temperature that fits the calibration set of a sample best."""
    rows = data.sample(name).calibration
    return TemperatureScaling().fit(rows.logits, rows.labels).temperature


@cache
def at_temperature(temperature: float, name: str = data.NETWORK) -> TemperedPrediction:
    """Evaluate the top prediction of a sample's test set at a temperature."""
    rows = data.sample(name).test
    probabilities = FittedTemperature(temperature).predict_proba(rows.logits)
    event = TopR(1).outcomes(probabilities, rows.labels)
    counted = tally(event.scores, event.hits)
    curves = curves_of(counted)
    return TemperedPrediction(
        temperature=temperature,
        n_rows=rows.n_samples,
        mean_score=float(curves.cum_score[-1]),
        accuracy=float(curves.cum_hits[-1]),
        ks_error=curves.ks_error,
        p_value=curves.ks_p_value,
        nll=nll(probabilities, rows.labels),
        entropy=mean_entropy(probabilities),
        binned=binned_of(counted, n_bins=N_BINS),
    )


def verdict(network: TemperedPrediction) -> str:
    """Return whether scores are above or below the accuracy, and by how much, for Markdown.

    >>> verdict(at_temperature(1.0)), verdict(at_temperature(2.0))
    ('**overconfident by 5.1 percentage points**', '**no clear gap**')
    """
    word = _word(network)
    if not network.badge.one_way:
        return f"**{word.lower()}**"
    gap = difference(network.accuracy, network.mean_score, "share", network.n_rows)
    return f"**{word.lower()} by {detected_points(abs(gap), network.n_rows)}**"


def _word(network: TemperedPrediction) -> str:
    """Return a finding in few words; other tests than that of the KS error may still find some."""
    return NO_GAP if network.badge is NOT_DETECTED else network.badge.word


def sentence(network: TemperedPrediction) -> str:
    """Return mean score, accuracy and verdict, for Markdown.

    >>> sentence(at_temperature(2.0))
    'mean score 90.4%, accuracy 90.6%: **no clear gap**.'
    """
    score, correct = (percent(v, network.n_rows) for v in (network.mean_score, network.accuracy))
    return f"mean score {score}, accuracy {correct}: {verdict(network)}."


def row(network: TemperedPrediction, *first: str) -> tuple[str, ...]:
    """Return a row of a table, under `HEAD`."""
    shares = (network.mean_score, network.accuracy, network.ks_error, network.ece)
    written = (percent(share, network.n_rows) for share in shares)
    return (*first, network.shown, *written, f"{network.nll:.3f}", f"{network.entropy:.3f}")


HEAD = ("T", "Mean score", "Accuracy", "KS error", f"ECE ({N_BINS} bins)", "NLL", "Entropy")


def diagram(network: TemperedPrediction, palette: Palette, title: str) -> LessonPicture:
    """Draw the reliability diagram, and above it mean score and accuracy on one axis."""
    score, correct = (percent(v, network.n_rows) for v in (network.mean_score, network.accuracy))
    ends = [network.mean_score, network.accuracy]
    whole = [
        pictures.line(ends, [0, 0], palette.neutral, width=8),
        pictures.dots(ends[:1], [0], palette.score, size=17, cliponaxis=False),
        pictures.dots(
            ends[1:], [0], palette.frequency, size=11, symbol="diamond", cliponaxis=False
        ),
    ]
    figure = pictures.picture(
        title,
        [
            *pictures.bin_bars(network.binned.bins, palette, LEAST),
            *({**one, "yaxis": "y2"} for one in whole),
        ],
        x={**pictures.percent_axis("Score"), "anchor": "y"},
        y={**pictures.percent_axis("Observed frequency"), "domain": [0, 0.82]},
        yaxis2={**pictures.no_axis(-1, 1), "domain": [0.86, 1]},
        names=[
            pictures.boxed(
                f"<span style='color:{palette.score}'>\u25cf mean score {score}</span><br>"
                f"<span style='color:{palette.frequency}'>\u25c6 accuracy {correct}</span><br>"
                f"<b>{network.badge.icon} {_word(network)}</b>",
                0.01, 0.98, palette.text, palette, yanchor="top", align="left",
            )
        ],
    )  # fmt: skip
    return LessonPicture(
        "diagram",
        figure,
        f"Above: mean score of all (dot), {score}, and accuracy (diamond), {correct}. Bars:"
        " observed"
        " frequency of each bin. Dots: its mean score.",
    )


_HIGH = 3.0
"""Top of the axis, in nats."""

_LINES = {"smoothing": "dash", "focal": "dot"}


@dataclass(frozen=True)
class Loss:
    """A loss for training: cross-entropy, smoothed labels, or focal."""

    name: str
    """As on screen."""
    smoothing: float = 0.0
    """Share of the label that all classes get alike, in [0, 1)."""
    gamma: float = 0.0
    """Exponent of the focal loss, at least 0."""

    def at(self, score: Floats, n_classes: int) -> Floats:
        """Return the loss of a row, in nats.

        ``score``: of the true class, in (0, 1); the other classes share the rest alike.
        ``n_classes``: at least 2.

        With smoothing a and K classes (Vasilev 2023, eq. 17), -(1 - a) ln p - (a / K) sum ln p_k;
        with gamma g (eq. 18), -(1 - p)^g ln p. With neither, -ln p.

        >>> half = np.array([0.5])
        >>> float(Loss("", gamma=1).at(half, 2)[0] / Loss("").at(half, 2)[0])
        0.5
        """
        own, others = np.log(score), np.log((1 - score) / (n_classes - 1))
        spread = (own + (n_classes - 1) * others) / n_classes
        smoothed = (1 - self.smoothing) * own + self.smoothing * spread
        return np.asarray(-((1 - score) ** self.gamma) * smoothed, dtype=np.float64)

    def lowest(self, n_classes: int) -> float:
        """Return the score of the true class at which the loss is lowest."""
        return 1 - self.smoothing + self.smoothing / n_classes

    @property
    def formula(self) -> str:
        """The loss as lines of a picture, p being the score of the true class."""
        if self.smoothing:
            rest, part = f"{1 - self.smoothing:g}", f"{self.smoothing:g}"
            return f"\u2212{rest} ln p<br>\u2212 {part} \u00d7 mean of ln over all classes"
        if not self.gamma:
            return "\u2212ln p"
        power = {1.0: "", 2.0: "\u00b2", 3.0: "\u00b3"}[float(self.gamma)]
        return f"\u2212(1 \u2212 p){power} ln p"


def loss_picture(
    losses: Sequence[Loss], chosen: Loss, n_classes: int, palette: Palette
) -> LessonPicture:
    """Draw the losses against the score of the true class, one of them heavily.

    ``losses``: the first is the usual one. ``chosen``: drawn heavily, and described. ``n_classes``:
    of the model.
    """
    score, usual = np.linspace(0.001, 0.9995, 400), losses[0]
    traces = []
    for one in sorted(losses, key=lambda one: one == chosen):
        kind = "smoothing" if one.smoothing else "focal" if one.gamma else ""
        colour = palette.score if one == chosen else palette.neutral
        width = 4 if one == chosen else 1.5
        dash, loss = _LINES.get(kind, "solid"), one.at(score, n_classes)
        traces.append(pictures.line(score, loss, colour, dash=dash, width=width, name=one.name))
    name = pictures.label(
        chosen.formula, 0.98, _HIGH, palette.score, xanchor="right", yanchor="top", align="right"
    )
    figure = pictures.picture(
        f"Loss of a row: {chosen.name.lower()}",
        traces,
        x=pictures.percent_axis("Score of the true class, p"),
        y=pictures.number_axis("Loss", 0, _HIGH),
        names=[name],
    )
    return LessonPicture("loss", figure, _caption(chosen, usual, n_classes))


def _caption(chosen: Loss, usual: Loss, n_classes: int) -> str:
    lines = "Solid: cross-entropy. Dashed: label smoothing. Dotted: focal loss."
    if chosen.smoothing:
        best = f"{100 * chosen.lowest(n_classes):.3g}%"
        return f"{lines} The loss is lowest at a score of {best}, not at 100%."
    if chosen.gamma:
        at = np.array([0.9])
        share = float(chosen.at(at, n_classes)[0] / usual.at(at, n_classes)[0])
        return f"{lines} At a score of 90% the loss is {100 * share:.3g}% of cross-entropy."
    return f"{lines} The loss falls up to a score of 100%."
