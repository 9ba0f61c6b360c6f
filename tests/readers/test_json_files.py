"""JSON files: every layout gives the same sets, also classes listed with their scores."""

import json
from typing import Any

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, read
from tests.readers.files import (
    HEADER,
    LABELS,
    LOGITS,
    PROBABILITIES,
    N,
    combined,
    csv_of,
    logit_set,
    npy,
    same,
    same_hits,
)

TABLE = LOGITS.astype(float)
ROWS, TRUTH = TABLE.tolist(), LABELS.tolist()
NAMES = ["owl", "cat", "dog", "elk"]
WORDS = [NAMES[label] for label in TRUTH]
ORDER = np.argsort(-PROBABILITIES, axis=1)
LISTS = [
    [{"label": NAMES[k], "score": float(PROBABILITIES[row, k])} for k in ORDER[row]]
    for row in range(N)
]
RECORDS = [
    {f"logit_{k}": value for k, value in enumerate(row)} | {"label": label}
    for row, label in zip(ROWS, TRUTH, strict=True)
]
WHOLE = [[*row, label] for row, label in zip(ROWS, TRUTH, strict=True)]
PART = {"logits": ROWS, "labels": TRUTH}
BACK = {"logits": ROWS[::-1], "labels": TRUTH[::-1]}


def text(value: object) -> bytes:
    return json.dumps(value).encode()


def records(**members: Any) -> list[dict[str, Any]]:
    return [dict(zip(members, row, strict=True)) for row in zip(*members.values(), strict=True)]


@pytest.mark.parametrize(
    "value",
    [
        PART,
        {"predictions": ROWS, "label_ids": TRUTH, "metrics": {"loss": 0.3}},
        {"predictions": ROWS, "ground_truth": TRUTH},
        {"logits": ROWS, "labels": [[label] for label in TRUTH]},
        {"logits": ROWS, "labels": np.eye(4, dtype=int)[LABELS].tolist()},
        {"logits": ROWS, "labels": WORDS, "class_names": NAMES},
        RECORDS,
        records(logits=ROWS, label=TRUTH),
        {f"img_{k}.png": r for k, r in enumerate(records(logits=ROWS, label=TRUTH))},
        {"data": RECORDS},
        WHOLE,
        [[*RECORDS[0]], *WHOLE],
        [ROWS, TRUTH],
    ],
)
def test_one_set(value: Any) -> None:
    same(read("a.json", text(value)).rows)
    if isinstance(value, list) and len(value) >= N:
        same(read("a.jsonl", "\n".join(map(json.dumps, value)).encode()).rows)


@pytest.mark.parametrize(
    "value",
    [
        {f"{name}_{key}": v for name, part in (("val", PART), ("test", BACK))
         for key, v in part.items()},
        {"val": PART, "test": BACK},
        {"calibration": RECORDS, "test": RECORDS[::-1]},
        [[ROWS, TRUTH], [ROWS[::-1], TRUTH[::-1]]],
    ],
)  # fmt: skip
def test_both_sets(value: Any) -> None:
    upload = read("a.json", text(value))
    same(upload.calibration)
    same(upload.test, TABLE[::-1], LABELS[::-1])


def test_the_same_table_as_text() -> None:
    plain, result = (
        read("a.csv", csv_of(TABLE, TRUTH, header=HEADER)),
        read("a.json", text(RECORDS)),
    )
    assert (result.class_names, result.notes) == (plain.class_names, plain.notes)


@pytest.mark.parametrize(
    "value",
    [
        records(true_label=WORDS, predictions=LISTS),
        records(label=WORDS, output=[[row] for row in LISTS]),
        records(label=WORDS, out=[row[::-1] for row in LISTS]),
        {"predictions": LISTS, "labels": WORDS},
        records(label=TRUTH, out=[[{**o, "label": f"LABEL_{NAMES.index(o['label'])}"} for o in r]
                                  for r in LISTS]),
    ],
)  # fmt: skip
def test_classes_listed_with_their_scores(value: Any) -> None:
    rows = logit_set(read("a.json", text(value)).rows)
    places = [int(name) if name.isdigit() else NAMES.index(name) for name in rows.class_names]
    np.testing.assert_allclose(rows.probabilities, PROBABILITIES[:, places], atol=1e-8)
    assert [places[label] for label in rows.labels] == TRUTH


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_the_likeliest_only(n_ranks: int) -> None:
    rows = read("a.json", text(records(label=WORDS, out=[row[:n_ranks] for row in LISTS]))).rows
    same_hits(rows, PROBABILITIES.max(axis=1), ORDER[:, 0] == LABELS)


def test_lists_and_their_labels_in_two_files() -> None:
    for labels in (
        ("labels.npy", npy(np.array(WORDS))),
        ("labels.json", text(WORDS)),
    ):
        rows = logit_set(combined([("values.json", text(LISTS)), labels]).rows)
        assert [rows.class_names[k] for k in rows.labels] == WORDS


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('{"logits": [[1, 2], [null, 3]], "labels": [0, 1]}', r"\(NaN\); in 1 row \(row 2\)"),
        ('{"logits": [[1, 2], [1, 1e999]], "labels": [0, 1]}', r"logits 1 \(infinite\); in 1 row"),
        ('{"logits": [[1, 2], [1, "x"]], "labels": [0, 1]}', 'lists of texts such as "x"'),
        ('{"logits": [[1, 2]], "logits": [[1, 2]], "labels": [0]}', 'member twice: "logits"'),
        ('[{"a" : 1, "b":2, "a":3}]', 'member twice: "a"'),
    ],
)
def test_refused(data: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read("a.json", data.encode())


LISTED = [{"logits": row, "label": label} for row, label in zip(ROWS, TRUTH, strict=True)]


@pytest.mark.parametrize("names", [{}, {"class_names": NAMES}])
def test_what_stands_beside_lists_of_records(names: dict[str, Any]) -> None:
    one = read("a.json", json.dumps({"model": "m", "epoch": 3, "rows": LISTED} | names).encode())
    np.testing.assert_array_equal(logit_set(one.rows).logits, LOGITS)
    assert one.class_names == (tuple(NAMES) if names else ("0", "1", "2", "3"))
    both = {"epoch": 3, "val": LISTED, "test": LISTED[::-1]} | names
    upload = read("a.json", json.dumps(both).encode())
    assert isinstance(upload.calibration, LogitSet)
    np.testing.assert_array_equal(logit_set(upload.test).labels, LABELS[::-1])
    assert upload.class_names == one.class_names
