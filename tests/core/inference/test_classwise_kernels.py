"""The uncertainty of the class-wise KDE-ECE, beside slow loops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.data import draw_table
from benchmarks.timing import peak_bytes
from calibcore.data import EventScores
from calibcore.events import TopR
from calibcore.inference import Plan, SideRows
from calibcore.inference.classwise import MESH, ClassKernels, drawn_labels, evaluate_classes
from calibcore.inference.findings import Uncertainty
from calibcore.metrics import METRICS, kde_classwise_ece
from calibcore.probabilities import softmax
from calibcore.validation import Floats, Labels
from tests import reference_kernel as reference
from tests.core.inference.uncertainty import finding_of

KEY = "kde_classwise_ece"
ALONE = tuple(measure for measure in METRICS if measure.key == KEY)


@pytest.fixture(autouse=True)
def same_mesh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "MESH", MESH)


@pytest.fixture
def table(rng: np.random.Generator) -> Floats:
    rows = rng.dirichlet([0.3] * 5, size=60)
    rows[:4] = np.eye(5)[[0, 1, 1, 4]]
    return rows


def evaluate(
    probabilities: Floats, labels: Labels, other: Floats | None, n_resamples: int = 100
) -> Uncertainty:
    event = EventScores(np.zeros(len(labels)), np.zeros(len(labels)))
    side = SideRows(event, probabilities, labels)
    rng = np.random.default_rng(0)
    return evaluate_classes(rng, side, other, Plan(ALONE, n_resamples=n_resamples))[KEY]


def test_errors_are_those_of_slow_loops(table: Floats, rng: np.random.Generator) -> None:
    labels = rng.integers(5, size=(3, 60))
    labels[1, labels[1] == 2] = 3  # a class without hits, and below one with a single hit
    labels[2, np.flatnonzero(labels[2] == 2)[1:]] = 3
    result = ClassKernels(table).errors(labels)
    for drawn, errors in zip(labels, result, strict=True):
        for k, error in enumerate(errors):
            slow = reference.kde_ece_on_mesh(table[:, k].tolist(), [int(y == k) for y in drawn])
            assert error == pytest.approx(slow[0], rel=1e-6)


def test_many_rows_and_classes_are_taken_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = draw_table(300, 40)
    labels = drawn_labels(np.random.default_rng(1), rows.probabilities, 5)
    whole = ClassKernels(rows.probabilities)
    errors = whole.errors(labels)
    monkeypatch.setattr("calibcore.inference.classwise._CELLS", 1000)
    monkeypatch.setattr("calibcore.inference.classwise._BATCH", 7)
    parts = ClassKernels(rows.probabilities)
    assert_allclose(parts.errors(labels), errors, rtol=1e-9)


def test_the_reference_is_what_calibrated_labels_show() -> None:
    rows = draw_table(2_000, 20)
    evaluated = evaluate(rows.probabilities, rows.labels, None)
    drawn = drawn_labels(np.random.default_rng(2), rows.probabilities, 60)
    values = [kde_classwise_ece(rows.probabilities, labels) for labels in drawn]
    deviation = float(np.std(values))
    assert evaluated.reference.mean == pytest.approx(np.mean(values), abs=0.6 * deviation)
    assert evaluated.reference.upper == pytest.approx(np.quantile(values, 0.95), abs=deviation)
    assert evaluated.value == kde_classwise_ece(rows.probabilities, rows.labels)


def test_an_error_is_detected_and_no_interval_is_claimed() -> None:
    rows = draw_table(4_000, 3)
    evaluated = evaluate(rows.probabilities, rows.labels, None)
    assert evaluated.reference.p_value < 0.02
    assert evaluated.value > evaluated.reference.upper
    calm = evaluate(softmax(rows.logits / 2), rows.labels, None)
    assert calm.reference.p_value > 0.05
    assert np.isnan([evaluated.interval.low, evaluated.interval.high]).all()


def test_a_change_without_interval_is_not_comparable() -> None:
    rows = draw_table(500, 4)
    after = softmax(rows.logits / 2)
    before, calmer = (
        SideRows(TopR(1).outcomes(table, rows.labels), table, rows.labels)
        for table in (rows.probabilities, after)
    )
    assert finding_of(KEY, before, calmer, 50).mark == "not comparable"


def test_memory_is_bounded() -> None:
    """Of 100 draws of 400 classes the meshes alone would take 83 MB."""
    rows = draw_table(500, 400)
    probabilities = rows.probabilities
    other = softmax(rows.logits / 2)
    assert peak_bytes(lambda: evaluate(probabilities, rows.labels, other)) < 60 * 2**20
