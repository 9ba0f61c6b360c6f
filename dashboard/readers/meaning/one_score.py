"""A single column of scores: probabilities of class 1, percentages of them, or logits."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dashboard.readers.binary.npy import is_whole
from dashboard.readers.contents import SET_NAMES, Options
from dashboard.readers.meaning.measured import Measured, outside
from dashboard.readers.meaning.partly import scores_within
from dashboard.readers.meaning.top_scores import HIGHEST_MARK
from dashboard.readers.refusal import FileError, quoted

_FEW = 20
_TELLING_WORDS: Mapping[str, frozenset[str]] = {
    "percent": frozenset({"%", "percent", "percentage", "pct", "prozent", "pourcent"}),
    "probability": frozenset(
        {"risk", "risiko", "risque", "prob", "proba", "probability", "wahrscheinlichkeit"}
    ),
}
_BESIDE = frozenset(
    {"predicted", "pred", "estimated", "confidence", "chance", "likelihood", "in", "of", "the",
     "model", "event", "outcome", "positive", "1"}
)  # fmt: skip
"""What else may be in the heading of a probability, besides words of the outcome."""

_WORD = re.compile(r"%|[^\W\d_]+|\d+")

_LOG_ODDS = re.compile(
    r"logit|log[\s_-]?odds|linear[\s_.-]?pred|(?:\A|[\s_])(?:lp|linpred)(?:\Z|[\s_])"
)

_RAW = re.compile(r"logit|decision|margin|(?<![a-z])raw(?![a-z])", re.IGNORECASE)
"""What scores are called that are outside 0 to 1 by nature, though most may be within."""


@dataclass(frozen=True)
class Reading:
    """What the values were taken for, and why; ``natural`` logits are logarithms of shares."""

    kind: Literal["logits", "probabilities"]
    found: str
    repairs: tuple[str, ...] = ()
    divisor: float = 1.0
    rescaled: bool = False
    doubts: tuple[str, ...] = ()
    natural: bool = False


def judge_scores(rows: Measured, options: Options) -> Reading:
    """Read a single column: the probability, or the logit, of class 1."""
    auto, called = options.values == "auto", _called(rows)
    if not rows.n_outside:
        said = "Probabilities of class 1, because every score is within 0 to 1."
        doubts = (*_of_prediction(rows), *_called_otherwise(rows, called))
        return Reading("probabilities", said, doubts=doubts)
    if rows.low >= 0 and 1 < rows.high <= 100 and _is_percent(rows, options, called):
        repair = f"Percentages were divided by 100 in all {len(rows):,} rows."
        found = "Probabilities of class 1, as you said."
        if auto:
            found = (
                f"Probabilities of class 1 in percent, because the scores are called"
                f" {_heading(rows)} and are from {rows.low:.4g} to {rows.high:.4g}."
            )
        return Reading("probabilities", found, (repair,), 100.0, doubts=_of_one_percent(rows))
    if auto and called == "logits":
        found = f"Logits of class 1 against class 0, as the heading {_heading(rows)} says"
        n_outside = f"{rows.n_outside:,} of {len(rows):,} scores are outside 0 to 1"
        return Reading("logits", f"{found}; {n_outside}.")
    if auto and rows.low < 0 and rows.high <= 0 and len(rows) >= _FEW:
        raise FileError(
            "scores", f"one column from {rows.low:.4g} to {rows.high:.4g}, never above 0",
            "probabilities (not their logarithms) of class 1, or your word that these are logits",
        )  # fmt: skip
    if auto and rows.low < 0:
        doubts = () if _RAW.search(_heading(rows)) else scores_within(rows)
        found = (
            f"Logits of class 1 against class 0, because {rows.n_outside:,} of {len(rows):,} scores"
            " are outside 0 to 1."
        )
        return Reading("logits", found, doubts=doubts)
    raise _unfit(rows, options)


def _unfit(rows: Measured, options: Options) -> FileError:
    """Refuse scores that no reading fits, with the readings that the user may choose."""
    wanted = "probabilities of class 1, or your word on what they are"
    if options.values == "auto" and 2 <= rows.high <= 100:
        tenths = " (of tenths, a tenth of each number)" * (_are_marks(rows) and rows.high <= 10)
        wanted = (
            f"probabilities of class 1{tenths}, or your word on the values: probabilities if they"
            " are percent, to be divided by 100, or logits"
        )
    return FileError(
        "scores",
        f"one column from {rows.low:.4g} to {rows.high:.4g}, outside 0 to 1 {rows.where(outside)}",
        wanted,
    )


def _is_percent(rows: Measured, options: Options, called: str) -> bool:
    """Tell percentages: by the user's word, by their name, or since most risks are above 1.

    Whole numbers of which none is large may be marks of a scale.
    """
    if options.values == "probabilities":
        return rows.high >= 2
    most_above = rows.high >= 2 and 2 * rows.n_outside >= len(rows) and not _are_marks(rows)
    return called == "percent" or (called == "probability" and most_above)


def _are_marks(rows: Measured) -> bool:
    """Tell whole numbers of which none is large."""
    return rows.low >= 0 and rows.high <= HIGHEST_MARK and all(map(is_whole, rows.tables))


def _heading(rows: Measured) -> str:
    names = next((raw.headings for raw in rows.sets.values() if raw.headings), None)
    return quoted((names or ("",))[0], 30)


def _called(rows: Measured) -> str:
    """Tell by the headings of all sets whether scores are percent, probabilities or logits."""
    names = [raw.headings[0].lower() for raw in rows.sets.values() if raw.headings]
    words = [{*_WORD.findall(name)} for name in names]
    if not words or len(words) < len(rows.sets):
        return ""
    known = _BESIDE.union(_of_outcome(rows), *_TELLING_WORDS.values())
    for kind, telling in _TELLING_WORDS.items():
        if all(part & telling and part <= known for part in words):
            return kind
    return "logits" if all(map(_LOG_ODDS.search, names)) else ""


def _of_outcome(rows: Measured) -> set[str]:
    """Give the words of the labels' own heading and of class 1."""
    texts = [raw.label_name or "" for raw in rows.sets.values()]
    texts += [raw.label_texts[-1] for raw in rows.sets.values() if raw.label_texts]
    return {word for text in texts for word in _WORD.findall(text.lower())} - {"class"}


def _of_prediction(rows: Measured) -> tuple[str, ...]:
    """Doubt scores that are never below one half: perhaps those of the predicted class."""
    if len(rows) < _FEW or rows.low < 0.5:
        return ()
    n_rows = f"No score of {len(rows):,} is below 0.5"
    return (f"{n_rows}, so they may be of the predicted class instead of class 1.",)


def _called_otherwise(rows: Measured, called: str) -> tuple[str, ...]:
    """Doubt scores within 0 to 1 that are called percent, or logits."""
    signed = any(raw.divided for raw in rows.sets.values())
    if called not in ("percent", "logits") or signed:
        return ()
    mend = "divide them by 100 in the file" if called == "percent" else "say that they are logits"
    said = (
        f"Every score is within 0 to 1, so they were read as probabilities, although they are"
        f" called {_heading(rows)}; if they are {called}, {mend}."
    )
    return (said,)


def _of_one_percent(rows: Measured) -> tuple[str, ...]:
    """Doubt one set of percentages that are all at most 1."""
    return tuple(
        f"No score of the {SET_NAMES[role]} is above 1, so they may be no percentages."
        for role, raw in rows.sets.items()
        if len(rows.sets) > 1 and np.asarray(raw.table).max() <= 1
    )
