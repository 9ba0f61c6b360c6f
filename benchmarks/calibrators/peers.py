"""The peers' ways: one function each, which imports its library only when called.

Options are the library's own, but where Fractile's default has another objective. What a library
takes is made of the logits outside the timing, so probabilities are free for those that want them.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from benchmarks.calibrators import penalties
from benchmarks.calibrators.ways import (
    Way,
    logits,
    one_vs_rest,
    probabilities,
    scores,
    with_bias,
)
from benchmarks.data import Table
from benchmarks.peers import frozen_logits
from calibcore import EventScores
from calibcore.probabilities import log_softmax, softmax
from calibcore.validation import Floats
from tests.peers.cases import N_BINS, log_odds

_MOST_STEPS = 10_000


def exact_logits(table: Table) -> Floats:
    """Give the logits in float64, in which Fractile's probabilities are."""
    return table.logits.astype(np.float64)


def centred_logits(table: Table) -> Floats:
    """Give the logits minus their row's mean: what Fractile's linear maps work on."""
    rows = exact_logits(table)
    rows -= rows.mean(axis=1, keepdims=True)
    return rows


def log_probabilities(table: Table) -> Floats:
    """Give the logarithms of the class probabilities."""
    return log_softmax(table.logits)


# Temperature, and mixtures of it ------------------------------------------------------------------


def sklearn_temperature() -> Way:
    """Temperature: `CalibratedClassifierCV` around a classifier that is fitted already."""
    from sklearn.calibration import (  # noqa: PLC0415 - optional library
        CalibratedClassifierCV,
    )

    def fit(rows: Any, labels: Any) -> Any:
        frozen = frozen_logits(rows.shape[1])
        return CalibratedClassifierCV(frozen, method="temperature").fit(rows, labels)

    return Way(logits, fit, lambda fitted, rows: fitted.predict_proba(rows))


def netcal_temperature() -> Way:
    """Temperature: `netcal.scaling.TemperatureScaling`."""
    from netcal.scaling import TemperatureScaling  # noqa: PLC0415 - optional library

    return _netcal(TemperatureScaling)


def probmetrics_temperature(*, single: bool = False) -> Way:
    """Temperature: 30 bisections, in float64 unless ``single``."""
    from probmetrics.calibrators import (  # noqa: PLC0415 - optional library
        TemperatureScalingCalibrator,
    )

    return _probmetrics_torch(TemperatureScalingCalibrator, logits if single else exact_logits)


def probmetrics_ensemble() -> Way:
    """ETS, with the NLL as its loss."""
    from probmetrics.calibrators import ETSCalibrator  # noqa: PLC0415 - optional library

    return _probmetrics(lambda: ETSCalibrator("ce"))


# Linear maps --------------------------------------------------------------------------------------


def probmetrics_vector() -> Way:
    """Vector scaling of centred logits, in float64."""
    from probmetrics.calibrators import (  # noqa: PLC0415 - optional library
        VectorScalingCalibrator,
    )

    return _probmetrics_torch(VectorScalingCalibrator, centred_logits)


def probmetrics_vector_of_logs() -> Way:
    """Vector scaling of log-probabilities, in float64."""
    from probmetrics.calibrators import (  # noqa: PLC0415 - optional library
        VectorScalingCalibrator,
    )

    return _probmetrics_torch(VectorScalingCalibrator, log_probabilities)


def netcal_vector_of_logs() -> Way:
    """Vector scaling of log-probabilities: `netcal.scaling.LogisticCalibration`."""
    from netcal.scaling import LogisticCalibration  # noqa: PLC0415 - optional library

    return _netcal(LogisticCalibration)


