"""Files that belong together, from their bytes: values and labels, two sets, models."""

import hashlib
import json
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from calibcore.data import EventScores, LogitSet
from dashboard.readers import FileError, Upload
from dashboard.readers.refusal import Question
from tests.readers.files import (
    HEADER,
    LABELS,
    LABELS_TEST,
    LOGITS,
    LOGITS_TEST,
    PROBABILITIES,
    Array,
    Given,
    N,
    combined,
    csv_of,
    event_scores,
    headed,
    logit_set,
    npy,
    npz,
    parquet,
    same,
    same_event,
    same_hits,
)

CLASSES = ("ant", "bee", "cow", "doe")
TEXTS = [CLASSES[k] for k in LABELS]
NAMES = [f"s{k:03d}" for k in range(N)]
NUMBERS = [7 * k + 100 for k in range(N)]
SWAPPED = [*range(10), *range(19, 9, -1), *range(20, N)]
SHUFFLED = [(N + 2 - k) % N for k in range(N)]


def table(name: str, logits: Array, labels: Array) -> Given:
    return (name, csv_of(logits, labels, header=HEADER))


def values_of(header: str, *columns: Sequence[object]) -> Given:
    return ("p.csv", headed(f"{header},{','.join(CLASSES)}", *columns, *LOGITS.T.tolist()))


def labels_of(header: str, *columns: Sequence[object], order: Sequence[int]) -> Given:
    ordered = [[column[k] for k in order] for column in (*columns, TEXTS)]
    return ("y.csv", headed(f"{header},label", *ordered))


def both(upload: Upload) -> None:
    same(upload.calibration)
    same(upload.test, LOGITS_TEST, LABELS_TEST)


# Values and labels ----------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [LABELS, LABELS + 1, np.eye(4)[LABELS], LABELS[:, np.newaxis]])
@pytest.mark.parametrize("turned", [1, -1])
def test_values_and_labels_in_either_order(labels: Array, turned: int) -> None:
    given = [npy(LOGITS), npy(labels)][::turned]
    upload = combined([("a.npy", given[0]), ("b.npy", given[1])])
    same(upload)
    digests = "".join(hashlib.sha256(data).hexdigest() for data in given)
    assert upload.digest == hashlib.sha256(digests.encode()).hexdigest()
    assert "side by side" in upload.notes[0]


@pytest.mark.parametrize("name", ["patient", "uid", "fname", "key", "Zeile"])
@pytest.mark.parametrize("ids", [NAMES, NUMBERS])
@pytest.mark.parametrize("order", [SWAPPED, SHUFFLED, range(N)])
def test_a_column_of_any_name_that_both_files_have_names_the_rows(
    name: str, ids: Sequence[object], order: Sequence[int]
) -> None:
    upload = combined([values_of(name, ids), labels_of(name, ids, order=order)])
    same(upload)
    assert f'were joined by column "{name}"' in upload.notes[0]


