"""Who uses the page: by OpenID Connect where it is set up, or as a proxy says."""

import streamlit as st

from dashboard.texts.opening import SIGN_IN, SIGN_IN_HEAD, SIGN_OUT


def is_needed() -> bool:
    """Return whether sign-in is set up and the user has not signed in."""
    return st.user.get("is_logged_in") is False


def show() -> None:
    """Show nothing but the way in."""
    st.header(SIGN_IN_HEAD, anchor=False)
    st.button(SIGN_IN, on_click=st.login, type="primary", icon=":material/login:")


def offer_to_leave() -> None:
    """Show on the left who is signed in, with the way out."""
    if st.user.get("is_logged_in"):
        st.sidebar.button(
            SIGN_OUT, on_click=st.logout, icon=":material/logout:", help=name(), width="stretch"
        )


def name() -> str:
    """Return the name of the user as the provider or the proxy gives it; empty without either."""
    given = st.user.get("name") or st.user.get("email") or ""
    return str(given).strip()
