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


def long_text(row: int, line: str, end: str = "\n") -> bytes:
    """Write a long table with one row of its own, and one before it that takes longer to find."""
    lines = ["p0,p1,label", *LINES]
    lines[400_000], lines[row - 1] = "1.2.3,0.5,0", line
    return end.join(lines).encode()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("0.5,n/a,1", 'row 450000, column "p1": found "n/a"'),
        ("0.5,0.5", "row 450000: found 2 fields, wanted 3 columns"),
        ("0.5,0.5,1,", "row 450000: found 4 fields, wanted 3 columns"),
    ],
)
def test_a_late_fault_is_found_ahead(line: str, found: str, end: str) -> None:
    with pytest.raises(FileError, match=re.escape(found)):
        read("a.csv", long_text(450_000, line, end))


@pytest.mark.parametrize("line", ["nan,0.5,1", "", "0.5,0.5,1"])
def test_what_may_be_read_is_not_refused_ahead(line: str) -> None:
    with pytest.raises(FileError, match=r'row 400001, column "p0": found "1\.2\.3"'):
        read("a.csv", long_text(450_000, line))
