"""Rows that a file has more than once, or that two sets share though their values differ."""

from collections.abc import Mapping

import numpy as np
import pytest

from calibcore.cumulative import cumulative_curves
from calibcore.data import EventScores, LogitSet
from dashboard.readers import read
from dashboard.readers.meaning.repeated import go_together, hashes_of, repeated
from dashboard.readers.records import DEFAULTS, RawSet, Role
from tests.readers.files import Array, headed, npz
from tests.readers.test_doubts import LABELS, LOGITS, TEST_LABELS, TEST_LOGITS, K, N, softmax

_DRAWN = np.random.default_rng(4)
SCORES = softmax(_DRAWN.normal(size=(600, 2)))[:, 1]
HITS = (_DRAWN.random(600) < SCORES).astype(int)
RAW: Mapping[Role, RawSet] = {"rows": RawSet(None, None)}
SAID = "the same rows, scored twice"
MODELS = "two models are compared on the page Models"
COPIES = "repeat another one, values and label alike"


def two(logits: Array, labels: Array, other: Array, of_other: Array) -> str:
    data = npz(val_logits=logits, val_labels=labels, test_logits=other, test_labels=of_other)
    return " ".join(read("a.npz", data).doubts)


def one(logits: Array, labels: Array) -> str:
    return " ".join(read("a.npz", npz(logits=logits, labels=labels)).doubts)


def test_the_same_rows_scored_twice() -> None:
    shifted = LOGITS - LOGITS.max(axis=1, keepdims=True)
    for other in (LOGITS * 0.6, shifted, LOGITS.round(2), LOGITS.astype(np.float32)):
        text = two(LOGITS, LABELS, other, LABELS)
        assert SAID in text
        assert MODELS in text
    assert SAID not in two(LOGITS, LABELS, TEST_LOGITS, TEST_LABELS)
    assert SAID not in two(LOGITS, LABELS, LOGITS * 0.6, TEST_LABELS)
    same = np.zeros(N, dtype=int)
    assert SAID not in two(LOGITS, same, LOGITS * 0.6, same)


def test_scores_that_go_together() -> None:
    labels = LABELS[:100]
    table = LOGITS[:100]
    assert go_together(table, table * 2, labels)
    assert go_together(table, table * 2, np.eye(K)[labels])
    assert go_together(table[:, 0], table[:, 0] + 1, labels)
    assert not go_together(table, TEST_LOGITS[:100], labels)
    assert not go_together(table, table[:, :2], labels)
    assert not go_together(table, table, np.zeros(100, dtype=int))
    assert not go_together(table[:19], table[:19], labels[:19])
    assert not go_together(np.zeros((100, K)), np.zeros((100, K)), labels)


def test_copies_within_one_set() -> None:
    twice = np.concatenate([LOGITS, LOGITS[:200]]), np.concatenate([LABELS, LABELS[:200]])
    assert f"200 of 1,400 rows {COPIES}" in one(*twice)
    assert f"4,800 of 6,000 rows {COPIES}" in one(np.repeat(LOGITS, 5, 0), np.repeat(LABELS, 5))
    hits = (LOGITS.argmax(axis=1) == LABELS).astype(int)
    events = EventScores(np.tile(softmax(LOGITS).max(axis=1), 2), np.tile(hits, 2))
    assert COPIES in next(repeated({"rows": events}, RAW, DEFAULTS))
    assert not list(repeated({"rows": LogitSet(LOGITS[:10], LABELS[:10])}, RAW, DEFAULTS))


