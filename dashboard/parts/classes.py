"""Every class at once, worst first."""

from html import escape

import streamlit as st

from calibcore.inference import ClassScreen
from dashboard import compute
from dashboard.compute import Screening
from dashboard.scene import Scene
from dashboard.wording.classes import (
    HEADING,
    LOOK,
    LOOK_HELP,
    WORST_AFTER,
    WORST_BEFORE,
    ClassRow,
    OneSide,
    class_rows,
    classes_note,
    classes_sentence,
    show_more,
)

FEW, MANY = 10, 100
"""Classes that are listed, and at most when all are asked for."""

QUICK = 4_000_000
"""Cells of the table that are looked at unasked: they take a tenth of a second."""

_HEAD = ("Class", "KS error before", "After", "Rows", "Says", "Was")


def show(scene: Scene) -> None:
    """Show which classes are off, if there are more than two: two are one event."""
    class_names = scene.class_names
    if class_names is None or len(class_names) < 3:
        return
    st.subheader(HEADING, anchor=False)
    slow = scene.judged.n_samples * len(class_names) > QUICK
    if slow and not _choose_look():
        return
    with st.spinner(LOOK):
        found = compute.screen(scene)
    if found is not None:
        _show_found(found, class_names)


def _choose_look() -> bool:
    return st.toggle(
        LOOK, key="classes", bind="query-params", persist_state="session", help=LOOK_HELP
    )


def _show_found(found: Screening, class_names: tuple[str, ...]) -> None:
    st.markdown(classes_sentence(found.before, found.after, found.where))
    with st.container(horizontal=True, vertical_alignment="center"):
        by, n_shown = _choose_order(found), _choose_length(len(class_names))
    rows = class_rows(class_names, found.before, found.after, by.order[:n_shown].tolist())
    st.html(_table(rows))
    st.markdown(f":small[{classes_note(found.before, found.after)}]")


def _choose_order(found: Screening) -> ClassScreen:
    """Let the user choose which side's worst come first, where the sides differ."""
    if found.after is None or found.after is found.before:
        return found.before
    chosen = st.segmented_control(
        "Order",
        [WORST_BEFORE, WORST_AFTER],
        default=WORST_BEFORE,
        required=True,
        key="classes_by",
        bind="query-params",
        persist_state="session",
        label_visibility="collapsed",
    )
    return found.after if chosen == WORST_AFTER else found.before


def _choose_length(n_classes: int) -> int:
    """Let the user list more than the worst few."""
    most = min(n_classes, MANY)
    if most <= FEW:
        return n_classes
    name = show_more(most, n_classes)
    wanted = st.toggle(name, key="classes_all", bind="query-params", persist_state="session")
    return most if wanted else FEW


def _table(rows: list[ClassRow]) -> str:
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in _HEAD)
    body = "".join(map(_line, rows))
    return (
        f"<table class='classes measures'><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
        "</table>"
    )


def _line(row: ClassRow) -> str:
    plain = "".join(f"<td>{escape(text)}</td>" for text in (row.rows, row.says, row.was))
    return (
        f"<tr><th scope='row'>{escape(row.name)}</th>{_cell(row.before)}{_cell(row.after)}"
        f"{plain}</tr>"
    )


def _cell(side: OneSide | None) -> str:
    if side is None:
        return "<td>\u2013</td>"
    found = f"{side.sign} {side.verdict}"
    return (
        f"<td>{escape(side.ks_error)}<small><span class='{side.kind}'>{escape(found)}</span>,"
        f" {escape(side.p_value)}</small></td>"
    )
