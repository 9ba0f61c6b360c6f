"""What is warned of: each fault with a file that has it and one that has not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.cumulative import cumulative_curves
from calibcore.data import LogitSet
from calibcore.events import TopR
from calibcore.inference import smallest_gap_shown
from dashboard.readers import Upload, combine, read
from dashboard.readers.meaning import overlap
from dashboard.readers.meaning.overlap import shared_rows
from dashboard.samples import samples
from tests.readers.files import Array, npz

N, K = 1200, 3


def made(seed: int, n_rows: int = N, n_classes: int = K) -> tuple[Array, Array]:
    """Draw logits and labels that fit them."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n_rows, n_classes)) * 1.5
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return logits, (p.cumsum(axis=1) < rng.random((n_rows, 1))).sum(axis=1)


def softmax(logits: Array) -> Array:
    p = np.exp(logits)
    return np.asarray(p / p.sum(axis=1, keepdims=True))


LOGITS, LABELS = made(1)
TEST_LOGITS, TEST_LABELS = made(2)


def one(logits: Array = LOGITS, labels: Array = LABELS, **choices: object) -> Upload:
    return read("a.npz", npz(compress=False, outputs=logits, labels=labels), **choices)  # type: ignore[arg-type]


def two(calibration: tuple[Array, Array], test: tuple[Array, Array]) -> Upload:
    names = ("logits_val", "labels_val", "logits_test", "labels_test")
    return read("a.npz", npz(compress=False, **dict(zip(names, calibration + test, strict=True))))


def with_column(name: str, column: Array, logits: Array = LOGITS, labels: Array = LABELS) -> Upload:
    header = f"logit_0,logit_1,logit_2,label,{name}"
    rows = [
        ",".join([*map(repr, row), str(label), str(cell)])
        for row, label, cell in zip(logits.tolist(), labels.tolist(), column.tolist(), strict=True)
    ]
    return read("a.csv", "\n".join([header, *rows]).encode())


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


# Rows of both sets -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16])
def test_rows_of_both_sets(kind: type) -> None:
    logits: Array = TEST_LOGITS.astype(kind)
    labels = TEST_LABELS.copy()
    logits[[5, 9]], labels[[5, 9]] = LOGITS[[700, 3]].astype(kind), LABELS[[700, 3]]
    (doubt,) = two((LOGITS.astype(kind), LABELS), (logits, labels)).doubts
    assert "repeats rows of the calibration set" in doubt
    assert "in 2 rows (rows 6, 10)" in doubt


def test_another_label_makes_another_row() -> None:
    logits, labels = TEST_LOGITS.copy(), TEST_LABELS.copy()
    logits[5], labels[5] = LOGITS[700], (LABELS[700] + 1) % K
    assert two((LOGITS, LABELS), (logits, labels)).doubts == ()


def test_the_same_file_twice() -> None:
    data = npz(logits=LOGITS, labels=LABELS)
    (doubt,) = combine([read("val.npz", data), read("test.npz", data)]).doubts
    assert "in 1,200 rows (first in rows 1, 2, 3)" in doubt


def test_rows_alike_by_coarse_inputs() -> None:
    rng = np.random.default_rng(3)
    kinds = rng.normal(size=(300, K))
    coarse, others = kinds[rng.integers(300, size=N)], kinds[rng.integers(300, size=N)]
    doubts = two((coarse, LABELS), (others, LABELS)).doubts
    assert not any("repeats" in doubt for doubt in doubts)


def test_hard_decisions_coincide_but_the_same_rows_tell() -> None:
    rng = np.random.default_rng(4)
    hard, others = np.eye(K)[rng.integers(K, size=N)], np.eye(K)[rng.integers(K, size=N)]
    assert shared_rows((hard, LABELS), (others, LABELS)) is None
    assert shared_rows((hard, LABELS), (hard[::-1], LABELS[::-1])) is not None


def test_what_a_probability_of_0_does_is_a_doubt_and_no_repair() -> None:
    table = np.full((N, K), 1 / K)
    table[3] = np.eye(K)[(LABELS[3] + 1) % K]
    upload = read("x.npz", npz(probs=table, labels=LABELS))
    assert upload.repairs == ()
    assert any(
        "probability 0 in 1 row, so the NLL is infinite; each counts 708 nats" in doubt
        for doubt in upload.doubts
    )


def test_rows_that_the_order_of_the_classes_decides_are_counted() -> None:
    table = LOGITS.copy()
    table[:40, :2] = table.max() + 1
    upload = read("x.npz", npz(logits=table, labels=LABELS))
    said = "40 of 1,200 rows have several classes that are the most probable alike; the first of"
    assert upload.found[-1].startswith(said)
    assert not any(
        "alike" in line for line in read("x.npz", npz(logits=LOGITS, labels=LABELS)).found
    )


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
        patch.setattr(overlap, "_PART_ROWS", part_rows)
        got = shared_rows((tables[0], labels[0]), (tables[1], labels[1]))
    twins = sum(known.count(row) > 1 for row in known) / len(known)
    enough = sum(expected) > min(2 * twins, (1 + twins) / 2) * len(asked) or all(expected)
    enough &= twins <= 0.9 or sorted(known) == sorted(asked)
    assert (got is not None) == (enough and any(expected))
    if got is not None:
        assert got.tolist() == expected


