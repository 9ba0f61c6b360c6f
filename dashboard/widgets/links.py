"""Links from one page to another."""

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

import streamlit as st

from dashboard.texts.learn import EXERCISES
from dashboard.texts.learn import TITLE as LESSONS

_PAGES = "pages"


def keep_pages(pages: Mapping[str, st.Page]) -> None:
    """Remember the pages by their address, for the links."""
    st.session_state[_PAGES] = pages


def show_page(address: str, label: str, *, icon: str | None = None, **query: str) -> None:
    """Show a link to a page without an arrow before it."""
    page = st.session_state[_PAGES][address]
    st.page_link(page, label=label, icon=icon, query_params=query or None)


def show_further() -> None:
    """Show where to go on from the lessons."""
    with st.container(horizontal=True, gap="medium"):
        for address in ("laboratory", "you"):
            show_link(address, st.session_state[_PAGES][address].title)
        show_link("teachers", EXERCISES, part="exercises")


def show_link(address: str, label: str, **query: str) -> None:
    """Show a link to a page, with settings that its address has."""
    show_page(address, label, icon=":material/arrow_forward:", **query)


def show_button(label: str, key: str, follow: Callable[..., None], *args: object) -> None:
    """Show a button that does what is advised; it looks as a link does."""
    icon = ":material/arrow_forward:"
    st.button(label, key=key, type="tertiary", icon=icon, on_click=follow, args=args)


def full_address(address: str) -> str:
    """Return an address of this dashboard as another browser needs it."""
    here = urlsplit(str(st.context.url or ""))
    return f"{here.scheme}://{here.netloc}/{address}"


TEACHING = ("learn", "laboratory", "you", "glossary", "teachers")
"""Addresses of the pages that teach."""


def show_teaching(current: str) -> None:
    """Show the ways between the pages that teach, and to the exercises.

    ``current``: address of the page that shows them.
    """
    pages = st.session_state[_PAGES]
    with st.container(horizontal=True, vertical_alignment="center", key="teaching"):
        for address in TEACHING:
            label = LESSONS if address == "learn" else pages[address].title
            if address == current:
                st.markdown(f"**{label}**", width="content")
            else:
                st.page_link(pages[address], label=label)
        show_page("teachers", EXERCISES, part="exercises")
