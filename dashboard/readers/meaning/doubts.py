"""Names and labels that speak against what the values were taken for."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from calibcore.cumulative import cumulative_curves
from calibcore.data import EventScores, LogitSet, Rows
from calibcore.inference import smallest_gap_shown
from calibcore.strips import row_strips
from calibcore.validation import Floats
from dashboard.readers.meaning.repeated import repeated
from dashboard.readers.meaning.scale import Scale
from dashboard.readers.meaning.spelling import folded
from dashboard.readers.meaning.value_summary import few_decimals
from dashboard.readers.records import (
    SET_NAMES,
    Array,
    ColumnUse,
    GroupingColumn,
    RawEvent,
    RawSet,
    ReadingOptions,
    Role,
    ValuesKind,
    of_set,
)
from dashboard.readers.refusal import percent, quoted, visible

_LOGITS = frozenset({"logit", "logits"})
_SHARES = frozenset(
    {"prob", "probs", "proba", "probas", "probability", "probabilities", "softmax", "percent"}
)
_LOGARITHMS = frozenset({"log", "logprob", "logprobs", "raw", "unnormalized"})
_OF_ONE = frozenset({"p", "phat", "risk", "fitted"})
"""What one probability is called, besides."""

_FEW_TO_TELL = 20
_CLEAR = 3.0
_HALF, _NEARLY_ALL = 0.5, 0.8
_IN_ORDER = 100_000


def called_otherwise(
    uses: Mapping[str, ColumnUse], reading: Scale, *, one_score: bool = False
) -> Iterator[str]:
    """Doubt logits that are called probabilities, and the reverse.

    Logarithms of probabilities give these either way, and a single score may have its doubts.
    """
    names = [name for name, use in uses.items() if use == "class"]
    words = [{*re.split(r"[^a-z]+", name.lower())} for name in names]
    if not names:
        return
    names_of_shares = _SHARES | _OF_ONE if one_score else _SHARES
    shares = all(part & names_of_shares and not part & (_LOGITS | _LOGARITHMS) for part in words)
    logits = all(part & _LOGITS and not part & (_SHARES | _LOGARITHMS) for part in words)
    if reading.kind == "logits" and shares and not reading.natural:
        which = "some" if one_score else "they"
        yield (
            f"The values are called {quoted(names[0], 30)}, but {which} are outside 0 to 1 and were"
            " read as logits."
        )
    if reading.kind == "probabilities" and logits and not (one_score and reading.doubts):
        what = "all are within 0 to 1" if one_score else f"every row sums to {reading.divisor:.0f}"
        yield (
            f"The values are called {quoted(names[0], 30)}, but {what} and they were read as"
            " probabilities."
        )


def turned(rows: Rows, where: str, *, one_score: bool = False) -> Iterator[str]:
    """Doubt scores that are lower where what they are of is true, of two classes at most.

    They are so by three standard errors, which is chance in 1 of 700 sets whose scores tell
    nothing. ``one_score``: the file has a score of one of two classes alone.
    """
    if isinstance(rows, EventScores):
        area = _area(rows.scores[:_IN_ORDER], rows.hits[:_IN_ORDER] == 1)
        if area is not None:
            yield (
                f"Scores{where} are lower in rows that are right than in others (AUC {area:.2f};"
                " 0.5 is chance): perhaps they measure doubt, as an entropy does, or stand beside"
                " other rows."
            )
        elif _are_of_true_class(rows):
            yield (
                f"No score{where} is above 0.5 where the prediction is wrong, and nearly all where"
                " it is right: perhaps they are of the true class, not of the predicted one."
            )
        return
    if rows.n_classes != 2:
        return
    given = rows.given[:_IN_ORDER]
    area = _area(np.nan_to_num(given[:, 1] - given[:, 0]), rows.labels[:_IN_ORDER] == 1)
    if area is None:
        return
    one, other = (visible(rows.class_names[k], 30) for k in (1, 0))
    mend = "the columns are in the other order."
    if one_score:
        mend = "the score is of the other class. If so, choose that one as the event."
    yield (
        f"Scores of class {one}{where} are lower in rows of class {one} than in rows of class"
        f" {other} (AUC {area:.2f}; 0.5 is chance): perhaps the labels are turned round, or {mend}"
    )


def _area(scores: Floats, truth: NDArray[np.bool_]) -> float | None:
    """Return the area under the ROC curve if it is clearly below one half."""
    n_ones = int(np.count_nonzero(truth))
    pairs = n_ones * (len(truth) - n_ones)
    if not pairs or len(truth) < _FEW_TO_TELL:
        return None
    noise = np.sqrt((len(truth) + 1) / (12 * pairs))
    others, ones = np.sort(scores[~truth]), scores[truth]
    below = np.searchsorted(others, ones, "left") + np.searchsorted(others, ones, "right")
    area = float(below.sum() / (2 * pairs))
    return area if area < 0.5 - _CLEAR * noise else None


def _are_of_true_class(rows: EventScores) -> bool:
    """Recognise scores that say themselves which rows are right, as those of the true class do."""
    right, high = rows.hits == 1, rows.scores > _HALF
    n_wrong, n_right = int(np.count_nonzero(~right)), int(np.count_nonzero(right))
    enough = min(n_wrong, n_right) >= _FEW_TO_TELL
    return enough and not high[~right].any() and bool(high[right].mean() > _NEARLY_ALL)


# What a careful reader would warn of: nothing is changed, and every sentence has its figures ---


_FEW_ROWS = 20
"""Below so many rows much happens by chance."""

_FEW_EVENTS = 10
_WIDE_GAP = 0.10
_MANY_ROWS, _SORTED = 1000, 100_000
"""Above these a gap that goes unseen is never wide, or too small to be worth a sort."""

_LOOKED_AT = 1000

_SATURATED = 0.01
_TIE = 1e-6


@dataclass(frozen=True, eq=False)
class _SetWithClasses:
    """One set, with each row's likeliest class; scores of all rows would weigh as much as one."""

    role: Role
    rows: Rows
    raw: RawSet | RawEvent
    first_scores: Floats
    mean_score: float
    certain: NDArray[np.bool_]
    hits: NDArray[np.bool_]
    classes: NDArray[np.unsignedinteger] | None

    @property
    def where(self) -> str:
        """Return of which set something is said."""
        return of_set(self.role)


