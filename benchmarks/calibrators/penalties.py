"""The penalties of the linear maps, written down apart from calibcore, to compare optima with."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibcore.validation import Floats

ODIR = 100.0
"""Both strengths where ODIR's are fixed."""

DIRICHLET_L2 = 1e-3


@dataclass(frozen=True, eq=False)
class Squares:
    """A weighted sum of squared distances of (W, b) from a centre.

    Attributes
    ----------
    strength, centre : ndarray of float64, shape (n_classes, n_classes + 1)
    """

    strength: Floats
    centre: Floats

    def __call__(self, parameters: Floats) -> float:
        """Give the penalty of the matrix with the bias as its last column."""
        return float(np.sum(self.strength * (parameters - self.centre) ** 2))

    def slope(self, parameters: Floats) -> Floats:
        """Give its gradient."""
        return 2 * self.strength * (parameters - self.centre)


Penalty = Callable[[int, int], Squares]
"""Takes the numbers of rows and of classes."""


def odir(n_rows: int, n_classes: int) -> Squares:
    """Kull 2019: the means of the squares off the diagonal and of the bias."""
    del n_rows
    k = n_classes
    strength = np.full((k, k + 1), ODIR / (k * (k - 1)))
    strength[np.diag_indices(k)] = 0
    strength[:, -1] = ODIR / k
    return Squares(strength, np.zeros_like(strength))


def l2(n_rows: int, n_classes: int) -> Squares:
    """Kull 2019: the sum of all squares."""
    del n_rows
    strength = np.full((n_classes, n_classes + 1), DIRICHLET_L2)
    return Squares(strength, np.zeros_like(strength))


def structured(n_rows: int, n_classes: int) -> Squares:
    """Berta 2025, SVS and SMS: around the identity, entries off the diagonal held most."""
    k = n_classes
    strength = np.full((k, k + 1), k * (k - 1) / n_rows)
    strength[np.diag_indices(k)] = k / n_rows
    strength[:, -1] = k / n_rows
    return Squares(strength, np.eye(k, k + 1))
