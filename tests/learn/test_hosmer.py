"""Hosmer and Lemeshow's test by slow code, its false alarms, and what clusters do to it."""

import math
import re

import numpy as np
import pytest

from dashboard.learn.laboratory import chosen_of
from dashboard.learn.lesson import LessonView, start_of
from dashboard.learn.lessons.hosmer import (
    BETWEEN,
    CENTRE,
    LESSON,
    MODELS,
    N_HOSPITALS,
    N_SAMPLES,
    OFF,
    QUESTION_ROWS,
    ROWS,
    SPREAD,
    find,
    hosmer_lemeshow,
    inside,
    risks,
    true_risks,
)
from tests.learn.reference import quantile
from tests.reference_measures import sigmoid


def view_of(rows: str = QUESTION_ROWS, model: str = "off", **more: object) -> LessonView:
    return LESSON.show(start_of(LESSON, chosen={"rows": rows, "model": model}, **more))


def slow_p_value(scores: list[float], hits: list[int]) -> float:
    size = len(scores) // 10
    statistic = 0.0
    for k in range(10):
        own, happened = scores[k * size : (k + 1) * size], sum(hits[k * size : (k + 1) * size])
        expected = math.fsum(own)
        for observed, mean in ((happened, expected), (size - happened, size - expected)):
            statistic += (observed - mean) ** 2 / mean
    # Of ten degrees of freedom: the chance of fewer than five events of a Poisson process.
    half = statistic / 2
    return math.exp(-half) * math.fsum(half**k / math.factorial(k) for k in range(5))


def test_the_test_is_that_of_slow_code() -> None:
    scores = risks(200)
    hits = np.random.default_rng(4).random((30, 200)) < scores
    slow = [slow_p_value(scores.tolist(), [int(h) for h in one]) for one in hits.tolist()]
    assert hosmer_lemeshow(scores, hits).tolist() == pytest.approx(slow, abs=1e-9)


def normal_mean(of: object, low: float = -9, high: float = 9, steps: int = 4_000) -> float:
    width = (high - low) / steps
    at = [low + (k + 0.5) * width for k in range(steps)]
    weights = [math.exp(-x * x / 2) for x in at]
    values = (w * of(x) for w, x in zip(weights, at, strict=True))  # type: ignore[operator]
    return math.fsum(values) / math.fsum(weights)


def test_the_error_that_is_said_is_an_integral() -> None:
    mean = normal_mean(lambda x: sigmoid(CENTRE + SPREAD * x))
    error = normal_mean(lambda x: sigmoid(CENTRE + SPREAD * x) - sigmoid(CENTRE + SPREAD * x - OFF))
    assert f"**{100 * error:.1f} percentage points** too high" in LESSON.question
    assert f"mean risk {100 * mean:.1f}%" in LESSON.question
    assert find("off", 20_000).distance == pytest.approx(error, abs=1e-4)


def test_clustered_patients_are_calibrated_over_all_hospitals() -> None:
    for place in (10, 250, 490):
        odds, score = float(inside(500)[place]), float(risks(500)[place])
        mean = normal_mean(lambda u, odds=odds: sigmoid(odds + BETWEEN * u))
        assert mean == pytest.approx(score, abs=1e-4)
    assert true_risks("clustered", 500).tolist() == risks(500).tolist()


def test_a_calibrated_model_is_rejected_as_often_as_the_level_says() -> None:
    rejected = [find("right", n).rejected for n in ROWS]
    error = math.sqrt(0.05 * 0.95 / N_SAMPLES)
    assert all(abs(one - 0.05) < 4 * error for one in rejected)


def test_what_is_rejected_grows_with_the_number_of_patients() -> None:
    off = [find("off", n).rejected for n in ROWS]
    clustered = [find("clustered", n).rejected for n in ROWS]
    assert off[1] < 0.1
    assert off[-1] > 0.95
    assert off[2:] == sorted(off[2:])
    assert clustered[-1] > 0.3
    assert clustered[3:] == sorted(clustered[3:])
    # The size of the error does not grow.
    few, many = find("off", 2_000), find("off", 20_000)
    assert np.mean(few.ratios) == pytest.approx(np.mean(many.ratios), abs=0.01)
    assert np.std(many.ratios) < np.std(few.ratios)


@pytest.mark.parametrize("model", MODELS)
def test_the_sentence_says_what_was_counted(model: str) -> None:
    text, result = view_of("5000", model), find(model, 5_000)
    share = sum(p < 0.05 for p in result.p_values.tolist()) / N_SAMPLES
    assert f"in **{100 * share:.0f}%** of samples" in text.sentence
    assert result.rejected == share


@pytest.mark.parametrize("n_rows", [1_000, 20_000])
def test_an_interval_that_takes_patients_for_independent_is_too_narrow_by_what_is_said(
    n_rows: int,
) -> None:
    text = re.search(
        r"is \*\*([\d.]+) times too narrow", view_of(str(n_rows), "clustered").sentence
    )
    assert text is not None
    risk = risks(n_rows)
    # A hospital's log-odds move each of its risks by about p (1 - p) times as much.
    moved = (BETWEEN * float((risk * (1 - risk)).mean())) ** 2 / N_HOSPITALS
    alone = float((risk * (1 - risk)).mean()) / n_rows
    assert float(text[1]) == pytest.approx(math.sqrt(1 + moved / alone), rel=0.15)


