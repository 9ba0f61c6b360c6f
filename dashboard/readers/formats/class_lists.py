"""Lists of classes with their scores in each row, as pipelines and services write them."""

import re
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import types

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

    Parameters
    ----------
    kinds : mapping of str to pyarrow.DataType
        What each member, or each item of its list, is.

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
    classes : pyarrow.Array, shape (n_listed,)
        Texts or whole numbers, row by row.
    scores : ndarray, shape (n_listed,)
        Of each class.

    Returns
    -------
    list of Column
        Classes in the order of all rows, or else by number and letter, an odd cell where a row
        lacks one; or
        ``top1_class``, ``top1_prob``, ``top2_class`` and so on, the highest score first.
    """
    coded = classes.cast(pa.string()).dictionary_encode("encode")
    texts = tuple("" if text is None else text for text in coded.dictionary.to_pylist())
    codes = np.asarray(coded.indices.to_numpy(zero_copy_only=False), dtype=np.int32)
    rows = np.repeat(np.arange(len(lengths)), lengths)
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
                texts = tuple(texts[k] for k in ordered)
            return _classes(prefix, len(lengths), texts, (rows, codes, scores))
    elif (width := int(lengths.max(initial=0))) <= _MAX_RANKS:
        order = np.lexsort((-scores.astype(np.float64), rows))
        place = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return _ranks(
            prefix, (len(lengths), width), texts, (rows, place, codes[order], scores[order])
        )
    return [Column(name, np.empty(0), unread=TOO_MANY)]


def _classes(
    prefix: str,
    n_rows: int,
    texts: tuple[str, ...],
    listed: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.generic]],
) -> list[Column]:
    rows, codes, scores = listed
    table = np.full((len(texts), n_rows), np.nan)
    there = np.zeros(table.shape, dtype=np.bool_)
    table[codes, rows] = scores
    there[codes, rows] = True
    return [
        Column(prefix + text, table[k], None, _blank(~there[k])) for k, text in enumerate(texts)
    ]


def _ranks(
    prefix: str,
    shape: tuple[int, int],
    texts: tuple[str, ...],
    listed: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.generic]],
) -> list[Column]:
    rows, place, codes, scores = listed
    names = np.full(shape[::-1], len(texts), dtype=np.int32)
    values = np.full(shape[::-1], np.nan)
    names[place, rows] = codes
    values[place, rows] = scores
    every = (*texts, "")
    columns = []
    for k in range(shape[1]):
        missing = names[k] == len(texts)
        used, first, codes_k = np.unique(names[k], return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.argsort(order).astype(np.int32)
        words = tuple(every[place] for place in used[order].tolist())
        columns += [
            Column(f"{prefix}top{k + 1}_class", rank[codes_k], words),
            Column(f"{prefix}top{k + 1}_prob", values[k], None, _blank(missing)),
        ]
    return columns


def _blank(missing: NDArray[np.bool_]) -> Odd | None:
    if not missing.any():
        return None
    rows = np.flatnonzero(missing)
    return Odd(rows, np.zeros(len(rows), dtype=np.int32), ("",))
