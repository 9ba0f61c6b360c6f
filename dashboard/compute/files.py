"""Files parsed once, understood once per choice of the user, and their rows split once."""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from typing import TypeVar

import numpy as np

from calibcore.data import LogitSet, Rows
from calibcore.splits import AnySplit
from calibcore.validation import Labels
from dashboard.compute.cache import drop, key_of, once
from dashboard.compute.periods import split_by_date
from dashboard.logs import LOG
from dashboard.many_rows import counted
from dashboard.readers import FileError, ParsedFile, ReadingOptions, Upload, parse, understand
from dashboard.readers.formats import FORMATS, ending_of
from dashboard.readers.records import DEFAULTS, Array, Arrays, Body, Column, RawEvent, RawSet, Role
from dashboard.readers.refusal import PassingError, Question, visible
from dashboard.readers.together import sheets_of, ways_of
from dashboard.readers.worker import WORKERS, parse_apart
from dashboard.settings import Settings
from dashboard.summaries import added_up
from dashboard.texts.opening import READING, RIGHT, WRONG, reading_apart, set_sentence

MOST_FILES = 8
"""Files kept in memory; each may be as large as `MAX_UPLOAD`."""

MOST_READINGS = 24
"""Ways to understand files that are kept, which share the files' arrays."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class SourceFile:
    """A file as it came, with the digest that stands for its bytes."""

    name: str
    """Shown as text; its ending picks the reader."""
    digest: str
    """SHA-256 of the bytes."""
    load: Callable[[], bytes]
    """Returns the bytes, when they have to be read."""
    own: bool = False


@cache
def settle_imports() -> None:
    """Take everything imported so far out of the garbage collector's rounds.

    Every run of a page ends with one, and going through the modules is most of that time.
    """
    gc.collect()
    gc.freeze()


def prepare() -> None:
    """Start the process that waits for a file, so that reading one does not wait for its start."""
    WORKERS.prepare()


def read_files(sources: Sequence[SourceFile], options: ReadingOptions = DEFAULTS) -> Upload:
    """Read files; the same bytes are parsed once and understood once per choice, refused or not.

    A refusal that passes is not kept.

    ``sources``: what belongs together. ``options``: how the user changes what they are taken for.

    Raises `FileError` as `dashboard.readers.understand` does, and a `Question` where an answer
    helps.
    """

    def make() -> Upload:
        if options.many == "counted":
            every = replace(options, many="auto")
            upload = counted(read_files(sources, every))
            for one in sources:  # of which only an answer that is taken back needs the rows
                drop("parsed", _key_of(one, options))
            drop("uploads", (files_key, every))
            return upload
        files = [ParsedFile(one.name, one.digest, _content(one, options)) for one in sources]
        return added_up(files) or split_by_date(understand(files, options))

    files_key = tuple((source.name, source.digest) for source in sources)
    return _outcome_once("uploads", (files_key, options), make, most=MOST_READINGS)


def _outcome_once(kind: str, key: object, make: Callable[[], Result], *, most: int) -> Result:
    def outcome() -> Result | FileError:
        try:
            return make()
        except PassingError:
            raise
        except FileError as error:
            return _bare(error)  # without its traceback, which would hold the bytes

    result = once(kind, key, outcome, most=most)
    if isinstance(result, FileError):
        raise _bare(result)
    return result


def _bare(error: FileError) -> FileError:
    """Copy a refusal: each raise adds frames to the traceback of the one that is kept."""
    if isinstance(error, Question):
        copy: FileError = Question(
            error.field, error.actual, error.ask, error.answers, ranked=error.ranked
        )
    else:
        copy = FileError(error.field, error.actual, error.expected)
    copy.known = error.known
    return copy


def fitting(
    sources: Sequence[SourceFile], options: ReadingOptions
) -> tuple[ReadingOptions, tuple[ReadingOptions, ...]]:
    """Return those choices that these files can follow, and each of the others alone.

    Choices made for other files must not make these unusable. Where the files are refused as
    detected too, the choices are left, but for the roles of columns that are not there.
    """
    if not _refused(sources, options):
        return options, ()
    names = {column.name for one in parsed(sources, options) for column in _columns(one)}
    plain = _refused(sources, DEFAULTS)
    fit, dropped = DEFAULTS, list[ReadingOptions]()
    for one in _each(options):
        tried = _both(fit, one)
        strange = bool(names) and any(name not in names for name, _ in one.roles)
        if strange if plain else _refused(sources, tried):
            dropped.append(one)
        else:
            fit = tried
    return fit, tuple(dropped)


def _each(options: ReadingOptions) -> list[ReadingOptions]:
    """Return each choice alone; each role of a column is one."""
    others = [one.name for one in fields(ReadingOptions) if one.name != "roles"]
    return [ReadingOptions(roles=(role,)) for role in options.roles] + [
        replace(DEFAULTS, **{name: getattr(options, name)})
        for name in others
        if getattr(options, name) != getattr(DEFAULTS, name)
    ]


def _both(options: ReadingOptions, one: ReadingOptions) -> ReadingOptions:
    """Return choices with one more."""
    more = {field.name: getattr(one, field.name) for field in fields(ReadingOptions)}
    changed = {name: value for name, value in more.items() if value != getattr(DEFAULTS, name)}
    return replace(options, **(changed | {"roles": (*options.roles, *one.roles)}))


def _refused(sources: Sequence[SourceFile], options: ReadingOptions) -> bool:
    """Return whether files are refused for good, and not by a question."""
    try:
        read_files(sources, options)
    except (Question, PassingError):
        return False
    except FileError:
        return True
    return False


def _columns(part: Body) -> tuple[Column, ...]:
    return part.arrays if isinstance(part, Arrays) else part.columns


def parsed(sources: Sequence[SourceFile], options: ReadingOptions = DEFAULTS) -> tuple[Body, ...]:
    """Return what files hold before recognition; nothing where one cannot be parsed."""
    try:
        return tuple(_content(source, options) for source in sources)
    except FileError:
        return ()


def _together(sources: Sequence[SourceFile], options: ReadingOptions) -> Sequence[tuple[str, Body]]:
    """Return what several files hold, or several sheets of one, by their names."""
    parts = parsed(sources, options)
    pairs = [(one.name, part) for one, part in zip(sources, parts, strict=False)]
    return sheets_of(pairs) or pairs


def names_together(
    sources: Sequence[SourceFile], options: ReadingOptions = DEFAULTS
) -> tuple[str, ...]:
    """Return how several files, or several sheets of one, are called in ``together``."""
    return tuple(name for name, _ in _together(sources, options))


def ways_together(
    sources: Sequence[SourceFile], options: ReadingOptions = DEFAULTS
) -> tuple[tuple[str, ...], ...]:
    """Return what files, or sheets, may be of one another, each a value of ``together``."""
    pairs = _together(sources, options)
    if len(pairs) < 2:
        return ()
    key = tuple((source.name, source.digest) for source in sources), options
    return _outcome_once("ways", key, lambda: ways_of(pairs, options), most=MOST_READINGS)


def _content(source: SourceFile, options: ReadingOptions) -> Body:
    make = partial(_parse, source, options)
    return _outcome_once("parsed", _key_of(source, options), make, most=MOST_FILES)


def _key_of(source: SourceFile, options: ReadingOptions) -> tuple[str, str, bool | None]:
    return source.name, source.digest, options.header


def _parse(source: SourceFile, options: ReadingOptions) -> Body:
    """Parse a file in the worker, and show how long that has taken."""
    import streamlit as st  # noqa: PLC0415 - neither the command nor a report reads by this

    data = source.load()
    if source.own:
        return parse(source.name, data, header=options.header)
    place, line, shown = st.empty(), st.empty(), 0

    def waiting(seconds: float) -> None:
        nonlocal shown
        if int(seconds) > shown:
            shown = int(seconds)
            # A click on anything, such as the cross beside the file, makes this call end the run.
            line.markdown(reading_apart(len(data), shown))

    begun, outcome = time.monotonic(), "refused"
    try:
        with place.container(), st.spinner(READING):
            read = parse_apart(source.name, data, header=options.header, waiting=waiting)
            outcome = "read"
            return read
    finally:
        kind, seconds = ending_of(source.name), time.monotonic() - begun
        kind = kind if kind in FORMATS else "unknown"
        LOG.info("file kind=%s bytes=%d %s seconds=%.3f", kind, len(data), outcome, seconds)
        line.empty()
        place.empty()


def row_numbers(upload: Upload) -> dict[Role, Labels]:
    """Return the number of each row of each set in its file, as refusals name it."""
    return {
        role: raw.first_row + upload.copied(role, _lines(raw))
        for role, raw in upload.contents.sets.items()
    }


def _lines(raw: RawSet | RawEvent) -> Labels:
    if isinstance(raw, RawSet) and raw.lines is not None:
        return raw.lines
    return np.arange(raw.n_rows) if raw.among is None else np.flatnonzero(raw.among)


def row_names(upload: Upload) -> dict[Role, dict[str, Array]]:
    """Return the row IDs of each set as its file has them, by their column."""
    return {
        role: {
            visible(c.name): upload.copied(role, _names(c))
            for c in raw.ids
            if not c.unread and c.values.ndim == 1
        }
        for role, raw in upload.contents.sets.items()
    }


def _names(column: Column) -> Array:
    values = column.values
    if column.texts is not None:
        texts: Array = np.array(column.texts)
        return np.asarray(texts[values])
    whole = values.dtype.kind == "f" and bool((values == np.rint(values)).all())
    return values.astype(np.int64) if whole else values


def taken_as(upload: Upload) -> tuple[str, ...]:
    """Return for each row shown first the class that its label was read as, or correct or wrong.

    "" for rows that are in no set, or in one that is not of the file that is shown.
    """
    preview, contents = upload.preview, upload.contents
    if not contents.sets:
        return ()
    shown = np.asarray(preview.numbers or range(1, len(preview.rows) + 1), dtype=np.int64)
    taken = [""] * len(shown)
    first = next(iter(contents.sets.values()))
    for role, numbers in row_numbers(upload).items():
        rows, raw = upload.sets.get(role), contents.sets[role]  # a lone piece has none
        if rows is None or not (raw is first or _of_one_file(raw, first)):
            continue
        for place, row in enumerate(np.searchsorted(numbers, shown)):
            if row < min(len(numbers), rows.n_samples) and numbers[row] == shown[place]:
                taken[place] = _taken(rows, int(row))
    return tuple(taken) if any(taken) else ()


def _of_one_file(raw: RawSet | RawEvent, first: RawSet | RawEvent) -> bool:
    """Return whether two sets are parts of one table: masks of its rows that never overlap."""
    if raw.among is None or first.among is None or len(raw.among) != len(first.among):
        return False
    return not bool((raw.among & first.among).any())


def _taken(rows: Rows, row: int) -> str:
    if isinstance(rows, LogitSet):
        return rows.class_names[int(rows.labels[row])]
    return RIGHT if rows.hits[row] else WRONG


def set_sentences(upload: Upload) -> tuple[str, ...]:
    """Describe what each set holds; the accuracy of many rows is computed once."""
    key = upload.digest, upload.name, upload.options
    return once(
        "sets said",
        key,
        lambda: tuple(set_sentence(name, rows) for name, rows in upload.sets.items()),
    )


def plain_split(upload: Upload, settings: Settings) -> AnySplit:
    """Return the calibration set and the test set, whatever part of them is evaluated."""
    share, seed = settings.calibration_share, settings.seed
    key = (*key_of(upload, settings)[:3], share, seed)
    return once("split", key, lambda: upload.split(calibration_share=share, seed=seed))
