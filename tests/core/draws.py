"""Rows that the tests of the core draw alike."""

import numpy as np

from calibcore.data import LogitSet


def overconfident(
    rng: np.random.Generator, n_rows: int, n_classes: int, *, spread: float = 4, by: float = 2
) -> LogitSet:
    """Draw logits, and labels from the softmax of logits that are smaller by a factor."""
    logits = spread * rng.normal(size=(n_rows, n_classes))
    return LogitSet(logits, (logits / by + rng.gumbel(size=logits.shape)).argmax(axis=1))
