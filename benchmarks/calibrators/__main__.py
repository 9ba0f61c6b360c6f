"""Time every calibrator beside its peers: ``python -m benchmarks.calibrators``."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks import readme
from benchmarks.calibrators import report
from benchmarks.calibrators.entries import entries
from benchmarks.calibrators.runs import Limits, Row, measure

_HEADING = """# Every calibrator beside its peers

Written by `make benchmark-calibrators ARGS="--limit 60 --own-limit 400 --out
benchmarks/CALIBRATORS.md --summary"`."""
_SHAPES = ((5_000, 10), (5_000, 100), (25_000, 1_000))


def _rows(options: argparse.Namespace, limits: Limits) -> Iterator[Row]:
    shapes = _SHAPES[:1] if options.quick else _SHAPES
    for shape in shapes if options.size is None else _SHAPES[options.size : options.size + 1]:
        for entry in entries():
            if options.only.lower() in entry.name.lower() and shape[1] <= entry.most_classes:
                yield measure(entry, shape, limits)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibrators", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only the smallest size")
    parser.add_argument("--size", type=int, choices=range(len(_SHAPES)), help="only this size")
    parser.add_argument("--only", default="", help="only methods whose name contains this")
    parser.add_argument("--repeat", type=int, default=5, help="most rounds; the minimum counts")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for a peer")
    parser.add_argument("--own-limit", type=float, default=600.0, help="seconds for Fractile")
    parser.add_argument("--memory", type=float, default=12.0, help="gigabytes for each run")
    parser.add_argument("--out", type=Path, help="write the tables to this Markdown file too")
    parser.add_argument(
        "--summary", action="store_true", help="write the summary into docs/speed.md"
    )
    options = parser.parse_args()
    if options.repeat < 1:
        parser.error("--repeat: at least 1")
    return options


def main() -> int:
    """Run the benchmark; 1 where Fractile itself failed somewhere."""
    options = _options()
    limits = Limits(options.limit, options.own_limit, options.memory, options.repeat)
    rows: list[Row] = []
    for row in _rows(options, limits):
        rows.append(row)
        if options.out is not None:  # after every row: a long run that is ended has its rows
            options.out.write_text(f"{_HEADING}\n\n{report.full(rows, limits)}", encoding="utf-8")
    print(report.full(rows, limits))
    if options.summary:
        readme.replace("calibrators", report.summary(rows), readme.SPEED)
    return int(any(row.ours.seconds is None for row in rows))


if __name__ == "__main__":
    sys.exit(main())
