"""The list of measures: what the tables, the exports and the tests go through."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from calibcore.binning import bin_tally
from calibcore.cumulative import ks_of
from calibcore.metrics import binned, plain, proper
from calibcore.metrics.classwise import classwise_ece
from calibcore.tally import Tally
from calibcore.validation import Floats, Labels


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
    group : {"cumulative", "binned", "kernel", "proper", "plain"}
        Kind of quantity, by which tables gather them.
    unit : {"share", "nats", "squared", "rows", "ratio"}
        A share is shown in percent.
    better : {"lower", "higher", "nearer", "neither"}
        Direction in which a model improves; nearer means to ``ideal``, from either side.
    source : str
        Paper it is taken from.
    ideal : float or None
        What a perfectly calibrated model of unlimited size would show, where that is known.
    short : bool
        Whether it is in the short list.
    """

    key: str
    name: str
    group: Literal["cumulative", "binned", "kernel", "proper", "plain"]
    unit: Literal["share", "nats", "squared", "rows", "ratio"]
    better: Literal["lower", "higher", "nearer", "neither"]
    source: str
    ideal: float | None = None
    short: bool = False


@dataclass(frozen=True, kw_only=True)
class EventMeasure(Measure):
    """A measure of one event's scores and hits.

    Parameters
    ----------
    compute : callable
        (tally, options) to one number for each of its resamples, shape (...).
    """

    compute: Callable[[Tally, Options], Floats]


@dataclass(frozen=True, kw_only=True)
class ClassMeasure(Measure):
    """A measure of all class probabilities and the labels.

    Parameters
    ----------
    compute : callable
        (probabilities, labels, options) to a number.
    """

    compute: Callable[[Floats, Labels, Options], float]


METRICS: tuple[EventMeasure | ClassMeasure, ...] = (
    EventMeasure(
        "ks_error",
        "KS error",
        "cumulative",
        "share",
        "lower",
        "Gupta 2021, eq. 12",
        ideal=0.0,
        short=True,
        compute=lambda c, _: ks_of(c),
    ),
    EventMeasure(
        "ece",
        "ECE, equal-width bins",
        "binned",
        "share",
        "lower",
        "Guo 2017, eq. 3",
        ideal=0.0,
        short=True,
        compute=lambda c, o: binned.ece_of(bin_tally(c, n_bins=o.n_bins)),
    ),
    EventMeasure(
        "ece_equal_mass",
        "ECE, equal-mass bins",
        "binned",
        "share",
        "lower",
        "Vasilev 2023, section 3.2",
        ideal=0.0,
        compute=lambda c, o: binned.ece_of(bin_tally(c, n_bins=o.n_bins, binning="equal_mass")),
    ),
    EventMeasure(
        "mce",
        "MCE",
        "binned",
        "share",
        "lower",
        "Guo 2017, eq. 5",
        ideal=0.0,
        compute=lambda c, o: binned.mce_of(bin_tally(c, n_bins=o.n_bins)),
    ),
    EventMeasure(
        "event_brier",
        "Brier score of the event",
        "proper",
        "squared",
        "lower",
        "Gupta 2021, Table 7",
        short=True,
        compute=lambda c, _: proper.event_brier_of(c),
    ),
    EventMeasure(
        "event_nll",
        "NLL of the event",
        "proper",
        "nats",
        "lower",
        "Guo 2017, eq. 6",
        short=True,
        compute=lambda c, _: proper.event_nll_of(c),
    ),
    ClassMeasure(
        "brier",
        "Brier score, all classes",
        "proper",
        "squared",
        "lower",
        "Brier 1950",
        compute=lambda p, y, _: proper.brier(p, y),
    ),
    ClassMeasure(
        "nll",
        "NLL, all classes",
        "proper",
        "nats",
        "lower",
        "Guo 2017, eq. 6",
        short=True,
        compute=lambda p, y, _: proper.nll(p, y),
    ),
    ClassMeasure(
        "classwise_ece",
        "Class-wise ECE",
        "binned",
        "share",
        "lower",
        "Vasilev 2023, eq. 9",
        ideal=0.0,
        short=True,
        compute=lambda p, y, o: classwise_ece(p, y, n_bins=o.n_bins),
    ),
    EventMeasure(
        "certain_misses",
        "Certain and wrong",
        "plain",
        "rows",
        "lower",
        "Fractile",
        ideal=0.0,
        compute=lambda c, _: plain.certain_misses_of(c),
    ),
    EventMeasure(
        "mean_score",
        "Mean score",
        "plain",
        "share",
        "neither",
        "Guo 2017, section 2",
        short=True,
        compute=lambda c, _: plain.mean_score_of(c),
    ),
    EventMeasure(
        "hit_rate",
        "Observed frequency",
        "plain",
        "share",
        "neither",
        "Guo 2017, section 2",
        short=True,
        compute=lambda c, _: plain.hit_rate_of(c),
    ),
    ClassMeasure(
        "accuracy",
        "Accuracy",
        "plain",
        "share",
        "higher",
        "Guo 2017, section 2",
        short=True,
        compute=lambda p, y, _: plain.accuracy(p, y),
    ),
)
"""Every measure, in the order of the tables."""
