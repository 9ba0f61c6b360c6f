"""Vector scaling, matrix scaling and Dirichlet calibration: one linear model, three papers."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.calibrators.base import (
    FittedVectorMap,
    Progress,
    SlowVectorMap,
    VectorMap,
    weighed_rows,
)
from calibcore.calibrators.linear.fit import (
    CalibrationRows,
    FittedLinear,
    Inputs,
    Space,
    fit_linear,
    possible_rows,
)
from calibcore.calibrators.linear.model import Penalty
from calibcore.calibrators.linear.odir import odir_penalty
from calibcore.calibrators.method import Choice, Cost, Fits, Method, Switch
from calibcore.calibrators.temperature import LogitRows, fit_temperature
from calibcore.data import LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.weights import SampleWeight

Odir = tuple[float, float] | Literal["cv"] | None
"""ODIR's strengths (lambda, mu), "cv" to choose them by cross-validation, or none."""


@dataclass(frozen=True)
class VectorScaling(SlowVectorMap):
    """Return every class a factor for its logit and a bias, and choose those that fit best.

    The order of the classes can change in a row, and with it the accuracy.

    Parameters
    ----------
    bias : bool, default True
        Whether there is a bias.
    space : {"logits", "log_probabilities"}, default "logits"
        What the factors multiply: the logits minus their row's mean, or the logarithms of the
        probabilities. The two differ where the factors do.

    Notes
    -----
    softmax(w_k x_k + b_k), with w and b that minimise the mean NLL of the calibration set. Logits
    matter only up to a constant a row, which unequal factors would not respect, so the row's mean
    is taken off first. Newton's method starts from temperature scaling, w = 1 / T and b = 0 (from
    2,048 rows on, T is that of every eighth row unless some class has none), and ends where no
    entry of the gradient exceeds 1e-10 (with more than 262,144 logits, 5e-9);
    ``gradient_norm`` tells, and ``warnings`` if it exceeds 1e-8. With sampling weights the mean NLL
    is weighted, and a general solver finds its minimum, which takes longer. Where a class is told
    from the others for all but certain, other weights fit as well, and ``warnings`` say so.

    A class that is ruled out (a logit of minus infinity) stays so: it has probability 0 and no part
    in the loss. In x, and so in the mean of its row, it counts as 87.3 below the row's largest
    logit, or as the row's lowest if that is lower (the smallest normal number of single precision,
    below which probabilities are often stored as 0, has the logarithm -87.3). With the mean of the
    others alone w and b would be slightly different.

    A class without calibration rows keeps w = 1 / T and b = 0, which alone would run off; so the
    loss is the least under that condition, not of all w and b. The other biases rise until they all
    but rule the class out; ``warnings`` say how far. Without a bias nothing does, and the loss can
    stay well above the least.

    References
    ----------
    Guo et al., ICML 2017, section 4.2.

    Examples
    --------
    >>> fitted = VectorScaling().fit([[2.0, 0.0]] * 4 + [[0.0, 2.0]] * 2, [0, 0, 0, 1, 1, 0])
    >>> fitted.predict_proba([[2.0, 0.0], [0.0, 2.0]]).round(3).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """

    bias: bool = True
    space: Literal["logits", "log_probabilities"] = "logits"

    def __post_init__(self) -> None:
        """Check the options."""
        _check_bias(self.bias)
        validation.choice(self.space, "space", allowed=("logits", "log_probabilities"))

    def fit(
        self,
        logits: ArrayLike,
        labels: ArrayLike,
        *,
        progress: Progress | None = None,
        sample_weight: SampleWeight = None,
    ) -> FittedLinear:
        rows = possible_rows(*weighed_rows(logits, labels, sample_weight))
        nothing = np.zeros((rows.n_classes, 2))
        penalty = Penalty(nothing, nothing)
        return fit_linear(rows, Inputs(self.space), penalty, bias=self.bias, progress=progress)


class FullLinearMap(SlowVectorMap):
    """A map that mixes all classes, whose penalty's strengths may be searched for."""

    space: Space
    odir: Odir = None
    bias: bool = True
    l2: float = 0.0

    def fit(
        self,
        logits: ArrayLike,
        labels: ArrayLike,
        *,
        progress: Progress | None = None,
        sample_weight: SampleWeight = None,
        near: FittedVectorMap | None = None,
    ) -> FittedLinear:
        """Fit as `SlowVectorMap.fit`; a search may begin ``near`` a fit on most of the rows."""
        rows = possible_rows(*weighed_rows(logits, labels, sample_weight))
        return fit_linear(
            rows,
            Inputs(self.space),
            full_penalty(self.odir, self.l2, rows.n_classes),
            bias=self.bias,
            strengths=None if self.odir == "cv" else strengths_of(self),
            progress=progress,
            near=near if isinstance(near, FittedLinear) else None,
        )


