"""Which of two outcomes the score is of."""

import streamlit as st

from dashboard.parts import reading_choices
from dashboard.readers import Upload
from dashboard.wording import imports as words
from dashboard.wording.columns import event_of, outcome_counts

_EVENT = "event_of_outcome"


def choose_event(upload: Upload) -> None:
    """Show the choice of the outcome that the score is of."""
    event = event_of(upload)
    if event is None:
        return
    counts = outcome_counts(upload)
    st.session_state[_EVENT] = event
    st.segmented_control(
        words.EVENT,
        list(counts),
        format_func=lambda name: words.event_choice(name, counts.get(name, 0)),
        key=_EVENT,
        required=True,
        help=words.EVENT_HELP,
        on_change=_set_event,
    )


def _set_event() -> None:
    reading_choices.change(event=st.session_state[_EVENT])
