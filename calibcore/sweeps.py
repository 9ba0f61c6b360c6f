"""Measures against a number that can be set by hand: the temperature, the knots of the spline."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore.blocks import row_blocks
from calibcore.calibrators.base import FittedScoreMap, Progress
from calibcore.calibrators.lifts.separate import tell
from calibcore.calibrators.score_maps.spline import SplineCalibration
from calibcore.calibrators.temperature.scaling import TEMPERATURE_BOUNDS
from calibcore.cumulative import ks_of
from calibcore.data import EventScores, LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.events import Event
from calibcore.fitting import fold_maps
from calibcore.metrics import PROBABILITY_FLOOR, ece, event_nll, ks_error
from calibcore.probabilities import below_largest
from calibcore.results import result_class
from calibcore.splines import LEAST_KNOTS
from calibcore.splits import Folds
from calibcore.tally import tally
from calibcore.validation import Floats

_NO_WEIGHT = -1e6
"""A logit this far below its row's largest weighs nothing at any temperature."""


@result_class
class TemperatureSweep:
    """Measures of the same rows at many temperatures."""

    temperatures: Floats
    """What divides the logits, ascending; shape (n_temperatures,)."""
    nll: Floats
    """`calibcore.metrics.nll`; shape (n_temperatures,)."""
    entropy: Floats
    """Mean entropy of the predicted class probabilities, in nats: how undecided they are; shape
    (n_temperatures,).
    """
    ece: Floats
    ks_error: Floats
    """Of the event; shape (n_temperatures,)."""
    n_bins: int
    """Bins of the ECE, of equal width."""

    @property
    def most_likely(self) -> float:
        """Temperature of the sweep with the least NLL, the smaller of equals."""
        return float(self.temperatures[int(self.nll.argmin())])


def temperature_sweep(
    rows: LogitSet,
    event: Event,
    temperatures: ArrayLike,
    *,
    n_bins: int = 15,
    progress: Progress | None = None,
) -> TemperatureSweep:
    """Compute NLL and entropy of the same rows at many temperatures.

    ``rows``: logits and labels. ``event``: what ECE and KS error are about. ``temperatures``:
    between 0.001 and 1,000, ascending; shape (n_temperatures,). ``n_bins``: bins of the ECE.
    ``progress``: told the share that is done; whatever it raises ends the sweep.

    Raises
    ------
    CalibrationInputError
        A temperature out of range or out of order, an event the rows do not have.

    Notes
    -----
    With z a row's logits less their largest, S = sum_k exp(z_k / T) and m the mean of z under the
    weights exp(z_k / T): the NLL of a row is ln S - z_y / T, at most that of
    `calibcore.metrics.PROBABILITY_FLOOR`, and its entropy ln S - m / T. One pass of exponentials a
    temperature; no table of the size of the logits is kept.

    References
    ----------
    Guo et al., ICML 2017, figure S1.

    Examples
    --------
    >>> from calibcore.events import TopR
    >>> swept = temperature_sweep(LogitSet([[2.0, 0.0]] * 4, [0, 0, 0, 1]), TopR(1), [1.0, 1.8205])
    >>> swept.nll.round(4).tolist(), swept.ks_error.round(4).tolist()
    ([0.6269, 0.5623], [0.1308, 0.0])
    """
    checked = _temperatures(temperatures)
    found = np.empty((4, checked.size))
    for place, temperature in enumerate(checked.tolist()):
        tell(progress, place / checked.size)
        nll, entropy, outcomes = _at(rows, event, temperature)
        counted = tally(outcomes.scores, outcomes.hits)
        error = ece(outcomes.scores, outcomes.hits, n_bins=n_bins)
        found[:, place] = nll, entropy, error, float(ks_of(counted))
    nlls, entropies, errors, gaps = found
    return TemperatureSweep(checked, nlls, entropies, errors, gaps, n_bins)


def _temperatures(values: ArrayLike) -> Floats:
    low, high = TEMPERATURE_BOUNDS
    wanted = f"a list of numbers from {low:g} to {high:,g}"
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise CalibrationInputError("temperatures", "other values", wanted) from error
    if found.ndim != 1 or not found.size or not ((found >= low) & (found <= high)).all():
        raise CalibrationInputError("temperatures", "other values", wanted)
    if (np.diff(found) <= 0).any():
        raise CalibrationInputError("temperatures", "values out of order", "ascending ones")
    return found


