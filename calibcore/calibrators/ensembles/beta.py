"""What a beta ensemble's fit minimises: the maps on rows of logits, their loss, its gradient."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.calibrators.base import (
    AT_LEAST_0,
    POSITIVE,
    SHARES,
    FittedVectorMap,
    Lengths,
    Progress,
    Rules,
    SlowVectorMap,
    part_of,
    weighed_rows,
)
from calibcore.calibrators.descriptions import (
    SOFTMAX,
    Description,
    DescriptionTable,
    Recipe,
    percent,
    rounded,
)
from calibcore.calibrators.lifts import keep_decisions
from calibcore.calibrators.method import Cost, Fits, Method, WholeNumber
from calibcore.calibrators.score_maps.beta import CURVE
from calibcore.calibrators.temperature import LOSSES, Loss, TemperatureScaling
from calibcore.data import LogitSet, with_design
from calibcore.probabilities import below_largest
from calibcore.results import result_class
from calibcore.strips import row_maxima, row_strips, row_totals
from calibcore.validation import Floats, Labels, Logits
from calibcore.weights import SampleWeight

LARGEST_OFFSET = 50.0
"""Offsets c beyond which the logistic curve is a plain exponential, or is 1, to the last digit."""

SLOPE_BOUNDS = (1e-3, 1e3)
"""A slope a of 0 would not rise strictly."""

DEEPEST = -1e6
"""Logarithms of probabilities further down weigh as much as this."""

TINY = float(np.finfo(np.float64).tiny)
VANISHING, OVERFLOWING = 500.0, 700.0
_CACHE_CELLS = 1 << 20
_MOST_STEPS = 500

_USUAL_PASSES = 30
"""Passes over all rows after which about two thirds of a fit are taken to be done."""

_REPORT_CELLS = 1 << 22
"""Cells after which progress is told within a pass."""


class Maps(NamedTuple):
    """Parameters of the maps, each of shape (n_maps,)."""

    a: Floats
    b: Floats
    c: Floats
    weights: Floats


class _Block(NamedTuple):
    """Rows worked on together: ln p and ln(1 - p) of all classes, the true ones, and weights."""

    low: Floats
    high: Floats
    labels: Labels
    weights: Floats


def maps_of(parameters: Floats) -> Maps:
    """Turn a, b, c and the logarithm of the weight of each map, shape (4, n_maps), into maps."""
    a, b, c, log_weights = parameters
    weights = np.exp(log_weights - log_weights.max())
    return Maps(a, b, c, weights / weights.sum())


def logarithms(block: Logits, plain: Floats | None = None) -> tuple[Floats, Floats]:
    """Return ln p and ln(1 - p), neither of them infinite, and write p, where that is wanted."""
    low = np.empty(block.shape)
    below_largest(block, out=low)
    high = np.exp(low)
    total = row_totals(high)
    low -= np.log(total)
    np.clip(low, DEEPEST, 0.0, out=low)
    high *= 1 / total
    if plain is not None:
        plain[...] = high
    np.subtract(1, high, out=high)
    np.log(np.maximum(high, TINY, out=high), out=high)
    return low, high


def one_map(low: Floats, high: Floats, maps: Maps, number: int) -> tuple[Floats, Floats]:
    """Apply one map to rows: the normalised probabilities, and 1 - g."""
    a, b, c = maps.a[number], maps.b[number], maps.c[number]
    against = -a * low  # minus the logarithm of g / (1 - g)
    if b != 0:
        against += b * high
    against -= c
    if a * math.log(low.shape[1]) - c > VANISHING:  # what is possible for a row's largest
        # As g is the exponential there, to the last digit, a factor a row changes nothing.
        against -= np.maximum(-row_maxima(-against) - VANISHING, 0.0)
    g = np.exp(np.minimum(against, OVERFLOWING, out=against), out=against)
    g += 1
    np.reciprocal(g, out=g)
    slack = 1 - g
    g *= 1 / row_totals(g)
    return g, slack


class FitProgress:
    """How much of a fit is done, and who is told.

    ``progress``: told the share. ``n_cells``: size of the table of all rows.
    """

    def __init__(self, progress: Progress, n_cells: int) -> None:
        self.progress, self.n_cells = progress, n_cells
        self.cells = self.reported = 0

    def add(self, n_cells: int) -> None:
        """Count cells that have been worked on, and now and then tell."""
        self.cells += n_cells
        if self.cells - self.reported >= _REPORT_CELLS:
            self.tell()

    def tell(self) -> None:
        """Report the share that is done, as far as it can be known."""
        self.reported = self.cells
        self.progress(1 - math.exp(-self.cells / (_USUAL_PASSES * self.n_cells)))


class Search:
    """The loss of an ensemble on given rows, and the search for its minimum."""

    def __init__(self, rows: LogitSet, loss: Loss, done: FitProgress) -> None:
        self.logits, self.labels, self.loss, self.done = rows.logits, rows.labels, loss, done
        self.weights = np.ones(rows.n_samples) if rows.weights is None else rows.weights.values
        self._cache = list(self._blocks()) if self.logits.size <= _CACHE_CELLS else None

    def _blocks(self) -> Iterator[_Block]:
        """Make blocks of rows in turn."""
        for rows in small_blocks(*self.logits.shape):
            yield _Block(*logarithms(self.logits[rows]), self.labels[rows], self.weights[rows])

    def minimise(self, start: Floats) -> tuple[Floats, bool]:
        """Search from parameters of shape (4, n_maps); tell whether the search converged."""
        from scipy.optimize import minimize  # noqa: PLC0415 - a third of a second to import

        bounds = [SLOPE_BOUNDS, (0.0, SLOPE_BOUNDS[1])]
        bounds += [(-LARGEST_OFFSET, LARGEST_OFFSET), (-LARGEST_OFFSET, LARGEST_OFFSET)]
        result = minimize(
            self.evaluate,
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            bounds=[bound for bound in bounds for _ in range(start.shape[1])],
            options={"maxiter": _MOST_STEPS, "ftol": 1e-11, "gtol": 1e-7},
        )
        return np.asarray(result.x, dtype=np.float64).reshape(start.shape), bool(result.success)

    def evaluate(self, flat: Floats) -> tuple[float, Floats]:
        """Return the mean loss and its gradient in the parameters."""
        parameters = flat.reshape(4, -1)
        maps = maps_of(parameters)
        value, gradient = 0.0, np.zeros(parameters.shape)
        add = self._add_nll if self.loss == "nll" else self._add_squared
        for block in self._cache or self._blocks():
            value += add(block, maps, gradient)
            self.done.add(block.low.size)
        # From the weights to their logarithms, which go through a softmax
        gradient[3] = maps.weights * (gradient[3] - maps.weights @ gradient[3])
        self.done.tell()
        total = float(self.weights.sum())
        return value / total, gradient.ravel() / total

    def _add_nll(self, block: _Block, maps: Maps, gradient: Floats) -> float:
        """Add a block of rows to the gradient, and give its loss."""
        low, high, labels, weights = block
        applied = [one_map(low, high, maps, number) for number in range(len(maps.weights))]
        at = np.arange(len(labels))
        chances = np.stack([part[at, labels] for part, _ in applied])
        own = np.maximum(maps.weights @ chances, TINY)
        for number, (part, slack) in enumerate(applied):
            share = weights * chances[number] / own
            gradient[3, number] -= share.sum()
            own_slack = slack[at, labels]
            pull = np.multiply(part, slack, out=part)
            sums = [np.vecdot(pull, low), -np.vecdot(pull, high), row_totals(pull)[:, 0]]
            sums[0] -= own_slack * low[at, labels]
            sums[1] += own_slack * high[at, labels]
            sums[2] -= own_slack
            gradient[:3, number] += np.stack(sums) @ (maps.weights[number] * share)
        return -float((weights * np.log(own)).sum())

    def _add_squared(self, block: _Block, maps: Maps, gradient: Floats) -> float:
        """Add a block of rows to the gradient, and give its loss."""
        low, high, labels, weights = block
        applied = [one_map(low, high, maps, number) for number in range(len(maps.weights))]
        off = np.zeros(low.shape)
        for weight, (part, _) in zip(maps.weights, applied, strict=True):
            off += weight * part
        off[np.arange(len(labels)), labels] -= 1
        each = weights[:, np.newaxis] * off
        for number, (part, slack) in enumerate(applied):
            pull = 2 * each * part
            total = row_totals(pull)
            gradient[3, number] += total.sum()
            pull -= part * total
            pull *= slack * maps.weights[number]
            gradient[:3, number] += np.vdot(pull, low), -np.vdot(pull, high), pull.sum()
        return float((each * off).sum())


def small_blocks(n_rows: int, n_classes: int) -> Iterator[slice]:
    """Cut rows into blocks of which some ten tables stay in a processor's cache."""
    return row_strips(n_rows, 4 * n_classes)


