"""The shared corpus of hostile files, where it is present."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "hostile"

if CORPUS.exists():

    @pytest.mark.long
    def test_corpus(tmp_path: Path) -> None:
        report = tmp_path / "report.json"
        command = [
            sys.executable, str(CORPUS / "check.py"), str(CORPUS),
            "tests.readers.adapter:check_adapter", "--json", str(report),
        ]  # fmt: skip
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True
        )
        n_files = len(json.loads((CORPUS / "index.json").read_text())["files"])
        results = json.loads(report.read_text())
        assert {r["file"]: r["bad"] for r in results if r["bad"]} == {}
        assert not [r["file"] for r in results if r["canary"] or r["left"] or r["events"]]
        assert not [r["file"] for r in results if r["got"] in ("crash", "timeout")]
        assert done.stdout.splitlines()[-1] == f"{n_files}/{n_files} as expected"
