"""Twenty questions about a hospital's export, each answered by the pages, with the steps to it."""

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from calibcore.auditing import AuditResult, audit
from calibcore.calibrators import SplineCalibration
from calibcore.data import EventScores
from calibcore.decisions import at_cutoff, decision_curve
from calibcore.events import OneClass
from calibcore.splits import cross_split
from tests.browser.conftest import OpenPage
from tests.browser.settled import click, settle, turn_to
from tests.hospital import N_ROWS, SHIFT, WARDS, Discharges, discharges

pytestmark = pytest.mark.browser

EVENT = "readmitted_30d = Yes"


def text_of(page: Page) -> str:
    """Read the page's text, spaces of every kind alike."""
    settle(page)
    return re.sub(r"\s+", " ", page.get_by_test_id("stMain").inner_text())


def group_by(page: Page, column: str, says: str) -> None:
    """Group rows by a column, and wait for what the page then says."""
    settle(page)
    page.get_by_role("combobox", name="Group by").click()
    page.get_by_role("option", name=column, exact=True).click()
    expect(page.get_by_test_id("stMain")).to_contain_text(says)


def pp(value: float) -> str:
    """Write a mean gap as tables do."""
    return f"{100 * value:+.1f}".replace("-", "\N{MINUS SIGN}")


def gaps(known: Discharges) -> dict[str, float]:
    """Mean risk minus share of readmissions, of each ward."""
    return {ward: float((known.risk - known.back)[known.ward == ward].mean()) for ward in WARDS}


@pytest.mark.long
def test_twenty_questions_of_a_hospital_analyst(open_page: OpenPage) -> None:
    known = discharges()
    rows = EventScores(known.risk, known.back.astype(int))
    audited = audit(
        cross_split(rows), event=OneClass(1), calibrator=SplineCalibration(constrained=True)
    )
    page = open_page("?data=file&resamples=200")
    page.locator("input[type=file]").set_input_files(
        {"name": "readmissions.csv", "mimeType": "text/csv", "buffer": known.data}
    )
    expect(page.locator(".st-key-verdict")).to_be_visible()
    _overview(text_of(page), known, audited)
    _subgroups(page, known)
    _decisions(page, audited)
    _calibrators(page)
    _data_needed(page)
    _rows(page, known)
    _by_ward(page)


def _overview(text: str, known: Discharges, audited: AuditResult) -> None:
    """Questions 1 to 8, by looking at the first page."""
    n_back = int(known.back.sum())
    # 1. How many patients are these, and how many came back?
    assert f"{EVENT}: {n_back:,} of {N_ROWS:,} ({n_back / N_ROWS:.1%})" in text
    # 2. Was every row used, or were some left out?
    assert f"whole set (cross-validated), {N_ROWS:,} rows" in text
    # 3. Are the risks right?
    assert "Before: some too high, others too low" in text
    # 4. Are they too high or too low on average? The picture has both lines with their names.
    assert f"mean score {known.risk.mean():.1%} observed {known.back.mean():.1%}" in text
    assert "low ones too low and high ones too high" in text
    # 5. Where are they wrong?
    assert re.search(r"Scores up to [\d.]+% are [\d.]+ percentage points too low", text)
    assert re.search(r"of [\d.]+\N{EN DASH}[\d.]+% are [\d.]+ too high", text)
    # 6. How far are they off?
    before, after = audited.test.before, audited.test.after
    ks = f"{100 * before.curves.ks_error:.1f} \N{RIGHTWARDS ARROW} {after.curves.ks_error:.1%}"
    assert ks in text
    # 7. Which ward is worst, and in which direction?
    worst = gaps(known)["Geriatrics"]
    assert f"ward = Geriatrics ({100 * abs(worst):.1f} percentage points too low)" in text
    # 8. Does calibration help?
    nll = audited.test.compare("event_nll")
    assert f"NLL of the event {nll.before:.3f} \N{RIGHTWARDS ARROW} {nll.after:.3f}" in text
    assert "better" in text


