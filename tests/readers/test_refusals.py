"""Files that cannot be used: refused in one sentence that names the problem and the place."""

import gzip
import struct

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FORMATS, FileError, Question, read
from dashboard.readers.refusal import plain
from tests.readers.files import (
    GOOD,
    HEADER,
    LABELS,
    LOGITS,
    archive,
    csv_of,
    npy,
    npy_header,
    npz,
    pickled,
)

CSV = csv_of(LOGITS, LABELS, header=HEADER)
LINES = CSV.decode().splitlines()
NPZ = npz(logits=LOGITS, labels=LABELS)
FLOATS = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"


def table(*rows: str) -> bytes:
    return "\n".join(rows).encode()


def with_row(row: str) -> bytes:
    return table(*LINES[:3], row, *LINES[3:])


def text_npy(points: list[int]) -> bytes:
    header = "{'descr': '<U1', 'fortran_order': False, 'shape': (4,), }"
    return npy_header(header, struct.pack("<4I", *points))


REFUSALS: list[tuple[str, bytes, str]] = [
    # nothing but marks of remarks, and texts that are no labels
    *(("a.csv", text, "only blank lines") for text in (b"#\n", b" #\n# \n" * 30)),
    ("a.p", pickled({"logits": [["a", "b"]], "probs": [["a", "b"]]}), '"logits": texts'),
    # names and empty files
    ("a.docx", b"x", r"docx.*not supported.*\.npz"),
    ("README", b"x", "without an ending"),
    ("a.csv.gz", gzip.compress(CSV), r"compressed file \(.gz\)"),
    *((f"a{ending}", b"", "empty") for ending in FORMATS),
    # .npy
    ("a.npy", b"\x93NUMPZ" + b"0" * 60, "damaged .npy header"),
    ("a.npy", b"\x93NUMPY\x09\x00" + b"0" * 60, "damaged .npy header"),
    ("a.npy", npy(LOGITS)[:60], "damaged .npy header"),
    ("a.npy", npy(LOGITS)[:-1], "declares 640.*truncated"),
    ("a.npy", npy(LOGITS) + b"x", "641 bytes of values where"),
    ("a.npy", npy_header("[" * 5000, version=2), "damaged .npy header"),
    ("a.npy", npy_header("{'descr': __import__('os'), }"), "damaged .npy header"),
    ("a.npy", npy_header(FLOATS + "x", b"0" * 16), "damaged .npy header"),
    ("a.npy", npy_header(FLOATS.replace("False", "'<f4'"), b"0" * 16), "damaged .npy header"),
    ("a.npy", npy_header(FLOATS.replace("(2, 2)", "(2 2)"), b"0" * 16), "damaged .npy header"),
    ("a.npy", npy_header(FLOATS.replace("shape", "descr"), b"0" * 16), "damaged .npy header"),
    ("a.npy", npy_header("{'descr': '<f4'}", b"0" * 16), "damaged .npy header"),
    (
        "a.npy",
        npy_header(FLOATS.replace("2, 2", "9" * 18 + ", 9"), b"0" * 16),
        "more than any array",
    ),
    ("a.npy", npy_header(FLOATS.replace("2, 2", "1, 1, 2, 2"), b"0" * 16), "4 axes"),
    ("a.npy", npy_header(FLOATS.replace("2, 2", "0, 2")), "empty array"),
    ("a.npy", npy(LOGITS.astype(complex)), "complex"),
    ("a.npy", npy(np.zeros(3, dtype="f4,f4")), "structured"),
    ("a.npy", npy(np.zeros(3, dtype="V4")), "array of records"),
    ("a.npy", npy(np.array([None])), r"objects \(a pickle\)"),
    ("a.npy", npy(np.zeros(3, dtype="M8[s]")), "numeric type"),
    ("a.npy", npy(np.zeros((2, 2, 2))), r"shape \(2, 2, 2\)"),
    # .npz
    ("a.npz", archive(), "no arrays"),
    ("a.npz", archive(**{"logits.pkl": b"cos\nsystem\n"}), "no pickle"),
    ("a.npz", archive(**{"inner.npz": NPZ}), "inner archive"),
    ("a.npz", archive(**{"labels.npy": npy(LABELS)[:-8]}), "declares 320.*truncated"),
    ("a.npz", npz(logits=LOGITS, y=LABELS, labels=LABELS), "Which array holds the labels"),
    ("a.npz", npz(a=LOGITS, b=LOGITS), "Which array holds the values"),
    ("a.npz", npz(labels=np.zeros((2, 2, 2))), r"array of shape \(2, 2, 2\)"),
    ("a.npz", npz(a=LOGITS, b=LOGITS, c=LABELS), "Which array holds the values"),
    (
        "a.npz",
        npz(val_logits=LOGITS, val_y=LABELS, test_logits=LOGITS),
        "test set: no labels",
    ),
    ("a.npz", archive(**{"class_names.npy": text_npy([65, 66, 67, 0x110000])}), "no Unicode"),
    # text tables
    ("a.csv", gzip.compress(CSV), "gzip"),
    ("a.csv", NPZ, "zip archive"),
    ("a.csv", b"\n \n\n", "no rows|label"),
    ("a.csv", LINES[0].encode(), "a heading and no rows"),
    ("a.csv", CSV.replace(b"\n", b"\n\x00", 3), r"row 2: a NUL"),
    ("a.csv", with_row("1,2,3,4"), r"too few or too many cells.*\brow 4\b"),
    ("a.csv", with_row("1,2,3,4,5,6"), r"too many cells.*\brow 4\b"),
    ("a.csv", table(*LINES, *LINES[1:] * 2, "1,2,3"), r"too many cells.*\brow 122\b"),
    ("a.csv", with_row("1,,3,4,2"), r"logit_1 1 \(blank\); in 1 row \(row 4\)"),
    ("a.csv", with_row("1,n/a,3,4,2"), r'logit_1 1 \("n/a"\)'),
    ("a.csv", with_row("1,1_000,3,4,2"), "1_000"),
    ("a.csv", with_row("1,\u0661,3,4,2"), "logit_1 1 "),
    ("a.csv", with_row("1,inf,3,4,2"), "inf"),
    ("a.csv", with_row("1,1e999,3,4,2"), r"logit_1 1 \(infinite\); in 1 row"),
    ("a.csv", with_row("1,2,3,4,"), r"label 1 \(blank\)"),
    ("a.csv", with_row("1,2,3,4," + "x" * 300), "row 4"),
    ("a.csv", with_row("1,2,3,4,nan"), r'label 1 \("nan"\)'),
    ("a.csv", with_row("1,2,3,4,9"), r"label 1 of no class .*in 1 row \(row 4\)"),
    ("a.csv", with_row("1,2%,3,4,2"), '"logit_1": 1 of 41 cells with a percent sign'),
    ("a.csv", with_row('1,2,"3,4,2'), "closed quotes|a field that"),
    ("a.csv", with_row("1,2," + "9" * 2_000_000), "too few or too many cells"),
    ("a.csv", table("a,b,label", "1,2,0", '1,"2,0', "1,3,1"), "row 3: a quote that is not"),
    ("a.csv", with_row('1,"2",' + "9" * 200_000 + ",1,1"), "row 4|field"),
    ("a.csv", with_row("1,2," + "9" * 200_000 + ",1,1"), "row 4"),
    ("a.csv", table("a,b,label,target", "1,2,0,0"), "columns that can be the outcome"),
    ("a.csv", table("town,street", "Bonn,B9"), "no column that can be the outcome"),
    ("a.csv", table("confidence,correct", "1.5,1"), r"outside 0 to 1 in 1 row \(row 2\)"),
    ("a.csv", table("9" * 900_000 + "x", "9" * 900_000 + "x"), "cannot be read"),
    ("a.npy", npy(np.zeros((1, 200_001), np.float32)), "200,001 classes"),
    ("a.csv", table("label,pred,confidence", "1,1,-0.5"), "outside 0 to 1"),
]


