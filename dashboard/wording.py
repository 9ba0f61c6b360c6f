"""Every label, sentence and definition that is shown, in one place."""

import math
import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from calibcore.calibrators import FittedTemperature
from calibcore.data import EventScores, LogitSet
from calibcore.evaluation import AuditResult, Comparison, SetResult, Side
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.metrics import accuracy, hit_rate
from dashboard.settings import NO_METHOD, ChosenEvent, method_by_key

MINUS = "\u2212"
SPACE = "\u00a0"  # before a percent sign, where a line must not break
DETECTION_LEVEL = 0.05

GLOSSARY = {
    "ks_error": "The largest gap between what the model has claimed and what has happened, summed"
    " from the lowest score up. It needs no bins. 0 % is perfect.",
    "ece": "Expected calibration error: rows are put into bins of equal width by their score; the"
    " gap between mean score and observed frequency is averaged over the bins. It depends on the"
    " number of bins.",
    "ece_equal_mass": "Expected calibration error over bins that hold equally many rows.",
    "mce": "Maximum calibration error: the largest gap of any bin. A bin with few rows can decide"
    " it.",
    "event_brier": "Mean squared distance between the score and whether the event happened. Lower"
    " is better; it rewards calibration and sharpness together.",
    "event_nll": "Mean negative log-likelihood of the event happening or not, in nats. Lower is"
    " better; a confident mistake costs much.",
    "brier": "Mean squared distance between the class probabilities and the truth, summed over the"
    " classes. Lower is better.",
    "nll": "Mean negative log-likelihood of the true class, in nats (log loss). Lower is better; a"
    " confident mistake costs much.",
    "certain_misses": "Rows for which the model said 0 % or 100 % and was wrong. Each adds 708 nats"
    " to the NLL, which would otherwise be infinite.",
    "mean_score": "How often the model says that the event happens: its average score.",
    "hit_rate": "How often the event did happen.",
    "accuracy": "How often the most probable class is the true one.",
    "calibration_set": "The rows on which the calibrator is fitted.",
    "test_set": "Rows the calibrator has not seen; they judge it.",
    "fractile": "The share of the rows whose score is at most this high: at fractile 50 % half of"
    " the rows score lower.",
}
"""One-sentence definitions, by the key of the measure or term."""

HOW_TO_READ = """
**(a)** Rows are sorted by score, lowest first, and both totals grow to the right: what the model
claims, and what happened. Where the lines part, claim and truth part; the black mark is the widest
gap, the KS error.

**(b)** The same totals, stretched so that the claim is a straight line.

**(c)** The slopes of (a): the score of each row, and how often rows like it were hits, estimated by
a spline with six knots. It cannot follow what happens within a small part of the rows; the
reliability diagram can.

**(d)** The same two, against the score itself. The claim is the diagonal.

**Reliability diagram.** One bar a bin of scores, as high as the observed frequency; the hatched
part is the gap to the mean score, the dot. Below it, how many rows are in each bin.
"""

REFUSED = "This cannot be used"
NEXT_STEP = "Mend the file and upload it again, or choose another one or a sample on the left."


def percent(value: float, n_samples: int) -> str:
    """Write a share in percent: one decimal below 50,000 rows, two from there on."""
    return f"{_digits(100 * value, n_samples)}{SPACE}%"


def points(value: float, n_samples: int, *, signed: bool = False) -> str:
    """Write a difference of shares in percentage points."""
    text = _digits(100 * value, n_samples)
    plus = "+" if signed and float(text.replace(MINUS, "-")) > 0 else ""
    return f"{plus}{text} points"


def _digits(value: float, n_samples: int) -> str:
    text = f"{value:.{1 if n_samples < 50_000 else 2}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("-", MINUS)


def measured(comparison: Comparison, value: float | None, n_samples: int) -> str:
    """Write one value of a measure with its unit; a dash where it is not defined."""
    if value is None:
        return "\u2013"
    match comparison.measure.unit:
        case "share":
            return percent(value, n_samples)
        case "rows":
            return f"{value:,.0f}"
    return f"{value:.3f}"


def measured_change(comparison: Comparison, n_samples: int) -> str:
    """Write how a measure changed; a dash where it is not defined."""
    change = comparison.change
    if change is None:
        return "\u2013"
    match comparison.measure.unit:
        case "share":
            return points(change, n_samples, signed=True)
        case "rows":
            text = f"{change:+,.0f}"
        case _:
            text = f"{change:+.3f}"
    return text.lstrip("+-") if float(text.replace(",", "")) == 0 else text.replace("-", MINUS)


