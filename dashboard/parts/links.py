"""Links from one page to another."""

from collections.abc import Mapping

import streamlit as st

_PAGES = "pages"


def keep_pages(pages: Mapping[str, st.Page]) -> None:
    """Remember the pages by their address, for the links."""
    st.session_state[_PAGES] = pages


def show_link(address: str, label: str) -> None:
    """Show a link to a page."""
    st.page_link(st.session_state[_PAGES][address], label=label, icon=":material/arrow_forward:")
