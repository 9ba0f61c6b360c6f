"""The likeliest classes of each row with their scores, and the prediction with its confidence."""

import io
import json
import pickle
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcore.data import EventScores, LogitSet
from calibcore.events import TopR
from dashboard.readers import FileError, Question, Upload, read
from tests.readers.files import (
    LABELS,
    PROBABILITIES,
    Array,
    K,
    N,
    event_scores,
    logit_set,
    npz,
    table,
)

ORDER = np.argsort(-PROBABILITIES, axis=1, kind="stable")
SORTED = np.take_along_axis(PROBABILITIES, ORDER, axis=1)
NAMES: Array = np.array(["cat", "dog", "fox", "owl"])
BEST, TOP = ORDER[:, 0], SORTED[:, 0]
Writer = Callable[[str, str, Array, Array, Array], Upload]


def are_shares(upload: Upload, names: Iterable[str] = NAMES) -> None:
    """Expect the scores of all classes and their labels."""
    assert isinstance(upload.rows, LogitSet)
    assert upload.class_names == tuple(names)
    np.testing.assert_allclose(upload.rows.probabilities, PROBABILITIES, atol=1e-9)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)


def are_hits(upload: Upload) -> None:
    """Expect the score of the first class of each row, and whether it is the true one."""
    assert isinstance(upload.rows, EventScores)
    expected = TopR(1).outcomes(PROBABILITIES, LABELS)
    np.testing.assert_allclose(upload.rows.scores, expected.scores, atol=1e-9)
    np.testing.assert_array_equal(upload.rows.hits, expected.hits)


# Columns by rank -----------------------------------------------------------------------------


def by_rank(heads: str, ranks: Sequence[int], names: Array = NAMES) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for place, rank in enumerate(ranks):
        first, second = heads.format(rank).split(",")
        columns |= {first: names[ORDER[:, place]], second: SORTED[:, place]}
    return columns


@pytest.mark.parametrize(
    "heads",
    [
        "top{0}_class,top{0}_prob", "class_{0},prob_{0}", "pred_{0},score_{0}",
        "Top-{0} label,Top-{0} probability", "label_{0},confidence_{0}", "rank{0}.name,rank{0}.p",
    ],
)  # fmt: skip
@pytest.mark.parametrize("first", [0, 1])
def test_columns_by_rank_of_all_classes_are_a_table(heads: str, first: int) -> None:
    columns = by_rank(heads, range(first, first + K))
    towns = ["Bonn", "Rome"] * 20
    upload = read("a.csv", table(**{"true_label": NAMES[LABELS], **columns, "town": towns}))
    are_shares(upload)
    assert list(upload.columns["rows"]) == ["town"]


def test_classes_that_are_numbers_are_in_their_order() -> None:
    names = np.array(["10", "9", "100", "0"])
    columns = by_rank("class_{0},prob_{0}", range(K), names)
    upload = read("a.csv", table(**{"label": names[LABELS], **columns}))
    assert isinstance(upload.rows, LogitSet)
    assert upload.rows.class_names == ("0", "9", "10", "100")
    np.testing.assert_array_equal(
        np.array(upload.rows.class_names)[upload.rows.labels], names[LABELS]
    )


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_columns_of_some_ranks_keep_the_first(n_ranks: int) -> None:
    columns = by_rank("top{0}_class,top{0}_prob", range(1, n_ranks + 1))
    upload = read("a.csv", table(**{"label": NAMES[LABELS], **columns}))
    are_hits(upload)
    is_noted = any(f"Each row lists {n_ranks} of 4 or more" in text for text in upload.missing)
    assert is_noted == (n_ranks > 1)


# Lists by rank -------------------------------------------------------------------------------


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
    quoted = [[f'"{row}"' for row in part.tolist()] for part in (order, values)]
    return read("a.csv", table(**{classes: quoted[0], scores: quoted[1], "label": truth}))


def as_arrays(classes: str, scores: str, order: Array, values: Array, truth: Array) -> Upload:
    return read("a.npz", npz(compress=False, **{classes: order, scores: values, "labels": truth}))


