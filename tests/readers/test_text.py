"""Tables of text: encodings, delimiters, titles, headings, rows that are cut, and refusals."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.readers.formats import text_pieces
from dashboard.readers.formats.text import read_text
from dashboard.readers.records import FileTable
from dashboard.readers.refusal import FileError

HOSPITAL = (
    "case_no;discharge_date;ward;age_group;sex;length_of_stay;predicted_risk_pct;readmitted_30d\n"
    + "".join(
        f"{k};{k % 9 + 1:02}.05.2024;W{k % 3};60-69;{'mf'[k % 2]};{k % 20};{risk};{yes}\n"
        for k, (risk, yes) in enumerate([("12,5", "Yes"), ("8", "No"), ("40,25", "No")] * 20)
    )
    + "60;01.05.2024;W1;60-69;f;3;n/a;Yes\n61;02.05.2024;W1;;f;;;No\n"
)


def columns(table: FileTable) -> dict[str, list[object]]:
    """Give the cells of each column, texts as such."""
    return {
        column.name: column.values.tolist()
        if column.texts is None
        else [column.texts[code] for code in column.values]
        for column in table.columns
    }


def read(text: str | bytes, *, header: bool | None = None) -> FileTable:
    return read_text(text.encode() if isinstance(text, str) else text, header)


def test_a_hospital_export() -> None:
    table = read(HOSPITAL)
    assert table.n_rows == 62
    assert table.notes == (
        "Semicolons separate the columns.",
        "Commas mark decimals in predicted_risk_pct (40 values).",
    )
    names = [column.name for column in table.columns]
    assert names == HOSPITAL.split("\n", 1)[0].split(";")
    risk = table.columns[6]
    assert risk.values[:3].tolist() == [12.5, 8, 40.25]
    assert risk.odd is not None
    assert (risk.odd.rows.tolist(), risk.odd.texts) == ([60, 61], ("n/a", ""))
    assert table.columns[5].odd is not None
    assert table.columns[5].odd.rows.tolist() == [61]
    assert table.columns[7].texts == ("Yes", "No")
    assert table.shown[0][6] == "12,5"
    assert table.first_row == 2


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", ""), ("utf-8-sig", ""), ("utf-16", ""), ("utf-16-le", ""), ("utf-16-be", ""),
        ("cp1252", "The text is not UTF-8 and was read as Windows-1252"),
        ("cp1250", "names may look wrong"), ("cp1250", "save the file as UTF-8"),
    ],
)  # fmt: skip
def test_encodings(encoding: str, text: str) -> None:
    table = read("größe,preis_€\n1,2\n".encode(encoding))
    assert columns(table) == {"größe": [1], "preis_€": [2]}
    assert [text in doubt for doubt in table.doubts] == ([True] if text else [])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [",", ";", "\t", "|", " ", "   "])
def test_delimiters_and_line_ends(mark: str, end: str) -> None:
    lines = [["p", "q", "label"], ["0.5", "0.5", "1"], ["0.25", "0.75", "0"]]
    table = read(end.join(map(mark.join, lines)) + end)
    assert columns(table) == {"p": [0.5, 0.25], "q": [0.5, 0.75], "label": [1, 0]}


@pytest.mark.parametrize(
    ("above", "first_row", "n_above"),
    [
        ("", 2, 0), ("\n\n", 4, 0), ("Export of May\n\n", 4, 1), ("# a\n# b, c\n", 4, 2),
        ("model,resnet\nepoch,7\n\n", 5, 2), ("sep=,\n", 3, 1), ('"two\nlines"\n', 4, 1),
    ],
)  # fmt: skip
def test_titles_above_the_table(above: str, first_row: int, n_above: int) -> None:
    table = read(above + "cat,dog,fox,label\n" + "0.5,0.25,0.25,cat\n" * 3)
    assert [column.name for column in table.columns] == ["cat", "dog", "fox", "label"]
    assert table.first_row == first_row
    text = f"Lines above the table were passed over: {n_above}."
    assert table.notes == ((text,) if n_above else ())


@pytest.mark.parametrize(
    ("text", "named", "first"),
    [
        ("0.5,1\n0.25,0\n", False, [0.5, 0.25]),
        ("p,1\n0.25,0\n", True, [0.25]),
        ("label\n3\n1\n", True, [3, 1]),
        ("cat\ndog\ncat\ndog\n", False, ["cat", "dog", "cat", "dog"]),
        ("a.png,cat,0.9\nb.png,dog,0.8\nc.png,cat,0.7\n", False, ["a.png", "b.png", "c.png"]),
        ("town,street\nBonn,B9\nUlm,X\n", True, ["Bonn", "Ulm"]),
        (",0,1,2\nx,0.1,0.2,0.7\n", False, ["x"]),
        ("0,1,2,label\n0.1,0.2,0.7,cat\n0.3,0.2,0.5,dog\n", True, [0.1, 0.3]),
        ("# p label\n0.5 1\n0.25 0\n", True, [0.5, 0.25]),
    ],
)
def test_whether_the_first_row_is_a_heading(text: str, named: bool, first: list[object]) -> None:  # noqa: FBT001
    table = read(text)
    assert table.named is named
    assert next(iter(columns(table).values())) == first
    assert (table.columns[0].name == "column 1") is not named


def test_the_user_knows_better() -> None:
    table = read("a,b\n1,2\n", header=False)
    assert columns(table) == {"column 1": ["a", "1"], "column 2": ["b", "2"]}
    assert columns(read("3,4\n1,2\n", header=True)) == {"3": [1], "4": [2]}


def test_names_are_made_different() -> None:
    table = read(",a,a,a (2)\n1,2,3,4\n")
    assert [column.name for column in table.columns] == ["", "a", "a (3)", "a (2)"]
    assert table.repairs == ('Several columns are called "a": column 3 is now "a (3)".',)


def test_row_names_and_delimiters_at_the_end() -> None:
    assert columns(read("p,y\nr1,0.5,1\nr2,0.25,0\n")) == {
        "": ["r1", "r2"], "p": [0.5, 0.25], "y": [1, 0],
    }  # fmt: skip
    assert columns(read("p,y\n0.5,1,\n0.25,0,\n")) == {"p": [0.5, 0.25], "y": [1, 0]}
    assert columns(read("p,y,,\n0.5,1,,\n0.25,0,,\n,,,\n")) == {"p": [0.5, 0.25], "y": [1, 0]}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blank_and_cut_lines_keep_the_numbers_of_the_others(end: str) -> None:
    lines = ["p,y", "0.5,1", "", "0.25,0", "0.75", "0.5,1,2", "  ", *["0.125,1"] * 8]
    table = read(end.join(lines))
    assert table.n_rows == 10
    assert table.among is not None
    assert (np.flatnonzero(table.among) + table.first_row).tolist() == [2, 4, *range(8, 16)]
    assert table.cut is not None
    assert table.cut.tolist() == [5, 6]


def test_quotes() -> None:
    table = read('"a, b","say ""hi"""\n"x\ny",1\n"5"" z",2\n3\n' + "w,4\n" * 8)
    assert columns(table) == {
        "a, b": ["x\ny", '5" z', *"wwwwwwww"], 'say "hi"': [1, 2, *[4] * 8],
    }  # fmt: skip
    assert columns(read('size,p\n5" pipe,1\n6" pipe,2\n'))["size"] == ['5" pipe', '6" pipe']


