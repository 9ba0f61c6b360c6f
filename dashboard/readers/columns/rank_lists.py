"""Lists of classes in every row beside lists of their scores, the likeliest class first."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibcore.blocks import row_blocks
from dashboard.readers.binary.npy import is_whole
from dashboard.readers.columns.ranked import in_words_of, ranked_set
from dashboard.readers.contents import Array, RawEvent, RawSet
from dashboard.readers.refusal import FileError, quoted

LIST = re.compile(r"\s*[\[(](.*)[\])]\s*", re.DOTALL)
_PARTS = re.compile(r"""'[^']*'|"[^"]*"|\S+""")
_LONGEST = 1 << 16

_CLASS_WORDS = frozenset({"class", "classes", "label", "labels", "category", "categories"})
_TOP_WORDS = frozenset({"top", "topk", "top1", "top2", "top3", "top5", "top10", "ranked"})
_MARKS = frozenset({"rank", "ranks"})
_PRED_WORDS = frozenset({"pred", "preds", "predicted", "predictions"})
_LIST_WORDS = (
    _CLASS_WORDS | _TOP_WORDS | _MARKS | _PRED_WORDS
    | {"index", "indices", "indexes", "idx", "idxs", "ids", "names"}
)  # fmt: skip
_FEW, _CLEAR = 20, 3.0
"""Below so many rows, or standard errors above chance, labels tell nothing of lists."""

_MOST = 2000
_HIGHEST = 10**6

Truth = tuple[NDArray[np.intp], Sequence[str]]
"""The true class of each row, as its place among the different ones."""


@dataclass(frozen=True, eq=False)
class RankLists:
    """In each row classes with their scores.

    Parameters
    ----------
    classes, scores : str
        Names of the two columns.
    places : ndarray of int32, shape (n_samples, n_ranks)
        Places of the classes among ``cells``, that with the highest score first.
    cells : tuple of str
        The different classes.
    values : ndarray, shape (n_samples, n_ranks)
        The scores, falling in every row.
    """

    classes: str
    scores: str
    places: NDArray[np.int32]
    cells: tuple[str, ...]
    values: Array

    @property
    def said(self) -> str:
        """Say what was done."""
        return (
            f"Lists in {quoted(self.classes, 30)} were read as the classes whose scores are in"
            f" {quoted(self.scores, 30)} ({len(self.values):,} rows of {self.values.shape[1]:,})."
        )


def rank_lists(
    tables: Mapping[str, Array],
    texts: Mapping[str, tuple[NDArray[np.int32], Sequence[str]]] | None = None,
    truth: Truth | None = None,
) -> RankLists | None:
    """Find lists of different classes beside lists of as many scores.

    Parameters
    ----------
    tables : mapping of str to ndarray
        Columns of lists of numbers.
    texts : mapping of str to (codes, cells), optional
        Columns of texts, which may spell lists.
    truth : (codes, cells), optional
        The true classes, where they are known.

    Notes
    -----
    The name of the lists must speak of classes or, beside scores that fall or rise in every row,
    of ranks. Unless it says that they are the likeliest ones, true classes must stand in them more
    often than by chance. Ranks, and indices that sort the scores, say nothing of their order.

    Examples
    --------
    >>> found = rank_lists({"top_idx": np.array([[2, 0], [1, 2]]),
    ...                     "top_p": np.array([[0.9, 0.1], [0.6, 0.4]])})
    >>> found.classes, found.scores, found.cells, found.places.tolist()
    ('top_idx', 'top_p', ('0', '1', '2'), [[2, 0], [1, 2]])
    """
    scores = {name: table for name, table in tables.items() if _are_scores(table)}
    found = []
    for name, values in scores.items():
        falls = _fall(values) or _fall(values[:, ::-1])
        made = [
            _numbered(other, name, listed, values)
            for other, listed in tables.items()
            if other not in scores and _are_of(listed, values, other, falls=falls)
        ]
        for other, (codes, cells) in (texts or {}).items():
            spelled = _spelled(codes, cells, values.shape[1])
            if spelled is None:
                continue
            if all(cell.isdecimal() and len(cell) <= len(str(_HIGHEST)) for cell in spelled[1]):
                listed = np.array([int(cell) for cell in spelled[1]])[spelled[0]]
                if _are_of(listed, values, other, falls=falls):
                    made.append(_numbered(other, name, listed, values))
            elif _may_be(other, falls=falls):
                made.append(_sorted(other, name, *spelled, values))
        found += [part for part in made if _holds(part, truth, falls=falls)]
    if len(found) > 1:
        listed_as = " and ".join(quoted(part.scores, 30) for part in found[:3])
        raise FileError(
            "columns", f"lists of scores in {listed_as} beside lists of their classes,"
            " which is ambiguous", "one such column of each",
        )  # fmt: skip
    return found[0] if found else None


