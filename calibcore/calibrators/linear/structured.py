"""Structured vector and matrix scaling: temperature scaling, then small penalised corrections."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calibcore.calibrators.base import Progress, SlowVectorMap
from calibcore.calibrators.linear.fitted import CalibrationRows, FittedLinear, Inputs, fit_linear
from calibcore.calibrators.linear.maps import check_strength
from calibcore.calibrators.linear.model import Penalty
from calibcore.calibrators.temperature.row_sums import Rows
from calibcore.calibrators.temperature.scaling import fit_temperature
from calibcore.data import LogitSet

_WITHOUT = (
    "{:,} calibration rows have a true class that the model gives the probability 0 at every"
    " temperature: the temperature is fitted without them, weights and biases with them."
)
_ALL_RULED_OUT = (
    "The model gives the true class of every calibration row the probability 0 at every"
    " temperature, so T stays 1."
)


@dataclass(frozen=True)
class StructuredVectorScaling(SlowVectorMap):
    """Scale by a temperature, then correct each class's factor and bias as far as the rows bear.

    The fewer rows there are for each class, the closer it stays to temperature scaling.

    Parameters
    ----------
    bias_strength, diagonal_strength : float, default 1
        Multiples of the paper's penalties.

    Notes
    -----
    softmax(w_k x_k + b_k), where x is the logarithm of the temperature-scaled probabilities mixed
    with a share 1 / (N + 1) of the uniform distribution, and w, b minimise

        mean NLL + K / N (sum_k (w_k - 1)**2 + sum_k b_k**2),

    the ridge penalties of the paper's program (probmetrics 1.3, whose defaults these are). The
    mixing makes every logarithm finite, so nothing stays ruled out.

    References
    ----------
    Berta, Holzmueller, Jordan, Bach, *Structured Matrix Scaling for Multi-Class Calibration*,
    arXiv 2511.03685.

    Examples
    --------
    >>> fitted = StructuredVectorScaling().fit([[2.0, 0.0], [0.0, 2.0]] * 3, [0, 1] * 2 + [1, 0])
    >>> fitted.penalty
    (0.333..., 0.333...)
    """

    bias_strength: float = 1.0
    diagonal_strength: float = 1.0

    def __post_init__(self) -> None:
        """Check the options."""
        check_strength(self.bias_strength, "bias_strength")
        check_strength(self.diagonal_strength, "diagonal_strength")

    def fit(
        self, logits: ArrayLike, labels: ArrayLike, *, progress: Progress | None = None
    ) -> FittedLinear:
        rows = LogitSet(logits, labels)
        each = rows.n_classes / rows.n_samples
        strengths = (self.bias_strength * each, self.diagonal_strength * each)
        strength = np.tile(strengths[::-1], (rows.n_classes, 1))
        centre = np.zeros_like(strength)
        centre[:, 0] = 1.0
        return _fit(rows, Penalty(strength, centre), strengths, progress)


@dataclass(frozen=True)
class StructuredMatrixScaling(SlowVectorMap):
    """Scale by a temperature, then correct factors, biases and the mixing between classes.

    Each kind of correction has its own penalty, the largest on the most numerous, so the method
    is as careful with few rows as temperature scaling and as flexible with many as a full matrix.

    Parameters
    ----------
    bias_strength, diagonal_strength, off_diagonal_strength : float, default 1
        Multiples of the paper's penalties.

    Notes
    -----
    softmax(W x + b), where x is the logarithm of the temperature-scaled probabilities mixed with a
    share 1 / (N + 1) of the uniform distribution, and W, b minimise

        mean NLL + K / N (sum_k (W_kk - 1)**2 + sum_k b_k**2)
                 + K (K - 1) / N sum_{i != j} W_ij**2,

    the ridge penalties of the paper's program (probmetrics 1.3, whose defaults these are). The
    mixing makes every logarithm finite, so nothing stays ruled out.

    References
    ----------
    Berta, Holzmueller, Jordan, Bach, *Structured Matrix Scaling for Multi-Class Calibration*,
    arXiv 2511.03685.

    Examples
    --------
    >>> fitted = StructuredMatrixScaling().fit([[2.0, 0.0], [0.0, 2.0]] * 3, [0, 1] * 2 + [1, 0])
    >>> fitted.weights.shape, fitted.gradient_norm <= 1e-8
    ((2, 2), True)
    """

    bias_strength: float = 1.0
    diagonal_strength: float = 1.0
    off_diagonal_strength: float = 1.0

    def __post_init__(self) -> None:
        """Check the options."""
        check_strength(self.bias_strength, "bias_strength")
        check_strength(self.diagonal_strength, "diagonal_strength")
        check_strength(self.off_diagonal_strength, "off_diagonal_strength")

    def fit(
        self, logits: ArrayLike, labels: ArrayLike, *, progress: Progress | None = None
    ) -> FittedLinear:
        rows = LogitSet(logits, labels)
        n_classes, each = rows.n_classes, rows.n_classes / rows.n_samples
        strengths = (
            self.bias_strength * each,
            self.diagonal_strength * each,
            self.off_diagonal_strength * each * (n_classes - 1),
        )
        strength = np.full((n_classes, n_classes + 1), strengths[2])
        strength[np.diag_indices(n_classes)] = strengths[1]
        strength[:, -1] = strengths[0]
        centre = np.eye(n_classes, n_classes + 1, dtype=np.int8)
        return _fit(rows, Penalty(strength, centre), strengths, progress)


def _fit(
    rows: LogitSet, penalty: Penalty, strengths: tuple[float, ...], progress: Progress | None
) -> FittedLinear:
    temperature, said = _temperature(Rows.checked(rows.logits, rows.labels))
    inputs = Inputs("log_probabilities", temperature, 1 / (rows.n_samples + 1))
    kept = CalibrationRows(rows.logits, rows.labels, 1.0, said)
    return fit_linear(kept, inputs, penalty, strengths=strengths, progress=progress)


def _temperature(rows: Rows) -> tuple[float, tuple[str, ...]]:
    """Fit the temperature on the rows that it can be fitted on, and say which it cannot."""
    possible = rows.possible
    if not possible.any():
        return 1.0, (_ALL_RULED_OUT,)
    if possible.all():
        fitted = fit_temperature(rows, "nll")
        return fitted.temperature, fitted.warnings
    fitted = fit_temperature(rows.part(possible), "nll")
    said = _WITHOUT.format(np.count_nonzero(~possible))
    return fitted.temperature, (said, *fitted.warnings)
