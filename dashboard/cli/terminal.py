"""What the command prints: progress, an audit's verdict and measures, and refusals."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from rich.markup import escape

from calibcore.calibrators import CATALOGUE, VectorMap
from calibcore.calibrators.base import Progress
from calibcore.decisions import cutoff_of_costs
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass, TopR
from calibcore.export.calibrator_file import CalibratorFile
from calibcore.export.numpy_code import numpy_code
from dashboard.cli.commands import STDOUT, SUBGROUP, Condition
from dashboard.cli.engine import Counting, counted_upload, read_calibrator
from dashboard.cli.output import Lines, showing_progress, write_file
from dashboard.compute.subgroups import find_groups
from dashboard.compute.uncertainty import closer_look, measures_of
from dashboard.compute.verdict import verdict_blocks
from dashboard.document.blocks import Block, Cell, Sentences, Table
from dashboard.headless import check_group, event_of, own_options, read_paths, scene_of
from dashboard.many_rows import ask_of_many
from dashboard.readers import Upload
from dashboard.readers.records import ReadingOptions
from dashboard.readers.refusal import Answer, Question
from dashboard.remote import InputFile
from dashboard.report import ReportDetails, ReportRequest, html_of, json_of, report_of
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD, is_rank, method_of
from dashboard.summary_file import are_summaries
from dashboard.take_home.calibrated import (
    calibrated_rows,
    frame_bytes,
    n_unfitted,
    rows_for,
)
from dashboard.take_home.files import calibrator_file
from dashboard.take_home.prevalence import share_of_new
from dashboard.take_home.words import unfitted
from dashboard.take_home.workbook import workbook_of
from dashboard.texts.design import design_line, estimated_share, shift_assumed
from dashboard.texts.methods import fitted_in_batches, method_name
from dashboard.texts.numbers import plain
from dashboard.texts.opening import as_read, class_names_in
from dashboard.texts.refusal import refusal
from dashboard.texts.report import command, rerun
from dashboard.texts.subject import subject
from dashboard.texts.tiles import NOT_SEPARATION, in_the_nll
from dashboard.views.decisions.document import Choices
from dashboard.views.decisions.results import selections_of
from dashboard.views.decisions.words import USUAL_ACCURACY, selection_lines
from dashboard.views.overview.document import details_of, measures_table

_FILES_ARE = {"rows": "parts", "sets": "sets", "without": "models"}
_TOGETHER = {"parts": ("rows",), "sets": ("sets",), "models": ("models",)}
_FIRST: dict[str | None, Literal["auto", 0, 1]] = {None: "auto", "0": 0, "1": 1}


_ONE_BY_ONE = (
    "Each is evaluated, which takes minutes and gigabytes. Of Parquet files, --engine here with"
    " --score and --outcome counts them by score first, which takes seconds."
)


_SERVES = (
    "files", "resamples", "calibrator", "bins", "seed", "report", "brief", "json", "title",
    "purpose", "model", "author", "cutoff", "costs", "test_harm",
)  # fmt: skip
"""Options of an audit that a summary allows."""


COUNTED_BY = (
    "score", "outcome", "values", "event", "count", "by", "engine", "scheduler", "master",
    "processes", "applied",
)  # fmt: skip
"""Options of an audit of rows that are counted first."""


def _refuse_rows(given: Mapping[str, Any]) -> None:
    """Refuse what needs the rows of an audit of summaries."""
    option = next((name for name, value in given.items() if value and name not in _SERVES), None)
    if option is not None:
        wanted = "none with a summary, which counts rows by score and does not keep them"
        raise CalibrationInputError(option.replace("_", "-"), "an option for rows", wanted)


def audit_files(given: Mapping[str, Any], fail_if: Sequence[str], *, full: bool) -> bool:
    """Read, fit, evaluate and print; return whether a condition holds.

    ``given``: the command's options by their names: how ``files`` are read, what is fitted, and
    what is written. ``fail_if``: see `dashboard.cli.commands.Condition`. ``full``: whether every
    measure is listed.

    Raises `CalibrationInputError` for whatever cannot be read, or was asked for in vain.
    """
    conditions = [Condition.parse(text) for text in fail_if]
    _check_report(given)
    counting = Counting.of(given)
    with showing_progress("Reading") as tell:
        upload = _read_audited(given, counting, tell)
        if (question := ask_of_many(upload)) is not None:
            tell.say(f"Rows: {question.actual}. {_ONE_BY_ONE}")
        event = event_of(upload, given["event"])
        tell.stage("Fitting")
        scene = scene_of(
            upload, event=event, progress=tell, method=given["calibrator"] or NO_METHOD,
            group=given["group"], n_resamples=given["resamples"],
            n_bins=given["bins"], seed=given["seed"],
        )  # fmt: skip
        tell.stage("Finding intervals")
        measures = measures_of(scene, full=full)
        inference = closer_look(scene, measures, tell) if scene.n_resamples else None
        if given["report"] or given["json"]:
            tell.stage("Writing the report")
            _write_report(scene, given, tell, counting)
    console = Lines()
    _print_head(console, scene)
    both = scene.result.of_test is not None
    table = measures_table(scene.evaluated, inference, measures, both=both)
    write(console, *verdict_blocks(scene), *details_of(scene, inference), table)
    _print_notes(console, scene)
    figures = figures_of(scene) if conditions else {}
    holding = [one.with_value(figures) for one in conditions if one.holds(figures)]
    for text in holding:
        console.print(f"Fails: {text}", style="bold red", soft_wrap=True)
    return bool(holding)


def _read_audited(given: Mapping[str, Any], counting: Counting | None, tell: Progress) -> Upload:
    files: Sequence[InputFile] = given["files"]
    if counting is not None:
        _refuse_rows({name: of for name, of in given.items() if name not in COUNTED_BY})
        return counted_upload(files, counting, tell)
    if given["by"]:
        wanted = "--engine too; without it every column is looked at for subgroups"
        raise CalibrationInputError("by", "no engine that counts", wanted)
    if are_summaries(files):
        _refuse_rows(given)
    return read_paths(files, options_of(given))


def _print_notes(console: Lines, scene: Scene) -> None:
    notes = [escape(plain(text)) for text in _decisions(scene)]
    notes += [NOT_SEPARATION] if isinstance(scene.settings.event, OneClass) else []
    notes += [in_the_nll(scene.evaluated, calibrated=scene.settings.method != NO_METHOD)]
    notes += [f"Warning: {escape(warning)}" for warning in scene.result.warnings]
    if scene.upload.summary is not None:
        notes += [f"Not available: {escape(text)}" for text in scene.upload.missing]
    for note in filter(None, notes):
        console.print(note, soft_wrap=True)


def _check_report(given: Mapping[str, Any]) -> None:
    """Refuse what a report is to hold without one."""
    field = next((name for name in ("title", "purpose", "model", "author") if given[name]), None)
    if given["costs"] and given["cutoff"] is not None:
        raise CalibrationInputError("cutoff", "costs too, which set it", "one of the two")
    if given["brief"] and not given["report"]:
        raise CalibrationInputError("page", "no report to be a page of", "--report too")
    if field is not None and not (given["report"] or given["json"]):
        raise CalibrationInputError(field, "no report to hold it", "--report or --json too")


def _write_report(
    scene: Scene, given: Mapping[str, Any], tell: Progress, counting: Counting | None
) -> None:
    typed = ReportDetails(**{name: given[name] for name in ("title", "purpose", "model", "author")})
    costs: tuple[float, float] | None = given["costs"]
    cutoff = cutoff_of_costs(*costs) if costs else given["cutoff"]
    choices = Choices(cutoff, costs, harm=given["test_harm"])
    request = ReportRequest(typed, choices)
    if counting is not None:
        named = replace(scene.upload, name="FILES")
        written = command(named, scene.settings, scene.n_resamples, choices.options)
        request = replace(request, rerun=rerun(f"{written} {shlex.join(counting.options)}"))
    report = report_of(scene, request, tell)
    if given["report"]:
        write_out(given["report"], html_of(report, brief=given["brief"]), "report")
    if given["json"]:
        write_out(given["json"], json_of(report), "json")


def _onnx(file: CalibratorFile) -> bytes:
    try:
        from calibcore.export.onnx_model import onnx_model  # noqa: PLC0415 - of an extra
    except ImportError as error:
        wanted = "onnx to be installed: pip install onnx"
        raise CalibrationInputError("out", "an ONNX model", wanted) from error
    written: bytes = onnx_model(file).SerializeToString()
    return written


def write_out(out: Path, content: str | bytes, option: str) -> None:
    """Write a file that an option names, or say that it cannot be."""
    try:
        write_file(out, content)
    except OSError as error:
        why = f" ({error.strerror})" if error.strerror else ""
        raise CalibrationInputError(option, f"{out}{why}", "a place to write to") from error


def fit_files(
    reading: Mapping[str, Any], method: str, group: str | None, out: Path, model: str
) -> str:
    """Fit a calibrator, write its file, and say so."""
    counting = Counting.of(reading)
    with showing_progress("Fitting") as tell:
        calibrator = None if counting is None else _class_map(method)
        if counting is not None and counting.columns.classes is not None and calibrator is not None:
            _refuse_rows({name: of for name, of in reading.items() if name not in COUNTED_BY})
            check_group(group, (), method)
            fitted, fit = counting.fit(reading["files"], calibrator, tell)
            _write_calibrator(replace(fitted, model=model), out, method, "", in_percent=False)
            return f"{out}: {method_name(method)}, {fitted_in_batches(fit)}"
        upload = _read_audited({"by": (), **reading}, counting, tell)
        event = event_of(upload, reading["event"])
        scene = scene_of(upload, event=event, method=method, group=group, progress=tell)
    file = calibrator_file(scene)
    if file is None:
        raise CalibrationInputError("calibrator", method, "one of the catalogue, to be fitted")
    words = scene.event_words.plain
    _write_calibrator(replace(file, model=model), out, method, words, in_percent=upload.in_percent)
    return f"{out}: {method_name(method)}, fitted on {file.n_rows:,} rows"


def _class_map(key: str) -> VectorMap | None:
    """Return the calibrator of all classes that a key names; None for any other."""
    own, options = method_of(key), own_options(key) if "." in key else {}
    method = next((one for one in CATALOGUE if one.key == own), None)
    calibrator = None if method is None else method.make(**options)
    return calibrator if isinstance(calibrator, VectorMap) else None


def _write_calibrator(
    file: CalibratorFile, out: Path, method: str, event: str, *, in_percent: bool
) -> None:
    """Write a calibrator in the form that the ending of a file names."""
    match out.suffix.lower():
        case ".onnx":
            write_out(out, _onnx(file), "out")
        case ".py":
            write_out(out, numpy_code(file), "out")
        case ".xlsx":
            book = workbook_of(file, method_name(method), event, in_percent=in_percent)
            write_out(out, book, "out")
        case _:
            write_out(out, file.to_json(), "out")


def calibrate_files(reading: Mapping[str, Any], calibrator: Path, out: Path) -> str:
    """Calibrate every row of files, write them, and say so."""
    file = read_calibrator(calibrator)
    files: Sequence[Path] = reading["files"]
    if are_summaries(files):
        raise CalibrationInputError("files", "summaries, which keep no row", "rows to calibrate")
    upload = rows_for(file, options_of(reading), lambda options: read_paths(files, options))
    frame = calibrated_rows(upload, file)
    ending = ".csv" if out == STDOUT else out.suffix.lower()
    write_out(out, frame_bytes(frame, ending), "out")
    lost = unfitted(n_unfitted(upload, file), len(file.columns))
    return "\n".join([f"{out}: {len(frame):,} rows", *lost])


def estimate_prevalence(reading: Mapping[str, Any], method: str, new: Path) -> str:
    """Estimate the share of the event among rows without outcomes, and say what was assumed."""
    if reading["prevalence"] is not None:
        raise CalibrationInputError("prevalence", "stated", "none, as it is estimated")
    options = options_of(reading)
    known = read_paths(reading["files"], options)
    event = event_of(known, reading["event"])
    one = share_of_new(known, event, method, lambda how: read_paths([new], how))
    text = estimated_share(one.share, one.interval, one.n_rows, one.among)
    assumed = shift_assumed(method_name(method))
    lines = f"{new}, {one.event}: {text}", assumed, *one.doubts
    return "\n".join([*lines, f"State it: --prevalence {one.share:.4g}"])


OWN_OPTIONS = ("outcome", "score", "weight", "count", "cluster")
"""Roles of columns that have an option of their own."""


def options_of(reading: Mapping[str, Any]) -> ReadingOptions:
    """Return how files are to be read, from the command's options."""
    columns: Sequence[str] = reading["columns"]
    roles = [text.rpartition("=")[::2] for text in columns]
    wrong = next((text for text, (name, _) in zip(columns, roles, strict=True) if not name), None)
    if wrong is not None:
        raise CalibrationInputError("column", repr(wrong), "NAME=ROLE")
    roles += [(reading[role], role) for role in OWN_OPTIONS if reading.get(role) is not None]
    event, several = reading["event"], reading["files_are"]
    if several and [path.suffix.lower() == ".xlsx" for path in reading["files"]] == [False]:
        wanted = "several files, or a workbook of several sheets"
        raise CalibrationInputError("files-are", f"{several}, but one file", wanted)
    return ReadingOptions(
        class_names=class_names_in(reading["class_names"] or ""),
        together=_TOGETHER[several] if several else tuple(reading.get("together", ())),
        values=reading["values"] or "auto",
        first_label=_FIRST[reading["first_label"]],
        roles=cast("Any", tuple(roles)),  # checked by `ReadingOptions`
        event=None if event is None or is_rank(event) else event,
        leave_out=reading["leave_out"],
        prevalence=reading.get("prevalence"),
        split_at=tuple(reading["split_at"].rpartition("=")[::2]) if reading.get("split_at") else (),
    )


