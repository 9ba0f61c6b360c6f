"""A click on a bin of the reliability diagram lists its rows, and its file holds all of them."""

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.settled import settle
from tests.marks import first_and_long

pytestmark = pytest.mark.browser

N, BINS = 3_000, 10


def risks() -> tuple[bytes, list[float], list[int]]:
    rng = np.random.default_rng(12)
    scores = rng.beta(2, 3, N).round(6)
    hits = (rng.random(N) < 0.8 * scores).astype(int)
    lines = [f"{s},{'Yes' if hit else 'No'}" for s, hit in zip(scores, hits, strict=True)]
    return "\n".join(["risk,back", *lines]).encode(), scores.tolist(), hits.tolist()


def listed_in_file(page: Page) -> list[dict[str, str]]:
    with page.expect_download() as caught:
        page.get_by_role("button", name="Download patients (CSV)").click()
    text = Path(caught.value.path()).read_text("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("diagram", first_and_long(["bins", "plot"]))
def test_a_click_on_a_bin_lists_all_its_rows(open_page: OpenPage, diagram: str) -> None:
    data, scores, hits = risks()
    address = f"?data=file&resamples=0&bins={BINS}&reliability={diagram}&rows_are=patients"
    page = open_page(f"reliability{address}")
    page.locator("input[type=file]").set_input_files(
        {"name": "risks.csv", "mimeType": "text/csv", "buffer": data}
    )
    settle(page)
    before = page.locator(".st-key-before_diagram .js-plotly-plot")
    layer = ".barlayer .trace" if diagram == "bins" else ".scatterlayer .trace:has(.point)"
    point = before.locator(layer).filter(has=page.locator(".point")).last
    if diagram == "bins":
        point = before.locator(layer).first
    point.locator(".point").nth(3).click(force=True)
    inside = [k for k, score in enumerate(scores) if 0.3 < score <= 0.4]
    missed = sum(1 for k in inside if not hits[k])
    share = f"{100 * missed / len(inside):.1f}%"
    text = f"{len(inside):,} patients with a score of 30\u201340%, {missed} ({share}) without"
    expect(page.get_by_test_id("stMain")).to_contain_text(text)
    settle(page)
    table = page.locator("table.listed tbody tr")
    expect(table).to_have_count(100)
    # Hits and misses alike, in the order of the file, and all of them in what is taken home.
    results = listed_in_file(page)
    assert [int(line["Row"]) - 2 for line in results] == inside
    assert [line["back = Yes"].endswith("yes") for line in results] == [
        hits[k] == 1 for k in inside
    ]
    np.testing.assert_allclose([float(line["Score before"]) for line in results],
                               [scores[k] for k in inside], atol=1e-6)  # fmt: skip


@pytest.mark.long
def test_a_range_replaces_the_bin_without_a_mouse(open_page: OpenPage) -> None:
    data, scores, _ = risks()
    page = open_page("reliability?data=file&resamples=0&rows_are=patients", width=390)
    page.locator("input[type=file]").set_input_files(
        {"name": "risks.csv", "mimeType": "text/csv", "buffer": data}
    )
    settle(page)
    expect(page.locator("table.listed")).to_have_count(0)
    low = page.get_by_role("slider", name=re.compile("Score range")).first
    low.focus()
    for _ in range(10):
        low.press("ArrowRight")
    n_rows = sum(1 for score in scores if score >= 0.1)
    text = f"{n_rows:,} patients with a score of 10\u2013100%"
    expect(page.get_by_test_id("stMain")).to_contain_text(text)
    settle(page)
    assert len(listed_in_file(page)) == n_rows
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
