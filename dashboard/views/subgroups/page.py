"""Subgroups: worst first, one to filter all pages to, and the individual rows."""

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.compute.advice import drift_step_of
from dashboard.compute.groupings import ways
from dashboard.compute.subgroups import (
    SubgroupResults,
    find_drift,
    find_groups,
    find_subgroups,
    worst_grouping,
)
from dashboard.document.blocks import Pictures, Sentences, Table
from dashboard.figures.plotly_json import Titles
from dashboard.figures.subgroups import ROW, score_histogram
from dashboard.scene import Scene
from dashboard.texts import listed
from dashboard.texts.rows import say_rows
from dashboard.texts.summaries import NO_GROUPS, NO_LIST
from dashboard.views.subgroups import words
from dashboard.views.subgroups.document import document, order_of
from dashboard.widgets import address, rows_list
from dashboard.widgets.blocks import write
from dashboard.widgets.filter import choose_part
from dashboard.widgets.graph import show_graph
from dashboard.widgets.headline import promise_next, show_next, show_step, show_subject
from dashboard.widgets.paging import choose_page

PAGE = 10
"""Subgroups on a page, so that their picture is whole on the first screen."""

YEAR = 12
"""Periods on a page."""

_RULES = f"""
<style>
.st-key-subgroups_table table.subgroups tbody :is(th, td) {{ padding-block: 0.1rem; }}
.st-key-subgroups_table table.subgroups tbody tr {{ height: {ROW}px; }}
.st-key-subgroups_table table.subgroups td:last-child small {{ white-space: nowrap; }}
@media (max-width: 640px) {{
  .st-key-subgroups_table table.subgroups td:nth-child(3) :is(small, span) {{
    white-space: normal;
  }}
}}
</style>
"""


def show(scene: Scene) -> None:
    """Show the page."""
    show_subject(scene)
    if not ways(scene.upload):
        st.info(NO_GROUPS, icon=":material/info:")
        return
    top = st.container(gap="xsmall")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by = _choose_way(scene)
        results = find_subgroups(scene, by)
        after_first = not results.subgrouping.in_time and _choose_side(results)
        _offer_part(results)
        order = order_of(results, after_first=after_first)
        size = YEAR if results.subgrouping.in_time else PAGE
        start = choose_page(order.size, size, "subgroups_page")
    shown = order[start : start + size]
    worst, picture, table, note = document(scene, by, shown, after_first=after_first)
    with top:
        write(worst)
        drift = find_drift(scene, by) if results.subgrouping.in_time else None
        if drift is not None and (step := drift_step_of(scene, drift)) is not None:
            show_step(scene, step, "drift")
        groups = find_groups(scene)
        if groups.subgroupings[1:]:
            if counted := groups.counted(after=after_first):
                st.markdown(f"{words.ALL_GROUPINGS} {counted[:1].lower()}{counted[1:]}")
            st.markdown(say_rows(groups.over_all()))
        first = promise_next()
    _show_subgroups(scene, picture, table, note, in_time=results.subgrouping.in_time)
    if scene.upload.summary is None:
        _show_rows(scene)
    else:
        st.markdown(NO_LIST)
    show_next(scene, first)


def _choose_way(scene: Scene) -> str:
    offered = ways(scene.upload)
    first = worst_grouping(scene)
    by = st.selectbox(
        words.BY,
        offered,
        index=offered.index(first),
        key="subgroups_by",
        **address.IN_ADDRESS,
        help=words.BY_HELP,
        width=320,
    )
    return by or first


def _choose_side(results: SubgroupResults) -> bool:
    """Show which side's worst come first, where the sides differ; return True for after."""
    if results.after is results.before:
        return False
    chosen = address.choose_button(
        "Order",
        words.ORDERS,
        key="subgroups_order",
        default="after",
        label_visibility="collapsed",
    )
    return chosen == "after"


def _offer_part(results: SubgroupResults) -> None:
    """Show the choice of a subgroup to filter all pages to."""
    subgrouping = results.subgrouping
    shown = dict(zip(subgrouping.names, subgrouping.shown, strict=True))
    st.selectbox(
        words.OPEN,
        subgrouping.open_to_all,
        index=None,
        format_func=shown.__getitem__,
        key="subgroup_opened",
        placeholder=words.OPEN_PLACE,
        help=words.OPEN_HELP,
        on_change=_open,
        args=(subgrouping.by,),
        width=320,
    )


def _open(by: str) -> None:
    """Set the filter as the panel on the left does."""
    value = st.session_state["subgroup_opened"]
    if value is not None:
        choose_part(by, value)
        st.session_state["subgroup_opened"] = None


def _columns(scene: Scene) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return the places of the pictures and of the tables; p-values take more room."""
    left, right = st.columns([4, 7] if scene.expert else [2, 3], gap="medium")
    return left, right


# The subgroups ------------------------------------------------------------------------------


def _show_subgroups(
    scene: Scene, picture: Pictures, table: Table, note: Sentences, *, in_time: bool
) -> None:
    if in_time:
        left, right = st.container(), st.container()
    else:
        with st.container(key="narrow_subgroups"):
            left, right = _columns(scene)
    with left:
        write(picture)
    with right:
        st.html(_RULES)
        with st.container(key="subgroups_table"):
            write(replace(table, columns=(words.SUBGROUP, *table.columns[1:])))
        write(note)


# The rows -----------------------------------------------------------------------------------


def _show_rows(scene: Scene) -> None:
    """Show the rows of a range of scores, most confident mistakes first until chosen otherwise."""
    event = scene.event_words
    st.subheader(say_rows(listed.HEADING), anchor=False)
    left, right = _columns(scene)
    with left:
        chosen = rows_list.choose_range()
        bins = scene.evaluated.before.bins
        figure = score_histogram(bins, (chosen.low, chosen.high), event.missed, scene.palette)
        titles = Titles(write=str)  # which hold the event's name and call rows already
        show_graph("Scores", figure, listed.histogram_caption(bins, event), titles=titles)
    with right:
        rows_list.show_rows(scene, chosen, key="rows")
