"""Bayesian binning into quantiles: an average over histograms, each weighted by its evidence."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.calibrators.base import (
    PARTS,
    POSITIVE,
    RISING_PARTS,
    SHARES,
    Breaks,
    FittedScoreMap,
    Lengths,
    Rules,
    ScoreMap,
)
from calibcore.calibrators.descriptions import Description, DescriptionTable, Recipe, percent, steps
from calibcore.calibrators.method import Cost, Fits, Method
from calibcore.ordering import tie_ends
from calibcore.results import result_class
from calibcore.validation import Floats, Hits
from calibcore.weights import EventRows, SampleWeight, event_rows

PRIOR_ROWS = 2.0
"""Rows that the prior of each bin is worth."""

PRIOR_BOUND = 5e-3
"""Nearest that the prior mean of a bin comes to 0 or 1."""

_SMALLEST_WEIGHT = 2.0**-60
"""Share of the largest weight below which a binning cannot change the last digit."""

_ROUNDING = 1e-9
"""Rows that rounding may take off a sum of weights."""


@result_class
class FittedBBQ(FittedScoreMap):
    """A fitted average of histograms, which is itself a step function."""

    edges: Floats
    """Scores up to and including edges[k] belong to step k or a lower one; shape (n_steps - 1,)."""
    heights: Floats
    """Calibrated score of each step; shape (n_steps,)."""
    n_bins: NDArray[np.int64]
    """Bins of each binning that counts; shape (n_binnings,)."""
    weights: Floats
    """Its posterior probability; together 1; shape (n_binnings,)."""

    HAS_BREAKS: ClassVar[bool] = True
    RULES: ClassVar[Rules] = {
        "edges": RISING_PARTS,
        "heights": PARTS,
        "n_bins": POSITIVE,
        "weights": SHARES,
    }
    ALIKE: ClassVar[Lengths] = ({"edges": 1, "heights": 0}, {"n_bins": 0, "weights": 0})

    def predict(self, scores: ArrayLike) -> Floats:
        """Calibrate scores; none becomes 0 or 1."""
        steps = np.searchsorted(self.edges, validation.scores(scores), side="left")
        return np.asarray(self.heights[steps])

    def recipe(self) -> Recipe:
        return steps(self.edges, self.heights, "left")

    def breaks(self) -> Breaks:
        return Breaks(ends=self.edges)

    def describe(self) -> Description:
        order = np.argsort(-self.weights, kind="stable")
        rows = [(f"{self.n_bins[k]:,}", percent(self.weights[k])) for k in order]
        return Description(
            f"A mean of {len(rows):,} histograms by their posterior probability: together"
            f" {self.heights.size:,} steps.",
            DescriptionTable(("Bins", "Probability"), rows),
        )


@dataclass(frozen=True)
class BBQ(ScoreMap):
    """Average the histograms of all sensible numbers of bins, the likelier the more.

    Notes
    -----
    p(s) = sum_B P(B | data) (hits in the bin of s + 2 m) / (rows in it + 2), over equal-mass
    binnings with B bins, where m is the middle of the bin. The prior of a bin's frequency is a beta
    distribution of mean m worth 2 rows (the paper's N' = 2 B), so

        P(data | B) = prod_b [Gamma(2) / Gamma(n_b + 2)] [Gamma(h_b + 2 m_b) / Gamma(2 m_b)]
                      [Gamma(n_b - h_b + 2 - 2 m_b) / Gamma(2 - 2 m_b)],

    and every B is as probable beforehand. B runs from floor(N^(1/3) / 10), at least 1, to
    ceil(10 N^(1/3)), or to ceil(N / 5) if that is less: so does the authors' program, which also
    holds m in [0.005, 0.995].

    Bins are those of `calibcore.binning.bin_scores`: an edge is the score of a row, tied scores
    stay together, and a bin left empty by ties has the likelihood 1 and the frequency m. The
    authors' program cuts halfway between two rows, gives up such bins, estimates a bin by
    (h_b + p0) / (n_b + 1) with p0 from the scores of its hits, and drops binnings whose evidence is
    small by an elbow rule; here the estimate is the posterior mean and all binnings count.

    Sampling weights, of mean 1, are summed in place of rows and hits: a pseudo-posterior.

    References
    ----------
    Naeini, Cooper, Hauskrecht, *Obtaining well calibrated probabilities using Bayesian binning*,
    AAAI 2015. Weights: Savitsky and Toth, *Electronic Journal of Statistics* 2016.

    Examples
    --------
    >>> fitted = BBQ().fit([0.1, 0.2, 0.6, 0.7, 0.8, 0.9], [0, 0, 0, 1, 1, 1])
    >>> fitted.n_bins.tolist(), fitted.weights.round(3).tolist()
    ([1, 2], [0.023, 0.977])
    >>> fitted.predict([0.1, 0.9]).round(3).tolist()
    [0.129, 0.91]
    """

    HAS_BREAKS: ClassVar[bool] = True

    def fit(
        self, scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None
    ) -> FittedBBQ:
        ordered_rows = event_rows(scores, hits, sample_weight)
        bins = _all_bins(ordered_rows)
        evidence = np.add.reduceat(_log_evidence(bins), bins.first)
        weights = np.exp(evidence - evidence.max())
        counted = weights >= _SMALLEST_WEIGHT
        weights = np.where(counted, weights, 0.0)
        weights /= weights.sum()
        edges, heights = _average(bins, weights)
        return FittedBBQ(
            edges,
            heights,
            bins.n_bins[counted],
            weights[counted],
            warnings=_warnings(ordered_rows.hits),
        )


class _Bins(NamedTuple):
    """All bins of all binnings, one binning after the other."""

    n_bins: NDArray[np.int64]
    first: NDArray[np.int64]
    lower: Floats
    rows: Floats
    hits: Floats
    prior: Floats

    @property
    def mean(self) -> Floats:
        """Posterior mean of each bin's frequency."""
        return (self.hits + PRIOR_ROWS * self.prior) / (self.rows + PRIOR_ROWS)


