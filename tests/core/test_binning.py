from random import Random
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from calibcore.binning import bin_places, bin_scores
from tests import reference
from tests.strategies import EventCase, event_data

Binning = Literal["equal_width", "equal_mass"]
KINDS: tuple[Binning, ...] = ("equal_width", "equal_mass")


@given(event_data(), st.integers(1, 40))
def test_bins_agree_with_the_loops(case: EventCase, n_bins: int) -> None:
    for binning in KINDS:
        result = bin_scores(*case, n_bins=n_bins, binning=binning)
        expected = reference.bins(case.scores.tolist(), case.hits.tolist(), n_bins, binning)
        assert result.edges.tolist() == expected.edges
        assert result.counts.tolist() == expected.counts
        assert_allclose(result.mean_score, expected.mean_score, rtol=0, atol=1e-12)
        assert_allclose(result.frequency, expected.frequency, rtol=0, atol=1e-12)


@given(event_data(), st.integers(1, 20), st.sampled_from(KINDS), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_bit(
    case: EventCase, n_bins: int, binning: Binning, random: Random
) -> None:
    order = list(range(len(case.scores)))
    random.shuffle(order)
    first = bin_scores(*case, n_bins=n_bins, binning=binning)
    second = bin_scores(case.scores[order], case.hits[order], n_bins=n_bins, binning=binning)
    for name in ("edges", "counts", "mean_score", "frequency"):
        assert np.array_equal(getattr(first, name), getattr(second, name), equal_nan=True), name


@pytest.mark.parametrize("n_bins", [3, 6, 7, 10, 15, 25, 49, 100])
def test_a_score_on_an_edge_is_in_the_bin_below(n_bins: int) -> None:
    edges = [k / n_bins for k in range(n_bins + 1)]
    on_edge = bin_scores(edges, [0] * (n_bins + 1), n_bins=n_bins).counts
    assert on_edge.tolist() == [2] + [1] * (n_bins - 1)
    above = [float(np.nextafter(edge, 1.0)) for edge in edges[:-1]]
    assert bin_scores(above, [0] * n_bins, n_bins=n_bins).counts.tolist() == [1] * n_bins


def test_equal_mass_without_ties_differs_by_one_row_at_most(rng: np.random.Generator) -> None:
    for n_rows in (15, 16, 29, 1_000):
        scores = rng.random(n_rows)
        counts = bin_scores(scores, np.zeros(n_rows), n_bins=15, binning="equal_mass").counts
        assert counts.max() - counts.min() <= 1


def test_equal_mass_keeps_ties_together() -> None:
    # Places floor(4/2) = 2 of 4: edge 0.5, and all three rows at 0.5 are at or below it
    table = bin_scores([0.5, 0.5, 0.5, 0.9], [0, 1, 1, 1], n_bins=2, binning="equal_mass")
    assert table.edges.tolist() == [0.0, 0.5, 1.0]
    assert table.counts.tolist() == [3, 1]
    assert_allclose(table.frequency, [2 / 3, 1.0], atol=1e-15)


def test_equal_mass_with_fewer_rows_than_bins() -> None:
    # Places floor(i * 2 / 4) = 0, 1, 1 of 2: edges 0, 0, 0.2, 0.2, 1
    table = bin_scores([0.2, 0.7], [0, 1], n_bins=4, binning="equal_mass")
    assert table.edges.tolist() == [0.0, 0.0, 0.2, 0.2, 1.0]
    assert table.counts.tolist() == [0, 1, 0, 1]


@given(st.integers(1, 2_000) | st.integers(1, 1_000_000))
def test_equal_width_bins_are_found_on_both_sides_of_every_edge(n_bins: int) -> None:
    edges = np.arange(n_bins + 1) / n_bins
    some = edges if n_bins <= 2_000 else edges[:: n_bins // 1_000]
    scores = np.concatenate([some, np.nextafter(some, -1), np.nextafter(some, 2), [0, 1]]).clip(
        0, 1
    )
    assert np.array_equal(bin_places(scores, n_bins), np.searchsorted(edges[1:-1], scores))
