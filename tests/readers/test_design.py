"""What rows stand for by columns of a file, and whom they belong to."""

import io
from typing import Any, cast

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibcore import audit
from calibcore.data import LogitSet
from calibcore.weights import sampling_weights
from dashboard.compute.files import row_numbers
from dashboard.compute.periods import split_by_date
from dashboard.readers import Upload, read
from dashboard.readers.records import ColumnRole, Role
from dashboard.readers.refusal import FileError, Question
from tests.readers.files import table

RNG = np.random.default_rng(3)
N = 400
P = RNG.random(N).round(3)
Y = (RNG.random(N) < P).astype(int)
COUNTS = RNG.integers(0, 5, N)
WEIGHTS = RNG.gamma(2, 1, N).round(3)
PATIENTS = np.repeat(np.arange(40) + 1000, 10)
AGES = RNG.integers(20, 80, N)


def event(upload: Upload) -> LogitSet:
    assert isinstance(upload.rows, LogitSet)
    return upload.rows


def test_a_number_of_rows_is_so_many_rows() -> None:
    data = table(risk=P, died=Y, n=COUNTS, age=AGES, site=PATIENTS % 3)
    upload = read("counted.csv", data, roles=(("n", "count"),))
    places = np.repeat(np.arange(N), COUNTS)
    repeated = read("repeated.csv", table(risk=P[places], died=Y[places], age=AGES[places],
                                        site=PATIENTS[places] % 3))  # fmt: skip
    assert_allclose(event(upload).probabilities, event(repeated).probabilities, atol=0)
    assert event(upload).labels.tolist() == event(repeated).labels.tolist()
    for name, column in repeated.columns["rows"].items():
        assert upload.columns["rows"][name].values.tolist() == column.values.tolist()
    assert row_numbers(upload)["rows"].tolist() == (places + 2).tolist()
    text = f'Column "n" counts equal rows: {N} rows of the file stand for {COUNTS.sum():,}.'
    assert text in upload.notes


def test_events_of_trials_are_rows_with_the_event_and_without() -> None:
    trials = RNG.integers(5, 50, 30)
    scores = np.sort(RNG.random(30)).round(3)
    events = RNG.binomial(trials, scores)
    data = table(score=scores, events=events, trials=trials)
    with pytest.raises(Question, match='in "events" of "trials" cases') as caught:
        read("bins.csv", data)
    upload = read("bins.csv", data, **caught.value.answers[0].change)
    rows = event(upload)
    assert (rows.n_samples, rows.labels.sum()) == (trials.sum(), events.sum())
    one = audit(np.repeat(scores, trials), np.concatenate(
        [np.repeat([1, 0], [k, n - k]) for k, n in zip(events, trials, strict=True)]
    )).test.compare("ks_error")  # fmt: skip
    assert audit(rows).test.compare("ks_error").before == pytest.approx(one.before, abs=1e-15)
    assert {*row_numbers(upload)["rows"].tolist()} == {*range(2, 32)}


def test_sampling_weights_and_clusters_go_with_the_rows() -> None:
    weights = np.where(AGES > 75, 0, WEIGHTS)
    data = table(risk=P, died=Y, sample_weight=weights, patient_id=PATIENTS, age=AGES)
    roles: tuple[tuple[str, ColumnRole], ...]
    roles = (("sample_weight", "weight"), ("patient_id", "cluster"))
    upload = read("survey.csv", data, roles=roles)
    rows, some = event(upload), weights > 0
    assert rows.weights is not None
    assert rows.clusters is not None
    assert_allclose(rows.weights.values, weights[some])
    assert rows.clusters.tolist() == (PATIENTS[some] - 1000).tolist()
    known = audit(P[some], Y[some], sample_weight=sampling_weights(weights[some]),
                  clusters=PATIENTS[some])  # fmt: skip
    assert audit(rows).test.compare("ece").before == known.test.compare("ece").before
    assert any(text.startswith('Column "sample_weight" holds sampling') for text in upload.notes)
    belongs = f'Rows of the same "patient_id" belong together: {some.sum()} rows of 40.'
    assert belongs in upload.notes


