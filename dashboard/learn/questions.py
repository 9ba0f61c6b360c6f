"""Questions with two answers for "Your own calibration", read from a file of their own."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

N_QUESTIONS = 20
"""Questions that are drawn at once."""

_FILE = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True)
class OwnQuestion:
    """A question with two answers."""

    topic: str
    ask: str
    """What it is about; its text."""
    answers: tuple[str, str]
    """In the order in which they are shown."""
    right: int
    """Place of the right one."""
    fact: str
    source: str
    """Why it is right, and where that can be looked up."""
    row: int | None = None
    """Row of the test set whose picture is asked about; None for a question in words."""


@cache
def facts() -> tuple[OwnQuestion, ...]:
    """Return all questions of general knowledge."""
    entries = tomllib.loads(_FILE.read_text("utf-8"))["question"]
    return tuple(
        OwnQuestion(
            one["topic"],
            one["ask"],
            (one["answers"][0], one["answers"][1]),
            one["right"] - 1,
            one["fact"],
            one["source"],
        )
        for one in entries
    )


def draw_facts(seed: int) -> tuple[OwnQuestion, ...]:
    """Draw `N_QUESTIONS` questions; the same seed draws the same, on any machine.

    >>> len(set(draw_facts(7))), draw_facts(7) == draw_facts(7)
    (20, True)
    """
    every = facts()
    places = np.random.default_rng([seed, 0]).choice(len(every), N_QUESTIONS, replace=False)
    return tuple(every[place] for place in places)
