"""A set to fit on and a set to evaluate on: other rows, or the same ones by folds."""

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.counted import CountedScores, deal_cells
from calibcore.data import LogitSet, Rows, SomeRows
from calibcore.errors import CalibrationInputError
from calibcore.results import result_class
from calibcore.validation import Hits, Labels

Folds = NDArray[np.intp]
"""Fold of each row, from 0."""


Rows_co = TypeVar("Rows_co", bound=Rows, covariant=True)


@result_class
class Split(Generic[Rows_co]):
    """A set to fit on and a set to evaluate on.

    Parameters
    ----------
    calibration : LogitSet or EventScores
        Every fit sees only this.
    test : LogitSet or EventScores, of the same kind
        Every evaluation is made on this.
    same_data : bool, default False
        The two are the same rows, so the evaluation flatters; said wherever a number is shown.
    fold : array_like of int, shape (n_samples,), optional
        The two are the same rows, and each is evaluated by a fit on all other folds, so nothing
        flatters: `cross_split`. Of counted rows, one a cell.

    Raises
    ------
    CalibrationInputError
        The two sets are not of the same kind, or have different classes; folds that do not fit.
    """

    calibration: Rows_co
    test: Rows_co
    same_data: bool = False
    fold: Folds | None = None

    def __post_init__(self) -> None:
        """Raise if the sets are not of one kind, or not about the same classes."""
        if self.fold is not None:
            fold = checked_folds(self.fold, n_dealt(self.test))
            object.__setattr__(self, "fold", fold)
            refuse_cut_clusters(fold, self.test)
        if isinstance(self.calibration, LogitSet) != isinstance(self.test, LogitSet):
            kinds = "logits of all classes", "an event's scores"
            wanted_kind, actual_kind = (
                kinds if isinstance(self.calibration, LogitSet) else kinds[::-1]
            )
            raise CalibrationInputError(
                "test", actual_kind, f"{wanted_kind}, as in the calibration set"
            )
        if isinstance(self.calibration, LogitSet) and isinstance(self.test, LogitSet):
            actual, wanted = self.test.class_names, self.calibration.class_names
            if actual != wanted:
                raise CalibrationInputError(
                    "test",
                    f"{len(actual)} classes ({actual[0]}, ...)",
                    f"the {len(wanted)} classes of the calibration set ({wanted[0]}, ...)",
                )


AnySplit = Split[Rows]


def split_rows(rows: SomeRows, *, calibration_share: float = 0.5, seed: int = 0) -> Split[SomeRows]:
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
    Each set gets at least one row. Rows of a cluster stay together: clusters are shared out.

    Examples
    --------
    >>> halves = split_rows(LogitSet([[0.0, 1.0]] * 10, [0, 1] * 5))
    >>> halves.calibration.n_samples, halves.test.n_samples
    (5, 5)
    """
    chosen = calibration_rows(rows, calibration_share=calibration_share, seed=seed)
    return Split(rows.rows(chosen), rows.rows(~chosen))


def calibration_rows(
    rows: Rows, *, calibration_share: float = 0.5, seed: int = 0
) -> NDArray[np.bool_]:
    """Choose the rows that `split_rows` gives to the calibration set.

    Parameters and errors are those of `split_rows`.

    Returns
    -------
    ndarray of bool, shape (n_samples,)
        True for the calibration set, so that what else is known of each row can be split alike.

    Examples
    --------
    >>> from calibcore import EventScores
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
    if rows.clusters is not None:
        numbers, own = np.unique(rows.clusters, return_inverse=True)
        n_chosen = min(max(round(calibration_share * numbers.size), 1), numbers.size - 1)
        order = _mixed_clusters(own, strata, seed)
        places = np.arange(numbers.size) * n_chosen // numbers.size
        first = np.zeros(numbers.size, dtype=np.bool_)
        first[order[np.diff(places, append=n_chosen) > 0]] = True
        return first[own]
    shuffled = np.random.default_rng(seed).permutation(n_samples)
    grouped = shuffled[np.argsort(strata[shuffled], kind="stable")]
    n_calibration = min(max(round(calibration_share * n_samples), 1), n_samples - 1)
    places = np.arange(n_samples) * n_calibration // n_samples
    chosen = np.zeros(n_samples, dtype=np.bool_)
    chosen[grouped[np.diff(places, append=n_calibration) > 0]] = True
    return chosen


def cross_split(rows: SomeRows, *, n_folds: int = 5, seed: int = 0) -> Split[SomeRows]:
    """Use every row of one set to fit and to evaluate, by cross-fitting.

    Parameters and errors are those of `deal_folds`.

    Returns
    -------
    Split
        Of which both sets are these rows.

    Examples
    --------
    >>> from calibcore import EventScores
    >>> both = cross_split(EventScores([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1]), n_folds=2)
    >>> both.test.n_samples, both.same_data
    (4, False)
    """
    return Split(rows, rows, fold=deal_folds(rows, n_folds=n_folds, seed=seed))


N_FOLDS = 5
"""Folds of rows of one set, where nobody asks for another number."""


