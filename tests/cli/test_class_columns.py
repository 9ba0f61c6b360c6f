"""Files with the scores of every class, a column each, are counted by the score of one event."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcore import LogitSet, OneClass, TopR, WithinTopR
from calibcore.events import Event
from calibcore.summary import Summary
from dashboard import counting
from dashboard.class_columns import ClassColumns
from dashboard.counting import Columns, summarise
from tests.cli.conftest import run

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
        found = summarise(sorted(logs.iterdir()), columns, lambda _: None)
        np.testing.assert_allclose(
            counts(found), counts(Summary.of(wanted.scores, wanted.hits)), rtol=1e-13
        )


def test_numbers_of_equal_rows_and_groups_are_counted_beside_it(logs: Path, rows: LogitSet) -> None:
    wanted = TopR(1).outcomes(rows.probabilities, rows.labels)
    times = np.arange(N) % 3
    columns = Columns("s_*", "label", ("n",), "n", ClassColumns("logits"))
    found = summarise(sorted(logs.iterdir()), columns, lambda _: None)
    repeated = Summary.of(np.repeat(wanted.scores, times), np.repeat(wanted.hits, times))
    np.testing.assert_allclose(counts(found.whole), counts(repeated), rtol=1e-13)


def test_numbered_classes_are_named_by_the_columns(tmp_path: Path) -> None:
    table = pa.table({"x1": [0.9, 0.2], "x2": [0.1, 0.8], "y": [1, 1]})
    pq.write_table(table, tmp_path / "a.parquet")
    found = summarise(
        [tmp_path / "a.parquet"], Columns("x*", "y", classes=ClassColumns()), lambda _: None
    )
    assert counts(found) == [(0.8, 1, 0), (0.9, 1, 1)]


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
    ("options", "said"),
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
    logs: Path, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    given = {"--score": "s_*", "--outcome": "label", "--values": "logits", "--event": "top-1"}
    given |= {options[0]: options[1]}
    words = [word for pair in given.items() for word in pair]
    found = run("summarise", logs, *words, "-o", tmp_path / "a.parquet")
    assert (found.exit_code, said in found.stderr) == (2, True), found.stderr


def test_files_of_other_classes_and_what_is_not_said_are_refused(
    logs: Path, tmp_path: Path
) -> None:
    given = "--score", "s_*", "--outcome", "label", "-o", tmp_path / "a.parquet"
    found = run("summarise", logs, *given)
    assert "Values: nothing said. Expected logits or probabilities" in found.stderr
    one = pq.read_table(logs / "1.parquet").drop_columns(["s_owl"])
    pq.write_table(one, logs / "1.parquet")
    found = run("summarise", logs, *given, "--values", "logits")
    assert "Score: other classes in 1.parquet than in 0.parquet" in found.stderr
