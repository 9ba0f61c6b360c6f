"""Neither the order of the rows nor the numbers of the classes matter, ties or not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from calibcore import metrics
from calibcore.calibrators import EnsembleTemperatureScaling
from calibcore.calibrators.base import VectorMap
from calibcore.calibrators.method import Method
from calibcore.cumulative import cumulative_curves
from calibcore.data import LogitSet
from calibcore.events import OneClass, TopR
from calibcore.probabilities import softmax
from calibcore.validation import Floats, Labels
from tests.core.calibrators.test_contract import OF_CLASSES, named

SLOW = ("beta_ensemble", "dirichlet", "gaussian_process", "matrix")


def draw_rows(seed: int, *, tied: bool) -> tuple[Floats, Labels]:
    """Draw logits with labels; with ties, from few values."""
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(40, 120)), int(rng.integers(2, 6))
    # Of few binary digits, so that adding a whole number rounds nothing.
    logits = rng.integers(-4, 5, shape) / 2 if tied else (rng.normal(size=shape) * 2**21).round()
    logits = logits if tied else logits / 2**20
    return logits, (logits + 2 * rng.gumbel(size=shape)).argmax(axis=1)


@pytest.mark.parametrize(("method", "options"), OF_CLASSES, ids=named)
def test_a_fit_depends_on_no_order_and_on_nothing_added_to_a_row(
    method: Method, options: dict[str, str | bool]
) -> None:
    for seed in range(2 if method.key in SLOW or options else 8):
        # Which of two equal scores has the first rank is settled by the classes' numbers.
        tied = seed % 2 == 1 and method.key != "per_rank"
        logits, labels = draw_rows(seed, tied=tied)
        rng = np.random.default_rng(seed)
        rows, classes = rng.permutation(len(labels)), rng.permutation(logits.shape[1])
        number = np.argsort(classes)
        calibrator = method.make(**options)
        assert isinstance(calibrator, VectorMap)
        before = calibrator.fit(logits, labels).predict_proba(logits)
        moved = calibrator.fit(logits[rows][:, classes], number[labels[rows]])
        assert_allclose(moved.predict_proba(logits[:, classes]), before[:, classes], atol=1e-8)
        shift = rng.integers(-900, 900, (len(labels), 1))
        shifted = calibrator.fit(logits + shift, labels).predict_proba(logits - shift)
        assert_allclose(shifted, before, atol=1e-5)


@given(st.integers(0, 10_000))
def test_measures_do_not_depend_on_the_order_of_classes(seed: int) -> None:
    rounded = seed % 2 == 1
    logits, labels = draw_rows(seed, tied=True)
    likeliest = np.sort(logits, axis=1)[:, -1:]
    alone = np.count_nonzero(logits == likeliest, axis=1) == 1  # else which is first decides
    alone[0] = True
    logits, labels = logits[alone], labels[alone]
    logits[0], labels[0] = np.arange(logits.shape[1]), 0
    classes = np.random.default_rng(seed).permutation(logits.shape[1])
    number = np.argsort(classes)
    first, other = LogitSet(logits, labels), LogitSet(logits[:, classes], number[labels])
    if rounded:
        table = np.round(first.probabilities, 2)
        table[:, 0] += 1 - table.sum(axis=1)
        table = np.abs(np.round(table, 2))
        first = LogitSet.from_probabilities(table, labels)
        other = LogitSet.from_probabilities(table[:, classes], number[labels])
    for event, same in ((TopR(1), TopR(1)), (OneClass(0), OneClass(int(number[0])))):
        if rounded and event == TopR(1):
            continue  # rounding may tie the likeliest classes
        here = event.outcomes(first.probabilities, first.labels)
        there = same.outcomes(other.probabilities, other.labels)
        curves = cumulative_curves(here.scores, here.hits)
        moved = cumulative_curves(there.scores, there.hits)
        assert moved.ks_error == pytest.approx(curves.ks_error, abs=1e-12)
        assert moved.fractile.size == curves.fractile.size
        if 0 < here.hits.sum() < here.hits.size:
            result = metrics.auroc(there.scores, there.hits)
            assert result == pytest.approx(metrics.auroc(here.scores, here.hits), abs=1e-12)


@given(st.integers(0, 10_000))
@settings(max_examples=40)
def test_ensemble_temperature_keeps_the_order_where_a_model_knows_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(60, 4))
    for labels in (logits.argmin(axis=1), rng.integers(0, 4, 60)):
        result = EnsembleTemperatureScaling().fit(logits, labels).predict_proba(logits)
        assert np.array_equal(result.argmax(axis=1), softmax(logits).argmax(axis=1))
        assert_allclose(result.sum(axis=1), 1)
