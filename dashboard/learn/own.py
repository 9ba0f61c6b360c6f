"""Questions with two answers for "Your own calibration", read from a file of their own."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from urllib.parse import parse_qs

import numpy as np
from numpy.typing import ArrayLike

from calibcore.binning import BinTable
from calibcore.cumulative import cumulative_curves
from calibcore.data import EventScores
from calibcore.evaluation import Side, evaluate
from calibcore.events import TopR
from calibcore.fitting import prepare
from calibcore.metrics import Options, event_brier, event_nll
from calibcore.reliability import BinnedReliability
from calibcore.reliability.bins import with_intervals
from calibcore.results import result_class
from calibcore.validation import Floats
from dashboard.learn import garments
from dashboard.learn.questions import N_QUESTIONS, OwnQuestion, draw_facts

LEVELS = (*range(50, 100, 5), 99, 100)
"""Confidences, in percent. Below 50 one would choose the other answer."""

CERTAIN = 100
"""The level that is not offered unless it is asked for: wrong once, its NLL is infinite."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWX"
"""Letter 2 k stands for a wrong answer with confidence `LEVELS` [k], the one after it for a right
one."""

MOST_SEED = 9_999

N_BINS, N_MORE = 5, 5
"""Bins from 50 to 100%; how many times as many answers would show more."""

MOST_CODES = 1_000

SETS: Mapping[str, Callable[[int], tuple[OwnQuestion, ...]]] = {
    "facts": draw_facts,
    "pictures": garments.draw_pictures,
}
"""How questions are drawn, by the word of their set in the address."""


@dataclass(frozen=True)
class OwnAnswer:
    """An answer."""

    level: int
    """Confidence in percent, of `LEVELS`."""
    right: bool
    """Whether it was right."""


def code_of(answers: Sequence[OwnAnswer]) -> str:
    """Write answers as a code, a letter each."""
    return "".join(LETTERS[2 * LEVELS.index(one.level) + one.right] for one in answers)


