"""Off-diagonal and intercept regularisation (ODIR), and its strengths by cross-validation."""

import numpy as np
from numpy.typing import NDArray

from calibcore.calibrators.base import Progress
from calibcore.calibrators.linear import LinearModel, Penalty, minimise
from calibcore.validation import Floats

FOLDS = 5
"""Parts of the calibration set, each held out once."""

_GOAL = 1e-5
_WORSE_IN_A_ROW = 2


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
    """Give the powers of ten that are tried, largest first: those of Kull 2019's experiments."""
    lowest = -5 if n_classes < 100 else -2
    return tuple(10.0**power for power in range(6, lowest - 1, -1))


def choose_odir(
    model: LinearModel, start: Floats, *, seed: int = 0, progress: Progress | None = None
) -> tuple[float, float]:
    """Choose lambda and mu by the mean NLL of rows held out.

    Parameters
    ----------
    model : LinearModel
        The whole calibration set; its penalty is not used.
    start : ndarray of float64
        Where the first fit starts; every other starts where the one before it ended.
    seed : int
        Of the folds.
    progress : callable, optional
        Told the share that is done.

    Returns
    -------
    tuple of float
        lambda and mu.

    Notes
    -----
    Kull 2019 tries every pair. Here lambda = mu first goes down the powers of ten from the
    largest, then mu alone, both ways from there; each of the three walks ends after two steps
    for the worse. The folds share out the classes, and within a class the inputs from low to
    high, so they do not depend on the order of the rows.
    """
    folds = _Folds(model, start, seed, progress)
    tried = strengths_tried(model.inputs.shape[1])
    both = folds.best([(strength, strength) for strength in tried])
    place = tried.index(both[0])
    down = folds.best([(both[0], mu) for mu in tried[place:]])
    up = folds.best([(both[0], mu) for mu in tried[place::-1]])
    return min(down, up, key=lambda pair: folds.losses[pair])


class _Folds:
    """The calibration set in folds, and how each pair of strengths did on what was held out."""

    def __init__(
        self, model: LinearModel, start: Floats, seed: int, progress: Progress | None
    ) -> None:
        order, sizes = _fold_order(model, seed)
        ends = np.cumsum(sizes).tolist()
        self.rows = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
        self.inputs, self.labels = model.inputs[order], model.labels[order]
        self.ruled_out = None if model.ruled_out is None else model.ruled_out[order]
        self.free, self.centred = model.free, model.centred
        self.reached = [start] * len(sizes)
        self.losses: dict[tuple[float, float], float] = {}
        self.progress = progress
        self.most = 2 * len(strengths_tried(self.inputs.shape[1])) * len(sizes)
        self.done = 0

    def best(self, pairs: list[tuple[float, float]]) -> tuple[float, float]:
        """Walk along the pairs until they only get worse, and give the best."""
        best, worse = pairs[0], 0
        for pair in pairs:
            loss = self._loss(pair)
            if loss < self.losses[best]:
                best, worse = pair, 0
            elif pair != best:
                worse += 1
            if worse >= _WORSE_IN_A_ROW:
                break
        return best

    def _loss(self, pair: tuple[float, float]) -> float:
        if pair not in self.losses:
            penalty = odir_penalty(*pair, n_classes=self.inputs.shape[1])
            parts = [self._held_out(number, penalty) for number in range(len(self.rows))]
            self.losses[pair] = sum(parts) / len(self.labels)
        return self.losses[pair]

    def _held_out(self, number: int, penalty: Penalty) -> float:
        """Give the summed NLL of one fold under the fit on the others."""
        held = self.rows[number]
        rest = tuple(rows for rows in self.rows if rows is not held)
        fitted = self._model(penalty, rest)
        fitted.free = self._free_in(rest)
        self.reached[number] = minimise(
            fitted, self.reached[number], goal=_GOAL, progress=self._told
        ).parameters
        self.done += 1
        free_of_penalty = Penalty(np.zeros_like(penalty.strength), penalty.centre)
        judged = self._model(free_of_penalty, (held,)).evaluate(self.reached[number])
        return float(judged.loss * (held.stop - held.start))

    def _model(self, penalty: Penalty, rows: tuple[slice, ...]) -> LinearModel:
        return LinearModel(
            self.inputs, self.labels, penalty, self.free, self.ruled_out, rows, self.centred
        )

    def _free_in(self, rows: tuple[slice, ...]) -> NDArray[np.bool_]:
        """Hold the classes that the fold leaves without a row."""
        labels = np.concatenate([self.labels[part] for part in rows])
        present = np.bincount(labels, minlength=self.inputs.shape[1]) > 0
        return np.asarray(self.free & present[:, np.newaxis])

    def _told(self, share: float) -> None:
        if self.progress:
            self.progress(min(1.0, (self.done + share) / self.most))


def _fold_order(model: LinearModel, seed: int) -> tuple[NDArray[np.int64], list[int]]:
    """Order the rows by fold; every run of rows alike in class and input meets every fold."""
    n_rows = len(model.labels)
    n_folds = min(FOLDS, n_rows)
    own = model.inputs[np.arange(n_rows), model.labels]
    alike = np.lexsort((own, model.labels))
    rng = np.random.default_rng(seed)
    runs = [rng.permutation(n_folds) for _ in range(-(-n_rows // n_folds))]
    fold = np.concatenate(runs)[:n_rows]
    order = alike[np.argsort(fold, kind="stable")]
    return order, np.bincount(fold, minlength=n_folds).tolist()
