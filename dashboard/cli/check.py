"""``fractile check``: a new batch beside an audited one, row by row where these are the same."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.markup import escape

from calibcore.counted import CountedScores
from calibcore.data import LogitSet
from calibcore.drift import COMPARED, BatchComparison, Rule, compare_batches, compare_pairs
from calibcore.errors import CalibrationInputError
from calibcore.group_drift import compare_groups
from calibcore.grouping import Grouping
from calibcore.inference.draws import tally_of
from dashboard.cli import check_words as words
from dashboard.cli.check_files import Subgroups, json_of, junit_of, record_of
from dashboard.cli.output import Lines, write_file
from dashboard.cli.pairing import Batch, PairedRows, match
from dashboard.cli.summaries import heading
from dashboard.cli.terminal import OWN_OPTIONS, options_of
from dashboard.compute.files import row_numbers
from dashboard.compute.groupings import groupings, subgrouping_of
from dashboard.headless import digest_of_paths, event_of, read_paths, scene_of
from dashboard.readers import Upload
from dashboard.readers.records import DEFAULTS, GroupingColumn, Role
from dashboard.remote import InputFile
from dashboard.report.reference import ReferenceBatch, read_reference, reference_of
from dashboard.scene import Scene
from dashboard.summary_file import are_summaries
from dashboard.texts.numbers import plain
from dashboard.texts.subgroups import BLANK
from dashboard.texts.subject import subject

REPORT = ".json"
"""Ending of an audit's report; any other file holds the audited rows."""

N_OUTCOMES = 2

_AS_DETECTED = {**dict.fromkeys(OWN_OPTIONS), "columns": (), "files_are": None}


def check_files(given: Mapping[str, Any]) -> bool:
    """Compare files with an audit, print what changed, and return whether the command fails.

    It does where anything changed, or where the power is below what is asked for.

    ``given``: the command's options by their names; what is not given is as in the audit.

    Raises `CalibrationInputError` for whatever cannot be read, or has not the audited event.
    """
    audited, rows = _audited(given)
    name, new = _new(audited, given)
    comparison, how = _compared(audited, rows, new, given)
    groups = None
    if isinstance(rows, Batch) and _know_alike(rows, new):
        groups = _subgroups(rows, new, comparison.rule)
    console = Lines()
    console.print(escape(name), style="bold", soft_wrap=True)
    for text in (f"Against: {audited.subject}", how):
        console.print(escape(text), soft_wrap=True)
    style = "bold red" if comparison.moved else "bold" if words.too_few(comparison) else None
    console.print(escape(words.conclusion(comparison)), style=style, soft_wrap=True)
    console.table(words.head(comparison), [words.cells(row, comparison) for row in comparison.rows])
    for text in filter(None, (words.power(comparison), words.note(comparison))):
        console.print(escape(text), soft_wrap=True)
    console.print(escape(words.subgroups(groups)), soft_wrap=True)
    if groups is not None and groups.changes.moved.any():
        console.table(words.SUBGROUP_HEAD, words.subgroup_cells(groups))
    least = given["min_power"]
    lacks = least is not None and comparison.power < least
    if given["json"] is not None or given["junit"] is not None:
        record = record_of(comparison, name, audited.subject, how, groups)
        for out, written in ((given["json"], json_of), (given["junit"], junit_of)):
            if out is not None:
                write_file(
                    out, written(record, words.too_little_power(comparison, least) if lacks else "")
                )
    if lacks:
        console.print(escape(words.too_little_power(comparison, least)), style="bold red")
    return (
        bool(comparison.moved) or lacks or (groups is not None and bool(groups.changes.moved.any()))
    )


def _new(audited: ReferenceBatch, given: Mapping[str, Any]) -> tuple[str, Batch]:
    """Return what the new batch is called, and its rows."""
    if are_summaries(given["files"]):
        return _summed(given["files"])
    scene = _scene_like(audited, given["files"], _as_audited(given, audited.reading))
    return plain(subject(scene)), _batch(scene)


def _summed(files: Sequence[InputFile]) -> tuple[str, Batch]:
    """Return what summaries are called together, and their rows."""
    upload = read_paths(files, DEFAULTS)
    if upload.summary is None:
        raise AssertionError(files)
    return heading(files, upload.summary), _counted(upload)


