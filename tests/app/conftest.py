"""What would take most of the time of a page's test is done once, or without a process."""

import gc
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from streamlit import config
from streamlit.components.v2 import manifest_scanner

from tests.parsing import parsed_here  # noqa: F401 - for every test here


@pytest.fixture(scope="session", autouse=True)
def as_served() -> None:
    """Run pages as the server does, which reads these options from its file."""
    file = Path(__file__).parents[2] / "dashboard" / ".streamlit" / "config.toml"
    options = tomllib.loads(file.read_text("utf-8"))
    for section in ("runner", "browser"):
        for name, value in options[section].items():
            config.set_option(f"{section}.{name}", value)


@pytest.fixture(scope="session", autouse=True)
def components_once() -> Iterator[None]:
    """Look for Streamlit's components among all packages once, rather than for every page."""
    with pytest.MonkeyPatch.context() as patch:
        scan = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        yield


@pytest.fixture(scope="module", autouse=True)
def settled() -> None:
    """Spare the rounds of the garbage collector, one a run, what other tests have left."""
    gc.collect()
    gc.freeze()
