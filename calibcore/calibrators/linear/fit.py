"""A fitted linear map, its fit, and what it warns of."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.calibrators import method
from calibcore.calibrators.base import (
    AT_LEAST_0,
    NOT_ALL,
    FittedVectorMap,
    Lengths,
    Positive,
    Progress,
    Rules,
)
from calibcore.calibrators.descriptions import (
    SOFTMAX,
    Description,
    DescriptionTable,
    Recipe,
    rounded,
)
from calibcore.calibrators.linear import odir
from calibcore.calibrators.linear.model import (
    CACHE_CELLS,
    LONG,
    Block,
    LinearModel,
    Penalty,
    linear_outputs,
    turn_to_probabilities,
)
from calibcore.calibrators.linear.newton import CONVERGED, GOAL, SURE, Optimum, minimise
from calibcore.calibrators.linear.odir import PenaltyChoice, strengths_tried
from calibcore.calibrators.linear.weighted import minimise_weighted
from calibcore.calibrators.temperature import LogitRows, fit_temperature
from calibcore.data import LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.probabilities import read_in_place
from calibcore.results import result_class
from calibcore.strips import row_strips, strip_rows
from calibcore.validation import Floats, Labels, Logits
from calibcore.weights import RowWeights

_NO_PART = 1e-7
"""Mean distance of a class's probabilities from 0 or 1 at which its weights hardly have a part.

To shift its outputs by 1 would change the loss by twice as many nats, at most.
"""

_PERHAPS = 4e-7
"""Mean of 1 - p over a class's own rows, a part of that distance, above which it is surely more.

It may be rounded to single precision.
"""

_WORSE = 1e-3
"""Share by which a loss on rows held out is higher that is said to be."""

_NEXT_TO_NOTHING = 1e-6

_ARBITRARY = (
    "Other weights fit the calibration rows as well and may give other rows other probabilities."
    " Do not rely on them: {}."
)
_ADD = "add a penalty"
_LEFT_FREE = "the penalty leaves some weights free (that of structured matrix scaling leaves none)"
_NO_PENALTY = "structured vector scaling has a penalty"

_WORSE_THAN_TEMPERATURE = (
    "On calibration rows held out, the best strengths tried have a mean NLL of {:.4g}, temperature"
    " scaling of {:.4g}. So expect worse probabilities than from temperature scaling, or from"
    " structured matrix scaling, which penalises all weights."
)
_LARGEST = (
    "Cross-validation ended at the largest {} tried, {:g}, which leaves next to nothing of the {}."
)
_SMALLEST = "Cross-validation ended at the smallest {} tried, {:g}; a smaller one may do better."

SEPARATED = (
    "Some weights get every calibration row right. The larger they are the better, so none are"
    " best; the search stopped at the first it met."
)
_ESCAPING = (
    "The loss hardly falls any more, but the weights still grow: for some class no finite weights"
    " are best."
)


def warnings_of(
    optimum: Optimum,
    model: LinearModel,
    absent: NDArray[np.int64],
    left: float,
    *,
    all_penalised: bool,
) -> tuple[str, ...]:
    """Return warnings of weights that are not to be relied on.

    ``optimum``: where the search ended. ``model``: what was fitted. ``absent``: classes that no row
    belongs to. ``left``: how far above the least loss the search might end. ``all_penalised``:
    whether the penalty is on every class's own weight and bias.

    A sentence or more on each doubt.
    """
    unpenalised = not model.penalty.strength.any()
    perhaps = not all_penalised and bool(model.missed().min() <= _PERHAPS * model.n_rows)
    warnings, loose = _warnings_of_size(model) if unpenalised else (), np.empty(0, dtype=np.int64)
    if len(absent) or perhaps:
        off, largest = _last_look(model, optimum.parameters)
        warnings = _warnings_of_absent(absent, largest, all_penalised=all_penalised) + warnings
        if not all_penalised:
            loose = np.setdiff1d(np.flatnonzero(off <= _NO_PART), absent)
    instead = _ADD if unpenalised else _LEFT_FREE
    doubt = "" if all_penalised else _ARBITRARY.format(instead if model.full else _NO_PENALTY)
    apart = _warnings_of_loose(loose, doubt)
    return warnings + _warnings_of_end(optimum, left, apart, doubt, unpenalised=unpenalised)


def warnings_of_choice(chosen: PenaltyChoice, n_classes: int) -> tuple[str, ...]:
    """Return warnings of cross-validated strengths that do badly or end their grid.

    ``chosen``: what was chosen, and what it did on the rows held out. ``n_classes``: says which
    strengths were tried.
    """
    most, *_, least = strengths_tried(n_classes)
    warnings = []
    if chosen.nll > (1 + _WORSE) * chosen.by_temperature:
        warnings.append(_WORSE_THAN_TEMPERATURE.format(chosen.nll, chosen.by_temperature))
    names = ("lambda", "mu"), ("weights off the diagonal", "biases")
    for name, what, strength in zip(*names, chosen.strengths, strict=True):
        if strength == most:
            warnings.append(_LARGEST.format(name, strength, what))
        elif strength == least:
            warnings.append(_SMALLEST.format(name, strength))
    return tuple(warnings)


def _last_look(model: LinearModel, parameters: Floats) -> tuple[Floats, Floats]:
    """Return each class's mean distance from its labels, 0 or 1, and its largest probability."""
    off, largest = np.zeros(len(parameters)), np.zeros(len(parameters))
    for block in model.watched(model.blocks):
        outputs = linear_outputs(block.inputs, parameters, block.ruled_out)
        outputs -= outputs.max(axis=0)
        turn_to_probabilities(outputs)
        np.maximum(largest, outputs.max(axis=1), out=largest)
        outputs.put(block.places, 1 - outputs.take(block.places))
        off += outputs.sum(axis=1)
    return off / model.n_rows, largest


