"""Rows that stand in the calibration set and in the test set alike."""

import numpy as np
from numpy.typing import NDArray

from calibcore.blocks import block_rows, row_blocks
from dashboard.readers.contents import Array

_WORDS = NDArray[np.uint64]
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_SOUGHT = 1 << 20
_MOST_TWINS = 0.9


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
    and must be above twice that, or above halfway from it to 1, or be all. Where nearly every row
    has a twin, as of hard decisions, only two sets of the same rows tell.
    """
    known = _hashes(*calibration)
    order = np.argsort(known)
    known = known[order]
    asked = _hashes(*test)
    shared, twins = np.empty(len(asked), dtype=np.bool_), np.empty(len(asked), dtype=np.int32)
    for start in range(0, len(asked), _SOUGHT):
        # In their order they are found twenty times as fast, as all of what is near is in cache.
        rows = start + np.argsort(asked[start : start + _SOUGHT])
        place = np.minimum(np.searchsorted(known, asked[rows]), len(known) - 1)
        shared[rows] = known[place] == asked[rows]
        twins[rows] = order[place]
    twin = np.zeros(len(known) + 1, dtype=np.bool_)
    np.equal(known[1:], known[:-1], out=twin[1:-1])
    twinned = np.count_nonzero(twin[1:] | twin[:-1]) / len(known)
    telling = twinned <= _MOST_TWINS or np.array_equal(known, np.sort(asked))
    del known, asked, order, twin
    found = np.flatnonzero(shared)
    step = block_rows(calibration[0].shape[1])
    for start in range(0, len(found), step):
        places = found[start : start + step]
        # Equal values with equal hashes have equal labels, since a label adds an odd multiple.
        same = calibration[0][twins[places]] == test[0][places]
        shared[places] = same.all(axis=1)
    expected = min(2 * twinned, (1 + twinned) / 2)
    count = int(np.count_nonzero(shared))
    many = count > expected * len(shared) or count == len(shared)
    return shared if count and many and telling else None


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
