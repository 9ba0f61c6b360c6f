"""Tables whose lines, cells or headings say a thing in another way than most, from their bytes."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, Upload, read
from dashboard.readers.recognition.features import says_event
from dashboard.readers.refusal import Question
from tests.readers.files import same_event, table
from tests.readers.test_xlsx import of_rows

N = 120
_RNG = np.random.default_rng(5)
RISK = np.round(_RNG.uniform(0.03, 0.97, N), 3).tolist()
Y = (_RNG.random(N) < RISK).astype(int).tolist()


def quoted(cells: list[Any]) -> list[str]:
    """Write values as JSON inside cells of a text."""
    return ['"' + json.dumps(cell).replace('"', '""') + '"' for cell in cells]


def same(upload: Upload) -> Upload:
    """Expect the risks and outcomes of these tests."""
    same_event(upload.rows, RISK, Y)
    return upload


# Lines -----------------------------------------------------------------------------------------

_ROWS = [f"{1000 + k}   {p:.3f}   {y}" for k, (p, y) in enumerate(zip(RISK, Y, strict=True))]
_HEADS = ["Id   Score   Died", "----   -----   ----"]
_BOX = ["\u250c" + "\u2500" * 9 + "\u2510", "\u2502 id \u2502 p_died \u2502 died \u2502"]
_BOX += [
    f"\u2502 {k} \u2502 {p} \u2502 {y} \u2502" for k, (p, y) in enumerate(zip(RISK, Y, strict=True))
]


@pytest.mark.parametrize(
    "lines",
    [
        ["Changed database context to 'Risk'.", *_HEADS, *_ROWS],
        [*_HEADS, *_ROWS, "", f"({N} rows affected)"],
        ["SQL> select id, score, died from all_of_them;", "", *_HEADS, *_ROWS],
        [". list id score died, clean", "", "id  score  died",
         *(f"{k}.  {row}" for k, row in enumerate(_ROWS, 1))],
        [*_BOX, "\u2514" + "\u2500" * 9 + "\u2518"],
    ],
)  # fmt: skip
def test_lines_of_a_program_around_a_table(lines: list[str]) -> None:
    same(read("a.txt", "\n".join(lines).encode()))


def test_a_table_that_is_printed_in_short_is_refused() -> None:
    lines = ["   id  score  died", *_ROWS[:5], "..  ...  ...", *_ROWS[-5:]]
    with pytest.raises(FileError, match=r"dots that stand for rows.* all rows, as df\.to_csv"):
        read("a.txt", "\n".join(lines).encode())


# Names of files --------------------------------------------------------------------------------


def test_a_file_is_read_by_its_content() -> None:
    book = of_rows([["p", "y"], *map(list, zip(RISK, Y, strict=True))])
    for name, data, kind in (
        ("a.csv", book, "xlsx"), ("a.xlsx", table(p=RISK, y=Y), "csv"),
    ):  # fmt: skip
        ending = name[1:]
        text = f"The name ends in {ending}, but the content is {kind} and was read so."
        assert text in same(read(name, data)).repairs
    assert not same(read("a.xlsx", book)).repairs


# Cells -----------------------------------------------------------------------------------------


def test_the_decimal_sign_of_arabic() -> None:
    same(read("a.csv", table(p=[f"{p:.3f}".replace(".", "\u066b") for p in RISK], y=Y)))


def test_values_that_differ_in_spelling_are_one() -> None:
    spelt = [(("NEG", "Negative ", "neg"), ("POS", "Positive", " positive"))[y][k % 3]
             for k, y in enumerate(Y)]  # fmt: skip
    upload = same(read("a.csv", table(risk=RISK, result=spelt)))
    assert {name.casefold()[:3] for name in upload.class_names or ()} == {"neg", "pos"}
    marks = [(("mild", "Mild", "none", "None"), ("severe", "SEVERE"))[y][k % (2 if y else 4)]
             for k, y in enumerate(Y)]  # fmt: skip
    with pytest.raises(Question) as caught:
        read("a.csv", table(risk=RISK, grade=marks), roles=(("grade", "outcome"),))
    offered = [answer.label.casefold() for answer in caught.value.answers]
    assert len({*offered}) == len(offered)


CLASSES = ("cat", "dog", "owl")
_SHARES = np.round(_RNG.dirichlet([1, 1, 1], N), 3)
_TRUE = [CLASSES[row.argmax()] if k % 4 else CLASSES[k % 3] for k, row in enumerate(_SHARES)]
_ORDERS = [_RNG.permutation(3) for _ in range(N)]
_NAMED = [[CLASSES[c] for c in order] for order in _ORDERS]
_LISTED = quoted([row[order].tolist() for row, order in zip(_SHARES, _ORDERS, strict=True)])
_OBJECTS = [dict(zip(CLASSES, row.tolist(), strict=True)) for row in _SHARES]


@pytest.mark.parametrize(
    "columns",
    [
        {"predicted.classes": quoted(_NAMED), "predicted.scores": _LISTED},
        {"labels": [f'"{names}"' for names in _NAMED], "probabilities": _LISTED},
        {"out": quoted([{"class": "cat", "probability": one} for one in _OBJECTS])},
        {"out": [f'"{one}"' for one in _OBJECTS]},
    ],
)
def test_classes_named_in_each_row(columns: dict[str, list[str]]) -> None:
    upload = read("a.csv", table(truth=_TRUE, **columns))
    assert isinstance(upload.rows, LogitSet)
    assert upload.class_names == CLASSES
    np.testing.assert_allclose(upload.rows.probabilities, _SHARES, atol=2e-3)
    assert [CLASSES[k] for k in upload.rows.labels] == _TRUE


def test_vectors_of_spark_as_text() -> None:
    dense = [{"vectorType": "dense", "length": 2, "values": [round(1 - p, 3), p]} for p in RISK]
    same(read("a.csv", table(label=Y, probability=quoted(dense))))
    sparse = {"vectorType": "sparse", "length": 2, "indices": [0], "values": [1.0]}
    with pytest.raises(FileError, match="sparse vectors"):
        read("a.csv", table(label=Y, probability=quoted([*dense[1:], sparse])))


def test_words_in_lists_that_name_no_class_stay_texts() -> None:
    tags = quoted([["a", "b"][: 1 + k % 2] for k in range(N)])
    upload = same(read("a.csv", table(p=RISK, y=Y, tags=tags)))
    assert [*upload.columns["rows"]] == ["tags"]


# Rows of several meanings ----------------------------------------------------------------------


def test_a_row_per_measure_is_refused() -> None:
    measures = ["Avg. Churn Prob", "Churned"] * N
    cells = [cell for pair in zip(RISK, Y, strict=True) for cell in pair]
    data = table(customer=np.repeat(range(N), 2), measure=measures, value=cells)
    for roles in ((), (("measure", "outcome"),)):
        with pytest.raises(FileError, match=r'sample and measure, by column "measure".* pivot'):
            read("a.csv", data, roles=roles)


def test_the_true_class_in_each_row_of_a_long_table_is_no_outcome_of_the_row() -> None:
    classes = ["no", "yes"] * N
    cells = [cell for p in RISK for cell in (round(1 - p, 3), p)]
    truth = np.repeat([("no", "yes")[y] for y in Y], 2)
    data = table(id=np.repeat(range(N), 2), label=classes, prob=cells, actual=truth)
    for roles in ((), (("actual", "outcome"),)):
        with pytest.raises(
            FileError, match=r"sample and class.* each class has a column"
        ) as caught:
            read("a.csv", data, roles=roles)
        assert "give the role" not in str(caught.value)


def test_an_id_that_stands_in_rows_of_one_visit_alone_makes_no_visits_models() -> None:
    patients = [f"P{k // 3}" if k % 3 == 0 else "" for k in range(N)]
    upload = same(
        read("a.csv", table(patient=patients, visit=[k % 3 for k in range(N)], p=RISK, y=Y))
    )
    assert not any("pooled" in doubt for doubt in upload.doubts)


# Sentences and questions -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mc_weight", "Weight"])
def test_weights_below_0_are_said_not_to_be_used(name: str) -> None:
    weights = [-0.5 if k % 10 == 0 else 1.5 + k / N for k in range(N)]
    upload = same(read("a.csv", table(p=RISK, y=Y, **{name: weights})))
    text = (
        f'Column "{name}" is not used as a weight, as 12 values are below 0: each row counts once.'
    )
    assert text in upload.doubts
    (proposal,) = upload.proposals
    assert [answer.label for answer in proposal.question.answers] == ["No weight"]


def test_a_click_rate_is_no_percentage_by_its_name() -> None:
    same(read("a.csv", table(pctr=RISK, clicked=Y)))
    with pytest.raises(Question, match="What are these values"):
        read("a.csv", table(pct=RISK, clicked=Y))


def test_votes_beside_the_share_that_a_model_foretells() -> None:
    votes = _RNG.integers(20, 60, N)
    featured = _RNG.binomial(votes, RISK)
    columns = {"total_votes": votes, "featured_count": featured, "smooth_count": votes - featured}
    with pytest.raises(Question, match='"featured_count" of "total_votes" cases'):
        read("a.csv", table(**columns, cnn_p_featured=RISK))


@pytest.mark.parametrize(
    ("name", "cell"), [(".config", "Preprocessor1"), ("scored_at", "2024-05-01 00:00:00")]
)
def test_what_only_begins_as_a_score_does_is_not_said_to_be_none(name: str, cell: str) -> None:
    upload = same(read("a.csv", table(p=RISK, y=Y, **{name: [cell] * N})))
    assert not any(name in doubt for doubt in upload.doubts)


def test_labels_of_no_class_beside_a_list_without_names() -> None:
    lists = quoted([row.tolist() for row in _SHARES])
    with pytest.raises(Question) as caught:
        read("a.csv", table(truth=_TRUE, probabilities=lists))
    assert "no class is called. Expected" in str(caught.value)


class _InOrder(set[str]):
    """A set whose words come in one order, as by one seed of the hashes of a process."""

    def __init__(self, *words: str) -> None:
        super().__init__(words)
        self.words = words

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)


def test_of_two_words_as_long_the_event_does_not_hang_on_the_order_of_a_set() -> None:
    assert says_event(_InOrder("none", "mild")) == says_event(_InOrder("mild", "none")) == ""
