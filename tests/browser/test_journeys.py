"""What a person does in the browser, evaluated by what they read on the screen."""

import io
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from calibcore import LogitSet, Split
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


def choose(page: Page, name: str) -> None:
    click(page.get_by_role("radio", name=name, exact=True).first)


def choose_method(page: Page, name: str) -> None:
    settle(page)
    page.get_by_test_id("stSidebar").get_by_role("combobox", name="Calibrator").click()
    click(page.get_by_role("option", name=name, exact=True))


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


@pytest.mark.parametrize(("width", "height"), first_and_long([(390, 844), (1440, 900)]))
def test_what_to_do_next_is_on_the_first_screen(
    open_page: OpenPage, width: int, height: int
) -> None:
    for path in ("reliability", "ks", "maps", "subgroups"):
        page = open_page(f"{path}?resamples=0", width=width)
        page.set_viewport_size({"width": width, "height": height})
        link = page.get_by_role("link", name=re.compile("^Recommended: "))
        expect(link).to_be_visible()
        settle(page)
        picture = page.locator(".js-plotly-plot").first
        for held in (link, picture) if width > 1000 or path == "reliability" else (link,):
            box = held.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= height, path
    click(link)
    page.wait_for_url(re.compile(r":\d+/(\?|$)"))


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
