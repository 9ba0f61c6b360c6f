"""The filter of the rows that every page evaluates: chosen, shown, and removed."""

import streamlit as st

from dashboard.compute.slices import Slicing, slicing_of, ways
from dashboard.parts import address
from dashboard.readers import Upload
from dashboard.scene import Part
from dashboard.settings import Settings, Slice
from dashboard.wording import slice_names as words
from dashboard.wording.rows import say_rows

_BY, _VALUE, _UNTIL = "only", "only_which", "only_until"

_CHOSEN = "only_chosen"
"""What stood in both in the last run."""


def choose_only(upload: Upload, settings: Settings) -> Slice | None:
    """Show the filter of the rows; return None for all."""
    _drop_missing(upload, settings)
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
        words.ONLY_FROM if slicing.in_time else words.ONLY_VALUE,
        offered,
        key=_VALUE,
        bind="query-params",
        persist_state="session",
    )
    st.session_state[_CHOSEN] = by, value
    until = _choose_until(slicing, value) if slicing.in_time else ""
    return Slice(by, value, until) if value is not None else None


def _choose_until(slicing: Slicing, value: str) -> str:
    """Show the choice of the last of several periods; return it, or nothing for one alone."""
    later = [name for name in slicing.open_to_all if name != words.BLANK]
    later = later[later.index(value) + 1 :] if value in later else []
    if st.session_state.get(_UNTIL) not in (*later, "", None):
        st.session_state[_UNTIL] = ""
    until = st.selectbox(
        words.ONLY_UNTIL,
        ["", *later],
        format_func=lambda name: name or words.ONLY_SAME,
        key=_UNTIL,
        bind="query-params",
        persist_state="session",
    )
    return until or ""


def _drop_missing(upload: Upload, settings: Settings) -> None:
    """Reset the filter where other data do not have the subgroup that was chosen."""
    by, value = st.session_state.get(_CHOSEN, (None, None))
    if by is None or (st.session_state.get(_BY), st.session_state.get(_VALUE)) != (by, value):
        return
    if by not in ways(upload) or value not in slicing_of(upload, settings, by).open_to_all:
        st.session_state[_BY] = words.ALL_ROWS


def choose_part(by: str, value: str, until: str = "") -> None:
    """Set the filter, in a callback."""
    address.put_values({_BY: by, _VALUE: value, _UNTIL: until})


def show_part(part: Part | None) -> None:
    """Show which rows every page evaluates, with a button for all rows."""
    place = st.container()  # there with or without a line, so that what follows keeps its place
    if part is None:
        return
    with place.container(horizontal=True, vertical_alignment="center", key="only_these"):
        line = words.only_line(part.name, part.n_rows, part.n_all)
        st.markdown(f":material/filter_alt: {line}", width="content")
        st.button(say_rows(words.SHOW_ALL), key="show_all", on_click=_show_all)


def _show_all() -> None:
    st.session_state[_BY] = words.ALL_ROWS
