"""The two halves of a world: how often an event happens at a score, and which scores there are."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.data import EventScores, LogitSet, with_groups
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass, TopR
from calibcore.probabilities import log_odds, sigmoid
from calibcore.results import result_class
from calibcore.synthetic.truth import Truth
from calibcore.validation import Floats, Labels

STEEPEST = 100.0
"""Largest slope, shift and wave of a curve, in log-odds."""

FARTHEST = 16.0
"""Log-odds at which scores end, so that none is so near to 0 or 1 that it is rounded to it."""


@dataclass(frozen=True)
class LogOddsCurve:
    """True frequency of an event at each score, by its log-odds.

    Parameters
    ----------
    slope : float, default 1.0
        Below 1 scores are too extreme (overconfident), above 1 too timid; it is the true
        `calibcore.metrics.calibration_slope` where there is no wave.
    shift : float, default 0.0
        Above 0 scores are too low, below 0 too high.
    wave : float, default 0.0
        Scores are too low below one half and too high above it, or the reverse below 0.

    Raises
    ------
    CalibrationInputError
        A value beyond -100 to 100.

    Notes
    -----
    logit p = shift + slope logit s + wave sin(2 pi s).

    References
    ----------
    Cox, *Biometrika* 1958, for slope and shift.

    Examples
    --------
    >>> LogOddsCurve(slope=0.5).frequency([0.2, 0.5, 0.8]).round(3).tolist()
    [0.333, 0.5, 0.667]
    """

    slope: float = 1.0
    shift: float = 0.0
    wave: float = 0.0

    def __post_init__(self) -> None:
        """Raise if a number is too large."""
        for name in ("slope", "shift", "wave"):
            validation.number(getattr(self, name), name, least=-STEEPEST, most=STEEPEST)

    def frequency(self, scores: ArrayLike) -> Floats:
        """Return how often the event truly happens.

        Parameters
        ----------
        scores : array_like of float, shape (...)
            Predicted probability of the event (y_prob), in [0, 1].

        Returns
        -------
        ndarray of float64, shape (...)
            In [0, 1].

        Raises
        ------
        CalibrationInputError
            Scores out of range.
        """
        checked = _scores(scores)
        if (self.slope, self.shift, self.wave) == (1, 0, 0):
            return checked  # to the last digit
        waves = self.wave * np.sin(2 * np.pi * checked) if self.wave else 0.0
        return sigmoid(self.shift + self.slope * log_odds(checked) + waves)


@dataclass(frozen=True)
class HandCurve:
    """True frequency of an event at each score, drawn by hand.

    Parameters
    ----------
    handles : tuple of float
        Frequencies at equally spaced scores from 0 to 1, at least two; straight lines between.

    Raises
    ------
    CalibrationInputError
        Fewer than two handles, or one that is not from 0 to 1.

    Examples
    --------
    >>> HandCurve((0.0, 0.8, 1.0)).frequency([0.25, 0.5]).tolist()
    [0.4, 0.8]
    """

    handles: tuple[float, ...]

    def __post_init__(self) -> None:
        """Raise if these are no frequencies."""
        if not isinstance(self.handles, tuple) or len(self.handles) < 2:
            raise CalibrationInputError(
                "handles", repr(self.handles), "a tuple of 2 numbers or more"
            )
        for handle in self.handles:
            validation.number(handle, "handles", least=0, most=1)

    def frequency(self, scores: ArrayLike) -> Floats:
        """Return how often the event truly happens, as `LogOddsCurve.frequency` does."""
        places = np.linspace(0, 1, len(self.handles))
        return np.asarray(np.interp(_scores(scores), places, self.handles), dtype=np.float64)


Curve = LogOddsCurve | HandCurve


@dataclass(frozen=True)
class NormalScores:
    """Scores whose log-odds are normal, or two normal distributions of equal size.

    Parameters
    ----------
    centre : float
        Mean of the log-odds.
    spread : float
        Their standard deviation, of each of the two.
    apart : float, default 0.0
        How far the two lie from their mean, in log-odds; 0: they are one.

    Raises
    ------
    CalibrationInputError
        A centre beyond -100 to 100, a spread or a distance that is not from 0 to 100.

    Notes
    -----
    Log-odds end at `FARTHEST` on both sides: what is beyond is moved there.

    Examples
    --------
    >>> NormalScores(centre=1.0, spread=0.0).points(2).round(3).tolist()
    [0.731, 0.731]
    """

    centre: float
    spread: float
    apart: float = 0.0

    def __post_init__(self) -> None:
        """Raise if these are no distributions."""
        validation.number(self.centre, "centre", least=-STEEPEST, most=STEEPEST)
        for name in ("spread", "apart"):
            validation.number(getattr(self, name), name, least=0, most=STEEPEST)

    def points(self, n_points: int) -> Floats:
        """Return scores that each stand for equally many rows, ascending, shape (n_points,).

        They are the quantiles in the middle of equal shares, of each of the two by itself.

        Parameters
        ----------
        n_points : int
            An even number.
        """
        if not self.apart:
            return squeezed(self.centre + self.spread * middles(n_points))
        half, sides = self.spread * middles(n_points // 2), (-self.apart, self.apart)
        return squeezed(np.sort(np.concatenate([self.centre + side + half for side in sides])))

    def draw(
        self, normal: np.random.Generator, side: np.random.Generator, shape: tuple[int, ...]
    ) -> Floats:
        """Draw scores.

        Parameters
        ----------
        normal, side : numpy.random.Generator
            For the places, and for which of the two distributions.
        shape : tuple of int
            Shape of what is returned.
        """
        odds = self.centre + self.spread * normal.standard_normal(shape)
        if self.apart:
            odds += np.where(side.random(shape) < 0.5, -self.apart, self.apart)
        return squeezed(odds)


def squeezed(odds: Floats) -> Floats:
    """Turn log-odds into scores, those beyond `FARTHEST` into its own."""
    return sigmoid(np.clip(odds, -FARTHEST, FARTHEST))


@cache
def middles(n: int) -> Floats:
    """Return the normal quantiles in the middle of n equal shares, read-only."""
    from scipy.special import ndtri  # noqa: PLC0415 - a tenth of a second to import

    quantiles: Floats = ndtri((np.arange(n) + 0.5) / n)
    quantiles.flags.writeable = False
    return quantiles


def at_other_odds(frequency: Floats, shift: float) -> Floats:
    """Return frequencies whose log-odds are higher by a shift; 0 and 1 stay.

    >>> at_other_odds(np.array([0.0, 0.5, 1.0]), math.log(3)).round(3).tolist()
    [0.0, 0.75, 1.0]
    """
    factor = math.exp(shift)
    return frequency * factor / (frequency * factor + (1 - frequency))


def _scores(scores: ArrayLike) -> Floats:
    """Check scores of any shape."""
    array = validation.real_array(scores, "scores")
    return validation.scores(array.ravel()).reshape(array.shape)


# A model whose truth is known, and rows drawn from it -----------------------------------------


Seed = int | list[int] | tuple[int, ...]

N_POINTS = 25_200
"""Scores that stand for all: a multiple of twice every usual number of bins, so none is cut."""

WIDEST = 3.0
"""Standard deviation of the scores' log-odds where sharpness is 1."""

