"""One linear model, softmax(W x + b), with a structure and a penalty, fitted to its optimum.

The penalised mean NLL is convex in W and b. Newton's method finds its minimum; each Newton step
is solved by conjugate gradients, which needs only products with the Hessian, so no table larger
than W itself is made and the rows are worked on in blocks.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibcore.blocks import block_rows, row_maxima
from calibcore.calibrators.base import Progress
from calibcore.calibrators.curvature import Product, approximate_inverse
from calibcore.validation import Floats, Labels, Logits

CONVERGED = 1e-8
"""Largest absolute entry of the gradient at which a fit counts as having reached its optimum."""

_GOAL = 1e-10
_NEWTON_STEPS = 100
_PRODUCTS = 1_500
_KEPT_CELLS = 1 << 22
_NEAR = 0.1
_VISIBLE = 1e-2
_HARDLY = 1e-8


@dataclass(frozen=True, eq=False)
class Penalty:
    """Sum of strength * (parameter - centre)**2, added to the mean NLL.

    Parameters
    ----------
    strength, centre : ndarray of float64, shape of the parameters
        A strength of 0 leaves a parameter free.
    """

    strength: Floats
    centre: Floats


@dataclass(eq=False)
class LinearModel:
    """The rows a linear map is fitted on, and what its parameters may be.

    Parameters hold one row a class: its weights, then its bias. With two columns the matrix W is
    diagonal, with n_classes + 1 it is full.

    Parameters
    ----------
    inputs : ndarray of float64, shape (n_samples, n_classes)
        The inputs x, all finite.
    labels : ndarray of int64, shape (n_samples,)
        True classes.
    penalty : Penalty
        Its arrays give the parameters their shape.
    free : ndarray of bool, shape of the parameters
        False where a parameter keeps its first value.
    ruled_out : ndarray of bool, shape (n_samples, n_classes), optional
        True where the probability is 0 whatever the parameters.
    slices : tuple of slice
        The rows that count; all where none is given.
    centred : bool
        Whether the inputs of a row sum to 0, so that a matrix of equal columns changes nothing.

    Attributes
    ----------
    mean_squares : ndarray of float64, shape (n_classes,)
        Of each input, over all rows.
    """

    inputs: Floats
    labels: Labels
    penalty: Penalty
    free: NDArray[np.bool_]
    ruled_out: NDArray[np.bool_] | None = None
    slices: tuple[slice, ...] = ()
    centred: bool = False
    mean_squares: Floats = field(init=False)
    n_products: int = field(default=0, init=False)
    _at: Floats = field(init=False)
    _ones: Floats = field(init=False)
    _kept: Logits | None = field(init=False)
    _multiplied: Logits = field(init=False)

    def __post_init__(self) -> None:
        """Make room for the probabilities, where they are few enough to be kept."""
        self.slices = self.slices or (slice(0, len(self.inputs)),)
        self._kept, self._multiplied = None, self.inputs
        self._at, self._ones = self.penalty.centre, np.ones(self.inputs.shape[1])
        self.mean_squares = np.einsum("nk,nk->k", self.inputs, self.inputs) / len(self.inputs)
        if self.inputs.size <= _KEPT_CELLS:
            # Where the penalty bounds every curvature from below, single precision is enough for
            # a direction, and twice as fast; the loss and its gradient are always in double.
            single = self.full and 2 * self.strength.min() >= 1e-6 * self.steepest
            self._multiplied = self.inputs.astype(np.float32) if single else self.inputs
            self._kept = np.empty_like(self._multiplied)

    @property
    def steepest(self) -> float:
        """Give a size that the Hessian's entries do not exceed."""
        return float(max(self.mean_squares.max(), 1.0) + 2 * self.strength.max())

    @property
    def n_rows(self) -> int:
        """Number of rows that count."""
        return sum(rows.stop - rows.start for rows in self.slices)

    @property
    def strength(self) -> Floats:
        """Strength of each parameter's penalty."""
        return self.penalty.strength

    @property
    def full(self) -> bool:
        """Whether the matrix has entries off its diagonal."""
        return bool(self.penalty.strength.shape[1] > 2)

    def blocks(self) -> Iterator[slice]:
        """Cut the rows that count into blocks that stay in a processor's cache."""
        step = block_rows(self.inputs.shape[1])
        for rows in self.slices:
            for start in range(rows.start, rows.stop, step):
                yield slice(start, min(start + step, rows.stop))

    def outputs(self, parameters: Floats, rows: slice) -> Floats:
        """Give W x + b, minus infinity for what is ruled out."""
        found: Floats = _linear(self.inputs[rows], parameters)
        if self.ruled_out is not None:
            found[self.ruled_out[rows]] = -np.inf
        return found

    def evaluate(self, parameters: Floats) -> "Evaluation":
        """Give the penalised mean NLL with its gradient, and whether every row is right."""
        self._at = parameters
        loss, separated = 0.0, True
        slope = np.zeros_like(parameters)
        for rows in self.blocks():
            found = self.outputs(parameters, rows)
            place = (np.arange(len(found)), self.labels[rows])
            found -= row_maxima(found)
            own = found[place]
            np.exp(found, out=found)
            total = found @ self._ones
            loss += float(np.log(total).sum() - own.sum())
            separated = separated and bool(np.all(own == 0) and np.all(total < 2))
            found /= total[:, np.newaxis]
            if self._kept is not None:
                self._kept[rows] = found
            found[place] -= 1
            slope += _pulled_back(found, self.inputs[rows], full=self.full)
        off = parameters - self.penalty.centre
        pull = self.penalty.strength * off
        slope = np.where(self.free, slope / self.n_rows + 2 * pull, 0.0)
        return Evaluation(loss / self.n_rows + float((pull * off).sum()), slope, separated)

    def product(self, direction: Floats) -> Floats:
        """Multiply a direction by the Hessian at the parameters evaluated last."""
        self.n_products += 1
        found = np.zeros_like(direction)
        scale = float(np.abs(direction).max()) or 1.0
        kind = self._multiplied.dtype
        scaled, ones = np.asarray(direction / scale, dtype=kind), self._ones.astype(kind)
        for rows in self.blocks():
            weights, inputs = self._weights(rows), self._multiplied[rows]
            moved = _linear(inputs, scaled)
            moved *= weights
            moved -= weights * (moved @ ones)[:, np.newaxis]
            found += _pulled_back(moved, inputs, full=self.full)
        found = found * (scale / self.n_rows) + 2 * self.strength * direction
        return np.where(self.free, found, 0.0)

    def probabilities(self, rows: slice) -> Floats:
        """Give softmax(W x + b) at the parameters evaluated last."""
        return np.asarray(self._weights(rows), dtype=np.float64)

    def _weights(self, rows: slice) -> Logits:
        if self._kept is not None:
            return self._kept[rows]
        found = self.outputs(self._at, rows)
        found -= row_maxima(found)
        np.exp(found, out=found)
        found /= (found @ self._ones)[:, np.newaxis]
        return found


