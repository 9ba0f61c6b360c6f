"""What a fit takes, from measurements, so that a slow one can say so before it starts."""

import math
from dataclasses import dataclass

import numpy as np

from calibcore.calibrators.linear.odir import is_searched

_LOG_CLASSES = np.log([10, 100, 1000])

_FEW_A_CLASS = 10
_OF_FOLDS = 6.0
"""What the folds of a cross-validation add to the memory, as a multiple of the logits."""


@dataclass(frozen=True)
class Cost:
    """Time and memory of fitting a method and applying it."""

    passes: tuple[float, float, float]
    """Time in passes of `numpy.exp` over the logits in float32, as measured on 5,000 rows of 10
    classes, 5,000 of 100, and 25,000 of 1,000 (benchmarks/CALIBRATORS.md). With ODIR's penalty it
    is more, a row, on some tables of 4,000 rows of 1,000 classes (Dirichlet 9,000 on one and 80,000
    on another, matrix some 10,500 on both): there, about the geometric mean of the most and the
    least.
    """
    memory: float = 3.0
    """Peak beyond the logits, as a multiple of their size in float32."""
    searched: tuple[float, float, float] | None = None
    """Time on tables of which `calibcore.calibrators.linear.odir` cross-validates, if another. A
    search goes further on some rows than on others: it is the geometric mean of that table and of
    the sample logits with as many classes; with 1,000, where there is none, what it would be by
    8,000 rows of 300 classes.
    """
    few: tuple[float, float, float] | None = None
    """Time where there are at most 10 rows a class, if it is another. A matrix without a penalty is
    then sought where nothing determines it: 5,000 to 109,000 passes on tables of (4,000, 1,000),
    2,000 to 43,000 of (1,000, 300), by what the rows say; about the middle of these. So it is of
    100 classes with 5,000 rows, fewer than its 10,100 numbers: 1,200 to 65,000.
    """
    matrices: float = 0.0
    """Tables of a double for each pair of classes that are held beside it, at most."""
    fixed: float = 0.0
    """Time beyond that, in exponentials of one logit, which small tables take too."""
    spread: float = 3.0
    """Factor within which the time is right, either way. It is more than some three where the rows,
    not their number, decide how long a search goes on.
    """

    def seconds(self, n_rows: int, n_classes: int, seconds_per_logit: float) -> float:
        """Estimate the time.

        ``n_rows``, ``n_classes``: of the calibration set. ``seconds_per_logit``: what this machine
        takes for the exponential of one logit.

        In seconds, right within a factor of some ``spread``.
        """
        search = self.searched if is_searched(n_rows, n_classes) else None
        few = self.few if n_rows <= _FEW_A_CLASS * n_classes else None
        at, known = math.log(max(n_classes, 2)), np.log(search or few or self.passes)
        passes = float(np.interp(at, _LOG_CLASSES, known))
        if at > _LOG_CLASSES[-1]:  # grows on as from 100 to 1,000 classes
            slope = (known[-1] - known[-2]) / (_LOG_CLASSES[-1] - _LOG_CLASSES[-2])
            passes += max(float(slope), 0.0) * (at - float(_LOG_CLASSES[-1]))
        return (self.fixed + math.exp(passes) * n_rows * n_classes) * seconds_per_logit

    def bytes(self, n_rows: int, n_classes: int) -> float:
        """Estimate the memory beyond the logits, in bytes."""
        folds = _OF_FOLDS if self.searched and is_searched(n_rows, n_classes) else 0.0
        tables = (self.memory + folds) * 4 * n_rows * n_classes
        return tables + self.matrices * 8 * n_classes**2
