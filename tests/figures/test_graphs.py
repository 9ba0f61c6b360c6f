"""The four graphs: what is drawn is the result object, and nothing else."""

import re
from typing import Any

import numpy as np
import pytest

from calibcore.auditing import AuditResult
from calibcore.evaluation import Side
from dashboard.figures import DARK, LIGHT, Palette, four_graphs
from dashboard.figures.bands import MOST_BAND_POINTS
from dashboard.figures.thinning import MOST_POINTS
from tests.figures.conftest import Keep
from tests.figures.small_results import (
    GRAPHS,
    Figure,
    Floats,
    blocks,
    curves,
    outline,
    page,
    parts,
    result_of,
    side_of,
    sides,
    texts,
    trace,
    walk,
)

FEW, MANY = 390, 30_000
NAMES = {
    "cumulative_by_fractile": ("cumulative score", "cumulative outcomes"),
    "cumulative_by_score": ("cumulative score", "cumulative outcomes"),
    "frequency_by_fractile": ("score", "observed frequency"),
    "frequency_by_score": ("score", "observed frequency"),
}

each_graph = pytest.mark.parametrize("graph", GRAPHS)
each_palette = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])


@pytest.fixture(scope="module")
def few() -> AuditResult:
    return result_of(FEW)


@pytest.fixture(scope="module")
def many() -> AuditResult:
    return result_of(MANY)


def points_of(side: Side, graph: str) -> Floats:
    """Every point of a graph as the result has it: place, score and frequency a row."""
    curves, frequency = side.curves, side.frequency
    assert frequency is not None
    columns = {
        "cumulative_by_fractile": (curves.fractile, curves.cum_score, curves.cum_hits),
        "cumulative_by_score": (curves.cum_score, curves.cum_score, curves.cum_hits),
        "frequency_by_fractile": (frequency.fractile, frequency.score, frequency.frequency),
        "frequency_by_score": (frequency.score, frequency.score, frequency.frequency),
    }
    return np.stack(columns[graph], axis=1)


def drawn_points(figure: Figure, graph: str) -> Floats:
    score, frequency = (trace(figure, name) for name in NAMES[graph])
    for line in (score, frequency):
        assert line.x.dtype == line.y.dtype == np.float32
        assert line.type == "scatter"  # drawn as SVG, which is faster without a GPU
    assert score.x.tolist() == frequency.x.tolist()
    return np.stack([score.x, score.y, frequency.y], axis=1)


# The points ---------------------------------------------------------------------------------


@each_graph
def test_few_points_are_drawn_as_they_are(few: AuditResult, graph: str, keep: Keep) -> None:
    for name, side, beside in sides(few):
        figure = parts(four_graphs(side, beside, LIGHT))[graph]
        keep(f"few_{name}_{graph}", figure)
        wanted = points_of(side, graph).astype(np.float32)
        assert drawn_points(figure, graph).tolist() == wanted.tolist()


@each_graph
def test_many_points_are_thinned_in_order(many: AuditResult, graph: str, keep: Keep) -> None:
    for name, side, beside in sides(many):
        figure = parts(four_graphs(side, beside, LIGHT))[graph]
        keep(f"many_{name}_{graph}", figure)
        every = points_of(side, graph).astype(np.float32)
        shown = drawn_points(figure, graph)
        assert MOST_POINTS / 2 < len(shown) <= MOST_POINTS < len(every)
        assert {tuple(row) for row in shown.tolist()} <= {tuple(row) for row in every.tolist()}
        assert shown[0].tolist() == every[0].tolist()
        assert shown[-1].tolist() == every[-1].tolist()
        assert (np.diff(shown[:, 0]) >= 0).all()


def test_thinning_keeps_the_extremes(many: AuditResult) -> None:
    for _, side, beside in sides(many):
        graphs = four_graphs(side, beside, LIGHT)
        for graph in GRAPHS[:2]:
            drawn = drawn_points(parts(graphs)[graph], graph)
            gap = drawn[:, 1].astype(np.float64) - drawn[:, 2]
            assert gap.max() == pytest.approx(side.curves.gap.max(), abs=1e-6)
            assert gap.min() == pytest.approx(side.curves.gap.min(), abs=1e-6)
        assert side.frequency is not None
        for graph in GRAPHS[2:]:
            height = drawn_points(parts(graphs)[graph], graph)[:, 2]
            assert height.max() == np.float32(side.frequency.frequency.max())
            assert height.min() == np.float32(side.frequency.frequency.min())


