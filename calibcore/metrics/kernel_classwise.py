"""The kernel-smoothed calibration error of every class."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.metrics.kernel import MESH, check_norm, half_width, kde_of_densities, per_unit
from calibcore.validation import Floats, Labels

_BATCH = 16  # classes at once: their meshes stay in a processor's cache
_MESHES = 2  # as many cells of a table at once, so that adding up meshes is little beside them


def kde_classwise_ece(
    probabilities: ArrayLike, labels: ArrayLike, *, norm: Literal[1, 2] = 1
) -> float:
    """Compute the mean over classes of each one's `kde_ece`, the class against the others.

    Parameters
    ----------
    probabilities : array_like of float, shape (n_samples, n_classes)
        Rows that sum to 1 (y_prob).
    labels : array_like of int, shape (n_samples,)
        True classes (y_true), from 0.
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
    probability above 1, of a row scaled within the tolerance, counts as 1. The points are those of
    `MESH` for every class, also where `kde_ece` would take finer ones for a narrow kernel.

    References
    ----------
    Zhang, Kailkhura, Han, ICML 2020, section 4.1; Kull et al., NeurIPS 2019.

    Examples
    --------
    >>> kde_classwise_ece([[0.5, 0.5], [0.5, 0.5]], [0, 0])
    0.5
    """
    check_norm(norm)
    table, true = validation.labelled(probabilities, labels)
    n_classes = table.shape[1]
    width = _class_widths(table, true)
    errors = np.empty(n_classes)
    for first in range(0, n_classes, _BATCH):
        block = slice(first, min(first + _BATCH, n_classes))
        counts, hits = _class_densities(table, true, block)
        errors[block] = kde_of_densities(counts, hits, width[block], norm)
    return float(errors.mean())


def _class_widths(table: Floats, true: Labels) -> Floats:
    """Return the half width of the kernel of each class."""
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


def _class_densities(table: Floats, true: Labels, block: slice) -> tuple[Floats, Floats]:
    """Return the densities of all rows and of the hits on the mesh, for a few classes."""
    columns = table[:, block]
    counts = class_masses(columns, np.broadcast_to(1.0, columns.shape), MESH)
    mine = np.flatnonzero((true >= block.start) & (true < block.stop))
    own = np.minimum(table[mine, true[mine]], 1.0)
    hits = np.zeros(counts.shape)
    share_out(hits, true[mine] - block.start, own, np.ones(mine.size))
    return per_unit(counts), per_unit(hits)


def class_masses(table: Floats, weights: Floats, size: int) -> Floats:
    """Share weights out to a mesh of each class, at the probabilities of the class.

    With many classes nearly all cells are in the first of the mesh, whose sums need no search.

    ``table``, ``weights``: probabilities, and what stands at each; shape (n_samples, n_classes).
    ``size``: cells of the mesh.

    The last column stays 0; shape (n_classes, size + 2).
    """
    n_rows, n_classes = table.shape
    mass = np.zeros((n_classes, size + 2))
    step = _MESHES * (size + 2)
    for start in range(0, n_rows, step):
        low = table[start : start + step].flatten()
        weight = weights[start : start + step].flatten()
        above = np.flatnonzero(low >= 1 / size)
        share_out(mass, above % n_classes, np.minimum(low[above], 1.0), weight[above])
        low[above] = weight[above] = 0
        in_first = weight.reshape(-1, n_classes)
        upper = size * np.einsum("ij,ij->j", low.reshape(-1, n_classes), in_first)
        mass[:, 0] += np.einsum("ij->j", in_first) - upper
        mass[:, 1] += upper
    return mass


def share_out(mass: Floats, curve: NDArray[np.integer], values: Floats, weights: Floats) -> None:
    """Add weights at values in [0, 1] to the two points around each, on the mesh of each curve."""
    n_points = mass.shape[1]
    beyond = values * (n_points - 2)
    cells = beyond.astype(np.intp)
    upper = (beyond - cells) * weights
    cells += curve * n_points
    flat = mass.reshape(-1)
    flat += np.bincount(cells, weights=weights - upper, minlength=flat.size)
    flat[1:] += np.bincount(cells, weights=upper, minlength=flat.size)[:-1]
