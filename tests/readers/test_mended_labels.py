"""Labels that are written otherwise than the classes, in one-hot columns, or named elsewhere."""

import json
import pickle
import time
from typing import Any

import numpy as np
import pytest

from calibcore.data import EventScores, LogitSet
from dashboard.readers import FileError, Upload, combine, read
from dashboard.readers.columns.class_lists import listed_classes
from dashboard.readers.refusal import visible
from tests.readers.files import LABELS, LOGITS, PROBABILITIES, Array, K, N, npy, npz

NAMES = ["cat", "dog", "fox", "hen"]


def table(heads: list[str], *columns: Array, quote: str = "", sep: str = ",") -> bytes:
    cells = [[f"{quote}{cell}{quote}" for cell in column] for column in columns]
    return "\n".join([sep.join(heads), *map(sep.join, zip(*cells, strict=True))]).encode()


def are(upload: Upload) -> LogitSet:
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities, PROBABILITIES, atol=1e-6)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    return upload.rows


def test_labels_in_other_letters_than_the_classes() -> None:
    texts = np.array(["Cat", "DOG", "fox", "Hen"])[LABELS]
    upload = read("a.csv", table([*NAMES, "label"], *PROBABILITIES.T, texts))
    are(upload)
    count = int((LABELS != 2).sum())
    (said,) = upload.repairs
    assert f"differ in capital letters or blanks ({count} labels)" in said


def test_the_prediction_in_other_letters_is_no_other_prediction() -> None:
    texts = np.array(["Cat", "DOG", "fox", "Hen"])
    best = texts[PROBABILITIES.argmax(axis=1)]
    heads = [*NAMES, "prediction", "label"]
    upload = read("a.csv", table(heads, *PROBABILITIES.T, best, texts[LABELS]))
    are(upload)
    assert not any("The prediction in column" in said for said in upload.doubts)


def test_classes_that_differ_in_case_alone_are_not_guessed() -> None:
    texts = np.array(["CAT", "DOG", "FOX", "HEN"])[LABELS]
    with pytest.raises(
        FileError, match=r'labels such as "\w+" and "\w+" \(4 different ones\), each'
    ):
        read("a.csv", table(["cat", "Cat", "fox", "hen", "label"], *PROBABILITIES.T, texts))


@pytest.mark.parametrize(
    ("heads", "hot"),
    [
        (NAMES, [f"is_{name}" for name in NAMES]),
        ([f"p{k}" for k in range(K)], [f"y{k}" for k in range(K)]),
        ([f"prob_{name}" for name in NAMES], [f"{name}_true" for name in NAMES]),
        ([f"prob_{name}" for name in NAMES], [f"label_{name}" for name in NAMES]),
        ([f"pred_{name}" for name in NAMES], [f"true_{name}" for name in NAMES]),
    ],
)
@pytest.mark.parametrize("first", [False, True])
def test_one_hot_columns(heads: list[str], hot: list[str], *, first: bool) -> None:
    ones = np.eye(K, dtype=int)[LABELS].T
    blocks = [(heads, [*PROBABILITIES.T]), (hot, [*ones])]
    (one, values), (other, more) = blocks[::-1] if first else blocks
    data = table([*one, *other], *values, *more)
    for label in (None, hot[0]):
        upload = read("a.csv", data, label_column=label)
        are(upload)
        (said,) = upload.repairs
        assert said.startswith(f"One-hot labels in columns {hot[0]} to {hot[-1]} were turned into")
        assert f"({N} rows)" in said
        assert f"Columns of the labels: {hot[0]} to {hot[-1]}." in upload.found
        assert not any("perhaps" in said or "decisions" in said for said in upload.doubts)


