"""Files are parsed without a process of their own, which would take most of the time."""

import pytest

from tests.hospital import Discharges, discharges
from tests.parsing import parsed_here  # noqa: F401 - for every test here


@pytest.fixture(scope="session")
def hospital() -> Discharges:
    return discharges()
