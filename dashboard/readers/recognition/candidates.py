"""Which columns may hold what: outcomes, the score of an event, values of classes, ranks."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.recognition import vocabulary as terms
from dashboard.readers.recognition.features import MANY, Feature, table_of
from dashboard.readers.recognition.outcomes import right_or_wrong
from dashboard.readers.recognition.vocabulary import begins, folded, spans_of, words_of

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


def lone_scores(features: Sequence[Feature], asked: Iterable[int]) -> list[Scores]:
    """List the columns of which one may be the score of the event."""
    fits = [
        f for f in features
        if f.is_number and not f.is_decided
        and (f.n_kinds > 2 or not f.whole or (f.high > 1 and _is_called_value(f)))
        and (f.n_kinds > 1 or speaks_of_scores(f.words))
        and (f.n_kinds == 2 or f.main is None or speaks_of_scores(f.words))
    ]  # fmt: skip
    chosen = {f.place for f in fits} | {k for k in asked if features[k].kind != "none"}
    return [Scores("one", (place,)) for place in sorted(chosen)]


def groups_of(features: Sequence[Feature], outcomes: Sequence[Feature]) -> list[Scores]:
    """List the groups of columns of which each may hold the value of one class.

    Those in which all numbers are 0 or 1 may be the outcome, a column a class.
    """
    numbers = [f for f in features if f.is_number]
    kinds = [{folded(kind) for kind in f.kinds[0]} for f in outcomes if f.n_kinds <= MANY]
    found: dict[tuple[int, ...], Scores] = {}
    for f in features:
        if f.kind == "list" and 2 <= f.column.values.shape[1] <= MANY:
            found[f.place,] = Scores("classes", (f.place,), affix=f.name)
    decided = {f.place for f in numbers if f.is_decided}
    for group in by_affix(numbers):
        if _is_told(group, kinds) or decided.issuperset(group.places):
            found.setdefault(group.places, group)
    for group in (*_by_cells(numbers, kinds), *_by_sum(numbers), *_all_left(numbers)):
        found.setdefault(group.places, group)
    return list(found.values())[:_MOST_GROUPS]


def _is_told(group: Scores, kinds: Sequence[set[str]]) -> bool:
    names = {folded(name) for name in group.names}
    return group.tells or any(own <= names for own in kinds)


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
            if len(members) > 2 and sums_to(table_of(members, members[0].rows)):
                yield _bare(members)
                break
    if len(shares) <= _FEW and shares:
        table = table_of(shares, shares[0].rows)
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
    found = []
    for stem, group in stems.items():
        words, ranks = {*words_of(stem)}, sorted(group)
        told = words & (terms.CLASS_WORDS | terms.RANK_WORDS | {"pred", "prediction", "predicted"})
        same = [g for s, g in scores.items() if sorted(g) == ranks and s != stem]
        run = ranks[0] <= 1 and ranks[-1] - ranks[0] == len(ranks) - 1
        classes = all(may_say_classes(f) or f.kind == "text" for f in group.values())
        classes = classes and not all(f.is_decided for f in group.values())
        lone = len(ranks) == 1 and not words & terms.RANK_WORDS
        if told and same and run and classes and not lone and stem not in scores:
            ranked = tuple(group[k].place for k in ranks)
            places = tuple(same[0][k].place for k in ranks)
            found.append(Scores("ranked", places, affix=stem, ranked=ranked))
    return found


def lists_classes(classes: NDArray[Any], scores: NDArray[Any], words: Iterable[str]) -> bool:
    """Return whether each row lists different classes beside their scores."""
    if classes.dtype.kind == "f" and not (classes == np.rint(classes)).all():
        return False
    ordered = np.sort(classes, axis=1)
    if not (ordered == np.arange(classes.shape[1])).all() or (classes == classes[0]).all():
        told = any(word.startswith("top") or word in ("indices", "idx") for word in words)
        falls = bool((scores[:, 1:] <= scores[:, :-1]).all())
        differ = bool((ordered[:, 1:] > ordered[:, :-1]).all())
        return told and falls and differ and classes.min() >= 0
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
            table_of([classes], classes.rows), table_of([scores], classes.rows),
            words_of(classes.name),
        )
    ]  # fmt: skip


def one_hot(groups: Sequence[Scores], features: Sequence[Feature]) -> list[Scores]:
    """List groups of columns of 0 and 1, or no and yes, of which in every row one is 1 or yes."""
    words = [
        f
        for f in features
        if f.kind == "text" and {*f.texts} <= terms.YES | terms.NO and f.n_kinds == 2
    ]
    marks = {f.place: f for f in (*words, *features) if f in words or f.is_decided}
    by_name = {folded(f.name): f for f in marks.values()}
    named = [
        Scores("classes", tuple(by_name[folded(name)].place for name in group.names), group.names)
        for group in groups
        if group.names and group.folded_names <= by_name.keys()
    ]
    found = {}
    for group in (*groups, *by_affix(words), *named):
        if marks.keys() >= {*group.places}:
            members = [marks[place] for place in group.places]
            n_yes = sum(right_or_wrong(f.column)[f.rows].astype(np.intp) for f in members)
            if np.mean(n_yes == 1) >= _MOSTLY:
                found[group.places] = group
    return list(found.values())
