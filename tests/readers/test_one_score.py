"""One score beside an outcome: percent, a linear predictor, or what cannot be told."""

from typing import Any

import numpy as np
import pytest

from dashboard.readers import FileError, Question, Upload, read
from tests.readers.files import Array, headed, logit_set, same_event

_RNG = np.random.default_rng(11)
N = 200
RISK = (1 / (1 + np.exp(-2 * _RNG.normal(size=N)))).round(6)
ILL = (_RNG.uniform(size=N) < RISK).astype(int)
ODDS = np.log(RISK / (1 - RISK)).round(6)
PERCENT = (100 * RISK).round(4)
AGE = _RNG.integers(30, 90, N)


def is_risk(upload: Upload, risk: Array = RISK) -> None:
    same_event(upload.rows, risk, ILL)


def question_of(data: bytes, **choices: Any) -> Question:
    with pytest.raises(Question) as caught:
        read("a.csv", data, **choices)
    return caught.value


@pytest.mark.parametrize(
    "heads",
    [
        "predicted_risk,outcome", "risk_percent,died", "predicted risk (%),outcome", "pct,event",
        "Wahrscheinlichkeit,died", "percent,label",
    ],
)  # fmt: skip
def test_percent_beside_an_outcome(heads: str) -> None:
    upload = read("a.csv", headed(heads, PERCENT, ILL))
    is_risk(upload)
    assert "Percentages were divided by 100 in all 200 rows." in upload.repairs
    name = heads.partition(",")[0]
    assert any(f'in percent, because "{name}"' in text for text in upload.notes)


@pytest.mark.parametrize("heads", ["linear_predictor,event", "log odds,died", "lp,outcome"])
@pytest.mark.parametrize("shift", [0, -12, 12])
def test_a_linear_predictor_beside_an_outcome(heads: str, shift: int) -> None:
    upload = read("a.csv", headed(heads, (ODDS + shift).round(6), ILL))
    is_risk(upload, 1 / (1 + np.exp(-ODDS - shift)))
    assert upload.values_kind == "logits"


def test_an_outcome_stands_beside_further_columns() -> None:
    site = np.arange(N) % 3
    is_risk(read("a.csv", headed("age,risk_pct,site,died", AGE, PERCENT, site, ILL)))


@pytest.mark.parametrize("head", ["score", "risk_score"])
def test_a_score_that_names_nothing_may_be_percent(head: str) -> None:
    data = headed(f"{head},label", PERCENT, ILL)
    question = question_of(data)
    texts = [answer.label for answer in question.answers]
    assert texts == ["Percentages", "Logits", "None of these"]
    is_risk(read("a.csv", data, **question.answers[0].change))


@pytest.mark.parametrize("heads", ["prob,label", "predicted_risk,outcome"])
def test_one_number_above_1_does_not_divide_the_others_by_100(heads: str) -> None:
    data = headed(heads, [*(RISK / 20).round(6), 1.0, 5], [*ILL, 1, 1])
    assert "(outside 0 to 1); in 1 row (row 203)" in str(question_of(data))
    assert read("a.csv", data, leave_out=True).values_kind == "probabilities"


@pytest.mark.parametrize(
    "head",
    ["years_at_risk", "relative_risk", "age_pct", "risk_per_1000", "log_probability", "pct_change"],
)
def test_what_is_only_near_a_risk_or_a_percentage_is_asked_about(head: str) -> None:
    """The words beside it speak against a percentage."""
    data = headed(f"{head},outcome", PERCENT, ILL)
    assert question_of(data).answers
    is_risk(read("a.csv", data, values="percentages", roles=((head, "score"),)))


def test_scores_below_1_that_are_called_otherwise_are_asked_about() -> None:
    for head, likely in (("risk_pct", "Percentages"), ("lp", "Logits")):
        question = question_of(headed(f"{head},died", RISK, ILL))
        texts = [answer.label for answer in question.answers]
        assert texts == [likely, "Probabilities", "None of these"]
    is_risk(read("a.csv", headed("risk_pct,died", RISK, ILL), values="probabilities"))
    is_risk(read("a.csv", headed("risk (%),died", [f"{100 * v:.4f}%" for v in RISK], ILL)))


def test_the_only_column_beside_a_score_is_the_outcome() -> None:
    weak = np.arange(N) % 2
    upload = read("a.csv", headed("risk,gone", RISK, weak))
    np.testing.assert_array_equal(logit_set(upload.rows).labels, weak)
    is_risk(read("a.csv", headed("Risiko,verstorben", RISK, np.array(["nein", "ja"])[ILL])))


