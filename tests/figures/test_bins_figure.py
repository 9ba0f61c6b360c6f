"""The error against the number of bins: the lines are the sweep; and the sentences beside it."""

from dataclasses import replace

import numpy as np
import pytest

from calibcore.metrics.binned import BinSweep, bin_sweep
from dashboard.figures import DARK, LIGHT, Palette, bins_graph
from dashboard.figures.bins import EVEN, KS, PERFECT, WIDE
from dashboard.texts.power import power_sentence, sweep_caption
from tests.figures.conftest import Keep
from tests.figures.small_results import Figure, blocks, pct, result_of, trace


@pytest.fixture(scope="module")
def sides() -> tuple[BinSweep, BinSweep]:
    evaluated = result_of(3000).test
    before, after = evaluated.before.event, evaluated.after.event
    return bin_sweep(before.scores, before.hits), bin_sweep(after.scores, after.hits)


def names(figure: Figure) -> dict[str, float]:
    """Where each name stands, as a share of the height."""
    return {
        note.text.removeprefix("<b>").removesuffix("</b>"): note.y
        for note in figure.layout.annotations
        if note.xref == "paper"
    }


def test_the_lines_are_the_sweep(sides: tuple[BinSweep, BinSweep], keep: Keep) -> None:
    for name, sweep, beside in (("before", *sides), ("after", *sides[::-1])):
        figure = bins_graph(sweep, beside, 15, LIGHT)
        keep(f"bins_{name}", figure)
        lines = {WIDE: sweep.equal_width, EVEN: sweep.equal_mass}
        for kind, values in (lines | {PERFECT: sweep.limit_equal_width}).items():
            line = trace(figure, kind)
            assert line.x.tolist() == list(range(2, 101))
            assert line.y.tolist() == values.tolist()
        assert list(trace(figure, KS).x) == [0, 100]
        assert list(trace(figure, KS).y) == [sweep.ks_error] * 2
        assert trace(figure, PERFECT).fill == "tozeroy"
        assert (trace(figure, EVEN).line.dash, trace(figure, WIDE).line.dash) == ("dash", None)


@pytest.mark.parametrize("n_bins", [2, 15, 100])
def test_the_chosen_number_is_marked(sides: tuple[BinSweep, BinSweep], n_bins: int) -> None:
    figure = bins_graph(*sides, n_bins, LIGHT)
    mark = trace(figure, "chosen")
    assert (list(mark.x), list(mark.y)) == ([n_bins], [sides[0].equal_width[n_bins - 2]])
    (note,) = [note for note in figure.layout.annotations if note.xref != "paper"]
    assert note.text == f"{n_bins} bins"
    low, high = figure.layout.yaxis.range
    assert low < note.y < high
    # It stays inside the graph, clear of the lines.
    assert note.xanchor == ("right" if n_bins == 100 else "left")
    assert abs(note.y - sides[0].equal_width[n_bins - 2]) > 0.2 * high


@pytest.mark.parametrize("off", [-0.01, -0.001, 0.0, 0.001, 0.01])
def test_the_chosen_number_is_not_struck_through(
    sides: tuple[BinSweep, BinSweep], off: float
) -> None:
    def named(sweep: BinSweep) -> tuple[float, float]:
        figure = bins_graph(sweep, sides[1], 15, LIGHT)
        (note,) = [note for note in figure.layout.annotations if note.xref != "paper"]
        return float(note.y), float(figure.layout.yaxis.range[1])

    level = replace(sides[0], ks_error=named(sides[0])[0] + off)
    place, high = named(level)
    assert abs(place - level.ks_error) > 0.08 * high
    assert 0 < place < high


def test_one_bin_is_not_on_the_line(sides: tuple[BinSweep, BinSweep]) -> None:
    drawn = {line.name for line in bins_graph(*sides, 1, LIGHT).data}
    assert drawn == {WIDE, EVEN, KS, PERFECT}


def test_both_sides_share_an_axis_that_holds_everything(sides: tuple[BinSweep, BinSweep]) -> None:
    ranges = []
    for sweep, beside in (sides, sides[::-1]):
        figure = bins_graph(sweep, beside, 15, LIGHT)
        ranges.append(list(figure.layout.yaxis.range))
        for line in figure.data:
            assert ranges[-1][0] <= min(line.y) <= max(line.y) <= ranges[-1][1]
            assert figure.layout.xaxis.range[0] <= min(line.x)
            assert max(line.x) <= figure.layout.xaxis.range[1]
    assert ranges[0] == ranges[1]


