"""Roles, event and rows left out: chosen with a click, said on every page, kept in the address."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from dashboard.texts import opening as role_words
from tests.browser.conftest import OpenPage
from tests.browser.settled import settle
from tests.browser.test_hospital import export

pytestmark = pytest.mark.browser


def bring(page: Page, data: bytes) -> None:
    page.locator("input[type=file]").set_input_files(
        {"name": "export.csv", "mimeType": "text/csv", "buffer": data}
    )


def give_role(place: Page | Locator, column: str, role: str) -> None:
    select = place.get_by_role("combobox", name=column, exact=True)
    page = select.page
    select.scroll_into_view_if_needed()
    settle(page)  # a list that opens while its select is still scrolling closes again
    select.click()
    page.get_by_role("option", name=role, exact=True).click()


def expect_verdict(page: Page) -> None:
    expect(page.locator(".js-plotly-plot .plot-container")).to_have_count(2)
    settle(page)


def figures(page: Page, verdict: str) -> list[str]:
    """Give the verdict, once it is the one that is waited for, and the tiles below it."""
    expect(page.locator(".st-key-verdict")).to_contain_text(verdict)
    page.wait_for_timeout(500)
    settle(page)
    sentence = page.locator(".st-key-verdict").inner_text()
    tiles = page.locator(".st-key-tiles [data-testid=stMetricValue]").all_inner_texts()
    return [sentence[sentence.index("readmitted_30d = ") :], *tiles]


def questions_on(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


@pytest.mark.long
def test_nothing_says_to_scroll_where_all_columns_fit(open_page: OpenPage) -> None:
    page = open_page("?data=file&resamples=0")
    bring(page, b"risk,back\n" + b"\n".join([b"0.2,no", b"0.7,yes", b"0.4,no"] * 99))
    expect_verdict(page)
    page.locator("[class*=st-key-import_step] summary").click()
    expect(page.locator(".st-key-role_table")).to_be_visible()
    expect(page.get_by_text(role_words.sideways(2))).to_be_hidden()


@pytest.mark.long
def test_a_click_and_its_address_show_the_same_figures(open_page: OpenPage) -> None:
    """The other event, then the other class of it, each opened again at the address it left."""
    data, _ = export()
    page = open_page("?data=file&resamples=0&leave_out=1")
    bring(page, data)
    expect_verdict(page)
    page.locator("[class*=st-key-import_step] summary").click()
    page.get_by_role("radio", name="No (").click()
    shown = figures(page, "readmitted_30d = No, mean score")
    seen = [(page.url, shown)]
    give_role(page.get_by_test_id("stSidebar"), "Class", "Yes")
    shown = figures(page, "readmitted_30d = Yes, mean score")
    seen.append((page.url, shown))
    assert questions_on(page)["positive"] == ["No"]
    assert seen[0][1] != seen[1][1]
    for address, shown in seen:
        other = open_page(f"?{urlsplit(address).query}")
        bring(other, data)
        assert figures(other, shown[0].split(",")[0]) == shown
