"""The cursor in the four graphs, axes over several rows of graphs, and the spline itself."""

import numpy as np
import pytest
from plotly import graph_objects as go

from calibcore.calibrators import SplineCalibration
from calibcore.evaluation import Side
from calibcore.reliability import SplineFit
from dashboard.figures import DARK, LIGHT, Palette, four_graphs, mark_rows
from dashboard.figures.graphs import CURSOR, MOST_FIT_POINTS, fit_graph
from dashboard.views.ks_graphs.drawing import FEWER_POINTS
from tests.figures.small_results import (
    GRAPHS,
    blocks,
    events,
    parts,
    result_of,
    side_of,
    texts,
    trace,
)

FRACTILES = [0.0, 0.25, 0.5, 0.9, 1.0]


@pytest.fixture(scope="module")
def side() -> Side:
    return result_of(400).test.before


def wanted_marks(side: Side, fractile: float) -> dict[str, tuple[float, float, float]]:
    """Find the rows at a fractile by going through them: place, claim and truth in each graph."""
    curves, frequency = side.curves, side.frequency
    assert frequency is not None
    ends = curves.fractile.tolist()
    k = next(k for k, end in enumerate(ends) if k > 0 and end >= fractile)
    totals = float(curves.cum_score[k]), float(curves.cum_hits[k])
    (row,) = np.flatnonzero(frequency.score == curves.score[k])
    here = float(frequency.score[row]), float(frequency.frequency[row])
    return {
        "cumulative_by_fractile": (ends[k], *totals),
        "cumulative_by_score": (totals[0], *totals),
        "frequency_by_fractile": (ends[k], *here),
        "frequency_by_score": (here[0], *here),
    }


@pytest.mark.parametrize("fractile", FRACTILES)
@pytest.mark.parametrize("which", ["no ties", "ties", "one score"])
def test_the_same_rows_are_marked_in_all_four(side: Side, which: str, fractile: float) -> None:
    other = {
        "no ties": side,
        "ties": blocks((0.2, 30, 5), (0.6, 50, 20), (0.9, 20, 19)),
        "one score": blocks((0.5, 40, 13)),
    }[which]
    marks = mark_rows(other, fractile, LIGHT)
    assert list(marks) == ["a", "b", "c", "d", "gap"]
    del marks["gap"]  # in test_gap.py
    for mark, (x, claim, truth) in zip(
        marks.values(), wanted_marks(other, fractile).values(), strict=True
    ):
        assert mark.points["x"] == [x, x]
        assert mark.points["y"] == [claim, truth]
        assert mark.points["marker"]["color"] == [LIGHT.score, LIGHT.frequency]
        assert mark.line["x0"] == mark.line["x1"] == x
        assert mark.line["y1"] == max(claim, truth)
        # Plotly knows all of it.
        drawn = go.Figure([mark.points], {"shapes": [mark.line]})
        assert drawn.data[0].name == CURSOR


def test_nothing_is_marked_unless_asked(side: Side) -> None:
    for figure in parts(four_graphs(side, side, LIGHT)).values():
        assert CURSOR not in [drawn.name for drawn in figure.data]
        assert not figure.layout.shapes


@pytest.mark.parametrize(
    ("score", "hits", "corner"),
    [
        (np.linspace(0.1, 0.9, 200), np.arange(200) > 150, "top"),  # claims much, happens late
        (np.linspace(0.1, 0.9, 200), np.arange(200) % 3 > 0, "bottom"),  # happens early
    ],
    ids=["below the diagonal", "above it"],
)
def test_names_stand_in_the_corner_the_lines_leave_free(
    score: np.ndarray, hits: np.ndarray, corner: str
) -> None:
    side = side_of(score, hits)
    graph = four_graphs(side, side, LIGHT).frequency_by_fractile
    assert graph is not None
    (names,) = graph.layout.annotations
    assert names.yanchor == corner
    assert names.xanchor == {"top": "left", "bottom": "right"}[corner]
    assert names.bgcolor is None  # nothing that is drawn is covered


