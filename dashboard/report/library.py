"""The report of an audit that was made in Python: `calibcore.auditing.AuditResult.report`."""

import hashlib
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path

import numpy as np

from calibcore.auditing import AuditRequest, AuditResult
from calibcore.calibrators import CATALOGUE, Calibrator, Method
from calibcore.calibrators.base import Progress
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
from dashboard.settings import NO_METHOD, OptionValue, Settings
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
    scene, asked = scene_of_audit(result), result.request
    rerun = "" if asked is None else words.in_python(asked)
    report = report_of(
        scene,
        ReportRequest(Typed(**typed), compare=compare, rerun=rerun),
        progress or (lambda _: None),
    )
    text = json_of(report) if ending == ".json" else html_of(report, brief=page)
    write_file(Path(path), text)


def scene_of_audit(result: AuditResult, n_resamples: int = 1000) -> Scene:
    """Return what the pages would be drawn from, the audit's own results in it."""
    asked = result.request
    if asked is None:
        raise CalibrationInputError("result", "an evaluation by parts", "a result of audit")
    if not isinstance(asked.event, TopR | WithinTopR | OneClass):
        raise CalibrationInputError("event", repr(asked.event), "top-r, within-top-r or one class")
    split, in_folds = asked.split, result.in_folds
    upload = Upload(
        name=IN_PYTHON,
        format="arrays",
        digest=_digest(asked),
        values_kind="scores" if isinstance(split.test, EventScores) else split.test.values_kind,
        calibration=None if in_folds else split.calibration,
        test=None if in_folds else split.test,
        rows=split.calibration if in_folds else None,
    )
    method, options = _method(asked.calibrator)
    settings = Settings(
        asked.event, method, options, n_bins=asked.options.n_bins, seed=asked.seed or 0
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
    """Find a calibrator in the catalogue, with its options."""
    if calibrator is None:
        return NO_METHOD, ()
    for method in CATALOGUE:
        usual = {option.name: option.default for option in method.options}
        own = {
            name: held if type(held := getattr(calibrator, name, None)) is type(value) else value
            for name, value in usual.items()
        }
        for options in (usual, own):
            if _is_made(method, options, calibrator):
                return method.key, tuple(options.items())
    wanted = "one of calibcore.calibrators.CATALOGUE, such as CATALOGUE[0].make()"
    raise CalibrationInputError("calibrator", repr(calibrator), wanted)


def _is_made(method: Method, options: Mapping[str, OptionValue], calibrator: Calibrator) -> bool:
    try:
        return method.make(**options) == calibrator
    except CalibrationInputError:  # what the calibrator calls so is no option of this method
        return False


def _digest(request: AuditRequest) -> str:
    found = hashlib.sha256()
    for rows in (request.split.calibration, request.split.test):
        parts = (
            (rows.logits, rows.labels) if isinstance(rows, LogitSet) else (rows.scores, rows.hits)
        )
        for part in parts:
            found.update(np.ascontiguousarray(part).tobytes())
    return found.hexdigest()
