"""Objects of JSON in which a member stands twice."""

import json
import re
from itertools import chain
from typing import Any

from dashboard.readers.refusal import FileError, quoted

_SPACED = re.compile(rb'"\s+:')


def check_members(text: bytes, value: Any) -> None:
    """Refuse a member that stands twice, of which a parser keeps the last."""
    colons = text.count(b'":') + len(_SPACED.findall(text))
    if colons == _n_members(value, text.count(b"{")):
        return

    def whole(pairs: list[tuple[str, Any]]) -> None:
        names = [name for name, _ in pairs]
        if len({*names}) < len(names):
            twice = next(name for k, name in enumerate(names) if name in names[:k])
            raise FileError("file", f"a member twice: {quoted(twice)}", "each once")

    try:
        json.loads(text, object_pairs_hook=whole)
    except RecursionError:
        raise FileError("line 1", "text that is not JSON (nested too deeply)", "JSON") from None


def _n_members(value: Any, braces: int) -> int:
    """Count the members of all objects, of which there are no more than braces."""
    level, members = [value], 0
    while level and braces > 0:
        objects = [part for part in level if type(part) is dict]
        members += sum(map(len, objects))
        braces -= len(objects)
        if braces > 0:
            lists = (part for part in level if type(part) is list)
            level = [*chain(*(part.values() for part in objects), *lists)]
    return members
