"""The scikit-learn classifier: its rules, and calibration as scikit-learn itself does it."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator

from calibcore import CalibrationInputError
from calibcore.calibrators import CATALOGUE, IsotonicCalibration, PlattScaling, SplineCalibration
from calibcore.estimators import CalibratedClassifier
from calibcore.metrics import ks_error
from tests.marks import first_and_long


@pytest.mark.parametrize("method", first_and_long(["one_vs_rest", "temperature"]))
def test_it_keeps_scikit_learn_s_rules(method: str) -> None:
    # An array is of sampling weights, of which Platt's smoothed targets know no number of rows.
    names = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
    known = dict.fromkeys(
        names if method == "one_vs_rest" else [], "sampling weights count no rows"
    )
    made = CalibratedClassifier(method=method)
    checked = check_estimator(made, on_skip=None, expected_failed_checks=known)
    assert len(checked) > 50


def data(n_classes: int) -> tuple[Any, Any]:
    made: tuple[Any, Any] = make_classification(
        n_samples=1_500, n_features=12, n_informative=4, n_redundant=6, n_classes=n_classes,
        random_state=3,
    )  # fmt: skip
    return made


def test_temperature_is_that_of_scikit_learn() -> None:
    x, y = data(3)
    ours = CalibratedClassifier(GaussianNB()).fit(x, y)
    peer = CalibratedClassifierCV(GaussianNB(), method="temperature", ensemble=False).fit(x, y)
    np.testing.assert_allclose(ours.predict_proba(x), peer.predict_proba(x), rtol=0, atol=1e-4)


def test_isotonic_is_that_of_scikit_learn() -> None:
    x, y = data(2)
    folds = StratifiedKFold(4)
    known = cross_val_predict(GaussianNB(), x, y, cv=folds, method="predict_proba")[:, 1]
    fitted = IsotonicCalibration().fit(known, y)
    ours = CalibratedClassifier(GaussianNB(), method="isotonic", cv=folds).fit(x, y)
    want = fitted.predict(GaussianNB().fit(x, y).predict_proba(x)[:, 1])
    np.testing.assert_array_equal(ours.predict_proba(x)[:, 1], want)


@pytest.mark.parametrize("method", ["spline", "platt", "temperature", "vector"])
def test_calibration_helps_a_model_that_is_too_sure(method: str) -> None:
    x, y = data(2)
    plain = GaussianNB().fit(x[:1000], y[:1000]).predict_proba(x[1000:])[:, 1]
    ours = CalibratedClassifier(GaussianNB(), method=method).fit(x[:1000], y[:1000])
    assert ks_error(ours.predict_proba(x[1000:])[:, 1], y[1000:]) < ks_error(plain, y[1000:])


def test_a_fitted_estimator_is_kept() -> None:
    x, y = data(2)
    base = GaussianNB().fit(x[:700], y[:700])
    ours = CalibratedClassifier(base, method="spline", cv="prefit").fit(x[700:], y[700:])
    assert ours.estimator_ is base
    known = base.predict_proba(x)[:, 1]
    spline = next(one for one in CATALOGUE if one.key == "spline").make()
    assert isinstance(spline, SplineCalibration)
    fitted = spline.fit(known[700:], y[700:] == 1)
    np.testing.assert_array_equal(ours.predict_proba(x)[:, 1], fitted.predict(known))


def test_it_works_in_a_pipeline_with_names_for_classes() -> None:
    x, y = data(3)
    names = np.array(["cat", "dog", "owl"])[y]
    model = make_pipeline(StandardScaler(), CalibratedClassifier(LogisticRegression()))
    again = clone(model).fit(x, names)
    assert again[-1].classes_.tolist() == ["cat", "dog", "owl"]
    assert (again.predict(x) == names).mean() > 0.5


@pytest.mark.parametrize(("method", "n_classes"), [("spline", 3), ("nonsense", 2)])
def test_what_does_not_fit_is_refused(method: str, n_classes: int) -> None:
    with pytest.raises(CalibrationInputError) as refused:
        CalibratedClassifier(method=method).fit(*data(n_classes))
    assert refused.value.field == "method"


def test_an_estimator_without_probabilities_is_named() -> None:
    with pytest.raises(CalibrationInputError, match=r"LinearSVC, which has no predict_proba"):
        CalibratedClassifier(LinearSVC()).fit([[0.0], [1.0]] * 10, [0, 1] * 10)


def test_weights_reach_estimator_and_calibrator() -> None:
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(300, 2)), rng.gamma(2.0, 1.0, 300)
    y = (x[:, 0] + rng.normal(size=300) > 0).astype(int)
    base = LogisticRegression().fit(x, y)
    made = CalibratedClassifier(base, method="platt", cv="prefit").fit(x, y, sample_weight=weights)
    known = base.predict_proba(x)[:, 1]
    wanted = PlattScaling().fit(known, y, sample_weight=weights)
    assert made.predict_proba(x)[:, 1].tolist() == wanted.predict(known).tolist()
    folded = CalibratedClassifier(method="platt").fit(x, y, sample_weight=weights)
    alone = LogisticRegression().fit(x, y, sample_weight=weights)
    np.testing.assert_allclose(folded.estimator_.coef_, alone.coef_)
    equal = CalibratedClassifier(method="platt").fit(x, y, sample_weight=np.ones(300))
    plain = CalibratedClassifier(method="platt").fit(x, y)
    np.testing.assert_allclose(equal.predict_proba(x), plain.predict_proba(x), atol=1e-8)
    with pytest.raises(CalibrationInputError, match="whose fit takes none"):
        CalibratedClassifier(KNeighborsClassifier()).fit(x, y, sample_weight=weights)