def listed(classes: NDArray[np.int64]) -> str:
    """Name the first few of some classes by their numbers."""
    some = ", ".join(str(k) for k in classes[:5]) + (", ..." if len(classes) > 5 else "")
    return f"class {some}" if len(classes) == 1 else f"classes {some}"


def _warnings_of_absent(
    absent: NDArray[np.int64], largest: Floats, *, all_penalised: bool
) -> tuple[str, ...]:
    if len(absent) == 0:
        return ()
    has, its, gets = ("has", "its", "it a probability")
    if len(absent) > 1:
        has, its, gets = ("have", "their", "them probabilities")
    state = (
        "are held by the penalty alone" if all_penalised else "stay those of temperature scaling"
    )
    most = float(largest[absent].max())
    in_fact = ": ruled out in fact" if most <= _NEXT_TO_NOTHING else ""
    sentence = (
        f"In the calibration set {listed(absent)} {has} no rows: {its} weights {state}. The fit"
    )
    return (f"{sentence} leaves {gets} of at most {most:.2g} there{in_fact}.",)


def _warnings_of_loose(loose: NDArray[np.int64], doubt: str) -> tuple[str, ...]:
    if len(loose) == 0:
        return ()
    apart = f"The fit tells {listed(loose)} from the others with near certainty in every"
    return (f"{apart} calibration row, so these weights hardly matter there. {doubt}",)


def _warnings_of_size(model: LinearModel) -> tuple[str, ...]:
    n_classes = len(model.free)
    n_parameters = (n_classes + 1) * (n_classes - 1)
    if not model.full or n_parameters <= model.n_rows:
        return ()
    fact = f"{n_parameters:,} parameters are fitted on {model.n_rows:,} rows without a penalty:"
    return (f"{fact} expect worse probabilities on other data.",)


def _warnings_of_end(
    optimum: Optimum, left: float, loose: tuple[str, ...], doubt: str, *, unpenalised: bool
) -> tuple[str, ...]:
    if optimum.separated or optimum.escaping:
        return (f"{SEPARATED if optimum.separated else _ESCAPING} {doubt}".rstrip(),)
    if optimum.gradient_norm <= CONVERGED or optimum.left <= left:
        return loose
    near = f" It is at most {optimum.left:.1e} nats above the least." if optimum.left < 0.01 else ""
    short = (
        f"The fit stopped short of its optimum: the loss still has a slope of"
        f" {optimum.gradient_norm:.1e}, where at most {CONVERGED:.0e} is wanted.{near}"
    )
    if unpenalised and not loose:
        return (f"{short} {doubt}",)
    return (*loose, short)


