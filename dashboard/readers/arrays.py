"""Named arrays of any file: a table with labels, or one value a row of each as columns."""

from collections.abc import Mapping, Sequence

from dashboard.readers.contents import DEFAULTS, Array, Contents, Options
from dashboard.readers.headings import CONFIDENCE, HITS, PREDICTED, key_of
from dashboard.readers.named import left_out_sentence, sorted_arrays
from dashboard.readers.table_columns import from_columns


def contents_of(
    arrays: Mapping[str, Array], *, left_out: Sequence[str] = (), options: Options = DEFAULTS
) -> Contents:
    """Sort named arrays into sets, or read top-1 scores as the columns they are.

    Parameters are those of `sorted_arrays`.
    """
    keys = {key_of(name) for name in arrays}
    flat = all(array.ndim == 1 and array.dtype.kind in "biuf" for array in arrays.values())
    if flat and keys & CONFIDENCE and keys & (PREDICTED | HITS) and _one_length(arrays):
        said = left_out_sentence(left_out)
        return from_columns(list(arrays), list(arrays.values()), options, found=said)
    return sorted_arrays(arrays, left_out=left_out, options=options)


def _one_length(arrays: Mapping[str, Array]) -> bool:
    return len({len(array) for array in arrays.values()}) == 1
