"""Whether miscalibration changes in time, and since when."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.inference.groups import LEAST_ROWS, Sums, groups_of
from calibcore.inference.omnibus import N_DRAWS, recalibrated
from calibcore.results import result_class
from calibcore.validation import Floats
from calibcore.weights import SampleWeight, design_of, refuse_sampling

_MOST_ROWS = 20_000
"""Up to so many rows labels are drawn; beyond, sums of periods are normal."""

_CELLS = 1 << 22
"""Labels drawn at a time."""

_EDGE = 1e-9
"""Share of a variance, or of a statistic, that is taken for rounding."""


@result_class
class Drift:
    """Whether the gap of periods in time changes, and the first period after the change."""

    p_value: float
    """Of the largest of the statistics; at least 1 / (n_draws + 1)."""
    slope: float
    """Trend of the gap over the rank in time, in null standard deviations; above 0 where scores
    become too high.
    """
    since: int
    """The period from which rows differ the most from those before."""
    gap_before: float
    gap_since: float
    """Mean score minus observed frequency of the rows before that period, and from it on."""
    rows_before: int
    rows_since: int
    """How many they are."""
    n_draws: int
    seed: int
    """Of the labels drawn, and from where."""


def drift_test(  # noqa: PLR0913 - each has a default that serves
    scores: ArrayLike,
    hits: ArrayLike,
    periods: ArrayLike,
    *,
    n_periods: int,
    sample_weight: SampleWeight = None,
    n_draws: int = N_DRAWS,
    seed: int = 0,
) -> Drift | None:
    """Test whether scores are as right in all periods as in the whole.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
    periods : array_like of int, shape (n_samples,)
        Period of each row, from 0, ascending in time; from ``n_periods`` on, of no known time.
    n_periods : int
        Number of periods.
    sample_weight : RowWeights, shape (n_samples,), optional
        How many equal rows each is: `calibcore.weights.frequency_weights`.
    n_draws : int, default 1000
        Sets of labels drawn; at least 20.
    seed : int, default 0
        Of the draws.

    Returns
    -------
    Drift or None
        None where no period has 30 rows before it and 30 from it on, or nothing can vary.

    Raises
    ------
    CalibrationInputError
        Scores or hits out of range; periods that are not a whole number from 0 for each row;
        sampling weights.

    Notes
    -----
    Scores are recalibrated as a whole, smoothly, as in `calibcore.inference.group_gaps`, so a
    fault that is always there is no drift. Of the sums of p - h by period, corrected for that fit
    (efficient score), the statistics are the trend, weighted by the mean rank of a period's rows,
    and the sum up to each period, each over its null deviation. The largest is compared with the
    largest in sets of labels drawn from the recalibrated scores (max-T, Westfall and Young 1993),
    with more than 20,000 rows from its normal limit. The period at the largest sum is ``since``.

    References
    ----------
    Westfall, Young, *Resampling-Based Multiple Testing*, 1993; Page, *Biometrika* 1954.

    Examples
    --------
    >>> months, hits = [0] * 100 + [1] * 100 + [2] * 100, [0, 1] * 100 + [1, 1, 1, 0] * 25
    >>> drift = drift_test([0.5] * 300, hits, months, n_periods=3)
    >>> drift.p_value < 0.01, drift.since, drift.gap_before, drift.gap_since
    (True, 2, 0.0, -0.25)
    """
    given, seen = validation.scores_and_hits(
        scores, hits, periods=periods, sample_weight=sample_weight
    )
    n_periods = validation.whole_number(n_periods, "n_periods", least=1)
    n_draws = validation.whole_number(n_draws, "n_draws", least=20)
    design = design_of(sample_weight, None, given.size, _MOST_ROWS)
    if design.weights is not None:
        refuse_sampling("drift_test", "of equal rows drawn one by one")
    given, seen, periods = design.of(given), design.of(seen), design.of(periods)
    grouping = groups_of(periods, given.size, 1, None, design.times)
    dated = grouping.names < n_periods
    upto = np.cumsum(np.where(dated, grouping.rows, 0))
    splits = np.flatnonzero(dated & (upto >= LEAST_ROWS) & (upto[-1:] - upto >= LEAST_ROWS))
    if not splits.size:
        return None
    weights = _weights(grouping.rows, dated, splits)
    sums = Sums([grouping], given.size, design.times)
    linear = _Statistics(sums, weights, *recalibrated(given, seen, design))
    if not linear.scaled.any():
        return None
    observed = linear.of((sums.times * seen.astype(np.float64))[:, np.newaxis])
    drawn = linear.drawn(np.random.default_rng(seed), n_draws)
    most = np.abs(np.concatenate([observed, drawn], axis=1)).max(axis=0)
    last = int(splits[np.argmax(np.abs(observed[1:, 0]))])  # of the periods before the change
    early = grouping.of_row <= last
    late = ~early & dated[grouping.of_row]
    gap, each = given - seen, sums.times * np.ones(given.size)
    return Drift(
        p_value=float(np.mean(most >= most[0] * (1 - _EDGE))),
        slope=float(observed[0, 0]),
        since=int(grouping.names[last + 1]),
        gap_before=float(np.average(gap[early], weights=each[early])),
        gap_since=float(np.average(gap[late], weights=each[late])),
        rows_before=int(each[early].sum()),
        rows_since=int(each[late].sum()),
        n_draws=n_draws,
        seed=seed,
    )


def _weights(rows: NDArray[np.intp], dated: NDArray[np.bool_], splits: NDArray[np.intp]) -> Floats:
    """Return the weights of the periods in the trend and the sums up to each split."""
    counts = np.where(dated, rows, 0)
    rank = np.cumsum(counts) - counts / 2
    trend = np.where(dated, 2 * rank / counts.sum() - 1, 0.0)
    upto = np.arange(rows.size)[:, np.newaxis] <= splits
    return np.column_stack([trend, np.where(dated[:, np.newaxis], upto, 0.0)])


class _Statistics:
    """The trend and the sums up to each split, in null standard deviations."""

    def __init__(self, sums: Sums, weights: Floats, true: Floats, powers: Floats) -> None:
        self.sums, self.true, self.powers = sums, true, powers
        variance = sums.times * true * (1 - true)
        along = np.stack([sums.of(column * variance) for column in powers.T], axis=1)
        fitted = powers.T @ (powers * variance[:, np.newaxis])
        self.taken = along @ np.linalg.pinv(fitted, hermitian=True)
        self.covariance = np.diag(sums.of(variance)) - self.taken @ along.T
        spread = np.einsum("gk,gh,hk->k", weights, self.covariance, weights)
        moving = spread > _EDGE * variance.sum()
        self.scaled = weights * np.where(moving, 1 / np.sqrt(np.where(moving, spread, 1.0)), 0.0)

    def of(self, labels: NDArray[np.floating]) -> Floats:
        """Return the statistics of sets of labels, shape (n_statistics, n_draws)."""
        true = self.sums.times * self.true
        left = self.sums.of(true)[:, np.newaxis] - self.sums.of_labels(labels)
        fitted = np.einsum("ik,ij->kj", self.powers, labels)  # BLAS' threads would wait for others
        left -= self.taken @ ((self.powers.T @ true)[:, np.newaxis] - fitted)
        return np.asarray(self.scaled.T @ left)

    def drawn(self, rng: np.random.Generator, n_draws: int) -> Floats:
        """Return the statistics of labels drawn, or of their normal limit."""
        n_rows, true = self.true.size, self.true[:, np.newaxis]
        if np.ndim(self.sums.times) or n_rows > _MOST_ROWS:
            values, axes = np.linalg.eigh(self.covariance)
            root = axes * np.sqrt(np.maximum(values, 0.0))
            return np.asarray(self.scaled.T @ root @ rng.normal(size=(values.size, n_draws)))
        step = max(1, _CELLS // n_rows)
        sizes = [min(step, n_draws - start) for start in range(0, n_draws, step)]
        parts = [self.of((rng.random((n_rows, n)) < true).astype(np.float32)) for n in sizes]
        return np.concatenate(parts, axis=1)
