"""Kernel-smoothed calibration errors of every class, for labels that are exchanged."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calibcore.metrics.kernel import (
    half_width,
    kde_of_densities,
    per_unit,
    spread_of,
)
from calibcore.metrics.kernel_classwise import class_masses, share_out
from calibcore.results import result_class
from calibcore.validation import Floats

MESH = 1 << 8
"""Cells of the mesh on [0, 1], where draws are compared with each other alone."""

_CELLS = 1 << 20  # of meshes at once
_BATCH = 128  # curves at once: their meshes stay in a processor's cache


@result_class
class ClassKernels:
    """Every class's probabilities with what labels do not change.

    Attributes
    ----------
    probabilities : ndarray of float64, shape (n_samples, n_classes)
    """

    probabilities: Floats

    @cached_property
    def density(self) -> Floats:
        """Density of all rows of each class on the mesh."""
        ones = np.broadcast_to(1.0, self.probabilities.shape)
        return per_unit(class_masses(self.probabilities, ones, MESH))

    @cached_property
    def _spread(self) -> Floats:
        """Spread of all probabilities of each class, which counts where hits are too few."""
        table = self.probabilities
        total: Floats = np.einsum("ij->j", table)
        squares: Floats = np.einsum("ij,ij->j", table, table)
        return spread_of(total, squares, len(table))

    def errors(self, labels: NDArray[np.integer]) -> Floats:
        """Return each class's kernel calibration error for given labels.

        Parameters
        ----------
        labels : ndarray of int, shape (n_draws, n_samples)

        Returns
        -------
        ndarray of float64, shape (n_draws, n_classes)
        """
        n_draws, n_rows = labels.shape
        n_classes = self.probabilities.shape[1]
        found = np.empty(n_draws * n_classes)
        at_once = max(1, _CELLS // max(n_rows, n_classes * (MESH + 2)))
        for start in range(0, n_draws, at_once):
            hits, width = self._hits(labels[start : start + at_once])
            into = found[start * n_classes :]
            for first in range(0, len(hits), _BATCH):
                curves = np.arange(first, min(first + _BATCH, len(hits)))
                density = self.density[curves % n_classes]
                into[curves] = kde_of_densities(density, hits[curves], width[curves], 1)
        return found.reshape(n_draws, n_classes)

    def _hits(self, labels: NDArray[np.integer]) -> tuple[Floats, Floats]:
        """Return the density of the hits and the half width, one row a draw and class."""
        n_draws, n_rows = labels.shape
        n_classes = self.probabilities.shape[1]
        own = np.minimum(self.probabilities[np.arange(n_rows), labels], 1.0).ravel()
        curve = (labels + np.arange(n_draws)[:, np.newaxis] * n_classes).ravel()
        size = n_draws * n_classes
        ones = np.ones(own.size)
        n_hits, total, squares = (
            np.bincount(curve, weights=w, minlength=size).astype(np.float64)
            for w in (ones, own, own * own)
        )
        few = np.tile(self._spread, n_draws)
        spread = np.where(n_hits < 2, few, spread_of(total, squares, n_hits))
        mass = np.zeros((size, MESH + 2))
        share_out(mass, curve, own, ones)
        return per_unit(mass), half_width(spread, n_rows)
