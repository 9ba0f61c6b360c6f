"""What a score of 80% means, and how often luck stays in the range that is said."""

from math import comb, fsum

import numpy as np
import pytest

from dashboard.learn.binomial import chances_of, share_within, usual_range
from dashboard.learn.lesson import MOST_DRAWS, LessonView, start_of
from dashboard.learn.lessons import eighty
from dashboard.learn.lessons.eighty import LESSON, draw


def binomial(n: int, p: float) -> list[float]:
    return [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def by_hand(n: int, p: float) -> tuple[int, int, float]:
    """The range that leaves at most 2.5% on either side, and what it holds."""
    each = binomial(n, p)
    low = next(k for k in range(n + 1) if fsum(each[: k + 1]) >= 0.025)
    high = next(k for k in range(n + 1) if fsum(each[: k + 1]) >= 0.975)
    assert fsum(each[:low]) <= 0.025
    assert fsum(each[high + 1 :]) <= 0.025 + 1e-12
    return low, high, fsum(each[low : high + 1])


def view_of(probability: str = "80", draws: int = 1, **more: object) -> LessonView:
    state = start_of(LESSON, chosen={"probability": probability}, draws=draws, **more)
    return LESSON.show(state)


@pytest.mark.parametrize("probability", LESSON.controls[0].values)
def test_the_range_and_what_it_holds_are_binomial(probability: str) -> None:
    low, high, share = by_hand(100, int(probability) / 100)
    chances = chances_of(int(probability) / 100, 100)
    assert usual_range(chances) == (low, high)
    assert share_within(chances) == f"{100 * share:.1f}%"
    assert share >= 0.95
    assert f"{low} to {high} in **{100 * share:.1f}%**" in view_of(probability).sentence


def test_the_answer_says_what_the_range_holds() -> None:
    low, high, share = by_hand(100, 0.8)
    assert (low, high, round(share, 3)) == (72, 88, 0.967)
    assert view_of().answer == "80 on average, 72 to 88 in 96.7% of groups"


def test_the_first_group_is_not_exactly_what_is_expected() -> None:
    assert draw(start_of(LESSON)).counts.tolist() == [76]


def test_each_seat_draws_groups_of_its_own() -> None:
    firsts = [int(draw(start_of(LESSON, seat=seat)).counts[0]) for seat in range(1, 41)]
    assert len(set(firsts)) > 5
    inside = sum(72 <= one <= 88 for one in firsts)
    assert inside >= 36  # 38.7 expected


def test_few_groups_are_counted_and_many_are_shares() -> None:
    few, many = view_of(draws=eighty.FEW).pictures[1], view_of(draws=eighty.FEW + 1).pictures[1]
    assert few.figure.layout.yaxis.title.text == "Groups"
    assert many.figure.layout.yaxis.title.text == "Share of groups"
    assert len(few.figure.data[0].x) == eighty.FEW
    # No curve of shares stands beside counts.
    assert [trace.mode for trace in few.figure.data] == ["markers", "markers"]
    assert sum(many.figure.data[0].y) == pytest.approx(1)


def test_the_groups_outside_the_range_are_counted() -> None:
    counts = draw(start_of(LESSON, draws=MOST_DRAWS)).counts
    outside = int(np.count_nonzero((counts < 72) | (counts > 88)))
    text = f"Of your {MOST_DRAWS} groups, {outside} were outside that range."
    assert view_of(draws=MOST_DRAWS).sentence.endswith(text)
    assert 3 <= outside <= 35  # 16.3 expected


@pytest.mark.parametrize("n_draws", [1, eighty.LISTED, eighty.LISTED + 7])
def test_the_numbers_are_the_last_groups_drawn_one_by_one(n_draws: int) -> None:
    counts = [
        sum(start_of(LESSON).rng(eighty.STREAM, one).random(100) < 0.8)
        for one in range(1, n_draws + 1)
    ]
    head, *listed = view_of(draws=n_draws).numbers
    assert listed == [
        (str(number), str(count))
        for number, count in list(enumerate(counts, start=1))[-eighty.LISTED :]
    ]
    assert ("the last" in head[1]) is (n_draws > eighty.LISTED)


def test_the_check_says_how_often_luck_is_as_far() -> None:
    as_far = fsum(p for k, p in enumerate(binomial(100, 0.8)) if abs(k - 80) >= 6)
    assert f"in {100 * as_far:.0f}% of groups" in LESSON.check.why
    assert binomial(100, 0.75)[74] > binomial(100, 0.8)[74]
