"""``fractile compare``: the table of models by calibrators, printed and for programs."""

import json
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn

from calibcore.errors import CalibrationInputError
from calibcore.metrics import Measure
from calibcore.metrics.measure import ChangeMeasure
from calibcore.models import TableCell
from dashboard.cli.output import Lines
from dashboard.cli.terminal import options_of, write_out
from dashboard.compute.comparison import contestants, usual
from dashboard.compute.uncertainty import measures_defined
from dashboard.headless import event_of, read_paths, scene_of
from dashboard.readers import Upload
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD, is_variant, method_of
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import plain
from dashboard.views.models import table_words as words
from dashboard.views.models.as_printed import (
    LEVEL,
    PaperCell,
    PaperTable,
    paper_latex,
    paper_markdown,
)
from dashboard.views.models.document import best_line, paper_table
from dashboard.views.models.table_results import ModelTable, TableRequest, model_of, run_table

FORMAT = "urn:fractile:compare:1"
"""Of the figures as JSON: ``$id`` of ``compare.schema.json``."""

_MARKS = {"best": "*", "second": "'", "": ""}


def compare_files(given: Mapping[str, Any]) -> None:
    """Read each file as a model, fit every calibrator to it, and print the table.

    ``given``: the command's options by their names: how ``files`` are read, what is fitted and
    measured, and what is written.

    Raises `CalibrationInputError` for whatever cannot be read, or was asked for in vain.
    """
    if given["splits"] and given["resamples"]:
        raise CalibrationInputError("splits", "resamples too", "one of the two")
    columns = TextColumn("{task.description}"), BarColumn()
    bar = Progress(
        *columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()
    )
    with bar:
        task = bar.add_task("Reading", total=1.0)
        named = _read(given)
        first = named[0][1]
        event = event_of(first, given["event"])
        scene = scene_of(first, event=event, progress=lambda _: None)
        models = [model_of(scene, name, upload) for name, upload in named]
        request = TableRequest(
            _measure(scene, given["measure"]), given["resamples"], given["splits"]
        )
        keys = _keys(first, given["calibrators"], request.measure)

        def tell(share: float, model: str, key: str) -> None:
            text = escape(plain(words.working_on(model, key)))
            bar.update(task, description=text, completed=share)

        results = run_table(scene, models, keys, request, tell, go=True)
    table = paper_table(scene, results)
    _print(results, table)
    written = {
        "json": json_of(scene, results),
        "markdown": paper_markdown(table),
        "latex": paper_latex(table),
    }
    for option, text in written.items():
        if given[option] is not None:
            write_out(given[option], text, option)


def _read(given: Mapping[str, Any]) -> list[tuple[str, Upload]]:
    """Read each file by itself; of those called alike, the folder is named too."""
    files: Sequence[Path] = given["files"]
    alike = len({path.name for path in files}) < len(files)
    named = []
    for path in files:
        upload = read_paths([path], options_of({**given, "files": [path], "files_are": None}))
        named.append((str(path) if alike else upload.name, upload))
    return named


def _measure(scene: Scene, key: str) -> Measure:
    known = measures_defined(scene)
    measure = next((one for one in known if one.key == key), None)
    if measure is None:
        raise CalibrationInputError(
            "measure", repr(key), f"one of {', '.join(one.key for one in known)}"
        )
    return measure


def _keys(first: Upload, given: Sequence[str], measure: Measure) -> list[str]:
    """Return the calibrators: those named, or those that the page compares; scores as they are."""
    named = [key.strip() for text in given for key in text.split(",")]
    offered = contestants(first)
    wrong = next((key for key in named if not _is_offered(key, offered)), None)
    if wrong is not None:
        raise CalibrationInputError("calibrators", repr(wrong), f"one of {', '.join(offered)}")
    keys = [key for key in dict.fromkeys(named or usual(first)) if key != NO_METHOD]
    # Of no change, a measure of the change is 0 in every row.
    return keys if isinstance(measure, ChangeMeasure) else [NO_METHOD, *keys]


def _is_offered(key: str, offered: Sequence[str]) -> bool:
    return key in offered or (is_variant(key) and method_of(key) in offered)


def _print(results: ModelTable, table: PaperTable) -> None:
    console = Lines()
    console.print(escape(plain(table.heading)), style="bold", soft_wrap=True)
    best = best_line(results, table)
    if best:
        console.print(escape(plain(best)), soft_wrap=True)
    console.table(
        ["Model", *table.columns],
        [[plain(name), *map(_written, cells)] for name, _, cells in table.rows],
    )
    for name, size, _ in table.rows:
        console.print(escape(f"{plain(name)}: {plain(size)}"), soft_wrap=True)
    note = table.note.replace(words.MARKS, "*: best of the row; ': second best")
    console.print(escape(plain(note)), soft_wrap=True)
    for place, key, reason in results.refused:
        text = f"{results.models[place].name}, {method_name(key)}: {reason}"
        console.print(escape(plain(text)), soft_wrap=True)


def _written(one: PaperCell) -> str:
    note = f" {one.note}" if one.note.startswith("\u00b1") else f" ({one.note})"
    return f"{one.text}{_MARKS[one.place]}{LEVEL if one.level else ''}{note if one.note else ''}"


def json_of(scene: Scene, results: ModelTable) -> str:
    """Write the table for programs: an object for each model and calibrator, every digit."""
    reasons = {(place, key): reason for place, key, reason in results.refused}
    rows = [
        {
            "model": model.name,
            "calibrator": key,
            "calibration_rows": model.n_fit,
            "test_rows": model.n_test,
            "cross_validated": model.in_folds,
            **_figures(results.cells.get((place, key), TableCell(None))),
            "refused": reasons.get((place, key)),
        }
        for place, model in enumerate(results.models)
        for key in results.keys
    ]
    record = {
        "$schema": FORMAT,
        "format": 1,
        "made_by": f"Fractile {version('fractile')}",
        "measure": results.request.measure.key,
        "better": results.request.measure.better,
        "event": scene.event_words.plain,
        "resamples": results.request.n_resamples,
        "random_splits": results.request.n_splits,
        "cells": rows,
    }
    return json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1)


def _figures(cell: TableCell) -> dict[str, Any]:
    low, high = (None, None) if cell.interval is None else (cell.interval.low, cell.interval.high)
    figures = {"value": cell.value, "low": low, "high": high, "deviation": cell.deviation}
    finite = {name: _finite(value) for name, value in figures.items()}
    return {**finite, "level": cell.level, "splits": cell.n_splits}


def _finite(value: float | None) -> float | str | None:
    """Return a number, or its word where JSON has none."""
    return value if value is None or abs(value) < float("inf") else str(value)
