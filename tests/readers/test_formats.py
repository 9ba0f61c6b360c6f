"""Every format and layout gives back the numbers that were put in."""

import hashlib

import numpy as np
import pytest

from calibcore.data import EventScores, LogitSet
from dashboard.readers import FileError, Upload, read
from tests.readers import adapter
from tests.readers.files import (
    GOOD,
    HEADER,
    LABELS,
    LABELS_TEST,
    LOGITS,
    LOGITS_TEST,
    NN,
    PROBABILITIES,
    Array,
    combine,
    csv_of,
    held,
    npy,
    npz,
    pickled,
)


def logit_set(rows: object) -> LogitSet:
    assert isinstance(rows, LogitSet)
    return rows


def same(rows: object, logits: Array = LOGITS, labels: Array = LABELS) -> None:
    np.testing.assert_array_equal(logit_set(rows).logits, logits)
    np.testing.assert_array_equal(logit_set(rows).labels, labels)


def said(upload: Upload) -> str:
    return " ".join((*upload.notes, *upload.repairs, *upload.missing))


@pytest.mark.parametrize("name", sorted(set(GOOD) - {"good.npy", "good.p"}))
def test_one_set(name: str) -> None:
    upload = read(name, GOOD[name])
    same(upload.rows)
    assert upload.values_kind == "logits"
    assert upload.repairs == upload.missing == ()
    assert upload.digest == hashlib.sha256(GOOD[name]).hexdigest()
    assert (upload.calibration, upload.test, upload.piece) == (None, None, None)
    assert "of 40 rows have values outside 0 to 1" in said(upload)


def test_our_own_samples() -> None:
    data = npz(
        logits_calibration=LOGITS, labels_calibration=LABELS, logits_test=LOGITS_TEST[:9],
        labels_test=LABELS_TEST[:9], class_names=np.array(["a", "<b>", "é", "="]),
        column_age_test=np.array(["x"] * 9),
    )  # fmt: skip
    upload = read("sample.npz", data)
    same(upload.calibration)
    same(upload.test, LOGITS_TEST[:9], LABELS_TEST[:9])
    assert logit_set(upload.test).class_names == ("a", "<b>", "é", "=")
    assert upload.rows is None
    assert "age cannot be used for grouping: not in both sets" in said(upload)
    assert upload.split().test is upload.test


@pytest.mark.parametrize(
    "names",
    [
        ("val_logits", "val_labels", "test_logits", "test_labels"),
        ("X_cal", "y_cal", "X_test", "y_test"),
        ("logitsVal", "yVal", "logitsTest", "yTest"),
        ("outputs-validation", "targets-validation", "eval/outputs".replace("/", "."), "eval.y"),
    ],
)
def test_names_of_both_sets(names: tuple[str, ...]) -> None:
    arrays = dict(zip(names, (LOGITS, LABELS, LOGITS_TEST, LABELS_TEST), strict=True))
    upload = read("both.npz", npz(**arrays))
    same(upload.calibration)
    same(upload.test, LOGITS_TEST, LABELS_TEST)


def test_only_a_test_set_is_one_set() -> None:
    same(read("one.npz", npz(logits_test=LOGITS, labels_test=LABELS)).rows)


@pytest.mark.parametrize("swap", [False, True])
def test_unnamed_arrays_are_told_apart_by_shape(swap: bool) -> None:  # noqa: FBT001
    parts = {"arr_0": LABELS, "arr_1": LOGITS} if swap else {"arr_0": LOGITS, "arr_1": LABELS}
    same(read("unnamed.npz", npz(**parts)).rows)


def test_predicted_classes_and_features_are_set_aside() -> None:
    data = npz(logits=LOGITS, y_pred=LOGITS.argmax(axis=1), x=LOGITS[:, :2], y_true=LABELS)
    upload = read("more.npz", data)
    same(upload.rows)
    assert (upload.uses["logits"], upload.uses["y_true"]) == ("class", "label")
    assert "class" not in (upload.uses["y_pred"], upload.uses["x"])


