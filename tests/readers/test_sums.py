"""Probabilities of rounded files, scaled where they are read: what `LogitSet` makes of them."""

import io

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, read


@pytest.mark.parametrize("lift", [0.0, 1e-9, 3e-7])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_rounded_rows_are_scaled_as_a_set_does(dtype: type[np.floating], lift: float) -> None:
    rng = np.random.default_rng(3)
    exact = rng.dirichlet(np.full(5, 0.05), 4000)
    table = np.maximum(exact.astype(dtype) + lift * rng.normal(size=exact.shape), 0).astype(dtype)
    labels = rng.integers(0, 5, len(table))
    wanted = LogitSet.from_probabilities(table.astype(np.float64), labels)
    with io.BytesIO() as file:
        np.savez(file, probs=table, labels=labels)
        rows = read("a.npz", file.getvalue()).rows
    assert isinstance(rows, LogitSet)
    assert rows.probabilities.tobytes() == wanted.probabilities.tobytes()
    assert rows.labels.dtype == np.int64


def test_a_row_far_from_1_is_not_scaled_away() -> None:
    table = np.full((50, 2), 0.5, dtype=np.float32)
    table[7] = 1.5, 0.0
    with io.BytesIO() as file:
        np.savez(file, probs=table, labels=np.arange(50) % 2)
        with pytest.raises(FileError):
            read("a.npz", file.getvalue(), values="probabilities")
