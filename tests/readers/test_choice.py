"""Class columns told apart from the other numbers of a table, and what a lone score is of."""

import time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcore.data import EventScores, LogitSet
from calibcore.probabilities import softmax
from dashboard.readers import FileError, Upload, read
from dashboard.readers.columns.positive import class_of_score

N = 120
RNG = np.random.default_rng(7)
LOGITS = RNG.normal(size=(N, 3)) * 2
LABELS = np.array([RNG.choice(3, p=row) for row in softmax(LOGITS)])
SHARES = softmax(LOGITS)
CLASSES = np.array(["cat", "dog", "eel"])
TOP = LOGITS.argmax(axis=1)
MARGIN = RNG.normal(size=N) * 2
SCORE = 1 / (1 + np.exp(-MARGIN))
OUTCOME = (RNG.random(N) < SCORE).astype(int)
OTHER = RNG.normal(size=N)
AGES = RNG.integers(20, 90, N)


def table(**columns: Any) -> bytes:
    """Write a text table with a header."""
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]).encode()


def scored(data: bytes, **choices: Any) -> Upload:
    """Expect the score of class 1 and its outcome."""
    upload = read("a.csv", data, **choices)
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities[:, 1], SCORE)
    np.testing.assert_array_equal(upload.rows.labels, OUTCOME)
    return upload


def classed(data: bytes, name: str = "a.csv", **choices: Any) -> Upload:
    """Expect the three classes and their labels."""
    upload = read(name, data, **choices)
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities, SHARES)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    return upload


def topped(data: bytes, name: str = "a.csv") -> None:
    """Expect the score of the likeliest class, and whether that is the true one."""
    upload = read(name, data)
    assert isinstance(upload.rows, EventScores)
    np.testing.assert_allclose(upload.rows.scores, SHARES.max(axis=1))
    np.testing.assert_array_equal(upload.rows.hits, TOP == LABELS)


@pytest.mark.parametrize(
    "columns",
    [
        {"target": OUTCOME, "log_amount": OTHER, "oof_pred": SCORE},
        {"target": OUTCOME, "churn": SCORE, "uplift": OTHER},
        {"label": OUTCOME, "model_a": SCORE, "age": AGES},
        {"label": OUTCOME, "z": MARGIN, "age": AGES},
        {"y_true": OUTCOME, "x1": OTHER, "x2": -OTHER, "y_hat": SCORE},
        {"target": OUTCOME, "prob_good": SCORE, "prob_good_logit": MARGIN},
        {"target": OUTCOME, "risk": SCORE, "risk_std": SCORE / 10},
        {"id": AGES, "fold": np.arange(N) % 5, "wahr": SCORE, "ausfall": OUTCOME},
    ],
)
def test_the_score_beside_other_numbers(columns: dict[str, Any]) -> None:
    scored(table(**columns))


@pytest.mark.parametrize(
    ("first", "second"), [("lgbm", "xgb"), ("logit_before", "logit_after"), ("a", "a_scaled")]
)
def test_two_scores_that_rise_together_are_asked_about(first: str, second: str) -> None:
    data = table(**{"target": OUTCOME, first: 1.5 * MARGIN + OTHER / 10, second: MARGIN})
    with pytest.raises(FileError, match=f'"{first}" and "{second}", each of which may be') as error:
        read("a.csv", data)
    assert len(str(error.value)) <= 600
    scored(data, class_columns=(second,))
    both = read("a.csv", data, class_columns=(first, second)).rows
    assert isinstance(both, LogitSet)
    np.testing.assert_allclose(both.logits[:, 1], MARGIN)


def test_two_shares_are_asked_about() -> None:
    data = table(target=OUTCOME, lgbm=SCORE, xgb=SCORE**2)
    with pytest.raises(FileError, match='"lgbm" and "xgb", each of which may be the score'):
        read("a.csv", data)
    scored(data, class_columns=("lgbm",))


@pytest.mark.parametrize("names", [("cat", "dog"), ("no", "yes"), ("0", "1")])
def test_the_logits_of_two_classes_stay_two(names: tuple[str, str]) -> None:
    data = table(**{"label": OUTCOME, names[0]: -MARGIN / 2, names[1]: MARGIN / 2})
    assert not [doubt for doubt in scored(data).doubts if "perhaps" in doubt]


@pytest.mark.parametrize("names", [("no", "yes"), ("0", "1")])
def test_names_tell_two_classes_whose_logits_rise_together(names: tuple[str, str]) -> None:
    scored(table(**{"label": OUTCOME, names[0]: 2 * MARGIN, names[1]: 3 * MARGIN}))


