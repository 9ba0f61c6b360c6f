"""A part of the rows that every page judges alone: chosen, said, and taken off."""

import streamlit as st

from dashboard.compute.slices import Part, slicing_of, ways
from dashboard.readers import Upload
from dashboard.settings import Settings, Slice
from dashboard.wording import slices as words

_BY, _VALUE = "only", "only_which"


def choose_only(upload: Upload, settings: Settings) -> Slice | None:
    """Let the user choose a part of the rows; None for all."""
    by = st.selectbox(
        words.ONLY,
        [words.ALL_ROWS, *ways(upload)],
        key=_BY,
        bind="query-params",
        persist_state="session",
        help=words.ONLY_HELP,
    )
    if by is None or by == words.ALL_ROWS:
        return None
    slicing = slicing_of(upload, settings, by)
    offered = slicing.open_to_all
    if st.session_state.get(_VALUE) not in offered:
        st.session_state.pop(_VALUE, None)
    value = st.selectbox(
        words.ONLY_VALUE,
        offered,
        key=_VALUE,
        bind="query-params",
        persist_state="session",
    )
    return Slice(by, value) if value is not None else None


def make_choosable() -> None:
    """Give the choice of a slice a value while it is not on the page.

    Streamlit writes what a callback chooses into the address only where there was a value before.
    """
    st.session_state.setdefault(_VALUE, "")


def choose_part(by: str, value: str) -> None:
    """Choose a part of the rows, in a callback."""
    st.session_state[_BY] = by
    st.session_state[_VALUE] = value


def show_part(part: Part | None) -> None:
    """Say which rows every page judges, and offer to take all again."""
    if part is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="only_these"):
        line = words.only_line(part.name, part.n_rows, part.n_all)
        st.markdown(f":material/filter_alt: {line}", width="content")
        st.button(words.SHOW_ALL, key="show_all", on_click=_show_all)


def _show_all() -> None:
    st.session_state[_BY] = words.ALL_ROWS
