"""Classes that no row is of, which may be other numbers that were taken for classes."""

from collections.abc import Iterator

import numpy as np

from calibcore.data import LogitSet
from dashboard.readers.contents import RawSet, ValuesKind
from dashboard.readers.refusal import visible

_ROWS_A_CLASS = 5
"""With so many rows for each class, one without any is odd."""


def absent_classes(rows: LogitSet, raw: RawSet, kind: ValuesKind, where: str) -> Iterator[str]:
    """Name the classes that no row is of.

    Parameters
    ----------
    rows : LogitSet
        As they will be judged.
    raw : RawSet
        As they stood in the file.
    kind : {"logits", "probabilities", "scores"}
        Sums of 1 tell probabilities from other numbers; nothing tells logits.
    where : str
        Of which set it is said.
    """
    counts = np.bincount(rows.labels, minlength=rows.n_classes)
    absent = np.flatnonzero(counts == 0).tolist()
    if not absent:
        return
    shown = ", ".join(visible(rows.class_names[k], 30) for k in absent[:5])
    more = f" and {len(absent) - 5} more" if len(absent) > 5 else ""
    unsure = ""
    names = raw.headings or ()
    named = len(names) == rows.n_classes and not all(name[-1:].isdigit() for name in names)
    if kind == "logits" and named and rows.n_samples >= _ROWS_A_CLASS * rows.n_classes:
        what = "this column holds" if len(absent) == 1 else "these columns hold"
        unsure = f"; perhaps {what} other numbers than logits: if so, choose the class columns"
    yield (
        f"No row{where} is truly of class {shown}{more}, so figures of such a class alone are not"
        f" available{unsure}."
    )
