"""Downloads: tables as files, and names of files that describe what they hold."""

import re
from collections.abc import Callable, Sequence

import streamlit as st

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

    Parameters
    ----------
    what : str
        The picture or table that it holds.
    """
    words = f"fractile {st.session_state.get(_SHOWN, '')} {what.lower()}"
    return re.sub(r"\W+", "_", words).strip("_")


def offer_table(make: Callable[[], str], *, label: str = DOWNLOAD, name: str) -> None:
    """Show a button that saves a table as a file.

    Parameters
    ----------
    make : callable
        Returns the text, comma-separated, when it is asked for.
    label : str, default `DOWNLOAD`
        Of the button.
    name : str
        Of the file, without its ending.
    """
    st.download_button(
        label,
        lambda: make().encode("utf-8-sig"),  # by its mark, spreadsheets know the text as Unicode
        file_name=f"{name}.csv",
        mime="text/csv",
        on_click="ignore",
    )


def offer_file(make: Callable[[], str | bytes], *, label: str, name: str, kind: str) -> None:
    """Show a button that saves a file; as `offer_table`, but the name has its ending."""

    def encoded() -> bytes:
        made = make()
        return made.encode() if isinstance(made, str) else made

    st.download_button(label, encoded, file_name=name, mime=kind, on_click="ignore")
