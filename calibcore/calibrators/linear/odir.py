"""Off-diagonal and intercept regularisation (ODIR), and its strengths by cross-validation."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibcore.calibrators.base import Progress, part_of
from calibcore.calibrators.linear.model import Block, LinearModel, Penalty, summed_nll
from calibcore.calibrators.linear.newton import minimise
from calibcore.calibrators.temperature import LogitRows, fit_temperature
from calibcore.validation import Floats, Logits

FOLDS = 5
"""Parts of the calibration set, each held out once."""


_GOAL = 1e-4
_SAME = 1e-5
_WORSE_IN_A_ROW = 2


class Near(NamedTuple):
    """Lambda and mu that were chosen for most of the rows, and the parameters fitted with them."""

    strengths: tuple[float, float]
    parameters: Floats


class PenaltyChoice(NamedTuple):
    """Lambda and mu, and what they did on the rows held out.

    ``nll`` is the mean NLL of those rows, each under the fit on the other folds, and
    ``by_temperature`` that of temperature scaling on the same folds.
    """

    strengths: tuple[float, float]
    nll: float
    by_temperature: float


def odir_penalty(off_diagonal: float, bias: float, *, n_classes: int) -> Penalty:
    """Make the penalty of Kull 2019.

    lambda / (K (K - 1)) * sum over i != j of W_ij**2 + mu / K * sum over j of b_j**2: the means
    of the squares, the diagonal being left free.
    """
    strength = np.full((n_classes, n_classes + 1), off_diagonal / (n_classes * (n_classes - 1)))
    strength[np.diag_indices(n_classes)] = 0.0
    strength[:, -1] = bias / n_classes
    return Penalty(strength, np.zeros_like(strength))


def strengths_tried(n_classes: int) -> tuple[float, ...]:
    """Return the powers of ten that are tried, largest first: those of Kull 2019's experiments."""
    lowest = -5 if n_classes < 100 else -2
    return tuple(10.0**power for power in range(6, lowest - 1, -1))


def strengths_by_size(n_rows: int, n_classes: int) -> tuple[float, float]:
    """Return lambda and mu that need no search: they weigh as in structured matrix scaling.

    There, K (K - 1) / N times the squares off the diagonal, and K / N times those of the bias (see
    `calibcore.calibrators.StructuredMatrixScaling`).
    """
    return (n_classes * (n_classes - 1)) ** 2 / n_rows, n_classes**2 / n_rows


