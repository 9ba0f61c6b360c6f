"""Rows counted by score from files, and audited: ``python -m benchmarks.summaries``.

Shards are drawn into a temporary folder. Each job runs in a process of its own, so that its memory
is its own too, several times in turn; the least processor time counts. The floor is
``numpy.argsort`` of as many scores; a bare pass adds up the column of scores, batch by batch.
``--write`` puts the table into docs/speed.md. ``--generated 7 8 9`` counts 10^7, 10^8 and 10^9 rows
that are drawn in the worker, and kept nowhere; drawing them is not timed. ``--grouped 10`` counts
shards by 24 groups of two columns, and reads, audits and reports what that gives. ``--processes
100`` counts shards in one process and in two, in turn: seconds by the clock, which others who use
the machine lengthen, so that its load is told too. ``--engines 100 1000`` does so by Dask and Spark
too (``make engines`` installs them); beyond 10 shards these are links to the first ones.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout, suppress
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyarrow import parquet as pq

from benchmarks import readme
from calibcore import audit
from calibcore.summary import GridCounts
from dashboard.counting import Columns, count_parts, summarise
from dashboard.summary_file import read_summaries, write_summary

_SHARD, _REPEAT = 10**6, 2


def _drawn(seed: int, n_rows: int = _SHARD) -> tuple[np.ndarray, np.ndarray]:
    """Draw rare events of an overconfident model, whose scores are all distinct."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-2, 2, n_rows)
    return 1 / (1 + np.exp(-logits)), rng.random(n_rows) < 1 / (1 + np.exp(-0.95 * logits))


def _shards(folder: Path) -> list[Path]:
    return sorted(folder.glob("shard*.parquet"))


