"""What stands in an archive beside the values and the labels, and tables of one column."""

import json
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, Upload, read
from dashboard.readers.refusal import Question
from tests.readers.files import LABELS, LOGITS, PROBABILITIES, K, N, logit_set, npz, same_event

NAMES = np.array(["cat", "dog", "fox", "owl"])
DAYS = np.full(N, np.datetime64("2024-01-01"))
BEST = PROBABILITIES.argmax(axis=1)
LOSSES = -np.log(PROBABILITIES[np.arange(N), LABELS])
SCORE = PROBABILITIES[:, 0]
HITS = (LABELS == 0).astype(int)


def opened(**arrays: Any) -> Upload:
    return read("a.npz", npz(**arrays))


def labels_of(upload: Upload) -> list[int]:
    return [int(label) for label in logit_set(upload.rows).labels]


@pytest.mark.parametrize(
    "beside",
    [
        np.array([{"a": 1}, [2]], dtype=object), DAYS, DAYS - DAYS, np.ones(N, dtype=complex),
        np.zeros((0, 3)), np.array("resnet50"), np.array(7), np.zeros((1, 2, 3, 4)),
        np.array([["a", "b"]]), np.array(["a" * 300]), np.zeros(N, dtype=[("a", "f4")]),
    ],
)  # fmt: skip
def test_what_is_of_no_use_is_left_out_by_name(beside: Any) -> None:
    upload = opened(logits=LOGITS, labels=LABELS, beside=beside)
    np.testing.assert_array_equal(logit_set(upload.rows).logits, LOGITS)
    assert labels_of(upload) == LABELS.tolist()
    assert "Arrays left out: beside." in upload.notes


def test_objects_are_never_unpickled(monkeypatch: pytest.MonkeyPatch) -> None:
    data = npz(logits=LOGITS, labels=LABELS, beside=np.array([{"a": 1}, [2]], dtype=object))

    def refuse(*_: object, **__: object) -> None:
        pytest.fail("an unpickler was used")

    monkeypatch.setattr(pickle, "loads", refuse)
    monkeypatch.setattr(pickle, "Unpickler", refuse)
    assert isinstance(read("a.npz", data).rows, LogitSet)


@pytest.mark.parametrize(
    ("arrays", "named"),
    [
        ({"logits": LOGITS, "labels": DAYS}, "labels"),
        ({"logits": LOGITS.astype(complex), "x": LOGITS, "labels": LABELS}, "logits"),
        ({"my_logits": LOGITS.astype(complex), "x": LOGITS, "labels": LABELS}, "my_logits"),
        ({"c": DAYS}, "c"),
    ],
)
def test_what_may_be_values_or_labels_is_wanted(arrays: Any, named: str) -> None:
    with pytest.raises(FileError, match=f'array "{named}"'):
        opened(**arrays)


def test_a_chosen_label_is_wanted() -> None:
    data = npz(logits=LOGITS, labels=LABELS, when=DAYS)
    with pytest.raises(FileError, match="dates"):
        read("a.npz", data, roles=(("when", "outcome"),))


def test_texts_are_grouping_columns_and_names_of_classes() -> None:
    files = np.array([f"image{k}.png" for k in range(N)])
    upload = opened(logits=LOGITS, labels=LABELS, site=NAMES[LABELS % 2], files=files)
    assert "site" in upload.columns["rows"]
    for name in ("class_names", "classes_"):
        upload = opened(logits=LOGITS, labels=NAMES[LABELS], **{name: NAMES})
        assert upload.class_names == tuple(NAMES)
        assert labels_of(upload) == LABELS.tolist()


LISTED = {"predictions": [[p] for p in SCORE], "labels": HITS.tolist()}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.npz", npz(y_pred=SCORE[:, np.newaxis], y_true=HITS)),
        ("a.npz", npz(y_pred=SCORE[:, np.newaxis], y_true=HITS[:, np.newaxis])),
        ("a.json", json.dumps(LISTED).encode()),
        ("a.pkl", pickle.dumps({"probs": SCORE[:, np.newaxis], "labels": HITS})),
        ("a.pkl", pickle.dumps((SCORE[:, np.newaxis], HITS))),
        ("a.pkl", pickle.dumps((HITS, SCORE[:, np.newaxis]))),
    ],
)
def test_a_table_of_one_column_is_the_score_of_class_1(name: str, data: bytes) -> None:
    rows = read(name, data, event="1").rows  # without names, the event is asked for
    same_event(rows, SCORE, HITS)


@pytest.mark.parametrize("third", [BEST, LOSSES])
def test_three_arrays_without_names_are_told_or_asked_about(third: Any) -> None:
    arrays = {"arr_0": third, "arr_1": LABELS, "arr_2": PROBABILITIES}
    if third is BEST:
        with pytest.raises(Question, match="Which array holds the labels"):
            opened(**arrays)
        upload = read("a.npz", npz(**arrays), roles=(("arr_1", "outcome"),))
    else:
        upload = opened(**arrays)
    assert labels_of(upload) == LABELS.tolist()


def test_tuples_of_three() -> None:
    measures: Mapping[str, float] = {"test_loss": 0.3, "test_runtime": 1.2}
    for third in (measures, LOSSES):
        rows = read("a.pkl", pickle.dumps((PROBABILITIES, LABELS, third)))
        assert labels_of(rows) == LABELS.tolist()
    for wrong in (BEST, PROBABILITIES, "text", LABELS[0]):
        with pytest.raises(FileError, match=r"Which array|a tuple of 3"):
            read("a.pkl", pickle.dumps((PROBABILITIES, LABELS, wrong)))


def test_labels_of_an_unknown_name_are_found_by_the_values() -> None:
    rng = np.random.default_rng(4)
    table = np.repeat(PROBABILITIES, 5, axis=0)
    labels = np.array([rng.choice(K, p=row) for row in table])
    upload = opened(probs=table, sentiment=labels, site=rng.permutation(labels))
    assert labels_of(upload) == labels.tolist()
    assert any("sentiment" in text for text in (*upload.notes, *upload.doubts))
    piece = opened(probs=table, model_pred=labels).piece
    assert piece is not None
    assert piece.labels is None
