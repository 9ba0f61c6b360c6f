"""What is kept of results: the latest of each kind, within the bytes of all, and for whom."""

import gc
import io
import sys
import threading
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pytest

from calibcore import AuditResult
from calibcore.evaluation import SetResult
from dashboard.compute import cache, memory
from dashboard.compute.cache import forget, is_known, leave, once, once_going_on
from dashboard.compute.memory import bytes_of, sizes_of, sweep
from dashboard.readers import read
from tests.app.pages import open_page
from tests.marks import first_and_long


@dataclass
class Rows:
    scores: np.ndarray
    parts: tuple[object, ...] = ()


@pytest.fixture(autouse=True)
def _empty() -> Iterator[None]:
    forget()
    yield
    cache.bound(memory.budget())


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


def n_bytes(made: object) -> int:
    return sum(sizes_of(made).values())


def test_a_result_that_another_thread_drops_is_still_returned() -> None:
    interval, failures = sys.getswitchinterval(), list[BaseException]()

    def ask(start: int) -> None:
        try:
            for key in range(start, start + 1500):
                assert once("contended", key % 3, partial(int, key % 3), most=1) == key % 3
        except BaseException as error:  # noqa: BLE001 - threads have no other way
            failures.append(error)

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(4)]
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not failures


def test_of_probabilities_that_are_scaled_one_table_stays_and_their_first_rows_are_shown() -> None:
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.ones(10), 2000).round(4)  # rounded rows do not sum to 1
    file = io.StringIO()
    np.savetxt(file, np.column_stack([table, table.argmax(axis=1)]), fmt="%g", delimiter=",")
    heading = ",".join([*(f"p_{k}" for k in range(10)), "label"])
    upload = read("probabilities.csv", f"{heading}\n{file.getvalue()}".encode())
    assert upload.rows is not None
    table_bytes = upload.rows.n_samples * 10 * 8
    assert table_bytes < n_bytes(upload) < 1.9 * table_bytes
    assert upload.preview.rows[0][1] == f"{table[0, 0]:g}"  # after the label


def test_shared_arrays_count_once_and_views_as_what_they_are_of() -> None:
    table = np.zeros(1000)
    nested = Rows(table[10:], ([table], [Rows(np.ones(10))], None))
    assert n_bytes(nested) == 8080
    assert n_bytes([table, table[:5], partial(len, table), lambda: table]) == 8000


def test_texts_arrow_and_pandas_count_as_what_they_take() -> None:
    texts = tuple(f"patient {k}" for k in range(5000))
    assert n_bytes([texts]) == sys.getsizeof(texts) + sum(map(sys.getsizeof, texts))
    assert n_bytes({1: list(texts[:3])}) == sum(map(sys.getsizeof, texts[:3]))
    column = pa.array(range(1000), pa.int64())
    assert n_bytes([column]) == 8000
    frame = pd.DataFrame({"score": np.zeros(1000)}, index=pd.Index(np.arange(1000)))
    assert n_bytes([frame]) == 16_000


@pytest.mark.parametrize(
    ("text", "size"), [("4GB", 4 * 10**9), ("500mb", 5 * 10**8), ("1.5 G", 1.5e9), ("70", 70)]
)
def test_sizes_are_read(text: str, size: int) -> None:
    assert bytes_of(text) == size


@pytest.mark.parametrize("text", ["", "GB", "-1", "0", "4QB", "nan", "infinity"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="Expected a size such as 500MB"):
        bytes_of(text)


def test_the_budget_is_the_option_or_a_quarter_of_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(memory.MEMORY, raising=False)
    assert 0 < memory.budget() <= psutil.virtual_memory().total // 4
    monkeypatch.setenv(memory.MEMORY, "3 MB")
    assert memory.budget() == 3_000_000


def test_beyond_the_bytes_the_oldest_goes_unless_it_is_in_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cache.bound(20_000)
    shared = np.zeros(1000)
    for key in range(4):  # 8,000 bytes that all share, and 4,000 of each
        once("rows", key, lambda: [shared, np.ones(500)])
    assert all(is_known("rows", key) for key in range(4))  # all were asked for just now
    monkeypatch.setattr(cache, "IN_USE", 0.0)
    once("rows", 4, lambda: [shared, np.ones(500)])
    assert [is_known("rows", key) for key in range(5)] == [False, False, True, True, True]
    once("rows", 5, lambda: np.zeros(10_000))  # more than there is room for
    assert [is_known("rows", key) for key in range(6)] == [False] * 6


class Curve:
    @cached_property
    def points(self) -> np.ndarray:
        return np.zeros(10_000)


def test_what_a_result_has_grown_by_counts_from_the_next_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cache, "IN_USE", 0.0)
    curve = once("curves", 1, Curve)
    assert len(curve.points) == 10_000
    cache.bound(100_000)
    assert is_known("curves", 1)
    cache.bound(79_000)
    assert not is_known("curves", 1)


