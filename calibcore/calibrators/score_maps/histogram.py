"""Histogram binning: every score becomes the frequency observed in its bin."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.binning import Binning, bin_places, bin_scores, equal_width_edges
from calibcore.calibrators.base import (
    AT_LEAST_0,
    EDGES,
    PARTS,
    Breaks,
    FittedScoreMap,
    Lengths,
    Rules,
    ScoreMap,
)
from calibcore.calibrators.descriptions import Description, DescriptionTable, Recipe, percent, steps
from calibcore.calibrators.method import Choice, Cost, Fits, Method, WholeNumber
from calibcore.results import result_class
from calibcore.validation import Floats
from calibcore.weights import RowWeights, SampleWeight, event_rows


@result_class
class FittedHistogram(FittedScoreMap):
    """A fitted histogram."""

    edges: Floats
    """From 0 to 1. Bin b is (edges[b], edges[b + 1]]; the first one holds 0 too; shape (n_bins +
    1,).
    """
    counts: NDArray[np.int64]
    """Calibration rows in each bin; shape (n_bins,)."""
    frequency: Floats
    """Observed frequency; 0 in an empty bin, where it is not used; shape (n_bins,)."""

    HAS_BREAKS: ClassVar[bool] = True
    RULES: ClassVar[Rules] = {"edges": EDGES, "counts": AT_LEAST_0, "frequency": PARTS}
    ALIKE: ClassVar[Lengths] = ({"edges": -1, "counts": 0, "frequency": 0},)

    @cached_property
    def _equal_width(self) -> bool:
        return np.array_equal(self.edges, equal_width_edges(self.counts.size))

    @cached_property
    def _answers(self) -> Floats:
        return np.where(self.counts > 0, self.frequency, np.nan)

    def predict(self, scores: ArrayLike) -> Floats:
        """Calibrate scores: the frequency of their bin; in an empty bin the score itself."""
        checked = validation.scores(scores)
        bins = _bins(checked, self.edges, equal_width=self._equal_width)
        answers = self._answers.take(bins)
        empty = np.isnan(answers)
        if empty.any():
            answers[empty] = checked[empty]
        return answers

    def recipe(self) -> Recipe:
        heights = np.where(self.counts > 0, self.frequency, -1.0)
        numbers, lines = steps(self.edges[1:-1], heights, "left")
        return numbers, [*lines, "y = np.where(y < 0, x, y)  # a bin without rows changes nothing"]

    def breaks(self) -> Breaks:
        return Breaks(ends=self.edges)

    def describe(self) -> Description:
        bins = zip(self.edges[:-1], self.edges[1:], self.counts, self.frequency, strict=True)
        rows = [
            (
                f"{percent(low)}\u2013{percent(high)}",
                f"{count:,}",
                percent(frequency) if count else "\u2013",
            )
            for low, high, count, frequency in bins
        ]
        return Description(
            "The calibrated score is the observed frequency of the bin; an empty bin changes"
            " nothing.",
            DescriptionTable(("Scores above\u2013up to", "Count", "Observed frequency"), rows),
        )


@dataclass(frozen=True)
class HistogramBinning(ScoreMap):
    """Replace each score with the observed frequency in its bin.

    Parameters
    ----------
    n_bins : int, default 15
        At least 1. Vasilev 2023 uses 20.
    binning : {"equal_width", "equal_mass"}, default "equal_width"
        Bins as wide as each other, or holding as many calibration rows as each other.

    Notes
    -----
    Bins are those of `calibcore.binning.bin_scores`: (lower, upper], tied scores together, and as
    many as asked for. A bin without calibration rows leaves its scores as they are. A bin whose
    rows are all hits or all misses gives exactly 1 or 0, so the NLL of other rows can be infinite.

    References
    ----------
    Zadrozny and Elkan, *Obtaining calibrated probability estimates from decision trees and naive
    Bayesian classifiers*, ICML 2001; Guo et al., ICML 2017, section 4.1.

    Examples
    --------
    >>> fitted = HistogramBinning(n_bins=2).fit([0.1, 0.4, 0.6, 0.7], [0, 1, 1, 1])
    >>> fitted.predict([0.5, 0.51]).tolist()
    [0.5, 1.0]
    """

    HAS_BREAKS: ClassVar[bool] = True

    n_bins: int = 15
    binning: Binning = "equal_width"

    def __post_init__(self) -> None:
        """Check the options."""
        validation.whole_number(self.n_bins, "n_bins", least=1, most=1_000_000)
        validation.choice(self.binning, "binning", allowed=("equal_width", "equal_mass"))

    def fit(
        self, scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None
    ) -> FittedHistogram:
        weights = None
        if sample_weight is None:
            rows, happened = validation.scores_and_hits(scores, hits)
        else:
            rows, happened, weights = event_rows(scores, hits, sample_weight)
        if self.binning == "equal_width":
            edges = equal_width_edges(self.n_bins)
        else:
            edges = bin_scores(
                scores, hits, n_bins=self.n_bins, binning=self.binning, sample_weight=sample_weight
            ).edges
        bins = _bins(rows, edges, equal_width=self.binning == "equal_width")
        bins += np.multiply(happened, self.n_bins, dtype=np.int32)  # hits are counted apart
        n_misses, n_hits = np.bincount(bins, minlength=2 * self.n_bins).reshape(2, -1)
        counts = n_misses + n_hits
        frequency = n_hits / np.maximum(counts, 1)
        if weights is not None:
            sums = np.bincount(bins, weights, minlength=2 * self.n_bins).reshape(2, -1)
            total = sums.sum(axis=0)
            frequency = np.divide(sums[1], total, out=np.zeros_like(total), where=counts > 0)
            if isinstance(sample_weight, RowWeights) and sample_weight.counts:
                counts, n_hits = (np.rint(one).astype(np.int64) for one in (total, sums[1]))
        return FittedHistogram(
            edges, counts, frequency, warnings=_warnings(edges, counts, int(n_hits.sum()))
        )


def _bins(scores: Floats, edges: Floats, *, equal_width: bool) -> NDArray[np.intp]:
    if equal_width:  # takes a third of the time of a search
        return bin_places(scores, edges.size - 1)
    return np.searchsorted(edges[1:-1], scores, side="left")


def _warnings(edges: Floats, counts: NDArray[np.int64], n_hits: int) -> tuple[str, ...]:
    warnings = []
    if n_hits in (0, counts.sum()):
        row = "a hit" if n_hits else "a miss"
        warnings.append(f"Every calibration row is {row}, so the scores of its bin become certain.")
    if counts.all():
        return tuple(warnings)
    lowest = int(np.flatnonzero(counts)[0])  # below, there may be no score: top-1 reaches 1 / K
    empty = np.count_nonzero(((counts == 0) & (edges[1:] > edges[:-1]))[lowest:])
    if empty:
        warnings.append(
            f"{empty:,} of the {counts.size - lowest:,} bins from the lowest calibration score up"
            " hold no calibration row; scores there stay as they are."
        )
    return tuple(warnings)


BINS = (
    WholeNumber("n_bins", 15, 2, 50),
    Choice("binning", "equal_width", ("equal_width", "equal_mass")),
)
"""Options of every calibrator that is made of bins."""


HISTOGRAM = Method(
    key="histogram",
    name="Histogram binning of the event",
    short="Histogram",
    factory=HistogramBinning,
    options=BINS,
    paper="Zadrozny 2001; Guo 2017, section 4.1 (two classes)",
    explained="Replaces the score of the event with the observed frequency in its bin.",
    formula="observed frequency of the score's bin",
    acts_on="event",
    preserves_accuracy=True,
    fits=Fits("curves", 1),
    cost=Cost((30, 10, 3)),
)
