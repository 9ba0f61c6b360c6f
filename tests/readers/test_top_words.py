"""A lone score beside classes, hits and outcomes that are told by their cells."""

from typing import Any

import numpy as np
import pytest

from calibcore.data import EventScores, LogitSet
from dashboard.readers import FileError, Upload, read
from dashboard.readers.columns.top_words import compared_words
from tests.readers.files import LABELS, PROBABILITIES, N, npz

NAMES = np.array(["cat", "dog", "fox", "owl"])
BEST, TOP = PROBABILITIES.argmax(axis=1), PROBABILITIES.max(axis=1)
TRUE, TOLD = NAMES[LABELS], NAMES[BEST]
HITS = (BEST == LABELS).astype(int)
ROWS = np.arange(N)
CHANCE = np.round(
    np.where(ROWS % 3 == 0, 0.3, 0.1) + np.where(ROWS % 2 == 0, 0.5, 0) + ROWS / 999, 6
)
ILL = (ROWS % 2 == 0) ^ (ROWS % 7 == 0)


def table(**columns: Any) -> bytes:
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]).encode()


def events(upload: Upload) -> Upload:
    assert isinstance(upload.rows, EventScores)
    np.testing.assert_allclose(upload.rows.scores, TOP)
    np.testing.assert_array_equal(upload.rows.hits, HITS)
    return upload


@pytest.mark.parametrize(
    ("true", "told", "score"),
    [
        ("class", "Prediction (class)", "Prediction (class) (Confidence)"),
        ("species", "Prediction (species)", "Prediction (species) (Confidence)"),
        ("y", "$N-y", "$NC-y"), ("animal", "$C-animal", "$CC-animal"), ("y", "Tree", "score"),
        ("gt_label", "label", "score"),
    ],
)  # fmt: skip
def test_words_beside_one_score(true: str, told: str, score: str) -> None:
    upload = events(read("a.csv", table(**{true: TRUE, told: TOLD, score: TOP})))
    assert upload.uses[true] == "label"
    assert upload.uses[told] == "prediction"


def test_numbers_beside_one_score() -> None:
    events(read("a.csv", table(**{"y": LABELS, "$N-y": BEST, "$NC-y": TOP})))
    with pytest.raises(FileError, match="beside one column of scores"):
        read("a.csv", table(y=LABELS, fold=BEST, score=TOP))


def test_two_words_beside_scores_of_the_likelier() -> None:
    true, told = NAMES[LABELS % 2], NAMES[BEST % 2]
    upload = read("a.csv", table(y=true, tree=told, score=0.5 + TOP / 2))
    assert isinstance(upload.rows, EventScores)
    np.testing.assert_array_equal(upload.rows.hits, LABELS % 2 == BEST % 2)
    with pytest.raises(FileError, match="which of the two the score"):
        read("a.csv", table(y=true, tree=told, score=TOP / 2))
    yes = np.array(["no", "yes"])
    words = read("a.csv", table(y=yes[LABELS % 2], tree=yes[BEST % 2], score=0.5 + TOP / 2))
    assert isinstance(words.rows, LogitSet)


def test_three_words_and_no_prediction_are_refused() -> None:
    with pytest.raises(FileError, match=r'one score, in "score", beside .* "label", and no other'):
        read("a.csv", table(label=TRUE, score=TOP, site=TOLD))
    with pytest.raises(FileError, match='predictions in "m1" and "m2", wanted one of them called'):
        read("a.csv", table(label=TRUE, score=TOP, m1=TOLD, m2=TOLD[::-1]))


def test_which_of_two_columns_of_words_is_true_is_not_guessed() -> None:
    rows = [*zip(TRUE, TOLD, map(str, TOP), strict=True)]
    assert compared_words(["a1", "a2", "p"], None, 2, [0, 1], rows) == (None, None)
    assert read("a.csv", table(a1=TRUE, a2=TOLD, p=TOP)).piece is not None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("accuracy", (0, 1)), ("accuracies", (0.0, 1.0)), ("result", ("wrong", "right")),
        ("judged", ("incorrect", "correct")), ("correct", ("incorrect", "correct")),
    ],
)  # fmt: skip
def test_right_or_wrong_in_other_words(name: str, words: tuple[Any, Any]) -> None:
    upload = events(read("a.csv", table(confidence=TOP, **{name: np.array(words)[HITS]})))
    assert upload.uses[name] == "hit"
    assert upload.columns == {"rows": {}}


