"""Size and power of the joint tests by simulation: ``python -m benchmarks.omnibus``.

docs/validation.md gets how often the joint test, and that of all subgroups, detects something
where the scores are true, and where they are not.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, softmax

from benchmarks.validation import OUT, with_section
from calibcore.inference.groups import group_gaps
from calibcore.inference.omnibus import omnibus_test
from calibcore.validation import Floats

N_SETS = 2000
N_DRAWS = 200
SIZES = (300, 1000, 5000, 30_000)
WARDS = (0.4, 0.25, 0.2, 0.1, 0.05)
Rng = np.random.Generator
Test = Callable[[Rng], tuple[bool, ...]]

SHAPES: dict[str, Callable[[Rng, int], Floats]] = {
    "Risks, beta(2, 8)": lambda rng, n: rng.beta(2, 8, n),
    "Near 0 or 1, beta(0.3, 0.3)": lambda rng, n: rng.beta(0.3, 0.3, n),
    "Top prediction of 10 classes": lambda rng, n: softmax(
        2 * rng.normal(size=(n, 10)), axis=1
    ).max(axis=1),
    "Rare event, 1%": lambda rng, n: rng.beta(0.5, 49.5, n),
}

FAULTS: dict[str, Callable[[Floats], Floats]] = {
    "Temperature 1.5": lambda true: expit(1.5 * logit(true)),
    "Shift 0.3 in log-odds": lambda true: expit(logit(true) + 0.3),
    "S-shape, 0.08 sin(2 pi p)": lambda true: true + 0.08 * np.sin(2 * np.pi * true),
}


def columns(rng: Rng, n_rows: int) -> list[NDArray[np.int64]]:
    """Draw five groupings: wards of unequal size, ages, sex, month, tenths of a number."""
    alike = [rng.integers(n_groups, size=n_rows) for n_groups in (6, 2, 12, 10)]
    return [rng.choice(len(WARDS), n_rows, p=WARDS), *alike]


def false_alarm(shape: str, n_rows: int, rng: Rng) -> tuple[bool, bool]:
    """Return whether the joint test, and that of subgroups, detects something in true scores."""
    true = SHAPES[shape](rng, n_rows)
    hits, seed = rng.random(n_rows) < true, int(rng.integers(1 << 31))
    whole = omnibus_test(true, hits, n_draws=N_DRAWS, seed=seed)
    groups = group_gaps(true, hits, columns(rng, n_rows), n_draws=N_DRAWS, seed=seed)
    return whole.p_value < 0.05, bool(groups.off().any())


def power(fault: str, n_rows: int, rng: Rng) -> tuple[bool, bool]:
    """Return whether the joint test, and the KS test alone, detect a fault of the whole score."""
    true = np.clip(rng.beta(2, 2, n_rows), 0.01, 0.99)
    found = omnibus_test(
        FAULTS[fault](true),
        rng.random(n_rows) < true,
        n_draws=N_DRAWS,
        seed=int(rng.integers(1 << 31)),
    )
    return found.p_value < 0.05, found.part("ks").p_value < 0.05


def ward(off: float, rng: Rng) -> tuple[bool, bool, bool, bool]:
    """Return whether the faulty ward is found, and it alone: on all rows, then on one half."""
    n_rows, cells = 7400, []
    scores, place = 0.1 + 0.7 * rng.beta(2, 4, n_rows), rng.choice(len(WARDS), n_rows, p=WARDS)
    hits = rng.random(n_rows) < scores + off * (place == 2)
    for rows in (slice(None), slice(n_rows // 2)):
        seed = int(rng.integers(1 << 31))
        found = group_gaps(scores[rows], hits[rows], [place[rows]], n_draws=N_DRAWS, seed=seed)
        wards = found.place[found.own()].tolist()
        cells += [2 in wards, wards == [2]]
    return cells[0], cells[1], cells[2], cells[3]


def shares(test: Test, n_sets: int, seconds: float) -> str:
    """Return how often each test detects, in percent with its interval, and the number of sets."""
    start, found = time.monotonic(), []
    for seed in range(n_sets):
        if seed >= 20 and time.monotonic() - start > seconds:
            break
        found.append(test(np.random.default_rng([seed, 11])))
    return f"{len(found):,} | " + " | ".join(
        interval(int(detected), len(found)) for detected in np.sum(found, axis=0)
    )


def interval(detected: int, n_sets: int) -> str:
    """Return a share in percent and its 95% interval (Wilson)."""
    share, square = detected / n_sets, 1.96**2 / n_sets
    middle = (share + square / 2) / (1 + square)
    half = np.sqrt(square * share * (1 - share) + square**2 / 4) / (1 + square)
    return f"{100 * share:.1f} ({100 * (middle - half):.1f} to {100 * (middle + half):.1f})"


def section(n_sets: int, seconds: float) -> str:
    """Simulate, and write the section."""
    sizes, powers, wards = [], [], []
    for n_rows in SIZES:
        for shape in SHAPES:
            cells = shares(partial(false_alarm, shape, n_rows), n_sets, seconds)
            sizes.append(f"| {shape} | {n_rows:,} | {cells} |")
            print(sizes[-1], file=sys.stderr, flush=True)
    for fault in FAULTS:
        cells = shares(partial(power, fault, 1000), n_sets, seconds)
        powers.append(f"| {fault} | 1,000 | {cells} |")
        print(powers[-1], file=sys.stderr, flush=True)
    for off in (0.06, 0.1):
        cells = shares(partial(ward, off), n_sets, seconds)
        wards.append(f"| {100 * off:.0f} | {cells} |")
        print(wards[-1], file=sys.stderr, flush=True)
    return "\n".join([INTRODUCTION, *sizes, POWER, *powers, WARD, *wards, ""])


INTRODUCTION = f"""# Joint tests

Written by `python -m benchmarks.omnibus`. Each figure is the share in percent of simulated sets in
which something is detected at the 5% level, with its 95% interval; each test draws {N_DRAWS} sets
of labels. A line has at most {N_SETS:,} sets, fewer where they took too long.

## False alarms

The scores are the true probabilities. *Subgroups*: any of all groups of five groupings (wards of
unequal size, ages, sex, month, tenths of a number).

| Scores | Rows | Sets | Joint test | Subgroups |
| --- | ---: | ---: | ---: | ---: |"""

POWER = """
## Power of the joint test

| Fault | Rows | Sets | Joint test | KS test alone |
| --- | ---: | ---: | ---: | ---: |"""

WARD = """
## Power of the test of subgroups

One of five wards, with a fifth of 7,400 rows, is off by so many percentage points. *Found*: that
ward is off by more than the whole; *alone*: it and no other. The half is the test half of a split.

| Off by, pp | Sets | All rows: found | Alone | Half: found | Alone |
| ---: | ---: | ---: | ---: | ---: | ---: |"""


def main(words: Sequence[str] | None = None) -> int:
    """Simulate, and put the section into the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.omnibus", description=__doc__)
    parser.add_argument("--sets", type=int, default=N_SETS, help="simulated data sets of a line")
    parser.add_argument("--seconds", type=float, default=np.inf, help="most time for a line")
    options = parser.parse_args(words)
    found = section(options.sets, options.seconds)
    page = OUT.read_text(encoding="utf-8")
    OUT.write_text(with_section(page, found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
