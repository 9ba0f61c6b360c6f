"""Where the command prints: signs that cannot be written, and output that nobody takes."""

import codecs
import errno
import os
import sys
import unicodedata
from contextlib import suppress

from rich.console import Console

WIDE = 120
"""Columns of what is written to a file or a log."""

_ASCII = {
    "\u2212": "-", "\u2013": "-", "\u2192": "->", "\u25b2": "+", "\u25bc": "-", "\u25cb": "o",
    "\u25c7": "~", "\u221e": "inf", "\u221a": "sqrt ", "\u2265": ">=", "\u2264": "<=",
    "\u201c": '"', "\u201d": '"', "\u2019": "'", "\u00d7": "x", "\u00b7": "-",
}  # fmt: skip
"""What stands for a sign where the output's encoding lacks it: a minus is never lost."""

_ERRORS = "fractile.ascii"


def printed(text: str, encoding: str) -> str:
    """Return a text with what stands for the signs that an encoding lacks.

    Examples
    --------
    >>> printed("\u22120.8 \u2192 5% (caf\u00e9, \u96ea)", "ascii")
    '-0.8 -> 5% (cafe, ?)'
    """
    return text.encode(encoding, _ERRORS).decode(encoding)


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(map(_stand_in, signs)), error.end


def _stand_in(sign: str) -> str:
    plain = unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode("ascii")
    return _ASCII.get(sign) or plain or "?"


codecs.register_error(_ERRORS, _replaced)


class Lines(Console):
    """The console of results: as wide as the terminal, or `WIDE` for a file or a log."""

    def __init__(self) -> None:
        super().__init__(width=None if sys.stdout.isatty() else WIDE)

    def on_broken_pipe(self) -> None:
        """Leave the error to the command, which has a code of its own for it."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def prepare() -> None:
    """Let every sign be written in some way, and without an output write to none."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the shell
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, PTH123 - to the end
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_ERRORS)


def discard() -> None:
    """Let what is left to print go nowhere, so that the interpreter ends without a word."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