def test_a_mean_accuracy_and_an_outcome_are_no_hits() -> None:
    for name, values in (("accuracy", TOP / 2), ("outcome", HITS)):
        with pytest.raises(FileError, match='"confidence" without a predicted label'):
            read("a.csv", table(confidence=TOP, **{name: values}))


def test_hits_of_arrays() -> None:
    events(read("a.npz", npz(confidences=TOP, accuracies=HITS.astype(float))))


def risks(data: bytes, **choices: Any) -> Upload:
    upload = read("a.csv", data, **choices)
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities[:, 1], CHANCE)
    np.testing.assert_array_equal(upload.rows.labels, ILL)
    return upload


def test_the_outcome_beside_what_a_threshold_decides() -> None:
    decided = (CHANCE > 0.5).astype(int)
    data = table(BAD=ILL.astype(int), prob=CHANCE, decision_a=decided, decision_b=decided)
    (said,) = (said for said in risks(data).doubts if "taken for the label" in said)
    assert said.startswith("Column BAD was taken for the label")


def test_the_only_column_of_two_words_that_goes_with_the_score() -> None:
    texts = [f"question {k}" for k in ROWS]
    data = table(question=texts, prob=CHANCE, resolution=np.array(["NO", "YES"])[ILL.astype(int)])
    assert any("being the only one of two values" in said for said in risks(data).doubts)
    other = np.array(["NO", "YES"])[ROWS // 2 % 2]
    assert read("a.csv", table(question=texts, prob=CHANCE, smoker=other)).piece is not None


@pytest.mark.parametrize(("highest", "tenths"), [(10, True), (100, False)])
def test_whole_numbers_beside_an_outcome_are_no_logits(highest: int, tenths: bool) -> None:  # noqa: FBT001
    data = table(pop=np.round(CHANCE * highest).astype(int), rain=ILL.astype(int))
    with pytest.raises(FileError, match="one column from") as refused:
        read("a.csv", data)
    assert ("a tenth of each number" in str(refused.value)) == tenths


def test_an_outcome_alone_is_no_score() -> None:
    cents = [f"{round(100 * chance)} cent" for chance in CHANCE]
    upload = read("a.csv", table(price=cents, outcome=ILL.astype(int)))
    assert upload.piece is not None
    assert upload.piece.table is None


def test_a_score_that_is_called_as_of_class_0_by_the_word_of_the_user() -> None:
    data = table(s0=CHANCE, y=ILL.astype(int))
    with pytest.raises(FileError, match="or your word on the class column"):
        read("a.csv", data)
    risks(data, class_columns=("s0",))


def test_a_prediction_from_another_threshold() -> None:
    told = (CHANCE > 0.2).astype(int)
    upload = risks(table(predict=told, p0=1 - CHANCE, p1=CHANCE, label=ILL.astype(int)))
    least = CHANCE[told == 1].min()
    assert any(f"from a probability of {least:.4g} on, here from one" in s for s in upload.doubts)


def test_a_prediction_that_takes_the_second_of_two_equal_probabilities() -> None:
    chance = np.where(np.arange(len(CHANCE)) % 5, CHANCE, 0.5)
    told = (chance >= 0.5).astype(int)
    data = table(predict=told, p0=1 - chance, p1=chance, label=ILL.astype(int))
    upload = read("a.csv", data)
    (said,) = [said for said in upload.doubts if "The prediction in column" in said]
    assert said.endswith(
        "of two equal probabilities it takes the second, and the first counts here."
    )


@pytest.mark.parametrize("names", ["pred,outcome", "yhat,outcome", "y_pred,y_obs"])
def test_a_prediction_with_fractions_beside_an_outcome_is_the_score(names: str) -> None:
    told, outcome = names.split(",")
    upload = risks(table(**{told: CHANCE, outcome: ILL.astype(int)}))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities[:, 1], CHANCE)
    np.testing.assert_array_equal(upload.rows.labels, ILL)
