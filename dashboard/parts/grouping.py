"""The choice of the groups that a calibrator is told."""

import streamlit as st

from dashboard.compute.slices import groupings
from dashboard.readers import Upload
from dashboard.settings import NO_METHOD, Settings, method_by_key
from dashboard.wording import slice_names as words

_KEY = "group"


def choose_group(upload: Upload, settings: Settings) -> str | None:
    """Let the user choose the column that names groups; None where no calibrator needs one."""
    if settings.method == NO_METHOD or not method_by_key(settings.method).knows_groups:
        return None
    offered = groupings(upload)
    if st.session_state.get(_KEY) not in offered:
        st.session_state.pop(_KEY, None)
    chosen = st.selectbox(
        words.CALIBRATE_BY,
        offered,
        key=_KEY,
        bind="query-params",
        persist_state="session",
        help=words.CALIBRATE_BY_HELP,
    )
    st.markdown(f":small[:material/warning: {words.KNOWN_GROUPS}]")
    return chosen
