"""What the user overrules, and what there is to choose from."""

from typing import Any

import numpy as np
import pytest

from calibcore.data import EventScores, LogitSet
from dashboard.readers import FileError, Options, Upload, combine, read
from tests.readers.files import (
    GOOD,
    HEADER,
    LABELS,
    LOGITS,
    NN,
    PROBABILITIES,
    csv_of,
    npy,
    npz,
    pickled,
)

OTHER = (LABELS + 1) % 4


def table(**columns: Any) -> bytes:
    lines = csv_of(LOGITS, LABELS, header=HEADER).decode().splitlines()
    rows = [
        ",".join([line, *map(str, extra)])
        for line, *extra in zip(lines[1:], *columns.values(), strict=True)
    ]
    return "\n".join([",".join([lines[0], *columns]), *rows]).encode()


def logit_set(upload: Upload) -> LogitSet:
    assert isinstance(upload.rows, LogitSet)
    return upload.rows


@pytest.mark.parametrize("name", ["target", "odd", "pred_label"])
def test_another_label_column_of_a_table(name: str) -> None:
    data = table(**{name: OTHER, "town": ["Bonn"] * 40})
    if name == "target":
        with pytest.raises(FileError, match="mean the same"):
            read("a.csv", data)
    upload = read("a.csv", data, label_column=name)
    np.testing.assert_array_equal(logit_set(upload).labels, OTHER)
    np.testing.assert_array_equal(logit_set(upload).logits, LOGITS)
    assert upload.label_column == name
    assert upload.uses["label"] == "slice"
    np.testing.assert_array_equal(upload.columns["rows"]["label"].values, LABELS)


def test_another_label_array() -> None:
    data = npz(logits=LOGITS, labels=LABELS, y=OTHER, odd=OTHER)
    for name in ("y", "odd"):
        upload = read("a.npz", data, label_column=name)
        np.testing.assert_array_equal(logit_set(upload).labels, OTHER)
        assert upload.label_column == name
    both = npz(
        val_logits=LOGITS, val_y=LABELS, test_logits=LOGITS, test_y=LABELS, val_odd=OTHER,
        test_odd=LABELS,
    )  # fmt: skip
    upload = read("a.npz", both, label_column="test_odd")
    assert isinstance(upload.calibration, LogitSet)
    np.testing.assert_array_equal(upload.calibration.labels, OTHER)


@pytest.mark.parametrize("name", ["a.npz", "a.pkl", "a.csv"])
def test_a_label_column_that_is_not_there(name: str) -> None:
    data = GOOD["good" + name[1:]]
    with pytest.raises(FileError, match=r'label_column: found no .* "nope".*label') as caught:
        read(name, data, label_column="nope")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", ["a.npy", "a.p"])
