"""Acting on a score."""

import io
import json
import math
from functools import cache

import numpy as np
import pytest

from calibcore.calibrators import PlattScaling
from dashboard.compute.learn import file_of
from dashboard.figures import LIGHT
from dashboard.figures.plotly_json import LightFigure
from dashboard.learn import data
from dashboard.learn.laboratory import chosen_of, drawn_of
from dashboard.learn.lesson import LessonView, State, start_of
from dashboard.learn.lessons.acting import (
    CUTOFFS,
    KEY,
    LESSON,
    MODEL,
    N_ROWS,
    RATIOS,
    Result,
    find,
    true_difference,
)
from tests.reference_measures import sigmoid

SEEDS = range(20)

every_ratio = pytest.mark.parametrize("ratio", RATIOS)


def state(ratio: int = 9, stage: str = "after", **more: object) -> State:
    return start_of(LESSON, chosen={"ratio": str(ratio), "stage": stage}, **more)


def view_of(ratio: int = 9, stage: str = "after", **more: object) -> LessonView:
    return LESSON.show(state(ratio, stage, **more))


@cache
def result_of(ratio: int, seed: int = 0) -> Result:
    return find(state(ratio, seed=seed), ratio)


@cache
def rows(seed: int = 0) -> tuple[list[float], list[float], list[int]]:
    """Scores before and after, and outcomes, of the test rows."""
    chosen = data.in_laboratory(MODEL, state(seed=seed), KEY)
    fit, test = drawn_of(chosen, 0).event, drawn_of(chosen, 1).event
    fitted = PlattScaling().fit(fit.scores, fit.hits)
    after = fitted.predict(test.scores)
    return test.scores.tolist(), after.tolist(), [int(hit) for hit in test.hits]


def costs_of(scores: list[float], hits: list[int], cutoff: float, ratio: int) -> list[int]:
    """What each patient costs."""
    pairs = zip(scores, hits, strict=True)
    return [ratio * hit if score < cutoff else 1 - hit for score, hit in pairs]


def least_cost(scores: list[float], hits: list[int], ratio: int) -> float:
    """The least cost per 1,000 of any cut-off: one patient after another is left out."""
    cost = least = hits.count(0)
    for _, hit in sorted(zip(scores, hits, strict=True)):  # no two scores are equal
        cost += ratio * hit - (1 - hit)
        least = min(least, cost)
    return 1000 * least / len(hits)


@every_ratio
def test_costs_are_those_of_a_loop_over_the_patients(ratio: int) -> None:
    before, after, hits = rows()
    here, cutoff, means = result_of(ratio), 1 / (1 + ratio), []
    for one, scores in ((here.before, before), (here.after, after)):
        costs = costs_of(scores, hits, cutoff, ratio)
        means.append(math.fsum(costs) / N_ROWS)
        assert one.at.cutoff == cutoff
        assert one.cost == pytest.approx(1000 * means[-1])
        assert one.least == pytest.approx(least_cost(scores, hits, ratio))
        at_best = math.fsum(costs_of(scores, hits, one.best, ratio))
        assert one.least == pytest.approx(1000 * at_best / N_ROWS)
        for k in (0, 30, 98):
            cost = math.fsum(costs_of(scores, hits, float(CUTOFFS[k]), ratio))
            assert one.costs[k] == pytest.approx(1000 * cost / N_ROWS)
    assert here.more == pytest.approx(1000 * (means[0] - means[1]))
    assert here.every == pytest.approx(1000 * hits.count(0) / N_ROWS)
    assert here.none == pytest.approx(1000 * ratio * hits.count(1) / N_ROWS)


@every_ratio
def test_the_interval_is_that_of_patients_drawn_again(ratio: int) -> None:
    before, after, hits = rows()
    cutoff, rng = 1 / (1 + ratio), np.random.default_rng(1)
    both = (np.array(costs_of(scores, hits, cutoff, ratio)) for scores in (before, after))
    of_each = 1000 * np.subtract(*both)
    again = [rng.choice(of_each, N_ROWS).mean() for _ in range(2_000)]
    low, high = np.quantile(again, [0.025, 0.975])
    here = result_of(ratio)
    width = here.high - here.low
    assert here.low == pytest.approx(low, abs=0.08 * width)
    assert here.high == pytest.approx(high, abs=0.08 * width)


def test_intervals_hold_the_truth() -> None:
    held = [
        result_of(ratio, seed).low <= true_difference(ratio) <= result_of(ratio, seed).high
        for seed in SEEDS
        for ratio in RATIOS
    ]
    assert np.mean(held) > 0.85  # 95% expected; the ratios of a seed share their patients


@every_ratio
def test_the_true_difference_is_that_of_an_integral(ratio: int) -> None:
    places = [k / 500 for k in range(-3000, 3001)]
    weights = [math.exp(-x * x / 2) for x in places]
    total = math.fsum(weights)
    low, high = -20.0, 20.0  # of the centre at which one patient in ten comes back
    for _ in range(40):
        middle = (low + high) / 2
        risks = (sigmoid(middle + 1.5 * x - 1.2) for x in places)
        rate = math.fsum(w * risk for w, risk in zip(weights, risks, strict=True)) / total
        low, high = (middle, high) if rate < 0.1 else (low, middle)
    cutoff, more = 1 / (1 + ratio), []
    for weight, x in zip(weights, places, strict=True):
        score, risk = sigmoid(low + 1.5 * x), sigmoid(low + 1.5 * x - 1.2)
        by_score = 1 - risk if score >= cutoff else ratio * risk
        by_risk = 1 - risk if risk >= cutoff else ratio * risk
        more.append(weight * (by_score - by_risk))
    assert true_difference(ratio) == pytest.approx(1000 * math.fsum(more) / total, abs=1)


