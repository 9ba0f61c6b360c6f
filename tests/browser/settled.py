"""When a page has come to rest: the script has run, every graph is drawn, nothing changes."""

import re

from playwright.sync_api import Locator, Page
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from dashboard.app import PAGES

MISSED_MS = 20_000
"""A run begins within it even on a busy machine."""

QUIET_MS = 350
"""For so long nothing may change; a rerun starts well within it."""

_AT_REST = """
quiet => {
  const app = document.querySelector('[data-testid="stApp"]');
  const main = document.querySelector('[data-testid="stMain"]');
  if (!app || !main || app.dataset.testScriptState !== 'notRunning') { return false; }
  const graphs = [...main.querySelectorAll('[data-testid="stPlotlyChart"]')];
  const drawn = graphs.every(graph => graph.querySelector('.main-svg'));
  const waiting = '[data-testid="stSkeleton"], [data-testid="stSpinner"], [role="progressbar"]';
  if (!drawn || !main.textContent.trim() || main.querySelector(waiting)) { return false; }
  const seen = main.textContent + main.querySelectorAll('*').length + location.href;
  const now = performance.now();
  if (window.__seen !== seen) { window.__seen = seen; window.__since = now; }
  return now - Math.max(window.__since, window.__heard || 0) >= quiet;
}
"""


COUNT_ANSWERS = """
window.__answers = 0;
window.WebSocket = class extends WebSocket {
  constructor(...asked) {
    super(...asked);
    this.addEventListener('message', () => {
      window.__answers += 1;
      window.__heard = performance.now();
    });
  }
};
"""
"""Counts what a page has been sent by its server; for `click`.

The page's own word for a run is not enough: of a short one, begin and end are drawn as one, and it
is never seen to run.
"""


def click(target: Locator) -> None:
    """Click on what makes the script run, once the page is at rest, and wait for the run to begin.

    Without it, on a busy machine, the next click may come before the run of this one has begun, and
    go to a control that it takes away. A click that began no run missed its target, which moved, so
    it is made again.
    """
    page = target.page
    settle(page)
    answers = page.evaluate("window.__answers")
    begun = "answers => window.__answers > answers"
    target.click()
    try:
        page.wait_for_function(begun, arg=answers, timeout=MISSED_MS)
    except PlaywrightTimeoutError:
        target.click()
        page.wait_for_function(begun, arg=answers)


def settle(page: Page, *, quiet_ms: int = QUIET_MS, timeout_ms: int = 120_000) -> None:
    """Wait until nothing on the page moves any more."""
    page.wait_for_function(_AT_REST, arg=quiet_ms, polling=100, timeout=timeout_ms)


def begin_long_work(page: Page, name: str | re.Pattern[str]) -> None:
    """Start work that waits for a click where this machine is slow, or busy."""
    ask = page.get_by_role("button", name=name)
    if ask.count():
        click(ask)
        settle(page)


def stand_still(locator: Locator, *, quiet_ms: int = QUIET_MS) -> None:
    """Wait until an element has stopped moving: what opens slides, and a click may miss."""
    was, now = None, locator.bounding_box()
    while was != now:
        locator.page.wait_for_timeout(quiet_ms)
        was, now = now, locator.bounding_box()


def turn_to(page: Page, title: str) -> None:
    """Go to another page by the bar above, which has to be in sight."""
    page.get_by_role("link", name=title, exact=True).first.click()
    path = next(path for name, path, _ in PAGES if name == title)
    first = path == PAGES[0][1]  # it is shown at the address itself
    page.wait_for_url(re.compile(r":\d+/(\?|$)" if first else rf"/{path}(\?|$)"))
    settle(page)
