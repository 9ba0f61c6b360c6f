"""What the page of calibration maps says."""

from collections.abc import Iterable
from typing import NamedTuple

from calibcore.calibrators import CATALOGUE
from calibcore.events import OneClass, TopR
from calibcore.maps import Movement
from calibcore.sweeps import KnotSweep, TemperatureSweep
from dashboard.settings import NO_METHOD, ChosenEvent
from dashboard.wording.glossary import GLOSSARY
from dashboard.wording.numbers import percent, points
from dashboard.wording.sentences import method_name

SHORT_NAMES = {
    NO_METHOD: "Do nothing",
    "spline": "Spline",
    "temperature": "Temperature",
    "ensemble_temperature": "Ensemble T",
    "vector": "Vector",
    "matrix": "Matrix",
    "dirichlet": "Dirichlet",
    "structured_vector": "SVS",
    "structured_matrix": "SMS",
    "pooled_isotonic": "IRM",
    "one_vs_rest_isotonic": "IROvA",
    "temperature_isotonic": "T, isotonic",
    "one_vs_rest": "One vs rest",
    "per_rank": "Per rank",
    "beta_ensemble": "Beta mix",
    "gaussian_process": "Gaussian p.",
    "platt": "Platt",
    "beta": "Beta",
    "histogram": "Histogram",
    "isotonic": "Isotonic",
    "bbq": "BBQ",
    "venn_abers": "Venn-Abers",
}
"""Names of methods where there is little room, at most 12 letters."""

SCORE_MAPS = tuple(method.key for method in CATALOGUE if method.acts_on == "event")
USUAL_SCORE_MAPS = ("spline", "beta", "isotonic")

BESIDE = "Draw beside it"
BESIDE_HELP = (
    "Calibrators that act on the score of the event alone, so each is one curve. The one chosen on"
    " the left keeps its options; the others are fitted with their defaults."
)
CURVES = "From score to calibrated score"
TRIANGLE = "All three probabilities at once"
BY_HAND = "Set it by hand"
TEMPERATURE, KNOTS = "Temperature", "Knots of the spline"
HAND_T = "Temperature T, set by hand"
HAND_T_HELP = (
    "All logits are divided by T. Above 1 predictions become less sure, below 1 more so. Nothing"
    " is fitted here: the fitted T stays beside it."
)
HAND_KNOTS = "Knots, set by hand"
HAND_KNOTS_HELP = "A spline is fitted on the calibration set with so many knots."
SWEEPING_T, SWEEPING_KNOTS = "Measuring at many temperatures", "Fitting splines"

ENTROPY = (
    "How evenly a row's probability is spread over the classes, averaged over the rows: 0 where one"
    " class has all of it, most where all have the same."
)
ONLY_SCORES = (
    "A temperature needs the logits of all classes; this file holds only the score of one event."
)
FEW_ROWS = (
    "The calibration set has {n_rows:,} rows, and the smallest spline needs {least} of them, so"
    " there is nothing to draw here."
)
NO_CURVE = (
    "{name} acts on all class probabilities together, so the same score can become different ones:"
    " it is a cloud, not a curve. The curves beside it act on the score alone."
)
INSIDE = "Of {name} the curve is drawn before it makes each row sum to 1."
GRID_TITLE, ROWS_TITLE = "Every place of the triangle", "Rows of the {where}"


def not_drawn(keys: list[str]) -> str:
    """Say which calibrators could not be fitted."""
    names = ", ".join(method_name(key) for key in keys)
    return f"Not drawn, as the calibration set has too few rows: {names}."


def no_triangle(method: str, waiting: str | None = None) -> str:
    """Say why there are no arrows."""
    needed = "one that acts on all classes, such as temperature scaling"
    if waiting is not None:
        return f"{method_name(waiting)} is not fitted yet, so nothing moves here."
    if method == NO_METHOD:
        return f"No calibrator is chosen, so nothing moves here. Choose {needed}."
    return f"{method_name(method)} changes the score of the event alone. The arrows need {needed}."


def sweep_cost(n_rows: int, n_classes: int) -> str:
    """Open the sentence on what a sweep over temperatures takes."""
    return f"Measuring {n_rows:,} rows of {n_classes:,} classes at many temperatures"


def knots_cost(n_rows: int) -> str:
    """Open the sentence on what a sweep over knots takes."""
    return f"Fitting splines of many sizes on {n_rows:,} rows"


def fewer_knots(n_knots: int, n_rows: int) -> str:
    """Say that the rows do not allow what was asked for."""
    return f"{n_rows:,} calibration rows allow at most {n_knots} knots, one a row."


def temperature_columns(by_hand: float, fitted: float) -> tuple[str, str]:
    """Name the two temperatures of the table and of the diagrams."""
    return f"By hand, T = {by_hand:.3g}", f"Fitted, T = {fitted:.3g}"


