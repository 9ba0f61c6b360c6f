"""What peers find of measures that are asked for by name: ICI, Spiegelhalter, skill scores."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from cir_model import CenteredIsotonicRegression
from model_diagnostics.scoring import LogLoss, decompose
from pycaleva import CalibrationEvaluator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import d2_brier_score, d2_log_loss_score
from skmisc.loess import loess

from calibcore import EventScores
from calibcore.validation import Floats
from tests.peers.cases import Case, log_odds
from tests.peers.figures import Figure, Values

SOME = 500
"""First rows, of which loess is found at each."""

TENTHS = 10


def figures(case: Case) -> Iterator[Figure]:
    """Give every measure of both events."""
    for suffix, events in case.events.items():
        for figure in (*_loess(events), *_tests(events), *_scores(events)):
            yield replace(figure, job=f"{figure.job}{suffix}")
    yield from _maps(case)


def _maps(case: Case) -> Iterator[Figure]:
    events = case.calibration_events
    known: dict[str, Values] = {}
    why = ""
    try:
        centred = CenteredIsotonicRegression().fit(events.scores, events.hits.astype(float))
        known = {"calibrated_known": centred.transform(case.known_probes).tolist()}
    except ZeroDivisionError:
        why = "its rounding leaves a step without rows"
    yield Figure("centred isotonic", "cir-model", "steps of 0 and 1 stay whole", known, why)
    odds = log_odds(events.scores)
    columns = np.stack([odds * odds, odds], axis=1)
    n_hits, n_misses = int(events.hits.sum()), int((1 - events.hits).sum())
    hit, miss = (n_hits + 1) / (n_hits + 2), 1 / (n_misses + 2)
    target = np.where(events.hits == 1, hit, miss)
    fitted = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-12, max_iter=1000)
    labels, weights = np.repeat([1, 0], odds.size), np.concatenate([target, 1 - target])
    fitted.fit(np.tile(columns, (2, 1)), labels, sample_weight=weights)
    values: dict[str, Values] = {
        "square": float(fitted.coef_[0, 0]),
        "slope": float(fitted.coef_[0, 1]),
        "intercept": float(fitted.intercept_[0]),
    }
    convention = "LogisticRegression(C=inf) on log-odds and their squares, each row twice, weighted"
    yield Figure("quadratic, smoothed targets", "scikit-learn", convention, values)


def _loess(events: EventScores) -> Iterator[Figure]:
    """Give the distances of score and loess curve: exactly, and as R's defaults have them."""
    scores = events.scores[:SOME]
    for surface, text in (("direct", "at each score"), ("interpolate", "R's default surface")):
        fit = loess(scores, events.hits[:SOME].astype(float), span=0.75, degree=2)
        fit.control.surface = surface
        fit.fit()
        gaps = np.abs(fit.outputs.fitted_values - scores)
        parts = gaps.mean(), np.median(gaps), np.quantile(gaps, 0.9)
        values: dict[str, Values] = dict(zip(("ici", "e50", "e90"), map(float, parts), strict=True))
        convention = f"span 0.75, degree 2, {text}, first {SOME} rows"
        name = "loess" if surface == "direct" else "loess, interpolated"
        if all(map(math.isfinite, parts)):
            yield Figure(name, "scikit-misc", convention, values)
        else:
            yield Figure(name, "scikit-misc", convention, {}, "its curve is not a number")


def _tests(events: EventScores) -> Iterator[Figure]:
    asked = CalibrationEvaluator(
        events.hits.astype(int), events.scores, outsample=True, n_groups=TENTHS
    )
    answer = asked.z_test()
    values: dict[str, Values] = {"z": float(answer.statistic), "p": float(answer.pvalue)}
    yield Figure("Spiegelhalter", "pycaleva", "two-sided", values)
    whole = len(events.scores) // TENTHS * TENTHS
    scores, hits = events.scores[:whole], events.hits[:whole].astype(int)
    tenths = CalibrationEvaluator(hits, scores, outsample=True, n_groups=TENTHS)
    result = tenths.hosmerlemeshow(verbose=False)
    values = {"value": float(result.statistic), "p": float(result.pvalue)}
    convention = "ten groups of pandas.qcut, as many degrees of freedom"
    if math.isfinite(float(result.statistic)):
        yield Figure("Hosmer-Lemeshow, first 10 n rows", "pycaleva", convention, values)
    else:
        reason = "divides by the variance of a group that is certain"
        yield Figure("Hosmer-Lemeshow, first 10 n rows", "pycaleva", convention, {}, reason)


def _scores(events: EventScores) -> Iterator[Figure]:
    scores, hits = events.scores, events.hits.astype(int)
    table: Floats = np.stack([1 - scores, scores], axis=1)
    value = float(d2_brier_score(hits, scores))
    yield Figure("Brier skill", "scikit-learn", "against the observed frequency", {"value": value})
    value = float(d2_log_loss_score(hits, table))
    yield Figure(
        "log-loss skill", "scikit-learn", "against the observed frequency", {"value": value}
    )
    inside = np.clip(scores, np.finfo(float).eps, 1 - np.finfo(float).eps)
    result = decompose(events.hits.astype(float), inside, scoring_function=LogLoss())
    names = {
        "nll_miscalibration": "miscalibration",
        "nll_discrimination": "discrimination",
        "nll_uncertainty": "uncertainty",
    }
    parts = {key: float(result[name][0]) for key, name in names.items()}
    known = all(map(math.isfinite, parts.values()))
    given: dict[str, Values] = {**parts} if known else {}
    why = "" if known else "its log loss of an isotonic fit of 0 or 1 is not a number"
    yield Figure("CORP, log loss", "model-diagnostics", "isotonic regression", given, why)