def _counted(upload: Upload) -> Batch:
    """Return the rows of summaries, which nothing names."""
    rows, none = upload.rows, np.empty(0, dtype=np.int64)
    if not isinstance(rows, CountedScores):
        raise TypeError(rows)
    groups, of_groups = rows.cells.groups, upload.columns["rows"]
    columns, groupings = dict[str, NDArray[Any]](), dict[str, Grouping]()
    for name, column in of_groups.items() if groups is not None else ():
        columns[name] = _cells(column.rows(np.asarray(groups)))
        groupings[name] = Grouping(column.categories or (), name)
    return Batch(upload.name, rows, {}, frozenset(), none, none, None, columns, groupings)


def _compared(
    audited: ReferenceBatch, rows: Batch | str, new: Batch, given: Mapping[str, Any]
) -> tuple[BatchComparison, str]:
    """Return the comparison, and a sentence on whether it is of pairs, and why."""
    size, rule, was = given["change"], _rule(given), audited.counted
    if isinstance(rows, Batch):  # with all scores, of which a report has some joined
        was = tally_of(rows.event)
    if new.is_counted or (isinstance(rows, Batch) and rows.is_counted):
        rows = words.SUMMARY
    if isinstance(rows, Batch):
        pairs = match(rows, new)
        if isinstance(pairs, PairedRows):
            return compare_pairs(pairs.reference, pairs.new, size=size, rule=rule), words.paired(
                pairs
            )
        rows = words.unmatched(pairs, rows.file, new.file)
    compared = compare_batches(was, tally_of(new.event), size=size, rule=rule)
    return compared, words.two_samples(rows)


def _know_alike(rows: Batch, new: Batch) -> bool:
    """Return whether subgroups are compared: of a summary, where both know some."""
    counted = rows.is_counted or new.is_counted
    return not counted or any(name in new.columns for name in rows.groupings)


def _subgroups(rows: Batch, new: Batch, rule: Rule) -> Subgroups:
    """Compare the subgroups of all columns that both files have, grouped as the audited one."""
    names = [name for name in rows.groupings if name in new.columns]
    known = [rows.groupings[name] for name in names]
    places = [
        (one.numbers(rows.columns[name]), one.numbers(new.columns[name]))
        for name, one in zip(names, known, strict=True)
    ]
    changes = compare_groups(
        rows.event, new.event, places,
        least=rule.least.get("mean_gap", 0.0), level=rule.level, n_draws=rule.n_draws,
    )  # fmt: skip
    return Subgroups(
        changes,
        tuple(
            (names[by], known[by].names[at] or BLANK)
            for by, at in zip(changes.grouping, changes.place, strict=True)
        ),
    )


def _rule(given: Mapping[str, Any]) -> Rule:
    """Return when a measure counts as changed.

    Raises `CalibrationInputError` for a measure that is not compared, a change that is no number,
    and a power that is asked of the mean gap where that is not compared.
    """
    keys = tuple(key.strip() for text in given["measures"] for key in text.split(","))
    if keys and given["min_power"] is not None and "mean_gap" not in keys:
        raise CalibrationInputError(
            "min_power", "--measures without mean_gap", "mean_gap among them"
        )
    least: dict[str, float] = {}
    for text in given["min_change"]:
        key, _, number = text.rpartition("=")
        try:
            value = float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
        except ValueError:
            wanted = "a number such as 0.01 or 1%, or one of a measure such as event_nll=0.02"
            raise CalibrationInputError("min_change", repr(text), wanted) from None
        least |= {key.strip(): value} if key else dict.fromkeys(keys or COMPARED, value)
    return Rule(keys or COMPARED, given["level"], least)


# The audited rows ---------------------------------------------------------------------------


def _audited(given: Mapping[str, Any]) -> tuple[ReferenceBatch, Batch | str]:
    """Return what was audited and its rows, or why these are not at hand."""
    files: Sequence[InputFile] = given["against"]
    if are_summaries(files):
        name, batch = _summed(files)
        return ReferenceBatch(name, {}, tally_of(batch.event)), batch
    if len(files) > 1:
        text = f"{files[0].name} and {len(files) - 1:,} more"
        wanted = "one report, one file of rows, or summaries, which add up"
        raise CalibrationInputError("against", text, wanted)
    path = files[0]
    if path.suffix.lower() == REPORT:
        audited = _read(path)
        return audited, _rows_of(audited, path, given)
    if given["audited"]:
        raise CalibrationInputError("audited", str(given["audited"][0]), "a report after --against")
    scene = _scene([path], given)
    reference = reference_of(scene)
    counted = scene.evaluated.before.counted
    names = tuple(scene.class_names or ())
    return (
        ReferenceBatch(plain(subject(scene)), reference["reading"], counted, classes=names),
        _batch(scene),
    )


