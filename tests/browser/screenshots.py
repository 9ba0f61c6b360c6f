"""Pictures of the page, to be looked at: ``python -m tests.browser.screenshots [FOLDER]``.

Also draws the README's picture, ``docs/fractile.png``.
"""

import sys
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, sync_playwright

from tests.browser.chromium import ARGUMENTS, find_chromium
from tests.browser.server import running_dashboard

ROOT = Path(__file__).parents[2]
PAGES = {
    "overview": "",
    "ks": "ks",
    "reliability": "reliability",
    "compare": "compare?contest=true",
    "temperature_within_2": "ks?method=Temperature+scaling&event=Within",
    "hundred_classes": "reliability?sample=Country+from+a+city%27s+name%2C+100+classes",
    "two_classes": "?sample=Who+survives+a+crash%2C+naive+Bayes&event=Class",
    "calibration_set": "?set=Calibration+set",
    "isotonic": "reliability?sample=Three+garments+that+look+alike&reliability=Isotonic+(CORP)",
    "all_measures": "?measures=All&method=Temperature+scaling",
    "upload": "?data=Your+file",
}


def draw(
    browser: Browser, url: str, path: Path, *, width: int, scheme: Literal["light", "dark"]
) -> None:
    """Take one picture of the whole page."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto(url)
    main = page.get_by_test_id("stMain")
    main.get_by_role("heading").first.wait_for()
    page.wait_for_timeout(5_000)  # ten graphs mount one after the other
    main.get_by_role("progressbar").wait_for(state="detached", timeout=60_000)
    # Streamlit scrolls inside the page, so the window must be as high as its content.
    height = min(int(main.evaluate("node => node.scrollHeight")) + 20, 8_000)
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_timeout(1_500)
    path.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=path)
    context.close()


def main() -> None:
    """Draw every page in light and dark, wide and narrow."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "screenshots"
    with running_dashboard() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(ARGUMENTS))
        draw(browser, f"{address}/", ROOT / "docs" / "fractile.png", width=1440, scheme="light")
        for name, query in PAGES.items():
            for width in (1440, 390):
                for scheme in ("light", "dark"):
                    path = folder / f"{name}_{width}_{scheme}.png"
                    draw(browser, f"{address}/{query}", path, width=width, scheme=scheme)


if __name__ == "__main__":
    main()
