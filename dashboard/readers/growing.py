"""Columns that grow while a file is read, bounded however different its texts are."""

import math
from array import array
from collections.abc import Sequence
from dataclasses import replace
from itertools import repeat

import numpy as np

from calibcore.validation import Floats
from dashboard.readers.contents import Array
from dashboard.readers.packed import Packed
from dashboard.readers.table_columns import MAX_TEXT, MAX_TEXTS, Text

Cell = float | str | None
"""A number, a text, or nothing."""

_PART = 1 << 18
EXACT = 1 << 53
"""Whole numbers below this are themselves as decimals."""


class GrowingText:
    """Texts as codes, of which only so many different ones and so much of each are kept."""

    def __init__(self) -> None:
        self.seen: dict[str, int] = {}
        self.codes = array("i")

    def place(self, cell: str) -> int:
        """Give the code of one text."""
        known = self.seen.get(cell)
        if known is not None:
            return known
        cell = cell[: MAX_TEXT + 1]
        if cell not in self.seen and len(self.seen) >= MAX_TEXTS:
            return -1
        return self.seen.setdefault(cell, len(self.seen))

    def extend(self, cells: Sequence[str]) -> None:
        """Take further rows."""
        known = list(map(self.seen.get, cells, repeat(-1)))
        full = len(self.seen) >= MAX_TEXTS and max(map(len, cells), default=0) <= MAX_TEXT
        if full or -1 not in known:
            self.codes.fromlist(known)
        else:
            self.codes.extend(map(self.place, cells))

    def finish(self) -> Text:
        """Give the whole column."""
        return Text(np.frombuffer(self.codes, dtype=np.int32), tuple(self.seen))


class GrowingColumn:
    """Numbers as long as all cells are numbers or blank; then texts, the earlier ones too."""

    def __init__(self) -> None:
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
        self.text, numbers = GrowingText(), self.numbers.whole()
        for start in range(0, len(numbers), _PART):
            # By their bits, since zero with a sign is spelled in another way than without.
            part = numbers[start : start + _PART].view(np.int64)
            bits, first, places = np.unique(part, return_index=True, return_inverse=True)
            values = bits.view(np.float64)
            order = np.argsort(first)
            codes = np.empty(len(values), dtype=np.int32)
            different = (int(v) if self.whole else v for v in values[order].tolist())
            codes[order] = [self.text.place(spelled(value)) for value in different]
            self.text.codes.frombytes(codes[places].tobytes())
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
