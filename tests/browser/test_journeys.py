"""What a person does in the browser, evaluated by what they read on the screen."""

import io
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from calibcore import LogitSet, Split, TopR, WithinTopR, audit, ks_error
from calibcore.calibrators import SplineCalibration, TemperatureScaling
from dashboard.texts.numbers import percent
from tests.browser.conftest import OpenPage
from tests.browser.settled import click, settle
from tests.marks import first_and_long

SAMPLES = Path(__file__).parents[2] / "sample_logits"

pytestmark = pytest.mark.browser


def split_of(name: str) -> Split[LogitSet]:
    with np.load(SAMPLES / f"{name}.npz", allow_pickle=False) as data:
        return Split(
            LogitSet(data["logits_calibration"], data["labels_calibration"]),
            LogitSet(data["logits_test"], data["labels_test"]),
        )


def expect_ks(page: Page, before: float, after: float, n_samples: int) -> None:
    was, now = percent(before, n_samples), percent(after, n_samples)
    shown = was if was == now else f"{was[:-1]} \u2192 {now}"
    tile = page.get_by_test_id("stMetric").filter(has_text="KS error")
    expect(tile.get_by_test_id("stMetricValue")).to_have_text(shown)


def choose(page: Page, name: str) -> None:
    click(page.get_by_role("radio", name=name, exact=True).first)


def choose_method(page: Page, name: str) -> None:
    settle(page)
    page.get_by_test_id("stSidebar").get_by_role("combobox", name="Calibrator").click()
    click(page.get_by_role("option", name=name, exact=True))


def choose_k(page: Page, k: int) -> None:
    """Type k, of more classes than stand side by side as buttons."""
    field = page.get_by_role("spinbutton", name="k", exact=True)
    settle(page)
    field.fill(str(k))
    field.press("Enter")
    page.wait_for_url(re.compile(rf"(rank|within)={k}"))


@pytest.mark.parametrize(("width", "height"), first_and_long([(390, 844), (1440, 900)]))
@pytest.mark.parametrize("sample", first_and_long(["crash_survival", "fashion_cnn_overconfident"]))
def test_the_headlines_and_the_picture_are_the_first_screen(
    open_page: OpenPage, sample: str, width: int, height: int
) -> None:
    page = open_page(f"?resamples=0&sample={sample}", width=width)
    page.set_viewport_size({"width": width, "height": height})
    picture = page.locator(".js-plotly-plot").first
    expect(picture).to_be_visible()
    settle(page)
    box = picture.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= height
    headlines = page.locator(".st-key-verdict h3").all_inner_texts()
    assert len(headlines) == 2
    assert all(len(text.split()) <= 20 for text in headlines)


@pytest.mark.long
def test_an_uploaded_file_shows_the_core_s_numbers(open_page: OpenPage) -> None:
    page = open_page()
    choose(page, "Your file")
    page.locator("input[type=file]").set_input_files(SAMPLES / "city_country_100.npz")
    split = split_of("city_country_100")
    test = split.test

    spline = audit(split, event=TopR(1), calibrator=SplineCalibration(constrained=True)).test
    before = ks_error(*_pair(TopR(1), test))
    expect_ks(page, before, spline.after.curves.ks_error, 5_000)
    page.locator("[class*=st-key-import_step] summary").click()
    expect(page.get_by_text("Logits, because")).to_be_visible()

    choose_k(page, 2)
    second = audit(split, event=TopR(2), calibrator=SplineCalibration(constrained=True)).test
    expect_ks(page, ks_error(*_pair(TopR(2), test)), second.after.curves.ks_error, 5_000)

    choose(page, "Top-k set")
    choose_method(page, "Temperature scaling")
    within = audit(split, event=WithinTopR(2), calibrator=TemperatureScaling()).test
    expect_ks(page, ks_error(*_pair(WithinTopR(2), test)), within.after.curves.ks_error, 5_000)
    expect(page.get_by_text(f"T = {_temperature(split):.3g}")).to_be_visible()

    choose(page, "Calibration set")
    fitted_on = audit(split, event=WithinTopR(2), calibrator=TemperatureScaling()).calibration
    before = fitted_on.before.curves.ks_error
    expect_ks(page, before, fitted_on.after.curves.ks_error, 5_000)
    expect(page.get_by_text("the rows the calibrator was fitted on")).to_be_visible()


