"""The truths that the laboratory states of each of its models, against numerical integrals."""

import math
from dataclasses import replace
from functools import cache

import pytest

from dashboard.learn.laboratory import PRESETS, Result, result_of
from dashboard.texts import laboratory as words
from tests.reference_worlds import Slow

each_model = pytest.mark.parametrize("name", PRESETS)


@cache
def result(name: str) -> Result:
    return result_of(replace(PRESETS[name], rows=200))


@cache
def slow_truths(name: str) -> dict[str, tuple[float, float]]:
    """Each line of the table: what is true, and one unit of its last digit."""
    slow = Slow(PRESETS[name].model)
    distance = 100 * slow.mean(lambda s, p: abs(s - p))
    squares = slow.mean(lambda s, p: (s - p) ** 2)
    nll = slow.mean(lambda s, p: -p * math.log(s) - (1 - p) * math.log1p(-s))
    return {
        "Mean score minus frequency": (100 * slow.gap(), 0.1),
        "Calibration intercept": (slow.intercept(), 0.001),
        "Calibration slope": (slow.slope(), 0.001),
        "KS error": (100 * slow.ks() if distance > 1e-6 else 0.0, 0.1),
        "ECE, equal-width bins": (distance, 0.1),
        "ECE, equal-mass bins": (distance, 0.1),
        "ECE, squared gaps, debiased": (100 * math.sqrt(squares), 0.1),
        "Smooth ECE": (100 * slow.smooth_ece() if distance > 1e-6 else 0.0, 0.1),
        "KDE-ECE": (distance, 0.1),
        "Brier score of the event": (slow.mean(lambda _s, p: p * (1 - p)) + squares, 0.001),
        "NLL of the event": (nll, 0.001),
        "AUROC of the score": (slow.auroc(), 0.001),
    }


def number(text: str) -> float:
    return float(text.replace("\u2212", "-").removesuffix("%").removesuffix("\u00a0pp"))


@each_model
def test_each_truth_of_the_table_is_an_integral_over_the_true_curve(name: str) -> None:
    table = words.estimate_rows(result(name), None)
    slow = slow_truths(name)
    assert [line[0] for line in table] == list(slow)
    for (label, _, truth, error), own in zip(table, result(name).values.values(), strict=True):
        value, unit = slow[label]
        assert number(truth) == pytest.approx(value, abs=0.501 * unit), label
        of_rows = 100 * own[0] if unit == 0.1 else own[0]
        assert number(error) == pytest.approx(of_rows - value, abs=0.501 * unit), label


@each_model
def test_what_is_called_true_elsewhere_is_that_of_the_table(name: str) -> None:
    said, slow = words.conclusion(result(name)), slow_truths(name)
    distance, ks = slow["KDE-ECE"][0], slow["KS error"][0]
    assert said.endswith(f" True KS error: {ks:.1f}%.")
    if name == "calibrated":
        assert "In truth the model is perfectly calibrated" in said
    else:
        assert f"True mean error {distance:.1f} pp; these 200 rows" in said
    table = words.calibrator_rows(result(name).calibrators, result(name).truth)
    uncalibrated = next(cells for label, *cells in table if label == "Uncalibrated")
    root = slow["ECE, squared gaps, debiased"][0]
    assert uncalibrated == [f"{root:.1f} pp", f"{distance:.1f}%", f"{ks:.1f}%"]


@pytest.mark.parametrize("name", [name for name, one in PRESETS.items() if one.form != "zhang"])
def test_the_event_is_as_frequent_as_the_slider_of_the_base_rate_says(name: str) -> None:
    rate = Slow(PRESETS[name].model).mean(lambda _s, p: p)
    assert 100 * rate == pytest.approx(PRESETS[name].rate, abs=5e-4)
