"""Python's JSON parser for short pieces, in which no member stands twice and no text is half."""

import json
from typing import Any

from dashboard.readers.json_files.json_blocks import decoded
from dashboard.readers.json_files.json_pieces import LONE
from dashboard.readers.refusal import plain, quoted


def said(problem: ValueError) -> str:
    """Say what Python's parser found, in words of use to a reader."""
    if isinstance(problem, UnicodeDecodeError):
        return "bytes that are not UTF-8"
    if isinstance(problem, json.JSONDecodeError):
        return plain(problem.msg, 80)
    return plain(str(problem), 80) if "digits" not in str(problem) else "a number of many digits"


def load(piece: bytes, decoder: json.JSONDecoder) -> Any:
    """Decode a piece, the fast way where that cannot differ."""
    if b"\\u" in piece and LONE.search(piece):
        raise ValueError("half of a surrogate pair")
    found = decoded(piece) if decoder is DECODER else None
    return decoder.decode(piece.decode("utf-8")) if found is None else found


def _record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a record, in which no key may stand twice."""
    record = dict(pairs)
    if len(record) < len(pairs):
        twice = next(key for k, (key, _) in enumerate(pairs) if key in dict(pairs[:k]))
        raise ValueError(f"member {quoted(twice, 30)} twice")
    return record


DECODER = json.JSONDecoder(object_pairs_hook=_record)
PAIR_DECODER = json.JSONDecoder(object_pairs_hook=list)