# Labels and predictions ------------------------------------------------------------------------


def test_labels_that_are_the_predictions() -> None:
    (doubt,) = one(labels=LOGITS.argmax(axis=1)).doubts
    assert "in all 1,200 rows (accuracy exactly 100 %)" in doubt
    nearly = LOGITS.argmax(axis=1)
    nearly[:10] = (nearly[:10] + 1) % K
    assert one(labels=nearly).doubts == ()


def test_confidence_that_is_always_right() -> None:
    rows = "\n".join(["confidence,correct", *(f"0.{k},1" for k in range(5001, 6200))])
    assert "accuracy exactly 100 %" in read("a.csv", rows.encode()).doubts[0]


def test_a_column_that_equals_the_label() -> None:
    (doubt,) = with_column("outcome", LABELS).doubts
    assert 'Column "outcome" equals the label in all 1,200 rows' in doubt
    nearly = LABELS.copy()
    nearly[3] = (nearly[3] + 1) % K
    assert with_column("outcome", nearly).doubts == ()


def test_a_prediction_that_equals_the_label() -> None:
    doubts = with_column("pred_label", LABELS).doubts
    assert any('"pred_label" equals the label' in doubt for doubt in doubts)
    assert with_column("pred_label", LOGITS.argmax(axis=1)).doubts == ()
    from_one = with_column("pred", LOGITS.argmax(axis=1) + 1, labels=LABELS + 1)
    assert from_one.doubts == ()


def test_a_prediction_of_other_columns() -> None:
    swapped = LOGITS[:, [1, 0, 2]]
    doubt = with_column("pred_label", LOGITS.argmax(axis=1), logits=swapped).doubts[0]
    agree = np.mean(swapped.argmax(axis=1) == LOGITS.argmax(axis=1))
    assert f"likeliest class in {100 * agree:.1f} % of the rows" in doubt


def test_labels_as_text_equal_a_column_of_text() -> None:
    names = np.array(["cat", "dog", "fox"])
    header = "cat,dog,fox,label,pred_label"
    predicted = LOGITS.argmax(axis=1)
    for values, expected in ((LABELS, 1), (predicted, 0)):
        rows = [
            ",".join([*map(repr, row), names[label], names[value]])
            for row, label, value in zip(LOGITS.tolist(), LABELS, values, strict=True)
        ]
        doubts = read("a.csv", "\n".join([header, *rows]).encode()).doubts
        assert sum("equals the label" in doubt for doubt in doubts) == expected


def test_labels_from_one_without_the_last_class() -> None:
    logits = np.column_stack([LOGITS, np.full(N, -9.0)])
    doubts = one(logits, LABELS + 1).doubts
    right = np.mean(LOGITS.argmax(axis=1) == LABELS)
    assert any(f"counted from 1 it would be {100 * right:.1f} %" in doubt for doubt in doubts)
    told = one(logits, LABELS + 1, first_label=1)
    assert not any("counted from" in doubt for doubt in told.doubts)
    absent = one(LOGITS[LABELS > 0], LABELS[LABELS > 0])
    assert not any("counted from" in doubt for doubt in absent.doubts)


def test_labels_of_other_rows() -> None:
    doubts = one(LOGITS * 2, np.random.default_rng(5).permutation(LABELS)).doubts
    assert any("guessing would be right in 33.3 %" in doubt for doubt in doubts)


def test_classes_never_seen() -> None:
    doubts = two((LOGITS, LABELS), (TEST_LOGITS, np.minimum(TEST_LABELS, 1))).doubts
    assert len(doubts) == 1
    assert doubts[0].startswith("No row in the test set is truly of class 2, so figures of")


# Values ----------------------------------------------------------------------------------------


def test_scores_of_exactly_one() -> None:
    logits = LOGITS.copy()
    logits[:60, 0] = 1000
    labels = LABELS.copy()
    doubts = one(logits, labels).doubts
    assert "exactly 1 in 60 of 1,200 rows (5.0 %)" in doubts[0]
    logits[12:60] = LOGITS[12:60]
    assert one(logits, labels).doubts == ()


@pytest.mark.parametrize("unit", [1, 100])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("decimals", [1, 2, 3, 4, 5])
def test_rounded_probabilities(decimals: int, kind: type, unit: int) -> None:
    # Two classes stay rounded, and sum to 1.
    first = softmax(LOGITS[:, :2])[:, 0].round(decimals)
    table: Array = (np.column_stack([first, 1 - first]) * unit).astype(kind)
    doubts = one(table, np.minimum(LABELS, 1)).doubts
    said = "at most, as if rounded" in " ".join(doubts)
    assert said == (decimals <= 3)
    if said:
        assert f"has {decimals} decimal" in " ".join(doubts)


