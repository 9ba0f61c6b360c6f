"""The sentences: what a result shows, in plain words with its numbers."""

import math
from dataclasses import dataclass

from calibcore.calibrators import FittedSpline, FittedTemperature
from calibcore.data import EventScores, LogitSet
from calibcore.evaluation import AuditResult, SetResult, Side
from calibcore.metrics import accuracy, hit_rate
from calibcore.reliability import Band
from calibcore.reliability.smooth import LEAST_BANDWIDTH
from dashboard.settings import NO_METHOD, method_by_key
from dashboard.wording.events import EventWords
from dashboard.wording.numbers import (
    detected_points,
    measured,
    null_source,
    of_100,
    p_words,
    percent,
    pp,
)
from dashboard.wording.verdicts import DETECTION_LEVEL, Finding, finding_of

REFUSED = "This cannot be used"

LABELS_ALONE = (
    "This file holds labels alone. Add the file with their logits or class probabilities beside it,"
    " in the panel on the left."
)
NOT_FITTED = "Until it is fitted, every page shows the scores as they are."
LOOKING_CLOSER = "Looking for the uncertainty of each measure"
NEXT_STEP = "Mend the file and upload it again, or choose another one or a sample on the left."


def method_name(key: str) -> str:
    """Name a method, or the choice to change nothing."""
    return "Uncalibrated" if key == NO_METHOD else method_by_key(key).name


@dataclass(frozen=True)
class Verdict:
    """What one side shows: a finding, and a sentence with its numbers."""

    found: Finding
    sentence: str


def verdict(side: Side, event: EventWords, *, expert: bool = False) -> Verdict:
    """Return what one side shows about its event, with numbers from its result.

    Examples of the sentence: "Overconfident by 5.1 percentage points: mean score 95.7%, but 90.6%
    correct." and, of a class, "Scores too low by 2.0 percentage points: class cat, mean score
    10.0%, observed 12.0%."
    """
    curves, n_samples = side.curves, side.event.n_samples
    mean_score, observed = float(curves.cum_score[-1]), float(curves.cum_hits[-1])
    means = event.means.format(
        score=percent(mean_score, n_samples), observed=percent(observed, n_samples)
    )
    found = finding_of(curves, prediction=event.prediction)
    if expert:
        gap = pp(mean_score - observed, n_samples, signed=True)
        ks_error = percent(curves.ks_error, n_samples)
        tested = f"KS error {ks_error}, {p_words(curves.ks_p_value)}"
        return Verdict(found, f"{found.word}: {means}, score \u2212 observed {gap}; {tested}.")
    size = {
        "gray": "",
        "violet": f" (KS error {percent(curves.ks_error, n_samples)})",
        "red": f" by {detected_points(abs(mean_score - observed), n_samples)}",
        "blue": f" by {detected_points(abs(mean_score - observed), n_samples)}",
    }[found.colour]
    return Verdict(found, f"{found.word}{size}: {means}.")


def set_name(result: AuditResult, judged: SetResult) -> str:
    """Name the set a judgement is about."""
    return "test set" if judged is result.test else "calibration set"


def outcome(result: AuditResult, judged: SetResult, method: str, *, expert: bool = False) -> str:
    """Say in one sentence what the calibrator did on one set."""
    where = set_name(result, judged)
    if method == NO_METHOD:
        return f"No calibrator is fitted, so before and after are the same ({where})."
    n_samples, before, after = judged.n_samples, judged.before.curves, judged.after.curves
    name = method_name(method)
    if isinstance(result.fitted, FittedTemperature):
        name += f" (T = {result.fitted.temperature:.{4 if expert else 3}g})"
    if isinstance(result.fitted, FittedSpline):
        name += f" ({result.fitted.knot_values.size} knots)"
    was, now = percent(before.ks_error, n_samples), percent(after.ks_error, n_samples)
    verb = "falls" if after.ks_error < before.ks_error else "rises"
    change = f"stays {now}" if was == now else f"{verb} from {was} to {now}"
    text = f"{name}: on the {where} the KS error {change}"
    if after.ks_p_value >= DETECTION_LEVEL and judged is result.test:
        text += ", where no miscalibration is detected at this sample size"
    return f"{text}; {decisions(judged)}."


def statistics(judged: SetResult) -> str:
    """Give the test statistics of both sides, for experts."""
    sides = [("Before", judged.before)]
    if judged.after is not judged.before:
        sides.append(("After", judged.after))
    parts = []
    for name, side in sides:
        curves = side.curves
        root = math.sqrt(curves.n_samples) * curves.ks_error
        parts.append(
            f"{name}: \u221aN\u00b7KS = {root:.3f}, KS/\u03c3 = {curves.ks_statistic:.3f},"
            f" {p_words(curves.ks_p_value)}; Kuiper/\u03c3 = {curves.kuiper_statistic:.3f},"
            f" {p_words(curves.kuiper_p_value)}."
        )
    return (
        f"{' '.join(parts)} \u03c3 is the standard deviation of the final gap under perfect"
        f" calibration; p-values: {null_source(*(side.curves for _, side in sides))}."
    )


