"""How the user wants the files to be read: kept in the session, and written into the address."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from hashlib import sha256
from typing import Any
from urllib.parse import unquote

import streamlit as st

from calibcore.data import LogitSet
from calibcore.errors import CalibrationInputError
from dashboard.compute import files
from dashboard.compute.files import SourceFile
from dashboard.headless import event_of
from dashboard.readers import FORMATS, ReadingOptions, Upload
from dashboard.readers.records import ROLES, ColumnRole, Proposal
from dashboard.readers.refusal import FileError, Question, visible
from dashboard.take_home.prevalence import share_of_new
from dashboard.texts import opening as words
from dashboard.texts.design import estimated_share, shift_assumed
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import escape_markdown
from dashboard.texts.refusal import refusal

_OPTIONS, _WRONG, _BY_ADDRESS = "reading_options", "reading_wrong", "reading_by_address"

_CHOSEN_FOR = "reading_made_for"
"""Digests of the files that were there when something was chosen last."""

_CLASS = "class"
"""Where the controls keep which class is chosen."""

ONE_COLUMN = frozenset(
    {"outcome", "score", "prediction", "correct", "id", "set"}
    | {"count", "events", "weight", "cluster"}
)
"""Roles that the user can give to one column only: the one that was chosen last."""

_WORDS: Mapping[str, Mapping[str, Any]] = {
    "values": {
        "Logits": "logits",
        "Probabilities": "probabilities",
        "Percentages": "percentages",
        "None": "none",
    },
    "first_label": {"0": 0, "1": 1},
    "header": {"Names": True, "Data": False},
    "sets": {"One": "one"},
    "leave_out": {"1": True},
    "many": {"Counted": "counted", "Every": "every"},
}
"""Fields of `ReadingOptions` that are one of a few values, each as the address writes it."""

_KEYS: Mapping[str, str] = {
    "roles": "roles",
    "event": "positive",  # "event" is what the pages look at
    "values": "values",
    "first_label": "labels_from",
    "header": "header",
    "sets": "sets",
    "together": "together",
    "leave_out": "leave_out",
    "class_names": "class_names",
    "prevalence": "prevalence",
    "split_at": "split_at",
    "many": "rows",
}
"""Each field's key in the address."""


def write_address(options: ReadingOptions) -> dict[str, str]:
    """Return the part of the address that stands for options; nothing for what is detected.

    >>> write_address(ReadingOptions(roles=(("risk", "score"), ("a~b", "left out")), event="Yes"))
    {'roles': 'score:risk~left-out:a%7Eb', 'positive': 'Yes'}
    """
    written: dict[str, str] = {}
    for field, key in _KEYS.items():
        value = getattr(options, field)
        if value == getattr(ReadingOptions(), field):
            continue
        if field in _WORDS:
            written[key] = next(word for word, meant in _WORDS[field].items() if meant == value)
        elif field == "roles":
            written[key] = "~".join(
                f"{role.replace(' ', '-')}:{_escaped(name)}" for name, role in value
            )
        elif field == "together":
            way, *names = value
            written[key] = ":".join(filter(None, (way, "~".join(map(_escaped, names)))))
        elif field in ("class_names", "split_at"):
            written[key] = "~".join(_escaped(name) for name in value)
        else:
            written[key] = f"{100 * value:.6g}" if field == "prevalence" else str(value)
    return written


def read_address(query: Mapping[str, str]) -> tuple[ReadingOptions, tuple[str, ...]]:
    """Return the options of an address, and a sentence for each part that is invalid."""
    chosen: dict[str, Any] = {}
    wrong = []
    for field, key in _KEYS.items():
        text = query.get(key, "")
        if not text or (text == "Auto" and field in _WORDS):
            continue
        try:
            chosen[field] = _READ.get(field, lambda part, field=field: _word(field, part))(text)
        except _InvalidError as error:
            wrong.append(words.wrong_in_address(key, error.value, error.expected))
    return ReadingOptions(**chosen), tuple(wrong)


class _InvalidError(ValueError):
    """A part of the address that stands for nothing."""

    def __init__(self, value: str, expected: str) -> None:
        super().__init__(value)
        self.value = value
        self.expected = expected


def _escaped(name: str) -> str:
    """Escape the two signs that the address uses itself."""
    return name.replace("%", "%25").replace("~", "%7E")


def _word(field: str, text: str) -> object:
    offered = {word.lower(): value for word, value in _WORDS[field].items()}
    if text.lower() not in offered:
        raise _InvalidError(text, " or ".join(_WORDS[field]))
    return offered[text.lower()]


