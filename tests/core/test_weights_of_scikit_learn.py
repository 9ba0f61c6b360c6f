"""scikit-learn's own tests of weights, as it ships them, of calibcore through a thin shim.

The estimators' are in `test_estimators.py`. An array is of sampling weights, fractional ones too.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any, Self

import numpy as np
import pytest
from numpy.typing import ArrayLike
from sklearn.metrics.tests.test_common import check_sample_weight_invariance
from sklearn.tests import test_isotonic as tests_of_isotonic
from sklearn.utils import check_consistent_length

from calibcore import metrics
from calibcore.calibrators import IsotonicCalibration
from calibcore.validation import Floats


def _of_classes(measure: Callable[..., float]) -> Callable[..., float]:
    def measured(y_true: ArrayLike, y_score: ArrayLike, **weights: Any) -> float:
        scores = np.asarray(y_score)
        return measure(np.stack([1 - scores, scores], axis=1), y_true, **weights)

    return measured


def _of_an_event(measure: Callable[..., float]) -> Callable[..., float]:
    return lambda y_true, y_score, **weights: measure(y_score, y_true, **weights)


MEASURES = {
    "brier_score_loss": _of_an_event(metrics.event_brier),
    "brier_score_loss, all classes": _of_classes(metrics.brier),
    "log_loss": _of_an_event(metrics.event_nll),
    "log_loss, all classes": _of_classes(metrics.nll),
    "roc_auc_score": _of_an_event(metrics.auroc),
    "accuracy_score": _of_classes(metrics.accuracy),
    "d2_brier_score": _of_an_event(metrics.brier_skill),
    "d2_log_loss_score": _of_an_event(metrics.nll_skill),
}
"""By the name of what scikit-learn has of it."""


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("name", MEASURES)
def test_measures(name: str, *, whole: bool) -> None:
    rng = np.random.default_rng(1)
    hits, scores, weights = rng.integers(0, 2, 60), rng.random(60), rng.integers(1, 10, 60)

    def measured(y_true: ArrayLike, y_score: ArrayLike, sample_weight: Any = None) -> float:
        # The check wants scikit-learn's words for other lengths, which calibcore refuses in its.
        check_consistent_length(y_true, y_score, sample_weight)
        if sample_weight is not None and not whole:
            sample_weight = (np.asarray(sample_weight) / 7).tolist()
        return MEASURES[name](y_true, y_score, sample_weight=sample_weight)

    check_sample_weight_invariance(name, measured, hits, scores, weights)


class Isotonic:
    """`IsotonicCalibration` under the name of scikit-learn's class.

    A value y between 0 and 1 of weight w is a hit of weight w y and a miss of weight w (1 - y),
    whose isotonic regression is the same; what is fitted is moved into that range, and back.
    """

    def __init__(self, **options: Any) -> None:
        assert options.get("out_of_bounds", "clip") == "clip"

    def fit(self, x: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        given, values = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        self._of_x = given.min(), np.ptp(given) or 1
        self._of_y = values.min(), np.ptp(values) or 1
        weights = np.ones(given.size) if sample_weight is None else np.asarray(sample_weight)
        scores, share = self._scores(given), (values - self._of_y[0]) / self._of_y[1]
        self._fitted = IsotonicCalibration(interpolate=True).fit(
            np.tile(scores, 2),
            np.repeat([1, 0], given.size),
            sample_weight=np.concatenate([weights * share, weights * (1 - share)]),
        )
        return self

    def transform(self, x: ArrayLike) -> Floats:
        """Give values at other places; those of scikit-learn are compared as they are written."""
        share = self._fitted.predict(self._scores(np.asarray(x, dtype=float)))
        return np.asarray(np.round(self._of_y[0] + self._of_y[1] * share, 12))

    predict = transform

    def fit_transform(
        self, x: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Floats:
        return self.fit(x, y, sample_weight).transform(x)

    def _scores(self, x: Floats) -> Floats:
        return np.asarray(np.clip((x - self._of_x[0]) / self._of_x[1], 0.0, 1.0))


@pytest.mark.parametrize(
    "name",
    [
        "test_permutation_invariance",
        "test_isotonic_regression",
        "test_isotonic_regression_ties_min",
        "test_isotonic_regression_ties_max",
        "test_isotonic_regression_ties_secondary_",
        "test_isotonic_regression_with_ties_in_differently_sized_groups",
        "test_isotonic_sample_weight_parameter_default_value",
        "test_isotonic_sample_weight",
        "test_isotonic_zero_weight_loop",
    ],
)
def test_isotonic_regression(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    of_scikit_learn: ModuleType = tests_of_isotonic
    monkeypatch.setattr(of_scikit_learn, "IsotonicRegression", Isotonic)
    getattr(of_scikit_learn, name)()


def test_unseen_scores_under_weights_of_which_some_are_0() -> None:
    # scikit-learn's test_fast_predict builds the curve of its own class in two ways; here the other
    # way is its class.
    rng = np.random.RandomState(123)
    seen = 20.0 * rng.rand(1000) - 10
    hits, weights = (rng.rand(1000) < 1 / (1 + np.exp(-seen))).astype(float), rng.rand(1000)
    weights[rng.rand(1000) < 0.1] = 0
    unseen = 20.0 * rng.rand(1000) - 10
    own = Isotonic().fit(seen, hits, weights).predict(unseen)
    peer = tests_of_isotonic.IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    np.testing.assert_allclose(own, peer.fit(seen, hits, weights).predict(unseen), atol=1e-10)
