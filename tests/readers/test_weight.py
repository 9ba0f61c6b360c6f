"""What a file takes in memory is counted before the sets are made, and bounded by its size."""

import io
import tracemalloc
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dashboard.readers import FileError, Options, contents, parse, read, understand
from dashboard.readers.contents import Contents, RawEvent, RawSet, SliceColumn
from dashboard.readers.weight import check_weight, weight_of
from tests.readers.files import HEADER, LABELS, LOGITS, csv_of, npy, npz, pickled
from tests.readers.test_xlsx import ROWS, of_rows

N = 400_000
RNG = np.random.default_rng(0)
SCORES = RNG.integers(0, 1000, N) / 1000
HITS = (RNG.random(N) < SCORES).astype(np.int8)
SETS = pa.array(np.array(["val", "test"])[RNG.integers(0, 2, N)]).dictionary_encode()
TWO = {"p0": 1 - SCORES, "p1": SCORES}
MB = 1 << 20


def parquet(columns: Mapping[str, Any]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "columns",
    [
        {"score": SCORES, "label": HITS},
        {"score": SCORES.astype(np.float32), "label": HITS},
        {**{name: 100 * values for name, values in TWO.items()}, "label": HITS, "split": SETS},
        {"score": SCORES, "label": HITS, "split": SETS, "age": HITS * np.int8(40)},
        {**TWO, "label": HITS},
        {**TWO, "label": HITS, "split": SETS},
        {name: values.astype(np.float32) for name, values in TWO.items()} | {"label": HITS},
        {"z0": -SCORES, "z1": 5 * SCORES, "label": HITS.astype(np.int64)},
        {"z0": (-9 * SCORES).astype(np.int8), "z1": (99 * SCORES).astype(np.int8), "label": HITS},
        {"confidence": SCORES, "correct": HITS},
    ],
)
def test_what_is_counted_is_what_is_taken(columns: Mapping[str, Any]) -> None:
    data = parquet(columns)
    read("a.parquet", data)  # what libraries keep is there already
    tracemalloc.start()
    try:
        parsed = parse("a.parquet", data, Options())
        tracemalloc.reset_peak()
        understand("a.parquet", "0", Options(), parsed)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - 12 * MB < weight_of(parsed) < 1.3 * peak


def test_by_hand() -> None:
    scores, labels = np.linspace(0, 1, 100), np.arange(100, dtype=np.int8) % 2
    ages = SliceColumn("age", np.arange(100, dtype=np.float32))
    one = Contents({"rows": RawSet(scores, labels, columns=(ages,))})
    # Scores, labels and ages; two columns of scores and labels as they are computed with; marks.
    assert weight_of(one) == 100 * (8 + 1 + 4 + 16 + 8 + 3)
    logits = np.tile(np.array([-3, 5], dtype=np.float32), (100, 1))
    kept = RawSet(logits[:, :1].repeat(2, axis=1), labels)
    assert weight_of(Contents({"rows": kept})) == 100 * (8 + 1 + 8 + 3)
    assert weight_of(Contents({"rows": RawEvent(scores, labels == 1)})) == 100 * (8 + 1 + 8 + 3)
    halves = Contents({"calibration": kept, "test": kept})
    assert weight_of(halves) == 100 * (8 + 1) + 200 * (8 + 3 + 1)


def test_refused_above_four_times_the_file_and_its_share_of_256_mb() -> None:
    table = np.zeros((6_000_000, 3), dtype=np.int8)
    parsed = Contents({"rows": RawSet(table, np.zeros(6_000_000, dtype=np.int8))})
    weight = 6_000_000 * (3 + 1 + 24 + 8 + 3)
    assert weight_of(parsed) == weight
    least = (weight - (256 - 44) * MB + 3) // 4
    check_weight(parsed, least)
    with pytest.raises(FileError, match="6,000,000 rows, 223 MB once they are numbers to compute"):
        check_weight(parsed, least - 1)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.npz", npz(logits=LOGITS, labels=LABELS)),
        ("a.npy", npy(LOGITS)),
        ("a.pkl", pickled((LOGITS, LABELS))),
        ("a.parquet", parquet({**{f"z{k}": LOGITS[:, k] for k in range(4)}, "label": LABELS})),
        ("a.csv", csv_of(LOGITS, LABELS, header=HEADER)),
        ("a.xlsx", of_rows(ROWS)),
    ],
)
def test_one_limit_on_rows(name: str, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "MAX_ROWS", len(LABELS))
    read(name, data)
    monkeypatch.setattr(contents, "MAX_ROWS", len(LABELS) - 1)
    with pytest.raises(FileError, match=f"at most {len(LABELS) - 1}"):
        read(name, data)
