"""Files of further models that the user brings: read, asked about, in the order of the first."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from calibcore.errors import CalibrationInputError
from dashboard.compute.files import SourceFile
from dashboard.opening.choices import show_question
from dashboard.readers import ReadingOptions, Upload
from dashboard.readers.records import DEFAULTS
from dashboard.readers.refusal import Question
from dashboard.texts.classes import shortened
from dashboard.texts.numbers import escape_markdown
from dashboard.views.models import words
from dashboard.views.models.results import in_order_of, read_beside, read_score

_READINGS = "models_readings"

Check = Callable[[Upload], None]
"""Raises where a model does not fit."""


def read_further(
    first: Upload,
    sources: Sequence[SourceFile],
    check: Check,
    columns: Sequence[tuple[SourceFile, str]] = (),
    *,
    same: bool = True,
) -> Iterator[tuple[str, Upload]]:
    """Yield further models that fit, by name; ask what a file leaves open, and say what does not.

    ``first``: the first model, whose row IDs order the rows. ``sources``: a file per model.
    ``check``: see `Check`. ``columns``: further scores of the first one's file. ``same``: whether
    all are of the same rows; otherwise other rows stay as they are.
    """
    ways: list[tuple[str, str, Callable[[], Upload]]] = [
        *((name, "", partial(read_score, first, source, name)) for source, name in columns),
        *(
            (one.name, one.digest, partial(read_beside, first, one, _options_of(one.digest)))
            for one in sources
        ),
    ]
    for name, digest, read in ways:
        try:
            with st.container():
                upload = read()
                if same or _are_as_many(first, upload):
                    upload = _in_order(first, upload, same=same)
            check(upload)
        except Question as question:
            st.markdown(f"**{escape_markdown(shortened(name))}**")
            show_question(question, of=digest or name, answer=partial(_answer, digest))
        except CalibrationInputError as error:
            st.error(words.refused(name, error), icon=":material/block:")
            st.session_state.get(_READINGS, {}).pop(digest, None)  # so that it is asked about
        else:
            yield name, upload


def _are_as_many(first: Upload, other: Upload) -> bool:
    """Return whether each set of two files has as many rows."""
    one, two = ({name: rows.n_samples for name, rows in x.sets.items()} for x in (first, other))
    return one == two


def _in_order(first: Upload, other: Upload, *, same: bool) -> Upload:
    try:
        return in_order_of(first, other)
    except CalibrationInputError:
        if same:
            raise
        return other  # of other rows


def _options_of(digest: str) -> ReadingOptions:
    """Return what the user has answered about a file."""
    every: dict[str, ReadingOptions] = st.session_state.setdefault(_READINGS, {})
    return every.get(digest, DEFAULTS)


def _answer(digest: str, change: Mapping[str, Any]) -> None:
    """Read a file as an answer says, in a callback."""
    before = _options_of(digest)
    roles = (*before.roles, *change.get("roles", ()))
    st.session_state[_READINGS][digest] = replace(before, **{**change, "roles": roles})