def _roles(text: str) -> tuple[tuple[str, ColumnRole], ...]:
    roles: tuple[tuple[str, ColumnRole], ...] = ()
    known = {role.replace(" ", "-"): role for role in ROLES}
    for part in text.split("~"):
        role, colon, name = part.partition(":")
        if not colon or not name or role not in known:
            raise _InvalidError(part, f"role:column, where a role is {', '.join(known)}")
        roles = assigned(roles, unquote(name), known[role])
    return roles


def _together(text: str) -> tuple[str, ...]:
    way, _, names = text.partition(":")
    try:
        return ReadingOptions(together=(way, *(_names(names) if names else ()))).together
    except FileError as error:
        expected = "rows, sets:file~file or without:file~file"
        raise _InvalidError(text, expected) from error


def _names(text: str) -> tuple[str, ...]:
    return tuple(unquote(part) for part in text.split("~"))


def _prevalence(text: str) -> float:
    try:
        percent = float(text)
    except ValueError:
        percent = 0.0
    if not 0 < percent < 100:
        raise _InvalidError(text, "a percentage between 0 and 100")
    return round(percent / 100, 8)


def _split_at(text: str) -> tuple[str, ...]:
    by, *first = _names(text)
    if len(first) != 1:
        raise _InvalidError(text, "column~month, such as booked~2025-10")
    return by, first[0]


_READ: Mapping[str, Callable[[str], Any]] = {
    "roles": _roles,
    "event": str,
    "together": _together,
    "class_names": _names,
    "prevalence": _prevalence,
    "split_at": _split_at,
}


def assigned(
    roles: Sequence[tuple[str, ColumnRole]], name: str, role: ColumnRole
) -> tuple[tuple[str, ColumnRole], ...]:
    """Return roles with one more; it is taken from another column where only one can have it."""
    others = (
        (other, given)
        for other, given in roles
        if other != name and not (given == role and role in ONE_COLUMN)
    )
    return (*others, (name, role))


# The session ---------------------------------------------------------------------------------


def start_anew(sources: Sequence[SourceFile]) -> None:
    """Reset every choice when all files are others; one that is added changes nothing."""
    now = {source.digest for source in sources}
    chosen_for: set[str] = st.session_state.get(_CHOSEN_FOR, set())
    before: set[str] = chosen_for or st.session_state.get("files_before", now)
    was_chosen = is_anything()
    if not before & now:
        reset()
        st.session_state[_WRONG] = (words.OF_OTHER_FILES,) if was_chosen else ()
    st.session_state["files_before"] = now


def are_from_elsewhere(sources: Sequence[SourceFile]) -> bool:
    """Return whether choices are those of an address, or of files of which some are gone."""
    chosen_for: set[str] = st.session_state.get(_CHOSEN_FOR, set())
    return by_address() or bool(chosen_for - {source.digest for source in sources})


def keep(options: ReadingOptions, dropped: Sequence[ReadingOptions]) -> tuple[str, ...]:
    """Drop choices that do not fit; return a sentence for each.

    Those of an address are left there, as the file that they are for may be still to come.
    """
    written = [pair for one in dropped for pair in write_address(one).items()]
    sentences = tuple(words.not_followed(key, unquote(value)) for key, value in written)
    if dropped and not by_address():
        st.session_state.update({_OPTIONS: options, _WRONG: sentences})
        st.session_state[_CHOSEN_FOR] = st.session_state["files_before"]
        current()
        return ()
    return sentences


def current() -> ReadingOptions:
    """Return the choices, at first those of the address, which is kept in step with them.

    The address is read once a session: what a browser sends with a quick second click is older
    than what was chosen with the first.
    """
    state = st.session_state
    if _OPTIONS not in state:
        given = {key: st.query_params[key] for key in _KEYS.values() if key in st.query_params}
        state[_OPTIONS], state[_WRONG] = read_address(given)
        state[_BY_ADDRESS] = state[_OPTIONS] != ReadingOptions()
    options: ReadingOptions = state[_OPTIONS]
    written = write_address(options)
    for key in _KEYS.values():
        if key in written and st.query_params.get(key) != written[key]:
            st.query_params[key] = written[key]
        elif key not in written and key in st.query_params:
            del st.query_params[key]
    return options


def change(**chosen: Any) -> None:
    """Set fields of the options, in a callback; roles are added to those that were chosen."""
    options: ReadingOptions = st.session_state.get(_OPTIONS, ReadingOptions())
    roles = options.roles
    for name, role in chosen.pop("roles", ()):
        roles = assigned(roles, name, role)
    try:
        changed = replace(options, **chosen, roles=roles)
    except FileError:  # a control or an answer offers only what is valid
        return
    _look_at(options.event, changed.event)
    st.session_state.update({_OPTIONS: changed, _WRONG: (), _BY_ADDRESS: False})
    st.session_state[_CHOSEN_FOR] = st.session_state.get("files_before", set())


