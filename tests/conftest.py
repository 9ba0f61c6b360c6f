"""What every test can use: a seeded generator, hypothesis profiles, a folder for figures."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("fast", deadline=None, max_examples=100, derandomize=True, database=None)
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


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20210503)


@pytest.fixture
def figures_folder(request: pytest.FixtureRequest) -> Path | None:
    folder: Path | None = request.config.getoption("--save-figures")
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    return folder
