"""Questions of the readers that the user can answer."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from dashboard.parts import reading_choices
from dashboard.readers.refusal import Question, visible
from dashboard.wording import escape_markdown
from dashboard.wording import imports as words

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
                    escape_markdown(visible(one.said, _SHOWN)),
                    key=f"answer_{of}{place}",
                    type="secondary" if place or not question.ranked else "primary",
                    on_click=answer or _answer,
                    args=(one.change,),
                )
                why = escape_markdown(words.reason(one.why))
                if not place and len(question.answers) > 1 and question.ranked:
                    why = f"**{words.LIKELIEST}** {why}"
                st.markdown(f":small[{why}]" if why else "", width="stretch")


def _sentence(question: Question) -> str:
    found = question.found.rstrip(".")
    return f"{question.field[:1].upper()}{question.field[1:]}: {found}."


def _answer(change: Mapping[str, object]) -> None:
    reading_choices.change(**change)
    st.session_state[_ANSWERED] = True


def was_answered() -> bool:
    """Return whether a question was answered by the click that led to this run."""
    return bool(st.session_state.pop(_ANSWERED, False))