def sklearn_matrix() -> Way:
    """Matrix scaling: multinomial regression without a penalty on the centred logits."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - optional library

    def fit(rows: Any, labels: Any) -> Any:
        return LogisticRegression(C=np.inf, max_iter=_MOST_STEPS).fit(rows, labels)

    return Way(centred_logits, fit, lambda fitted, rows: fitted.predict_proba(rows))


def probmetrics_matrix() -> Way:
    """Matrix scaling of centred logits, in float64."""
    from probmetrics.calibrators import (  # noqa: PLC0415 - optional library
        MatrixScalingCalibrator,
    )

    return _probmetrics_torch(MatrixScalingCalibrator, centred_logits)


def scipy_odir() -> Way:
    """Matrix scaling with ODIR's penalty: scipy's L-BFGS on a loss written by hand."""

    def fit(rows: Floats, labels: Any) -> Floats:
        n_rows, k = rows.shape
        penalty = penalties.odir(n_rows, k)
        inputs = np.hstack([rows, np.ones((n_rows, 1))])
        truth = np.arange(n_rows), labels

        def loss(flat: Floats) -> tuple[float, Floats]:
            weights = flat.reshape(k, k + 1)
            odds = inputs @ weights.T
            odds -= logsumexp(odds, axis=1, keepdims=True)
            nll = -odds[truth].mean()
            slope = np.exp(odds)
            slope[truth] -= 1
            gradient = slope.T @ inputs / n_rows + penalty.slope(weights)
            return float(nll + penalty(weights)), gradient.ravel()

        steps = {"maxiter": _MOST_STEPS, "maxfun": _MOST_STEPS}
        start = np.eye(k, k + 1).ravel()
        found: Any = minimize(loss, start, jac=True, method="L-BFGS-B", options=steps)  # type: ignore[call-overload] # stubs know no such options
        return np.asarray(found.x).reshape(k, k + 1)

    def predict(weights: Floats, rows: Floats) -> Floats:
        return softmax(rows @ weights[:, :-1].T + weights[:, -1])

    return Way(centred_logits, fit, predict, lambda weights: weights)


def sklearn_dirichlet() -> Way:
    """Dirichlet with L2: multinomial regression on log-probabilities and a column of ones."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - optional library

    def given(table: Table) -> Floats:
        rows = log_probabilities(table)
        return np.hstack([rows, np.ones((len(rows), 1))])

    def fit(rows: Any, labels: Any) -> Any:
        strength = 1 / (2 * penalties.DIRICHLET_L2 * len(rows))
        model = LogisticRegression(C=strength, max_iter=_MOST_STEPS, fit_intercept=False)
        return model.fit(rows, labels)

    return Way(
        given, fit, lambda fitted, rows: fitted.predict_proba(rows), lambda fitted: fitted.coef_
    )


def probmetrics_dirichlet() -> Way:
    """Dirichlet with L2: `DirichletCalibrator`, which needs dirichletcal."""
    from probmetrics.calibrators import DirichletCalibrator  # noqa: PLC0415 - optional library

    made = DirichletCalibrator(reg_lambda=penalties.DIRICHLET_L2)
    return _probmetrics(lambda: made)


def probmetrics_structured_vector() -> Way:
    """SVS, by its default BFGS."""
    from probmetrics.calibrators import SVSCalibrator  # noqa: PLC0415 - optional library

    way = _probmetrics(SVSCalibrator)
    return replace(way, parameters=lambda fitted: with_bias(fitted.v_, fitted.b_))


def probmetrics_structured_matrix() -> Way:
    """SMS, by its default BFGS."""
    from probmetrics.calibrators import SMSCalibrator  # noqa: PLC0415 - optional library

    return replace(_probmetrics(SMSCalibrator), parameters=lambda fitted: fitted.W_)


def _netcal(make: Any) -> Way:
    """Take probabilities of all classes, or an event's scores where those are given."""
    return Way(
        probabilities,
        lambda rows, labels: make().fit(rows, labels),
        lambda fitted, rows: fitted.transform(rows),
    )


def _probmetrics(make: Any) -> Way:
    return Way(
        probabilities,
        lambda rows, labels: make().fit(rows, labels),
        lambda fitted, rows: fitted.predict_proba(rows),
    )


