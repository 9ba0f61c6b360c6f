"""Several models on the same rows: whether they are the same, and where each stands."""

from collections.abc import Sequence

import numpy as np

from calibcore.data import EventScores, LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.evaluation import SetResult
from calibcore.results import result_class
from calibcore.validation import Floats


def check_same_rows(first: LogitSet | EventScores, other: LogitSet | EventScores) -> None:
    """Raise if the rows of another model are not those of the first.

    ``first``, ``other``: the rows that both are evaluated on. Of an event's scores only their
    number can be checked, because the models may be right on different rows.

    Raises
    ------
    CalibrationInputError
        Another kind, another number of rows or classes, the same class names in another order, or
        another label; the message names the first row that differs, counted from 1.

    Examples
    --------
    >>> rows = LogitSet([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    >>> check_same_rows(rows, LogitSet([[2.0, 0.0], [0.0, 2.0]], [0, 0]))
    Traceback (most recent call last):
    ...
    calibcore.errors.CalibrationInputError: labels: 0 in row 2. Expected 1 as in the first...
    """
    if isinstance(first, LogitSet) != isinstance(other, LogitSet):
        kinds = "class probabilities", "one score a row"
        found, wanted = kinds if isinstance(other, LogitSet) else kinds[::-1]
        raise CalibrationInputError("rows", found, f"{wanted} as in the first model")
    if other.n_samples != first.n_samples:
        raise CalibrationInputError(
            "rows", f"{other.n_samples:,}", f"the {first.n_samples:,} of the first model"
        )
    if not isinstance(first, LogitSet) or not isinstance(other, LogitSet):
        return
    if other.n_classes != first.n_classes:
        raise CalibrationInputError(
            "classes", f"{other.n_classes:,}", f"the {first.n_classes:,} of the first model"
        )
    mine, its = first.class_names, other.class_names
    if mine != its and set(mine) == set(its):
        place = next(k for k, name in enumerate(mine) if name != its[k])
        raise CalibrationInputError(
            "classes",
            f"{its[place]} in place {place + 1:,}",
            f"{mine[place]}, the order of the first model",
        )
    differ = np.flatnonzero(first.labels != other.labels)
    if differ.size:
        row = int(differ[0])
        was, now = (first.class_names[one.labels[row]] for one in (first, other))
        raise CalibrationInputError(
            "labels", f"{now} in row {row + 1:,}", f"{was} as in the first model"
        )


@result_class
class Plane:
    """Miscalibration against discrimination, of several models before and after calibration."""

    miscalibration: Floats
    """Of each model before and after; less is better; shape (n_models, 2)."""
    discrimination: Floats
    """As if all had the first model's uncertainty; more is better; shape (n_models, 2)."""
    uncertainty: float
    """That of the first model, so that ``miscalibration - discrimination + uncertainty`` is the
    Brier score of the event, of every model.
    """
    shared: bool
    """Whether all have that uncertainty, as with the event of one class."""

    @property
    def brier(self) -> Floats:
        """Brier score of the event, shape (n_models, 2)."""
        return self.miscalibration - self.discrimination + self.uncertainty


def plane_of(evaluated: Sequence[SetResult]) -> Plane:
    """Place several models in one plane.

    ``evaluated``: one a model, at least one, on the same rows.

    Notes
    -----
    The parts of `calibcore.metrics.corp`. Models that are right on different rows, as in the event
    top-r, have different uncertainties; so that lines of equal Brier score hold for all, a model's
    discrimination is drawn less what its uncertainty exceeds the first one's.

    References
    ----------
    Dimitriadis, Gneiting, Jordan, PNAS 2021; Dimitriadis, Gneiting, Jordan, Vogel, *Evaluating
    probabilistic classifiers: the triptych*, International Journal of Forecasting 2024.
    """
    off, sharp, base = (_both(evaluated, key) for key in _PARTS)
    first = float(base[0, 0])
    return Plane(off, sharp - (base - first), first, bool(np.ptp(base) < 1e-12))


_PARTS = "miscalibration", "discrimination", "uncertainty"


def _both(evaluated: Sequence[SetResult], key: str) -> Floats:
    rows = [one.compare(key) for one in evaluated]
    return np.array([[row.before, row.after] for row in rows], dtype=np.float64)
