"""What every test can use: a seeded generator, hypothesis profiles, a folder for figures."""

import gc
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # workers share cores, and threads wait busily

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("tests.reviewed")  # its failures show what differs

settings.register_profile("fast", deadline=None, max_examples=25, derandomize=True, database=None)
settings.register_profile(
    "thorough",
    deadline=None,
    max_examples=2_000,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--save-figures",
        metavar="DIR",
        type=Path,
        default=None,
        help="write every figure the tests draw into DIR",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the browser's journeys: they are long, and the last would leave a core idle."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is None)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20210503)


@pytest.fixture
def figures_folder(request: pytest.FixtureRequest) -> Path | None:
    folder: Path | None = request.config.getoption("--save-figures")
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start one real Chromium for all tests of a process, as a second loop is refused."""
    from playwright.sync_api import expect, sync_playwright  # noqa: PLC0415 - for those that use it

    from tests.browser.chromium import ARGUMENTS, find_chromium  # noqa: PLC0415 - the same

    expect.set_options(timeout=60_000)
    path = find_chromium()
    if path is None:
        pytest.fail("No Chromium was found; run: python -m tests.browser.chromium")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield running
        running.close()


def pytest_collection_finish() -> None:
    """Spare the garbage collector the tests themselves."""
    gc.collect()
    gc.freeze()
