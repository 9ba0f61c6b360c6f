"""Blocks as a page of Streamlit shows them."""

from html import escape

import streamlit as st

from dashboard.document.blocks import Block, Cell, Pictures, Row, Sentences, Table
from dashboard.widgets.graph import show_graph
from dashboard.widgets.tables import Part, cell, coloured, explained, table


def write(*blocks: Block) -> None:
    """Show blocks below each other."""
    for block in blocks:
        match block:
            case Sentences():
                _sentences(block)
            case Table():
                st.html(_table(block))
            case Pictures():
                _pictures(block)


def _sentences(block: Sentences) -> None:
    if block.heading:
        st.subheader(block.heading, anchor=False)
    for number, line in enumerate(block.lines):
        if block.headline and not number:
            st.subheader(line, anchor=False)
        else:
            st.markdown(f":small[{line}]" if block.small else line)


def _pictures(block: Pictures) -> None:
    for place, one in zip(st.columns(len(block.pictures)), block.pictures, strict=True):
        with place:
            show_graph(one.key.capitalize(), one.figure, one.caption, titles=one.titles)


def _table(block: Table) -> str:
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
    return table(block.look, heads, lines, scrolls="all-columns" in block.look)


def _name(row: Row) -> str:
    if not row.source:
        return cell(row.name, row.note)
    return explained(row.name, f"{escape(row.note)} <cite>{escape(row.source)}</cite>")


def _cell(one: Cell) -> Part:
    if one.kind:
        return "mark", coloured(one.shown, one.kind) if one.shown else ""
    return cell(one.shown, one.note)
