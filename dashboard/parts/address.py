"""Choices whose address holds a short word, not what is shown, so that links outlive wordings.

Streamlit binds what a choice shows. So a text that nobody sees is bound instead and holds the word;
it is empty while nothing is chosen, and the choice that is seen follows it.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import streamlit as st

from dashboard.parts.old_addresses import OLD_WORDS
from dashboard.wording import addresses as words

_ASKED = "address_asked"
"""What the address held when the session began; then what of it could not be used."""


class _Unusable(NamedTuple):
    """A setting of the address that could not be used, and the value it has instead."""

    key: str
    asked: str
    value: object


def choose(
    control: Callable[..., Any],
    label: str,
    options: Mapping[str, str],
    *,
    key: str,
    default: str,
    **shown: Any,
) -> str:
    """Let the user choose one of several words, which the address holds under `key`.

    Parameters
    ----------
    control : callable
        ``st.selectbox`` or ``st.segmented_control``.
    label : str
        Of the control.
    options : mapping of word to text
        What can be chosen, and how it is shown.
    key : str
        Name of the setting in the address.
    default : str
        The word that holds while the address has none.
    **shown
        More for the control.
    """
    if st.session_state.get(key) == default:
        st.session_state[key] = ""
    with st.container(key=f"in_address_{key}"):
        asked = st.text_input(
            label, key=key, bind="query-params", persist_state="session", autocomplete="off"
        )
    word = OLD_WORDS.get(key, {}).get(asked, asked)
    st.session_state[_seen(key)] = word if word in options else default
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


def remember_asked() -> None:
    """Keep what the address asks for, before anything is drawn in a session."""
    if _ASKED not in st.session_state:
        st.session_state[_ASKED] = {key: st.query_params.get_all(key) for key in st.query_params}


def show_unusable() -> None:
    """Name the settings of the address that could not be used, after everything is drawn."""
    asked = st.session_state[_ASKED]
    if isinstance(asked, dict):
        asked = [
            _Unusable(key, ", ".join(values), st.session_state[_place(key)])
            for key, values in asked.items()
            if _place(key) in st.session_state and not _is_used(key, values)
        ]
        st.session_state[_ASKED] = asked
    still = [one for one in asked if st.session_state.get(_place(one.key)) == one.value]
    if still:
        st.warning(words.unusable([(one.key, one.asked) for one in still]), icon=":material/link:")


def _is_used(key: str, values: list[str]) -> bool:
    chosen = st.session_state[_place(key)]
    if _seen(key) in st.session_state:
        return values in ([chosen], [""]) or OLD_WORDS.get(key, {}).get(values[-1]) == chosen
    now = chosen if isinstance(chosen, list | tuple) else [chosen]
    return [_written(value) for value in now] == [_written(value) for value in values]


def _written(value: object) -> str:
    text = str(value).lower()
    try:
        return f"{float(text):g}"
    except ValueError:
        return text


def _seen(key: str) -> str:
    return f"{key}_seen"


def _place(key: str) -> str:
    """Name the place of the value that is used."""
    return _seen(key) if _seen(key) in st.session_state else key


def _keep(key: str, default: str) -> None:
    chosen = st.session_state[_seen(key)]
    st.session_state[key] = default if chosen is None else chosen