def doubts_of(
    sets: Mapping[Role, Rows],
    raw: Mapping[Role, RawSet | RawEvent],
    kind: ValuesKind,
    options: ReadingOptions,
) -> tuple[str, ...]:
    """List what may be wrong with sets that can be used, ``raw`` as they stood in the file."""
    seen = [_look(role, rows, raw[role]) for role, rows in sets.items()]

    def of_each(doubt: Callable[[_SetWithClasses], Iterator[str]]) -> Iterator[str]:
        return chain.from_iterable(map(doubt, seen))

    return (
        *_all_right(seen), *_equal_columns(seen), *of_each(_predictions),
        *of_each(_below_chance), *repeated(sets, raw, options), *of_each(_of_class_one),
        *_decided(seen, kind), *of_each(_saturated),
        *of_each(_absent_classes), *_prevalence(seen, options), *of_each(_few),
    )  # fmt: skip


def _look(role: Role, rows: Rows, raw: RawSet | RawEvent) -> _SetWithClasses:
    """Find each row's likeliest class, a block of rows at a time."""
    if isinstance(rows, EventScores):
        certain, mean = (rows.scores == 0) | (rows.scores == 1), float(rows.scores.mean())
        hits = rows.hits.astype(np.bool_)
        return _SetWithClasses(role, rows, raw, rows.scores[:_SORTED], mean, certain, hits, None)
    first = np.empty(min(rows.n_samples, _SORTED))
    classes = np.empty(rows.n_samples, dtype=np.min_scalar_type(rows.n_classes))
    total, certain = 0.0, np.empty(rows.n_samples, dtype=np.bool_)
    for block in row_strips(*rows.given.shape):
        p = rows.probabilities[block]
        classes[block] = p.argmax(axis=1)
        scores = p.max(axis=1)
        room = first[block.start : block.stop]
        room[:] = scores[: len(room)]
        total += float(scores.sum())
        certain[block] = scores == 1
    hits = classes == rows.labels
    return _SetWithClasses(role, rows, raw, first, total / rows.n_samples, certain, hits, classes)


