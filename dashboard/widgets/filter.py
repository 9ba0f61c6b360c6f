"""The filter of the rows that every page evaluates: chosen, shown, and removed."""

import streamlit as st

from dashboard.compute.groupings import Subgrouping, groupings, subgrouping_of, ways
from dashboard.readers import Upload
from dashboard.scene import EvaluatedPart
from dashboard.settings import NO_METHOD, Settings, Subgroup, method_by_key
from dashboard.texts import rows as rows_words
from dashboard.texts import subgroups as words
from dashboard.texts.rows import say_rows
from dashboard.widgets import address

_BY, _VALUE, _UNTIL = "only", "only_which", "only_until"

_CHOSEN = "only_chosen"
"""What stood in both in the last run."""


def choose_only(upload: Upload, settings: Settings) -> Subgroup | None:
    """Show the filter of the rows; return None for all."""
    _drop_missing(upload, settings)
    by = st.selectbox(
        words.ONLY,
        [words.ALL_ROWS, *ways(upload)],
        key=_BY,
        **address.IN_ADDRESS,
        help=words.ONLY_HELP,
    )
    if by is None or by == words.ALL_ROWS:
        return None
    subgrouping = subgrouping_of(upload, settings, by)
    offered = subgrouping.open_to_all
    if st.session_state.get(_VALUE) not in offered:
        st.session_state.pop(_VALUE, None)
    value = st.selectbox(
        words.ONLY_FROM if subgrouping.in_time else words.ONLY_VALUE,
        offered,
        key=_VALUE,
        **address.IN_ADDRESS,
    )
    st.session_state[_CHOSEN] = by, value
    until = _choose_until(subgrouping, value) if subgrouping.in_time else ""
    return Subgroup(by, value, until) if value is not None else None


def _choose_until(subgrouping: Subgrouping, value: str) -> str:
    """Show the choice of the last of several periods; return it, or nothing for one alone."""
    later = [name for name in subgrouping.open_to_all if name != words.BLANK]
    later = later[later.index(value) + 1 :] if value in later else []
    if st.session_state.get(_UNTIL) not in (*later, "", None):
        st.session_state[_UNTIL] = ""
    until = st.selectbox(
        words.ONLY_UNTIL,
        ["", *later],
        format_func=lambda name: name or words.ONLY_SAME,
        key=_UNTIL,
        **address.IN_ADDRESS,
    )
    return until or ""


def _drop_missing(upload: Upload, settings: Settings) -> None:
    """Reset the filter where other data do not have the subgroup that was chosen."""
    by, value = st.session_state.get(_CHOSEN, (None, None))
    if by is None or (st.session_state.get(_BY), st.session_state.get(_VALUE)) != (by, value):
        return
    if by not in ways(upload) or value not in subgrouping_of(upload, settings, by).open_to_all:
        st.session_state[_BY] = words.ALL_ROWS


def choose_part(by: str, value: str, until: str = "") -> None:
    """Set the filter, in a callback."""
    address.put_values({_BY: by, _VALUE: value, _UNTIL: until})


def show_part(part: EvaluatedPart | None) -> None:
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


def choose() -> None:
    """Let the user say what rows are called on this page; show why a name cannot be used."""
    word = st.text_input(
        rows_words.LABEL,
        rows_words.ROWS,
        max_chars=rows_words.LONGEST,
        key="rows_are",
        **address.IN_ADDRESS,
        help=rows_words.HELP,
    )
    called = rows_words.called(word)
    if called is None:
        st.warning(rows_words.REFUSED)
    rows_words.call_rows(called or rows_words.ROWS)


_KEY = "group"


def choose_group(upload: Upload, settings: Settings) -> str | None:
    """Let the user choose the column that names groups; None where no calibrator needs one.

    Of one that takes all columns, these are named.
    """
    if settings.method == NO_METHOD or not method_by_key(settings.method).knows_groups:
        return None
    offered = groupings(upload)
    if not method_by_key(settings.method).asks_column:
        st.markdown(f":small[:material/warning: {words.all_known(offered)}]")
        return None
    if st.session_state.get(_KEY) not in offered:
        st.session_state.pop(_KEY, None)
    chosen = st.selectbox(
        words.CALIBRATE_BY, offered, key=_KEY, **address.IN_ADDRESS, help=words.CALIBRATE_BY_HELP
    )
    st.markdown(f":small[:material/warning: {words.KNOWN_GROUPS}]")
    return chosen
