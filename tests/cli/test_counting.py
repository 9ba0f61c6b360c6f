"""Rows of files are counted here: in processes, from addresses, with numbers of equal rows."""

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

from calibcore import CalibrationInputError, audit
from calibcore.summary import GroupedSummary, Summary
from dashboard import counting
from dashboard.counting import Columns, added, summarise
from dashboard.remote import RemoteFile, remote_files
from dashboard.summary_file import parse_summary
from tests.cli.conftest import run
from tests.marks import first_and_long

N = 9000
COLUMNS = "--score", "p", "--outcome", "y"
Shards = tuple[list[Path], dict[str, np.ndarray]]


@pytest.fixture
def shards(tmp_path: Path) -> Shards:
    """Three files of unlike length, in row groups of 700, and all of their rows."""
    rng = np.random.default_rng(5)
    scores = rng.random(N)
    rows = {
        "p": scores,
        "y": rng.random(N) < scores**1.3,
        "n": rng.integers(0, 4, N),
        "region": rng.choice(["eu", "us"], N),
    }
    (tmp_path / "logs").mkdir()
    for k, (first, last) in enumerate(itertools.pairwise([0, 500, 4000, N])):
        part = pa.table({name: column[first:last] for name, column in rows.items()})
        pq.write_table(part, tmp_path / "logs" / f"{k}.parquet", row_group_size=700)
    return sorted((tmp_path / "logs").iterdir()), rows


def summary_in(path: Path) -> Summary:
    summary = parse_summary(path.read_bytes(), path.name)
    assert isinstance(summary, Summary)
    return summary


def assert_same(result: Summary, wanted: Summary) -> None:
    for name in ("scores", "rows", "events"):
        np.testing.assert_allclose(getattr(result, name), getattr(wanted, name), rtol=1e-12)
    assert (result.cells is None) == (wanted.cells is None)
    if result.cells is not None and wanted.cells is not None:
        for one, other in zip(result.cells.columns, wanted.cells.columns, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11)


# Numbers of equal rows ----------------------------------------------------------------------


@pytest.mark.parametrize("most", [1 << 20, 100])
def test_numbers_of_rows_count_as_the_rows_repeated(
    shards: Shards, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    _, rows = shards
    monkeypatch.setattr("calibcore.summary.MOST_SCORES", most)
    monkeypatch.setattr("calibcore.summary._POOLED", 2 * most)
    monkeypatch.setattr(counting, "_BATCH", 500)
    out = tmp_path / "week.parquet"
    done = run("summarise", tmp_path / "logs", *COLUMNS, "--count", "n", "-o", out)
    assert (done.exit_code, done.stderr) == (0, "")
    scores, hits = (np.repeat(rows[name], rows["n"]) for name in ("p", "y"))
    assert_same(summary_in(out), Summary.of(scores, hits))
    wanted = audit(scores, hits).test.compare("event_nll").before
    assert summary_in(out).audit().test.compare("event_nll").before == pytest.approx(
        wanted, rel=1e-12
    )


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        (np.array([1, 2, -1]), "count: other values than whole numbers from 0 in column 'n' of"),
        (np.array([1, 0.5, 1]), "count: other values than whole numbers from 0 in column 'n' of"),
        (pa.array([1, None, 1]), "count: no value in column 'n' of"),
        (np.array([0, 0, 0]), "count: 0 in every row"),
        (np.array(["a", "b", "c"]), "count: string in column 'n' of"),
    ],
)
def test_what_is_no_number_of_rows_is_refused(numbers: Any, text: str, tmp_path: Path) -> None:
    table = pa.table({"p": [0.1, 0.2, 0.3], "y": [0, 1, 0], "n": numbers})
    pq.write_table(table, tmp_path / "bad.parquet")
    out = tmp_path / "out.parquet"
    result = run("summarise", tmp_path / "bad.parquet", *COLUMNS, "--count", "n", "-o", out)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert text.lower() in result.stderr.lower()


# Processes ----------------------------------------------------------------------------------