def figures_of(scene: Scene) -> dict[str, float | None]:
    """Return the figures that conditions are about, after calibration where there is one."""
    numbers: dict[str, float | None] = {
        row.measure.key: row.after for row in scene.evaluated.comparisons
    }
    groups = find_groups(scene)
    side, worst = groups.after, groups.after.worst()
    numbers[SUBGROUP] = 0.0 if worst is None else float(np.abs(side.gap[worst]))
    if scene.upload.summary is not None and not groups.subgroupings:
        numbers[SUBGROUP] = None
    return numbers


def explained(error: CalibrationInputError) -> str:
    """Return a refusal, and for a question the option that answers it in each way."""
    if not isinstance(error, Question):
        return f"Error: {plain(refusal(error))}"
    ways = [(_as_options(answer.change), answer) for answer in error.answers]
    # Of several sets or models, the first is what the option gives.
    first = dict(reversed(ways))
    ways = [way for way in ways if first[way[0]] is way[1]]
    lines = [
        f"  {options}  ({_meaning(answer)})" if options else f"  {_meaning(answer)}"
        for options, answer in ways
    ]
    return "\n".join([f"Error: {error.field}: {error.actual}. {error.ask}", *lines])


def proposed(upload: Upload) -> Iterator[str]:
    """Give the options that say what columns may say, a line each."""
    for proposal in upload.proposals:
        for answer in proposal.question.answers:
            yield f"  {_as_options(answer.change)}  ({_meaning(answer)})"


