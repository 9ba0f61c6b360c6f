"""Cases of a test of which the first one is run each time, the others before a release."""

from collections.abc import Iterable
from typing import Any

import pytest


def first_and_long(cases: Iterable[Any], first: int = 1) -> list[Any]:
    """Mark all cases but the first ones as long; a case of several parameters is a tuple."""
    every = list(cases)
    return [
        *every[:first],
        *(
            pytest.param(*(one if isinstance(one, tuple) else (one,)), marks=pytest.mark.long)
            for one in every[first:]
        ),
    ]
