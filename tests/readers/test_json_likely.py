"""Classes with their scores in each row, as pipelines and services write them."""

import io
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcore.data import EventScores, LogitSet
from dashboard.readers import FileError, combine, read
from tests.readers.files import LABELS, PROBABILITIES, N, npy

NAMES = ["owl", "cat", "dog", "elk"]
TABLE = np.round(PROBABILITIES, 9)
ORDER = np.argsort(-TABLE, axis=1)
WORDS = [NAMES[label] for label in LABELS]
LISTS = [
    [{"label": NAMES[k], "score": float(TABLE[row, k])} for k in ORDER[row]] for row in range(N)
]


def text(value: object) -> bytes:
    return json.dumps(value).encode()


def lines(values: list[Any]) -> bytes:
    return "\n".join(map(json.dumps, values)).encode()


def records(**members: Any) -> list[dict[str, Any]]:
    return [
        dict(zip(members, row, strict=True)) for row in zip(*members.values(), strict=True)
    ]  # fmt: skip


def probs(row: int) -> dict[str, list[Any]]:
    return {"classes": NAMES, "scores": TABLE[row].tolist()}


def vertex(row: int) -> dict[str, Any]:
    order = ORDER[row].tolist()
    names, scores = [NAMES[k] for k in order], TABLE[row, order].tolist()
    return {"ids": [f"{k}99" for k in order], "displayNames": names, "confidences": scores}


BIGQUERY = [[{"label": one["label"], "prob": one["score"]} for one in row] for row in LISTS]
INSTANCES = [{"content": f"gs://a/{row}", "label": word} for row, word in enumerate(WORDS)]
ALL = {
    "pipeline": text(records(true_label=WORDS, predictions=LISTS)),
    "pipeline, lines": lines(records(label=WORDS, output=LISTS)),
    "pipeline, batches of one": lines(records(label=WORDS, output=[[row] for row in LISTS])),
    "pipeline, not sorted": text(records(label=WORDS, out=[row[::-1] for row in LISTS])),
    "lists beside labels": text({"predictions": LISTS, "labels": WORDS}),
    "services by class": lines(
        records(instance=INSTANCES, prediction=[vertex(row) for row in range(N)])
    ),
    "services by column": text(records(species=WORDS, predicted=[probs(row) for row in range(N)])),
    "BigQuery": lines(
        records(
            predicted_species=[row[0]["label"] for row in LISTS],
            predicted_species_probs=BIGQUERY,
            species=WORDS,
        )
    ),
}


@pytest.mark.parametrize("layout", sorted(ALL))
def test_all_classes(layout: str) -> None:
    upload = read("a.jsonl", ALL[layout])
    assert isinstance(upload.rows, LogitSet)
    assert sorted(upload.rows.class_names) == sorted(NAMES)
    order = [NAMES.index(name) for name in upload.rows.class_names]
    np.testing.assert_allclose(upload.rows.probabilities, TABLE[:, order], atol=1e-8)
    assert [upload.rows.class_names[label] for label in upload.rows.labels] == WORDS
    assert "Each row lists its 4 likeliest classes with their scores." in upload.found


def test_numbers_for_classes_that_are_numbered() -> None:
    named = [[{**one, "label": f"LABEL_{NAMES.index(one['label'])}"} for one in r] for r in LISTS]
    upload = read("a.json", text(records(label=LABELS.tolist(), out=named)))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities, TABLE, atol=1e-8)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    assert any("were matched to classes such as" in said for said in upload.found)


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_the_likeliest_only(n_ranks: int) -> None:
    upload = read("a.json", text(records(label=WORDS, out=[row[:n_ranks] for row in LISTS])))
    assert isinstance(upload.rows, EventScores)
    np.testing.assert_array_equal(upload.rows.scores, TABLE.max(axis=1))
    np.testing.assert_array_equal(upload.rows.hits, TABLE.argmax(axis=1) == LABELS)


