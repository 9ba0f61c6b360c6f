"""Class columns told apart from the other numbers of a table, and what a lone score is of."""

from typing import Any

import numpy as np
import pytest

from calibcore.data import LogitSet
from calibcore.probabilities import softmax
from dashboard.readers import Question, Upload, read
from tests.readers.files import logit_set, same_event, table

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


def scored(data: bytes, **choices: Any) -> Upload:
    """Expect the score of class 1 and its outcome."""
    upload = read("a.csv", data, **choices)
    same_event(upload.rows, SCORE, OUTCOME)
    return upload


def classed(data: bytes, name: str = "a.csv", **choices: Any) -> Upload:
    """Expect the three classes and their labels."""
    upload = read(name, data, **choices)
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities, SHARES)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    return upload


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


def test_numbers_beside_numbered_classes() -> None:
    columns = {"label": LABELS, **{str(k): LOGITS[:, k] for k in range(3)}, "x1": OTHER}
    classed(table(**columns))


def test_a_mark_that_begins_with_is_is_no_class() -> None:
    late = (np.arange(N) >= 70).astype(int)
    for values in (LOGITS, SHARES):
        columns = dict(zip(CLASSES, values.T, strict=True))
        classed(table(label=CLASSES[LABELS], **columns, is_new=late))


def test_whole_numbers_without_a_header() -> None:
    data = "\n".join(
        ",".join(map(str, [*row, top, label]))
        for row, top, label in zip(LOGITS.tolist(), TOP, LABELS, strict=True)
    ).encode()
    classed(data, "a.txt", **question_of(data).answers[0].change)


def test_the_prediction_is_not_the_label_although_its_name_is_in_the_headings() -> None:
    columns = {f"net ({name})": SHARES[:, k] for k, name in enumerate(CLASSES)}
    classed(table(iris=CLASSES[LABELS], net=CLASSES[TOP], **columns))


# What is asked -------------------------------------------------------------------------------


def question_of(data: bytes) -> Question:
    with pytest.raises(Question) as caught:
        read("a.csv", data)
    assert len(str(caught.value)) <= 600
    return caught.value


@pytest.mark.parametrize("names", [("cat", "dog"), ("no", "yes"), ("0", "1")])
@pytest.mark.parametrize("values", [MARGIN / 2, 1 / (1 + np.exp(-MARGIN))])
def test_two_columns_that_mirror_each_other_are_the_two_classes(
    names: tuple[str, str], values: Any
) -> None:
    mirrored = -values if values.min() < 0 else 1 - values
    scored(table(**{"label": OUTCOME, names[0]: mirrored, names[1]: values}))


@pytest.mark.parametrize(
    "names", [("yes", "no"), ("True", "False"), ("positive", "negative"), ("oui", "non")]
)
def test_words_tell_which_of_two_classes_is_1(names: tuple[str, str]) -> None:
    upload = read("a.csv", table(**{names[0]: SCORE, names[1]: 1 - SCORE, "label": OUTCOME}))
    assert isinstance(upload.rows, LogitSet)
    assert upload.rows.class_names == names[::-1]
    np.testing.assert_array_equal(upload.rows.labels, OUTCOME)
    np.testing.assert_allclose(upload.rows.probabilities[:, 1], SCORE)


def families(first: str, second: str, values: Any) -> dict[str, Any]:
    """Give two families of columns of the same classes."""
    columns = {first.format(name): SHARES[:, k] for k, name in enumerate(CLASSES)}
    return columns | {second.format(name): values[:, k] for k, name in enumerate(CLASSES)}


