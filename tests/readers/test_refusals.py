"""Files that cannot be used: refused in one sentence that names the problem and the place."""

import gzip
import struct

import numpy as np
import pytest

from dashboard.readers import FORMATS, FileError, read
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
    zip_of_one,
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
    ("a.json", b'[["1e400"]]', "row 1"),
    ("a.json", b'[["%s"], [14], [1]]' % (b"1" * 300), "an array of shape"),
    ("a.npz", npz(probs=LOGITS, labels=LABELS, classes=np.arange(8)[::-1]), "out of range"),
    ("a.p", pickled((["cat", "no"],)), "one text a row"),
    ("a.p", pickled({"logits": [["a", "b"]], "probs": [["a", "b"]]}), "ambiguous"),
    # names and empty files
    ("a.docx", b"x", r"docx.*not supported.*\.npz"),
    ("README", b"x", "without an ending"),
    ("a.csv.gz", gzip.compress(CSV), r"compressed file \(.gz\)"),
    *((f"a{ending}", b"", "empty") for ending in FORMATS),
    # .npy
    ("a.npy", b"\x93NUMPZ" + b"0" * 60, "not a NumPy array"),
    ("a.npy", b"\x93NUMPY\x09\x00" + b"0" * 60, "version"),
    ("a.npy", npy(LOGITS)[:60], "truncated header"),
    ("a.npy", npy(LOGITS)[:-1], "declares 640.*truncated"),
    ("a.npy", npy(LOGITS) + b"x", "extra bytes follow"),
    ("a.npy", npy_header("[" * 5000, version=2), "header of 5,000 bytes"),
    ("a.npy", npy_header("{'descr': __import__('os'), }"), "damaged header"),
    ("a.npy", npy_header(FLOATS + "x", b"0" * 16), "damaged header"),
    ("a.npy", npy_header(FLOATS.replace("False", "'<f4'"), b"0" * 16), "damaged header"),
    ("a.npy", npy_header(FLOATS.replace("(2, 2)", "(2 2)"), b"0" * 16), "damaged header"),
    ("a.npy", npy_header(FLOATS.replace("shape", "descr"), b"0" * 16), "damaged header"),
    ("a.npy", npy_header("{'descr': '<f4'}", b"0" * 16), "damaged header"),
    ("a.npy", npy_header(FLOATS.replace("2, 2", "9" * 18 + ", 9"), b"0" * 16), "declares"),
    ("a.npy", npy_header(FLOATS.replace("2, 2", "1, 1, 2, 2"), b"0" * 16), "4 dimensions"),
    ("a.npy", npy_header(FLOATS.replace("2, 2", "0, 2")), "empty array"),
    ("a.npy", npy(LOGITS.astype(complex)), "complex"),
    ("a.npy", npy(np.array(["a", "b"], dtype="S")), "text"),
    ("a.npy", npy(np.zeros(3, dtype="f4,f4")), "structured"),
    ("a.npy", npy(np.zeros(3, dtype="V4")), "structured or untyped"),
    ("a.npy", npy(np.array([None])), "objects, which are a pickle"),
    ("a.npy", npy(np.zeros(3, dtype="M8[s]")), "not a numeric type"),
    ("a.npy", npy(np.zeros((2, 2, 2))), "3 dimensions"),
    ("a.npy", npy(np.array(0.5)), "0 dimensions"),
    # .npz
    ("a.npz", b"not a zip at all", "not a zip"),
    ("a.npz", NPZ[: len(NPZ) // 2], "truncated zip"),
    ("a.npz", NPZ + b"tail", "end of the file"),
    ("a.npz", archive(), "no arrays"),
    ("a.npz", archive(**{f"{k}.npy": b"" for k in range(257)}), "257 members"),
    ("a.npz", archive(**{"logits.pkl": b"cos\nsystem\n"}), "no pickle"),
    ("a.npz", archive(**{"inner.npz": NPZ}), "inner archive"),
    ("a.npz", archive(**{"../logits.npy": npy(LOGITS)}), "path for a name"),
    ("a.npz", archive(**{"a.npy": npy(LOGITS), "A.npy": npy(LABELS)}), "same name twice"),
    ("a.npz", archive(**{"labels.npy": npy(LABELS)[:-8]}), "declares 320.*truncated"),
    ("a.npz", zip_of_one(b"a.npy", npy(LOGITS), flags=1), "encrypted"),
    ("a.npz", zip_of_one(b"a.npy", npy(LOGITS), method=12), "compression method 12"),
    ("a.npz", zip_of_one(b"a.npy", npy(LOGITS), crc=1), "CRC"),
    ("a.npz", zip_of_one(b"a.npy", npy(LOGITS), size=100), "another size than the declared 100"),
    ("a.npz", zip_of_one(b"a.npy", npy(LOGITS), size=9000), "another size"),
    ("a.npz", zip_of_one(b"a.npy", npy(LOGITS), size=1 << 31), "expand to 2,048 MB"),
    ("a.npz", zip_of_one(b"a.npy", npy(LOGITS), packed=1 << 20), "cut short"),
    ("a.npz", zip_of_one(b"a.npy", npy(LOGITS), keep=40), "another size"),
    ("a.npz", zip_of_one(b"a.npy", npy(LOGITS), offset=1 << 30), "outside the file"),
    ("a.npz", zip_of_one(b"a.npy", npy(LOGITS), offset=1), "not where the directory says"),
    ("a.npz", zip_of_one(b"a.npy", npy(LOGITS), entries=2), "cut short"),
    ("a.npz", zip_of_one(b"a.npy", npy(LOGITS), entries=0), "longer than its members"),
    ("a.npz", zip_of_one(b"a.npy", bytes(1 << 20), size=1000), "another size"),
    ("a.npz", npz(logits=LOGITS, probs=LOGITS, labels=LABELS), "ambiguous"),
    ("a.npz", npz(logits=LOGITS, y=LABELS, labels=LABELS), "ambiguous"),
    ("a.npz", npz(a=LOGITS, b=LOGITS), "2 arrays named"),
    ("a.npz", npz(labels=np.zeros((2, 2, 2))), r"array of shape \(2, 2, 2\)"),
    (
        "a.npz",
        npz(outputs=LOGITS).replace(b"PK\x01\x02", b"PK\x01\x03"),
        "directory entry is wrong",
    ),
    ("a.npz", npz(a=LOGITS, b=LOGITS, c=LABELS), "3 arrays named"),
    ("a.npz", npz(val_logits=LOGITS, val_y=LABELS, test_logits=LOGITS), "partner"),
    ("a.npz", npz(logits=LOGITS, y=LABELS, test_logits=LOGITS, test_y=LABELS), "partner"),
    ("a.npz", archive(**{"class_names.npy": text_npy([65, 66, 67, 0x110000])}), "not characters"),
    ("a.npz", archive(**{"class_names.npy": text_npy([65, 66, 67, 0xD800])}), "not characters"),
    ("a.npz", npz(class_names=np.array([["a"], ["b"]])), "short names"),
    ("a.npz", npz(class_names=np.array(["a" * 300])), "300 characters"),
    # text tables
    ("a.csv", gzip.compress(CSV), "gzip"),
    ("a.csv", NPZ, "zip archive"),
    ("a.csv", b"\n \n\n", "no rows|label"),
    ("a.csv", LINES[0].encode(), "a header and no rows"),
    ("a.csv", CSV.replace(b"\n", b"\n\x00", 3), r"row 2: found a NUL"),
    ("a.csv", CSV.decode().encode("utf-16-le"), "NUL byte.*UTF-16 text without"),
    ("a.csv", with_row("1,2,3,4"), r"row 4: found 4 fields, wanted 5"),
    ("a.csv", with_row("1,2,3,4,5,6"), r"row 4: found 6 fields"),
    ("a.csv", table(*LINES, *LINES[1:] * 2, "1,2,3"), r"row 122: found 3 fields"),
    ("a.csv", with_row("1,,3,4,2"), r'row 4, column "logit_1": found a blank cell'),
    ("a.csv", with_row("1,n/a,3,4,2"), r'row 4, column "logit_1": found "n/a"'),
    ("a.csv", with_row("1,1_000,3,4,2"), "1_000"),
    ("a.csv", with_row("1,\u0661,3,4,2"), "logit_1.*wanted a finite number"),
    ("a.csv", with_row("1,inf,3,4,2"), "inf"),
    ("a.csv", with_row("1,1e999,3,4,2"), "infinity .*row"),
    ("a.csv", with_row("1,0x10,3,4,2"), "0x10"),
    ("a.csv", with_row("1,2-3,3,4,2"), "2-3"),
    ("a.csv", with_row("1,2e,3,4,2"), "2e"),
    ("a.csv", with_row("1,2,3,4,"), r'row 4, column "label": found a blank cell'),
    ("a.csv", with_row("1,2,3,4," + "x" * 300), "row 4"),
    ("a.csv", with_row("1,2,3,4,nan"), "name of no class column"),
    ("a.csv", with_row("1,2,3,4,9"), r"9, out of range, in 1 row \(row 4\)"),
    ("a.csv", with_row("1,2%,3,4,2"), "percent signs in 1 of"),
    ("a.csv", with_row('1,2,"3,4,2'), "closed quotes|a field that"),
    ("a.csv", with_row("1,2," + "9" * 2_000_000), "line of more than 1,048,576 bytes"),
    ("a.csv", b'a,b,label\n"' + b'\n","' * 900_000, "quote that is not closed"),
    ("a.csv", table("a,b,label", "", *[""] * 1_000_000, "1,2,0"), "blank rows"),
    ("a.csv", with_row('1,"2",' + "9" * 200_000 + ",1,1"), "row 4|field"),
    ("a.csv", with_row("1,2," + "9" * 200_000 + ",1,1"), "row 4"),
    ("a.csv", table(",".join(["1"] * 5000)), "5,000 columns"),
    ("a.csv", table("a,b,a,label", "1,2,3,0"), '"a" twice'),
    ("a.csv", table("a,b,label,target", "1,2,0,0"), "mean the same"),
    ("a.csv", table("a;b;label", "1.5;2;0", "1,5;2;0"), r"commas \(row 3\) and points \(row 2\)"),
    ("a.csv", table("town,street", "Bonn,B9"), "no column of classes"),
    ("a.csv", table("confidence,label", "0.9,1"), "without a predicted label"),
    ("a.csv", table("confidence,correct", "0.9,maybe"), '"maybe"'),
    ("a.csv", table("confidence,correct", "1.5,1"), r"outside 0 to 1 in 1 row \(row 2\)"),
    ("a.csv", table("prob_0,label", "0.9,1"), "alone, of class 0 by its name"),
    ("a.csv", with_row("1," + "9" * 300_000 + "x,3,4,2"), r'row 4, column "logit_1"'),
    ("a.csv", table("9" * 900_000 + "x", "9" * 900_000 + "x"), "no column of classes"),
    ("a.npy", npy(np.zeros((1, 200_001), np.float32)), "200,001 classes"),
    ("a.csv", table("label,pred,confidence", "1,1,-0.5"), "outside 0 to 1"),
    ("a.csv", table("logit_0,logit_1,label", "1,2,cat", "3,1,dog"), "name of no class"),
    ("a.csv", table("a,label", "0.5,ham", "0.2,spam"), 'which of the two the score "a" is of'),
    ("a.tsv", table(*(f"{k}.5\t{k}.25\tx{k}" for k in range(100_100))), "different values"),
]


@pytest.mark.parametrize(
    ("name", "data", "message"), REFUSALS, ids=[f"{k}-{r[0]}" for k, r in enumerate(REFUSALS)]
)
def test_refusal(name: str, data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message) as caught:
        read(name, data)
    said = str(caught.value)
    assert len(said) <= 600
    assert said.isprintable()
    assert not set("<>") & set(said)


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


@pytest.mark.parametrize(
    ("name", "most"), [("a.csv", 300_000_000), ("a.txt", 300_000_000), ("a.jsonl", 100_000_000)]
)
def test_more_text_than_is_read_is_not_looked_at(name: str, most: int) -> None:
    with pytest.raises(FileError, match=f"^file: found {most + 1:,} bytes of text.*parquet"):
        read(name, bytes(most + 1))
    with pytest.raises(FileError, match=r"NUL|not JSON"):
        read(name, bytes(10))


def test_ten_million_rows_are_the_most() -> None:
    with pytest.raises(FileError, match=r"^file: found 10,000,001 rows, wanted at most 10,000,000"):
        read("a.csv", b"score,label\n" + b"0,1\n" * 10_000_001)


def test_long_parts_are_shortened() -> None:
    error = FileError("f" * 999, "<b>\x1b[31m" + "x" * 9999, "y" * 9999)
    assert len(str(error)) <= 600
    assert str(error).isprintable()
    assert plain("\u202e<a>\tb\r\nc") == "\u2039a\u203a b c"


def test_a_table_of_small_integers_that_would_swell() -> None:
    data = npz(compress=True, logits=np.zeros((5_000_000, 10), dtype=np.int8), labels=LABELS)
    with pytest.raises(
        FileError, match="481 MB once they are numbers to compute with, too large for"
    ):
        read("a.npz", data)
