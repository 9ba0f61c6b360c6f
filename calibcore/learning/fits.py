"""Calibrators fitted on fewer and fewer rows, each evaluated on the whole test set."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from calibcore import validation
from calibcore.calibrators.base import FittedScoreMap, FittedVectorMap
from calibcore.calibrators.method import Calibrator
from calibcore.data import EventScores, LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.events import Event, TopR
from calibcore.fitting import Prepared, calibrated_scores, check_pooled, fit, prepare
from calibcore.learning.curves import (
    LEARNED,
    MEASURES,
    LearningCurve,
    LearningCurves,
    LearningPoint,
    Plan,
)
from calibcore.metrics import ClassMeasure, EventMeasure, Options
from calibcore.splits import Split, calibration_rows
from calibcore.tally import tally

FEWEST, A_CLASS = 50, 2
"""Rows of the smallest size: so many, or so many a class, whichever is more."""


@dataclass(frozen=True)
class Step:
    """What a learning curve is at."""

    key: str
    """Of the calibrator that is fitted."""
    size: int
    draw: int
    n_draws: int
    """Rows it is fitted on, and which of how many draws of them this is, from 1."""
    share: float
    """Part of all the work that is done."""


Keep = Callable[[str, int, Callable[[], LearningPoint]], LearningPoint]
"""Given a calibrator's key, a size and what makes the point: the point, kept or made."""


def learning_sizes(rows: LogitSet | EventScores, *, n_sizes: int = 7) -> tuple[int, ...]:
    """Choose sizes of calibration sets, evenly spaced in their logarithm.

    ``rows``: the whole calibration set. ``n_sizes``: how many, at least 2.

    From 50 rows, or two a class if that is more, to all rows; rounded to two digits. Where the
    whole set is no larger than the smallest of these, that alone.

    Examples
    --------
    >>> learning_sizes(EventScores([0.5] * 5000, [0, 1] * 2500))
    (50, 110, 230, 500, 1100, 2300, 5000)
    """
    n_sizes = validation.whole_number(n_sizes, "n_sizes", least=2)
    n_classes = rows.n_classes if isinstance(rows, LogitSet) else 2
    least, most = max(FEWEST, A_CLASS * n_classes), rows.n_samples
    if least >= most:
        return (most,)
    between = [int(float(f"{size:.2g}")) for size in np.geomspace(least, most, n_sizes)[1:-1]]
    return tuple(sorted({least, *(size for size in between if least < size < most), most}))


def drawn_rows(
    rows: LogitSet | EventScores, size: int, *, seed: int, draw: int
) -> LogitSet | EventScores:
    """Draw rows without replacement, every class by its share.

    ``rows``: what is drawn from. ``size``: how many, at most all. ``seed``, ``draw``: the same give
    the same rows; another draw, or another size, gives independent ones.

    As `calibcore.splits.split_rows` would give to the calibration set.

    Examples
    --------
    >>> rows = EventScores([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1])
    >>> drawn_rows(rows, 2, seed=0, draw=0).hits.tolist()
    [0, 1]
    """
    size = validation.whole_number(size, "size", least=1, most=rows.n_samples)
    if size == rows.n_samples:
        return rows
    state = int(np.random.SeedSequence((seed, size, draw)).generate_state(1)[0])
    share = size / rows.n_samples
    return rows.rows(calibration_rows(rows, calibration_share=share, seed=state))


def learning_point(
    split: Split[LogitSet] | Split[EventScores],
    event: Event,
    calibrator: Calibrator | None,
    size: int,
    plan: Plan,
    tell: Callable[[int, int], None] | None = None,
) -> LearningPoint:
    """Fit a calibrator on draws of one size, and evaluate each fit on the whole test set.

    ``split``, ``event``, ``calibrator``: as for `calibcore.audit`. ``size``: calibration rows of
    each draw. ``plan``: draws, seed and bins. ``tell``: told which of how many draws is at work,
    from 1; whatever it raises ends the work.

    One row of values where the draws are all rows, or nothing is fitted.
    """
    check_pooled(calibrator, event)
    test, options = prepare(split.test, event), Options(n_bins=plan.n_bins)
    whole = size == split.calibration.n_samples
    n_draws = 1 if whole or calibrator is None else plan.n_draws
    values, refused = [], []
    for draw in range(n_draws):
        if tell is not None:
            tell(draw + 1, n_draws)
        rows = drawn_rows(split.calibration, size, seed=plan.seed, draw=draw)
        try:
            fitted = fit(calibrator, prepare(rows, event), None)
        except CalibrationInputError as error:
            refused.append(str(error))
            continue
        values.append(_evaluate(test, event, fitted, options))
    return LearningPoint(size, np.array(values).reshape(len(values), len(LEARNED)), tuple(refused))


