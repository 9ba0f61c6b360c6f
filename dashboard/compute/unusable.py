"""The first rows of a refused table that cannot be used, cell by cell as the file has them."""

from dataclasses import replace

import numpy as np

from dashboard.compute.cache import once
from dashboard.compute.files import SourceFile, parsed
from dashboard.readers import FileError, Options
from dashboard.readers.first_rows import preview_of
from dashboard.readers.recognition import recognise
from dashboard.readers.recognition.refused import usable_rows
from dashboard.readers.records import Preview, Table, cell_of
from dashboard.readers.refusal import Question

_MOST = 10


def unusable_rows(source: SourceFile, options: Options, question: Question) -> Preview | None:
    """Return the rows that a question offers to leave out; None where it is about something else.

    ``source``: the only file. ``options``: how it is read. ``question``: what is asked about it.
    """
    held = parsed((source,), options)
    table = held[0] if held else None
    offered = any(answer.change.get("leave_out") for answer in question.answers)
    if not offered or not isinstance(table, Table):
        return None
    key = source.name, source.digest, options
    return once("unusable rows", key, lambda: _found(table, options))


def _found(table: Table, options: Options) -> Preview | None:
    """Compare the table with what is left of it once rows are left out."""
    try:
        reading = recognise(table, options)
        kept, _ = usable_rows(table, reading, replace(options, leave_out=True))
    except FileError:
        return None
    if kept.among is None:
        return None
    of_file = np.arange(table.n_rows) if table.among is None else np.flatnonzero(table.among)
    places = np.flatnonzero(~kept.among[of_file])[:_MOST]
    if not len(places):
        return None
    among = np.zeros(len(kept.among), dtype=np.bool_)
    among[of_file[places]] = True
    cells = tuple(
        tuple(cell_of(column, place) for column in table.columns) for place in places.tolist()
    )
    return replace(preview_of(replace(table, shown=cells, among=among), reading), refused=True)
