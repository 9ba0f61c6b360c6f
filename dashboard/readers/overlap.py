"""Rows that stand in the calibration set and in the test set alike."""

import numpy as np
from numpy.typing import NDArray

from calibcore.blocks import block_rows, row_blocks
from dashboard.readers.contents import Array

_WORDS = NDArray[np.uint64]
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def shared_rows(
    calibration: tuple[Array, Array], test: tuple[Array, Array]
) -> NDArray[np.bool_] | None:
    """Find the test rows that the calibration set has too, if it has more than chance explains.

    Parameters
    ----------
    calibration, test : tuple of ndarray
        Values, shape (n_samples, n_columns), and labels, shape (n_samples,).

    Returns
    -------
    ndarray of bool, optional
        One a test row; None where rows repeat no more than within the calibration set.

    Notes
    -----
    Rows are found by a hash of 64 bits and then compared cell by cell. Where inputs are few and
    coarse, different samples share a row of values, which no one can tell from a copy. So the
    share found is held against the share of calibration rows that have a twin in their own set,
    and must be above twice that, or above halfway from it to 1.
    """
    known, asked = _hashes(*calibration), _hashes(*test)
    order = np.argsort(known, kind="stable")
    ordered = known[order]
    place = np.minimum(np.searchsorted(ordered, asked), len(ordered) - 1)
    shared = ordered[place] == asked
    found = np.flatnonzero(shared)
    step = block_rows(calibration[0].shape[1])
    for start in range(0, len(found), step):
        rows = found[start : start + step]
        twins = order[place[rows]]
        # Equal values with equal hashes have equal labels, since a label adds an odd multiple.
        shared[rows] = (calibration[0][twins] == test[0][rows]).all(axis=1)
    _, counts = np.unique(ordered, return_counts=True)
    twinned = counts[counts > 1].sum() / len(known)
    expected = min(2 * twinned, (1 + twinned) / 2)
    count = int(np.count_nonzero(shared))
    return shared if count and (count > expected * len(asked) or count == len(asked)) else None


def _hashes(table: Array, labels: Array) -> _WORDS:
    """Give 64 bits a row, a block of rows at a time."""
    odd = np.random.default_rng(0).integers(1 << 63, size=table.shape[1] + 1, dtype=np.uint64)
    odd = odd * np.uint64(2) + np.uint64(1)
    hashes = np.empty(len(table), dtype=np.uint64)
    for rows in row_blocks(*table.shape):
        # Adding 0 makes one of the two zeros.
        bits = (table[rows].astype(np.float64) + 0.0).view(np.uint64)
        bits ^= bits >> _SHIFT
        bits *= _MIX
        bits ^= bits >> _SHIFT
        hashes[rows] = bits @ odd[:-1] + labels[rows].astype(np.uint64) * odd[-1]
    return hashes
