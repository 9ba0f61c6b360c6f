"""Subgroups, as a person chooses them in the browser."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.settled import settle

pytestmark = pytest.mark.browser


@pytest.mark.long
def test_each_subgroup_has_its_marks_next_to_its_row(open_page: OpenPage) -> None:
    page = open_page("subgroups?resamples=0")
    rows = page.locator("table.subgroups tbody tr")
    expect(rows).to_have_count(10)
    names = page.get_by_role("figure", name=re.compile("^Subgroups")).locator(".ytick text")
    expect(names).to_have_count(10)
    settle(page)
    middle = "nodes => nodes.map(n => n.getBoundingClientRect()).map(r => r.top + r.height / 2)"
    drawn, written = names.evaluate_all(middle), rows.evaluate_all(middle)
    assert max(abs(a - b) for a, b in zip(drawn, written, strict=True)) < 5