MOST_CLASSES, MOST_CELLS = 1_000, 10_000_000
"""Of a draw: classes, and rows times classes."""

DIAGONAL = LogOddsCurve()
"""Scores are the true frequencies."""

_STREAMS = 8
_GRID, _FEW_POINTS, _MORE_POINTS, _HALVINGS, _STEP = 61, 420, 2_520, 20, 1e-3
_FARTHEST_STEP = 0.05
_LEVEL = 1e-9
"""Means nearer to each other than this are equal."""

_BELOW = 1 - 2.0**-20
"""How much of the room below the top score a split may fill, so that no other class reaches it."""


@result_class
class WorldSample:
    """Rows drawn from a world."""

    rows: LogitSet
    """Class probabilities and true classes."""
    event: EventScores
    """The world's event in them: scores and hits."""
    frequency: Floats
    """True probability of the event, of each row; shape (n_rows,)."""
    groups: Labels | None
    """0 or 1, where the world has groups; ``rows`` and ``event`` are told them too; shape
    (n_rows,).
    """


@dataclass(frozen=True)
class World:
    """A model whose truth is known: how often its event happens at each score.

    Parameters
    ----------
    curve : LogOddsCurve or HandCurve, optional
        True frequency of the event at each score; perfectly calibrated by default.
    n_classes : int, default 2
        With 2 the event is class 1. With more it is that the top prediction is correct, and scores
        are above 1 / n_classes.
    sharpness : float, default 0.5
        From 0 (one score for all rows) to 1: how far scores lie from their centre.
    base_rate : float, default 0.5
        How often the event should happen, from 0 to 1; see `rate`.
    group_shift : float, default 0.0
        Log-odds from -10 to 10 by which the event is more frequent than the curve in group 1, and
        less in group 0, two groups of equal size and equal scores. 0: there are no groups.
    scores : NormalScores, optional
        Which scores there are; sharpness and base rate then mean nothing.

    Raises
    ------
    CalibrationInputError
        A value out of its range.

    Notes
    -----
    A score is x, or with K > 2 classes 1 / K + (1 - 1 / K) x, where the log-odds of x are normal.
    Their standard deviation is 3 times the sharpness; their mean is the one at which the event is
    as frequent as the base rate. Of several, and where all are equally near, it is the one whose
    mean score is nearest to the base rate.

    Examples
    --------
    >>> world = World(LogOddsCurve(slope=0.5, shift=-0.25), base_rate=0.3)
    >>> round(world.rate, 4), round(world.truth().mean_score, 3)
    (0.3, 0.269)
    >>> drawn = world.draw(1_000, seed=7)
    >>> drawn.event.n_samples, abs(drawn.event.hits.mean() - 0.3) < 0.05
    (1000, np.True_)
    """

    curve: Curve = DIAGONAL
    n_classes: int = 2
    sharpness: float = 0.5
    base_rate: float = 0.5
    group_shift: float = 0.0
    scores: NormalScores | None = None

    def __post_init__(self) -> None:
        """Raise if a value is out of its range."""
        if not isinstance(self.curve, LogOddsCurve | HandCurve):
            raise CalibrationInputError("curve", repr(self.curve), "a LogOddsCurve or a HandCurve")
        validation.whole_number(self.n_classes, "n_classes", least=2, most=MOST_CLASSES)
        validation.number(self.sharpness, "sharpness", least=0, most=1)
        validation.number(self.base_rate, "base_rate", least=0, most=1)
        validation.number(self.group_shift, "group_shift", least=-10, most=10)
        if not isinstance(self.scores, NormalScores | None):
            raise CalibrationInputError("scores", repr(self.scores), "NormalScores or None")

    @property
    def event(self) -> OneClass | TopR:
        """What is predicted about: class 1 of two, or else that the top prediction is correct."""
        return OneClass(1) if self.n_classes == 2 else TopR(1)

    @cached_property
    def spread_of_scores(self) -> NormalScores:
        """Which scores there are, with the centre that gives the base rate."""
        return self.scores or NormalScores(self._centre(), WIDEST * self.sharpness)

    @cached_property
    def rate(self) -> float:
        """How often the event truly happens: the base rate, or what the curve allows next to it."""
        return self.truth().rate

    def frequency(self, scores: ArrayLike, groups: ArrayLike | None = None) -> Floats:
        """Return how often the event truly happens.

        Parameters
        ----------
        scores : array_like of float, shape (...)
            Predicted probability of the event (y_prob), in [0, 1].
        groups : array_like of {0, 1}, shape (...), optional
            Group of each row; without it the mean of both groups.

        Returns
        -------
        ndarray of float64, shape (...)

        Raises
        ------
        CalibrationInputError
            Scores out of range, groups of a world without them, or other ones.
        """
        pooled = self.curve.frequency(scores)
        if groups is None and not self.group_shift:
            return pooled
        low, high = (at_other_odds(pooled, side * self.group_shift) for side in (-1, 1))
        if groups is None:
            return (low + high) / 2
        known = np.asarray(groups)
        if not self.group_shift or not ((known == 0) | (known == 1)).all():
            expected = "0 or 1 for each row" if self.group_shift else "none, in a world without any"
            raise CalibrationInputError("groups", "other groups", expected)
        return np.where(known == 1, high, low)

    def truth(self, group: int | None = None) -> Truth:
        """Return what is true of this world.

        Parameters
        ----------
        group : {0, 1}, optional
            Of the rows of one group; without it of all rows, whose groups nobody is told.

        Raises
        ------
        CalibrationInputError
            A group that there is not.
        """
        if group is None:
            return self._truth
        return self._truth_at(partial(self.frequency, groups=group))

    def draw(self, n_rows: int, *, seed: Seed) -> WorldSample:
        """Draw rows.

        Parameters
        ----------
        n_rows : int
            At least 1; times classes at most 10,000,000.
        seed : int, or list or tuple of int
            Not below 0. The first rows of a longer draw are those of a shorter one, and the scores
            are those of any world that has the same ones.

        Returns
        -------
        WorldSample

        Raises
        ------
        CalibrationInputError
            Too few or too many rows, or a seed below 0.

        Notes
        -----
        With more than two classes the predicted class is any. What its score leaves to 1 is split
        among the others at random (Dirichlet), and blended with an equal split as far as it takes
        for none of them to reach the score. If the prediction is wrong, the true class is another
        one with a probability in proportion to its share.
        """
        n_rows = validation.whole_number(
            n_rows, "n_rows", least=1, most=MOST_CELLS // self.n_classes
        )
        streams = streams_of(seed)
        scores, frequency, hits, groups = self.draw_events(streams, (n_rows,))
        if self.n_classes == 2:
            table, labels = np.column_stack([1 - scores, scores]), hits.astype(np.int64)
        else:
            table, labels = _classes(scores, hits, self.n_classes, streams)
        rows = LogitSet.from_probabilities(table, labels)
        event = self.event.outcomes(rows.probabilities, labels)
        if groups is not None:
            rows, event = with_groups(rows, groups), with_groups(event, groups)
        return WorldSample(rows, event, frequency, groups)

    def draw_events(
        self, streams: "Streams", shape: tuple[int, ...]
    ) -> tuple[Floats, Floats, NDArray[np.bool_], Labels | None]:
        """Draw scores and outcomes of the event alone.

        Parameters
        ----------
        streams : list of numpy.random.Generator
            Of `streams_of`; going on with them draws further rows.
        shape : tuple of int
            Shape of each array.

        Returns
        -------
        scores, frequency : ndarray of float64
        hits : ndarray of bool
        groups : ndarray of int64, or None
        """
        normal, side, group, outcome = streams[:4]
        scores = self._scored(self.spread_of_scores.draw(normal, side, shape))
        groups = None
        if self.group_shift:
            groups = group.integers(2, size=shape)
        frequency = self.frequency(scores, groups)
        return scores, frequency, outcome.random(shape) < frequency, groups

    @cached_property
    def _truth(self) -> Truth:
        return self._truth_at(self.frequency)

    def _truth_at(self, curve: Callable[[ArrayLike], Floats]) -> Truth:
        scores = self._scored(self.spread_of_scores.points(N_POINTS))
        return Truth(scores, curve(scores), curve)

    def _scored(self, places: Floats) -> Floats:
        """Return scores at places from 0 to 1 of their range."""
        if self.n_classes == 2:
            return places
        least = 1 / self.n_classes
        return least + (1 - least) * places

    def _centre(self) -> float:
        """Find the centre at which the event is as frequent as the base rate."""
        centres = np.linspace(-FARTHEST, FARTHEST, _GRID)
        rates, means = self._means(centres, _FEW_POINTS)
        gaps = rates - self.base_rate
        gaps[np.abs(gaps) < _LEVEL] = 0
        above = gaps >= 0
        far = np.abs(means - self.base_rate)
        crossings = np.flatnonzero(above[1:] != above[:-1])
        if crossings.size == 0:
            nearest = np.flatnonzero(np.abs(gaps) <= np.abs(gaps).min() + _LEVEL)
            return float(centres[nearest[far[nearest].argmin()]])
        first = crossings[far[crossings].argmin()]
        ends = [float(centres[first]), float(centres[first + 1])]
        for _ in range(_HALVINGS):
            middle = sum(ends) / 2
            rate = self._means(np.array([middle]), _MORE_POINTS)[0][0]
            ends[int((rate >= self.base_rate) != above[first])] = middle
        centre = sum(ends) / 2
        here, beyond = self._means(np.array([centre, centre + _STEP]), N_POINTS)[0]
        if abs(beyond - here) < _LEVEL:
            return centre
        step = (self.base_rate - here) / (beyond - here) * _STEP  # of all the points
        return centre + float(np.clip(step, -_FARTHEST_STEP, _FARTHEST_STEP))

    def _means(self, centres: Floats, n_points: int) -> tuple[Floats, Floats]:
        """Return the frequency of the event and the mean score, of each centre."""
        odds = centres[:, np.newaxis] + WIDEST * self.sharpness * middles(n_points)
        scores = self._scored(squeezed(odds))
        return self.frequency(scores).mean(axis=1), scores.mean(axis=1)