@pytest.mark.parametrize("seed", range(3))
def test_samples_of_the_same_coarse_values_are_no_copies(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds, few = rng.normal(size=(30, K)), np.arange(N) % 6
    logits = kinds[rng.integers(30, size=N)]
    labels = (softmax(logits).cumsum(axis=1) < rng.random((N, 1))).sum(axis=1)
    assert COPIES not in one(logits, labels)
    # Labels that a few values decide.
    assert COPIES not in one(kinds[few], (kinds[:6].argmax(axis=1)[few] + (few < 3)) % K)


def test_of_many_rows_copies_are_looked_at_together() -> None:
    table = np.random.default_rng(3).normal(size=(5000, 2))
    labels = np.arange(5000) % 2
    twice, of_twice = np.concatenate([table, table]), np.concatenate([labels, 1 - labels])
    values, rows, places = hashes_of(twice, of_twice, 1000)
    assert 700 < len(places) < 1300
    assert (np.unique(values, return_counts=True)[1] == 2).all()
    assert len(np.unique(rows)) == len(rows)
    assert set(places % 5000) == set(places[places < 5000])


def test_two_sets_sorted_by_class_and_score_are_no_copies() -> None:
    labels = np.repeat(np.arange(K), 100)
    rng = np.random.default_rng(7)
    sets = []
    for _ in range(2):
        own = np.sort(rng.uniform(0.2, 0.9, (K, 100)), axis=1).ravel()
        rest = rng.dirichlet(np.ones(K - 1), len(own)) * (1 - own[:, np.newaxis])
        table = np.empty((len(own), K))
        table[np.arange(K) != labels[:, np.newaxis]] = rest.ravel()
        table[np.arange(len(own)), labels] = own
        sets.append(np.log(table))
    assert SAID not in two(sets[0], labels, sets[1], labels)


def test_few_equal_rows_of_few_decimals_may_be_others() -> None:
    wholes = np.array([(a, b, 100 - a - b) for a in range(1, 9) for b in range(10, 20)])
    labels = np.arange(80) % 3
    may, sure = "they may be different samples", "they were seen in the fit, so they flatter"
    for n_same, more, text in ((3, 0, may), (3, 0.12, sure), (20, 0, sure), (0, 0, "")):
        same = np.arange(40) < n_same
        test = np.where(same[:, np.newaxis], wholes[:40], wholes[40:])
        off = np.array([more, -more, 0]) / 100
        of_test = np.where(same, labels[:40], labels[40:])
        doubts = two(wholes[:40] / 100 + off, labels[:40], test / 100 + off, of_test)
        assert [part in doubts for part in (may, sure)] == [part == text for part in (may, sure)]


def test_rows_of_one_id_are_counted() -> None:
    patients, visits = np.arange(60).repeat(10), np.tile(np.arange(10), 60)
    names = np.array([f"PT{k:04d}" for k in patients])
    for ids in (names, patients + 1001, patients * 7.0):
        upload = read("a.csv", headed("patient_id,visit,risk,event", ids, visits, SCORES, HITS))
        (text,) = upload.doubts
        assert text.startswith('600 rows of 60 patients (column "patient_id", up to 10 rows each).')
        assert "p-values are too small and confidence intervals too narrow" in text
        assert [*upload.columns["rows"]] == ["visit"]
    ones = headed("patient_id,risk,event", names[::10], SCORES[::10], HITS[::10])
    assert not any("patients" in text for text in read("a.csv", ones).doubts)
    # Fewer than groups are cut into, and more than there are texts: never ranges of a number.
    few = read("a.csv", headed("branch_id,risk,event", patients % 15, SCORES, HITS))
    assert len(few.columns["rows"]["branch_id"].categories or ()) == 15
    assert few.doubts == ()


def test_numbers_that_start_again_are_no_ids() -> None:
    again = headed("index,p,y", np.tile(np.arange(200), 3), SCORES, HITS)
    assert read("a.csv", again).doubts == ()
    truth = np.tile(HITS[:60], 10)
    resamples = headed(
        "id,fold,p,y", np.tile(np.arange(60), 10), np.arange(600) // 60, SCORES, truth
    )
    assert "600 rows of 60 IDs" in " ".join(read("a.csv", resamples).doubts)


@pytest.mark.parametrize(
    ("heading", "ids", "says"),
    [
        ("pat", "{}", True), ("gameId", "00{}", True), ("item", "item{}", True),
        ("Patientennr", "P{}", True), ("hadm_id", "{}", True), ("session", "{}", False),
        ("id", "Fold{}", False), ("id", "Bootstrap{:03d}", False), ("loan_amount", "{}", False),
    ],
)  # fmt: skip
def test_units_of_several_rows_by_their_names(heading: str, ids: str, says: bool) -> None:  # noqa: FBT001
    draws = np.random.default_rng(4)
    scores = draws.random(600)
    hits = (draws.random(600) < scores).astype(int)
    names = np.array([ids.format(k) for k in draws.integers(100, 200, 600)])
    doubts = read("a.csv", headed(f"{heading},p,y", names, scores, hits)).doubts
    assert any("take rows as independent" in doubt for doubt in doubts) == says


def test_values_of_one_grid_stay_doubted_where_rows_belong_together() -> None:
    draws = np.random.default_rng(4)
    scores = draws.random(120)
    hits = np.tile((draws.random(60) < scores[:60]).astype(int), 2)
    data = headed("pid,arm,p,y", np.tile(np.arange(60), 2), np.repeat([1, 2], 60), scores, hits)
    for roles in ((), (("pid", "cluster"),)):
        text = " ".join(read("a.csv", data, roles=roles).doubts)
        assert 'Column "arm" has 2 values, each with the outcomes of the same 60 rows' in text
    of_visits = headed("pid,visit,p,y", np.tile(np.arange(60), 2), np.repeat([1, 2], 60), scores,
                      (draws.random(120) < scores).astype(int))  # fmt: skip
    assert "scores are pooled" not in " ".join(read("a.csv", of_visits).doubts)


def test_loans_that_occur_twice() -> None:
    draws = np.random.default_rng(6)
    scores = draws.beta(1, 15, size=600)
    hits = (draws.random(600) < scores).astype(int)
    loans, rows = np.arange(600) + 50_000, np.r_[np.arange(600), np.arange(24) * 7]
    for names in (loans, np.array([f"L-{k}" for k in loans])):
        data = headed("loan_no,pd,default", names[rows], scores[rows], hits[rows])
        (text,) = read("a.csv", data).doubts
        assert text.startswith(
            '624 rows of 600 loans: 24 of them occur more than once (column "loan_no"). 24 rows'
            " repeat another one cell by cell: keep each row once."
        )
    (text,) = read("a.csv", headed("pd,default", scores[rows], hits[rows])).doubts
    assert text.startswith(f"24 of 624 rows {COPIES}")
    for decimals in (2, 3, 4):
        coarse = headed("pd,default", scores.round(decimals), hits)
        assert COPIES not in " ".join(read("a.csv", coarse).doubts)


def test_persons_of_both_sets_are_counted() -> None:
    patients = np.r_[np.arange(40).repeat(10), np.arange(30, 50).repeat(10)]
    which = np.where(np.arange(600) < 400, "calibration", "test")
    text = " ".join(read("a.csv", headed("patient,set,p,y", patients, which, SCORES, HITS)).doubts)
    assert "400 rows of the calibration set of 40 patients" in text
    assert "10 of 20 patients of the test set are in the calibration set too" in text


def test_tests_of_visits_find_what_is_not_there() -> None:
    """Of calibrated scores: nearly always with ten rows per patient, rarely with one."""
    draws = np.random.default_rng(0)
    results = []
    for _ in range(30):
        scores = draws.random(60)
        hits = (draws.random(60) < scores).astype(int)
        results.append([
            cumulative_curves(np.repeat(scores, n), np.repeat(hits, n)).ks_p_value < 0.05
            for n in (1, 10)
        ])  # fmt: skip
    of_one, of_ten = np.sum(results, axis=0)
    assert of_one <= 4
    assert of_ten >= 20
    ids = np.arange(60).repeat(10)
    whole = [1.0] * 3, [0, 0, 1]
    more = np.r_[np.repeat(scores, 10)[:-3], whole[0]], np.r_[np.repeat(hits, 10)[:-3], whole[1]]
    text = read("a.csv", headed("patient,p,y", ids, *more)).doubts
    assert text[0].startswith("600 rows of 60 patients")
    assert text[1].startswith("The true class has probability 0 in 2 rows")


@pytest.mark.parametrize("with_ids", [True, False])
def test_scores_of_several_models_below_one_another(*, with_ids: bool) -> None:
    rng = np.random.default_rng(4)
    y = (rng.random(60) < 0.4).astype(int)

    def doubts_with(heading: str, models: Array, rows: Array) -> list[str]:
        ids = "id," if with_ids else ""
        lines = [f"{heading},{ids}score,y"]
        for model, row in zip(models, rows, strict=True):
            name = f"{row * 7 + 3}," if with_ids else ""
            lines.append(f"{model},{name}{rng.random():.4f},{y[row]}")
        doubts = read("a.csv", "\n".join(lines).encode()).doubts
        return [doubt for doubt in doubts if "scores are pooled" in doubt]

    models, rows = np.repeat(["rf", "svm", "gbm"], 60), np.tile(np.arange(60), 3)
    (doubt,) = doubts_with("classifier", models, rows)
    assert doubt.startswith('Column "classifier" names 3 models, each with the same 60 rows')
    turned = np.argsort(rows, kind="stable")  # a model below the other, row by row
    assert len(doubts_with("algorithm", models[turned], rows[turned])) == 1
    texts = doubts_with("ward", models, rows)
    assert len(texts) == with_ids
    assert all(
        one.startswith('Column "ward" has 3 values, each with the outcomes') for one in texts
    )
    # Models of devices, each with rows of its own.
    assert not doubts_with("model", rng.permutation(models), np.arange(180) % 60)
