"""Every calibrator once: what the page, the command line, the benchmarks and the tests offer."""

from calibcore.calibrators.base import ScoreMap
from calibcore.calibrators.cost import Cost
from calibcore.calibrators.ensembles.beta import BetaEnsemble
from calibcore.calibrators.ensembles.temperature import EnsembleTemperatureScaling
from calibcore.calibrators.gaussian_process.calibrator import GaussianProcessCalibration
from calibcore.calibrators.lifts.by_group import ByGroup
from calibcore.calibrators.lifts.chain import Chain
from calibcore.calibrators.lifts.pooled import PooledClasses, PooledScores
from calibcore.calibrators.lifts.separate import OneVsRest, PerRank
from calibcore.calibrators.linear.maps import DirichletScaling, MatrixScaling, VectorScaling
from calibcore.calibrators.linear.structured import StructuredMatrixScaling, StructuredVectorScaling
from calibcore.calibrators.method import Choice, Method, Switch, WholeNumber
from calibcore.calibrators.score_maps.bbq import BBQ
from calibcore.calibrators.score_maps.beta import BetaCalibration
from calibcore.calibrators.score_maps.histogram import HistogramBinning
from calibcore.calibrators.score_maps.isotonic import IsotonicCalibration
from calibcore.calibrators.score_maps.platt import PlattScaling
from calibcore.calibrators.score_maps.spline import SplineCalibration
from calibcore.calibrators.score_maps.venn_abers import VennAbers
from calibcore.calibrators.temperature.scaling import TemperatureScaling

_MATRICES = 18.0
"""Tables of a double for each pair of classes in which Newton's method works on a full matrix."""
_LOSS = Choice("loss", "nll", ("nll", "squared_error"))
_SCORE_MAPS: dict[str, type[ScoreMap]] = {
    "beta": BetaCalibration,
    "platt": PlattScaling,
    "histogram": HistogramBinning,
    "bbq": BBQ,
    "spline": SplineCalibration,
}


def _one_vs_rest(score_map: str) -> OneVsRest:
    return OneVsRest(_SCORE_MAPS[score_map]())


def _by_group(score_map: str) -> ByGroup:
    return ByGroup(_SCORE_MAPS[score_map]())


def _one_vs_rest_isotonic() -> OneVsRest:
    return OneVsRest(IsotonicCalibration())


def _pooled_isotonic(*, normalised: bool) -> PooledClasses | PooledScores:
    return (PooledClasses if normalised else PooledScores)(IsotonicCalibration())


def _after_temperature(then: str) -> Chain:
    pooled = PooledClasses(IsotonicCalibration())
    return Chain(TemperatureScaling(), pooled if then == "pooled" else _one_vs_rest_isotonic())


def _per_rank(n_knots: int) -> PerRank:
    return PerRank(SplineCalibration(n_knots=n_knots))


def _matrix(penalty: str) -> MatrixScaling:
    return MatrixScaling(odir="cv" if penalty == "odir" else None)


def _dirichlet(penalty: str) -> DirichletScaling:
    return DirichletScaling(odir="cv") if penalty == "odir" else DirichletScaling(l2=1e-3)


