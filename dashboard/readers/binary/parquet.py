"""Parquet files: their declarations checked first, their values then decoded by Arrow."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dashboard.readers.binary.parquet_footer import Footer, check_pages, read_footer
from dashboard.readers.binary.parquet_texts import CodedTexts
from dashboard.readers.binary.thrift import damaged
from dashboard.readers.columns.growing import Room
from dashboard.readers.columns.objects import gives_classes, headings_of
from dashboard.readers.columns.table_columns import (
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
from dashboard.readers.json_files.json_likely import keys_of_pair
from dashboard.readers.meaning.values import MAX_CLASSES
from dashboard.readers.refusal import FileError, plain, quoted

_BATCH_ROWS = 1 << 16
_TEXT_ROWS = 1 << 18
_BATCH_VALUES = 1 << 21
_MOST_VALUES = 150_000_000
"""As many as are decoded in about a second."""

_SPARE_BYTES = 96 << 20
_ROW_BYTES = 40
_FEW_CLASSES = 50_000
_EXACT_BYTES = 2
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
        columns = list(zip(footer.tops, _decode(data, footer), strict=True))
    except FileError:
        raise
    except MemoryError as error:
        found = "values that need more memory to be decoded than there is"
        raise FileError("file", found, "fewer rows or columns") from error
    except (pa.ArrowException, OSError, ValueError, TypeError, LookupError) as error:
        raise damaged(plain(str(error).partition("\n")[0], 120)) from error
    finally:
        pa.default_memory_pool().release_unused()
    named = [part for name, column in columns for part in _spread(name, column)]
    return from_columns([name for name, _ in named], [column for _, column in named], options)


@dataclass(frozen=True)
class _Plan:
    """How one column is to be decoded."""

    name: str
    kind: Literal["numbers", "lists", "objects", "texts", "unusable"]
    dtype: np.dtype[Any] = _CODE
    why: str = ""
    classes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Objects:
    """A column of objects that give each class its value."""

    classes: tuple[str, ...]
    values: Array


def _spread(name: str, column: Column | _Objects) -> Iterable[tuple[str, Column]]:
    """Give one column a class for a column of objects."""
    if isinstance(column, _Objects):
        return zip(headings_of(name, column.classes), column.values.T, strict=True)
    return [(name, column)]


def _decode(data: bytes, footer: Footer) -> list[Column | _Objects]:
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
    plans = _plans(schema, footer)
    weight = _weigh(data, footer, plans)
    used = [c for c in footer.chunks if plans[footer.owner[c.column]].kind != "unusable"]
    for column, why in check_pages(data, used, footer.texts).items():
        top = footer.owner[column]
        plans[top] = _Plan(footer.tops[top], "unusable", why=why)
    counts = Counter(plan.dtype for plan in plans if plan.kind == "numbers")
    tables = {dtype: np.empty((footer.n_rows, n), dtype) for dtype, n in counts.items()}
    places = {dtype: iter(table.T) for dtype, table in tables.items()}
    columns: list[Column | _Objects] = []
    room = Room()
    for plan in plans:
        if plan.kind == "numbers":
            columns.append(_numbers(file, plan, next(places[plan.dtype]), weight))
        elif plan.kind == "lists":
            columns.append(_lists(file, plan, footer, weight))
        elif plan.kind == "objects":
            columns.append(_objects(file, plan, footer.n_rows))
        elif plan.kind == "texts":
            columns.append(_texts(file, plan, footer, room))
        else:
            columns.append(Unusable(plan.why))
    return columns


def _plans(schema: Any, footer: Footer) -> list[_Plan]:
    """Tell what each column can be used as."""
    nulls = {footer.owner[chunk.column] for chunk in footer.chunks if chunk.n_null}
    return [
        _of_objects(field.name, field.type, schema.names)
        or _plan(field.name, field.type, has_nulls=top in nulls)
        for top, field in enumerate(schema)
    ]


def _plan(name: str, type_: Any, *, has_nulls: bool) -> _Plan:
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
        dtype = _with_nulls(dtype) if has_nulls else dtype
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


def _of_objects(name: str, type_: Any, others: Sequence[str]) -> _Plan | None:
    """Tell objects that give each class its value."""
    from pyarrow import types  # noqa: PLC0415 - as above

    if not types.is_struct(type_) or not gives_classes(name, others):
        return None
    inner = [field.type for field in type_]
    numbers = all(types.is_floating(t) or types.is_integer(t) for t in inner)
    if len(inner) < 2 or not numbers or keys_of_pair({f.name: None for f in type_}):
        return None
    classes = tuple(field.name for field in type_)
    return _Plan(name, "objects", np.dtype(np.float64), classes=classes)


def _with_nulls(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Give the smallest decimals that hold such numbers as they are, and NaN."""
    if dtype.kind == "f":
        return dtype
    return np.dtype(np.float32 if dtype.itemsize <= _EXACT_BYTES else np.float64)


