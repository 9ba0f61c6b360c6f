"""The reliability diagram: bars, gaps and dots are the bin table."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from calibcore.auditing import AuditResult
from calibcore.binning import BinTable
from calibcore.evaluation import Side
from dashboard.figures import DARK, LIGHT, Palette, reliability_diagram
from tests.figures.conftest import Keep
from tests.figures.small_results import Figure, blocks, result_of, sides, trace

BARS = ("observed frequency", "gap to the mean score", "share of rows")


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return result_of(3000)


def filled(bins: BinTable, values: NDArray[Any]) -> list[float]:
    kept: list[float] = values[bins.counts > 0].tolist()
    return kept


def test_bars_gaps_and_dots_are_the_bin_table(result: AuditResult, keep: Keep) -> None:
    for name, side, beside in sides(result):
        figure, bins = reliability_diagram(side, beside, LIGHT), side.bins
        keep(f"reliability_{name}", figure)
        assert 5 < np.count_nonzero(bins.counts) < 15  # some are empty
        bar, gap = trace(figure, "observed frequency"), trace(figure, "gap to the mean score")
        assert bar.y.tolist() == gap.base.tolist() == filled(bins, bins.frequency)
        assert gap.y.tolist() == filled(bins, bins.gap)
        dots = trace(figure, "mean score")
        assert dots.x.tolist() == dots.y.tolist() == filled(bins, bins.mean_score)
        assert dots.mode == "markers"
        # A gap reaches from the frequency to the mean score.
        assert np.allclose(gap.base + gap.y, dots.y, rtol=0, atol=1e-15)


def test_error_bars_are_the_intervals(result: AuditResult) -> None:
    for _, side, beside in sides(result):
        figure, bins = reliability_diagram(side, beside, LIGHT), side.bins
        bars_drawn = trace(figure, "interval")
        assert bars_drawn.y[0::3].tolist() == filled(bins, side.binned.lower)
        assert bars_drawn.y[1::3].tolist() == filled(bins, side.binned.upper)
        assert np.isnan(bars_drawn.y[2::3]).all()  # each stands alone
        bar = trace(figure, "observed frequency")
        assert bars_drawn.x[0::3].tolist() == bars_drawn.x[1::3].tolist() == bar.x.tolist()
        names = [drawn.name for drawn in figure.data]
        assert names.index("interval") > names.index("gap to the mean score")


def test_the_intervals_are_wilsons_at_95_percent() -> None:
    # Newcombe 1998, table I, method 3.
    side = blocks((0.5, 263, 81), (0.9, 148, 15))
    bars_drawn = trace(reliability_diagram(side, side, LIGHT), "interval").y
    assert bars_drawn[:2].round(4).tolist() == [0.2553, 0.3662]
    assert bars_drawn[3:5].round(4).tolist() == [0.0624, 0.1605]


@pytest.mark.parametrize(("n_bins", "mode"), [(15, "lines+markers"), (100, "lines")])
def test_many_error_bars_have_no_caps(n_bins: int, mode: str) -> None:
    side = result_of(500, n_bins=n_bins).test.before
    assert trace(reliability_diagram(side, side, LIGHT), "interval").mode == mode


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_an_error_bar_is_separated_from_the_bar_by_an_edge(
    result: AuditResult, palette: Palette
) -> None:
    figure = reliability_diagram(*sides(result)[0][1:], palette)
    line, edge = trace(figure, "interval"), trace(figure, "edge of the interval")
    assert np.array_equal(line.x, edge.x, equal_nan=True)
    assert np.array_equal(line.y, edge.y, equal_nan=True)
    assert (edge.line.color, line.line.color) == (palette.ground, palette.text)
    assert edge.line.width > line.line.width
    assert figure.data.index(edge) < figure.data.index(line)


def test_bars_stand_on_their_bins(result: AuditResult) -> None:
    for _, side, beside in sides(result):
        figure, edges = reliability_diagram(side, beside, LIGHT), side.bins.edges
        for name in BARS:
            bar = trace(figure, name)
            assert np.allclose(bar.x - bar.width / 2, filled(side.bins, edges[:-1]), atol=1e-12)
            assert np.allclose(bar.x + bar.width / 2, filled(side.bins, edges[1:]), atol=1e-12)


def test_the_shares_are_the_counts(result: AuditResult) -> None:
    for _, side, beside in sides(result):
        shares = trace(reliability_diagram(side, beside, LIGHT), "share of rows")
        assert np.allclose(shares.y * 3000, filled(side.bins, side.bins.counts), atol=1e-9)
        assert shares.y.sum() == pytest.approx(1, abs=1e-12)
        assert shares.yaxis == "y2"


def test_the_diagonal_is_where_score_and_frequency_are_equal(result: AuditResult) -> None:
    line = trace(reliability_diagram(*sides(result)[0][1:], LIGHT), "score = frequency")
    assert list(line.x) == list(line.y) == [0, 1]
    assert (line.line.dash, line.line.width) == ("dot", 1)


def test_every_bar_says_its_numbers() -> None:
    side = blocks((0.5, 1500, 1200), (0.97, 500, 400))
    figure = reliability_diagram(side, side, LIGHT)
    words = [
        f"scores {scores}<br>observed frequency 80.0% (95% CI {interval})"
        for scores, interval in (
            ("46.7\u201353.3%<br>1,500 rows<br>mean score 50.0%", "77.9\u201381.9%"),
            ("93.3\u2013100.0%<br>500 rows<br>mean score 97.0%", "76.3\u201383.3%"),
        )
    ]
    for name in (*BARS, "mean score"):
        assert list(trace(figure, name).text) == words


def ranges(figure: Figure) -> list[list[float]]:
    return [list(figure.layout[axis].range) for axis in ("xaxis", "yaxis", "yaxis2")]


@pytest.mark.parametrize(
    ("side", "beside"),
    [
        (blocks((0.5, 100, 80)), blocks((0.1, 50, 0), (0.9, 50, 50))),
        (blocks((0.0, 10, 0), (1.0, 10, 10)), blocks((1.0, 20, 20))),
        (blocks((0.3, 1, 1)), blocks((0.3, 1, 0))),
    ],
)
def test_both_sides_share_axes_that_hold_everything(side: Side, beside: Side) -> None:
    one = reliability_diagram(side, beside, LIGHT)
    other = reliability_diagram(beside, side, LIGHT)
    assert ranges(one) == ranges(other)
    assert one.layout.yaxis2.tickvals == other.layout.yaxis2.tickvals
    for figure in (one, other):
        horizontal, vertical, below = ranges(figure)
        bar, shares = trace(figure, "observed frequency"), trace(figure, "share of rows")
        # Rounding of a bin's edge is far below a pixel.
        assert horizontal[0] <= (bar.x - bar.width / 2).min() + 1e-9
        assert (bar.x + bar.width / 2).max() <= horizontal[1] + 1e-9
        assert vertical[0] <= bar.y.min() <= bar.y.max() <= vertical[1]
        assert below[0] <= shares.y.min() <= shares.y.max() <= below[1]


@pytest.mark.parametrize("n_bins", [1, 7, 100])
def test_any_number_of_bins(n_bins: int) -> None:
    result = result_of(500, n_bins=n_bins)
    for _, side, beside in sides(result):
        bar = trace(reliability_diagram(side, beside, LIGHT), "observed frequency")
        assert bar.width == pytest.approx(1 / n_bins)
        assert len(bar.y) == np.count_nonzero(side.bins.counts)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_claim_and_truth_keep_their_colours(result: AuditResult, palette: Palette) -> None:
    figure = reliability_diagram(*sides(result)[0][1:], palette)
    assert trace(figure, "observed frequency").marker.color == palette.frequency
    assert trace(figure, "mean score").marker.color == palette.score
    assert trace(figure, "share of rows").marker.color == palette.score
    assert trace(figure, "gap to the mean score").marker.pattern.fgcolor == palette.text
    assert trace(figure, "score = frequency").line.color == palette.neutral
    assert trace(figure, "interval").line.color == palette.text


# Few rows, the plot, and the means ----------------------------------------------------------


def test_bins_with_few_rows_are_pale() -> None:
    side = blocks((0.1, 9, 3), (0.5, 10, 5), (0.9, 981, 900))
    figure = reliability_diagram(side, side, LIGHT)
    for name in BARS[:2]:
        pale, least, full = trace(figure, name).marker.opacity
        assert pale < 0.5 < least == full == 1


def test_points_of_the_plot_are_the_bin_table(result: AuditResult, keep: Keep) -> None:
    for name, side, beside in sides(result):
        figure, bins = reliability_diagram(side, beside, LIGHT, "plot"), side.bins
        keep(f"plot_{name}", figure)
        line = trace(figure, "observed frequency")
        assert line.x.tolist() == filled(bins, bins.mean_score)
        assert line.y.tolist() == filled(bins, bins.frequency)
        assert line.customdata.tolist() == filled(bins, bins.counts)
        by_size, by_rows = np.argsort(line.marker.size), np.argsort(filled(bins, bins.counts))
        assert by_size.tolist() == by_rows.tolist()
        # The gap is filled down to the diagonal.
        border = trace(figure, "mean score")
        assert border.x.tolist() == border.y.tolist() == line.x.tolist()
        assert (line.fill, line.fillcolor) == ("tonexty", LIGHT.gap)
        assert figure.data.index(line) == figure.data.index(border) + 1
        bars_drawn = trace(figure, "interval")
        assert bars_drawn.x[0::3].tolist() == line.x.tolist()
        assert bars_drawn.y[0::3].tolist() == filled(bins, side.binned.lower)
        assert bars_drawn.y[1::3].tolist() == filled(bins, side.binned.upper)


MEANS = {"mean of all scores": "mean score", "observed in all": "observed"}


def mean_notes(figure: Figure) -> dict[str, Any]:
    return {
        name: next(
            note
            for note in figure.layout.annotations
            if note.yref == "y2" and note.text.startswith(label)
        )
        for name, label in MEANS.items()
    }


@pytest.mark.parametrize("diagram", ["bins", "plot", "isotonic", "smoothed", "belt"])
def test_the_means_stand_over_the_histogram(result: AuditResult, diagram: Any) -> None:
    for _, side, beside in sides(result):
        figure = reliability_diagram(side, beside, LIGHT, diagram)
        wanted = {
            "mean of all scores": side.event.scores.mean(),
            "observed in all": side.event.hits.mean(),
        }
        for name, note in mean_notes(figure).items():
            line = trace(figure, name)
            assert line.x == pytest.approx([wanted[name]] * 2, abs=1e-12)
            assert line.yaxis == "y2"
            assert f"{MEANS[name]} {100 * wanted[name]:.1f}%" == note.text
            assert note.x == line.x[0]
            assert line.y[0] == 0
            assert line.y[1] == note.y < figure.layout.yaxis2.range[1]
        dashes = {trace(figure, name).line.dash for name in MEANS}
        assert len(dashes) == 2  # told apart without colour


@given(st.integers(0, 40), st.integers(0, 40))
def test_names_of_the_means_cross_neither_each_other_nor_the_other_line(
    score: int, hits: int
) -> None:
    side = blocks((score / 40, 40, hits))
    figure = reliability_diagram(side, side, LIGHT)
    share = figure.layout.yaxis2.range[1] / 1.01 / 1.65  # height of the longest bar
    notes = mean_notes(figure)
    one, other = notes.values()
    assert abs(one.y - other.y) > 0.2 * share
    assert min(one.y, other.y) > 1.1 * share
    for name, note in notes.items():
        # At phone width a name takes up to 0.42 of the axis.
        wide = 0.42 if note.xanchor == "left" else -0.42
        low, high = sorted((note.x, note.x + wide))
        assert -0.2 <= low < high <= 1.2
        (line,) = [trace(figure, line) for line in MEANS if line != name]
        crossed = low < line.x[0] < high and line.y[1] > note.y
        assert not crossed or line.x[0] == note.x
