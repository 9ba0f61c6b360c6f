"""Gaussian process calibration: one smooth function, learnt from data, applied to every logit."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.blocks import row_blocks
from calibcore.calibrators.base import FittedVectorMap, Positive, Progress, SlowVectorMap
from calibcore.calibrators.gaussian_process.average import average_softmax
from calibcore.calibrators.gaussian_process.bound import (
    LOWEST_INPUT,
    Kernel,
    basis,
    inputs,
    place,
)
from calibcore.calibrators.gaussian_process.search import NOISE, Found, search
from calibcore.calibrators.temperature.scaling import TemperatureScaling
from calibcore.data import LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.results import result_class
from calibcore.validation import Floats, Labels, Logits

_FAR_OFF = 20.0
"""Temperature above which inputs that reach over `_WIDE` suit no process around the identity."""

_WIDE = 500.0


@result_class
class FittedGaussianProcess(FittedVectorMap):
    """A fitted Gaussian process: a latent function with its uncertainty."""

    places: Floats
    """Inducing places: log-probabilities, increasing; shape (n_inducing,)."""
    q_mean: Floats
    """Mean of q, in whitened coordinates, where the prior is N(0, I); shape (n_inducing,)."""
    q_factor: Floats
    """Lower Cholesky factor of q's covariance, in the same coordinates; shape (n_inducing,
    n_inducing).
    """
    amplitude: Positive
    lengthscale: Positive
    """Of the kernel, in units of log-probability."""
    noise: float
    """White noise, as a share of the kernel's variance."""
    elbo: float
    """Evidence lower bound of the whole calibration set, in nats."""
    elbo_path: Floats
    """The bound at the start of the search on all rows and after each iteration; shape (iterations
    + 1,).
    """
    iterations: int
    """Iterations of that search."""
    gradient_norm: float
    """Largest slope of the bound per row at its end, where no limit stands in the way."""

    @property
    def kl_divergence(self) -> float:
        """KL(q || prior) in nats, at least 0."""
        covariance = float((self.q_factor**2).sum() + self.q_mean @ self.q_mean)
        log_det = 2 * float(np.log(np.diag(self.q_factor)).sum())
        return max(0.0, 0.5 * (covariance - len(self.q_mean) - log_det))

    def latent(self, values: ArrayLike) -> tuple[Floats, Floats]:
        """Evaluate the latent function and its uncertainty.

        ``values``: log-probabilities; far from those of the calibration set the function returns to
        the identity, with the prior's uncertainty; shape (n,).

        Of g(value) under q, white noise left out; shape (n,).

        Raises
        ------
        CalibrationInputError
            Not one dimension, NaN, infinity.
        """
        array = np.asarray(values, dtype=np.float64)
        if array.ndim != 1 or not np.isfinite(array).all():
            raise CalibrationInputError("values", "no list of finite numbers", "log-probabilities")
        white = basis(array, self.places, self._kernel).white
        spread = self.q_factor.T @ white
        share = 1 - (white * white).sum(axis=0) + (spread * spread).sum(axis=0)
        mean = array + self.amplitude * (self.q_mean @ white)
        return mean, self.amplitude * np.sqrt(np.maximum(share, 0.0))

    def predict_proba(self, logits: ArrayLike) -> Floats:
        """Compute softmax(g(log p)), averaged over q: see `GaussianProcessCalibration`."""
        table = validation.logits(logits)
        result = np.empty(table.shape)
        for rows in row_blocks(*table.shape):
            values = np.ascontiguousarray(inputs(table[rows]).T)
            result[rows] = average_softmax(*self._latent_cells(values)).T
        return result

    def _latent_cells(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the latent means of cells, and what each coordinate of q adds to them."""
        finite = np.maximum(values, LOWEST_INPUT)
        white = basis(finite.ravel(), self.places, self._kernel).white
        correction = (self.amplitude * self.q_mean) @ white
        directions = (self.amplitude * self.q_factor.T) @ white
        return values + correction.reshape(values.shape), directions.reshape(-1, *values.shape)

    @property
    def _kernel(self) -> Kernel:
        return Kernel(self.amplitude, self.lengthscale, self.noise)


@dataclass(frozen=True)
class GaussianProcessCalibration(SlowVectorMap):
    """Learn one smooth function of the log-probability, the same for every class, and its doubt.

    The function starts from the identity and bends only where the calibration labels ask for it.
    It need not rise everywhere, so a decision can change.

    Parameters
    ----------
    n_inducing : int, default 10
        Places at which the function is learnt, from 2 to 100; fewer where there are fewer
        different inputs.
    max_iterations : int, default 500
        Iterations after which the search stops, converged or not.

    Notes
    -----
    Inputs are x = log softmax(logits), so a constant added to a row changes nothing; those below
    `LOWEST_INPUT` are taken for it, and a class that is ruled out stays so. The model is

        g ~ GP(x, a^2 exp(-(x - x')^2 / (2 l^2)) + white noise),   p(y | x) = softmax(g(x))_y:

    the identity as the mean function is the paper's choice for logits. With u = g at the inducing
    places and q(u) Gaussian, the search maximises

        sum_n E_q log p(y_n | x_n) - KL(q(u) || p(u)),

    the first term by the paper's second-order Taylor expansion at the latent means, with its
    program's assumption that the latent values of one row are independent. This makes the best
    covariance of q known in closed form for any mean (`gaussian_process_bound.bound`), so L-BFGS
    searches only the mean, amplitude and lengthscale, starting from temperature scaling's line.
    Nothing is random. Logits that need a temperature far above 1 suit no process around the
    identity, which ``warnings`` say.

    The program searches the white noise too. On every sample tried this bound is highest without
    any, so it stays at `NOISE` of the kernel's variance, which keeps the matrices well-conditioned.
    Amplitude and lengthscale stay within `gaussian_process_search.AMPLITUDES` and ``LENGTHSCALES``.
    The bound can have more than one flat top; the one reached from the start above is given.

    Inducing places are the means of one-dimensional k-means on all inputs, started at their
    quantiles; inputs nearer than 1 / 100,000 of their range count as one there. Inputs lie between
    2048 nodes, and the latent mean and variance are interpolated linearly there while fitting
    (exact for fewer cells than nodes); predictions take every input as it is.

    Predictions are averaged over q(u), with g elsewhere at its mean given u; the paper draws 100 u
    at random. Here nothing is random: a row whose latent values are nearly certain has a closed
    form, and the others are averaged over 128 to 1,024 even points, the more the less certain
    (`gaussian_process_average.average_softmax`). Probabilities were off by 0.02 at most where all
    is uncertain, as after a fit on rows that are all right, and by 0.002 where q is narrow.
    Uncertain rows take longer to predict, some 2 to 4 seconds for a million probabilities.

    References
    ----------
    Wenger, Kjellstroem, Triebel, Non-Parametric Calibration for Classification, AISTATS 2020.
    Hensman, Matthews, Ghahramani, Scalable Variational Gaussian Process Classification,
    AISTATS 2015.

    Examples
    --------
    >>> fitted = GaussianProcessCalibration().fit([[4.0, 0.0]] * 800, [0, 0, 0, 1] * 200)
    >>> fitted.predict_proba([[4.0, 0.0]]).round(2).tolist()
    [[0.75, 0.25]]
    """

    n_inducing: int = 10
    max_iterations: int = 500

    def __post_init__(self) -> None:
        """Check the options."""
        validation.whole_number(self.n_inducing, "n_inducing", least=2, most=100)
        validation.whole_number(self.max_iterations, "max_iterations", least=1)

    def fit(
        self, logits: ArrayLike, labels: ArrayLike, *, progress: Progress | None = None
    ) -> FittedGaussianProcess:
        rows = LogitSet(logits, labels)
        possible = np.isfinite(rows.logits[np.arange(rows.n_samples), rows.labels])
        warnings = list(_input_warnings(rows, int(np.count_nonzero(~possible))))
        if not possible.any():
            return _identity((*warnings, "No row is left, so nothing is changed."))
        if not possible.all():
            rows = rows.rows(possible)
        return self._fit(rows.logits, rows.labels, warnings, progress or _untold)

    def _fit(
        self, logits: Logits, labels: Labels, warnings: list[str], progress: Progress
    ) -> FittedGaussianProcess:
        cells = place(logits, labels)
        temperature = max(TemperatureScaling().fit(logits, labels).temperature, 0.1)
        slope = float(f"{1 / temperature:.2g}")  # alike, however its sums were rounded
        found = search(cells, self.n_inducing, self.max_iterations, slope, progress)
        progress(1.0)
        if temperature > _FAR_OFF and np.ptp(cells.nodes) > _WIDE:
            warnings.append(
                f"The logits are some {temperature:,.0f} times too large for a process around the"
                " identity; scale them by their temperature first, then fit."
            )
        warnings += _search_warnings(found)
        if cells.nodes[0] == LOWEST_INPUT:
            warnings.append(
                f"Log-probabilities below {LOWEST_INPUT:,.0f} were taken for {LOWEST_INPUT:,.0f}."
            )
        return FittedGaussianProcess(
            found.places,
            found.q_mean,
            found.best.factor,
            *found.kernel,
            found.best.value,
            np.array(found.path),
            len(found.path) - 1,
            found.gradient_norm,
            warnings=tuple(warnings),
        )


def _untold(share: float) -> None:
    """Take a progress report for nobody."""


def _identity(warnings: tuple[str, ...]) -> FittedGaussianProcess:
    one = np.eye(1)
    return FittedGaussianProcess(
        np.zeros(1), np.zeros(1), one, 1e-9, 1.0, NOISE, 0.0, np.zeros(1), 0, 0.0, warnings=warnings
    )


def _input_warnings(rows: LogitSet, n_impossible: int) -> list[str]:
    warnings = []
    if n_impossible:
        warnings.append(
            f"{n_impossible:,} calibration rows were left out of the fit: the model gives their"
            " true class the probability 0, and no function of it changes that."
        )
    n_absent = rows.n_classes - len(np.unique(rows.labels))
    if n_absent:
        warnings.append(
            f"{n_absent:,} of {rows.n_classes:,} classes have no calibration row; they are"
            " calibrated as the others are, by the one function for all."
        )
    return warnings


def _search_warnings(found: Found) -> list[str]:
    warnings = []
    if not found.converged:
        warnings.append(
            f"The search did not converge in {len(found.path) - 1:,} iterations; the slope left"
            f" is {found.gradient_norm:.2g} a row."
        )
    if found.at_largest_amplitude:
        warnings.append(
            "The fit reached the largest amplitude tried: the labels ask for a function without"
            " limit, as where every row's true class is on top."
        )
    return warnings
