"""The jobs that are timed: the floor, Fractile and its peers for each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.data import Table
from benchmarks.peers import N_BINS, Rival
from calibcore import EventScores, TopR, WithinTopR, ks_error
from calibcore.binning import Binning
from calibcore.calibrators import TemperatureScaling
from calibcore.metrics import ece
from calibcore.probabilities import softmax

SKLEARN, NETCAL, TORCHMETRICS, NUMPY = "scikit-learn", "netcal", "torchmetrics", "plain NumPy"
PEERS = (SKLEARN, NETCAL, TORCHMETRICS, NUMPY)

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
    return [ks, binned("equal_width"), binned("equal_mass")]


def table_jobs(table: Table) -> list[Job]:
    """List what is done to logits; the floor is one pass of exp over them."""
    size = "({:,}, {:,})".format(*table.logits.shape)
    room = np.empty_like(table.logits)

    def floor() -> None:
        np.exp(table.logits, out=room)

    def job(name: str, ours: Run, offers: Mapping[str, Callable[[], Rival]]) -> Job:
        return Job(name, size, floor, ours, _installed(offers))

    return [
        job(
            "softmax",
            lambda: softmax(table.logits),
            {
                SKLEARN: lambda: peers.sklearn_softmax(table),
                NUMPY: lambda: peers.numpy_softmax(table),
            },
        ),
        *(job(*parts) for parts in _extractions(table)),
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
    second, within = TopR(2), WithinTopR(2)
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