@pytest.mark.parametrize(("one", "other"), [("filename", "case"), ("case", "url")])
def test_what_stands_beside_labels_of_named_rows_follows_them(one: str, other: str) -> None:
    age = [20 + k // 2 for k in range(N)]
    given = labels_of(f"{other},age,pred", NAMES, age, TEXTS, order=SHUFFLED)
    upload = combined([values_of(one, NAMES), given])
    same(upload)
    assert upload.columns["rows"]["age"].values.tolist() == age
    assert any('"pred" equals the label in all 40 rows' in doubt for doubt in upload.doubts)


def test_rows_that_are_in_one_file_only_are_asked_about() -> None:
    few = [k for k in SHUFFLED if k != 3]
    given = [values_of("id", NAMES), labels_of("id", NAMES, order=few)]
    with pytest.raises(Question, match=r"1 of 40 rows of .p. are not in the other file") as caught:
        combined(given)
    (answer,) = caught.value.answers
    assert answer.change == {"leave_out": True}
    upload = combined(given, leave_out=True)
    others = [k for k in range(N) if k != 3]
    same(upload.rows, LOGITS[others], LABELS[others])
    assert any("1 of 40 rows" in repair for repair in upload.repairs)


def test_rows_that_cannot_be_matched() -> None:
    twice = [0, *range(N - 1)]
    with pytest.raises(FileError, match="1 id occurs more than once in"):
        combined([values_of("id", twice), labels_of("id", twice, order=range(N - 1, -1, -1))])
    with pytest.raises(FileError, match="40 and 39 rows"):
        combined([("a.npy", npy(LOGITS)), ("b.npy", npy(LABELS[:-1]))])
    site = [("north", "south", "east")[k % 3] for k in range(N)]
    upload = combined([values_of("site", site), labels_of("site", site, order=SWAPPED)])
    assert any('"site" differs between the files' in doubt for doubt in upload.doubts)
    upload = combined([values_of("site", site), labels_of("site", site, order=range(N))])
    assert not [doubt for doubt in upload.doubts if "site" in doubt]
    # An index may have been counted anew.
    given = [values_of("id", range(N)), labels_of("id", range(1, N + 1), order=range(N))]
    same(combined(given))


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (np.arange(N), np.arange(N) + 500, "0 of 40 ids are in both files"),
        (np.arange(N), np.where(np.arange(N) % 4, np.arange(N) + 500, np.arange(N)), "10 of 40"),
        (np.arange(N) * 3, np.maximum(np.arange(N) * 3, 3), '1 id occurs more than once in "y"'),
        (np.maximum(np.arange(N) * 3, 9), np.arange(N) * 3, '1 id occurs more than once in "p"'),
    ],
)
def test_ids_that_are_of_other_rows(first: Array, second: Array, text: str) -> None:
    files = [values_of("id", first.tolist()), labels_of("id", second.tolist(), order=range(N))]
    with pytest.raises(FileError, match=text):
        combined(files)


@pytest.mark.parametrize(
    ("heading", "ids", "others", "why"),
    [
        ("ID", [f"ab{k}" for k in range(N)], [f"AB{k}" for k in range(N)], '"ab0" is "AB0"'),
        ("id", [f"P{k:04d}" for k in range(N)], [*range(N)], '"P0000" is "0"'),
        ("id", [*range(1, N + 1)], [f"case 0{k + 1}" for k in range(N)], '"1" is "case 01"'),
    ],
)
def test_ids_that_are_written_otherwise_in_the_other_file_join_it(
    heading: str, ids: Sequence[object], others: Sequence[object], why: str
) -> None:
    given = [values_of("id", ids), labels_of(heading, others, order=SHUFFLED)]
    upload = combined(given)
    same(upload)
    assert not any("order" in doubt or "differs" in doubt for doubt in upload.doubts)
    (repair,) = upload.repairs
    assert repair.startswith('Ids of column "id" were compared')
    assert why in repair


@pytest.mark.parametrize("heading", ["id", "mrn"])
def test_ids_of_another_kind_that_match_no_row_are_no_order_of_rows(heading: str) -> None:
    files = [
        values_of("id", NAMES),
        labels_of(heading, [f"x{7 * k}" for k in range(N)], order=SWAPPED),
    ]
    refusal = f'0 of 40 ids are in both files, as "s000" in "id" of "p", "x0" in "{heading}" of "y"'
    with pytest.raises(FileError, match=refusal):
        combined(files)
    files[1] = labels_of(heading, NUMBERS, order=SWAPPED)
    with pytest.raises(FileError, match='0 of 40 ids are in both files, as "s000"'):
        combined(files)
    # A count beside names says nothing against the order of the rows.
    files[1] = labels_of("row", range(N), order=range(N))
    same(combined([values_of("file", [f"a{9 * k}" for k in range(N)]), files[1]]))


