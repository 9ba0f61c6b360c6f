"""Pages of a long list, turned by a number."""

import streamlit as st

from dashboard.texts.classes import page_label
from dashboard.widgets import address


def choose_page(n_entries: int, size: int, key: str) -> int:
    """Let the user turn the pages, if there is more than one; return the first place."""
    n_pages = max(-(-n_entries // size), 1)
    if n_pages == 1:
        return 0
    if st.session_state.get(key, 1) > n_pages:  # of other data, or of shorter pages
        st.session_state[key] = n_pages
    page = address.choose_number(page_label(n_pages), 1, n_pages, 1, key=key, width=140)
    return size * (page - 1)
