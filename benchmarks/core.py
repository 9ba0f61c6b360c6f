"""Time the core beside its peers and the physical floor: ``python -m benchmarks.core``."""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks import readme, report
from benchmarks.data import draw_events, draw_table
from benchmarks.jobs import Job, event_jobs, inference_jobs, table_jobs
from benchmarks.timing import interleave, peak_bytes
from calibcore import ks_error
from calibcore.metrics import ece

_SCORES = (1_000_000, 10_000_000)
_RESAMPLED = 10_000
_SHAPES = ((5_000, 10), (5_000, 100), (25_000, 1_000))
_HEADING = """# The core beside its peers

Written by `make benchmark ARGS="--out benchmarks/RESULTS.md --summary"`."""
_UNDER_LOAD = "\n## Under load\n"
_QUICK_SCORES = (100_000,)
_QUICK_SHAPES = ((5_000, 10), (5_000, 100))


def _jobs(*, quick: bool) -> Iterator[Job]:
    """Draw one set of data at a time, so that only one is in memory."""
    yield from inference_jobs(draw_events(_RESAMPLED))
    for n_samples in _QUICK_SCORES if quick else _SCORES:
        yield from event_jobs(draw_events(n_samples))
    for shape in _QUICK_SHAPES if quick else _SHAPES:
        yield from table_jobs(draw_table(*shape))


def _measure(job: Job, *, repeat: int) -> report.Row:
    print(f"{job.name}, {job.size}", file=sys.stderr, flush=True)
    runs: dict[str, Callable[[], object]] = {"floor": job.floor, "ours": job.ours}
    runs |= {peer: rival.run for peer, rival in job.rivals.items() if rival}
    return report.make_row(job, interleave(runs, repeat=repeat))


def _memory(n_samples: int) -> str:
    """Say how much memory the measures of that many scores take beyond the input."""
    events = draw_events(n_samples)
    given = events.scores.nbytes + events.hits.nbytes
    ks = peak_bytes(lambda: ks_error(events.scores, events.hits)) / given
    binned = peak_bytes(lambda: ece(events.scores, events.hits)) / given
    floor = peak_bytes(lambda: np.argsort(events.scores)) / given
    return (
        f"Peak memory at {n_samples:,} scores (float64, with int8 hits), beyond the input, as a"
        f" multiple of it: KS error {ks:.2f}, ECE {binned:.2f}, `numpy.argsort` {floor:.2f}."
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.core", description=__doc__)
    parser.add_argument("--repeat", type=int, default=5, help="rounds; the minimum counts")
    parser.add_argument("--quick", action="store_true", help="small sizes: is it all in order?")
    parser.add_argument("--out", type=Path, help="write the tables to this Markdown file too")
    parser.add_argument(
        "--summary", action="store_true", help="write the summary into docs/speed.md"
    )
    options = parser.parse_args()
    if options.repeat < 1:
        parser.error("--repeat: at least 1")
    return options


def main() -> int:
    """Run the benchmark; 1 where a peer's result differs by more than its conventions explain."""
    options = _options()
    rows = [_measure(job, repeat=options.repeat) for job in _jobs(quick=options.quick)]
    parts = [
        report.ratio_table(rows),
        report.explanation(options.repeat),
        _memory((_QUICK_SCORES if options.quick else _SCORES)[-1]),
        report.environment(),
        report.agreement_table(rows),
    ]
    text = "\n\n".join(parts) + "\n"
    print(text)
    if options.out is not None:
        old = options.out.read_text("utf-8") if options.out.exists() else ""
        below = "".join(old.partition(_UNDER_LOAD)[1:])  # of another program
        options.out.write_text(f"{_HEADING}\n\n{text}{below}", encoding="utf-8")
    if options.summary:
        readme.replace("benchmark", report.summary(rows), readme.SPEED)
    return int(not all(agreement.holds for row in rows for agreement in row.agreements))


if __name__ == "__main__":
    sys.exit(main())
