"""A class at its lessons: ``python -m benchmarks.classroom [STUDENTS] [SECONDS] [PAUSE]``.

With ``laboratory`` as last word all are there instead, each with a seed of its own, and move the
slope. Each student has a web socket of its own to a real server, as a browser has, looks at one of
the lessons, every other one at own draws, and moves the control once a pause, on average. A time is
from the move to the end of the answer; a browser then draws the picture, which takes about 100 ms.
"""

import asyncio
import random
import re
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlencode

import websockets
from playwright.sync_api import Page
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.Slider_pb2 import Slider

from benchmarks.dashboard import browsing
from benchmarks.users import processor_seconds, server_on
from dashboard.learn.laboratory import Chosen
from dashboard.learn.lesson import Lesson
from dashboard.learn.lessons import LESSONS
from dashboard.texts.laboratory import DRAW, DRAW_MANY, NUMBERS
from tests.browser.server import running_dashboard
from tests.browser.settled import settle

SLOPES = tuple(f"{slope / 20:g}" for slope in range(2, 80))
"""To which the laboratory's slope is moved."""

WATCH = """() => {
  const picture = '[data-testid="stPlotlyChart"]';
  const begun = () => { window.__begun = performance.now(); };
  const note = seen => {
    if (seen.some(one => one.target.closest(picture))) { window.__drawn = performance.now(); }
  };
  window.__begun = window.__drawn = performance.now();
  for (const one of ['keydown', 'mouseup']) { window.addEventListener(one, begun, true); }
  new MutationObserver(note).observe(document.querySelector('[data-testid="stMain"]'),
    {subtree: true, childList: true, attributes: true});
}"""


@dataclass
class Student:
    """What one student's session has seen.

    Attributes
    ----------
    lesson : Lesson or None
        None in the laboratory.
    times : list of float
        Seconds from a move to the end of its answer.
    failures : list of str
        Exceptions and refusals that were shown, and runs that did not end well.
    """

    lesson: Lesson | None
    seat: int
    times: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    slider: str = ""
    options: tuple[str, ...] = ()
    fragment: str = ""
    page: str = ""

    @property
    def key(self) -> str:
        """What is looked at."""
        return "laboratory" if self.lesson is None else self.lesson.key

    @property
    def query(self) -> str:
        """The address of the lesson, its answer shown; or of a model of the laboratory."""
        if self.lesson is None:
            return urlencode({"model": Chosen(seed=self.seat).code})
        asked = {"lesson": self.lesson.key, "answers": "shown", "seat": str(self.seat)}
        return urlencode(asked)

    def note(self, message: ForwardMsg) -> None:
        """Take in the control, the page's name, or a failure."""
        if message.WhichOneof("type") == "new_session":
            self.page = message.new_session.page_script_hash or self.page
        element = message.delta.new_element
        match element.WhichOneof("type"):
            case "slider" if not self.slider and self._is_moved(element.slider):
                self.slider = element.slider.id
                self.options = tuple(element.slider.options) or SLOPES
                self.fragment = message.delta.fragment_id
            case "exception":
                self.failures.append(element.exception.message)
            case "alert" if element.alert.format == element.alert.ERROR:
                self.failures.append(element.alert.body)

    def _is_moved(self, slider: Slider) -> bool:
        return self.lesson is not None or slider.label == NUMBERS["slope"][0]


async def run(socket: websockets.ClientConnection, student: Student, choice: str = "") -> None:
    """Ask for the page, or for its lesson alone with the control moved, and read all of it."""
    state = ClientState(query_string=student.query, page_script_hash=student.page)
    if choice:
        state.fragment_id = student.fragment
        moved = state.widget_states.widgets.add(id=student.slider)
        if student.lesson is None:
            moved.double_array_value.data.append(float(choice))
        else:
            moved.string_array_value.data.append(choice)
    else:
        state.page_name = "laboratory" if student.lesson is None else "learn"
    await socket.send(BackMsg(rerun_script=state).SerializeToString())
    while True:
        message = ForwardMsg.FromString(await socket.recv(decode=False))
        if message.WhichOneof("type") == "script_finished":
            break
        student.note(message)
    ended = {ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY}
    if message.script_finished not in ended:
        student.failures.append(f"the run ended with {message.script_finished}")


