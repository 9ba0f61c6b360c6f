"""Files with the scores of every class, a column each, are counted by the score of one event."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcore import LogitSet, OneClass, TopR, WithinTopR
from calibcore.calibrators import CATALOGUE, PlattScaling, VectorMap, VectorScaling
from calibcore.events import Event
from calibcore.export.calibrator_file import CalibratorFile
from calibcore.summary import Summary
from dashboard import counting
from dashboard.class_columns import ClassColumns
from dashboard.counting import Columns, summarise
from dashboard.summary_file import read_summaries
from tests.cli.conftest import run
from tests.marks import first_and_long

N, NAMES = 4000, ("cat", "dog", "owl", "elk")


@pytest.fixture
def rows() -> LogitSet:
    rng = np.random.default_rng(4)
    logits = rng.normal(0, 2, (N, len(NAMES))).astype(np.float32)
    labels = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
    return LogitSet(logits, labels, NAMES)


@pytest.fixture
def logs(tmp_path: Path, rows: LogitSet) -> Path:
    """Two files whose columns stand in another order, with one that is no class's."""
    (tmp_path / "logs").mkdir()
    columns: dict[str, Any] = {f"s_{name}": rows.logits[:, k] for k, name in enumerate(NAMES)}
    columns |= {f"p_{name}": rows.probabilities[:, k] for k, name in enumerate(NAMES)}
    columns |= {"label": np.array(NAMES)[rows.labels], "s": np.zeros(N), "n": np.arange(N) % 3}
    for number, of in enumerate((slice(0, 1500), slice(1500, None))):
        order = sorted(columns, reverse=bool(number))
        part = pa.table({name: columns[name][of] for name in order})
        pq.write_table(part, tmp_path / "logs" / f"{number}.parquet", row_group_size=400)
    return tmp_path / "logs"


def counts(summary: object) -> list[tuple[float, int, int]]:
    assert isinstance(summary, Summary)
    return list(zip(summary.scores, summary.rows, summary.events, strict=True))


EVENTS: list[tuple[str, Event]] = [
    ("top-1", TopR(1)),
    ("top-2", TopR(2)),
    ("within-2", WithinTopR(2)),
    ("owl", OneClass(2)),
]


@pytest.mark.parametrize(("name", "event"), EVENTS)
def test_an_event_is_counted_as_that_of_the_rows(
    logs: Path, rows: LogitSet, name: str, event: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "_BATCH", 1000)
    wanted = event.outcomes(rows.probabilities, rows.labels)
    for pattern, values in (("s_*", "logits"), ("p_*", "probabilities")):
        columns = Columns(pattern, "label", classes=ClassColumns(values, name))  # type: ignore[arg-type]
        result = summarise(sorted(logs.iterdir()), columns, lambda _: None)
        np.testing.assert_allclose(
            counts(result), counts(Summary.of(wanted.scores, wanted.hits)), rtol=1e-13
        )


def test_numbers_of_equal_rows_and_groups_are_counted_beside_it(logs: Path, rows: LogitSet) -> None:
    wanted = TopR(1).outcomes(rows.probabilities, rows.labels)
    times = np.arange(N) % 3
    columns = Columns("s_*", "label", ("n",), "n", ClassColumns("logits"))
    result = summarise(sorted(logs.iterdir()), columns, lambda _: None)
    repeated = Summary.of(np.repeat(wanted.scores, times), np.repeat(wanted.hits, times))
    np.testing.assert_allclose(counts(result.whole), counts(repeated), rtol=1e-13)


def test_numbered_classes_are_named_by_the_columns(tmp_path: Path) -> None:
    table = pa.table({"x1": [0.9, 0.2], "x2": [0.1, 0.8], "y": [1, 1]})
    pq.write_table(table, tmp_path / "a.parquet")
    result = summarise(
        [tmp_path / "a.parquet"], Columns("x*", "y", classes=ClassColumns()), lambda _: None
    )
    assert counts(result) == [(0.8, 1, 0), (0.9, 1, 1)]


