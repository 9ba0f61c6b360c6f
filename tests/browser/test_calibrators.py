"""The comparison of calibrators, as a person meets it in the browser."""

import csv
import re

import pytest
from playwright.sync_api import expect

from dashboard.settings import USUAL, method_by_key
from dashboard.texts import comparison as words
from tests.browser.conftest import OpenPage
from tests.browser.settled import begin_long_work, settle

pytestmark = pytest.mark.browser

COMPARED = [key for key in USUAL if not method_by_key(key).knows_groups]
"""Of a sample whose rows have no further columns."""


@pytest.mark.long
def test_calibrators_are_compared_and_the_table_is_downloaded(open_page: OpenPage) -> None:
    few = "methods=temperature,per_rank"
    page = open_page(f"calibrators?sample=three_garments&resamples=0&{few}")
    rows = page.locator(".st-key-calibrators_table tbody tr")
    expect(rows).to_have_count(3)
    expect(page.get_by_role("figure", name=re.compile("^Calibrators"))).to_be_visible()
    page.get_by_role("button", name=words.calibrators_label(2)).click()
    page.get_by_role("button", name=words.USUAL).click()
    page.keyboard.press("Escape")
    expect(rows).to_have_count(1 + len(COMPARED))
    heading = page.get_by_role("heading", name=re.compile(r"^Use .+ in cross-validation\.$"))
    expect(heading).to_be_visible()
    settle(page)
    with page.expect_download() as started:
        page.get_by_role("button", name="Download the table").click()
    table = list(csv.reader(started.value.path().read_text("utf-8").splitlines()))
    assert len(table) == 2 + len(COMPARED)
    assert table[0][-6:] == ["data", "event", "set", "n", "date", "version"]
    assert table[1][-5] == "Top prediction"
    shown = rows.first.locator("td").first.locator("b").first.inner_text()
    assert f"{float(table[1][1]):.3f}" == shown


@pytest.mark.long
def test_on_a_phone_every_chosen_method_is_seen(open_page: OpenPage) -> None:
    page = open_page("calibrators?resamples=0", width=390)
    settle(page)  # what appears above moves the button away
    page.get_by_role("button", name=words.calibrators_label(len(COMPARED))).click()
    chosen = page.get_by_role("dialog").get_by_test_id("stMultiSelectTagsContainer")
    expect(chosen.get_by_text("Isotonic regression")).to_be_visible()
    settle(page)  # the panel on the left slides away
    height, inside = chosen.evaluate("node => [node.clientHeight, node.scrollHeight]")
    assert inside <= height


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "table", "seen"),
    [
        (
            "calibrators",
            "calibrators_table",
            ["Calibrator", "NLL of the event", "Accuracy", "Predictions changed"],
        ),
        ("models", "models_table", ["Model", "KS error", "NLL of the event", "Accuracy"]),
    ],
)
def test_on_a_phone_what_must_be_seen_needs_no_scrolling(
    open_page: OpenPage, path: str, table: str, seen: list[str]
) -> None:
    page = open_page(f"{path}?resamples=0", width=390)
    box = page.locator(f".st-key-{table}")
    heads = box.locator("thead th")
    settle(page)
    begin_long_work(page, "Start")
    expect(heads.filter(visible=True)).to_have_text(seen)
    settle(page)
    inside, room = box.evaluate("node => [node.scrollWidth, node.clientWidth]")
    assert inside <= room
    assert heads.count() > len(seen)
    page.get_by_text("Show every column").click()
    expect(heads.filter(visible=True)).to_have_count(heads.count())
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(page.get_by_text("Show every column")).to_be_hidden()
