"""A stated share of the event: what rows of another share say of where the event is as frequent."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.calibrators.score_maps.offset import FittedOffset
from calibcore.counted import CountedScores
from calibcore.data import EventScores, Rows, like
from calibcore.errors import CalibrationInputError
from calibcore.events import Event, OneClass
from calibcore.inference.intervals import Z_95, Interval
from calibcore.results import result_class
from calibcore.splits import AnySplit, Split
from calibcore.validation import Floats
from calibcore.weights import Prior, RowWeights, SampleWeight, row_mean, weights_of


@result_class
class PriorShift:
    """What was assumed of the share of the event, and what follows."""

    stated: float
    """Share of the event where scores will be used."""
    among_rows: float
    """Share among the rows, for which the scores given are taken to be meant."""

    @property
    def offset(self) -> float:
        """What is added to the log-odds of each score."""
        return _logit(self.stated) - _logit(self.among_rows)

    @property
    def moved(self) -> FittedOffset:
        """The map that moves the scores given."""
        return FittedOffset(self.offset)

    @property
    def assumed(self) -> str:
        """What was assumed, in two sentences."""
        return (
            f"The event is taken to have a share of {100 * self.stated:.4g}% where scores are used,"
            f" and {100 * self.among_rows:.4g}% among these rows, for which the scores given are"
            f" meant: their log-odds are moved by {self.offset:.4g}. Rows of either outcome are"
            " taken to be a random sample of such rows in use, and weighted to that share."
        )


def restated(
    split: AnySplit, event: Event, prevalence: float
) -> tuple[Split[EventScores], PriorShift]:
    """Move the scores of both sets to a stated share of the event, and weight the rows to it.

    ``split``: its calibration set says for which share the scores are meant. ``event``: of which
    the share is. ``prevalence``: the share, strictly between 0 and 1.

    Raises `CalibrationInputError` for a share that is none, rows of one outcome alone, clusters or
    sampling weights, rows of a summary, an event of ranks.

    If rows of each outcome are drawn from all such rows at random, the odds of the event at any
    score are those among the rows times (t / (1 - t)) / (r / (1 - r)), t the stated share and r
    that among the rows: an offset in log-odds, whatever the scores. Weights t / r for rows with the
    event and (1 - t) / (1 - r) for others make the rows stand for that population. The numbers of
    rows of either outcome are fixed, as case-control studies fix them.

    Source: Prentice and Pyke, *Logistic disease incidence models and case-control studies*,
    Biometrika 1979; Saerens, Latinne, Decaestecker, *Adjusting the outputs of a classifier to new a
    priori probabilities*, Neural Computation 2002.
    """
    if not isinstance(prevalence, float | np.floating) or not 0 < prevalence < 1:
        raise CalibrationInputError("prevalence", repr(prevalence), "a share between 0 and 1")
    sets = [_event_rows(rows, event) for rows in (split.calibration, split.test)]
    shift = PriorShift(float(prevalence), _share(sets[0]))
    calibration, test = (_moved(rows, shift) for rows in sets)
    if split.test is split.calibration:
        test = calibration
    return Split(calibration, test, split.same_data, split.fold), shift


def _event_rows(rows: Rows, event: Event) -> EventScores:
    if rows.clusters is not None or rows.weights is not None:
        what = "clusters" if rows.clusters is not None else "sampling weights"
        wanted = "none, as rows of one outcome are then taken to be equal and drawn one by one"
        raise CalibrationInputError("prevalence", f"one beside {what}", wanted)
    if isinstance(rows, CountedScores):
        wanted = "none, as rows are weighted by it and a summary keeps no weight of each row"
        raise CalibrationInputError("prevalence", "one beside a summary", wanted)
    if isinstance(rows, EventScores):
        return rows
    if not isinstance(event, OneClass):
        wanted = (
            "OneClass(k), whose share a population has; ranks of a model have none of their own"
        )
        raise CalibrationInputError("event", repr(event), wanted)
    return like(event.outcomes(rows.probabilities, rows.labels), rows)


def estimated_prevalence(
    scores: ArrayLike, among_rows: float, *, sample_weight: SampleWeight = None
) -> float:
    """Estimate the share of the event where scores are used, from rows without outcomes.

    ``scores``: of rows where scores are used, in [0, 1], calibrated for rows of which the event has
    the share ``among_rows``; shape (n_samples,). ``among_rows``: that share, strictly between 0 and
    1. ``sample_weight``: of the rows, as in `calibcore.weights`; shape (n_samples,).

    From 0 to 1, for ``audit(prevalence=)``. Raises `CalibrationInputError` for scores or weights
    out of range, a share that is none, and scores that are all equal to it.

    The share of the highest likelihood, at which the mean of the moved scores is the share itself:
    what the EM algorithm of Saerens et al. tends to, found by bisection, as the likelihood is
    concave. It is assumed that the share alone differs (label shift: rows with the event are like
    those with it elsewhere, and rows without likewise) and that scores were calibrated. It is as
    wrong as these.

    Source: Saerens, Latinne, Decaestecker, *Adjusting the outputs of a classifier to new a priori
    probabilities*, Neural Computation 2002.
    """
    validation.refuse_reordered(scores=scores, sample_weight=sample_weight)
    slopes = _row_slopes(scores, among_rows)
    return _where(lambda share: row_mean(slopes(share), sample_weight) > 0, 0.0, 1.0)


def prevalence_interval(
    scores: ArrayLike, among_rows: float, *, sample_weight: SampleWeight = None
) -> Interval:
    """Estimate how far the share of `estimated_prevalence` may be from the truth.

    Parameters and errors are those of `estimated_prevalence`.

    The 95% interval: shares whose log-likelihood is at most 1.92 below the highest, by how the rows
    given vary. What is assumed is not in it, nor that few rows may have calibrated the scores. With
    sampling weights w the difference is taken sum w u^2 / sum w^2 u^2 times, u the slope of a row's
    log-likelihood, so that it varies as that of equal rows.

    Examples
    --------
    >>> estimate = prevalence_interval([0.1, 0.2, 0.3, 0.4, 0.9] * 20, 0.5)
    >>> round(estimate.low, 3), round(estimate.high, 3)
    (0.093, 0.349)
    """
    validation.refuse_reordered(scores=scores, sample_weight=sample_weight)
    slopes = _row_slopes(scores, among_rows)
    best = _where(lambda share: row_mean(slopes(share), sample_weight) > 0, 0.0, 1.0)
    at_best = slopes(min(max(best, _LEAST), 1 - _LEAST))
    weights = weights_of(sample_weight, at_best.size)
    values = np.ones(at_best.size) if weights is None else weights.values
    times = 1.0
    if weights is not None and not weights.counts:
        times = float((values @ np.square(at_best)) / np.square(values * at_best).sum())

    def is_near(share: float) -> bool:
        # A row's likelihood is linear in the share: that at another one is 1 - step * slope times.
        step = best - min(max(share, _LEAST), 1 - _LEAST)
        with np.errstate(divide="ignore"):
            return float(-times * (values @ np.log1p(-step * at_best))) <= _NEAR

    low = 0.0 if is_near(0.0) else _where(lambda share: not is_near(share), 0.0, best)
    high = 1.0 if is_near(1.0) else _where(is_near, best, 1.0)
    return Interval(low, high)


_NEAR = Z_95**2 / 2
_LEAST = 1e-12


def _row_slopes(scores: ArrayLike, among_rows: float) -> Callable[[float], Floats]:
    """Return the slope of each row's log-likelihood at a share, shape (n_samples,)."""
    given = validation.scores(scores)
    if not isinstance(among_rows, float | np.floating) or not 0 < among_rows < 1:
        raise CalibrationInputError("among_rows", repr(among_rows), "a share between 0 and 1")
    if (given == among_rows).all():
        wanted = "scores that differ from it, without which nothing is known"
        raise CalibrationInputError("scores", "the share among the rows alone", wanted)
    of_event, of_others = given / among_rows, (1 - given) / (1 - among_rows)

    def slopes(share: float) -> Floats:
        with np.errstate(divide="ignore"):
            each = (of_event - of_others) / (share * of_event + (1 - share) * of_others)
        return np.asarray(each)

    return slopes


def _where(is_below: Callable[[float], bool], low: float, high: float) -> float:
    """Find the share up to which something holds, between two of them."""
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2


def _share(rows: EventScores) -> float:
    share = float(rows.hits.mean())
    if not 0 < share < 1:
        text = "rows that all turned out alike"
        raise CalibrationInputError("prevalence", text, "rows with and without the event")
    return share


def _moved(rows: EventScores, shift: PriorShift) -> EventScores:
    """Move the scores, and weight the rows so that the event has the stated share."""
    own = _share(rows)
    scores, rest = shift.moved.predict(rows.scores), None
    if rows.rest is not None:
        odds = math.exp(shift.offset) * rows.scores / np.maximum(rows.rest, np.finfo(float).tiny)
        rest = validation.rest(1 / (1 + odds), n_rows=rows.n_samples)
    times = np.where(rows.hits == 1, shift.stated / own, (1 - shift.stated) / (1 - own))
    moved = EventScores(scores, rows.hits, rest)
    object.__setattr__(moved, "weights", RowWeights(times, "sampling"))
    object.__setattr__(moved, "prior", Prior(shift.stated, shift.offset))
    return moved


def _logit(share: float) -> float:
    return math.log(share) - math.log1p(-share)
