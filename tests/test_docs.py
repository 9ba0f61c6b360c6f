"""The pages of docs: their Python runs, and is typed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"

PAGES = ("python.md",)


def program(page: str) -> str:
    """Return the blocks of a page, one after the other."""
    return "\n".join(
        re.findall(r"```python\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)
    )


@pytest.fixture
def written(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "page.py"
    path.write_text(program(request.param), encoding="utf-8")
    return path


@pytest.mark.parametrize("written", PAGES, indirect=True)
def test_the_code_runs_elsewhere_and_writes_what_it_says(written: Path) -> None:
    done = subprocess.run(
        [sys.executable, written], cwd=written.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    names = set(re.findall(r"\"([\w.]+\.(?:html|json|py|onnx))\"", written.read_text("utf-8")))
    assert names
    assert names <= {path.name for path in written.parent.iterdir()}


@pytest.mark.parametrize("written", PAGES, indirect=True)
def test_the_code_is_typed(written: Path) -> None:
    root = DOCS.parent
    config = root / "pyproject.toml"
    mypy: list[str | Path] = [sys.executable, "-m", "mypy", "--strict", "--config-file", config]
    done = subprocess.run(
        [*mypy, written], cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
