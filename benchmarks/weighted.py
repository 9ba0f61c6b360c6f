"""What weights cost, as a ratio to the same rows without: ``python -m benchmarks.weighted``.

From rows to the number, the sort included, in processor time, the best of several runs.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from calibcore.metrics import METRICS, EventMeasure, Options
from calibcore.tally import tally
from calibcore.validation import Floats, Hits

_RUNS = 7


def fastest(work: Callable[[], object]) -> float:
    """Return the least processor time of several runs, in seconds."""
    best = float("inf")
    for _ in range(_RUNS):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def _value(one: EventMeasure, scores: Floats, hits: Hits, weights: Floats | None) -> object:
    return one.compute(tally(scores, hits, sample_weight=weights), Options())


def main() -> None:
    """Print a line for each measure that has a form for weighted rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    n_rows = parser.parse_args().rows
    rng = np.random.default_rng(0)
    scores = rng.random(n_rows)
    hits, weights = (rng.random(n_rows) < scores).astype(np.int8), rng.gamma(2.0, 1.0, n_rows)
    for one in METRICS:
        if not (isinstance(one, EventMeasure) and one.weighs):
            continue
        plain, weighted = (
            fastest(partial(_value, one, scores, hits, each)) for each in (None, weights)
        )
        print(f"{one.key:26}{1e3 * plain:9.2f} ms{weighted / plain:8.2f} times with weights")


if __name__ == "__main__":
    main()
