"""A team with a summary a day: the server's folder, two days together, then all in time."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from calibcore.summary import GroupedSummary
from dashboard.folder import SUMMARIES
from dashboard.summary_file import write_summary
from tests.browser.server import running_dashboard
from tests.browser.settled import settle, turn_to

pytestmark = pytest.mark.browser

N = 20_000


def day(number: int) -> GroupedSummary:
    """Rows of a day, of which the last has scores that are too high in one region."""
    rng = np.random.default_rng(number)
    scores, regions = rng.random(N).round(3), rng.choice(["eu", "us"], N)
    true = np.where((regions == "eu") & (number == 3), 0.7, 1.0) * scores
    return GroupedSummary.of(scores, rng.random(N) < true, {"region": regions})


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """Start a server on a folder of three days, and a broken fourth one."""
    for number in (1, 2, 3):
        (tmp_path / f"2025-03-0{number}.parquet").write_bytes(write_summary(day(number)))
    whole = write_summary(day(1))
    (tmp_path / "broken.parquet").write_bytes(whole[:4000] + whole[-2000:])
    with running_dashboard({SUMMARIES: str(tmp_path)}) as address:
        yield address


@pytest.mark.long
def test_days_of_a_folder_are_opened_together_and_seen_in_time(
    browser: Browser, served: str
) -> None:
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.set_default_timeout(60_000)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(f"{served}/?resamples=200")
    page.get_by_role("radio", name="Folder").click()
    listed = page.get_by_test_id("stMain").locator("table")
    expect(listed).to_contain_text("2025-03-01.parquet")
    expect(listed.locator("tbody tr")).to_have_count(4)
    expect(listed).to_contain_text(f"{N:,}")

    days = page.get_by_role("combobox", name="Summaries")
    for number in (1, 3):
        days.click()
        page.get_by_role("option", name=f"2025-03-0{number}.parquet").click()
    page.keyboard.press("Escape")
    main = page.get_by_test_id("stMain")
    expect(page.locator(".st-key-verdict")).to_contain_text("scores too high")
    expect(main).to_contain_text(f"{2 * N:,} rows")
    expect(main).to_contain_text("region = eu")
    assert "2025-03-01.parquet,2025-03-03.parquet" in page.url.replace("%2C", ",")

    days.click()
    page.get_by_role("option", name="2025-03-02.parquet").click()
    page.keyboard.press("Escape")
    expect(main).to_contain_text(f"{3 * N:,} rows")
    settle(page)
    turn_to(page, "Models")
    expect(main).to_contain_text("since 2025-03-03 scores are too high by")
    expect(main.locator("table tbody tr")).to_have_count(3)

    page.goto(f"{served}/?data=folder&summaries=broken.parquet")
    expect(page.get_by_test_id("stAlert")).to_have_count(1)
    expect(page.get_by_test_id("stAlert")).to_contain_text("Parquet")
    page.goto(f"{served}/?data=folder&summaries=..%2Fbroken.parquet")
    expect(page.get_by_test_id("stMain")).to_contain_text("Which summaries?")
    assert faults == []
    page.context.close()
