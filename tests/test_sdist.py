"""The source distribution has what `make run` and `make test` need."""

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.long
def test_all_that_is_tracked_is_in_the_sdist(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("a checkout tells what is tracked")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--target", tmp_path / "tools", "hatchling>=1.27"], check=True)
    build = "from hatchling.build import build_sdist; import sys; build_sdist(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", build, tmp_path], cwd=ROOT, check=True,
        env={"PYTHONPATH": str(tmp_path / "tools")},
    )  # fmt: skip
    (path,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert {"Makefile", "constraints.txt", "docs/build.py", "tests/conftest.py"} <= names
    assert {*tracked.stdout.split("\n")} - names == {""}
