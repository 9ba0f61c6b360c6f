"""Another hospital: Bayes' rule, and what an offset does, over many draws."""

import math

import numpy as np
import pytest

from dashboard.learn.lesson import LessonView, State, start_of
from dashboard.learn.lessons.transport import (
    LESSON,
    N_ROWS,
    QUESTION_RATE,
    RATES,
    SCORE,
    Hospital,
    find,
    offset_of,
)

SEEDS = range(12)


def state(rate: str = QUESTION_RATE, stage: str = "before", **more: object) -> State:
    return start_of(LESSON, chosen={"rate": rate, "stage": stage}, **more)


def view_of(rate: str = QUESTION_RATE, stage: str = "before", **more: object) -> LessonView:
    return LESSON.show(state(rate, stage, **more))


def bayes(score: float, here: float, there: float) -> float:
    """The risk at another prevalence, by densities of the score among ill and well patients."""
    ill, well = score / here * there, (1 - score) / (1 - here) * (1 - there)
    return ill / (ill + well)


@pytest.mark.parametrize("rate", RATES)
def test_hospital_b_has_as_many_events_as_is_said(rate: str) -> None:
    result = find(state(rate))
    assert result.before.event.n_samples == N_ROWS
    assert result.before.frequency == int(rate) / 100
    assert result.after.frequency == result.before.frequency


@pytest.mark.parametrize("rate", RATES)
def test_the_true_offset_is_bayes_rule(rate: str) -> None:
    odds = math.exp(offset_of(int(rate) / 100))
    for score in (0.1, 0.5, 0.8):
        true = bayes(score, 0.5, int(rate) / 100)
        assert true / (1 - true) == pytest.approx(score / (1 - score) * odds)


def test_the_answer_is_bayes_rule() -> None:
    true = bayes(SCORE / 100, 0.5, int(QUESTION_RATE) / 100)
    assert true / (1 - true) == pytest.approx(4 / 9)
    assert view_of().answer.replace("\u00a0", " ") == (
        f"{100 * true:.1f}%: odds of the event are 1 : 1 in A and 1 : 9 in B, so 4 : 1"
        " becomes 4 : 9"
    )


def test_no_patient_is_in_both_hospitals_or_in_the_fit() -> None:
    result = find(state())
    assert not set(result.home.event.scores) & set(result.before.event.scores)


def concordant(one: Hospital) -> float:
    """The AUROC by ranks."""
    order = np.argsort(one.event.scores, kind="stable")
    ranks = np.empty(order.size)
    ranks[order] = np.arange(1, order.size + 1)
    ill = one.event.hits == 1
    n, m = int(ill.sum()), int((~ill).sum())
    return float((ranks[ill].sum() - n * (n + 1) / 2) / (n * m))


def test_an_offset_corrects_what_the_prevalence_does_and_the_order_stays() -> None:
    drawn = [find(state(seed=seed)) for seed in SEEDS]
    for one in drawn:
        assert one.before.ratio < 0.35
        assert one.after.ratio == pytest.approx(1, abs=0.35)
        assert one.after.ks_error < 0.2 * one.before.ks_error
        assert one.after.auroc == pytest.approx(one.before.auroc, abs=1e-9)
        assert one.before.auroc == pytest.approx(concordant(one.before), abs=1e-6)
        assert one.offset == pytest.approx(one.true_offset, abs=0.55)
    difference = np.mean([one.before.auroc - one.home.auroc for one in drawn])
    assert abs(difference) < 0.01
    assert np.mean([one.offset for one in drawn]) == pytest.approx(offset_of(0.1), abs=0.15)


def test_the_sentence_holds_what_was_found() -> None:
    result, text = find(state()), view_of()
    assert f"O/E = {result.before.ratio:.2f}" in text.sentence
    assert f"brings O/E to **{result.after.ratio:.2f}**" in text.sentence
    assert "nothing changes" in view_of("50").sentence
    assert offset_of(0.5) == 0
    # The true curve is drawn before the offset alone.
    before, after = (view_of(stage=stage).pictures[1].figure for stage in ("before", "after"))
    assert len(before.data) == 1 + len(after.data)


def test_hospital_b_is_not_shown_before() -> None:
    before = view_of(revealed=False)
    assert [one.name for one in before.pictures] == ["home"]
