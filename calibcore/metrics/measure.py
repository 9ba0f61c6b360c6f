"""What a measure is: its declaration by kind, and what each row adds to one that is a mean."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from calibcore.data import EventScores
from calibcore.errors import CalibrationInputError
from calibcore.events import WithinTopR
from calibcore.probabilities import PROBABILITY_FLOOR
from calibcore.strips import row_strips
from calibcore.tally import Tally
from calibcore.validation import Floats, Labels
from calibcore.weights import RowWeights, row_mean


class RowValues(NamedTuple):
    """One value a row, with its mean and variance if the label came from the probabilities.

    All are of shape (n_samples,).
    """

    seen: Floats
    mean: Floats
    variance: Floats


def _moments(probabilities: Floats, labels: Labels, values: Floats) -> RowValues:
    """Return the moments of a block whose value for each class is known."""
    mean = np.einsum("ij,ij->i", probabilities, values)
    off = values - mean[:, np.newaxis]
    off *= off
    variance = np.einsum("ij,ij->i", probabilities, off)
    return RowValues(values[np.arange(len(labels)), labels], mean, variance)


def nll_rows(probabilities: Floats, labels: Labels) -> RowValues:
    """Return each row's `calibcore.metrics.nll`."""
    return _in_blocks(
        probabilities, labels, lambda block: -np.log(np.maximum(block, PROBABILITY_FLOOR))
    )


def brier_rows(probabilities: Floats, labels: Labels) -> RowValues:
    """Return each row's `calibcore.metrics.brier`."""

    def values(block: Floats) -> Floats:
        # |p - e_k|^2 = sum of the other classes' p^2 + (1 - p_k)^2
        squares = block * block
        others = squares.sum(axis=1, keepdims=True) - squares
        return np.asarray(others + np.square(1 - block))

    return _in_blocks(probabilities, labels, values)


def accuracy_rows(probabilities: Floats, labels: Labels) -> RowValues:
    """Return each row's `calibcore.metrics.accuracy`: 1 where the decision is right."""
    decided = probabilities.argmax(axis=1)
    score = probabilities[np.arange(len(labels)), decided]
    return RowValues((decided == labels).astype(np.float64), score, score * (1 - score))


def top_r_rows(probabilities: Floats, labels: Labels, r: int) -> RowValues:
    """Return each row's `calibcore.metrics.top_r_accuracy`; 1 where classes are fewer than r."""
    event = WithinTopR(min(r, probabilities.shape[1])).outcomes(probabilities, labels)
    score = event.scores
    return RowValues(event.hits.astype(np.float64), score, score * (1 - score))


def gain_rows(before: Floats, after: Floats, labels: Labels) -> RowValues:
    """Return each row's `calibcore.metrics.calibration_gain`.

    |p - e_k|^2 - |q - e_k|^2 = |p - q|^2 + 2 (p - q)(q - e_k), p before and q after; if q is true,
    the last term is 0 on average.
    """
    moments = np.empty((3, len(labels)))
    for rows in row_strips(*after.shape):
        moved, now, true = before[rows] - after[rows], after[rows], labels[rows]
        square = np.einsum("ij,ij->i", moved, moved)
        middle = np.einsum("ij,ij->i", moved, now)
        own = moved[np.arange(len(true)), true]
        moved -= middle[:, np.newaxis]
        moved *= moved
        moments[0, rows] = square + 2 * (middle - own)
        moments[1, rows] = square
        moments[2, rows] = 4 * np.einsum("ij,ij->i", moved, now)
    return RowValues(*moments)


def _in_blocks(
    probabilities: Floats, labels: Labels, values: Callable[[Floats], Floats]
) -> RowValues:
    moments = np.empty((3, len(labels)))
    for rows in row_strips(*probabilities.shape):
        block = probabilities[rows]
        moments[:, rows] = _moments(block, labels[rows], values(block))
    return RowValues(*moments)


