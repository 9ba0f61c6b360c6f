"""Blocks of a text read as columns are those read cell by cell, and nothing else is read so."""

import random
import re
from typing import Any

import numpy as np
import pytest

from dashboard.readers import FileError, Options, parse, read
from dashboard.readers.contents import Contents, RawSet
from dashboard.readers.text import text_blocks, text_columns, unicode_text
from dashboard.readers.text.text_columns import Quick
from tests.readers.test_apart import alike

ODD = (
    b"", b" ", b"1_0", b"+1", b"1e5", b".5", b"5.", b"1e", b"0x1p3", b'"', b'""', b'"a"', b"%",
    b"5%", b"5 %", b"5%%", b"\r", b"\n", b"\r\n", b"\t", b"\xc3\xa9", b"\xff", b",", b";", b"1,5",
    b"1.5", b"cat", b" cat", b"train", b"true", b"NULL", b"1e400", b"inf", b"-0", b"00012", b"\x0b",
    b"\xe2\x80\x83", b"12345678901234567890", b"\\", b"1.7976931348623159e308",
    b"nan", b"-nan", b"NaN", b"nan(1)", b"-inf", b"+inf", b"-Infinity", b"\n\n", b"\n \n", b"\r\r",
    b'"\n"', b'""\n', b'\n"', b"NA", b"-0\n", b"\n\n\n",
)  # fmt: skip
TEXTS = (
    "x",
    "é",
    "",
    'so ""good""',
    "a, b; c. d|e",
    "two\nlines",
    '\n\n""\n',
    "1.5",
    "-0",
    "[1, 2]",
)
BESIDE = ("", "", "town", "age", "split", "text", "text", "id", "name", "seen")


def made(rng: random.Random) -> bytes:
    """Write a table of any make, perhaps with something odd in it."""
    sep, mark = rng.choice(
        [(",", "."), (";", "."), (";", ","), ("\t", "."), ("|", "."), (" ", ".")]
    )
    end, quoted, percent = rng.choice(["\n", "\r\n", "\r"]), rng.random() < 0.3, rng.random() < 0.3
    beside, whole, blank = rng.choice(BESIDE), rng.random() < 0.2, rng.random() < 0.2
    named = rng.random() < 0.2
    rows = [sep.join(["p0", "p1", "name" if named else "label"] + [beside] * bool(beside))]
    for k in range(60):
        one = rng.random()
        values = [f"{100 * v:.3f}%" if percent else repr(v) for v in (one, 1 - one)]
        values = [str(round(10 * one)), "3"] if whole else values
        cells = [value.replace(".", mark) for value in values]
        cells.append(rng.choice([str(k), f"img{k}"]) if named else rng.choice("01"))
        cells = [f'"{cell}"' if quoted else cell for cell in cells]
        if beside:
            text = rng.choice(TEXTS).replace("\n", end)
            kept = {
                "town": rng.choice(["x", "é", ""]), "age": f"{rng.random():.4f}",
                "split": rng.choice(["test", "val"]), "text": f'"{text}"', "id": str(k),
                "name": f"{k}.png", "seen": rng.choice(["", "NA", "none", "nan", str(one)]),
            }  # fmt: skip
            cells.append(kept[beside])
        rows.append(sep.join(cells))
        rows.extend([""] * (blank and rng.choice([0, 0, 1, 2])))
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

    def counted(self: Quick, number: int, lines: Any, begun: Any) -> bool:
        nonlocal taken
        done = quick(self, number, lines, begun)
        taken += done
        return done

    def left(*_: Any) -> bool:
        return False

    for _ in range(600):
        data = made(rng)
        monkeypatch.setattr(Quick, "take", counted)
        fast = parsed(data)
        monkeypatch.setattr(Quick, "take", left)
        slow = parsed(data)
        refused += isinstance(slow, str) or slow.refused is not None
        assert alike(shown(fast), shown(slow)), data
    assert taken > 600
    assert 75 < refused < 525


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


