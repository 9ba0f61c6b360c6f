"""What everything else is computed from: logits with labels, an event's scores."""

from collections.abc import Sequence
from copy import copy
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.errors import CalibrationInputError
from calibcore.probabilities import log_probabilities, softmax
from calibcore.results import result_class
from calibcore.strips import row_strips, row_totals
from calibcore.validation import Floats, Hits, Labels, Logits
from calibcore.weights import (
    Prior,
    RowWeights,
    SampleWeight,
    cluster_numbers,
    refuse_one_cluster,
    repeats,
    shares_of,
    weights_of,
)

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
        One a class, all different; where none are given the columns of a data frame, or "0", "1",
        ... Columns that are other numbers are refused: `calibcore.tables.rows_of` matches them.

    Attributes
    ----------
    values_kind : {"logits", "probabilities"}
        Which of its two tables the set was given; the other is made when it is asked for.
    groups : ndarray of int64, shape (n_samples,) or (n_samples, n_columns), or None
        Group of each row, or its group in each of several columns, where `with_groups` told it.
    weights : RowWeights or None
        Sampling weights of the rows, where `with_design` has told them.
    clusters : ndarray of int64, shape (n_samples,), or None
        Whom each row belongs to, where `with_design` has told it.

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
    values_kind: Literal["logits", "probabilities"]
    groups: Labels | None = field(default=None, init=False, repr=False)
    weights: RowWeights | None = field(default=None, init=False, repr=False)
    clusters: Labels | None = field(default=None, init=False, repr=False)

    def __init__(
        self, logits: ArrayLike, labels: ArrayLike, class_names: Sequence[str] | None = None
    ) -> None:
        validation.refuse_reordered(logits=logits, labels=labels)
        names = class_names if class_names is not None else validation.columns_of(logits, "logits")
        self._set("logits", validation.logits(logits), labels, names)

    def _set(
        self,
        values_kind: Literal["logits", "probabilities"],
        table: Logits,
        labels: ArrayLike,
        class_names: Sequence[str] | None,
    ) -> None:
        """Keep the table that was given."""
        n_rows, n_classes = table.shape
        truth = validation.labels(labels, n_rows=n_rows, n_classes=n_classes)
        names = validation.class_names(class_names, n_classes=n_classes)
        fields = {
            values_kind: table, "values_kind": values_kind,
            "labels": truth, "class_names": names,
        }  # fmt: skip
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_probabilities(
        cls, probabilities: ArrayLike, labels: ArrayLike, class_names: Sequence[str] | None = None
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
        validation.refuse_reordered(probabilities=probabilities, labels=labels)
        logit_set = cls.__new__(cls)
        table, names = _scaled(validation.probabilities(probabilities)), class_names
        if names is None:
            names = validation.columns_of(probabilities, "probabilities")
        logit_set._set("probabilities", _frozen(table), labels, names)  # noqa: SLF001
        return logit_set

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
        table: Logits = getattr(self, self.values_kind)
        return table

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
        part, labels = LogitSet.__new__(LogitSet), self.labels[index]
        part._set(self.values_kind, self.given[index], labels, self.class_names)  # noqa: SLF001
        return _along(part, self, index)


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

    Attributes
    ----------
    groups : ndarray of int64, shape (n_samples,) or (n_samples, n_columns), or None
        Group of each row, or its group in each of several columns, where `with_groups` told it.
    weights : RowWeights or None
        Sampling weights of the rows, where `with_design` has told them.
    clusters : ndarray of int64, shape (n_samples,), or None
        Whom each row belongs to, where `with_design` has told it.
    prior : Prior or None
        What `calibcore.prevalence` has moved the scores by.

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
    groups: Labels | None = field(default=None, init=False, repr=False)
    weights: RowWeights | None = field(default=None, init=False, repr=False)
    clusters: Labels | None = field(default=None, init=False, repr=False)
    prior: Prior | None = field(default=None, init=False, repr=False)

    def __init__(self, scores: ArrayLike, hits: ArrayLike, rest: ArrayLike | None = None) -> None:
        checked_scores, checked_hits = validation.scores_and_hits(scores, hits, rest=rest)
        left = None if rest is None else validation.rest(rest, n_rows=checked_scores.size)
        object.__setattr__(self, "scores", checked_scores)
        object.__setattr__(self, "hits", checked_hits)
        object.__setattr__(self, "rest", left)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.scores.size

    @property
    def n_cells(self) -> int:
        """Number of rows of which something is kept each: all, unless equal ones are counted."""
        return self.n_samples

    @property
    def n_hits(self) -> int:
        """Number of rows with the event."""
        return int(self.hits.sum())

    def rows(self, chosen: ArrayLike) -> "EventScores":
        """Keep the chosen rows, given as indices or as a mask."""
        index = _row_index(chosen, self.n_samples)
        rest = None if self.rest is None else self.rest[index]
        part = EventScores(self.scores[index], self.hits[index], rest)
        return _along(part, self, index)


Rows = LogitSet | EventScores
"""Rows of either kind."""
SomeRows = TypeVar("SomeRows", LogitSet, EventScores, Rows)
"""Rows of one kind, where what comes back is of the same."""


def with_groups(rows: SomeRows, groups: ArrayLike) -> SomeRows:
    """Tell of each row the group that it belongs to, in one column or in several.

    Parameters
    ----------
    rows : LogitSet or EventScores
        Stays as it is.
    groups : array_like of int, shape (n_samples,) or (n_samples, n_columns)
        Any whole numbers; the same ones for the same groups in all sets. In several columns, each
        row is in a group of every one.

    Returns
    -------
    LogitSet or EventScores
        Of the same arrays, with ``groups``, which `rows` cuts along.

    Raises
    ------
    CalibrationInputError
        Groups that are no whole numbers, or not one a row.

    Examples
    --------
    >>> with_groups(EventScores([0.9, 0.6], [1, 0]), [3, 7]).rows([1]).groups.tolist()
    [7]
    """
    checked = validation.group_columns(groups, n_rows=rows.n_samples)
    duplicate = copy(rows)
    object.__setattr__(duplicate, "groups", checked)
    return duplicate


def with_design(
    rows: SomeRows, *, sample_weight: SampleWeight = None, clusters: object = None
) -> SomeRows:
    """Tell of each row what it stands for, and whom it belongs to.

    Parameters
    ----------
    rows : LogitSet or EventScores
        Stays as it is.
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        See `calibcore.weights`. In the order of the rows, which keep no index of a data frame.
    clusters : array_like, shape (n_samples,), optional
        A number or a name for each row, the same one for rows that belong together, such as the
        visits of a patient; likewise in their order.

    Returns
    -------
    LogitSet or EventScores
        With ``weights`` and ``clusters``, which `rows` cuts along. Rows of frequency weights are
        repeated, as they are that many rows; rows of weight 0 are left out.

    Raises
    ------
    CalibrationInputError
        Weights that are none; clusters that are missing, or a single one.

    Examples
    --------
    >>> from calibcore.weights import frequency_weights
    >>> rows = EventScores([0.9, 0.6], [1, 0])
    >>> with_design(rows, sample_weight=frequency_weights([3, 1])).n_samples
    4
    """
    weights = weights_of(sample_weight, rows.n_samples)
    validation.refuse_reordered(sample_weight=weights, clusters=clusters)
    duplicate = copy(rows)
    if clusters is not None:
        object.__setattr__(duplicate, "clusters", cluster_numbers(clusters, rows.n_samples))
    if weights is None:
        return duplicate
    if duplicate.clusters is not None:
        refuse_one_cluster(np.unique(duplicate.clusters[weights.values > 0]).size)
    if weights.counts:
        return duplicate.rows(repeats(weights))
    object.__setattr__(duplicate, "weights", replace(weights, index=None))
    return duplicate if weights.values.all() else duplicate.rows(weights.values > 0)


def like(scores: EventScores, rows: Rows) -> EventScores:
    """Return event scores with the weights and clusters of the rows that they were made from."""
    if rows.weights is not None or rows.clusters is not None:
        object.__setattr__(scores, "weights", rows.weights)
        object.__setattr__(scores, "clusters", rows.clusters)
        object.__setattr__(scores, "prior", rows.prior if isinstance(rows, EventScores) else None)
    return scores


def is_designed(rows: Rows) -> bool:
    """Return whether rows have sampling weights or clusters, so are not equal and drawn one by one.

    Examples
    --------
    >>> is_designed(with_design(EventScores([0.9, 0.6], [1, 0]), clusters=["a", "b"]))
    True
    """
    return rows.weights is not None or rows.clusters is not None


def check_same_design(first: Rows, other: Rows) -> None:
    """Raise if the weights or clusters of the same rows differ.

    Raises
    ------
    CalibrationInputError
        Others, or none beside some; the first row that differs, counted from 1.
    """
    designs = []
    for rows in (first, other):
        weights = None if rows.weights is None else shares_of(rows.weights.values)
        designs.append({"weights": weights, "clusters": rows.clusters})
    for name, mine in designs[0].items():
        its = designs[1][name]
        if (mine is None) != (its is None):
            actual = f"none in {'the first' if mine is None else 'another'} model"
            raise CalibrationInputError(name, actual, "the same for both, as the rows are the same")
        if mine is not None and its is not None and not np.allclose(mine, its, rtol=1e-9):
            row = int(np.flatnonzero(~np.isclose(mine, its, rtol=1e-9))[0])
            raise CalibrationInputError(
                name, f"another in row {row + 1:,}", "as in the first model"
            )


def _along(part: SomeRows, rows: Rows, index: NDArray[Any]) -> SomeRows:
    """Cut what is told of rows along with them."""
    if rows.groups is not None:
        part = with_groups(part, rows.groups[index])
    if rows.weights is not None:
        cut = RowWeights(rows.weights.values[index], "sampling")
        object.__setattr__(part, "weights", cut)
    if isinstance(rows, EventScores) and rows.prior is not None:
        object.__setattr__(part, "prior", rows.prior)
    if rows.clusters is not None:
        object.__setattr__(part, "clusters", rows.clusters[index])
    return part


def _scaled(probabilities: Floats) -> Floats:
    """Scale rows that do not sum to 1; the others are kept to the last digit."""
    result = probabilities
    for rows in row_strips(*probabilities.shape):
        totals = row_totals(probabilities[rows])
        off = np.abs(totals - 1) > _ROUNDING
        if off.any():
            result = probabilities.copy() if result is probabilities else result
            np.divide(probabilities[rows], totals, out=result[rows], where=off)
    return result


def _frozen(table: Floats) -> Floats:
    """Keep a table that many are given from being changed."""
    view = table.view()
    view.flags.writeable = False
    return view


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
        actual = f"an array of type {index.dtype} and shape {index.shape}"
        raise CalibrationInputError("chosen", actual, "numbers of rows, or a mask of them")
    if index.min() < 0 or index.max() >= n_samples:
        outside = f"row numbers from {index.min()} to {index.max()}"
        raise CalibrationInputError("chosen", outside, f"numbers from 0 to {n_samples - 1}")
    return index
