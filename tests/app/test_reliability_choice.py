"""The reliability diagram in four ways: the choice, the address, and what is drawn."""

import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from calibcore.events import TopR
from calibcore.reliability import binned_reliability, corp_reliability, smooth_reliability
from dashboard.samples import samples
from tests.app.pages import charts, choose, numbers, open_page, outcomes
from tests.sample_sets import sample_sets

WAYS = {
    "bins": "diagram.",
    "plot": "plot.",
    "isotonic": "diagram, isotonic (CORP).",
    "smoothed": "diagram, smoothed.",
    "belt": "diagram, calibration belt.",
}
SAMPLE = "three_garments"


def diagrams(page: AppTest) -> list[Any]:
    assert not page.exception
    assert not page.error
    shown = [chart for chart in charts(page) if ": Reliability " in chart.alt]
    assert [chart.alt.split(":")[0] for chart in shown] == ["Before", "After"]
    return shown


def values(chart: Any, name: str, axis: str) -> NDArray[np.float64]:
    (drawn,) = [one for one in json.loads(chart.spec)["data"] if one["name"] == name]
    return numbers(drawn[axis])


def choose_way(page: AppTest, way: str) -> AppTest:
    return page.segmented_control(key="reliability_seen").set_value(way).run()


@pytest.fixture
def event() -> Any:
    return outcomes(TopR(1), sample_sets(SAMPLE)[1])


def test_bins_come_first_and_each_way_can_be_chosen() -> None:
    page = open_page("reliability", sample=SAMPLE)
    assert page.segmented_control(key="reliability_seen").value == "bins"
    for way, title in WAYS.items():
        choose_way(page, way)
        for chart in diagrams(page):
            assert f"Reliability {title}" in chart.alt
            assert "399 resamples, seed 0" not in chart.alt
    choose(page, "wording", "expert")
    for way in WAYS:
        choose_way(page, way)
        texts = ["399 resamples, seed 0" in chart.alt for chart in diagrams(page)]
        assert set(texts) == {way in {"isotonic", "smoothed"}}


def test_the_choice_outlives_another_sample_and_set() -> None:
    page = choose_way(open_page("reliability", sample=SAMPLE), "Smoothed")
    choose(page, "set", "calibration")
    assert all("smoothed" in chart.alt for chart in diagrams(page))
    page.selectbox(key="sample_seen").set_value(samples()[-1].title).run()
    assert all("smoothed" in chart.alt for chart in diagrams(page))


def test_what_is_drawn_is_calibcores(event: Any) -> None:
    page = open_page("reliability", sample=SAMPLE)
    binned = binned_reliability(event.scores, event.hits)
    filled = binned.bins.counts > 0
    whiskers = values(diagrams(page)[0], "interval", "y")
    assert whiskers[0::3] == pytest.approx(binned.lower[filled], abs=1e-12)
    assert whiskers[1::3] == pytest.approx(binned.upper[filled], abs=1e-12)
    points = values(diagrams(choose_way(page, "Plot"))[0], "observed frequency", "y")
    assert points == pytest.approx(binned.bins.frequency[filled], abs=1e-12)
    isotonic = corp_reliability(event.scores, event.hits, seed=0)
    steps = values(diagrams(choose_way(page, "Isotonic (CORP)"))[0], "observed frequency", "y")
    assert steps[0::2] == pytest.approx(isotonic.step_frequency, abs=1e-6)
    smoothed = smooth_reliability(event.scores, event.hits, seed=0)
    line = values(diagrams(choose_way(page, "Smoothed"))[0], "observed frequency, few rows", "y")
    assert line == pytest.approx(smoothed.frequency, abs=1e-6, nan_ok=True)