@dataclass(frozen=True)
class MatrixScaling(FullLinearMap):
    """Mix the logits of all classes by a matrix, add a bias, and choose what fits best.

    With many classes it fits the calibration set's accidents too; ODIR holds it back.

    Parameters
    ----------
    bias : bool, default True
        Whether there is a bias.
    odir : (float, float), "cv" or None, default None
        Penalties lambda on the entries off the diagonal and mu on the bias; "cv" chooses both by
        cross-validation on the calibration set.

    Notes
    -----
    softmax(W x + b), x the logits minus their row's mean (so a constant added to a row changes
    nothing), with W and b that minimise

        mean NLL + lambda / (K (K - 1)) sum_{i != j} W_ij**2 + mu / K sum_j b_j**2.

    The search starts from W = I / T, b = 0. Without a penalty W is determined only up to adding
    one row to all its rows; the search leaves that part as it starts. Where some W gets every
    calibration row right, or some classes all but certain, no finite one is best, others fit as
    well, and ``warnings`` say so. A class that is ruled out, by a logit of minus infinity, is
    treated as in `VectorScaling`: it counts in x, and so in what W makes of the others. A class
    without calibration rows keeps its row of I / T and its bias of 0, with ODIR as well, as the
    diagonal has no penalty; the loss is then the least under that condition, and can be above that
    of all W and b. ``warnings`` name such classes. On the logarithms of the probabilities instead
    of the logits this is `DirichletScaling`.

    How "cv" walks through the strengths is told in `linear.odir.choose_odir`, for which every row
    counts once also where rows are weighted; the strengths used are in ``penalty``. The penalty
    leaves the diagonal free, and with few rows even the best strengths can be far worse than
    temperature scaling: ``warnings`` say so where they are on the rows held out, and where a
    strength is the largest or smallest tried.

    References
    ----------
    Guo et al., ICML 2017, section 4.2; Kull et al., NeurIPS 2019 (ODIR).

    Examples
    --------
    >>> logits, labels = [[2.0, 0.0], [0.0, 2.0]] * 3, [0, 1, 0, 1, 1, 0]
    >>> fitted = MatrixScaling(odir=(1.0, 1.0)).fit(logits, labels)
    >>> fitted.weights.shape, fitted.gradient_norm <= 1e-8
    ((2, 2), True)
    """

    space = "logits"
    bias: bool = True
    odir: Odir = None

    def __post_init__(self) -> None:
        """Check the options."""
        _check_bias(self.bias)
        _check_odir(self.odir)


@dataclass(frozen=True)
class DirichletScaling(FullLinearMap):
    """Mix the logarithms of all class probabilities by a matrix, add a bias, fit both.

    It is right where the probabilities of each class's rows follow a Dirichlet distribution; with
    two classes it is beta calibration.

    Parameters
    ----------
    odir : (float, float), "cv" or None, default None
        Penalties lambda on the entries off the diagonal and mu on the bias; "cv" chooses both by
        cross-validation on the calibration set.
    l2 : float, default 0
        Penalty on all entries of the matrix and the bias alike; not together with ``odir``.

    Notes
    -----
    softmax(W log p + b), with W and b that minimise

        mean NLL + lambda / (K (K - 1)) sum_{i != j} W_ij**2 + mu / K sum_j b_j**2

    or mean NLL + l2 (sum_ij W_ij**2 + sum_j b_j**2), sums, not means, as in the authors' program.
    The search is that of `MatrixScaling`, and so is what is done with classes that are ruled out,
    whose p counts as exp(-87.3) of the row's largest or as its lowest. A class without calibration
    rows keeps its row of I / T and its bias of 0, but for ``l2`` above 0, which holds all weights:
    then the loss is the least of all W and b.

    References
    ----------
    Kull et al., NeurIPS 2019.

    Examples
    --------
    >>> fitted = DirichletScaling(l2=0.001).fit([[2.0, 0.0], [0.0, 2.0]] * 3, [0, 1] * 2 + [1, 0])
    >>> fitted.space
    'log_probabilities'
    """

    space = "log_probabilities"
    odir: Odir = None
    l2: float = 0.0

    def __post_init__(self) -> None:
        """Check the options."""
        _check_odir(self.odir)
        check_strength(self.l2, "l2")
        if self.l2 and self.odir is not None:
            raise CalibrationInputError("l2", f"{self.l2:g} together with odir", "one of the two")


