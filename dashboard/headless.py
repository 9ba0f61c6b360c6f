"""The pages' results without a page: what the command reads, fits and evaluates."""

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

from calibcore.calibrators import CATALOGUE
from calibcore.calibrators.base import Progress
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass, TopR
from calibcore.summary import AnySummary
from dashboard.compute.fits import run_audit
from dashboard.compute.groupings import groupings
from dashboard.compute.periods import split_by_date
from dashboard.compute.split import evaluated_split, methods_for, split_of
from dashboard.readers import FileError, ParsedFile, Upload, digest_of, understand
from dashboard.readers.limits import MAX_UPLOAD, check_size
from dashboard.readers.records import RawSet, ReadingOptions
from dashboard.readers.worker import parse_apart
from dashboard.remote import InputFile, size_of
from dashboard.scene import Scene
from dashboard.settings import (
    NO_METHOD,
    ChosenEvent,
    OptionValue,
    Settings,
    first_class,
    is_variant,
    method_by_key,
    method_of,
    named_event,
    options_of,
)
from dashboard.summaries import upload_of
from dashboard.summary_file import are_summaries, parse_summary

PIPED = Path("-")
"""Stands for what is piped in."""


def read_paths(paths: Sequence[InputFile], options: ReadingOptions) -> Upload:
    """Read files from disk as the dashboard reads them: by a process with bounded memory.

    Raises `FileError` as `dashboard.readers.understand` does, and for a file that is not there.
    """
    if are_summaries(paths):
        return _of_summaries(paths)
    files = []
    for path in paths:
        data = _bytes_of(path)
        digest, name = hashlib.sha256(data).hexdigest(), _name_of(path, data)
        files.append(ParsedFile(name, digest, parse_apart(name, data, header=options.header)))
    return split_by_date(understand(files, options))


def _of_summaries(paths: Sequence[InputFile]) -> Upload:
    """Read summaries in this process: hundreds of them, such as days, take a moment."""
    summaries: dict[str, AnySummary] = {}
    for path in paths:
        called = (path.name, *(f"{path.name} ({k})" for k in range(2, len(paths) + 1)))
        name = next(one for one in called if one not in summaries)
        summaries[name] = parse_summary(_bytes_of(path), path.name)
    return upload_of(summaries, digest_of_paths(paths))


def digest_of_paths(paths: Sequence[InputFile]) -> str:
    """Return the digest that an upload of these files has.

    Raises `FileError` for a file that is not there.
    """
    return digest_of([hashlib.sha256(_bytes_of(path)).hexdigest() for path in paths])


_STARTS = {
    b"PAR1": ".parquet", b"\x93NUMPY": ".npy", b"PK": ".npz", b"{": ".json", b"[": ".json",
}  # fmt: skip
"""Of what is piped in, by its first bytes; anything else is a table of text."""


def _name_of(path: InputFile, data: bytes) -> str:
    if path != PIPED:
        return path.name
    start = data[:64].lstrip()
    ending = next((one for sign, one in _STARTS.items() if start.startswith(sign)), ".csv")
    return f"stdin{ending}"


def _bytes_of(path: InputFile) -> bytes:
    if path == PIPED:
        data = sys.stdin.buffer.read(MAX_UPLOAD + 1)
        check_size(len(data))
        return data
    try:
        check_size(size_of(path))
        return path.read_bytes()
    except OSError as error:
        raise FileError(str(path), error.strerror or "no file", "a file to read") from error


def opening_event(upload: Upload) -> str:
    """Return the kind of event that a file opens on: of two classes, or one score, a class."""
    if len(upload.class_names or ()) == 2:
        return "class"
    raw = upload.contents.sets.values()
    one_score = all(
        isinstance(part, RawSet) and part.table is not None and part.table.ndim == 1 for part in raw
    )
    return "class" if one_score else "top"


