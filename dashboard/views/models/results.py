"""Several models on the same rows: read, each fitted on its own calibration set, evaluated."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.auditing import AuditResult, audit
from calibcore.calibrators.base import FittedMap, Progress, part_of
from calibcore.data import LogitSet, Rows
from calibcore.errors import CalibrationInputError
from calibcore.evaluation import SetResult, evaluate, sides_of
from calibcore.fitting import prepare
from calibcore.inference import Inference, Plan, infer
from calibcore.metrics import Measure, Options
from calibcore.models import check_same_rows
from calibcore.series import Checkpoint, checkpoint_of
from calibcore.splits import AnySplit, Split
from dashboard.compute.cache import is_known, key_of, once
from dashboard.compute.files import SourceFile, parsed, read_files
from dashboard.compute.fits import estimate
from dashboard.compute.split import evaluated_rows, grouped, whole_split
from dashboard.compute.uncertainty import affordable
from dashboard.readers import FileError, ReadingOptions, Upload
from dashboard.readers.recognition.columns import claims_score, lone_scores
from dashboard.readers.recognition.features import features_of
from dashboard.readers.recognition.vocabulary import MEASURE_STEMS, begins
from dashboard.readers.records import DEFAULTS, ColumnRole, FileTable
from dashboard.readers.refusal import visible
from dashboard.samples import Sample, SampleSeries, samples, stored
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD

_FITS, _DIFFERENCES = "models", "model differences"

_SCORES = "class", "score"
"""What columns of scores are taken for."""

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Model:
    """One model, evaluated on the test set."""

    name: str
    """As the file or the example has it."""
    rows: Rows
    """Its outputs on the rows that are evaluated."""
    result: SetResult
    """Before calibration and after."""
    fitted: FittedMap | None
    """What calibrates them, fitted on its own calibration set."""
    key: object
    """Identifies all of it."""


def mates(sample: Sample) -> tuple[Sample, ...]:
    """Return the other examples with the same test labels."""
    return once("mates", sample.digest, lambda: _mates(sample))


def _mates(sample: Sample) -> tuple[Sample, ...]:
    first, alike = read_sample(sample), []
    for other in samples():
        try:
            if other != sample:
                check_other(first, read_sample(other))
                alike.append(other)
        except CalibrationInputError:
            continue
    return tuple(alike)


def read_sample(sample: Sample) -> Upload:
    """Read an example that is compared with another."""
    return read_files(
        (SourceFile(f"{sample.name}.npz", sample.digest, sample.read_bytes, own=True),)
    )


def read_beside(first: Upload, source: SourceFile, options: ReadingOptions = DEFAULTS) -> Upload:
    """Read a further model's file as chosen for it; else like the first, or as detected."""
    if options != DEFAULTS:
        return read_files((source,), options)
    try:
        return read_files((source,), first.options)
    except FileError:
        own = first.options
        alike = replace(DEFAULTS, split_at=own.split_at, prevalence=own.prevalence)
        if first.options == alike:
            raise
        return read_files((source,), alike)


def score_of(first: Upload) -> str | None:
    """Return the column of the only score of a file."""
    scores = [name for name, use in first.uses.items() if use in _SCORES]
    return scores[0] if len(scores) == 1 else None


def further_scores(first: Upload, source: SourceFile) -> tuple[str, ...]:
    """Return the columns of a file with one score that may hold another model's score."""
    if score_of(first) is None:
        return ()
    ids = {name for of_set in first.ids.values() for name in of_set}
    return tuple(
        name
        for part in parsed((source,), first.options)
        if isinstance(part, FileTable)
        for name in _like_scores(part)
        if first.uses.get(name) in ("group", "left out") and name not in ids
    )


def _like_scores(table: FileTable) -> list[str]:
    """Return the columns that readers may take for a score: called so, or shares or percent."""
    features = features_of(table)
    lone = [features[one.places[0]] for one in lone_scores(features, ())]
    shares = {f.place for f in lone if (f.is_share or f.is_percent) and not f.whole}
    measures = {f.place for f in lone if begins(f.words, MEASURE_STEMS)}
    return [f.name for f in lone if claims_score(f) or f.place in shares - measures]


