"""Subgroups: worst first, one to filter all pages to, and the individual rows."""

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calibcore.subgroups import Places, SliceScreen
from calibcore.verdict import DETECTION_LEVEL
from dashboard.compute.advice import drift_step_of
from dashboard.compute.figures import draw_slices
from dashboard.compute.split import ways
from dashboard.compute.subgroups import (
    DriftResults,
    SubgroupResults,
    find_drift,
    find_groups,
    find_slices,
    most_telling,
)
from dashboard.compute.verdict import groups_of
from dashboard.figures.plotly_json import Titles
from dashboard.figures.subgroups import ROW, score_histogram
from dashboard.scene import Scene
from dashboard.texts import listed
from dashboard.texts.advice import drift_line, drifts
from dashboard.texts.rows import say_rows
from dashboard.views.subgroups import words
from dashboard.views.subgroups.document import slice_table
from dashboard.widgets import address, rows_list
from dashboard.widgets.blocks import write
from dashboard.widgets.filter import choose_part
from dashboard.widgets.graph import show_graph
from dashboard.widgets.headline import show_step, show_subject
from dashboard.widgets.paging import choose_page

PAGE = 10
"""Subgroups on a page, so that their picture is whole on the first screen."""

YEAR = 12
"""Periods on a page."""

_RULES = f"""
<style>
.st-key-slices_table table.slices tbody :is(th, td) {{ padding-block: 0.1rem; }}
.st-key-slices_table table.slices tbody tr {{ height: {ROW}px; }}
.st-key-slices_table table.slices td:last-child small {{ white-space: nowrap; }}
@media (max-width: 640px) {{
  .st-key-slices_table table.slices td:nth-child(3) :is(small, span) {{ white-space: normal; }}
}}
</style>
"""


def show(scene: Scene) -> None:
    """Show the page."""
    show_subject(scene)
    top = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by = _choose_way(scene)
        slices = find_slices(scene, by)
        after_first = not slices.slicing.in_time and _choose_side(slices)
        first, after = (slices.after if after_first else slices.before), _after(slices)
        _offer_part(slices)
        order = _order(slices, first)
        size = YEAR if slices.slicing.in_time else PAGE
        start = choose_page(order.size, size, "slices_page")
    how = words.Wording(after_first, _is_prediction(scene), scene.expert)
    sentence = words.conclusion((slices.before, after), by, slices.slicing.shown, how)
    slicings = find_groups(scene).slicings
    drift = find_drift(scene, by) if slices.slicing.in_time else None
    with top:
        _show_conclusion(scene, sentence, drift, (slices.before, after))
        if (counted := groups_of(scene).counted(after=after_first)) and slicings[1:]:
            st.markdown(f"{words.ALL_GROUPINGS} {counted[:1].lower()}{counted[1:]}")
    _show_slices(scene, slices, first, order[start : start + size])
    _show_rows(scene)


def _show_conclusion(
    scene: Scene,
    sentence: str,
    drift: DriftResults | None,
    screens: tuple[SliceScreen, SliceScreen | None],
) -> None:
    """Show the drift first where it is detected, with what to do; else the subgroups."""
    line = ""
    if drift is not None:
        sides = drift.before, drift.after
        alone = any(
            drifts(one) and screen is not None and not screen.off(DETECTION_LEVEL).any()
            for one, screen in zip(sides, screens, strict=True)
        )
        by, shown = drift.slicing.by, drift.slicing.shown
        line = drift_line(by, shown, sides, expert=scene.expert, alone=alone)
    detected = drift is not None and drift.detected
    st.subheader(line.replace("**", "") if detected else sentence, anchor=False)
    st.markdown(sentence if detected else line)
    step = drift_step_of(scene, drift) if drift is not None else None
    if step is not None:
        show_step(scene, step, "drift")


def _is_prediction(scene: Scene) -> bool:
    return scene.event_words.prediction


def _choose_way(scene: Scene) -> str:
    offered = ways(scene.upload)
    first = most_telling(scene)
    by = st.selectbox(
        words.BY,
        offered,
        index=offered.index(first),
        key="slices_by",
        **address.IN_ADDRESS,
        help=words.BY_HELP,
        width=320,
    )
    return by or first


def _order(results: SubgroupResults, first: SliceScreen) -> Places:
    """List the subgroups that have rows: periods in time order, others worst first."""
    worst_first = first.order(DETECTION_LEVEL)
    return np.sort(worst_first) if results.slicing.in_time else worst_first


def _choose_side(results: SubgroupResults) -> bool:
    """Show which side's worst come first, where the sides differ; return True for after."""
    if _after(results) is None:
        return False
    chosen = address.choose(
        st.segmented_control,
        "Order",
        words.ORDERS,
        key="slices_order",
        default="after",
        required=True,
        label_visibility="collapsed",
    )
    return chosen == "after"


def _after(results: SubgroupResults) -> SliceScreen | None:
    return None if results.after is results.before else results.after


def _offer_part(results: SubgroupResults) -> None:
    """Show the choice of a subgroup to filter all pages to."""
    slicing = results.slicing
    shown = dict(zip(slicing.names, slicing.shown, strict=True))
    st.selectbox(
        words.OPEN,
        slicing.open_to_all,
        index=None,
        format_func=shown.__getitem__,
        key="slice_opened",
        placeholder=words.OPEN_PLACE,
        help=words.OPEN_HELP,
        on_change=_open,
        args=(slicing.by,),
        width=320,
    )


def _open(by: str) -> None:
    """Set the filter as the panel on the left does."""
    value = st.session_state["slice_opened"]
    if value is not None:
        choose_part(by, value)
        st.session_state["slice_opened"] = None


def _columns(scene: Scene) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return the places of the pictures and of the tables; p-values take more room."""
    left, right = st.columns([4, 7] if scene.expert else [2, 3], gap="medium")
    return left, right


# The subgroups ------------------------------------------------------------------------------


def _show_slices(scene: Scene, results: SubgroupResults, first: SliceScreen, shown: Places) -> None:
    slicing, after = results.slicing, _after(results)
    if slicing.in_time:
        left, right = st.container(), st.container()
    else:
        with st.container(key="narrow_slices"):
            left, right = _columns(scene)
    with left:
        figure = draw_slices(scene, results, shown)
        caption = words.dots_caption(results.before, after)
        if slicing.in_time:
            caption = f"{caption} {words.worst_caption(slicing.shown, results.before)}"
        show_graph(words.PICTURE, figure, caption)
    with right:
        rows = slice_table(
            words.SUBGROUP,
            slicing.shown,
            (results.before, after),
            (results.right, results.right_after),
            shown.tolist(),
            prediction=_is_prediction(scene),
            expert=scene.expert,
        )
        st.html(_RULES)
        with st.container(key="slices_table"):
            write(rows)
        n_shown = _order(results, first).size
        note = words.table_note(first, n_shown, by=slicing.by, worst_first=not slicing.in_time)
        text = " ".join((note, *words.missing(scene.upload, slicing.by)))
        st.markdown(f":small[{text}]", help=words.about(first, expert=scene.expert))


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
