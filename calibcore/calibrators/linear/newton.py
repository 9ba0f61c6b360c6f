"""Cheap stand-ins for the inverse Hessian of the linear model, which speed its Newton steps."""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibcore.calibrators.base import Progress
from calibcore.calibrators.linear.model import Evaluation, LinearModel, largest_of
from calibcore.validation import Floats, Logits

Product = Callable[[Floats], Floats]

_TINY = 64
_EXACT = 600
_DENSE = 4_096
_WORK = 1e11
_SMALLEST = float(np.finfo(np.float64).tiny)


class Inverse:
    """The stand-in for the inverse Hessian, made again once that pays.

    That of a diagonal matrix starts with each class by itself, which does well where little is
    asked of a step, far from the optimum. Once there is a better one, it is brought to where the
    model is, class by class: of the Hessian's change the largest part, by far, is that each class's
    own part grows or shrinks.
    """

    def __init__(self, model: LinearModel) -> None:
        self.model = model
        self._n_products_then = 0
        self._approximate: Product | None = None
        self._last: Product | None = None
        self._parts: Floats | None = None

    def now(self, *, keep: bool = False) -> Product:
        """Return one for where the model is now; or, if ``keep``, the one that there is."""
        if not keep or self._last is None:
            self._last = self._renewed()
        return self._last

    def _renewed(self) -> Product:
        model = self.model
        if model.n_products - self._n_products_then < self._products_worth():
            if self._approximate is not None:
                return self._followed(self._approximate)
            if self._follows():
                return _class_by_class(model)
        self._approximate = self._last = None  # makes room
        self._approximate, self._n_products_then = approximate_inverse(model), model.n_products
        if self._follows():
            self._parts = _own_parts(model)
        return self._approximate

    @property
    def exact(self) -> bool:
        """Whether it is the inverse itself, but for rounding, made again for each step."""
        return self._products_worth() == 0

    def _products_worth(self) -> int:
        """Return about how many products with the Hessian take as long as to make another."""
        size = int(self.model.strength.size)
        if self.model.strength.shape[1] == 2:
            return 5 + size // 25 if self._follows() else 0
        return 5 + size // 8 if size <= _EXACT else 11

    def _follows(self) -> bool:
        return self.model.strength.shape[1] == 2 and self.model.strength.size > _TINY

    def _followed(self, product: Product) -> Product:
        if self._parts is None:
            return product
        turn = self._parts @ np.linalg.inv(_own_parts(self.model))
        back = turn.swapaxes(1, 2)

        def turned(slope: Floats) -> Floats:
            moved = product(np.vecdot(turn, slope[:, np.newaxis]))
            return np.asarray(np.vecdot(back, moved[:, np.newaxis]))

        return _settled(turned, self.model)


def _class_by_class(model: LinearModel) -> Product:
    """Invert the Hessian of each class's weight and bias alone."""
    root = np.linalg.inv(_own_parts(model))
    parts = root.swapaxes(1, 2) @ root
    return _settled(lambda slope: np.vecdot(parts, slope[:, np.newaxis]), model)


def _own_parts(model: LinearModel) -> Floats:
    """Factorise the Hessian of each class's weight and bias alone, shape (n_classes, 2, 2)."""
    ends = np.arange(2)
    sums = model.own_sums()
    # What is lost to rounding, as a difference of sums, is far less than this.
    lift = 1e-5 * sums[:, ends, ends]
    squares = np.zeros((len(model.free), 3))
    for _, (mixed, weights) in model.contributions():
        each = np.vecdot(mixed, mixed), np.vecdot(mixed, weights), np.vecdot(weights, weights)
        squares += np.stack(each, axis=1)
    hessians = (sums - squares[:, [0, 1, 1, 2]].reshape(-1, 2, 2)) / model.n_rows
    least = 1e-12 * np.array([float(model.mean_squares.max()), 1.0]) + _SMALLEST
    hessians[:, ends, ends] += 2 * model.strength + lift / model.n_rows + least
    # Where all is rounding, the part beside the diagonal might exceed what is on it.
    most = (1 - 1e-9) * np.sqrt(hessians[:, 0, 0]) * np.sqrt(hessians[:, 1, 1])
    hessians[:, 0, 1] = hessians[:, 1, 0] = np.clip(hessians[:, 0, 1], -most, most)
    return np.asarray(np.linalg.cholesky(hessians))


