"""Names of lines at their ends, mostly the right ones, each with a piece of its line."""

from dataclasses import dataclass
from typing import Any, Literal

from plotly import graph_objects as go

from dashboard.figures.layout import TEXT_SIZE
from dashboard.figures.palette import Palette

MARGIN = 126
"""Pixels to the right of a graph whose lines are named there."""

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")

_LINE_HEIGHT = 17


@dataclass(frozen=True)
class Look:
    """How a line is drawn."""

    colour: str
    dash: str
    """As plotly takes them."""
    width: float
    """In pixels."""

    @property
    def line(self) -> dict[str, Any]:
        """The same, as plotly takes it."""
        return {"color": self.colour, "dash": self.dash, "width": self.width}


@dataclass(frozen=True)
class LineEnd:
    """A line's name, and where the line ends."""

    name: str
    """Written next to it."""
    height: float
    """Of its last point, as a share of the axis from 0 to 1; outside where it left the graph."""
    look: Look
    """How it is drawn."""


def looks(n_lines: int, palette: Palette) -> list[Look]:
    """Return a look for each of several lines: different dashes first, then lightness."""
    colours = (palette.text, palette.neutral)
    return [
        Look(colours[number // len(_DASHES) % 2], _DASHES[number % len(_DASHES)], 1.75)
        for number in range(n_lines)
    ]


def name_ends(
    figure: go.Figure,
    ends: list[LineEnd],
    *,
    domain: tuple[float, float] = (0, 1),
    pixels: int,
    side: Literal["left", "right"] = "right",
) -> None:
    """Add names at the ends of lines, in their order, moved apart where they would overlap.

    ``figure``: what is added to; its right margin has to be `MARGIN`, or the left one as wide as
    names are. ``ends``: the lines. ``domain``: part of the figure's height that the axis takes.
    ``pixels``: height of the axis. ``side``: at which ends; heights are those of the points there.
    """
    ordered = sorted(ends, key=lambda end: end.height)
    heights = apart([min(max(end.height, 0.0), 1.0) for end in ordered], _LINE_HEIGHT / pixels)
    low, high = domain
    placed = [
        (end, low + height * (high - low)) for end, height in zip(ordered, heights, strict=True)
    ]
    # All at once, as plotly checks the whole layout at each addition.
    figure.update_layout(
        shapes=[_sample(place, end.look, side) for end, place in placed],
        annotations=[
            *figure.layout.annotations,
            *(_name(end, place, side) for end, place in placed),
        ],
    )


def apart(heights: list[float], least: float) -> list[float]:
    """Move ascending heights apart, first up, then down from the top."""
    moved = list(heights)
    for number in range(1, len(moved)):
        moved[number] = max(moved[number], moved[number - 1] + least)
    top = 1.0
    for number in reversed(range(len(moved))):
        moved[number] = min(moved[number], top)
        top = moved[number] - least
    return moved


def _sample(place: float, look: Look, side: str) -> dict[str, Any]:
    """Return a piece of the line, 22 pixels long, between its end and its name."""
    near, far = (4, 26) if side == "right" else (-26, -4)
    return {
        "type": "line",
        "xref": "paper",
        "yref": "paper",
        "xsizemode": "pixel",
        "xanchor": 1 if side == "right" else 0,
        "x0": near,
        "x1": far,
        "y0": place,
        "y1": place,
        "line": look.line,
    }


def _name(end: LineEnd, place: float, side: str) -> dict[str, Any]:
    at_right = side == "right"
    return {
        "xref": "paper",
        "yref": "paper",
        "x": 1 if at_right else 0,
        "y": place,
        "xshift": 30 if at_right else -30,
        "xanchor": "left" if at_right else "right",
        "yanchor": "middle",
        "text": end.name,
        "font": {"size": TEXT_SIZE, "color": end.look.colour},
        "showarrow": False,
    }