@pytest.mark.parametrize(
    "array",
    [
        LOGITS.astype(np.float16), LOGITS.astype(">f4"), LOGITS.astype("<f8"),
        np.asfortranarray(LOGITS), LOGITS.round().astype(np.int8), LOGITS.round().astype(">i8"),
    ],
)  # fmt: skip
def test_types_of_numbers(array: Array) -> None:
    upload = read("types.npz", npz(logits=array, labels=LABELS))
    same(upload.rows, array.astype(np.float64).astype(logit_set(upload.rows).logits.dtype))


def test_lone_npy_is_a_piece() -> None:
    logits, labels = read("a.npy", npy(LOGITS)), read("b.npy", npy(LABELS.astype(float)))
    assert logits.piece is not None
    assert labels.piece is not None
    np.testing.assert_array_equal(logits.piece.table, LOGITS)
    np.testing.assert_array_equal(labels.piece.labels, LABELS)
    assert (logits.values_kind, labels.values_kind) == ("logits", None)
    with pytest.raises(FileError, match="no outcomes, only scores"):
        logits.split()
    with pytest.raises(FileError, match="outcomes, but no scores"):
        labels.split()


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize(
    "value",
    [
        (LOGITS, LABELS),
        [LABELS, LOGITS],
        {"y": LABELS, "logits": LOGITS},
        (LOGITS.tolist(), LABELS.tolist()),
        (list(LOGITS), LABELS),
        {"outputs": list(LOGITS), "targets": list(LABELS)},
        (np.asfortranarray(LOGITS), LABELS[:, np.newaxis]),
        (LOGITS.astype(">f4"), LABELS.astype(np.uint8)),
    ],
    ids=["pair", "swapped", "dict", "lists", "rows", "scalars", "fortran", "order"],
)
def test_pickled_set(value: object, protocol: int) -> None:
    same(read("set.pkl", pickled(value, protocol)).rows)


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize(
    "value",
    [
        NN,
        [list(part) for part in NN],
        {"val": {"logits": LOGITS, "y": LABELS}, "test": {"logits": LOGITS_TEST, "y": LABELS_TEST}},
    ],
    ids=["tuples", "lists", "dicts"],
)
def test_pickled_nn_calibration(value: object, protocol: int) -> None:
    upload = read("probs_resnet110_c10_logits.p", pickled(value, protocol))
    same(upload.calibration)
    same(upload.test, LOGITS_TEST, LABELS_TEST)


def test_pickled_class_names_and_bool() -> None:
    value = {"logits": LOGITS[:, :2], "labels": LABELS % 2 == 1, "class_names": ["no", "yes"]}
    rows = logit_set(read("b.pickle", pickled(value, 4)).rows)
    assert rows.class_names == ("no", "yes")
    assert set(rows.labels.tolist()) == {0, 1}


def test_python_2_strings() -> None:
    # As Python 2 wrote them: text and bytes alike under STRING, with escapes.
    data = (
        b"(dp0\nS'logits'\np1\n(lp2\n(lp3\nF1.5\naF-2\naa(lp4\nF0.25\naL3L\naasS\"labels\"\n"
        b"(lp5\nI0\naI1\nas."
    )
    same(read("old.p", data).rows, np.array([[1.5, -2.0], [0.25, 3.0]]), np.array([0, 1]))


def test_quotes() -> None:
    rows = [
        '"","cat, dog","say ""hi""","truth"',
        *(f'"{k}",{a!r},"{b!r}","cat, dog"' for k, (a, b) in enumerate(LOGITS[:, :2].tolist())),
    ]
    upload = read("r.csv", "\n".join(rows).encode())
    same(upload.rows, LOGITS[:, :2], np.zeros(len(LOGITS)))
    assert logit_set(upload.rows).class_names == ("cat, dog", 'say "hi"')
    assert upload.uses[""] == "left out"


