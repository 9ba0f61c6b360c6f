"""Fitted maps of millions of points with fewer of them, to a stated accuracy."""

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np

from calibcore.calibrators.score_maps.spline import FittedSpline

ACCURACY = 1e-5
"""By so much a thinned map may differ: a thousandth of a percentage point."""

MANY = 20_000
"""Points of a spline from which on it is thinned."""

_FIRST = 1_024
"""Points that are kept at first, as many rows between each two."""

Map = TypeVar("Map")


def thinned(fitted: Map) -> Map:
    """Keep of every spline in a fitted map the points that `ACCURACY` needs.

    ``fitted``: any fitted map; what holds no spline of more than `MANY` points is returned itself.

    Notes
    -----
    Points are added in the middle between two that are kept, until no point that is left out is
    off by more. Between points both maps are straight, so no other score is off by more either.

    Examples
    --------
    >>> scores = np.linspace(0, 1, 100_001)
    >>> few = thinned(FittedSpline(scores=scores, slope=scores**2, knot_values=np.zeros(2)))
    >>> few.scores.size, bool(np.abs(few.predict(scores) - scores**2).max() <= ACCURACY)
    (1025, True)
    """
    if isinstance(fitted, FittedSpline):
        return cast("Map", _spline(fitted))
    if not is_dataclass(fitted) or isinstance(fitted, type):
        return fitted
    changed = {}
    for field in fields(fitted):
        value = getattr(fitted, field.name)
        fewer = _inside(value)
        if fewer is not value:
            changed[field.name] = fewer
    return replace(fitted, **changed) if changed else fitted


def _inside(value: Any) -> Any:
    if isinstance(value, tuple):
        fewer = tuple(map(_inside, value))
        return fewer if any(a is not b for a, b in zip(fewer, value, strict=True)) else value
    return thinned(value)


def _spline(fitted: FittedSpline) -> FittedSpline:
    scores, slope = fitted.scores, fitted.slope
    if scores.size <= MANY:
        return fitted
    kept = np.unique(np.linspace(0, scores.size - 1, _FIRST + 1).astype(np.intp))
    while True:
        off = np.abs(np.interp(scores, scores[kept], slope[kept]) - slope) > ACCURACY
        between = np.unique(np.searchsorted(kept, np.flatnonzero(off)))
        if not between.size:
            break
        kept = np.union1d(kept, (kept[between - 1] + kept[between]) // 2)
    return replace(fitted, scores=scores[kept], slope=slope[kept])
