"""What the elements of JSON look like, as patterns of some of them without deeper nesting."""

import re

_STRING = rb'"(?:[^"\\\x00-\x1f]++|\\.)*+"'
_SCALAR = rb'[^][{},:"\s]++'
_FLAT = rb'\[(?:[^][{}"]++|' + _STRING + rb")*+\]"
_INNER = rb'\{(?:[^][{}"]++|' + _STRING + b"|" + _FLAT + rb")*+\}"
_LISTED = rb"\[\s*+" + _INNER + rb"(?:\s*+,\s*+" + _INNER + rb")*+\s*+\]"
_BATCHED = rb"\[\s*+" + _LISTED + rb"\s*+\]"
_RECORD = rb'\{(?:[^][{}"]++|' + b"|".join([_STRING, _FLAT, _INNER, _LISTED, _BATCHED]) + rb")*+\}"
_ELEMENT = b"|".join([_SCALAR, _STRING, _FLAT, _LISTED, _RECORD])
_PAIR = _STRING + rb"\s*+:\s*+(?:" + _SCALAR + b"|" + _STRING + b")"
_ROW_UNDER_NAME = _STRING + rb"\s*+:\s*+" + _RECORD
SPACE = re.compile(rb"[ \t\r\n]*+")
KEY = re.compile(b"(" + _STRING + rb")\s*+:", re.DOTALL)
_ROW = b"|".join([_FLAT, _LISTED, _RECORD])
LINES = re.compile(rb"\s*+(?:" + _ROW + rb")[ \t\r]*+\n\s*+[\[{]", re.DOTALL)
LONE = re.compile(
    rb"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]", re.DOTALL
)


class Steps:
    """Patterns of up to so many elements in a row, each with what ends it."""

    def __init__(self, element: bytes, end: bytes) -> None:
        one = rb"\s*+(?:" + element + b")" + end
        # Python 3.11.0 to 3.11.4 keeps what the last, failed turn of ``(?:...)++`` has taken.
        self.patterns = [
            re.compile(b"(?>(?:" + one + b"){1,%d})" % most, re.DOTALL) for most in (256, 16, 1)
        ]
        self.element = re.compile(element, re.DOTALL)


_AFTER = rb"\s*+(?:,|(?=[]}]))"
ELEMENTS = Steps(_ELEMENT, _AFTER)
PAIRS = Steps(_PAIR, _AFTER)
NAMED_ROWS = Steps(_ROW_UNDER_NAME, _AFTER)
_FIELD = rb'\{(?:[^][{}"]++|' + b"|".join([_STRING, _FLAT, _INNER]) + rb")*+\}"
_FIELDS = rb"\[\s*+" + _FIELD + rb"(?:\s*+,\s*+" + _FIELD + rb")*+\s*+\]"
_TOLD = rb'\{(?:[^][{}"]++|' + b"|".join([_STRING, _FLAT, _FIELDS]) + rb")*+\}"
SCHEMA = re.compile(rb'"schema"\s*+:\s*+(' + _TOLD + rb")\s*+,", re.DOTALL)
ROWS = Steps(_ROW, rb"[ \t\r]*+(?:\n|\Z)")