# How the list of measures describes one -------------------------------------------------------


Group = Literal["cumulative", "binned", "kernel", "proper", "test", "plain"]
Unit = Literal["share", "nats", "squared", "small", "rows", "number"]
_EXTENTS = {
    "share": (0.0, 1.0), "squared": (0.0, 1.0), "small": (-2.0, 2.0),
    "number": (-math.inf, math.inf),
}  # fmt: skip
Better = Literal["lower", "higher", "nearer", "neither"]
Spread = Literal["percentile", "wilson", "reflected", "ranks", "lifted", "inverted", "expected"]


@dataclass(frozen=True)
class Options:
    """What a user may set for the measures."""

    n_bins: int = 15
    """Bins of every binned measure."""
    rough: bool = False
    """Kernel measures may be off by some 0.00001, where thousands of resamples are measured."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One quantity that is computed from scores and truth."""

    key: str
    """Name in code and exports."""
    name: str
    """Name on screen."""
    group: Group
    """Kind of quantity, by which tables gather them."""
    source: str
    """Paper it is taken from."""
    explained: str
    """What it is, in a sentence or a few."""
    formula: str = ""
    """Formula and conventions; empty where the function called as its key has them in its Notes."""
    unit: Unit = "share"
    """A share is shown in percent; small is a squared number of which more decimals are shown."""
    better: Better = "lower"
    """Direction in which a model improves; nearer means to ``ideal``, from either side."""
    ideal: float | None = None
    """What a perfectly calibrated model of unlimited size would show, where that is one number."""
    extent: tuple[float, float] | None = None
    """Its least and its largest value; None for those of its unit."""
    short: bool = False
    """Whether it is in the short list."""
    compares_pairs: bool = False
    """Whether it compares pairs of rows, which takes longer than all others together: it is
    computed alone, and comparisons leave it out.
    """
    is_tested_only: bool = False
    """Whether it is compared with perfect calibration alone: its value does not say how far the
    scores are from it, so it has no interval and its change none.
    """
    counts_rows: bool = False
    """Whether it is of counted rows, so that it has no form for sampling weights."""

    @property
    def range(self) -> tuple[float, float]:
        """Its least and its largest value."""
        return self.extent or _EXTENTS.get(self.unit, (0.0, math.inf))

    @property
    def asks_for_order(self) -> bool:
        """Whether it asks for the order of the classes alone, which a map of scores keeps."""
        return False

    @property
    def weighs(self) -> bool:
        """Whether it has a form for rows with sampling weights."""
        return not self.counts_rows


@dataclass(frozen=True, kw_only=True)
class EventMeasure(Measure):
    """A measure of one event's scores and hits."""

    compute: Callable[[Tally, Options], Floats]
    """(tally, options) to one number for each of its resamples, shape (...)."""
    interval: Spread = "percentile"
    """How its uncertainty is found. Inverted: it is a distance from perfect calibration, which
    noise can only lengthen. Lifted: noise raises it otherwise, and by less in a resample; by how
    much is found from drawn labels. Reflected: as much in a resample as in the rows. Wilson: it
    follows from the share of hits alone. Ranks: it is the area under the ROC curve. Expected: it
    compares the number of hits with that expected, and of few hits its interval agrees with a test
    of their number.
    """
    truth: Callable[[Tally, Options], Floats] | None = None
    """As ``compute``, of a tally whose hits are the expected ones, where that is another function.
    """
    rows: Callable[[EventScores], Floats] | None = None
    """(event) to what each row adds, shape (n_samples,), where the measure is their mean."""
    most: Callable[[Floats], Floats] | None = None
    """Of one that is lifted: (share of hits) to its largest value."""
    law: Callable[[float], float] | None = None
    """Of a test: (value) to its p-value, for values that no draw is as far as."""
    whole: bool = False
    """Whether drawn outcomes have to be 0 or 1, as logarithms of observed frequencies enter; others
    may be sums that vary as those of weighted rows do.
    """

    @property
    def is_distance(self) -> bool:
        """Whether it measures how far the scores are from perfect calibration."""
        return self.interval == "inverted"

    @property
    def is_resampled(self) -> bool:
        """Whether its interval comes from measuring resamples of the rows."""
        return self.rows is None and not self.is_distance and not self.is_tested_only

    def true_distance(self, expected: Tally, options: Options) -> float:
        """Return the value that infinitely many rows would show, from hits as they are expected."""
        return float(self.true_distances(expected, options))

    def true_distances(self, expected: Tally, options: Options) -> Floats:
        """Return `true_distance` for each of several expectations of the hits."""
        return (self.truth or self.compute)(expected, options)