def approximate_inverse(model: LinearModel) -> Product:
    """Make a symmetric, positive stand-in for the inverse Hessian, where the model is now.

    A diagonal matrix with its bias, or a full one with few classes, has its whole Hessian
    inverted. Otherwise two parts are added: the inverse for the diagonal and the bias alone, and
    that of the Hessian averaged over rows as a Kronecker product of a table over classes and one
    over inputs.
    """
    strength, free = model.strength, model.free
    full = strength.shape[1] > 2
    if not full or strength.size <= _EXACT:
        return _settled(_dense_inverse(model, full=full), model)
    rest, own = _kronecker_inverse(model), _dense_inverse(model, full=False)
    classes = np.arange(len(free))

    def product(slope: Floats) -> Floats:
        step = rest(slope)
        pair = own(np.column_stack([slope[classes, classes], slope[:, -1]]))
        step[classes, classes] += pair[:, 0]
        step[:, -1] += pair[:, 1]
        return step

    return _settled(product, model)


def _settled(product: Product, model: LinearModel) -> Product:
    """Keep held parameters, and all directions that change no probability, where they are."""
    free = model.free
    loose = np.logical_and(free.all(axis=0), ~model.strength.any(axis=0))
    if free.shape[1] == 2:
        loose = np.array([False, loose[1]])

    equal_columns = model.centred and free.shape[1] > 2 and not model.strength[:, :-1].any()

    all_free = bool(free.all())

    def settled(slope: Floats) -> Floats:
        step = product(slope)
        if not all_free:
            step = np.where(free, step, 0.0)
        if equal_columns:
            step[:, :-1] -= step[:, :-1].mean(axis=1, keepdims=True)
        step[:, loose] -= step[:, loose].mean(axis=0)
        return step

    return settled


def _lifted(diagonal: Floats) -> Floats:
    """Keep what is divided by away from 0."""
    least = 1e-10 * float(diagonal.max()) + _SMALLEST
    return np.asarray(np.maximum(diagonal, least))


def _dense_inverse(model: LinearModel, *, full: bool) -> Product:
    """Invert the Hessian of the whole matrix, or of its diagonal and the bias.

    It is sum over rows of p_k (1 if k = l else 0 - p_l) x_i x_j, for entries (i, k) and (j, l).
    """
    n_classes = len(model.free)
    width = n_classes + 1 if full else 2
    size = n_classes * width
    every = max(1, math.ceil(model.n_rows * float(size) ** 2 / _WORK))
    dense = size <= _DENSE
    table = np.zeros((size, size) if dense else size, dtype=model.kind)
    same = np.zeros((n_classes, width, width))
    shared = model.strength.shape[1] == 2 and every == 1
    used = 0
    for inputs, each in _contributions(model, every, full=full):
        if not shared:
            same += _of_one_class(each, inputs, full=full)
        rows = each.reshape(size, -1)
        table -= rows @ rows.T if dense else np.vecdot(rows, rows)
        used += rows.shape[1]
    if shared:
        same = model.own_sums()
    penalty = np.asarray(model.strength if full else _pair(model.strength), dtype=np.float64)
    free = np.asarray(model.free if full else _pair(model.free), dtype=np.bool_)
    squares = np.diagonal(same, axis1=1, axis2=2).T.ravel()
    if not dense:
        diagonal = _lifted((table + squares) / used + 2 * penalty.T.ravel())
        return lambda slope: slope / diagonal.reshape(width, n_classes).T
    blocks = table.reshape(width, n_classes, width, n_classes)
    classes = np.arange(n_classes)
    blocks[:, classes, :, classes] += same.astype(model.kind)
    table /= used
    table[np.diag_indices(size)] += 2 * penalty.T.ravel().astype(model.kind)
    ends = np.maximum(_lifted(np.diagonal(table)), 1e-6 * (float(model.mean_squares.max()) or 1.0))
    # A Hessian has no negative eigenvalue but for rounding, which the lift exceeds: it is the
    # difference of two sums, each rounded.
    eps = float(np.finfo(model.kind).eps)
    lift = (1e-9 if eps < 1e-9 else 1e-5) * ends + 16 * eps * squares / used
    table[np.diag_indices(size)] += lift.astype(model.kind)
    return _inverted(table, free.T.ravel())


