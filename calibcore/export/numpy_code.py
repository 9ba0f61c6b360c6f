"""The lines of NumPy that calibrators are written in."""

from collections.abc import Callable
from typing import Any

import numpy as np

from calibcore.calibrators.base import Fitted
from calibcore.calibrators.by_group import FittedByGroup
from calibcore.calibrators.ensembles.beta import (
    DEEPEST,
    OVERFLOWING,
    STRICTNESS,
    TINY,
    VANISHING,
    FittedBetaEnsemble,
)
from calibcore.calibrators.ensembles.temperature import FittedEnsembleTemperature
from calibcore.calibrators.gaussian_process import (
    BETWEEN_MANY,
    GENERATOR,
    LOWEST_INPUT,
    N_POINTS,
    SETTLED,
    TURNS,
    UNSURE,
    FittedGaussianProcess,
    Kernel,
    basis,
    fewest,
)
from calibcore.calibrators.lifts import (
    FittedChain,
    FittedOneVsRest,
    FittedPerRank,
    FittedPooledClasses,
    FittedPooledScores,
)
from calibcore.calibrators.linear.fitted import FittedLinear
from calibcore.calibrators.score_maps.bbq import FittedBBQ
from calibcore.calibrators.score_maps.beta import FittedBeta
from calibcore.calibrators.score_maps.histogram import FittedHistogram
from calibcore.calibrators.score_maps.isotonic import FittedIsotonic
from calibcore.calibrators.score_maps.platt import SMALLEST_SCORE, FittedPlatt
from calibcore.calibrators.score_maps.spline import FittedSpline
from calibcore.calibrators.score_maps.venn_abers import FittedVennAbers
from calibcore.calibrators.temperature import FittedTemperature
from calibcore.errors import CalibrationInputError
from calibcore.export.calibrator_file import CalibratorFile
from calibcore.grouping import Grouping, number

Numbers = dict[str, Any]
Recipe = tuple[Numbers, list[str]]
"""Constants, and the lines that turn ``x`` into ``y`` by them."""

_SOFTMAX = ["y = np.exp(y - y.max(axis=1, keepdims=True))", "y /= y.sum(axis=1, keepdims=True)"]
_ODDS = [
    f"x = np.clip(x, {SMALLEST_SCORE!r}, 1 - {SMALLEST_SCORE!r})",
    "low, high = np.log(x), -np.log1p(-x)",
]
_SIGMOID = ["tail = np.exp(-np.abs(y))", "y = np.where(y >= 0, 1.0, tail) / (1 + tail)"]


def recipe_of(fitted: Fitted) -> Recipe | None:
    """Return how a calibrator is written; None of one that is not."""
    for kind, recipe in _RECIPES.items():
        if isinstance(fitted, kind):
            return recipe(fitted)
    return None


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
    inner = recipe_of(fitted.score_map)
    if inner is None:
        return None
    numbers, lines = inner
    lines = ["given = x", *lines, "y = np.minimum(y + STRICTNESS * given, 1.0)"]
    return numbers | {"strictness": fitted.strictness}, lines


def _by_group(fitted: FittedByGroup) -> Recipe | None:
    """Return the map of all rows, then what the group at each row's ``place`` adds to it."""
    inner = recipe_of(fitted.score_map)
    if inner is None or not fitted.differs.any():
        return inner
    numbers, lines = inner
    # The last is for groups that were not fitted, whose place is -1.
    added = {"shift": np.append(fitted.shift, 0.0), "slopes": np.append(fitted.slope, 1.0)}
    return numbers | added, [
        *lines,
        "of_all = x = y",
        *_ODDS,
        "y = SHIFT[place] + SLOPES[place] * (low + high)",
        *_SIGMOID,
        "y = np.where((SHIFT[place] == 0) & (SLOPES[place] == 1), of_all, y)",
    ]


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


# Lifts ----------------------------------------------------------------------------------------

_SUM_TO_1 = [
    "total = r.sum(axis=1, keepdims=True)",
    "y = np.where(total > 0, r / np.where(total > 0, total, 1.0), before)",
]


