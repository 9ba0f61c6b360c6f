"""Lists of classes in every row beside lists of their scores: each row has its own order."""

import io
import json
import pickle
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcore.data import EventScores, LogitSet
from dashboard.readers import FileError, Upload, read
from dashboard.readers.columns.rank_lists import classes_in, rank_lists
from tests.readers.files import LABELS, PROBABILITIES, Array, K, N, npz

ORDER = np.argsort(-PROBABILITIES, axis=1, kind="stable")
SORTED = np.take_along_axis(PROBABILITIES, ORDER, axis=1)
NAMES = np.array(["cat", "dog", "big fox", "hen"])
Writer = Callable[[str, str, Array, Array, Array], Upload]


def archive(**arrays: Array) -> bytes:
    return npz(**arrays)  # type: ignore[arg-type]


def as_records(classes: str, scores: str, order: Array, values: Array, truth: Array) -> Upload:
    rows = [
        {classes: row, scores: of, "label": label}
        for row, of, label in zip(order.tolist(), values.tolist(), truth.tolist(), strict=True)
    ]
    return read("a.jsonl", "\n".join(map(json.dumps, rows)).encode())


def as_parquet(classes: str, scores: str, order: Array, values: Array, truth: Array) -> Upload:
    buffer = io.BytesIO()
    columns = {classes: order.tolist(), scores: values.tolist(), "label": truth.tolist()}
    pq.write_table(pa.table(columns), buffer)
    return read("a.parquet", buffer.getvalue())


def as_cells(classes: str, scores: str, order: Array, values: Array, truth: Array) -> Upload:
    lines = [
        f'"{row}","{of}",{label}'
        for row, of, label in zip(order.tolist(), values.tolist(), truth.tolist(), strict=True)
    ]
    return read("a.csv", "\n".join([f"{classes},{scores},label", *lines]).encode())


def as_arrays(classes: str, scores: str, order: Array, values: Array, truth: Array) -> Upload:
    return read("a.npz", archive(**{classes: order, scores: values, "labels": truth}))


def as_pickle(classes: str, scores: str, order: Array, values: Array, truth: Array) -> Upload:
    return read("a.pkl", pickle.dumps({classes: order, scores: values, "labels": truth}))


def as_lists(classes: str, scores: str, order: Array, values: Array, truth: Array) -> Upload:
    lists = {classes: order.tolist(), scores: values.tolist(), "labels": truth.tolist()}
    return read("a.json", json.dumps(lists).encode())


WRITERS = [as_records, as_parquet, as_cells, as_arrays, as_pickle, as_lists]
HEADS = [("topk_indices", "topk_probs"), ("top4_classes", "top4_scores"), ("indices", "probs")]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize(("classes", "scores"), HEADS)
def test_all_classes_in_the_order_of_each_row(write: Writer, classes: str, scores: str) -> None:
    upload = write(classes, scores, ORDER, SORTED, LABELS)
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities, PROBABILITIES, atol=1e-12)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    assert upload.rows.class_names == ("0", "1", "2", "3")
    said = f'Lists in "{classes}" were read as the classes whose scores are in "{scores}"'
    assert any(repair.startswith(said) for repair in upload.repairs)
    assert not any("sorted by itself" in doubt for doubt in upload.doubts)


@pytest.mark.parametrize("write", WRITERS)
def test_some_of_the_classes_give_the_top_1_event(write: Writer) -> None:
    upload = write("topk_indices", "topk_probs", ORDER[:, :2], SORTED[:, :2], LABELS)
    assert isinstance(upload.rows, EventScores)
    np.testing.assert_allclose(upload.rows.scores, SORTED[:, 0], atol=1e-12)
    np.testing.assert_array_equal(upload.rows.hits, ORDER[:, 0] == LABELS)
    assert any("each row lists 2" in said for said in upload.missing)


