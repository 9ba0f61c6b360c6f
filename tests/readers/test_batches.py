"""Lists of batches and of rows in pickles, as loops over a model's outputs leave them."""

import pickle
from typing import Any

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, Upload, read
from dashboard.readers.pickles.nodes import text
from tests.readers.files import LABELS, LOGITS, PROBABILITIES, K, N

PARTS = [slice(k, k + 16) for k in range(0, N, 16)]
NAMES = ["cat", "dog", "fox", "owl"]


def opened(value: Any, **choices: Any) -> Upload:
    return read("a.pkl", pickle.dumps(value), **choices)


def is_right(upload: Upload, table: Any = LOGITS) -> bool:
    rows = upload.rows
    assert isinstance(rows, LogitSet)
    values = rows.logits if table is LOGITS else rows.probabilities
    return bool(np.allclose(values, table, atol=1e-6) and (rows.labels == LABELS).all())


@pytest.mark.parametrize(
    "value",
    [
        [{"logits": LOGITS[p], "labels": LABELS[p]} for p in PARTS],
        [[{"logits": LOGITS[p], "labels": LABELS[p], "loss": 0.5} for p in PARTS]],
        [(LOGITS[p], LABELS[p]) for p in PARTS],
        [[LABELS[p], LOGITS[p]] for p in PARTS],
        [[(LOGITS[p], LABELS[p]) for p in PARTS]],
        {"logits": [LOGITS[p] for p in PARTS], "labels": [LABELS[p] for p in PARTS]},
        {"out": {"preds": [LOGITS[p] for p in PARTS], "target": [LABELS[p] for p in PARTS]}},
        [{"logits": LOGITS[p].tolist(), "labels": LABELS[p].tolist()} for p in PARTS],
    ],
)
def test_batches(value: Any) -> None:
    upload = opened(value)
    assert is_right(upload)
    assert "3 batches were put together, 40 rows in all." in upload.found


def test_two_batches_may_be_two_sets() -> None:
    halves = [(LOGITS[:20], LABELS[:20]), (LOGITS[20:], LABELS[20:])]
    listed, paired = opened(halves), opened(tuple(halves))
    assert listed.calibration is not None
    assert "if they are two batches of one set, put them together" in listed.doubts[0]
    assert listed.doubts[1:] == paired.doubts


@pytest.mark.parametrize(
    "value",
    [
        [{"logits": LOGITS[i], "label": LABELS[i]} for i in range(N)],
        [{"logits": LOGITS[i].tolist(), "label": int(LABELS[i])} for i in range(N)],
        [{"logits": LOGITS[[i]], "label": np.array([LABELS[i]])} for i in range(N)],
        [{"logits": LOGITS[i], "label": [int(LABELS[i])], "tokens": [1] * i} for i in range(N)],
        [{"logits": LOGITS[i], "label": int(LABELS[i]), "loss": None} for i in range(N)],
        [(LOGITS[i], int(LABELS[i])) for i in range(N)],
        [(np.array(LABELS[i]), LOGITS[[i]]) for i in range(N)],
        {f"img{i}": {"logits": LOGITS[i], "label": int(LABELS[i])} for i in range(N)},
        {i: {"logits": LOGITS[i], "label": int(LABELS[i])} for i in range(N)},
        {"logits": list(LOGITS), "labels": [np.array(label) for label in LABELS]},
        {"logits": [row[np.newaxis] for row in LOGITS], "labels": LABELS},
        [{"logits": LOGITS}, {"labels": LABELS}][:1] and [{"logits": LOGITS, "labels": LABELS}],
    ],
)
def test_rows(value: Any) -> None:
    assert is_right(opened(value))


def test_labels_that_are_text() -> None:
    texts = [NAMES[label] for label in LABELS]
    rows = [{"logits": LOGITS[i], "label": texts[i], "site": "ab"[i % 2]} for i in range(N)]
    for value in (rows, [row | {"label": [row["label"]]} for row in rows]):
        upload = opened(value, class_names=tuple(NAMES))
        assert is_right(upload)
        assert [column.name for column in upload.contents.sets["rows"].columns] == ["site"]
    pairs = [(LOGITS[i], texts[i]) for i in range(N)]
    with pytest.raises(FileError, match="another layout: a list of 40, the first of them a tuple"):
        opened(pairs)
    batches = [(LOGITS[p], texts[p]) for p in PARTS]
    assert is_right(opened(batches, class_names=tuple(NAMES)))
    assert is_right(opened((LOGITS, texts), class_names=tuple(NAMES)))