def _look_at(before: str | None, event: str | None) -> None:
    """Select the class that is the event now, even where pages showed the other."""
    if event != before and event is not None and _CLASS in st.session_state:
        st.session_state[_CLASS] = event
    elif event != before:
        st.session_state.pop(_CLASS, None)


def detect(name: str) -> None:
    """Reset the role of one column to the detected one, in a callback."""
    options: ReadingOptions = st.session_state.get(_OPTIONS, ReadingOptions())
    roles = tuple((other, role) for other, role in options.roles if other != name)
    st.session_state.update({_OPTIONS: replace(options, roles=roles), _BY_ADDRESS: False})


def reset() -> None:
    """Read everything as detected again."""
    _look_at(st.session_state.get(_OPTIONS, ReadingOptions()).event, None)
    st.session_state.update({_OPTIONS: ReadingOptions(), _WRONG: (), _BY_ADDRESS: False})
    st.session_state.pop(_CHOSEN_FOR, None)


def by_address() -> bool:
    """Return whether the address alone says how to read the files."""
    return bool(st.session_state.get(_BY_ADDRESS, False))


def wrong_in_address() -> tuple[str, ...]:
    """Return a sentence for each part of the address that is not followed."""
    return tuple(st.session_state.get(_WRONG, ()))


def is_anything() -> bool:
    """Return whether anything is chosen."""
    return any(
        getattr(current(), field.name) != getattr(ReadingOptions(), field.name)
        for field in fields(ReadingOptions)
    )


_TEXT = frozenset(ending for ending, kind in FORMATS.items() if kind in ("csv", "xlsx"))

_OFFERED: Mapping[str, Mapping[str, Any]] = {
    field: {"Auto": getattr(ReadingOptions(), field), **_WORDS[field]}
    for field in ("values", "first_label", "header", "sets")
}
"""Fields of `ReadingOptions` that are chosen among a few values, which are called so."""

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
    options = current()
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
        if upload is not None and len(upload.class_names or ()) == 2:
            _estimate_prevalence(sources, options)
    show_reset()


def show_reset() -> None:
    """Show a button that undoes every choice, where there is one."""
    if is_anything():
        st.button(words.DETECT_AGAIN, key="reset_reading", on_click=reset, icon=":material/undo:")


def show_every_row() -> None:
    """Show a button that reads the rows of a file again that were counted."""
    st.button(
        words.EVERY_ROW,
        key="every_row",
        on_click=change,
        kwargs={"many": "every"},
        icon=":material/undo:",
    )


def one_of(field: str, options: ReadingOptions) -> None:
    """Show the choice of one of the few values of a field."""
    key, label, explained = _LABELLED[field]
    offered = _OFFERED[field]
    now = getattr(options, field)
    st.session_state[key] = next(word for word, value in offered.items() if value == now)
    st.segmented_control(
        label,
        list(offered),
        required=True,
        format_func=lambda word: "None of these" if word == "None" else word,
        key=key,
        help=explained,
        on_change=_set,
        args=(field, key, offered.__getitem__),
    )


def _set(field: str, key: str, take: Callable[[Any], Any]) -> None:
    """Set a field of the options to what a control is at."""
    change(**{field: take(st.session_state[key])})


def _choose_together(sources: Sequence[SourceFile], options: ReadingOptions) -> None:
    """Show the choice of what several files are of one another, where that is open."""
    names = files.names_together(sources, options)
    ways, now = files.ways_together(sources, options), options.together
    if not ways and not now:
        return
    offered = [(), *ways, *([now] if now and now not in ways else [])]
    st.session_state["together"] = now
    st.selectbox(
        words.LABEL if len(sources) > 1 else words.OF_SHEETS,
        offered,
        format_func=lambda way: words.way_name(way, names),
        key="together",
        help=words.HELP,
        on_change=_set,
        args=("together", "together", tuple),
    )


def _choose_names(options: ReadingOptions) -> None:
    if words.class_names_in(st.session_state.get("class_names", "")) != options.class_names:
        st.session_state["class_names"] = "\n".join(options.class_names)
    st.text_area(
        words.CLASS_NAMES,
        height=68,
        placeholder=words.AS_DETECTED,
        key="class_names",
        help=words.CLASS_NAMES_HELP,
        on_change=_set,
        args=("class_names", "class_names", words.class_names_in),
    )


def _choose_leave_out(options: ReadingOptions) -> None:
    st.session_state["leave_out"] = options.leave_out
    st.toggle(
        words.LEAVE_OUT,
        key="leave_out",
        help=words.LEAVE_OUT_HELP,
        on_change=_set,
        args=("leave_out", "leave_out", bool),
    )


