"""Outputs that cannot take every sign, or anything: none of it is a condition that holds."""

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from dashboard import terminal
from dashboard.cli import main
from dashboard.commands import BROKEN, CANNOT, STOPPED, UNREAD
from dashboard.output import table_of

COMMAND = "from dashboard.cli import main; main()"


@pytest.fixture
def rows(tmp_path: Path) -> str:
    rng = np.random.default_rng(3)
    score = rng.random(400)
    back = rng.random(400) < score**2
    lines = [f"{a:.3f},{b:d}" for a, b in zip(score, back, strict=True)]
    path = tmp_path / "caf\u00e9.csv"
    path.write_text("\n".join(["risk,outcome", *lines]), encoding="utf-8")
    return str(path)


def run(*arguments: str, to: str = "", **environment: str) -> "subprocess.CompletedProcess[bytes]":
    words = [sys.executable, "-c", COMMAND, *arguments]
    if to:
        words = ["bash", "-c", f'"$@" {to}; exit ${{PIPESTATUS[0]}}', "bash", *words]
    return subprocess.run(
        words, capture_output=True, check=False, env={**os.environ, **environment}
    )


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
    ("shell", "code", "said"),
    [
        (">/dev/full", CANNOT, "Error: No space left on device"),
        ("| true", UNREAD, ""),
        (">&-", 0, ""),
    ],
)
def test_output_that_nobody_takes_has_codes_of_its_own(
    rows: str, shell: str, code: int, said: str
) -> None:
    done = run("audit", rows, "--resamples", "0", to=shell)
    assert (done.returncode, done.stderr.decode().strip()) == (code, said)


def test_a_condition_is_answered_without_an_output(rows: str) -> None:
    asked = "audit", rows, "--resamples", "0", "--fail-if", "ks_error>1%"
    assert run(*asked, to=">&-").returncode == 1


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), STOPPED, "Stopped."),
        (ArithmeticError("a fault"), BROKEN, "ArithmeticError: a fault"),
    ],
)
def test_a_stop_and_a_fault_have_codes_of_their_own(
    error: BaseException, code: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> bool:
        raise error

    monkeypatch.setattr(terminal, "audit_files", fails)
    result = CliRunner().invoke(main, ["audit", "x.csv"])
    assert result.exit_code == code
    assert result.stderr.splitlines()[-1] == said


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