def test_scores_of_one_class() -> None:
    score, hit = PROBABILITIES[:, 0], (LABELS == 0).astype(int)
    expected = np.column_stack([1 - score, score])
    uneven = [slice(0, 25), slice(25, 33), slice(33, N)]
    even = [slice(k, k + 10) for k in range(0, N, 10)]
    for parts in (uneven, even):
        for value in (
            [{"scores": score[p], "label": hit[p]} for p in parts],
            [(score[p], hit[p]) for p in parts],
            [(hit[p], score[p]) for p in parts],
            [{"probs": score[p][:, np.newaxis], "label": hit[p][:, np.newaxis]} for p in parts],
        ):
            rows = opened(value).rows
            assert isinstance(rows, LogitSet)
            np.testing.assert_allclose(rows.probabilities, expected, atol=1e-12)
            assert (rows.labels == hit).all()
    lists = {"scores": [score[p] for p in uneven], "label": [hit[p] for p in uneven]}
    assert isinstance(opened(lists).rows, LogitSet)


def test_lists_that_are_no_batches() -> None:
    value = {"logits": LOGITS, "labels": LABELS, "weight": [0.5] * N, "tags": [("a",)], "none": []}
    upload = opened(value)
    assert is_right(upload)
    assert [column.name for column in upload.contents.sets["rows"].columns] == ["weight"]
    texts = [{"scores": PROBABILITIES[p, 0], "label": ["no", "yes"] * 8} for p in PARTS[:2]]
    with pytest.raises(FileError, match="two batches, or a calibration"):
        opened(texts)


def test_two_sets_of_batches_by_name() -> None:
    value = {
        "val_logits": [LOGITS[p] for p in PARTS[:2]],
        "val_labels": [LABELS[p] for p in PARTS[:2]],
        "test_logits": [LOGITS[p] for p in PARTS],
        "test_labels": [LABELS[p] for p in PARTS],
    }
    upload = opened(value)
    assert isinstance(upload.calibration, LogitSet)
    assert isinstance(upload.test, LogitSet)
    assert (upload.calibration.n_samples, upload.test.n_samples) == (32, 40)


ONE_HOT = np.eye(K)[LABELS]
TWICE = b"\x80\x02](}(U\x01aK\x01U\x01aK\x02u}(U\x01aK\x01U\x01aK\x02ue."


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([{"loss": LOGITS[p]} for p in PARTS], 'a dict of 1 .*"loss".*: no name of values'),
        ([{"logits": LOGITS, "labels": LABELS}] * 2, "two batches, or a calibration and a test"),
        ([{"logits": LOGITS}, {"labels": LABELS}], "without the same keys in each"),
        ([{}, {}], "without the same keys"),
        ([{1: LOGITS}, {1: LOGITS}], "without the same keys"),
        ([{"x": LOGITS[i], "y_cls": ONE_HOT[i]} for i in range(N)], "neither batches nor rows"),
        (
            [{"probs": PROBABILITIES[i], "label": ONE_HOT[i]} for i in range(N)],
            "neither batches nor rows",
        ),
        ([(PROBABILITIES[i], ONE_HOT[i]) for i in range(N)], "another layout: a list of 40"),
        ([(ONE_HOT[i].astype(int), PROBABILITIES[i]) for i in range(N)], "another layout"),
        ([(LOGITS[p], LABELS[p], 0.1) for p in PARTS], "another layout: .* a tuple of 3"),
        ([(LOGITS[p], LABELS[p][1:]) for p in PARTS], "another layout"),
        (
            [{"probs": PROBABILITIES[i, : 2 + i % 2], "label": 1} for i in range(N)],
            '"probs": found values of several kinds or lengths, the first an array of shape',
        ),
        ([{"label": "x" * 300, "p": 0.5}] * 3, '"label": found values of several kinds'),
        ([{"probs": ["a", "b"], "label": 1}] * 3, '"probs": found values of several kinds'),
        ({"x" * 300: LOGITS}, "not a short text"),
        ({"logits": [np.ones((10**6, 2), "i1"), np.ones((9, 2))]}, "types float64 and int8"),
        (None, "another layout: something that is no array"),
        ("text", "another layout: a text"),
        ([[[]]], "an empty list"),
        ([[[1.0, 2.0]]], "another layout: a list of 1, the first of them a list of 1, the first"),
    ],
)
def test_refused(value: Any, message: str) -> None:
    with pytest.raises(FileError, match=message):
        opened(value)


def test_a_key_twice_is_refused() -> None:
    with pytest.raises(FileError, match="without the same keys"):
        read("a.pkl", TWICE)


def test_whole_numbers_beyond_the_signed_ones() -> None:
    large = np.uint64(2**64 - 1)
    for labels in ([large, 1, 2], [large, -1, 2]):
        with pytest.raises(FileError, match=r"out of range|negative"):
            opened({"logits": np.eye(3), "labels": labels})


