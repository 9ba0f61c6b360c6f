"""What a file costs the server once it is parsed: work by class and by column, counted."""

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

from dashboard.readers import ParsedFile, ReadingOptions, parse, read, understand
from dashboard.readers.recognition import features
from dashboard.readers.recognition.vocabulary import folded
from dashboard.readers.refusal import FileError
from tests.readers.files import npz


def classes(n: int) -> bytes:
    rng = np.random.default_rng(0)
    names = np.array([f"of {n} class {k}" for k in range(n)])
    logits = rng.normal(size=(40, n)).astype(np.float32)
    return npz(logits=logits, labels=rng.integers(0, n, 40), class_names=names)


def columns(n: int) -> bytes:
    rng = np.random.default_rng(0)
    heads = [*(f"c{k}" for k in range(n)), "score", "outcome"]
    rows = rng.random((40, n + 2)).round(4).astype(str)
    rows[:, -1] = rng.integers(0, 2, 40).astype(str)
    return "\n".join(map(",".join, [heads, *rows.tolist()])).encode()


def calls_of(name: str, data: bytes) -> int:
    """Count the functions of Python that are called until a parsed file is understood."""
    file, count = ParsedFile(name, "0" * 64, parse(name, data, header=None)), 0

    def see(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        with suppress(FileError):
            understand([file], ReadingOptions())
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize(
    ("name", "make", "few", "most"),
    [("a.npz", classes, 4_000, 6), ("a.csv", columns, 1_000, 400)],
)
def test_a_further_class_or_column_costs_few_calls(
    name: str, make: Callable[[int], bytes], few: int, most: int
) -> None:
    calls_of(name, make(200))  # what is imported at first
    once, twice = (calls_of(name, make(n)) for n in (few, 2 * few))
    assert 0 < (twice - once) / few <= most


def test_texts_that_differ_are_compared_up_to_a_number_in_all_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [[f"of {row} in {column}" for column in range(60)] for row in range(400)]
    data = "\n".join(map(",".join, [[f"c{k}" for k in range(60)], *rows])).encode()
    folded.cache_clear()
    whole = calls_of("a.csv", data)
    monkeypatch.setattr(features, "_MOST_FOLDED", 600)
    folded.cache_clear()
    assert calls_of("a.csv", data) < whole - 10_000


def patients_behind(n: int) -> bytes:
    """Write 200 rows of 50 patients, whose column stands behind ``n`` columns of ids."""
    rng = np.random.default_rng(0)
    score = rng.random(200).round(4)
    table: dict[str, list[str]] = {
        **{f"case{k}_id": [f"c{k}-{v}" for v in rng.permutation(200)] for k in range(n)},
        "patient_id": [f"p{v:03d}" for v in rng.permutation(np.repeat(np.arange(50), 4))],
        "score": score.astype(str).tolist(),
        "outcome": (rng.random(200) < score).astype(int).astype(str).tolist(),
    }
    rows = zip(*table.values(), strict=True)
    return "\n".join(map(",".join, [[*table], *rows])).encode()


@pytest.mark.parametrize(("n", "seen"), [(0, 1), (63, 1), (64, 0)])
def test_so_many_columns_of_ids_are_looked_at_as_the_page_on_safety_says(n: int, seen: int) -> None:
    result = read("a.csv", patients_behind(n))
    assert sum("200 rows of 50 patients" in doubt for doubt in result.doubts) == seen
    page = (Path(__file__).parents[2] / "docs" / "security.md").read_text("utf-8")
    assert "of columns of ids, the first 64 of a table" in " ".join(page.split())
