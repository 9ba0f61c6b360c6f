"""Tables whose columns are told apart: by names, by their cells, or by lists of likely classes."""

from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.data import EventScores, LogitSet
from calibcore.events import TopR
from dashboard.readers import FileError, Upload, read
from tests.readers.files import LABELS, LOGITS, PROBABILITIES, Array, npz, pickled

NAMES = ("cat", "dog", "fox", "owl")
ORDER = np.argsort(-PROBABILITIES, axis=1, kind="stable")
TEXT = [NAMES[k] for k in LABELS]


def table(header: str, *columns: Iterable[object]) -> bytes:
    rows = (",".join(map(str, row)) for row in zip(*columns, strict=True))
    return "\n".join([header, *rows]).encode()


def probability_columns(values: Array = PROBABILITIES) -> list[list[float]]:
    return [column.tolist() for column in values.T]


def ranked(n_ranks: int, names: Sequence[object] = NAMES) -> list[list[object]]:
    columns: list[list[object]] = []
    for rank in range(n_ranks):
        columns.append([names[k] for k in ORDER[:, rank]])
        columns.append(PROBABILITIES[np.arange(len(LABELS)), ORDER[:, rank]].tolist())
    return columns


def logit_set(upload: Upload) -> LogitSet:
    assert isinstance(upload.rows, LogitSet)
    return upload.rows


def said(upload: Upload) -> str:
    return " ".join((*upload.found, *upload.repairs, *upload.missing))


@pytest.mark.parametrize(
    "heads",
    [
        "top{0}_class,top{0}_prob",
        "class_{0},prob_{0}",
        "pred_{0},score_{0}",
        "Top-{0} label,Top-{0} probability",
        "label_{0},confidence_{0}",
        "rank{0}.name,rank{0}.p",
    ],
)
@pytest.mark.parametrize("first", [0, 1])
def test_lists_of_all_classes_are_a_table(heads: str, first: int) -> None:
    header = ",".join(["true_label", *(heads.format(r + first) for r in range(4)), "town"])
    upload = read("a.csv", table(header, TEXT, *ranked(4), ["Bonn"] * len(LABELS)))
    rows = logit_set(upload)
    assert rows.class_names == NAMES
    np.testing.assert_array_equal(rows.labels, LABELS)
    np.testing.assert_allclose(rows.probabilities, PROBABILITIES, rtol=1e-9)
    assert list(upload.columns["rows"]) == ["town"]
    assert upload.uses["true_label"] == "label"


def test_classes_that_are_numbers_are_in_their_order() -> None:
    names = ["10", "9", "100", "0"]
    header = "label," + ",".join(f"class_{r},prob_{r}" for r in range(4))
    data = table(header, [names[k] for k in LABELS], *ranked(4, names))
    rows = logit_set(read("a.csv", data))
    assert rows.class_names == ("0", "9", "10", "100")
    assert [rows.class_names[k] for k in rows.labels] == [names[k] for k in LABELS]


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_lists_of_some_classes_keep_the_first(n_ranks: int) -> None:
    header = "label," + ",".join(f"top{r}_class,top{r}_prob" for r in range(1, n_ranks + 1))
    upload = read("a.csv", table(header, TEXT, *ranked(n_ranks)))
    assert isinstance(upload.rows, EventScores)
    expected = TopR(1).outcomes(PROBABILITIES, LABELS)
    np.testing.assert_array_equal(upload.rows.scores, expected.scores)
    np.testing.assert_array_equal(upload.rows.hits, expected.hits)
    told = f"Of at least 4 classes each row lists {n_ranks}" in said(upload)
    assert told == (n_ranks > 1)


def test_lists_that_contradict_themselves() -> None:
    first, second = ranked(2)[::2]
    scores = ranked(2)[1::2]
    header = "label,class_1,prob_1,class_2,prob_2"
    with pytest.raises(FileError, match=r"same class twice in 40 rows \(first in rows 2, 3, 4\)"):
        read("a.csv", table(header, TEXT, first, scores[0], first, scores[1]))
    with pytest.raises(FileError, match=r"later score above the first in 40 rows"):
        read("a.csv", table(header, TEXT, first, scores[1], second, scores[0]))
    with pytest.raises(FileError, match="without a true label"):
        read("a.csv", table("class_1,prob_1,class_2,prob_2", *ranked(2)))


