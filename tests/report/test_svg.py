"""Figures as static pictures: each thing where its numbers say, by hand arithmetic."""

import re
from typing import Any

import pytest

from dashboard.document.svg import WIDTH, svg_of, text_lines, tick_text

FONT = {"size": 12, "color": "#111"}


def sent(*data: dict[str, Any], **layout: Any) -> dict[str, Any]:
    """A plot of 300 by 100 units whose left lower corner is at (50, 120)."""
    axis = {"range": [0, 10], "showgrid": False, "tickvals": []}
    usual = {
        "height": 150, "margin": {"l": 50, "r": WIDTH - 350, "t": 20, "b": 30}, "font": FONT,
        "title": {"text": "", "font": FONT}, "xaxis": axis, "yaxis": axis,
    }  # fmt: skip
    return {"data": list(data), "layout": usual | layout}


def line(x: list[Any], y: list[Any], **more: Any) -> dict[str, Any]:
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": {"color": "#f00"}} | more


def paths(svg: str) -> list[str]:
    return re.findall(r'<path d="([^"]*)"', svg)


def test_a_line_is_where_its_numbers_say_and_ends_at_gaps() -> None:
    svg = svg_of(sent(line([0, 5, None, 10], [0, 10, None, 5])), alt="a", name="n")
    assert paths(svg) == ["M50 120L200 20M350 70"]


def test_what_lies_beyond_the_axes_is_cut_off() -> None:
    svg = svg_of(sent(line([0, 20], [0, 20])), alt="a", name="n")
    assert '<rect x="50" y="20" width="300" height="100"/></clipPath>' in svg
    assert 'clip-path="url(#n-clip-0)"' in svg


def test_areas_reach_to_the_line_before_or_to_zero() -> None:
    low, high = line([0, 10], [2, 2]), line([0, 10], [4, 4], fill="tonexty", fillcolor="#0f0")
    assert "M50 80L350 80L350 100L50 100Z" in paths(svg_of(sent(low, high), alt="a", name="n"))
    zero = line([0, 10], [4, 4], fill="tozeroy", fillcolor="#0f0")
    assert "M50 80L350 80L350 120L50 120Z" in paths(svg_of(sent(zero), alt="a", name="n"))


def test_bars_have_their_width_and_base() -> None:
    bar = {
        "type": "bar",
        "x": [5],
        "y": [4],
        "base": [2],
        "width": [2],
        "marker": {"color": "#00f"},
    }
    svg = svg_of(sent(bar), alt="a", name="n")
    assert '<rect x="170" y="60" width="60" height="40" fill="#00f" opacity="1" />' in svg


def test_hatched_bars_name_their_own_pattern() -> None:
    marker = {"color": "#0", "pattern": {"shape": "/", "fgcolor": "#123", "size": 5}}
    bar = {"type": "bar", "x": [5], "y": [4], "width": [2], "marker": marker}
    svg = svg_of(sent(bar), alt="a", name="m")
    assert '<pattern id="m-0"' in svg
    assert 'fill="url(#m-0)"' in svg


@pytest.mark.parametrize(
    ("symbol", "drawn"),
    [
        ("circle", "<circle cx"),
        ("line-ew", "M197 70L203 70"),
        ("diamond-open", "M196.1 70L200 66.1L203.9 70L200 73.9Z"),
        ("triangle-right", "M203 70L197.9 67L197.9 73Z"),
    ],
)
def test_markers_are_at_their_points(symbol: str, drawn: str) -> None:
    marker = {"symbol": symbol, "size": 6, "color": "#00f"}
    points = {"type": "scatter", "mode": "markers", "x": [5], "y": [5], "marker": marker}
    assert drawn in svg_of(sent(points), alt="a", name="n")


