"""Curves of weighted rows and of clusters: slow loops, copies of rows, one score by hand."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from scipy.stats import t as student

from benchmarks.clustered import KINDS, drawn, in_curves, visits
from calibcore.cumulative import cumulative_curves
from calibcore.errors import CalibrationInputError
from calibcore.inference.draws import tally_of
from calibcore.reliability import (
    belt_of,
    calibration_belt,
    corp_reliability,
    smooth_reliability,
    spline_frequency,
    spline_null_band,
)
from tests import reference_belt as slow
from tests.marks import first_and_long

RNG = np.random.default_rng(36)
N, OF = 240, 40
WHOSE = RNG.permutation(np.repeat(np.arange(OF), N // OF))
SCORES = RNG.beta(2, 2, N).round(3)
HITS = (RNG.random(N) < SCORES**1.5 + 0.2 * (WHOSE % 2)).astype(int)
WEIGHTS = RNG.gamma(3, 1, N).round(3)
DESIGNS: dict[str, dict[str, Any]] = {
    "clusters": {"clusters": WHOSE},
    "weights": {"sample_weight": WEIGHTS},
    "both": {"sample_weight": WEIGHTS, "clusters": WHOSE},
}


@pytest.mark.parametrize("kind", DESIGNS)
def test_the_belt_beside_slow_loops(kind: str) -> None:
    design = DESIGNS[kind]
    result = calibration_belt(SCORES, HITS, **design)
    weights = design.get("sample_weight", np.ones(N)).tolist()
    of = WHOSE.tolist() if "clusters" in design else None
    values, covariance, far = slow.robust_chosen(SCORES.tolist(), HITS.tolist(), weights, of)
    assert_allclose(result.coefficients, values, rtol=1e-6, atol=1e-8)
    assert result.statistic == pytest.approx(far, rel=1e-6)
    assert result.p_value == pytest.approx(slow.p_value(far, len(values) - 1), rel=1e-5)
    for place in (0, 30, -1):
        for level, low, high in zip(result.levels, result.lower, result.upper, strict=True):
            ends = slow.robust_bounds(values, covariance, float(result.score[place]), level)
            assert_allclose((low[place], high[place]), ends, rtol=1e-6)


@pytest.mark.parametrize("kind", DESIGNS)
def test_the_spline_band_beside_loops(kind: str) -> None:
    design = DESIGNS[kind]
    few = slice(0, 60)
    scores, hits = SCORES[few] + 1e-5 * np.arange(60), HITS[few]
    own = {name: one[few] for name, one in design.items()}
    weight = {name: one for name, one in own.items() if name == "sample_weight"}
    none = spline_frequency(scores, np.zeros(60), **weight).slope
    pulls = np.stack(
        [spline_frequency(scores, np.arange(60) == k, **weight).slope - none for k in range(60)]
    )
    units = own.get("clusters", np.arange(60)).tolist()
    parts = {unit: np.zeros(none.size) for unit in units}
    for pull, score, hit, unit in zip(pulls, scores, hits, units, strict=True):
        parts[unit] += pull * (score - hit)
    n, middle, times = len(parts), np.zeros(none.size), 1.0
    if "clusters" in own:
        middle = np.sum([*parts.values()], axis=0) / n
        times = n / (n - 1) * (student.ppf(0.975, n - 1) / norm.ppf(0.975)) ** 2
    wanted = np.sqrt(times * np.sum([(one - middle) ** 2 for one in parts.values()], axis=0))
    result = spline_null_band(cumulative_curves(scores, hits, **own))
    assert_allclose(result.deviation, wanted, rtol=1e-8)


def test_copies_of_rows_tell_no_more_than_the_rows() -> None:
    alone, again = np.arange(N), np.repeat(np.arange(N), 5)
    one = calibration_belt(SCORES, HITS, clusters=alone)
    copies = calibration_belt(SCORES[again], HITS[again], clusters=again)
    assert_allclose(copies.coefficients, one.coefficients, rtol=1e-6)
    # By themselves, rows vary no less than their scores say; copies by what was seen alone.
    assert one.statistic <= copies.statistic < 1.2 * one.statistic
    assert copies.statistic < calibration_belt(SCORES[again], HITS[again]).statistic / 3
    for compute in (corp_reliability, smooth_reliability):
        wanted, result = (
            compute(SCORES[rows], HITS[rows], clusters=rows, **same(compute))
            for rows in (alone, again)
        )
        assert_allclose(result.frequency, wanted.frequency, atol=1e-12)
        assert_allclose(result.confidence.upper, wanted.confidence.upper, atol=1e-9)
        assert_allclose(result.confidence.lower, wanted.confidence.lower, atol=1e-9)


def same(compute: object) -> dict[str, Any]:
    return {"bandwidth": 0.1} if compute is smooth_reliability else {}


def test_bands_of_one_score_by_hand() -> None:
    """The mean of clusters that differ, by Student's t of their sums."""
    hits = RNG.random(N) < 0.3 + 0.4 * (WHOSE % 3 == 0)
    scores, freedom = np.full(N, 0.5), OF - 1
    sums = np.bincount(WHOSE, hits)
    half = student.ppf(0.975, freedom) * sums.std(ddof=1) * math.sqrt(OF) / N
    corp = corp_reliability(scores, hits, clusters=WHOSE, n_resamples=9999)
    assert corp.consistency.upper[0] == pytest.approx(0.5 + half, abs=0.04 * half)
    assert corp.consistency.lower[0] == pytest.approx(0.5 - half, abs=0.04 * half)
    smooth = smooth_reliability(scores, hits, clusters=WHOSE, bandwidth=0.1, n_resamples=9999)
    assert smooth.confidence.upper[256] == pytest.approx(hits.mean() + half, abs=0.06 * half)
    assert smooth.confidence.lower[256] == pytest.approx(hits.mean() - half, abs=0.06 * half)


@pytest.mark.parametrize("kind", first_and_long(KINDS))
def test_bands_and_belt_hold_of_calibrated_rows(kind: str) -> None:
    """As docs/validation.md says of 400 sets."""
    sets = [in_curves((kind, seed)) for seed in range(40)]
    means = {key: np.mean([one[key] for one in sets]) for key in sets[0]}
    assert means.pop("belt") <= 0.15  # of a true 5%, six of 40 are exceeded in 1 of 70 runs
    assert min(means.values()) > 0.88


@pytest.mark.long
def test_rows_taken_apart_are_rejected_far_too_often() -> None:
    sets = [visits(np.random.default_rng(seed), alike=True) for seed in range(40)]
    apart = np.mean([calibration_belt(one.scores, one.hits).p_value < 0.05 for one in sets])
    together = np.mean([belt_of(tally_of(one)).p_value < 0.05 for one in sets])
    assert apart > 0.15 > together


def test_few_clusters_have_no_belt() -> None:
    with pytest.raises(CalibrationInputError, match="10 clusters with rows of each outcome"):
        calibration_belt(SCORES, HITS, clusters=WHOSE % 9)


def test_rows_of_a_stated_prevalence_have_curves() -> None:
    rows = tally_of(drawn(("a stated prevalence", 0)))
    assert belt_of(rows).degree >= 1
