"""How long a user waits after an upload: ``python -m benchmarks.waits [large|together]``.

Each file is opened on Overview by a real browser on a real server, once the bytes are there; a file
with a hundred classes then has every calibrator compared. docs/speed.md gets the seconds to the
verdict, to the first picture, and until the page is at rest with every interval of its list. With
``large``: two files of ten million numbers, and the most memory that the server took meanwhile.
With ``together``: what it takes while ten tabs show a million scores each, and one ten million.
"""

import re
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
from playwright.sync_api import Browser, Page
from pyarrow.csv import write_csv
from pyarrow.parquet import write_table

from benchmarks.dashboard import browsing, open_page
from benchmarks.data import draw_events, draw_table
from benchmarks.readme import SPEED, replace
from benchmarks.timing import highest
from benchmarks.users import server_on
from benchmarks.visitors import resident
from dashboard.texts.comparison import EVERY
from tests.browser.server import running_dashboard
from tests.browser.settled import settle

LONG_MS = 600_000

_UPLOADED = re.compile("/_stcore/upload_file/")


def scores(path: Path, n_rows: int, *, seed: int = 0) -> None:
    """Write scores of one event."""
    events = draw_events(n_rows, seed=seed)
    table = {"confidence": events.scores, "correct": events.hits.astype(bool)}
    write_table(pa.table(table), path)


def logits(path: Path, n_rows: int, n_classes: int) -> None:
    """Write logits and labels."""
    table = draw_table(n_rows, n_classes)
    np.savez(path, logits=table.logits.astype(np.float32), labels=table.labels)


def probabilities(path: Path, n_rows: int, n_classes: int) -> None:
    """Write class probabilities of four digits and labels as text."""
    table = draw_table(n_rows, n_classes)
    shares = np.exp(table.logits - table.logits.max(axis=1, keepdims=True))
    shares = np.round(shares / shares.sum(axis=1, keepdims=True), 4)
    columns = {f"prob_{one}": shares[:, one] for one in range(n_classes)}
    write_csv(pa.table({"label": table.labels, **columns}), path)


FILES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "10,000 scores": ("scores.parquet", lambda path: scores(path, 10_000)),
    "1,000,000 scores": ("million.parquet", lambda path: scores(path, 1_000_000)),
    "10,000 x 100": ("hundred.npz", lambda path: logits(path, 10_000, 100)),
    "25,000 x 1,000": ("thousand.npz", lambda path: logits(path, 25_000, 1_000)),
}

COUNT, KEEP = "Count them by score", "Keep every row"

LARGE: dict[str, tuple[str, Callable[[Path], None], str]] = {
    f"10,000,000 scores: {COUNT}": ("many.parquet", lambda path: scores(path, 10_000_000), COUNT),
    f"10,000,000 scores: {KEEP}": ("many.parquet", lambda path: scores(path, 10_000_000), KEEP),
    "1,000,000 x 10, as text": ("wide.csv", lambda path: probabilities(path, 1_000_000, 10), ""),
}
"""Files with what is answered to the question about their rows."""


def server_of(address: str) -> psutil.Process:
    """Return the process that answers at an address of this machine."""
    return psutil.Process(server_on(address.rpartition(":")[2]))


def waits(browser: Browser, address: str, path: Path, answer: str = "") -> tuple[Page, list[float]]:
    """Open a file on Overview, and answer a question at once if there is one.

    Seconds to the verdict, the first picture, and rest.
    """
    page = open_page(browser, address)  # with a picture, as who uploads has seen one
    settle(page)
    page.get_by_role("radio", name="Your file", exact=True).click()
    page.locator("input[type=file]").wait_for(state="attached")
    settle(page)
    with page.expect_request_finished(
        lambda request: bool(_UPLOADED.search(request.url)), timeout=LONG_MS
    ):
        page.locator("input[type=file]").set_input_files(path)
    began, seconds = time.perf_counter(), []
    if answer:
        page.get_by_role("button", name=answer).click(timeout=LONG_MS)
    for shown in (".st-key-verdict h3", ".js-plotly-plot .main-svg"):
        page.locator(shown).first.wait_for(timeout=LONG_MS)
        seconds.append(time.perf_counter() - began)
    settle(page, timeout_ms=LONG_MS)
    return page, [*seconds, time.perf_counter() - began]


