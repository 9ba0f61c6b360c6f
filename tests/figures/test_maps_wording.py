"""Sentences of the pages of maps and of data efficiency: their numbers are the results'."""

import math

import numpy as np
import pytest

from calibcore.calibrators import CATALOGUE
from calibcore.curves import KnotSweep, Movement, TemperatureSweep
from calibcore.data_needed import LEARNED, LearningCurve, LearningCurves, LearningPoint, Plan, Step
from calibcore.events import OneClass, TopR, WithinTopR
from dashboard.settings import NO_METHOD
from dashboard.texts.glossary import SHORT_NAMES
from dashboard.views.data_needed import words as efficiency
from dashboard.views.maps import words as maps
from tests.figures.made import MINUS, pct

# Maps -----------------------------------------------------------------------------------------

ECE = "ECE (binned calibration error)"
"""As headlines call it."""


def moved(lowered: int, raised: int, n_rows: int = 1_000) -> Movement:
    return Movement(n_rows, lowered, raised, -0.0412, 0.0498, 0.712, 0.55)


@pytest.mark.parametrize(
    ("lowered", "raised", "what"),
    [
        (1_000, 0, "lowers nearly all scores"),
        (0, 996, "raises nearly all scores"),
        (830, 0, "lowers 83% of scores"),
        (2, 400, "raises 40% of scores"),
        (700, 300, "lowers 70% and raises 30% of scores"),
    ],
)
def test_the_movement_is_told_with_its_numbers(lowered: int, raised: int, what: str) -> None:
    found = moved(lowered, raised)
    plain = maps.movement_sentence("spline", found, "test set", expert=False)
    assert plain == (
        f"Spline {what}, by 5.0 percentage points on average. Largest change: {pct('71.2')}"
        f" \u2192 {pct('55.0')}."
    )
    expert = maps.movement_sentence("spline", found, "test set", expert=True)
    assert expert.startswith(plain)
    assert expert.endswith(f" Mean change: {MINUS}4.1 percentage points.")


def test_what_moves_nothing_says_so() -> None:
    still = moved(0, 0)
    said = maps.movement_sentence("platt", still, "calibration set", expert=False)
    assert said == "Platt scaling leaves all scores of the calibration set unchanged."
    none = maps.movement_sentence(NO_METHOD, moved(5, 5), "test set", expert=True)
    assert none == "Uncalibrated: scores are unchanged."
    waits = maps.movement_sentence(
        NO_METHOD, moved(5, 5), "test set", expert=False, waiting="dirichlet"
    )
    assert waits == "Dirichlet calibration is not fitted yet, so scores are unchanged."
    assert maps.no_triangle(NO_METHOD).startswith("Uncalibrated scores have no arrows.")
    assert maps.no_triangle(NO_METHOD, "dirichlet").startswith(
        "Dirichlet calibration is not fitted"
    )


def test_curves_that_fall_are_named() -> None:
    assert maps.falls_note([], expert=False) == ""
    one = maps.falls_note(["Spline"], expert=False)
    assert one == "Not monotone (Spline): some higher scores end up below lower ones."
    three = maps.falls_note(["Spline", "BBQ", "Histogram"], expert=False)
    assert three.startswith("Not monotone (Spline, BBQ and Histogram): ")
    assert "AUROC" in maps.falls_note(["Spline"], expert=True)


def test_every_method_has_a_short_name_of_its_own() -> None:
    assert set(SHORT_NAMES) == {NO_METHOD, *(method.key for method in CATALOGUE)}
    assert len(set(SHORT_NAMES.values())) == len(SHORT_NAMES)
    assert max(map(len, SHORT_NAMES.values())) <= 12


def test_rows_are_named_after_the_event() -> None:
    assert maps.row_names(TopR(1)) == maps.row_names(TopR(2)) == ("correct", "wrong")
    assert maps.row_names(OneClass(2)) == ("of this class", "of another")
    assert maps.row_names(WithinTopR(2)) == ("in the set", "not in the set")


