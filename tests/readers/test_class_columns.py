"""Columns and arrays of classes told apart from what stands beside them, and their labels."""

import json
from collections.abc import Sequence

import numpy as np
import pytest

from calibcore.data import EventScores
from dashboard.readers import FileError, Question, Upload, read
from tests.readers.files import (
    LABELS,
    LOGITS,
    PROBABILITIES,
    Array,
    N,
    combined,
    event_scores,
    headed,
    logit_set,
    npy,
    npz,
)

NAMES = ("cat", "dog", "fox", "owl")
TEXT = [NAMES[k] for k in LABELS]
TOLD = [NAMES[k] for k in PROBABILITIES.argmax(axis=1)]
RISK = PROBABILITIES[:, 1] + PROBABILITIES[:, 3]
ILL = LABELS % 2


def columns(values: Array = PROBABILITIES) -> list[list[float]]:
    return [column.tolist() for column in values.astype(np.float64).T]


def are(upload: Upload, values: Array | None = None) -> str:
    """Expect the four classes, and give all that is said."""
    rows = logit_set(upload)
    np.testing.assert_array_equal(rows.labels, LABELS)
    if values is None:
        np.testing.assert_allclose(rows.probabilities, PROBABILITIES, atol=1e-6)
    else:
        np.testing.assert_allclose(rows.logits, values, rtol=1e-5)
    return " ".join((*upload.notes, *upload.repairs, *upload.doubts))


def of_two(upload: Upload) -> None:
    """Expect the score of the second of two classes."""
    rows = logit_set(upload)
    np.testing.assert_array_equal(rows.labels, ILL)
    np.testing.assert_allclose(rows.probabilities[:, 1], RISK, atol=1e-6)


# Beside other columns ------------------------------------------------------------------------


def test_a_class_is_no_further_number() -> None:
    ages = [30 + k % 7 for k in range(40)]
    weights = [0.5 + k % 3 / 10 for k in range(40)]
    for values, extra in ((PROBABILITIES, weights), (PROBABILITIES * 100, ages), (LOGITS, ages)):
        data = headed("cat,dog,fox,owl,extra,label", *columns(values), extra, TEXT)
        upload = read("a.csv", data)
        assert logit_set(upload).class_names == NAMES
        assert upload.columns["rows"]["extra"].values.tolist() == extra


@pytest.mark.parametrize("place", range(5))
def test_shares_are_found_among_other_numbers(place: int) -> None:
    shift = [-0.25 - k for k in range(40)]
    heads, values = list(NAMES), columns()
    heads.insert(place, "shift")
    values.insert(place, shift)
    upload = read("a.csv", headed(",".join([*heads, "label"]), *values, TEXT))
    np.testing.assert_allclose(logit_set(upload).probabilities, PROBABILITIES, rtol=1e-12)
    assert upload.columns["rows"]["shift"].values.tolist() == shift


def test_a_reference_class_stays_a_class() -> None:
    values = LOGITS - LOGITS[:, :1]
    data = headed("cat,dog,fox,owl,label", [0] * 40, *columns(values)[1:], TEXT)
    upload = read("a.csv", data)
    np.testing.assert_array_equal(logit_set(upload).logits, values)


@pytest.mark.parametrize("extra", [[31, 40, 50], [1.5, 2.5, 3.5]])
def test_one_events_scores_beside_other_numbers(extra: list[float]) -> None:
    upload = read("a.csv", headed("confidence,correct,age", [0.9, 0.6, 0.5], [1, 0, 1], extra))
    assert event_scores(upload.rows).scores.tolist() == [0.9, 0.6, 0.5]
    assert upload.columns["rows"]["age"].values.tolist() == extra
    header = "age,confidence,pred,label,weight"
    data = headed(header, extra, [0.9, 0.6, 0.5], "aba", "aab", extra)
    assert isinstance(read("a.csv", data).rows, EventScores)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("heads", ["cat,dog,fox,owl", "prob_0,prob_1,prob_2,prob_3"])
@pytest.mark.parametrize("values", [PROBABILITIES, LOGITS, LOGITS.round()])
def test_a_column_that_counts_is_no_class(first: int, heads: str, values: Array) -> None:
    data = headed(f"n,{heads},label", range(first, 40 + first), *columns(values), LABELS)
    upload = read("a.csv", data)
    assert logit_set(upload).n_classes == 4
    assert upload.uses["n"] == "left out"


