"""First rows that look like a header and are data."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dashboard.readers.columns.headings import LABELS, key_of
from dashboard.readers.columns.slices import is_number
from dashboard.readers.contents import RawSet
from dashboard.readers.refusal import quoted
from dashboard.readers.upload import Upload

_FRACTION = re.compile(r"\s*[+-]?[0-9]?[.,][0-9]{3,}(?:[eE][+-]?[0-9]+)?\s*", re.ASCII)
_LEAST = 5


def is_data(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Tell a row of data of which most cells are words, by a number among them.

    Of a header no cell is a number of three decimals over numbers, while a word of another is one
    of the words below it.

    Parameters
    ----------
    first : sequence of str
        The row that may be a header.
    below : sequence of rows
        The rows below it.

    Examples
    --------
    >>> rows = [["cat", "0.512"], ["dog", "0.634"]] * 3
    >>> is_data(["cat", "0.874"], rows), is_data(["label", "0.874"], rows)
    (True, False)
    """
    rows = [row for row in below if len(row) == len(first)]
    fractions = [c for c, cell in enumerate(first) if _FRACTION.fullmatch(cell)]
    if len(rows) < _LEAST or not fractions or any(key_of(cell) in LABELS for cell in first):
        return False
    if not all(is_number(row[c]) for row in rows for c in fractions):
        return False
    words = [c for c, cell in enumerate(first) if cell.strip() and not is_number(cell)]
    return any(first[c].strip() in {row[c].strip() for row in rows} for c in words)


def with_first_label(
    truth: RawSet, labels: Upload, n_rows: int
) -> tuple[RawSet, tuple[str, ...], tuple[str, ...]]:
    """Take the header of a file of labels alone for the first of them, if one is missing.

    Parameters
    ----------
    truth : RawSet
        The labels.
    labels : Upload
        The file that they are from.
    n_rows : int
        How many rows they are of.

    Returns
    -------
    RawSet
        The labels, with the first if the header is one.
    tuple of str, tuple of str
        What was done, and what may be doubted.
    """
    names, texts = list(labels.contents.uses), truth.label_texts
    codes = np.asarray(truth.labels)
    if texts is None or len(names) != 1 or names[0] not in texts or labels.options.header:
        return truth, (), ()
    file, first = quoted(labels.name, 40), quoted(names[0], 30)
    if len(codes) == n_rows:
        doubt = (
            f"The first line of {file}, {first}, was taken for its header and is a label below: if"
            " it is the first label, there is one label more than rows."
        )
        return truth, (), (doubt,)
    if len(codes) != n_rows - 1:
        return truth, (), ()
    whole = np.concatenate([np.array([texts.index(names[0])], dtype=codes.dtype), codes])
    said = (
        f"The first line of {file}, {first}, was taken for the first label and for no header: there"
        f" are {n_rows:,} rows, and it is a label below."
    )
    whole_truth = replace(truth, labels=whole, first_row=max(truth.first_row - 1, 1))
    return whole_truth, (said,), ()