RULED_OUT = -87.3
"""What a ruled-out class counts as below the largest logit, unless the row has lower ones.

It is the logarithm of the smallest normal float32, below which probabilities are often stored as 0.
"""

Space = Literal["logits", "log_probabilities"]
"""What a linear map acts on."""

FARTHEST = -1e6
"""What a logit counts as at least, below the largest of its row."""

_MODERATE = 100.0
"""Size up to which exponentials do not ask for a row's largest to be taken off first."""

_SAFE = 1e-100, 1e100
"""Sums of exponentials between which the largest need not be taken off first."""

_FEWEST_ROWS = 256
_MANY_ROWS = 2_048
_MANY_CELLS = 1 << 18
_ONE_IN = 8

_NOTHING_LEFT = "No row is left to fit, so the logits are kept as they are."
_NOT_SEARCHED = (
    "The table has more than {cells:,} cells or {classes} classes, so the penalty's strengths were"
    " not cross-validated; they are those of structured matrix scaling at this size."
)
_ONE_CLASS = (
    "Only one class is in the calibration set, so there is nothing to learn; T scaling kept."
)


@dataclass(frozen=True)
class Inputs:
    """How a row of logits becomes the inputs of the linear map."""

    space: Space
    """Logits minus their mean over the classes, or the logarithms of the probabilities."""
    temperature: float = 1.0
    """Divides the logits first."""
    uniform_share: float = 0.0
    """The probabilities are then mixed with this share of the uniform distribution."""

    def columns(self, logits: Logits) -> tuple[Floats, NDArray[np.bool_] | None]:
        """Return some rows' inputs, classes first, and which classes are ruled out, if any are."""
        columns = np.empty(logits.shape[::-1])
        for some in row_strips(*logits.shape):
            columns[:, some] = logits[some].T
        ruled_out, wide = None, not _is_moderate(logits, _MODERATE * self.temperature)
        if wide:
            with np.errstate(over="ignore"):  # a difference too large for a float is minus infinity
                columns -= columns.max(axis=0)
        if self.temperature != 1:
            columns /= self.temperature
        if wide:
            ruled_out = _floored(columns, mixed=self.uniform_share > 0)
        ones = np.ones(len(columns))
        if self.space == "logits":
            columns -= ones @ columns / len(columns)
            return columns, ruled_out
        powers = np.exp(columns)
        if ruled_out is not None:
            powers[ruled_out] = 0
        total = ones @ powers
        if self.uniform_share:
            powers *= (1 - self.uniform_share) / total
            powers += self.uniform_share / len(columns)
            return np.log(powers, out=powers), None
        columns -= np.log(total)
        return columns, ruled_out


def _is_moderate(table: Logits, most: float) -> bool:
    return bool(table.max() <= most and table.min() >= -most)


def _floored(differences: Floats, *, mixed: bool) -> NDArray[np.bool_] | None:
    """Make differences to the row's largest finite, and say which classes are ruled out.

    None is where the uniform distribution is ``mixed`` in.
    """
    lowest = float(differences.min())
    if lowest == -np.inf and not mixed:
        ruled_out = np.isneginf(differences)
        finite = np.where(ruled_out, 0.0, differences)
        floor = np.maximum(np.minimum(finite.min(axis=0), RULED_OUT), FARTHEST)
        np.maximum(differences, floor, out=differences)
        return ruled_out
    if lowest < FARTHEST:
        np.maximum(differences, FARTHEST, out=differences)
    return None


@result_class
class CalibrationBlocks:
    """The blocks of a calibration set, made again each time they are gone through.

    So a table of many cells is never held twice; one of few is worth keeping as a list.
    """

    logits: Logits
    labels: Labels
    inputs: Inputs

    def __iter__(self) -> Iterator[Block]:
        """Make the blocks in turn."""
        for rows in _row_strips(self.logits, single=True):
            inputs, ruled_out = self.inputs.columns(self.logits[rows])
            yield Block(inputs, self.labels[rows], ruled_out)


