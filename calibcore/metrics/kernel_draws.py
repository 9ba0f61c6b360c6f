"""The kernel errors of many sets of rows at once, roughly: their meshes are blurred together."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from calibcore.metrics.kernel import (
    ROUGH_MESH,
    ROUGHLY_CLOSE,
    half_widths,
    in_batches,
    kde_ece_of,
    kde_of_densities,
    mesh_of,
    own_width,
)
from calibcore.metrics.kernel_narrow import NARROW
from calibcore.tally import Tally
from calibcore.validation import Floats


def kde_ece_of_each(tallies: Sequence[Tally]) -> Floats:
    """Return the rough `calibcore.metrics.kernel.kde_ece_of` of each tally."""
    width = np.array([float(half_widths(one)) for one in tallies])
    wide, found = width >= NARROW, np.empty(width.size)
    found[~wide] = [kde_ece_of(tallies[int(k)], rough=True) for k in np.flatnonzero(~wide)]
    chosen = [tallies[int(k)] for k in np.flatnonzero(wide)]
    counts = _densities(chosen, lambda one: one.counts)
    hits, widths = _densities(chosen, lambda one: one.hits), width[wide]

    def measure(rows: slice) -> Floats:
        return kde_of_densities(counts[rows], hits[rows], widths[rows], 1)

    found[wide] = in_batches(measure, len(chosen))
    return found


def smooth_ece_of_each(tallies: Sequence[Tally]) -> Floats:
    """Return the rough `calibcore.metrics.kernel.smooth_ece_of` of each tally."""
    residuals = _densities(tallies, lambda one: one.hits - one.counts * one.scores)
    residuals /= np.array([one.n_samples for one in tallies])[:, np.newaxis]
    return in_batches(lambda some: own_width(residuals[some], ROUGHLY_CLOSE), len(tallies))


OF_EACH: Mapping[str, Callable[[Sequence[Tally]], Floats]] = {
    "kde_ece": kde_ece_of_each,
    "smooth_ece": smooth_ece_of_each,
}
"""By the keys of the measures."""


def _densities(tallies: Sequence[Tally], values: Callable[[Tally], Floats]) -> Floats:
    """Return what each shares out to the rough mesh, shape (n_tallies, points)."""
    found = np.empty((len(tallies), ROUGH_MESH + 1))
    for row, one in zip(found, tallies, strict=True):
        row[:] = one.once(mesh_of, ROUGH_MESH).density(values(one))
    return found