def as_pickle(classes: str, scores: str, order: Array, values: Array, truth: Array) -> Upload:
    return read("a.pkl", pickle.dumps({classes: order, scores: values, "labels": truth}))


def as_lists(classes: str, scores: str, order: Array, values: Array, truth: Array) -> Upload:
    lists = {classes: order.tolist(), scores: values.tolist(), "labels": truth.tolist()}
    return read("a.json", json.dumps(lists).encode())


WRITERS = [as_records, as_parquet, as_cells, as_arrays, as_pickle, as_lists]
HEADS = [("topk_indices", "topk_probs"), ("top4_classes", "top4_scores"), ("indices", "probs")]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize(("classes", "scores"), HEADS)
def test_lists_by_rank(write: Writer, classes: str, scores: str) -> None:
    are_shares(write(classes, scores, ORDER, SORTED, LABELS), "0123")
    are_hits(write(classes, scores, ORDER[:, :2], SORTED[:, :2], LABELS))


@pytest.mark.parametrize("write", [as_records, as_parquet])
@pytest.mark.parametrize("head", ["topk_names", "top_labels"])
def test_names_of_classes_in_lists_are_not_passed_over(write: Writer, head: str) -> None:
    """Without them the first score of each row would be taken for that of the first class."""
    for truth in (LABELS, NAMES[LABELS]):
        with pytest.raises(FileError, match=head):
            write(head, "topk_probs", NAMES[ORDER], SORTED, truth)


@pytest.mark.parametrize("write", [as_arrays, as_parquet])
@pytest.mark.parametrize("order", [ORDER, ORDER[:, ::-1]])
def test_places_that_sort_the_scores_leave_them_where_they_stand(
    write: Writer, order: Array
) -> None:
    are_shares(write("ranking", "probs", order, PROBABILITIES, LABELS), "0123")


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("head", ["span", "token_ids", "class_counts"])
def test_two_numbers_beside_a_class_that_is_rare_in_every_row(write: Writer, head: str) -> None:
    random = np.random.default_rng(3)
    rare = random.uniform(0.01, 0.4, 300)
    table, truth = np.column_stack([1 - rare, rare]), (random.random(300) < rare).astype(int)
    spans = np.sort(random.integers(0, 40, (300, 2)) + np.array([0, 40]), axis=1)
    rows = logit_set(write(head, "probs", spans, table, truth).rows)
    np.testing.assert_allclose(rows.probabilities, table, atol=1e-12)
    np.testing.assert_array_equal(rows.labels, truth)


@pytest.mark.parametrize("write", [as_records, as_parquet])
@pytest.mark.parametrize("head", ["file_names", "top_words", "labels_by_annotator"])
def test_lists_of_other_texts_are_left_out(write: Writer, head: str) -> None:
    pair = np.column_stack([1 - PROBABILITIES[:, 0] / 2, PROBABILITIES[:, 0] / 2])
    rows = write(head, "probs", np.tile(np.array(["a", "b"]), (N, 1)), pair, LABELS % 2).rows
    assert isinstance(rows, LogitSet)
    np.testing.assert_allclose(rows.probabilities, pair, atol=1e-12)


# The prediction alone ------------------------------------------------------------------------


def top_one(name: str, scores: Array = TOP) -> dict[str, Any]:
    return {"y_true": LABELS, "y_pred": BEST, name: scores}


@pytest.mark.parametrize("name", ["confidence", "max_prob", "msp", "certainty", "y_score", "p"])
def test_the_confidence_of_the_prediction(name: str) -> None:
    upload = read("a.csv", table(**top_one(name)))
    are_hits(upload)
    assert f'Score: column "{name}".' in upload.notes


@pytest.mark.parametrize(
    "heads",
    [
        "gt,pred,conf", "truth,estimate,confidence", "species,prediction_label,prediction_score",
        "actual,predicted,prediction", "Klasse,Vorhersage,Konfidenz", "label,argmax,max_softmax",
        "label,top1,top1_prob",
    ],
)  # fmt: skip
def test_predictions_in_other_words(heads: str) -> None:
    for truth, text in ((NAMES[LABELS], NAMES[BEST]), (LABELS, BEST)):
        cells_of_row = dict(zip(heads.split(","), (truth, text, TOP), strict=True))
        are_hits(read("a.csv", table(**{"x1": np.arange(N) % 7 - 0.5, **cells_of_row})))