def test_two_columns_that_nothing_tells_are_doubted() -> None:
    upload = read("a.csv", table(label=OUTCOME, uplift=OTHER, margin=MARGIN))
    assert any("perhaps one of them alone is the score" in doubt for doubt in upload.doubts)


def test_numbers_beside_numbered_classes() -> None:
    columns = {"label": LABELS, **{str(k): LOGITS[:, k] for k in range(3)}, "x1": OTHER}
    classed(table(**columns))


def test_a_mark_that_begins_with_is_is_no_class() -> None:
    late = (np.arange(N) >= 70).astype(int)
    for values in (LOGITS, SHARES):
        columns = dict(zip(CLASSES, values.T, strict=True))
        classed(table(label=CLASSES[LABELS], **columns, is_new=late))


def test_a_column_that_is_never_the_label_is_doubted() -> None:
    columns = dict(zip(CLASSES, LOGITS.T, strict=True))
    upload = read("a.csv", table(label=CLASSES[LABELS], **columns, price=OTHER))
    said = [doubt for doubt in upload.doubts if "price" in doubt]
    assert len(said) == 1
    assert "perhaps this column holds other numbers than logits: if so, choose" in said[0]
    chosen = classed(table(label=CLASSES[LABELS], **columns, price=OTHER), class_columns=CLASSES)
    assert not [doubt for doubt in chosen.doubts if "price" in doubt]


def test_whole_numbers_without_a_header() -> None:
    data = "\n".join(
        ",".join(map(str, [*row, top, label]))
        for row, top, label in zip(LOGITS.tolist(), TOP, LABELS, strict=True)
    )
    classed(data.encode(), "a.txt")


@pytest.mark.parametrize(
    ("head", "label"),
    [
        ("$RP-{}", "Species"), ("P_Species{}", "F_Species"), ("Status_{}", "Status"),
        ("predictions.{}", "data.Species"), ("{} (net)", "kind"), ("IP_{}", "_FROM_"),
    ],
)  # fmt: skip
def test_headings_that_hold_the_names_of_the_classes(head: str, label: str) -> None:
    columns = {head.format(name): SHARES[:, k] for k, name in enumerate(CLASSES)}
    upload = classed(table(**{label: CLASSES[LABELS], **columns}))
    assert isinstance(upload.rows, LogitSet)
    assert upload.rows.class_names == tuple(CLASSES)


def test_numbered_classes_after_the_name_of_the_label() -> None:
    data = table(BAD=OUTCOME, P_BAD1=SCORE, P_BAD0=1 - SCORE, F_BAD=OUTCOME)
    assert scored(data).rows.class_names == ("0", "1")  # type: ignore[union-attr]


def test_the_prediction_is_not_the_label_although_its_name_is_in_the_headings() -> None:
    columns = {f"net ({name})": SHARES[:, k] for k, name in enumerate(CLASSES)}
    classed(table(iris=CLASSES[LABELS], net=CLASSES[TOP], **columns))


def test_a_measure_of_each_class_is_no_class() -> None:
    logits = {f"logit_{name}": LOGITS[:, k] for k, name in enumerate(CLASSES)}
    spread = {f"logit_std_{name}": abs(OTHER) + k for k, name in enumerate(CLASSES)}
    classed(table(label=CLASSES[LABELS], **logits, **spread))


@pytest.mark.parametrize(("first", "second"), [("vit_", "net_"), ("prob_", "prob_cal_")])
def test_two_sets_of_classes_are_asked_about(first: str, second: str) -> None:
    columns = {f"{first}{name}": SHARES[:, k] for k, name in enumerate(CLASSES)}
    others = {f"{second}{name}": SHARES[:, k] ** 0.5 for k, name in enumerate(CLASSES)}
    total = sum(others.values())
    others = {name: values / total for name, values in others.items()}
    data = table(label=CLASSES[LABELS], **columns, **others)
    with pytest.raises(FileError, match=f'two sets of class columns, such as "{first}cat" and'):
        read("a.csv", data)
    numbers = table(label=LABELS, **columns, **others)
    classed(numbers, class_columns=tuple(columns))


def test_numbered_sets_that_both_sum_to_one_are_doubted() -> None:
    columns = {f"m{j}_p{k}": SHARES[:, k] for j in range(2) for k in range(3)}
    upload = classed(table(label=LABELS, **columns))
    assert any('3 others, from "m1_p0", sum to 1 as well' in doubt for doubt in upload.doubts)