@pytest.mark.parametrize(
    "value",
    [
        {"label": [b"x" * 257] * 3},
        {"logits": LOGITS, "labels": LABELS, "classes": [b"x" * 257] * K},
        {"logits": LOGITS, "labels": LABELS, "v": {b"x" * 257: 1}},
        [{b"x" * 257: 1, "label": 1}] * 3,
        b"x" * 257,
        {b"x" * 257: 1},
    ],
)
def test_long_texts_are_never_decoded(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def text_of(node: Any) -> str | None:
        assert not isinstance(node, bytes) or len(node) < 257
        return text(node)

    monkeypatch.setattr("dashboard.readers.pickles.arrays.text", text_of)
    with pytest.raises(FileError):
        opened(value)


def test_a_row_may_be_the_same_object_many_times() -> None:
    row, other = [0.5, 0.25, 0.25], [0.25, 0.5, 0.25]
    upload = opened({"probs": [row, row, other], "labels": [0, 0, 1]})
    assert isinstance(upload.rows, LogitSet)
    assert upload.rows.probabilities.tolist() == [row, row, other]


def test_too_many_references_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.readers.pickles.batches._MAX_CELLS", 100)
    with pytest.raises(FileError, match="more than 100 keys and values"):
        opened([{"label": 1, "score": 0.5}] * 26)


EPOCHS = [{"epoch": e, "logits": LOGITS * (e + 1), "labels": LABELS} for e in range(4)]


@pytest.mark.parametrize(
    "value",
    [
        EPOCHS,
        [(LOGITS * s, LABELS) for s in (1, 0.9, 0.8)],
        [(ONE_HOT, LOGITS * s) for s in (1, 0.9, 0.8)],
        {"logits": [LOGITS, LOGITS * 2], "labels": [LABELS, LABELS]},
    ],
)
def test_several_models_of_the_same_rows(value: Any) -> None:
    with pytest.raises(FileError, match="with the same 40 labels, whose scores go together"):
        opened(value)


def test_batches_of_other_rows_with_the_same_labels() -> None:
    order = np.argsort(LABELS, kind="stable")
    table = np.random.default_rng(5).normal(size=(3, N, K))
    upload = opened([(part, LABELS[order]) for part in table])
    assert isinstance(upload.rows, LogitSet)
    assert upload.rows.n_samples == 3 * N


@pytest.mark.parametrize("kind", [list, tuple])
def test_three_parts_may_be_three_sets(kind: Any) -> None:
    cuts = [slice(0, 10), slice(10, 16), slice(16, N)]
    for value in (
        kind((LOGITS[p], LABELS[p]) for p in cuts),
        [{"logits": LOGITS[p], "labels": LABELS[p]} for p in cuts],
        {"logits": [LOGITS[p] for p in cuts], "labels": [LABELS[p] for p in cuts]},
    ):
        upload = opened(value)
        assert is_right(upload)
        assert "A list of 3 parts (10, 6 and 24 rows) was taken for batches" in upload.doubts[0]
    thirds = [slice(k, k + 13) for k in (0, 13, 26)]
    assert "A list of 3 parts" in opened([(LOGITS[p], LABELS[p]) for p in thirds]).doubts[0]
    grown = [slice(0, 8), slice(8, 16), slice(16, 24), slice(24, N)]
    assert "A list of 4 parts" in opened([(LOGITS[p], LABELS[p]) for p in grown]).doubts[0]
    even = [slice(k, k + 9) for k in range(0, N, 9)]
    assert "A list of" not in str(opened([(LOGITS[p], LABELS[p]) for p in even]).doubts)


@pytest.mark.parametrize("texts", [("train", "val", "test"), ("Test", "Train", "Validation")])
def test_parts_with_names_are_sets(texts: tuple[str, ...]) -> None:
    cuts = [slice(0, 10), slice(10, 16), slice(16, N)]
    parts = [
        {"logits": LOGITS[p], "labels": LABELS[p], "split": t, "loss": 0.5}
        for p, t in zip(cuts, texts, strict=True)
    ]
    upload = opened(parts)
    places = [t.lower()[:3] for t in texts]
    for rows, name in ((upload.calibration, "val"), (upload.test, "tes")):
        assert isinstance(rows, LogitSet)
        np.testing.assert_array_equal(rows.labels, LABELS[cuts[places.index(name)]])
        np.testing.assert_array_equal(rows.logits, LOGITS[cuts[places.index(name)]])
    assert upload.found[0].startswith('Key "split" tells the sets apart: ')
    assert "rain was left out." in upload.found[0]
    pair = [part for part in parts if part["split"].lower() != "train"]
    assert opened(pair).calibration is not None