@given(st.lists(st.permutations(range(4)), min_size=1, max_size=30), st.integers(1, 4))
def test_any_lists_give_back_their_table(rows: list[list[int]], n_ranks: int) -> None:
    weights = np.array([0.4, 0.3, 0.2, 0.1])
    scores = np.empty((len(rows), 4))
    np.put_along_axis(scores, np.array(rows), np.tile(weights, (len(rows), 1)), axis=1)
    labels = [row[-1] for row in rows]
    columns: list[list[object]] = []
    for rank in range(n_ranks):
        columns += [[row[rank] for row in rows], [float(weights[rank])] * len(rows)]
    header = "label," + ",".join(f"class_{r},prob_{r}" for r in range(1, n_ranks + 1))
    if n_ranks == 1:
        header = "label,top1_class,top1_prob"
    upload = read("a.csv", table(header, labels, *columns))
    if isinstance(upload.rows, LogitSet):
        assert n_ranks == 4
        np.testing.assert_allclose(upload.rows.probabilities, scores, rtol=1e-12)
        np.testing.assert_array_equal(upload.rows.labels, labels)
    else:
        assert isinstance(upload.rows, EventScores)
        assert upload.rows.scores.tolist() == [0.4] * len(rows)
        hits = [row[0] == label for row, label in zip(rows, labels, strict=True)]
        assert upload.rows.hits.tolist() == hits


def test_tables_as_r_writes_them() -> None:
    header = ".pred_cat,.pred_dog,.pred_fox,.pred_owl,.pred_class,obs,rowIndex"
    predicted = [NAMES[k] for k in ORDER[:, 0]]
    data = table(header, *probability_columns(), predicted, TEXT, range(1, 41))
    upload = read("a.csv", data)
    rows = logit_set(upload)
    assert rows.class_names == NAMES
    np.testing.assert_allclose(rows.probabilities, PROBABILITIES, rtol=1e-12)
    assert upload.uses[".pred_class"] == "prediction"
    assert upload.uses["rowIndex"] == "left out"
    assert upload.columns["rows"] == {}


@pytest.mark.parametrize(
    "arrays",
    [
        {"predictions": LOGITS, "label_ids": LABELS},
        {"predictions": LOGITS, "ground_truth": LABELS},
        {"y_true": LABELS, "y_score": LOGITS},
    ],
)
def test_arrays_as_libraries_name_them(arrays: dict[str, Array]) -> None:
    for name, data in (("a.npz", npz(compress=False, **arrays)), ("a.pkl", pickled(arrays))):
        rows = logit_set(read(name, data))
        np.testing.assert_array_equal(rows.logits, LOGITS)
        np.testing.assert_array_equal(rows.labels, LABELS)


def test_a_class_is_no_further_number() -> None:
    ages = [30 + k % 7 for k in range(40)]
    weights = [0.5 + k % 3 / 10 for k in range(40)]
    for values, extra in ((PROBABILITIES, weights), (PROBABILITIES * 100, ages), (LOGITS, ages)):
        data = table("cat,dog,fox,owl,extra,label", *probability_columns(values), extra, TEXT)
        upload = read("a.csv", data)
        assert logit_set(upload).class_names == NAMES
        assert upload.columns["rows"]["extra"].values.tolist() == extra


@pytest.mark.parametrize("place", range(5))
def test_shares_are_found_among_other_numbers(place: int) -> None:
    shift = [-0.25 - k for k in range(40)]
    heads, columns = list(NAMES), probability_columns()
    heads.insert(place, "shift")
    columns.insert(place, shift)
    upload = read("a.csv", table(",".join([*heads, "label"]), *columns, TEXT))
    np.testing.assert_allclose(logit_set(upload).probabilities, PROBABILITIES, rtol=1e-12)
    assert upload.columns["rows"]["shift"].values.tolist() == shift


def test_a_reference_class_stays_a_class() -> None:
    values = LOGITS - LOGITS[:, :1]
    columns: list[list[float]] = [[0] * 40, *probability_columns(values)[1:]]
    upload = read("a.csv", table("cat,dog,fox,owl,label", *columns, TEXT))
    np.testing.assert_array_equal(logit_set(upload).logits, values)


def test_a_numbered_column_of_words_is_refused() -> None:
    broken = [f"x{value}" for value in LOGITS[:, 0]]
    header = "logit_0,logit_1,logit_2,logit_3,label"
    with pytest.raises(FileError, match=r'row 2, column "logit_0": found "x'):
        read("a.csv", table(header, broken, *probability_columns(LOGITS)[1:], LABELS))


@pytest.mark.parametrize("first", [0, 1])
def test_a_column_that_counts_is_no_class(first: int) -> None:
    count = range(first, 40 + first)
    for header in ("n,cat,dog,fox,owl,label", "n,prob_0,prob_1,prob_2,prob_3,label"):
        for values in (PROBABILITIES, LOGITS, LOGITS.round()):
            data = table(header, count, *probability_columns(values), LABELS)
            upload = read("a.csv", data)
            assert logit_set(upload).n_classes == 4
            assert "counts the 40 rows" in said(upload)
            assert upload.columns["rows"] == {}


def test_a_count_beside_one_score() -> None:
    data = table("n,value,label", range(40), PROBABILITIES[:, 1].tolist(), LABELS % 2)
    rows = logit_set(read("a.csv", data))
    np.testing.assert_allclose(rows.probabilities[:, 1], PROBABILITIES[:, 1], rtol=1e-9)


