"""The table of several models by several calibrators, cell by cell."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from calibcore.calibrators.base import FittedMap, Progress
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.fitting import check_pooled
from calibcore.inference import Plan
from calibcore.metrics import METRICS, Measure, Options
from calibcore.models import Resplits, TableCell, pooled, resplit, table_cell
from calibcore.splits import N_FOLDS
from dashboard.compute.cache import is_known, key_of, once, once_going_on
from dashboard.compute.comparison import settings_of
from dashboard.compute.fits import fitted_in_folds, fitted_whole, is_fitted, seconds_per_logit
from dashboard.compute.split import whole_split
from dashboard.compute.uncertainty import affordable
from dashboard.readers import Upload
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD, ChosenEvent, Settings, method_by_key

_CELLS, _RESPLITS = "table cells", "resplits"

_MOST_CELLS = 4_096
"""Cells that are kept; each is a few numbers."""

_EVALUATING = 1_500, 40
"""Passes of `numpy.exp` that a cell takes for each row of the test set, and for its classes."""

_INTERVAL = 300_000
"""The same for each row, with an interval."""

_FEW_CLASSES = 10


@dataclass(frozen=True)
class TableRequest:
    """What stands in the cells."""

    measure: Measure
    """One measure of the event."""
    n_resamples: int = 0
    """For intervals; 0 for none."""
    n_splits: int = 0
    """Repeated random splits; 0 for the split of each file."""


@dataclass(frozen=True, eq=False)
class TableModel:
    """A row of the table."""

    name: str
    """As the file or the example has it."""
    upload: Upload
    """Its data."""
    n_fit: int
    n_test: int
    n_classes: int
    """Rows of both sets, and classes; 0 where the classes are not known."""
    in_folds: bool
    """Whether the two sets are the same rows, by folds."""


@dataclass(frozen=True, eq=False)
class ModelTable:
    """What is known of the table."""

    request: TableRequest
    """What stands in the cells."""
    models: tuple[TableModel, ...]
    """The rows."""
    keys: tuple[str, ...]
    """The calibrators, which are the columns."""
    cells: Mapping[tuple[int, str], TableCell]
    """By the place of the model and the calibrator; without those that were not computed."""
    refused: tuple[tuple[int, str, str], ...]
    """Place of the model, calibrator, and why it cannot be fitted there."""

    def missing(self, row: int) -> int:
        """Count the cells of a model that were neither computed nor refused."""
        done = [place for place, _ in self.cells] + [place for place, *_ in self.refused]
        return len(self.keys) - done.count(row)

    @property
    def n_missing(self) -> int:
        """Count all such cells."""
        return sum(map(self.missing, range(len(self.models))))


Tell = Callable[[float, str, str], None]
"""Told the share that is done, the model and the calibrator at work."""


def model_of(scene: Scene, name: str, upload: Upload) -> TableModel:
    """Return the row of a model; raise if its file holds no rows to evaluate."""
    split = whole_split(upload, replace(scene.settings, only=None, group=None))
    n_classes = len(upload.class_names or ())
    n_fit, n_test = split.calibration.n_samples, split.test.n_samples
    return TableModel(name, upload, n_fit, n_test, n_classes, split.fold is not None)


def table_seconds(
    scene: Scene, models: Sequence[TableModel], keys: Sequence[str], request: TableRequest
) -> float:
    """Estimate how many seconds the cells take that are not known."""
    total = 0.0
    for _, model, key in _places(models, keys):
        try:
            settings = _of_model(scene, model.upload, key)
        except CalibrationInputError:
            continue
        if not is_known(_CELLS, _cell_key(model, settings, request)):
            total += _cell_seconds(model, settings, request)
    return total


def _cell_seconds(model: TableModel, settings: Settings, request: TableRequest) -> float:
    speed, n_classes = seconds_per_logit(), model.n_classes or _FEW_CLASSES
    a_row, a_class = _EVALUATING
    evaluating = (a_row + a_class * n_classes) * model.n_test * speed
    if request.n_resamples and not request.n_splits:
        evaluating += _INTERVAL * model.n_test * speed * request.n_resamples / 1000
    fitting = 0.0
    if settings.method != NO_METHOD:
        cost = method_by_key(settings.method).cost_of(**dict(settings.options))
        fitting = cost.seconds(model.n_fit, n_classes, speed)
    if request.n_splits:
        known = is_known(_RESPLITS, _splits_key(model, settings, request))
        return 0.0 if known else request.n_splits * (fitting + 4 * evaluating)
    if is_fitted(model.upload, settings):
        return evaluating
    return evaluating + fitting * (N_FOLDS if model.in_folds else 1)


def run_table(
    scene: Scene,
    models: Sequence[TableModel],
    keys: Sequence[str],
    request: TableRequest,
    report: Tell,
    *,
    go: bool,
) -> ModelTable:
    """Fit every calibrator to every model and measure it, each once.

    ``scene``: what is chosen: the calibrator chosen there takes part with its options. ``models``:
    the rows. ``keys``: the calibrators. ``request``: what stands in the cells. ``report``: see
    `Tell`; whatever it raises ends the work, and what was finished is kept. ``go``: whether cells
    that are not known are computed.
    """
    cells, refused = {}, []
    n_cells = len(models) * len(keys)
    for place, (row, model, key) in enumerate(_places(models, keys)):

        def tell(share: float, at: tuple[int, str, str] = (place, model.name, key)) -> None:
            report((at[0] + min(share, 1.0)) / n_cells, *at[1:])

        try:
            settings = _of_model(scene, model.upload, key)
            if go or is_known(_CELLS, _cell_key(model, settings, request)):
                cells[row, key] = _cell(model, settings, request, tell)
        except CalibrationInputError as error:
            refused.append((row, key, str(error)))
    return ModelTable(request, tuple(models), tuple(keys), cells, tuple(refused))


def _places(
    models: Sequence[TableModel], keys: Sequence[str]
) -> Iterator[tuple[int, TableModel, str]]:
    return ((row, model, key) for row, model in enumerate(models) for key in keys)


def _of_model(scene: Scene, upload: Upload, key: str) -> Settings:
    """Return the settings by which a calibrator takes part, of all rows of another model."""
    settings = replace(settings_of(scene, key), only=None, group=None)
    event = _event_of(settings.event, scene.class_names, upload.class_names)
    return replace(settings, event=event)


def _event_of(
    event: ChosenEvent, mine: tuple[str, ...] | None, its: tuple[str, ...] | None
) -> ChosenEvent:
    """Return the event of another model that is called alike; raise where it has none."""
    if its is None:
        if mine is None or event == TopR(1):
            return event
        raise CalibrationInputError("event", "one score per row", "a score of each class")
    if isinstance(event, OneClass) and mine is not None and mine != its:
        if mine[event.k] not in its:
            raise CalibrationInputError("class", "other classes", f"a class {mine[event.k]}")
        return OneClass(its.index(mine[event.k]))
    if isinstance(event, WithinTopR) and event.r >= len(its):
        raise CalibrationInputError("k", str(event.r), f"below {len(its)}, the number of classes")
    return event


def _cell(
    model: TableModel, settings: Settings, request: TableRequest, tell: Progress
) -> TableCell:
    tell(0.0)

    def make() -> TableCell:
        check_pooled(settings.calibrator(), settings.event)
        if request.n_splits:
            return _resplits(model, settings, request, tell).cell(request.measure)
        plan, options = None, Options(settings.n_bins)
        if request.n_resamples:  # as on the other pages, so that intervals are the same there
            n_resamples = affordable(request.n_resamples, model.n_test)
            plan = Plan((request.measure,), options, n_resamples)
        return table_cell(
            whole_split(model.upload, settings).test,
            event=settings.event,
            fitted=fitted_for_test(model.upload, settings, tell),
            measure=request.measure,
            options=options,
            plan=plan,
        )

    return once(_CELLS, _cell_key(model, settings, request), make, most=_MOST_CELLS)


def fitted_for_test(upload: Upload, settings: Settings, progress: Progress) -> FittedMap | None:
    """Return what calibrates all rows of the test set; of one set in folds, the fits by folds."""
    if settings.method != NO_METHOD and whole_split(upload, settings).fold is not None:
        return fitted_in_folds(upload, settings, progress)
    return fitted_whole(upload, settings, progress)


def _resplits(
    model: TableModel, settings: Settings, request: TableRequest, tell: Progress
) -> Resplits:
    """Measure repeated splits by all usual measures, so that another one needs no fit."""

    def make(report: Progress) -> Resplits:
        rows, share = pooled(whole_split(model.upload, settings))
        return resplit(
            rows,
            event=settings.event,
            calibrator=settings.calibrator(),
            measures=_measures(request.measure),
            n_splits=request.n_splits,
            calibration_share=settings.calibration_share or share,
            seed=settings.seed,
            options=Options(settings.n_bins),
            progress=report,
        )

    return once_going_on(_RESPLITS, _splits_key(model, settings, request), make, tell)


def _measures(measure: Measure) -> tuple[Measure, ...]:
    return tuple(one for one in METRICS if one.short or one.key == measure.key)


def _splits_key(model: TableModel, settings: Settings, request: TableRequest) -> tuple[object, ...]:
    measures = tuple(one.key for one in _measures(request.measure))
    return key_of(model.upload, settings), request.n_splits, measures


def _cell_key(model: TableModel, settings: Settings, request: TableRequest) -> tuple[object, ...]:
    return (
        key_of(model.upload, settings),
        request.measure.key,
        request.n_resamples,
        request.n_splits,
    )
