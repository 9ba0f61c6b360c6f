"""Choices whose address holds a short word, not what is shown, so that links outlive wordings.

Streamlit binds what a choice shows. So a text that nobody sees is bound instead and holds the word;
it is empty while nothing is chosen, and the choice that is seen follows it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, TypedDict

import streamlit as st
from streamlit.errors import StreamlitAPIException

from dashboard.texts.numbers import escape_markdown

_COMMA, _NONE = ",", "none"

_QUERY = "address_asked"
"""What the address held when the session began; then what of it could not be used."""


class _Binding(TypedDict):
    bind: Literal["query-params"]
    persist_state: Literal["session"]


IN_ADDRESS: _Binding = {"bind": "query-params", "persist_state": "session"}
"""Tells a control that the address holds what it stands at, on all pages."""

_PUT = "address_put"
"""What was chosen in the user's place and is not in the session and in the address yet."""


def choose_box(
    label: str, options: Mapping[str, str], *, key: str, default: str, **shown: Any
) -> str:
    """Let the user choose one of several words from a list, which the address holds under `key`.

    ``label``: of the control. ``options``: what can be chosen, and how it is shown. ``key``: name
    of the setting in the address. ``default``: the word that holds while the address has none.
    ``**shown``: more for the control.
    """
    return _choose(st.selectbox, label, options, key=key, default=default, **shown)


def choose_button(
    label: str, options: Mapping[str, str], *, key: str, default: str, **shown: Any
) -> str:
    """Let the user choose one of a few words by buttons side by side; see `choose_box`."""
    buttons = st.segmented_control
    return _choose(buttons, label, options, key=key, default=default, required=True, **shown)


def _choose(
    control: Callable[..., Any],
    label: str,
    options: Mapping[str, str],
    *,
    key: str,
    default: str,
    **shown: Any,
) -> str:
    if st.session_state.get(key) == default:
        st.session_state[key] = ""
    own = st.session_state.get(_own(key), default)
    if own != default and st.session_state.get(key) == "":
        st.session_state[key] = own
    word = _hold(label, key)
    if word in options and word != default:
        st.session_state[_own(key)] = word
    st.session_state[_seen(key)] = word if word in options else default
    st.session_state[_refused(key)] = word != "" and word not in options
    control(
        label,
        list(options),
        format_func=options.__getitem__,
        key=_seen(key),
        on_change=_keep,
        args=(key, default),
        **shown,
    )
    return str(st.session_state[_seen(key)])


def choose_switch(label: str, *, key: str, **shown: Any) -> bool:
    """Show a switch; the address holds its state under `key`."""
    return st.toggle(label, key=key, **IN_ADDRESS, **shown)


def choose_several(
    label: str, options: Mapping[str, str], *, key: str, default: Sequence[str], **shown: Any
) -> list[str]:
    """Let the user choose several words, which the address holds under `key` with commas between.

    Parameters are those of `choose_box`. Words are returned in the order of choosing.
    """
    if st.session_state.get(key) == _COMMA.join(default):
        st.session_state[key] = ""
    text = _hold(label, key)
    chosen = text.split(_COMMA) if text else list(default)
    st.session_state[_seen(key)] = [word for word in dict.fromkeys(chosen) if word in options]
    st.session_state[_refused(key)] = text != _NONE and any(w not in options for w in chosen)
    st.multiselect(
        label,
        list(options),
        format_func=options.__getitem__,
        key=_seen(key),
        on_change=_keep_several,
        args=(key, default),
        **shown,
    )
    return list(st.session_state[_seen(key)])


def several(key: str, default: Sequence[str]) -> list[str]:
    """Return the words chosen of several, before the choice is drawn."""
    text = st.session_state.get(key, st.query_params.get(key, ""))
    return [word for word in text.split(_COMMA) if word != _NONE] if text else list(default)


def choose_number(label: str, low: int, high: int, usual: int, *, key: str, **shown: Any) -> int:
    """Let the user choose a whole number, which the address holds under `key`."""
    text = st.query_params.get(key, "")
    if text and not is_whole(text, low, high):
        with suppress(StreamlitAPIException):  # once it is on the page, it writes what is valid
            del st.query_params[key]
            st.rerun()
    chosen = st.number_input(label, low, high, usual, key=key, **IN_ADDRESS, **shown)
    return int(chosen)


