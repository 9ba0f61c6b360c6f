"""Smooth maps of all classes fitted to rows that come in batches, of which only sums are kept.

The mean NLL of softmax(W x + b) is a sum over rows, and so are its gradient and its Hessian. A pass
over the batches adds them up, wherever these are, and Newton's method needs few passes from where a
sample of the rows leads.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore.calibrators.base import FittedVectorMap, VectorMap
from calibcore.calibrators.linear.fit import SEPARATED, FittedLinear, Inputs, listed
from calibcore.calibrators.linear.maps import (
    FullLinearMap,
    VectorScaling,
    full_penalty,
    strengths_of,
)
from calibcore.calibrators.linear.model import Block, Penalty, evaluated, pull_back
from calibcore.calibrators.linear.newton import CONVERGED
from calibcore.calibrators.method import Calibrator
from calibcore.calibrators.temperature import (
    SEPARABLE,
    TEMPERATURE_BOUNDS,
    FittedTemperature,
    LogitRows,
    TemperatureScaling,
    bound_warning,
)
from calibcore.data import LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.results import result_class
from calibcore.strips import strip_rows
from calibcore.validation import Floats, Logits

MOST_PARAMETERS = 600
"""Of a fit, whose Hessian has as many rows and columns."""

SAMPLE_CELLS = 1 << 21
"""Logits of the sample that a fit starts from."""

_MOST_PASSES = 50
_SHORTEST, _ROUNDING = 1e-9, 1e-14
_NOTHING = 1e-6
"""Nats a row up to which every row is right."""

_RCOND = 1e-12
"""Of directions in which the Hessian is 0 but for rounding, as nothing depends on them."""

Batch = tuple[ArrayLike, ArrayLike]
"""Logits and labels of some rows."""


@result_class
class LossSums:
    """Loss of some rows at some parameters, and its derivatives, summed; those of two sets add up.

    Attributes
    ----------
    n_rows : ndarray of int64, shape (n_classes,)
        Rows of each class.
    n_impossible : int
        Rows besides whose true class is ruled out, by a logit of minus infinity.
    loss : float
        In nats.
    gradient, hessian : ndarray of float64
        Shapes (n_parameters,) and (n_parameters, n_parameters).
    """

    n_rows: NDArray[np.int64]
    n_impossible: int
    loss: float
    gradient: Floats
    hessian: Floats

    def __add__(self, other: "LossSums") -> "LossSums":
        """Add up two sets of rows."""
        return LossSums(
            self.n_rows + other.n_rows,
            self.n_impossible + other.n_impossible,
            self.loss + other.loss,
            self.gradient + other.gradient,
            self.hessian + other.hessian,
        )


@result_class
class SmoothMap:
    """What is fitted, and its parameters so far: this is what the workers of an engine get.

    Attributes
    ----------
    inputs : Inputs
        What W and b act on.
    parameters : ndarray of float64, shape (n_classes, 2) or (n_classes, n_classes + 1)
        W's diagonal or W, then b.
    tied : bool
        Whether W is a number times the identity, which is the one parameter.
    """

    inputs: Inputs
    parameters: Floats
    tied: bool = False

    def sums(self, logits: ArrayLike, labels: ArrayLike, counts: Floats | None = None) -> LossSums:
        """Add up the loss of a batch and its derivatives.

        ``logits``, ``labels``: as of `calibcore.LogitSet`; shapes (n_samples, n_classes) and
        (n_samples,). ``counts``: how many equal rows each stands for; 1 by default.

        Raises `CalibrationInputError` for what is none.
        """
        rows = LogitSet(logits, labels)
        times = np.ones(rows.n_samples) if counts is None else counts
        possible = np.isfinite(rows.logits[np.arange(rows.n_samples), rows.labels])
        n_rows = np.bincount(rows.labels[possible], times[possible], minlength=rows.n_classes)
        size = 1 if self.tied else self.parameters.size
        loss, gradient, hessian = 0.0, np.zeros(size), np.zeros((size, size))
        some, step = np.flatnonzero(possible), strip_rows(max(rows.n_classes, size))
        for start in range(0, some.size, step):
            place = some[start : start + step]
            columns, ruled_out = self.inputs.columns(rows.logits[place])
            block = Block(columns, rows.labels[place], ruled_out)
            own, slope, bend = self._terms(block, times[place])
            loss, gradient, hessian = loss + own, gradient + slope, hessian + bend
        n_impossible = int(times[~possible].sum())
        return LossSums(n_rows.astype(np.int64), n_impossible, loss, gradient, hessian)

    def _terms(self, block: Block, times: Floats) -> tuple[float, Floats, Floats]:
        """Return the loss of a block, its gradient and its Hessian."""
        probabilities, own, total = evaluated(block, self.parameters)
        loss = float(times @ np.log(total) - times @ own)
        if self.tied:
            return loss, *_of_temperature(block, probabilities, times)
        off = probabilities.copy()
        off.put(block.places, off.take(block.places) - 1)
        gradient = np.zeros(self.parameters.shape)
        pull_back(off * times, block.inputs, gradient)
        return loss, gradient.ravel(), self._bend(block.inputs, probabilities, times)

    def _bend(self, inputs: Logits, probabilities: Logits, times: Floats) -> Floats:
        """Return sum p_k (1 if k = l else 0 - p_l) f_ki f_lj, f what a parameter multiplies."""
        n_classes, n_rows = inputs.shape
        ones = np.ones((n_classes, 1, n_rows))
        full = self.parameters.shape[1] > 2
        own = np.broadcast_to(inputs, (n_classes, *inputs.shape)) if full else inputs[:, np.newaxis]
        factors = np.concatenate([own, ones], axis=1)
        parts = factors * probabilities[:, np.newaxis]
        table = parts.reshape(-1, n_rows)
        hessian = np.asarray(-(table * times) @ table.T)
        same = (parts * times) @ factors.swapaxes(1, 2)
        width = self.parameters.shape[1]
        blocks = hessian.reshape(n_classes, width, n_classes, width)
        classes = np.arange(n_classes)
        blocks[classes, :, classes, :] += same
        return hessian

    def moved(self, step: Floats) -> "SmoothMap":
        """Return the map with its parameters moved by so much; shape (n_parameters,)."""
        if not self.tied:
            return replace(self, parameters=self.parameters + step.reshape(self.parameters.shape))
        lowest, highest = 1 / TEMPERATURE_BOUNDS[1], 1 / TEMPERATURE_BOUNDS[0]
        inverse = np.clip(self.parameters[0, 0] + step[0], lowest, highest)
        return replace(self, parameters=_tied(float(inverse), len(self.parameters)))


def _of_temperature(block: Block, probabilities: Logits, times: Floats) -> tuple[Floats, Floats]:
    weighted = probabilities * block.inputs
    mean = weighted.sum(axis=0)
    slope = times @ (mean - block.inputs.take(block.places))
    bend = times @ (np.vecdot(weighted.T, block.inputs.T) - mean * mean)
    return np.array([slope]), np.array([[bend]])


def _tied(inverse: float, n_classes: int) -> Floats:
    return np.column_stack([np.full(n_classes, inverse), np.zeros(n_classes)])


# The fit -------------------------------------------------------------------------------------


class BatchFit(NamedTuple):
    """A fit to all rows, and how near to it a sample of them alone would have come."""

    fitted: FittedVectorMap
    n_rows: int
    """That it was fitted to."""
    n_sample: int
    """Rows of the sample from which it started."""
    sample_excess: float
    """Nats by which the mean loss of all rows is higher with the fit to the sample."""
    n_passes: int
    """Passes over all rows, that for the sample not counted."""


def check_smooth(calibrator: Calibrator, n_classes: int) -> None:
    """Refuse a calibrator that is not fitted in batches, or has too many parameters for it."""
    wanted = (
        "temperature, vector scaling, or matrix scaling or Dirichlet calibration without a search"
        " for the penalty, such as temperature, vector, matrix.penalty=none or dirichlet.penalty=l2"
    )
    searched = isinstance(calibrator, FullLinearMap) and calibrator.odir == "cv"
    other_loss = isinstance(calibrator, TemperatureScaling) and calibrator.loss != "nll"
    kinds = TemperatureScaling | VectorScaling | FullLinearMap
    if searched or other_loss or not isinstance(calibrator, kinds):
        actual = f"{calibrator!r}, which is not fitted in batches"
        raise CalibrationInputError("calibrator", actual, wanted)
    width = n_classes + 1 if isinstance(calibrator, FullLinearMap) else 2
    if not isinstance(calibrator, TemperatureScaling) and n_classes * width > MOST_PARAMETERS:
        actual = f"{n_classes * width:,} parameters for {n_classes:,} classes"
        wanted = f"at most {MOST_PARAMETERS:,} in batches; temperature has one"
        raise CalibrationInputError("calibrator", actual, wanted)


def fit_sums(
    calibrator: VectorMap, sample: LogitSet, add_up: Callable[[SmoothMap], LossSums]
) -> BatchFit:
    """Fit a smooth map by passes over rows that are elsewhere.

    ``calibrator``: one that `check_smooth` does not refuse. ``sample``: some of the rows, spread
    evenly. ``add_up``: gives `SmoothMap.sums` of all rows, added up.

    Raises `CalibrationInputError` for a calibrator that is not fitted in batches, and where no row
    can be fitted.

    Newton's method from the fit to the sample, each step shortened until the loss falls; it ends
    where no entry of the mean's gradient is above 1e-8. A class without a row in any batch keeps
    its parameters. The excess of the sample's fit is half the square of the first step in the
    Hessian, which is exact for a loss that is quadratic that near.
    """
    check_smooth(calibrator, sample.n_classes)
    first = calibrator.fit(sample.logits, sample.labels)
    search = _Search(calibrator, _start(first, sample.n_classes), add_up)
    excess = -search.fall / 2
    while search.norm > CONVERGED and search.n_passes < _MOST_PASSES and search.step():
        pass
    fitted = search.fitted(sample)
    return BatchFit(fitted, search.n_rows, sample.n_samples, max(excess, 0.0), search.n_passes)


def _start(first: FittedVectorMap, n_classes: int) -> SmoothMap:
    if isinstance(first, FittedTemperature):
        return SmoothMap(Inputs("logits"), _tied(1 / first.temperature, n_classes), tied=True)
    assert isinstance(first, FittedLinear)  # noqa: S101 - what `check_smooth` lets through
    weights = first.weights if first.weights.ndim == 2 else first.weights[:, np.newaxis]
    return SmoothMap(Inputs(first.space), np.column_stack([weights, first.bias]))


class _Search:
    """Where Newton's method is, and the passes that it took."""

    def __init__(
        self, calibrator: VectorMap, start: SmoothMap, add_up: Callable[[SmoothMap], LossSums]
    ) -> None:
        self._calibrator, self._add_up = calibrator, add_up
        self._penalty = _penalty(calibrator, start)
        self.n_passes, self.n_rows = 0, 0
        sums = self._pass(start)
        self.n_rows = int(sums.n_rows.sum())
        if not self.n_rows:
            actual = "classes that their own row rules out"
            raise CalibrationInputError("labels", actual, "some that are possible")
        self._free = self._allowed(start, sums)
        self._arrive(start, sums)

    def _pass(self, there: SmoothMap) -> LossSums:
        self.n_passes += 1
        return self._add_up(there)

    def _allowed(self, start: SmoothMap, sums: LossSums) -> NDArray[np.bool_]:
        """Return which parameters are fitted: not those of a class that nothing holds."""
        if start.tied:
            return np.ones(1, dtype=np.bool_)
        free = np.ones(start.parameters.shape, dtype=np.bool_)
        free[:, -1] = getattr(self._calibrator, "bias", True)
        if not self._penalty.strength.all():
            free[sums.n_rows == 0] = False
        return free.ravel()

    def _arrive(self, at: SmoothMap, sums: LossSums) -> None:
        self._at, self._sums = at, sums
        self.loss, slope, hessian = self._penalised(at, sums)
        self._step = np.zeros(slope.size)
        bend = hessian[np.ix_(self._free, self._free)]
        self._step[self._free] = -np.linalg.lstsq(bend, slope[self._free], rcond=_RCOND)[0]
        self.fall = float(slope @ self._step)
        self.norm = float(np.abs(slope[self._free]).max(initial=0.0))

    def _penalised(self, at: SmoothMap, sums: LossSums) -> tuple[float, Floats, Floats]:
        """Return the penalised mean loss with its gradient and its Hessian."""
        strength = self._penalty.strength.ravel()
        off = (at.parameters - self._penalty.centre).ravel()[: strength.size]
        loss = sums.loss / self.n_rows + float(strength @ off**2)
        slope = sums.gradient / self.n_rows + 2 * strength * off
        return loss, slope, sums.hessian / self.n_rows + 2 * np.diag(strength)

    def step(self) -> bool:
        """Go a step, shortened until the loss falls; return whether it did."""
        length = 1.0
        while length > _SHORTEST:
            there = self._at.moved(length * self._step)
            sums = self._pass(there)
            enough = self.loss + 1e-4 * length * self.fall + _ROUNDING * max(1.0, abs(self.loss))
            if self._penalised(there, sums)[0] <= enough:
                self._arrive(there, sums)
                return True
            length /= 4
        return False

    def fitted(self, sample: LogitSet) -> FittedVectorMap:
        """Return the map where the search is, and what is to be said of it."""
        at, warnings = self._at, self._warnings()
        if at.tied and self.loss < _NOTHING:
            return FittedTemperature(1.0, warnings=(*warnings, SEPARABLE))
        if at.tied:
            temperature = 1 / float(at.parameters[0, 0])
            rows = LogitRows.checked(sample.logits, sample.labels)
            return FittedTemperature(
                temperature, warnings=(*warnings, *bound_warning(temperature, rows))
            )
        own, bias = at.parameters[:, :-1], at.parameters[:, -1]
        return FittedLinear(
            weights=np.ascontiguousarray(own if own.shape[1] > 1 else own[:, 0]),
            bias=np.ascontiguousarray(bias),
            space=at.inputs.space,
            temperature=1.0,
            uniform_share=0.0,
            penalty=strengths_of(self._calibrator),
            loss=self.loss,
            gradient_norm=self.norm,
            warnings=warnings,
        )

    def _warnings(self) -> tuple[str, ...]:
        warnings = []
        if self._sums.n_impossible:
            warnings.append(
                f"{self._sums.n_impossible:,} rows were left out of the fit: the model rules their"
                " true class out, and so does every linear map."
            )
        absent = np.flatnonzero(self._sums.n_rows == 0)
        if absent.size and not self._at.tied:
            warnings.append(f"No row has {listed(absent)}, whose weights are therefore not fitted.")
        if self.loss < _NOTHING and not self._at.tied:
            warnings.append(SEPARATED)
        elif self.norm > CONVERGED:
            warnings.append(
                f"The fit stopped short of its optimum after {self.n_passes} passes: the loss still"
                f" has a slope of {self.norm:.1e}, where at most {CONVERGED:.0e} is wanted."
            )
        return tuple(warnings)