def escape_markdown(text: str) -> str:
    """Make text from a file show as it is where Markdown is rendered.

    Addresses become links even where every sign of Markdown is escaped, so an invisible joiner
    breaks them up.
    """
    flat = re.sub(r"(?i)(https?:|www|@|mailto:|ftp:)", "\\1\u2060", re.sub(r"\s+", " ", text))
    return re.sub(r"([\\`*_{}\[\]()<>#+\-.!|~:$&^=])", r"\\\1", flat)


@dataclass(frozen=True)
class EventWords:
    """How an event is spoken of.

    Parameters
    ----------
    claim : str
        Sentence with places for what the model says and for what was so.
    """

    claim: str


def event_words(event: ChosenEvent, class_names: tuple[str, ...] | None) -> EventWords:
    """Find the words for an event; a class name is escaped for Markdown."""
    match event:
        case OneClass(k):
            shown = class_names[k] if class_names else str(k)
            name = f"Class {escape_markdown(shown).replace('{', '{{').replace('}', '}}')}"
            claim = "scored {says} on average, was the true one {was} of the time"
            return EventWords(f"{name}, {claim}")
        case TopR(1):
            return EventWords("Among predictions scored {says} on average, {was} were right")
        case TopR(r):
            claim = "scored {says} on average, was right {was} of the time"
            return EventWords(f"The class ranked {r}, {claim}")
        case WithinTopR(r):
            claim = "is given {says} on average, and was so {was} of the time"
            return EventWords(f"That the truth is among the first {r} classes {claim}")


def method_name(key: str) -> str:
    """Name a method, or the choice to change nothing."""
    return "None (leave as it is)" if key == NO_METHOD else method_by_key(key).name


@dataclass(frozen=True)
class Verdict:
    """What one side shows, in a word with a sign and a colour, and a sentence.

    Parameters
    ----------
    word : str
        The finding.
    icon : str
        Sign that says the same without colour.
    colour : {"red", "blue", "violet", "gray"}
        Colour that says it again.
    sentence : str
        The finding with its numbers.
    """

    word: str
    icon: str
    colour: Literal["red", "blue", "violet", "gray"]
    sentence: str


def verdict(side: Side, event: EventWords) -> Verdict:
    """Say what one side shows about its event, with numbers from its result."""
    curves, n_samples = side.curves, side.event.n_samples
    claimed, seen = float(curves.cum_score[-1]), float(curves.cum_hits[-1])
    opening = event.claim.format(says=percent(claimed, n_samples), was=percent(seen, n_samples))
    if curves.ks_p_value >= DETECTION_LEVEL:
        return Verdict(
            "No miscalibration detected",
            "\u25cb",
            "gray",
            f"{opening}: no miscalibration detected at this sample size.",
        )
    gap = claimed - seen
    if abs(gap) < curves.ks_error / 2:
        return Verdict(
            "Mixed",
            "\u25c6",
            "violet",
            f"{opening}, but it is too sure at some scores and not sure enough at others: the"
            f" running totals part by up to {points(curves.ks_error, n_samples)}.",
        )
    if gap > 0:
        amount = f"overconfident by {points(gap, n_samples)}"
        return Verdict("Overconfident", "\u25b2", "red", f"{opening}: {amount}.")
    amount = f"underconfident by {points(-gap, n_samples)}"
    return Verdict("Underconfident", "\u25bc", "blue", f"{opening}: {amount}.")


def set_name(result: AuditResult, judged: SetResult) -> str:
    """Name the set a judgement is about."""
    return "test set" if judged is result.test else "calibration set"


def outcome(result: AuditResult, judged: SetResult, method: str) -> str:
    """Say in one sentence what the calibrator did on one set."""
    where = set_name(result, judged)
    if method == NO_METHOD:
        return f"No calibrator is chosen, so before and after are the same ({where})."
    n_samples, before, after = judged.n_samples, judged.before.curves, judged.after.curves
    name = method_name(method)
    if isinstance(result.fitted, FittedTemperature):
        name += f" (T = {result.fitted.temperature:.3g})"
    was, now = percent(before.ks_error, n_samples), percent(after.ks_error, n_samples)
    verb = "lowers" if after.ks_error < before.ks_error else "raises"
    change = (
        f"leaves the KS error at {now}"
        if was == now
        else (f"{verb} the KS error from {was} to {now}")
    )
    text = f"On the {where}, {name[0].lower()}{name[1:]} {change}"
    if after.ks_p_value >= DETECTION_LEVEL and judged is result.test:
        text += ", where no miscalibration is detected at this sample size"
    return f"{text}; {decisions(judged)}."


