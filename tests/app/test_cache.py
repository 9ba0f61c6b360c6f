"""What is kept of results: the latest of each kind, and as many bytes of all as there is room."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from dashboard.compute import cache
from dashboard.compute.cache import arrays_of, forget, is_known, once


@dataclass
class Rows:
    scores: np.ndarray
    parts: tuple[object, ...] = ()


@pytest.fixture(autouse=True)
def _empty() -> None:
    forget()


def test_a_result_is_made_once_and_the_oldest_of_its_kind_goes() -> None:
    made: list[int] = []

    def make(key: int) -> int:
        made.append(key)
        return key

    for key in (1, 2, 1, 3, 1, 2):
        assert once("numbers", key, partial(make, key), most=2) == key
    assert made == [1, 2, 3, 2]  # 1 was asked for again, so 2 was the oldest
    once("others", 9, lambda: 9, most=1)
    assert is_known("numbers", 1)
    assert is_known("numbers", 2)
    assert not is_known("numbers", 3)


def test_shared_arrays_count_once_and_views_as_what_they_are_of() -> None:
    table = np.zeros(1000)
    nested = Rows(table[10:], ({"a": table}, [Rows(np.ones(10))], "text", None))
    assert sum(arrays_of(nested).values()) == 8000 + 80


def test_beyond_the_bytes_the_oldest_goes_unless_it_is_in_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cache, "MOST_BYTES", 20_000)
    shared = np.zeros(1000)
    for key in range(4):  # 8,000 bytes that all share, and 4,000 of each
        once("rows", key, lambda: Rows(shared, (np.ones(500),)))
    assert all(is_known("rows", key) for key in range(4))  # all were asked for just now
    monkeypatch.setattr(cache, "IN_USE", 0.0)
    once("rows", 4, lambda: Rows(shared, (np.ones(500),)))
    assert [is_known("rows", key) for key in range(5)] == [False, False, True, True, True]
    once("rows", 5, lambda: Rows(np.zeros(10_000)))  # more than there is room for
    assert [is_known("rows", key) for key in range(6)] == [False] * 6
