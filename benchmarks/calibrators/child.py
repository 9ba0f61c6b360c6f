"""One way of one entry at one size, alone in its process: time, optimum, memory.

Started by `benchmarks.calibrators.runs`. Writes what it knows so far as one line of JSON after
each phase, so that whatever ends the process loses no more than the phase it ends.
"""

import contextlib
import gc
import json
import logging
import resource
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.calibrators.entries import Entry, entries
from benchmarks.calibrators.ways import Way, ours
from benchmarks.data import draw_table
from benchmarks.timing import peak_bytes
from calibcore import TopR
from calibcore.validation import Floats

OURS = "Fractile"

_ENOUGH = 3.0
"""Seconds after which a run is not repeated."""

_SHORT = 0.02
"""Seconds for which a round repeats what is shorter: a single run meets cold caches."""

_LEAST = 2.2e-308
_LONGEST_REASON = 60
_MEMORY_SIGNS = ("allocate memory", "enough memory", "failed to map segment")

Record = dict[str, float | str]


@dataclass(frozen=True)
class Order:
    """What to run.

    Attributes
    ----------
    entry, library : str
    shape : tuple of int
        Rows and classes.
    seconds : float
        Wall clock for the first fit and predict, and again for all that follows.
    gigabytes : float
        Of address space.
    repeat : int
        Most rounds.
    """

    entry: str
    library: str
    shape: tuple[int, int]
    seconds: float
    gigabytes: float
    repeat: int


class Trial:
    """A way with what it is given: one draw to fit on, another to apply to."""

    def __init__(self, entry: Entry, way: Way, shape: tuple[int, int]) -> None:
        self.entry, self.way = entry, way
        table, other = (draw_table(*shape, seed=seed) for seed in (0, 1))
        self.logits = table.logits
        known: Any = table
        new: Any = other
        self.truth: Any = table.labels
        if entry.kind == "event":
            known, new = (TopR(1).outcomes(t.probabilities, t.labels) for t in (table, other))
            self.truth = known.hits
        self.known, self.new = way.given(known), way.given(new)
        self.scores: Floats | None = known.scores if entry.kind == "event" else None

    @cached_property
    def floor_run(self) -> Any:
        """One pass of exp over the logits, or one sort of the event's scores."""
        if self.scores is not None:
            return lambda: np.argsort(self.scores)
        return lambda: np.exp(self.logits)

    def round(self) -> tuple[Any, Record]:
        """Fit, predict, and run the floor, each timed."""
        fitted, fit = _least(lambda: self.way.fit(self.known, self.truth))
        predict = _least(lambda: self.way.predict(fitted, self.new))[1]
        floor = _least(self.floor_run)[1]
        return fitted, {"fit": fit, "predict": predict, "floor": floor}

    def loss(self, fitted: Any) -> Record:
        """Give the mean NLL of the rows of the fit, in nats, with the penalty if there is one."""
        found = np.asarray(self.way.predict(fitted, self.known), dtype=np.float64)
        if self.entry.kind == "event":
            own = np.where(self.truth == 1, found, 1 - found)
        else:
            own = found[np.arange(len(found)), self.truth]
        nll = float(-np.log(np.maximum(own, _LEAST)).mean())
        if self.entry.penalty is None:
            return {"loss": nll}
        if self.way.parameters is None:
            return {}
        penalty = self.entry.penalty(*found.shape)
        return {"loss": nll + penalty(self.way.parameters(fitted))}

    def memory(self, fitted: Any) -> Record:
        """Give the peak beyond the input, as a multiple of the logits or of the scores."""
        size = (self.logits if self.scores is None else self.scores).nbytes
        return {
            "fit_memory": peak_bytes(lambda: self.way.fit(self.known, self.truth)) / size,
            "predict_memory": peak_bytes(lambda: self.way.predict(fitted, self.new)) / size,
        }


def _least(run: Any) -> tuple[Any, float]:
    """Run it at least once; give what came of it, and its least time."""
    gc.collect()
    start = time.process_time()
    result, least = _timed(run)
    while time.process_time() - start < _SHORT:
        result, seconds = _timed(run)
        least = min(least, seconds)
    return result, least


def _timed(run: Any) -> tuple[Any, float]:
    start = time.process_time()
    result = run()
    return result, time.process_time() - start


def _allow(seconds: float) -> None:
    """End the process where it goes on for longer than that, whatever code it is in.

    By the wall clock: with an alarm on processor time, Linux counts that time in whole ticks.
    """
    signal.setitimer(signal.ITIMER_REAL, seconds)


def phases(order: Order) -> Iterator[Record]:
    """Give what each phase finds; the alarm ends the process where one takes too long."""
    entry = next(entry for entry in entries() if entry.name == order.entry)
    own = order.library == OURS
    trial = Trial(entry, ours(entry.make()) if own else entry.peers[order.library](), order.shape)
    _allow(order.seconds)
    began = time.perf_counter()
    fitted, best = trial.round()
    _allow(order.seconds)
    yield best
    yield trial.loss(fitted)
    for _ in range(order.repeat - 1):
        if time.perf_counter() - began > _ENOUGH:
            break
        fitted, times = trial.round()
        best = {name: min(best[name], times[name]) for name in best}
    yield best
    if own:
        yield trial.memory(fitted)


def _reason(error: Exception) -> str:
    """Say in a few words what went wrong."""
    text = " ".join(str(error).split()).replace("|", "/") or type(error).__name__
    if isinstance(error, MemoryError) or any(sign in text for sign in _MEMORY_SIGNS):
        return "out of memory"
    if isinstance(error, ModuleNotFoundError):
        return "not installed"
    short = text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON].rstrip()} ..."
    return f"raises: {short}"


def main() -> None:
    """Run the order given as JSON."""
    told = json.loads(sys.argv[1])
    order = Order(**told | {"shape": tuple(told["shape"])})
    limit = int(order.gigabytes * 1e9)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    warnings.simplefilter("ignore")  # of libraries about each other, and of slow fits
    logging.disable(logging.INFO)
    answer = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):  # where libraries may say what they like
        try:
            for record in phases(order):
                print(json.dumps(record), file=answer, flush=True)
        except Exception as error:  # noqa: BLE001 - whatever a library raises is its result
            print(json.dumps({"failure": _reason(error)}), file=answer, flush=True)


if __name__ == "__main__":
    main()
