"""Blocks as a page of Streamlit shows them."""

from html import escape

import streamlit as st

from dashboard.document.blocks import Block, Pictures, Sentences, Table
from dashboard.parts.graph import show_graph


def write(*blocks: Block) -> None:
    """Show blocks below each other."""
    for block in blocks:
        match block:
            case Sentences():
                _sentences(block)
            case Table():
                st.html(table_html(block))
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


def table_html(table: Table) -> str:
    """Write a table as HTML."""
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in table.columns)
    body = "".join(
        f"<tr><th scope='row'>{escape(row.name)}{_small(row.note)}</th>"
        + "".join(f"<td>{escape(cell.shown)}{_small(cell.note)}</td>" for cell in row.cells)
        + "</tr>"
        for row in table.rows
    )
    return (
        "<table class='measures changes all-columns' tabindex='0'>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _small(note: str) -> str:
    return "".join(f"<small>{escape(line)}</small>" for line in note.splitlines())