def test_an_outcome_that_falls_with_the_score_is_asked_about() -> None:
    data = headed("risk,gone", RISK, 1 - ILL)
    first = question_of(data).answers[0]
    assert first.change == {"event": "0"}
    is_risk(read("a.csv", data, **first.change))


def test_logits_of_two_classes_are_no_score_and_outcome() -> None:
    upload = read("a.csv", headed("no,yes", ODDS, -2 * ODDS))
    assert upload.piece is not None
    assert upload.piece.table is not None
    assert upload.piece.table.shape == (N, 2)
    assert not upload.doubts


def marked(count: int, mark: float, name: str = "prob") -> bytes:
    scores = np.where(np.arange(N) < count, mark, RISK)
    return headed(f"{name},label", scores, ILL)


@pytest.mark.parametrize(("count", "mark"), [(1, -1), (1, -999), (2, -0.01), (20, -1), (70, -999)])
@pytest.mark.parametrize("name", ["prob", "p1"])
def test_marks_for_missing_scores_are_asked_about(count: int, mark: float, name: str) -> None:
    data = marked(count, mark, name)
    assert f"{count} row" in str(question_of(data))
    upload = read("a.csv", data, leave_out=True)
    assert upload.values_kind == "probabilities"
    np.testing.assert_allclose(logit_set(upload.rows).probabilities[:, 1], RISK[count:], atol=2e-6)
    assert read("a.csv", data, values="logits").values_kind == "logits"


@pytest.mark.parametrize(("width", "doubted"), [(0.5, True), (1.5, False)])
def test_scores_of_which_many_are_within_0_to_1_are_doubted(width: float, *, doubted: bool) -> None:
    rng = np.random.default_rng(5)
    z = 0.5 + width * rng.normal(size=400)
    data = headed("score,label", z, (rng.uniform(size=400) < 1 / (1 + np.exp(-z))).astype(int))
    upload = read("a.csv", data)
    assert upload.values_kind == "logits"
    within = f"{np.count_nonzero((z >= 0) & (z <= 1))} of 400 scores are within 0 to 1"
    assert any(within in text for text in upload.doubts) == doubted


@pytest.mark.parametrize("highest", [5, 10, 20])
def test_marks_of_a_scale_are_asked_about(highest: int) -> None:
    marks = np.arange(N) % highest + 1
    data = headed("probability,label", marks, ILL)
    changes = [answer.change["values"] for answer in question_of(data).answers]
    assert changes[:2] == ["none", "percentages"]
    with pytest.raises(FileError, match="Expected a probability for each rating"):
        read("a.csv", data, values="none")
    is_risk(read("a.csv", data, values="percentages"), marks / 100)


def test_logits_that_are_called_a_probability_are_doubted() -> None:
    text = 'The values are called "p", but some are outside 0 to 1 and were read as logits.'
    assert text in read("a.csv", headed("p,label", 3 * ODDS, ILL)).doubts
    assert text not in read("a.csv", headed("lp,label", 3 * ODDS, ILL)).doubts


def test_points_that_no_heading_calls_logits_and_that_fit_none_are_asked_about() -> None:
    rng = np.random.default_rng(5)
    points = rng.normal(2.0, 2.0, 300).round(1)
    label = rng.random(300) < 1 / (1 + np.exp(3.5 - points))
    share, as_logits = label.mean(), (1 / (1 + np.exp(-points))).mean()
    assert as_logits - share > 0.15

    def file(heading: str, scores: Array) -> bytes:
        return headed(f"{heading},label", scores, np.where(label, "spam", "ham"))

    with pytest.raises(Question) as caught:
        read("a.csv", file("sa_score", points))
    assert f"mean probability would be {100 * as_logits:.1f}%" in caught.value.actual
    assert f"{100 * share:.1f}% of the rows" in caught.value.actual
    first, second = caught.value.answers
    assert (first.label, second.label) == ("Points of another scale", "Logits")
    with pytest.raises(FileError, match="map the points to these first"):
        read("a.csv", file("sa_score", points), **first.change)
    for heading, scores, options in (
        ("sa_score", points, second.change),
        ("logit", points, {}),
        ("sa_score", points - 3.5, {}),
    ):
        assert read("a.csv", file(heading, scores), **options).values_kind == "logits"
