"""What everything else is computed from: logits with labels, their split, an event's scores."""

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.blocks import row_blocks, row_totals
from calibcore.errors import CalibrationInputError
from calibcore.probabilities import log_probabilities, softmax
from calibcore.results import result_class
from calibcore.validation import Floats, Hits, Labels, Logits

_ROUNDING = 1e-12
"""How far from 1 a row of probabilities may sum because of rounding."""


@result_class
class LogitSet:
    """Logits of a trained classifier with the true classes.

    Parameters
    ----------
    logits : array_like of float, shape (n_samples, n_classes)
        Raw outputs before softmax. Float32 stays float32.
    labels : array_like of int, shape (n_samples,) or (n_samples, 1)
        True class of each row, from 0.
    class_names : sequence of str, optional
        One a class, all different; "0", "1", ... where none are given.

    Attributes
    ----------
    made_of : {"logits", "probabilities"}
        Which of its two tables the set was given; the other is made when it is asked for.

    Raises
    ------
    CalibrationInputError
        NaN or plus infinity in the logits, labels out of range or of another length, names that
        do not fit.

    Examples
    --------
    >>> LogitSet([[2.0, 0.0], [0.0, 1.0]], [0, 0]).n_classes
    2
    """

    labels: Labels
    class_names: tuple[str, ...]
    made_of: Literal["logits", "probabilities"]

    def __init__(
        self, logits: ArrayLike, labels: ArrayLike, class_names: Sequence[str] | None = None
    ) -> None:
        self._set("logits", validation.logits(logits), labels, class_names)

    def _set(
        self,
        made_of: Literal["logits", "probabilities"],
        table: Logits,
        labels: ArrayLike,
        class_names: Sequence[str] | None,
    ) -> None:
        """Keep the table that was given."""
        n_rows, n_classes = table.shape
        truth = validation.labels(labels, n_rows=n_rows, n_classes=n_classes)
        names = validation.class_names(class_names, n_classes=n_classes)
        kept = {made_of: table, "labels": truth, "class_names": names, "made_of": made_of}
        for name, value in kept.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_probabilities(
        cls,
        probabilities: ArrayLike,
        labels: ArrayLike,
        class_names: Sequence[str] | None = None,
    ) -> "LogitSet":
        """Make a set from class probabilities, whose logarithms serve as logits.

        Parameters
        ----------
        probabilities : array_like of float, shape (n_samples, n_classes)
            In [0, 1]; rows sum to 1 within 0.001 and are scaled to sum to 1.
        labels, class_names
            As for `LogitSet`.

        Notes
        -----
        Rows that sum to 1 but for rounding are kept to the last digit, so scores that are equal, or
        lie on the edge of a bin, still do.
        """
        made = cls.__new__(cls)
        table = _scaled(validation.probabilities(probabilities))
        made._set("probabilities", _frozen(table), labels, class_names)  # noqa: SLF001
        return made

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_names)

    @property
    def given(self) -> Logits:
        """The table that the set was made of."""
        found: Logits = getattr(self, self.made_of)
        return found

    @cached_property
    def logits(self) -> Logits:
        """Raw outputs, or the logarithms of the probabilities: (n_samples, n_classes)."""
        return _frozen(log_probabilities(self.probabilities))

    @cached_property
    def probabilities(self) -> Floats:
        """Class probabilities, as given or by softmax: (n_samples, n_classes), read-only."""
        return _frozen(softmax(self.logits))

    def rows(self, chosen: ArrayLike) -> "LogitSet":
        """Keep the chosen rows, given as indices or as a mask."""
        index = _row_index(chosen, self.n_samples)
        made = LogitSet.__new__(LogitSet)
        made._set(self.made_of, self.given[index], self.labels[index], self.class_names)  # noqa: SLF001
        return made


@result_class
class EventScores:
    """Predicted probability of one event, and whether it happened, row by row.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        In [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        1 where the event happened (y_true of the event).
    rest : array_like of float, shape (n_samples,), optional
        Probability that the event does not happen, where it is known to more digits than 1 - score
        has: that is 0 for a score that is rounded to 1.

    Raises
    ------
    CalibrationInputError
        Empty input, unequal lengths, NaN, values outside the stated range.

    Examples
    --------
    >>> EventScores([0.9, 0.6], [1, 0]).n_samples
    2
    """

    scores: Floats
    hits: Hits
    rest: Floats | None = field(repr=False)

    def __init__(self, scores: ArrayLike, hits: ArrayLike, rest: ArrayLike | None = None) -> None:
        checked_scores, checked_hits = validation.scores_and_hits(scores, hits)
        left = None if rest is None else validation.rest(rest, n_rows=checked_scores.size)
        object.__setattr__(self, "scores", checked_scores)
        object.__setattr__(self, "hits", checked_hits)
        object.__setattr__(self, "rest", left)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.scores.size

    def rows(self, chosen: ArrayLike) -> "EventScores":
        """Keep the chosen rows, given as indices or as a mask."""
        index = _row_index(chosen, self.n_samples)
        rest = None if self.rest is None else self.rest[index]
        return EventScores(self.scores[index], self.hits[index], rest)


def _scaled(probabilities: Floats) -> Floats:
    """Scale rows that do not sum to 1; the others are kept to the last digit."""
    result = probabilities
    for rows in row_blocks(*probabilities.shape):
        totals = row_totals(probabilities[rows])
        off = np.abs(totals - 1) > _ROUNDING
        if off.any():
            result = probabilities.copy() if result is probabilities else result
            np.divide(probabilities[rows], totals, out=result[rows], where=off)
    return result


