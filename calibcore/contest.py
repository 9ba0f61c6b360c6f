"""A contest of calibrators: cross-fitted on the calibration set, and evaluated on the test set."""

import math
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.calibrators.base import FittedScoreMap, FittedVectorMap, Progress
from calibcore.calibrators.method import Calibrator
from calibcore.data import EventScores, LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.evaluation import (
    Comparison,
    Prepared,
    SetResult,
    check_pooled,
    evaluate,
    fit,
    prepare,
)
from calibcore.events import Event
from calibcore.metrics import Measure, Options
from calibcore.results import find, result_class
from calibcore.validation import Floats

EvaluatedOn = Literal["crossed", "test"]
"""Cross-fitted on the calibration set; or on the test set, by the fit on all of the former."""

Folds = NDArray[np.intp]


@result_class
class FoldedScoreMap(FittedScoreMap):
    """One score map a fold; each row goes through the one that was fitted without its fold.

    Attributes
    ----------
    fold : ndarray of int, shape (n_samples,)
        Fold of each row of the set that the maps were fitted on.
    maps : tuple of FittedScoreMap
        One a fold.
    """

    fold: Folds
    maps: tuple[FittedScoreMap, ...]

    def predict(self, scores: ArrayLike) -> Floats:
        """Calibrate the scores of the very rows that were dealt, in their order."""
        checked = validation.scores(scores)
        _check_rows(checked.size, self.fold)
        result = np.empty(checked.shape)
        for number, fitted in enumerate(self.maps):
            mine = np.flatnonzero(self.fold == number)
            if mine.size:
                result[mine] = fitted.predict(checked[mine])
        return result

    def part(self, chosen: NDArray[np.bool_]) -> "FoldedScoreMap":
        """Return the same maps for some of the rows, in their order."""
        return FoldedScoreMap(self.fold[chosen], self.maps, warnings=self.warnings)


@result_class
class FoldedVectorMap(FittedVectorMap):
    """One vector map a fold; each row goes through the one that was fitted without its fold.

    Attributes
    ----------
    fold : ndarray of int, shape (n_samples,)
        Fold of each row of the set that the maps were fitted on.
    maps : tuple of FittedVectorMap
        One a fold.
    """

    fold: Folds
    maps: tuple[FittedVectorMap, ...]

    def predict_proba(self, logits: ArrayLike) -> Floats:
        """Calibrate the logits of the very rows that were dealt, in their order."""
        checked = validation.logits(logits)
        _check_rows(len(checked), self.fold)
        result = np.empty(checked.shape)
        for number, fitted in enumerate(self.maps):
            mine = np.flatnonzero(self.fold == number)
            if mine.size:
                result[mine] = fitted.predict_proba(checked[mine])
        return result

    def part(self, chosen: NDArray[np.bool_]) -> "FoldedVectorMap":
        """Return the same maps for some of the rows, in their order."""
        return FoldedVectorMap(self.fold[chosen], self.maps, warnings=self.warnings)


def _check_rows(n_rows: int, fold: Folds) -> None:
    if n_rows != fold.size:
        raise CalibrationInputError("rows", f"{n_rows:,}", f"the {fold.size:,} that were dealt")


@result_class
class CrossFit:
    """A calibrator evaluated on the calibration set, each row by a map that has not seen it.

    Attributes
    ----------
    evaluated : SetResult
        Measures of all rows together.
    fitted : FoldedScoreMap, FoldedVectorMap or None
        The maps; None where nothing was asked for.
    """

    evaluated: SetResult
    fitted: FoldedScoreMap | FoldedVectorMap | None


def deal_folds(rows: LogitSet | EventScores, *, n_folds: int = 5, seed: int = 0) -> Folds:
    """Assign the rows of one set to folds at random (stratified k-fold).

    Parameters
    ----------
    rows : LogitSet or EventScores
        At least two rows.
    n_folds : int, default 5
        From 2 to the number of rows.
    seed : int, default 0
        At least 0; the same seed deals alike.

    Returns
    -------
    ndarray of int, shape (n_samples,)
        Fold of each row, from 0.

    Raises
    ------
    CalibrationInputError
        One row alone, or a number of folds or a seed that is out of range.

    Notes
    -----
    Stratified by true class (by hit, for an event's scores): the folds' sizes, and the numbers of
    rows they have of any one class, differ by one row at most.

    Examples
    --------
    >>> deal_folds(EventScores([0.5] * 6, [0, 0, 1, 1, 1, 1]), n_folds=2).sum()
    np.int64(3)
    """
    if rows.n_samples < 2:
        raise CalibrationInputError("rows", "1 row", "at least 2, to leave some out")
    n_folds = validation.whole_number(n_folds, "n_folds", least=2, most=rows.n_samples)
    seed = validation.whole_number(seed, "seed", least=0)
    strata = rows.labels if isinstance(rows, LogitSet) else rows.hits
    shuffled = np.random.default_rng(seed).permutation(rows.n_samples)
    fold = np.empty(rows.n_samples, dtype=np.intp)
    # Dealt in turn along rows grouped by stratum, so that every stratum is spread evenly.
    grouped = shuffled[np.argsort(strata[shuffled], kind="stable")]
    fold[grouped] = np.arange(rows.n_samples) % n_folds
    return fold