@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_lists_without_labels_and_their_labels(ending: str) -> None:
    data = text(LISTS) if ending == ".json" else lines(LISTS)
    labels = read("labels.npy", npy(np.array(WORDS)))
    whole = combine([read("values" + ending, data), labels])
    assert isinstance(whole.rows, LogitSet)
    assert whole.rows.class_names == tuple(sorted(NAMES))
    order = [NAMES.index(name) for name in sorted(NAMES)]
    np.testing.assert_allclose(whole.rows.probabilities, TABLE[:, order], atol=1e-8)
    assert [sorted(NAMES)[label] for label in whole.rows.labels] == WORDS


def test_two_sets_of_lists() -> None:
    half = N // 2
    named = {"predictions": LISTS, "labels": WORDS}
    both = {f"val_{k}": v[:half] for k, v in named.items()}
    both |= {f"test_{k}": v[half:] for k, v in named.items()}
    upload = read("a.json", text(both))
    assert isinstance(upload.calibration, LogitSet)
    assert isinstance(upload.test, LogitSet)
    assert upload.calibration.n_samples == upload.test.n_samples == half
    assert [upload.test.class_names[k] for k in upload.test.labels] == WORDS[half:]


def test_a_class_and_its_score_beside_labels() -> None:
    first = [row[0] for row in LISTS]
    flat = [{"true_label": word, **one} for word, one in zip(WORDS, first, strict=True)]
    for data in (text({"predictions": first, "labels": WORDS}), text(flat)):
        upload = read("a.json", data)
        assert isinstance(upload.rows, EventScores)
        np.testing.assert_array_equal(upload.rows.scores, TABLE.max(axis=1))
        np.testing.assert_array_equal(upload.rows.hits, TABLE.argmax(axis=1) == LABELS)
    assert any("label was taken for the predicted label" in said for said in upload.doubts)


def test_vectors() -> None:
    def vectors(table: Any) -> list[Any]:
        return [{"type": 1, "values": row} for row in table.tolist()]

    rows = records(
        label=LABELS.astype(float).tolist(), rawPrediction=vectors(np.log(TABLE)),
        probability=vectors(TABLE), prediction=TABLE.argmax(axis=1).astype(float).tolist(),
    )  # fmt: skip
    upload = read("a.json", lines(rows))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities, TABLE, atol=1e-8)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    rows[3]["probability"] = {"type": 0, "size": 10**9, "indices": [1], "values": [1.0]}
    with pytest.raises(FileError, match="row 4: found a sparse vector"):
        read("a.json", lines(rows))


