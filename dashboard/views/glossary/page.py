"""Every word, measure and calibrator: what it is, its formula, its source."""

from pathlib import Path

import streamlit as st

from dashboard.texts.glossary import GLOSSARY
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import escape_markdown
from dashboard.views.glossary import reference as words
from dashboard.widgets.links import show_teaching

SITE = Path(__file__).parents[2] / "static" / "docs" / "index.html"
"""The built documentation (``make docs``), which Streamlit serves from ``static``."""


def show() -> None:
    """Show three lists, one at a time."""
    show_teaching("glossary")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(words.INTRO, width="stretch")
        if SITE.exists():
            st.link_button(words.SITE, "app/static/docs/index.html", icon=":material/menu_book:")
    measures, calibrators, terms = st.tabs([words.MEASURES, words.CALIBRATORS, words.WORDS])
    with terms:
        for name, meaning in words.words():
            st.markdown(f"**{name}.** {meaning}")
    with measures:
        _show_measures()
    with calibrators:
        _show_calibrators()


def _show_measures() -> None:
    for title, measures in words.measures():
        st.markdown(f"**{title}**")
        for measure in measures:
            with st.expander(measure.name):
                st.markdown(GLOSSARY[measure.key])
                st.markdown(f":small[{words.facts(measure)}]")
                _show_notes(words.notes_of_measure(measure))


def _show_calibrators() -> None:
    for method in words.calibrators():
        with st.expander(method_name(method.key)):
            st.markdown(f"{method.explained} {words.needs(method)}")
            st.markdown(f"`{method.formula}`")
            st.markdown(f":small[{escape_markdown(method.paper)} \u00b7 `{method.key}`]")
            _show_notes(words.notes_of_calibrator(method))
            st.link_button(
                words.SEEN_ON, f"maps?method={method.key}", icon=":material/open_in_new:"
            )


def _show_notes(notes: str) -> None:
    if notes:
        st.markdown(escape_markdown(notes.replace("``", "").replace("`", "")))
