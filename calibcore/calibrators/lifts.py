"""From score maps to vector maps: a map per class or rank, one for all, one after another."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.calibrators.base import (
    AT_LEAST_0,
    POSITIVE,
    Breaks,
    FittedScoreMap,
    FittedVectorMap,
    Progress,
    Rules,
    ScoreMap,
    SlowVectorMap,
    VectorMap,
    part_of,
    weighed_rows,
)
from calibcore.calibrators.descriptions import SOFTMAX, TWELVE_DECIMALS, Recipe
from calibcore.data import LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.ordering import sort_together
from calibcore.probabilities import PROBABILITY_FLOOR, softmax, sum_columns, twelve_decimals
from calibcore.results import result_class
from calibcore.strips import row_strips
from calibcore.validation import Floats, Labels
from calibcore.weights import RowWeights, SampleWeight, sampling_weights, weights_named

# What a lift says of the maps it is made of ---------------------------------------------------


_NAMED = 3
"""Warnings of single maps that are passed on; more are only counted."""


def gathered(what: str, maps: Sequence[FittedScoreMap], numbers: Iterable[int]) -> tuple[str, ...]:
    """Pass on what the first of the chosen maps with warnings say, and count the others."""
    each = ((number, maps[number].warnings) for number in numbers)
    harmful = (
        (number, [one for one in those if one not in maps[number].HARMLESS])
        for number, those in each
    )
    with_warnings = [(number, sentences) for number, sentences in harmful if sentences]
    texts = [
        f"{what} {number}: {sentence}"
        for number, sentences in with_warnings[:_NAMED]
        for sentence in sentences
    ]
    if len(with_warnings) > _NAMED:
        texts.append(
            f"The maps of {len(with_warnings):,} of {len(maps):,} have warnings; those of the first"
            f" {_NAMED} are shown."
        )
    return tuple(texts)


def absent(n_classes: int, missing: list[int]) -> tuple[str, ...]:
    """Name the classes that no calibration row belongs to."""
    if not missing:
        return ()
    first = ", ".join(str(k) for k in missing[:5]) + (", ..." if len(missing) > 5 else "")
    have = "has" if len(missing) == 1 else "have"
    warning = (
        f"{len(missing):,} of {n_classes:,} classes {have} no row in the calibration set ({first}),"
        " so nothing is known of them but that they did not happen."
    )
    return (warning,)


# What a map of one score takes of the probabilities of classes ---------------------------------


def _scores_for(score_map: ScoreMap | FittedScoreMap, probabilities: Floats) -> Floats:
    """Return probabilities as a map takes them, in its fit and after it.

    They come by logarithms and exponentials; at a step or a corner, those that were given as equal
    have to be equal again.
    """
    return twelve_decimals(probabilities) if score_map.HAS_BREAKS else probabilities


def _lines_before(fitted: FittedScoreMap) -> list[str]:
    """Return the lines of NumPy that do so to ``x``."""
    return [TWELVE_DECIMALS] if fitted.HAS_BREAKS else []


# From a map of one score to a map of all classes: one map a class, or one a rank --------------


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


_SUM_TO_1 = [
    "total = r.sum(axis=1, keepdims=True)",
    "y = np.where(total > 0, r / np.where(total > 0, total, 1.0), before)",
]


def each_column(maps: Sequence[FittedScoreMap]) -> Recipe | None:
    """Return the lines that send each column of ``r`` through its own map."""
    recipes = [one.recipe() for one in maps]
    known = [one for one in recipes if one is not None]
    if len(known) < len(recipes) or any(one[1] != known[0][1] for one in known):
        return None
    names = ", ".join(name.upper() for name in known[0][0])
    constants = [tuple(numbers.values()) for numbers, _ in known]
    lines = [f"for k, ({names},) in enumerate(MAPS):", "    x = r[:, k]"]
    return {"maps": constants}, [
        *lines,
        *(f"    {line}" for line in [*_lines_before(maps[0]), *known[0][1]]),
        "    r[:, k] = y",
    ]


class FittedLift(FittedVectorMap):
    """A fitted lift, which works on class probabilities."""

    def predict_proba(self, logits: ArrayLike) -> Floats:
        return self.recalibrate(softmax(logits))

    @abstractmethod
    def recalibrate(self, probabilities: Floats) -> Floats:
        """Calibrate rows of probabilities, in place."""

    @abstractmethod
    def on_probabilities(self) -> Recipe | None:
        """Return its lines of NumPy that turn ``y``, probabilities, into ``y``; None for none."""

    def recipe(self) -> Recipe | None:
        inner = self.on_probabilities()
        return None if inner is None else (inner[0], ["y = x", *SOFTMAX, *inner[1]])


class Lift(SlowVectorMap):
    """A calibrator of all classes made of one or many maps of a score."""

    def fit(
        self,
        logits: ArrayLike,
        labels: ArrayLike,
        *,
        progress: Progress | None = None,
        sample_weight: SampleWeight = None,
    ) -> FittedLift:
        logits, labels, weights = weighed_rows(logits, labels, sample_weight)
        rows = LogitSet(logits, labels)
        return self.fit_probabilities(
            lambda some: softmax(rows.logits[some]), rows.n_classes, rows.labels, progress, weights
        )

    @abstractmethod
    def fit_probabilities(
        self,
        part: Part,
        n_classes: int,
        labels: Labels,
        progress: Progress | None = None,
        weights: RowWeights | None = None,
    ) -> FittedLift:
        """Fit on checked class probabilities, of which ``part`` gives some rows at a time.

        ``weights``: sampling weights of the rows.
        """


def _columns(
    part: Part, shape: tuple[int, int], n_columns: int, progress: Progress
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
        progress(_READING * min(rows.stop / shape[0], 1.0))
    groups.reverse()
    for start in starts:
        for number, column in enumerate(groups.pop(), start=start):
            yield number, column
            progress(_READING + (1 - _READING) * (number + 1) / n_columns)


def _fit_columns(
    score_map: ScoreMap,
    part: Part,
    own: Labels,
    sizes: tuple[int, int],
    progress_and_weights: tuple[Progress | None, RowWeights | None],
) -> tuple[FittedScoreMap, ...]:
    """Fit a map on each of the first columns, which a row hits where that column is its own."""
    (n_classes, n_columns), (progress, weights) = sizes, progress_and_weights
    columns = _columns(part, (own.size, n_classes), n_columns, part_of(progress))
    weighed = weights_named(weights)
    return tuple(
        score_map.fit(_scores_for(score_map, column), own == number, **weighed)
        for number, column in columns
    )


def _replace_columns(table: Floats, maps: Sequence[FittedScoreMap]) -> None:
    """Send each of the first columns through its map, in place."""
    for start in range(0, len(maps), _TOGETHER):
        chosen = maps[start : start + _TOGETHER]
        together = table[:, start : start + len(chosen)].T.copy()
        for column, fitted in zip(together, chosen, strict=True):
            column[:] = fitted.predict(_scores_for(fitted, column))
        table[:, start : start + len(chosen)] = together.T


def normalise(table: Floats) -> NDArray[np.bool_]:
    """Make rows sum to 1, in place; mark those that cannot, all of whose entries are 0.

    Maps give many rows the same few numbers, and a lift after this one must find them tied whatever
    the order of the classes.
    """
    empty = np.empty(len(table), dtype=np.bool_)
    for rows in row_strips(*table.shape):
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

    def on_probabilities(self) -> Recipe | None:
        columns = each_column(self.score_maps)
        if columns is None:
            return None
        numbers, lines = columns
        return numbers, ["before, r = y, y.copy()", *lines, *_SUM_TO_1]


@dataclass(frozen=True)
class OneVsRest(Lift):
    """Calibrate each class on its own, then make every row sum to 1.

    The classes may change their order, so accuracy can change.

    Parameters
    ----------
    score_map : ScoreMap
        Fitted once a class: on the class's probabilities, to 12 decimals if the map has steps or
        corners, and on whether it was the true one.

    Notes
    -----
    p_k becomes g_k(p_k) / sum_j g_j(p_j). A row all of whose g_j are 0 keeps its uncalibrated
    probabilities, the limit of adding a vanishing part of them to each. The authors'
    program of Zhang 2020 leaves the rows of its one-vs-rest isotonic regression (IROvA)
    unnormalised.

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
        self,
        part: Part,
        n_classes: int,
        labels: Labels,
        progress: Progress | None = None,
        weights: RowWeights | None = None,
    ) -> FittedOneVsRest:
        """Fit on checked class probabilities."""
        maps = _fit_columns(
            self.score_map, part, labels, (n_classes, n_classes), (progress, weights)
        )
        present = np.bincount(labels, minlength=n_classes) > 0
        warnings = absent(n_classes, np.flatnonzero(~present).tolist())
        warnings += gathered("Class", maps, np.flatnonzero(present).tolist())
        return FittedOneVsRest(maps, warnings=warnings)


