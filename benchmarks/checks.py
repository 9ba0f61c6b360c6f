"""How often ``fractile check`` fails a batch, by simulation: ``python -m benchmarks.checks``.

docs/validation.md gets how often it fails a batch that is like the audited one, and one that has
changed by so much, with all measures or one, and with a smallest change that matters.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.omnibus import SHAPES, columns, interval
from benchmarks.validation import write_section
from calibcore.data import EventScores
from calibcore.drift import Rule, compare_batches
from calibcore.group_drift import compare_groups
from calibcore.inference.draws import tally_of

N_SETS, N_DRAWS, N_AUDITED = 200, 450, 2000
SIZES = (200, 1000, 5000)
RISKS, RARE = "Risks, beta(2, 8)", "Rare event, 1%"
ANY, GAP = Rule(), Rule(("mean_gap",))
MATTERS = Rule(("mean_gap",), least={"mean_gap": 0.01})
"""As ``--measures mean_gap --min-change 1%``."""

Rng = np.random.Generator
Change = Callable[[NDArray[np.float64]], NDArray[np.float64]]
Test = Callable[[int], tuple[bool, ...]]


def batch(shape: str, n_rows: int, rng: Rng, change: Change = np.asarray) -> EventScores:
    """Draw rows with scores of two or three digits; ``change`` makes probabilities of scores."""
    scores = SHAPES[shape](rng, n_rows).round(3 if shape == RARE else 2)
    return EventScores(scores, rng.random(n_rows) < change(scores))


def fails(old: EventScores, new: EventScores, rules: Sequence[Rule], seed: int) -> list[bool]:
    """Return by which rules a measure changed."""
    counted = tally_of(old), tally_of(new)
    return [
        bool(compare_batches(*counted, n_draws=N_DRAWS, seed=seed, rule=rule).moved)
        for rule in rules
    ]


def alike(shape: str, n_rows: int, seed: int) -> tuple[bool, ...]:
    """Return what fails a batch that is like the audited one; last, whether anything does."""
    rng = np.random.default_rng([seed, 21])
    old, new = batch(shape, N_AUDITED, rng), batch(shape, n_rows, rng)
    groupings = [*zip(columns(rng, N_AUDITED), columns(rng, n_rows), strict=True)]
    groups = compare_groups(old, new, groupings, n_draws=N_DRAWS, seed=seed).moved.any()
    by_rule = fails(old, new, (ANY, GAP, MATTERS), seed)
    return *by_rule, bool(groups), bool(by_rule[0] or groups)


def raised(change: float, n_rows: int, seed: int) -> tuple[bool, ...]:
    """Return what fails a batch whose event is more frequent by as much at every score."""
    rng = np.random.default_rng([seed, 22])
    old = batch(RISKS, N_AUDITED, rng)
    new = batch(RISKS, n_rows, rng, lambda scores: np.minimum(scores + change, 1))
    return tuple(fails(old, new, (ANY, GAP, MATTERS), seed))


def more_frequent(times: float, n_rows: int, seed: int) -> tuple[bool, ...]:
    """Return what fails a batch whose rare event is so many times as frequent at every score."""
    rng = np.random.default_rng([seed, 23])
    old = batch(RARE, N_AUDITED, rng)
    new = batch(RARE, n_rows, rng, lambda scores: np.minimum(scores * times, 1))
    return tuple(fails(old, new, (ANY, GAP, MATTERS), seed))


def one_ward(change: float, n_rows: int, seed: int) -> tuple[bool, ...]:
    """Return what sees a change of one ward, with a fifth of the rows, and which wards move."""
    rng = np.random.default_rng([seed, 24])
    wards = [columns(rng, n)[0] for n in (N_AUDITED, n_rows)]
    old = batch(RISKS, N_AUDITED, rng)
    new = batch(RISKS, n_rows, rng, lambda p: np.minimum(p + change * (wards[1] == 2), 1))
    return _by_groups(old, new, wards, (2,), seed)


def opposite(change: float, n_rows: int, seed: int) -> tuple[bool, ...]:
    """Return the same of two halves that change oppositely."""
    rng = np.random.default_rng([seed, 25])
    halves = [rng.integers(2, size=n) for n in (N_AUDITED, n_rows)]
    old = batch(RISKS, N_AUDITED, rng)
    signs = np.where(halves[1] == 0, change, -change)
    new = batch(RISKS, n_rows, rng, lambda p: np.clip(p + signs, 0, 1))
    return _by_groups(old, new, halves, (0, 1), seed)


def _by_groups(
    old: EventScores,
    new: EventScores,
    places: list[NDArray[np.int64]],
    changed: tuple[int, ...],
    seed: int,
) -> tuple[bool, ...]:
    groups = compare_groups(old, new, [(places[0], places[1])], n_draws=N_DRAWS, seed=seed)
    moved = groups.place[groups.moved].tolist()
    whole = fails(old, new, (ANY,), seed)[0]
    return whole, any(one in moved for one in changed), moved == [*changed]


def parts() -> Iterator[tuple[str, list[tuple[str, Test]]]]:
    """Go through the tables: what stands above each, and its lines."""
    yield (
        INTRODUCTION,
        [(f"{one} | {n:,}", partial(alike, one, n)) for n in SIZES for one in (RISKS, RARE)],
    )
    changes = (0.01, 0.02, 0.05)
    yield (
        POWER,
        [(f"{100 * c:.0f} | {n:,}", partial(raised, c, n)) for n in SIZES for c in changes],
    )
    yield (
        OFTEN,
        [
            (f"{times} | {n:,}", partial(more_frequent, times, n))
            for n in SIZES[1:]
            for times in (1.5, 2, 3)
        ],
    )
    yield (
        GROUPS,
        [
            (f"{name} | {100 * change:.0f} | {n:,}", partial(test, change, n))
            for name, test in (
                ("One of five wards", one_ward),
                ("Two halves, oppositely", opposite),
            )
            for n in SIZES[1:]
            for change in (0.05, 0.1)
        ],
    )


def section(n_sets: int, workers: int) -> str:
    """Simulate, and write the section."""
    lines = []
    with ProcessPoolExecutor(workers) as pool:
        for heading, tests in parts():
            lines.append(heading.format(n_sets=n_sets, audited=N_AUDITED, draws=N_DRAWS))
            for front, test in tests:
                marks = np.array(list(pool.map(test, range(n_sets), chunksize=8)))
                cells = " | ".join(interval(int(one), n_sets) for one in marks.sum(axis=0))
                lines.append(f"| {front} | {cells} |")
                print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join([*lines, ""])


INTRODUCTION = """# Checks of a new batch