def _columns(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    table = pq.read_table(_shards(folder), columns=["p", "y"])
    return table["p"].to_numpy(), table["y"].to_numpy()


def _sort(folder: Path) -> Callable[[], object]:
    scores, _ = _columns(folder)
    return lambda: np.argsort(scores)


def _pass(folder: Path) -> Callable[[], object]:
    return lambda: sum(
        pc.sum(batch["p"]).as_py()
        for path in _shards(folder)
        for batch in ds.dataset(path).to_batches(["p"], batch_readahead=1, fragment_readahead=1)
    )


def _summarise(folder: Path) -> Callable[[], object]:
    def work() -> object:
        summary = summarise(_shards(folder), Columns("p", "y"), lambda _: None, processes=1)
        return (folder / "summary").write_bytes(write_summary(summary))

    return work


def _audit_summary(folder: Path) -> Callable[[], object]:
    return lambda: read_summaries([folder / "summary"]).whole.audit().to_json()


def _audit_rows(folder: Path) -> Callable[[], object]:
    return lambda: audit(*_columns(folder)).to_json()


def _drawn_shards(folder: Path, n_shards: int) -> None:
    for k in range(n_shards):
        scores, hits = _drawn(k)
        columns = pa.table({"p": scores, "y": hits, "other": scores})
        pq.write_table(columns, folder / f"shard{k:05}.parquet")


def _drawn_groups(folder: Path, n_shards: int) -> None:
    for k in range(n_shards):
        rng, (scores, hits) = np.random.default_rng(1000 + k), _drawn(k)
        groups = {"region": [f"r{j}" for j in range(8)], "device": ["phone", "tablet", "desktop"]}
        own = {name: rng.choice(of, _SHARD) for name, of in groups.items()}
        pq.write_table(pa.table({"p": scores, "y": hits, **own}), folder / f"shard{k:05}.parquet")


def _command(*words: str | Path) -> Callable[[], object]:
    from dashboard.cli.main import main as fractile  # noqa: PLC0415 - for these jobs alone

    return lambda: fractile([*map(str, words)], standalone_mode=False)


def _summarise_groups(folder: Path) -> Callable[[], object]:
    by = "--by", "region", "--by", "device"
    return _command("summarise", folder, "--score", "p", "--outcome", "y", *by,
                    "-o", folder.parent / f"{folder.name}.parquet")  # fmt: skip


def _audit_groups(folder: Path) -> Callable[[], object]:
    def work() -> None:
        with suppress(SystemExit):
            _command("audit", folder.parent / f"{folder.name}.parquet")()

    return work


def _page(folder: Path) -> Callable[[], object]:
    from dashboard.compute.verdict import verdict_blocks  # noqa: PLC0415 - for this job alone
    from dashboard.headless import event_of, read_paths, scene_of  # noqa: PLC0415 - the same
    from dashboard.readers import ReadingOptions  # noqa: PLC0415 - the same

    def work() -> object:
        upload = read_paths([folder.parent / f"{folder.name}.parquet"], ReadingOptions())
        event = event_of(upload, None)
        return verdict_blocks(
            scene_of(upload, event=event, method="spline", progress=lambda _: None)
        )

    return work


GROUPED = {
    "`summarise` by 24 groups of two columns": _summarise_groups,
    "`audit` of its file, 1,000 resamples": _audit_groups,
    "from its file to a page's verdict, with a spline": _page,
}

JOBS = {
    "argsort of the scores": _sort,
    "bare pass that adds up the scores": _pass,
    "`summarise`, two columns counted": _summarise,
    "its file audited, all measures": _audit_summary,
    "rows read and audited, all measures": _audit_rows,
}


def _run(name: str, folder: Path) -> tuple[float, float]:
    """Run a job in a process of its own: seconds, and most megabytes that it held."""
    command = [sys.executable, "-m", "benchmarks.summaries", "--job", name, "--folder", str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - own
    seconds, peak = map(float, done.stdout.split())
    return seconds, peak


def _job(name: str, folder: Path) -> None:
    work = (JOBS | GROUPED)[name](folder)
    began = time.process_time()
    with redirect_stdout(sys.stderr):
        work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(time.process_time() - began, peak)


def _of_groups(n_shards: int) -> str:
    """Count shards by groups, and take the file up: seconds and memory of each job."""
    lines = [f"| Job | {n_shards * _SHARD:,} rows |", "| --- | ---: |"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "shards"
        folder.mkdir()
        _drawn_groups(folder, n_shards)
        for job in GROUPED:
            runs = [_run(job, folder) for _ in range(_REPEAT)]
            seconds, peak = min(one for one, _ in runs), max(most for _, most in runs)
            lines.append(f"| {job} | {seconds:.2f} s, {peak:,.0f} MB |")
        size = (folder.parent / "shards.parquet").stat().st_size
    return "\n".join([*lines, "", f"Its file has {size / 1e6:.1f} MB."])


_TURNS = 3


def _side_by_side(n_shards: int) -> str:
    """Count shards in one process and in two: median seconds by the clock, least of processors."""
    columns, seconds = Columns("p", "y"), dict[int, list[float]]({1: [], 2: []})
    spent: dict[int, list[float]] = {n: [] for n in seconds}
    with tempfile.TemporaryDirectory() as name:
        _drawn_shards(Path(name), n_shards)
        files = _shards(Path(name))
        before = os.getloadavg()[0]
        for _ in range(_TURNS):
            for n, taken in seconds.items():
                began, before_that = time.perf_counter(), sum(os.times()[:4])
                summarise(files, columns, lambda _: None, processes=n)
                taken.append(time.perf_counter() - began)
                spent[n].append(sum(os.times()[:4]) - before_that)
    one, two = (statistics.median(taken) for taken in seconds.values())
    load = f"load {before:.1f} before, {os.getloadavg()[0]:.1f} after"
    every = "; ".join(", ".join(f"{took:.1f}" for took in taken) for taken in seconds.values())
    rows = f"{n_shards * _SHARD:,} rows"
    least = " and ".join(f"{min(of):.1f} s" for of in spent.values())
    ratio = f"{one:.2f} s, {two:.2f} s, {one / two:.2f} times ({every}; {load})"
    return f"{rows}: {ratio}; of processors {least}"


_COLUMNS = Columns("p", "y")

_REAL = 10
"""Shards that are drawn for the engines; the others link to them."""


def _linked_shards(folder: Path, n_shards: int) -> None:
    _drawn_shards(folder, min(n_shards, _REAL))
    for k in range(_REAL, n_shards):
        os.link(folder / f"shard{k % _REAL:05}.parquet", folder / f"shard{k:05}.parquet")


def _here(files: Sequence[Path], processes: int) -> object:
    return summarise(files, _COLUMNS, lambda _: None, processes=processes)


def _dask(files: Sequence[Path], workers: int) -> object:
    from dask import config  # noqa: PLC0415 - of an extra
    from distributed import Client, LocalCluster  # noqa: PLC0415 - the same

    from dashboard.engines import ALLOCATION, workers_on_dask  # noqa: PLC0415 - beside it

    with (
        config.set({"distributed.nanny.pre-spawn-environ": ALLOCATION}),
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
        workers_on_dask(cluster.scheduler_address, files, _COLUMNS) as run,
    ):
        return run(partial(count_parts, _COLUMNS))


def _spark(files: Sequence[Path], workers: int) -> object:
    from dashboard.spark import workers_on_spark  # noqa: PLC0415 - of an extra

    with workers_on_spark(f"local[{workers}]", files, _COLUMNS) as run:
        return run(partial(count_parts, _COLUMNS))


ENGINES: dict[str, Callable[[Sequence[Path], int], object]] = {
    "here": _here,
    "dask": _dask,
    "spark": _spark,
}


def _most_held(process: psutil.Process, until: threading.Event) -> float:
    """Return the most megabytes that one child of a process held, looked at ten times a second."""
    most = 0.0
    while not until.wait(0.1):
        for child in process.children(recursive=True):
            with suppress(psutil.Error):
                if "python" in child.name():
                    most = max(most, child.memory_info().rss / 1e6)
    return most


def _by_engines(sizes: list[int]) -> str:
    """Count shards by each engine with one and two workers: seconds by the clock, most memory."""
    lines = ["| Engine, workers |" + "".join(f" {n * _SHARD:,} rows |" for n in sizes)]
    lines.append("| --- |" + " ---: |" * len(sizes))
    cells: dict[tuple[str, int], list[str]] = {}
    for n_shards in sizes:
        with tempfile.TemporaryDirectory() as name:
            _linked_shards(Path(name), n_shards)
            for engine in ENGINES:
                for workers in (1, 2):
                    command = [sys.executable, "-m", "benchmarks.summaries", "--folder", name]
                    command += ["--job", engine, "--workers", str(workers)]
                    done, began = threading.Event(), time.perf_counter()
                    with ThreadPoolExecutor() as pool:
                        most = pool.submit(_most_held, psutil.Process(), done)
                        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - own
                        taken = time.perf_counter() - began
                        done.set()
                    cell = f" {taken:.1f} s, {most.result():,.0f} MB |"
                    cells.setdefault((engine, workers), []).append(cell)
    rows = (f"| {engine}, {n} |{''.join(of)}" for (engine, n), of in cells.items())
    return "\n".join([*lines, *rows])


_DRAWN = 1 << 18


def _generated(exponents: list[int]) -> str:
    """Count rows that are drawn on the way, beside a pass that adds them up: seconds and memory."""
    lines = ["| Rows | Added up | Counted | Ratio | Peak | KS error |", "| ---: |" + " ---: |" * 5]
    for exponent in exponents:
        rng, spent, total = np.random.default_rng(exponent), [0.0, 0.0], 0.0
        grid = GridCounts()
        for first in range(0, 10**exponent, _DRAWN):
            uniform = rng.random((2, min(_DRAWN, 10**exponent - first)), dtype=np.float64)
            logits = 2 * np.log(uniform[0] / (1 - uniform[0])) - 2  # logistic: as fast as may be
            scores = 1 / (1 + np.exp(-logits))
            hits = uniform[1] < 1 / (1 + np.exp(-0.95 * logits))
            times = [time.process_time()]
            total += float(scores.sum())
            times.append(time.process_time())
            grid.add(scores, hits)
            times.append(time.process_time())
            spent = [one + more for one, more in zip(spent, np.diff(times), strict=True)]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        ks = grid.summary.audit().test.compare("ks_error").before
        cells = f"{spent[0]:.2f} s | {spent[1]:.1f} s | {spent[1] / spent[0]:.0f} | {peak:,.0f} MB"
        lines.append(f"| 10^{exponent} | {cells} | {ks:.5f} |")
    return "\n".join(lines)


def _table(sizes: list[int], most_audited: int) -> str:
    found: dict[tuple[str, int], tuple[float, float]] = {}
    for n_shards in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            _drawn_shards(folder, n_shards)
            for job in list(JOBS) * _REPEAT:
                if n_shards > most_audited and JOBS[job] in {_sort, _audit_rows}:
                    continue
                before = found.get((job, n_shards), (float("inf"), 0.0))
                seconds, peak = _run(job, folder)
                found[job, n_shards] = min(before[0], seconds), max(before[1], peak)
    heads = [f"{n_shards * _SHARD:,} rows" for n_shards in sizes]
    lines = [f"| Job | {' | '.join(heads)} |", f"| --- |{' ---: |' * len(heads)}"]
    for job in JOBS:
        cells = [found.get((job, n_shards)) for n_shards in sizes]
        written = [f"{one[0]:.2f} s, {one[1]:,.0f} MB" if one else "\u2013" for one in cells]
        lines.append(f"| {job} | {' | '.join(written)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--most-audited", type=int, default=10, help="Shards in memory at once.")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--generated", type=int, nargs="+", help="Powers of ten of rows.")
    parser.add_argument("--grouped", type=int, help="Shards that are counted by groups.")
    parser.add_argument("--processes", type=int, help="Shards that one and two processes count.")
    parser.add_argument("--engines", type=int, nargs="+", help="Shards that each engine counts.")
    parser.add_argument("--workers", type=int, help="Of an engine.")
    parser.add_argument("--job", choices=JOBS | GROUPED | ENGINES)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    if given.job in ENGINES:
        ENGINES[given.job](_shards(given.folder), given.workers)
        return
    if given.job:
        _job(given.job, given.folder)
        return
    if given.grouped:
        print(_of_groups(given.grouped))
        return
    if given.processes:
        print(_side_by_side(given.processes))
        return
    if given.engines:
        print(_by_engines(given.engines))
        return
    if given.generated:
        print(_generated(given.generated))
        return
    table = _table(given.shards, given.most_audited)
    print(table)
    if given.write:
        readme.replace("summaries", table + "\n", readme.SPEED)


if __name__ == "__main__":
    main()
