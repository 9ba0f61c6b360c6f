"""The jobs that are timed: the floor, Fractile and its peers for each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.data import Table
from benchmarks.peers import N_BINS, Rival
from calibcore import EventScores, TopR, WithinTopR, ks_error
from calibcore.binning import Binning
from calibcore.calibrators import TemperatureScaling
from calibcore.inference import Inference, Plan, SideRows, infer
from calibcore.metrics import METRICS, EventMeasure, Options, classwise_ece, ece
from calibcore.probabilities import softmax
from calibcore.tally import tally

SKLEARN, NETCAL, TORCHMETRICS, NUMPY = "scikit-learn", "netcal", "torchmetrics", "plain NumPy"
RELPLOT, UNCCAL = "relplot", "uncertainty-calibration"
PEERS = (SKLEARN, NETCAL, TORCHMETRICS, RELPLOT, UNCCAL, NUMPY)

MOST_FOR_SLOW_PEERS = 1_000_000

Run = Callable[[], Any]


@dataclass(frozen=True)
class Job:
    """One row of the table.

    Attributes
    ----------
    name, size : str
        What is done, and to how much.
    floor, ours : function
        What is timed.
    rivals : mapping of str to Rival or None
        Peers that do the same; None for one that is not installed.
    """

    name: str
    size: str
    floor: Run
    ours: Run
    rivals: Mapping[str, Rival | None]


def _installed(offers: Mapping[str, Callable[[], Rival]]) -> dict[str, Rival | None]:
    found: dict[str, Rival | None] = {}
    for name, offer in offers.items():
        try:
            found[name] = offer()
        except ImportError:
            found[name] = None
    return found


def event_jobs(events: EventScores) -> list[Job]:
    """List what is measured of one event's scores; the floor is one indirect sort of them."""
    scores, hits = events.scores, events.hits
    size = f"{events.n_samples:,} scores"

    def floor() -> object:
        return np.argsort(scores)

    def binned(binning: Binning) -> Job:
        offers: dict[str, Callable[[], Rival]] = {
            SKLEARN: lambda: peers.sklearn_curve(events, binning),
            NETCAL: lambda: peers.netcal_ece(events, binning),
        }
        if binning == "equal_width":
            offers[TORCHMETRICS] = lambda: peers.torchmetrics_ece(events)
        return Job(
            f"ECE, {binning.replace('_', '-')} bins",
            size,
            floor,
            lambda: ece(scores, hits, n_bins=N_BINS, binning=binning),
            _installed(offers),
        )

    ks = Job(
        "KS error",
        size,
        floor,
        lambda: ks_error(scores, hits),
        _installed({NUMPY: lambda: peers.numpy_ks(events)}),
    )
    counted = tally(scores, hits)
    measures = [measure for measure in METRICS if isinstance(measure, EventMeasure)]

    def alone(measure: EventMeasure) -> Job:
        """Measure rows that are counted already; nothing is kept from the measure before."""
        offers = _measure_offers(events).get(measure.key, {})
        name = f"{measure.name}, rows counted"
        return Job(
            name,
            size,
            floor,
            lambda: float(measure.compute(replace(counted), Options())),
            _installed(offers),
        )

    def together() -> list[float]:
        fresh = replace(counted)
        return [float(measure.compute(fresh, Options())) for measure in measures]

    count = Job("counting the rows", size, floor, lambda: tally(scores, hits).counts, {})
    whole = Job(f"all {len(measures)} measures, rows counted", size, floor, together, {})
    binnings = [binned("equal_width"), binned("equal_mass")]
    return [ks, *binnings, count, *map(alone, measures), whole]


def inference_jobs(events: EventScores) -> list[Job]:
    """List the uncertainty of all measures of one event, before calibration and on both sides.

    The floor is to count rows drawn again and to add them up, as often as there are resamples.
    """
    measures = tuple(measure for measure in METRICS if isinstance(measure, EventMeasure))
    plan, n_samples = Plan(measures), events.n_samples
    drawn = np.random.default_rng(0).integers(n_samples, size=n_samples)
    before = SideRows(events)
    after = SideRows(EventScores(np.square(events.scores), events.hits))

    def floor() -> None:
        for _ in range(plan.n_resamples):
            np.cumsum(np.bincount(drawn, minlength=n_samples))

    def job(sides: str, later: SideRows) -> Job:
        name = (
            f"uncertainty of {len(measures)} measures, {sides}, {plan.n_resamples:,} resamples"
            " (floor: so many times `numpy.bincount` and `numpy.cumsum` of them)"
        )
        return Job(
            name, f"{n_samples:,} scores", floor, lambda: ends(infer(before, later, plan)), {}
        )

    def ends(found: Inference) -> list[float]:
        return [one.before.interval.low for one in found.findings if one.before]

    return [job("one side", before), job("before and after", after)]