def mark_names(fitted: float, by_hand: float, *, expert: bool) -> tuple[str, str]:
    """Name the two temperatures in a graph."""
    sign = "T\u0302" if expert else "fitted"
    return f"{sign} {fitted:.3g}", f"by hand {by_hand:.3g}"


def knots_mark(n_knots: int, by_hand: int) -> str:
    """Name a number of knots in a graph."""
    return f"by hand {n_knots}" if n_knots == by_hand else f"chosen {n_knots}"


def sweep_captions(*, expert: bool) -> dict[str, str]:
    """Say what each graph over the temperature shows."""
    if expert:
        return {
            "nll": "Mean negative log-likelihood of the true classes; convex in 1 / T.",
            "entropy": "Mean entropy of the predicted distributions; it rises with T, to ln K.",
            "ece": "Expected calibration error of the event, bins of equal width.",
        }
    return {
        "nll": "How surprised the predictions are by the truth: lower is better.",
        "entropy": "How undecided the predictions are: it rises with T, whatever the truth.",
        "ece": "How far scores are from observed frequencies: lower is better.",
    }


def row_names(event: ChosenEvent) -> tuple[str, str]:
    """Name rows where the event happened, and the others."""
    match event:
        case TopR(1):
            return "right", "wrong"
        case OneClass():
            return "of this class", "of another"
        case _:
            return "happened", "did not"


def movement_sentence(
    method: str, moved: Movement, where: str, *, expert: bool, waiting: str | None = None
) -> str:
    """Say how far a calibrator moves the scores of a set, or that it waits to be fitted."""
    if waiting is not None:
        return f"{method_name(waiting)} is not fitted yet, so every score stays as it is."
    if method == NO_METHOD:
        return "No calibrator is chosen, so every score stays as it is."
    n_rows, name = moved.n_samples, method_name(method)
    lowered, raised = moved.n_lowered / n_rows, moved.n_raised / n_rows
    if not moved.n_lowered and not moved.n_raised:
        return f"{name} leaves every score of the {where} as it is."
    mean = points(moved.mean_distance, n_rows)
    if lowered >= 0.995 or raised >= 0.995:
        what = f"{'lowers' if lowered > raised else 'raises'} nearly every score"
    elif min(lowered, raised) < 0.005:
        verb, share = ("lowers", lowered) if lowered > raised else ("raises", raised)
        what = f"{verb} {_of_100(share)} scores"
    else:
        what = f"lowers {100 * lowered:.0f} and raises {_of_100(raised)} scores"
    farthest = f"{percent(moved.score, n_rows)} to {percent(moved.calibrated, n_rows)}"
    text = f"{name} {what}, by {mean} on average; the farthest goes from {farthest} ({where})."
    if not expert:
        return text
    shift = points(moved.mean_shift, n_rows, signed=True)
    return f"{text} Mean of calibrated minus score: {shift}."


def _of_100(share: float) -> str:
    return f"{100 * share:.0f} of 100"


def falls_note(names: list[str], *, expert: bool) -> str:
    """Say whose curve falls somewhere; nothing where none does."""
    if not names:
        return ""
    who = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    if expert:
        return f"Not monotone: {who}, so the order of rows, and with it AUROC, can change."
    verb = "falls" if len(names) == 1 else "fall"
    return f"{who} {verb} in places: there a higher score becomes a lower one."


def map_caption(n_bins: int, where: str) -> str:
    """Say what the graph of the curves shows."""
    return (
        "Each line sends a score, below, to its calibrated score; on the dotted line nothing"
        f" changes. Diamonds: how often the event happened in each of {n_bins} bins of the {where},"
        " with the interval of that frequency (Wilson, 95 of 100)."
    )


def shift_caption(*, bins_left_out: bool) -> str:
    """Say what the graph of the moves shows."""
    text = (
        "The same lines, less the score: above the dotted line scores are raised, below it lowered."
        " A line through the diamonds would be right on these rows."
    )
    return f"{text} Bins with fewer than 1 in 100 rows have none." if bins_left_out else text


def cloud_caption(n_rows: int, n_shown: int, where: str) -> str:
    """Say what the cloud shows."""
    rows = f"all {n_rows:,} rows" if n_shown == n_rows else f"{n_shown:,} of {n_rows:,} rows"
    return (
        f"Each mark is a row of the {where}: across, its score before, upwards, its score after;"
        f" {rows}, at even steps of their order. On the dotted line nothing changes."
    )


