"""The KS error of the worst order of equal scores: against every order of few rows."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcore.cumulative import cumulative_curves
from calibcore.inference import ks_by_worst_order

rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1)), min_size=1, max_size=6)


def ks_of(order: tuple[tuple[float, int], ...]) -> float:
    """Walk through rows one by one, and keep the largest gap."""
    gap = largest = 0.0
    for score, hit in order:
        gap += (score - hit) / len(order)
        largest = max(largest, abs(gap))
    return largest


@settings(deadline=None, max_examples=60)
@given(rows)
def test_no_order_of_equal_scores_is_worse_and_one_is_as_bad(drawn: list[tuple[int, int]]) -> None:
    scores, hits = [s / 4 for s, _ in drawn], [hit for _, hit in drawn]
    curves = cumulative_curves(scores, hits)
    pairs = list(zip(scores, hits, strict=True))
    every = [
        ks_of(order)
        for order in itertools.permutations(pairs)
        if all(a[0] <= b[0] for a, b in itertools.pairwise(order))
    ]
    assert abs(ks_by_worst_order(curves) - max(every)) < 1e-12
    assert curves.ks_error <= min(every) + 1e-12


def test_without_ties_there_is_one_order() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(500)
    curves = cumulative_curves(scores, rng.random(500) < scores)
    # A single row is a step of its own, whose ends are the gaps before and after it.
    assert ks_by_worst_order(curves) == curves.ks_error
