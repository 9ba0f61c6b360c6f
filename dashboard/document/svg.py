"""A plotly figure as a static SVG picture, for pages that hold no script.

Only what Fractile's figures use is drawn: lines, areas, markers and bars on linear axes of a given
range, straight shapes, and annotations without arrows.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape
from itertools import groupby
from typing import Any

from dashboard.figures.layout import round_step
from dashboard.texts.numbers import MINUS

_TAG = re.compile(r"<(/?)(b|br|span)(?: style=\"([^\"]*)\")?/?>")
_FORMAT = re.compile(r"\.(\d+)~([%gf])|,d")


def number(value: float) -> str:
    """Write a place on a picture: two decimals are enough."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if math.isfinite(value) else "0"


def tick_text(value: float, how: str) -> str:
    """Write the value of a tick.

    ``value``: the value. ``how``: of d3's formats, those that the figures use: ``.3~%``, ``.0~%``,
    ``.3~g``, ``.3~f`` and ``,d``.

    >>> tick_text(0.2, ".3~%"), tick_text(0.8218, ".0~%"), tick_text(1.5, ".3~g")
    ('20%', '82%', '1.5')
    >>> tick_text(0.35, ".3~f"), tick_text(2500, ",d")
    ('0.35', '2,500')
    """
    match = _FORMAT.fullmatch(how)
    if match is None:
        raise ValueError(how)
    digits, kind = int(match[1] or 0), match[2]
    scaled = 100 * value if kind == "%" else value
    if kind == "g":
        written = f"{scaled:.{digits}g}"
    else:
        written = f"{scaled:,.{digits}f}"
        written = written.rstrip("0").rstrip(".") if digits else written
    written = "0" if written in {"0", "-0"} else written
    return written.replace("-", MINUS) + ("%" if kind == "%" else "")


def text_lines(text: str) -> list[str]:
    """Return the lines of a text of plotly's, whose bold and colours become SVG's."""
    lines, open_tags, done = [""], list[str](), 0
    for tag in _TAG.finditer(text):
        lines[-1] += _written(text[done : tag.start()])
        done = tag.end()
        closes, name, style = tag.groups()
        if name == "br":
            lines[-1] += "</tspan>" * len(open_tags)
            lines.append("".join(open_tags))
        elif closes:
            open_tags.pop()
            lines[-1] += "</tspan>"
        else:
            open_tags.append(_opened(name, style or ""))
            lines[-1] += open_tags[-1]
    lines[-1] += _written(text[done:])
    return lines


def _opened(name: str, style: str) -> str:
    if name == "b":
        return '<tspan font-weight="700">'
    colour = style.partition("color:")[2].partition(";")[0].strip()
    return f'<tspan fill="{escape(colour)}">' if colour else "<tspan>"


def _written(text: str) -> str:
    return escape(unescape(text), quote=False)


# The picture ----------------------------------------------------------------------------------


WIDTH = 400
"""Units that a picture is wide; it is shown as wide as its place is."""

_DASHES = {"dot": (1, 2), "dash": (4, 3)}
"""Lengths of stroke and gap, in widths of the line."""

_LINE = 1.25
"""Of an annotation, in heights of its letters."""

_CLOSE = 1e-9
"""Of a step: so near to an end of its axis a tick is on it."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """One axis on the picture."""

    low: float
    high: float
    """The ends of its range."""
    start: float
    end: float
    """Where these are on the picture."""

    def at(self, value: float) -> float:
        """Return where a value is on the picture."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Return whether a value is within the range."""
        return min(self.low, self.high) <= value <= max(self.low, self.high)

    def share(self, share: float) -> float:
        """Return where a share of the axis is on the picture."""
        return self.start + share * (self.end - self.start)


def svg_of(sent: Mapping[str, Any], *, alt: str, name: str) -> str:
    """Return a figure as an SVG element.

    ``sent``: data and layout, arrays as lists, None for gaps. ``alt``: what it shows, for who
    cannot see it. ``name``: unique in its document.
    """
    layout = sent["layout"]
    height = layout["height"]
    drawn = "".join(_Drawing(sent, name).parts())
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(alt)}"'
        f' font-family="sans-serif" xmlns="http://www.w3.org/2000/svg">{drawn}</svg>'
    )


