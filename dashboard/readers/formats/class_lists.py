"""Lists of classes with their scores in each row, as pipelines and services write them."""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import types

from dashboard.readers.formats.cells import encoded
from dashboard.readers.table import Column, Odd, by_number

_CLASS_KEYS = (
    "label", "class", "class_name", "name", "category", "display_name", "display_names", "classes",
    "labels", "class_names", "class_id", "id", "ids",
)  # fmt: skip
"""What a class is called beside its score, the most telling first."""

_SCORE_KEYS = (
    "score", "prob", "probability", "confidence", "proba", "p", "scores", "probs", "probabilities",
    "confidences", "probas", "logits", "value",
)  # fmt: skip
_MAX_CLASSES, _MAX_RANKS = 4096, 100
TOO_MANY = "lists of too many classes"


def keys_of_pair(kinds: Mapping[str, pa.DataType]) -> tuple[str, str] | None:
    """Find the members of an object that name a class, or classes, and give what they score.

    Examples
    --------
    >>> keys_of_pair({"ids": pa.string(), "displayNames": pa.string(), "confidences": pa.float64()})
    ('displayNames', 'confidences')
    """
    keys = {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(): name for name in kinds}
    name = next((keys[key] for key in _CLASS_KEYS if key in keys), None)
    score = next((keys[key] for key in _SCORE_KEYS if key in keys), None)
    if name is None or score is None:
        return None
    fits = types.is_string(kinds[name]) or types.is_integer(kinds[name])
    scored = types.is_floating(kinds[score]) or types.is_integer(kinds[score])
    return (name, score) if fits and scored else None


def columns_of_classes(
    name: str, lengths: NDArray[np.int64], classes: pa.Array, scores: NDArray[np.generic]
) -> list[Column]:
    """Make one column a class, or two a rank where rows list only their likeliest classes.

    Parameters
    ----------
    name : str
        Before the dot in the name of each column; "" for none.
    lengths : ndarray of int64, shape (n_rows,)
        How many classes each row lists.
    classes, scores : arrays, shape (n_listed,)
        Texts or whole numbers, and the score of each, row by row.

    Returns
    -------
    list of Column
        Classes in the order of all rows, or else by number and letter, an odd cell where a row
        lacks one; or ``top1_class``, ``top1_prob``, ``top2_class``, ..., the highest score first.
    """
    codes, found = encoded(classes.cast(pa.string()))
    texts = found.to_pylist()
    n_rows, rows = len(lengths), np.repeat(np.arange(len(lengths)), lengths)
    if len(np.unique(rows * max(len(texts), 1) + codes)) < len(codes):
        return [Column(name, np.empty(0), unread="lists with the same class twice")]
    prefix = f"{name}." if name else ""
    listed = lengths[lengths > 0]
    even = bool(listed.size) and bool((listed == listed[0]).all())
    most = len(texts) * len(listed)
    if len(codes) == most or (not even and 2 * len(codes) >= most):
        if len(texts) <= _MAX_CLASSES:
            if not even or (codes.reshape(len(listed), -1) != codes[: listed[0]]).any():
                # Sorted by score, rows tell no order of the classes.
                ordered = sorted(range(len(texts)), key=lambda k: by_number(texts[k]))
                codes = np.argsort(ordered).astype(np.int32)[codes]
                texts = [texts[k] for k in ordered]
            return _columns([prefix + text for text in texts], n_rows, (codes, rows), scores)
    elif (width := int(lengths.max(initial=0))) <= _MAX_RANKS:
        order = np.lexsort((-scores.astype(np.float64), rows))
        place = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        names = [f"{prefix}top{k + 1}_prob" for k in range(width)]
        ranked = np.full((width, n_rows), len(texts))
        ranked[place, rows] = codes[order]
        every = pa.array([*texts, None], pa.string())
        pairs = zip(ranked, _columns(names, n_rows, (place, rows), scores[order]), strict=True)
        return [*chain(*((_rank(column, every.take(pa.array(r))), column) for r, column in pairs))]
    return [Column(name, np.empty(0), unread=TOO_MANY)]


def _rank(scores: Column, cells: pa.Array) -> Column:
    """Make the column of the classes beside their scores."""
    codes, texts = encoded(cells)
    return Column(scores.name.removesuffix("prob") + "class", codes, tuple(texts.to_pylist()))


def _columns(
    names: Sequence[str],
    n_rows: int,
    places: tuple[NDArray[Any], NDArray[Any]],
    scores: NDArray[np.generic],
) -> list[Column]:
    """Lay scores out by column and row; a cell without one is odd."""
    table = np.full((len(names), n_rows), np.nan)
    there = np.zeros(table.shape, dtype=np.bool_)
    table[places], there[places] = scores, True
    columns = []
    for name, values, known in zip(names, table, there, strict=True):
        rows = np.flatnonzero(~known)
        odd = Odd(rows, np.zeros(len(rows), dtype=np.int32), ("",)) if len(rows) else None
        columns.append(Column(name, values, None, odd))
    return columns