def test_both_are_proposed_until_the_user_says() -> None:
    data = table(risk=P, died=Y, sample_weight=WEIGHTS, patient_id=PATIENTS)
    upload = read("survey.csv", data)
    weight, cluster = upload.proposals
    assert [one.label for one in weight.question.answers] == ["Sampling weight", "No weight"]
    assert [one.label for one in cluster.question.answers] == [
        "Those of one patient",
        "No, each row by itself",
    ]
    assert {weight.doubt, cluster.doubt} <= {*upload.doubts}
    for place in (0, 1):
        roles = [
            pair for one in upload.proposals for pair in one.question.answers[place].change["roles"]
        ]
        answered = read("survey.csv", data, roles=tuple(roles))
        assert not answered.proposals
        assert not [doubt for doubt in answered.doubts if "weight" in doubt or "patient" in doubt]
        assert (event(answered).weights is None) == (event(answered).clusters is None) == place


@pytest.mark.parametrize(
    "name",
    ["n", "freq", "count", "n_patients", "count(*)", "Anzahl", "number_of_customers", "nombre"],
)
def test_whole_numbers_that_are_called_so_are_rows_first(name: str) -> None:
    proposals = read("x.csv", table(risk=P, died=Y, **{name: COUNTS})).proposals
    texts = [one.label for one in proposals[0].question.answers]
    assert texts == ["Number of rows", "Sampling weight", "No weight"]


@pytest.mark.parametrize(
    ("name", "times", "asks"),
    [
        ("WTMEC2YR", 5000, True), ("Gewichtungsfaktor", 1, True), ("ipcw", 1, True),
        ("pweight", 1, True), ("ponderacion", 1, True), ("geburtsgewicht", 1, False),
        ("n_visits", 1, False), ("overweight", 1, False), ("wtp", 20, False),
    ],
)  # fmt: skip
def test_weights_are_asked_about_by_their_names(name: str, times: float, asks: bool) -> None:  # noqa: FBT001
    weights = np.where(AGES > 75, 0, WEIGHTS) * times  # 0 where a row was not drawn
    upload = read("x.csv", table(risk=P, died=Y, **{name: weights}))
    assert [one.question.field for one in upload.proposals] == [f'column "{name}"'] * asks
    if asks:
        assert name not in upload.columns["rows"]
        answered = read(
            "x.csv", table(risk=P, died=Y, **{name: weights}), roles=((name, "weight"),)
        )
        assert event(answered).n_samples == np.count_nonzero(weights)


