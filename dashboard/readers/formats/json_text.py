"""JSON: records, lists and objects of lists, and one record or one row a line."""

import gc
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.json as pj
from pyarrow import types

from dashboard.readers.formats.arrow import (
    NO_ARROW,
    arrow_of,
    check_columns,
    columns_of,
    columns_of_fields,
    member_of,
    shown_of,
    table_of,
)
from dashboard.readers.limits import (
    MAX_COLUMNS,
    MAX_DEPTH,
    MAX_DOCUMENT,
    MAX_OBJECTS,
    check_rows,
    megabytes,
)
from dashboard.readers.records import Arrays, Column, FileTable, unread
from dashboard.readers.refusal import FileError, quoted, visible

_HALF_PAIR = re.compile(
    rb"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]"
)
_BLOCK = 4 << 20
_MAX_PARTS = 64
_WANTED = '{"logits": [[...]], "labels": [...]}, or one record a row'
_CELL = re.compile(r"\{\s*[\"'].*\}\Z|\[\s*[\"'].*\]\Z", re.DOTALL)
"""An object, or a list of words; Python writes either with single quotation marks."""
_SPACED = re.compile(rb'"\s+:')
_ONE = (str, int, float, bool, type(None))


def read_json(data: bytes, header: bool | None = None) -> FileTable | Arrays:  # noqa: ARG001, FBT001
    """Read one JSON document, or JSON lines.

    Records, columns of one length and what pandas writes become a table; all else arrays by the
    names of the members that hold them, joined by dots. NaN and Infinity, which Python writes, are
    read as numbers, null as a blank cell.
    """
    text = _as_utf8(data)
    with _uncollected():
        if _is_lines(text):
            return _lines(text)
        if len(data) > MAX_DOCUMENT:
            size = f"one JSON document of {megabytes(len(data))}"
            wanted = f"at most {megabytes(MAX_DOCUMENT)}: save as JSON lines, .npz or .parquet"
            raise FileError("file", size, wanted)
        _check_weight(text)
        value = _loads(text, 1)
        _check_members(text, value)
        if isinstance(value, list):
            return _of_list(value)
        if isinstance(value, dict) and value:
            return _of_object(value)
    raise FileError("file", "JSON without lists or objects", _WANTED)


def with_json_cells(table: FileTable) -> FileTable:
    """Read texts that are JSON in all cells: objects, and lists of classes beside their scores."""
    groups: dict[str, dict[str, pa.Array]] = {}
    for column in table.columns:
        if (cells := _cells_of(column)) is not None:
            own = column.name if types.is_struct(cells.type) else column.name.rpartition(".")[0]
            groups.setdefault(own, {})[column.name] = cells
    read: dict[str, list[Column]] = {}
    for own, members in groups.items():
        prefix = f"{own}." if own and own not in members else ""
        arrays = {name.removeprefix(prefix): pa.chunked_array([c]) for name, c in members.items()}
        kinds = {name: cells.type for name, cells in arrays.items()}
        columns = columns_of_fields(kinds, arrays.__getitem__, prefix)
        if own in members or not any(column.unread for column in columns):
            read |= {name: [] for name in members} | {next(iter(members)): columns}
    if not any(column.is_text and column.name in read for column in table.columns):
        return table
    whole = tuple(chain.from_iterable(read.get(c.name, [c]) for c in table.columns))
    check_columns(len(whole))
    return replace(table, columns=whole, shown=shown_of(whole, table.n_rows))


def _cells_of(column: Column) -> pa.Array | None:
    """Return objects, or lists of words, that all texts are; or the lists of numbers."""
    values, texts = column.values, column.texts or ()
    if values.ndim == 2 and column.odd is None and values.dtype.kind in "iuf":
        return pa.FixedSizeListArray.from_arrays(values.ravel(), values.shape[1])
    if column.unread or not texts or not all(_CELL.match(text) for text in texts):
        return None
    marks = '"' if any('"' in text for text in texts) else "'"
    text = f"[{','.join(texts)}]".replace(marks, '"').encode()
    try:
        _check_weight(text)
        cells = arrow_of(_decoded(text, 1)).combine_chunks()
    except FileError:
        return None
    listed = types.is_list(cells.type) and types.is_string(cells.type.value_type)
    fits = (listed or types.is_struct(cells.type)) and len(cells) == len(texts)
    return cells.take(pa.array(values)) if fits else None


