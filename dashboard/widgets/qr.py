"""QR codes of links, drawn here: no service is asked."""

import io
from base64 import b64encode

import segno
import streamlit as st

_PIXELS = 3
"""Of the page for one module of a code."""


def show_qr(address: str, alt: str) -> None:
    """Show the code of an address, dark on white in either theme.

    ``address``: whole. ``alt``: what it opens.
    """
    buffer = io.BytesIO()
    segno.make(address, micro=False).save(
        buffer, kind="svg", scale=_PIXELS, border=2, light="#fff", xmldecl=False
    )
    picture = b64encode(buffer.getvalue()).decode()
    st.markdown(f"![{alt}](data:image/svg+xml;base64,{picture})", width="content")
