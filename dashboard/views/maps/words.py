"""Words of the page of calibration maps."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import NamedTuple

from calibcore.calibrators import FittedSpline
from calibcore.calibrators.base import FittedCalibrator
from calibcore.calibrators.by_group import FittedByGroup
from calibcore.calibrators.descriptions import Description, DescriptionTable
from calibcore.calibrators.lifts import (
    FittedChain,
    FittedOneVsRest,
    FittedPerRank,
    FittedPooledClasses,
    FittedPooledScores,
)
from calibcore.calibrators.linear.fit import FittedLinear
from calibcore.curves import KnotSweep, Movement, ScoreCurve, TemperatureSweep
from calibcore.events import OneClass, TopR
from calibcore.validation import Floats
from dashboard.document.blocks import Cell, Row
from dashboard.figures.maps import NamedCurve
from dashboard.settings import NO_METHOD, ChosenEvent
from dashboard.texts.classes import shortened
from dashboard.texts.glossary import GLOSSARY, SHORT_NAMES
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import (
    detected_points,
    escape_markdown,
    listing,
    of_100,
    percent,
    points,
    span,
    took,
)
from dashboard.texts.rows import rows_of, say_rows, says_rows
from dashboard.views.maps.results import MIDDLE, deepest_fall, looks_straight

_WIDE = 0.05
"""Width of a range of scores from which on it is said that it is flat."""

_SHORT = 12
"""Letters of a name where there is little room, at most."""

USUAL_SCORE_MAPS = ("spline", "platt", "beta", "isotonic")

SHAPES = {
    "isotonic": "steps, never falling",
    "platt": "an S-shape or its reverse, a straight line on the log-odds",
    "beta": "an S-shape or its reverse, each end with a slope of its own",
    "spline": "a curve that may rise and fall; level, with a corner, beyond the scores of the fit"
    " and where it is cut off",
}
"""Of the calibrators that are drawn at first, in a few words."""

CURVES = "Add curves"
CURVES_HELP = (
    "Calibrators of a single score. The one chosen on the left keeps its options; the others use"
    " their defaults."
)
TRIANGLE = "Probability triangle"
BY_HAND = "Manual settings"
TEMPERATURE, KNOTS = "Temperature", "Knots of the spline"
HAND_T = "Temperature T"
HAND_T_HELP = (
    "All logits are divided by T. Above 1, predictions become less confident; below 1, more"
    " confident. The fitted T stays for comparison."
)
HAND_KNOTS = "Number of knots"
HAND_KNOTS_HELP = "A spline with this number of knots is fitted on the calibration set."
SWEEPING_T, SWEEPING_KNOTS = "Evaluating many temperatures", "Fitting splines"

MEAN_ENTROPY = "Mean entropy (nats)"
ENTROPY = (
    "Spread of the class probabilities, averaged over the rows. 0: one class has probability 1."
    " Highest: all classes are equally probable."
)
ONLY_SCORES = "A temperature needs the logits of all classes. This file has one score per row."
FEW_ROWS = "Too few calibration rows ({n_rows:,}). The smallest spline needs {least}."
NO_CURVE = (
    "{name} acts on all class probabilities, so its scores are a cloud of rows. The curves act on"
    " the score alone."
)
ALL_ROWS = "All rows"
INSIDE = "The curve of {name} is drawn before each row is normalised to sum to 1."
GRID_TITLE, ROWS_TITLE = "Grid of probabilities", "Rows of the {where}"


@says_rows
def not_drawn(keys: list[str]) -> str:
    """Return which calibrators could not be fitted."""
    names = ", ".join(method_name(key) for key in keys)
    return f"Not drawn, too few calibration rows: {names}."


def no_triangle(method: str, waiting: str | None = None) -> str:
    """Return why there are no arrows."""
    needed = "Choose a calibrator of all classes, such as temperature scaling."
    if waiting is not None:
        return f"{method_name(waiting)} is not fitted yet, so there are no arrows."
    if method == NO_METHOD:
        return f"Uncalibrated scores have no arrows. {needed}"
    return f"{method_name(method)} adjusts only the selected event. {needed}"


@says_rows
def sweep_cost(n_rows: int, n_classes: int) -> str:
    """Return the beginning of the sentence on the cost of a sweep over temperatures."""
    return f"Evaluating many temperatures on {n_rows:,} rows of {n_classes:,} classes"


@says_rows
def knots_cost(n_rows: int) -> str:
    """Return the beginning of the sentence on the cost of a sweep over knots."""
    return f"Fitting splines of many sizes on {n_rows:,} rows"


@says_rows
def fewer_knots(n_knots: int, n_rows: int) -> str:
    """Return how many knots the rows allow."""
    return f"{n_rows:,} calibration rows allow at most {n_knots} knots."


def temperature_columns(by_hand: float, fitted: float) -> tuple[str, str]:
    """Return names of the two temperatures for the table and the diagrams."""
    return f"Manual, T = {by_hand:.3g}", f"Fitted, T = {fitted:.3g}"


def mark_names(fitted: float, by_hand: float, *, expert: bool) -> tuple[str, str]:
    """Return names of the two temperatures for a graph."""
    sign = "T\u0302" if expert else "fitted"
    return f"{sign} {fitted:.3g}", f"manual {by_hand:.3g}"


def knots_mark(n_knots: int, by_hand: int) -> str:
    """Return the name of a number of knots for a graph."""
    return f"manual {n_knots}" if n_knots == by_hand else f"chosen {n_knots}"


def sweep_captions(*, expert: bool) -> dict[str, str]:
    """Return captions of the graphs over the temperature."""
    if expert:
        return {
            "nll": "Log loss on the true classes; lower is better. Convex in 1/T.",
            "entropy": "Spread of the predictions; rises with T to ln K, regardless of the labels.",
            "ece": "Gap between scores and observed frequencies in bins; lower is better.",
        }
    return {
        "nll": "Log loss on the true classes; lower is better.",
        "entropy": "Spread of the predictions; rises with T regardless of the labels.",
        "ece": "Gap between scores and observed frequencies; lower is better.",
    }


def row_names(event: ChosenEvent) -> tuple[str, str]:
    """Return names for the rows with outcome 1, and for the others."""
    match event:
        case TopR():
            return "correct", "wrong"
        case OneClass():
            return "of this class", "of another"
        case _:
            return "in the set", "not in the set"


def movement_sentence(
    method: str, moved: Movement, where: str, *, expert: bool, waiting: str | None = None
) -> str:
    """Return how far a calibrator moves the scores of a set, or that it is not fitted yet."""
    if waiting is not None:
        return f"{method_name(waiting)} is not fitted yet, so scores are unchanged."
    if method == NO_METHOD:
        return "Uncalibrated: scores are unchanged."
    n_rows, name = moved.n_samples, method_name(method)
    lowered, raised = moved.n_lowered / n_rows, moved.n_raised / n_rows
    if not moved.n_lowered and not moved.n_raised:
        return f"{name} leaves all scores of the {where} unchanged."
    mean = points(moved.mean_distance, n_rows)
    if lowered >= 0.995 or raised >= 0.995:
        what = f"{'lowers' if lowered > raised else 'raises'} nearly all scores"
    elif min(lowered, raised) < 0.005:
        verb, share = ("lowers", lowered) if lowered > raised else ("raises", raised)
        what = f"{verb} {of_100(share)} of scores"
    else:
        what = f"lowers {of_100(lowered)} and raises {of_100(raised)} of scores"
    largest = f"{percent(moved.score, n_rows)} \u2192 {percent(moved.calibrated, n_rows)}"
    text = f"{name} {what}, by {mean} on average. Largest change: {largest}."
    if not expert:
        return text
    return f"{text} Mean change: {points(moved.mean_shift, n_rows, signed=True)}."


def flat_note(moved: Movement) -> str:
    """Return which scores a calibrator makes one; nothing where it keeps them apart."""
    if moved.flat is None or moved.flat[1] - moved.flat[0] < _WIDE:
        return ""
    low, high, one = (percent(value, moved.n_samples) for value in moved.flat)
    return (
        f"Flat from {low} to {high}: all scores there become {one} ({rows_of(moved.n_flat)}), so"
        " their order is lost."
    )


def falls_note(curves: Iterable[NamedCurve], n_rows: int, *, expert: bool) -> str:
    """Return whose curve falls, where and by how much at most; nothing where none does.

    ``n_rows``: of the set, for the digits.
    """
    falls = [f"{one.name} falls by {_fall(one.curve, n_rows)}" for one in curves if one.curve.falls]
    if not falls:
        return ""
    text = f"Not monotone: {listing(falls)}. Some higher scores end up below lower ones."
    return f"{text} AUROC can change." if expert else text


def _fall(curve: ScoreCurve, n_rows: int) -> str:
    size, *ends = deepest_fall(curve)
    start, end = (percent(one, n_rows) for one in ends)
    where = f"at a score of {end}" if start == end else f"over scores of {span(start, end)}"
    return f"{detected_points(size, n_rows)} {where}"


def short_group(name: str) -> str:
    """Return the name of a group where there is little room."""
    return escape(shortened(name, _SHORT))


def of_groups(n_shown: int, columns: Sequence[str]) -> str:
    """Return which curves are drawn of a calibrator that knows groups."""
    if not n_shown:
        return "All rows: no group has a curve of its own."
    which = f"the {n_shown} groups" if n_shown > 1 else "the group"
    if len(columns) == 1:
        of = f" of {escape_markdown(columns[0])}"
        return f"All rows, and {which}{of} whose curves differ most from it."
    return (
        f"All rows, and {which} of all columns whose curves differ most from it, each for rows"
        " whose other groups change nothing."
    )


CURVES_OF_SCORES = "Calibrators of the event's score"
SHIFT = "Change in score"
ODDS = "The same curves on log-odds"
ODDS_CAPTION = (
    "Both axes are log-odds, ln(p / (1 \u2212 p)). Platt scaling is a straight line here. Beta"
    " calibration has one slope at low scores and another at high ones. Dotted: unchanged."
)


def map_caption(n_bins: int, *, folds: bool = False, of_groups: bool = False) -> str:
    """Return what the graph of the curves shows; ``of_groups``: whether these are of groups."""
    text = f"Diamonds: observed frequency in {n_bins} bins, 95% CI"
    text += " (all rows)." if of_groups else ". A calibrated curve passes through them."
    return f"{text} Thin lines: fitted without each fold." if folds else text


def shapes(curves: Iterable[NamedCurve]) -> Iterator[str]:
    """Yield the shapes of curves by their short names, of those that have a simple one."""
    known = {SHORT_NAMES[key]: shape for key, shape in SHAPES.items()}
    bent = {SHORT_NAMES[key] for key in ("platt", "beta")}
    middle = span(*(f"{end:.0%}" for end in MIDDLE))
    for one in curves:
        if one.name in known:
            straight = one.name in bent and looks_straight(one.curve)
            here = f"; here close to a straight line over scores of {middle}" if straight else ""
            yield f"{one.name}: {known[one.name]}{here}."


@says_rows
def shift_caption(*, bins_left_out: bool) -> str:
    """Return what the graph of the changes shows."""
    text = "Scores are raised above the dotted line, lowered below it."
    return f"{text} Bins under 1% of rows are left out." if bins_left_out else text


def cloud_caption(n_rows: int, n_shown: int, where: str) -> str:
    """Return what the cloud shows."""
    if n_shown == n_rows:
        return f"All {rows_of(n_rows)} of the {where}. Dotted line: unchanged."
    return (
        f"{n_shown:,} of {rows_of(n_rows)} of the {where}, evenly spaced by score. Dotted line:"
        " unchanged."
    )


def triangle_caption(n_arrows: int, *, grid: bool, where: str) -> str:
    """Return what the arrows of a triangle show."""
    if not grid:
        return f"{rows_of(n_arrows)} of the {where}, evenly spaced by score."
    return f"{n_arrows} arrows from before to after. Dotted lines: the predicted class changes."


def temperature_sentence(fitted: float, best: float, where: str) -> str:
    """Return what the fitted temperature does, and where the NLL is lowest."""
    lowest = f"On the {where}, NLL is lowest near T = {best:.2g}."
    if abs(fitted - 1) < 0.005:
        return f"Fitted T = 1.00: predictions stay as they are. {lowest}"
    how = "less" if fitted > 1 else "more"
    return f"Fitted T = {fitted:.3g} makes predictions {how} confident. {lowest}"


def entropy_sentence(nll: float | None) -> str:
    """Say that entropy equals NLL where the temperature was fitted; nothing where it does not."""
    if nll is None:
        return ""
    return (
        f"On the calibration set, mean entropy and NLL are equal at the fitted T:"
        f" {nll:.3f} nats (Guo 2017, S2). The fit by log loss ends where they meet."
    )


def temperature_rows(
    columns: tuple[TemperatureSweep, TemperatureSweep],
    accuracies: tuple[float | None, float | None],
    n_rows: int,
) -> tuple[Row, ...]:
    """Return the table of two temperatures, the manual one first."""

    def row(name: str, definition: str, written: Iterable[str]) -> Row:
        return Row(name, name, tuple(map(Cell, written)), say_rows(definition), opens=True)

    bins = columns[0].n_bins
    accuracy = ("\u2013" if value is None else percent(value, n_rows) for value in accuracies)
    return (
        row("NLL, all classes", GLOSSARY["nll"], (f"{float(at.nll[0]):.3f}" for at in columns)),
        row(MEAN_ENTROPY, ENTROPY, (f"{float(at.entropy[0]):.3f}" for at in columns)),
        row(f"ECE, equal-width bins ({bins})", GLOSSARY["ece"], _shares(columns, "ece", n_rows)),
        row("KS error", GLOSSARY["ks_error"], _shares(columns, "ks_error", n_rows)),
        row("Accuracy", GLOSSARY["accuracy"], accuracy),
    )


def _shares(columns: Iterable[TemperatureSweep], field: str, n_rows: int) -> Iterable[str]:
    return (percent(float(getattr(at, field)[0]), n_rows) for at in columns)


@says_rows
def knots_sentence(
    swept: KnotSweep, by_hand: int, n_rows: int, *, part: bool = False, in_folds: bool = False
) -> str:
    """Return what a number of knots shows on both sets, and which one fits the test set best.

    ``swept``: what was found. ``by_hand``: the number of knots. ``n_rows``: rows of the evaluation,
    for the digits. ``part``: whether the evaluated rows are filtered; fits, and cross-validation
    here, are of all rows. ``in_folds``: whether both sets are the same rows, the second
    cross-validated.
    """
    whole, chosen = (" (all rows)", " (filtered)") if part else ("", "")
    place = swept.place(by_hand)
    best = int(swept.test_ks.argmin())
    text = (
        f"KS error with {swept.n_knots[place]} knots:"
        f" {percent(float(swept.calibration_ks[place]), n_rows)} on the calibration set{whole},"
        f" {percent(float(swept.test_ks[place]), n_rows)} on the test set{chosen}."
    )
    if in_folds:
        text = (
            f"KS error with {swept.n_knots[place]} knots{whole}:"
            f" {percent(float(swept.calibration_ks[place]), n_rows)} on the rows of the fit,"
            f" {percent(float(swept.test_ks[place]), n_rows)} in cross-validation."
        )
        value = percent(float(swept.test_ks[best]), n_rows)
        lower = f"{swept.n_knots[best]} knots have the lowest ({value})"
        return f"{text} {lower if best != place else 'No other number has a lower one'}."
    if best == place:
        return f"{text} No other number fits the test set better."
    return (
        f"{text} {swept.n_knots[best]} knots would fit the test set best"
        f" ({percent(float(swept.test_ks[best]), n_rows)}), but the choice must not use the test"
        " set."
    )


KNOTS_CAPTIONS = (
    "Each spline is fitted on the calibration set. A widening gap between the sets is overfitting.",
    "The same splines, by log loss.",
)
KNOTS_CROSSED_CAPTIONS = (
    "On the rows of the fit, and in cross-validation. A widening gap is overfitting.",
    KNOTS_CAPTIONS[1],
)
"""Captions of the two graphs over the number of knots, of two sets and of one."""

KNOTS_MAP_CAPTIONS = (
    "The spline with {n_knots} knots. Diamonds as above.",
    "Its change of each score.",
)
"""Captions of the two graphs of one spline."""


TITLE = "Fitted parameters"
CLASS, RANK = "Parameters of class", "Parameters of rank"
FIRST, SECOND = "First step", "Second step"
SHARED = "one function, shared by all classes"
WEIGHTS = "Weights W and bias b"
WEIGHTS_CAPTION = (
    "Row: the class whose output is computed. Column: the class whose input is weighted; last, the"
    " bias b. The 1% of largest cells share one colour."
)


class Node(NamedTuple):
    """A part of a fitted calibrator: maps that are shown one at a time."""

    title: str
    maps: tuple[FittedCalibrator, ...]
    choose: str = ""


def fitted_on(n_rows: int, seconds: float | None) -> str:
    """Return on how many rows a calibrator was fitted, and how long that took if it is known."""
    text = f"Fitted on {rows_of(n_rows)} of the calibration set"
    return f"{text}." if seconds is None else f"{text} in {took(seconds)}."


def sign_of_knots(fitted: FittedCalibrator, fit_to: object) -> str:
    """Return what the numbers of a spline are of, and their sign; "" for any other map."""
    if not isinstance(fitted, FittedSpline):
        return ""
    if fit_to == "hits":
        return "Values: cumulative outcomes."
    return (
        "Values: cumulative outcomes minus cumulative score, which falls where scores are too high;"
        " the gap on the page Cumulative has the opposite sign."
    )


def named(shown: Description, class_names: Sequence[str]) -> DescriptionTable | None:
    """Return the numbers of a fitted map, a row a class by its name."""
    if shown.listed is None or not shown.by_class:
        return shown.listed
    rows = zip(class_names, shown.listed.rows, strict=True)
    return DescriptionTable(shown.listed.heads, [(name, *row[1:]) for name, row in rows])


def nodes(fitted: FittedCalibrator, title: str = "") -> tuple[Node, ...]:
    """Return the parts of a fitted calibrator: its steps, and the maps that it holds."""
    match fitted:
        case FittedChain(first=first, second=second):
            return nodes(first, FIRST) + nodes(second, SECOND)
        case FittedOneVsRest(score_maps=maps):
            return (Node(title, maps, CLASS),)
        case FittedPerRank(score_maps=maps):
            return (Node(title, maps, RANK),)
        case FittedPooledClasses(score_map=inner) | FittedPooledScores(score_map=inner):
            return (Node(f"{title}: {SHARED}" if title else SHARED.capitalize(), (inner,)),)
        case FittedByGroup(score_map=inner):
            return (Node(title, (inner,)),)
        case _:
            return (Node(title, (fitted,)),)


def matrix(fitted: FittedCalibrator) -> tuple[Floats, Floats] | None:
    """Return weights and biases where there is a weight for each pair of classes."""
    if isinstance(fitted, FittedLinear) and fitted.weights.ndim == 2:
        return fitted.weights, fitted.bias
    return None
