"""A person with a hospital's export: what is missing is left out, and the verdict is reached."""

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from dashboard.texts.opening import sideways
from tests.browser.axe import findings
from tests.browser.conftest import OpenPage
from tests.browser.settled import settle
from tests.marks import first_and_long

pytestmark = pytest.mark.browser

HEADS = (
    "case_no", "discharge_date", "ward", "age_group", "sex", "length_of_stay",
    "predicted_risk_pct", "readmitted_30d",
)  # fmt: skip
ROLES = {
    "predicted_risk_pct": "Score of the event",
    "readmitted_30d": "Outcome (true class)",
    "case_no": "Row ID",
    "ward": "Grouping",
}
N, N_MISSING = 1_200, 9


def export() -> tuple[bytes, int]:
    """Write the file, and count its readmissions among the rows that have a risk."""
    rng = np.random.default_rng(30)
    risk = rng.beta(2, 8, N)
    back = rng.random(N) < 0.8 * risk
    gone = rng.choice(N, N_MISSING, replace=False)
    percent = [f"{100 * value:.1f}".replace(".", ",") for value in risk]
    for row in gone:
        percent[row] = "n/a"
    rows = (
        (
            f"F{100_000 + k}", f"{k % 28 + 1:02d}.{k % 12 + 1:02d}.2025", f"Ward {k % 6}",
            ("18-39", "40-64", "65+")[k % 3], "mf"[k // 7 % 2],
            f"{rng.gamma(2, 2):.1f}".replace(".", ","), percent[k], "Yes" if back[k] else "No",
        )
        for k in range(N)
    )  # fmt: skip
    text = "\r\n".join(";".join(row) for row in (HEADS, *rows))
    return text.encode("utf-8-sig"), int(back.sum() - back[gone].sum())


def check_roles_in_sight(page: Page, width: int) -> None:
    """Expect the columns that matter first, whole, and a word about those further right."""
    settle(page)
    table = page.locator(".st-key-role_table")
    boxes = table.get_by_role("combobox")
    first = [boxes.nth(k).get_attribute("aria-label") for k in (0, 1)]
    assert first == ["readmitted_30d", "predicted_risk_pct"]
    for k in (0, 1):
        box = boxes.nth(k).bounding_box()
        assert box is not None
        assert 0 <= box["x"] < box["x"] + box["width"] <= width
    cut = "inputs => inputs.filter(one => one.scrollWidth > one.clientWidth).map(one => one.value)"
    assert boxes.evaluate_all(cut) == []
    assert table.evaluate("node => node.scrollWidth > node.clientWidth")
    expect(page.get_by_text(sideways(8))).to_be_visible()


@pytest.mark.parametrize("width", first_and_long([390, 1440]))
def test_from_an_export_to_the_verdict(open_page: OpenPage, width: int) -> None:
    data, n_back = export()
    page = open_page("?data=file&resamples=0", scheme="dark")
    page.locator("input[type=file]").set_input_files(
        {"name": "readmissions.csv", "mimeType": "text/csv", "buffer": data}
    )
    page.set_viewport_size({"width": width, "height": 900})
    question = page.locator(".st-key-import_question")
    expect(question).to_contain_text(f"{N_MISSING} of {N:,}")
    for name, role in ROLES.items():
        expect(page.get_by_role("combobox", name=name, exact=True)).to_have_value(role)
    check_roles_in_sight(page, width)
    assert findings(page) == []
    bad = page.locator("table.roles tbody tr").filter(
        has=page.get_by_role("cell", name="n/a", exact=True)
    )
    expect(bad).to_have_count(N_MISSING)
    lines = [k for k, line in enumerate(data.decode("utf-8-sig").splitlines(), 1) if "n/a" in line]
    assert bad.get_by_role("rowheader").all_inner_texts() == [str(line) for line in lines]
    question.get_by_role("button", name="Leave out").click()
    verdict = page.locator(".st-key-verdict")
    expect(verdict).to_be_visible()
    expect(question).to_have_count(0)
    main = page.get_by_test_id("stMain")
    expect(main).to_contain_text(f"readmitted_30d = Yes ({n_back})")
    expect(page.locator(".st-key-left_out")).to_contain_text(f"{N_MISSING} of {N:,} rows left out")
    expect(page.locator(".js-plotly-plot .plot-container")).to_have_count(2)
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert "leave_out=1" in page.url
