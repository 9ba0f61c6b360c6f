"""Averages hide groups."""

import io
import json
import math
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from calibcore.calibrators import ByGroup, PlattScaling
from dashboard.compute.learn import file_of
from dashboard.figures import LIGHT
from dashboard.figures.plotly_json import LightFigure
from dashboard.learn import data
from dashboard.learn.laboratory import chosen_of, drawn_of
from dashboard.learn.lesson import LessonView, NumberGuess, State, start_of
from dashboard.learn.lessons.groups import (
    KEY,
    LESSON,
    METHODS,
    MODELS,
    N_ROWS,
    VIEWS,
    GroupCalibration,
    find,
    most_at,
    most_possible,
)
from tests import reference
from tests.learn.reference import ks_error

SEEDS = range(20)


def state(gap: str = "15", view: str = "groups", **more: object) -> State:
    return start_of(LESSON, chosen={"gap": gap, "view": view}, **more)


def view_of(gap: str = "15", view: str = "groups", **more: object) -> LessonView:
    return LESSON.show(state(gap, view, **more))


@pytest.mark.parametrize("word", MODELS)
def test_the_true_gaps_are_those_of_the_control_and_all_rows_are_calibrated(word: str) -> None:
    chosen = MODELS[word]
    first, second = (chosen.model.truth(group) for group in (0, 1))
    gaps = [one.mean_score - one.rate for one in (first, second)]
    assert [round(100 * gap) for gap in gaps] == [int(word), -int(word)]
    pooled = chosen.model.truth()
    assert pooled.mean_distance < 0.004  # as the lesson says
    for slope in (chosen.slope - 1, chosen.slope + 1):
        assert replace(chosen, slope=slope).model.truth().mean_distance >= pooled.mean_distance


def test_gaps_grow_with_the_control() -> None:
    results = [find(state(word))[0] for word in MODELS]
    assert all(a[1].gap < b[1].gap for a, b in pairwise(results))
    assert all(a[2].gap > b[2].gap for a, b in pairwise(results))


def test_the_figures_are_those_of_a_loop_over_the_rows() -> None:
    here = state("10")
    rows = drawn_of(data.in_laboratory(MODELS["10"], here, KEY), 1)
    assert rows.groups is not None
    event = rows.event
    every = [*zip(event.scores.tolist(), event.hits.tolist(), rows.groups.tolist(), strict=True)]
    for part, wanted in zip(find(here)[0], ({0, 1}, {0}, {1}), strict=True):
        scores = [score for score, _, group in every if group in wanted]
        hits = [int(hit) for _, hit, group in every if group in wanted]
        score, frequency = reference.mean(scores), reference.mean(hits)
        assert part.score == pytest.approx(score)
        assert part.frequency == pytest.approx(frequency)
        assert part.gap == pytest.approx(score - frequency)
        error = ks_error(scores, hits)
        assert part.ks_error == pytest.approx(error)
        half = 1.96 * math.sqrt(frequency * (1 - frequency) / len(hits))
        assert part.high - part.low == pytest.approx(2 * half, rel=0.01)
        assert part.table.counts.sum() == len(hits)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("word", ["6", "10", "15", "20"])
def test_each_group_is_off_in_its_direction_and_all_together_are_not(word: str, seed: int) -> None:
    (together, first, second), _ = find(state(word, seed=seed))
    assert first.verdict.startswith("scores too high by ")
    assert second.verdict.startswith("scores too low by ")
    for one in (first, second):
        assert one.verdict.endswith(f" by {100 * abs(one.gap):.1f} percentage points")
    assert abs(together.gap) < 0.03
    note = view_of(word, seed=seed).note
    assert note.startswith("With this draw") == together.is_detected
    assert "not detected" not in note


def test_most_draws_show_all_rows_calibrated() -> None:
    detected = [find(state(word, seed=seed))[0][0].is_detected for seed in SEEDS for word in MODELS]
    assert sum(detected) <= 0.15 * len(detected)  # 5% expected; the same seed draws much alike


