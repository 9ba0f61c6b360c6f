"""Where the KS error is the mean gap, and where entropy is the NLL."""

import math

import numpy as np
import pytest
from hypothesis import given

from calibcore import cumulative_curves, metrics
from calibcore.calibrators import TemperatureScaling
from calibcore.metrics import entropy_is_nll, ks_is_mean_gap, mean_entropy
from calibcore.probabilities import softmax
from tests.peers.cases import NAMES, case
from tests.strategies import EventCase, LogitCase, event_data, logit_sets


def test_gaps_of_one_sign_make_the_ks_error_the_mean_gap(rng: np.random.Generator) -> None:
    """Gupta 2021, eq. 8."""
    scores = rng.uniform(0.3, 0.9, 20_000)
    for shift in (-0.2, 0.1):
        curves = cumulative_curves(scores, rng.random(scores.size) < scores + shift)
        assert ks_is_mean_gap(curves)
        assert curves.gap[-1] == pytest.approx(-shift, abs=0.015)
        assert curves.ks_error == pytest.approx(abs(curves.gap[-1]), rel=0.01)
    both = np.where(scores < 0.6, scores - 0.2, scores + 0.1)
    assert not ks_is_mean_gap(cumulative_curves(scores, rng.random(scores.size) < both))


@given(event_data())
def test_it_is_said_just_where_the_last_gap_is_as_large(one: EventCase) -> None:
    curves = cumulative_curves(*one)
    last, largest = abs(float(curves.gap[-1])), curves.ks_error
    apart = curves.kuiper <= largest * 1.1
    expected = largest > 0 and last >= largest * 0.9 and apart
    assert ks_is_mean_gap(curves, close=0.1) == expected
    mean_gap = metrics.mean_score(*one) - metrics.hit_rate(*one)
    assert curves.gap[-1] == pytest.approx(mean_gap, abs=1e-12)


def test_the_samples_it_holds_for() -> None:
    """The two most overconfident networks; two others are first off to the other side."""
    held = {}
    for name in NAMES:
        curves = cumulative_curves(case(name).test_events.scores, case(name).test_events.hits)
        if ks_is_mean_gap(curves):
            held[name] = np.sign(curves.gap[-1])
    assert held == {
        "city_country_100": 1,
        "fashion_cnn_overconfident": 1,
    }


@given(logit_sets())
def test_entropy_is_that_of_the_loop(one: LogitCase) -> None:
    table = softmax(one.logits)
    terms = [-p * math.log(p) for row in table.tolist() for p in row if p > 0]
    assert mean_entropy(table) == pytest.approx(math.fsum(terms) / len(table), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_entropy_is_the_nll_where_the_temperature_was_fitted(name: str) -> None:
    """Guo 2017, section S2; of the rows and the loss of the fit alone."""
    rows, other = case(name).calibration, case(name).test
    fitted = TemperatureScaling().fit(rows.logits, rows.labels)
    result = entropy_is_nll(fitted.predict_proba(rows.logits), rows.labels)
    assert result == metrics.nll(fitted.predict_proba(rows.logits), rows.labels)
    assert result == pytest.approx(mean_entropy(fitted.predict_proba(rows.logits)), rel=1e-7)
    assert entropy_is_nll(fitted.predict_proba(other.logits), other.labels) is None
    squared = TemperatureScaling("squared_error").fit(rows.logits, rows.labels)
    assert entropy_is_nll(squared.predict_proba(rows.logits), rows.labels) is None


def test_it_is_not_said_where_the_temperature_is_at_its_end() -> None:
    logits, labels = [[1.0, 0.0]] * 4, [0] * 4  # always right: T would be 0
    table = TemperatureScaling().fit(logits, labels).predict_proba(logits)
    assert entropy_is_nll(table, [1, 0, 0, 0]) is None