def usual_split(rows: Rows, *, seed: int = 0) -> AnySplit:
    """Use every row of one set to fit and to evaluate, by `usual_folds`.

    Counted rows are dealt within their cells. Raises `CalibrationInputError` for one row.
    """
    if isinstance(rows, CountedScores):
        cells, fold = deal_cells(rows, n_folds=min(N_FOLDS, rows.n_samples), seed=seed)
        return Split(cells, cells, fold=fold)
    return Split(rows, rows, fold=usual_folds(rows, seed=seed))


def usual_folds(rows: Rows, *, seed: int = 0) -> Folds:
    """Deal rows to `N_FOLDS` folds, or to as many as there are rows or clusters.

    Raises `CalibrationInputError` for one row, or one cluster.
    """
    units = rows.n_samples if rows.clusters is None else np.unique(rows.clusters).size
    return deal_folds(rows, n_folds=max(min(N_FOLDS, units), 2), seed=seed)


def deal_folds(rows: Rows, *, n_folds: int = 5, seed: int = 0) -> Folds:
    """Assign the rows of one set to folds at random (stratified k-fold).

    Parameters
    ----------
    rows : LogitSet or EventScores
        At least two rows.
    n_folds : int, default 5
        From 2 to the number of rows.
    seed : int, default 0
        At least 0; the same seed deals alike.

    Returns
    -------
    ndarray of int, shape (n_samples,)
        Fold of each row, from 0.

    Raises
    ------
    CalibrationInputError
        One row alone, or a number of folds or a seed that is out of range.

    Notes
    -----
    Dealt by the rows' places: in another order they are dealt as by another seed.

    Stratified by true class (by hit, for an event's scores): the folds' sizes, and the numbers of
    rows they have of any one class, differ by one row at most. Rows of a cluster share a fold: then
    the numbers of clusters differ by one at most, large and small ones and those of many hits being
    spread evenly.

    Examples
    --------
    >>> from calibcore import EventScores
    >>> deal_folds(EventScores([0.5] * 6, [0, 0, 1, 1, 1, 1]), n_folds=2).sum()
    np.int64(3)
    """
    if rows.n_samples < 2:
        raise CalibrationInputError("rows", "1 row", "at least 2, to leave some out")
    n_folds = validation.whole_number(n_folds, "n_folds", least=2, most=rows.n_samples)
    seed = validation.whole_number(seed, "seed", least=0)
    strata = rows.labels if isinstance(rows, LogitSet) else rows.hits
    if rows.clusters is not None:
        return _folds_of_clusters(rows.clusters, strata, n_folds, seed)
    shuffled = np.random.default_rng(seed).permutation(rows.n_samples)
    fold = np.empty(rows.n_samples, dtype=np.intp)
    # Dealt in turn along rows grouped by stratum, so that every stratum is spread evenly.
    grouped = shuffled[np.argsort(strata[shuffled], kind="stable")]
    fold[grouped] = np.arange(rows.n_samples) % n_folds
    return fold


def refuse_cut_clusters(fold: Folds, rows: Rows) -> None:
    """Raise if rows of one cluster are in several folds, as a fit would have seen their kin."""
    if rows.clusters is None:
        return
    cut = np.unique(np.stack([rows.clusters, fold]), axis=1).shape[1]
    if cut != np.unique(rows.clusters).size:
        raise CalibrationInputError("fold", "clusters cut by folds", "each cluster in one fold")


def _mixed_clusters(own: Labels, strata: Labels | Hits, seed: int) -> NDArray[np.intp]:
    """Order clusters by size, then by the mean of their strata, equal ones at random."""
    sizes = np.bincount(own)
    means = np.bincount(own, strata) / sizes
    shuffled = np.random.default_rng(seed).permutation(sizes.size)
    return shuffled[np.lexsort((means[shuffled], -sizes[shuffled]))]


def _folds_of_clusters(clusters: Labels, strata: Labels | Hits, n_folds: int, seed: int) -> Folds:
    """Deal whole clusters to folds, there and back, so that sizes even out."""
    numbers, own = np.unique(clusters, return_inverse=True)
    if numbers.size < n_folds:
        wanted = f"at least {n_folds}, one a fold"
        raise CalibrationInputError("clusters", f"{numbers.size} clusters", wanted)
    turn = np.arange(numbers.size) % (2 * n_folds)
    fold = np.empty(numbers.size, dtype=np.intp)
    fold[_mixed_clusters(own, strata, seed)] = np.minimum(turn, 2 * n_folds - 1 - turn)
    return fold[own]


def n_dealt(rows: Rows) -> int:
    """Return how many folds rows need: one each, or one a cell where they are counted."""
    return rows.n_samples if isinstance(rows, LogitSet) else rows.n_cells


def checked_folds(values: ArrayLike, n_rows: int) -> Folds:
    """Check the folds; raise if they would leave rows without a score."""
    fold, numbers = np.asarray(values), np.unique(values)
    fits = fold.shape == (n_rows,) and fold.dtype.kind in "iu" and numbers.size > 1
    if not (fits and numbers[0] == 0 and numbers[-1] == numbers.size - 1):
        wanted = f"for each of {n_rows:,} rows its fold: 0, 1 and so on, each of them in use"
        raise CalibrationInputError("fold", ", ".join(map(str, numbers[:5])), wanted)
    return fold.astype(np.intp, copy=False)