def _row_strips(logits: Logits, *, single: bool = False) -> Iterator[slice]:
    """Cut rows into blocks that are near the processor, and long enough to multiply matrices.

    In single precision, in which most of a fit is done, twice as many are as near.
    """
    step = max(strip_rows(logits.shape[1]) * (1 + single), _FEWEST_ROWS)
    return (slice(start, start + step) for start in range(0, len(logits), step))


_ABOVE_FLOOR = [
    "x = x - x.max(axis=1, keepdims=True)",
    "ruled_out = np.isneginf(x)",
    "lowest = np.where(ruled_out, 0.0, x).min(axis=1, keepdims=True)",
    f"x = np.maximum(x, np.clip(lowest, {FARTHEST}, {RULED_OUT}))",
]
"""Lines that do as `_floored`."""


@result_class
class FittedLinear(FittedVectorMap):
    """A fitted linear map, softmax(W x + b)."""

    weights: Floats
    """The diagonal of W, or W; shape (n_classes,)."""
    bias: Floats
    """Added to W x; shape (n_classes,)."""
    space: Space
    """x is the logits minus their row's mean, or the logarithms of the probabilities."""
    temperature: Positive
    uniform_share: float
    """The logits are first divided by the one, and their probabilities mixed with this share of the
    uniform distribution (1 and 0 but for structured scaling).
    """
    penalty: tuple[float, ...]
    """Strengths of the penalties, in the order in which the method names them."""
    loss: float
    gradient_norm: float
    """Penalised mean NLL on the calibration set, and its gradient's largest absolute entry."""

    RULES: ClassVar[Rules] = {
        "uniform_share": NOT_ALL,
        "penalty": AT_LEAST_0,
        "loss": AT_LEAST_0,
        "gradient_norm": AT_LEAST_0,
    }
    ALIKE: ClassVar[Lengths] = ({"weights": 0, "bias": 0},)

    @np.errstate()  # read_in_place lasts to its end
    def predict_proba(self, logits: ArrayLike) -> Floats:
        """Compute softmax(W x + b); 0 for a class whose logit is minus infinity."""
        table = validation.logits(logits)
        if table.shape[1] != len(self.bias):
            raise CalibrationInputError(
                "logits", f"{table.shape[1]} classes", f"the {len(self.bias)} of the fit"
            )
        inputs = Inputs(self.space, self.temperature, self.uniform_share)
        weights = self.weights if self.weights.ndim == 2 else self.weights[:, np.newaxis]
        parameters = np.hstack([weights, self.bias[:, np.newaxis]])
        result = np.empty(table.shape)
        read_in_place(len(table))
        for rows in _row_strips(table):
            for moved in (False, True):
                block, ruled_out = inputs.columns(table[rows])
                out = block if parameters.shape[1] == 2 else None
                outputs = linear_outputs(block, parameters, ruled_out, out)
                if moved:
                    outputs -= outputs.max(axis=0)
                with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                    total = turn_to_probabilities(outputs)
                if total.min() > _SAFE[0] and total.max() < _SAFE[1]:
                    break
            result[rows] = outputs.T
        return result

    def recipe(self) -> Recipe:
        numbers: dict[str, Any] = {"weights": self.weights, "bias": self.bias}
        lines = []
        mixed = self.space == "log_probabilities" and self.uniform_share > 0
        if self.temperature != 1:
            numbers["temperature"] = self.temperature
            lines.append("x = x / TEMPERATURE")
        if mixed:
            numbers["share"] = self.uniform_share
            lines += ["y = x", *SOFTMAX, "x = np.log((1 - SHARE) * y + SHARE / x.shape[1])"]
        else:
            middle = "x.mean(axis=1, keepdims=True)"
            total = "np.log(np.exp(x).sum(axis=1, keepdims=True))"
            lines += [*_ABOVE_FLOOR, f"x = x - {middle if self.space == 'logits' else total}"]
        product = "x @ WEIGHTS.T" if self.weights.ndim == 2 else "x * WEIGHTS"
        lines.append(f"y = {product} + BIAS")
        if not mixed:
            lines.append("y[ruled_out] = -np.inf")
        return numbers, [*lines, *SOFTMAX]

    def describe(self) -> Description:
        text = _before_weights(self)
        if self.weights.ndim == 1:
            classes = enumerate(zip(self.weights, self.bias, strict=True))
            rows = [(f"{k}", rounded(weight), rounded(bias)) for k, (weight, bias) in classes]
            meaning = (
                "w multiplies the input of a class: below 1, its logits count less. b is added:"
                " above 0, the class becomes more probable."
            )
            return Description(
                f"{text}{meaning}", DescriptionTable(("Class", "w", "b"), rows), by_class=True
            )
        own = np.diagonal(self.weights)
        others = self.weights[~np.eye(len(own), dtype=np.bool_)]
        return Description(
            f"{text}Mean weight of a class for itself: {rounded(own.mean())}; mean size of weights"
            f" between classes: {rounded(np.abs(others).mean())}; of a bias:"
            f" {rounded(np.abs(self.bias).mean())}."
        )


