"""Two parts that belong together: the same classes in both, and the same rows in one order."""

from dataclasses import replace

import numpy as np

from dashboard.readers.contents import Array, RawEvent, RawSet, SliceColumn
from dashboard.readers.labels import only_numbers
from dashboard.readers.refusal import FileError, plain, quoted


def same_classes(
    calibration: RawSet | RawEvent, test: RawSet | RawEvent
) -> tuple[RawSet | RawEvent, tuple[str, ...], tuple[str, ...]]:
    """Bring the class columns of the test set into the order of those of the calibration set.

    Returns
    -------
    RawSet or RawEvent
        The test set.
    tuple of str, tuple of str
        What was mended, and what may be doubted.
    """
    if isinstance(calibration, RawEvent) or isinstance(test, RawEvent):
        return test, (), ()
    names, others = calibration.class_names or (), test.class_names or ()
    if not names or not others or names == others or test.table is None or test.table.ndim != 2:
        return test, (), ()
    if set(names) != set(others) or len(names) != len(others):
        odd = next((name for name in others if name not in names), others[0])
        said = (
            f"The two sets name their classes differently ({quoted(names[0], 30)} in one,"
            f" {quoted(odd, 30)} in the other), and are taken to have them in the same order."
        )
        return test, (), (said,)
    if test.label_texts is None and not only_numbers(names):
        raise FileError(
            "classes",
            f"columns in another order in the test set ({plain(', '.join(others[:3]), 60)}), and"
            " labels that are numbers",
            "the same order in both sets, or labels that name classes",
        )
    order = [others.index(name) for name in names]
    hot = test.labels is not None and test.labels.ndim == 2 and test.labels.shape[1] == len(order)
    mended = replace(
        test,
        table=test.table[:, order],
        labels=test.labels[:, order] if hot and test.labels is not None else test.labels,
        class_names=names,
        headings=calibration.headings,
    )
    said = "Class columns of the test set were put in the order of those of the calibration set."
    return mended, (said,), ()


def in_order_of(
    ids: SliceColumn | None, truth: RawSet, place: str
) -> tuple[RawSet, tuple[str, ...], tuple[str, ...]]:
    """Put labels in the order of the rows of another file, where both name their rows.

    Parameters
    ----------
    ids : SliceColumn, optional
        What names the rows of the other file.
    truth : RawSet
        The labels, as many as there are rows.
    place : str
        The name of their file.

    Returns
    -------
    RawSet
        The labels in order.
    tuple of str, tuple of str
        What was found, and what was mended.
    """
    if ids is None or truth.ids is None:
        return truth, (), ()
    wanted, have = ids.values, truth.ids.values
    name = quoted(ids.name, 30)
    if np.array_equal(wanted, have):
        return truth, (f"Column {name} is the same in both files, row by row.",), ()
    there, here = np.argsort(have, kind="stable"), np.argsort(wanted, kind="stable")
    same = np.array_equal(have[there], wanted[here])
    if same and not (np.diff(have[there]) == 0).any():
        order = np.empty_like(there)
        order[here] = there
        said = f"Labels were put in the order of the rows by column {name} ({len(order):,} rows)."
        return _ordered(truth, order), (), (said,)
    if ids.name != truth.ids.name or not ids.name:
        return truth, (), ()
    found = "in another order, and some twice" if same else "that are not those of the other file"
    raise FileError(f"column {name} in {quoted(place, 40)}", f"rows {found}", "the same rows once")


def _ordered(raw: RawSet, order: Array) -> RawSet:
    return replace(
        raw,
        labels=None if raw.labels is None else raw.labels[order],
        columns=tuple(replace(column, values=column.values[order]) for column in raw.columns),
    )
