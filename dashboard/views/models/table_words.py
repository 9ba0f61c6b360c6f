"""Words of the table of models by calibrators."""

from collections.abc import Sequence

from calibcore.metrics import EventMeasure, Measure
from calibcore.metrics.measure import ChangeMeasure, Unit
from dashboard.settings import NO_METHOD, method_by_key, method_of
from dashboard.texts.classes import shortened
from dashboard.texts.glossary import SHORT_NAMES
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import duration, escape_markdown
from dashboard.texts.rows import rows_of

VIEW = "Compare"
VIEWS = {
    "same": "Models on the same rows",
    "table": "Table: models \u00d7 calibrators",
    "series": "Series",
}
VIEW_HELP = (
    "On the same rows: one calibrator, with differences and diagrams. Table: several calibrators"
    " fitted to each model by one measure, as in the papers; the models may be of other rows."
    " Series: networks that differ in one number, such as checkpoints by epoch, before and after"
    " temperature scaling."
)

SAMPLES, SAMPLES_HELP = "Further models", "Any examples; each is calibrated on its own rows."
FILES_HELP = (
    "One file per model, with labels. Each model is calibrated on its own calibration set and"
    " evaluated on its own test set; a file with one set is cross-validated."
)
MEASURE, MEASURE_HELP = ("Measure", "What stands in the cells, after calibration.")
INTERVALS = "95% CI"
INTERVALS_HELP = (
    "Adds the 95% CI of each value, and marks values that a perfectly calibrated model may well"
    " show. It takes about a second per cell."
)
SPLITS = "Random splits"
SPLITS_HELP = (
    "0: each file\u2019s own calibration and test set. Otherwise both sets are pooled and split at"
    " random so many times, with the same sizes; the table shows mean and standard deviation."
)
FILTERED = "The filter does not apply to this table: all rows of each model are evaluated."
NO_COMPARISON = "Choose at least one calibrator."

_MOST_NAMED = 3
"""Calibrators that are named, of those that are best for some model."""

_PRINTED = {
    NO_METHOD: "Uncal.", "temperature": "TS", "ensemble_temperature": "ETS", "vector": "VS",
    "matrix": "MS", "dirichlet": "Dir.", "temperature_isotonic": "IROvA-TS",
    "gaussian_process": "GPC", "one_vs_rest_histogram": "Hist.", "one_vs_rest_bbq": "BBQ",
}  # fmt: skip
"""As the papers head their columns, which are narrow; else as graphs name calibrators."""

MARKS = "Bold: best of the row; underlined: second best"

_UNITS: dict[Unit, str] = {"share": " (%)", "nats": " (nats)"}


def heading(measure: Measure, event: str) -> str:
    """Return what stands in the cells, with its unit; plain text."""
    unit = " (%)" if in_percent(measure) else _UNITS.get(measure.unit, "")
    if isinstance(measure, EventMeasure):
        return f"{event}: {measure.name}{unit}"
    whose = ", all classes" if isinstance(measure, ChangeMeasure) else ""
    return f"{measure.name}{whose}{unit}"


def in_percent(measure: Measure) -> bool:
    """Return whether the table has a measure in percent: shares, and a gain as Zhang 2020."""
    return measure.unit == "share" or _is_gain(measure)


def _is_gain(measure: Measure) -> bool:
    return isinstance(measure, ChangeMeasure) and measure.unit == "squared"


def gain_note(measure: Measure, keys: Sequence[str]) -> str:
    """Return of which calibrators the gain is a lower bound; plain text, nothing if of none."""
    if not _is_gain(measure):
        return ""
    changing = [
        method_name(key)
        for key in keys
        if key != NO_METHOD and not method_by_key(key).preserves_accuracy
    ]
    if not changing:
        return ""
    return (
        "A lower bound of the gain, so that ranks may mislead, for calibrators that can change"
        f" predicted classes (Zhang 2020, section 4.2): {', '.join(changing)}."
    )


