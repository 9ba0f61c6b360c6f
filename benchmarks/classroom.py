"""A class at its lessons: ``python -m benchmarks.classroom [STUDENTS] [SECONDS] [PAUSE]``.

With ``laboratory`` as last word all are there instead, each with a seed of its own, and move the
slope. What ``fractile class`` measures of a running server, here of one of its own with its
processor time; then how long a browser alone takes to draw.
"""

import asyncio
import re
import sys
from collections.abc import Callable
from functools import partial
from urllib.parse import urlencode

from playwright.sync_api import Page

from benchmarks.dashboard import browsing
from benchmarks.users import processor_seconds, server_on
from dashboard.cli.classroom import lessons_that_slide, teach
from dashboard.learn.laboratory import LaboratoryModel
from dashboard.learn.lessons import LESSONS
from dashboard.texts.laboratory import DRAW, DRAW_MANY, NUMBERS
from tests.browser.server import running_dashboard
from tests.browser.settled import settle

WATCH = """() => {
  const picture = '[data-testid="stPlotlyChart"]';
  const begun = () => { window.__begun = performance.now(); };
  const note = seen => {
    if (seen.some(one => one.target.closest(picture))) { window.__drawn = performance.now(); }
  };
  window.__begun = window.__drawn = performance.now();
  for (const one of ['keydown', 'mouseup']) { window.addEventListener(one, begun, true); }
  new MutationObserver(note).observe(document.querySelector('[data-testid="stMain"]'),
    {subtree: true, childList: true, attributes: true});
}"""


def ms_to_picture(page: Page, act: Callable[[], None]) -> float:
    """Do something on a page at rest; return when its pictures last changed."""
    page.evaluate(WATCH)
    act()
    page.wait_for_function("window.__drawn > window.__begun")
    settle(page)
    return float(page.evaluate("window.__drawn - window.__begun"))


def alone(address: str) -> str:
    """Move each lesson's control in a browser, and say when its pictures last changed."""
    found = {}
    with browsing() as browser:
        for lesson in LESSONS:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(f"{address}/learn?lesson={lesson.key}&answers=shown")
            settle(page)
            slider = page.get_by_role("slider")
            if slider.count():
                slider.first.focus()
                at_least = slider.first.evaluate("at => at.value === at.min")
                keys = ("ArrowRight", "ArrowLeft") if at_least else ("ArrowLeft", "ArrowRight")
                times = [ms_to_picture(page, partial(slider.first.press, key)) for key in 4 * keys]
                found[lesson.key] = sorted(map(round, times))
            page.close()
    return f"alone, in a browser, from a move to its pictures (ms): {found}\n"


def alone_in_laboratory(address: str) -> str:
    """Do the same with the slope, with a draw and with 200 draws, of a model each."""
    found = {}
    with browsing() as browser:
        for name in ("slope", DRAW, DRAW_MANY):
            times = []
            for seed in range(8):
                page = browser.new_page(viewport={"width": 1440, "height": 900})
                page.goto(
                    f"{address}/laboratory?{urlencode({'model': LaboratoryModel(seed=seed).code})}"
                )
                settle(page)
                slope = page.get_by_role("slider", name=re.compile(f"^{NUMBERS['slope'][0]}"))
                act = page.get_by_text(name, exact=True).click
                times.append(
                    ms_to_picture(
                        page, partial(slope.press, "ArrowRight") if name == "slope" else act
                    )
                )
                page.close()
            found[name] = sorted(map(round, times))
    return f"alone, in a browser, from a move to its pictures (ms): {found}\n"


def main() -> None:
    """Print three lines."""
    in_laboratory = sys.argv[-1] == "laboratory"
    given = [float(text) for text in sys.argv[1 : len(sys.argv) - in_laboratory]]
    lessons = [None] if in_laboratory else lessons_that_slide()
    n_students, seconds, pause = (*given, *(40.0, 30.0, 3.0)[len(given) :])
    with running_dashboard() as address:
        process = server_on(address.rsplit(":", 1)[1])
        used = partial(processor_seconds, process)
        told = asyncio.run(teach(address, lessons, int(n_students), seconds, pause, used))
        sys.stdout.write(told + (alone_in_laboratory if in_laboratory else alone)(address))


if __name__ == "__main__":
    main()