def triangle_caption(n_arrows: int, *, grid: bool, where: str) -> str:
    """Say what the arrows of a triangle show."""
    start = f"{n_arrows} places, evenly spaced" if grid else f"{n_arrows} rows of the {where}"
    return (
        f"{start}: a dot where the three probabilities were, an arrow to where they are afterwards."
        " In a corner one class is certain; the dotted lines part the decisions."
    )


def entropy_words(*, expert: bool) -> str:
    """Name the mean entropy of the predictions."""
    return "Mean entropy (nats)" if expert else "How undecided (entropy, nats)"


def temperature_sentence(
    fitted: float, at_fitted: TemperatureSweep, at_one: TemperatureSweep, where: str
) -> str:
    """Say what the fitted temperature does."""
    if abs(fitted - 1) < 0.005:
        return "The fitted temperature is 1 to two digits: it leaves the predictions as they are."
    how = "less sure" if fitted > 1 else "surer"
    was, now = (f"{float(at.nll[0]):.3f}" for at in (at_one, at_fitted))
    change = f"stays {now}" if was == now else f"goes from {was} to {now}"
    return (
        f"The fit on the calibration set chose T = {fitted:.3g}, which makes every prediction"
        f" {how}: on the {where} the NLL {change}."
    )


def hand_sentence(
    chosen: float, at: TemperatureSweep, fitted: float, best: float, n_rows: int
) -> str:
    """Say what the temperature set by hand does."""
    side = "the same as" if chosen == fitted else "above" if chosen > fitted else "below"
    return (
        f"T = {chosen:.3g} is {side} the fitted {fitted:.3g}. It gives a KS error of"
        f" {percent(float(at.ks_error[0]), n_rows)} and an NLL of {float(at.nll[0]):.3f}; of all"
        f" temperatures in the graph, the NLL is least near {best:.2g}."
    )


class TableRow(NamedTuple):
    """A measure at two temperatures.

    Parameters
    ----------
    name, definition : str
        Of the measure.
    by_hand, fitted : str
        Its value at each.
    """

    name: str
    definition: str
    by_hand: str
    fitted: str


def temperature_rows(
    columns: tuple[TemperatureSweep, TemperatureSweep],
    accuracies: tuple[float | None, float | None],
    n_rows: int,
    *,
    expert: bool,
) -> list[TableRow]:
    """Write the small table of two temperatures, the one set by hand first."""

    def row(name: str, definition: str, written: Iterable[str]) -> TableRow:
        by_hand, fitted = written
        return TableRow(name, definition, by_hand, fitted)

    bins = columns[0].n_bins
    accuracy = ("\u2013" if value is None else percent(value, n_rows) for value in accuracies)
    return [
        row("NLL, all classes", GLOSSARY["nll"], (f"{float(at.nll[0]):.3f}" for at in columns)),
        row(
            entropy_words(expert=expert),
            ENTROPY,
            (f"{float(at.entropy[0]):.3f}" for at in columns),
        ),
        row(f"ECE, equal-width bins ({bins})", GLOSSARY["ece"], _shares(columns, "ece", n_rows)),
        row("KS error", GLOSSARY["ks_error"], _shares(columns, "ks_error", n_rows)),
        row("Accuracy", GLOSSARY["accuracy"], accuracy),
    ]


def _shares(columns: Iterable[TemperatureSweep], field: str, n_rows: int) -> Iterable[str]:
    return (percent(float(getattr(at, field)[0]), n_rows) for at in columns)


def knots_sentence(swept: KnotSweep, by_hand: int, n_rows: int, *, part: bool = False) -> str:
    """Say what the number of knots set by hand does, and which number does best on new rows.

    Parameters
    ----------
    swept : KnotSweep
        What was found.
    by_hand : int
        The number of knots.
    n_rows : int
        Rows judged, for the digits.
    part : bool, default False
        Whether a part of the rows is judged: of the test set alone, as fits are of all rows.
    """
    whole, chosen = (", all its rows,", ", the chosen rows alone") if part else ("", "")
    place = swept.place(by_hand)
    best = int(swept.test_ks.argmin())
    found = (
        f"With {swept.n_knots[place]} knots the KS error is"
        f" {percent(float(swept.calibration_ks[place]), n_rows)} on the calibration set{whole} and"
        f" {percent(float(swept.test_ks[place]), n_rows)} on the test set{chosen}."
    )
    if best == place:
        return f"{found} No number does better on the test set, but it must not choose."
    return (
        f"{found} The test set would have liked {swept.n_knots[best]} knots best"
        f" ({percent(float(swept.test_ks[best]), n_rows)}), but it must not choose."
    )


def knots_caption(measure: str) -> str:
    """Say what a graph over the number of knots shows."""
    return (
        f"{measure} after splines with 3, 4, 5 ... knots, each fitted on the calibration set. More"
        " knots follow those rows more closely; where the test set stops following, they follow"
        " chance."
    )
