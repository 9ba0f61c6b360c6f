"""Calibrators of the logits of all classes, as users choose them."""

from calibcore.calibrators.cost import Cost
from calibcore.calibrators.ensembles.beta import BetaEnsemble
from calibcore.calibrators.ensembles.temperature import EnsembleTemperatureScaling
from calibcore.calibrators.gaussian_process.calibrator import GaussianProcessCalibration
from calibcore.calibrators.linear.maps import DirichletScaling, MatrixScaling, VectorScaling
from calibcore.calibrators.linear.structured import StructuredMatrixScaling, StructuredVectorScaling
from calibcore.calibrators.method import Choice, Fits, Method, Switch, WholeNumber
from calibcore.calibrators.temperature.scaling import TemperatureScaling

_MATRICES = 18.0
"""Tables of a double for each pair of classes in which Newton's method works on a full matrix."""
_LOSS = Choice("loss", "nll", ("nll", "squared_error"))


def _matrix(penalty: str) -> MatrixScaling:
    return MatrixScaling(odir="cv" if penalty == "odir" else None)


def _dirichlet(penalty: str) -> DirichletScaling:
    return DirichletScaling(odir="cv") if penalty == "odir" else DirichletScaling(l2=1e-3)


METHODS: tuple[Method, ...] = (
    Method(
        key="temperature",
        name="Temperature scaling",
        factory=TemperatureScaling,
        options=(_LOSS,),
        paper="Guo 2017, section 4.2",
        explained="Divides all logits by one number, the temperature, that fits the labels of the"
        " calibration set best.",
        formula="calibrated probabilities = softmax(logits / T)",
        acts_on="classes",
        preserves_accuracy=True,
        fits=Fits("numbers", 1),
        cost=Cost((60, 35, 13)),
    ),
    Method(
        key="ensemble_temperature",
        name="Ensemble temperature scaling",
        factory=EnsembleTemperatureScaling,
        options=(_LOSS,),
        paper="Zhang 2020, eq. 5",
        explained="Mixes temperature scaling with the uncalibrated and with equal probabilities, so"
        " that the labels of the calibration set fit best.",
        formula="w1 softmax(logits / T) + w2 softmax(logits) + w3 / K, weights summing to 1",
        acts_on="classes",
        preserves_accuracy=True,
        fits=Fits("numbers", 3),
        cost=Cost((190, 65, 18)),
    ),
    Method(
        key="vector",
        name="Vector scaling",
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
    ),
    Method(
        key="matrix",
        name="Matrix scaling",
        factory=_matrix,
        options=(Choice("penalty", "odir", ("odir", "none")),),
        paper="Guo 2017, section 4.2; Kull 2019 (ODIR)",
        explained="Transforms the logits of all classes by a matrix. With many classes it needs the"
        " penalty, whose two strengths are chosen by cross-validation.",
        formula="softmax(W x + b), W a full matrix, x the logits minus their mean",
        acts_on="classes",
        preserves_accuracy=False,
        fits=Fits("numbers", per_class=1, per_pair=1),
        cost=Cost((430, 6_000, 16_000), few=(430, 6_000, 30_000), matrices=_MATRICES, spread=12),
        costs={
            "odir": Cost(
                (230, 4_800, 5_500), searched=(20_000, 34_000, 400_000), matrices=_MATRICES
            )
        },
    ),
    Method(
        key="dirichlet",
        name="Dirichlet calibration",
        factory=_dirichlet,
        options=(Choice("penalty", "odir", ("odir", "l2")),),
        paper="Kull 2019",
        explained="Transforms the logarithms of all class probabilities by a regularised matrix.",
        formula="softmax(W ln p + b), W a full matrix",
        acts_on="classes",
        preserves_accuracy=False,
        fits=Fits("numbers", per_class=1, per_pair=1),
        cost=Cost((430, 3_400, 30_000), matrices=_MATRICES),
        costs={
            "odir": Cost(
                (280, 3_800, 27_000), searched=(15_000, 38_000, 870_000), matrices=_MATRICES
            )
        },
    ),
    Method(
        key="structured_vector",
        name="Structured vector scaling (SVS)",
        factory=StructuredVectorScaling,
        paper="Berta 2025, arXiv 2511.03685",
        explained="Vector scaling that stays close to one temperature unless the data"
        " support more.",
        formula="softmax(w_k x_k + b_k), x = ln softmax(logits / T), penalties on w - 1 and b",
        acts_on="classes",
        preserves_accuracy=False,
        fits=Fits("numbers", 1, per_class=2),
        cost=Cost((230, 155, 170)),
    ),
    Method(
        key="structured_matrix",
        name="Structured matrix scaling (SMS)",
        factory=StructuredMatrixScaling,
        paper="Berta 2025, arXiv 2511.03685",
        explained="Matrix scaling that stays close to one temperature unless the data"
        " support more.",
        formula="softmax(W x + b), x = ln softmax(logits / T), penalties on W - identity and b",
        acts_on="classes",
        preserves_accuracy=False,
        fits=Fits("numbers", 1, per_class=1, per_pair=1),
        cost=Cost((480, 630, 1_500), matrices=_MATRICES),
    ),
    Method(
        key="beta_ensemble",
        name="Beta ensemble",
        factory=BetaEnsemble,
        options=(WholeNumber("n_maps", 2, 1, 5),),
        paper="Zhang 2020, section 3.2.2",
        explained="Mixes several beta curves, each applied to the probabilities of all classes.",
        formula="sum_m w_m g_m(p_k) / sum_j g_m(p_j), weights summing to 1; 1e-9 p mixed in",
        acts_on="classes",
        preserves_accuracy=True,
        fits=Fits("numbers", 7),
        cost=Cost((9_500, 4_500, 1_100)),
    ),
    Method(
        key="gaussian_process",
        name="Gaussian process",
        factory=GaussianProcessCalibration,
        options=(WholeNumber("n_inducing", 10, 2, 50),),
        paper="Wenger 2020",
        explained="Fits one smooth curve for the logits of all classes, with its uncertainty.",
        formula="softmax(g(ln p)), g a Gaussian process",
        acts_on="classes",
        preserves_accuracy=False,
        fits=Fits("curves", 1),
        cost=Cost((18_000, 12_000, 7_000), fixed=2.5e8),
    ),
)