def _rows_of(audited: ReferenceBatch, report: InputFile, given: Mapping[str, Any]) -> Batch | str:
    """Return the rows of a report's files, or why they cannot be used.

    Raises `CalibrationInputError` for files that were named as the audited ones and are others.
    """
    named: Sequence[Path] = given["audited"]
    if named and digest_of_paths(named) != audited.digest:
        others = " and ".join(path.name for path in named)
        raise CalibrationInputError("audited", f"{others}, of another SHA-256", words.AUDITED_FILES)
    folder = report.parent if isinstance(report, Path) else Path()
    files = named or _sought(audited, folder)
    if isinstance(files, str):
        return files
    ids = [text for text in given["columns"] if text.rpartition("=")[2] == "id"]
    reading = {**given, **_AS_DETECTED, **audited.reading}
    try:
        scene = _scene(files, {**reading, "columns": [*reading["columns"], *ids]})
    except CalibrationInputError as error:
        return words.unread(audited.files, error)
    counted = scene.evaluated.before.counted
    return _batch(scene) if audited.holds(counted) else words.read_otherwise(audited.files)


def _sought(audited: ReferenceBatch, folder: Path) -> list[Path] | str:
    """Return a report's files from the working folder, or from that of the report; or why not."""
    if not audited.files:
        return words.NO_FILE
    others = False
    for place in (Path(), folder):
        files = [place / Path(name).name for name in audited.files]
        if all(path.is_file() for path in files):
            if digest_of_paths(files) == audited.digest:
                return files
            others = True
    return words.other_files(audited.files) if others else words.not_here(audited.files)


# Reading ------------------------------------------------------------------------------------


def _scene_like(
    audited: ReferenceBatch, files: Sequence[InputFile], reading: Mapping[str, Any]
) -> Scene:
    """Read a batch of the audited event, which may have happened in none of its rows, or in all.

    Of two outcomes, such a batch names but one; the audit tells the other.
    """
    try:
        scene = _scene(files, reading)
        audited.check(scene)
    except CalibrationInputError:
        if len(audited.classes) != N_OUTCOMES:
            raise
        with suppress(CalibrationInputError):
            scene = _scene(files, reading, audited.classes)
            if len({*scene.evaluated.before.event.hits.tolist()}) == 1:
                audited.check(scene)
                return scene
        raise
    return scene


def _scene(
    files: Sequence[InputFile], reading: Mapping[str, Any], classes: tuple[str, ...] = ()
) -> Scene:
    options = options_of(reading)
    upload = read_paths(files, replace(options, class_names=options.class_names or classes))
    return scene_of(
        upload, event=event_of(upload, reading["event"]), n_resamples=0, progress=lambda _: None
    )


def _batch(scene: Scene) -> Batch:
    """Return the rows that a scene evaluates."""
    if scene.upload.summary is not None:
        return _counted(scene.upload)
    upload, rows, event = scene.upload, scene.rows, scene.evaluated.before.event
    role: Role = "rows" if upload.rows is not None else "test"
    return Batch(
        upload.name,
        event,
        upload.ids[role],
        frozenset(name for name, its in upload.options.roles if its == "id"),
        row_numbers(upload)[role],
        rows.labels if isinstance(rows, LogitSet) else event.hits,
        upload.class_names,
        {name: _cells(column) for name, column in upload.columns.get(role, {}).items()},
        {name: grouping for name in groupings(upload) if (grouping := _grouping(scene, name))},
    )


def _cells(column: GroupingColumn) -> NDArray[Any]:
    if column.categories is None:
        return column.values
    return np.array(column.categories, dtype=np.object_)[column.values.astype(np.intp)]


def _grouping(scene: Scene, name: str) -> Grouping | None:
    return subgrouping_of(scene.upload, scene.settings, name).grouping


def _as_audited(given: Mapping[str, Any], audited: Mapping[str, Any]) -> dict[str, Any]:
    """Return how files are read: as the audited one, but for what is given, and never split."""
    named = [role for role in OWN_OPTIONS if given[role] is not None]
    columns = [text for text in audited.get("columns", ()) if text.rpartition("=")[2] not in named]
    own = {name: given[name] or value for name, value in audited.items() if name in given}
    own["split_at"] = given["split_at"]
    return {**given, **own, "columns": [*columns, *given["columns"]]}


def _read(path: InputFile) -> ReferenceBatch:
    try:
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CalibrationInputError("against", str(path), "the JSON of a report") from error
    return read_reference(text)
