"""What holds of every format: how many rows are read, and which numbers are looked through."""

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dashboard.readers import FileError, read
from dashboard.readers import records as contents
from tests.readers.files import GOOD, LABELS, LOGITS, N, npz


def parquet(columns: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


FILES = GOOD | {
    "a.parquet": parquet({**{f"z{k}": LOGITS[:, k] for k in range(4)}, "label": LABELS}),
    "columns.json": b'{"score": [' + b"0.5, " * 39 + b'1], "label": [' + b"1, 0, " * 19 + b"0, 1]}",
    "rows.json": b"[" + b"[0.5, 1], " * 39 + b"[0.5, 0]]",
    "lines.jsonl": b'{"score": 0.5, "label": 1}\n{"score": 0.25, "label": 0}\n' * 20,
    "lists.jsonl": b"[0.5, 1]\n[0.25, 0]\n" * 20,
    "quoted.csv": b"score,label\n" + b'"0.5",1\n"0.25",0\n' * 20,
}


@pytest.mark.parametrize("name", sorted(FILES))
def test_rows_are_bounded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "MAX_ROWS", N)
    read(name, FILES[name])
    monkeypatch.setattr(contents, "MAX_ROWS", N - 1)
    with pytest.raises(FileError, match=f"file: {N} rows. Expected at most {N - 1}"):
        read(name, FILES[name])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_half_precision_is_looked_through(bad: float) -> None:
    table = np.round(LOGITS, 1).astype(np.float16)
    table[7, 1] = bad
    with pytest.raises(FileError, match=r"in 1 row \(row 8\)"):
        read("a.npz", npz(logits=table, labels=LABELS))
