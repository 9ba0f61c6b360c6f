"""Cells that hold lists: pandas, NumPy and Python write them so, and all come out the same."""

import io
import random
from typing import Any

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, Options, parse, read
from dashboard.readers.text import text_blocks, text_lists
from tests.readers.files import LABELS, LOGITS, N

TABLE = LOGITS.astype(float)
ROWS = TABLE.tolist()


def csv_of(cells: list[str], head: str = "logits,label", end: str = "\n", sep: str = ",") -> bytes:
    rows = [f'"{cell}"{sep}{label}' for cell, label in zip(cells, LABELS, strict=True)]
    return end.join([head.replace(",", sep), *rows]).encode()


def printed(row: Any, **options: Any) -> str:
    with np.printoptions(floatmode="unique", **options):
        return str(np.asarray(row))


def check(data: bytes, table: Any = TABLE) -> LogitSet:
    rows = read("a.csv", data).rows
    assert isinstance(rows, LogitSet)
    np.testing.assert_array_equal(rows.logits, table)
    np.testing.assert_array_equal(rows.labels, LABELS)
    return rows


@pytest.mark.parametrize(
    "cells",
    [
        [str(row) for row in ROWS],
        [str(tuple(row)) for row in ROWS],
        [str(row).replace(" ", "") for row in ROWS],
        [printed(row) for row in ROWS],
        [printed(row, linewidth=30) for row in ROWS],
        [str([np.float64(value) for value in row]) for row in ROWS],
        [f" [ {', '.join(map(repr, row))} ] " for row in ROWS],
        [str([-0.0 + value for value in row[:-1]] + [row[-1]]) + "\n" for row in ROWS],
        [str(row) if k % 3 else printed(row) for k, row in enumerate(ROWS)],
        [f"{str(row)[:-1]}, ]" for row in ROWS],
        [str(row).replace(" ", "").replace(",", ",\n ", 1) for row in ROWS],
    ],
    ids=[
        "lists",
        "tuples",
        "close",
        "numpy",
        "wrapped",
        "scalars",
        "spaced",
        "ends",
        "mixed",
        "last",
        "broken",
    ],
)
def test_every_spelling(cells: list[str]) -> None:
    check(csv_of(cells))
    check(csv_of(cells, sep=";"))
    check(csv_of(cells, "label,logits", sep=";").replace(b"label;logits", b"logits;label"))


def test_whole_numbers_as_numpy_prints_them() -> None:
    whole = np.round(TABLE)
    check(csv_of([printed(row) for row in whole]), whole)


def test_further_columns_and_texts() -> None:
    buffer = io.StringIO("id,logits,features,site,label\n")
    buffer.seek(0, 2)
    for k, row in enumerate(ROWS):
        buffer.write(f'im{k},"{row}","[{k}, 2]",{"ab"[k % 2]},{LABELS[k]}\n')
    data = buffer.getvalue().encode()
    rows = read("a.csv", data)
    check(data)
    assert [*rows.columns["rows"]] == ["features", "site"]
    assert rows.uses["logits_0"] == "class"


def test_without_a_header() -> None:
    data = csv_of([str(row) for row in ROWS]).partition(b"\n")[2]
    check(data)


def test_one_value_is_the_score_of_class_1() -> None:
    scores = np.linspace(0.1, 0.9, N)
    rows = read("a.csv", csv_of([f"[{s}]" for s in scores.tolist()], "prob,label").replace(
        b",2", b",1").replace(b",3", b",0")).rows  # fmt: skip
    assert isinstance(rows, LogitSet)
    np.testing.assert_allclose(rows.probabilities[:, 1], scores)


@pytest.mark.parametrize("n_rows", [1, 30])
@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("[1, 2, 3]", r'row 33, column "logits": found a list of 3 values, wanted 4 as in the fir'),
        ("[1, 2, 3, 4_0]", r'row 33, column "logits": found "4_0", wanted a number'),
        ("[1, 2, 3, 0x1]", r'found "0x1"'),
        ("[1, 2, 3, \u0664]", r"wanted a number"),
        ("[1, 2, 3, [4]]", r"found"),
        ("[1, 2],[3, 4]", r'row 33, column "logits": found "2]"'),
        ("[1, 2, 3, 4],[1, 2, 3, 4]", r'row 33, column "logits": found "4]"'),
        ("[1, 2 ... 3]", r'row 33, column "logits": found "...", wanted a whole list'),
        ("[1, , 2, 3]", r"found"),
        ("", r"found a blank cell, wanted a list of numbers, as in the rows above"),
        ("word", r'found "word", wanted a list of numbers'),
        ("[1, 2, 3, 4", r"wanted a list of numbers"),
        ("[1, 2, 3, nan]", r"NaN"),
        ("[1, 2, 3, 4)", r'found "\[1, 2, 3, 4\)", wanted a list of numbers'),
        ("[1 2, 3, 4]", r'row 33, column "logits": found "1 2", wanted a number'),
        ("[1, 2; 3, 4]", r'row 33, column "logits": found "2; 3", wanted a number'),
        ("[1, 2,5, 3]", r"row 33, .* with two kinds of commas, .* \(0.5, not 0,5\)"),
    ],
)
def test_refusals(cell: str, message: str, n_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_blocks, "_BLOCKS", (100 * n_rows,))
    cells = [str(row) for row in ROWS]
    cells[31] = cell
    with pytest.raises(FileError, match=message) as refused:
        read("a.csv", csv_of(cells))
    assert len(str(refused.value)) < 300