@pytest.mark.parametrize("comma", [", ", " "])
def test_names_of_classes_in_cells(comma: str) -> None:
    cells = [f"[{comma.join(f'{name!r}' for name in NAMES[row].tolist())}]" for row in ORDER]
    lines = [
        f'"{cell}","{of}",{label}'
        for cell, of, label in zip(cells, SORTED.tolist(), NAMES[LABELS], strict=True)
    ]
    upload = read("a.csv", "\n".join(["top_labels,scores,label", *lines]).encode())
    assert isinstance(upload.rows, LogitSet)
    places = [upload.rows.class_names.index(name) for name in NAMES.tolist()]
    np.testing.assert_allclose(upload.rows.probabilities[:, places], PROBABILITIES, atol=1e-12)
    np.testing.assert_array_equal(np.array(upload.rows.class_names)[upload.rows.labels],
                                  NAMES[LABELS])  # fmt: skip


@pytest.mark.parametrize("write", WRITERS)
def test_scores_in_no_order_are_put_by_lists_that_are_called_classes(write: Writer) -> None:
    order = np.array([np.random.default_rng(row).permutation(K) for row in range(N)])
    values = np.take_along_axis(PROBABILITIES, order, axis=1)
    upload = write("pred_classes", "probs", order, values, LABELS)
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities, PROBABILITIES, atol=1e-12)


@pytest.mark.parametrize("write", [as_arrays, as_parquet])
@pytest.mark.parametrize("order", [ORDER, ORDER[:, ::-1]])
@pytest.mark.parametrize("head", ["ranking", "top_classes"])
def test_places_that_sort_the_scores_leave_them_where_they_stand(
    write: Writer, order: Array, head: str
) -> None:
    upload = write(head, "probs", order, PROBABILITIES, LABELS)
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities, PROBABILITIES, atol=1e-12)
    assert upload.repairs == ()


def test_two_sets_in_one_archive() -> None:
    half = slice(0, N, 2), slice(1, N, 2)
    arrays = {
        f"{role}_{name}": array[part]
        for role, part in zip(("val", "test"), half, strict=True)
        for name, array in (("topk_idx", ORDER), ("topk_probs", SORTED), ("labels", LABELS))
    }
    upload = read("a.npz", archive(**arrays))
    assert isinstance(upload.test, LogitSet)
    np.testing.assert_allclose(upload.test.probabilities, PROBABILITIES[half[1]], atol=1e-12)


def test_lists_of_something_else_are_none_of_classes() -> None:
    assert rank_lists({"neighbours": ORDER, "probs": SORTED}) is None
    assert rank_lists({"ranking_classes": ORDER, "probs": SORTED}) is not None
    assert rank_lists({"classes": np.tile(np.arange(K), (N, 1)), "probs": SORTED}) is None
    assert rank_lists({"classes": np.zeros((N, K)), "probs": SORTED}) is None
    assert rank_lists({"classes": ORDER - 1, "probs": SORTED}) is None
    assert rank_lists({"classes": ORDER[:, :2], "probs": SORTED}) is None
    assert (
        rank_lists({"probs": SORTED}, {"top": (np.zeros(N, np.int32), ("[0, 1, 2, 3]",))}) is None
    )


def test_two_lists_of_scores_are_one_too_many() -> None:
    with pytest.raises(FileError, match="ambiguous"):
        rank_lists({"topk_idx": ORDER, "topk_probs": SORTED, "topk_old": SORTED * 0.9})


def test_very_long_lists_are_refused() -> None:
    order = np.array([np.random.default_rng(row).permutation(2001) for row in range(20)])
    scores = np.tile(np.linspace(1, 0, 2001), (20, 1))
    with pytest.raises(FileError, match="at most 2,000"):
        rank_lists({"topk_idx": order, "topk_probs": scores})


def test_labels_beside_lists_are_one_a_row() -> None:
    with pytest.raises(FileError, match="one class a row"):
        as_arrays("topk_idx", "topk_probs", ORDER, SORTED, np.eye(K)[LABELS])


