"""Over- and underconfident."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest

from dashboard.learn import data
from dashboard.learn.lesson import LessonView, start_of
from dashboard.learn.lessons.confident import LESSON, ROW, TEMPERATURES
from dashboard.learn.tempered import (
    HEAD,
    TemperedPrediction,
    at_temperature,
    fitted_temperature,
    row,
)
from dashboard.views.maps.results import temperatures
from dashboard.views.maps.words import BY_HAND
from tests import reference


def every() -> list[TemperedPrediction]:
    return [at_temperature(float(word)) for word in TEMPERATURES]


def view_of(word: str, **more: object) -> LessonView:
    return LESSON.show(start_of(LESSON, chosen={"temperature": word}, **more))


def test_the_temperature_moves_scores_and_the_accuracy_stays() -> None:
    scores = [one.mean_score for one in every()]
    assert all(a > b for a, b in pairwise(scores))
    assert len({one.accuracy for one in every()}) == 1
    assert len(TEMPERATURES) == 17
    assert "1" in TEMPERATURES


def test_below_the_fitted_temperature_it_is_overconfident_and_above_underconfident() -> None:
    fitted = fitted_temperature()
    for one, word in zip(every(), TEMPERATURES, strict=True):
        text = view_of(word).sentence.splitlines()[0]
        if word == "2":
            assert "no clear gap" in text
        else:
            assert ("underconfident" if one.temperature > fitted else "overconfident by") in text


@pytest.mark.parametrize("seed", range(20))
def test_every_seed_shows_the_same(seed: int) -> None:
    here = LESSON.show(start_of(LESSON, seed=seed, seat=seed))
    assert here.answer == "It stays the same, 90.6%, at every T"
    assert here.sentence == view_of("2").sentence


def test_the_sentence_names_the_temperature_the_training_and_the_fit() -> None:
    rest = [
        (
            "As trained (T = 1): **overconfident by 5.1 percentage points**. KS error 5.1%,"
            " NLL (all classes) 0.371."
        ),
        (
            "Fitted on other rows (T = 1.94): **no clear gap**. KS error 0.2%,"
            " NLL (all classes) 0.279."
        ),
    ]
    chosen, *others = view_of("3.98").sentence.split("  \n")
    assert others == rest
    assert chosen.startswith("T = 3.98: mean score 77.2%, accuracy 90.6%: **underconfident by 13.4")
    assert view_of("1").sentence.split("  \n")[1:] == rest[1:]


def test_the_row_has_a_score_of_80_percent_is_wrong_and_keeps_its_order() -> None:
    rows = data.sample().test
    logits = rows.logits[ROW].astype(float).tolist()
    before = reference.softmax([logits])[0]
    top, second, *_ = reference.ranking(before)
    assert before[top] == pytest.approx(0.8, abs=0.02)
    assert int(rows.labels[ROW]) == second
    for word in ("0.251", "3.98"):
        bars = view_of(word).pictures[0].figure.data[0]
        assert all(a >= b for a, b in pairwise(bars.x))
        assert math.fsum(bars.x) == pytest.approx(1)
        # Two scores of a row stand to each other as before, to the power 1 / T.
        ratio = (before[second] / before[top]) ** (1 / float(word))
        assert bars.x[1] / bars.x[0] == pytest.approx(ratio, rel=1e-9)


def test_scores_are_never_written_as_certain() -> None:
    texts = view_of("0.251").pictures[0].figure.data[0].text
    assert texts[0] == ">99%"
    assert set(texts[2:]) == {"<1%"}
    assert texts[1] == "<1%  \u25c6 true class"


def test_before_the_answer_the_network_is_shown_as_it_was_trained() -> None:
    before, moved = (view_of(word, revealed=False) for word in ("1", "3.98"))
    figures = [[json.loads(p.figure.to_json()) for p in one.pictures] for one in (before, moved)]
    assert figures[0] == figures[1]
    assert "order" not in before.pictures[0].text
    assert before.pictures[1].figure == view_of("1").pictures[1].figure


def test_the_link_opens_a_temperature_that_the_page_offers() -> None:
    offered = temperatures(fitted_temperature(), fine=True)
    for word in TEMPERATURES:
        link = LESSON.link(start_of(LESSON, chosen={"temperature": word}))
        assert float(link.query["hand_t"]) in offered
        assert link.label.endswith(f"further down, under {BY_HAND}")


def test_steps_are_even_factors() -> None:
    logarithms = np.log10([float(word) for word in TEMPERATURES])
    np.testing.assert_allclose(np.diff(logarithms), 0.075, atol=0.003)


def test_the_entropy_rises_with_the_temperature_and_the_nll_has_a_least_value() -> None:
    every = [at_temperature(float(word)) for word in TEMPERATURES]
    assert [one.entropy for one in every] == sorted(one.entropy for one in every)
    nlls = [one.nll for one in every]
    assert nlls[0] > min(nlls) < nlls[-1]
    note = LESSON.show(start_of(LESSON)).note
    assert f"only rises with T: {every[0].entropy:.3f} at T = 0.251" in note
    assert f"{every[-1].entropy:.3f} at T = 3.98" in note
    least = min([*every, at_temperature(fitted_temperature())], key=lambda one: one.nll)
    assert note.endswith(f"has a least value: {least.nll:.3f} at T = {least.temperature:.3g}.")


@pytest.mark.parametrize("word", ["0.251", "1", "2"])
def test_the_bars_of_the_row_are_written_at_their_classes(word: str) -> None:
    rows = data.sample().test
    logits = [z / float(word) for z in rows.logits[ROW].astype(float).tolist()]
    scores = dict(zip(rows.class_names, reference.softmax([logits])[0], strict=True))
    picture = view_of(word).pictures[0]
    [bars], axis = picture.figure.data, picture.figure.layout.yaxis
    named = dict(zip(axis.tickvals, axis.ticktext, strict=True))
    written = {}
    for place, length, text in zip(bars.y, bars.x, bars.text, strict=True):
        score = scores[named[place]]
        assert length == pytest.approx(score, abs=1e-9)
        written[named[place]], _, mark = text.partition("  \u25c6 ")
        usual = f"{100 * score:.0f}%"
        assert written[named[place]] == {"0%": "<1%", "100%": ">99%"}.get(usual, usual)
        assert bool(mark) == (named[place] == rows.class_names[rows.labels[ROW]])
    top, true = max(scores, key=scores.__getitem__), rows.class_names[rows.labels[ROW]]
    assert named[max(bars.y)] == top  # the most probable one is uppermost
    assert picture.text.startswith(
        f"Predicted: {top}, with a score of {written[top]}. The true class, {true}, has"
        f" {written[true]}."
    )


def test_the_table_has_its_head_above_the_temperatures_in_order() -> None:
    head, *rows = view_of("2").numbers
    assert head == HEAD
    fitted = [at_temperature(fitted_temperature()), *every()]
    assert rows == [row(one) for one in sorted(fitted, key=lambda one: one.temperature)]


def test_the_right_answer_of_the_check_raises_the_scores() -> None:
    below = [one for one in every() if one.temperature < 1]
    assert LESSON.check.answers[LESSON.check.right] == "One below 1"
    assert all(one.mean_score > at_temperature(1.0).mean_score for one in below)