def _all_right(seen: list[_SetWithClasses]) -> Iterator[str]:
    """Doubt labels that are the likeliest class in every row."""
    count = sum(len(part.hits) for part in seen)
    if count < _FEW_ROWS or not all(part.hits.all() for part in seen):
        return
    yield (
        f"The label is the likeliest class in all {count:,} rows (accuracy exactly 100%): perhaps"
        " the labels are the model's predictions, not the truth."
    )


def _equal_columns(seen: list[_SetWithClasses]) -> Iterator[str]:
    """Doubt a column that repeats the label: one of them may be the prediction."""
    names: dict[str, int] = {}
    for part in seen:
        for column in _columns(part):
            truth, values = _compared(part, column, slice(_LOOKED_AT))
            if (truth != values).any():
                continue
            truth, values = _compared(part, column)
            if len(truth) >= _FEW_ROWS and truth.min() < truth.max() and (truth == values).all():
                names[column.name] = names.get(column.name, 0) + len(truth)
    for name, count in names.items():
        yield (
            f"Column {quoted(name)} equals the label in all {count:,} rows: perhaps one of the two"
            " is the prediction."
        )


def _predictions(part: _SetWithClasses) -> Iterator[str]:
    """Doubt values whose largest is not what the file itself gives as the prediction."""
    if not isinstance(part.raw, RawSet) or part.raw.predicted is None or part.classes is None:
        return
    decided = _places_of_classes(part, part.raw.predicted)
    agree = float(np.mean(decided == part.classes))
    if len(decided) >= _FEW_ROWS and agree < 0.99:
        why = "perhaps the columns are in another order or of another model"
        if (least := _threshold(part.rows, decided)) is not None:
            why = f"it is decided from a probability of {least:.4g} on, here from one half on"
            if abs(least - 0.5) < _TIE:
                why = "of two equal probabilities it takes the second, and the first counts here"
        yield (
            f"The prediction in column {quoted(part.raw.predicted.name)} is the likeliest class"
            f" in {percent(agree)} of the rows{part.where}: {why}."
        )


def _places_of_classes(part: _SetWithClasses, column: GroupingColumn) -> Array:
    """Return the place of the class that a column names: as the labels do, or else by its number.

    Numbers that no label is are names of classes, or places counted from where the labels are.
    """
    written, values = _compared(part, column)
    if column.categories is not None or not isinstance(part.rows, LogitSet):
        return values
    known = dict(zip(written.tolist(), _labels(part).tolist(), strict=True))
    names = dict(zip(map(_number, part.rows.class_names), range(part.rows.n_classes), strict=True))
    shift = {number - place for number, place in known.items()}
    kinds, of_row = np.unique(values, return_inverse=True)
    if all(names.get(number) == place for number, place in known.items()):
        known = names
    elif len(shift) == 1:
        known = {number: number - min(shift) for number in kinds.tolist()}
    return np.array([known.get(number, -1) for number in kinds.tolist()])[of_row]


def _number(name: str) -> float | str:
    try:
        return float(name)
    except ValueError:
        return name


def _threshold(rows: Rows, decided: Array) -> float | None:
    """Return the least probability of class 1 that decides for it, if none without is higher."""
    if not isinstance(rows, LogitSet) or rows.n_classes != 2 or {*np.unique(decided)} != {0, 1}:
        return None
    ones = rows.probabilities[:, 1]
    least = float(ones[decided == 1].min())
    return least if least > ones[decided == 0].max() else None


def _columns(part: _SetWithClasses) -> tuple[GroupingColumn, ...]:
    beside = part.raw.predicted if isinstance(part.raw, RawSet) else None
    return part.raw.columns + (() if beside is None else (beside,))


def _labels(part: _SetWithClasses) -> Array:
    return part.rows.labels if isinstance(part.rows, LogitSet) else part.hits


def _compared(
    part: _SetWithClasses, column: GroupingColumn, rows: slice = slice(None)
) -> tuple[Array, Array]:
    """Return the labels and a column in numbers that can be compared; -1 matches nothing."""
    raw, labels, values = part.raw, _labels(part)[rows], column.values[rows]
    named = isinstance(raw, RawSet) and raw.label_texts is not None
    if column.categories is None:
        written = raw.labels if isinstance(raw, RawSet) and not named else None
        if written is not None and written.ndim == 1:
            return np.asarray(written[rows], dtype=np.float64), values
        return labels.astype(np.float64), values
    names = part.rows.class_names if isinstance(part.rows, LogitSet) else ()
    headings = (raw.headings or ()) if isinstance(raw, RawSet) else ()
    places = {name: k for k, name in enumerate(headings)}
    places |= {name: k for k, name in enumerate(names)}
    alike = {folded(name): place for name, place in places.items()}
    of_category = np.array([places.get(t, alike.get(folded(t), -1)) for t in column.categories])
    return labels.astype(np.float64), of_category[values].astype(np.float64)


