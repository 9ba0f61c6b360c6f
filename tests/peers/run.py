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

from tests.peers import figures, measures, named, parts, score_maps, torch_twin, vector_maps
from tests.peers.cases import NAMES, Case, case
from tests.peers.figures import Figure

KINDS = {
    "measures": measures,
    "named": named,
    "parts": parts,
    "score_maps": score_maps,
    "vector_maps": vector_maps,
}

SLOW = 60.0
"""Seconds above which a job should have been left out."""


def watched(one: Case, kinds: list[str]) -> Iterator[Figure]:
    """Give the figures of a sample, telling which ones take long."""
    for kind in (KINDS[name] for name in kinds):
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
    """Write the figures asked for, or all, and keep the others."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("samples", nargs="*", default=NAMES, help="only these samples")
    parser.add_argument("--only", choices=KINDS, help="only this kind of figure")
    asked = parser.parse_args()
    torch_twin.check()
    kinds = [asked.only] if asked.only else list(KINDS)
    warnings.simplefilter("ignore")  # of libraries about each other, and of slow fits
    logging.disable(logging.INFO)
    threadpool_limits(1)
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)  # peers that would start in float32 lose digits
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002 - what peers draw from
    results = [
        figures.as_record(name, figure)
        for name in asked.samples
        for figure in watched(case(name), kinds)
    ]
    whole = asked.samples == NAMES and not asked.only
    done = {(record["sample"], record["job"]) for record in results}
    old = [] if whole else figures.read()
    kept = [record for record in old if (record["sample"], record["job"]) not in done]
    figures.write([*kept, *results])


if __name__ == "__main__":
    main()