@pytest.mark.parametrize(
    ("first", "second"),
    [("vit_{}", "net_{}"), ("prob_{}", "prob_cal_{}"), ("{}", "calibrated_{}"),
     ("LR ({})", "Tree ({})"), ("prob_{}", "logit_{}")],
)  # fmt: skip
def test_two_families_are_asked_about(first: str, second: str) -> None:
    other = softmax(LOGITS / 2) if "logit" not in second else LOGITS / 2
    data = table(**families(first, second, other), label=CLASSES[LABELS])
    answers = question_of(data).answers
    assert len(answers) >= 2
    own = {first.format(name) for name in CLASSES}
    (change,) = (
        answer.change for answer in answers
        if {name for name, role in answer.change["roles"] if role == "class"} == own
    )  # fmt: skip
    assert classed(data, **change).class_names == tuple(CLASSES)


def test_numbered_families_are_asked_about() -> None:
    columns = {f"m{j}_p{k}": softmax(LOGITS / (j + 1))[:, k] for j in range(2) for k in range(3)}
    data = table(label=LABELS, **columns)
    classed(data, **question_of(data).answers[0].change)


@pytest.mark.parametrize(
    "values", [SHARES, SHARES * 100, np.log(SHARES), SHARES.round(9), LOGITS * 1.0]
)
def test_families_that_say_the_same_are_not_asked_about(values: Any) -> None:
    columns = {f"logit_{name}": LOGITS[:, k] for k, name in enumerate(CLASSES)}
    columns |= {f"prob_{name}": values[:, k] for k, name in enumerate(CLASSES)}
    upload = read("a.csv", table(**columns, label=CLASSES[LABELS]))
    np.testing.assert_allclose(logit_set(upload.rows).probabilities, SHARES, atol=1e-8)


@pytest.mark.parametrize("what", ["std_{}", "n_{}"])
def test_measures_called_by_class_are_no_rivals(what: str) -> None:
    columns = {f"logit_{name}": LOGITS[:, k] for k, name in enumerate(CLASSES)}
    columns |= {what.format(name): abs(OTHER) + k for k, name in enumerate(CLASSES)}
    classed(table(**columns, label=CLASSES[LABELS]))


def test_a_column_that_is_never_the_label_is_no_class() -> None:
    columns = dict(zip(CLASSES, LOGITS.T, strict=True))
    upload = classed(table(label=CLASSES[LABELS], **columns, price=OTHER))
    assert upload.uses["price"] == "group"


def test_the_decision_that_is_called_class() -> None:
    scored(table(Probability=SCORE, Class=(SCORE > 0.5).astype(int), Label=OUTCOME))


@pytest.mark.parametrize(
    "name",
    ["prob_neg", "p_no", "P(False)", "class0_prob", "P(Y=0)", "negative_score", "0_prob",
     "prob_-1", "prob_0", "prob_0.0", "P(target=no)"],
)  # fmt: skip
def test_a_score_of_class_0_is_never_read_as_one_of_class_1(name: str) -> None:
    data, choices = table(**{"target": OUTCOME, name: 1 - SCORE}), {}
    try:
        upload = read("a.csv", data)
    except Question as question:
        choices = dict(question.answers[0].change)
        upload = read("a.csv", data, **choices)
    assert isinstance(upload.rows, LogitSet)
    assert upload.rows.class_names == ("1", "0")
    np.testing.assert_array_equal(upload.rows.labels, 1 - OUTCOME)


@pytest.mark.parametrize(
    "name", ["prob_1.0", "score_v2.0", "prob_no_show", "score_fold0", "model_0", "p10"]
)
def test_a_score_that_only_looks_like_class_0(name: str) -> None:
    scored(table(**{"target": OUTCOME, name: SCORE}))


@pytest.mark.parametrize(
    ("name", "values", "text"),
    [
        ("count", AGES, True), ("Freq", AGES, True), ("sample_weight", AGES / 10, True),
        ("weight", 60 + 10 * SCORE, False), ("count", np.full(N, 3), False), ("age", AGES, False),
    ],
)  # fmt: skip
def test_each_row_counts_once(name: str, values: Any, text: bool) -> None:  # noqa: FBT001
    upload = scored(table(prob=SCORE, label=OUTCOME, **{name: values}))
    assert any("each row counts once" in doubt for doubt in upload.doubts) == text