def _pair(event: TopR | WithinTopR, rows: LogitSet) -> tuple[np.ndarray, np.ndarray]:
    outcomes = event.outcomes(rows.probabilities, rows.labels)
    return outcomes.scores, outcomes.hits


def _temperature(split: Split[LogitSet]) -> float:
    rows = split.calibration
    return TemperatureScaling().fit(rows.logits, rows.labels).temperature


def test_a_broken_file_is_refused_in_one_sentence(open_page: OpenPage) -> None:
    page = open_page("?data=file")
    table = np.zeros((20, 3))
    table[4, 1] = -np.inf
    file = io.BytesIO()
    np.savez(file, logits=table, labels=np.arange(20) % 3)
    page.locator("input[type=file]").set_input_files(
        {"name": "broken.npz", "mimeType": "application/zip", "buffer": file.getvalue()}
    )
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("File not usable")
    expect(alert).to_contain_text("minus infinity (-inf) for the true class in 1 row")
    expect(page.locator(".js-plotly-plot")).to_have_count(0)
    expect(page.get_by_text("Traceback")).to_have_count(0)
    # Nothing is lost: a good file afterwards is read as usual.
    page.locator("input[type=file]").set_input_files(SAMPLES / "three_garments.npz")
    expect(page.get_by_role("button", name="Remove three_garments.npz")).to_be_visible()
    main = page.get_by_test_id("stMain")  # where the refusal is; there is one at the uploader too
    click(main.get_by_role("button", name="Remove broken.npz"))
    expect(page.locator(".js-plotly-plot .plot-container")).to_have_count(2)


@pytest.mark.parametrize("scheme", first_and_long(["light", "dark"]))
def test_a_phone_shows_one_side_at_a_time_and_nothing_wider_than_itself(
    open_page: OpenPage, scheme: str
) -> None:
    page = open_page("ks", width=390, scheme=scheme)
    before, after = page.locator(".st-key-before_graphs"), page.locator(".st-key-after_graphs")
    expect(before.locator(".plot-container").first).to_be_visible()
    expect(after).to_be_hidden()
    choose(page, "After")
    expect(after.locator(".plot-container").first).to_be_visible()
    expect(before).to_be_hidden()
    settle(page)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390
    chart = after.locator(".main-svg").first.bounding_box()
    assert chart is not None
    assert 300 < chart["width"] <= 390


LONG_FIT = "?sample=city_country_100&method=gaussian_process"


def begin(page: Page) -> None:
    """Start the fit where this machine is so slow that it waits for a click."""
    start, bar = page.get_by_role("button", name="Fit it"), page.get_by_role("progressbar")
    expect(start.or_(bar.first).first).to_be_visible()
    if start.is_visible():
        start.click()
    expect(bar.first).to_be_visible()


def test_a_long_fit_shows_how_far_it_is_and_can_be_stopped(open_page: OpenPage) -> None:
    page = open_page(
        f"{LONG_FIT}&gaussian_process_n_inducing=12"
    )  # of no other test, whose fit would be kept
    begin(page)
    expect(page.get_by_text("Gaussian process: fitting on the calibration set")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("No calibrator chosen")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_have_count(0)


_NOTE_SHARES = """
() => {
  window.__shares = [];
  const note = () => {
    const bar = document.querySelector('[role="progressbar"]');
    if (bar) { window.__shares.push(Number(bar.getAttribute('aria-valuenow'))); }
    requestAnimationFrame(note);
  };
  note();
}
"""


@pytest.mark.long
def test_a_fit_goes_on_while_another_page_is_opened(open_page: OpenPage) -> None:
    page = open_page(f"{LONG_FIT}&gaussian_process_n_inducing=13")
    tenth = re.compile("[1-9][0-9]")
    begin(page)
    expect(page.get_by_role("progressbar")).to_have_attribute("aria-valuenow", tenth)
    page.evaluate(_NOTE_SHARES)
    page.get_by_role("link", name="Calibration maps", exact=True).first.click()
    page.wait_for_url(re.compile(r"/maps(\?|$)"))
    settle(page)
    shares: list[float] = page.evaluate("window.__shares")
    # Begun again, it would start at 0; a share just before the turn may show once more.
    assert min(shares) > 5
    assert len(set(shares)) > 5
    expect(page.get_by_text("\u00b7 Gaussian process \u00b7")).to_be_visible()
