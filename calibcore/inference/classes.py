"""The uncertainty of class-wise calibration errors."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibcore.binning import bin_places
from calibcore.blocks import row_blocks
from calibcore.inference.findings import Judgement, reference
from calibcore.inference.inversion import N_DRAWS, Usual
from calibcore.inference.labels import drawn_labels
from calibcore.inference.plan import Plan
from calibcore.inference.resampling import Side
from calibcore.validation import Floats

_STRENGTHS = (0.25, 0.5, 0.75, 1.0)
_CELLS = 1 << 22

_LEAST_DRAWS, _MOST_LABELS = 100, 4_000_000
"""Labels are dear to draw, so there are fewer draws where there are many rows."""


@dataclass(frozen=True, eq=False)
class ClassBins:
    """Every class's probabilities in bins, so that labels can be exchanged.

    Attributes
    ----------
    places : ndarray of int, shape (n_samples, n_classes)
        Bin of each probability.
    sums : ndarray of float64, shape (n_classes, n_bins)
        Sum of the probabilities in each bin.
    """

    places: NDArray[np.uint16]
    sums: Floats

    @classmethod
    def of(cls, probabilities: Floats, n_bins: int) -> "ClassBins":
        """Bin the probabilities of every class."""
        n_classes = probabilities.shape[1]
        places = np.empty(probabilities.shape, dtype=np.uint16)
        sums = np.zeros(n_classes * n_bins)
        firsts = np.arange(n_classes) * n_bins
        for rows in row_blocks(*probabilities.shape):
            block = probabilities[rows]
            found = bin_places(block, n_bins)
            places[rows] = found
            cells = (found + firsts).ravel()
            sums += np.bincount(cells, weights=block.ravel(), minlength=sums.size)
        return cls(places, sums.reshape(n_classes, n_bins))

    def weighted(self, table: Floats) -> Floats:
        """Sum another table over the bins, shape (n_classes, n_bins)."""
        n_classes, n_bins = self.sums.shape
        sums = np.zeros(self.sums.size)
        firsts = np.arange(n_classes) * n_bins
        for rows in row_blocks(*table.shape):
            cells = (self.places[rows] + firsts).ravel()
            sums += np.bincount(cells, weights=table[rows].ravel(), minlength=sums.size)
        return sums.reshape(self.sums.shape)

    def errors(self, labels: NDArray[np.integer]) -> Floats:
        """Give each class's expected calibration error for given labels.

        Parameters
        ----------
        labels : ndarray of int, shape (n_draws, n_samples)

        Returns
        -------
        ndarray of float64, shape (n_draws, n_classes)
        """
        n_draws, n_rows = labels.shape
        n_bins = self.sums.shape[1]
        errors = np.empty((n_draws, len(self.sums)))
        at_once = max(1, _CELLS // max(self.sums.size, n_rows))
        for start in range(0, n_draws, at_once):
            chosen = labels[start : start + at_once]
            cells = chosen.astype(np.intp) * n_bins + self.places[np.arange(n_rows), chosen]
            cells += np.arange(len(chosen))[:, np.newaxis] * self.sums.size
            hits = np.bincount(cells.ravel(), minlength=len(chosen) * self.sums.size)
            gaps = hits.reshape(len(chosen), *self.sums.shape) - self.sums
            errors[start : start + at_once] = np.abs(gaps).sum(axis=2) / n_rows
        return errors


SUMMARIES: dict[str, Callable[[Floats], Floats]] = {
    "classwise_ece": lambda errors: np.asarray(errors.mean(axis=-1)),
    "max_classwise_ece": lambda errors: np.asarray(errors.max(axis=-1)),
}
"""What is made of the errors of all classes, by the key of the measure."""


def judge_classes(
    rng: np.random.Generator, side: Side, other: Floats | None, plan: Plan
) -> dict[str, Judgement]:
    """Judge the class-wise errors of one side.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where the draws come from.
    side : Side
        What is judged; without probabilities, there is nothing to judge.
    other : ndarray of float64, shape (n_samples, n_classes), or None
        Probabilities that might be the true ones: those after calibration judge those before.
        Without them, or where they are the same, softened ones.
    plan : Plan
        Which measures, bins, draws and level.

    Returns
    -------
    dict of str to Judgement
        For those of `SUMMARIES` that are in the plan.

    Notes
    -----
    As `calibcore.inference.inversion.invert`: labels are drawn from mixtures of both tables, whose
    true error is known.
    """
    probabilities, labels = side.probabilities, side.labels
    wanted = {m.key: SUMMARIES[m.key] for m in plan.measures if m.key in SUMMARIES}
    if probabilities is None or labels is None or not wanted:
        return {}
    if other is None or other is probabilities:
        other = _softened(probabilities)
    bins = ClassBins.of(probabilities, plan.options.n_bins)
    observed = bins.errors(labels[np.newaxis])
    n_draws = min(plan.n_resamples, max(_LEAST_DRAWS, _MOST_LABELS // len(labels)))
    calibrated = drawn_labels(rng, probabilities, n_draws)
    miscalibrated = drawn_labels(rng, other, min(N_DRAWS, n_draws))
    null, mixed = bins.errors(calibrated), rng.random(miscalibrated.shape)
    most = np.abs(bins.weighted(other) - bins.sums).sum(axis=1) / len(labels)
    usual = {key: Usual.beginning(make(null), plan.level) for key, make in wanted.items()}
    for strength in _STRENGTHS:
        drawn = bins.errors(np.where(mixed < strength, miscalibrated, calibrated[: len(mixed)]))
        for key, make in wanted.items():
            usual[key].add(float(make(strength * most)), make(drawn))
    judged = {}
    for key, make in wanted.items():
        value = float(make(observed)[0])
        estimate = usual[key].estimate(value)
        judged[key] = Judgement(
            value, estimate.interval, reference(make(null), value, 0.0), estimate
        )
    return judged


def _softened(probabilities: Floats) -> Floats:
    """Give less certain probabilities: their square roots, scaled to sum to 1."""
    soft = np.sqrt(probabilities)
    soft /= soft.sum(axis=1, keepdims=True)
    return soft
