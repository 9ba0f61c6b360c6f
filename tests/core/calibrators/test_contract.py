"""What every calibrator of the catalogue keeps, with each of its options."""

import json
import math
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

from calibcore.calibrators import CATALOGUE, from_json
from calibcore.calibrators.base import GroupMap, SlowVectorMap, VectorMap
from calibcore.calibrators.linear.fit import FittedLinear
from calibcore.calibrators.method import Choice, Method, Switch
from calibcore.calibrators.schema import json_schema
from calibcore.errors import CalibrationInputError
from tests.strategies import EventCase, LogitCase, event_data, logit_sets

Options = dict[str, Any]


def variants(method: Method) -> list[Options]:
    """As it is, and with each other word or turn of a switch."""
    results: list[Options] = [{}]
    for one in method.options:
        if isinstance(one, Choice):
            results += [{one.name: word} for word in one.allowed if word != one.default]
        if isinstance(one, Switch) and not one.one_class:
            results.append({one.name: not one.default})
    return results


def named(one: Method | Options) -> str:
    return one.key if isinstance(one, Method) else str(one)


CASES = [(method, options) for method in CATALOGUE for options in variants(method)]
OF_CLASSES = [case for case in CASES if isinstance(case[0].make(**case[1]), VectorMap)]
OF_SCORES = [case for case in CASES if case not in OF_CLASSES]
of_classes = pytest.mark.parametrize(("method", "options"), OF_CLASSES, ids=named)
of_scores = pytest.mark.parametrize(("method", "options"), OF_SCORES, ids=named)

SCHEMA = jsonschema.Draft202012Validator(json_schema())


def fit(calibrator: Any, *rows: Any) -> Any:
    further = (np.zeros(len(rows[0]), dtype=int),) if isinstance(calibrator, GroupMap) else ()
    return calibrator.fit(*rows, *further)


def fitted_if_enough(calibrator: Any, *case: Any) -> Any:
    """Fit it, or give nothing where a spline has fewer rows than knots."""
    try:
        return fit(calibrator, *case)
    except CalibrationInputError as error:
        if "one a knot" not in str(error):
            raise
        return None


def check_json(fitted: Any, result: Any, *asked: Any) -> None:
    again = from_json(fitted.to_json())
    assert again == fitted
    assert hash(again) == hash(fitted)
    predict = getattr(again, "predict", None) or again.predict_proba  # type: ignore[attr-defined]
    assert np.array_equal(predict(*asked), result)
    assert all(text.endswith(".") for text in fitted.warnings)


@of_classes
@settings(max_examples=15)
@given(case=logit_sets())
def test_any_logits_give_probabilities_and_come_back_from_json(
    method: Method, options: Options, case: LogitCase
) -> None:
    as_given = case.logits.copy()
    fitted = fitted_if_enough(method.make(**options), *case)
    if fitted is None:
        return
    result = fitted.predict_proba(case.logits)
    assert np.array_equal(case.logits, as_given)
    assert ((result >= 0) & (result <= 1)).all()
    assert_allclose(result.sum(axis=1), 1, rtol=0, atol=1e-12)
    if method.preserves_accuracy:
        first = case.logits.argmax(axis=1)[:, np.newaxis]
        best = np.take_along_axis(result, first, axis=1)[:, 0]
        assert (best >= result.max(axis=1) * (1 - 1e-14)).all()  # equal but for a last digit
    if isinstance(fitted, FittedLinear):
        assert fitted.gradient_norm <= 1e-8 or fitted.warnings
    check_json(fitted, result, case.logits)


@of_classes
@pytest.mark.parametrize("magnitude", [1e30, 1e300])
def test_huge_logits_give_numbers(method: Method, options: Options, magnitude: float) -> None:
    rng = np.random.default_rng(1)
    logits = magnitude * rng.uniform(-1, 1, (40, 3))
    fitted = fit(method.make(**options), logits, rng.integers(0, 3, 40))
    assert np.isfinite(fitted.predict_proba(logits)).all()