def at(temperature: float, nll: float, ks_error: float = 0.0123) -> TemperatureSweep:
    one = np.array([1.0])
    return TemperatureSweep(
        one * temperature, one * nll, one * 0.5, one * 0.021, one * ks_error, n_bins=15
    )


def test_the_fitted_temperature_is_explained() -> None:
    hot = maps.temperature_sentence(1.944, 1.99, "test set")
    assert hot == (
        "Fitted T = 1.94 makes predictions less confident. On the test set, NLL is lowest near"
        " T = 2."
    )
    cold = maps.temperature_sentence(0.7, 0.8, "test set")
    assert cold.startswith("Fitted T = 0.7 makes predictions more confident. ")
    assert "predictions stay as they are" in maps.temperature_sentence(1.004, 1.0, "test set")
    assert maps.entropy_sentence(None) == ""
    assert maps.entropy_sentence(0.2595) == (
        "On the calibration set, mean entropy and NLL are equal at the fitted T: 0.260 nats"
        " (Guo 2017, S2). The fit by log loss ends where they meet."
    )


def test_the_small_table_holds_both_temperatures() -> None:
    columns = at(1.0, 0.371), at(1.944, 0.279, 0.002)
    rows = maps.temperature_rows(columns, (0.9061, None), 10_000)
    assert {row.name: [cell.shown for cell in row.cells] for row in rows} == {
        "NLL, all classes": ["0.371", "0.279"],
        maps.MEAN_ENTROPY: ["0.500", "0.500"],
        "ECE, equal-width bins (15)": [pct("2.1"), pct("2.1")],
        "KS error": [pct("1.2"), pct("0.2")],
        "Accuracy": [pct("90.6"), "\u2013"],
    }
    assert maps.temperature_columns(1.0, 1.944) == ("Manual, T = 1", "Fitted, T = 1.94")


def test_knots_are_told_for_both_sets() -> None:
    n_knots = np.arange(3, 8)
    test = np.array([0.05, 0.03, 0.01, 0.02, 0.04])
    swept = KnotSweep(n_knots, test / 2, test, test, test)
    said = maps.knots_sentence(swept, 6, 3_000)
    assert said == (
        f"KS error with 6 knots: {pct('1.0')} on the calibration set, {pct('2.0')} on the test set."
        f" 5 knots would fit the test set best ({pct('1.0')}), but the choice must not use the test"
        " set."
    )
    assert maps.knots_sentence(swept, 5, 3_000).endswith(
        "No other number fits the test set better."
    )
    part = maps.knots_sentence(swept, 6, 3_000, part=True)
    assert "on the calibration set (all rows)," in part
    assert "on the test set (filtered)." in part


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
        f"Temperature scaling has the lowest {ECE} at every size shown: {pct('3.0')} with 50"
        f" calibration rows, {pct('2.0')} with 800. About 150 rows (95% CI 150\u2013150) keep"
        " 90% of its gain over uncalibrated scores; the calibration set has 800."
    )
    dip = curve("beta", {50: 0.09, 200: 0.01, 800: 0.03})
    said = efficiency.conclusion(found(NOTHING, STEADY, dip), "ece", 5_000)
    assert said.startswith(f"Temperature scaling has the lowest {ECE} at both ends: ")


def test_one_that_overtakes() -> None:
    said = efficiency.conclusion(found(NOTHING, STEADY, HUNGRY), "ece", 5_000)
    assert said == (
        f"Lowest {ECE}: Temperature scaling with 50 calibration rows ({pct('3.0')}), Isotonic"
        f" regression of the event from 200 rows on ({pct('1.0')} with 800). More than 800"
        " rows may still help."
    )
    late = curve("isotonic", {50: 0.09, 200: 0.03, 800: 0.019})
    said = efficiency.conclusion(found(NOTHING, STEADY, late), "ece", 5_000)
    assert f", Isotonic regression of the event with 800 rows ({pct('1.9')})." in said