# One map a rank -----------------------------------------------------------------------------------


def _rank(table: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Sort each row, the largest first and of equals the first of them; give the order too.

    What is too small for a float's digits counts as 0, as not every program tells it from that.
    """
    falling = -twelve_decimals(table)
    falling[table < PROBABILITY_FLOOR] = 0.0
    order = np.argsort(falling, axis=1)
    ranked = np.take_along_axis(falling, order, axis=1)
    # A stable sort takes four times as long, and orders nothing else where no two are equal.
    tied = (ranked[:, 1:] == ranked[:, :-1]).any(axis=1)
    order[tied] = np.argsort(falling[tied], axis=1, kind="stable")
    return order, np.take_along_axis(table, order, axis=1)


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
        for rows in row_strips(*block.shape):
            order[rows], ranked[rows] = _rank(block[rows])
        _replace_columns(ranked, self.score_maps)
        empty = normalise(ranked)
        ranked[empty] = np.take_along_axis(block[empty], order[empty], axis=1)
        for rows in row_strips(*block.shape):
            np.put_along_axis(block[rows], order[rows], ranked[rows], axis=1)

    def on_probabilities(self) -> Recipe | None:
        columns = each_column(self.score_maps)
        if columns is None:
            return None
        numbers, lines = columns
        return numbers, [
            "x = y",
            TWELVE_DECIMALS,
            f"x[x < {PROBABILITY_FLOOR!r}] = 0.0  # in any order of the classes",
            'order = np.argsort(-x, axis=1, kind="stable")',
            "before = np.take_along_axis(y, order, axis=1)",
            "r = before.copy()",
            *lines,
            *_SUM_TO_1,
            "r = np.empty_like(y)",
            "np.put_along_axis(r, order, y, axis=1)",
            "y = r",
        ]


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
    probability, to 12 decimals, rank by their index, the lower first. The paper reports the
    accuracy after calibrating every rank by a spline and says nothing of sums; dividing a row by
    its sum, done here so that rows are probabilities, leaves that accuracy as it is, but moves the
    scores. To calibrate one rank as the paper does in its other tables, use the score map on the
    event itself. A row that becomes all 0 keeps its uncalibrated probabilities.

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
        self,
        part: Part,
        n_classes: int,
        labels: Labels,
        progress: Progress | None = None,
        weights: RowWeights | None = None,
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

        maps = _fit_columns(
            self.score_map, ranked, true_rank, (n_classes, n_ranks), (progress, weights)
        )
        warnings = gathered("Rank", [maps[0], *maps], range(1, n_ranks + 1))
        return FittedPerRank(maps, warnings=warnings)


# From a map of one score to a map of all classes: the same map for all of them ----------------


_SHARE_READ, _SHARE_SORTED = 0.3, 0.8
"""Shares of a fit that are over when the table has been read, and when it is sorted."""


def _check_strictness(value: float) -> None:
    if not 0 < value <= 1e-3:
        raise CalibrationInputError("strictness", repr(value), "above 0, at most 0.001")


def _fit_pooled(
    score_map: ScoreMap,
    probabilities: Floats,
    labels: Labels,
    progress: Progress | None = None,
    weights: RowWeights | None = None,
) -> FittedScoreMap:
    """Fit on all entries of a table, which is overwritten."""
    report = part_of(progress)
    for rows in row_strips(*probabilities.shape):
        probabilities[rows] = _scores_for(score_map, probabilities[rows])
    table = np.zeros(probabilities.shape, dtype=np.int8)
    table[np.arange(len(labels)), labels] = 1
    scores, hits = probabilities.reshape(-1), table.reshape(-1)
    if weights is not None:
        each = sampling_weights(np.repeat(weights.values, probabilities.shape[1]))
        return score_map.fit(scores, hits.view(np.bool_), sample_weight=each)
    # Sorted here, in place, as a score map would sort a copy of a table that fills the memory.
    sort_together(scores, hits)
    report(_SHARE_SORTED)
    fitted = score_map.fit(scores, hits.view(np.bool_))
    report(1.0)
    return fitted


def keep_decisions(block: Floats, decided: NDArray[np.intp]) -> None:
    """Let decided classes win by a last digit where doubles are too coarse to keep the order."""
    at, first = np.arange(len(block)), block.argmax(axis=1)
    largest, own = block[at, first], block[at, decided]
    lost = (first != decided) & (own >= largest * (1 - 1e-14))
    block[at[lost], decided[lost]] = np.nextafter(largest[lost], 2.0)


@result_class
class FittedPooledClasses(FittedLift):
    """One fitted map for the probabilities of all classes."""

    score_map: FittedScoreMap
    """Fitted on the entries of all rows and classes together."""
    strictness: float
    """Part of the uncalibrated probability that is added."""

    RULES: ClassVar[Rules] = {"strictness": POSITIVE}

    def recalibrate(self, probabilities: Floats) -> Floats:
        """Calibrate rows of probabilities, in place."""
        for rows in row_strips(*probabilities.shape):
            block = probabilities[rows]
            decided = block.argmax(axis=1)
            scores = _scores_for(self.score_map, block.ravel())
            mapped = self.score_map.predict(scores).reshape(block.shape)
            block *= self.strictness
            block += mapped
            normalise(block)
            keep_decisions(block, decided)
        return probabilities

    def on_probabilities(self) -> Recipe | None:
        inner = self.score_map.recipe()
        if inner is None:
            return None
        numbers, lines = inner
        return numbers | {"strictness": self.strictness}, [
            "before = y",
            "x = y.ravel()",
            *_lines_before(self.score_map),
            *lines,
            "r = y.reshape(before.shape) + STRICTNESS * before",
            *_SUM_TO_1,
        ]


@dataclass(frozen=True)
class PooledClasses(Lift):
    """Calibrate the probabilities of all classes by one map, then make every row sum to 1.

    If the map never falls, as isotonic regression (this is IRM), the classes keep their order in
    every row, so accuracy cannot change.

    Parameters
    ----------
    score_map : ScoreMap
        Fitted once, on the probabilities of all classes and rows and on whether each class was
        the true one.
    strictness : float, default 1e-9
        Part of the uncalibrated probability that is added to the map, so that it rises strictly;
        the authors' program adds 1e-9.

    Notes
    -----
    p_k becomes h(p_k) / sum_j h(p_j) with h(p) = g(p) + strictness p (step 3 and eq. 4). Where two
    classes differ by less than doubles can hold after that, the uncalibrated decision is kept.
    The authors' program does not divide by the sum; see `PooledScores`.

    References
    ----------
    Zhang et al., ICML 2020, section 3.3.2 (IRM).

    Examples
    --------
    >>> from calibcore.calibrators.score_maps.isotonic import IsotonicCalibration
    >>> fitted = PooledClasses(IsotonicCalibration()).fit([[1.0, 0.0]] * 4, [0, 0, 0, 1])
    >>> fitted.predict_proba([[1.0, 0.0]]).round(6).tolist()
    [[0.75, 0.25]]
    """

    score_map: ScoreMap
    strictness: float = 1e-9

    def __post_init__(self) -> None:
        """Check the options."""
        check_score_map(self.score_map)
        _check_strictness(self.strictness)

    def fit_probabilities(
        self,
        part: Part,
        n_classes: int,
        labels: Labels,
        progress: Progress | None = None,
        weights: RowWeights | None = None,
    ) -> FittedPooledClasses:
        """Fit on checked class probabilities."""
        table, report = np.empty((labels.size, n_classes)), part_of(progress)
        for rows in tall_blocks(*table.shape):
            table[rows] = part(rows)
            report(_SHARE_READ * min(rows.stop / labels.size, 1.0))
        fitted = _fit_pooled(self.score_map, table, labels, progress, weights)
        return FittedPooledClasses(fitted, self.strictness, warnings=fitted.warnings)


@result_class
class FittedPooledScores(FittedScoreMap):
    """One map fitted on the probabilities of all classes, for the score of the chosen event."""

    score_map: FittedScoreMap
    """Fitted on the entries of all rows and classes together."""
    strictness: float
    """Part of the uncalibrated score that is added."""

    RULES: ClassVar[Rules] = {"strictness": AT_LEAST_0}

    def predict(self, scores: ArrayLike) -> Floats:
        checked = validation.scores(scores)
        mapped = self.score_map.predict(_scores_for(self.score_map, checked))
        return np.minimum(mapped + self.strictness * checked, 1.0)

    def recipe(self) -> Recipe | None:
        inner = self.score_map.recipe()
        if inner is None:
            return None
        numbers, lines = inner
        return numbers | {"strictness": self.strictness}, [
            "given = x",
            *_lines_before(self.score_map),
            *lines,
            "y = np.minimum(y + STRICTNESS * given, 1.0)",
        ]

    def breaks(self) -> Breaks:
        return self.score_map.breaks()


@dataclass(frozen=True)
class PooledScores:
    """`PooledClasses` without its last step: rows are not made to sum to 1.

    What comes out are no class probabilities, so it acts on the score of the chosen event alone,
    as a score map does; but it learns from all classes. The classes keep their order.

    ``score_map``, ``strictness``: as for `PooledClasses`.

    The score s of a top-r or one-class event becomes min(1, g(s) + strictness s), which is what
    the authors' program of Zhang 2020 evaluates. The score of a within-top-r event is a sum of
    probabilities, which this map was not made for.
    """

    score_map: ScoreMap
    strictness: float = 1e-9

    def __post_init__(self) -> None:
        """Check the options."""
        check_score_map(self.score_map)
        _check_strictness(self.strictness)

    def fit(
        self, logits: ArrayLike, labels: ArrayLike, *, sample_weight: SampleWeight = None
    ) -> FittedPooledScores:
        """Fit on the logits and labels of the calibration set, as `PooledClasses.fit`."""
        logits, labels, weights = weighed_rows(logits, labels, sample_weight)
        rows = LogitSet(logits, labels)
        table = softmax(rows.logits)
        fitted = _fit_pooled(self.score_map, table, rows.labels, weights=weights)
        return FittedPooledScores(fitted, self.strictness, warnings=fitted.warnings)


# One calibrator of all classes after another --------------------------------------------------


def _as_logits(probabilities: Floats) -> Floats:
    """Take logarithms, in place; a probability of 0 rules the class out."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities, out=probabilities))


@result_class
class FittedChain(FittedVectorMap):
    """Two fitted calibrators, one after the other."""

    first: FittedVectorMap
    second: FittedVectorMap
    """The second takes the logarithms of the first's probabilities for logits."""

    def predict_proba(self, logits: ArrayLike) -> Floats:
        checked = validation.logits(logits)
        result = np.empty(checked.shape)
        for rows in tall_blocks(*checked.shape):  # so that one table of results is held, not two
            between = self.first.predict_proba(checked[rows])
            if isinstance(self.second, FittedLift):
                result[rows] = self.second.recalibrate(between)
            else:
                result[rows] = self.second.predict_proba(_as_logits(between))
        return result

    def recipe(self) -> Recipe | None:
        first = self.first.recipe()
        second = self.second.on_probabilities() if isinstance(self.second, FittedLift) else None
        if first is None or second is None or first[0].keys() & second[0].keys():
            return None
        return first[0] | second[0], [*first[1], *second[1]]


@dataclass(frozen=True)
class Chain(SlowVectorMap):
    """Calibrate what another calibrator has calibrated.

    A first calibrator of few parameters leaves the second less to learn. Accuracy cannot change if
    neither of the two can change it.

    Parameters
    ----------
    first, second : VectorMap
        Both are fitted on the whole calibration set: the second on the logarithms of the
        probabilities that the first gives there.

    Notes
    -----
    ``Chain(TemperatureScaling(), OneVsRest(IsotonicCalibration()))`` is IROvA-TS, and with
    ``PooledClasses`` it is IRM-TS. A lift needs no logarithm, and is handed the probabilities.

    References
    ----------
    Zhang et al., ICML 2020, section 3.4.

    Examples
    --------
    >>> from calibcore.calibrators.temperature import TemperatureScaling
    >>> twice = Chain(TemperatureScaling(), TemperatureScaling())
    >>> fitted = twice.fit([[2.0, 0.0]] * 4, [0, 0, 0, 1])
    >>> round(fitted.second.temperature, 6)
    1.0
    """

    first: VectorMap
    second: VectorMap

    def __post_init__(self) -> None:
        """Check that both calibrate all classes."""
        for field, value in (("first", self.first), ("second", self.second)):
            if not isinstance(value, VectorMap):
                raise CalibrationInputError(
                    field, type(value).__name__, "a calibrator of all classes, or a lift"
                )

    def fit(
        self,
        logits: ArrayLike,
        labels: ArrayLike,
        *,
        progress: Progress | None = None,
        sample_weight: SampleWeight = None,
    ) -> FittedChain:
        logits, labels, weights = weighed_rows(logits, labels, sample_weight)
        rows = LogitSet(logits, labels)
        first = _fit(self.first, rows, part_of(progress, 0.0, 0.5), weights)
        second: FittedVectorMap
        if isinstance(self.second, Lift):
            second = self.second.fit_probabilities(
                lambda some: first.predict_proba(rows.logits[some]),
                rows.n_classes,
                rows.labels,
                part_of(progress, 0.5),
                weights,
            )
        else:
            calibrated = LogitSet(_as_logits(first.predict_proba(rows.logits)), rows.labels)
            second = _fit(self.second, calibrated, part_of(progress, 0.5), weights)
        return FittedChain(first, second, warnings=first.warnings + second.warnings)


def _fit(
    calibrator: VectorMap, rows: LogitSet, progress: Progress | None, weights: RowWeights | None
) -> FittedVectorMap:
    weighed = weights_named(weights)
    if isinstance(calibrator, SlowVectorMap):
        return calibrator.fit(rows.logits, rows.labels, progress=progress, **weighed)
    return calibrator.fit(rows.logits, rows.labels, **weighed)
