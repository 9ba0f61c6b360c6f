"""Names of lines at their right ends, each with a piece of its line."""

from dataclasses import dataclass
from typing import Any

from plotly import graph_objects as go

from dashboard.figures.palette import Palette

MARGIN = 108
"""Pixels to the right of a graph whose lines are named there."""

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")

_LINE_HEIGHT = 17


@dataclass(frozen=True)
class Look:
    """How a line is drawn.

    Parameters
    ----------
    colour, dash : str
        As plotly takes them.
    width : float
        In pixels.
    """

    colour: str
    dash: str
    width: float


@dataclass(frozen=True)
class LineEnd:
    """A line's name, and where the line ends.

    Parameters
    ----------
    name : str
        Written next to it.
    height : float
        Of its last point, as a share of the axis from 0 to 1; outside where it left the graph.
    look : Look
        How it is drawn.
    """

    name: str
    height: float
    look: Look


def looks(n_lines: int, palette: Palette) -> list[Look]:
    """Return a look for each of several lines: different dashes first, then lightness."""
    colours = (palette.text, palette.neutral)
    return [
        Look(colours[number // len(_DASHES) % 2], _DASHES[number % len(_DASHES)], 1.75)
        for number in range(n_lines)
    ]


def name_ends(
    figure: go.Figure, ends: list[LineEnd], *, domain: tuple[float, float] = (0, 1), pixels: int
) -> None:
    """Add names at the ends of lines, in their order, moved apart where they would overlap.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        What is added to; its right margin has to be `MARGIN`.
    ends : list of LineEnd
        The lines.
    domain : tuple of float, default (0, 1)
        Part of the figure's height that the axis takes.
    pixels : int
        Height of the axis.
    """
    ordered = sorted(ends, key=lambda end: end.height)
    heights = _apart([min(max(end.height, 0.0), 1.0) for end in ordered], _LINE_HEIGHT / pixels)
    low, high = domain
    placed = [
        (end, low + height * (high - low)) for end, height in zip(ordered, heights, strict=True)
    ]
    # All at once, as plotly checks the whole layout at each addition.
    figure.update_layout(
        shapes=[_sample(place, end.look) for end, place in placed],
        annotations=[*figure.layout.annotations, *(_name(end, place) for end, place in placed)],
    )


def _apart(heights: list[float], least: float) -> list[float]:
    """Move ascending heights apart, first up, then down from the top."""
    moved = list(heights)
    for number in range(1, len(moved)):
        moved[number] = max(moved[number], moved[number - 1] + least)
    top = 1.0
    for number in reversed(range(len(moved))):
        moved[number] = min(moved[number], top)
        top = moved[number] - least
    return moved


def _sample(place: float, look: Look) -> dict[str, Any]:
    """Return a piece of the line, 22 pixels long, left of its name."""
    return {
        "type": "line",
        "xref": "paper",
        "yref": "paper",
        "xsizemode": "pixel",
        "xanchor": 1,
        "x0": 4,
        "x1": 26,
        "y0": place,
        "y1": place,
        "line": {"color": look.colour, "dash": look.dash, "width": look.width},
    }


def _name(end: LineEnd, place: float) -> dict[str, Any]:
    return {
        "xref": "paper",
        "yref": "paper",
        "x": 1,
        "y": place,
        "xshift": 30,
        "xanchor": "left",
        "yanchor": "middle",
        "text": end.name,
        "font": {"size": 12, "color": end.look.colour},
        "showarrow": False,
    }