@dataclass
class _Weight:
    """How many bytes the decoded values of a file may take, and how many they do."""

    n_bytes: int
    n_rows: int
    taken: int

    def check(self) -> None:
        """Refuse more than the file could hold honestly, or nearly so."""
        limit = 3 * self.n_bytes + _SPARE_BYTES
        # Labels and scores of many rows outweigh a file in which all rows are alike.
        most_rows = (16 * self.n_bytes + _SPARE_BYTES) // _ROW_BYTES
        if self.taken > limit or self.n_rows > most_rows:
            raise FileError(
                "footer",
                f"{self.n_rows:,} rows, {self.taken >> 20:,} MB of values in a file of"
                f" {self.n_bytes:,} bytes, too large",
                f"at most {most_rows:,} rows and {limit >> 20:,} MB (size limit)",
            )

    def with_nulls(self, out: Array) -> Array:
        """Give whole numbers as decimals, once nulls are found of which the footer is silent."""
        dtype = _with_nulls(out.dtype)
        self.taken += out.size * dtype.itemsize
        self.check()
        return out.astype(dtype)


def _weigh(data: bytes, footer: Footer, plans: Sequence[_Plan]) -> _Weight:
    """Refuse more values than are decoded, and count what they will take."""
    check_rows(footer.n_rows)
    owners = [(plans[footer.owner[chunk.column]], chunk.n_values) for chunk in footer.chunks]
    used = [(plan, n) for plan, n in owners if plan.kind != "unusable"]
    n_values = sum(n * (1 + (plan.kind == "texts")) for plan, n in used)
    if n_values > _MOST_VALUES:
        raise FileError(
            "footer",
            f"{n_values:,} values of use, of which texts count twice",
            f"at most {_MOST_VALUES:,}: fewer rows or columns",
        )
    weight = _Weight(len(data), footer.n_rows, sum(n * plan.dtype.itemsize for plan, n in used))
    weight.check()
    return weight


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


def _numbers(file: Any, plan: _Plan, out: Array, weight: _Weight) -> Array:
    """Decode numbers into their place, or into decimals where whole numbers have nulls."""
    at = 0
    for column in _batches(file, plan, len(out)):
        values = _plain_numbers(column, plan.dtype)
        if values.dtype.kind == "f" and out.dtype.kind != "f":
            out = weight.with_nulls(out)
        out[at : at + len(values)] = values
        at += len(values)
    return out


def _lists(file: Any, plan: _Plan, footer: Footer, weight: _Weight) -> Array:
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
            _check_width(plan.name, width, weight.n_bytes)
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
            out = weight.with_nulls(out)
        out[at : at + len(values)] = values
        at += len(values)
    return out


def _objects(file: Any, plan: _Plan, n_rows: int) -> _Objects:
    """Decode one object a row."""
    out, at = np.empty((n_rows, len(plan.classes))), 0
    for column in _batches(file, plan, n_rows, max(1, _BATCH_VALUES // len(plan.classes))):
        for place, part in enumerate(column.flatten()):
            out[at : at + len(part), place] = _plain_numbers(part, plan.dtype)
        at += len(column)
    return _Objects(plan.classes, out)


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
    texts = CodedTexts(footer.n_rows, room)
    rows = _batches(file, plan, footer.n_rows, _TEXT_ROWS, checked=False)
    whole = texts.finish() if all(map(texts.take, rows)) else None
    if whole is None:
        return Unusable(f"more than {MAX_TEXTS:,} different texts, or too many in all")
    return whole