def test_a_count_beside_a_column_that_nothing_calls_a_score() -> None:
    data = headed("n,value,label", range(40), PROBABILITIES[:, 1].tolist(), LABELS % 2)
    with pytest.raises(Question, match='column "value"') as caught:
        read("a.csv", data)
    rows = logit_set(read("a.csv", data, **caught.value.answers[0].change))
    np.testing.assert_allclose(rows.probabilities[:, 1], PROBABILITIES[:, 1], rtol=1e-9)


@pytest.mark.parametrize("name", ["species", "iris", "anything"])
def test_the_label_is_found_by_its_cells(name: str) -> None:
    upload = read("a.csv", headed(f"model,{name},cat,dog,fox,owl", TOLD, TEXT, *columns()))
    np.testing.assert_array_equal(logit_set(upload).labels, LABELS)
    assert f'Outcome: column "{name}".' in upload.notes
    upload = read("a.csv", headed(f"cat,dog,fox,owl,{name}", *columns(), TEXT))
    np.testing.assert_array_equal(logit_set(upload).labels, LABELS)


@pytest.mark.parametrize("prefix", ["label", "y_true", "target"])
def test_a_column_of_labels_for_each_class(prefix: str) -> None:
    hot = np.eye(4, dtype=int)[LABELS]
    heads = ",".join([f"prob_{k}" for k in range(4)] + [f"{prefix}_{k}" for k in range(4)])
    upload = read("a.csv", headed(heads, *columns(), *hot.T))
    np.testing.assert_array_equal(logit_set(upload).labels, LABELS)
    assert "One-hot labels were turned into class numbers (40 rows)." in upload.repairs
    assert upload.uses[f"{prefix}_2"] == "label"


def test_two_labels_in_one_row_are_a_fault_of_that_row() -> None:
    hot = np.eye(4, dtype=int)[LABELS]
    hot[7] = [1, 0, 0, 1]
    heads = ",".join([f"prob_{k}" for k in range(4)] + [f"label_{k}" for k in range(4)])
    with pytest.raises(FileError, match="row 9"):
        read("a.csv", headed(heads, *columns(), *hot.T))


def test_a_score_and_a_prediction_wait_for_labels() -> None:
    data = headed("score,pred", PROBABILITIES[:, 1], LABELS % 2)
    with pytest.raises(Question) as caught:
        read("a.csv", data)
    assert caught.value.answers[0].label == "No"
    upload = read("a.csv", data, **caught.value.answers[0].change)
    assert upload.piece is not None
    assert upload.piece.labels is None


