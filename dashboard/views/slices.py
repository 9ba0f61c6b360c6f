"""Subgroups: worst first, one to filter all pages to, and the individual rows."""

from html import escape

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calibcore.events import TopR
from calibcore.slices import Places, SliceScreen
from dashboard import compute
from dashboard.compute.drift import find_drift
from dashboard.compute.groups import FoundSlices, find_slices, most_telling
from dashboard.compute.listed_rows import ListedRows, list_rows
from dashboard.compute.slices import ways
from dashboard.figures.slices import ROW, score_histogram
from dashboard.parts import address
from dashboard.parts.downloads import file_name, offer_table
from dashboard.parts.graph import show_graph
from dashboard.parts.headline import show_subject
from dashboard.parts.paging import choose_page
from dashboard.parts.row_filter import choose_part, make_choosable
from dashboard.scene import Scene
from dashboard.tables import csv_of
from dashboard.wording import listed
from dashboard.wording import slices as words
from dashboard.wording.classes import shortened
from dashboard.wording.drift import drift_line
from dashboard.wording.events import event_words
from dashboard.wording.numbers import NO_BREAK
from dashboard.wording.roles import sideways
from dashboard.wording.verdicts import DETECTION_LEVEL

PAGE = 10
"""Subgroups on a page, so that their picture is whole on the first screen."""

YEAR = 12
"""Periods on a page."""

MOST_ON_PHONES = 5
"""Columns of the list of rows that a phone shows at once."""

NOTHING, ARROW = "\u2013", " \u2192 "

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
        found = find_slices(scene, by)
        after_first = not found.slicing.in_time and _choose_side(found)
        first, after = (found.after if after_first else found.before), _after(found)
        _offer_part(found)
        order = _order(found, first)
        size = YEAR if found.slicing.in_time else PAGE
        start = choose_page(order.size, size, "slices_page")
    how = words.HowSaid(after_first, _is_prediction(scene), scene.expert)
    sentence = words.conclusion((found.before, after), by, found.slicing.shown, how)
    top.subheader(sentence, anchor=False)
    drift = find_drift(scene, by) if found.slicing.in_time else None
    if drift is not None:
        sides = drift.before, drift.after
        top.markdown(drift_line(by, drift.slicing.shown, sides, expert=scene.expert))
    _show_slices(scene, found, first, order[start : start + size])
    _show_rows(scene)


def _is_prediction(scene: Scene) -> bool:
    return event_words(scene.settings.event, scene.class_names).prediction


def _choose_way(scene: Scene) -> str:
    offered = ways(scene.upload)
    first = most_telling(scene)
    by = st.selectbox(
        words.BY,
        offered,
        index=offered.index(first),
        key="slices_by",
        bind="query-params",
        persist_state="session",
        help=words.BY_HELP,
        width=320,
    )
    return by or first


def _order(found: FoundSlices, first: SliceScreen) -> Places:
    """List the subgroups that have rows: periods in time order, others worst first."""
    worst_first = first.order(DETECTION_LEVEL)
    return np.sort(worst_first) if found.slicing.in_time else worst_first


def _choose_side(found: FoundSlices) -> bool:
    """Show which side's worst come first, where the sides differ; return True for after."""
    if _after(found) is None:
        return False
    chosen = address.choose(
        st.segmented_control,
        "Order",
        words.ORDERS,
        key="slices_order",
        default="before",
        required=True,
        label_visibility="collapsed",
    )
    return chosen == "after"


def _after(found: FoundSlices) -> SliceScreen | None:
    return None if found.after is found.before else found.after


def _offer_part(found: FoundSlices) -> None:
    """Show the choice of a subgroup to filter all pages to."""
    slicing = found.slicing
    shown = dict(zip(slicing.names, slicing.shown, strict=True))
    make_choosable()
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


def _show_slices(scene: Scene, found: FoundSlices, first: SliceScreen, shown: Places) -> None:
    slicing, after = found.slicing, _after(found)
    left, right = _columns(scene)
    with left:
        figure = compute.draw_slices(scene, found, shown)
        show_graph(words.PICTURE, figure, words.dots_caption(found.before, after))
    with right:
        rows = words.slice_rows(
            slicing.shown,
            (found.before, after),
            (found.right, found.right_after),
            shown.tolist(),
            prediction=_is_prediction(scene),
        )
        st.html(_RULES)
        with st.container(key="slices_table"):
            st.html(_slice_table(rows, expert=scene.expert))
        n_shown = _order(found, first).size
        note = words.table_note(first, n_shown, by=slicing.by)
        said = " ".join((note, *words.missing(scene.upload, slicing.by)))
        st.markdown(f":small[{said}]", help=words.about(first, expert=scene.expert))


