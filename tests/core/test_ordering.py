"""Rows are ordered as an indirect sort of all their values orders them."""

import numpy as np
import pytest

from calibcore.ordering import order_of_rows

NEXT_TO = np.array([0.3, np.nextafter(0.3, 1), 0.3 + 2**-50, 0.3 + 2**-40])
ENDS = np.array([0.0, -0.0, 5e-324, 1e-310, np.nextafter(1, 0), 1.0])


VALUES = {"near": NEXT_TO, "ends": ENDS, "few": np.arange(100) / 99, "drawn": None}


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("n_rows", [1, 2, 63, 3000])
def test_keys_that_lack_the_lowest_bits_lose_no_order(
    values: np.ndarray | None, n_rows: int
) -> None:
    """Scores that differ in those bits alone, few and many that are equal."""
    rng = np.random.default_rng(n_rows)
    for few in (True, False):
        drawn = rng.random(n_rows)
        some = rng.random(n_rows) < (0.05 if few else 1.0)
        scores = drawn if values is None else np.where(some, rng.choice(values, n_rows), drawn)
        others = rng.integers(0, 2, n_rows), rng.random(n_rows).round(1)
        order, ordered = order_of_rows(scores, *others)
        wanted = np.lexsort((*others[::-1], scores))
        for one in (scores, *others):
            np.testing.assert_array_equal(one[order], one[wanted])
        np.testing.assert_array_equal(ordered, scores[wanted])
        assert np.bincount(order, minlength=n_rows).tolist() == [1] * n_rows