@pytest.mark.parametrize(
    "heads",
    [
        "P (class={})", "confidence({})", "Logistic Regression ({})", "Probability:Class={}",
        "Scored Probabilities_{}", "{}_predicted_proba", "species_{}_scores", "$RP-{}",
        "predictions.{}", "{} (net)", "softmax_{}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("label", ["label", "species", "Wahre Klasse"])
def test_names_of_classes_within_headings(heads: str, label: str) -> None:
    header = ",".join([label, *(heads.format(name) for name in NAMES), "prediction"])
    upload = read("a.csv", headed(header, TEXT, *columns(), TOLD))
    assert logit_set(upload).class_names == NAMES
    np.testing.assert_array_equal(logit_set(upload).labels, LABELS)
    assert upload.uses["prediction"] == "prediction"


# Labels --------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [0, 1])
def test_a_label_of_any_name_by_its_numbers(first: int) -> None:
    header = ",".join([*(f"p{k}" for k in range(4)), "churned", "sex"])
    data = headed(header, *columns(), LABELS + first, [k % 2 for k in range(N)])
    upload = read("a.csv", data)
    are(upload)
    assert upload.uses["churned"] == "label"


def test_a_label_of_any_name_beside_one_score() -> None:
    of_two(read("a.csv", headed("score,churned", RISK, ILL)))
    with pytest.raises(Question):
        read("a.csv", headed("score,churned", RISK, 1 - ILL))
    with pytest.raises(Question):
        read("a.csv", headed("score,sex", RISK, ILL))


@pytest.mark.parametrize("first", [0, 1])
def test_numbered_texts_for_labels(first: int) -> None:
    texts = [f"LABEL_{k + first}" for k in LABELS]
    data = headed("label,logit_0,logit_1,logit_2,logit_3", texts, *columns(LOGITS))
    assert "were read as their numbers (40 labels)" in are(read("a.csv", data), values=LOGITS)


@pytest.mark.parametrize("numbers", [(0, 1, 2, 3), (-1, 0, 1, 2), (3, 1, 2, 0)])
def test_classes_named_by_numbers(numbers: Sequence[int]) -> None:
    header = ",".join([*map(str, numbers), "label"])
    upload = read("a.csv", headed(header, *columns(), [numbers[k] for k in LABELS]))
    are(upload)
    assert upload.class_names == tuple(map(str, numbers))


def test_labels_written_as_powers_of_ten() -> None:
    spelled = [f"{k:.18e}" for k in LABELS]
    values = "\n".join(" ".join(map(str, row)) for row in PROBABILITIES).encode()
    are(combined([("p.txt", values), ("y.txt", "\n".join(spelled).encode())]))
    rows = (" ".join([*map(str, row), y]) for row, y in zip(PROBABILITIES, spelled, strict=True))
    are(read("a.txt", "\n".join(rows).encode()))


def test_the_label_in_the_first_column() -> None:
    rows = [",".join(map(str, [y, *row])) for y, row in zip(LABELS, PROBABILITIES, strict=True)]
    assert 'Outcome: column "column 1".' in are(read("a.csv", "\n".join(rows).encode()))
    pairs = "\n".join(f"{y},{p}" for y, p in zip(ILL, RISK, strict=True)).encode()
    of_two(read("a.csv", pairs))


# Values --------------------------------------------------------------------------------------


def test_labels_of_two_makes_are_asked_about() -> None:
    data = npz(logits=LOGITS, clean_labels=LABELS, noisy_labels=LABELS[::-1].copy())
    with pytest.raises(Question, match='"clean_labels", "noisy_labels"') as caught:
        read("a.npz", data)
    are(read("a.npz", data, **caught.value.answers[0].change), values=LOGITS)


def test_logits_beside_their_softmax() -> None:
    data = npz(logits=LOGITS, probs=PROBABILITIES, labels=LABELS)
    assert "may disagree" not in are(read("a.npz", data), values=LOGITS)
    turned = npz(logits=LOGITS, probs=PROBABILITIES[::-1], labels=LABELS)
    assert 'Of both "logits" and "probs", which may disagree' in are(
        read("a.npz", turned), values=LOGITS
    )
    rows = [
        {"logits": z.tolist(), "probs": p.tolist(), "label": int(y)}
        for z, p, y in zip(LOGITS, PROBABILITIES, LABELS, strict=True)
    ]
    upload = read("a.jsonl", "\n".join(map(json.dumps, rows)).encode())
    are(upload)


@pytest.mark.parametrize("place", [0, 4])
@pytest.mark.parametrize("values", [PROBABILITIES, LOGITS.astype(np.float64)])
def test_labels_within_the_array(place: int, values: Array) -> None:
    upload = read("a.npy", npy(np.insert(values, place, LABELS, axis=1)))
    text = are(upload, values=None if values is PROBABILITIES else values)
    assert "The labels are a column of the array" in text


def test_a_column_of_zeros_within_the_array_is_no_label() -> None:
    turned = np.insert(LOGITS.astype(np.float64), 0, 0.0, axis=1)
    assert read("a.npy", npy(turned)).piece is not None


def test_a_table_that_is_turned_is_refused() -> None:
    with pytest.raises(FileError, match='"labels": 40 rows where the others have 4'):
        read("a.npz", npz(logits=LOGITS.T.copy(), labels=LABELS))


@pytest.mark.parametrize("base", [10, 2])
def test_logarithms_of_another_base_are_doubted(base: int) -> None:
    values = np.log(PROBABILITIES) / np.log(base)
    upload = read("a.npz", npz(logits=values, labels=LABELS))
    assert any(f"base {base}" in doubt for doubt in upload.doubts)


def test_what_is_neither_logits_nor_shares_is_asked_about() -> None:
    votes = np.array([np.bincount(np.arange(500) % (2 + k % 3), minlength=4) for k in range(N)])
    for values in (-np.log(PROBABILITIES), votes):
        with pytest.raises(FileError, match="no value below 0, and rows sum to"):
            read("a.npz", npz(outputs=values, labels=LABELS))


def test_logarithms_of_one_score_are_refused() -> None:
    data = headed("score,label", np.log(RISK), ILL)
    with pytest.raises(FileError, match="Expected a probability"):
        read("a.csv", data)
    assert read("a.csv", data, values="logits").values_kind == "logits"
