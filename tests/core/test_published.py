"""Numbers from papers, to the last digit printed, and numbers worked out by hand."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from calibcore import metrics
from calibcore.calibrators import SplineCalibration, TemperatureScaling
from calibcore.cumulative import cumulative_curves, ks_error
from tests.strategies import EventCase

REFERENCE = Path(__file__).parents[3] / "shared" / "reference"


def top_1(network: str) -> EventCase:
    """Top-1 scores and hits of one of the paper's own networks on the CIFAR-10 test set."""
    path = REFERENCE / f"{network}_top1.csv"
    if not path.is_file():
        pytest.skip(f"the published scores of {network} are not on this machine")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return EventCase(
        np.array([float(row["confidence"]) for row in rows]),
        np.array([int(row["true_label"] == row["pred_label"]) for row in rows]),
    )


@pytest.mark.parametrize(
    ("network", "ks", "ece", "accuracy"),
    [  # Gupta 2021: Table 1, Table 6, Table 5, column "Uncalibrated"
        ("resnet110_c10", "4.750", "4.750", "93.56"),
        ("densenet40_c10", "5.493", "5.507", "92.42"),
    ],
)
def test_gupta_2021(network: str, ks: str, ece: str, accuracy: str) -> None:
    case = top_1(network)
    assert f"{100 * ks_error(*case):.3f}" == ks
    assert f"{100 * metrics.ks_error(*case):.3f}" == ks
    assert f"{100 * metrics.ece(*case, n_bins=25):.3f}" == ece
    assert f"{100 * metrics.hit_rate(*case):.2f}" == accuracy


def test_gupta_2021_figure_1() -> None:
    # "KS-error = 5.493%, Probability = 92.420%". The model claims too much everywhere, so the gap
    # is largest near the very end (eq. 8), where it is the mean score less the accuracy.
    curves = cumulative_curves(*top_1("densenet40_c10"))
    assert f"{100 * curves.cum_hits[-1]:.3f}" == "92.420"
    assert curves.ks_fractile > 0.9
    assert curves.ks_p_value < 1e-6


@pytest.mark.parametrize("network", ["resnet110_c10", "densenet40_c10"])
def test_gupta_2021_the_spline_mends_its_own_calibration_set(network: str) -> None:
    # Figure 2, top row: "almost perfectly calibrated when tested on the calibration set"
    case = top_1(network)
    fitted = SplineCalibration(constrained=False).fit(*case)
    assert ks_error(fitted.predict(case.scores), case.hits) < 0.005


def niamey(forecast: str) -> EventCase:
    """A forecast of rain at Niamey on 92 days of 2016, and whether it rained.

    The data set ``precip_Niamey_2016`` of the R package reliabilitydiag, to 6 decimals: Vogel et
    al., *Geophysical Research Letters* 2021, from products of ECMWF (www.ecmwf.int), CC BY 4.0.
    """
    path = Path(__file__).with_name("precip_niamey_2016.csv")
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return EventCase(
        np.array([float(row[forecast]) for row in rows]),
        np.array([int(row["obs"]) for row in rows]),
    )


@pytest.mark.parametrize(
    ("forecast", "score", "parts"),
    [  # summary.reliabilitydiag: mean_score; miscalibration, discrimination, uncertainty
        ("Logistic", "0.206", ("0.0171", "0.0555", "0.244")),
        ("EMOS", "0.232", ("0.0183", "0.0305", "0.244")),
        ("ENS", "0.266", ("0.0661", "0.0441", "0.244")),
        ("EPC", "0.234", ("0.0223", "0.0323", "0.244")),
    ],
)
def test_dimitriadis_2021(forecast: str, score: str, parts: tuple[str, str, str]) -> None:
    scores, hits = niamey(forecast)
    own = metrics.corp(scores, hits)
    values = own.miscalibration, own.discrimination, own.uncertainty
    assert tuple(f"{one:.3g}" for one in values) == parts
    assert f"{metrics.event_brier(scores, hits):.3g}" == score


# By hand ----------------------------------------------------------------------------------------