# An ensemble of beta calibration maps, the general parametric ensemble for that family --------


STRICTNESS = 1e-9
"""Share of the model's own probabilities, as in IRM: flat curves still keep the classes' order."""

_FIRST_ROWS = 256

_DIGITS = 20
"""Binary digits of the usual distance between logits that the fit regards: few for a float32."""

_OFF_HALF = 1 / 3
"""Added before rounding down, lest halves, which logits often are of a step, go either way."""

_NOTABLE = 1e-6
"""Weight from which it is said that a map is at a bound."""

_NEAR = 0.99
"""Share of a bound from which a parameter is at it: there the loss is too flat to come nearer."""

_NOT_CONVERGED = (
    "The fit was stopped before it had converged; a better ensemble of this kind may exist."
)
_LEFT_OUT = (
    "{:,} calibration rows were left out of the fit: the model gives their true class the"
    " probability 0, and so does every beta map."
)
_NOTHING_LEFT = "No row is left to fit, so the probabilities are kept as they are."
_UNDETERMINED = (
    "Map {} of the mixture, of weight {:.2g}, ended at a bound of the search ({}): no finite curve"
    " fits these rows best, so what it makes of other rows is partly arbitrary."
)
_FLAT = (
    "Map {} of the mixture, of weight {:.2g}, is as flat at low probabilities as the search allows"
    " (a = {:.4g}); a flatter one would hardly differ."
)


