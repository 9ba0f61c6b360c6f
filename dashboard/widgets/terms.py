"""Terms on a page, each with its definition."""

import streamlit as st

from dashboard.texts.glossary import GLOSSARY, TERMS


def show_terms() -> None:
    """Show the terms in one small line, each with a tooltip."""
    with st.container(horizontal=True, key="terms"):
        for key, name in TERMS.items():
            st.markdown(f":small[{name}]", help=GLOSSARY[key], width="content")
