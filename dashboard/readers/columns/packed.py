"""Numbers collected while a file is read, kept small where that loses nothing."""

from array import array
from typing import NamedTuple

import numpy as np

from calibcore.validation import Floats
from dashboard.readers.contents import Array

_PART = 1 << 16
_MOST = 1 << 31
_DECIMALS = 10
_FEW = 64
_FEW_OTHERS = 8
_TENS = tuple(10.0**k for k in range(_DECIMALS))
"""Powers of ten that are themselves as decimals."""


class _Part(NamedTuple):
    """Whole numbers, by what they are to be divided, and where which other numbers stand."""

    whole: Array
    tens: float
    places: Array
    others: Floats

    def numbers(self, out: Floats) -> None:
        """Write the numbers out."""
        np.divide(self.whole, self.tens, out=out)
        out[self.places] = self.others


_NONE = np.empty(0)


class Packed:
    """Decimals of few digits as whole numbers over a power of ten, which give them back exactly.

    Examples
    --------
    >>> numbers = Packed()
    >>> numbers.take([0.25, 0.5])
    >>> numbers.add(np.array([1e300]))
    >>> numbers.whole().tolist()
    [0.25, 0.5, 1e+300]
    """

    def __init__(self) -> None:
        self.parts: list[_Part] = []
        self.n_packed = 0
        self.last = array("d")
        self.decimals = 0

    def __len__(self) -> int:
        """Count the numbers."""
        return self.n_packed + len(self.last)

    def take(self, numbers: list[float]) -> None:
        """Add numbers, none of them where one is none (`TypeError`)."""
        self.last.fromlist(numbers)
        if len(self.last) >= _PART:
            self._pack_last()

    def add(self, numbers: Floats) -> None:
        """Add an array."""
        if len(numbers) + len(self.last) < _PART:
            self.last.frombytes(numbers.tobytes())
            return
        self._pack_last()
        for start in range(0, len(numbers), _PART):
            self._pack(numbers[start : start + _PART])

    def whole(self) -> Floats:
        """Give all numbers as one array, and free the parts on the way."""
        self._pack_last()
        if len(self.parts) == 1 and self.parts[0].whole.dtype == np.float64:
            return self.parts[0].whole
        numbers, at = np.empty(self.n_packed), 0
        for place, part in enumerate(self.parts):
            part.numbers(numbers[at : at + len(part.whole)])
            at += len(part.whole)
            self.parts[place] = _as_it_is(_NONE)
        self.parts = [_as_it_is(numbers)]
        return numbers

    def _pack_last(self) -> None:
        numbers, self.last = np.array(self.last), array("d")
        for start in range(0, len(numbers), _PART):
            self._pack(numbers[start : start + _PART])

    def _pack(self, numbers: Floats) -> None:
        self.n_packed += len(numbers)
        some = numbers[:: max(len(numbers) // _FEW, 1)]
        # As many decimals as before, or more where some numbers have more.
        for decimals in range(self.decimals, _DECIMALS):
            part = None if _over(some, decimals) is None else _over(numbers, decimals)
            if part is not None:
                self.decimals = decimals
                self.parts.append(part)
                return
        self.decimals = 0
        self.parts.append(_as_it_is(numbers.copy()))


def _as_it_is(numbers: Floats) -> _Part:
    return _Part(numbers, 1.0, np.empty(0, dtype=np.intp), _NONE)


def _over(numbers: Floats, decimals: int) -> _Part | None:
    """Give whole numbers that are most of these once divided, or nothing where there are none."""
    tens = _TENS[decimals]
    with np.errstate(invalid="ignore", over="ignore"):
        whole = np.rint(numbers * tens)
        whole[~(np.abs(whole) < _MOST)] = 0
    short = whole.astype(np.min_scalar_type(min(int(whole.min()), -int(whole.max()) - 1)))
    # By their bits, since zero with a sign is another number than without.
    places = np.flatnonzero((short / tens).view(np.int64) != numbers.view(np.int64))
    if len(places) > len(numbers) // _FEW_OTHERS:
        return None
    return _Part(short, tens, places.astype(np.uint16), numbers[places])
