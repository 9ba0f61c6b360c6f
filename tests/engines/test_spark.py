"""Rows are counted by Spark on two threads: `make engines`, which installs PySpark.

It needs Java 17: `apt-get install openjdk-17-jre-headless`, or any other build of it on the path.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from calibcore import CalibrationInputError, audit
from calibcore.summary import GroupedSummary, Summary
from dashboard.cli.main import main
from dashboard.spark import summarise_spark
from tests.engines.test_dask import fits_alike, grouped, rows, same

sql = pytest.importorskip("pyspark.sql", reason="is of the extra spark: make engines")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("needs Java: apt-get install openjdk-17-jre-headless", allow_module_level=True)


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    quiet = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}
    with sql.SparkSession.builder.master("local[2]").config(map=quiet).getOrCreate() as session:
        yield session


@pytest.fixture
def shards(tmp_path: Path) -> list[str]:
    table, folder = rows(), tmp_path / "logs"
    folder.mkdir()
    for k in range(4):
        table.iloc[k::4].to_parquet(folder / f"{k}.parquet")
    return [str(path) for path in sorted(folder.iterdir())]


def test_shards_are_counted(session: Any, shards: list[str]) -> None:
    result, table = summarise_spark(session.read.parquet(*shards).repartition(9), "p", "y"), rows()
    assert same(result, Summary.of(table["p"], table["y"]))
    assert result.whole.audit().test.compare("ks_error").before == pytest.approx(
        audit(table["p"], table["y"]).test.compare("ks_error").before, rel=1e-12
    )


def test_groups_are_counted_as_without_an_engine(session: Any, tmp_path: Path) -> None:
    table, by = grouped(), ["ward", "floor"]
    table.to_parquet(tmp_path / "rows.parquet")
    named = table["ward"].fillna(""), table["floor"]
    wanted = GroupedSummary.of(table["p"], table["y"], dict(zip(by, named, strict=True)))
    frame = session.read.parquet(str(tmp_path / "rows.parquet")).repartition(5)
    assert same(summarise_spark(frame, "p", "y", by), wanted)
    many = frame.selectExpr("p", "y", "cast(p * 10000 as int) % 300 as ward")
    with pytest.raises(CalibrationInputError, match="more than 100 groups of ward"):
        summarise_spark(many, "p", "y", ["ward"])


def test_a_frame_is_audited_where_its_rows_are(session: Any, tmp_path: Path) -> None:
    table = grouped()
    table.to_parquet(tmp_path / "rows.parquet")
    frame = session.read.parquet(str(tmp_path / "rows.parquet")).repartition(3)
    result = audit(frame.select("p", "y", "ward"), "y", groups="ward")
    named = table["ward"].astype(object).where(table["ward"].notna(), "")
    wanted = audit(table["p"], table["y"], groups=named)
    assert result.test.compare("ks_error").before == pytest.approx(
        wanted.test.compare("ks_error").before, rel=1e-12
    )
    assert result.request is not None
    assert result.request.groupings[0].names == ("", "east", "north", "west")
    with pytest.raises(CalibrationInputError, match=r"data: a frame with p, unused"):
        audit(frame.select("p", "y", "unused"), "y")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("y + 1 as y", "hits: values other than 0 and 1"),
        ("cast(null as double) as y", "outcome: no value in column"),
    ],
)
def test_what_is_no_outcome_is_refused_in_one_sentence(
    session: Any, change: str, text: str
) -> None:
    frame = session.createDataFrame([(0.2, 0), (0.6, 1)], "p double, y int")
    with pytest.raises(CalibrationInputError) as caught:
        summarise_spark(frame.selectExpr("p", change), "p", "y")
    assert str(caught.value).startswith(text)


def test_a_column_that_is_not_there_and_no_row_are_refused(session: Any) -> None:
    frame = session.createDataFrame([(0.2, 0), (0.6, 1)], "p double, y int")
    with pytest.raises(CalibrationInputError, match="no column 'q'"):
        summarise_spark(frame, "q", "y")
    with pytest.raises(CalibrationInputError, match="no row"):
        summarise_spark(frame.where("p > 2"), "p", "y")


def test_the_command_counts_in_the_python_that_it_runs_in(
    tmp_path: Path, shards: list[str]
) -> None:
    fractile = Path(sys.executable).with_name("fractile")
    own = {name: value for name, value in os.environ.items() if name != "PYSPARK_PYTHON"}
    given = "--score", "p", "--outcome", "y", "--out", str(tmp_path / "week.parquet")
    done = subprocess.run(
        [fractile, "summarise", *shards, *given, "--engine", "spark"],
        env=own | {"PATH": os.defpath}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"{np.size(rows()['p']):,} rows in" in done.stdout


@pytest.mark.usefixtures("session")
def test_the_command_counts_on_spark(tmp_path: Path, shards: list[str]) -> None:
    given = "--score", "p", "--outcome", "y", "--out", str(tmp_path / "week.parquet")
    store = [Path(one).as_uri() for one in shards]
    done = CliRunner().invoke(main, ["summarise", *store, *given, "--master", "local[2]"])
    assert done.exit_code == 0, done.stderr
    refused = CliRunner().invoke(
        main, ["summarise", *shards, *given, "--score", "q", "--master", "local[2]"]
    )
    assert (refused.exit_code, "no column 'q'" in refused.stderr) == (2, True)
    columns = "--score", "p", "--outcome", "y", "--resamples", "0"
    audited = CliRunner().invoke(
        main, ["audit", *shards, *columns, "--engine", "spark", "--master", "local[2]"]
    )
    assert audited.exit_code == 0, audited.stderr
    of_file = CliRunner().invoke(main, ["audit", given[-1], "--resamples", "0"])
    assert audited.stdout.splitlines()[1:] == of_file.stdout.splitlines()[1:]


def test_numbers_of_equal_rows_are_counted(session: Any) -> None:
    frame = session.createDataFrame(
        [(0.2, 0, 3), (0.6, 1, 2), (0.7, 1, 0)], "p double, y int, n int"
    )
    result = summarise_spark(frame.repartition(3), "p", "y", count="n")
    assert same(result, Summary.of([0.2, 0.2, 0.2, 0.6, 0.6], [0, 0, 0, 1, 1]))
    with pytest.raises(CalibrationInputError, match="count: other values than whole numbers"):
        summarise_spark(frame.selectExpr("p", "y", "n - 1 as n"), "p", "y", count="n")


@pytest.mark.usefixtures("session")
def test_a_map_of_classes_is_fitted_on_spark(tmp_path: Path) -> None:
    fits_alike(tmp_path, ["--master", "local[2]"])
