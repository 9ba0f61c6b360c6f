"""What the page of reliability says, score by score: true of the rows, bin by bin."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcore.evaluation import Side
from calibcore.metrics.bins import BinSweep
from calibcore.reliability import binomial_interval
from dashboard.wording.reliability import (
    counted_note,
    plot_caption,
    scores_sentence,
    wander_sentence,
)
from tests.figures.made import blocks, pct

# In bins of one fifteenth; the one that is off most has too few rows to count.
MIXED = blocks((0.97, 10, 0), (0.5, 400, 200), (0.9, 600, 300), (0.3, 400, 320))
TRUE = blocks((0.5, 1000, 500), (0.9, 1000, 900))
OVER = blocks((0.5, 500, 300), (0.63, 500, 250), (0.7, 500, 300), (0.76, 500, 380), (0.9, 500, 400))


def test_the_worst_bin_is_named_with_its_numbers() -> None:
    assert scores_sentence(MIXED, None) == (
        f"Scores are too low from 26.7 to {pct('33.3')}, too high from 86.7 to {pct('93.3')}, most"
        f" of all from 26.7 to {pct('33.3')}: claimed {pct('30.0')}, happened {pct('80.0')}, 50.0"
        " points too low."
    )
    assert scores_sentence(MIXED, TRUE) == (
        f"Before calibration, {scores_sentence(MIXED, None)[:-1].replace('Scores', 'scores')};"
        " after it, no bin is off by more than chance explains."
    )


def test_neighbouring_bins_are_one_range_and_the_bin_with_the_other_sign_another() -> None:
    said = scores_sentence(OVER, None)
    assert said.startswith(
        f"Scores are too high from 60 to {pct('73.3')} and from 86.7 to {pct('93.3')}, too low from"
        f" 46.7 to {pct('53.3')}, most of all from 60 to {pct('66.7')}: claimed {pct('63.0')},"
    )


def test_a_bin_alone_is_not_called_the_worst_of_all() -> None:
    assert scores_sentence(blocks((0.9, 100, 50)), None) == (
        f"Scores are too high from 86.7 to {pct('93.3')}: claimed {pct('90.0')}, happened"
        f" {pct('50.0')}, 40.0 points too high."
    )


def test_many_ranges_are_counted() -> None:
    side = blocks(
        *(
            (place / 15 + 0.03, 300, 0 if place % 2 else round(300 * (place / 15 + 0.03)))
            for place in range(4, 14)
        )
    )
    said = scores_sentence(side, None)
    assert said.startswith(f"Scores are too high in 5 ranges from 33.3 to {pct('93.3')}, most of")


def test_true_scores_and_too_few_rows_show_nothing() -> None:
    assert scores_sentence(TRUE, None) == "No bin is off by more than chance explains."
    assert scores_sentence(blocks((0.9, 3, 2)), None) == scores_sentence(TRUE, None)


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
        claimed = scores[inside].mean()
        if not low <= claimed <= high:
            found.append((claimed, hits[inside].mean(), (b + 1) / 15))
    return found


@settings(max_examples=60)
@given(sides)
def test_the_sentence_is_true_of_the_rows(side: Side) -> None:
    said, found = scores_sentence(side, None), off_bins(side)
    assert f": {len(found)} of " in counted_note(side, None)
    if not found:
        assert said == scores_sentence(TRUE, None)
        return
    claimed, seen, gap = map(
        float,
        re.findall(r"claimed ([\d.]+)%, happened ([\d.]+)%, ([\d.]+)", said)[0],
    )
    assert gap == pytest.approx(max(100 * abs(says - was) for says, was, _ in found), abs=0.06)
    assert any(
        claimed == pytest.approx(100 * says, abs=0.06)
        and seen == pytest.approx(100 * was, abs=0.06)
        for says, was, _ in found
    )
    assert said.endswith("points too high." if claimed > seen else "points too low.")
    assert ("too high" in said) == any(says > was for says, was, _ in found)
    assert ("too low" in said) == any(says < was for says, was, _ in found)


@settings(max_examples=60)
@given(sides)
def test_every_bin_that_is_off_is_in_a_range_of_its_sign(side: Side) -> None:
    said = scores_sentence(side, None).split(", most of all")[0].split(":")[0]
    for sign in ("high", "low"):
        ranges = [
            (float(low), float(high))
            for part in re.findall(rf"too {sign} ([^,]+)", said)
            for low, high in re.findall(r"([\d.]+) to ([\d.]+)%", part)
        ]
        wanted = [edge for says, was, edge in off_bins(side) if (says > was) == (sign == "high")]
        for edge in wanted:
            assert any(low < 100 * edge - 0.1 and 100 * edge <= high + 0.06 for low, high in ranges)
        assert bool(ranges) == bool(wanted)


def test_bins_with_few_rows_are_summed_up_where_together_they_have_enough() -> None:
    few = blocks(*((place / 15 + 0.03, 4, 0) for place in range(5)), (0.9, 980, 882))
    assert counted_note(few, None) == (
        f"Counted are bins with at least {pct('1')} of the rows whose whisker leaves out their mean"
        " score: 0 of 1. Chance alone does that to about 5 of 100 bins. Paler bins have fewer rows:"
        f" together {pct('2.0')}, claimed {pct('16.3')}, happened {pct('0.0')}."
    )
    assert "Paler" not in counted_note(TRUE, None)
    both = counted_note(few, few)
    assert ": 0 of 1 before and 0 of 1 after calibration." in both
    assert "fewer rows: before calibration together" in both
    assert f"after it together {pct('2.0')}, claimed" in both
    assert "fewer rows: after it together" in counted_note(TRUE, few)


def test_experts_get_the_interval() -> None:
    low, high = (100 * float(end) for end in binomial_interval(320, 400))
    assert scores_sentence(MIXED, TRUE, expert=True) == (
        f"Before calibration, the mean score is outside the {pct('95')} Wilson interval in 2 of 3"
        f" bins with at least {pct('1')} of the rows; the largest such gap is \u221250.0 points, at"
        f" scores in (26.7, 33.3]% (mean score {pct('30.0')}, frequency {pct('80.0')},"
        f" interval {low:.1f} to {pct(f'{high:.1f}')}); after it, the mean score is outside the"
        f" {pct('95')} Wilson interval in 0 of 2 bins with at least {pct('1')} of the rows."
    )


def test_the_plot_caption_reads_the_fullest_bin() -> None:
    assert plot_caption(TRUE).startswith("2 points, each a bin of scores,")
    said = plot_caption(MIXED)
    assert f"mean score of {pct('90.0')}, observed {pct('50.0')}." in said
    assert plot_caption(blocks((0.5, 4, 2))).startswith("One point a bin")


# The number of bins -------------------------------------------------------------------------


def sweep_of(low: float, high: float) -> BinSweep:
    wide, even = np.full(99, low), np.full(99, low)
    even[40], wide[0] = high, 0.9  # two bins are not counted
    return BinSweep(np.arange(2, 101), wide, even, wide, even, ks_error=0.03)


def test_how_far_the_error_wanders() -> None:
    assert wander_sentence(sweep_of(0.05, 0.054), sweep_of(0.01, 0.026), 3_000) == (
        "The choice of bins alone moves the ECE by up to 0.4 points before and by up to 1.6 points"
        " after calibration; the KS error has no bins to choose."
    )
    said = wander_sentence(sweep_of(0.05, 0.05000001), None, 3_000)
    assert "moves the ECE by less than 0.1 points; the KS" in said
    assert "by less than 0.01 points" in wander_sentence(sweep_of(0.05, 0.05), None, 60_000)
