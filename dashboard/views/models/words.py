"""Several models: which is best calibrated before, and what remains after calibration."""

import math
from collections.abc import Sequence

from calibcore.errors import CalibrationInputError
from calibcore.evaluation import SetResult, Side
from calibcore.inference import Finding, Mark
from calibcore.metrics import Measure
from calibcore.models import Plane
from calibcore.verdict import detected
from dashboard.scene import WHOLE_SET
from dashboard.settings import NO_METHOD, Settings
from dashboard.texts.classes import shortened
from dashboard.texts.glossary import OPTIONS
from dashboard.texts.measures import MARKS, SPELLED
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import (
    amount,
    difference,
    escape_markdown,
    finer_digits,
    listing,
    measured,
    p_words,
    percent,
    pp,
    span,
)
from dashboard.texts.refusal import refusal
from dashboard.texts.rows import rows, rows_of
from dashboard.texts.tiles import raised_nll
from dashboard.texts.verdict import across_half

SAMPLES, FILES = "Compare with", "Files of further models"
SAMPLES_HELP = "Examples with the same test labels."
FILES_HELP = (
    "One file per model, with labels: the same rows as in the first file, in the same order or with"
    " a column of row IDs. Each model is calibrated on its own calibration rows."
)
NO_MATES = (
    "No other example has the same test labels. The Fashion CNN examples share theirs. Or"
    " choose **Your file** on the left and upload one file per model."
)
MATES_LINK = "Compare the Fashion CNN examples"
NO_FILES = (
    "Upload the file of at least one further model: the same rows, in the same order or with a"
    " column of row IDs, with the same labels."
)
COLUMNS, COLUMNS_PLACE = "Further scores of this file", "Choose columns"
COLUMNS_HELP = (
    "Columns of the same file that may be scores, each read as the score of a further model."
)
NO_SAMPLES = "Choose at least one example to compare with."
UNCHECKED = (
    "These files have one score per row and no labels, so only the number of rows is checked. Make"
    " sure that they hold the same rows in the same order."
)
BOTH_SETS = "Models are evaluated on the test set, whose rows they share, whatever set is chosen."
TABLE, PLANE, PICTURES = "Measures", "Miscalibration and discrimination", "Reliability diagrams"
SIDES = ("before", "after")
MEASURES, MEASURES_HELP = "Measures", "Columns of the table. Accuracy is always shown."
INTERVALS = "Differences with 95% CI"
INTERVALS_HELP = (
    "Difference of each model from the first. It takes some seconds per model; switch it off to"
    " stop."
)
DIFFERENCES = "Difference from {name}"


def working_on(name: str, method: str) -> str:
    """Return what is being fitted."""
    return f"{shortened(name)}: fitting and evaluating {method_name(method)}"


def comparing(name: str) -> str:
    """Return whose differences are being resampled."""
    return f"{shortened(name)}: 95% CI of the differences"


def fits_cost(n_models: int, method: str) -> str:
    """Return what is to be fitted, at the start of a sentence."""
    models = "1 further model" if n_models == 1 else f"{n_models} further models"
    return f"Fitting {method_name(method)} to {models}"


def refused(name: str, error: CalibrationInputError) -> str:
    """Return why a model is left out, for Markdown."""
    shown = escape_markdown(shortened(name))
    return f"{shown} cannot be compared with the first model. {refusal(error)}"


def conclusion(
    names: Sequence[str], results: Sequence[SetResult], method: str, *, expert: bool
) -> str:
    """Return what remains after calibration, then which model has the lowest KS error.

    It is not called best: whether a difference is clear is said by the differences.

    ``names``, ``results``: of the models; names are escaped here. ``method``: key of the
    calibrator. ``expert``: whether p-values are named.
    """
    rows = results[0].n_samples

    def lowest(sides: Sequence[Side]) -> str:
        texts = [percent(one.curves.ks_error, rows) for one in sides]
        least = texts[min(range(len(sides)), key=lambda k: sides[k].curves.ks_error)]
        best = [k for k, text in enumerate(texts) if text == least]
        shown = listing([escape_markdown(shortened(names[k])) for k in best])
        p_value = f", {p_words(sides[best[0]].curves.ks_p_value)}"
        each = " each" if len(best) > 1 else ""
        return f"{shown} ({least}{each}{p_value if expert and not each else ''})"

    first = lowest([one.before for one in results])
    if method == NO_METHOD:
        return f"Lowest KS error: {first}."
    last = lowest([one.after for one in results])
    text = _after(names, results, method)
    return f"{text} Lowest KS error before: {first}; after: {last}."


NAMED = 2
"""Models that the headline names at most."""


def _after(names: Sequence[str], results: Sequence[SetResult], method: str) -> str:
    """Return which models are still off after calibration, and how far."""
    rows, after = results[0].n_samples, [one.after.curves for one in results]
    low, high = (percent(end(one.ks_error for one in after), rows) for end in (min, max))
    errors = f"KS error {low} each" if low == high else f"KS errors {span(low, high)}"
    off = [
        escape_markdown(shortened(name))
        for name, one in zip(names, results, strict=True)
        if detected(one.after)
    ]
    text = f"After {method_name(method)}: {still_off(off, len(after))}, {errors}"
    rights = [one.compare("accuracy").after for one in results]
    known = [right for right in rights if right is not None]
    if len(known) < len(rights):
        return f"{text}."
    return f"{text}; accuracies differ by up to {pp(max(known) - min(known), rows)}."