def test_markers_at_the_edge_are_whole_and_those_beyond_it_are_not_drawn() -> None:
    points = {"type": "scatter", "mode": "markers", "x": [10, 11], "y": [5, 5], "marker": {}}
    assert svg_of(sent(points), alt="a", name="n").count("<circle") == 2  # one of them cut off
    whole = svg_of(sent(points | {"cliponaxis": False}), alt="a", name="n")
    assert whole.count("<circle") == 1
    assert "clip" not in whole


def test_long_names_of_ticks_are_turned_and_titles_of_two_lines_begin_where_those_of_one_do() -> (
    None
):
    title = {"text": "Gap<br>better to the left", "font": {"size": 12}}
    axis = {"range": [0, 1], "tickvals": [0.5], "ticktext": ["2024"], "tickangle": -60}
    svg = svg_of(sent(xaxis=axis | {"title": title}), alt="a", name="n")
    assert 'transform="rotate(-60 200 132.4)" text-anchor="end"' in svg
    one = svg_of(sent(xaxis=axis | {"title": title | {"text": "Gap"}}), alt="a", name="n")
    first = r'<tspan x="200" y="([\d.]+)">Gap'
    assert re.findall(first, svg) == re.findall(first, one) == ["154.2"]


def test_a_number_on_clear_ground_covers_what_is_behind_it() -> None:
    note = {"x": 5, "y": 5, "text": "0.3", "bgcolor": "#fff"}
    svg = svg_of(sent(annotations=[note]), alt="a", name="n")
    assert 'stroke="#fff" stroke-width="4" paint-order="stroke"' in svg


def test_axes_of_one_scale_have_units_of_one_length() -> None:
    axis = {"range": [0, 10], "showgrid": False, "tickvals": []}
    figure = sent(line([0, 10], [0, 10]), yaxis=axis | {"scaleanchor": "x"}, xaxis=axis)
    assert paths(svg_of(figure, alt="a", name="n")) == ["M50 120L150 20"]


def test_shapes_and_annotations_follow_their_references() -> None:
    shape = {
        "xref": "x", "yref": "y domain", "x0": 5, "x1": 5, "y0": 0, "y1": 1,
        "line": {"color": "#111", "width": 1, "dash": "dot"},
    }  # fmt: skip
    note = {
        "xref": "paper",
        "yref": "y",
        "x": 1,
        "y": 5,
        "xshift": 6,
        "xanchor": "left",
        "text": "<b>A</b> &lt;",
    }
    svg = svg_of(sent(shapes=[shape], annotations=[note]), alt="a", name="n")
    assert paths(svg) == ["M200 120L200 20"]
    assert 'stroke-dasharray="1 2"' in svg
    assert (
        'text-anchor="start"><tspan x="356" y="74.2"><tspan font-weight="700">A</tspan> &lt;<'
        in svg
    )


def test_ticks_are_round_and_named_where_none_are_given() -> None:
    axis = {
        "range": [0, 0.5],
        "nticks": 6,
        "tickformat": ".3~%",
        "gridcolor": "#ccc",
        "showgrid": True,
    }
    svg = svg_of(sent(yaxis=axis), alt="a", name="n")
    assert re.findall(r"(\d+%)<", svg) == ["0%", "10%", "20%", "30%", "40%", "50%"]
    assert len(paths(svg)) == 6


def test_what_it_shows_is_said_and_escaped() -> None:
    assert 'role="img" aria-label="a &lt;b&gt; &quot;c&quot;"' in svg_of(
        sent(), alt='a <b> "c"', name="n"
    )


def test_texts_cannot_bring_markup() -> None:
    assert text_lines("<img src=x><br>&lt;i&gt;") == ["&lt;img src=x&gt;", "&lt;i&gt;"]
    assert text_lines("<b>a<br>b</b>") == [
        '<tspan font-weight="700">a</tspan>',
        '<tspan font-weight="700">b</tspan>',
    ]


def test_an_unknown_format_is_refused_rather_than_guessed() -> None:
    with pytest.raises(ValueError, match="d3"):
        tick_text(1.0, "d3")
