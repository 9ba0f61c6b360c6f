"""Tables of text decoded by Arrow, and its columns as arrays."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.contents import Array

Coded = tuple[NDArray[np.int32], list[str]]
"""Each row's place among the different texts, and these."""


def batch_of(
    raw: bytes,
    names: list[str],
    types: Mapping[str, Any],
    delimiter: str,
    mark: str = ".",
    nulls: Sequence[str] = (),
) -> Any:
    """Give columns as they are typed, or nothing where a cell is not of its type.

    Parameters
    ----------
    raw : bytes
        Whole rows in UTF-8.
    names : list of str
        Of all columns.
    types : mapping of str to type
        What the columns to be read hold.
    delimiter, mark : str
        What parts fields, and what marks decimals.
    nulls : sequence of str
        Cells that are no number in columns of numbers.
    """
    import pyarrow as pa  # noqa: PLC0415 - a tenth of a second to import
    from pyarrow import csv  # noqa: PLC0415 - as above

    try:
        table = csv.read_csv(
            pa.BufferReader(raw),
            csv.ReadOptions(use_threads=False, block_size=2 * len(raw), column_names=names),
            csv.ParseOptions(
                delimiter=delimiter, ignore_empty_lines=False, newlines_in_values=True
            ),
            csv.ConvertOptions(
                column_types=types, include_columns=list(types), null_values=list(nulls),
                true_values=[], false_values=[], decimal_point=mark,
            ),
        )  # fmt: skip
    except (pa.ArrowException, ValueError):
        return None
    batches = table.to_batches()
    return batches[0] if len(batches) == 1 else None


def is_plain_nan(raw: bytes) -> bool:
    """Tell whether what is no finite number is spelled as it must be read cell by cell.

    Examples
    --------
    >>> is_plain_nan(b"1,NaN"), is_plain_nan(b"1,-nan")
    (True, False)
    """
    text = raw.lower()
    return not any(odd in text for odd in (b"-nan", b"+nan", b"nan("))


def coded(column: Any) -> Coded:
    """Give each row's place among the different texts, and these."""
    if not hasattr(column, "dictionary"):
        column = column.dictionary_encode()
    return bare(column.indices, np.int32), column.dictionary.to_pylist()


def bare(column: Any, dtype: type) -> Array:
    """Give the numbers as they lie in memory; Arrow's own way would import pandas."""
    return np.frombuffer(column.buffers()[1], dtype, len(column), column.offset * dtype().itemsize)
