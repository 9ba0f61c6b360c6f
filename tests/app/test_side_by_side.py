"""Fits in processes: the same as alone, stopped at once, and started again where they fail."""

import os
import re
import signal
import time
from dataclasses import dataclass, field
from typing import Any

import loky
import numpy as np
import pytest
from numpy.typing import ArrayLike
from streamlit.testing.v1 import AppTest

from calibcore import EventScores, LogitSet, TopR
from calibcore.calibrators import (
    DirichletScaling,
    MatrixScaling,
    SplineCalibration,
    TemperatureScaling,
    VennAbers,
)
from calibcore.calibrators.base import FittedCalibrator, FittedVectorMap, Progress, SlowVectorMap
from calibcore.calibrators.method import Calibrator
from calibcore.data import Rows
from calibcore.fitting import fit, fit_folds, prepare
from calibcore.samples import SAMPLES_FOLDER
from calibcore.splits import Folds, deal_folds
from calibcore.weights import SampleWeight
from dashboard.compute import comparison, fits, processes
from dashboard.compute.cache import forget
from dashboard.compute.comparison import FoldPlan, run_comparison
from dashboard.compute.processes import FitJob, fit_side_by_side, n_processes, saves_time
from dashboard.headless import scene_of
from dashboard.readers import read
from dashboard.settings import NO_METHOD
from dashboard.texts import comparison as words
from tests.app.pages import html_of, open_page

SLOW = 100.0


@pytest.fixture(autouse=True)
def _two_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loky, "cpu_count", lambda: 2)


@dataclass
class FitLog:
    """What was told of a job's fits."""

    whole: list[Any] = field(default_factory=list)
    folds: list[Any] = field(default_factory=list)


def rows_of(rng: np.random.Generator, n_rows: int = 600, n_classes: int = 4) -> LogitSet:
    logits = rng.normal(size=(n_rows, n_classes)) * 2
    draws = logits + rng.gumbel(size=logits.shape) * 1.5
    return LogitSet(logits, draws.argmax(axis=1))


def job_of(key: str, calibrator: Calibrator, rows: Rows, fold: Folds) -> tuple[FitJob, FitLog]:
    kept, prepared = FitLog(), prepare(rows, TopR(1))

    def keep(fitted: FittedCalibrator, seconds: float) -> None:
        assert seconds > 0
        kept.whole.append(fitted)

    made = FitJob(key, calibrator, prepared, fold, SLOW, keep, kept.folds.append)
    return made, kept


def ignore(*_: object) -> None:
    """Nobody looks."""


@pytest.mark.parametrize(
    "calibrator",
    [TemperatureScaling(), DirichletScaling(), MatrixScaling(), SplineCalibration()],
    ids=lambda made: type(made).__name__,
)
def test_fits_side_by_side_are_those_made_alone(
    calibrator: Calibrator, rng: np.random.Generator
) -> None:
    rows = rows_of(rng)
    fold = deal_folds(rows)
    job, kept = job_of("one", calibrator, rows, fold)
    fit_side_by_side([job], ignore)
    prepared = prepare(rows, TopR(1))
    whole: Any = fit(calibrator, prepared, None)
    folds: Any = fit_folds(calibrator, prepared, fold, None, whole)
    for (result,), wanted in ((kept.whole, whole), (kept.folds, folds)):
        given = prepared.event.scores if hasattr(wanted, "predict") else rows.logits
        name = "predict" if hasattr(wanted, "predict") else "predict_proba"
        got, asked = getattr(result, name)(given), getattr(wanted, name)(given)
        np.testing.assert_allclose(got, asked, rtol=1e-6, atol=1e-9)


def test_a_known_fit_is_not_made_again(rng: np.random.Generator) -> None:
    rows = rows_of(rng)
    job, kept = job_of("one", TemperatureScaling(), rows, deal_folds(rows))
    job.whole = TemperatureScaling().fit(rows.logits, rows.labels)
    fit_side_by_side([job], ignore)
    assert not kept.whole
    assert len(kept.folds) == 1


