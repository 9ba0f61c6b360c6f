"""How a file of one set is evaluated: cross-validated, or split."""

import streamlit as st

from dashboard.parts import address
from dashboard.readers import Upload
from dashboard.wording import imports


def choose_share(upload: Upload) -> float | None:
    """Let the user cross-validate a single set, or split it; None for the former."""
    kind = address.choose(
        st.segmented_control,
        imports.EVALUATION,
        imports.EVALUATIONS,
        key="evaluation",
        default="crossed",
        required=True,
        help=imports.split_help(upload),
    )
    if kind == "crossed":
        return None
    share = st.slider(
        "Calibration share (%)",
        10,
        90,
        50,
        5,
        key="share",
        bind="query-params",
        persist_state="session",
    )
    return float(share / 100)