def test_an_object_a_row() -> None:
    heads = [f"proba_{name}" for name in NAMES]
    rows = [
        dict(zip(heads, map(float, row), strict=True)) | {"label": word}
        for row, word in zip(TABLE, WORDS, strict=True)
    ]
    for index in (list(range(N)), list(range(N))[::-1], [f"{k}.png" for k in range(N)]):
        upload = read("a.json", text(dict(zip(map(str, index), rows, strict=True))))
        assert isinstance(upload.rows, LogitSet)
        np.testing.assert_allclose(upload.rows.probabilities, TABLE, atol=1e-8)
        assert [NAMES[label] for label in upload.rows.labels] == WORDS
    fields: list[Any] = [{"name": head, "type": "number"} for head in ("index", *heads)]
    fields.append({"name": "label", "type": "any", "constraints": {"enum": NAMES}})
    table = {"schema": {"fields": fields, "primaryKey": ["index"]}, "data": rows}
    assert isinstance(read("a.json", text(table)).rows, LogitSet)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (text(records(label=["a", "b"], out=[LISTS[0], LISTS[1][:2]])), "row 2: .*2 classes"),
        (text(records(label=["a", "b"], out=[LISTS[0], None])), "row 2: .*other than classes"),
        (text(records(label=["a"] * 3, out=[[{"label": "a", "score": None}]] * 3)), "null"),
        (text(records(label=["a"] * 3, out=[[{"label": "a", "score": "1"}]] * 3)), "null"),
        (text(records(label=WORDS, out=[row[:1] * 2 for row in LISTS])), "same class twice"),
        (text(records(label=LABELS.tolist(), out=LISTS)), "no label that is ever predicted"),
        (text(records(label=["fox", *WORDS[1:]], out=LISTS)), '"fox", which is in no list'),
        (text([row[:2] for row in LISTS]), "without a true label"),
        (text({"predictions": LISTS, "labels": WORDS[1:]}), "unequal length: 40 .*39"),
        (text([[["cat"]], ["cat", "dog"]]), "texts among deeper lists|no pair|single values"),
        (text([[[1, 2], [3, 4]], ["cat", "dog"]]), "."),
        (b'{"0": {"a": 1, "label": 0}, "1": {"a": 2, "label": 1}, "0": {"a": 1, "label": 0}}',
         'member "0" twice'),
        (b'{"0": {"a": 1, "label": 0}, "1": {"a": 2, "label": 1}, "2": 3}', "row 3: .*no record"),
        (b'{"0": {"a": 1, "label": 0}, "1": {"a": 2, "label": 1}, "2": {"a": x, "label": 1}}',
         "row 3: .*not JSON"),
    ],
)  # fmt: skip
def test_refused(data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read("a.json", data)


@pytest.mark.parametrize("member", ['{"a": 1, "a": 2}', '{"a" : 1, "b":2, "a":3}'])
def test_a_member_that_stands_twice(member: str) -> None:
    with pytest.raises(FileError, match='member "a" twice'):
        read("a.json", f"[{member}]".encode())


def test_colons_in_texts_and_names() -> None:
    rows = [{"p1": 2.5, "a:b": ":)", "label": 1}, {"p1": -1, "a:b": '":', "label": 0}] * 3
    upload = read("a.json", json.dumps(rows, separators=(",", ":")).encode())
    assert upload.columns["rows"]["a:b"].categories == (":)", '":')


def pairs(key: str, order: Any) -> list[dict[str, Any]]:
    """Write two lists a row, of the classes in some order and of their scores."""
    return [
        {"text": f"t{row}", key: [NAMES[k] for k in ks], "scores": TABLE[row][ks].tolist()}
        for row, ks in enumerate(order)
    ]


def gold(rows: list[dict[str, Any]], truth: list[Any]) -> bytes:
    return lines([row | {"gold": true} for row, true in zip(rows, truth, strict=True)])


@pytest.mark.parametrize("key", ["labels", "classes", "class_names"])
def test_lists_of_classes_beside_lists_of_scores(key: str) -> None:
    for order in (ORDER, ORDER[:, [1, 3, 0, 2]]):
        data = gold(pairs(key, order), WORDS)
        for name in ("a.jsonl", "a.json"):
            text_of = b"[" + data.replace(b"\n", b",") + b"]" if name == "a.json" else data
            rows = read(name, text_of).rows
            assert isinstance(rows, LogitSet)
            places = [NAMES.index(name) for name in rows.class_names]
            np.testing.assert_allclose(rows.probabilities, TABLE[:, places], atol=1e-8)
            assert [rows.class_names[k] for k in rows.labels] == WORDS


def test_some_of_the_classes_in_lists_are_the_likeliest() -> None:
    upload = read("a.jsonl", gold(pairs("labels", ORDER[:, :2]), WORDS))
    assert isinstance(upload.rows, EventScores)
    np.testing.assert_array_equal(upload.rows.hits, ORDER[:, 0] == LABELS)


def test_the_same_list_of_classes_in_every_row_names_the_columns() -> None:
    same = pairs("classes", np.tile(np.arange(4), (N, 1)))
    for truth in (WORDS, LABELS.tolist()):
        rows = read("a.jsonl", gold(same, truth)).rows
        assert isinstance(rows, LogitSet)
        assert rows.class_names == tuple(NAMES)
        np.testing.assert_array_equal(rows.labels, LABELS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": ["owl"]}, r"row 9: found 1 classes with 4 scores"),
        ({"labels": None}, r'row 9: found no list in "labels" or "scores"'),
        ({"scores": [1, 2, 3, "x"]}, r"row 9: found a class or a score that is null, a text"),
        ({"scores": [10**400, 0, 0, 0]}, r"row 9: found a score beyond 1e308"),
    ],
)
def test_lists_of_classes_that_do_not_fit(change: dict[str, Any], message: str) -> None:
    rows = pairs("labels", ORDER)
    rows[8] |= change
    with pytest.raises(FileError, match=message):
        read("a.jsonl", gold(rows, WORDS))


