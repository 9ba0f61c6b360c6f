"""Files are parsed without a process of their own, which would take most of the time."""

import pytest
from click.testing import CliRunner, Result

from dashboard.cli.main import main
from tests.hospital import Discharges, discharges
from tests.parsing import parsed_here  # noqa: F401 - for every test here


def run(*words: object) -> Result:
    """Call the command."""
    return CliRunner().invoke(main, [*map(str, words)], catch_exceptions=False)


@pytest.fixture(scope="session")
def hospital() -> Discharges:
    return discharges()