def _each_column(maps: Any) -> Recipe | None:
    """Return the lines that send each column of ``r`` through its own map."""
    made = [recipe_of(one) for one in maps]
    known = [one for one in made if one is not None]
    if len(known) < len(made) or any(one[1] != known[0][1] for one in known):
        return None
    names = ", ".join(name.upper() for name in known[0][0])
    held = [tuple(numbers.values()) for numbers, _ in known]
    lines = [f"for k, ({names},) in enumerate(MAPS):", "    x = r[:, k]"]
    return {"maps": held}, [*lines, *(f"    {line}" for line in known[0][1]), "    r[:, k] = y"]


def _one_vs_rest(fitted: FittedOneVsRest) -> Recipe | None:
    columns = _each_column(fitted.score_maps)
    if columns is None:
        return None
    numbers, lines = columns
    return numbers, ["before, r = y, y.copy()", *lines, *_SUM_TO_1]


def _per_rank(fitted: FittedPerRank) -> Recipe | None:
    columns = _each_column(fitted.score_maps)
    if columns is None:
        return None
    numbers, lines = columns
    return numbers, [
        'order = np.argsort(-y, axis=1, kind="stable")',
        "before = np.take_along_axis(y, order, axis=1)",
        "r = before.copy()",
        *lines,
        *_SUM_TO_1,
        "r = np.empty_like(y)",
        "np.put_along_axis(r, order, y, axis=1)",
        "y = r",
    ]


def _pooled_classes(fitted: FittedPooledClasses) -> Recipe | None:
    inner = recipe_of(fitted.score_map)
    if inner is None:
        return None
    numbers, lines = inner
    return numbers | {"strictness": fitted.strictness}, [
        "before = y",
        "x = y.ravel()",
        *lines,
        "r = y.reshape(before.shape) + STRICTNESS * before",
        *_SUM_TO_1,
    ]


_LIFTS: dict[type, Callable[[Any], Recipe | None]] = {
    FittedOneVsRest: _one_vs_rest,
    FittedPerRank: _per_rank,
    FittedPooledClasses: _pooled_classes,
}
"""Recipes that turn ``y``, probabilities, into ``y``."""


def _lift(fitted: Any) -> Recipe | None:
    found = _LIFTS[type(fitted)](fitted)
    return None if found is None else (found[0], ["y = x", *_SOFTMAX, *found[1]])


def _chain(fitted: FittedChain) -> Recipe | None:
    first = recipe_of(fitted.first)
    lift = _LIFTS.get(type(fitted.second))
    second = None if lift is None else lift(fitted.second)
    if first is None or second is None or first[0].keys() & second[0].keys():
        return None
    return first[0] | second[0], [*first[1], *second[1]]


def _gaussian_process(fitted: FittedGaussianProcess) -> Recipe:
    """Write `FittedGaussianProcess.predict_proba`, a few thousand cells at a time."""
    kernel = Kernel(fitted.amplitude, fitted.lengthscale, fitted.noise)
    numbers = {
        "places": fitted.places, "lengthscale": fitted.lengthscale,
        "mean": fitted.amplitude * fitted.q_mean, "factor": fitted.amplitude * fitted.q_factor.T,
        "whitener": basis(fitted.places, fitted.places, kernel).whitener,
    }  # fmt: skip
    sizes = tuple(max(size, fewest(fitted.places.size)) for size in N_POINTS)
    return numbers, [
        "points, y = [], np.empty_like(x)",
        f"for n in {sizes}:  # even points of a standard Gaussian",
        f"    steps = [pow({GENERATOR}, k, n) for k in range(len(PLACES))]",
        "    at = np.outer(np.arange(n) - (n - 1) / 2, steps) / n % 1",
        "    g = np.vectorize(NormalDist().inv_cdf)(at)",
        "    points.append(g @ np.linalg.inv(np.linalg.cholesky(g.T @ g / n)).T)",
        "step = max(1, 4096 // x.shape[1])",
        "for rows in (slice(k, k + step) for k in range(0, len(x), step)):",
        *(f"    {line}" for line in (*_latent(), *_turned(), *_averaged())),
    ]


