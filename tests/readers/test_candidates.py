"""Which of several columns is the outcome, and which of several values are the event."""

from typing import Any

import numpy as np
import pytest

from dashboard.readers import FileError, Upload, read
from tests.readers.files import headed, logit_set
from tests.readers.test_one_score import question_of

_RNG = np.random.default_rng(3)
N = 2000
FACTOR = _RNG.random(N) < 0.3
RISK = (1 / (1 + np.exp(2.5 - 2.5 * FACTOR - _RNG.normal(size=N)))).round(4)
HAPPENED = (_RNG.random(N) < RISK).astype(int)
YES = np.where(FACTOR, "Yes", "No")


def labels(upload: Upload) -> Any:
    return logit_set(upload.rows).labels


@pytest.mark.parametrize(
    ("factor", "outcome"),
    [
        ("diabetes", "CHD"), ("prior_stroke", "mace"), ("fraud_history", "chargeback"),
        ("product", "CHD"),
    ],
)  # fmt: skip
def test_what_the_score_is_made_of_is_not_taken_for_what_it_predicts(
    factor: str, outcome: str
) -> None:
    """The score rises more with the factor: which is the outcome only a person can say."""
    question = question_of(headed(f"{factor},risk,{outcome}", YES, RISK, HAPPENED))
    assert question.ask == "Which column says what happened?"
    offered = [answer.label for answer in question.answers]
    assert {f'"{factor}"', f'"{outcome}"'} <= {*offered}
    chosen = next(answer for answer in question.answers if answer.label == f'"{outcome}"')
    upload = read("a.csv", headed(f"{factor},risk,{outcome}", YES, RISK, HAPPENED), **chosen.change)
    np.testing.assert_array_equal(labels(upload), HAPPENED)


@pytest.mark.parametrize("outcome", ["outcome_30d", "bad", "is_bad", "bad_flag"])
def test_a_heading_that_claims_the_outcome_comes_first(outcome: str) -> None:
    question = question_of(headed(f"prior_default,risk,{outcome}", YES, RISK, HAPPENED))
    assert question.answers[0].label == f'"{outcome}"'


def test_where_one_heading_alone_claims_the_outcome_nothing_is_asked() -> None:
    weak = (_RNG.random(N) < 0.3 + 0.2 * FACTOR).astype(int)
    np.testing.assert_array_equal(
        labels(read("a.csv", headed("smoker,risk,died", weak, RISK, HAPPENED))), HAPPENED
    )


def test_percentages_of_a_rare_event_are_offered_and_obeyed() -> None:
    percent = np.exp(0.7 * _RNG.normal(size=5 * N) - 1.3).round(3)
    rare = (_RNG.random(percent.size) < percent / 100).astype(int)
    assert 0 < np.mean(percent > 1) < 0.05
    data = headed("risk,event", percent, rare)
    question = question_of(data)
    assert question.answers[0].label == "Percentages"
    upload = read("a.csv", data, **question.answers[0].change)
    np.testing.assert_allclose(logit_set(upload.rows).probabilities[:, 1], percent / 100)


def test_faults_of_single_cells_are_no_percentages() -> None:
    risk = RISK.copy()
    risk[:6] = 12, 17, 23, 31, 45, 60
    labels_ = [answer.label for answer in question_of(headed("risk,event", risk, HAPPENED)).answers]
    assert labels_ == ["Leave out 6 rows"]


@pytest.mark.parametrize("heading", ["AI score (0-10)", "percentile"])
def test_a_rating_or_a_percentile_is_first_of_all_no_percentage(heading: str) -> None:
    top = 10 if "10" in heading else 100
    question = question_of(headed(f"{heading},event", (top * RISK).round(2), HAPPENED))
    assert question.answers[0].label == "None of these"


def test_counts_are_read_as_one_or_more() -> None:
    counts = HAPPENED * _RNG.choice([1, 1, 2, 3], N)
    question = question_of(headed("claim_prob,n_claims", RISK, counts))
    assert question.answers[0].label == "1 or more"
    upload = read(
        "a.csv", headed("claim_prob,n_claims", RISK, counts), **question.answers[0].change
    )
    np.testing.assert_array_equal(labels(upload), HAPPENED)


def test_few_rows_above_one_are_a_count_too_where_the_numbers_go_on() -> None:
    counts = HAPPENED.copy()
    counts[np.flatnonzero(HAPPENED)[:6]] = 2, 2, 2, 3, 3, 4
    question = question_of(headed("claim_prob,ClaimNb", RISK, counts))
    assert [one.label for one in question.answers] == ["1 or more", "Leave out 6 rows"]
    upload = read("a.csv", headed("claim_prob,ClaimNb", RISK, counts), **question.answers[0].change)
    np.testing.assert_array_equal(labels(upload), HAPPENED)


def test_each_of_two_values_is_offered_where_the_scores_contradict_the_words() -> None:
    state = np.where(HAPPENED == 1, "MERGED", "CLOSED").astype(object)
    state[::9] = "OPEN"
    offered = [
        one.label for one in question_of(headed("merge_score,state", RISK, state)).answers[1:]
    ]
    assert offered == [f"Count as {quoted}" for quoted in ('"not MERGED"', '"not CLOSED"')]


def test_limits_are_said_to_be_the_lowest_or_highest() -> None:
    few = [f"{p:.2f}" if k > 5 else "<0.2" for k, p in enumerate(RISK)]
    leave = question_of(headed("risk,event", few, HAPPENED)).answers[0]
    assert "without them the mean changes" in leave.why


