"""Newton's method for the linear model: steps by conjugate gradients, shortened where needed."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from calibcore.calibrators.base import Progress
from calibcore.calibrators.linear.curvature import Inverse, Product
from calibcore.calibrators.linear.model import Evaluation, LinearModel, largest_of
from calibcore.validation import Floats

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
    model.n_products, model.told = 0, _reporter(progress, 0.0, 1.0)
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
        model.told = _reporter(progress, math.log(first / least), math.log(first / goal))
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
    model.told = _reporter(progress, 1.0, 1.0)
    model.told()
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
        found = model.evaluate(there, rough=rough)
        if found.loss <= here.loss + 1e-4 * length * fall + rounding:
            stuck = found.loss >= here.loss and found.gradient_norm >= here.gradient_norm
            return None if stuck else (there, found)
        length /= 2
        del there, found
    return None
