"""Terms on a page, each with its definition."""

from collections.abc import Sequence

import streamlit as st

from dashboard.texts.glossary import GLOSSARY, TERMS


def show_terms(keys: Sequence[str]) -> None:
    """Show terms in one small line, each with a tooltip.

    ``keys``: of the glossary.
    """
    with st.container(horizontal=True, key="terms"):
        for key in keys:
            st.markdown(f":small[{TERMS[key]}]", help=GLOSSARY[key], width="content")
