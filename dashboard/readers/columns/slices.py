"""Further columns of a file, kept so that the rows can be told apart by them."""

import re
from array import array
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from calibcore.blocks import row_blocks
from dashboard.readers.contents import Array, SliceColumn
from dashboard.readers.refusal import plain, visible

# Possessive, so that a million digits before a letter cannot make the pattern start over.
NUMBER = re.compile(r"\s*+[+-]?(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?\s*+", re.ASCII)
MAX_COLUMNS = 40
MAX_TEXTS = 200
MAX_LENGTH = 200
LEAST_COUNTED = 5
_NAME = 60
_BLANK = frozenset({"", "na", "n/a", "nan", "null", "none"})
_TOO_MANY = f"more than {MAX_TEXTS} different texts"
_TOO_LONG = f"texts of more than {MAX_LENGTH} characters"
Outcome = SliceColumn | str
"""A column, or why it is left out."""


def sentence_of(left: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Say which columns are left out, and why."""
    return tuple(f"Column {plain(name, _NAME)} was left out: {why}." for name, why in left[:8]) + (
        (f"{len(left) - 8} more columns were left out.",) if len(left) > 8 else ()
    )


def slice_of_texts(
    name: str, codes: Array, texts: Sequence[str], *, comma_allowed: bool = False
) -> Outcome:
    """Make a column of numbers where every text is one or is blank, else of categories."""
    numbers = [number_of(text, comma_allowed=comma_allowed) for text in texts]
    if None not in numbers:
        looked_up = np.array(numbers, dtype=np.float64)
        if not np.isnan(looked_up).all():
            return _numbers(name, looked_up[codes])
    if len(texts) > MAX_TEXTS:
        return _TOO_MANY
    if max(map(len, texts), default=0) > MAX_LENGTH:
        return _TOO_LONG
    shown = tuple(visible(text, MAX_LENGTH) for text in texts)
    return SliceColumn(visible(name, _NAME), codes.astype(np.uint8, copy=False), shown)


def slice_of_array(name: str, values: Array) -> Outcome:
    """Make a column of an array of numbers or of text."""
    if values.dtype.kind in "biuf":
        return _numbers(name, values.view(np.uint8) if values.dtype.kind == "b" else values)
    texts, codes = np.unique(values, return_inverse=True)
    return slice_of_texts(name, codes, texts.tolist())


def _numbers(name: str, values: Array) -> Outcome:
    if len(values) >= LEAST_COUNTED and counts_rows(values):
        return f"it only counts the {len(values):,} rows"
    return SliceColumn(visible(name, _NAME), values)


def counts_rows(column: Array) -> bool:
    """Tell a column that counts the rows, from 0 or from 1."""
    if column[0] not in (0, 1):
        return False
    first = int(column[0])
    for rows in row_blocks(len(column), 1):
        part = column[rows]
        if not np.array_equal(part, np.arange(len(part)) + (rows.start + first)):
            return False
    return True


def number_of(cell: str, *, comma_allowed: bool = False) -> float | None:
    """Read a cell as a number, a blank one as NaN; None for any other text.

    Examples
    --------
    >>> number_of("1e3"), number_of("n/a"), number_of("1_000")
    (1000.0, nan, None)
    """
    if cell.strip().lower() in _BLANK:
        return float("nan")
    if comma_allowed:
        cell = cell.replace(",", ".", 1)
    return float(cell) if len(cell) <= MAX_LENGTH and NUMBER.fullmatch(cell) else None


def id_of(cell: str) -> int:
    """Give a whole number that stands for the name of a row, the same for 7 and 7.0.

    Examples
    --------
    >>> id_of("7") == id_of("7.0"), id_of("a.png") == id_of("b.png")
    (True, False)
    """
    if cell.isascii() and cell.isdigit() and len(cell) < 18:
        return int(cell)
    if len(cell) < 18 and NUMBER.fullmatch(cell):
        number = float(cell)
        if number.is_integer() and abs(number) < 1 << 62:
            return int(number)
    digest = blake2b(cell.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def is_number(cell: str) -> bool:
    """Tell a number, in plain decimals with point or comma, perhaps with a percent sign."""
    cell = cell.strip().removesuffix("%").rstrip()
    return NUMBER.fullmatch(cell.replace(",", ".", 1)) is not None


class TextColumn:
    """Collects one column of a text table, a block of rows at a time.

    Few different texts are kept as their places, more only if they are numbers.
    """

    def __init__(self, name: str, *, comma_allowed: bool) -> None:
        self.name = name
        self.comma_allowed = comma_allowed
        self.seen: dict[str, int] = {}
        self.codes = array("B")
        self.numbers = array("d")
        self.as_numbers = False
        self.fault = ""

    def take(self, cells: Sequence[str]) -> None:
        """Add the cells of some rows."""
        if self.fault:
            return
        if not self.as_numbers:
            if self._knows(cells):
                self.codes.extend(map(self.seen.__getitem__, cells))
                return
            self._turn_to_numbers()
        if not self.fault:
            self._add_numbers(cells)

    def _knows(self, cells: Sequence[str]) -> bool:
        """Learn texts that are new, unless there would be too many."""
        new = [cell for cell in dict.fromkeys(cells) if cell not in self.seen]
        if len(self.seen) + len(new) > MAX_TEXTS:
            return False
        self.seen.update({cell: len(self.seen) + k for k, cell in enumerate(new)})
        return True

    def take_coded(self, places: NDArray[np.int32], different: Sequence[str]) -> None:
        """Add the cells of some rows, given as places among the different ones."""
        cells = [cell.strip() for cell in different]
        if self.fault:
            return
        if not self.as_numbers:
            if self._knows(cells):
                known = np.array([self.seen[cell] for cell in cells], dtype=np.uint8)
                self.codes.frombytes(known[places].tobytes())
                return
            self._turn_to_numbers()
        if not self.fault:
            before = len(self.numbers)
            self._add_numbers(cells)
            if not self.fault:
                numbers = np.array(self.numbers[before:])
                del self.numbers[before:]
                self.numbers.frombytes(numbers[places].tobytes())

    def outcome(self) -> Outcome:
        """Give the whole column."""
        if self.fault:
            return self.fault
        if self.as_numbers:
            return _numbers(self.name, np.frombuffer(self.numbers))
        codes = np.frombuffer(self.codes, dtype=np.uint8)
        texts = tuple(self.seen)
        return slice_of_texts(self.name, codes, texts, comma_allowed=self.comma_allowed)

    def _turn_to_numbers(self) -> None:
        known = [number_of(text, comma_allowed=self.comma_allowed) for text in self.seen]
        numbers = [number for number in known if number is not None]
        if len(numbers) < len(known):
            self.fault = _TOO_MANY
        else:
            self.numbers = array("d", map(numbers.__getitem__, self.codes))
            self.as_numbers = True
        self.codes, self.seen = array("B"), {}

    def _add_numbers(self, cells: Sequence[str]) -> None:
        comma = self.comma_allowed
        read = (number_of(cell, comma_allowed=comma) for cell in cells)
        numbers = [number for number in read if number is not None]
        if len(numbers) < len(cells):
            self.fault, self.numbers = _TOO_MANY, array("d")
        else:
            self.numbers.fromlist(numbers)
