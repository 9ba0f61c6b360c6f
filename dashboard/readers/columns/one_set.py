"""A calibration and a test set of one file put together, where the user says they are one set."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dashboard.readers.contents import Contents, Options, RawEvent, RawSet, Role, SliceColumn
from dashboard.readers.refusal import FileError

SAID = "The two parts of the file were put together to one set, as you said."


def as_one_set(contents: Contents, options: Options) -> Contents:
    """Put both sets together if the user says so.

    Raises
    ------
    FileError
        They are not alike: other classes, labels of another kind, or top-1 scores.
    """
    if options.sets != "one" or not can_be_one(contents.sets):
        return contents
    first, second = (contents.sets[role] for role in ("calibration", "test"))
    if not isinstance(first, RawSet) or not isinstance(second, RawSet):
        raise FileError("sets", "top-1 scores in two parts", "one part, or both sets")
    rows = [_arrays(part) for part in (first, second)]
    if rows[0][2:] != rows[1][2:]:
        raise FileError("sets", "two parts with other classes or other labels", "both sets")
    whole = RawSet(
        np.concatenate([table for table, *_ in rows]),
        np.concatenate([labels for _, labels, *_ in rows]),
        first.class_names,
        label_texts=first.label_texts,
        label_name=first.label_name,
        headings=first.headings,
        columns=_columns(first, second),
        divided=first.divided,
    )
    return replace(contents, sets={"rows": whole}, found=(*contents.found, SAID), doubts=())


def can_be_one(sets: Mapping[Role, RawSet | RawEvent]) -> bool:
    """Tell whether a file has two sets that may be one."""
    return sets.keys() == {"calibration", "test"}


def _arrays(part: RawSet) -> tuple[np.ndarray, np.ndarray, object, object, object, object]:
    """Give the arrays of one part, and what must be the same in both."""
    table, labels = np.asarray(part.table), np.asarray(part.labels)
    alike = (table.shape[1:], labels.shape[1:], part.class_names)
    return table, labels, *alike, (part.label_texts, part.divided)


def _columns(first: RawSet, second: RawSet) -> tuple[SliceColumn, ...]:
    """Keep the further columns that both parts have in one coding."""
    others = {column.name: column for column in second.columns}
    return tuple(
        replace(column, values=np.concatenate([column.values, others[column.name].values]))
        for column in first.columns
        if column.name in others and column.categories == others[column.name].categories
    )
