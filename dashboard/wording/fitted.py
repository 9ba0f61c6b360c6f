"""Words on what a calibrator has learned: its fitted numbers, and what they mean."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from calibcore.calibrators.base import Fitted
from calibcore.calibrators.by_group import FittedByGroup
from calibcore.calibrators.ensembles.beta import FittedBetaEnsemble
from calibcore.calibrators.ensembles.temperature import FittedEnsembleTemperature
from calibcore.calibrators.gaussian_process import FittedGaussianProcess
from calibcore.calibrators.lifts import (
    FittedChain,
    FittedOneVsRest,
    FittedPerRank,
    FittedPooledClasses,
    FittedPooledScores,
)
from calibcore.calibrators.linear.fitted import FittedLinear
from calibcore.calibrators.score_maps.bbq import FittedBBQ
from calibcore.calibrators.score_maps.beta import FittedBeta
from calibcore.calibrators.score_maps.histogram import FittedHistogram
from calibcore.calibrators.score_maps.isotonic import FittedIsotonic
from calibcore.calibrators.score_maps.platt import FittedPlatt
from calibcore.calibrators.score_maps.spline import FittedSpline
from calibcore.calibrators.score_maps.venn_abers import FittedVennAbers
from calibcore.calibrators.temperature import FittedTemperature
from calibcore.validation import Floats
from dashboard.wording.numbers import MINUS, took
from dashboard.wording.rows import rows_of

TITLE = "Fitted parameters"
CLASS, RANK = "Parameters of class", "Parameters of rank"
FIRST, SECOND = "First step", "Second step"
SHARED = "one function, shared by all classes"
WEIGHTS = "Weights W and bias b"
WEIGHTS_CAPTION = (
    "Row: the class whose output is computed. Column: the class whose input is weighted; last, the"
    " bias b. The 1% of largest cells share one colour."
)


GROUPS = (
    "Each group changes the log-odds of this map: times the slope, plus the shift. No change: slope"
    " 1, shift 0."
)


class Listed(NamedTuple):
    """A table: its heads, and its rows, the first cell of each its name."""

    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


class Node(NamedTuple):
    """A part of a fitted calibrator: maps that are shown one at a time."""

    title: str
    maps: tuple[Fitted, ...]
    choose: str = ""


class Shown(NamedTuple):
    """What is shown of a fitted map."""

    sentence: str
    listed: Listed | None = None


def fitted_on(n_rows: int, seconds: float | None) -> str:
    """Return on how many rows a calibrator was fitted, and how long that took if it is known."""
    text = f"Fitted on {rows_of(n_rows)} of the calibration set"
    return f"{text}." if seconds is None else f"{text} in {took(seconds)}."


def describe(fitted: Fitted, class_names: Sequence[str]) -> Shown:
    """Return what a fitted map holds; nothing of one that only holds others."""
    for kind, words in _WORDS.items():
        if isinstance(fitted, kind):
            return words(fitted, class_names)
    return Shown("")


def nodes(fitted: Fitted, title: str = "") -> tuple[Node, ...]:
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


def matrix(fitted: Fitted) -> tuple[Floats, Floats] | None:
    """Return weights and biases where there is a weight for each pair of classes."""
    if isinstance(fitted, FittedLinear) and fitted.weights.ndim == 2:
        return fitted.weights, fitted.bias
    return None


def groups(fitted: Fitted | None, names: Sequence[str]) -> Listed | None:
    """Return the shift and slope of each group in log-odds, by its name, where there are any."""
    if not isinstance(fitted, FittedByGroup):
        return None
    found = zip(fitted.groups.tolist(), fitted.shift, fitted.slope, strict=True)
    return Listed(
        ("Group", "Shift", "Slope"),
        [(names[code], _number(shift), _number(slope)) for code, shift, slope in found],
    )


def _number(value: float) -> str:
    if 0 < abs(value) < 1e-4:
        return "\u2248 0"
    return f"{value:.3g}".replace("-", MINUS)


def _share(value: float) -> str:
    return f"{100 * value:.3g}%" if value >= 1e-5 or value == 0 else "< 0.001%"


# All classes ----------------------------------------------------------------------------------


def _temperature(fitted: FittedTemperature, _: Sequence[str]) -> Shown:
    return Shown(f"T = {_number(fitted.temperature)}. {_effect(fitted.temperature)}")


def _effect(temperature: float) -> str:
    if temperature == 1:
        return "Logits stay as they are."
    how = "less" if temperature > 1 else "more"
    return f"All logits are divided by T, which makes predictions {how} confident."


def _ensemble(fitted: FittedEnsembleTemperature, _: Sequence[str]) -> Shown:
    scaled, plain, equal = (_share(weight) for weight in fitted.weights)
    return Shown(
        f"T = {_number(fitted.temperature)}. Mixture: {scaled} temperature scaling, {plain}"
        f" uncalibrated probabilities, {equal} equal probabilities of all classes."
    )


def _linear(fitted: FittedLinear, names: Sequence[str]) -> Shown:
    text = _before_weights(fitted)
    if fitted.weights.ndim == 1:
        listed = zip(names, fitted.weights, fitted.bias, strict=True)
        rows = [(name, _number(weight), _number(bias)) for name, weight, bias in listed]
        meaning = (
            "w multiplies the input of a class: below 1, its logits count less. b is added: above"
            " 0, the class becomes more probable."
        )
        return Shown(f"{text}{meaning}", Listed(("Class", "w", "b"), rows))
    own = np.diagonal(fitted.weights)
    others = fitted.weights[~np.eye(len(own), dtype=np.bool_)]
    return Shown(
        f"{text}Mean weight of a class for itself: {_number(own.mean())}; mean size of weights"
        f" between classes: {_number(np.abs(others).mean())}; of a bias:"
        f" {_number(np.abs(fitted.bias).mean())}."
    )


def _before_weights(fitted: FittedLinear) -> str:
    text = "Inputs: log-probabilities. " if fitted.space == "log_probabilities" else ""
    if fitted.temperature != 1:
        text = f"{text}Logits are first divided by T = {_number(fitted.temperature)}. "
    if any(fitted.penalty):
        held = " and ".join(_number(one) for one in fitted.penalty)
        text = f"{text}Strength of the penalty: {held}. "
    return text


def _beta_ensemble(fitted: FittedBetaEnsemble, _: Sequence[str]) -> Shown:
    columns = zip(fitted.a, fitted.b, fitted.c, fitted.weights, strict=True)
    rows = [
        (f"{place}", _number(a), _number(b), _number(c), _share(weight))
        for place, (a, b, c, weight) in enumerate(columns, 1)
    ]
    return Shown(_BETA, Listed(("Curve", "a", "b", "c", "Weight"), rows))


def _gaussian_process(fitted: FittedGaussianProcess, _: Sequence[str]) -> Shown:
    return Shown(
        f"Amplitude of the curve: {_number(fitted.amplitude)}; length over which it changes:"
        f" {_number(fitted.lengthscale)} in log-probability; {fitted.places.size} inducing points;"
        f" {fitted.iterations} iterations."
    )


# One score ------------------------------------------------------------------------------------


def _platt(fitted: FittedPlatt, _: Sequence[str]) -> Shown:
    slope = "below 1, scores become less extreme" if fitted.slope < 1 else "scores stay as extreme"
    slope = "above 1, scores become more extreme" if fitted.slope > 1 else slope
    raised = "raises" if fitted.intercept > 0 else "lowers"
    shift = f"it {raised} all log-odds alike" if fitted.intercept else "it changes no score"
    return Shown(
        f"Slope a = {_number(fitted.slope)} of the log-odds: {slope}. Intercept b ="
        f" {_number(fitted.intercept)}: {shift}."
    )


_BETA = (
    "Log-odds = a ln s \u2212 b ln(1 \u2212 s) + c. a is the slope at low scores, b at high ones:"
    " below 1, scores there become less extreme. c raises all log-odds alike if above 0, lowers"
    " them if below. No change: a = b = 1, c = 0."
)


def _beta(fitted: FittedBeta, _: Sequence[str]) -> Shown:
    a, b, c = (_number(value) for value in (fitted.a, fitted.b, fitted.c))
    return Shown(f"a = {a}, b = {b}, c = {c}. {_BETA}")


def _spline(fitted: FittedSpline, _: Sequence[str]) -> Shown:
    places = np.linspace(0, 1, fitted.knot_values.size)
    rows = [
        (f"{place}", _share(at), f"{100 * value:.2f}".replace("-", MINUS))
        for place, (at, value) in enumerate(zip(places, fitted.knot_values, strict=True), 1)
    ]
    return Shown(
        "The cubic spline through these knots is the smoothed cumulative curve.",
        Listed(("Knot", "Fractile", "Value (pp)"), rows),
    )


def _histogram(fitted: FittedHistogram, _: Sequence[str]) -> Shown:
    bins = zip(fitted.edges[:-1], fitted.edges[1:], fitted.counts, fitted.frequency, strict=True)
    rows = [
        (f"{_share(low)}\u2013{_share(high)}", f"{count:,}", _share(found) if count else "\u2013")
        for low, high, count, found in bins
    ]
    return Shown(
        "The calibrated score is the observed frequency of the bin; an empty bin changes nothing.",
        Listed(("Scores above\u2013up to", "Count", "Observed frequency"), rows),
    )


def _isotonic(fitted: FittedIsotonic, _: Sequence[str]) -> Shown:
    between = "straight lines between them" if fitted.interpolate else "jumps between them"
    steps = zip(fitted.first, fitted.last, fitted.frequency, strict=True)
    rows = [(f"{_share(first)}\u2013{_share(last)}", _share(high)) for first, last, high in steps]
    return Shown(
        f"{len(rows):,} steps, {between}.", Listed(("Calibration scores", "Calibrated"), rows)
    )


def _bbq(fitted: FittedBBQ, _: Sequence[str]) -> Shown:
    order = np.argsort(-fitted.weights, kind="stable")
    rows = [(f"{fitted.n_bins[k]:,}", _share(fitted.weights[k])) for k in order]
    return Shown(
        f"A mean of {len(rows):,} histograms by their posterior probability: together"
        f" {fitted.heights.size:,} steps.",
        Listed(("Bins", "Probability"), rows),
    )


def _venn_abers(fitted: FittedVennAbers, _: Sequence[str]) -> Shown:
    return Shown(
        f"{fitted.lower.size:,} steps with the new outcome 0, {fitted.upper.size:,} with outcome 1."
    )


_WORDS: dict[type[Fitted], Callable[[Any, Sequence[str]], Shown]] = {
    FittedTemperature: _temperature,
    FittedEnsembleTemperature: _ensemble,
    FittedLinear: _linear,
    FittedBetaEnsemble: _beta_ensemble,
    FittedGaussianProcess: _gaussian_process,
    FittedPlatt: _platt,
    FittedBeta: _beta,
    FittedSpline: _spline,
    FittedHistogram: _histogram,
    FittedIsotonic: _isotonic,
    FittedBBQ: _bbq,
    FittedVennAbers: _venn_abers,
}
