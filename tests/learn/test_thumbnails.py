"""Thumbnails: what is drawn stands where the figure has it."""

import re
import xml.etree.ElementTree as ET

import pytest

from dashboard.figures import DARK, LIGHT
from dashboard.figures.drawing import Drawing
from dashboard.learn.lesson import Lesson, start_of
from dashboard.learn.lessons import LESSONS
from dashboard.learn.thumbnails import HEIGHT, MARGIN, WIDTH, svg_of

AXES = {"xaxis": {"range": [0, 2]}, "yaxis": {"range": [0, 4]}}


def elements_of(trace: dict[str, object]) -> list[ET.Element]:
    return list(ET.fromstring(svg_of(Drawing([trace], AXES))))  # noqa: S314 - our own


def test_a_bar_reaches_from_the_axis_to_its_height() -> None:
    (bar,) = elements_of(
        {"type": "bar", "x": [1], "y": [2], "width": 1, "marker": {"color": "#123456"}}
    )
    inner = HEIGHT - 2 * MARGIN
    assert float(bar.attrib["height"]) == pytest.approx(inner / 2, abs=0.1)
    assert float(bar.attrib["y"]) == pytest.approx(MARGIN + inner / 2, abs=0.1)
    assert float(bar.attrib["width"]) == pytest.approx((WIDTH - 2 * MARGIN) / 2, abs=0.1)
    assert bar.attrib["fill"] == "#123456"


def test_a_line_is_broken_where_a_value_is_missing() -> None:
    lines = elements_of({"x": [0, 1, 1.5, 2, 2], "y": [0, 4, None, 2, 0], "mode": "lines"})
    points = [re.findall(r"[\d.]+,[\d.]+", one.attrib["points"]) for one in lines]
    assert [len(one) for one in points] == [2, 2]
    assert points[0] == [f"{MARGIN:.1f},{HEIGHT - MARGIN:.1f}", f"{WIDTH / 2:.1f},{MARGIN:.1f}"]


def test_open_marks_are_rings() -> None:
    marker = {"color": ["#111111", "#222222"], "size": 10, "symbol": ["circle", "circle-open"]}
    first, second = elements_of({"x": [0, 2], "y": [4, 4], "mode": "markers", "marker": marker})
    assert (first.attrib["fill"], second.attrib["fill"]) == ("#111111", "none")
    assert second.attrib["stroke"] == "#222222"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda one: one.key)
@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_each_lesson_has_a_small_picture_without_a_number(lesson: Lesson, palette: object) -> None:
    shown = lesson.show(start_of(lesson, revealed=False, palette=palette))
    picture = svg_of(shown.pictures[0].figure)
    assert 150 < len(picture) < 15_000
    assert "nan" not in picture
    assert not "".join(ET.fromstring(picture).itertext())  # noqa: S314 - our own
