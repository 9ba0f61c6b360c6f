"""Top-1 tables whose true and predicted class numbers may count from 0 or from 1."""

import json
from typing import Literal

import numpy as np
import pytest

from calibcore.data import EventScores
from dashboard.readers import FileError, Options, Upload, combine, parse, read, understand
from dashboard.readers.apart import parse_apart
from dashboard.readers.contents import RawEvent
from tests.readers.files import Array

_RNG = np.random.default_rng(5)
N, K = 300, 4
TRUTH = np.concatenate([np.arange(K), _RNG.integers(0, K, N - K)])
PREDICTED = np.where(_RNG.uniform(size=N) < 0.6, TRUTH, _RNG.integers(0, K, N))
SCORES = _RNG.uniform(0.3, 1, N).round(6)
HITS = TRUTH == PREDICTED


def table(truth: Array, predicted: Array, heads: str = "true_label,pred_label,confidence") -> bytes:
    scores = SCORES[: len(truth)]
    rows = (f"{t},{p},{s}" for t, p, s in zip(truth, predicted, scores, strict=True))
    return "\n".join([heads, *rows]).encode()


def hits(upload: Upload) -> Array:
    assert isinstance(upload.rows, EventScores)
    return upload.rows.hits


def test_labels_from_1_beside_predictions_from_0() -> None:
    upload = read("a.csv", table(TRUTH + 1, PREDICTED))
    np.testing.assert_array_equal(hits(upload), HITS)
    (said,) = upload.repairs
    shares = f"{100 * HITS.mean():.1f} % of the rows, instead of"
    assert said.startswith("True labels from 1 to 4 were shifted to 0 to 3 (300 labels)")
    assert f"agree in {shares} {100 * (TRUTH + 1 == PREDICTED).mean():.1f} %." in said


def test_predictions_from_1_beside_labels_from_0() -> None:
    upload = read("a.csv", table(TRUTH, PREDICTED + 1))
    np.testing.assert_array_equal(hits(upload), HITS)
    assert upload.repairs[0].startswith("Predicted labels from 1 to 4 were shifted to 0 to 3")


def test_few_labels_from_1_are_doubted_and_not_shifted() -> None:
    right = np.flatnonzero(HITS)
    few = np.array([right[TRUTH[right] == k][0] for k in (0, 1, 2, 3)])
    upload = read("a.csv", table(TRUTH[few] + 1, PREDICTED[few]))
    assert upload.repairs == ()
    assert any("count from 1" in said for said in upload.doubts)
    mended = read("a.csv", table(TRUTH[few] + 1, PREDICTED[few]), first_label=1)
    assert hits(mended).all()


def test_names_with_numbers_beside_labels_from_1() -> None:
    upload = read("a.csv", table(TRUTH + 1, np.array([f"LABEL_{k}" for k in PREDICTED])))
    np.testing.assert_array_equal(hits(upload), HITS)
    assert "were shifted to 0 to 3" in upload.repairs[0]


@pytest.mark.parametrize("first", [0, 1])
def test_labels_that_count_alike_are_compared_as_they_stand(first: Literal[0, 1]) -> None:
    choices: tuple[Literal["auto", 0, 1], ...] = ("auto", first)
    for told in choices:
        upload = read("a.csv", table(TRUTH + first, PREDICTED + first), first_label=told)
        np.testing.assert_array_equal(hits(upload), HITS)
        assert upload.repairs == ()
        assert not [said for said in upload.doubts if "count from" in said]


def test_the_users_word_on_the_first_label_rules() -> None:
    data = table(TRUTH + 1, PREDICTED)
    as_it_stands = read("a.csv", data, first_label=0)
    np.testing.assert_array_equal(hits(as_it_stands), TRUTH + 1 == PREDICTED)
    assert as_it_stands.repairs == ()
    told = read("a.csv", data, first_label=1)
    np.testing.assert_array_equal(hits(told), HITS)
    zeros = rf"numbers below 1 in {(TRUTH == 0).sum()} rows .*labels from 1"
    with pytest.raises(FileError, match=zeros):
        read("a.csv", table(TRUTH, PREDICTED), first_label=1)


def test_labels_that_never_agree_either_way_are_doubted() -> None:
    upload = read("a.csv", table(TRUTH + 1, np.roll(PREDICTED, 7)))
    np.testing.assert_array_equal(hits(upload), np.roll(PREDICTED, 7) == TRUTH + 1)
    (said,) = [said for said in upload.doubts if "count from 1" in said]
    assert said.startswith("True labels are from 1 to 4 and predicted ones from 0 to 3;")


def test_a_class_that_is_never_true_is_no_reason_to_shift() -> None:
    kept = TRUTH > 0
    upload = read("a.csv", table(np.where(kept, TRUTH, 1), PREDICTED))
    np.testing.assert_array_equal(hits(upload), np.where(kept, TRUTH, 1) == PREDICTED)
    assert upload.repairs == ()
    assert not [said for said in upload.doubts if "count from" in said]


def test_numbers_without_a_0_that_agree_only_one_apart_are_doubted() -> None:
    predicted = np.arange(1, N + 1) % 40 + 1
    for truth in (predicted + 1, predicted - 1 + 2 * (predicted == 1)):
        upload = read("a.csv", table(truth, predicted))
        np.testing.assert_array_equal(hits(upload), truth == predicted)
        (said,) = [said for said in upload.doubts if "count from 1" in said]
        assert "they agree in 0.0 % of the rows" in said
        assert read("a.csv", table(truth, predicted), first_label=0).doubts != upload.doubts
    alike = read("a.csv", table(predicted, predicted))
    assert not [said for said in alike.doubts if "count from 1" in said]


def test_two_sets_are_judged_together() -> None:
    parts = [read(f"{name}.csv", table(TRUTH + 1, PREDICTED)) for name in ("val", "test")]
    both = combine(parts)
    for part in both.sets.values():
        assert isinstance(part, EventScores)
        np.testing.assert_array_equal(part.hits, HITS)
    assert "(600 labels)" in both.repairs[0]


def test_lists_of_likely_classes_count_from_0_too() -> None:
    second = (PREDICTED + 1) % K
    records = [
        {
            "label": int(t) + 1,
            "predictions": [
                {"label": str(p), "score": float(s)}, {"label": str(q), "score": float(s) / 9},
            ],
        }
        for t, p, q, s in zip(TRUTH, PREDICTED, second, SCORES, strict=True)
    ]  # fmt: skip
    upload = read("a.json", json.dumps(records).encode())
    np.testing.assert_array_equal(hits(upload), HITS)
    assert "shifted" in upload.repairs[0]
    assert any("each row lists 2. Only the first of each list is used" in s for s in upload.missing)


def test_the_numbers_survive_a_process_of_their_own() -> None:
    data = table(TRUTH + 1, PREDICTED)
    contents = parse_apart("a.csv", data)
    raw = contents.sets["rows"]
    assert isinstance(raw, RawEvent)
    assert raw.numbers is not None
    here = parse("a.csv", data, Options()).sets["rows"]
    assert isinstance(here, RawEvent)
    assert here.numbers is not None
    np.testing.assert_array_equal(raw.numbers, here.numbers)
    np.testing.assert_array_equal(hits(understand("a.csv", "", Options(), contents)), HITS)