def cross_fit(
    rows: LogitSet | EventScores,
    *,
    event: Event,
    calibrator: Calibrator | None,
    fold: ArrayLike,
    n_bins: int = 15,
    progress: Progress | None = None,
) -> CrossFit:
    """Evaluate a calibrator on the calibration set by cross-validation.

    Parameters
    ----------
    rows : LogitSet or EventScores
        The calibration set.
    event : Event
        What the scores are about; event scores are read as this event's.
    calibrator : ScoreMap, VectorMap, PooledScores or None
        As for `calibcore.evaluation.audit`.
    fold : array_like of int, shape (n_samples,)
        Fold of each row, from 0, as `deal_folds` gives it: at least two folds, none without rows.
    n_bins : int, default 15
        Bins of the reliability diagram and of the binned measures.
    progress : callable, optional
        Told the share that is done; every fold counts alike. Whatever it raises ends the work.

    Returns
    -------
    CrossFit

    Raises
    ------
    CalibrationInputError
        Folds that do not fit the rows; what `audit` refuses.

    Notes
    -----
    Each fold's rows are calibrated by the calibrator fitted on all other folds. The measures are
    of all these rows together, once: distances of single folds are longer for their fewer rows and
    cannot be averaged.

    References
    ----------
    Stone, *Journal of the Royal Statistical Society B* 1974.

    Examples
    --------
    >>> from calibcore.calibrators.temperature.scaling import TemperatureScaling
    >>> from calibcore.events import TopR
    >>> rows = LogitSet([[2.0, 0.0], [0.0, 2.0]] * 10, [0, 1, 0, 0, 1] * 4)
    >>> made = TemperatureScaling()
    >>> found = cross_fit(rows, event=TopR(1), calibrator=made, fold=deal_folds(rows))
    >>> len(found.fitted.maps)
    5
    """
    check_pooled(calibrator, event)
    dealt = _checked_folds(fold, rows.n_samples)
    prepared = prepare(rows, event)
    fitted = None if calibrator is None else _fit_folds(prepared, calibrator, dealt, progress)
    return CrossFit(evaluate(prepared, event, fitted, Options(n_bins=n_bins)), fitted)


def _checked_folds(values: ArrayLike, n_rows: int) -> Folds:
    """Check the folds; raise if they would leave rows without a score."""
    fold, numbers = np.asarray(values), np.unique(values)
    fits = fold.shape == (n_rows,) and fold.dtype.kind in "iu" and numbers.size > 1
    if not (fits and numbers[0] == 0 and numbers[-1] == numbers.size - 1):
        wanted = f"for each of {n_rows:,} rows its fold: 0, 1 and so on, each of them in use"
        raise CalibrationInputError("fold", ", ".join(map(str, numbers[:5])), wanted)
    return fold.astype(np.intp, copy=False)


def _fit_folds(
    prepared: Prepared, calibrator: Calibrator, fold: Folds, progress: Progress | None
) -> FoldedScoreMap | FoldedVectorMap:
    n_folds = int(fold.max()) + 1
    maps = []
    for number in range(n_folds):

        def report(share: float, number: int = number) -> None:
            if progress is not None:
                progress((number + share) / n_folds)

        report(0.0)
        seen = np.flatnonzero(fold != number)
        # The class probabilities reach no fit, so they are not copied.
        part = Prepared(prepared.rows.rows(seen), prepared.event.rows(seen), None)
        maps.append(fit(calibrator, part, report))
    warnings = tuple(dict.fromkeys(text for each in maps if each for text in each.warnings))
    of_scores = tuple(each for each in maps if isinstance(each, FittedScoreMap))
    of_classes = tuple(each for each in maps if isinstance(each, FittedVectorMap))
    if of_scores:
        return FoldedScoreMap(fold, of_scores, warnings=warnings)
    return FoldedVectorMap(fold, of_classes, warnings=warnings)