def _probmetrics_torch(make: Any, given: Any) -> Way:
    """Give logits as they are; its other door takes probabilities, in float32."""
    import torch  # noqa: PLC0415 - optional library
    from probmetrics.distributions import CategoricalLogits  # noqa: PLC0415 - optional library

    torch.set_num_threads(1)

    def fit(rows: Any, labels: Any) -> Any:
        kept = torch.get_default_dtype()
        torch.set_default_dtype(torch.from_numpy(rows).dtype)  # of the weights it starts from
        fitted = make().fit_torch(
            CategoricalLogits(torch.from_numpy(rows)), torch.from_numpy(labels)
        )
        torch.set_default_dtype(kept)
        return fitted

    def predict(fitted: Any, rows: Any) -> Any:
        calibrated = fitted.predict_proba_torch(CategoricalLogits(torch.from_numpy(rows)))
        return calibrated.get_probs().detach().numpy()

    return Way(given, fit, predict)


# Maps of one score, and one a class ---------------------------------------------------------------


def sklearn_isotonic() -> Way:
    """Isotonic regression of a score."""
    from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415 - optional library

    def fit(rows: Floats, hits: Any) -> Any:
        return IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(rows, hits)

    return Way(scores, fit, lambda fitted, rows: fitted.predict(rows))


def sklearn_pooled_isotonic() -> Way:
    """Isotonic regression of all classes' probabilities together; rows made to sum to 1."""
    single = sklearn_isotonic()

    def fit(rows: Floats, labels: Any) -> Any:
        truth = labels[:, np.newaxis] == np.arange(rows.shape[1])
        return single.fit(rows.ravel(), truth.ravel())

    def predict(fitted: Any, rows: Floats) -> Floats:
        found: Floats = single.predict(fitted, rows.ravel()).reshape(rows.shape)
        found /= found.sum(axis=1, keepdims=True)
        return found

    return Way(probabilities, fit, predict)


def sklearn_platt() -> Way:
    """Platt: logistic regression without a penalty on the log-odds of a score."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - optional library

    def fit(rows: Floats, hits: Any) -> Any:
        model = LogisticRegression(C=np.inf, solver="newton-cholesky")
        return model.fit(log_odds(rows)[:, np.newaxis], hits)

    def predict(fitted: Any, rows: Floats) -> Any:
        return fitted.predict_proba(log_odds(rows)[:, np.newaxis])[:, 1]

    return Way(scores, fit, predict)


def betacal_beta() -> Way:
    """Beta calibration of a score, with three numbers."""
    from betacal import BetaCalibration  # noqa: PLC0415 - optional library

    return Way(
        scores,
        lambda rows, hits: BetaCalibration("abm").fit(rows, hits),
        lambda fitted, rows: fitted.predict(rows),
    )


def probmetrics_spline() -> Way:
    """Spline of a score: `CDFSplineCalibrator`, after the authors' program, in float32."""
    from probmetrics.calibrators.splines import (  # noqa: PLC0415 - optional library
        CDFSplineCalibrator,
    )

    def predict(fitted: Any, rows: Floats) -> Any:
        return np.clip(fitted.predict_proba(rows)[:, 1], 0, 1)  # it can leave [0, 1]

    return Way(scores, lambda rows, hits: CDFSplineCalibrator().fit(rows, hits), predict)


def netcal_histogram() -> Way:
    """Histogram binning, equal widths."""
    from netcal.binning import HistogramBinning  # noqa: PLC0415 - optional library

    return _netcal(lambda: HistogramBinning(N_BINS))


def netcal_bbq() -> Way:
    """BBQ."""
    from netcal.binning import BBQ  # noqa: PLC0415 - optional library

    return _netcal(BBQ)


def venn_abers_single() -> Way:
    """Venn-Abers of a score, its two answers joined."""
    from venn_abers import VennAbers  # noqa: PLC0415 - optional library

    def given(events: EventScores) -> Floats:
        return np.column_stack([1 - events.scores, events.scores])

    def fit(rows: Floats, hits: Any) -> Any:
        fitted = VennAbers()
        fitted.fit(rows, hits)
        return fitted

    return Way(given, fit, lambda fitted, rows: fitted.predict_proba(rows)[0][:, 1])


def of_each_class(single: Any) -> Any:
    """Make a peer of all classes of a peer of one score."""
    return lambda: one_vs_rest(single())


def of_scores(every: Any) -> Any:
    """Give an event's scores to a peer that takes them as it takes rows."""
    return lambda: replace(every(), given=scores)
