"""Calibrated does not mean useful: measures of each forecaster against slow code and algebra."""

import math
import re

import numpy as np
import pytest

from calibcore.metrics import corp, ece, event_brier, event_nll
from calibcore.samples import load_sample
from dashboard.learn.lesson import start_of
from dashboard.learn.lessons import useful
from tests import reference, reference_measures

every_factor = pytest.mark.parametrize("factor", list(useful.FACTORS))


def network() -> tuple[list[float], list[int], float]:
    """Scores and outcomes of the test set, and the base rate, by slow code."""
    data = load_sample(useful.MODEL)
    shirt = list(data["class_names"]).index(useful.SHIRT)
    rows = reference.softmax(data["logits_test"].astype(float).tolist())
    hits = [int(label == shirt) for label in data["labels_test"]]
    fit = [label == shirt for label in data["labels_calibration"]]
    return [row[shirt] for row in rows], hits, sum(fit) / len(fit)


@every_factor
def test_scores_are_moved_in_log_odds(factor: str) -> None:
    scores, hits, rate = network()
    assert useful.base_rate() == pytest.approx(rate)
    result = useful.forecaster(factor).rows
    assert result.hits.tolist() == hits
    for k in range(0, len(scores), 97):
        odds, base = (math.log(p / (1 - p)) for p in (scores[k], rate))
        moved = base + float(factor) * (odds - base)
        assert result.scores[k] == pytest.approx(1 / (1 + math.exp(-moved)), rel=1e-6)


@every_factor
def test_measures_are_those_of_slow_code(factor: str) -> None:
    result = useful.forecaster(factor)
    scores, hits = result.rows.scores.tolist(), result.rows.hits.tolist()
    assert result.ece == pytest.approx(reference.ece(scores, hits, useful.N_BINS, "equal_width"))
    assert result.brier == pytest.approx(reference.event_brier(scores, hits))
    assert result.nll == pytest.approx(reference.event_nll(scores, hits))
    parts = result.parts
    total = parts.miscalibration - parts.discrimination + parts.uncertainty
    assert total == pytest.approx(result.brier)


@pytest.mark.long
def test_parts_are_those_of_slow_isotonic_regression() -> None:
    rows = useful.forecaster(useful.EXAGGERATED).rows.rows(np.arange(0, 3_000, 15))
    slow = reference_measures.corp(rows.scores.tolist(), rows.hits.tolist())
    result = corp(rows.scores, rows.hits)
    assert (result.miscalibration, result.discrimination) == pytest.approx(
        (slow.miscalibration, slow.discrimination)
    )


def test_one_score_for_all_has_closed_forms() -> None:
    scores, hits, rate = network()
    observed = sum(hits) / len(hits)
    base = useful.forecaster(useful.BASE)
    assert base.ece == pytest.approx(abs(rate - observed), abs=1e-12)
    assert base.brier == pytest.approx(observed * (1 - rate) ** 2 + (1 - observed) * rate**2)
    assert base.parts.discrimination == 0
    assert base.parts.miscalibration == pytest.approx((rate - observed) ** 2, abs=1e-12)
    assert useful.forecaster(useful.NETWORK).rows.scores.tolist() == pytest.approx(scores)


def test_scaling_log_odds_moves_miscalibration_alone() -> None:
    parts = [useful.forecaster(one).parts for one in useful.FACTORS if one != useful.BASE]
    assert {round(one.discrimination, 12) for one in parts} == {round(parts[0].discrimination, 12)}
    assert len({round(one.miscalibration, 6) for one in parts}) == len(parts)


@pytest.mark.parametrize("seed", range(20))
def test_calibrated_is_not_useful_on_other_rows_too(seed: int) -> None:
    chosen = np.random.default_rng(seed).integers(3_000, size=3_000)
    base, network, exaggerated = (useful.forecaster(one).rows.rows(chosen) for one in useful.THREE)
    eces = [ece(o.scores, o.hits, n_bins=useful.N_BINS) for o in (base, network, exaggerated)]
    assert eces == sorted(eces)
    briers = [event_brier(one.scores, one.hits) for one in (base, network, exaggerated)]
    assert briers[1] < briers[2] < briers[0]
    nlls = [event_nll(one.scores, one.hits, one.rest) for one in (base, network, exaggerated)]
    assert nlls[1] < nlls[0] < nlls[2]


def test_the_answer_and_the_sentence() -> None:
    shown = useful.show(start_of(useful.LESSON, chosen={"factor": "2"}))
    assert shown.answer.startswith(useful.FACTORS[useful.BASE])
    twice = useful.forecaster("2")
    assert (
        f"**2\u00d7**: ECE {100 * twice.ece:.1f}%, Brier score {twice.brier:.3f}" in shown.sentence
    )
    assert "(better), NLL" in shown.note
    sums = re.findall(r"(0[\d.]+) \+ (0[\d.]+) = (0\.\d+)", shown.note)
    assert len(sums) == 3
    for sum_of in sums:
        lost, remaining, score = map(float, sum_of)
        assert lost + remaining == pytest.approx(score, abs=1e-9)  # also after rounding
        assert f"{score:.3f}" in {row[2] for row in shown.numbers} | {
            row[3] for row in shown.numbers
        }
    parts = useful.forecaster(useful.NETWORK).parts
    refinement = parts.uncertainty - parts.discrimination
    assert sums[0][1] == f"{refinement:.3f}"
    assert f"({parts.uncertainty:.3f}), minus" in shown.note
    assert f"*discrimination* ({parts.discrimination:.3f})" in shown.note
    assert "(worse)" in shown.note
    assert len(shown.numbers) == len(useful.FACTORS) + 1


def test_each_small_diagram_has_its_ece_and_brier_score() -> None:
    shown = useful.show(start_of(useful.LESSON, chosen={"factor": "2"}))
    texts = [one.text for one in shown.pictures[0].figure.layout.annotations]
    assert len(texts) == 4
    for text, factor in zip(texts, (*useful.THREE, "2"), strict=True):
        result = useful.forecaster(factor)
        assert text.endswith(f"<br>ECE {100 * result.ece:.1f}%<br>Brier {result.brier:.3f}")
    assert "Slider: 2\u00d7." in shown.pictures[0].text
    assert [one.name for one in shown.behind] == ["plane"]


def test_before_the_answer_only_scores_are_seen() -> None:
    (picture,) = useful.show(start_of(useful.LESSON, revealed=False)).pictures
    assert len(picture.figure.data) == len(useful.THREE)
    for trace, factor in zip(picture.figure.data, useful.THREE, strict=True):
        assert isinstance(trace.marker.color, str)  # the same for shirts and others
        assert set(trace.x) <= set(useful.forecaster(factor).rows.scores.tolist())