def strengths_of(calibrator: VectorMap) -> tuple[float, ...]:
    """Return the strengths of a penalty that are given, in the order in which the method does."""
    if not isinstance(calibrator, FullLinearMap):
        return ()
    named = (float(calibrator.l2),) if calibrator.l2 else ()
    return calibrator.odir if isinstance(calibrator.odir, tuple) else named


def full_penalty(odir: Odir, l2: float, n_classes: int) -> Penalty:
    """Return the penalty of a full matrix; none while ODIR's strengths are to be chosen."""
    if isinstance(odir, tuple):
        return odir_penalty(*odir, n_classes=n_classes)
    strength = np.full((n_classes, n_classes + 1), float(l2))
    return Penalty(strength, np.zeros_like(strength))


def check_strength(value: float, name: str) -> None:
    """Raise if a penalty is not a finite number of at least 0."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not (math.isfinite(value) and value >= 0):
        raise CalibrationInputError(name, repr(value), "a finite number, at least 0")


def _check_bias(value: bool) -> None:  # noqa: FBT001 - the value is what is checked
    if not isinstance(value, bool):
        raise CalibrationInputError("bias", repr(value), "True or False")


def _check_odir(odir: Odir) -> None:
    if odir is None or (isinstance(odir, str) and odir == "cv"):
        return
    if not isinstance(odir, tuple) or len(odir) != 2:
        raise CalibrationInputError("odir", repr(odir), "None, 'cv' or a pair (lambda, mu)")
    for strength in odir:
        check_strength(strength, "odir")


# Structured vector and matrix scaling: temperature scaling, then small penalised corrections ---


_WITHOUT = (
    "{:,} calibration rows have a true class that the model gives the probability 0 at every"
    " temperature: the temperature is fitted without them, weights and biases with them."
)
_ALL_RULED_OUT = (
    "The model gives the true class of every calibration row the probability 0 at every"
    " temperature, so T stays 1."
)


class StructuredMap(SlowVectorMap):
    """A temperature, then corrections held back the more the fewer rows there are."""

    @abstractmethod
    def _penalty(self, n_classes: int, n_rows: int) -> tuple[Penalty, tuple[float, ...]]:
        """Return the penalty, and its strengths in the order in which the method names them."""

    def fit(
        self,
        logits: ArrayLike,
        labels: ArrayLike,
        *,
        progress: Progress | None = None,
        sample_weight: SampleWeight = None,
    ) -> FittedLinear:
        logits, labels, weights = weighed_rows(logits, labels, sample_weight)
        rows = LogitSet(logits, labels)
        penalty, strengths = self._penalty(rows.n_classes, rows.n_samples)
        checked = LogitRows.checked(rows.logits, rows.labels).weighted_by(weights)
        temperature, warnings = _temperature(checked)
        inputs = Inputs("log_probabilities", temperature, 1 / (rows.n_samples + 1))
        calibration_rows = CalibrationRows(rows.logits, rows.labels, 1.0, warnings, weights)
        return fit_linear(calibration_rows, inputs, penalty, strengths=strengths, progress=progress)


@dataclass(frozen=True)
class StructuredVectorScaling(StructuredMap):
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

    def _penalty(self, n_classes: int, n_rows: int) -> tuple[Penalty, tuple[float, ...]]:
        each = n_classes / n_rows
        strengths = (self.bias_strength * each, self.diagonal_strength * each)
        strength = np.tile(strengths[::-1], (n_classes, 1))
        centre = np.zeros_like(strength)
        centre[:, 0] = 1.0
        return Penalty(strength, centre), strengths


@dataclass(frozen=True)
class StructuredMatrixScaling(StructuredMap):
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

    def _penalty(self, n_classes: int, n_rows: int) -> tuple[Penalty, tuple[float, ...]]:
        each = n_classes / n_rows
        strengths = (
            self.bias_strength * each,
            self.diagonal_strength * each,
            self.off_diagonal_strength * each * (n_classes - 1),
        )
        strength = np.full((n_classes, n_classes + 1), strengths[2])
        strength[np.diag_indices(n_classes)] = strengths[1]
        strength[:, -1] = strengths[0]
        centre = np.eye(n_classes, n_classes + 1, dtype=np.int8)
        return Penalty(strength, centre), strengths


def _temperature(rows: LogitRows) -> tuple[float, tuple[str, ...]]:
    """Fit the temperature on the rows that it can be fitted on, and say which it cannot."""
    possible = rows.possible
    if not possible.any():
        return 1.0, (_ALL_RULED_OUT,)
    if possible.all():
        fitted = fit_temperature(rows, "nll")
        return fitted.temperature, fitted.warnings
    fitted = fit_temperature(rows.part(possible), "nll")
    warning = _WITHOUT.format(np.count_nonzero(~possible))
    return fitted.temperature, (warning, *fitted.warnings)


_TABLES = 18.0
"""Tables of a double for each pair of classes in which Newton's method works on a full matrix."""