def read_score(first: Upload, source: SourceFile, column: str) -> Upload:
    """Read another column of the first model's file as the score, all else as it was read."""
    outcome: list[tuple[str, ColumnRole]] = [
        (name, "outcome") for name, use in first.uses.items() if use == "label"
    ]
    chosen = {column, *(name for name, _ in outcome)}
    roles = [(n, role) for n, role in first.options.roles if role != "score" and n not in chosen]
    options = replace(first.options, roles=(*roles, *outcome, (column, "score")))
    return read_files((source,), options)


def in_order_of(first: Upload, other: Upload) -> Upload:
    """Return another model's file with its rows in the order of the first, by what names them.

    As it came where no column names the rows of both; IDs that only count the rows name none.

    Raises `CalibrationInputError` where some rows of the first model are not in the other file.
    """
    orders = {
        role: _order(first.ids.get(role, {}), ids, rows.n_samples)
        for role, ids in other.ids.items()
        if (rows := other.sets.get(role)) is not None
    }
    moved = {role: order for role, order in orders.items() if order is not None}
    if not moved:
        return other
    sets: dict[str, Any] = {role: other.sets[role].rows(order) for role, order in moved.items()}
    columns = dict(other.columns)
    for role, order in moved.items():
        of_set = other.columns.get(role, {})
        columns[role] = {n: replace(one, values=one.values[order]) for n, one in of_set.items()}
    digest = f"{other.digest} in the order of {first.digest}"
    return replace(other, **sets, columns=columns, digest=digest)


def are_named(first: Upload, other: Upload) -> bool:
    """Return whether a column names the rows of both files, so that the same are compared."""
    return all(
        any(name in its and _name_rows(ids, its[name]) for name, ids in first.ids[role].items())
        for role, its in other.ids.items()
        if role in first.ids
    )


def _name_rows(mine: Numbers, its: Numbers) -> bool:
    """Return whether IDs name the rows of two sets: each once, and more than counted."""
    both = mine, its
    once_each = all(np.unique(ids).size == ids.size for ids in both)
    return once_each and not all((np.diff(ids) == 1).all() for ids in both)


def _order(
    mine: Mapping[str, Numbers], its: Mapping[str, Numbers], n_rows: int
) -> NDArray[np.intp] | None:
    """Return the rows of another set in the order of the first one's; None where it is that."""
    for name, ids in mine.items():
        if name not in its or its[name].size != n_rows or not _name_rows(ids, its[name]):
            continue
        if np.array_equal(ids, its[name]):
            return None
        _, here, there = np.intersect1d(ids, its[name], assume_unique=True, return_indices=True)
        if here.size < ids.size:
            text = f'{here.size:,} of the rows of the first model, by column "{visible(name, 40)}"'
            raise CalibrationInputError("rows", text, f"all {ids.size:,}")
        return there[np.argsort(here)]
    return None


def check_differs(upload: Upload, name: str, earlier: Upload) -> None:
    """Raise if a file holds the very scores of an earlier one of this name."""
    same = [
        np.array_equal(_outputs(rows), _outputs(earlier.sets[role]))
        for role, rows in upload.sets.items()
        if role in earlier.sets
    ]
    if same and all(same):
        raise CalibrationInputError("scores", f"the same as in {name}", "those of another model")


def _outputs(rows: Rows) -> NDArray[np.floating]:
    return rows.logits if isinstance(rows, LogitSet) else rows.scores


def check_piece(upload: Upload) -> None:
    """Raise if a file holds labels alone, or no labels."""
    if upload.piece is not None:
        text = "labels alone" if upload.piece.table is None else "a table without labels"
        raise CalibrationInputError("file", text, "a model's outputs together with the labels")


