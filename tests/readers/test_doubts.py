"""What is warned of: each fault with a file that has it and one that has not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.cumulative import cumulative_curves
from calibcore.events import TopR
from calibcore.inference import smallest_gap_shown
from dashboard.readers import Upload, read
from dashboard.readers.meaning import repeated
from dashboard.readers.meaning.repeated import shared_rows
from dashboard.samples import samples
from tests.readers.files import Array, headed, logit_set, npz

N, K = 1200, 3


def draw_table(seed: int, n_rows: int = N, n_classes: int = K) -> tuple[Array, Array]:
    """Draw logits and labels that fit them."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n_rows, n_classes)) * 1.5
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return logits, (p.cumsum(axis=1) < rng.random((n_rows, 1))).sum(axis=1)


def softmax(logits: Array) -> Array:
    p = np.exp(logits)
    return np.asarray(p / p.sum(axis=1, keepdims=True))


LOGITS, LABELS = draw_table(1)
TEST_LOGITS, TEST_LABELS = draw_table(2)


def one(logits: Array = LOGITS, labels: Array = LABELS, **choices: object) -> Upload:
    return read("a.npz", npz(compress=False, outputs=logits, labels=labels), **choices)


def two(calibration: tuple[Array, Array], test: tuple[Array, Array]) -> Upload:
    names = ("logits_val", "labels_val", "logits_test", "labels_test")
    return read("a.npz", npz(compress=False, **dict(zip(names, calibration + test, strict=True))))


def with_column(name: str, column: Array, logits: Array = LOGITS, labels: Array = LABELS) -> Upload:
    return read("a.csv", headed(f"logit_0,logit_1,logit_2,label,{name}", *logits.T, labels, column))


def test_nothing_is_said_of_good_files() -> None:
    assert one().doubts == ()
    assert one(softmax(LOGITS)).doubts == ()
    assert one(LOGITS.astype(np.float32)).doubts == ()
    assert two((LOGITS, LABELS), (TEST_LOGITS, TEST_LABELS)).doubts == ()
    assert with_column("age", np.arange(N) % 70).doubts == ()


@pytest.mark.parametrize("name", [sample.name for sample in samples()])
def test_nothing_is_said_of_the_samples(name: str) -> None:
    data = next(sample for sample in samples() if sample.name == name).read_bytes()
    assert read(f"{name}.npz", data).doubts == ()


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16])
def test_rows_of_both_sets(kind: type) -> None:
    logits: Array = TEST_LOGITS.astype(kind)
    labels = TEST_LABELS.copy()
    logits[[5, 9]], labels[[5, 9]] = LOGITS[[700, 3]].astype(kind), LABELS[[700, 3]]
    (doubt,) = two((LOGITS.astype(kind), LABELS), (logits, labels)).doubts
    assert "repeats rows of the calibration set" in doubt
    assert "in 2 rows (rows 6, 10)" in doubt
    labels[[5, 9]] = (labels[[5, 9]] + 1) % K
    assert two((LOGITS.astype(kind), LABELS), (logits, labels)).doubts == ()


def test_rows_alike_by_coarse_inputs() -> None:
    rng = np.random.default_rng(3)
    kinds = rng.normal(size=(300, K))
    coarse, others = kinds[rng.integers(300, size=N)], kinds[rng.integers(300, size=N)]
    doubts = two((coarse, LABELS), (others, LABELS)).doubts
    assert not any("repeats" in doubt for doubt in doubts)
    hard, others = np.eye(K)[rng.integers(K, size=N)], np.eye(K)[rng.integers(K, size=N)]
    assert shared_rows((hard, LABELS), (others, LABELS)) is None
    assert shared_rows((hard, LABELS), (hard[::-1], LABELS[::-1])) is not None


@pytest.mark.parametrize("part_rows", [1, 5, 1 << 17])
@given(data=st.data())
def test_shared_rows_are_those_found_by_looking(part_rows: int, data: st.DataObject) -> None:
    cell = st.sampled_from([-1.5, 0.0, -0.0, 2.5, float("-inf")])
    rows = st.lists(st.tuples(cell, cell, st.integers(0, 1)), min_size=1, max_size=12)
    known, asked = data.draw(rows), data.draw(rows)
    tables = [np.array([row[:2] for row in part]) for part in (known, asked)]
    labels = [np.array([row[2] for row in part]) for part in (known, asked)]
    expected = [row in known for row in asked]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeated, "_PART_ROWS", part_rows)
        got = shared_rows((tables[0], labels[0]), (tables[1], labels[1]))
    twins = sum(known.count(row) > 1 for row in known) / len(known)
    enough = sum(expected) > min(2 * twins, (1 + twins) / 2) * len(asked) or all(expected)
    enough &= twins <= 0.9 or sorted(known) == sorted(asked)
    assert (got is not None) == (enough and any(expected))
    if got is not None:
        assert got.tolist() == expected