def test_cells_that_are_missing_or_odd() -> None:
    table = read("p,y\n0.5,1\nNA,0\n,1\nnan,0\n0.25,1\n")
    (p, y) = table.columns
    np.testing.assert_array_equal(p.values, [0.5, np.nan, np.nan, np.nan, 0.25])
    assert p.odd is not None
    assert [p.odd.texts[code] for code in p.odd.codes] == ["NA", "", "nan"]
    assert y.values.dtype == np.int64
    assert y.odd is None


def test_columns_that_change_far_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_pieces, "_BLOCK", 4_000)
    rows = [[str(k), str(k), str(k), f"t{k % 3}"] for k in range(3_000)]
    rows[1_000][0], rows[2_000][1], rows[2_500][2], rows[2_999][3] = "0.5", "<5", "", "5"
    table = read("a,b,c,d\n" + "\n".join(map(",".join, rows)))
    a, b, c, d = table.columns
    assert a.values.tolist() == [0.5 if k == 1_000 else k for k in range(3_000)]
    for column, place, text in ((b, 2_000, "<5"), (c, 2_500, "")):
        assert column.odd is not None
        assert (column.odd.rows.tolist(), column.odd.texts) == ([place], (text,))
        assert np.delete(column.values, place).tolist() == [k for k in range(3_000) if k != place]
    assert d.texts == ("t0", "t1", "t2", "5")


