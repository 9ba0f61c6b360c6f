"""Calibrators compared: cross-fitted on the calibration set, and evaluated on the test set."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from calibcore.calibrators.base import FittedMap
from calibcore.counted import mean_loss, weighted
from calibcore.data import Rows
from calibcore.evaluation import (
    BeforeAfter,
    Comparison,
    Comparisons,
    SetResult,
    comparison_of,
)
from calibcore.events import Event
from calibcore.inference import Interval, SideRows
from calibcore.inference.intervals import Z_95
from calibcore.metrics import METRICS, EventMeasure, Measure, Options, RowMeasure
from calibcore.probabilities import PROBABILITY_FLOOR
from calibcore.results import result_class
from calibcore.validation import Floats

EvaluatedOn = Literal["crossed", "test"]
"""Cross-fitted on the calibration set; or on the test set, by the fit on all of the former."""


# Who wins -----------------------------------------------------------------------------------


@result_class
class Standing:
    """How a calibrator does on one set: an evaluation without its curves."""

    comparisons: Sequence[Comparison]
    """One a measure, those of all classes made when first asked for."""
    changed_decisions: int
    n_samples: int
    """Rows whose most probable class is another one, and rows in all."""
    fitted: FittedMap | None
    """What calibrated these rows."""
    past_half: int | None = None
    """As in `calibcore.evaluation.SetResult`."""

    @classmethod
    def of(
        cls, result: SetResult, rows: Rows, event: Event, fitted: FittedMap | None, options: Options
    ) -> "Standing":
        """Keep what a comparison needs: of ``rows``, evaluated so."""
        changed, past = result.changed_decisions, result.past_half
        make = BeforeAfter(result.before.event, result.after.event, rows, event, fitted, options)
        of_event = [
            result.compare(one.key)
            for one in METRICS
            if isinstance(one, EventMeasure) and not one.compares_pairs
        ]
        return cls(Comparisons(make, of_event), changed, result.n_samples, fitted, past)

    def compare(self, key: str) -> Comparison:
        """Find a measure before and after, by its key."""
        return comparison_of(self.comparisons, key)


@result_class
class Contestant:
    """One calibrator of a comparison."""

    key: str
    """What it is called in the comparison."""
    crossed: Standing
    """On the calibration set, each row by a fit on all other folds."""
    test: Standing
    """On the test set, by the fit on the whole calibration set; the same where there is one set."""

    def on(self, evaluated_on: EvaluatedOn) -> Standing:
        """Return one of the two."""
        return self.crossed if evaluated_on == "crossed" else self.test

    def value(self, measure: Measure, evaluated_on: EvaluatedOn) -> float | None:
        """Return a measure after calibration; None where it is not defined."""
        after = self.on(evaluated_on).compare(measure.key).after
        return None if after is None or math.isnan(after) else after


@result_class
class Picks:
    """Which calibrator wins by cross-fitting, and which one the test set would have picked."""

    measure: Measure
    """By which they are compared."""
    winner: Contestant
    """Best by cross-fitting; no label of the test set had a part in it."""
    on_test: Contestant
    """Best on the test set, which therefore flatters it."""


def sides_shown(contestants: Sequence[Contestant]) -> tuple[EvaluatedOn, ...]:
    """Return where contestants differ: one set that serves both ends is cross-fitted alone."""
    alone = all(one.test is one.crossed for one in contestants)
    return ("crossed",) if alone else ("crossed", "test")


def can_rank(measure: Measure) -> bool:
    """Return whether a measure says which of two calibrators is the better one."""
    if measure.group == "test":  # says whether, not how far
        return False
    return measure.better in {"lower", "higher"} or (
        measure.better == "nearer" and measure.ideal is not None
    )


def penalty(measure: Measure, value: float | None) -> float:
    """Turn a measure into what is the better the lower it is; infinite where it is not defined."""
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

    ``contestants``: of equals the first one wins. ``measure``: what decides.

    None where no contestant has the measure, it has no better direction, or the test set leaves it
    undefined for the winner.
    """
    if not contestants:
        return None
    winner, on_test = (ranked(contestants, measure, on)[0] for on in get_args(EvaluatedOn))
    ends = (penalty(measure, winner.value(measure, on)) for on in get_args(EvaluatedOn))
    return Picks(measure, winner, on_test) if all(map(math.isfinite, ends)) else None


_MOVED = 0.25
"""Standard errors of the observed frequency; what fits move the mean by at random is less."""


