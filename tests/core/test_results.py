"""What a user of the library meets first: the version, the samples, results in a console."""

import tomllib
from pathlib import Path

import pytest

import calibcore
from calibcore import CalibrationInputError, LogitSet, Split, TopR, audit, load_sample
from calibcore.auditing import AuditResult
from calibcore.calibrators import SplineCalibration, VectorScaling
from calibcore.inference import Plan, SideRows, infer
from calibcore.metrics import METRICS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def split() -> Split[LogitSet]:
    data = load_sample("fashion_cnn_overconfident")
    calibration, test = (
        LogitSet(data[f"logits_{part}"][:600], data[f"labels_{part}"][:600])
        for part in ("calibration", "test")
    )
    return Split(calibration, test)


@pytest.fixture(scope="module")
def result(split: Split[LogitSet]) -> AuditResult:
    return audit(split, event=TopR(1), calibrator=SplineCalibration())


def test_the_version_is_the_projects() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert calibcore.__version__ == project["version"]


def test_both_packages_say_that_they_are_typed() -> None:
    assert (ROOT / "calibcore" / "py.typed").is_file()
    assert (ROOT / "dashboard" / "py.typed").is_file()


def test_a_sample_loads_from_any_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    data = load_sample("crash_survival")
    assert data["logits_test"].shape == (len(data["labels_test"]), len(data["class_names"]))
    assert "column_airbag_test" in data


@pytest.mark.parametrize("name", ["fashion", "../sample_logits/crash_survival", ""])
def test_an_unknown_sample_is_refused_with_the_names(name: str) -> None:
    with pytest.raises(CalibrationInputError, match="Expected one of city_country_100, "):
        load_sample(name)


def test_results_are_shown_in_one_short_line(split: Split[LogitSet], result: AuditResult) -> None:
    rows = split.test
    side, after = result.test.before, result.test.after
    vector = VectorScaling().fit(rows.logits, rows.labels)
    bounds = infer(SideRows(side.event), SideRows(after.event), Plan(n_resamples=20))
    shown = [split, rows, result, result.test, side, side.event, side.curves, side.counted]
    shown += [side.binned, side.corp, side.smooth, side.null, side.frequency, vector, result.fitted]
    shown += [bounds, *bounds.findings, *result.test.comparisons]
    lengths = {type(one).__name__: len(repr(one)) for one in shown}
    assert {name: n for name, n in lengths.items() if n > 300} == {}
    assert repr(side.event) == "EventScores(scores=float64[600], hits=int8[600])"


def test_an_unknown_key_is_refused_with_the_keys(result: AuditResult) -> None:
    sides = SideRows(result.test.before.event), SideRows(result.test.after.event)
    answer = infer(*sides, Plan(measures=METRICS[:2], n_resamples=20))
    for find in (result.test.compare, answer.find):
        with pytest.raises(CalibrationInputError, match=r"'no such key'\. Expected one of ks_err"):
            find("no such key")