class Evaluation(NamedTuple):
    """Penalised mean NLL, its gradient, and whether each row has its true class strictly on top."""

    loss: float
    slope: Floats
    separated: bool

    @property
    def gradient_norm(self) -> float:
        """Largest absolute entry of the gradient."""
        return float(np.abs(self.slope).max())


class Optimum(NamedTuple):
    """Where a search ended, and whether it looked as if there was nowhere to end."""

    parameters: Floats
    loss: float
    gradient_norm: float
    separated: bool
    escaping: bool


def _linear(inputs: Logits, parameters: NDArray[Any]) -> Any:
    full = parameters.shape[1] > 2
    found = inputs @ parameters[:, :-1].T if full else inputs * parameters[:, 0]
    found += parameters[:, -1]
    return found


def _pulled_back(outputs: Logits, inputs: Logits, *, full: bool) -> NDArray[Any]:
    """Sum, over rows, what each parameter contributes to the outputs."""
    bias = np.ones(len(outputs), dtype=outputs.dtype) @ outputs
    weights = outputs.T @ inputs if full else np.einsum("nk,nk->k", outputs, inputs)
    return np.column_stack([weights, bias])


def minimise(
    model: LinearModel,
    start: Floats,
    *,
    goal: float = _GOAL,
    progress: Progress | None = None,
) -> Optimum:
    """Find the parameters that make the penalised mean NLL least.

    Parameters
    ----------
    model : LinearModel
        What to fit.
    start : ndarray of float64, shape of the parameters
        Where to start; parameters that are not free stay there.
    goal : float
        The search ends once no entry of the gradient is larger; less for small inputs.
    progress : callable, optional
        Told the share that is done, also within a step.

    Returns
    -------
    Optimum
        ``separated`` where nothing is penalised and some weights get every row right: the larger
        the weights, the better, so the search ends there. ``escaping`` where the last step still
        changed the parameters visibly, though the loss hardly fell.
    """
    model.n_products = 0
    parameters, here = start, model.evaluate(start)
    unbounded = not np.any(model.penalty.strength[model.free])
    spread = math.sqrt(model.mean_squares.mean())
    goal *= min(1.0, spread) if spread > 0 else 1.0
    first = least = max(here.gradient_norm, goal)
    step_size = fallen = math.inf
    for _ in range(_NEWTON_STEPS):
        if here.gradient_norm <= goal or model.n_products > _PRODUCTS:
            break
        if unbounded and here.separated:
            break
        if step_size > _NEAR:
            inverse = approximate_inverse(model)
        least = min(least, here.gradient_norm)
        report = _reporter(progress, math.log(first / least), math.log(first / goal))
        step = _newton_step(model, here.slope, inverse, goal, report)
        moved = _searched_along(model, parameters, here, step)
        if moved is None:
            break
        step_size = float(np.abs(moved[0] - parameters).max() / (1 + np.abs(parameters).max()))
        fallen, before = here.loss - moved[1].loss, fallen
        parameters, here = moved
        # Near an optimum each fall is about the square of the one before; towards infinity, a part.
        if step_size > _VISIBLE and before / 10 < fallen < _HARDLY:
            break
    if progress:
        progress(1.0)
    escaping = _VISIBLE < step_size < math.inf and fallen < _HARDLY
    separated = unbounded and here.separated
    return Optimum(parameters, here.loss, here.gradient_norm, separated, escaping)


