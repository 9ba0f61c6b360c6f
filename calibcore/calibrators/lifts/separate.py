"""From a map of one score to a map of all classes: one map a class, or one a rank."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.blocks import row_blocks
from calibcore.calibrators.base import (
    FittedScoreMap,
    FittedVectorMap,
    Progress,
    ScoreMap,
    SlowVectorMap,
)
from calibcore.calibrators.lifts.warnings import absent, gathered
from calibcore.data import LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.probabilities import softmax, sum_columns
from calibcore.results import result_class
from calibcore.validation import Floats, Labels

_TOGETHER = 32
"""Columns read at a time: a line of memory holds 8 of a row."""

_BESIDE = 1 << 21
"""Cells calibrated at a time, of which more is kept beside the result."""

_READ = 1 << 19
"""Cells read at a time in a fit: much of what is freed then stays with the process."""

_READING = 0.2
"""Share of a fit that is over when the columns have been read."""

Part = Callable[[slice], Floats]
"""Gives some rows of a table, which may be overwritten."""


class FittedLift(FittedVectorMap):
    """A fitted lift, which works on class probabilities."""

    def predict_proba(self, logits: ArrayLike) -> Floats:
        return self.recalibrate(softmax(logits))

    @abstractmethod
    def recalibrate(self, probabilities: Floats) -> Floats:
        """Calibrate rows of probabilities, in place."""


class Lift(SlowVectorMap):
    """A calibrator of all classes made of one or many maps of a score."""

    def fit(
        self, logits: ArrayLike, labels: ArrayLike, *, progress: Progress | None = None
    ) -> FittedLift:
        rows = LogitSet(logits, labels)
        return self.fit_probabilities(
            lambda some: softmax(rows.logits[some]), rows.n_classes, rows.labels, progress
        )

    @abstractmethod
    def fit_probabilities(
        self, part: Part, n_classes: int, labels: Labels, progress: Progress | None = None
    ) -> FittedLift:
        """Fit on checked class probabilities, of which ``part`` gives some rows at a time."""


def _columns(
    part: Part, shape: tuple[int, int], n_columns: int, progress: Progress | None
) -> Iterator[tuple[int, Floats]]:
    """Turn a table of that shape into its first columns, and forget them as they are used.

    So what is fitted on them takes the place of the table, which is never held as a whole.
    Tells how far that is when a block of rows has been read, and when a column has been used.
    """
    starts = range(0, n_columns, _TOGETHER)
    groups = [np.empty((min(_TOGETHER, n_columns - start), shape[0])) for start in starts]
    for rows in tall_blocks(*shape, cells=_READ):
        block = part(rows)
        for start, group in zip(starts, groups, strict=True):
            group[:, rows] = block[:, start : start + len(group)].T
        tell(progress, _READING * min(rows.stop / shape[0], 1.0))
    groups.reverse()
    for start in starts:
        for number, column in enumerate(groups.pop(), start=start):
            yield number, column
            tell(progress, _READING + (1 - _READING) * (number + 1) / n_columns)


def _fit_columns(
    score_map: ScoreMap, part: Part, own: Labels, sizes: tuple[int, int], progress: Progress | None
) -> tuple[FittedScoreMap, ...]:
    """Fit a map on each of the first columns, which a row hits where that column is its own."""
    n_classes, n_columns = sizes
    columns = _columns(part, (own.size, n_classes), n_columns, progress)
    return tuple(score_map.fit(column, own == number) for number, column in columns)


def _replace_columns(table: Floats, maps: Sequence[FittedScoreMap]) -> None:
    """Send each of the first columns through its map, in place."""
    for start in range(0, len(maps), _TOGETHER):
        chosen = maps[start : start + _TOGETHER]
        together = table[:, start : start + len(chosen)].T.copy()
        for column, fitted in zip(together, chosen, strict=True):
            column[:] = fitted.predict(column)
        table[:, start : start + len(chosen)] = together.T


def normalise(table: Floats) -> NDArray[np.bool_]:
    """Make rows sum to 1, in place; mark those that cannot, all of whose entries are 0.

    Maps give many rows the same few numbers, and a lift after this one must find them tied whatever
    the order of the classes.
    """
    empty = np.empty(len(table), dtype=np.bool_)
    for rows in row_blocks(*table.shape):
        block = table[rows]
        total = sum_columns(block.T)
        empty[rows] = total == 0
        total[total == 0] = 1.0
        block /= total[:, np.newaxis]
    return empty


def check_score_map(value: ScoreMap) -> None:
    """Raise unless what is lifted is a map of one score."""
    if not isinstance(value, ScoreMap):
        raise CalibrationInputError("score_map", type(value).__name__, "a map of one score")


def tell(progress: Progress | None, done: float) -> None:
    """Report how far a fit is, if anything listens."""
    if progress is not None:
        progress(done)


def tall_blocks(n_rows: int, n_classes: int, *, cells: int = _BESIDE) -> Iterator[slice]:
    """Cut rows into blocks of some 2 million cells, so that what is kept beside stays small."""
    step = max(1, cells // n_classes)
    return (slice(start, start + step) for start in range(0, n_rows, step))


def _check_classes(table: Floats, n_classes: int) -> None:
    if table.shape[1] != n_classes:
        raise CalibrationInputError(
            "logits", f"{table.shape[1]} classes", f"the {n_classes} classes of the fit"
        )


# One map a class ----------------------------------------------------------------------------------


@result_class
class FittedOneVsRest(FittedLift):
    """One fitted map a class."""

    score_maps: tuple[FittedScoreMap, ...]
    """One a class."""

    def recalibrate(self, probabilities: Floats) -> Floats:
        """Calibrate rows of probabilities, in place."""
        _check_classes(probabilities, len(self.score_maps))
        for rows in tall_blocks(*probabilities.shape):
            self._recalibrate_block(probabilities[rows])
        return probabilities

    def _recalibrate_block(self, block: Floats) -> None:
        before = block.copy()
        _replace_columns(block, self.score_maps)
        empty = normalise(block)
        block[empty] = before[empty]

    def fallback_rows(self, logits: ArrayLike) -> int:
        """Count the rows that keep their probabilities because every map gives them 0.

        ``logits``: raw outputs before softmax; shape (n_samples, n_classes).

        Rows that `predict_proba` leaves uncalibrated.
        """
        probabilities = softmax(logits)
        _check_classes(probabilities, len(self.score_maps))
        _replace_columns(probabilities, self.score_maps)
        return int(np.count_nonzero(~probabilities.any(axis=1)))


@dataclass(frozen=True)
class OneVsRest(Lift):
    """Calibrate each class on its own, then make every row sum to 1.

    The classes may change their order, so accuracy can change.

    Parameters
    ----------
    score_map : ScoreMap
        Fitted once a class: on the class's probabilities, and on whether it was the true one.

    Notes
    -----
    p_k becomes g_k(p_k) / sum_j g_j(p_j). A row all of whose g_j are 0 keeps its uncalibrated
    probabilities, the limit of adding a vanishing part of them to each; `fallback_rows` of the
    fitted map counts such rows. The authors' program of Zhang 2020 leaves the rows of its
    one-vs-rest isotonic regression (IROvA) unnormalised.

    References
    ----------
    Zadrozny and Elkan, *Transforming classifier scores into accurate multiclass probability
    estimates*, KDD 2002; Zhang et al., ICML 2020, section 3.3.1 (IROvA).

    Examples
    --------
    >>> from calibcore.calibrators.score_maps.isotonic import IsotonicCalibration
    >>> fitted = OneVsRest(IsotonicCalibration()).fit([[1.0, 0.0]] * 4, [0, 0, 0, 1])
    >>> fitted.predict_proba([[1.0, 0.0]]).tolist()
    [[0.75, 0.25]]
    """

    score_map: ScoreMap

    def __post_init__(self) -> None:
        """Check the map."""
        check_score_map(self.score_map)

    def fit_probabilities(
        self, part: Part, n_classes: int, labels: Labels, progress: Progress | None = None
    ) -> FittedOneVsRest:
        """Fit on checked class probabilities."""
        maps = _fit_columns(self.score_map, part, labels, (n_classes, n_classes), progress)
        present = np.bincount(labels, minlength=n_classes) > 0
        said = absent(n_classes, np.flatnonzero(~present).tolist())
        said += gathered("Class", maps, np.flatnonzero(present).tolist())
        return FittedOneVsRest(maps, warnings=said)


# One map a rank -----------------------------------------------------------------------------------


def _rank(table: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Sort each row, the largest first and of equals the first of them; give the order too."""
    order = np.argsort(-table, axis=1)
    ranked = np.take_along_axis(table, order, axis=1)
    # A stable sort takes four times as long, and orders nothing else where no two are equal.
    tied = (ranked[:, 1:] == ranked[:, :-1]).any(axis=1)
    order[tied] = np.argsort(-table[tied], axis=1, kind="stable")
    return order, ranked


