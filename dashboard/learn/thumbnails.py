"""A picture of a lesson, small enough for a list: what is drawn of it, without a word or number."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.validation import Floats
from dashboard.figures.drawing import Drawing

WIDTH, HEIGHT, MARGIN = 144, 84, 4

LARGEST = 0.28
"""How large marks are here, of what they are in a figure."""

Trace = Mapping[str, Any]


def svg_of(figure: Drawing) -> str:
    """Draw the traces of a figure as an SVG picture.

    ``figure``: as lessons make them; bars, lines, bands and marks are drawn.
    """
    parts = [part for trace in figure.traces for part in _parts(trace, figure.plan)]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
    size = f'width="{WIDTH}" height="{HEIGHT}" aria-hidden="true"'
    return f"{head} {size}>{''.join(parts)}</svg>"


def _parts(trace: Trace, plan: Mapping[str, Any]) -> Iterator[str]:
    across = _axis(plan, trace.get("xaxis", "x"), WIDTH)
    up = _axis(plan, trace.get("yaxis", "y"), HEIGHT)
    x, y = across(_numbers(trace["x"])), HEIGHT - up(_numbers(trace["y"]))
    if trace.get("type") == "bar":
        yield from _bars(trace, across, up)
        return
    mode = trace.get("mode", "")
    if trace.get("fill") == "toself":
        yield f'<polygon points="{_points(x, y)}" fill="{trace["fillcolor"]}"/>'
    elif "lines" in mode:
        yield from _lines(trace, x, y)
    if "markers" in mode:
        yield from _marks(trace, x, y)


def _numbers(values: Any) -> Floats:
    return np.array([np.nan if one is None else one for one in values], dtype=np.float64)


def _axis(plan: Mapping[str, Any], name: str, size: int) -> Any:
    """Return what maps numbers of an axis to pixels."""
    axis = plan[f"{name[0]}axis{name[1:]}"]
    low, high = axis["range"]
    first, last = axis.get("domain", (0, 1))
    inner = size - 2 * MARGIN
    return lambda v: MARGIN + inner * (first + (last - first) * (v - low) / (high - low))


def _points(x: Floats, y: Floats) -> str:
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))


def _lines(trace: Trace, x: Floats, y: Floats) -> Iterator[str]:
    look = trace.get("line", {})
    dash = {"dash": "4 2", "dot": "1.5 2"}.get(look.get("dash", "solid"), "none")
    width = max(1.0, 0.5 * look.get("width", 3))
    ends = np.flatnonzero(np.isnan(x) | np.isnan(y)).tolist()
    for start, end in zip([0, *(e + 1 for e in ends)], [*ends, x.size], strict=True):
        if end - start > 1:
            yield (
                f'<polyline points="{_points(x[start:end], y[start:end])}" fill="none"'
                f' stroke="{look.get("color", "currentColor")}" stroke-width="{width:g}"'
                f' stroke-dasharray="{dash}"/>'
            )


def _each(value: Any, n: int) -> list[Any]:
    """Return a value for each of n marks, given one for all or one each."""
    if isinstance(value, str | int | float):
        return [value] * n
    return list(value)


def _marks(trace: Trace, x: Floats, y: Floats) -> Iterator[str]:
    marker = trace["marker"]
    looks = (_each(marker[key], x.size) for key in ("color", "size", "symbol"))
    for a, b, colour, size, symbol in zip(x, y, *looks, strict=True):
        radius = max(1.2, LARGEST * float(size))
        fill = "none" if "open" in str(symbol) else colour
        place = f'cx="{a:.1f}" cy="{b:.1f}" r="{radius:.1f}"'
        yield f'<circle {place} fill="{fill}" stroke="{colour}"/>'


def _bars(trace: Trace, across: Any, up: Any) -> Iterator[str]:
    lying = trace.get("orientation") == "h"
    long, place = (trace["x"], trace["y"]) if lying else (trace["y"], trace["x"])
    length, middle = _numbers(long), _numbers(place)
    half = np.broadcast_to(np.asarray(trace.get("width", 0.8), dtype=np.float64), middle.shape) / 2
    colours = _each(trace["marker"]["color"], middle.size)
    along, over = (across, up) if lying else (up, across)
    ends: NDArray[np.float64] = np.stack([along(np.zeros_like(length)), along(length)])
    sides = np.stack([over(middle - half), over(middle + half)])
    for k, colour in enumerate(colours):
        (left, right), (low, high) = (ends, sides) if lying else (sides, ends)
        left, right, low, high = left[k], right[k], low[k], high[k]
        yield (
            f'<rect x="{min(left, right):.1f}" y="{HEIGHT - max(low, high):.1f}"'
            f' width="{max(abs(right - left), 0.8):.1f}" height="{max(abs(high - low), 0.8):.1f}"'
            f' fill="{colour}" fill-opacity="{trace.get("opacity", 1):g}"/>'
        )
