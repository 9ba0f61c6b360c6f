"""Months or weeks of a column of dates, in time order and no finer than can be read."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibcore.data import LogitSet, Rows
from calibcore.events import TopR
from dashboard.compute.cache import key_of, once
from dashboard.readers import FileError, GroupingColumn, Upload
from dashboard.readers.recognition.set_names import Parting
from dashboard.readers.records import RawEvent, RawSet, Role
from dashboard.settings import Settings
from dashboard.texts.subgroups import BLANK, period_name, shown_range

MOST_PERIODS = 24
"""With more months they are joined to quarters, and with more quarters to years."""

_MONTH = re.compile(r"([12]\d{3})-(0[1-9]|1[0-2])", re.ASCII)
_YEAR = re.compile(r"([12]\d{3})", re.ASCII)
_WEEK = re.compile(r"([12]\d{3})-W(0[1-9]|[1-4]\d|5[0-3])", re.ASCII)

_NUMBERED = re.compile(r"(?:.*[\W_])?(week|month)(?:[\W_]?(?:no|nr|num|number|of.year))?", re.I)
"""Headings of columns that number weeks or months."""

_LAST = {"week": 53, "month": 12}

_WEEKS = 4
"""Weeks that are joined where there are more than `MOST_PERIODS`."""


@dataclass(frozen=True, eq=False)
class Periods:
    """Periods of time, ascending, those without a date last."""

    names: tuple[str, ...]
    shown: tuple[str, ...]
    """Of each period, for the address and as it is written."""
    places: NDArray[np.intp]
    """Period of each text, or of each row of a column."""


def periods_of(texts: Sequence[str]) -> Periods | None:
    """Return the periods of months or years as the readers write them, or weeks; else None."""
    dated = [text for text in texts if text]
    if not dated or not any(all(map(one.fullmatch, dated)) for one in (_MONTH, _WEEK, _YEAR)):
        return None
    joined = list(texts)
    for coarser in (_quarter, _year):
        if len({*joined} - {""}) > MOST_PERIODS:
            joined = [text and coarser(text) for text in texts]
    dates = sorted({*joined} - {""})
    names = (*dates, BLANK) if "" in joined else tuple(dates)
    places = np.array([names.index(text or BLANK) for text in joined])
    return Periods(names, tuple(map(period_name, names)), places)


def _quarter(text: str) -> str:
    year, _, part = text.partition("-")
    if part.startswith("W"):
        return f"{year}-Q{min((int(part[1:]) + 12) // 13, 4)}"
    return f"{year}-Q{(int(part) + 2) // 3}" if part else year


def _year(text: str) -> str:
    return text[:4]


# Of a column --------------------------------------------------------------------------------


def in_time(column: GroupingColumn) -> Periods | None:
    """Return the periods of a column of dates, or of numbers of weeks or months; else None."""
    if column.categories is not None:
        periods, of_rows = periods_of(column.categories), column.values.astype(np.intp)
    elif _NUMBERED.fullmatch(column.name) is None:
        return None
    else:
        values = column.values.astype(np.float64)
        different, of_rows = np.unique(values, return_inverse=True)  # NaN last, as one
        periods = _numbered(column.name, different)
    return periods and replace(periods, places=periods.places[of_rows])


def _numbered(name: str, different: NDArray[np.float64]) -> Periods | None:
    """Return the periods of numbers of weeks or months: 1 to 52, or 202401 to 202412."""
    heading, dated = _NUMBERED.fullmatch(name), different[~np.isnan(different)]
    if heading is None or dated.size < 2 or (dated != np.floor(dated)).any():
        return None
    kind, blank = heading[1].lower(), [""] * (different.size - dated.size)
    years, parts = np.divmod(dated.astype(np.int64), 100)
    if parts.min() < 1 or parts.max() > _LAST[kind]:
        return None
    if not years.any():
        return _of_a_year(parts.tolist(), blank)
    if years.min() < 1900 or years.max() > 2100:
        return None
    mark = "W" if kind == "week" else ""
    pairs = zip(years.tolist(), parts.tolist(), strict=True)
    return periods_of([*(f"{year}-{mark}{part:02d}" for year, part in pairs), *blank])


def _of_a_year(numbers: Sequence[int], blank: Sequence[str]) -> Periods:
    """Return the periods of numbers without a year; many weeks by four, the last with the 53rd."""
    each = len(numbers) <= MOST_PERIODS
    firsts = [n if each else min((n - 1) // _WEEKS, 12) * _WEEKS + 1 for n in numbers]
    periods = sorted(set(firsts))
    ends = {n: _LAST["week"] if n == 49 else n + _WEEKS - 1 for n in periods}
    names = [str(n) if each else f"{n} to {ends[n]}" for n in periods] + [BLANK] * len(blank)
    places = [periods.index(n) for n in firsts] + [len(periods)] * len(blank)
    return Periods(tuple(names), tuple(map(shown_range, names)), np.array(places))


LEAST = 50
"""Rows that a split which is offered leaves on each side, at least."""

Mask = NDArray[np.bool_]


def split_by_date(upload: Upload) -> Upload:
    """Return the two sets of a file whose ``options.split_at`` names a column and a period.

    Rows without a date are in neither set, which is said.

    Raises `FileError` for a file of two sets, one without such dates, and one of other periods.
    """
    if not upload.options.split_at:
        return upload
    if upload.rows is None:
        where = f"split at {upload.options.split_at[1]}"
        raise FileError(where, "two sets", "one set, to be split by date")
    by, first, (before, since) = _parted(upload)
    marks: dict[Role, Mask] = {"calibration": before, "test": since}
    lines, copies = dict[Role, Mask](), dict[Role, NDArray[np.intp]]()
    for role, mask in marks.items():
        lines[role] = mask
        if (places := upload.copies.get("rows")) is not None:
            lines[role], copies[role] = _lines_of(places[mask], upload.contents.sets["rows"])
    n_left = int((~(before | since)).sum())
    left = [f"{n_left:,} row{'' if n_left == 1 else 's'} left out: no date in {by}."] * bool(n_left)
    return replace(
        upload,
        options=replace(upload.options, split_at=(by, first)),
        rows=None,
        calibration=upload.rows.rows(before),
        test=upload.rows.rows(since),
        columns={
            role: {name: one.rows(mask) for name, one in upload.columns["rows"].items()}
            for role, mask in marks.items()
        },
        contents=replace(upload.contents, sets=Parting(lines).of(upload.contents.sets["rows"])),
        copies=copies,
        notes=(
            *upload.notes,
            (
                f"Split by {by}: {before.sum():,} rows before {period_name(first)} are the"
                f" calibration set, {since.sum():,} from it on the test set."
            ),
        ),
        repairs=(*upload.repairs, *left),
    )


def _lines_of(places: NDArray[np.intp], raw: RawSet | RawEvent) -> tuple[Mask, NDArray[np.intp]]:
    """Return which rows of the file some rows are, and of each its place among these."""
    lines = np.zeros(raw.n_rows, dtype=np.bool_)
    lines[places] = True
    return lines, (np.cumsum(lines) - 1)[places]


def _parted(upload: Upload) -> tuple[str, str, tuple[Mask, Mask]]:
    """Return the column of dates, the period, and the rows before it and from it on."""
    by, first = upload.options.split_at
    where, columns = f"split at {first}", upload.columns["rows"]
    dated = {name: its for name in columns if (its := in_time(columns[name])) is not None}
    by = by or (next(iter(dated)) if len(dated) == 1 else "")
    if by not in dated:
        known = ", ".join(f'"{name}"' for name in dated) or "none in this file"
        raise FileError(where, f'column "{by}"' if by else "no column", f"one of dates: {known}")
    names = [name for name in dated[by].names if name != BLANK]
    if first not in names[1:]:
        wanted = f"a later one than {names[0]}, to {names[-1]}"
        raise FileError(where, f'no such period of "{by}"', wanted)
    return by, first, _masks(dated[by], first)


def _masks(periods: Periods, first: str) -> tuple[Mask, Mask]:
    """Return the rows before a period, and those from it on; rows without a date are in neither."""
    at = periods.names.index(first)
    since = periods.places >= at
    if BLANK in periods.names:
        since &= periods.places != periods.names.index(BLANK)
    return periods.places < at, since


def splits_by_date(upload: Upload) -> list[tuple[str, str]]:
    """Return the columns of dates and the periods at which a file can be split.

    Both sides keep 50 rows and, of one event or two classes, both outcomes.
    """
    key = key_of(upload, Settings(TopR(1)))[:3]
    return once("splits by date", key, lambda: list(_splits(upload)))


def _splits(upload: Upload) -> Iterator[tuple[str, str]]:
    sets = list(upload.sets.items())
    if not sets or upload.summary is not None:
        return
    outcomes = np.concatenate([_outcomes(rows) for _, rows in sets])
    for by in next(iter(upload.columns.values()), {}):
        columns = [upload.columns[role][by] for role, _ in sets]
        values = np.concatenate([column.values for column in columns])
        periods = in_time(replace(columns[0], values=values))
        for first in () if periods is None else periods.names[1:]:
            sides = () if first == BLANK or periods is None else _masks(periods, first)
            if sides and all(_is_enough(outcomes[side]) for side in sides):
                yield by, first


def _outcomes(rows: Rows) -> NDArray[np.intp]:
    return (rows.labels if isinstance(rows, LogitSet) else rows.hits).astype(np.intp)


def _is_enough(outcomes: NDArray[np.intp]) -> bool:
    return outcomes.size >= LEAST and len(np.unique(outcomes)) > 1