@pytest.mark.parametrize(
    "columns",
    [
        {"x1": OTHER, "x2": -OTHER, "species": CLASSES[LABELS], "prediction_label": CLASSES[TOP],
         "prediction_score": SHARES.max(axis=1)},
        {"x1": OTHER, "x2": -OTHER, "y_true": LABELS, "y_pred": TOP, "y_conf": SHARES.max(axis=1)},
        {"gt": CLASSES[LABELS], "top1": CLASSES[TOP], "top1conf": SHARES.max(axis=1)},
        {"inst#": 1 + np.arange(N), "actual": CLASSES[LABELS], "predicted": CLASSES[TOP],
         "error": np.where(TOP == LABELS, "", "+"), "prediction": SHARES.max(axis=1)},
    ],
)  # fmt: skip
def test_the_score_of_the_prediction_beside_other_numbers(columns: dict[str, Any]) -> None:
    topped(table(**columns))


def test_logits_stay_classes_beside_a_confidence_that_goes_with_them() -> None:
    columns = {"a": LOGITS[:, 0], "b": LOGITS[:, 1], "c": LOGITS[:, 2]}
    classed(table(label=LABELS, **columns, confidence=SHARES.max(axis=1)))
    alone = read("a.csv", table(**columns, confidence=SHARES.max(axis=1)))
    assert alone.piece is not None
    np.testing.assert_allclose(np.asarray(alone.piece.table), LOGITS)


def test_boxes_are_no_classes() -> None:
    corners = {name: RNG.uniform(0, 500, N).round(1) for name in ("xmin", "ymin", "xmax", "ymax")}
    with pytest.raises(FileError, match="without a predicted label beside the true one"):
        read("a.csv", table(class_id=TOP, confidence=SHARES.max(axis=1), **corners))


def test_the_decision_that_is_called_class() -> None:
    scored(table(Probability=SCORE, Class=(SCORE > 0.5).astype(int), Label=OUTCOME))
    columns = {f"Probability:Class={k}": SHARES[:, k] for k in range(3)}
    classed(table(**columns, Class=TOP, Label=LABELS))


@pytest.mark.parametrize(
    "name",
    ["prob_neg", "p_no", "P(False)", "class0_prob", "P(Y=0)", "negative_score", "0_prob",
     "prob_-1", "prob_0", "prob_0.0", "P(target=no)"],
)  # fmt: skip
def test_a_score_of_class_0_is_refused(name: str) -> None:
    with pytest.raises(
        FileError, match=r"alone, of class [-0-9]+ by its name, wanted the score of class 1"
    ):
        read("a.csv", table(**{"target": OUTCOME, name: 1 - SCORE}))


@pytest.mark.parametrize(
    "name", ["prob_1.0", "score_v2.0", "prob_no_show", "score_fold0", "model_0", "p10"]
)
def test_a_score_that_only_looks_like_class_0(name: str) -> None:
    scored(table(**{"target": OUTCOME, name: SCORE}))


def test_the_score_of_the_word_that_means_no() -> None:
    words = np.array(["negative", "positive"])[OUTCOME]
    upload = read("a.csv", table(label=words, negative_score=1 - SCORE))
    assert isinstance(upload.rows, LogitSet)
    assert upload.rows.class_names == ("positive", "negative")
    np.testing.assert_array_equal(upload.rows.labels, 1 - OUTCOME)


def test_the_score_of_the_lower_of_two_labels() -> None:
    data = table(label=1 + OUTCOME, p1=SCORE)
    with pytest.raises(FileError, match="perhaps of the lower of two labels"):
        read("a.csv", data)
    scored(data, class_columns=("p1",))


def test_a_score_of_class_0_whose_labels_are_elsewhere_is_doubted() -> None:
    assert class_of_score("prob_neg", None, ())[1] == (
        "Column prob_neg is read as the score of class 1, not of class 0.",
    )


def parquet(**columns: Any) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    data = sink.getvalue().to_pybytes()
    assert isinstance(data, bytes)
    return data


def test_an_embedding_beside_a_score() -> None:
    lists = pa.array(RNG.normal(size=(N, 16)).tolist())
    upload = read("a.parquet", parquet(score=SCORE, label=OUTCOME, embedding=lists))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities[:, 1], SCORE)
    sure = SHARES.max(axis=1)
    topped(parquet(confidence=sure, pred=TOP, label=LABELS, embedding=lists), "a.parquet")


def test_lists_of_one_value() -> None:
    lists = pa.array(SCORE[:, np.newaxis].tolist())
    upload = read("a.parquet", parquet(probs=lists, label=OUTCOME))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities[:, 1], SCORE)


