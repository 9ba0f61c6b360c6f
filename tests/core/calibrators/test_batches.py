"""Smooth maps of all classes are fitted by sums over batches, as they are to all rows at once."""

from collections.abc import Iterator

import numpy as np
import pytest

from calibcore import CalibrationInputError, LogitSet
from calibcore.calibrators import (
    DirichletScaling,
    MatrixScaling,
    StructuredVectorScaling,
    TemperatureScaling,
    VectorMap,
    VectorScaling,
)
from calibcore.calibrators.batches import (
    Batch,
    LossSums,
    SmoothMap,
    check_smooth,
    fit_batches,
    fit_sums,
)
from calibcore.calibrators.linear.fit import Inputs
from tests import reference_linear

N, K = 6000, 4

SMOOTH: list[VectorMap] = [
    TemperatureScaling(),
    VectorScaling(),
    VectorScaling(bias=False),
    VectorScaling(space="log_probabilities"),
    MatrixScaling(),
    MatrixScaling(odir=(0.1, 0.2)),
    DirichletScaling(l2=1e-3),
]


def rows(n: int = N, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Draw logits that are too large, each class's in another way, in order of the classes."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 2, (n, K))
    truth = logits * np.linspace(0.4, 0.8, K) + np.linspace(-0.5, 0.5, K)
    labels = (truth + rng.gumbel(size=truth.shape)).argmax(axis=1)
    order = np.argsort(labels, kind="stable")
    return logits[order], labels[order]


def cut(logits: np.ndarray, labels: np.ndarray, n_batches: int) -> list[Batch]:
    places = np.array_split(np.arange(len(labels)), n_batches)
    return [(logits[place], labels[place]) for place in places]


@pytest.mark.parametrize("calibrator", SMOOTH, ids=repr)
@pytest.mark.parametrize("n_batches", [1, 7])
def test_the_fit_is_that_of_all_rows_at_once(calibrator: VectorMap, n_batches: int) -> None:
    """From a sample of a twentieth; the batches hold a class or two each."""
    logits, labels = rows()
    fit = fit_batches(calibrator, cut(logits, labels, n_batches), sample_rows=300)
    whole = calibrator.fit(logits, labels)
    here, there = (one.predict_proba(logits) for one in (fit.fitted, whole))
    np.testing.assert_allclose(here, there, atol=3e-7)
    assert (fit.n_rows, fit.fitted.warnings) == (N, ())
    assert 300 <= fit.n_sample <= 300 + n_batches
    assert fit.n_passes <= 8
    assert getattr(fit.fitted, "penalty", ()) == getattr(whole, "penalty", ())


@pytest.mark.parametrize("calibrator", SMOOTH[:2], ids=repr)
def test_the_sample_s_excess_is_what_its_fit_loses_on_all_rows(calibrator: VectorMap) -> None:
    logits, labels = rows()
    fit = fit_batches(calibrator, cut(logits, labels, 5), sample_rows=1000)
    sample = calibrator.fit(logits[::6], labels[::6])

    def loss(probabilities: np.ndarray) -> float:
        return float(-np.log(probabilities[np.arange(N), labels]).mean())

    excess = loss(sample.predict_proba(logits)) - loss(fit.fitted.predict_proba(logits))
    assert excess > 1e-6
    assert fit.sample_excess == pytest.approx(excess, rel=0.1)


def test_sums_are_those_of_loops() -> None:
    """The loss by loops over rows; derivatives by differences of that."""
    logits, labels = rows(40)
    matrix = np.array([[0.6, 0.1, 0, 0], [0, 0.5, 0, 0.2], [0, 0, 0.7, 0], [0.1, 0, 0, 0.4]])
    bias = np.array([0.1, -0.2, 0.0, 0.3])
    table = np.column_stack([matrix, bias])
    times = np.arange(40, dtype=np.float64) % 3
    sums = SmoothMap(Inputs("logits"), table).sums(logits, labels, times)

    def loss(step: np.ndarray) -> float:
        moved = table + step.reshape(table.shape)
        inputs = reference_linear.centred(logits.tolist())
        each = [
            reference_linear.mean_nll([x], [y], moved[:, :-1].tolist(), moved[:, -1].tolist())
            for x, y in zip(inputs, labels.tolist(), strict=True)
        ]
        return float(np.dot(times, each))

    assert sums.loss == pytest.approx(loss(np.zeros(table.size)), rel=1e-12)
    assert sums.n_rows.tolist() == [int(times[labels == k].sum()) for k in range(K)]
    units = 1e-4 * np.eye(table.size)
    slope = [(loss(unit) - loss(-unit)) / 2e-4 for unit in units]
    np.testing.assert_allclose(sums.gradient, slope, atol=1e-5)
    for one, other in ((0, 0), (0, 7), (4, 9), (3, 18)):
        ends = [loss(units[one] * a + units[other] * b) * a * b for a in (1, -1) for b in (1, -1)]
        assert sums.hessian[one, other] == pytest.approx(sum(ends) / 4e-8, abs=1e-4)


def test_rows_that_nothing_can_make_possible_are_left_out_and_counted() -> None:
    logits, labels = rows()
    logits[np.arange(0, N, 1000), labels[::1000]] = -np.inf
    for calibrator in (TemperatureScaling(), VectorScaling()):
        fit = fit_batches(calibrator, cut(logits, labels, 3), sample_rows=500)
        whole = calibrator.fit(logits, labels)
        here, there = (one.predict_proba(logits) for one in (fit.fitted, whole))
        np.testing.assert_allclose(here, there, atol=3e-7)
        assert fit.fitted.warnings[0].startswith("6 rows were left out of the fit")
        assert fit.n_rows == N - 6


def test_a_class_that_the_sample_lacks_is_fitted_and_one_that_all_lack_is_not() -> None:
    logits, labels = rows()
    rare = np.flatnonzero(labels == 3)
    labels[rare[3:]] = 2
    logits, labels = (np.roll(one, 5, axis=0) for one in (logits, labels))
    fit = fit_batches(VectorScaling(), cut(logits, labels, 3), sample_rows=100)
    whole = VectorScaling().fit(logits, labels)
    here, there = (one.predict_proba(logits) for one in (fit.fitted, whole))
    np.testing.assert_allclose(here, there, atol=1e-6)
    some = labels != 3
    absent = fit_batches(VectorScaling(), cut(logits[some], labels[some], 3), sample_rows=100)
    assert "No row has class 3" in absent.fitted.warnings[0]


def test_rows_that_are_all_right_have_no_best_fit() -> None:
    logits = np.eye(3)[np.arange(900) % 3] * 3
    fit = fit_batches(TemperatureScaling(), cut(logits, np.arange(900) % 3, 3), sample_rows=90)
    assert fit.fitted == TemperatureScaling().fit(logits, np.arange(900) % 3)
    wide = fit_batches(VectorScaling(), cut(logits, np.arange(900) % 3, 3), sample_rows=90)
    assert "Some weights get every calibration row right" in wide.fitted.warnings[0]


class Generator:
    """Batches that are drawn anew each time: nothing of them is kept."""

    def __iter__(self) -> Iterator[Batch]:
        return (rows(1000, seed) for seed in range(4))


def test_batches_may_be_made_anew_and_their_number_does_not_matter() -> None:
    drawn = [*Generator()]
    whole = tuple(np.concatenate(parts) for parts in zip(*drawn, strict=True))
    one = fit_batches(VectorScaling(), Generator())
    other = VectorScaling().fit(*whole)
    np.testing.assert_allclose(getattr(one.fitted, "weights"), other.weights, atol=1e-7)  # noqa: B009


@pytest.mark.parametrize(
    ("batches", "field"),
    [
        (iter(cut(*rows(40), 2)), "batches"),
        ([], "batches"),
        ([rows(4), (np.zeros((4, 3)), np.zeros(4, dtype=int))], "batches"),
        ([(np.zeros(4), np.zeros(4, dtype=int))], "batches"),
        ([(np.zeros((4, 3)), np.array([0, 1, 2, 5]))], "labels"),
    ],
)
def test_what_is_no_series_of_batches_is_refused(batches: list[Batch], field: str) -> None:
    with pytest.raises(CalibrationInputError) as refusal:
        fit_batches(TemperatureScaling(), batches)
    assert refusal.value.field == field


@pytest.mark.parametrize(
    ("calibrator", "n_classes"),
    [
        (TemperatureScaling(loss="squared_error"), 3),
        (MatrixScaling(odir="cv"), 3),
        (StructuredVectorScaling(), 3),
        (VectorScaling(), 301),
        (MatrixScaling(), 25),
    ],
)
def test_what_is_not_fitted_in_batches_is_refused(calibrator: VectorMap, n_classes: int) -> None:
    with pytest.raises(CalibrationInputError, match="in batches"):
        check_smooth(calibrator, n_classes)
    check_smooth(TemperatureScaling(), 1000)


def test_no_row_that_can_be_fitted_is_refused() -> None:
    logits = np.array([[0.0, -np.inf], [0.0, 1.0]])
    sample = LogitSet(logits, [0, 1])

    def add_up(at: SmoothMap) -> LossSums:
        return at.sums(logits[:1], [1])

    with pytest.raises(CalibrationInputError, match="labels"):
        fit_sums(VectorScaling(), sample, add_up)
