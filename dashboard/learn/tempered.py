"""A network of the samples at a temperature: what it shows on the test set, and the diagram."""

from functools import cache

from calibcore.calibrators import FittedTemperature, TemperatureScaling
from calibcore.cumulative import curves_of
from calibcore.events import TopR
from calibcore.metrics import nll
from calibcore.metrics.binned import ece_of
from calibcore.reliability.bins import BinnedReliability, binned_of
from calibcore.results import result_class
from calibcore.tally import tally
from dashboard.figures import Palette
from dashboard.learn import data, pictures
from dashboard.learn.lesson import Picture
from dashboard.texts.numbers import detected_points, percent
from dashboard.texts.verdicts import NOT_DETECTED, Finding, finding

N_BINS = 10

LEAST = 20
"""Rows from which on a bin has a bar: the frequency of fewer is vague."""

NO_GAP = "No clear gap"


@result_class
class Tempered:
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
    """Of all classes, in nats."""
    binned: BinnedReliability
    """In `N_BINS` bins of equal width."""

    @property
    def shown(self) -> str:
        """The temperature as it is written everywhere."""
        return f"{self.temperature:.3g}"

    @property
    def ece(self) -> float:
        """ECE of the bins."""
        return float(ece_of(self.binned.bins))

    @property
    def finding(self) -> Finding:
        """Whether scores are above or below what is observed, by the test of the KS error."""
        gap = self.mean_score - self.accuracy
        return finding(gap, self.ks_error, self.p_value, prediction=True)


@cache
def fitted_temperature(name: str = data.NETWORK) -> float:
    """Return the temperature that fits the calibration set of a sample best."""
    rows = data.sample(name).calibration
    return TemperatureScaling().fit(rows.logits, rows.labels).temperature


@cache
def at_temperature(temperature: float, name: str = data.NETWORK) -> Tempered:
    """Evaluate the top prediction of a sample's test set at a temperature."""
    rows = data.sample(name).test
    probabilities = FittedTemperature(temperature).predict_proba(rows.logits)
    event = TopR(1).outcomes(probabilities, rows.labels)
    counted = tally(event.scores, event.hits)
    curves = curves_of(counted)
    return Tempered(
        temperature=temperature,
        n_rows=rows.n_samples,
        mean_score=float(curves.cum_score[-1]),
        accuracy=float(curves.cum_hits[-1]),
        ks_error=curves.ks_error,
        p_value=curves.ks_p_value,
        nll=nll(probabilities, rows.labels),
        binned=binned_of(counted, n_bins=N_BINS),
    )


def verdict(found: Tempered) -> str:
    """Return whether scores are above or below the accuracy, and by how much, for Markdown.

    Examples
    --------
    >>> verdict(at_temperature(1.0)), verdict(at_temperature(2.0))
    ('**overconfident by 5.1 percentage points**', '**no clear gap**')
    """
    word = _word(found)
    if found.finding.colour not in {"red", "blue"}:
        return f"**{word.lower()}**"
    size = detected_points(abs(found.mean_score - found.accuracy), found.n_rows)
    return f"**{word.lower()} by {size}**"


def _word(found: Tempered) -> str:
    """Return a finding in few words; other tests than that of the KS error may still find some."""
    return NO_GAP if found.finding is NOT_DETECTED else found.finding.word


def sentence(found: Tempered) -> str:
    """Return mean score, accuracy and verdict, for Markdown.

    Examples
    --------
    >>> sentence(at_temperature(2.0))
    'mean score 90.4%, accuracy 90.6%: **no clear gap**.'
    """
    score, correct = (percent(v, found.n_rows) for v in (found.mean_score, found.accuracy))
    return f"mean score {score}, accuracy {correct}: {verdict(found)}."


def row(found: Tempered, *first: str) -> tuple[str, ...]:
    """Return a row of a table, under `HEAD`."""
    shares = (found.mean_score, found.accuracy, found.ks_error, found.ece)
    written = (percent(share, found.n_rows) for share in shares)
    return (*first, found.shown, *written, f"{found.nll:.3f}")


HEAD = ("T", "Mean score", "Accuracy", "KS error", f"ECE ({N_BINS} bins)", "NLL")


def diagram(found: Tempered, palette: Palette, title: str) -> Picture:
    """Draw the reliability diagram, with mean score and accuracy as lines that cross."""
    score, correct = (percent(v, found.n_rows) for v in (found.mean_score, found.accuracy))
    icon, large = found.finding.icon, {"size": 17, "color": palette.text}
    figure = pictures.picture(
        title,
        [
            *pictures.bin_bars(found.binned.bins, palette, LEAST),
            pictures.line([0, 1], [found.accuracy] * 2, palette.frequency, dash="dash"),
            pictures.line([found.mean_score] * 2, [0, 1], palette.score),
        ],
        x=pictures.percent_axis("Score"),
        y=pictures.percent_axis("Observed frequency"),
        names=[
            pictures.boxed(
                f"mean score {score}",
                found.mean_score - 0.015, 0.03, palette.score, palette, xanchor="right",
            ),
            pictures.boxed(
                f"accuracy {correct}",
                0.01, found.accuracy - 0.02, palette.frequency, palette, yanchor="top",
            ),
            pictures.boxed(
                f"{icon} {_word(found)}",
                0.01, found.accuracy - 0.15, palette.text, palette, font=large, yanchor="top",
            ),
        ],
    )  # fmt: skip
    return Picture(
        "diagram",
        figure,
        f"Bars: observed frequency of each bin. Dots: its mean score. Solid line: mean score of"
        f" all, {score}. Dashed line: accuracy, {correct}.",
    )
