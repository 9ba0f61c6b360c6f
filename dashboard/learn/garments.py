"""Pictures that you and a network sort: its two likeliest classes are the answers to choose from.

The pictures are some rows of the test set of `NETWORK`, drawn by score alone, so that they are
neither easier nor harder than other pictures of the same score.
"""

import struct
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calibcore.data import EventScores
from calibcore.validation import Floats, Logits
from dashboard.learn import data
from dashboard.learn.questions import N_QUESTIONS, OwnQuestion

LEAST, MOST, N_RANGES = 0.5, 1.0, 5
"""Of the network's score between two classes, and ranges of it with as many pictures each."""

LICENCE = "Fashion-MNIST, \u00a9 2017 Zalando SE, MIT licence."

_FILE = Path(__file__).with_suffix(".npz")


@dataclass(frozen=True)
class Pairs:
    """The two likeliest classes of each row, and the score of the first between them."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    """Classes; shape (n_samples,)."""
    score: Floats
    """In [0.5, 1]: probability of the first, divided by that of both; shape (n_samples,)."""


def pairs_of(logits: Logits) -> Pairs:
    """Find the two likeliest classes of each row.

    ``logits``: of two classes or more; shape (n_samples, n_classes).

    >>> pairs = pairs_of(np.log([[0.1, 0.3, 0.6]]))
    >>> int(pairs.first[0]), int(pairs.second[0]), round(float(pairs.score[0]), 3)
    (2, 1, 0.667)
    """
    order = np.argsort(logits, axis=1, kind="stable")
    first, second = order[:, -1], order[:, -2]
    rows = np.arange(len(logits))
    lead = logits[rows, first].astype(np.float64) - logits[rows, second]
    return Pairs(first, second, 1 / (1 + np.exp(-lead)))


def range_of(score: Floats) -> NDArray[np.intp]:
    """Return the range that each score is in: as wide as each other, lower ends included."""
    inner = np.round(np.linspace(LEAST, MOST, N_RANGES + 1), 9)[1:-1]
    return np.digitize(score, inner)


@cache
def pictures() -> dict[int, NDArray[np.uint8]]:
    """Return the pictures by their row in the test set, each of shape (28, 28)."""
    with np.load(_FILE, allow_pickle=False) as stored:
        rows, pixels = stored["rows"], stored["pixels"]
    return {int(row): picture for row, picture in zip(rows, pixels, strict=True)}


def png_of(row: int, times: int) -> bytes:
    """Return a picture as a PNG file, each of its pixels so many wide and high."""
    pixels = np.kron(pictures()[row], np.ones((times, times), dtype=np.uint8))
    height, width = pixels.shape
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)  # 0: as they are
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)  # 8 bits of grey
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in parts
    )


@cache
def _pairs() -> Pairs:
    return pairs_of(data.sample().test.logits)


def draw_pictures(seed: int) -> tuple[OwnQuestion, ...]:
    """Draw `N_QUESTIONS` pictures, as many of each range of the network's score, in any order."""
    rng = np.random.default_rng([seed, 1])
    rows = np.array(list(pictures()))
    ranges = range_of(_pairs().score[rows])
    chosen = np.concatenate(
        [
            rng.choice(rows[ranges == k], N_QUESTIONS // N_RANGES, replace=False)
            for k in range(N_RANGES)
        ]
    )
    return tuple(_question(int(row)) for row in rng.permutation(chosen))


def _question(row: int) -> OwnQuestion:
    pairs, test = _pairs(), data.sample().test
    offered = sorted((int(pairs.first[row]), int(pairs.second[row])))
    names = test.class_names
    return OwnQuestion(
        topic="garments",
        ask="What is this?",
        answers=(names[offered[0]], names[offered[1]]),
        right=offered.index(int(test.labels[row])),
        fact="",
        source=f"Fashion-MNIST, test picture {row:,}",
        row=row,
    )


def network_scores(questions: tuple[OwnQuestion, ...]) -> EventScores:
    """Return the network's score of its answer to each question, and whether it was right.

    Its answer is the likelier of the two classes, its score the probability between the two.
    """
    rows = np.array([one.row for one in questions], dtype=np.intp)
    pairs, labels = _pairs(), data.sample().test.labels
    return EventScores(pairs.score[rows], pairs.first[rows] == labels[rows])


@cache
def network_on_all() -> EventScores:
    """Return the same of every row whose true class is among the two likeliest."""
    pairs, labels = _pairs(), data.sample().test.labels
    answerable = (pairs.first == labels) | (pairs.second == labels)
    return EventScores(pairs.score[answerable], (pairs.first == labels)[answerable])
