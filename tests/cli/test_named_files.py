"""What a command reads: a pipe, the files of a folder, and those of a pattern."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from dashboard.cli.main import main

HEAD = "risk,outcome"


def run(*words: str | Path, piped: bytes = b"") -> Result:
    return CliRunner().invoke(main, ["audit", *map(str, words), "--resamples", "0"], input=piped)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    score = rng.random(200)
    lines = [f"{a:.3f},{b:d}" for a, b in zip(score, rng.random(200) < score, strict=True)]
    for name, rows in (("a", lines[:120]), ("b", lines[120:])):
        (tmp_path / f"{name}.csv").write_text("\n".join([HEAD, *rows]), encoding="utf-8")
    (tmp_path / ".hidden.csv").write_text("no table", encoding="utf-8")
    (tmp_path / "notes.rst").write_text("none either", encoding="utf-8")
    (tmp_path / "within").mkdir()
    return tmp_path


def test_a_folder_and_a_pattern_are_the_files_in_them(folder: Path) -> None:
    parts = "--files-are", "parts"
    result = run(folder / "a.csv", folder / "b.csv", *parts)
    assert (result.exit_code, "Read: 200 rows" in result.output) == (0, True)
    assert run(folder, *parts).output == result.output
    assert run(folder / "*.csv", *parts).output == result.output
    assert run(folder / "[ab].csv", *parts).output == result.output


def test_a_file_is_itself_whatever_its_name(folder: Path) -> None:
    (folder / "a.csv").rename(folder / "[b].csv")
    assert "Read: 120 rows" in run(folder / "[b].csv").output


@pytest.mark.parametrize("name", ["*.parquet", "within"])
def test_where_no_file_is_one_sentence_says_so(folder: Path, name: str) -> None:
    result = run(folder / name)
    assert (result.exit_code, f"{name}, where no file is" in result.stderr) == (2, True)


def test_what_is_piped_in_is_read_by_its_first_bytes(folder: Path) -> None:
    data = (folder / "a.csv").read_bytes()
    result = run("-", piped=data)
    assert result.output == run(folder / "a.csv").output.replace("a.csv", "stdin.csv")
    records = [line.split(",") for line in data.decode().splitlines()[1:]]
    text = ",".join(f'{{"risk": {a}, "outcome": {b}}}' for a, b in records)
    result = run("-", piped=f"[{text}]".encode())
    assert (result.exit_code, "stdin.json" in result.output) == (0, True)
