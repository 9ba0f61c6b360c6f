"""The results as Markdown: ratios, agreement, memory, versions."""

import importlib.metadata
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.jobs import NUMPY, PEERS, Job
from benchmarks.peers import Rival
from benchmarks.timing import Timing
from calibcore import EventScores
from calibcore.validation import Floats

_LIBRARIES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "netcal",
    "torchmetrics",
    "relplot",
    "uncertainty-calibration",
    "torch",
)


@dataclass(frozen=True)
class Agreement:
    """How far a peer's numbers are from Fractile's."""

    job: str
    size: str
    peer: str
    difference: float
    rival: Rival

    @property
    def holds(self) -> bool:
        """Whether the difference is what the peer's conventions explain."""
        return self.difference <= self.rival.tolerance


@dataclass(frozen=True)
class Row:
    """One job's times in seconds, a peer's missing where it does not do the job."""

    job: str
    size: str
    floor: float
    ours: float
    peers: dict[str, float | None]
    agreements: tuple[Agreement, ...]


def _numbers(result: Any) -> Floats:
    parts = (result.scores, result.hits) if isinstance(result, EventScores) else result
    if not isinstance(parts, tuple):
        parts = (parts,)
    return np.concatenate([np.ravel(np.asarray(part, dtype=np.float64)) for part in parts])


def _difference(ours: Any, theirs: Any) -> float:
    first, second = _numbers(ours), _numbers(theirs)
    return float(np.abs(first - second).max()) if first.shape == second.shape else float("inf")


def make_row(job: Job, timed: dict[str, Timing]) -> Row:
    """Put together one job's times, and compare its results."""
    ours = timed["ours"]
    agreements = []
    for peer, rival in job.rivals.items():
        if rival is None:
            continue
        expected = ours.result if rival.expected is None else rival.expected()
        difference = _difference(expected, timed[peer].result)
        agreements.append(Agreement(job.name, job.size, peer, difference, rival))
    return Row(
        job.name,
        job.size,
        timed["floor"].seconds,
        ours.seconds,
        {peer: timed[peer].seconds if rival else None for peer, rival in job.rivals.items()},
        tuple(agreements),
    )


def digits(value: float, n_digits: int = 2) -> str:
    """Write a number with so many significant digits, and no exponent."""
    rounded = float(f"{value:.{n_digits}g}")
    return f"{rounded:,.0f}" if rounded >= 10 ** (n_digits - 1) else f"{rounded:#.{n_digits}g}"


def _peer_cell(row: Row, peer: str) -> str:
    if peer not in row.peers:
        return "–"  # noqa: RUF001 - a dash, for a job the peer does not do
    seconds = row.peers[peer]
    return "not installed" if seconds is None else digits(seconds / row.ours)


def ratio_table(rows: Sequence[Row]) -> str:
    """Write the table of ratios."""
    head = ["Job", "Size", "Floor, ms", "Fractile / floor", *(f"{p} / Fractile" for p in PEERS)]
    lines = [line(head), line(["---", "---", *["---:"] * (len(head) - 2)])]
    lines += [
        line(
            [
                row.job,
                row.size,
                digits(row.floor * 1e3, 3),
                digits(row.ours / row.floor),
                *(_peer_cell(row, peer) for peer in PEERS),
            ]
        )
        for row in rows
    ]
    return "\n".join(lines)


def summary(rows: Sequence[Row]) -> str:
    """Write jobs by sizes for docs/speed.md; of measures alone, those that a peer computes too."""
    told = [row for row in rows if row.peers or row.job.startswith("all ") or "," not in row.job]
    parts = []
    for shaped in (False, True):
        some = [row for row in told if row.size.startswith("(") == shaped]
        sizes = list(dict.fromkeys(row.size for row in some))
        found = {(row.job, row.size): row for row in some}
        lines = [line(["Job", *sizes]), line(["---", *["---:"] * len(sizes)])]
        lines += [
            line([job, *(_summary_cell(found.get((job, size))) for size in sizes)])
            for job in dict.fromkeys(row.job for row in some)
        ]
        parts.append("\n".join(lines))
    return "\n\n".join([_SUMMARY, *parts]) + "\n"


def _summary_cell(row: Row | None) -> str:
    if row is None:
        return "–"  # noqa: RUF001 - a dash, for a job that is not done at this size
    times = {peer: seconds for peer, seconds in row.peers.items() if seconds is not None}
    beside = "".join(f"; {digits(times[peer] / row.ours)} {peer}" for peer in sorted(times))
    return digits(row.ours / row.floor) + beside


_SUMMARY = """Ratios from one run of `make benchmark`, one thread: Fractile's time as a multiple
of a floor, then how many times as long each peer takes. The floor is `numpy.argsort` of the
scores, one `numpy.exp` pass over the float32 logits, or `numpy.sum` of the probabilities where
the job's name says so; plain NumPy is the few lines one would write by hand, without any check.
Every measure alone, how far results agree, versions and memory:
[benchmarks/RESULTS.md](../benchmarks/RESULTS.md)."""


def agreement_table(rows: Sequence[Row]) -> str:
    """Write the largest difference between Fractile's results and each peer's, over the sizes."""
    worst: dict[tuple[str, str], Agreement] = {}
    for item in (agreement for row in rows for agreement in row.agreements):
        known = worst.setdefault((item.job, item.peer), item)
        if (item.holds, known.difference) < (known.holds, item.difference):
            worst[item.job, item.peer] = item
    lines = [
        line(["Job", "Peer", "Largest difference", "Allowed", "At size", "Its conventions"]),
        line(["---", "---", "---:", "---:", "---", "---"]),
    ]
    for item in worst.values():
        allowed = f"{item.rival.tolerance:.0e}" + ("" if item.holds else " **exceeded**")
        cells = [item.job, item.peer, f"{item.difference:.0e}", allowed, item.size]
        lines.append(line([*cells, item.rival.note]))
    return "\n".join(lines)


def line(cells: Sequence[str]) -> str:
    """Write one line of a table."""
    return f"| {' | '.join(cells)} |"


def _version(library: str) -> str:
    try:
        return f"{library} {importlib.metadata.version(library)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{library} not installed"


def _processor() -> str:
    """Name the processor, where the system tells."""
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        for line in facts.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def environment(libraries: Sequence[str] = _LIBRARIES) -> str:
    """Write the versions and the processor: no names of hosts or people, no paths."""
    extensions = np.show_config(mode="dicts")["SIMD Extensions"]
    widest = (extensions.get("found") or extensions.get("baseline") or ["none"])[-1]
    versions = ", ".join(_version(library) for library in libraries)
    return (
        f"Python {platform.python_version()}, {versions}. {_processor()} ({platform.machine()}),"
        f" {os.cpu_count()} processors, one thread used; NumPy's widest instructions: {widest}."
    )


def explanation(repeat: int) -> str:
    """Say how to read the ratios."""
    return (
        "Floor: `numpy.argsort` of the scores, one `numpy.exp` pass over the float32 logits, or"
        " what the job's name says."
        " Above 1, a peer's ratio says how many times longer it takes than Fractile. Floor,"
        f" Fractile and peers took turns in one process, at least {repeat} rounds; each time is the"
        " minimum of the processor time."
        f" Data are drawn with a fixed seed. {NUMPY}: the few lines one would write by hand,"
        " without checks."
    )
