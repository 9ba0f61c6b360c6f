"""Every page on three samples, wide and narrow, as one person walks."""

import re
from collections.abc import Sequence
from functools import cache
from urllib.parse import urlencode, urlparse

import pytest
from playwright.sync_api import Locator, Page, expect

from calibcore import Split, TopR, audit
from calibcore.calibrators import SplineCalibration
from dashboard.app import PAGES
from dashboard.texts.numbers import percent
from dashboard.widgets.long_work import RUN
from tests.browser.axe import findings, open_all
from tests.browser.conftest import OpenPage
from tests.browser.settled import begin_long_work, click, settle, stand_still, turn_to
from tests.browser.test_journeys import choose, choose_method
from tests.marks import first_and_long
from tests.sample_sets import sample_sets

pytestmark = pytest.mark.browser

SAMPLES = ("fashion_cnn_overconfident", "city_country_100", "crash_survival")
"""Ten, a hundred and two classes."""

EVERY_PAGE = [title for title, _, _ in PAGES]
FIRST_SEEN = ["Overview", "Reliability", "Cumulative (KS)", "Subgroups"]
"""Pages that are walked each time, as each has graphs or tables of its own."""

FIRST_SCREEN = {390: 844, 1440: 900}
"""Height of the first screen, by the width of the window."""

SCREEN = {390: 2 * 844, 1440: 900}
"""By the width of the window: how far down the first picture may end, on a phone two screens."""

_PLACE = """
() => {
  const main = document.querySelector('[data-testid="stMain"]');
  const graphs = [...main.querySelectorAll('[data-testid="stPlotlyChart"], img.class, svg.class')];
  const shown = graphs.map(graph => graph.getBoundingClientRect()).filter(box => box.height > 0);
  if (!shown.length) { return 0; }
  return main.scrollTop + shown.reduce((a, b) => (b.top < a.top ? b : a)).bottom;
}
"""
"""Where the first picture ends; 0 where there is none."""

_GRAPHS_FIT = """
() => [...document.querySelectorAll('[data-testid="stMain"] .main-svg')].every(
  graph => !graph.checkVisibility() || graph.getBoundingClientRect().right <= innerWidth)
"""

_OUTCOME = r"KS error ([\d.]+)% \u2192 ([\d.]+)% on the test set"
_NOTE = r"KS error ([\d.]+)% before, ([\d.]+)% after calibration"
_TEST = r"\s+[\d.]+\s+test [\d.]+\s+[\d.]+%\s+test ([\d.]+)%"

KS = {
    "Overview": (_OUTCOME, r"KS error\s+([\d.]+) \u2192 ([\d.]+)%", r"\t([\d.]+)%\t([\d.]+)%"),
    "Cumulative (KS)": (_NOTE,),
    "Calibrators": (rf"Uncalibrated{_TEST}", rf"Spline{_TEST}"),
    "Data needed": (r"Uncalibrated\t[\d.]+%\t([\d.]+)%", r"Spline\t[\d.]+%\t([\d.]+)%"),
    "Models": (r"\nKS error ([\d.]+) \u2192 ([\d.]+)%",),
}
"""Where each page shows the KS error of the whole test set before and after the spline."""

ONLY_AFTER = frozenset({("Calibrators", 1), ("Data needed", 1)})

ASKS = frozenset({"Calibrators", "Data needed"})
"""Pages that wait for a click before work that takes long on this machine."""

NO_FURTHER = frozenset({"city_country_100", "crash_survival"})
"""Samples that have no other model to be compared with."""

ADVISED = frozenset({"Reliability", "Cumulative (KS)", "Calibration maps", "Subgroups"})
"""Pages that lead to what is recommended, above their first picture."""

_FOOT = """
node => document.querySelector('[data-testid="stMain"]').scrollTop
  + node.getBoundingClientRect().bottom
"""


def address_of(name: str, path: str = "", **query: str) -> str:
    """Write the address of a page on a sample."""
    return f"{path}?{urlencode({'sample': name, 'resamples': '0'} | query)}"


