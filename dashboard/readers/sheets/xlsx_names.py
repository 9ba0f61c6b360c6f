"""How a spreadsheet names its columns and shows its dates."""

import re
from datetime import datetime, timedelta
from functools import lru_cache

from dashboard.readers.refusal import plain

LAST_COLUMN = 1 << 14
"""As many columns as a sheet may have."""

_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 - a day of the calendar, in no zone
_LETTERS = re.compile(r"[A-Z]{1,3}", re.ASCII)


def letters_of(column: int) -> str:
    """Name a column as a spreadsheet does, undoing `place_of`."""
    letters, rest = "", column + 1
    while rest:
        rest, letter = divmod(rest - 1, 26)
        letters = chr(65 + letter) + letters
    return letters


@lru_cache(maxsize=LAST_COLUMN)
def place_of(letters: str) -> int:
    """Count a column from 0 by its letters; -1 where they are none."""
    if not _LETTERS.fullmatch(letters):
        return -1
    place = 0
    for letter in letters:
        place = 26 * place + ord(letter) - 64
    return place - 1


def as_date(days: float) -> str:
    """Spell a date as a text, so that it can tell rows apart and is never taken for a score."""
    if not 0 <= days < 2_958_466:
        return f"date {plain(str(days), 20)}"
    since = timedelta(days=days)
    return f"{_day(since.days)} {_time(since.seconds)}"


@lru_cache(maxsize=1 << 16)
def _day(days: int) -> str:
    return (_EPOCH + timedelta(days=days)).date().isoformat()


@lru_cache(maxsize=86_400)
def _time(seconds: int) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).time().isoformat(timespec="seconds")
