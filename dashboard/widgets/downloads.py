"""Downloads: tables as files, and names of files that describe what they hold."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version

import streamlit as st

from dashboard.scene import Scene
from dashboard.tables import with_facts

_FACTS = "saved_facts"
_SHOWN = "saved_of"
"""Data, page and set that are shown."""

_OF_THEIR_OWN = ("Calibrators", "Data needed", "Models")
"""Pages that are not about the set that is chosen."""

DOWNLOAD = "Download the table (CSV)"


def name_files(data: Sequence[str], page: str) -> None:
    """Set which data and which page are shown."""
    stems = " ".join(name.rpartition(".")[0] for name in data)
    rows = "" if page in _OF_THEIR_OWN else f"{st.session_state.get('set') or 'test'} set"
    st.session_state[_SHOWN] = f"{stems[:60]} {page.lower()} {rows}"


def file_name(what: str) -> str:
    """Return the name of a file without its ending.

    ``what``: the picture or table that it holds.
    """
    words = f"fractile {st.session_state.get(_SHOWN, '')} {what.lower()}"
    return re.sub(r"\W+", "_", words).strip("_")


def describe(scene: Scene) -> None:
    """Set what the tables and pictures of this page are about."""
    rows = scene.where if scene.part is None else f"{scene.where} to {scene.part.name}"
    shown: str = st.session_state.get(_SHOWN, "")
    for name in ("calibration set", "test set"):
        if shown.endswith(name):  # which is not known where a page begins
            st.session_state[_SHOWN] = f"{shown.removesuffix(name)}{rows[:80]}"
    st.session_state[_FACTS] = {
        "data": scene.sample.title if scene.sample else scene.upload.name,
        "event": scene.event_words.plain,
        "set": rows,
        "n": str(scene.evaluated.n_samples),
        "date": datetime.now(UTC).date().isoformat(),
        "version": f"Fractile {version('fractile')}",
    }


def picture_name(what: str) -> str:
    """Return the name of a picture's file: as `file_name`, with event, rows, date and version."""
    facts = st.session_state.get(_FACTS, {})
    known = [facts[key] for key in ("event", "n", "date", "version") if key in facts]
    return file_name(" ".join([what, *known]))


def offer_table(
    make: Callable[[], str], *, label: str = DOWNLOAD, name: str, facts: bool = False
) -> None:
    """Show a button that saves a table as a file.

    ``make``: returns the text, comma-separated, when it is asked for. ``label``: of the button.
    ``name``: of the file, without its ending. ``facts``: whether columns say which data, event,
    set, rows, date and version its results are of.
    """
    about = st.session_state.get(_FACTS, {}) if facts else {}

    def encoded() -> bytes:
        text = with_facts(make(), about) if about else make()
        return text.encode("utf-8-sig")  # by its mark, spreadsheets know the text as Unicode

    st.download_button(label, encoded, file_name=f"{name}.csv", mime="text/csv", on_click="ignore")


def offer_file(make: Callable[[], str | bytes], *, label: str, name: str, kind: str) -> None:
    """Show a button that saves a file; as `offer_table`, but the name has its ending."""

    def encoded() -> bytes:
        result = make()
        return result.encode() if isinstance(result, str) else result

    st.download_button(label, encoded, file_name=name, mime=kind, on_click="ignore")
