"""Metrics as torchmetrics and evaluate call them: the numbers of an audit of all rows."""

import pickle
from typing import Any

import numpy as np
import pytest

from calibcore import CalibrationInputError, audit
from calibcore.adapters.evaluate import Calibration
from calibcore.adapters.torchmetrics import USUAL, CalibrationMetric
from calibcore.events import OneClass, TopR, WithinTopR

SIZES = 128, 1, 300, 7, 128, 256, 1, 180


def draw_rows(n_classes: int = 1) -> tuple[Any, Any]:
    rng = np.random.default_rng(n_classes)
    logits = 2 * rng.normal(size=(sum(SIZES), n_classes))
    if n_classes == 1:
        scores = 1 / (1 + np.exp(-logits[:, 0]))
        return scores, rng.random(scores.size) < scores**1.3
    return logits, (logits + 2 * rng.gumbel(size=logits.shape)).argmax(axis=1)


def batches(values: Any, truth: Any) -> list[tuple[Any, Any]]:
    cuts = np.cumsum(SIZES)[:-1]
    return [*zip(np.split(values, cuts), np.split(truth, cuts), strict=True)]


def wanted(values: Any, truth: Any, **options: Any) -> dict[str, Any]:
    test = audit(values, truth, **options).test
    return {key: test.compare(key).before for key in USUAL}


@pytest.mark.parametrize(
    ("n_classes", "event"),
    [(1, None), (2, None), (5, None), (5, OneClass(3)), (5, TopR(2)), (5, WithinTopR(2))],
)
def test_batches_give_what_an_audit_of_all_rows_gives(n_classes: int, event: Any) -> None:
    values, truth = draw_rows(n_classes)
    metric = CalibrationMetric(event=event, n_bins=10)
    for preds, target in batches(values, truth):
        metric.update(preds, target)
    want = wanted(values, truth, event=event, n_bins=10)
    assert metric.compute() == pytest.approx(want, rel=1e-12, abs=1e-15)
    assert metric.summary.n_samples == len(truth)


def test_parts_of_several_processes_add_up_and_a_reset_forgets() -> None:
    values, truth = draw_rows()
    first, second = CalibrationMetric("ks_error"), CalibrationMetric("ks_error")
    for number, batch in enumerate(batches(values, truth)):
        (first, second)[number % 2].update(*batch)
    first.merge_state(pickle.loads(pickle.dumps(second)))  # noqa: S301 - as processes send it
    assert first.compute()["ks_error"] == pytest.approx(wanted(values, truth)["ks_error"])
    first.reset()
    with pytest.raises(CalibrationInputError, match="at least one update"):
        first.compute()


def test_many_batches_are_added_in_few_steps() -> None:
    metric = CalibrationMetric()
    rng = np.random.default_rng(0)
    for _ in range(200):
        metric.update(rng.random(10), rng.random(10) < 0.5)
        assert len(metric._parts) <= 8  # noqa: SLF001 - what bounds the time
    assert metric.summary.n_samples == 2000


def test_a_batch_that_is_refused_counts_nothing() -> None:
    metric = CalibrationMetric("mean_gap")
    metric.update([0.5, 0.5], [1, 1])
    for preds, target in (([1.5], [1]), ([0.5], [2]), ([0.5, 0.5], [1]), ([[1.0, 2.0]], [2])):
        with pytest.raises(CalibrationInputError):
            metric.update(preds, target)
    assert metric.compute() == {"mean_gap": -0.5}


@pytest.mark.parametrize("key", ["nll", "no such"])
def test_a_measure_that_an_event_does_not_have_is_refused(key: str) -> None:
    with pytest.raises(CalibrationInputError, match="measure"):
        CalibrationMetric(key)


def test_evaluate_s_call_forgets_its_rows() -> None:
    values, truth = draw_rows()
    metric = Calibration()
    for _ in range(2):
        want = pytest.approx(wanted(values, truth), rel=1e-12)
        assert metric.compute(predictions=values, references=truth) == want
    for preds, target in batches(values, truth):
        metric.add_batch(predictions=preds, references=target)
    assert metric.compute() == pytest.approx(wanted(values, truth), rel=1e-12)
    with pytest.raises(CalibrationInputError, match="at least one update"):
        metric.compute()


# With the libraries themselves ----------------------------------------------------------------

elsewhere = "is installed by make adapters"


def test_real_tensors_of_any_type_and_with_a_gradient() -> None:
    torch = pytest.importorskip("torch", reason=elsewhere)
    values, truth = draw_rows(5)
    for kind in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        logits = torch.tensor(values, dtype=kind, requires_grad=True)
        metric = CalibrationMetric()
        for preds, target in batches(np.arange(len(truth)), truth):
            metric.update(logits[torch.from_numpy(preds)], torch.from_numpy(target))
        want = wanted(logits.detach().double().numpy(), truth)
        assert metric.compute() == pytest.approx(want, rel=1e-5, abs=1e-6)


def test_its_ece_is_that_of_torchmetrics() -> None:
    torch = pytest.importorskip("torch", reason=elsewhere)
    torchmetrics = pytest.importorskip("torchmetrics.classification", reason=elsewhere)
    values, truth = draw_rows()
    ours, theirs = CalibrationMetric("ece"), torchmetrics.BinaryCalibrationError(n_bins=15)
    for preds, target in batches(values, truth):
        given = torch.from_numpy(preds), torch.from_numpy(target.astype(np.int64))
        ours.update(*given)
        theirs.update(*given)
    assert ours.compute()["ece"] == pytest.approx(float(theirs.compute()), abs=1e-6)


def test_it_computes_beside_a_metric_of_evaluate() -> None:
    evaluate = pytest.importorskip("evaluate", reason=elsewhere)

    both = evaluate.combine({"calibration": Calibration("mean_gap"), "again": Calibration("ece")})
    values, truth = draw_rows()
    result = both.compute(predictions=values, references=truth)
    want = wanted(values, truth)
    assert result == pytest.approx({key: want[key] for key in ("mean_gap", "ece")}, rel=1e-12)