def test_labels_that_are_the_predictions_or_of_other_rows() -> None:
    doubts = one(LOGITS * 2, np.random.default_rng(5).permutation(LABELS)).doubts
    assert any("guessing would be right in 33.3%" in doubt for doubt in doubts)
    (doubt,) = one(labels=LOGITS.argmax(axis=1)).doubts
    assert "in all 1,200 rows (accuracy exactly 100%)" in doubt
    nearly = LOGITS.argmax(axis=1)
    nearly[:10] = (nearly[:10] + 1) % K
    assert one(labels=nearly).doubts == ()
    sure = headed("confidence,correct", np.arange(5001, 6200) / 1e4, [1] * 1199)
    assert "accuracy exactly 100%" in read("a.csv", sure).doubts[0]


def test_a_column_that_equals_the_label() -> None:
    (doubt,) = with_column("odd", LABELS).doubts
    assert doubt.startswith(
        'Column "odd" equals the outcome, or is its opposite, in all 1,200 rows'
    )
    (doubt,) = with_column("odd", np.r_[(LABELS[:1] + 1) % K, LABELS[1:]]).doubts
    assert "known only after the outcome" in doubt
    words = np.array(["cat", "dog", "fox"])[LABELS]
    (doubt,) = read("a.csv", headed("cat,dog,fox,label,odd", *LOGITS.T, words, words)).doubts
    assert doubt.startswith('Column "odd" equals the outcome')


def test_a_prediction_that_equals_the_label_or_is_of_other_columns() -> None:
    (doubt,) = with_column("pred_label", LABELS).doubts[:1]
    assert '"pred_label" equals the label' in doubt
    best = LOGITS.argmax(axis=1)
    assert with_column("pred_label", best).doubts == ()
    assert with_column("pred", best + 1, labels=LABELS + 1).doubts == ()
    for names in ((3, 5, 8), (1, 2, 0), (1, 2, 3), (8, 5, 3), (0, 1, 2)):
        called = np.array(names)
        heads = f"{','.join(f'prob_{name}' for name in names)},label,pred"
        columns = (*softmax(LOGITS).T, called[LABELS], called[best])
        assert read("a.csv", headed(heads, *columns)).doubts == ()
        few = LABELS < 2  # a prediction that no label is
        some = headed(heads, *(column[few] for column in columns))
        assert not any("likeliest" in text for text in read("a.csv", some).doubts)
    two_columns = headed("p1,p0,y,pred", SCORES, 1 - SCORES, TRUTH, (SCORES > 0.5).astype(int))
    assert read("a.csv", two_columns).doubts == ()
    swapped = LOGITS[:, [1, 0, 2]]
    text = f"likeliest class in {100 * np.mean(swapped.argmax(axis=1) == best):.1f}% of the rows"
    assert text in with_column("pred_label", best, logits=swapped).doubts[0]


def test_labels_from_one_without_the_last_class() -> None:
    logits = np.column_stack([LOGITS, np.full(N, -9.0)])
    for upload in (one(logits, LABELS + 1), one(logits, LABELS + 1, first_label=1)):
        assert upload.repairs[0].startswith("Labels counted from 1 to 4 were shifted")
        np.testing.assert_array_equal(logit_set(upload.rows).labels, LABELS)
    absent = LABELS > 0
    rows = logit_set(one(LOGITS[absent], LABELS[absent]).rows)
    np.testing.assert_array_equal(rows.labels, LABELS[absent])


M = 200
RNG = np.random.default_rng(3)
TRUTH = RNG.integers(0, 2, M)
SCORES = 1 / (1 + np.exp(-(RNG.normal(size=M) + np.where(TRUTH, 1.5, -1.5))))


def of_turned(upload: Upload) -> list[str]:
    return [text for text in upload.doubts if "AUC" in text]


def test_a_score_of_the_other_class_is_doubted() -> None:
    for scores in (SCORES, RNG.permutation(SCORES), np.full(M, 0.3)):
        assert of_turned(read("a.csv", headed("score,label", scores, TRUTH), event="1")) == []
    (text,) = of_turned(read("a.csv", headed("score,label", 1 - SCORES, TRUTH), event="1"))
    pairs = (1 - SCORES)[TRUTH == 1][:, np.newaxis] - (1 - SCORES)[TRUTH == 0]
    assert f"(AUC {np.mean(pairs > 0) + np.mean(pairs == 0) / 2:.2f}; 0.5 is chance)" in text
    assert text.endswith("choose that one as the event.")
    assert of_turned(read("a.csv", headed("score,label", 1 - SCORES, TRUTH), event="0")) == []
    (text,) = of_turned(one(np.column_stack([SCORES, 1 - SCORES]), TRUTH))
    assert text.endswith("or the columns are in the other order.")