def test_too_few_rows_are_marked_in_the_graphs_there_are() -> None:
    few = side_of([0.4, 0.6, 0.9], [0, 1, 1])
    assert four_graphs(few, few, LIGHT).frequency_by_fractile is None
    marks = mark_rows(few, 0.5, LIGHT)
    assert list(marks) == ["a", "b", "gap"]
    assert marks["a"].points["x"] == [2 / 3, 2 / 3]


def test_rows_of_graphs_share_their_axes() -> None:
    low, high = blocks((0.01, 900, 3), (0.05, 100, 20)), blocks((0.001, 900, 3), (0.3, 100, 50))
    alone = parts(four_graphs(low, low, LIGHT))
    one = parts(four_graphs(low, low, LIGHT, alike=[high]))
    other = parts(four_graphs(high, high, LIGHT, alike=[low]))
    for graph in GRAPHS:
        assert one[graph].layout.yaxis.range == other[graph].layout.yaxis.range
        assert one[graph].layout.yaxis.range[1] > alone[graph].layout.yaxis.range[1]


def test_sixteen_graphs_of_many_rows_are_light() -> None:
    evaluated = result_of(30_000).test
    drawn = [
        parts(four_graphs(one, other, LIGHT, most=FEWER_POINTS))
        for one, other in ((evaluated.before, evaluated.after), (evaluated.after, evaluated.before))
    ]
    figures = [figure for graphs in drawn for figure in graphs.values()]
    # Plotly's own template is left out on the page.
    size = sum(len(figure.update_layout(template="none").to_json()) for figure in figures)
    assert 2 * size < 270_000
    for figure in figures:
        band, *lines = (line.x.size for line in figure.data if line.mode == "lines")
        assert max(lines) <= FEWER_POINTS
        assert band <= 1.5 * FEWER_POINTS  # two edges of at most three quarters each


# The spline ---------------------------------------------------------------------------------


def fit_of(n_samples: int, **options: object) -> SplineFit:
    rows = events(n_samples)
    calibrator = SplineCalibration(**options)  # type: ignore[arg-type]
    return calibrator.shown(calibrator.fit(rows.scores, rows.hits), rows.scores, rows.hits)


@pytest.mark.parametrize("fit_to", ["difference", "hits"])
def test_few_points_of_the_fit_are_drawn_as_they_are(fit_to: str) -> None:
    fit = fit_of(200, fit_to=fit_to)
    figure = fit_graph(fit, LIGHT)
    total, spline, knots = (trace(figure, name) for name in ("cumulative curve", "spline", "knots"))
    assert total.x.tolist() == spline.x.tolist() == fit.fractile.astype(np.float32).tolist()
    assert total.y.tolist() == fit.total.astype(np.float32).tolist()
    assert spline.y.tolist() == fit.fitted.astype(np.float32).tolist()
    assert list(knots.x) == fit.spline.knots.tolist()
    assert list(knots.y) == fit.spline.values.tolist()
    low, high = figure.layout.yaxis.range
    assert low < min(fit.total.min(), fit.spline.values.min())
    assert high > max(fit.total.max(), fit.spline.values.max())
    assert ("\u2212 scores" in figure.layout.title.text) == (fit_to == "difference")


def test_many_points_of_the_fit_are_thinned_and_keep_the_extremes() -> None:
    fit = fit_of(50_000, n_knots=12)
    drawn = trace(fit_graph(fit, LIGHT), "cumulative curve")
    assert MOST_FIT_POINTS / 2 < drawn.x.size <= MOST_FIT_POINTS
    assert drawn.y.min() == np.float32(fit.total.min())
    assert drawn.y.max() == np.float32(fit.total.max())
    assert trace(fit_graph(fit, LIGHT), "knots").x.size == 12


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_the_fit_is_told_apart_by_dashes_and_named_in_the_figure(palette: Palette) -> None:
    figure = fit_graph(fit_of(300), palette)
    assert trace(figure, "cumulative curve").line.color == palette.frequency
    assert trace(figure, "spline").line.dash == "dash"
    (names,) = figure.layout.annotations
    assert "Cumulative curve" in names.text
    assert "Spline, knots" in names.text
    assert not [text for text in texts(figure) if "$" in text]
