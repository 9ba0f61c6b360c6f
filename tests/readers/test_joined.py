"""Files that belong together: rows named in both, classes in one order, one meaning of a score."""

import io
import json
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcore.data import EventScores, LogitSet
from dashboard.readers import FileError, Upload, combine, read
from tests.readers.files import LABELS, LOGITS, PROBABILITIES, N, npy, npz

CLASSES = ("ant", "bee", "cow", "doe")
TEXTS = [CLASSES[k] for k in LABELS]
NAMES = [f"s{k:03d}" for k in range(N)]
SWAPPED = [*range(10), *range(19, 9, -1), *range(20, N)]
SHUFFLED = [(N + 2 - k) % N for k in range(N)]


def lines(header: str, *columns: Sequence[object]) -> bytes:
    rows = (",".join(map(str, row)) for row in zip(*columns, strict=True))
    return "\n".join([header, *rows]).encode()


def values_of(header: str, *columns: Sequence[object]) -> Upload:
    return read("p.csv", lines(f"{header},{','.join(CLASSES)}", *columns, *LOGITS.T.tolist()))


def labels_of(header: str, *columns: Sequence[object], order: Sequence[int]) -> Upload:
    ordered = [[column[k] for k in order] for column in (*columns, TEXTS)]
    return read("y.csv", lines(f"{header},label", *ordered))


def labels_in(upload: Upload) -> list[int]:
    assert isinstance(upload.rows, LogitSet)
    return [int(label) for label in upload.rows.labels]


@pytest.mark.parametrize("name", ["patient", "uid", "fname", "case_id", "key", "url", "Zeile"])
@pytest.mark.parametrize("ids", [NAMES, [7 * k + 100 for k in range(N)]])
@pytest.mark.parametrize("order", [SWAPPED, SHUFFLED])
def test_a_column_of_any_name_that_both_files_have_names_the_rows(
    name: str, ids: Sequence[object], order: Sequence[int]
) -> None:
    upload = combine([values_of(name, ids), labels_of(name, ids, order=order)])
    assert labels_in(upload) == LABELS.tolist()
    assert f'in the order of the rows by column "{name}" (40 rows)' in " ".join(upload.repairs)
    upload = combine([values_of(name, ids), labels_of(name, ids, order=range(N))])
    assert labels_in(upload) == LABELS.tolist()
    assert not upload.repairs
    assert f'Column "{name}" is the same in both files, row by row.' in upload.found


@pytest.mark.parametrize(("one", "other"), [("filename", "case"), ("case", "url")])
def test_columns_of_other_names_with_the_same_cells_name_the_rows(one: str, other: str) -> None:
    upload = combine([values_of(one, NAMES), labels_of(other, NAMES, order=SHUFFLED)])
    assert labels_in(upload) == LABELS.tolist()