def choose_odir(
    model: LinearModel,
    start: Floats,
    *,
    near: Near | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> PenaltyChoice:
    """Choose lambda and mu by the mean NLL of rows held out.

    ``model``: the whole calibration set; its penalty is not used. ``start``: where the first fit
    starts; every other starts where the one before it ended. ``near``: where the walks begin,
    instead of at the largest. ``seed``: of the folds. ``progress``: told the share that is done.

    lambda and mu, with the mean NLL of the rows held out.

    Kull 2019 tries every pair. Here lambda = mu first goes down the powers of ten from the
    largest, then mu alone, both ways from there; each of the three walks ends after two steps
    for the worse, by more than the fits' own inexactness (1e-5, relatively). From strengths that
    were chosen for nearly the same rows, mu goes both ways, then lambda, and one such step ends a
    walk. The folds share out the classes, and within a class the inputs from low to high, so they
    depend neither on the order of the rows nor on the numbers of the classes.
    """
    tried = strengths_tried(len(start))
    if near is not None and set(near.strengths) <= set(tried):
        folds = _Folds(model, np.where(model.free, near.parameters, start), seed, progress, 8)
        chosen = _chosen_near(folds, tried, near.strengths)
    else:
        folds = _Folds(model, start, seed, progress, 2 * len(tried))
        both = folds.best([(strength, strength) for strength in tried])
        place = tried.index(both[0])
        down = folds.best([(both[0], mu) for mu in tried[place:]])
        up = folds.best([(both[0], mu) for mu in tried[place::-1]])
        chosen = min(down, up, key=lambda pair: folds.losses[pair])
    return PenaltyChoice(chosen, folds.losses[chosen] / model.n_rows, folds.by_temperature())


def _chosen_near(
    folds: "_Folds", tried: tuple[float, ...], near: tuple[float, float]
) -> tuple[float, float]:
    """Walk from strengths that are near the best, mu first."""
    lam, mu = near
    place = tried.index(mu)
    mu = min(
        folds.best([(lam, one) for one in tried[place:]], worse_in_a_row=1)[1],
        folds.best([(lam, one) for one in tried[place::-1]], worse_in_a_row=1)[1],
        key=lambda one: folds.losses[lam, one],
    )
    place = tried.index(lam)
    return min(
        folds.best([(one, mu) for one in tried[place:]], worse_in_a_row=1),
        folds.best([(one, mu) for one in tried[place::-1]], worse_in_a_row=1),
        key=lambda pair: folds.losses[pair],
    )


class _Folds:
    """The parts of a calibration set, where the fits without each ended, and what they lost."""

    def __init__(
        self, model: LinearModel, start: Floats, seed: int, progress: Progress | None, usual: int
    ) -> None:
        self.free, self.centred = model.free, model.centred
        self.parts = _parts(list(model.blocks), seed)
        self.reached = [start] * len(self.parts)
        self.losses: dict[tuple[float, float], float] = {}
        self.progress = part_of(progress)
        self.most = usual * len(self.parts)
        self.done = 0

    def best(
        self, pairs: list[tuple[float, float]], worse_in_a_row: int = _WORSE_IN_A_ROW
    ) -> tuple[float, float]:
        """Walk along the pairs until they only get worse, and give the best."""
        best, worse = pairs[0], 0
        for pair in pairs:
            loss = self._loss(pair)
            worse = worse + 1 if loss > (1 + _SAME) * self.losses[best] else 0
            if loss < self.losses[best]:
                best = pair
            if worse >= worse_in_a_row:
                break
        return best

    def by_temperature(self) -> float:
        """Return the mean NLL of the rows held out under temperature scaling of the others."""
        total = 0.0
        for fold in self.parts:
            rest = [block for part in self.parts if part is not fold for block in part]
            rows = LogitRows.checked(
                np.hstack([_logits(block) for block in rest]).T,
                np.concatenate([block.labels for block in rest]),
            )
            inverse = 1 / fit_temperature(rows, "nll").temperature
            parameters = np.tile([inverse, 0.0], (len(self.free), 1))
            total += summed_nll(fold, parameters)
        return total / sum(len(block.labels) for part in self.parts for block in part)

    def _loss(self, pair: tuple[float, float]) -> float:
        if pair not in self.losses:
            penalty = odir_penalty(*pair, n_classes=len(self.free))
            self.losses[pair] = sum(self._fold_nll(k, penalty) for k in range(len(self.parts)))
        return self.losses[pair]

    def _fold_nll(self, number: int, penalty: Penalty) -> float:
        """Return the summed NLL of one fold under the fit on the others."""
        fold = self.parts[number]
        rest = [block for part in self.parts if part is not fold for block in part]
        fitted = LinearModel(rest, penalty, self._free_in(rest), self.centred)
        self.reached[number] = minimise(
            fitted, self.reached[number], goal=_GOAL, progress=self._report
        ).parameters
        self.done += 1
        return summed_nll(fold, self.reached[number])

    def _free_in(self, blocks: list[Block]) -> NDArray[np.bool_]:
        """Hold the classes that the fold leaves without a row."""
        labels = np.concatenate([block.labels for block in blocks])
        present = np.bincount(labels, minlength=len(self.free)) > 0
        return np.asarray(self.free & present[:, np.newaxis])

    def _report(self, share: float) -> None:
        self.progress(min(1.0, (self.done + share) / self.most))


def _parts(blocks: list[Block], seed: int) -> list[list[Block]]:
    """Share the rows out; every run of rows alike in class and input meets every fold."""
    inputs = np.hstack([block.inputs for block in blocks]).round(9)  # without rounding errors
    labels = np.concatenate([block.labels for block in blocks])
    n_rows = len(labels)
    n_folds = min(FOLDS, n_rows)
    own = inputs[labels, np.arange(n_rows)]
    # Which number a class has must not matter: its size and lowest input tell it from the others.
    counts, lowest = np.bincount(labels, minlength=len(inputs)), np.full(len(inputs), np.inf)
    np.minimum.at(lowest, labels, own)
    classes = np.lexsort((lowest, counts))
    alike = np.lexsort((*inputs[classes], own, np.argsort(classes)[labels]))
    rng = np.random.default_rng(seed)
    runs = [rng.permutation(n_folds) for _ in range(-(-n_rows // n_folds))]
    fold = np.empty(n_rows, dtype=np.int64)
    fold[alike] = np.concatenate(runs)[:n_rows]
    ends = np.cumsum([len(block.labels) for block in blocks])[:-1]
    each = list(zip(blocks, np.split(fold, ends), strict=True))
    return [[_some(block, of == number) for block, of in each] for number in range(n_folds)]


def _logits(block: Block) -> Logits:
    """Return logits that have the block's probabilities."""
    if block.ruled_out is None:
        return block.inputs
    return np.where(block.ruled_out, -np.inf, block.inputs)


def _some(block: Block, chosen: NDArray[np.bool_]) -> Block:
    marks = None if block.ruled_out is None else block.ruled_out[:, chosen]
    return Block(block.inputs[:, chosen], block.labels[chosen], marks)
