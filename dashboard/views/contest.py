"""Every calibrator on the data at hand, side by side."""

from collections.abc import Callable

import streamlit as st

from calibcore.evaluation import SetResult
from dashboard.tables import contest_table
from dashboard.wording import CONTEST_NOTE, duration, method_name

Contest = Callable[[Callable[[float, str], None]], list[tuple[str, SetResult]]]


def show_contest(run: Contest, where: str, seconds: float) -> None:
    """Offer to try every method, with progress; show the table once it is there.

    Parameters
    ----------
    run : callable
        Takes a function that is told the share done and the method at work; gives the judgements.
    where : str
        Name of the set that judges.
    seconds : float
        About how long it will take.
    """
    st.subheader("All calibrators", anchor=False)
    wanted = st.toggle(
        "Fit every method to these data",
        key="contest",
        bind="query-params",
        help="With default options. Switch it off to stop.",
    )
    if not wanted:
        st.markdown(f":small[Takes about {duration(seconds)} on these data.]")
        return
    place = st.empty()
    bar = place.progress(0.0, "Fitting")

    def report(share: float, key: str) -> None:
        bar.progress(share, f"{method_name(key)}: fitting on the calibration set")

    contest = run(report)
    place.empty()
    with st.container(key="contest_table"):
        st.table(contest_table(contest), border="horizontal", hide_index=True)
    st.markdown(f":small[{CONTEST_NOTE.format(where=where)}]")