def test_ids_of_which_each_stands_twice_in_one_file() -> None:
    twice = [*range(N // 2), *range(N // 2)]
    labels = labels_of("id", range(N), order=range(N // 2))
    with pytest.raises(FileError, match='20 ids occur more than once in "p"'):
        combined([values_of("id", twice), labels])


@pytest.mark.parametrize("n_scored", [N, N - 4])
def test_two_columns_name_the_rows_together(n_scored: int) -> None:
    """Patients have five visits each, so that neither column names a row by itself."""
    patients, visits = [f"p{k // 5}" for k in range(N)], [k % 5 + 1 for k in range(N)]
    scored = (patients[:n_scored], visits[:n_scored], *LOGITS[:n_scored].T.tolist())
    values = ("p.csv", headed(f"patient,visit,{','.join(CLASSES)}", *scored))
    files = [values, labels_of("patient,visit", patients, visits, order=SHUFFLED)]
    if n_scored < N:
        with pytest.raises(Question, match=r'4 of 40 rows of "y" .*by column "patient" with "vis'):
            combined(files)
    upload = combined(files, leave_out=n_scored < N)
    same(upload.rows, LOGITS[:n_scored], LABELS[:n_scored])
    assert "visit (y)" not in upload.uses


def test_ids_in_another_order_that_name_no_row_are_refused() -> None:
    patients = [f"p{k // 5}" for k in range(N)]
    files = [values_of("patient", patients), labels_of("patient", patients, order=SHUFFLED)]
    refusal = r'8 ids occur more than once in "p" and 8 .* each row once, by one column or several'
    with pytest.raises(FileError, match=refusal):
        combined(files)
    files[1] = labels_of("patient", patients, order=range(N))
    same(combined(files))


def test_a_third_file_of_the_same_ids_adds_columns_to_group_by() -> None:
    wards = ["a", "b"] * (N // 2)
    third = (
        "demo.csv",
        headed("id,ward", [NAMES[k] for k in SWAPPED], [wards[k] for k in SWAPPED]),
    )
    files = [values_of("id", NAMES), labels_of("id", NAMES, order=SHUFFLED), third]
    upload = combined(files)
    same(upload)
    ward = upload.columns["rows"]["ward"]
    assert [(ward.categories or ())[k] for k in ward.values] == wards
    files[2] = ("demo.csv", headed("ward", wards))
    with pytest.raises(FileError, match="3 files of other columns each"):
        combined(files)


def test_an_index_says_where_each_row_was_and_another_count_is_doubted() -> None:
    values = ("p.parquet", parquet({name: LOGITS[:, k] for k, name in enumerate(CLASSES)}))
    labels = {"label": LABELS[SHUFFLED], "__index_level_0__": SHUFFLED}
    same(combined([values, ("y.parquet", parquet(labels))]).rows, LOGITS, LABELS)
    upload = combined([values, labels_of("id", range(N), order=SHUFFLED)])
    same(upload.rows, LOGITS, LABELS[SHUFFLED])
    assert any('"id" of "y" counts rows in another order' in doubt for doubt in upload.doubts)


def test_a_first_label_that_looks_like_a_header() -> None:
    for first in ("", "animal\n"):
        upload = combined([values_of("n", NAMES), ("y.txt", (first + "\n".join(TEXTS)).encode())])
        same(upload)
    with pytest.raises(FileError, match="40 and 39 rows"):
        combined([values_of("n", NAMES), ("y.txt", ("animal\n" + "\n".join(TEXTS[1:])).encode())])


# Two sets -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "first", "why"),
    [
        (("x_val.csv", "x_test.csv"), True, "by name"),
        (("x_test.csv", "x_valid.csv"), False, "by name"),
        (("x_test.csv", "other.csv"), False, "by name"),
        (("medical.csv", "other.csv"), True, "as chosen"),
        (("holdout.csv", "validation.csv"), False, "by name"),
        (("hold-out.csv", "test.csv"), True, "by name"),
        (("test.csv", "hold-out.csv"), False, "by name"),
        (("out-of-sample.csv", "in-sample.csv"), False, "by name"),
        (("test.csv", "oot.csv"), False, "by name"),
        (("tune.csv", "test.csv"), True, "by name"),
        (("x.csv", "train.csv"), False, "by name"),
        (("train_test_split_train.csv", "train_test_split_test.csv"), True, "by name"),
        (("train_test_split_test.csv", "train_test_split_train.csv"), False, "by name"),
        (("test_clinic.csv", "test_ward.csv"), True, "as chosen"),
    ],
)
def test_calibration_and_test(names: tuple[str, str], first: bool, why: str) -> None:  # noqa: FBT001
    given = [(LOGITS, LABELS), (LOGITS_TEST, LABELS_TEST)]
    made = zip(names, given if first else given[::-1], strict=True)
    files = [table(name, *arrays) for name, arrays in made]
    if why == "as chosen":
        with pytest.raises(Question, match="have the same columns"):
            combined(files)
    upload = combined(files, together=("sets",) if why == "as chosen" else ())
    both(upload)
    assert f"({why})" in upload.notes[0]
    trained = any("is called a training set" in doubt for doubt in upload.doubts)
    fitted = names[0 if first else 1]
    assert trained == (fitted in {"train.csv", "in-sample.csv", "train_test_split_train.csv"})


def test_labels_and_choices_hold_for_both_sets() -> None:
    few = np.array([1, 2, 3])
    upload = combined([table("val.csv", LOGITS, LABELS + 1), table("test.csv", LOGITS[:3], few)])
    same(upload.test, LOGITS[:3], few - 1)
    files = [table("val.csv", LOGITS, LABELS), table("test.csv", LOGITS_TEST, LABELS)]
    upload = combined(files, values="logits")
    assert any("said so" in text for text in upload.notes)


@pytest.mark.parametrize("labels", [TEXTS, LABELS])
def test_class_columns_in_another_order(labels: Sequence[object]) -> None:
    def whole(name: str, order: Sequence[int], turned: int) -> Given:
        columns = [LOGITS[::turned, k].tolist() for k in order]
        names = ",".join(CLASSES[k] for k in order)
        return (name, headed(f"{names},label", *columns, list(labels)[::turned]))

    both(combined([whole("val.csv", range(4), 1), whole("test.csv", (2, 0, 3, 1), -1)]))


def test_sets_of_other_columns_are_read_each_on_its_own() -> None:
    odd = ("test.csv", headed("a,b,c,d,truth", *LOGITS_TEST.T.tolist(), LABELS_TEST))
    upload = combined([table("val.csv", LOGITS, LABELS), odd])
    both(upload)
    assert any("call their scores differently" in doubt for doubt in upload.doubts)
    events = ("test.csv", headed("confidence,correct", [0.5, 0.9, 0.8], [1, 0, 1]))
    with pytest.raises(FileError, match="one layout"):
        combined([table("val.csv", LOGITS, LABELS), events])


RISKS = np.random.default_rng(6).random(400)
CAME = (np.random.default_rng(7).random(400) < RISKS).astype(int)
WORDS = [("no", "yes")[k] for k in CAME]


@pytest.mark.parametrize(
    ("one", "other"), [("prob_yes", "prob_no"), ("prob_no", "prob_yes"), ("prob_no", "score")]
)
def test_scores_of_other_classes_are_refused(one: str, other: str) -> None:
    scores = {"prob_no": 1 - RISKS}
    files = [
        (name, headed(f"{heading},label", scores.get(heading, RISKS).tolist(), WORDS))
        for name, heading in (("cal.csv", one), ("test.csv", other))
    ]
    with pytest.raises(FileError, match=r'scores of "(yes|no)" in one file and of "(yes|no)"'):
        combined(files)


def test_scores_of_the_same_class_are_read() -> None:
    given = [("cal.csv", "prob_yes"), ("test.csv", "score")]
    upload = combined([(n, headed(f"{h},label", RISKS.tolist(), WORDS)) for n, h in given])
    same_event(upload.test, RISKS, CAME)


@pytest.mark.parametrize("order", [1, -1])
def test_one_output_beside_one_hot_labels_is_the_score_of_the_second_class(order: int) -> None:
    """As Keras predicts and encodes two classes, in two files as in one archive."""
    hot = np.eye(2)[CAME]
    files = [("pred.npy", npy(RISKS[:, np.newaxis])), ("run_y_test.npy", npy(hot))]
    same_event(combined(files[::order]), RISKS, CAME)


# Four arrays, and more ------------------------------------------------------------------------

FOUR = (LOGITS, LABELS, LOGITS_TEST, LABELS_TEST)
FEWER = (LOGITS, LABELS, LOGITS_TEST[:30], LABELS_TEST[:30])


def arrays_of(names: Sequence[str], arrays: Sequence[Array], order: Sequence[int]) -> list[Given]:
    files_read = [(f"{n}.npy", npy(array)) for n, array in zip(names, arrays, strict=True)]
    return [files_read[k] for k in order]


@pytest.mark.parametrize(
    "names",
    [
        ("logits_val", "y_val", "logits_test", "y_test"),
        ("valid_preds_v2", "yValid", "heldout_preds_v2", "yHeldout"),
        ("foo_logits", "foo_labels", "bar_logits", "bar_labels"),
        ("logits1", "labels1", "logits2", "labels2"),
    ],
)
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 3, 1), (1, 3, 0, 2)])
@pytest.mark.parametrize("arrays", [FOUR, FEWER])
def test_four_are_paired_by_name(
    names: Sequence[str], order: Sequence[int], arrays: Sequence[Array]
) -> None:
    files = arrays_of(names, arrays, order)
    together: tuple[str, ...] = ()
    if not any("val" in name.lower() for name in names):
        # Numbers say parts; other names are asked about.
        if "1" in names[0]:
            same(combined(files).rows, *map(np.concatenate, (arrays[::2], arrays[1::2])))
        else:
            with pytest.raises(Question, match="have the same columns"):
                combined(files)
        together = ("sets", *(f"{name}.npy" for name in names[:2]))
    upload = combined(files, together=together)
    same(upload.calibration, *arrays[:2])
    same(upload.test, *arrays[2:])
    assert not any("of other rows" in doubt for doubt in upload.doubts)


@pytest.mark.parametrize(
    "names",
    [
        ("a", "y_val", "b", "y_test"), ("logits_val", "c", "logits_test", "d"),
        ("a", "b", "c", "d"),
    ],
)  # fmt: skip
def test_four_are_paired_by_row_counts_or_asked_about(names: Sequence[str]) -> None:
    fewer = arrays_of(names, FEWER, (0, 1, 3, 2))
    upload = combined(fewer, together=("sets",) if names[:2] == ("a", "b") else ())
    same(upload.calibration, *FEWER[:2])
    same(upload.test, *FEWER[2:])
    with pytest.raises(Question, match="two with values and two with labels") as caught:
        combined(arrays_of(names, FOUR, (0, 1, 3, 2)))
    likely, other = caught.value.answers
    assert "67.5" in likely.why
    assert likely.change == {"together": ("sets", f"{names[0]}.npy", f"{names[1]}.npy")}
    both(combined(arrays_of(names, FOUR, (0, 1, 3, 2)), **likely.change))
    assert other.change != likely.change


@pytest.mark.parametrize("without", [(), ("train_y",)])
def test_training_files_beside_both_sets_are_left_out(without: Sequence[str]) -> None:
    arrays: Mapping[str, Array] = {
        "train_probs": LOGITS[:5], "val_probs": LOGITS, "test_probs": LOGITS_TEST,
        "train_y": LABELS[:5], "val_y": LABELS, "test_y": LABELS_TEST,
    }  # fmt: skip
    present = {name: array for name, array in arrays.items() if name not in without}
    upload = combined([(f"{name}.npy", npy(array)) for name, array in present.items()])
    both(upload)
    assert any(text.startswith("Left out as a training set") for text in upload.repairs)
    lacking = {name: array for name, array in present.items() if name != "val_y"}
    with pytest.raises(FileError, match="calibration set: no labels"):
        combined([(f"{name}.npy", npy(array)) for name, array in lacking.items()])


def test_an_archive_of_two_sets_stands_alone() -> None:
    two = npz(val_logits=LOGITS, val_y=LABELS, test_logits=LOGITS, test_y=LABELS)
    with pytest.raises(FileError, match="two sets, and other files"):
        combined([("a.npz", two), ("b.npz", two)])


PREDICTED = PROBABILITIES.argmax(axis=1)
TOPS = PROBABILITIES.max(axis=1)
TOP_FILES = {
    "p.csv": headed("pred,confidence", PREDICTED.tolist(), TOPS.tolist()),
    "p.json": json.dumps({"pred": PREDICTED.tolist(), "confidence": TOPS.tolist()}).encode(),
    "p.npz": npz(pred=PREDICTED, confidence=TOPS),
    "y.csv": headed("label", [*LABELS]), "y.txt": headed(str(LABELS[0]), [*LABELS[1:]]),
    "y.npy": npy(LABELS),
}  # fmt: skip


@pytest.mark.parametrize("name", ["p.csv", "p.json", "p.npz"])
@pytest.mark.parametrize("other", ["y.csv", "y.txt", "y.npy"])
def test_top_one_scores_beside_the_true_labels(name: str, other: str) -> None:
    rows = combined([(other, TOP_FILES[other]), (name, TOP_FILES[name])]).rows
    same_hits(rows, TOPS, PREDICTED == LABELS)


def test_top_one_scores_of_named_rows_and_of_two_sets() -> None:
    words = [CLASSES[k] for k in PREDICTED]
    top = headed(
        "id,predicted,confidence,site", NAMES, words, TOPS.tolist(), [k % 2 for k in LABELS]
    )
    upload = combined([("p.csv", top), labels_of("id", NAMES, order=SHUFFLED)])
    np.testing.assert_array_equal(event_scores(upload.rows).hits, PREDICTED == LABELS)
    np.testing.assert_array_equal(upload.columns["rows"]["site"].values, LABELS % 2)
    files = [
        ("val_p.csv", TOP_FILES["p.csv"]), ("val_y.npy", npy(LABELS)),
        ("test_p.csv",
                TOP_FILES["p.csv"].replace(b"pred,confidence", b"top1_class,top1_prob")),
        ("test_y.npy", npy(LABELS)),
    ]  # fmt: skip
    for rows in combined(files).sets.values():
        assert isinstance(rows, EventScores)
        np.testing.assert_array_equal(rows.hits, PREDICTED == LABELS)


def test_scores_of_one_class_beside_one_hot_labels() -> None:
    hot = np.eye(2)[(LABELS == 1).astype(int)]
    rows = combined([("s.npy", npy(PROBABILITIES[:, 1])), ("y.npy", npy(hot))]).rows
    assert isinstance(rows, LogitSet)
    np.testing.assert_array_equal(rows.labels, LABELS == 1)


def test_one_hot_labels_alone_are_labels() -> None:
    hot = npz(labels=np.eye(4)[LABELS])
    same(combined([("y.npz", hot), ("p.npy", npy(LOGITS))]).rows, LOGITS, LABELS)


# Lists of those with the event, and truth under the name of the score -----------------------------

RISK = [(7 * k % N + 0.5) / N for k in range(N)]
DIED = [k for k in range(N) if RISK[k] + (k % 5) / 5 > 1]
DAYS = [f"2025-0{1 + k % 9}-1{k % 7}" for k in DIED]


@pytest.mark.parametrize("more", [{}, {"default": [1] * len(DIED)}, {"died on": DAYS}])
def test_a_list_of_those_with_the_event(more: Mapping[str, Sequence[object]]) -> None:
    """The others did not have it, unless they are to be left out."""
    names = [f"c{k:03d}" for k in range(N)]
    listed = headed(",".join(["id", *more]), [names[k] for k in DIED], *more.values())

    scores = ("scores.csv", headed("id,risk", names, RISK))
    files = [scores, ("d.csv", listed)]
    with pytest.raises(Question, match=f'{len(DIED)} of 40 rows are in "d", by column') as caught:
        combined(files)
    first, second = caught.value.answers
    assert first.why == f"{len(DIED)} rows with the event, {N - len(DIED)} without."
    upload = combined(files, **first.change)
    assert np.flatnonzero(logit_set(upload).labels).tolist() == DIED
    assert any(f"{N - len(DIED)} count as without the event" in text for text in upload.repairs)
    assert second.change == {"leave_out": True}
    two = headed("id,died", [names[k] for k in DIED], [k % 2 for k in DIED])
    with pytest.raises(Question, match="Leave out the rows that are in one file only"):
        combined([scores, ("d.csv", two)])


def test_scores_and_the_truth_in_columns_of_one_name() -> None:
    """They are no two models, nor parts of one table."""
    toxic = [int(k in DIED) for k in SHUFFLED]
    upload = combined([
        ("a.csv", headed("id,toxic", NUMBERS, RISK)),
        ("b.csv", headed("id,toxic", [NUMBERS[k] for k in SHUFFLED], toxic)),
    ])  # fmt: skip
    assert np.flatnonzero(logit_set(upload).labels).tolist() == DIED
