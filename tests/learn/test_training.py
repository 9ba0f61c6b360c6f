"""Calibrate while training."""

import json
import math
import tomllib
from pathlib import Path

import numpy as np
import pytest

from dashboard.learn import data
from dashboard.learn.lesson import LessonView, start_of
from dashboard.learn.lessons.training import LESSON, LOSSES, N_CLASSES, NEAR
from dashboard.learn.tempered import Loss

ROOT = Path(__file__).parents[2]

ENTROPY, SMOOTHED, FOCAL = (LOSSES[key] for key in ("entropy", "smoothing", "focal"))


def view_of(loss: str, stage: str, **more: object) -> LessonView:
    return LESSON.show(start_of(LESSON, chosen={"loss": loss, "stage": stage}, **more))


def test_the_losses_are_those_of_the_training() -> None:
    manifest = tomllib.loads((ROOT / "sample_logits" / "manifest.toml").read_text("utf-8"))
    kept = {one["name"]: one for one in manifest["sample"]}
    assert "loss: cross-entropy;" in kept[ENTROPY.sample]["training"]
    for one in LOSSES.values():
        if one.loss.smoothing:
            text = f"label smoothing {one.loss.smoothing:g} "
        else:
            text = f"focal loss with gamma {one.loss.gamma:g} " if one.loss.gamma else "loss: cross"
        assert text in kept[one.sample]["training"]
    assert len({one.loss for one in LOSSES.values()}) == len({*LOSSES}) == 6
    assert {kept[one.sample]["classes"] for one in LOSSES.values()} == {N_CLASSES}
    assert "95.5%" in LESSON.question  # 1 - 0.05 + 0.05 / 10


def test_the_networks_are_evaluated_on_the_same_rows() -> None:
    first, *others = (data.sample(one.sample) for one in LOSSES.values())
    for other in others:
        np.testing.assert_array_equal(first.test.labels, other.test.labels)
        np.testing.assert_array_equal(first.calibration.labels, other.calibration.labels)


def test_cross_entropy_leaves_scores_too_high_and_the_others_too_low() -> None:
    assert ENTROPY.before.mean_score > ENTROPY.before.accuracy
    assert ENTROPY.after.temperature > 1
    for one in (SMOOTHED, FOCAL):
        assert one.before.mean_score < one.before.accuracy
        assert one.before.badge.word == "Underconfident"
        assert one.after.temperature < 1
    for one in LOSSES.values():
        assert one.after.ks_error < one.before.ks_error
        needed = abs(one.after.temperature - 1) > NEAR
        assert (one.after.nll < one.before.nll) == needed
        assert one.after.accuracy == one.before.accuracy


@pytest.mark.parametrize("seed", range(20))
def test_every_seed_shows_the_same(seed: int) -> None:
    here = LESSON.show(start_of(LESSON, seed=seed, seat=seed))
    assert here.answer == "Below 1: raises the scores (T = 0.855)"
    first, second = here.sentence.split("  \n")
    assert first.startswith("**Label smoothing 0.05**, T = 1: mean score 89.1%, accuracy 91.1%: ")
    assert first.endswith("**underconfident by 2.0 percentage points**.")  # 91.1 - 89.1
    assert second == (
        "Fitted T (lowest NLL on calibration rows) for label smoothing 0.05: 0.855 (KS error"
        " 2.1% \u2192 1.3%); for cross-entropy: 1.94 (KS error 5.1% \u2192 0.2%)."
        " At its fitted T, scores of label smoothing 0.05 are slightly too high: 92.2% against"
        " 91.1% correct, as T is fitted by the NLL of all classes, not by the mean score."
    )
    assert here.note.startswith(
        "Lowest KS error: focal loss (gamma 2) as trained, cross-entropy at the fitted T."
    )


