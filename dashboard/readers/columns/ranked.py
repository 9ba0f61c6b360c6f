"""Tables in which each row lists its likeliest classes with their scores."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from calibcore.blocks import row_blocks
from calibcore.data import EventScores, LogitSet
from calibcore.validation import Floats
from dashboard.readers.columns.slices import NUMBER
from dashboard.readers.contents import Array, RawEvent, RawSet, rows_of_file
from dashboard.readers.meaning.first_label import numbers_of
from dashboard.readers.meaning.labels import NUMBERED
from dashboard.readers.meaning.spelling import folded, matched, quoted_apart
from dashboard.readers.refusal import FileError, quoted

_SCORE_WORDS = frozenset({"prob", "proba", "probability", "score", "conf", "confidence", "p"})
_CLASS_WORDS = frozenset(
    {"class", "label", "name", "pred", "prediction", "predicted", "category", "index", "idx", "id"}
)
_FEW = 20
_FEWEST_SORTED = 3
_WHOLE = 1e-3
_NUMBERED = re.compile(r"([a-z_.]*?)[_.]*([0-9]{1,3})[_.]*([a-z_.]*)", re.ASCII)


def find_ranked(
    keys: Sequence[str], sample: Sequence[Sequence[str]], label: int | None
) -> tuple[list[int], list[int]] | None:
    """Find pairs of columns such as ``top1_class, top1_prob, top2_class, ...``.

    Returns
    -------
    tuple of list of int, optional
        Columns of the classes and of their scores, the likeliest first.
    """
    groups: dict[str, dict[int, int]] = {}
    for column, key in enumerate(keys):
        parts = _NUMBERED.fullmatch(key)
        if parts and column != label:
            groups.setdefault(f"{parts[1]}_{parts[3]}", {})[int(parts[2])] = column
    scores = {s: g for s, g in groups.items() if _words(s) & _SCORE_WORDS}
    classes = {
        stem: group
        for stem, group in groups.items()
        if stem not in scores
        and _words(stem) & _CLASS_WORDS
        and not any(_fraction(row[c]) for row in sample for c in group.values())
    }
    for stem, group in classes.items():
        ranks = sorted(group)
        same = [g for g in scores.values() if sorted(g) == ranks]
        told = bool(_words(stem) & {"top", "rank"})
        lone = len(ranks) == 1 and not told
        decided = all(row[c].strip() in ("0", "1") for row in sample for c in group.values())
        if label is None and decided and not told:
            continue
        if len(same) == 1 and ranks[0] <= 1 and ranks[-1] - ranks[0] == len(ranks) - 1 and not lone:
            return [group[r] for r in ranks], [same[0][r] for r in ranks]
    return None


def in_words_of(
    names: Sequence[str], truth: NDArray[np.int32], listed: NDArray[np.int32]
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Match true classes that are written otherwise to the predicted ones.

    Numbers are matched to words such as LABEL_2; texts to those from which they differ in what
    `folded` leaves out.

    Parameters
    ----------
    names : sequence of str
        Every class that occurs, each once.
    truth, listed : ndarray
        Places of the true and of the predicted classes among ``names``.

    Returns
    -------
    ndarray
        The true classes in the words of the predicted ones.
    tuple of str
        What was done.

    Raises
    ------
    FileError
        No true class is ever predicted, and one are numbers and the other words, or the rows many.
    """
    words, classes = np.unique(listed).tolist(), np.unique(truth).tolist()
    truth, mended = _in_their_spelling(names, truth, words, classes)
    if mended:
        return truth, mended
    kinds = {all(NUMBER.fullmatch(names[k]) for k in part) for part in (words, classes)}
    few = len(truth) < _FEW or 1 in (len(words), len(classes))
    if {*words} & {*classes} or (few and len(kinds) == 1):
        return truth, ()
    parts = [NUMBERED.fullmatch(names[k]) for k in words]
    found = {int(part[2]): k for part, k in zip(parts, words, strict=True) if part is not None}
    whole = all(names[k].isascii() and names[k].isdigit() for k in classes)
    alike = len(found) == len(parts) and len({part[1] for part in parts if part}) == 1
    numbers = {int(names[k]): k for k in classes} if whole else {}
    if not alike or not numbers.keys() & found.keys():
        raise FileError(
            "labels",
            f"{quoted(names[classes[0]], 30)}, and no label that is ever predicted, as"
            f" {quoted(names[words[0]], 30)} is",
            "labels in the words of the predictions",
        )
    places = np.arange(len(names), dtype=np.int32)
    for number, k in numbers.items():
        places[k] = found.get(number, k)
    one = next(iter(numbers.keys() & found.keys()))
    said = f"Labels such as {one} were matched to classes such as {quoted(names[found[one]], 30)}"
    return places[truth], (f"{said} ({len(truth):,} labels).",)