@pytest.mark.parametrize("named", [("confidences", "predictions"), ("pred_score", "pred_label")])
def test_predictions_as_arrays(named: tuple[str, str]) -> None:
    arrays = {named[0]: TOP, named[1]: BEST, "labels": LABELS}
    are_hits(read("a.npz", npz(compress=False, **arrays)))
    listed = {name: array.tolist() for name, array in arrays.items()}
    are_hits(read("a.json", json.dumps(listed).encode()))
    are_hits(read("a.npz", npz(confidences=TOP, correct=BEST == LABELS)))


@pytest.mark.parametrize(
    "name", ["uncertainty", "loss", "brier", "sample_weight", "p_error", "error_probability"]
)
def test_what_is_called_otherwise_is_no_confidence(name: str) -> None:
    upload = read("a.csv", table(**top_one(name, 1 - TOP)))
    assert upload.piece is not None
    assert upload.uses[name] != "score"


def test_predictions_that_differ_by_capitals_or_a_full_stop_are_right() -> None:
    answers = NAMES[BEST].astype(object)
    answers[1::3] = [f"{name.title()}." for name in answers[1::3]]
    given = {"truth": NAMES[LABELS], "answer": answers, "confidence": TOP}
    upload = read("a.csv", table(**given), roles=(("answer", "prediction"),))
    are_hits(upload)
    count = int((BEST == LABELS)[1::3].sum())
    (repair,) = [repair for repair in upload.repairs if "counted as" in repair]
    assert f"by capitals, accents or a full stop alone ({count} rows)" in repair


def test_classes_of_which_the_truth_has_both_spellings_are_two() -> None:
    classes = np.array(["cat", "Cat", "fox", "owl"])
    upload = read("a.csv", table(y_true=classes[LABELS], y_pred=classes[BEST], p=TOP))
    are_hits(upload)
    count = int((LABELS + BEST == 1).sum())
    assert count > 0
    assert any(f"count as wrong in {count} row" in doubt for doubt in upload.doubts)


def test_one_odd_word_among_right_and_wrong_is_asked_about() -> None:
    words = np.where(BEST == LABELS, "yes", "no").astype(object)
    words[3] = "maybe"
    data = table(confidence=TOP, correct=words)
    with pytest.raises(Question, match=r'correct 1 \("maybe"\)'):
        read("a.csv", data)
    assert isinstance(read("a.csv", data, leave_out=True).rows, EventScores)


# One row per sample and class ----------------------------------------------------------------

_LONG = {
    "image": np.repeat(np.arange(N), K), "true_label": np.repeat(NAMES[LABELS], K),
    "pred_label": np.tile(NAMES, N), "confidence": PROBABILITIES.ravel(),
}  # fmt: skip
_BY_SAMPLE = np.arange(N * K)
_ORDERS = {
    "sample": _BY_SAMPLE, "class": _BY_SAMPLE.reshape(N, K).T.ravel(),
    "score": (ORDER + K * np.arange(N)[:, np.newaxis]).ravel(),
    "none": np.random.default_rng(1).permutation(N * K),
}  # fmt: skip


_HEADS = ["image,true_label,pred_label,confidence", "label,class,p"]


# Without a name of the sample, rows in no order tell nothing.
@pytest.mark.parametrize(
    ("order", "names"),
    [(o, n) for o in _ORDERS for n in _HEADS if (o, n[:5]) != ("none", "label")],
)
def test_one_row_per_sample_and_class_is_refused(order: str, names: str) -> None:
    """Each answer to a question would read such a table wrong."""
    wanted = names.split(",")
    columns = list(_LONG.values())[-len(wanted) :]
    made = {name: of[_ORDERS[order]] for name, of in zip(wanted, columns, strict=True)}
    with pytest.raises(FileError, match=r"one row per sample and class.*pivot") as caught:
        read("a.csv", table(**made))
    assert not isinstance(caught.value, Question)


