"""The theme in use, and the few rules of style that Streamlit has no option for."""

import streamlit as st

from dashboard.figures import DARK, LIGHT, Palette

_RULES = """
<style>
[data-testid="stMainBlockContainer"] { padding: 2.5rem 2rem 4rem; max-width: 1500px; }
[data-testid="stMetricLabel"] p { font-size: 0.875rem; }
.st-key-contest_table { overflow-x: auto; }
@media (min-width: 641px) {
  .st-key-phone_switch { display: none; }
}
@media (max-width: 640px) {
  [data-testid="stMainBlockContainer"] { padding: 3.5rem 1rem 3rem; }
  .st-key-tiles [data-testid="stColumn"] { min-width: calc(50% - 0.5rem); flex: 1 1 40%; }
  .st-key-measures :is(th, td):nth-child(4) { display: none; }
}
</style>
"""


def apply() -> None:
    """Add the rules to the page."""
    st.html(_RULES)


def hide_on_phones(key: str) -> None:
    """Hide the container of that key where the page is as narrow as a phone."""
    st.html(f"<style>@media (max-width: 640px) {{ .st-key-{key} {{ display: none; }} }}</style>")


def palette() -> Palette:
    """Give the colours that fit the theme in use."""
    return DARK if st.context.theme.type == "dark" else LIGHT
