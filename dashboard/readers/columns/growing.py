"""Columns that grow while a file is read, bounded however different its texts are."""

import math
import sys
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from itertools import repeat

import numpy as np

from calibcore.validation import Floats
from dashboard.readers.columns.packed import Packed
from dashboard.readers.columns.table_columns import MAX_TEXT, MAX_TEXTS, Text
from dashboard.readers.contents import Array

Cell = float | str | None
"""A number, a text, or nothing."""

_PART = 1 << 18
_ROOM, _ENTRY = 96 << 20, 64
_FIRST = 50
"""So many texts each column keeps in any case: what it holds is told by its first rows."""

_LONGEST_FIRST = 1 << 16
"""So much of its first text a column keeps: it may list the names of the classes in every row."""

EXACT = 1 << 53
"""Whole numbers below this are themselves as decimals."""


class Room:
    """How many bytes the different texts of all columns together may yet take."""

    def __init__(self) -> None:
        self.left = _ROOM

    def take(self, cell: str) -> None:
        """Take the room of one text."""
        self.left -= sys.getsizeof(cell) + _ENTRY


_SHARED: ContextVar[Room | None] = ContextVar("room", default=None)


@contextmanager
def shared_room() -> Iterator[None]:
    """Let all columns that grow within share the room for their texts."""
    token = _SHARED.set(Room())
    try:
        yield
    finally:
        _SHARED.reset(token)


class GrowingText:
    """Texts as codes, of which only so many different ones and so much of each are kept.

    Parameters
    ----------
    room : Room, optional
        Shared by all columns of a file.
    """

    def __init__(self, room: Room | None = None) -> None:
        self.room = room or _SHARED.get() or Room()
        self.seen: dict[str, int] = {}
        self.codes = array("i")

    @property
    def is_full(self) -> bool:
        """Tell that no further text is kept."""
        count = len(self.seen)
        return count >= MAX_TEXTS or (self.room.left < 0 and count >= _FIRST)

    def place(self, cell: str) -> int:
        """Give the code of one text."""
        known = self.seen.get(cell)
        if known is not None:
            return known
        if len(cell) > (MAX_TEXT if self.seen else _LONGEST_FIRST):
            cell = cell[: MAX_TEXT + 1]
            known = self.seen.get(cell)
            if known is not None:
                return known
        if self.is_full:
            return -1
        self.room.take(cell)
        self.seen[cell] = len(self.seen)
        return len(self.seen) - 1

    def places(self, cells: Sequence[str]) -> list[int]:
        """Give the codes of texts, -1 for those beyond what is kept."""
        known = list(map(self.seen.get, cells, repeat(-1)))
        full = self.is_full and max(map(len, cells), default=0) <= MAX_TEXT
        return known if full or -1 not in known else list(map(self.place, cells))

    def extend(self, cells: Sequence[str]) -> None:
        """Take further rows."""
        self.codes.fromlist(self.places(cells))

    def finish(self) -> Text:
        """Give the whole column."""
        return Text(np.frombuffer(self.codes, dtype=np.int32), tuple(self.seen))


class GrowingColumn:
    """Numbers as long as all cells are numbers or blank; then texts, the earlier ones too.

    Parameters
    ----------
    room : Room, optional
        Shared by all columns of a file.
    """

    def __init__(self, room: Room | None = None) -> None:
        self.room = room
        self.numbers = Packed()
        self.whole = True
        self.text: GrowingText | None = None
        self.first: tuple[int, str] | None = None

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.numbers if self.text is None else self.text.codes)

    def begin(self, numbers: Floats) -> None:
        """Take the first rows, none of which is taken for a whole number."""
        self.numbers.add(numbers)
        self.whole = False

    def extend(self, cells: Sequence[Cell]) -> None:
        """Take further rows."""
        if self.text is None:
            kinds = {*map(type, cells)}
            values = list(cells)
            if type(None) in kinds:
                values = [math.nan if cell is None else cell for cell in cells]
            try:
                self.numbers.take(values)  # type: ignore[arg-type]  # a text is refused
            except TypeError:
                texts = ((k, cell) for k, cell in enumerate(cells) if isinstance(cell, str))
                place, text = next(texts)
                self.first = len(self.numbers) + place, text
                self._turn_to_text()
            self.whole = self.whole and kinds <= {int}
        if self.text is not None:
            self.text.extend([c if type(c) is str else spelled(c) for c in cells])

    def finish(self) -> Array | Text:
        """Give the whole column."""
        if self.text is not None:
            return replace(self.text.finish(), first=self.first)
        numbers = self.numbers.whole()
        if not self.whole or not len(numbers):
            return numbers
        most = max(int(numbers.max()), -int(numbers.min()))
        return numbers if most >= EXACT else numbers.astype(np.min_scalar_type(-most - 1))

    def _turn_to_text(self) -> None:
        self.text, numbers = GrowingText(self.room), self.numbers.whole()
        known, known_codes = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
        for start in range(0, len(numbers), _PART):
            # By their bits, since zero with a sign is spelled in another way than without.
            part = numbers[start : start + _PART].view(np.int64)
            bits, first, places = np.unique(part, return_index=True, return_inverse=True)
            at = np.minimum(np.searchsorted(known, bits), max(len(known) - 1, 0))
            seen = known[at] == bits if len(known) else np.zeros(len(bits), dtype=np.bool_)
            codes = np.full(len(bits), -1, dtype=np.int32)
            codes[seen] = known_codes[at[seen]]
            new = np.flatnonzero(~seen)
            new = new[np.argsort(first[new])]
            for place, value in zip(new, bits[new].view(np.float64), strict=True):
                if self.text.is_full:
                    break
                number = float(value)
                codes[place] = self.text.place(spelled(int(number) if self.whole else number))
            self.text.codes.frombytes(codes[places].tobytes())
            kept = new[codes[new] >= 0]
            known = np.concatenate([known, bits[kept]])
            known_codes = np.concatenate([known_codes, codes[kept]])
            order = np.argsort(known)
            known, known_codes = known[order], known_codes[order]
        self.numbers = Packed()


def spelled(cell: Cell) -> str:
    """Spell a cell as a text file would.

    Examples
    --------
    >>> spelled(2.5), spelled(3), spelled("cat"), spelled(None)
    ('2.5', '3', 'cat', '')
    """
    if cell is None or cell != cell:  # noqa: PLR0124 - NaN is a blank cell
        return ""
    return cell if isinstance(cell, str) else str(cell)