CATALOGUE: tuple[Method, ...] = (
    Method(
        key="spline",
        name="Spline",
        factory=SplineCalibration,
        options=(
            WholeNumber("n_knots", 6, 4, 30),
            Switch("constrained", default=True),
            Switch("cross_validated", default=False),
            Choice("runout", "natural", ("natural", "parabolic", "cubic")),
            Choice("fit_to", "difference", ("difference", "hits")),
        ),
        paper="Gupta 2021, section 4",
        explained="Replaces each score with the observed frequency at similar scores, estimated by"
        " a smooth curve on the calibration set.",
        formula="calibrated score = score + slope, at its fractile, of a cubic spline fitted to"
        " cumulative outcomes minus cumulative scores; fitted to outcomes alone: the slope",
        acts_on="event",
        preserves_accuracy=True,
        cost=Cost((25, 25, 8)),
    ),
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
        cost=Cost((430, 1_200, 16_000), few=(430, 1_600, 30_000), matrices=_MATRICES, spread=7),
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
        cost=Cost((480, 630, 1_500), matrices=_MATRICES),
    ),
    Method(
        key="pooled_isotonic",
        name="Isotonic, all classes pooled (IRM)",
        factory=_pooled_isotonic,
        options=(Switch("normalised", default=True, one_class=True),),
        paper="Zhang 2020, section 3.3.2",
        explained="Fits one increasing step function to the probabilities of all classes together,"
        " then normalises each row to sum to 1 (optional).",
        formula="g(p_k) / sum_j g(p_j), g an increasing step function plus 1e-9 p",
        acts_on="classes",
        preserves_accuracy=True,
        cost=Cost((220, 94, 49)),
    ),
    Method(
        key="one_vs_rest_isotonic",
        name="Isotonic, one class against the rest (IROvA)",
        factory=_one_vs_rest_isotonic,
        paper="Zadrozny 2002; Zhang 2020, section 3.3",
        explained="Fits one increasing step function per class, then normalises each row to sum"
        " to 1.",
        formula="g_k(p_k) / sum_j g_j(p_j), each g_k an increasing step function",
        acts_on="classes",
        preserves_accuracy=False,
        cost=Cost((215, 130, 110)),
    ),
    Method(
        key="temperature_isotonic",
        name="Temperature, then isotonic (IROvA-TS, IRM-TS)",
        factory=_after_temperature,
        options=(Choice("then", "one_vs_rest", ("one_vs_rest", "pooled")),),
        paper="Zhang 2020, section 3.4",
        explained="Temperature scaling, followed by an increasing step function per class, or one"
        " shared by all.",
        formula="isotonic(softmax(logits / T))",
        acts_on="classes",
        preserves_accuracy=False,
        cost=Cost((240, 160, 120)),
    ),
    Method(
        key="one_vs_rest",
        name="One class against the rest",
        factory=_one_vs_rest,
        options=(Choice("score_map", "beta", tuple(_SCORE_MAPS)),),
        paper="Zadrozny 2002; Vasilev 2023, section 4",
        explained="Calibrates the probability of each class separately, then normalises each row to"
        " sum to 1.",
        formula="g_k(p_k) / sum_j g_j(p_j)",
        acts_on="classes",
        preserves_accuracy=False,
        cost=Cost((470, 580, 200)),
        costs={
            "bbq": Cost((930, 1_000, 470), memory=4.0),
            "spline": Cost((455, 380, 370), memory=6.0),
        },
    ),
    Method(
        key="per_rank",
        name="Spline on every rank",
        factory=_per_rank,
        options=(WholeNumber("n_knots", 6, 4, 30),),
        paper="Gupta 2021, Table 5",
        explained="Fits one spline per rank: to the most probable class of every row, to the second"
        " most probable, and so on.",
        formula="the r-th largest probability through the spline of rank r",
        acts_on="classes",
        preserves_accuracy=False,
        cost=Cost((530, 460, 290), memory=6.0),
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
        cost=Cost((18_000, 12_000, 7_000), fixed=2.5e8),
    ),
    Method(
        key="platt",
        name="Platt scaling",
        factory=PlattScaling,
        options=(Switch("smoothed_targets", default=False),),
        paper="Platt 1999; Guo 2017, section 4.1",
        explained="Maps the score of the event by a logistic curve with two parameters.",
        formula="1 / (1 + exp(-(a log-odds + b)))",
        acts_on="event",
        preserves_accuracy=True,
        cost=Cost((30, 10, 3)),
    ),
    Method(
        key="beta",
        name="Beta calibration",
        factory=BetaCalibration,
        options=(Choice("parameters", "abm", ("abm", "am", "ab")),),
        paper="Kull 2017",
        explained="Maps the score of the event by a curve with up to three parameters, which"
        " includes no change.",
        formula="log-odds = a ln s - b ln(1 - s) + c",
        acts_on="event",
        preserves_accuracy=True,
        cost=Cost((30, 10, 3)),
    ),
    Method(
        key="histogram",
        name="Histogram binning",
        factory=HistogramBinning,
        options=(
            WholeNumber("n_bins", 15, 2, 50),
            Choice("binning", "equal_width", ("equal_width", "equal_mass")),
        ),
        paper="Zadrozny 2001; Guo 2017, section 4.1",
        explained="Replaces each score with the observed frequency in its bin.",
        formula="observed frequency of the score's bin",
        acts_on="event",
        preserves_accuracy=True,
        cost=Cost((30, 10, 3)),
    ),
    Method(
        key="isotonic",
        name="Isotonic regression",
        factory=IsotonicCalibration,
        options=(Switch("interpolate", default=False),),
        paper="Zadrozny 2002",
        explained="Replaces each score with the value of the increasing step function that is"
        " closest to the outcomes.",
        formula="the increasing step function with the least squared error",
        acts_on="event",
        preserves_accuracy=True,
        cost=Cost((30, 10, 3)),
    ),
    Method(
        key="bbq",
        name="Bayesian binning (BBQ)",
        factory=BBQ,
        paper="Naeini 2015",
        explained="Averages histogram binning over numbers of bins, weighted by their fit to the"
        " calibration set.",
        formula="sum over binnings of their posterior weight times their frequency",
        acts_on="event",
        preserves_accuracy=True,
        cost=Cost((30, 10, 3)),
    ),
    Method(
        key="venn_abers",
        name="Venn-Abers",
        factory=VennAbers,
        paper="Vovk 2015",
        explained="Fits isotonic regression with the new row as outcome 1 and as outcome 0, and"
        " combines the two values.",
        formula="p1 / (1 - p0 + p1)",
        acts_on="event",
        preserves_accuracy=True,
        cost=Cost((30, 10, 3)),
    ),
    Method(
        key="by_group",
        name="By group",
        factory=_by_group,
        options=(Choice("score_map", "platt", tuple(_SCORE_MAPS)),),
        paper="Van Calster 2019; Gelman and Hill 2007 (partial pooling); Hebert-Johnson 2018",
        explained="Fits one map on all rows, and a shift and slope for each group, near none where"
        " its rows are few.",
        formula="log-odds = a_g + b_g logit(q), q by one map of all rows; a_g and b_g penalised",
        acts_on="event",
        preserves_accuracy=True,
        cost=Cost((500, 50, 5)),
        knows_groups=True,
    ),
)
"""Every method, in the order in which they are offered."""

SIMPLEST_FIRST = (
    "temperature",
    "platt",
    "beta",
    "ensemble_temperature",
    "spline",
    "histogram",
    "isotonic",
    "venn_abers",
    "bbq",
    "by_group",
    "temperature_isotonic",
    "pooled_isotonic",
    "structured_vector",
    "vector",
    "one_vs_rest_isotonic",
    "one_vs_rest",
    "per_rank",
    "beta_ensemble",
    "gaussian_process",
    "structured_matrix",
    "matrix",
    "dirichlet",
)
"""Keys of the catalogue by what is fitted: one number, two, a curve, a curve a class, a matrix."""
