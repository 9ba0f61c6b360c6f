"""The isotonic and the smoothed diagram: lines and bands are the result objects."""

import re

import numpy as np
import pytest

from calibcore.auditing import AuditResult
from calibcore.evaluation import Side
from dashboard.figures import DARK, LIGHT, Diagram, Palette, reliability_diagram
from dashboard.figures.reliability import PALE_BELOW
from dashboard.texts.reliability import NO_BELT, belt_caption
from tests.figures.conftest import Keep
from tests.figures.small_results import (
    Figure,
    Floats,
    blocks,
    curves,
    outline,
    result_of,
    side_of,
    sides,
    trace,
)

CURVES: tuple[Diagram, ...] = ("isotonic", "smoothed")
each_curve = pytest.mark.parametrize("diagram", CURVES)
each_palette = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
float32 = np.float32


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return result_of(3000)


def whole(figure: Figure, name: str) -> Floats:
    """One band that has no gap: place, lowest and highest a row."""
    (stretch,) = outline(trace(figure, name))
    return np.stack(stretch)


def names(figure: Figure) -> list[str]:
    return [drawn.name for drawn in figure.data]


# Isotonic -----------------------------------------------------------------------------------


def test_the_isotonic_curve_is_its_steps(result: AuditResult, keep: Keep) -> None:
    for name, side, beside in sides(result):
        figure, answer = reliability_diagram(side, beside, LIGHT, "isotonic"), side.corp
        keep(f"isotonic_{name}", figure)
        line = trace(figure, "observed frequency")
        assert line.x[0::2].tolist() == answer.first.astype(float32).tolist()
        assert line.x[1::2].tolist() == answer.last.astype(float32).tolist()
        assert line.y[0::2].tolist() == answer.step_frequency.astype(float32).tolist()
        assert line.y[0::2].tolist() == line.y[1::2].tolist()
        assert line.customdata[0::2].tolist() == answer.step_count.tolist()
        assert (np.diff(line.y) >= 0).all()


def test_the_isotonic_bands_are_the_results(result: AuditResult) -> None:
    for _, side, beside in sides(result):
        figure = reliability_diagram(side, beside, LIGHT, "isotonic")
        for name, band in (
            ("consistency band", side.corp.consistency),
            ("confidence band", side.corp.confidence),
        ):
            wanted = np.stack([band.score, band.lower, band.upper]).astype(float32)
            assert whole(figure, name).tolist() == wanted.tolist()


@each_palette
def test_one_band_is_filled_and_the_other_outlined(result: AuditResult, palette: Palette) -> None:
    side = result.test.before
    figure = reliability_diagram(side, side, palette, "isotonic")
    grey, outlined = trace(figure, "consistency band"), trace(figure, "confidence band")
    assert (grey.fillcolor, grey.line.dash) == (palette.band, "solid")
    assert (outlined.fillcolor, outlined.line.dash) == ("rgba(0,0,0,0)", "dot")
    assert outlined.line.color == trace(figure, "observed frequency").line.color
    assert grey.text.startswith("95% consistency band,<br>if perfectly calibrated")
    assert outlined.text.startswith("95% confidence band,")
    (label,) = [note for note in figure.layout.annotations if note.yref == "paper"]
    text = re.sub("<[^>]*>", "", label.text)
    assert [part[2:] for part in text.split("\u2002 ")] == [
        "Observed frequency",
        "95% CI",
        "Perfectly calibrated",
    ]


def test_very_many_steps_are_thinned() -> None:
    # Rising in 3,000 steps: two rows a score, of which one more is a hit now and then.
    n_steps = 1500
    side = blocks(*((0.1 + k / 2000, 2 * n_steps, 2 * k) for k in range(n_steps)))
    assert side.corp.first.size == n_steps
    line = trace(reliability_diagram(side, side, LIGHT, "isotonic"), "observed frequency")
    assert line.x.size <= 400
    assert line.y.max() == float32(side.corp.step_frequency.max())
    assert line.y.min() == float32(side.corp.step_frequency.min())


# Smoothed -----------------------------------------------------------------------------------

LINES = ("mean score", "observed frequency")


def test_the_smoothed_lines_are_the_result_and_pale_where_rows_are_few(
    result: AuditResult, keep: Keep
) -> None:
    for name, side, beside in sides(result):
        figure, answer = reliability_diagram(side, beside, LIGHT, "smoothed"), side.smooth
        keep(f"smoothed_{name}", figure)
        dense = answer.density >= PALE_BELOW
        assert 0 < dense.sum() < dense.size
        for line, values in zip(LINES, (answer.mean_score, answer.frequency), strict=True):
            pale, strong = trace(figure, f"{line}, few rows"), trace(figure, line)
            assert np.array_equal(pale.x, answer.score.astype(float32))
            assert np.array_equal(pale.y, values.astype(float32), equal_nan=True)
            assert np.array_equal(strong.y[dense], values[dense].astype(float32), equal_nan=True)
            assert np.isnan(strong.y[~dense]).all()
            assert pale.opacity < 0.5 < strong.opacity == 1


def test_the_smoothed_band_is_the_results_with_its_gaps() -> None:
    side = blocks((0.1, 3000, 300), (0.9, 3000, 2700))  # nothing near the middle
    figure, band = reliability_diagram(side, side, LIGHT, "smoothed"), side.smooth.confidence
    stretches = outline(trace(figure, "confidence band"))
    assert len(stretches) == 2
    known = ~np.isnan(band.lower)
    wanted = np.stack([band.score, band.lower, band.upper])[:, known].astype(float32)
    drawn = np.concatenate([np.stack(stretch) for stretch in stretches], axis=1)
    assert drawn.tolist() == wanted.tolist()