@pytest.mark.parametrize("seed", SEEDS)
def test_a_small_gap_that_is_not_detected_is_said(seed: int) -> None:
    (together, first, second), _ = find(state("2", seed=seed))
    note = view_of("2", seed=seed).note
    both = first.is_detected and second.is_detected
    unseen = not both and not together.is_detected
    assert ("does not mean calibrated" in note) == unseen
    assert note.startswith("True gaps of 2 percentage points are not detected") == unseen


@pytest.mark.parametrize("seed", SEEDS)
def test_one_fit_leaves_the_gaps_and_a_fit_by_group_does_not(seed: int) -> None:
    before, one = find(state("15", "one", seed=seed))
    _, each = find(state("15", "each", seed=seed))
    for was, same, now in zip(before[1:], one[1:], each[1:], strict=True):
        assert abs(same.gap - was.gap) < 0.03
        assert abs(same.gap) > 0.12
        assert abs(now.gap) < 0.05
        assert abs(same.true_gap) > 0.12
        assert abs(now.true_gap) < 0.03


def test_calibration_by_group_is_that_of_a_penalty_chosen_by_cross_validation() -> None:
    here = state("15", "each")
    chosen = data.in_laboratory(MODELS["15"], here, KEY)
    fit, test = drawn_of(chosen, 0), drawn_of(chosen, 1)
    fitted = ByGroup(PlattScaling()).fit(fit.event.scores, fit.event.hits, fit.groups)
    scores = fitted.predict(test.event.scores, test.groups)
    for group, part in enumerate(find(here)[1][1:]):
        rows = test.groups == group
        gap = float(scores[rows].mean() - test.event.hits[rows].mean())
        assert part.gap == pytest.approx(gap, abs=0.002)


@pytest.mark.parametrize("seed", range(4))
def test_p_values_of_the_groups_are_adjusted_for_two(seed: int) -> None:
    here = state("2", seed=seed)
    rows = drawn_of(data.in_laboratory(MODELS["2"], here, KEY), 1)
    groups = np.asarray(rows.groups)
    alone = []
    for part in (groups >= 0, groups == 0, groups == 1):
        scores, hits = rows.event.scores[part].tolist(), rows.event.hits[part].tolist()
        largest = len(scores) * ks_error(scores, hits)
        deviation = math.sqrt(math.fsum(score * (1 - score) for score in scores))
        alone.append(reference.brownian_exceeds(largest / deviation))
    smaller, larger = sorted(alone[1:])
    holm = {smaller: min(1, 2 * smaller), larger: min(1, max(2 * smaller, larger))}
    expected = [alone[0], *(holm[one] for one in alone[1:])]
    # The screen's are a little larger, as it is careful where outcomes are skewed.
    assert [part.p_value for part in find(here)[0]] == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("word", ["2", "10", "20"])
@pytest.mark.parametrize("view", VIEWS)
def test_the_true_gap_of_each_group_is_its_own(word: str, view: str) -> None:
    here = state(word, view)
    fit = drawn_of(data.in_laboratory(MODELS[word], here, KEY), 0)
    fitted = ByGroup(PlattScaling(), 1.0).fit(fit.event.scores, fit.event.hits, fit.groups)
    gaps = []
    for group in (0, 1):
        truth = MODELS[word].model.truth(group)
        scores = truth.scores
        if view == "one":
            scores = fitted.predict(scores)
        if view == "each":
            scores = fitted.predict(scores, np.full(scores.size, group))
        gaps.append(reference.mean(scores.tolist()) - reference.mean(truth.frequency.tolist()))
    if METHODS[view] == "none":
        assert [round(100 * gap) for gap in gaps] == [int(word), -int(word)]
    expected = [sum(gaps) / 2, *gaps]
    assert [part.true_gap for part in find(here)[1]] == pytest.approx(expected, abs=1e-9)