def _check_weight(text: bytes) -> None:
    """Refuse more values than fit, before they are made."""
    weights = ((b",", 40), (b'"', 16), (b"[", 80), (b"{", 240))
    weight = sum(text.count(sign) * n_bytes for sign, n_bytes in weights)
    if weight > MAX_OBJECTS:
        size = f"JSON whose values take {megabytes(weight)} of memory"
        most = f"at most {megabytes(MAX_OBJECTS)}"
        wanted = f"{most}: save as JSON lines of records, .npz or .parquet"
        raise FileError("file", size, wanted)


def _check_members(text: bytes, value: Any) -> None:
    """Refuse a member that stands twice, of which a parser keeps the last."""
    colons = text.count(b'":') + len(_SPACED.findall(text))
    if colons == _n_members(value, text.count(b"{")):
        return

    def whole(pairs: list[tuple[str, Any]]) -> None:
        names = [name for name, _ in pairs]
        if len({*names}) < len(names):
            twice = next(name for k, name in enumerate(names) if name in names[:k])
            raise FileError("file", f"a member twice: {quoted(twice)}", "each once")

    try:
        json.loads(text, object_pairs_hook=whole)
    except RecursionError:
        raise FileError("line 1", "text that is not JSON (nested too deeply)", "JSON") from None


def _n_members(value: Any, braces: int) -> int:
    """Count the members of all objects, of which there are no more than braces."""
    level, members = [value], 0
    while level and braces > 0:
        objects = [part for part in level if type(part) is dict]
        members += sum(map(len, objects))
        braces -= len(objects)
        if braces > 0:
            lists = (part for part in level if type(part) is list)
            level = [*chain(*(part.values() for part in objects), *lists)]
    return members


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep Python from looking for cycles among rows, which have none: it takes half the time."""
    looked = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looked:
            gc.enable()


def _as_utf8(data: bytes) -> bytes:
    """Take off a byte order mark, and give UTF-16 as UTF-8."""
    try:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            data = data.decode("utf-16").encode()
    except UnicodeError:
        raise FileError("file", "damaged UTF-16 text", "JSON in UTF-8") from None
    if b"\x00" in data[:4]:
        raise FileError("file", "NUL bytes", "JSON in UTF-8")
    text = data.removeprefix(b"\xef\xbb\xbf").strip()
    if not text:
        raise FileError("file", "nothing but blanks", _WANTED)
    return text


def _is_lines(text: bytes) -> bool:
    """Recognise JSON lines by a first line that is whole, and a further one."""
    end = text.find(b"\n")
    if end < 0 or end > MAX_DOCUMENT:
        return False
    try:
        return isinstance(_loads(text[:end], 1), dict | list)
    except FileError:
        return False


def _loads(text: bytes, line: int) -> Any:
    """Decode a value; where NaN or Infinity is in it, by Python's own parser."""
    value = _decoded(text, line)
    first, depth = value, 0
    while isinstance(first, dict | list) and first:
        first, depth = next(iter(first.values() if isinstance(first, dict) else first)), depth + 1
        if depth > MAX_DEPTH:
            raise FileError(f"line {line}", f"JSON nested more than {MAX_DEPTH} deep", _WANTED)
    return value


