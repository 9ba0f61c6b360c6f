import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
import scipy.optimize
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from benchmarks.timing import peak_bytes
from calibcore import CalibrationInputError
from calibcore.calibrators import CATALOGUE, TemperatureScaling
from calibcore.calibrators.base import SlowVectorMap, VectorMap
from calibcore.calibrators.linear.fit import FittedLinear, Inputs, warnings_of_choice
from calibcore.calibrators.linear.maps import (
    DirichletScaling,
    MatrixScaling,
    StructuredMatrixScaling,
    StructuredVectorScaling,
    VectorScaling,
)
from calibcore.calibrators.linear.model import Block, Evaluation, LinearModel, Penalty
from calibcore.calibrators.linear.newton import Inverse, approximate_inverse
from calibcore.calibrators.linear.odir import (
    PenaltyChoice,
    _parts,
    choose_odir,
    strengths_tried,
)
from calibcore.data import LogitSet
from calibcore.events import TopR
from calibcore.fitting import FoldedVectorMap, fit_split, prepare
from calibcore.probabilities import log_softmax, softmax
from calibcore.splits import cross_split
from tests import reference as loops
from tests import reference_linear as reference
from tests.strategies import Floats, LogitCase, seeded_logit_sets

Map = VectorScaling | MatrixScaling | DirichletScaling
Structured = StructuredVectorScaling | StructuredMatrixScaling

PENALISED: list[Map | Structured] = [
    DirichletScaling(l2=0.01),
    StructuredVectorScaling(),
    StructuredMatrixScaling(),
]
MAPS: list[Map | Structured] = [
    VectorScaling(),
    VectorScaling(bias=False),
    VectorScaling(space="log_probabilities"),
    MatrixScaling(),
    MatrixScaling(bias=False),
    MatrixScaling(odir=(0.5, 0.2)),
    DirichletScaling(),
    DirichletScaling(odir=(0.5, 0.2)),
    *PENALISED,
]
named = pytest.mark.parametrize("method", MAPS, ids=repr)
MATRIX = next(one for one in CATALOGUE if one.key == "matrix")


def model(rng: np.random.Generator, n_rows: int = 300, n_classes: int = 4) -> LogitCase:
    """Logits that are too confident, biased, and mix the classes up: every map has work to do."""
    truth = rng.normal(scale=1.2, size=(n_rows, n_classes))
    labels = (truth + rng.gumbel(size=truth.shape)).argmax(axis=1)
    mixing = 2 * np.eye(n_classes) + 0.3 * rng.normal(size=(n_classes, n_classes))
    return LogitCase(truth @ mixing + rng.normal(size=n_classes), labels.astype(np.int64))


def nll(probabilities: Floats, labels: NDArray[np.int64]) -> float:
    return float(-np.log(probabilities[np.arange(len(labels)), labels]).mean())


def as_matrix(fitted: FittedLinear) -> Floats:
    return np.diag(fitted.weights) if fitted.weights.ndim == 1 else fitted.weights


def slow_loss(method: VectorMap, case: LogitCase, weights: Floats, bias: Floats) -> float:
    """The penalised loss of a method, written out."""
    table, labels = case.logits.tolist(), case.labels.tolist()
    n_rows, n_classes = case.logits.shape
    matrix, shift = weights.tolist(), bias.tolist()
    if isinstance(method, Structured):
        temperature = TemperatureScaling().fit(*case).temperature
        inputs = reference.mixed(table, temperature, 1 / (n_rows + 1))
        each = n_classes / n_rows
        extra = reference.structured(matrix, shift, (each, each, each * (n_classes - 1)))
        return reference.mean_nll(inputs, labels, matrix, shift) + extra
    on_logits = isinstance(method, MatrixScaling) or getattr(method, "space", "") == "logits"
    inputs = reference.centred(table) if on_logits else loops.log_softmax(table)
    loss = reference.mean_nll(inputs, labels, matrix, shift)
    if isinstance(method, DirichletScaling):
        loss += reference.ridge(matrix, shift, method.l2)
    if isinstance(method, MatrixScaling | DirichletScaling) and isinstance(method.odir, tuple):
        loss += reference.odir(matrix, shift, *method.odir)
    return loss


# The optimum ----------------------------------------------------------------------------------


