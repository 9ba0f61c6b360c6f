"""Long JSON: what blocks of it are read as, beside Python's own parser."""

import gc
import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from dashboard.readers import FileError, parse, read
from dashboard.readers.contents import DEFAULTS, Contents, RawSet
from dashboard.readers.json_files.json_blocks import Blocks, decoded, decoded_lines, number_rows

_ROWS = 9000
_NAMES = ("cat", "dog, or wolf", "k\u00e4fer: [b]")


def _table() -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    return rng.normal(size=(_ROWS, 3)).round(3), rng.integers(0, 3, _ROWS)


def _rows(kind: str) -> list[Any]:
    table, labels = (part.tolist() for part in _table())
    pairs = zip(table, labels, strict=True)
    if kind == "lists":
        return [[*row, label] for row, label in pairs]
    if kind == "vectors":
        return [{"logits": row, "label": label} for row, label in pairs]
    if kind == "likely":
        return [
            {
                "scores": [{"label": n, "score": s} for n, s in zip(_NAMES, row, strict=True)],
                "label": _NAMES[label],
            }
            for row, label in pairs
        ]
    return [{**dict(zip(_NAMES, row, strict=True)), "label": _NAMES[label]} for row, label in pairs]


def _texts(rows: list[Any]) -> Iterator[tuple[str, str]]:
    yield "a.json", json.dumps(rows)
    yield "a.json", json.dumps(rows, indent=1)
    yield "a.json", json.dumps(rows, separators=(" , ", " : "))
    yield "a.jsonl", "\n".join(json.dumps(row) for row in rows)
    yield "a.jsonl", "\r\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\r\n"


def _walked(name: str, text: bytes, monkeypatch: pytest.MonkeyPatch) -> Contents:
    """Read without blocks, by Python's own parser."""
    with monkeypatch.context() as patched:
        patched.setattr(Blocks, "_last", lambda *_, **__: 0)
        patched.setattr("dashboard.readers.json_files.json_text.decoded", lambda _: None)
        return parse(name, text, DEFAULTS)


def _same(one: Contents, other: Contents) -> None:
    first, second = one.sets["rows"], other.sets["rows"]
    assert isinstance(first, RawSet)
    assert isinstance(second, RawSet)
    pairs = [(first.table, second.table), (first.labels, second.labels)]
    pairs += [(a.values, b.values) for a, b in zip(first.columns, second.columns, strict=True)]
    for a, b in pairs:
        one_array, other_array = np.asarray(a), np.asarray(b)
        assert one_array.dtype == other_array.dtype
        assert one_array.tobytes() == other_array.tobytes()
    texts = [[column.categories for column in part.columns] for part in (first, second)]
    assert texts[0] == texts[1]
    assert (one.found, first.label_texts) == (other.found, second.label_texts)


@pytest.mark.parametrize("kind", ["records", "lists", "vectors", "likely"])
def test_blocks_hold_what_walking_finds(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in _texts(_rows(kind)):
        data = text.encode()
        _same(parse(name, data, DEFAULTS), _walked(name, data, monkeypatch))


@pytest.mark.parametrize("kind", ["by name", "by number", "columns"])
def test_objects_by_name_hold_what_walking_finds(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, labels = _table()
    columns = {**dict(zip(_NAMES, table.T.tolist(), strict=True)), "label": labels.tolist()}
    made: Any = columns
    if kind == "by number":
        made = {str(k): row for k, row in enumerate(_rows("records"))}
    elif kind == "by name":
        made = {n: {str(k): v for k, v in enumerate(c)} for n, c in columns.items()}
    data = json.dumps(made).encode()
    _same(parse("a.json", data, DEFAULTS), _walked("a.json", data, monkeypatch))


def test_numbers_are_what_they_are() -> None:
    table, labels = _table()
    data = json.dumps({"logits": table.tolist(), "labels": labels.tolist()}).encode()
    rows = read("a.json", data).rows
    assert rows is not None
    assert np.array_equal(rows.logits, table)  # type: ignore[union-attr]
    assert np.array_equal(rows.labels, labels)  # type: ignore[union-attr]


_FAULTS = {
    '"label": "cat"': [
        '"label": "cat", "cat": 1',
        '"label" :"cat", "label": "cat"',
        '"lab": "cat"',
    ],
    '"cat": ': ['"cat": 01', '"cat": NaN, "x": ', '"cat": [1], "y": ', '"cat": +'],
}


@pytest.mark.parametrize(
    ("old", "new"), [(old, new) for old, many in _FAULTS.items() for new in many]
)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_a_late_fault_is_refused_where_it_stands(old: str, new: str, name: str) -> None:
    texts = [json.dumps(row) for row in _rows("records")]
    place = next(k for k in range(_ROWS - 20, _ROWS) if old in texts[k])
    texts[place] = texts[place].replace(old, new, 1)
    text = "[" + ", ".join(texts) + "]" if name == "a.json" else "\n".join(texts)
    with pytest.raises(FileError) as refused:
        read(name, text.encode())
    places = {f"row {place + 1}", f"row {place + 1:,}"}
    assert any(said in str(refused.value) for said in places)


def test_rows_of_numbers_stand_as_they_should() -> None:
    assert number_rows(b"[1,2.5],[-3,4e1]", 2, b"],[") == [1, 2.5, -3, 40.0]
    for block in (b"1[,2]", b"[1,2]5,[3,4]", b"[1 2,3]", b"[,1]", b"[1,2],[3]", b"[1],[2,3,4]",
                  b"[1,null]", b"[1,2]\n[3,4]", b"[[1,2]]", b"[1,2],", b"", b"[01,2]"):  # fmt: skip
        assert number_rows(block, 2, b"],[") is None, block
    for block in (b"[1,2],[3,4]", b"[1\n2]", b"[1,\n2]", b"[1,2]\n\n[3,4]"):
        assert number_rows(block, 2, b"]\n[") is None, block


def test_a_member_that_stands_twice_is_seen() -> None:
    spaces = ("", " ", "\t", "\n ")
    for one, other in product(spaces, spaces):
        assert decoded(f'{{"a"{one}: 1, "a"{other}: 2, "b": ":"}}'.encode()) is None
    assert decoded(b'[{"a": {"b": 1, "b": 2}}, {"c": 1}]') is None
    assert decoded(b'{"a": "x: y", "b" : [{"c": "y: "}]}') == {"a": "x: y", "b": [{"c": "y: "}]}
    assert decoded_lines(b'{"a": 1}\n{"a": 1, "a": 2}') is None
    assert decoded_lines(b"[1]\n2") is None


def test_python_looks_for_cycles_as_before() -> None:
    data = json.dumps(_rows("lists")).encode()
    for wanted in (False, True):
        (gc.enable if wanted else gc.disable)()
        try:
            parse("a.json", data, DEFAULTS)
            with pytest.raises(FileError):
                parse("a.json", data[:-9], DEFAULTS)
            assert gc.isenabled() is wanted
        finally:
            gc.enable()