def _penalty(calibrator: VectorMap, start: SmoothMap) -> Penalty:
    """Return the penalty of a fit; shape of the parameters, or one of a temperature."""
    if isinstance(calibrator, FullLinearMap):
        odir = None if calibrator.odir == "cv" else calibrator.odir
        return full_penalty(odir, calibrator.l2, len(start.parameters))
    nothing = np.zeros((1, 1) if start.tied else start.parameters.shape)
    return Penalty(nothing, nothing)


def fit_batches(
    calibrator: VectorMap, batches: Iterable[Batch], *, sample_rows: int | None = None
) -> BatchFit:
    """Fit a smooth map of all classes to more rows than memory holds.

    Parameters
    ----------
    calibrator : VectorMap
        `TemperatureScaling`, `VectorScaling`, or `MatrixScaling` or `DirichletScaling` without a
        search for the penalty, of at most `MOST_PARAMETERS` parameters.
    batches : iterable of (logits, labels)
        That can be gone through several times, such as a list, or an object that reads a file in
        ``__iter__``; shapes (n_samples, n_classes) and (n_samples,).
    sample_rows : int, optional
        Of the sample from which the fit starts; by default as many as hold 2^21 logits.

    Raises
    ------
    CalibrationInputError
        Another calibrator, batches that can be gone through once, of other classes each, or none.

    Notes
    -----
    As `fit_sums`, after a pass that counts the rows and one that samples them. The fit is that of
    ``calibrator.fit`` on all rows, to the digits that the optimum of either is found to.

    Examples
    --------
    >>> batches = [([[2.0, 0.0]] * 4, [0, 0, 0, 1]), ([[0.0, 2.0]] * 4, [1, 1, 1, 0])]
    >>> round(fit_batches(TemperatureScaling(), batches).fitted.temperature, 4)
    1.8205
    """
    if iter(batches) is batches:
        wanted = "a list, or an object that can be looped over repeatedly"
        raise CalibrationInputError("batches", "an iterator, which is gone through once", wanted)
    sizes = [np.shape(logits) for logits, _ in batches]
    if not sizes or len({size[1:] for size in sizes}) != 1 or len(sizes[0]) != 2:
        actual = "none" if not sizes else f"shapes {sorted(set(sizes))[:5]}"
        raise CalibrationInputError("batches", actual, "rows of the same classes in each")
    n_classes = sizes[0][1]
    check_smooth(calibrator, n_classes)
    most = SAMPLE_CELLS // n_classes if sample_rows is None else sample_rows
    every = -(-sum(size[0] for size in sizes) // max(most, 1))
    some = ((np.asarray(x)[::every], np.asarray(y)[::every]) for x, y in batches)
    logits, labels = zip(*some, strict=True)
    sample = LogitSet(np.concatenate(logits), np.concatenate(labels))

    def add_up(at: SmoothMap) -> LossSums:
        return reduce(add, (at.sums(logits, labels) for logits, labels in batches))

    return fit_sums(calibrator, sample, add_up)
