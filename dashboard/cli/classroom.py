"""A class at its lessons, to measure how many a server answers at once.

Each student has a web socket of its own to the server, as a browser has, looks at one of the
lessons, every other one at own draws, and moves the control once a pause, on average. A time is
from the move to the end of the answer; a browser then draws the picture, which takes about 100 ms.
"""

import asyncio
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.Slider_pb2 import Slider

from dashboard.learn.laboratory import LaboratoryModel
from dashboard.learn.lesson import Lesson
from dashboard.learn.lessons import LESSONS
from dashboard.texts.laboratory import NUMBERS

SLOPES = tuple(f"{slope / 20:g}" for slope in range(2, 80))
"""To which the laboratory's slope is moved."""


def lessons_that_slide() -> list[Lesson]:
    """Return the lessons whose first control is a slider."""
    return [one for one in LESSONS if not one.controls[0].as_buttons]


@dataclass
class Student:
    """What one student's session has seen."""

    lesson: Lesson | None
    """None in the laboratory."""
    seat: int
    times: list[float] = field(default_factory=list)
    """Seconds from a move to the end of its answer."""
    failures: list[str] = field(default_factory=list)
    """Exceptions and refusals that were shown, and runs that did not end well."""
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
            return urlencode({"model": LaboratoryModel(seed=self.seat).code})
        parts = {"lesson": self.lesson.key, "answers": "shown", "seat": str(self.seat)}
        return urlencode(parts)

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


def _connected(address: str) -> websockets.connect:
    stream = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
    protocols = [websockets.Subprotocol("streamlit")]
    return websockets.connect(stream, subprotocols=protocols, max_size=None)


async def attend(
    address: str, student: Student, ready: asyncio.Barrier, seconds: float, pause: float
) -> None:
    """Open a lesson, wait for the others, and move its control now and then."""
    chance = random.Random(student.seat)  # noqa: S311 - no secret
    async with _connected(address) as socket:
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
    address: str,
    lessons: Sequence[Lesson | None],
    n_students: int,
    seconds: float,
    pause: float,
    processor: Callable[[], float] | None = None,
) -> str:
    """Let a class attend, and say what it saw.

    ``address``: of a server. ``lessons``: what is looked at in turn, None for the laboratory.
    ``n_students``, ``seconds``, ``pause``: how many, for how long, and between moves on average.
    ``processor``: returns the seconds of processor time that the server has used, where known.
    """
    async with _connected(address):  # else all would wait for a server that is not there
        pass
    students = [
        Student(lessons[k % len(lessons)], seat=(k + 1) * (k % 2)) for k in range(n_students)
    ]
    ready = asyncio.Barrier(n_students + 1)
    tasks = [asyncio.create_task(attend(address, one, ready, seconds, pause)) for one in students]
    await ready.wait()
    start, used = time.perf_counter(), processor() if processor else 0.0
    await ready.wait()
    await asyncio.gather(*tasks)
    elapsed = time.perf_counter() - start
    used = (processor() if processor else 0.0) - used
    times = sorted(1000 * one for student in students for one in student.times)
    failures = [text for student in students for text in student.failures]
    slowest = {
        key: max((1000 * t for s in students if s.key == key for t in s.times), default=0)
        for key in dict.fromkeys(student.key for student in students)
    }
    if not times:
        summary = f"{n_students} students: no move was answered; {len(failures)} failures"
        return f"{summary} {failures[:3]}\n"
    cost = f", {1000 * used / len(times):.0f} ms of processor time each" if processor else ""
    return (
        f"{n_students} students, {elapsed:.0f} s: {len(times)} moves,"
        f" {len(times) / elapsed:.1f} a second{cost}; median {statistics.median(times):.0f} ms,"
        f" 90% below {times[int(0.9 * len(times))]:.0f} ms, slowest {times[-1]:.0f} ms;"
        f" {len(failures)} failures {failures[:3]}\n"
        f"slowest by lesson (ms): { {key: round(value) for key, value in slowest.items()} }\n"
    )