@result_class
class FittedBetaEnsemble(FittedVectorMap):
    """A fitted ensemble of beta maps."""

    a: Floats
    b: Floats
    c: Floats
    """Slopes at low and at high probabilities, and offset, of each map; shape (n_maps,)."""
    weights: Floats
    """At least 0, summing to 1; shape (n_maps,)."""

    RULES: ClassVar[Rules] = {"a": POSITIVE, "b": AT_LEAST_0, "weights": SHARES}
    ALIKE: ClassVar[Lengths] = ({"a": 0, "b": 0, "c": 0, "weights": 0},)

    def predict_proba(self, logits: ArrayLike) -> Floats:
        """Calibrate rows of logits; 0 for a class whose logit is minus infinity."""
        checked = validation.logits(logits)
        maps = Maps(self.a, self.b, self.c, (1 - STRICTNESS) * self.weights)
        result = np.empty(checked.shape)
        for rows in small_blocks(*checked.shape):
            block = result[rows]
            low, high = logarithms(checked[rows], block)
            block *= STRICTNESS
            for number in range(len(self.weights)):
                part, _ = one_map(low, high, maps, number)
                part *= maps.weights[number]
                block += part
            block[np.isneginf(checked[rows])] = 0
            np.minimum(block, 1.0, out=block)  # weights may sum to a digit more than 1
            keep_decisions(block, checked[rows].argmax(axis=1))
        return result

    def recipe(self) -> Recipe:
        numbers = {
            "a": self.a, "b": self.b, "c": self.c,
            "weights": (1 - STRICTNESS) * self.weights,
        }  # fmt: skip
        return numbers, [
            "y = x",
            *SOFTMAX,
            "given = x - x.max(axis=1, keepdims=True)",
            "low = given - np.log(np.exp(given).sum(axis=1, keepdims=True))",
            f"low = np.clip(low, {DEEPEST!r}, 0.0)",
            f"high = np.log(np.maximum(1 - y, {TINY!r}))",
            f"y = {STRICTNESS!r} * y",
            "for a, b, c, weight in zip(A, B, C, WEIGHTS):",
            "    against = b * high - a * low - c",
            f"    least = against.min(axis=1, keepdims=True) - {VANISHING!r}",
            "    against = against - np.maximum(least, 0.0)",
            f"    g = 1 / (1 + np.exp(np.minimum(against, {OVERFLOWING!r})))",
            "    y = y + weight * g / g.sum(axis=1, keepdims=True)",
            "y = np.where(np.isneginf(x), 0.0, np.minimum(y, 1.0))",
        ]

    def describe(self) -> Description:
        columns = zip(self.a, self.b, self.c, self.weights, strict=True)
        rows = [
            (f"{place}", rounded(a), rounded(b), rounded(c), percent(weight))
            for place, (a, b, c, weight) in enumerate(columns, 1)
        ]
        return Description(CURVE, DescriptionTable(("Curve", "a", "b", "c", "Weight"), rows))


