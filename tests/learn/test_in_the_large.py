"""Calibration in the large, intercept and slope, against slow fits and closed forms."""

import io
import math

import numpy as np
import pytest

from dashboard.compute.learn import file_of
from dashboard.learn.laboratory import chosen_of, drawn_of
from dashboard.learn.lesson import LessonView, State, start_of
from dashboard.learn.lessons.in_the_large import (
    AT,
    LESSON,
    N_ROWS,
    QUESTION_SLOPE,
    SHIFTS,
    SLOPES,
    find,
    model_of,
)
from tests.reference_measures import fitted_intercept, log_odds, sigmoid, slope_off


def state(slope: str = QUESTION_SLOPE, shift: str = "0", **more: object) -> State:
    return start_of(LESSON, chosen={"slope": slope, "shift": shift}, **more)


def view_of(slope: str = QUESTION_SLOPE, shift: str = "0", **more: object) -> LessonView:
    return LESSON.show(state(slope, shift, **more))


@pytest.mark.parametrize(("slope", "shift"), [("0.6", "0"), ("1", "-1"), ("1.6", "0.5")])
def test_what_is_reported_is_that_of_slow_code(slope: str, shift: str) -> None:
    result = find(state(slope, shift))
    scores, hits = result.event.scores.tolist(), result.event.hits.tolist()
    assert result.ratio == pytest.approx(sum(hits) / math.fsum(scores))
    odds = log_odds(scores)
    assert result.intercept == pytest.approx(fitted_intercept(odds, hits, 1.0), abs=1e-6)
    assert abs(slope_off(scores, hits, result.slope)) < 1e-5


def test_at_no_shift_the_total_is_right_and_the_slope_is_not() -> None:
    for slope in ("0.4", "0.6", "1.6"):
        truth = model_of(state(slope)).model.truth()
        assert truth.measure("observed_expected_ratio") == pytest.approx(1, abs=1e-9)
        assert truth.measure("calibration_slope") == pytest.approx(float(slope), abs=1e-3)
    ratios = [find(state(seed=seed)).ratio for seed in range(20)]
    slopes = [find(state(seed=seed)).slope for seed in range(20)]
    assert max(abs(one - 1) for one in ratios) < 0.08
    assert max(abs(one - 0.6) for one in slopes) < 0.15


def test_the_answer_is_a_closed_form() -> None:
    text = view_of()
    low, high = (sigmoid(float(QUESTION_SLOPE) * x) for x in log_odds(AT))
    assert text.right == "high"
    assert f"at a score of 90.0% the true risk is {100 * high:.1f}%" in text.answer
    assert f"at 10.0% it is {100 * low:.1f}%" in text.answer
    assert high < 0.9
    assert low > 0.1


@pytest.mark.parametrize(
    ("shift", "words"), [("-1", "too many events"), ("1", "too few events"), ("0", "as many")]
)
def test_the_sentence_says_which_way_the_total_is_off(shift: str, words: str) -> None:
    assert f"add up to {words}" in view_of("1", shift).sentence


@pytest.mark.parametrize(
    ("slope", "words"), [("0.4", "too extreme"), ("1.6", "not extreme enough")]
)
def test_the_sentence_says_which_way_the_slope_is_off(slope: str, words: str) -> None:
    assert view_of(slope).sentence.endswith(f"{words}.")


def test_the_link_opens_the_very_same_patients() -> None:
    here = state(seed=5, seat=2, draws=3)
    chosen = chosen_of(LESSON.link(here).query["model"])
    assert chosen is not None
    labels = np.load(io.BytesIO(file_of(chosen)))["labels_test"]
    assert (labels.size, labels.sum()) == (N_ROWS, find(here).n_events)
    assert drawn_of(chosen, 1).event.hits.sum() == labels.sum()


def test_both_controls_move_the_outcomes_and_no_score() -> None:
    scores = find(state("1")).event.scores
    for slope, shift in (("0.4", "0"), ("1", "-1"), ("1.6", "1")):
        assert (find(state(slope, shift)).event.scores == scores).all()
    observed = [find(state("1", shift)).n_events for shift in SHIFTS]
    assert observed == sorted(set(observed))


@pytest.mark.parametrize("shift", SHIFTS)
def test_at_a_true_slope_of_1_the_intercept_is_the_shift(shift: str) -> None:
    estimates = [find(state("1", shift, seed=seed)).intercept for seed in range(20)]
    assert np.mean(estimates) == pytest.approx(float(shift), abs=0.05)


@pytest.mark.parametrize("slope", SLOPES)
@pytest.mark.parametrize("shift", SHIFTS)
def test_the_smoothed_curve_is_near_the_truth_but_for_luck(slope: str, shift: str) -> None:
    errors = []
    for seed in range(8):
        result = find(state(slope, shift, seed=seed))
        scores, frequency = result.curve
        true = np.array(
            [sigmoid(float(slope) * x + float(shift)) for x in log_odds(scores.tolist())]
        )
        errors.append(frequency - true)
    assert np.abs(np.mean(errors, axis=0)).max() < 0.05
    assert np.abs(errors).mean() < 0.03


def test_the_smoothed_curve_agrees_with_the_bars_beside_it() -> None:
    """At a slope of 1.6 and a shift of 1, 94% of the highest fifth had the event."""
    for shift, fifth in (("1", 4), ("-1", 0)):
        result = find(state("1.6", shift))
        scores, hits = result.event.scores, result.event.hits
        rows = np.array_split(np.argsort(scores, kind="stable"), 5)[fifth]
        smoothed = np.interp(scores[rows], *result.curve).mean()
        assert smoothed == pytest.approx(float(hits[rows].mean()), abs=0.02)
