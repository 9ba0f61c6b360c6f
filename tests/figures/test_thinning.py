"""Thinning: few enough points, and nothing lost that the eye would look for."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as some
from numpy.typing import NDArray

from dashboard.figures.thinning import MOST_POINTS, thin

Floats = NDArray[np.float64]
FEWEST = 10


class Line(NamedTuple):
    x: Floats
    signal: Floats
    keep: list[int]
    most: int


@st.composite
def lines(draw: st.DrawFn) -> Line:
    """Lines longer and shorter than allowed, with ties, jumps and crowded ends."""
    size = draw(st.integers(1, 400))
    places = st.one_of(
        st.floats(0, 1),
        st.sampled_from([0.0, 0.5, 1.0]),
        st.floats(0.999999, 1),
        st.just(draw(st.floats(0, 1))),
    )
    heights = st.floats(-1, 1, allow_subnormal=True)
    x = np.sort(draw(some.arrays(np.float64, size, elements=places)))
    signal = draw(some.arrays(np.float64, size, elements=heights))
    keep = draw(st.lists(st.integers(0, size - 1), max_size=5))
    return Line(x, signal, keep, draw(st.integers(FEWEST + len(keep), 120)))


def thinned(line: Line) -> NDArray[np.intp]:
    return thin(line.x, line.signal, keep=line.keep, most=line.most)


@given(lines())
def test_as_few_points_as_asked_for_in_order(line: Line) -> None:
    shown = thinned(line)
    assert shown.size <= max(line.most, 1)
    assert (np.diff(shown) > 0).all()
    assert 0 <= shown[0] <= shown[-1] < line.x.size


@given(lines())
def test_both_ends_and_whatever_must_be_kept_are_drawn(line: Line) -> None:
    shown = set(thinned(line).tolist())
    assert {0, line.x.size - 1, *line.keep} <= shown


@given(lines())
def test_lowest_and_highest_are_drawn_exactly(line: Line) -> None:
    shown = line.signal[thinned(line)]
    assert shown.min() == line.signal.min()
    assert shown.max() == line.signal.max()


@given(lines())
def test_few_points_are_all_drawn(line: Line) -> None:
    if line.x.size <= line.most:
        assert thinned(line).tolist() == list(range(line.x.size))


@given(lines())
def test_what_is_thinned_enough_stays(line: Line) -> None:
    once = thinned(line)
    again = thin(line.x[once], line.signal[once], most=line.most)
    assert again.tolist() == list(range(once.size))


MANY = 200_000


@pytest.mark.parametrize("n_points", [MOST_POINTS, MOST_POINTS + 1, MANY])
@pytest.mark.parametrize("shape", ["even", "crowded", "tied", "one place"])
def test_four_hundred_points_of_any_line(
    n_points: int, shape: str, rng: np.random.Generator
) -> None:
    even = np.linspace(0, 1, n_points)
    x = {
        "even": even,
        "crowded": 1 - (1 - even) ** 6,
        "tied": np.floor(even * 20) / 20,
        "one place": np.full(n_points, 0.7),
    }[shape]
    signal = rng.normal(size=n_points).cumsum()
    kept = [int(place) for place in rng.integers(0, n_points, 4)]
    shown = thin(x, signal, keep=kept)
    assert shown.size <= MOST_POINTS == 400
    assert {0, n_points - 1, *kept} <= set(shown.tolist())
    assert signal[shown].min() == signal.min()
    assert signal[shown].max() == signal.max()


def test_a_single_spike_survives() -> None:
    signal = np.zeros(MANY)
    signal[123_457] = 1
    shown = thin(np.linspace(0, 1, MANY), signal)
    assert 123_457 in shown


def test_no_wide_part_of_the_line_is_left_out(rng: np.random.Generator) -> None:
    x = np.sort(rng.random(MANY))
    shown = thin(x, rng.normal(size=MANY))
    assert np.diff(x[shown]).max() < 0.01
    assert shown.size > MOST_POINTS / 2


def test_the_picture_stays_within_a_pixel(rng: np.random.Generator) -> None:
    # 280 pixels high: what is drawn between thinned points differs from the line by less.
    x = np.linspace(0, 1, MANY)
    line = np.cumsum(rng.random(MANY) < x) / MANY
    shown = thin(x, line)
    assert np.abs(np.interp(x, x[shown], line[shown]) - line).max() < line.max() / 280