def test_two_processes_count_what_one_counts(
    shards: Shards, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, rows = shards
    monkeypatch.setattr(counting, "_CHUNK", 1500)
    shares: list[float] = []
    columns = Columns("p", "y", by=("region",), count="n")
    one = summarise(files, columns, lambda _: None, processes=1)
    two = summarise(files, columns, shares.append, processes=2)
    assert isinstance(one, GroupedSummary)
    assert isinstance(two, GroupedSummary)
    assert one.names == two.names == (("eu",), ("us",))
    for mine, its in zip(one.parts, two.parts, strict=True):
        assert_same(mine, its)
    assert one.n_samples == rows["n"].sum()
    assert shares == sorted(shares)
    assert (len(shares), shares[-1]) == (6, 1.0)


def test_a_refusal_of_a_process_names_file_and_rows(
    shards: Shards, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, _ = shards
    table = pq.read_table(files[1])
    hits = table["y"].to_numpy().astype(int)
    hits[2500] = 7
    column = table.column_names.index("y")
    pq.write_table(table.set_column(column, "y", pa.array(hits)), files[1], row_group_size=700)
    monkeypatch.setattr(counting, "_CHUNK", 1500)
    with pytest.raises(CalibrationInputError, match=r"of 1.parquet, rows from 2,101 on"):
        summarise(files, Columns("p", "y"), lambda _: None, processes=2)


def dying(mark: Path, *, always: bool) -> Any:
    """Return what counts like `counting.count_parts`, and ends its process at the last file."""
    count = counting.count_parts

    def work(columns: Columns, parts: Any, tell: Any = None) -> Any:
        if parts[0].file.name == "2.parquet" and (always or not mark.exists()):
            mark.touch()
            os._exit(1)
        return count(columns, parts, tell)

    return work


def test_a_process_that_is_killed_is_begun_again_once(
    shards: Shards, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, rows = shards
    monkeypatch.setattr(counting, "_CHUNK", 4000)
    mark = tmp_path / "died"
    with monkeypatch.context() as once:
        once.setattr(counting, "count_parts", dying(mark, always=False))
        result = summarise(files, Columns("p", "y"), lambda _: None, processes=2)
    assert mark.exists()
    assert_same(result.whole, Summary.of(rows["p"], rows["y"]))
    monkeypatch.setattr(counting, "count_parts", dying(mark, always=True))
    with pytest.raises(CalibrationInputError, match="processes: one that was ended from outside"):
        summarise(files, Columns("p", "y"), lambda _: None, processes=2)


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_the_processes_end_with_the_one_that_began_them(tmp_path: Path, how: int) -> None:
    rng, path, out = np.random.default_rng(0), tmp_path / "p.parquet", tmp_path / "o.parquet"
    scores = rng.random(4_000_000)
    rows = pa.table({"p": scores, "y": rng.random(scores.size) < scores})
    pq.write_table(rows, path, row_group_size=500_000)
    words = ["summarise", str(path), *COLUMNS, "--processes", "2", "-o", str(out)]
    code = "from dashboard.cli.main import main; main()"
    with subprocess.Popen([sys.executable, "-c", code, *words]) as process:
        begun: list[psutil.Process] = []
        while len([one for one in begun if "LokyProcess" in " ".join(one.cmdline())]) < 2:
            assert process.poll() is None
            begun = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(how)
        assert process.wait(timeout=60) == -how
    left = psutil.wait_procs(begun, timeout=60)[1]
    assert [one.cmdline() for one in left] == []
    assert not out.exists()


def test_parts_are_added_in_a_tree() -> None:
    parts = [Summary.of([0.1 * k], [k % 2]) for k in range(1, 8)]
    result = added([None, *parts, None])
    assert result is not None
    assert result.whole.scores.tolist() == [0.1 * k for k in range(1, 8)]
    assert added([None]) is None


# Addresses ----------------------------------------------------------------------------------


def test_a_folder_at_an_address_is_counted_as_the_folder(shards: Shards, tmp_path: Path) -> None:
    files, _ = shards
    for folder in ("date=3", "other"):
        (tmp_path / "logs" / folder).mkdir()
        shutil.copy(files[0], tmp_path / "logs" / folder)
    (tmp_path / "logs" / "_SUCCESS").touch()
    places = tmp_path / "logs", (tmp_path / "logs").as_uri()
    told = [run("summarise", place, *COLUMNS, "-o", tmp_path / "a.parquet") for place in places]
    assert told[0].exit_code == 0
    assert f"{N + 500:,} rows in" in told[0].stdout
    assert [one.stdout for one in told] == [told[0].stdout] * 2
    with_dates = run("summarise", places[1] + "/date=*/*.parquet", *COLUMNS, "--by", "date",
                     "-o", tmp_path / "a.parquet")  # fmt: skip
    assert "500 rows in" in with_dates.stdout
    assert "1 groups of date" in with_dates.stdout


def test_patterns_at_an_address_are_those_of_a_shell(tmp_path: Path) -> None:
    names = "a.parquet", "b.csv", "x/a.parquet", "x/y/c.parquet", "d=1/e.parquet", ".h/f.parquet"
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"1")

    def at(pattern: str) -> set[str]:
        listed = remote_files(tmp_path.as_uri() + pattern, {".parquet", ".csv"})
        return {one.path.removeprefix(f"{tmp_path.as_posix()}/") for one in listed}

    assert at("") == at("/") == {"a.parquet", "b.csv", "d=1/e.parquet"}
    assert at("/*.parquet") == {"a.parquet"}
    assert at("/*/*.parquet") == {"x/a.parquet", "d=1/e.parquet", ".h/f.parquet"}
    assert at("/x/**/*.parquet") == {"x/a.parquet", "x/y/c.parquet"}
    assert at("/[xd]*/[a-c].parquet") == {"x/a.parquet"}
    assert at("/a.parquet") == {"a.parquet"}
    assert at("/nothing") == set()


@pytest.mark.parametrize(
    "address",
    first_and_long(
        [
            "nothing://KEY:SECRET@bucket/logs?SECRET",
            "s3://KEY:SECRET@bucket/logs?scheme=SECRET",  # which tries for six seconds
        ]
    ),
)
def test_no_message_shows_credentials(address: str) -> None:
    result = run("summarise", address, *COLUMNS, "-o", "out.parquet")
    assert (result.exit_code, "bucket/logs, which cannot be opened" in result.stderr) == (2, True)
    assert not {"KEY", "SECRET"} & {*re.split(r"\W+", result.output + result.stderr)}


def test_an_address_without_files_is_refused(tmp_path: Path) -> None:
    result = run("summarise", tmp_path.as_uri() + "/none", *COLUMNS, "-o", tmp_path / "a.parquet")
    assert (result.exit_code, "where no file is" in result.stderr) == (2, True)


def test_files_at_an_address_are_audited_as_files_are(shards: Shards, tmp_path: Path) -> None:
    files, rows = shards
    out = tmp_path / "week.parquet"
    assert run("summarise", tmp_path / "logs", *COLUMNS, "-o", out).exit_code == 0
    printed = run("audit", out, "--resamples", "0")
    assert run("audit", out.as_uri(), "--resamples", "0").stdout == printed.stdout
    of_rows = run("audit", files[0], *COLUMNS, "--resamples", "0")
    assert run("audit", files[0].as_uri(), *COLUMNS, "--resamples", "0").stdout == of_rows.stdout
    days = [tmp_path / f"day={k}" / "sum.parquet" for k in (1, 2)]
    for day in days:
        day.parent.mkdir()
        shutil.copy(out, day)
    series = run("series", tmp_path.as_uri() + "/day=*/sum.parquet", "--resamples", "20")
    assert series.stdout == run("series", *days, "--resamples", "20").stdout
    assert rows["p"].size == N


def test_files_of_a_store_are_counted(shards: Shards) -> None:
    """Counts from a file system that is no folder of this machine, as of a bucket."""
    files, rows = shards
    store = fs._MockFileSystem()  # noqa: SLF001 - pyarrow's own, for tests
    store.create_dir("bucket/logs")
    for file in files:
        with store.open_output_stream(f"bucket/logs/{file.name}") as stream:
            stream.write(file.read_bytes())
    there = [RemoteFile(f"bucket/logs/{file.name}", store) for file in files]
    result = summarise(there, Columns("p", "y"), lambda _: None, processes=1)
    assert_same(result.whole, Summary.of(rows["p"], rows["y"]))


# An audit that counts first -----------------------------------------------------------------


@pytest.mark.usefixtures("shards")
def test_rows_are_counted_and_audited_at_once(tmp_path: Path) -> None:
    by = "--by", "region"
    out, report = tmp_path / "week.parquet", tmp_path / "r.json"
    assert run("summarise", tmp_path / "logs", *COLUMNS, *by, "-o", out).exit_code == 0
    wanted = run("audit", out, "--resamples", "0").stdout.splitlines()
    result = run("audit", (tmp_path / "logs").as_uri(), *COLUMNS, *by, "--engine", "here",
                "--resamples", "0", "--json", report)  # fmt: skip
    assert (result.exit_code, result.stderr) == (0, "")
    head, *lines = result.stdout.splitlines()
    assert head.startswith("0.parquet and 2 more \u00b7 ")
    assert lines == wanted[1:]
    (written,) = json.loads(report.read_text())["sections"][-1]["blocks"][-1]["lines"]
    options = "--resamples 0 --engine here --score p --outcome y --by region"
    assert written == f"In a terminal: fractile audit FILES {options}"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--engine", "dask", "--master", "local[2]"), "master: engine too. Expected"),
        (("--scheduler", "tcp://a", "--processes", "2"), "scheduler: processes too"),
        (("--engine", "here", "--cluster", "n"), "cluster: an option for rows. Expected none"),
        (("--by", "region"), "by: no engine that counts. Expected --engine too"),
    ],
)
def test_options_that_do_not_go_together(
    options: tuple[str, ...], text: str, shards: Shards
) -> None:
    result = run("audit", *shards[0], *COLUMNS, *options)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert text.lower() in result.stderr.lower()


def test_an_engine_reads_named_columns_alone(shards: Shards) -> None:
    result = run("audit", *shards[0], "--score", "p", "--engine", "here")
    assert "outcome: none beside an engine" in result.stderr.lower().replace("error: ", "")
