"""Every reading of a table that is weighed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.recognition import scoring
from dashboard.readers.recognition.agreement import Relation, hits, relation, same_classes
from dashboard.readers.recognition.candidates import (
    Scores,
    groups_of,
    list_pairs,
    lone_scores,
    may_say_classes,
    one_hot,
    rank_pairs,
)
from dashboard.readers.recognition.features import Feature, table_of
from dashboard.readers.recognition.vocabulary import LABEL_WORDS, PREDICTION_WORDS, words_of
from dashboard.readers.recognition.weights import Hypothesis, times, worth
from dashboard.readers.table import ColumnRole

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
    weights = {group: scoring.group_alone(group, features) for group in groups if group not in hot}
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
    asked = {place for place, role in given.items() if role in ("outcome", "prediction", "correct")}
    columns = [
        f for f in features
        if f.place in asked or (f.place not in given and may_say_classes(f))
    ]  # fmt: skip
    alone = {f.place: scoring.outcome_alone(f, len(features), named=named) for f in columns}
    columns.sort(key=lambda f: (f.place not in asked, -sum(alone[f.place].values())))
    columns = columns[:_MOST_OUTCOMES]
    found = _Truths(columns, alone, {f.place: scoring.outcome_marks(f) for f in columns})
    for truth in columns:
        for said in columns:
            if truth is not said and len(found.pairs) < _MOST_PAIRS and same_classes(truth, said):
                right = hits(truth, said)
                if right is not None or scoring.is_called_prediction(said):
                    found.pairs.append((truth, said, right))
    return found


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
            found = own | scoring.group_pair(group, features, f) | beside
            yield Hypothesis(group, (f.place,), evidence=found)


def _of_one_hot(group: Scores, own: Evidence, shown: Scores) -> Hypothesis:
    labels = bool(LABEL_WORDS.intersection(words_of(shown.affix)))
    foretells = not labels and bool(PREDICTION_WORDS.intersection(words_of(shown.affix)))
    found = times(
        {"0 and 1 a class": 1, "called an outcome": labels, "called a prediction": 3 * foretells}
    )
    found |= worth(
        named_by_the_cells=group.folded_names == shown.folded_names,
        too_few_for_the_classes=len(group.names) != len(shown.names),
    )
    return Hypothesis(group, shown.places, evidence=own | found)


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
                found = worth(ranks=1, same_classes=same, other_classes=other)
                yield Hypothesis(ranks, (f.place,), evidence=found | truths.alone[f.place])


def _of_one(
    features: Sequence[Feature],
    truths: _Truths,
    groups: Mapping[Scores, Evidence],
    given: Given,
    alone: Evidence,
) -> Iterator[Hypothesis]:
    """Yield readings with one score: of an event, or of the predicted class."""
    asked = [place for place, role in given.items() if role == "score"]
    lone = lone_scores(features, asked)
    several = _several(features, lone, [g for g, own in groups.items() if _is_told(g, own, truths)])
    weighed: list[tuple[float, Scores, Evidence]] = []
    for scores in lone:
        place = scores.places[0]
        weights = scoring.score_alone(features[place]) | worth(one_of_several=place in several)
        weighed.append((sum(weights.values()), scores, weights | worth(one_score=1)))
    weighed.sort(key=lambda item: (item[1].places[0] not in asked, -item[0]))
    for total, scores, own in weighed[:_MOST_SCORES]:
        score = features[scores.places[0]]
        if score.place in asked or total >= LEAST:
            yield Hypothesis(scores, evidence=own | alone)
        if score.is_number:
            yield from _of_event(scores, own, score, truths)
            yield from _of_prediction(scores, own, score, truths, alone)


def _is_told(group: Scores, weights: Evidence, truths: _Truths) -> bool:
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
    found = {place for group in groups for place in group.places}
    for group in groups:
        members = [features[place] for place in group.places]
        top = table_of(members, members[0].rows).max(axis=1)
        for place in {scores.places[0] for scores in lone} - found:
            own = table_of([features[place]], members[0].rows)[:, 0]
            if np.nanmean(np.abs(own - top) <= 1e-3 * np.abs(top)) > 0.95:
                found.add(place)
    return found


def _of_event(
    scores: Scores, own: Evidence, score: Feature, truths: _Truths
) -> Iterator[Hypothesis]:
    columns = [f for f in truths.columns if f is not score]
    related: dict[int, Relation] = {
        f.place: relation(score, marks)
        for f in columns if (marks := truths.marks[f.place]) is not None
    }  # fmt: skip
    sure = sorted(abs(r.sure) for r in related.values() if abs(r.area - 0.5) < 0.4999)
    next_, most = [0.0, 0.0, *sure][-2:]
    for f in columns:
        found = related.get(f.place)
        best = found is not None and most > 3 and abs(found.sure) == most
        beside = truths.alone[f.place] | scoring.pair(score, f, found)
        beside |= worth(rises_most=best * min((most - next_) / 4, 1))
        yield Hypothesis(scores, (f.place,), evidence=own | beside)
        if right := scoring.with_correct(score, f):
            told = {name: w for name, w in beside.items() if name in _OF_RIGHT}
            yield Hypothesis(scores, correct=f.place, evidence=own | told | right)


_OF_RIGHT = ("rises with the score", "rises most", "foretold", "two values")


def _of_prediction(
    scores: Scores, own: Evidence, score: Feature, truths: _Truths, alone: Evidence
) -> Iterator[Hypothesis]:
    for said in truths.columns:
        found = scoring.with_prediction(score, None, said, None)
        if said is score or "below chance" in found:
            continue
        if "called the prediction" in found:
            yield Hypothesis(scores, prediction=said.place, evidence=own | found | alone)
        for truth, other, right in truths.pairs:
            if other is said and truth is not score:
                beside = (
                    scoring.with_prediction(score, truth, said, right) | truths.alone[truth.place]
                )
                yield Hypothesis(scores, (truth.place,), said.place, evidence=own | beside)