@pytest.mark.parametrize("graph", GRAPHS[:2])
@pytest.mark.parametrize("size", ["few", "many"])
def test_the_mark_stands_at_the_largest_gap(
    graph: str, size: str, request: pytest.FixtureRequest
) -> None:
    for _, side, beside in sides(request.getfixturevalue(size)):
        figure = parts(four_graphs(side, beside, LIGHT))[graph]
        mark, curves = trace(figure, "KS gap"), side.curves
        place = points_of(side, graph)[curves.ks_index]
        assert list(mark.x) == [place[0], place[0]]
        assert list(mark.y) == [curves.cum_score[curves.ks_index], curves.cum_hits[curves.ks_index]]
        assert abs(mark.y[0] - mark.y[1]) == curves.ks_error
        assert f"{curves.ks_error:.2%}" in mark.hovertemplate
        # The lines are drawn through the mark.
        assert place.astype(np.float32).tolist() in drawn_points(figure, graph).tolist()


def test_only_the_cumulative_graphs_carry_the_mark(few: AuditResult) -> None:
    graphs = parts(four_graphs(few.test.before, few.test.after, LIGHT))
    marked = [graph for graph in GRAPHS if "KS gap" in [line.name for line in graphs[graph].data]]
    assert marked == list(GRAPHS[:2])


# The band under perfect calibration ---------------------------------------------------------


def band_of(side: Side, graph: str) -> Floats:
    """Every point of a band as the result has it: place, lowest and highest a row."""
    null, frequency_null = side.null, side.frequency_null
    assert frequency_null is not None
    whole, spline = (null.lower, null.upper), (frequency_null.lower, frequency_null.upper)
    columns = {
        "cumulative_by_fractile": (null.fractile, *whole),
        "cumulative_by_score": (null.cum_score, *whole),
        "frequency_by_fractile": (frequency_null.fractile, *spline),
        "frequency_by_score": (frequency_null.score, *spline),
    }
    return np.stack(columns[graph], axis=1)


def drawn_band(figure: Figure) -> Floats:
    (stretch,) = outline(trace(figure, "Perfectly calibrated"))
    return np.stack(stretch, axis=1)


@each_graph
def test_the_band_of_few_rows_is_drawn_as_it_is(graph: str) -> None:
    for _, side, beside in sides(result_of(200)):
        figure = parts(four_graphs(side, beside, LIGHT))[graph]
        wanted = band_of(side, graph).astype(np.float32)
        assert drawn_band(figure).tolist() == wanted.tolist()


@each_graph
def test_the_band_of_many_rows_is_thinned_to_points_of_it(many: AuditResult, graph: str) -> None:
    for _, side, beside in sides(many):
        shown = drawn_band(parts(four_graphs(side, beside, LIGHT))[graph])
        every = band_of(side, graph).astype(np.float32)
        assert MOST_BAND_POINTS / 2 < len(shown) <= MOST_BAND_POINTS
        assert {tuple(row) for row in shown.tolist()} <= {tuple(row) for row in every.tolist()}
        assert shown[[0, -1]].tolist() == every[[0, -1]].tolist()
        assert shown[:, 2].max() == every[:, 2].max()
        # Between its points it is where it should be, to a pixel of 280.
        for column in (1, 2):
            between = np.interp(every[:, 0], shown[:, 0], shown[:, column])
            assert np.abs(between - every[:, column]).max() < 1 / 280


@each_graph
def test_the_band_is_behind_the_lines_and_about_the_score(few: AuditResult, graph: str) -> None:
    for _, side, beside in sides(few):
        figure = parts(four_graphs(side, beside, LIGHT))[graph]
        assert [drawn.name for drawn in figure.data][:3] == ["Perfectly calibrated", *NAMES[graph]]
        points, band = points_of(side, graph), band_of(side, graph)
        assert (band[:, 1] <= points[:, 1] + 1e-12).all()
        assert (points[:, 1] <= band[:, 2] + 1e-12).all()


@pytest.mark.parametrize("graph", GRAPHS[:2])
def test_a_line_leaves_the_band_where_the_ks_error_does(graph: str) -> None:
    undetected, detected = (
        blocks((0.3, 50, 17), (0.8, 50, 38)),
        blocks((0.3, 50, 30), (0.8, 50, 20)),
    )
    for side, inside in ((undetected, True), (detected, False)):
        assert (side.curves.ks_error < side.curves.ks_null_95) == inside
        figure = parts(four_graphs(side, side, LIGHT))[graph]
        band, frequency = drawn_band(figure), drawn_points(figure, graph)[:, 2]
        within = (band[:, 1] <= frequency) & (frequency <= band[:, 2])
        assert within.all() == inside