def test_names_stand_at_the_ends_and_apart(sides: tuple[BinSweep, BinSweep]) -> None:
    for sweep, beside in (sides, sides[::-1]):
        figure = bins_graph(sweep, beside, 15, LIGHT)
        result = names(figure)
        assert set(result) == {WIDE, EVEN, KS, PERFECT}
        heights = sorted(result.values())
        assert min(np.diff(heights)) > 0.08
        ends = {WIDE: sweep.equal_width[-1], EVEN: sweep.equal_mass[-1], KS: sweep.ks_error}
        by_height = sorted(ends, key=result.__getitem__)
        assert by_height == sorted(ends, key=lambda name: float(ends[name]))


@pytest.mark.parametrize("values", [(0.9, 0.9, 0.9, 0.9), (0.0, 0.0, 0.0, 0.0), (0.9, 0, 0.8, 1)])
def test_names_of_lines_that_meet_stay_apart_and_below_the_top(
    values: tuple[float, float, float, float],
) -> None:
    wide, even, perfect = (np.full(99, value) for value in values[:3])
    sweep = BinSweep(np.arange(2, 101), wide, even, perfect, values[3])
    heights = sorted(names(bins_graph(sweep, sweep, 15, LIGHT)).values())
    assert min(np.diff(heights)) > 0.08
    assert heights[-1] <= 1


def test_nothing_to_see_is_drawn_too() -> None:
    sure = bin_sweep([1.0, 1.0], [1, 1])
    figure = bins_graph(sure, sure, 15, LIGHT)
    assert figure.layout.yaxis.range[1] > 0
    assert trace(figure, WIDE).y.tolist() == [0.0] * 99


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_colours(sides: tuple[BinSweep, BinSweep], palette: Palette) -> None:
    figure = bins_graph(*sides, 15, palette)
    assert trace(figure, KS).line.color == trace(figure, "chosen").marker.color == palette.text
    assert trace(figure, WIDE).line.color == trace(figure, EVEN).line.color == palette.neutral
    assert trace(figure, PERFECT).fillcolor == palette.band


def test_every_line_says_its_numbers(sides: tuple[BinSweep, BinSweep]) -> None:
    figure = bins_graph(*sides, 15, LIGHT)
    assert "bins of equal width: ECE %{y:.2%}" in trace(figure, WIDE).hovertemplate
    assert "bins of equal mass: ECE %{y:.2%}" in trace(figure, EVEN).hovertemplate
    assert "if perfectly calibrated" in trace(figure, PERFECT).hovertemplate


# Sentences ----------------------------------------------------------------------------------


def test_the_caption_gives_the_range_of_both_kinds() -> None:
    sizes = np.arange(2, 101)
    wide, even = np.full(99, 0.05), np.full(99, 0.055)
    wide[:3], wide[50], even[70] = 0.5, 0.049, 0.0612  # fewer than five bins do not count
    sweep = BinSweep(sizes, wide, even, wide, ks_error=0.0507)
    assert sweep_caption(sweep, 3_000) == (
        f"With 5 to 100 bins the same rows give an ECE between 4.9 and {pct('6.1')}. The KS error"
        f" needs no bins: {pct('5.1')}."
    )
    assert f"between 4.90 and {pct('6.12')}" in sweep_caption(sweep, 60_000)


def test_the_caption_where_nothing_wanders() -> None:
    flat = np.full(99, 0.05)
    sweep = BinSweep(np.arange(2, 101), flat, flat, flat, ks_error=0.05)
    assert f"give an ECE of {pct('5.0')}. The KS" in sweep_caption(sweep, 3_000)


def test_the_power_sentence() -> None:
    side = blocks((0.5, 2_500, 1_250))
    # A hit more than 2.2414 deviations of 25, 57; and 0.8416 deviations more: 78.04 of 2,500.
    assert power_sentence(side, 2_500) == (
        "2,500 rows detect a mean gap of 3.1 percentage points with 80% power."
    )
