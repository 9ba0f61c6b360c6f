"""Decisions: what acting on a score comes to, by the cut-off."""

from html import escape

import streamlit as st

from calibcore.data import EventScores
from calibcore.decisions import AtCutoff, at_cutoff, cutoff_of_costs, decision_curve
from calibcore.events import TopR
from dashboard.compute import decisions as compute
from dashboard.figures.decisions import MESH, coverage_graph, decision_graph
from dashboard.parts import address, report
from dashboard.parts.downloads import file_name, offer_table
from dashboard.parts.graph import show_graph
from dashboard.parts.headline import show_subject
from dashboard.scene import Scene
from dashboard.tables import csv_of
from dashboard.wording import acting as words
from dashboard.wording import commonest_class
from dashboard.wording.classes import shortened
from dashboard.wording.rows import rows_of, say_rows

SIDES = ("Before", "After")

MOST_GROUPS = 12
"""Subgroups in the table; the file has all."""


def show(scene: Scene) -> None:
    """Show the page."""
    show_subject(scene)
    if isinstance(scene.settings.event, TopR):
        _show_kept(scene)
    else:
        _show_called(scene)


# One event ----------------------------------------------------------------------------------


def _show_called(scene: Scene) -> None:
    top = st.container()
    sides = list(compute.sides_of(scene).items())
    cutoff, costs = _choose_cutoff(sides[0][1])
    st.session_state[report.CUTOFF], st.session_state[report.COSTS] = cutoff, costs
    found = [at_cutoff(event, cutoff) for _, event in sides]
    name = scene.event_words.name
    top.subheader(words.sentence(found[-1], name, side=sides[-1][0]), anchor=False)
    for text in compute.cutoff_lines(scene, found, costs):
        top.markdown(text)
    if compute.is_usual(sides[0][1], cutoff):
        top.markdown(words.usual_sentence(cutoff))
    curves = [(side, decision_curve(event, MESH)) for side, event in sides]
    left, right = st.columns(2, gap="medium")
    with left:
        figure = decision_graph(curves, cutoff, scene.palette)
        show_graph("Decisions curve", figure, say_rows(words.CURVE_CAPTION))
    with right:
        rows = [(say_rows(name), "", cells) for name, cells in words.counts_rows(found, costs)]
        st.html(_table(("", *(side for side, _ in sides)), rows))
        st.markdown(f":small[{words.reference_sentence(found[-1])}]")
        if compute.has_steps(scene):
            st.markdown(f":small[{say_rows(words.STEPS)}]")
    for side, curve in curves:
        st.markdown(words.use_sentence(curve, side=side))
    _show_groups(scene, sides, cutoff, found)


def _show_groups(
    scene: Scene, sides: list[tuple[str, EventScores]], cutoff: float, found: list[AtCutoff]
) -> None:
    """Show the same counts in each subgroup, where there is something to group by; and a file."""
    offered, groups = compute.groupings_of(scene), []
    if offered:
        st.subheader(words.GROUPS, anchor=False)
        by = st.selectbox(
            words.GROUP_BY, offered, key="decisions_by", bind="query-params",
            persist_state="session", width=320,
        )  # fmt: skip
        events = [event for _, event in sides]
        groups = compute.by_group(scene, by or offered[0], events, cutoff)
        rows = [
            (shortened(name), rows_of(each[0].n_samples), words.group_cells(each))
            for name, each in groups[:MOST_GROUPS]
        ]
        with st.container(key="slices_table"):
            st.html(_table(words.GROUP_HEAD, rows))
        st.markdown(f":small[{words.groups_note(len(rows), len(groups))}]")
    named = [(say_rows(words.ALL_ROWS), found), *groups]
    lines = words.file_lines(
        [
            (name, side, one)
            for name, each in named
            for (side, _), one in zip(sides, each, strict=True)
        ]
    )
    offer_table(lambda: csv_of(words.FILE_HEAD, lines), name=file_name("cut-off"), facts=True)


def _choose_cutoff(event: EventScores) -> tuple[float, tuple[float, float] | None]:
    """Let the user set a cut-off, or what mistakes cost, which are returned too."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        way = address.choose(
            st.segmented_control,
            words.BY,
            words.WAYS,
            key="cutoff_by",
            default="slider",
            required=True,
            width="content",
        )
        if way == "slider":
            usual = compute.usual_cutoff(event)
            chosen = st.slider(
                words.CUTOFF, 1, 99, usual, key="cutoff", bind="query-params",
                persist_state="session", help=words.CUTOFF_HELP, width=420,
            )  # fmt: skip
            return int(chosen) / 100, None
        alarm, miss = (
            st.number_input(
                label, 0.01, 1e9, usual, key=key, bind="query-params", persist_state="session",
                help=words.COSTS_HELP, width=200,
            )
            for label, usual, key in (
                (words.ALARM, 1.0, "cost_alarm"),
                (words.MISS, 4.0, "cost_miss"),
            )
        )  # fmt: skip
    costs = float(alarm), float(miss)
    return cutoff_of_costs(*costs), costs


# Predictions --------------------------------------------------------------------------------


def _show_kept(scene: Scene) -> None:
    top = st.container()
    wanted = st.slider(
        words.ACCURACY_WANTED, 50.0, 99.9, words.USUAL_ACCURACY, 0.1, key=report.ACCURACY,
        bind="query-params", persist_state="session", help=words.ACCURACY_HELP, width=360,
    )  # fmt: skip
    found = compute.kept_of(scene, float(wanted) / 100)
    first, *others = words.kept_lines(found, float(wanted) / 100)
    top.subheader(first, anchor=False)
    for text in others:
        top.markdown(text)
    curves = [(side, one.curve) for side, one in zip(SIDES, found, strict=False)]
    figure = coverage_graph(curves, compute.share_kept(found), scene.palette)
    show_graph("Decisions kept", figure, say_rows(words.KEPT_CAPTION))
    event = scene.evaluated.after.event
    st.markdown(words.all_rows_sentence([one.aurc for _, one in curves], event))
    if scene.settings.event == TopR(1):
        st.markdown(commonest_class(scene.evaluated))


def _table(heads: tuple[str, ...], rows: list[tuple[str, str, list[words.Cell]]]) -> str:
    head = "".join(
        f"<th scope='col'>{escape(name)}</th>" if name else "<td></td>" for name in heads
    )
    body = "".join(
        f"<tr><th scope='row'>{escape(name)}{_small(note)}</th>"
        + "".join(f"<td>{escape(cell.text)}{_small(cell.note)}</td>" for cell in cells)
        + "</tr>"
        for name, note, cells in rows
    )
    return (
        "<table class='measures changes all-columns' tabindex='0'>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _small(note: str) -> str:
    return "".join(f"<small>{escape(line)}</small>" for line in note.splitlines())