def decisions(judged: SetResult) -> str:
    """Say what happened to accuracy and decisions."""
    accuracy, n_samples = judged.compare("accuracy"), judged.n_samples
    if judged.changed_decisions == 0:
        kept = (
            ""
            if accuracy.before is None
            else f", accuracy stays {percent(accuracy.before, n_samples)}"
        )
        return f"no decision changes{kept}"
    after = measured(accuracy, accuracy.after, n_samples)
    before = measured(accuracy, accuracy.before, n_samples)
    return f"{judged.changed_decisions:,} decisions change, accuracy goes from {before} to {after}"


def below_tiles(judged: SetResult) -> str:
    """Say what a perfectly calibrated model of this size would show, and what certainty costs."""
    n_samples = judged.n_samples
    before, after = (
        percent(side.curves.ks_null_95, n_samples) for side in (judged.before, judged.after)
    )
    limits = before if before == after else f"{before} before and {after} after"
    text = (
        f"If the scores were the true probabilities, {n_samples:,} rows would show a KS error below"
        f" {limits} in 95 of 100 cases."
    )
    misses = judged.compare("certain_misses").after
    if misses:
        rows = "row is" if misses == 1 else "rows are"
        text += (
            f" After calibration {misses:,.0f} {rows} certain and wrong (said 0 % or 100 %); each"
            f" adds {708 / n_samples:.3f} to the NLL of the event."
        )
    return text


def side_title(side: Side, set_name: str) -> str:
    """Give the title over the four graphs: KS error, the event's probability, and the set."""
    n_samples = side.event.n_samples
    seen = percent(float(side.curves.cum_hits[-1]), n_samples)
    return f"KS error {percent(side.curves.ks_error, n_samples)}, probability {seen} ({set_name})"


def cumulative_caption(side: Side) -> str:
    """Say what graph (a) shows."""
    curves, n_samples = side.curves, side.event.n_samples
    where = percent(curves.ks_fractile, n_samples)
    ahead = "claim ahead" if curves.gap[curves.ks_index] > 0 else "truth ahead"
    return f"Widest gap {points(curves.ks_error, n_samples)}, at fractile {where}, {ahead}."


def warped_caption(side: Side) -> str:
    """Say what graph (b) shows."""
    curves, n_samples = side.curves, side.event.n_samples
    claimed, seen = float(curves.cum_score[-1]), float(curves.cum_hits[-1])
    return f"Claimed in all {percent(claimed, n_samples)}, happened {percent(seen, n_samples)}."


def fractile_caption(side: Side) -> str:
    """Say what graph (c) shows."""
    # Cut, not rounded: at least half of the rows do score this high.
    steps = 1_000 if side.event.n_samples < 50_000 else 10_000
    median = math.floor(float(np.median(side.event.scores)) * steps) / steps
    return f"Half of the rows score {percent(median, side.event.n_samples)} or more."


def score_caption(side: Side) -> str:
    """Say what graph (d) shows."""
    frequency = side.frequency
    if frequency is None:
        return "Too few rows for this graph."
    gap = points(frequency.mean_gap, side.event.n_samples)
    return f"The lines are {gap} apart, averaged over the rows."


def reliability_caption(side: Side) -> str:
    """Say what the reliability diagram shows."""
    bins, n_samples = side.bins, side.event.n_samples
    fullest = int(bins.counts.argmax())
    share = bins.counts[fullest] / bins.counts.sum()
    return (
        f"{percent(float(share), n_samples)} of the rows are in the bin"
        f" {bins.edges[fullest]:.0%} to {bins.edges[fullest + 1]:.0%}, scored"
        f" {percent(float(bins.mean_score[fullest]), n_samples)} on average,"
        f" observed {percent(float(bins.frequency[fullest]), n_samples)}."
    )