@each_palette
def test_the_smoothed_lines_keep_their_colours(result: AuditResult, palette: Palette) -> None:
    side = result.test.before
    figure = reliability_diagram(side, side, palette, "smoothed")
    for line, colour in zip(LINES, (palette.score, palette.frequency), strict=True):
        assert trace(figure, line).line.color == colour
        assert trace(figure, f"{line}, few rows").line.color == colour
    assert trace(figure, "confidence band").fillcolor == palette.gap
    (label,) = [note for note in figure.layout.annotations if note.yref == "paper"]
    answer = re.findall(r'color:([^"]+)">. (?:<b>)?([\w ]+)', label.text)
    assert answer == [(palette.frequency, "Observed frequency"), (palette.score, "Mean score")]


# Both ---------------------------------------------------------------------------------------


@each_curve
def test_bands_are_behind_and_bars_below(result: AuditResult, diagram: Diagram) -> None:
    for _, side, beside in sides(result):
        figure = reliability_diagram(side, beside, LIGHT, diagram)
        order = names(figure)
        bands = {"consistency band", "confidence band"} & set(order)
        assert max(map(order.index, bands)) < order.index("observed frequency")
        bins = reliability_diagram(side, beside, LIGHT)
        below, wanted = trace(figure, "share of rows"), trace(bins, "share of rows")
        assert below.to_json() == wanted.to_json()
        assert list(trace(figure, "score = frequency").x) == [0, 1]
        for axis in ("xaxis", "yaxis", "yaxis2"):
            assert figure.layout[axis] == bins.layout[axis]
        assert figure.layout.height == bins.layout.height


def test_each_way_has_a_title_of_its_own(result: AuditResult) -> None:
    side = result.test.before
    ways: tuple[Diagram, ...] = ("bins", "plot", *CURVES, "belt")
    titles = {reliability_diagram(side, side, LIGHT, way).layout.title.text for way in ways}
    assert len(titles) == 5
    assert all(title.startswith("Reliability ") for title in titles)


@each_curve
def test_lines_and_bands_are_light(result: AuditResult, diagram: Diagram) -> None:
    for name, figure in curves(result).items():
        if name.endswith(diagram):
            lines = [one for one in figure.data if one.type == "scatter" and len(one.x) > 2]
            assert {one.x.dtype.name for one in lines} == {"float32"}
            assert {one.y.dtype.name for one in lines} == {"float32"}
            assert len(figure.to_json()) < 100_000


@each_curve
@pytest.mark.parametrize(
    "side",
    [
        side_of([0.4], [1]),
        side_of([0.0] * 20, [0] * 20),
        side_of([1.0] * 20, [1] * 20),
        blocks((0.5, 100, 80)),
        blocks((0.0, 10, 0), (1.0, 10, 10)),
    ],
)
def test_few_rows_and_one_score_are_drawn(side: Side, diagram: Diagram) -> None:
    figure = reliability_diagram(side, side, LIGHT, diagram)
    heights = np.concatenate([one.y for one in figure.data if one.name == "observed frequency"])
    known = heights[~np.isnan(heights)]
    assert known.size
    assert 0 <= known.min() <= known.max() <= 1


@pytest.mark.parametrize("diagram", ["bins", "plot", *CURVES])
def test_the_names_stand_above_what_is_drawn(result: AuditResult, diagram: Diagram) -> None:
    side = result.test.before
    notes = reliability_diagram(side, side, LIGHT, diagram).layout.annotations
    (label,) = [note for note in notes if "Observed frequency" in note.text]
    assert (label.xref, label.yref, label.y, label.yanchor) == ("paper", "paper", 1, "bottom")


def test_the_belt_is_drawn_as_it_is(result: AuditResult) -> None:
    for _, side, beside in sides(result):
        figure, belt = reliability_diagram(side, beside, LIGHT, "belt"), side.belt
        assert belt is not None
        line = trace(figure, "observed frequency")
        assert line.x.tolist() == belt.score.astype(float32).tolist()
        assert line.y.tolist() == belt.frequency.astype(float32).tolist()
        for place, name in enumerate(("80% belt", "95% belt")):
            drawn = whole(figure, name)
            wanted = np.stack([belt.score, belt.lower[place], belt.upper[place]])
            assert np.array_equal(drawn, wanted.astype(float32))


def test_rows_without_a_belt_have_none() -> None:
    side = side_of([0.2] * 20 + [0.7] * 20, [0] * 20 + [1] * 20)
    figure = reliability_diagram(side, side, LIGHT, "belt")
    assert "80% belt" not in names(figure)
    assert belt_caption(side) == NO_BELT


def test_the_caption_says_where_the_belt_leaves_the_diagonal() -> None:
    side = side_of([0.1] * 400 + [0.5] * 400 + [0.9] * 400, [1, 0, 0, 0, 0] * 80 + [0, 1] * 200
                   + [1, 1, 1, 1, 0] * 80)  # fmt: skip
    assert belt_caption(side) == (
        "The 95% belt is above the diagonal (scores too low) at 10.0\u201337.6%, below it (scores"
        " too high) at 62.4\u201390.0%."
    )
    assert "Degree 1 by forward selection from 1" in belt_caption(side, expert=True)
    true = side_of([0.1] * 100 + [0.5] * 100, ([1] + [0] * 9) * 10 + [0, 1] * 50)
    assert belt_caption(true) == "The 95% belt holds the diagonal at all scores."
