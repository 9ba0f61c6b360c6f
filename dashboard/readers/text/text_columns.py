"""Blocks of a long text in which all is as it should be, decoded by Arrow many times faster.

Whatever is not plain is left to be read cell by cell, which alone decides what may stand in a cell
and says what may not.
"""

import math
import re
from array import array
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from calibcore.validation import Floats
from dashboard.readers.columns.layout import Layout
from dashboard.readers.columns.packed import Packed
from dashboard.readers.columns.slices import MAX_TEXTS, TextColumn, id_of
from dashboard.readers.contents import Array, check_rows
from dashboard.readers.refusal import FileError, quoted
from dashboard.readers.text.arrow_text import Coded, bare, batch_of, coded, is_plain_nan
from dashboard.readers.text.table_cells import Labels, Numbers
from dashboard.readers.text.text_blocks import Block, Lines, Parsed, Places, Rows, numbered, rows_of

_LEAST = 1 << 20
"""Bytes of a text from which on it is worth a tenth of a second to import Arrow."""

_THREADS = 2
_BETWEEN = (b"\x1c", b"\x1d", b"\x1e", b"\x1f")
"""What parts fields for Python but not for Arrow."""

_MOST = 1_900_000_000
"""Nanoseconds, or about as many, that reading may take up to a fault."""

_BYTE, _CELL, _MINUS, _COLUMN, _BESIDE = 2.7, 18, 16, 2_500, 34
"""What each takes that is decoded by Arrow: bytes, cells, minus signs, which make it guess wrongly,
columns of a block, and cells beside them;"""

_QUOTE, _BREAK, _BLANK, _SPACED, _SIGNED, _LETTERS = 7, 40, 20, 4, 42, 1
"""quotes, line ends inside them, blank rows, bytes among uneven spaces, percent signs, bytes of
text beyond ASCII;"""

_LABEL, _TEXT, _TURNED, _NAME, _SLOW_BYTE, _SLOW_ROW = 500, 1_000, 80, 1_300, 90, 700
"""different labels, texts beside, those that turn out to be numbers, names of rows, and what is
read cell by cell."""