def _measure_offers(events: EventScores) -> dict[str, dict[str, Callable[[], Rival]]]:
    """List who computes the same quantity, by the key of the measure."""
    offers: dict[str, dict[str, Callable[[], Rival]]] = {
        "event_brier": {SKLEARN: lambda: peers.sklearn_brier(events)},
        "event_nll": {SKLEARN: lambda: peers.sklearn_log_loss(events)},
        "auroc": {SKLEARN: lambda: peers.sklearn_auroc(events)},
    }
    if events.n_samples <= MOST_FOR_SLOW_PEERS:
        offers["smooth_ece"] = {RELPLOT: lambda: peers.relplot_smooth_ece(events)}
        offers["debiased_ece"] = {UNCCAL: lambda: peers.unccal_debiased(events)}
    return offers


def table_jobs(table: Table) -> list[Job]:
    """List what is done to logits, and to their probabilities.

    The floor is one pass of exp over the logits; of what only has to read the probabilities,
    `numpy.sum` of them.
    """
    size = "({:,}, {:,})".format(*table.logits.shape)
    room = np.empty_like(table.logits)

    def floor() -> None:
        np.exp(table.logits, out=room)

    def read() -> object:
        return table.probabilities.sum()

    def job(name: str, ours: Run, offers: Mapping[str, Callable[[], Rival]]) -> Job:
        return Job(name, size, floor, ours, _installed(offers))

    def reading(name: str, ours: Run, offers: Mapping[str, Callable[[], Rival]]) -> Job:
        told = f"{name} (floor: `numpy.sum` of the probabilities)"
        return Job(told, size, read, ours, _installed(offers))

    return [
        job(
            "softmax",
            lambda: softmax(table.logits),
            {
                SKLEARN: lambda: peers.sklearn_softmax(table),
                NUMPY: lambda: peers.numpy_softmax(table),
            },
        ),
        *(reading(*parts) for parts in _extractions(table)),
        reading(
            "class-wise ECE",
            lambda: classwise_ece(table.probabilities, table.labels, n_bins=N_BINS),
            {},
        ),
        job(
            "top-1 and KS, from logits",
            lambda: _top1_ks(table),
            {NUMPY: lambda: peers.numpy_top1_ks(table)},
        ),
        job(
            "temperature fit",
            lambda: TemperatureScaling().fit(table.logits, table.labels).temperature,
            {
                SKLEARN: lambda: peers.sklearn_temperature(table),
                NETCAL: lambda: peers.netcal_temperature(table),
            },
        ),
    ]


def _extractions(table: Table) -> list[tuple[str, Run, dict[str, Callable[[], Rival]]]]:
    """Events taken from probabilities, and the one measure that peers take from them too."""
    second, fifth, within = TopR(2), TopR(5), WithinTopR(2)
    return [
        (
            "top-1",
            lambda: TopR(1).outcomes(table.probabilities, table.labels),
            {
                TORCHMETRICS: lambda: peers.torchmetrics_hits(table, WithinTopR(1)),
                NUMPY: lambda: peers.numpy_top1(table),
            },
        ),
        (
            "top-2",
            lambda: second.outcomes(table.probabilities, table.labels),
            {NUMPY: lambda: peers.numpy_event(table, second)},
        ),
        (
            "top-5",
            lambda: fifth.outcomes(table.probabilities, table.labels),
            {NUMPY: lambda: peers.numpy_event(table, fifth)},
        ),
        (
            "within-top-2",
            lambda: within.outcomes(table.probabilities, table.labels),
            {
                SKLEARN: lambda: peers.sklearn_within(table, within),
                TORCHMETRICS: lambda: peers.torchmetrics_hits(table, within),
                NUMPY: lambda: peers.numpy_event(table, within),
            },
        ),
        (
            "top-1 and ECE",
            lambda: _top1_ece(table),
            {
                NETCAL: lambda: peers.netcal_top1_ece(table),
                TORCHMETRICS: lambda: peers.torchmetrics_top1_ece(table),
            },
        ),
    ]


def _top1_ece(table: Table) -> float:
    events = TopR(1).outcomes(table.probabilities, table.labels)
    return ece(events.scores, events.hits, n_bins=N_BINS)


def _top1_ks(table: Table) -> float:
    events = TopR(1).outcomes(softmax(table.logits), table.labels)
    return ks_error(events.scores, events.hits)
