"""A figure as it is sent: the numbers of the figure, in lists, under the page's own look."""

import json
from typing import Any

import numpy as np
import plotly.io
import pytest
from plotly import graph_objects as go

from dashboard.figures import DARK, LIGHT, Palette, RowMark
from dashboard.figures.drawing import Drawing
from dashboard.figures.layout import base_layout, share_axis
from dashboard.figures.plotly_json import DIGITS, FEW, LightFigure
from dashboard.learn.lesson import Lesson, start_of
from dashboard.learn.lessons import LESSONS
from tests.app.pages import charts, open_page


def figure_of(n_points: int) -> go.Figure:
    x = np.linspace(0, 1, n_points)
    line = {"x": x.astype(np.float32), "y": x / 3, "customdata": np.arange(n_points)}
    bars = {"type": "bar", "y": [1, 2], "marker": {"opacity": np.array([0.5, 1.0])}}
    layout = base_layout("Title") | {"xaxis": share_axis("Across", (0, 1)), "yaxis": {"nticks": 3}}
    return go.Figure([line, bars], layout)


def sent(figure: go.Figure, palette: Palette = LIGHT, mark: RowMark | None = None) -> Any:
    return json.loads(plotly.io.to_json(LightFigure(figure, palette, mark), validate=False))


def test_few_numbers_are_sent_as_they_are() -> None:
    figure = figure_of(FEW)
    line, bars = sent(figure)["data"]
    assert line["x"] == figure.data[0].x.tolist()
    assert line["y"] == figure.data[0].y.tolist()
    assert line["customdata"] == list(range(FEW))
    assert bars["marker"] == {"opacity": [0.5, 1.0]}


def test_the_points_of_a_line_are_rounded() -> None:
    figure = figure_of(FEW + 1)
    line, _ = sent(figure)["data"]
    assert line["y"] != figure.data[0].y.tolist()
    assert line["y"] == pytest.approx(figure.data[0].y, abs=10.0**-DIGITS / 2)
    assert figure.data[0].y[1] == 1 / 300  # the figure itself keeps its numbers


@pytest.mark.parametrize("n_points", [3, FEW + 1])
def test_a_gap_stays_a_gap(n_points: int) -> None:
    y = np.ones(n_points)
    y[1] = np.nan
    (line,) = sent(go.Figure({"y": y}))["data"]
    assert line["y"] == [1, None, *[1] * (n_points - 2)]


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_what_the_figure_says_goes_before_what_is_usual(palette: Palette) -> None:
    layout = sent(figure_of(3), palette)["layout"]
    assert layout["title"]["font"] == {
        "size": 14,
        "color": palette.text,
        "family": layout["font"]["family"],
        "weight": 700,
    }
    assert layout["margin"] == base_layout("")["margin"]
    assert layout["xaxis"]["automargin"] is False
    assert layout["yaxis"]["automargin"] is True
    assert layout["yaxis"]["nticks"] == 3


def test_a_mark_is_added_and_the_figure_stays_as_it_is() -> None:
    figure = figure_of(3).update_layout(shapes=[{"type": "line", "y0": 0.5}])
    mark = RowMark({"type": "scatter", "x": [1], "y": [2]}, {"type": "line", "x0": 1})
    result = sent(figure, mark=mark)
    assert result["data"][:-1] == sent(figure)["data"]
    assert result["data"][-1] == mark.points
    assert [line.get("x0") for line in result["layout"]["shapes"]] == [None, 1]
    assert (len(figure.data), len(figure.layout.shapes)) == (2, 1)
    assert sent(figure_of(3), mark=mark)["layout"]["shapes"] == [mark.line]


def spelled_out(content: dict[str, Any]) -> Any:
    """As text and back, where no annotations and an empty list of them are the same."""
    layout = {"annotations": [], **content["layout"]}
    return json.loads(plotly.io.to_json(content | {"layout": layout}, validate=False))


def sent_and_checked(figure: LightFigure) -> dict[str, Any]:
    """Return what is sent of a figure, which plotly would not write otherwise when it checks it."""
    content, drawn = SENT(figure), figure._figure  # noqa: SLF001 - what it was made of
    if isinstance(drawn, Drawing):
        checked = go.Figure(drawn.data, drawn.layout)
        figure._figure = checked  # noqa: SLF001
        assert spelled_out(content) == spelled_out(SENT(figure))
        figure._figure = drawn  # noqa: SLF001
    return content


SENT = LightFigure.to_dict


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("ks", {}),
        ("maps", {}),
        ("reliability", {}),
        ("reliability", {"diagram": "isotonic", "event": "class", "class": "Shirt"}),
        ("models", {"models_view": "series", "series": "widths"}),
        ("laboratory", {}),
    ],
)
def test_plotly_would_change_nothing_that_it_does_not_check(
    path: str, query: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def to_dict(figure: LightFigure) -> dict[str, Any]:
        seen.append(isinstance(figure._figure, Drawing))  # noqa: SLF001
        return sent_and_checked(figure)

    monkeypatch.setattr(LightFigure, "to_dict", to_dict)
    page = open_page(path, **query)
    assert not page.exception
    assert any(seen)
    for chart in charts(page):  # nothing that it would draw twice
        layout = json.loads(chart.spec)["layout"]
        assert "template" not in layout
        assert layout["datarevision"] == 1
        assert "bdata" not in chart.spec
        assert chart.theme == ""


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.key)
def test_plotly_would_change_no_picture_of_a_lesson(lesson: Lesson) -> None:
    for drawn in lesson.show(start_of(lesson)).pictures:
        assert isinstance(drawn.figure, Drawing)
        assert sent_and_checked(LightFigure(drawn.figure, LIGHT))