def test_a_list_that_is_broken_over_two_cells() -> None:
    cells = [str(row) for row in ROWS]
    cells[5:7] = "[1, 2", "3, 4],[5, 6, 7, 8]"
    with pytest.raises(FileError, match=r'row 7, column "logits": found "\[1, 2", wanted a list'):
        read("a.csv", csv_of(cells))


def test_decimal_commas_in_every_list() -> None:
    cells = ["[1,6039, -0,4967, 2,1]"] * N
    with pytest.raises(FileError, match=r'row 2, column "logits": .* two kinds of commas'):
        read("a.csv", csv_of(cells))


def test_more_text_with_lists_than_is_read() -> None:
    data = b"probs,label\n" + b'"[0.25, 0.75]",1\n' * 1_500_000
    with pytest.raises(FileError, match=f"^file: found {len(data):,} bytes of text with lists"):
        read("a.csv", data)


def test_rows_are_numbered_as_in_the_file() -> None:
    lines = csv_of([str(row) for row in ROWS]).split(b"\n")
    check(b"\n".join([*lines, b"", b""]))
    lines[20] = b'"[nan, 1, 2, 3]",1'
    with pytest.raises(FileError, match=r"in 1 row \(row 21\) of the file"):
        read("a.csv", b"\n".join(lines))
    lines.insert(10, b"")
    with pytest.raises(FileError, match="row 11: found a blank row inside the table"):
        read("a.csv", b"\n".join(lines))


def test_a_name_that_stands_twice() -> None:
    data = b"probs,probs,label\n" + b'"[0.5, 0.5]","[0.5, 0.5]",1\n"[0.5, 0.5]","[0.5, 0.5]",0\n'
    with pytest.raises(FileError, match='column "probs" twice'):
        read("a.csv", data)


def test_lists_beside_columns_of_classes_stay_what_they_were() -> None:
    lines = [f'{a},{1 - a},"[{a}, 3, 4]",{int(a > 0.5)}' for a in np.linspace(0.1, 0.9, N).tolist()]
    rows = read("a.csv", "\n".join(["p_a,p_b,embedding,label", *lines]).encode()).rows
    assert isinstance(rows, LogitSet)
    assert rows.class_names == ("a", "b")


ODD = (
    "", "[1, 2]", "[1,5, 2]", "[nan, -inf]", "[-nan, 1]", "[inf inf]", "(1, 2)", "[1 2]", "[1, 2",
    "[1_0, 2]", "[1, 2, ]", "[ 1 , 2 ]", " [1, 2] ", "[1, 2][3, 4]", "[[1, 2]]", "[1.\n 2.]",
    "[np.float64(1), 2]", "(np.float64(1), np.float32(2))", "[1.,\n2]", "[]", "x", "[+1, .5]",
    "[1,, 2]", "[1 , 2 3]", "[None, 1]", "[1\t2]", "[1, 2)", "[infinity, -Infinity]", "[1, ... 2]",
    "[1,\xa02]", "[nan(1), 2]", "[1, 2 3, 4]",
)  # fmt: skip


def spelled(rng: random.Random, kind: str) -> str:
    row = [round(rng.random(), 3), float(rng.choice(["nan", "inf", "0.5", "2", "-1e-7"]))]
    return {
        "lists": str(row),
        "close": str(row).replace(" ", ""),
        "numpy": str(np.array(row)),
        "scalars": str([np.float64(value) for value in row]),
        "tuples": str(tuple(row)),
        "scalars in tuples": str(tuple(np.float64(value) for value in row)),
    }[kind]


def outcome(data: bytes) -> str:
    try:
        contents = parse("a.csv", data, Options())
    except FileError as error:
        return str(error)
    with np.printoptions(threshold=10**9):
        return repr((contents.sets, contents.refused))


def test_decoded_at_once_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_blocks, "_BLOCKS", (2000, 2000, 900))
    kinds = ["lists", "close", "numpy", "scalars", "tuples", "scalars in tuples"]
    rng, done, taken = random.Random(4), 0, text_lists._taken  # noqa: S311, SLF001 - no secret

    def counted(*given: Any) -> bool:
        nonlocal done
        took = taken(*given)
        done += took
        return took

    for k in range(150):
        cells = [spelled(rng, kinds[k % 6]) for _ in range(200)]
        for _ in range(rng.choice([0, 1, 2])):
            cells[rng.randrange(100, 200)] = rng.choice(ODD)
        beside = [rng.choice(["", ",a", ",7", f",{rng.random()}", f",im{n}"]) for n in range(200)]
        beside = beside if k % 2 else [",1.5"] * 200
        rows = [f'"{cell}",{n % 2}{beside[n] or ","}' for n, cell in enumerate(cells)]
        rows.insert(rng.choice([150, 201]), "") if k % 5 == 0 else None
        data = "\n".join(["probs,label,more", *rows]).encode()
        monkeypatch.setattr(text_lists, "_taken", counted)
        fast = outcome(data)
        monkeypatch.setattr(text_lists, "_taken", lambda *_: False)
        assert fast == outcome(data), data
    assert done > 200


def test_lists_that_are_read_one_by_one_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_blocks, "_BLOCKS", (2000,))
    monkeypatch.setattr(text_lists, "_MOST", 3_000_000)
    cells = [str(row) if k % 2 else printed(row) for k, row in enumerate(ROWS)] * 20
    rows = [f'"{cell}",{k % 4}' for k, cell in enumerate(cells)]
    with pytest.raises(FileError, match=r"bytes of lists that are spelled in several ways"):
        read("a.csv", "\n".join(["logits,label", *rows]).encode())
    same = [f'"{row}",{k % 4}' for k, row in enumerate(ROWS * 20)]
    read("a.csv", "\n".join(["logits,label", *same]).encode())
