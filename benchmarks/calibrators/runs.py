"""Start the children, and read what they found."""

import json
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.calibrators.child import OURS, Order
from benchmarks.calibrators.entries import Entry


@dataclass(frozen=True)
class Run:
    """What came of one way of one entry at one size.

    Attributes
    ----------
    fit, predict, floor : float, optional
        Processor time in seconds, the least of the rounds; none where it failed.
    loss : float, optional
        Mean NLL of the rows of the fit, in nats, with the penalty if there is one.
    fit_memory, predict_memory : float, optional
        Peak beyond the input, as a multiple of it.
    failure : str
        Why there are no times.
    at_least : float
        Seconds that it was given, where they did not suffice.
    """

    fit: float | None = None
    predict: float | None = None
    floor: float | None = None
    loss: float | None = None
    fit_memory: float | None = None
    predict_memory: float | None = None
    failure: str = ""
    at_least: float = 0.0

    @property
    def seconds(self) -> float | None:
        """Time to fit and to predict."""
        return None if self.fit is None or self.predict is None else self.fit + self.predict


@dataclass(frozen=True)
class Limits:
    """How long and how large a run may be."""

    peer_seconds: float
    own_seconds: float
    gigabytes: float
    repeat: int


@dataclass(frozen=True)
class Row:
    """One entry at one size, with its peers."""

    entry: Entry
    shape: tuple[int, int]
    ours: Run
    peers: dict[str, Run]


def measure(entry: Entry, shape: tuple[int, int], limits: Limits) -> Row:
    """Run Fractile and each peer, one after the other."""
    found = {library: _run(entry, library, shape, limits) for library in (OURS, *entry.peers)}
    return Row(entry, shape, found.pop(OURS), found)


def _run(entry: Entry, library: str, shape: tuple[int, int], limits: Limits) -> Run:
    seconds = limits.own_seconds if library == OURS else limits.peer_seconds
    order = Order(entry.name, library, shape, seconds, limits.gigabytes, limits.repeat)
    command = [sys.executable, "-m", "benchmarks.calibrators.child", json.dumps(asdict(order))]
    ended = subprocess.run(  # noqa: S603 - this program itself
        command, capture_output=True, text=True, errors="replace", check=False
    )
    known: dict[str, Any] = {}
    for said in ended.stdout.splitlines():
        known |= json.loads(said)
    found = _found(known, ended.returncode, seconds)
    outcome = found.failure or f"{found.seconds:.4g} s"
    sys.stderr.write(f"{shape!s:14} {entry.name:50} {library:14} {outcome}\n")
    if ended.returncode > 0:  # a fault of this program, not of the library's
        sys.stderr.write(ended.stderr)
    return found


def _found(known: dict[str, Any], code: int, seconds: float) -> Run:
    """Read the lines; a process that ended after its times were known has done its job."""
    if "fit" in known:
        return Run(**known | {"failure": ""})
    if "failure" in known:
        return Run(failure=known["failure"])
    if code == -signal.SIGALRM:
        return Run(failure=f"over {seconds:g} s", at_least=seconds)
    if code == -signal.SIGKILL:
        return Run(failure="out of memory")
    return Run(failure=f"crashes ({signal.Signals(-code).name})" if code < 0 else "did not start")