def short_names(keys: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return names of columns for print, and what they stand for."""
    plain = [_PRINTED.get(method_of(key), SHORT_NAMES[method_of(key)]) for key in keys]
    names = [
        name if plain.count(name) == 1 else f"{name} {plain[: place + 1].count(name)}"
        for place, name in enumerate(plain)
    ]
    full = map(method_name, keys)
    lines = [f"{name}: {long}" for name, long in zip(names, full, strict=True) if name != long]
    return tuple(names), f"{'; '.join(lines)}." if lines else ""


def working_on(model: str, key: str) -> str:
    """Return what is being fitted."""
    return f"{escape_markdown(shortened(model))}: {method_name(key)}"


def cost(n_models: int, n_calibrators: int) -> str:
    """Return what is to be computed, at the start of a sentence."""
    models = "1 model" if n_models == 1 else f"{n_models} models"
    calibrators = "1 calibrator" if n_calibrators == 1 else f"{n_calibrators} calibrators"
    return f"The table of {models} and {calibrators}"


def incomplete(n_missing: int, seconds: float) -> str:
    """Return that cells are missing."""
    cells = "1 cell is" if n_missing == 1 else f"{n_missing} cells are"
    return f"{cells} not computed yet ({duration(seconds)})."


def row_size(
    n_fit: int, n_test: int, n_classes: int, *, in_folds: bool, again: bool = False
) -> str:
    """Return on how many rows a model was calibrated and evaluated; or split again and again."""
    classes = f", {n_classes:,} classes" if n_classes else ""
    if in_folds:
        return f"{rows_of(n_test)}{'' if again else ', cross-validated'}{classes}"
    return f"{n_fit:,} calibration, {n_test:,} test{classes}"


def best_sentence(wins: Sequence[tuple[str, int]], n_models: int, measure: Measure) -> str:
    """Return which calibrators are best, of how many models.

    ``wins``: each calibrator that is best somewhere, and for how many models. ``n_models``: Models
    with a best calibrator. ``measure``: by which.
    """
    if not wins:
        return ""
    word = {"lower": "Lowest", "higher": "Highest"}.get(measure.better, "Nearest to ideal")
    ordered = sorted(wins, key=lambda one: -one[1])
    lines = [
        f"{method_name(key)} for {count} of {n_models}" for key, count in ordered[:_MOST_NAMED]
    ]
    models = "model" if n_models == 1 else "models"
    return f"{word} {measure.name}: {', '.join([f'{lines[0]} {models}', *lines[1:]])}."


def note(
    measure: Measure,
    *,
    splits: tuple[int, int],
    in_folds: bool,
    intervals: bool,
    level: bool,
    marked: bool,
) -> str:
    """Return what the figures are and what the marks mean; plain text.

    ``measure``: what stands in the cells. ``splits``: repeated random splits, and the fewest that a
    cell could be fitted in; 0 for none yet. ``in_folds``: whether any model has one set, which is
    cross-validated. ``intervals``: whether 95% CIs are shown. ``level``: whether any value is
    marked as level. ``marked``: whether the measure has a better direction, so that the best of a
    row is marked.
    """
    lines = ["Test sets, after a fit to each model\u2019s calibration set."]
    n_splits, least = splits
    if n_splits:
        lines = [f"Mean \u00b1 standard deviation over {n_splits} random splits."]
        if 0 < least < n_splits:
            lines.append(f"Not all could be fitted everywhere: a cell has at least {least}.")
    elif in_folds:
        lines.append("Of models with one set: cross-validation on it.")
    if intervals:
        lines.append("Small or in brackets: 95% CI.")
    better = {"lower": "lower is better", "higher": "higher is better"}.get(
        measure.better, "nearest to ideal is better"
    )
    if marked:
        lines.append(f"{MARKS} ({better}).")
    if level:
        lines.append("\u00b0: a perfectly calibrated model may well show this value.")
    return " ".join(lines)


TABLE_HELP = (
    "As in Gupta 2021, Guo 2017 and Vasilev 2023: one row per model, one column per calibrator."
    " Figures written alike count as equal. \u00b0: not beyond the 95% limit if perfectly"
    " calibrated. \u2013: not available; a calibrator of the selected event alone leaves no class"
    " probabilities."
)


def refused(model: str, key: str, reason: str) -> str:
    """Return why a cell is empty, for Markdown."""
    return f"{escape_markdown(shortened(model))}, {method_name(key)}: {escape_markdown(reason)}"


def refused_title(n_refused: int) -> str:
    """Return the heading of the list of cells that could not be computed."""
    return f"Not available ({n_refused})"
