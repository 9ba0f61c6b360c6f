"""One score beside two words: which column they are in, and of which of them the score is."""

from typing import Any

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, read
from dashboard.wording.imports import CLASS_COLUMNS, CLASS_NAMES
from tests.readers.test_one_score import AGE, ILL, RISK, N, table

WORDS = np.array(["benign", "malignant"])
OTHERS = np.array(["north", "south", "east"])[np.arange(N) % 3]


def texts(words: Any = WORDS) -> list[str]:
    return [words[k] for k in ILL]


@pytest.mark.parametrize(
    "score",
    [
        "probability of malignant",
        "Malignant_prob_v2",
        "P(Y = malignant)",
        "risk that it is malignant",
    ],
)
def test_the_class_that_the_heading_names_among_other_words(score: str) -> None:
    for words, labels in ((WORDS, ILL), (WORDS[::-1], 1 - ILL)):
        upload = read("a.csv", table(f"{score},diagnosis", RISK, texts(words)))
        assert isinstance(upload.rows, LogitSet)
        assert upload.rows.class_names == ("benign", "malignant")
        np.testing.assert_array_equal(upload.rows.labels, labels)
        np.testing.assert_allclose(upload.rows.probabilities[:, 1], RISK, atol=1e-9)


@pytest.mark.parametrize(
    ("score", "words"),
    [
        ("benign or malignant score", WORDS),
        ("probability of not malignant", WORDS),
        ("1 - probability of malignant", WORDS),
        ("premalignant risk score", WORDS),
        ("score on the test", ("on", "off")),
        ("chance of heavy rain", ("rain", "heavy rain")),
        ("score", WORDS),
    ],
)
def test_a_heading_that_names_no_class_or_both_asks_for_it(score: str, words: Any) -> None:
    data = table(f"{score},diagnosis", RISK, texts(words))
    with pytest.raises(FileError, match="which of the two the score") as caught:
        read("a.csv", data)
    said = str(caught.value)
    assert all(f'"{part}"' in said for part in (*words, score, CLASS_NAMES))
    upload = read("a.csv", data, class_names=tuple(words))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.labels, ILL)


def test_words_that_deny_leave_no_and_yes_as_they_are() -> None:
    for score, pair in (("no show risk", ("no", "yes")), ("false alarm p", ("False", "True"))):
        upload = read("a.csv", table(f"{score},came", RISK, texts(pair)), label_column="came")
        assert isinstance(upload.rows, LogitSet)
        np.testing.assert_array_equal(upload.rows.labels, ILL)


def test_columns_that_may_be_the_labels_are_named() -> None:
    upload = read(
        "a.csv", table("age,chance of rain,sky,site", AGE, RISK, texts(("dry", "rain")), OTHERS)
    )
    assert upload.piece is not None
    assert upload.perhaps_labels == ("sky",)
    chosen = read(
        "a.csv", table("chance of rain,sky", RISK, texts(("dry", "rain"))), label_column="sky"
    )
    assert isinstance(chosen.rows, LogitSet)
    np.testing.assert_array_equal(chosen.rows.labels, ILL)
    left_out = read("a.csv", table("id,score,correct", range(N), RISK, texts(("FALSE", "TRUE"))))
    assert left_out.uses["correct"] == "left out"
    assert left_out.perhaps_labels == ("correct",)


def test_at_most_three_columns_are_named_and_none_beside_labels() -> None:
    heads = "id,score,u1,u2,u3,u4,u5"
    data = table(heads, range(N), RISK, *[texts((f"a{k}", f"b{k}")) for k in range(5)])
    assert read("a.csv", data).perhaps_labels == ("u1", "u2", "u3")
    assert read("a.csv", table("score,label", RISK, ILL)).perhaps_labels == ()
    assert read("a.csv", table("id,score", range(N), RISK)).perhaps_labels == ()


def test_two_scores_in_one_table_can_be_chosen_among() -> None:
    old = (RISK**2).round(6)
    data = table("score_old,score_new,outcome", old, RISK, ILL)
    with pytest.raises(FileError, match=f"one score alone, chosen under {CLASS_COLUMNS}"):
        read("a.csv", data)
    upload = read("a.csv", data, class_columns=("score_new",))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities[:, 1], RISK, atol=1e-9)
    three = table("a,b,c,label", old, RISK, old, np.arange(N) % 3)
    with pytest.raises(FileError, match="not one sigmoid a class"):
        read("a.csv", three)
