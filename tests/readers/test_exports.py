"""Files as other programs write them, taken for what they are, and said so."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from calibcore.data import EventScores, LogitSet
from dashboard.readers import FileError, Upload, combine, read
from tests.readers.files import LABELS, LOGITS, PROBABILITIES, Array, N, npy, npz

NAMES = ("cat", "dog", "fox", "owl")
TEXT = [NAMES[k] for k in LABELS]
BEST = PROBABILITIES.argmax(axis=1)
TOLD = [NAMES[k] for k in BEST]
TOP = PROBABILITIES.max(axis=1)
RISK = PROBABILITIES[:, 1] + PROBABILITIES[:, 3]
ILL = LABELS % 2


def table(header: str, *columns: Iterable[object], sep: str = ",") -> bytes:
    rows = (sep.join(map(str, row)) for row in zip(*columns, strict=True))
    return "\n".join([header, *rows]).encode()


def columns(values: Array = PROBABILITIES) -> list[list[float]]:
    return [column.tolist() for column in values.astype(np.float64).T]


def are(upload: Upload, labels: Sequence[int] | Array = LABELS, values: Array | None = None) -> str:
    """Expect the four classes, and give all that is said."""
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.labels, labels)
    if values is None:
        np.testing.assert_allclose(upload.rows.probabilities, PROBABILITIES, atol=1e-6)
    else:
        np.testing.assert_allclose(upload.rows.logits, values, rtol=1e-5)
    return " ".join((*upload.found, *upload.repairs, *upload.doubts))


def of_two(upload: Upload, labels: Sequence[int] | Array = ILL) -> str:
    """Expect the score of the second of two classes, and give all that is said."""
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.labels, labels)
    np.testing.assert_allclose(upload.rows.probabilities[:, 1], RISK, atol=1e-6)
    return " ".join((*upload.found, *upload.repairs, *upload.doubts))


def events(upload: Upload) -> str:
    """Expect top-1 scores, and give all that is said."""
    assert isinstance(upload.rows, EventScores)
    np.testing.assert_allclose(upload.rows.scores, TOP, atol=1e-9)
    np.testing.assert_array_equal(upload.rows.hits, BEST == LABELS)
    return " ".join((*upload.found, *upload.repairs, *upload.doubts))


@pytest.mark.parametrize(
    "heads",
    [
        "P (class={})",
        "confidence({})",
        "Logistic Regression ({})",
        "Probability:Class={}",
        "Scored Probabilities_{}",
        "{}_predicted_proba",
        "species_{}_scores",
    ],
)
@pytest.mark.parametrize("label", ["label", "species", "Wahre Klasse"])
def test_names_of_classes_within_headings(heads: str, label: str) -> None:
    header = ",".join([label, *(heads.format(name) for name in NAMES), "prediction"])
    upload = read("a.csv", table(header, TEXT, *columns(), TOLD))
    are(upload)
    assert upload.class_names == NAMES
    assert upload.uses["prediction"] == "prediction"


def test_a_prediction_without_a_known_name_is_no_label() -> None:
    upload = read("a.csv", table("iris,model," + ",".join(NAMES), TEXT, TOLD, *columns()))
    assert "Column iris was taken for the label" in are(upload)
    swapped = read("a.csv", table("model,iris," + ",".join(NAMES), TOLD, TEXT, *columns()))
    assert "Column iris was taken for the label" in are(swapped)


@pytest.mark.parametrize("first", [0, 1])
def test_a_label_of_any_name_by_its_numbers(first: int) -> None:
    header = ",".join([*(f"p{k}" for k in range(4)), "churned", "sex"])
    data = table(header, *columns(), LABELS + first, [k % 2 for k in range(N)])
    upload = read("a.csv", data)
    assert "if it is not, choose the column of the labels" in are(upload)
    assert any("churned" in doubt for doubt in upload.doubts)
    shuffled = table(header, *columns(), np.roll(LABELS, 7), [0] * N)
    assert read("a.csv", shuffled).piece is not None


def test_a_label_of_any_name_beside_one_score() -> None:
    assert "Column churned was taken" in of_two(read("a.csv", table("score,churned", RISK, ILL)))
    assert read("a.csv", table("score,churned", RISK, 1 - ILL)).piece is not None
    assert read("a.csv", table("score,sex", RISK, ILL)).piece is not None


@pytest.mark.parametrize("name", ["Klasse", "outcome", "response", "étiquette", "Survived"])
def test_labels_in_other_words(name: str) -> None:
    are(read("a.csv", table(f"{name},p0,p1,p2,p3", LABELS, *columns())))
    of_two(read("a.csv", table(f"score,{name}", RISK, ILL)))


@pytest.mark.parametrize("name", ["gt", "GroundTruth", "y_test", "yTrue", "actuals"])
def test_further_names_of_labels(name: str) -> None:
    are(read("a.csv", table(f"{name},logit_0,logit_1,logit_2,logit_3", LABELS, *columns(LOGITS))))


def test_classes_called_true_and_y() -> None:
    two = [(1 - RISK).tolist(), RISK.tolist()]
    for heads, texts in (("False,True", ("False", "True")), ("n,y", ("n", "y"))):
        data = table(f"{heads},label", *two, [texts[k] for k in ILL])
        of_two(read("a.csv", data))


@pytest.mark.parametrize("heads", ["yes,no", "True,False", "positive,negative", "oui,non"])
def test_no_and_yes_in_the_other_order(heads: str) -> None:
    data = table(f"{heads},label", RISK, 1 - RISK, ILL)
    upload = read("a.csv", data)
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.labels, 1 - ILL)
    assert f"matched to the no and yes that the columns are named by ({N} labels)" in " ".join(
        upload.repairs
    )


@pytest.mark.parametrize(
    "texts",
    [("no", "yes"), ("No", "Yes"), ("f", "t"), ("nein", "ja"), ("FAUX", "VRAI"), ("n", "y")],
)
def test_no_and_yes_beside_one_score(texts: tuple[str, str]) -> None:
    said = of_two(read("a.csv", table("score,label", RISK, [texts[k] for k in ILL])))
    assert f"Labels {texts[0].lower()} and {texts[1].lower()} were read as 0 and 1" in said
    with pytest.raises(FileError, match='which of the two the score "score" is of'):
        read("a.csv", table("score,label", RISK, [("ham", "spam")[k] for k in ILL]))


def test_numbered_texts_for_labels() -> None:
    heads = "label,logit_0,logit_1,logit_2,logit_3"
    for first in (0, 1):
        texts = [f"LABEL_{k + first}" for k in LABELS]
        said = are(read("a.csv", table(heads, texts, *columns(LOGITS))), values=LOGITS)
        assert "were read as their numbers (40 labels)" in said
    with pytest.raises(FileError, match='found "Class1" and "Class2", and nothing that says which'):
        read("a.csv", table("score,obs", RISK, [f"Class{k + 1}" for k in ILL]))


@pytest.mark.parametrize("numbers", [(-1, 0, 1, 2), (0.5, 1.5, 2.5, 3.5), (3, 1, 2, 0)])
def test_classes_named_by_numbers(numbers: Sequence[float]) -> None:
    header = ",".join([*map(str, numbers), "label"])
    upload = read("a.csv", table(header, *columns(), [numbers[k] for k in LABELS]))
    assert "matched to the class numbers" in are(upload)


def test_the_score_of_one_class_beside_the_prediction() -> None:
    data = table("y_true,y_pred,y_prob", ILL, (RISK >= 0.5).astype(int), RISK)
    said = of_two(read("a.csv", data))
    assert 'The score is of "1" in every row, not of the predicted class' in said
    strict = table("y_true,y_pred,y_prob", ILL, (RISK >= 0.3).astype(int), RISK)
    of_two(read("a.csv", strict))
    words = table(
        "truth,pred,score", [("well", "ill")[k] for k in ILL],
        [("well", "ill")[int(p >= 0.5)] for p in RISK], RISK,
    )  # fmt: skip
    upload = read("a.csv", words)
    of_two(upload)
    assert upload.class_names == ("well", "ill")


@pytest.mark.parametrize(
    "heads",
    [
        "gt,pred,conf",
        "truth,estimate,confidence",
        "species,prediction_label,prediction_score",
        "actual,predicted,prediction",
        "Klasse,Vorhersage,Konfidenz",
        "label,argmax,max_softmax",
        "label,top1,top1_prob",
    ],
)
def test_top_scores_in_other_words(heads: str) -> None:
    events(read("a.csv", table(heads, TEXT, TOLD, TOP)))
    events(read("a.csv", table(heads, LABELS, BEST, TOP)))


def test_top_scores_of_arrays() -> None:
    arrays = {"confidences": TOP, "predictions": BEST, "labels": LABELS}
    events(read("a.npz", npz(**arrays)))
    events(read("a.npz", npz(confidences=TOP, correct=BEST == LABELS)))
    listed = {name: array.tolist() for name, array in arrays.items()}
    events(read("a.json", json.dumps(listed).encode()))


@pytest.mark.parametrize("name", ["right", "match", "em"])
def test_a_confidence_is_not_passed_over(name: str) -> None:
    with pytest.raises(FileError, match='"confidence" without a predicted label'):
        read("a.csv", table(f"confidence,{name}", TOP, (BEST == LABELS).astype(int)))


@pytest.mark.parametrize("name", ["weight", "loss", "entropy", "max_prob"])
def test_a_measure_is_no_class(name: str) -> None:
    extra = [0.5 + k % 3 / 10 for k in range(N)]
    header = ",".join([*NAMES, name, "label"])
    are(read("a.csv", table(header, *columns(LOGITS), extra, TEXT)), values=LOGITS)
    classes = ",".join(["weight", *NAMES[1:], "label"])
    spoken = ["weight" if text == "cat" else text for text in TEXT]
    are(read("a.csv", table(classes, *columns(LOGITS), spoken)), values=LOGITS)


# Layouts of text -----------------------------------------------------------------------------


@pytest.mark.parametrize("sep", [" ", "\t", ",", ";"])
def test_row_names_without_a_heading(sep: str) -> None:
    names = [f'"{k + 1}"' for k in range(N)]
    data = table(sep.join([*NAMES, "truth"]), names, *columns(), TEXT, sep=sep)
    are(read("a.txt", data))
    words = [f"row{k}" for k in range(N)]
    are(read("a.txt", table(sep.join([*NAMES, "truth"]), words, *columns(), TEXT, sep=sep)))


def test_a_decimal_comma_between_commas_is_no_row_name() -> None:
    cells = [f"{p:.2f}".replace(".", ",") for p in RISK]
    with pytest.raises(FileError, match="found 3 fields, wanted 2 columns"):
        read("a.csv", table("score,label", cells, ILL))
    with pytest.raises(FileError, match="found 3 fields, wanted 2 columns"):
        read("a.csv", table("label,score", ILL, cells))


def test_a_delimiter_at_the_end_of_every_row() -> None:
    data = table(",".join([*NAMES, "label"]), *columns(), [f"{text}," for text in TEXT])
    are(read("a.csv", data))


@pytest.mark.parametrize("title", ["Model X, 2024", "Model X,,,,", "% from Weka", "Model X\n"])
def test_titles_above_the_table(title: str) -> None:
    data = f"{title}\n".encode() + table(",".join([*NAMES, "label"]), *columns(), TEXT)
    said = are(read("a.csv", data))
    assert "Remarks above the table were passed over (1 line)" in said


def test_percent_signs_after_any_space() -> None:
    for space in (" ", "\u00a0", "\u202f"):
        shares = [[f"{100 * p:.6f}{space}%" for p in column] for column in columns()]
        are(read("a.csv", table(",".join([*NAMES, "label"]), *shares, TEXT)))


def test_labels_written_as_powers_of_ten() -> None:
    spelled = [f"{k:.18e}" for k in LABELS]
    labels = read("y.txt", "\n".join(spelled).encode())
    probabilities = read(
        "p.txt", "\n".join(" ".join(map(str, row)) for row in PROBABILITIES).encode()
    )
    are(combine([probabilities, labels]))
    rows = (" ".join([*map(str, row), y]) for row, y in zip(PROBABILITIES, spelled, strict=True))
    are(read("a.txt", "\n".join(rows).encode()))


def test_the_label_in_the_first_column() -> None:
    rows = [",".join(map(str, [y, *row])) for y, row in zip(LABELS, PROBABILITIES, strict=True)]
    said = are(read("a.csv", "\n".join(rows).encode()))
    assert "The first column was taken for the label." in said
    pairs = "\n".join(f"{y},{p}" for y, p in zip(ILL, RISK, strict=True)).encode()
    of_two(read("a.csv", pairs))


def test_marks_between_thousands() -> None:
    for cell in ('"1,234.5"', "1'234.5", "1\u202f234"):
        data = table("logit_0,logit_1,label", ["1.5", *[cell] * (N - 1)], columns(LOGITS)[0], ILL)
        with pytest.raises(FileError, match="a number without marks between its thousands"):
            read("a.csv", data)


def test_lists_of_texts_in_cells() -> None:
    with pytest.raises(FileError, match='column "logits": found a list in every cell'):
        read("a.csv", table("logits,label", ["\"['a', 'b']\""] * N, LABELS))


def test_a_file_of_labels_alone() -> None:
    shares = read("p.csv", table(",".join(NAMES), *columns()))
    for name in ("churn", "anything"):
        are(combine([shares, read("y.csv", table(name, TEXT))]))
        are(combine([read("y.csv", table(name, LABELS)), shares]))


# Arrays --------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [("y_proba", "y_test"), ("logits_val", "labels"), ("x", "gts")])
def test_one_table_and_one_label_of_any_set(names: tuple[str, str]) -> None:
    are(read("a.npz", npz(**{names[0]: LOGITS, names[1]: LABELS})), values=LOGITS)


@pytest.mark.parametrize("name", ["pred_probs", "resnet_logits", "y_hat", "softmax_outputs"])
def test_further_names_of_tables(name: str) -> None:
    are(read("a.npz", npz(**{name: PROBABILITIES, "true": LABELS})))
    assert read("a.npz", npz(features=LOGITS, labels=LABELS)).piece is not None


@pytest.mark.parametrize(
    ("values", "truth"),
    [
        ("score", "label"), ("class_scores", "gt_labels"), ("pred_scores", "gt_label"),
        ("softmax_scores", "clean_labels"), ("allLogits", "allTargets"),
    ],
)  # fmt: skip
def test_names_are_told_by_their_words(values: str, truth: str) -> None:
    beside = {"pred_label": LABELS[::-1].copy(), "label_smoothing": PROBABILITIES[:, 0]}
    are(read("a.npz", npz(**{values: PROBABILITIES, truth: LABELS, **beside})))


def test_labels_of_two_makes_are_asked_about() -> None:
    given: dict[str, Any] = {"clean_labels": LABELS, "noisy_labels": LABELS[::-1].copy()}
    with pytest.raises(FileError, match='both "clean_labels" and "noisy_labels"'):
        read("a.npz", npz(logits=LOGITS, **given))
    are(read("a.npz", npz(logits=LOGITS, **given), label_column="clean_labels"), values=LOGITS)


def test_groups_of_an_archive() -> None:
    names = ("val/logits", "val/labels", "test/logits", "test/labels")
    upload = read("a.npz", npz(**dict(zip(names, (LOGITS, LABELS) * 2, strict=True))))
    assert isinstance(upload.calibration, LogitSet)
    np.testing.assert_array_equal(upload.calibration.logits, LOGITS)
    for name in ("/val/logits", "val/../logits", "val//logits", "./logits"):
        with pytest.raises(FileError, match="a path for a name"):
            read("a.npz", npz(**{name: LOGITS, "labels": LABELS}))


@pytest.mark.parametrize("name", ["score", "pred_score"])
def test_the_score_of_the_prediction_of_arrays(name: str) -> None:
    top = LOGITS.argmax(axis=1)
    arrays = {name: PROBABILITIES.max(axis=1), "pred_label": top, "gt_label": LABELS}
    rows = read("a.npz", npz(**arrays)).rows
    assert isinstance(rows, EventScores)
    np.testing.assert_array_equal(rows.hits, top == LABELS)


def test_logits_beside_their_softmax() -> None:
    upload = read("a.npz", npz(logits=LOGITS, probs=PROBABILITIES, labels=LABELS))
    assert 'Of "logits" and "probs", which is their softmax, the logits' in are(
        upload, values=LOGITS
    )
    with pytest.raises(FileError, match="ambiguous"):
        read("a.npz", npz(logits=LOGITS, probs=PROBABILITIES[::-1], labels=LABELS))
    for odd in (np.nan, np.inf):
        broken = PROBABILITIES.copy()
        broken[3, 1] = odd
        with pytest.raises(FileError, match="ambiguous"):
            read("a.npz", npz(logits=broken, probs=PROBABILITIES, labels=LABELS))
    rows = [
        {"logits": z.tolist(), "probs": p.tolist(), "label": int(y)}
        for z, p, y in zip(LOGITS, PROBABILITIES, LABELS, strict=True)
    ]
    assert "which is their softmax" in are(
        read("a.jsonl", "\n".join(map(json.dumps, rows)).encode()), values=LOGITS
    )


@pytest.mark.parametrize("place", [0, 4])
def test_labels_within_the_array(place: int) -> None:
    for values in (PROBABILITIES, LOGITS.astype(np.float64)):
        upload = read("a.npy", npy(np.insert(values, place, LABELS, axis=1)))
        which = "first" if place == 0 else "last"
        said = are(upload, values=None if values is PROBABILITIES else values)
        assert f"The {which} column was taken for the label, having whole numbers alone." in said
    turned = np.insert(LOGITS.astype(np.float64), place, 0.0, axis=1)
    assert read("a.npy", npy(turned)).piece is not None


def test_a_table_that_is_turned() -> None:
    with pytest.raises(FileError, match="one row a sample: the table is turned"):
        read("a.npz", npz(logits=LOGITS.T.copy(), labels=LABELS))


# JSON ----------------------------------------------------------------------------------------


def test_an_object_of_classes_in_every_record() -> None:
    rows = [
        {"id": k, "probabilities": dict(zip(NAMES, map(float, row), strict=True)), "label": y}
        for k, (row, y) in enumerate(zip(PROBABILITIES, TEXT, strict=True))
    ]
    upload = read("a.jsonl", "\n".join(map(json.dumps, rows)).encode())
    are(upload)
    assert upload.class_names == NAMES


# Values --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "what"),
    [
        (-np.log(PROBABILITIES), "with their signs turned"),
        (np.log10(PROBABILITIES), "to the base 10"),
        (np.log2(PROBABILITIES), "to the base 2"),
    ],
)
def test_logarithms_that_are_no_logits(values: Array, what: str) -> None:
    data = npz(logits=values, labels=LABELS)
    with pytest.raises(FileError, match=f"logarithms of probabilities {what}"):
        read("a.npz", data)
    are(read("a.npz", data, values="logits"), values=values)


def test_logarithms_of_one_score() -> None:
    data = table("score,label", np.log(RISK), ILL)
    with pytest.raises(FileError, match="never above 0"):
        read("a.csv", data)
    assert read("a.csv", data, values="logits").values_kind == "logits"


def test_counts_of_votes_are_no_logits() -> None:
    votes = np.array([np.bincount(np.arange(500) % (2 + k % 3), minlength=4) for k in range(N)])
    with pytest.raises(FileError, match="rows that sum to 500 to 500 each"):
        read("a.npz", npz(outputs=votes, labels=LABELS))
