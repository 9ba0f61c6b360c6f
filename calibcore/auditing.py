"""One audit: fit on the calibration set, evaluate on the test set or in folds, before and after."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from calibcore.calibrators.base import FittedMap, FittedScoreMap, Progress, part_of
from calibcore.calibrators.method import Calibrator
from calibcore.calibrators.score_maps.offset import FittedScoreChain
from calibcore.data import EventScores, LogitSet, Rows
from calibcore.errors import CalibrationInputError
from calibcore.evaluation import BeforeAfter, Comparison, Comparisons, SetResult, evaluate, sides_of
from calibcore.events import Event, OneClass, TopR
from calibcore.fitting import FoldedScoreMap, FoldedVectorMap, check_pooled, fit_split, prepare
from calibcore.frames import measures_frame
from calibcore.grouping import Grouping, groupings_of
from calibcore.inference import Inference, Plan, infer
from calibcore.inference.refits import N_DRAWS, refit
from calibcore.metrics import METRICS, Measure, Options
from calibcore.prevalence import PriorShift, restated
from calibcore.reliability import binned_of
from calibcore.results import find, finite, result_class
from calibcore.splits import AnySplit, Split, usual_split
from calibcore.tables import rows_of
from calibcore.verdict import Verdict, verdict_of
from calibcore.weights import SampleWeight

if TYPE_CHECKING:
    from pandas import DataFrame


REPORT = "calibcore.report"
"""Group of entry points that write reports."""

ENGINE = "calibcore.engine"
"""Group of entry points that audit frames whose rows are elsewhere, each called by a library."""

_ENGINES = "dask", "pyspark"


@result_class
class AuditRequest:
    """What an audit was asked, so that it can be looked at more closely."""

    split: AnySplit
    """The sets."""
    event: Event
    """What the scores are about."""
    calibrator: Calibrator | None
    """What was fitted."""
    options: Options
    """Bins of the measures."""
    groupings: tuple[Grouping, ...] = ()
    """Names of the groups that were given, column by column; () of none."""
    seed: int | None = None
    """Of the folds; None where the sets were given."""


@result_class
class AuditResult:
    """One calibrator tried on one event."""

    calibration: SetResult
    test: SetResult
    """The set the calibrator was fitted on, and the set that evaluates it; the same object where
    one set is evaluated in folds, as no row is then evaluated by a fit that has seen it.
    """
    fitted: FittedMap | None
    """The calibrator fitted on the whole calibration set, to take home; None where none was asked
    for.
    """
    same_data: bool
    """Both sets are the same rows, so the evaluation flatters."""
    in_folds: bool = False
    """Both sets are the same rows, each of the test set evaluated by a fit on all other folds."""
    by_fold: FoldedScoreMap | FoldedVectorMap | None = None
    """These fits; None where nothing was fitted too."""
    request: AuditRequest | None = None
    """For `intervals`; None of what was evaluated by parts."""
    prior_shift: PriorShift | None = None
    """What a stated prevalence was taken to mean. Its offset is part of ``fitted``; "before" is of
    scores that are moved by it, as ``prior_shift.moved`` moves them.
    """

    @property
    def of_test(self) -> FittedMap | None:
        """What the test set was calibrated by."""
        return self.fitted if self.by_fold is None else self.by_fold

    @cached_property
    def verdict(self) -> Verdict:
        """What the test set shows, in facts: direction, size, evidence, ranges, worst groups.

        Groups are tested where `audit` was given some.

        Examples
        --------
        >>> verdict = audit([0.9] * 100, [1, 0] * 50, groups=["a", "b"] * 50).verdict
        >>> verdict.before.direction, [(one.name, round(one.gap, 1)) for one in verdict.groups]
        ('too high', [('b', 0.9)])
        """
        rows = None if self.request is None else self.request.split.test
        groupings = () if self.request is None else self.request.groupings
        return verdict_of(self.test, rows, groupings)

    @property
    def design_effect(self) -> float:
        """By how much weights and clusters raise the variance of the mean gap of the test set.

        1 of equal rows that are drawn one by one.

        Examples
        --------
        >>> audit([0.5] * 4, [0, 1, 0, 1], sample_weight=[1, 1, 2, 2]).design_effect.__round__(3)
        1.111
        """
        design = self.test.before.counted.design
        return 1.0 if design is None else design.effect

    @property
    def n_effective(self) -> float:
        """Equal rows, drawn one by one, of which the mean gap would be as certain.

        Of sampling weights alone it is Kish's effective sample size; of clusters as many as give an
        interval as wide as Student's t of so few makes it.
        """
        design = self.test.before.counted.design
        times = 1.0 if design is None else design.times_by_t
        return self.test.n_samples / (self.design_effect * times)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know of the fit."""
        return () if self.fitted is None else self.fitted.warnings

    def intervals(
        self,
        *keys: str,
        n_resamples: int = 1000,
        seed: int = 0,
        most: int = 5000,
        progress: Progress | None = None,
    ) -> Inference:
        """Find 95% intervals of the test set's measures, before, after, and of every change.

        Parameters
        ----------
        *keys : str
            Of the measures; all by default.
        n_resamples : int, default 1000
            Draws of the rows.
        seed : int, default 0
            Of the draws.
        most : int, default 5000
            Rows on which the folds' fits are repeated, where one set is evaluated in folds.
        progress : callable, optional
            Told the share that is done; whatever it raises ends the work.

        Returns
        -------
        Inference
            See `calibcore.inference.infer`; in folds, widened by
            `calibcore.inference.refits.refit`.

        Raises
        ------
        CalibrationInputError
            A key of no measure; a result that was not made by `audit`.

        Examples
        --------
        >>> result = audit([0.2, 0.4, 0.6, 0.8] * 25, [0, 0, 1, 1] * 25)
        >>> finding = result.intervals("ks_error", n_resamples=100).find("ks_error")
        >>> finding.before.interval.low < finding.before.value < finding.before.interval.high
        True
        """
        request = self.request
        if request is None:
            raise CalibrationInputError("result", "one put together of parts", "one of audit()")
        by_key = {measure.key: measure for measure in METRICS}
        measures: tuple[Measure, ...] = tuple(find(by_key, key, "measure") for key in keys)
        plan = Plan(measures or METRICS, request.options, n_resamples, seed)
        repeats = self.in_folds and request.calibrator is not None

        first, again = part_of(progress, 0.0, 0.5 if repeats else 1.0), part_of(progress, 0.5)
        rows = request.split.test
        inference = infer(*sides_of(rows, self.test, self.of_test), plan, progress=first)
        if not repeats or request.calibrator is None or request.split.fold is None:
            return inference
        repeated = refit(
            prepare(rows, request.event),
            request.event,
            request.calibrator,
            request.split.fold,
            replace(plan, n_resamples=N_DRAWS),
            most=most,
            progress=again,
        )
        return repeated.widened(inference)

    def to_frame(self, intervals: Inference | None = None) -> "DataFrame":
        """Tabulate the test set's measures: see `calibcore.frames.measures_frame`."""
        return measures_frame(self.test, intervals)

    def to_json(self) -> str:
        """Write the measures of the test set, the event and the calibrator as plain JSON.

        A measure is null after calibration where nothing was fitted, as where it is not defined.

        Examples
        --------
        >>> import json
        >>> content = json.loads(audit([0.25, 0.75], [0, 1]).to_json())
        >>> content["n_samples"], content["measures"]["event_brier"]["before"]
        (2, 0.0625)
        """
        measures = {
            one.measure.key: {
                "before": finite(one.before),
                "after": finite(one.after if self.test.calibrated else None),
            }
            for one in self.test.comparisons
        }
        content = {
            "format": 1,
            "n_samples": self.test.n_samples,
            "n_effective": self.n_effective,
            "assumed": None if self.prior_shift is None else self.prior_shift.assumed,
            "evaluated": "in folds" if self.in_folds else "on a test set",
            "event": None if self.request is None else repr(self.request.event),
            "measures": measures,
            "warnings": list(self.warnings),
            "calibrator": None if self.fitted is None else json.loads(self.fitted.to_json()),
        }
        return json.dumps(content, allow_nan=False)

    def report(  # noqa: PLR0913 - what is typed into a report
        self,
        path: str | PathLike[str],
        *,
        page: bool = False,
        compare: bool = False,
        title: str = "",
        purpose: str = "",
        model: str = "",
        author: str = "",
        progress: Progress | None = None,
    ) -> None:
        """Write the report that the dashboard makes.

        Parameters
        ----------
        path : str or path
            Ends in ".html", or in ".json" for the same content.
        page : bool, default False
            Whether the HTML is one page, for a committee.
        compare : bool, default False
            Whether the usual calibrators are compared by cross-validation, where that takes less
            than about a quarter of a minute.
        title, purpose, model, author : str, optional
            Of the report, of the audit, of the model, and who made it.
        progress : callable, optional
            Told the share that is done, most of which are the intervals of all measures; whatever
            it raises ends the work.

        Raises
        ------
        CalibrationInputError
            Another ending; a calibrator that is not of the catalogue; no dashboard installed; a
            title and so on that is no text.
        OSError
            A place that cannot be written to.

        Notes
        -----
        Whatever is installed for the entry point `REPORT` writes it; the core itself draws nothing.
        """
        writers = list(entry_points(group=REPORT))
        if not writers:
            raise CalibrationInputError("report", "no dashboard", "the package fractile installed")
        typed = {"title": title, "purpose": purpose, "model": model, "author": author}
        for field, text in typed.items():
            if not isinstance(text, str):
                raise CalibrationInputError(field, repr(text), "a text")
        with _installed(writers[0], "report", "dashboard, which has what draws it") as write:
            write(self, path, page=page, compare=compare, progress=progress, **typed)

    def _repr_html_(self) -> str | None:
        """Show the measures as a table in a notebook, where pandas is installed."""
        if find_spec("pandas") is None:
            return None
        return self.to_frame().to_html(float_format="{:.4g}".format, na_rep="\u2013")


