"""Which of two outcomes the score is of, and which columns score and outcome are."""

import numpy as np
import streamlit as st

from calibcore.data import LogitSet
from dashboard.parts import reading_choices
from dashboard.readers import Upload
from dashboard.wording import imports as words

_EVENT = "event_of_outcome"


def event_of(upload: Upload) -> str | None:
    """Return which of two outcomes the score is of; None where there is no such choice."""
    names, preview = upload.class_names, upload.preview
    if names is None or len(names) != 2 or "score" not in preview.roles:
        return None
    return upload.options.event if upload.options.event in names else names[1]


def outcome_counts(upload: Upload) -> dict[str, int]:
    """Return how many rows of all sets have each of the outcomes."""
    sets = [rows for rows in upload.sets.values() if isinstance(rows, LogitSet)]
    names = sets[0].class_names if sets else ()
    counts = sum(
        (np.bincount(rows.labels, minlength=len(names)) for rows in sets),
        np.zeros(len(names), dtype=np.int64),
    )
    return dict(zip(names, counts.tolist(), strict=True))


def columns_read(upload: Upload) -> tuple[str, ...]:
    """Return which columns score and outcome are, where the score is of one of two outcomes."""
    event, preview = event_of(upload), upload.preview
    if event is None or "outcome" not in preview.roles:
        return ()
    score, outcome = (preview.headings[preview.roles.index(role)] for role in ("score", "outcome"))
    percent = any(one.startswith("Percentages") for one in upload.repairs)
    return (
        words.score_column(score, percent=percent),
        words.outcome_column(outcome, event, outcome_counts(upload)[event]),
    )


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
