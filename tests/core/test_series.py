"""One network of a series: each number by loops from the papers' equations."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibcore.auditing import audit
from calibcore.calibrators import PlattScaling
from calibcore.data import LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.events import TopR, WithinTopR
from calibcore.series import checkpoint, checkpoint_of
from calibcore.splits import Split, deal_folds
from tests import reference, reference_measures
from tests.core.draws import overconfident


def draw_set(seed: int, n_rows: int = 90, n_classes: int = 4) -> LogitSet:
    return overconfident(np.random.default_rng(seed), n_rows, n_classes, spread=5, by=3)


def lowest(rows: LogitSet) -> float:
    """Find the temperature by halving an interval of 1 / T, in which the NLL's slope is 0."""
    table, labels = rows.logits.tolist(), rows.labels.tolist()
    low, high = 0.01, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        rises = reference.scaled_nll_slope(table, labels, middle) > 0
        low, high = (low, middle) if rises else (middle, high)
    return 1 / low


def entropy(table: list[list[float]]) -> float:
    return -math.fsum(p * math.log(p) for row in table for p in row if p) / len(table)


def own(table: list[list[float]], labels: list[int]) -> Iterator[tuple[list[float], int]]:
    return zip(table, labels, strict=True)


@pytest.mark.parametrize(
    ("event", "outcomes", "r"),
    [(TopR(1), reference.top_r, 1), (WithinTopR(2), reference.within_top_r, 2)],
)
def test_every_number_is_that_of_loops(event: TopR | WithinTopR, outcomes: object, r: int) -> None:
    split = Split(draw_set(1), draw_set(2, n_rows=70))
    result = checkpoint(3, split, event=event, n_bins=7)
    temperature = lowest(split.calibration)
    assert (result.number, result.n_samples) == (3.0, 70)
    assert_allclose(result.temperature, temperature, rtol=1e-6)
    labels = split.test.labels.tolist()
    for side, divisor in enumerate((1.0, temperature)):
        scaled = [[z / divisor for z in row] for row in split.test.logits.tolist()]
        table = reference.softmax(scaled)
        scores, hits = outcomes(table, labels, r)  # type: ignore[operator]
        assert_allclose(result.error, 1 - reference.accuracy(table, labels), atol=1e-12)
        if side == 0:
            assert_allclose(
                result.losses, [reference.surprise(p[y]) for p, y in own(table, labels)]
            )
        assert_allclose(result.nll[side], reference.nll(table, labels), rtol=1e-7)
        assert_allclose(result.entropy[side], entropy(table), rtol=1e-6)
        assert_allclose(result.ece[side], reference.ece(scores, hits, 7, "equal_width"), rtol=1e-6)
        by_class = reference_measures.classwise_errors(table, labels, 7)
        assert_allclose(result.classwise_ece[side], np.mean(by_class), rtol=1e-6)
        assert_allclose(result.ks_error[side], reference.ks_error(scores, hits), atol=1e-7)


def test_folds_show_the_mean_of_their_temperatures() -> None:
    rows = draw_set(3)
    fold = deal_folds(rows, seed=0)
    result = checkpoint(0, Split(rows, rows, fold=fold))
    each = [lowest(rows.rows(fold != number)) for number in range(int(fold.max()) + 1)]
    assert_allclose(result.temperature, sum(each) / len(each), rtol=1e-6)


def test_another_calibrator_has_no_temperature() -> None:
    split = Split(draw_set(4), draw_set(5))
    result = audit(split, event=TopR(1), calibrator=PlattScaling())
    with pytest.raises(CalibrationInputError, match="a temperature"):
        checkpoint_of(0, split.test, result.test, result.of_test)
