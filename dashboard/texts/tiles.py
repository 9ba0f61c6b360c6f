"""The four large figures, and the notes under them and under the table."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from calibcore.evaluation import Comparison, SetResult
from calibcore.inference import Fits, Inference, Mark
from calibcore.inference.refits import N_DRAWS
from calibcore.metrics import Measure
from calibcore.verdict import remains
from dashboard.texts.badges import LEFT
from dashboard.texts.measures import MARKS, MeasureRow, NumberText, finding_for, measure_rows
from dashboard.texts.numbers import (
    INFINITY,
    MINUS,
    ci,
    measured,
    measured_change,
    null_source,
    percent,
    pp,
)
from dashboard.texts.rows import rows_of, says_rows

Colour = Literal["green", "red", "gray"]

NOT_SEPARATION = "KS error measures calibration; the KS of credit scoring, separation."
"""Beside the KS error of one class, as credit scoring calls another figure KS."""

_COLOURS: dict[Mark | None, Colour] = {"better": "green", "worse": "red"}


def below_tiles(evaluated: SetResult, *, expert: bool = False) -> str:
    """Return the 95% limit of the KS error under perfect calibration."""
    n_samples = evaluated.n_samples
    before, after = (
        percent(side.curves.ks_null_95, n_samples) for side in (evaluated.before, evaluated.after)
    )
    limits = before if before == after else f"{before} (Before) or {after} (After)"
    text = (
        f"With perfect calibration, the KS error would stay below {limits} in at least 95% of"
        f" samples of {rows_of(n_samples)}."
    )
    if expert:
        source = null_source(evaluated.before.curves, evaluated.after.curves)
        text = f"{text[:-1]} ({source})."
    return text


@dataclass(frozen=True)
class Tile:
    """One of the large figures."""

    name: str
    value: str
    note: str
    definition: str
    """What stands in the tile, and its tooltip; the note is empty without a calibrator."""
    colour: Colour
    """How the note is coloured: as better, worse or neither."""
    interval: str = ""
    """Where the true values lie; empty while that is not known."""
    beside: str = ""
    """What the figure is to be compared with; empty for nothing."""


def mean_gap_line(evaluated: SetResult, inference: Inference | None = None) -> str:
    """Return the mean gap of each side with its interval, as far as that is known.

    Example: "Mean gap (score \u2212 observed): +0.2 pp (95% CI \u22120.4 to +0.8)."
    """
    row, known = evaluated.compare("mean_gap"), finding_for(inference, "mean_gap")
    sides = [("", row.before, known.before if known else None)]
    if evaluated.calibrated:
        sides = [("before ", *sides[0][1:]), ("after ", row.after, known.after if known else None)]
    parts = []
    for name, gap, uncertainty in sides:
        if gap is None:
            continue
        text = f"{name}{pp(gap, evaluated.n_samples, signed=True)}"
        if uncertainty is not None:
            ends = uncertainty.interval.low, uncertainty.interval.high
            low, high = (pp(end, evaluated.n_samples, signed=True) for end in ends)
            text += f" ({ci(low.removesuffix(' pp'), high.removesuffix(' pp'))})"
        parts.append(text)
    left = f" After calibration: {LEFT}." if remains(evaluated.before, evaluated.after) else ""
    return f"Mean gap (score \u2212 observed): {', '.join(parts)}.{left}"


def nll_key(evaluated: SetResult) -> str:
    """Return the key of the NLL: a score map leaves no class table, so it is the event's."""
    return "nll" if evaluated.compare("nll").after is not None else "event_nll"


def tiles(
    evaluated: SetResult, inference: Inference | None = None, *, of_class: bool = False
) -> tuple[Tile, ...]:
    """Return the four figures that matter most.

    ``evaluated``: the results on one set. ``inference``: what is known of the uncertainty; while it
    is not, no change is called better or worse. ``of_class``: whether the event is one class, of
    which the AUROC tells more than the accuracy.
    """
    last = "auroc" if of_class else "accuracy"
    keys = ("ks_error", "ece", nll_key(evaluated), last)
    measures = tuple(evaluated.compare(key).measure for key in keys)
    rows = measure_rows(evaluated, inference, measures)
    return tuple(
        replace(tile, beside=NOT_SEPARATION) if of_class and key == "ks_error" else tile
        for key, row in zip(keys, rows, strict=True)
        for tile in [_tile(evaluated.compare(key), row, evaluated)]
    )


def _tile(compared: Comparison, row: MeasureRow, evaluated: SetResult) -> Tile:
    note = _note(compared, row.mark, evaluated.n_samples)
    if not evaluated.calibrated:
        note = ""
    elif compared.measure.key == "accuracy":
        changed = evaluated.changed_decisions
        counted = f"{changed:,} predicted classes changed" if changed else "predictions unchanged"
        note = f"{counted}, {note}" if changed and row.mark in _COLOURS else counted
    return Tile(
        row.name,
        _before_after(compared, evaluated.n_samples),
        note,
        row.definition,
        _COLOURS.get(row.mark, "gray"),
        _between(row.before, row.after),
        commonest_class(evaluated) if compared.measure.key == "accuracy" else "",
    )


def commonest_class(evaluated: SetResult) -> str:
    """Return the accuracy of always predicting the commonest class; empty where it is not known."""
    if evaluated.commonest is None:
        return ""
    share = percent(evaluated.commonest, evaluated.n_samples)
    return f"Always the commonest class: {share} accuracy."


