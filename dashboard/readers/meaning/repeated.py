"""Rows that stand in a file more than once: in both sets, in one set, or scored again."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from calibcore.data import EventScores, LogitSet, Rows
from calibcore.strips import row_strips, strip_rows
from calibcore.validation import Floats
from dashboard.readers.recognition import vocabulary as terms
from dashboard.readers.recognition.groups import ids_of
from dashboard.readers.recognition.proposals import belonging
from dashboard.readers.recognition.vocabulary import folded, is_owner, is_unit, words_of
from dashboard.readers.records import (
    Array,
    Column,
    Proposal,
    RawEvent,
    RawSet,
    ReadingOptions,
    Role,
    of_set,
    rows_of_file,
)
from dashboard.readers.refusal import quoted

_FEW_ROWS = 20
_MOST_ROWS, _COMPARED = 60_000, 100_000
_LEAST_SURE, _NO_CENT = 10, 1e-3
_LEAST_SPLIT, _MOST_SPLIT = 14.0, 0.1
"""Rows expected to differ in their label from others of the same values, and the share found."""

_TOGETHER, _MOST_TOGETHER, _ERRORS, _COLUMNS = 0.5, 0.9, 5.0, 20
_FEW_IDS, _FEW_REPEATED, _APART, _MOST_ALIKE = 5, 0.1, 1_000_003, 3
DEPENDENT = "Tests and intervals take rows as independent"
_COPIES = "cell by cell"
_MISSING = {"", *terms.MISSING}
_NUMBERED = re.compile(r"|.*\d.*", re.DOTALL)
_FOLD = re.compile(r"(?:cv|fold|repeat|resample|bootstrap|split)[\W_]*\d+.*", re.I | re.DOTALL)
"""What programs call the parts of a cross-validation, as tidymodels does in a column "id"."""

_MOST_MODELS = 20
_LEAST_SORTED = 8
"""So many rows are in order by chance once in 20,000 times."""

_Words = NDArray[np.uint64]
_Places = NDArray[np.intp]
_Set = tuple[Array, Array]
_Part = tuple[Array, _Places]
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_TOP, _BYTE = np.uint64(56), np.uint64(8)
_PART_ROWS = 1 << 17
_MOST_TWINS = 0.9


def repeated(
    sets: Mapping[Role, Rows], raw: Mapping[Role, RawSet | RawEvent], options: ReadingOptions
) -> Iterator[str]:
    """Doubt rows that the fit and the evaluation would share, ``raw`` as they stood in the file."""
    yield from (related := tuple(_related(sets, raw, options)))
    yield from dict.fromkeys(
        text for role, part in raw.items() for text in _of_models(sets[role], part)
    )
    if len(sets) < 2:
        counted = any(part.design is not None and part.design.counts for part in raw.values())
        if not counted and not any(_COPIES in doubt for doubt in related):
            yield from (doubt for part in sets.values() for doubt in _within(part))
        return
    calibration, test = sets["calibration"], sets["test"]
    both = (_table(calibration), _labels(calibration)), (_table(test), _labels(test))
    shared = shared_rows(*both)
    if shared is not None and _by_chance(shared, both):
        yield (
            "The test set has rows of the calibration set, values and label alike,"
            f" {rows_of_file(shared, raw['test'])}: with so few decimals they may be different"
            " samples; if they are copies, they were seen in the fit and flatter the evaluation."
        )
    elif shared is not None:
        yield (
            "The test set repeats rows of the calibration set, values and label alike,"
            f" {rows_of_file(shared, raw['test'])}: they were seen in the fit, so they flatter"
            " the evaluation."
        )
    elif _scored_twice(calibration, test):
        yield (
            f"Both sets have the same labels in all {test.n_samples:,} rows, and their scores go"
            " together: perhaps these are the same rows, scored twice. If so, they were seen in the"
            " fit, and they flatter the evaluation; two models are compared on the page Models."
        )


def of_owners(
    raw: Mapping[Role, RawSet | RawEvent], doubts: Sequence[str], options: ReadingOptions
) -> Iterator[Proposal]:
    """Propose that rows belong together where they are doubted to be independent."""
    doubt = next((sentence for sentence in doubts if DEPENDENT in sentence), None)
    if doubt is not None:
        names = dict.fromkeys(name for part in raw.values() for name in _ids(part))
        by_user = {name for name, _ in options.roles}
        nouns = {
            one: _noun(one) for one in names if quoted(one, 30) in doubt and one not in by_user
        }
        if nouns:
            yield belonging(doubt, nouns, options)


def _noun(name: str) -> str:
    return min({*words_of(name)} & (terms.OWNER_WORDS | terms.ITEM_WORDS), default="ID")


def _related(
    sets: Mapping[Role, Rows], raw: Mapping[Role, RawSet | RawEvent], options: ReadingOptions
) -> Iterator[str]:
    """Doubt that rows are independent where an id repeats, and name those that both sets have."""
    ids, nouns = {role: _ids(part) for role, part in raw.items()}, dict[int, str]()
    by_user = dict(options.roles)
    counted: list[str] = []
    for name in dict.fromkeys(name for part in ids.values() for name in part):
        noun = _noun(name)
        parts = {role: part[name][1] for role, part in ids.items() if name in part}
        texts = [
            _of_ids(name, noun, ids[role][name], sets[role], raw[role], role) for role in parts
        ]
        counted += filter(None, texts if name not in by_user else ())
        if any(texts):
            nouns.setdefault(len(np.unique(np.concatenate([*parts.values()]))), noun)
        distinct = np.unique(parts["test"]) if "test" in parts else np.zeros(0)
        shared = np.isin(distinct, parts.get("calibration", ()))
        if shared.any() and is_owner(words_of(name)):
            yield (
                f"{np.count_nonzero(shared):,} of {len(distinct):,} {noun}s of the test set are in"
                f" the calibration set too (column {quoted(name, 30)}): the fit used rows of"
                " theirs, so the evaluation flatters."
            )
    if counted and "cluster" not in by_user.values():
        yield (
            f"{' '.join(counted)} {DEPENDENT}: where rows of one {nouns[min(nouns)]} are alike,"
            " p-values are too small and confidence intervals too narrow."
        )


def _of_models(rows: Rows, part: RawSet | RawEvent) -> Iterator[str]:
    """Doubt the same rows scored several times, as by models, each under a value of a column."""
    labels, ids = _labels(rows), _ids(part)
    for column in part.columns:
        kinds, models = np.unique(column.values, return_inverse=True)
        if not (2 <= len(kinds) <= _MOST_MODELS and len(models) == len(labels)):
            continue
        named = bool({*words_of(column.name)} & terms.MODEL_WORDS)
        by_id = [
            name for name, (places, of_row) in ids.items()
            if _once_in_each(of_row, models[places], None if named else labels[places])
        ]  # fmt: skip
        if by_id or (named and _same_in_each(labels, models)):
            what = "models, each with" if named else "values, each with the outcomes of"
            yield (
                f"Column {quoted(column.name, 30)} {'names' if named else 'has'} {len(kinds)}"
                f" {what} the same {len(models) // len(kinds):,} rows: their scores are pooled."
                " Evaluate one: filter by it on the page Subgroups, or keep its rows alone in the"
                " file."
            )


def _once_in_each(ids: Array, models: Array, labels: Array | None) -> bool:
    """Return whether each model has each id, once, with the same label if there are labels."""
    kinds, of_row = np.unique(ids, return_inverse=True)
    n_models = int(models.max(initial=0)) + 1
    pairs = of_row * n_models + models
    enough = n_models > 1 and len(kinds) >= _FEW_IDS
    if not (enough and len(ids) == len(kinds) * n_models == len(np.unique(pairs))):
        return False
    table = None if labels is None else labels[np.argsort(pairs)].reshape(-1, n_models)
    return table is None or bool((table == table[:, :1]).all() and np.ptp(table))


def _same_in_each(labels: Array, models: Array) -> bool:
    """Return whether the rows of each model have the same labels in the same order."""
    counts = np.bincount(models)
    if counts.min() != counts.max() or counts[0] < _FEW_ROWS or labels.min() == labels.max():
        return False
    table = labels[np.argsort(models, kind="stable")].reshape(len(counts), -1)
    return bool((table == table[0]).all())


_MOST_IDS = 64
"""Columns that name rows, and those of whom rows belong to, that are looked at."""

_Ids = tuple[NDArray[np.intp], NDArray[np.int64]]
"""Rows that have an id, and the id of each."""


def _ids(part: RawSet | RawEvent) -> dict[str, _Ids]:
    """Return what names the rows, and groups that are named as what rows belong to."""
    owners = (Column(c.name, c.values, c.categories) for c in part.columns)
    owners = (c for c in owners if is_owner(words_of(c.name)))
    owners = (c for c in owners if all(map(_NUMBERED.fullmatch, c.texts or ())))
    by_name: dict[str, _Ids] = {}
    for column in (*part.ids[:_MOST_IDS], *islice(owners, _MOST_IDS)):
        folds = column.texts and all(map(_FOLD.fullmatch, column.texts))
        if column.unread or column.values.ndim != 1 or folds:
            continue
        values, blank = column.values, np.isnan(column.values)
        if column.texts is not None:
            blank = np.array([folded(text) in _MISSING for text in column.texts] or [False])[values]
        ids = ids_of(replace(column, values=np.where(blank, 0, values)))
        if ids is not None:
            by_name[column.name] = np.flatnonzero(~blank), ids.values[~blank]
    return by_name


def _of_ids(
    name: str, noun: str, ids: _Ids, rows: Rows, part: RawSet | RawEvent, role: Role
) -> str:
    """Count the rows of one set beside what they are of; "" where no id repeats."""
    places, of_row = ids
    labels, n_rows = _labels(rows)[places], len(places)
    kinds, which, counts = np.unique(of_row, return_inverse=True, return_counts=True)
    n_kinds, n_twice = len(kinds), int(np.count_nonzero(counts > 1))
    if n_rows < _FEW_ROWS or n_kinds < _FEW_IDS or not n_twice:
        return ""
    sums = np.bincount(which, labels)
    alike = bool((sums[which] == labels * counts[which]).all()) and labels.min() < labels.max()
    words = words_of(name)
    if not (alike or is_owner(words) or (is_unit(words) and not _start_again(which))):
        return ""  # numbers that start again, as where tables were put below each other
    whole = of_row * np.int64(_APART) + labels.astype(np.int64)
    cells = np.column_stack([_table(rows), *(column.values for column in part.columns)])
    n_copies = n_rows - len(np.unique(hashes_of(cells[places], whole, n_rows)[1]))
    text, column = (
        f"{n_rows:,} rows{of_set(role)} of {n_kinds:,} {noun}s",
        f"column {quoted(name, 30)}",
    )
    if n_rows - n_kinds < _FEW_REPEATED * n_rows:
        occur = "1 of them occurs" if n_twice == 1 else f"{n_twice:,} of them occur"
        text += f": {occur} more than once ({column})."
    else:
        text += f" ({column}, up to {counts.max():,} rows each)."
    if 2 * n_copies > n_rows - n_kinds:
        rows_ = "1 row repeats" if n_copies == 1 else f"{n_copies:,} rows repeat"
        text += f" {rows_} another one {_COPIES}: keep each row once."
    return text


def _start_again(which: NDArray[np.intp]) -> bool:
    """Return whether no id comes a second time before each has come once, and so on."""
    order = np.argsort(which, kind="stable")
    starts = np.searchsorted(which[order], which)
    nth = np.empty_like(order)
    nth[order] = np.arange(len(order))
    return bool((np.diff(nth - starts) >= 0).all())


def _by_chance(shared: NDArray[np.bool_], sets: tuple[tuple[Array, Array], ...]) -> bool:
    """Recognise a few shared rows of values with two decimals at most."""
    count = int(np.count_nonzero(shared))
    if count >= min(_LEAST_SURE, len(shared)):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        cents = [np.nan_to_num(table[:_COMPARED].astype(np.float64) * 100) for table, _ in sets]
        return all(bool((np.abs(part - np.rint(part)) < _NO_CENT).all()) for part in cents)


def _table(rows: Rows) -> Array:
    return rows.given if isinstance(rows, LogitSet) else rows.scores[:, np.newaxis]


def _labels(rows: Rows) -> Array:
    return rows.labels if isinstance(rows, LogitSet) else rows.hits


def _within(rows: Rows) -> Iterator[str]:
    """Doubt copies within one set, which is split at random.

    Different samples of the same coarse values differ in their labels about as often as the model
    is right in some of them and wrong in others; copies never do.
    """
    n_rows = rows.n_samples
    if n_rows < _FEW_ROWS or _is_cut(rows):
        return
    values, whole, places = hashes_of(_table(rows), _labels(rows), _MOST_ROWS)
    alike, same = _sizes(values), _sizes(whole)
    tied = alike > 1
    right = _right(rows, places[tied])
    expected = 2 * right * (1 - right) * np.count_nonzero(tied)
    split = float(((alike - same)[tied] / (alike[tied] - 1)).sum())
    n_kinds = round(float((1 / same).sum()))
    n_copies, surely = len(same) - n_kinds, expected >= _LEAST_SPLIT
    if split > _MOST_SPLIT * expected or n_kinds < _FEW_ROWS:
        # Different samples, or a label that a few values decide: the same wherever they are.
        return
    if not surely and (split > 0 or alike.max() > _MOST_ALIKE or not _stand_out(rows, n_copies)):
        return
    of_rows = f"{len(same):,} rows" + (" looked at" if len(same) < n_rows else "")
    yield (
        f"{n_copies:,} of {of_rows} repeat another one, values and label alike: copies fall into"
        " both halves of a random split, so rows that were seen in the fit flatter the evaluation."
        " Keep each row once, or give the two sets apart."
    )


def _is_cut(rows: Rows) -> bool:
    """Return whether the score decides the label, so that rows of equal scores are alike in it."""
    values, labels = _table(rows)[:, -1], _labels(rows).astype(bool)
    both = labels.any() and not labels.all() and _labels(rows).max() == 1
    return bool(both and values[labels].min() > values[~labels].max())


def _stand_out(rows: Rows, n_copies: int) -> bool:
    """Return whether more rows have one value than two that are as near as any."""
    steps = np.diff(np.sort(_table(rows)[:, -1]))
    steps = steps[steps > 0]
    return n_copies > 4 * int(np.count_nonzero(steps < 1.5 * steps.min(initial=np.inf)))


def _sizes(words: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Count for each row the rows that are the same."""
    _, places, counts = np.unique(words, return_inverse=True, return_counts=True)
    return np.asarray(counts[places])


