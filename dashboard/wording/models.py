"""Several models side by side: which is better calibrated as trained, and what remains after."""

import math
from collections.abc import Sequence

from calibcore.evaluation import SetResult
from calibcore.inference import Finding
from calibcore.metrics import Measure
from calibcore.pairs import Plane
from dashboard.settings import NO_METHOD, Settings
from dashboard.wording.certainty import raised_nll
from dashboard.wording.classes import shortened
from dashboard.wording.measures import MARKS
from dashboard.wording.numbers import (
    amount,
    difference,
    escape_markdown,
    finer_digits,
    measured,
    p_words,
    percent,
    points,
)
from dashboard.wording.sentences import across_half, method_name

SAMPLES, FILES = "Set beside it", "Files of further models"
SAMPLES_HELP = "Samples of the same rows: their test labels are the same."
FILES_HELP = (
    "One file a model, with its labels: the same rows in the same order as in the first one. Each"
    " model is calibrated on its own calibration set."
)
NO_MATES = (
    "No other sample has the test labels of this one, so there is nothing to set beside it. The"
    " three samples called Fashion CNN are models of the same rows; or choose **Your file** on the"
    " left and bring the files of several models."
)
NO_FILES = (
    "Bring the file of at least one further model: the same rows in the same order, with the same"
    " labels."
)
NO_SAMPLES = "Choose at least one sample to set beside this one."
UNCHECKED = (
    "These files hold one score a row and no labels, so only the number of rows can be compared:"
    " make sure that they are the same rows in the same order."
)
BOTH_SETS = (
    "This page always judges on the test set, whose rows all models share. The choice of the set on"
    " the left does not change it."
)
TABLE, PLANE, PICTURES = "Measures", "Miscalibration and discrimination", "Reliability"
MEASURES, MEASURES_HELP = "Measures", "Columns of the table. Accuracy is always there."
INTERVALS = "Intervals of the differences"
INTERVALS_HELP = (
    "How sure each difference from the first model is. It takes some seconds a model; switch it off"
    " to stop."
)
NO_RESAMPLES = "Intervals need resamples; the panel on the left is set to 0."
DIFFERENCES = "Difference from {name}"


def working_on(name: str, method: str) -> str:
    """Say what is being fitted."""
    return f"{shortened(name)}: {method_name(method)}, fitting and judging"


def comparing(name: str) -> str:
    """Say whose difference is looked into."""
    return f"{shortened(name)}: how sure its differences are"


def fits_cost(n_models: int, method: str) -> str:
    """Say what is to be fitted, at the start of a sentence."""
    models = "1 further model" if n_models == 1 else f"{n_models} further models"
    return f"Fitting {method_name(method)} to {models}"


def refused(name: str, reason: str) -> str:
    """Say why a model is left out, for Markdown."""
    shown = escape_markdown(shortened(name))
    return f"{shown} cannot be set beside the first model. {escape_markdown(reason)}"


def conclusion(
    names: Sequence[str], judged: Sequence[SetResult], method: str, *, expert: bool
) -> str:
    """Say which model is better calibrated as trained, and what remains after calibrating all.

    Parameters
    ----------
    names, judged : sequence
        Of the models; names are escaped here.
    method : str
        Key of the calibrator.
    expert : bool
        Whether p-values are named.
    """
    shown = [escape_markdown(shortened(name)) for name in names]
    before = [one.before.curves for one in judged]
    rows = judged[0].n_samples
    texts = [percent(one.ks_error, rows) for one in before]
    if expert:
        texts = [
            f"{text} ({p_words(one.ks_p_value)})" for text, one in zip(texts, before, strict=True)
        ]
    order = sorted(range(len(before)), key=lambda k: before[k].ks_error)
    best, *others = order
    against = _listed([f"{texts[k]} of {shown[k]}" for k in others])
    if percent(before[best].ks_error, rows) == percent(before[others[0]].ks_error, rows):
        alike = _listed([f"{texts[k]} of {shown[k]}" for k in order])
        first = f"As trained, no model has the smallest KS error alone: {alike}."
    else:
        first = (
            f"As trained, {shown[best]} has the smallest KS error, {texts[best]} against {against}."
        )
    return f"{first} {_after(judged, method)}"


def certain_note(names: Sequence[str], judged: Sequence[SetResult], settings: Settings) -> str:
    """Name models with new predictions that are certain and wrong, and a worse NLL; or nothing."""
    kept = settings.method != "spline" or dict(settings.options).get("constrained") is True
    cure = "" if kept else " Switch on **Keep within 0 to 100%** on the left."
    found = [(name, raised_nll(one)) for name, one in zip(names, judged, strict=True)]
    told = [f"**{escape_markdown(shortened(name))}**: {text}." for name, text in found if text]
    return f"**Mind certainty after calibration.** {' '.join(told)}{cure}" if told else ""


