"""The wheel without its extra: the library on numpy and scipy, and a command that says so."""

import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from dashboard.cli.start import MISSING

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.long  # downloads numpy and scipy

CODE = """
import importlib.util, sys
import numpy as np
from calibcore import CalibrationInputError, audit
from calibcore.calibrators import PlattScaling
from calibcore.export.calibrator_file import CalibratorFile
rng = np.random.default_rng(1)
scores = rng.random(500)
result = audit(scores, rng.random(500) < scores**2, calibrator=PlattScaling())
print(result.verdict.before.direction, CalibratorFile.of(result).apply([0.5]).shape)
assert result._repr_html_() is None
for what in (lambda: result.report("report.html"), result.to_frame):
    try:
        what()
    except CalibrationInputError as error:
        print(error)
print([name for name in ("streamlit", "pandas", "plotly", "click")
       if importlib.util.find_spec(name)])
"""


@pytest.fixture(scope="module")
def binaries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", str(ROOT), "--no-deps", "--wheel-dir", str(folder)], check=True)
    (wheel,) = folder.glob("fractile-*.whl")
    venv.create(folder / "env", symlinks=True)
    made = folder / "env" / "bin"
    limits = ["--constraint", str(ROOT / "constraints.txt")]
    into = ["--python", str(made / "python"), "install", *limits, str(wheel)]
    subprocess.run([*pip, *into], check=True)
    return made


def test_the_library_works_and_says_what_it_lacks(binaries: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [binaries / "python", "-W", "error", "-c", CODE],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "too high (1,)",
        "report: no plotly. Expected fractile with its extra dashboard, which has what draws it.",
        "table: no pandas. Expected pandas to be installed.",
        "[]",
    ]
    pip = [sys.executable, "-m", "pip", "--python", str(binaries / "python")]
    done = subprocess.run([*pip, "freeze", "--all"], capture_output=True, text=True, check=True)
    names = {re.split("==| @", line)[0] for line in done.stdout.splitlines()} - {
        "pip",
        "setuptools",
    }
    assert names == {"fractile", "numpy", "scipy"}


def test_the_command_says_in_a_sentence_what_it_lacks(binaries: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [binaries / "fractile", "audit", "x.csv"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (2, "", MISSING)
    assert 'pip install "fractile[dashboard]"' in MISSING