def test_scores_that_are_low_where_the_prediction_is_right_are_doubted() -> None:
    best = np.maximum(SCORES, 1 - SCORES)
    odds = np.where(TRUTH == 1, best, 1 - best)
    right, turned = (
        of_turned(read("a.csv", headed("confidence,correct", scores, TRUTH)))
        for scores in (odds, 1 - odds)
    )
    assert right == []
    assert "perhaps they measure doubt" in turned[0]


def test_values_that_are_whole_or_nearly() -> None:
    hard = np.eye(2)[LOGITS[:, :2].argmax(axis=1)]
    assert any("decisions and no prob" in text for text in one(hard, np.minimum(LABELS, 1)).doubts)
    assert one(LOGITS.round(1)).doubts == ()
    assert one(LOGITS.round()).doubts == ()
    assert one(LOGITS.round(2)).doubts == ()


def test_softmax_taken_twice() -> None:
    sure = softmax(LOGITS * 5)
    (doubt,) = one(softmax(sure)).doubts
    assert "perhaps softmax was applied twice" in doubt
    for other in (sure, softmax(LOGITS / 8), softmax(LOGITS / 20)):
        assert not any("twice" in doubt for doubt in one(other).doubts)


def test_scores_of_one_of_two_classes() -> None:
    p, labels = softmax(LOGITS[:, :2]), np.minimum(LABELS, 1)
    for scores, doubted in ((p.max(axis=1), True), (p[:, 1], False)):
        doubts = " ".join(one(scores, labels, event="1").doubts)
        assert ("they may be of the predicted class instead of class 1" in doubts) == doubted
    assert "softmax would flatten" in one(p[:, 1], labels, event="1", values="logits").doubts[0]


def test_scores_of_exactly_one() -> None:
    logits = LOGITS.copy()
    logits[:60, 0] = 1000
    assert "exactly 1 in 60 of 1,200 rows (5.0%)" in one(logits).doubts[0]
    assert "only a calibrator of logits can" in one(logits).doubts[0]
    logits[12:60] = LOGITS[12:60]
    assert one(logits).doubts == ()
    sure = np.vstack([np.eye(K)[LABELS[:60]], softmax(LOGITS)[60:]])
    (text,) = one(sure).doubts
    assert "exactly 1 in 60 of 1,200 rows (5.0%): no calibrator can give those of the same" in text


def test_scores_of_exactly_zero_are_not_called_ones() -> None:
    draws = np.random.default_rng(8)
    scores = np.r_[np.ones(18), np.zeros(1774), draws.uniform(0.02, 0.98, 208)]
    labels = np.r_[np.ones(18), np.zeros(1774), draws.random(208) < scores[1792:]].astype(int)
    (text,) = read("a.csv", headed("p,y", scores, labels)).doubts
    assert text == (
        "The score is exactly 1 in 18 and exactly 0 in 1,774 of 2,000 rows (89.6% together): no"
        " calibrator can give rows of equal score different scores."
    )
    *_, text = read(
        "a.csv", headed("p_a,p_b,y", 1 - scores, scores, np.where(labels, "b", "a"))
    ).doubts
    assert text.startswith("The score of class b is exactly 1 in 18 and exactly 0 in 1,774 of")
    (text,) = read("a.csv", headed("p,y", scores[18:], labels[18:])).doubts
    assert text.startswith("The score is exactly 0 in 1,774 of 1,982 rows (89.5%): no calibrator")


@pytest.mark.parametrize(
    ("decimals", "unit", "trees", "text"),
    [
        (3, 1, 0, ", because the values of the file are rounded to 3 decimals:"),
        (4, 1, 0, ", because the values of the file are rounded to 4 decimals:"),
        (3, 100, 0, ", because the values of the file are rounded to 3 decimals:"),
        (2, 1, 0, ", where the values of the file have 2 decimals (rounded, or shares of votes):"),
        (1, 1, 10, ", where the values of the file have 1 decimal (rounded, or shares of votes):"),
        (
            3,
            1,
            500,
            ", where the values of the file have 3 decimals (rounded, or shares of votes):",
        ),
        (15, 1, 0, ":"),
    ],
)
def test_zeros_of_rounding_are_said_to_be_so(
    decimals: int, unit: int, trees: int, text: str
) -> None:
    p = softmax(LOGITS * 2)
    first = (p[:, 0] * trees).round() / trees if trees else p[:, 0]
    first = np.where(first < 0.01, 0, first)
    values = (np.column_stack([first, 1 - first]) * unit).round(decimals)
    labels = np.minimum(LABELS, 1)
    labels[values[:, 0].argmin()] = 0
    n_zeros = int((values[np.arange(N), labels] == 0).sum())
    rows = "1 row" if n_zeros == 1 else f"{n_zeros:,} rows"
    doubts = " ".join(one(values, labels).doubts)
    assert f"The true class has probability 0 in {rows}{text} the NLL is infinite" in doubts
    assert doubts.count("decimal") == ("decimal" in text)


