"""Top-1 scores with their predicted classes, beside the true classes of another file."""

import numpy as np

from dashboard.readers.columns.layout import Layout
from dashboard.readers.contents import Array, Contents, RawSet
from dashboard.readers.refusal import FileError
from dashboard.readers.text.table_body import Body


def judged(rows: RawSet) -> Contents:
    """Compare predicted classes with true ones, as where both are columns of one table.

    Parameters
    ----------
    rows : RawSet
        Scores of the predicted classes, with as many labels of another file.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from dashboard.readers.contents import SliceColumn
    >>> predicted = SliceColumn("pred", np.array([0, 1]), ("cat", "dog"))
    >>> rows = RawSet(np.array([0.9, 0.6]), np.array([0, 0]), label_texts=("cat", "dog"))
    >>> event = judged(replace(rows, predicted=predicted, top_one=True)).sets["rows"]
    >>> event.hits.tolist()
    [True, False]
    """
    predicted = rows.predicted
    if predicted is None or predicted.categories is None:
        raise FileError("files", "scores without predicted classes", "a column of them")
    codes, texts = _as_texts(np.asarray(rows.labels), rows.label_texts)
    labels = codes + np.int32(len(predicted.categories))
    names = ("score", rows.label_name or "labels", predicted.name)
    slices = dict(enumerate(rows.columns, len(names)))
    layout = Layout(
        (*names, *(column.name for column in rows.columns)), (0,), labels=1, predicted=2,
        slices=tuple(slices),
    )  # fmt: skip
    body = Body(
        np.asarray(rows.table)[:, np.newaxis], {1: labels, 2: predicted.values},
        (*predicted.categories, *texts), columns=slices, among=rows.among,
        unread=rows.unread,
    )  # fmt: skip
    return body.contents(layout, first_row=rows.first_row, found=())


def _as_texts(labels: Array, texts: tuple[str, ...] | None) -> tuple[Array, tuple[str, ...]]:
    """Give labels as places among texts, as a table of text has them."""
    if labels.ndim != 1:
        raise FileError("labels", f"an array of shape {labels.shape}", "one class a row")
    if texts is not None:
        return labels.astype(np.int32), texts
    values, codes = np.unique(labels, return_inverse=True)
    cells = tuple(str(int(v) if labels.dtype.kind == "b" else v) for v in values.tolist())
    return codes.astype(np.int32), cells