Streams = list[np.random.Generator]


def streams_of(seed: Seed) -> Streams:
    """Return a generator for each thing that is drawn, so that none moves another.

    Raises `CalibrationInputError` for a seed that is no whole number from 0, nor a list or tuple of
    some.
    """
    several = seed if isinstance(seed, list | tuple) else [seed]
    checked = [validation.whole_number(one, "seed", least=0) for one in several]
    return [np.random.default_rng(one) for one in np.random.SeedSequence(checked).spawn(_STREAMS)]


def _classes(
    scores: Floats, hits: NDArray[np.bool_], n_classes: int, streams: Streams
) -> tuple[Floats, Labels]:
    """Return class probabilities whose largest are the scores, and true classes."""
    predicted, splits, true = streams[4:7]
    n_rows, level = scores.size, 1 / (n_classes - 1)
    top = predicted.integers(n_classes, size=n_rows)
    split = splits.standard_exponential((n_rows, n_classes - 1))
    split /= split.sum(axis=1, keepdims=True)
    room = scores / (1 - scores) - level
    needed = np.maximum(split.max(axis=1) - level, np.finfo(np.float64).tiny)
    blend = np.minimum(_BELOW * room / needed, 1)[:, np.newaxis]
    split = (1 - blend) * level + blend * split
    totals = np.cumsum(split, axis=1)
    thrown = true.random(n_rows)[:, np.newaxis] * totals[:, -1:]
    other = 1 + np.count_nonzero(totals <= thrown, axis=1)
    ranked = np.column_stack([scores, (1 - scores)[:, np.newaxis] * split])
    places = (np.arange(n_classes) - top[:, np.newaxis]) % n_classes
    table = np.take_along_axis(ranked, places, axis=1)
    return table, (top + np.where(hits, 0, other)) % n_classes