def test_a_comma_means_the_same_in_all_columns() -> None:
    table = read("a;b\n1,234;0,5\n2,345;0,75\n")
    assert columns(table) == {"a": [1.234, 2.345], "b": [0.5, 0.75]}
    assert table.notes[-1] == "Commas mark decimals in a, b (4 values)."
    assert columns(read("a\tb\n1,234\t1\n2,345\t2\n"))["a"] == ["1,234", "2,345"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x1f\x8b\x08", "a gzip file"),
        (b"PK\x03\x04", "a zip archive"),
        (b"", "only blank lines"),
        (b"\n \n,,\n", "only blank lines"),
        (b"a,b\n", "a heading and no rows"),
        (b"a,b\n1,2\n3,\x004\n", "row 3: a NUL byte"),
        (b"\xff\xfea,\x00\xd8", "not UTF-16"),
        (b"a,b\n" + b"1,2\n3\n" * 5, "row 3: 5 rows with more or fewer cells than the 2"),
        (b'a,b\n1,2\n1,"2\n3,4\n', "row 3: a quote that is not closed"),
        (b"1," * 5_000 + b"1\n", "row 1: 5,001 columns. Expected at most 4,096"),
        (b"1," * 190_000 + b"1\n", "row 1: 190,001 columns"),
        (b"a,b\n" + b"x" * 200_000 + b",1\n", "row 2: a field that cannot be read"),
        (b"a" * 1_100_000, "a line of more than 1,048,576 bytes"),
    ],
)
def test_refusals(data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read(data)


def test_too_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.readers.limits.MAX_ROWS", 10)
    with pytest.raises(FileError, match=r"11 rows\. Expected at most 10"):
        read("a\n" + "1\n" * 11)


cells = st.text(st.sampled_from('ab1,;\n"\r .-%[]\t#'), max_size=6)


@given(st.lists(st.lists(cells, min_size=1, max_size=4), max_size=12), st.sampled_from(",;\t "))
def test_nothing_but_refusals_comes_out(rows: list[list[str]], mark: str) -> None:
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=mark).writerows(rows)
    for text in (buffer.getvalue(), "\n".join(map(mark.join, rows))):
        try:
            table = read(text)
        except FileError:
            continue
        assert all(len(column.values) == table.n_rows for column in table.columns)
        if table.among is not None:
            assert np.count_nonzero(table.among) == table.n_rows


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (("60,963;1", "5,125;0", "129,688;1"), [60.963, 5.125, 129.688]),
        (("60,963%;1", "5,125%;0", "29,688%;1"), [60.963, 5.125, 29.688]),
        (("60,963;1.234", "5,125;10.500", "29,688;7.120"), [60.963, 5.125, 29.688]),
        (("1,160,963;1", "5,125,000;0", "129,688;1"), [1_160_963, 5_125_000, 129_688]),
    ],
)
def test_semicolons_say_that_commas_mark_decimals(cells: list[str], values: list[float]) -> None:
    table = read_text("\n".join(["Score;Ausfall", *cells]).encode(), None)
    assert table.columns[0].values.tolist() == values


def test_points_elsewhere_contradict_semicolons() -> None:
    table = read_text(b"amount;risk\n60,963;0.5\n5,125;0.25\n", None)
    assert table.columns[0].values.tolist() == [60_963, 5_125]
    text = "Commas mark thousands in amount since points mark decimals in this file."
    assert table.notes[-1] == text
    assert table.columns[1].values.tolist() == [0.5, 0.25]


def test_decimal_commas_far_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_pieces, "_BLOCK", 4_000)
    rows = [["0,5", "0,25", "12,5"] for _ in range(3_000)]
    rows[1_000][0], rows[2_000][1], rows[2_500][2] = "n/a", "<0,1", "1.234,5"
    table = read("a;b;c\n" + "\n".join(map(";".join, rows)))
    a, b, c = table.columns
    assert (a.commas, b.commas, c.commas) == (2_999, 2_999, 3_000)
    for column, place, text in ((a, 1_000, "n/a"), (b, 2_000, "<0,1")):
        assert column.odd is not None
        assert (column.odd.rows.tolist(), column.odd.texts) == ([place], (text,))
    assert np.nansum(a.values) == 0.5 * 2_999
    assert c.values[2_500] == 1234.5
    assert c.odd is None


@pytest.mark.parametrize("blank", [b"\n", b",\n", b"  \n"])
@pytest.mark.parametrize("place", [0, 1])
def test_a_thousand_blank_lines_above_the_table_or_below_its_heading(
    blank: bytes, place: int
) -> None:
    parts = [b"p,y\n", b"0.5,cat\n0.25,dog\n"]
    parts.insert(place, blank * 1000)
    table = read(b"".join(parts))
    assert [column.name for column in table.columns] == ["p", "y"]
    assert table.columns[0].values.tolist() == [0.5, 0.25]
    lines = np.arange(len(table.among)) if table.among is not None else np.arange(2)
    kept = lines if table.among is None else lines[table.among]
    assert (kept + table.first_row).tolist() == [1002, 1003]
