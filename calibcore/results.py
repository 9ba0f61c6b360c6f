"""Result objects: frozen, shown in one short line, and searched by key."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar, dataclass_transform

import numpy as np

from calibcore.errors import CalibrationInputError

_MOST_ITEMS = 3
"""Items of a tuple that are shown; of a longer one, how many there are."""

_MOST_SIGNS = 60


Class = TypeVar("Class")
Row = TypeVar("Row")


@dataclass_transform(frozen_default=True, eq_default=False)
def result_class(kind: type[Class]) -> type[Class]:
    """Make a class a frozen dataclass that is compared by identity and shown by `short_repr`.

    >>> @result_class
    ... class Curve:
    ...     score: np.ndarray
    >>> Curve(np.zeros((5000, 10)))
    Curve(score=float64[5000, 10])
    """
    result = dataclass(frozen=True, eq=False, repr=False)(kind)
    if "__repr__" not in kind.__dict__:
        result.__repr__ = short_repr  # type: ignore[method-assign]
    return result


def short_repr(of: Any) -> str:
    """Return a dataclass's fields in one line: arrays by type and shape, results by class."""
    pairs = ((f.name, getattr(of, f.name)) for f in fields(of) if f.repr)
    return f"{type(of).__name__}({', '.join(f'{name}={_short(value)}' for name, value in pairs)})"


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    if is_dataclass(value):
        key = getattr(value, "key", None)
        return type(value).__name__ + ("" if key is None else f"({key!r})")
    if isinstance(value, tuple | list | dict):
        if isinstance(value, dict) or len(value) > _MOST_ITEMS:
            return f"{type(value).__name__}[{len(value)}]"
        return f"({', '.join(map(_short, value))})"
    text = f"{value:.6g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= _MOST_SIGNS else f"{text[: _MOST_SIGNS - 3]}..."


def find(known: Mapping[str, Row], key: str, field: str) -> Row:
    """Return what has this key; raise an error that lists the keys if nothing has."""
    if key not in known:
        raise CalibrationInputError(field, repr(key), f"one of {', '.join(known)}")
    return known[key]


def finite(value: float | None) -> float | None:
    """Return a number; None where there is none, or one that JSON has no word for."""
    return value if value is not None and math.isfinite(value) else None
