"""Intervals of one probability agree with published values and with slow loops."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from calibcore.reliability import Interval, binomial_interval
from tests import reference_reliability as slow

INTERVALS: tuple[Interval, ...] = ("wilson", "clopper_pearson")


@pytest.mark.parametrize(
    ("k", "n", "wilson", "clopper_pearson"),
    [  # Newcombe 1998, table I: methods 3 and 5
        (81, 263, (0.2553, 0.3662), (0.2527, 0.3676)),
        (15, 148, (0.0624, 0.1605), (0.0578, 0.1617)),
        (0, 20, (0.0000, 0.1611), (0.0000, 0.1684)),
        (1, 29, (0.0061, 0.1718), (0.0009, 0.1776)),
    ],
)
def test_intervals_are_those_published(
    k: int, n: int, wilson: tuple[float, float], clopper_pearson: tuple[float, float]
) -> None:
    for kind, expected in zip(INTERVALS, (wilson, clopper_pearson), strict=True):
        assert_allclose(binomial_interval(k, n, interval=kind), expected, rtol=0, atol=5e-5)


def test_exact_intervals_are_those_of_r_and_scipy() -> None:
    # R, ?binom.test, Mendel's peas as in Conover 1971: binom.test(682, 925)
    peas = binomial_interval(682, 925, interval="clopper_pearson")
    assert_allclose(peas, (0.7076683, 0.7654066), rtol=0, atol=5e-8)
    # scipy, BinomTestResult.proportion_ci
    documented = binomial_interval(7, 50, interval="clopper_pearson")
    assert_allclose(documented, (0.05819170033997342, 0.26739600249700846), rtol=0, atol=1e-11)


def test_intervals_agree_with_the_loops() -> None:
    for n in (1, 2, 3, 7, 20):
        for k in range(n + 1):
            for level in (0.5, 0.95, 0.999):
                result = binomial_interval(k, n, level=level)
                assert_allclose(result, slow.wilson(k, n, level), rtol=0, atol=1e-9)
                exact = binomial_interval(k, n, interval="clopper_pearson", level=level)
                assert_allclose(exact, slow.clopper_pearson(k, n, level), rtol=0, atol=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 10**6), st.sampled_from(INTERVALS))
def test_intervals_hold_the_share_and_mirror(k: int, n: int, kind: Interval) -> None:
    k = min(k, n)
    lower, upper = binomial_interval(k, n, interval=kind)
    assert 0 <= lower <= k / n <= upper <= 1
    assert (lower == 0) == (k == 0)
    assert (upper == 1) == (k == n)
    mirrored = binomial_interval(n - k, n, interval=kind)
    assert_allclose((1 - upper, 1 - lower), mirrored, rtol=0, atol=1e-12)
