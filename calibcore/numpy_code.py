"""A fitted calibrator as a few lines of Python that need nothing but numpy."""

from collections.abc import Callable
from typing import Any

import numpy as np

from calibcore.calibrator_file import CalibratorFile
from calibcore.calibrators.base import Fitted
from calibcore.calibrators.ensembles.temperature import FittedEnsembleTemperature
from calibcore.calibrators.lifts.pooled import FittedPooledScores
from calibcore.calibrators.linear.fitted import FittedLinear
from calibcore.calibrators.score_maps.bbq import FittedBBQ
from calibcore.calibrators.score_maps.beta import FittedBeta
from calibcore.calibrators.score_maps.histogram import FittedHistogram
from calibcore.calibrators.score_maps.isotonic import FittedIsotonic
from calibcore.calibrators.score_maps.platt import SMALLEST_SCORE, FittedPlatt
from calibcore.calibrators.score_maps.spline import FittedSpline
from calibcore.calibrators.score_maps.venn_abers import FittedVennAbers
from calibcore.calibrators.temperature.scaling import FittedTemperature
from calibcore.errors import CalibrationInputError

Numbers = dict[str, Any]
Recipe = tuple[Numbers, list[str]]
"""Constants, and the lines that turn ``x`` into ``y`` by them."""

_SOFTMAX = ["y = np.exp(y - y.max(axis=1, keepdims=True))", "y /= y.sum(axis=1, keepdims=True)"]
_ODDS = [
    f"x = np.clip(x, {SMALLEST_SCORE!r}, 1 - {SMALLEST_SCORE!r})",
    "low, high = np.log(x), -np.log1p(-x)",
]
_SIGMOID = ["tail = np.exp(-np.abs(y))", "y = np.where(y >= 0, 1.0, tail) / (1 + tail)"]


def numpy_code(kept: CalibratorFile) -> str:
    """Write Python that applies a calibrator with numpy alone.

    Parameters
    ----------
    kept : CalibratorFile
        Of a calibrator of scores, of temperature scaling, alone or as an ensemble, or of a linear
        one: vector, matrix, structured or Dirichlet.

    Returns
    -------
    str
        A module with one function, ``calibrate``, that refuses what the calibrator does not take
        by a ValueError.

    Raises
    ------
    CalibrationInputError
        Another calibrator.

    Notes
    -----
    Equal to `CalibratorFile.apply` to 1e-12. Classes with a probability of 0 are taken by all but
    the linear calibrators, whose code refuses them.
    """
    made = _recipe(kept.fitted)
    if made is None:
        raise CalibrationInputError(
            "calibrator",
            type(kept.fitted).__name__,
            "one of scores, a temperature, or a linear one",
        )
    numbers, lines = made
    of_scores = kept.takes == "scores" or not kept.class_names
    head, name = (_OF_SCORES, "scores") if of_scores else (_of_classes(kept), kept.takes)
    constants = [f"{key.upper()} = {_written(value)}" for key, value in numbers.items()]
    # What a file says stands in constants alone, where it stays text.
    facts = {"made_by": f"Fractile {kept.made_by}", "data_sha256": kept.data, "rows": kept.n_rows}
    text = [
        f'"""{type(kept.fitted).__name__}: calibrates {name} with numpy alone."""',
        "",
        "import numpy as np",
        "",
        *(f"{key.upper()} = {fact!r}" for key, fact in facts.items()),
        *([] if of_scores else [f"CLASSES = {kept.class_names!r}"]),
        *constants,
        "",
        "",
        f"def calibrate({name}{'' if of_scores else ', class_names=CLASSES'}):",
        f"    x = np.asarray({name}, dtype=float)",
        *(f"    {line}" for line in [*head, *lines]),
        "    return y",
        "",
    ]
    return "\n".join(text)


_OF_SCORES = [
    "if x.ndim != 1 or not (x.min() >= 0 and x.max() <= 1):",
    '    raise ValueError("expected scores from 0 to 1, one a row")',
]


def _of_classes(kept: CalibratorFile) -> list[str]:
    """Return the checks of a table, and what makes logits of it."""
    linear = isinstance(kept.fitted, FittedLinear)
    lines = [
        "if tuple(class_names) != CLASSES or x.ndim != 2 or x.shape[1] != len(CLASSES):",
        '    raise ValueError(f"expected a column for each of {CLASSES}, in this order")',
        "shares = x.min() >= 0 and np.allclose(x.sum(axis=1), 1, rtol=0, atol=1e-3)",
    ]
    if kept.takes == "probabilities":
        lines += [
            "if not shares:",
            '    raise ValueError("expected probabilities, rows of which sum to 1")',
            'with np.errstate(divide="ignore"):',
            "    x = np.log(x / x.sum(axis=1, keepdims=True))",
        ]
    else:
        lines += ["if shares:", '    raise ValueError("expected logits, not probabilities")']
    if linear:
        finite = 'raise ValueError("expected finite logits, or probabilities above 0")'
        lines += ["if not np.isfinite(x).all():", f"    {finite}"]
    return lines


def _recipe(fitted: Fitted) -> Recipe | None:
    for kind, recipe in _RECIPES.items():
        if isinstance(fitted, kind):
            return recipe(fitted)
    return None


