"""Which of calibcore's measures a peer gives too, and how far apart they may be.

Every measure of `calibcore.metrics.METRICS` is here, and public functions beside them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

from calibcore import EventScores, cumulative_curves, metrics
from calibcore.calibrators.base import ScoreMap
from calibcore.calibrators.score_maps.isotonic import IsotonicCalibration
from calibcore.calibrators.score_maps.platt import PlattScaling
from calibcore.metrics import METRICS, EventMeasure, Options
from calibcore.metrics.pairwise import WIDTH
from calibcore.refinement import Loss, error_parts, loss_parts
from calibcore.tally import Tally, tally
from calibcore.validation import Floats, Labels
from tests.peers.cases import EVENTS, N_BINS, NAMES, Case, case, whole_bins
from tests.peers.edges import EDGES_ELSEWHERE, TIES, WITHIN_TIES
from tests.peers.figures import read

EXACT = 1e-10
"""Largest difference that counts as none."""

SIZE = 0.05
"""Share by which a difference may miss the size it is held to."""

KEYED = {measure.key: measure for measure in METRICS}

ACCURACIES = {
    "accuracy": "accuracy",
    "top_2_accuracy": "top-2 accuracy",
    "top_5_accuracy": "top-5 accuracy",
}

SOME = 1_000
"""Rows of which `tests.peers.kernels` compares all pairs."""

_LOOP = "held by a loop in tests/core/metrics/test_named_measures.py"

ALONE = {
    "certain_misses": "no library counts them; held by a loop in tests/core/test_peers.py",
    "averaged_two_bin": f"no library has it; {_LOOP}",
    "top_label_ece": f"no library that can be installed has it; {_LOOP}",
}
"""Measures that no peer has."""

FEW = 500
"""Rows at each of which a loess curve is found."""

Ours = Callable[[Case, str], float]


@dataclass(frozen=True)
class Tolerance:
    """How far a peer may be.

    Attributes
    ----------
    why : str
        What it does otherwise.
    within : float
        Largest difference on samples that ``apart`` does not name.
    apart : dict of str to float
        Size of a larger difference, to two digits, by sample and event.
    """

    why: str = ""
    within: float = EXACT
    apart: dict[str, float] = field(default_factory=dict)

    def allows(self, place: str, difference: float) -> bool:
        """Tell whether a difference is as it should be."""
        if place in self.apart:
            return abs(difference - self.apart[place]) <= SIZE * self.apart[place]
        return difference <= self.within


@dataclass(frozen=True, eq=False)
class PeerQuestion:
    """A measure of calibcore, and what the peers were asked to find the same.

    Attributes
    ----------
    name : str
        Key of the measure, or the function and its options.
    job : str
        What the peers were asked.
    peers : dict of str to Tolerance
        Those that answered.
    ours : callable
        Case and event to calibcore's value.
    value : str
        Which of a peer's values is meant.
    """

    name: str
    job: str
    peers: dict[str, Tolerance]
    ours: Ours
    value: str = "value"

    def differences(self, peer: str, samples: Iterable[str] = NAMES) -> dict[str, float]:
        """Give how far calibcore is from a peer, by sample and event, where the peer answered."""
        apart = {}
        for sample, suffix in product(samples, EVENTS):
            record = records().get((sample, f"{self.job}{suffix}", peer), {})
            if "values" in record:
                ours = self.ours(case(sample), suffix)
                apart[f"{sample}{suffix}"] = abs(ours - record["values"][self.value])
        return apart


@cache
def records() -> dict[tuple[str, str, str], dict[str, Any]]:
    """Give what the peers found, by sample, job and peer."""
    return {(record["sample"], record["job"], record["peer"]): record for record in read()}


@cache
def _counted(events: EventScores) -> Tally:
    return tally(events.scores, events.hits)


def _key(key: str) -> Ours:
    """Compute a measure of the list as the tables do."""
    measure = KEYED[key]
    if isinstance(measure, EventMeasure):
        return lambda one, suffix: float(measure.compute(_counted(one.events[suffix]), Options()))
    return lambda one, _: measure.compute(one.test.probabilities, one.test.labels, Options())


def _event(function: Callable[[Floats, Any], float]) -> Ours:
    return lambda one, suffix: function(one.events[suffix].scores, one.events[suffix].hits)


def _whole(function: Callable[[Floats, Any], float]) -> Ours:
    """Take the rows that fill bins of equal mass without a surplus."""

    def ours(one: Case, suffix: str) -> float:
        events = whole_bins(one.events[suffix])
        return function(events.scores, events.hits)

    return ours


def _first(function: Callable[[Floats, Any], float]) -> Ours:
    """Take the first 1,000 rows, of which peers compare all pairs."""
    return lambda one, suffix: function(
        one.events[suffix].scores[:SOME], one.events[suffix].hits[:SOME]
    )


def _some(function: Callable[[Floats, Any], float]) -> Ours:
    """Take the first 500 rows, at each of which peers find a curve."""
    return lambda one, suffix: function(
        one.events[suffix].scores[:FEW], one.events[suffix].hits[:FEW]
    )


def _tenths(function: Callable[[Floats, Any], float]) -> Ours:
    """Take the first rows, as many as ten groups of equally many have."""

    def ours(one: Case, suffix: str) -> float:
        events = one.events[suffix]
        whole = len(events.scores) // 10 * 10
        return function(events.scores[:whole], events.hits[:whole])

    return ours


def _table(function: Callable[[Floats, Labels], float]) -> Ours:
    return lambda one, _: function(one.test.probabilities, one.test.labels)


def _listed(key: str, job: str, peers: dict[str, Tolerance], value: str = "value") -> PeerQuestion:
    return PeerQuestion(key, job, peers, _key(key), value)


# What is known of the peers -----------------------------------------------------------------------

SAME = Tolerance()
SKLEARN, UNCCAL, DIAGNOSTICS = "scikit-learn", "uncertainty-calibration", "model-diagnostics"

FLOAT32 = Tolerance("adds up in float32, whatever it is given", 1e-7)

SURPLUS = "gives a surplus of rows to the first bins, where floor(k N / 15) spreads it"
ARRAY_SPLIT = Tolerance(SURPLUS, apart=EDGES_ELSEWHERE)
QUANTILES = Tolerance(
    "interpolates between the rows at an edge",
    apart={
        "crash_survival, class 1": 1.1e-6,
        "perfect_synthetic": 7.3e-5,
        "perfect_synthetic, class 1": 2.2e-5,
    },
)
LOESS = {
    "loess": SAME,
    "loess, interpolated": Tolerance("finds the curve at a few scores and interpolates", 0.025),
}
NLL_PARTS = ("nll_miscalibration", "nll_discrimination", "nll_uncertainty")
LOSSES: tuple[tuple[str, Loss, ScoreMap], ...] = (
    ("Brier", "brier", IsotonicCalibration(interpolate=True)),
    ("NLL", "nll", PlattScaling()),
)
CORP = {DIAGNOSTICS: SAME, SKLEARN: SAME}


def _l2(scores: Floats, hits: Any) -> float:
    return metrics.ece(scores, hits, binning="equal_mass", norm=2)


def _classwise_equal_mass(one: Case, suffix: str) -> float:
    del suffix
    whole = len(one.test.labels) // N_BINS * N_BINS
    table = one.test.probabilities[:whole], one.test.labels[:whole]
    return metrics.classwise_ece(*table, binning="equal_mass")


def _p_value(name: str) -> Callable[[Floats, Any], float]:
    return lambda scores, hits: float(getattr(cumulative_curves(scores, hits), name))


def _part(name: str) -> Ours:
    curve = {"isotonic": IsotonicCalibration(interpolate=True)}
    return lambda one, suffix: float(
        getattr(error_parts(one.events[suffix], calibrators=curve), name)
    )


def _loss_part(loss: Loss, calibrator: ScoreMap, part: str) -> Ours:
    def found(one: Case, suffix: str) -> float:
        parts = loss_parts(one.events[suffix], loss=loss, calibrators={"fit": calibrator})
        # Of a calibrator that raises the loss calibcore says that there is no calibration loss.
        return parts.losses["fit"] if part == "refinement" else parts.loss - parts.losses["fit"]

    return found


ASKED = (
    _listed("ks_error", "KS", {"MAPIE": SAME, "probmetrics": FLOAT32}),
    _listed(
        "kuiper",
        "Kuiper",
        {
            "MAPIE": Tolerance(WITHIN_TIES, apart=TIES),
            "probmetrics": Tolerance(f"{FLOAT32.why}; counts within ties", 1e-7, TIES),
        },
    ),
    _listed(
        "classwise_ks",
        "class-wise KS",
        {
            "MAPIE": Tolerance(
                WITHIN_TIES, apart={"city_country_100": 1.1e-7, "crash_survival": 7.7e-6}
            )
        },
    ),
    _listed(
        "max_classwise_ks",
        "class-wise KS, worst class",
        {"MAPIE": Tolerance(WITHIN_TIES, apart={"crash_survival": 1.5e-5})},
    ),
    _listed(
        "ece",
        "ECE, equal width",
        # No score lies on an inner edge, so it does not matter which side is closed; a score of 0
        # or 1 in a bin of its own changes nothing where the gap of its neighbours has its sign.
        dict.fromkeys(("MAPIE", "netcal", "relplot", "torchmetrics", UNCCAL), SAME),
    ),
    _listed(
        "ece_equal_mass",
        "ECE, equal mass",
        {"MAPIE": ARRAY_SPLIT, "netcal": QUANTILES, UNCCAL: ARRAY_SPLIT},
    ),
    PeerQuestion(
        "ece_equal_mass",
        "ECE, equal mass, first 15 n rows",
        {"MAPIE": SAME, "netcal": SAME, UNCCAL: SAME},
        _whole(lambda scores, hits: metrics.ece(scores, hits, binning="equal_mass")),
    ),
    _listed(
        "ece_l2",
        "l2, equal mass",
        {UNCCAL: Tolerance(SURPLUS, 1e-4, {"perfect_synthetic": 5.3e-4})},
    ),
    PeerQuestion("ece_l2", "l2, equal mass, first 15 n rows", {UNCCAL: SAME}, _whole(_l2)),
    _listed(
        "debiased_ece",
        "debiased l2",
        # That sample's error is 0 but for chance: roots of numbers that differ by 1.8e-5.
        {UNCCAL: Tolerance(SURPLUS, 1e-4, {"perfect_synthetic": 2.7e-3})},
    ),
    PeerQuestion(
        "debiased_ece",
        "debiased l2, first 15 n rows",
        {UNCCAL: SAME},
        _whole(metrics.debiased_ece),
    ),
    _listed(
        "sweep_ece",
        "ECE sweep, l1",
        {"numpy": Tolerance("gives a surplus of rows to other bins; splits ties", 6.5e-4)},
    ),
    _listed("sweep_ece", "ECE sweep, l1, same bins", {"numpy": SAME}),
    _listed("mce", "MCE", {"netcal": SAME, SKLEARN: SAME, "torchmetrics": SAME}),
    PeerQuestion(
        "mce_equal_mass",
        "MCE, equal mass, first 15 n rows",
        {"netcal": SAME},
        _whole(lambda scores, hits: metrics.mce(scores, hits, binning="equal_mass")),
    ),
    _listed(
        "classwise_ece",
        "class-wise ECE, equal width",
        {"MAPIE": SAME, "netcal": SAME, UNCCAL: SAME},
    ),
    _listed("max_classwise_ece", "class-wise ECE, worst class", {"netcal": SAME}),
    PeerQuestion(
        "classwise_ece_equal_mass",
        "class-wise ECE, equal mass, first 15 n rows",
        {UNCCAL: SAME},
        _classwise_equal_mass,
    ),
    _listed(
        "kde_ece",
        "KDE-ECE, authors' grid",
        {"KDEpy": Tolerance("has no points at 0 and 1, where saturated scores pile up", 1.5e-4)},
    ),
    _listed("kde_ece", "KDE-ECE, same points", {"KDEpy": SAME}),
    _listed("kde_ece_l2", "KDE-ECE, d = 2", {"KDEpy": SAME}),
    PeerQuestion("mmce", "MMCE", {"netcal": SAME}, _first(metrics.mmce)),
    PeerQuestion("event_skce", "SKCE of the event", {"probcal": SAME}, _first(metrics.event_skce)),
    PeerQuestion(
        "skce",
        "SKCE, all classes",
        {"numpy": SAME},
        lambda one, _: metrics.skce(
            one.test.probabilities[:SOME], one.test.labels[:SOME], width=WIDTH
        ),
    ),
    _listed(
        "smooth_ece",
        "smooth ECE",
        {
            "relplot": Tolerance(
                "knows sigma to 1 / 1024, weighs scores at 0 and 1 half",
                5e-4,
                {
                    "city_country_100": 9.1e-3,
                    "city_country_100, class 1": 2.3e-3,
                    "fashion_cnn_focal": 1.4e-3,
                    "fashion_cnn_focal, class 1": 1.3e-3,
                    "fashion_cnn_overconfident": 1.7e-2,
                    "fashion_cnn_overconfident, class 1": 1.9e-3,
                    "three_garments": 8.7e-4,
                    "three_garments, class 1": 2.9e-3,
                },
            )
        },
    ),
    _listed(
        "smooth_ece",
        "smooth ECE, reimplemented",
        {"numpy": Tolerance("here a row is shared out between two points, 1 / 4096 apart", 5e-7)},
    ),
    _listed("event_brier", "event Brier", {SKLEARN: SAME}),
    *(_listed(key, "CORP", CORP, key) for key in ("miscalibration", "discrimination")),
    _listed("uncertainty", "CORP", CORP, "uncertainty"),
    # scikit-learn clips at 2.2e-16 before the logarithm; no truth is that improbable here
    _listed("event_nll", "event log loss", {SKLEARN: SAME}),
    _listed("brier", "Brier", {SKLEARN: SAME}),
    _listed("nll", "log loss", {SKLEARN: SAME}),
    _listed("mean_score", "mean score", {SKLEARN: SAME}),
    _listed("hit_rate", "observed frequency", {SKLEARN: SAME}),
    _listed("mean_gap", "mean gap", {DIAGNOSTICS: SAME}),
    _listed("net_overconfidence", "L1 parts", {"probmetrics": SAME}, "net"),
    _listed("observed_expected_ratio", "observed over expected", {SKLEARN: SAME}),
    _listed("calibration_intercept", "calibration intercept", {"statsmodels": SAME}),
    _listed("calibration_slope", "calibration slope", {SKLEARN: SAME, "statsmodels": SAME}),
    _listed("auroc", "AUROC", {SKLEARN: SAME, "torchmetrics": SAME}),
    PeerQuestion(
        "calibration_gain",
        "calibration gain",
        {SKLEARN: SAME},
        lambda one, _: metrics.calibration_gain(
            one.test.probabilities, one.cooled, one.test.labels
        ),
    ),
    *(_listed(key, job, {SKLEARN: SAME}) for key, job in ACCURACIES.items()),
    *(
        PeerQuestion(key, job, {"scikit-misc": held}, _some(getattr(metrics, key)), key)
        for key in ("ici", "e50", "e90")
        for job, held in LOESS.items()
    ),
    _listed("spiegelhalter_z", "Spiegelhalter", {"pycaleva": SAME}, "z"),
    PeerQuestion(
        "hosmer_lemeshow",
        "Hosmer-Lemeshow, first 10 n rows",
        {"pycaleva": Tolerance("the same; groups with scores near 1 make it large", 1e-9)},
        _tenths(metrics.hosmer_lemeshow),
    ),
    _listed("brier_skill", "Brier skill", {SKLEARN: SAME}),
    _listed("nll_skill", "log-loss skill", {SKLEARN: SAME}),
    *(_listed(key, "CORP, log loss", {DIAGNOSTICS: SAME}, key) for key in NLL_PARTS),
    # Functions beside the list
    PeerQuestion(
        "ece(norm=2)",
        "l2, equal width",
        {
            UNCCAL: SAME,
            "torchmetrics": Tolerance(
                "its bin of 1.0 has a gap unlike its neighbour's",
                apart={"fashion_cnn_overconfident": 5.9e-6},
            ),
        },
        _event(lambda scores, hits: metrics.ece(scores, hits, norm=2)),
    ),
    PeerQuestion(
        'debiased_ece(binning="equal_width")',
        "debiased l2, equal width",
        {UNCCAL: SAME},
        _event(lambda scores, hits: metrics.debiased_ece(scores, hits, binning="equal_width")),
    ),
    PeerQuestion(
        "sweep_ece(norm=2)",
        "ECE sweep, l2",
        {
            "numpy": Tolerance(
                "gives a surplus of rows to other bins; splits ties",
                7e-4,
                {"crash_survival, class 1": 3.3e-3, "fashion_cnn_overconfident": 1.2e-3},
            )
        },
        _event(lambda scores, hits: metrics.sweep_ece(scores, hits, norm=2)),
    ),
    PeerQuestion(
        "sweep_ece(norm=2)",
        "ECE sweep, l2, same bins",
        {"numpy": SAME},
        _event(lambda scores, hits: metrics.sweep_ece(scores, hits, norm=2)),
    ),
    PeerQuestion(
        "kde_classwise_ece",
        "class-wise KDE-ECE",
        {"KDEpy": SAME},
        _table(metrics.kde_classwise_ece),
    ),
    PeerQuestion(
        "event_skce_test",
        "SKCE p-value",
        {
            "probcal": Tolerance(
                "draws pairs again, also where the value is below what true scores can give",
                0.07,
                {"fashion_cnn_overconfident, class 1": 0.49},
            )
        },
        _first(lambda scores, hits: metrics.event_skce_test(scores, hits).p_value),
    ),
    PeerQuestion(
        "spiegelhalter_test",
        "Spiegelhalter",
        {"pycaleva": SAME},
        _event(lambda scores, hits: metrics.spiegelhalter_test(scores, hits).p_value),
        "p",
    ),
    PeerQuestion(
        "hosmer_lemeshow_test",
        "Hosmer-Lemeshow, first 10 n rows",
        {"pycaleva": SAME},
        _tenths(lambda scores, hits: metrics.hosmer_lemeshow_test(scores, hits).p_value),
        "p",
    ),
    *(
        PeerQuestion(
            f"loss_parts: {part}, {of}",
            f"{of} parts",
            {"probmetrics": SAME},
            _loss_part(loss, calibrator, part),
            part,
        )
        for of, loss, calibrator in LOSSES
        for part in ("calibration", "refinement")
    ),
    *(
        PeerQuestion(f"error_parts: {part}", "L1 parts", {"probmetrics": SAME}, _part(part), part)
        for part in ("over", "under")
    ),
    PeerQuestion("ks_p_value", "KS p-value", {"MAPIE": SAME}, _event(_p_value("ks_p_value"))),
    PeerQuestion(
        "kuiper_p_value", "Kuiper p-value", {"MAPIE": SAME}, _event(_p_value("kuiper_p_value"))
    ),
)
"""Everything that is compared, in the order of the tables."""
