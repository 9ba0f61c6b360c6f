"""The graph of the gap, by its data."""

import numpy as np
import pytest

from calibcore.evaluation import Side
from dashboard.figures import mark_rows
from dashboard.figures.graphs import gap_graph
from dashboard.figures.palette import LIGHT
from tests.figures.conftest import Keep
from tests.figures.small_results import result_of, side_of, trace


@pytest.fixture(scope="module")
def pair() -> tuple[Side, Side]:
    result = result_of(500).test
    return result.before, result.after


def test_the_gap_is_score_minus_outcomes_row_by_row() -> None:
    side = side_of([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1])
    line = trace(gap_graph(side, [side], LIGHT), "cumulative gap")
    assert line.x == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert line.y == pytest.approx([0, 0.05, -0.1, 0.05, 0], abs=1e-7)
    largest = trace(gap_graph(side, [side], LIGHT), "KS gap")
    assert list(largest.x) == [0.5, 0.5]
    assert list(largest.y) == pytest.approx([0, -0.1])


def test_both_sides_have_one_scale_that_holds_line_and_band(
    pair: tuple[Side, Side], keep: Keep
) -> None:
    figures = [gap_graph(side, pair, LIGHT) for side in pair]
    for name, figure in zip(("before", "after"), figures, strict=True):
        keep(f"gap_{name}", figure)
    low, high = figures[0].layout.yaxis.range
    assert (low, high) == figures[1].layout.yaxis.range
    for side, figure in zip(pair, figures, strict=True):
        assert low < side.curves.gap.min() <= side.curves.gap.max() < high
        band = np.array(trace(figure, "Perfectly calibrated").y)
        assert low < band.min() < 0 < band.max() < high
        assert band.max() == pytest.approx(side.null.simultaneous, rel=1e-6)
        ticks = [float(text.replace("\u2212", "-")) for text in figure.layout.yaxis.ticktext]
        assert ticks == pytest.approx([100 * tick for tick in figure.layout.yaxis.tickvals])


def test_the_cursor_marks_the_gap_of_the_same_rows(pair: tuple[Side, Side]) -> None:
    side, _ = pair
    marks = mark_rows(side, 0.5, LIGHT)
    place = side.curves.place_at(0.5)
    assert marks["gap"].points["x"] == marks["a"].points["x"]
    total, hits = marks["a"].points["y"]
    assert marks["gap"].points["y"] == pytest.approx([total - hits, 0])
    assert f"{100 * side.curves.gap[place]:+.2f} pp" in marks["gap"].points["hovertemplate"]
