"""What peers measure on the test set, before any calibration."""

from collections.abc import Iterator

import numpy as np
import relplot.metrics
import torch
from calibration import utils as unccal
from netcal.metrics import ECE
from probmetrics.distributions import CategoricalProbs
from probmetrics.metrics import KolmogorovSmirnovCalibrationMetric, KuiperCalibrationMetric
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss
from torchmetrics.functional.classification import binary_calibration_error

from tests.peers.cases import N_BINS, Case
from tests.peers.figures import Figure

UNCCAL = "uncertainty-calibration"


def figures(case: Case) -> Iterator[Figure]:
    """Give every measure."""
    yield from _proper(case)
    yield from _equal_width(case)
    yield from _equal_mass(case)
    yield from _all_classes(case)
    yield from _unbinned(case)


def _one(job: str, peer: str, convention: str, value: float) -> Figure:
    return Figure(job, peer, convention, {"value": float(value)})


def _proper(case: Case) -> Iterator[Figure]:
    table, events = case.test, case.test_events
    labels = list(range(case.n_classes))
    loss = log_loss(table.labels, table.probabilities, labels=labels)
    yield _one("log loss", "scikit-learn", "mean, nats; probabilities clipped at 2.2e-16", loss)
    squared = brier_score_loss(
        table.labels, table.probabilities, labels=labels, scale_by_half=False
    )
    yield _one("Brier", "scikit-learn", "summed over classes (scale_by_half=False)", squared)
    own = brier_score_loss(events.hits, events.scores)
    yield _one("event Brier", "scikit-learn", "of the top-1 event, 0 to 1", own)
    share = accuracy_score(table.labels, table.logits.argmax(axis=1))
    yield _one("accuracy", "scikit-learn", "share", share)


def _equal_width(case: Case) -> Iterator[Figure]:
    job, scores, hits = "ECE, equal width", case.test_events.scores, case.test_events.hits
    value = ECE(N_BINS).measure(scores, hits)
    yield _one(job, "netcal", "bins [lower, upper), scores clipped at 2.2e-16", value)
    tensors = torch.from_numpy(scores), torch.from_numpy(hits)
    value = binary_calibration_error(*tensors, n_bins=N_BINS, norm="l1")
    yield _one(job, "torchmetrics", "bins [lower, upper) with float32 edges, 1.0 apart", value)
    value = unccal.get_ece(scores, hits.astype(np.int64), num_bins=N_BINS)
    yield _one(job, UNCCAL, "bins (lower, upper]", value)
    value = relplot.metrics.binnedECE(scores, hits.astype(np.float64), nbins=N_BINS)
    yield _one(job, "relplot", "bins [lower, upper), 1.0 in a bin of its own", value)


def _equal_mass(case: Case) -> Iterator[Figure]:
    job, scores, hits = "ECE, equal mass", case.test_events.scores, case.test_events.hits
    value = ECE(N_BINS, equal_intervals=False).measure(scores, hits)
    yield _one(job, "netcal", "edges are interpolated quantiles, bins [lower, upper)", value)
    value = unccal.get_ece_em(scores, hits.astype(np.int64), num_bins=N_BINS)
    yield _one(job, UNCCAL, "numpy.array_split, edges halfway between rows", value)
    value = unccal.lower_bound_scaling_ce(
        scores, hits.astype(np.int64), p=2, debias=True, num_bins=N_BINS
    )
    convention = "root of debiased square, 15 bins of array_split, edges halfway between rows"
    yield _one("debiased l2", UNCCAL, convention, value)


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


def _unbinned(case: Case) -> Iterator[Figure]:
    scores, hits = case.test_events.scores, case.test_events.hits
    truth = torch.from_numpy(np.eye(2)[hits])
    given = torch.from_numpy(np.column_stack([1 - scores, scores]))
    convention = "of the top-1 event as two classes, in float32; every prefix counts"
    for job, measure in (
        ("KS", KolmogorovSmirnovCalibrationMetric()),
        ("Kuiper", KuiperCalibrationMetric()),
    ):
        value = measure.compute(CategoricalProbs(truth), CategoricalProbs(given))
        yield _one(job, "probmetrics", convention, value)
    value = relplot.metrics.smECE(scores, hits.astype(np.float64))
    convention = "reflected Gaussian on a grid, ten bisections; a score of 1 counts half"
    yield _one("smooth ECE", "relplot", convention, value)
