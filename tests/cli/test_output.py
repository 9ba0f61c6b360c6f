"""Outputs that cannot take every sign, or anything: none of it is a condition that holds."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from dashboard.cli import terminal
from dashboard.cli.main import main
from dashboard.cli.output import are_one_file, table_of, write_file
from tests.marks import first_and_long
from tests.readers.files import headed

COMMAND = "from dashboard.cli.main import main; main()"


@pytest.fixture
def rows(tmp_path: Path) -> str:
    rng = np.random.default_rng(3)
    score = rng.random(400)
    back = rng.random(400) < score**2
    path = tmp_path / "caf\u00e9.csv"
    path.write_bytes(headed("risk,outcome", score.round(3), back.astype(int)))
    return str(path)


def run(*arguments: str, to: str = "", **environment: str) -> "subprocess.CompletedProcess[bytes]":
    words = [sys.executable, "-c", COMMAND, *arguments]
    if to:
        words = ["bash", "-c", f'"$@" {to}; exit ${{PIPESTATUS[0]}}', "bash", *words]
    return subprocess.run(
        words, capture_output=True, check=False, env={**os.environ, **environment}
    )


@pytest.mark.long
def test_signs_that_an_encoding_lacks_are_written_in_others(rows: str) -> None:
    arguments = "audit", rows, "--calibrator", "platt", "--resamples", "0"
    wanted = run(*arguments, PYTHONIOENCODING="utf-8").stdout.decode("utf-8")
    assert "\u2212" in wanted
    for encoding in ("cp1252", "ascii"):
        done = run(*arguments, PYTHONIOENCODING=encoding)
        assert (done.returncode, done.stderr) == (0, b"")
        text = done.stdout.decode(encoding)
        assert "?" not in text
        assert text.count("-") >= wanted.count("\u2212") + wanted.count("-")


@pytest.mark.parametrize(
    ("shell", "code", "text"),
    first_and_long(
        [
            (">/dev/full", 2, "Error: No space left on device"),
            ("| true", 141, ""),
            (">&-", 0, ""),
        ]
    ),
)
def test_output_that_nobody_takes_has_codes_of_its_own(
    rows: str, shell: str, code: int, text: str
) -> None:
    done = run("audit", rows, "--resamples", "0", to=shell)
    assert (done.returncode, done.stderr.decode().strip()) == (code, text)


def test_a_condition_is_answered_without_an_output(rows: str) -> None:
    options = "audit", rows, "--resamples", "0", "--fail-if", "ks_error>1%"
    assert run(*options, to=">&-").returncode == 1


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (KeyboardInterrupt(), 130, "Stopped."),
        (ArithmeticError("a fault"), 3, "ArithmeticError: a fault"),
    ],
)
def test_a_stop_and_a_fault_have_codes_of_their_own(
    error: BaseException, code: int, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> bool:
        raise error

    monkeypatch.setattr(terminal, "audit_files", fails)
    result = CliRunner().invoke(main, ["audit", "x.csv"])
    assert result.exit_code == code
    assert result.stderr.splitlines()[-1] == text


@pytest.mark.parametrize("width", [200, 120, 80, 60, 40, 20])
def test_no_number_of_a_table_is_cut(width: int) -> None:
    heads = "Measure", "Before", "After", "Change", "", "95% limit if perfectly calibrated"
    row = (
        "Brier score of the event", "0.164 (0.157\u20130.172)", "0.151 (0.142\u20130.160)",
        "-0.013 (-0.017 to -0.010)", "better", "< 0.161",
    )  # fmt: skip
    table, left_out = table_of(heads, [row], width)
    console = Console(width=width, file=io.StringIO())
    console.print(table, crop=False)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    shown = row[: len(table.columns)]
    assert set(" ".join(shown).split()) <= set(text.split())
    assert left_out == tuple(filter(None, heads[len(table.columns) :]))
    assert len(table.columns) == {200: 6, 120: 6, 80: 6, 60: 5}.get(width, len(table.columns))


# Files ---------------------------------------------------------------------------------------


OUTS = "rows.csv", "./rows.csv", "plain/../rows.csv", "soft.csv", "hard.csv", "deep/rows.csv"


@pytest.mark.parametrize(
    ("command", "outs"),
    [
        ("audit {rows} --json {out}", OUTS),
        ("audit {rows} --report {out}", OUTS[:1]),
        ("audit {rows} --report new.html --json {out}", OUTS[3:4]),
        ("audit other.csv {rows} --json {out}", OUTS[4:5]),
        ("fit {rows} --calibrator platt --out {out}", OUTS),
        ("calibrate {rows} --with kept.json --out {out}", OUTS),
        ("calibrate new.csv --with {rows} --out {out}", OUTS[3:4]),
    ],
)
def test_no_output_is_an_input(
    command: str, outs: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = Path("rows.csv")
    rows.write_text("risk,outcome\n0.2,0\n0.8,1\n", encoding="utf-8")
    Path("soft.csv").symlink_to(rows)
    Path("hard.csv").hardlink_to(rows)
    Path("plain").mkdir()
    Path("deep").symlink_to(tmp_path)
    held = rows.read_bytes()
    option = command.split()[-2].strip("-").capitalize()
    for out in outs:
        result = CliRunner().invoke(main, command.format(rows="rows.csv", out=out).split())
        text = f"Error: {option}: {Path(out)}, the same file as rows.csv. Expected another file.\n"
        assert (result.exit_code, result.stderr) == (2, text)
    assert rows.read_bytes() == held
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "deep", "hard.csv", "plain", "rows.csv", "soft.csv",
    ]  # fmt: skip


@pytest.mark.parametrize("given", ["{rows}", "-"])
def test_the_output_takes_what_is_written_to_it_and_nothing_else(given: str, rows: str) -> None:
    data, path = Path(rows).read_bytes(), given.format(rows=rows)

    def piped(*arguments: str) -> Result:
        done = CliRunner().invoke(main, arguments, data, catch_exceptions=False)
        assert done.exit_code == 0, done.stderr
        return done

    audit = "audit", path, "--resamples", "0"
    alone, beside = piped(*audit), piped(*audit, "--json", "-")
    assert beside.stderr == alone.stdout
    assert json.loads(beside.stdout)["verdict"]["before"]["direction"] == "too high"
    kept = Path(rows).with_name("kept.json")
    fitted = piped("fit", path, "--calibrator", "platt", "--out", "-")
    assert "Platt scaling, fitted on 400 rows" in fitted.stderr
    kept.write_text(fitted.stdout, encoding="utf-8")
    calibrated = piped("calibrate", path, "--with", str(kept), "--out", "-")
    assert len(calibrated.stdout.splitlines()) == 401
    assert "400 rows" in calibrated.stderr


def test_the_output_takes_one_thing(rows: str) -> None:
    done = CliRunner().invoke(main, ["audit", rows, "--json", "-", "--report", "-"])
    assert done.exit_code == 2
    assert "-, the same file as -. Expected another file." in done.stderr
    assert not done.stdout


def test_two_outputs_are_two_files(tmp_path: Path) -> None:
    made, also = tmp_path / "a.json", tmp_path / "A.json"
    link = tmp_path / "to a"
    link.symlink_to(made)
    assert are_one_file(made, also)  # nobody knows before one of them is there
    assert are_one_file(made, link)
    assert not are_one_file(made, tmp_path / "b.json")
    made.touch()
    assert are_one_file(made, also) is also.exists()
    assert are_one_file(link, made)
    assert not are_one_file(Path("/dev/null"), Path("/dev/null"))


def test_a_write_that_is_stopped_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old", encoding="utf-8")
    real.chmod(0o640)
    link.symlink_to(real)
    with monkeypatch.context() as stopped:
        stopped.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            write_file(link, "new")
    assert real.read_text(encoding="utf-8") == "old"
    write_file(link, "new")
    assert real.read_text(encoding="utf-8") == "new"
    assert (link.is_symlink(), real.stat().st_mode & 0o777) == (True, 0o640)
    assert {*tmp_path.iterdir()} == {real, link}
    write_file(tmp_path / "another.json", "new")
    (tmp_path / "usual").touch()
    modes = [(tmp_path / name).stat().st_mode for name in ("another.json", "usual")]
    assert modes[0] == modes[1]


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("audit rows.csv --report notes.txt", "Report: the ending '.txt'. Expected a name ending"),
        ("audit rows.csv --report Makefile", "Report: the ending ''. Expected a name ending in"),
        ("audit rows.csv --json notes.txt", "Json: the ending '.txt'. Expected a name ending in"),
        ("fit rows.csv --calibrator platt --out notes.txt", "Out: the ending '.txt'. Expected a"),
        ("calibrate rows.csv --with kept.json --out notes.txt", "Out: the ending '.txt'."),
        ("audit rows.csv --json no/a.json", "Json: no/a.json (No such file or directory)"),
        ("audit rows.csv --report r.html", "Report: r.html (Is a directory). Expected a place to"),
    ],
)
def test_what_cannot_be_written_is_said_before_anything_is_read(
    command: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("notes.txt", "Makefile"):
        Path(name).write_text("mine", encoding="utf-8")
    Path("r.html").mkdir()
    result = CliRunner().invoke(main, command.split())  # there is no rows.csv
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {text}")
    assert {Path(name).read_text("utf-8") for name in ("notes.txt", "Makefile")} == {"mine"}


def test_a_report_goes_to_a_pipe(rows: str) -> None:
    done = run("audit", rows, "--resamples", "0", "--json", "/dev/stdout", to="| cat")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"{")