def _below_chance(part: _SetWithClasses) -> Iterator[str]:
    """Doubt labels that scores far above one half find no better than guesses."""
    backwards = tuple(turned(part.rows, part.where, one_score=_is_of_event(part)))
    yield from backwards
    if backwards or not isinstance(part.rows, LogitSet) or len(part.hits) < _FEW_ROWS:
        return
    accuracy, guess = float(part.hits.mean()), 1 / part.rows.n_classes
    by_luck = guess + 2 * np.sqrt(guess * (1 - guess) / len(part.hits))
    if accuracy < by_luck and part.mean_score > accuracy + 0.2:
        yield (
            f"The likeliest class is right in {percent(accuracy)} of the rows{part.where}, and"
            f" guessing would be right in {percent(guess)}: perhaps the labels are of other"
            " rows, or the columns are in another order."
        )


def _of_class_one(part: _SetWithClasses) -> Iterator[str]:
    """Doubt scores of the likelier of two classes that are below one half."""
    if isinstance(part.rows, LogitSet) or not isinstance(part.raw, RawEvent):
        return
    low = int(np.count_nonzero(part.rows.scores < 0.5))
    if low and part.raw.n_classes == 2:
        yield (
            f"There are two classes, and the score of the predicted one is below 0.5 in {low:,}"
            f" rows{part.where}: perhaps these are scores of class 1."
        )


def _decided(seen: list[_SetWithClasses], kind: ValuesKind) -> Iterator[str]:
    """Doubt scores that are all 0 or 1."""
    if kind == "logits" or sum(len(part.hits) for part in seen) < _FEW_ROWS:
        return
    tables = [_written(part) for part in seen]
    unit = 100.0 if max(float(table.max()) for table in tables) > 2 else 1.0
    if all(_are_whole(table, unit) for table in tables):
        yield "Every score is 0 or 1, so these are decisions and no probabilities."


def _written(part: _SetWithClasses) -> Array:
    table = part.raw.table if isinstance(part.raw, RawSet) else part.raw.scores
    values = np.asarray(table)
    return values[:, np.newaxis] if values.ndim == 1 else values


def _are_whole(table: Array, unit: float) -> bool:
    """Return whether all values are whole units, stopping at the first block that has others."""
    slack = 1e-9 if table.dtype.itemsize == 8 else 2e-6
    for rows in row_strips(*table.shape):
        block = table[rows] / unit
        block = block[np.isfinite(block)]
        if (np.abs(block - np.rint(block)) > slack * np.maximum(np.abs(block), 1.0)).any():
            return False
    return True


def _saturated(part: _SetWithClasses) -> Iterator[str]:
    """Doubt scores of exactly 0 and 1, which nothing but luck can make right."""
    n_rows, count = len(part.hits), int(np.count_nonzero(part.certain))
    if n_rows < _FEW_ROWS or count <= _SATURATED * n_rows:
        return
    many, score, rows, ones = "rows of equal score", "The score", part.rows, part.certain
    can = "no calibrator can give {} different scores"
    why = "" if (part.certain & ~part.hits).any() else few_decimals([_written(part)])
    if isinstance(rows, EventScores):
        ones = rows.scores == 1
    elif rows.n_classes > 2:
        many, score = "those of the same predicted class", "The score of the predicted class"
    elif part.classes is not None:
        ones = ones & (part.classes == 1)
        if isinstance(part.raw, RawSet) and np.asarray(part.raw.table).ndim == 2:
            score = f"The score of class {visible(rows.class_names[1], 30)}"
    if isinstance(rows, LogitSet) and rows.values_kind == "logits":
        can, why = "only a calibrator of logits can give these rows different scores", ""
    n_ones = int(np.count_nonzero(ones))
    counts = (("1", n_ones), ("0", count - n_ones))
    text = " and ".join(f"exactly {value} in {n:,}" for value, n in counts if n)
    share = percent(count / n_rows) + (" together" if 0 < n_ones < count else "")
    where = f"{n_rows:,} rows{part.where} ({share}){why}"
    yield f"{score} is {text} of {where}: {can.format(many)}."