def test_a_label_column_where_nothing_has_a_name(name: str) -> None:
    data = npy(LOGITS) if name == "a.npy" else pickled(NN)
    with pytest.raises(FileError, match=r"label_column: found .*nothing in the file has a name"):
        read(name, data, label_column="y")


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"label_column": "logit_0"}, r'labels in column "logit_0": found values that are not int'),
        ({"label_column": "town"}, r'labels in column "town": found label "Bonn".* in 40 rows'),
        ({"label_column": "big"}, r'labels in column "big": found values such as 90.* in 40 rows'),
        ({"label_column": "nope"}, r"wanted one of .* and 1 more\.$"),
        ({"class_columns": ("logit_0", "nope")}, r'class_columns: found no column "nope"'),
        ({"class_columns": ("logit_0", "logit_0")}, "class_columns: found a column .* twice"),
        ({"class_columns": ("logit_0", "town")}, r'row 2, column "town": found "Bonn"'),
        ({"class_names": ("a", "b")}, "class_names: found 2 names"),
        ({"first_label": 1}, r'labels in column "label": found values such as 0'),
        ({"first_label": 2}, "first_label"),
        ({"values": "odds"}, "values: found .odds."),
        ({"prevalence": 1.5}, "prevalence: found 1.5, wanted a share"),
    ],
)
def test_choices_that_do_not_fit(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(FileError, match=message):
        read("a.csv", table(town=["Bonn"] * 40, big=[90] * 40), **choices)


def test_class_columns_in_another_order() -> None:
    chosen = ("logit_3", "logit_0", "logit_1")
    data = csv_of(LOGITS, ["logit_1"] * 40, header=HEADER)
    rows = logit_set(read("a.csv", data, class_columns=chosen))
    np.testing.assert_array_equal(rows.logits, LOGITS[:, [3, 0, 1]])
    assert set(rows.labels.tolist()) == {2}
    binary = table(score=PROBABILITIES[:, 1], y=LABELS % 2)
    one = read("a.csv", binary, class_columns=("score",), label_column="y")
    assert one.uses["logit_0"] == "slice"
    np.testing.assert_allclose(logit_set(one).probabilities[:, 1], PROBABILITIES[:, 1])


def test_a_column_that_counts_may_be_a_class() -> None:
    lines = ["n,m,label", *(f"{k},{k % 7 + 0.5},{k % 2}" for k in range(40))]
    data = "\n".join(lines).encode()
    chosen = read("a.csv", data, class_columns=("n", "m"), values="logits")
    assert logit_set(chosen).logits[:, 0].tolist() == list(range(40))


def test_class_names() -> None:
    names = ("ant", "bee", "cow", "doe")
    rows = logit_set(read("a.npz", npz(logits=LOGITS, labels=LABELS), class_names=names))
    assert rows.class_names == names
    data = csv_of(LOGITS, [names[k] for k in LABELS], header=HEADER)
    with pytest.raises(FileError, match="your class names"):
        read("a.csv", data)
    upload = read("a.csv", data, class_names=names)
    np.testing.assert_array_equal(logit_set(upload).labels, LABELS)
    assert "Labels were matched to your class names (40 labels)." in upload.found
    scores = csv_of(
        PROBABILITIES[:, :1], ["ill" if k else "well" for k in LABELS], header="s,label"
    )
    told = logit_set(read("a.csv", scores, class_names=("ill", "well")))
    np.testing.assert_array_equal(told.labels, LABELS == 0)


def test_the_first_row_may_be_data_or_names() -> None:
    lines = ["1,2,1", *(f"{k}.5,{k % 7},{k % 2}" for k in range(30))]
    data = "\n".join(lines).encode()
    assert logit_set(read("a.csv", data, header=False)).n_samples == 31
    data = data.replace(b"1,2,1", b"1,2,3", 1)
    with pytest.raises(FileError, match="labels uploaded beside it"):
        read("a.csv", data, header=True).split()
    named = read("a.csv", data, header=True, label_column="3")
    assert logit_set(named).class_names == ("1", "2")
    assert logit_set(named).n_samples == 30
    with pytest.raises(FileError, match='row 1, column 1: found "x"'):
        read("a.csv", b"x,y,a\n1,2.5,a\n3,4.5,b", header=False)


def test_labels_without_a_header_by_place() -> None:
    body = csv_of(LOGITS, LABELS, header=None).decode().splitlines()
    data = "\n".join(f"{line.rsplit(',', 1)[1]},{line.rsplit(',', 1)[0]}" for line in body).encode()
    upload = read("a.csv", data, label_column="column 1")
    np.testing.assert_array_equal(logit_set(upload).labels, LABELS)
    np.testing.assert_array_equal(logit_set(upload).logits, LOGITS)


def test_scores_of_one_event_are_no_logits() -> None:
    data = b"confidence,correct\n0.9,1\n0.4,0\n"
    assert isinstance(read("a.csv", data, values="probabilities").rows, EventScores)
    with pytest.raises(FileError, match="called logits"):
        read("a.csv", data, values="logits")


def test_a_label_that_scores_with_hits_do_not_need() -> None:
    data = b"confidence,correct,label\n0.9,1,a\n0.4,0,b\n"
    assert isinstance(read("a.csv", data).rows, EventScores)
    with pytest.raises(FileError, match='label_column: found column "label" beside scores'):
        read("a.csv", data, label_column="label")


def test_few_large_scores_are_no_percentages() -> None:
    with pytest.raises(FileError, match=r"outside 0 to 1 in 1 row \(row 4\)"):
        read("a.csv", b"confidence,correct\n0.9,1\n0.4,0\n55,1\n")
    with pytest.raises(FileError, match="outside 0 to 1"):
        read("a.csv", b"score,label\n0.9,1\n1.01,0\n", values="probabilities")


def test_choices_of_columns_are_made_file_by_file() -> None:
    first = read("val.csv", table(y=OTHER), label_column="y")
    second = read("test.csv", csv_of(LOGITS, LABELS, header=HEADER), label_column="label")
    upload = combine([first, second])
    assert isinstance(upload.calibration, LogitSet)
    assert isinstance(upload.test, LogitSet)
    np.testing.assert_array_equal(upload.calibration.labels, OTHER)
    np.testing.assert_array_equal(upload.test.labels, LABELS)
    assert upload.options == Options()
    named = [read(f"{n}.csv", table(), class_names=tuple("abcd")) for n in ("val", "test")]
    assert combine(named).class_names == tuple("abcd")


# What is shown of the file ---------------------------------------------------------------------


def test_the_first_rows_as_they_were_read() -> None:
    data = table(town=["Bonn\x07"] * 40, when=["1e1"] * 40)
    preview = read("a.csv", data).preview
    assert preview.headings == (*HEADER.split(","), "town", "when")
    assert preview.uses == (*["class"] * 4, "label", "slice", "slice")
    assert len(preview.rows) == 10
    assert preview.rows[2][0] == repr(float(LOGITS[2, 0]))
    assert preview.rows[2][4:] == (str(LABELS[2]), "Bonn", "1e1")


def test_the_first_rows_of_many_classes() -> None:
    header = ",".join([*(f"logit_{k}" for k in range(100)), "label", "age"])
    line = ",".join([*("1.5" for _ in range(100)), "7", "31"])
    preview = read("a.csv", "\n".join([header, line, line]).encode()).preview
    assert len(preview.headings) == 22
    assert preview.rows[0][-2:] == ("7", "31")
    wide = read("a.npz", npz(logits=np.zeros((3, 500)), labels=np.arange(3))).preview
    assert len(wide.headings) == 21
    assert wide.rows[2] == (*["0"] * 20, "2")


def test_the_first_rows_of_arrays() -> None:
    data = npz(logits=LOGITS, labels=LABELS, class_names=np.array(list("abcd")), age=LABELS + 0.5)
    preview = read("a.npz", data).preview
    assert preview.headings == ("a", "b", "c", "d", "label", "age")
    assert preview.rows[1] == (
        *(f"{value:.6g}" for value in LOGITS[1]), str(LABELS[1]), f"{LABELS[1] + 0.5:g}",
    )  # fmt: skip
    labels = read("y.npy", npy(LABELS)).preview
    assert labels.headings == ("label",)
    assert len(labels.rows) == 10
    joined = combine([read("x.npy", npy(LOGITS)), read("y.npy", npy(LABELS))]).preview
    assert joined.headings == ("class 0", "class 1", "class 2", "class 3", "label")


def test_the_first_rows_of_one_event() -> None:
    data = b"correct,confidence\n1,90%\n0,55%\n"
    preview = read("a.csv", data).preview
    assert preview.uses == ("hit", "score")
    assert preview.rows == (("1", "90%"), ("0", "55%"))
