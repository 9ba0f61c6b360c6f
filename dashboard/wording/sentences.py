"""The sentences: what a result shows, in plain words with its numbers."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from calibcore.calibrators import FittedSpline, FittedTemperature
from calibcore.data import EventScores, LogitSet
from calibcore.evaluation import AuditResult, SetResult, Side
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.metrics import accuracy, hit_rate
from calibcore.reliability import Band
from calibcore.reliability.smooth import LEAST_BANDWIDTH
from dashboard.settings import NO_METHOD, ChosenEvent, method_by_key
from dashboard.wording.numbers import detected_points, escape_markdown, measured, percent, points

DETECTION_LEVEL = 0.05

REFUSED = "This cannot be used"

WITHOUT_LABELS = (
    "This file holds a table of values and no labels. Add the file with their true labels beside"
    " it, in the panel on the left."
)
LABELS_ALONE = (
    "This file holds labels alone. Add the file with their logits or class probabilities beside it,"
    " in the panel on the left."
)
LOOKING_CLOSER = "Looking for the uncertainty of each measure"
TOO_FEW = "Too few rows for this graph."
NEXT_STEP = "Mend the file and upload it again, or choose another one or a sample on the left."


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
            f" running totals part by up to {detected_points(curves.ks_error, n_samples)}.",
        )
    if gap > 0:
        amount = f"overconfident by {detected_points(gap, n_samples)}"
        return Verdict("Overconfident", "\u25b2", "red", f"{opening}: {amount}.")
    amount = f"underconfident by {detected_points(-gap, n_samples)}"
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
    if isinstance(result.fitted, FittedSpline):
        name += f" ({result.fitted.knot_values.size} knots)"
    was, now = percent(before.ks_error, n_samples), percent(after.ks_error, n_samples)
    verb = "falls" if after.ks_error < before.ks_error else "rises"
    change = f"stays {now}" if was == now else f"{verb} from {was} to {now}"
    text = f"{name}: on the {where} the KS error {change}"
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


def side_title(side: Side, set_name: str) -> str:
    """Give the title over the four graphs: KS error, the event's probability, and the set."""
    n_samples = side.event.n_samples
    seen = percent(float(side.curves.cum_hits[-1]), n_samples)
    return f"KS error {percent(side.curves.ks_error, n_samples)}, probability {seen} ({set_name})"


def band_note(side: Side) -> str:
    """Say what the grey region of the four graphs is."""
    cases = _of_100(side.null.level)
    return f"Grey: where a perfect model of this size would stay in {cases} cases."


def cumulative_caption(side: Side) -> str:
    """Say what graph (a) shows."""
    curves, n_samples = side.curves, side.event.n_samples
    where = percent(curves.ks_fractile, n_samples)
    ahead = "claim ahead" if curves.gap[curves.ks_index] > 0 else "truth ahead"
    near = detected_points(side.null.simultaneous, n_samples)
    return (
        f"Widest gap {points(curves.ks_error, n_samples)}, at fractile {where}, {ahead}; of a"
        f" perfect model, at most {near}."
    )


def warped_caption(side: Side) -> str:
    """Say what graph (b) shows."""
    curves, n_samples = side.curves, side.event.n_samples
    claimed, seen = float(curves.cum_score[-1]), float(curves.cum_hits[-1])
    return f"Claimed in all {percent(claimed, n_samples)}, happened {percent(seen, n_samples)}."


def fractile_caption(side: Side) -> str:
    """Say what graph (c) shows."""
    if side.frequency is None:
        return TOO_FEW
    # Cut, not rounded: at least half of the rows do score this high.
    steps = 1_000 if side.event.n_samples < 50_000 else 10_000
    median = math.floor(float(np.median(side.event.scores)) * steps) / steps
    return f"Half of the rows score {percent(median, side.event.n_samples)} or more."


def score_caption(side: Side) -> str:
    """Say what graph (d) shows."""
    frequency = side.frequency
    if frequency is None:
        return TOO_FEW
    gap = points(frequency.mean_gap, side.event.n_samples)
    return f"The lines are {gap} apart, averaged over the rows."


def reliability_caption(side: Side) -> str:
    """Say what the reliability diagram in bins shows."""
    bins, n_samples = side.bins, side.event.n_samples
    fullest = int(bins.counts.argmax())
    share = bins.counts[fullest] / bins.counts.sum()
    low, high = float(bins.edges[fullest]), float(bins.edges[fullest + 1])
    least, most = float(side.binned.lower[fullest]), float(side.binned.upper[fullest])
    return (
        f"{percent(float(share), n_samples)} of the rows are in the bin"
        f" {percent(low, n_samples)} to {percent(high, n_samples)}, scored"
        f" {percent(float(bins.mean_score[fullest]), n_samples)} on average,"
        f" observed {percent(float(bins.frequency[fullest]), n_samples)}. The whisker, here"
        f" {percent(least, n_samples)} to {percent(most, n_samples)}, holds the true frequency of"
        f" a bin in about {_of_100(side.binned.level)} cases."
    )


def isotonic_caption(side: Side) -> str:
    """Say what the isotonic reliability curve shows."""
    band, n_samples = side.corp.consistency, side.event.n_samples
    outside, by_chance = percent(side.corp_outside, n_samples), _of_100(1 - band.level)
    return (
        f"The curve leaves the grey at {outside} of the rows; a perfect model's, at about"
        f" {by_chance}. Grey: consistency band, where the curve of a perfect model of this size"
        f" would lie. Dotted: where the true frequency lies. {_drawn(band)}"
    )


def smoothed_caption(side: Side) -> str:
    """Say what the smoothed reliability curve shows."""
    found, n_samples = side.smooth, side.event.n_samples
    # The kernel is as wide as the error itself, unless that is too small.
    apart = detected_points(found.bandwidth, n_samples)
    most = "at most " if found.bandwidth < 1.01 * LEAST_BANDWIDTH else ""
    return (
        f"The lines are {most}{apart} apart, averaged over the rows (smooth ECE). Each point"
        f" averages the rows within about {apart}; where few are near, the lines are pale. Shaded:"
        f" where the smoothed curve truly lies. {_drawn(found.confidence)}"
    )


def _drawn(band: Band) -> str:
    """Say how often a band holds the curve, and what it was drawn from."""
    return (
        f"Bands hold at each score in about {_of_100(band.level)} cases ({band.n_resamples:,}"
        f" resamples, seed {band.seed})."
    )


def _of_100(share: float) -> str:
    """Write how often something is so."""
    return f"{100 * share:.0f} of 100"


FITTED_HERE = (
    "The calibrator was fitted on these very rows, so after calibration they look better than new"
    " rows would. The test set judges it honestly."
)

SAME_DATA = (
    "Same data: the calibrator is judged on the rows it was fitted on, which flatters it. Upload a"
    " second set for an honest judgement."
)


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
