"""Files in which something could go wrong in silence: read rightly, asked about, or refused.

Each kind is a table of `Case`; another kind is another table in `KINDS`.
"""

import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from calibcore.data import LogitSet
from dashboard.readers import FileError, Options, Question, Upload, read
from tests.readers.test_xlsx import of_rows

Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Expect:
    """What a file should come to.

    Parameters
    ----------
    asks : tuple of str
        A pattern in each question, in their order; the first answer of each is given.
    rows, events : int
        Of the set that is read; events are the rows of the last class.
    score : str
        The column of the score, where that may go wrong.
    says : tuple of str
        Patterns, each in a sentence about the file.
    refused : str
        A pattern in the refusal.
    groups : tuple of str
        The columns to group by, where that may go wrong.
    """

    asks: tuple[str, ...] = ()
    rows: int = 0
    events: int | None = None
    score: str = ""
    says: tuple[str, ...] = ()
    refused: str = ""
    groups: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Case:
    """A file of a kind, made when it is read; its ending picks the format."""

    kind: str
    name: str
    make: Callable[[], bytes]
    expect: Expect


# Rows and how programs write them -------------------------------------------------------------

N, EVENTS = 120, 53
_DRAWN = np.random.default_rng(33)
RISK = [round(float(p), 4) for p in _DRAWN.beta(2, 2.4, N)]
_ORDER = np.argsort(np.asarray(RISK) + _DRAWN.normal(0, 0.25, N))
Y = [int(k in _ORDER[-EVENTS:]) for k in range(N)]
"""The event in the rows of the highest noisy scores."""

MARKER = [round(float(z), 3) for z in np.asarray(Y) + _DRAWN.normal(0, 1.2, N)]
IDS = [f"P-{k:04d}" for k in range(N)]


def of_words(no: str, yes: str, other: Mapping[int, Any] | None = None) -> list[Any]:
    """Return the outcome in words, and in some rows something else."""
    return [(other or {}).get(k, yes if y else no) for k, y in enumerate(Y)]


def csv(columns: Columns, sep: str = ",", *, comma: bool = False, below: str = "") -> bytes:
    """Write a text table, None as a blank cell, and lines below it."""
    lines = [sep.join(columns)]
    for row in zip(*columns.values(), strict=True):
        cells = ["" if cell is None else str(cell) for cell in row]
        lines.append(sep.join(c.replace(".", ",") if comma else c for c in cells))
    return ("\n".join(lines) + "\n" + below).encode()


def xlsx(columns: Columns, *below: Sequence[Any]) -> bytes:
    """Write a sheet as a spreadsheet program does, and rows below the table."""
    rows = [[*columns], *map(list, zip(*columns.values(), strict=True)), *map(list, below)]
    return of_rows(rows)


def parquet_of(columns: Columns) -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(pa.table({name: list(cells) for name, cells in columns.items()}), buffer)
    return buffer.getvalue()


def records(columns: Columns) -> bytes:
    rows = zip(*columns.values(), strict=True)
    return json.dumps([dict(zip(columns, row, strict=True)) for row in rows]).encode()


def with_row(columns: Columns, *row: Any) -> dict[str, list[Any]]:
    """Add a row at the end."""
    return {n: [*cells, cell] for (n, cells), cell in zip(columns.items(), row, strict=True)}


# Rows about the table -------------------------------------------------------------------------

LOANS: Columns = {"account": IDS, "PD": RISK, "default": Y}
WORDED: Columns = {**LOANS, "default": of_words("N", "Y")}
WHOLE = Expect(rows=N, events=EVENTS, score="PD", says=("below the data left out",))


def _total(name: str, make: Callable[[], bytes], expect: Expect = WHOLE) -> Case:
    return Case("rows about the table", name, make, expect)


TOTALS = (
    _total("total.csv", lambda: csv(LOANS, below="Total,0.43,53\n")),
    _total("grand-total.csv", lambda: csv(LOANS, below="Mean,0.43,0.44\nGrand Total:,51.9,53\n")),
    _total("summe.csv", lambda: csv(LOANS, ";", comma=True, below="\nSumme;51,9;53\n")),
    _total("moyenne.tsv", lambda: csv(WORDED, "\t", below="Moyenne\t0.43\t\n")),
    _total("n.csv", lambda: csv(LOANS, below="N = 120,,\n")),
    _total("sql-server.csv", lambda: csv(WORDED, below="\n(120 rows affected),,\n")),
    _total("merged.xlsx", lambda: xlsx(WORDED, ["Total", 0.43, 53])),
    _total("count.xlsx", lambda: xlsx(LOANS, ["Count", 120, 120], ["Average", 0.43, 0.44])),
    _total("total.parquet", lambda: parquet_of(with_row(LOANS, "TOTAL", 51.9, 53))),
    _total("gesamt.json", lambda: records(with_row(WORDED, "Gesamt", 0.43, "53"))),
    _total("numbers.csv", lambda: csv({**LOANS, "account": range(N)}, below="Total,51.9,53\n")),
    _total("row-names.csv", lambda: csv(
        {"": range(N), **WORDED}, below="120,Totals (n=120),51.9,53\n",
    )),
    _total("category.csv", lambda: csv({"riesgo": ["alta", "baja", "media"] * 40, **LOANS}),
           Expect(rows=N, events=EVENTS, score="PD")),
    _total("two-cells.csv", lambda: csv(LOANS, below="Total,53\n"),
           Expect(asks=("1 with too few",), rows=N, events=EVENTS)),
)  # fmt: skip


KINDS: tuple[tuple[Case, ...], ...] = (TOTALS,)


# How they are read ----------------------------------------------------------------------------


def answered(case: Case) -> tuple[Upload | FileError, list[str]]:
    """Read a file, give the first answer to each question, and list what was asked."""
    options, asked = Options(), []
    data = case.make()
    for _ in range(5):
        choices = {name: getattr(options, name) for name in vars(options)}
        try:
            upload = read(case.name, data, **choices)
            upload.split()
        except Question as question:
            asked.append(f"{question.field}: {question.found}. {question.ask}")
            options = replace(options, **question.answers[0].change)
        except FileError as error:
            return error, asked
        else:
            return upload, asked
    raise AssertionError(asked)


def score_of(upload: Upload) -> str:
    preview = upload.preview
    return preview.headings[preview.roles.index("score")] if "score" in preview.roles else ""


@pytest.mark.parametrize("case", [c for kind in KINDS for c in kind], ids=lambda c: c.name)
def test_nothing_goes_wrong_in_silence(case: Case) -> None:
    expect = case.expect
    outcome, asked = answered(case)
    assert len(asked) == len(expect.asks), asked or str(outcome)
    assert all(map(re.search, expect.asks, asked)), asked
    if isinstance(outcome, FileError):
        assert expect.refused, str(outcome)
        assert re.search(expect.refused, str(outcome)), str(outcome)
        return
    assert not expect.refused
    (rows,) = outcome.sets.values()
    assert rows.n_samples == expect.rows
    hits = rows.labels == rows.n_classes - 1 if isinstance(rows, LogitSet) else rows.hits
    assert expect.events is None or int(np.sum(hits)) == expect.events
    assert not expect.score or score_of(outcome) == expect.score
    said = (*outcome.found, *outcome.repairs, *outcome.doubts, *outcome.missing)
    for pattern in expect.says:
        assert re.search(pattern, " ".join(said)), said
    if expect.groups is not None:
        assert tuple(outcome.columns["rows"]) == expect.groups
