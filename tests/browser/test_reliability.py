"""The page of reliability on a phone."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.settled import settle

pytestmark = pytest.mark.browser

CITIES = "reliability?sample=city_country_100&resamples=0"


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
