"""Generated inputs: hypothesis strategies and seeded batches with the same hard corners."""

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class EventCase(NamedTuple):
    scores: Floats
    hits: Integers


class LogitCase(NamedTuple):
    logits: NDArray[np.floating[Any]]
    labels: Integers


ONE_STEP_BELOW_1 = float(np.nextafter(1.0, 0.0))
SATURATED = [0.0, -0.0, 1.0]
TIED = [0.0, 0.1, 0.25, 0.3, 0.5, 0.75, 0.9, 1.0]
EDGES = sorted({k / n for n in (3, 10, 15, 25) for k in range(n + 1)})
TINY = [0.0, -0.0, 5e-324, 1e-300, 1e-20, 1e-9, 1.0 - 1e-9, ONE_STEP_BELOW_1, 1.0]


def _neighbours(middle: float) -> list[float]:
    """Five numbers that differ in their last digit only."""
    below = float(np.nextafter(middle, 0.0))
    above = float(np.nextafter(middle, 1.0))
    return [
        float(np.nextafter(below, 0.0)),
        below,
        middle,
        above,
        float(np.nextafter(above, 1.0)),
    ]


PRECISIONS: list[tuple[type[np.float32] | type[np.float64], Literal[32, 64]]] = [
    (np.float64, 64),
    (np.float32, 32),
]


# Hypothesis -----------------------------------------------------------------------------------


@st.composite
def event_data(draw: st.DrawFn, min_size: int = 1, max_size: int = 40) -> EventCase:
    """Scores and hits: ties, constants, saturation, one row, tiny differences, minus zero."""
    anything = st.floats(0.0, 1.0, allow_subnormal=True)
    pool = draw(
        st.sampled_from(
            [
                anything,
                st.sampled_from(TIED),
                st.sampled_from(SATURATED),
                st.sampled_from(EDGES),
                st.sampled_from(TINY),
                st.just(draw(anything)),
                st.sampled_from(_neighbours(draw(st.floats(0.01, 0.99)))),
                st.one_of(anything, st.sampled_from(TIED), st.sampled_from(TINY)),
            ]
        )
    )
    scores = draw(st.lists(pool, min_size=min_size, max_size=max_size))
    hits = draw(st.lists(st.integers(0, 1), min_size=len(scores), max_size=len(scores)))
    return EventCase(np.array(scores, dtype=np.float64), np.array(hits, dtype=np.int64))


@st.composite
def logit_sets(
    draw: st.DrawFn, min_rows: int = 1, max_rows: int = 12, max_classes: int = 6
) -> LogitCase:
    """Logits up to +-1e3 with ties, constant rows and a class that no row belongs to."""
    n_rows = draw(st.integers(min_rows, max_rows))
    n_classes = draw(st.integers(2, max_classes))
    dtype, width = draw(st.sampled_from(PRECISIONS))
    scale = float(dtype(draw(st.sampled_from([1e-3, 1.0, 10.0, 1e3]))))
    one = draw(
        st.sampled_from(
            [
                st.floats(-scale, scale, width=width, allow_subnormal=False),
                st.sampled_from([-scale, 0.0, scale / 2, scale]),
                st.just(scale),
            ]
        )
    )
    mixed = st.lists(one, min_size=n_classes, max_size=n_classes)
    constant = one.map(lambda z: [z] * n_classes)
    row = st.one_of(mixed, mixed, mixed, constant)
    logits = draw(st.lists(row, min_size=n_rows, max_size=n_rows))
    present = draw(st.lists(st.integers(0, n_classes - 1), min_size=1, unique=True))
    labels = draw(st.lists(st.sampled_from(present), min_size=n_rows, max_size=n_rows))
    return LogitCase(np.array(logits, dtype=dtype), np.array(labels, dtype=np.int64))


# Seeded batches -----------------------------------------------------------------------------------


def _calibrated(rng: np.random.Generator, n: int) -> Floats:
    return rng.random(n)


def _rounded(rng: np.random.Generator, n: int) -> Floats:
    return rng.integers(0, 11, n) / 10


def _confident(rng: np.random.Generator, n: int) -> Floats:
    return 1.0 - 10.0 ** rng.uniform(-16, 0, n)


def _constant(rng: np.random.Generator, n: int) -> Floats:
    return np.full(n, rng.choice([0.0, 1.0, 0.5, 0.1, rng.random()]))


def _pooled(rng: np.random.Generator, n: int) -> Floats:
    pool = [SATURATED, TIED, EDGES, TINY, _neighbours(float(rng.uniform(0.01, 0.99)))]
    return rng.choice(np.array(pool[rng.integers(len(pool))]), n)


def _blended(rng: np.random.Generator, n: int) -> Floats:
    return np.where(rng.random(n) < 0.5, _calibrated(rng, n), _pooled(rng, n))


SCORE_MAKERS: list[Callable[[np.random.Generator, int], Floats]] = [
    _calibrated,
    _rounded,
    _confident,
    _constant,
    _pooled,
    _blended,
]


def seeded_events(
    seed: int, n_cases: int, *, min_size: int = 1, max_size: int = 30
) -> Iterator[EventCase]:
    """Small event cases, each kind of score in turn; hits calibrated, random or all the same."""
    rng = np.random.default_rng(seed)
    for case in range(n_cases):
        n = min_size if case % 17 == 0 else int(rng.integers(min_size, max_size + 1))
        scores = SCORE_MAKERS[case % len(SCORE_MAKERS)](rng, n)
        rates = [scores, np.full(n, rng.random()), np.zeros(n), np.ones(n)]
        rate = rates[int(rng.choice(4, p=[0.5, 0.3, 0.1, 0.1]))]
        yield EventCase(scores, (rng.random(n) < rate).astype(np.int64))


def overconfident(
    rng: np.random.Generator, n_rows: int = 120, n_classes: int = 4, temperature: float = 2.5
) -> LogitCase:
    """Logits of a model whose best temperature is near the one given."""
    logits = temperature * rng.normal(scale=1.5, size=(n_rows, n_classes))
    labels = (logits / temperature + rng.gumbel(size=logits.shape)).argmax(axis=1)
    return LogitCase(logits, labels.astype(np.int64))


def seeded_logit_sets(seed: int, n_cases: int, *, max_rows: int = 12) -> Iterator[LogitCase]:
    """Small logit sets: any scale up to +-1e3, ties, constant rows, an absent class, float32."""
    rng = np.random.default_rng(seed)
    for case in range(n_cases):
        n_rows = 1 if case % 19 == 0 else int(rng.integers(1, max_rows + 1))
        n_classes = 2 if case % 5 == 0 else int(rng.integers(2, 8))
        scale = [1e-3, 0.5, 1.0, 3.0, 30.0, 1e3][case % 6]
        logits = scale * rng.uniform(-1, 1, (n_rows, n_classes))
        if case % 4 == 0:
            logits = scale * rng.integers(-2, 3, (n_rows, n_classes)) / 2
        if case % 3 == 0:
            logits[rng.random(n_rows) < 0.3] = scale * rng.uniform(-1, 1)
        labels = rng.integers(0, n_classes, n_rows)
        if case % 2 == 0:
            noisy = logits + scale * rng.gumbel(size=logits.shape)
            labels = noisy.argmax(axis=1)
        if case % 7 == 0:
            labels = np.minimum(labels, n_classes - 2)
        dtype = np.float32 if case % 3 == 1 else np.float64
        yield LogitCase(logits.astype(dtype), labels.astype(np.int64))