def test_many_columns_are_told_apart_in_a_moment() -> None:
    start = time.process_time()
    upload = read("a.parquet", parquet(probs=pa.array([[0.0] * 14_000]), label=[0]))
    assert isinstance(upload.rows, LogitSet)
    assert time.process_time() - start < 2
    with pytest.raises(FileError, match="lists of 300,000 values, wanted at most 200,000"):
        read("a.parquet", parquet(probs=pa.array([[0.0] * 300_000]), label=[0]))


def test_many_sets_of_headings_take_no_time() -> None:
    heads = {f"f{j}_{word}": OTHER for j in range(1500) for word in ("cat", "dog")}
    start = time.process_time()
    with pytest.raises(FileError, match="label"):
        read("a.csv", table(label=CLASSES[OUTCOME], **heads))
    assert time.process_time() - start < 2


NAMED = {f"logit_{name}": column for name, column in zip(CLASSES, LOGITS.T, strict=True)}


@pytest.mark.parametrize("values", [softmax(LOGITS / 2), LOGITS / 2])
@pytest.mark.parametrize("called", ["prob_{}", "{}", "calibrated_{}"])
def test_two_sets_of_class_columns_are_refused(values: Any, called: str) -> None:
    if called == "{}" and values.min() < 0:
        return
    others = {called.format(name): column for name, column in zip(CLASSES, values.T, strict=True)}
    data = table(**NAMED, **others, label=CLASSES[LABELS])
    with pytest.raises(FileError, match=r"two sets of class columns, such as .*_cat"):
        read("a.csv", data)
    chosen = read("a.csv", data, class_columns=tuple(NAMED))
    assert isinstance(chosen.rows, LogitSet)
    np.testing.assert_allclose(chosen.rows.logits, LOGITS)


@pytest.mark.parametrize(
    "values", [SHARES, SHARES * 100, np.log(SHARES), SHARES.round(3), np.eye(3)[TOP], LOGITS * 1.0]
)
def test_class_columns_that_say_the_same_are_no_rivals(values: Any) -> None:
    others = {f"prob_{name}": column for name, column in zip(CLASSES, values.T, strict=True)}
    upload = read("a.csv", table(**NAMED, **others, label=CLASSES[LABELS]))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities, SHARES, atol=1e-9)


def test_two_models_of_orange_are_refused() -> None:
    other = softmax(LOGITS / 2)
    columns = {f"LR ({name})": SHARES[:, k] for k, name in enumerate(CLASSES)}
    columns |= {f"Tree ({name})": other[:, k] for k, name in enumerate(CLASSES)}
    data = table(animal=CLASSES[LABELS], LR=CLASSES[TOP], **columns, Tree=CLASSES[TOP])
    with pytest.raises(FileError, match=r"such as \"LR \(cat\)\" and \"Tree \(cat\)\""):
        read("a.csv", data)


def test_measures_called_by_class_are_no_rivals() -> None:
    others = {f"{what}_{name}": OTHER + 1 for what in ("std", "n") for name in CLASSES}
    upload = read("a.csv", table(**NAMED, **others, label=CLASSES[LABELS]))
    assert upload.class_names == tuple(CLASSES)


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("count", AGES, True), ("Freq", AGES, True), ("sample_weight", SCORE, True),
        ("weight", 60 + 10 * SCORE, False), ("weight", SCORE, True), ("n", OUTCOME, False),
        ("count", np.full(N, 3), False), ("n", SCORE, False), ("age", AGES, False),
    ],
)  # fmt: skip
def test_each_row_counts_once(name: str, values: Any, said: bool) -> None:  # noqa: FBT001
    upload = scored(table(prob=SCORE, label=OUTCOME, **{name: values}))
    assert any("each row counts once" in doubt for doubt in upload.doubts) == said


def test_a_first_row_of_data_that_is_mostly_words_is_no_header() -> None:
    rows = zip(CLASSES[LABELS], CLASSES[TOP], SHARES.max(axis=1), strict=True)
    data = "\n".join(f"{true}\t{told}\t{score}" for true, told, score in rows)
    upload = read("a.tsv", data.encode())
    assert "No header row with names: the first row holds numbers." in upload.found
    assert upload.piece is not None
    assert len(np.asarray(upload.piece.table)) == N


def test_scores_of_other_things_that_are_called_by_the_classes_are_no_rivals() -> None:
    shares = {f"prob_{name}": column for name, column in zip(CLASSES, SHARES.T, strict=True)}
    foods = {f"{name}_food_score": SCORE * (k + 1) / 3 for k, name in enumerate(CLASSES)}
    upload = read("a.csv", table(**shares, **foods, label=CLASSES[LABELS]))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities, SHARES, atol=1e-9)
