"""Parquet files: their declarations checked first, their values then decoded by Arrow."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.binary.parquet_footer import Footer, check_pages, read_footer
from dashboard.readers.binary.thrift import damaged
from dashboard.readers.columns.growing import GrowingText, Room
from dashboard.readers.columns.table_columns import (
    MAX_TEXT,
    MAX_TEXTS,
    Column,
    Text,
    Unusable,
    from_columns,
)
from dashboard.readers.contents import (
    DEFAULTS,
    Array,
    Contents,
    Options,
    check_rows,
    row_list,
)
from dashboard.readers.meaning.values import MAX_CLASSES
from dashboard.readers.refusal import FileError, plain, quoted

_BATCH_ROWS = 1 << 16
_BATCH_VALUES = 1 << 21
_NEW = -2
_MOST_VALUES = 150_000_000
"""As many as are decoded in about a second."""

_SPARE_BYTES = 96 << 20
_ROW_BYTES = 40
_FEW_CLASSES = 50_000
_CODE: np.dtype[Any] = np.dtype(np.int32)


def read_parquet(data: bytes, options: Options = DEFAULTS) -> Contents:
    """Read a table of one column a class, or with one column of lists, and its labels.

    Notes
    -----
    Arrow is given bytes and never a place to read from, and decodes one column at a time in
    pieces, so that memory stays near the size of the numbers.
    """
    import pyarrow as pa  # noqa: PLC0415 - a sixth of a second to import

    footer = read_footer(data)
    try:
        columns = _decode(data, footer)
    except FileError:
        raise
    except MemoryError as error:
        found = "values that need more memory to be decoded than there is"
        raise FileError("file", found, "fewer rows or columns") from error
    except (pa.ArrowException, OSError, ValueError, TypeError, LookupError) as error:
        raise damaged(plain(str(error).partition("\n")[0], 120)) from error
    finally:
        pa.default_memory_pool().release_unused()
    return from_columns(footer.tops, columns, options)


@dataclass(frozen=True)
class _Plan:
    """How one column is to be decoded."""

    name: str
    kind: Literal["numbers", "lists", "texts", "unusable"]
    dtype: np.dtype[Any] = _CODE
    why: str = ""


def _decode(data: bytes, footer: Footer) -> list[Column]:
    """Decode all columns of use, once their size is known to be bearable."""
    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    # Texts that repeat are decoded once, however long they are.
    texts = {footer.tops[o] for o, text in zip(footer.owner, footer.texts, strict=True) if text}
    file = pq.ParquetFile(
        pa.BufferReader(data),
        read_dictionary=sorted(texts),
        pre_buffer=False,
        thrift_string_size_limit=len(data),
        thrift_container_size_limit=100_000,
        page_checksum_verification=True,
    )
    schema = file.schema_arrow
    if tuple(schema.names) != footer.tops:
        raise FileError("footer", "column names that are not UTF-8", "names in UTF-8")
    plans = [_plan(field.name, field.type) for field in schema]
    _check_weight(data, footer, plans)
    used = [c for c in footer.chunks if plans[footer.owner[c.column]].kind != "unusable"]
    for column, why in check_pages(data, used, footer.texts).items():
        top = footer.owner[column]
        plans[top] = _Plan(footer.tops[top], "unusable", why=why)
    counts = Counter(plan.dtype for plan in plans if plan.kind == "numbers")
    tables = {dtype: np.empty((footer.n_rows, n), dtype) for dtype, n in counts.items()}
    places = {dtype: iter(table.T) for dtype, table in tables.items()}
    columns: list[Column] = []
    room = Room()
    for plan in plans:
        if plan.kind == "numbers":
            columns.append(_numbers(file, plan, next(places[plan.dtype])))
        elif plan.kind == "lists":
            columns.append(_lists(file, plan, footer, len(data)))
        elif plan.kind == "texts":
            columns.append(_texts(file, plan, footer, room))
        else:
            columns.append(Unusable(plan.why))
    return columns


def _plan(name: str, type_: Any) -> _Plan:
    """Tell what a column of this type can be used as."""
    from pyarrow import types  # noqa: PLC0415 - as above

    inner = type_
    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_dictionary)
    if any(is_one(type_) for is_one in lists):
        inner = type_.value_type
    if types.is_decimal(inner):
        dtype = np.dtype(np.float64)
    elif types.is_integer(inner) or types.is_floating(inner) or types.is_boolean(inner):
        dtype = np.dtype(inner.to_pandas_dtype())
    elif types.is_string(inner) or types.is_large_string(inner):
        if not types.is_nested(type_):
            return _Plan(name, "texts")
        return _Plan(name, "unusable", why=f"lists of type {quoted(inner, 60)}")
    else:
        nested = "a nested column" if types.is_nested(type_) else "values"
        return _Plan(
            name,
            "unusable",
            why=f"{nested} of type {quoted(inner if nested == 'values' else type_, 100)}",
        )
    return _Plan(name, "lists" if types.is_nested(type_) else "numbers", dtype)


def _check_weight(data: bytes, footer: Footer, plans: Sequence[_Plan]) -> None:
    """Refuse more values than the file could hold honestly, or nearly so."""
    check_rows(footer.n_rows)
    owners = [(plans[footer.owner[chunk.column]], chunk.n_values) for chunk in footer.chunks]
    weight = sum(n * plan.dtype.itemsize for plan, n in owners if plan.kind != "unusable")
    n_values = sum(
        n * (1 + (plan.kind == "texts")) for plan, n in owners if plan.kind != "unusable"
    )
    if n_values > _MOST_VALUES:
        raise FileError(
            "footer",
            f"{n_values:,} values of use, of which texts count twice",
            f"at most {_MOST_VALUES:,}: fewer rows or columns",
        )
    limit = 3 * len(data) + _SPARE_BYTES
    # Labels and scores of many rows outweigh a file in which all rows are alike.
    most_rows = (16 * len(data) + _SPARE_BYTES) // _ROW_BYTES
    if weight > limit or footer.n_rows > most_rows:
        raise FileError(
            "footer",
            f"{footer.n_rows:,} rows, {weight >> 20:,} MB of values in a file of {len(data):,}"
            " bytes, too large",
            f"at most {most_rows:,} rows and {limit >> 20:,} MB (size limit)",
        )


def _batches(
    file: Any, plan: _Plan, n_rows: int, step: int = _BATCH_ROWS, *, checked: bool = True
) -> Iterator[Any]:
    """Decode some rows of one column at a time, and see that they are all there."""
    seen = 0
    for batch in file.iter_batches(batch_size=step, columns=[plan.name], use_threads=False):
        if batch.num_columns != 1 or seen + batch.num_rows > n_rows:
            raise damaged(f"column {quoted(plan.name, 30)} is not what the footer says")
        column = batch.column(0)
        if checked:
            column.validate(full=True)
        seen += batch.num_rows
        yield column
    if seen != n_rows:
        raise damaged(f"column {quoted(plan.name, 30)} has {seen:,} rows")


def _plain_numbers(column: Any, dtype: np.dtype[Any]) -> Array:
    """Give values as NumPy's, with NaN for nulls."""
    import pyarrow as pa  # noqa: PLC0415 - as above

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if (column.null_count and dtype.kind != "f") or pa.types.is_decimal(column.type):
        column = column.cast(pa.float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _numbers(file: Any, plan: _Plan, out: Array) -> Array:
    """Decode numbers into their place, or into decimals where whole numbers have nulls."""
    at = 0
    for column in _batches(file, plan, len(out)):
        values = _plain_numbers(column, plan.dtype)
        if values.dtype.kind == "f" and out.dtype.kind != "f":
            out = out.astype(np.float64)
        out[at : at + len(values)] = values
        at += len(values)
    return out


def _lists(file: Any, plan: _Plan, footer: Footer, n_bytes: int) -> Array:
    """Decode one list a row, all of the same length."""
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    top = footer.tops.index(plan.name)
    n_values = sum(c.n_values for c in footer.chunks if footer.owner[c.column] == top)
    step = max(1, min(_BATCH_ROWS, _BATCH_VALUES * footer.n_rows // max(n_values, 1)))
    width, at = -1, 0
    out = np.empty((0, 0), plan.dtype)
    for column in _batches(file, plan, footer.n_rows, step):
        lengths = pc.fill_null(pc.list_value_length(column), -1).to_numpy(zero_copy_only=False)
        if width < 1:
            # The first that has any, so that nulls before it are named and not it.
            width = int(lengths[np.argmax(lengths > 0)])
            _check_width(plan.name, width, n_bytes)
            # The first list may be far longer than the others; those are then found below.
            fits = 0 < width * footer.n_rows <= n_values
            out = np.empty((footer.n_rows if fits else 0, width), plan.dtype)
        wrong = (lengths != width) | (lengths < 1)
        if wrong.any():
            raise FileError(
                f"column {quoted(plan.name, 30)}",
                f"a null, an empty list, or lists of unequal length {row_list(wrong, at + 1)}",
                f"lists of {max(width, 1):,} values in every row",
            )
        values = _plain_numbers(column.flatten(), plan.dtype).reshape(-1, width)
        if values.dtype.kind == "f" and out.dtype.kind != "f":
            out = out.astype(np.float64)
        out[at : at + len(values)] = values
        at += len(values)
    return out


def _check_width(name: str, width: int, n_bytes: int) -> None:
    """Refuse more classes than a file can tell apart, each of which would be given a name."""
    if max(n_bytes, _FEW_CLASSES) < width <= MAX_CLASSES:
        raise FileError(
            f"column {quoted(name, 30)}",
            f"lists of {width:,} values in a file of {n_bytes:,} bytes",
            "a file that holds a value of each class",
        )


def _texts(file: Any, plan: _Plan, footer: Footer, room: Room) -> Text | Unusable:
    """Decode texts as codes, unless too many are different for any use."""
    texts = _Texts(room)
    for column in _batches(file, plan, footer.n_rows, checked=False):
        if not texts.take(column):
            return Unusable(f"more than {MAX_TEXTS:,} different texts, or very long ones")
    return texts.text.finish()


class _Texts:
    """Texts of one column, each of which is looked at once as long as its dictionary stays."""

    def __init__(self, room: Room) -> None:
        self.text = GrowingText(room)
        self.dictionary: Any = None
        self.lookup = np.empty(0, dtype=np.int32)

    def take(self, column: Any) -> bool:
        """Add some rows, if all their texts can be kept."""
        import pyarrow.compute as pc  # noqa: PLC0415 - as above

        coded = column if hasattr(column, "indices") else column.dictionary_encode()
        if not self._is_known(coded.dictionary):
            column.validate(full=True)
            self.dictionary = coded.dictionary
            self.lookup = np.full(len(self.dictionary), _NEW, dtype=np.int32)
        places = pc.fill_null(coded.indices, 0).to_numpy(zero_copy_only=False)
        if len(places) and not 0 <= places.min() <= places.max() < max(len(self.lookup), 1):
            raise damaged("texts beyond their dictionary")
        blank = coded.indices.is_null().to_numpy(zero_copy_only=False)
        if blank.all():
            codes = np.full(len(places), self.text.place(""), dtype=np.int32)
        else:
            codes = self.lookup[places]
            self._find(np.unique(places[(codes == _NEW) & ~blank]))
            codes = self.lookup[places]
            if blank.any():
                codes[blank] = self.text.place("")
        self.text.codes.frombytes(codes.tobytes())
        return bool(codes.min(initial=0) >= 0)

    def _is_known(self, dictionary: Any) -> bool:
        """Tell the dictionary of rows before, kept so that no other takes its place."""
        if self.dictionary is None or len(self.dictionary) != len(dictionary):
            return False
        before, now = self.dictionary.buffers(), dictionary.buffers()
        same = self.dictionary.offset == dictionary.offset and len(before) == len(now)
        return same and [b and b.address for b in before] == [b and b.address for b in now]

    def _find(self, new: NDArray[Any]) -> None:
        """Give codes to texts that were not met in this dictionary."""
        import pyarrow as pa  # noqa: PLC0415 - as above
        import pyarrow.compute as pc  # noqa: PLC0415 - as above

        if not len(new):
            return
        cut = pc.utf8_slice_codeunits(self.dictionary.take(pa.array(new)), 0, MAX_TEXT + 1)
        self.lookup[new] = self.text.places(pc.fill_null(cut, "").to_pylist())
