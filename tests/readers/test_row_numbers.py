"""Rows are named as the file's own editor numbers them, and else from 1."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from dashboard.readers import FileError, read
from tests.readers.files import HEADER, LABELS, LOGITS, PROBABILITIES, csv_of, npz
from tests.readers.test_xlsx import of_rows

SHARES = PROBABILITIES.copy()
SHARES[4] /= 2
SPOILT = [row.tolist() for row in SHARES]


def text(above: str = "", below: int = 0) -> bytes:
    """Write the table, with lines above it and blank ones among its rows."""
    lines = csv_of(SHARES, LABELS, header=HEADER).decode().splitlines()
    return "\n".join([*above.splitlines(), *lines[:3], *[""] * below, *lines[3:]]).encode()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: read("a.csv", text()), "in 1 row (row 6) of the file"),
        (lambda: read("a.csv", text("# one\n# two")), "in 1 row (row 8) of the file"),
        (lambda: read("a.csv", text(below=3)), "in 1 row (row 9) of the file"),
        (lambda: read("a.npz", npz(probs=SHARES, labels=LABELS)), "in 1 row (row 5), wanted"),
        (
            lambda: read(
                "a.xlsx",
                of_rows(
                    [
                        HEADER.split(","),
                        *([*row, y] for row, y in zip(SPOILT, LABELS.tolist(), strict=True)),
                    ]
                ),
            ),
            "in 1 row (row 6) of the file",
        ),
        (
            lambda: read(
                "a.npz",
                npz(probs_val=PROBABILITIES, y_val=LABELS, probs_test=SHARES, y_test=LABELS),
            ),
            "in 1 row (row 5) of the test set",
        ),
    ],
)
def test_a_row_that_sums_to_one_half(make: Callable[[], object], said: str) -> None:
    with pytest.raises(FileError, match=re.escape(said)):
        make()


@pytest.mark.parametrize(("blank", "row"), [(0, 6), (2, 8)])
def test_one_score_outside(blank: int, row: int) -> None:
    scores = [*map(str, PROBABILITIES[:, 1])]
    scores[4] = "7.5"
    lines = [f"{p},{y % 2}" for p, y in zip(scores, LABELS, strict=True)]
    data = "\n".join(["score,label", lines[0], *[""] * blank, *lines[1:]]).encode()
    with pytest.raises(FileError, match=rf"in 1 row \(row {row}\) of the file"):
        read("a.csv", data)


def test_labels_after_blank_lines() -> None:
    labels = LABELS.copy()
    labels[3] = 9
    lines = csv_of(LOGITS, labels, header=HEADER).decode().splitlines()
    data = "\n".join([lines[0], "", *lines[1:]]).encode()
    with pytest.raises(FileError, match=r"such as 9, out of range, in 1 row \(row 6\) of the file"):
        read("a.csv", data)


def test_the_first_rows_are_numbered_alike() -> None:
    shown = read("a.csv", csv_of(LOGITS, LABELS, header=HEADER).replace(b"\n", b"\n\n", 1)).preview
    assert shown.numbers == tuple(range(3, 13))
    assert read("a.npz", npz(logits=LOGITS, labels=LABELS)).preview.numbers == tuple(range(1, 11))
    numbers = np.arange(1, 11)
    headless = csv_of(LOGITS, LABELS, header=None)
    assert read("a.csv", headless).preview.numbers == tuple(numbers.tolist())


LINES = [f"{k % 10 / 10},{1 - k % 10 / 10:.1f},{k % 2}" for k in range(500_000)]


def long_text(row: int, line: str, end: str = "\n", lines: list[str] = LINES) -> bytes:
    """Write a long table with one row of its own far down."""
    lines = ["p0,p1,label", *lines]
    lines[row - 1] = line
    return end.join(lines).encode()


QUOTED = [",".join(f'"{cell}"' for cell in line.split(",")) for line in LINES[:200_000]]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("0.5,n/a,1", 'row 150000, column "p1": found "n/a"'),
        ('0.5,"n/a",1', 'row 150000, column "p1": found "n/a"'),
        ("0.5,,1", 'row 150000, column "p1": found a blank cell'),
        ("0.5,0.5,", 'row 150000, column "label": found a blank cell'),
        ("0.5,0.5", "row 150000: found 2 fields, wanted 3 columns"),
        ("0.5,0.5,1,", "row 150000: found 4 fields, wanted 3 columns"),
        ("0.5,1_0,1", 'row 150000, column "p1": found "1_0"'),
        ("0.5,0.5,7", "values such as 7, out of range, in 1 row (row 150000) of the file"),
        ("0.5,0.5,0.5", "values that are not integers in 1 row (row 150000) of the file"),
        ("nan,0.5,1", "NaN in 1 row (row 150000) of the file"),
        ("inf,0.5,1", "infinity (inf) in 1 row (row 150000) of the file"),
        ("0.5,50%,1", "percent signs in 1 of the first"),
        ('"0.5,0.5,1', "found a field that cannot be read (field larger than field limit"),
    ],
)
def test_a_late_fault_is_named(line: str, found: str, end: str) -> None:
    for lines in (LINES[:200_000], QUOTED):
        if line.count('"') == 1 and lines is QUOTED:
            found = "line 150001: found a field that cannot be read (',' expected after '\"')"
        with pytest.raises(FileError, match=re.escape(found)):
            read("a.csv", long_text(150_000, line, end, lines))


def test_rows_below_a_blank_line_far_down_keep_their_numbers() -> None:
    data = long_text(150_000, "", lines=[*LINES[:200_000], "0.5,0.5,9"])
    with pytest.raises(FileError, match=r"in 1 row \(row 200002\) of the file"):
        read("a.csv", data)


def test_lists_below_a_blank_line_keep_their_numbers() -> None:
    lines = ["label,class_1,prob_1,class_2,prob_2", "a,a,0.6,b,0.3", "", "b,b,0.5,b,0.4"]
    with pytest.raises(FileError, match=r"same class twice in 1 row \(row 4\) of the file"):
        read("a.csv", "\n".join(lines).encode())
