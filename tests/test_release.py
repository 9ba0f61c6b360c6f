"""`make release` in a copy of the repository: what it builds fits together and installs."""

import json
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

VALID = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
text = open(sys.argv[1]).read()
sys.exit(str(JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) or 0) != "0")
"""

pytestmark = pytest.mark.long  # ten minutes, most of them to look up hashes


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a release of what is tracked."""
    if not (ROOT / ".git").exists():
        pytest.skip("a checkout tells what is tracked")
    folder = tmp_path_factory.mktemp("release")
    archive = folder.with_suffix(".tar")
    git = ["git", "-C", str(ROOT)]
    subprocess.run([*git, "archive", "--output", str(archive), "HEAD"], check=True)
    subprocess.run(["tar", "-xf", str(archive), "-C", str(folder)], check=True)
    subprocess.run(["make", "release", f"PYTHON={sys.executable}"], cwd=folder, check=True)
    return folder


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def hashed(dist: Path) -> dict[str, str]:
    text = (dist / "constraints-hashed.txt").read_text("utf-8")
    return {plain(name): number for name, number in re.findall(r"(?m)^([\w.-]+)==(\S+)", text)}


def test_the_wheel_has_what_runs_and_no_more(copied: Path) -> None:
    (path,) = (copied / "dist").glob("fractile-*.whl")
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        texts = [
            wheel.read(name).decode()
            for name in names
            if name.endswith((".py", ".json", ".toml", ".html", "METADATA"))
        ]
    roots = {name.partition("/")[0] for name in names}
    assert roots == {"calibcore", "dashboard", f"{path.name.split('-py3')[0]}.dist-info"}
    assert len([name for name in names if name.endswith(".schema.json")]) == 4
    assert "dashboard/static/docs/index.html" in names
    assert "calibcore/sample_logits/three_garments.npz" in names
    assert [text[:200] for text in texts if str(copied) in text or str(ROOT) in text] == []


def test_the_list_of_parts_is_valid_and_that_of_the_licences_and_hashes(copied: Path) -> None:
    dist = copied / "dist"
    python = copied / ".venv-release" / "bin" / "python"
    subprocess.run([python, "-c", VALID, dist / "sbom.cdx.json"], check=True)
    bill = json.loads((dist / "sbom.cdx.json").read_text("utf-8"))
    parts = {plain(one["name"]): one["version"] for one in bill["components"]}
    lines = (dist / "licences.md").read_text("utf-8").splitlines()[2:]
    rows = [[cell.strip() for cell in line.split("|")[1:4]] for line in lines]
    own = bill["metadata"]["component"]
    assert {plain(name): number for name, number, _ in rows} == {
        **parts, own["name"]: own["version"],
    }  # fmt: skip
    assert [row for row in rows if row[2] in {"", "UNKNOWN"}] == []
    assert parts == hashed(dist)
    notes = (dist / "notes.md").read_text("utf-8")
    assert notes.startswith(f"## {own['version']}, ")
    assert notes.count("\n## ") == 0


def test_it_installs_by_its_hashes_as_the_page_on_services_says(
    copied: Path, tmp_path: Path
) -> None:
    page = (ROOT / "docs" / "service.md").read_text("utf-8")
    lines = re.findall(r"`pip (install --(?:require-hashes|no-deps) [^`]+)`", page)
    assert len(lines) == 2
    venv.create(tmp_path / "env", symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    for line in lines:
        words = [*pip, "--python", str(python), *line.split()]
        subprocess.run(words, cwd=copied / "dist", check=True)
    subprocess.run([*pip, "--python", str(python), "check"], check=True)
    done = subprocess.run(
        [python.with_name("fractile"), "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("fractile, version ")
