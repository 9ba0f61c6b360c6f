"""Classes that a file gives by name: objects of values, names of classes beside arrays."""

import json
from typing import Any

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, Upload, read
from tests.readers.files import LABELS, LOGITS, PROBABILITIES, N, pickled
from tests.readers.test_parquet import parquet

WORDS = ["cat", "dog", "fox", "hen"]
TRUTH = [WORDS[k] for k in LABELS]
OBJECTS = [dict(zip(WORDS, row, strict=True)) for row in PROBABILITIES.tolist()]
LOGARITHMS = [dict(zip(WORDS, row, strict=True)) for row in np.log(PROBABILITIES).tolist()]


def same(upload: Upload, names: list[str] = WORDS) -> Upload:
    rows = upload.rows
    assert isinstance(rows, LogitSet)
    np.testing.assert_allclose(rows.probabilities, PROBABILITIES, atol=2e-4)
    np.testing.assert_array_equal(rows.labels, LABELS)
    assert [*rows.class_names] == names
    return upload


def lines(**members: list[Any]) -> bytes:
    rows = [dict(zip(members, row, strict=True)) for row in zip(*members.values(), strict=True)]
    return "\n".join(map(json.dumps, rows)).encode()


def of_lines(**members: list[Any]) -> Upload:
    return read("a.jsonl", lines(**members))


def test_categories_as_spacy_has_them() -> None:
    upload = same(of_lines(cats=OBJECTS, label=TRUTH))
    assert upload.values_kind == "probabilities"
    records = [{"cats": cats, "label": word} for cats, word in zip(OBJECTS, TRUTH, strict=True)]
    same(read("a.json", json.dumps(records).encode()))
    same(
        of_lines(cats=OBJECTS[::-1], probs=PROBABILITIES.tolist(), label=LABELS.tolist()), [*"0123"]
    )
    with pytest.raises(FileError, match='column "cats": found an object in every row'):
        of_lines(cats=OBJECTS, pred_cats=OBJECTS)
    with pytest.raises(FileError, match='column "logprobs": found an object in every row'):
        of_lines(logprobs=[{"tokens": ["a", "b"]}] * N, label=TRUTH)


@pytest.mark.parametrize("name", ["logprobs", "top_logprobs", "log_probs"])
def test_logarithms_of_probabilities(name: str) -> None:
    whole = same(of_lines(**{name: LOGARITHMS, "label": TRUTH}))
    assert "They are logarithms of probabilities" in whole.found[2]
    assert not whole.repairs
    part = [{word: value - 0.1 for word, value in row.items()} for row in LOGARITHMS]
    assert "sum to 0.905 to 0.905, they were divided by that sum (40 rows)" in " ".join(
        same(of_lines(**{name: part, "label": TRUTH})).repairs
    )
    more = [{word: value + 0.1 for word, value in row.items()} for row in LOGARITHMS]
    assert (
        "they are no natural logarithms" in same(of_lines(**{name: more, "label": TRUTH})).doubts[0]
    )
    rooted = [{word: value / 3 for word, value in row.items()} for row in LOGARITHMS]
    assert "they are no natural logarithms" in of_lines(**{name: rooted, "label": TRUTH}).doubts[0]
    assert "within 0 to 1" in " ".join(same(of_lines(**{name: OBJECTS, "label": TRUTH})).doubts)
    other = [*LOGARITHMS[:-1], {"owl": -0.1} | LOGARITHMS[-1]]
    with pytest.raises(FileError, match='row 40: found an object with a further member "owl"'):
        of_lines(**{name: other, "label": TRUTH})


def test_columns_of_objects_in_parquet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.readers.binary.parquet._BATCH_VALUES", 4 * 7)
    for name, objects in (("probabilities", OBJECTS), ("cats", OBJECTS), ("logprobs", LOGARITHMS)):
        same(read("a.parquet", parquet({name: objects, "label": TRUTH}, row_group_size=9)))
    logits = [dict(zip(WORDS, row, strict=True)) for row in LOGITS.tolist()]
    meta = [{"a": 1.0, "b": 2.0}] * N
    upload = same(read("a.parquet", parquet({"meta": meta, "logits": logits, "label": TRUTH})))
    assert upload.values_kind == "logits"
    for odd in ({"cat": 0.5, "dog": None}, None):
        with pytest.raises(FileError, match=r'column "probs_.*": found NaN, or a null .*row 3'):
            read("a.parquet", parquet({"probs": [*OBJECTS[:2], odd, *OBJECTS[3:]], "label": TRUTH}))
    for pair in ({"label": 1, "score": 0.5}, {"cat": "a", "dog": "b"}, {"cat": 0.5}):
        with pytest.raises(FileError, match='column "probs": found a nested column'):
            read("a.parquet", parquet({"probs": [pair] * N, "label": TRUTH}))


def test_numbers_spelled_as_texts_in_lists() -> None:
    texts = [[f"{value:.5f}" for value in row] for row in PROBABILITIES]
    same(of_lines(probabilities=texts, label=LABELS.tolist()), [*"0123"])
    arrays = {"probabilities": texts, "labels": LABELS.tolist()}
    same(read("a.json", json.dumps(arrays).encode()), [*"0123"])
    texts[4][1] = "0,5"
    with pytest.raises(FileError, match='text "0'):
        read("a.json", json.dumps(arrays).encode())


@pytest.mark.parametrize("truth", [TRUTH, LABELS.tolist()])
def test_names_of_classes_by_number_or_numbers_by_name(truth: list[Any]) -> None:
    numbers = {"hen": 3, "dog": 1, "cat": 0, "fox": 2}
    body = {"probs": PROBABILITIES.tolist(), "labels": truth}
    for key, given in (("label2id", numbers), ("id2label", dict(enumerate(WORDS)))):
        for upload in (
            read("a.json", json.dumps({**body, key: given}).encode()),
            read("a.pkl", pickled({**body, key: given})),
        ):
            assert f"Classes are named by {key}." in same(upload).found
    for odd in ({"cat": 0, "dog": 1}, numbers | {"hen": 2}, numbers | {"hen": 3.0}):
        body["labels"] = LABELS.tolist()
        for upload in (
            read("a.json", json.dumps({**body, "label2id": odd}).encode()),
            read("a.pkl", pickled({**body, "label2id": odd})),
        ):
            same(upload, [*"0123"])
            assert "Left out" in " ".join(upload.found)


def test_more_names_of_classes_than_are_kept_are_left_out() -> None:
    body = {"probs": PROBABILITIES.tolist(), "labels": LABELS.tolist()}
    named = {"label2id": {f"c{k}": k for k in range(1001)}}
    assert "Left out" in same(read("a.json", json.dumps(body | named).encode()), [*"0123"]).found[1]


def test_numbers_for_names_of_classes_in_a_pickle() -> None:
    for given in ([3, 4, 5, 6], np.arange(3, 7)):
        body = {"probs": PROBABILITIES, "labels": LABELS + 3, "classes_": given}
        same(read("a.pkl", pickled(body)), [*"3456"])