@every_ratio
def test_no_cutoff_is_better_than_that_of_the_costs_for_true_risks(ratio: int) -> None:
    risks = MODEL.model.truth().frequency[::50]

    def cost(cutoff: float) -> float:
        return float(np.where(risks >= cutoff, 1 - risks, ratio * risks).sum())

    assert cost(1 / (1 + ratio)) <= min(cost(float(c)) for c in (*CUTOFFS, 0.0, 1.0)) + 1e-9


@pytest.mark.parametrize("seed", SEEDS)
@every_ratio
def test_calibration_saves_and_luck_is_said(ratio: int, seed: int) -> None:
    here = result_of(ratio, seed)
    text = view_of(ratio, seed=seed)
    assert ("which may be luck" in text.sentence) == (here.low <= 0)
    if ratio <= 9:
        assert here.low > 0
    # Calibration keeps the order, so the same patients cost the least.
    assert here.before.least == pytest.approx(here.after.least)
    cutoff = here.before.at.cutoff
    assert abs(here.after.best - cutoff) < abs(here.before.best - cutoff)
    assert here.before.best > cutoff
    assert here.before.at.called > here.after.at.called


def test_acting_on_uncalibrated_scores_can_be_worse_than_on_none() -> None:
    for ratio in (1, 2):
        for stage in ("before", "after"):
            end = "visiting none is better than acting on the scores before calibration."
            assert view_of(ratio, stage).sentence.endswith(end)
    assert "is better than" not in view_of(9).sentence


def test_the_sentence_and_what_is_added_up() -> None:
    here, text = result_of(9), view_of(9)
    assert text.answer == "10% = 1 / (1 + 9)"
    assert "visit above a risk of **10%**" in text.sentence
    for side, one in (("Before", here.before), ("After", here.after)):
        at = one.at
        total = at.in_vain + 9 * at.missed
        added = f"{side}: {at.in_vain:,} unnecessary + 9 \u00d7 {at.missed:,} missed = {total:,}, "
        assert added + f"{total / 5:.0f} per 1,000." in text.pictures[1].text
        assert f"{total / 5:.0f}" in text.sentence
    assert text.note.startswith("Why 10%: at that risk, 9 visits are unnecessary for each one that")
    best = [f"{100 * one.best:.2g}%" for one in (here.before, here.after)]
    assert f"at a cut-off of {best[0]} before, as" in text.note
    benefit = [(one.at.right - one.at.in_vain / 9) / 5 for one in (here.before, here.after)]
    assert f"{benefit[0]:.0f} before calibration, {benefit[1]:.0f} after" in text.note
    assert text.note.endswith(f"of {best[1]} after: not exactly 10%, by luck of these patients.")


def test_each_bar_has_its_count_and_the_key_its_look() -> None:
    before, after, hits = rows()
    figure = view_of(9).pictures[1].figure
    *counts, first, second = figure.layout.annotations
    named = iter(counts)
    for bar, scores in zip(figure.data, (before, after), strict=True):
        called = [(score >= 0.1, hit) for score, hit in zip(scores, hits, strict=True)]
        expected = [called.count(one) for one in ((True, 1), (True, 0), (False, 1))]
        assert list(bar.y) == expected
        for x, count in zip(bar.x, expected, strict=True):
            name = next(named)
            assert (name.text, name.x, name.y) == (f"{count:,}", x, count)
    assert (first.text, second.text) == ("\u25a8 before", "\u25a0 after")
    looks = [(bar.marker.color, bool(bar.marker.pattern.shape)) for bar in figure.data]
    assert looks == [(first.font.color, True), (second.font.color, False)]
    assert first.y > max(name.y for name in counts)


def test_nothing_of_the_answer_is_sent_before() -> None:
    before = view_of(revealed=False)
    assert len(before.pictures) == 1
    figures = [LightFigure(p.figure, LIGHT).to_dict() for p in before.pictures]
    sent = json.dumps([before.sentence, before.pictures[0].text, figures]).lower()
    assert "cost" not in sent
    assert "10%" not in sent


@pytest.mark.parametrize(("stage", "method"), [("before", "none"), ("after", "platt")])
def test_the_link_opens_the_very_same_patients(stage: str, method: str) -> None:
    here = state(19, stage, seed=5, seat=2, draws=3)
    query = LESSON.link(here).query
    assert (query["method"], query["cost_miss"]) == (method, "19")
    chosen = chosen_of(query["model"])
    assert chosen is not None
    contents = np.load(io.BytesIO(file_of(chosen)))
    labels, at = contents["labels_test"], find(here, 19).before.at
    assert (labels.size, labels.sum()) == (N_ROWS, at.n_events)
    # The score of class 1 is 5% or more where its logit is larger by at least -ln 19.
    called = np.diff(contents["logits_test"], axis=1)[:, 0] >= -math.log(19)
    assert np.count_nonzero(called & (labels == 1)) == at.right
    assert np.count_nonzero(called) == at.called


def test_each_draw_and_seat_has_its_own_rows_in_the_laboratory() -> None:
    chosen = {
        data.in_laboratory(MODEL, state(seed=seed, seat=seat, draws=draws), KEY)
        for seed in (0, 9_999)
        for seat in (0, 400)
        for draws in (1, 500)
    }
    assert len(chosen) == 8
    assert all(chosen_of(one.code) == one for one in chosen)
    assert len({id(one.model) for one in chosen}) == 1  # found once, whatever is drawn
