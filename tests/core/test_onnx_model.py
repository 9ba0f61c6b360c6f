"""Calibrators as ONNX models: run by onnxruntime, equal to the calibrator itself."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from calibcore import CalibrationInputError, LogitSet, Split, audit, load_sample
from calibcore.calibrators import CATALOGUE, IsotonicCalibration, SplineCalibration
from calibcore.calibrators.base import FittedMap
from calibcore.calibrators.lifts import OneVsRest, PerRank, PooledScores
from calibcore.events import OneClass
from calibcore.export.calibrator_file import CalibratorFile
from calibcore.export.onnx_model import has_model, onnx_model
from calibcore.validation import Floats
from tests.core.draws import overconfident

NOT_WRITTEN = "gaussian_process", "by_group", "multicalibration"

WRITTEN = tuple(one.key for one in CATALOGUE if one.key not in NOT_WRITTEN)


@cache
def file_and_rows(key: str, *, values: str = "logits") -> tuple[CalibratorFile, Floats]:
    """Fit to one set, and return the calibrator with rows that it has not seen."""
    data = load_sample("three_garments")
    table, new = (np.asarray(data[f"logits_{name}"], float) for name in ("calibration", "test"))
    if values == "probabilities":
        table, new = (np.exp(part - part.max(axis=1, keepdims=True)) for part in (table, new))
        table, new = (part / part.sum(axis=1, keepdims=True) for part in (table, new))
    method = next(one for one in CATALOGUE if one.key == key)
    rows, labels = table[:1500], data["labels_calibration"][:1500]
    data_set = LogitSet.from_probabilities if values == "probabilities" else LogitSet
    fit = data_set(rows, labels)
    result = audit(Split(fit, fit), calibrator=method.make(), event=OneClass(1))
    return CalibratorFile.of(result), new


def run(file: CalibratorFile, values: Floats) -> Floats:
    session = onnxruntime.InferenceSession(onnx_model(file).SerializeToString())
    (name,) = (one.name for one in session.get_inputs())
    (result,) = session.run(["calibrated"], {name: values})
    return np.asarray(result)


def check_model(file: CalibratorFile, values: Floats, atol: float = 1e-12) -> None:
    np.testing.assert_allclose(run(file, values), file.apply(values), rtol=0, atol=atol)


def scores() -> Floats:
    drawn = np.random.default_rng(0).random(500)
    return np.concatenate([[0.0, 1.0, 1e-300, 1 - 1e-16, 0.5], np.linspace(0, 1, 301), drawn])


@pytest.mark.parametrize("key", WRITTEN)
def test_it_is_the_calibrator_on_new_rows(key: str) -> None:
    file, new = file_and_rows(key)
    assert has_model(file.fitted)
    check_model(file, scores() if file.takes == "scores" else new)


@pytest.mark.parametrize("key", ["temperature", "dirichlet"])
def test_probabilities_are_taken_as_they_are(key: str) -> None:
    file, new = file_and_rows(key, values="probabilities")
    assert file.takes == "probabilities"
    check_model(file, new, 1e-9)


def test_every_edge_of_steps_and_knots_falls_on_the_same_side() -> None:
    rng = np.random.default_rng(1)
    fit = np.round(rng.random(400), 2)
    values = np.concatenate([np.unique(fit), np.nextafter(np.unique(fit), 0)])
    stairs, lines = (IsotonicCalibration(interpolate=one) for one in (False, True))
    for calibrator in (stairs, lines, SplineCalibration()):
        result = audit(fit, rng.random(400) < fit, calibrator=calibrator)
        check_model(CalibratorFile.of(result), values)


def test_it_says_what_it_takes() -> None:
    file, _ = file_and_rows("vector")
    model = onnx_model(file)
    facts = {one.key: one.value for one in model.metadata_props}
    assert facts["classes"].split("\n") == list(file.class_names)
    assert facts["data_sha256"] == file.data
    assert [one.name for one in model.graph.input] == ["logits"]


@pytest.mark.parametrize("key", NOT_WRITTEN)
def test_one_that_has_no_model_is_refused(key: str) -> None:
    rng = np.random.default_rng(0)
    drawn, groups = rng.random(300), np.arange(300) % 2
    if key in {"by_group", "multicalibration"}:
        result = audit(drawn, rng.random(300) < drawn, calibrator=key, groups=groups)
    else:
        logits = np.stack([drawn, 1 - drawn], axis=1)
        result = audit(logits, (rng.random(300) < drawn).astype(int), calibrator=key)
    assert not has_model(result.fitted)
    with pytest.raises(CalibrationInputError) as refused:
        onnx_model(CalibratorFile.of(result))
    assert refused.value.field == "calibrator"
    assert not refused.value.actual.startswith("Fitted")


@pytest.mark.parametrize("key", WRITTEN)
def test_single_precision_is_that_of_the_last_digit_alone(key: str) -> None:
    file, new = file_and_rows(key)
    values = (scores() if file.takes == "scores" else new).astype(np.float32)
    model = onnx_model(file, single=True)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (answer,) = session.run(None, {model.graph.input[0].name: values})
    assert np.asarray(answer).dtype == np.float32
    np.testing.assert_allclose(answer, file.apply(values.astype(float)), rtol=0, atol=3e-8)


def wrapped(fitted: FittedMap, names: tuple[str, ...]) -> CalibratorFile:
    return CalibratorFile(fitted, "logits" if names else "scores", names)


def test_ties_zeros_and_few_ranks_are_as_in_the_calibrator() -> None:
    rng = np.random.default_rng(2)
    rows, isotonic = overconfident(rng, 400, 5, spread=2, by=1), IsotonicCalibration()
    tied = rng.integers(-2, 3, size=(400, 5)).astype(float)
    far = np.where(rng.random((400, 5)) < 0.3, 60.0, tied)
    lifts: list[PerRank | OneVsRest] = [
        PerRank(isotonic, n_ranks=2), PerRank(isotonic), OneVsRest(isotonic),
    ]  # fmt: skip
    for calibrator in lifts:
        fitted = calibrator.fit(rows.logits, rows.labels)
        file = wrapped(fitted, tuple("abcde"))
        for values in (tied, far, np.tile([60.0, -60, -60, -60, -60], (5, 1))):
            want = fitted.predict_proba(values)
            np.testing.assert_allclose(run(file, values), want, rtol=0, atol=1e-12)


def test_a_map_after_an_offset_and_pooled_scores() -> None:
    rng = np.random.default_rng(3)
    drawn = rng.random(500)
    moved = audit(drawn, rng.random(500) < drawn, calibrator="beta", prevalence=0.1)
    rows = overconfident(rng, 400, 3, spread=1, by=1)
    pooled = PooledScores(IsotonicCalibration()).fit(rows.logits, rows.labels)
    for file in (CalibratorFile.of(moved), wrapped(pooled, ())):
        check_model(file, scores())


def test_every_model_runs_without_fractile(tmp_path: Path) -> None:
    wanted = {}
    for key in WRITTEN:
        file, new = file_and_rows(key)
        values = scores() if file.takes == "scores" else new
        (tmp_path / f"{key}.onnx").write_bytes(onnx_model(file).SerializeToString())
        np.save(tmp_path / f"{key}.npy", values)
        wanted[key] = file.apply(values)
    code = (
        "import pathlib, sys, numpy, onnxruntime\n"
        "found = {}\n"
        "for path in pathlib.Path('.').glob('*.onnx'):\n"
        "    session = onnxruntime.InferenceSession(path)\n"
        "    name, = (one.name for one in session.get_inputs())\n"
        "    given = {name: numpy.load(path.with_suffix('.npy'))}\n"
        "    found[path.stem], = session.run(None, given)\n"
        "numpy.savez('found.npz', **found)\n"
        "assert not any(name.startswith(('calibcore', 'scipy')) for name in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-I", "-c", code], cwd=tmp_path, check=True)
    with np.load(tmp_path / "found.npz") as result:
        assert {*result} == {*WRITTEN}
        for key, want in wanted.items():
            np.testing.assert_allclose(result[key], want, rtol=0, atol=1e-12, err_msg=key)
