"""Binned and cumulative calibration errors of every class, for labels that are exchanged."""

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calibcore.binning import bin_places, equal_mass_starts
from calibcore.blocks import row_blocks
from calibcore.results import result_class
from calibcore.tally import tally
from calibcore.validation import Floats

Kind = Literal["equal_width", "equal_mass", "cumulative"]

_CELLS = 1 << 22

_FINE, _FEWEST, _MOST = 1 << 14, 1 << 7, 1 << 10
"""Bins of all classes together whose gaps are added up; least and most of a class."""


@result_class
class ClassBins:
    """Every class's probabilities in bins, so that labels can be exchanged.

    Bins are of equal width or mass, as the class-wise ECE has them. Those whose gaps are added up
    are fine ones of equal sums of probability, so that the KS error, read at their ends alone, is
    too small by at most what a bin holds, 1 / 16,384 of the rows (with more than 128 classes, 1 /
    128 of the class).
    """

    places: NDArray[np.uint16]
    """Bin of each probability; shape (n_samples, n_classes)."""
    sums: Floats
    """Sum of the probabilities in each bin; shape (n_classes, n_bins)."""
    kind: Kind
    """Of the bins, and of the error."""

    @classmethod
    def of(cls, probabilities: Floats, n_bins: int, kind: Kind = "equal_width") -> "ClassBins":
        """Bin the probabilities of every class; ``n_bins`` does not count where gaps add up."""
        n_classes = probabilities.shape[1]
        if kind != "equal_width":
            n_places = max(_FEWEST, min(_MOST, _FINE // n_classes))
            n_bins = n_places if kind == "cumulative" else n_bins
            places = np.empty(probabilities.shape, dtype=np.uint16)
            for k in range(n_classes):
                scores = np.minimum(probabilities[:, k], 1.0)
                places[:, k] = np.searchsorted(_firsts(scores, n_bins, kind), scores, side="right")
            bins = cls(places, np.empty((n_classes, n_bins)), kind)
            return replace(bins, sums=bins.weighted(probabilities))
        places = np.empty(probabilities.shape, dtype=np.uint16)
        sums = np.zeros(n_classes * n_bins)
        firsts = np.arange(n_classes) * n_bins
        for rows in row_blocks(*probabilities.shape):
            block = probabilities[rows]
            found = bin_places(block, n_bins)
            places[rows] = found
            cells = (found + firsts).ravel()
            sums += np.bincount(cells, weights=block.ravel(), minlength=sums.size)
        return cls(places, sums.reshape(n_classes, n_bins), kind)

    def weighted(self, table: Floats) -> Floats:
        """Sum another table over the bins, shape (n_classes, n_bins)."""
        n_classes, n_bins = self.sums.shape
        sums = np.zeros(self.sums.size)
        firsts = np.arange(n_classes) * n_bins
        for rows in row_blocks(*table.shape):
            cells = (self.places[rows] + firsts).ravel()
            sums += np.bincount(cells, weights=table[rows].ravel(), minlength=sums.size)
        return sums.reshape(self.sums.shape)

    def distances(self, other: Floats) -> Floats:
        """Return each class's error in unlimited rows, if other probabilities are true."""
        return self._error(self.weighted(other) - self.sums) / len(other)

    def errors(self, labels: NDArray[np.integer]) -> Floats:
        """Return each class's expected calibration error for given labels.

        Parameters
        ----------
        labels : ndarray of int, shape (n_draws, n_samples)

        Returns
        -------
        ndarray of float64, shape (n_draws, n_classes)
        """
        n_draws, n_rows = labels.shape
        n_bins = self.sums.shape[1]
        errors = np.empty((n_draws, len(self.sums)))
        at_once = max(1, _CELLS // max(self.sums.size, n_rows))
        for start in range(0, n_draws, at_once):
            chosen = labels[start : start + at_once]
            cells = chosen.astype(np.intp) * n_bins + self.places[np.arange(n_rows), chosen]
            cells += np.arange(len(chosen))[:, np.newaxis] * self.sums.size
            hits = np.bincount(cells.ravel(), minlength=len(chosen) * self.sums.size)
            gaps = hits.reshape(len(chosen), *self.sums.shape) - self.sums
            errors[start : start + at_once] = self._error(gaps) / n_rows
        return errors

    def _error(self, gaps: Floats) -> Floats:
        """Return the error in rows from the gap of every bin, along the last axis."""
        if self.kind == "cumulative":
            np.cumsum(gaps, axis=-1, out=gaps)
            return np.asarray(np.abs(gaps, out=gaps).max(axis=-1))
        return np.asarray(np.abs(gaps).sum(axis=-1))


def _firsts(scores: Floats, n_bins: int, kind: Kind) -> Floats:
    """Return the lowest score of each bin but the first, of one class; infinity of those left."""
    counted = tally(scores, np.zeros(scores.size))
    if kind == "equal_mass":
        starts = equal_mass_starts(counted, n_bins)[1:]
    else:
        totals = np.cumsum(counted.counts * counted.scores)
        starts = np.searchsorted(totals, totals[-1] * np.arange(1, n_bins) / n_bins) + 1
    return np.append(counted.scores, np.inf)[starts]
