"""One test of calibration out of several statistics."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import erfc, expit
from scipy.stats import chi2

from calibcore import CalibrationInputError, cumulative_curves
from calibcore.cumulative import brownian_range_tail, brownian_tail
from calibcore.inference import omnibus_test
from calibcore.inference.omnibus import DEPARTURES, ORDER
from tests.strategies import EventCase, Floats, event_data

Hits = NDArray[np.bool_]


def slow_statistics(scores: Floats, hits: Hits) -> dict[str, float]:
    """By sums over the rows and by the public curves; of rows whose scores all differ."""
    variance = [s * (1 - s) for s in scores]
    gaps = [s - h for s, h in zip(scores, hits, strict=True)]
    odds = [math.log(s / (1 - s)) for s in scores]
    centre = sum(v * x for v, x in zip(variance, odds, strict=True)) / sum(variance)
    slope = sum((x - centre) * d for x, d in zip(odds, gaps, strict=True))
    information = sum(v * (x - centre) ** 2 for v, x in zip(variance, odds, strict=True))
    so_far, place = 0.0, {}
    for s in sorted(scores):
        place[s] = (so_far + s * (1 - s) / 2) / sum(variance)
        so_far += s * (1 - s)
    powers = np.array([[place[s] ** k for k in range(ORDER + 1)] for s in scores])
    score = powers.T @ gaps
    within = powers.T @ np.diag(variance) @ powers
    curves = cumulative_curves(scores, hits)
    return {
        "mean": sum(gaps) / math.sqrt(sum(variance)),
        "spread": slope / math.sqrt(information),
        "smooth": float(score @ np.linalg.solve(within, score)),  # Rao's score statistic
        "ks": curves.ks_statistic,
        "kuiper": curves.kuiper_statistic,
    }


def slow_least(scores: Floats, hits: Hits) -> float:
    """Return the smallest p-value of the five."""
    result = slow_statistics(scores, hits)
    return min(
        erfc(abs(result["mean"]) / math.sqrt(2)),
        erfc(abs(result["spread"]) / math.sqrt(2)),
        chi2.sf(result["smooth"], ORDER + 1),
        brownian_tail(result["ks"]),
        brownian_range_tail(result["kuiper"]),
    )


def draw_rows(rng: np.random.Generator, n_rows: int, truth: str) -> tuple[Floats, Hits]:
    odds = rng.normal(-0.5, 1.5, n_rows)
    true = {
        "scores": odds,
        "lower": odds - 0.5,
        "tamer": 0.6 * odds,
        "wave": odds + 0.8 * np.sin(2.2 * odds),
    }[truth]
    return expit(odds), rng.random(n_rows) < expit(true)


def test_statistics_are_those_of_sums_over_the_rows(rng: np.random.Generator) -> None:
    for truth in ("scores", "lower", "wave"):
        scores, hits = draw_rows(rng, 300, truth)
        result = omnibus_test(scores, hits, n_draws=20)
        expected = slow_statistics(scores, hits)
        assert tuple(part.key for part in result.parts) == DEPARTURES
        for part in result.parts:
            assert part.value == pytest.approx(expected[part.key], rel=1e-6), part.key
        least = min(part.p_value for part in result.parts)
        assert least == pytest.approx(slow_least(scores, hits), rel=1e-5)


def test_p_value_is_the_share_of_drawn_labels_that_are_as_far_off(
    rng: np.random.Generator,
) -> None:
    scores, hits = draw_rows(rng, 80, "scores")
    least = slow_least(scores, hits)
    drawn = [slow_least(scores, rng.random(80) < scores) for _ in range(400)]
    result = omnibus_test(scores, hits, n_draws=2000)
    assert result.p_value == pytest.approx(np.mean(np.array(drawn) <= least), abs=0.08)
    assert result.p_value == min(part.adjusted for part in result.parts)
    assert all(part.adjusted >= part.p_value - 0.03 for part in result.parts)


@pytest.mark.long
def test_false_alarms_are_rare_and_power_is_not_that_of_one_statistic() -> None:
    rng, share = np.random.default_rng(5), {}
    for truth in ("scores", "tamer", "wave"):
        draws = [draw_rows(rng, 400, truth) for _ in range(100)]
        share[truth] = (
            np.mean([omnibus_test(*one, n_draws=199).p_value < 0.05 for one in draws]),
            np.mean([cumulative_curves(*one).ks_p_value < 0.05 for one in draws]),
        )
    assert share["scores"][0] < 0.1  # 5% and 2.3 standard deviations
    for truth in ("tamer", "wave"):
        ours, ks = share[truth]
        assert ours > ks + 0.2


def test_what_differs_is_named(rng: np.random.Generator) -> None:
    lower = omnibus_test(*draw_rows(rng, 3000, "lower"))
    assert "mean" in lower.departures()
    assert lower.part("mean").value > 0  # scores are too high
    tamer = omnibus_test(*draw_rows(rng, 3000, "tamer"))
    assert "spread" in tamer.departures()
    assert tamer.part("spread").value > 0  # scores are too extreme
    wave = omnibus_test(*draw_rows(rng, 3000, "wave"))
    assert "smooth" in wave.departures()
    assert "mean" not in wave.departures()


@given(event_data(), st.integers(0, 3))
def test_order_of_the_rows_does_not_matter(case: EventCase, seed: int) -> None:
    scores, hits = np.asarray(case.scores), np.asarray(case.hits)
    first = omnibus_test(scores, hits, n_draws=30)
    order = np.random.default_rng(seed).permutation(scores.size)
    again = omnibus_test(scores[order], hits[order], n_draws=30)
    assert again.p_value == first.p_value
    assert 1 / 31 <= first.p_value <= 1
    for part in first.parts:
        assert not math.isnan(part.value)
        assert 0 <= part.p_value <= 1
        assert first.p_value <= part.adjusted <= 1


def test_scores_that_cannot_vary() -> None:
    assert omnibus_test([0.0, 1.0, 1.0], [0, 1, 1]).p_value == 1
    wrong = omnibus_test([0.0, 1.0, 1.0], [0, 0, 1])
    assert wrong.p_value == pytest.approx(1 / 1001)
    assert wrong.part("mean").value == math.inf
    assert "spread" not in wrong.departures()


def test_a_constant_score_is_right_or_wrong_on_average_alone() -> None:
    right = omnibus_test([0.3] * 100, [1] * 30 + [0] * 70)
    assert right.p_value == 1
    wrong = omnibus_test([0.3] * 100, [1] * 60 + [0] * 40)
    assert wrong.departures() == ("mean", "smooth", "ks", "kuiper")
    assert wrong.part("mean").value == pytest.approx(-30 / math.sqrt(21))
    assert wrong.part("smooth").value == pytest.approx(30**2 / 21)
    assert wrong.part("spread").value == 0


def test_many_rows_are_joined_without_another_answer() -> None:
    scores, hits = draw_rows(np.random.default_rng(3), 20_000, "tamer")
    expected = slow_statistics(scores[:4000], hits[:4000])
    result = omnibus_test(scores[:4000], hits[:4000], n_draws=20)
    for part in result.parts:
        assert part.value == pytest.approx(expected[part.key], rel=0.02), part.key


def test_refusals() -> None:
    with pytest.raises(CalibrationInputError, match="scores"):
        omnibus_test([1.2], [1])
    with pytest.raises(CalibrationInputError, match="hits"):
        omnibus_test([0.2], [2])
    with pytest.raises(CalibrationInputError, match="statistic"):
        omnibus_test([0.2], [0]).part("mce")  # type: ignore[arg-type]
