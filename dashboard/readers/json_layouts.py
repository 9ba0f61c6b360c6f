"""From what JSON holds to sets: lists by name, records, or rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from dashboard.readers.arrays import contents_of
from dashboard.readers.contents import DEFAULTS, Array, Contents, Options, RawEvent, RawSet, Role
from dashboard.readers.json_rows import ListRows, Records, Values, counted
from dashboard.readers.json_text import Indexed, Members, Node, parse
from dashboard.readers.named import role_of
from dashboard.readers.npy import piece
from dashboard.readers.refusal import FileError, quoted
from dashboard.readers.table_columns import MAX_TEXT, Text, both_sets, from_columns

_WANTED = '{"logits": [[...]], "labels": [...]}, or one record a row'
_MAX_COLUMNS = 4096
_MAX_TEXT_BYTES = 64 << 20


def read_json(data: bytes, options: Options = DEFAULTS) -> Contents:
    """Read lists by name, records, rows, or one record or row a line."""
    return _contents(parse(data), options)


def _contents(node: Node, options: Options) -> Contents:
    if isinstance(node, ListRows) and node.width > _MAX_COLUMNS:
        return piece(node.matrix())
    if isinstance(node, Records | ListRows):
        names, columns = node.table()
        return from_columns(names, columns, options)
    if isinstance(node, Values):
        return piece(_numbers("list", node))
    if isinstance(node, Members):
        return _by_name(node, options)
    if isinstance(node, list) and len(node) == 2:
        first, second = node
        if isinstance(first, list) and isinstance(second, list):
            return Contents({"calibration": _pair(first), "test": _pair(second)})
        return Contents({"rows": _pair(node)})
    raise FileError("file", "JSON of another layout", _WANTED)


def _pair(nodes: Sequence[Node]) -> RawSet:
    """Take two lists for a table and its labels, told apart by their depth."""
    arrays = [_numbers("list", node) for node in nodes if isinstance(node, Values | ListRows)]
    if len(arrays) != 2 or len(nodes) != 2:
        raise FileError("lists", "lists that are no pair of values and labels", _WANTED)
    first, second = arrays
    if second.ndim == 2 and (first.ndim == 1 or first.shape[1] == 1):
        return RawSet(second, counted(first))
    return RawSet(first, counted(second))


def _numbers(name: str, node: Values | ListRows) -> Array:
    column = node.matrix() if isinstance(node, ListRows) else node.finish()
    if isinstance(column, Text):
        cell = quoted(next(filter(None, column.cells), ""))
        raise FileError(name, f"text {cell}", "numbers")
    return column


def _by_name(top: Members, options: Options) -> Contents:
    """Tell the members of an object apart."""
    nodes = top.nodes
    columns, rows = nodes.get("columns"), nodes.get("data")
    if isinstance(columns, Values) and isinstance(rows, ListRows):
        # As pandas writes with orient="split".
        heads = columns.finish()
        if not isinstance(heads, Text) or len(heads) != rows.width or (heads.codes < 0).any():
            raise FileError("columns", "another number of names than of columns", _WANTED)
        return from_columns([heads.cells[c] for c in heads.codes], rows.table()[1], options)
    records = {role_of(name)[0]: node for name, node in nodes.items() if isinstance(node, Records)}
    if records:
        return _of_records(nodes, records, options)
    _refuse_by_row(nodes)
    indexed = [node for node in nodes.values() if isinstance(node, Indexed)]
    if len(indexed) == len(nodes) > 1 and len({node.digest for node in indexed}) == 1:
        return from_columns(list(nodes), [node.values.finish() for node in indexed], options)
    flat = {name: node for name, node in nodes.items() if isinstance(node, Values)}
    lengths = {len(node) for node in flat.values()}
    lists = [node for node in nodes.values() if not isinstance(node, Indexed)]
    if (
        len(flat) == len(lists) > 1
        and len(lengths) == 1
        and all(role_of(name)[0] == "rows" for name in flat)
    ):
        return from_columns(list(flat), [node.finish() for node in flat.values()], options)
    return _of_arrays(top, options)


def _refuse_by_row(nodes: Mapping[str, Node]) -> None:
    """Refuse an object for each row under its number, as pandas writes with orient="index"."""
    inner = [node for node in nodes.values() if isinstance(node, Indexed)]
    names = list(nodes)
    numbered = names == [str(k) for k in range(len(names))]
    if numbered and len(inner) == len(names) > len(inner[0].values) > 1:
        raise FileError(
            "file", 'an object a row, under the number of the row (orient="index")',
            'records (orient="records"), or a list a column',
        )  # fmt: skip


def _of_records(
    nodes: Mapping[str, Node], records: Mapping[Role, Records], options: Options
) -> Contents:
    """Read records under a name, or those of both sets."""
    read = {role: _contents(node, options) for role, node in records.items()}
    if len(read) == 1:
        return next(iter(read.values()))
    if read.keys() != {"calibration", "test"}:
        listed = " and ".join(quoted(name, 30) for name in list(nodes)[:4])
        raise FileError("file", f"records under {listed}", _WANTED)
    return both_sets(read["calibration"], read["test"])


def _of_arrays(top: Members, options: Options) -> Contents:
    """Sort named lists into sets, those of an object within by both names."""
    found: dict[str, Values | ListRows] = {}
    left_out = list(top.single)
    for name, node in top.nodes.items():
        if isinstance(node, Values | ListRows):
            found[name] = node
        elif isinstance(node, Members):
            inner = {f"{name}_{key}": part for key, part in node.nodes.items()}
            found |= {k: part for k, part in inner.items() if isinstance(part, Values | ListRows)}
            left_out += [key for key in inner if key not in found]
        else:
            left_out.append(name)
    arrays: dict[str, Array] = {}
    for name, node in found.items():
        array = _array(node)
        if array is None:
            left_out.append(name)
        else:
            arrays[name] = array
    if not arrays:
        raise FileError("file", "JSON without lists of numbers", _WANTED)
    contents = contents_of(arrays, left_out=left_out, options=options)
    sets = {role: _coded(raw) for role, raw in contents.sets.items()}
    return replace(contents, sets=sets)


def _array(node: Values | ListRows) -> Array | None:
    """Give a list as an array, of texts only where it is not too large for one."""
    if isinstance(node, ListRows):
        return node.matrix()
    column = node.finish()
    if not isinstance(column, Text):
        return column
    width = max(map(len, column.cells))
    if (column.codes < 0).any() or width > MAX_TEXT or 4 * width * len(column) > _MAX_TEXT_BYTES:
        return None
    return np.array(column.cells)[column.codes]


def _coded(raw: RawSet | RawEvent) -> RawSet | RawEvent:
    """Put labels that are texts as places among the different ones."""
    if isinstance(raw, RawEvent) or raw.labels is None or raw.labels.dtype.kind != "U":
        return raw
    texts, codes = np.unique(raw.labels, return_inverse=True)
    return replace(raw, labels=codes, label_texts=tuple(texts.tolist()))
