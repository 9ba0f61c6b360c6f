"""Every calibrator once, in the order in which they are offered; and those made of others."""

from collections.abc import Callable
from functools import partial

from calibcore.calibrators.base import ScoreMap, VectorMap
from calibcore.calibrators.by_group import BY_GROUP, SCORE_MAPS
from calibcore.calibrators.ensembles.beta import BETA_ENSEMBLE
from calibcore.calibrators.ensembles.temperature import (
    ENSEMBLE_TEMPERATURE,
    TEMPERATURE,
    EnsembleTemperatureScaling,
)
from calibcore.calibrators.gaussian_process import GAUSSIAN_PROCESS
from calibcore.calibrators.lifts import Chain, OneVsRest, PerRank, PooledClasses, PooledScores
from calibcore.calibrators.linear.maps import (
    DIRICHLET,
    MATRIX,
    STRUCTURED_MATRIX,
    STRUCTURED_VECTOR,
    VECTOR,
)
from calibcore.calibrators.method import Choice, Cost, Fits, Method, Switch
from calibcore.calibrators.multicalibration import MULTICALIBRATION
from calibcore.calibrators.score_maps.bbq import BAYESIAN_BINNING, BBQ
from calibcore.calibrators.score_maps.beta import BETA
from calibcore.calibrators.score_maps.centred import CENTRED_ISOTONIC
from calibcore.calibrators.score_maps.histogram import BINS, HISTOGRAM, HistogramBinning
from calibcore.calibrators.score_maps.isotonic import ISOTONIC, LINES, IsotonicCalibration
from calibcore.calibrators.score_maps.platt import PLATT, PlattScaling
from calibcore.calibrators.score_maps.quadratic import QUADRATIC
from calibcore.calibrators.score_maps.spline import SPLINE, SPLINE_OPTIONS, SplineCalibration
from calibcore.calibrators.score_maps.venn_abers import VENN_ABERS
from calibcore.calibrators.temperature import TemperatureScaling

# Of all classes, made of maps of one score -----------------------------------------------------


def _one_vs_rest(score_map: str) -> OneVsRest:
    if score_map == "platt":  # of many classes, most have few rows: see docs/decisions.md
        return OneVsRest(PlattScaling(smoothed_targets=True))
    return OneVsRest(SCORE_MAPS[score_map]())


def _lifted(
    lift: Callable[[ScoreMap], VectorMap],
    of_score: Callable[..., ScoreMap],
    **options: int | str | bool,
) -> VectorMap:
    return lift(of_score(**options))


def _pooled_isotonic(*, normalised: bool, interpolate: bool) -> PooledClasses | PooledScores:
    return (PooledClasses if normalised else PooledScores)(IsotonicCalibration(interpolate))


def _after_temperature(then: str, first: str, *, interpolate: bool) -> Chain:
    of_score = IsotonicCalibration(interpolate)
    return Chain(
        EnsembleTemperatureScaling() if first == "ensemble_temperature" else TemperatureScaling(),
        PooledClasses(of_score) if then == "pooled" else OneVsRest(of_score),
    )


ONE_VS_REST = Method(
    key="one_vs_rest",
    name="Beta or Platt, one class against the rest",
    short="One vs rest",
    factory=_one_vs_rest,
    options=(Choice("score_map", "beta", ("beta", "platt")),),
    paper="Zadrozny 2002; Kull 2017",
    explained="Calibrates the probability of each class separately, then normalises each row to"
    " sum to 1.",
    formula="g_k(p_k) / sum_j g_j(p_j)",
    acts_on="classes",
    preserves_accuracy=False,
    fits=Fits("numbers", per_class=3),
    cost=Cost((470, 580, 200)),
)

ONE_VS_REST_SPLINE = Method(
    key="one_vs_rest_spline",
    name="Spline, one class against the rest",
    short="Spline OvR",
    factory=partial(_lifted, OneVsRest, SplineCalibration),
    options=SPLINE_OPTIONS,
    paper="Zadrozny 2002; Gupta 2021, section 4; kept inside 0-100%, as its experiments are not",
    explained="Fits one spline per class, to its probability and whether it was the true class,"
    " then normalises each row to sum to 1.",
    formula="g_k(p_k) / sum_j g_j(p_j), each g_k the slope of a spline",
    acts_on="classes",
    preserves_accuracy=False,
    fits=Fits("curves", per_class=1),
    cost=Cost((900, 650, 1_000), memory=6.5),
)

PER_RANK = Method(
    key="per_rank",
    name="Spline on every rank",
    short="Per rank",
    factory=partial(_lifted, PerRank, SplineCalibration),
    options=SPLINE_OPTIONS,
    paper="Gupta 2021, Table 5; kept inside 0-100%, as its experiments are not",
    explained="Fits one spline per rank: to the most probable class of every row, to the second"
    " most probable, and so on.",
    formula="the r-th largest probability through the spline of rank r",
    acts_on="classes",
    preserves_accuracy=False,
    fits=Fits("curves", per_class=1),
    cost=Cost((700, 690, 610), memory=6.5),
)