@pytest.fixture
def visits(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str | None]]:
    """Give whose run it is."""
    whose: list[str | None] = [None]
    monkeypatch.setattr(cache, "who_visits", lambda: whose[0])
    yield whose
    whose[0] = None
    forget()


def asked_by(visits: list[str | None], *asked: tuple[str | None, int]) -> None:
    for visits[0], key in asked:
        once("rows", key, lambda: 0)


def test_results_of_a_visitors_files_leave_with_the_last_who_has_them(
    visits: list[str | None],
) -> None:
    asked_by(visits, ("ann", 1), ("ann", 2), ("ben", 2), (None, 3), ("ann", 3))
    assert cache.visitors() == {"ann", "ben"}
    leave("ann")
    assert [is_known("rows", key) for key in (1, 2, 3)] == [False, True, True]
    leave("ben")
    assert [is_known("rows", key) for key in (1, 2, 3)] == [False, False, True]
    assert cache.visitors() == set()


def test_who_forgets_drops_their_own_alone(visits: list[str | None]) -> None:
    asked_by(visits, ("ann", 1), ("ben", 2), ("ben", 1), (None, 3), ("ann", 1))
    forget()
    assert [is_known("rows", key) for key in (1, 2, 3)] == [False, True, True]


def test_work_in_a_thread_of_its_own_is_for_the_visitor_who_asked(visits: list[str | None]) -> None:
    visits[0] = "ann"
    within = once_going_on("long", 1, lambda _: once("part", 1, lambda: 7), lambda _: None)
    assert within == 7
    leave("ann")
    assert not is_known("long", 1)
    assert not is_known("part", 1)


def test_what_was_frozen_with_the_imports_is_freed_once_nobody_holds_it() -> None:
    circle = Rows(np.zeros(1))
    circle.parts = (circle,)
    still_there = weakref.ref(circle)
    gc.collect()
    gc.freeze()
    del circle
    gc.collect()
    assert still_there() is not None
    sweep()
    assert still_there() is None


def test_nothing_is_begun_for_a_visitor_who_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    class LeftError(BaseException):
        pass

    def leave_the_run() -> None:
        raise LeftError

    assert once("numbers", "at hand", lambda: 1) == 1
    monkeypatch.setattr(cache, "go_on", leave_the_run)
    assert once("numbers", "at hand", lambda: 2) == 1
    with pytest.raises(LeftError):
        once("numbers", "not at hand", lambda: 3)
    assert not is_known("numbers", "not at hand")


@pytest.mark.parametrize("path", first_and_long(["overview", "ks"]))
def test_an_open_page_holds_no_result_that_is_no_longer_kept(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So memory comes back while tabs are open, and what is looked at is computed again.

    A server keeps what makes a file until it is asked for, which pages without a browser do not.
    """
    files: list[object] = []
    monkeypatch.setattr("streamlit.download_button", lambda _, data, **__: files.append(data))
    gc.collect()
    kinds = AuditResult, SetResult
    before = {id(one) for one in gc.get_objects() if isinstance(one, kinds)}
    page = open_page(path, sample="three_garments", method="temperature", resamples="20")
    assert not page.exception
    results = [
        weakref.ref(one)
        for one in gc.get_objects()
        if isinstance(one, kinds) and id(one) not in before
    ]
    assert results
    forget()
    gc.collect()
    assert [one for one in results if one() is not None] == []
    assert path != "overview" or files
    assert not page.run().exception