_FEW = 1 << 20
_SPACE, _END = b" \n"
_SPACES = bytes.maketrans(b"\t\v\f", b"   ")
_PLAIN = re.compile(r"[-+.0-9eE]+")
_TEXTS, _NUMBERS = "texts", "numbers"
_NULLS = ["", "NA", "na", "N/A", "n/a", "NULL", "null", "None", "none"]
_ID_DIGITS = 17


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
        self.ids, self.blank = array("q"), array("i")
        self.packed = {column: Packed() for column in beside}
        self.spent, self.slow = 0, 0
        self.names = [str(c) for c in range(width)]
        self.delimiter = delimiter

    def left(self, blocks: Iterable[Block], n_bytes: int) -> Generator[Block]:
        """Read what can be read of so many bytes, and give what is to be read cell by cell."""
        if n_bytes < _LEAST:
            yield from blocks
            return
        self.spent = int(_BYTE * n_bytes)
        # Arrow holds no lock while it decodes, so two threads are nearly twice as fast.
        with ThreadPoolExecutor(_THREADS) as pool:
            for number, block, begun in self._ahead(blocks, pool):
                if begun is None or not isinstance(block, Lines):
                    parts: Iterable[Block] = [(number, block)]
                elif self.take(number, block, begun):
                    parts = ()
                else:
                    # What is not plain is mostly in few places.
                    parts = (
                        (start, part)
                        for start, part in numbered(block.parts(), number)
                        if not self.take(start, part, self._begun(part))
                    )
                for start, part in parts:
                    n_bytes = 0 if isinstance(part, list) else part.n_bytes
                    self._spend(_SLOW_BYTE * n_bytes + _SLOW_ROW * len(part), start, part, n_bytes)
                    yield start, part

    def _spend(self, cost: int, start: int, block: Rows | Lines | Parsed, slow: int = 0) -> None:
        """Count what reading takes, and refuse where it is more than two seconds."""
        self.spent += cost
        self.slow += slow
        if self.spent <= _MOST:
            return
        fewer = "fewer rows or a smaller file; as .npz or .parquet they are read faster"
        if self.slow < _FEW:
            raise FileError("file", f"more cells of text than are read, at row {start:,}", fewer)
        found = f"{self.slow:,} bytes of rows that are not plain"
        what = " (quotes inside fields)" if isinstance(block, Parsed) else ""
        for number, row in enumerate(rows_of(block), start):
            cells = (row[c] for c in self.layout.numbers if c < len(row))
            odd = next((cell for cell in cells if not _PLAIN.fullmatch(cell)), None)
            if odd is not None:
                what = f" (row {number} has {quoted(odd)})"
                break
        wanted = "plain numbers, and quotes around whole fields; or the table as .npz or .parquet"
        raise FileError("file", found + what, wanted)

    def _ahead(
        self, blocks: Iterable[Block], pool: ThreadPoolExecutor
    ) -> Iterator[tuple[int, Rows | Lines | Parsed, "_Begun | None"]]:
        """Begin to decode the next blocks before one is used."""
        waiting: deque[tuple[int, Rows | Lines | Parsed, _Begun | None]] = deque()
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

    def take(self, number: int, lines: Lines, begun: "_Begun") -> bool:
        """Read a block, or leave it as it is."""
        self._spend(self._cost(lines), number, lines)
        how = self._how(lines.raw)
        decoded = begun.decoded() if begun.how == how else self._decoded(lines, *how)
        if decoded is None:
            return False
        codes = {c: decoded.coded[c] for c in self.layout.codes}
        self._spend(sum(_LABEL * len(part) for _, part in codes.values()), number, lines)
        if not self.labels.take_coded(codes):
            return False
        uneven = self.delimiter == " " and decoded.n_bytes < len(lines.raw)
        cost = _BLANK * len(decoded.blank) + uneven * _SPACED * len(lines.raw)
        self._spend(cost, number, lines)
        self.blank.frombytes((decoded.blank + np.int32(number)).tobytes())
        check_rows(self.numbers.n_rows + len(self.blank))
        if decoded.ids is not None:
            whole = _whole(decoded.ids)
            if whole is None:
                self._spend(_NAME * len(decoded.ids), number, lines)
                names = decoded.ids.to_pylist()
                whole = np.array([id_of(name.strip()) for name in names], dtype=np.int64)
            self.ids.frombytes(whole.tobytes())
        self.numbers.take_table(decoded.values)
        for c, collected in self.beside.items():
            if c in decoded.floats:
                self._pack(c).add(decoded.floats[c])
            elif c in decoded.coded:
                places, different = decoded.coded[c]
                if len(collected.seen) + len(different) > MAX_TEXTS:
                    cost = _TEXT * len(different) + _TURNED * len(collected.codes)
                    self._spend(cost, number, lines)
                collected.take_coded(places, different)
                self._pack(c)
        return True

    def _pack(self, column: int) -> Packed:
        """Keep the numbers of a column beside in few bytes."""
        packed, collected = self.packed[column], self.beside[column]
        if collected.numbers:
            packed.add(np.array(collected.numbers))
            collected.numbers = array("d")
        return packed

    def finish(self) -> None:
        """Hand over the numbers of the columns beside."""
        for column, collected in self.beside.items():
            packed = self._pack(column)
            del self.packed[column]
            if len(packed) and not collected.fault:
                collected.numbers.frombytes(packed.whole().data.cast("B"))

    def _cost(self, lines: Lines) -> int:
        """Estimate what it takes to decode some rows."""
        n_columns = len(self.layout.numbers)
        cost = (_CELL + _SIGNED * (self.numbers.with_sign > 0)) * len(lines) * n_columns
        cost += _COLUMN * n_columns + _MINUS * lines.raw.count(b"-")
        cost += len(lines) * _BESIDE * (len(self.layout.codes) + len(self._kept()))
        if lines.n_quotes:
            cost += _QUOTE * lines.n_quotes + _BREAK * max(lines.n_breaks, 0)
        cost += (self.delimiter == " ") * len(lines.raw)
        return cost if lines.raw.isascii() else cost + _LETTERS * len(lines.raw)

    def _decoded(self, lines: Lines, mark: str, with_sign: bool) -> "_Decoded | None":  # noqa: FBT001
        """Give a block as columns, or nothing where not all in it is plain."""
        raw, blank = lines.without_blank()
        plain = None if raw is None else self._plain(raw, lines)
        beside = self._kept()
        batch = plain and self._batch(plain, mark, beside, with_sign=with_sign)
        if not plain or not batch or len(batch) + len(blank) != len(lines):
            return None
        names = list(map(str, self.layout.numbers))
        values = _without_sign(batch, names, mark) if with_sign else _table(batch, names)
        if values is None or not (np.isfinite(values).all() or is_plain_nan(plain)):
            return None
        texts = {c: coded(batch.column(str(c))) for c in self.layout.codes}
        floats: dict[int, Floats] = {}
        for c, kept in beside.items():
            if kept == _TEXTS:
                texts[c] = coded(batch.column(str(c)))
            else:
                column = _floats(batch.column(str(c)), plain)
                if column is None:
                    return None
                floats[c] = column
        ids = None if self.layout.ids is None else batch.column(str(self.layout.ids))
        return _Decoded(values, texts, floats, ids, blank, len(plain))

    def _kept(self) -> dict[int, str]:
        """Tell which columns beside are still read, and as what."""
        return {
            c: _NUMBERS if collected.as_numbers else _TEXTS
            for c, collected in self.beside.items()
            if not collected.fault
        }

    def _plain(self, raw: bytes, lines: Lines) -> bytes | None:
        """Give the bytes as Arrow is to see them, if it sees them as they are meant."""
        if b"\r" in raw:
            return None
        if self.delimiter == " ":
            if lines.n_quotes or not raw.isascii() or any(mark in raw for mark in _BETWEEN):
                return None
            raw = _even(raw) if _is_uneven(raw) else raw
        return raw if lines.encoding == "utf-8" else raw.decode("latin-1").encode()

    def _decimal_mark(self, raw: bytes) -> str:
        """Tell what marks decimals, if the rows before tell it; otherwise only none may."""
        numbers = self.numbers
        if not numbers.comma_allowed or numbers.point_row:
            return "."
        if numbers.comma_row:
            return ","
        return "" if b"," in raw or b"." in raw else "."

    def _batch(self, raw: bytes, mark: str, beside: Mapping[int, str], *, with_sign: bool) -> Any:
        """Give the columns of use, typed, or nothing where a cell is not of its type."""
        import pyarrow as pa  # noqa: PLC0415 - a tenth of a second to import

        kind = pa.string() if with_sign else pa.float64() if mark else pa.int64()
        if not mark and (with_sign or b"-0" in raw):
            return None
        types = dict.fromkeys(map(str, self.layout.numbers), kind)
        texts = pa.dictionary(pa.int32(), pa.string())
        kinds = {_TEXTS: texts, _NUMBERS: pa.float64()}
        types |= {str(c): kinds[kept] for c, kept in beside.items()}
        types |= dict.fromkeys(map(str, self.layout.codes), texts)
        if self.layout.ids is not None:
            types[str(self.layout.ids)] = pa.string()
        nulls = _NULLS if _NUMBERS in beside.values() else ()
        return batch_of(raw, self.names, types, self.delimiter, mark or ".", nulls)