# Sorted: 0.2 miss, 0.4 hit, 0.6 miss, 0.6 hit, 0.9 hit
SCORES = [0.6, 0.2, 0.9, 0.6, 0.4]
HITS = [0, 0, 1, 1, 1]


def test_cumulative_curves_by_hand() -> None:
    curves = cumulative_curves(SCORES, HITS)
    # Blocks 0.2 | 0.4 | 0.6, 0.6 | 0.9
    assert curves.fractile.tolist() == [0.0, 0.2, 0.4, 0.8, 1.0]
    assert curves.score.tolist() == [0.0, 0.2, 0.4, 0.6, 0.9]
    # Running scores 0.2, 0.6, 1.8, 2.7 and hits 0, 1, 2, 3, each over 5
    assert curves.cum_score.tolist() == pytest.approx([0.0, 0.04, 0.12, 0.36, 0.54], abs=1e-15)
    assert curves.cum_hits.tolist() == pytest.approx([0.0, 0.0, 0.2, 0.4, 0.6], abs=1e-15)
    # Score - hits: 0, 0.04, -0.08, -0.04, -0.06: largest 0.08 after 0.4, range 0.04 + 0.08
    assert curves.ks_error == pytest.approx(0.08, abs=1e-15)
    assert curves.ks_fractile == 0.4
    assert curves.kuiper == pytest.approx(0.12, abs=1e-15)
    # Spread: sqrt(0.16 + 0.24 + 0.24 + 0.24 + 0.09) / 5 = sqrt(0.97) / 5 = 0.196977;
    # 0.08 / 0.196977 = 0.406138; P(sup|W| < x) = 4 / pi exp(-pi^2 / (8 x^2)) + smaller terms
    # = 1.273240 * exp(-7.47946) = 1.273240 * 0.000564575
    assert curves.ks_p_value == pytest.approx(1 - 1.273240 * 0.000564575, abs=1e-6)


def test_ece_and_mce_by_hand() -> None:
    # Two bins, (0, 0.5] and (0.5, 1]: {0.2 miss, 0.4 hit} and {0.6 miss, 0.6 hit, 0.9 hit}
    # Mean scores 0.3 and 0.7, frequencies 1/2 and 2/3, gaps 0.2 and 1/30
    assert metrics.ece(SCORES, HITS, n_bins=2) == pytest.approx(2 / 5 * 0.2 + 3 / 5 / 30, abs=1e-15)
    assert metrics.mce(SCORES, HITS, n_bins=2) == pytest.approx(0.2, abs=1e-15)
    # Squares of the gaps: 2/5 of 0.04 and 3/5 of 1/900 make 0.016 and 1/1500
    second = metrics.ece(SCORES, HITS, n_bins=2, norm=2)
    assert second == pytest.approx(math.sqrt(0.016 + 1 / 1500), abs=1e-15)
    # Equal mass: place floor(5/2) = 2, score 0.4, so the same two groups
    assert metrics.ece(SCORES, HITS, n_bins=2, binning="equal_mass") == pytest.approx(
        0.1, abs=1e-15
    )
    # Five bins of width 0.2: 0.2 | 0.4 | 0.6, 0.6 | none | 0.9, each edge in the bin below.
    # Gaps 0.2, 0.6, 0.1, none, 0.1 with weights 1, 1, 2, 0, 1 over 5: (0.2 + 0.6 + 0.2 + 0.1) / 5
    assert metrics.ece(SCORES, HITS, n_bins=5) == pytest.approx(0.22, abs=1e-15)
    assert metrics.mce(SCORES, HITS, n_bins=5) == pytest.approx(0.6, abs=1e-15)


def test_event_brier_and_nll_by_hand() -> None:
    # (0.6^2 + 0.2^2 + 0.1^2 + 0.4^2 + 0.6^2) / 5 = (0.36 + 0.04 + 0.01 + 0.16 + 0.36) / 5
    assert metrics.event_brier(SCORES, HITS) == pytest.approx(0.186, abs=1e-15)
    # -ln of 0.4, 0.8, 0.9, 0.6, 0.4: their product is 0.06912
    assert metrics.event_nll(SCORES, HITS) == pytest.approx(-math.log(0.06912) / 5, abs=1e-15)
    assert metrics.mean_score(SCORES, HITS) == pytest.approx(0.54, abs=1e-15)
    assert metrics.hit_rate(SCORES, HITS) == 0.6