def _decoded(text: bytes, line: int) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if not any(word in text for word in (b"NaN", b"Infinity")) and "infin" not in error.msg:
            raise _malformed(error.msg, line + error.lineno - 1) from None
    if _HALF_PAIR.search(text):
        raise _malformed("half of a surrogate pair in a text", line)
    try:
        return json.loads(text)
    except UnicodeDecodeError:
        raise _malformed("bytes that are not UTF-8", line) from None
    except json.JSONDecodeError as error:
        raise _malformed(error.msg, line + error.lineno - 1) from None
    except RecursionError:
        raise _malformed("nested too deeply", line) from None
    except ValueError as error:
        raise _malformed(visible(str(error), 80), line) from None


def _malformed(problem: str, line: int) -> FileError:
    text = f"text that is not JSON ({problem.partition(': line ')[0]})"
    return FileError(f"line {line:,}", text, "JSON")


def _lines(text: bytes) -> FileTable | Arrays:
    """Read one value a line, by blocks; of a small file also what Arrow cannot."""
    problem = "no records"
    if text.startswith(b"{"):
        try:
            table = pj.read_json(pa.BufferReader(text), pj.ReadOptions(block_size=_BLOCK))
            table.validate(full=True)  # Arrow 26 drops nulls at the head of the first list
        except UnicodeDecodeError:  # of a name, in Arrow's own message
            raise FileError("file", "bytes that are not UTF-8", "JSON in UTF-8") from None
        except NO_ARROW as error:
            problem = visible(str(error), 120)
            if "twice" in problem:
                raise FileError("file", f"a member twice ({problem})", "each once") from None
        else:
            return _of_arrow(table)
    if len(text) > MAX_DOCUMENT:
        unlike = f"JSON lines of which one is unlike those before it ({problem})"
        raise FileError("file", unlike, "records of the same members, or .npz or .parquet")
    _check_weight(text)
    rows = [
        _loads(line, number)
        for number, line in enumerate(io.BytesIO(text), 1)
        if not line.isspace()
    ]
    return _of_list(rows)


def _of_arrow(table: pa.Table) -> FileTable:
    """Read what Arrow made of lines; it takes any bytes for names."""
    check_rows(table.num_rows)
    check_columns(table.num_columns)
    try:
        kinds = {field.name: field.type for field in table.schema}
        return table_of(columns_of_fields(kinds, table.column), table.num_rows)
    except (UnicodeDecodeError, pa.ArrowInvalid) as error:
        if isinstance(error, pa.ArrowInvalid) and "UTF8" not in str(error):
            raise
        raise FileError("file", "bytes that are not UTF-8", "JSON in UTF-8") from None


def _of_list(value: list[Any]) -> FileTable | Arrays:
    """Distinguish records, rows and lists of single values."""
    check_rows(len(value))
    kinds = {*map(type, value)}
    if not value or kinds == {type(None)}:
        raise FileError("file", "an empty list", _WANTED)
    if kinds <= {dict, type(None)}:
        return _of_records(value)
    if not kinds & {dict, list}:
        return Arrays(tuple(columns_of("", arrow_of(value))))
    if kinds != {list}:
        row = next(k for k, item in enumerate(value) if type(item) is not type(value[0]))
        raise FileError(f"row {row + 1:,}", "another kind of value than in row 1", "rows alike")
    array = arrow_of(value)
    columns = columns_of("", array)
    if any(column.name for column in columns):
        # Classes, with their scores in each row.
        return table_of(columns, len(value))
    single = types.is_list(array.type) and not types.is_nested(array.type.value_type)
    if single and not types.is_string(array.type.value_type) and not _has_labels(value):
        return Arrays(tuple(columns))
    if all(isinstance(item, _ONE) for row in value for item in row):
        return _of_rows(value)
    return Arrays(tuple(_parts("", value, 0)))


def _has_labels(rows: Sequence[Sequence[Any]]) -> bool:
    """Recognise whole numbers at one end of rows of numbers with fractions."""
    return [{type(row[end]) for row in rows if row} == {int} for end in (0, -1)].count(True) == 1


