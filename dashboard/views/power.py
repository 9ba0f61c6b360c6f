"""What this many rows can show."""

import streamlit as st

from calibcore.evaluation import SetResult
from dashboard.wording.reach import power_sentence


def show(judged: SetResult) -> None:
    """Say how small a gap would go unseen, below the tiles."""
    st.markdown(f":small[{power_sentence(judged.before, judged.n_samples)}]")
