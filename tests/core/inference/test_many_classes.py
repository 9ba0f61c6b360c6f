"""Every class at once, and every number of bins at once."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from calibcore import CalibrationInputError, LogitSet, OneClass, cumulative_curves
from calibcore.cumulative import brownian_tail
from calibcore.inference import ClassScreen, holm, multiple_testing, screen_classes
from calibcore.metrics import ece
from calibcore.metrics.binned import bin_sweep
from tests import reference
from tests.strategies import EventCase, Floats, Integers, LogitCase, event_data, logit_sets

# Classes ------------------------------------------------------------------------------------


def check_screen(result: ClassScreen, table: Floats, labels: Integers) -> None:
    """Compare with the curves of each class, one by one."""
    n_rows, n_classes = table.shape
    assert (result.n_samples, result.n_classes) == (n_rows, n_classes)
    for k in range(n_classes):
        event = OneClass(k).outcomes(table, labels)
        curves = cumulative_curves(event.scores, event.hits)
        assert result.rows[k] == event.hits.sum()
        assert result.frequency[k] == event.hits.mean()
        assert result.mean_score[k] == pytest.approx(event.scores.mean(), abs=1e-12)
        assert result.ks_error[k] == pytest.approx(curves.ks_error, abs=1e-12)
        if curves.gap.max() + curves.gap.min() > 1e-9:
            assert result.gap[k] > 0
        elif curves.gap.max() + curves.gap.min() < -1e-9:
            assert result.gap[k] < 0
        assert result.null_deviation[k] == pytest.approx(curves.null_deviation, rel=1e-9, abs=1e-15)
        if curves.null_deviation > 1e-9:
            assert result.p_value[k] == pytest.approx(curves.ks_p_value, abs=1e-6)
    assert (result.adjusted >= result.p_value - 1e-15).all()
    assert (result.adjusted <= 1).all()


@given(logit_sets())
def test_it_is_every_class_by_itself(case: LogitCase) -> None:
    rows = LogitSet(case.logits, case.labels)
    check_screen(screen_classes(rows.probabilities, rows.labels), rows.probabilities, rows.labels)


def draw_table(
    rng: np.random.Generator, n_rows: int, n_classes: int, *, sharper: float = 1.0
) -> tuple[Floats, Integers]:
    """Labels drawn from a table; the table that is given back is sharpened."""
    logits = 3 * rng.normal(size=(n_rows, n_classes))
    labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    return LogitSet(sharper * logits, labels).probabilities, labels


@pytest.mark.parametrize("cells", [1, 700, 1 << 20])
def test_blocks_of_columns_change_nothing(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, cells: int
) -> None:
    table, labels = draw_table(rng, 300, 7, sharper=1.7)
    whole = screen_classes(table, labels)
    monkeypatch.setattr(multiple_testing, "_CELLS", cells)
    parts = screen_classes(table, labels)
    for name in ("rows", "mean_score", "gap", "null_deviation", "p_value", "adjusted", "order"):
        assert getattr(parts, name).tolist() == getattr(whole, name).tolist()
    check_screen(parts, table, labels)


def test_the_slow_reference(rng: np.random.Generator) -> None:
    # Rounded scores, so that many are equal.
    counts = rng.integers(0, 4, (80, 4)) + 1.0
    table, labels = counts / counts.sum(axis=1, keepdims=True), rng.integers(0, 3, 80)
    result = screen_classes(table, labels)
    rows = table.tolist()
    for k in range(4):
        scores, hits = reference.one_class(rows, labels.tolist(), k)
        gaps = reference.curves(scores, hits).gap
        assert result.gap[k] == pytest.approx(max(gaps, key=abs), abs=1e-12)
        assert result.p_value[k] == pytest.approx(reference.ks_p_value(scores, hits), abs=1e-9)
    assert result.rows[3] == 0


def test_the_order_of_the_rows_changes_nothing(rng: np.random.Generator) -> None:
    table, labels = draw_table(rng, 200, 5, sharper=2.0)
    shuffled = rng.permutation(200)
    assert (
        screen_classes(table, labels).gap.tolist()
        == screen_classes(table[shuffled], labels[shuffled]).gap.tolist()
    )


def test_worst_first() -> None:
    result = ClassScreen(
        n_samples=100,
        rows=np.array([20, 20, 20, 20, 20]),
        mean_score=np.full(5, 0.2),
        gap=np.array([0.01, -0.05, 0.03, -0.03, 0.3]),
        null_deviation=np.full(5, 0.01),
        p_value=np.array([0.9, 0.001, 0.5, 0.5, 0.01]),
        adjusted=np.array([1.0, 0.005, 1.0, 1.0, 0.04]),
        remains=np.zeros(5, dtype=np.bool_),
    )
    assert result.order.tolist() == [1, 4, 2, 3, 0]
    assert result.off().tolist() == [False, True, False, False, True]
    assert result.off(0.01).tolist() == [False, True, False, False, False]
    assert result.frequency.tolist() == [0.2] * 5


def test_a_class_is_off_while_most_of_its_gap_is_left() -> None:
    # 100 rows, each class true in 20. Mean gaps before, in points: +12, +12, +12, -12, +2 with a KS
    # error of 12 (both directions), and +12 that is not significant.
    def screened(gaps: list[float], errors: list[float], adjusted: list[float]) -> ClassScreen:
        p_values, n = np.array(adjusted), len(gaps)
        gap, score = np.array(errors), 0.2 + np.array(gaps)
        rows, spread, none = np.full(n, 20), np.full(n, 0.04), np.zeros(n, dtype=np.bool_)
        return ClassScreen(100, rows, score, gap, spread, p_values, p_values, none)

    before = screened(
        [0.12, 0.12, 0.12, -0.12, 0.02, 0.12], [0.12] * 6, [0.01, 0.01, 0.01, 0.01, 0.01, 0.2]
    )
    after = screened([0.07, 0.05, -0.07, -0.07, 0.018, 0.1], [0.07] * 6, [0.1] * 6)
    assert after.off().tolist() == [False] * 6
    still = after.since(before)
    assert still.off().tolist() == [True, False, False, True, False, False]
    assert still.order[:2].tolist() == [0, 3]


def test_many_expected_rows_are_adjusted_by_holm_alone(rng: np.random.Generator) -> None:
    # Classes of probability one half have no skew.
    table, labels = np.full((4_000, 2), 0.5), rng.integers(0, 2, 4_000)
    result = screen_classes(table, labels)
    assert result.p_value[0] == result.p_value[1]
    assert result.adjusted.tolist() == holm(result.p_value).tolist()


def test_certain_classes() -> None:
    right = screen_classes([[1.0, 0.0, 0.0]] * 3, [0, 0, 0])
    assert right.p_value.tolist() == right.adjusted.tolist() == [1, 1, 1]
    wrong = screen_classes([[1.0, 0.0, 0.0]] * 3, [0, 0, 1])
    assert wrong.p_value.tolist() == [0, 0, 1]
    assert wrong.gap.tolist() == pytest.approx([1 / 3, -1 / 3, 0])
    assert wrong.order.tolist() == [0, 1, 2]


def test_a_sum_above_1_within_the_tolerance_counts_as_1() -> None:
    result = screen_classes([[1.0005, 0.0], [0.5, 0.5]], [0, 1])
    assert result.mean_score.tolist() == [0.75, 0.25]
    assert result.null_deviation[0] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("table", "labels", "field"),
    [
        ([[0.5, 0.6]], [0], "probabilities"),
        ([[0.5, math.nan]], [0], "probabilities"),
        ([[0.5, 0.5]], [2], "labels"),
        ([[0.5, 0.5]], [0, 1], "labels"),
    ],
)
def test_what_does_not_fit_is_refused(
    table: list[list[float]], labels: list[int], field: str
) -> None:
    with pytest.raises(CalibrationInputError) as refused:
        screen_classes(table, labels)
    assert refused.value.field == field


def test_few_rows_a_class_are_not_called_off_too_often() -> None:
    # Two expected rows a class: the limit of many rows alone would call one off in half the draws.
    rng = np.random.default_rng(4)
    logits = 3 * rng.normal(size=(500, 250))
    table = LogitSet(logits, np.zeros(500, dtype=np.int64)).probabilities
    wrong = by_limit = 0
    for _ in range(60):
        labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
        result = screen_classes(table, labels)
        wrong += bool(result.off().any())
        limits = list(map(brownian_tail, result.ks_error / result.null_deviation))
        by_limit += bool((holm(limits) < 0.05).any())
    assert wrong <= 6
    assert by_limit >= 12


def test_a_class_that_is_off_is_found_among_many() -> None:
    rng = np.random.default_rng(5)
    table, labels = draw_table(rng, 5_000, 50)
    changed = labels.copy()
    changed[labels == 7] = np.where(rng.random((labels == 7).sum()) < 0.6, 8, 7)
    result = screen_classes(table, changed)
    assert result.order[:2].tolist() in ([7, 8], [8, 7])
    assert result.off().nonzero()[0].tolist() == [7, 8]
    assert result.gap[7] > 0 > result.gap[8]


# Bins ---------------------------------------------------------------------------------------


@given(event_data(), st.integers(2, 30))
def test_a_sweep_is_one_error_after_another(case: EventCase, most: int) -> None:
    result = bin_sweep(case.scores, case.hits, most=most)
    assert result.n_bins.tolist() == list(range(2, most + 1))
    for n_bins, wide, even in zip(
        result.n_bins, result.equal_width, result.equal_mass, strict=True
    ):
        assert wide == pytest.approx(ece(case.scores, case.hits, n_bins=n_bins), abs=1e-12)
        other = ece(case.scores, case.hits, n_bins=n_bins, binning="equal_mass")
        assert even == pytest.approx(other, abs=1e-12)
    curves = cumulative_curves(case.scores, case.hits)
    assert result.ks_error == pytest.approx(curves.ks_error, abs=1e-15)
    assert (result.limit_equal_width >= 0).all()


@pytest.mark.parametrize("n_rows", [60, 2_000])
@pytest.mark.long
def test_a_perfect_model_passes_the_limit_in_5_of_100_draws(
    rng: np.random.Generator, n_rows: int
) -> None:
    scores = 0.2 + 0.8 * rng.beta(4, 1, n_rows)
    drawn = [bin_sweep(scores, rng.random(n_rows) < scores, most=20) for _ in range(600)]
    first = drawn[0]
    above = np.mean([one.equal_width > first.limit_equal_width for one in drawn], axis=0)
    assert (above > 0.02).all()
    assert (above < 0.09).all()
    assert 0.035 < above.mean() < 0.065
    # It depends on the scores alone.
    assert first.limit_equal_width.tolist() == drawn[1].limit_equal_width.tolist()


def test_the_limit_of_two_full_bins_is_that_of_two_folded_normals() -> None:
    # |Z1| + |Z2| <= t is max(|U|, |V|) <= t / sqrt(2) of two others: both of P = sqrt(0.95).
    exact = math.sqrt(2) * norm.ppf((1 + math.sqrt(0.95)) / 2)
    result = bin_sweep([0.25] * 4_000 + [0.75] * 4_000, [0, 1] * 4_000, most=2)
    deviation = math.sqrt(4_000 * 0.25 * 0.75) / 8_000
    assert result.limit_equal_width[0] == pytest.approx(exact * deviation, rel=0.005)


def test_certain_scores_leave_no_room() -> None:
    assert bin_sweep([0.0, 1.0], [0, 1], most=3).limit_equal_width.tolist() == [0, 0]


def test_a_sweep_needs_two_bins() -> None:
    with pytest.raises(CalibrationInputError) as refused:
        bin_sweep([0.5], [1], most=1)
    assert refused.value.field == "most"
