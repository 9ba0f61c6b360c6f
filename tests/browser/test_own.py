"""Your own calibration by the keyboard alone, and on a phone."""

import re

import pytest
from playwright.sync_api import expect

from dashboard.learn import own
from tests.browser.axe import findings
from tests.browser.conftest import OpenPage
from tests.browser.settled import settle

pytestmark = pytest.mark.browser

SEED = 7


@pytest.mark.long
def test_twenty_questions_are_answered_by_keys_alone(open_page: OpenPage) -> None:
    page = open_page(f"you?set=facts&seed={SEED}", width=390)
    start = page.get_by_role("button", name="Start")
    start.focus()
    start.press("Enter")
    onward = page.locator(".st-key-own_next button")
    slider = page.get_by_role("slider")
    given = []
    for number, question in enumerate(own.SETS["facts"](SEED), start=1):
        expect(page.get_by_text(f"{number} of 20", exact=True)).to_be_visible()
        expect(onward).to_be_disabled()
        page.keyboard.press("2")
        expect(onward).to_be_enabled()
        page.keyboard.press("ArrowRight")
        expect(slider).to_have_attribute("aria-valuetext", "55%")
        page.keyboard.press("n")
        given.append(own.OwnAnswer(55, question.right == 1))
    expect(page).to_have_url(re.compile(f"code={own.code_of(given)}"))
    settle(page)
    expect(page.locator(".js-plotly-plot")).to_have_count(6)
    main = page.get_by_test_id("stMain")
    assert main.evaluate("node => node.scrollWidth <= node.clientWidth")


@pytest.mark.long
@pytest.mark.parametrize(("which", "scheme"), [*zip(own.SETS, ("light", "dark"), strict=True)])
def test_the_result_has_no_finding(open_page: OpenPage, which: str, scheme: str) -> None:
    code = own.code_of([own.OwnAnswer(own.LEVELS[k % 12], k % 3 > 0) for k in range(20)])
    page = open_page(f"you?set={which}&seed={SEED}&code={code}", scheme=scheme)
    settle(page)
    assert findings(page) == []
