"""Blank cells of a text table: how many there are, and the first rows that have one."""

import pytest

from dashboard.readers import FileError, Options, parse, read
from tests.readers.files import LABELS, PROBABILITIES
from tests.readers.test_mended_labels import NAMES, table


@pytest.mark.parametrize(
    ("blank", "said"),
    [
        ([5], "found a blank cell, wanted"),
        ([5, 9], r"\(2 cells in 2 rows are blank, in rows 7, 11\), wanted"),
        ([9, 5, 7, 8], r"\(4 cells in 4 rows are blank, first in rows 7, 9, 10\), wanted"),
    ],
)
def test_blank_labels_are_counted_and_shown(blank: list[int], said: str) -> None:
    labels = LABELS.astype(object)
    labels[blank] = ""
    data = table([*NAMES, "label"], *PROBABILITIES.T, labels)
    with pytest.raises(FileError, match=f'row 7, column "label": .*{said}'):
        read("a.csv", data)
    preview = parse("a.csv", data, Options()).preview
    assert preview is not None
    assert preview.refused
    assert preview.numbers == tuple(k + 2 for k in sorted(blank))
    assert [row[-1] for row in preview.rows] == [""] * len(blank)


def test_blank_cells_are_shown() -> None:
    cells = PROBABILITIES[:, 0].astype(object)
    cells[[20, 30]] = ""
    data = table([*NAMES, "label"], cells, *PROBABILITIES.T[1:], LABELS)
    preview = parse("a.csv", data, Options()).preview
    assert preview is not None
    assert preview.refused
    assert preview.numbers == (22, 32)
    assert [row[0] for row in preview.rows] == ["", ""]


def test_rows_below_a_blank_line_keep_their_numbers() -> None:
    rows = ["0.4,0.6,1", "0.7,0.3,0"] * 500
    data = "\n".join(["a,b,label", *rows, "", "nan,0.6,1", ",0.6,1", *rows])
    with pytest.raises(FileError, match=r"row 1004, .* are blank or NaN, in rows 1003, 1004"):
        read("a.csv", data.encode())


def test_a_blank_label_is_named_before_later_faults() -> None:
    data = "\n".join(["a,b,label", "0.5,0.5,", "0.5,0.5,", *["0.4,0.6,1"] * 40_000, "0.5,abc,1"])
    with pytest.raises(FileError, match=r"row 2, .* a blank cell, the first of 2 or more, wanted"):
        read("a.csv", data.encode())


def test_a_blank_label_far_below_one_of_a_training_row() -> None:
    rows = [
        f"{k % 10 / 10},{1 - k % 10 / 10:.1f},{k % 2},{'train' * (k < 9) or 'val'}"
        for k in range(150_000)
    ]
    rows[1], rows[100_000] = "0.1,0.9,,train", "0.1,0.9,,val"
    data = "\n".join(["a,b,label,split", *rows, "0.1,0.9,1,test"])
    with pytest.raises(FileError, match='row 100002, column "label": found a blank cell, wanted'):
        read("a.csv", data.encode())