Written by `python -m benchmarks.checks`: how often `fractile check` fails a new batch, each
figure the share of {n_sets} simulated pairs of batches in percent, with its 95% interval. The
audited batch has {audited:,} rows; the test draws {draws} pairs of batches, the command 2,000.
*Any measure* is the command without an option, *mean gap* with `--measures mean_gap`, *and matters*
with `--min-change 1%` besides.

## False alarms

Both batches are calibrated and drawn alike. *Any subgroup* is of five groupings (wards of unequal
size, ages, sex, month, tenths of a number). Measures and subgroups are two tests at 5% each, so
that *either*, of which the command's code 1 tells where rows have groups, may reach 10%.

| Scores | New rows | Any measure | Mean gap | And matters | Any subgroup | Either |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |"""

POWER = """
## Power by size of the change

Risks, beta(2, 8); in the new batch the event is more frequent by so many percentage points at every
score. By a change of 1 point, no more than what matters, the last column should fail 5% at most.

| Change, pp | New rows | Any measure | Mean gap | And matters |
| ---: | ---: | ---: | ---: | ---: |"""

OFTEN = """
## Power for a rare event

An event of 1%, in the new batch so many times as frequent at every score.

| Times | New rows | Any measure | Mean gap | And matters |
| ---: | ---: | ---: | ---: | ---: |"""

GROUPS = """
## Power where a subgroup changes

Risks, beta(2, 8). A ward with a fifth of the rows, or two halves of them in opposite directions,
change by so many percentage points. *A changed one*: is said to have changed; *these alone*: all
that did, and no other.

| Subgroups | Change, pp | New rows | Any measure | A changed one | These alone |
| --- | ---: | ---: | ---: | ---: | ---: |"""


if __name__ == "__main__":
    write_section(section, N_SETS, __doc__)
