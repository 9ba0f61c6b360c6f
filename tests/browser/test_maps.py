"""Calibration maps and data efficiency in the browser."""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import numpy as np
import pytest
from playwright.sync_api import expect

from calibcore import LogitSet, metrics
from calibcore.calibrators import FittedTemperature
from dashboard.views.data_needed.words import STOPPED
from dashboard.widgets.long_work import RUN
from tests.browser.conftest import OpenPage

SAMPLES = Path(__file__).parents[2] / "sample_logits"

pytestmark = pytest.mark.browser


@pytest.mark.long
def test_the_temperature_is_moved_by_hand(open_page: OpenPage) -> None:
    address = "maps?sample=three_garments&method=temperature"
    page = open_page(f"{address}&hand_t=1.06")
    expect(page.get_by_role("heading", name=re.compile("lowers nearly all scores"))).to_be_visible()
    expect(page.locator(".js-plotly-plot .plot-container")).to_have_count(9, timeout=60_000)
    table = page.locator("table.measures")
    expect(table).to_contain_text("Manual, T = 1.06")
    # Each key moves the temperature by a fortieth of a power of ten.
    page.get_by_role("slider", name="Temperature T").focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    moved = 10 ** (3 / 40)
    expect(table).to_contain_text(f"Manual, T = {moved:.3g}")
    with np.load(SAMPLES / "three_garments.npz", allow_pickle=False) as data:
        test = LogitSet(data["logits_test"], data["labels_test"])
    probabilities = FittedTemperature(float(f"{moved:.3g}")).predict_proba(test.logits)
    expect(table).to_contain_text(f"{metrics.nll(probabilities, test.labels):.3f}")
    query = parse_qs(urlparse(page.url).query)
    assert query["hand_t"] == [f"{moved:.3g}"]


@pytest.mark.long
def test_learning_curves_start_on_a_click_and_can_be_stopped(open_page: OpenPage) -> None:
    page = open_page(
        "efficiency?method=none&draws=30&learners=temperature,matrix",
        scheme="dark",
    )
    start = page.get_by_role("button", name=RUN)
    expect(start).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(0)
    start.click()
    doing = re.compile(r"Matrix scaling, \d+ rows, subsample \d+ of 30")
    expect(page.get_by_text(doing)).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    # What is finished is kept and shown; the rest is offered again.
    expect(start).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    expect(page.get_by_text(STOPPED)).to_be_visible()
    expect(page.get_by_role("heading", name=re.compile("calibration rows"))).to_be_visible()
    expect(page.locator(".js-plotly-plot .plot-container")).to_have_count(3)
    expect(page.get_by_role("row", name=re.compile("^Temperature scaling"))).to_be_visible()
