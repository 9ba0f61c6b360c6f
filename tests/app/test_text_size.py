"""All text in pictures can be read where a page is projected."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from dashboard.app import PAGES
from dashboard.figures import LIGHT
from dashboard.figures.layout import TEXT_SIZE
from dashboard.figures.plotly_json import LightFigure
from dashboard.learn.lesson import Lesson, start_of
from dashboard.learn.lessons import LESSONS
from tests.app.pages import charts, open_page
from tests.marks import first_and_long


def sizes(part: Any, usual: float, place: str = "") -> Iterator[tuple[str, float]]:
    """Every size of text that a figure sends, and where."""
    if isinstance(part, list):
        for number, one in enumerate(part):
            yield from sizes(one, usual, f"{place}[{number}]")
    if isinstance(part, dict):
        for name, value in part.items():
            within = f"{place}.{name}"
            if name.endswith("font") and isinstance(value, dict):
                given = value.get("size", usual)
                yield from (
                    (within, one) for one in (given if isinstance(given, list) else [given])
                )
            else:
                yield from sizes(value, usual, within)


def check_sizes(spec: dict[str, Any]) -> None:
    # What is not given, such as the font of ticks, is that of all text of the figure.
    assert spec["layout"]["font"]["size"] == TEXT_SIZE == 14
    small = [(place, size) for place, size in sizes(spec, TEXT_SIZE) if size < TEXT_SIZE]
    assert not small


def test_small_text_is_seen_wherever_it_is() -> None:
    figure: dict[str, Any] = {
        "data": [{"textfont": {"size": [14, 12]}}],
        "layout": {
            "font": {"size": 14},
            "xaxis2": {"tickfont": {"size": 13}, "title": {"font": {"color": "red"}}},
            "annotations": [{"font": {"size": 11}}],
        },
    }
    small = {size for _, size in sizes(figure, 14) if size < 14}
    assert small == {12, 13, 11}
    with pytest.raises(AssertionError):
        check_sizes(figure)


@pytest.mark.parametrize("path", [path for _, path, _ in PAGES])
@pytest.mark.parametrize(
    "chosen",
    first_and_long(
        [
            {"sample": "crash_survival", "method": "spline", "wording": "expert"},
            {"sample": "fashion_cnn_overconfident", "method": "matrix"},
            {"sample": "city_country_100", "method": "none"},
        ]
    ),
    ids=lambda chosen: chosen["sample"],
)
def test_no_text_of_a_page_is_small(path: str, chosen: dict[str, str]) -> None:
    for chart in charts(open_page(path, **chosen)):
        check_sizes(json.loads(chart.spec))


@pytest.mark.parametrize(
    ("path", "chosen"),
    [
        ("maps", {"sample": "three_garments", "method": "matrix"}),
        ("reliability", {"sample": "fashion_cnn_overconfident", "reliability": "bins"}),
        ("laboratory", {}),
    ],
)
def test_no_text_of_other_states_is_small(path: str, chosen: dict[str, str]) -> None:
    sent = charts(open_page(path, **chosen))
    assert sent
    for chart in sent:
        check_sizes(json.loads(chart.spec))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.key)
def test_no_text_of_a_lesson_is_small(lesson: Lesson) -> None:
    for revealed in (False, True):
        shown = lesson.show(start_of(lesson, revealed=revealed))
        for picture in (*shown.pictures, *shown.behind):
            check_sizes(LightFigure(picture.figure, LIGHT).to_dict())
