"""A network at a temperature, against slow loops."""

import math

import numpy as np
import pytest

from calibcore.calibrators import FittedTemperature
from calibcore.evaluation import evaluate
from calibcore.events import TopR
from calibcore.fitting import prepare
from calibcore.metrics import Options
from dashboard.figures import LIGHT
from dashboard.learn import data
from dashboard.learn.tempered import (
    LEAST,
    N_BINS,
    TemperedPrediction,
    at_temperature,
    diagram,
    fitted_temperature,
    row,
    verdict,
)
from dashboard.texts.badges import side_badge
from tests import reference
from tests.learn import reference as slow

SMOOTHED, FOCAL = "fashion_cnn_label_smoothing", "fashion_cnn_focal"


@pytest.mark.parametrize(
    ("temperature", "sample"), [(1.0, data.NETWORK), (3.98, data.NETWORK), (1.0, SMOOTHED)]
)
def test_figures_are_those_of_slow_loops(temperature: float, sample: str) -> None:
    result, rows = at_temperature(temperature, sample), slow.at_temperature(temperature, sample)
    assert result.n_rows == len(rows.scores)
    assert result.mean_score == pytest.approx(reference.mean(rows.scores), abs=1e-12)
    assert result.accuracy == reference.mean(rows.hits)
    assert result.ks_error == pytest.approx(slow.ks_error(rows.scores, rows.hits), abs=1e-12)
    assert result.nll == pytest.approx(reference.nll(rows.probabilities, rows.labels), abs=1e-9)
    entropies = [-sum(p * math.log(p) for p in row if p > 0) for row in rows.probabilities]
    assert result.entropy == pytest.approx(reference.mean(entropies), abs=1e-9)
    wanted = reference.bins(rows.scores, rows.hits, N_BINS, "equal_width")
    assert result.binned.bins.counts.tolist() == wanted.counts
    np.testing.assert_allclose(result.binned.bins.frequency, wanted.frequency, atol=1e-12)
    np.testing.assert_allclose(result.binned.bins.mean_score, wanted.mean_score, atol=1e-12)
    ece = reference.ece(rows.scores, rows.hits, N_BINS, "equal_width")
    assert result.ece == pytest.approx(ece, abs=1e-12)


@pytest.mark.parametrize("sample", [data.NETWORK, SMOOTHED, FOCAL])
def test_the_fitted_temperature_has_the_least_nll(sample: str) -> None:
    logits, labels = slow.logits_of(sample, "calibration")
    inverse = 1 / fitted_temperature(sample)
    below, above = (reference.scaled_nll_slope(logits, labels, f * inverse) for f in (0.999, 1.001))
    assert below < 0 < above


@pytest.mark.parametrize(
    ("temperature", "sample", "word"),
    [
        (0.251, data.NETWORK, "overconfident"),
        (1.68, data.NETWORK, "overconfident"),
        (2.37, data.NETWORK, "underconfident"),
        (1.0, SMOOTHED, "underconfident"),
        (1.0, FOCAL, "underconfident"),
    ],
)
def test_the_pages_find_the_same(temperature: float, sample: str, word: str) -> None:
    result = at_temperature(temperature, sample)
    event, fitted = TopR(1), FittedTemperature(temperature)
    page = evaluate(prepare(data.sample(sample).test, event), event, fitted, Options())
    assert word in verdict(result)
    assert side_badge(page.after, prediction=True) == result.badge


def test_the_diagram_shows_bins_of_enough_rows() -> None:
    result = at_temperature(0.251)
    bars = diagram(result, LIGHT, "Any").figure.data[0]
    counts = result.binned.bins.counts
    assert counts.min() == 0
    assert counts[counts < LEAST].max() > 0
    assert len(bars.y) == np.count_nonzero(counts >= LEAST)
    np.testing.assert_array_equal(bars.y, result.binned.bins.frequency[counts >= LEAST])


def test_a_row_of_the_table_is_written_as_its_head_says() -> None:
    result = TemperedPrediction(
        2.0, 1000, 0.9, 0.8, 0.11, 0.001, 0.5, 0.7, at_temperature(1.0).binned
    )
    assert row(result, "Name") == ("Name", "2", "90.0%", "80.0%", "11.0%", "5.1%", "0.500", "0.700")
