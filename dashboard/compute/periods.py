"""Months of a column of dates, in time order and no finer than can be read."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.wording.slice_names import BLANK, period_name

MOST_PERIODS = 24
"""With more months they are joined to quarters, and with more quarters to years."""

_MONTH = re.compile(r"([12]\d{3})-(0[1-9]|1[0-2])", re.ASCII)
_YEAR = re.compile(r"([12]\d{3})", re.ASCII)


@dataclass(frozen=True)
class Periods:
    """Periods of time, ascending, those without a date last.

    Parameters
    ----------
    names, shown : tuple of str
        Of each period, for the address and as it is written.
    places : tuple of int
        Period of each text.
    """

    names: tuple[str, ...]
    shown: tuple[str, ...]
    places: tuple[int, ...]


def periods_of(texts: Sequence[str]) -> Periods | None:
    """Return the periods of months or years as the readers write them; None of other texts.

    Examples
    --------
    >>> periods_of(["2025-03", "", "2024-12"])
    Periods(names=('2024-12', '2025-03', '(blank)'), shown=('Dec 2024', 'Mar 2025', '(blank)'), \
places=(1, 2, 0))
    """
    dated = [text for text in texts if text]
    if not dated or not any(all(map(one.fullmatch, dated)) for one in (_MONTH, _YEAR)):
        return None
    joined = list(texts)
    for coarser in (_quarter, _year):
        if len({*joined} - {""}) > MOST_PERIODS:
            joined = [text and coarser(text) for text in texts]
    kept = sorted({*joined} - {""})
    names = (*kept, BLANK) if "" in joined else tuple(kept)
    places = tuple(names.index(text or BLANK) for text in joined)
    return Periods(names, tuple(map(period_name, names)), places)


def _quarter(text: str) -> str:
    year, _, month = text.partition("-")
    return f"{year}-Q{(int(month) + 2) // 3}" if month else year


def _year(text: str) -> str:
    return text[:4]
