"""Large files in a process of their own: the same contents, within bounds, and nothing left."""

import subprocess
import sys
from collections.abc import Callable
from tempfile import TemporaryFile
from typing import Any, Literal

import numpy as np
import pytest

from benchmarks.fuzz import seeds
from calibcore.data import LogitSet
from dashboard.compute import SourceFile, read_files
from dashboard.readers import FileError, Options, apart, parse
from dashboard.readers.apart import APART_FROM, Limits, parse_apart
from dashboard.readers.contents import Contents, RawSet
from tests.app.pages import charts, check_page, made_set, npz_of, open_upload, upload
from tests.readers.files import GOOD, LABELS, LOGITS, npz, pickled

LONG = 100_000


def alike(one: Any, other: Any) -> bool:
    """Compare contents, arrays by type and value."""
    if isinstance(one, np.ndarray):
        return bool(one.dtype == other.dtype and np.array_equal(one, other))
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(alike(one[key], other[key]) for key in one)
    if hasattr(one, "__dataclass_fields__"):
        return type(one) is type(other) and alike(vars(one), vars(other))
    return bool(one == other)


@pytest.mark.parametrize("name", sorted(seeds()))
def test_every_format_comes_back_as_it_is(name: str) -> None:
    data = seeds()[name]
    assert alike(parse_apart(name, data), parse(name, data, Options()))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("ending", ["npz", "p"])
def test_large_arrays_are_not_copied(ending: str, order: Literal["C", "F"]) -> None:
    logits = np.random.default_rng(2).normal(size=(LONG, 3)).astype(np.float64, order)
    labels = np.zeros(LONG, dtype=np.int64)
    pair = logits, labels
    data = npz(logits=logits, labels=labels) if ending == "npz" else pickled(pair, 4)
    for contents in (parse(f"a.{ending}", data, Options()), parse_apart(f"a.{ending}", data)):
        (rows,) = contents.sets.values()
        assert isinstance(rows, RawSet)
        assert rows.table is not None
        assert np.array_equal(rows.table, logits)
        assert np.shares_memory(rows.table, np.frombuffer(data, dtype=np.uint8))


def test_names_that_look_like_the_layout_come_back_as_they_are() -> None:
    heads = ["array", "mapping", "RawSet", '{"array": 0}', "label", "\u202e\x07"]
    rows = [f"{k},{-k},0.5,1.5,{k % 4},{'array' if k % 2 else '=1'}" for k in range(20)]
    data = "\n".join([",".join(f'"{h.replace(chr(34), chr(34) * 2)}"' for h in heads), *rows])
    here, there = (f("a.csv", data.encode(), Options()) for f in (parse, parse_apart))
    assert alike(there, here)
    assert not alike(there, parse("a.csv", data.encode(), Options(label_column="array")))


def test_choices_of_columns_reach_the_process() -> None:
    data = npz(logits=LOGITS, labels=LABELS, odd=LABELS[::-1].copy())
    options = Options(label_column="odd")
    assert alike(parse_apart("a.npz", data, options), parse("a.npz", data, options))


@pytest.mark.parametrize("name", ["a.npz", "a.csv", "a.p", "a.parquet", "a.xlsx", "a.exe"])
def test_refusals_are_the_same(name: str) -> None:
    said = []
    for run in (parse, parse_apart):
        with pytest.raises(FileError) as refused:
            run(name, b"PK nothing of the kind\xff", Options())
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_memory_is_bounded() -> None:
    rng = np.random.default_rng(1)
    data = npz(compress=True, logits=np.zeros((400_000, 12)), labels=rng.integers(0, 12, 400_000))
    assert len(data) < 5_000_000
    with pytest.raises(FileError, match=r"of memory to be read") as refused:
        parse_apart("a.npz", data, limits=Limits(spare_bytes=50 << 20))
    assert len(str(refused.value)) < 300
    assert isinstance(parse_apart("a.npz", data), Contents)


def started(monkeypatch: pytest.MonkeyPatch, program: str) -> list[subprocess.Popen[bytes]]:
    """Run another program in the place of the parser, and note its process."""
    seen: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            seen.append(self)

    monkeypatch.setattr(apart, "_START", program)
    monkeypatch.setattr(subprocess, "Popen", Noted)
    return seen


