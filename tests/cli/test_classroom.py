"""A class is measured on a real server, by the command."""

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.browser.server import running_dashboard

COMMAND = [sys.executable, "-c", "from dashboard.cli.main import main; main()", "class"]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running_dashboard() as url:
        yield url


def measured(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *options], capture_output=True, text=True, check=False)


@pytest.mark.long
@pytest.mark.parametrize("where", [[], ["--laboratory"]], ids=str)
def test_students_move_their_controls_and_are_answered(address: str, where: list[str]) -> None:
    options = ["--students", "3", "--seconds", "1", "--pause", "0.3"]
    done = measured(address, *options, *where)
    assert done.returncode == 0, done.stderr
    assert re.match(r"3 students, \d+ s: [1-9]\d* moves", done.stdout)
    assert "; 0 failures []" in done.stdout
    assert ("laboratory" in done.stdout) == bool(where)


def test_without_a_server_there_is_no_class_to_measure() -> None:
    done = measured("http://127.0.0.1:9", "--students", "1")
    assert done.returncode == 2
    assert done.stderr.startswith("Error: ")
    assert "Traceback" not in done.stderr