def _absent_classes(part: _SetWithClasses) -> Iterator[str]:
    """Name the classes that no row is of."""
    if not isinstance(part.rows, LogitSet):
        return
    counts = np.bincount(part.rows.labels, minlength=part.rows.n_classes)
    absent = np.flatnonzero(counts == 0).tolist()
    if absent:
        shown = ", ".join(visible(part.rows.class_names[k], 30) for k in absent[:5])
        more = f" and {len(absent) - 5} more" if len(absent) > 5 else ""
        yield (
            f"No row{of_set(part.role, 'in')} is of class {shown}{more}, so figures of such a class"
            " alone are not available."
        )


def _prevalence(seen: list[_SetWithClasses], options: ReadingOptions) -> Iterator[str]:
    """Compare the share of class 1, or of right predictions, with what the user states."""
    stated = options.prevalence
    if stated is None:
        return
    for part in seen:
        if isinstance(part.rows, LogitSet) and part.rows.n_classes > 2:
            yield (
                f"The stated share of {percent(stated)} was held against nothing: it is about one"
                f" of two classes, and there are {part.rows.n_classes}."
            )
        elif not isinstance(part.rows, LogitSet):
            yield from enriched(_labels(part), stated, f"right predictions in the rows{part.where}")


def enriched(hits: Array, stated: float, what: str) -> Iterator[str]:
    """Return where an event is more or less frequent than where the model will be used.

    A difference within three standard deviations of a sample of this size is no finding.
    """
    observed = float(np.mean(hits))
    if abs(observed - stated) <= 3 * np.sqrt(stated * (1 - stated) / len(hits)):
        return
    yield (
        f"The share of {what} is {percent(observed)}, and you state {percent(stated)}: calibration"
        " evaluated here holds for the share observed, not for the one stated."
    )


def _few(part: _SetWithClasses) -> Iterator[str]:
    """Return what so few rows can show."""
    count = len(part.hits)
    if count == 1:
        where = of_set(part.role, "in")
        yield f"One row only{where}: a single row says nothing about calibration."
        return
    rare, what = _rarest(part)
    few = 0 < rare < _FEW_EVENTS
    if not few and count > _MANY_ROWS:
        return
    gap = smallest_gap_shown(cumulative_curves(*_of_what_is_evaluated(part)))
    fewer = "" if SET_NAMES[part.role] else ", and larger ones in the half that is evaluated"
    unseen = (
        f"scores that are all off by less than {100 * gap:.1f} percentage points are likely to"
        f" go unseen{fewer} (KS test, power 80%)."
    )
    if few:
        unseen = unseen if count <= _SORTED else "even large gaps are likely to go unseen."
        yield f"Only {rare} of {count:,} rows{part.where} {what}: {unseen}"
    elif gap > _WIDE_GAP:
        yield f"With {count:,} rows{part.where}, {unseen}"


def _is_of_event(part: _SetWithClasses) -> bool:
    """Return whether the file has one score of an event, which is what is evaluated."""
    return isinstance(part.raw, RawSet) and np.asarray(part.raw.table).ndim == 1


def _of_what_is_evaluated(part: _SetWithClasses) -> tuple[Floats, Array]:
    """Return the first scores that are evaluated, of the event or else of the likeliest class."""
    if isinstance(part.rows, LogitSet) and _is_of_event(part):
        return part.rows.probabilities[:_SORTED, 1], part.rows.labels[:_SORTED] == 1
    return part.first_scores, part.hits[:_SORTED]


def _rarest(part: _SetWithClasses) -> tuple[int, str]:
    """Count the rarer outcome: right or wrong, or one of two classes."""
    right = int(part.hits.sum())
    outcomes = [(right, "are right"), (len(part.hits) - right, "are wrong")]
    outcomes = [] if _is_of_event(part) else outcomes
    if isinstance(part.rows, LogitSet) and part.rows.n_classes == 2:
        for k, count in enumerate(np.bincount(part.rows.labels, minlength=2)):
            outcomes.append((int(count), f"are of class {visible(part.rows.class_names[k], 30)}"))
    there = [outcome for outcome in outcomes if outcome[0]]
    return min(there)
