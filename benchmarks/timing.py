"""Interleaved timing, and peak memory."""

import gc
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

_ENOUGH = 2.0
_MOST_ROUNDS = 50


@dataclass(frozen=True)
class Timing:
    """Processor time of the fastest of several runs, and what the last one returned."""

    seconds: float
    result: Any


def interleave(runs: Mapping[str, Callable[[], Any]], *, repeat: int) -> dict[str, Timing]:
    """Time several functions in turn, so that a busy moment of the machine hits all alike.

    Parameters
    ----------
    runs : mapping of str to function
        Called in this order: first, second, ..., then first again.
    repeat : int
        Rounds; at least 1. Short jobs get up to `_MOST_ROUNDS`, within `_ENOUGH` seconds.

    Returns
    -------
    dict of str to Timing
        The minimum over the rounds of the processor time: with one thread and no waiting it is
        the time of an idle machine, and other work on this one can only add to it.
    """
    fastest = dict.fromkeys(runs, float("inf"))
    results: dict[str, Any] = {}
    began = time.perf_counter()
    for done in range(max(repeat, _MOST_ROUNDS)):
        if done >= repeat and time.perf_counter() - began > _ENOUGH:
            break
        for name, run in runs.items():
            results.pop(name, None)  # so that no two results of one function are held at once
            gc.collect()
            start = time.process_time()
            results[name] = run()
            fastest[name] = min(fastest[name], time.process_time() - start)
    return {name: Timing(fastest[name], results[name]) for name in runs}


def peak_bytes(run: Callable[[], object]) -> int:
    """Measure the most memory a function holds at once beyond what was there before it."""
    gc.collect()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@contextmanager
def highest(look: Callable[[], int], seconds: float) -> Iterator[list[int]]:
    """Look at a number again and again while something runs, and keep the highest in a list."""
    most, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(seconds):
            most[0] = max(most[0], look())

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield most
    finally:
        over.set()
        thread.join()
