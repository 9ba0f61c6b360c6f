"""Blocks of a long text in which all is as it should be, decoded by Arrow many times faster.

Whatever is not plain is left to be read cell by cell, which alone decides what may stand in a cell
and says what may not.
"""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.validation import Floats
from dashboard.readers.layout import Layout
from dashboard.readers.slices import TextColumn
from dashboard.readers.table_cells import Labels, Numbers
from dashboard.readers.text_blocks import Lines

_AFTER = 1 << 20
"""Bytes read cell by cell before it is worth a sixth of a second to import Arrow."""

_UNEVEN = re.compile(rb"\A[ \t]|[ \t][ \t\n]|\n[ \t]|\t|[ \t]\Z|[\v\f]")
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
        self.passed = 0

    def take(self, lines: Lines) -> bool:
        """Read a block, or leave it as it is."""
        self.passed += len(lines.raw)
        if self.passed < _AFTER:
            return False
        raw, mark = self._plain(lines), self._decimal_mark(lines.raw)
        if raw is None or not mark:
            return False
        table = self._decoded(raw, mark)
        if table is None or len(table) != len(lines):
            return False
        columns = {int(name): table.column(name) for name in table.schema.names}
        values = self._values([columns[c] for c in self.layout.numbers], len(lines))
        coded = {c: _coded(columns[c]) for c in (*self.layout.codes, *self.beside)}
        fits = values is not None and self.labels.take_coded(
            {c: coded[c] for c in self.layout.codes}
        )
        if values is None or not fits:
            return False
        self.numbers.take_table(values)
        for c, collected in self.beside.items():
            collected.take_coded(*coded[c])
        return True

    def _plain(self, lines: Lines) -> bytes | None:
        """Give the bytes as Arrow is to see them, if it sees them as they are meant."""
        raw = lines.raw
        if b"\r" in raw:
            raw = raw.replace(b"\r\n", b"\n")
        if b"\r" in raw or b"\n\n" in raw or raw.startswith(b"\n"):
            return None
        if self.delimiter == " ":
            if b'"' in raw:
                return None
            if _UNEVEN.search(raw):
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

    def _decoded(self, raw: bytes, mark: str) -> Any:
        """Give the columns of use, typed, or nothing where a cell is not of its type."""
        import pyarrow as pa  # noqa: PLC0415 - a sixth of a second to import
        from pyarrow import csv  # noqa: PLC0415 - as above

        kind = pa.string() if self.numbers.with_sign else pa.float64()
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
        return table.combine_chunks()

    def _values(self, columns: list[Any], n_rows: int) -> Floats | None:
        """Give finite numbers in rows, those with percent signs without them."""
        import pyarrow as pa  # noqa: PLC0415 - as above
        import pyarrow.compute as pc  # noqa: PLC0415 - as above

        values = np.empty((n_rows, len(columns)))
        for k, column in enumerate(columns):
            numbers = column
            if self.numbers.with_sign:
                if not pc.all(pc.ends_with(column, "%")).as_py():
                    return None
                short = pc.utf8_rtrim_whitespace(pc.utf8_slice_codeunits(column, 0, -1))
                try:
                    numbers = short.cast(pa.float64())
                except pa.ArrowException:
                    return None
            values[:, k] = numbers.to_numpy()
        return values if np.isfinite(values).all() else None


def _coded(column: Any) -> Coded:
    """Give each row's place among the different texts, and these."""
    whole = column.combine_chunks()
    whole = whole.chunk(0) if hasattr(whole, "chunk") else whole
    return whole.indices.to_numpy(), whole.dictionary.to_pylist()
