"""Blocks as a page of Streamlit shows them."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from html import escape

import streamlit as st

from dashboard.document.blocks import Block, Cell, Picture, Pictures, Row, Sentences, Table
from dashboard.texts.numbers import ARROW, NO_BREAK
from dashboard.widgets.graph import show_graph
from dashboard.widgets.tables import Part, cell, coloured, explained, table

SAME = "before and after"
"""What is the same on both sides."""

_COMMA = re.compile(r"^(:\w+-badge\[[^\]]*\]),")
"""After a badge, which needs none."""


def write(*blocks: Block) -> None:
    """Show blocks below each other."""
    for block in blocks:
        match block:
            case Sentences():
                _sentences(block)
            case Table():
                st.html(html_of(block))
            case Pictures():
                _pictures(block)


def _sentences(block: Sentences) -> None:
    if block.heading:
        st.subheader(block.heading, anchor=False, help=block.help or None)
    for number, line in enumerate(block.lines):
        if block.headline and not number:
            st.subheader(_COMMA.sub(r"\1", line), anchor=False)
        else:
            text = f":small[{line}]" if block.small else line
            st.markdown(text, help=None if block.heading else block.help or None)


def _pictures(block: Pictures) -> None:
    for place, one in zip(st.columns(len(block.pictures)), block.pictures, strict=True):
        with place:
            show_picture(one)


def show_picture(one: Picture, *, on_click: Callable[[], None] | None = None) -> None:
    """Show a figure over its caption; ``on_click``: as `show_graph`."""
    show_graph(
        one.key.capitalize(),
        one.figure,
        one.caption,
        one.note,
        mark=one.mark,
        titles=one.titles,
        on_click=on_click,
    )


def html_of(block: Table) -> str:
    """Return a table as a page shows it."""
    lines, group = list[tuple[Part, ...]](), ""
    for row in block.rows:
        if row.group != group:
            group = row.group
            lines.append((cell(group),))
        lines.append((_name(row), *map(_cell, row.cells)))
    marked = {k for row in block.rows for k, one in enumerate(row.cells, 1) if one.kind}
    heads: list[Part] = [
        ("mark", cell(name)) if k in marked else cell(name) for k, name in enumerate(block.columns)
    ]
    return table(block.look, heads, lines, scrolls=block.look != "measures")


def _name(row: Row) -> str:
    if not row.opens:
        return cell(row.name, row.note)
    source = f" <cite>{escape(row.source)}</cite>" if row.source else ""
    return explained(row.name, f"{escape(row.note)}{source}")


def _cell(one: Cell) -> Part:
    if one.kind:
        return "mark", coloured(one.shown, one.kind) if one.shown else ""
    was = one.before
    if was is None:
        return f"{cell(one.shown, one.note, place=one.place)}{_small(_parts(one.below))}"
    # A unit stands once; a line breaks at the arrow.
    first = was.shown.removesuffix("%") if one.shown.endswith("%") else was.shown
    notes = [each.note.replace(" ", NO_BREAK) for each in (was, one) if each.note]
    if was.below and was.below == one.below:
        *parts, last = one.below
        below = _parts((*parts, replace(last, shown=f"{last.shown} {SAME}")))
    else:
        below = ARROW.join(filter(None, (_parts(was.below), _parts(one.below))))
    return f"{cell(f'{first}{ARROW}{one.shown}', ARROW.join(notes))}{_small(below)}"


def _parts(below: Iterable[Cell]) -> str:
    """Return what stands below, each part in its colour."""
    return "".join(
        coloured(part.shown, part.kind) if part.kind else cell(part.shown, place=part.place)
        for part in below
    )


def _small(text: str) -> str:
    return f"<small>{text}</small>" if text else ""
