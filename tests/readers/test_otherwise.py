"""Scores that are turned, values that are called otherwise, marks of labels, and two parts."""

import pickle

import numpy as np
import pytest

from calibcore.data import EventScores, LogitSet
from dashboard.readers import FileError, Upload, read
from tests.readers.files import LABELS, LOGITS, PROBABILITIES, Array, K, N, npz

RNG = np.random.default_rng(3)
M = 200
TRUTH = RNG.integers(0, 2, M)
SCORES = 1 / (1 + np.exp(-(RNG.normal(size=M) + np.where(TRUTH, 1.5, -1.5))))


def archive(**arrays: Array) -> bytes:
    return npz(**arrays)  # type: ignore[arg-type]


def two(scores: np.ndarray, words: tuple[str, str] = ("0", "1"), **choices: object) -> Upload:
    rows = [f"{score},{words[label]}" for score, label in zip(scores, TRUTH, strict=True)]
    return read("a.csv", "\n".join(["score,label", *rows]).encode(), **choices)  # type: ignore[arg-type]


def of_turned(upload: Upload) -> list[str]:
    return [said for said in upload.doubts if "AUC" in said]


def test_a_score_of_the_other_class_is_doubted() -> None:
    assert of_turned(two(SCORES)) == []
    (said,) = of_turned(two(1 - SCORES))
    pairs = (1 - SCORES)[TRUTH == 1][:, np.newaxis] - (1 - SCORES)[TRUTH == 0]
    area = np.mean(pairs > 0) + np.mean(pairs == 0) / 2
    assert f"(AUC {area:.2f}; 0.5 is chance)" in said
    assert "name the classes, that of the score second" in said


def test_it_is_doubted_where_nearly_all_are_right() -> None:
    # Below one half throughout, so that accuracy says nothing.
    (said,) = of_turned(two(0.1 * (1 - SCORES)))
    assert "lower in rows of class 1 than in rows of class 0" in said


def test_scores_that_tell_nothing_are_not_called_turned() -> None:
    assert of_turned(two(RNG.permutation(SCORES))) == []
    assert of_turned(two(np.full(M, 0.3))) == []


@pytest.mark.parametrize("words", [("0", "1"), ("-1", "1"), ("1", "2")])
def test_the_user_turns_a_score_by_naming_its_class_second(words: tuple[str, str]) -> None:
    upload = two(1 - SCORES, words, class_names=words[::-1])
    assert isinstance(upload.rows, LogitSet)
    assert upload.rows.class_names == words[::-1]
    np.testing.assert_array_equal(upload.rows.labels, 1 - TRUTH)
    assert of_turned(upload) == []
    assert any("class numbers that you gave" in said for said in upload.repairs)


def test_names_that_are_no_labels_match_nothing() -> None:
    upload = two(SCORES, class_names=("7", "8"))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.labels, TRUTH)


def test_two_columns_in_the_other_order_are_doubted() -> None:
    table = np.column_stack([SCORES, 1 - SCORES])
    (said,) = of_turned(read("a.npz", npz(probs=table, labels=TRUTH)))
    assert said.endswith("or the columns are in the other order.")


def test_scores_that_are_low_where_the_prediction_is_right_are_doubted() -> None:
    right, best = TRUTH == 1, np.maximum(SCORES, 1 - SCORES)
    odds = np.where(right, best, 1 - best)
    shown = [
        of_turned(read("a.csv", "\n".join(["confidence,correct", *rows]).encode()))
        for scores in (odds, 1 - odds)
        for rows in [[f"{score},{int(hit)}" for score, hit in zip(scores, right, strict=True)]]
    ]
    assert shown[0] == []
    assert "perhaps they measure doubt" in shown[1][0]


def test_numbered_classes_in_another_order_than_the_labels() -> None:
    rows = [f"{q},{1 - q},{label}" for q, label in zip(SCORES, TRUTH, strict=True)]
    upload = read("a.csv", "\n".join(["class1,class0,label", *rows]).encode())
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.labels, 1 - TRUTH)
    assert of_turned(upload) == []


def test_labels_below_zero_are_matched_to_names_that_are_typed() -> None:
    heads = "negative,neutral,other,positive,label"
    rows = [
        ",".join(map(str, [*row, label - 1])) for row, label in zip(LOGITS, LABELS, strict=True)
    ]
    data = "\n".join([heads, *rows]).encode()
    with pytest.raises(FileError, match="or these as your class names"):
        read("a.csv", data)
    upload = read("a.csv", data, class_names=("-1", "0", "1", "2"))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)


@pytest.mark.parametrize(
    ("name", "table", "doubted"),
    [
        ("probs", LOGITS, True),
        ("softmax", LOGITS, True),
        ("logits", LOGITS, False),
        ("predictions", LOGITS, False),
        ("log_probs", LOGITS, False),
        ("probs", np.log(PROBABILITIES), False),
        ("probs", PROBABILITIES, False),
    ],
)
def test_logits_that_are_called_probabilities(
    name: str, table: np.ndarray, *, doubted: bool
) -> None:
    data = archive(**{name: table, "labels": LABELS})
    said = [said for said in read("a.npz", data).doubts if "The values are called" in said]
    assert len(said) == doubted
    assert not any("called" in said for said in read("a.npz", data, values="logits").doubts)


