"""The JSON schema of fitted maps, made from their fields."""

from dataclasses import fields
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from calibcore.calibrators.base import FittedCalibrator, Positive, fitted_kinds

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    Positive: {"type": "number", "exclusiveMinimum": 0},
}


def json_schema() -> dict[str, Any]:
    """Describe what `calibcore.calibrators.base.FittedCalibrator.to_json` writes.

    JSON Schema, draft 2020-12: one definition a kind of map, selected by ``kind``.
    """
    kinds = fitted_kinds()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:fractile:calibrator-map:1",
        "title": "Fitted calibrator",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in sorted(kinds)],
        "$defs": {name: _object(name, kinds[name]) for name in sorted(kinds)},
    }


def _object(name: str, kind: type[FittedCalibrator]) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    properties = {name: _type(hints[name]) for name in sorted(f.name for f in fields(kind))}
    return {
        "type": "object",
        "properties": {"kind": {"const": name}, **properties},
        "required": ["kind", *properties],
        "additionalProperties": False,
    }


def _type(hint: Any) -> dict[str, Any]:
    if hint in _PLAIN:
        return _PLAIN[hint]
    if isinstance(hint, type) and issubclass(hint, FittedCalibrator):
        return {"$ref": "#"}
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _type(get_args(hint)[0])}
    if get_origin(hint) is np.ndarray:
        return {"type": "array", "items": {"type": ["number", "array"]}}
    options = get_args(hint)
    if options and all(isinstance(option, str) for option in options):
        return {"enum": list(options)}
    return {"anyOf": [_type(option) for option in options]}
