"""Ranges of scores that are off: against loops, exact tails, and scores that are true."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.binning import bin_scores
from calibcore.errors import CalibrationInputError
from calibcore.inference import off_ranges
from calibcore.inference.multiple_testing import holm
from calibcore.inference.off_ranges import bin_p_values

rows = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 1)), min_size=1, max_size=12)


def exact_p(scores: list[float], n_hits: int) -> float:
    """Twice the smaller tail, over every way in which the rows may turn out."""
    more = fewer = 0.0
    for way in itertools.product((0, 1), repeat=len(scores)):
        chance = math.prod(s if hit else 1 - s for s, hit in zip(scores, way, strict=True))
        more += chance * (sum(way) >= n_hits)
        fewer += chance * (sum(way) <= n_hits)
    return min(2 * min(more, fewer), 1.0)


@given(rows)
def test_a_bin_is_never_called_rarer_than_it_is(drawn: list[tuple[int, int]]) -> None:
    scores, hits = [s / 20 for s, _ in drawn], [hit for _, hit in drawn]
    found = bin_p_values(bin_scores(scores, hits, n_bins=3))
    for k, p_value in enumerate(found):
        inside = [
            (s, hit) for s, hit in zip(scores, hits, strict=True)
            if max(math.ceil(round(s * 3, 9)) - 1, 0) == k
        ]  # fmt: skip
        if not inside:
            assert p_value == 1
            continue
        exact = exact_p([s for s, _ in inside], sum(hit for _, hit in inside))
        assert p_value >= exact - 1e-9


def test_of_equal_scores_the_tail_is_the_binomial_one() -> None:
    p_value = bin_p_values(bin_scores([0.3] * 40, [1] * 25 + [0] * 15, n_bins=1))[0]
    tail = sum(math.comb(40, k) * 0.3**k * 0.7 ** (40 - k) for k in range(25, 41))
    assert p_value == pytest.approx(2 * tail, rel=1e-9)


def slow_ranges(scores: list[float], hits: list[int], n_bins: int) -> list[tuple[float, ...]]:
    """Join bins in a loop over them; the bins themselves are tested elsewhere."""
    bins = bin_scores(scores, hits, n_bins=n_bins)
    filled = [b for b in range(n_bins) if bins.counts[b]]
    adjusted = holm([bin_p_values(bins)[b] for b in filled])
    found: list[list[int]] = []
    before = 0
    for p_value, b in zip(adjusted, filled, strict=True):
        sign = 0 if p_value >= 0.05 else (1 if bins.mean_score[b] > bins.frequency[b] else -1)
        if sign and sign == before:
            found[-1].append(b)
        elif sign:
            found.append([b])
        before = sign
    ranges: list[tuple[float, ...]] = []
    for group in found:
        low, high = bins.edges[group[0]], bins.edges[group[-1] + 1]
        inside = [(s, hit) for s, hit in zip(scores, hits, strict=True)
                  if low < s <= high or s == low == 0]  # fmt: skip
        n = len(inside)
        ranges.append((low, high, n, sum(s for s, _ in inside) / n, sum(h for _, h in inside) / n))
    return ranges


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n_bins", [5, 15])
def test_neighbouring_bins_of_one_sign_are_one_range(seed: int, n_bins: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.random(1500)
    scores = scores[(scores < 0.5) | (scores > 0.65)]  # an empty part joins its sides
    true = np.clip(scores + rng.choice([-0.25, 0.25]) * np.sin(4 * scores), 0, 1)
    hits = (rng.random(scores.size) < true).astype(int)
    found = off_ranges(bin_scores(scores, hits, n_bins=n_bins))
    expected = slow_ranges(scores.tolist(), hits.tolist(), n_bins)
    assert expected
    assert [(one.low, one.high, one.n_rows, one.mean_score, one.frequency) for one in found] == [
        pytest.approx(one) for one in expected
    ]
    assert [one.first for one in found] == [bool(scores.min() > one.low - 1e-12 and
        not (scores <= one.low).any()) for one in found]  # fmt: skip
    assert [one.last for one in found] == [not (scores > one.high).any() for one in found]


def test_true_scores_name_a_range_in_at_most_one_set_of_twenty() -> None:
    rng = np.random.default_rng(9)
    named = 0
    for _ in range(400):
        scores = rng.beta(1, 3, 300)
        hits = rng.random(300) < scores
        named += bool(off_ranges(bin_scores(scores, hits)))
    assert named <= 400 * 0.05 + 3 * math.sqrt(400 * 0.05 * 0.95)


@pytest.mark.parametrize("level", [0, 1, 1.5, "x"])
def test_a_level_is_between_0_and_1(level: object) -> None:
    with pytest.raises(CalibrationInputError, match="level"):
        off_ranges(bin_scores([0.5], [1]), level=level)  # type: ignore[arg-type]
