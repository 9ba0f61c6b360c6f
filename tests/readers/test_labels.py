"""Labels: how they are written, which classes they name, and where they count from."""

import json
from typing import Any

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, Question, Upload, read
from dashboard.readers.refusal import visible
from tests.readers.files import (
    LABELS,
    LOGITS,
    PROBABILITIES,
    Array,
    K,
    N,
    combined,
    event_scores,
    logit_set,
    npz,
)

NAMES = ["cat", "dog", "fox", "hen"]
BEST = PROBABILITIES.argmax(axis=1)


def table(heads: list[str], *columns: Any) -> bytes:
    cells = [[str(cell) for cell in column] for column in columns]
    return "\n".join([",".join(heads), *map(",".join, zip(*cells, strict=True))]).encode()


def are(upload: Upload) -> LogitSet:
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities, PROBABILITIES, atol=1e-6)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    return upload.rows


def hits(upload: Upload) -> Array:
    return event_scores(upload.rows).hits


@pytest.mark.parametrize(
    ("labels", "repair"),
    [
        (LABELS + 1, "Labels counted from 1 to 4 were shifted to 0 to 3 (40 labels)."),
        (np.eye(4)[LABELS], "One-hot labels were turned into class numbers (40 rows)."),
        (np.eye(4, dtype=bool)[LABELS], "One-hot labels were turned into class numbers (40 rows)."),
        (LABELS[:, np.newaxis], None),
        (LABELS.astype(np.uint64), None),
        (LABELS.astype(float), None),
        (np.array(NAMES)[LABELS], None),
    ],
)
def test_labels_are_mended(labels: Array, repair: str | None) -> None:
    upload = read("a.npz", npz(probs=PROBABILITIES, labels=labels, class_names=np.array(NAMES)))
    assert are(upload).class_names == tuple(NAMES)
    assert upload.repairs == ((repair,) if repair else ())


@pytest.mark.parametrize(
    ("place", "wrong", "message"),
    [
        (0, -1, r'labels 1 of no class \("-1"\); in 1 row \(row 1\).*Leave'),
        (2, 7, r'labels 1 of no class \("7"\); in 1 row \(row 3\).*Leave'),
        (2, np.inf, r"labels 1 \(infinite\); in 1 row \(row 3\).*Leave"),
    ],
)
def test_labels_out_of_range_are_asked_about(place: int, wrong: float, message: str) -> None:
    labels = LABELS.astype(float)
    labels[place] = wrong
    with pytest.raises(FileError, match=message):
        read("a.npz", npz(logits=LOGITS, labels=labels))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["cat", "dog", "cow", "hen"], '"cow", which no class is called, in 9 rows'),
        (["ant", "ant", "cow", "doe"], '"ant" and "cow" and 1 other, which no'),
        (["CAT", "DOG", "FOX", "HEN"], '"CAT" and "DOG" and 2 others, which no'),
    ],
)
def test_labels_that_name_no_class_are_refused(names: list[str], message: str) -> None:
    # Of two classes that differ in case alone none is guessed.
    heads = ["cat", "Cat" if names[0] == "CAT" else "dog", "fox", "hen", "label"]
    with pytest.raises(FileError, match=message):
        read("a.csv", table(heads, *PROBABILITIES.T, np.array(names)[LABELS]))


INITIALS = ["H", "A", "D", "V"]


def sports(names: list[str], labels: Array = LABELS) -> bytes:
    heads = ["p_home", "p_away", "p_draw", "p_void", "label"]
    return table(heads, *PROBABILITIES.T, np.array(names)[labels])


def test_labels_that_name_no_class_are_asked_about_in_the_order_that_fits() -> None:
    with pytest.raises(
        Question, match="which no class is called; the columns are p_home, p_"
    ) as of:
        read("a.csv", sports(INITIALS))
    first, sorted_names = of.value.answers
    assert first.change == {"class_names": tuple(INITIALS)}
    assert f"right in {np.mean(BEST == LABELS):.1%} of" in first.why
    assert sorted_names.change == {"class_names": ("A", "D", "H", "V")}
    order = np.argsort(np.argsort(INITIALS))
    assert f"right in {np.mean(order[LABELS] == BEST):.1%} of" in sorted_names.why
    upload = read("a.csv", sports(INITIALS), **first.change)
    assert are(upload).class_names == tuple(INITIALS)
    assert not any("in this order" in doubt for doubt in upload.doubts)