def test_decisions_are_no_probabilities() -> None:
    table = np.eye(2)[LOGITS[:, :2].argmax(axis=1)]
    assert any("decisions and no prob" in d for d in one(table, np.minimum(LABELS, 1)).doubts)


def test_rounded_logits() -> None:
    assert "Every logit has 1 decimal at most" in one(LOGITS.round(1)).doubts[0]
    assert "Every logit is a whole number" in one(LOGITS.round()).doubts[0]
    assert one(LOGITS.round(2)).doubts == ()


def test_softmax_taken_twice() -> None:
    sure = softmax(LOGITS * 5)
    (doubt,) = one(softmax(sure)).doubts
    assert "as if softmax was taken twice" in doubt
    assert one(sure).doubts == ()
    for unsure in (softmax(LOGITS / 8), softmax(LOGITS / 20)):
        assert not any("twice" in doubt for doubt in one(unsure).doubts)


def test_probabilities_called_logits() -> None:
    p = softmax(LOGITS)
    assert "may be probabilities; softmax would flatten them" in one(p, values="logits").doubts[0]
    assert one(LOGITS, values="logits").doubts == ()
    score = one(p[:, 0], np.minimum(LABELS, 1), values="logits")
    assert "may be probabilities" in score.doubts[0]


def test_scores_never_below_one_half() -> None:
    p = softmax(LOGITS[:, :2])
    y = np.minimum(LABELS, 1)
    assert any("of the predicted class" in doubt for doubt in one(p.max(axis=1), y).doubts)
    assert not any("predicted class" in doubt for doubt in one(p[:, 1], y).doubts)


def test_scores_of_class_one_beside_predictions() -> None:
    p = softmax(LOGITS[:, :2])
    classes, labels = p.argmax(axis=1), np.minimum(LABELS, 1)
    for scores, said in ((p[:, 1], True), (p.max(axis=1), False)):
        rows = [f"{s!r},{c},{y}" for s, c, y in zip(scores.tolist(), classes, labels, strict=True)]
        data = "\n".join(["score,pred_label,label", *rows]).encode()
        upload = read("a.csv", data)
        # Where they part the predictions they are taken for what they are.
        assert (upload.values_kind == "probabilities") == said
        assert ("not of the predicted class" in " ".join(upload.found)) == said
        told = read("a.csv", data, class_columns=("score",))
        assert isinstance(told.rows, LogitSet)
        np.testing.assert_allclose(told.rows.probabilities[:, 1], scores, rtol=1e-9)


def test_logarithms_of_probabilities_are_said() -> None:
    found = " ".join(one(np.log(softmax(LOGITS))).found)
    assert "logarithms of probabilities" in found
    assert "logarithms" not in " ".join(one(LOGITS - 20).found)


# Prevalence and size ---------------------------------------------------------------------------


def test_a_stated_prevalence() -> None:
    logits, labels = made(7, n_classes=2)
    observed = labels.mean()
    (doubt,) = one(logits, labels, prevalence=0.02).doubts
    assert f"share of class 1 in the rows is {100 * observed:.1f} %, and you state 2.0 %" in doubt
    assert one(logits, labels, prevalence=float(observed) + 0.01).doubts == ()
    assert one(logits, labels).doubts == ()
    assert "held against nothing" in one(prevalence=0.02).doubts[0]
    rows = "\n".join(["confidence,correct", *(f"0.{k},{k % 2}" for k in range(5001, 6200))])
    doubts = read("a.csv", rows.encode(), prevalence=0.9).doubts
    assert any("right predictions" in doubt and "90.0 %" in doubt for doubt in doubts)


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
        said = f"With {n_rows} rows, scores that are all off by less than {100 * gap:.1f} percen"
        assert doubts[-1].startswith(said)


def test_too_few_events() -> None:
    logits, labels = made(9, n_classes=2)
    labels[:] = logits.argmax(axis=1)
    labels[[4, 8, 90]] = 1 - labels[[4, 8, 90]]
    assert "Only 3 of 1,200 rows are wrong" in one(logits, labels).doubts[-1]
    rare = (np.arange(N) % 300 == 0).astype(int)
    doubts = one(np.column_stack([LOGITS[:, 0] + 3, LOGITS[:, 1]]), rare).doubts
    assert "Only 4 of 1,200 rows are of class 1" in doubts[-1]


def test_few_rows_that_are_split_show_even_less_where_they_are_judged(
    rng: np.random.Generator,
) -> None:
    logits, labels = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    more = "larger ones in the half that is judged"
    (said,) = [text for text in read("one.npz", npz(logits=logits, labels=labels)).doubts
               if "go unseen" in text]  # fmt: skip
    assert more in said
    halves = npz(
        logits_calibration=logits[:30],
        labels_calibration=labels[:30],
        logits_test=logits[30:],
        labels_test=labels[30:],
    )
    two = [text for text in read("two.npz", halves).doubts if "go unseen" in text]
    assert len(two) == 2
    assert not any(more in text for text in two)