def _in_their_spelling(
    names: Sequence[str], truth: NDArray[np.int32], words: Sequence[int], classes: Sequence[int]
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Match true classes that are never predicted to predicted ones that are folded alike."""
    own: dict[str, list[int]] = {}
    for k in words:
        own.setdefault(folded(names[k]), []).append(k)
    known, places = {*words}, np.arange(len(names), dtype=np.int32)
    odd = [k for k in classes if k not in known and folded(names[k]) in own]
    if not odd:
        return truth, ()
    first, other = names[odd[0]], names[own[folded(names[odd[0]])][0]]
    if any(len(group) > 1 for group in own.values()):
        said = f"Classes {quoted_apart(first, other)} and {quoted(other, 30)} were read as two"
        return truth, (f"{said}, as others differ by their spelling alone too.",)
    places[odd] = [own[folded(names[k])][0] for k in odd]
    return places[truth], (matched(first, other, int(np.isin(truth, odd).sum())),)


def ranked_set(
    scores: Floats,
    classes: NDArray[np.int32],
    labels: NDArray[np.int32] | None,
    names: Sequence[str],
    rows: RawSet,
) -> tuple[RawSet | RawEvent, tuple[str, ...]]:
    """Make a table of all classes where all are listed, else the top-1 event.

    Parameters
    ----------
    scores, classes : ndarray, shape (n_samples, n_ranks)
        Score of each rank, and the place of its class among ``names``.
    labels : ndarray, shape (n_samples,), optional
        Place of the true class among ``names``.
    names : sequence of str
        Every class that occurs, each once.
    rows : RawSet
        What else is known of the rows: their numbers, and further columns.

    Returns
    -------
    RawSet or RawEvent
        What is known of each row.
    tuple of str
        What is missing, and why.
    """
    n_rows, n_ranks = scores.shape
    ordered = np.sort(classes, axis=1)
    _refuse(np.any(ordered[:, 1:] == ordered[:, :-1], axis=1), "the same class twice", rows)
    listed = np.unique(classes)
    if len(listed) == n_ranks > 1:
        if labels is not None:
            _refuse_strangers(scores, listed, labels, names, rows)
            if len({*listed.tolist(), *np.unique(labels).tolist()}) > n_ranks:
                return _likeliest(scores, classes, labels, rows, names)
        order = sorted(listed.tolist(), key=lambda k: _rank_of(names[k]))
        place = np.empty(len(names), dtype=np.int64)
        place[order] = np.arange(n_ranks)
        table = np.empty((n_rows, n_ranks))
        np.put_along_axis(table, place[classes], scores, axis=1)
        texts = tuple(names[k] for k in order)
        if labels is None:
            return replace(rows, table=table, class_names=texts), ()
        known = replace(rows, ids=None, class_names=texts, label_texts=texts)
        return replace(known, table=table, labels=place[labels]), ()
    if labels is None:
        found = "lists of likely classes without a true label"
        raise FileError("header", found, "a label column, or lists of all classes")
    return _likeliest(scores, classes, labels, rows, names)


def sorted_rows(sets: Sequence[LogitSet | EventScores]) -> Iterator[str]:
    """Doubt values of three or more classes that fall from the first to the last in every row.

    Rows that are all the same say nothing, nor do few.
    """
    tables = [rows.given for rows in sets if isinstance(rows, LogitSet)]
    count = sum(map(len, tables))
    if count < _FEW or tables[0].shape[1] < _FEWEST_SORTED or not all(map(_fall, tables)):
        return
    if any(bool((table[:, 0] != table[0, 0]).any()) for table in tables):
        yield (
            f"The values of all {count:,} rows fall from the first class to the last, as if each"
            " row were sorted by itself: a column is then of another class in every row, and"
            " nothing here can be judged by class."
        )


def _fall(table: Array) -> bool:
    blocks = row_blocks(*table.shape)
    return all(bool((table[block][:, 1:] <= table[block][:, :-1]).all()) for block in blocks)


def _likeliest(
    scores: Floats,
    classes: NDArray[np.int32],
    labels: NDArray[np.int32],
    rows: RawSet,
    names: Sequence[str],
) -> tuple[RawEvent, tuple[str, ...]]:
    """Keep the first class of each list, and whether it is the true one."""
    n_ranks = scores.shape[1]
    _refuse(np.any(scores[:, 1:] > scores[:, :1], axis=1), "a later score above the first", rows)
    event = RawEvent(
        scores[:, 0], classes[:, 0] == labels, rows.first_row, rows.columns,
        numbers=numbers_of(names, labels, classes[:, 0]),
    )  # fmt: skip
    if n_ranks == 1:
        return event, ()
    n_classes = len({*np.unique(classes).tolist(), *np.unique(labels).tolist()})
    said = (
        f"Of at least {max(n_classes, n_ranks + 1):,} classes each row lists {n_ranks}. Only the"
        " first of each list is used, and whether it is the true class: top-2 and classes are read"
        " from the scores of all classes, of which these lists are a part."
    )
    return event, (said,)


def _refuse_strangers(
    scores: Floats,
    listed: NDArray[np.int32],
    labels: NDArray[np.int32],
    names: Sequence[str],
    rows: RawSet,
) -> None:
    """Refuse true classes that are in no list, where the lists leave no room for another."""
    odd = ~np.isin(labels, listed)
    if odd.any() and (np.abs(scores.sum(axis=1) - 1) < _WHOLE).all():
        name = quoted(names[int(labels[odd][0])], 30)
        raise FileError(
            "labels", f"{name}, which is in no list of classes, {rows_of_file(odd, rows)}",
            "labels among the classes that are listed",
        )  # fmt: skip


def _refuse(bad: NDArray[np.bool_], found: str, rows: RawSet) -> None:
    if bad.any():
        raise FileError(
            "list of likely classes", f"{found} {rows_of_file(bad, rows)}",
            "different classes, the likeliest first",
        )  # fmt: skip


def _rank_of(name: str) -> tuple[int, int, str]:
    """Sort class numbers as numbers and names as text."""
    whole = name.isascii() and name.isdigit()
    return (len(name), 0, name) if whole else (1 << 30, 1, name)


def _words(stem: str) -> set[str]:
    return set(re.split("[_.]+", stem))


def _fraction(cell: str) -> bool:
    return re.fullmatch(r"\s*[+-]?[0-9]*[.,][0-9]*[1-9][0-9]*\s*", cell, re.ASCII) is not None
