"""Learning curves: how good a calibrator is that was given fewer rows to fit on."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from calibcore import validation
from calibcore.calibrators.method import Calibrator
from calibcore.data import LogitSet, Rows
from calibcore.errors import CalibrationInputError
from calibcore.evaluation import measure_side, side_of
from calibcore.events import Event
from calibcore.fitting import check_pooled, fit, prepare
from calibcore.metrics import Measure, Options, measure_by_key
from calibcore.results import find, result_class
from calibcore.splits import AnySplit, calibration_rows
from calibcore.validation import Floats

# What learning curves hold, and what can be read off them -------------------------------------


LEARNED = ("ks_error", "ece", "kde_ece", "event_nll", "event_brier", "nll", "accuracy")
"""Measures of a learning curve, by key, in the order of `LearningPoint.values`."""

ENOUGH = 0.9
"""A size is enough from which on the mean keeps this part of the gain that all rows give."""

_RESAMPLES, _SEED = 400, 0
"""Of the draws, for the interval of the rows that are enough."""

MEASURES: tuple[Measure, ...] = tuple(measure_by_key(key) for key in LEARNED)
"""The same, as `calibcore.metrics` describes them."""


@dataclass(frozen=True)
class LearningPlan:
    """How learning curves are made.

    Raises `CalibrationInputError` for sizes out of order, and a number that is out of range.
    """

    sizes: tuple[int, ...]
    """Rows to fit on, ascending, at least one size."""
    n_draws: int = 10
    """Draws of each size, at least 1; of the whole calibration set there is one."""
    seed: int = 0
    """Of the draws, at least 0."""
    n_bins: int = 15
    """Bins of the ECE."""

    def __post_init__(self) -> None:
        """Raise if the last size is not the largest, as `LearningCurve.enough` needs."""
        for size in self.sizes:
            validation.whole_number(size, "sizes", least=1)
        if not self.sizes or any(a >= b for a, b in pairwise(self.sizes)):
            actual = ", ".join(map(str, self.sizes)) or "none"
            raise CalibrationInputError("sizes", actual, "at least one number, ascending")
        validation.whole_number(self.n_draws, "n_draws", least=1)
        validation.whole_number(self.seed, "seed", least=0)


@result_class
class LearningPoint:
    """One calibrator fitted on draws of one size, evaluated on the test set."""

    size: int
    """Calibration rows of each draw."""
    values: Floats
    """`LEARNED` after each fit; NaN where a measure is not defined; shape (n_fitted, 6)."""
    refused: tuple[str, ...]
    """Why a draw could not be fitted, one sentence a draw that was refused."""


@result_class
class LearningCurve:
    """One calibrator over the size of the calibration set."""

    key: str
    """Of the calibrator."""
    points: tuple[LearningPoint, ...]
    """The smallest size first."""

    @cached_property
    def usable(self) -> tuple[LearningPoint, ...]:
        """Sizes at which at least one draw could be fitted."""
        return tuple(point for point in self.points if len(point.values))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Usable sizes, shape (n_sizes,)."""
        return np.array([point.size for point in self.usable], dtype=np.int64)

    @property
    def n_refused(self) -> int:
        """Draws of any size that could not be fitted."""
        return sum(len(point.refused) for point in self.points)

    def mean(self, measure: str) -> Floats:
        """Return the mean over the draws at each usable size; NaN where it is not defined."""
        return np.array([values.mean() for values in self._draws(measure)])

    def quantile(self, measure: str, share: float) -> Floats:
        """Return the value that this share of the draws stays below, at each usable size."""
        return np.array([np.quantile(values, share) for values in self._draws(measure)])

    def enough(self, measure: str, before: float) -> "EnoughRows | None":
        """Find the rows from which on 90% of the gain over uncalibrated scores is kept.

        ``measure``: one of `LEARNED`. ``before``: its value without calibration.

        None where nothing was fitted, the measure is not defined, or all rows give no gain.

        The gain is interpolated between sizes by the logarithm of the rows. The interval is that of
        percentiles over resamples of the draws at each size: it tells how well the draws determine
        the number, for these test rows.
        """
        draws = [values for values in self._draws(measure) if not np.isnan(values).any()]
        if not draws or len(draws) < self.sizes.size:
            return None
        sign = 1 if _is_better_higher(measure) else -1
        gains = [sign * (values - before) for values in draws]
        if gains[-1].mean() <= 0:
            return None
        rows = self._rows_to_keep(np.array([[gain.mean()] for gain in gains]))
        rng = np.random.default_rng(_SEED)
        again = (gain[rng.integers(gain.size, size=(_RESAMPLES, gain.size))] for gain in gains)
        resampled = self._rows_to_keep(np.stack([gain.mean(axis=1) for gain in again]))
        low, high = np.quantile(resampled, [0.025, 0.975])
        return EnoughRows(float(rows[0]), float(min(low, rows[0])), float(max(high, rows[0])))

    def _rows_to_keep(self, gains: Floats) -> Floats:
        """Return the rows from which on the gains are kept, shape (n,), of gains (n_sizes, n)."""
        wanted, logs = ENOUGH * gains[-1], np.log(self.sizes)
        short = gains[:-1] < wanted
        last = short.shape[0] - 1 - np.argmax(short[::-1], axis=0) if short.size else 0
        rows = np.full(gains.shape[1], float(self.sizes[0]))
        for place in range(short.shape[0]):
            here = short[place] & (last == place)
            below, above = gains[place][here], gains[place + 1][here]
            with np.errstate(invalid="ignore"):  # a fit that is infinitely bad
                step = np.nan_to_num((wanted[here] - below) / (above - below), nan=1.0)
            between = logs[place] + step.clip(0, 1) * (logs[place + 1] - logs[place])
            rows[here] = np.exp(between)
        return rows

    def _draws(self, measure: str) -> Iterator[Floats]:
        column = LEARNED.index(measure)
        return (point.values[:, column] for point in self.usable)


