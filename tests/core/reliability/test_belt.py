"""The calibration belt: beside slow fits, another program, and calibrated scores."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from calibcore.errors import CalibrationInputError
from calibcore.reliability import belt, belt_of, calibration_belt
from calibcore.reliability.belt import _quantile as quantile
from calibcore.reliability.belt import _survival as survival
from calibcore.tally import tally
from calibcore.validation import Floats, Hits
from tests import reference_belt as slow
from tests.marks import first_and_long

CURVES = (
    lambda odds: 0.3 + 0.6 * odds,
    lambda odds: odds + 0.35 * odds**2 - 0.6,
    lambda odds: odds - 0.6 * odds**3 + 0.2,
    lambda odds: odds + 0.9 * odds**2 - 0.35 * odds**4,
)
"""True log-odds, by those of the score."""


def draw_rows(curve: int, n_rows: int = 400) -> tuple[Floats, Hits]:
    rng = np.random.default_rng(curve)
    odds = np.round(rng.normal(-1, 1, n_rows), 2)
    true = 1 / (1 + np.exp(-CURVES[curve](odds)))
    return 1 / (1 + np.exp(-odds)), (rng.uniform(size=n_rows) < true).astype(np.int8)


@pytest.mark.parametrize("curve", first_and_long(range(4)))
def test_beside_slow_fits(curve: int) -> None:
    scores, hits = draw_rows(curve, 70)
    result = calibration_belt(scores, hits)
    listed = scores.tolist(), hits.tolist()
    values, _ = slow.chosen(*listed)
    assert result.degree == len(values) - 1
    assert_allclose(result.coefficients, values, rtol=1e-6, atol=1e-8)
    assert result.statistic == pytest.approx(slow.statistic(*listed), abs=1e-8)
    wanted = slow.p_value(result.statistic, result.degree)
    assert result.p_value == pytest.approx(wanted, rel=1e-6, abs=1e-15)
    assert result.levels == (0.8, 0.95)
    for level, low, high, place in zip(
        result.levels, result.lower, result.upper, (9, -1), strict=True
    ):
        ends = slow.bounds(*listed, float(result.score[place]), level)
        assert_allclose((low[place], high[place]), ends, atol=1e-7)


PEER = (
    (1, 39.69267853497706, 2.4035013979073483e-09, [0.24707700120488518, 0.6078021484374907]),
    (
        2, 60.95019781845434, 5.546674231027282e-12,
        [-0.8779824240856183, 0.8706628584270755, 0.3516707048673512],
    ),
    (
        3, 587.4006330417292, 0.0,
        [0.20389005214749878, 1.2245201023279544, 0.17463836401428973, -0.6792165183451735],
    ),
    (
        2, 21.716114546143785, 0.0008926060203640063,
        [0.5795156855556916, 0.6570382997851162, -0.4112312810089186],
    ),
)  # fmt: skip
"""Degree, statistic, p-value and coefficients by calibration-belt 0.1.41 (Bulgarelli), which fits
by statsmodels and integrates equations 17 to 19 of the paper."""


@pytest.mark.parametrize("curve", range(4))
def test_beside_another_program(curve: int) -> None:
    result, (degree, statistic, p_value, coefficients) = (
        calibration_belt(*draw_rows(curve)),
        PEER[curve],
    )
    assert result.degree == degree
    assert result.statistic == pytest.approx(statistic, rel=1e-8)
    assert result.p_value == pytest.approx(p_value, rel=1e-5, abs=1e-14)
    assert_allclose(result.coefficients, coefficients, rtol=1e-6)


@pytest.mark.parametrize(
    ("degree", "statistic", "p_value"),
    [
        (1, 3.0, 0.2231301601484298), (2, 7.3, 0.44561318837568153),
        (3, 12.5, 0.5054091943830863), (4, 18.0, 0.5139830359217705),
    ],
)  # fmt: skip
def test_the_distribution_is_the_other_programs(
    degree: int, statistic: float, p_value: float
) -> None:
    assert float(survival(np.array(statistic), degree)) == pytest.approx(p_value, abs=1e-9)


def test_the_belt_of_another_program_to_its_accuracy() -> None:
    """By trust-region steps, with probabilities held 1e-5 from 0 and 1."""
    scores, hits = draw_rows(1)
    result = calibration_belt(scores, hits, levels=(0.95,))
    rows = (
        (0.02389268941058276, 0.17621675548765722, 0.9572941633144282),
        (0.4573979341074849, 0.16628902474654567, 0.3897139495789578),
        (0.8909031788043871, 0.34858770221252205, 0.9978579084147013),
    )
    for score, low, high in rows:
        ends = [
            float(np.interp(score, result.score, one[0])) for one in (result.lower, result.upper)
        ]
        assert ends == pytest.approx([low, high], abs=0.03)


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_the_point_at_a_level_is_that_of_the_distribution(degree: int) -> None:
    for level in (0.5, 0.8, 0.95, 0.999):
        point = quantile(level, degree)
        assert float(survival(np.array(point), degree)) == pytest.approx(1 - level, abs=1e-12)


def test_the_distribution_is_that_of_a_sum_of_chi_squareds() -> None:
    rng = np.random.default_rng(0)
    squares = rng.normal(size=(4_000_000, 2)) ** 2
    added = [column[column > belt.SELECTION][:150_000] for column in squares.T]
    total = rng.chisquare(2, 150_000) + added[0] + added[1]
    for statistic in (9.0, 12.0, 16.0, 22.0):
        share = (total > statistic).mean()
        wanted = float(survival(np.array(statistic), 3))
        assert share == pytest.approx(wanted, abs=5 * math.sqrt(wanted / 150_000) + 1e-4)


@pytest.mark.long
def test_calibrated_scores_are_rejected_as_often_as_stated() -> None:
    rng = np.random.default_rng(1)
    below, outside = [], 0
    for _ in range(400):
        scores = 1 / (1 + np.exp(-rng.normal(-0.5, 1.2, 500)))
        result = calibration_belt(scores, rng.random(500) < scores, levels=(0.95,))
        below.append(result.p_value)
        outside += bool(result.departures(0.95))
    for level in (0.05, 0.2, 0.5):
        share = (np.array(below) < level).mean()
        assert share == pytest.approx(level, abs=3 * math.sqrt(level * (1 - level) / 400))
    assert outside <= (np.array(below) < 0.05).sum() + 1


def test_the_belt_leaves_the_diagonal_only_where_the_test_rejects() -> None:
    rejected = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        scores = 1 / (1 + np.exp(-rng.normal(0, 1, 300)))
        result = calibration_belt(scores, rng.random(300) < scores ** (1 + 0.006 * seed))
        rejected += result.p_value < 0.05
        for level in result.levels:
            assert not result.departures(level) or result.p_value < 1 - level + 1e-9
    assert 10 < rejected < 55


def test_departures_are_named_by_range_and_side() -> None:
    score = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    lower = np.array([[0.2, 0.3, 0.2, 0.1, 0.1]])
    upper = np.array([[0.3, 0.4, 0.4, 0.3, 0.2]])
    result = belt.CalibrationBelt(
        1, np.zeros(2), 0.0, 1.0, score, score, (0.95,), lower, upper
    )  # fmt: skip
    assert result.departures(0.95) == ((0.1, 0.2, True), (0.4, 0.5, False))


def test_many_scores_have_nearly_the_belt_of_all_their_likelihood(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scores, hits = draw_rows(1, 6_000)
    exact = calibration_belt(scores, hits)
    monkeypatch.setattr(belt, "_MOST_SCORES", 1)
    near = calibration_belt(scores, hits)
    assert near.p_value == exact.p_value
    assert_allclose(near.lower, exact.lower, atol=0.02)
    assert_allclose(near.upper, exact.upper, atol=0.02)


@settings(max_examples=40)
@given(
    rows=st.lists(
        st.tuples(
            st.one_of(st.sampled_from([0.0, 1.0, 0.5, 1e-12]), st.floats(0, 1)), st.booleans()
        ),
        max_size=20,
    ),
    seed=st.integers(0, 999),
)
def test_any_rows_have_belts_about_their_curve(rows: list[tuple[float, bool]], seed: int) -> None:
    """Further rows of any kind among 60 that are calibrated."""
    rng = np.random.default_rng(seed)
    scores = np.concatenate([rng.uniform(0.1, 0.9, 60), [score for score, _ in rows]])
    hits = np.concatenate([np.arange(60) % 2 == 0, [hit for _, hit in rows]])
    result = calibration_belt(scores, hits)
    assert 1 <= result.degree <= 4
    assert 0 <= result.p_value <= 1
    for low, high in zip(result.lower, result.upper, strict=True):
        assert ((low >= 0) & (low <= result.frequency + 1e-9)).all()
        assert ((high <= 1) & (high >= result.frequency - 1e-9)).all()
    if all(0.05 < score < 0.95 for score, _ in rows):
        assert (result.lower[1] <= result.lower[0]).all()
        assert (result.upper[1] >= result.upper[0]).all()


@pytest.mark.parametrize(
    ("scores", "hits", "text"),
    [
        ([0.1, 0.2, 0.3] * 10, [0, 1, 0] * 9 + [0] * 3, "hits: 9 of 30. Expected at least 10 rows"),
        ([0.1, 0.2, 0.3, 0.4] * 6, [0, 0, 1, 1] * 6, "scores: all of one outcome on one side"),
        ([0.1, 0.2, 0.2, 0.4] * 6, [1, 1, 0, 0] * 6, "scores: all of one outcome on one side"),
        ([0.3] * 20, [0, 1] * 10, "scores: all of one outcome on one side"),
    ],
)
def test_what_no_curve_fits_best_is_refused(
    scores: list[float], hits: list[int], text: str
) -> None:
    with pytest.raises(CalibrationInputError) as refused:
        calibration_belt(scores, hits)
    assert text in str(refused.value)


@pytest.mark.parametrize("levels", [(), (0.95, 0.8), (0.8, 0.8), (0.0,), (1.0,), ("0.9",)])
def test_levels_are_checked(levels: Any) -> None:
    with pytest.raises(CalibrationInputError, match=r"^level"):
        calibration_belt(*draw_rows(0), levels=levels)


def test_rows_counted_twice_have_the_same_curve() -> None:
    scores, hits = draw_rows(0)
    twice = tally(np.tile(scores, 2), np.tile(hits, 2))
    assert_allclose(belt_of(twice).coefficients, calibration_belt(scores, hits).coefficients, 1e-6)
