"""QR codes of links, drawn here: no service is asked."""

import io
from base64 import b64encode

import segno
import streamlit as st

SMALL, LARGE = 3, 14
"""Pixels of the page for one module of a code: beside a text, and to be projected."""

_QUIET = 4
"""Modules of the margin that the standard asks for."""


def show_qr(address: str, alt: str, *, pixels: int = SMALL, opens: str = "") -> None:
    """Show the code of an address, dark on white in either theme.

    ``address``: whole. ``alt``: what it opens. ``pixels``: of a module. ``opens``: what a click on
    the code opens; "" for nothing.
    """
    buffer = io.BytesIO()
    segno.make(address, micro=False).save(
        buffer, kind="svg", scale=pixels, border=_QUIET, light="#fff", xmldecl=False
    )
    picture = f"![{alt}](data:image/svg+xml;base64,{b64encode(buffer.getvalue()).decode()})"
    st.markdown(f"[{picture}]({opens})" if opens else picture, width="content")
