"""Numbers that are kept small come back bit by bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.readers import FileError, contents, read
from dashboard.readers.columns.packed import Packed

ANY = st.floats(allow_nan=True, allow_infinity=True)
DECIMALS = st.integers(-(10**12), 10**12).flatmap(
    lambda whole: st.integers(0, 10).map(lambda places: float(f"{whole}e-{places}"))
)
LIMITS = st.sampled_from([-0.0, 2.0**31, -(2.0**31), 127, 128, -128, -129, 32768, -32769, 5e-324])


@given(st.lists(st.lists(ANY | DECIMALS | LIMITS, max_size=40), max_size=5), st.booleans())
def test_any_numbers(blocks: list[list[float]], as_arrays: bool) -> None:  # noqa: FBT001
    packed, times = Packed(), 2000
    for block in blocks:
        many = block * times
        if as_arrays:
            packed.add(np.array(many, dtype=float))
        else:
            packed.take(many)
        packed.take(block)
    wanted = np.array([v for block in blocks for v in block * (times + 1)], dtype=float)
    assert len(packed) == len(wanted)
    np.testing.assert_array_equal(packed.whole().view(np.int64), wanted.view(np.int64))
    assert len(packed) == len(wanted)


@pytest.mark.parametrize(("decimals", "most"), [(0, 1), (2, 2), (4, 4), (6, 4)])
def test_decimals_of_few_digits_are_small(decimals: int, most: int) -> None:
    rng = np.random.default_rng(3)
    packed = Packed()
    packed.add(np.array([float(f"{v:.{decimals}f}") for v in 3 * rng.normal(size=200_000)]))
    weight = sum(p.whole.nbytes + p.places.nbytes + p.others.nbytes for p in packed.parts)
    assert weight < (most + 0.8) * 200_000


def test_texts_leave_what_was_there() -> None:
    packed = Packed()
    packed.take([1.0])
    with pytest.raises(TypeError):
        packed.take([2.0, "x"])  # type: ignore[list-item]
    assert packed.whole().tolist() == [1]


ROWS = {
    "a.csv": b"score,label\n" + b"0.5,1\n0.25,0\n" * 50,
    "quoted.csv": b"score,label\n" + b'"0.5",1\n"0.25",0\n' * 50,
    "lists.csv": b"probs,label\n" + b'"[0.5, 0.5]",1\n"[0.25, 0.75]",0\n' * 50,
    "columns.json": b'{"score": [' + b"0.5," * 99 + b'1], "label": [' + b"1,0," * 49 + b"0, 1]}",
    "rows.json": b"[" + b"[0.5, 1], " * 99 + b"[0.5, 0]]",
    "lines.jsonl": b'{"score": 0.5, "label": 1}\n{"score": 0.25, "label": 0}\n' * 50,
    "lists.jsonl": b"[0.5, 1]\n[0.25, 0]\n" * 50,
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_are_bounded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "MAX_ROWS", 100)
    read(name, ROWS[name])
    monkeypatch.setattr(contents, "MAX_ROWS", 99)
    with pytest.raises(FileError, match="file: found 100 rows, wanted at most 99"):
        read(name, ROWS[name])