_WINS = np.random.default_rng(5).uniform(0.05, 0.95, N).round(3)
_WON = np.random.default_rng(6).random(N) < _WINS
_PLAYERS = {
    "match": np.repeat(np.arange(N), 2), "player": np.arange(2 * N) % 31,
    "win_prob": np.column_stack([_WINS, 1 - _WINS]).ravel(),
    "result": np.where(np.column_stack([_WON, ~_WON]).ravel(), "W", "L"),
}  # fmt: skip
"""Two rows of each match, one for each player: outcomes, though they look like classes."""


def test_two_players_of_a_match_are_no_classes_if_the_user_says_so() -> None:
    data = table(**_PLAYERS)
    with pytest.raises(Question, match=r'"result".*each value once') as caught:
        read("a.csv", data)
    yes, no = (answer.change for answer in caught.value.answers)
    rows = logit_set(read("a.csv", data, **yes).rows)
    assert rows.labels.sum() == N
    with pytest.raises(FileError, match=r"one row per sample and class.*give the role outcome"):
        read("a.csv", data, **no)


def test_classes_in_rows_are_evaluated_by_what_the_user_calls_the_outcome() -> None:
    marked = _LONG | {"true_label": _LONG["true_label"] == _LONG["pred_label"]}
    with pytest.raises(FileError, match="one row per sample and class"):
        read("a.csv", table(**marked))
    roles = (("true_label", "outcome"), ("confidence", "score"), ("pred_label", "group"))
    rows = logit_set(read("a.csv", table(**marked), roles=roles).rows)
    assert rows.labels.sum() == N


_TAGS = np.array(["O", "B-LOC", "B-PER", "I-PER"])
_TRUE = np.random.default_rng(8).choice(4, 400, p=[0.7, 0.1, 0.1, 0.1])
_SURE = np.random.default_rng(9).uniform(0.2, 1, 400).round(3)
_SAID = np.where(np.random.default_rng(10).random(400) < _SURE, _TRUE, (_TRUE + 1) % 4)


@pytest.mark.parametrize("name", ["pred", "prediction", "predicted", "model_answer"])
@pytest.mark.parametrize("score", ["score", "p", "confidence"])
def test_a_word_that_was_predicted_stands_beside_its_score(name: str, score: str) -> None:
    """Though some scores are below chance, as of classes that a beam search left out."""
    columns = {"token": np.arange(400), "gold": _TAGS[_TRUE], name: _TAGS[_SAID], score: _SURE}
    rows = event_scores(read("a.tsv", table(**columns)).rows)
    assert rows.hits.mean() == (_TRUE == _SAID).mean()


def test_a_column_is_the_predicted_class_where_the_user_says_so() -> None:
    columns = {"y": _TRUE > 0, "x": _SAID > 0, "value": _SURE}
    rows = read("a.csv", table(**columns), roles=(("x", "prediction"), ("value", "score"))).rows
    assert isinstance(rows, EventScores)
    assert rows.hits.mean() == ((_TRUE > 0) == (_SAID > 0)).mean()


def test_classes_that_differ_by_their_case_alone_stay_apart() -> None:
    rng = np.random.default_rng(4)
    names, truth = "aAbB", rng.integers(0, 4, 300)
    text = np.where(rng.random(300) < 0.6, truth, rng.integers(0, 4, 300))
    words = np.array([*names])
    data = table(true_label=words[truth], pred_label=words[text], confidence=np.full(300, 0.7))
    event = event_scores(read("a.csv", data))
    assert event.hits.mean() == pytest.approx((truth == text).mean())


@pytest.mark.parametrize("first", [0, 1])
def test_numbers_are_compared_with_the_numbers_in_names(first: Literal[0, 1]) -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 4, 300)
    text = np.where(rng.random(300) < 0.7, truth, (truth + 1) % 4)
    predicted = [f"LABEL_{place}" for place in text]
    data = table(true_label=truth + first, pred_label=predicted, confidence=np.full(300, 0.7))
    if first:
        with pytest.raises(Question, match="one of them counts from 1"):
            read("a.csv", data)
    event = event_scores(read("a.csv", data, first_label=first))
    assert event.hits.mean() == pytest.approx((truth == text).mean())