def _frozen(table: Floats) -> Floats:
    """Keep a table that many are given from being changed."""
    kept = table.view()
    kept.flags.writeable = False
    return kept


def _row_index(chosen: ArrayLike, n_samples: int) -> NDArray[np.bool_ | np.integer]:
    """Check which rows are meant."""
    index = validation.real_array(chosen, "chosen")
    if index.dtype.kind == "b":
        if index.shape != (n_samples,):
            raise CalibrationInputError(
                "chosen", f"a mask of shape {index.shape}", f"one value for each of {n_samples:,}"
            )
        if not index.any():
            raise CalibrationInputError("chosen", "a mask of no row", "at least one")
        return index
    if index.ndim != 1 or index.size == 0 or index.dtype.kind not in "iu":
        found = f"an array of type {index.dtype} and shape {index.shape}"
        raise CalibrationInputError("chosen", found, "numbers of rows, or a mask of them")
    if index.min() < 0 or index.max() >= n_samples:
        outside = f"row numbers from {index.min()} to {index.max()}"
        raise CalibrationInputError("chosen", outside, f"numbers from 0 to {n_samples - 1}")
    return index


Rows = TypeVar("Rows", LogitSet, EventScores)


@result_class
class Split(Generic[Rows]):
    """A set to fit on and a set to evaluate on.

    Parameters
    ----------
    calibration : LogitSet or EventScores
        Every fit sees only this.
    test : LogitSet or EventScores, of the same kind
        Every evaluation is made on this.
    same_data : bool, default False
        The two are the same rows, so the evaluation flatters; said wherever a number is shown.

    Raises
    ------
    CalibrationInputError
        The two sets are not of the same kind, or have different classes.
    """

    calibration: Rows
    test: Rows
    same_data: bool = False

    def __post_init__(self) -> None:
        """Raise if the sets are not of one kind, or not about the same classes."""
        if isinstance(self.calibration, LogitSet) != isinstance(self.test, LogitSet):
            kinds = "logits of all classes", "an event's scores"
            wanted_kind, found_kind = (
                kinds if isinstance(self.calibration, LogitSet) else kinds[::-1]
            )
            raise CalibrationInputError(
                "test", found_kind, f"{wanted_kind}, as in the calibration set"
            )
        if isinstance(self.calibration, LogitSet) and isinstance(self.test, LogitSet):
            found, wanted = self.test.class_names, self.calibration.class_names
            if found != wanted:
                raise CalibrationInputError(
                    "test",
                    f"{len(found)} classes ({found[0]}, ...)",
                    f"the {len(wanted)} classes of the calibration set ({wanted[0]}, ...)",
                )


def split_rows(rows: Rows, *, calibration_share: float = 0.5, seed: int = 0) -> Split[Rows]:
    """Split one set at random into a calibration set and a test set.

    Parameters
    ----------
    rows : LogitSet or EventScores
        At least two rows.
    calibration_share : float, default 0.5
        Part of the rows to fit on, strictly between 0 and 1.
    seed : int, default 0
        At least 0; the same seed gives the same split.

    Returns
    -------
    Split
        Both sets keep the order of the rows.

    Raises
    ------
    CalibrationInputError
        Fewer than two rows, a share that is not between 0 and 1, or a seed below 0.

    Notes
    -----
    Stratified by true class (by hit, for an event's scores): of a class with n rows the
    calibration set gets n times the share, rounded so that the whole set has its share too.
    Each set gets at least one row.

    Examples
    --------
    >>> halves = split_rows(LogitSet([[0.0, 1.0]] * 10, [0, 1] * 5))
    >>> halves.calibration.n_samples, halves.test.n_samples
    (5, 5)
    """
    chosen = calibration_rows(rows, calibration_share=calibration_share, seed=seed)
    return Split(rows.rows(chosen), rows.rows(~chosen))


def calibration_rows(
    rows: LogitSet | EventScores, *, calibration_share: float = 0.5, seed: int = 0
) -> NDArray[np.bool_]:
    """Choose the rows that `split_rows` gives to the calibration set.

    Parameters and errors are those of `split_rows`.

    Returns
    -------
    ndarray of bool, shape (n_samples,)
        True for the calibration set, so that what else is known of each row can be split alike.

    Examples
    --------
    >>> calibration_rows(EventScores([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1])).sum()
    np.int64(2)
    """
    if not 0 < calibration_share < 1:
        raise CalibrationInputError("calibration_share", str(calibration_share), "between 0 and 1")
    seed = validation.whole_number(seed, "seed", least=0)
    if rows.n_samples < 2:
        raise CalibrationInputError("rows", "1 row", "at least 2, to fit and to evaluate")
    strata = rows.labels if isinstance(rows, LogitSet) else rows.hits
    n_samples = rows.n_samples
    # Rows shuffled, then grouped by stratum; taking evenly spaced places of that order takes the
    # same share of each stratum.
    shuffled = np.random.default_rng(seed).permutation(n_samples)
    grouped = shuffled[np.argsort(strata[shuffled], kind="stable")]
    n_calibration = min(max(round(calibration_share * n_samples), 1), n_samples - 1)
    places = np.arange(n_samples) * n_calibration // n_samples
    chosen = np.zeros(n_samples, dtype=np.bool_)
    chosen[grouped[np.diff(places, append=n_calibration) > 0]] = True
    return chosen
