"""Pictures of all pages, to be looked at: ``python -m tests.browser.screenshots [FOLDER [KIND]]``.

``KIND``: ``pages``, ``states`` or ``learn`` alone. Without one all are drawn, and the README's
picture, ``docs/fractile.png``.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, sync_playwright

from dashboard.app import LEARN, PAGES
from dashboard.learn.lessons import LESSONS
from dashboard.samples import samples
from tests.browser.chromium import ARGUMENTS, find_chromium
from tests.browser.server import running_dashboard
from tests.browser.settled import settle, turn_to

ROOT = Path(__file__).parents[2]

Scheme = Literal["light", "dark"]

WIDTHS = (1440, 1024, 390)
"""A laptop, a projector, a phone."""

SAMPLES = {
    "ten": "fashion_cnn_overconfident",
    "hundred": "city_country_100",
    "two": "crash_survival",
}
"""Names of pictures by numbers of classes, and the samples that have so many."""

STATES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "ks_within_2": ("ks", {"method": "temperature", "event": "within", "fractile": "40"}),
    "ks_both_sets": ("ks", {"both_sets": "true", "second": "top_2"}),
    "one_class": ("", {"sample": "crash_survival", "event": "class"}),
    "calibration_set": ("", {"set": "calibration"}),
    "all_measures": ("", {"measures": "all", "method": "temperature", "wording": "expert"}),
    "as_it_is": ("reliability", {"method": "none"}),
    "isotonic": ("reliability", {"reliability": "isotonic", "classes_as": "table"}),
    "calibrators_intervals": ("calibrators", {"calibrators_intervals": "true", "resamples": "200"}),
    "three_classes": ("maps", {"sample": "three_garments", "method": "matrix"}),
    "knots": ("maps", {"by_hand": "knots", "hand_knots": "9"}),
    "upload": ("", {"data": "file"}),
}
"""Addresses beside the pages themselves."""


def draw(page: Page, path: Path, *, width: int) -> None:
    """Take one picture of the whole page."""
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_timeout(400)  # the panel on the left slides away where there is little room
    settle(page)
    # Streamlit scrolls inside the page, so the window must be as high as its content.
    main = page.get_by_test_id("stMain")
    height = min(int(main.evaluate("node => node.scrollHeight")) + 20, 8_000)
    page.set_viewport_size({"width": width, "height": height})
    settle(page)
    path.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=path)


def open_at(
    browser: Browser, address: str, query: Mapping[str, str], *, scheme: Scheme = "light"
) -> Page:
    """Open an address in a window of its own."""
    size = {"width": 1440, "height": 900}
    page = browser.new_context(viewport=size, color_scheme=scheme).new_page()  # type: ignore[arg-type]
    page.goto(f"{address}?{urlencode(query)}")
    settle(page)
    return page


def _draw_pages(browser: Browser, address: str, folder: Path, *, scheme: Scheme) -> None:
    titles = {one.name: one.title for one in samples()}
    for short, name in SAMPLES.items():
        page = open_at(browser, f"{address}/", {"sample": titles[name]}, scheme=scheme)
        for title, path, _ in PAGES:
            page.set_viewport_size({"width": 1440, "height": 900})
            turn_to(page, title)
            for width in WIDTHS:
                draw(page, folder / f"{short}_{path}_{width}_{scheme}.png", width=width)
        page.context.close()


def _draw_states(browser: Browser, address: str, folder: Path, *, scheme: Scheme) -> None:
    for name, (path, query) in STATES.items():
        page = open_at(browser, f"{address}/{path}", query, scheme=scheme)
        for width in WIDTHS:
            draw(page, folder / f"{name}_{width}_{scheme}.png", width=width)
        page.context.close()


def _draw_learn(browser: Browser, address: str, folder: Path, *, scheme: Scheme) -> None:
    """Draw the pages that teach, and every lesson before and after the guess."""
    shown: dict[str, tuple[str, dict[str, str]]] = {path: (path, {}) for _, path, _ in LEARN}
    for lesson in LESSONS:
        query = {"lesson": lesson.key}
        shown[f"lesson_{lesson.key}_before"] = ("learn", query)
        shown[f"lesson_{lesson.key}_after"] = ("learn", query | {"answers": "shown"})
    for name, (path, query) in shown.items():
        page = open_at(browser, f"{address}/{path}", query, scheme=scheme)
        for width in WIDTHS:
            draw(page, folder / f"{name}_{width}_{scheme}.png", width=width)
        page.context.close()


KINDS = {"pages": _draw_pages, "states": _draw_states, "learn": _draw_learn}


def main() -> None:
    """Draw every page on three samples, every state and every lesson, light and dark, by width."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "screenshots"
    kinds = sys.argv[2:3] or list(KINDS)
    with running_dashboard() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(ARGUMENTS))
        if kinds == list(KINDS):
            first = open_at(browser, f"{address}/", {})
            draw(first, ROOT / "docs" / "fractile.png", width=1440)
            first.context.close()
        for scheme in get_args(Scheme):
            for kind in kinds:
                KINDS[kind](browser, address, folder, scheme=scheme)


if __name__ == "__main__":
    main()
