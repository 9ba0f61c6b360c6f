"""What a page or a report says: blocks, which each writer writes in its way."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from plotly import graph_objects as go

from dashboard.figures import LIGHT, Palette, RowMark
from dashboard.figures.plotly_json import AS_DRAWN, LightFigure, Titles
from dashboard.texts.numbers import plain

FORMAT = 1
"""Of the JSON; it grows when a field is taken away or means something else."""


Place = Literal["best", "second", ""]
"""Among all calibrators or models of a table."""


@dataclass(frozen=True)
class Cell:
    """A number of a table."""

    shown: str
    note: str = ""
    """As it is written, and what is known of it; "" for nothing."""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    """With every digit, and its 95% interval; None where there is none."""
    kind: str = field(default="", kw_only=True)
    """Of a finding, as a page colours it; its text is a sign and a word, or nothing."""
    place: Place = field(default="", kw_only=True)
    """A page writes the best bold and underlines the second."""
    below: tuple["Cell", ...] = field(default=(), kw_only=True)
    """What stands on a line of its own below, part by part, each with its colour."""
    before: "Cell | None" = field(default=None, kw_only=True)
    """The same before calibration: a page writes both in one cell, a report in two columns."""

    @property
    def word(self) -> str:
        """A finding without its sign."""
        return self.shown.partition(" ")[2]

    @property
    def full_note(self) -> str:
        """What is known of it, with what stands below."""
        return f"{self.note} {''.join(one.shown for one in self.below)}".strip()


def finite(value: float | None) -> float | None:
    """Return a number that JSON has; None of others."""
    return float(value) if value is not None and math.isfinite(value) else None


@dataclass(frozen=True)
class Row:
    """A row of a table: its key for programs, its name, a cell per column, and what it means."""

    key: str
    name: str
    cells: tuple[Cell, ...]
    note: str = ""
    source: str = ""
    """What the note is taken from."""
    opens: bool = False
    """Whether a page shows both on a click on the name, rather than the note below it."""
    group: str = ""
    """The heading that a page writes above rows of one kind."""

    @property
    def full_note(self) -> str:
        """What it means, with the source."""
        return f"{self.note} {self.source}".strip()


def plain_rows(lines: Iterable[Sequence[str]]) -> tuple[Row, ...]:
    """Return the rows of a table of texts, each after its name."""
    return tuple(Row(name, name, tuple(map(Cell, texts))) for name, *texts in lines)


@dataclass(frozen=True)
class Table:
    """A table; ``columns`` names every column, the first one that of the rows' names."""

    key: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    look: str = "measures changes all-columns"
    """Of a page; "measures" alone is one that fits any screen."""
    kind: Literal["table"] = "table"

    @property
    def apart(self) -> "Table":
        """The same with before and after in columns of their own."""
        if not any(cell.before for row in self.rows for cell in row.cells):
            return self
        two = [any(row.cells[k].before for row in self.rows) for k in range(len(self.columns) - 1)]
        heads = [
            f"{name} {side}".rstrip()
            for name, has_two in zip(self.columns[1:], two, strict=True)
            for side in (("before", "after") if has_two else ("",))
        ]
        rows = (replace(row, cells=tuple(_apart(row.cells, two))) for row in self.rows)
        return replace(self, columns=(*self.columns[:1], *heads), rows=tuple(rows))


@dataclass(frozen=True)
class Sentences:
    """Sentences, each a line of its own, perhaps under a heading."""

    key: str
    lines: tuple[str, ...]
    """Markdown, as a page shows them."""
    heading: str = ""
    help: str = ""
    """What a page explains beside the heading, or the sentence where there is none."""
    large: bool = False
    """Whether a report writes them as a verdict."""
    headline: bool = False
    """Whether a page writes the first of them as its heading."""
    small: bool = False
    """Whether a page writes them as small print."""
    kind: Literal["text"] = "text"

    @property
    def plain_lines(self) -> tuple[str, ...]:
        """The sentences without the marks of a page."""
        parts = (plain(part).strip() for text in self.lines for part in text.split("  \n"))
        return tuple(part for part in parts if part)


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure and what it shows."""

    key: str
    caption: str
    """Markdown."""
    figure: go.Figure | None
    """None where there is nothing to draw, which the caption then says."""
    titles: Titles = AS_DRAWN
    """How the figure's titles are written."""
    note: str = ""
    """What else it shows, for who cannot see it."""
    mark: RowMark | None = None
    """What a page adds to the figure."""

    def sent(self, palette: Palette) -> dict[str, Any]:
        """Return the figure as plotly takes it."""
        return LightFigure(self.figure, palette, None, self.titles).to_dict()