FITTED_HERE = (
    "The calibrator was fitted on these very rows, so after calibration they look better than new"
    " rows would. The test set judges it honestly."
)
SAME_DATA = (
    "Same data: the calibrator is judged on the rows it was fitted on, which flatters it. Upload a"
    " second set for an honest judgement."
)


@dataclass(frozen=True)
class Tile:
    """One of the large figures.

    Parameters
    ----------
    name, value, note, definition : str
        What stands in the tile, and its tooltip.
    colour : {"normal", "inverse", "off"}
        How the note is coloured: as better, worse or neither.
    """

    name: str
    value: str
    note: str
    definition: str
    colour: Literal["green", "red", "gray"]


def tiles(judged: SetResult) -> tuple[Tile, ...]:
    """Give the four figures that matter most."""
    n_samples = judged.n_samples
    # A score map leaves no class table, so its NLL is that of the event.
    nll = "nll" if judged.compare("nll").after is not None else "event_nll"
    accuracy = judged.compare("accuracy")
    rate = accuracy if accuracy.before is not None else judged.compare("hit_rate")
    note = "no decision changes"
    if judged.changed_decisions:
        note = f"{judged.changed_decisions:,} decisions change"
    return (
        *(_tile(judged.compare(key), n_samples) for key in ("ks_error", "ece", nll)),
        Tile("Accuracy", _before_after(rate, n_samples), note, GLOSSARY["accuracy"], "gray"),
    )


def _tile(row: Comparison, n_samples: int) -> Tile:
    change = measured_change(row, n_samples)
    colour: Literal["green", "red", "gray"] = "gray"
    if row.change is not None and change.startswith(("+", MINUS)):
        colour = "green" if row.change < 0 else "red"
    word = {"green": "better", "red": "worse", "gray": "unchanged"}[colour]
    note = word if colour == "gray" else f"{change}, {word}"
    return Tile(
        row.measure.name, _before_after(row, n_samples), note, GLOSSARY[row.measure.key], colour
    )


def _before_after(row: Comparison, n_samples: int) -> str:
    """Write before and after, with the unit once."""
    before, after = measured(row, row.before, n_samples), measured(row, row.after, n_samples)
    if before == after:
        return before
    return f"{before.removesuffix(f'{SPACE}%')} \u2192 {after}"


def table_note(judged: SetResult) -> str:
    """Say what the table's dashes and figures mean."""
    text = "Accuracy is better higher; of the errors and losses above it, lower is better."
    if any(row.after is None and row.before is not None for row in judged.comparisons):
        text += (
            " \u2013: this calibrator changes the score of the event alone, so there are no class"
            " probabilities to measure afterwards."
        )
    elif any(row.before is None for row in judged.comparisons):
        text += " \u2013: needs the probabilities of all classes, which this file does not hold."
    return text


OPTIONS = {
    ("spline", "n_knots"): (
        "Knots",
        "More knots follow the calibration rows more closely. The paper uses 6 in most tables.",
    ),
    ("spline", "runout"): ("Run-out", "How the spline ends: straight, parabolic or cubic."),
    ("spline", "fit_to"): (
        "Fit to",
        (
            "The cumulative hits minus the cumulative scores, as the authors' program does, or the"
            " cumulative hits, as the paper's text says."
        ),
    ),
    ("spline", "constrained"): (
        "Keep within 0 to 100 %",
        "Hold the calibrated scores within 0 to 100 % during the fit, instead of clipping them.",
    ),
}
"""Label and tooltip of each option, by method and name."""

CHOICES = {
    "natural": "Natural (straight)",
    "parabolic": "Parabolic",
    "cubic": "Cubic",
    "difference": "Hits minus scores",
    "hits": "Hits",
}
"""What an option's words are called on screen."""


def set_read(name: str, rows: LogitSet | EventScores) -> str:
    """Say what one set holds."""
    words = {"calibration": "Calibration set", "test": "Test set", "rows": "One set"}[name]
    n_samples = rows.n_samples
    if isinstance(rows, EventScores):
        right = percent(hit_rate(rows.scores, rows.hits), n_samples)
        return f"{words}: {n_samples:,} rows, {right} right."
    right = percent(accuracy(rows.logits, rows.labels), n_samples)
    lowest, highest = int(rows.labels.min()), int(rows.labels.max())
    return f"{words}: {n_samples:,} rows, labels {lowest} to {highest}, accuracy {right}."