# Who wins -----------------------------------------------------------------------------------


@result_class
class Standing:
    """How a calibrator does on one set: what is left of an evaluation when its curves are dropped.

    Attributes
    ----------
    comparisons : tuple of Comparison
        One a measure, in the order of `calibcore.metrics.METRICS`.
    changed_decisions, n_samples : int
        Rows whose most probable class is another one, and rows in all.
    fitted : FittedScoreMap, FittedVectorMap or None
        What calibrated these rows.
    past_half : int or None
        As in `calibcore.evaluation.SetResult`.
    """

    comparisons: tuple[Comparison, ...]
    changed_decisions: int
    n_samples: int
    fitted: FittedScoreMap | FittedVectorMap | None
    past_half: int | None = None

    @classmethod
    def of(cls, result: SetResult, fitted: FittedScoreMap | FittedVectorMap | None) -> "Standing":
        """Keep what a contest needs."""
        changed, past = result.changed_decisions, result.past_half
        return cls(result.comparisons, changed, result.n_samples, fitted, past)

    def compare(self, measure: Measure) -> Comparison:
        """Find a measure before and after."""
        return find({row.measure.key: row for row in self.comparisons}, measure.key, "measure")


@result_class
class Contestant:
    """One calibrator of a contest.

    Attributes
    ----------
    key : str
        What it is called in the contest.
    crossed : Standing
        On the calibration set, by `cross_fit`.
    test : Standing
        On the test set, by the fit on the whole calibration set.
    """

    key: str
    crossed: Standing
    test: Standing

    def on(self, evaluated_on: EvaluatedOn) -> Standing:
        """Return one of the two."""
        return self.crossed if evaluated_on == "crossed" else self.test

    def value(self, measure: Measure, evaluated_on: EvaluatedOn) -> float | None:
        """Return a measure after calibration; None where it is not defined."""
        found = self.on(evaluated_on).compare(measure).after
        return None if found is None or math.isnan(found) else found


@result_class
class Picks:
    """Which calibrator wins by cross-fitting, and which one the test set would have picked.

    Attributes
    ----------
    measure : Measure
        By which they are compared.
    winner : Contestant
        Best by cross-fitting; no label of the test set had a part in it.
    on_test : Contestant
        Best on the test set, which therefore flatters it.
    """

    measure: Measure
    winner: Contestant
    on_test: Contestant

    @property
    def flattery(self) -> float:
        """How much better, on the test set, its own pick looks than the winner; at least 0."""
        return penalty(self.measure, self.winner.value(self.measure, "test")) - penalty(
            self.measure, self.on_test.value(self.measure, "test")
        )


def can_rank(measure: Measure) -> bool:
    """Return whether a measure says which of two calibrators is the better one."""
    return measure.better in {"lower", "higher"} or (
        measure.better == "nearer" and measure.ideal is not None
    )


def penalty(measure: Measure, value: float | None) -> float:
    """Turn a measure into what is the better the lower it is; infinite where it is not defined.

    Examples
    --------
    >>> from calibcore.metrics import METRICS
    >>> slope = next(measure for measure in METRICS if measure.key == "calibration_slope")
    >>> penalty(slope, 1.25), penalty(slope, 0.75), penalty(slope, None)
    (0.25, 0.25, inf)
    """
    if value is None or not can_rank(measure):
        return math.inf
    if measure.better == "nearer" and measure.ideal is not None:
        return abs(value - measure.ideal)
    return -value if measure.better == "higher" else value


def ranked(
    contestants: Sequence[Contestant], measure: Measure, evaluated_on: EvaluatedOn
) -> list[Contestant]:
    """Sort by a measure, the best first; equals keep their order, those without it come last."""
    return sorted(contestants, key=lambda one: penalty(measure, one.value(measure, evaluated_on)))


def pick(contestants: Sequence[Contestant], measure: Measure) -> Picks | None:
    """Find the best calibrator of a comparison by one measure.

    Parameters
    ----------
    contestants : sequence of Contestant
        Of equals the first one wins.
    measure : Measure
        What decides.

    Returns
    -------
    Picks or None
        None where no contestant has the measure, it has no better direction, or the test set leaves
        it undefined for the winner.
    """
    if not contestants:
        return None
    winner, on_test = (ranked(contestants, measure, on)[0] for on in get_args(EvaluatedOn))
    ends = (penalty(measure, winner.value(measure, on)) for on in get_args(EvaluatedOn))
    return Picks(measure, winner, on_test) if all(map(math.isfinite, ends)) else None