def _reporter(progress: Progress | None, done: float, whole: float) -> Callable[[], None]:
    """Make what tells how far the gradient has come down, in decades."""
    if progress is None:
        return lambda: None
    share = min(max(done / whole, 0.0), 1.0)
    return lambda: progress(share)


def _newton_step(
    model: LinearModel,
    slope: Floats,
    inverse: Product,
    goal: float,
    told: Callable[[], None],
) -> Floats:
    """Solve Hessian * step = -slope by conjugate gradients, the closer the smaller the slope.

    ``told`` is called before each product with the Hessian.
    """
    largest = float(np.abs(slope).max())
    exactness = min(0.1, max(1e-3, largest**0.5, 0.2 * goal / largest))
    flat = 1e-15 * model.steepest
    step = np.zeros_like(slope)
    rest = -slope
    pulled = inverse(rest)
    direction = pulled
    first = size = float((rest * pulled).sum())
    while size > 0 and model.n_products <= _PRODUCTS:
        told()
        turned = model.product(direction)
        curvature = float((direction * turned).sum())
        if curvature <= flat * float((direction * direction).sum()):
            break  # rounding decides what happens along a direction that changes nothing
        step += (size / curvature) * direction
        rest = rest - (size / curvature) * turned
        pulled = inverse(rest)
        following = float((rest * pulled).sum())
        if following <= exactness**2 * first:
            break
        direction = pulled + (following / size) * direction
        size = following
    return step if np.any(step) else pulled


def _searched_along(
    model: LinearModel, parameters: Floats, here: Evaluation, step: Floats
) -> tuple[Floats, Evaluation] | None:
    """Halve the step until the loss falls as its slope says, or give up."""
    fall = float((here.slope * step).sum())
    rounding = 1e-14 * max(1.0, abs(here.loss))
    length = 1.0
    while length > 1e-18:
        there = parameters + length * step
        found = model.evaluate(there)
        if found.loss <= here.loss + 1e-4 * length * fall + rounding:
            stuck = found.loss >= here.loss and found.gradient_norm >= here.gradient_norm
            return None if stuck else (there, found)
        length /= 2
    return None
