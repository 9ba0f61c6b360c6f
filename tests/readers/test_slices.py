"""Further columns of a file: kept row by row, through splitting and joining."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.data import LogitSet
from dashboard.readers import FileError, SliceColumn, Upload, combine, read
from tests.readers.files import HEADER, LABELS, LABELS_TEST, LOGITS, Array, csv_of, npy, npz

TOWNS = ["Bonn", "Köln", "", "New York"]


def with_columns(extra: dict[str, list[str]], labels: Array = LABELS) -> bytes:
    lines = csv_of(LOGITS[: len(labels)], labels, header=HEADER).decode().splitlines()
    head = ",".join([lines[0], *extra])
    rows = [",".join(parts) for parts in zip(lines[1:], *extra.values(), strict=True)]
    return "\n".join([head, *rows]).encode()


def cells(column: SliceColumn) -> list[object]:
    if column.categories is None:
        return [None if np.isnan(value) else value for value in column.values.tolist()]
    return [column.categories[code] for code in column.values]


def said(upload: Upload) -> str:
    return " ".join((*upload.found, *upload.missing))


def test_numbers_and_texts() -> None:
    towns = [TOWNS[k % 4] for k in range(40)]
    ages = ["" if k == 3 else f"{k * 1.5}" for k in range(40)]
    upload = read("a.csv", with_columns({"town": towns, "age": ages, "id": towns}))
    columns = upload.columns["rows"]
    assert list(columns) == ["town", "age"]
    assert cells(columns["town"]) == towns
    assert cells(columns["age"]) == [None if k == 3 else k * 1.5 for k in range(40)]
    assert "Kept to tell rows apart: town, age." in upload.found
    assert {upload.uses[name] for name in ("town", "age")} == {"slice"}
    assert upload.uses["id"] == "left out"


@given(
    st.lists(
        st.one_of(
            st.sampled_from(["", "n/a", "a", "b c", "1", "-2.5", "1e3", "1_0"]),
            st.integers(0, 999).map(str),
        ),
        min_size=6,
        max_size=400,
    )
)
def test_any_column_is_kept_or_left_out(texts: list[str]) -> None:
    labels = np.resize(LABELS, len(texts))
    logits = np.resize(LOGITS, (len(texts), 4))
    lines = csv_of(logits, labels, header=HEADER).decode().splitlines()
    rows = [f"{line},{text}" for line, text in zip(lines[1:], texts, strict=True)]
    upload = read("a.csv", "\n".join([lines[0] + ",x", *rows]).encode())
    blank = {"", "n/a"}
    numbers = [None if t in blank else float(t) for t in texts if t not in ("a", "b c", "1_0")]
    kept = upload.columns["rows"].get("x")
    if len(numbers) < len(texts) or numbers.count(None) == len(numbers):
        expected = texts if len(set(texts)) <= 200 else None
        assert (None if kept is None else cells(kept)) == expected
    elif numbers in ([float(k) for k in range(len(texts))], [k + 1.0 for k in range(len(texts))]):
        assert kept is None
    else:
        assert kept is not None
        assert cells(kept) == numbers
    assert kept is not None or "Column x was left out" in said(upload)


def test_numbers_that_become_many_later_in_the_file() -> None:
    numbers = [k // 120 + 0.5 for k in range(40_000)]
    texts = [f"t{k // 120}" for k in range(40_000)]
    lines = [f"{1.5 + k:.20f},-2,{k % 2},{numbers[k]},{texts[k]}" for k in range(40_000)]
    upload = read("a.csv", "\n".join(["logit_0,logit_1,label,x,t", *lines]).encode())
    assert upload.columns["rows"]["x"].values.tolist() == numbers
    assert list(upload.columns["rows"]) == ["x"]


def test_what_is_too_much_is_left_out_and_said() -> None:
    many = [f"t{k}" for k in range(240)]
    labels = np.resize(LABELS, 240)
    logits = np.resize(LOGITS, (240, 4))
    lines = csv_of(logits, labels, header=HEADER).decode().splitlines()
    heads = [lines[0], "many", "long", *(f"c{k}" for k in range(45))]
    rows = [
        ",".join([line, text, "x" * 201, *("y" for _ in range(45))])
        for line, text in zip(lines[1:], many, strict=True)
    ]
    upload = read("a.csv", "\n".join([",".join(heads), *rows]).encode())
    assert "many was left out: more than 200 different texts" in said(upload)
    assert "long was left out: texts of more than 200 characters" in said(upload)
    assert "only 40 are kept" in said(upload)
    assert list(upload.columns["rows"]) == [f"c{k}" for k in range(38)]


@given(st.floats(0.1, 0.9), st.integers(0, 99))
def test_rows_keep_their_columns_in_a_split(share: float, seed: int) -> None:
    marks = [f"{k + 0.25}" for k in range(40)]
    upload = read("a.csv", with_columns({"mark": marks, "kind": ["ab"[k % 2] for k in range(40)]}))
    split = upload.split(calibration_share=share, seed=seed)
    columns = upload.split_columns(calibration_share=share, seed=seed)
    for role, part in (("calibration", split.calibration), ("test", split.test)):
        assert isinstance(part, LogitSet)
        places = (columns[role]["mark"].values - 0.25).astype(int)
        np.testing.assert_array_equal(part.logits, LOGITS[places])
        assert cells(columns[role]["kind"]) == ["ab"[k % 2] for k in places]


def test_refused_as_the_split_is() -> None:
    with pytest.raises(FileError, match="calibration_share"):
        read("a.csv", with_columns({"a": ["x"] * 40})).split_columns(calibration_share=1.5)


def test_two_files_count_categories_alike() -> None:
    first = read("val.csv", with_columns({"town": ["Bonn", "Köln"] * 20, "only": ["x"] * 40}))
    second = read("test.csv", with_columns({"town": ["Köln", "Rom"] * 20, "age": ["1.5"] * 40}))
    upload = combine([first, second])
    kept = {role: {**part} for role, part in upload.split_columns().items()}
    assert kept == upload.columns
    columns = {role: part["town"] for role, part in upload.columns.items()}
    assert columns["calibration"].categories == columns["test"].categories
    assert cells(columns["test"]) == ["Köln", "Rom"] * 20
    assert "Column only cannot tell rows apart, being not in both sets." in upload.missing
    assert list(upload.columns["calibration"]) == ["town"]


def test_of_another_kind_in_one_set() -> None:
    first = read("val.csv", with_columns({"x": ["1.5"] * 40}))
    second = read("test.csv", with_columns({"x": ["a"] * 40}))
    upload = combine([first, second])
    assert upload.columns == {"calibration": {}, "test": {}}
    assert "Column x cannot tell rows apart, being of another kind in one set." in upload.missing


def test_columns_beside_labels_alone() -> None:
    lines = ["label,age", *(f"{label},{k % 9}" for k, label in enumerate(LABELS))]
    labels = read("y.csv", "\n".join(lines).encode())
    upload = combine([read("x.npy", npy(LOGITS)), labels])
    assert cells(upload.columns["rows"]["age"]) == [k % 9 for k in range(40)]


def test_named_labels_alone_wait_for_the_classes() -> None:
    lines = ["label", *("abcd"[label] for label in LABELS)]
    labels = read("y.csv", "\n".join(lines).encode())
    assert "40 labels of 4 different texts" in said(labels)
    table = read("x.csv", csv_of(LOGITS[:, :3], LOGITS[:, 3], header="a,b,c,d"))
    upload = combine([table, labels])
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)


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
    for name in ("features_val", "id_val", "short_val"):
        assert upload.uses[name] == "left out"
        assert name in said(upload)


def test_scores_of_one_event_keep_their_columns() -> None:
    upload = read("a.csv", b"confidence,correct,age\n0.9,1,31\n0.6,0,40\n0.5,1,50\n")
    assert cells(upload.columns["rows"]["age"]) == [31, 40, 50]
    assert set(upload.split_columns()) == {"calibration", "test"}


def test_decimal_commas_and_texts_with_commas() -> None:
    lines = ["logit_0;logit_1;label;dose;town"]
    lines += [f"1,5;{k},25;{k % 2};{k},5;Bonn, am Rhein" for k in range(8)]
    columns = read("a.csv", "\n".join(lines).encode()).columns["rows"]
    assert cells(columns["dose"]) == [k + 0.5 for k in range(8)]
    assert columns["town"].categories == ("Bonn, am Rhein",)


def test_too_many_arrays_beside_the_logits() -> None:
    towns = np.array([f"t{k}" for k in range(201)])
    labels = np.resize(LABELS, 201)
    extra = {f"age{k}": labels + k / 7 for k in range(45)}
    arrays = {
        "logits": np.resize(LOGITS, (201, 4)),
        "labels": labels,
        "column_town": towns,
        **extra,
    }
    data = npz(compress=False, **arrays)
    upload = read("a.npz", data)
    assert list(upload.columns["rows"]) == [f"age{k}" for k in range(40)]
    assert "column_town was left out: more than 200 different texts" in said(upload)
    assert "only 40 are kept" in said(upload)


def test_labels_alone_in_several_columns() -> None:
    preview = read("y.npz", npz(labels=np.eye(4)[LABELS])).preview
    assert preview.rows[0] == (str(np.eye(4)[LABELS[0]].tolist()),)


def test_one_label_for_all_rows_is_refused_beside_columns() -> None:
    with pytest.raises(FileError, match=r"shape \(\)"):
        read("a.npz", npz(logits=LOGITS, labels=np.array(1), age=LABELS + 0.5))
