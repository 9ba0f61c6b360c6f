"""From a map of one score to a map of all classes: one map a class, or one a rank."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.blocks import row_totals
from calibcore.calibrators.base import (
    FittedScoreMap,
    FittedVectorMap,
    Progress,
    ScoreMap,
    SlowVectorMap,
)
from calibcore.data import LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.probabilities import softmax
from calibcore.validation import Floats, Labels

_TOGETHER = 32
"""Columns read at a time: a line of memory holds 8 of a row."""

_BESIDE = 1 << 21

_NAMED = 3
"""Warnings of single maps that are passed on; more are only counted."""


Part = Callable[[slice], Floats]
"""Gives some rows of a table, which may be overwritten."""


class FittedLift(FittedVectorMap):
    """A fitted lift, which works on class probabilities."""

    def predict_proba(self, logits: ArrayLike) -> Floats:
        """Calibrate rows of logits.

        Parameters
        ----------
        logits : array_like of float, shape (n_samples, n_classes)
            Raw outputs before softmax.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_classes)
            Rows sum to 1.

        Raises
        ------
        CalibrationInputError
            NaN or plus infinity, or another number of classes than in the fit.
        """
        return self.recalibrate(softmax(logits))

    @abstractmethod
    def recalibrate(self, probabilities: Floats) -> Floats:
        """Calibrate rows of probabilities, in place."""


class Lift(SlowVectorMap):
    """A calibrator of all classes made of one or many maps of a score."""

    def fit(
        self, logits: ArrayLike, labels: ArrayLike, *, progress: Progress | None = None
    ) -> FittedLift:
        """Fit on the logits and labels of the calibration set.

        Parameters
        ----------
        logits : array_like of float, shape (n_samples, n_classes)
            Raw outputs before softmax.
        labels : array_like of int, shape (n_samples,)
            True classes, from 0.
        progress : callable, optional
            Told the share of the fit that is done.

        Returns
        -------
        FittedLift

        Raises
        ------
        CalibrationInputError
            NaN or infinity in the logits, labels that do not fit, or what the score map refuses.
        """
        rows = LogitSet(logits, labels)
        return self.fit_probabilities(
            lambda some: softmax(rows.logits[some]), rows.n_classes, rows.labels, progress
        )

    @abstractmethod
    def fit_probabilities(
        self, part: Part, n_classes: int, labels: Labels, progress: Progress | None = None
    ) -> FittedLift:
        """Fit on checked class probabilities, of which ``part`` gives some rows at a time."""


def _columns(part: Part, shape: tuple[int, int], n_columns: int) -> Iterator[tuple[int, Floats]]:
    """Turn a table of that shape into its first columns, and forget them as they are used.

    So what is fitted on them takes the place of the table, which is never held as a whole.
    """
    starts = range(0, n_columns, _TOGETHER)
    groups = [np.empty((min(_TOGETHER, n_columns - start), shape[0])) for start in starts]
    for rows in tall_blocks(*shape):
        block = part(rows)
        for start, group in zip(starts, groups, strict=True):
            group[:, rows] = block[:, start : start + len(group)].T
    groups.reverse()
    for start in starts:
        yield from ((start + number, column) for number, column in enumerate(groups.pop()))


def _replace_columns(table: Floats, maps: Sequence[FittedScoreMap]) -> None:
    """Send each of the first columns through its map, in place."""
    for start in range(0, len(maps), _TOGETHER):
        chosen = maps[start : start + _TOGETHER]
        together = table[:, start : start + len(chosen)].T.copy()
        for column, fitted in zip(together, chosen, strict=True):
            column[:] = fitted.predict(column)
        table[:, start : start + len(chosen)] = together.T


def normalise(table: Floats) -> NDArray[np.bool_]:
    """Make rows sum to 1, in place; mark those that cannot, all of whose entries are 0."""
    total = row_totals(table)
    empty: NDArray[np.bool_] = total[:, 0] == 0
    total[empty] = 1.0
    table /= total
    return empty


def _gathered(what: str, maps: Sequence[FittedScoreMap], numbers: Iterable[int]) -> tuple[str, ...]:
    """Pass on what the first of the chosen maps with warnings say, and count the others."""
    said = [(number, maps[number].warnings) for number in numbers if maps[number].warnings]
    found = [
        f"{what} {number}: {sentence}"
        for number, sentences in said[:_NAMED]
        for sentence in sentences
    ]
    if len(said) > _NAMED:
        found.append(
            f"The maps of {len(said):,} of {len(maps):,} have warnings; those of the first"
            f" {_NAMED} are shown."
        )
    return tuple(found)


def _absent(n_classes: int, missing: list[int]) -> tuple[str, ...]:
    """Name the classes that no calibration row belongs to."""
    if not missing:
        return ()
    first = ", ".join(str(k) for k in missing[:5]) + (", ..." if len(missing) > 5 else "")
    have = "has" if len(missing) == 1 else "have"
    said = (
        f"{len(missing):,} of {n_classes:,} classes {have} no row in the calibration set ({first}),"
        " so nothing is known of them but that they did not happen."
    )
    return (said,)


def check_score_map(value: ScoreMap) -> None:
    """Refuse to lift anything but a map of one score."""
    if not isinstance(value, ScoreMap):
        raise CalibrationInputError("score_map", type(value).__name__, "a map of one score")


def tell(progress: Progress | None, done: float) -> None:
    """Say how far a fit is, to whoever listens."""
    if progress is not None:
        progress(done)


def tall_blocks(n_rows: int, n_classes: int) -> Iterator[slice]:
    """Cut rows into blocks of some 2 million cells, so that what is kept beside stays small."""
    step = max(1, _BESIDE // n_classes)
    return (slice(start, start + step) for start in range(0, n_rows, step))


def _check_classes(table: Floats, n_classes: int) -> None:
    if table.shape[1] != n_classes:
        raise CalibrationInputError(
            "logits", f"{table.shape[1]} classes", f"the {n_classes} classes of the fit"
        )


# One map a class ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FittedOneVsRest(FittedLift):
    """One fitted map a class.

    Attributes
    ----------
    score_maps : tuple of FittedScoreMap
        One a class.
    """

    score_maps: tuple[FittedScoreMap, ...]

    def recalibrate(self, probabilities: Floats) -> Floats:
        """Calibrate rows of probabilities, in place."""
        _check_classes(probabilities, len(self.score_maps))
        for rows in tall_blocks(*probabilities.shape):
            block = probabilities[rows]
            before = block.copy()
            _replace_columns(block, self.score_maps)
            empty = normalise(block)
            block[empty] = before[empty]
        return probabilities

    def fallback_rows(self, logits: ArrayLike) -> int:
        """Count the rows that keep their probabilities because every map gives them 0.

        Parameters
        ----------
        logits : array_like of float, shape (n_samples, n_classes)
            Raw outputs before softmax.

        Returns
        -------
        int
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
    >>> from calibcore.calibrators.isotonic import IsotonicCalibration
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
        maps = []
        for k, column in _columns(part, (labels.size, n_classes), n_classes):
            maps.append(self.score_map.fit(column, labels == k))
            tell(progress, (k + 1) / n_classes)
        present = np.bincount(labels, minlength=n_classes) > 0
        said = _absent(n_classes, np.flatnonzero(~present).tolist())
        said += _gathered("Class", maps, np.flatnonzero(present).tolist())
        return FittedOneVsRest(tuple(maps), warnings=said)