@pytest.mark.parametrize("before", ["is_", "label_", "true_", ""])
@pytest.mark.parametrize("words", [("False", "True"), ("no", "YES"), ("N", "Y"), ("0.0", "1.0")])
def test_one_hot_columns_in_words(before: str, words: tuple[str, str]) -> None:
    hot = np.array(words)[np.eye(K, dtype=int)[LABELS]].T
    heads = [f"{word}{name}" for word in ("prob_", before) for name in NAMES]
    upload = read("a.csv", table(heads, *PROBABILITIES.T, *hot))
    are(upload)
    assert any(f"One-hot labels in columns {before}cat to {before}hen" in s for s in upload.repairs)


@pytest.mark.parametrize("words", [("no", "yes"), ("N", "Y"), ("False", "True")])
def test_right_and_wrong_in_words(words: tuple[str, str]) -> None:
    best = PROBABILITIES.argmax(axis=1)
    right = np.array(words)[(best == LABELS).astype(int)]
    upload = read("a.csv", table(["confidence", "correct"], PROBABILITIES.max(axis=1), right))
    assert isinstance(upload.rows, EventScores)
    np.testing.assert_array_equal(upload.rows.hits, best == LABELS)


def test_decisions_are_no_one_hot_labels() -> None:
    decided = np.eye(K, dtype=int)[PROBABILITIES.argmax(axis=1)].T
    heads = [*NAMES, *(f"predicted_{name}" for name in NAMES)]
    assert read("a.csv", table(heads, *PROBABILITIES.T, *decided)).piece is not None


@pytest.mark.parametrize("before", ["rf_", "human_", "is_"])
@pytest.mark.parametrize("head", ["diagnosis", "outcome", "truth_name"])
@pytest.mark.parametrize("texts", [False, True])
def test_a_label_stands_before_columns_of_0_and_1(before: str, head: str, *, texts: bool) -> None:
    other = np.roll(np.eye(K, dtype=int)[LABELS], 1, axis=0).T
    heads = [*NAMES, *(f"{before}{name}" for name in NAMES), head]
    true = np.array(NAMES)[LABELS] if texts else LABELS
    upload = read("a.csv", table(heads, *PROBABILITIES.T, *other, true))
    assert are(upload).class_names == tuple(NAMES)
    assert upload.repairs == ()


@pytest.mark.parametrize(("of_class", "before"), [("", "rf_"), ("prob_", ""), ("logit_", "")])
def test_columns_of_0_and_1_that_no_word_calls_true_are_doubted(of_class: str, before: str) -> None:
    ones = np.eye(K, dtype=int)[LABELS].T
    heads = [f"{word}{name}" for word in (of_class, before) for name in NAMES]
    upload = read("a.csv", table(heads, *PROBABILITIES.T, *ones))
    are(upload)
    (said,) = (said for said in upload.doubts if "decisions of a model" in said)
    assert said.startswith(f"Columns {before}cat to {before}hen were taken for the labels")


def test_quoted_decimal_commas() -> None:
    texts = [[f"{v:.8f}".replace(".", ",") for v in column] for column in PROBABILITIES.T]
    upload = read("a.csv", table([*NAMES, "label"], *map(np.array, texts), LABELS, quote='"'))
    are(upload)
    assert f"Commas mark decimals ({N * K} values)." in upload.found


def test_quoted_marks_between_thousands_are_refused() -> None:
    texts = np.array([f"{k},{k}" for k in range(100, 100 + N)])
    data = table(["a", "b", "label"], texts, texts, LABELS % 2, quote='"')
    with pytest.raises(FileError, match="without marks between its thousands"):
        read("a.csv", data)