def test_the_answer_is_of_the_question_whatever_is_shown() -> None:
    share = sum(p < 0.05 for p in find("off", int(QUESTION_ROWS)).p_values.tolist()) / N_SAMPLES
    assert {view_of(rows).answer for rows in ("200", QUESTION_ROWS)} == {
        f"in {100 * share:.0f}% of samples"
    }


def test_the_link_opens_a_model_as_far_off_or_calibrated() -> None:
    links = {word: LESSON.link(start_of(LESSON, chosen={"model": word})) for word in MODELS}
    off, right = (chosen_of(str(links[word].query["model"])) for word in ("off", "right"))
    assert off is not None
    assert right is not None
    true = off.model.truth()
    odds = [math.log(p / (1 - p)) for p in (float(true.scores[0]), float(true.frequency[0]))]
    assert odds[0] - odds[1] == pytest.approx(0.1)
    assert float((true.scores - true.frequency).mean()) == pytest.approx(
        find("off", int(QUESTION_ROWS)).distance, abs=0.002
    )
    assert right.model.truth().mean_distance == pytest.approx(0, abs=1e-9)
    assert links["clustered"] == links["right"]


@pytest.mark.parametrize(("rows", "model"), [("500", "right"), ("2000", "clustered")])
def test_every_figure_of_the_sentence_and_the_pictures_is_counted(rows: str, model: str) -> None:
    result, n = find(model, int(rows)), int(rows)
    risk = risks(n).tolist()
    # The mean risk is the mean chance, so that as many events are expected as risks add up to.
    assert result.ratios.mean() == pytest.approx(1, abs=0.02)
    luck = math.sqrt(math.fsum(p * (1 - p) for p in risk)) / math.fsum(risk)
    assert find("right", n).ratios.std() == pytest.approx(luck, rel=0.12)

    def ends(word: str) -> tuple[float, float]:
        ratios = find(word, n).ratios.tolist()
        low, high = (quantile(ratios, share) for share in (0.025, 0.975))
        return low, high

    low, high = ends(model)
    sentence = view_of(rows, model).sentence
    digits = 3 if model == "clustered" else 2
    ends_of = f"{low:.{digits}f} to {high:.{digits}f}"
    assert f"O/E shows the size of an error: it is {ends_of} in 95% of" in sentence
    if model == "clustered":
        near, far = ends("right")
        assert f"independent it would be {near:.3f} to {far:.3f}: a 95% CI that" in sentence
        assert f"**{(high - low) / (far - near):.1f} times too narrow**" in sentence
    bars, level = view_of(rows, model).pictures[0].figure.data
    assert bars.x[[0, -1]].tolist() == pytest.approx([0.025, 0.975])
    p_values = result.p_values.tolist()
    for middle, share in zip(bars.x, bars.y, strict=True):
        inside = sum(middle - 0.025 <= p < middle + 0.025 + 1e-9 for p in p_values)
        assert share == pytest.approx(inside / N_SAMPLES, abs=1.01 / N_SAMPLES)
    assert (list(level.x), list(level.y)) == ([0, 1], [0.05, 0.05])


def test_the_table_and_the_lines_count_what_is_rejected() -> None:
    text = view_of("5000", "clustered")
    _, *table = text.numbers
    *lines, dot = (one for one in text.pictures[1].figure.data)
    by_model = {}
    for word in MODELS:
        every = [find(word, n).p_values.tolist() for n in ROWS]
        by_model[word] = [sum(p < 0.05 for p in some) / N_SAMPLES for some in every]
    for k, (n, cells) in enumerate(zip(ROWS, table, strict=True)):
        shares = [by_model[word][k] for word in MODELS]
        assert cells == (f"{n:,}", *(f"{100 * share:.0f}%" for share in shares))
    assert [list(line.y) for line in lines] == [*by_model.values()]
    place = ROWS.index(5_000)
    assert ([*dot.x], [*dot.y]) == ([place], [by_model["clustered"][place]])


def test_the_error_of_the_sentence_is_that_of_the_question() -> None:
    (asked,) = re.findall(r"\*\*([\d.]+) percentage points", LESSON.question)
    assert f"Its risks are {asked} percentage points too high" in view_of().sentence
    assert "How many of 100 samples" in LESSON.question


def test_the_links_name_their_models_whose_risks_are_as_high_and_as_spread() -> None:
    links = {word: LESSON.link(start_of(LESSON, chosen={"model": word})) for word in MODELS}
    assert links["off"].label.startswith("A model off by as much:")
    assert links["right"].label.startswith("A calibrated model, independent patients:")
    right = chosen_of(str(links["right"].query["model"]))
    assert right is not None
    scores = right.model.truth().scores
    assert scores.mean() == pytest.approx(risks(20_000).mean(), abs=0.01)
    assert np.std(np.log(scores / (1 - scores))) == pytest.approx(SPREAD, abs=0.015)