def refuse_unread(tables: Mapping[str, Array], odd: Mapping[str, str]) -> None:
    """Refuse scores that fall in every row beside lists of classes that could not be read.

    Parameters
    ----------
    tables : mapping of str to ndarray
        Columns of lists of numbers.
    odd : mapping of str to str
        What stands in each column that could not be read.
    """
    lists = [name for name, kind in odd.items() if "list" in kind and _may_be(name, falls=True)]
    sure = [name for name in lists if _are_likeliest(name)]
    for name, table in tables.items():
        # The first of two classes is the likelier one in every row of many a file.
        told = lists if table.shape[1] > 2 else sure
        if told and _are_scores(table) and _fall(table):
            raise FileError(
                f"column {quoted(told[0], 30)}",
                f"{odd[told[0]]} beside scores that fall in every row ({quoted(name, 30)})",
                'class numbers, or in each row a list such as [{"label": ..., "score": ...}]',
            )


def _are_likeliest(name: str) -> bool:
    """Tell a name that speaks both of ranks and of classes."""
    words = _words(name)
    return bool(words & (_TOP_WORDS | _MARKS | _PRED_WORDS) and words & (_CLASS_WORDS | {"names"}))


def truth_of(labels: Array | None, texts: Sequence[str] | None) -> Truth | None:
    """Give labels, whole numbers or the places of texts, as their different texts.

    Examples
    --------
    >>> truth_of(np.array([7, 2, 7]), None)
    (array([1, 0, 1]), ['2', '7'])
    """
    if labels is None:
        return None
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if labels.ndim != 1 or labels.dtype.kind not in "biuf" or not is_whole(labels):
        return None
    values, codes = np.unique(labels, return_inverse=True)
    cells = [str(int(value)) for value in values.tolist()]
    return codes, cells if texts is None else [texts[code] for code in values.tolist()]


def truth_in(
    columns: Mapping[str, object],
    texts: Mapping[str, tuple[NDArray[np.int32], Sequence[str]]],
    labels: Sequence[str],
) -> Truth | None:
    """Give the true classes that stand in the one column of this name, beside lists."""
    beside = any(isinstance(column, np.ndarray) and column.ndim == 2 for column in columns.values())
    if len(labels) != 1 or not beside:
        return None
    if labels[0] in texts:
        codes, cells = texts[labels[0]]
        return None if (codes < 0).any() else (codes.astype(np.intp), cells)
    numbers = columns[labels[0]]
    return truth_of(numbers, None) if isinstance(numbers, np.ndarray) else None


def _holds(lists: RankLists, truth: Truth | None, *, falls: bool) -> bool:
    """Tell lists in which the true class stands more often than by chance, or always."""
    if truth is None or len(truth[0]) != len(lists.places) or len(lists.places) < _FEW:
        return True
    if falls and _words(lists.classes) & _TOP_WORDS:
        return True
    codes, cells = truth
    if {*map(str.isdecimal, lists.cells)}.isdisjoint(map(str.isdecimal, cells)):
        return True
    seen = {cell: place for place, cell in enumerate(lists.cells)}
    places = np.array([seen.get(cell, -1) for cell in cells])
    n_rows = len(codes)
    held = sum(int(np.count_nonzero(column == places[codes])) for column in lists.places.T)
    listed = np.bincount(lists.places.ravel(), minlength=len(seen)) / n_rows
    shares = np.bincount(codes, minlength=len(cells)) / n_rows
    chance = float((shares * np.where(places < 0, 0, listed[places])).sum())
    noise = np.sqrt(max(chance * (1 - chance), 0) / n_rows)
    return held == n_rows or held / n_rows > chance + _CLEAR * noise


def _are_of(listed: Array, values: Array, name: str, *, falls: bool) -> bool:
    """Tell the classes that scores are of, in an order that is not that of the classes."""
    if listed.shape != values.shape or listed.dtype.kind not in "iuf" or not is_whole(listed):
        return False
    if not 0 <= listed.min() <= listed.max() <= _HIGHEST:
        return False
    ordered = np.sort(listed, axis=1)
    if (ordered[:, 1:] == ordered[:, :-1]).any():
        return False
    if bool((listed == ordered).all() and (listed[1:] == listed[:1]).all()):
        return False
    return _may_be(name, falls=falls) and (falls or not _sorts(listed, values))


def _are_scores(table: Array) -> bool:
    """Tell several numbers a row of which some are no whole ones, stopping at the first."""
    blocks = (table[rows] for rows in row_blocks(*table.shape))
    return table.shape[1] > 1 and not all(map(is_whole, blocks))


