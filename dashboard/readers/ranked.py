"""Tables in which each row lists its likeliest classes with their scores."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calibcore.validation import Floats
from dashboard.readers.contents import RawEvent, RawSet, SliceColumn, row_list
from dashboard.readers.refusal import FileError

_SCORE_WORDS = frozenset({"prob", "proba", "probability", "score", "conf", "confidence", "p"})
_CLASS_WORDS = frozenset(
    {"class", "label", "name", "pred", "prediction", "predicted", "category", "index", "idx", "id"}
)
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
        lone = len(ranks) == 1 and not _words(stem) & {"top", "rank"}
        if label is None and all(
            row[c].strip() in ("0", "1") for row in sample for c in group.values()
        ):
            continue
        if len(same) == 1 and ranks[0] <= 1 and ranks[-1] - ranks[0] == len(ranks) - 1 and not lone:
            return [group[r] for r in ranks], [same[0][r] for r in ranks]
    return None


def ranked_set(
    scores: Floats,
    classes: NDArray[np.int32],
    labels: NDArray[np.int32],
    names: Sequence[str],
    *,
    first_row: int,
    columns: tuple[SliceColumn, ...],
) -> tuple[RawSet | RawEvent, tuple[str, ...]]:
    """Make a table of all classes where all are listed, else the top-1 event.

    Parameters
    ----------
    scores, classes : ndarray, shape (n_samples, n_ranks)
        Score of each rank, and the place of its class among ``names``.
    labels : ndarray, shape (n_samples,)
        Place of the true class among ``names``.
    names : sequence of str
        Every class that occurs, each once.
    first_row, columns
        As in `RawSet`.

    Returns
    -------
    RawSet or RawEvent
        What is known of each row.
    tuple of str
        What is missing, and why.
    """
    n_rows, n_ranks = scores.shape
    ordered = np.sort(classes, axis=1)
    _refuse(np.any(ordered[:, 1:] == ordered[:, :-1], axis=1), "the same class twice", first_row)
    if n_ranks == len(names) > 1:
        order = sorted(range(len(names)), key=lambda k: _rank_of(names[k]))
        place = np.empty(len(names), dtype=np.int64)
        place[order] = np.arange(len(names))
        table = np.empty((n_rows, n_ranks))
        np.put_along_axis(table, place[classes], scores, axis=1)
        texts = tuple(names[k] for k in order)
        return RawSet(
            table, place[labels], texts, first_row, label_texts=texts, columns=columns
        ), ()
    _refuse(
        np.any(scores[:, 1:] > scores[:, :1], axis=1), "a later score above the first", first_row
    )
    if n_ranks == 1:
        return RawEvent(scores[:, 0], classes[:, 0] == labels, first_row, columns), ()
    said = (
        f"Of at least {max(len(names), n_ranks + 1):,} classes each row lists {n_ranks}, so what"
        " the others share is not known and only the likeliest class is used."
    )
    return RawEvent(scores[:, 0], classes[:, 0] == labels, first_row, columns), (said,)


def _refuse(bad: NDArray[np.bool_], found: str, first_row: int) -> None:
    if bad.any():
        raise FileError(
            "list of likely classes", f"{found} {row_list(bad, first_row)}",
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