@pytest.mark.parametrize(
    "mark", ["is_label_issue", "label_error", "label_issues", "label_quality", "label_flags"]
)
def test_marks_of_labels_are_no_labels(mark: str) -> None:
    found = RNG.random(N) < 0.2
    upload = read("a.npz", archive(pred_probs=PROBABILITIES, given_label=LABELS, **{mark: found}))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    assert upload.uses["given_label"] == "label"
    assert read("a.npz", archive(pred_probs=PROBABILITIES, **{mark: found})).piece is not None


def test_scores_of_labels_are_no_table() -> None:
    quality = RNG.random(N)
    data = npz(pred_probs=PROBABILITIES, label_quality_scores=quality, noisy_labels=LABELS)
    assert isinstance(read("a.npz", data).rows, LogitSet)


PARTS = [(LOGITS[:15], LABELS[:15]), (LOGITS[15:], LABELS[15:])]


def test_two_parts_are_one_set_if_the_user_says_so() -> None:
    data = pickle.dumps(PARTS)
    apart = read("a.pkl", data)
    assert apart.calibration is not None
    assert any("two parts" in said for said in apart.doubts)
    upload = read("a.pkl", data, sets="one")
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.logits, LOGITS)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    assert not any("two parts" in said for said in upload.doubts)
    assert any("as you said" in said for said in upload.found)


def test_named_sets_with_their_further_columns_are_one_set() -> None:
    ages = RNG.integers(20, 90, N)
    halves = {"val": slice(15), "test": slice(15, N)}
    arrays = {
        f"{name}_{role}": array[part]
        for role, part in halves.items()
        for name, array in (("logits", LOGITS), ("labels", LABELS), ("age", ages))
    }
    upload = read("a.npz", archive(**arrays), sets="one")
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    np.testing.assert_array_equal(upload.columns["rows"]["age"].values, ages)


def test_parts_of_other_classes_are_not_one_set() -> None:
    other = [PARTS[0], (LOGITS[15:, : K - 1], np.minimum(LABELS[15:], K - 2))]
    with pytest.raises(FileError, match="other classes"):
        read("a.pkl", pickle.dumps(other), sets="one")


def test_few_labels_from_1_in_a_table_are_doubted() -> None:
    best = PROBABILITIES.argmax(axis=1)
    few = np.flatnonzero((best == LABELS) & (LABELS < K - 1))[:8]
    upload = read("a.npz", npz(probs=PROBABILITIES[few], labels=LABELS[few] + 1))
    assert any("counted from 1 it would be 100.0 %" in said for said in upload.doubts)
    right = read("a.npz", npz(probs=PROBABILITIES[few], labels=LABELS[few]))
    assert not any("counted from 1" in said for said in right.doubts)


@pytest.mark.parametrize("highest", [5, 10])
def test_marks_of_confidence_are_no_percentages(highest: int) -> None:
    marks = RNG.integers(1, highest + 1, M)
    rows = [f"{mark},{hit}" for mark, hit in zip(marks, TRUTH, strict=True)]
    data = "\n".join(["confidence,correct", *rows]).encode()
    with pytest.raises(FileError, match="your word that they are probabilities in percent"):
        read("a.csv", data)
    upload = read("a.csv", data, values="probabilities")
    assert isinstance(upload.rows, EventScores)
    np.testing.assert_allclose(upload.rows.scores, marks / 100)


def event(scores: Array, right: Array, name: str = "score") -> bytes:
    rows = [
        f"{score},cat,{'cat' if hit else 'dog'}" for score, hit in zip(scores, right, strict=True)
    ]
    return "\n".join([f"{name},pred_label,true_label", *rows]).encode()


def test_scores_of_the_true_class_are_doubted() -> None:
    rng = np.random.default_rng(11)
    z = rng.normal(size=(300, 3)) * 3
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    truth = (p.cumsum(axis=1) > rng.random((300, 1))).argmax(axis=1)
    right = p.argmax(axis=1) == truth
    shown = [
        [said for said in read("a.csv", event(scores, right)).doubts if "of the true class" in said]
        for scores in (p.max(axis=1), p[np.arange(300), truth])
    ]
    assert [len(said) for said in shown] == [0, 1]


@pytest.mark.parametrize("name", ["entropy", "pred_margin", "Uncertainty"])
def test_measures_of_doubt_are_no_scores(name: str) -> None:
    with pytest.raises(FileError, match="which is no probability"):
        read("a.csv", event(SCORES, TRUTH, name))


def test_percentages_below_1_of_a_thousand_classes() -> None:
    rng = np.random.default_rng(8)
    truth = rng.integers(1000, size=3000)
    told = np.where(rng.random(3000) < 0.6, truth, rng.integers(1000, size=3000))
    scores = rng.uniform(0.5, 99, 3000).round(2)
    rows = "\n".join(map("{},{},{}".format, truth, told, scores))
    data = f"true_label,pred_label,confidence\n{rows}"
    upload = read("a.csv", data.encode())
    assert isinstance(upload.rows, EventScores)
    np.testing.assert_allclose(upload.rows.scores, scores / 100)
    few = "\n".join(map("{},{},{}".format, truth % 3, told % 3, scores))
    with pytest.raises(FileError, match="but values below 1"):
        read("a.csv", f"true_label,pred_label,confidence\n{few}".encode())
