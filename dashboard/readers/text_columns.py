"""Blocks of a long text in which all is as it should be, decoded by Arrow many times faster.

Whatever is not plain is left to be read cell by cell, which alone decides what may stand in a cell
and says what may not.
"""

import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibcore.validation import Floats
from dashboard.readers.contents import Array
from dashboard.readers.layout import Layout
from dashboard.readers.refusal import FileError
from dashboard.readers.slices import TextColumn
from dashboard.readers.table_cells import Labels, Numbers
from dashboard.readers.text_blocks import Block, Lines, Rows, numbered

_LEAST = 1 << 20
"""Bytes of a text from which on it is worth a tenth of a second to import Arrow."""

_UNEVEN = (b"  ", b" \n", b"\n ", b"\t", b"\v", b"\f")
_THREADS = 2
_BETWEEN = (b'"', b"\x1c", b"\x1d", b"\x1e", b"\x1f")
"""What stands around a field, or parts fields for Python but not for Arrow."""

_BLANK = re.compile(rb"\A\n|\n\n")
Coded = tuple[NDArray[np.int32], list[str]]


class Quick:
    """Reads blocks as columns, into the same places as reading cell by cell does."""

    def __init__(
        self,
        layout: Layout,
        numbers: Numbers,
        labels: Labels,
        beside: Mapping[int, TextColumn],
        *,
        width: int,
        delimiter: str,
    ) -> None:
        self.layout = layout
        self.numbers = numbers
        self.labels = labels
        self.beside = beside
        self.names = [str(c) for c in range(width)]
        self.delimiter = delimiter

    def left(self, blocks: Iterable[Block], n_bytes: int) -> Generator[Block]:
        """Read what can be read of so many bytes, and give what is to be read cell by cell."""
        if n_bytes < _LEAST or self.layout.ids is not None:
            yield from blocks
            return
        # Arrow holds no lock while it decodes, so two threads are nearly twice as fast.
        with ThreadPoolExecutor(_THREADS) as pool:
            for number, block, begun in self._ahead(blocks, pool):
                if begun is None or not isinstance(block, Lines):
                    yield number, block
                elif not self.take(block, begun):
                    # What is not plain is mostly in few places.
                    for start, part in numbered(block.parts(), number):
                        if not self.take(part, self._begun(part)):
                            yield start, part

    def _ahead(
        self, blocks: Iterable[Block], pool: ThreadPoolExecutor
    ) -> Iterator[tuple[int, Rows | Lines, "_Begun | None"]]:
        """Begin to decode the next blocks before one is used."""
        waiting: deque[tuple[int, Rows | Lines, _Begun | None]] = deque()
        fault: FileError | None = None
        try:
            for number, block in blocks:
                begun = self._begun(block, pool) if isinstance(block, Lines) else None
                waiting.append((number, block, begun))
                if len(waiting) > _THREADS:
                    yield waiting.popleft()
        except FileError as error:
            fault = error
        while waiting:
            yield waiting.popleft()
        if fault is not None:
            raise fault

    def _begun(self, lines: Lines, pool: ThreadPoolExecutor | None = None) -> "_Begun":
        """Decode a block as far as the rows before tell how, now or in another thread."""
        how = self._how(lines.raw)
        work = partial(self._decoded, lines, *how)
        return _Begun(how, work if pool is None else pool.submit(work).result)

    def _how(self, raw: bytes) -> tuple[str, bool]:
        return self._decimal_mark(raw), self.numbers.with_sign > 0

    def take(self, lines: Lines, begun: "_Begun") -> bool:
        """Read a block, or leave it as it is."""
        how = self._how(lines.raw)
        decoded = begun.decoded() if begun.how == how else self._decoded(lines, *how)
        if decoded is None or not self.labels.take_coded(
            {c: decoded.coded[c] for c in self.layout.codes}
        ):
            return False
        self.numbers.take_table(decoded.values)
        for c, collected in self.beside.items():
            collected.take_coded(*decoded.coded[c])
        return True

    def _decoded(self, lines: Lines, mark: str, with_sign: bool) -> "_Decoded | None":  # noqa: FBT001
        """Give a block as columns, or nothing where not all in it is plain."""
        raw = self._plain(lines)
        batch = None if raw is None or not mark else self._batch(raw, mark, with_sign=with_sign)
        if raw is None or batch is None or len(batch) != len(lines):
            return None
        names = list(map(str, self.layout.numbers))
        values = _without_sign(batch, names) if with_sign else _table(batch, names)
        if values is None or not (np.isfinite(values).all() or _is_plain_nan(raw)):
            return None
        return _Decoded(
            values, {c: _coded(batch.column(str(c))) for c in (*self.layout.codes, *self.beside)}
        )

    def _plain(self, lines: Lines) -> bytes | None:
        """Give the bytes as Arrow is to see them, if it sees them as they are meant."""
        raw = lines.raw
        if b"\r" in raw:
            raw = raw.replace(b"\r\n" if lines.newline == b"\n" else b"\r", b"\n")
        if b"\r" in raw or (len(self.names) == 1 and _BLANK.search(raw)):
            return None
        if self.delimiter == " ":
            if not raw.isascii() or any(mark in raw for mark in _BETWEEN):
                return None
            if any(odd in raw for odd in _UNEVEN) or raw != raw.strip(b" "):
                raw = b"\n".join(b" ".join(line.split()) for line in raw.split(b"\n"))
        return raw if lines.encoding == "utf-8" else raw.decode("latin-1").encode()

    def _decimal_mark(self, raw: bytes) -> str:
        """Tell what marks decimals, if the rows before have told it."""
        if not self.numbers.comma_allowed:
            return "."
        comma, point = b"," in raw, b"." in raw
        if comma and point:
            return ""
        if comma:
            return "," if self.numbers.comma_row else ""
        return "." if self.numbers.point_row or not point else ""

    def _batch(self, raw: bytes, mark: str, *, with_sign: bool) -> Any:
        """Give the columns of use, typed, or nothing where a cell is not of its type."""
        import pyarrow as pa  # noqa: PLC0415 - a tenth of a second to import
        from pyarrow import csv  # noqa: PLC0415 - as above

        kind = pa.string() if with_sign else pa.float64()
        types = dict.fromkeys(map(str, self.layout.numbers), kind)
        texts = pa.dictionary(pa.int32(), pa.string())
        types |= dict.fromkeys(map(str, (*self.layout.codes, *self.beside)), texts)
        whole = csv.ReadOptions(
            use_threads=False, block_size=2 * len(raw), column_names=self.names
        )  # fmt: skip
        try:
            table = csv.read_csv(
                pa.BufferReader(raw),
                whole,
                csv.ParseOptions(delimiter=self.delimiter, ignore_empty_lines=False),
                csv.ConvertOptions(
                    column_types=types, include_columns=list(types), null_values=[],
                    true_values=[], false_values=[], decimal_point=mark,
                ),
            )  # fmt: skip
        except (pa.ArrowException, ValueError):
            return None
        batches = table.to_batches()
        return batches[0] if len(batches) == 1 else None