def _of_rows(rows: Sequence[Sequence[Any]]) -> FileTable:
    """Read rows of single values, of which the first may name the columns."""
    width = len(rows[0])
    wrong = next((k for k, row in enumerate(rows) if len(row) != width), None)
    if wrong is not None:
        text = f"a list of {len(rows[wrong]):,} values"
        raise FileError(f"row {wrong + 1:,}", text, f"as many as in row 1: {width:,}")
    check_columns(width)
    named = len({*rows[0]}) == width and all(isinstance(cell, str) for cell in rows[0])
    named = named and any(not isinstance(cell, str) for row in rows[1:3] for cell in row)
    names = rows[0] if named else [f"column {k + 1}" for k in range(width)]
    table = _table(dict(zip(names, map(list, zip(*rows[named:], strict=True)), strict=True)))
    return replace(table, named=named)


def _of_records(
    records: Sequence[Mapping[str, Any] | None], index: Sequence[str] = (), left: Sequence[str] = ()
) -> FileTable:
    """Read one object a row; a member that it lacks is a blank cell."""
    other = next((k for k, one in enumerate(records, 1) if not isinstance(one, dict | None)), None)
    if other is not None:
        raise FileError(f"row {other:,}", "another kind of value than in row 1", "rows alike")
    names = dict.fromkeys(chain.from_iterable(filter(None, records)))
    check_columns(len(names))
    columns = {"index": [*index]} if index else {}
    return _table(columns | {name: member_of(records, name) for name in names}, left)


def _table(columns: Mapping[str, list[Any]], left: Sequence[str] = ()) -> FileTable:
    """Put columns of one length together, and name what was left out."""
    arrays = {name: arrow_of(cells) for name, cells in columns.items()}
    notes = (f"Left out: {', '.join(quoted(name) for name in left[:5])}.",) if left else ()
    kinds = {name: array.type for name, array in arrays.items()}
    n_rows = len(next(iter(columns.values()), ()))
    check_rows(n_rows)
    return table_of(columns_of_fields(kinds, arrays.__getitem__), n_rows, notes)


def _of_object(value: Mapping[str, Any]) -> FileTable | Arrays:
    """Distinguish what pandas writes, records and lists by name."""
    lists = {name: part for name, part in value.items() if isinstance(part, list)}
    objects = {name: part for name, part in value.items() if isinstance(part, dict) and part}
    check_columns(len(lists))
    if {"columns", "data"} <= lists.keys() and all(isinstance(row, list) for row in lists["data"]):
        # As pandas writes with orient="split".
        if {*map(len, lists["data"])} != {len(lists["columns"])}:
            raise FileError("columns", "another number of names than of columns", "as many")
        return _of_rows([[str(name) for name in lists["columns"]], *lists["data"]])
    if not lists and not objects:
        return _of_records([value])
    if len(objects) == len(value) and (table := _of_pandas(objects)) is not None:
        return table
    rows = {name: part for name, part in lists.items() if _holds_objects(part)}
    left = [name for name in value if name not in lists]
    if rows and not _have_names(rows, lists):
        table = _of_row_lists(rows, lists, left)
        if table is not None:
            return table
    flat = len(lists) > 1 and len({*map(len, lists.values())}) == 1 and not objects
    if flat and not {*map(type, chain(*lists.values()))} & {dict, list}:
        return _table(lists, left)
    return Arrays(tuple(_parts("", value, 0)))


def _of_pandas(objects: Mapping[str, dict[str, Any]]) -> FileTable | None:
    """Read objects of the same members: a column each, or a row each under its name."""
    first = next(iter(objects.values()))
    if any(part.keys() != first.keys() for part in objects.values()):
        return None
    single = [not isinstance(item, dict | list) for item in first.values()]
    inner, outer = (all(map(str.isdigit, keys)) for keys in (first, objects))
    if inner or (not outer and all(single) and len(first) > len(objects)):
        counted = [*first] == [str(k) for k in range(len(first))]
        columns = {name: [*part.values()] for name, part in objects.items()}
        if any([*part] != [*first] for part in objects.values()):
            columns = {name: [part[key] for key in first] for name, part in objects.items()}
        return _table(columns if counted else {"index": [*first]} | columns)
    if outer or (any(single) and len(objects) > len(first)):
        counted = [*objects] == [str(k) for k in range(len(objects))]
        return _of_records([*objects.values()], () if counted else [*objects])
    return None


