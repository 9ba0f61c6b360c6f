"""Run every peer on every sample and write what they find: ``make peers``."""

import argparse
import logging
import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from tests.peers import figures, measures, score_maps, vector_maps
from tests.peers.cases import NAMES, Case, case
from tests.peers.figures import Figure

SLOW = 60.0
"""Seconds above which a job should have been left out."""


def watched(one: Case) -> Iterator[Figure]:
    """Give every figure of a sample, telling which ones take long."""
    for kind in (measures, score_maps, vector_maps):
        started = time.perf_counter()
        for figure in kind.figures(one):
            seconds = time.perf_counter() - started
            note = "  TOO SLOW" if seconds > SLOW else ""
            sys.stderr.write(
                f"{one.name:30}{figure.job:50}{figure.peer:25}{seconds:7.2f} s{note}\n"
            )
            yield figure
            started = time.perf_counter()


def main() -> None:
    """Write the figures of the samples asked for, or of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("samples", nargs="*", default=NAMES, help="only these samples")
    chosen = parser.parse_args().samples
    warnings.simplefilter("ignore")  # of libraries about each other, and of slow fits
    logging.disable(logging.INFO)
    threadpool_limits(1)
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)  # peers that would start in float32 lose digits
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002 - what peers draw from
    kept = [] if chosen == NAMES else [r for r in figures.read() if r["sample"] not in chosen]
    found = [figures.as_record(name, figure) for name in chosen for figure in watched(case(name))]
    figures.write([*kept, *found])


if __name__ == "__main__":
    main()
