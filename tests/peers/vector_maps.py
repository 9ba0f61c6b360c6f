"""Peers' maps of whole rows, fitted on the calibration set."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from netcal.scaling import LogisticCalibration
from probmetrics.calibrators import (
    ETSCalibrator,
    MatrixScalingCalibrator,
    SMSCalibrator,
    SVSCalibrator,
    TemperatureScalingCalibrator,
    VectorScalingCalibrator,
)
from probmetrics.distributions import CategoricalLogits
from sklearn.linear_model import LogisticRegression

from benchmarks.data import Table
from benchmarks.peers import netcal_temperature, sklearn_temperature
from calibcore.probabilities import log_softmax
from calibcore.validation import Floats
from tests.peers.cases import Case, clipped, logits_nll
from tests.peers.figures import Figure, Values

MOST_CLASSES = 10
"""Number of classes above which unpenalised matrices are meaningless, and penalised ones slow."""

DIRICHLET_L2 = 1e-3

_TOO_MANY = "without a penalty 100 classes have more parameters than rows"


def figures(case: Case) -> Iterator[Figure]:
    """Give every map's parameters, where they are few, and its NLL on the calibration set."""
    yield from _temperature(case)
    yield from _ensemble(case)
    yield from _vector(case)
    yield from _matrix(case)
    yield from _dirichlet(case)
    yield from _structured(case)


def _temperature(case: Case) -> Iterator[Figure]:
    table, job = case.calibration, "temperature"
    clip = "L-BFGS without gradients, probabilities clipped at 2.2e-16"
    results = {
        "netcal": (float(netcal_temperature(table).run()), clip),
        "probmetrics": (_bisected(table), "30 bisections of log(1 / T) in float64"),
    }
    if case.n_classes > 2:
        results["scikit-learn"] = float(sklearn_temperature(table).run()), "bounded, in float32"
    else:
        reason = "refuses two columns of logits where there are two classes"
        yield Figure(job, "scikit-learn", "T divides logits", {}, left_out=reason)
    for peer, (temperature, convention) in results.items():
        values: dict[str, Values] = {
            "temperature": temperature,
            "nll": logits_nll(table.logits / np.float64(temperature), table),
        }
        yield Figure(job, peer, f"T divides logits; {convention}", values)


def _bisected(table: Table) -> float:
    fitted = TemperatureScalingCalibrator()
    fitted.fit_torch(_rows(table.logits), torch.from_numpy(table.labels))
    return float(1 / fitted.invtemp_)


def _rows(logits: Any) -> Any:
    return CategoricalLogits(torch.from_numpy(np.asarray(logits, dtype=np.float64)))


def _ensemble(case: Case) -> Iterator[Figure]:
    table = case.calibration
    labels = table.labels
    for loss, convention in (("ce", "NLL"), ("mse", "squared error")):
        fitted = ETSCalibrator(loss).fit(table.probabilities, labels)
        calibrated = fitted.predict_proba(table.probabilities)
        own = calibrated[np.arange(len(labels)), labels]
        truth = np.eye(case.n_classes)[labels]
        yield Figure(
            f"ETS, {convention}",
            "probmetrics",
            "T first, then its weights of softmax(z / T), softmax(z), 1 / K by SLSQP, in float32",
            {
                "temperature": float(fitted.t_),
                "weights": [float(weight) for weight in fitted.w_],
                "nll": float(-np.log(own).mean()),
                "brier": float(np.square(calibrated - truth).sum(axis=1).mean()),
            },
        )


def _vector(case: Case) -> Iterator[Figure]:
    table = case.calibration
    for space, rows in (*_logits(table).items(), ("log-probabilities", _logs(table))):
        fitted, converged = _torch_fit(VectorScalingCalibrator(), rows, table)
        job, convention = f"vector scaling of {space}", "softmax(z / t + b), BFGS in float64"
        if not converged:
            reason = "its BFGS reports no success and keeps t = 1, b = 0"
            yield Figure(job, "probmetrics", convention, {}, left_out=reason)
            continue
        scales, offsets = 1 / fitted.temp_.numpy(), fitted.bias_.numpy()
        yield Figure(job, "probmetrics", convention, _diagonal(scales, offsets, rows, table))
    convention = "softmax(w ln p + b), p clipped at 2.2e-16, L-BFGS without gradients"
    job = "vector scaling of log-probabilities"
    if case.n_classes == 2:
        reason = "takes two classes as one score, with one weight"
        yield Figure(job, "netcal", convention, {}, left_out=reason)
        return
    rows = np.log(clipped(table.probabilities))
    weights = LogisticCalibration().fit(table.probabilities, table.labels)
    yield Figure(
        job, "netcal", convention, _diagonal(weights.weights, weights.intercept, rows, table)
    )


def _logits(table: Table) -> dict[str, Floats]:
    """Give the logits as they are, and minus their row's mean, as calibcore takes them."""
    rows = np.asarray(table.logits, dtype=np.float64)
    return {"logits": rows, "centred logits": rows - rows.mean(axis=1, keepdims=True)}


def _logs(table: Table) -> Floats:
    return log_softmax(table.logits)


def _diagonal(scales: Any, offsets: Any, rows: Floats, table: Table) -> dict[str, Values]:
    return {
        "scales": [float(value) for value in scales],
        "offsets": [float(value) for value in offsets],
        "nll": logits_nll(rows * scales + offsets, table),
    }