def text_of(page: Page) -> str:
    """Read the page with plain spaces."""
    return re.sub("[\u00a0\u202f\u2009]", " ", page.get_by_test_id("stMain").inner_text())


def find(page: Page, pattern: str) -> re.Match[str] | None:
    """Find it on the page; a browser without time draws the last of it a little later."""
    for _ in range(20):
        result = re.search(pattern, text_of(page), re.DOTALL)
        if result is not None:
            return result
        page.wait_for_timeout(500)
    return None


@cache
def ks_errors(name: str) -> tuple[str, str]:
    """Give the core's KS errors before and after the spline, as they are written."""
    split = Split(*sample_sets(name))
    evaluated = audit(split, event=TopR(1), calibrator=SplineCalibration(constrained=True)).test
    sides = (evaluated.before, evaluated.after)
    written = (percent(side.curves.ks_error, evaluated.n_samples) for side in sides)
    before, after = (text.removesuffix("%") for text in written)
    return before, after


def check_ks(page: Page, title: str, name: str) -> None:
    """Expect the core's KS errors wherever the page shows them."""
    if title not in KS or (title == "Models" and name in NO_FURTHER):
        return
    if title == "Data needed":
        page.get_by_role("radio", name="KS error", exact=True).click()
        page.wait_for_url(re.compile("data_needed_error=ks_error"))
        settle(page)  # while the page is drawn again, the button is away for a moment
    if title in ASKS:
        begin_long_work(page, re.compile(rf"^({RUN}|Start)$"))
    if title == "Data needed":
        graph = page.get_by_role("figure", name=re.compile("KS error")).first
        expect(graph).to_be_visible(timeout=90_000)
        settle(page)
    before, after = ks_errors(name)
    for place, pattern in enumerate(KS[title]):
        result = find(page, pattern)
        assert result is not None, (title, pattern, text_of(page))
        wanted = (after,) if (title, place) in ONLY_AFTER else (before, after)
        assert result.groups() == wanted[: len(result.groups())], (title, pattern)


def advice(page: Page) -> Locator:
    return page.get_by_role("link", name=re.compile("^Recommended: "))


def check_one_side(page: Page) -> None:
    """Expect graphs of one side, as wide as a phone, and those of the other after a click."""
    before, after = (page.locator(f".st-key-{side}_graphs") for side in ("before", "after"))
    for name, shown, hidden in (("After", after, before), ("Before", before, after)):
        choose(page, name)
        expect(shown.locator(".plot-container").first).to_be_visible()
        expect(hidden).to_be_hidden()
        settle(page)
        chart = shown.locator(".main-svg").first.bounding_box()
        assert chart is not None
        assert 300 < chart["width"] <= min(SCREEN)


def check_sound(page: Page, title: str, name: str) -> None:
    """Expect no error, something to read, and nothing wider than the window."""
    main = page.get_by_test_id("stMain")
    assert main.get_by_test_id("stException").count() == 0, title
    assert main.get_by_test_id("stAlertContentError").count() == 0, title
    assert page.get_by_role("dialog").count() == 0, title
    assert len(main.inner_text().strip()) > 40, title
    for width, fold in SCREEN.items():
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        widest = main.evaluate("node => Math.max(node.scrollWidth, document.body.scrollWidth)")
        assert widest <= width, (title, width)
        page.wait_for_function(_GRAPHS_FIT)  # they follow the window a little later
        assert page.evaluate(_PLACE) <= fold, (title, width)
        if title == "Cumulative (KS)" and width == min(SCREEN):
            check_one_side(page)
        if title == "Subgroups" and width == min(SCREEN):
            table = page.locator(".st-key-subgroups_table").first
            assert table.evaluate("node => node.scrollWidth <= node.clientWidth")
        if title == "Reliability" and (width > 390 or name == SAMPLES[0]):
            assert page.locator(".js-plotly-plot").first.evaluate(_FOOT) <= FIRST_SCREEN[width]
        if title in ADVISED:
            assert advice(page).evaluate(_FOOT) <= FIRST_SCREEN[width], (title, width)