@pytest.mark.parametrize("header", ["idx,logit_0,logit_1,logit_2,logit_3,y", ",a,b,c,d,target"])
def test_index_column(header: str) -> None:
    body = csv_of(LOGITS, LABELS, header=None).decode().splitlines()
    data = "\n".join([header, *(f"{k},{line}" for k, line in enumerate(body))])
    upload = read("a.csv", data.encode())
    same(upload.rows)
    assert upload.uses[header.split(",", maxsplit=1)[0]] == "left out"


def test_index_without_header() -> None:
    body = csv_of(LOGITS, LABELS, header=None).decode().splitlines()
    upload = read("a.csv", "\n".join(f"{k},{line}" for k, line in enumerate(body, 1)).encode())
    same(upload.rows)
    assert upload.uses["column 1"] == "left out"
    assert "holds values, not names" in said(upload)


@pytest.mark.parametrize("prefix", ["", "prob_", ".pred_", "logit_", "class_"])
def test_text_labels(prefix: str) -> None:
    names = ["cat", "dog", "fox", "owl"]
    header = ",".join([*(prefix + name for name in names), "label"])
    upload = read("a.csv", csv_of(LOGITS, [names[k] for k in LABELS], header=header))
    same(upload.rows)
    assert logit_set(upload.rows).class_names == tuple(names)
    full = csv_of(LOGITS, [prefix + names[k] for k in LABELS], header=header)
    same(read("a.csv", full).rows)


def test_columns_named_by_number_out_of_order() -> None:
    order = [0, 3, 1, 2]
    header = ",".join([*(f"logit_{k}" for k in order), "label"])
    upload = read("a.csv", csv_of(LOGITS, [order[k] for k in LABELS], header=header))
    same(upload.rows)
    assert "matched to the class names" in said(upload)


def test_extra_columns_are_named() -> None:
    lines = csv_of(LOGITS, LABELS, header=HEADER).decode().splitlines()
    rows = [f"{line},{k % 7},{'AB'[k % 2]}" for k, line in enumerate(lines[1:])]
    upload = read("a.csv", "\n".join([lines[0] + ",age,town", *rows]).encode())
    same(upload.rows)
    assert "age, town" in said(upload)
    assert [*upload.columns["rows"]] == ["age", "town"]


def test_top_one_table() -> None:
    data = b"true_label,pred_label,confidence\ncat,cat,0.9\ndog,cat,60e-2\nfox,fox,1.0\n"
    upload = read("a.csv", data)
    assert isinstance(upload.rows, EventScores)
    assert upload.rows.scores.tolist() == [0.9, 0.6, 1.0]
    assert upload.rows.hits.tolist() == [1, 0, 1]
    assert upload.values_kind == "scores"
    assert "top-1" in said(upload)
    assert "temperature" in upload.missing[0]
    assert isinstance(upload.split().test, EventScores)


def test_confidence_and_correct() -> None:
    upload = read("a.csv", b"confidence,correct\n90%,True\n55%,False\n")
    assert isinstance(upload.rows, EventScores)
    assert upload.rows.scores.tolist() == [0.9, 0.55]
    assert upload.rows.hits.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", b"score,label\n0.9,1\n0.25,0\n"),
        ("a.csv", b"y_true,y_pred\n1,0.9\n0,0.25\n"),
        ("a.txt", b"9.0e-01 1\n2.5e-01   0\n"),
        ("a.csv", b"label;score\n1;0,9\n0;0,25\n"),
        ("a.npz", npz(y_prob=np.array([0.9, 0.25]), y_true=np.array([1, 0]))),
    ],
)
def test_binary_scores(name: str, data: bytes) -> None:
    upload = read(name, data)
    np.testing.assert_allclose(
        logit_set(upload.rows).probabilities, [[0.1, 0.9], [0.75, 0.25]], rtol=1e-12
    )
    assert upload.values_kind == "probabilities"
    assert "class 1" in said(upload)


def test_binary_logits() -> None:
    upload = read("a.csv", b"score,label\n-2.5,0\n3,1\n")
    same(upload.rows, np.array([[0, -2.5], [0, 3]]), np.array([0, 1]))
    assert "class 1" in said(upload)


