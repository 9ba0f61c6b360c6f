"""Further columns of a file: kept row by row, through splitting and joining."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calibcore.data import LogitSet
from dashboard.readers import GroupingColumn, Upload, read
from tests.readers.files import (
    HEADER,
    LABELS,
    LABELS_TEST,
    LOGITS,
    combined,
    csv_of,
    good_csv,
    npz,
)

TOWNS = ["Bonn", "Köln", "", "New York"]
QUARTERS = [f"{k / 4}" for k in range(40)]


def cells(column: GroupingColumn) -> list[object]:
    if column.categories is None:
        return [None if np.isnan(value) else value for value in column.values.tolist()]
    return [column.categories[code] for code in column.values]


def text_of(upload: Upload) -> str:
    return " ".join((*upload.notes, *upload.missing))


def test_numbers_and_texts() -> None:
    towns = [TOWNS[k % 4] for k in range(40)]
    ages = ["" if k == 3 else f"{k * 1.5}" for k in range(40)]
    upload = read("a.csv", good_csv(town=towns, age=ages, id=[f"p{k}" for k in range(40)]))
    columns = upload.columns["rows"]
    assert list(columns) == ["town", "age"]
    assert cells(columns["town"]) == towns
    assert cells(columns["age"]) == [None if k == 3 else k * 1.5 for k in range(40)]
    assert "Grouping columns: town, age." in upload.notes
    assert {upload.uses[name] for name in ("town", "age")} == {"group"}
    assert upload.uses["id"] == "left out"


@given(
    st.lists(
        st.one_of(
            st.sampled_from(["", "n/a", "a", "b c", "1", "-2.5", "1e3", "1_0"]),
            st.integers(0, 999).map(str),
        ),
        min_size=6,
        max_size=200,
    )
)
def test_any_column_is_kept_as_it_is_or_left_out(texts: list[str]) -> None:
    labels = np.resize(LABELS, len(texts))
    logits = np.resize(LOGITS, (len(texts), 4))
    lines = csv_of(logits, labels, header=HEADER).decode().splitlines()
    rows = [f"{line},{text}" for line, text in zip(lines[1:], texts, strict=True)]
    upload = read("a.csv", "\n".join([lines[0] + ",x", *rows]).encode())
    kept = upload.columns["rows"].get("x")
    assert upload.uses["x"] == ("left out" if kept is None else "group")
    if kept is None:
        return
    if kept.categories is None:
        expected = [float(t) if t not in ("", "n/a", "a", "b c", "1_0") else None for t in texts]
        assert cells(kept) == expected
    else:
        assert [str(cell) for cell in cells(kept)] == texts


def test_numbers_that_become_many_later_in_the_file() -> None:
    numbers = [k // 120 + 0.5 for k in range(40_000)]
    texts = [f"t{k // 120}" for k in range(40_000)]
    lines = [f"{1.5 + k:.20f},-2,{k % 2},{numbers[k]},{texts[k]}" for k in range(40_000)]
    upload = read("a.csv", "\n".join(["logit_0,logit_1,label,x,t", *lines]).encode())
    assert upload.columns["rows"]["x"].values.tolist() == numbers
    assert list(upload.columns["rows"]) == ["x"]


def test_what_is_too_much_is_left_out() -> None:
    many = [f"t{k}" for k in range(240)]
    lines = csv_of(np.resize(LOGITS, (240, 4)), np.resize(LABELS, 240), header=HEADER)
    head, *rows = lines.decode().splitlines()
    heads = [head, "many", "long", *(f"c{k}" for k in range(45))]
    made = [
        ",".join([row, text, "xy"[k % 2] * 201, *("ab"[k // 3 % 2] for _ in range(45))])
        for k, (row, text) in enumerate(zip(rows, many, strict=True))
    ]
    upload = read("a.csv", "\n".join([",".join(heads), *made]).encode())
    assert upload.uses["many"] == "left out"
    assert "Column long was left out: texts of more than 200 characters" in text_of(upload)
    assert list(upload.columns["rows"]) == [f"c{k}" for k in range(40)]
    assert "Column c40 was left out: only 40 are kept" in text_of(upload)


@given(st.floats(0.1, 0.9), st.integers(0, 99))
def test_rows_keep_their_columns_in_a_split(share: float, seed: int) -> None:
    marks = [f"{k + 0.25}" for k in range(40)]
    upload = read("a.csv", good_csv(mark=marks, kind=["ab"[k % 2] for k in range(40)]))
    split = upload.split(calibration_share=share, seed=seed)
    columns = upload.split_columns(calibration_share=share, seed=seed)
    for role, part in (("calibration", split.calibration), ("test", split.test)):
        assert isinstance(part, LogitSet)
        places = (columns[role]["mark"].values - 0.25).astype(int)
        np.testing.assert_array_equal(part.logits, LOGITS[places])
        assert cells(columns[role]["kind"]) == ["ab"[k % 2] for k in places]


def test_two_files_count_categories_alike() -> None:
    first = good_csv(town=["Bonn", "Köln"] * 20, only=["x", "y"] * 20)
    second = good_csv(town=["Köln", "Rom"] * 20, age=QUARTERS)
    upload = combined([("val.csv", first), ("test.csv", second)])
    kept = {role: {**part} for role, part in upload.split_columns().items()}
    assert kept == upload.columns
    columns = {role: part["town"] for role, part in upload.columns.items()}
    assert columns["calibration"].categories == columns["test"].categories
    assert cells(columns["test"]) == ["Köln", "Rom"] * 20
    assert "Column only cannot be used for grouping: not in both sets." in upload.missing
    assert list(upload.columns["calibration"]) == ["town"]


def test_numbers_in_one_set_and_texts_in_the_other_are_texts() -> None:
    first, second = good_csv(x=QUARTERS), good_csv(x=["a", "b"] * 20)
    upload = combined([("val.csv", first), ("test.csv", second)])
    assert cells(upload.columns["test"]["x"]) == ["a", "b"] * 20
    assert cells(upload.columns["calibration"]["x"])[1] == "0.25"


def test_arrays_beside_the_logits() -> None:
    sexes = np.array(["m", "f"] * 20)
    data = npz(
        val_logits=LOGITS, val_y=LABELS, test_logits=LOGITS[:9], test_y=LABELS_TEST[:9],
        column_sex_val=sexes, column_sex_test=sexes[:9], age_val=np.arange(40) / 4,
        age_test=np.arange(9) / 4, features_val=LOGITS, id_val=LABELS, short_val=LABELS[:3],
    )  # fmt: skip
    upload = read("a.npz", data)
    assert {role: list(part) for role, part in upload.columns.items()} == {
        "calibration": ["sex", "age"], "test": ["sex", "age"],
    }  # fmt: skip
    assert cells(upload.columns["test"]["sex"]) == sexes[:9].tolist()
    assert "Arrays left out: features_val, short_val." in upload.notes


def test_decimal_commas_and_texts_with_commas() -> None:
    lines = ["logit_0;logit_1;label;dose;town"]
    lines += [f"1,5;{k},25;{k % 2};{k},5;{('Bonn, am Rhein', 'Rom')[k % 3 % 2]}" for k in range(40)]
    columns = read("a.csv", "\n".join(lines).encode()).columns["rows"]
    assert cells(columns["dose"]) == [k + 0.5 for k in range(40)]
    assert columns["town"].categories == ("Bonn, am Rhein", "Rom")