def _latent() -> list[str]:
    """Return the latent means ``m`` and directions ``d`` of rows, and where they are settled."""
    return [
        "z = x[rows].T",
        "m = z - z.max(axis=0)",
        f"m = np.maximum(m - np.log(np.exp(m).sum(axis=0)), {LOWEST_INPUT!r})",
        "far = (PLACES[:, None] - m.ravel()) / LENGTHSCALE",
        "white = WHITENER @ np.exp(-0.5 * far**2)",
        "d = (FACTOR @ white).reshape(-1, *m.shape)",
        "m = np.where(np.isneginf(z), z, m) + (MEAN @ white).reshape(m.shape)",
        "top, own = m.argmax(axis=0), np.arange(m.shape[1])",
        "m, d = m - m[top, own], d - d[:, top, own][:, None]",
        'v = np.einsum("mkr,mkr->kr", d, d)',
        "rival = 1 / (1 + np.exp(np.minimum(-m / np.sqrt(1 + np.pi / 8 * v), 700.0)))",
        "p = np.exp(m)",
        "p /= p.sum(axis=0)",
        'c = np.einsum("kr,mkr->mr", p, d)',
        'half = 0.5 * (v + (c * c).sum(axis=0)) - np.einsum("mr,mkr->kr", c, d) + m',
        "half -= np.where(v > 1, np.maximum(m + v, 0) ** 2 / np.maximum(2 * v, 1), 0)",
        "p = np.exp(half - half.max(axis=0))",
        "p /= p.sum(axis=0)",
    ]


def _turned() -> list[str]:
    """Return the unsure rows ``u``, their directions ``e`` turned, and the points they need."""
    return [
        "doubt = (rival * v * v).max(axis=0)",
        f"u = np.flatnonzero(doubt > {SETTLED})",
        "e, w, own = d[:, :, u], (rival / (1 + v))[:, u], np.arange(len(u))",
        f"for rest in (e[k:] for k in range(min({TURNS}, len(e) - 1, len(m) - 1))):",
        '    size = np.einsum("mkr,mkr->kr", rest, rest)',
        "    k = (w * size).argmax(axis=0)",
        "    mirror = rest[:, k, own]",
        "    mirror[0] += np.copysign(np.sqrt(size[k, own]), mirror[0])",
        "    size = (mirror * mirror).sum(axis=0)",
        '    along = np.einsum("mr,mkr->kr", mirror, rest) * (2 / np.where(size > 0, size, 1.0))',
        "    rest -= mirror[:, None] * along",
        f"left = (w * (e[{TURNS}:] ** 2).sum(axis=0)).max(axis=0)",
        f"level = np.where(doubt[u] <= {UNSURE}, 0, np.where(left > {BETWEEN_MANY}, 2, 1))",
    ]


def _averaged() -> list[str]:
    return [
        "for k in range(3):",
        "    r = np.flatnonzero(level == k)",
        "    t = m[:, u[r], None] + np.tensordot(e[:, :, r], points[k], (0, 1))",
        "    t = np.exp(t - t.max(axis=0))",
        "    p[:, u[r]] = (t / t.sum(axis=0)).mean(axis=2)",
        "y[rows] = (p / p.sum(axis=0)).T",
    ]


def _beta_ensemble(fitted: FittedBetaEnsemble) -> Recipe:
    numbers = {
        "a": fitted.a, "b": fitted.b, "c": fitted.c,
        "weights": (1 - STRICTNESS) * fitted.weights,
    }  # fmt: skip
    return numbers, [
        "y = x",
        *_SOFTMAX,
        "given = x - x.max(axis=1, keepdims=True)",
        "low = given - np.log(np.exp(given).sum(axis=1, keepdims=True))",
        f"low = np.clip(low, {DEEPEST!r}, 0.0)",
        f"high = np.log(np.maximum(1 - y, {TINY!r}))",
        f"y = {STRICTNESS!r} * y",
        "for a, b, c, weight in zip(A, B, C, WEIGHTS):",
        "    against = b * high - a * low - c",
        f"    least = against.min(axis=1, keepdims=True) - {VANISHING!r}",
        "    against = against - np.maximum(least, 0.0)",
        f"    g = 1 / (1 + np.exp(np.minimum(against, {OVERFLOWING!r})))",
        "    y = y + weight * g / g.sum(axis=1, keepdims=True)",
        "y = np.where(np.isneginf(x), 0.0, np.minimum(y, 1.0))",
    ]


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
    FittedOneVsRest: _lift,
    FittedPerRank: _lift,
    FittedPooledClasses: _lift,
    FittedChain: _chain,
    FittedBetaEnsemble: _beta_ensemble,
    FittedGaussianProcess: _gaussian_process,
    FittedByGroup: _by_group,
}


