"""Several models on the same rows: read, each fitted on its own calibration set, evaluated."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from calibcore.auditing import AuditResult, audit
from calibcore.calibrators.base import FittedScoreMap, FittedVectorMap, Progress
from calibcore.data import EventScores, LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.evaluation import SetResult, evaluate, sides_of
from calibcore.fitting import prepare
from calibcore.inference import Inference, Plan, infer
from calibcore.metrics import Measure, Options
from calibcore.pairs import check_same_rows
from calibcore.splits import Split
from dashboard.compute.cache import is_known, key_of, once
from dashboard.compute.files import SourceFile, read_files
from dashboard.compute.fits import estimate
from dashboard.compute.slices import evaluated_rows, grouped, whole_split
from dashboard.compute.uncertainty import LEAST_RESAMPLES, MOST_DRAWN
from dashboard.readers import FileError, Upload
from dashboard.readers.contents import DEFAULTS
from dashboard.samples import Sample, samples
from dashboard.scene import Scene

_FITS, _DIFFERENCES = "models", "model differences"

Rows = LogitSet | EventScores
AnySplit = Split[LogitSet] | Split[EventScores]


@dataclass(frozen=True, eq=False)
class Model:
    """One model, evaluated on the test set.

    Parameters
    ----------
    name : str
        As the file or the example has it.
    rows : LogitSet or EventScores
        Its outputs on the rows that are evaluated.
    result : SetResult
        Before calibration and after.
    fitted : FittedScoreMap, FittedVectorMap or None
        What calibrates them, fitted on its own calibration set.
    key : hashable
        Identifies all of it.
    """

    name: str
    rows: Rows
    result: SetResult
    fitted: FittedScoreMap | FittedVectorMap | None
    key: object


def mates(sample: Sample) -> tuple[Sample, ...]:
    """Return the other examples with the same test labels."""
    return once("mates", sample.digest, lambda: _mates(sample))


def _mates(sample: Sample) -> tuple[Sample, ...]:
    first, found = read_sample(sample), []
    for other in samples():
        try:
            if other != sample:
                check_other(first, read_sample(other))
                found.append(other)
        except CalibrationInputError:
            continue
    return tuple(found)


def read_sample(sample: Sample) -> Upload:
    """Read an example that is compared with another."""
    return read_files(
        (SourceFile(f"{sample.name}.npz", sample.digest, sample.read_bytes, own=True),)
    )


def read_beside(first: Upload, source: SourceFile) -> Upload:
    """Read a further model's file like the first; as detected where that does not fit."""
    try:
        return read_files((source,), first.options)
    except FileError:
        if first.options == DEFAULTS:
            raise
        return read_files((source,))


def check_piece(upload: Upload) -> None:
    """Raise if a file holds labels alone, or no labels."""
    if upload.piece is not None:
        found = "labels alone" if upload.piece.table is None else "a table without labels"
        raise CalibrationInputError("file", found, "a model's outputs together with the labels")


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
        fitted = result.fitted if result.crossed is None else result.crossed.part(mask)
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
    settings = replace(scene.settings, group=None)
    if scene.upload.rows is None:
        return whole_split(upload, settings)
    chosen = scene.upload.rows_of(settings.calibration_share, settings.seed)
    fold = whole_split(scene.upload, settings).fold
    fitted, evaluated = chosen["calibration"], chosen["test"]
    match upload.rows:
        case LogitSet() as rows:
            return Split(rows.rows(fitted), rows.rows(evaluated), fold=fold)
        case EventScores() as events:
            return Split(events.rows(fitted), events.rows(evaluated), fold=fold)
    raise AssertionError(upload)


def differences(
    scene: Scene, first: Model, other: Model, measures: tuple[Measure, ...], progress: Progress
) -> tuple[Inference, Inference]:
    """Compute the differences of another model from the first with intervals, before and after.

    In each, ``before`` is the first model and ``after`` the other one: the same rows are drawn
    again with both.
    """
    affordable = max(LEAST_RESAMPLES, MOST_DRAWN // first.result.n_samples)
    plan = Plan(measures, Options(scene.settings.n_bins), min(scene.n_resamples, affordable))

    def make() -> tuple[Inference, Inference]:
        mine, its = (sides_of(one.rows, one.result, one.fitted) for one in (first, other))
        before = infer(mine[0], its[0], plan, progress=lambda share: progress(share / 2))
        if first.fitted is None:
            return before, before
        after = infer(mine[1], its[1], plan, progress=lambda share: progress((1 + share) / 2))
        return before, after

    return once(_DIFFERENCES, (key_of(scene.upload, scene.settings), other.key, plan), make)


def _key(scene: Scene, upload: Upload) -> tuple[object, ...]:
    return key_of(scene.upload, scene.settings), key_of(upload, scene.settings)[:3]


def _fit_key(scene: Scene, upload: Upload) -> tuple[object, ...]:
    whole = replace(scene.settings, only=None)
    return key_of(scene.upload, whole), key_of(upload, whole)[:3]
