"""The panel on the left: on a phone, where it covers the page, a choice in it closes it."""

import streamlit as st

_CHOSEN, _CLOSED = "panel_chosen", "panel_closed"

# Streamlit has no setting for this: it keeps a panel open that was opened by hand.
_CLOSE = """
<script>
/* {number} */
if (window.innerWidth < 768) {{
  document.querySelector('[data-testid="stSidebar"][data-collapsed="false"]')
    ?.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
}}
</script>
"""


def await_choice() -> None:
    """Note that nothing is chosen yet, so that the first choice closes the panel."""
    st.session_state[_CHOSEN] = ()


def close_on_phones(*choices: object) -> None:
    """Close the panel on a phone where a choice differs from the last run's.

    ``*choices``: what the panel decides.
    """
    before = st.session_state.get(_CHOSEN, choices)
    st.session_state[_CHOSEN] = choices
    if before != choices:
        st.session_state[_CLOSED] = st.session_state.get(_CLOSED, 0) + 1
    number = st.session_state.get(_CLOSED, 0)
    with st.container(key="panel_closed"):  # on every run, so that what follows keeps its place
        if number:
            st.html(_CLOSE.format(number=number), unsafe_allow_javascript=True)
