"""How much memory the numbers of a file take, once they are sets to compute with."""

from collections.abc import Iterator

import numpy as np

from dashboard.readers.columns.named_sets import parting_of
from dashboard.readers.contents import (
    DEFAULTS,
    Array,
    Contents,
    RawEvent,
    RawSet,
    check_rows,
)
from dashboard.readers.meaning.measured import ROUNDING, measure
from dashboard.readers.meaning.values import RESCALED
from dashboard.readers.refusal import FileError

TIMES, SPARE_BYTES = 4, 256 << 20
"""What a file may take: so many times its size, and so much more."""

_AROUND = 44 << 20
"""Of that, what libraries and blocks of rows take that are being worked on."""

_LABEL_BYTES, _MARK_BYTES, _HASH_BYTES = 8, 3, 1
_SAMPLE = 1000


def check_weight(contents: Contents, n_bytes: int) -> None:
    """Refuse more rows than are read, and numbers that are packed too tightly for their size.

    Parameters
    ----------
    contents : Contents
        As a format's reader handed them over.
    n_bytes : int
        Size of the file.
    """
    for raw in contents.sets.values():
        check_rows(n_rows_of(raw))
    weight, limit = weight_of(contents), TIMES * n_bytes + SPARE_BYTES - _AROUND
    if weight > limit:
        n_rows = sum(map(n_rows_of, contents.sets.values()))
        raise FileError(
            "file",
            f"{n_rows:,} rows, {weight >> 20:,} MB once they are numbers to compute with, too large"
            f" for {n_bytes:,} bytes",
            f"at most {limit >> 20:,} MB in a file of this size: fewer rows or columns, or float32"
            " values in an .npz that is not compressed",
        )


def n_rows_of(raw: RawSet | RawEvent) -> int:
    """Count the rows of a set."""
    if isinstance(raw, RawEvent):
        return len(raw.scores)
    return max((len(array) if array.ndim else 1 for array in _arrays(raw)), default=0)


def weight_of(contents: Contents) -> int:
    """Count the bytes of what a file holds, and of the sets that will be made of it."""
    blocks: dict[int, int] = {}
    held, more = 0, 0
    for raw in contents.sets.values():
        n_rows = n_rows_of(raw)
        for array in _arrays(raw):
            held += array.nbytes
            block = _block(array)
            blocks[block.__array_interface__["data"][0]] = block.nbytes
        values = _of_event(raw) if isinstance(raw, RawEvent) else _of_table(raw)
        more += values + (_LABEL_BYTES + _MARK_BYTES) * n_rows
        if len(contents.sets) > 1:
            more += _HASH_BYTES * n_rows
    if "rows" in contents.sets and parting_of(contents.sets, DEFAULTS) is not None:
        more += held + (_HASH_BYTES + 2) * n_rows_of(contents.sets["rows"])
    return sum(blocks.values()) + more


def _arrays(raw: RawSet | RawEvent) -> Iterator[Array]:
    own: tuple[Array | None, ...]
    if isinstance(raw, RawEvent):
        own = (raw.scores, raw.hits, *(raw.numbers or ()))
    else:
        own = (raw.table, raw.labels)
    yield from (array for array in own if array is not None)
    yield from (column.values for column in raw.columns)


def _block(array: Array) -> Array:
    """Give the whole array of which another is a part, and which stays as long as it does."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _of_event(raw: RawEvent) -> int:
    return 0 if raw.scores.dtype == np.float64 else 8 * raw.scores.size


def _of_table(raw: RawSet) -> int:
    """Count the bytes of the table that is computed with, where it is another than the file's."""
    table = raw.table
    if (
        table is None
        or table.ndim not in (1, 2)
        or not table.size
        or table.dtype.kind not in "biuf"
    ):
        return 0
    size = table.size if table.ndim == 2 else 2 * table.size
    with np.errstate(invalid="ignore"):
        some = measure({"rows": RawSet(table[:_SAMPLE], None)})
    if some.low < -ROUNDING or (some.n_outside and not some.off(100) <= RESCALED):
        single = table.dtype in (np.float16, np.float32)
        kept = table.dtype in (np.float32, np.float64)
        itemsize = 4 if single else 8
    else:
        kept, itemsize = table.dtype == np.float64 and some.off() < ROUNDING, 8
    return 0 if kept and table.ndim == 2 and table.flags.c_contiguous else itemsize * size
