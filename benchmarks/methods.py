"""Every method of the catalogue on every sample, in the papers' own form.

``python -m benchmarks.methods`` fits each method on the calibration sets with its default options,
evaluates it on the test sets, and writes ``docs/methods.md`` and the summary in
``docs/sources.md``.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from numpy.typing import ArrayLike

from benchmarks.readme import replace
from calibcore import LogitSet, Split, TopR, WithinTopR, audit
from calibcore.calibrators import CATALOGUE, FittedVectorMap, Method, VectorMap
from calibcore.evaluation import SetResult
from calibcore.events import Event
from calibcore.weights import SampleWeight
from dashboard.readers import read
from dashboard.samples import Sample, samples

ROOT = Path(__file__).parents[1]
EVENTS: dict[str, Event] = {"top-1": TopR(1), "top-2": TopR(2), "within top-2": WithinTopR(2)}


@dataclass(frozen=True)
class Column:
    """One measure of the tables: its heading, the event it is about, and how it is written."""

    heading: str
    event: str
    key: str
    scale: float
    digits: int
    best: Callable[[list[float]], float] = min


COLUMNS = (
    *(Column(f"KS {name}", name, "ks_error", 100, 2) for name in EVENTS),
    Column("ECE top-1", "top-1", "ece", 100, 2),
    Column("MCE top-1", "top-1", "mce", 100, 1),
    Column("NLL of top-1", "top-1", "event_nll", 1, 4),
    Column("Brier of top-1", "top-1", "event_brier", 1, 4),
    Column("class-wise ECE", "top-1", "classwise_ece", 100, 3),
    Column("NLL", "top-1", "nll", 1, 4),
    Column("Brier", "top-1", "brier", 1, 4),
    Column("accuracy", "top-1", "accuracy", 100, 2, max),
)

Row = dict[str, float | None]


@dataclass(frozen=True)
class _FixedMap(VectorMap):
    """A vector map that is fitted already, so that three events need one fit."""

    fitted: FittedVectorMap

    def fit(
        self, logits: ArrayLike, labels: ArrayLike, *, sample_weight: SampleWeight = None
    ) -> FittedVectorMap:
        """Give the map, whatever the rows."""
        del logits, labels, sample_weight
        return self.fitted


def main() -> None:
    """Fit everything, and write the tables."""
    parts, found = [_HEAD], {}
    for sample in samples():
        split = _split(sample)
        rows: dict[str, Row] = {"Uncalibrated": _row(split, None)}
        for method in (one for one in CATALOGUE if not one.knows_groups):
            started = time.process_time()
            rows[method.name] = _row(split, method)
            seconds = time.process_time() - started
            sys.stderr.write(f"{sample.name}: {method.name}, {seconds:.1f} s\n")
        parts.append(_table(sample, split, rows))
        found[sample.name] = rows
    (ROOT / "docs" / "methods.md").write_text("\n".join(parts), encoding="utf-8")
    _write_summary(found)


def _write_summary(found: dict[str, dict[str, Row]]) -> None:
    """Write the KS error of a few methods on a few samples into the page of sources."""
    few = {name: {method: found[name][method] for method in _SHOWN} for name in _SHOWN_ON}
    title = "KS error of the top prediction on the test set, percent"
    replace("methods", f"{title}:\n\n{_summary(COLUMNS[0], few)}")


def _summary(column: Column, found: dict[str, dict[str, Row]]) -> str:
    """Give one measure, methods by samples."""
    names = [name.replace("_", " ") for name in found]
    lines = ["| method | " + " | ".join(names) + " |", "| --- |" + " ---: |" * len(names)]
    marks = {sample: _marks(column, rows) for sample, rows in found.items()}
    for method in next(iter(found.values())):
        values = {sample: rows[method][column.heading] for sample, rows in found.items()}
        if any(value is not None for value in values.values()):
            cells = [marks[sample](value) for sample, value in values.items()]
            lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


_SHOWN = (
    "Uncalibrated",
    "Spline",
    "Temperature scaling",
    "Vector scaling",
    "Isotonic regression of the event",
)
_SHOWN_ON = ("fashion_cnn_overconfident", "city_country_100", "crash_survival")

_HEAD = """# Every method on every sample

Test sets; default options; errors and accuracy in percent, NLL in nats. The best of a column is
**bold**, the second best <ins>underlined</ins>; equal to the digits shown counts as equal. A dash:
the method changes the score of the chosen event alone, so there are no class probabilities to
measure, or there is no second rank. Written by `python -m benchmarks.methods`.
"""


def _split(sample: Sample) -> Split[LogitSet]:
    split = read(f"{sample.name}.npz", sample.read_bytes()).split()
    calibration, test = split.calibration, split.test
    if not (isinstance(calibration, LogitSet) and isinstance(test, LogitSet)):
        raise TypeError(f"{sample.name} holds no logits")
    return Split(calibration, test)


def _row(split: Split[LogitSet], method: Method | None) -> Row:
    calibrator = None if method is None else method.make()
    if isinstance(calibrator, VectorMap):
        rows = split.calibration
        calibrator = _FixedMap(calibrator.fit(rows.logits, rows.labels))
    results: dict[str, SetResult] = {}
    for name, event in EVENTS.items():
        if split.test.n_classes == 2 and name != "top-1":
            continue
        results[name] = audit(split, event=event, calibrator=calibrator).test
    return {
        column.heading: results[column.event].compare(column.key).after
        if column.event in results
        else None
        for column in COLUMNS
    }


def _table(sample: Sample, split: Split[LogitSet], rows: dict[str, Row]) -> str:
    size = f"{split.calibration.n_samples:,} calibration rows, {split.test.n_samples:,} test rows"
    lines = [
        f"\n## {sample.title}\n",
        f"`{sample.name}`: {split.test.n_classes} classes, {size}.\n",
        "| method | " + " | ".join(column.heading for column in COLUMNS) + " |",
        "| --- |" + " ---: |" * len(COLUMNS),
    ]
    marks = {column.heading: _marks(column, rows) for column in COLUMNS}
    for name, row in rows.items():
        cells = [marks[column.heading](row[column.heading]) for column in COLUMNS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _marks(column: Column, rows: dict[str, Row]) -> Callable[[float | None], str]:
    """Give what writes a column's values, the best and the second best marked."""

    def written(value: float) -> str:
        return f"{value * column.scale:.{column.digits}f}"

    values = [row[column.heading] for row in rows.values()]
    texts = {written(value) for value in values if value is not None}
    ranked = sorted(texts, key=float, reverse=column.best is max)

    def mark(value: float | None) -> str:
        if value is None:
            return "\u2013"
        text = written(value)
        if text == ranked[0]:
            return f"**{text}**"
        return f"<ins>{text}</ins>" if len(ranked) > 1 and text == ranked[1] else text

    return mark


if __name__ == "__main__":
    main()
