"""Adding up instead of binning: the totals against a slow walk over the rows."""

import math
import re
from functools import cache

import pytest

from calibcore import metrics
from dashboard.learn import data
from dashboard.learn.laboratory import PRESETS
from dashboard.learn.lesson import start_of
from dashboard.learn.lessons import ks
from dashboard.texts.numbers import percent
from dashboard.views.ks_graphs.words import FRACTILE_CURSOR, VIEW
from tests import reference
from tests.learn.reference import at_temperature, ks_error

either = pytest.mark.parametrize("which", ["few", "all"])


@cache
def ordered(which: str) -> list[tuple[float, int]]:
    if which == "all":
        every = at_temperature(1.0, data.NETWORK)
        return sorted(zip(every.scores, every.hits, strict=True))
    rows = ks.few_drawn()
    return sorted(zip(rows.scores.tolist(), rows.hits.tolist(), strict=True))


def walked(rows: list[tuple[float, int]], n_added: int) -> tuple[float, int]:
    """Add up the scores and count the hits of the first rows, one by one."""
    return math.fsum(s for s, _ in rows[:n_added]), sum(h for _, h in rows[:n_added])


@either
@pytest.mark.parametrize("step", [1, 7, 12, 13, 22, 36, 59, 60])
def test_totals_and_slopes_are_those_of_a_walk(which: str, step: int) -> None:
    rows, walk = ordered(which), ks.find(which, step / ks.FEW)
    n_rows, n_added = len(rows), walk.n_added
    assert n_added == pytest.approx(step * n_rows / ks.FEW, abs=2)  # rows of equal score together
    scores, hits = walked(rows, n_added)
    assert walk.curves.cum_score[walk.here] * n_rows == pytest.approx(scores)
    assert walk.curves.cum_hits[walk.here] * n_rows == pytest.approx(hits)
    before = walked(rows, n_added - walk.n_recent)
    assert walk.mean_score == pytest.approx((scores - before[0]) / walk.n_recent)
    assert walk.frequency == pytest.approx((hits - before[1]) / walk.n_recent)
    rise = walk.n_recent / n_rows * (walk.mean_score - walk.frequency)
    assert walk.rise == pytest.approx(rise)
    assert walk.n_recent == pytest.approx(min(step / ks.FEW, ks.WINDOW) * n_rows, abs=3)


@either
def test_the_widest_gap_is_at_the_highest_scores_not_where_they_are_most_wrong(which: str) -> None:
    curves = ks.find(which, 1.0).curves
    scores = [score for score, _ in ordered(which)]
    hits = [hit for _, hit in ordered(which)]
    slow = ks_error(scores, hits)
    assert curves.ks_error == pytest.approx(slow)
    assert curves.score[curves.ks_index] > 0.9
    assert curves.ks_fractile > 2 / 3  # what the lesson calls right
    n_rows, window = len(scores), round(ks.WINDOW * len(scores))
    gaps = [0.0]
    for score, hit in zip(scores, hits, strict=True):
        gaps.append(gaps[-1] + score - hit)
    steepest = max(range(window, n_rows + 1), key=lambda k: gaps[k] - gaps[k - window])
    assert steepest < 0.8 * round(curves.ks_fractile * n_rows)


def test_so_it_is_with_most_other_draws() -> None:
    widest, errors = [], []
    for seed in range(20):
        rows = data.few_rows(ks.FEW, seed)
        gaps = [0.0]
        for score, hit in zip(rows.scores.tolist(), rows.hits.tolist(), strict=True):
            gaps.append(gaps[-1] + score - hit)
        assert gaps[-1] > 0
        widest.append(max(range(len(gaps)), key=lambda k: abs(gaps[k])))
        errors.append(abs(gaps[widest[-1]]) / ks.FEW)
    assert sum(place > 0.7 * ks.FEW for place in widest) >= 16
    assert sorted(errors)[9] == pytest.approx(ks.usual_ks(), abs=0.03)


@either
def test_the_limit_is_what_luck_rarely_exceeds(which: str) -> None:
    walk = ks.find(which, 1.0)
    scores = [score for score, _ in ordered(which)]
    assert reference.gap_p_value(scores, walk.limit) == pytest.approx(0.05, abs=1e-6)


def test_the_sentence_says_the_numbers_of_the_walk() -> None:
    shown = ks.show(start_of(ks.LESSON, chosen={"added": "36"}))
    scores, hits = walked(ordered("few"), 36)
    gap = percent((scores - hits) / ks.FEW, ks.FEW)
    text = f"first 36 scores add up to **{scores:.2f}**; correct predictions: **{hits}**. Divided"
    assert text in shown.sentence
    assert f"their gap is {gap}" in shown.sentence
    assert percent(ks.usual_ks(), ks.FEW) in shown.note


