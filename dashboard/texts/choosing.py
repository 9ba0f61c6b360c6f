"""Words on what each calibrator keeps and needs, and on which to choose."""

from collections.abc import Sequence
from typing import NamedTuple

from calibcore.calibrators import CATALOGUE, Method
from calibcore.comparison import Contestant
from dashboard.settings import Settings, method_by_key
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import measured
from dashboard.texts.rows import rows_of

TITLE = "What each calibrator keeps and needs"
GUIDELINE = "Guideline of Zhang 2020, section 5.2"
ADD = "Compare these three"
HEADS = ("Calibrator", "Accuracy and order of classes", "Fits")
ONE_SCORE = (
    "The guideline is for the probabilities of all classes. This file has one score per row, so"
    " calibrators of the event are offered; all of them keep predicted classes."
)
TABLE_NOTE = (
    "Order: of the classes in each row. Curves: splines, histograms or steps. Rows per curve or"
    " number: all calibration rows, divided by how many are fitted. Under 10 rows per number,"
    " overfitting is likely unless a penalty holds the numbers (Peduzzi 1996, logistic"
    " regression). The page **Data needed** measures it for this model."
)

ETS, IRM, IROVA_TS = "ensemble_temperature", "pooled_isotonic", "temperature_isotonic"
PATH = (ETS, IRM, IROVA_TS)
"""Keys of the guideline's calibrators, in its order."""

_MANY = 10
_STEPS = {
    ETS: "**In general:** {name}.",
    IRM: "**If its form does not suit the data:** {name}. Both keep accuracy, so calibration gain"
    " compares them.",
    IROVA_TS: "**If the calibration set is large and accuracy may change:** {name}.",
}


class Line(NamedTuple):
    """One calibrator in the table."""

    name: str
    acts_on: str
    keeps: str
    fits: str
    each: str


def size(method: Method, n_classes: int) -> str:
    """Return what a fit determines."""
    count = method.fits.count(n_classes)
    kind = method.fits.kind if count > 1 else method.fits.kind.removesuffix("s")
    return f"{count:,} {kind}"


def unpenalised(settings: Settings, n_classes: int, n_rows: int) -> str:
    """Return that nothing holds more numbers than the rows can tell, for Markdown; else nothing.

    >>> from calibcore.events import TopR
    >>> loose = Settings(TopR(1), "matrix", (("penalty", "none"),))
    >>> unpenalised(loose, 100, 2_000)[:66]
    'Matrix scaling without penalty fits 10,100 numbers to 2,000 rows, '
    >>> unpenalised(loose, 10, 5_000), unpenalised(Settings(TopR(1), "matrix"), 100, 2_000)
    ('', '')
    """
    if dict(settings.options).get("penalty") != "none":
        return ""
    method = method_by_key(settings.method)
    count = method.fits.count(n_classes)
    if n_rows >= _MANY * count:
        return ""
    return (
        f"{method.name} without penalty fits {count:,} numbers to {rows_of(n_rows)}, so overfitting"
        " is likely: on new rows it can be far worse than uncalibrated scores. A penalty prevents"
        " that."
    )


def about(method: Method, n_classes: int) -> str:
    """Return what a calibrator keeps and what it fits, in two sentences."""
    if method.preserves_accuracy:
        text = "Keeps predicted classes and the order of the classes in a row."
    else:
        text = "Predicted classes and accuracy can change."
    return f"{text} Fits {size(method, n_classes)}."


def table(keys: Sequence[str], n_classes: int, n_rows: int) -> list[Line]:
    """Return what each calibrator keeps and needs, for that many classes and calibration rows."""
    lines = []
    for method in (one for one in CATALOGUE if one.key in keys):
        each = n_rows / method.fits.count(n_classes)
        few = ", few" if method.fits.kind == "numbers" and each < _MANY else ""
        per = f"{each:,.0f}" if each >= _MANY else f"{each:.1f}"
        lines.append(
            Line(
                method.name,
                "the event" if method.acts_on == "event" else "all classes",
                "kept" if method.preserves_accuracy else "can change",
                size(method, n_classes),
                f"{per} rows per {method.fits.kind.removesuffix('s')}{few}",
            )
        )
    return lines


def path(contestants: Sequence[Contestant], n_rows: int, n_classes: int) -> list[str]:
    """Return the steps of the guideline, each with what holds for the data shown.

    The calibrator with the lowest Brier score of all classes in cross-validation is marked, where
    all three were compared; among those that keep accuracy that is the larger calibration gain.
    """
    by_key = {one.key: one for one in contestants if one.key in PATH}
    best = None
    if len(by_key) == len(PATH):
        best = min(PATH, key=lambda key: _of(by_key[key], "brier")[0])
    steps = []
    for key in PATH:
        text = _STEPS[key].format(name=method_name(key))
        if key == IROVA_TS:
            text = f"{text} Here: {n_rows:,} rows, {n_rows / n_classes:,.0f} per class."
        if key in by_key:
            text = f"{text} {_figures(by_key[key])}"
        steps.append(f"{text} :green-badge[Lowest Brier score here]" if key == best else text)
    return steps


def _figures(one: Contestant) -> str:
    """Return what cross-validation found of a calibrator of the guideline."""
    text = f"Brier score {_of(one, 'brier')[1]}"
    if one.key != IROVA_TS:
        return f"Calibration gain {_of(one, 'calibration_gain')[1]}, {text}."
    row = one.crossed.compare("accuracy")
    was, now = (measured(row, value, one.crossed.n_samples) for value in (row.before, row.after))
    return f"{text}, accuracy {was} \u2192 {now}."


def _of(one: Contestant, key: str) -> tuple[float, str]:
    row = one.crossed.compare(key)
    value = float("inf") if row.after is None else row.after
    return value, measured(row, row.after, one.crossed.n_samples)
