"""Load, and a place that fails: ``python -m benchmarks.soak [--users N] [--minutes M] ...``.

Users bring files that nobody else has, again and again, to a real server on this machine; some
close the tab midway, and processes that the server has started are killed. First as the server is
started by anyone, then with all folders read-only, no home and a temporary folder that is full
(which needs Linux's root). A killed process may cost its user one sentence; all else is a failure.
"""

import argparse
import asyncio
import io
import math
import os
import random
import shlex
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil
import websockets
from streamlit.proto.ClientState_pb2 import ClientState

from benchmarks import readme
from benchmarks.users import server_on
from benchmarks.visitors import Visitor, resident
from tests.browser.server import running_dashboard, wait_until_healthy
from tests.service.recipe import free_port

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
AFTER = 90
"""Seconds after the last has left; a file is gone within a minute."""

HEAD = (
    "| Server | Users, minutes | Files | Left midway | Killed | Median, s | 90% | 99% | Sentences |"
    " Failures | MB at the start | A quarter | Half | Three quarters | At the end | 90 s later |"
    " Most |\n"
    f"| --- | --- |{' ---: |' * 15}\n"
)


@dataclass
class Run:
    """What happened.

    Attributes
    ----------
    times : list of float
        Seconds from an upload's start to its first picture.
    n_bytes : int
        Of these files.
    sentences, failures : list of str
        What alerts said in place of a picture; and whatever else came, or did not.
    memory : list of (float, int)
        Seconds since the start, and bytes of the server with its processes.
    """

    times: list[float] = field(default_factory=list)
    n_bytes: int = 0
    left: int = 0
    killed: int = 0
    sentences: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    memory: list[tuple[float, int]] = field(default_factory=list)


class Files:
    """Logits of 1,000 classes in files of several sizes, each of another first number."""

    def __init__(self, smallest: float, largest: float) -> None:
        self._random, self._number = random.Random(0), 0  # noqa: S311 - no secret
        rng = np.random.default_rng(0)
        self._tables = []
        for megabytes in np.geomspace(smallest, largest, 6):
            logits = rng.normal(0, 2, (int(megabytes * 250), 1000)).astype(np.float32)
            labels = (logits + rng.gumbel(0, 1, logits.shape)).argmax(axis=1)
            self._tables.append((logits, labels))

    def next(self) -> bytes:
        """Return a file that was never returned."""
        logits, labels = self._random.choice(self._tables)
        self._number += 1
        logits[0, 0] = 1 + self._number / 1024
        file = io.BytesIO()
        np.savez(file, logits=logits, labels=labels)
        return file.getvalue()


async def use(address: str, run: Run, files: Files, until: float, chance: random.Random) -> None:
    """Bring file after file, each in a tab of its own, a quarter of which are closed midway."""
    stream = f"{address.replace('http', 'ws')}/_stcore/stream"
    while time.monotonic() < until:
        data, leaves = await asyncio.to_thread(files.next), chance.random() < 0.25
        try:
            async with websockets.connect(stream, subprotocols=["streamlit"], max_size=None) as tab:  # type: ignore[list-item]
                visitor = Visitor(address, tab)
                await visitor.run(ClientState())
                start = time.monotonic()
                seconds = chance.uniform(0.05, 2) if leaves else 600
                async with asyncio.timeout(seconds):
                    drawn = await visitor.bring(f"{id(data)}.npz", data)
        except (OSError, TimeoutError, websockets.WebSocketException) as error:
            if leaves and isinstance(error, TimeoutError):
                run.left += 1
            else:
                run.failures.append(repr(error))
            continue
        run.failures += visitor.exceptions
        if drawn:
            run.times.append(time.monotonic() - start)
            run.n_bytes += len(data)
        elif not visitor.exceptions:
            (run.sentences if visitor.shows else run.failures).append(" ".join(visitor.shows))


async def disturb(run: Run, server: psutil.Process, every: float, chance: random.Random) -> None:
    """Kill one of the server's processes now and then, and read the memory each second."""
    start = last = time.monotonic()
    while True:
        now = time.monotonic()
        run.memory.append((now - start, resident(server)))
        children = server.children(recursive=True)
        if every and now - last >= every and children:
            chance.choice(children).kill()
            run.killed, last = run.killed + 1, now
        await asyncio.sleep(1)