class CalibrationRows(NamedTuple):
    """What a fit starts from: the rows that can be fitted, and what to say of the others."""

    logits: Logits
    labels: Labels
    inverse_temperature: float
    warnings: tuple[str, ...]
    weights: RowWeights | None = None
    """Sampling weights, above 0."""

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.logits.shape[1])

    @property
    def absent(self) -> NDArray[np.int64]:
        """Classes that no row belongs to."""
        return np.flatnonzero(np.bincount(self.labels, minlength=self.n_classes) == 0)


def possible_rows(
    logits: ArrayLike, labels: ArrayLike, weights: RowWeights | None = None
) -> CalibrationRows:
    """Check a calibration set, and leave out the rows whose true class is ruled out."""
    rows = LogitSet(logits, labels)
    possible = np.isfinite(rows.logits[np.arange(rows.n_samples), rows.labels])
    # Classes that keep the temperature need the exact one; a search can start from a rough one.
    all_seen = np.bincount(rows.labels[possible], minlength=rows.n_classes).all()
    rough = bool(all_seen) and rows.n_samples >= _MANY_ROWS
    some = slice(None, None, _ONE_IN if rough else 1)
    few = LogitRows.checked(rows.logits[some], rows.labels[some]).weighted_by(_of(weights, some))
    inverse = 1 / fit_temperature(few, "nll", rough=rough).temperature
    if possible.all():
        return CalibrationRows(rows.logits, rows.labels, inverse, (), weights)
    left_out = f"{np.count_nonzero(~possible):,} calibration rows were left out of the fit: the"
    left_out += " model rules their true class out, and so does every linear map."
    some_weights = _of(weights, possible)
    return CalibrationRows(
        rows.logits[possible], rows.labels[possible], inverse, (left_out,), some_weights
    )


def _of(weights: RowWeights | None, some: slice | NDArray[np.bool_]) -> RowWeights | None:
    return None if weights is None else RowWeights(weights.values[some], weights.kind)


