"""The small pictures of classes: points and intervals are the bins."""

import numpy as np
import pytest

from calibcore.reliability import BinnedReliability, classwise_reliability
from dashboard.figures import DARK, LIGHT, Palette, class_picture
from tests.figures.conftest import Keep
from tests.figures.small_results import Figure


@pytest.fixture(scope="module")
def both() -> tuple[BinnedReliability, BinnedReliability]:
    rng = np.random.default_rng(3)
    table = rng.dirichlet(np.full(5, 0.5), 2000)
    labels = (table.cumsum(axis=1) < rng.random((2000, 1))).sum(axis=1)
    after = np.sqrt(table) / np.sqrt(table).sum(axis=1, keepdims=True)
    return classwise_reliability(table, labels), classwise_reliability(after, labels)


def traces(figure: Figure, name: str) -> list[Figure]:
    return [drawn for drawn in figure.data if drawn.name == name]


def test_both_sides_are_the_bins(
    both: tuple[BinnedReliability, BinnedReliability], keep: Keep
) -> None:
    for k in range(5):
        sides = both[0].of_class(k), both[1].of_class(k)
        figure = class_picture(*sides, LIGHT)
        keep(f"class_{k}", figure)
        for number, binned in zip(("", "2"), sides, strict=True):
            bins, filled = binned.bins, binned.bins.counts > 0
            (points,) = [
                one for one in traces(figure, "observed frequency") if one.xaxis == f"x{number}"
            ]
            assert points.yaxis == f"y{number}"
            assert points.x.tolist() == bins.mean_score[filled].tolist()
            assert points.y.tolist() == bins.frequency[filled].tolist()
            assert points.customdata.tolist() == bins.counts[filled].tolist()
            large = points.marker.size > 4
            assert large.tolist() == binned.telling[filled].tolist()
            (whiskers,) = [one for one in traces(figure, "interval") if one.xaxis == f"x{number}"]
            assert whiskers.x[0::3].tolist() == whiskers.x[1::3].tolist() == points.x.tolist()
            assert whiskers.y[0::3].tolist() == binned.lower[filled].tolist()
            assert whiskers.y[1::3].tolist() == binned.upper[filled].tolist()
            assert np.isnan(whiskers.y[2::3]).all()


def test_before_stands_left_and_after_right_on_the_same_axes(
    both: tuple[BinnedReliability, BinnedReliability],
) -> None:
    figure = class_picture(both[0].of_class(0), both[1].of_class(0), LIGHT)
    left, right = figure.layout.xaxis, figure.layout.xaxis2
    assert left.domain[1] < right.domain[0]
    assert left.range == right.range == figure.layout.yaxis.range == figure.layout.yaxis2.range
    assert left.range[0] < 0
    assert left.range[1] > 1
    named = [(note.text, note.xref) for note in figure.layout.annotations]
    assert named == [("Before", "x"), ("After", "x2")]
    assert all(list(one.x) == list(one.y) == [0, 1] for one in traces(figure, "score = frequency"))


def test_one_side_alone_takes_all_the_room(
    both: tuple[BinnedReliability, BinnedReliability],
) -> None:
    figure = class_picture(both[0].of_class(0), None, LIGHT)
    assert tuple(figure.layout.xaxis.domain) == (0, 1)
    assert not figure.layout.annotations
    assert {one.xaxis for one in figure.data} == {"x"}


def test_a_class_that_no_row_has_is_drawn() -> None:
    result = classwise_reliability([[0.5, 0.3, 0.2]] * 9, [0] * 9).of_class(2)
    (points,) = traces(class_picture(result, result, LIGHT), "observed frequency")[:1]
    assert (points.x.tolist(), points.y.tolist()) == ([pytest.approx(0.2)], [0.0])


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_and_weight(
    both: tuple[BinnedReliability, BinnedReliability], palette: Palette
) -> None:
    figure = class_picture(both[0].of_class(1), both[1].of_class(1), palette)
    for points in traces(figure, "observed frequency"):
        assert points.line.color == points.marker.color == palette.frequency
    assert {one.line.color for one in traces(figure, "interval")} == {palette.neutral}
    assert len(figure.to_json()) < 25_000  # twelve of them are on a page