def test_class_names_that_fit_far_better_in_another_order_are_doubted() -> None:
    given = ("A", "D", "H", "V")
    upload = read("a.csv", sports(INITIALS), class_names=given)
    right = np.mean(logit_set(upload.rows).labels == BEST), np.mean(BEST == LABELS)
    expected = (
        f"The likeliest class is right in {right[0]:.1%} of the rows if the columns are"
        f" A, D, H, V in this order, as you said, but in {right[1]:.1%} if they are H, A, D, V."
    )
    assert expected in upload.doubts
    # Labels that say nothing fit no order.
    drawn = np.random.default_rng(3).integers(0, 4, N)
    random = read("a.csv", sports(INITIALS, drawn), class_names=given)
    assert not any("in this order" in doubt for doubt in random.doubts)
    # Names that are only shown are in no order of the labels.
    names = ["home", "away", "draw", "void"]
    shown = read("a.csv", sports(names), class_names=tuple(names))
    assert not any("in this order" in doubt for doubt in shown.doubts)


def test_labels_in_other_letters_than_the_classes() -> None:
    texts = np.array(["Cat", "DOG", "fox", "Hen"])
    heads = [*NAMES, "prediction", "label"]
    upload = read("a.csv", table(heads, *PROBABILITIES.T, texts[BEST], texts[LABELS]))
    are(upload)
    (text,) = upload.repairs
    count = int((LABELS != 2).sum())
    assert text.startswith('Labels such as "Cat" were matched to classes such as "cat", from which')
    assert f"differ in capital letters or blanks ({count} labels)" in text
    assert not any("The prediction in column" in text for text in upload.doubts)


HOT = [[f"is_{name}" for name in NAMES], [f"{name}_true" for name in NAMES]]
HOT += [[f"label_{name}" for name in NAMES], [f"true_{name}" for name in NAMES]]


@pytest.mark.parametrize("heads", [NAMES, [f"prob_{name}" for name in NAMES]])
@pytest.mark.parametrize("hot", HOT)
def test_one_hot_columns(heads: list[str], hot: list[str]) -> None:
    ones = np.eye(K, dtype=int)[LABELS].T
    for data in (
        table([*heads, *hot], *PROBABILITIES.T, *ones),
        table([*hot, *heads], *ones, *PROBABILITIES.T),
    ):
        upload = read("a.csv", data)
        are(upload)
        assert upload.repairs == ("One-hot labels were turned into class numbers (40 rows).",)
        assert not any("perhaps" in text or "decisions" in text for text in upload.doubts)


@pytest.mark.parametrize("before", ["is_", ""])
@pytest.mark.parametrize("words", [("0", "1"), ("0.0", "1.0"), ("False", "True"), ("no", "yes")])
def test_one_hot_columns_in_words(words: tuple[str, str], before: str) -> None:
    hot = np.array(words)[np.eye(K, dtype=int)[LABELS]].T
    heads = [*(f"prob_{name}" for name in NAMES), *(f"{before}{name}" for name in NAMES), "smoker"]
    smokers = np.array(["yes", "no"])[np.arange(N) % 2]
    upload = read("a.csv", table(heads, *PROBABILITIES.T, *hot, smokers))
    are(upload)
    assert upload.repairs == ("One-hot labels were turned into class numbers (40 rows).",)


@pytest.mark.parametrize("word", ["high", "n/a", ""])
@pytest.mark.parametrize("heads", [NAMES, [f"class_{k}" for k in range(K)]])
def test_a_class_without_numbers_is_named(heads: list[str], word: str) -> None:
    names = [f"p_{head}" for head in heads]
    labels = np.array(heads)[LABELS] if heads == NAMES else LABELS
    data = table([*names, "label"], *PROBABILITIES.T[:-1], [word] * N, labels)
    with pytest.raises(FileError, match=f'column "{names[-1]}": .*as in column "{names[0]}"'):
        read("a.csv", data)
    data = table([*names, "label"], *PROBABILITIES.T[:-1], [word] * N, LABELS % (K - 1))
    if heads != NAMES:  # numbers call for a column of values, whether a row is of it or not
        upload = read("a.csv", data, roles=((names[-1], "left out"),), values="logits")
        assert upload.class_names == ("0", "1", "2")