def decisions(judged: SetResult) -> str:
    """Say what happened to accuracy and decisions."""
    accuracy, n_samples = judged.compare("accuracy"), judged.n_samples
    if judged.changed_decisions == 0:
        kept = (
            ""
            if accuracy.before is None
            else f", accuracy stays {percent(accuracy.before, n_samples)}"
        )
        if judged.past_half:
            kept = kept.replace("accuracy", "so accuracy")
            still = "decisions are still taken from the scores before calibration"
            return f"{across_half(judged.past_half)}, but {still}{kept}"
        return f"no decision changes{kept}"
    after = measured(accuracy, accuracy.after, n_samples)
    before = measured(accuracy, accuracy.before, n_samples)
    change = f"stays near {after}" if before == after else f"goes from {before} to {after}"
    return f"{judged.changed_decisions:,} decisions change, accuracy {change}"


def across_half(n_scores: int) -> str:
    """Say how many scores of one of two classes make the class not decided for the likelier one."""
    return f"{n_scores:,} score{' crosses' if n_scores == 1 else 's cross'} 50%"


def reliability_caption(side: Side, *, expert: bool = False) -> str:
    """Say what the reliability diagram in bins shows."""
    bins, n_samples = side.bins, side.event.n_samples
    fullest = int(bins.counts.argmax())
    share = bins.counts[fullest] / bins.counts.sum()
    low, high = float(bins.edges[fullest]), float(bins.edges[fullest + 1])
    least, most = float(side.binned.lower[fullest]), float(side.binned.upper[fullest])
    if expert:
        return (
            f"Fullest of {bins.counts.size} bins of equal width:"
            f" {bins.counts[fullest]:,.0f} of {n_samples:,} rows, mean score"
            f" {percent(float(bins.mean_score[fullest]), n_samples)}, observed frequency"
            f" {percent(float(bins.frequency[fullest]), n_samples)}, Wilson interval"
            f" {percent(least, n_samples)} to {percent(most, n_samples)}"
            f" ({100 * side.binned.level:.0f}%)."
        )
    return (
        f"{percent(float(share), n_samples)} of the rows are in the bin"
        f" {percent(low, n_samples)} to {percent(high, n_samples)}, scored"
        f" {percent(float(bins.mean_score[fullest]), n_samples)} on average,"
        f" observed {percent(float(bins.frequency[fullest]), n_samples)}. The whisker, here"
        f" {percent(least, n_samples)} to {percent(most, n_samples)}, holds the true frequency of"
        f" a bin in about {of_100(side.binned.level)} cases."
    )


def isotonic_caption(side: Side, *, expert: bool = False) -> str:
    """Say what the isotonic reliability curve shows."""
    band, n_samples = side.corp.consistency, side.event.n_samples
    outside, by_chance = percent(side.corp_outside, n_samples), of_100(1 - band.level)
    if expert:
        return (
            f"Isotonic regression of the hits on the scores (pool adjacent violators): outside the"
            f" pointwise {_percent_of(band)} consistency band at {outside} of the rows, expected at"
            f" about {100 * (1 - band.level):.0f}%. Grey: labels drawn under H0, the score"
            " being the probability; dotted: confidence band, labels drawn from the fit, no"
            f" narrower than Clopper-Pearson a step ({_resamples(band)})."
        )
    return (
        f"The curve leaves the grey at {outside} of the rows; a perfect model's, at about"
        f" {by_chance}. Grey: consistency band, where the curve of a perfect model of this size"
        f" would lie. Dotted: where the true frequency lies. {_drawn(band)}"
    )


def smoothed_caption(side: Side, *, expert: bool = False) -> str:
    """Say what the smoothed reliability curve shows."""
    found, n_samples = side.smooth, side.event.n_samples
    # The kernel is as wide as the error itself, unless that is too small.
    apart = detected_points(found.bandwidth, n_samples)
    most = "at most " if found.bandwidth < 1.01 * LEAST_BANDWIDTH else ""
    if expert:
        band = found.confidence
        return (
            f"Smooth ECE {most}{apart}, which is the bandwidth of the reflected Gaussian kernel."
            " Kernel means of scores and of hits; pale where the density of scores is low. Shaded:"
            f" pointwise {_percent_of(band)} bootstrap band of the smoothed curve, no narrower than"
            f" Wilson's interval ({_resamples(band)})."
        )
    return (
        f"The lines are {most}{apart} apart, averaged over the rows (smooth ECE). Each point"
        f" averages the rows within about {apart}; where few are near, the lines are pale. Shaded:"
        f" where the smoothed curve truly lies. {_drawn(found.confidence)}"
    )


def _drawn(band: Band) -> str:
    """Say how often a band holds the curve, and what it was drawn from."""
    return f"Bands hold at each score in about {of_100(band.level)} cases ({_resamples(band)})."


def _resamples(band: Band) -> str:
    return f"{band.n_resamples:,} resamples, seed {band.seed}"


def _percent_of(band: Band) -> str:
    return f"{100 * band.level:.0f}%"


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