def test_what_a_calibrator_refuses_does_not_hold_up_the_others(rng: np.random.Generator) -> None:
    of_event = EventScores(rng.random(300), rng.random(300) < 0.5)
    fold = deal_folds(of_event)
    needs_classes, none = job_of("no", TemperatureScaling(), of_event, fold)
    good, some = job_of("yes", VennAbers(), of_event, fold)
    fit_side_by_side([needs_classes, good], ignore)
    assert not none.whole
    assert not none.folds
    assert len(some.folds[0].maps) == 5


def test_the_share_grows_to_all_and_names_what_is_fitted(rng: np.random.Generator) -> None:
    rows = rows_of(rng)
    told: list[tuple[float, str, int]] = []
    jobs = [job_of(key, MatrixScaling(), rows, deal_folds(rows))[0] for key in ("a", "b")]
    fit_side_by_side(jobs, lambda share, job, number: told.append((share, job.key, number)))
    shares = [share for share, _, _ in told]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)
    assert {key for _, key, _ in told} == {"a", "b"}


@dataclass(frozen=True)
class Lasting(SlowVectorMap):
    """A calibrator that takes a minute."""

    def fit(
        self,
        logits: ArrayLike,
        labels: ArrayLike,
        *,
        progress: Progress | None = None,
        sample_weight: SampleWeight = None,
    ) -> FittedVectorMap:
        assert progress is not None
        assert sample_weight is None
        for second in range(600):
            progress(second / 600)
            time.sleep(0.1)
        return TemperatureScaling().fit(logits, labels)


class StopError(Exception):
    """A click."""


def test_a_stop_ends_every_fit_at_once_and_keeps_what_is_finished(rng: np.random.Generator) -> None:
    fold = np.arange(3_000) % 5
    slow, _ = job_of("slow", Lasting(), rows_of(rng, 3_000, 3), fold)
    quick, kept = job_of("quick", TemperatureScaling(), rows_of(rng, 3_000, 3), fold)
    quick.seconds *= 2

    def click(share: float, *_: object) -> None:
        if kept.folds and share > 2 / 3 + 1e-6:  # the slow one has begun too
            raise StopError

    with pytest.raises(StopError):
        fit_side_by_side([slow, quick], click)
    assert not slow.parts
    # Both processes are free again long before such a fit would end.
    tasks = [processes.pool().submit(own_number) for _ in range(2)]
    assert len({task.result(timeout=20) for task in tasks}) == 2


def own_number() -> int:
    time.sleep(1)
    return os.getpid()


