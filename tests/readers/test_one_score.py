"""One score beside an outcome: percent, a linear predictor, or what cannot be told."""

from typing import Any

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, Upload, read
from tests.readers.files import Array

_RNG = np.random.default_rng(11)
N = 200
RISK = (1 / (1 + np.exp(-2 * _RNG.normal(size=N)))).round(6)
ILL = (_RNG.uniform(size=N) < RISK).astype(int)
ODDS = np.log(RISK / (1 - RISK)).round(6)
AGE = _RNG.integers(30, 90, N)


def table(heads: str, *columns: Any) -> bytes:
    rows = zip(*columns, strict=True)
    return "\n".join([heads, *(",".join(map(str, row)) for row in rows)]).encode()


def is_risk(upload: Upload, risk: Array = RISK) -> None:
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities[:, 1], risk, atol=2e-6)
    np.testing.assert_array_equal(upload.rows.labels, ILL)


@pytest.mark.parametrize(
    "heads",
    [
        "predicted_risk,outcome", "risk_percent,died", "predicted risk (%),outcome", "pct,event",
        "Wahrscheinlichkeit,died", "percent,label",
    ],
)  # fmt: skip
def test_percent_beside_an_outcome(heads: str) -> None:
    upload = read("a.csv", table(heads, (100 * RISK).round(4), ILL))
    is_risk(upload)
    assert "Percentages were divided by 100 in all 200 rows." in upload.repairs
    assert any("in percent, because the scores are called" in said for said in upload.found)


@pytest.mark.parametrize("heads", ["linear_predictor,event", "log odds,died", "lp,outcome"])
@pytest.mark.parametrize("shift", [0, -12, 12])
def test_a_linear_predictor_beside_an_outcome(heads: str, shift: int) -> None:
    upload = read("a.csv", table(heads, (ODDS + shift).round(6), ILL))
    is_risk(upload, 1 / (1 + np.exp(-ODDS - shift)))
    assert upload.values_kind == "logits"
    assert any("as the heading" in said for said in upload.found)


def test_an_outcome_stands_beside_further_columns() -> None:
    site = np.arange(N) % 3
    is_risk(read("a.csv", table("age,risk_pct,site,died", AGE, (100 * RISK).round(4), site, ILL)))


def test_a_score_that_names_nothing_may_be_percent() -> None:
    for heads in ("score,label", "risk_score,label"):
        data = table(heads, (100 * RISK).round(4), ILL)
        with pytest.raises(FileError, match=r"probabilities if they are percent, to be divided"):
            read("a.csv", data)
        is_risk(read("a.csv", data, values="probabilities"))


def test_one_number_above_1_does_not_divide_the_others_by_100() -> None:
    rare = (RISK / 20).round(6)
    for heads in ("prob,label", "predicted_risk,outcome"):
        data = table(heads, [*rare, 1.0, 5], [*ILL, 1, 1])
        with pytest.raises(FileError, match=r"outside 0 to 1 in 1 row \(row 203\) of the file"):
            read("a.csv", data)


@pytest.mark.parametrize(
    "head",
    [
        "years_at_risk", "number_at_risk", "relative_risk", "risk_ratio", "risk_odds", "age_pct",
        "risk_factors", "risk_class", "risk_per_1000", "log_probability", "prob_bin", "risk_age",
        "hematocrit_pct", "percent_body_fat", "pct_change",
    ],
)  # fmt: skip
def test_what_is_only_near_a_risk_or_a_percentage_is_not_divided(head: str) -> None:
    with pytest.raises(FileError, match=r"one column from .* outside 0 to 1 in"):
        read("a.csv", table(f"{head},outcome", (100 * RISK).round(4), ILL))
    is_risk(read("a.csv", table("prob_outcome,outcome", (100 * RISK).round(4), ILL)))


def test_scores_below_1_that_are_called_percent_are_doubted() -> None:
    for heads, mend in (("risk_pct,died", "divide them by 100"), ("lp,died", "they are logits")):
        upload = read("a.csv", table(heads, RISK, ILL))
        is_risk(upload)
        assert any("although they are called" in s and mend in s for s in upload.doubts)
    signed = read("a.csv", table("risk (%),died", [f"{100 * v:.4f}%" for v in RISK], ILL))
    is_risk(signed)
    assert not any("although they are called" in s for s in signed.doubts)