def _matrix(penalty: str) -> MatrixScaling:
    return MatrixScaling(odir="cv" if penalty == "odir" else None)


def _dirichlet(penalty: str) -> DirichletScaling:
    return DirichletScaling(odir="cv") if penalty == "odir" else DirichletScaling(l2=1e-3)


VECTOR = Method(
    key="vector",
    name="Vector scaling",
    short="Vector",
    factory=VectorScaling,
    options=(
        Switch("bias", default=True),
        Choice("space", "logits", ("logits", "log_probabilities")),
    ),
    paper="Guo 2017, section 4.2",
    explained="Multiplies the logit of each class by a number, and adds another.",
    formula="softmax(w_k x_k + b_k), x the logits minus their mean or ln p; b = 0 without bias",
    acts_on="classes",
    preserves_accuracy=False,
    fits=Fits("numbers", per_class=2),
    cost=Cost((270, 130, 200)),
)

MATRIX = Method(
    key="matrix",
    name="Matrix scaling",
    short="Matrix",
    factory=_matrix,
    options=(Choice("penalty", "odir", ("odir", "none")),),
    paper="Guo 2017, section 4.2; Kull 2019 (ODIR)",
    explained="Transforms the logits of all classes by a matrix. With many classes it needs the"
    " penalty, whose two strengths are chosen by cross-validation.",
    formula="softmax(W x + b), W a full matrix, x the logits minus their mean",
    acts_on="classes",
    preserves_accuracy=False,
    fits=Fits("numbers", per_class=1, per_pair=1),
    cost=Cost((430, 6_000, 16_000), few=(430, 6_000, 30_000), matrices=_TABLES, spread=12),
    costs={"odir": Cost((230, 4_800, 5_500), searched=(20_000, 34_000, 400_000), matrices=_TABLES)},
)

DIRICHLET = Method(
    key="dirichlet",
    name="Dirichlet calibration",
    short="Dirichlet",
    factory=_dirichlet,
    options=(Choice("penalty", "odir", ("odir", "l2")),),
    paper="Kull 2019",
    explained="Transforms the logarithms of all class probabilities by a regularised matrix.",
    formula="softmax(W ln p + b), W a full matrix",
    acts_on="classes",
    preserves_accuracy=False,
    fits=Fits("numbers", per_class=1, per_pair=1),
    cost=Cost((430, 3_400, 30_000), matrices=_TABLES),
    costs={
        "odir": Cost((280, 3_800, 27_000), searched=(15_000, 38_000, 870_000), matrices=_TABLES)
    },
)

STRUCTURED_VECTOR = Method(
    key="structured_vector",
    name="Structured vector scaling (SVS)",
    short="SVS",
    factory=StructuredVectorScaling,
    paper="Berta 2025, arXiv 2511.03685",
    explained="Vector scaling that stays close to one temperature unless the data support more.",
    formula="softmax(w_k x_k + b_k), x = ln softmax(logits / T), penalties on w - 1 and b",
    acts_on="classes",
    preserves_accuracy=False,
    fits=Fits("numbers", 1, per_class=2),
    cost=Cost((230, 155, 170)),
)

STRUCTURED_MATRIX = Method(
    key="structured_matrix",
    name="Structured matrix scaling (SMS)",
    short="SMS",
    factory=StructuredMatrixScaling,
    paper="Berta 2025, arXiv 2511.03685",
    explained="Matrix scaling that stays close to one temperature unless the data support more.",
    formula="softmax(W x + b), x = ln softmax(logits / T), penalties on W - identity and b",
    acts_on="classes",
    preserves_accuracy=False,
    fits=Fits("numbers", 1, per_class=1, per_pair=1),
    cost=Cost((480, 630, 1_500), matrices=_TABLES),
)
