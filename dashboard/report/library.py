"""The report of an audit that was made in Python: `calibcore.auditing.AuditResult.report`."""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import product
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.auditing import AuditRequest, AuditResult
from calibcore.calibrators import CATALOGUE, Calibrator
from calibcore.calibrators.base import Progress
from calibcore.counted import CountedScores, rejoin_cells
from calibcore.data import EventScores, LogitSet, Rows
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.grouping import Grouping
from dashboard.cli.output import write_file
from dashboard.compute.groupings import ways
from dashboard.document.blocks import ReportDetails
from dashboard.document.html import html_of, json_of
from dashboard.readers import GroupingColumn, Upload
from dashboard.readers.refusal import visible
from dashboard.report.contents import ReportRequest, report_of
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD, OptionValue, Settings, allowed_values, method_by_key
from dashboard.texts import report as words

IN_PYTHON = "rows in Python"
"""Name of data that came from no file."""


def write(
    result: AuditResult,
    path: str | PathLike[str],
    *,
    page: bool = False,
    compare: bool = False,
    progress: Progress | None = None,
    **typed: str,
) -> None:
    """Write the report of an audit as HTML, or as JSON where the path ends so.

    ``result``: of `calibcore.audit`. ``path``: ends in ".html" or ".json". ``page``: whether the
    HTML is the one page for a committee. ``compare``: whether calibrators are compared.
    ``progress``: told the share that is done. ``**typed``: ``title``, ``purpose``, ``model`` and
    ``author``.

    Raises `CalibrationInputError` for another ending, and for a result or a calibrator of which too
    little is known.
    """
    ending = Path(path).suffix.lower()
    if ending not in {".html", ".json"}:
        raise CalibrationInputError(
            "path", repr(fspath(path)), "a name that ends in .html or .json"
        )
    scene, request = scene_of_audit(result), result.request
    rerun = "" if request is None else words.in_python(request)
    report = report_of(
        scene,
        ReportRequest(ReportDetails(**typed), compare=compare, rerun=rerun),
        progress or (lambda _: None),
    )
    text = json_of(report) if ending == ".json" else html_of(report, brief=page)
    write_file(Path(path), text)


def scene_of_audit(result: AuditResult) -> Scene:
    """Return what the pages would be drawn from, the audit's own results in it."""
    request = result.request
    if request is None:
        raise CalibrationInputError("result", "an evaluation by parts", "a result of audit")
    if not isinstance(request.event, TopR | WithinTopR | OneClass):
        raise CalibrationInputError(
            "event", repr(request.event), "top-r, within-top-r or one class"
        )
    split, in_folds = request.split, result.in_folds
    sets = {"rows": split.test}
    if not in_folds:
        sets = {"calibration": split.calibration, "test": split.test}
    upload = Upload(
        name=IN_PYTHON,
        format="arrays",
        digest=_digest(request),
        values_kind="scores" if isinstance(split.test, EventScores) else split.test.values_kind,
        calibration=None if in_folds else split.calibration,
        test=None if in_folds else split.test,
        rows=_undealt(split.calibration) if in_folds else None,
        columns={name: _columns(rows, request.groupings) for name, rows in sets.items()},
    )
    method, options = _method(request.calibrator)
    group = None
    if method != NO_METHOD and method_by_key(method).asks_column and request.groupings:
        group = ways(upload)[0]
    n_bins, seed = request.options.n_bins, request.seed or 0
    settings = Settings(request.event, method, options, n_bins=n_bins, seed=seed, group=group)
    return Scene(
        upload=upload,
        split=split,
        rows=split.test,
        settings=settings,
        result=result,
    )


def _undealt(rows: Rows) -> Rows:
    """Return the rows as they were before the folds, into which pages deal them by themselves."""
    return rejoin_cells(rows) if isinstance(rows, CountedScores) else rows


def _method(calibrator: Calibrator | None) -> tuple[str, tuple[tuple[str, OptionValue], ...]]:
    """Find a calibrator in the catalogue, with the options that make it."""
    if calibrator is None:
        return NO_METHOD, ()
    for method in CATALOGUE:
        names = [option.name for option in method.options]
        for chosen in product(*(_values(method.key, name, calibrator) for name in names)):
            options = tuple(zip(names, chosen, strict=True))
            if method.make(**dict(options)) == calibrator:
                return method.key, options
    wanted = "one of calibcore.calibrators.CATALOGUE, such as CATALOGUE[0].make()"
    raise CalibrationInputError("calibrator", repr(calibrator), wanted)


def _values(key: str, name: str, calibrator: Calibrator) -> Sequence[OptionValue]:
    """Return what an option may be; of a number that the calibrator tells, that alone."""
    allowed, own = allowed_values(key, name), getattr(calibrator, name, None)
    return (own,) if isinstance(allowed, range) and type(own) is int else allowed or (False, True)


def _columns(rows: Rows, groupings: Sequence[Grouping]) -> dict[str, GroupingColumn]:
    """Return the groups that were given, a column each; of a summary, the value of each group."""
    groups = rows.cells.groups if isinstance(rows, CountedScores) else rows.groups
    if groups is None:
        return {}
    columns = {}
    for k, one in enumerate(groupings):
        codes = groups.reshape(groups.shape[0], -1)[:, k]
        if isinstance(rows, CountedScores):
            codes = np.arange(len(one.names))
        name = visible(one.column, 60) or (f"groups {k + 1}" if k else "groups")
        columns[name] = GroupingColumn(name, codes, tuple(map(visible, one.names)))
    return columns


def _arrays(rows: Rows) -> Iterator[NDArray[Any] | None]:
    """Yield all that figures depend on."""
    if isinstance(rows, CountedScores):
        yield rows.times.values
        rows = rows.cells
    if isinstance(rows, LogitSet):
        yield from (rows.logits, rows.labels, np.array(rows.class_names))
    else:
        yield from (rows.scores, rows.hits, rows.rest)
    yield from (rows.groups, rows.clusters)
    if rows.weights is not None:
        yield from (rows.weights.values, np.array(rows.weights.kind))


def _digest(request: AuditRequest) -> str:
    """Return what stands for the rows, and names each array, as none may be taken for another."""
    digest = hashlib.sha256(repr(request.groupings).encode())
    for rows in (request.split.calibration, request.split.test):
        for place, part in enumerate(_arrays(rows)):
            if part is not None:
                digest.update(f"{place} {part.shape}".encode())
                digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
