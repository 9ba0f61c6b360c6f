"""Maps of one score, of the event or lifted to all classes, as users choose them."""

from calibcore.binning import Binning
from calibcore.calibrators.base import ScoreMap
from calibcore.calibrators.cost import Cost
from calibcore.calibrators.ensembles.temperature import EnsembleTemperatureScaling
from calibcore.calibrators.lifts.by_group import ByGroup
from calibcore.calibrators.lifts.chain import Chain
from calibcore.calibrators.lifts.pooled import PooledClasses, PooledScores
from calibcore.calibrators.lifts.separate import OneVsRest, PerRank
from calibcore.calibrators.method import Choice, Fits, Method, Switch, WholeNumber
from calibcore.calibrators.score_maps.bbq import BBQ
from calibcore.calibrators.score_maps.beta import BetaCalibration
from calibcore.calibrators.score_maps.histogram import HistogramBinning
from calibcore.calibrators.score_maps.isotonic import IsotonicCalibration
from calibcore.calibrators.score_maps.platt import PlattScaling
from calibcore.calibrators.score_maps.spline import SplineCalibration
from calibcore.calibrators.score_maps.venn_abers import VennAbers
from calibcore.calibrators.temperature.scaling import TemperatureScaling

SCORE_MAPS: dict[str, type[ScoreMap]] = {
    "beta": BetaCalibration,
    "platt": PlattScaling,
    "histogram": HistogramBinning,
    "bbq": BBQ,
    "spline": SplineCalibration,
}
_BINS = (
    WholeNumber("n_bins", 15, 2, 50),
    Choice("binning", "equal_width", ("equal_width", "equal_mass")),
)
_LINES = Switch("interpolate", default=False)
_SPLINE = WholeNumber("n_knots", 6, 4, 30), Switch("constrained", default=True)


def _one_vs_rest(score_map: str) -> OneVsRest:
    return OneVsRest(SCORE_MAPS[score_map]())


def _one_vs_rest_spline(n_knots: int, *, constrained: bool) -> OneVsRest:
    return OneVsRest(SplineCalibration(n_knots=n_knots, constrained=constrained))


def _one_vs_rest_histogram(n_bins: int, binning: Binning) -> OneVsRest:
    return OneVsRest(HistogramBinning(n_bins=n_bins, binning=binning))


def _one_vs_rest_bbq() -> OneVsRest:
    return OneVsRest(BBQ())


def _one_vs_rest_isotonic(*, interpolate: bool) -> OneVsRest:
    return OneVsRest(IsotonicCalibration(interpolate))


def _by_group(score_map: str) -> ByGroup:
    return ByGroup(SCORE_MAPS[score_map]())


def _pooled_isotonic(*, normalised: bool, interpolate: bool) -> PooledClasses | PooledScores:
    return (PooledClasses if normalised else PooledScores)(IsotonicCalibration(interpolate))


def _after_temperature(then: str, first: str, *, interpolate: bool) -> Chain:
    of_score = IsotonicCalibration(interpolate)
    return Chain(
        EnsembleTemperatureScaling() if first == "ensemble_temperature" else TemperatureScaling(),
        PooledClasses(of_score) if then == "pooled" else OneVsRest(of_score),
    )


def _per_rank(n_knots: int, *, constrained: bool) -> PerRank:
    return PerRank(SplineCalibration(n_knots=n_knots, constrained=constrained))


SPLINE = Method(
    key="spline",
    name="Spline",
    factory=SplineCalibration,
    options=(
        *_SPLINE,
        Switch("cross_validated", default=False),
        Choice("runout", "natural", ("natural", "parabolic", "cubic")),
        Choice("fit_to", "difference", ("difference", "hits")),
    ),
    paper="Gupta 2021, section 4; constrained to 0-100%, as its experiments are not",
    explained="Replaces each score with the observed frequency at similar scores, estimated by"
    " a smooth curve on the calibration set.",
    formula="calibrated score = score + slope, at its fractile, of a cubic spline fitted to"
    " cumulative outcomes minus cumulative scores; fitted to outcomes alone: the slope",
    acts_on="event",
    preserves_accuracy=True,
    fits=Fits("curves", 1),
    cost=Cost((25, 25, 8)),
)