def moves_mean_away(gap: Comparison, rate: Comparison, n_samples: int) -> bool:
    """Return whether calibration moves the mean score away from the observed frequency.

    ``gap``, ``rate``: of the measures ``mean_gap`` and ``hit_rate``. ``n_samples``: rows of both.

    It does where the absolute mean gap grows by more than a quarter of the standard error of the
    frequency: calibrators that keep the mean miss it by less on rows that they were not fitted to.

    >>> from calibcore import EventScores, Split, TopR, audit
    >>> from calibcore.calibrators import PlattScaling
    >>> fit, test = EventScores([0.2, 0.8] * 200, [0, 1, 1, 1] * 100), EventScores([0.5] * 400,
    ...     [0, 1] * 200)
    >>> evaluation = audit(Split(fit, test), event=TopR(1), calibrator=PlattScaling()).test
    >>> moves_mean_away(evaluation.compare("mean_gap"), evaluation.compare("hit_rate"), 400)
    True
    """
    if gap.before is None or gap.after is None or rate.before is None:
        return False
    error = math.sqrt(rate.before * (1 - rate.before) / n_samples)
    return abs(gap.after) - abs(gap.before) > _MOVED * error


# Whose lead is clear -------------------------------------------------------------------------


def row_losses(measure: Measure, side: SideRows) -> Floats | None:
    """Return what each row adds to a loss.

    ``measure``: a mean over the rows: the NLL or Brier score of the event or of all classes, or
    accuracy. ``side``: the rows and what was predicted of them.

    Lower is better, so of what is better higher the negative. None of other measures, and of all
    classes where these have no probabilities; shape (n_samples,), of a summary (n_cells,).
    """
    if isinstance(measure, RowMeasure):
        if side.probabilities is None or side.labels is None:
            return None
        seen = measure.rows(side.probabilities, side.labels).seen
        return -seen if measure.better == "higher" else seen
    if isinstance(measure, EventMeasure) and measure.rows is not None:
        return measure.rows(weighted(side.event)[0])
    return None


def lead(first: Floats, second: Floats, n_folds: int, rows: Rows | None = None) -> Interval:
    """Return the 95% interval of one mean loss minus another, of the same rows out of fold.

    ``first``, ``second``: `row_losses` of two calibrators that were cross-validated on the same
    folds; shape (n_samples,). ``n_folds``: at least 2. ``rows``: as of `mean_loss`.

    Below 0 where the first is clearly better.

    The folds' fits share most of their rows, so the variance of the mean is taken 1 + k / (k - 1)
    times: 2.25 with 5 folds. Of weighted rows and of clusters it is by linearisation.

    Source: Nadeau and Bengio, *Machine Learning* 2003.
    """
    middle, error = mean_loss(first - second, rows)
    spread = error * math.sqrt(1 + n_folds / (n_folds - 1))
    return Interval(middle - Z_95 * spread, middle + Z_95 * spread)


_ENDLESS = -math.log(PROBABILITY_FLOOR) - 1e-6
"""Nats of a row whose outcome was given a probability of 0."""


@dataclass(frozen=True)
class Advice:
    """What a comparison by a loss lets one say."""

    best: str
    """Key of the calibrator with the lowest loss."""
    advised: str | None
    """The simplest of those that are not clearly worse than the best and clearly better than
    uncalibrated scores; None where none is.
    """
    level: tuple[str, ...]
    """Others that are not clearly worse than the best, uncalibrated scores not among them."""


def advise(
    losses: Mapping[str, Floats],
    improves: Callable[[str], bool],
    simplest: Sequence[str],
    n_folds: int,
    rows: Rows | None = None,
) -> Advice | None:
    """Say which calibrator to use, as far as the rows tell.

    ``losses``: `row_losses` of each calibrator, by key; shape (n_samples,). ``improves``: whether
    the calibrator with this key is clearly better than uncalibrated scores; asked of no more than
    it takes, the simplest first. ``simplest``: keys, the simplest calibrator first; others come
    last. ``n_folds``: at least 2. ``rows``: as of `mean_loss`.

    None where there is no calibrator.

    A calibrator that gave a probability of 0 to what happened has an infinite NLL: it is never
    level with one that did not, however few such rows there are.
    """
    if not losses:
        return None
    endless = {key: bool((each >= _ENDLESS).any()) for key, each in losses.items()}
    best = min(losses, key=lambda key: (endless[key], mean_loss(losses[key], rows)[0]))
    others = (key for key in losses if key != best and endless[key] == endless[best])
    level = [key for key in others if lead(losses[best], losses[key], n_folds, rows).high >= 0]
    order = {key: place for place, key in enumerate(simplest)}
    tried = sorted([best, *level], key=lambda key: order.get(key, len(order)))
    advised = next(filter(improves, tried), None)
    return Advice(best, advised, tuple(key for key in (best, *level) if key != (advised or best)))