class _Decoded(NamedTuple):
    values: Floats
    coded: dict[int, Coded]
    floats: dict[int, Floats]
    ids: Any
    blank: Places
    n_bytes: int


class _Begun(NamedTuple):
    how: tuple[str, bool]
    decoded: Callable[[], _Decoded | None]


def _is_uneven(raw: bytes) -> bool:
    """Tell spaces that stand together or around a line, or others of their kind."""
    data = np.frombuffer(raw, dtype=np.uint8)
    space, end = data == _SPACE, data == _END
    others = np.count_nonzero(data < _SPACE) != np.count_nonzero(end)
    if others or raw.startswith(b" ") or raw.endswith(b" "):
        return True
    edge = space | end
    return bool((space[1:] & edge[:-1]).any() or (space[:-1] & edge[1:]).any())


def _even(raw: bytes) -> bytes:
    """Part fields by one space, and leave none around lines."""
    data = np.frombuffer(raw.translate(_SPACES), dtype=np.uint8)
    space, end = data == _SPACE, data == _END
    # A space is dropped before another and before the end of a line, then also after an end.
    dropped = space.copy()
    dropped[:-1] &= space[1:] | end[1:]
    data = data[~dropped]
    space, first = data == _SPACE, np.ones(len(data), dtype=np.bool_)
    first[1:] = data[:-1] == _END
    even: bytes = data[~(space & first)].tobytes()
    return even


def _table(batch: Any, names: list[str]) -> Floats | None:
    """Give columns of numbers side by side."""
    if not names:
        return np.empty((len(batch), 0))
    import pyarrow as pa  # noqa: PLC0415 - as above

    try:
        values: Array = batch.select(names).to_tensor(row_major=True).to_numpy()
    except pa.ArrowException:
        return None
    return values.astype(np.float64, copy=False)


def _without_sign(batch: Any, names: list[str], mark: str) -> Floats | None:
    """Give columns of numbers with percent signs without them."""
    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    values = np.empty((len(batch), len(names)))
    for k, name in enumerate(names):
        column = batch.column(name)
        if not pc.all(pc.ends_with(column, "%")).as_py():
            return None
        short = pc.utf8_rtrim_whitespace(pc.utf8_slice_codeunits(column, 0, -1))
        if mark == ",":
            if pc.any(pc.match_substring(short, ".")).as_py():
                return None
            short = pc.replace_substring(short, ",", ".")
        try:
            values[:, k] = bare(short.cast(pa.float64()), np.float64)
        except pa.ArrowException:
            return None
    return values


def _floats(column: Any, raw: bytes) -> Floats | None:
    """Give numbers, blank ones as NaN, or nothing where one is odd."""
    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    if pa.types.is_string(column.type):
        try:
            column = column.cast(pa.float64())
        except pa.ArrowException:
            return None
    values = bare(pc.fill_null(column, math.nan), np.float64)
    n_unknown = np.count_nonzero(np.isnan(values))
    odd = n_unknown > column.null_count and not is_plain_nan(raw)
    return None if odd or np.isinf(values).any() else values


def _whole(ids: Any) -> Array | None:
    """Give names of rows that are whole numbers as `id_of` does, or nothing where one is not."""
    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    if len(ids) and pc.max(pc.binary_length(ids)).as_py() > _ID_DIGITS:
        return None
    try:
        numbers = bare(ids.cast(pa.int64()), np.int64)
    except pa.ArrowException:
        return None
    return numbers if numbers.min(initial=0) >= 0 else None
