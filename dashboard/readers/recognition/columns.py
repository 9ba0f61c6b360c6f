"""Which columns may hold what: outcomes, the score of an event, values of classes, ranks."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.recognition import vocabulary as terms
from dashboard.readers.recognition.features import MANY, Feature, says_event, table_of
from dashboard.readers.recognition.outcomes import right_or_wrong
from dashboard.readers.recognition.ranks import spelt_alike
from dashboard.readers.recognition.set_names import flag_of
from dashboard.readers.recognition.vocabulary import (
    LABEL_WORDS,
    PREDICTION_WORDS,
    begins,
    folded,
    sets_of,
    spans_of,
    words_of,
)
from dashboard.readers.records import ColumnRole

_MOST_GROUPS = 40
BEYOND = 3
"""So many labels may be of no class that has a column: mistakes, which are told of as such."""

_FEW, _OFF, _MOSTLY = 12, 0.02, 0.95
_END_OF_WORD = re.compile(r"[^\W_]*\Z")
_NUMBERED = re.compile(r"([a-z_. ]*?)[_. ]*([0-9]{1,3})[_. ]*([a-z_. ]*)", re.ASCII)


@dataclass(frozen=True)
class Scores:
    """Columns that may hold what the model says: one number a row, or of each class or rank."""

    layout: Literal["one", "classes", "ranked"]
    places: tuple[int, ...]
    names: tuple[str, ...] = ()  # of the classes, as far as the headings say
    affix: str = ""  # what the headings have around the names
    ranked: tuple[int, ...] = ()  # columns of the most probable classes

    @property
    def says_score(self) -> bool:
        """Whether the words around the names of the classes are of scores."""
        return speaks_of_scores(words_of(self.affix))

    @property
    def tells(self) -> bool:
        """Whether the headings alone say that these are scores of classes."""
        return self.says_score or self.is_numbered

    @property
    def folded_names(self) -> set[str]:
        """Names of the classes in the spelling in which they are compared."""
        return {folded(name) for name in self.names}

    @property
    def is_numbered(self) -> bool:
        """Whether the classes are called by numbers from 0 or from 1."""
        if not all(name.isascii() and name.isdigit() for name in self.names):
            return False
        numbers = sorted(int(name[:9]) for name in self.names)
        return numbers in (list(range(len(numbers))), list(range(1, len(numbers) + 1)))


def speaks_of_scores(words: Iterable[str]) -> bool:
    """Return whether one of the words of a heading is of scores."""
    return begins(words, terms.SCORE_STEMS)


def is_called_confidence(feature: Feature) -> bool:
    """Return whether a heading is that of the score of the predicted class."""
    called = feature.key in terms.CONFIDENCE_KEYS or begins(feature.words, terms.CONFIDENCE_STEMS)
    return called and not begins(feature.words, terms.UNSURE_STEMS)


def claims_score(feature: Feature) -> int:
    """Return how surely a heading says that a column is the score, from 0 to 2."""
    words = {*feature.words} - {"%", "pct", "percent"}
    if words & terms.DATE_WORDS or begins(words, terms.UNSURE_STEMS):
        return 0
    if (
        begins(words, terms.SURE_SCORE_STEMS + terms.RISK_STEMS)
        or feature.key in terms.CONFIDENCE_KEYS
    ):
        return 2
    return int(speaks_of_scores(words) and not begins(words, terms.MEASURE_STEMS))


def _is_called_value(feature: Feature) -> bool:
    return is_called_confidence(feature) or bool({*feature.words} & terms.VALUE_WORDS)


def may_say_classes(feature: Feature) -> bool:
    """Return whether a column may say a class in every row."""
    confidence = is_called_confidence(feature) and feature.key not in terms.PREDICTED_KEYS
    counts = feature.whole and (feature.low >= -1 or feature.key in terms.LABEL_KEYS)
    counts = (counts or (feature.is_number and feature.main is not None)) and not confidence
    fits = feature.kind == "text" or counts
    n_rows = len(feature.column.values)
    few = feature.n_kinds <= 20 or 2 * feature.n_kinds < n_rows
    if feature.is_number and not few:
        few = feature.low >= 0 and feature.high <= MANY and not feature.is_unique
    least = 1 if feature.key in terms.LABEL_KEYS | terms.PREDICTED_KEYS | terms.CORRECT_KEYS else 2
    few = few and least <= feature.n_kinds <= MANY
    return fits and few and not feature.is_date


def lone_scores(features: Sequence[Feature], numbers: Iterable[int]) -> list[Scores]:
    """List the columns of which one may be the score of the event."""
    fits = [
        f for f in features
        if f.is_number and not f.is_decided
        and (f.n_kinds > 2 or not f.whole or (f.high > 1 and _is_called_value(f)))
        and (f.n_kinds > 1 or speaks_of_scores(f.words))
        and (f.n_kinds == 2 or f.main is None or speaks_of_scores(f.words))
    ]  # fmt: skip
    chosen = {f.place for f in fits} | {k for k in numbers if features[k].kind != "none"}
    return [Scores("one", (place,)) for place in sorted(chosen)]


def groups_of(features: Sequence[Feature], outcomes: Sequence[Feature]) -> list[Scores]:
    """List the groups of columns of which each may hold the value of one class.

    Those in which all numbers are 0 or 1 may be the outcome, a column a class.
    """
    numbers = [f for f in features if f.is_number]
    kinds = [{folded(kind) for kind in f.kinds[0]} for f in outcomes if f.n_kinds <= MANY]
    scores: dict[tuple[int, ...], Scores] = {}
    for f in features:
        if f.kind == "list" and 2 <= f.column.values.shape[1] <= MANY:
            scores[f.place,] = Scores("classes", (f.place,), affix=f.name)
    decided = {f.place for f in numbers if f.is_decided}
    for group in by_affix(numbers):
        if _names_classes(group, kinds) or decided.issuperset(group.places):
            scores.setdefault(group.places, group)
    for group in (*_by_cells(numbers, kinds), *_by_sum(numbers), *_all_left(numbers)):
        scores.setdefault(group.places, group)
    return list(scores.values())[:_MOST_GROUPS]


def _names_classes(group: Scores, kinds: Sequence[set[str]]) -> bool:
    return group.tells or any(own <= group.folded_names for own in kinds)


def by_affix(columns: Sequence[Feature]) -> Iterator[Scores]:
    """Group headings by what they begin or end with, up to three words."""
    groups: dict[tuple[str, bool], list[tuple[Feature, str]]] = {}
    for f in columns:
        spans = spans_of(f.name) if f.words else []
        if len(spans) == 1 and f.name.strip().isdigit():
            groups.setdefault(("", True), []).append((f, f.name.strip()))
        for start, _ in (*spans[1:4], *spans[4:][-1:]):
            rest = f.name[start:].strip()
            groups.setdefault((f.name[:start].lower(), True), []).append((f, rest))
        for _, end in spans[-4:-1]:
            rest = f.name[:end].strip()
            groups.setdefault((f.name[end:].lower(), False), []).append((f, rest))
    for (affix, _), members in groups.items():
        yield from _group(affix, _without_inner(members))


def _without_inner(members: list[tuple[Feature, str]]) -> list[tuple[Feature, str]]:
    """Leave out what measures the others, such as ``p_max`` or ``p_std_cat`` beside ``p_cat``."""
    digits = [(f, rest) for f, rest in members if rest.isascii() and rest.isdigit()]
    if len(digits) > 1:
        return digits
    return [(f, rest) for f, rest in members if not _measures(rest)] or members


def _measures(rest: str) -> bool:
    words = words_of(rest)
    return begins(words[:1] + words[-1:], terms.UNSURE_STEMS) or "max" in words


def _group(affix: str, members: list[tuple[Feature, str]]) -> Iterator[Scores]:
    rests = [rest for _, rest in members]
    if len(members) < 2 or not all(rests) or len(set(rests)) != len(rests):
        return
    after = _shared([rest[::-1] for rest in rests])[::-1]
    after = re.sub(r"\A[^\W_]*", "", after)
    names = [rest[: len(rest) - len(after)].strip(" _-.") or rest for rest in rests]
    before = _shared(names)
    before = before[: len(before) - len((_END_OF_WORD.search(before) or [""])[0])]
    names = [name[len(before) :] for name in names]
    if all(names) and len(set(names)) == len(names):
        places = tuple(f.place for f, _ in members)
        yield Scores("classes", places, tuple(names), f"{affix} {before} {after}")


def _shared(texts: Sequence[str]) -> str:
    """Return the beginning that all texts share."""
    first, last = min(texts), max(texts)
    differ = (k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return first[: next(differ, min(len(first), len(last)))]


def _by_cells(numbers: Sequence[Feature], kinds: Sequence[set[str]]) -> Iterator[Scores]:
    """Group the columns that are called as the cells of another column."""
    there = {folded(f.name): f for f in numbers}
    for own in kinds:
        called = own & there.keys()
        if len(called) > 1 and len(own - called) <= BEYOND:
            members = sorted((there[kind] for kind in called), key=lambda f: f.place)
            places = tuple(f.place for f in members)
            yield Scores("classes", places, tuple(f.name.strip() for f in members))


def _by_sum(numbers: Sequence[Feature]) -> Iterator[Scores]:
    """Group neighbours, or two of few columns, of which each row has a sum of 1 or 100."""
    shares = [f for f in numbers if f.low >= 0 and f.high <= 100 and not f.is_decided]
    runs: list[list[Feature]] = []
    for f in shares:
        near = runs and runs[-1][-1].place + 1 == f.place and runs[-1][-1].is_share == f.is_share
        runs = [*runs[:-1], [*runs[-1], f]] if near else [*runs, [f]]
    for run in runs:
        for members in (run, run[1:], run[:-1]):
            if len(members) > 2 and sums_to(table_of(members)):
                yield _bare(members)
                break
    if len(shares) <= _FEW and shares:
        table = table_of(shares)
        for k, first in enumerate(shares):
            for j in range(k + 1, len(shares)):
                if sums_to(table[:, [k, j]]):
                    yield _bare([first, shares[j]])


def _all_left(numbers: Sequence[Feature]) -> Iterator[Scores]:
    """Group all columns with fractions, as logits without telling names may be."""
    members = [
        f for f in numbers
        if (not f.whole or f.low < 0 < f.high) and not is_called_confidence(f)
    ]  # fmt: skip
    if len(members) > 1:
        yield _bare(members)


def _bare(members: Sequence[Feature]) -> Scores:
    names = [f.name.strip() for f in members]
    group = next(_group("", [*zip(members, names, strict=True)]), None)
    return group or Scores("classes", tuple(f.place for f in members), tuple(names))


def sums_to(table: NDArray[np.float64]) -> float:
    """Return 1 or 100 if nearly all rows have this sum, else 0."""
    known = table[np.isfinite(table).all(axis=1)]
    if not len(known):
        return 0.0
    sums = known.sum(axis=1)
    for whole in (1.0, 100.0):
        if np.mean(np.abs(sums - whole) <= _OFF * whole) >= 0.98 and known.min() >= -_OFF:
            return whole
    return 0.0


def rank_pairs(features: Sequence[Feature]) -> list[Scores]:
    """List pairs of columns such as ``top1_class, top1_prob, top2_class, ...``."""
    stems: dict[str, dict[int, Feature]] = {}
    for f in features:
        parts = _NUMBERED.fullmatch(f.key)
        if parts:
            stems.setdefault(f"{parts[1]} {parts[3]}", {})[int(parts[2])] = f
    scores = {
        stem: group
        for stem, group in stems.items()
        if speaks_of_scores(words_of(stem))
        and all(f.is_number and (f.n_kinds > 2 or not f.whole) for f in group.values())
    }
    pairs = []
    for stem, group in stems.items():
        words, ranks = {*words_of(stem)}, sorted(group)
        named = words & (terms.CLASS_WORDS | terms.RANK_WORDS | {"pred", "prediction", "predicted"})
        same = [g for s, g in scores.items() if sorted(g) == ranks and s != stem]
        run = ranks[0] <= 1 and ranks[-1] - ranks[0] == len(ranks) - 1
        classes = all(may_say_classes(f) or f.kind == "text" for f in group.values())
        classes = classes and not all(f.is_decided for f in group.values())
        lone = len(ranks) == 1 and not words & terms.RANK_WORDS
        if named and same and run and classes and not lone and stem not in scores:
            ranked = tuple(group[k].place for k in ranks)
            places = tuple(same[0][k].place for k in ranks)
            pairs.append(Scores("ranked", places, affix=stem, ranked=ranked))
    return pairs


def lists_classes(classes: NDArray[Any], scores: NDArray[Any], words: Iterable[str]) -> bool:
    """Return whether each row lists different classes beside their scores."""
    if classes.dtype.kind == "f" and not (classes == np.rint(classes)).all():
        return False
    ordered = np.sort(classes, axis=1)
    if not (ordered == np.arange(classes.shape[1])).all() or (classes == classes[0]).all():
        called_ranks = any(word.startswith("top") or word in ("indices", "idx") for word in words)
        falls = bool((scores[:, 1:] <= scores[:, :-1]).all())
        differ = bool((ordered[:, 1:] > ordered[:, :-1]).all())
        return called_ranks and falls and differ and classes.min() >= 0
    # Scores in the order of the classes, beside their ranks or what sorts them.
    for places in (classes.astype(np.intp), np.argsort(classes, axis=1)):
        steps = np.diff(np.take_along_axis(scores, places, axis=1))
        if (steps <= 0).all() or (steps >= 0).all():
            return False
    return True


def list_pairs(features: Sequence[Feature]) -> list[Scores]:
    """List pairs of a list of classes in each row and a list of their scores, in any order.

    A list that only sorts the scores, which are then in the order of the classes, is none.
    """
    lists = [f for f in features if f.kind == "list" and f.column.values.shape[1] > 1]
    return [
        Scores("ranked", (scores.place,), ranked=(classes.place,))
        for classes in lists for scores in lists
        if classes is not scores and classes.column.values.shape == scores.column.values.shape
        and lists_classes(
            table_of([classes]), table_of([scores]),
            words_of(classes.name),
        )
    ]  # fmt: skip


def one_hot(groups: Sequence[Scores], features: Sequence[Feature]) -> list[Scores]:
    """List groups of columns of 0 and 1, or no and yes, of which in every row one is 1 or yes."""
    words = [
        f
        for f in features
        if f.kind == "text" and f.n_kinds == 2 and {*f.texts} <= terms.YES | terms.NO
    ]
    marks = {f.place: f for f in (*words, *features) if f in words or f.is_decided}
    by_name = {folded(f.name): f for f in marks.values()}
    named = [
        Scores("classes", tuple(by_name[folded(name)].place for name in group.names), group.names)
        for group in groups
        if group.names and group.folded_names <= by_name.keys()
    ]
    by_places = {}
    for group in (*groups, *by_affix(words), *named):
        if marks.keys() >= {*group.places}:
            members = [marks[place] for place in group.places]
            n_yes = sum(right_or_wrong(f.column)[f.rows].astype(np.intp) for f in members)
            if np.mean(n_yes == 1) >= _MOSTLY:
                by_places[group.places] = group
    return list(by_places.values())


# What each evidence is worth, and what a reading of a table is --------------------------------


WEIGHTS: Mapping[str, float] = {
    # the outcome by itself
    "called the outcome": 4.0,
    "called an outcome": 2.0,
    "says what happened": 2.0,
    "cells say what happened": 1.0,
    "two values": 0.5,
    "last of the columns": 1.5,
    "0 and 1 a class": 2.0,
    "called something else": -2.5,
    "cells name sets": -8.0,
    "called a prediction": -3.0,
    "called correct or wrong": -2.0,
    "many values": -2.0,
    # the score by itself
    "called a score": 3.0,
    "from 0 to 1": 2.5,
    "percent": 2.0,
    "from 0 to 100": -1.5,
    "neither shares nor logits": -3.0,
    "whole numbers": -1.0,
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
    def one(self) -> int | None:
        """Place of the score where each row has one only."""
        is_one = self.scores is not None and self.scores.layout == "one"
        return self.scores.places[0] if self.scores is not None and is_one else None

    @property
    def rises(self) -> float:
        """How much speaks for it that the score rises with the outcome."""
        return self.evidence.get("rises with the score", 0.0)

    @property
    def is_whole(self) -> bool:
        """Whether it has both scores and what is true."""
        return self.scores is not None and (bool(self.outcome) or self.correct is not None)


def worth(**strengths: float) -> dict[str, float]:
    """Return evidence by its name, its weight times its strength."""
    numbers = {name.replace("_", " "): strength for name, strength in strengths.items()}
    return {name: WEIGHTS[name] * float(s) for name, s in numbers.items() if s}


# How far columns go together: what a score foretells, and where classes are the same ----------


EVERY = 500_000
"""Rows that are looked at where the answer counts for all that follows."""

_LARGEST_LOGIT = 50


@dataclass(frozen=True)
class Relation:
    """How the numbers of some rows are above those of the others.

    The skill is the share of the Brier score of the frequency alone that is saved by taking the
    numbers for probabilities, percentages or logits, of the others where the area is below 0.5.
    """

    area: float = 0.5  # AUROC
    sure: float = 0.0  # distance of the area from 0.5 in standard errors under chance
    skill: float = 0.0

    @property
    def strength(self) -> float:
        """Rank correlation from 0 to 1, as far as it is beyond luck."""
        if abs(self.sure) < 2:
            return 0.0
        return 2 * abs(self.area - 0.5) * (1 - 1 / abs(self.sure))


def relation(score: Feature, marks: NDArray[np.int64], most: int = 0) -> Relation:
    """Return how the numbers of rows marked 1 are above those marked 0; others do not count."""
    rows, ranks = score.ranked(most) if most else score.ranks
    own = marks[rows]
    known = own >= 0
    happened = own[known] == 1
    n_first, n_rows = int(happened.sum()), len(happened)
    ranks = ranks[known]
    if min(n_first, n_rows - n_first) < 2 or not (spread := float(ranks.var(ddof=1))):
        return Relation()
    gap = float(ranks[happened].mean() - ranks[~happened].mean())
    error = float(np.sqrt(spread * (1 / n_first + 1 / (n_rows - n_first))))
    area = min(max(0.5 + gap / len(rows), 0.0), 1.0)
    skill = _skill(score, rows[known], happened if area >= 0.5 else ~happened)
    return Relation(area, gap / error, skill)


def _skill(score: Feature, rows: NDArray[np.intp], happened: NDArray[np.bool_]) -> float:
    values = score.column.values[rows].astype(np.float64)
    if score.is_share:
        p = values
    elif score.low >= 0 and score.high <= 100:
        p = values / 100
    elif score.low < 0 < score.high and max(-score.low, score.high) < _LARGEST_LOGIT:
        p = 1 / (1 + np.exp(-values))
    else:
        return 0.0
    share = float(happened.mean())
    return max(0.0, 1 - float(((p - happened) ** 2).mean()) / (share * (1 - share)))


def beyond_luck(truth: NDArray[np.int64], values: NDArray[np.int64]) -> bool:
    """Return whether two columns of classes agree more often than by chance."""
    known = truth >= 0
    truth, values = truth[known], values[known]
    if len(truth) < 5:
        return False
    kinds, places = np.unique(np.concatenate((truth, values)), return_inverse=True)
    own = np.bincount(places[: len(truth)], minlength=len(kinds)) / len(truth)
    other = np.bincount(places[len(truth) :], minlength=len(kinds)) / len(truth)
    luck = float(own @ np.where(kinds < 0, 0, other))
    error = float(np.sqrt(max(luck * (1 - luck), 1e-9) / len(truth)))
    return float((truth == values).mean()) > luck + 3 * error


def same_classes(first: Feature, second: Feature) -> bool:
    """Return whether the values of two columns are mostly the same."""
    own, other = spelt_alike(first.kinds[0], second.kinds[0])
    shared = len({*own} & {*other})
    least = min(first.n_kinds, second.n_kinds)
    return shared >= max(min(2, least), 0.5 * least)


def hits(truth: Feature, feature: Feature) -> NDArray[np.int64] | None:
    """Mark rows of two columns that agree by 1, others 0, unknown -1; None if that may be luck."""
    own_names, other_names = spelt_alike(truth.kinds[0], feature.kinds[0])
    places = {name: k for k, name in enumerate(own_names)}
    known = np.array([*(places.get(name, -2) for name in other_names), -2])
    own, other = truth.kinds[1], feature.kinds[1]
    if not beyond_luck(own[truth.rows], known[other[truth.rows]]):
        return None
    return np.where((own >= 0) & (other >= 0), own == known[other], -1).astype(np.int64)


def largest(
    members: Sequence[Feature], outcome: Feature, names: Mapping[str, int]
) -> tuple[bool, float]:
    """Return whether the largest value is that of the outcome beyond luck, and how often it is."""
    rows = members[0].rows
    table = np.nan_to_num(table_of(members), nan=-np.inf)
    top = table.argmax(axis=1)
    written, codes = outcome.kinds
    own = codes[rows]
    numberings: list[NDArray[np.int64]] = []
    if names:
        places = np.array([names.get(folded(kind), -1) for kind in written])
        numberings.append(np.where(own >= 0, places[own], -1))
    elif outcome.is_number:
        truth = np.where(own >= 0, np.nan_to_num(outcome.column.values[rows]).astype(np.int64), -1)
        numberings += [truth, truth - 1] if outcome.low >= 1 else [truth]
    elif len(written) == table.shape[1]:
        counts = np.zeros((len(written), len(written)))
        np.add.at(counts, (own[own >= 0], top[own >= 0]), 1)
        best, whole = counts.argmax(axis=0), max(float(counts.sum()), 1.0)
        share = float(counts.max(axis=0).sum()) / whole
        apart = len({*best.tolist()}) == len(written)
        return apart and share > 1.3 * float(counts.sum(axis=1).max()) / whole, share
    readings = [(beyond_luck(truth, top), float((truth == top).mean())) for truth in numberings]
    return max(readings, default=(False, 0.0))


# How much speaks for each reading of a table: a sum of a few weighted evidences ---------------


_NEAR = 1e-3
_ALIKE = 6
"""How much more one column may span than another, where nothing else says they are alike."""

_FEW_VALUES = 6
_EVALUATED = ({"wrong", "right"}, {"incorrect", "correct"}, {"falsch", "richtig"})

_GENERAL = {
    "score", "probability", "predicted", "prob", "pred", "model", "risk", "label", "class", "true",
    "outcome", "actual", "days", "flag", "target", "date",
}  # fmt: skip

_PARTICIPLE = re.compile(
    r"[a-z]{3,}ed|ge[a-z]{3,}(t|en|d)|[a-z]{4,}(iert|ado|ada|ido|ida|ato|ata|uto)"
)


def happens(feature: Feature) -> bool:
    """Return whether a heading says of an event that it has happened."""
    words = [word for word in feature.words if word not in terms.NOT_HAPPENED]
    ends = any(
        _PARTICIPLE.fullmatch(word) and not begins([word], terms.GROUP_STEMS)
        for word in words
        if word not in terms.PREDICTION_WORDS
    )
    return ends or begins(words, terms.EVENT_STEMS) or begins(words, terms.QUIET_STEMS)


def is_called_prediction(feature: Feature) -> bool:
    """Return whether a heading is that of predicted classes."""
    return feature.key in terms.PREDICTED_KEYS or bool(
        terms.PREDICTION_WORDS.intersection(feature.words)
    )


def _answers(feature: Feature, truth: Feature | None) -> bool:
    """Return whether a heading is of what a model said, beside one that is called the truth."""
    called = truth is not None and truth.key in terms.LABEL_KEYS
    return called and feature.key in terms.ANSWER_KEYS


def is_called_correct(feature: Feature) -> bool:
    """Return whether a heading says that the prediction was right or not."""
    return feature.key not in terms.LABEL_KEYS and begins(feature.words, terms.CORRECT_STEMS)


def outcome_alone(feature: Feature, n_columns: int, *, named: bool) -> dict[str, float]:
    """Weigh what a column says by itself for being the outcome."""
    words, main = {*feature.words}, feature.main
    two = main is not None
    written = feature.kinds[0] if feature.n_kinds <= 50 else ()
    kinds = {folded(written[k]) for k in main} if main else set(map(folded, written))
    predicted = is_called_prediction(feature)
    called = feature.key in terms.LABEL_KEYS
    weakly = feature.key in terms.WEAK_LABEL_KEYS or (
        bool(words & terms.LABEL_WORDS) and not predicted
    )
    event = happens(feature) and two
    happened = two and bool(says_event(kinds) or kinds <= terms.CASE_VALUES)
    decided = happened or (two and kinds <= terms.YES | terms.NO)
    other = begins(words, terms.GROUP_STEMS) or begins(words, terms.MEASURE_STEMS)
    other = other or bool(
        words & (terms.DATE_WORDS if feature.n_kinds <= 20 else terms.SURE_ID_WORDS)
    )
    rest = 0.0 if called or weakly or happened else 0.3 if event else 1.0
    return worth(
        called_the_outcome=called,
        called_an_outcome=weakly and not called,
        says_what_happened=event and not called,
        two_values=two,
        cells_say_what_happened=decided,
        called_something_else=max(rest * other, 1.2 * bool(words & terms.PRIOR_WORDS)),
        cells_name_sets=(two and flag_of(feature.name) is not None)
        or (bool(kinds) and None not in sets_of([*kinds])),
        called_a_prediction=predicted and not called,
        called_correct_or_wrong=is_called_correct(feature),
        many_values=feature.n_kinds > 20 and not called,
        last_of_the_columns=not named and feature.place == n_columns - 1,
    )


def score_alone(feature: Feature) -> dict[str, float]:
    """Weigh what a column of numbers says by itself for being the score."""
    words = {*feature.words}
    surely = begins(words, terms.SURE_SCORE_STEMS) or feature.key in terms.CONFIDENCE_KEYS
    called = surely or speaks_of_scores(words)
    fractions = feature.is_share and not feature.is_decided
    known = fractions or feature.is_percent or (called and bool(words & terms.LOGIT_WORDS))
    hundred = not known and feature.low >= 0 and 1 < feature.high <= 100
    signed = not known and feature.low < 0 < feature.high and not feature.whole
    another = begins(words - {"%", "pct", "percent"}, terms.MEASURE_STEMS)
    return worth(
        called_a_score=called,
        from_0_to_1=fractions,
        percent=feature.is_percent and not fractions,
        from_0_to_100=hundred and not surely,
        neither_shares_nor_logits=not (known or hundred or signed),
        whole_numbers=feature.whole and not feature.is_percent,
        called_another_number=another * (0.2 if surely else 0.6 if called else 1.0),
        called_unsure=begins(words, terms.UNSURE_STEMS),
        counts_up=feature.counts_up and feature.whole,
        named_as_an_id=bool(words & terms.ID_WORDS) and feature.whole and feature.n_kinds > 20,
    )


def outcome_marks(outcome: Feature) -> NDArray[np.int64] | None:
    """Return 1 for yes, 0 for no and -1 for other rows; None without two main values."""
    kinds = outcome.main
    if kinds is None:
        return None
    marks = np.full(len(outcome.kinds[0]) + 1, -1)
    marks[[*kinds]] = 0, 1
    return np.asarray(marks[outcome.kinds[1]])


def pair(score: Feature, outcome: Feature, related: Relation | None) -> dict[str, float]:
    """Weigh one score beside an outcome."""
    same = same_words(score, outcome)
    if related is None:
        if outcome.folded_kinds <= terms.YES | terms.NO and outcome.n_kinds == 1:
            return worth(same_words=same)
        written = outcome.kind == "text" or outcome.whole
        of_event = written and outcome.n_kinds <= _FEW_VALUES and (
            outcome.key in terms.LABEL_KEYS | terms.WEAK_LABEL_KEYS
            or begins(map(folded, outcome.kinds[0]), terms.EVENT_STEMS)
        )  # fmt: skip
        return worth(same_words=same, not_two_values=0.3 if of_event else 1)
    several = 0.15 * (outcome.n_kinds > 2)
    return worth(same_words=same, not_two_values=several) | _related(score, related)


def _related(score: Feature, related: Relation) -> dict[str, float]:
    cut = abs(related.area - 0.5) > 0.4999 and score.n_kinds > 10
    few = len(score.column.values) < 200
    return worth(
        rises_with_the_score=0.5 if cut else related.strength,
        foretold=0 if cut else min(related.skill / 0.1, 1),
        no_relation=abs(related.sure) < 1.5 and not few,
        cut_from_the_score=cut,
    )


def same_words(score: Feature, outcome: Feature) -> bool:
    """Return whether two headings, or a heading and a cell, share a word or its beginning."""
    kinds = outcome.kinds[0] if outcome.n_kinds <= 6 else ()
    others = {word for text in (outcome.name, *kinds) for word in words_of(text)} - _GENERAL
    own = [word for word in score.words if len(word) >= 4 and word not in _GENERAL]
    return any(_like(word, other) for word in own for other in others if len(other) >= 4)


def _like(first: str, second: str) -> bool:
    short = min(len(first), len(second))
    shared = next((k for k in range(short) if first[k] != second[k]), short)
    return shared >= max(4, short - 3) or (short >= 5 and (first in second or second in first))


def with_prediction(
    score: Feature, truth: Feature | None, prediction: Feature, right: NDArray[np.int64] | None
) -> dict[str, float]:
    """Weigh the score of a predicted class, beside the true class or without it."""
    n_kinds = max(prediction.n_kinds, truth.n_kinds if truth else 0)
    called = is_called_prediction(prediction) or _answers(prediction, truth)
    of_many = right is not None and prediction.kind == "text" and n_kinds > 2
    named = called and (is_called_confidence(score) or of_many)
    evidence = worth(
        called_the_prediction=called,
        called_a_confidence=is_called_confidence(score),
        same_words=bool({*score.words} & {*prediction.words} - _GENERAL),
        below_chance=not named
        and score.low < (0.99 / max(n_kinds, 1)) * (1 if score.is_share else 100),
    )
    if truth is None:
        return evidence
    same = same_classes(truth, prediction)
    evidence |= worth(
        same_classes=same, other_classes=not same, right_beyond_luck=right is not None
    )
    return evidence if right is None else evidence | _related(score, relation(score, right))


def with_correct(score: Feature, correct: Feature) -> dict[str, float]:
    """Weigh the score of a prediction beside whether it was right; nothing where it is not said."""
    kinds = {folded(kind) for kind in correct.kinds[0]} if correct.n_kinds <= 6 else set()
    evaluated = any(kinds == pair_ for pair_ in _EVALUATED)
    decided = correct.main is not None or correct.is_decided
    called = is_called_correct(correct) and decided
    evidence = worth(called_correct=called, cells_say_right_and_wrong=evaluated)
    return evidence and evidence | worth(called_a_confidence=is_called_confidence(score))


def group_alone(group: Scores, features: Sequence[Feature]) -> dict[str, float]:
    """Weigh what a group of columns says by itself for being one a class."""
    members = [features[place] for place in group.places]
    is_list = members[0].kind == "list"
    table = table_of(members)
    shares = is_list or all(f.is_share for f in members)
    shares = bool(shares and np.fmin.reduce(table, axis=None) >= 0)
    shares = shares and bool(np.fmax.reduce(table, axis=None) <= 1)
    sums = sums_to(table) > 0
    another = sum(
        begins(f.words, terms.MEASURE_STEMS) and not speaks_of_scores(f.words) for f in members
    )
    telling = is_list or sums or group.tells
    spans = np.fmax.reduce(table, axis=0) - np.fmin.reduce(table, axis=0)
    around = not is_list and all(f.low < 0 < f.high for f in members)
    mirrored = table.shape[1] == 2 and not sums and bool(np.ptp(table.sum(axis=1)) <= _NEAR)
    return worth(
        sums=sums,
        mirrored=mirrored and around,
        no_sums=shares and not sums,
        named_as_scores=group.says_score,
        numbered=group.is_numbered,
        a_list=is_list,
        called_another_number=(not group.says_score) * another / len(members),
        whole_numbers=3 * (not is_list and all(f.whole for f in members)),
        called_unsure=begins(words_of(group.affix), terms.UNSURE_STEMS),
        nothing_names_them=not telling,
        alike_around_0=not telling and around and bool(spans.max() < _ALIKE * spans.min()),
    )


def group_pair(group: Scores, features: Sequence[Feature], outcome: Feature) -> dict[str, float]:
    """Weigh one column a class beside an outcome."""
    kinds, names, n_classes = group_kinds(group, features, outcome)
    members = [features[place] for place in group.places]
    called = outcome.key in terms.LABEL_KEYS
    numbers = outcome.is_number and outcome.low >= 0 and outcome.high <= n_classes
    few = not kinds or (outcome.is_number and not numbers and not names)
    # A few labels beyond the last class are told of as such.
    out = few and called and outcome.is_number and outcome.n_kinds <= n_classes + BEYOND
    fits, share = largest(members, outcome, names) if kinds or out else (False, 0.0)
    foretells = is_called_prediction(outcome) and not called
    return worth(
        named_by_the_cells=bool(names) * (0.5 if numbers else 1.0),
        as_many_as_classes=len(kinds) == n_classes,
        too_few_for_the_classes=few * (0.2 if out and group.tells else 1.0),
        largest_at_the_outcome=fits and not foretells,
        largest_of_as_many=fits and not foretells and len(kinds) == n_classes > 2,
        always_the_largest=fits and share > 0.995 and not called,
    )


def group_kinds(
    group: Scores, features: Sequence[Feature], outcome: Feature
) -> tuple[list[str], dict[str, int], int]:
    """Return the values of a column, their places in a group that names them, and its classes."""
    first = features[group.places[0]]
    n_classes = first.column.values.shape[1] if first.kind == "list" else len(group.places)
    near = outcome.n_kinds <= n_classes + BEYOND
    kinds = [folded(kind) for kind in outcome.kinds[0]] if near else []
    names = {folded(name): k for k, name in enumerate(group.names)}
    strange = sum(kind not in names for kind in kinds)
    named = bool(kinds) and len(names) == n_classes and strange <= min(BEYOND, len(kinds) - 2)
    named = named or (bool(kinds) and not strange)
    if len(kinds) > n_classes and not named:
        kinds = []
    return kinds, names if named else {}, n_classes


# Every reading of a table that is weighed -----------------------------------------------------


LEAST = 2.0
"""Of one column alone, what must speak for it."""

_MOST_OUTCOMES, _MOST_SCORES, _MOST_PAIRS = 30, 12, 40

Evidence = dict[str, float]
Given = Mapping[int, ColumnRole]


@dataclass(frozen=True, eq=False)
class _Truths:
    """Columns that may hold classes or outcomes, and what each says by itself."""

    columns: list[Feature]
    alone: dict[int, Evidence]
    marks: dict[int, NDArray[np.int64] | None]
    pairs: list[tuple[Feature, Feature, NDArray[np.int64] | None]] = field(default_factory=list)


def hypotheses(features: Sequence[Feature], given: Given, *, named: bool) -> Iterator[Hypothesis]:
    """Yield readings of a table, each with its evidence."""
    truths = _truths(features, given, named=named)
    usable = [f for f in features if given.get(f.place, "class") in ("class", "score")]
    groups = [*groups_of(usable, truths.columns), *_group_given(features, given)]
    hot = one_hot(groups, features)
    weights = {group: group_alone(group, features) for group in groups if group not in hot}
    beside = any("called the outcome" in own for own in truths.alone.values())
    alone = worth(no_outcome=1, an_outcome_beside=beside)
    for group, own in weights.items():
        yield Hypothesis(group, evidence=own | alone)
        yield from _of_group(group, own, features, truths)
        for shown in hot:
            yield _of_one_hot(group, own, shown)
    yield from _of_ranks(features, truths, alone)
    yield from _of_one(features, truths, weights, given, alone)
    for f in truths.columns:
        own = truths.alone[f.place]
        if len(features) <= 2 or sum(own.values()) >= LEAST:
            yield Hypothesis(None, (f.place,), evidence=own | worth(no_score=1))


def _truths(features: Sequence[Feature], given: Given, *, named: bool) -> _Truths:
    by_user = {
        place for place, role in given.items() if role in ("outcome", "prediction", "correct")
    }
    columns = [
        f for f in features
        if f.place in by_user or (f.place not in given and may_say_classes(f))
    ]  # fmt: skip
    alone = {f.place: outcome_alone(f, len(features), named=named) for f in columns}
    columns.sort(key=lambda f: (f.place not in by_user, -sum(alone[f.place].values())))
    columns = columns[:_MOST_OUTCOMES]
    truths = _Truths(columns, alone, {f.place: outcome_marks(f) for f in columns})
    for truth, column in permutations(columns, 2):
        if len(truths.pairs) < _MOST_PAIRS and same_classes(truth, column):
            right = hits(truth, column)
            called = column.place in by_user or is_called_prediction(column)
            if right is not None or called or _answers(column, truth):
                truths.pairs.append((truth, column, right))
    return truths


def _group_given(features: Sequence[Feature], given: Given) -> Iterator[Scores]:
    places = tuple(place for place in sorted(given) if given[place] == "class")
    if places:
        yield Scores("classes", places, tuple(features[place].name for place in places))


def _of_group(
    group: Scores, own: Evidence, features: Sequence[Feature], truths: _Truths
) -> Iterator[Hypothesis]:
    for f in truths.columns:
        if f.place not in group.places:
            beside = {"outcome " + name: w for name, w in truths.alone[f.place].items()}
            beside.pop("outcome two values", None)
            evidence = own | group_pair(group, features, f) | beside
            yield Hypothesis(group, (f.place,), evidence=evidence)


def _of_one_hot(group: Scores, own: Evidence, shown: Scores) -> Hypothesis:
    labels = bool(LABEL_WORDS.intersection(words_of(shown.affix)))
    foretells = not labels and bool(PREDICTION_WORDS.intersection(words_of(shown.affix)))
    evidence = worth(
        **{"0 and 1 a class": 1},
        called_an_outcome=labels,
        called_a_prediction=3 * foretells,
        named_by_the_cells=group.folded_names == shown.folded_names,
        too_few_for_the_classes=len(group.names) != len(shown.names),
    )
    return Hypothesis(group, shown.places, evidence=own | evidence)


def _of_ranks(
    features: Sequence[Feature], truths: _Truths, alone: Evidence
) -> Iterator[Hypothesis]:
    for ranks in (*rank_pairs(features), *list_pairs(features)):
        members = [features[place] for place in ranks.ranked]
        listed = frozenset.union(
            *(f.listed if f.kind == "list" else f.folded_kinds for f in members)
        )
        yield Hypothesis(ranks, evidence=worth(ranks=1) | alone)
        for f in truths.columns:
            if f.place not in ranks.ranked:
                same = bool(listed & f.folded_kinds)
                other = not same and "called the outcome" not in truths.alone[f.place]
                evidence = worth(ranks=1, same_classes=same, other_classes=other)
                yield Hypothesis(ranks, (f.place,), evidence=evidence | truths.alone[f.place])


def _of_one(
    features: Sequence[Feature],
    truths: _Truths,
    groups: Mapping[Scores, Evidence],
    given: Given,
    alone: Evidence,
) -> Iterator[Hypothesis]:
    """Yield readings with one score: of an event, or of the predicted class."""
    places = [place for place, role in given.items() if role == "score"]
    lone = lone_scores(features, places)
    several = _several(
        features, lone, [g for g, own in groups.items() if _are_surely_classes(g, own, truths)]
    )
    weighed: list[tuple[float, Scores, Evidence]] = []
    for scores in lone:
        place = scores.places[0]
        weights = score_alone(features[place]) | worth(one_of_several=place in several)
        weighed.append((sum(weights.values()), scores, weights | worth(one_score=1)))
    weighed.sort(key=lambda item: (item[1].places[0] not in places, -item[0]))
    for total, scores, own in weighed[:_MOST_SCORES]:
        score = features[scores.places[0]]
        if score.place in places or total >= LEAST:
            yield Hypothesis(scores, evidence=own | alone)
        if score.is_number:
            yield from _of_event(scores, own, score, truths, given)
            yield from _of_prediction(scores, own, score, truths, alone, given)


def _are_surely_classes(group: Scores, weights: Evidence, truths: _Truths) -> bool:
    """Return whether columns are surely one a class, so that none is the score of an event."""
    kinds = [f.folded_kinds for f in truths.columns if f.n_kinds > 1 and not f.is_number]
    if any(own <= group.folded_names for own in kinds):
        return True
    named = "named as scores" in weights and "no sums" not in weights
    sure = {"sums", "mirrored", "a list"} & weights.keys()
    return bool(sure) or (named and len(group.places) > 2)


def _several(
    features: Sequence[Feature], lone: Sequence[Scores], groups: Sequence[Scores]
) -> set[int]:
    """Return the columns that are one a class, or the largest of these in every row."""
    places = {place for group in groups for place in group.places}
    for group in groups:
        members = [features[place] for place in group.places]
        top = table_of(members).max(axis=1)
        for place in {scores.places[0] for scores in lone} - places:
            own = table_of([features[place]])[:, 0]
            if np.nanmean(np.abs(own - top) <= 1e-3 * np.abs(top)) > 0.95:
                places.add(place)
    return places


def _of_event(
    scores: Scores, own: Evidence, score: Feature, truths: _Truths, given: Given
) -> Iterator[Hypothesis]:
    columns = [f for f in truths.columns if f is not score]
    related: dict[int, Relation] = {
        f.place: relation(score, marks)
        for f in columns if (marks := truths.marks[f.place]) is not None
    }  # fmt: skip
    sure = sorted(abs(r.sure) for r in related.values() if abs(r.area - 0.5) < 0.4999)
    next_, most = [0.0, 0.0, *sure][-2:]
    for f in columns:
        its_relation = related.get(f.place)
        best = its_relation is not None and most > 3 and abs(its_relation.sure) == most
        beside = truths.alone[f.place] | pair(score, f, its_relation)
        beside |= worth(rises_most=best * min((most - next_) / 4, 1))
        chosen = given.get(f.place) == "outcome" and 2 < f.n_kinds <= _FEW
        if chosen and (score.place in given or claims_score(score)):  # the event is asked
            beside.pop("not two values", None)
        yield Hypothesis(scores, (f.place,), evidence=own | beside)
        if right := with_correct(score, f):
            of_right = {name: w for name, w in beside.items() if name in _OF_RIGHT}
            yield Hypothesis(scores, correct=f.place, evidence=own | of_right | right)


_OF_RIGHT = ("rises with the score", "rises most", "foretold", "two values")


def _of_prediction(
    scores: Scores, own: Evidence, score: Feature, truths: _Truths, alone: Evidence, given: Given
) -> Iterator[Hypothesis]:
    for column in truths.columns:
        is_given = given.get(column.place) == "prediction"
        prediction = with_prediction(score, None, column, None)
        if column is score:
            continue
        called = "called the prediction" in prediction and "below chance" not in prediction
        if is_given or called:
            yield Hypothesis(scores, prediction=column.place, evidence=own | prediction | alone)
        for truth, other, right in truths.pairs:
            if other is column and truth is not score:
                beside = with_prediction(score, truth, column, right)
                if is_given or "below chance" not in beside:
                    beside |= truths.alone[truth.place]
                    yield Hypothesis(scores, (truth.place,), column.place, evidence=own | beside)
