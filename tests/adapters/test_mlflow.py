"""Audits and calibrators in a real MLflow with a store of its own: `make adapters`."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from calibcore import CalibrationInputError, audit
from calibcore.adapters.mlflow import log_audit, log_calibrator
from calibcore.auditing import AuditResult
from calibcore.calibrators import ByGroup, PlattScaling, TemperatureScaling
from calibcore.calibrators.method import Calibrator
from calibcore.export.calibrator_file import CalibratorFile
from dashboard.figures import LIGHT, four_graphs, reliability_diagram
from tests.adapters.page import run_block

mlflow = pytest.importorskip("mlflow", reason="is of the extra mlflow: make adapters")
pytestmark = pytest.mark.filterwarnings("default")  # those of MLflow are its own


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Keep runs in a file of SQLite and a folder, and return MLflow's client of them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri := f"sqlite:///{tmp_path / 'runs.db'}")
    mlflow.set_tracking_uri(uri)
    mlflow.create_experiment("test", artifact_location=(tmp_path / "files").as_uri())
    mlflow.set_experiment("test")
    yield mlflow.MlflowClient()
    while mlflow.active_run():
        mlflow.end_run()


def scores() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    drawn = rng.random(400)
    return drawn, rng.random(400) < drawn**2


def audited(calibrator: Calibrator | None = None) -> AuditResult:
    return audit(*scores(), calibrator=calibrator)


def test_an_audit_is_metrics_parameters_and_files(store: Any, tmp_path: Path) -> None:
    result = audited(PlattScaling())
    before, after = result.test.before, result.test.after
    figures = {
        "diagram.html": reliability_diagram(before, after, LIGHT),
        "cumulative.html": four_graphs(after, before, LIGHT).cumulative_by_fractile,
    }
    with mlflow.start_run() as run:
        log_audit(result, figures=figures, report=True, step=3)
    seen = store.get_run(run.info.run_id)
    comparisons = {one.measure.key: one for one in result.test.comparisons}
    for key in ("ks_error", "ece", "event_brier", "mean_gap"):
        for name in ("before", "after"):
            want = getattr(comparisons[key], name)
            assert seen.data.metrics[f"calibration/{name}/{key}"] == want
    assert store.get_metric_history(run.info.run_id, "calibration/before/ece")[0].step == 3
    assert seen.data.params["calibration/n_samples"] == "400"
    assert seen.data.params["calibration/event"] == "OneClass(k=1)"
    assert seen.data.params["calibration/calibrator"] == repr(PlattScaling())
    assert seen.data.tags["calibration/direction"] == "too high"
    (folder,) = (tmp_path / "files").glob("**/calibration")
    assert json.loads((folder / "audit.json").read_text("utf-8")) == json.loads(result.to_json())
    for file in (*figures, "report.html"):
        assert "<html" in (folder / file).read_text("utf-8").lower()


def test_without_a_calibrator_nothing_is_after(store: Any) -> None:
    with mlflow.start_run() as run:
        log_audit(audited(), "test")
        log_audit(audit([0.5, 0.5], [1, 1]), "few")  # of which some measures have no value
    metrics = store.get_run(run.info.run_id).data.metrics
    assert "test/before/ks_error" in metrics
    assert not any("/after/" in key for key in metrics)
    assert np.isfinite([*metrics.values()]).all()


def test_a_calibrator_is_a_model_of_json_that_another_process_loads(tmp_path: Path) -> None:
    calibrator = CalibratorFile.of(audited(PlattScaling()))
    with mlflow.start_run():
        logged = log_calibrator(calibrator)
    new = np.linspace(0, 1, 7)
    np.save(tmp_path / "new.npy", new)
    code = (
        "import sys, mlflow, numpy, pandas\n"
        "model, new = mlflow.pyfunc.load_model(sys.argv[1]), numpy.load('new.npy')\n"
        "answers = [model.predict(new), model.predict(pandas.DataFrame({'p': new}))]\n"
        "answers.append(model.get_raw_model().apply(new))\n"
        "numpy.save('answers.npy', answers)\n"
        "assert not any(one.startswith(('dashboard', 'streamlit')) for one in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code, logged.model_uri], cwd=tmp_path, check=True)
    for answer in np.load(tmp_path / "answers.npy"):
        np.testing.assert_array_equal(answer, calibrator.apply(new))
    (folder,) = {path.parent for path in (tmp_path / "files").rglob("MLmodel")}
    assert not [*folder.rglob("*.pkl")]
    assert "fractile==" in (folder / "requirements.txt").read_text("utf-8")


def test_one_of_all_classes_takes_named_columns_and_refuses_others() -> None:
    rng = np.random.default_rng(1)
    logits = 3 * rng.normal(size=(300, 3))
    labels = (logits + 3 * rng.gumbel(size=logits.shape)).argmax(axis=1)
    table = pd.DataFrame(logits, columns=["cat", "dog", "fox"])
    names = np.array(table.columns)[labels]
    calibrator = CalibratorFile.of(audit(table, names, calibrator=TemperatureScaling()))
    with mlflow.start_run():
        uri = log_calibrator(calibrator, "scaled", pip_requirements=["fractile"]).model_uri
    model = mlflow.pyfunc.load_model(uri)
    np.testing.assert_array_equal(model.predict(table), calibrator.apply(table))
    turned = table[["dog", "cat", "fox"]]
    np.testing.assert_array_equal(model.predict(turned), calibrator.apply(table))
    with pytest.raises(CalibrationInputError, match="Expected cat, dog, fox"):
        model.predict(table.rename(columns={"fox": "owl"}))


def test_one_by_group_is_refused() -> None:
    groups = np.arange(400) % 2
    drawn, hits = scores()
    result = audit(drawn, hits ^ (groups == 1), groups=groups, calibrator=ByGroup(PlattScaling()))
    with pytest.raises(CalibrationInputError, match="by group"):
        log_calibrator(CalibratorFile.of(result))


def test_the_page_s_lines_run(store: Any) -> None:
    run_block("log_audit")
    (run,) = store.search_runs([store.get_experiment_by_name("test").experiment_id])
    assert {"calibration/before/ks_error", "calibration/after/ks_error"} <= {*run.data.metrics}
