"""Classes that differ in capital letters, blanks or signs that nobody sees."""

import numpy as np
import pytest

from calibcore.data import EventScores, LogitSet
from dashboard.readers import Upload, read
from dashboard.readers.meaning.spelling import folded, looking_alike, quoted_apart, shown_apart
from tests.readers.files import LABELS, PROBABILITIES, K, N, npz

NAMES = ["cat", "dog", "big fox", "caf" + chr(0xE9)]
BEST = PROBABILITIES.argmax(axis=1)


def top_1(true: list[str], predicted: list[str] = NAMES) -> Upload:
    rows = [
        f"{true[label]},{predicted[best]},{score}"
        for label, best, score in zip(LABELS, BEST, PROBABILITIES.max(axis=1), strict=True)
    ]
    return read("a.csv", "\n".join(["true_label,pred_label,confidence", *rows]).encode())


@pytest.mark.parametrize(
    ("own", "shown"),
    [
        ("CAT", '"CAT"'),
        (" Cat ", '"Cat"'),
        ("c" + chr(0x200D) + "at", '"cat" (with U+200D)'),
    ],
)
def test_true_labels_in_another_spelling_than_the_predicted(own: str, shown: str) -> None:
    upload = top_1([own, *NAMES[1:]])
    assert isinstance(upload.rows, EventScores)
    np.testing.assert_array_equal(upload.rows.hits, BEST == LABELS)
    (said,) = (said for said in upload.found if "were matched" in said)
    assert said.startswith(f'Labels such as {shown} were matched to classes such as "cat", from')
    assert f"({(LABELS == 0).sum()} labels)" in said


@pytest.mark.parametrize(
    ("place", "own", "sign"),
    [(2, "big" + chr(0xA0) + "fox", "with U+00A0"), (2, "big  fox", "with other blanks"),
     (3, "cafe" + chr(0x301), "with U+0301")],
)  # fmt: skip
def test_the_difference_is_spelled_out(place: int, own: str, sign: str) -> None:
    true = [own if k == place else name for k, name in enumerate(NAMES)]
    upload = top_1(true)
    assert isinstance(upload.rows, EventScores)
    np.testing.assert_array_equal(upload.rows.hits, BEST == LABELS)
    assert any(f"({sign}) were matched" in said for said in upload.found)


def test_all_true_labels_in_capital_letters() -> None:
    upload = top_1([name.upper() for name in NAMES])
    assert isinstance(upload.rows, EventScores)
    np.testing.assert_array_equal(upload.rows.hits, BEST == LABELS)


def test_letters_of_which_some_classes_differ_by_their_case_alone() -> None:
    upload = top_1(["a", "A", "b", "B"], ["a", "a", "b", "B"])
    assert isinstance(upload.rows, EventScores)
    shown = np.array([0, 0, 2, 3])
    np.testing.assert_array_equal(upload.rows.hits, shown[BEST] == LABELS)
    assert any('Classes "A" and "a" were read as two' in said for said in upload.found)


def test_true_labels_in_two_spellings_of_one_prediction() -> None:
    upload = top_1(["cat", "Cat", "dog", "fox"], ["cat", "cat", "dog", "fox"])
    assert isinstance(upload.rows, EventScores)
    shown = np.array([0, 0, 2, 3])
    np.testing.assert_array_equal(upload.rows.hits, shown[BEST] == shown[LABELS])
    assert any(f"({(LABELS == 1).sum()} labels)" in said for said in upload.found)


def table(names: list[str], labels: list[str]) -> Upload:
    rows = [
        ",".join([*map(str, row), labels[label]])
        for row, label in zip(PROBABILITIES.tolist(), LABELS, strict=True)
    ]
    return read("a.csv", "\n".join([",".join([*names, "label"]), *rows]).encode())


@pytest.mark.parametrize("sign", [0x200D, 0x200B, 0xA0])
def test_classes_that_would_be_shown_alike_are_shown_apart(sign: int) -> None:
    names = ["big cat", "dog", "big" + chr(sign) + " cat", "hen"]
    upload = table(names, names)
    assert isinstance(upload.rows, LogitSet)
    assert upload.rows.class_names == ("big cat", "dog", f"big cat (with U+{sign:04X})", "hen")
    np.testing.assert_array_equal(upload.rows.labels, LABELS)


@pytest.mark.parametrize("other", ["c" + chr(0x430) + "t", "cat"])
def test_letters_of_two_alphabets_are_doubted(other: str) -> None:
    names = ["cat", "dog", other if other != "cat" else "owl", "hen"]
    doubts = [said for said in table(names, names).doubts if "look the same" in said]
    assert len(doubts) == (other != "cat")
    assert all("(with U+0430)" in said for said in doubts)


def test_names_of_classes_in_an_archive() -> None:
    names = np.array(["cat", "cat" + chr(0x200B), "dog", "hen"])
    upload = read("a.npz", npz(probs=PROBABILITIES, labels=LABELS, class_names=names))
    assert isinstance(upload.rows, LogitSet)
    assert upload.rows.class_names[1] == "cat (with U+200B)"


def test_nothing_is_added_to_names_that_differ() -> None:
    assert shown_apart(["a", "b"]) == ["a", "b"]
    assert shown_apart(["x" * 300, "x" * 301]) == ["x" * 199 + chr(0x2026)] * 2
    assert quoted_apart("a", "b") == '"a"'
    assert looking_alike(["m" + chr(0xB2), "m2"]) == ()
    assert folded("A" + chr(0x200D) + " b") == "a b"
    assert len({folded(name) for name in NAMES}) == K < N
