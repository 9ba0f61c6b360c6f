"""Calibrators fitted side by side, in processes that outlive a click.

A fit is many short calls, which threads do not speed up. What is fitted here is kept where
`dashboard.compute.fits` looks for it, which fits alone what is missing and says what it refuses.
"""

import os
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

import loky
import numpy as np
import psutil
from loky.process_executor import ShutdownExecutorError
from numpy.typing import NDArray

from calibcore.calibrators.base import FittedMap
from calibcore.calibrators.method import Calibrator
from calibcore.data import EventScores, Rows
from calibcore.errors import CalibrationInputError
from calibcore.fitting import (
    FoldedScoreMap,
    FoldedVectorMap,
    PreparedSet,
    fit,
    joined,
    without_fold,
)
from calibcore.splits import Folds
from dashboard.logs import LOG

WORTH_SECONDS = 3.0
"""Fits that take less are not worth a process."""

_MOST_PROCESSES = 8
"""Nobody fits more at once than there are folds and a few."""

_MOST_BYTES = 2**30
"""Memory that the tables of all processes may take together."""

_IDLE_SECONDS = 60
"""After so long without work a process ends."""

MOST_RESTARTS = 2
"""So often processes that were ended from outside are started again, half as many each time."""

_POLL = 0.1
"""Seconds between two looks at how far they are."""

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""The matrices of a fit are too small to gain from more."""

Result = TypeVar("Result")


@dataclass
class FitJob:
    """A calibrator to fit to a set, and once without each of its folds."""

    key: str
    """Of the method."""
    calibrator: Calibrator
    """It."""
    prepared: PreparedSet
    """The set."""
    fold: Folds
    """Of each row; shape (n_samples,)."""
    seconds: float
    """About what one fit takes."""
    keep: Callable[[FittedMap, float], None]
    """Told the fit to all rows and the seconds that it took, as soon as it is there."""
    keep_folds: Callable[[FoldedScoreMap | FoldedVectorMap], None]
    """Told those without a fold, when all are there."""
    whole: FittedMap | None = None
    """The fit to all rows where it is known."""
    parts: dict[int, FittedMap] = field(default_factory=dict)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self.fold.max()) + 1

    def take(self, number: int, fitted: FittedMap, seconds: float) -> None:
        """Keep a fit: of all rows, number 0, or without a fold, from 1."""
        if number == 0:
            self.whole = fitted
            self.keep(fitted, seconds)
            return
        self.parts[number] = fitted
        if len(self.parts) == self.n_folds:
            maps = [self.parts[place] for place in range(1, self.n_folds + 1)]
            self.keep_folds(joined(maps, self.fold))


Task = tuple[FitJob, int]
Tell = Callable[[float, FitJob, int], None]
"""Told the share of all work that is done, and the job and number that were begun last."""


class _StoppedError(Exception):
    """Ends a fit that nobody waits for any more."""


def saves_time(jobs: list[FitJob]) -> bool:
    """Return whether there is enough to do, and more than one process to do it."""
    seconds = sum(job.seconds * (1 + job.n_folds) for job in jobs)
    return seconds > WORTH_SECONDS and _at_once(jobs) > 1


def side_by_side_seconds(seconds: float, rows: Rows) -> float:
    """Return about how long fits to a set take that take so many seconds one after another."""
    return seconds / n_processes(_n_bytes(rows)) if seconds > WORTH_SECONDS else seconds


def n_processes(n_bytes: int) -> int:
    """Return how many fits to a table of a size are made at once on this machine."""
    within = _MOST_BYTES // max(4 * n_bytes, 1)  # a table, its part, and what a fit makes of it
    return int(max(min(loky.cpu_count(), _MOST_PROCESSES, within), 1))


def _at_once(jobs: list[FitJob]) -> int:
    return n_processes(max((_n_bytes(job.prepared.rows) for job in jobs), default=0))


def fit_side_by_side(jobs: list[FitJob], report: Tell) -> int:
    """Fit in as many processes as there are cores, what takes longest first.

    ``jobs``: what to fit. A job that a calibrator refuses is left out. ``report``: see `Tell`;
    called ten times a second. Whatever it raises ends all fits; what was finished is kept.

    Returns how often processes were ended from outside, as a system does that runs out of memory.
    After more than `MOST_RESTARTS` times, what is missing is left to be fitted without them.
    """
    if not saves_time(jobs):
        return 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        board = Path(folder) / "shares"
        np.zeros(1 + sum(1 + job.n_folds for job in jobs)).tofile(board)
        return _Run(jobs, board).see_through(_at_once(jobs), report)


def _n_bytes(rows: Rows) -> int:
    return 8 * rows.n_cells if isinstance(rows, EventScores) else rows.given.nbytes


def pool() -> Executor:
    """Return the processes, which are there after the first call until they are idle for long."""
    n = min(loky.cpu_count(), _MOST_PROCESSES)
    executor: Executor = loky.get_reusable_executor(
        n, timeout=_IDLE_SECONDS, env=ONE_THREAD, initializer=end_with, initargs=(os.getpid(),)
    )
    return executor


def end_with(parent: int) -> None:
    """End this process as soon as the one that began it has ended, be it killed.

    Its result would wait for good for somebody who takes it.
    """

    def watch() -> None:
        with suppress(psutil.NoSuchProcess):
            psutil.Process(parent).wait()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class _Run:
    """Fits under way; they tell how far they are, and hear that they are stopped, by a file."""

    def __init__(self, jobs: list[FitJob], board: Path) -> None:
        self._board = board
        self._shares: NDArray[np.float64] = np.memmap(board, np.float64, "r+")
        tasks = [(job, number) for job in jobs for number in range(1 + job.n_folds)]
        self._places = {(job.key, number): place for place, (job, number) in enumerate(tasks, 1)}
        self._weights = np.array([0.0, *(max(job.seconds, 1e-3) for job, _ in tasks)])
        self._ready: list[Task] = []
        for job in jobs:
            if job.whole is None:
                self._ready.append((job, 0))
            else:
                self._follow(job)
        self._running: dict[Future[tuple[FittedMap | None, float]], Task] = {}

    def _follow(self, job: FitJob) -> None:
        self._shares[self._places[job.key, 0]] = 1.0
        self._ready += [(job, number) for number in range(1, job.n_folds + 1)]

    def see_through(self, at_once: int, report: Tell) -> int:
        """Fit all, in new processes where they were ended; return how often they were."""
        ends = 0
        try:
            while ends <= MOST_RESTARTS:
                try:
                    processes = pool()
                except (ImportError, OSError):
                    break  # a system without semaphores; what is missing is fitted here
                try:
                    self._go_on(processes, max(at_once >> ends, 1), report)
                    break
                except (BrokenProcessPool, ShutdownExecutorError):
                    ends += 1
                    LOG.warning("processes that fit were ended from outside, time %d", ends)
                    self._take_back()
        finally:
            self._shares[0] = 1.0
            for future in self._running:
                future.cancel()
        return ends

    def _go_on(self, processes: Executor, at_once: int, report: Tell) -> None:
        """Begin fits while there is room, and take what they find."""
        last: Task | None = None
        while self._ready or self._running:
            self._ready.sort(key=lambda task: task[0].seconds)
            while self._ready and len(self._running) < at_once:
                last = self._ready[-1]
                self._running[processes.submit(self._call(*last))] = last
                self._ready.pop()
            done, _ = wait(self._running, timeout=_POLL, return_when=FIRST_COMPLETED)
            for future in done:
                self._take(future)
            if last is not None:
                share = float(self._shares @ self._weights / self._weights.sum())
                report(min(share, 1.0), *last)

    def _take_back(self) -> None:
        """Make ready again what was under way."""
        for job, number in self._running.values():
            self._shares[self._places[job.key, number]] = 0.0
            self._ready.append((job, number))
        self._running.clear()

    def _call(self, job: FitJob, number: int) -> Callable[[], tuple[FittedMap | None, float]]:
        part = job.prepared if number == 0 else without_fold(job.prepared, job.fold, number - 1)
        place = self._places[job.key, number]
        return partial(_fit_there, job.calibrator, part, job.whole, self._board, place)

    def _take(self, future: Future[tuple[FittedMap | None, float]]) -> None:
        job, number = self._running[future]
        try:
            fitted, seconds = future.result()
        except CalibrationInputError:
            del self._running[future]
            self._ready = [task for task in self._ready if task[0] is not job]
            return
        del self._running[future]
        self._shares[self._places[job.key, number]] = 1.0
        if fitted is not None:
            job.take(number, fitted, seconds)
        if number == 0:
            self._follow(job)


def _fit_there(
    calibrator: Calibrator, part: PreparedSet, near: FittedMap | None, board: Path, place: int
) -> tuple[FittedMap | None, float]:
    """Fit in a process of its own; return the seconds too."""
    shares: NDArray[np.float64] = np.memmap(board, np.float64, "r+")

    def report(share: float) -> None:
        if shares[0]:
            raise _StoppedError
        shares[place] = share

    report(0.0)
    return timed(lambda: fit(calibrator, part, report, near))


def timed(make: Callable[[], Result]) -> tuple[Result, float]:
    """Make something; return the seconds too, without those of the imports that fits need."""
    import scipy.optimize  # noqa: F401, PLC0415 - a third of a second to import

    start = time.perf_counter()
    result = make()
    return result, time.perf_counter() - start
