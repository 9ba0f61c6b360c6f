"""From a control's change to the redrawn figure: ``python -m benchmarks.dashboard``.

Each control is moved several times in a real browser on a real server, after its page has been
seen, so that calibrators are fitted. The time ends with the last change of a graph; what the server
sends until then is counted. Beside it stands the processor time of the server and of the page's
thread in the browser, which other work on the machine does not lengthen.
"""

import statistics
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlparse

from playwright.sync_api import Browser, CDPSession, Page, WebSocket, sync_playwright

from benchmarks.users import processor_seconds, server_on
from dashboard.texts.comparison import RANK_BY
from tests.browser.chromium import ARGUMENTS, find_chromium
from tests.browser.server import running_dashboard
from tests.browser.settled import settle

MOVES = 7

Move = Callable[[Page, int], None]

_WATCH = """
() => {
  const main = document.querySelector('[data-testid="stMain"]');
  const note = () => { window.__began = performance.now(); window.__drawn = null; };
  for (const kind of ['pointerdown', 'keydown']) { window.addEventListener(kind, note, true); }
  new MutationObserver(changes => {
    const graph = change => (change.target.closest ?? (() => null)).call(
      change.target, '[data-testid="stPlotlyChart"]');
    if (changes.some(graph)) { window.__drawn = performance.now(); }
  }).observe(main, {subtree: true, childList: true, attributes: true});
}
"""


_DONE = """
document.querySelector('[data-testid="stApp"]').dataset.testScriptState === 'notRunning'
  && window.__drawn !== null && performance.now() - window.__drawn > 400
"""


@dataclass(frozen=True)
class PageCosts:
    """Milliseconds of each move, processor seconds of all, and the most bytes of an answer."""

    times: list[float]
    server: float
    browser: float
    most_bytes: int


def radio(*names: str) -> Move:
    """Choose each of several in turn, wherever on the page they are."""

    def move(page: Page, number: int) -> None:
        name = names[number % len(names)]
        page.get_by_role("radio", name=name, exact=True).first.click()

    return move


def option(label: str, *names: str) -> Move:
    """Choose each of several in turn from a list."""

    def move(page: Page, number: int) -> None:
        box = page.get_by_role("combobox", name=label)
        box.fill(names[number % len(names)])  # of a long list only a part is there
        page.get_by_role("option", name=names[number % len(names)], exact=True).click()

    return move


SETS = radio("Calibration set", "Test set")

LOGITS: dict[str, Move] = {
    "": SETS,
    "ks": SETS,
    "reliability": radio("Smoothed", "Bins"),
    "calibrators": option(RANK_BY, "KS error", "NLL of the event"),
    "maps": SETS,
    "data-needed": radio("KS error", "ECE"),
    "subgroups": radio("Worst after", "Worst before"),
    "models": SETS,
}
"""A control of each page, on 10,000 rows of 10 classes to evaluate."""


def measure(page: Page, move: Move) -> PageCosts:
    """Move a control of a page that is open and at rest."""
    for number in range(2):  # what is fitted or read once is not what is measured
        move(page, number)
        settle(page)
    page.evaluate(_WATCH)
    server = server_on(str(urlparse(page.url).port))
    thread = page.context.new_cdp_session(page)
    thread.send("Performance.enable", {"timeDomain": "threadTicks"})
    times, most = [], 0
    sent = page.__dict__["sent"]
    used, browsed = processor_seconds(server), _thread_seconds(thread)
    for number in range(MOVES):
        sent.clear()
        move(page, number)
        page.wait_for_function(_DONE, polling=100, timeout=60_000)
        times.append(float(page.evaluate("window.__drawn - window.__began")))
        most = max(most, sum(sent))
    used, browsed = processor_seconds(server) - used, _thread_seconds(thread) - browsed
    return PageCosts(times, used, browsed, most)


def _thread_seconds(thread: CDPSession) -> float:
    """Read how much processor time the page's thread has used."""
    metrics = thread.send("Performance.getMetrics")["metrics"]
    return next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")


def open_page(browser: Browser, address: str) -> Page:
    """Open an address, counting what comes over its web socket."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.__dict__["sent"] = sent = []

    def count(socket: WebSocket) -> None:
        socket.on("framereceived", lambda data: sent.append(len(data)))

    page.on("websocket", count)
    page.goto(address)
    return page


@contextmanager
def browsing() -> Iterator[Browser]:
    """Start a browser as the tests do."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(ARGUMENTS))
        yield browser
        browser.close()


def _row(path: str, data: str, found: PageCosts) -> str:
    median, worst = statistics.median(found.times), max(found.times)
    server, browser = (1000 * used / len(found.times) for used in (found.server, found.browser))
    return (
        f"| {path or 'overview'} | {data} | {median:.0f} | {worst:.0f} | {server:.0f} |"
        f" {browser:.0f} | {found.most_bytes / 1000:.0f} |\n"
    )


def main() -> None:
    """Print the table."""

    def write(line: str) -> None:
        sys.stdout.write(line)
        sys.stdout.flush()

    write("| page | data | median ms | worst ms | server ms | browser ms | kB, most |\n")
    write("|---|---|---|---|---|---|---|\n")
    with running_dashboard() as address, browsing() as browser:
        for path, move in LOGITS.items():
            page = open_page(browser, f"{address}/{path}?resamples=0")
            settle(page)
            write(_row(path, "10,000 x 10", measure(page, move)))
            page.close()


if __name__ == "__main__":
    main()