def test_the_label_is_found_by_its_cells() -> None:
    upload = read("a.csv", table("cat,dog,fox,owl,species", *probability_columns(), TEXT))
    np.testing.assert_array_equal(logit_set(upload).labels, LABELS)
    assert "Column species was taken for the label" in said(upload)
    assert upload.label_column == "species"


def test_a_score_beside_other_numbers() -> None:
    header = "age,score,label"
    upload = read("a.csv", table(header, [31, 45] * 20, PROBABILITIES[:, 1], LABELS % 2))
    rows = logit_set(upload)
    np.testing.assert_allclose(rows.probabilities[:, 1], PROBABILITIES[:, 1], rtol=1e-9)
    assert list(upload.columns["rows"]) == ["age"]


@pytest.mark.parametrize(
    ("header", "texts", "names"),
    [
        (".pred_yes,truth", ("no", "yes"), ("no", "yes")),
        ("prob_ill,label", ("well", "ill"), ("well", "ill")),
        ("score,label", ("False", "True"), ("False", "True")),
        ("score,label", ("0", "1"), ("0", "1")),
    ],
)
def test_text_labels_beside_one_score(
    header: str, texts: tuple[str, str], names: tuple[str, str]
) -> None:
    scores = PROBABILITIES[:, 1]
    upload = read("a.csv", table(header, scores, [texts[k % 2] for k in LABELS]))
    rows = logit_set(upload)
    assert rows.class_names == names
    np.testing.assert_array_equal(rows.labels, LABELS % 2)
    np.testing.assert_allclose(rows.probabilities[:, 1], scores, rtol=1e-9)


def test_named_scores_beside_the_classes_are_left_out() -> None:
    header = ",".join(
        [*(f"logit_{k}" for k in range(4)), *(f"prob_{k}" for k in range(4)), "confidence", "label"]
    )
    confidence = PROBABILITIES.max(axis=1).tolist()
    columns = [*probability_columns(LOGITS), *probability_columns(), confidence, LABELS]
    upload = read("a.csv", table(header, *columns))
    np.testing.assert_array_equal(logit_set(upload).logits, LOGITS)
    assert upload.columns["rows"] == {}
    assert upload.uses["prob_3"] == upload.uses["confidence"] == "left out"


@pytest.mark.parametrize("extra", [[31, 40, 50], [1.5, 2.5, 3.5]])
def test_one_events_scores_beside_other_numbers(extra: list[float]) -> None:
    upload = read("a.csv", table("confidence,correct,age", [0.9, 0.6, 0.5], [1, 0, 1], extra))
    assert isinstance(upload.rows, EventScores)
    assert upload.rows.scores.tolist() == [0.9, 0.6, 0.5]
    assert upload.columns["rows"]["age"].values.tolist() == extra
    header = "age,confidence,pred,label,weight"
    data = table(header, extra, [0.9, 0.6, 0.5], "aba", "aab", extra)
    assert isinstance(read("a.csv", data).rows, EventScores)


def test_labels_beside_other_numbers_have_no_score() -> None:
    upload = read("y.csv", table("label,age", LABELS, [31, 45] * 20))
    assert upload.piece is not None
    assert upload.piece.table is None


@pytest.mark.parametrize("prefix", ["label", "y_true", "target"])
def test_a_column_of_labels_for_each_class(prefix: str) -> None:
    hot = np.eye(4, dtype=int)[LABELS]
    heads = [f"prob_{k}" for k in range(4)] + [f"{prefix}_{k}" for k in range(4)]
    upload = read("a.csv", table(",".join(heads), *probability_columns(), *hot.T))
    np.testing.assert_array_equal(logit_set(upload).labels, LABELS)
    named = f"One-hot labels in columns {prefix}_0 to {prefix}_3"
    assert f"{named} were turned into class numbers (40 rows)." in upload.repairs
    assert upload.uses[f"{prefix}_2"] == "label"
    hot[7] = [1, 0, 0, 1]
    with pytest.raises(FileError, match=r"soft or several labels in 1 row \(row 9\)"):
        read("a.csv", table(",".join(heads), *probability_columns(), *hot.T))


def test_percent_signs_beside_other_numbers() -> None:
    shares = [[f"{100 * value:.6f}%" for value in column] for column in probability_columns()]
    data = table("age,cat,dog,fox,owl,label", [31, 45] * 20, *shares, TEXT)
    upload = read("a.csv", data)
    np.testing.assert_allclose(logit_set(upload).probabilities, PROBABILITIES, atol=1e-7)
    assert list(upload.columns["rows"]) == ["age"]


def test_a_score_and_a_prediction_wait_for_labels() -> None:
    upload = read("a.csv", table("score,pred", PROBABILITIES[:, 1], LABELS % 2))
    assert upload.piece is not None
    assert upload.piece.labels is None
    assert upload.values_kind == "probabilities"