def legends(graph: str, figure: Figure) -> list[Any]:
    """Return the names in a graph: of each pair, the first names the lines of both."""
    results = list(figure.layout.annotations)
    assert len(results) == graph.endswith("by_fractile")
    return results


@each_palette
def test_the_band_is_grey_and_says_what_it_is(few: AuditResult, palette: Palette) -> None:
    for graph, figure in parts(four_graphs(few.test.before, few.test.after, palette)).items():
        band = trace(figure, "Perfectly calibrated")
        assert band.fillcolor == band.line.color == palette.band
        assert (band.fill, band.hoveron, band.hoverinfo) == ("toself", "fills", "text")
        assert "band if perfectly calibrated" in band.text
        assert band.text.startswith("95%")
        assert ("<br>at each " in band.text) == graph.startswith("frequency")
        for label in legends(graph, figure):
            assert f'color:{palette.neutral}">Perfectly calibrated</span>' in label.text


# Axes ---------------------------------------------------------------------------------------


def ranges(figure: Figure) -> list[list[float]]:
    layout = figure.layout
    axes = [layout.xaxis, layout.yaxis, layout.yaxis2] if "yaxis2" in layout else None
    return [list(axis.range) for axis in axes or [layout.xaxis, layout.yaxis]]


RARE = blocks((0.01, 900, 3), (0.05, 100, 20))
RARER = blocks((0.001, 900, 3), (0.2, 100, 40))


def test_every_figure_of_the_page_shares_axes_and_titles(few: AuditResult) -> None:
    figures = page(few)
    for graph in (*GRAPHS, "reliability"):
        before, after = figures[f"before_{graph}"], figures[f"after_{graph}"]
        assert ranges(before) == ranges(after)
        assert before.layout.title.text == after.layout.title.text
        assert before.layout.height == after.layout.height


@pytest.mark.parametrize("which", ["few", "many", "rare"])
def test_before_and_after_share_their_axes_and_nothing_is_drawn_outside(
    which: str, request: pytest.FixtureRequest
) -> None:
    if which == "rare":
        pair = (RARE, RARER)
    else:
        result = request.getfixturevalue(which)
        pair = (result.test.before, result.test.after)
    one, other = (parts(four_graphs(*both, LIGHT)) for both in (pair, pair[::-1]))
    for graph in GRAPHS:
        horizontal, vertical = ranges(one[graph])
        assert ranges(other[graph]) == [horizontal, vertical]
        for figure in (one[graph], other[graph]):
            drawn, band = drawn_points(figure, graph), drawn_band(figure)
            assert horizontal[0] <= drawn[:, 0].min() <= drawn[:, 0].max() <= horizontal[1]
            assert vertical[0] <= drawn[:, 1:].min() <= drawn[:, 1:].max() <= vertical[1]
            assert vertical[0] <= band[:, 1].min() <= band[:, 2].max() <= vertical[1]


def test_a_rare_event_fills_its_graphs() -> None:
    graphs = parts(four_graphs(RARE, RARE, LIGHT))
    for graph in ("cumulative_by_fractile", "frequency_by_score"):
        top = ranges(graphs[graph])[1][1]
        assert top < 3 * drawn_points(graphs[graph], graph)[:, 1:].max()


def test_axes_name_quantity_and_count_in_percent(few: AuditResult) -> None:
    for figure in (page(few) | curves(few)).values():
        for axis in (figure.layout.xaxis, figure.layout.yaxis):
            assert axis.title.text
            assert axis.tickformat.endswith("%")
        assert figure.layout.title.text


def test_where_both_axes_are_scores_they_have_one_scale(few: AuditResult) -> None:
    graphs = parts(four_graphs(few.test.before, few.test.after, LIGHT))
    scaled = [graph for graph in GRAPHS if graphs[graph].layout.yaxis.scaleanchor == "x"]
    assert scaled == ["cumulative_by_score", "frequency_by_score"]


# Few rows, one score ------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [1, 2, 5, 6])
def test_fewer_than_six_rows_leave_the_frequency_graphs_out(n_rows: int) -> None:
    side = side_of(np.linspace(0.4, 0.9, n_rows), [1, 0, 1, 0, 1, 1][:n_rows])
    graphs, curves = four_graphs(side, side, LIGHT), side.curves
    assert (graphs.frequency_by_fractile is None) == (n_rows < 6)
    assert (graphs.frequency_by_score is None) == (n_rows < 6)
    wanted = np.stack([curves.fractile, curves.cum_score, curves.cum_hits], axis=1)
    drawn = drawn_points(graphs.cumulative_by_fractile, "cumulative_by_fractile")
    assert drawn.tolist() == wanted.astype(np.float32).tolist()


