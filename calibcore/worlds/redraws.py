"""The same measures on many draws of one world: how far estimates are from the truth."""

from collections.abc import Sequence

import numpy as np

from calibcore import validation
from calibcore.inference.bootstrap import chunks
from calibcore.metrics import Options
from calibcore.metrics.kernel_draws import OF_EACH
from calibcore.results import find, result_class
from calibcore.tally import tally
from calibcore.validation import Floats
from calibcore.worlds.truth import EVENT_MEASURES
from calibcore.worlds.world import MOST_CELLS, Seed, World, streams_of

MOST_DRAWS = 100_000


@result_class
class Redraws:
    """Measures of many draws of one world, with what they aim at.

    Attributes
    ----------
    keys : tuple of str
        The measures.
    values : ndarray of float64, shape (n_draws, n_measures)
        Of each draw; of a measure in rows, the share of them. NaN where it is not defined.
    aims : ndarray of float64, shape (n_measures,)
        What each measure is an estimate of: `calibcore.worlds.Population.aim`.
    limits : ndarray of float64, shape (n_measures,)
        What each would be with rows without number: `calibcore.worlds.Population.measure`.
    n_rows : int
        Rows of each draw.
    """

    keys: tuple[str, ...]
    values: Floats
    aims: Floats
    limits: Floats
    n_rows: int

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