def _evaluate(
    test: Prepared,
    event: Event,
    fitted: FittedScoreMap | FittedVectorMap | None,
    options: Options,
) -> list[float]:
    """Measure the test set after calibration; NaN for what is not defined."""
    rows, outcomes, probabilities = test.rows, test.event, test.probabilities
    decided = probabilities  # a score map leaves the order of the classes alone
    if isinstance(fitted, FittedVectorMap) and isinstance(rows, LogitSet):
        probabilities = decided = fitted.predict_proba(rows.logits)
        outcomes = event.outcomes(probabilities, rows.labels)
    elif isinstance(fitted, FittedScoreMap):
        outcomes = EventScores(calibrated_scores(fitted, test), outcomes.hits)
        probabilities = None
    counted, found = tally(outcomes.scores, outcomes.hits, outcomes.rest), []
    for measure in MEASURES:
        table = decided if measure.key == "accuracy" else probabilities
        if isinstance(measure, EventMeasure):
            found.append(float(measure.compute(counted, options)))
        elif isinstance(measure, ClassMeasure) and table is not None and isinstance(rows, LogitSet):
            found.append(measure.compute(table, rows.labels, options))
        elif measure.key == "accuracy" and event == TopR(1):
            found.append(float(outcomes.hits.mean()))  # known without the other classes
        else:
            found.append(float("nan"))
    return found


def learning_curves(
    split: Split[LogitSet] | Split[EventScores],
    event: Event,
    calibrators: Mapping[str, Calibrator | None],
    plan: Plan,
    *,
    progress: Callable[[Step], None] | None = None,
    keep: Keep | None = None,
) -> LearningCurves:
    """Compute learning curves: calibrators fitted on fewer and fewer rows.

    ``split``, ``event``: as for `calibcore.audit`; every fit is evaluated on the whole test set.
    ``calibrators``: by a name of their own; None changes nothing, and is a level line. ``plan``:
    sizes, draws, seed and bins. ``progress``: told what is at work; whatever it raises ends the
    work. ``keep``: given the name, the size and what makes a point, gives the point, kept from
    earlier or made.

    All calibrators are fitted on the same draws. A draw that a calibrator refuses is left out of
    its mean and noted.

    Raises
    ------
    CalibrationInputError
        A size larger than the calibration set, pooled scores with a within-top-r event.

    Notes
    -----
    Draws are without replacement and stratified as in `calibcore.splits.split_rows`. Draws of
    nearly all rows share most of them, so their spread says how much the choice of the rows
    matters; it is no interval for new data.

    References
    ----------
    Zhang et al., ICML 2020, figure 6.

    Examples
    --------
    >>> from calibcore.calibrators import PlattScaling
    >>> rows = EventScores([0.2, 0.4, 0.6, 0.8] * 25, [0, 0, 0, 1, 1, 0, 1, 1, 1, 1] * 10)
    >>> plan = Plan((50, 100), n_draws=3)
    >>> found = learning_curves(Split(rows, rows), TopR(1), {"platt": PlattScaling()}, plan)
    >>> found.curve("platt").sizes.tolist(), found.curve("platt").points[0].values.shape
    ([50, 100], (3, 7))
    """
    # A fit takes time by its rows, a evaluation by those of the test set.
    work = [size + split.test.n_samples for size in plan.sizes]
    curves, done, all_work = [], 0, len(calibrators) * sum(work)
    for key, calibrator in calibrators.items():
        points = []
        for size, amount in zip(plan.sizes, work, strict=True):
            part = done / all_work, (done + amount) / all_work
            tell = partial(_tell, progress, key, size, part)
            make = partial(learning_point, split, event, calibrator, size, plan, tell)
            points.append(make() if keep is None else keep(key, size, make))
            done += amount
        curves.append(LearningCurve(key, tuple(points)))
    return LearningCurves(tuple(curves), plan)


def _tell(
    progress: Callable[[Step], None] | None,
    key: str,
    size: int,
    part: tuple[float, float],
    draw: int,
    n_draws: int,
) -> None:
    if progress is not None:
        start, end = part
        share = start + (end - start) * (draw - 1) / n_draws
        progress(Step(key, size, draw, n_draws, share))