@contextmanager
def _installed(point: EntryPoint, field: str, extra: str) -> Iterator[Callable[..., Any]]:
    """Give what an entry point names; without what it needs, say which extra has that."""
    with _own(point.module.partition(".")[0]):
        try:
            call = point.load()
        except ModuleNotFoundError as error:
            wanted = f"fractile with its extra {extra}"
            raise CalibrationInputError(field, f"no {error.name}", wanted) from error
        yield call


@contextmanager
def _own(name: str) -> Iterator[None]:
    """Let a name be the package beside this one, whatever module of a user is called so.

    The user's own is put back afterwards.
    """
    home = Path(__file__).parents[1]
    own, loaded = home / name / "__init__.py", sys.modules.get(name)
    spec = find_spec(name) if loaded is None else None
    origin: str | None = getattr(loaded, "__file__", None) if spec is None else spec.origin
    if not own.is_file() or (origin is not None and own.samefile(origin)):
        yield
        return
    theirs, path = _modules(name), [*sys.path]
    for one in theirs:
        del sys.modules[one]
    sys.path.insert(0, str(home))
    try:
        yield
    finally:
        sys.path[:] = path
        for one in _modules(name):
            del sys.modules[one]
        sys.modules.update(theirs)


def _modules(name: str) -> dict[str, ModuleType]:
    """Return a module, and those of its package."""
    return {key: one for key, one in sys.modules.items() if f"{key}.".startswith(f"{name}.")}


