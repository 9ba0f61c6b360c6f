"""How a file of one set is evaluated: cross-validated, or split."""

import streamlit as st

from dashboard.compute.periods import splits_by_date
from dashboard.opening import choices
from dashboard.readers import Upload
from dashboard.texts import opening as imports
from dashboard.widgets import address


def choose_date(upload: Upload) -> None:
    """Let the user split one set by date, where it has dates."""
    offered, now = splits_by_date(upload), upload.options.split_at
    if not offered and not now:
        return
    places: list[tuple[str, ...]] = [(), *offered, *([now] if now and now not in offered else [])]
    st.session_state["split_by_date"] = now
    st.selectbox(
        imports.SPLIT_BY_DATE,
        places,
        format_func=imports.split_name,
        key="split_by_date",
        help=imports.SPLIT_BY_DATE_HELP,
        on_change=_split_by_date,
    )


def _split_by_date() -> None:
    choices.change(split_at=st.session_state["split_by_date"])


def choose_share(upload: Upload) -> float | None:
    """Let the user cross-validate a single set, or split it; None for the former.

    A summary is cross-validated.
    """
    if upload.summary is not None:
        return None
    kind = address.choose_button(
        imports.EVALUATION,
        imports.EVALUATIONS,
        key="evaluation",
        default="crossed",
        help=imports.split_help(upload),
    )
    if kind == "crossed":
        return None
    share = st.slider("Calibration share (%)", 10, 90, 50, 5, key="share", **address.IN_ADDRESS)
    return float(share / 100)