def _holds_objects(rows: Sequence[Any]) -> bool:
    """Distinguish records and lists of classes with their scores, by the first."""
    item = next((row for row in rows if row is not None), None)
    for _ in range(2):
        item = item[0] if isinstance(item, list) and item else item
    return isinstance(item, dict)


def _have_names(rows: Mapping[str, list[Any]], lists: Mapping[str, list[Any]]) -> bool:
    """Recognise a list of texts that names the classes of the lists in records."""
    first = next(iter(rows.values()))
    members = first[0].values() if isinstance(first[0], dict) else ()
    widths = {len(part) for part in members if isinstance(part, list)} - {len(first)}
    return any(len(part) in widths and {*map(type, part)} == {str} for part in lists.values())


def _of_row_lists(
    rows: Mapping[str, list[Any]], lists: Mapping[str, list[Any]], left: Sequence[str]
) -> FileTable | None:
    """Read records under a name: alone, one below the other as sets, or beside lists."""
    firsts = [part[0].keys() if isinstance(part[0], dict) else None for part in rows.values()]
    if len(rows) == len(lists) and None not in firsts and all(keys == firsts[0] for keys in firsts):
        if len(rows) == 1:
            return _of_records(next(iter(rows.values())), left=left)
        sets = [[name] * len(part) for name, part in rows.items()]
        stacked = [*chain(*rows.values())]
        columns = {name: member_of(stacked, name) for name in firsts[0] or ()}
        return _table({"set": [*chain(*sets)]} | columns, left)
    beside = {
        name: part for name, part in lists.items() if len(part) == len(next(iter(rows.values())))
    }
    if not rows.keys() <= beside.keys():
        return None
    left = [*left, *(name for name in lists if name not in beside)]
    if len(beside) == 1 and firsts[0] is not None:
        return _of_records(next(iter(rows.values())), left=left)
    return _table(beside, left)


def _parts(name: str, value: Any, depth: int) -> Iterator[Column]:
    """Return the arrays of nested objects and of short lists of lists, by names with dots."""
    if depth > MAX_DEPTH - 2:  # the lists of a table are two more
        raise FileError("file", f"JSON nested more than {MAX_DEPTH} deep", _WANTED)
    prefix = f"{name}." if name else ""
    if isinstance(value, dict):
        if (names := _numbered(value)) is not None:
            yield from columns_of(name, arrow_of(names))
            return
        if len(value) > MAX_COLUMNS:
            raise FileError("file", f"{len(value):,} lists or objects by name", _WANTED)
        for key, part in value.items():
            yield from _parts(prefix + key, part, depth + 1)
    elif isinstance(value, list) and value:
        columns = columns_of(name, arrow_of(value)) or [unread(name, "empty objects")]
        nested = columns[0].unread in ("objects", "nested lists") and len(value) <= _MAX_PARTS
        if nested and all(isinstance(row, list) for row in value):
            for place, part in enumerate(value):
                yield from _parts(f"{prefix}{place}", part, depth + 1)
            return
        yield from columns
    else:
        yield unread(name, "an empty list" if isinstance(value, list) else "a single value")


def _numbered(value: Mapping[str, Any]) -> list[str] | None:
    """Return names in order from names by number, or numbers by name."""
    places = [str(k) for k in range(len(value))]
    if [*value] == places and all(isinstance(name, str) for name in value.values()):
        return [*value.values()]
    whole = len(value) > 1 and all(type(k) is int for k in value.values())
    if whole and sorted(value.values()) == [*range(len(value))]:
        return sorted(value, key=value.__getitem__)
    return None