class _Decoded(NamedTuple):
    values: Floats
    coded: dict[int, Coded]


class _Begun(NamedTuple):
    how: tuple[str, bool]
    decoded: Callable[[], _Decoded | None]


def _table(batch: Any, names: list[str]) -> Floats:
    """Give columns of numbers side by side."""
    if not names:
        return np.empty((len(batch), 0))
    values: Floats = batch.select(names).to_tensor(row_major=True).to_numpy()
    return values


def _is_plain_nan(raw: bytes) -> bool:
    """Tell whether what is no finite number is spelled as it must be read cell by cell."""
    text = raw.lower()
    return not any(odd in text for odd in (b"-nan", b"+nan", b"nan("))


def _without_sign(batch: Any, names: list[str]) -> Floats | None:
    """Give columns of numbers with percent signs without them."""
    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    values = np.empty((len(batch), len(names)))
    for k, name in enumerate(names):
        column = batch.column(name)
        if not pc.all(pc.ends_with(column, "%")).as_py():
            return None
        short = pc.utf8_rtrim_whitespace(pc.utf8_slice_codeunits(column, 0, -1))
        try:
            values[:, k] = _bare(short.cast(pa.float64()), np.float64)
        except pa.ArrowException:
            return None
    return values


def _coded(column: Any) -> Coded:
    """Give each row's place among the different texts, and these."""
    return _bare(column.indices, np.int32), column.dictionary.to_pylist()


def _bare(column: Any, dtype: type) -> Array:
    """Give the numbers as they lie in memory; Arrow's own way would import pandas."""
    return np.frombuffer(column.buffers()[1], dtype, len(column), column.offset * dtype().itemsize)
