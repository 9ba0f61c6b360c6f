import numpy as np
import pytest
from hypothesis import given

from calibcore import CalibrationInputError, LogitSet
from calibcore.metrics import classwise_ece, ece
from tests.strategies import LogitCase, logit_sets


@given(logit_sets())
def test_it_is_the_mean_over_the_classes(case: LogitCase) -> None:
    rows = LogitSet(case.logits, case.labels)
    table = rows.probabilities
    each = [ece(np.minimum(table[:, k], 1), rows.labels == k) for k in range(rows.n_classes)]
    assert classwise_ece(table, rows.labels) == pytest.approx(np.mean(each), abs=1e-12)


def test_scores_on_the_edges_belong_to_the_bin_below() -> None:
    # Bins of one fifth; 0.2 and 0.6 end theirs, so each row is alone with its class's cell.
    table = [[0.2, 0.8], [0.4, 0.6]]
    assert classwise_ece(table, [0, 0], n_bins=5) == pytest.approx((0.8 + 0.6 + 0.8 + 0.6) / 4)


def test_many_classes_are_taken_in_blocks(rng: np.random.Generator) -> None:
    table = rng.dirichlet(np.full(300, 0.05), size=2_500)
    labels = rng.integers(0, 300, 2_500)
    each = [ece(np.minimum(table[:, k], 1), labels == k) for k in range(300)]
    assert classwise_ece(table, labels) == pytest.approx(np.mean(each), abs=1e-12)


def test_no_bin_is_refused() -> None:
    with pytest.raises(CalibrationInputError, match="n_bins: 0"):
        classwise_ece([[0.5, 0.5]], [0], n_bins=0)
