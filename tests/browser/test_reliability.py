"""The page of reliability in the browser: ways to draw, the number of bins, a class opened."""

import re
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.settled import settle

pytestmark = pytest.mark.browser

CITIES = "reliability?sample=city_country_100&resamples=0"
GARMENTS = "reliability?sample=three_garments&resamples=0"


def address(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlparse(page.url).query)


@pytest.mark.long
def test_the_reliability_diagram_is_drawn_in_four_ways(open_page: OpenPage) -> None:
    page = open_page(GARMENTS)
    diagram = page.locator(".st-key-before_diagram")
    titles = {
        "Plot": "Reliability plot",
        "Isotonic (CORP)": "isotonic",
        "Smoothed": "smoothed",
        "Bins": r"diagram\.",
    }
    for way, title in titles.items():
        page.get_by_role("radio", name=way, exact=True).click()
        expect(diagram.get_by_role("figure", name=re.compile(title))).to_be_visible()
        expect(diagram.locator(".plot-container")).to_have_count(1)


@pytest.mark.long
def test_the_setting_is_the_number_of_bins(open_page: OpenPage) -> None:
    page = open_page(f"{GARMENTS}&bins=14")
    bars = page.locator(".st-key-before_diagram .barlayer .trace").first.locator(".point")
    settle(page)
    few = bars.count()
    page.get_by_test_id("stSidebar").get_by_text("Settings", exact=True).click()
    setting = page.get_by_test_id("stSidebar").get_by_role("spinbutton", name="Bins")
    setting.fill("100")
    setting.press("Enter")
    page.wait_for_url(re.compile("bins=100"))
    expect(bars.nth(few + 5)).to_be_visible()
    setting.fill("14")
    setting.press("Enter")
    expect(bars).to_have_count(few)
    assert "bins" in address(page)
    expect(page.get_by_text("14 bins").first).to_be_visible()


@pytest.mark.long
def test_a_class_is_opened_from_its_picture_and_the_address_keeps_it(open_page: OpenPage) -> None:
    page = open_page(f"{CITIES}&method=temperature&classes_page=2")
    settle(page)  # until then the pictures of another page may stand there
    opener = page.locator("[class*=st-key-open_] button").nth(3)
    name = opener.inner_text()
    opener.click()
    said = re.compile(f"\u00b7 Class {re.escape(name)}: [0-9,]+ of [0-9,]+ ")
    expect(page.get_by_text(said)).to_be_visible()
    expect(page.get_by_text(f"Every graph now shows class {name}")).to_be_visible()
    page.wait_for_url(re.compile("class="))
    kept = address(page)
    assert (kept["event"], kept["class"], kept["classes_page"]) == (["class"], [name], ["2"])
    again = open_page(f"reliability?{urlparse(page.url).query}")
    expect(again.get_by_text(said)).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_class_pictures_fit_a_phone(open_page: OpenPage, scheme: str) -> None:
    page = open_page(CITIES, width=390, scheme=scheme)
    pictures = page.locator("[class*=st-key-class_] .main-svg")
    expect(pictures.first).to_be_visible()
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    first, second = (page.locator("[class*=st-key-class_]").nth(k).bounding_box() for k in (0, 1))
    assert first is not None
    assert second is not None
    assert first["y"] == second["y"]  # two stand side by side
    assert second["x"] + second["width"] <= 390