def _note(compared: Comparison, mark: Mark | None, n_samples: int) -> str:
    """Return what the table says of a change; while that is not known, the change itself."""
    if mark is not None:
        return " ".join(MARKS[mark])
    change = measured_change(compared, n_samples)
    return change if change.startswith(("+", MINUS)) else "unchanged"


def _between(before: NumberText, after: NumberText) -> str:
    """Return the intervals of both sides, once where they are the same or one is not known."""
    known = [shown.note for shown in (before, after) if shown.note]
    return " \u2192 ".join(dict.fromkeys(known))


def _before_after(row: Comparison, n_samples: int) -> str:
    """Return before and after, with the unit once."""
    before, after = measured(row, row.before, n_samples), measured(row, row.after, n_samples)
    if before == after:
        return before
    return f"{before.removesuffix('%')} \u2192 {after}"


@says_rows
def uncertainty_note(inference: Inference, *, expert: bool = False) -> str:
    """Return what the small print of the table means."""
    plan, fits = inference.plan, inference.fits
    drawn = f"{plan.n_resamples:,} resamples, seed {plan.seed}"
    if expert:
        return (
            f"Intervals of {100 * plan.level:.0f}%, {drawn}: percentile bootstrap of the"
            " rows, paired before and after, reflected for the slope and corrected for bias for"
            " discrimination; of AUROC, Newcombe's with DeLong's variance, and its change and that"
            " of discrimination lengthened where hits or misses are few; of shares, Wilson's; of"
            " distances from calibration, by inverting tests on labels drawn under several truths,"
            f" and of their change by MOVER. {_EXPERT_FITS[fits]} If perfectly calibrated:"
            " 95% limit over labels drawn from the scores after calibration, on both sides where a"
            " value in between is best; of the KS error, the limit of its test."
        )
    return (
        f"Small print: 95% CI ({plan.n_resamples:,} resamples). {_FITS[fits]} If perfectly"
        " calibrated: the limit that 95% of sets with scores like those after calibration keep."
    )


_UNKNOWN_CHANGES = (
    "Changes have no 95% CI: this calibrator's fits are too slow to repeat, or fail on resampled"
    " rows. With Evaluation set to Split, they have one."
)
_FITS: dict[Fits, str] = {
    "fixed": "The calibrator is held fixed.",
    "repeated": (
        "For changes, the calibrator is refitted on resampled rows, and the CI is moved by what"
        " that adds: the change may stand near one end of it."
    ),
    "unknown": _UNKNOWN_CHANGES,
}
_EXPERT_FITS: dict[Fits, str] = {
    "fixed": "The calibrator is held fixed.",
    "repeated": (
        "The folds' fits are held fixed; changes of losses and distances are then widened and"
        f" shifted by what refitting every fold adds in {N_DRAWS} resamples."
    ),
    "unknown": _UNKNOWN_CHANGES,
}
"""Of the calibrator while rows are resampled."""


def table_note(evaluated: SetResult, measures: Sequence[Measure]) -> str:
    """Return what the dashes and infinities of a table of some measures mean."""
    listed = [evaluated.compare(measure.key) for measure in measures]
    text = (
        "Higher is better for accuracy, discrimination, AUROC and calibration gain; lower for the"
        " rest."
    )
    if any(math.isinf(v) for row in listed for v in (row.before, row.after) if v):
        text += f" {INFINITY}: not finite (all outcomes equal, or scores separate them perfectly)."
    if any(row.after is None and row.before is not None for row in listed):
        text += " \u2013: not available; this calibrator adjusts only the selected event."
    elif any(row.before is None for row in listed):
        text += " \u2013: not available without the probabilities of all classes."
    return f"{text} {commonest_class(evaluated)}".rstrip()


def new_misses(evaluated: SetResult) -> float:
    """Return how many wrong scores of 0% or 100% calibration has added."""
    misses = evaluated.compare("certain_misses")
    return (misses.after or 0) - (misses.before or 0)


def in_the_nll(evaluated: SetResult, *, calibrated: bool) -> str:
    """Return how many wrong scores of 0% or 100% weigh on the NLL; "" where none does."""
    misses = evaluated.compare("certain_misses")
    sides = {"Before": misses.before, "After": misses.after if calibrated else None}
    text = "; ".join(f"{name}: {now_certain(n)}" for name, n in sides.items() if n)
    return text and f"{text}. In the NLL each counts 37 to 708 nats, divided by the number of rows."


def now_certain(n_misses: float) -> str:
    """Return how many predictions are wrong with a score of 0% or 100%."""
    rows = "prediction has" if n_misses == 1 else "predictions have"
    return f"{n_misses:,.0f} wrong {rows} a score of exactly 0% or 100%"


def raised_nll(evaluated: SetResult, mark: Mark | None = None) -> str:
    """Return that there are new wrong scores of 0% or 100% and a higher NLL; "" where not both.

    ``mark`` is that of the change of the NLL, as far as it is known.
    """
    row, n_samples, new = (
        evaluated.compare(nll_key(evaluated)),
        evaluated.n_samples,
        new_misses(evaluated),
    )
    was, now = measured(row, row.before, n_samples), measured(row, row.after, n_samples)
    if new <= 0 or was == now or (row.change or 0) <= 0:
        return ""
    clear = "" if mark is None else f", {MARKS[mark][1]}"
    return f"{now_certain(new)} ({row.measure.name} {was} \u2192 {now}{clear})"
