"""An ensemble of beta calibration maps, the general parametric ensemble for that family."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.blocks import row_blocks, row_maxima, row_totals
from calibcore.calibrators.base import FittedVectorMap, Progress, SlowVectorMap
from calibcore.calibrators.temperature import LOSSES, Loss, TemperatureScaling
from calibcore.data import LogitSet
from calibcore.probabilities import below_largest
from calibcore.validation import Floats, Labels, Logits

LARGEST_OFFSET = 50.0
"""Offsets c beyond which the logistic curve is a plain exponential, or is 1, to the last digit."""

SLOPE_BOUNDS = (1e-3, 1e3)
"""A slope a of 0 would not rise strictly."""

_TINY = float(np.finfo(np.float64).tiny)
_DEEPEST = -1e6
_VANISHING, _OVERFLOWING = 500.0, 700.0
_FIRST_ROWS = 256
_KEPT_CELLS = 1 << 20
_MOST_STEPS = 500

_NOT_CONVERGED = (
    "The fit was stopped before it had converged; a better ensemble of this kind may exist."
)
_LEFT_OUT = (
    "{:,} calibration rows were left out of the fit: the model gives their true class the"
    " probability 0, and so does every beta map."
)
_NOTHING_LEFT = "No row is left to fit, so the probabilities are kept as they are."


class _Maps(NamedTuple):
    """Parameters of the maps, each of shape (n_maps,)."""

    a: Floats
    b: Floats
    c: Floats
    weights: Floats


class _Block(NamedTuple):
    """Rows that are worked on together: ln p and ln(1 - p) of all classes, and the true classes."""

    low: Floats
    high: Floats
    labels: Labels


@dataclass(frozen=True, eq=False)
class FittedBetaEnsemble(FittedVectorMap):
    """A fitted ensemble of beta maps.

    Attributes
    ----------
    a, b, c : ndarray of float64, shape (n_maps,)
        Slopes at low and at high probabilities, and offset, of each map.
    weights : ndarray of float64, shape (n_maps,)
        At least 0, summing to 1.
    """

    a: Floats
    b: Floats
    c: Floats
    weights: Floats

    def predict_proba(self, logits: ArrayLike) -> Floats:
        """Calibrate rows of logits.

        Parameters
        ----------
        logits : array_like of float, shape (n_samples, n_classes)
            Raw outputs before softmax.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_classes)
            Rows sum to 1; 0 for a class whose logit is minus infinity.
        """
        checked = validation.logits(logits)
        maps = _Maps(self.a, self.b, self.c, self.weights)
        result = np.empty(checked.shape)
        for rows in _small_blocks(*checked.shape):
            low, high = _logarithms(checked[rows])
            block = result[rows]
            block[...] = 0
            for number in range(len(self.weights)):
                part, _ = _one_map(low, high, maps, number)
                part *= self.weights[number]
                block += part
            block[np.isneginf(checked[rows])] = 0
            np.minimum(block, 1.0, out=block)  # weights may sum to a digit more than 1
        return result


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

    The problem is not convex. All parameters move together (L-BFGS-B, analytic gradient), from
    temperature scaling, which is the limit b = 0, c to minus infinity, mixed with the uniform
    probabilities and the identity, a = b = 1, c = 0; on many rows, first on a part of them. What
    rounds differently may end elsewhere, so rows and their classes are sorted by logit first: the
    order in which they come cannot matter. Every beta map keeps a probability of 0, so the NLL
    leaves out rows whose true class is ruled out, and ``warnings`` say so.

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
        self, logits: ArrayLike, labels: ArrayLike, *, progress: Progress | None = None
    ) -> FittedBetaEnsemble:
        """Fit on the logits and labels of the calibration set.

        Parameters
        ----------
        logits : array_like of float, shape (n_samples, n_classes)
            Raw outputs before softmax.
        labels : array_like of int, shape (n_samples,)
            True classes, from 0.
        progress : callable, optional
            Told the share of the fit that is done, as far as it can be known.

        Returns
        -------
        FittedBetaEnsemble

        Raises
        ------
        CalibrationInputError
            NaN or infinity in the logits, labels that do not fit.
        """
        checked = LogitSet(logits, labels)
        # The squared error is finite whatever the model rules out.
        possible, left_out = _possible(checked) if self.loss == "nll" else (checked, ())
        if possible is None:
            return _identity(*left_out, _NOTHING_LEFT)
        rows = _laid_out(possible)
        tempered = TemperatureScaling(loss=self.loss).fit(rows.logits, rows.labels)
        if tempered.warnings and tempered.temperature == 1:  # nothing to find
            return _identity(*left_out, *tempered.warnings)
        few = slice(None, None, max(1, min(rows.n_samples // _FIRST_ROWS, 12)))
        fit = _Fit(rows.logits[few], rows.labels[few], self.loss, None)
        tried = [fit.minimise(start) for start in _starts(self.n_maps, 1 / tempered.temperature)]
        best, converged = min(tried, key=lambda found: fit.evaluate(found[0].ravel())[0])
        if few.step > 1:
            fit = _Fit(rows.logits, rows.labels, self.loss, progress)
            best, converged = fit.minimise(best)
        maps = _maps(best)
        said = left_out if converged else (*left_out, _NOT_CONVERGED)
        return FittedBetaEnsemble(maps.a, maps.b, maps.c, maps.weights, warnings=said)


def _identity(*said: str) -> FittedBetaEnsemble:
    one = np.ones(1)
    return FittedBetaEnsemble(one, one, np.zeros(1), one, warnings=said)


def _possible(rows: LogitSet) -> tuple[LogitSet | None, tuple[str, ...]]:
    """Leave out the rows whose true class is ruled out, and say so; none may be left."""
    possible = np.isfinite(rows.logits[np.arange(rows.n_samples), rows.labels])
    if possible.all():
        return rows, ()
    left = LogitSet(rows.logits[possible], rows.labels[possible]) if possible.any() else None
    return left, (_LEFT_OUT.format(np.count_nonzero(~possible)),)


def _laid_out(rows: LogitSet) -> LogitSet:
    """Sort the classes of each row, and the rows; the loss is the same but for rounding.

    Rows come by how far the true class is below the largest logit, then by how far all are, so that
    one in a few of them is like all. Where these are equal, the rows' bytes decide.
    """
    table: Any = np.sort(rows.logits, axis=1)
    table += 0  # minus 0 becomes 0, which has other bytes
    own = rows.logits[np.arange(rows.n_samples), rows.labels]
    weights = np.sqrt(np.arange(1.0, rows.n_classes + 1))
    blocks = (table[part] for part in row_blocks(*table.shape))
    below = (np.maximum(block - block[:, -1:], _DEEPEST) for block in blocks)
    mixed = np.concatenate([np.vecdot(block, weights) for block in below])
    order = table.view(np.dtype((np.void, table[0].nbytes))).ravel().argsort()
    order = order[np.lexsort((mixed[order], (own - table[:, -1])[order]))]
    table, own = table[order], own[order]
    return LogitSet(table, (table == own[:, np.newaxis]).argmax(axis=1))


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


def _maps(parameters: Floats) -> _Maps:
    a, b, c, log_weights = parameters
    weights = np.exp(log_weights - log_weights.max())
    return _Maps(a, b, c, weights / weights.sum())


def _logarithms(block: Logits) -> tuple[Floats, Floats]:
    """Give ln p and ln(1 - p), neither of them infinite."""
    low = np.empty(block.shape)
    below_largest(block, out=low)
    high = np.exp(low)
    total = row_totals(high)
    low -= np.log(total)
    np.clip(low, _DEEPEST, 0.0, out=low)
    high *= -1 / total
    high += 1
    np.log(np.maximum(high, _TINY, out=high), out=high)
    return low, high


def _one_map(low: Floats, high: Floats, maps: _Maps, number: int) -> tuple[Floats, Floats]:
    """Apply one map to rows: the normalised probabilities, and 1 - g."""
    a, b, c = maps.a[number], maps.b[number], maps.c[number]
    against = -a * low  # minus the logarithm of g / (1 - g)
    if b != 0:
        against += b * high
    against -= c
    if a * math.log(low.shape[1]) - c > _VANISHING:  # what is possible for a row's largest
        # As g is the exponential there, to the last digit, a factor a row changes nothing.
        against -= np.maximum(-row_maxima(-against) - _VANISHING, 0.0)
    g = np.exp(np.minimum(against, _OVERFLOWING, out=against), out=against)
    g += 1
    np.reciprocal(g, out=g)
    slack = 1 - g
    g *= 1 / row_totals(g)
    return g, slack


class _Fit:
    """The loss of an ensemble on given rows, and the search for its minimum."""

    def __init__(
        self, logits: Logits, labels: Labels, loss: Loss, progress: Progress | None
    ) -> None:
        self.logits, self.labels, self.loss, self.progress = logits, labels, loss, progress
        self.evaluations = 0
        self._kept = list(self._made()) if logits.size <= _KEPT_CELLS else None

    def _made(self) -> Iterator[_Block]:
        """Make blocks of rows in turn."""
        for rows in _small_blocks(*self.logits.shape):
            yield _Block(*_logarithms(self.logits[rows]), self.labels[rows])

    def minimise(self, start: Floats) -> tuple[Floats, bool]:
        """Search from parameters of shape (4, n_maps); tell whether the search converged."""
        from scipy.optimize import minimize  # noqa: PLC0415 - a third of a second to import

        bounds = [SLOPE_BOUNDS, (0.0, SLOPE_BOUNDS[1])]
        bounds += [(-LARGEST_OFFSET, LARGEST_OFFSET), (-LARGEST_OFFSET, LARGEST_OFFSET)]
        found = minimize(
            self.evaluate,
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            bounds=[bound for bound in bounds for _ in range(start.shape[1])],
            options={"maxiter": _MOST_STEPS, "ftol": 1e-11, "gtol": 1e-7},
        )
        return np.asarray(found.x, dtype=np.float64).reshape(start.shape), bool(found.success)

    def evaluate(self, flat: Floats) -> tuple[float, Floats]:
        """Give the mean loss and its gradient in the parameters."""
        parameters = flat.reshape(4, -1)
        maps = _maps(parameters)
        value, gradient = 0.0, np.zeros(parameters.shape)
        add = self._add_nll if self.loss == "nll" else self._add_squared
        for block in self._kept or self._made():
            value += add(block, maps, gradient)
        # From the weights to their logarithms, which go through a softmax
        gradient[3] = maps.weights * (gradient[3] - maps.weights @ gradient[3])
        self.evaluations += 1
        if self.progress is not None:
            self.progress(1 - math.exp(-self.evaluations / 30))
        return value / len(self.labels), gradient.ravel() / len(self.labels)

    def _add_nll(self, block: _Block, maps: _Maps, gradient: Floats) -> float:
        """Add a block of rows to the gradient, and give its loss."""
        low, high, labels = block
        applied = [_one_map(low, high, maps, number) for number in range(len(maps.weights))]
        at = np.arange(len(labels))
        chances = np.stack([part[at, labels] for part, _ in applied])
        own = np.maximum(maps.weights @ chances, _TINY)
        for number, (part, slack) in enumerate(applied):
            share = chances[number] / own
            gradient[3, number] -= share.sum()
            own_slack = slack[at, labels]
            pull = np.multiply(part, slack, out=part)
            sums = [np.vecdot(pull, low), -np.vecdot(pull, high), row_totals(pull)[:, 0]]
            sums[0] -= own_slack * low[at, labels]
            sums[1] += own_slack * high[at, labels]
            sums[2] -= own_slack
            gradient[:3, number] += np.stack(sums) @ (maps.weights[number] * share)
        return -float(np.log(own).sum())

    def _add_squared(self, block: _Block, maps: _Maps, gradient: Floats) -> float:
        """Add a block of rows to the gradient, and give its loss."""
        low, high, labels = block
        applied = [_one_map(low, high, maps, number) for number in range(len(maps.weights))]
        off = np.zeros(low.shape)
        for weight, (part, _) in zip(maps.weights, applied, strict=True):
            off += weight * part
        off[np.arange(len(labels)), labels] -= 1
        for number, (part, slack) in enumerate(applied):
            pull = 2 * off * part
            total = row_totals(pull)
            gradient[3, number] += total.sum()
            pull -= part * total
            pull *= slack * maps.weights[number]
            gradient[:3, number] += np.vdot(pull, low), -np.vdot(pull, high), pull.sum()
        return float(np.square(off).sum())


def _small_blocks(n_rows: int, n_classes: int) -> Iterator[slice]:
    """Cut rows into blocks of which some ten tables stay in a processor's cache."""
    return row_blocks(n_rows, 4 * n_classes)