@of_scores
@settings(max_examples=30)
@given(case=event_data())
def test_any_scores_give_probabilities_and_come_back_from_json(
    method: Method, options: Options, case: EventCase
) -> None:
    fitted = fitted_if_enough(method.make(**options), *case)
    if fitted is None:
        return
    probes = np.array([*case.scores, 0.0, 5e-324, 0.123, 1 - 2.0**-53, 1.0])
    result = fitted.predict(probes)
    assert ((result >= 0) & (result <= 1)).all()
    check_json(fitted, result, probes)


@pytest.mark.parametrize(("method", "options"), CASES, ids=named)
def test_what_is_written_keeps_the_schema(method: Method, options: Options) -> None:
    rng = np.random.default_rng(3)
    logits = 2 * rng.normal(size=(300, 3))
    labels = (logits + rng.gumbel(size=(300, 3))).argmax(axis=1)
    rows = (logits, labels)
    if (method, options) in OF_SCORES:
        rows = (1 / (1 + np.exp(-logits[:, 0])), labels == 0)
    SCHEMA.validate(json.loads(fit(method.make(**options), *rows).to_json()))


NOT_LOGITS: tuple[tuple[Any, Any, str], ...] = (
    ([[math.nan, 0.0]], [0], "logits"),
    ([[math.inf, 0.0]], [0], "logits"),
    ([[-math.inf, -math.inf]], [0], "logits"),
    ([0.0, 1.0], [0], "logits"),
    ([[1.0, 0.0]], [2], "labels"),
    ([[1.0, 0.0]], [0, 1], "labels"),
)
NOT_SCORES: tuple[tuple[Any, Any, str], ...] = (
    ([], [], "scores"),
    ([0.5, math.nan], [0, 1], "scores: NaN"),
    ([0.5, 1.5], [0, 1], "scores: 1.5 in row 2"),
    ([0.5], [0, 1], "hits"),
    ([0.5, 0.6], [0, 2], "hits"),
)


@of_classes
def test_rows_of_classes_are_checked(method: Method, options: Options) -> None:
    for logits, labels, field in NOT_LOGITS:
        with pytest.raises(CalibrationInputError, match=rf"^{field}: "):
            fit(method.make(**options), logits, labels)
    fitted = fit(method.make(**options), np.eye(2).repeat(6, axis=0), [0, 1] * 6)
    for wrong in ([[math.nan, 0.0]], [1.0, 0.0]):
        with pytest.raises(CalibrationInputError, match=r"^logits: "):
            fitted.predict_proba(wrong)


@of_scores
def test_scores_are_checked(method: Method, options: Options) -> None:
    for scores, hits, field in NOT_SCORES:
        with pytest.raises(CalibrationInputError, match=f"^{field}"):
            fit(method.make(**options), scores, hits)
    fitted = fit(method.make(**options), np.arange(1, 9) / 10, [0, 1] * 4)
    for wrong in ([], [math.nan], [1.1], [[0.5]]):
        with pytest.raises(CalibrationInputError, match=r"^scores: "):
            fitted.predict(wrong)


class StopError(Exception):
    """A click."""


@pytest.mark.parametrize(
    ("method", "options"),
    [case for case in CASES if isinstance(case[0].make(**case[1]), SlowVectorMap)],
    ids=named,
)
def test_progress_rises_to_the_end_and_can_end_the_fit(method: Method, options: Options) -> None:
    rng = np.random.default_rng(9)
    logits = 3 * rng.normal(size=(120, 4))
    labels = (logits / 2 + rng.gumbel(size=logits.shape)).argmax(axis=1)
    calibrator: Any = method.make(**options)
    shares: list[float] = []
    calibrator.fit(logits, labels, progress=shares.append)
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1

    def stop(share: float) -> None:
        raise StopError(share)

    with pytest.raises(StopError):
        calibrator.fit(logits, labels, progress=stop)
