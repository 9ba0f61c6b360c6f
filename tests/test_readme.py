"""The README's figures and its example, computed anew."""

import doctest
from pathlib import Path

import numpy as np
import pytest

from calibcore import LogitSet, Split, TopR, WithinTopR, audit
from calibcore.calibrators import SplineCalibration, TemperatureScaling
from calibcore.events import Event

ROOT = Path(__file__).parents[1]
EVENTS: dict[str, Event] = {"top-1": TopR(1), "top-2": TopR(2), "within top-2": WithinTopR(2)}


def table_row(name: str, event_name: str) -> str:
    with np.load(ROOT / "sample_logits" / f"{name}.npz", allow_pickle=False) as data:
        split = Split(
            LogitSet(data["logits_calibration"], data["labels_calibration"]),
            LogitSet(data["logits_test"], data["labels_test"]),
        )
    event = EVENTS[event_name]
    papers = SplineCalibration(constrained=False)
    spline = audit(split, event=event, calibrator=papers).test
    temperature = audit(split, event=event, calibrator=TemperatureScaling()).test
    cells = [
        f"{100 * side.curves.ks_error:.2f} ({100 * side.curves.ks_null_95:.2f})"
        for side in (spline.before, spline.after, temperature.after)
    ]
    accuracies = {result.compare("accuracy").after for result in (spline, temperature)} | {
        spline.compare("accuracy").before
    }
    assert len(accuracies) == 1
    accuracy = accuracies.pop()
    assert accuracy is not None
    return f"| `{name}` | {event_name} | {' | '.join(cells)} | {100 * accuracy:.2f} |"


@pytest.mark.parametrize("name", ["fashion_cnn_overconfident", "city_country_100"])
@pytest.mark.parametrize("event", list(EVENTS))
def test_the_ks_table_is_what_the_program_computes(name: str, event: str) -> None:
    assert table_row(name, event) in (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["fashion_cnn_overconfident", "city_country_100"])
def test_the_spline_brings_top_1_below_one_percent(name: str) -> None:
    cells = table_row(name, "top-1").split(" | ")
    assert float(cells[3].split()[0]) < 1


def test_the_example_runs_in_any_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert outcome.attempted > 5
    assert outcome.failed == 0