def test_what_stands_beside_the_labels_follows_them() -> None:
    age = [20 + k // 2 for k in range(N)]
    given = labels_of("case,age,pred", NAMES, age, TEXTS, order=SHUFFLED)
    upload = combine([values_of("case", NAMES), given])
    assert upload.columns["rows"]["age"].values.tolist() == age
    raw = upload.contents.sets["rows"]
    assert raw.predicted is not None  # type: ignore[union-attr]
    texts = raw.predicted.categories or ()  # type: ignore[union-attr]
    assert [texts[k] for k in raw.predicted.values] == TEXTS  # type: ignore[union-attr]


def test_rows_that_a_column_says_are_others_are_doubted() -> None:
    site = [("north", "south", "east")[k % 3] for k in range(N)]
    upload = combine([values_of("site", site), labels_of("site", site, order=SWAPPED)])
    count = sum(site[k] != site[j] for k, j in enumerate(SWAPPED))
    said = f'Column "site" stands in both files and differs in {count} of 40 rows'
    assert any(doubt.startswith(said) for doubt in upload.doubts)
    upload = combine([values_of("site", site), labels_of("site", site, order=range(N))])
    assert not [doubt for doubt in upload.doubts if "site" in doubt]
    upload = combine(
        [values_of("path", NAMES), labels_of("file", [*NAMES[1:], "x"], order=SWAPPED)]
    )
    assert 'Columns "path" and "file" name the rows of the two files by other' in upload.doubts[0]


def test_names_that_could_not_be_compared_are_doubted() -> None:
    many = np.arange(300) % N
    names = [f"s{k}" for k in range(300)]
    table = lines("id,file,a,b,c,d", names, names, *LOGITS[many].T.tolist())
    truth = lines("id,file,label", names, names, LABELS[many].tolist())
    upload = combine([read("p.csv", table), read("y.csv", truth)])
    assert "stands in both files and was not compared" in " ".join(upload.doubts)


def test_bare_arrays_are_put_together_as_they_stand() -> None:
    upload = combine([
        read("p.npz", npz(logits=LOGITS)), read("y.npz", npz(labels=LABELS))
    ])  # fmt: skip
    assert labels_in(upload) == LABELS.tolist()
    assert "Rows and labels were put together as they stand." in upload.found
    assert not [doubt for doubt in upload.doubts if "stand" in doubt]


# Classes --------------------------------------------------------------------------------------


def test_classes_that_only_one_set_names_are_doubted() -> None:
    bare = read("cal.npz", npz(probs=PROBABILITIES, labels=LABELS))
    named = read("test.csv", lines(f"{','.join(CLASSES)},label", *PROBABILITIES.T.tolist(), TEXTS))
    numbered = read(
        "test.csv", lines("p0,p1,p2,p3,label", *PROBABILITIES.T.tolist(), LABELS.tolist())
    )
    said = "names its classes (ant, bee, cow, ...): the other is taken to have them in the same"
    assert f"Only the test set {said} order." in combine([bare, named]).doubts
    assert not [doubt for doubt in combine([bare, numbered]).doubts if "order" in doubt]


# One score ------------------------------------------------------------------------------------

SCORES = np.linspace(0.02, 0.97, N)
HALVES = [("no", "yes")[k % 2] for k in range(N)]


def scored(name: str, heading: str, labels: Sequence[object], turned: int = 1) -> Upload:
    scores = SCORES if turned == 1 else 1 - SCORES
    return read(name, lines(f"{heading},label", scores.tolist(), labels))


@pytest.mark.parametrize(
    ("one", "other"),
    [("prob_yes", "prob_no"), ("prob_no", "prob_yes"), ("prob_no", "score"), ("score", "no")],
)
def test_scores_of_other_classes_are_refused(one: str, other: str) -> None:
    files = [scored("cal.csv", one, HALVES), scored("test.csv", other, HALVES, -1)]
    with pytest.raises(FileError, match=r'those of "(yes|no)" in the calibration set, but those'):
        combine(files)


@pytest.mark.parametrize(("one", "other"), [("prob_yes", "yes"), ("score", "prob_yes")])
def test_scores_of_the_same_class_are_read(one: str, other: str) -> None:
    upload = combine([scored("cal.csv", one, HALVES), scored("test.csv", other, HALVES)])
    assert isinstance(upload.test, LogitSet)
    np.testing.assert_allclose(upload.test.probabilities[:, 1], SCORES)
    assert upload.test.labels.tolist() == [k % 2 for k in range(N)]


def test_scores_of_other_names_are_doubted() -> None:
    numbers = [k % 2 for k in range(N)]
    upload = combine([scored("cal.csv", "churn", numbers), scored("test.csv", "stays", numbers)])
    said = 'The score is called "churn" in the calibration set and "stays" in the test set'
    assert [doubt for doubt in upload.doubts if doubt.startswith(said)]
    upload = combine([scored("cal.csv", "p_hat", numbers), scored("test.csv", "p_hat", numbers)])
    assert not [doubt for doubt in upload.doubts if "The score is called" in doubt]


# Arrays by name -------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [("probs_uncal", "probs_cal"), ("p_Uncalib", "p_calib")])
def test_uncalibrated_and_calibrated_values_are_told_from_sets(names: tuple[str, str]) -> None:
    first, second = (names[0].replace("p_", "prob_"), names[1].replace("p_", "prob_"))
    data = npz(**{first: PROBABILITIES, second: PROBABILITIES}, labels=LABELS)
    with pytest.raises(FileError, match="which is ambiguous"):
        read("a.npz", data)
    whole = npz(**{first: PROBABILITIES, second: PROBABILITIES}, labels=LABELS, logits=LOGITS)
    upload = read("a.npz", whole)
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.logits, LOGITS)


def test_a_further_table_of_the_same_rows_is_left_out() -> None:
    upload = read("a.npz", npz(logits=LOGITS, labels=LABELS, cal_probs=PROBABILITIES))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.logits, LOGITS)
    assert upload.uses["cal_probs"] == "left out"
    with pytest.raises(FileError, match="values without a partner for the calibration set"):
        read("a.npz", npz(logits=LOGITS, labels=LABELS, cal_probs=PROBABILITIES[:9]))


# Labels ---------------------------------------------------------------------------------------


def test_a_word_among_class_numbers_is_named() -> None:
    labels = [*map(str, LABELS)]
    labels[3] = "nan"
    data = lines(f"{','.join(CLASSES)},label", *LOGITS.T.tolist(), labels)
    with pytest.raises(FileError, match=r'found label "nan", .* in 1 row \(row 5\) of the file'):
        read("a.csv", data)


def test_signs_that_could_be_markup_are_shown_as_marks_like_them() -> None:
    labels = [("<=50K", ">50K")[k % 2] for k in range(N)]
    with pytest.raises(FileError) as caught:
        scored("a.csv", "score", labels)
    assert "\u2039=50K" in str(caught.value) or "\u203a50K" in str(caught.value)
    assert not {*"<>"} & {*str(caught.value)}