def _with_bias(inputs: Logits) -> Logits:
    return np.vstack([inputs, np.ones((1, inputs.shape[1]), dtype=inputs.dtype)])


def _contributions(
    model: LinearModel, every: int, *, full: bool
) -> Iterator[tuple[Logits, NDArray[Any]]]:
    """Return inputs x_i and p_k x_i of one row in so many, shape (width, n_classes, n_rows)."""
    if not full:
        for inputs, pair in model.contributions():
            some = pair[:, :, ::every]
            yield inputs[:, ::every], some if every == 1 else some.copy()
        return
    for inputs, weights in model.weighted():
        wide = _with_bias(inputs[:, ::every])
        yield wide, wide[:, np.newaxis] * weights[:, ::every]


def _of_one_class(each: NDArray[Any], inputs: Logits, *, full: bool) -> NDArray[Any]:
    """Sum p_k x_i x_j over rows, shape (n_classes, width, width)."""
    if full:
        return np.tensordot(each, inputs, axes=(2, 1)).swapaxes(0, 1)
    square, mixed, weight = np.vecdot(each[0], inputs), each[0].sum(axis=1), each[1].sum(axis=1)
    return np.stack([square, mixed, mixed, weight], axis=1).reshape(-1, 2, 2)


def _pair(values: NDArray[Any]) -> NDArray[Any]:
    """Take the diagonal's and the bias's column out of an array like the parameters."""
    own = np.diagonal(values) if values.shape[1] > 2 else values[:, 0]
    return np.column_stack([own, values[:, -1]])


def _inverted(table: NDArray[Any], free: NDArray[np.bool_]) -> Product:
    """Invert a positive table over the model's parameters, transposed."""
    from scipy.linalg import lapack  # noqa: PLC0415 - slow to import

    fixed = np.flatnonzero(~free)
    table[fixed] = 0
    table[:, fixed] = 0
    table[fixed, fixed] = 1
    diagonal = np.diagonal(table).copy()
    double = table.dtype == np.float64
    solve = lapack.dpotrs if double else lapack.spotrs
    factor, failed = (lapack.dpotrf if double else lapack.spotrf)(
        table.T, lower=True, clean=False, overwrite_a=True
    )
    if failed:  # of huge inputs rounding may still exceed the lift
        return lambda slope: slope / diagonal.reshape(slope.shape[::-1]).T

    def product(slope: Floats) -> Floats:
        solution, _ = solve(factor, slope.T.ravel().astype(table.dtype), lower=True)
        return np.asarray(solution.reshape(slope.shape[::-1]).T, dtype=np.float64)

    return product


def _kronecker_inverse(model: LinearModel) -> Product:
    n_classes = len(model.free)
    classes = np.zeros((n_classes, n_classes), dtype=model.kind)
    inputs = np.zeros((n_classes + 1, n_classes + 1), dtype=model.kind)
    for block, weights in model.weighted():
        classes -= weights @ weights.T
        classes[np.diag_indices(n_classes)] += weights.sum(axis=1)
        wide = _with_bias(block)
        inputs += wide @ wide.T
    classes /= model.n_rows
    inputs /= model.n_rows
    left, left_basis = np.linalg.eigh(classes)
    right, right_basis = np.linalg.eigh(inputs)
    ridge = 2 * float(np.median(model.strength))
    scale = _lifted(np.outer(np.maximum(left, 0), np.maximum(right, 0)) + ridge)

    def product(slope: Floats) -> Floats:
        turned = left_basis.T @ slope.astype(left_basis.dtype) @ right_basis
        turned /= scale
        return np.asarray(left_basis @ turned @ right_basis.T, dtype=np.float64)

    return product


# Newton's method for the linear model: steps by conjugate gradients, shortened where needed ---


