"""Twenty users at once: ``python -m benchmarks.users [USERS] [SECONDS]``.

Each user has a web socket of its own to a real server, as a browser has, and chooses the other set
as soon as the last answer is complete: a closed loop. The data are 5,000 and 5,000 rows of 100
classes, shared by all users.
"""

import asyncio
import os
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.server import running_dashboard

QUERY = "resamples=0&sample=city_country_100"
CONTROL = "set"
CHOICES = ("Calibration set", "Test set")


@dataclass
class User:
    """What one user has seen.

    Attributes
    ----------
    times : list of float
        Seconds from a choice to the end of its answer.
    failures : list of str
        Exceptions and refusals that were shown, and runs that did not end well.
    most_bytes : int
        Of one answer.
    """

    times: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    most_bytes: int = 0


class Session:
    """One web socket, and the controls that have come over it."""

    def __init__(self, socket: websockets.ClientConnection, user: User) -> None:
        self._socket = socket
        self._user = user
        self._controls: dict[str, str] = {}
        self._page = ""

    async def run(self, choice: str | None = None) -> None:
        """Ask for a run of the page, with another set chosen if there is one, and read it all."""
        state = ClientState(query_string=QUERY, page_script_hash=self._page)
        if choice is not None:
            chosen = state.widget_states.widgets.add(id=self._controls[CONTROL])
            chosen.string_array_value.data.append(choice)
        await self._socket.send(BackMsg(rerun_script=state).SerializeToString())
        size = 0
        while True:
            answer = await self._socket.recv(decode=False)
            size += len(answer)
            message = ForwardMsg.FromString(answer)
            if message.WhichOneof("type") == "script_finished":
                break
            self._note(message)
        if message.script_finished != ForwardMsg.FINISHED_SUCCESSFULLY:
            self._user.failures.append(f"the run ended with {message.script_finished}")
        self._user.most_bytes = max(self._user.most_bytes, size)

    def _note(self, message: ForwardMsg) -> None:
        """Take in a control, the page's name, or a failure."""
        if message.WhichOneof("type") == "new_session":
            self._page = message.new_session.page_script_hash
        element = message.delta.new_element
        match element.WhichOneof("type"):
            case "button_group":
                self._controls[element.button_group.query_param_key] = element.button_group.id
            case "exception":
                self._user.failures.append(element.exception.message)
            case "alert" if element.alert.format == element.alert.ERROR:
                self._user.failures.append(element.alert.body)


async def use(address: str, user: User, opened: asyncio.Barrier, seconds: float) -> None:
    """Open the dashboard, wait for the others, and choose again and again."""
    stream = f"{address.replace('http', 'ws')}/_stcore/stream"
    async with websockets.connect(stream, subprotocols=["streamlit"], max_size=None) as socket:  # type: ignore[list-item]
        session = Session(socket, user)
        await session.run()
        await opened.wait()  # all are there: memory is read
        await opened.wait()
        until, number = time.perf_counter() + seconds, 0
        while time.perf_counter() < until:
            start = time.perf_counter()
            await session.run(CHOICES[number % 2])
            user.times.append(time.perf_counter() - start)
            number += 1
        await opened.wait()
        await opened.wait()


def resident_bytes(process: int) -> int:
    """Read how much memory a process holds."""
    (line,) = [
        line
        for line in Path(f"/proc/{process}/status").read_text("ascii").splitlines()
        if line.startswith("VmRSS:")
    ]
    return 1024 * int(line.split()[1])


def processor_seconds(process: int) -> float:
    """Read how much processor time a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def server_on(port: str) -> int:
    """Find the server that was started with a port."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                command = (folder / "cmdline").read_bytes().decode()
            except OSError:
                continue
            if f"--server.port={port}" in command:
                return int(folder.name)
    raise RuntimeError(f"found no server on port {port}")


async def load(address: str, n_users: int, seconds: float) -> str:
    """Drive all users, and say what they saw."""
    process = server_on(address.rsplit(":", 1)[1])
    first, alone = User(), asyncio.Barrier(1)
    await use(address, first, alone, 3)  # what is fitted and drawn once is shared
    before = resident_bytes(process)
    users, opened = [User() for _ in range(n_users)], asyncio.Barrier(n_users + 1)
    tasks = [asyncio.create_task(use(address, user, opened, seconds)) for user in users]
    await opened.wait()
    await opened.wait()
    start, used = time.perf_counter(), processor_seconds(process)
    await opened.wait()
    used = processor_seconds(process) - used
    elapsed = time.perf_counter() - start
    after = resident_bytes(process)
    await opened.wait()
    await asyncio.gather(*tasks)
    times = sorted(one for user in users for one in user.times)
    failures = [text for user in users for text in user.failures]
    return (
        f"{n_users} users, {elapsed:.0f} s: {len(times) / elapsed:.1f} reruns a second,"
        f" {1000 * used / len(times):.0f} ms of processor time each;"
        f" median {1000 * statistics.median(times):.0f} ms,"
        f" 90 % below {1000 * times[int(0.9 * len(times))]:.0f} ms;"
        f" {len(failures)} failures {failures[:3]};"
        f" {(after - before) / n_users / 1e6:.1f} MB a session;"
        f" at most {max(user.most_bytes for user in users) / 1000:.0f} kB an answer\n"
    )


def main() -> None:
    """Print one line."""
    n_users = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 20.0
    with running_dashboard() as address:
        sys.stdout.write(asyncio.run(load(address, n_users, seconds)))


if __name__ == "__main__":
    main()