def parquet_of(columns: Mapping[str, object]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def test_an_index_of_pandas_that_counts_is_joined() -> None:
    index: dict[str, object] = {"__index_level_0__": SHUFFLED}
    values = {name: LOGITS[:, k] for k, name in enumerate(CLASSES)}
    labels = {"label": LABELS[SHUFFLED], **index}
    upload = combine([read("p.parquet", parquet_of(values)), read("y.parquet", parquet_of(labels))])
    assert labels_in(upload) == LABELS.tolist()
    assert 'by column "__index_level_0__" (40 rows)' in " ".join(upload.repairs)
    other = {name: column[SHUFFLED] for name, column in values.items()}
    plain = read("y.parquet", parquet_of({"label": LABELS}))
    upload = combine([read("p.parquet", parquet_of({**other, **index})), plain])
    assert labels_in(upload) == [LABELS[k] for k in SHUFFLED]
    labels = {"label": LABELS, "__index_level_0__": [*range(N)]}
    both = [read("p.parquet", parquet_of(values)), read("y.parquet", parquet_of(labels))]
    assert labels_in(combine(both)) == LABELS.tolist()


def test_a_count_in_another_order_beside_rows_without_names_is_doubted() -> None:
    labels = read("y.csv", lines("id,label", SHUFFLED, [TEXTS[k] for k in SHUFFLED]))
    upload = combine([values_of("extra", [0] * N), labels])
    assert any('"id" counts the rows of one file in another order' in d for d in upload.doubts)
    labels = read("y.csv", lines("id,label", range(N), TEXTS))
    said = combine([values_of("extra", [0] * N), labels]).doubts
    assert not any("counts the rows" in doubt for doubt in said)


PREDICTED = PROBABILITIES.argmax(axis=1)
PICKED = PREDICTED.tolist()
TOPS = PROBABILITIES.max(axis=1)
SITES = (LABELS % 2).tolist()


def judged(top: Upload, truth: Upload) -> EventScores:
    assert top.piece is not None
    rows = combine([truth, top]).rows
    assert isinstance(rows, EventScores)
    np.testing.assert_array_equal(rows.hits, PREDICTED == LABELS)
    np.testing.assert_array_equal(rows.scores, TOPS)
    return rows


@pytest.mark.parametrize("name", ["p.csv", "p.json", "p.npz"])
@pytest.mark.parametrize("other", ["y.csv", "y.txt", "y.npy"])
def test_top_one_scores_beside_the_true_labels(name: str, other: str) -> None:
    made = {
        "p.csv": lines("pred,confidence", PICKED, TOPS.tolist()),
        "p.json": json.dumps({"pred": PREDICTED.tolist(), "confidence": TOPS.tolist()}).encode(),
        "p.npz": npz(pred=PREDICTED, confidence=TOPS),
        "y.csv": lines("label", [*LABELS]), "y.txt": lines(str(LABELS[0]), [*LABELS[1:]]),
        "y.npy": npy(LABELS),
    }  # fmt: skip
    judged(read(name, made[name]), read(other, made[other]))


def test_top_one_scores_are_joined_by_what_names_the_rows() -> None:
    words = [CLASSES[k] for k in PREDICTED]
    top = read("p.csv", lines("id,predicted,confidence,site", NAMES, words, TOPS.tolist(), SITES))
    judged(top, labels_of("id", NAMES, order=SHUFFLED))
    upload = combine([top, labels_of("id", NAMES, order=SHUFFLED)])
    assert 'by column "id"' in upload.repairs[0]
    np.testing.assert_array_equal(upload.columns["rows"]["site"].values, SITES)
    with pytest.raises(FileError, match='found "0", and no label that is ever predicted, as "doe'):
        combine([top, read("y.npy", npy(LABELS))])
    with pytest.raises(FileError, match=r"labels: found an array of shape \(40, 4\)"):
        combine([top, read("y.npy", npy(np.eye(4)[LABELS]))])
    with pytest.raises(FileError, match=r"40 rows in .* and 39 labels"):
        combine([top, read("y.npy", npy(LABELS[1:]))])
    with pytest.raises(FileError, match="2 with bare values"):
        combine([top, top])


def test_top_one_scores_of_two_sets() -> None:
    files = [
        read("val_p.csv", lines("pred,confidence", PICKED, TOPS.tolist())),
        read("test_p.csv", lines("top1_class,top1_prob", PICKED, TOPS.tolist())),
        read("val_y.npy", npy(LABELS)), read("test_y.npy", npy(LABELS)),
    ]  # fmt: skip
    for rows in combine(files).sets.values():
        assert isinstance(rows, EventScores)
        np.testing.assert_array_equal(rows.hits, PREDICTED == LABELS)


def test_predictions_without_labels_are_named() -> None:
    for upload in (
        read("p.npz", npz(probs=PROBABILITIES, pred=PREDICTED)),
        read("p.csv", lines("p_0,p_1,p_2,p_3,pred", *PROBABILITIES.T.tolist(), PICKED)),
    ):
        assert upload.piece is not None
        assert '"pred" holds predictions, as it is called, and the true classes' in upload.found[-1]
    assert "true classes" not in read("p.npz", npz(probs=PROBABILITIES)).found[-1]
    assert "true classes" not in read("p.npz", npz(pred=PROBABILITIES)).found[-1]
