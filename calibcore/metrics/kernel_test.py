"""The test of perfect calibration that belongs to a squared kernel calibration error."""

import math
from dataclasses import dataclass

import numpy as np

_NOTHING = 1e-12
"""An error as large as rounding."""


@dataclass(frozen=True)
class KernelTest:
    """A squared kernel calibration error with its test of perfect calibration.

    Attributes
    ----------
    value : float
        The error; NaN of a single row. Unbiased, so it may be below 0.
    p_value : float
        Probability of one as large if the scores were the true probabilities; NaN of a single row.
    deviation : float
        Its standard deviation if they were; exact.
    mean : float
        What a row's pair with itself would add on average: no draw is below ``-mean``.
    width : float
        Of the kernel.
    """

    value: float
    p_value: float
    deviation: float
    mean: float
    width: float

    @property
    def shape(self) -> float:
        """Of the gamma law of ``value + mean`` under perfect calibration; infinite if constant."""
        return math.inf if self.deviation == 0 else (self.mean / self.deviation) ** 2

    def null_quantiles(self, *levels: float) -> tuple[float, ...]:
        """Return values that perfectly calibrated scores exceed with probability 1 - level.

        Examples
        --------
        >>> KernelTest(0.1, 0.5, 0.0, 0.0, 0.4).null_quantiles(0.5, 0.95)
        (0.0, 0.0)
        """
        from scipy.special import gammaincinv  # noqa: PLC0415 - a tenth of a second to import

        if not 0 < self.deviation < math.inf:
            return (self.deviation * 0.0,) * len(levels)
        scale = self.deviation**2 / self.mean
        found = gammaincinv(self.shape, np.array(levels)) * scale - self.mean
        return tuple(found.tolist())


def kernel_test(value: float, deviation: float, mean: float, width: float) -> KernelTest:
    """Find the p-value of an error from its moments under perfect calibration.

    Examples
    --------
    >>> round(kernel_test(0.02, 0.01, 0.01, 0.4).p_value, 4)  # exp(-3), as the shape is 1
    0.0498
    """
    from scipy.special import gammaincc  # noqa: PLC0415 - a tenth of a second to import

    if math.isnan(value):
        p_value = math.nan
    elif deviation == 0:  # nothing can vary: any difference is impossible
        p_value = float(value <= _NOTHING)
    else:
        shape, scale = (mean / deviation) ** 2, deviation**2 / mean
        p_value = float(gammaincc(shape, max(value + mean, 0.0) / scale))
    return KernelTest(value, p_value, deviation, mean, width)