@pytest.mark.parametrize(
    ("blank", "nan", "said"),
    [
        ([5], [], 'row 7, column "cat": found a blank cell, wanted'),
        ([5, 9], [], r"\(2 cells in 2 rows are blank or NaN, in rows 7, 11\), wanted"),
        ([5], [2, 3], r"row 7, .*\(3 cells in 3 rows are blank or NaN, in rows 4, 5, 7\)"),
        ([9, 5, 7, 8], [], r"row 7, .*\(4 cells in 4 rows .* NaN, first in rows 7, 9, 10\)"),
    ],
)
def test_blank_cells_are_counted(blank: list[int], nan: list[int], said: str) -> None:
    cells = np.array([f"{v:.6f}" for v in PROBABILITIES[:, 0]], dtype=object)
    cells[blank], cells[nan] = "", "nan"
    with pytest.raises(FileError, match=said):
        read("a.csv", table([*NAMES, "label"], cells, *PROBABILITIES.T[1:], LABELS))


def test_classes_named_under_their_numbers() -> None:
    body = {"logits": LOGITS.tolist(), "labels": LABELS.tolist()}
    named = {str(k): name for k, name in enumerate(NAMES)}
    upload = read("a.json", json.dumps({"id2label": named, **body}).encode())
    assert are(upload).class_names == tuple(NAMES)
    assert "Classes are named by id2label." in upload.found
    for other in ({"0": "cat"}, dict(reversed(named.items())), dict.fromkeys(named, "cat")):
        upload = read("a.json", json.dumps({"id2label": other, **body}).encode())
        assert are(upload).class_names == ("0", "1", "2", "3")
        assert any("Left out" in said and "id2label" in said for said in upload.found)


@pytest.mark.parametrize("names", [["1", "2", "3", "0"], ["1", "2", "3", "4"]])
def test_numbers_are_places_among_names_that_are_numbers(names: list[str]) -> None:
    body = {"id2label": dict(zip("0123", names, strict=True)), "logits": LOGITS.tolist()}
    upload = read("a.json", json.dumps({**body, "labels": LABELS.tolist()}).encode())
    assert are(upload).class_names == ("0", "1", "2", "3")
    assert any("Left out" in said and "id2label" in said for said in upload.found)


def test_numbers_are_places_among_yes_and_no() -> None:
    body = {"id2label": {"0": "yes", "1": "no"}, "logits": LOGITS[:, :2].tolist()}
    labels = (LABELS % 2).tolist()
    upload = read("a.json", json.dumps({**body, "labels": labels}).encode())
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.labels, labels)


@pytest.mark.parametrize("spelled", ["['cat', 'dog', 'fox', 'hen']", "[cat,dog,fox,hen]"])
def test_classes_listed_in_every_row(spelled: str) -> None:
    lists = np.array([str(row.tolist()) for row in PROBABILITIES])
    heads = ["species", "predicted_label", "probability", "probabilities", "labels"]
    best = PROBABILITIES.argmax(axis=1)
    data = table(
        heads, np.array(NAMES)[LABELS], np.array(NAMES)[best], PROBABILITIES.max(axis=1), lists,
        np.array([spelled] * N), quote='"',
    )  # fmt: skip
    upload = read("a.csv", data)
    assert are(upload).class_names == tuple(NAMES)
    assert any("named by the list in column labels" in said for said in upload.repairs)


def test_lists_that_do_not_fit_name_nothing() -> None:
    assert listed_classes({"names": ("[x, y]", "[x, x]")}, 2) is None
    assert listed_classes({"names": ("[x, x]",)}, 2) is None
    assert listed_classes({"names": ("[x, y]",)}, 3) is None
    assert listed_classes({"names": ("[x, y]",), "labels": ("[x, z]",)}, 2) is None
    assert listed_classes({"models": ("[x, y]",), "label": ("x", "z")}, 2) is None
    assert listed_classes({"crop": ("[0, 1]",), "label": ("1", "0")}, 2) is None
    assert listed_classes({"a": ("[x, y]",), "label": ("x", "y")}, 2) == ("a", ("x", "y"))


@pytest.mark.parametrize("head", ["crop", "shape", "temps", "bbox", "models"])
def test_a_list_of_something_else_in_every_row_names_no_classes(head: str) -> None:
    lists = np.array([str(row.tolist()) for row in PROBABILITIES])
    cells = np.array(["(1, 0, 3, 2)"] * N)
    upload = read("a.csv", table(["probs", head, "label"], lists, cells, LABELS, quote='"'))
    assert are(upload).class_names == ("0", "1", "2", "3")