@pytest.mark.parametrize(
    ("name", "data", "message"), REFUSALS, ids=[f"{k}-{r[0]}" for k, r in enumerate(REFUSALS)]
)
def test_refusal(name: str, data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message) as caught:
        read(name, data)
    text = str(caught.value)
    assert len(text) <= 600
    assert text.isprintable()
    assert not set("<>") & set(text)


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd.csv", "<script>alert(1)</script>.csv", "=1+1.csv", "a\x00\n\u202e.csv"],
)
def test_names_are_only_shown(name: str) -> None:
    upload = read(name, GOOD["good.csv"])
    assert upload.name.isprintable()
    with pytest.raises(FileError) as caught:
        read(name + ".<b>\u202e\x07", b"x")
    assert str(caught.value).isprintable()
    assert "<" not in str(caught.value)


def test_long_parts_are_shortened() -> None:
    error = FileError("f" * 999, "<b>\x1b[31m" + "x" * 9999, "y" * 9999)
    assert len(str(error)) <= 600
    assert str(error).isprintable()
    assert plain("\u202e<a>\tb\r\nc") == "\u2039a\u203a b c"


BLANK = ["0.4,0.6,1", "0.7,0.3,0"] * 500


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([*BLANK, "", "nan,0.6,1", ",0.6,1", *BLANK], r"a 2 .*in 2 rows \(rows 1003, 1004\)"),
        (["0.5,0.5,", "0.5,0.5,", *BLANK, "0.5,abc,1"], r"b 1 .*label 2 .*\(rows 2, 3, 1004\)"),
    ],
)
def test_odd_cells_of_all_columns_are_asked_about_at_once(rows: list[str], text: str) -> None:
    data = table("a,b,label", *rows)
    with pytest.raises(Question, match=text):
        read("a.csv", data)
    assert read("a.csv", data, leave_out=True).rows is not None


@pytest.mark.parametrize("named", ["test", "val"])
def test_a_set_without_a_prefix_is_the_other_set(named: str) -> None:
    given = {f"{named}_logits": LOGITS[::-1], f"{named}_labels": LABELS[::-1]}
    upload = read("a.npz", npz(compress=False, logits=LOGITS, labels=LABELS, **given))
    sets = (upload.calibration, upload.test)
    plain_one, named_one = sets if named == "test" else sets[::-1]
    assert isinstance(plain_one, LogitSet)
    assert isinstance(named_one, LogitSet)
    np.testing.assert_array_equal(plain_one.logits, LOGITS)
    np.testing.assert_array_equal(named_one.logits, LOGITS[::-1])
