"""Truths under which an observed distance is usual; draws of the same labels; totals of rows."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibcore.inference.draws import redrawn
from calibcore.inference.findings import reference
from calibcore.inference.inversion import (
    Distance,
    Usual,
    _drawn_values,
    _stronger,
    allowed_frequencies,
    invert,
    shifted,
)
from calibcore.metrics import METRICS, EventMeasure, Options
from calibcore.tally import Tally, count_totals, hit_totals, tally, whole_numbers

OPTIONS = Options(rough=True)
KEYS = ("ks_error", "ece", "sweep_ece", "mce", "miscalibration", "smooth_ece")


@pytest.mark.parametrize("off", [0.0, 0.04, 0.1])
def test_distances_that_are_left_out_later_are_as_if_all_were_drawn(off: float) -> None:
    rng = np.random.default_rng(3)
    scores = np.sort(rng.beta(3, 1, 400))
    counted = tally(scores, rng.random(400) < scores - off * scores)
    measures = {one.key: one for one in METRICS if isinstance(one, EventMeasure)}
    null = redrawn(rng, counted, counted.scores, 100)
    distances = {
        key: Distance(
            float(measures[key].compute(counted, OPTIONS)),
            measures[key].compute(null, OPTIONS),
            measures[key],
            OPTIONS,
        )
        for key in KEYS
    }
    pattern = shifted(counted, 0.02)
    result = invert(np.random.default_rng(7), counted, distances, [pattern], 0.9)

    usual = {key: Usual.beginning(one.null, 0.9) for key, one in distances.items()}
    (again,) = np.random.default_rng(7).spawn(1)
    stronger = list(_stronger(counted.scores, pattern))
    for frequency, its in zip(stronger, again.spawn(len(stronger)), strict=True):
        values = _drawn_values(its, counted, frequency, distances)
        true = replace(counted, hits=counted.counts * frequency)
        for key, one in distances.items():
            usual[key].add(one.measure.true_distance(true, OPTIONS), values[key])
    for key, one in distances.items():
        allowed = [
            one.measure.true_distance(replace(counted, hits=counted.counts * frequency), OPTIONS)
            for frequency in allowed_frequencies(counted, 0.9)
        ]
        expected = usual[key].estimate(one.observed)
        assert result[key].centre == expected.centre
        assert result[key].interval.low == expected.interval.low
        assert result[key].interval.high == pytest.approx(max(expected.interval.high, *allowed))


def test_a_draw_of_the_same_labels_is_as_far_whatever_the_rounding() -> None:
    null = np.array([0.1, 0.2 * (1 - 1e-12), 0.2, 0.2 * (1 + 1e-12), 0.3])
    assert reference(null, 0.2, 0.0).p_value == 5 / 6
    assert reference(1 - null, 0.8, 1.0).p_value == 5 / 6
    assert reference(null, 0.2 * 1.01, 0.0).p_value == 2 / 6


def test_only_larger_distances_are_farther_and_an_unbiased_one_may_be_below_zero() -> None:
    null = np.array([-0.3, -0.1, 0.0, 0.1, 0.4])
    assert reference(null, 0.2, 0.0, 0.2).p_value == 2 / 6
    assert reference(null, 0.2, 0.0).p_value == 3 / 6  # of what may be off to either side
    assert reference(null, -0.1, 0.0, -0.1).p_value == 5 / 6
    assert reference(null, -0.2, 0.0, -0.1).lower < -0.3 + 1e-12  # not cut at 0
    assert reference(np.abs(null), 0.1, 0.0, 0.2).lower >= 0


def test_totals_of_whole_rows_and_of_expected_hits() -> None:
    counts, hits = np.array([[1.0, 0.0, 2.0], [3.0, 0.0, 0.0]]), np.array([0.25, 0.0, 1.5])
    counted = Tally(np.array([0.1, 0.2, 0.3]), counts, hits, 3)
    assert count_totals(counted).tolist() == [[1.0, 1.0, 3.0], [3.0, 3.0, 3.0]]
    assert_allclose(hit_totals(counted), [0.25, 0.25, 1.75])
    assert count_totals(counted).dtype == hit_totals(counted).dtype == np.float64
    assert whole_numbers(hits) is None