@dataclass(frozen=True)
class Pictures:
    """Figures that stand side by side: before and after."""

    key: str
    pictures: tuple[Picture, ...]
    kind: Literal["pictures"] = "pictures"


Block = Table | Sentences | Pictures


@dataclass(frozen=True)
class Section:
    """A part of a report."""

    key: str
    title: str
    """For programs, and as a heading."""
    practice: str
    """The part of a model card and the items of TRIPOD+AI that it answers; "" for none."""
    blocks: tuple[Block, ...]
    """Its contents."""


@dataclass(frozen=True)
class ReportDetails:
    """What the user types into a report; all may be empty."""

    title: str = ""
    purpose: str = ""
    model: str = ""
    author: str = ""
    """Of the report, of the audit, of the model, and who made it."""


@dataclass(frozen=True)
class Report:
    """A report."""

    title: str
    """Its heading."""
    typed: ReportDetails
    """By the user."""
    subject: str
    """Data, event, calibrator and set."""
    digest: str
    """SHA-256 of the data."""
    made: str
    """Date and time, UTC, in ISO 8601."""
    version: str
    """Of Fractile."""
    sections: tuple[Section, ...]
    """The first one is the page for a committee."""
    facts: Mapping[str, Any]
    """Of the JSON alone, as what follows: verdict and measures for programs."""
    reference: Mapping[str, Any]
    """What another batch is compared with."""

    def as_dict(self) -> dict[str, Any]:
        """Return all of it for JSON; of a figure, its title, its caption and what is drawn."""
        return {
            "format": FORMAT,
            "made_by": f"Fractile {self.version}",
            "made": self.made,
            "title": self.title,
            "typed": asdict(self.typed),
            "subject": self.subject,
            "sha256": self.digest,
            **self.facts,
            "sections": [
                {
                    "key": section.key,
                    "title": section.title,
                    "practice": section.practice,
                    "blocks": [_block(block) for block in section.blocks],
                }
                for section in self.sections
            ],
            "reference": self.reference,
        }


def _apart(cells: Iterable[Cell], two: Iterable[bool]) -> Iterator[Cell]:
    for cell, has_two in zip(cells, two, strict=False):
        if has_two:
            yield cell.before or replace(cell, before=None)
        yield replace(cell, before=None)


def _block(block: Block) -> dict[str, Any]:
    match block:
        case Table():
            table = block.apart
            rows = [_row(row) for row in table.rows]
            return {"key": block.key, "columns": table.columns, "rows": rows, "kind": block.kind}
        case Sentences():
            fields = {"key": block.key, "lines": block.plain_lines, "heading": block.heading}
            return {**fields, "large": block.large, "kind": block.kind}
        case Pictures():
            pictures = [_picture(one) for one in block.pictures]
            return {"key": block.key, "pictures": pictures, "kind": block.kind}


def _row(row: Row) -> dict[str, Any]:
    cells = [
        {
            "shown": cell.shown,
            "note": cell.full_note,
            **{name: getattr(cell, name) for name in ("value", "low", "high")},
        }
        for cell in row.cells
    ]
    return {"key": row.key, "name": row.name, "cells": cells, "note": row.full_note}


def _picture(picture: Picture) -> dict[str, Any]:
    sent = picture.sent(LIGHT)
    return {
        "key": picture.key,
        "title": sent["layout"]["title"]["text"],
        "caption": plain(picture.caption),
        "drawn": [_drawn(trace) for trace in sent["data"]],
    }


def _drawn(trace: Mapping[str, Any]) -> dict[str, Any]:
    """Return the points of a line, or the ends of bars."""
    points = {"name": trace.get("name", ""), "x": trace["x"], "y": trace["y"]}
    return points | ({"base": trace["base"]} if trace.get("base") is not None else {})