def test_the_command_audits_what_it_counts(logs: Path, tmp_path: Path) -> None:
    columns = "--score", "s_*", "--outcome", "label", "--values", "logits", "--event", "within-2"
    out = tmp_path / "week.parquet"
    done = run("summarise", logs, *columns, "-o", out)
    assert f"{N:,} rows in" in done.stdout
    measures = []
    for given in ((out,), (logs, *columns, "--engine", "here")):
        report = tmp_path / "a.json"
        done = run("audit", *given, "--resamples", "0", "--json", report)
        assert done.exit_code == 0, done.stderr
        measures.append(json.loads(report.read_text("utf-8"))["measures"])
    assert measures[0] == measures[1]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--score", "q_*"), "Score: 'q_*', which is 0 of the columns"),
        (("--score", "s_c*"), "Score: 's_c*', which is 1 of the columns"),
        (("--event", "emu"), "Event: 'emu'. Expected top-1, within-2, or a class: cat,"),
        (("--event", "top-9"), "9 of 0.parquet. Expected a rank from 1 to 4, the classes"),
        (("--score", "s_cat"), "Event: 'top-1' of one column of scores. Expected --score with"),
        (("--values", "probabilities"), "Probabilities: "),
        (("--outcome", "n"), "Outcome: '0' of 0.parquet. Expected one of the classes cat, dog"),
        (("--outcome", "none"), "Outcome: no column 'none' in 0.parquet"),
    ],
)
def test_what_cannot_be_counted_is_refused_in_a_sentence(
    logs: Path, tmp_path: Path, options: tuple[str, ...], text: str
) -> None:
    given = {"--score": "s_*", "--outcome": "label", "--values": "logits", "--event": "top-1"}
    given |= {options[0]: options[1]}
    words = [word for pair in given.items() for word in pair]
    result = run("summarise", logs, *words, "-o", tmp_path / "a.parquet")
    assert (result.exit_code, text in result.stderr) == (2, True), result.stderr


def test_files_of_other_classes_and_what_is_not_said_are_refused(
    logs: Path, tmp_path: Path
) -> None:
    given = "--score", "s_*", "--outcome", "label", "-o", tmp_path / "a.parquet"
    result = run("summarise", logs, *given)
    assert "Values: nothing said. Expected logits or probabilities" in result.stderr
    one = pq.read_table(logs / "1.parquet").drop_columns(["s_owl"])
    pq.write_table(one, logs / "1.parquet")
    result = run("summarise", logs, *given, "--values", "logits")
    assert "Score: other classes in 1.parquet than in 0.parquet" in result.stderr


# A calibrator is fitted to them, and applied before they are counted --------------------------

COLUMNS = "--score", "s_*", "--outcome", "label", "--values", "logits"
ENDINGS = {"fit": "json", "summarise": "parquet"}


def applied(file: CalibratorFile, rows: LogitSet) -> np.ndarray:
    """Return calibrated probabilities in the order of `NAMES`; the file has that of a table."""
    shares = file.apply(pd.DataFrame(rows.logits, columns=list(NAMES)))
    return np.asarray(shares[:, [file.class_names.index(name) for name in NAMES]])


@pytest.mark.parametrize(
    ("key", "processes"),
    first_and_long(product(["dirichlet.penalty=l2", "temperature", "vector"], ["2", "1"])),
)
def test_a_smooth_map_is_fitted_by_passes_over_the_files(
    logs: Path, rows: LogitSet, tmp_path: Path, key: str, processes: str
) -> None:
    out = tmp_path / "c.json"
    done = run("fit", logs, *COLUMNS, "--calibrator", key, "--processes", processes, "--out", out)
    assert f"fitted on {N:,} rows in" in done.stdout, done.stderr
    file = CalibratorFile.from_json(out.read_text("utf-8"))
    assert (file.takes, {*file.class_names}, file.n_rows) == ("logits", {*NAMES}, N)
    method, options = key.partition(".")[0], {"penalty": "l2"} if "." in key else {}
    calibrator = next(one for one in CATALOGUE if one.key == method).make(**options)
    assert isinstance(calibrator, VectorMap)
    whole = calibrator.fit(rows.logits, rows.labels).predict_proba(rows.logits)
    np.testing.assert_allclose(applied(file, rows), whole, atol=1e-6)


def test_rows_count_as_often_as_a_column_says(logs: Path, rows: LogitSet, tmp_path: Path) -> None:
    out, times = tmp_path / "c.json", np.arange(N) % 3
    run("fit", logs, *COLUMNS, "--count", "n", "--calibrator", "vector", "--engine", "here",
        "--out", out)  # fmt: skip
    file = CalibratorFile.from_json(out.read_text("utf-8"))
    repeated = np.repeat(np.arange(N), times)
    whole = VectorScaling().fit(rows.logits[repeated], rows.labels[repeated])
    np.testing.assert_allclose(applied(file, rows), whole.predict_proba(rows.logits), atol=1e-6)
    assert file.n_rows == times.sum()