class _Drawing:
    """One figure on its way to a picture."""

    def __init__(self, sent: Mapping[str, Any], name: str) -> None:
        self._data: Sequence[Mapping[str, Any]] = sent["data"]
        self._layout: Mapping[str, Any] = sent["layout"]
        self._name = name
        margin, height = self._layout["margin"], self._layout["height"]
        self._paper = {
            "x": Axis(0, 1, margin["l"], WIDTH - margin["r"]),
            "y": Axis(0, 1, height - margin["b"], margin["t"]),
        }
        self._axes = {
            part.replace("axis", ""): self._axis(part)
            for part in self._layout
            if part[1:].startswith("axis")
        }

    def parts(self) -> Iterator[str]:
        """Yield the elements, from the ground up."""
        shapes = self._layout.get("shapes", ())
        for axis in self._axes:
            yield from self._grid(axis)
        yield from (self._shape(one) for one in shapes if one.get("layer") == "below")
        before: list[Point] = []
        for place, trace in enumerate(self._data):
            points = self._points(trace)
            drawn = (
                self._bars(trace, place)
                if trace["type"] == "bar"
                else self._scatter(trace, points, before)
            )
            whole = trace.get("cliponaxis") is False
            yield "".join(drawn) if whole else self._clipped(trace, place, "".join(drawn))
            before = [point for point in points if point is not None]
        yield from (self._shape(one) for one in shapes if one.get("layer") != "below")
        for axis in self._axes:
            yield from self._ticks(axis)
        yield from map(self._annotation, self._layout.get("annotations", ()))
        title = self._layout["title"]
        yield _words(title["text"], 4, 16, title["font"] | {"anchor": "left"})

    # Axes -----------------------------------------------------------------------------------

    def _axis(self, part: str) -> Axis:
        axis, paper = self._layout[part], self._paper[part[0]]
        first, last = axis.get("domain", (0, 1))
        low, high = axis["range"]
        start, end = paper.share(first), paper.share(last)
        if "scaleanchor" in self._layout.get("yaxis", {}):  # a percent is as long on both axes
            scale = min(
                abs(end - start) / (high - low)
                for (low, high), start, end in (
                    (self._layout[f"{way}axis"]["range"], along.start, along.end)
                    for way, along in self._paper.items()
                )
            )
            end = start + scale * (high - low) * (1 if part[0] == "x" else -1)
        return Axis(low, high, start, end)

    def _marks(self, name: str) -> Iterable[tuple[float, str]]:
        layout, axis = self._layout[_part(name)], self._axes[name]
        values = layout.get("tickvals")
        if values is None:
            low, high = sorted((axis.low, axis.high))
            step = round_step((high - low) / layout.get("nticks", 6))
            first, last = math.ceil(low / step - _CLOSE), math.floor(high / step + _CLOSE)
            values = [k * step for k in range(first, last + 1)]
        texts = layout.get("ticktext")
        if texts is None:
            texts = [tick_text(value, layout.get("tickformat", "")) for value in values]
        return zip(values, texts, strict=True)

    def _grid(self, name: str) -> Iterator[str]:
        layout, axis = self._layout[_part(name)], self._axes[name]
        if not layout.get("showgrid"):
            return
        look = {"color": layout["gridcolor"], "dash": layout.get("griddash", "solid")}
        style = _stroke(look, usual=layout.get("gridwidth", 1))
        across = self._across(name)
        for value, _ in self._marks(name):
            yield _segment(name[0], axis.at(value), across, style)

    def _ticks(self, name: str) -> Iterator[str]:
        layout, axis = self._layout[_part(name)], self._axes[name]
        across, font = self._across(name), {**self._layout["font"], **layout.get("tickfont", {})}
        sides = [across.start, across.end]
        upright, pad = name[0] == "y", self._layout["margin"].get("pad", 4)
        turned = layout.get("tickangle", 0)
        for value, text in self._marks(name):
            if turned:
                at = axis.at(value), max(sides) + pad + font["size"] * 0.7
                yield _words(text, *at, font | {"anchor": "right"}, turned=turned)
            elif upright:
                yield _words(text, min(sides) - pad - 2, axis.at(value), font | {"anchor": "right"})
            else:
                below = max(sides) + pad + font["size"] * 0.7
                yield _words(text, axis.at(value), below, font | {"anchor": "center"})
        title = layout.get("title", {})
        if not title.get("text"):
            return
        font = {**self._layout["font"], **title.get("font", {}), "anchor": "center"}
        middle = axis.share(0.5)
        if upright:
            yield _words(title["text"], 12, middle, font, turned=-90)
        else:
            more = title["text"].count("<br>") * _LINE * font["size"] / 2
            yield _words(title["text"], middle, max(sides) + 30 + more, font)

    def _across(self, name: str) -> Axis:
        """Return the axis that crosses another."""
        other = "y" if name[0] == "x" else "x"
        anchor = self._layout[_part(name)].get("anchor", name.replace(name[0], other))
        return self._axes.get(anchor, self._axes[other])

    # Traces ---------------------------------------------------------------------------------

    def _points(self, trace: Mapping[str, Any]) -> list[Point | None]:
        """Return the places of its points, None for gaps and for those that are beyond the axes.

        Of a trace that is cut off at the axes, these keep their places, as lines lead there.
        """
        x, y = self._axes[trace.get("xaxis", "x")], self._axes[trace.get("yaxis", "y")]
        whole = trace.get("cliponaxis") is False
        return [
            None
            if across is None or up is None or (whole and not (x.holds(across) and y.holds(up)))
            else (x.at(across), y.at(up))
            for across, up in zip(trace["x"], trace["y"], strict=True)
        ]

    def _clipped(self, trace: Mapping[str, Any], place: int, drawn: str) -> str:
        """Return what is drawn of a trace within its axes."""
        x, y = self._axes[trace.get("xaxis", "x")], self._axes[trace.get("yaxis", "y")]
        clip = f"{self._name}-clip-{place}"
        return (
            f'<clipPath id="{clip}"><rect x="{number(x.start)}" y="{number(y.end)}"'
            f' width="{number(x.end - x.start)}" height="{number(y.start - y.end)}"/></clipPath>'
            f'<g clip-path="url(#{clip})">{drawn}</g>'
        )

    def _scatter(
        self, trace: Mapping[str, Any], points: list[Point | None], before: list[Point]
    ) -> Iterator[str]:
        line, runs = trace.get("line", {}), list(_runs(points))
        fill = trace.get("fill", "none")
        colour = trace.get("fillcolor", "none")
        if fill == "toself":
            yield f'<path d="{"".join(_path(run) + "Z" for run in runs)}" fill="{colour}"/>'
        elif fill in {"tonexty", "tozeroy"} and points:
            ends = [point for point in points if point is not None]
            y = self._axes[trace.get("yaxis", "y")]
            zero = y.at(min(max(0, y.low), y.high))
            other = before if fill == "tonexty" else [(ends[0][0], zero), (ends[-1][0], zero)]
            yield f'<path d="{_path([*ends, *reversed(other)])}Z" fill="{colour}"/>'
        mode = trace.get("mode", "lines")
        if "lines" in mode and line.get("width", 2):
            yield f'<path d="{"".join(map(_path, runs))}" fill="none" {_stroke(line)}/>'
        if "markers" in mode:
            yield from _markers(trace.get("marker", {}), points, line)

    def _bars(self, trace: Mapping[str, Any], place: int) -> Iterator[str]:
        x, y = self._axes[trace.get("xaxis", "x")], self._axes[trace.get("yaxis", "y")]
        marker, n_bars = trace["marker"], len(trace["x"])
        pattern = marker.get("pattern", {})
        filled = marker["color"]
        if pattern.get("shape"):
            hatch = f"{self._name}-{place}"
            filled = f"url(#{hatch})"
            size, ink = pattern.get("size", 5), pattern["fgcolor"]
            yield (
                f'<pattern id="{hatch}" width="{size}" height="{size}"'
                f' patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
                f'<path d="M0 0V{size}" stroke="{ink}" stroke-width="1"/></pattern>'
            )
        bases, widths = trace.get("base") or [0] * n_bars, trace["width"]
        line = marker.get("line", {})
        for at, length, base, width, faint in zip(
            trace["x"], trace["y"], bases, widths, _each(marker.get("opacity", 1), n_bars),
            strict=True,
        ):  # fmt: skip
            if at is None or length is None:
                continue
            left, right = x.at(at - width / 2), x.at(at + width / 2)
            low, high = y.at(base), y.at(base + length)
            box = (
                f'x="{number(left)}" y="{number(min(low, high))}"'
                f' width="{number(right - left)}" height="{number(abs(high - low))}"'
            )
            yield f'<rect {box} fill="{filled}" opacity="{faint:g}" {_stroke(line, usual=0)}/>'

    # Shapes and annotations -----------------------------------------------------------------

    def _place(self, direction: str, of: str, value: float) -> float:
        """Return where a value of an axis is, or a share of an axis or of all."""
        if of == "paper":
            return self._paper[direction].share(value)
        axis, _, domain = of.partition(" ")
        scale = self._axes[axis]
        return scale.share(value) if domain else scale.at(value)

    def _shape(self, shape: Mapping[str, Any]) -> str:
        ends = {}
        for direction in "xy":
            of = shape.get(f"{direction}ref", direction)
            first, last = shape[f"{direction}0"], shape[f"{direction}1"]
            if shape.get(f"{direction}sizemode") == "pixel":
                anchor = self._place(direction, of, shape[f"{direction}anchor"])
                ends[direction] = anchor + first, anchor + last
            else:
                ends[direction] = (
                    self._place(direction, of, first),
                    self._place(direction, of, last),
                )
        (left, right), (low, high) = ends["x"], ends["y"]
        path = _path([(left, low), (right, high)])
        return f'<path d="{path}" fill="none" {_stroke(shape["line"])}/>'

    def _annotation(self, one: Mapping[str, Any]) -> str:
        places = []
        for direction, sign in (("x", 1), ("y", -1)):
            of = one.get(f"{direction}ref", direction)
            at = self._place(direction, of, one[direction])
            places.append(at + sign * one.get(f"{direction}shift", 0))
        font = {**self._layout["font"], **one.get("font", {})}
        font |= {"anchor": one.get("xanchor", "center"), "up": one.get("yanchor", "middle")}
        return _words(one["text"], places[0], places[1], font, ground=one.get("bgcolor", ""))


