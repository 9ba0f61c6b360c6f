"""The controls next to the roles of columns that change how a file is read."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from calibcore.data import LogitSet
from dashboard.compute import files
from dashboard.compute.files import SourceFile
from dashboard.parts import reading_choices
from dashboard.readers import FORMATS, Options, Upload
from dashboard.wording import imports as words
from dashboard.wording import several

_TEXT = frozenset(ending for ending, kind in FORMATS.items() if kind in ("csv", "xlsx"))

_OFFERED: Mapping[str, Mapping[str, Any]] = {
    "values": {
        "Auto": "auto",
        "Logits": "logits",
        "Probabilities": "probabilities",
        "Percentages": "percentages",
        "None of these": "none",
    },
    "first_label": {"Auto": "auto", "0": 0, "1": 1},
    "header": {"Auto": None, "Names": True, "Data": False},
    "sets": {"Auto": "auto", "One": "one"},
}
"""Fields of `Options` that are chosen among a few values, which are called so."""

_LABELLED = {
    "values": ("values", words.VALUES, words.VALUES_HELP),
    "first_label": ("labels_from", words.FIRST_LABEL, words.FIRST_LABEL_HELP),
    "header": ("header", words.HEADER, words.HEADER_HELP),
    "sets": ("sets", words.SETS, words.SETS_HELP),
}
"""Key, label and help of each."""


def choose(sources: Sequence[SourceFile], upload: Upload | None) -> None:
    """Show what can be chosen of files; every change is kept by `chosen` and followed at once.

    ``sources``: the files. ``upload``: None where they are refused.
    """
    options = reading_choices.current()
    one_of("values", options)
    sets = () if upload is None else tuple(upload.sets.values())
    if upload is None or any(isinstance(rows, LogitSet) for rows in sets):
        one_of("first_label", options)
    if {f".{source.name.rpartition('.')[2].lower()}" for source in sources} & _TEXT:
        one_of("header", options)
    _choose_together(sources, options)
    two_sets = len(sources) == 1 and len(sets) == 2
    if upload is None or two_sets or "set" in upload.preview.roles or options.sets == "one":
        one_of("sets", options)
    if not sets or any(isinstance(rows, LogitSet) for rows in sets):
        _choose_names(options)
    _choose_leave_out(options)
    two = upload is not None and (upload.class_names is None or len(upload.class_names) == 2)
    if two or options.prevalence is not None:
        _choose_prevalence(options)
    show_reset()


def show_reset() -> None:
    """Show a button that undoes every choice, where there is one."""
    if reading_choices.is_anything():
        st.button(
            words.AS_FOUND_AGAIN,
            key="reset_reading",
            on_click=reading_choices.reset,
            icon=":material/undo:",
        )


def one_of(field: str, options: Options) -> None:
    """Show the choice of one of the few values of a field."""
    key, label, explained = _LABELLED[field]
    offered = _OFFERED[field]
    now = getattr(options, field)
    st.session_state[key] = next(word for word, value in offered.items() if value == now)
    st.segmented_control(
        label,
        list(offered),
        required=True,
        key=key,
        help=explained,
        on_change=_set_word,
        args=(field, key),
    )


def _set_word(field: str, key: str) -> None:
    reading_choices.change(**{field: _OFFERED[field][st.session_state[key]]})


def _choose_together(sources: Sequence[SourceFile], options: Options) -> None:
    """Show the choice of what several files are of one another, where that is open."""
    names = [source.name for source in sources]
    ways, now = files.ways_together(sources, options), options.together
    if not ways and not now:
        return
    offered = [(), *ways, *([now] if now and now not in ways else [])]
    st.session_state["together"] = now
    st.selectbox(
        several.LABEL,
        offered,
        format_func=lambda way: several.way_said(way, names),
        key="together",
        help=several.HELP,
        on_change=_set_together,
    )


def _set_together() -> None:
    reading_choices.change(together=tuple(st.session_state["together"]))


def _choose_names(options: Options) -> None:
    if words.class_names_in(st.session_state.get("class_names", "")) != options.class_names:
        st.session_state["class_names"] = "\n".join(options.class_names)
    st.text_area(
        words.CLASS_NAMES,
        height=68,
        placeholder=words.AS_FOUND,
        key="class_names",
        help=words.CLASS_NAMES_HELP,
        on_change=_set_names,
    )


def _set_names() -> None:
    reading_choices.change(class_names=words.class_names_in(st.session_state["class_names"] or ""))


def _choose_leave_out(options: Options) -> None:
    st.session_state["leave_out"] = options.leave_out
    st.toggle(words.LEAVE_OUT, key="leave_out", help=words.LEAVE_OUT_HELP, on_change=_set_leave_out)


def _set_leave_out() -> None:
    reading_choices.change(leave_out=bool(st.session_state["leave_out"]))


def _choose_prevalence(options: Options) -> None:
    share = options.prevalence
    st.session_state["prevalence"] = None if share is None else 100 * share
    st.number_input(
        words.PREVALENCE,
        0.001,
        99.999,
        None,
        1.0,
        format="%.6g",
        placeholder=words.NOT_STATED,
        key="prevalence",
        help=words.PREVALENCE_HELP,
        on_change=_set_prevalence,
    )


def _set_prevalence() -> None:
    percent = st.session_state["prevalence"]
    reading_choices.change(prevalence=None if percent is None else percent / 100)