def _may_be(name: str, *, falls: bool) -> bool:
    """Tell by their name whether lists are classes, beside scores that fall or do not."""
    words = _words(name)
    return bool(words & (_LIST_WORDS if falls else _CLASS_WORDS)) and (falls or not words & _MARKS)


def _words(name: str) -> set[str]:
    spaced = re.sub(r"([a-z])([A-Z])", r"\1_\2", name[:200])
    return {*re.split(r"[^a-z0-9]+", spaced.lower())}


def _sorts(places: Array, values: Array) -> bool:
    """Tell places that put the scores of every row in order."""
    if places.max() >= values.shape[1]:
        return False
    put = np.take_along_axis(values, places.astype(np.intp), axis=1)
    return _fall(put) or _fall(put[:, ::-1])


def _fall(table: Array) -> bool:
    """Tell scores that fall in every row, and are not the same throughout."""
    blocks = [table[rows] for rows in row_blocks(*table.shape)]
    falls = all(bool((block[:, 1:] <= block[:, :-1]).all()) for block in blocks)
    return falls and any(bool((block[:, 0] > block[:, -1]).any()) for block in blocks)


def _numbered(classes: str, scores: str, listed: Array, values: Array) -> RankLists:
    places = listed.astype(np.int32)
    marks = np.zeros(int(places.max()) + 1, dtype=np.bool_)
    for rows in row_blocks(*places.shape):
        marks[places[rows]] = True
    order = np.cumsum(marks, dtype=np.int32) - 1
    cells = tuple(map(str, np.flatnonzero(marks).tolist()))
    return _sorted(classes, scores, order[places], cells, values)


def _spelled(
    codes: NDArray[np.int32], cells: Sequence[str], width: int
) -> tuple[Array, tuple[str, ...]] | None:
    """Give the classes of lists that are texts, as places among the different ones."""
    if len(cells) < 2 or width < 2 or (codes < 0).any():
        return None
    seen: dict[str, int] = {}
    rows = []
    for cell in cells:
        parts = classes_in(cell)
        if len({*parts}) != width or len(parts) != width:
            return None
        rows.append([seen.setdefault(part, len(seen)) for part in parts])
    return np.array(rows, dtype=np.int32)[codes], tuple(seen)


def _sorted(
    classes: str, scores: str, places: Array, cells: tuple[str, ...], values: Array
) -> RankLists:
    """Put the highest score of each row first."""
    if values.shape[1] > _MOST:
        found = f"lists of {values.shape[1]:,} classes with their scores"
        raise FileError(f"column {quoted(classes, 30)}", found, f"at most {_MOST:,}")
    if not _fall(values):
        order = np.argsort(-values, axis=1, kind="stable")
        places = np.take_along_axis(places, order, axis=1)
        values = np.take_along_axis(values, order, axis=1)
    return RankLists(classes, scores, places.astype(np.int32), cells, values)


def classes_in(cell: str) -> tuple[str, ...]:
    """Give the texts of a list as Python, NumPy and JSON write one, or without quotes.

    Examples
    --------
    >>> classes_in("['big cat', 'dog']"), classes_in("['big cat' 'dog']"), classes_in("[2 0]")
    (('big cat', 'dog'), ('big cat', 'dog'), ('2', '0'))
    """
    inside = LIST.fullmatch(cell) if len(cell) <= _LONGEST else None
    if inside is None:
        return ()
    parts = inside[1].split(",") if "," in inside[1] else _PARTS.findall(inside[1])
    parts = [part.strip().strip("'\"").strip() for part in parts]
    return tuple(parts) if all(parts) else ()


def in_ranks(
    raw: RawSet, lists: RankLists
) -> tuple[RawSet | RawEvent, tuple[str, ...], tuple[str, ...]]:
    """Take the table of a set for the scores of the classes that lists name.

    Returns
    -------
    RawSet or RawEvent
        All classes where all are listed, else the top-1 event.
    tuple of str, tuple of str
        What was done to the labels; what is missing, and why.
    """
    rows = replace(raw, table=None, labels=None, label_texts=None, class_names=None)
    if raw.labels is None:
        alone, missing = ranked_set(lists.values, lists.places, None, lists.cells, rows)
        return alone, (), missing
    known = truth_of(raw.labels, raw.label_texts)
    if known is None or len(known[0]) != len(lists.places):
        found = f"labels of shape {raw.labels.shape} beside lists of classes"
        raise FileError("labels", found, "one class a row")
    codes, texts = known
    seen = {cell: place for place, cell in enumerate(lists.cells)}
    truth = np.array([seen.setdefault(text, len(seen)) for text in texts], dtype=np.int32)[codes]
    truth, told = in_words_of(tuple(seen), truth, lists.places)
    made, missing = ranked_set(lists.values, lists.places, truth, tuple(seen), rows)
    return made, told, missing