@named
def test_the_loss_is_the_loops_and_no_other_search_finds_less(
    method: VectorMap, rng: np.random.Generator
) -> None:
    case = model(rng, n_rows=40, n_classes=3)
    fitted = method.fit(*case)
    assert isinstance(fitted, FittedLinear)
    assert fitted.gradient_norm <= 1e-8
    assert fitted.warnings == ()
    assert fitted.loss == pytest.approx(
        slow_loss(method, case, as_matrix(fitted), fitted.bias), rel=1e-12
    )
    full, biased = fitted.weights.ndim == 2, getattr(method, "bias", True)

    def unpacked(values: Floats) -> tuple[Floats, Floats]:
        size = 9 if full else 3
        weights = values[:size].reshape(3, 3) if full else np.diag(values[:size])
        return weights, values[size:] if biased else np.zeros(3)

    def loss(values: Floats) -> float:
        return slow_loss(method, case, *unpacked(values))

    size = (9 if full else 3) + (3 if biased else 0)
    search = scipy.optimize.minimize(loss, np.full(size, 0.1), method="BFGS")
    assert fitted.loss <= search.fun * (1 + 1e-9)
    assert fitted.loss == pytest.approx(search.fun, rel=1e-6)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_gradient_and_hessian_are_the_finite_differences(full: bool, seed: int) -> None:  # noqa: FBT001 - pytest
    rng = np.random.default_rng(seed)
    logits, labels = model(rng, n_rows=30, n_classes=3)
    shape = (3, 4) if full else (3, 2)
    penalty = Penalty(rng.random(shape), rng.normal(size=shape))
    blocks = [Block(logits[:20].T, labels[:20]), Block(logits[20:].T, labels[20:])]
    problem = LinearModel(blocks, penalty, np.ones(shape, dtype=np.bool_))
    at, direction = rng.normal(size=shape), rng.normal(size=shape)
    step = 1e-6
    up, down = problem.evaluate(at + step * direction), problem.evaluate(at - step * direction)
    here = problem.evaluate(at)
    difference = (up.loss - down.loss) / (2 * step)
    assert float((here.slope * direction).sum()) == pytest.approx(difference, rel=1e-6)
    turned = (up.slope - down.slope) / (2 * step)
    assert_allclose(problem.product(direction), turned, rtol=1e-6, atol=1e-8)
    # With few classes the stand-in for the inverse Hessian is the inverse itself.
    back = approximate_inverse(problem)(problem.product(direction))
    assert_allclose(back, direction, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("method", [MatrixScaling(odir=(1e3, 10.0)), StructuredMatrixScaling()])
def test_many_classes_reach_their_optimum_too(method: VectorMap, rng: np.random.Generator) -> None:
    logits, labels = model(rng, n_rows=900, n_classes=30)
    fitted = method.fit(logits, labels)
    assert isinstance(fitted, FittedLinear)
    assert fitted.gradient_norm <= 1e-8
    assert fitted.warnings == ()


@pytest.mark.parametrize("space", ["logits", "log_probabilities"])
def test_an_inverse_that_follows_the_classes_stays_close(
    space: Literal["logits", "log_probabilities"], rng: np.random.Generator
) -> None:
    logits, labels = model(rng, n_rows=2_500, n_classes=40)
    fitted = VectorScaling(space=space).fit(logits, labels)
    assert fitted.gradient_norm <= 1e-10
    assert fitted.warnings == ()
    penalty = Penalty(np.full((40, 2), 1e-3), np.zeros((40, 2)))
    blocks = [Block(Inputs(space).columns(logits)[0], labels)]
    problem = LinearModel(blocks, penalty, np.ones((40, 2), dtype=np.bool_))
    optimum = np.column_stack([fitted.weights, fitted.bias])
    problem.evaluate(2 * optimum)
    inverse = Inverse(problem)
    before = inverse.now()
    problem.evaluate(optimum)
    direction = rng.normal(size=(40, 2))
    turned = problem.product(direction)
    off = [np.linalg.norm(pull(turned) - direction) for pull in (before, inverse.now())]
    assert off[1] < 0.8 * off[0]


def test_an_inverse_begins_class_by_class_and_is_whole_once_products_have_paid_for_it(
    rng: np.random.Generator,
) -> None:
    logits, labels = model(rng, n_rows=400, n_classes=40)
    penalty = Penalty(np.full((40, 2), 1e-3), np.zeros((40, 2)))
    problem = LinearModel([Block(logits.T, labels)], penalty, np.ones((40, 2), dtype=np.bool_))
    problem.use_double()
    problem.evaluate(np.full((40, 2), 0.2))
    inverse = Inverse(problem)
    pull = inverse.now()
    for number in (0, 17):
        own = np.zeros((2, 40, 2))
        own[[0, 1], number, [0, 1]] = 1
        part = np.array([problem.product(one)[number] for one in own])
        result = np.array([pull(one)[number] for one in own])
        assert_allclose(result @ part, np.eye(2), atol=1e-3)
        assert not np.delete(pull(own[0]), number, axis=0)[:, 0].any()
    assert inverse.now(keep=True) is pull
    problem.n_products += 100
    direction = rng.normal(size=(40, 2))
    assert_allclose(inverse.now()(problem.product(direction)), direction, rtol=1e-3, atol=1e-3)


def test_a_step_that_takes_too_many_products_ends_before_it_is_solved(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    # Rounding can hide for ever that a step is solved well enough.
    product, evaluate = LinearModel.product, LinearModel.evaluate
    counts = {"products": 0, "evaluations": 0}

    def noisy(self: LinearModel, direction: Floats) -> Floats:
        counts["products"] += 1
        result = product(self, direction)
        noise = np.abs(result).max() * rng.normal(size=result.shape)
        return result + (0.1 * noise if counts["evaluations"] == 6 else 0)

    def counted(self: LinearModel, parameters: Floats, *, rough: bool = False) -> Evaluation:
        counts["evaluations"] += 1
        return evaluate(self, parameters, rough=rough)

    monkeypatch.setattr(LinearModel, "product", noisy)
    monkeypatch.setattr(LinearModel, "evaluate", counted)
    fitted = VectorScaling(space="log_probabilities").fit(*model(rng, n_rows=900, n_classes=40))
    assert fitted.gradient_norm <= 1e-8
    assert counts["products"] < 200


def test_a_fit_leaves_the_settings_of_numpy_alone(rng: np.random.Generator) -> None:
    before = np.getbufsize(), np.geterr()
    logits, labels = model(rng)
    VectorScaling().fit(logits, labels).predict_proba(logits)
    assert (np.getbufsize(), np.geterr()) == before


def test_two_classes_are_logistic_regression(rng: np.random.Generator) -> None:
    logits, labels = model(rng, n_classes=2)
    apart = logits[:, 1] - logits[:, 0]

    def loss(line: Floats) -> float:
        signed = np.where(labels == 1, 1.0, -1.0) * (line[0] * apart + line[1])
        return float(np.logaddexp(0.0, -signed).mean())

    slope, shift = scipy.optimize.minimize(loss, [0.5, 0.0], method="BFGS", tol=1e-9).x
    wanted = 1 / (1 + np.exp(-(slope * apart + shift)))
    for method in (VectorScaling(), MatrixScaling()):
        assert_allclose(method.fit(logits, labels).predict_proba(logits)[:, 1], wanted, atol=1e-6)


@pytest.mark.parametrize("method", [MatrixScaling, DirichletScaling])
def test_odir_has_its_limits(
    method: Callable[..., MatrixScaling | DirichletScaling], rng: np.random.Generator
) -> None:
    logits, labels = model(rng)
    space = method().fit(logits, labels).space
    diagonal = VectorScaling(space=space)
    stiff = method(odir=(1e12, 0.0)).fit(logits, labels)
    wanted = diagonal.fit(logits, labels).predict_proba(logits)
    assert_allclose(stiff.predict_proba(logits), wanted, atol=1e-7)
    unbiased = method(odir=(1.0, 1e12)).fit(logits, labels)
    assert np.abs(unbiased.bias).max() < 1e-9
    loose, free = method(odir=(0.0, 0.0)).fit(logits, labels), method().fit(logits, labels)
    assert_allclose(loose.predict_proba(logits), free.predict_proba(logits), atol=1e-9)


OTHER_WAYS: dict[str, dict[str, Any]] = {
    "single precision": {"model._FEW_CELLS": 0},
    "single precision in parts": {"model._FEW_CELLS": 0, "model.CACHE_CELLS": 0},
    "block by block": {"fit.CACHE_CELLS": 0, "fit.strip_rows": lambda _: 1},
}


@named
@pytest.mark.parametrize("way", OTHER_WAYS)
def test_single_precision_and_blocks_on_the_way_end_where_a_fit_of_all_does(
    method: VectorMap, way: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    logits, labels = model(rng, n_rows=700)
    wanted = method.fit(logits, labels)
    assert isinstance(wanted, FittedLinear)
    for name, value in OTHER_WAYS[way].items():
        monkeypatch.setattr(f"calibcore.calibrators.linear.{name}", value)
    result = method.fit(logits, labels)
    assert isinstance(result, FittedLinear)
    assert result.gradient_norm <= 1e-8
    assert result.warnings == wanted.warnings
    assert result.loss == pytest.approx(wanted.loss, rel=1e-12)
    assert_allclose(result.predict_proba(logits), wanted.predict_proba(logits), atol=1e-8)


@pytest.mark.parametrize("most", [0, 650, 10_000])
@pytest.mark.parametrize("scale", [0.4, 60.0])  # exponentials of 60 times a logit underflow
def test_blocks_that_are_joined_count_as_they_do_apart(
    most: int, scale: float, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    logits, labels = model(rng, n_rows=700)
    ruled_out = rng.random((4, 300)) < 0.1
    ruled_out[labels[300:600], np.arange(300)] = False
    cuts, marks = [0, 300, 600, 700], (None, ruled_out, None)
    blocks = [
        Block(np.ascontiguousarray(logits[start:end].T), labels[start:end], mark)
        for start, end, mark in zip(cuts, cuts[1:], marks, strict=False)
    ]
    nothing = np.zeros((4, 2))
    monkeypatch.setattr("calibcore.calibrators.linear.model._FEW_CELLS", 0)
    monkeypatch.setattr("calibcore.calibrators.linear.model._TOGETHER", 4 * most)
    model_of = LinearModel(blocks, Penalty(nothing, nothing), np.ones((4, 2), dtype=np.bool_))
    parameters = np.column_stack([scale * rng.uniform(0.5, 1, 4), rng.normal(size=4)])
    direction = rng.normal(size=(4, 2))
    results: list[tuple[Floats | float, ...]] = []
    for rough in (True, False, True):
        here = model_of.evaluate(parameters, rough=rough)
        assert here.rough == (rough and model_of.kind == np.float32)
        sums = model_of.product(direction), model_of.own_sums(), model_of.missed()
        results.append((here.loss, here.slope, *sums))
        if not rough:
            model_of.use_double()
    exact = results.pop()
    for one in results:
        for part, wanted in zip(one, exact, strict=True):
            assert_allclose(part, wanted, rtol=2e-4, atol=2e-4 * np.abs(wanted).max())


def test_a_long_search_may_end_where_its_loss_is_surely_near_the_least(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    logits, labels = model(rng)
    method = DirichletScaling(l2=0.01)
    least = method.fit(logits, labels).loss
    monkeypatch.setattr("calibcore.calibrators.linear.model.LONG", 0)
    monkeypatch.setattr("calibcore.calibrators.linear.fit.SURE", 1e-4)
    fitted = method.fit(logits, labels)
    assert fitted.gradient_norm > 1e-8
    assert 0 <= fitted.loss - least <= 1e-4
    assert fitted.warnings == ()


def test_a_long_search_that_nothing_bounds_ends_where_step_after_step_gains_little(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    logits, labels = model(rng, n_rows=20, n_classes=6)
    method = MatrixScaling(odir=(1e-3, 1e-3))
    least = method.fit(logits, labels).loss
    monkeypatch.setattr("calibcore.calibrators.linear.model.LONG", 0)
    monkeypatch.setattr("calibcore.calibrators.linear.newton.NEAR", 0)
    assert method.fit(logits, labels).gradient_norm <= 1e-8
    monkeypatch.setattr("calibcore.calibrators.linear.newton.SLOW", 1e-2)
    fitted = method.fit(logits, labels)
    assert fitted.gradient_norm > 1e-8
    assert 0 < fitted.loss - least <= 2e-2
    assert any("stopped short" in text for text in fitted.warnings)
    quick = MatrixScaling(odir=(0.5, 0.5)).fit(*model(rng))  # each gain far below the one before
    assert quick.gradient_norm <= 1e-8


def test_a_long_search_without_mistakes_left_ends_near_no_loss_and_says_how_near() -> None:
    logits, labels = 9 * np.eye(4).repeat(20, axis=0), np.arange(4).repeat(20)
    rng = np.random.default_rng(5)
    logits += rng.normal(size=logits.shape)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("calibcore.calibrators.linear.model.LONG", 0)
        patch.setattr("calibcore.calibrators.linear.newton.SLOW", 0)
        fitted = MatrixScaling(odir=(1e-4, 1e-4)).fit(logits, labels)
    assert 1e-8 < fitted.loss <= 1e-4
    (text,) = fitted.warnings
    assert f"at most {fitted.loss:.1e} nats above the least" in text


@pytest.mark.parametrize("magnitude", [1e5, 1e30])
def test_double_precision_takes_over_where_single_leads_nowhere(
    magnitude: float, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    # Inputs of up to 1e6, hardly penalised: curvatures 13 decades apart.
    logits, labels = model(rng)
    logits *= magnitude
    monkeypatch.setattr("calibcore.calibrators.linear.model._FEW_CELLS", 0)
    fitted = DirichletScaling(l2=0.01).fit(logits, labels)
    assert fitted.gradient_norm <= 1e-8


# What cannot matter ---------------------------------------------------------------------------


@pytest.mark.parametrize("method", PENALISED, ids=repr)
def test_what_is_penalised_throughout_always_reaches_its_optimum(method: VectorMap) -> None:
    for logits, labels in seeded_logit_sets(12, 60):
        fitted = method.fit(logits, labels)
        assert isinstance(fitted, FittedLinear)
        assert fitted.gradient_norm <= 1e-8


@named
def test_float32_is_fitted_as_the_numbers_it_holds(
    method: VectorMap, rng: np.random.Generator
) -> None:
    logits, labels = model(rng)
    narrow = logits.astype(np.float32)
    wide = narrow.astype(np.float64)
    result = method.fit(narrow, labels).predict_proba(narrow)
    assert_allclose(result, method.fit(wide, labels).predict_proba(wide), atol=1e-9)


# What the fit says ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "unchanged", "ruled_out"),
    [
        (VectorScaling(), "stay those of temperature", True),
        (VectorScaling(bias=False), "stay those of temperature", False),
        (VectorScaling(space="log_probabilities"), "stay those of temperature", True),
        (MatrixScaling(), "stay those of temperature", True),
        (MatrixScaling(odir=(1e-3, 1e-3)), "stay those of temperature", False),
        (DirichletScaling(), "stay those of temperature", True),
        (DirichletScaling(odir=(0.1, 0.1)), "stay those of temperature", False),
        (DirichletScaling(l2=1e-3), "are held by the penalty", False),
        (StructuredMatrixScaling(), "are held by the penalty", False),
    ],
    ids=repr,
)
def test_what_the_others_leave_an_absent_class_is_said(
    method: VectorMap,
    unchanged: str,
    ruled_out: bool,  # noqa: FBT001 - pytest
    rng: np.random.Generator,
) -> None:
    logits, labels = model(rng, n_rows=80)
    labels = np.where(labels == 3, 2, labels)
    fitted = method.fit(logits, labels)
    assert isinstance(fitted, FittedLinear)
    assert fitted.gradient_norm <= 1e-8 or (ruled_out and fitted.space == "log_probabilities")
    if "temperature" in unchanged:
        temperature = TemperatureScaling().fit(logits, labels).temperature
        assert_allclose(as_matrix(fitted)[3], np.eye(4)[3] / temperature, rtol=1e-12)
        assert fitted.bias[3] == 0
    most = fitted.predict_proba(logits)[:, 3].max()
    assert (most < 1e-6) == ruled_out
    (sentence,) = [text for text in fitted.warnings if "class 3 has no rows" in text]
    assert f"its weights {unchanged}" in sentence
    assert f"a probability of at most {most:.2g} there" in sentence
    assert ("ruled out in fact" in sentence) == ruled_out


def test_absent_classes_are_named(rng: np.random.Generator) -> None:
    logits, labels = model(rng)
    labels = np.where(labels >= 2, 0, labels)
    for method in PENALISED:
        assert any("classes 2, 3 " in text for text in method.fit(logits, labels).warnings)


@pytest.mark.parametrize("method", [VectorScaling(), MatrixScaling(), DirichletScaling()])
def test_rows_that_can_all_be_right_are_reported(method: VectorMap) -> None:
    fitted = method.fit([[1.0, 0.0, 0.2], [0.3, 1.0, 0.0], [0.0, 0.1, 1.0]], [0, 1, 2])
    (sentence,) = [text for text in fitted.warnings if "larger they are" in text]
    assert "Other weights fit the calibration rows as well" in sentence
    assert ("add a penalty" in sentence) == (not isinstance(method, VectorScaling))


@pytest.mark.parametrize("method", [VectorScaling(), MatrixScaling(), DirichletScaling()])
def test_one_class_only_changes_nothing(method: VectorMap, rng: np.random.Generator) -> None:
    logits = rng.normal(size=(20, 3))
    fitted = method.fit(logits, np.ones(20, dtype=int))
    temperature = TemperatureScaling().fit(logits, np.ones(20, dtype=int))
    assert_allclose(fitted.predict_proba(logits), temperature.predict_proba(logits), atol=1e-12)
    assert len(fitted.warnings) == 1


def test_a_matrix_for_few_rows_is_reported(rng: np.random.Generator) -> None:
    logits = rng.normal(size=(30, 6))
    fitted = MatrixScaling().fit(logits, rng.integers(0, 6, 30))
    assert any(sentence.startswith("35 parameters") for sentence in fitted.warnings)


def test_a_search_that_is_cut_short_says_so(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    monkeypatch.setattr("calibcore.calibrators.linear.newton._NEWTON_STEPS", 1)
    fitted = VectorScaling().fit(*model(rng))
    assert fitted.gradient_norm > 1e-8
    (sentence,) = [text for text in fitted.warnings if "stopped short" in text]
    assert "Other weights fit the calibration rows as well" in sentence
    held = DirichletScaling(l2=0.01).fit(*model(rng))
    (sentence,) = [text for text in held.warnings if "stopped short" in text]
    assert "Other weights" not in sentence


@pytest.mark.parametrize(
    "method",
    [MatrixScaling(), DirichletScaling(), VectorScaling(), VectorScaling(bias=False)],
    ids=repr,
)
def test_classes_told_apart_for_certain_make_the_weights_arbitrary(
    method: Map, rng: np.random.Generator
) -> None:
    # Only classes 0 and 1 are mixed up: the others' weights have no part in the loss.
    labels = np.arange(5).repeat(40)
    logits = 40 * np.eye(5)[labels] + rng.normal(size=(200, 5))
    logits[:80, :2] = rng.normal(size=(80, 2)) + 40
    labels[:80] = (logits[:80, :2] + rng.gumbel(size=(80, 2))).argmax(axis=1)
    fitted = method.fit(logits, labels)
    (text,) = fitted.warnings
    assert text.startswith("The fit tells classes 2, 3, 4 from the others with near certainty")
    assert "Other weights fit the calibration rows as well" in text
    instead = "structured vector scaling" if isinstance(method, VectorScaling) else "add a penalty"
    assert instead in text
    moved = replace(fitted, bias=fitted.bias + np.array([0, 0, 1, 0, -1]))
    apart = nll(moved.predict_proba(logits), labels) - nll(fitted.predict_proba(logits), labels)
    assert abs(apart) < 4e-7
    assert DirichletScaling(l2=1e-3).fit(logits, labels).warnings == ()
    (text,) = MatrixScaling(odir=(0.5, 0.5)).fit(logits, labels).warnings
    assert "the penalty leaves some weights free" in text


def test_weights_that_grow_for_ever_are_reported(rng: np.random.Generator) -> None:
    # Class 2 is told apart without error, the other two are not: only its weights run away.
    logits = rng.normal(size=(90, 3))
    logits[:60, 2] -= 9
    logits[60:, 2] += 9
    labels = np.concatenate([rng.integers(0, 2, 60), np.full(30, 2)])
    fitted = VectorScaling().fit(logits, labels)
    (sentence,) = [text for text in fitted.warnings if "still grow" in text]
    assert "Other weights fit the calibration rows as well" in sentence


@pytest.mark.parametrize("method", [VectorScaling(), MatrixScaling(odir=(1.0, 1.0))])
def test_an_impossible_truth_is_left_out(method: VectorMap, rng: np.random.Generator) -> None:
    logits, labels = model(rng)
    impossible = np.array([[0.0, -math.inf, 1.0, 2.0]] * 3)
    fitted = method.fit(np.vstack([logits, impossible]), [*labels.tolist(), 1, 1, 1])
    assert fitted.warnings[0].startswith("3 calibration rows were left out")
    wanted = method.fit(logits, labels).predict_proba(logits)
    assert_allclose(fitted.predict_proba(logits), wanted, atol=1e-9)
    result = fitted.predict_proba(impossible)
    assert result[:, 1].tolist() == [0.0] * 3
    assert_allclose(result.sum(axis=1), 1)
    assert method.fit(impossible, [1, 1, 1]).warnings


@named
def test_ruled_out_classes_give_numbers(method: VectorMap, rng: np.random.Generator) -> None:
    logits, labels = model(rng)
    gone = rng.random(logits.shape) < 0.2
    gone[np.arange(len(labels)), labels] = False
    logits[gone] = -math.inf
    fitted = method.fit(logits, labels)
    result = fitted.predict_proba(logits)
    assert np.all(np.isfinite(result))
    assert_allclose(result.sum(axis=1), 1, atol=1e-12)
    assert isinstance(method, Structured) or np.all(result[gone] == 0)


@pytest.mark.parametrize("method", [StructuredVectorScaling(), StructuredMatrixScaling()])
def test_structured_scaling_says_that_the_temperature_alone_lacks_some_rows(
    method: Structured, rng: np.random.Generator
) -> None:
    logits, labels = model(rng, n_rows=60)
    impossible = np.array([[0.0, -math.inf, 1.0, 2.0]] * 3)
    all_rows = np.vstack([logits, impossible]), np.append(labels, [1, 1, 1])
    fitted = method.fit(*all_rows)
    (text,) = fitted.warnings
    assert text.startswith("3 calibration rows")
    assert "temperature is fitted without them, weights and biases with them" in text
    assert fitted.temperature == TemperatureScaling().fit(logits, labels).temperature
    mean = nll(fitted.predict_proba(all_rows[0]), all_rows[1])
    penalty = 0.0
    for strength, off in zip(fitted.penalty, corrections(fitted), strict=True):
        penalty += strength * float((off**2).sum())
    assert fitted.loss == pytest.approx(mean + penalty, rel=1e-9)
    (text,) = method.fit(impossible, [1, 1, 1]).warnings[:1]
    assert text.endswith("so T stays 1.")


def corrections(fitted: FittedLinear) -> list[Floats]:
    """Give what structured scaling penalises: biases, factors, and what is off the diagonal."""
    if fitted.weights.ndim == 1:
        return [fitted.bias, fitted.weights - 1]
    own = np.eye(len(fitted.bias), dtype=np.bool_)
    return [fitted.bias, fitted.weights[own] - 1, fitted.weights[~own]]


def test_a_ruled_out_class_counts_as_the_lowest_of_its_row() -> None:
    columns, marks = Inputs("log_probabilities").columns(np.array([[0.0, -math.inf], [0.0, 0.0]]))
    assert_allclose(columns.T, [[0.0, -87.3], [-math.log(2), -math.log(2)]])
    assert marks is not None
    assert marks.T.tolist() == [[False, True], [False, False]]


# Cross-validation -----------------------------------------------------------------------------


@pytest.mark.parametrize("method", [MatrixScaling(odir="cv"), DirichletScaling(odir="cv")])
def test_cross_validation_chooses_from_the_grid(
    method: SlowVectorMap, rng: np.random.Generator
) -> None:
    logits, labels = model(rng, n_rows=150, n_classes=3)
    shares: list[float] = []
    fitted = method.fit(logits, labels, progress=shares.append)
    assert isinstance(fitted, FittedLinear)
    assert set(fitted.penalty) <= set(strengths_tried(3))
    assert all(0 <= share <= 1 for share in shares)
    assert shares == sorted(shares)
    assert len(shares) > 20
    chosen = type(method)(odir=fitted.penalty)  # type: ignore[call-arg]
    assert_allclose(
        chosen.fit(logits, labels).predict_proba(logits), fitted.predict_proba(logits), atol=1e-9
    )
    order = rng.permutation(len(labels))
    assert_allclose(
        method.fit(logits[order], labels[order]).predict_proba(logits),
        fitted.predict_proba(logits),
        atol=1e-9,
    )


def test_cross_validation_prefers_what_does_best_on_held_out_rows(
    rng: np.random.Generator,
) -> None:
    # Nothing but a temperature is wrong, so mixing classes can only fit accidents.
    logits = rng.normal(size=(200, 5))
    labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    fitted = MatrixScaling(odir="cv").fit(3 * logits, labels)
    assert fitted.penalty[0] >= 1
    assert MatrixScaling(odir="cv").fit(logits[:2], [0, 1]).penalty != ()


@pytest.mark.parametrize("method", [MatrixScaling(odir="cv"), DirichletScaling(odir="cv")])
def test_a_search_near_an_earlier_fit_finds_as_good_strengths_in_fewer_fits(
    method: MatrixScaling | DirichletScaling, monkeypatch: pytest.MonkeyPatch
) -> None:
    results: list[PenaltyChoice] = []

    def noted(*args: object, **options: object) -> PenaltyChoice:
        results.append(choose_odir(*args, **options))  # type: ignore[arg-type]
        return results[-1]

    monkeypatch.setattr("calibcore.calibrators.linear.odir.choose_odir", noted)
    logits, labels = model(np.random.default_rng(3), n_rows=1500, n_classes=6)
    whole, part = method.fit(logits, labels), (logits[300:], labels[300:])
    told: dict[str, list[float]] = {"far": [], "near": []}
    far = method.fit(*part, progress=told["far"].append)
    near = method.fit(*part, progress=told["near"].append, near=whole)
    assert results[2].nll <= results[1].nll * 1.001
    assert len(told["near"]) < 0.75 * len(told["far"])
    if near.penalty == far.penalty:
        assert_allclose(near.predict_proba(logits), far.predict_proba(logits), atol=1e-9)
    # What is no fit of this kind, or has strengths of its own, leads nowhere else.
    for other in (VectorScaling().fit(logits, labels), replace(whole, penalty=(0.3, 0.7))):
        assert method.fit(*part, near=other).penalty == far.penalty


def test_folds_are_fitted_near_the_fit_to_all_rows(rng: np.random.Generator) -> None:
    rows, method = LogitSet(*model(rng, n_rows=300, n_classes=3)), MatrixScaling(odir="cv")
    split = cross_split(rows)
    assert split.fold is not None
    whole, folded = fit_split(method, prepare(rows, TopR(1)), split.fold)
    seen = split.fold != 2
    assert isinstance(whole, FittedLinear)
    assert isinstance(folded, FoldedVectorMap)
    alone = method.fit(rows.logits[seen], rows.labels[seen], near=whole)
    assert alone.to_json() == folded.maps[2].to_json()


@pytest.mark.parametrize("method", [MatrixScaling(odir="cv"), DirichletScaling(odir="cv")])
def test_a_choice_worse_than_temperature_scaling_on_rows_held_out_says_both_figures(
    method: MatrixScaling | DirichletScaling,
) -> None:
    # Nothing but a temperature is wrong, and the rows are too few for a factor a class.
    rng = np.random.default_rng(8)
    logits = rng.normal(size=(40, 5))
    labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    fitted = method.fit(3 * logits, labels)
    (sentence,) = [text for text in fitted.warnings if "held out" in text]
    dirichlet = isinstance(method, DirichletScaling)
    columns, _ = Inputs("log_probabilities" if dirichlet else "logits").columns(3 * logits)
    parts = _parts([Block(columns, labels)], 0)
    lost = np.zeros(2)
    for (held,) in parts:
        rest = [part[0] for part in parts if part[0] is not held]
        table = np.hstack([block.inputs for block in rest]).T
        truth = np.concatenate([block.labels for block in rest])
        for place, one in enumerate([replace(method, odir=fitted.penalty), TemperatureScaling()]):  # type: ignore[arg-type]
            result = one.fit(table, truth).predict_proba(held.inputs.T)
            lost[place] += len(held.labels) * nll(result, held.labels) / 40
    assert lost[0] > 1.01 * lost[1]
    assert f"temperature scaling of {lost[1]:.4g}" in sentence
    stated = float(sentence.split("mean NLL of ")[1].split(",")[0])
    assert stated == pytest.approx(lost[0], rel=1e-3)
    plenty = rng.normal(size=(900, 3))
    mixed = (plenty + rng.gumbel(size=plenty.shape)).argmax(axis=1)
    good = method.fit(plenty @ np.array([[2.0, 1, 0], [0, 2, 1], [0, 0, 2]]), mixed)
    assert not any("held out" in text for text in good.warnings)


def test_a_strength_at_an_end_of_the_grid_is_said(rng: np.random.Generator) -> None:
    most, *_, least = strengths_tried(4)
    assert warnings_of_choice(PenaltyChoice((1.0, 0.1), 0.5, 0.5), 4) == ()
    largest, smallest = warnings_of_choice(PenaltyChoice((most, least), 0.5, 0.6), 4)
    assert "largest lambda tried, 1e+06" in largest
    assert "smallest mu tried, 1e-05" in smallest
    # A single temperature is wrong, so the weights off the diagonal are best left out.
    logits = rng.normal(size=(200, 3))
    labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    fitted = MatrixScaling(odir="cv").fit(3 * logits, labels)
    ended = fitted.penalty[0] == most
    assert any("largest lambda" in text for text in fitted.warnings) == ended
    off = fitted.weights[~np.eye(3, dtype=np.bool_)]
    assert not ended or np.abs(off).max() < 1e-4 * np.diagonal(fitted.weights).max()


@pytest.mark.parametrize(("limit", "most"), [("MOST_CELLS", 1_000), ("MOST_CLASSES", 3)])
def test_strengths_of_too_many_logits_are_those_of_structured_matrix_scaling(
    limit: str, most: int, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    monkeypatch.setattr("calibcore.calibrators.method." + limit, most)
    logits, labels = model(rng)
    fitted = MatrixScaling(odir="cv").fit(logits, labels)
    assert fitted.penalty == ((4 * 3) ** 2 / 300, 4**2 / 300)
    direct = MatrixScaling(odir=((4 * 3) ** 2 / 300, 4**2 / 300)).fit(logits, labels)
    assert fitted.weights.tolist() == direct.weights.tolist()
    (sentence,) = [text for text in fitted.warnings if "not cross-validated" in text]
    assert {"MOST_CELLS": "1,000 cells", "MOST_CLASSES": "3 classes"}[limit] in sentence


def test_a_search_is_reckoned_with_where_there_is_one() -> None:
    cost = MATRIX.cost_of(penalty="odir")
    searched, by_size = cost.seconds(4_000, 300, 1e-9), cost.seconds(4_000, 301, 1e-9)
    assert searched > 5 * by_size
    assert cost.seconds(14_000, 300, 1e-9) < searched


def test_a_matrix_without_a_penalty_takes_longer_where_rows_are_few() -> None:
    cost = MATRIX.cost_of(penalty="none")
    few, more = cost.seconds(10_000, 1_000, 1e-9), cost.seconds(10_001, 1_000, 1e-9)
    assert few > 1.5 * more


@pytest.mark.parametrize(
    ("times", "shift"), [(1e-30, 0.0), (3.0, 60.0), (3.0, 300.0), (300.0, 0.0)]
)
def test_vectors_of_inputs_of_any_size_are_fitted(times: float, shift: float) -> None:
    for seed in range(3):
        logits, labels = model(np.random.default_rng(seed), 3_000, 40)
        logits = times * logits
        logits[:, 0] += shift
        fitted, one = VectorScaling().fit(logits, labels), TemperatureScaling().fit(logits, labels)
        result, start = (nll(some.predict_proba(logits), labels) for some in (fitted, one))
        assert result < start
        assert fitted.gradient_norm < 1e-8


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "passes"),  # as measured on tables of three kinds
    [
        (500, 50, (1_096, 1_176, 2_530)),
        (2_000, 200, (1_181, 1_373, 1_448)),
        (5_000, 10, (343, 367, 391)),
        (5_000, 100, (584, 1_291, 1_945)),
        (20_000, 100, (605, 1_051, 3_820)),
        (1_000, 300, (2_075, 6_860, 42_791)),
        (4_000, 300, (1_999, 3_874, 3_961)),
        (14_000, 300, (1_466, 16_588, 20_708)),
        (4_000, 1_000, (5_065, 61_764, 108_871)),
    ],
)
def test_the_time_of_a_matrix_without_a_penalty_is_within_its_spread(
    n_rows: int, n_classes: int, passes: tuple[float, ...]
) -> None:
    cost = MATRIX.cost_of(penalty="none")
    guess = cost.seconds(n_rows, n_classes, 1.0) / (n_rows * n_classes)
    assert guess / cost.spread < min(passes)
    assert max(passes) < guess * cost.spread


def test_memory_counts_the_matrices_and_the_folds() -> None:
    none, odir = MATRIX.cost_of(penalty="none"), MATRIX.cost_of(penalty="odir")
    assert none.bytes(4_000, 1_000) == 3 * 16e6 + 18 * 8e6  # measured: 165 million
    assert odir.bytes(4_000, 1_000) == none.bytes(4_000, 1_000)
    assert odir.bytes(4_000, 300) - none.bytes(4_000, 300) == 6 * 4 * 4_000 * 300
    vector = next(one for one in CATALOGUE if one.key == "vector")
    assert vector.cost_of().bytes(4_000, 1_000) == 3 * 16e6


@pytest.mark.long
@pytest.mark.parametrize("method", [MatrixScaling(odir=(1e6, 1e4)), StructuredMatrixScaling()])
def test_a_full_matrix_is_fitted_in_few_tables_like_it(
    method: VectorMap, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    logits, labels = model(rng, n_rows=1_600, n_classes=400)
    monkeypatch.setattr("calibcore.calibrators.linear.fit.LONG", 0)
    single = logits.astype(np.float32)
    method.fit(single[:50], labels[:50])
    peak = peak_bytes(lambda: method.fit(single, labels))
    inputs, matrix = single.nbytes, 8 * 400 * 401  # probabilities take as much as the inputs
    assert peak <= 2 * inputs + 17 * matrix


@pytest.mark.parametrize("method", [VectorScaling(), StructuredMatrixScaling()], ids=repr)
def test_a_long_fit_is_told_of_within_its_passes(
    method: SlowVectorMap, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    logits, labels = model(rng, n_rows=3_000)
    monkeypatch.setattr("calibcore.calibrators.linear.fit.strip_rows", lambda _: 1)
    calls: list[list[float]] = []
    for most in (math.inf, 0):
        monkeypatch.setattr("calibcore.calibrators.linear.model.LONG", most)
        calls.append([])
        method.fit(logits, labels, progress=calls[-1].append)
        assert calls[-1] == sorted(calls[-1])
        assert calls[-1][-1] == 1
    n_blocks = -(-3_000 // 256)
    assert len(calls[1]) > n_blocks * len(calls[0]) / 2


# Refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: VectorScaling(bias=1), "bias"),  # type: ignore[arg-type]
        (lambda: VectorScaling(space="probabilities"), "space"),  # type: ignore[arg-type]
        (lambda: MatrixScaling(odir="best"), "odir"),  # type: ignore[arg-type]
        (lambda: MatrixScaling(odir=(1.0,)), "odir"),  # type: ignore[arg-type]
        (lambda: MatrixScaling(odir=(1.0, -1.0)), "odir"),
        (lambda: MatrixScaling(odir=(math.inf, 1.0)), "odir"),
        (lambda: DirichletScaling(l2=math.nan), "l2"),
        (lambda: DirichletScaling(l2=0.1, odir="cv"), "l2"),
        (lambda: StructuredVectorScaling(bias_strength=-1.0), "bias_strength"),
        (lambda: StructuredMatrixScaling(off_diagonal_strength=-1.0), "off_diagonal_strength"),
    ],
)
def test_options_that_make_no_sense_are_refused(make: Callable[[], object], field: str) -> None:
    with pytest.raises(CalibrationInputError, match=field):
        make()


def test_mixing_is_the_loops(rng: np.random.Generator) -> None:
    logits, labels = model(rng, n_rows=20)
    fitted = StructuredVectorScaling().fit(logits, labels)
    table = reference.mixed(logits.tolist(), fitted.temperature, 1 / 21)
    wanted = reference.outputs(table, np.diag(fitted.weights).tolist(), fitted.bias.tolist())
    assert_allclose(fitted.predict_proba(logits), softmax(wanted), atol=1e-12)
    columns, _ = Inputs("log_probabilities").columns(logits)
    assert_allclose(columns.T, log_softmax(logits), atol=1e-12)
