"""The one exception that leaves the readers, and how text from a file is made fit to show."""

import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibcore.errors import CalibrationInputError

_FIELD, _TEXT, _WANTED = 110, 300, 160
"""Longest parts of a message, which together stay below 600 characters."""

_MARKS = str.maketrans("<>", "\u2039\u203a")
_JOINERS = "\u200c\u200d"
_JOINED = frozenset({"Lo", "Mn", "Mc", "So", "Sk"})
"""What joiners stand between: letters of scripts without capitals, marks on them, and emoji."""


def percent(share: float) -> str:
    """Write a share with one decimal, and a small one with a digit that is not 0.

    >>> percent(0.25), percent(0.00012), percent(0)
    ('25.0%', '0.01%', '0.0%')
    """
    rounds_off = 0 < share < 0.0005
    return f"{100 * share:.1g}%" if rounds_off else f"{100 * share:.1f}%"


def visible(text: str, limit: int = 200) -> str:
    """Drop control characters, direction overrides and what has no width, and shorten.

    Joiners are kept where they shape the signs around them, as in Persian and in emoji.
    """
    # Cut before looking at each character: a file may hold a name of a million of them.
    text = text[: 4 * limit]
    # Most names are plain, of which a file may hold hundreds of thousands.
    texts = text if text.isascii() and text.isprintable() else "".join(
        " " if char.isspace() else char for place, char in enumerate(text)
        if char.isspace() or unicodedata.category(char)[0] != "C" or _joins(text, place)
    )  # fmt: skip
    line = " ".join(texts.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _joins(text: str, place: int) -> bool:
    """Recognise a joiner between signs that it shapes."""
    around = text[place - 1 : place] + text[place + 1 : place + 2]
    return (
        text[place] in _JOINERS
        and len(around) == 2
        and all(unicodedata.category(char) in _JOINED for char in around)
    )


def plain(text: str, limit: int = 200) -> str:
    """Make text safe to show even where it would be taken for markup.

    The signs that open and close it become the quotation marks that look most like them.
    """
    return visible(text, limit).translate(_MARKS)


def quoted(value: object, limit: int = 40) -> str:
    """Quote a piece of a file inside a sentence."""
    return f'"{plain(str(value), limit)}"'


def type_name(dtype: np.dtype[Any]) -> str:
    """Call a type of values by a word.

    >>> type_name(np.dtype("<U7")), type_name(np.dtype("float32"))
    ('text', 'float32')
    """
    words = {"U": "text", "S": "bytes", "O": "objects", "c": "complex numbers", "V": "records"}
    return words.get(dtype.kind, "dates" if dtype.kind in "mM" else dtype.name)


class FileError(CalibrationInputError):
    """A file that cannot be used: which part of it, what was found there, and what is wanted.

    It is one sentence of plain text of at most 600 characters, without control characters and the
    signs that open markup. ``known`` is what is known of the file all the same: `Contents` without
    sets, or nothing.
    """

    def __init__(self, field: str, text: str, wanted: str) -> None:
        super().__init__(plain(field, _FIELD), plain(text, _TEXT), plain(wanted, _WANTED))
        self.known: object = None

    @classmethod
    def at(cls, place: str, error: CalibrationInputError) -> "FileError":
        """Return of another refusal in which part of the file it arose."""
        field = f"{place} {error.field}" if place else error.field
        refusal = cls(field, error.actual, error.expected)
        refusal.known = getattr(error, "known", None)
        return refusal


@dataclass(frozen=True)
class Answer:
    """One answer to a `Question`."""

    label: str  # on its button: a few words, the file's own included
    why: str  # what speaks for it, in one short sentence
    change: Mapping[str, Any]  # the parameters of `ReadingOptions` that it sets


class Question(FileError):  # noqa: N818 - an answer, not a mistake, is what it wants
    """A file that can be used once the user has answered something, the likeliest answer first.

    ``ask`` is one sentence that ends with a question mark; there is always an answer.
    """

    def __init__(
        self, field: str, text: str, ask: str, answers: tuple[Answer, ...], *, ranked: bool = True
    ) -> None:
        super().__init__(field, text, "an answer: " + ask)
        self.ask, self.answers, self.ranked = plain(ask), answers, ranked


class PassingError(FileError):
    """A refusal that the bytes do not deserve: the next attempt may read them."""


class UnforeseenError(FileError):
    """A file whose layout nobody thought of, so that reading it went wrong."""


@contextmanager
def only_refusals() -> Iterator[None]:
    """Let nothing but a refusal out, whatever a file is like; as a decorator too.

    Numbers of a file may be beyond what doubles hold once they are squared or summed.
    """
    try:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            yield
    except (FileError, MemoryError):
        raise
    except CalibrationInputError as error:
        raise FileError.at("", error) from error
    except Exception as error:
        text = f"a layout that is not foreseen ({type(error).__name__}), a fault of the reader's"
        wanted = "another layout or format; please report it"
        raise UnforeseenError("file", text, wanted) from error
