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
) -> Iterator[str]:
    """Start the ``fractile`` command as a user would, and give its address."""
    port = _free_port()
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
            _wait_until_healthy(address, process)
            yield address
        finally:
            process.terminate()


def _wait_until_healthy(address: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5):  # noqa: S310 - own
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the dashboard did not start")
