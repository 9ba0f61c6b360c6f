"""Rows that the tests of the core draw alike."""

import numpy as np

from calibcore.data import EventScores, LogitSet


def overconfident(
    rng: np.random.Generator, n_rows: int, n_classes: int, *, spread: float = 4, by: float = 2
) -> LogitSet:
    """Draw logits, and labels from the softmax of logits that are smaller by a factor."""
    logits = spread * rng.normal(size=(n_rows, n_classes))
    return LogitSet(logits, (logits / by + rng.gumbel(size=logits.shape)).argmax(axis=1))


def squared(n_rows: int, seed: int = 0) -> EventScores:
    """Draw scores whose squares are the chances of the event."""
    rng = np.random.default_rng(seed)
    scores = rng.random(n_rows)
    return EventScores(scores, rng.random(n_rows) < scores**2)