def _at(rows: LogitSet, event: Event, temperature: float) -> tuple[float, float, EventScores]:
    """Return the mean NLL, the mean entropy and the event's scores at one temperature."""
    n_rows = rows.n_samples
    scores, hits = np.empty(n_rows), np.empty(n_rows, dtype=np.int8)
    nll = entropy = 0.0
    for part in row_blocks(n_rows, rows.n_classes):
        block, labels = rows.logits[part], rows.labels[part]
        z = np.empty(block.shape)
        below_largest(block, out=z)
        np.maximum(z, _NO_WEIGHT, out=z)
        z /= temperature
        weights = np.exp(z)
        total = weights.sum(axis=1)
        surprise = np.log(total) - z[np.arange(len(z)), labels]
        nll += float(np.minimum(surprise, -np.log(PROBABILITY_FLOOR)).sum())
        entropy += float((np.log(total) - np.vecdot(weights, z) / total).sum())
        weights /= total[:, np.newaxis]
        outcomes = event.outcomes(weights, labels)
        scores[part], hits[part] = outcomes.scores, outcomes.hits
    return nll / n_rows, entropy / n_rows, EventScores(scores, hits)


@result_class
class KnotSweep:
    """What splines with different numbers of knots do, on both sets."""

    n_knots: NDArray[np.int64]
    """Ascending; shape (n_sizes,)."""
    calibration_ks: Floats
    test_ks: Floats
    """KS error after the spline, on the set it was fitted on and on the other; shape (n_sizes,)."""
    calibration_nll: Floats
    test_nll: Floats
    """NLL of the event; shape (n_sizes,)."""

    def place(self, n_knots: int) -> int:
        """Return the place of a number of knots, the nearest one if it is not there."""
        return int(np.abs(self.n_knots - n_knots).argmin())


def knot_sweep(
    calibration: EventScores,
    test: EventScores,
    spline: SplineCalibration,
    knots: Sequence[int],
    *,
    fold: Folds | None = None,
    progress: Progress | None = None,
) -> KnotSweep:
    """Fit a spline for each number of knots, and evaluate it on both sets.

    ``calibration``, ``test``: each spline is fitted on the first alone. ``spline``: its other
    options; the number of knots is not looked for. ``knots``: numbers of knots, ascending. Those
    that these rows or the run-out do not allow are left out. ``fold``: both sets are the same rows:
    the second is then evaluated by fits on all other folds; shape (n_samples,). ``progress``: told
    the share that is done; whatever it raises ends the sweep.

    Raises
    ------
    CalibrationInputError
        No numbers of knots, or rows that allow none of them.

    References
    ----------
    Gupta et al., ICLR 2021, section 4.

    Examples
    --------
    >>> rows = EventScores([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1])
    >>> knot_sweep(rows, rows, SplineCalibration(), range(3, 9)).n_knots.tolist()
    [3, 4]
    """
    if len(knots) == 0:
        raise CalibrationInputError("knots", "none", "at least one number of knots")
    least, most = LEAST_KNOTS[spline.runout], calibration.n_samples
    if fold is not None:
        most -= int(np.bincount(fold).max())
    allowed = [n_knots for n_knots in knots if least <= n_knots <= most]
    if not allowed:
        raise CalibrationInputError(
            "rows", f"{most:,}", f"at least {max(least, min(knots))}, as many as the fewest knots"
        )
    found = np.empty((4, len(allowed)))
    for place, n_knots in enumerate(allowed):
        tell(progress, place / len(allowed))
        chosen = replace(spline, n_knots=n_knots, cross_validated=False)
        fitted = chosen.fit(calibration.scores, calibration.hits)
        of_test: FittedScoreMap = fitted
        if fold is not None:
            of_test = fold_maps(chosen, calibration, fold)
        for row, (rows, made) in enumerate(((calibration, fitted), (test, of_test))):
            after = made.predict(rows.scores)
            found[row, place] = ks_error(after, rows.hits)
            found[row + 2, place] = event_nll(after, rows.hits)
    return KnotSweep(np.array(allowed), *found)
