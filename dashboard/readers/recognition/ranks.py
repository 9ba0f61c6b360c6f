"""Classes that a file lists by rank, with their scores, and whether the first is right."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from calibcore.validation import Floats
from dashboard.readers.contents import Array, RawEvent, RawSet, SliceColumn, rows_of_file
from dashboard.readers.recognition.groups import MAX_TEXTS, in_use
from dashboard.readers.recognition.vocabulary import folded
from dashboard.readers.refusal import FileError, quoted
from dashboard.readers.table import Column

_TRAILING = re.compile(r"\D*?(\d{1,6})", re.ASCII)
_FEW = 20
Places = NDArray[np.int64]


def coded_alike(
    truth: Column | None, listed: Sequence[Column]
) -> tuple[tuple[str, ...], Places | None, Places]:
    """Code the true and the listed classes alike, whatever their capitals or blanks.

    Parameters
    ----------
    truth : Column, optional
        The true class of each row.
    listed : sequence of Column
        Predicted classes.

    Returns
    -------
    tuple of str
        The classes.
    ndarray, shape (n_samples,), optional
        Place of the true class.
    ndarray, shape (n_samples, n_listed)
        Places of the predicted ones.

    Raises
    ------
    FileError
        No true class is ever predicted, in more than a few rows.
    """
    parts = [_texts_of(column) for column in listed]
    of_truth = None if truth is None else _texts_of(truth)
    if of_truth is not None:
        keys = {folded(text) for text in of_truth[1]}
        others = {folded(text) for _, texts in parts for text in texts}
        if not keys & others:
            numbers = [[_number(text) for text in texts] for _, texts in (of_truth, *parts)]
            n_rows = len(of_truth[0])
            in_lists = {*chain.from_iterable(numbers[1:])}
            if all(all(part) for part in numbers) and {*numbers[0]} & in_lists:
                of_truth = of_truth[0], tuple(numbers[0])
                parts = [(c, tuple(n)) for (c, _), n in zip(parts, numbers[1:], strict=True)]
            elif n_rows >= _FEW:
                raise FileError(
                    "labels",
                    f"{quoted(of_truth[1][0], 30)} and others, none of which is ever predicted, as"
                    f" {quoted(parts[0][1][0], 30)} is",
                    "labels in the words of the predictions",
                )
    names: dict[str, str] = {}
    for _, texts in (*parts, *((of_truth,) if of_truth else ())):
        for text in texts:
            names.setdefault(folded(text), text)
    place = {key: k for k, key in enumerate(names)}

    def places(part: tuple[Array, tuple[str, ...]]) -> Places:
        return np.array([place[folded(text)] for text in part[1]], dtype=np.int64)[part[0]]

    table = np.column_stack([places(part) for part in parts])
    return tuple(names.values()), None if of_truth is None else places(of_truth), table


def top_one(scores: Array, truth: Column, predicted: Column, rows: RawSet) -> RawEvent:
    """Return the scores of the predicted classes, and whether these are the true ones."""
    names, labels, listed = coded_alike(truth, [predicted])
    numbers = None
    if truth.texts is None and predicted.texts is None:
        numbers = truth.values, predicted.values
    return _event(scores, listed[:, 0], labels, names, rows, numbers)


def ranked(
    classes: Sequence[Column], scores: Floats, truth: Column | None, rows: RawSet
) -> tuple[RawSet | RawEvent, tuple[str, ...]]:
    """Return a table of all classes where each row lists all, else the first of each list.

    Parameters
    ----------
    classes : sequence of Column
        The most probable first.
    scores : ndarray, shape (n_samples, n_ranks)
        In the same order.
    truth : Column, optional
        The true class of each row.
    rows : RawSet
        What else is known of the rows.

    Returns
    -------
    RawSet or RawEvent
        What is known of each row.
    tuple of str
        What is not available.
    """
    names, labels, listed = coded_alike(truth, classes)
    n_ranks = scores.shape[1]
    if listed.shape != scores.shape:
        raise FileError("ranks", f"{listed.shape[1]} classes and {n_ranks} scores", "one for each")
    ordered = np.sort(listed, axis=1)
    _refuse(np.any(ordered[:, 1:] == ordered[:, :-1], axis=1), "the same class twice", rows)
    known = np.unique(listed)
    strange = labels is not None and not np.isin(labels, known).all()
    if len(known) == n_ranks > 1 and not strange:
        order = sorted(known.tolist(), key=lambda k: _sorting(names[k]))
        place = np.zeros(len(names), dtype=np.int64)
        place[order] = np.arange(n_ranks)
        table = np.empty(scores.shape, dtype=scores.dtype)
        np.put_along_axis(table, place[listed], scores, axis=1)
        texts = tuple(names[k] for k in order)
        if labels is None:
            return replace(rows, table=table, class_names=texts), ()
        labels = place[labels]
        return replace(rows, table=table, class_names=texts, labels=labels, label_texts=texts), ()
    _refuse(np.any(scores[:, 1:] > scores[:, :1], axis=1), "a later score above the first", rows)
    if labels is None:
        codes, texts = in_use(listed[:, 0], names)
        predicted = SliceColumn("predicted class", codes, texts)
        return replace(rows, table=scores[:, 0], predicted=predicted, top_one=True), ()
    event = _event(scores[:, 0], listed[:, 0], labels, names, rows)
    if n_ranks == 1:
        return event, ()
    said = (
        f"Each row lists {n_ranks} of {len(names):,} or more classes. Only the first is used, so"
        " top-2 and single classes are not available."
    )
    return event, (said,)


def _event(
    scores: Array, predicted: Places, labels: Places | None, names: tuple[str, ...], rows: RawSet,
    numbers: tuple[Array, ...] | None = None,
) -> RawEvent:  # fmt: skip
    columns = rows.columns
    codes, texts = in_use(predicted, names)
    if len(texts) <= MAX_TEXTS:
        columns = (*columns, SliceColumn("predicted class", codes.astype(np.uint8), texts))
    return RawEvent(
        scores, predicted == labels, rows.first_row, columns, len(names), rows.among,
        numbers=numbers,
    )  # fmt: skip


def _texts_of(column: Column) -> tuple[Array, tuple[str, ...]]:
    """Return each cell's place among texts, of numbers as they are written shortest."""
    if column.texts is not None:
        return in_use(column.values, column.texts)
    values, codes = np.unique(column.values, return_inverse=True)
    codes = codes.reshape(column.values.shape)
    if values.dtype.kind == "b":
        return codes, tuple(str(value).lower() for value in values.tolist())
    return codes, tuple(
        f"{value:.0f}" if float(value).is_integer() else f"{value:.6g}" for value in values.tolist()
    )


def _number(text: str) -> str:
    match = _TRAILING.fullmatch(text.strip())
    return str(int(match[1])) if match else ""


def _sorting(name: str) -> tuple[bool, int, str]:
    """Sort class numbers as numbers, before names as text."""
    whole = name.isascii() and name.isdigit()
    return not whole, len(name) if whole else 0, name


def _refuse(bad: Array, found: str, rows: RawSet) -> None:
    if np.any(bad):
        where = rows_of_file(bad, rows)
        raise FileError("ranked classes", f"{found} {where}", "different classes, the best first")
