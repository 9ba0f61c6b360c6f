"""Named arrays of any file: a table with labels, or one value a row of each as columns."""

from collections.abc import Mapping, Sequence

import numpy as np

from dashboard.readers.binary.npy import text_codes
from dashboard.readers.columns.headings import CONFIDENCE, HITS, PREDICTED, WEAK_HITS, key_of
from dashboard.readers.columns.named import left_out_sentence, sorted_arrays
from dashboard.readers.columns.table_columns import Column, Text, from_columns
from dashboard.readers.contents import DEFAULTS, Array, Contents, Options
from dashboard.readers.refusal import FileError, quoted

_MAX_NAMES = 1000
_LIKELIEST = frozenset({"score", "pred_score"})
"""Further names of the score of the predicted class, where that is there too."""


def contents_of(
    arrays: Mapping[str, Array], *, left_out: Sequence[str] = (), options: Options = DEFAULTS
) -> Contents:
    """Sort named arrays into sets, or read top-1 scores as the columns they are.

    Parameters are those of `sorted_arrays`.
    """
    if len(arrays) > _MAX_NAMES:
        listed = ", ".join(quoted(name, 20) for name in list(arrays)[:3])
        raise FileError(
            "file", f"{len(arrays):,} arrays or lists by name ({listed} ...)",
            "logits and labels; of rows by name, a list of one record a row",
        )  # fmt: skip
    keys = {key_of(name) for name in arrays}
    flat = all(array.ndim == 1 and array.dtype.kind in "biufU" for array in arrays.values())
    of_likeliest = keys & (CONFIDENCE | _LIKELIEST) and keys & (PREDICTED | HITS | WEAK_HITS)
    if flat and of_likeliest and _one_length(arrays):
        said = left_out_sentence(left_out)
        columns = [_column(array) for array in arrays.values()]
        return from_columns(list(arrays), columns, options, found=said)
    return sorted_arrays(arrays, left_out=left_out, options=options)


def _one_length(arrays: Mapping[str, Array]) -> bool:
    return len({len(array) for array in arrays.values()}) == 1


def _column(array: Array) -> Column:
    """Give texts as places among the different ones, in the order in which these appear."""
    if array.dtype.kind != "U":
        return array
    texts, places = text_codes(array, "texts")
    order = np.argsort(np.unique(places, return_index=True)[1])
    ranks = np.empty(len(texts), dtype=np.int32)
    ranks[order] = np.arange(len(texts))
    return Text(ranks[places], tuple(texts[k] for k in order))
