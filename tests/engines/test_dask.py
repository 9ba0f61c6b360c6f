"""Rows are counted on a local cluster of two processes: `make engines`, which installs Dask."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from calibcore import CalibrationInputError, audit
from calibcore.export.calibrator_file import CalibratorFile
from calibcore.summary import AnySummary, GroupedSummary, Summary
from dashboard.cli.main import main
from dashboard.engines import summarise_dask

distributed = pytest.importorskip("distributed", reason="is of the extra dask: make engines")
frames = pytest.importorskip("dask.dataframe", reason="is of the extra dask: make engines")

N, N_PARTS = 40_000, 20


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def rows() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    logits = rng.normal(-1, 2, N)
    hits = rng.random(N) < 1 / (1 + np.exp(-0.7 * logits))
    scores = (1 / (1 + np.exp(-logits))).round(4)
    return pd.DataFrame({"p": scores, "y": hits, "unused": ["text"] * N})


@pytest.fixture
def shards(tmp_path: Path) -> str:
    table = rows()
    for k in range(N_PARTS):
        table.iloc[k::N_PARTS].to_parquet(tmp_path / f"{k:02}.parquet")
    return str(tmp_path / "*.parquet")


def same(one: AnySummary, other: AnySummary) -> bool:
    if isinstance(one, GroupedSummary) and isinstance(other, GroupedSummary):
        alike = (one.columns, one.names) == (other.columns, other.names)
        return alike and all(map(same, one.parts, other.parts))
    assert isinstance(one, Summary)
    assert isinstance(other, Summary)
    pairs = zip(
        (one.scores, one.rows, one.events), (other.scores, other.rows, other.events), strict=True
    )
    return all(np.array_equal(*pair) for pair in pairs)


@pytest.mark.usefixtures("client")
def test_shards_are_counted_by_two_processes(shards: str) -> None:
    result = summarise_dask(frames.read_parquet(shards), "p", "y")
    table = rows()
    assert same(result, Summary.of(table["p"], table["y"]))
    assert result.whole.audit().test.compare("ks_error").before == pytest.approx(
        audit(table["p"], table["y"]).test.compare("ks_error").before, rel=1e-12
    )


def grouped() -> pd.DataFrame:
    """Rows of wards, some without one, and of floors: whole numbers, in some parts with a gap."""
    rng, table = np.random.default_rng(3), rows()
    wards = pd.Series(rng.choice(["east", "west", "north"], N)).mask(rng.random(N) < 0.1)
    return table.assign(ward=wards, floor=pd.Series(rng.integers(1, 4, N)).mask(np.arange(N) < 50))


@pytest.mark.usefixtures("client")
def test_groups_are_counted_as_without_an_engine() -> None:
    table, by = grouped(), ["ward", "floor"]
    named = table["ward"].fillna(""), table["floor"]
    wanted = GroupedSummary.of(table["p"], table["y"], dict(zip(by, named, strict=True)))
    for ward in (table["ward"], table["ward"].astype("category")):
        frame = frames.from_pandas(table.assign(ward=ward), npartitions=7)
        assert same(summarise_dask(frame, "p", "y", by), wanted)
    many = frames.from_pandas(table.assign(ward=np.arange(N) // 300), npartitions=7)
    with pytest.raises(CalibrationInputError, match="more than 100 groups of ward"):
        summarise_dask(many, "p", "y", ["ward"])
    with pytest.raises(CalibrationInputError, match="by: no column 'q'"):
        summarise_dask(many, "p", "y", ["q"])


@pytest.mark.usefixtures("client")
def test_a_frame_is_audited_where_its_rows_are() -> None:
    table, by = grouped(), ["ward", "floor"]
    table["y"] &= table["floor"] != 2
    frame = frames.from_pandas(table, npartitions=7)
    result = audit(frame[["p", "y", *by]], "y", groups=by, calibrator="platt", n_bins=9)
    named = table[by].astype(object).where(table[by].notna(), "")
    wanted = audit(table["p"], table["y"], groups=named, n_bins=9)
    for key in ("ks_error", "ece", "event_nll"):
        assert result.test.compare(key).before == pytest.approx(
            wanted.test.compare(key).before, rel=1e-12
        )
    assert result.fitted is not None
    groups = {(one.name, one.rows) for one in wanted.verdict.groups}
    assert ("2", int((table["floor"] == 2).sum())) in groups
    assert {(one.name, one.rows) for one in audit(
        frame[["p", "y", *by]], "y", groups=by).verdict.groups} == groups  # fmt: skip


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda one: audit(one[["p"]], one["y"]), "outcomes: a Series. Expected a column by its"),
        (lambda one: audit(one["p"], one["y"]), "outcomes: a Series"),
        (lambda one: audit(one[["p", "y"]]), "outcomes: none"),
        (lambda one: audit(one, "y"), "data: a frame with p, unused beside those named"),
        (lambda one: audit(one[["p", "y"]], "y", groups=one[["y"]]), "groups: a DataFrame"),
        (lambda one: audit(one[["p", "y"]], "y", groups=["q"]), "by: no column 'q'"),
        (lambda one: audit(one[["p", "y"]], "y", prevalence=0.1), "prevalence: one beside a frame"),
        (lambda one: summarise_dask(one[["p"]], "p", one["y"]), "outcome: a Series. Expected the"),
    ],
)
def test_what_a_frame_cannot_be_audited_by_is_refused_in_a_sentence(call: Any, text: str) -> None:
    with pytest.raises(CalibrationInputError) as caught:
        call(frames.from_pandas(rows(), npartitions=2))
    assert str(caught.value).startswith(text)


@pytest.mark.usefixtures("client")
def test_numbers_of_equal_rows_are_counted() -> None:
    table = rows().assign(n=np.arange(N) % 3)
    result = summarise_dask(frames.from_pandas(table, npartitions=5), "p", "y", count="n")
    repeated = table.loc[table.index.repeat(table["n"])]
    assert same(result, Summary.of(repeated["p"], repeated["y"]))


def counted_by(client: Any) -> set[int]:
    return {pid for pid in client.run(os.getpid).values() if pid != os.getpid()}


def dying_once(number: int, mark: str) -> pd.DataFrame:
    """Give the rows of a partition; whoever first reads the tenth is killed."""
    if number == 10 and not Path(mark).exists():
        Path(mark).touch()
        os._exit(1)
    return rows().iloc[number::N_PARTS]


def test_a_worker_killed_in_the_middle_changes_nothing(client: Any, tmp_path: Path) -> None:
    before, mark = counted_by(client), tmp_path / "died"
    assert len(before) == 2
    frame = frames.from_map(
        dying_once, range(N_PARTS), mark=str(mark), meta=rows().iloc[:0], enforce_metadata=False
    )
    result = summarise_dask(frame, "p", "y")
    assert mark.exists()
    assert same(result, Summary.of(rows()["p"], rows()["y"]))
    client.wait_for_workers(2, timeout=30)
    assert counted_by(client) != before


@pytest.mark.usefixtures("client")
def test_partitions_without_rows_count_none() -> None:
    frame = frames.from_pandas(rows(), npartitions=5)
    result = summarise_dask(frame[frame["p"] > 0.99], "p", "y")
    kept = rows()[rows()["p"] > 0.99]
    assert same(result, Summary.of(kept["p"], kept["y"]))
    with pytest.raises(CalibrationInputError, match="no row"):
        summarise_dask(frame[frame["p"] > 2], "p", "y")


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        ("y", None, "outcome: no value in column 'y'"),
        ("p", 1.5, "scores: "),
        ("y", 2, "hits: values other than 0 and 1"),
    ],
)
def test_what_is_no_score_or_outcome_is_refused_as_without_an_engine(
    column: str, value: float | None, text: str
) -> None:
    table = rows().astype({"y": "Int64"})
    table.loc[N // 2, column] = value
    with pytest.raises(CalibrationInputError) as caught:
        summarise_dask(frames.from_pandas(table, npartitions=4), "p", "y")
    assert str(caught.value).startswith(text)


def test_a_column_that_is_not_there_is_refused_at_once() -> None:
    with pytest.raises(CalibrationInputError, match="no column 'q'"):
        summarise_dask(frames.from_pandas(rows(), npartitions=2), "q", "y")


def summarised(folder: Path, name: str, *more: str, column: str = "p") -> Result:
    words = "summarise", str(folder / "*.parquet"), "--score", column, "--outcome", "y"
    return CliRunner().invoke(main, [*words, "-o", str(folder / "out" / name), *more])


def test_the_command_counts_on_a_cluster_what_it_counts_here(client: Any, shards: str) -> None:
    folder = Path(shards).parent
    (folder / "out").mkdir()
    address = client.scheduler.address
    here, there = summarised(folder, "a.parquet"), summarised(
        folder, "b.parquet", "--scheduler", address
    )  # fmt: skip
    assert (here.exit_code, there.exit_code) == (0, 0), there.output
    assert there.stdout == here.stdout.replace("a.parquet", "b.parquet")
    one, other = ((folder / "out" / name).read_bytes() for name in ("a.parquet", "b.parquet"))
    assert one == other
    for region in ("eu", "us"):
        (folder / f"region={region}").mkdir()
        grouped().to_parquet(folder / f"region={region}" / "a.parquet")
    words = ["--score", "p", "--outcome", "y", "--by", "region", "--by", "ward"]
    files, counted = [str(one) for one in sorted(folder.glob("region=*/*.parquet"))], []
    for where in ([], ["--scheduler", address]):
        out = folder / "out" / f"{len(where)}.parquet"
        done = CliRunner().invoke(main, ["summarise", *files, *words, "-o", str(out), *where])
        assert done.exit_code == 0, done.output
        assert "8 groups of region and ward" in done.stdout
        counted.append(out.read_bytes())
    assert counted[0] == counted[1]
    audited = [
        CliRunner().invoke(main, ["audit", *given, "--resamples", "0"])
        for given in ([str(out)], [*files, *words, "--engine", "dask", "--scheduler", address])
    ]
    assert [one.exit_code for one in audited] == [0, 0], audited[1].output
    of_file, of_engine = (one.stdout.splitlines()[1:] for one in audited)
    assert of_engine == of_file
    store = [Path(one).as_uri() for one in files]
    there = CliRunner().invoke(
        main, ["summarise", *store, *words, "-o", str(out), "--scheduler", address]
    )
    assert (there.exit_code, out.read_bytes()) == (0, counted[0]), there.output
    refused = summarised(folder, "c.parquet", "--scheduler", address, column="q")
    assert (refused.exit_code, "no column 'q'" in refused.stderr) == (2, True)
    refused = summarised(folder, "c.parquet", "--scheduler", "nowhere")
    assert (refused.exit_code, "a running Dask scheduler" in refused.stderr) == (2, True)


def class_shards(folder: Path) -> list[str]:
    """Write logits of three classes, in order of these, so that no shard has all."""
    rng = np.random.default_rng(11)
    logits = rng.normal(0, 2, (9000, 3))
    labels = np.sort((0.6 * logits + rng.gumbel(size=logits.shape)).argmax(axis=1))
    table = pd.DataFrame({f"z{k}": logits[:, k] for k in range(3)} | {"label": labels.astype(str)})
    for k, place in enumerate(np.array_split(np.arange(len(table)), 6)):
        table.iloc[place].to_parquet(folder / f"{k}.parquet")
    return [str(one) for one in sorted(folder.glob("*.parquet"))]


def fits_alike(folder: Path, engine: list[str]) -> None:
    """Fit a map of classes here and by an engine: they differ by rounding alone."""
    files = class_shards(folder)
    made: list[CalibratorFile] = []
    for where in (["--engine", "here"], engine):
        out = folder / f"{len(made)}.json"
        given = ["--score", "z*", "--values", "logits", "--outcome", "label", "--out", str(out)]
        done = CliRunner().invoke(main, ["fit", *files, *given, "--calibrator", "vector", *where])
        assert "fitted on 9,000 rows in" in done.output, done.output
        made.append(CalibratorFile.from_json(out.read_text("utf-8")))
    table = np.random.default_rng(1).normal(0, 2, (50, 3))
    here, there = (one.apply(pd.DataFrame(table, columns=list("012"))) for one in made)
    assert made[0].class_names == made[1].class_names
    np.testing.assert_allclose(there, here, rtol=1e-9)


def test_a_map_of_classes_is_fitted_on_a_cluster(client: Any, tmp_path: Path) -> None:
    fits_alike(tmp_path, ["--scheduler", client.scheduler.address])
