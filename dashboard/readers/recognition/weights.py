"""What each evidence is worth, and what a reading of a table is."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dashboard.readers.recognition.candidates import Scores

WEIGHTS: Mapping[str, float] = {
    # the outcome by itself
    "called the outcome": 4.0,
    "called an outcome": 2.0,
    "says what happened": 2.0,
    "cells say what happened": 1.0,
    "two values": 0.5,
    "last of the columns": 1.5,
    "first of the columns": 0.7,
    "0 and 1 a class": 2.0,
    "called something else": -2.5,
    "cells say the sex": -4.0,
    "cells name sets": -8.0,
    "called a prediction": -3.0,
    "called correct or wrong": -2.0,
    "numbers not from 0 or 1": -2.0,
    "many values": -2.0,
    # the score by itself
    "called a score": 3.0,
    "surely called a score": 1.0,
    "from 0 to 1": 2.5,
    "percent": 2.0,
    "from 0 to 100": -1.5,
    "as logits are": -1.0,
    "neither shares nor logits": -3.0,
    "whole numbers": -1.0,
    "few values": -1.0,
    "called another number": -3.5,
    "called unsure": -6.0,
    "counts up": -5.0,
    "named as an id": -3.0,
    "one of several": -9.0,
    # one score beside an outcome, or beside whether the prediction was right
    "one score": 2.0,
    "not two values": -7.0,
    "rises with the score": 7.0,
    "rises most": 2.0,
    "foretold": 3.0,
    "no relation": -1.5,
    "same words": 1.5,
    "cut from the score": -3.0,
    # a score of the predicted class
    "called a confidence": 1.5,
    "called the prediction": 3.0,
    "same classes": 2.0,
    "other classes": -8.0,
    "below chance": -8.0,
    "right beyond luck": 2.0,
    "called correct": 4.0,
    "cells say right and wrong": 3.0,
    # one column a class
    "sums": 4.0,
    "mirrored": 4.0,
    "no sums": -4.0,
    "named as scores": 3.0,
    "numbered": 1.0,
    "named by the cells": 4.0,
    "a list": 4.0,
    "as many as classes": 1.0,
    "alike around 0": 2.5,
    "too few for the classes": -8.0,
    "largest at the outcome": 3.0,
    "largest of as many": 4.0,
    "always the largest": -5.0,
    "nothing names them": -2.0,
    # ranks
    "ranks": 24.0,
    # pieces
    "no outcome": 1.0,
    "an outcome beside": -3.0,
    "no score": 1.0,
}
"""What each evidence is worth."""


@dataclass(frozen=True)
class Hypothesis:
    """A reading of the columns that matter, by their places, with what speaks for it.

    The outcome is the column of the true class, or one of 0 and 1 for each class.
    """

    scores: Scores | None
    outcome: tuple[int, ...] = ()
    prediction: int | None = None
    correct: int | None = None
    evidence: Mapping[str, float] = field(default_factory=dict, compare=False)

    @property
    def total(self) -> float:
        """Sum of the evidence."""
        return sum(self.evidence.values())

    @property
    def is_whole(self) -> bool:
        """Whether it has both scores and what is true."""
        return self.scores is not None and (bool(self.outcome) or self.correct is not None)


def worth(**strengths: float) -> dict[str, float]:
    """Return evidence by its name, its weight times its strength."""
    return times({name.replace("_", " "): strength for name, strength in strengths.items()})


def times(found: Mapping[str, float]) -> dict[str, float]:
    """Multiply how strong each evidence is by its weight."""
    return {name: WEIGHTS[name] * float(s) for name, s in found.items() if s}
