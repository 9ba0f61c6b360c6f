"""A button that moves a slider step by step, or presses a button again and again, until stopped.

The browser does both as a hand would, so that all that follows is the page's own.
"""

from html import escape
from pathlib import Path

import streamlit as st

_SCRIPT = Path(__file__).with_suffix(".js").read_text("utf-8")


def offer_play(label: str, stop: str, *, slider: str = "", button: str = "") -> None:
    """Show the button; where motion is to be reduced, the browser hides it.

    ``label``, ``stop``: written on it while it stands and while it plays. ``slider``: label of the
    slider that goes from its start to its end. ``button``: or label of the button that is pressed.
    """
    st.html(
        f'<p class="play"><button type="button" data-label="{escape(label)}"'
        f' data-stop="{escape(stop)}" data-slider="{escape(slider)}"'
        f' data-button="{escape(button)}">{escape(label)}</button></p>'
        f"<script>{_SCRIPT}</script>",
        unsafe_allow_javascript=True,
        width="content",
    )
