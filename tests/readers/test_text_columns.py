"""Blocks of a text read as columns are those read cell by cell, and nothing else is read so."""

import random
import re
from typing import Any

import numpy as np
import pytest

from dashboard.readers import FileError, Options, parse, read, text_blocks, text_columns
from dashboard.readers.contents import Contents, RawSet
from dashboard.readers.text_columns import Quick
from tests.readers.test_apart import alike

ODD = (
    b"", b" ", b"1_0", b"+1", b"1e5", b".5", b"5.", b"1e", b"0x1p3", b'"', b'""', b'"a"', b"%",
    b"5%", b"5 %", b"5%%", b"\r", b"\n", b"\r\n", b"\t", b"\xc3\xa9", b"\xff", b",", b";", b"1,5",
    b"1.5", b"cat", b" cat", b"train", b"true", b"NULL", b"1e400", b"inf", b"-0", b"00012", b"\x0b",
    b"\xe2\x80\x83", b"12345678901234567890", b"\\", b"1.7976931348623159e308",
    b"nan", b"-nan", b"NaN", b"nan(1)", b"-inf", b"+inf", b"-Infinity",
)  # fmt: skip


def made(rng: random.Random) -> bytes:
    """Write a table of any make, perhaps with something odd in it."""
    sep, mark = rng.choice(
        [(",", "."), (";", "."), (";", ","), ("\t", "."), ("|", "."), (" ", ".")]
    )
    end, quoted, percent = rng.choice(["\n", "\r\n", "\r"]), rng.random() < 0.3, rng.random() < 0.3
    beside = rng.choice(["", "town", "age", "split"])
    rows = [sep.join(["p0", "p1", "label"] + [beside] * bool(beside))]
    for _ in range(60):
        one = rng.random()
        values = [f"{100 * v:.3f}%" if percent else repr(v) for v in (one, 1 - one)]
        cells = [*(value.replace(".", mark) for value in values), rng.choice("01")]
        if beside:
            town, age = rng.choice(["x", "é", ""]), f"{rng.random():.4f}"
            cells.append({"town": town, "age": age, "split": rng.choice(["test", "val"])}[beside])
        rows.append(sep.join(f'"{cell}"' if quoted else cell for cell in cells))
    data = end.join(rows).encode()
    for _ in range(rng.choice([0, 1, 1, 3])):
        place = rng.randrange(len(data) // 3, len(data))
        data = data[:place] + rng.choice(ODD) + data[place + rng.randrange(4) :]
    return data


def parsed(data: bytes) -> Contents | str:
    try:
        return parse("a.csv", data, Options())
    except FileError as error:
        return str(error)


def test_the_same_as_cell_by_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_columns, "_LEAST", 0)
    monkeypatch.setattr(text_blocks, "_BLOCKS", (400,))
    rng, taken, refused = random.Random(11), 0, 0  # noqa: S311 - no secret
    quick = Quick.take

    def counted(self: Quick, lines: Any, begun: Any) -> bool:
        nonlocal taken
        done = quick(self, lines, begun)
        taken += done
        return done

    def left(_: Quick, __: Any, ___: Any) -> bool:
        return False

    for _ in range(400):
        data = made(rng)
        monkeypatch.setattr(Quick, "take", counted)
        fast = parsed(data)
        monkeypatch.setattr(Quick, "take", left)
        slow = parsed(data)
        refused += isinstance(slow, str) or slow.refused is not None
        assert alike(shown(fast), shown(slow)), data
    assert taken > 400
    assert 50 < refused < 350


@pytest.mark.parametrize("cell", ["-nan", "nan(1)", "1_0", "0x1p3"])
def test_what_only_arrow_takes_for_a_number(cell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_columns, "_LEAST", 0)
    monkeypatch.setattr(text_blocks, "_BLOCKS", (400,))
    data = "a,b,label\n" + "1.5,-0.5,1\n" * 500 + f"{cell},1,0\n" + "0.5,2.5,0\n" * 500
    with pytest.raises(FileError, match=re.escape(f'row 502, column "a": found "{cell}"')):
        read("a.csv", data.encode())
    with pytest.raises(FileError, match=r"NaN .*row 502"):
        read("a.csv", data.replace(cell, "nan").encode())


def test_what_is_begun_before_percent_signs_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_columns, "_LEAST", 0)
    monkeypatch.setattr(text_blocks, "_BLOCKS", (400,))
    data = b"a,b,label\n" + b"25%,75%,1\n" * 79 + b"25,75,0\n" * 500
    with pytest.raises(FileError, match=r"percent signs in 158 of the first"):
        read("a.csv", data)


def test_the_first_fault_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_columns, "_LEAST", 0)
    monkeypatch.setattr(text_blocks, "_BLOCKS", (400,))
    data = b"a,b,label\n" + b"1.5,-0.5,1\n" * 500 + b"x,1,0\n" + b"0.5,2.5,0\n" * 5
    with pytest.raises(FileError, match='row 502, column "a"'):
        read("a.csv", data + b"1" * (3 << 20))


def shown(contents: Contents | str) -> Any:
    """Put NaN, which is equal to nothing, in words."""
    return repr(contents) if isinstance(contents, str) else _plain(contents)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return [value.dtype.str, repr(value.tolist())]
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return _plain(vars(value)) if hasattr(value, "__dataclass_fields__") else value


def test_wide_characters_in_sixteen_bits() -> None:
    table = "p_é,p_犬,label\n" + "0.25,0.75,犬\n0.5,0.5,é\n" * 20
    for encoding in ("utf-16", "utf-16-be"):
        mark = b"" if encoding == "utf-16" else b"\xfe\xff"
        for name in ("a.csv", "a.txt", "a.tsv"):
            wide = parse(name, mark + table.encode(encoding), Options())
            assert wide.found[0] == "The text is UTF-16, as its byte order mark says."
            narrow = parse(name, table.encode(), Options())
            assert alike(_plain(wide.sets), _plain(narrow.sets))
    with pytest.raises(FileError, match="row 42: found bytes that are not UTF-16"):
        parse("a.csv", table.encode("utf-16") + b"\x00\xd8\x00", Options())


def test_a_long_file_of_labels_alone() -> None:
    n_rows = 400_000
    data = b"label,town\n" + b"cat,x\ndog,y\n" * (n_rows // 2)
    raw = parse("a.csv", data, Options()).sets["rows"]
    assert isinstance(raw, RawSet)
    assert raw.table is None
    assert len(np.asarray(raw.labels)) == len(raw.columns[0].values) == n_rows
    assert np.asarray(raw.labels)[-2:].tolist() == [0, 1]