def check_other(first: Upload, other: Upload) -> None:
    """Raise if a file does not hold the rows of the first one."""
    check_piece(other)
    if first.rows is None and other.test is None:
        raise CalibrationInputError(
            "file", "one set of rows", "a calibration set and a test set as in the first model"
        )
    if first.rows is not None and other.rows is None:
        raise CalibrationInputError(
            "file", "a calibration set and a test set", "one set of rows as in the first model"
        )
    for mine, its in ((first.rows, other.rows), (first.test, other.test)):
        if mine is not None and its is not None:
            check_same_rows(mine, its)


def seconds(scene: Scene, others: Sequence[Upload]) -> float:
    """Estimate how many seconds the fits take that have not been made."""
    settings = replace(scene.settings, only=None)
    missing = [one for one in others if not is_known(_FITS, _fit_key(scene, one))]
    costs = [estimate(one, settings) for one in missing]
    return sum(cost.seconds for cost in costs if cost is not None)


def first_model(scene: Scene, name: str) -> Model:
    """Return the model that every page is about, on the test set."""
    result = scene.result
    key = key_of(scene.upload, scene.settings)
    return Model(name, scene.split.test, result.test, result.of_test, key)


def evaluate_model(scene: Scene, name: str, upload: Upload, progress: Progress) -> Model:
    """Fit the chosen calibrator to another model, and evaluate it on the rows of the first.

    Fitted once for each model and settings, whatever the filter of the rows.
    """
    settings = scene.settings
    event, options, key = settings.event, Options(settings.n_bins), _key(scene, upload)

    def whole() -> tuple[Rows, AuditResult]:
        split = _split_as_first(scene, upload)
        calibrator, n_bins = settings.calibrator(), settings.n_bins
        return split.test, audit(
            split, event=event, calibrator=calibrator, n_bins=n_bins, progress=progress
        )

    every, result = once(_FITS, _fit_key(scene, upload), whole)
    mask = evaluated_rows(scene.upload, settings, "test")
    if mask is None:
        return Model(name, every, result.test, result.of_test, key)

    def part() -> Model:
        rows: Rows = every.rows(mask)
        fitted = result.fitted if result.by_fold is None else result.by_fold.part(mask)
        evaluated = evaluate(prepare(rows, event), event, fitted, options)
        return Model(name, rows, evaluated, fitted, key)

    return once("parts of models", key, part)


def _split_as_first(scene: Scene, upload: Upload) -> AnySplit:
    """Split as the first model; by its own outcomes, another model would be split differently."""
    settings = scene.settings
    split, first = _split_plainly(scene, upload), whole_split(scene.upload, settings)
    fit, test = first.calibration.groups, first.test.groups
    if fit is None or test is None:
        return split
    return grouped(split, {"calibration": fit, "test": test})


def _split_plainly(scene: Scene, upload: Upload) -> AnySplit:
    settings = replace(scene.settings, method=NO_METHOD, options=(), group=None)
    if scene.upload.rows is None or upload.rows is None:
        return whole_split(upload, settings)
    chosen = scene.upload.rows_of(settings.calibration_share, settings.seed)
    fold = whole_split(scene.upload, settings).fold
    fitted, evaluated = chosen["calibration"], chosen["test"]
    return Split(upload.rows.rows(fitted), upload.rows.rows(evaluated), fold=fold)


def differences(
    scene: Scene, first: Model, other: Model, measures: tuple[Measure, ...], progress: Progress
) -> tuple[Inference, Inference]:
    """Compute the differences of another model from the first with intervals, before and after.

    In each, ``before`` is the first model and ``after`` the other one: the same rows are drawn
    again with both.
    """
    n_resamples = affordable(scene.n_resamples, first.result.n_samples)
    plan = Plan(measures, Options(scene.settings.n_bins), n_resamples)

    def make() -> tuple[Inference, Inference]:
        mine, its = (sides_of(one.rows, one.result, one.fitted) for one in (first, other))
        before = infer(mine[0], its[0], plan, progress=part_of(progress, 0.0, 0.5))
        if first.fitted is None:
            return before, before
        after = infer(mine[1], its[1], plan, progress=part_of(progress, 0.5))
        return before, after

    return once(_DIFFERENCES, (key_of(scene.upload, scene.settings), other.key, plan), make)


