"""Sentences of the pages of maps and of data efficiency: their numbers are the results'."""

import math

import numpy as np
import pytest

from calibcore.calibrators import CATALOGUE
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.learning import LEARNED, LearningCurve, LearningCurves, LearningPoint, Plan, Step
from calibcore.maps import Movement
from calibcore.sweeps import KnotSweep, TemperatureSweep
from dashboard.settings import NO_METHOD
from dashboard.wording import efficiency, maps
from tests.figures.made import MINUS, pct

# Maps -----------------------------------------------------------------------------------------


def moved(lowered: int, raised: int, n_rows: int = 1_000) -> Movement:
    return Movement(n_rows, lowered, raised, -0.0412, 0.0498, 0.712, 0.55)


@pytest.mark.parametrize(
    ("lowered", "raised", "what"),
    [
        (1_000, 0, "lowers nearly every score"),
        (0, 996, "raises nearly every score"),
        (830, 0, "lowers 83 of 100 scores"),
        (2, 400, "raises 40 of 100 scores"),
        (700, 300, "lowers 70 and raises 30 of 100 scores"),
    ],
)
def test_the_movement_is_told_with_its_numbers(lowered: int, raised: int, what: str) -> None:
    found = moved(lowered, raised)
    plain = maps.movement_sentence("spline", found, "test set", expert=False)
    assert plain == (
        f"Spline {what}, by 5.0 points on average; the farthest goes from {pct('71.2')} to"
        f" {pct('55.0')} (test set)."
    )
    expert = maps.movement_sentence("spline", found, "test set", expert=True)
    assert expert.startswith(plain)
    assert f"{MINUS}4.1 points" in expert


def test_what_moves_nothing_says_so() -> None:
    still = moved(0, 0)
    said = maps.movement_sentence("platt", still, "calibration set", expert=False)
    assert said == "Platt scaling leaves every score of the calibration set as it is."
    none = maps.movement_sentence(NO_METHOD, moved(5, 5), "test set", expert=True)
    assert none == "No calibrator is chosen, so every score stays as it is."
    waits = maps.movement_sentence(
        NO_METHOD, moved(5, 5), "test set", expert=False, waiting="dirichlet"
    )
    assert waits == "Dirichlet calibration is not fitted yet, so every score stays as it is."
    assert maps.no_triangle(NO_METHOD).startswith("No calibrator is chosen")
    assert maps.no_triangle(NO_METHOD, "dirichlet").startswith(
        "Dirichlet calibration is not fitted"
    )


def test_curves_that_fall_are_named() -> None:
    assert maps.falls_note([], expert=False) == ""
    one = maps.falls_note(["Spline"], expert=False)
    assert one == "Spline falls in places: there a higher score becomes a lower one."
    three = maps.falls_note(["Spline", "BBQ", "Histogram"], expert=False)
    assert three.startswith("Spline, BBQ and Histogram fall in places")
    assert "AUROC" in maps.falls_note(["Spline"], expert=True)


def test_every_method_has_a_short_name_of_its_own() -> None:
    assert set(maps.SHORT_NAMES) == {NO_METHOD, *(method.key for method in CATALOGUE)}
    assert len(set(maps.SHORT_NAMES.values())) == len(maps.SHORT_NAMES)
    assert max(map(len, maps.SHORT_NAMES.values())) <= 12


def test_rows_are_named_after_the_event() -> None:
    assert maps.row_names(TopR(1)) == ("right", "wrong")
    assert maps.row_names(OneClass(2)) == ("of this class", "of another")
    assert maps.row_names(WithinTopR(2)) == ("happened", "did not")


def at(temperature: float, nll: float, ks_error: float = 0.0123) -> TemperatureSweep:
    one = np.array([1.0])
    return TemperatureSweep(
        one * temperature, one * nll, one * 0.5, one * 0.021, one * ks_error, n_bins=15
    )