METHODS: tuple[Method, ...] = (
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
        fits=Fits("numbers", 2),
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
        fits=Fits("numbers", 3),
        cost=Cost((30, 10, 3)),
    ),
    Method(
        key="one_vs_rest",
        name="Beta or Platt, one class against the rest",
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
    ),
    Method(
        key="one_vs_rest_spline",
        name="Spline, one class against the rest",
        factory=_one_vs_rest_spline,
        options=_SPLINE,
        paper="Zadrozny 2002; Gupta 2021, section 4; constrained to 0-100%, as its experiments are"
        " not",
        explained="Fits one spline per class, to its probability and whether it was the true class,"
        " then normalises each row to sum to 1.",
        formula="g_k(p_k) / sum_j g_j(p_j), each g_k the slope of a spline",
        acts_on="classes",
        preserves_accuracy=False,
        fits=Fits("curves", per_class=1),
        cost=Cost((900, 650, 1_000), memory=6.5),
    ),
    Method(
        key="per_rank",
        name="Spline on every rank",
        factory=_per_rank,
        options=_SPLINE,
        paper="Gupta 2021, Table 5; constrained to 0-100%, as its experiments are not",
        explained="Fits one spline per rank: to the most probable class of every row, to the second"
        " most probable, and so on.",
        formula="the r-th largest probability through the spline of rank r",
        acts_on="classes",
        preserves_accuracy=False,
        fits=Fits("curves", per_class=1),
        cost=Cost((700, 690, 610), memory=6.5),
    ),
    Method(
        key="histogram",
        name="Histogram binning of the event",
        factory=HistogramBinning,
        options=_BINS,
        paper="Zadrozny 2001; Guo 2017, section 4.1 (two classes)",
        explained="Replaces the score of the event with the observed frequency in its bin.",
        formula="observed frequency of the score's bin",
        acts_on="event",
        preserves_accuracy=True,
        fits=Fits("curves", 1),
        cost=Cost((30, 10, 3)),
    ),
    Method(
        key="one_vs_rest_histogram",
        name="Histogram binning, one class against the rest",
        factory=_one_vs_rest_histogram,
        options=_BINS,
        paper="Zadrozny 2002; Guo 2017, section 4.2; Vasilev 2023, section 4.1.1",
        explained="Replaces the probability of each class with the observed frequency in its bin,"
        " then normalises each row to sum to 1.",
        formula="g_k(p_k) / sum_j g_j(p_j), g_k the observed frequency in the bin of p_k",
        acts_on="classes",
        preserves_accuracy=False,
        fits=Fits("curves", per_class=1),
        cost=Cost((75, 74, 61)),
    ),
    Method(
        key="isotonic",
        name="Isotonic regression of the event",
        factory=IsotonicCalibration,
        options=(_LINES,),
        paper="Zadrozny 2002; Guo 2017, section 4.1 (two classes)",
        explained="Replaces the score of the event with the value of the increasing step function"
        " that is closest to the outcomes.",
        formula="the increasing step function with the least squared error",
        acts_on="event",
        preserves_accuracy=True,
        fits=Fits("curves", 1),
        cost=Cost((30, 10, 3)),
    ),
    Method(
        key="one_vs_rest_isotonic",
        name="Isotonic, one class against the rest (IROvA)",
        factory=_one_vs_rest_isotonic,
        options=(_LINES,),
        paper="Zadrozny 2002; Guo 2017, section 4.2; Zhang 2020, section 3.3.1; Vasilev 2023,"
        " section 4.1.2",
        explained="Fits one increasing step function per class, then normalises each row to sum"
        " to 1.",
        formula="g_k(p_k) / sum_j g_j(p_j), each g_k an increasing step function",
        acts_on="classes",
        preserves_accuracy=False,
        fits=Fits("curves", per_class=1),
        cost=Cost((215, 130, 110)),
    ),
    Method(
        key="pooled_isotonic",
        name="Isotonic, all classes pooled (IRM)",
        factory=_pooled_isotonic,
        options=(Switch("normalised", default=True, one_class=True), _LINES),
        paper="Zhang 2020, section 3.3.2",
        explained="Fits one increasing step function to the probabilities of all classes together,"
        " then normalises each row to sum to 1 (optional).",
        formula="g(p_k) / sum_j g(p_j), g an increasing step function plus 1e-9 p",
        acts_on="classes",
        preserves_accuracy=True,
        fits=Fits("curves", 1),
        cost=Cost((220, 94, 49)),
    ),
    Method(
        key="temperature_isotonic",
        name="Temperature, then isotonic (IROvA-TS, IRM-TS)",
        factory=_after_temperature,
        options=(
            Choice("then", "one_vs_rest", ("one_vs_rest", "pooled")),
            Choice("first", "temperature", ("temperature", "ensemble_temperature")),
            _LINES,
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
    ),
    Method(
        key="bbq",
        name="Bayesian binning (BBQ) of the event",
        factory=BBQ,
        paper="Naeini 2015; Guo 2017, section 4.1 (two classes)",
        explained="Averages histogram binning over numbers of bins, weighted by their fit to the"
        " calibration set.",
        formula="sum over binnings of their posterior weight times their frequency",
        acts_on="event",
        preserves_accuracy=True,
        fits=Fits("curves", 1),
        cost=Cost((30, 10, 3)),
    ),
    Method(
        key="one_vs_rest_bbq",
        name="Bayesian binning (BBQ), one class against the rest",
        factory=_one_vs_rest_bbq,
        paper="Naeini 2015; Guo 2017, section 4.2",
        explained="Averages histogram binning over numbers of bins for each class, then normalises"
        " each row to sum to 1.",
        formula="g_k(p_k) / sum_j g_j(p_j), each g_k an average of histograms",
        acts_on="classes",
        preserves_accuracy=False,
        fits=Fits("curves", per_class=1),
        cost=Cost((930, 1_000, 470), memory=4.0),
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
        fits=Fits("curves", 2),
        cost=Cost((30, 10, 3)),
    ),
    Method(
        key="by_group",
        name="By group",
        factory=_by_group,
        options=(Choice("score_map", "platt", tuple(SCORE_MAPS)),),
        paper="Van Calster 2019; Gelman and Hill 2007 (partial pooling); Hebert-Johnson 2018",
        explained="Fits one map on all rows, and a shift and slope for each group, near none where"
        " its rows are few.",
        formula="log-odds = a_g + b_g logit(q), q by one map of all rows; a_g and b_g penalised",
        acts_on="event",
        preserves_accuracy=True,
        fits=Fits("curves", 1),
        cost=Cost((500, 50, 5)),
        knows_groups=True,
    ),
)