async def soak(address: str, options: argparse.Namespace) -> Run:
    """Drive all users, wait until their files are gone, and return what happened."""
    run, chance = Run(), random.Random(1)  # noqa: S311 - no secret
    server = psutil.Process(server_on(address.rsplit(":", 1)[1]))
    files = Files(options.smallest, options.largest)
    until = time.monotonic() + 60 * options.minutes
    watch = asyncio.create_task(disturb(run, server, options.kill_every, chance))
    users = (use(address, run, files, until, chance) for _ in range(options.users))
    await asyncio.gather(*users)
    watch.cancel()
    await asyncio.sleep(AFTER)
    run.memory.append((run.memory[-1][0] + AFTER, resident(server)))
    return run


@contextmanager
def hard_place() -> Iterator[str]:
    """Start the server in a read-only root without a home, whose temporary folder is full."""
    port, root = free_port(), shlex.quote(str(ROOT))
    below = ROOT.is_relative_to("/tmp")  # noqa: S108 - the full folder would cover this checkout
    keep, show = f"mount --bind {root} /mnt", f"mkdir -p {root} && mount --bind /mnt {root}"
    mounts = (
        f"mount --make-rprivate / && {keep if below else 'true'}"
        f" && mount -t tmpfs -o size=1m tmpfs /tmp && {show if below else 'true'}"
        " && { cat /dev/zero > /tmp/full 2>/dev/null || true; }"
        ' && mount -o remount,bind,ro / && cd / && exec "$@"'
    )
    serve = "from dashboard.cli.main import main; main()"
    started = [sys.executable, "-P", "-c", serve, "serve", "--", f"--server.port={port}"]
    command = ["unshare", "-m", "sh", "-c", mounts, "sh", *started, "--server.headless=true"]
    variables = {"PATH": os.environ["PATH"]}
    with subprocess.Popen(command, env=variables) as process:  # noqa: S603 - own
        try:
            wait_until_healthy(f"http://127.0.0.1:{port}/_stcore/health", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def at_quarters(run: Run) -> list[float]:
    """Return the megabytes at the start, after each quarter, at the end and 90 seconds later."""
    times, sizes = np.array(run.memory).T
    quarters = times[-2] * np.arange(5) / 4
    places = np.abs(times[:-1] - quarters[:, np.newaxis]).argmin(axis=1)
    return [*(sizes[places] / 1e6), sizes[-1] / 1e6]


def row(name: str, run: Run, options: argparse.Namespace) -> str:
    """Write a line of the table."""
    times = sorted(run.times) or [math.nan]
    most = max(size for _, size in run.memory) / 1e6
    ninety, last = (times[min(int(share * len(times)), len(times) - 1)] for share in (0.9, 0.99))
    cells = [
        f"{len(run.times)}, {run.n_bytes / 1e6:,.0f} MB", run.left, run.killed,
        f"{statistics.median(times):.1f}", f"{ninety:.1f}", f"{last:.1f}", len(run.sentences),
        len(run.failures), *(f"{one:,.0f}" for one in (*at_quarters(run), most)),
    ]  # fmt: skip
    who = f"{options.users}, {options.minutes:g}"
    return f"| {name} | {who} | {' | '.join(map(str, cells))} |\n"


def main() -> int:
    """Print the table, and what was shown; 1 where something failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--users", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--smallest", type=float, default=1, help="MB of a file")
    parser.add_argument("--largest", type=float, default=50, help="MB of a file")
    parser.add_argument("--kill-every", type=float, default=15, help="seconds; 0 for never")
    parser.add_argument("--write", action="store_true", help=f"into {RESULTS.name}")
    options = parser.parse_args()
    places: dict[str, Callable[[], AbstractContextManager[str]]] = {"as it is": running_dashboard}
    if sys.platform.startswith("linux") and os.geteuid() == 0:
        places["read-only, no home, `/tmp` full"] = hard_place
    rows, failures, before = "", 0, os.getloadavg()[0]
    for name, place in places.items():
        with place() as address:
            run = asyncio.run(soak(address, options))
        each = run.memory[:: max(1, len(run.memory) // 12)]
        print(name, [(round(when), round(size / 1e6)) for when, size in each], flush=True)
        print(Counter(run.sentences), Counter(run.failures), flush=True)
        rows += row(name, run, options)
        failures += len(run.failures)
    busy = f"Before it the machine had a load of {before:.0f} on its {os.cpu_count()} processors."
    sizes = f"Files of {options.smallest:g} to {options.largest:g} MB. {busy}"
    print(HEAD + rows + sizes)
    if options.write:
        readme.replace("soak", f"{HEAD}{rows}\n{sizes}\n", RESULTS)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