def _subgroups(page: Page, known: Discharges) -> None:
    """Questions 9 to 13: Subgroups, and another column."""
    turn_to(page, "Subgroups")
    text = text_of(page)
    # 9. How many wards are miscalibrated?
    assert "3 of 5 after, 3 before" in text
    # 10. Which, and by how much?
    for ward, gap in gaps(known).items():
        line = page.locator("table.subgroups tbody tr").filter(has_text=ward)
        expect(line).to_contain_text(pp(gap))
        off = "too" if ward in SHIFT else "no mean gap detected"
        expect(line).to_contain_text(off)
    # 11. Is it a matter of age or sex?
    none = "No mean gap detected in any of {} subgroups"
    group_by(page, "age_group", none.format(4))
    group_by(page, "sex", none.format(2))
    # 12. Of the length of stay?
    group_by(page, "length_of_stay", none.format(5))
    # 13. Has it changed over the year?
    group_by(page, "discharge_date", "Drift over discharge_date: none detected")
    # While a page is drawn again, its last table may stand beside the new one.
    expect(page.locator("table.subgroups").filter(has_text="Jan 2025")).to_be_visible()


def _decisions(page: Page, audited: AuditResult) -> None:
    """Questions 14 to 17: Decisions, and what mistakes cost."""
    turn_to(page, "Decisions")
    # 14. If a missed patient costs four times a call in vain, from which risk on do we call?
    click(page.get_by_role("radio", name="By costs"))
    text = text_of(page)
    assert "at a cut-off of 20%" in text
    sides = [side.event for side in (audited.test.before, audited.test.after)]
    before, after = (at_cutoff(side, 0.2) for side in sides)
    # 15. How many patients is that, and how many of them would come back?
    assert f"{after.called:,} of {N_ROWS:,} rows" in text
    assert f"{after.right / after.called:.1%} of them" in text
    # 16. How many do we miss, before and after calibration?
    line = page.locator("table tbody tr").filter(has_text="Events missed").first
    expect(line).to_contain_text(f"{before.missed:,}")
    expect(line).to_contain_text(f"{after.missed:,}")
    # 17. Is that better than calling everybody, or nobody?
    curve = decision_curve(sides[1], np.linspace(0.005, 0.995, 199))
    low, high = max(curve.useful(), key=lambda ends: ends[1] - ends[0])
    assert f"of use for cut-offs of {100 * low:.3g}\N{EN DASH}{100 * high:.3g}%" in text


def _calibrators(page: Page) -> None:
    """Question 18: Calibrators."""
    turn_to(page, "Calibrators")
    # 18. Which calibrator do we take, and is it clearly the best?
    text = text_of(page)
    # By group, as one ward is wrong: maps of the score alone come to no less than 0.44.
    named = r"Use By group: NLL \(log loss\) of the event"
    assert re.search(rf"{named} 0\.43\d \(uncalibrated 0\.44\d", text)
    assert "Not clearly different: Multicalibration; the simpler one is advised." in text


def _data_needed(page: Page) -> None:
    """Question 19: Data needed."""
    turn_to(page, "Data needed")
    # 19. Would fewer patients have been enough?
    settle(page)
    line = page.locator("table tbody tr").filter(has_text="Platt scaling").first
    expect(line).to_contain_text(re.compile("[\\d,]+ \\([\\d,]+\N{EN DASH}[\\d,]+\\)"))


def _rows(page: Page, known: Discharges) -> None:
    """Question 20: Subgroups, the range of scores."""
    turn_to(page, "Subgroups")
    # 20. Who had a high risk and did not come back? Those heads the list; all are in the file.
    text = text_of(page)
    n_back = int(known.back.sum())
    assert f"{N_ROWS:,} rows with a score of 0\N{EN DASH}100%, {N_ROWS - n_back:,}" in text
    first = page.locator("table.listed tbody tr").first.locator("td").all_inner_texts()
    highest = known.risk[~known.back].max()
    assert f"{highest:.2%}" in first
    assert "\N{BALLOT X} no" in first


def _by_ward(page: Page) -> None:
    """What to do about the ward: Overview, its recommendation, and what it brings."""
    turn_to(page, "Overview")
    assert "Use By group (ward)." in text_of(page)
    click(page.get_by_role("button", name="Use By group"))
    expect(page.get_by_text("after: no mean gap detected")).to_be_visible()