def test_a_process_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = started(monkeypatch, "import time; time.sleep(600)")
    passed: list[float] = []
    with pytest.raises(FileError, match=r"not read within 0.5 seconds"):
        parse_apart("good.npz", GOOD["good.npz"], limits=Limits(seconds=0.5), waiting=passed.append)
    assert seen[0].returncode
    assert passed == sorted(passed)
    assert len(passed) >= 2


def test_a_click_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped(BaseException):
        pass

    def click(seconds: float) -> None:
        if seconds > 0.2:
            raise Stopped

    seen = started(monkeypatch, "import time; time.sleep(600)")
    with pytest.raises(Stopped):
        parse_apart("good.npz", GOOD["good.npz"], waiting=click)
    assert seen[0].returncode


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import os; os.abort()", r"ended the process reading it \(-6\)"),
        ("raise SystemExit(3)", r"ended the process reading it \(3\)"),
        ("pass", "an answer that cannot be read"),
        ("print('[]')", "an answer that cannot be read"),
        ("print('{\"arrays\": []}')", "an answer that cannot be read"),
        ('print(\'{"arrays": [], "contents": {"system": {"x": "ls"}}}\')', "cannot be read"),
        ('print(\'{"arrays": [], "contents": [1]}\')', "no answer"),
        ('print(\'{"arrays": [["|O", [2]]], "contents": 1}\')', "cannot be read"),
        (
            'print(\'{"arrays": [["<f8", [1000000000, 1000000]]], "contents": 1}\')',
            "cannot be read",
        ),
        ('print(\'{"arrays": [["<f8", [-1, -8]]], "contents": 1}\')', "cannot be read"),
    ],
)
def test_an_answer_is_not_trusted(
    program: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "abort" in program and sys.platform == "win32":
        return
    started(monkeypatch, program)
    with pytest.raises(FileError, match=message) as refused:
        parse_apart("good.npz", GOOD["good.npz"])
    assert str(refused.value).isprintable()


def test_the_process_sees_no_settings_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    monkeypatch.setattr(apart, "_START", "import sys; print(sys.flags.isolated, sys.path)")
    with TemporaryFile() as nothing, TemporaryFile() as answer:
        assert apart._run(nothing, answer, Limits(), 0, lambda _: None) == 0  # noqa: SLF001
        answer.seek(0)
        told = answer.read().decode()
    assert told.startswith("1 ")
    assert "nowhere" not in told


# On the page --------------------------------------------------------------------------------


def noted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note which files are parsed apart, and do it."""
    names: list[str] = []
    real: Callable[..., Contents] = parse_apart

    def note(name: str, *rest: Any) -> Contents:
        names.append(name)
        return real(name, *rest)

    monkeypatch.setattr("dashboard.compute.files.parse_apart", note)
    return names


def test_the_page_parses_large_files_apart(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = noted(monkeypatch)
    small, large = (npz_of(made_set(rng, n), made_set(rng, n)) for n in (100, 400))
    monkeypatch.setattr("dashboard.compute.files.APART_FROM", len(large))
    page = open_upload(("small.npz", small))
    check_page(page)
    assert names == []
    check_page(upload(page, ("large.npz", large)))
    assert names == ["large.npz"]
    started(monkeypatch, "raise SystemExit(9)")
    upload(page, ("broken.npz", large + b" "))
    assert "ended the process reading it" in page.error[0].value.replace("\\", "")
    assert not charts(page)
    assert not page.exception
    check_page(upload(page, ("small.npz", small)))


def test_a_real_file_over_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    names = noted(monkeypatch)
    rng = np.random.default_rng(2)
    logits = rng.standard_normal((150_000, 100), dtype=np.float32)
    labels = rng.integers(0, 100, 150_000)
    data = npz(logits=logits, labels=labels)
    assert APART_FROM <= len(data) <= 1.3 * APART_FROM
    rows = read_files([SourceFile("large.npz", "large", lambda: data)]).rows
    assert names == ["large.npz"]
    assert isinstance(rows, LogitSet)
    np.testing.assert_array_equal(rows.logits, logits)
    np.testing.assert_array_equal(rows.labels, labels)


def test_the_limits_are_those_that_are_promised() -> None:
    limits = Limits()
    assert limits.memory(100) == 400 + (256 << 20)
    assert limits.seconds == 120
    assert APART_FROM == 50_000_000
