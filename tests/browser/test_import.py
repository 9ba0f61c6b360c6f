"""Bringing a file: what was read, how to read it otherwise, and text that stays text."""

import csv
import re
from collections.abc import Sequence
from http.client import HTTPConnection

import numpy as np
import pytest
from playwright.sync_api import Dialog, Locator, Page, Request, expect

from dashboard.app import PAGES
from dashboard.texts.listed import DOWNLOAD
from tests.browser.conftest import OpenPage
from tests.browser.settled import settle
from tests.marks import first_and_long

pytestmark = pytest.mark.browser

STEP = "[class*=st-key-import_step] summary"
"""The line that says how the file was read, and opens the details."""

NAMES = (
    "<img src=x onerror=window.ran=1>",
    "[a](http://evil.example)",
    "$x^2$ {a}",
    ":red[x] **b**",
    "=1+1",
)
COLUMN = "<b>town</b> [l](http://evil.example) $y$"
FILE = "[l](http:evil.example) $x$ :red[x] <img src=x onerror=window.ran=1>.csv"
MADE = "img[src='x'], a[href*=evil], [src*=evil], .katex, .MathJax"
"""What would be on the page if text of the file were taken for markup."""

WATCH = """made => {
    window.made = [];
    const look = () => window.made.push(
        ...[...document.querySelectorAll(made)].map(element => element.outerHTML),
        ...[...document.querySelectorAll("b, i, strong")]
            .filter(element => ["town", "b"].includes(element.textContent.trim()))
            .map(element => element.outerHTML));
    new MutationObserver(look).observe(document, {childList: true, subtree: true});
}"""


def table(*, n_rows: int = 200) -> bytes:
    """Write classes, labels and categories under such names."""
    rng = np.random.default_rng(3)
    logits = 3 * rng.normal(size=(n_rows, len(NAMES)))
    labels = (logits / 2 + rng.gumbel(size=logits.shape)).argmax(axis=1)
    rows = [
        [*(f"{value:.3f}" for value in row), NAMES[label], NAMES[(label + k) % len(NAMES)]]
        for k, (row, label) in enumerate(zip(logits, labels, strict=True))
    ]
    lines = [[*NAMES, "label", COLUMN], *rows]
    quoted = (",".join(f'"{cell}"' for cell in line) for line in lines)
    return "\n".join(quoted).encode()


def bring(page: Page, name: str, data: bytes) -> None:
    page.locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": data}
    )


def text_of(place: Locator) -> str:
    """Give the text without the invisible joiners that keep addresses from becoming links."""
    return (place.text_content() or "").replace("\u2060", "")


def expect_text(place: Locator, text: str) -> None:
    joined = re.escape(text).replace("http:", "http:\u2060?")
    expect(place).to_contain_text(re.compile(joined))


def hovered(page: Page, plot: Locator, point: Locator) -> str:
    """Give what is said of a point under the pointer."""
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    assert box is not None
    page.mouse.move(0, 0)
    expect(plot.locator(".hoverlayer .hovertext")).to_have_count(0)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=3)
    label = plot.locator(".hoverlayer .hovertext").first
    expect(label).to_be_attached()
    return text_of(label)


@pytest.mark.parametrize(
    "pages", first_and_long([[*PAGES[:2]], [*PAGES[2:]]]), ids=["first", "others"]
)
def test_text_of_a_file_is_text_on_every_page(
    open_page: OpenPage, pages: Sequence[tuple[str, str, object]]
) -> None:
    page = open_page(f"?data=file&event=class&resamples=0&subgroups_by={COLUMN}")
    heard: list[str] = []

    def note_dialog(dialog: Dialog) -> None:
        heard.append(dialog.message)
        dialog.dismiss()

    def note_request(asked: Request) -> None:
        if asked.url.endswith("/x"):
            heard.append(asked.url)

    page.on("dialog", note_dialog)
    page.on("request", note_request)
    expect(page.locator("input[type=file]")).to_be_attached()
    page.evaluate(WATCH, MADE)
    bring(page, FILE, table())
    main = page.get_by_test_id("stMain")
    expect_text(main.locator(STEP), FILE)
    preview = page.locator("[class*=st-key-role_table]")
    for name in (*NAMES, COLUMN):
        expect(preview).to_contain_text(name)
    for title, path, _ in pages:
        link = page.get_by_role("link", name=title, exact=True).first
        link.click()
        expect(link).to_have_attribute("aria-current", "page")
        page.wait_for_url(re.compile(rf"/{'' if path == PAGES[0][1] else path}\?"))
        expect(
            page.locator("[data-testid=stApp][data-test-script-state=notRunning]")
        ).to_be_visible()
        expect(main).to_contain_text(NAMES[0])
        expect(page.get_by_text("File not usable")).to_have_count(0)
    assert page.evaluate("window.made") == []
    assert page.evaluate("window.ran") is None
    assert heard == []