def _part(name: str) -> str:
    """Return the layout's name of an axis."""
    return f"{name[0]}axis{name[1:]}"


def _each(value: Any, n_things: int) -> Sequence[Any]:
    return value if isinstance(value, list) else [value] * n_things


def _runs(points: Iterable[Point | None]) -> Iterator[list[Point]]:
    """Yield the points between gaps."""
    for gap, run in groupby(points, key=lambda point: point is None):
        if not gap:
            yield [point for point in run if point is not None]


def _path(points: Iterable[Point]) -> str:
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)


def _segment(direction: str, at: float, across: Axis, style: str) -> str:
    ends = [(at, across.start), (at, across.end)]
    if direction == "y":
        ends = [(along, up) for up, along in ends]
    return f'<path d="{_path(ends)}" {style}/>'


def _stroke(line: Mapping[str, Any], usual: float = 2) -> str:
    width = float(line.get("width", usual))
    if not width:
        return ""
    dash = _DASHES.get(line.get("dash", "solid"))
    dashed = f' stroke-dasharray="{dash[0] * width:g} {dash[1] * width:g}"' if dash else ""
    return f'stroke="{line.get("color", "#1F2937")}" stroke-width="{width:g}"{dashed}'


def _markers(
    marker: Mapping[str, Any], points: Sequence[Point | None], line: Mapping[str, Any]
) -> Iterator[str]:
    n_points = len(points)
    own = {"color": line.get("color", "#1F2937")} | dict(marker)
    edge = own.get("line", {})
    looks = (own["color"], own.get("size", 6), own.get("opacity", 1), own.get("symbol", "circle"))
    for point, colour, size, faint, symbol in zip(
        points, *(_each(look, n_points) for look in looks), strict=True
    ):
        if point is None:
            continue
        (x, y), radius = point, size / 2
        if symbol == "line-ew":
            ends = _path([(x - radius, y), (x + radius, y)])
            yield f'<path d="{ends}" opacity="{faint:g}" {_stroke({"color": colour} | edge)}/>'
            continue
        ink = f'fill="none" {_stroke({"color": colour, "width": edge.get("width", 1.5)})}'
        if "-open" not in symbol:
            ink = f'fill="{colour}" {_stroke(edge, usual=0)}'
        yield f'{_outline(symbol.removesuffix("-open"), x, y, radius)} opacity="{faint:g}" {ink}/>'