def test_uncalibrated_scores_can_be_best() -> None:
    said = efficiency.conclusion(found(NOTHING, HUNGRY), "ece", 5_000)
    assert said.startswith(
        f"Lowest {ECE}: Uncalibrated with 50 calibration rows ({pct('5.0')}), Isotonic"
        " regression of the event from 200 rows on"
    )
    bad = curve("isotonic", {50: 0.09, 200: 0.08, 800: 0.07})
    said = efficiency.conclusion(found(NOTHING, bad), "ece", 5_000)
    assert said == (
        f"No calibrator beats uncalibrated scores: {ECE} {pct('5.0')} with 50 calibration rows,"
        f" {pct('5.0')} with 800."
    )
    luck = curve("isotonic", {50: 0.04, 200: 0.08, 800: 0.07})
    said = efficiency.conclusion(found(NOTHING, luck), "ece", 5_000)
    assert said.endswith(f", Uncalibrated from 200 rows on ({pct('5.0')} with 800).")
    middle = curve("isotonic", {50: 0.09, 200: 0.01, 800: 0.07})
    said = efficiency.conclusion(found(NOTHING, middle), "ece", 5_000)
    assert said.startswith(f"Uncalibrated scores have the lowest {ECE} at both ends: ")


def test_what_is_half_done_is_told_as_far_as_it_goes() -> None:
    part = curve("temperature", {50: 0.03})
    alone = LearningCurves((part,), Plan((50, 200)))
    said = efficiency.conclusion(alone, "ece", 100)
    assert said == f"Lowest {ECE}: Temperature scaling ({pct('3.0')} with 50 calibration rows)."
    assert efficiency.conclusion(LearningCurves((), Plan((50,))), "ece", 100) == (
        "ECE is not available for these calibrators."
    )


def test_the_table_of_needs() -> None:
    bad = curve("isotonic", {50: 0.09, 200: 0.08, 800: 0.07})
    curves = found(NOTHING, STEADY, LearningCurve("beta", ()), bad)
    rows = efficiency.need_rows(curves, "ece", 5_000)
    # Gains 2, 2.9 and 3 points: 2.7 at 50 * 4 ** (7 / 9) = 147 rows; the draws do not differ.
    assert [tuple(row) for row in rows] == [
        ("Uncalibrated", pct("5.0"), pct("5.0"), "\u2013"),
        ("Temperature scaling", pct("3.0"), pct("2.0"), "150 (150\u2013150)"),
        ("Isotonic regression of the event", pct("9.0"), pct("7.0"), "no gain"),
    ]
    assert efficiency.rounded(3_724.0) == "3,700"
    assert efficiency.need_heads(curves) == ("Calibrator", "50 rows", "All 800", "Rows needed")


def test_what_is_left_out_is_said() -> None:
    curves = found(NOTHING, curve("spline", {50: 0.05}, refused=3))
    assert efficiency.missing_note(found(NOTHING, STEADY), "ece") == ""
    said = efficiency.missing_note(curves, "ece")
    assert said == "Spline could not be fitted on 3 subsamples (rows: too few)."
    assert (
        f"Spline: {efficiency.measure_name('nll')} after calibration not available"
        in efficiency.missing_note(found(curve("spline", {50: 0.05})), "nll")
    )
    assert efficiency.comparable_nll(curves) == "event_nll"


def test_work_is_told_step_by_step() -> None:
    step = Step("temperature", 1_100, 3, 10, 0.4)
    assert efficiency.step_words(step) == "Temperature scaling, 1,100 rows, subsample 3 of 10"
    whole = Step("temperature", 5_000, 1, 1, 0.9)
    assert efficiency.step_words(whole) == "Temperature scaling, 5,000 rows"
    assert efficiency.caption("accuracy") == "Higher is better."
    assert efficiency.caption("ece") == "Lower is better."
    assert efficiency.marks_note(found(STEADY)).startswith("Mean of 5 stratified subsamples")
    note = efficiency.draws_note(found(STEADY))
    assert "seed 0" in note
    assert "not a confidence interval" in note
