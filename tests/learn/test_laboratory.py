"""The laboratory: what its address stands for, what it draws, and the truth beside it."""

import math
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.data import LogitSet
from calibcore.metrics import METRICS
from dashboard.compute.learn import FILE, file_of, source_of
from dashboard.figures import LIGHT
from dashboard.learn import lab_pictures
from dashboard.learn.laboratory import (
    CLASSES,
    LIMITS,
    N_DRAWS,
    N_HANDLES,
    PRESETS,
    REDRAWN,
    ROWS,
    LaboratoryModel,
    chosen_of,
    drawn_of,
    preset_of,
    redraws_of,
    result_of,
)
from dashboard.learn.lesson import LessonPicture
from dashboard.readers import read
from dashboard.texts import laboratory as words


def numbers() -> dict[str, st.SearchStrategy[int]]:
    return {name: st.integers(low, high) for name, (low, high) in LIMITS.items()}


@st.composite
def models(draw: st.DrawFn) -> LaboratoryModel:
    values = {name: draw(strategy) for name, strategy in numbers().items()}
    form = draw(st.sampled_from(["curve", "hand", "zhang"]))
    kept = {
        "curve": ("sharpness", "rate", "groups", "slope", "shift", "wave"),
        "hand": ("sharpness", "rate", "groups"),
        "zhang": ("beta0", "beta1"),
    }[form]
    own = {name: values[name] for name in (*kept, "seed", "draw")}
    model = LaboratoryModel(form=form, rows=draw(st.sampled_from(ROWS)), **own)  # type: ignore[arg-type]
    if form == "zhang":
        return model
    handles = draw(st.lists(st.integers(0, 100), min_size=N_HANDLES, max_size=N_HANDLES))
    return LaboratoryModel(
        **vars(model)
        | {"classes": draw(st.sampled_from(CLASSES))}
        | ({"handles": tuple(handles)} if form == "hand" else {})
    )


@given(models())
def test_a_code_stands_for_its_model(model: LaboratoryModel) -> None:
    assert chosen_of(model.code) == model
    assert model.model.truth().rate == pytest.approx(model.model.rate)


@given(st.text(max_size=60))
def test_other_texts_stand_for_none(text: str) -> None:
    result = chosen_of(text)
    assert result is None or result.code == text


WRONG = """
c
c.2.50.50.0.50.0.0.2000.0
c.2.50.50.0.50.0.0.2001.0.1
c.4.50.50.0.50.0.0.50.0.1
c.2.50.50.0.9.0.0.50.0.1
h.2.50.50.0.1-2-3.50.0.1
h.2.50.50.0.0-5-12-22-35-50-65-70-60-75-101.50.0.1
z.5.0.50.0.1
"""


@pytest.mark.parametrize("code", [*WRONG.split("\n"), "c." + "9." * 400 + "1"])
def test_numbers_out_of_range_stand_for_none(code: str) -> None:
    assert chosen_of(code) is None
    assert source_of(code) is None


@pytest.mark.parametrize("name", PRESETS)
def test_each_model_has_a_name_whatever_is_drawn(name: str) -> None:
    model = PRESETS[name]
    assert preset_of(LaboratoryModel(**vars(model) | {"seed": 9, "draw": 4, "rows": 50})) == name
    assert words.PRESETS[name] in words.sample(model).title
    if model.classes > 2:
        assert words.PRESETS[name].endswith(f", {model.classes} classes")


@pytest.mark.parametrize("name", PRESETS)
def test_the_file_holds_the_drawn_rows(name: str) -> None:
    model = LaboratoryModel(**vars(PRESETS[name]) | {"rows": 200})
    upload = read(FILE, file_of(model))
    split = upload.split()
    for which, rows in enumerate((split.calibration, split.test)):
        drawn = drawn_of(model, which)
        assert isinstance(rows, LogitSet)
        assert np.allclose(rows.probabilities, drawn.rows.probabilities, atol=1e-12)
        assert np.array_equal(rows.labels, drawn.rows.labels)


def test_both_sets_are_drawn_by_themselves() -> None:
    calibration, test = (drawn_of(LaboratoryModel(), which).event.scores for which in (0, 1))
    assert not np.array_equal(calibration, test)
    again = drawn_of(LaboratoryModel(draw=2), 1).event.scores
    assert not np.array_equal(test, again)


