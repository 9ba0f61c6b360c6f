"""A real Chromium on a real server; never skipped, because a skipped browser test is no pass."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page

from tests.browser.server import running_dashboard
from tests.browser.settled import COUNT_ANSWERS

OpenPage = Callable[..., Page]
LONG = pytest.mark.long
"""Marks a further case of a journey that takes a minute: for a release."""

PROBED = ("/_stcore/host-config", "/_stcore/health")


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with running_dashboard() as url:
        yield url


@pytest.fixture
def open_page(browser: Browser, address: str) -> Iterator[OpenPage]:
    """Open the dashboard; afterwards, fail on errors in the console and on outside requests."""
    faults: list[str] = []
    contexts = []

    def opened(query: str = "", *, width: int = 1440, scheme: str = "light") -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", _note_error)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda request: _note_outside(request.url))
        page.add_init_script(COUNT_ANSWERS)
        page.goto(f"{address}/{query}")
        return page

    def _note_error(message: ConsoleMessage) -> None:
        # Opened at a page's own address, Streamlit looks for its server below that address first.
        source = message.location.get("url", "")
        if message.type == "error" and not source.endswith(PROBED):
            faults.append(f"{message.text} ({source})")

    def _note_outside(url: str) -> None:
        if not url.startswith((address, address.replace("http", "ws"), "data:", "blob:")):
            faults.append(f"outside request: {url}")

    yield opened
    for context in contexts:
        context.close()
    assert faults == []