def test_texts_of_several_lines_beside_the_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[int] = []
    monkeypatch.setattr(text_columns, "_LEAST", 0)
    monkeypatch.setattr(text_blocks, "_BLOCKS", (2000,))
    spent = Quick._spend  # noqa: SLF001 - counts what is read cell by cell

    def counted(self: Quick, cost: int, start: int, block: Any, slow: int = 0) -> None:
        left.append(slow)
        spent(self, cost, start, block, slow)

    monkeypatch.setattr(Quick, "_spend", counted)
    rng = np.random.default_rng(3)
    shares = rng.random(300).round(4).tolist()
    texts = ['"so ""good"", really\n\nfine, or; not"', '"\n"', '""', "plain", '"a|b\tc"']
    rows = [f"{texts[k % 5]},{s},{1 - s!r},{k % 2}" for k, s in enumerate(shares)]
    for end in ("\n", "\r\n", "\r"):
        for blank in ("", end):
            table = (end + blank).join(["text,prob_0,prob_1,label", *rows]).replace("\n", end)
            raw = parse("a.csv", table.encode(), Options()).sets["rows"]
            assert isinstance(raw, RawSet)
            assert np.asarray(raw.table)[:, 0].tolist() == shares
            assert raw.among is None or raw.among.tolist() == [False, True] * 300
    assert sum(left) < 30_000
    bad = "\n".join(["text,prob_0,prob_1,label", *rows, '"two\nlines",x,1,1']).encode()
    with pytest.raises(FileError, match='row 302, column "prob_0": found "x"'):
        read("a.csv", bad)


@pytest.mark.parametrize(
    ("cell", "what"),
    [("\x0b0.5", r'row \d+ has ".*0.5"'), ('0.5,x"y', r"quotes inside fields"), ("0.5,x\r", "")],
)
def test_what_is_read_slowly_is_bounded(
    cell: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_columns, "_LEAST", 0)
    monkeypatch.setattr(text_columns, "_FEW", 0)
    monkeypatch.setattr(text_columns, "_MOST", 20_000_000)
    monkeypatch.setattr(text_blocks, "_BLOCKS", (2000,))
    rows = "0.25,x,1,0.75\n" * 20_000
    read("a.csv", b"p_a,town,label,p_b\n" + rows.replace("x", "y").encode()[: 14 * 9000])
    odd = rows.replace("0.25", cell) if "," not in cell else rows.replace("0.25,x", cell)
    with pytest.raises(
        FileError, match=rf"^file: found [0-9,]+ bytes of rows .* not plain.*{what}"
    ):
        read("a.csv", b"p_a,town,label,p_b\n" + odd.encode())


def test_more_cells_than_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_columns, "_MOST", 20_000_000)
    with pytest.raises(FileError, match=r"more cells of text than are read, at row [0-9,]+"):
        read("a.csv", b"p_a,p_b,label\n" + b"1.5,-0.5,1\n" * 200_000)


def test_minus_signs_count(monkeypatch: pytest.MonkeyPatch) -> None:
    cost = Quick._cost  # noqa: SLF001 - what is counted
    spent: list[tuple[int, int]] = []

    def noted(self: Quick, lines: text_blocks.Lines) -> int:
        spent.append((cost(self, lines), len(lines)))
        return 0

    monkeypatch.setattr(text_columns, "_LEAST", 0)
    monkeypatch.setattr(text_blocks, "_BLOCKS", (3000,))
    monkeypatch.setattr(Quick, "_cost", noted)
    for row in ("0.5,0.5,0", "-.5,0.5,0"):
        read("a.csv", ("p_a,p_b,label\n" + f"{row}\n" * 600).encode())
    half = len(spent) // 2
    for (plain, n_rows), (signed, same) in zip(spent[:half], spent[half:], strict=True):
        assert n_rows == same
        assert signed == plain + n_rows * text_columns._MINUS  # noqa: SLF001 - as above


def test_names_of_rows_that_are_numbers_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_blocks, "_BLOCKS", (400,))
    numbers = [str(k) for k in (*range(100), 10**16 + 1, 2**53 + 1)]
    odd = ["-7", "7.0", "img7", "0" * 20 + "7", " 7", "9" * 17, "9" * 18, "1e3", "x,y"]
    for names in (numbers, [*numbers, *odd] * 3):
        rows = "\n".join(f'"{name}",0.25,0.75' for name in names)
        data = f"id,p_a,p_b\n{rows}".encode()
        monkeypatch.setattr(text_columns, "_LEAST", 1 << 30)
        slow = parse("a.csv", data, Options()).sets["rows"]
        monkeypatch.setattr(text_columns, "_LEAST", 0)
        fast = parse("a.csv", data, Options()).sets["rows"]
        assert isinstance(slow, RawSet)
        assert slow.ids is not None
        assert alike(_plain(fast), _plain(slow))


def test_more_sixteen_bits_than_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unicode_text, "_MOST", 1000)
    with pytest.raises(FileError, match="more than 1,000 bytes of UTF-16"):
        read("a.csv", ("a,b,label\n" + "1.5,-0.5,1\n" * 100).encode("utf-16"))
