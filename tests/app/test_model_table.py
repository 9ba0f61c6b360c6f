"""The table of models by calibrators on the page, and its files."""

import re
from html import unescape
from typing import Any

from streamlit.testing.v1 import AppTest

from calibcore import TopR, audit
from calibcore.calibrators import SplineCalibration, TemperatureScaling
from dashboard import wording
from dashboard.readers import read
from dashboard.samples import samples
from tests.app.pages import bodies, open_page

FASHION, OTHER = samples()[0], next(one for one in samples() if one.name == "city_country_100")


def table(page: AppTest) -> dict[str, list[str]]:
    found: Any = page.get("html")
    (body,) = [one.proto.body for one in found if "class='measures models " in one.proto.body]
    lines = re.findall(r"<tr><th scope='row'>(.*?)<small>.*?</th>(.*?)</tr>", body)
    return {
        unescape(name): [unescape(cell) for cell in re.findall("<td>(.*?)</td>", cells)]
        for name, cells in lines
    }


def plain(cell: str) -> str:
    return re.sub("<small>.*|<[^>]*>|\u00b0", "", cell)


def test_each_model_is_fitted_and_evaluated_on_its_own_rows() -> None:
    page = open_page(
        "models",
        models_view="table",
        table_models=OTHER.name,
        methods="temperature,spline",
        table_measure="ece",
    )
    assert not page.exception
    assert not page.error
    rows = table(page)
    assert list(rows) == [FASHION.title, OTHER.title]
    wins = {"temperature": 0, "spline": 0}
    for sample in (FASHION, OTHER):
        split: Any = read("x.npz", sample.read_bytes()).split()
        calibrators = SplineCalibration(constrained=True), TemperatureScaling()  # as listed
        results = [audit(split, event=TopR(1), calibrator=one).test for one in calibrators]
        before = results[0].compare("ece").before
        spline, temperature = (one.compare("ece").after for one in results)
        assert before is not None
        assert spline is not None
        assert temperature is not None
        cells = rows[sample.title]
        assert [plain(cell) for cell in cells] == [
            f"{100 * value:.2f}" for value in (before, spline, temperature)
        ]
        wins["spline" if spline < temperature else "temperature"] += 1
        best, second = ("<b>", "<u>") if spline < temperature else ("<u>", "<b>")
        assert cells[1].startswith(best)
        assert cells[2].startswith(second)
    said = page.subheader[0].value
    assert said.startswith("Lowest ECE, equal-width bins: ")
    for key, count in wins.items():
        assert (f"{wording.method_name(key)} for {count} of 2" in said) == bool(count)
    assert any("cells are not computed" in one for one in bodies(page)) is False
