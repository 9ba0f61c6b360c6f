"""Whether the same rows behave as they did when they were audited: pairs of rows by their ids."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from calibcore.batches import (
    MOST_SCORES,
    BatchComparison,
    Draws,
    Found,
    check,
    measured,
    not_the_rate,
    values_of,
)
from calibcore.data import EventScores
from calibcore.errors import CalibrationInputError
from calibcore.inference.bootstrap import chunks, draw_rows
from calibcore.inference.null_outcomes import group_starts
from calibcore.metrics import EventMeasure
from calibcore.metrics.proper import event_brier_rows, event_nll_rows
from calibcore.results import result_class
from calibcore.tally import Tally, tally
from calibcore.validation import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_UNITS = 2_000
"""Pairs, or bundles of pairs where there are more, that are swapped and drawn as a whole."""

_MEANS: Mapping[str, Callable[[EventScores], Floats]] = {
    "mean_gap": lambda event: event.scores - event.hits,
    "event_brier": event_brier_rows,
    "event_nll": event_nll_rows,
    "mean_score": lambda event: event.scores,
    "hit_rate": lambda event: event.hits.astype(np.float64),
}
"""Measures that are means of the rows, and what each row adds."""


def compare_pairs(
    reference: EventScores,
    new: EventScores,
    *,
    size: float = 0.02,
    n_draws: int = 2000,
    seed: int = 0,
) -> BatchComparison:
    """Compare a new batch with an audited one of the same rows.

    Parameters
    ----------
    reference, new : EventScores
        The k-th row of both is the same, scored twice or with an outcome that may have changed.
    size : float, default 0.02
        A change of the mean gap for which the power is asked, above 0.
    n_draws : int, default 2000
        Swaps, and resamples, that are drawn.
    seed : int, default 0
        Of the draws.

    Returns
    -------
    BatchComparison
        With ``changed_outcomes``; what is ``expected`` is that of the audited scores with the
        new outcomes.

    Raises
    ------
    CalibrationInputError
        Another number of rows, a size that is not above 0, fewer than 100 draws.

    Notes
    -----
    If a row is as likely to be found one way round as the other, its score and outcome can be
    swapped between the batches: p-values are the shares of such swaps, drawn at random, that change
    a measure as much. What outcomes do not explain is tested by swaps of the scores alone.
    Intervals are percentiles over resamples of pairs.

    Pairs beyond 2,000 are dealt at random to so many bundles, which are swapped and drawn as a
    whole: the test stays exact, and memory and time do not grow with the rows. Means of rows are
    exact; for the KS error and the AUROC neighbouring scores of both batches are joined where there
    are more than 1,000.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(500)
    >>> hits = rng.random(500) < scores
    >>> raised = np.clip(scores + rng.normal(0.005, 0.02, 500), 0, 1)
    >>> found = compare_pairs(EventScores(scores, hits), EventScores(raised, hits))
    >>> [row.key for row in found.moved], found.changed_outcomes
    (['mean_gap', 'mean_score'], 0)
    """
    check(reference.n_samples, new.n_samples, size, n_draws)
    if reference.n_samples != new.n_samples:
        wanted = f"the {reference.n_samples:,} of the reference"
        raise CalibrationInputError("new", f"{new.n_samples:,} rows", wanted)
    rng = np.random.default_rng(seed)
    measures, was, now = measured(*map(_counted, (reference, new)))
    pairs = _Pairs.of(reference, new, rng)
    alike, own = (
        np.concatenate([pairs.changes(measures, *weights) for weights in drawn])
        for drawn in (pairs.swaps(rng, n_draws), pairs.resamples(rng, n_draws))
    )
    draws = Draws(pairs.seen(measures), alike, own, np.zeros(was.size))
    n_changed = int(np.count_nonzero(reference.hits != new.hits))
    expected, beyond = np.full((2, was.size), np.nan)
    if n_changed:
        turned = EventScores(reference.scores, new.hits, reference.rest)
        expected = values_of(measures, _counted(turned))
        beyond = _beyond(turned, new, measures, rng, n_draws)
    found = Found(measures, was, now, draws, expected, beyond)
    n_rows = new.n_samples
    return BatchComparison(found.rows(), n_rows, n_rows, size, found.power(size), n_changed)


def _counted(event: EventScores) -> Tally:
    return tally(event.scores, event.hits, event.rest)


def _beyond(
    turned: EventScores,
    new: EventScores,
    measures: list[EventMeasure],
    rng: np.random.Generator,
    n_draws: int,
) -> Floats:
    """Return the adjusted p-values of what the new outcomes do not explain."""
    pairs, beyond = _Pairs.of(turned, new, rng), np.full(len(measures), np.nan)
    alike = np.concatenate([pairs.changes(measures, *one) for one in pairs.swaps(rng, n_draws)])
    draws = Draws(pairs.seen(measures), alike, alike, np.zeros(len(measures)))
    rest = not_the_rate(measures)
    beyond[rest] = draws.adjusted[rest]
    return beyond


Weights = Iterator[tuple[Floats, Floats]]


@result_class
class _Pairs:
    """Bundles of pairs, and what each adds to the measures of both batches."""

    sizes: Floats
    """Pairs in each; shape (n_units,)."""
    means: Mapping[str, Floats]
    """Of measures that are means of the rows, by how much the new batch's sum is larger; shape
    (n_units,).
    """
    scores: Floats
    """Of both batches, neighbours joined; shape (n_scores,)."""
    old: "csr_array"
    step: "csr_array"
    """Rows of the reference that are no hits at each score, then the hits, and how many more the
    new batch has; shape (n_units, 2 * n_scores).
    """

    @classmethod
    def of(cls, reference: EventScores, new: EventScores, rng: np.random.Generator) -> "_Pairs":
        from scipy.sparse import coo_array  # noqa: PLC0415 - a tenth of a second to import

        n_rows = reference.n_samples
        n_units = min(n_rows, MOST_UNITS)
        unit = np.arange(n_rows) if n_rows == n_units else rng.permutation(n_rows) % n_units
        both = reference, new
        scores, place, counts = np.unique(
            np.concatenate([one.scores for one in both]), return_inverse=True, return_counts=True
        )
        starts = group_starts(scores, counts.astype(np.float64), MOST_SCORES)
        joined = np.add.reduceat(scores * counts, starts) / np.add.reduceat(counts, starts)
        blocks = np.searchsorted(starts, place, side="right") - 1
        shape = n_units, 2 * starts.size
        old, fresh = (
            coo_array(
                (np.ones(n_rows), (unit, block + starts.size * (one.hits > 0))), shape
            ).tocsr()
            for one, block in zip(both, np.split(blocks, 2), strict=True)
        )
        means = {
            key: np.bincount(unit, rows(new) - rows(reference)).astype(np.float64)
            for key, rows in _MEANS.items()
        }
        return cls(np.bincount(unit).astype(np.float64), means, joined, old, fresh - old)

    def swaps(self, rng: np.random.Generator, n_draws: int) -> Weights:
        """Draw which bundles are swapped; each is there once."""
        for many in chunks(n_draws, self.old.shape[1]):
            turned = rng.integers(2, size=(many, self.sizes.size)).astype(np.float64)
            yield np.ones((1, self.sizes.size)), turned

    def resamples(self, rng: np.random.Generator, n_draws: int) -> Weights:
        """Draw bundles with replacement; none is swapped."""
        for many in chunks(n_draws, self.old.shape[1]):
            yield draw_rows(rng, many, self.sizes.size).counts, np.zeros((1, self.sizes.size))

    def seen(self, measures: list[EventMeasure]) -> Floats:
        """Return new minus reference, shape (n_measures,)."""
        once = np.ones((1, self.sizes.size))
        return np.asarray(self.changes(measures, once, 0 * once)[0])

    def changes(self, measures: list[EventMeasure], drawn: Floats, swapped: Floats) -> Floats:
        """Return new minus reference, shape (n_draws, n_measures).

        ``measures``: which. ``drawn``, ``swapped``: how often each bundle is drawn, and how many of
        these the other way round; shape (n_draws, n_units).
        """
        n_rows = drawn @ self.sizes
        plain, moved = drawn @ self.old, swapped @ self.step
        old = self._tally(plain + moved, n_rows)
        fresh = self._tally(plain + drawn @ self.step - moved, n_rows)
        return np.stack(
            [
                (drawn - 2 * swapped) @ self.means[one.key] / n_rows
                if one.key in self.means
                else (values_of([one], fresh) - values_of([one], old))[:, 0]
                for one in measures
            ],
            axis=-1,
        )

    def _tally(self, cells: Floats, n_rows: Floats) -> Tally:
        # Bundles differ by a row, so that resamples of them have not quite as many rows.
        misses, hits = np.split(cells * (self.sizes.sum() / n_rows)[:, np.newaxis], 2, axis=1)
        return Tally(self.scores, misses + hits, hits, int(self.sizes.sum()))
