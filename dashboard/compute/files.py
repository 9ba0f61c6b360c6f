"""Files read once, and their rows split once."""

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import streamlit as st

from calibcore.data import EventScores, LogitSet, Split
from calibcore.validation import Labels
from dashboard.compute.keep import key_of, once
from dashboard.readers import FileError, Options, Upload, combine, parse, understand
from dashboard.readers.apart import APART_FROM, Limits, parse_apart
from dashboard.readers.columns.named_sets import parting_of
from dashboard.readers.contents import DEFAULTS, Contents, RawEvent, RawSet, Role
from dashboard.readers.upload import Rows
from dashboard.settings import Settings
from dashboard.wording import set_read
from dashboard.wording.imports import MAX_UPLOAD, READING, RIGHT, WRONG, megabytes, reading_apart

MOST_FILES = 8
"""Files kept in memory; each may be as large as `MAX_UPLOAD`."""

Read = TypeVar("Read", Upload, Contents)


@dataclass(frozen=True)
class _Refused:
    """What a `FileError` said."""

    field: str
    found: str
    wanted: str


@dataclass(frozen=True)
class SourceFile:
    """A file as it came, with the digest that stands for its bytes.

    Parameters
    ----------
    name : str
        Shown as text; its ending picks the reader.
    digest : str
        SHA-256 of the bytes.
    load : callable
        Gives the bytes, when they have to be read.
    """

    name: str
    digest: str
    load: Callable[[], bytes]


@st.cache_resource(show_spinner=False)
def settle_imports() -> None:
    """Take everything imported so far out of the garbage collector's rounds.

    Streamlit collects after every run, and going through the modules is most of that time.
    """
    gc.collect()
    gc.freeze()


def read_files(sources: Sequence[SourceFile], options: Options = DEFAULTS) -> Upload:
    """Read files; the same bytes under the same names are parsed once, refused or not.

    Parameters
    ----------
    sources : sequence of SourceFile
        What belongs together.
    options : Options
        How the user overrules what they are taken for.

    Raises
    ------
    FileError
        As `dashboard.readers.read`, or as `combine`.
    """

    def make() -> Upload:
        parts = []
        for source in sources:
            asked = _meant_for(sources, source, options)
            contents = _parsed(source, asked)
            parts.append(understand(source.name, source.digest, asked, contents))
        return replace(combine(parts), options=options)

    key = tuple((source.name, source.digest) for source in sources), options
    return _kept("uploads", key, make)


def _kept(kind: str, key: object, make: Callable[[], Read]) -> Read:
    """Keep what comes of reading, a refusal too: without its traceback, which holds the bytes."""

    def outcome() -> Read | _Refused:
        try:
            return make()
        except FileError as error:
            return _Refused(error.field, error.found, error.wanted)

    found = once(kind, key, outcome, most=MOST_FILES)
    if isinstance(found, _Refused):
        raise FileError(found.field, found.found, found.wanted)
    return found


def parsed(sources: Sequence[SourceFile], options: Options = DEFAULTS) -> tuple[Contents, ...]:
    """Give what files hold before it is taken for anything; nothing where one cannot be parsed."""
    try:
        return tuple(_parsed(source, _meant_for(sources, source, options)) for source in sources)
    except FileError:
        return ()


def _parsed(source: SourceFile, options: Options) -> Contents:
    columns = options.of_columns()
    key = source.name, source.digest, columns
    return _kept("contents", key, lambda: _contents(source, columns))


def _contents(source: SourceFile, columns: Options) -> Contents:
    """Parse a file, a large one in a process of its own."""
    place, data = st.empty(), source.load()
    if len(data) > MAX_UPLOAD:
        raise FileError("file", megabytes(len(data)), f"at most {megabytes(MAX_UPLOAD)}")
    try:
        with place.container(), st.spinner(READING):
            if len(data) < APART_FROM:
                return parse(source.name, data, columns)
            return _contents_apart(source.name, data, columns)
    finally:
        place.empty()


def _contents_apart(name: str, data: bytes, columns: Options) -> Contents:
    limits, line, shown = Limits(), st.empty(), -1

    def waiting(seconds: float) -> None:
        nonlocal shown
        if int(seconds) > shown:
            shown = int(seconds)
            # A click on anything, such as the cross beside the file, makes this call end the run.
            line.markdown(reading_apart(len(data), shown, limits.seconds))

    return parse_apart(name, data, columns, limits, waiting)


def _meant_for(sources: Sequence[SourceFile], source: SourceFile, options: Options) -> Options:
    """Of several files, ask each only for columns that it has."""
    if len(sources) == 1 or options == options.of_values():
        return options
    try:
        names = _parsed(source, DEFAULTS).uses
    except FileError:
        return options
    return replace(
        options,
        label_column=options.label_column if options.label_column in names else None,
        class_columns=tuple(name for name in options.class_columns if name in names),
    )


def row_numbers(upload: Upload) -> dict[Role, Labels]:
    """Give the number of each row of each set in its file, as refusals name it."""
    contents = upload.contents
    numbers = {
        role: raw.first_row
        + (np.arange(_n_rows(raw)) if raw.among is None else np.flatnonzero(raw.among))
        for role, raw in contents.sets.items()
    }
    parting = parting_of(contents.sets, upload.options)
    if parting is not None:
        return {role: numbers["rows"][rows] for role, rows in parting.rows.items()}
    return numbers


def _n_rows(raw: RawSet | RawEvent) -> int:
    array = raw.scores if isinstance(raw, RawEvent) else raw.labels
    return 0 if array is None else len(array)


def taken_as(upload: Upload) -> tuple[str, ...]:
    """Say of each row that is shown first as which class its label was taken, or as right or wrong.

    Nothing is said of rows that are in no set, or in one that is shown from another file, nor where
    a sample has several rows.
    """
    preview, contents = upload.preview, upload.contents
    if not preview.of_samples:
        return ()
    shown = np.asarray(preview.numbers or range(1, len(preview.rows) + 1), dtype=np.int64)
    taken = [""] * len(shown)
    for role, numbers in row_numbers(upload).items():
        rows = upload.sets.get(role)  # a lone piece has none
        if rows is None or not {role, "rows"} & {next(iter(contents.sets))}:
            continue
        for place, row in enumerate(np.searchsorted(numbers, shown)):
            if row < len(numbers) and numbers[row] == shown[place]:
                taken[place] = _taken(rows, int(row))
    return tuple(taken) if any(taken) else ()


def _taken(rows: Rows, row: int) -> str:
    if isinstance(rows, LogitSet):
        return rows.class_names[int(rows.labels[row])]
    return RIGHT if rows.hits[row] else WRONG


def sets_said(upload: Upload) -> tuple[str, ...]:
    """Say what each set holds; the accuracy of many rows is worked out once."""
    key = upload.digest, upload.name, upload.options
    return once(
        "sets said", key, lambda: tuple(set_read(name, rows) for name, rows in upload.sets.items())
    )


def whole_split(upload: Upload, settings: Settings) -> Split[LogitSet] | Split[EventScores]:
    """Give the rows to fit on and the rows to judge, whatever part of them is judged."""
    share, seed = settings.calibration_share, settings.seed
    key = (*key_of(upload, settings)[:3], share, seed)
    return once("split", key, lambda: upload.split(calibration_share=share, seed=seed))
