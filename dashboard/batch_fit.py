"""Smooth maps of all classes are fitted to the rows of many files, wherever these are read."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from calibcore import LogitSet
from calibcore.calibrators.base import VectorMap
from calibcore.calibrators.batches import (
    SAMPLE_CELLS,
    BatchFit,
    LossSums,
    SmoothMap,
    check_smooth,
    fit_sums,
)
from calibcore.errors import CalibrationInputError
from calibcore.validation import Floats
from dashboard.counting import Columns, Part, Workers, batches_of, counts_of, named

Tell = Callable[[float], None]


@dataclass(frozen=True)
class Sample:
    """Some rows; those of two parts add up."""

    rows: LogitSet

    def __add__(self, other: "Sample") -> "Sample":
        """Put the rows of two parts one after the other."""
        return _joined([self.rows, other.rows])


@dataclass(frozen=True)
class Sizes:
    """How many rows there are, and of which classes."""

    n_rows: int
    classes: tuple[str, ...]

    def __add__(self, other: "Sizes") -> "Sizes":
        """Add up the rows of two parts."""
        return Sizes(self.n_rows + other.n_rows, self.classes)


def fit_to_files(
    calibrator: VectorMap, columns: Columns, run: Workers
) -> tuple[BatchFit, tuple[str, ...]]:
    """Fit a smooth map to the rows of files, and tell of which classes.

    ``columns``: of scores of classes. ``run``: reads the files, once for a sample and once for each
    step of the fit.

    Raises `CalibrationInputError` as `dashboard.counting.summarise` and
    `calibcore.calibrators.batches.fit_sums` do.
    """
    sizes: Sizes = run(_sizes)
    check_smooth(calibrator, len(sizes.classes))
    most = max(SAMPLE_CELLS // len(sizes.classes), 1)
    sample: Sample | None = run(partial(_sampled, columns, sizes.classes, -(-sizes.n_rows // most)))
    if sample is None:
        raise CalibrationInputError("count", "0 in every row", "some rows")
    fit = fit_sums(
        calibrator, sample.rows, lambda at: run(partial(_summed, columns, sizes.classes, at))
    )
    return fit, sizes.classes


def _sizes(parts: Sequence[Part], _: Tell | None = None) -> Sizes:
    return Sizes(sum(part.n_rows for part in parts), parts[0].classes)


def _rows(
    columns: Columns, order: Sequence[str], parts: Sequence[Part], tell: Tell | None
) -> Iterator[tuple[LogitSet, Floats | None]]:
    """Read rows of classes, in one order in all files, with how many equal rows each stands for."""
    assert columns.classes is not None  # noqa: S101 - for the type
    for where, part, batch in batches_of(columns, parts, tell, of_event=False):
        with named(where):
            yield columns.classes.rows(batch, part.classes, order), counts_of(batch, columns)


def _sampled(
    columns: Columns,
    order: Sequence[str],
    every: int,
    parts: Sequence[Part],
    tell: Tell | None = None,
) -> Sample | None:
    """Keep one row in so many of those that count."""
    some = []
    for rows, counts in _rows(columns, order, parts, tell):
        places = np.arange(rows.n_samples) if counts is None else np.flatnonzero(counts)
        if places.size:
            some.append(rows.rows(places[::every]))
    return _joined(some) if some else None


def _joined(parts: Sequence[LogitSet]) -> Sample:
    logits = np.concatenate([one.logits for one in parts])
    labels = np.concatenate([one.labels for one in parts])
    return Sample(LogitSet(logits, labels, parts[0].class_names))


def _summed(
    columns: Columns,
    order: Sequence[str],
    at: SmoothMap,
    parts: Sequence[Part],
    tell: Tell | None = None,
) -> LossSums | None:
    """Add up the loss of some parts of files and its derivatives."""
    whole = None
    for rows, counts in _rows(columns, order, parts, tell):
        sums = at.sums(rows.logits, rows.labels, counts)
        whole = sums if whole is None else whole + sums
    return whole