@dataclass(frozen=True)
class BetaEnsemble(SlowVectorMap):
    """Mix several beta calibration maps, each applied to all classes alike.

    The classes keep their order in every row, so accuracy cannot change.

    Parameters
    ----------
    n_maps : int, default 2
        How many maps; 1 is beta calibration made to keep the accuracy.
    loss : {"nll", "squared_error"}, default "nll"
        What the fit minimises, as for `TemperatureScaling`.

    Notes
    -----
    sum_m w_m g_m(p_k) / sum_j g_m(p_j), where g_m(p) = 1 / (1 + exp(-c_m) (1 - p)^b_m / p^a_m),
    a_m > 0, b_m >= 0, and the weights are at least 0 and sum to 1: section 3.2.2 with the beta
    family, each map normalised by eq. 4. The paper names this ensemble and leaves its size open.
    A curve can be flat to the last digit, so `STRICTNESS` times p_k is mixed in, as in step 3 of
    the paper's IRM; where doubles are too coarse even so, the uncalibrated decision is kept.

    The problem is not convex. All parameters move together (L-BFGS-B, analytic gradient), from
    temperature scaling, which is the limit b = 0, c to minus infinity, mixed with the uniform
    probabilities and the identity, a = b = 1, c = 0; on many rows, first on a part of them. What
    rounds differently may end elsewhere, so distances to a row's largest logit are rounded to 20
    binary digits of the usual one, and rows and their classes sorted, first: neither their order
    nor a constant added to a row can matter. Every beta map keeps a probability of 0, so the NLL
    leaves out rows whose true class is ruled out. ``warnings`` say so, and where a map ends at a
    bound, as with few rows or none that are wrong.

    References
    ----------
    Zhang et al., ICML 2020, section 3.2.2 and conclusion; Kull, Silva Filho, Flach, *Beta
    calibration*, AISTATS 2017.

    Examples
    --------
    >>> fitted = BetaEnsemble(n_maps=1).fit([[2.0, 0.0]] * 4, [0, 0, 0, 1])
    >>> fitted.predict_proba([[2.0, 0.0]]).round(3).tolist()
    [[0.75, 0.25]]
    """

    n_maps: int = 2
    loss: Loss = "nll"

    def __post_init__(self) -> None:
        """Check the options."""
        validation.whole_number(self.n_maps, "n_maps", least=1, most=10)
        validation.choice(self.loss, "loss", allowed=LOSSES)

    def fit(
        self,
        logits: ArrayLike,
        labels: ArrayLike,
        *,
        progress: Progress | None = None,
        sample_weight: SampleWeight = None,
    ) -> FittedBetaEnsemble:
        logits, labels, weights = weighed_rows(logits, labels, sample_weight)
        checked = with_design(LogitSet(logits, labels), sample_weight=weights)
        # The squared error is finite whatever the model rules out.
        possible, left_out = _possible(checked) if self.loss == "nll" else (checked, ())
        if possible is None:
            return _identity(*left_out, _NOTHING_LEFT)
        rows = _laid_out(possible)
        tempered = TemperatureScaling(loss=self.loss).fit(
            rows.logits, rows.labels, sample_weight=rows.weights
        )
        if tempered.warnings and tempered.temperature == 1:  # nothing to find
            return _identity(*left_out, *tempered.warnings)
        few = slice(None, None, max(1, min(rows.n_samples // _FIRST_ROWS, 12)))
        done = FitProgress(part_of(progress), rows.logits.size)
        search = Search(rows.rows(np.arange(rows.n_samples)[few]), self.loss, done)
        tried = [search.minimise(start) for start in _starts(self.n_maps, 1 / tempered.temperature)]
        best, converged = min(tried, key=lambda run: search.evaluate(run[0].ravel())[0])
        if few.step > 1:
            search = Search(rows, self.loss, done)
            best, converged = search.minimise(best)
        maps = maps_of(best)
        warnings = left_out if converged else (*left_out, _NOT_CONVERGED)
        return FittedBetaEnsemble(*maps, warnings=(*warnings, *_at_bounds(maps)))


def _identity(*warnings: str) -> FittedBetaEnsemble:
    one = np.ones(1)
    return FittedBetaEnsemble(one, one, np.zeros(1), one, warnings=warnings)


def _possible(rows: LogitSet) -> tuple[LogitSet | None, tuple[str, ...]]:
    """Leave out the rows whose true class is ruled out, and say so; none may be left."""
    possible = np.isfinite(rows.logits[np.arange(rows.n_samples), rows.labels])
    if possible.all():
        return rows, ()
    left = rows.rows(possible) if possible.any() else None
    return left, (_LEFT_OUT.format(np.count_nonzero(~possible)),)


def _laid_out(rows: LogitSet) -> LogitSet:
    """Round the distances to each row's largest logit, sort them, and the rows.

    Rows come by how far the true class is below the largest logit, then by how far all are, so that
    one in a few of them is like all. Where these are equal, the weights and the rows' bytes decide.
    """
    table: Any = np.sort(rows.logits, axis=1)
    largest = table[:, -1:].astype(np.float64)
    own = rows.logits[np.arange(rows.n_samples), rows.labels, np.newaxis]
    step, mixed = _step(table, largest[:, 0]), np.empty(rows.n_samples)
    weights = np.sqrt(np.arange(1.0, rows.n_classes + 1))
    with np.errstate(over="ignore"):  # a distance too large for a float is infinite
        own = _rounded(own - largest, step).astype(table.dtype)
        for part in row_strips(*table.shape):
            below = _rounded(table[part] - largest[part], step)
            table[part] = below
            mixed[part] = np.vecdot(np.maximum(below, DEEPEST), weights)
    order = table.view(np.dtype((np.void, table[0].nbytes))).ravel().argsort()
    each = np.ones(rows.n_samples) if rows.weights is None else rows.weights.values
    order = order[np.lexsort((each[order], mixed[order], own[order, 0]))]
    table, own = table[order], own[order]
    weights = None if rows.weights is None else each[order]
    return with_design(LogitSet(table, (table == own).argmax(axis=1)), sample_weight=weights)


def _step(ordered: Logits, largest: Floats) -> float:
    """Return the power of 2 distances are rounded to, by those of largest to smallest logit."""
    smallest = ordered[np.arange(len(ordered)), np.isneginf(ordered).sum(axis=1)]
    with np.errstate(over="ignore"):
        distances = largest - smallest
    usual = float(np.median(distances[distances > 0])) if distances.any() else 1.0
    return math.ldexp(1.0, math.frexp(usual)[1] - _DIGITS)


def _rounded(distances: Floats, step: float) -> Floats:
    """Round to multiples of a step; minus 0, which has other bytes than 0, becomes 0."""
    distances /= step
    distances += _OFF_HALF
    np.floor(distances, out=distances)
    distances *= step
    distances += 0
    return distances


def _starts(n_maps: int, inverse: float) -> list[Floats]:
    """Lay out a, b, c and the logarithm of the weight of each map, shape (4, n_maps).

    A tempered map comes first; then a nearly uniform one and the identity, in either order; then
    tempered ones at other temperatures. One map alone is tempered, with c far from 0 or 0.
    """
    slopes = inverse * 2.0 ** np.array([0, 0, 0, 1, -1, 2, -2, 3, -3, 4])[:n_maps]
    start = np.stack([slopes, np.zeros(n_maps), np.full(n_maps, -8.0), np.full(n_maps, -2.0)])
    start[3, 0] = 0.0
    start[0] = np.clip(start[0], *SLOPE_BOUNDS)
    if n_maps == 1:  # the search may end where the loss is flat, far from c = 0
        return [start, start * [[1.0], [1.0], [0.0], [1.0]]]
    starts = []
    for uniform, identity in ((1, 2), (2, 1)):
        placed = start.copy()
        placed[:3, uniform : uniform + 1] = [[0.01], [0.0], [-8.0]]
        placed[:3, identity : identity + 1] = [[1.0], [1.0], [0.0]]
        starts.append(placed)
    return starts if n_maps == 2 else starts[:1]


def _at_bounds(maps: Maps) -> tuple[str, ...]:
    """Name the maps of weight that ended at a bound.

    Not where b = 0, as a map must not fall, nor at the least c, the limit to the last digit.
    """
    warnings = []
    steepest, furthest = _NEAR * SLOPE_BOUNDS[1], _NEAR * LARGEST_OFFSET
    for number, (a, b, c, weight) in enumerate(zip(*maps, strict=True), start=1):
        ends = [("a", a, a >= steepest), ("b", b, b >= steepest), ("c", c, c >= furthest)]
        named = ", ".join(f"{name} = {value:.4g}" for name, value, at_bound in ends if at_bound)
        if weight >= _NOTABLE and named:
            warnings.append(_UNDETERMINED.format(number, weight, named))
        elif weight >= _NOTABLE and _NEAR * a <= SLOPE_BOUNDS[0]:
            warnings.append(_FLAT.format(number, weight, a))
    return tuple(warnings)


BETA_ENSEMBLE = Method(
    key="beta_ensemble",
    name="Beta ensemble",
    short="Beta mix",
    factory=BetaEnsemble,
    options=(WholeNumber("n_maps", 2, 1, 5),),
    paper="Zhang 2020, section 3.2.2",
    explained="Mixes several beta curves, each applied to the probabilities of all classes.",
    formula="sum_m w_m g_m(p_k) / sum_j g_m(p_j), weights summing to 1; 1e-9 p mixed in",
    acts_on="classes",
    preserves_accuracy=True,
    fits=Fits("numbers", 7),
    cost=Cost((9_500, 4_500, 1_100)),
)