def test_brier_and_nll_by_hand() -> None:
    probabilities = [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]]
    # Truth 0: 0.5^2 + 0.3^2 + 0.2^2 = 0.38. Truth 2: 0.1^2 + 0.8^2 + 0.9^2 = 1.46. Mean 0.92
    assert metrics.brier(probabilities, [0, 2]) == pytest.approx(0.92, abs=1e-15)
    # -(ln 0.5 + ln 0.1) / 2 = -ln 0.05 / 2
    assert metrics.nll(probabilities, [0, 2]) == pytest.approx(-math.log(0.05) / 2, abs=1e-15)
    assert metrics.accuracy(probabilities, [0, 2]) == 0.5


@pytest.mark.parametrize("difference", [0.5, 3.0, 20.0])
@pytest.mark.parametrize(("n_right", "n_wrong"), [(3, 1), (9, 1), (2, 1)])
def test_temperature_by_hand(difference: float, n_right: int, n_wrong: int) -> None:
    # Every row says class 0 by the same difference d, and is right in a share q: the best
    # probability is q, so d / T = ln(q / (1 - q)) = ln(n_right / n_wrong)
    n_rows = n_right + n_wrong
    fitted = TemperatureScaling().fit([[difference, 0.0]] * n_rows, [0] * n_right + [1] * n_wrong)
    wanted = difference / math.log(n_right / n_wrong)
    assert fitted.temperature == pytest.approx(wanted, rel=1e-9)
    sure = n_right / n_rows
    assert fitted.predict_proba([[difference, 0.0]])[0, 0] == pytest.approx(sure, rel=1e-9)


def test_temperature_of_three_classes_by_hand() -> None:
    # Logits (d, 0, 0), right in a share q: e^(d/T) / (e^(d/T) + 2) = q, so
    # d / T = ln(2q / (1 - q)); with d = 4 and q = 3/4, T = 4 / ln 6
    fitted = TemperatureScaling().fit([[4.0, 0.0, 0.0]] * 4, [0, 0, 0, 2])
    assert fitted.temperature == pytest.approx(4 / math.log(6), rel=1e-9)


def test_spline_with_two_knots_by_hand() -> None:
    # Two knots and natural ends make a straight line a + b x, fitted to (i/4, v_i).
    # Scores 0.2, 0.4, 0.6, 0.8 with hits 0, 0, 1, 0: hits - scores = -0.2, -0.4, 0.4, -0.8;
    # v = -0.05, -0.15, -0.05, -0.25. With x - mean = -3/8, -1/8, 1/8, 3/8 the slope is
    # (3/8 * 0.05 + 1/8 * 0.15 - 1/8 * 0.05 - 3/8 * 0.25) / (20/64) = -0.0625 / 0.3125 = -0.2
    paper = SplineCalibration(n_knots=2, constrained=False)
    fitted = paper.fit([0.2, 0.4, 0.6, 0.8], [0, 0, 1, 0])
    # Each score less 0.2; between them straight lines, outside them constant, never below 0
    result = fitted.predict([0.1, 0.2, 0.4, 0.5, 0.6, 0.8, 0.9])
    assert result.tolist() == pytest.approx([0.0, 0.0, 0.2, 0.3, 0.4, 0.6, 0.6], abs=1e-14)
    # The paper's text: v = 0, 0, 1/4, 1/4, slope (1/8 + 3/8) / 4 / (20/64) = 0.4 for every score
    text = SplineCalibration(n_knots=2, fit_to="hits", constrained=False).fit(
        [0.2, 0.4, 0.6, 0.8], [0, 0, 1, 0]
    )
    assert text.predict([0.0, 0.5, 1.0]).tolist() == pytest.approx([0.4, 0.4, 0.4], abs=1e-14)
