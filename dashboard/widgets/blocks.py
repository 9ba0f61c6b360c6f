"""Blocks as a page of Streamlit shows them."""

import streamlit as st

from dashboard.document.blocks import Block, Pictures, Sentences, Table
from dashboard.widgets.graph import show_graph
from dashboard.widgets.tables import cell, table


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
    return table(
        "measures changes all-columns",
        [cell(name) for name in block.columns],
        [
            (cell(row.name, row.note), *(cell(one.shown, one.note) for one in row.cells))
            for row in block.rows
        ],
    )