@pytest.mark.parametrize("before", ["rf_", "human_", "is_"])
@pytest.mark.parametrize("head", ["diagnosis", "outcome", "truth_name"])
def test_a_label_stands_before_columns_of_0_and_1(before: str, head: str) -> None:
    other = np.roll(np.eye(K, dtype=int)[LABELS], 1, axis=0).T
    heads = [*NAMES, *(f"{before}{name}" for name in NAMES), head]
    for true in (np.array(NAMES)[LABELS], LABELS):
        upload = read("a.csv", table(heads, *PROBABILITIES.T, *other, true))
        assert (are(upload).class_names, upload.repairs) == (tuple(NAMES), ())
    decided = [f"predicted_{name}" for name in NAMES]
    assert read("a.csv", table([*NAMES, *decided], *PROBABILITIES.T, *other)).piece is not None


@pytest.mark.parametrize("frame", ["cls_{}", "{} star", "group_{}_x"])
@pytest.mark.parametrize(("first", "counted"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_numbered_classes_in_another_order(frame: str, first: int, counted: int) -> None:
    order = np.array([2, 0, 3, 1])
    heads = [*(frame.format(k + first) for k in order), "label"]
    upload = read("a.csv", table(heads, *PROBABILITIES.T[order], LABELS + counted))
    assert upload.class_names == tuple(str(k + first) for k in order)
    np.testing.assert_array_equal(order[logit_set(upload.rows).labels], LABELS)
    (text,) = upload.repairs
    assert text == "Labels were matched to the class names, which are numbers (40 labels)."


def test_typed_numbers_of_classes_are_followed() -> None:
    order = ("3", "1", "0", "2")
    upload = read("a.npz", npz(probs=PROBABILITIES, labels=LABELS), class_names=order)
    np.testing.assert_array_equal(np.array(order, dtype=int)[logit_set(upload.rows).labels], LABELS)


@pytest.mark.parametrize("frame", ["class_{}", "C{}", "{} stars", "{}"])
def test_places_among_classes_that_are_sorted_as_text(frame: str) -> None:
    random, names = np.random.default_rng(5), sorted(frame.format(k) for k in range(12))
    places = random.integers(0, 12, 400)
    values = random.normal(size=(400, 12)) + 2 * np.eye(12)[places]
    parts = {"logits": values.tolist(), "labels": places.tolist(), "class_names": names}
    upload = read("a.json", json.dumps(parts).encode())
    # Numbers alone are no names.
    assert upload.class_names == tuple(map(str, range(12)) if frame == "{}" else names)
    np.testing.assert_array_equal(logit_set(upload.rows).labels, places)


def test_the_first_label_is_decided_for_both_sets_together() -> None:
    values, labels = {"logits_val": LOGITS, "logits_test": LOGITS[:3]}, np.array([1, 2, 3])
    data = npz(compress=False, labels_val=LABELS + 1, labels_test=labels, **values)
    test = read("a.npz", data).test
    assert isinstance(test, LogitSet)
    assert test.labels.tolist() == [0, 1, 2]


def test_the_user_says_where_labels_count_from() -> None:
    upload = read("a.npz", npz(probs=PROBABILITIES, labels=np.maximum(LABELS, 1)), first_label=0)
    np.testing.assert_array_equal(logit_set(upload.rows).labels, np.maximum(LABELS, 1))
    with pytest.raises(FileError, match=r"labels such as 0 in .* from 1 to 4"):
        read("a.npz", npz(logits=LOGITS, labels=LABELS), first_label=1)
    upload = read("a.npz", npz(logits=LOGITS, labels=np.minimum(LABELS + 1, 3)), first_label=1)
    assert upload.repairs[0].startswith("Labels counted from 1 to 4")


_RNG = np.random.default_rng(5)
TRUTH = np.r_[np.arange(4), _RNG.integers(0, 4, 296)]
TOLD = np.where(_RNG.uniform(size=300) < 0.6, TRUTH, _RNG.integers(0, 4, 300))
SCORES = _RNG.uniform(0.3, 1, 300).round(6)


def top_1(truth: Any, told: Any, scores: Array = SCORES) -> bytes:
    return table(["true_label", "pred_label", "confidence"], truth, told, scores)


@pytest.mark.parametrize(("first", "other"), [(1, 0), (0, 1)])
def test_one_of_two_counts_from_1(first: int, other: int) -> None:
    data = top_1(TRUTH + first, TOLD + other)
    share = 100 * np.mean(TRUTH == TOLD)
    with pytest.raises(
        Question, match=f"and in {share:.1f}% if one of them counts from 1"
    ) as asked:
        read("a.csv", data)
    with pytest.raises(Question, match="counts from 1"):
        combined([("val.csv", data), ("test.csv", data)])
    yes, no = (read("a.csv", data, **answer.change) for answer in asked.value.answers)
    np.testing.assert_array_equal(hits(yes), TRUTH == TOLD)
    assert yes.repairs[0].startswith("Classes were numbered again")
    np.testing.assert_array_equal(hits(no), TRUTH + first == TOLD + other)
    assert no.repairs == ()


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("told", ["auto", 0, 1])
def test_labels_that_count_alike_are_compared_as_they_stand(first: int, told: Any) -> None:
    for truth in (TRUTH, np.maximum(TRUTH, 1)):
        upload = read("a.csv", top_1(truth + first, TOLD + first), first_label=told)
        np.testing.assert_array_equal(hits(upload), truth == TOLD)
        assert upload.repairs == ()


SPELLED = ["cat", "dog", "big fox", "caf" + chr(0xE9)]


@pytest.mark.parametrize(
    ("place", "own"),
    [
        (0, "CAT"), (0, " Cat "), (0, "c" + chr(0x200D) + "at"), (2, "big" + chr(0xA0) + "fox"),
        (2, "big  fox"), (3, "cafe" + chr(0x301)), (3, "CAF" + chr(0xC9)),
    ],
)  # fmt: skip
def test_true_labels_in_another_spelling_than_the_predicted(place: int, own: str) -> None:
    true = [own if k == place else name for k, name in enumerate(SPELLED)]
    texts = np.array(true)[LABELS], np.array(SPELLED)[BEST]
    upload = read("a.csv", top_1(*texts, PROBABILITIES.max(axis=1)))
    np.testing.assert_array_equal(hits(upload), BEST == LABELS)


@pytest.mark.parametrize("sign", [0x200D, 0x200B, 0xA0])
def test_classes_that_would_be_shown_alike_are_shown_apart(sign: int) -> None:
    names = ["big cat", "dog", "big" + chr(sign) + " cat", "hen"]
    texts = np.array(names)
    for upload in (
        read("a.csv", table([*names, "label"], *PROBABILITIES.T, texts[LABELS])),
        read("a.npz", npz(probs=PROBABILITIES, labels=LABELS, class_names=texts)),
    ):
        assert are(upload).class_names == ("big cat", "dog", f"big cat (with U+{sign:04X})", "hen")


@pytest.mark.parametrize(("other", "doubted"), [("c" + chr(0x430) + "t", True), ("owl", False)])
def test_letters_of_two_alphabets_are_doubted(other: str, *, doubted: bool) -> None:
    names = np.array(["cat", "dog", other, "hen"])
    upload = read("a.csv", table([*names, "label"], *PROBABILITIES.T, names[LABELS]))
    text = " ".join(upload.doubts)
    assert ("(with U+0430) look the same" in text) == ("look the same" in text) == doubted


def test_joiners_are_kept_where_they_shape_signs() -> None:
    for kept in ("\U0001f469\u200d\U0001f467", "\u0645\u06cc\u200c\u062e"):
        assert visible(kept) == kept
    assert visible("ca\u200dt") == "cat"
    for lost in ("\u200d\u0645", "\u0645\u200c", "\u0645\u200b\u062e", "\u0645\u200d\u200d\u062e"):
        assert visible(lost) == "".join(sign for sign in lost if sign > "\u2020" or sign < "\u2000")


def test_labels_minus_1_and_1_are_0_and_1_where_there_are_both_and_no_other() -> None:
    logits, signs = LOGITS[:, :2], np.where(LABELS > 1, 1, -1)
    upload = read("signs.npz", npz(logits=logits, labels=signs))
    assert upload.repairs == (f"Labels -1 and 1 were read as 0 and 1 ({N} labels).",)
    np.testing.assert_array_equal(logit_set(upload.rows).labels, LABELS > 1)
    for label in (0, 2):
        signs[0] = label
        with pytest.raises(FileError):
            read("signs.npz", npz(logits=logits, labels=signs))