def half_note(judged: Sequence[SetResult]) -> str:
    """Say what accuracy after calibration rests on, where scores speak against decisions."""
    most = max(one.past_half or 0 for one in judged)
    if not most:
        return ""
    return (
        f" Up to {across_half(most)}; accuracy is still that of decisions taken from the scores"
        " before calibration."
    )


def _after(judged: Sequence[SetResult], method: str) -> str:
    if method == NO_METHOD:
        return "No calibrator is chosen, so nothing follows."
    rows = judged[0].n_samples
    errors = [one.after.curves.ks_error for one in judged]
    low, high = percent(min(errors), rows), percent(max(errors), rows)
    left = f"{low} each" if low == high else f"{low.removesuffix('%')} to {high}"
    text = f"After {method_name(method)} on each, KS errors of {left} remain"
    rights = [one.compare("accuracy").after for one in judged]
    known = [right for right in rights if right is not None]
    if len(known) < len(rights):
        return f"{text}."
    apart = max(known) - min(known)
    return f"{text}, and accuracies that are {points(apart, rows)} apart."


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def table_note(n_rows: int, *, calibrated: bool) -> str:
    """Say what the figures of the table are."""
    figures = (
        "Upper figure: as trained. Lower: after the chosen calibrator, fitted to each model on its"
        " own calibration set. "
        if calibrated
        else "As trained. "
    )
    return (
        f"{figures}All on the same {n_rows:,} rows of the test set. **Best** in bold, second best"
        " underlined, in each of the two by itself; figures written alike count as equal. Accuracy"
        " and discrimination are better higher, errors and losses lower. \u2013: not defined here."
    )


def differences_note(n_resamples: int, *, expert: bool) -> str:
    """Say how the differences are found."""
    how = (
        "paired bootstrap; of distances from calibration, MOVER of both intervals"
        if expert
        else "the same rows are drawn again with both models"
    )
    return (
        f"Each model less the first one, with its interval of 95% ({how}; {n_resamples:,}"
        " resamples). Each interval by itself: among many, some leave 0 out by chance."
    )


def difference_cell(finding: Finding, measure: Measure, rows: int) -> tuple[str, str, str, str]:
    """Write a difference from the first model: value, interval, the word for it, and its kind."""
    was, now, change = finding.before, finding.after, finding.change
    if was is None or now is None or change is None or math.isnan(change.low):
        return "\u2013", "", "", "none"
    finer = finer_digits(change, measure.unit, rows)
    value, low, high = (
        amount(one, measure.unit, rows, signed=True, finer=finer)
        for one in (
            difference(was.value, now.value, measure.unit, rows, change),
            change.low,
            change.high,
        )
    )
    unit = " points" if measure.unit == "share" else ""
    if finding.mark is None:
        return f"{value}{unit}", f"{low} to {high}", "", "none"
    sign, word = MARKS[finding.mark]
    said = "no evidence of a difference" if finding.mark == "no evidence" else word
    kind = finding.mark.replace(" ", "-")
    return f"{value}{unit}", f"{low} to {high}", f"{sign} {said}", kind


def plane_caption(plane: Plane, names: Sequence[str], *, calibrated: bool, expert: bool) -> str:
    """Say what the plane shows."""
    scores = [f"{score:.3f}" for score in plane.brier[:, 1 if calibrated else 0]]
    shown = (escape_markdown(shortened(name)) for name in names)
    best = _listed([one for one, score in zip(shown, scores, strict=True) if score == min(scores)])
    when = "after calibration" if calibrated else "as trained"
    text = f"Lowest Brier score {when}: {best}, {min(scores)}. Circle: as trained"
    text += "; dot: after calibration." if calibrated else "."
    text += (
        " Further left, the scores are truer; further up, they tell right from wrong better. Along"
        " a dotted line the Brier score of the event is the same."
    )
    if expert:
        text += " CORP: miscalibration \u2212 discrimination + uncertainty, by isotonic regression."
    if not plane.shared:
        text += (
            " The models are right on different rows, so their uncertainties differ. Discrimination"
            " is drawn adjusted, as if each had the uncertainty of the first model, so its order"
            " may differ from that of the table."
        )
    return text


def picture_line(judged: SetResult, *, calibrated: bool) -> str:
    """Say what stands over the picture of a model."""
    row, rows = judged.compare("ks_error"), judged.n_samples
    was, now = measured(row, row.before, rows), measured(row, row.after, rows)
    if not calibrated or was == now:
        return f"KS error {was}"
    return f"KS error {was.removesuffix('%')} \u2192 {now}"


PICTURES_NOTE = (
    "Across: mean score of a bin. Up: observed frequency, with its interval. Both from 0 to"
    " 100%; dotted: a perfect model; below it, the scores say too much."
)