def event_of(upload: Upload, text: str | None) -> ChosenEvent:
    """Return the event that a text names; without one, that on which the pages open.

    ``upload``: the data; a summary has one event, which its outcomes are. ``text``: ``top-1``,
    ``top-2``, ``within-2`` and so on; or the name of a class.

    Raises `CalibrationInputError` for what is neither a rank nor a class of the data.
    """
    names = upload.class_names
    if upload.summary is not None:
        return OneClass(1)
    if text is None:
        opens_on_class = names is not None and opening_event(upload) == "class"
        return OneClass(first_class(len(names))) if names and opens_on_class else TopR(1)
    return named_event(text, names)


def scene_of(  # noqa: PLR0913 - each has a default that serves
    upload: Upload,
    *,
    event: ChosenEvent,
    method: str = NO_METHOD,
    group: str | None = None,
    n_resamples: int = 1000,
    n_bins: int = 15,
    seed: int = 0,
    progress: Progress,
) -> Scene:
    """Fit and evaluate with the pages' defaults.

    ``upload``: the data. ``event``: what the scores are about. ``method``: key of a calibrator,
    with options of its own as in ``spline.n_knots=10``, else with its defaults. ``group``: the
    column by which a calibrator that knows groups groups the rows. ``n_resamples``: for intervals.
    ``n_bins``: of the diagram and of binned measures. ``seed``: of the folds of one set.
    ``progress``: told the share of the fit that is done.

    Raises `CalibrationInputError` for a method that is none or does not fit the data, no group
    where it needs one or one that is no column, and what `calibcore.audit` refuses.
    """
    offered = {one.key: one for one in methods_for(upload)}
    own = {}
    if method_of(method) in offered and "." in method:
        own = own_options(method)
        method = method_of(method)
    if method != NO_METHOD and method not in offered:
        known = method in {one.key for one in CATALOGUE}
        text = f"{method}, which these data do not allow" if known else repr(method)
        raise CalibrationInputError("calibrator", text, f"one of {', '.join(offered)}")
    needs_group = method != NO_METHOD and offered[method].asks_column
    check_group(group, groupings(upload), method if not needs_group else None)
    chosen = () if method == NO_METHOD else offered[method].options
    options = tuple((option.name, own.get(option.name, option.default)) for option in chosen)
    settings = Settings(event, method, options, n_bins=n_bins, seed=seed, group=group)
    return Scene(
        upload=upload,
        split=split_of(upload, settings),
        rows=evaluated_split(upload, settings).test,
        settings=settings,
        result=run_audit(upload, settings, progress),
        n_resamples=n_resamples,
    )


def own_options(key: str) -> dict[str, OptionValue]:
    """Return the options that a key such as ``spline.n_knots=10`` has of its own."""
    if not is_variant(key):
        chosen = method_by_key(key).options
        offered = (f"{one.name}={str(one.default).lower()}" for one in chosen)
        wanted = f"{method_of(key)} with options such as {', '.join(offered)}, joined by dots"
        wanted = wanted if chosen else f"{method_of(key)}, which has no options"
        raise CalibrationInputError("calibrator", repr(key), wanted)
    return options_of(key)


def check_group(group: str | None, columns: Sequence[str], without: str | None) -> None:
    """Refuse no column for a calibrator that needs one, and one for a calibrator ``without``."""
    if group is None and without is not None:
        return
    if group not in columns:
        wanted = f"one of {', '.join(columns)}" if columns else "data with a column of groups"
        raise CalibrationInputError("group", "none" if group is None else repr(group), wanted)
    if without is not None:
        beside = "no calibrator"
        if without != NO_METHOD:
            takes = "takes all columns" if method_by_key(without).all_columns else "knows no groups"
            beside = f"{without}, which {takes}"
        keys = " or ".join(one.key for one in CATALOGUE if one.asks_column)
        raise CalibrationInputError(
            "group", f"{group!r} beside {beside}", f"a calibrator by group: {keys}"
        )
