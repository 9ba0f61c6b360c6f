"""Which bins hold enough rows, and which are off: against loops over the bins."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calibcore.reliability import binned_reliability, classwise_reliability
from calibcore.reliability.bins import LEAST_SHARE

rows = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 1)), min_size=1, max_size=300)


@given(rows, st.sampled_from([1, 2, 15, 100]))
def test_each_bin_is_evaluated_by_its_own_interval(
    drawn: list[tuple[int, int]], n_bins: int
) -> None:
    scores, hits = (np.array(values) for values in zip(*drawn, strict=True))
    result = binned_reliability(scores / 20, hits, n_bins=n_bins)
    for b, sign in enumerate(result.off.tolist()):
        count, score = result.bins.counts[b], result.bins.mean_score[b]
        assert bool(result.telling[b]) == (count / len(drawn) >= LEAST_SHARE)
        if count == 0 or result.lower[b] <= score <= result.upper[b]:
            assert sign == 0
        else:
            assert sign == (1 if score > result.bins.frequency[b] else -1)


def test_a_bin_with_one_row_in_a_hundred_counts() -> None:
    result = binned_reliability([0.05] + [0.95] * 99, [0] * 100, n_bins=10)
    assert result.telling.tolist() == [True, *[False] * 8, True]
    assert result.off.tolist() == [0] * 9 + [1]
    result = binned_reliability([0.05] + [0.95] * 100, [1] * 101, n_bins=10)
    assert not result.telling[0]
    assert result.off[[0, -1]].tolist() == [-1, -1]


def test_one_class_of_several_is_that_class_alone() -> None:
    rng = np.random.default_rng(2)
    table = rng.dirichlet(np.ones(4), 500)
    labels = rng.integers(0, 4, 500)
    together = classwise_reliability(table, labels, n_bins=7)
    for k in range(4):
        alone = binned_reliability(table[:, k], labels == k, n_bins=7)
        result = together.of_class(k)
        assert result.bins.counts.tolist() == alone.bins.counts.tolist()
        assert np.allclose(result.bins.mean_score, alone.bins.mean_score, equal_nan=True)
        assert np.array_equal(result.bins.frequency, alone.bins.frequency, equal_nan=True)
        assert np.array_equal(result.lower, alone.lower, equal_nan=True)
        assert np.array_equal(result.upper, alone.upper, equal_nan=True)
        assert result.off.tolist() == together.off[k].tolist() == alone.off.tolist()
        assert result.telling.tolist() == together.telling[k].tolist()
