"""How much speaks for each reading of a table: a sum of a few weighted evidences."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.recognition import vocabulary as terms
from dashboard.readers.recognition.agreement import Relation, largest, relation, same_classes
from dashboard.readers.recognition.candidates import (
    BEYOND,
    Scores,
    is_called_confidence,
    speaks_of_scores,
    sums_to,
)
from dashboard.readers.recognition.features import Feature, says_event, table_of
from dashboard.readers.recognition.vocabulary import begins, folded, set_of, words_of
from dashboard.readers.recognition.weights import times, worth

_NEAR = 1e-3
_ALIKE = 6
"""How much more one column may span than another, where nothing else says they are alike."""

_FEW = 6
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
    happened = two and bool(says_event(kinds))
    told = happened or (two and kinds <= terms.YES | terms.NO)
    other = begins(words, terms.GROUP_STEMS) or begins(words, terms.MEASURE_STEMS)
    other = other or bool(
        words & (terms.DATE_WORDS if feature.n_kinds <= 20 else terms.SURE_ID_WORDS)
    )
    rest = 0.0 if called or weakly or happened else 0.3 if event else 1.0
    found: dict[str, float] = {
        "called the outcome": called,
        "called an outcome": weakly and not called,
        "says what happened": event and not called,
        "two values": two,
        "cells say what happened": told,
        "called something else": max(rest * other, 1.2 * bool(words & terms.PRIOR_WORDS)),
        "cells say the sex": two and kinds <= terms.SEX_VALUES,
        "cells name sets": bool(kinds) and all(map(set_of, kinds)),
        "called a prediction": predicted and not called,
        "called correct or wrong": is_called_correct(feature),
        "numbers not from 0 or 1": feature.is_number and feature.low not in (0, 1) and not two,
        "many values": feature.n_kinds > 20 and not called,
    }
    if not named:
        found["last of the columns"] = feature.place == n_columns - 1
        found["first of the columns"] = feature.place == 0
    return times(found)


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
    return times(
        {
            "called a score": called,
            "surely called a score": surely,
            "from 0 to 1": fractions,
            "percent": feature.is_percent and not fractions,
            "from 0 to 100": hundred,
            "as logits are": signed,
            "neither shares nor logits": not (known or hundred or signed),
            "whole numbers": feature.whole and not feature.is_percent,
            "few values": feature.n_kinds <= 10 < len(feature.column.values) / 10,
            "called another number": another * (0.2 if surely else 0.6 if called else 1.0),
            "called unsure": begins(words, terms.UNSURE_STEMS),
            "counts up": feature.counts_up and feature.whole,
            "named as an id": bool(words & terms.ID_WORDS)
            and feature.whole
            and feature.n_kinds > 20,
        }
    )


def outcome_marks(outcome: Feature) -> NDArray[np.int64] | None:
    """Return 1 for yes, 0 for no and -1 for other rows; None without two main values."""
    kinds = outcome.main
    if kinds is None:
        return None
    marks = np.full(len(outcome.kinds[0]) + 1, -1)
    marks[[*kinds]] = 0, 1
    return np.asarray(marks[outcome.kinds[1]])


def pair(score: Feature, outcome: Feature, found: Relation | None) -> dict[str, float]:
    """Weigh one score beside an outcome."""
    same = _same_words(score, outcome)
    if found is None:
        if outcome.folded_kinds <= terms.YES | terms.NO and outcome.n_kinds == 1:
            return worth(same_words=same)
        written = outcome.kind == "text" or outcome.whole
        told = written and outcome.n_kinds <= _FEW and (
            outcome.key in terms.LABEL_KEYS | terms.WEAK_LABEL_KEYS
            or begins(map(folded, outcome.kinds[0]), terms.EVENT_STEMS)
        )  # fmt: skip
        return worth(same_words=same, not_two_values=0.3 if told else 1)
    several = 0.15 * (outcome.n_kinds > 2)
    return worth(same_words=same, not_two_values=several) | _related(score, found)


def _related(score: Feature, found: Relation) -> dict[str, float]:
    cut = abs(found.area - 0.5) > 0.4999 and score.n_kinds > 10
    few = len(score.column.values) < 200
    return worth(
        rises_with_the_score=0.5 if cut else found.strength,
        foretold=0 if cut else min(found.skill / 0.1, 1),
        no_relation=abs(found.sure) < 1.5 and not few,
        cut_from_the_score=cut,
    )


def _same_words(score: Feature, outcome: Feature) -> bool:
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
    named = is_called_prediction(prediction) and is_called_confidence(score)
    found = worth(
        called_the_prediction=is_called_prediction(prediction),
        called_a_confidence=is_called_confidence(score),
        same_words=bool({*score.words} & {*prediction.words} - _GENERAL),
        below_chance=not named
        and score.low < (0.99 / max(n_kinds, 1)) * (1 if score.is_share else 100),
    )
    if truth is None:
        return found
    same = same_classes(truth, prediction)
    found |= worth(same_classes=same, other_classes=not same, right_beyond_luck=right is not None)
    return found if right is None else found | _related(score, relation(score, right))


def with_correct(score: Feature, correct: Feature) -> dict[str, float]:
    """Weigh the score of a prediction beside whether it was right; nothing where it is not said."""
    kinds = {folded(kind) for kind in correct.kinds[0]} if correct.n_kinds <= 6 else set()
    evaluated = any(kinds == pair_ for pair_ in _EVALUATED)
    decided = correct.main is not None or correct.is_decided
    called = is_called_correct(correct) and decided
    found = worth(called_correct=called, cells_say_right_and_wrong=evaluated)
    return found and found | worth(called_a_confidence=is_called_confidence(score))


def group_alone(group: Scores, features: Sequence[Feature]) -> dict[str, float]:
    """Weigh what a group of columns says by itself for being one a class."""
    members = [features[place] for place in group.places]
    is_list = members[0].kind == "list"
    table = table_of(members, members[0].rows)
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