@dataclass(frozen=True, kw_only=True)
class ClassMeasure(Measure):
    """A measure of all class probabilities and the labels."""

    compute: Callable[[Floats, Labels, Options], float]
    """(probabilities, labels, options) to a number."""
    weighted: Callable[[Floats, Labels, Options, RowWeights], float] | None = None
    """As ``compute``, of rows with weights, which come last; without it rows with weights are
    refused.
    """

    @property
    def weighs(self) -> bool:
        """Whether it has a form for rows with weights."""
        return self.weighted is not None

    def after(
        self,
        before: Floats,
        probabilities: Floats,
        labels: Labels,
        options: Options,
        weights: RowWeights | None = None,
    ) -> float:
        """Measure probabilities after calibration, given those before it.

        Raises
        ------
        CalibrationInputError
            Weights, where it has no form for them.
        """
        del before  # what has changed does not count
        if weights is None:
            return self.compute(probabilities, labels, options)
        if self.weighted is None:
            wanted = f"none, as {self.name} has no form for weighted rows"
            raise CalibrationInputError("sample_weight", "weights", wanted)
        return self.weighted(probabilities, labels, options, weights)


@dataclass(frozen=True, kw_only=True)
class RowMeasure(ClassMeasure):
    """A class measure that is a mean over the rows."""

    rows: Callable[[Floats, Labels], RowValues]
    """(probabilities, labels) to the value of each row."""
    first: int | None = None
    """How many of the most probable classes it asks about, where it asks for no more than which
    they are: a map of scores leaves it as it is, and it is 1 where there are no more classes.
    """

    def __post_init__(self) -> None:
        """Weigh what each row adds."""
        if self.weighted is None:
            object.__setattr__(self, "weighted", self._weighed)

    def _weighed(
        self, probabilities: Floats, labels: Labels, _options: Options, weights: RowWeights
    ) -> float:
        return row_mean(self.rows(probabilities, labels).seen, weights)

    @property
    def asks_for_order(self) -> bool:
        """Whether it asks for the order of the classes alone."""
        return self.first is not None


def _nothing(_probabilities: Floats, _labels: Labels, _options: Options) -> float:
    return 0.0


@dataclass(frozen=True, kw_only=True)
class ChangeMeasure(ClassMeasure):
    """What a change of the class probabilities brings, as a mean over the rows; before it, 0."""

    compute: Callable[[Floats, Labels, Options], float] = _nothing
    brought: Callable[[Floats, Floats, Labels], float]
    """(before, after, labels) to a number."""
    rows: Callable[[Floats, Floats, Labels], RowValues]
    """(before, after, labels) to the value of each row."""

    @property
    def weighs(self) -> bool:
        """Whether it has a form for rows with weights: that of a mean."""
        return True

    def after(
        self,
        before: Floats,
        probabilities: Floats,
        labels: Labels,
        options: Options,
        weights: RowWeights | None = None,
    ) -> float:
        """Measure what the change has brought; 0 where there was none."""
        del options
        if probabilities is before:
            return 0.0
        if weights is not None:
            return row_mean(self.rows(before, probabilities, labels).seen, weights)
        return self.brought(before, probabilities, labels)