@np.errstate()
def fit_linear(  # noqa: PLR0913 - what is fitted, how, and from where
    rows: CalibrationRows,
    inputs: Inputs,
    penalty: Penalty,
    *,
    bias: bool = True,
    strengths: tuple[float, ...] | None = (),
    progress: Progress | None = None,
    near: FittedLinear | None = None,
) -> FittedLinear:
    """Fit the linear model and say what the user should know of the fit.

    ``rows``, ``inputs``, ``penalty``: what to fit, on what, and how much to hold back; ``penalty``
    also says whether the matrix is full. ``bias``: whether there is one. ``strengths``: the
    penalty's strengths, to be recorded; without them cross-validation chooses ODIR's, or, beyond
    `calibcore.calibrators.method.is_searched`, the size of the table does. ``progress``: told
    the share of the fit that is done. ``near``: a fit to most of these rows, near whose
    strengths the search for them begins.
    """
    read_in_place(len(rows.labels))
    n_classes = rows.n_classes
    start = np.zeros_like(penalty.strength)
    own = (np.arange(n_classes), np.arange(n_classes) if start.shape[1] > 2 else 0)
    start[own] = rows.inverse_temperature
    free = np.ones(start.shape, dtype=np.bool_)
    free[:, -1] = bias
    # A class without rows would run off to minus infinity if nothing held it back.
    all_penalised = bool(
        penalty.strength[own].all() and (penalty.strength[:, -1].all() or not bias)
    )
    absent, warnings = rows.absent, rows.warnings
    if not all_penalised:
        free[absent] = False
    if len(rows.labels) == 0 or (not all_penalised and len(absent) == n_classes - 1):
        nothing = Optimum(start, 0.0, 0.0, separated=False, escaping=False)
        why = _ONE_CLASS if len(rows.labels) else _NOTHING_LEFT
        return _fitted(nothing, inputs, strengths or (), (*rows.warnings, why))
    model = LinearModel(_source(rows, inputs, start), penalty, free, inputs.space == "logits")
    if strengths is None:
        if method.is_searched(model.n_rows, n_classes):
            chosen = odir.choose_odir(model, start, near=_near(near, start), progress=progress)
            strengths, progress = chosen.strengths, None
            warnings = (*warnings, *warnings_of_choice(chosen, n_classes))
        else:
            strengths = odir.strengths_by_size(model.n_rows, n_classes)
            most = {"cells": method.MOST_CELLS, "classes": method.MOST_CLASSES}
            warnings = (*warnings, _NOT_SEARCHED.format_map(most))
        model = replace(model, penalty=odir.odir_penalty(*strengths, n_classes=n_classes))
    left = SURE if model.long and rows.weights is None else 0.0
    if rows.weights is not None:
        optimum = minimise_weighted(model, rows.weights.values, start, progress=progress)
    else:
        # Where a step takes long, the last one is shorter: to what counts as the optimum.
        goal = CONVERGED / 2 if model.long or model.n_cells > _MANY_CELLS else GOAL
        optimum = minimise(model, start, goal=goal, left=left, progress=progress)
    warnings = (*warnings, *warnings_of(optimum, model, absent, left, all_penalised=all_penalised))
    return _fitted(optimum, inputs, strengths, warnings)


def _source(rows: CalibrationRows, inputs: Inputs, start: Floats) -> Iterable[Block]:
    """Make inputs once, or newly each time: beside a product of large matrices that is little."""
    blocks = CalibrationBlocks(rows.logits, rows.labels, inputs)
    few = rows.logits.size <= CACHE_CELLS and rows.logits.size * start.shape[1] <= LONG
    return list(blocks) if few else blocks


def _near(fitted: FittedLinear | None, start: Floats) -> odir.Near | None:
    """Return where the search of an earlier fit ended, if it is one of this kind."""
    if fitted is None or fitted.weights.shape != start[:, :-1].shape or len(fitted.penalty) != 2:
        return None
    lam, mu = fitted.penalty
    return odir.Near((lam, mu), np.column_stack([fitted.weights, fitted.bias]))


def _fitted(
    optimum: Optimum, inputs: Inputs, strengths: tuple[float, ...], warnings: tuple[str, ...]
) -> FittedLinear:
    full = optimum.parameters.shape[1] > 2
    return FittedLinear(
        weights=np.ascontiguousarray(
            optimum.parameters[:, :-1] if full else optimum.parameters[:, 0]
        ),
        bias=np.ascontiguousarray(optimum.parameters[:, -1]),
        space=inputs.space,
        temperature=inputs.temperature,
        uniform_share=inputs.uniform_share,
        penalty=strengths,
        loss=optimum.loss,
        gradient_norm=optimum.gradient_norm,
        warnings=warnings,
    )


def _before_weights(fitted: FittedLinear) -> str:
    text = "Inputs: log-probabilities. " if fitted.space == "log_probabilities" else ""
    if fitted.temperature != 1:
        text = f"{text}Logits are first divided by T = {rounded(fitted.temperature)}. "
    if any(fitted.penalty):
        strengths = " and ".join(rounded(one) for one in fitted.penalty)
        text = f"{text}Strength of the penalty: {strengths}. "
    return text
