"""Peers' maps of the top-1 score, fitted on the calibration set."""

import contextlib
import io
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from betacal import BetaCalibration
from calibration import utils as unccal
from netcal.binning import BBQ, HistogramBinning
from probmetrics.calibrators import BinaryHistogramBinningCalibrator
from sklearn.calibration import _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from venn_abers import VennAbers

from calibcore.validation import Floats
from tests.peers.cases import N_BINS, Case, clipped, log_odds, odds_nll
from tests.peers.figures import Figure, Values

UNCCAL = "uncertainty-calibration"


def figures(case: Case) -> Iterator[Figure]:
    """Give every map: its parameters, or what it makes of the probes."""
    yield Figure(
        "probes",
        "numpy",
        "21 equally spaced quantiles of the top-1 scores: of the test set, of the calibration set",
        {"probes": case.probes.tolist(), "known_probes": case.known_probes.tolist()},
    )
    yield from _platt(case)
    yield from _beta(case)
    yield from _isotonic(case)
    yield from _histogram(case)
    yield from _bbq(case)
    yield from _venn_abers(case)


def _at_probes(case: Case, predict: Callable[[Floats], Any]) -> dict[str, Values]:
    """Give what a map makes of both sets of probes."""
    return {
        "calibrated": np.asarray(predict(case.probes), dtype=np.float64).tolist(),
        "calibrated_known": np.asarray(predict(case.known_probes), dtype=np.float64).tolist(),
    }


def _two_columns(scores: Floats) -> Floats:
    return np.column_stack([1 - scores, scores])


def _second_column(fitted: Any, scores: Floats) -> Any:
    return fitted.predict_proba(_two_columns(scores))[:, 1]


def _platt(case: Case) -> Iterator[Figure]:
    events = case.calibration_events
    features = log_odds(events.scores)
    fitted = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-12, max_iter=1000)
    fitted.fit(features[:, np.newaxis], events.hits)
    slope, intercept = float(fitted.coef_[0, 0]), float(fitted.intercept_[0])
    yield Figure(
        "Platt",
        "scikit-learn",
        "LogisticRegression(C=inf) on the log-odds of scores clipped at 2.2e-16",
        {
            "slope": slope,
            "intercept": intercept,
            "nll": odds_nll(slope * features + intercept, events),
        },
    )
    smoothed = _SigmoidCalibration().fit(features, events.hits)
    slope, intercept = -float(smoothed.a_), -float(smoothed.b_)
    yield Figure(
        "Platt, smoothed targets",
        "scikit-learn",
        "_SigmoidCalibration (L-BFGS) on the log-odds of scores clipped at 2.2e-16",
        {
            "slope": slope,
            "intercept": intercept,
            "nll": odds_nll(slope * features + intercept, events),
        },
    )


def _beta(case: Case) -> Iterator[Figure]:
    events = case.calibration_events
    kept = clipped(events.scores)
    for kind in ("abm", "am", "ab"):
        inner = BetaCalibration(kind).fit(events.scores, events.hits).calibrator_
        a, b, m = (float(value) for value in inner.map_)
        intercept = b * np.log1p(-m) - a * np.log(m)
        if kind != "ab":
            intercept = float(inner.lr_.intercept_[0])
        yield Figure(
            f"beta {kind}",
            "betacal",
            "log-odds a ln s - b ln(1 - s) + c, s clipped at 2.2e-16, its m; a negative one is 0",
            {
                "a": a,
                "b": b,
                "c": float(intercept),
                "m": m,
                "nll": odds_nll(a * np.log(kept) - b * np.log1p(-kept) + intercept, events),
            },
        )


def _isotonic(case: Case) -> Iterator[Figure]:
    events = case.calibration_events
    fitted = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    fitted.fit(events.scores, events.hits)
    yield Figure(
        "isotonic",
        "scikit-learn",
        "interpolated between scores, scores within 1e-15 pooled, clipped to the range seen",
        _at_probes(case, fitted.predict),
    )


def _histogram(case: Case) -> Iterator[Figure]:
    events = case.calibration_events
    fitted = HistogramBinning(N_BINS).fit(events.scores, events.hits)
    yield Figure(
        "histogram, equal width",
        "netcal",
        "fits bins [lower, upper), applies (lower, upper]; an empty bin gives its middle",
        _at_probes(case, fitted.transform),
    )
    for strategy, job in (("uniform", "equal width"), ("quantile", "equal mass")):
        binned = BinaryHistogramBinningCalibrator(N_BINS, strategy)
        binned.fit(_two_columns(events.scores), events.hits)
        yield Figure(
            f"histogram, {job}",
            "probmetrics",
            "bins [lower, upper) of float32 scores; an empty bin gives the hit rate of all rows",
            _at_probes(case, partial(_second_column, binned)),
        )
    scores = events.scores.tolist()
    bins = unccal.get_equal_bins(scores, num_bins=N_BINS)
    yield Figure(
        "histogram, equal mass",
        UNCCAL,
        "numpy.array_split, edges halfway between rows, repeats merged; bins (lower, upper]",
        _at_probes(case, unccal.get_histogram_calibrator(scores, events.hits.tolist(), bins)),
    )


def _bbq(case: Case) -> Iterator[Figure]:
    events = case.calibration_events
    with contextlib.redirect_stderr(io.StringIO()):  # its progress bar
        fitted = BBQ().fit(events.scores, events.hits)
    yield Figure(
        "BBQ",
        "netcal",
        "equal-width bins (equal mass cannot be applied), weights exp(-BIC / 2), least ones cut",
        _at_probes(case, fitted.transform),
    )


def _venn_abers(case: Case) -> Iterator[Figure]:
    events = case.calibration_events
    fitted = VennAbers()
    fitted.fit(_two_columns(events.scores), events.hits)
    values: dict[str, Values] = {}
    for suffix, probes in (("", case.probes), ("_known", case.known_probes)):
        merged, pair = fitted.predict_proba(_two_columns(probes))
        values |= {
            f"p0{suffix}": pair[:, 0].tolist(),
            f"p1{suffix}": pair[:, 1].tolist(),
            f"merged{suffix}": merged[:, 1].tolist(),
        }
    convention = "inductive; p0 of the next higher known score if unknown, p1 of the next lower"
    yield Figure("Venn-Abers", "venn-abers", convention, values)
