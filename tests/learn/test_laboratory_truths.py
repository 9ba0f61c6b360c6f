"""The truths that the laboratory states of each of its models, against numerical integrals."""

import math
from dataclasses import replace
from functools import cache

import pytest

from calibcore.synthetic import World
from dashboard.learn.laboratory import PRESETS, LaboratoryModel, Result, result_of
from dashboard.texts import laboratory as words
from tests.reference_worlds import Slow, frequency_at

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
    text, slow = words.conclusion(result(name)), slow_truths(name)
    distance, ks = slow["KDE-ECE"][0], slow["KS error"][0]
    assert text.endswith(f" True KS error: {ks:.1f}%.")
    if name == "calibrated":
        assert "In truth the model is perfectly calibrated" in text
    else:
        assert f"True mean error {distance:.1f} pp; these 200 rows" in text
    table = words.calibrator_rows(result(name).calibrators, result(name).truth)
    uncalibrated = next(cells for label, *cells in table if label == "Uncalibrated")
    root = slow["ECE, squared gaps, debiased"][0]
    assert uncalibrated == [f"{root:.1f} pp", f"{distance:.1f}%", f"{ks:.1f}%"]


@pytest.mark.parametrize("name", [name for name, one in PRESETS.items() if one.form != "zhang"])
def test_the_event_is_as_frequent_as_the_slider_of_the_base_rate_says(name: str) -> None:
    rate = Slow(PRESETS[name].model).mean(lambda _s, p: p)
    assert 100 * rate == pytest.approx(PRESETS[name].rate, abs=5e-4)


LOW, HIGH = (0.1, 0.3), (0.7, 0.9)


def true_gaps(*scores: float, slope: int = 100, shift: int = 0, wave: int = 0) -> list[float]:
    """Score minus true frequency, of a model of two classes that else is perfectly calibrated."""
    curve = LaboratoryModel(slope=slope, shift=shift, wave=wave).model.curve
    return [score - frequency_at(curve, score) for score in scores]


def test_what_is_said_beside_each_slider_of_the_curve_is_so() -> None:
    text = words.HELP
    assert text["slope"].endswith("Below 1: scores too extreme. Above 1: not extreme enough.")
    for slope, sign in ((90, 1), (110, -1)):  # too extreme: too low scores below 50%
        assert all(sign * gap < 0 for gap in true_gaps(*LOW, slope=slope))
        assert all(sign * gap > 0 for gap in true_gaps(*HIGH, slope=slope))
    assert text["shift"].endswith("Below 0: scores too high. Above 0: too low.")
    assert min(true_gaps(*LOW, *HIGH, shift=-1)) > 0 > max(true_gaps(*LOW, *HIGH, shift=1))
    assert text["wave"].endswith("too low below 50% and too high above it, or the reverse.")
    for wave in (1, -1):
        assert all(wave * gap < 0 for gap in true_gaps(*LOW, wave=wave))
        assert all(wave * gap > 0 for gap in true_gaps(*HIGH, wave=wave))


def test_what_is_said_beside_the_sliders_of_the_scores_is_so() -> None:
    assert words.HELP["sharpness"].endswith("0: all alike.")
    assert len(set(World(sharpness=0).draw(50, seed=1).event.scores.tolist())) == 1
    assert "At 0 they stay around 50%, and the event is as frequent as" in words.HELP["rate"]
    slow = Slow(LaboratoryModel(rate=0, slope=100, shift=10).model)
    assert slow.mean(lambda s, _p: s) == pytest.approx(0.5, abs=1e-9)
    assert slow.mean(lambda _s, p: p) > 0.6


def test_what_is_said_of_the_classifier_of_zhang_2020_is_so() -> None:
    assert words.HELP["beta0"].endswith(
        "log-odds are \u03b20 + \u03b21 x; true ones are \u22122 x."
    )
    for x in (-2.0, -0.4, 1.5):
        score, true = (1 / (1 + math.exp(-odds)) for odds in (0.5 - 1.5 * x, -2 * x))
        (result,) = PRESETS["zhang"].model.frequency([score])
        assert result == pytest.approx(true)
    assert words.HELP["beta1"] == (
        "\u22122 with \u03b20 = 0 is perfectly calibrated; nearer to 0: not extreme enough."
    )
    worlds = {
        beta1: LaboratoryModel(form="zhang", beta0=0, beta1=beta1).model for beta1 in (-20, -15)
    }
    for score in (*LOW, *HIGH):
        assert worlds[-20].frequency([score])[0] == pytest.approx(score)
        assert (worlds[-15].frequency([score])[0] > score) == (score > 0.5)
    less, better = (slow_truths(name)["KDE-ECE"][0] for name in ("zhang", "zhang_better"))
    assert less > better
    names = [words.PRESETS[name] for name in ("zhang", "zhang_better")]
    assert names == ["Zhang 2020, less calibrated", "Zhang 2020, better calibrated"]
