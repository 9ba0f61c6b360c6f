"""The report of an audit that was made in Python: `calibcore.auditing.AuditResult.report`."""

import hashlib
from collections.abc import Sequence
from itertools import product
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.auditing import AuditRequest, AuditResult
from calibcore.calibrators import CATALOGUE, Calibrator
from calibcore.calibrators.base import Progress
from calibcore.counted import CountedScores
from calibcore.data import EventScores, LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass, TopR, WithinTopR
from dashboard.cli.output import write_file
from dashboard.document.blocks import Typed
from dashboard.document.html import html_of, json_of
from dashboard.figures import LIGHT
from dashboard.readers import Upload
from dashboard.report.contents import ReportRequest, report_of
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD, OptionValue, Settings, allowed_values
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

    Raises
    ------
    CalibrationInputError
        Another ending; a result or a calibrator of which too little is known.
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
        ReportRequest(Typed(**typed), compare=compare, rerun=rerun),
        progress or (lambda _: None),
    )
    text = json_of(report) if ending == ".json" else html_of(report, brief=page)
    write_file(Path(path), text)


def scene_of_audit(result: AuditResult, n_resamples: int = 1000) -> Scene:
    """Return what the pages would be drawn from, the audit's own results in it."""
    request = result.request
    if request is None:
        raise CalibrationInputError("result", "an evaluation by parts", "a result of audit")
    if not isinstance(request.event, TopR | WithinTopR | OneClass):
        raise CalibrationInputError(
            "event", repr(request.event), "top-r, within-top-r or one class"
        )
    split, in_folds = request.split, result.in_folds
    upload = Upload(
        name=IN_PYTHON,
        format="arrays",
        digest=_digest(request),
        values_kind="scores" if isinstance(split.test, EventScores) else split.test.values_kind,
        calibration=None if in_folds else split.calibration,
        test=None if in_folds else split.test,
        rows=split.calibration if in_folds else None,
    )
    method, options = _method(request.calibrator)
    settings = Settings(
        request.event, method, options, n_bins=request.options.n_bins, seed=request.seed or 0
    )
    return Scene(
        upload=upload,
        sample=None,
        split=split,
        rows=split.test,
        settings=settings,
        result=result,
        chosen="test",
        n_resamples=n_resamples,
        expert=False,
        palette=LIGHT,
    )


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


def _arrays(rows: LogitSet | EventScores) -> Sequence[NDArray[Any]]:
    if isinstance(rows, LogitSet):
        return rows.logits, rows.labels
    if isinstance(rows, CountedScores):
        return rows.cells.scores, rows.cells.hits, rows.times.values
    return rows.scores, rows.hits


def _digest(request: AuditRequest) -> str:
    digest = hashlib.sha256()
    for rows in (request.split.calibration, request.split.test):
        for part in _arrays(rows):
            digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