def _right(rows: Rows, places: NDArray[np.intp]) -> float:
    """Return the share of some rows in which the likeliest class is the true one."""
    if not len(places):
        return 0.0
    if isinstance(rows, EventScores):
        return float(rows.hits[places].mean())
    count = 0
    for block in row_strips(len(places), rows.n_classes):
        chosen = places[block]
        count += int(np.count_nonzero(rows.given[chosen].argmax(axis=1) == rows.labels[chosen]))
    return count / len(places)


def _scored_twice(calibration: Rows, test: Rows) -> bool:
    """Recognise the same rows in the same order."""
    truth = _labels(calibration)
    if not np.array_equal(truth, _labels(test)):
        return False
    truth = truth[:_COMPARED]
    one, other = (_of_truth(rows, truth) for rows in (calibration, test))
    return go_together(one, other, truth)


def go_together(one: Array, other: Array, labels: Array) -> bool:
    """Distinguish two scorings of the same rows from scores of other rows with the same labels.

    Labels alone do not tell, as they are the same in two sets that are sorted by class. So values
    are compared that are left once their mean in each class is taken off; where these are in order
    in every class of both, nothing tells.
    """
    if len(labels) < _FEW_ROWS or one.shape != other.shape or one.dtype.kind not in "biuf":
        return False
    labels = labels[:_COMPARED]
    rows = labels.argmax(axis=1) if labels.ndim == 2 else labels
    _, truth, counts = np.unique(rows, return_inverse=True, return_counts=True)
    if len(counts) < 2:
        return False
    n_columns = min(one.shape[1], _COLUMNS) if one.ndim == 2 else 1
    products, in_order = np.zeros(3), np.zeros(len(counts), dtype=np.bool_)
    for column in range(n_columns):
        left = []
        for values in (one, other):
            part = values[: len(labels)].reshape(len(labels), -1)[:, column]
            part = np.nan_to_num(part.astype(np.float64), posinf=0, neginf=0)
            left.append(part - (np.bincount(truth, part) / counts)[truth])
        products += left[0] @ left[1], left[0] @ left[0], left[1] @ left[1]
        in_order |= _in_order(left[0], truth) & _in_order(left[1], truth)
    many = counts >= _LEAST_SORTED
    if many.any() and in_order[many].all():
        return False
    noise = _ERRORS / np.sqrt(max(len(labels) - len(counts), 1))
    least = min(max(_TOGETHER, noise), _MOST_TOGETHER)
    whole = float(np.sqrt(products[1] * products[2]))
    return whole > 0 and float(products[0]) > least * whole