def test_values_that_fall_in_every_row_are_doubted() -> None:
    falling = -np.sort(-PROBABILITIES, axis=1)
    lists = [np.array([str(row.tolist()) for row in rows]) for rows in (falling, PROBABILITIES)]
    same = np.array([str(falling[0].tolist())] * N)
    said = [
        sum("as if each row were sorted" in doubt for doubt in read("a.csv", data).doubts)
        for data in (
            table(["scores", "label"], cells, LABELS, quote='"') for cells in (*lists, same)
        )
    ]
    assert said == [1, 0, 0]


def test_labels_of_two_sets_say_which() -> None:
    texts = np.array(NAMES)[LABELS]
    parts = np.array(["val"] * 15 + ["test"] * (N - 15))
    upload = read("a.csv", table([*NAMES, "label", "split"], *PROBABILITIES.T, texts, parts))
    where = [said for said in upload.found if "matched to the class columns" in said]
    assert where == [
        "Labels of the calibration set were matched to the class columns by name (15 labels).",
        f"Labels of the test set were matched to the class columns by name ({N - 15} labels).",
    ]


def test_a_missing_file_is_named() -> None:
    files = {"val_logits": LOGITS, "val_labels": LABELS, "test_logits": LOGITS}
    parts = {name: read(f"{name}.npy", npy(array)) for name, array in files.items()}
    with pytest.raises(FileError, match='missing are the labels of "test_logits'):
        combine([*parts.values()])
    counted = {"a": LOGITS, "b": LABELS[:30], "c": LABELS}
    with pytest.raises(FileError, match=r'missing are the values of "b\.'):
        combine([read(f"{name}.npy", npy(array)) for name, array in counted.items()])


def test_sets_of_other_classes_are_described_in_words() -> None:
    whole = read("a.csv", table([*NAMES, "label"], *PROBABILITIES.T, LABELS))
    score = read("b.csv", table(["score", "label"], PROBABILITIES[:, 0], (LABELS == 0) * 1))
    with pytest.raises(FileError, match="4 classes in the calibration set but one score a row in"):
        combine([whole, score])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\U0001f469\u200d\U0001f467", "\U0001f469\u200d\U0001f467"),
        ("\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"),
        ("\U0001f469\U0001f3fd\u200d\U0001f680", "\U0001f469\U0001f3fd\u200d\U0001f680"),
        ("ca\u200dt", "cat"), ("\u200d\u0645", "\u0645"), ("\u0645\u200c", "\u0645"),
        ("\u0645\u200b\u062e", "\u0645\u062e"), ("\u0645\u202e\u062e", "\u0645\u062e"),
        ("\u0645\u200d\u200d\u062e", "\u0645\u062e"),
    ],
)  # fmt: skip
def test_joiners_are_kept_where_they_shape_signs(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_many_columns_are_told_apart_in_time() -> None:
    heads = [*(f"c{k}0" for k in range(1000)), *(f"{k}x0" for k in range(1000))]
    cells = (np.add.outer(np.arange(60), np.arange(2000)) % 2).astype(str)
    start = time.process_time()
    with pytest.raises(FileError, match="rows sum to 500"):
        read("a.csv", table(heads, *cells.T))
    assert time.process_time() - start < 3


@pytest.mark.parametrize("frame", ["cls_{}", "{} star", "topic {}", "Y{}", "group_{}_x", "k{}"])
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("counted", [0, 1])
def test_numbered_classes_in_another_order(frame: str, first: int, counted: int) -> None:
    order = np.array([2, 0, 3, 1])
    heads = [frame.format(k + first) for k in order]
    upload = read("a.csv", table([*heads, "label"], *PROBABILITIES.T[order], LABELS + counted))
    assert isinstance(upload.rows, LogitSet)
    assert upload.class_names == tuple(heads)
    np.testing.assert_allclose(upload.rows.probabilities, PROBABILITIES[:, order], atol=1e-6)
    np.testing.assert_array_equal(order[upload.rows.labels], LABELS)
    said = f"Labels were matched to the class numbers that the columns are named by ({N} labels)."
    assert upload.repairs == (said,)


FRAMES = ["class_{}", "C{}", "{} stars", "species {}", "{}"]


def sorted_as_text(frame: str, seed: int = 5) -> tuple[list[str], Array, Array]:
    """Give 12 classes in the order of their texts, with values and labels that are places."""
    random, names = np.random.default_rng(seed), sorted(frame.format(k) for k in range(12))
    places = random.integers(0, 12, 400)
    values = np.exp(random.normal(size=(400, 12)) + 2 * np.eye(12)[places])
    return names, values / values.sum(axis=1, keepdims=True), places


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("kind", ["npz", "json", "pkl"])
def test_labels_are_places_of_the_names_in_a_list(frame: str, kind: str) -> None:
    names, values, places = sorted_as_text(frame)
    parts = {"probs": values.tolist(), "labels": places.tolist(), "class_names": names}
    arrays: dict[str, Any] = {name: np.array(part) for name, part in parts.items()}
    data = {
        "npz": npz(**arrays), "json": json.dumps(parts).encode(), "pkl": pickle.dumps(parts)
    }[kind]  # fmt: skip
    upload = read(f"a.{kind}", data)
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities, values, atol=1e-12)
    np.testing.assert_array_equal(upload.rows.labels, places)
    assert any("read as places" in said for said in upload.repairs) == (frame == "{}")


