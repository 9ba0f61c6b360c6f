"""From what JSON holds to sets: lists by name, records, or rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from dashboard.readers.binary.arrays import contents_of
from dashboard.readers.binary.npy import piece
from dashboard.readers.columns.given_names import (
    NAME_OF_NUMBER,
    NUMBER_OF_NAME,
    in_order,
    named_by,
    with_names,
)
from dashboard.readers.columns.headings import key_of
from dashboard.readers.columns.named import CLASS_NAME_KEYS, LABEL_KEYS, left_out_sentence
from dashboard.readers.columns.roles import further_sets, role_of
from dashboard.readers.columns.table_columns import MAX_TEXT, Column, Text, both_sets, from_columns
from dashboard.readers.contents import DEFAULTS, Array, Contents, Options, RawEvent, RawSet, Role
from dashboard.readers.json_files.json_likely import Likely, keys_of_pair
from dashboard.readers.json_files.json_names import Names
from dashboard.readers.json_files.json_rows import ListRows, Records, Values, counted
from dashboard.readers.json_files.json_text import Indexed, Members, Node, parse
from dashboard.readers.refusal import FileError, plain, quoted

_WANTED = '{"logits": [[...]], "labels": [...]}, or one record a row'
_MAX_COLUMNS = 4096
_MAX_TEXT_BYTES = 64 << 20
Rows = Values | ListRows | Records | Likely


def read_json(data: bytes, options: Options = DEFAULTS) -> Contents:
    """Read lists by name, records, rows, or one record or row a line."""
    return _contents(parse(data), options)


def _contents(node: Node, options: Options) -> Contents:
    if isinstance(node, ListRows) and node.width > _MAX_COLUMNS:
        return piece(node.matrix())
    if isinstance(node, Records | ListRows | Likely):
        names, columns = node.table()
        return from_columns(names, columns, options)
    if isinstance(node, Values):
        return _lone_list(node)
    if isinstance(node, Members):
        return _by_name(node, options)
    if isinstance(node, list) and len(node) == 2:
        first, second = node
        if isinstance(first, list) and isinstance(second, list):
            return Contents({"calibration": _pair(first), "test": _pair(second)})
        return Contents({"rows": _pair(node)})
    raise FileError("file", "JSON of another layout", _WANTED)


def _lone_list(node: Values) -> Contents:
    """Take numbers for values or labels, and texts for labels."""
    array = _array(node)
    blank = array is not None and array.dtype.kind == "U" and bool((array == "").any())
    return piece(_numbers("list", node) if array is None or blank else array)


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
    if any(isinstance(node, Records | Likely) for node in nodes.values()):
        return _of_rows(top, options)
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


def _of_rows(top: Members, options: Options) -> Contents:
    """Read what holds a row each under names, such as predictions and labels, of one set or two."""
    groups: dict[Role, dict[str, Rows]] = {}
    left_out, further = list(top.single), further_sets(top.nodes)
    given = _given_names(top.nodes)
    for name, node in top.nodes.items():
        if name == given:
            continue
        role, rest = role_of(name)
        if name not in further and isinstance(node, Values | ListRows | Records | Likely):
            groups.setdefault(role, {})[name if role == "rows" else rest or "data"] = node
        else:
            left_out.append(name)
    if groups.keys() not in ({"rows"}, {"calibration"}, {"test"}, {"calibration", "test"}):
        listed = " and ".join(quoted(name, 30) for name in list(top.nodes)[:4])
        raise FileError("file", f"records under {listed}", _WANTED)
    read = {role: _together(group, options) for role, group in groups.items()}
    whole = read.popitem()[1] if len(read) == 1 else both_sets(read["calibration"], read["test"])
    if given is not None:
        whole, left = _named_anew(whole, given, top.nodes[given])
        left_out += left
    return replace(whole, found=(*whole.found, *left_out_sentence(left_out)))


def _given_names(nodes: Mapping[str, Node]) -> str | None:
    """Find a list of the names of the classes, of another length than the rows."""
    rows = {len(node) for node in nodes.values() if isinstance(node, Records | Likely | ListRows)}
    lists = [n for n, node in nodes.items() if isinstance(node, Values) and len(node) not in rows]
    return next((name for name in lists if name.lower() in CLASS_NAME_KEYS), None)


def _named_anew(contents: Contents, name: str, node: Node) -> tuple[Contents, list[str]]:
    """Name classes that are only numbered by a list; give what is left out."""
    names = _cells(node) if isinstance(node, Values) else ()
    sets = {
        role: with_names(replace(raw, class_names=None), names)
        if isinstance(raw, RawSet) and (raw.class_names or ()) == _numbers_to(len(names))
        else raw
        for role, raw in contents.sets.items()
    }
    if any(isinstance(raw, RawEvent) or raw.class_names != names for raw in sets.values()):
        return contents, [name]
    said = f"Classes are named by {plain(name, 40)}."
    return replace(contents, sets=sets, found=(*contents.found, said)), []


def _numbers_to(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def _together(nodes: Mapping[str, Rows], options: Options) -> Contents:
    """Put what has as many rows side by side, as columns of one table."""
    most = max(map(len, nodes.values()))
    short = [name for name, node in nodes.items() if len(node) != most]
    listed = [name for name, node in nodes.items() if isinstance(node, Records | Likely)]
    if any(name in listed or key_of(name) in LABEL_KEYS for name in short):
        lengths = " and ".join(f"{len(node):,} in {quoted(n, 30)}" for n, node in nodes.items())
        raise FileError("file", f"lists of unequal length: {lengths}", "as many of each")
    names: list[str] = []
    columns: list[Column] = []
    with_label = any(key_of(name) in LABEL_KEYS for name in nodes if name not in listed)
    for name in (name for name in nodes if name not in short):
        heads, parts = _columns(name, nodes[name], predicted=with_label)
        names += heads
        columns += parts
    return from_columns(names, columns, options, found=left_out_sentence(short))


def _columns(name: str, node: Rows, *, predicted: bool) -> tuple[Sequence[str], Sequence[Column]]:
    """Give one member as columns; records of a class and its score are no labels beside labels."""
    if isinstance(node, Values):
        return (name,), (node.finish(),)
    if isinstance(node, ListRows):
        return (name,), (node.matrix(),)
    heads, columns = node.table()
    pair = keys_of_pair(dict.fromkeys(heads or ()))
    if isinstance(node, Records) and predicted and pair is not None:
        renamed = dict(zip(pair, ("top1_class", "top1_prob"), strict=True))
        heads = tuple(renamed.get(head, head) for head in heads or ())
    return heads or (), columns


def _of_arrays(top: Members, options: Options) -> Contents:
    """Sort named lists into sets, those of an object within by both names."""
    found: dict[str, Values | ListRows] = {}
    classes: dict[str, tuple[str, ...]] = {}
    left_out = list(top.single)
    for name, node in top.nodes.items():
        if isinstance(node, Values | ListRows):
            found[name] = node
        elif isinstance(node, Indexed) and (names := _class_names(name, node)):
            classes[name] = names
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
    contents = replace(contents, sets={role: _coded(raw) for role, raw in contents.sets.items()})
    for name, names in classes.items():
        contents = named_by(contents, name, names)
    return contents


def _class_names(name: str, node: Indexed) -> tuple[str, ...]:
    """Give the names of the classes from an object of names by number, or of numbers by name."""
    if name.lower() in NUMBER_OF_NAME and len(node.names) == len(node.values):
        numbers = node.values.finish()
        return () if isinstance(numbers, Text) else in_order(node.names, numbers.tolist())
    numbered = Names()
    numbered.add([str(k) for k in range(len(node.values))])
    counted = name.lower() in NAME_OF_NUMBER and node.digest == numbered.digest()
    return _cells(node.values) if counted else ()


def _cells(values: Values) -> tuple[str, ...]:
    """Give texts of which none stands twice, or nothing."""
    column = values.finish()
    once = isinstance(column, Text) and len(column.cells) == len(column)
    return column.cells if once and isinstance(column, Text) else ()


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