def test_the_conclusion_says_whether_it_is_right() -> None:
    miscalibrated = words.conclusion(result_of(LaboratoryModel(rows=20_000)))
    assert "Miscalibration detected" in miscalibrated
    assert "rows detect it" in miscalibrated
    few = words.conclusion(result_of(LaboratoryModel(slope=95, rows=50)))
    assert "rows do not detect it" in few
    told = [
        words.conclusion(result_of(LaboratoryModel(slope=100, rows=200, seed=k))) for k in range(60)
    ]
    alarms = sum("a false alarm" in one for one in told)
    assert all("perfectly calibrated" in one for one in told)
    assert 0 < alarms <= 8  # of 60 at 5%


def test_redraws_spread_round_these_rows_and_the_truth() -> None:
    model = LaboratoryModel()
    many, result = redraws_of(model), result_of(model)
    assert many.values.shape == (N_DRAWS, len(REDRAWN))
    assert many.of("ks_error")[0] == pytest.approx(result.values["ks_error"][0])
    assert abs(many.bias[many.keys.index("mean_gap")]) < 0.003


def test_each_line_of_the_spread_is_that_of_its_measure() -> None:
    model = LaboratoryModel()
    many, result = redraws_of(model), result_of(model)
    figure = lab_pictures.spread(many, result, LIGHT).figure
    thin, thick, aims, own = figure.data
    names = figure.layout.yaxis.ticktext
    assert (names[-1], names[-2]) == ("Mean score minus frequency", "KS error")
    for place, name in enumerate(names):
        key = next(one.key for one in METRICS if one.name == name)
        for line, ends in ((thin, [0.025, 0.975]), (thick, [0.25, 0.75])):
            drawn = line.x[3 * place : 3 * place + 3]
            assert list(drawn[:2]) == pytest.approx(np.quantile(many.of(key), ends))
            assert math.isnan(drawn[2])
            assert set(line.y[3 * place : 3 * place + 2]) == {place}
        assert (own.x[place], aims.x[place]) == result.values[key]


def true_lines(picture: LessonPicture) -> list[Any]:
    lines = [trace for trace in picture.figure.data if trace.name == "truth"]
    assert all((one.line.dash, one.line.color) == ("solid", LIGHT.text) for one in lines)
    assert {one.line.width for one in lines} == {5}
    scatter = [one for one in picture.figure.data if one.type == "scatter" and one.name != "truth"]
    assert all((one.line.width or 0) < 5 for one in scatter)
    return lines


@pytest.mark.parametrize("name", PRESETS)
def test_pictures_draw_the_truth_as_the_strongest_line(name: str) -> None:
    model = PRESETS[name]
    result = result_of(model)
    drawn = [
        lab_pictures.diagram(result, model, LIGHT),
        lab_pictures.gap(result, LIGHT),
        lab_pictures.maps(result, ["spline", "isotonic"], LIGHT),
    ]
    for one in drawn:
        assert len(true_lines(one)) == 1
        assert one.text.endswith(".")
    curve = true_lines(drawn[0])[0]
    assert np.allclose(curve.y, result.truth.curve(np.array(curve.x)))


def test_the_slope_and_the_shift_of_the_sliders_are_estimated() -> None:
    """With a slope alone, or a shift alone, the truths in the table are where the sliders stand."""
    steep = result_of(LaboratoryModel(slope=50)).values["calibration_slope"]
    assert steep[1] == pytest.approx(0.5, abs=1e-6)
    assert steep[0] == pytest.approx(0.5, abs=0.1)
    moved = result_of(LaboratoryModel(slope=100, shift=-8)).values["calibration_intercept"]
    assert moved[1] == pytest.approx(-0.8, abs=1e-6)
    assert moved[0] == pytest.approx(-0.8, abs=0.15)


def test_groups_differ_by_what_their_slider_says() -> None:
    label, scale = words.NUMBERS["groups"]
    chosen = LaboratoryModel(slope=100, groups=7)
    low, high = (chosen.model.frequency([0.5], [group])[0] for group in (0, 1))
    apart = math.log(high / (1 - high)) - math.log(low / (1 - low))
    assert label == "Groups differ by"
    assert chosen.groups / scale == pytest.approx(apart, abs=1e-3)


def test_what_is_kept_of_a_class_is_of_bounded_memory() -> None:
    chosen = replace(PRESETS["overconfident"], rows=ROWS[-1], seed=9_998)
    tracemalloc.start()
    result = result_of(chosen)
    words.calibrator_rows(result.calibrators, result.truth)
    words.estimate_rows(result, None)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    most = result_of.cache_info().maxsize
    assert most is not None
    assert size * most < 400e6
