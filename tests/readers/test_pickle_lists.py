"""Lists of batches and of rows in pickles, as loops over a model's outputs leave them."""

import pickle
from typing import Any

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, Question, Upload, read
from tests.readers.files import LABELS, LOGITS, PROBABILITIES, K, N, logit_set, same, same_event

PARTS = [slice(k, k + 16) for k in range(0, N, 16)]
CUTS = [slice(0, 10), slice(10, 16), slice(16, N)]
NAMES = ("cat", "dog", "fox", "owl")
TEXTS = [NAMES[label] for label in LABELS]
ONE_HOT = np.eye(K)[LABELS]


def opened(value: Any, **choices: Any) -> Upload:
    return read("a.pkl", pickle.dumps(value), **choices)


@pytest.mark.parametrize(
    "value",
    [
        [[{"logits": LOGITS[p], "labels": LABELS[p], "loss": 0.5} for p in PARTS]],
        [[(LOGITS[p], LABELS[p]) for p in PARTS]],
        {"out": {"preds": [LOGITS[p] for p in PARTS], "target": [LABELS[p] for p in PARTS]}},
        [{"logits": LOGITS[[i]], "label": np.array([LABELS[i]])} for i in range(N)],
        [{"logits": LOGITS[i], "label": [int(LABELS[i])], "tokens": [1] * i} for i in range(N)],
        [{"logits": LOGITS[i], "label": int(LABELS[i]), "loss": None} for i in range(N)],
        {"logits": list(LOGITS), "labels": [np.array(label) for label in LABELS]},
        {"logits": [row[np.newaxis] for row in LOGITS], "labels": LABELS},
        [{"logits": LOGITS, "labels": LABELS}],
        [{"logits": LOGITS[i], "label": TEXTS[i]} for i in range(N)],
        [(LOGITS[i], TEXTS[i]) for i in range(N)],
        [[LABELS[p], LOGITS[p]] for p in PARTS],
        [(np.array(LABELS[i]), LOGITS[[i]]) for i in range(N)],
        [(LOGITS[p], TEXTS[p]) for p in PARTS],
        (LOGITS, TEXTS),
    ],
)
def test_one_set(value: Any) -> None:
    rows = opened(value, class_names=NAMES).rows
    same(rows, LOGITS, LABELS)


@pytest.mark.parametrize("size", [10, 16])
def test_scores_of_one_class(size: int) -> None:
    score, hit = PROBABILITIES[:, 0], (LABELS == 0).astype(int)
    parts = [slice(k, k + size) for k in range(0, N, size)]
    for value in (
        [{"scores": score[p], "label": hit[p]} for p in parts],
        [(score[p], hit[p]) for p in parts],
        [{"probs": score[p][:, np.newaxis], "label": hit[p][:, np.newaxis]} for p in parts],
    ):
        rows = opened(value).rows
        same_event(rows, score, hit)


def test_two_sets_of_batches_by_name() -> None:
    value = {
        f"{of}_{what}": [array[p] for p in PARTS[: 2 + (of == "test")]]
        for of in ("val", "test")
        for what, array in (("logits", LOGITS), ("labels", LABELS))
    }
    upload = opened(value)
    assert (logit_set(upload.calibration).n_samples, logit_set(upload.test).n_samples) == (32, 40)


@pytest.mark.parametrize("texts", [("train", "val", "test"), ("Test", "Train", "Validation")])
def test_parts_with_names_are_sets(texts: tuple[str, ...]) -> None:
    parts = [
        {"logits": LOGITS[p], "labels": LABELS[p], "split": text, "loss": 0.5}
        for p, text in zip(CUTS, texts, strict=True)
    ]
    upload = opened(parts)
    places = [text.lower()[:3] for text in texts]
    for rows, name in ((upload.calibration, "val"), (upload.test, "tes")):
        assert isinstance(rows, LogitSet)
        np.testing.assert_array_equal(rows.labels, LABELS[CUTS[places.index(name)]])
    assert any('Column "split"' in sentence for sentence in upload.notes)
    assert not any("batches of one set" in sentence for sentence in upload.doubts)


def test_lists_that_are_no_batches_are_left_out() -> None:
    more = {"weight": [0.5] * N, "tags": [["a"], ["a", "b"]] * (N // 2), "none": [], "epoch": 3}
    upload = opened({"logits": LOGITS, "labels": LABELS, "class_names": [1.5, None]} | more)
    assert isinstance(upload.rows, LogitSet)
    assert [column.name for column in upload.contents.sets["rows"].columns] == ["weight"]
    assert "Arrays left out: class_names, tags, none, epoch." in upload.notes
    shorter = opened({"logits": LOGITS, "labels": LABELS, "class_names": [*"abcde"]})
    assert "Arrays left out: class_names." in shorter.notes


SAME = "with the same 40 labels: several models"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([{}, {}], "without the same keys"),
        ([{1: LOGITS}, {1: LOGITS}], "without the same keys"),
        ([{"label": 1, "score": 0.5}] * 2, "two batches, or a calibration"),
        ([(LOGITS[p], LABELS[p], 0.1) for p in PARTS], "part 0: a tuple of 3"),
        ([(LOGITS[p], LABELS[p][1:]) for p in PARTS], "neither batches nor rows"),
        ([{"probs": LOGITS[i, : 2 + i % 2], "label": 1} for i in range(N)], '"probs".* unequal'),
        ([{"label": "x" * 300, "p": 0.5}] * 3, '"label".* 3 texts of up to 300 characters'),
        ([{"probs": ["a", "b"], "label": 1}] * 3, '"probs": texts'),
        ({"x" * 300: LOGITS}, "not a short text"),
        ("text", "another layout: a text"),
        ([[[]]], "another layout: .* a list of 0"),
        (([[1.0, 2.0]] * 9 + [[]], [0, 1] * 5), "part 0: a list of 0"),
        (([[1.0, "2"]] * 10, [0, 1] * 5), "part 0: .* of several kinds"),
        (([[1.0], []], [0, 1]), "part 0: a list of 0"),
        ({"logits": np.eye(3), "labels": [np.uint64(2**64 - 1), 1, 2]}, "Expected class numbers"),
        ([{"epoch": e, "logits": LOGITS * (e + 1), "labels": LABELS} for e in range(4)], SAME),
        ([(ONE_HOT, LOGITS * s) for s in (1, 0.9, 0.8)], SAME),
        ({"logits": [LOGITS, LOGITS * 2], "labels": [LABELS, LABELS]}, SAME),
    ],
)
def test_refused(value: Any, message: str) -> None:
    with pytest.raises(FileError, match=message) as caught:
        opened(value)
    assert not isinstance(caught.value, Question)
