"""What the page of reliability says, score by score: true of the rows, bin by bin."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcore.evaluation import Side
from calibcore.metrics import smooth_ece
from calibcore.metrics.bins import BinSweep
from calibcore.reliability import binomial_interval
from dashboard import wording
from dashboard.wording.off_ranges import NONE, ranges_sentence
from dashboard.wording.reliability import (
    bins_caption,
    counted_note,
    isotonic_caption,
    plot_caption,
    scores_sentence,
    smoothed_caption,
    wander_sentence,
)
from tests.figures.made import MINUS, blocks, pct, result_of, side_of

# In bins of one fifteenth; the one that is off most has too few rows to count.
MIXED = blocks((0.97, 10, 0), (0.5, 400, 200), (0.9, 600, 300), (0.3, 400, 320))
TRUE = blocks((0.5, 1000, 500), (0.9, 1000, 900))
OVER = blocks((0.5, 500, 300), (0.63, 500, 250), (0.7, 500, 300), (0.76, 500, 380), (0.9, 500, 400))


def test_the_worst_bin_is_named_with_its_numbers() -> None:
    assert scores_sentence(MIXED) == (
        f"Scores too low at 26.7\u2013{pct('33.3')}, too high at 86.7\u2013{pct('93.3')}; largest"
        f" gap {MINUS}50.0 pp at 26.7\u2013{pct('33.3')} (mean score {pct('30.0')}, observed"
        f" {pct('80.0')}); 2 of 3 bins, about 5% expected by chance."
    )
    said = scores_sentence(MIXED).replace("Scores", "scores")
    assert scores_sentence(MIXED, "Before") == f"**Before:** {said}"


def test_neighbouring_bins_are_one_range_and_the_bin_with_the_other_sign_another() -> None:
    assert scores_sentence(OVER).startswith(
        f"Scores too high at 60\u2013{pct('73.3')} and 86.7\u2013{pct('93.3')}, too low at"
        f" 46.7\u2013{pct('53.3')}; largest gap +13.0 pp at 60\u2013{pct('66.7')} (mean score"
        f" {pct('63.0')},"
    )


def test_a_bin_alone_is_not_called_the_worst_of_all() -> None:
    assert scores_sentence(blocks((0.9, 100, 50))) == (
        f"Scores too high at 86.7\u2013{pct('93.3')}; gap +40.0 pp (mean score {pct('90.0')},"
        f" observed {pct('50.0')}); 1 of 1 bins, about 5% expected by chance."
    )


def test_a_bin_that_chance_explains_is_said_to_be_one_of_many() -> None:
    # One of nine bins is off by 2.1 standard deviations; adjusted for nine, that is nothing.
    parts = [((k + 0.5) / 15, 600, round(600 * (k + 0.5) / 15)) for k in range(2, 10)]
    side = blocks(*parts, (10.5 / 15, 600, round(600 * 10.5 / 15 + 2.1 * (600 * 0.21) ** 0.5)))
    assert ranges_sentence(side) == NONE
    said = scores_sentence(side)
    assert said.startswith("Scores too low at 66.7\u2013")
    assert said.endswith(
        "1 of 9 bins, about 5% expected by chance; not shown to be more than chance."
    )


def test_many_ranges_are_counted() -> None:
    side = blocks(
        *(
            (place / 15 + 0.03, 300, 0 if place % 2 else round(300 * (place / 15 + 0.03)))
            for place in range(4, 14)
        )
    )
    said = scores_sentence(side)
    assert said.startswith(f"Scores too high in 5 ranges within 33.3\u2013{pct('93.3')}; largest")


def test_true_scores_and_too_few_rows_show_nothing() -> None:
    assert scores_sentence(TRUE) == "No miscalibration detected in any bin."
    assert scores_sentence(blocks((0.9, 3, 2))) == scores_sentence(TRUE)


sides = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 40), st.integers(0, 40)), min_size=1, max_size=12
).map(lambda parts: blocks(*((k / 60, n, min(hits, n)) for k, n, hits in parts)))


def off_bins(side: Side) -> list[tuple[float, float, float]]:
    """Mean score, frequency and upper edge of the bins that are off, by a loop over the rows."""
    scores, hits = side.event.scores, side.event.hits
    found = []
    for b in range(15):
        inside = (scores <= (b + 1) / 15) & ((scores > b / 15) | (b == 0))
        if inside.sum() < 0.01 * scores.size or not inside.any():
            continue
        low, high = binomial_interval(hits[inside].sum(), inside.sum())
        mean_score = scores[inside].mean()
        if not low <= mean_score <= high:
            found.append((mean_score, hits[inside].mean(), (b + 1) / 15))
    return found


@settings(max_examples=60)
@given(sides)
def test_the_sentence_is_true_of_the_rows(side: Side) -> None:
    said, found = scores_sentence(side), off_bins(side)
    assert f": {len(found)} of " in counted_note(side, None)
    if not found:
        assert said == scores_sentence(TRUE)
        return
    sign, *numbers = re.findall(
        r"gap (.)([\d.]+) pp.* \(mean score ([\d.]+)%, observed ([\d.]+)%\)", said
    )[0]
    gap, mean_score, observed = map(float, numbers)
    assert gap == pytest.approx(max(100 * abs(scored - was) for scored, was, _ in found), abs=0.06)
    assert any(
        mean_score == pytest.approx(100 * scored, abs=0.06)
        and observed == pytest.approx(100 * was, abs=0.06)
        for scored, was, _ in found
    )
    assert sign == ("+" if mean_score > observed else MINUS)
    assert ("too high" in said) == any(scored > was for scored, was, _ in found)
    assert ("too low" in said) == any(scored < was for scored, was, _ in found)


@settings(max_examples=60)
@given(sides)
def test_every_bin_that_is_off_is_in_a_range_of_its_sign(side: Side) -> None:
    said = scores_sentence(side).split(";")[0]
    for sign in ("high", "low"):
        ranges = [
            (float(low), float(high))
            for part in re.findall(rf"too {sign} ([^,]+)", said)
            for low, high in re.findall(r"([\d.]+)\u2013([\d.]+)%", part)
        ]
        wanted = [edge for score, was, edge in off_bins(side) if (score > was) == (sign == "high")]
        for edge in wanted:
            assert any(low < 100 * edge - 0.1 and 100 * edge <= high + 0.06 for low, high in ranges)
        assert bool(ranges) == bool(wanted)


def test_bins_with_few_rows_are_summed_up_where_together_they_have_enough() -> None:
    few = blocks(*((place / 15 + 0.03, 4, 0) for place in range(5)), (0.9, 980, 882))
    pale = f"together {pct('2.0')} of the rows, mean score {pct('16.3')}, observed {pct('0.0')}"
    assert counted_note(few, None) == (
        f"Bins with at least {pct('1')} of the rows whose {pct('95')} CI excludes the mean score: 0"
        f" of 1 (about {pct('5')} expected by chance). Pale bins, with fewer rows: {pale}."
    )
    assert "Pale" not in counted_note(TRUE, None)
    both = counted_note(few, few)
    assert ": 0 of 1 before, 0 of 1 after (about" in both
    assert f"fewer rows: before {pale}; after {pale}." in both
    assert "fewer rows: after together" in counted_note(TRUE, few)


def test_experts_get_the_interval() -> None:
    low, high = (100 * float(end) for end in binomial_interval(320, 400))
    outside = f"ean score outside the {pct('95')} Wilson interval in"
    assert scores_sentence(MIXED, expert=True) == (
        f"M{outside} 2 of 3 bins with at least {pct('1')} of the rows; largest gap {MINUS}50.0 pp"
        f" at scores in (26.7, 33.3]% (mean score {pct('30.0')}, observed {pct('80.0')},"
        f" {pct('95')} CI {low:.1f}\u2013{pct(f'{high:.1f}')})."
    )
    assert scores_sentence(TRUE, "After", expert=True) == (
        f"**After:** m{outside} 0 of 2 bins with at least {pct('1')} of the rows."
    )


# Captions -----------------------------------------------------------------------------------


def test_the_caption_of_bins_reads_the_largest() -> None:
    side = blocks((0.5, 300, 240), (0.97, 100, 80))
    interval = f"{pct('95')} CI 75.1\u2013{pct('84.1')}"
    assert bins_caption(side) == (
        f"Largest bin (46.7\u2013{pct('53.3')}, {pct('75.0')} of rows): score {pct('50.0')},"
        f" observed {pct('80.0')} ({interval})."
    )
    said = bins_caption(side, expert=True)
    assert said.startswith("Largest of 15 equal-width bins: 300 of 400 rows, mean score")
    assert said.endswith(f"({interval}, Wilson).")


def test_the_plot_caption_reads_the_largest_bin() -> None:
    assert plot_caption(TRUE).startswith("2 bins with rows; the largest")
    assert f"mean score {pct('90.0')}, observed {pct('50.0')}." in plot_caption(MIXED)
    assert plot_caption(blocks((0.5, 4, 2))).startswith("1 bin with rows;")


def test_the_isotonic_caption_reads_the_result() -> None:
    side = result_of(3000).test.before
    outside = wording.percent(side.corp_outside, 3000)
    assert side.corp_outside > 0.5
    assert isotonic_caption(side) == (
        f"Outside the grey band for {outside} of rows (about {pct('5')} expected if perfectly"
        f" calibrated). Dotted: {pct('95')} confidence band."
    )
    assert isotonic_caption(side, expert=True).endswith("(399 resamples, seed 0).")


def test_the_smoothed_caption_says_the_smooth_ece() -> None:
    side = result_of(3000).test.before
    error = smooth_ece(side.event.scores, side.event.hits)
    assert side.smooth.bandwidth == pytest.approx(error, rel=1e-5)
    said = smoothed_caption(side)
    assert said.startswith(f"Smooth ECE {wording.percent(error, 3000)}. Pale: few rows nearby.")
    assert said.endswith(f"Shaded: {pct('95')} confidence band.")
    assert smoothed_caption(side, expert=True).endswith("(399 resamples, seed 0).")


def test_an_error_below_the_narrowest_kernel_is_not_overstated() -> None:
    side = side_of([0.0] * 20 + [1.0] * 20, [0] * 20 + [1] * 20)
    assert smoothed_caption(side).startswith(f"Smooth ECE at most {pct('0.1')}.")


# The number of bins -------------------------------------------------------------------------


def sweep_of(low: float, high: float) -> BinSweep:
    wide, even = np.full(99, low), np.full(99, low)
    even[40], wide[0] = high, 0.9  # two bins are not counted
    return BinSweep(np.arange(2, 101), wide, even, wide, even, ks_error=0.03)


def test_how_far_the_error_wanders() -> None:
    assert wander_sentence(sweep_of(0.05, 0.054), sweep_of(0.01, 0.026), 3_000) == (
        "The choice of bins alone moves the ECE by up to 0.4 percentage points before and up to 1.6"
        " after calibration. The KS error needs no bins."
    )
    said = wander_sentence(sweep_of(0.05, 0.05000001), None, 3_000)
    assert "moves the ECE by less than 0.1 percentage points. The KS" in said
    assert "by less than 0.01 perc" in wander_sentence(sweep_of(0.05, 0.05), None, 60_000)
