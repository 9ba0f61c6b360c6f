"""The same measures on many draws of one world: how far estimates are from the truth."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.calibrators import Calibrator
from calibcore.calibrators.base import FittedScoreMap, FittedVectorMap, Progress
from calibcore.curves import ScoreCurve, score_curve
from calibcore.errors import CalibrationInputError
from calibcore.fitting import fit, prepare
from calibcore.inference.draws import chunks
from calibcore.metrics import Options
from calibcore.metrics.kernel import OF_EACH
from calibcore.probabilities import log_probabilities
from calibcore.results import find, result_class
from calibcore.synthetic.truth import EVENT_MEASURES, MapDistance, Population
from calibcore.synthetic.world import MOST_CELLS, Seed, World, WorldSample, streams_of
from calibcore.tally import tally
from calibcore.validation import Floats

MOST_DRAWS = 100_000


@result_class
class Redraws:
    """Measures of many draws of one world, with what they aim at."""

    keys: tuple[str, ...]
    """The measures."""
    values: Floats
    """Of each draw; of a measure in rows, the share of them. NaN where it is not defined; shape
    (n_draws, n_measures).
    """
    aims: Floats
    """What each measure is an estimate of: `calibcore.synthetic.Population.aim`; shape
    (n_measures,).
    """
    limits: Floats
    """What each would be with infinitely many rows: `calibcore.synthetic.Population.measure`; shape
    (n_measures,).
    """
    n_rows: int
    """Rows of each draw."""

    @property
    def mean(self) -> Floats:
        """Mean over the draws in which a measure is defined, shape (n_measures,)."""
        return _mean(self.values)

    @property
    def bias(self) -> Floats:
        """Mean minus what is aimed at, shape (n_measures,)."""
        return self.mean - self.aims

    @property
    def deviation(self) -> Floats:
        """Standard deviation over the draws, shape (n_measures,)."""
        return np.sqrt(_mean((self.values - self.mean) ** 2))

    @property
    def root_mean_squared_error(self) -> Floats:
        """Root of the mean squared distance from what is aimed at, shape (n_measures,)."""
        return np.sqrt(_mean((self.values - self.aims) ** 2))

    def of(self, key: str) -> Floats:
        """Return the values of one measure, shape (n_draws,)."""
        return find(dict(zip(self.keys, self.values.T, strict=True)), key, "measure")

    def errors(self, key: str) -> Floats:
        """Return how far the values of one measure are from what it aims at, shape (n_draws,)."""
        return np.asarray(np.abs(self.of(key) - self.aims[self.keys.index(key)]))


def redraws(
    world: World,
    n_rows: int,
    n_draws: int,
    *,
    seed: Seed,
    measures: Sequence[str] = ("ece", "ks_error"),
    n_bins: int = 15,
) -> Redraws:
    """Draw many sets of rows of one world, and measure each.

    Parameters
    ----------
    world : World
        Where rows are drawn from.
    n_rows : int
        Rows of each draw, from 1 to 5,000,000.
    n_draws : int
        From 1 to 100,000.
    seed : int, or list or tuple of int
        As of `World.draw`, whose rows of the same seed are the first draw.
    measures : sequence of str, optional
        Keys of measures of one event.
    n_bins : int, default 15
        Bins of every binned measure.

    Returns
    -------
    Redraws

    Raises
    ------
    CalibrationInputError
        A number out of its range, or a measure that there is not.

    Notes
    -----
    Kernel measures are rough: off by some 0.00001, and twice as fast.

    Examples
    --------
    >>> few = redraws(World(), 100, 200, seed=1)
    >>> few.keys, few.aims.tolist(), (few.bias > 0.01).tolist()
    (('ece', 'ks_error'), [0.0, 0.0], [True, True])
    """
    n_rows = validation.whole_number(n_rows, "n_rows", least=1, most=MOST_CELLS // 2)
    n_draws = validation.whole_number(n_draws, "n_draws", least=1, most=MOST_DRAWS)
    n_bins = validation.whole_number(n_bins, "n_bins", least=1, most=MOST_DRAWS)
    chosen = [find(EVENT_MEASURES, key, "measure") for key in measures]
    options = Options(n_bins=n_bins, rough=True)
    streams, truth = streams_of(seed), world.truth()
    values = np.empty((n_draws, len(chosen)))
    done = 0
    for size in chunks(n_draws, n_rows):
        scores, _, hits, _ = world.draw_events(streams, (size, n_rows))
        counted = [tally(*rows) for rows in zip(scores, hits, strict=True)]
        for place, measure in enumerate(chosen):
            each = OF_EACH.get(measure.key)
            values[done : done + size, place] = (
                [measure.compute(one, options) for one in counted]
                if each is None
                else each(counted)
            )
        done += size
    values[:, [measure.unit == "rows" for measure in chosen]] /= n_rows
    aims, limits = (
        np.array([find_value(key, Options(n_bins=n_bins)) for key in measures])
        for find_value in (truth.aim, truth.measure)
    )
    return Redraws(tuple(measures), values, aims, limits, n_rows)


def _mean(values: Floats) -> Floats:
    """Return the mean over the draws of what is finite; NaN where nothing is."""
    known = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0))


# How far estimates of the calibration error are from their own truths, by number of rows ------


STUDY_ROWS = tuple(2**power for power in range(6, 17))
"""Numbers of rows from 64, where Zhang 2020 begins (it ends at 1,024), to 65,536."""

FIXED = (
    "ece", "ece_equal_mass", "sweep_ece", "debiased_ece", "kde_ece", "smooth_ece", "ks_error",
)  # fmt: skip
"""Measures that are studied as they stand, those of bins with 15."""

STURGES = {"ece": "ece_sturges", "ece_equal_mass": "ece_equal_mass_sturges"}
"""Keys of measures that are studied with `sturges_bins` too, and what they are then called."""

ESTIMATES = (*FIXED, *STURGES.values())

_PART = 1 << 18
"""Rows between two reports of progress."""


def sturges_bins(n_rows: int) -> int:
    """Return the number of bins that Sturges' rule gives so many rows: 1 + log2, rounded up.

    Examples
    --------
    >>> sturges_bins(1), sturges_bins(64), sturges_bins(65)
    (1, 7, 8)
    """
    return 1 + (validation.whole_number(n_rows, "n_rows", least=1) - 1).bit_length()


def redraw_estimates(
    world: World, n_rows: int, n_draws: int, *, seed: int, progress: Progress | None = None
) -> Redraws:
    """Draw many sets of rows of one world, and estimate its calibration error from each.

    Parameters
    ----------
    world : World
        Where rows are drawn from.
    n_rows : int
        Rows of each draw, from 1 to 5,000,000.
    n_draws : int
        From 1 to 100,000.
    seed : int
        Not below 0.
    progress : callable, optional
        Told the share done, 0 to 1.

    Returns
    -------
    Redraws
        Of `ESTIMATES`, all of the same draws.

    Raises
    ------
    CalibrationInputError
        A number out of its range.

    Notes
    -----
    Bins are those of `calibcore.binning.bin_scores`: 15, or as many as Sturges' rule gives the
    rows. Zhang 2020 names 15 bins of equal width, and bins by Sturges' rule that depend on the
    data; its authors' program makes bins of equal mass.

    References
    ----------
    Zhang, Kailkhura, Han, ICML 2020, section 5.1 and figure 5; Sturges, *Journal of the American
    Statistical Association* 1926.

    Examples
    --------
    >>> from calibcore.synthetic import zhang_world
    >>> estimates = redraw_estimates(zhang_world(0.5, -1.5), 64, 100, seed=1)
    >>> bool(estimates.errors("kde_ece").mean() < estimates.errors("ece").mean())
    True
    """
    n_rows = validation.whole_number(n_rows, "n_rows", least=1, most=MOST_CELLS // 2)
    n_draws = validation.whole_number(n_draws, "n_draws", least=1, most=MOST_DRAWS)
    n_bins, at_once = sturges_bins(n_rows), max(1, _PART // n_rows)
    parts = []
    for start in range(0, n_draws, at_once):
        own = [seed, n_rows, start // at_once]
        size = min(at_once, n_draws - start)
        usual = redraws(world, n_rows, size, seed=own, measures=FIXED)
        other = redraws(world, n_rows, size, seed=own, measures=tuple(STURGES), n_bins=n_bins)
        parts.append(np.hstack([usual.values, other.values]))
        if progress is not None:
            progress((start + size) / n_draws)
    aims, limits = (
        np.concatenate(both) for both in ((usual.aims, other.aims), (usual.limits, other.limits))
    )
    return Redraws(ESTIMATES, np.concatenate(parts), aims, limits, n_rows)


@result_class
class EstimatorStudy:
    """How far estimates are from their own truths, by number of rows."""

    sizes: tuple[Redraws, ...]
    """As of `redraw_estimates`, the fewest rows first, at least one."""

    @property
    def n_rows(self) -> NDArray[np.int64]:
        """Rows of each draw, shape (n_sizes,)."""
        return np.array([size.n_rows for size in self.sizes], dtype=np.int64)

    def truth(self, key: str) -> float:
        """Return what one of `ESTIMATES` is an estimate of, as a fraction."""
        first = self.sizes[0]
        return float(find(dict(zip(first.keys, first.aims, strict=True)), key, "estimate"))

    def mean_error(self, key: str) -> Floats:
        """Return the mean absolute error of one of `ESTIMATES`, shape (n_sizes,)."""
        return np.array([size.errors(key).mean() for size in self.sizes])

    def error_quantile(self, key: str, share: float) -> Floats:
        """Return what this share of its absolute errors stays below, shape (n_sizes,)."""
        return np.array([np.quantile(size.errors(key), share) for size in self.sizes])

    def lowest(self, keys: Sequence[str], place: int = 0) -> tuple[str, ...]:
        """Return which of some estimates has the lowest mean absolute error.

        Parameters
        ----------
        keys : sequence of str
            Of `ESTIMATES`; those that estimate the same quantity can be compared.
        place : int, default 0
            Which number of rows.

        Returns
        -------
        tuple of str
            The lowest, then those that are not clearly higher: less than two standard errors of
            the mean difference, draw by draw.
        """
        errors = {key: self.sizes[place].errors(key) for key in keys}
        ordered = sorted(keys, key=lambda key: float(errors[key].mean()))
        best = errors[ordered[0]]
        return tuple(key for key in ordered if not _is_higher(errors[key] - best))


def _is_higher(differences: Floats) -> bool:
    """Return whether a mean difference is above 0 by two standard errors."""
    error = differences.std() / np.sqrt(differences.size)
    return bool(differences.mean() > 2 * error)


@result_class
class FittedTwoClassMap(FittedScoreMap):
    """A vector map of two classes as a map of the score of class 1."""

    vector_map: FittedVectorMap
    """Of two classes."""

    def predict(self, scores: ArrayLike) -> Floats:
        """Calibrate scores, as `FittedScoreMap.predict` does."""
        checked = validation.scores(scores)
        table = np.column_stack([1 - checked, checked])
        return self.vector_map.predict_proba(log_probabilities(table))[:, 1]


@result_class
class CalibratorAgainstTruth:
    """A fitted calibrator of a world's event, against the truth."""

    key: str
    """Under which the calibrator was given."""
    fitted: FittedScoreMap
    """Its map of scores."""
    curve: ScoreCurve
    """That map, at enough places to draw it."""
    distance: MapDistance
    """From the true frequency, over all rows of the world."""
    after: Population
    """What is true of the calibrated scores: every measure with infinitely many rows."""


