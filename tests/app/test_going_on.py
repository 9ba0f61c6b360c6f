"""Work that outlives the run that asked for it."""

import threading
import time
from collections.abc import Callable

import pytest

from calibcore.calibrators.base import Progress
from dashboard.compute import cache as background
from dashboard.compute.cache import see_through


class Click(BaseException):
    """What Streamlit does to a run when somebody clicks."""


class Steps:
    """Work in a hundred steps that waits, after the first, to be let go on."""

    def __init__(self) -> None:
        self.began = 0
        self.ended = threading.Event()
        self.go = threading.Event()

    def __call__(self, report: Progress) -> None:
        self.began += 1
        try:
            for step in range(100):
                report(step / 100)
                if step:
                    self.go.wait(20)
            self.kept = "kept"
        finally:
            self.ended.set()


def click(_: float) -> None:
    raise Click


def progress_of(shares: list[float], then: Callable[[], object]) -> Progress:
    def note(share: float) -> None:
        shares.append(share)
        then()

    return note


def test_a_click_does_not_end_the_work_and_the_next_run_waits_for_it() -> None:
    work, shares = Steps(), list[float]()
    with pytest.raises(Click):
        see_through("one", work, click)
    see_through("one", work, progress_of(shares, work.go.set))
    assert work.began == 1
    assert work.kept == "kept"
    assert shares[0] == pytest.approx(0.01)


def test_work_that_nobody_asks_for_ends_and_is_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "GRACE", 0.05)
    work = Steps()
    with pytest.raises(Click):
        see_through("two", work, click)
    time.sleep(0.1)
    work.go.set()
    assert work.ended.wait(20)
    assert not hasattr(work, "kept")
    see_through("two", work, lambda _: None)
    assert work.began == 2
    assert work.kept == "kept"


def test_work_in_sight_outlasts_the_time_of_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "GRACE", 0.2)

    def slow(report: Progress) -> None:
        for step in range(8):
            report(step / 8)
            time.sleep(0.1)

    see_through("three", slow, lambda _: None)  # or it would never end


def test_what_the_work_raises_is_raised_and_the_work_can_be_done_again() -> None:
    def broken(_: Progress) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        see_through("four", broken, click)
    work = Steps()
    work.go.set()
    see_through("four", work, lambda _: None)
    assert work.kept == "kept"