def test_the_most_that_is_possible() -> None:
    scores = MODELS["15"].model.truth().scores
    # One group as rare as all rows allow, the other as frequent: their mean is the score.
    rare, frequent = np.maximum(0, 2 * scores - 1), np.minimum(1, 2 * scores)
    np.testing.assert_allclose((rare + frequent) / 2, scores, atol=1e-12)
    most = float((scores - rare).mean())
    assert most_possible("15") == pytest.approx(most)
    # By another way: a sum over the normal log-odds of the scores, 3 x 0.34 wide.
    places = [k / 1000 for k in range(-6000, 6001)]
    weights = [math.exp(-x * x / 2) for x in places]
    least = [1 / (1 + math.exp(abs(3 * 0.34 * x))) for x in places]
    total = math.fsum(w * v for w, v in zip(weights, least, strict=True)) / math.fsum(weights)
    assert most == pytest.approx(total, abs=1e-4)
    at_half = 100 * (0.5 - max(0.0, 2 * 0.5 - 1))
    assert (
        f"At a score of 50% it could be {at_half:.0f} percentage points; over all of these scores,"
        f" up to {100 * total:.0f} on average."
    ) in view_of().note


def test_the_answer_is_the_most_at_the_score_of_the_question() -> None:
    possible = [d for d in range(101) if d <= 30 and 30 + d <= 100]  # as far in both groups
    assert view_of().answer == (
        f"{max(possible)} percentage points: never in one group, in the other 60% of the time"
    )


def test_the_guess_can_be_all_that_is_possible_at_any_score() -> None:
    guess = LESSON.guess
    assert isinstance(guess, NumberGuess)
    most = [max(d for d in range(101) if d <= s and s + d <= 100) for s in range(101)]
    assert (guess.low, guess.high) == (min(most), max(most))
    assert [round(100 * most_at(s / 100)) for s in range(101)] == most


def test_what_is_said_of_the_computation_is_what_is_computed() -> None:
    off = max(100 * chosen.model.truth().mean_distance for chosen in MODELS.values())
    assert f"are calibrated: to {math.ceil(10 * off) / 10:g} percentage points" in LESSON.computed
    (whole,) = re.findall(r"smaller of s and (\d) \u2212 s", LESSON.computed)
    assert most_at(0.9) == pytest.approx(int(whole) - 0.9)


def test_nothing_of_the_groups_is_sent_before() -> None:
    before = view_of(view="each", revealed=False)
    assert len(before.pictures) == 1
    figures = [LightFigure(p.figure, LIGHT).to_dict() for p in before.pictures]
    sent = json.dumps([before.sentence, before.pictures[0].text, figures])
    assert "roup" not in sent
    assert "too high" not in sent


@pytest.mark.parametrize("view", VIEWS)
def test_the_link_opens_the_very_same_rows(view: str) -> None:
    here = state("10", view, seed=3, seat=12, draws=4)
    query = LESSON.link(here).query
    assert query["method"] == METHODS[view]
    assert ("group" in query) == (view == "each")
    chosen = chosen_of(query["model"])
    assert chosen is not None
    contents = np.load(io.BytesIO(file_of(chosen)))
    assert contents["labels_test"].size == N_ROWS
    for part, name in zip(find(here)[0][1:], "AB", strict=True):
        rows = contents["column_group_test"] == name
        assert part.frequency == contents["labels_test"][rows].mean()


def test_the_gaps_of_the_check_cancel() -> None:
    (low,) = re.findall(r"(\d+) percentage points too low", LESSON.check.answers["low"])
    (high,) = re.findall(r"(\d+) percentage points too high", LESSON.check.question)
    average = 0.5 * int(high) - 0.5 * int(low)
    assert (average, LESSON.check.right) == (0, "low")
    assert f"have a mean gap of {average:g}. " in LESSON.check.question
    assert f"{high} percentage points too high, half {low} too low: on average {average:g}." in (
        LESSON.check.why
    )


def signed(value: float, unit: str) -> str:
    number = round(100 * value, 1)
    return f"{number:+.1f} {unit}".replace("-", "\u2212") if number else f"0.0 {unit}"


def level_of(part: GroupCalibration) -> int:
    """In percent, from the width of an interval in standard errors of a frequency."""
    error = math.sqrt(part.frequency * (1 - part.frequency) / part.table.counts.sum())
    return round(100 * math.erf((part.high - part.low) / (2 * error) / math.sqrt(2)))