def test_classes_are_called_as_the_cells_call_them() -> None:
    names = np.array(["Class1", "Class2"])
    upload = read("a.csv", headed("obs,Class1,Class2", names[HAPPENED], 1 - RISK, RISK))
    assert upload.class_names == ("Class1", "Class2")


STATUS = np.where(
    HAPPENED == 1,
    _RNG.choice(["Charged Off", "Default"], N),
    _RNG.choice(["Current", "Fully Paid"], N),
)


def test_several_values_may_be_the_event() -> None:
    data = headed("pd,loan_status", RISK, STATUS)
    is_it, *_ = question_of(data).answers
    assert is_it.change == {"roles": (("loan_status", "outcome"),)}
    likeliest, *_ = question_of(data, roles=(("loan_status", "outcome"),)).answers
    for event in (str(likeliest.change["event"]), "default or charged off"):
        upload = read("a.csv", data, roles=(("loan_status", "outcome"),), event=event)
        np.testing.assert_array_equal(labels(upload), HAPPENED)
    with pytest.raises(FileError, match="Lost"):
        read("a.csv", data, roles=(("loan_status", "outcome"),), event="Default or Lost")


def test_yes_and_no_may_be_said_in_several_ways() -> None:
    words = np.where(
        HAPPENED == 1, _RNG.choice(["yes", "Y", "YES"], N), _RNG.choice(["no", "N", "No"], N)
    )
    for event in ({}, {"event": "Yes"}, {"event": "y"}):
        upload = read("a.csv", headed("risk,bought", RISK, words), **event)
        np.testing.assert_array_equal(labels(upload), HAPPENED)
        assert any(text.startswith("Labels such as") for text in upload.repairs)


def test_dates_are_no_outcome() -> None:
    dates = np.where(HAPPENED == 1, "2024-03-05", "")
    dates[0] = "2024-04-06"
    with pytest.raises(FileError, match="dates, set to outcome"):
        read("a.csv", headed("risk,churn_date", RISK, dates), roles=(("churn_date", "outcome"),))


@pytest.mark.parametrize("turned", [False, True])
def test_1_is_the_first_of_two_classes_1_and_2_if_the_scores_say_so(*, turned: bool) -> None:
    result = HAPPENED if turned else 1 - HAPPENED
    data = headed("p1,p2,result", RISK, (1 - RISK).round(4), result)
    upload = read("a.csv", data, roles=(("result", "outcome"),))
    np.testing.assert_array_equal(labels(upload), 1 - HAPPENED)


@pytest.mark.parametrize("limit", [0.05, 0.4])
def test_what_the_score_decided_is_no_outcome(limit: float) -> None:
    decided = np.where(limit <= RISK, "Y", "N")
    result = np.where(HAPPENED, np.where(np.arange(N) % 2, "invasive", "in situ"), "none")
    data = headed("ai_risk,recalled,histology", RISK, decided, result)
    question = question_of(data)
    assert question.actual.startswith('"Y" in each row with a score of at least')
    labels_ = [answer.label for answer in question.answers]
    assert labels_ == ['"histology"', "None: the score decided it", '"recalled" happened so']
    next_ = question_of(data, **question.answers[0].change)
    assert {"invasive", "in situ"} <= {answer.label for answer in next_.answers}
    kept = read("a.csv", data, **question.answers[2].change)
    np.testing.assert_array_equal(labels(kept), decided == "Y")
    coarse = headed("risk,recalled", RISK.round(2), np.where(limit <= RISK.round(2), "Y", "N"))
    alike = read("a.csv", coarse, roles=(("recalled", "outcome"),)).doubts
    assert not [one for one in alike if "repeat another one" in one]


@pytest.mark.parametrize(
    ("names", "event"), [(("BAD1", "BAD0"), "BAD1"), (("relevant", "irrelevant"), "relevant"),
                         (("fake", "real"), "fake"), (("real", "fake"), "fake")],
)  # fmt: skip
def test_the_event_is_named_by_its_class(names: tuple[str, str], event: str) -> None:
    one, other = names
    data = headed(f"p_{one},p_{other},y", 1 - RISK, RISK, np.where(HAPPENED, other, one))
    upload = read("a.csv", data)
    assert logit_set(upload.rows).class_names[1] == event
    assert not [one for one in upload.doubts if one.startswith("The event is")]


def test_an_event_that_nothing_names_is_to_be_checked() -> None:
    data = headed("p_M,p_B,y", 1 - RISK, RISK, np.where(HAPPENED, "B", "M"))
    assert "The event is class B, whose column comes last: nothing else says which one it is." in (
        read("a.csv", data).doubts
    )


def test_a_score_of_ten_is_no_percentage() -> None:
    question = question_of(headed("prob_of_10,y", (9.9 * RISK).round(1), HAPPENED))
    assert question.answers[0].label == "None of these"


def test_of_two_columns_without_a_name_neither_is_taken() -> None:
    cover = np.clip(RISK + _RNG.normal(0, 0.1, N), 0, 1).round(3)
    question = question_of(headed("pa,maxent,forest_frac", HAPPENED, RISK, cover))
    assert question.actual.startswith("2 readings of the score")


def test_a_quantity_among_others_is_asked_about() -> None:
    cover = np.clip(0.3 + 0.4 * RISK + _RNG.normal(0, 0.05, N), 0, 1).round(3)
    data = headed("age,ejection_fraction,target", (90 * RISK).round(), cover, HAPPENED)
    assert "Is this the score of the model?" in str(question_of(data))