def _slice_table(rows: list[words.SliceRow], *, expert: bool) -> str:
    head = "".join(f"<th scope='col'>{name}</th>" for name in words.HEAD)
    body = "".join(_slice_line(row, expert=expert) for row in rows)
    return (
        f"<table class='measures slices all-columns' tabindex='0'><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def _slice_line(row: words.SliceRow, *, expert: bool) -> str:
    sides = [row.before] if row.after is None else [row.before, row.after]
    gaps = ARROW.join(side.gap for side in sides)
    intervals = ARROW.join(side.interval.replace(" ", NO_BREAK) for side in sides)
    errors = words.both(side.ks_error for side in sides)
    found = [_verdict(side, expert=expert) for side in sides]
    if len(set(found)) < len(found):
        found = [f"{found[0]} {words.BOTH_SIDES}"]
    cells = (
        f"{escape(gaps)}<small>{escape(intervals)}</small>",
        f"{escape(errors)}<small>{ARROW.join(found)}</small>",
        f"{escape(row.right) or NOTHING}<small>{escape(row.right_interval)}</small>",
    )
    name = f"{escape(row.name)}<small>{escape(row.rows)}</small>"
    return f"<tr><th scope='row'>{name}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _verdict(side: words.OneSide, *, expert: bool) -> str:
    text = f"{side.sign} {side.verdict}"
    if expert and side.p_value:
        text += f", {side.p_value}"
    return f"<span class='{side.kind}'>{escape(text)}</span>"


# The rows -----------------------------------------------------------------------------------


def _show_rows(scene: Scene) -> None:
    """Show the rows of a range of scores, most confident mistakes first."""
    event = scene.settings.event
    st.subheader(listed.HEADING, anchor=False)
    left, right = _columns(scene)
    with left:
        ends = st.slider(
            listed.RANGE,
            0,
            100,
            (0, 100),
            key="scores_listed",
            bind="query-params",
            persist_state="session",
        )
        low, high = sorted(ends)  # an address may hold them the other way round
        found = list_rows(scene, low / 100, high / 100)
        bins = scene.evaluated.before.bins
        shown = low / 100, high / 100
        figure = score_histogram(bins, shown, listed.missed_sign(event), scene.palette)
        show_graph("Scores", figure, listed.histogram_caption(bins, event))
    with right:
        st.markdown(listed.range_sentence((low, high), found.n_rows, found.n_misses, event))
        if found.n_rows:
            _show_list(scene, found)


def _show_list(scene: Scene, found: ListedRows) -> None:
    # Of the prediction itself, the two classes say already whether it was right.
    seen = found.said is not None and scene.settings.event == TopR(1)
    head = listed.list_head(found.columns, classes=found.said is not None, hits=not seen)
    if len(head) > MOST_ON_PHONES:
        with st.container(key="phone_rows_hint"):
            st.markdown(f":small[{sideways(len(head))}]")
    with st.container(key="rows_table"):
        st.html(_row_table(head, found))
    numbered = listed.numbered(scene.upload.contents, scene.where)
    note = listed.list_note(len(found.numbers), found.n_rows, scene.settings.event, numbered)
    decided = listed.decided_note(scene.evaluated) if found.said is not None else ""
    st.markdown(f":small[{note} {decided}]")
    lines = lines_of(found, head)
    offer_table(lambda: csv_of(head, lines), label=listed.DOWNLOAD, name=file_name("rows"))


def lines_of(found: ListedRows, head: list[str]) -> list[list[str | float]]:
    """Return the listed rows' cells in the order of their heading."""
    classes = [part for part in (found.true, found.said) if part is not None]
    hits = [listed.CAME_TRUE[bool(hit)] for hit in found.hits]
    parts = (
        found.numbers,
        *classes,
        *([hits] if listed.HIT in head[: len(classes) + 2] else []),
        found.before.tolist(),
        found.after.tolist(),
        *found.columns.values(),
    )
    return [list(line) for line in zip(*parts, strict=True)]


def _row_table(head: list[str], found: ListedRows) -> str:
    titles = "".join(f"<th scope='col'>{escape(name)}</th>" for name in head)
    scores = {head.index(listed.BEFORE), head.index(listed.AFTER)}
    body = "".join(
        "<tr>"
        + "".join(
            f"<td>{escape(_cell(cell, share=place in scores))}</td>"
            for place, cell in enumerate(line)
        )
        + "</tr>"
        for line in lines_of(found, head)
    )
    return (
        f"<table class='measures listed all-columns' tabindex='0'><thead><tr>{titles}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def _cell(cell: str | float, *, share: bool) -> str:
    if isinstance(cell, str):
        return shortened(cell)
    return listed.score(cell) if share else listed.number(cell)