def audit(  # noqa: PLR0913 - each has a default that serves
    data: object,
    outcomes: object | None = None,
    *,
    event: Event | str | None = None,
    calibrator: Calibrator | str | None = None,
    groups: object | None = None,
    sample_weight: SampleWeight = None,
    clusters: object | None = None,
    prevalence: float | None = None,
    n_bins: int = 15,
    seed: int = 0,
    progress: Progress | None = None,
) -> AuditResult:
    """Say whether probabilities can be believed, before and after a calibrator.

    Parameters
    ----------
    data : array_like, data frame, tensor, LogitSet, EventScores, Summary or Split
        Scores of one event, shape (n_samples,), or probabilities or logits of all classes, shape
        (n_samples, n_classes): see `calibcore.tables.rows_of`. A `Split` has a set to fit on and
        one to evaluate; all else is one set, evaluated in five folds. Of a frame of Dask or Spark
        the columns of scores, of outcomes and of groups: rows are counted by score where they are,
        and the counts audited, as `calibcore.summary.Summary.audit` does.
    outcomes : array_like or str, optional
        What came true of each row; None where ``data`` are rows already. Of a frame of Dask or
        Spark, the name of its column.
    event : Event or str, optional
        What the scores are about, or the name of a class: by default the second of two classes, of
        more the predicted one. Event scores are read as this event's.
    calibrator : ScoreMap, VectorMap, PooledScores, str or None
        An object, or a key of `calibcore.calibrators.CATALOGUE` for its usual settings.
        A score map and pooled scores change the event's score alone; a vector map changes all
        probabilities, of which the event is taken again. None leaves everything as it is.
    groups : array_like, optional
        Group of each row, for calibrators that know groups: numbers or names, shape (n_samples,);
        or several columns of them, shape (n_samples, n_columns), or a data frame. Of a frame of
        Dask or Spark, names of its columns, by which the verdict is too.
    sample_weight : array_like or RowWeights, optional
        Of the rows: see `calibcore.weights`. Frequency weights repeat rows; an array is of sampling
        weights, by which all is weighted.
    clusters : array_like, optional
        Whom each row belongs to, such as a patient: folds cut no cluster, and intervals and tests
        are by cluster.
    prevalence : float, optional
        Share of the event where the scores will be used, where it is another among the rows, as in
        case-control studies. Scores are moved to it by an offset in log-odds, and rows weighted:
        `calibcore.prevalence.restated`; the result's ``prior_shift`` tells what was assumed.
    n_bins : int, default 15
        Bins of the reliability diagram and of the binned measures.
    seed : int, default 0
        Of the folds.
    progress : callable, optional
        Told the share of a slow fit that is done; whatever it raises ends the audit.

    Returns
    -------
    AuditResult

    Raises
    ------
    CalibrationInputError
        Data that are no such table, an event the data do not have, what is no calibrator, too few
        rows for it, or a vector map where only an event's scores are known; pooled scores with a
        within-top-r event. Sampling weights with a calibrator that has no form for
        them; weights, clusters or a prevalence of rows that are counted.

    Notes
    -----
    Labels of the test set reach no fit; where it is the calibration set in folds, those of a row
    reach no fit by which that row is evaluated.

    Examples
    --------
    >>> from calibcore.calibrators import PlattScaling
    >>> result = audit([0.2, 0.4, 0.6, 0.8] * 5, [0, 1, 0, 1] * 5, calibrator=PlattScaling())
    >>> round(result.test.compare("ks_error").before, 3)
    0.1
    """
    if (engine := type(data).__module__.partition(".")[0]) in _ENGINES:
        needs_rows = {
            "sample_weight": sample_weight,
            "clusters": clusters,
            "prevalence": prevalence,
        }
        _refuse_beside_counts({"event": event, **needs_rows})
        with _installed(_point(engine), "data", engine.removeprefix("py")) as audit_there:
            result: AuditResult = audit_there(
                data, outcomes, groups, calibrator=calibrator, n_bins=n_bins, seed=seed
            )
            return result
    groupings = () if groups is None else groupings_of(groups)
    design = {"sample_weight": sample_weight, "clusters": clusters}
    split = _split_of(data, {"outcomes": outcomes, "groups": groups, **design}, seed)
    event, shift = _event_of(event, split.test), None
    if prevalence is not None:
        split, shift = restated(split, event, prevalence)
    calibrator = _named(calibrator) if isinstance(calibrator, str) else calibrator
    calibration, in_folds = prepare(split.calibration, event), split.fold is not None
    check_pooled(calibrator, event)
    fitted, by_fold = fit_split(calibrator, calibration, split.fold, progress)
    result = audit_fitted(
        fitted, split, event=event, n_bins=n_bins, in_folds=in_folds, by_fold=by_fold
    )
    own_seed = None if isinstance(data, Split) else seed
    options = Options(n_bins=n_bins)
    request = AuditRequest(split, event, calibrator, options, groupings, own_seed)
    return replace(result, fitted=_after(shift, fitted), request=request, prior_shift=shift)


