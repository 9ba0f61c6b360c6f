"""What rows are called, in the words of the reader."""

import streamlit as st

from dashboard.wording import rows as words


def choose() -> None:
    """Let the user say what rows are called on this page; show why a name cannot be used."""
    word = st.text_input(
        words.LABEL,
        words.ROWS,
        max_chars=words.LONGEST,
        key="rows_are",
        bind="query-params",
        persist_state="session",
        help=words.HELP,
    )
    called = words.called(word)
    if called is None:
        st.warning(words.REFUSED)
    words.call_rows(called or words.ROWS)
