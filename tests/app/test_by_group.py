"""Calibration by the groups of a column, on the page."""

import re
from html import unescape

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from calibcore import EventScores, OneClass, audit
from calibcore.calibrators import ByGroup, PlattScaling
from calibcore.data import with_groups
from calibcore.metrics import METRICS
from calibcore.splits import Split, deal_folds
from dashboard.compute.comparison import group_of
from dashboard.compute.groupings import groupings, subgrouping_of, ways
from dashboard.compute.split import methods_for, whole_split
from dashboard.readers import read
from dashboard.scene import Scene
from dashboard.settings import Settings
from dashboard.texts.methods import method_name
from dashboard.texts.subgroups import CALIBRATE_BY, KNOWN_GROUPS
from tests.app.pages import bodies, click, html_of, measure_cells, open_page, open_upload, turn_to
from tests.app.test_maps_page import traces_of, values
from tests.hospital import discharges

WARDS = ("cardiology", "surgery", "geriatrics")
SIZES = {"cardiology": 400, "surgery": 350, "geriatrics": 250}
Hospital = tuple[bytes, EventScores, np.ndarray]


@pytest.fixture(scope="module")
def hospital() -> Hospital:
    """Three wards, one of them far too low, with ids and a column of one value."""
    rng = np.random.default_rng(6)
    place = rng.permutation(np.repeat(np.arange(3), list(SIZES.values())))
    odds = rng.normal(-1, 1, place.size)
    true = 1 / (1 + np.exp(-odds - np.array([0.0, -0.3, 1.2])[place]))
    hits = (rng.uniform(size=place.size) < true).astype(int)
    scores = np.round(1 / (1 + np.exp(-odds)), 6)
    lines = ["id,number,ward,site,age,risk,readmitted"] + [
        f"P{k:05d},{7000 + k},{WARDS[g]},north,{40 + k % 50},{score},{'Yes' if hit else 'No'}"
        for k, (g, score, hit) in enumerate(zip(place, scores, hits, strict=True))
    ]
    return "\n".join(lines).encode(), EventScores(scores, hits), place


def open_hospital(hospital: Hospital, path: str = "overview", **query: str) -> AppTest:
    return open_upload(("hospital.csv", hospital[0]), path=path, **query)


def cell(page: AppTest, key: str, column: str) -> str:
    name = next(measure.name for measure in METRICS if measure.key == key)
    return str(measure_cells(page).loc[name, column])


def test_columns_that_name_groups_are_offered_and_ids_are_not(hospital: Hospital) -> None:
    upload = read("hospital.csv", hospital[0])
    assert upload.rows is not None
    offered = groupings(upload)
    assert "ward" in offered
    assert not {"id", "number", "site"} & set(offered)
    assert set(offered) <= set(ways(upload))
    assert [method.key for method in methods_for(upload)][-2:] == ["by_group", "multicalibration"]


def test_months_do_not_come_again_so_they_are_no_groups_and_the_telling_column_comes_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    export = discharges()
    upload = read("export.csv", export.data)
    assert upload.rows is not None
    assert {"discharge_date", "ward"} <= set(ways(upload))
    assert "discharge_date" not in groupings(upload)
    asked: list[str | None] = []

    def noted(scene: Scene, key: str) -> str | None:
        asked.append(group_of(scene, key))
        return asked[-1]

    monkeypatch.setattr("dashboard.compute.comparison.group_of", noted)
    page = open_upload(("export.csv", export.data), path="calibrators", methods="by_group")
    assert not page.exception
    assert {one for one in asked if one} == {"ward"}


def test_the_rows_of_both_sets_know_the_groups_that_are_chosen(hospital: Hospital) -> None:
    upload = read("hospital.csv", hospital[0])
    plain = Settings(OneClass(1), "by_group")
    assert whole_split(upload, plain).test.groups is None
    by_ward = Settings(OneClass(1), "by_group", group="ward")
    result = whole_split(upload, by_ward)
    assert result.test.groups is not None
    assert sorted(np.bincount(result.test.groups).tolist()) == sorted(SIZES.values())
    assert result.fold is not None
    halves = whole_split(
        upload, Settings(OneClass(1), "by_group", group="ward", calibration_share=0.5)
    )
    assert halves.test.groups is not None
    assert halves.calibration.groups is not None
    together = np.bincount(halves.test.groups) + np.bincount(halves.calibration.groups)
    assert sorted(together.tolist()) == sorted(SIZES.values())


def test_groups_of_the_page_are_those_of_another_table() -> None:
    """A file that is kept numbers new rows as the page numbers its own."""
    rng = np.random.default_rng(1)
    heads = ("risk", "ill", "ward", "sex", "age", "grade")
    lines = [",".join(heads)] + [
        f"{rng.random():.4f},{'Yes' if rng.random() < 0.4 else 'No'},"
        f"{('A', '', 'B')[k % 3]},{k % 2},{'' if k % 7 == 0 else 20 + k % 61},{1.5 * (k % 4)}"
        for k in range(400)
    ]
    upload = read("file.csv", "\n".join(lines).encode())
    settings = Settings(OneClass(1), "by_group")
    columns = upload.split_columns()["test"]
    assert {"ward", "sex", "age", "grade"} <= set(groupings(upload))
    for by in ("ward", "sex", "age", "grade"):
        result, column = subgrouping_of(upload, settings, by), columns[by]
        texts = column.categories
        cells = column.values if texts is None else np.array(texts)[column.values]
        assert result.grouping is not None
        assert result.grouping.column == by
        np.testing.assert_array_equal(result.grouping.numbers(cells), result.places["test"])
        assert len(result.grouping.names) == len(result.names)


