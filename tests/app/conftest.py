"""What would take most of the time of a page's test is done once, or without a process."""

from collections.abc import Iterator
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner

from tests.parsing import parsed_here  # noqa: F401 - for every test here


@pytest.fixture(scope="session", autouse=True)
def components_once() -> Iterator[None]:
    """Look for Streamlit's components among all packages once, rather than for every page."""
    with pytest.MonkeyPatch.context() as patch:
        scan = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        yield
