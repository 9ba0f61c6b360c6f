"""Compare: every calibrator on the data at hand, side by side."""

import re
from html import escape

import pandas as pd
import streamlit as st

from dashboard import compute
from dashboard.scene import Scene
from dashboard.tables import contest_table
from dashboard.wording import CONTEST_NOTE, duration, method_name


def show(scene: Scene) -> None:
    """Offer to try every method, with progress; show the table once it is there."""
    seconds = compute.estimate_contest(scene.upload, scene.settings)
    st.subheader("All calibrators", anchor=False)
    wanted = st.toggle(
        "Fit every method to these data",
        key="contest",
        bind="query-params",
        help="With default options. Switch it off to stop.",
    )
    if not wanted:
        about = "about " if seconds >= 5 else ""
        st.markdown(f":small[Takes {about}{duration(seconds)} on these data.]")
        return
    place = st.empty()
    bar = place.progress(0.0, "Fitting")

    def report(share: float, key: str) -> None:
        bar.progress(share, f"{method_name(key)}: fitting on the calibration set")

    contest = compute.run_contest(scene.upload, scene.settings, scene.chosen, report)
    place.empty()
    with st.container(key="contest_table"):
        st.html(_table(contest_table(contest)))
    st.markdown(f":small[{CONTEST_NOTE.format(where=scene.where)}]")


def _table(table: pd.DataFrame) -> str:
    """Write the table, the best in bold and the second best underlined."""
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in table.columns)
    lines = [
        f"<tr><th scope='row'>{escape(method)}</th>{''.join(map(_cell, cells))}</tr>"
        for method, *cells in table.itertuples(index=False)
    ]
    return (
        f"<table class='measures all-columns'><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def _cell(text: str) -> str:
    marked = re.sub(r"\*\*(.*)\*\*", r"<b>\1</b>", escape(text))
    marked = re.sub("__(.*)__", r"<u>\1</u>", marked)
    return f"<td>{marked}</td>"
