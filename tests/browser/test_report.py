"""The report: made in the browser without reading documentation, and read from disk offline."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from calibcore.events import OneClass
from dashboard.headless import event_of, read_paths, scene_of
from dashboard.readers.records import ReadingOptions
from dashboard.report import ReportDetails, ReportRequest, html_of, json_of, report_of
from dashboard.samples import samples
from tests.browser.axe import findings
from tests.browser.conftest import OpenPage
from tests.browser.settled import click, settle
from tests.browser.test_hospital import export
from tests.browser.test_walk import SAMPLES
from tests.hospital import WARDS, discharges
from tests.marks import first_and_long

pytestmark = pytest.mark.browser

WARD = "responsible_ward_at_the_time_of_discharge"
LONG_NAMES = {
    "readmitted_30d": "unplanned_readmission_within_30_days_of_discharge",
    ";ward;": f";{WARD};",
    **{ward: f"{ward} and associated day-care clinic, building 4" for ward in WARDS},
}

UNLIKE_THE_JSON = """
document => [...window.document.querySelectorAll('[data-json]')].map(element => [
  element.dataset.json, element.textContent,
  element.dataset.json.split('/').slice(1).reduce((part, key) => part[key], document)
]).filter(([_, shown, said]) => shown !== said)
"""

EMPTY = """
() => [...document.querySelectorAll('svg')].filter(
  svg => svg.querySelectorAll('path, rect, circle').length < 4 || svg.clientHeight < 80
).map(svg => svg.getAttribute('aria-label'))
"""

WIDER_THAN_THE_PAGE = "() => document.documentElement.scrollWidth > window.innerWidth"


def looked_at(page: Page, html: Path, document: object) -> None:
    """Fail on what a reader of the file would miss."""
    page.goto(html.as_uri())
    assert page.evaluate(UNLIKE_THE_JSON, document) == []
    assert page.evaluate(EMPTY) == []
    assert not page.evaluate(WIDER_THAN_THE_PAGE)
    assert findings(page) == []


@pytest.mark.parametrize(
    "name",
    first_and_long(["three_garments", "fashion_cnn_focal_2", "crash_survival", *SAMPLES[:2]]),
)
def test_a_sample_s_report_is_read_from_disk_offline(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    path = next(sample for sample in samples() if sample.name == name)
    file = tmp_path / f"{name}.npz"
    file.write_bytes(path.read_bytes())
    upload = read_paths([file], ReadingOptions())
    scene = scene_of(
        upload, event=event_of(upload, None), method="temperature", n_resamples=20,
        progress=lambda _: None,
    )  # fmt: skip
    report = report_of(scene, ReportRequest(ReportDetails(purpose="To see")), lambda _: None)
    html, one_page = tmp_path / "report.html", tmp_path / "page.html"
    html.write_text(html_of(report), encoding="utf-8")
    one_page.write_text(html_of(report, brief=True), encoding="utf-8")
    context = browser.new_context(offline=True, bypass_csp=True)  # for what looks, not what shows
    faults: list[str] = []
    asked: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    looked_at(page, html, json.loads(json_of(report)))
    page.set_viewport_size({"width": 390, "height": 900})
    assert page.evaluate(EMPTY) == []
    assert not page.evaluate(WIDER_THAN_THE_PAGE)
    assert {*asked} == {html.as_uri()}
    assert faults == []
    for paper in ("A4", "Letter"):
        page.goto(one_page.as_uri())
        printed = page.pdf(format=paper)
        assert printed.count(b"/Type /Page\n") == 1
    page.goto(html.as_uri())
    assert page.pdf(format="A4").count(b"/Type /Page\n") < 25
    context.close()


@pytest.mark.long
def test_from_an_export_to_the_report(open_page: OpenPage, tmp_path: Path) -> None:
    data, _ = export()
    page = open_page("?data=file&resamples=200")
    page.locator("input[type=file]").set_input_files(
        {"name": "readmissions.csv", "mimeType": "text/csv", "buffer": data}
    )
    click(page.get_by_role("button", name="Leave out").first)
    settle(page)
    page.get_by_role("button", name="Report", exact=True).click()
    page.get_by_label("Purpose").fill("Whom to call after discharge")
    page.get_by_label("Purpose").press("Tab")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Make the report").click()
    save = dialog.get_by_role("button", name="Report (HTML)")
    expect(save).to_be_visible()
    settle(page)
    assert findings(page) == []
    files = {}
    for label in ("Report (HTML)", "One page (HTML)", "Report (JSON)"):
        with page.expect_download() as waiting:
            dialog.get_by_role("button", name=label).click()
        files[label] = waiting.value.path().read_text(encoding="utf-8")
        assert waiting.value.suggested_filename.startswith("fractile_readmissions_overview")
    document = json.loads(files["Report (JSON)"])
    assert document["typed"]["purpose"] == "Whom to call after discharge"
    assert "readmitted_30d = Yes" in document["subject"]
    fixed = next(b for s in document["sections"] for b in s["blocks"] if b["key"] == "fixed")
    assert any("left out" in line.lower() for line in fixed["lines"])
    html = tmp_path / "report.html"
    html.write_text(files["Report (HTML)"], encoding="utf-8")
    with page.context.browser.new_context(bypass_csp=True, offline=True) as context:  # type: ignore[union-attr]
        looked_at(context.new_page(), html, document)


@pytest.mark.long
@pytest.mark.parametrize(("method", "group"), [("platt", None), ("by_group", WARD)])
def test_one_page_is_one_page_of_a_file_with_long_names(
    browser: Browser, tmp_path: Path, method: str, group: str | None
) -> None:
    text = discharges().data.decode("utf-8-sig")
    for short, long in LONG_NAMES.items():
        text = text.replace(short, long)
    lines = text.split("\r\n")
    lines[1:2000:50] = [line.rpartition(";")[0] + ";" for line in lines[1:2000:50]]
    file = tmp_path / "quarterly export of all discharges, corrected version of 15 January.csv"
    file.write_text("\r\n".join(lines), encoding="utf-8")
    scene = scene_of(
        read_paths([file], ReadingOptions(leave_out=True)), event=OneClass(1), method=method,
        group=group, n_resamples=100, progress=lambda _: None,
    )  # fmt: skip
    typed = ReportDetails(
        purpose="Whom the team of nurses calls within two days of discharge, and whom it does not",
        author="A. Analyst, Department of Quality and Safety", model="Readmission score 2.3",
    )  # fmt: skip
    report = report_of(scene, ReportRequest(typed, n_tried=14), lambda _: None)
    page = browser.new_page()
    page.set_content(html_of(report, brief=True))
    for paper in ("A4", "Letter"):
        assert page.pdf(format=paper).count(b"/Type /Page\n") == 1
    assert "40 of 7,400 rows left out" in page.locator("body").inner_text()
    page.close()