def zhang_world(beta0: float, beta1: float) -> World:
    """Make the classifier of two parameters that Zhang 2020 compares estimators of the ECE on.

    Parameters
    ----------
    beta0, beta1 : float
        Zhang's less calibrated case is (0.5, -1.5), the better one (0.2, -1.9); (0, -2) is
        perfectly calibrated.

    Raises
    ------
    CalibrationInputError
        A beta0 beyond -10 to 10, a beta1 that is not from -10 to -0.1.

    Notes
    -----
    Two classes are equally likely, and a number x is normal with standard deviation 1, about -1 in
    class 1 and about 1 in class 0. The score of class 1 is 1 / (1 + exp(-beta0 - beta1 x)), its
    true frequency at x is 1 / (1 + exp(2 x)): so at score s it has the log-odds
    -2 (logit s - beta0) / beta1. With beta1 above 0 higher scores would go with fewer events.

    References
    ----------
    Zhang, Kailkhura, Han, ICML 2020, section 5.1; Vaicenavicius et al., AISTATS 2019.

    Examples
    --------
    >>> zhang_world(0, -2).truth().mean_distance < 1e-12
    True
    >>> zhang_world(0.5, -1.5).rate
    0.5
    """
    validation.number(beta0, "beta0", least=-10, most=10)
    validation.number(beta1, "beta1", least=-10, most=-0.1)
    curve = LogOddsCurve(slope=-2 / beta1, shift=2 * beta0 / beta1)
    return World(curve, scores=NormalScores(beta0, -beta1, apart=-beta1))
