"""Rows are named as the file's own editor numbers them, and else from 1."""

import re

import numpy as np
import pytest

from dashboard.readers import FileError, read
from tests.readers.files import HEADER, LABELS, LOGITS, PROBABILITIES, csv_of, npz
from tests.readers.test_xlsx import of_rows

SHARES = PROBABILITIES.copy()
SHARES[4] /= 2


def text(above: str = "", below: int = 0) -> bytes:
    """Write the table, with lines above it and blank ones among its rows."""
    lines = csv_of(SHARES, LABELS, header=HEADER).decode().splitlines()
    return "\n".join([*above.splitlines(), *lines[:3], *[""] * below, *lines[3:]]).encode()


RANKED = b"label,class_1,prob_1,class_2,prob_2\na,a,0.6,b,0.3\n\nb,b,0.5,b,0.4"
ROWS = [HEADER.split(","), *([*r.tolist(), int(y)] for r, y in zip(SHARES, LABELS, strict=True))]


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("a.csv", text(), "in 1 row (row 6) of the file"),
        ("a.csv", text("# one\n# two"), "in 1 row (row 8) of the file"),
        ("a.csv", text(below=3), "in 1 row (row 9) of the file"),
        ("a.npz", npz(probs=SHARES, labels=LABELS), "in 1 row (row 5). Expected"),
        ("a.csv", b"score,label\n0.5,1\n\n7.5,0\n0.5,1", "in 1 row (row 4) of the file"),
        ("a.csv", RANKED, "same class twice in 1 row (row 4) of the file"),
        ("a.xlsx", of_rows(ROWS), "in 1 row (row 6) of the file"),
        (
            "a.npz",
            npz(probs_val=PROBABILITIES, y_val=LABELS, probs_test=SHARES, y_test=LABELS),
            "test set values: values within 0 to 1 whose rows sum to 0.5 to 1, unfit",
        ),
    ],
)
def test_a_row_that_cannot_be_used(name: str, data: bytes, sentence: str) -> None:
    with pytest.raises(FileError, match=re.escape(sentence)):
        read(name, data)


def test_the_first_rows_are_numbered_alike() -> None:
    shown = read("a.csv", csv_of(LOGITS, LABELS, header=HEADER).replace(b"\n", b"\n\n", 1)).preview
    assert shown.numbers == tuple(range(3, 13))
    assert read("a.npz", npz(logits=LOGITS, labels=LABELS)).preview.numbers == tuple(range(1, 11))
    numbers = np.arange(1, 11)
    headless = csv_of(LOGITS, LABELS, header=None)
    assert read("a.csv", headless).preview.numbers == tuple(numbers.tolist())


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("0.5,n/a,1", 'p1 1 ("n/a"); in 1 row (row 150000) of the file'),
        ('0.5,"n/a",1', 'p1 1 ("n/a"); in 1 row (row 150000) of the file'),
        ("0.5,,1", "p1 1 (blank); in 1 row (row 150000) of the file"),
        ("0.5,0.5,", "label 1 (blank); in 1 row (row 150000) of the file"),
        ("0.5,0.5", "1 with too few or too many cells"),
        ("0.5,0.5,7", 'label 1 of no class ("7"); in 1 row (row 150000) of the file'),
        ("inf,0.5,1", "p0 1 (infinite); in 1 row (row 150000) of the file"),
        ("", 'label 1 of no class ("9"); in 1 row (row 160003) of the file'),
    ],
)
def test_a_late_fault_is_named(line: str, text: str, end: str) -> None:
    lines = [f"{k % 10 / 10},{1 - k % 10 / 10:.1f},{k % 2}" for k in range(160_000)]
    last = [] if line else ["0.5,0.5,9"]
    data = ["p0,p1,label", *lines[:149_998], line, *lines[149_998:], *last]
    with pytest.raises(FileError, match=re.escape(text)):
        read("a.csv", end.join(data).encode())