class Ending:
    """Kills every process once or more, as a system does that runs out of memory."""

    def __init__(self, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times, self.pool = times, processes.pool
        self.in_use: Any = None
        self.pools: list[Any] = []
        monkeypatch.setattr(processes, "pool", self.noted)

    def noted(self) -> Any:
        self.in_use = self.pool()
        return self.in_use

    def __call__(self, *_: object) -> None:
        executor = self.in_use
        if len(self.pools) == self.times or executor in self.pools:
            return
        self.pools.append(executor)
        for process in list(executor._processes.values()):  # noqa: SLF001 - as the system would
            os.kill(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("times", [1, 3])
def test_processes_that_are_ended_from_outside_are_started_again_twice(
    times: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = rows_of(rng, 2_000, 20)
    job, kept = job_of("one", DirichletScaling(), rows, np.arange(2_000) % 5)
    assert fit_side_by_side([job], Ending(times, monkeypatch)) == times
    assert len(kept.folds) == (times <= processes.MOST_RESTARTS)
    if not kept.folds:  # what is missing is left, and new processes would fit it
        assert fit_side_by_side([job], ignore) == 0
    assert len(kept.whole) == len(kept.folds) == 1
    wanted = DirichletScaling().fit(rows.logits, rows.labels).predict_proba(rows.logits)
    np.testing.assert_allclose(kept.whole[0].predict_proba(rows.logits), wanted, atol=1e-9)


def test_the_page_says_that_processes_were_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    end, real = Ending(1, monkeypatch), processes.fit_side_by_side

    def watched(jobs: list[FitJob], report: processes.Tell) -> int:
        def both(share: float, job: FitJob, number: int) -> None:
            end()
            report(share, job, number)

        return real(jobs, both)

    monkeypatch.setattr(processes, "WORTH_SECONDS", 0.0)
    monkeypatch.setattr(fits, "fit_side_by_side", watched)
    page = open_page("calibrators", sample="three_garments", methods="vector,matrix,platt")
    assert len(end.pools) == 1
    texts = [part.value for part in page.warning if "ended once" in part.value]
    assert texts == [words.ended(1, alone=False)]
    again = open_page("calibrators", sample="three_garments", methods="vector,matrix,platt")
    assert not [part for part in again.warning if "ended" in part.value]
    forget()


def test_a_system_without_processes_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    def refuse() -> None:
        raise OSError("no semaphores")

    monkeypatch.setattr(processes, "pool", refuse)
    rows = rows_of(rng)
    job, kept = job_of("one", TemperatureScaling(), rows, deal_folds(rows))
    fit_side_by_side([job], ignore)
    assert not kept.whole


def test_little_work_one_core_and_large_tables_are_left_alone(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    rows = rows_of(rng)
    job, kept = job_of("one", TemperatureScaling(), rows, deal_folds(rows))
    assert saves_time([job])
    job.seconds = 0.1
    assert not saves_time([job])
    assert n_processes(2**29) == 1
    job.seconds = SLOW
    monkeypatch.setattr(loky, "cpu_count", lambda: 1)
    fit_side_by_side([job], ignore)
    assert not kept.whole


@pytest.mark.long
def test_a_comparison_side_by_side_shows_the_same_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = {"sample": "three_garments", "methods": "vector,matrix,platt"}
    forget()  # a fit of another test may have lost its time
    alone = open_page("calibrators", **sample)

    def tables(page: AppTest) -> list[str]:
        """Return all but the fit times."""
        took = r"<td>[\d.]+ (ms|s)</td>"
        return [re.sub(took, "", one) for one in html_of(page)]

    shown = tables(alone)
    made: list[int] = []
    real = processes.fit_side_by_side

    def noted(jobs: list[FitJob], report: processes.Tell) -> int:
        made.append(len(jobs))
        return real(jobs, report)

    forget()
    monkeypatch.setattr(processes, "WORTH_SECONDS", 0.0)
    monkeypatch.setattr(fits, "fit_side_by_side", noted)
    together = open_page("calibrators", **sample)
    assert max(made) == 3
    assert tables(together) == shown


def test_what_was_fitted_before_a_stop_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    monkeypatch.setattr(processes, "WORTH_SECONDS", 0.0)
    name = "three_garments.npz"
    upload = read(name, (SAMPLES_FOLDER / name).read_bytes())
    scene = scene_of(upload, event=TopR(1), progress=ignore)
    keys, fold_plan = [NO_METHOD, "matrix", "vector", "platt"], FoldPlan()
    made: list[str] = []

    def click(*_: object) -> None:
        made[:] = [key for key in keys if comparison._has_fits(scene, key, fold_plan)]  # noqa: SLF001
        if made:
            raise StopError

    assert run_comparison(scene, keys, fold_plan, ignore, go=False).missing == tuple(keys)
    with pytest.raises(StopError):
        run_comparison(scene, keys, fold_plan, click, go=True)
    result = run_comparison(scene, keys, fold_plan, ignore, go=False)
    shown = [NO_METHOD, *(key for key in keys if key in made)]
    assert [one.key for one in result.contestants] == shown
    assert result.missing == tuple(key for key in keys if key not in shown)
    whole = run_comparison(scene, keys, fold_plan, ignore, go=True)
    assert [one.key for one in whole.contestants] == keys
    forget()
