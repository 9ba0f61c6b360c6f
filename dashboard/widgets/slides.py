"""Pictures for slides: all of a page as one, with title, captions and address, as PNG or SVG.

The browser has them drawn already, so it puts them together itself; nothing is sent anywhere.
"""

from html import escape
from pathlib import Path

import streamlit as st

KINDS = ("PNG", "SVG")

_SCRIPT = Path(__file__).with_suffix(".js").read_text("utf-8")


def offer_slides(label: str, title: str, key: str) -> None:
    """Show a button for each format.

    ``label``: before the buttons. ``title``: written above the pictures. ``key``: unique; names
    the file.
    """
    buttons = " ".join(
        f'<button type="button" data-kind="{kind.lower()}" aria-label="{escape(label)}: {kind}">'
        f"{kind}</button>"
        for kind in KINDS
    )
    st.html(
        f'<p class="slides" data-title="{escape(title)}" data-name="{escape(key)}">'
        f"{escape(label)}: {buttons}</p><script>{_SCRIPT}</script>",
        unsafe_allow_javascript=True,
    )
