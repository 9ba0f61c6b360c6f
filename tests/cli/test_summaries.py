"""``fractile summarise`` and ``fractile audit`` of what it writes."""

import json
from functools import reduce
from importlib.util import find_spec
from operator import add
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result

from calibcore import CalibrationInputError, audit, counted, drift, summary
from calibcore.summary import N_CELLS, GroupedSummary, Summary, on_grid
from dashboard import counting
from dashboard.summary_file import parse_summary, write_summary
from dashboard.texts.numbers import percent
from tests.cli.conftest import run
from tests.marks import first_and_long
from tests.readers.files import parquet

N = 6000


def draw_rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    logits = rng.normal(-1, 2, N)
    return 1 / (1 + np.exp(-logits)), rng.random(N) < 1 / (1 + np.exp(-0.7 * logits))


@pytest.fixture(autouse=True)
def _fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drift, "_DRAWS", 400)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three shards, as loggers write them: the outcome is of another type in each."""
    scores, hits = draw_rows()
    kinds = (pa.bool_(), pa.int8(), pa.float32())
    (tmp_path / "logs").mkdir()
    for k, kind in enumerate(kinds):
        columns = {
            "p": scores[k::3],
            "y": pa.array(hits[k::3].astype(np.int8)).cast(kind),
            "note": pa.array(["text"] * len(scores[k::3])),
        }
        pq.write_table(pa.table(columns), tmp_path / "logs" / f"{k}.parquet", row_group_size=700)
    return tmp_path


def summarised(folder: Path, files: str = "logs/*.parquet", out: str = "week.parquet") -> Result:
    columns = "--score", "p", "--outcome", "y"
    return run("summarise", folder / files, *columns, "-o", folder / out)


def test_shards_become_a_summary_that_says_what_the_rows_say(folder: Path) -> None:
    done = summarised(folder)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "6,000 rows in 6,000 distinct scores" in done.stdout
    rows = audit(*draw_rows())
    result = parse_summary((folder / "week.parquet").read_bytes(), "week.parquet")
    assert result.whole.audit().to_json() == Summary.of(*draw_rows()).audit().to_json()
    printed = run("audit", folder / "week.parquet")
    assert printed.exit_code == 0
    hits = int(draw_rows()[1].sum())
    assert printed.stdout.startswith(f"week.parquet · outcome = 1: {hits:,} of 6,000")
    assert "Before: some too" in printed.stdout
    for key, name in (("ks_error", "KS error"), ("ece", "ECE, equal-width bins")):
        value = rows.test.compare(key).before
        assert value is not None
        line = next(one for one in printed.stdout.splitlines() if one.startswith(f"{name} "))
        assert line.removeprefix(name).split()[0] == percent(value, N)
        interval = rows.intervals(key).find(key).before
        assert interval is not None
        ends = interval.interval.low, interval.interval.high
        low, high = (percent(end, N) for end in ends)
        assert f"({low.removesuffix('%')}\u2013{high.removesuffix('%')})" in line
    assert "Not available: Subgroups: this summary has none." in printed.stdout
    bare = run("audit", folder / "week.parquet", "--resamples", "0").stdout
    line = next(one for one in bare.splitlines() if one.startswith("KS error "))
    assert line.split()[2:] == [percent(rows.test.compare("ks_error").before or 0.0, N), "\u2013"]


def test_few_distinct_scores_are_pooled_on_the_way(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = summarised(folder).stdout
    monkeypatch.setattr(summary, "_POOLED", 500)
    monkeypatch.setattr(counting, "_BATCH", 100)
    assert summarised(folder, out="again.parquet").stdout == whole.replace("week", "again")
    week, again = ((folder / f"{name}.parquet").read_bytes() for name in ("week", "again"))
    assert week == again


def test_days_add_up_to_a_week(folder: Path) -> None:
    summarised(folder)
    for k in range(3):
        summarised(folder, f"logs/{k}.parquet", f"day{k}.parquet")
    days, week = run("audit", folder / "day*.parquet"), run("audit", folder / "week.parquet")
    assert days.exit_code == 0
    assert days.stdout.splitlines()[2:] == week.stdout.splitlines()[2:]
    assert "from 3 summaries: 6,000 rows" in days.stdout


def test_a_calibrator_is_fitted_in_folds(folder: Path) -> None:
    summarised(folder)
    answer = run("audit", folder / "week.parquet", "--calibrator", "platt", "--resamples", "20")
    line = next(one for one in answer.stdout.splitlines() if one.startswith("KS error "))
    result = Summary.of(*draw_rows()).audit(calibrator="platt").test.compare("ks_error")
    for value in (result.before, result.after):
        assert value is not None
        assert percent(value, N) in line
    assert "better" in line


def later(folder: Path) -> None:
    """Write days of which the last two have fewer events, as summaries and as rows."""
    rng = np.random.default_rng(9)
    for day in range(5):
        scores = rng.random(2000).round(3)
        hits = rng.random(2000) < scores * (0.8 if day > 2 else 1)
        (folder / f"day{day}.parquet").write_bytes(write_summary(Summary.of(scores, hits)))
        pd.DataFrame({"score": scores, "outcome": hits.astype(int)}).to_csv(
            folder / f"day{day}.csv", index=False
        )


def test_a_summary_is_checked_against_a_summary_as_rows_are_against_rows(tmp_path: Path) -> None:
    later(tmp_path)
    table = []
    for kind in ("parquet", "csv"):
        old, like, new = (tmp_path / f"day{day}.{kind}" for day in (0, 1, 4))
        result = run("check", new, "--against", old)
        assert result.exit_code == 1
        table.append([line for line in result.stdout.splitlines() if "Mean score" in line])
        assert run("check", like, "--against", old).exit_code == 0
    assert table[0] == table[1]
    two = run("check", tmp_path / "day[34].parquet", "--against", tmp_path / "day0.parquet")
    assert "Two samples: a summary keeps no row IDs." in two.stdout
    assert "Subgroups: not compared" in two.stdout


def test_summaries_to_check_against_add_up(tmp_path: Path) -> None:
    later(tmp_path)
    whole = tmp_path / "whole.parquet"
    days = [tmp_path / f"day{k}.parquet" for k in range(3)]
    summaries = (parse_summary(day.read_bytes(), day.name) for day in days)
    whole.write_bytes(write_summary(reduce(add, summaries)))
    new, out = tmp_path / "day4.parquet", tmp_path / "check.json"
    records = []
    for against in (
        ("--against", whole),
        ("--against", tmp_path / "day[012].parquet"),
        ("--against", days[0], "--against", tmp_path / "day[12].parquet"),
    ):
        assert run("check", new, *against, "--json", out).exit_code == 1
        records.append(json.loads(out.read_text()))
    assert records[0]["rows_before"] == 6000
    assert [one["measures"] for one in records] == [records[0]["measures"]] * 3
    assert records[1]["against"].startswith("day0.parquet, day1.parquet, day2.parquet")
    for first, text in (
        (days[0], "summaries beside files of rows"),
        (tmp_path / "day1.csv", "day1.csv and 1 more"),
    ):
        refused = run("check", new, "--against", first, "--against", tmp_path / "day2.csv")
        assert (refused.exit_code, text in refused.stderr) == (2, True)


def test_a_summary_is_checked_against_a_report_and_rows_against_a_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run("audit", "day0.csv", "--json", "audit.json", "--resamples", "0").exit_code == 0
    for new, against in (
        ("day4.parquet", "audit.json"),
        ("day4.csv", "day0.parquet"),
        ("day4.parquet", "day0.csv"),
    ):
        result = run("check", new, "--against", against, "--json", "check.json")
        assert result.exit_code == 1, new
        assert "Mean score minus frequency" in result.stdout
        assert json.loads(Path("check.json").read_text())["cause"] != "nothing"


def test_days_are_a_series_with_a_trend(tmp_path: Path) -> None:
    later(tmp_path)
    result = run("series", tmp_path / "day*.parquet")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:6]] == [f"day{k}" for k in range(5)]
    assert "since day3 scores are too high by" in lines[-1]
    calm = run("series", *(tmp_path / f"day{k}.parquet" for k in range(3)))
    assert (calm.exit_code, "Drift over the files: none detected" in calm.stdout) == (0, True)
    weeks = [tmp_path / f"date={k}" / "week.parquet" for k in (1, 3)]
    for number, path in enumerate(weeks):
        path.parent.mkdir()
        path.write_bytes((tmp_path / f"day{3 * number}.parquet").read_bytes())
    alike = run("series", *weeks)
    assert (alike.exit_code, "date=1/week" in alike.stdout) == (result.exit_code, True)
    assert "date=3/week" in alike.stdout
    alone = run("series", tmp_path / "day1.parquet")
    assert (alone.exit_code, "two summaries or more" in alone.stderr) == (2, True)


def test_a_condition_decides_the_code(folder: Path) -> None:
    summarised(folder)
    result = run("audit", folder / "week.parquet", "--fail-if", "ks_error>1%")
    assert (result.exit_code, "Fails: ks_error > 0.01" in result.stdout) == (1, True)
    assert run("audit", folder / "week.parquet", "--fail-if", "ks_error>90%").exit_code == 0


def test_a_grid_is_kept_and_says_what_it_costs(tmp_path: Path) -> None:
    grid = on_grid(Summary.of(*draw_rows()))
    path = tmp_path / "grid.parquet"
    path.write_bytes(write_summary(grid))
    again = parse_summary(path.read_bytes(), path.name)
    assert again.whole.audit().to_json() == grid.audit().to_json()
    assert again.whole.error_bounds == grid.error_bounds
    printed = run("audit", path, "--all")
    assert (printed.exit_code, "KS error of the rows is up to" in printed.stdout) == (0, True)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--calibrator", "temperature"), "calibrator: temperature, which these data do not allow"),
        (("--weight", "w"), "weight: an option for rows."),
        (("--fail-if", "subgroup.gap>1%"), "condition: subgroup.gap, which these data leave undef"),
        (("logs/0.parquet",), "summaries beside files of rows"),
    ],
)
def test_what_needs_the_rows_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], text: str
) -> None:
    monkeypatch.chdir(folder)
    summarised(folder)
    result = run("audit", "week.parquet", *options)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert text.lower() in result.stderr.lower()


def table_of(summary: Summary | GroupedSummary) -> pa.Table:
    return pq.read_table(pa.BufferReader(write_summary(summary)))


def changed(facts: str, summary: Summary | GroupedSummary | None = None) -> bytes:
    """Write a summary that says other things of itself."""
    table = table_of(summary or Summary.of([0.2, 0.6], [0, 1]))
    return parquet(table.replace_schema_metadata({"fractile.summary": facts}))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (changed('{"version": 2, "rows": 2}'), "a summary of version 2"),
        (changed('{"version": 1, "rows": 3}'), "other numbers of rows than it tells"),
        (changed("version 1"), "no summary"),
        (changed("[1]"), "no summary"),
        (b"PAR1 and no more", "no summary"),
    ],
)
def test_another_version_or_none_is_refused(data: bytes, text: str, tmp_path: Path) -> None:
    with pytest.raises(CalibrationInputError) as caught:
        parse_summary(data, "week.parquet")
    assert str(caught.value).startswith(f"week.parquet: {text}" if "other" not in text else "week")
    assert text in str(caught.value)
    path = tmp_path / "week.parquet"
    path.write_bytes(data)
    result = run("audit", path)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        ("cell", N_CELLS, "cells in disorder"),
        ("cell", 0, "cells in disorder"),
        ("nll_total", np.nan, "sums that are no numbers"),
        ("score", 1.5, "scores"),
        ("events", 10**6, "more than rows"),
    ],
)
def test_a_damaged_grid_is_refused(column: str, value: float, text: str) -> None:
    table = table_of(on_grid(Summary.of(*draw_rows())))
    values = table[column].to_numpy().copy()
    values[-1] = value
    wrong = table.set_column(table.column_names.index(column), column, pa.array(values))
    with pytest.raises(CalibrationInputError, match="a damaged summary") as caught:
        parse_summary(parquet(wrong), "week.parquet")
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (pa.array([1, 0, 2]), "outcome: values other than 0 and 1 in row 3 of bad.parquet, rows"),
        (pa.array([1, None, 0]), "outcome: no value in column 'y' of bad.parquet, rows from 1 on"),
        (pa.array(["yes", "no", "no"]), "outcome: string in column 'y' of bad.parquet"),
    ],
)
def test_what_is_no_outcome_is_refused_by_file_and_row(
    column: pa.Array, text: str, tmp_path: Path
) -> None:
    pq.write_table(pa.table({"p": [0.1, 0.2, 0.3], "y": column}), tmp_path / "bad.parquet")
    result = summarised(tmp_path, "bad.parquet")
    assert (result.exit_code, text.lower() in result.stderr.lower()) == (2, True)
    assert not (tmp_path / "week.parquet").exists()


@pytest.mark.skipif(find_spec("distributed") is not None, reason="Dask is installed")
def test_a_cluster_without_dask_says_what_to_install(folder: Path) -> None:
    columns = "--score", "p", "--outcome", "y", "-o", folder / "week.parquet"
    result = run("summarise", folder / "logs", *columns, "--scheduler", "tcp://127.0.0.1:1")
    assert (result.exit_code, 'pip install "fractile[dask]"' in result.stderr) == (2, True)


def test_files_that_cannot_be_counted_are_refused(folder: Path) -> None:
    columns = "--outcome", "y", "-o", folder / "week.parquet"
    empty = parquet({"p": pa.array([], "double"), "y": pa.array([], "int8")})
    whole = (folder / "logs" / "0.parquet").read_bytes()
    for data, score, text in (
        (whole, "q", "no column 'q' in a.parquet"), (b"text", "p", "no Parquet file"),
        (empty, "p", "no row in any"),
    ):  # fmt: skip
        (folder / "a.parquet").write_bytes(data)
        result = run("summarise", folder / "a.parquet", "--score", score, *columns)
        assert (result.exit_code, text in result.stderr) == (2, True)


# Groups ---------------------------------------------------------------------------------------


REGIONS, DEVICES = ("eu", "us"), ("phone", "tablet", "")


def partitioned(folder: Path, days: int = 1, n: int = 14_000) -> pd.DataFrame:
    """Write a folder a day with a part for each region, and return all rows of the last day."""
    rng, rows = np.random.default_rng(3), list[pd.DataFrame]()
    for day in range(days):
        rows = []
        for region in REGIONS:
            scores = rng.random(n).round(3)
            device = rng.choice(DEVICES, n)
            off = (device == "phone") & (region == "eu") & (day == days - 1)
            hits = rng.random(n) < np.where(off, 0.8, 1.0) * scores
            part = folder / f"day{day}" / f"region={region}"
            part.mkdir(parents=True)
            table = {"p": scores, "y": hits, "device": pa.array([one or None for one in device])}
            pq.write_table(pa.table(table), part / "part.parquet", row_group_size=5000)
            own = {"score": scores, "outcome": hits.astype(int), "region": region, "device": device}
            rows.append(pd.DataFrame(own))
    return pd.concat(rows)


def by_groups(folder: Path, out: str) -> Result:
    by = "--by", "region", "--by", "device"
    return run("summarise", folder, "--score", "p", "--outcome", "y", *by, "-o", folder / out)


def sentences(text: str) -> list[str]:
    starts = ("Worst", "Miscalibrated in", "\u25b2", "Mean gap", "KS error ", "AUROC")
    return [" ".join(one.split()) for one in text.splitlines() if one.startswith(starts)]


def test_subgroups_of_a_summary_are_named_as_those_of_its_rows(tmp_path: Path) -> None:
    rows = partitioned(tmp_path)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    done = by_groups(tmp_path / "day0", "groups.parquet")
    assert done.stdout.strip().endswith("6 groups of region and device"), done.stderr
    path = tmp_path / "day0" / "groups.parquet"
    result = run("audit", path, "--resamples", "0")
    wanted = run("audit", tmp_path / "rows.csv", "--resamples", "0")
    assert sentences(result.stdout) == sentences(wanted.stdout)
    assert "Worst subgroup: device = phone" in result.stdout
    assert "Not available: Other groups than those of region, device." in result.stdout
    assert run("audit", path, "--resamples", "0", "--fail-if", "subgroup.gap>1%").exit_code == 1
    assert run("audit", path, "--resamples", "0", "--fail-if", "subgroup.gap>50%").exit_code == 0
    both = run("audit", path, tmp_path / "day0" / "groups.parquet", "--resamples", "0")
    assert "from 2 summaries: 56,000 rows" in both.stdout


def test_check_names_the_subgroup_of_summaries_that_changed(tmp_path: Path) -> None:
    last = partitioned(tmp_path, days=2)
    last.to_csv(tmp_path / "last.csv", index=False)
    for day in range(2):
        by_groups(tmp_path / f"day{day}", "sum.parquet")
    old, new = (tmp_path / f"day{day}" / "sum.parquet" for day in range(2))
    result = run("check", new, "--against", old, "--json", tmp_path / "check.json")
    assert result.exit_code == 1
    assert "Subgroups: the mean gap changed in" in result.stdout
    record = json.loads((tmp_path / "check.json").read_text())
    changed = {(one["by"], one["subgroup"]) for one in record["subgroups"] if one["changed"]}
    assert changed == {("region", "eu"), ("device", "phone")}
    of_rows = run("check", tmp_path / "last.csv", "--against", old)
    assert "Subgroups: the mean gap changed in 2 of 5." in of_rows.stdout
    same = run("check", old, "--against", old)
    assert (same.exit_code, "Subgroups: no change" in same.stdout) == (0, True)


@pytest.mark.long
def test_a_report_of_a_summary_needs_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    partitioned(tmp_path)
    by_groups(tmp_path / "day0", "groups.parquet")
    monkeypatch.setattr(counted, "_MOST_ROWS", 0)  # so that whatever asks for rows is refused
    monkeypatch.chdir(tmp_path / "day0")
    result = run("audit", "groups.parquet", "--report", "r.html", "--json", "r.json",
               "--calibrator", "platt", "--resamples", "20")  # fmt: skip
    assert (result.exit_code, result.stderr) == (0, "")
    report = json.loads(Path("r.json").read_text())
    assert [one["key"] for one in report["sections"]] == [
        "summary", "data", "graphs", "measures", "subgroups", "decisions", "calibrator",
        "comparison", "limits", "rerun",
    ]  # fmt: skip
    text = " ".join(
        line
        for part in report["sections"]
        for block in part["blocks"]
        if block["kind"] == "text"
        for line in block["lines"]
    )
    for sentence in (
        "Worst by device after calibration: device = phone", "SKCE",
        "Single rows, such as those behind a bin", "Other groups than those of region, device.",
        "fractile audit groups.parquet --calibrator platt --resamples 20",
    ):  # fmt: skip
        assert sentence in text, sentence
    assert "<svg" in Path("r.html").read_text()
    against = run("check", "groups.parquet", "--against", "r.json", "--audited", "groups.parquet")
    assert against.exit_code == 0
    assert "Subgroups: no change" in against.stdout


def test_a_calibrator_is_kept_from_a_summary(folder: Path) -> None:
    summarised(folder)
    out = folder / "calibrator.json"
    result = run("fit", folder / "week.parquet", "--calibrator", "platt", "--out", out)
    assert (result.exit_code, "fitted on 6,000 rows" in result.stdout) == (0, True)
    refused = run("calibrate", folder / "week.parquet", "--with", out, "--out", folder / "out.csv")
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (2, 1)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--by", "nothing"), "by: no column 'nothing' in part.parquet"),
        (("--by", "p"), "by: more than 100 groups of p of part.parquet, rows from 1 on"),
        (("--by", "device", "--by", "device"), "by: no column, or one twice"),
    ],
)
def test_groups_that_cannot_be_counted_are_refused(
    options: tuple[str, ...], text: str, tmp_path: Path
) -> None:
    partitioned(tmp_path, n=400)
    columns = "--score", "p", "--outcome", "y", "-o", tmp_path / "out.parquet"
    result = run("summarise", tmp_path / "day0", *columns, *options)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert text.lower() in result.stderr.lower()


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"by": ["region"]}, "a score twice"),
        ({"by": ["region", "device", "hour"]}, "'by hour'"),
        ({"by": ["region", "device"], "rows": 1}, "other numbers of rows"),
        ({"by": "region"}, "a damaged summary"),
        ({"by": 7}, "a damaged summary"),
    ],
)
def test_damaged_groups_are_refused(facts: dict[str, object], text: str) -> None:
    given = {"region": ["eu", "us", "us"], "device": ["a", "a", "b"]}
    summary = GroupedSummary.of([0.2, 0.6, 0.6], [0, 1, 1], given)
    data = changed(json.dumps({"version": 1, "rows": 3} | facts), summary)
    with pytest.raises(CalibrationInputError, match="a damaged summary") as caught:
        parse_summary(data, "week.parquet")
    assert text in str(caught.value)


@pytest.mark.parametrize("method", first_and_long(["none", "platt"]))
def test_as_many_rows_as_can_be_counted_are_reported(tmp_path: Path, method: str) -> None:
    parts: dict[tuple[str, ...], Summary] = {
        ("a",): Summary.of_counts([0.2, 0.5, 0.7], [2**51] * 3, [2**49, 2**50, 2**51]),
        ("b",): Summary.of_counts([0.2], [2**51], [5]),
    }
    path = tmp_path / "many.parquet"
    path.write_bytes(write_summary(GroupedSummary.of_parts(["group"], parts)))
    result = run("audit", path, "--calibrator", method, "--report", tmp_path / "r.html")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "Worst subgroup" in result.stdout