def test_the_fitted_temperature_is_explained() -> None:
    hot = maps.temperature_sentence(1.944, at(1.944, 0.2791), at(1.0, 0.3712), "test set")
    assert "chose T = 1.94, which makes every prediction less sure" in hot
    assert "on the test set the NLL goes from 0.371 to 0.279" in hot
    cold = maps.temperature_sentence(0.7, at(0.7, 0.5), at(1.0, 0.5001), "test set")
    assert "surer" in cold
    assert "stays 0.500" in cold
    assert "leaves the predictions" in maps.temperature_sentence(1.004, at(1, 1), at(1, 1), "t")


def test_the_temperature_by_hand_is_compared_with_the_fitted_one() -> None:
    said = maps.hand_sentence(2.51, at(2.51, 0.3), 1.944, 1.99, 10_000)
    assert said == (
        f"T = 2.51 is above the fitted 1.94. It gives a KS error of {pct('1.2')} and an NLL of"
        " 0.300; of all temperatures in the graph, the NLL is least near 2."
    )
    assert "is below the fitted" in maps.hand_sentence(1.0, at(1, 1), 1.944, 2, 100)


def test_the_small_table_holds_both_temperatures() -> None:
    columns = at(1.0, 0.371), at(1.944, 0.279, 0.002)
    rows = maps.temperature_rows(columns, (0.9061, None), 10_000, expert=False)
    assert {row.name: [row.by_hand, row.fitted] for row in rows} == {
        "NLL, all classes": ["0.371", "0.279"],
        "How undecided (entropy, nats)": ["0.500", "0.500"],
        "ECE, equal-width bins (15)": [pct("2.1"), pct("2.1")],
        "KS error": [pct("1.2"), pct("0.2")],
        "Accuracy": [pct("90.6"), "\u2013"],
    }
    assert maps.temperature_rows(columns, (0.9, 0.9), 10, expert=True)[1].name != rows[1].name
    assert maps.temperature_columns(1.0, 1.944) == ("By hand, T = 1", "Fitted, T = 1.94")


def test_knots_are_told_for_both_sets() -> None:
    n_knots = np.arange(3, 8)
    test = np.array([0.05, 0.03, 0.01, 0.02, 0.04])
    swept = KnotSweep(n_knots, test / 2, test, test, test)
    said = maps.knots_sentence(swept, 6, 3_000)
    assert f"With 6 knots the KS error is {pct('1.0')} on the calibration set" in said
    assert f"and {pct('2.0')} on the test set" in said
    assert f"liked 5 knots best ({pct('1.0')})" in said
    assert "No number does better on the test set" in maps.knots_sentence(swept, 5, 3_000)
    assert "all its rows" not in said
    part = maps.knots_sentence(swept, 6, 3_000, part=True)
    assert "on the calibration set, all its rows, and" in part
    assert "on the test set, the chosen rows alone." in part


# Data efficiency ------------------------------------------------------------------------------


def curve(key: str, means: dict[int, float], refused: int = 0) -> LearningCurve:
    points = []
    for size, mean in means.items():
        values = np.full((2, len(LEARNED)), math.nan)
        values[:, LEARNED.index("ece")] = mean
        points.append(LearningPoint(size, values, ("rows: too few.",) * refused))
    return LearningCurve(key, tuple(points))


def found(*curves: LearningCurve) -> LearningCurves:
    return LearningCurves(curves, Plan((50, 200, 800), n_draws=5))


NOTHING = curve(NO_METHOD, {50: 0.05, 200: 0.05, 800: 0.05})
STEADY = curve("temperature", {50: 0.03, 200: 0.021, 800: 0.02})
HUNGRY = curve("isotonic", {50: 0.09, 200: 0.02, 800: 0.01})


def test_one_that_leads_from_few_to_all() -> None:
    said = efficiency.conclusion(found(NOTHING, STEADY), "ece", 5_000)
    assert said == (
        f"With 50 calibration rows Temperature scaling has the lowest ECE ({pct('3.0')}), and again"
        f" with all 800 ({pct('2.0')}). 200 rows bring it within {pct('10')} of what all 800 do."
    )


