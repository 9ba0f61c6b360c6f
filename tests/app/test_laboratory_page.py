"""The laboratory's page: its controls, its address, and its rows on other pages."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.compute.learn import TURNS, finished_study
from dashboard.learn.laboratory import PRESETS, LaboratoryModel, chosen_of, redraws_of, result_of
from dashboard.texts import laboratory as estimators
from dashboard.texts import laboratory as words
from dashboard.widgets.long_work import RUN
from tests.app.pages import open_page, text_of


def model_of(page: AppTest) -> LaboratoryModel:
    result = chosen_of(str(page.query_params["model"]))
    assert result is not None
    return result


def test_each_control_moves_the_model_its_address_and_what_is_said() -> None:
    page = open_page("laboratory")
    assert not page.exception
    assert model_of(page) == PRESETS["overconfident"]
    assert words.conclusion(result_of(PRESETS["overconfident"])) in text_of(page)
    page.slider(key="lab_at_slope").set_value(1.8).run()
    page.slider(key="lab_at_rate").set_value(30).run()
    page.select_slider(key="lab_at_rows").set_value(500).run()
    page.number_input(key="lab_at_seed").set_value(7).run()
    expected = LaboratoryModel(slope=180, rate=30, rows=500, seed=7)
    assert model_of(page) == expected
    assert words.conclusion(result_of(expected)) in text_of(page)
    page.button(key="lab_draw").click().run()
    assert model_of(page) == LaboratoryModel(slope=180, rate=30, rows=500, seed=7, draw=2)


def test_a_move_waits_for_that_of_another_student() -> None:
    page = open_page("laboratory")
    with ThreadPoolExecutor(1) as other:
        with TURNS:
            moved = other.submit(page.slider(key="lab_at_slope").set_value(1.5).run)
            with pytest.raises(TimeoutError):
                moved.result(timeout=2)
        assert not moved.result().exception
    assert model_of(page).slope == 150
    assert not TURNS.locked()


def test_a_model_to_begin_with_is_taken_whole() -> None:
    page = open_page("laboratory")
    for name in ("zhang", "by_hand", "two_groups"):
        page.selectbox[0].set_value(name).run()
        assert not page.exception
        assert model_of(page) == PRESETS[name]
        assert words.conclusion(result_of(PRESETS[name])) in text_of(page)


def test_drawing_many_times_shows_the_spread() -> None:
    page = open_page("laboratory")
    page.toggle(key="lab_many").set_value(True).run()
    assert words.spread(redraws_of(LaboratoryModel())) in text_of(page)
    heads = [list(table.value.columns) for table in page.table]
    assert list(words.MANY_HEAD) in heads


def test_errors_of_estimates_are_computed_after_a_click() -> None:
    page = open_page("laboratory")
    page.button(key="lab_take_zhang").click().run()
    assert model_of(page) == PRESETS["zhang"]
    assert "lab_take_zhang" not in [one.key for one in page.button]
    page.segmented_control(key="lab_study_draws").set_value(30).run()
    assert finished_study(PRESETS["zhang"], 30) is None
    next(one for one in page.button if one.label == RUN).click().run()
    assert not page.exception
    study = finished_study(PRESETS["zhang"], 30)
    assert study is not None
    assert estimators.estimators_conclusion(study) in text_of(page)
    assert RUN not in [one.label for one in page.button]
    assert estimators.heads(study) == tuple(page.table[-1].value.columns)


def test_a_link_opens_its_model_and_a_wrong_one_says_so() -> None:
    model = LaboratoryModel(slope=75, shift=-5, groups=10, rows=100, seed=3, draw=2)
    assert model_of(open_page("laboratory", model=model.code)) == model
    page = open_page("laboratory", model="c.1.2")
    assert [one.value for one in page.warning] == [words.UNUSABLE]


def test_its_rows_open_on_other_pages() -> None:
    model = PRESETS["two_groups"]
    page = open_page(
        "overview", data="laboratory", model=model.code, event="class", method="none",
        **{"class": "event"},
    )  # fmt: skip
    assert not page.exception
    assert words.sample(model).title.replace(":", "\\:") in text_of(page).replace("\u2060", "")
    hits = int(result_of(model).test.event.hits.sum())
    assert f"{hits} of {model.rows:,}" in text_of(page)


SLIDERS = {
    "slope": ("Slope", 0.1, 4.0, 0.05, 0.5),
    "shift": ("Shift", -3.0, 3.0, 0.1, 0.0),
    "wave": ("Wave", -2.0, 2.0, 0.1, 0.0),
    "sharpness": ("Sharpness (%)", 5, 100, 1, 50),
    "rate": ("Base rate (%)", 0, 99, 1, 50),
    "groups": ("Groups differ by", 0.0, 4.0, 0.2, 0.0),
}
OF_ZHANG = {"beta0": ("\u03b20", -2.0, 2.0, 0.1, 0.5), "beta1": ("\u03b21", -4.0, -0.5, 0.1, -1.5)}


OF_SCORES = {name: SLIDERS[name] for name in ("sharpness", "rate", "groups")}


@pytest.mark.parametrize(
    ("name", "expected"), [("overconfident", SLIDERS), ("zhang", OF_ZHANG), ("by_hand", OF_SCORES)]
)
def test_sliders_stand_at_the_numbers_of_the_model_within_its_limits(
    name: str, expected: dict[str, tuple[str, float, float, float, float]]
) -> None:
    page = open_page("laboratory", model=PRESETS[name].code)
    for key, wanted in expected.items():
        slider = page.slider(key=f"lab_at_{key}")
        results = (slider.label, slider.min, slider.max, slider.step, slider.value)
        assert results[0] == wanted[0]
        assert results[1:] == pytest.approx(wanted[1:])
    keys = {str(one.key).removeprefix("lab_at_") for one in page.slider}
    assert {key for key in keys if not key.startswith("handle_")} == set(expected)
    seed = page.number_input(key="lab_at_seed")
    assert (seed.min, seed.max, seed.value) == (0, 9_999, 0)


def test_each_handle_has_its_score_and_height_and_is_moved() -> None:
    model = PRESETS["by_hand"]
    page = open_page("laboratory", model=model.code)
    scores = page.select_slider(key="lab_at_handle")
    assert [int(one) for one in scores.options] == list(range(0, 101, 10))
    assert str(scores.value) == "50"
    for place, height in enumerate(model.handles):
        page.select_slider(key="lab_at_handle").set_value(10 * place).run()
        slider = page.slider(key=f"lab_at_handle_{place}")
        assert (slider.min, slider.max, slider.value) == (0, 100, height)
    page.select_slider(key="lab_at_handle").set_value(80).run()
    page.slider(key="lab_at_handle_8").set_value(90).run()
    assert model_of(page).handles == (*model.handles[:8], 90, *model.handles[9:])


@pytest.mark.parametrize("name", ["overconfident", "many_classes"])
def test_what_stands_on_the_page_is_of_its_own_model(name: str) -> None:
    model = PRESETS[name]
    page, result = open_page("laboratory", model=model.code), result_of(model)
    sentence = text_of(page)
    for text in (
        words.conclusion(result),
        words.nearest(result.calibrators, result.truth),
        words.ESTIMATES_NOTE,
        words.CALIBRATORS_NOTE,
    ):
        assert text in sentence
    tables = [table.value for table in page.table]
    for head, rows in (
        (words.ESTIMATE_HEAD, words.estimate_rows(result, None)),
        (words.CALIBRATOR_HEAD, words.calibrator_rows(result.calibrators, result.truth)),
    ):
        (table,) = (one for one in tables if tuple(one.columns) == head)
        assert [tuple(map(str, line)) for line in table.to_numpy().tolist()] == rows
    (link,) = (one for one in page.main if one.type == "link_button")
    event = "event=class&class=event" if model.classes == 2 else "event=top"
    assert link.proto.url.endswith(f"?data=laboratory&model={model.code}&method=none&{event}")