async def attend(
    address: str, student: Student, ready: asyncio.Barrier, seconds: float, pause: float
) -> None:
    """Open a lesson, wait for the others, and move its control now and then."""
    chance = random.Random(student.seat)  # noqa: S311 - no secret
    stream = f"{address.replace('http', 'ws')}/_stcore/stream"
    async with websockets.connect(stream, subprotocols=["streamlit"], max_size=None) as socket:  # type: ignore[list-item]
        await run(socket, student)
        if not student.slider:
            student.failures.append(f"{student.key}: found no control")
        await ready.wait()
        await ready.wait()
        until = time.perf_counter() + seconds
        while student.slider and time.perf_counter() < until:
            await asyncio.sleep(chance.uniform(0, 2 * pause))
            start = time.perf_counter()
            await run(socket, student, chance.choice(student.options))
            student.times.append(time.perf_counter() - start)


async def teach(
    address: str, lessons: Sequence[Lesson | None], n_students: int, seconds: float, pause: float
) -> str:
    """Let a class attend, and say what it saw."""
    process = server_on(address.rsplit(":", 1)[1])
    students = [
        Student(lessons[k % len(lessons)], seat=(k + 1) * (k % 2)) for k in range(n_students)
    ]
    ready = asyncio.Barrier(n_students + 1)
    tasks = [asyncio.create_task(attend(address, one, ready, seconds, pause)) for one in students]
    await ready.wait()
    start, used = time.perf_counter(), processor_seconds(process)
    await ready.wait()
    await asyncio.gather(*tasks)
    elapsed = time.perf_counter() - start
    used = processor_seconds(process) - used
    times = sorted(1000 * one for student in students for one in student.times)
    failures = [text for student in students for text in student.failures]
    slowest = {
        key: max((1000 * t for s in students if s.key == key for t in s.times), default=0)
        for key in dict.fromkeys(student.key for student in students)
    }
    return (
        f"{n_students} students, {elapsed:.0f} s: {len(times)} moves,"
        f" {len(times) / elapsed:.1f} a second, {1000 * used / len(times):.0f} ms of processor"
        f" time each; median {statistics.median(times):.0f} ms, 90% below"
        f" {times[int(0.9 * len(times))]:.0f} ms, slowest {times[-1]:.0f} ms;"
        f" {len(failures)} failures {failures[:3]}\n"
        f"slowest by lesson (ms): { {key: round(value) for key, value in slowest.items()} }\n"
    )


def ms_to_picture(page: Page, act: Callable[[], None]) -> float:
    """Do something on a page at rest; return when its pictures last changed."""
    page.evaluate(WATCH)
    act()
    page.wait_for_function("window.__drawn > window.__begun")
    settle(page)
    return float(page.evaluate("window.__drawn - window.__begun"))


def alone(address: str) -> str:
    """Move each lesson's control in a browser, and say when its pictures last changed."""
    found = {}
    with browsing() as browser:
        for lesson in LESSONS:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(f"{address}/learn?lesson={lesson.key}&answers=shown")
            settle(page)
            slider = page.get_by_role("slider")
            if slider.count():
                slider.first.focus()
                at_least = slider.first.evaluate("at => at.value === at.min")
                keys = ("ArrowRight", "ArrowLeft") if at_least else ("ArrowLeft", "ArrowRight")
                times = [ms_to_picture(page, partial(slider.first.press, key)) for key in 4 * keys]
                found[lesson.key] = sorted(map(round, times))
            page.close()
    return f"alone, in a browser, from a move to its pictures (ms): {found}\n"


def alone_in_laboratory(address: str) -> str:
    """Do the same with the slope, with a draw and with 200 draws, of a model each."""
    found = {}
    with browsing() as browser:
        for name in ("slope", DRAW, DRAW_MANY):
            times = []
            for seed in range(8):
                page = browser.new_page(viewport={"width": 1440, "height": 900})
                page.goto(f"{address}/laboratory?{urlencode({'model': Chosen(seed=seed).code})}")
                settle(page)
                slope = page.get_by_role("slider", name=re.compile(f"^{NUMBERS['slope'][0]}"))
                act = page.get_by_text(name, exact=True).click
                times.append(
                    ms_to_picture(
                        page, partial(slope.press, "ArrowRight") if name == "slope" else act
                    )
                )
                page.close()
            found[name] = sorted(map(round, times))
    return f"alone, in a browser, from a move to its pictures (ms): {found}\n"


def main() -> None:
    """Print three lines."""
    in_laboratory = sys.argv[-1] == "laboratory"
    given = [float(text) for text in sys.argv[1 : len(sys.argv) - in_laboratory]]
    sliding = [one for one in LESSONS if not one.controls[0].as_buttons]
    lessons = [None] if in_laboratory else sliding
    n_students, seconds, pause = (*given, *(40.0, 30.0, 3.0)[len(given) :])
    with running_dashboard() as address:
        told = asyncio.run(teach(address, lessons, int(n_students), seconds, pause))
        sys.stdout.write(told + (alone_in_laboratory if in_laboratory else alone)(address))


if __name__ == "__main__":
    main()