def test_a_cell_as_numpy_writes_names() -> None:
    assert classes_in("['cat' 'big fox']") == ("cat", "big fox")
    assert classes_in("cat, dog") == ()


@pytest.mark.parametrize("write", [as_records, as_parquet])
def test_lists_of_texts_that_are_not_read_are_not_passed_over(write: Writer) -> None:
    with pytest.raises(FileError, match="beside scores that fall in every row"):
        write("topk_names", "topk_probs", NAMES[ORDER], SORTED, LABELS)
    assert isinstance(write("tokens", "probs", NAMES[ORDER], SORTED, LABELS).rows, LogitSet)
    assert isinstance(
        write("top_names", "probs", NAMES[ORDER], PROBABILITIES, LABELS).rows, LogitSet
    )


def test_the_highest_score_of_lists_in_no_order_comes_first() -> None:
    first = np.arange(N)[:, np.newaxis] % 2 == 0
    turned = [np.where(first, rows[:, :3], rows[:, 2::-1]) for rows in (ORDER, SORTED)]
    upload = as_records("top_classes", "probs", turned[0], turned[1], LABELS)
    assert isinstance(upload.rows, EventScores)
    np.testing.assert_allclose(upload.rows.scores, SORTED[:, 0], atol=1e-12)
    np.testing.assert_array_equal(upload.rows.hits, ORDER[:, 0] == LABELS)


@pytest.mark.parametrize("write", [as_records, as_parquet, as_arrays, as_pickle])
@pytest.mark.parametrize("head", ["span", "token_ids", "pred_span", "class_counts"])
def test_two_numbers_beside_a_class_that_is_rare_in_every_row(write: Writer, head: str) -> None:
    random = np.random.default_rng(3)
    rare = random.uniform(0.01, 0.4, 300)
    table, truth = np.column_stack([1 - rare, rare]), (random.random(300) < rare).astype(int)
    spans = np.sort(random.integers(0, 40, (300, 2)) + np.array([0, 40]), axis=1)
    for rows in (write(head, "probs", spans, table, truth).rows,
                 as_cells("span", "probs", spans, table, truth).rows):  # fmt: skip
        assert isinstance(rows, LogitSet)
        np.testing.assert_allclose(rows.probabilities, table, atol=1e-12)
        np.testing.assert_array_equal(rows.labels, truth)


@pytest.mark.parametrize("write", WRITERS)
def test_scores_that_rise_in_every_row_are_sorted_too(write: Writer) -> None:
    upload = write("topk_idx", "topk_probs", ORDER[:, ::-1], SORTED[:, ::-1], LABELS)
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities, PROBABILITIES, atol=1e-12)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)


@pytest.mark.parametrize("head", ["class_counts", "category_ids", "class_ranks"])
def test_lists_that_do_not_hold_the_labels_are_left_out(head: str) -> None:
    lists = np.array([np.random.default_rng(row).permutation([3, 5, 9, 11]) for row in range(N)])
    ranks = np.argsort(ORDER, axis=1)
    upload = as_arrays(head, "probs", ranks if "rank" in head else lists, PROBABILITIES, LABELS)
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities, PROBABILITIES, atol=1e-12)
    assert upload.repairs == ()


@pytest.mark.parametrize("write", [as_records, as_parquet])
@pytest.mark.parametrize("head", ["file_names", "top_words", "labels_by_annotator"])
def test_lists_of_texts_beside_two_classes_are_left_out(write: Writer, head: str) -> None:
    pair = np.column_stack([1 - PROBABILITIES[:, 0] / 2, PROBABILITIES[:, 0] / 2])
    texts = np.tile(np.array(["a", "b"]), (N, 1))
    upload = write(head, "probs", texts, pair, LABELS % 2)
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities, pair, atol=1e-12)
    with pytest.raises(FileError, match="beside scores that fall in every row"):
        write("top_labels", "probs", texts, pair, LABELS % 2)