def still_off(off: Sequence[str], n_models: int) -> str:
    """Return in which models miscalibration is still detected, by name where they are few."""
    if not off:
        return "no miscalibration detected"
    which = f"{len(off)} of {n_models} models"
    if len(off) == n_models:
        which = "both models" if n_models == 2 else f"all {n_models} models"
    elif len(off) <= NAMED:
        which = f"{listing(off)} ({len(off)} of {n_models})"
    return f"miscalibration still detected in {which}"


def certain_note(
    names: Sequence[str], results: Sequence[SetResult], settings: Settings
) -> tuple[str, str]:
    """Return how many models got wrong predictions at 0% or 100%, and which; or nothing."""
    raised = [(name, raised_nll(one)) for name, one in zip(names, results, strict=True)]
    lines = [f"**{escape_markdown(shortened(name))}**: {text}." for name, text in raised if text]
    if not lines:
        return "", ""
    have = "has" if len(lines) == 1 else "have"
    what = (
        f"{len(lines)} of {len(raised)} models now {have} wrong predictions at 0% or 100%, and a"
        " higher NLL."
    )
    loose = settings.method == "spline" and dict(settings.options).get("constrained") is not True
    cure = f" Turn on **{OPTIONS['spline', 'constrained'][0]}**." if loose else ""
    return what + cure, "\n\n".join(lines)


def half_note(results: Sequence[SetResult]) -> str:
    """Return what accuracy after calibration is of, where scores cross 50%."""
    most = max(one.past_half or 0 for one in results)
    if not most:
        return ""
    return f" Up to {across_half(most)}, but predicted classes are not updated."


TABLE_HELP = (
    "Higher is better for accuracy and discrimination; lower for the rest. Figures written alike"
    " count as equal. Each model is calibrated on its own calibration rows. \u2013: not available."
)


def table_note(n_rows: int, *, calibrated: bool, in_folds: bool) -> str:
    """Return what the figures of the table are."""
    lines = " Upper figure: before calibration; lower: after." if calibrated else ""
    crossed = ", cross-validated" if calibrated else ""
    of = f"the {WHOLE_SET}{crossed}" if in_folds else "the test set"
    return f"{rows_of(n_rows)} of {of}.{lines} **Bold**: best; underlined: second best."


def differences_note(n_resamples: int, *, expert: bool) -> str:
    """Return how the differences are found."""
    how = (
        f"paired bootstrap, {n_resamples:,} resamples; MOVER for calibration errors"
        if expert
        else f"{n_resamples:,} resamples of the same {rows()}"
    )
    return (
        f"Each model minus the first, with 95% CI ({how}). The intervals are not adjusted for"
        " several comparisons."
    )


_OF_DIFFERENCES: dict[Mark, str] = {
    "no evidence": "no clear difference",
    "moved": "different, not clearly better",
}
"""What marks say of two models, where that is something else."""


def difference_cell(finding: Finding, measure: Measure, rows: int) -> tuple[str, str, str, str]:
    """Return a difference from the first model: value, interval, the word for it, and its kind."""
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
    unit = " pp" if measure.unit == "share" else ""
    if finding.mark is None:
        return f"{value}{unit}", span(low, high), "", "none"
    sign, word = MARKS[finding.mark]
    term = _OF_DIFFERENCES.get(finding.mark, word)
    return f"{value}{unit}", span(low, high), f"{sign} {term}", finding.mark.replace(" ", "-")


def plane_caption(plane: Plane, names: Sequence[str], *, calibrated: bool) -> str:
    """Return what the plane shows here."""
    scores = [f"{score:.3f}" for score in plane.brier[:, 1 if calibrated else 0]]
    shown = (escape_markdown(shortened(name)) for name in names)
    best = listing([one for one, score in zip(shown, scores, strict=True) if score == min(scores)])
    when = " after calibration" if calibrated else ""
    return f"Lowest Brier score{when}: {best}, {min(scores)}."


def errors_caption(*, calibrated: bool) -> str:
    """Return how the picture of KS errors is read."""
    moved = " Each line leads from before to after calibration." if calibrated else ""
    return f"Further left is better calibrated.{moved} KS error: {SPELLED['KS error']}."


def plane_help(plane: Plane, *, expert: bool) -> str:
    """Return how to read the plane."""
    text = "Left: better calibrated. Up: better discrimination. Dotted: equal Brier score."
    if expert:
        text += " CORP: miscalibration \u2212 discrimination + uncertainty, by isotonic regression."
    if not plane.shared:
        text += (
            " The models are correct on different rows, so their uncertainties differ."
            " Drawn is discrimination at equal uncertainty, the first model's; its order may differ"
            " from that of discrimination in the table."
        )
    return text


def picture_line(results: SetResult, *, calibrated: bool) -> str:
    """Return what stands over the picture of a model."""
    row, rows = results.compare("ks_error"), results.n_samples
    was, now = measured(row, row.before, rows), measured(row, row.after, rows)
    if not calibrated or was == now:
        return f"KS error {was}"
    return f"KS error {was.removesuffix('%')} \u2192 {now}"


def picture_choices(*, calibrated: bool) -> dict[str, str]:
    """Return how the diagrams can be drawn, by the word in the address."""
    if not calibrated:
        return {"small": "Small", "before": "With histograms"}
    return {
        "small": "Small, before and after",
        "before": "With histograms, before",
        "after": "With histograms, after",
    }


PICTURES_NOTE = "Error bars: 95% CI. Below the diagonal, scores are too high."
