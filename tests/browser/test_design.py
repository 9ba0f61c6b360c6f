"""Visits of patients with weights: both columns are proposed, and the report counts patients."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.app.test_design import PATIENTS, visits
from tests.browser.conftest import OpenPage
from tests.browser.settled import settle

pytestmark = pytest.mark.browser


@pytest.mark.long
def test_from_visits_with_weights_to_the_report(open_page: OpenPage) -> None:
    name, data = visits()
    page = open_page("?data=file&resamples=0&method=platt")
    page.locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": data}
    )
    page.get_by_role("button", name="Sampling weight", exact=True).click()
    settle(page)
    page.get_by_role("button", name="Those of one patient").click()
    main = page.get_by_test_id("stMain")
    belong = f'rows of {PATIENTS} "patient_id" belong together'
    expect(main).to_contain_text(belong)
    expect(page.locator(".st-key-verdict")).to_contain_text("no miscalibration detected")
    expect(main).not_to_contain_text("take rows as independent")
    settle(page)
    assert "weight%3Asample_weight" in page.url.replace(":", "%3A")
    page.get_by_role("button", name="Report", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Make the report").click()
    with page.expect_download() as waiting:
        dialog.get_by_role("button", name="Report (JSON)").click()
    text = Path(waiting.value.path()).read_text(encoding="utf-8")
    sentence = json.dumps(json.loads(text), ensure_ascii=False)
    assert belong.replace('"', '\\"') in sentence
    assert "--column sample_weight=weight --column patient_id=cluster" in sentence