@pytest.mark.long
def test_text_of_a_file_is_text_in_plots_in_the_hover_and_in_exports(open_page: OpenPage) -> None:
    page = open_page("subgroups?data=file&resamples=0")
    bring(page, FILE, table())
    slices = page.locator(".js-plotly-plot").first
    for name in NAMES:
        # Lines of the plot are broken, and signs of TeX are left out.
        for part in name.replace("$", "").split():
            expect(slices).to_contain_text(part)
    settle(page)
    points = slices.locator(".scatterlayer .point")
    seen = [hovered(page, slices, points.nth(k)) for k in range(points.count())]
    for name in NAMES:
        assert any(name.replace("$", "") in text for text in seen), (name, seen)
    expect(page.locator(MADE)).to_have_count(0)
    with page.expect_download() as started:
        page.get_by_role("button", name=DOWNLOAD).click()
    written = started.value.path().read_text("utf-8")
    cells = {cell for line in csv.reader(written.splitlines()) for cell in line}
    assert {"'=1+1", *NAMES[:-1]} <= cells
    assert not [cell for cell in cells if cell.startswith("=")]
    assert page.evaluate("window.ran") is None


def simple(*, twice: bool = False) -> bytes:
    rng = np.random.default_rng(4)
    values = 3 * rng.normal(size=(300, 3))
    labels = (values / 2 + rng.gumbel(size=values.shape)).argmax(axis=1)
    head = "a,b,c,label" + (",target" if twice else "")
    rows = (
        ",".join([*(f"{v:.4f}" for v in row), *[str(label)] * (2 if twice else 1)])
        for row, label in zip(values, labels, strict=True)
    )
    return "\n".join([head, *rows]).encode()


@pytest.mark.long
@pytest.mark.parametrize("width", [390, 1440])
def test_after_an_upload_the_verdict_is_on_the_first_screen(
    open_page: OpenPage, width: int
) -> None:
    page = open_page("?data=file&resamples=0", width=width)
    bring(page, "three.csv", simple())
    places = [page.locator(STEP), page.locator(".st-key-verdict"), page.locator(".js-plotly-plot")]
    for place in places:
        expect(place.first).to_be_visible()
    settle(page)
    boxes = [place.first.bounding_box() for place in places]
    tops = [box["y"] for box in boxes if box]
    assert len(tops) == 3
    assert tops == sorted(tops)
    verdict = boxes[1]
    assert verdict is not None
    assert verdict["y"] + verdict["height"] < 900
    expect(page.locator(STEP)).to_contain_text("three.csv")


@pytest.mark.long
def test_on_a_phone_the_panel_closes_after_a_choice(open_page: OpenPage) -> None:
    page = open_page("?data=file&resamples=0", width=390)
    panel, opens = page.get_by_test_id("stSidebar"), page.get_by_test_id("stExpandSidebarButton")
    opens.click()
    expect(panel).to_have_attribute("data-collapsed", "false")
    bring(page, "three.csv", simple())
    expect(panel).to_have_attribute("data-collapsed", "true")
    settle(page)
    opens.click()
    expect(panel).to_have_attribute("data-collapsed", "false")
    panel.get_by_role("radio", name="Top-k set", exact=True).click()
    expect(panel).to_have_attribute("data-collapsed", "true")
    wide = open_page("?resamples=0")
    settle(wide)
    panel = wide.get_by_test_id("stSidebar")
    panel.get_by_text("Calibration set", exact=True).click()
    settle(wide)
    expect(panel).to_have_attribute("data-collapsed", "false")


@pytest.mark.long
def test_on_a_phone_the_panel_s_button_is_free_and_a_page_closes_it(open_page: OpenPage) -> None:
    page = open_page("subgroups?resamples=0", width=390)
    panel, opens = page.get_by_test_id("stSidebar"), page.get_by_test_id("stExpandSidebarButton")
    opens.click()
    button = page.get_by_test_id("stSidebarCollapseButton").get_by_role("button")
    expect(panel).to_have_attribute("data-collapsed", "false")
    button.click(timeout=5_000)  # fails where something lies over it
    expect(panel).to_have_attribute("data-collapsed", "true")
    assert "/subgroups" in page.url
    opens.click()
    panel.get_by_role("link", name="Reliability").click()
    expect(panel).to_have_attribute("data-collapsed", "true")
    assert "/reliability" in page.url


@pytest.mark.parametrize(("host", "status"), [("127.0.0.1", 101), ("evil.example", 403)])
def test_a_name_that_points_here_is_turned_away(address: str, host: str, status: int) -> None:
    connection = HTTPConnection(address.removeprefix("http://"), timeout=20)
    asked = {
        "Host": host, "Connection": "Upgrade", "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }  # fmt: skip
    connection.request("GET", "/_stcore/stream", headers=asked)
    assert connection.getresponse().status == status
    connection.close()
