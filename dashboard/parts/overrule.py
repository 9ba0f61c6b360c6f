"""The controls that overrule how a file is read."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import streamlit as st

from dashboard import compute
from dashboard.compute import SourceFile
from dashboard.readers import Options
from dashboard.readers.columns.named_sets import parting_of
from dashboard.readers.columns.one_set import can_be_one
from dashboard.readers.contents import Contents, RawEvent, RawSet
from dashboard.wording import imports as words

_TEXT = frozenset({"csv", "tsv", "txt", "xlsx"})
_TABLES = _TEXT | {"parquet", "json", "jsonl", "ndjson"}
_UNNAMED = frozenset({"npy"})

_VALUES = {"Auto": "auto", "Logits": "logits", "Probabilities": "probabilities"}
_FIRST = {"Auto": "auto", "0": 0, "1": 1}
_HEADER = {"Auto": None, "Names": True, "Data": False}
_SETS = {"Auto": "auto", "One": "one"}
_DEFAULTS: dict[str, Any] = {
    "values": "Auto",
    "labels_from": "Auto",
    "label": None,
    "classes": [],
    "class_names": "",
    "header": "Auto",
    "sets": "Auto",
    "prevalence": None,
}
"""Each control's key, and its value while the user overrules nothing."""


_AT_FIRST = "read_at_first"
"""How the first files of a session were read."""

_ASKED, _AGAIN = "asked_back", "take_back_again"


def start_anew(sources: Sequence[SourceFile]) -> None:
    """Take every choice back when other files have come; one that is added changes nothing."""
    now = {source.digest for source in sources}
    before: set[str] = st.session_state.get("files_before", now)
    if not before & now:
        _take_back()
    st.session_state["files_before"] = now


def _take_back() -> None:
    st.session_state.update(_DEFAULTS)
    st.session_state[_AT_FIRST] = Options()


def _ask_back() -> None:
    st.session_state[_ASKED] = True
    for key in _DEFAULTS.keys() & st.query_params.keys():
        if key not in st.session_state:  # else it leaves the address with its control's value
            del st.query_params[key]
    _take_back()


def of_address(options: Options) -> bool:
    """Tell whether the address says how to read the files, and nobody chose it for them.

    What was chosen when the first files came can be of the address alone.
    """
    first: Options = st.session_state.setdefault(_AT_FIRST, options)
    return any(
        getattr(options, field.name) == getattr(first, field.name) != getattr(Options(), field.name)
        for field in fields(Options)
    )


def anything(sources: Sequence[SourceFile]) -> bool:
    """Tell whether there is anything to choose, which there is not in a damaged bare array."""
    return bool(compute.parsed(sources) or _endings(sources) - _UNNAMED)


def choose(sources: Sequence[SourceFile]) -> Options:
    """Let the user say what the files hold: first where it stands, then what it means.

    What it means can be asked only of files that can be parsed once it is known where it stands.
    """
    if st.session_state.pop(_AGAIN, False):
        _take_back()
    first = st.container()
    options = _choose_columns(sources)
    contents = compute.parsed(sources, options)
    if any(one.sets for one in contents):
        with first:
            meaning: dict[str, Any] = {"values": _VALUES[_one_of(words.VALUES, _VALUES, "values")]}
        options = replace(options, **meaning, **_choose_meaning(contents))
    if st.session_state.pop(_ASKED, False) and options != Options():
        # Controls that were not on the page before have just taken their values of the address.
        st.session_state[_AGAIN] = True
        st.rerun()
    if options != Options():
        st.button(words.AS_FOUND_AGAIN, on_click=_ask_back, icon=":material/undo:")
    return options


def _endings(sources: Sequence[SourceFile]) -> set[str]:
    return {source.name.rpartition(".")[2].lower() for source in sources}


_HELP = {
    "values": words.VALUES_HELP,
    "labels_from": words.FIRST_LABEL_HELP,
    "header": words.HEADER_HELP,
    "sets": words.SETS_HELP,
}


def _one_of(label: str, offered: Mapping[str, Any], key: str) -> str:
    chosen = st.segmented_control(
        label,
        list(offered),
        default="Auto",
        required=True,
        key=key,
        help=_HELP[key],
        bind="query-params",
        persist_state="session",
    )
    return chosen or "Auto"


def _choose_columns(sources: Sequence[SourceFile]) -> Options:
    """Let the user choose among the columns by name, or type one where none is known."""
    contents, endings = compute.parsed(sources), _endings(sources)
    uses = {name: use for part in contents for name, use in part.uses.items()}
    chosen: dict[str, Any] = {}
    if uses or (not contents and endings - _UNNAMED):
        taken = next((name for name, use in uses.items() if use == "label"), None)
        chosen["label_column"] = st.selectbox(
            words.LABEL_COLUMN,
            list(uses),
            index=None,
            placeholder=words.as_found(taken),
            key="label",
            help=words.LABEL_COLUMN_HELP,
            accept_new_options=True,
            bind="query-params",
            persist_state="session",
        )
    if (uses or not contents) and endings & _TABLES:
        # Taken by a click, as a choice that is half made would be refused.
        with st.form("class_columns", border=False):
            columns = st.multiselect(
                words.CLASS_COLUMNS,
                list(uses),
                placeholder=words.AS_FOUND,
                key="classes",
                help=words.CLASS_COLUMNS_HELP,
                accept_new_options=True,
                bind="query-params",
                persist_state="session",
            )
            st.form_submit_button(words.TAKE_COLUMNS)
        chosen["class_columns"] = tuple(columns)
    if endings & _TEXT:
        chosen["header"] = _HEADER[_one_of(words.HEADER, _HEADER, "header")]
    return Options(**chosen)


def _choose_meaning(contents: Sequence[Contents]) -> dict[str, Any]:
    """Let the user say what labels, classes and sets there are."""
    raw = [part for one in contents for part in one.sets.values()]
    tables = [part.table for part in raw if isinstance(part, RawSet) and part.table is not None]
    chosen: dict[str, Any] = {}
    if any(isinstance(part, RawSet) or part.numbers is not None for part in raw):
        chosen["first_label"] = _FIRST[_one_of(words.FIRST_LABEL, _FIRST, "labels_from")]
    if any(isinstance(part, RawSet) for part in raw):
        chosen["class_names"] = _choose_names()
    if any(can_be_one(one.sets) or parting_of(one.sets, Options()) for one in contents):
        chosen["sets"] = _SETS[_one_of(words.SETS, _SETS, "sets")]
    of_two = any(table.ndim == 1 or table.shape[1] == 2 for table in tables)
    if of_two or any(isinstance(part, RawEvent) for part in raw):
        chosen["prevalence"] = _choose_prevalence()
    return chosen


def _choose_names() -> tuple[str, ...]:
    typed = st.text_area(
        words.CLASS_NAMES,
        height=68,
        placeholder=words.AS_FOUND,
        key="class_names",
        help=words.CLASS_NAMES_HELP,
        persist_state="session",
    )
    return words.class_names_in(typed or "")


def _choose_prevalence() -> float | None:
    percent = st.number_input(
        words.PREVALENCE,
        0.001,
        99.999,
        None,
        1.0,
        format="%.6g",
        placeholder=words.NOT_STATED,
        key="prevalence",
        help=words.PREVALENCE_HELP,
        bind="query-params",
        persist_state="session",
    )
    return None if percent is None else percent / 100