def test_values_moved_into_the_scale_are_counted() -> None:
    scores, labels = SCORES.copy(), TRUTH
    assert not any("moved" in one for one in read("a.csv", headed("p,y", scores, labels)).repairs)
    scores[[3, 9, 11]] = 1.0000001, -1e-9, 1.0000004
    moved = "Values outside 0 to 1 in 3 rows (rows 5, 11, 13) of the file, by at most 4e-07,"
    for file in (
        headed("p,y", scores, labels),
        headed("confidence,correct", scores, labels),
        headed("p_0,p_1,y", 1 - scores, scores, labels),
    ):
        (text,) = [one for one in read("a.csv", file).repairs if "outside" in one]
        assert text == f"{moved} were moved to its ends."
    six = headed("p,y", np.r_[scores.round(6)[:9], 1.0000001, -1e-9], np.r_[labels[:9], 0, 1])
    assert not any("decimal" in text for text in read("a.csv", six).doubts)


@pytest.mark.parametrize("unit", [1, 100])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("decimals", [0, 1, 2, 3, 4])
def test_rounded_probabilities_are_no_doubt_and_decisions_are(
    decimals: int, kind: type, unit: int
) -> None:
    # Two classes stay rounded, and sum to 1.
    first = softmax(LOGITS[:, :2])[:, 0].round(decimals)
    table: Array = (np.column_stack([first, 1 - first]) * unit).astype(kind)
    doubts = " ".join(one(table, np.minimum(LABELS, 1)).doubts)
    assert ("decisions and no probabilities" in doubts) == (decimals == 0)
    wrong = bool(((first == 1) & (LABELS > 0) | (first == 0) & (LABELS == 0)).any())
    sure = float(((first == 1) | (first == 0)).mean()) > 0.01
    assert ("decimal" in doubts) == (decimals > 0 and (wrong or sure))


def test_a_stated_prevalence() -> None:
    assert not one(*draw_table(7, n_classes=2), prevalence=0.02).doubts  # it moves the scores
    assert "held against nothing" in one(prevalence=0.02).doubts[0]


@pytest.mark.parametrize("n_rows", [40, 80, 160, 1200])
def test_too_few_rows(n_rows: int) -> None:
    logits, labels = LOGITS[:n_rows], LABELS[:n_rows]
    event = TopR(1).outcomes(softmax(logits), labels)
    gap = smallest_gap_shown(cumulative_curves(event.scores, event.hits))
    doubts = one(logits, labels).doubts
    if n_rows == 1200:
        assert doubts == ()
    else:
        assert gap > 0.1
        text = f"With {n_rows} rows, scores that are all off by less than {100 * gap:.1f} percen"
        assert doubts[-1].startswith(text)
        assert "larger ones in the half that is evaluated" in doubts[-1]
        halves = (logits[::2], labels[::2]), (logits[1::2], labels[1::2])
        assert not any("in the half" in doubt for doubt in two(*halves).doubts)


def test_too_few_events() -> None:
    logits, labels = draw_table(9, n_classes=2)
    labels[:] = logits.argmax(axis=1)
    labels[[4, 8, 90]] = 1 - labels[[4, 8, 90]]
    assert "Only 3 of 1,200 rows are wrong" in one(logits, labels).doubts[-1]
    rare = (np.arange(N) % 300 == 0).astype(int)
    doubts = one(np.column_stack([LOGITS[:, 0] + 3, LOGITS[:, 1]]), rare).doubts
    assert "Only 4 of 1,200 rows are of class 1" in doubts[-1]


def test_few_wrong_rows_say_nothing_where_the_score_of_an_event_is_evaluated() -> None:
    rng = np.random.default_rng(6)
    happened = rng.random(500) < 0.25
    score = np.clip(np.where(happened, 0.8, 0.3) + rng.normal(0, 0.05, 500), 0, 1)
    wrong = int(((score > 0.5) != happened).sum())
    score[[0, 1]] = 1 - score[[0, 1]]
    assert wrong < 8

    def doubts_with(y: Array) -> list[str]:
        doubts = read("a.csv", headed("risk,died", score.round(4), y.astype(int))).doubts
        return [doubt for doubt in doubts if doubt.startswith("Only")]

    assert not doubts_with(happened)
    rare = np.zeros(500, dtype=bool)
    rare[np.argsort(score)[-4:]] = True
    (doubt,) = doubts_with(rare)
    gap = smallest_gap_shown(cumulative_curves(score.round(4), rare))
    start = "Only 4 of 500 rows are of class 1: scores that are all off by less than"
    assert doubt.startswith(f"{start} {100 * gap:.1f} percentage points are likely to go unseen")