def every_calibrator(page: Page) -> float:
    """Compare every calibrator on the file that is open: seconds until the page is at rest."""
    page.get_by_role("link", name="Calibrators", exact=True).first.click()
    settle(page, timeout_ms=LONG_MS)
    page.locator(".st-key-methods_popover button").first.click()
    page.get_by_role("button", name=EVERY, exact=True).click()
    start = page.get_by_test_id("stMain").get_by_role("button", name="Start", exact=True)
    start.wait_for()
    settle(page, timeout_ms=LONG_MS)
    began = time.perf_counter()
    page.keyboard.press("Escape")  # the list is in the way
    start.click()
    start.wait_for(state="detached", timeout=LONG_MS)
    settle(page, timeout_ms=LONG_MS)
    return time.perf_counter() - began


def small(folder: Path) -> None:
    """Time every file that is opened often, and write the table."""
    lines = [
        "| File | Verdict | First picture | At rest |",
        "| --- | ---: | ---: | ---: |",
    ]
    with running_dashboard() as address, browsing() as browser:
        for title, (name, make) in FILES.items():
            make(folder / name)
            page, seconds = waits(browser, address, folder / name)
            lines.append(f"| {title} | {' | '.join(f'{one:.1f} s' for one in seconds)} |")
            print(lines[-1], file=sys.stderr, flush=True)
            if title == "10,000 x 100":
                compared = every_calibrator(page)
                print(f"every calibrator: {compared:.0f} s", file=sys.stderr, flush=True)
            page.close()
    text = "\n".join(
        [*lines, "", f"Every calibrator compared, 10,000 x 100: {compared:.0f} s.", ""]
    )
    replace("waits", text, SPEED)


def large(folder: Path) -> None:
    """Time the large files, each on a server of its own, and write the table."""
    lines = [
        "| File | Verdict | First picture | At rest | Its bytes | Server before | Server at most |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for title, (name, make, answer) in LARGE.items():
        path = folder / name
        make(path)
        with running_dashboard() as address, browsing() as browser:
            open_page(browser, address).close()
            server = server_of(address)
            before = resident(server)
            with highest(partial(resident, server), 0.1) as most:
                seconds = waits(browser, address, path, answer)[1]
        memory = [path.stat().st_size, before, most[0]]
        cells = [
            *(f"{one:.1f} s" for one in seconds),
            *(f"{one / 1e6:,.0f} MB" for one in memory),
        ]
        lines.append(f"| {title} | {' | '.join(cells)} |")
        print(lines[-1], file=sys.stderr, flush=True)
    replace("waits-large", "\n".join([*lines, ""]), SPEED)


N_TABS = 10


def together(folder: Path) -> None:
    """Open ten files of a million scores and one of ten million: what the server takes."""
    path, n_bytes = folder / "scores.parquet", 0
    with running_dashboard({"FRACTILE_MEMORY": "1GB"}) as address, browsing() as browser:
        open_page(browser, address).close()
        server = server_of(address)
        before = resident(server)
        with highest(partial(resident, server), 0.1) as most:
            for seed in range(N_TABS):
                scores(path, 1_000_000, seed=seed)
                waits(browser, address, path)
                n_bytes += path.stat().st_size
                print(seed, f"{resident(server) / 1e6:,.0f} MB", file=sys.stderr, flush=True)
            scores(path, 10_000_000)
            waits(browser, address, path, COUNT)
            n_bytes += path.stat().st_size
        after = resident(server)
    text = (
        f"Ten tabs with a million scores each and one with ten million, whose files have"
        f" {n_bytes / 1e6:,.0f} MB: the server took {before / 1e6:,.0f} MB before,"
        f" {most[0] / 1e6:,.0f} MB at most and {after / 1e6:,.0f} MB when all were at rest."
    )
    replace("waits-together", f"{text}\n", SPEED)


def main() -> None:
    """Time the small files or the large ones, or open several together."""
    with tempfile.TemporaryDirectory() as folder:
        {"large": large, "together": together}.get("".join(sys.argv[1:]), small)(Path(folder))


if __name__ == "__main__":
    main()