@pytest.mark.parametrize("frame", FRAMES)
def test_labels_go_with_the_columns_that_the_values_tell(frame: str) -> None:
    names, values, places = sorted_as_text(frame)
    numbers = np.array([int("".join(filter(str.isdigit, name))) for name in names])[places]
    for labels, said in (
        (places, "read as places of"),
        (places + 1, "read as places of"),
        (numbers, "matched to the class numbers"),
    ):
        upload = read("a.csv", table([*names, "label"], *values.T, labels))
        assert isinstance(upload.rows, LogitSet)
        np.testing.assert_array_equal(upload.rows.labels, places)
        assert any(said in repair for repair in upload.repairs)
        assert not any("may be places" in doubt for doubt in upload.doubts)


def test_labels_are_the_numbers_of_names_in_a_list_only_where_the_values_tell() -> None:
    names, values, places = sorted_as_text("class_{}")
    numbers = np.array([int(name[6:]) for name in names])[places]
    chance = np.random.default_rng(8).integers(0, 12, len(values))
    for labels, wanted in ((numbers, places), (chance, chance)):
        upload = read("a.npz", npz(probs=values, labels=labels, class_names=np.array(names)))
        assert isinstance(upload.rows, LogitSet)
        np.testing.assert_array_equal(upload.rows.labels, wanted)
        assert any("matched to" in said for said in upload.repairs) == (labels is numbers)


def test_labels_that_the_values_do_not_tell_are_doubted() -> None:
    names, values, _ = sorted_as_text("class_{}")
    labels = np.random.default_rng(8).integers(0, 12, len(values))
    upload = read("a.csv", table([*names, "label"], *values.T, labels))
    differ = int((labels > 1).sum())
    (doubt,) = (said for said in upload.doubts if "may be places" in said)
    assert f"which would differ in {differ} rows" in doubt


def test_typed_numbers_of_classes_are_taken_whatever_the_values_tell() -> None:
    order = ("3", "1", "0", "2")
    upload = read("a.npz", npz(probs=PROBABILITIES, labels=LABELS), class_names=order)
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(np.array(order, dtype=int)[upload.rows.labels], LABELS)
