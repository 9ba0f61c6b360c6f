"""The list of measures: what the tables, the exports and the tests go through."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from calibcore.cumulative import ks_error
from calibcore.metrics import binned, plain, proper
from calibcore.metrics.classwise import classwise_ece
from calibcore.validation import Floats, Hits, Labels


@dataclass(frozen=True)
class Options:
    """What a user may set for the measures.

    Parameters
    ----------
    n_bins : int, default 15
        Bins of every binned measure.
    """

    n_bins: int = 15


@dataclass(frozen=True)
class Measure:
    """One quantity that is computed from scores and truth.

    Parameters
    ----------
    key : str
        Name in code and exports.
    name : str
        Name on screen.
    unit : {"share", "nats", "squared", "rows"}
        A share is shown in percent.
    better : {"lower", "higher", "neither"}
        Direction in which a model improves.
    of : {"event", "classes"}
        Whether it is computed from the event's scores and hits, or from all class probabilities and
        the labels.
    source : str
        Paper it is taken from.
    compute : callable
        (scores, hits, options) or (probabilities, labels, options) to a number.
    """

    key: str
    name: str
    unit: Literal["share", "nats", "squared", "rows"]
    better: Literal["lower", "higher", "neither"]
    of: Literal["event", "classes"]
    source: str
    compute: Callable[[Floats, Hits | Labels, Options], float]


METRICS: tuple[Measure, ...] = (
    Measure(
        "ks_error",
        "KS error",
        "share",
        "lower",
        "event",
        "Gupta 2021, eq. 12",
        lambda s, h, _: ks_error(s, h),
    ),
    Measure(
        "ece",
        "ECE, equal-width bins",
        "share",
        "lower",
        "event",
        "Guo 2017, eq. 3",
        lambda s, h, o: binned.ece(s, h, n_bins=o.n_bins),
    ),
    Measure(
        "ece_equal_mass",
        "ECE, equal-mass bins",
        "share",
        "lower",
        "event",
        "Vasilev 2023, section 3.2",
        lambda s, h, o: binned.ece(s, h, n_bins=o.n_bins, binning="equal_mass"),
    ),
    Measure(
        "mce",
        "MCE",
        "share",
        "lower",
        "event",
        "Guo 2017, eq. 5",
        lambda s, h, o: binned.mce(s, h, n_bins=o.n_bins),
    ),
    Measure(
        "event_brier",
        "Brier score of the event",
        "squared",
        "lower",
        "event",
        "Gupta 2021, Table 7",
        lambda s, h, _: proper.event_brier(s, h),
    ),
    Measure(
        "event_nll",
        "NLL of the event",
        "nats",
        "lower",
        "event",
        "Guo 2017, eq. 6",
        lambda s, h, _: proper.event_nll(s, h),
    ),
    Measure(
        "brier",
        "Brier score, all classes",
        "squared",
        "lower",
        "classes",
        "Brier 1950",
        lambda p, y, _: proper.brier(p, y),
    ),
    Measure(
        "nll",
        "NLL, all classes",
        "nats",
        "lower",
        "classes",
        "Guo 2017, eq. 6",
        lambda p, y, _: proper.nll(p, y),
    ),
    Measure(
        "classwise_ece",
        "Class-wise ECE",
        "share",
        "lower",
        "classes",
        "Vasilev 2023, eq. 9",
        lambda p, y, o: classwise_ece(p, y, n_bins=o.n_bins),
    ),
    Measure(
        "certain_misses",
        "Certain and wrong",
        "rows",
        "lower",
        "event",
        "Fractile",
        lambda s, h, _: plain.certain_misses(s, h),
    ),
    Measure(
        "mean_score",
        "Mean score",
        "share",
        "neither",
        "event",
        "Guo 2017, section 2",
        lambda s, h, _: plain.mean_score(s, h),
    ),
    Measure(
        "hit_rate",
        "Observed frequency",
        "share",
        "neither",
        "event",
        "Guo 2017, section 2",
        lambda s, h, _: plain.hit_rate(s, h),
    ),
    Measure(
        "accuracy",
        "Accuracy",
        "share",
        "higher",
        "classes",
        "Guo 2017, section 2",
        lambda p, y, _: plain.accuracy(p, y),
    ),
)
"""Every measure, in the order of the tables."""