@result_class
class FittedPerRank(FittedLift):
    """One fitted map a rank."""

    score_maps: tuple[FittedScoreMap, ...]
    """Of the largest probability, the second largest, and so on."""

    def recalibrate(self, probabilities: Floats) -> Floats:
        """Calibrate rows of probabilities, in place."""
        if probabilities.shape[1] < len(self.score_maps):
            _check_classes(probabilities, len(self.score_maps))
        for rows in tall_blocks(*probabilities.shape, cells=_BESIDE // 2):
            self._recalibrate_block(probabilities[rows])
        return probabilities

    def _recalibrate_block(self, block: Floats) -> None:
        order, ranked = np.empty(block.shape, dtype=np.int32), np.empty(block.shape)
        for rows in row_blocks(*block.shape):
            order[rows], ranked[rows] = _rank(block[rows])
        _replace_columns(ranked, self.score_maps)
        empty = normalise(ranked)
        ranked[empty] = np.take_along_axis(block[empty], order[empty], axis=1)
        for rows in row_blocks(*block.shape):
            np.put_along_axis(block[rows], order[rows], ranked[rows], axis=1)


@dataclass(frozen=True)
class PerRank(Lift):
    """Calibrate the largest probability of each row, the second largest and so on by their own map.

    The classes may change their order, so accuracy can change.

    Parameters
    ----------
    score_map : ScoreMap
        Fitted once a rank: on the r-th largest probabilities, and on whether that class was the
        true one.
    n_ranks : int, optional
        How many ranks get a map; all by default. Lower ranks keep their probability until rows are
        made to sum to 1.

    Notes
    -----
    With k(r) the class of rank r: p_k(r) becomes g_r(p_k(r)) / sum_j g_j(p_k(j)). Classes of equal
    probability rank by their index, the lower first. The paper reports the accuracy after
    calibrating every rank by a spline and says nothing of sums; dividing a row by its sum, done
    here so that rows are probabilities, leaves that accuracy as it is, but moves the scores. To
    calibrate one rank as the paper does in its other tables, use the score map on the event itself.
    A row that becomes all 0 keeps its uncalibrated probabilities.

    References
    ----------
    Gupta et al., ICLR 2021, appendix D, Table 5.

    Examples
    --------
    >>> from calibcore.calibrators.score_maps.isotonic import IsotonicCalibration
    >>> fitted = PerRank(IsotonicCalibration()).fit([[1.0, 0.0]] * 4, [0, 0, 0, 1])
    >>> fitted.predict_proba([[0.0, 1.0]]).tolist()
    [[0.25, 0.75]]
    """

    score_map: ScoreMap
    n_ranks: int | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        check_score_map(self.score_map)
        if self.n_ranks is not None:
            validation.whole_number(self.n_ranks, "n_ranks", least=1)

    def fit_probabilities(
        self, part: Part, n_classes: int, labels: Labels, progress: Progress | None = None
    ) -> FittedPerRank:
        """Fit on checked class probabilities."""
        n_ranks = n_classes if self.n_ranks is None else self.n_ranks
        if n_ranks > n_classes:
            raise CalibrationInputError(
                "n_ranks", str(n_ranks), f"at most {n_classes}, the number of classes"
            )
        true_rank = np.empty(labels.size, dtype=np.int64)

        def ranked(rows: slice) -> Floats:
            order, table = _rank(part(rows))
            true_rank[rows] = (order == labels[rows, np.newaxis]).argmax(axis=1)
            return table

        maps = _fit_columns(self.score_map, ranked, true_rank, (n_classes, n_ranks), progress)
        said = gathered("Rank", [maps[0], *maps], range(1, n_ranks + 1))
        return FittedPerRank(maps, warnings=said)
