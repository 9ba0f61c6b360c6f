"""What the rows of the data are called: "rows", or what the reader calls them, such as patients.

Texts are written with the word "rows"; what is shown passes through `say_rows`, or through a
function that `says_rows`. Neither is for text that came from a file. The word is held for the
run that draws a page, see `call_rows`; what is kept between runs has it in its key.
"""

import re
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec

ROWS = "rows"
LONGEST = 30

LABEL = "Rows are called"
HELP = (
    "What one row of the file is, in the plural: patients, images, loans. Sentences, tables and"
    " graphs then say so. No number changes."
)
REFUSED = (
    f"Rows stay rows: a name for them has letters, spaces and hyphens, at most {LONGEST}, and is"
    " not the word rows itself."
)

_WORD = re.compile(r"[^\W\d_]+(?:[ -][^\W\d_]+)*")
_OWN = re.compile(r"\b[Rr]ows\b")
_called: ContextVar[str] = ContextVar("rows are called", default=ROWS)

Parameters = ParamSpec("Parameters")


def called(word: str) -> str | None:
    """Return what rows are called by a word that a user wrote; None where it cannot be used.

    >>> called(" patients "), called(""), called("<b>"), called("rows of wards")
    ('patients', 'rows', None, None)
    """
    word = word.strip()
    if word.lower() in {"", ROWS}:
        return ROWS
    usable = len(word) <= LONGEST and _WORD.fullmatch(word) and not _OWN.search(word)
    return word if usable else None


def call_rows(word: str) -> None:
    """Set what rows are called while this page is drawn, in this thread."""
    _called.set(word)


def rows() -> str:
    """Return what rows are called, in the plural."""
    return _called.get()


def rows_of(n_rows: float) -> str:
    """Write a number of rows; of one, whose name is not known, as of a row."""
    return "1 row" if n_rows == 1 else f"{n_rows:,.0f} {rows()}"


def say_rows(text: str) -> str:
    """Return a text of the product's own with rows called as the reader calls them."""
    word = rows()
    if word == ROWS:
        return text
    return _OWN.sub(lambda own: word if own[0] == ROWS else f"{word[0].upper()}{word[1:]}", text)


def says_rows(write: Callable[Parameters, str]) -> Callable[Parameters, str]:
    """Let a function that writes a text without any of a file's call rows as the reader does."""

    @wraps(write)
    def written(*args: Parameters.args, **named: Parameters.kwargs) -> str:
        return say_rows(write(*args, **named))

    return written