@result_class
class EnoughRows:
    """How many rows are enough, and how well that is known."""

    n_rows: float
    """From so many on, 90% of the gain that all rows give is kept."""
    low: float
    high: float
    """95% interval."""


@result_class
class LearningCurves:
    """Calibrators over the size of the calibration set, all fitted on the same draws."""

    curves: tuple[LearningCurve, ...]
    """One a calibrator."""
    plan: LearningPlan
    """Sizes, draws and seed."""

    def curve(self, key: str) -> LearningCurve:
        """Find the curve of a calibrator."""
        return find({curve.key: curve for curve in self.curves}, key, "calibrator")

    def best(self, measure: str) -> list[tuple[int, str]]:
        """Return the calibrator that has the best mean at each size, the first of equals.

        Size and key of the calibrator, at each size at which any was fitted.
        """
        sign = -1 if _is_better_higher(measure) else 1
        means: dict[int, list[tuple[float, str]]] = {}
        for curve in self.curves:
            for size, mean in zip(curve.sizes.tolist(), curve.mean(measure), strict=True):
                if not np.isnan(mean):
                    means.setdefault(size, []).append((sign * mean, curve.key))
        first = {size: min(pairs, key=lambda pair: pair[0]) for size, pairs in means.items()}
        return [(size, first[size][1]) for size in sorted(first)]


def _is_better_higher(measure: str) -> bool:
    return MEASURES[LEARNED.index(measure)].better == "higher"


# Calibrators fitted on fewer and fewer rows, each evaluated on the whole test set -------------


FEWEST, A_CLASS = 50, 2
"""Rows of the smallest size: so many, or so many a class, whichever is more."""


@dataclass(frozen=True)
class LearningProgress:
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


_N_SIZES = 7


def learning_sizes(rows: Rows) -> tuple[int, ...]:
    """Choose sizes of calibration sets, evenly spaced in their logarithm.

    ``rows``: the whole calibration set.

    From 50 rows, or two a class if that is more, to all rows; rounded to two digits. Where the
    whole set is no larger than the smallest of these, that alone.
    """
    n_classes = rows.n_classes if isinstance(rows, LogitSet) else 2
    least, most = max(FEWEST, A_CLASS * n_classes), rows.n_samples
    if least >= most:
        return (most,)
    between = [int(float(f"{size:.2g}")) for size in np.geomspace(least, most, _N_SIZES)[1:-1]]
    return tuple(sorted({least, *(size for size in between if least < size < most), most}))


def drawn_rows(rows: Rows, size: int, *, seed: int, draw: int) -> Rows:
    """Draw rows without replacement, every class by its share.

    ``rows``: what is drawn from. ``size``: how many, at most all. ``seed``, ``draw``: the same give
    the same rows; another draw, or another size, gives independent ones.

    As `calibcore.splits.split_rows` would give to the calibration set: of clusters, whole ones, as
    many as make about so many rows.
    """
    size = validation.whole_number(size, "size", least=1, most=rows.n_samples)
    if size == rows.n_samples:
        return rows
    state = int(np.random.SeedSequence((seed, size, draw)).generate_state(1)[0])
    share = size / rows.n_samples
    return rows.rows(calibration_rows(rows, calibration_share=share, seed=state))


def learning_point(
    split: AnySplit,
    event: Event,
    calibrator: Calibrator | None,
    size: int,
    plan: LearningPlan,
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
    before = side_of(test, event, None)
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
        side = side_of(test, event, fitted)
        values.append(measure_side(MEASURES, before, side, event, options))
    return LearningPoint(
        size, np.array(values, np.float64).reshape(len(values), len(LEARNED)), tuple(refused)
    )


def learning_curves(
    split: AnySplit,
    event: Event,
    calibrators: Mapping[str, Calibrator | None],
    plan: LearningPlan,
    *,
    progress: Callable[[LearningProgress], None] | None = None,
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

    Raises `CalibrationInputError` for a size larger than the calibration set, and for pooled scores
    with a within-top-r event.

    Draws are without replacement and stratified as in `calibcore.splits.split_rows`. Draws of
    nearly all rows share most of them, so their spread says how much the choice of the rows
    matters; it is no interval for new data.

    Source: Zhang et al., ICML 2020, figure 6.

    >>> from calibcore import EventScores
    >>> from calibcore.calibrators import PlattScaling
    >>> from calibcore.events import TopR
    >>> from calibcore.splits import Split
    >>> rows = EventScores([0.2, 0.4, 0.6, 0.8] * 25, [0, 0, 0, 1, 1, 0, 1, 1, 1, 1] * 10)
    >>> plan = LearningPlan((50, 100), n_draws=3)
    >>> curves = learning_curves(Split(rows, rows), TopR(1), {"platt": PlattScaling()}, plan)
    >>> curves.curve("platt").sizes.tolist(), curves.curve("platt").points[0].values.shape
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
    progress: Callable[[LearningProgress], None] | None,
    key: str,
    size: int,
    part: tuple[float, float],
    draw: int,
    n_draws: int,
) -> None:
    if progress is not None:
        start, end = part
        share = start + (end - start) * (draw - 1) / n_draws
        progress(LearningProgress(key, size, draw, n_draws, share))