# A fitted calibrator as a few lines of Python that need nothing but numpy ---------------------


def numpy_code(kept: CalibratorFile) -> str:
    """Write Python that applies a calibrator with numpy alone.

    Parameters
    ----------
    kept : CalibratorFile
        Of any calibrator of the catalogue.

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
    the linear calibrators, whose code refuses them. Of classes that a pooled map leaves equal to
    the last digit, any may be the largest. Groups are given as they are named: numbers where all
    names are numbers, else texts.
    """
    made = recipe_of(kept.fitted)
    if made is None:
        kind = type(kept.fitted).__name__
        raise CalibrationInputError("calibrator", kind, "one of the catalogue")
    numbers, lines = made
    of_scores = kept.takes == "scores" or not kept.class_names
    head, name = (_OF_SCORES, "scores") if of_scores else (_of_classes(kept), kept.takes)
    constants = [f"{key.upper()} = {_written(value)}" for key, value in numbers.items()]
    of_groups, found = _of_groups(kept) if kept.needs_groups else ([], [])
    others = ", groups" if kept.needs_groups else "" if of_scores else ", class_names=CLASSES"
    # What a file says stands in constants alone, where it stays text.
    facts = {"made_by": f"Fractile {kept.made_by}", "data_sha256": kept.data, "rows": kept.n_rows}
    gaussian = any("NormalDist" in line for line in lines)
    text = [
        f'"""{type(kept.fitted).__name__}: calibrates {name} with numpy alone."""',
        "",
        *(["from statistics import NormalDist", ""] if gaussian else []),
        "import numpy as np",
        "",
        *(f"{key.upper()} = {fact!r}" for key, fact in facts.items()),
        *([] if of_scores else [f"CLASSES = {kept.class_names!r}"]),
        *of_groups,
        *constants,
        "",
        "",
        f"def calibrate({name}{others}):",
        f"    x = np.asarray({name}, dtype=float)",
        *(f"    {line}" for line in [*head, *found, *lines]),
        "    return y",
        "",
    ]
    return "\n".join(text)


def _of_groups(kept: CalibratorFile) -> tuple[list[str], list[str]]:
    """Return constants, and the lines that find the place of each row's group in the fit."""
    fitted = kept.fitted.groups.tolist() if isinstance(kept.fitted, FittedByGroup) else []
    grouping = kept.groups or Grouping(())
    names = {k: grouping.names[k] if kept.groups else str(k) for k in fitted}
    numbers = {k: number(name) for k, name in names.items()}
    as_numbers = "g = np.asarray(groups, dtype=float)"
    constants = [f"COLUMN = {grouping.column!r}"]
    known: dict[Any, int] = {}
    if grouping.cuts is not None:
        known = {k if name else None: place for place, (k, name) in enumerate(names.items())}
        constants.append(f"CUTS = {list(grouping.cuts)!r}")
        ranges = 'np.searchsorted(CUTS, g, side="right")'
        found = [as_numbers, f"keys = np.where(np.isnan(g), None, {ranges})"]
    elif all(numbers[k] is not None or not name for k, name in names.items()):
        known = {numbers[k]: place for place, k in enumerate(names)}
        found = [as_numbers, "keys = np.where(np.isnan(g), None, g)"]
    else:
        known = {name: place for place, name in enumerate(names.values())}
        blank = '"" if one is None or one != one else str(one)'
        found = [f"keys = [{blank} for one in np.asarray(groups).tolist()]"]
    return [*constants, f"GROUPS = {known!r}"], [
        *found,
        "place = np.array([GROUPS.get(key, -1) for key in keys], dtype=int)",
        "if len(place) != len(x):",
        '    raise ValueError("expected a group for each score")',
    ]


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
        lines += [
            "percent = x.min() >= 0 and np.allclose(x.sum(axis=1), 100, rtol=0, atol=5)",
            "if shares or percent:",
            '    raise ValueError("expected logits, not probabilities or percentages")',
        ]
    if linear:
        finite = 'raise ValueError("expected finite logits, or probabilities above 0")'
        lines += ["if not np.isfinite(x).all():", f"    {finite}"]
    return lines


def _written(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()!r})"
    if isinstance(value, list | tuple):
        inside = "".join(f"{_written(one)}, " for one in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return repr(float(value))
