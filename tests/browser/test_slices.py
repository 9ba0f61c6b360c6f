"""Subgroups, as a person chooses them in the browser."""

import csv
import re

import pytest
from playwright.sync_api import expect

from dashboard.texts.listed import DOWNLOAD
from tests.browser.conftest import OpenPage
from tests.browser.settled import settle
from tests.marks import first_and_long

pytestmark = pytest.mark.browser

CRASH = "sample=crash_survival&event=top&resamples=0"


@pytest.mark.long
def test_a_subgroup_is_chosen_followed_to_another_page_and_reset(open_page: OpenPage) -> None:
    page = open_page(f"slices?{CRASH}&slices_by=age_band")
    expect(page.locator("table.slices tbody tr")).to_have_count(4)
    expect(page.get_by_role("figure", name=re.compile("^Subgroups"))).to_be_visible()
    page.get_by_role("combobox", name="Filter all pages to").click()
    page.get_by_role("option", name="60+", exact=True).click()
    line = page.get_by_text("Filtered to age_band = 60+: 1,364 of 10,217 rows.")
    expect(line).to_be_visible()
    page.wait_for_url(lambda url: "only=age_band" in url and "only_which=60%2B" in url)
    page.get_by_role("link", name="Reliability", exact=True).click()
    expect(page.get_by_text("test set, age_band = 60+, 1,364 of 10,217 rows")).to_be_visible()
    expect(line).to_be_visible()
    page.get_by_role("button", name="Show all rows").click()
    expect(page.get_by_text("test set, 10,217 rows")).to_be_visible()
    expect(line).to_be_hidden()
    page.wait_for_url(lambda url: "only=" not in url)


@pytest.mark.long
def test_a_pasted_address_lists_the_rows_of_a_range(open_page: OpenPage) -> None:
    page = open_page(f"slices?{CRASH}&only=sex&only_which=male&scores_listed=70&scores_listed=90")
    expect(page.get_by_text("Filtered to sex = male: 5,420 of 10,217 rows.")).to_be_visible()
    expect(page.get_by_text(re.compile(r"rows .*70.*90%"))).to_be_visible()
    rows = page.locator("table.listed tbody tr")
    expect(rows).to_have_count(100)
    settle(page)
    with page.expect_download() as started:
        page.get_by_role("button", name=DOWNLOAD).click()
    table = list(csv.reader(started.value.path().read_text("utf-8").splitlines()))
    # The file holds all rows of the range, not only those of the page.
    (n_listed,) = re.findall(r"of ([\d,]+) rows, ", page.get_by_test_id("stMain").inner_text())
    assert len(table) == int(n_listed.replace(",", "")) + 1 > 101
    assert table[1][0] == rows.first.locator("td").first.inner_text()
    assert all(0.7 <= float(row[3]) <= 0.9 for row in table[1:])
    assert {row[-1] for row in table[1:]} == {"male"}


@pytest.mark.parametrize("query", first_and_long(["slices?resamples=0", f"slices?{CRASH}"]))
def test_on_a_phone_the_table_of_subgroups_is_whole(open_page: OpenPage, query: str) -> None:
    page = open_page(query, width=390)
    expect(page.locator("table.slices tbody tr").first).to_be_visible()
    settle(page)
    box = page.locator(".st-key-slices_table").first
    width, inside = box.evaluate("node => [node.clientWidth, node.scrollWidth]")
    assert inside <= width


@pytest.mark.long
def test_each_subgroup_has_its_marks_next_to_its_row(open_page: OpenPage) -> None:
    page = open_page("slices?resamples=0")
    rows = page.locator("table.slices tbody tr")
    expect(rows).to_have_count(10)
    names = page.get_by_role("figure", name=re.compile("^Subgroups")).locator(".ytick text")
    expect(names).to_have_count(10)
    settle(page)
    middle = "nodes => nodes.map(n => n.getBoundingClientRect()).map(r => r.top + r.height / 2)"
    drawn, written = names.evaluate_all(middle), rows.evaluate_all(middle)
    assert max(abs(a - b) for a, b in zip(drawn, written, strict=True)) < 5
