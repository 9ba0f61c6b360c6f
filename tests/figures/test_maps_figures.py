"""Maps, triangles, sweeps and learning curves: what is drawn is what was found."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibcore.calibrators import (
    BetaCalibration,
    FittedTemperature,
    HistogramBinning,
    PlattScaling,
    SplineCalibration,
)
from calibcore.curves import (
    ClassMoves,
    KnotSweep,
    ScoreCurve,
    TemperatureSweep,
    grid_moves,
    score_curve,
)
from calibcore.data import EventScores
from calibcore.data_needed import (
    LEARNED,
    LearningCurve,
    LearningCurves,
    LearningPlan,
    LearningPoint,
)
from calibcore.evaluation import Side
from dashboard.figures import DARK, LIGHT, Palette
from dashboard.figures.data_needed import axis_limits, learning_graph, leaves
from dashboard.figures.intervals import LineEnd, looks, name_ends
from dashboard.figures.maps import (
    NamedCurve,
    chosen_rows,
    cloud_graph,
    leaves_bins_out,
    map_graph,
    odds_graph,
    shift_graph,
    triangle,
)
from dashboard.figures.sweeps import CALIBRATION, TEST, knot_graphs, temperature_graphs
from dashboard.settings import NO_METHOD
from dashboard.views.maps.words import shift_caption
from tests.figures.conftest import Keep
from tests.figures.small_results import Figure, events, result_of, texts, trace


@pytest.fixture(scope="module")
def side() -> Side:
    return result_of(3_000).test.before


def curves() -> list[NamedCurve]:
    rows = events(2_000)
    spline = SplineCalibration().fit(rows.scores, rows.hits)
    histogram = HistogramBinning(n_bins=4).fit(rows.scores, rows.hits)
    return [
        NamedCurve("Spline", score_curve(spline), chosen=True),
        NamedCurve("Histogram", score_curve(histogram)),
    ]


def names_of(figure: Figure) -> list[str]:
    """Names at the ends of lines, the lowest first."""
    notes = [note for note in figure.layout.annotations if note.xref == "paper"]
    return [note.text for note in sorted(notes, key=lambda note: float(note.y))]


# Maps -----------------------------------------------------------------------------------------


def test_fits_without_each_fold_are_thin_lines_behind(side: Side) -> None:
    first, second = curves()
    folds = (second.curve, first.curve)
    drawn = [NamedCurve("Spline", first.curve, chosen=True, folds=folds)]
    for graph, kept in ((map_graph, 0.0), (shift_graph, 1.0)):
        figure = graph(drawn, side, LIGHT)
        names = [line.name for line in figure.data]
        assert names.count("fold") == 2
        assert names.index("Spline") > names.index("fold") + 1
        thin = [line for line in figure.data if line.name == "fold"]
        assert {line.line.width for line in thin} == {1}
        ends = [float(one.calibrated[-1] - kept * one.score[-1]) for one in folds]
        assert [line.y[-1] for line in thin] == pytest.approx(ends, abs=1e-6)
        assert names_of(figure) == ["Spline"]


def test_curves_are_drawn_as_they_are_over_the_histogram(side: Side, keep: Keep) -> None:
    drawn = curves()
    figure = map_graph(drawn, side, LIGHT)
    keep("maps_curves", figure)
    for named in drawn:
        line = trace(figure, named.name)
        assert len(line.x) <= 1_000
        places = np.searchsorted(named.curve.score.astype(np.float32), line.x)
        assert (np.abs(named.curve.score[places] - line.x) < 1e-6).all()
        assert named.curve.calibrated.max() == pytest.approx(line.y.max(), abs=1e-6)
        assert named.curve.calibrated.min() == pytest.approx(line.y.min(), abs=1e-6)
    shares = side.bins.counts / side.bins.counts.sum()
    assert trace(figure, "share of rows").y.tolist() == shares[side.bins.counts > 0].tolist()
    seen = trace(figure, "observed frequency")
    filled = side.bins.counts > 0
    assert seen.y.tolist() == side.bins.frequency[filled].tolist()
    upper = seen.y + seen.error_y.array
    assert_allclose(upper, side.binned.upper[filled], rtol=1e-12)
    assert_allclose(seen.y - seen.error_y.arrayminus, side.binned.lower[filled], atol=1e-12)
    assert list(trace(figure, "unchanged").y) == [0, 1]


def test_on_log_odds_platt_is_a_line_and_beta_has_a_slope_at_each_end(keep: Keep) -> None:
    rows = events(2_000)
    platt = PlattScaling().fit(rows.scores, rows.hits)
    beta = BetaCalibration().fit(rows.scores, rows.hits)
    steps = NamedCurve("Steps", ScoreCurve(np.array([0.0, 0.5, 0.5, 1]), np.array([0.0, 0, 1, 1])))
    drawn = [NamedCurve("Platt", score_curve(platt)), NamedCurve("Beta", score_curve(beta)), steps]
    figure = odds_graph(drawn, LIGHT)
    keep("maps_odds", figure)
    assert {*names_of(figure)} == {"Platt", "Beta"}  # steps at 0% and 100% have no log-odds
    for fitted, name in ((platt, "Platt"), (beta, "Beta")):
        line = trace(figure, name)
        assert len(line.x) <= 1_000
        scores = 1 / (1 + np.exp(-line.x.astype(float)))
        odds = [math.log(p / (1 - p)) for p in fitted.predict(scores).tolist()]
        assert_allclose(line.y, odds, atol=1e-4)
    line = trace(figure, "Platt")
    assert_allclose(line.y, platt.slope * line.x + platt.intercept, atol=1e-5)
    line = trace(figure, "Beta")
    low, high = (
        float((line.y[b] - line.y[a]) / (line.x[b] - line.x[a])) for a, b in ((0, 1), (-2, -1))
    )
    assert (low, high) == pytest.approx((beta.a, beta.b), abs=0.02)
    assert abs(beta.a - beta.b) > 0.05
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        for place, text in zip(axis.tickvals, axis.ticktext, strict=True):
            assert float(text.removesuffix("%")) == pytest.approx(100 / (1 + math.exp(-place)))


def test_a_step_is_level_and_its_jump_upright(side: Side) -> None:
    line = trace(map_graph(curves(), side, LIGHT), "Histogram")
    held = line.x > 0.3  # the first bin is empty, so there scores stay as they are
    across, up = (np.diff(values[held].astype(np.float64)) for values in (line.x, line.y))
    jumps = np.abs(up) > 1e-6
    assert jumps.sum() == 2
    assert (across[jumps] < 1e-6).all()


def test_moves_are_the_curves_less_the_score(side: Side, keep: Keep) -> None:
    drawn = curves()
    figure = shift_graph(drawn, side, DARK)
    keep("maps_shift", figure)
    line = trace(figure, "Spline")
    expected = np.interp(line.x, drawn[0].curve.score, drawn[0].curve.calibrated) - line.x
    assert_allclose(line.y, expected, atol=1e-4)
    seen, usual = trace(figure, "observed frequency"), side.bins.counts >= 30
    assert 0 < usual.sum() < (side.bins.counts > 0).sum()
    assert leaves_bins_out(side)
    assert "under 1% of rows" in shift_caption(bins_left_out=True)
    assert_allclose(seen.y, (side.bins.frequency - side.bins.mean_score)[usual])
    axis = figure.layout.yaxis
    low, high = axis.range
    assert low == -high
    assert axis.title.text.endswith("(pp)")
    points = [float(text.replace("\u2212", "-")) for text in axis.ticktext]
    assert_allclose(points, 100 * np.array(axis.tickvals))
    assert_allclose(line.customdata, 100 * line.y, rtol=1e-5)
    assert (seen.y + seen.error_y.array).max() <= high
    assert (seen.y - seen.error_y.arrayminus).min() >= low
    assert list(trace(figure, "unchanged").y) == [0, 0]


def test_the_chosen_one_stands_out_and_others_differ_by_their_dashes(side: Side) -> None:
    figure = map_graph(curves(), side, LIGHT)
    assert (trace(figure, "Spline").line.color, trace(figure, "Spline").line.dash) == (
        LIGHT.score,
        "solid",
    )
    assert trace(figure, "Histogram").line.dash == "dash"
    results = looks(12, LIGHT)
    assert len({(look.colour, look.dash) for look in results}) == 12
    assert len({look.dash for look in results[:6]}) == 6


def test_names_stand_apart_and_in_order() -> None:
    look = looks(1, LIGHT)[0]
    heights_of = {"a": 0.99, "b": 0.98, "c": 2.0, "d": 1.0, "e": 0.1}
    ends = [LineEnd(name, height, look) for name, height in heights_of.items()]
    figure = map_graph([], result_of(50).test.before, LIGHT)
    name_ends(figure, ends, pixels=200)
    heights = {
        note.text: float(note.y) for note in figure.layout.annotations if note.text in "abcde"
    }
    assert sorted(heights, key=heights.__getitem__) == ["e", "b", "a", "d", "c"]
    assert min(np.diff(sorted(heights.values()))) > 0.08
    assert 0 <= min(heights.values()) < max(heights.values()) <= 1


def test_a_cloud_holds_few_rows_and_the_extremes(side: Side, keep: Keep) -> None:
    before = events(5_000)
    after = EventScores(before.scores**2, before.hits)
    figure = cloud_graph(before, after, side, ("correct", "wrong"), LIGHT)
    keep("maps_cloud", figure)
    right, wrong = trace(figure, "correct"), trace(figure, "wrong")
    x = np.concatenate([right.x, wrong.x])
    assert 990 <= x.size <= 1_000
    assert_allclose(np.concatenate([right.y, wrong.y]), x**2, rtol=1e-5)
    assert x.max() == np.float32(before.scores.max())
    assert x.min() == np.float32(before.scores.min())
    share = right.x.size / x.size
    assert share == pytest.approx(before.hits.mean(), abs=0.05)
    assert right.marker.symbol != wrong.marker.symbol


def test_few_rows_are_all_drawn() -> None:
    few = np.array([0.2, 0.9, 0.5])
    assert chosen_rows(few, few).tolist() == [0, 1, 2]
    rng = np.random.default_rng(0)
    before, after = rng.random(50_000), rng.random(50_000)
    chosen = chosen_rows(before, after)
    assert chosen.size <= 1_000
    for scores in (before, after):
        assert {int(scores.argmin()), int(scores.argmax())} <= set(chosen.tolist())


# Triangle -------------------------------------------------------------------------------------


def test_arrows_lead_from_before_to_after(keep: Keep) -> None:
    moves = grid_moves(FittedTemperature(2.0), n_steps=6)
    figure = triangle(moves, ("<i>a</i>", "b $c$", "d" * 40), "Grid", LIGHT)
    keep("triangle", figure)
    arrows, starts = trace(figure, "after"), trace(figure, "before")
    n_arrows = len(moves.before)
    x, y = arrows.x.reshape(n_arrows, 3), arrows.y.reshape(n_arrows, 3)
    assert np.isnan(x[:, 2]).all()
    for found_x, found_y, table in (
        (x[:, 0], y[:, 0], moves.before),
        (x[:, 1], y[:, 1], moves.after),
    ):
        # Read the probabilities back from the place in the triangle.
        third = found_y / (np.sqrt(3) / 2)
        second = found_x - third / 2
        assert_allclose(np.stack([1 - second - third, second, third], axis=1), table, atol=1e-6)
    assert_allclose(starts.x, x[:, 0], atol=1e-6)
    corners = [note.text for note in figure.layout.annotations]
    assert corners == ["<b>&lt;i&gt;a&lt;/i&gt;</b>", "<b>b c</b>", f"<b>{'d' * 25}\u2026</b>"]
    assert not any("<i>" in text or "$" in text for text in texts(figure))
    assert list(arrows.marker.size[:3]) == [0, 8, 0]


def test_certain_rows_are_in_the_corners() -> None:
    sure = np.eye(3)
    figure = triangle(ClassMoves(sure, sure), ("a", "b", "c"), "Rows", DARK)
    starts = trace(figure, "before")
    assert_allclose(starts.x, [0, 1, 0.5])
    assert_allclose(starts.y, [0, 0, np.sqrt(3) / 2])


# Sweeps ---------------------------------------------------------------------------------------


def sweep(temperatures: list[float], base: float = 0.3) -> TemperatureSweep:
    at = np.array(temperatures)
    away = np.log(at / 2) ** 2
    return TemperatureSweep(at, base + 4 * away, 0.2 * at, 0.01 + 0.1 * away, 0.02 + 0 * at, 15)


def test_temperatures_are_drawn_and_marked(keep: Keep) -> None:
    swept = sweep(np.geomspace(0.1, 10, 41).tolist())
    fitted, by_hand = sweep([2.1]), sweep([0.7])
    names = ("fitted 2.1", "manual 0.7")
    graphs = temperature_graphs(swept, fitted, by_hand, names, LIGHT)
    assert list(graphs) == ["nll", "entropy", "ece"]
    for field, title in (("nll", "NLL"), ("entropy", "Entropy"), ("ece", "ECE")):
        figure = graphs[field]
        keep(f"temperature_{field}", figure)
        line = trace(figure, title)
        assert line.x.tolist() == swept.temperatures.tolist()
        assert line.y.tolist() == getattr(swept, field).tolist()
        for name, at in zip(names, (fitted, by_hand), strict=True):
            mark = trace(figure, name)
            assert list(mark.x) == [at.temperatures[0]]
            assert list(mark.y) == [getattr(at, field)[0]]
            assert mark.y[0] < figure.layout.yaxis.range[1]
        sides = {note.text: note.xanchor for note in figure.layout.annotations}
        assert sides == {"fitted 2.1": "left", "manual 0.7": "right"}
        assert figure.layout.xaxis.type == "log"
    # Far away the NLL is many times as high, and is cut.
    assert graphs["nll"].layout.yaxis.range[1] < swept.nll.max() / 2
    assert graphs["entropy"].layout.yaxis.range[0] == pytest.approx(0, abs=0.05)


def test_equal_temperatures_keep_their_names_apart() -> None:
    swept = sweep([0.5, 1.0, 2.0])
    names = ("fitted 1", "manual 1")
    figure = temperature_graphs(swept, sweep([1.0]), sweep([1.0]), names, DARK)["nll"]
    assert {note.xanchor for note in figure.layout.annotations} == {"left", "right"}


def test_knots_are_drawn_for_both_sets(keep: Keep) -> None:
    n_knots = np.arange(3, 13)
    test = np.asarray(0.02 + 0.001 * (n_knots - 7) ** 2, dtype=np.float64)
    seen = np.asarray(0.05 / n_knots, dtype=np.float64)
    swept = KnotSweep(n_knots, seen, test, seen + 0.3, test + 0.3)
    graphs = knot_graphs(swept, {9: "chosen 9", 40: "chosen 40", 5: "manual 5"}, LIGHT)
    figure = graphs["KS error"]
    keep("knots_ks", figure)
    assert trace(figure, TEST).y.tolist() == test.tolist()
    assert trace(figure, CALIBRATION).y.tolist() == seen.tolist()
    assert list(trace(figure, "manual 5").y) == [test[2], seen[2]]
    assert list(trace(figure, "chosen 9").x) == [9, 9]
    assert "chosen 40" not in {line.name for line in figure.data}
    assert names_of(figure) == [CALIBRATION, TEST]
    nll = graphs["NLL (event)"]
    assert trace(nll, TEST).y.tolist() == (test + 0.3).tolist()
    assert "nats" in nll.layout.yaxis.title.text
    wild = np.where(n_knots == 12, 9.0, test)
    graphs = knot_graphs(KnotSweep(n_knots, seen, test, seen, wild), {5: "manual 5"}, LIGHT)
    assert names_of(graphs["NLL (event)"]) == [CALIBRATION, f"{TEST} \u2191"]
    assert graphs["NLL (event)"].layout.yaxis.range[1] < 0.2


# Learning curves ------------------------------------------------------------------------------


def learnt() -> LearningCurves:
    rng = np.random.default_rng(4)
    plan = LearningPlan((50, 200, 800), n_draws=10)

    def curve(key: str, start: float, *, nll: bool = True, n_draws: int = 10) -> LearningCurve:
        points = []
        for size in plan.sizes:
            values = start / np.sqrt(size) + 0.01 * rng.random((n_draws, len(LEARNED)))
            if not nll:
                values[:, LEARNED.index("nll")] = np.nan
            points.append(LearningPoint(size, values, ()))
        return LearningCurve(key, tuple(points))

    steady = np.full((1, len(LEARNED)), 0.05)
    nothing = tuple(LearningPoint(size, steady, ()) for size in plan.sizes)
    drawn = (LearningCurve(NO_METHOD, nothing), curve("spline", 0.3, nll=False), curve("beta", 3.0))
    return LearningCurves(drawn, plan)


NAMES = {NO_METHOD: "Uncalibrated", "spline": "Spline", "beta": "Beta"}


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_learning_curves_are_means_with_the_middle_of_the_draws(
    palette: Palette, keep: Keep
) -> None:
    result = learnt()
    figure = learning_graph(result, "ece", "ECE", NAMES, palette, "spline")
    keep("learning_ece", figure)
    for key in ("spline", "beta"):
        line, curve = trace(figure, NAMES[key]), result.curve(key)
        mean = curve.mean("ece")
        assert line.y.tolist() == mean.tolist()
        assert_allclose(line.x, curve.sizes, rtol=0.05)  # a little apart, so that all is seen
        assert line.customdata[:, 0].tolist() == [50, 200, 800]
        seen = mean <= figure.layout.yaxis.range[1]
        upper = mean + np.asarray(line.error_y.array)
        lower = mean - np.asarray(line.error_y.arrayminus)
        assert_allclose(upper[seen], curve.quantile("ece", 0.9)[seen])
        assert_allclose(lower[seen], curve.quantile("ece", 0.1)[seen])
    assert trace(figure, "Uncalibrated").y.tolist() == [0.05] * 3
    assert trace(figure, "Uncalibrated").error_y.array is None
    assert trace(figure, "Spline").line.width > trace(figure, "Beta").line.width
    assert figure.layout.xaxis.type == "log"


def test_methods_without_the_measure_are_left_out() -> None:
    figure = learning_graph(learnt(), "nll", "NLL", NAMES, LIGHT)
    assert {line.name for line in figure.data} == {"Uncalibrated", "Beta"}


def test_what_is_far_worse_than_uncalibrated_leaves_the_graph() -> None:
    result = learnt()
    low, high = axis_limits(list(result.curves), "ece")
    assert low == 0
    assert result.curve("beta").mean("ece")[0] > 4 * high
    assert high > 0.05
    figure = learning_graph(result, "ece", "ECE", NAMES, LIGHT)
    assert names_of(figure)[-1] == "Beta \u2191"
    assert np.isnan(trace(figure, "Beta").error_y.array[0])
    assert leaves(result, "ece")
    assert not leaves(result, "accuracy")
    assert axis_limits([], "ece") == (0.0, 1.0)


@pytest.mark.parametrize(
    ("measure", "ends", "cut"),
    [
        ("accuracy", (0.02, 0.09), False),
        ("accuracy", (0.02, 0.9), False),
        ("ece", (0.02, 0.09), False),
        ("ece", (0.0, 0.13), True),
        ("nll", (0.02, 0.09), False),
        ("event_nll", (0.0, 0.13), True),
    ],
)
def test_no_error_bar_is_cut_unless_the_caption_says_so(
    measure: str, ends: tuple[float, float], *, cut: bool
) -> None:
    """Uncalibrated, the error is 0.05, so that errors up to 0.1 have their place."""
    usual = learnt()
    first = np.repeat(np.linspace(*ends, 10)[:, None], len(LEARNED), axis=1)
    rest = [LearningPoint(size, first * 0 + 0.04, ()) for size in usual.plan.sizes[1:]]
    wide = LearningCurve("spline", (LearningPoint(50, first, ()), *rest))
    result = LearningCurves((usual.curve(NO_METHOD), wide), usual.plan)
    figure = learning_graph(result, measure, measure, NAMES, LIGHT)
    bottom, top = figure.layout.yaxis.range
    line = trace(figure, "Spline")
    assert line.y[0] - line.error_y.arrayminus[0] == pytest.approx(wide.quantile(measure, 0.1)[0])
    assert line.y[0] - line.error_y.arrayminus[0] >= bottom
    assert (line.y[0] + line.error_y.array[0] > top) == cut
    assert leaves(result, measure) == cut


def test_a_curve_of_a_map_that_is_constant_is_drawn() -> None:
    flat = ScoreCurve(np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    one = result_of(50).test.before
    figure = shift_graph([NamedCurve("Flat", flat)], one, LIGHT)
    assert trace(figure, "Flat").y.tolist() == [0.5, -0.5]