def is_whole(text: str, low: int, high: int) -> bool:
    """Return whether a text of an address is a whole number in a range."""
    try:
        value = float(text)
    except ValueError:
        return False
    return math.isfinite(value) and value == int(value) and low <= value <= high


def put(key: str, words: Sequence[str]) -> None:
    """Choose several words in the user's place, in a callback."""
    put_values({key: _COMMA.join(words) or _NONE})


def put_values(values: Mapping[str, object]) -> None:
    """Choose in the user's place, in a callback, also what is not on the page."""
    st.session_state[_PUT] = {**st.session_state.get(_PUT, {}), **values}


def follow() -> None:
    """Bring what was chosen in the user's place into address and session, before all else.

    Streamlit writes into the address what is set of a control that has been on a page. One that was
    not takes what the address says, so that the address is changed first.
    """
    values: Mapping[str, object] = st.session_state.get(_PUT, {})
    again = False
    for key, value in values.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        before = st.query_params.get(key, "")
        if text == before:
            continue
        with suppress(StreamlitAPIException):  # what is on the page writes itself
            if text:
                st.query_params[key] = text
            else:
                del st.query_params[key]
            again = again or bool(before)
    if again:
        st.rerun()
    for key in values:
        st.session_state.pop(_own(key), None)
    st.session_state.pop(_PUT, None)
    st.session_state.update(values)


def _hold(label: str, key: str) -> str:
    """Bind a text that nobody sees to the address; return it."""
    with st.container(key=f"in_address_{key}"):
        text = st.text_input(label, key=key, **IN_ADDRESS, autocomplete="off")
    return str(text)


def remember_query() -> None:
    """Keep what the address asks for, before anything is drawn in a session."""
    if _QUERY not in st.session_state:
        query = {key: st.query_params.get_all(key) for key in st.query_params}
        st.session_state[_QUERY] = usable(query)


def usable(query: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return what an address holds under names that a control can have."""
    return {key: values for key, values in query.items() if key and not key.startswith("$$")}


def show_unusable() -> None:
    """Name the settings of the address that could not be used, after everything is drawn."""
    settings = st.session_state[_QUERY]
    if isinstance(settings, dict):
        settings = [
            (key, ", ".join(values), st.session_state[_place(key)])
            for key, values in settings.items()
            if _place(key) in st.session_state and not _is_used(key, values)
        ]
        st.session_state[_QUERY] = settings
    still = [
        (key, text) for key, text, value in settings if st.session_state.get(_place(key)) == value
    ]
    if still:
        st.warning(unusable(still), icon=":material/link:")


def _is_used(key: str, values: list[str]) -> bool:
    chosen = st.session_state[_place(key)]
    if _refused(key) in st.session_state:
        return not st.session_state[_refused(key)]
    if not isinstance(chosen, list | tuple):
        return _written(chosen) == _written(values[-1])  # the last one is taken
    return [_written(value) for value in chosen] == [_written(value) for value in values]


def _written(value: object) -> str:
    text = str(value).lower()
    try:
        return f"{float(text):g}"
    except ValueError:
        return text


def _seen(key: str) -> str:
    return f"{key}_seen"


def _own(key: str) -> str:
    """Name the place of a word that was chosen where it was not the default.

    Other data may have it for their default, of which the address says nothing.
    """
    return f"{key}_own"


def _refused(key: str) -> str:
    return f"{key}_refused"


def _place(key: str) -> str:
    """Name the place of the value that is used."""
    return _seen(key) if _seen(key) in st.session_state else key


def _keep(key: str, default: str) -> None:
    chosen = st.session_state[_seen(key)]
    st.session_state.pop(_own(key), None)
    st.session_state[key] = default if chosen is None else chosen


def _keep_several(key: str, default: Sequence[str]) -> None:
    put(key, st.session_state[_seen(key)])
    if st.session_state[_seen(key)] == list(default):
        put_values({key: ""})


def unusable(settings: Sequence[tuple[str, str]]) -> str:
    """Return a sentence on settings of the address that could not be used, for Markdown."""
    names = ", ".join(f"{key}={value[:60]}" for key, value in settings)
    which, shown = (
        ("which is", "default is") if len(settings) == 1 else ("which are", "defaults are")
    )
    return escape_markdown(
        f"The address asks for {names}, {which} not available. The {shown} shown."
    )
