"""Several models in the browser."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.settled import settle

pytestmark = pytest.mark.browser

SAMPLES = Path(__file__).parents[2] / "sample_logits"


@pytest.mark.long
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_the_three_fashion_networks_are_compared(
    open_page: OpenPage, width: int, scheme: str
) -> None:
    page = open_page("models?resamples=0", width=width, scheme=scheme)
    expect(page.locator("table.models tbody tr")).to_have_count(3)
    best = "Fashion CNN, label smoothing 0.05 [(]"
    heading = re.compile(f"Lowest KS error before calibration: {best}")
    expect(page.get_by_role("heading", name=heading)).to_be_visible()
    expect(page.get_by_role("figure")).to_have_count(4)
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.locator(".js-plotly-plot").first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 900


@pytest.mark.long
def test_files_are_brought_and_a_wrong_one_is_named(open_page: OpenPage) -> None:
    page = open_page("models?data=file&resamples=0")
    page.locator("input[type=file]").set_input_files(SAMPLES / "fashion_cnn_focal.npz")
    expect(page.get_by_text("Upload the file of at least one further model")).to_be_visible()
    page.locator("input[type=file]").nth(1).set_input_files(
        [SAMPLES / "fashion_cnn_overconfident.npz", SAMPLES / "three_garments.npz"]
    )
    expect(page.locator("table.models tbody tr")).to_have_count(2)
    wrong = "three_garments.npz cannot be compared with the first model. rows: 3,000. Expected"
    expect(page.get_by_text(wrong)).to_be_visible()