def test_the_only_column_beside_a_score_is_the_outcome() -> None:
    weak = np.arange(N) % 2
    upload = read("a.csv", table("risk,gone", RISK, weak))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.labels, weak)
    assert any("the only one beside the score" in said for said in upload.doubts)
    words = np.array(["nein", "ja"])[ILL]
    is_risk(read("a.csv", table("Risiko,verstorben", RISK, words)))


def test_an_outcome_that_falls_with_the_score_is_not_taken() -> None:
    assert read("a.csv", table("risk,gone", RISK, 1 - ILL)).piece is not None
    upload = read("a.csv", table("risk_pct,gone", (100 * RISK).round(4), 1 - ILL))
    assert upload.piece is not None
    assert any('If "risk_pct" is the score of class 1' in said for said in upload.doubts)


def test_logits_of_two_classes_are_no_score_and_outcome() -> None:
    upload = read("a.csv", table("no,yes", ODDS, -2 * ODDS))
    assert upload.piece is not None
    assert upload.piece.table is not None
    assert upload.piece.table.shape == (N, 2)
    assert not upload.doubts


def marked(count: int, mark: float, name: str = "prob") -> bytes:
    scores = np.where(np.arange(N) < count, mark, RISK)
    return table(f"{name},label", scores, ILL)


@pytest.mark.parametrize(("count", "mark"), [(1, -1), (1, -999), (2, -0.01), (20, -1), (70, -999)])
def test_few_scores_outside_0_to_1_make_no_logits(count: int, mark: float) -> None:
    for name in ("prob", "y_prob", "p1", "score"):
        with pytest.raises(FileError, match=rf"probabilities in {N - count} of 200 rows") as caught:
            read("a.csv", marked(count, mark, name))
        assert f"such as {mark:.4g}, in {count} row" in str(caught.value)
        assert "your word that these are logits" in str(caught.value)
        assert read("a.csv", marked(count, mark, name), values="logits").values_kind == "logits"


def test_scores_of_which_many_are_within_0_to_1_are_doubted() -> None:
    rng = np.random.default_rng(5)
    noise, uniform = rng.normal(size=400), rng.uniform(size=400)
    for width, told in ((0.25, "refused"), (0.5, "doubted"), (1.5, "")):
        z = 0.5 + width * noise
        data = table("score,label", z, (uniform < 1 / (1 + np.exp(-z))).astype(int))
        within = f"{np.count_nonzero((z >= 0) & (z <= 1))} of 400"
        if told == "refused":
            with pytest.raises(FileError, match=f"probabilities in {within} rows"):
                read("a.csv", data)
            continue
        upload = read("a.csv", data)
        assert upload.values_kind == "logits"
        doubted = any(f"{within} scores are within 0 to 1, and" in said for said in upload.doubts)
        assert doubted == bool(told)


@pytest.mark.parametrize(
    "name", ["logit", "decision_function", "svm margin", "Logits", "raw_output"]
)
def test_logits_by_name_may_be_within_0_to_1(name: str) -> None:
    upload = read("a.csv", marked(2, -0.5, name))
    assert upload.values_kind == "logits"
    assert not any("within 0 to 1" in said for said in upload.doubts)


@pytest.mark.parametrize("highest", [5, 10, 20])
def test_marks_of_a_scale_are_no_percentages(highest: int) -> None:
    data = table("probability,label", np.arange(N) % highest + 1, ILL)
    with pytest.raises(FileError, match="probabilities if they are percent"):
        read("a.csv", data)
    is_risk(read("a.csv", data, values="probabilities"), (np.arange(N) % highest + 1) / 100)


def test_logits_that_are_called_a_probability_are_doubted() -> None:
    said = 'The values are called "p", but some are outside 0 to 1 and were read as logits.'
    assert said in read("a.csv", table("p,label", 3 * ODDS, ILL)).doubts
    assert said not in read("a.csv", table("lp,label", 3 * ODDS, ILL)).doubts