def test_the_page_calibrates_by_the_chosen_column_and_warns(hospital: Hospital) -> None:
    page = open_hospital(hospital, method="by_group", group="ward")
    assert not page.exception
    assert not page.error
    (chosen,) = [one for one in page.selectbox if one.label == CALIBRATE_BY]
    assert chosen.value == "ward"
    assert any(KNOWN_GROUPS in body for body in bodies(page))
    _, rows, place = hospital
    fold = deal_folds(rows)
    weighted_rows = with_groups(rows, place)
    result = audit(
        Split(weighted_rows, weighted_rows, fold=fold),
        event=OneClass(1),
        calibrator=ByGroup(PlattScaling()),
    )
    answer = result.test.compare("auroc")
    assert answer.before is not None
    assert answer.after is not None
    assert cell(page, "auroc", "After") == f"{answer.after:.3f}"
    assert answer.after > answer.before + 0.02  # the groups' order is learned


def test_other_methods_have_no_groups(hospital: Hospital) -> None:
    page = open_hospital(hospital, method="spline")
    assert not [one for one in page.selectbox if one.label == CALIBRATE_BY]
    assert not any(f"warning: {KNOWN_GROUPS}" in body for body in bodies(page))
    sample = open_page(sample="three_garments")
    assert method_name("by_group") not in sample.selectbox(key="method_seen").options


def compared(page: AppTest) -> dict[str, list[str]]:
    (table,) = html_of(page, "measures all-columns few'")
    lines = re.findall(r"<tr><th scope='row'>(.*?)</th>(.*?)</tr>", table)
    return {
        unescape(name.partition("<small>")[0]): [
            re.sub("<.*?>", "", cell) for cell in re.findall("<td>(.*?)</td>", cells)
        ]
        for name, cells in lines
    }


def test_it_takes_part_in_the_comparison_whatever_is_chosen(hospital: Hospital) -> None:
    query = {"methods": "by_group,spline,platt", "by": "event_nll"}
    page = open_hospital(hospital, "calibrators", method="spline", **query)
    assert not page.exception
    rows = compared(page)
    assert next(iter(rows)) == "By group"
    (text,) = [head.value for head in page.subheader if "cross-validation" in head.value]
    assert text.startswith("Best in cross-validation: By group")
    assert any("By group: groups of the column ward." in body for body in bodies(page))
    mine = open_hospital(hospital, "calibrators", method="by_group", group="ward", **query)
    assert compared(mine) == rows  # the first column that is offered is the ward


def test_a_filter_evaluates_one_ward_by_the_fit_on_all(hospital: Hospital) -> None:
    page = open_hospital(
        hospital, method="by_group", group="ward", only="ward", only_which="geriatrics"
    )
    assert not page.exception
    _, rows, place = hospital
    weighted_rows = with_groups(rows, place)
    split = Split(weighted_rows, weighted_rows, fold=deal_folds(rows))
    result = audit(split, event=OneClass(1), calibrator=ByGroup(PlattScaling())).test
    mine = place == WARDS.index("geriatrics")
    for side, column in ((result.before, "Before"), (result.after, "After")):
        brier = ((side.event.scores[mine] - side.event.hits[mine]) ** 2).mean()
        assert cell(page, "event_brier", column) == f"{brier:.3f}"
    assert not turn_to(page, "calibrators").exception


def test_fits_on_halves_know_groups_too(hospital: Hospital) -> None:
    page = open_hospital(hospital, method="by_group", group="ward", evaluation="split")
    assert not page.exception
    assert not page.error


def test_the_overview_advises_it_where_it_corrects_a_ward(hospital: Hospital) -> None:
    page = open_hospital(hospital, method="platt")
    (text,) = [body for body in bodies(page) if "Consider calibration by group (ward)" in body]
    assert KNOWN_GROUPS in text
    _, rows, place = hospital
    weighted_rows = with_groups(rows, place)
    split = Split(weighted_rows, weighted_rows, fold=deal_folds(rows))
    worst = place == WARDS.index("geriatrics")
    gaps = [
        100 * (event.scores[worst] - event.hits[worst]).mean()
        for event in (
            audit(split, event=OneClass(1), calibrator=calibrator).test.after.event
            for calibrator in (PlattScaling(), ByGroup(PlattScaling()))
        )
    ]
    was, now = (f"{gap:+.1f} pp".replace("-", "\N{MINUS SIGN}") for gap in gaps)
    assert f"of ward \\= geriatrics from {was} to {now}." in text
    click(page, "Calibrate by ward")
    assert not page.exception
    assert page.selectbox(key="group").value == "ward"
    assert page.selectbox(key="method_seen").value == "by_group"
    assert not any("Consider calibration by group" in body for body in bodies(page))


def test_the_maps_page_draws_the_groups_that_differ_most(hospital: Hospital) -> None:
    page = open_hospital(hospital, "maps", method="by_group", group="ward")
    assert not page.exception
    curves = traces_of(page, "Calibration map")
    _, rows, place = hospital
    fitted = ByGroup(PlattScaling()).fit(rows.scores, rows.hits, place)
    for name, groups in (("All rows", None), ("geriatrics", 2), ("surgery", 1)):
        x, y = (values(curves[name], axis) for axis in "xy")
        told = None if groups is None else np.full(x.size, groups)
        assert np.allclose(y, fitted.predict(np.clip(x, 0, 1), told), atol=2e-3)
    order = list(curves)
    assert order.index("geriatrics") < order.index("surgery")  # the one that differs most is first
    assert any("All rows, and the 3 groups of ward" in body for body in bodies(page))
