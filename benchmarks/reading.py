"""From bytes to what they hold, through the process that parses: ``python -m benchmarks.reading``.

Each file is handed over several times by a process of its own, always to a worker that already
waits; the fastest counts. Beside it stands the worker's processor time, which other work on the
machine lengthens less. Memory is the most that the worker held, and by how much the server, which
holds the file itself, grew. ``--write`` puts the table into docs/security.md.
"""

import argparse
import gc
import io
import json
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import orjson
import psutil
import pyarrow as pa
from pyarrow import csv
from pyarrow import parquet as pq

from benchmarks import readme
from benchmarks.timing import highest
from dashboard.readers.worker import WORKERS, parse_apart

_CLASSES = 10
_REPEAT = 5
_LOOK, _AT_REST = 0.002, 0.5


@dataclass(frozen=True)
class Case:
    """A file to read.

    Parameters
    ----------
    said : str
        What the table calls it.
    name : str
        Its ending picks the reader.
    rows : int
        Of ten classes and a label each.
    make : callable
        Gives the bytes for a number of rows.
    target : float, optional
        Seconds that reading may take.
    """

    said: str
    name: str
    rows: int
    make: Callable[[int], bytes]
    target: float | None = None


def _columns(n_rows: int) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    values = np.random.default_rng(0).dirichlet(np.ones(_CLASSES), n_rows)
    columns = {f"prob_{k}": values[:, k] for k in range(_CLASSES)}
    return columns | {"label": values.cumsum(axis=1).argmax(axis=1)}


def _csv(n_rows: int) -> bytes:
    out = io.BytesIO()
    csv.write_csv(pa.table(_columns(n_rows)), out)
    return out.getvalue()


def _commas(n_rows: int) -> bytes:
    out = io.BytesIO()
    csv.write_csv(pa.table(_columns(n_rows)), out, csv.WriteOptions(delimiter=";"))
    return out.getvalue().replace(b".", b",")


def _parquet(n_rows: int) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(_columns(n_rows)), out)
    return out.getvalue()


def _npz(n_rows: int) -> bytes:
    out, dice = io.BytesIO(), np.random.default_rng(0)
    logits = dice.standard_normal((n_rows, 100), dtype=np.float32)
    np.savez(out, logits=logits, labels=logits.argmax(axis=1))
    return out.getvalue()


def _json(n_rows: int) -> bytes:
    logits = np.random.default_rng(0).normal(size=(n_rows, _CLASSES))
    return orjson.dumps({"logits": logits.tolist(), "labels": logits.argmax(axis=1).tolist()})


def _xlsx(n_rows: int) -> bytes:
    columns = _columns(n_rows)
    letters = "ABCDEFGHIJK"
    heads = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in columns)
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    lines = (
        f'<row r="{place}">'
        + "".join(
            f'<c r="{letter}{place}"><v>{value:.6g}</v></c>'
            for letter, value in zip(letters, row, strict=True)
        )
        + "</row>"
        for place, row in enumerate(rows, 2)
    )
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    links = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    link = f'{links}<Relationship Id="r1" Type="{office}/%s" Target="%s"/></Relationships>'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as book:
        book.writestr("_rels/.rels", link % ("officeDocument", "xl/workbook.xml"))
        book.writestr("xl/_rels/workbook.xml.rels", link % ("worksheet", "worksheets/sheet1.xml"))
        book.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
            '<sheet name="Sheet1" sheetId="1" r:id="r1"/></sheets></workbook>',
        )
        with book.open("xl/worksheets/sheet1.xml", "w") as sheet:
            sheet.write(f'<worksheet xmlns="{main}"><sheetData><row r="1">{heads}</row>'.encode())
            sheet.writelines(line.encode() for line in lines)
            sheet.write(b"</sheetData></worksheet>")
    return out.getvalue()


CASES = (
    Case("CSV", "small.csv", 15, _csv, 0.05),
    Case("CSV", "middle.csv", 165_000, _csv, 0.6),
    Case("CSV", "large.csv", 1_470_000, _csv, 4.0),
    Case("npz", "large.npz", 245_000, _npz, 0.7),
    Case("Parquet", "large.parquet", 1_200_000, _parquet),
    Case("JSON, one document", "large.json", 185_000, _json),
    Case("workbook", "large.xlsx", 323_000, _xlsx),
    Case("CSV, decimal commas", "commas.csv", 435_000, _commas),
)


def _status(process: int, name: str) -> int:
    """Read bytes of memory from what Linux says of a process; 0 once it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text("ascii").splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(name)), 0)


def _worker_at_rest() -> int:
    """Wait until the process that waits has imported everything, and return its number."""
    WORKERS.prepare()
    waiting = WORKERS._waiting  # noqa: SLF001 - nobody else wants to know
    if waiting is None:
        raise RuntimeError("no process waits")
    before = -1.0
    while (used := sum(psutil.Process(waiting.pid).cpu_times()[:2])) > before or used < 0.1:
        before = used
        time.sleep(_AT_REST)
    return waiting.pid


def _children() -> float:
    """Return the processor time of all processes that were started here and have ended."""
    used = psutil.Process().cpu_times()
    return float(used.children_user + used.children_system)


def _measure(path: Path) -> dict[str, float]:
    """Read one file several times: seconds of the fastest, and memory."""
    data = path.read_bytes()
    times, used, workers, growth = [], [], [], []
    for _ in range(_REPEAT):
        worker = _worker_at_rest()
        before = sum(psutil.Process(worker).cpu_times()[:2]) + _children()
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")  # the most so far is what there is now
        held = _status(psutil.Process().pid, "VmRSS")
        with highest(partial(_status, worker, "VmHWM"), _LOOK) as peaks:
            start = time.perf_counter()
            parsed = parse_apart(path.name, data)
            times.append(time.perf_counter() - start)
        used.append(_children() - before)
        growth.append(_status(psutil.Process().pid, "VmHWM") - held)
        workers.append(peaks[0])
        del parsed
    WORKERS.end()
    return {"seconds": min(times), "used": min(used), "worker": max(workers), "server": max(growth)}


def _row(case: Case, n_bytes: int, found: dict[str, float]) -> str:
    size = f"{n_bytes / 1e6:,.0f} MB" if n_bytes > 1e6 else f"{n_bytes / 1e3:,.0f} kB"
    seconds, target, used = (
        "" if one is None else f"{1000 * one:.0f} ms" if one < 0.1 else f"{one:.2g} s"
        for one in (found["seconds"], case.target, found["used"])
    )
    memory = " | ".join(f"{found[name] / 1e6:,.0f} MB" for name in ("worker", "server"))
    return f"| {case.said} | {size} | {seconds} | {target} | {used} | {memory} |\n"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="files whose name contains this")
    parser.add_argument("--write", action="store_true", help="put the table into docs/security.md")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(_measure(asked.one)))
        return
    table = (
        "| file | size | read in | target | processor | worker | server |\n" + "|---" * 7 + "|\n"
    )
    print(table, end="", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            if asked.only not in case.name:
                continue
            path = Path(folder) / case.name
            path.write_bytes(case.make(case.rows))
            command = [sys.executable, "-m", "benchmarks.reading", "--one", str(path)]
            done = subprocess.run(command, check=True, capture_output=True)  # noqa: S603
            row = _row(case, path.stat().st_size, json.loads(done.stdout))
            path.unlink()
            print(row, end="", flush=True)
            table += row
    if asked.write:
        readme.replace("reading", table, readme.SECURITY)


if __name__ == "__main__":
    main()