CONVERGED = 1e-8
"""Largest absolute entry of the gradient at which a fit counts as having reached its optimum."""

GOAL = 1e-10
"""Largest absolute entry of the gradient at which a search ends, unless told otherwise."""

SURE = 1e-7
"""Nats above the least loss within which a long search may end, where that is sure."""

NEAR = 1e-4
"""The same where a weight is free of the penalty, so that only no loss below 0 is sure."""

SLOW = 2e-6
"""A step that gains fewer nats ends such a search, if neither gain nor slope fell to a tenth."""

_NEWTON_STEPS = 100
_PRODUCTS = 1_500
_IN_A_STEP = 40
_IN_A_FAR_STEP = 12
_FAR = 1e-4
_VISIBLE = 1e-2
_HARDLY = 1e-8
_HARDLY_ROUGH = 1e-7
_STILL = 0.05


class Optimum(NamedTuple):
    """Where a search ended, and whether it looked as if there was nowhere to end.

    ``left`` bounds how far the loss is above the least.
    """

    parameters: Floats
    loss: float
    gradient_norm: float
    separated: bool
    escaping: bool
    left: float = math.inf


def minimise(
    model: LinearModel,
    start: Floats,
    *,
    goal: float = GOAL,
    left: float = 0.0,
    progress: Progress | None = None,
) -> Optimum:
    """Find the parameters that make the penalised mean NLL least.

    ``model``: what to fit. ``start``: where to start; parameters that are not free stay there.
    ``goal``: the search ends once no entry of the gradient is larger; less for small inputs.
    ``left``: or once the loss is surely no further than this above the least; where a weight is
    free of the penalty, than `NEAR`, or once steps gain little, as `SLOW` says. ``progress``: told
    the share that is done, also within a step.

    ``separated`` where nothing is penalised and some weights get every row right: the larger the
    weights, the better, so the search ends there. ``escaping`` where the last step still changed
    the parameters visibly, though the loss hardly fell.
    """
    model.n_products, model.report = 0, _reporter(progress, 0.0, 1.0)
    parameters, here = start, model.evaluate(start, rough=True)
    unbounded = not np.any(model.penalty.strength[model.free])
    hardly = _HARDLY if goal <= GOAL else _HARDLY_ROUGH
    goal *= min(1.0, math.sqrt(model.mean_squares.mean()) or 1.0)
    first = least = max(here.gradient_norm, goal)
    step_size = fallen = last = share = gained = math.inf
    unsure, inverse = left > 0 and _least_strength(model) == 0, Inverse(model)
    for _ in range(_NEWTON_STEPS):
        near = here.gradient_norm <= goal or _left(model, here) <= (NEAR if unsure else left)
        if near or (unbounded and here.separated) or model.n_products > _PRODUCTS:
            break
        least = min(least, here.gradient_norm)
        model.report = _reporter(progress, math.log(first / least), math.log(first / goal))
        # Even an exact inverse has rounding errors; where its last step did little, they matter.
        direct = inverse.exact and here.gradient_norm < last / 4
        share, before, last = here.gradient_norm / last or 1.0, share, here.gradient_norm
        pull = inverse.now(keep=_will_do(share, before, last, goal) if direct else share < _STILL)
        step = pull(-here.slope) if direct else _newton_step(model, here, pull, goal, share)
        moved = _searched_along(model, parameters, here, step)
        del pull, step  # makes room for others
        if moved is None and model.kind == np.float64:
            break
        if moved is None or _led_nowhere(model, here, moved[1]):
            model.use_double()
            inverse = Inverse(model)
            here = model.evaluate(parameters)
            continue
        step_size = largest_of(moved[0] - parameters) / (1 + largest_of(parameters))
        fallen, fall_before = math.inf if here.rough else here.loss - moved[1].loss, fallen
        gain_before, gained, (parameters, here) = gained, here.loss - moved[1].loss, moved
        slow = _hardly_falls(gain_before, gained, SLOW) and 10 * here.gradient_norm > last
        still = step_size > _VISIBLE and _hardly_falls(fall_before, fallen, hardly)
        if still or (unsure and slow):
            break
    here = model.evaluate(parameters) if here.rough else here
    model.report = _reporter(progress, 1.0, 1.0)
    model.report()
    ended = here.separated and unbounded, _VISIBLE < step_size < math.inf and fallen < hardly
    return Optimum(parameters, here.loss, here.gradient_norm, *ended, _left(model, here))