def _point(engine: str) -> EntryPoint:
    """Return what audits the frames of a library."""
    points = list(entry_points(group=ENGINE, name=engine))
    if not points:
        raise CalibrationInputError(
            "data", f"a frame of {engine}", "the package fractile installed"
        )
    return points[0]


def _refuse_beside_counts(given: Mapping[str, object]) -> None:
    """Refuse what rows that are counted elsewhere do not allow."""
    for field, value in given.items():
        if value is not None and not (field == "event" and value == OneClass(1)):
            wanted = "none, as its rows are counted by the score of one event"
            raise CalibrationInputError(field, "one beside a frame of Dask or Spark", wanted)


def _after(shift: PriorShift | None, fitted: FittedMap | None) -> FittedMap | None:
    """Put the offset of a stated prevalence before what was fitted to moved scores."""
    if shift is None or not isinstance(fitted, FittedScoreMap):
        return fitted
    return FittedScoreChain(shift.moved, fitted, warnings=fitted.warnings)


def audit_fitted(
    fitted: FittedMap | None,
    split: AnySplit,
    *,
    event: Event,
    n_bins: int = 15,
    in_folds: bool = False,
    by_fold: FoldedScoreMap | FoldedVectorMap | None = None,
) -> AuditResult:
    """Evaluate what is fitted already, perhaps on a part of the rows.

    Parameters
    ----------
    fitted : FittedScoreMap, FittedVectorMap or None
        As it is.
    split : Split
        The rows to evaluate on.
    event : Event
        What the scores are about; a map of scores was fitted to this event's.
    n_bins : int, default 15
        Bins of the reliability diagram and of the binned measures.
    in_folds : bool, default False
        Both sets are of the same rows, those of the test set evaluated by folds.
    by_fold : FoldedScoreMap or FoldedVectorMap, optional
        The fits by which they are, for the very rows of the test set.

    Returns
    -------
    AuditResult
        With the same fit.
    """
    options = Options(n_bins=n_bins)
    of_test = fitted if by_fold is None else by_fold
    test = calibration = evaluate(prepare(split.test, event), event, of_test, options)
    if not in_folds:
        calibration = evaluate(prepare(split.calibration, event), event, fitted, options)
    return AuditResult(calibration, test, fitted, split.same_data, in_folds, by_fold)


