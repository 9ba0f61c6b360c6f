"""Labels drawn from class probabilities."""

import numpy as np
from numpy.typing import NDArray

from calibcore.blocks import row_blocks
from calibcore.validation import Floats


def drawn_labels(
    rng: np.random.Generator, probabilities: Floats, n_draws: int
) -> NDArray[np.int32]:
    """Draw the label of every row from its probabilities, some times over.

    ``rng``: where the draws come from. ``probabilities``: rows that sum to 1 (y_prob); shape
    (n_samples, n_classes). ``n_draws``: how many times.
    """
    n_rows, n_classes = probabilities.shape
    labels = np.empty((n_draws, n_rows), dtype=np.int32)
    for rows in row_blocks(n_rows, n_classes):
        totals = np.cumsum(probabilities[rows], axis=1)
        totals /= totals[:, -1:]  # a row may sum to a little less than 1
        if n_classes == 2:  # a tenth of the time of a search
            labels[:, rows] = rng.random((n_draws, len(totals))) >= totals[:, 0]
            continue
        # One search serves all rows of a block: each is lifted above the one before.
        lift = np.arange(len(totals))
        totals += lift[:, np.newaxis]
        places = rng.random((n_draws, len(totals))) + lift
        found = np.searchsorted(totals.ravel(), places, side="right") - lift * n_classes
        labels[:, rows] = np.minimum(found, n_classes - 1)
    return labels
