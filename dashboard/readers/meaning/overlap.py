"""Rows that stand in the calibration set and in the test set alike."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from calibcore.blocks import block_rows, row_blocks
from dashboard.readers.records import Array

_Words = NDArray[np.uint64]
_Places = NDArray[np.intp]
_Set = tuple[Array, Array]
_Rows = tuple[Array, _Places]
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_TOP, _BYTE = np.uint64(56), np.uint64(8)
_PART_ROWS = 1 << 17
_MOST_TWINS = 0.9


def shared_rows(calibration: _Set, test: _Set) -> NDArray[np.bool_] | None:
    """Mark the test rows that the calibration set has too, if it has more than chance explains.

    Rows, values and label alike, are found by a hash of 64 bits and then compared cell by cell.
    Where inputs are few and coarse, different samples share a row of values, which no one can tell
    from a copy. So the share found is held against the share of calibration rows that have a twin
    in their own set, and must be above twice that, or above halfway from it to 1, or be all. Where
    nearly every row has a twin, as of hard decisions, only two sets of the same rows tell.
    """
    shared = np.zeros(len(test[1]), dtype=np.bool_)
    n_twinned, same_sets = 0, len(calibration[1]) == len(test[1])
    for known, sought in _parts(calibration, test):
        have, ours = _sorted(calibration, known)
        want, theirs = _sorted(test, sought)
        same_sets = same_sets and np.array_equal(have, want)
        n_twinned += _n_twinned(have)
        # In their order they are found twenty times as fast, as all of what is near is in cache.
        place = np.searchsorted(have, want)
        there = place < len(have)
        there[there] = have[place[there]] == want[there]
        _compare(shared, (calibration[0], ours[place[there]]), (test[0], theirs[there]))
    twinned = n_twinned / len(calibration[1])
    telling = twinned <= _MOST_TWINS or same_sets
    expected = min(2 * twinned, (1 + twinned) / 2)
    count = int(np.count_nonzero(shared))
    many = count > expected * len(shared) or count == len(shared)
    return shared if count and many and telling else None


def words_of(
    table: Array, labels: Array, most_rows: int
) -> tuple[_Words, _Words, NDArray[np.intp]]:
    """Return 64 bits for the values of each row, 64 for values and label, and which rows these are.

    Of more rows than wanted a share is taken by their values, so that copies stay together.
    """
    nothing = np.broadcast_to(np.uint8(0), len(labels))
    every = np.uint64(-(-len(labels) // most_rows))
    parts, start = list[tuple[_Words, _Words, _Places]](), 0
    for values, rows in zip(_hashes(table, nothing), _hashes(table, labels), strict=True):
        taken = np.flatnonzero((values >> _SHIFT) % every == 0)
        parts.append((values[taken], rows[taken], taken + start))
        start += len(values)
    values, rows, places = (np.concatenate(part) for part in zip(*parts, strict=True))
    return values, rows, places


def _n_twinned(words: _Words) -> int:
    """Count the rows that have a twin among these, which are in order."""
    twin = np.zeros(len(words) + 1, dtype=np.bool_)
    np.equal(words[1:], words[:-1], out=twin[1:-1])
    return int(np.count_nonzero(twin[1:] | twin[:-1]))


def _compare(shared: NDArray[np.bool_], ours: _Rows, theirs: _Rows) -> None:
    """Mark the rows of a test table that are the same, cell by cell, as those beside them."""
    step = block_rows(ours[0].shape[1])
    for start in range(0, len(theirs[1]), step):
        rows = theirs[1][start : start + step]
        # Equal values with equal hashes have equal labels, since a label adds an odd multiple.
        same = ours[0][ours[1][start : start + step]] == theirs[0][rows]
        shared[rows] = same.all(axis=1)


def _parts(calibration: _Set, test: _Set) -> Iterator[tuple[_Places, _Places]]:
    """Return the rows of both sets whose hashes begin alike: to keep all takes much memory."""
    count = min(-(-max(len(calibration[1]), len(test[1])) // _PART_ROWS), 256)
    ours, theirs = (
        np.concatenate(
            [
                ((part >> _TOP) * np.uint64(count) >> _BYTE).astype(np.uint8)
                for part in _hashes(*one)
            ]
        )
        for one in (calibration, test)
    )
    for part in range(count):
        yield np.flatnonzero(ours == part), np.flatnonzero(theirs == part)


def _sorted(whole: _Set, places: _Places) -> tuple[_Words, _Places]:
    """Return the hashes of some rows in their order, and which rows they are of."""
    hashes = _hashes(whole[0], whole[1], places)
    words = np.concatenate([np.empty(0, dtype=np.uint64), *hashes])
    order = np.argsort(words)
    return words[order], places[order]


def _hashes(table: Array, labels: Array, places: _Places | None = None) -> Iterator[_Words]:
    """Return 64 bits a row, of all rows or of some, a block of rows at a time."""
    odd = np.random.default_rng(0).integers(1 << 63, size=table.shape[1] + 1, dtype=np.uint64)
    odd = odd * np.uint64(2) + np.uint64(1)
    for block in row_blocks(len(labels) if places is None else len(places), table.shape[1]):
        rows = block if places is None else places[block]
        # Adding 0 makes one of the two zeros.
        bits = (table[rows].astype(np.float64) + 0.0).view(np.uint64)
        bits ^= bits >> _SHIFT
        bits *= _MIX
        bits ^= bits >> _SHIFT
        yield bits @ odd[:-1] + labels[rows].astype(np.uint64) * odd[-1]
