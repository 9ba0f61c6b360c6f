"""Where the command prints and writes: signs that cannot be, output that nobody takes, files."""

import codecs
import errno
import os
import shutil
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from dashboard.cli.commands import STDOUT, is_output_taken

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
        stream = sys.stderr if is_output_taken() else sys.stdout
        super().__init__(file=stream, width=None if stream.isatty() else WIDE)

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print `table_of`, and which columns are left out."""
        table, left_out = table_of(heads, rows, self.width)
        self.print(table, crop=False)
        if left_out:
            text = ", ".join(left_out)
            self.print(f"Left out in {self.width} columns: {text}.", markup=False, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        """Leave the error to the command, which has a code of its own for it."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


class Wait:
    """A bar of slow work, which is called with the share that is done."""

    def __init__(self, bar: Progress, work: str) -> None:
        self._bar, self._task = bar, bar.add_task(work, total=1.0)

    def __call__(self, share: float) -> None:
        """Show the share that is done."""
        self._bar.update(self._task, completed=share)

    def say(self, sentence: str) -> None:
        """Print a sentence, above the bar where there is one."""
        self._bar.console.print(sentence, highlight=False, soft_wrap=True)

    def stage(self, work: str) -> None:
        """Begin other work, with the bar at its start."""
        self._bar.update(self._task, description=work, completed=0.0)


@contextmanager
def showing_progress(work: str) -> Iterator[Wait]:
    """Show how much of slow work is done, where somebody watches."""
    shown = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    quiet, console = not sys.stderr.isatty(), Console(stderr=True)
    with Progress(*shown, console=console, transient=True, disable=quiet) as bar:
        yield Wait(bar, work)


_BETWEEN = 2
"""Columns of space between two columns of a table."""


def table_of(
    heads: Sequence[str], rows: Sequence[Sequence[str]], width: int
) -> tuple[Table, tuple[str, ...]]:
    """Lay out a table in which no word is cut, and so no number.

    ``heads``: of the columns, the most dispensable last; the first is always there. ``rows``: cells
    under them. ``width``: of the terminal, in letters.

    Second, the heads of the columns for which there is no room.
    """
    columns = list(zip(heads, *rows, strict=True))
    least = [max(len(word) for cell in one for word in (cell.split() or [""])) for one in columns]
    n_shown = len(columns)
    while n_shown > 1 and sum(least[:n_shown]) + _BETWEEN * (n_shown - 1) > width:
        n_shown -= 1
    spare = width - sum(least[:n_shown]) - _BETWEEN * (n_shown - 1)
    wanted = [max(map(len, one)) - need for one, need in zip(columns, least, strict=True)]
    for n_done, k in enumerate(sorted(range(n_shown), key=wanted.__getitem__)):
        given = max(0, min(wanted[k], spare // (n_shown - n_done)))
        least[k] += given
        spare -= given
    table = Table(box=None, pad_edge=False)
    for head, needed in zip(heads[:n_shown], least, strict=False):
        table.add_column(escape(head), width=needed)
    for row in rows:
        table.add_row(*map(escape, row[:n_shown]))
    return table, tuple(filter(None, heads[n_shown:]))


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


_OPEN = ("/dev/fd/", "/dev/std", "/proc/")
"""Where the names of files that are open already begin."""


def is_stream(out: Path) -> bool:
    """Return whether a path is of a device, a pipe, the output or a file that is open already."""
    if out == STDOUT:
        return True
    opened = str(out.absolute()).startswith(_OPEN)
    return opened or (out.exists() and not out.is_file() and not out.is_dir())


def write_file(out: Path, content: str | bytes) -> None:
    """Write a file beside its place and move it there, so that a whole one is there at any time.

    A link stays one: the file that it leads to is replaced. Devices and pipes are written to.
    """
    data = content.encode() if isinstance(content, str) else content
    if out == STDOUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return
    if is_stream(out):
        out.write_bytes(data)
        return
    place = Path(os.path.realpath(out))
    if place.exists() and not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    beside = place.with_name(f".{uuid4().hex}.part")
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if place.exists():
            shutil.copymode(place, beside)
        beside.replace(place)
    finally:
        with suppress(OSError):
            beside.unlink()


def are_one_file(one: Path, other: Path) -> bool:
    """Return whether two paths lead to one file: by links, by spelling, by the case of letters.

    Two that are not there yet and differ by the case of letters alone may be one, and count as one.
    """
    if one.exists() or other.exists():
        return one.is_file() and other.exists() and one.samefile(other)
    places = [Path(os.path.realpath(path)) for path in (one, other)]
    folders = {os.path.normcase(place.parent) for place in places}
    names = {unicodedata.normalize("NFC", place.name).casefold() for place in places}
    return len(folders) == len(names) == 1
