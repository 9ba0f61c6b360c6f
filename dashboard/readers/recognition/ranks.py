"""Classes that a file lists by rank, with their scores, and whether the first is right."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from calibcore.validation import Floats
from dashboard.readers.recognition.groups import MOST_GROUPS, in_use
from dashboard.readers.recognition.vocabulary import folded
from dashboard.readers.records import (
    Array,
    Column,
    GroupingColumn,
    RawEvent,
    RawSet,
    Remarks,
    by_number,
    rows_of_file,
)
from dashboard.readers.refusal import FileError, quoted

_TRAILING = re.compile(r"\D*?(\d{1,6})", re.ASCII)
_FEW = 20
Places = NDArray[np.int64]


def coded_alike(
    truth: Column | None, listed: Sequence[Column]
) -> tuple[tuple[str, ...], Places | None, Places]:
    """Return the classes, and the places among them of the true and of the listed ones.

    Capitals and blanks do not count. Refused: no true class is ever predicted, in more than a few
    rows.
    """
    with_truth = int(truth is not None)
    coded = [_texts_of(column) for column in (*([] if truth is None else [truth]), *listed)]
    texts = [texts for _, texts in coded]
    spelt = spelt_alike(*texts)
    predicted = {*chain.from_iterable(spelt[with_truth:])}
    if with_truth and len(coded[0][0]) >= _FEW and not {*spelt[0]} & predicted:
        raise FileError(
            "labels",
            f"{quoted(texts[0][0], 30)} and others, none of which is ever predicted, as"
            f" {quoted(texts[1][0], 30)} is",
            "labels in the words of the predictions",
        )
    names: dict[str, str] = {}
    for k in (*range(with_truth, len(coded)), *range(with_truth)):
        for key, text in zip(spelt[k], texts[k], strict=True):
            names.setdefault(key, text)
    place = {key: k for k, key in enumerate(names)}
    places = [
        np.array([place[key] for key in keys], dtype=np.int64)[codes]
        for keys, (codes, _) in zip(spelt, coded, strict=True)
    ]
    table = np.column_stack(places[with_truth:])
    return tuple(names.values()), places[0] if with_truth else None, table


def spelt_alike(*texts: Sequence[str]) -> list[list[str]]:
    """Return texts in a spelling in which the same classes are the same.

    Capitals, accents, blanks and a full stop at the end count only where classes of both differ by
    nothing else; numbers are compared with the numbers in names, such as LABEL_2, where no class
    has the same name.

    >>> spelt_alike(["Cat", "dog"], ["DOG ", "cat"]), spelt_alike(["a", "A"], ["A", "a"])
    ([['cat', 'dog'], ['dog', 'cat']], [['a', 'A'], ['A', 'a']])
    >>> spelt_alike(["Oslo", "Rome"], ["oslo.", "Rome", "rome."])
    [['oslo', 'rome'], ['oslo', 'rome', 'rome']]
    >>> spelt_alike(["1", "2"], ["LABEL_0", "LABEL_1"])
    [['1', '2'], ['0', '1']]
    """
    spelt = [[_spelt(text) for text in part] for part in texts]
    if sum(len({*part}) < len({*own}) for part, own in zip(spelt, texts, strict=True)) > 1:
        return [[text.strip() for text in part] for part in texts]
    if len(spelt) > 1 and not {*spelt[0]} & {*chain.from_iterable(spelt[1:])}:
        numbers = [[_number(text) for text in part] for part in texts]
        different = all(len({*part}) == len(part) for part in numbers)
        if different and all(all(part) for part in numbers):
            return numbers
    return spelt


def _spelt(text: str) -> str:
    return folded(text).removesuffix(".") or folded(text)


def written_otherwise(truth: Column, predicted: Column, hits: Array, remarks: Remarks) -> None:
    """Say in how many rows the prediction is the true class by another spelling, right or wrong."""
    if truth.texts is None or predicted.texts is None:
        return
    codes = (truth.values, truth.texts), (predicted.values, predicted.texts)
    exact, alike = (_same_text(*codes, spelling=spelling) for spelling in (str.strip, _spelt))
    for rows, how in ((alike & ~exact & hits, "right"), (alike & ~exact & ~hits, "wrong")):
        count = int(np.count_nonzero(rows))
        if not count:
            continue
        first = int(rows.argmax())
        own, other = (quoted(texts[values[first]], 30) for values, texts in codes)
        differ = "differ from the true class by capitals, accents or a full stop alone"
        if how == "right":
            remarks.repairs.append(
                f"Predictions such as {other} were counted as {own}: they {differ} ({count:,}"
                " rows)."
            )
        else:
            remarks.doubts.append(
                f"Predictions such as {other} for {own} count as wrong in {count:,} rows: they"
                f" {differ}, but both columns have classes of either spelling. If these are the"
                " same, spell them alike in the file."
            )


def _same_text(
    one: tuple[Array, Sequence[str]],
    other: tuple[Array, Sequence[str]],
    *,
    spelling: Callable[[str], str],
) -> NDArray[np.bool_]:
    """Return in which rows two columns of texts have the same text in a spelling."""
    place: dict[str, int] = {}
    first, second = (
        np.array([place.setdefault(spelling(text), len(place)) for text in texts])[values]
        for values, texts in (one, other)
    )
    return np.asarray(first == second)


def top_one(scores: Array, truth: Column, predicted: Column, rows: RawSet) -> RawEvent:
    """Return the scores of the predicted classes, and whether these are the true ones."""
    names, labels, listed = coded_alike(truth, [predicted])
    return _event(scores, listed[:, 0], labels, names, rows)


def ranked(
    classes: Sequence[Column], scores: Floats, truth: Column | None, rows: RawSet
) -> tuple[RawSet | RawEvent, tuple[str, ...]]:
    """Return a table of all classes where each row lists all, else the first of each list."""
    names, labels, listed = coded_alike(truth, classes)
    n_ranks = scores.shape[1]
    if listed.shape != scores.shape:
        raise FileError("ranks", f"{listed.shape[1]} classes and {n_ranks} scores", "one for each")
    ordered = np.sort(listed, axis=1)
    _refuse(np.any(ordered[:, 1:] == ordered[:, :-1], axis=1), "the same class twice", rows)
    known = np.unique(listed)
    strange = labels is not None and not np.isin(labels, known).all()
    if len(known) == n_ranks > 1 and not strange:
        order = sorted(known.tolist(), key=lambda k: by_number(names[k]))
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
        predicted = GroupingColumn("predicted class", codes, texts)
        return replace(rows, table=scores[:, 0], predicted=predicted), ()
    event = _event(scores[:, 0], listed[:, 0], labels, names, rows)
    if n_ranks == 1:
        return event, ()
    text = (
        f"Each row lists {n_ranks} of {len(names):,} or more classes. Only the first is used, so"
        " top-2 and single classes are not available."
    )
    return event, (text,)


def _event(
    scores: Array, predicted: Places, labels: Places | None, names: tuple[str, ...], rows: RawSet
) -> RawEvent:
    columns = rows.columns
    codes, texts = in_use(predicted, names)
    if len(texts) <= MOST_GROUPS:
        columns = (*columns, GroupingColumn("predicted class", codes.astype(np.uint8), texts))
    called = [_number(name) for name in names]
    numbers = None
    if labels is not None and all(called):
        by_place = np.array(called, dtype=np.int64)
        numbers = by_place[labels], by_place[predicted]
    return RawEvent(
        scores, predicted == labels, len(names), numbers, first_row=rows.first_row,
        columns=columns, among=rows.among, ids=rows.ids, design=rows.design,
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


def _refuse(bad: Array, text: str, rows: RawSet) -> None:
    if np.any(bad):
        where = rows_of_file(bad, rows)
        raise FileError("ranked classes", f"{text} {where}", "different classes, the best first")
