"""All calibrators on the data at hand."""

import numpy as np

from calibcore import EventScores, Split, TopR, audit
from calibcore.calibrators import CATALOGUE, HistogramBinning, IsotonicCalibration
from dashboard import wording
from dashboard.settings import NO_METHOD
from dashboard.tables import CONTEST_MEASURES, contest_table
from tests.app.pages import open_page, tile


def test_nothing_is_fitted_before_it_is_asked_for() -> None:
    page = open_page(sample="Three garments that look alike")
    assert not page.table


def test_the_table_holds_every_method_and_agrees_with_the_tiles() -> None:
    page = open_page(sample="Three garments that look alike", contest="true")
    assert not page.exception
    table = page.table[0].value.set_index("Method")
    names = [wording.method_name(NO_METHOD), *(method.name for method in CATALOGUE)]
    assert list(table.index) == names
    before, after = (str(table.loc[name, "KS error"]).strip("*") for name in (names[0], "Spline"))
    assert tile(page, "KS error") == f"{before[:-2]} \u2192 {after}"


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
    assert brier[2].startswith("*")
    assert not brier[2].startswith("**")
    assert "*" not in brier[0]
    assert set(table["NLL, all classes"]) == {"\u2013"}
    assert set(table["Decisions changed"]) == {"0"}
