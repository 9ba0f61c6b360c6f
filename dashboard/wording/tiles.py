"""The four large figures, and the notes under them and under the table."""

from dataclasses import dataclass
from typing import Literal

from calibcore.evaluation import Comparison, SetResult
from calibcore.inference import Inference
from dashboard.wording.glossary import GLOSSARY
from dashboard.wording.numbers import MINUS, SPACE, measured, measured_change, percent


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
    note = "no decision changes"
    if judged.changed_decisions:
        note = f"{judged.changed_decisions:,} decisions change"
    return (
        *(_tile(judged.compare(key), n_samples) for key in ("ks_error", "ece", nll)),
        Tile("Accuracy", _before_after(accuracy, n_samples), note, GLOSSARY["accuracy"], "gray"),
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


def uncertainty_note(inference: Inference) -> str:
    """Say what the small figures of the table are."""
    plan = inference.plan
    return (
        f"Small figures: where the true value lies, with {100 * plan.level:.0f}{SPACE}% confidence"
        f" ({plan.n_resamples:,} resamples of the rows, seed {plan.seed}; the calibrator is taken"
        " as given). Noise lengthens every distance from perfect calibration, so such a value can"
        " lie above its interval. A perfect model: what scores like those after calibration would"
        " show if they were the true probabilities."
    )


def table_note(judged: SetResult) -> str:
    """Say what the table's dashes and figures mean."""
    text = (
        "Accuracy, discrimination and AUROC are better higher, errors and losses lower. A name"
        " opens its definition."
    )
    if any(row.after is None and row.before is not None for row in judged.comparisons):
        text += (
            " \u2013: this calibrator changes the score of the event alone, so there are no class"
            " probabilities to measure afterwards."
        )
    elif any(row.before is None for row in judged.comparisons):
        text += " \u2013: needs the probabilities of all classes, which this file does not hold."
    return text
