"""The pages of docs: their Python runs, and is typed."""

import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from calibcore.calibrators import CATALOGUE
from calibcore.metrics import METRICS

DOCS = Path(__file__).parents[1] / "docs"

PAGES = ("python.md",)

COMMANDS = ("audit", "fit", "calibrate", "check")


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


@pytest.mark.long
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
@pytest.mark.long
def test_the_code_is_typed(written: Path) -> None:
    root = DOCS.parent
    config = root / "pyproject.toml"
    mypy: list[str | Path] = [sys.executable, "-m", "mypy", "--strict", "--config-file", config]
    done = subprocess.run(
        [*mypy, written], cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


# The site -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "build.py"))


def test_the_site_has_every_measure_and_every_command(site: dict[str, Any]) -> None:
    measures = site["measures_page"]()
    for measure in METRICS:
        assert f"### {measure.name}\n" in measures
        assert measure.source in measures
    assert {f"fractile {name} [OPTIONS]" in site["command_page"]() for name in COMMANDS} == {True}


@pytest.mark.long
def test_the_site_has_every_calibrator_with_its_picture(
    site: dict[str, Any], tmp_path: Path
) -> None:
    page = site["calibrators_page"](tmp_path / "pictures")
    for method in CATALOGUE:
        assert f"## {method.name}\n" in page
        assert method.formula in page
        picture = (tmp_path / "pictures" / f"{method.key}.svg").read_text("utf-8")
        assert ET.fromstring(picture).tag.endswith("svg")  # noqa: S314 - our own
        assert picture.count("<rect") > 10


def test_every_page_of_the_site_is_written_and_named(site: dict[str, Any]) -> None:
    config = (DOCS / "mkdocs.yml").read_text("utf-8")
    named = set(re.findall(r"(\w+)\.md", config))
    assert {*site["KEPT"]} <= named
    assert all((DOCS / f"{name}.md").exists() for name in site["KEPT"])


def test_no_link_of_a_page_leaves_the_site(site: dict[str, Any]) -> None:
    written = {*site["KEPT"], *site["MEASURED"], "measures", "calibrators", "command", "reference"}
    links = [
        (name, link)
        for name in site["KEPT"]
        for link in re.findall(r"\]\(([^)#]+\.md)", site["page_kept"](name))
        if not link.startswith("https://")
    ]
    assert len(links) > 10
    assert [one for one in links if one[1].removesuffix(".md") not in written] == []


# Promises -----------------------------------------------------------------------------------

_NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_every_promise_of_safety_names_tests_that_hold_it() -> None:
    page = (DOCS / "security.md").read_text("utf-8")
    section = page.split("## What is promised\n")[1].split("\n## ")[0]
    promises = re.split(r"(?m)^(?=\d+\. )", section)[1:]
    assert len(promises) == 11
    assert [one[:60] for one in promises if not _NAMED.search(one)] == []
    everywhere = "".join(path.read_text("utf-8") for path in sorted(DOCS.glob("*.md")))
    missing = [
        f"{file}::{name}"
        for file, name in _NAMED.findall(everywhere)
        if not (path := DOCS.parent / file).exists()
        or not re.search(rf"(?m)^ *def {name}\(", path.read_text("utf-8"))
    ]
    assert missing == []


# Installing and releasing -------------------------------------------------------------------


def test_every_document_installs_the_wheel_that_is_built() -> None:
    """No index has it yet."""
    root = DOCS.parent
    version = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    wheel = f"fractile-{version}-py3-none-any.whl"
    texts = [*root.glob("*.md"), *DOCS.rglob("*.md"), *DOCS.rglob("*.yml"), *DOCS.rglob("Cont*")]
    named = [
        (path.name, name)
        for path in texts
        for line in re.findall(r"pip install([^\n`&]*)", path.read_text("utf-8"))
        for name in re.findall(r"[\w./-]*fractile[\w.-]*", line)
    ]
    assert len(named) >= 6
    assert {name.rpartition("/")[2] for _, name in named} == {wheel}, named


def test_a_release_has_its_parts_and_the_notes_of_its_version() -> None:
    root = DOCS.parent
    made = (root / "Makefile").read_text("utf-8").partition("\nrelease:")[2].partition("\n\n")[0]
    for part in ("sbom.cdx.json", "licences.md", "constraints-hashed.txt", "notes.md"):
        assert f"dist/{part}" in made
    version = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    notes = (root / "CHANGELOG.md").read_text("utf-8").split("\n## ")[1]
    assert re.match(rf"{re.escape(version)}, \d{{4}}-\d\d-\d\d\n", notes)