def _in_order(values: Floats, truth: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Mark the classes whose values rise from row to row, or fall."""
    order = np.argsort(truth, kind="stable")
    steps, of = np.diff(values[order]), truth[order][1:]
    within = of == truth[order][:-1]
    rises, falls = (
        np.bincount(of[within & part], minlength=of.max() + 1) for part in (steps < 0, steps > 0)
    )
    return np.asarray((rises == 0) | (falls == 0))


def _of_truth(rows: Rows, truth: Array) -> Floats:
    """Return the score of the true class."""
    if isinstance(rows, EventScores):
        return rows.scores[: len(truth)]
    first = rows.probabilities[: len(truth)]
    return np.take_along_axis(first, truth[:, np.newaxis], axis=1)[:, 0]


# Rows that stand in both sets, found by a hash of each ---------------------------------------


def shared_rows(calibration: _Set, test: _Set) -> NDArray[np.bool_] | None:
    """Mark the test rows that the calibration set has too, if it has more than chance explains.

    Rows, values and label alike, are found by a hash of 64 bits and then compared cell by cell.
    Where inputs are few and coarse, different samples share a row of values, which no one can tell
    from a copy. So the share found is held against the share of calibration rows that have a twin
    in their own set, and must be above twice that, or above halfway from it to 1, or be all. Where
    nearly every row has a twin, as of hard decisions, only two sets of the same rows tell.
    """
    shared = np.zeros(len(test[1]), dtype=np.bool_)
    n_twinned, same_sets = 0, len(calibration[1]) == len(test[1])
    for known, sought in _alike_parts(calibration, test):
        have, ours = _in_turn(calibration, known)
        want, theirs = _in_turn(test, sought)
        same_sets = same_sets and np.array_equal(have, want)
        n_twinned += _n_twinned(have)
        # In their order they are found twenty times as fast, as all of what is near is in cache.
        place = np.searchsorted(have, want)
        there = place < len(have)
        there[there] = have[place[there]] == want[there]
        _mark_same(shared, (calibration[0], ours[place[there]]), (test[0], theirs[there]))
    twinned = n_twinned / len(calibration[1])
    telling = twinned <= _MOST_TWINS or same_sets
    expected = min(2 * twinned, (1 + twinned) / 2)
    count = int(np.count_nonzero(shared))
    many = count > expected * len(shared) or count == len(shared)
    return shared if count and many and telling else None


def hashes_of(
    table: Array, labels: Array, most_rows: int
) -> tuple[_Words, _Words, NDArray[np.intp]]:
    """Return 64 bits for the values of each row, 64 for values and label, and which rows these are.

    Of more rows than wanted a share is taken by their values, so that copies stay together.
    """
    nothing = np.broadcast_to(np.uint8(0), len(labels))
    every = np.uint64(-(-len(labels) // most_rows))
    parts, start = list[tuple[_Words, _Words, _Places]](), 0
    for values, rows in zip(_hashes(table, nothing), _hashes(table, labels), strict=True):
        taken = np.flatnonzero((values >> _SHIFT) % every == 0)
        parts.append((values[taken], rows[taken], taken + start))
        start += len(values)
    values, rows, places = (np.concatenate(part) for part in zip(*parts, strict=True))
    return values, rows, places


def _n_twinned(words: _Words) -> int:
    """Count the rows that have a twin among these, which are in order."""
    twin = np.zeros(len(words) + 1, dtype=np.bool_)
    np.equal(words[1:], words[:-1], out=twin[1:-1])
    return int(np.count_nonzero(twin[1:] | twin[:-1]))


def _mark_same(shared: NDArray[np.bool_], ours: _Part, theirs: _Part) -> None:
    """Mark the rows of a test table that are the same, cell by cell, as those beside them."""
    step = strip_rows(ours[0].shape[1])
    for start in range(0, len(theirs[1]), step):
        rows = theirs[1][start : start + step]
        # Equal values with equal hashes have equal labels, since a label adds an odd multiple.
        same = ours[0][ours[1][start : start + step]] == theirs[0][rows]
        shared[rows] = same.all(axis=1)


def _alike_parts(calibration: _Set, test: _Set) -> Iterator[tuple[_Places, _Places]]:
    """Return the rows of both sets whose hashes begin alike: to keep all takes much memory."""
    count = min(-(-max(len(calibration[1]), len(test[1])) // _PART_ROWS), 256)
    ours, theirs = (
        np.concatenate(
            [
                ((part >> _TOP) * np.uint64(count) >> _BYTE).astype(np.uint8)
                for part in _hashes(*one)
            ]
        )
        for one in (calibration, test)
    )
    for part in range(count):
        yield np.flatnonzero(ours == part), np.flatnonzero(theirs == part)


def _in_turn(whole: _Set, places: _Places) -> tuple[_Words, _Places]:
    """Return the hashes of some rows in their order, and which rows they are of."""
    hashes = _hashes(whole[0], whole[1], places)
    words = np.concatenate([np.empty(0, dtype=np.uint64), *hashes])
    order = np.argsort(words)
    return words[order], places[order]


def _hashes(table: Array, labels: Array, places: _Places | None = None) -> Iterator[_Words]:
    """Return 64 bits a row, of all rows or of some, a block of rows at a time."""
    odd = np.random.default_rng(0).integers(1 << 63, size=table.shape[1] + 1, dtype=np.uint64)
    odd = odd * np.uint64(2) + np.uint64(1)
    for block in row_strips(len(labels) if places is None else len(places), table.shape[1]):
        rows = block if places is None else places[block]
        # Adding 0 makes one of the two zeros.
        bits = (table[rows].astype(np.float64) + 0.0).view(np.uint64)
        bits ^= bits >> _SHIFT
        bits *= _MIX
        bits ^= bits >> _SHIFT
        yield bits @ odd[:-1] + labels[rows].astype(np.uint64) * odd[-1]