def test_a_class_and_its_score_under_one_name() -> None:
    rows = [
        {"prediction": {"label": NAMES[ks[0]], "confidence": TABLE[row][ks[0]]}, "label": word}
        for row, (ks, word) in enumerate(zip(ORDER, WORDS, strict=True))
    ]
    upload = read("a.jsonl", lines(rows))
    assert isinstance(upload.rows, EventScores)
    np.testing.assert_array_equal(upload.rows.hits, ORDER[:, 0] == LABELS)


def test_a_list_of_words_is_a_list_of_labels() -> None:
    upload = combine([read("logits.json", text(LISTS)), read("labels.json", text(WORDS))])
    assert isinstance(upload.rows, LogitSet)
    assert [upload.rows.class_names[k] for k in upload.rows.labels] == WORDS
    with pytest.raises(FileError, match='found text "cat", wanted numbers'):
        read("labels.json", text(["", "cat"]))


@pytest.mark.parametrize("key", ["class_names", "classes"])
def test_a_list_of_class_names_beside_records(key: str) -> None:
    rows = [{"probs": TABLE[row].tolist(), "label": word} for row, word in enumerate(WORDS)]
    upload = read("a.json", text({key: NAMES, "data": rows}))
    assert isinstance(upload.rows, LogitSet)
    assert upload.rows.class_names == tuple(NAMES)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    assert f"Classes are named by {key}." in upload.found
    numbered = [row | {"label": int(k)} for row, k in zip(rows, LABELS, strict=True)]
    short = read("a.json", text({key: NAMES[:2], "data": numbered}))
    assert short.class_names == ("0", "1", "2", "3")
    assert any(f"Left out, being neither a class nor the label: {key}" in s for s in short.found)


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_percent_signs_in_texts(ending: str) -> None:
    cells = [[f"{value:.4%}" for value in column] for column in TABLE.T]
    named = dict(zip([f"prob_{name}" for name in NAMES], cells, strict=True)) | {"label": WORDS}

    def opened(columns: dict[str, list[str]]) -> Any:
        if ending == "json":
            return read("a.json", text(records(**columns)))
        buffer = io.BytesIO()
        pq.write_table(pa.table(columns), buffer)
        return read("a.parquet", buffer.getvalue())

    upload = opened(named)
    np.testing.assert_allclose(upload.rows.probabilities, TABLE, atol=1e-5)
    assert f"Percent signs: {4 * N} values were divided by 100." in upload.repairs
    mixed = named | {"prob_cat": ["0.5", *cells[1][1:]]}
    with pytest.raises(FileError, match=f"percent signs in {4 * N - 1} of {4 * N} cells"):
        opened(mixed)
    with pytest.raises(FileError, match='found "x%", wanted a finite number'):
        opened(named | {"prob_cat": ["x%", *cells[1][1:]]})


def test_a_long_text_that_lists_the_classes_is_kept_whole() -> None:
    names = [f"a class with a long name {k}" for k in range(4)] + ["x" * 200]
    table = np.column_stack([TABLE * 0.5, np.full(N, 0.5)])
    listed = str(names)
    assert len(listed) > 256
    rows = [
        {"classes": listed, "probs": row.tolist(), "label": names[k]}
        for row, k in zip(table, LABELS, strict=True)
    ]
    upload = read("a.jsonl", lines(rows))
    assert isinstance(upload.rows, LogitSet)
    assert upload.rows.class_names == tuple(names)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)


def test_small_percentages_are_divided_by_their_sign() -> None:
    rows = [{"prob": f"{k / 100:.2f}%", "label": int(k % 2)} for k in range(N)]
    upload = read("a.json", text(rows))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities[:, 1], np.arange(N) / 10_000)
