"""The pages' sentences without the marks of a page."""

import re

_BADGE = re.compile(r":\w+-badge\[(.*?)\]")
_MARKUP = re.compile(r"\*\*|\u2060|\\(?=[^A-Za-z0-9\s])|(?<=\n)\s+|\s+(?=\n)")


def plain(text: str) -> str:
    r"""Take the pages' marks out of a sentence.

    Examples
    --------
    >>> plain(r":red-badge[Before: overconfident] **KS error** 5\.1%")
    'Before: overconfident. KS error 5.1%'
    """
    return _MARKUP.sub("", _BADGE.sub(r"\1.", text))
