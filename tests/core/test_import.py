import subprocess
import sys
from pathlib import Path

import calibcore

ROOT = Path(__file__).parents[2]

IMPORT_ALL = """
import importlib, pkgutil, sys
import calibcore
extras = {"calibcore.estimators", "calibcore.export.onnx_model"}
names = [m.name for m in pkgutil.walk_packages(calibcore.__path__, "calibcore.")]
names = [name for name in names if name not in extras]
for name in names:
    importlib.import_module(name)
assert len(names) > 10, names
"""

LOADED = """
unwanted = ["pandas", "plotly", "streamlit", "pyarrow", "sklearn", "dashboard"]
print([name for name in unwanted if name in sys.modules])
"""

REFUSE_OTHERS = """
import sys

ALLOWED = {"numpy", "scipy", "calibcore", *sys.stdlib_module_names}


class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in ALLOWED:
            raise ImportError(f"{name} is not installed here")
        return None


sys.meta_path.insert(0, Refuse())
"""

AUDIT = """
from calibcore.calibrators import SplineCalibration, TemperatureScaling
from calibcore.cumulative import ks_error
from calibcore.data import LogitSet
from calibcore.splits import split_rows
from calibcore.events import TopR
import numpy
rng = numpy.random.default_rng(0)
logits = 4 * rng.normal(size=(400, 3))
rows = LogitSet(logits, (logits / 4 + rng.gumbel(size=logits.shape)).argmax(axis=1))
halves = split_rows(rows)
fitted = TemperatureScaling().fit(halves.calibration.logits, halves.calibration.labels)
event = TopR(1).outcomes(halves.test.probabilities, halves.test.labels)
calibrated = fitted.predict_proba(halves.test.logits)
after = TopR(1).outcomes(calibrated, halves.test.labels)
spline = SplineCalibration().fit(event.scores, event.hits)
assert ks_error(after.scores, after.hits) < ks_error(event.scores, event.hits)
assert ks_error(spline.predict(event.scores), event.hits) < ks_error(event.scores, event.hits)
try:
    import pandas
except ImportError:
    print("alone")
"""


def run(program: str) -> str:
    """Run a program in a fresh interpreter at the repository's root."""
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_calibcore_loads_no_heavy_library() -> None:
    assert run(IMPORT_ALL + LOADED) == "[]"


def test_calibcore_works_with_numpy_and_scipy_alone() -> None:
    assert run(REFUSE_OTHERS + IMPORT_ALL + AUDIT) == "alone"


PUBLISHED = (
    "AuditResult", "CalibrationInputError", "CumulativeCurves", "EventScores", "LogitSet",
    "OneClass", "Split", "TopR", "WithinTopR", "audit", "cumulative_curves", "ks_error",
    "load_sample", "split_rows",
)  # fmt: skip
"""Of 0.1.0; one that goes warns first, by the rule of docs/python.md."""


def test_names_that_were_published_are_there() -> None:
    assert {*PUBLISHED} <= {*calibcore.__all__}
    assert all(getattr(calibcore, name) for name in PUBLISHED)