@pytest.mark.parametrize(("name", "event"), EVENTS)
def test_a_calibrator_is_applied_before_the_event_is_counted(
    logs: Path, rows: LogitSet, tmp_path: Path, name: str, event: Event
) -> None:
    out, counted = tmp_path / "c.json", tmp_path / "after.parquet"
    run("fit", logs, *COLUMNS, "--calibrator", "vector", "--engine", "here", "--out", out)
    done = run("summarise", logs, *COLUMNS, "--event", name, "--with", out, "-o", counted)
    assert done.exit_code == 0, done.stderr
    whole = VectorScaling().fit(rows.logits, rows.labels).predict_proba(rows.logits)
    wanted = event.outcomes(whole, rows.labels)
    summary = read_summaries([counted]).whole
    assert summary.rows.sum() == N
    sums = (summary.scores @ summary.rows, summary.scores @ summary.events, summary.n_events)
    assert sums == pytest.approx(
        (wanted.scores.sum(), wanted.scores @ wanted.hits, wanted.hits.sum()), abs=1e-3
    )
    given = *COLUMNS, "--event", name, "--with", out, "--resamples", "0"
    audited = run("audit", logs, *given, "--json", tmp_path / "a.json")
    assert audited.exit_code == 0, audited.stderr
    report = json.loads((tmp_path / "a.json").read_text("utf-8"))
    brier = np.mean((wanted.scores - wanted.hits) ** 2)
    measure = next(one for one in report["measures"] if one["measure"] == "event_brier")
    assert measure["before"] == pytest.approx(brier, abs=1e-5)
    assert "--with c.json" in str(report)


def test_a_calibrator_of_one_score_is_fitted_and_applied_too(
    logs: Path, rows: LogitSet, tmp_path: Path
) -> None:
    """Of a column of scores, or of the event of classes, once it is counted."""
    out, counted = tmp_path / "c.json", tmp_path / "after.parquet"
    wanted = OneClass(2).outcomes(rows.probabilities, rows.labels)
    single = tmp_path / "single.parquet"
    pq.write_table(pa.table({"p": wanted.scores, "y": wanted.hits}), single)
    of_score = single, "--score", "p", "--outcome", "y"
    of_classes = logs, *COLUMNS, "--event", "owl"
    whole = PlattScaling().fit(wanted.scores, wanted.hits).predict(wanted.scores)
    for given in (of_score, of_classes):
        done = run("fit", *given, "--calibrator", "platt", "--engine", "here", "--out", out)
        assert done.exit_code == 0, done.stderr
        run("summarise", *of_score, "--with", out, "-o", counted)
        summary = read_summaries([counted]).whole
        assert summary.scores @ summary.rows == pytest.approx(whole.sum(), abs=1e-4)
    other = run("summarise", *of_classes, "--with", out, "-o", counted)
    assert "With: a calibrator of scores. Expected one of logits of" in other.stderr


@pytest.mark.parametrize(
    ("command", "words", "text"),
    [
        ("fit", ("--calibrator", "structured_vector"), "not fitted in batches"),
        ("fit", ("--calibrator", "matrix"), "not fitted in batches. Expected temperature"),
        ("fit", ("--calibrator", "vector", "--group", "n"), "Group: 'n'"),
        (
            "summarise",
            ("--values", "probabilities", "--with", "c.json"),
            "With: a calibrator of logits of",
        ),
        ("summarise", ("--with", "no.json"), "Calibrator: no JSON"),
    ],
)
def test_what_cannot_be_fitted_or_applied_is_refused_in_a_sentence(
    logs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    words: tuple[str, ...],
    text: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    run("fit", logs, *COLUMNS, "--calibrator", "temperature", "--engine", "here", "--out", "c.json")
    (tmp_path / "no.json").write_text("{", "utf-8")
    engine = ("--engine", "here")
    refused = run(command, logs, *COLUMNS, *engine, *words, "--out", f"o.{ENDINGS[command]}")
    assert (refused.exit_code, text in refused.stderr) == (2, True), refused.stderr