def _choose_prevalence(options: ReadingOptions) -> None:
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
        on_change=_set,
        args=("prevalence", "prevalence", lambda percent: percent and percent / 100),
    )


_ESTIMATED_BY = "platt"
"""Calibrator of the rows that a share is estimated from, as by the command."""


def _estimate_prevalence(sources: Sequence[SourceFile], options: ReadingOptions) -> None:
    """Show what rows without outcomes say of the share, and a button that states it."""
    with st.popover(words.ESTIMATE, icon=":material/query_stats:"):
        new = st.file_uploader(
            words.ESTIMATE, list(FORMATS), key="new_rows", help=words.ESTIMATE_HELP,
            label_visibility="collapsed",
        )  # fmt: skip
        st.markdown(f":small[{words.ESTIMATE_HELP}]")
        if new is None:
            return
        source = SourceFile(new.name, sha256(new.getvalue()).hexdigest(), new.getvalue)
        try:
            known = files.read_files(sources, replace(options, prevalence=None))
            one = share_of_new(
                known, event_of(known, None), _ESTIMATED_BY,
                lambda how: files.read_files((source,), how),
            )  # fmt: skip
        except CalibrationInputError as error:
            st.error(refusal(error), title=words.NO_ESTIMATE, icon=":material/block:")
            return
        text = estimated_share(one.share, one.interval, one.n_rows, one.among)
        st.markdown(f"**{escape_markdown(one.event)}**: {text}")
        st.markdown(shift_assumed(method_name(_ESTIMATED_BY)))
        if one.doubts:
            st.markdown(words.bullets(one.doubts))
        if one.stated is not None:
            st.button(
                words.take_share(one.stated), key="take_share", type="primary",
                on_click=change, kwargs={"prevalence": one.stated},
            )  # fmt: skip


_ANSWERED = "role_answered"
_SHOWN = 60


def show_question(
    question: Question, *, of: str = "", answer: Callable[[Mapping[str, Any]], None] | None = None
) -> None:
    """Show a question to the user: a button per answer, the likeliest first.

    ``question``: what is asked. ``of``: names the file, where it is not the data of all pages.
    ``answer``: takes what an answer changes; without it, that is of the data of all pages.
    """
    with st.container(border=True, key=f"import_question{of}"):
        st.subheader(words.QUESTION, anchor=False)
        st.markdown(f"**{escape_markdown(question.ask)}**")
        st.markdown(f":small[{escape_markdown(_sentence(question))}]")
        for place, one in enumerate(question.answers):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.button(
                    escape_markdown(visible(one.label, _SHOWN)),
                    key=f"answer_{of}{place}",
                    type="secondary" if place or not question.ranked else "primary",
                    on_click=answer or _answer,
                    args=(one.change,),
                )
                why = escape_markdown(words.reason(one.why))
                if not place and len(question.answers) > 1 and question.ranked:
                    why = f"**{words.LIKELIEST}** {why}"
                st.markdown(f":small[{why}]" if why else "", width="stretch")


def show_proposal(proposal: Proposal, *, of: str) -> None:
    """Show what a column may say, with a button an answer; figures stay until one is given."""
    question = proposal.question
    with st.container(border=True, key=f"import_{of}", gap="small"):
        st.markdown(f"**{escape_markdown(question.ask)}** {escape_markdown(proposal.doubt)}")
        with st.container(horizontal=True, vertical_alignment="center"):
            for place, one in enumerate(question.answers):
                st.button(
                    escape_markdown(visible(one.label, _SHOWN)),
                    key=f"answer_{of}{place}",
                    help=escape_markdown(one.why),
                    type="secondary" if place else "primary",
                    on_click=_answer,
                    args=(one.change,),
                )


def _sentence(question: Question) -> str:
    text = question.actual.rstrip(".")
    return f"{question.field[:1].upper()}{question.field[1:]}: {text}."


def _answer(answer: Mapping[str, object]) -> None:
    change(**answer)
    st.session_state[_ANSWERED] = True


def was_answered() -> bool:
    """Return whether a question was answered by the click that led to this run."""
    return bool(st.session_state.pop(_ANSWERED, False))


_EVENT = "event_of_outcome"


def choose_event(upload: Upload) -> None:
    """Show the choice of the outcome that the score is of."""
    event = words.event_of(upload)
    if event is None:
        return
    counts = words.outcome_counts(upload)
    st.session_state[_EVENT] = event
    st.segmented_control(
        words.EVENT,
        list(counts),
        format_func=lambda name: words.event_choice(name, counts.get(name, 0)),
        key=_EVENT,
        required=True,
        help=words.EVENT_HELP,
        on_change=_set,
        args=("event", _EVENT, str),
    )