def calibrators_against(
    world: World, calibrators: Mapping[str, Calibrator], calibration: WorldSample
) -> tuple[CalibratorAgainstTruth, ...]:
    """Fit calibrators to drawn rows and compare each with the truth.

    Parameters
    ----------
    world : World
        Whose truth it is.
    calibrators : mapping of str to Calibrator
        By any keys. Those that act on all classes need a world of two, as with more what they do
        to a score depends on the others; one by group is given the groups to fit, and compared
        by its map of all rows.
    calibration : WorldSample
        Rows of that world to fit on.

    Returns
    -------
    tuple of CalibratorAgainstTruth
        In the order of ``calibrators``.

    Raises
    ------
    CalibrationInputError
        Too few rows for a calibrator, or one that needs two classes.

    Examples
    --------
    >>> from calibcore.calibrators import IsotonicCalibration, PlattScaling
    >>> from calibcore.synthetic import LogOddsCurve
    >>> world = World(LogOddsCurve(slope=0.5))
    >>> both = {"platt": PlattScaling(), "isotonic": IsotonicCalibration()}
    >>> platt, isotonic = calibrators_against(world, both, world.draw(200, seed=1))
    >>> platt.distance.mean_absolute < isotonic.distance.mean_absolute
    True
    """
    truth, prepared = world.truth(), prepare(calibration.rows, world.event)
    comparisons = []
    for key, calibrator in calibrators.items():
        fitted = fit(calibrator, prepared, None)
        if isinstance(fitted, FittedVectorMap) and world.n_classes == 2:
            fitted = FittedTwoClassMap(vector_map=fitted)
        if not isinstance(fitted, FittedScoreMap):
            expected = "one that acts on the event's score alone, or a world of 2 classes"
            raise CalibrationInputError("calibrators", key, expected)
        after = truth.after(fitted)
        comparisons.append(
            CalibratorAgainstTruth(key, fitted, score_curve(fitted), after.distance, after)
        )
    return tuple(comparisons)
