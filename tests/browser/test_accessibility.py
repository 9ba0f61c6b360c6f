"""What axe-core finds on every page, light and dark."""

import pytest

from dashboard.app import PAGES
from tests.browser.axe import findings, open_all
from tests.browser.conftest import OpenPage
from tests.browser.settled import settle, turn_to
from tests.browser.test_walk import address_of
from tests.marks import first_and_long

pytestmark = pytest.mark.browser

GARMENTS, CITIES, CRASH = "three_garments", "city_country_100", "crash_survival"


@pytest.mark.long
def test_no_page_has_a_finding_in_the_dark(open_page: OpenPage) -> None:
    """In the light, `test_walk` looks at each."""
    page = open_page(address_of(GARMENTS, method="temperature"), scheme="dark")
    settle(page)
    ground = page.get_by_test_id("stApp").evaluate("node => getComputedStyle(node).backgroundColor")
    assert ground == "rgb(14, 17, 23)"
    for title, _, _ in PAGES:
        turn_to(page, title)
        open_all(page)
        assert (title, findings(page)) == (title, [])


OTHER_STATES = {
    "intervals": address_of(CRASH, resamples="200", measures="all"),
    "classes in a table": address_of(CITIES, "reliability", classes_as="table"),
    "comparison with intervals": address_of(
        CRASH, "calibrators", resamples="200", calibrators_intervals="true"
    ),
    "diagrams of calibrators": address_of(
        GARMENTS,
        "calibrators",
        methods="temperature,vector.bias=false",
        calibrators_diagrams="true",
    ),
    "models by calibrators": address_of(
        GARMENTS, "models", models_view="table", table_models=CRASH, methods="temperature,beta"
    ),
    "many subgroups": address_of(CITIES, "subgroups"),
    "three classes": address_of(GARMENTS, "maps", method="matrix", wording="expert"),
    "nothing uploaded": "?data=file",
}


@pytest.mark.long
@pytest.mark.parametrize(
    ("state", "scheme"),
    first_and_long(
        (state, ("light", "dark")[number % 2]) for number, state in enumerate(OTHER_STATES)
    ),
)
def test_no_other_state_has_a_finding(open_page: OpenPage, state: str, scheme: str) -> None:
    page = open_page(OTHER_STATES[state], scheme=scheme, width=390)
    settle(page)
    assert findings(page) == []
