"""Calibrators as code: equal to the file, with numpy alone, in a process without Fractile."""

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibcore import CalibrationInputError, LogitSet, OneClass, audit
from calibcore.calibrator_file import CalibratorFile
from calibcore.calibrators import CATALOGUE, FittedScoreMap, IsotonicCalibration
from calibcore.calibrators.method import Calibrator
from calibcore.numpy_code import numpy_code

NOT_WRITTEN = {"gaussian_process", "by_group"}


def drawn(n_rows: int, seed: int) -> LogitSet:
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n_rows, 3)) * 3
    labels = (logits + rng.gumbel(size=logits.shape) * 2).argmax(axis=1)
    return LogitSet(logits, labels, ("cat", "dog", 'o"wl'))


def as_probabilities(rows: LogitSet) -> LogitSet:
    return LogitSet.from_probabilities(rows.probabilities, rows.labels, rows.class_names)


def calibrators() -> dict[str, Calibrator]:
    made = {
        one.key: one.make(**{option.name: option.default for option in one.options})
        for one in CATALOGUE
        if one.key not in NOT_WRITTEN
    }
    return made | {"isotonic_interpolated": IsotonicCalibration(interpolate=True)}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Run the code of every calibrator, fitted on either kind of table, where nothing else is."""
    folder: Path = tmp_path_factory.mktemp("code")
    wanted = {}
    for kind, change in (("logits", lambda rows: rows), ("probabilities", as_probabilities)):
        new = change(drawn(80, 2))
        for key, calibrator in calibrators().items():
            result = audit(change(drawn(300, 1)), calibrator=calibrator, event=OneClass(1))
            kept, name = CalibratorFile.of(result), f"{kind}_{key}"
            of_scores = isinstance(kept.fitted, FittedScoreMap)
            table = np.append(new.probabilities[:, 1], [0, 0.5, 1]) if of_scores else new.given
            (folder / f"{name}.py").write_text(numpy_code(kept), encoding="utf-8")
            np.save(folder / f"{name}.npy", table)
            wanted[name] = kept.apply(table)
    code = (
        "import pathlib, runpy, sys, numpy as np\n"
        "made = {p.stem: runpy.run_path(str(p))['calibrate'](np.load(p.with_suffix('.npy')))\n"
        "        for p in pathlib.Path('.').glob('*_*.py')}\n"
        "assert not {'calibcore', 'scipy', 'pandas'} & set(sys.modules)\n"
        "np.savez('out.npz', **made)\n"
    )
    subprocess.run([sys.executable, "-I", "-c", code], check=True, cwd=folder)
    with np.load(folder / "out.npz") as out:
        return {name: (out[name], wanted[name]) for name in wanted}


@pytest.mark.parametrize("kind", ["logits", "probabilities"])
@pytest.mark.parametrize("key", list(calibrators()))
def test_the_code_is_the_calibrator(key: str, kind: str, found: dict[str, Any]) -> None:
    made, wanted = found[f"{kind}_{key}"]
    assert_allclose(made, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("key", list(calibrators()))
def test_the_code_is_short_and_needs_numpy_alone(key: str) -> None:
    text = numpy_code(CalibratorFile.of(audit(drawn(300, 1), calibrator=calibrators()[key])))
    assert len(text.splitlines()) <= 60
    imported = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import)]
    assert [alias.name for node in imported for alias in node.names] == ["numpy"]


@pytest.mark.parametrize("key", ["gaussian_process"])
def test_what_is_not_written_is_said(key: str) -> None:
    method = next(one for one in CATALOGUE if one.key == key)
    made = method.make(**{option.name: option.default for option in method.options})
    with pytest.raises(CalibrationInputError, match=r"Expected any but a Gaussian process"):
        numpy_code(CalibratorFile.of(audit(drawn(300, 1), calibrator=made)))


@pytest.mark.parametrize(
    ("key", "given", "said"),
    [
        ("platt", lambda new: new.probabilities[:, 1] * 100, "scores from 0 to 1"),
        ("platt", lambda new: new.logits, "scores from 0 to 1"),
        ("temperature", lambda new: new.probabilities, "logits, not probabilities"),
        ("temperature", lambda new: new.logits[:, :2], "a column for each of"),
        ("vector", lambda new: np.where(new.logits < 0, -np.inf, new.logits), "finite logits"),
    ],
)
def test_the_code_refuses_what_does_not_belong(key: str, given: Any, said: str) -> None:
    space: dict[str, Any] = {}
    exec(numpy_code(CalibratorFile.of(audit(drawn(300, 1), calibrator=calibrators()[key]))), space)  # noqa: S102 - what is tested
    with pytest.raises(ValueError, match=said):
        space["calibrate"](given(drawn(80, 2)))
    if key == "temperature":
        with pytest.raises(ValueError, match="in this order"):
            space["calibrate"](drawn(80, 2).logits, ('o"wl', "dog", "cat"))


def test_what_a_file_says_stays_text() -> None:
    kept = CalibratorFile.of(audit(drawn(300, 1), calibrator=calibrators()["temperature"]))
    foul = '"""\nimport os\nx = """\\'
    content = json.loads(kept.to_json())
    content |= {"data": foul, "made_by": foul, "class_names": [foul, "\\", "'"]}
    tree = ast.parse(numpy_code(CalibratorFile.from_json(json.dumps(content))))
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert len(imported) == 1
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert foul in texts
    assert f"Fractile {foul}" in texts
