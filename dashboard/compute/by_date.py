"""One set split by date: what comes before a period to fit on, what comes from it on to test."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from calibcore.data import EventScores, LogitSet
from calibcore.events import TopR
from dashboard.compute.cache import key_of, once
from dashboard.compute.periods import InTime, in_time
from dashboard.readers import FileError, Upload
from dashboard.readers.recognition.set_names import Parting
from dashboard.settings import Settings
from dashboard.wording.slice_names import BLANK, period_name

LEAST = 50
"""Rows that a split which is offered leaves on each side, at least."""

Mask = NDArray[np.bool_]


def split_by_date(upload: Upload) -> Upload:
    """Return the two sets of a file whose ``options.split_at`` names a column and a period.

    Rows without a date are in neither set, which is said.

    Raises
    ------
    FileError
        A file of two sets, one without such dates, or of other periods.
    """
    if not upload.options.split_at:
        return upload
    if upload.rows is None:
        where = f"split at {upload.options.split_at[1]}"
        raise FileError(where, "two sets", "one set, to be split by date")
    by, first, (before, since) = _parted(upload)
    marks = {"calibration": before, "test": since}
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
        contents=replace(
            upload.contents,
            sets=Parting({"calibration": before, "test": since}).of(upload.contents.sets["rows"]),
        ),
        found=(
            *upload.found,
            (
                f"Split by {by}: {before.sum():,} rows before {period_name(first)} are the"
                f" calibration set, {since.sum():,} from it on the test set."
            ),
        ),
        repairs=(*upload.repairs, *left),
    )


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


def _masks(periods: InTime, first: str) -> tuple[Mask, Mask]:
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
    if not sets:
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


def _outcomes(rows: LogitSet | EventScores) -> NDArray[np.intp]:
    return (rows.labels if isinstance(rows, LogitSet) else rows.hits).astype(np.intp)


def _is_enough(outcomes: NDArray[np.intp]) -> bool:
    return outcomes.size >= LEAST and len(np.unique(outcomes)) > 1