def answers_of(code: str) -> tuple[OwnAnswer, ...] | None:
    """Read the answers that a code stands for; None where it is no code of `N_QUESTIONS` letters.

    Spaces are passed over, and small letters read as capitals.
    """
    letters = "".join(code.split()).upper()
    if not code.isascii() or len(letters) != N_QUESTIONS or not set(letters) <= set(LETTERS):
        return None
    places = (LETTERS.index(letter) for letter in letters)
    return tuple(OwnAnswer(LEVELS[place // 2], bool(place % 2)) for place in places)


def scores_of(answers: Sequence[OwnAnswer]) -> EventScores:
    """Return confidences as scores, and whether each answer was right as the outcome."""
    return EventScores(
        np.array([one.level for one in answers]) / 100, [one.right for one in answers]
    )


@result_class
class Result:
    """What answers show."""

    side: Side
    """The core's evaluation of them, from which the four graphs are drawn."""
    binned: BinnedReliability
    """In `N_BINS` bins from 50 to 100%, with Wilson intervals; each holds its lower end, the last
    one 100% too.
    """
    brier: float
    nll: float
    """Of the confidences; the NLL, in nats, is infinite where 100% was wrong."""
    brier_of_half: float
    nll_of_half: float
    """What saying 50% to each question would have given."""
    limit_of_more: float
    """KS error that `N_MORE` times as many such answers exceed in 5% of cases at most, if perfectly
    calibrated.
    """

    @property
    def n_answers(self) -> int:
        """Number of answers."""
        return self.side.event.n_samples

    @property
    def mean_confidence(self) -> float:
        """Mean of the confidences."""
        return float(self.side.curves.cum_score[-1])

    @property
    def right(self) -> float:
        """Share of the answers that were right."""
        return float(self.side.curves.cum_hits[-1])

    @property
    def gap(self) -> float:
        """Mean confidence minus share right."""
        return self.mean_confidence - self.right


def result_of(event: EventScores) -> Result:
    """Evaluate answers.

    ``event``: confidences of 50% or more, and whether each answer was right.
    """
    side = evaluate(prepare(event, TopR(1)), TopR(1), None, Options(n_bins=N_BINS)).before
    scores, hits = event.scores, event.hits
    half = np.full(event.n_samples, 0.5)
    certain_and_wrong = bool(np.any((scores == 1) & (hits == 0)))
    more = cumulative_curves(np.tile(scores, N_MORE), np.tile(hits, N_MORE))
    return Result(
        side=side,
        binned=binned_from_half(event),
        brier=event_brier(scores, hits),
        nll=math.inf if certain_and_wrong else event_nll(scores, hits),
        brier_of_half=event_brier(half, hits),
        nll_of_half=event_nll(half, hits),
        limit_of_more=more.ks_null_95,
    )


@cache
def network_on_all() -> Result:
    """Evaluate the network on all pictures of which `garments` draws."""
    return result_of(garments.network_on_all())


def binned_from_half(event: EventScores) -> BinnedReliability:
    """Gather confidences in `N_BINS` bins from 50 to 100%, with Wilson intervals."""
    edges = np.linspace(50, 100, N_BINS + 1) / 100
    place = np.digitize(event.scores, edges[1:-1])

    def sums(values: ArrayLike) -> Floats:
        return np.bincount(place, values, N_BINS).astype(np.float64)

    counts = np.bincount(place, minlength=N_BINS)
    with np.errstate(invalid="ignore"):  # an empty bin has no mean: 0 / 0 is NaN
        table = BinTable(edges, counts, sums(event.scores) / counts, sums(event.hits) / counts)
    return with_intervals(table, "wilson", 0.95)


def _code_in(line: str) -> str:
    """Return the code of a line: the end of a link, or what follows a name and a colon."""
    text = line.strip()
    if "code=" in text:
        return text.partition("code=")[2].partition("&")[0]
    return text.rpartition(":")[2] if ":" in text else text


def _holds_several(line: str) -> bool:
    """Return whether a line has more than one code, of which one would be lost."""
    return sum(answers_of(word) is not None for word in re.split(r"[^A-Za-z]+", line)) > 1


@dataclass(frozen=True)
class PastedCodes:
    """Codes that were pasted, one a line."""

    people: tuple[tuple[OwnAnswer, ...], ...]
    """Answers of each code that could be read."""
    refused: tuple[int, ...]
    """Lines, counted from 1, that are no code."""
    repeated: tuple[int, ...]
    """Lines that repeat a code above; they are counted once."""
    left_out: int
    """Codes beyond the first `MOST_CODES`."""
    questions: tuple[tuple[str, str], ...]
    """Set and seed of the questions that links name, each once; a code alone names none."""

    @property
    def together(self) -> EventScores:
        """All answers of all people."""
        return scores_of([one for answers in self.people for one in answers])


def _questions_in(line: str) -> tuple[str, str] | None:
    """Return set and seed of the questions that a link names; None for a code alone."""
    query = parse_qs(line.strip().partition("?")[2])
    (which, seed) = (query.get(name, [""])[-1] for name in ("set", "seed"))
    return (which, seed[:9]) if which in SETS and seed.isdigit() else None


def collect(text: str) -> PastedCodes:
    """Read codes, one a line; empty lines are passed over, and so is a name before a code."""
    people: dict[tuple[OwnAnswer, ...], None] = {}
    refused: list[int] = []
    repeated: list[int] = []
    questions: dict[tuple[str, str], None] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        answers = None if _holds_several(line) else answers_of(_code_in(line))
        if answers is None:
            refused.append(number)
            continue
        if (of := _questions_in(line)) is not None:
            questions[of] = None
        if answers in people:
            repeated.append(number)
        else:
            people[answers] = None
    every = tuple(people)
    left_out = max(len(every) - MOST_CODES, 0)
    return PastedCodes(
        every[:MOST_CODES], tuple(refused), tuple(repeated), left_out, tuple(questions)
    )