def _hardly_falls(before: float, now: float, most: float) -> bool:
    """Return whether a search is slow; near an optimum a fall is the square of the one before."""
    return before / 10 < now < most


def _least_strength(model: LinearModel) -> float:
    return float(model.strength[model.free].min(initial=math.inf))


def _left(model: LinearModel, here: Evaluation) -> float:
    """Bound how far the loss is above the least: it curves by the penalty's part or more.

    Nor is any loss below 0.
    """
    if here.rough:
        return math.inf
    least = _least_strength(model)
    squares = float(np.vdot(here.slope, here.slope))
    return min(here.loss, squares / (4 * least)) if least > 0 else here.loss


def _will_do(share: float, before: float, norm: float, goal: float) -> bool:
    """Return whether the inverse of the step before is good enough to end with.

    The Hessian has changed by about twice the share to which the gradient fell, and that is about
    the square of the share before, where rounding does not hide it.
    """
    return 2 * min(share, before**2) * norm <= goal / 2


def _led_nowhere(model: LinearModel, before: Evaluation, after: Evaluation) -> bool:
    """Return whether single precision is no longer enough: at an optimum a step does far more."""
    if model.kind == np.float64 or before.rough:
        return False
    hardly = before.loss - after.loss < _HARDLY
    return hardly and after.gradient_norm > before.gradient_norm / 2


def _reporter(progress: Progress | None, done: float, whole: float) -> Callable[[], None]:
    """Make what tells how far the gradient has come down, in decades."""
    if progress is None:
        return lambda: None
    share = min(max(done / whole, 0.0), 1.0)
    return lambda: progress(share)


def _newton_step(
    model: LinearModel, here: Evaluation, inverse: Product, goal: float, share: float
) -> Floats:
    """Solve Hessian * step = -slope by conjugate gradients, the closer the better steps do.

    An exact one would leave the slope about the square of the ``share`` that the step before left;
    single precision hides how much closer than the floor the solution is.
    """
    floor = 3e-3 if here.rough else 1e-3
    exactness = min(0.3, max(floor, share**2, 0.2 * goal / here.gradient_norm))
    flat = 1e-15 * model.steepest
    step = np.zeros_like(here.slope)
    rest = -here.slope
    direction = inverse(rest)
    first = size = float(np.vdot(rest, direction))
    far = model.full and here.gradient_norm > _FAR
    most = min(_PRODUCTS, model.n_products + (_IN_A_FAR_STEP if far else _IN_A_STEP))
    while size > 0 and model.n_products <= most:
        turned = model.product(direction)
        curvature = float(np.vdot(direction, turned))
        if curvature <= flat * float(np.vdot(direction, direction)):
            break  # rounding decides what happens along a direction that changes nothing
        turned *= size / curvature
        rest -= turned
        step += np.multiply(direction, size / curvature, out=turned)
        del turned
        pulled = inverse(rest)
        following = float(np.vdot(rest, pulled))
        if following <= exactness**2 * first:
            break
        direction *= following / size
        direction += pulled
        del pulled
        size = following
    return step if np.any(step) else direction


def _searched_along(
    model: LinearModel, parameters: Floats, here: Evaluation, step: Floats
) -> tuple[Floats, Evaluation] | None:
    """Halve the step until the loss falls as its slope says, or give up."""
    fall = float(np.vdot(here.slope, step))
    rounding = (1e-6 if here.rough else 1e-14) * max(1.0, abs(here.loss))
    rough = here.rough and here.gradient_norm > _FAR
    length = 1.0
    while length > 1e-18:
        there = parameters + length * step
        evaluation = model.evaluate(there, rough=rough)
        if evaluation.loss <= here.loss + 1e-4 * length * fall + rounding:
            stuck = evaluation.loss >= here.loss and evaluation.gradient_norm >= here.gradient_norm
            return None if stuck else (there, evaluation)
        length /= 2
        del there, evaluation
    return None