def _key(scene: Scene, upload: Upload) -> tuple[object, ...]:
    return key_of(scene.upload, scene.settings), key_of(upload, scene.settings)[:3]


def _fit_key(scene: Scene, upload: Upload) -> tuple[object, ...]:
    whole = replace(scene.settings, only=None)
    return key_of(scene.upload, whole), key_of(upload, whole)[:3]


_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_WORD_BEFORE = re.compile(r"([^\W\d_]+)[\W_]*$")


@dataclass(frozen=True, eq=False)
class Member:
    """One file of a series."""

    number: float
    """Its place on the horizontal axis."""
    name: str
    """Of its file."""
    upload: Upload
    """What it holds."""


def numbers_in(names: Sequence[str]) -> tuple[list[float], str]:
    """Return the number of each file by its name, and the word before it.

    ``names``: of files.

    Of the numbers that differ between all names, the last; where the names do not agree, 1, 2, 3
    and no word.
    """
    stems = [name.rsplit(".", 1)[0] or name for name in names]
    numbers_by_name = [list(_NUMBER.finditer(stem)) for stem in stems]
    for place in reversed(range(min(map(len, numbers_by_name), default=0))):
        numbers = [float(one[place].group()) for one in numbers_by_name]
        if len({*numbers}) == len(numbers) and len({*map(len, numbers_by_name)}) == 1:
            word = _WORD_BEFORE.search(stems[0][: numbers_by_name[0][place].start()])
            return numbers, word.group(1) if word else ""
    return [float(place) for place in range(1, len(names) + 1)], ""


def read_series(series: SampleSeries, most: int | None = None) -> list[Member]:
    """Read the files of a series that comes with Fractile: all, or so many of the first."""
    return [
        Member(number, f"{series.along} {number:g}", _read(name))
        for number, name in zip(series.numbers[:most], series.files[:most], strict=True)
    ]


def _read(name: str) -> Upload:
    file = f"{name.rsplit('/', 1)[-1]}.npz"
    return read_files((SourceFile(file, _digest(name), partial(stored, name), own=True),))


@cache
def _digest(name: str) -> str:
    return hashlib.sha256(stored(name)).hexdigest()


def seconds_of(scene: Scene, members: Sequence[Member]) -> float:
    """Estimate how many seconds the fits take that have not been made."""
    return seconds(_tempered(scene, members), [one.upload for one in members])


def follow(scene: Scene, members: Sequence[Member], progress: Progress) -> list[Checkpoint]:
    """Fit a temperature to each network, and evaluate it on the test set.

    ``scene``: the event, the bins, the split and the filter of the rows. ``members``: the networks,
    of the same rows. ``progress``: told the share done.

    Raises `CalibrationInputError` for files without the logits or probabilities of all classes.
    """
    at, checkpoints = _tempered(scene, members), []
    for place, one in enumerate(members):
        report = part_of(progress, place / len(members), (place + 1) / len(members))
        model = evaluate_model(at, one.name, one.upload, report)
        if not isinstance(model.rows, LogitSet):
            raise CalibrationInputError(
                one.name, "scores of one event", "logits or probabilities of all classes"
            )
        checkpoints.append(checkpoint_of(one.number, model.rows, model.result, model.fitted))
    return sorted(checkpoints, key=lambda one: one.number)


def _tempered(scene: Scene, members: Sequence[Member]) -> Scene:
    """Return the scene at the temperature; of a series of examples, with rows of its own."""
    settings = replace(scene.settings, method="temperature", options=(), group=None)
    if scene.sample is None:
        return replace(scene, settings=settings)
    return replace(scene, upload=members[0].upload, settings=replace(settings, only=None))
