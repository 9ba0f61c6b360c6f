"""What a fit takes, from measurements, so that a slow one can say so before it starts."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from calibcore.binning import Binning
from calibcore.calibrators.base import ScoreMap, VectorMap
from calibcore.calibrators.by_group import ByGroup
from calibcore.calibrators.ensembles.beta import BetaEnsemble
from calibcore.calibrators.ensembles.temperature import EnsembleTemperatureScaling
from calibcore.calibrators.gaussian_process import GaussianProcessCalibration
from calibcore.calibrators.lifts import Chain, OneVsRest, PerRank, PooledClasses, PooledScores
from calibcore.calibrators.linear.maps import (
    DirichletScaling,
    MatrixScaling,
    StructuredMatrixScaling,
    StructuredVectorScaling,
    VectorScaling,
)
from calibcore.calibrators.linear.odir import is_searched
from calibcore.calibrators.score_maps.bbq import BBQ
from calibcore.calibrators.score_maps.beta import BetaCalibration
from calibcore.calibrators.score_maps.histogram import HistogramBinning
from calibcore.calibrators.score_maps.isotonic import IsotonicCalibration
from calibcore.calibrators.score_maps.platt import PlattScaling
from calibcore.calibrators.score_maps.spline import SplineCalibration
from calibcore.calibrators.score_maps.venn_abers import VennAbers
from calibcore.calibrators.temperature import TemperatureScaling

_LOG_CLASSES = np.log([10, 100, 1000])

_FEW_A_CLASS = 10
_OF_FOLDS = 6.0
"""What the folds of a cross-validation add to the memory, as a multiple of the logits."""


@dataclass(frozen=True)
class Cost:
    """Time and memory of fitting a method and applying it."""

    passes: tuple[float, float, float]
    """Time in passes of `numpy.exp` over the logits in float32, as measured on 5,000 rows of 10
    classes, 5,000 of 100, and 25,000 of 1,000 (benchmarks/CALIBRATORS.md). With ODIR's penalty it
    is more, a row, on some tables of 4,000 rows of 1,000 classes (Dirichlet 9,000 on one and 80,000
    on another, matrix some 10,500 on both): there, about the geometric mean of the most and the
    least.
    """
    memory: float = 3.0
    """Peak beyond the logits, as a multiple of their size in float32."""
    searched: tuple[float, float, float] | None = None
    """Time on tables of which `calibcore.calibrators.linear.odir` cross-validates, if another. A
    search goes further on some rows than on others: it is the geometric mean of that table and of
    the sample logits with as many classes; with 1,000, where there is none, what it would be by
    8,000 rows of 300 classes.
    """
    few: tuple[float, float, float] | None = None
    """Time where there are at most 10 rows a class, if it is another. A matrix without a penalty is
    then sought where nothing determines it: 5,000 to 109,000 passes on tables of (4,000, 1,000),
    2,000 to 43,000 of (1,000, 300), by what the rows say; about the middle of these. So it is of
    100 classes with 5,000 rows, fewer than its 10,100 numbers: 1,200 to 65,000.
    """
    matrices: float = 0.0
    """Tables of a double for each pair of classes that are held beside it, at most."""
    fixed: float = 0.0
    """Time beyond that, in exponentials of one logit, which small tables take too."""
    spread: float = 3.0
    """Factor within which the time is right, either way. It is more than some three where the rows,
    not their number, decide how long a search goes on.
    """

    def seconds(self, n_rows: int, n_classes: int, seconds_per_logit: float) -> float:
        """Estimate the time.

        ``n_rows``, ``n_classes``: of the calibration set. ``seconds_per_logit``: what this machine
        takes for the exponential of one logit.

        In seconds, right within a factor of some ``spread``.
        """
        search = self.searched if is_searched(n_rows, n_classes) else None
        few = self.few if n_rows <= _FEW_A_CLASS * n_classes else None
        at, known = math.log(max(n_classes, 2)), np.log(search or few or self.passes)
        passes = float(np.interp(at, _LOG_CLASSES, known))
        if at > _LOG_CLASSES[-1]:  # grows on as from 100 to 1,000 classes
            slope = (known[-1] - known[-2]) / (_LOG_CLASSES[-1] - _LOG_CLASSES[-2])
            passes += max(float(slope), 0.0) * (at - float(_LOG_CLASSES[-1]))
        return (self.fixed + math.exp(passes) * n_rows * n_classes) * seconds_per_logit

    def bytes(self, n_rows: int, n_classes: int) -> float:
        """Estimate the memory beyond the logits, in bytes."""
        folds = _OF_FOLDS if self.searched and is_searched(n_rows, n_classes) else 0.0
        tables = (self.memory + folds) * 4 * n_rows * n_classes
        return tables + self.matrices * 8 * n_classes**2


# How the catalogue describes a method and its options -----------------------------------------


Calibrator = ScoreMap | VectorMap | PooledScores
"""Whatever is fitted on a calibration set."""


@dataclass(frozen=True)
class WholeNumber:
    """An option that is a whole number in a range."""

    name: str
    default: int
    least: int
    most: int


@dataclass(frozen=True)
class Choice:
    """An option that is one of a few words."""

    name: str
    default: str
    allowed: tuple[str, ...]


@dataclass(frozen=True)
class Switch:
    """An option that is on or off.

    ``one_class`` marks one that only an event has whose score is one class's probability.
    """

    name: str
    default: bool
    one_class: bool = False


Option = WholeNumber | Choice | Switch


@dataclass(frozen=True)
class Fits:
    """What a fit determines from its rows: some numbers, or some curves of free shape.

    Parameters
    ----------
    kind : {"numbers", "curves"}
        A curve stands for a spline, a histogram or steps, whatever its options.
    whole, per_class, per_pair : int
        How many, whatever the classes; for each class; and for each pair of classes.

    Examples
    --------
    >>> Fits("numbers", per_class=1, per_pair=1).count(10)
    110
    """

    kind: Literal["numbers", "curves"]
    whole: int = 0
    per_class: int = 0
    per_pair: int = 0

    def count(self, n_classes: int) -> int:
        """Return how many there are with that many classes."""
        return self.whole + self.per_class * n_classes + self.per_pair * n_classes**2


@dataclass(frozen=True)
class Method:
    """One calibrator as users choose it.

    Parameters
    ----------
    key : str
        Name in code, addresses and exports.
    name : str
        Name on screen.
    factory : callable
        Takes the options by keyword and gives the calibrator.
    paper : str
        Where it comes from.
    explained : str
        One plain sentence.
    formula : str
        One line.
    acts_on : {"event", "classes"}
        The chosen event's score alone, or all class probabilities.
    preserves_accuracy : bool
        The most probable class stays the same in every row, and so does the order of the classes.
    fits : Fits
        What its fit determines, which decides how many rows it needs.
    cost : Cost
        What it takes to fit it and to apply it.
    options : tuple of Option
        What a user may set; names are those of the factory's keywords.
    costs : mapping of str to Cost
        Of some words that can be chosen, where it is another.
    knows_groups : bool
        It needs to know the group of each row, and without is the map of all rows.
    """

    key: str
    name: str
    factory: Callable[..., Calibrator]
    paper: str
    explained: str
    formula: str
    acts_on: Literal["event", "classes"]
    preserves_accuracy: bool
    fits: Fits
    cost: Cost
    options: tuple[Option, ...] = ()
    costs: Mapping[str, Cost] = field(default_factory=dict)
    knows_groups: bool = False

    def make(self, **chosen: int | str | bool) -> Calibrator:
        """Make the calibrator with the chosen options, and the default of every other."""
        return self.factory(**self._chosen(chosen))

    def cost_of(self, **chosen: int | str | bool) -> Cost:
        """Return the cost with the chosen options, and the default of every other."""
        words = (word for word in self._chosen(chosen).values() if isinstance(word, str))
        return next((self.costs[word] for word in words if word in self.costs), self.cost)

    def _chosen(self, chosen: Mapping[str, int | str | bool]) -> dict[str, int | str | bool]:
        return {option.name: option.default for option in self.options} | dict(chosen)


# Calibrators of the logits of all classes, as users choose them -------------------------------


_MATRICES = 18.0
"""Tables of a double for each pair of classes in which Newton's method works on a full matrix."""
_LOSS = Choice("loss", "nll", ("nll", "squared_error"))


def _matrix(penalty: str) -> MatrixScaling:
    return MatrixScaling(odir="cv" if penalty == "odir" else None)


def _dirichlet(penalty: str) -> DirichletScaling:
    return DirichletScaling(odir="cv") if penalty == "odir" else DirichletScaling(l2=1e-3)


_OF_LOGITS: tuple[Method, ...] = (
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


# Maps of one score, of the event or lifted to all classes, as users choose them ---------------


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

_OF_SCORES: tuple[Method, ...] = (
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


# Every calibrator once: what the page, the command line, the benchmarks and the tests offer ---


CATALOGUE: tuple[Method, ...] = (
    SPLINE,
    *_OF_LOGITS,
    *_OF_SCORES,
)
"""Every method, in the order in which they are offered: a map of the event and its forms for all
classes beside each other."""

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