# One map a rank -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FittedPerRank(FittedLift):
    """One fitted map a rank.

    Attributes
    ----------
    score_maps : tuple of FittedScoreMap
        Of the largest probability, the second largest, and so on.
    """

    score_maps: tuple[FittedScoreMap, ...]

    def recalibrate(self, probabilities: Floats) -> Floats:
        """Calibrate rows of probabilities, in place."""
        if probabilities.shape[1] < len(self.score_maps):
            _check_classes(probabilities, len(self.score_maps))
        for rows in tall_blocks(*probabilities.shape):
            block = probabilities[rows]
            order = np.argsort(-block, axis=1, kind="stable")
            ranked = np.take_along_axis(block, order, axis=1)
            _replace_columns(ranked, self.score_maps)
            usable = ~normalise(ranked)
            order, ranked = order[usable], ranked[usable]
            calibrated = np.empty_like(ranked)
            np.put_along_axis(calibrated, order, ranked, axis=1)
            block[usable] = calibrated
        return probabilities


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
    >>> from calibcore.calibrators.isotonic import IsotonicCalibration
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
        true_rank, maps = np.empty(labels.size, dtype=np.int64), []

        def ranked(rows: slice) -> Floats:
            block = part(rows)
            order = np.argsort(-block, axis=1, kind="stable")
            true_rank[rows] = (order == labels[rows, np.newaxis]).argmax(axis=1)
            return np.take_along_axis(block, order, axis=1)

        for r, column in _columns(ranked, (labels.size, n_classes), n_ranks):
            maps.append(self.score_map.fit(column, true_rank == r))
            tell(progress, (r + 1) / n_ranks)
        said = _gathered("Rank", [maps[0], *maps], range(1, n_ranks + 1))
        return FittedPerRank(tuple(maps), warnings=said)
