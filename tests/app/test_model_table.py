"""The table of models by calibrators on the page, and its files."""

import re
from html import unescape
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from calibcore import Split, TopR, audit
from calibcore.calibrators import (
    IsotonicCalibration,
    OneVsRest,
    SplineCalibration,
    TemperatureScaling,
)
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass, WithinTopR
from calibcore.metrics import measure_by_key
from calibcore.models import resplit
from dashboard.readers import read
from dashboard.samples import samples
from dashboard.texts.methods import method_name
from dashboard.views.models.table_results import _event_of
from tests.app.pages import bodies, html_of, made_set, npz_of, open_page, open_upload

FASHION, OTHER = samples()[0], next(one for one in samples() if one.name == "city_country_100")


def table(page: AppTest) -> dict[str, list[str]]:
    (body,) = html_of(page, "class='measures models ")
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
    text = page.subheader[0].value
    assert text.startswith("Lowest ECE, equal-width bins: ")
    for key, count in wins.items():
        assert (f"{method_name(key)} for {count} of 2" in text) == bool(count)
    assert any("cells are not computed" in one for one in bodies(page)) is False


def test_calibration_gain_stands_in_percent_of_all_classes_without_a_column_of_zeros(
    rng: np.random.Generator,
) -> None:
    calibration, test = made_set(rng, 60), made_set(rng, 90)
    page = open_upload(
        ("first.npz", npz_of(calibration, test)),
        path="models",
        models_view="table",
        methods="temperature,one_vs_rest_isotonic",
        table_measure="calibration_gain",
    )
    assert not page.exception
    (heads,) = [
        re.findall("<th scope='col'>(.*?)</th>", one)
        for one in html_of(page, "class='measures models ")
    ]
    names = [method_name(key) for key in ("temperature", "one_vs_rest_isotonic")]
    assert heads == ["Model", *names]
    split = Split(calibration, test)
    rows = table(page)
    (cells,) = rows.values()
    for cell, calibrator in zip(
        cells, (TemperatureScaling(), OneVsRest(IsotonicCalibration())), strict=True
    ):
        result = audit(split, event=TopR(1), calibrator=calibrator).test
        gain = result.compare("calibration_gain").after
        was, now = result.compare("brier").before, result.compare("brier").after
        assert gain is not None
        assert was is not None
        assert now is not None
        assert gain == pytest.approx(was - now, abs=1e-12)
        assert plain(cell) == f"{100 * gain:.3f}".replace("-", "\u2212")
    assert "Calibration gain, all classes (%)" in [one.value for one in page.text]
    assert any(f"section 4.2): {names[1]}." in one for one in bodies(page))


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("calibrators", {"methods": "matrix.penalty=none"}),
        (
            "models",
            {"methods": "matrix.penalty=none", "models_view": "table", "table_models": "none"},
        ),
        ("overview", {"method": "matrix", "matrix_penalty": "none"}),
    ],
)
def test_a_matrix_without_penalty_of_100_classes_warns_before_it_is_fitted(
    path: str, asked: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("compute.comparison", "compute.fits", "views.models.table_results"):
        # a machine of its own speed
        monkeypatch.setattr(f"dashboard.{module}.seconds_per_logit", lambda: 5e-9)
    page = open_page(path, sample=OTHER.name, **asked)
    assert not page.exception
    (text,) = [one.value for one in page.warning]
    assert "Matrix scaling without penalty fits 10,100 numbers to 5,000 rows" in text.replace(
        "\n", " "
    )
    assert {"Start", "Compute", "Fit it"} & {one.label for one in page.button}


def test_files_of_other_rows_and_repeated_splits(rng: np.random.Generator) -> None:
    first, other = made_set(rng, 60), made_set(rng, 80, n_classes=4)
    sizes = {"first.npz": (first, 0.5), "other.npz": (other, 0.25)}
    files = {
        name: npz_of(rows.rows(np.arange(n)), rows.rows(np.arange(n, rows.n_samples)))
        for name, (rows, share) in sizes.items()
        for n in [round(share * rows.n_samples)]
    }
    page = open_upload(
        ("first.npz", files["first.npz"]),
        path="models",
        models_view="table",
        methods="temperature",
        table_measure="nll",
        table_splits="3",
    )
    page.file_uploader(key="models_0").set_value([("other.npz", files["other.npz"], "")]).run()
    assert not page.exception
    assert not page.error
    rows = table(page)
    assert list(rows) == list(sizes)
    nll = measure_by_key("nll")
    for name, (every, share) in sizes.items():
        for cell, calibrator in zip(rows[name], (None, TemperatureScaling()), strict=True):
            result = resplit(
                every,
                event=TopR(1),
                calibrator=calibrator,
                measures=(nll,),
                n_splits=3,
                calibration_share=share,
            ).cell(nll)
            assert result.value is not None
            assert plain(cell) == f"{result.value:.4f}"
            assert f"<small>\u00b1{result.deviation:.4f}</small>" in cell
    assert any("Mean \u00b1 standard deviation over 3 random splits." in s for s in bodies(page))


def test_a_class_is_found_by_its_name_and_ranks_need_more_classes() -> None:
    mine, its = ("a", "b", "c"), ("c", "a", "d")
    assert _event_of(OneClass(2), mine, its) == OneClass(0)
    with pytest.raises(CalibrationInputError, match="a class b"):
        _event_of(OneClass(1), mine, its)
    with pytest.raises(CalibrationInputError, match="below 2"):
        _event_of(WithinTopR(2), mine, ("a", "b"))
    with pytest.raises(CalibrationInputError, match="each class"):
        _event_of(TopR(2), mine, None)
    assert _event_of(TopR(1), mine, None) == _event_of(TopR(1), None, None) == TopR(1)
