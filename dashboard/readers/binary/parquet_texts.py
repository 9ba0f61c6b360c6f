"""Columns of texts in Parquet files, told apart by Arrow many dictionaries at a time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.binary.thrift import damaged
from dashboard.readers.columns.growing import Room
from dashboard.readers.columns.table_columns import MAX_TEXT, MAX_TEXTS, Text

_NEW = -1
_FIRST = 50
"""So many texts each column keeps in any case: what it holds is told by its first rows."""

_ASCII_BYTES, _OTHER_BYTES, _ENTRY_BYTES = 49, 76, 64
_AT_ONCE_ROWS, _AT_ONCE_ENTRIES = 1 << 19, 1 << 17


class CodedTexts:
    """Texts of one column, looked up once for all rows that share a dictionary.

    Parameters
    ----------
    n_rows : int
        How many there are to be.
    room : Room
        Shared by all columns of a file.
    """

    def __init__(self, n_rows: int, room: Room) -> None:
        import pyarrow as pa  # noqa: PLC0415 - a sixth of a second to import

        self.room = room
        self.codes = np.empty(n_rows, dtype=np.int32)
        self.n_coded = 0
        self.known = pa.array([], pa.string())
        self.dictionary: Any = None
        self.start = self.n_entries = self.n_waiting = 0
        self.entries: list[Any] = []
        self.lookup = np.empty(0, dtype=np.int32)
        self.waiting: list[NDArray[np.int32]] = []

    def take(self, column: Any) -> bool:
        """Add some rows, if all their texts can be kept."""
        import pyarrow as pa  # noqa: PLC0415 - as above
        import pyarrow.compute as pc  # noqa: PLC0415 - as above

        coded = column if hasattr(column, "indices") else column.dictionary_encode()
        n_texts = len(coded.dictionary)
        if self.dictionary is None or not self.dictionary.equals(coded.dictionary):
            if self.room.left < 0 and n_texts > _FIRST:
                return False
            column.validate(full=True)
            self._open(coded.dictionary)
        # A null is the blank text, which stands behind all others.
        places = pc.fill_null(coded.indices.cast(pa.int32()), n_texts).to_numpy()
        if len(places) and not 0 <= places.min() <= places.max() <= n_texts:
            raise damaged("texts beyond their dictionary")
        self.waiting.append(places + np.int32(self.start))
        self.n_waiting += len(places)
        enough = self.n_entries - len(self.lookup) >= _AT_ONCE_ENTRIES
        return self._code() if enough or self.n_waiting >= _AT_ONCE_ROWS else True

    def finish(self) -> Text | None:
        """Give the whole column, if all its texts can be kept."""
        if self.waiting and not self._code():
            return None
        return Text(self.codes[: self.n_coded], tuple(self.known.to_pylist()))

    def _open(self, dictionary: Any) -> None:
        """Put a dictionary behind those that wait to be looked up."""
        import pyarrow as pa  # noqa: PLC0415 - as above
        import pyarrow.compute as pc  # noqa: PLC0415 - as above

        if not self.waiting:
            self.entries, self.n_entries = [], 0
            self.lookup = np.empty(0, dtype=np.int32)
        cut = pc.utf8_slice_codeunits(dictionary.cast(pa.string()), 0, MAX_TEXT + 1)
        self.dictionary, self.start = dictionary, self.n_entries
        self.entries += [pc.fill_null(cut, ""), pa.array([""])]
        self.n_entries += len(dictionary) + 1

    def _code(self) -> bool:
        """Give codes to the rows that wait, unless their texts are too many."""
        import pyarrow as pa  # noqa: PLC0415 - as above
        import pyarrow.compute as pc  # noqa: PLC0415 - as above

        entries = pa.concat_arrays(self.entries)
        found = pc.index_in(entries[len(self.lookup) :], value_set=self.known)
        self.lookup = np.concatenate([self.lookup, pc.fill_null(found, _NEW).to_numpy()])
        places = np.concatenate(self.waiting)
        self.waiting, self.n_waiting = [], 0
        codes = self.lookup[places]
        if codes.min(initial=0) == _NEW:
            used = np.zeros(len(entries), dtype=np.bool_)
            used[places[codes == _NEW]] = True
            if not self._add(np.flatnonzero(used), entries):
                return False
            codes = self.lookup[places]
        self.codes[self.n_coded : self.n_coded + len(codes)] = codes
        self.n_coded += len(codes)
        # Further rows may share the latest dictionary, but no other.
        self.entries, self.lookup = [entries[self.start :]], self.lookup[self.start :]
        self.start, self.n_entries = 0, len(self.lookup)
        return True

    def _add(self, new: NDArray[np.intp], entries: Any) -> bool:
        """Keep texts that were not met before, of which some may be the same."""
        import pyarrow as pa  # noqa: PLC0415 - as above
        import pyarrow.compute as pc  # noqa: PLC0415 - as above

        texts = entries.take(pa.array(new)).dictionary_encode()
        # Some may be known by now, from a dictionary that waited with theirs.
        found = pc.index_in(texts.dictionary, value_set=self.known)
        codes = pc.fill_null(found, _NEW).to_numpy().copy()
        fresh = np.flatnonzero(codes == _NEW)
        added = texts.dictionary.take(pa.array(fresh))
        count = len(self.known) + len(added)
        self.room.left -= _bytes_of(added)
        if count > MAX_TEXTS or (self.room.left < 0 and count > _FIRST):
            return False
        codes[fresh] = np.arange(len(self.known), count, dtype=np.int32)
        self.lookup[new] = codes[texts.indices.to_numpy()]
        self.known = pa.concat_arrays([self.known, added])
        return True


def _bytes_of(texts: Any) -> int:
    """Count what texts take once they are Python's, each with its entry."""
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    n_signs = pc.utf8_length(texts).to_numpy()
    plain = n_signs == pc.binary_length(texts).to_numpy()
    each = np.where(plain, _ASCII_BYTES + n_signs, _OTHER_BYTES + 4 * n_signs)
    return int(each.sum(dtype=np.int64)) + _ENTRY_BYTES * len(texts)