def test_one_that_overtakes() -> None:
    said = efficiency.conclusion(found(NOTHING, STEADY, HUNGRY), "ece", 5_000)
    assert said == (
        f"With 50 calibration rows Temperature scaling has the lowest ECE ({pct('3.0')}); from 200"
        f" rows on Isotonic regression is lowest ({pct('1.0')} with all 800). More rows than these"
        " 800 may help it further."
    )
    late = curve("isotonic", {50: 0.09, 200: 0.03, 800: 0.019})
    said = efficiency.conclusion(found(NOTHING, STEADY, late), "ece", 5_000)
    assert f"; with all 800 Isotonic regression is lowest ({pct('1.9')})." in said


def test_nothing_can_be_best() -> None:
    said = efficiency.conclusion(found(NOTHING, HUNGRY), "ece", 5_000)
    assert said.startswith(
        f"With 50 calibration rows no calibrator beats doing nothing (ECE {pct('5.0')}); from 200"
        " rows on"
    )
    bad = curve("isotonic", {50: 0.09, 200: 0.08, 800: 0.07})
    said = efficiency.conclusion(found(NOTHING, bad), "ece", 5_000)
    assert said == (
        "With 50 calibration rows no calibrator beats doing nothing, nor with all 800"
        f" (ECE {pct('5.0')})."
    )
    luck = curve("isotonic", {50: 0.04, 200: 0.08, 800: 0.07})
    said = efficiency.conclusion(found(NOTHING, luck), "ece", 5_000)
    assert said.endswith(f"; from 200 rows on no calibrator beats doing nothing ({pct('5.0')}).")


def test_what_is_half_done_is_told_as_far_as_it_goes() -> None:
    part = curve("temperature", {50: 0.03})
    alone = LearningCurves((part,), Plan((50, 200)))
    said = efficiency.conclusion(alone, "ece", 100)
    assert (
        said == f"With 50 calibration rows Temperature scaling has the lowest ECE ({pct('3.0')})."
    )
    assert efficiency.conclusion(LearningCurves((), Plan((50,))), "ece", 100) == (
        "No calibrator could be judged by ECE."
    )


def test_the_table_of_needs() -> None:
    curves = found(NOTHING, STEADY, LearningCurve("beta", ()))
    rows = efficiency.need_rows(curves, "ece", 5_000)
    assert [tuple(row) for row in rows] == [
        ("Do nothing", pct("5.0"), pct("5.0"), "\u2013"),
        ("Temperature scaling", pct("3.0"), pct("2.0"), "200"),
    ]
    assert efficiency.need_heads(curves) == ("Calibrator", "50 rows", "All 800", "Enough")


def test_what_is_left_out_is_said() -> None:
    curves = found(NOTHING, curve("spline", {50: 0.05}, refused=3))
    assert efficiency.missing_note(found(NOTHING, STEADY), "ece") == ""
    said = efficiency.missing_note(curves, "ece")
    assert said == "Spline could not be fitted on 3 draws and is left out there (rows: too few)."
    assert "Spline: NLL, all classes is not defined" in efficiency.missing_note(
        found(curve("spline", {50: 0.05})), "nll"
    )
    assert efficiency.comparable_nll(curves) == "event_nll"


def test_work_is_told_step_by_step() -> None:
    step = Step("temperature", 1_100, 3, 10, 0.4)
    assert efficiency.step_words(step) == "Temperature scaling, 1,100 rows, draw 3 of 10"
    whole = Step("temperature", 5_000, 1, 1, 0.9)
    assert efficiency.step_words(whole) == "Temperature scaling, 5,000 rows"
    caption = efficiency.caption(found(STEADY), "accuracy")
    assert "higher is better" in caption
    assert "Mean over 5 draws" in caption
    note = efficiency.draws_note(found(STEADY), expert=False)
    assert "5 draws" in note
    assert "seed 0" in note
    assert "confidence interval" in efficiency.draws_note(found(STEADY), expert=True)
