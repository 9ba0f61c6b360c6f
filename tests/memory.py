"""How much memory something takes."""

import tracemalloc
from collections.abc import Callable


def peak_of(run: Callable[[], object]) -> int:
    """Give the most bytes that were taken at once while it ran."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
