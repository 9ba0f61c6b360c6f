"""The kernel-smoothed calibration error of every class."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.blocks import row_blocks
from calibcore.metrics.kernel import MESH, check_norm, half_width, kde_of_densities, per_unit
from calibcore.validation import Floats

_BATCH = 16  # classes at once: their meshes stay in a processor's cache


def kde_classwise_ece(
    probabilities: ArrayLike, labels: ArrayLike, *, norm: Literal[1, 2] = 1
) -> float:
    """Average over the classes of each class's `kde_ece`, the class against the others.

    Parameters
    ----------
    probabilities : array_like of float, shape (n_samples, n_classes)
        Rows that sum to 1.
    labels : array_like of int, shape (n_samples,)
        True classes, from 0.
    norm : {1, 2}, default 1
        As in `kde_ece`; the root is taken of each class, then the average.

    Returns
    -------
    float
        In probability units, 0 to 1. With many classes it is small, because most probabilities are.

    Raises
    ------
    CalibrationInputError
        Rows that are not probabilities, labels that do not fit, another norm.

    Notes
    -----
    (1 / K) sum_k KDE-ECE(p_k, 1(y = k)). A class that no row has counts like any other. A
    probability above 1, of a row scaled within the tolerance, counts as 1.

    References
    ----------
    Zhang, Kailkhura, Han, ICML 2020, section 4.1; Kull et al., NeurIPS 2019.

    Examples
    --------
    >>> kde_classwise_ece([[0.5, 0.5], [0.5, 0.5]], [0, 0])
    0.5
    """
    check_norm(norm)
    table = validation.probabilities(probabilities)
    n_rows, n_classes = table.shape
    true = validation.labels(labels, n_rows=n_rows, n_classes=n_classes)
    width = _class_widths(table, true)
    errors = np.empty(n_classes)
    for first in range(0, n_classes, _BATCH):
        block = slice(first, min(first + _BATCH, n_classes))
        counts, hits = _class_densities(table, true, block)
        errors[block] = kde_of_densities(counts, hits, width[block], norm)
    return float(errors.mean())


def _class_widths(table: Floats, true: NDArray[np.int64]) -> Floats:
    """Give the half width of the kernel of each class."""
    n_rows, n_classes = table.shape
    own = np.minimum(table[np.arange(n_rows), true], 1.0)
    n_hits = np.bincount(true, minlength=n_classes)
    total = np.bincount(true, weights=own, minlength=n_classes)
    own -= (total / np.maximum(n_hits, 1))[true]
    squares = np.bincount(true, weights=np.square(own), minlength=n_classes)
    spread = np.sqrt(squares / np.maximum(n_hits, 1))
    for k in np.flatnonzero(n_hits < 2):
        spread[k] = np.minimum(table[:, k], 1.0).std()
    return half_width(spread, n_rows)


def _class_densities(table: Floats, true: NDArray[np.int64], block: slice) -> tuple[Floats, Floats]:
    """Give the densities of all rows and of the hits on the mesh, for a few classes."""
    n_rows, width = len(table), block.stop - block.start
    shape = (width, MESH + 2)
    counts, hits = np.zeros(shape), np.zeros(shape)
    for rows in row_blocks(n_rows, width):
        beyond = np.minimum(table[rows, block], 1.0) * MESH
        cells = beyond.astype(np.intp)
        beyond -= cells
        cells += np.arange(width) * shape[1]
        _share_out(counts, cells.ravel(), beyond.ravel())
        mine = np.flatnonzero((true[rows] >= block.start) & (true[rows] < block.stop))
        column = true[rows][mine] - block.start
        _share_out(hits, cells[mine, column], beyond[mine, column])
    return per_unit(counts), per_unit(hits)


def _share_out(mass: Floats, cells: NDArray[np.intp], beyond: Floats) -> None:
    """Add rows to the two points around each."""
    flat = mass.reshape(-1)
    flat += np.bincount(cells, weights=1 - beyond, minlength=flat.size)
    flat[1:] += np.bincount(cells, weights=beyond, minlength=flat.size)[:-1]