def _torch_fit(calibrator: Any, rows: Floats, table: Table) -> tuple[Any, bool]:
    """Fit on rows as they are; probmetrics says by a warning that it kept its first values."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        calibrator.fit_torch(_rows(rows), torch.from_numpy(table.labels))
    return calibrator, not any("Not updating" in str(each.message) for each in heard)


def _matrix(case: Case) -> Iterator[Figure]:
    by_regression = "softmax(W z + b), LogisticRegression(C=inf), at most 5000 steps"
    by_bfgs = "softmax(W z + b), BFGS in float64"
    table = case.calibration
    for space, rows in _logits(table).items():
        job = f"matrix scaling of {space}"
        if case.n_classes > MOST_CLASSES:
            yield Figure(job, "scikit-learn", by_regression, {}, left_out=_TOO_MANY)
            yield Figure(job, "probmetrics", by_bfgs, {}, left_out=_TOO_MANY)
            continue
        yield Figure(job, "scikit-learn", by_regression, {"nll": _regression_nll(rows, table)})
        fitted, converged = _torch_fit(MatrixScalingCalibrator(), rows, table)
        if not converged:
            reason = "its BFGS reports no success and keeps W = I, b = 0"
            yield Figure(job, "probmetrics", by_bfgs, {}, left_out=reason)
            continue
        nll = logits_nll(rows @ fitted.itemp_.numpy() + fitted.bias_.numpy(), table)
        yield Figure(job, "probmetrics", by_bfgs, {"nll": nll})


def _regression_nll(rows: Floats, table: Table) -> float:
    """Give the NLL of scikit-learn's multinomial regression without a penalty."""
    fitted = LogisticRegression(C=np.inf, tol=1e-9, max_iter=5_000).fit(rows, table.labels)
    odds = rows @ fitted.coef_.T + fitted.intercept_
    if odds.shape[1] == 1:  # of two classes it fits the second alone
        odds = np.hstack([0 * odds, odds])
    return logits_nll(odds, table)


def _dirichlet(case: Case) -> Iterator[Figure]:
    table, rows = case.calibration, _logs(case.calibration)
    job, convention = (
        "Dirichlet",
        "softmax(W ln p + b), LogisticRegression(C=inf), at most 5000 steps",
    )
    if case.n_classes > MOST_CLASSES:
        yield Figure(job, "scikit-learn", convention, {}, left_out=_TOO_MANY)
    else:
        yield Figure(job, "scikit-learn", convention, {"nll": _regression_nll(rows, table)})
    job = "Dirichlet, L2"
    convention = (
        "least mean NLL + 0.001 (sum W^2 + sum b^2): LogisticRegression(C = 1 / (0.002 N)) with a"
        " column of ones"
    )
    if not 2 < case.n_classes <= MOST_CLASSES:
        reason = "two classes are fitted with one row of weights, so the penalty is another"
        if case.n_classes > 2:
            reason = "not finished after 9 minutes, of 20,000 steps at most and beside other work"
        yield Figure(job, "scikit-learn", convention, {}, left_out=reason)
        return
    rows = np.hstack([rows, np.ones((len(rows), 1))])
    strength = 1 / (2 * DIRICHLET_L2 * len(rows))
    regression = LogisticRegression(C=strength, tol=1e-9, max_iter=5_000, fit_intercept=False)
    weights = regression.fit(rows, table.labels).coef_
    nll, squares = logits_nll(rows @ weights.T, table), float(np.sum(weights**2))
    values: dict[str, Values] = {
        "nll": nll,
        "l2": DIRICHLET_L2,
        "sum_of_squares": squares,
        "objective": nll + DIRICHLET_L2 * squares,
    }
    yield Figure(job, "scikit-learn", convention, values)


def _structured(case: Case) -> Iterator[Figure]:
    table = case.calibration
    n_rows, k = table.logits.shape
    convention = (
        "after temperature, mixed with uniform by 1 / (N + 1); fitted in float32; least mean NLL +"
        " K/N (sum b^2 + sum (v - 1)^2)"
    )
    for job, calibrator, extra in (
        ("SVS", SVSCalibrator(), ""),
        ("SMS", SMSCalibrator(), " + K (K - 1)/N sum of the other entries' squares"),
    ):
        fitted = calibrator.fit(table.probabilities, table.labels)
        if job == "SVS":
            matrix, offsets = np.diag(fitted.v_), fitted.b_
        else:
            matrix, offsets = fitted.W_[:, :-1], fitted.W_[:, -1]
        matrix, offsets = np.asarray(matrix, np.float64), np.asarray(offsets, np.float64)
        temperature = float(1 / fitted.ts_.cal_.invtemp_)
        nll = logits_nll(_mixed_logs(table, temperature) @ matrix.T + offsets, table)
        moved = matrix - np.eye(k)
        diagonal = float(np.sum(np.diag(moved) ** 2) + np.sum(offsets**2))
        rest = float(np.sum(moved**2) - np.sum(np.diag(moved) ** 2))
        values: dict[str, Values] = {
            "temperature": temperature,
            "nll": nll,
            "objective": nll + k / n_rows * diagonal + k * (k - 1) / n_rows * rest,
        }
        yield Figure(job, "probmetrics", convention + extra, values)


def _mixed_logs(table: Table, temperature: float) -> Floats:
    """Give the logarithms that SVS and SMS scale, in float64."""
    n_rows, k = table.logits.shape
    scaled = np.exp(log_softmax(table.logits / np.float64(temperature)))
    mixed: Floats = np.log(scaled * (n_rows / (n_rows + 1)) + 1 / (k * (n_rows + 1)))
    return mixed
