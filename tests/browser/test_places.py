"""What a reader sees first: the verdict and the first picture of every page are on one screen.

``python -m tests.browser.test_places`` prints where the first picture of each page stands.
"""

import sys
from collections.abc import Callable
from itertools import product

import pytest
from playwright.sync_api import Page, sync_playwright

from dashboard.app import PAGES
from dashboard.samples import samples
from tests.browser.chromium import ARGUMENTS, find_chromium
from tests.browser.server import running_dashboard
from tests.browser.settled import settle

pytestmark = pytest.mark.browser

SCREEN = {1440: 900, 390: 2 * 844}
"""By the width of the window: how far down the first picture may end, on a phone two screens."""

HUNDRED = "city_country_100"

_PLACE = """
() => {
  const main = document.querySelector('[data-testid="stMain"]');
  const graphs = [...main.querySelectorAll('[data-testid="stPlotlyChart"], img.class, svg.class')];
  const shown = graphs.map(graph => graph.getBoundingClientRect()).filter(box => box.height > 0);
  if (!shown.length) { return null; }
  const first = shown.reduce((a, b) => (b.top < a.top ? b : a));
  return [first.top + main.scrollTop, first.bottom + main.scrollTop];
}
"""


def place(page: Page) -> tuple[float, float] | None:
    """Return top and bottom of the first picture, where there is one."""
    settle(page)
    found = page.evaluate(_PLACE)
    return None if found is None else (found[0], found[1])


@pytest.mark.parametrize(
    ("sample", "width"),
    [("fashion_cnn_overconfident", 1440), ("fashion_cnn_overconfident", 390), (HUNDRED, 1440)],
)
def test_the_first_picture_of_every_page_is_on_the_first_screen(
    open_page: Callable[..., Page], sample: str, width: int
) -> None:
    below = {}
    for title, path, _ in PAGES:
        address = "" if path == PAGES[0][1] else path
        found = place(open_page(f"{address}?sample={sample}&resamples=0", width=width))
        if found is not None and found[1] > SCREEN[width]:
            below[title] = found
    assert below == {}


def main() -> None:
    """Print the places on all samples."""
    with running_dashboard() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(ARGUMENTS))
        for sample, width, (title, path, _) in product(samples(), SCREEN, PAGES):
            page = browser.new_page(viewport={"width": width, "height": 900})
            page.goto(
                f"{address}/{'' if path == PAGES[0][1] else path}?sample={sample.name}&resamples=0"
            )
            found = place(page)
            said = "no picture" if found is None else f"{found[0]:.0f}-{found[1]:.0f}"
            sys.stdout.write(f"{sample.name} {width} {title}: {said}\n")
            page.close()


if __name__ == "__main__":
    main()