OWN_BINS = ("sweep_ece",)
"""Keys of binned measures that choose the number of bins themselves."""


def rebin(result: AuditResult, split: AnySplit, event: Event, *, n_bins: int) -> AuditResult:
    """Evaluate the same rows in another number of bins, and keep all that has none.

    Parameters are the evaluation, its rows and event, and the bins; returns what `audit_fitted`
    gives, in a small part of the time.
    """
    options = Options(n_bins=n_bins)
    test = calibration = _rebinned(result.test, split.test, event, result.of_test, options)
    if result.calibration is not result.test:
        rows = split.calibration
        calibration = _rebinned(result.calibration, rows, event, result.fitted, options)
    request = result.request and replace(result.request, options=options)
    return replace(result, calibration=calibration, test=test, request=request)


def _rebinned(
    evaluated: SetResult, rows: Rows, event: Event, fitted: FittedMap | None, options: Options
) -> SetResult:
    before, after = (
        replace(side, binned=binned_of(side.counted, n_bins=options.n_bins))
        for side in (evaluated.before, evaluated.after)
    )
    result = replace(evaluated, before=before, after=after if evaluated.calibrated else before)
    events, counted = (before.event, result.after.event), (before.counted, result.after.counted)
    again = BeforeAfter(*events, rows, event, fitted, options, counted)

    def make(measures: Sequence[Measure]) -> list[Comparison]:
        own = [one for one in measures if one.group == "binned" and one.key not in OWN_BINS]
        known = {one.measure.key: one for one in again(own)}
        return [known.get(one.key) or evaluated.compare(one.key) for one in measures]

    return replace(result, comparisons=Comparisons(make))


def _split_of(data: object, columns: Mapping[str, Any], seed: int) -> AnySplit:
    if isinstance(data, Split):
        for field, beside in columns.items():
            if beside is not None:
                raise CalibrationInputError(
                    field, "some beside a split", "none: its sets have them"
                )
        return data
    return usual_split(rows_of(data, **columns), seed=seed)


def _named(key: str) -> Calibrator:
    """Return a calibrator of the catalogue, which is imported only where it is asked for."""
    from calibcore.calibrators.catalogue import CATALOGUE  # noqa: PLC0415 - see above

    return find({method.key: method for method in CATALOGUE}, key, "calibrator").make()


def _event_of(event: Event | str | None, rows: Rows) -> Event:
    if isinstance(event, str):
        names = rows.class_names if isinstance(rows, LogitSet) else None
        if names is None:
            wanted = "an event such as OneClass(1), as these rows have no names of classes"
            raise CalibrationInputError("event", repr(event), wanted)
        return OneClass(find({name: k for k, name in enumerate(names)}, event, "event"))
    return _usual_event(rows) if event is None else event


def _usual_event(rows: Rows) -> Event:
    if isinstance(rows, EventScores) or rows.n_classes == 2:
        return OneClass(1)
    return TopR(1)