@pytest.mark.parametrize("revealed", [False, True])
def test_the_bars_of_all_rows_are_those_of_a_loop(*, revealed: bool) -> None:
    here = state("10", "all", revealed=revealed)
    event = drawn_of(data.in_laboratory(MODELS["10"], here, KEY), 1).event
    inside: dict[int, list[tuple[float, int]]] = {k: [] for k in range(10)}
    for score, hit in zip(event.scores.tolist(), event.hits.tolist(), strict=True):
        inside[next(k for k in range(10) if score <= (k + 1) / 10)].append((score, int(hit)))
    large = {k: rows for k, rows in inside.items() if len(rows) >= 50}
    bars, _, means = LESSON.show(here).pictures[0].figure.data
    assert list(bars.x) == pytest.approx([(k + 0.5) / 10 for k in large])
    shares = [reference.mean([hit for _, hit in rows]) for rows in large.values()]
    assert list(bars.y) == pytest.approx(shares)
    scores = [reference.mean([score for score, _ in rows]) for rows in large.values()]
    assert list(means.x) == list(means.y) == pytest.approx(scores)


@pytest.mark.parametrize("word", MODELS)
def test_gaps_and_their_intervals_are_drawn_within_the_axis(word: str) -> None:
    for view, seed in (("groups", 0), ("each", 1), ("one", 2)):
        figure = view_of(word, view, seed=seed).pictures[1].figure
        low, high = figure.layout.xaxis.range
        reached = [x for one in figure.data for x in one.x]
        assert low < min(reached) < max(reached) < high


@pytest.mark.parametrize("view", VIEWS)
def test_what_is_written_and_drawn_of_each_group_is_what_was_computed(view: str) -> None:
    here = state("10", view)
    before, parts = find(here)
    text = view_of("10", view)
    head, *table = text.numbers
    assert head == ("", "Mean score", "Observed", "Mean gap", "95% CI", "True gap", "KS error")
    for one, cells in zip(parts, table, strict=True):
        assert cells == (
            one.name,
            f"{100 * one.score:.1f}%",
            f"{100 * one.frequency:.1f}%",
            signed(one.gap, "pp"),
            f"{signed(one.low, 'pp')} to {signed(one.high, 'pp')}".replace(" pp to", " to"),
            signed(one.true_gap, "pp"),
            f"{100 * one.ks_error:.1f}%",
        )
    gap = signed(before[0].gap, "percentage points")
    assert text.sentence.startswith(f"All rows: mean gap {gap}, **")
    moved = METHODS[view] != "none"
    first, second = (signed(one.gap, "percentage points") for one in parts[1:])
    assert (f"mean gap **{first}** in A and **{second}** in B." in text.sentence) == moved
    gaps = text.pictures[1]
    assert f" Line: {level_of(parts[0])}% CI." in gaps.text
    assert ("Ring: before calibration." in gaps.text) == moved
    _, *drawn = gaps.figure.data
    each = 4 if moved else 3
    some = parts[:1] if view == "all" else parts
    assert len(drawn) == each * len(some)
    for k, (one, was) in enumerate(zip(some, before, strict=False)):
        line, true, dot, *ring = drawn[each * k : each * (k + 1)]
        height = 2 - k  # all rows uppermost, group B lowest
        assert list(line.x) == [100 * one.low, 100 * one.high]
        assert (list(true.x), list(dot.x)) == ([100 * one.true_gap], [100 * one.gap])
        assert [list(other.x) for other in ring] == [[100 * was.gap]] * moved
        assert {y for drawn_one in (line, true, dot, *ring) for y in drawn_one.y} == {height}
        label = gaps.figure.layout.annotations[k]
        assert label.text.startswith(f"<b>{one.name}</b>: {signed(one.gap, 'pp')} (")
        assert height < label.y < height + 1
    if view == "all":
        return
    lines = text.pictures[0].figure.data
    for k, one in enumerate(parts[1:]):
        shown_bins = [
            (score, rate)
            for n, score, rate in zip(
                one.table.counts, one.table.mean_score, one.table.frequency, strict=True
            )
            if n >= 50
        ]
        for drawn_one in lines[1 + 2 * k : 3 + 2 * k]:
            assert list(zip(drawn_one.x, drawn_one.y, strict=True)) == shown_bins