def test_overruled_scores() -> None:
    table = b"score,label\n40,0\n100,1\n"
    percent = read("a.csv", table, values="probabilities")
    np.testing.assert_allclose(logit_set(percent.rows).probabilities, [[0.6, 0.4], [0.0, 1.0]])
    assert "divided by 100 in all 2 rows" in said(percent)
    same(
        read("a.csv", table, values="logits").rows, np.array([[0, 40], [0, 100]]), np.array([0, 1])
    )


def test_minus_infinity_rules_a_class_out() -> None:
    upload = read("a.csv", b"a,b,label\n-inf,2,b\n3,-Infinity,a\n")
    assert logit_set(upload.rows).probabilities.tolist() == [[0, 1], [1, 0]]
    assert "in 2 cells" in said(upload)


def test_percent_confidence() -> None:
    table = b"label,pred,confidence\n1,1,97\n0,1,51.5\n0,0,80\n"
    upload = read("a.csv", table)
    assert isinstance(upload.rows, EventScores)
    assert upload.rows.scores.tolist() == [0.97, 0.515, 0.8]
    assert "divided by 100" in said(upload)


def test_header_of_running_numbers_and_blank_lines() -> None:
    data = csv_of(LOGITS, LABELS, header="0,1,2,3,4").replace(b"\n", b"\n\n")
    same(read("a.csv", b"\n" + data).rows)


def test_two_sets_of_scores() -> None:
    scores = held("val.csv", b"confidence,correct\n0.5,1\n")
    both = combine([scores, scores])
    assert isinstance(both.split().calibration, EventScores)
    assert set(both.sets) == {"calibration", "test"}


def test_adapter_for_the_corpus() -> None:
    labels = adapter.check_adapter("a.npy", npy(LABELS))
    assert list(adapter.arrays_of(labels)) == ["labels"]
    probs = adapter.check_adapter("a.npz", npz(probs=PROBABILITIES * 100, labels=LABELS + 1))
    assert list(adapter.arrays_of(probs)) == ["probs", "labels"]
    assert adapter.warnings_of(probs) == probs.repairs + probs.doubts
    assert len(probs.repairs) == 2
    assert adapter.arrays_of(read("a.csv", b"confidence,correct\n0.5,1\n")) == {}


def test_latin_1_is_said() -> None:
    data = csv_of(LOGITS, LABELS, header="caf\xe9,b,c,d,label").decode().encode("latin-1")
    upload = read("a.csv", data)
    assert logit_set(upload.rows).class_names[0] == "café"
    assert "Windows-1252" in said(upload)


def test_probabilities_from_a_table() -> None:
    upload = read("a.csv", csv_of(PROBABILITIES, LABELS, header="a,b,c,d,label"))
    np.testing.assert_allclose(logit_set(upload.rows).probabilities, PROBABILITIES, rtol=1e-12)
    assert upload.values_kind == "probabilities"
    rounded = read("a.csv", csv_of(PROBABILITIES.round(4), LABELS, header="a,b,c,d,label"))
    assert "and sums to 1." in said(upload)
    assert "and sums to 1 (to within 0.0001)" in said(rounded)


def test_labels_that_are_text_beside_bare_values() -> None:
    names = np.array([f"LABEL_{label}" for label in LABELS])
    for labels in (names, LABELS.astype("U2")):
        upload = combine([held("logits.npy", npy(LOGITS)), held("labels.npy", npy(labels))])
        assert isinstance(upload.rows, LogitSet)
        np.testing.assert_array_equal(upload.rows.labels, LABELS)


def test_four_arrays_without_names() -> None:
    upload = read("a.p", pickled((LOGITS, LABELS, LOGITS[:30], LABELS[:30])))
    same(upload.calibration)
    same(upload.test, LOGITS[:30], LABELS[:30])
    with pytest.raises(FileError, match="names such as val_logits"):
        read("a.p", pickled((LOGITS, LOGITS, LABELS, LABELS)))
