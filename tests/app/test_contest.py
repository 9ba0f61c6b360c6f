"""All calibrators on the data at hand."""

import re
from html import unescape
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from calibcore import EventScores, Split, TopR, audit
from calibcore.calibrators import CATALOGUE, HistogramBinning, IsotonicCalibration
from dashboard import wording
from dashboard.settings import NO_METHOD
from dashboard.tables import CONTEST_MEASURES, contest_table
from tests.app.pages import open_page, tile, turn_to


def method_rows(page: AppTest) -> dict[str, list[str]]:
    """Read the table: cells by method."""
    found: Any = page.get("html")
    tables = [part.proto.body for part in found if "all-columns" in part.proto.body]
    if not tables:
        return {}
    lines = re.findall(r"<tr><th scope='row'>(.*?)</th>(.*?)</tr>", tables[0])
    return {unescape(name): re.findall("<td>(.*?)</td>", cells) for name, cells in lines}


def test_nothing_is_fitted_before_it_is_asked_for() -> None:
    page = open_page("compare", sample="Three garments that look alike")
    assert len(method_rows(page)) == 0


def test_the_table_holds_every_method_and_agrees_with_the_tiles() -> None:
    page = open_page("compare", sample="Three garments that look alike", contest="true")
    assert not page.exception
    rows = method_rows(page)
    names = [wording.method_name(NO_METHOD), *(method.name for method in CATALOGUE)]
    assert list(rows) == names
    before, after = (re.sub("<.*?>", "", rows[name][0]) for name in (names[0], "Spline"))
    for column in range(len(CONTEST_MEASURES)):
        cells = [cells[column] for cells in rows.values()]
        assert [cell for cell in cells if cell.startswith("<b>")]
        assert [cell for cell in cells if cell.startswith("<u>")]
    assert tile(turn_to(page, "overview"), "KS error") == f"{before[:-2]} \u2192 {after}"


def test_best_and_second_best_are_marked_and_equals_alike() -> None:
    rng = np.random.default_rng(5)
    scores = rng.random(4_000)
    rows = EventScores(scores, rng.random(4_000) < scores**2)
    calibrators = {
        NO_METHOD: None,
        "isotonic": IsotonicCalibration(),
        "histogram": HistogramBinning(),
        "bbq": HistogramBinning(),
    }
    contest = [
        (key, audit(Split(rows, rows), event=TopR(1), calibrator=made).test)
        for key, made in calibrators.items()
    ]
    table = contest_table(contest)
    assert len(table.columns) == len(CONTEST_MEASURES) + 2
    brier = list(table["Brier score of the event"])
    assert brier[1].startswith("**")
    assert brier[2] == brier[3]
    assert brier[2].startswith("__")
    assert "*" not in brier[0]
    assert set(table["NLL, all classes"]) == {"\u2013"}
    assert set(table["Decisions changed"]) == {"0"}