@pytest.mark.parametrize(
    ("columns", "roles", "message"),
    [
        ({"n": WEIGHTS}, (("n", "count"),), 'column "n".*whole numbers of rows from 0'),
        ({"n": WEIGHTS - 2}, (("n", "weight"),), 'column "n".*weights from 0'),
        ({"n": 0 * COUNTS}, (("n", "count"),), 'column "n": 0 in every row'),
        ({"n": COUNTS + 10**8}, (("n", "count"),), 'column "n": .* rows in all. Expected fewer'),
        (
            {"n": COUNTS, "w": WEIGHTS}, (("n", "count"), ("w", "weight")),
            'column "w": sampling weights beside "n", a number of rows',
        ),
        ({"p_id": 0 * COUNTS + 7}, (("p_id", "cluster"),), 'column "p_id": a single cluster'),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence(
    columns: dict[str, object], roles: tuple[tuple[str, ColumnRole], ...], message: str
) -> None:
    with pytest.raises(FileError, match=message):
        read("x.csv", table(risk=P, died=Y, **columns), roles=roles)


def test_more_events_than_trials_name_the_row() -> None:
    data = table(score=[0.1, 0.2, 0.4, 0.5], events=[1, 9, 2, 3], trials=[5, 5, 6, 7])
    with pytest.raises(FileError, match='column "events": 9 events of 5 in row 3'):
        read("x.csv", data, roles=(("trials", "count"), ("events", "events")))


def test_visits_of_patients_are_not_found_miscalibrated_for_being_alike() -> None:
    """Of 30 calibrated sets, by rows nearly all are rejected, by patients about one in twenty."""
    rejected = {"id": 0, "cluster": 0}
    roles: tuple[ColumnRole, ...] = ("id", "cluster")
    for seed in range(30):
        rng = np.random.default_rng(seed)
        risk = np.repeat(rng.random(60), 10).round(4)  # alike, as the visits of one patient are
        died = np.repeat(rng.random(60), 10) < risk
        data = table(risk=risk, died=died.astype(int), patient_id=np.repeat(np.arange(60), 10))
        for role in roles:
            rows = event(read("visits.csv", data, roles=(("patient_id", role),)))
            rejected[role] += audit(rows).test.before.curves.ks_p_value < 0.05
    assert rejected["id"] >= 15
    assert rejected["cluster"] <= 5


def test_arrays_propose_and_take_weights_in_both_sets() -> None:
    stream = io.BytesIO()
    logits, labels = RNG.normal(size=(N, 3)), RNG.integers(0, 3, N)
    named: dict[str, Any] = {
        f"{name}_{role}": values
        for role in ("calibration", "test")
        for name, values in (("logits", logits), ("labels", labels), ("sample_weight", WEIGHTS))
    }
    np.savez(stream, **named)
    upload = read("sets.npz", stream.getvalue())
    assert [one.question.field for one in upload.proposals] == ['column "sample_weight"']
    assert "sample_weight" not in upload.columns["test"]
    change = upload.proposals[0].question.answers[0].change
    weighed = read("sets.npz", stream.getvalue(), **change)
    for rows in weighed.sets.values():
        assert rows.weights is not None
        assert_allclose(rows.weights.values, WEIGHTS)


def test_one_column_alone_weighs() -> None:
    data = table(risk=P, died=Y, sample_weight=WEIGHTS, n=COUNTS)
    assert len(read("x.csv", data).proposals) == 2
    assert not read("x.csv", data, roles=(("n", "count"),)).proposals


def test_counted_rows_are_split_by_date() -> None:
    dates = [f"2025-{1 + k % 12:02d}-03" for k in range(N)]
    data = table(risk=P, died=Y, n=COUNTS, seen=dates)
    roles: tuple[tuple[str, ColumnRole], ...] = (("n", "count"),)
    upload = split_by_date(read("x.csv", data, roles=roles, split_at=("seen", "2025-07")))
    for role, late in (("calibration", False), ("test", True)):
        lines = np.flatnonzero((np.arange(N) % 12 >= 6) == late)
        expected = np.repeat(lines + 2, COUNTS[lines])
        assert row_numbers(upload)[cast("Role", role)].tolist() == expected.tolist()
        assert upload.sets[role].n_samples == len(expected)


@pytest.mark.parametrize("name", ["exposure_weight", "weight", "post_weight", "kg_weight"])
def test_what_is_called_a_weight_is_proposed_and_groups_nothing_until_answered(name: str) -> None:
    """Grouped by it, rows would be compared by what may be made of the outcome."""
    weights = np.where(Y == 1, 1, 6)
    upload = read("a.csv", table(p=P, y=Y, **{name: weights}))
    grouped = [column for columns in upload.columns.values() for column in columns]
    if name == "kg_weight":  # of bodies
        assert not upload.proposals
        return
    (proposal,) = upload.proposals
    assert name not in grouped
    assert [one.label for one in proposal.question.answers][-1] == "No weight"
    assert not any("equals the outcome" in one for one in upload.doubts)


def test_points_are_refused_without_a_question_about_the_event() -> None:
    with pytest.raises(FileError, match="logit of the event; convert points"):
        read("a.csv", table(credit_score=(750 - 200 * P).round(), default=Y))
