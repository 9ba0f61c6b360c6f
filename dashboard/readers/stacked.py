"""Columns of several files under one another, or in one order."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.contents import Array
from dashboard.readers.refusal import FileError, quoted
from dashboard.readers.table import Column, Odd

_FIRST = 1_000
"""So many rows mostly tell fractions from whole numbers."""


def kind_of(column: Column) -> str:
    """Return whether a column holds text, whole numbers or fractions."""
    if column.texts is not None:
        return "text"
    values = column.values
    whole = values.dtype.kind in "biu" or all(
        bool((part == np.rint(part)).all()) for part in (values[:_FIRST], values)
    )
    return "whole" if whole else "fractions"


def under(columns: Sequence[Column]) -> Column:
    """Return the cells of all columns under one another."""
    first = columns[0]
    unread = next((column.unread for column in columns if column.unread), "")
    if unread:
        return replace(first, values=first.values[:0], unread=unread)
    if len({column.values.shape[1:] for column in columns}) > 1:
        widths = dict.fromkeys((*column.values.shape[1:], 1)[0] for column in columns)
        found = f"parts {' and '.join(map(str, [*widths][:2]))} wide"
        raise FileError(f"array {quoted(first.name)}", found, "parts of the same classes")
    counts = [len(column.values) for column in columns]
    if any(column.texts is not None for column in columns):
        parts = [_texts_of(column) for column in columns]
        texts = tuple(dict.fromkeys(text for _, own in parts for text in own))
        place = {text: k for k, text in enumerate(texts)}
        codes = [np.array([place[t] for t in own], np.int32)[code] for code, own in parts]
        return Column(first.name, np.concatenate(codes), texts)
    starts = np.cumsum([0, *counts])
    odds = [(column.odd, start) for column, start in zip(columns, starts, strict=False)]
    kept = [(odd, start) for odd, start in odds if odd is not None]
    odd = None
    if kept:
        texts = tuple(dict.fromkeys(text for own, _ in kept for text in own.texts))
        place = {text: k for k, text in enumerate(texts)}
        coded = [np.array([place[t] for t in own.texts], np.int32)[own.codes] for own, _ in kept]
        rows = np.concatenate([own.rows + start for own, start in kept])
        odd = Odd(rows, np.concatenate(coded), texts)
    return Column(
        first.name, np.concatenate([column.values for column in columns]), None, odd,
        sum(column.percents for column in columns), sum(column.commas for column in columns),
    )  # fmt: skip


def _texts_of(column: Column) -> tuple[Array, tuple[str, ...]]:
    """Return cells as texts, numbers in their shortest form and blank where there are none."""
    if column.texts is not None:
        return column.values, column.texts
    values, codes = np.unique(column.values, return_inverse=True)
    return codes, tuple("" if np.isnan(value) else f"{value:.12g}" for value in values.tolist())


def order_of(wanted: Array, have: Array) -> NDArray[np.intp] | None:
    """Return where each wanted row is, if every row is there once."""
    there, here = np.argsort(have, kind="stable"), np.argsort(wanted, kind="stable")
    ordered = have[there]
    if not np.array_equal(ordered, wanted[here]) or bool((ordered[1:] == ordered[:-1]).any()):
        return None
    order = np.empty_like(there)
    order[here] = there
    return order


def same_cells(one: Column, other: Column) -> bool:
    """Return whether two columns have the same cells."""
    if (one.texts is None) != (other.texts is None) or one.values.shape != other.values.shape:
        return False
    if one.texts is not None and other.texts is not None:
        cells = [np.array(c.texts, dtype=object)[c.values] for c in (one, other)]
        return bool(np.array_equal(*cells))
    number = one.values.dtype.kind == "f" and other.values.dtype.kind == "f"
    return bool(np.array_equal(one.values, other.values, equal_nan=number))