@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("hit", [0, 1])
def test_one_score_for_all_rows_is_drawn(score: float, hit: int) -> None:
    side = side_of([score] * 20, [hit] * 20)
    for figure in parts(four_graphs(side, side, LIGHT)).values():
        for low, high in ranges(figure):
            assert np.isfinite([low, high]).all()
            assert low < high


# Colours and words --------------------------------------------------------------------------


def colours_in(specification: object) -> list[str]:
    results = [re.findall(r"#[0-9A-Fa-f]{6}|rgba?\(.*?\)", text) for text in walk(specification)]
    return [colour for some in results for colour in some]


CLEAR = "rgba(0,0,0,0)"


def own_colours(palette: Palette) -> set[str]:
    return {getattr(palette, name) for name in Palette.__dataclass_fields__}


@each_palette
def test_every_colour_is_the_palettes(few: AuditResult, palette: Palette) -> None:
    for name, figure in (page(few, palette) | curves(few, palette)).items():
        specification = figure.to_dict()
        del specification["layout"]["template"]  # plotly's own, under which ours are laid
        used = set(colours_in(specification))
        assert used <= own_colours(palette) | {CLEAR}, name
        assert {palette.score, palette.frequency} <= used


def inked(drawn: Any) -> list[str]:
    """Colours of one trace, without what is clear."""
    return [colour for colour in colours_in(drawn.to_plotly_json()) if colour != CLEAR]


def test_every_line_and_text_changes_with_the_theme(few: AuditResult) -> None:
    light, dark = (page(few, one) | curves(few, one) for one in (LIGHT, DARK))
    assert not own_colours(LIGHT) & own_colours(DARK)
    for name, figure in light.items():
        for bright, dim in zip(figure.data, dark[name].data, strict=True):
            pair = inked(bright), inked(dim)
            assert len(pair[0]) == len(pair[1]) > 0
            assert not set(pair[0]) & set(pair[1]), (name, bright.name)
        marked = zip(figure.layout.annotations, dark[name].layout.annotations, strict=True)
        for bright, dim in marked:
            assert bright.text != dim.text or bright.font.color != dim.font.color


@each_palette
def test_score_and_frequency_keep_their_colours(few: AuditResult, palette: Palette) -> None:
    graphs = parts(four_graphs(few.test.before, few.test.after, palette))
    for graph, names in NAMES.items():
        score, frequency = (trace(graphs[graph], name) for name in names)
        assert score.line.color == palette.score
        assert frequency.line.color == palette.frequency
        assert frequency.fillcolor == palette.gap
        assert score.line.width == frequency.line.width == 2.5
        for label in legends(graph, graphs[graph]):
            for name, colour in zip(names, (palette.score, palette.frequency), strict=True):
                assert f'color:{colour}"><b>{name.capitalize()}</b>' in label.text


@pytest.mark.parametrize(("hits", "first"), [(60, "Cumulative score"), (99, "Cumulative outcomes")])
def test_the_upper_line_is_named_first(hits: int, first: str) -> None:
    side = blocks((0.8, 100, hits))
    (label,) = four_graphs(side, side, LIGHT).cumulative_by_fractile.layout.annotations
    assert re.findall("<b>(.*?)</b>", label.text)[0] == first


TAGS = {"<br>", "<b>", "</b>", "<extra>", "</extra>", "</span>"}


def test_the_only_markup_is_the_figures_own(few: AuditResult, many: AuditResult) -> None:
    for result in (few, many):
        for figure in (page(result) | curves(result)).values():
            results = {tag for text in texts(figure) for tag in re.findall("<[^>]*>", text)}
            assert {tag for tag in results if not tag.startswith("<span style=")} <= TAGS
            assert not [text for text in texts(figure) if "$" in text]


# Size ---------------------------------------------------------------------------------------


def test_a_page_of_many_rows_is_light(keep: Keep) -> None:
    result = result_of(200_000)
    figures = page(result)
    assert len(figures) == 10
    for name, figure in figures.items():
        keep(f"many_{name}", figure)
    assert sum(len(figure.to_json()) for figure in figures.values()) < 350_000
    chosen = curves(result)
    for name, figure in chosen.items():
        keep(f"many_{name}", figure)
        assert len(figure.to_json()) < 100_000