def bin_range(n_rows: int) -> tuple[int, int]:
    """Return the least and the largest number of bins for a number of rows."""
    # In whole numbers: the cube root of a cube is seldom a whole number in floating point.
    most = round(10 * n_rows ** (1 / 3))
    while most**3 < 1000 * n_rows:
        most += 1
    while (most - 1) ** 3 >= 1000 * n_rows:
        most -= 1
    least = most // 100 + 1
    while (10 * least) ** 3 > n_rows:
        least -= 1
    return max(1, least), min(most, -(-n_rows // 5))


def _all_bins(ordered_rows: EventRows) -> _Bins:
    ordered, hits, weights = ordered_rows
    each = np.ones(ordered.size) if weights is None else weights
    so_far = np.cumsum(each)
    n_rows = round(float(so_far[-1]))
    least, most = bin_range(n_rows)
    n_bins = np.arange(least, most + 1)
    first = np.cumsum(n_bins) - n_bins
    own = np.repeat(n_bins, n_bins)
    place = np.arange(own.size) - np.repeat(first, n_bins)
    ends = tie_ends(ordered) + 1
    block_end = np.repeat(ends, np.diff(ends, prepend=0))  # of each row
    below = place * n_rows // own  # rows below each bin, but for ties; 0 in the first bins only
    last = np.searchsorted(so_far, below - _ROUNDING)
    start = np.where(place > 0, block_end[last], 0)
    lower = np.where(place > 0, ordered[last], 0.0)
    is_last = place == own - 1
    end = np.where(is_last, ordered.size, np.roll(start, -1))
    upper = np.where(is_last, 1.0, np.roll(lower, -1))
    totals, of_hits = (np.append(0.0, np.cumsum(one)) for one in (each, each * hits))
    return _Bins(
        n_bins=n_bins,
        first=first,
        lower=lower,
        rows=totals[end] - totals[start],
        hits=of_hits[end] - of_hits[start],
        prior=np.clip((lower + upper) / 2, PRIOR_BOUND, 1 - PRIOR_BOUND),
    )


def _log_evidence(bins: _Bins) -> Floats:
    """Return the logarithm of each bin's marginal likelihood."""
    from scipy.special import gammaln  # noqa: PLC0415 - a tenth of a second to import

    of_hit, of_miss = PRIOR_ROWS * bins.prior, PRIOR_ROWS * (1 - bins.prior)
    return np.asarray(
        gammaln(PRIOR_ROWS)
        - gammaln(bins.rows + PRIOR_ROWS)
        + gammaln(bins.hits + of_hit)
        - gammaln(of_hit)
        + gammaln(bins.rows - bins.hits + of_miss)
        - gammaln(of_miss)
    )


def _average(bins: _Bins, weights: Floats) -> tuple[Floats, Floats]:
    """Add up the weighted histograms: their edges together, and the height of each step."""
    share = np.repeat(weights, bins.n_bins)
    shifts = np.diff(bins.mean, prepend=0.0) * share
    inner = share > 0
    inner[bins.first] = False  # no step up from the last bin of the binning before
    edges, step = np.unique(bins.lower[inner], return_inverse=True)
    jumps = np.bincount(step, weights=shifts[inner], minlength=edges.size)
    lowest = float(weights @ bins.mean[bins.first])
    heights = lowest + np.concatenate([[0.0], np.cumsum(jumps)])
    apart = np.diff(heights) != 0  # most jumps are too small for any digit
    return edges[apart], np.clip(heights[np.append(True, apart)], 0.0, 1.0)


def _warnings(hits: Hits) -> tuple[str, ...]:
    if hits.min() != hits.max():
        return ()
    row = "a hit" if hits[0] else "a miss"
    return (f"Every calibration row is {row}, so only the prior distinguishes scores.",)


BAYESIAN_BINNING = Method(
    key="bbq",
    name="Bayesian binning (BBQ) of the event",
    short="BBQ",
    factory=BBQ,
    paper="Naeini 2015; Guo 2017, section 4.1 (two classes)",
    explained="Averages histogram binning over numbers of bins, weighted by their fit to the"
    " calibration set.",
    formula="sum over binnings of their posterior weight times their frequency",
    acts_on="event",
    preserves_accuracy=True,
    fits=Fits("curves", 1),
    cost=Cost((30, 10, 3)),
)