def test_the_few_rows_are_added_one_by_one() -> None:
    rows = ordered("few")
    assert len({score for score, _ in rows}) == ks.FEW  # no two of one score
    for step in ks.LESSON.controls[0].values:
        shown = ks.show(start_of(ks.LESSON, chosen={"added": step}))
        n_added = int(step)
        scores, hits = walked(rows, n_added)
        assert f"**{scores:.2f}**; correct predictions: **{hits}**." in shown.sentence
        last = "row" if n_added == 1 else f"{min(n_added, 12)} rows"
        assert shown.pictures[0].text.startswith(f"Rows added: {n_added}; thick: the last {last}.")
    first = ks.show(start_of(ks.LESSON, chosen={"added": "1"})).sentence
    assert first.startswith(f"The first score is **{rows[0][0]:.2f}**")
    assert f"It was {'correct' if rows[0][1] else 'wrong'}: the gap" in first


def test_the_middle_of_all_rows_is_where_a_walk_finds_it() -> None:
    rows = ordered("all")
    total, _ = walked(rows, len(rows) // 2)
    note = ks.show(start_of(ks.LESSON)).note
    assert f"({VIEW}, {FRACTILE_CURSOR.removesuffix(' (%)')} 50%)" in note
    assert f"the middle of all {len(rows):,} rows? (At {100 * total / len(rows):.1f}%.)" in note


def test_the_widest_gap_is_marked_once_it_is_passed() -> None:
    for step in ks.ADDED:
        shown = ks.show(start_of(ks.LESSON, chosen={"added": str(step)}))
        names = [one.text for one in shown.pictures[0].figure.layout.annotations]
        passed = step / ks.FEW + 1e-9 >= ks.find("few", 1.0).curves.ks_fractile
        assert any("KS error" in name for name in names) is passed


@either
def test_the_answer_is_where_a_loop_finds_the_widest_gap(which: str) -> None:
    total, gaps = 0.0, list[float]()
    for score, hit in ordered(which):
        total += score - hit
        gaps.append(abs(total))
    place = gaps.index(max(gaps)) + 1
    assert place / len(gaps) > 2 / 3
    shown = ks.show(start_of(ks.LESSON, chosen={"rows": which}))
    assert shown.answer == (
        "at the highest scores, as gaps of one sign add up (where signs alternate, it is in"
        f" between): after {place:,} of {len(gaps):,} rows"
    )
    assert f"% after {place:,} rows, is the **KS error**" in shown.sentence


@either
def test_what_a_stretch_adds_is_how_far_it_is_off_times_its_share_of_the_rows(which: str) -> None:
    for step in ks.ADDED:
        sentence = ks.show(start_of(ks.LESSON, chosen={"rows": which, "added": str(step)})).sentence
        match = re.search(
            r"gap (?:grew|shrank) by ([\d.]+) percentage points"
            r" \(about ([\d.]+) percentage points too (high|low), times ([\d,]+) of ([\d,]+) rows",
            sentence,
        )
        if match is None:
            assert "there the gap stayed." in sentence or "The first score is" in sentence
            continue
        change, off, n, n_rows = (float(match[k].replace(",", "")) for k in (1, 2, 4, 5))
        assert change == pytest.approx(off * n / n_rows, abs=0.08)  # both are rounded


def test_the_name_of_the_last_rows_is_over_no_bar() -> None:
    for step in ks.ADDED:
        walk = ks.find("few", step / ks.FEW)
        (name,) = (
            ks.show(start_of(ks.LESSON, chosen={"added": str(step)}))
            .pictures[1]
            .figure.layout.annotations
        )
        right = name.x + 0.38  # as wide as it is drawn at most
        assert name.x < right <= walk.bins.edges[:-1][walk.bins.counts > 0].min()
        assert name.y > right  # and over the diagonal


def test_before_the_answer_the_rows_are_seen_and_no_total() -> None:
    (picture,) = ks.show(start_of(ks.LESSON, revealed=False)).pictures
    right, wrong = picture.figure.data
    assert sorted([*right.y, *wrong.y]) == [score for score, _ in ordered("few")]
    assert len(right.y) == sum(hit for _, hit in ordered("few"))
    assert right.marker.symbol != wrong.marker.symbol


def test_errors_that_alternate_halve_the_ks_error() -> None:
    # Log-odds of the laboratory's S-shaped model, summed over its normal scores.
    truth = PRESETS["wavy"].model.truth()
    gap = truth.scores - truth.frequency
    distance, widest, so_far = 0.0, 0.0, 0.0
    for one in gap.tolist():
        distance += abs(one) / gap.size
        so_far += one / gap.size
        widest = max(widest, abs(so_far))
    text = ks.LESSON.show(start_of(ks.LESSON)).note
    assert f"true ECE of {100 * distance:.1f}%, but a true KS error of {100 * widest:.1f}%" in text
    assert widest == pytest.approx(distance / 2, rel=0.02)


def test_the_check_is_right() -> None:
    n_half, off = 1_000, ks.HALF_OFF / 100
    scores = [0.3] * n_half + [0.6] * n_half
    hits = [k < (0.3 - off) * n_half for k in range(n_half)]
    hits += [k < (0.6 + off) * n_half for k in range(n_half)]
    check = ks.LESSON.check
    assert check.answers[check.right] == f"{100 * metrics.ks_error(scores, hits):.0f}%"