@pytest.mark.parametrize(("gamma", "side"), [(1, "above"), (2, "about"), (3, "below")])
def test_the_temperature_falls_with_gamma(gamma: int, side: str) -> None:
    (one,) = (one for one in LOSSES.values() if one.loss.gamma == gamma)
    result = one.after.temperature
    near = abs(result - 1) < NEAR
    assert side == ("about" if near else "above" if result > 1 else "below")


def mean_of_logs(score: float, smoothing: float, n_classes: int) -> float:
    """Return the smoothed loss from its labels: so much of the true class, so little of others."""
    little = smoothing / n_classes
    rest = (1 - score) / (n_classes - 1)
    return -(1 - smoothing + little) * math.log(score) - (n_classes - 1) * little * math.log(rest)


@pytest.mark.parametrize("score", [0.01, 0.5, 0.955, 0.99])
def test_the_losses_are_those_of_their_formulas(score: float) -> None:
    at = np.array([score])
    log = -math.log(score)
    np.testing.assert_allclose(Loss("").at(at, 10), [log])
    for gamma in (1, 2, 3):
        expected = (1 - score) ** gamma * log
        np.testing.assert_allclose(Loss("", gamma=gamma).at(at, 10), [expected])
    for smoothing in (0.05, 0.1):
        expected = mean_of_logs(score, smoothing, 10)
        np.testing.assert_allclose(Loss("", smoothing=smoothing).at(at, 10), [expected])


@pytest.mark.parametrize("smoothing", [0.0, 0.05, 0.1])
def test_the_loss_is_lowest_at_the_smoothed_label(smoothing: float) -> None:
    one, grid = Loss("", smoothing=smoothing), np.linspace(0.5, 0.9999, 5001)
    lowest = float(grid[one.at(grid, 10).argmin()])
    assert lowest == pytest.approx(min(one.lowest(10), grid[-1]), abs=2e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_loss_is_drawn_with_its_formula(loss: str) -> None:
    here = view_of(loss, "loss")
    assert here.pictures[0].name == "loss"
    assert here.pictures[1].figure == view_of(loss, "before").pictures[1].figure
    (formula,) = (one.text for one in here.pictures[0].figure.layout.annotations)
    assert formula == LOSSES[loss].loss.formula
    assert len(here.pictures[0].figure.data) == len(LOSSES)


@pytest.mark.parametrize("stage", ["before", "after"])
@pytest.mark.parametrize("loss", LOSSES)
def test_all_stand_beside_the_chosen_one(loss: str, stage: str) -> None:
    here = view_of(loss, stage)
    traces = here.pictures[1].figure.data
    scores = [float(trace.x[0]) for trace in traces if trace.marker.symbol == "circle"]
    accuracies = [float(trace.x[0]) for trace in traces if trace.marker.symbol == "diamond"]
    wanted = [one.at(stage) for one in reversed(LOSSES.values())]
    assert scores == [one.mean_score for one in wanted]
    assert accuracies == [one.accuracy for one in wanted]
    axis = here.pictures[1].figure.layout.xaxis.range
    assert axis[0] < min(scores + accuracies)
    assert axis[1] > max(scores + accuracies)
    assert here.sentence.startswith(f"**{LOSSES[loss].name}**")
    assert LOSSES[loss].at(stage).shown in str(here.pictures[0].figure.layout.title.text)
    assert len(here.numbers) == 1 + 2 * len(LOSSES)


def test_before_the_answer_only_cross_entropy_is_shown() -> None:
    before = view_of("smoothing", "after", revealed=False)
    sent = json.dumps([p.figure.to_json() + p.text for p in before.pictures]).lower()
    assert "cross-entropy" in sent
    assert not {"smoothing", "focal", "underconfident"} & set(sent.replace(",", " ").split())
    assert "91.1" not in sent


def test_the_link_opens_the_same_networks_and_the_same_stage() -> None:
    for stage, method in (("before", "none"), ("after", "temperature")):
        query = LESSON.link(start_of(LESSON, chosen={"stage": stage})).query
        assert query["method"] == method
        names = {query["sample"], *query["beside"].split(",")}
        assert names == {one.sample for one in LOSSES.values()}