def _written(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()!r})"
    return repr(float(value))


# Scores ---------------------------------------------------------------------------------------


def _platt(fitted: FittedPlatt) -> Recipe:
    numbers = {"slope": fitted.slope, "intercept": fitted.intercept}
    return numbers, [*_ODDS, "y = SLOPE * (low + high) + INTERCEPT", *_SIGMOID]


def _beta(fitted: FittedBeta) -> Recipe:
    numbers = {"a": fitted.a, "b": fitted.b, "c": fitted.c}
    return numbers, [*_ODDS, "y = A * low + B * high + C", *_SIGMOID]


def _spline(fitted: FittedSpline) -> Recipe:
    numbers = {"scores": fitted.scores, "slope": fitted.slope}
    return numbers, ["y = np.clip(np.interp(x, SCORES, SLOPE), 0.0, 1.0)"]


def _steps(edges: Any, heights: Any, side: str) -> Recipe:
    numbers = {"edges": edges, "heights": heights}
    return numbers, [f'y = HEIGHTS[np.searchsorted(EDGES, x, side="{side}")]']


def _bbq(fitted: FittedBBQ) -> Recipe:
    return _steps(fitted.edges, fitted.heights, "left")


def _histogram(fitted: FittedHistogram) -> Recipe:
    heights = np.where(fitted.counts > 0, fitted.frequency, -1.0)
    numbers, lines = _steps(fitted.edges[1:-1], heights, "left")
    return numbers, [*lines, "y = np.where(y < 0, x, y)  # a bin without rows changes nothing"]


def _isotonic(fitted: FittedIsotonic) -> Recipe:
    if not fitted.interpolate:
        return _steps(fitted.first[1:], fitted.frequency, "right")
    ends = np.stack([fitted.first, fitted.last], axis=1).ravel()
    differ = np.append(True, ends[1:] > ends[:-1])
    numbers = {"scores": ends[differ], "heights": np.repeat(fitted.frequency, 2)[differ]}
    return numbers, ["y = np.clip(np.interp(x, SCORES, HEIGHTS), 0.0, 1.0)"]


def _venn_abers(fitted: FittedVennAbers) -> Recipe:
    numbers = {
        "lower_starts": fitted.lower_starts,
        "lower": fitted.lower,
        "upper_ends": fitted.upper_ends,
        "upper": fitted.upper,
    }
    return numbers, [
        'low = LOWER[np.searchsorted(LOWER_STARTS, x, side="right")]',
        'high = UPPER[np.searchsorted(UPPER_ENDS, x, side="left")]',
        "y = high / (1 - low + high)",
    ]


def _pooled(fitted: FittedPooledScores) -> Recipe | None:
    inner = _recipe(fitted.score_map)
    if inner is None:
        return None
    numbers, lines = inner
    lines = ["given = x", *lines, "y = np.minimum(y + STRICTNESS * given, 1.0)"]
    return numbers | {"strictness": fitted.strictness}, lines


# All classes ----------------------------------------------------------------------------------


def _temperature(fitted: FittedTemperature) -> Recipe:
    return {"temperature": fitted.temperature}, ["y = x / TEMPERATURE", *_SOFTMAX]


def _ensemble(fitted: FittedEnsembleTemperature) -> Recipe:
    numbers = {"temperature": fitted.temperature, "weights": fitted.weights}
    mixed = "y = WEIGHTS[0] * hot + WEIGHTS[1] * y + WEIGHTS[2] / x.shape[1]"
    return numbers, [
        "y = x / TEMPERATURE", *_SOFTMAX, "hot = y", "y = x", *_SOFTMAX, mixed
    ]  # fmt: skip


def _linear(fitted: FittedLinear) -> Recipe:
    numbers: Numbers = {"weights": fitted.weights, "bias": fitted.bias}
    lines = []
    if fitted.temperature != 1:
        numbers["temperature"] = fitted.temperature
        lines.append("x = x / TEMPERATURE")
    if fitted.space == "logits":
        lines.append("x = x - x.mean(axis=1, keepdims=True)")
    else:
        lines += ["y = x", *_SOFTMAX]
        if fitted.uniform_share:
            numbers["share"] = fitted.uniform_share
            lines.append("x = np.log((1 - SHARE) * y + SHARE / x.shape[1])")
        else:
            lines += [
                "x = x - x.max(axis=1, keepdims=True)",
                "x = x - np.log(np.exp(x).sum(axis=1, keepdims=True))",
            ]
    product = "x @ WEIGHTS.T" if fitted.weights.ndim == 2 else "x * WEIGHTS"
    return numbers, [*lines, f"y = {product} + BIAS", *_SOFTMAX]


_RECIPES: dict[type, Callable[[Any], Recipe | None]] = {
    FittedPlatt: _platt,
    FittedBeta: _beta,
    FittedSpline: _spline,
    FittedBBQ: _bbq,
    FittedHistogram: _histogram,
    FittedIsotonic: _isotonic,
    FittedVennAbers: _venn_abers,
    FittedPooledScores: _pooled,
    FittedTemperature: _temperature,
    FittedEnsembleTemperature: _ensemble,
    FittedLinear: _linear,
}
