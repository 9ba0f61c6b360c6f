"""What peers measure on the test set, before any calibration.

Of two events, top-1 and class 1, and of the whole table. Where a peer's bins of equal mass put a
surplus of rows elsewhere, it also measures the rows that leave none.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import mapie.metrics.calibration as mapie
import numpy as np
import statsmodels.api as sm
import torch
from calibration import utils as unccal
from model_diagnostics.calibration import compute_bias
from model_diagnostics.scoring import SquaredError, decompose
from netcal.metrics import ECE, MCE
from probmetrics.distributions import CategoricalProbs
from probmetrics.metrics import KolmogorovSmirnovCalibrationMetric, KuiperCalibrationMetric
from relplot.metrics import binnedECE
from sklearn.calibration import calibration_curve
from sklearn.isotonic import isotonic_regression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    brier_score_loss,
    log_loss,
    roc_auc_score,
    top_k_accuracy_score,
)
from torchmetrics.functional.classification import binary_auroc, binary_calibration_error

from calibcore import EventScores
from calibcore.validation import Floats
from tests.peers import kernels
from tests.peers.cases import N_BINS, Case, log_odds, whole_bins
from tests.peers.figures import Figure
from tests.peers.sweep import authors_places, sweep_error, tied_places

SKLEARN = "scikit-learn"
UNCCAL = "uncertainty-calibration"

_ZEROS = "mean, nats; probabilities of 0 count 36 nats, here 708; none is of a true class"


def figures(case: Case) -> Iterator[Figure]:
    """Give every measure."""
    yield from _proper(case)
    yield from _all_classes(case)
    yield from kernels.all_classes(case)
    for suffix, events in case.events.items():
        for kind in _OF_EVENTS:
            for figure in kind(events):
                words = figure.convention
                if suffix:
                    words = words.replace("of the top-1 event", "of the event")
                yield replace(figure, job=f"{figure.job}{suffix}", convention=words)


def _one(job: str, peer: str, convention: str, value: float) -> Figure:
    """Give a figure of one value, left out where the peer gave no number."""
    if math.isnan(value):
        return Figure(job, peer, convention, {}, "not a number")
    return Figure(job, peer, convention, {"value": float(value)})


# All classes --------------------------------------------------------------------------------------


def _proper(case: Case) -> Iterator[Figure]:
    table = case.test
    labels = list(range(case.n_classes))
    loss = log_loss(table.labels, table.probabilities, labels=labels)
    yield _one("log loss", SKLEARN, _ZEROS, loss)

    def squared(probabilities: Floats) -> float:
        value = brier_score_loss(table.labels, probabilities, labels=labels, scale_by_half=False)
        return float(value)

    summed = "summed over classes (scale_by_half=False)"
    before = squared(table.probabilities)
    yield _one("Brier", SKLEARN, summed, before)
    convention = f"fall of the Brier score at a temperature of 2, {summed}"
    yield _one("calibration gain", SKLEARN, convention, before - squared(case.cooled))
    share = accuracy_score(table.labels, table.logits.argmax(axis=1))
    yield _one("accuracy", SKLEARN, "share", share)
    convention = "share; of equal scores the later class ranks first"
    for r in (2, 5):
        job = f"top-{r} accuracy"
        if case.n_classes > r:
            share = top_k_accuracy_score(table.labels, table.probabilities, k=r, labels=labels)
            yield _one(job, SKLEARN, convention, share)
        else:
            yield Figure(job, SKLEARN, convention, {}, f"{case.n_classes} classes")


def _all_classes(case: Case) -> Iterator[Figure]:
    table, job = case.test, "class-wise ECE"
    value = unccal.lower_bound_scaling_ce(
        table.probabilities,
        table.labels,
        p=1,
        debias=False,
        num_bins=N_BINS,
        binning_scheme=unccal.get_equal_prob_bins,
        mode="marginal",
    )
    yield _one(f"{job}, equal width", UNCCAL, "mean over classes, bins (lower, upper]", value)
    value = unccal.lower_bound_scaling_ce(
        table.probabilities, table.labels, p=1, debias=False, num_bins=N_BINS, mode="marginal"
    )
    convention = "mean over classes, numpy.array_split, edges halfway between rows, repeats merged"
    yield _one(f"{job}, equal mass", UNCCAL, convention, value)
    value = mapie.expected_calibration_error(
        None,
        table.probabilities,
        num_bins=N_BINS + 1,
        split_strategy="uniform",
        classwise=True,
        class_labels=table.labels,
    )
    convention = "mean over classes, bins (lower, upper], 0 in a bin of its own; asked for 16 bins"
    yield _one(f"{job}, equal width", "MAPIE", convention, value)
    each = [
        ECE(N_BINS).measure(column, (table.labels == k).astype(np.int64))
        for k, column in enumerate(table.probabilities.T)
    ]
    convention = "bins [lower, upper), one class against the others"
    yield _one(f"{job}, equal width", "netcal", f"mean of the classes, {convention}", np.mean(each))
    yield _one(f"{job}, worst class", "netcal", f"largest, {convention}", max(each))
    whole = len(table.labels) // N_BINS * N_BINS
    each = [
        unccal.get_ece_em(column, (table.labels[:whole] == k).astype(np.int64), num_bins=N_BINS)
        for k, column in enumerate(table.probabilities[:whole].T)
    ]
    convention = "mean of the classes, numpy.array_split, edges halfway between rows"
    yield _one(f"{job}, equal mass, first 15 n rows", UNCCAL, convention, np.mean(each))
    each = [
        np.abs(mapie.cumulative_differences(table.labels == k, column, noise_amplitude=0)).max()
        for k, column in enumerate(table.probabilities.T)
    ]
    convention = "cumulative_differences without noise of one class against the others"
    yield _one("class-wise KS", "MAPIE", f"mean of the classes, {convention}", np.mean(each))
    yield _one("class-wise KS, worst class", "MAPIE", f"largest, {convention}", max(each))


# One event ----------------------------------------------------------------------------------------


def _event_scores(events: EventScores) -> Iterator[Figure]:
    own = brier_score_loss(events.hits, events.scores)
    yield _one("event Brier", SKLEARN, "of the top-1 event, 0 to 1", own)
    loss = log_loss(events.hits, events.scores, labels=[0, 1])
    yield _one("event log loss", SKLEARN, _ZEROS, loss)
    area = roc_auc_score(events.hits, events.scores)
    yield _one("AUROC", SKLEARN, "equal scores count half", area)
    tensors = torch.from_numpy(events.scores), torch.from_numpy(events.hits.astype(np.int64))
    area = binary_auroc(*tensors)
    yield _one("AUROC", "torchmetrics", "equal scores count half", area)


def _averages(events: EventScores) -> Iterator[Figure]:
    rate, mean = (one[0] for one in calibration_curve(events.hits, events.scores, n_bins=1))
    yield _one("mean score", SKLEARN, "calibration_curve of one bin", mean)
    yield _one("observed frequency", SKLEARN, "calibration_curve of one bin", rate)
    convention = "calibration_curve of one bin: frequency over mean score"
    yield _one("observed over expected", SKLEARN, convention, rate / mean)
    bias = compute_bias(y_obs=events.hits.astype(np.float64), y_pred=events.scores)
    convention = "compute_bias: mean of prediction minus observation"
    yield _one("mean gap", "model-diagnostics", convention, bias["bias_mean"][0])


def _regression(events: EventScores) -> Iterator[Figure]:
    odds = log_odds(events.scores)
    fitted = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-14, max_iter=1000)
    fitted.fit(odds[:, np.newaxis], events.hits)
    clip = "log-odds of scores clipped at 2.2e-16"
    convention = f"LogisticRegression(C=inf) on the {clip}"
    yield _one("calibration slope", SKLEARN, convention, fitted.coef_[0, 0])
    family, search = sm.families.Binomial(), {"tol": 1e-14, "maxiter": 200}
    both = sm.GLM(events.hits, sm.add_constant(odds), family=family).fit(**search)
    yield _one("calibration slope", "statsmodels", f"GLM on the {clip}", both.params[1])
    alone = sm.GLM(events.hits, np.ones_like(odds), family=family, offset=odds).fit(**search)
    convention = f"GLM of a constant, the {clip} as offset"
    yield _one("calibration intercept", "statsmodels", convention, alone.params[0])


def _corp(events: EventScores) -> Iterator[Figure]:
    hits, scores = events.hits.astype(np.float64), events.scores
    parts = decompose(y_obs=hits, y_pred=scores, scoring_function=SquaredError())
    names = "miscalibration", "discrimination", "uncertainty"
    values = {name: float(parts[name][0]) for name in names}
    convention = "decompose of the squared error"
    if any(math.isnan(value) for value in values.values()):
        reason = "not a number: scikit-learn interpolates between scores 2.2e-16 apart"
        yield Figure("CORP", "model-diagnostics", convention, {}, reason)
    else:
        yield Figure("CORP", "model-diagnostics", convention, {**values})
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    mapped = isotonic_regression(np.bincount(place, hits) / counts, sample_weight=counts)[place]
    rate = np.full_like(hits, hits.mean())
    whole, best, least = (brier_score_loss(hits, given) for given in (scores, mapped, rate))
    of_each = (whole - best, least - best, least)
    yield Figure(
        "CORP",
        SKLEARN,
        "Brier scores of the scores, of isotonic_regression at each distinct score, of the rate",
        {name: float(value) for name, value in zip(names, of_each, strict=True)},
    )


def _equal_width(events: EventScores) -> Iterator[Figure]:
    job, scores, hits = "ECE, equal width", events.scores, events.hits
    value = ECE(N_BINS).measure(scores, hits)
    yield _one(job, "netcal", "bins [lower, upper), scores clipped at 2.2e-16", value)
    tensors = torch.from_numpy(scores), torch.from_numpy(hits)

    def norm(name: str) -> float:
        return float(binary_calibration_error(*tensors, n_bins=N_BINS, norm=name))

    convention = "bins [lower, upper), 1.0 in a bin of its own"
    yield _one(job, "torchmetrics", convention, norm("l1"))
    value = unccal.get_ece(scores, hits.astype(np.int64), num_bins=N_BINS)
    yield _one(job, UNCCAL, "bins (lower, upper]", value)
    value = binnedECE(scores, hits.astype(np.float64), nbins=N_BINS)
    yield _one(job, "relplot", "bins [lower, upper), 1.0 in a bin of its own", value)
    value = mapie.expected_calibration_error(
        hits, scores, num_bins=N_BINS + 1, split_strategy="uniform"
    )
    own_bin = "bins (lower, upper], 0 in a bin of its own; asked for 16 bins"
    yield _one(job, "MAPIE", own_bin, value)
    for debias, name in ((False, "l2, equal width"), (True, "debiased l2, equal width")):
        yield _one(name, UNCCAL, "bins (lower, upper]", _unccal_l2(events, _WIDTH, debias=debias))
    yield _one("l2, equal width", "torchmetrics", convention, norm("l2"))
    yield _one("MCE", "torchmetrics", convention, norm("max"))
    value = MCE(N_BINS).measure(scores, hits)
    yield _one("MCE", "netcal", "bins [lower, upper), scores clipped at 2.2e-16", value)
    rate, mean = calibration_curve(hits, scores, n_bins=N_BINS)
    convention = "calibration_curve: bins (lower, upper]; its largest gap"
    yield _one("MCE", SKLEARN, convention, np.abs(rate - mean).max())


_WIDTH, _MASS = unccal.get_equal_prob_bins, unccal.get_equal_bins


def _unccal_l2(events: EventScores, bins: Callable[..., object], *, debias: bool) -> float:
    value = unccal.lower_bound_scaling_ce(
        events.scores,
        events.hits.astype(np.int64),
        p=2,
        debias=debias,
        num_bins=N_BINS,
        binning_scheme=bins,
    )
    return float(value)


def _equal_mass(events: EventScores) -> Iterator[Figure]:
    yield from _equal_mass_of(events, "")
    yield from _equal_mass_of(whole_bins(events), ", first 15 n rows")


def _equal_mass_of(events: EventScores, suffix: str) -> Iterator[Figure]:
    job, scores, hits = f"ECE, equal mass{suffix}", events.scores, events.hits
    convention = "edges are interpolated quantiles, bins [lower, upper)"
    try:
        value = ECE(N_BINS, equal_intervals=False).measure(scores, hits)
        yield _one(job, "netcal", convention, value)
    except ValueError as fault:
        yield Figure(job, "netcal", convention, {}, f"raises: {fault}")
    if suffix:
        value = MCE(N_BINS, equal_intervals=False).measure(scores, hits)
        yield _one(f"MCE, equal mass{suffix}", "netcal", convention, value)
    value = unccal.get_ece_em(scores, hits.astype(np.int64), num_bins=N_BINS)
    halfway = "numpy.array_split, edges halfway between rows"
    yield _one(job, UNCCAL, halfway, value)
    order = np.argsort(scores, kind="stable")
    value = mapie.expected_calibration_error(
        hits[order], scores[order], num_bins=N_BINS, split_strategy="array split"
    )
    convention = "numpy.array_split of the sorted rows, bins (lower, upper]"
    yield _one(job, "MAPIE", convention, value)
    value = _unccal_l2(events, _MASS, debias=True)
    convention = "root of debiased square, 15 bins of array_split, edges halfway between rows"
    yield _one(f"debiased l2{suffix}", UNCCAL, convention, value)
    value = _unccal_l2(events, _MASS, debias=False)
    yield _one(f"l2, equal mass{suffix}", UNCCAL, halfway, value)


def _sweep(events: EventScores) -> Iterator[Figure]:
    scores, hits = events.scores, events.hits
    for norm, name in ((1, "l1"), (2, "l2")):
        convention = (
            "the authors' rule, reimplemented: row i of N in bin floor(i b / N), ties or not"
        )
        value = sweep_error(scores, hits, norm, authors_places)
        yield _one(f"ECE sweep, {name}", "numpy", convention, value)
        convention = "the same with bins ending at the score of row floor(k N / b), ties together"
        value = sweep_error(scores, hits, norm, tied_places)
        yield _one(f"ECE sweep, {name}, same bins", "numpy", convention, value)


def _cumulative(events: EventScores) -> Iterator[Figure]:
    scores, hits = events.scores, events.hits
    truth = torch.from_numpy(np.eye(2)[hits])
    given = torch.from_numpy(np.column_stack([1 - scores, scores]))
    convention = "of the top-1 event as two classes, in float32; every prefix counts"
    for job, measure in (
        ("KS", KolmogorovSmirnovCalibrationMetric()),
        ("Kuiper", KuiperCalibrationMetric()),
    ):
        value = measure.compute(CategoricalProbs(truth), CategoricalProbs(given))
        yield _one(job, "probmetrics", convention, value)
    gaps = mapie.cumulative_differences(hits, scores, noise_amplitude=0)
    convention = "cumulative_differences without noise; every prefix counts"
    ks, kuiper = np.abs(gaps).max(), np.ptp(np.append(0.0, gaps))
    yield _one("KS", "MAPIE", convention, ks)
    yield _one("Kuiper", "MAPIE", f"{convention}, the empty one too", kuiper)
    scale = mapie.length_scale(scores)
    convention = f"1 - cdf of the statistic; {convention}"
    yield _one("KS p-value", "MAPIE", convention, 1 - mapie.kolmogorov_smirnov_cdf(ks / scale))
    yield _one("Kuiper p-value", "MAPIE", convention, 1 - mapie.kuiper_cdf(kuiper / scale))


_OF_EVENTS = (
    _event_scores,
    _averages,
    _regression,
    _corp,
    _equal_width,
    _equal_mass,
    _sweep,
    _cumulative,
    kernels.of_event,
)
