"""Parts of the rows by themselves, beside a loop over all rows for each of them."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from calibcore import CalibrationInputError, EventScores, LogitSet, Split, TopR, audit
from calibcore.auditing import audit_fitted, rebin
from calibcore.binning import equal_ranges, round_ranges
from calibcore.calibrators import SplineCalibration, TemperatureScaling
from calibcore.evaluation import Comparisons
from calibcore.splits import split_rows
from calibcore.subgroups import SubgroupScreen, rows_in_range, screen_subgroups, subgroup_shares
from tests import reference
from tests.core.draws import overconfident
from tests.strategies import EventCase, event_data

Floats = NDArray[np.float64]


def check_screen(result: SubgroupScreen, case: EventCase, places: list[int], least: int) -> None:
    """Compare with the rows of each subgroup, gathered one by one."""
    evaluated: dict[int, float] = {}
    for k in range(result.n_subgroups):
        scores, hits = [], []
        for score, hit, place in zip(case.scores, case.hits, places, strict=True):
            if place == k:
                scores.append(float(score))
                hits.append(int(hit))
        n_rows = len(scores)
        assert result.rows[k] == n_rows
        if n_rows == 0:
            assert math.isnan(result.mean_gap[k])
            assert math.isnan(result.ks_error[k])
            assert math.isnan(result.frequency.low[k])
            continue
        claimed, seen = math.fsum(scores) / n_rows, sum(hits) / n_rows
        assert result.mean_score[k] == pytest.approx(claimed, abs=1e-12)
        assert result.frequency.share[k] == seen
        assert result.mean_gap[k] == pytest.approx(claimed - seen, abs=1e-12)
        assert result.ks_error[k] == pytest.approx(reference.ks_error(scores, hits), abs=1e-12)
        low, high = wilson(sum(hits), n_rows)
        assert result.gap_low[k] == pytest.approx(claimed - high, abs=1e-12)
        assert result.gap_high[k] == pytest.approx(claimed - low, abs=1e-12)
        assert result.evaluated[k] == (n_rows >= least)
        if n_rows >= least:
            evaluated[k] = result.p_value[k]
            spread = math.fsum(score * (1 - score) for score in scores)
            if spread > 1e-9:
                assert result.p_value[k] == pytest.approx(
                    reference.ks_p_value(scores, hits), abs=1e-6
                )
        else:
            assert math.isnan(result.p_value[k])
    for k, p_value in evaluated.items():
        assert p_value - 1e-15 <= result.adjusted[k] <= 1


def wilson(hits: int, rows: int) -> tuple[float, float]:
    """Wilson's interval, as the centre and half the width of the quadratic's roots."""
    z = 1.959963984540054
    share = hits / rows
    centre = (share + z * z / (2 * rows)) / (1 + z * z / rows)
    half = z / (1 + z * z / rows) * math.sqrt(share * (1 - share) / rows + (z / (2 * rows)) ** 2)
    return centre - half, centre + half


@given(event_data(), st.integers(1, 5), st.integers(1, 10), st.randoms(use_true_random=False))
def test_each_is_tested_by_itself(case: EventCase, n: int, least: int, random: object) -> None:
    rng = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    places = rng.integers(n, size=case.scores.size)
    result = screen_subgroups(case.scores, case.hits, places, n_subgroups=n, least=least)
    check_screen(result, case, places.tolist(), least)
    shuffled = rng.permutation(case.scores.size)
    again = screen_subgroups(
        case.scores[shuffled], case.hits[shuffled], places[shuffled], n_subgroups=n, least=least
    )
    assert_array_equal(again.rows, result.rows)
    assert_allclose(again.mean_gap, result.mean_gap, atol=1e-12)
    assert_allclose(again.adjusted, result.adjusted, atol=1e-9)


def draw_rows(rng: np.random.Generator, n_rows: int, shift: float) -> tuple[Floats, Floats]:
    scores = 0.2 + 0.6 * rng.random(n_rows)
    return scores, (rng.random(n_rows) < scores - shift).astype(float)


def test_the_worst_come_first_and_small_ones_last() -> None:
    rng = np.random.default_rng(3)
    parts = [
        draw_rows(rng, n, shift) for n, shift in ((400, 0.0), (600, 0.1), (500, 0.19), (9, 0.2))
    ]
    scores, hits = (np.concatenate(values) for values in zip(*parts, strict=True))
    places = np.repeat([0, 1, 2, 4], [400, 600, 500, 9])
    result = screen_subgroups(scores, hits, places, n_subgroups=5)
    assert result.order().tolist() == [2, 1, 0, 4]
    assert result.off().tolist() == [False, True, True, False, False]
    assert result.evaluated.tolist() == [True, True, True, False, False]
    # The small subgroup is not one of those that p-values are adjusted for.
    without = screen_subgroups(scores[:-9], hits[:-9], places[:-9], n_subgroups=3)
    assert_allclose(result.adjusted[:3], without.adjusted)
    alone = screen_subgroups(scores[:400], hits[:400], places[:400], n_subgroups=1)
    assert alone.adjusted[0] <= result.adjusted[0]


def test_subgroups_made_with_the_truth_in_hand_are_not_evaluated() -> None:
    scores, hits = draw_rows(np.random.default_rng(4), 800, 0.15)
    result = screen_subgroups(scores, hits, hits.astype(int), n_subgroups=2, evaluate=False)
    assert not result.evaluated.any()
    assert not result.off().any()
    assert result.order().tolist() == np.argsort(-result.ks_error).tolist()
    assert screen_subgroups(scores, hits, hits.astype(int), n_subgroups=2).off().all()


def test_of_calibrated_scores_few_sets_have_a_subgroup_that_is_off() -> None:
    rng = np.random.default_rng(5)
    places = np.repeat(np.arange(8), 60)
    some = 0
    for _ in range(400):
        scores, hits = draw_rows(rng, places.size, 0.0)
        some += bool(screen_subgroups(scores, hits, places, n_subgroups=8).off().any())
    assert 0.01 < some / 400 < 0.08


def test_shares_are_those_of_each_subgroup() -> None:
    result = subgroup_shares([1, 0, 1, 1, 0], [0, 0, 2, 2, 2], n_subgroups=3)
    assert_allclose(result.share, [1 / 2, math.nan, 2 / 3])
    assert result.low[2] == pytest.approx(wilson(2, 3)[0])


# Ranges -------------------------------------------------------------------------------------


@given(
    st.lists(st.one_of(st.sampled_from([0.0, 1.0, 2.0]), st.floats(-5, 5), st.just(math.nan))),
    st.integers(1, 12),
)
def test_ranges_part_no_equals_and_keep_the_order(values: list[float], n_ranges: int) -> None:
    result = equal_ranges(values, n_ranges)
    known = sorted(value for value in values if not math.isnan(value))
    assert len(result.low) <= n_ranges
    assert bool(len(result.low)) == bool(known)
    for value, place in zip(values, result.places.tolist(), strict=True):
        if math.isnan(value):
            assert place == -1
        else:
            assert result.low[place] <= value <= result.high[place]
    assert (result.low[1:] > result.high[:-1]).all()
    for k in range(len(result.low)):
        inside = [value for value, place in zip(values, result.places, strict=True) if place == k]
        assert min(inside) == result.low[k]
        assert max(inside) == result.high[k]


def test_ranges_without_ties_hold_alike_many() -> None:
    result = equal_ranges(np.random.default_rng(6).permutation(103), 10)
    counts = np.bincount(result.places)
    assert counts.size == 10
    assert set(counts.tolist()) == {10, 11}


@given(
    st.lists(
        st.one_of(st.sampled_from([0.0, 1.0, 2.0]), st.floats(-50, 5e4), st.just(math.nan)),
        max_size=80,
    ),
    st.integers(1, 12),
)
def test_round_ranges_keep_the_order_and_are_never_small(
    values: list[float], n_ranges: int
) -> None:
    result = round_ranges(values, n_ranges)
    known = [value for value in values if not math.isnan(value)]
    ends = [-math.inf, *result.cuts.tolist(), math.inf]
    assert len(result.cuts) < n_ranges
    assert ends == sorted(set(ends))
    for value, place in zip(values, result.places.tolist(), strict=True):
        assert place == -1 if math.isnan(value) else ends[place] <= value < ends[place + 1]
    for low, high in itertools.pairwise(ends):
        inside = sum(low <= value < high for value in known)
        assert len(known) == 0 or inside >= len(known) / (2 * n_ranges)
    assert result.whole == all(value == round(value) for value in known)
    assert not result.whole or all(cut == round(cut) for cut in result.cuts.tolist())


@given(
    st.lists(st.integers(-3000, 9000), min_size=20, max_size=200, unique=True),
    st.sampled_from([1.0, 0.01]),
)
def test_cuts_of_values_that_differ_are_round_and_as_many_as_asked(
    values: list[int], unit: float
) -> None:
    given = sorted(value * unit for value in values)
    result, n = round_ranges(given, 5), len(values)
    assert len(result.cuts) == 4
    for k, cut in enumerate(result.cuts.tolist(), start=1):
        first, last = math.ceil(n * (4 * k - 1) / 20), math.floor(n * (4 * k + 1) / 20)
        low, high = given[first - 1], given[last]
        assert low < cut <= high
        steps = [f * 10.0**e for e in range(5, -4, -1) for f in (5, 2.5, 2, 1)]
        steps = [s for s in steps if unit < 1 or s == round(s)]
        # The largest step of which a multiple is there.
        step = next(s for s in steps if math.floor(high / s + 1e-9) * s > low + 1e-9)
        assert abs(cut / step - round(cut / step)) < 1e-6


# Rows ---------------------------------------------------------------------------------------


@given(case=event_data(), one=st.floats(0, 1), other=st.floats(0, 1), above=st.booleans())
def test_rows_of_a_range_are_all_listed_in_each_order(
    case: EventCase, one: float, other: float, *, above: bool
) -> None:
    low, high = sorted((one, other))
    hits = case.hits.astype(np.int8)
    rows = [
        k for k, score in enumerate(case.scores)
        if low <= score <= high and not (above and score == low)
    ]  # fmt: skip
    orders = {
        "errors": sorted(rows, key=lambda k: (hits[k], -case.scores[k], k)),
        "scores": sorted(rows, key=lambda k: (-case.scores[k], k)),
        "file": rows,
    }
    for order, expected in orders.items():
        result = rows_in_range(case.scores, hits, low=low, high=high, above=above, order=order)  # type: ignore[arg-type]
        assert result.tolist() == expected


# A fit evaluated on a part ---------------------------------------------------------------------


def test_a_part_is_evaluated_by_the_fit_on_all_rows() -> None:
    rows = overconfident(np.random.default_rng(7), 600, 3)
    whole = Split(rows.rows(np.arange(300)), rows.rows(np.arange(300, 600)))
    fitted = audit(whole, event=TopR(1), calibrator=TemperatureScaling(), n_bins=7)
    mine, its = np.arange(300) % 3 == 0, whole.test.labels == 1
    part = Split(whole.calibration.rows(mine), whole.test.rows(its))
    result = audit_fitted(fitted.fitted, part, event=TopR(1), n_bins=7)
    assert result.fitted is fitted.fitted
    assert result.test.n_samples == its.sum()
    assert result.calibration.n_samples == 100
    # Row by row the scores are those of the audit of all rows.
    assert_allclose(result.test.after.event.scores, fitted.test.after.event.scores[its])
    assert_array_equal(result.test.before.event.hits, fitted.test.before.event.hits[its])
    assert result.test.before.bins.counts.size == 7


def test_a_score_map_is_kept_too() -> None:
    rng = np.random.default_rng(8)
    scores, hits = draw_rows(rng, 400, 0.1)
    rows = EventScores(scores, hits)
    fitted = audit(Split(rows, rows), event=TopR(1), calibrator=SplineCalibration())
    part = rows.rows(scores > 0.5)
    result = audit_fitted(fitted.fitted, Split(part, part), event=TopR(1))
    expected = fitted.test.after.event.scores[scores > 0.5]
    assert_allclose(result.test.after.event.scores, expected)


def alike(one: object, other: object) -> None:
    """Compare two results number by number, those inside them too."""
    one, other = (tuple(x) if isinstance(x, Comparisons) else x for x in (one, other))
    assert type(one) is type(other)
    if hasattr(one, "__dataclass_fields__"):
        for name in one.__dataclass_fields__:
            if not name.startswith("_") and name != "request":
                alike(getattr(one, name), getattr(other, name))
    elif isinstance(one, tuple) and isinstance(other, tuple):
        for mine, its in zip(one, other, strict=True):
            alike(mine, its)
    elif isinstance(one, np.ndarray):
        assert_array_equal(one, other)
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-12, nan_ok=True)
    elif not callable(one):
        assert one == other


@pytest.mark.parametrize("n_bins", [1, 7, 40])
@pytest.mark.parametrize("calibrator", [None, SplineCalibration(), TemperatureScaling()])
def test_another_number_of_bins_gives_what_evaluating_anew_gives(
    calibrator: SplineCalibration | TemperatureScaling | None, n_bins: int
) -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(4, size=500)
    logits = rng.normal(size=(500, 4)) + 2 * np.eye(4)[labels]
    split = split_rows(LogitSet(logits, labels))
    first = audit(split, event=TopR(1), calibrator=calibrator)
    corp, null = first.test.before.corp, first.test.after.frequency_null
    result = rebin(first, split, TopR(1), n_bins=n_bins)
    alike(result, audit_fitted(first.fitted, split, event=TopR(1), n_bins=n_bins))
    assert result.test.before.bins.counts.size == n_bins
    assert (result.test.after is result.test.before) == (calibrator is None)
    # What has no bins is the same object, not the same numbers computed again.
    assert result.test.before.corp is corp
    assert result.test.after.frequency_null is null
    assert result.test.after.curves is first.test.after.curves


@pytest.mark.parametrize("own", [None, SplineCalibration()])
def test_scores_alone_are_put_into_other_bins_too(own: SplineCalibration | None) -> None:
    rng = np.random.default_rng(5)
    rows = EventScores(*draw_rows(rng, 300, 0.1))
    split = Split(rows, rows)
    first = audit(split, event=TopR(1), calibrator=own)
    result = rebin(first, split, TopR(1), n_bins=9)
    alike(result, audit_fitted(first.fitted, split, event=TopR(1), n_bins=9))
    assert result.test.compare("classwise_ece").before is None


@pytest.mark.parametrize(
    ("places", "n_subgroups", "message"),
    [
        ([0.5, 1.2], 2, "places: values of type float64"),
        (["a", "b"], 2, "places: values of type <U1"),
        ([0, 1], 0, "n_subgroups: 0"),
        ([0, 2], 2, "places: 0 to 2"),
        ([-1, 0], 2, "places: -1 to 0"),
        ([0], 2, "places: shape"),
    ],
)
def test_places_that_are_no_subgroups_are_refused(
    places: list[int], n_subgroups: int, message: str
) -> None:
    with pytest.raises(CalibrationInputError, match=message):
        screen_subgroups([0.5, 0.6], [0, 1], places, n_subgroups=n_subgroups)
    with pytest.raises(CalibrationInputError, match=message):
        subgroup_shares([0, 1], places, n_subgroups=n_subgroups)


@pytest.mark.parametrize("flags", [[0.5, 1.0], [math.nan, 1.0], [3, 1], [[0], [1]], ["0", "1"]])
def test_flags_other_than_0_and_1_are_refused_and_no_rows(flags: list[float]) -> None:
    with pytest.raises(CalibrationInputError, match="flags"):
        subgroup_shares(flags, [0, 1], n_subgroups=2)
    with pytest.raises(CalibrationInputError, match="places"):
        subgroup_shares([], [], n_subgroups=2)