def _meaning(answer: Answer) -> str:
    """Return what an answer comes to."""
    return f"{answer.label}. {answer.why}".strip()


def _as_options(change: Mapping[str, Any]) -> str:
    """Write an answer as the command's options; empty for what only the dashboard offers."""
    written = []
    for name, value in change.items():
        match name:
            case "roles":
                written += [f'--column "{column}={role}"' for column, role in value]
            case "values" | "event" | "first_label" if value != "none":
                written.append(f'--{name.replace("_", "-")} "{value}"')
            case "leave_out":
                written.append("--leave-out")
            case "class_names" if not any("," in class_name for class_name in value):
                written.append(f'--class-names "{",".join(value)}"')
            case "together":
                written.append(f"--files-are {_FILES_ARE[value[0]]}")
            case _:
                return ""
    return " ".join(written)


def _print_head(console: Lines, scene: Scene) -> None:
    console.print(escape(plain(subject(scene))), style="bold", soft_wrap=True)
    left = (text for text in scene.upload.notes if text.startswith("Left out"))
    read = *as_read(scene.upload), *left, *proposed(scene.upload)
    for text in filter(None, (design_line(scene), *read)):
        console.print(escape(plain(text)), soft_wrap=True)


def _decisions(scene: Scene) -> list[str]:
    """Return the threshold for the accuracy that the page of decisions opens with."""
    if not isinstance(scene.settings.event, TopR):
        return []
    wanted = USUAL_ACCURACY / 100
    return [" ".join(selection_lines(selections_of(scene, wanted), wanted))]


def write(console: Lines, *blocks: Block) -> None:
    """Print blocks below each other, small print of tables in brackets; pictures are left out."""
    for block in blocks:
        match block:
            case Sentences():
                if block.heading:
                    console.print(escape(block.heading), style="bold")
                for line in block.plain_lines:
                    console.print(escape(line), soft_wrap=True)
            case Table():
                rows = [[row.name, *map(_cell, row.cells)] for row in block.rows]
                console.table(block.columns, rows)


def _cell(one: Cell) -> str:
    if one.kind:
        return one.word
    return f"{one.shown} ({one.note})" if one.note else one.shown