_CORNERS: Mapping[str, Sequence[Point]] = {
    "diamond": ((-1.3, 0), (0, -1.3), (1.3, 0), (0, 1.3)),
    "triangle-left": ((-1, 0), (0.7, -1), (0.7, 1)),
    "triangle-right": ((1, 0), (-0.7, -1), (-0.7, 1)),
}
"""Of the markers that are no circle, in radii."""


def _outline(symbol: str, x: float, y: float, radius: float) -> str:
    corners = _CORNERS.get(symbol)
    if corners is None:
        return f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"'
    return f'<path d="{_path((x + radius * a, y + radius * b) for a, b in corners)}Z"'


_ANCHORS = {"left": "start", "center": "middle", "right": "end"}


def _words(
    text: str, x: float, y: float, font: Mapping[str, Any], *, turned: float = 0, ground: str = ""
) -> str:
    """Return lines of text, placed as its font says, turned by degrees, with a ground's edge."""
    lines, size = text_lines(text), font["size"]
    first = {"top": 0.8, "bottom": -0.2 - _LINE * (len(lines) - 1)}.get(
        font.get("up", "middle"), 0.35 - _LINE * (len(lines) - 1) / 2
    )
    spans = "".join(
        f'<tspan x="{number(x)}" y="{number(y + size * (first + k * _LINE))}">{line}</tspan>'
        for k, line in enumerate(lines)
    )
    weight = f' font-weight="{font["weight"]}"' if "weight" in font else ""
    turn = f' transform="rotate({turned:g} {number(x)} {number(y)})"' if turned else ""
    if ground:
        turn += f' stroke="{ground}" stroke-width="4" paint-order="stroke"'
    return (
        f'<text font-size="{size}" fill="{font["color"]}"{weight}{turn}'
        f' text-anchor="{_ANCHORS[font["anchor"]]}">{spans}</text>'
    )
