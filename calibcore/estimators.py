"""Any calibrator of the catalogue as a scikit-learn classifier; needs the extra ``sklearn``."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import check_cv, cross_val_predict
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    assert_all_finite,
    check_is_fitted,
    column_or_1d,
    has_fit_parameter,
)

from calibcore.calibrators import CATALOGUE
from calibcore.calibrators.base import FittedCalibrator, FittedScoreMap, FittedVectorMap, ScoreMap
from calibcore.calibrators.method import Calibrator
from calibcore.errors import CalibrationInputError
from calibcore.probabilities import PROBABILITY_FLOOR
from calibcore.results import find
from calibcore.validation import Floats
from calibcore.weights import RowWeights, SampleWeight, weights_of


class CalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose probabilities are calibrated by cross-validation.

    Parameters
    ----------
    estimator : classifier, optional
        With ``predict_proba``; by default `sklearn.linear_model.LogisticRegression`.
    method : str, default "temperature"
        Key of a calibrator of `calibcore.calibrators.CATALOGUE`, with its default options. One
        that acts on an event, such as "spline" or "platt", needs two classes.
    cv : int, splitter or iterable, default 5
        As in scikit-learn: the folds whose predictions the calibrator is fitted on. Fewer where a
        class has fewer rows. ``"prefit"``: the estimator is fitted already, on other rows.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        The classes, in the order of the columns of `predict_proba`.
    estimator_ : classifier
        Fitted on all rows.
    fitted_ : FittedScoreMap or FittedVectorMap or None
        The calibrator; None of a single class.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = make_classification(n_samples=300, n_redundant=6, random_state=0)
    >>> model = CalibratedClassifier(GaussianNB(), method="spline").fit(X, y)
    >>> model.predict_proba(X[:2]).sum(axis=1)
    array([1., 1.])
    """

    def __init__(self, estimator: Any = None, *, method: str = "temperature", cv: Any = 5) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn may hand over: what the estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self._base()).input_tags.sparse
        return tags

    def _base(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    def fit(
        self,
        X: ArrayLike,  # noqa: N803 - scikit-learn's
        y: ArrayLike,
        sample_weight: SampleWeight = None,
    ) -> "CalibratedClassifier":
        """Fit the estimator to all rows, and the calibrator to its predictions out of fold.

        Parameters
        ----------
        X : array_like, shape (n_samples, n_features)
            Of whatever the estimator takes.
        y : array_like, shape (n_samples,)
            True classes.
        sample_weight : array_like or RowWeights, shape (n_samples,), optional
            Of the rows: see `calibcore.weights`; an array is of sampling weights. Both the
            estimator and the calibrator are fitted to weighted rows.

        Raises
        ------
        CalibrationInputError
            No such method, or one that needs two classes and has more; an estimator without
            ``predict_proba``; weights that the estimator does not take, or the calibrator has no
            form for.
        """
        y = column_or_1d(y, warn=True)
        assert_all_finite(y)
        check_classification_targets(y)
        calibrator = find({one.key: one for one in CATALOGUE}, self.method, "method").make()
        base = self._base()
        if not hasattr(base, "predict_proba"):
            actual = f"{type(base).__name__}, which has no predict_proba"
            raise CalibrationInputError("estimator", actual, "a classifier of probabilities")
        prefit = isinstance(self.cv, str) and self.cv == "prefit"
        weights = weights_of(sample_weight, np.asarray(y).size)
        if weights is not None and not (prefit or has_fit_parameter(base, "sample_weight")):
            actual = f"weights for {type(base).__name__}, whose fit takes none"
            raise CalibrationInputError("sample_weight", actual, "none, or another estimator")
        each = {} if weights is None else {"sample_weight": weights.values}
        self.estimator_ = base if prefit else clone(base).fit(X, y, **each)
        self.classes_ = self.estimator_.classes_
        if hasattr(self.estimator_, "n_features_in_"):
            self.n_features_in_ = self.estimator_.n_features_in_
        if hasattr(self.estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.estimator_.feature_names_in_
        n_classes = len(self.classes_)
        if isinstance(calibrator, ScoreMap) and n_classes > 2:
            actual = f"{self.method} with {n_classes} classes"
            raise CalibrationInputError(
                "method", actual, "one that acts on classes, or two classes"
            )
        self.fitted_: FittedCalibrator | None = None
        if n_classes > 1:
            labels = LabelEncoder().fit(self.classes_).transform(y)
            known = (
                self.estimator_.predict_proba(X) if prefit else self._out_of_fold(base, X, y, each)
            )
            self.fitted_ = _fitted(calibrator, known, labels, weights)
        return self

    def _out_of_fold(
        self,
        base: Any,
        X: ArrayLike,  # noqa: N803
        y: ArrayLike,
        each: dict[str, Any],
    ) -> Floats:
        cv = self.cv
        if isinstance(cv, int):
            fewest = int(np.unique(np.asarray(y), return_counts=True)[1].min())
            cv = min(cv, max(fewest, 2))
        folds = check_cv(cv, y, classifier=True)
        if not each:
            probabilities = cross_val_predict(clone(base), X, y, cv=folds, method="predict_proba")
            return np.asarray(probabilities, dtype=np.float64)
        # By hand, as scikit-learn hands weights on in another way where routing is on.
        known = np.zeros((len(each["sample_weight"]), len(self.classes_)))
        (table,) = indexable(X)
        for seen, rest in folds.split(table, y):
            fitted = clone(base)
            truth, own = np.asarray(y)[seen], each["sample_weight"][seen]
            fitted.fit(_safe_indexing(table, seen), truth, sample_weight=own)
            columns = np.searchsorted(self.classes_, fitted.classes_)
            known[np.ix_(rest, columns)] = fitted.predict_proba(_safe_indexing(table, rest))
        return known

    def predict_proba(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Return calibrated probabilities, shape (n_samples, n_classes)."""
        check_is_fitted(self)
        known = np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
        match self.fitted_:
            case FittedScoreMap():
                second = self.fitted_.predict(known[:, 1])
                return np.column_stack([1 - second, second])
            case FittedVectorMap():
                return self.fitted_.predict_proba(_logits(known))
            case _:
                return known

    def predict(self, X: ArrayLike) -> Any:  # noqa: N803
        """Return the class of the largest calibrated probability, shape (n_samples,)."""
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]


def _fitted(
    calibrator: Calibrator, known: Floats, labels: Any, weights: RowWeights | None
) -> FittedCalibrator:
    if isinstance(calibrator, ScoreMap):
        return calibrator.fit(known[:, 1], labels == 1, sample_weight=weights)
    return calibrator.fit(_logits(known), labels, sample_weight=weights)


def _logits(probabilities: Floats) -> Floats:
    """Return logits whose softmax the probabilities are."""
    return np.asarray(np.log(np.maximum(probabilities, PROBABILITY_FLOOR)))
