"""The pages Overview and KS graphs as a person uses them."""

import re

import pytest
from playwright.sync_api import Page, expect

from calibcore import TopR, cumulative_curves
from dashboard.texts.numbers import percent
from tests.browser.conftest import OpenPage
from tests.browser.settled import settle
from tests.browser.test_journeys import choose, split_of

pytestmark = pytest.mark.browser

GARMENTS = "sample=three_garments&resamples=0"

GRAPHS = '[class*="_graphs"] .js-plotly-plot .plot-container'


def open_view(page: Page) -> None:
    """Open the settings of the graphs."""
    page.get_by_role("button", name="View").click()


@pytest.mark.long
def test_the_cursor_is_moved_by_the_keyboard_and_lives_in_the_address(open_page: OpenPage) -> None:
    page = open_page(f"ks?{GARMENTS}")
    expect(page.locator(GRAPHS)).to_have_count(8)
    open_view(page)
    slider = page.get_by_role("slider", name="Mark rows at")
    slider.focus()
    for place in ("0", "1", "2"):
        slider.press("ArrowRight")
        expect(slider).to_have_attribute("aria-valuetext", place)
        expect(page).to_have_url(re.compile(f"fractile={place}"))
    test = split_of("three_garments").test
    event = TopR(1).outcomes(test.probabilities, test.labels)
    curves = cumulative_curves(event.scores, event.hits)
    score = percent(float(curves.score[curves.place_at(0.02)]), test.n_samples)
    said = page.get_by_text(f"Lowest {percent(0.02, test.n_samples)} of rows: score up to {score}")
    expect(said).to_be_visible()
    # The same address opens the same view.
    again = open_page(page.url.split("/", 3)[-1])
    expect(again.get_by_text(f"score up to {score}")).to_be_visible()


@pytest.mark.long
def test_a_second_event_and_both_sets_are_set_below_each_other(open_page: OpenPage) -> None:
    page = open_page(f"ks?{GARMENTS}")
    open_view(page)
    page.get_by_text("Both sets").click()
    expect(page.locator(GRAPHS)).to_have_count(16)
    page.get_by_role("combobox", name="Compare with").click()
    page.get_by_role("option", name="Prediction 2", exact=True).click()
    expect(page).to_have_url(re.compile("second=top_2"))
    heading = page.get_by_role("heading", name=re.compile("Prediction 2 .* test set"))
    expect(heading).to_be_visible()
    expect(page.locator(GRAPHS)).to_have_count(16)
    choose(page, "(c) and (d)")
    expect(page.get_by_role("figure", name=re.compile(r"\(c\)"))).to_have_count(8)
    expect(page.get_by_role("figure", name=re.compile(r"\(a\)"))).to_have_count(0)


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_one_side_of_each_row(open_page: OpenPage, scheme: str) -> None:
    page = open_page(f"ks?{GARMENTS}&both_sets=true&fractile=40", width=390, scheme=scheme)
    second = page.locator(".st-key-after_graphs_2")
    expect(page.locator(".st-key-before_graphs_2 .plot-container").first).to_be_visible()
    expect(second).to_be_hidden()
    choose(page, "After")
    expect(second.locator(".plot-container").first).to_be_visible()
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.long
def test_what_to_do_next_leads_to_a_page_that_keeps_the_choices(open_page: OpenPage) -> None:
    page = open_page(f"?{GARMENTS}&method=vector")
    expect(page.get_by_role("heading", name="Recommendations")).to_be_visible()
    page.get_by_text("See the calibration map").click()
    page.wait_for_url(re.compile("/maps.*method=vector"))
    expect(page.get_by_text("Three garments that look alike \u00b7")).to_be_visible()


@pytest.mark.long
def test_tiles_get_their_words_from_the_table(open_page: OpenPage) -> None:
    page = open_page("?sample=three_garments&resamples=200")
    row = page.locator("table.measures").first.locator("tr", has_text="KS error")
    expect(row.locator(".mark")).to_have_text("\u25b2 better")
    tile = page.get_by_test_id("stMetric").filter(has_text="KS error")
    expect(tile.get_by_test_id("stMetricDelta")).to_have_text("\u25b2 better")
    settle(page)
    between = row.locator("td").first.locator("small").inner_text()
    expect(page.locator(".st-key-tiles").get_by_text(between).first).to_be_visible()
