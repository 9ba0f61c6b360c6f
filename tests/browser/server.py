"""A running dashboard for the browser tests and the screenshots."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_dashboard(
    variables: Mapping[str, str] | None = None,
    *options: str,
    stderr: IO[str] | None = None,
    health: str = "/_stcore/health",
) -> Iterator[str]:
    """Start the ``fractile`` command as a user would, and give its address."""
    named = [one.partition("=")[2] for one in options if one.startswith("--server.port=")]
    port = int(named[0]) if named else _free_port()
    command = [
        sys.executable,
        "-c",
        "from dashboard.cli.main import main; main()",
        "serve",
        "--",
        f"--server.port={port}",
        "--server.headless=true",
        *options,
    ]
    # Streamlit behaves otherwise under a test runner's variable.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    environment |= variables or {}
    with subprocess.Popen(command, env=environment, stderr=stderr) as process:
        address = f"http://127.0.0.1:{port}"
        try:
            wait_until_healthy(f"{address}{health}", process)
            yield address
        finally:
            process.terminate()


def wait_until_healthy(address: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until an address answers; raise if its server ends or takes a minute."""
    for _ in range(600):
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(address, timeout=5):  # noqa: S310 - own
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"{address} did not start")
