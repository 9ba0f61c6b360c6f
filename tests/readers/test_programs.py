"""Files as other programs write them, with what stands around the numbers."""

import json
from typing import Any

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, read
from tests.readers.files import (
    HEADER,
    LABELS,
    LOGITS,
    PROBABILITIES,
    N,
    csv_of,
    headed,
    logit_set,
    npz,
    pickled,
)

TABLE = csv_of(LOGITS, LABELS, header=HEADER).decode()


def same(data: bytes, name: str = "a.csv", **choices: Any) -> tuple[str, ...]:
    """Expect the logits and labels of all the tests, and give what was found."""
    upload = read(name, data, **choices)
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.logits, LOGITS, rtol=1e-6)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    return upload.notes


@pytest.mark.parametrize(
    ("top", "lines"),
    [
        ("# ", 0), ("#", 0), ("# trained on Monday\n", 1), ("# a, b\n#\n\n", 2), ("sep=,\n", 1),
        ("# of two sets, test\n", 1), ("model,resnet\nepoch,7\n\n", 2), ("made by,Bob,2024\n", 1),
        ("# x\n" * 50, 50),
    ],
)  # fmt: skip
def test_lines_above_a_table(top: str, lines: int) -> None:
    results = same((top + TABLE).encode())
    texts = [line for line in results if "above" in line]
    assert texts == ([f"Lines above the table were passed over: {lines}."] if lines else [])


def test_rows_of_other_widths_are_refused() -> None:
    body = TABLE.partition("\n")[2]
    for text in ("cat,dog\n" + body, "a,b\n" + TABLE + "0.5,0.5\n" * 20):
        with pytest.raises(FileError):
            read("a.csv", text.encode())


@pytest.mark.parametrize("sep", [" ", ";", "|", "\t"])
def test_savetxt_with_a_header(sep: str, tmp_path: Any) -> None:
    path = tmp_path / "a.txt"
    heads = HEADER.replace(",", sep)
    np.savetxt(path, np.column_stack([LOGITS, LABELS]), delimiter=sep, header=heads)
    same(path.read_bytes(), "a.txt")


def test_a_row_that_begins_with_a_mark_is_no_remark() -> None:
    with pytest.raises(FileError, match=r'logit_0 1 \("# 1"\); in 1 row \(row 2\)'):
        read("a.csv", TABLE.replace("\n", "\n# 1,1,1,1,1\n", 1).encode())


@pytest.mark.parametrize("text", ['{"logits": [[1, 2]]}', "[[1, 2], [3, 4]]", ' [{"p0": 1}]'])
def test_json_by_another_name(text: str) -> None:
    with pytest.raises(FileError, match="JSON text"):
        read("a.csv", text.encode())


def test_what_stands_beside_arrays_in_a_pickle() -> None:
    beside = {"tags": ["a", "b"], "notes": None, "epoch": 5, "folds": [["x"]], "empty": []}
    results = same(pickled({"logits": LOGITS, "labels": LABELS, **beside}), "a.pkl")
    (text,) = (line for line in results if line.startswith("Arrays left out"))
    assert all(name in text for name in beside)


def test_labels_of_text_in_a_pickle() -> None:
    texts = ["abcd"[label] for label in LABELS]
    same(pickled({"logits": LOGITS, "labels": texts, "classes": list("abcd")}), "a.pkl")


def test_probabilities_that_are_off_are_not_taken_for_logits() -> None:
    off = PROBABILITIES * np.random.default_rng(3).uniform(0.8, 1.2, (len(LABELS), 1))
    assert off.max() > 1.01
    for table in (off, 100 * off):
        data = npz(probs=table, labels=LABELS)
        with pytest.raises(FileError, match=r"no value below 0, and rows sum to .* values\?"):
            read("a.npz", data)
        assert read("a.npz", data, values="logits").values_kind == "logits"


# Lists in cells ------------------------------------------------------------------------------

LISTS = LOGITS.astype(float).tolist()


def in_cells(cells: list[str], sep: str = ",") -> bytes:
    rows = [f'"{cell}"{sep}{label}' for cell, label in zip(cells, LABELS, strict=True)]
    return "\n".join([f"logits{sep}label", *rows]).encode()


def printed(row: Any, **options: Any) -> str:
    with np.printoptions(floatmode="unique", **options):
        return str(np.asarray(row))


@pytest.mark.parametrize(
    "cells",
    [
        [str(row) for row in LISTS],
        [str(row).replace(" ", "") for row in LISTS],
        [printed(row, linewidth=30) for row in LISTS],
        [f" [ {', '.join(map(repr, row))} ]\n" for row in LISTS],
        [str(row) if k % 3 else printed(row) for k, row in enumerate(LISTS)],
        [json.dumps(row).replace(" ", "").replace(",", ",\n ", 1) for row in LISTS],
    ],
)
def test_lists_in_cells(cells: list[str]) -> None:
    for sep in (",", ";"):
        same(in_cells(cells, sep))
    same(in_cells(cells).partition(b"\n")[2])


@pytest.mark.parametrize(
    "cells",
    [
        [str(tuple(row)) for row in LISTS],
        [str([np.float64(value) for value in row]) for row in LISTS],
        [f"{str(row)[:-1]}, ]" for row in LISTS],
        ["[0,25, 0,75]", "[0,5, 0,5]"] * (N // 2),
        ["[0,25 0,75]", "[0,5 0,5]"] * (N // 2),
    ],
)
def test_lists_that_are_written_otherwise_are_refused(cells: list[str]) -> None:
    with pytest.raises(FileError, match=r"lists that are not written as \[0\.1, 0\.9\]"):
        read("a.csv", in_cells(cells))


@pytest.mark.parametrize("cell", ["", "word", "[1, 2, 3]", "[1 2 ... 3]", "[nan, 1, 2, 3]"])
def test_a_list_that_is_unlike_the_others(cell: str) -> None:
    cells = [str(row) for row in LISTS]
    cells[5] = cell
    with pytest.raises(FileError, match=r"logits 1 \(.*\); in 1 row \(row 7\) of the file"):
        read("a.csv", in_cells(cells))


def test_lists_beside_columns_of_classes_stay_what_they_were() -> None:
    shares = np.linspace(0.1, 0.9, N)
    lists = [f'"[{share}, 3, 4]"' for share in shares]
    data = headed("p_a,p_b,embedding,label", shares, 1 - shares, lists, (shares > 0.5).astype(int))
    rows = logit_set(read("a.csv", data))
    assert rows.class_names == ("a", "b")