@pytest.mark.parametrize(
    ("name", "titles"),
    first_and_long([(SAMPLES[0], FIRST_SEEN), *((name, EVERY_PAGE) for name in SAMPLES)]),
    ids=["first seen", *SAMPLES],
)
def test_every_page_is_sound_and_shows_the_same_ks_error(
    open_page: OpenPage, name: str, titles: Sequence[str]
) -> None:
    page = open_page(address_of(name, PAGES[0][1], event="top"))
    settle(page)
    check_sound(page, PAGES[0][0], name)
    for title in titles:
        turn_to(page, title)
        check_ks(page, title, name)
        check_sound(page, title, name)
        open_all(page)
        assert (title, findings(page)) == (title, [])
        if title == "Subgroups":
            click(advice(page))
            page.wait_for_url(re.compile(r":\d+/(\?|$)"))
            settle(page)


def choose_expert(page: Page) -> None:
    """Choose the experts' wording, which is among the settings."""
    panel = page.get_by_test_id("stSidebar")
    panel.get_by_text("Settings", exact=True).click()
    settle(page)
    expert = panel.get_by_role("radio", name="Expert", exact=True)
    stand_still(expert)
    click(expert)
    expect(expert).to_be_checked()
    page.wait_for_url(re.compile("wording=expert"), timeout=90_000)  # a fit may have to end first


@pytest.mark.long
def test_back_and_forward_bring_the_page_and_its_settings_back(open_page: OpenPage) -> None:
    page = open_page(address_of("three_garments", "ks"))
    settle(page)
    choose_method(page, "Temperature scaling")
    page.wait_for_url(re.compile("method=temperature"))
    settle(page)
    graphs, address = text_of(page), page.url
    turn_to(page, "Calibration maps")
    choose_method(page, "Vector scaling")
    page.wait_for_url(re.compile("method=vector"))
    settle(page)
    maps = page.url
    page.go_back()  # each choice is a step of its own
    expect(page.get_by_text("\u00b7 Temperature scaling \u00b7")).to_be_visible()
    page.go_back()
    page.wait_for_url(address)
    expect(page.get_by_text("\u00b7 Temperature scaling \u00b7")).to_be_visible()
    settle(page)
    assert (text_of(page), page.url) == (graphs, address)
    page.go_forward()
    page.wait_for_url(re.compile("maps"))
    settle(page)
    page.go_forward()
    expect(page.get_by_text("\u00b7 Vector scaling \u00b7")).to_be_visible()
    assert page.url == maps


_TOPS = """
() => {
  window.__tops = [];
  const note = () => {
    const graph = document.querySelector('[data-testid="stPlotlyChart"]');
    window.__tops.push(graph ? Math.round(graph.getBoundingClientRect().top) : null);
    requestAnimationFrame(note);
  };
  note();
}
"""


@pytest.mark.long
@pytest.mark.parametrize("path", ["", "subgroups", "models"])
def test_a_change_of_words_makes_no_page_jump(open_page: OpenPage, path: str) -> None:
    name = "fashion_cnn_focal" if path == "models" else "three_garments"
    page = open_page(address_of(name, path))
    settle(page)
    page.evaluate(_TOPS)
    choose_expert(page)
    settle(page)
    tops: list[int | None] = page.evaluate("window.__tops")
    seen = [top for top in tops if top is not None]
    assert len(seen) == len(tops)
    at_rest = sorted((seen[0], seen[-1]))
    # A sentence may take another line, and gaps close where files were read; nothing more moves.
    assert all(at_rest[0] - 40 <= top <= at_rest[1] + 40 for top in seen), sorted(set(seen))


@pytest.mark.long
def test_a_pasted_address_shows_what_it_was_copied_from(open_page: OpenPage) -> None:
    query = {"method": "temperature", "event": "within", "fractile": "40", "graphs": "cd"}
    first = open_page(address_of("three_garments", "ks", **query))
    settle(first)
    # A control is moved by hand, so that the address is the page's and not the one above.
    choose_expert(first)
    settle(first)
    copied = urlparse(first.url)
    again = open_page(f"{copied.path.lstrip('/')}?{copied.query}")
    settle(again)
    assert text_of(again) == text_of(first)
    assert again.url == first.url
