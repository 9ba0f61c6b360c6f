"""The process that parses files: what it answers, and what happens when it does not."""

# ruff: noqa: SLF001, ARG001 - the waiting process is not public, and the fixture replaces it

import errno
import io
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from benchmarks.any_files import seeds
from calibcore.summary import GroupedSummary
from dashboard.readers import parse
from dashboard.readers import worker as process
from dashboard.readers.limits import Limits, limits_for, system_bounds_memory
from dashboard.readers.records import Arrays, Body, Column, FileTable, Odd, Texts
from dashboard.readers.refusal import FileError
from dashboard.readers.worker import parse_apart, read_parsed, write_parsed, write_refusal
from dashboard.summaries import summary_of_table
from dashboard.summary_file import write_summary

CSV = b"cat,dog,label\n2.5,-1,cat\n0.5,1,dog\n"
HEAD = "import sys; out = sys.stdout.buffer; "
TEXTS = st.lists(st.text(max_size=5), min_size=1, max_size=4, unique=True).map(tuple)
NUMBERS = hnp.arrays(
    st.sampled_from(["?", "i1", "<i4", "u8", "<f2", "f4", "f8", ">f8"]),
    hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4),
)


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[process.Workers]:
    """Keep workers of its own, and end the one that waits."""
    own = process.Workers()
    monkeypatch.setattr(process, "WORKERS", own)
    yield own
    deadline = time.monotonic() + 10
    while any(t.name.endswith("(prepare)") for t in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    own.end()


def _reader(data: bytes) -> Callable[[memoryview], None]:
    return process._reader(io.BytesIO(data))


def _same(one: object, other: object) -> bool:
    """Compare nouns and their arrays."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and np.array_equal(
            one, other, equal_nan=one.dtype.kind == "f"
        )
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, (FileTable, Arrays, Column, Odd)):
        return type(one) is type(other) and _same(
            tuple(vars(one).values()), tuple(vars(other).values())
        )
    return one == other


@st.composite
def _columns(draw: st.DrawFn, n_rows: int = 3) -> Column:
    name = draw(st.text(max_size=5))
    if draw(st.booleans()):
        texts = draw(TEXTS)
        codes = draw(hnp.arrays("<i4", n_rows, elements=st.integers(0, len(texts) - 1)))
        return Column(name, codes, texts)
    numbers = draw(NUMBERS)
    values = np.resize(numbers, (n_rows, *numbers.shape[1:])) if numbers.size else np.zeros(n_rows)
    odd = None
    if draw(st.booleans()):
        odd = Odd(np.array([1, 2]), np.zeros(2, "i4"), draw(TEXTS))
    return Column(name, values, None, odd, draw(st.integers(0, 9)), 2, draw(st.text()))


NOUNS = st.one_of(
    st.builds(
        Arrays, st.lists(st.integers(3, 5).flatmap(_columns), max_size=3).map(tuple),
        notes=TEXTS, repairs=TEXTS, doubts=TEXTS,
    ),
    st.builds(
        FileTable, st.lists(_columns(), max_size=3).map(tuple), st.just(3), st.integers(1, 9),
        st.none() | st.permutations([True, True, True, False]).map(np.array),
        st.none() | hnp.arrays("i8", 2), st.booleans(),
        st.lists(TEXTS, max_size=2).map(tuple), notes=TEXTS, repairs=TEXTS, doubts=TEXTS,
    ),
)  # fmt: skip


@given(NOUNS)
def test_every_noun_comes_back_as_it_was(parsed: Body) -> None:
    out = io.BytesIO()
    write_parsed(out, parsed)
    assert _same(read_parsed(_reader(out.getvalue()), 1 << 20), parsed)


def test_many_texts_come_back_as_arrow_had_them() -> None:
    cells = [f"patient {k} \u00e9{'x' * (k % 7)}" for k in range(20_000)]
    data = "\n".join(["id,score,y", *(f"{cell},0.5,{k % 2}" for k, cell in enumerate(cells))])
    out = io.BytesIO()
    write_parsed(out, parse("a.csv", data.encode()))
    back = read_parsed(_reader(out.getvalue()), 1 << 21)
    assert isinstance(back, FileTable)
    texts = back.columns[0].texts
    assert isinstance(texts, Texts)
    assert (len(texts), [*texts]) == (20_000, cells)
    assert (texts[-1], texts[4095], texts[3:9:2]) == (cells[-1], cells[4095], tuple(cells[3:9:2]))
    assert np.array_equal(back.columns[0].values, np.arange(20_000))
    with pytest.raises(IndexError):
        texts[20_000]


@pytest.mark.long
def test_a_million_ids_of_their_own_are_read_within_the_memory_of_their_file() -> None:
    rows = (f"{k:07d}a,v{k:x},0.5,{k % 2}" for k in range(1_000_000))
    data = "\n".join(["id,visit,score,y", *rows]).encode()
    table = parse_apart("a.csv", data)
    assert isinstance(table, FileTable)
    assert [len(column.texts or ()) for column in table.columns] == [1_000_000, 1_000_000, 0, 0]


def test_an_array_out_of_order_comes_back_as_it_was() -> None:
    array = np.arange(24.0).reshape(4, 6).T[::2]
    out = io.BytesIO()
    write_parsed(out, Arrays((Column("a", array),)))
    back = read_parsed(_reader(out.getvalue()), 1 << 20)
    assert isinstance(back, Arrays)
    np.testing.assert_array_equal(back.arrays[0].values, array)


def test_a_refusal_comes_back_as_it_was() -> None:
    out = io.BytesIO()
    write_refusal(out, FileError("line 3", "four cells", "three"))
    with pytest.raises(FileError) as caught:
        read_parsed(_reader(out.getvalue()), 1000)
    assert (caught.value.field, caught.value.actual, caught.value.expected) == (
        "line 3", "four cells", "three",
    )  # fmt: skip


@pytest.mark.parametrize("head", [
    "[]", "{}", "{", '{"parsed": {"Path": {}}, "arrays": []}',
    '{"parsed": {"array": 0}, "arrays": [["<f8", [9999]]]}',
    '{"parsed": {"array": 0}, "arrays": [["|O8", [1]]]}',
    '{"parsed": {"array": 0}, "arrays": [["<f8", [-1]]]}',
    ('{"parsed": {"Arrays": {"arrays": [{"Column": {"name": "", "values": {"array": 0},'
    ' "texts": ["a"]}}]}}, "arrays": [["<i4", [1]]]}'),
])  # fmt: skip
def test_an_answer_that_is_none_is_refused(head: str) -> None:
    raw = head.encode()
    answer = struct.pack("<Q", len(raw)) + raw + struct.pack("<i", 7)
    with pytest.raises(FileError):
        read_parsed(_reader(answer), 1000)


THREE = np.array([0.5, 1.0, 2.0])
UNFIT: dict[str, Body] = {
    "fewer rows": FileTable((Column("p", THREE),), 4),
    "no whole number of rows": FileTable((Column("p", THREE),), 3.0),  # type: ignore[arg-type]
    "no text of a summary": FileTable((Column("p", THREE),), 3, summary=3),  # type: ignore[arg-type]
    "fewer rows among those of the file": FileTable((Column("p", THREE),), 3, 1, np.zeros(4, bool)),
    "an odd cell below the last row": FileTable(
        (Column("p", THREE, odd=Odd(np.array([3]), np.zeros(1, "i4"), ("",))),), 3
    ),
    "an odd cell above the first row": Arrays(
        (Column("p", THREE, odd=Odd(np.array([-1, 1]), np.zeros(2, "i4"), ("",))),)
    ),
    "odd cells out of order": Arrays(
        (Column("p", THREE, odd=Odd(np.array([1, 1]), np.zeros(2, "i4"), ("",))),)
    ),
    "more odd cells than codes": Arrays(
        (Column("p", THREE, odd=Odd(np.array([0, 1]), np.zeros(1, "i4"), ("",))),)
    ),
    "a text that ends beyond the bytes": Arrays(
        (Column("p", np.zeros(1, "i4"), Texts(np.zeros(2, "u1"), np.array([0, 3], "i4"))),)
    ),
    "texts that end before they start": Arrays(
        (Column("p", np.zeros(1, "i4"), Texts(np.zeros(2, "u1"), np.array([2, 1], "i4"))),)
    ),
    "ends of texts that are no whole numbers": Arrays(
        (Column("p", np.zeros(1, "i4"), Texts(np.zeros(2, "u1"), np.array([0.0, 1.0]))),)
    ),
    "more codes than texts": Arrays(
        (Column("p", np.ones(1, "i4"), Texts(np.zeros(2, "u1"), np.array([0, 1], "i4"))),)
    ),
    "an odd cell without a text": Arrays(
        (Column("p", THREE, odd=Odd(np.array([0]), np.ones(1, "i4"), ("",))),)
    ),
}


@pytest.mark.parametrize("which", UNFIT)
def test_parts_that_do_not_fit_together_are_refused(which: str) -> None:
    out = io.BytesIO()
    write_parsed(out, UNFIT[which])
    with pytest.raises(FileError, match="an answer that cannot be read"):
        read_parsed(_reader(out.getvalue()), 1000)


@pytest.mark.parametrize("name", sorted(seeds()))
def test_every_format_is_answered_as_it_was_read(name: str) -> None:
    parsed = parse(name, seeds()[name])
    out = io.BytesIO()
    write_parsed(out, parsed)
    assert _same(read_parsed(_reader(out.getvalue()), 1 << 20), parsed)


def test_the_process_reads_what_this_one_reads(workers: process.Workers) -> None:
    workers.prepare()
    assert _same(parse_apart("a.csv", CSV), parse("a.csv", CSV))


def test_the_process_refuses_what_this_one_refuses(workers: process.Workers) -> None:
    with pytest.raises(FileError) as here:
        parse("a.npz", b"no archive")
    with pytest.raises(FileError) as apart:
        parse_apart("a.npz", b"no archive")
    assert str(apart.value) == str(here.value)


def test_the_process_that_waits_is_used_and_replaced(workers: process.Workers) -> None:
    workers.prepare()
    first = workers._waiting
    workers.prepare()
    assert workers._waiting is first is not None
    parse_apart("a.csv", CSV)
    assert first.returncode is not None
    _until(lambda: workers._waiting is not None)
    assert workers._waiting is not first


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(("program", "result"), [
    ("", "ended the process"),
    ("sys.stdin.buffer.read(9); sys.exit(1)", "ended the process"),
    ("out.write(b'x' * 100)", "cannot be read"),
    ("out.write(bytes(7) + b'\\xff')", "cannot be read"),
    ("out.write(bytes(9)); out.flush(); out.write(bytes(1 << 20))", "cannot be read"),
    ("__import__('time').sleep(60)", "within 0.5 seconds"),
])  # fmt: skip
def test_a_process_that_does_not_answer_is_refused_and_ended(
    workers: process.Workers, monkeypatch: pytest.MonkeyPatch, program: str, result: str
) -> None:
    monkeypatch.setattr(process, "_START", HEAD + program)
    taken = process._started()
    workers._waiting = taken
    with pytest.raises(FileError, match=result):
        parse_apart("a.csv", CSV * 100_000, limits=Limits(1 << 28, 20, 0.5))
    assert taken.returncode is not None


def test_a_file_that_takes_too_much_memory_is_refused(workers: process.Workers) -> None:
    packed = io.BytesIO()
    np.savez_compressed(packed, logits=np.zeros((20_000_000, 2)))
    with pytest.raises(FileError):
        parse_apart("a.npz", packed.getvalue(), limits=Limits(1 << 28, 20))


def test_memory_is_watched_where_the_system_does_not_bound_it(
    workers: process.Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "system_bounds_memory", lambda: False)
    monkeypatch.setattr(process, "_START", HEAD + "x = bytearray(b'x' * 10**8); sys.stdin.read()")
    with pytest.raises(FileError, match="more than 48 MB of memory"):
        parse_apart("a.csv", CSV, limits=Limits(50_000_000, 20, 20.0))


def test_what_waiting_raises_ends_the_process(
    workers: process.Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_START", HEAD + "__import__('time').sleep(60)")
    taken = process._started()
    workers._waiting = taken

    def stop(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        parse_apart("a.csv", CSV * 100_000, waiting=stop)
    assert not psutil.pid_exists(taken.pid)


def test_the_next_process_starts_while_a_file_is_read(
    workers: process.Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_START", HEAD + "__import__('time').sleep(60)")
    seen: list[bool] = []

    def waiting(_: float) -> None:
        seen.append(workers._waiting is not None)

    with pytest.raises(FileError, match="within 1 seconds"):
        parse_apart("a.csv", CSV, limits=Limits(1 << 28, 20, 1.0), waiting=waiting)
    assert True in seen


def test_a_system_that_starts_no_process_is_said(
    workers: process.Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(subprocess, "Popen", fail)
    workers.prepare()
    assert workers._waiting is None
    with pytest.raises(FileError, match=r"no process to read it in \(Cannot allocate memory\)"):
        parse_apart("a.csv", CSV)


def test_several_threads_each_get_their_own_answer(workers: process.Workers) -> None:
    answers: dict[int, Body] = {}

    def ask(k: int) -> None:
        answers[k] = parse_apart("a.csv", f"p,label\n0.{k},1\n0.5,0\n".encode())

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(1, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, parsed in answers.items():
        assert isinstance(parsed, FileTable)
        assert parsed.columns[0].values[0] == k / 10
    assert len(answers) == 3


@pytest.mark.parametrize("ending", [".json", ".jsonl", ".xlsx"])
def test_what_becomes_objects_may_take_more_memory_than_text(ending: str) -> None:
    assert limits_for(ending, 4 * 10**7).memory > 2 * limits_for(".csv", 4 * 10**7).memory
    assert limits_for(ending, 10**9) == limits_for(".csv", 10**9)
    assert isinstance(system_bounds_memory(), bool)


def test_a_summary_comes_through_the_process_as_it_was_written() -> None:
    groups = {"ward": ["b", "a", "b"]}
    summary = GroupedSummary.of([0.2, 0.6, 0.6], [0, 1, 1], groups)
    data = write_summary(summary)
    body = parse_apart("week.parquet", data)
    assert isinstance(body, FileTable)
    again = summary_of_table(body, "week.parquet")
    assert isinstance(again, GroupedSummary)
    assert again.names == summary.names
    assert [part.rows.tolist() for part in again.parts] == [[1], [1, 1]]
    damaged = replace(body, columns=body.columns[1:])
    with pytest.raises(FileError, match="a damaged summary"):
        summary_of_table(damaged, "week.parquet")