ONE_VS_REST_HISTOGRAM = Method(
    key="one_vs_rest_histogram",
    name="Histogram binning, one class against the rest",
    short="Hist. OvR",
    factory=partial(_lifted, OneVsRest, HistogramBinning),
    options=BINS,
    paper="Zadrozny 2002; Guo 2017, section 4.2; Vasilev 2023, section 4.1.1",
    explained="Replaces the probability of each class with the observed frequency in its bin,"
    " then normalises each row to sum to 1.",
    formula="g_k(p_k) / sum_j g_j(p_j), g_k the observed frequency in the bin of p_k",
    acts_on="classes",
    preserves_accuracy=False,
    fits=Fits("curves", per_class=1),
    cost=Cost((75, 74, 61)),
)

ONE_VS_REST_ISOTONIC = Method(
    key="one_vs_rest_isotonic",
    name="Isotonic, one class against the rest (IROvA)",
    short="IROvA",
    factory=partial(_lifted, OneVsRest, IsotonicCalibration),
    options=(LINES,),
    paper="Zadrozny 2002; Guo 2017, section 4.2; Zhang 2020, section 3.3.1; Vasilev 2023,"
    " section 4.1.2",
    explained="Fits one increasing step function per class, then normalises each row to sum to 1.",
    formula="g_k(p_k) / sum_j g_j(p_j), each g_k an increasing step function",
    acts_on="classes",
    preserves_accuracy=False,
    fits=Fits("curves", per_class=1),
    cost=Cost((215, 130, 110)),
)

POOLED_ISOTONIC = Method(
    key="pooled_isotonic",
    name="Isotonic, all classes pooled (IRM)",
    short="IRM",
    factory=_pooled_isotonic,
    options=(Switch("normalised", default=True, one_class=True), LINES),
    paper="Zhang 2020, section 3.3.2",
    explained="Fits one increasing step function to the probabilities of all classes together,"
    " then normalises each row to sum to 1 (optional).",
    formula="g(p_k) / sum_j g(p_j), g an increasing step function plus 1e-9 p",
    acts_on="classes",
    preserves_accuracy=True,
    fits=Fits("curves", 1),
    cost=Cost((220, 94, 49)),
)

TEMPERATURE_ISOTONIC = Method(
    key="temperature_isotonic",
    name="Temperature, then isotonic (IROvA-TS, IRM-TS)",
    short="T, isotonic",
    factory=_after_temperature,
    options=(
        Choice("then", "one_vs_rest", ("one_vs_rest", "pooled")),
        Choice("first", "temperature", ("temperature", "ensemble_temperature")),
        LINES,
    ),
    paper="Zhang 2020, section 3.4",
    explained="Temperature or ensemble temperature scaling, followed by an increasing step"
    " function per class, or one shared by all, which keeps the predicted class.",
    formula="isotonic(softmax(logits / T))",
    acts_on="classes",
    preserves_accuracy=False,
    fits=Fits("curves", per_class=1),
    cost=Cost((240, 160, 120)),
    costs={"ensemble_temperature": Cost((370, 190, 125))},
)

ONE_VS_REST_BBQ = Method(
    key="one_vs_rest_bbq",
    name="Bayesian binning (BBQ), one class against the rest",
    short="BBQ OvR",
    factory=partial(_lifted, OneVsRest, BBQ),
    paper="Naeini 2015; Guo 2017, section 4.2",
    explained="Averages histogram binning over numbers of bins for each class, then normalises"
    " each row to sum to 1.",
    formula="g_k(p_k) / sum_j g_j(p_j), each g_k an average of histograms",
    acts_on="classes",
    preserves_accuracy=False,
    fits=Fits("curves", per_class=1),
    cost=Cost((930, 1_000, 470), memory=4.0),
)


# All of them -----------------------------------------------------------------------------------


CATALOGUE: tuple[Method, ...] = (
    SPLINE,
    TEMPERATURE,
    ENSEMBLE_TEMPERATURE,
    VECTOR,
    MATRIX,
    DIRICHLET,
    STRUCTURED_VECTOR,
    STRUCTURED_MATRIX,
    BETA_ENSEMBLE,
    GAUSSIAN_PROCESS,
    PLATT,
    QUADRATIC,
    BETA,
    ONE_VS_REST,
    ONE_VS_REST_SPLINE,
    PER_RANK,
    HISTOGRAM,
    ONE_VS_REST_HISTOGRAM,
    ISOTONIC,
    CENTRED_ISOTONIC,
    ONE_VS_REST_ISOTONIC,
    POOLED_ISOTONIC,
    TEMPERATURE_ISOTONIC,
    BAYESIAN_BINNING,
    ONE_VS_REST_BBQ,
    VENN_ABERS,
    BY_GROUP,
    MULTICALIBRATION,
)
"""Every method, in the order in which they are offered: a map of the event and its forms for all
classes beside each other."""

SIMPLEST_FIRST = (
    "temperature",
    "platt",
    "quadratic",
    "beta",
    "ensemble_temperature",
    "spline",
    "histogram",
    "isotonic",
    "centred_isotonic",
    "venn_abers",
    "bbq",
    "by_group",
    "multicalibration",
    "temperature_isotonic",
    "pooled_isotonic",
    "structured_vector",
    "vector",
    "one_vs_rest_histogram",
    "one_vs_rest_isotonic",
    "one_vs_rest_bbq",
    "one_vs_rest",
    "one_vs_rest_spline",
    "per_rank",
    "beta_ensemble",
    "gaussian_process",
    "structured_matrix",
    "matrix",
    "dirichlet",
)
"""Keys of the catalogue by what is fitted: one number, two, a curve, a curve a class, a matrix."""
