"""The best reading of a table, or a question where another is nearly as good."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from calibcore.probabilities import softmax
from dashboard.readers.contents import Options
from dashboard.readers.recognition.candidates import (
    Scores,
    may_say_classes,
    sums_to,
)
from dashboard.readers.recognition.events import event_of
from dashboard.readers.recognition.features import Feature, features_of, table_of
from dashboard.readers.recognition.further import further_role
from dashboard.readers.recognition.hypotheses import hypotheses
from dashboard.readers.recognition.scoring import (
    Hypothesis,
    is_called_prediction,
    says_event,
)
from dashboard.readers.recognition.vocabulary import CLASS_LIST_WORDS, WEIGHT_KEYS, folded
from dashboard.readers.refusal import Answer, FileError, Question, quoted
from dashboard.readers.table import ColumnRole, Reading, Table

MARGIN = 1.6
"""A reading that is less than this behind the best is asked about."""

_OF_PIECES, _OF_TURNED, _OF_EVENTS = 4.0, 2.6, 4.5
"""As `MARGIN`, where the best has no outcome, where true and predicted class are exchanged, and
where another column is named as an outcome too and rises with the score as well."""

_TOLD = frozenset({"called the outcome", "called an outcome", "says what happened"})
_NO_SCORE = frozenset(
    {"called another number", "called unsure", "one of several", "cut from the score",
     "named as an id", "counts up",
     "few values"}
)  # fmt: skip
_NO_OUTCOME = frozenset(
    {"called something else", "cells name sets", "cells say the sex", "called a prediction",
     "called correct or wrong"}
)  # fmt: skip
_RELATED = _TOLD | {"rises with the score", "largest at the outcome", "named by the cells"}
_WEAK = 3.0
"""Evidence of a relation with the score, below which an outcome without a name is asked about."""

_LONGEST, _OFF = 2_000_000, 0.02
_MOST_OUTCOMES, _MOST_SCORES, _MOST_ANSWERS = 30, 12, 5
_MATTERS = frozenset(
    {"outcome", "score", "class", "prediction", "correct", "ranked class", "ranked score"}
)


def recognise(table: Table, options: Options) -> Reading:
    """Return what each column of a table is for.

    Parameters
    ----------
    table : Table
        As a format hands it over.
    options : Options
        Roles that the user has set hold; the others are detected around them.

    Raises
    ------
    Question
        Two readings are about as good, or nothing says which value is the event.
    FileError
        No column can be the outcome or the score.
    """
    features = features_of(table)
    given = _given(features, options)
    ranked = sorted(hypotheses(features, given, named=table.named), key=lambda h: -h.total)
    fitting = [h for h in ranked if _fits(h, given)] or [_as_given(given)]
    best = fitting[0]
    if not _roles_of(best) or (not given and best.total <= 0):
        raise FileError(
            "columns", "no column that can be the outcome, and none that can be a score",
            "the true class and the score of each row, each in a column",
        )  # fmt: skip
    best = _of_same_order(best, fitting, features)
    _refuse_names(best, features)
    _refuse_long(features, table)
    _refuse_families(best, fitting, features, options)
    _ask(best, fitting, features, options)
    return _reading(best, features, given, options)


def _given(features: Sequence[Feature], options: Options) -> dict[int, ColumnRole]:
    """Return the roles that the user has set, by the place of the column."""
    places: dict[str, int] = {}
    for f in features:
        places.setdefault(f.name, f.place)
    given: dict[int, ColumnRole] = {}
    for name, role in options.roles:
        if name not in places:
            raise FileError("roles", f"no column {quoted(name)}", "the heading of a column")
        given[places[name]] = role
    if sum(role == "score" for role in given.values()) > 1:
        raise FileError("roles", "two columns set to score", "one score, or one class each")
    return given


def _roles_of(hypothesis: Hypothesis) -> dict[int, ColumnRole]:
    """Return the roles that matter."""
    roles: dict[int, ColumnRole] = dict.fromkeys(hypothesis.outcome, "outcome")
    scores = hypothesis.scores
    if scores is not None:
        kinds: Mapping[str, ColumnRole] = {
            "one": "score", "classes": "class", "ranked": "ranked score"
        }  # fmt: skip
        roles.update(dict.fromkeys(scores.places, kinds[scores.layout]))
        roles.update(dict.fromkeys(scores.ranked, "ranked class"))
    if hypothesis.prediction is not None:
        roles[hypothesis.prediction] = "prediction"
    if hypothesis.correct is not None:
        roles[hypothesis.correct] = "correct"
    return roles


def _fits(hypothesis: Hypothesis, given: Mapping[int, ColumnRole]) -> bool:
    roles = _roles_of(hypothesis)
    return all(
        roles.get(place) == role if role in _MATTERS else place not in roles
        for place, role in given.items()
    )


def _as_given(given: Mapping[int, ColumnRole]) -> Hypothesis:
    """Take the user's roles alone."""
    of: dict[str, tuple[int, ...]] = {
        role: tuple(place for place in sorted(given) if given[place] == role) for role in _MATTERS
    }
    scores = None
    if of["ranked score"]:
        scores = Scores("ranked", of["ranked score"], ranked=of["ranked class"])
    elif of["class"]:
        scores = Scores("classes", of["class"])
    elif of["score"]:
        scores = Scores("one", of["score"])
    return Hypothesis(
        scores, of["outcome"], next(iter(of["prediction"]), None), next(iter(of["correct"]), None)
    )


def _of_same_order(
    best: Hypothesis, others: Sequence[Hypothesis], features: Sequence[Feature]
) -> Hypothesis:
    """Prefer probabilities to a logit, or to percent, that says the same of every row."""
    if best.scores is None or best.scores.layout != "one":
        return best
    own = features[best.scores.places[0]]
    if own.is_share:
        return best
    for other in others:
        same = other.scores is not None and other.scores.layout == "one"
        if same and other.total > best.total - 3 and _same_roles_beside(best, other):
            score = features[other.scores.places[0]] if other.scores else own
            if score.is_share and _one_order(own, score):
                return other
    return best


def _same_roles_beside(first: Hypothesis, second: Hypothesis) -> bool:
    return (first.outcome, first.prediction, first.correct) == (
        second.outcome, second.prediction, second.correct,
    )  # fmt: skip


def _one_order(first: Feature, second: Feature) -> bool:
    """Return whether two columns of numbers put the rows in one order, of other numbers."""
    one, two = (table_of([f], first.rows)[:, 0] for f in (first, second))
    known = np.isfinite(one) & np.isfinite(two)
    order = np.lexsort((two[known], one[known]))
    rises = bool((np.diff(two[known][order]) >= -1e-6).all())
    return rises and first.is_share != second.is_share


def _refuse_names(best: Hypothesis, features: Sequence[Feature]) -> None:
    """Refuse lists of scores that fall in every row, beside lists of names that were not read."""
    texts = [
        f for f in features
        if f.column.unread.startswith("lists of texts") and {*f.words[-1:]} & CLASS_LIST_WORDS
        and (len(f.words) == 1 or f.words[0].startswith("top"))
    ]  # fmt: skip
    lists = [features[k] for k in best.scores.places] if best.scores else []
    if texts and lists and lists[0].kind == "list":
        table = table_of(lists[:1], lists[0].rows)
        if (table[:, 1:] <= table[:, :-1]).all():
            raise FileError(
                f"column {quoted(texts[0].name)}", "lists of names beside scores that fall",
                "one column of scores a class, or top1_class, top1_prob and so on",
            )  # fmt: skip


def _refuse_long(features: Sequence[Feature], table: Table) -> None:
    """Refuse one row per sample and class, whose scores sum to 1 within each sample."""
    shares = [f for f in features if f.is_share and not f.is_decided and not f.blank]
    for f in features:
        n_samples = table.n_rows // max(f.n_kinds, 1)
        if not may_say_classes(f) or f.n_kinds < 2 or n_samples < 2 or table.n_rows > _LONGEST:
            continue
        if not (f.counts == n_samples).all() or f.counts.sum() != table.n_rows:
            continue
        for score in shares:
            values = np.asarray(score.column.values, dtype=np.float64)
            ids = [k for k in features if k is not f and k.n_kinds == n_samples]
            sums = [values.reshape(n_samples, -1).sum(axis=1), values.reshape(-1, n_samples).sum(0)]
            sums += [np.bincount(k.kinds[1], values, n_samples) for k in ids if not k.blank]
            if any((np.abs(s - 1) < _OFF).all() for s in sums):
                raise FileError(
                    "table", f"one row per sample and class, by column {quoted(f.name)}",
                    "one row per sample: pivot the table so that each class has a column",
                )  # fmt: skip


def _refuse_families(
    best: Hypothesis, others: Sequence[Hypothesis], features: Sequence[Feature], options: Options
) -> None:
    """Ask which of two groups of columns of the same classes is meant."""
    if best.scores is None or best.scores.layout != "classes" or not best.scores.names:
        return
    names = {folded(name) for name in best.scores.names}
    for other in others:
        scores = other.scores
        if scores is None or {folded(name) for name in scores.names} != names:
            continue
        if {*scores.places} & {*best.scores.places} or "called unsure" in other.evidence:
            continue
        if not _say_the_same(best.scores, scores, features):
            raise _which_scores([best, other], features, options)


def _say_the_same(first: Scores, second: Scores, features: Sequence[Feature]) -> bool:
    """Return whether one group is the softmax, or the percentages, of the other."""
    rows = features[first.places[0]].rows
    tables = [
        table_of([features[place] for place in scores.places], rows) for scores in (first, second)
    ]
    shares = []
    for table in tables:
        whole = sums_to(table)
        shares.append(table / whole if whole else softmax(np.nan_to_num(table)))
    return bool(np.nanmax(np.abs(shares[0] - shares[1])) < 0.02)


def _ask(
    best: Hypothesis, others: Sequence[Hypothesis], features: Sequence[Feature], options: Options
) -> None:
    """Ask where a reading with another outcome, or with another score, is nearly as good."""
    near = [h for h in others if h is not best and h.total > best.total - _margin(best, h)]
    own = best.scores and best.scores.places
    rivals = [
        h for h in near
        if h.scores is not None and best.scores is not None and h.scores.places != own
        and not {*h.scores.places} < {*(own or ())} and not {*(own or ())} < {*h.scores.places}
        and not _same_order(best.scores, h.scores, features)
        and not _same_classes(best.scores, h.scores, features)
    ]  # fmt: skip
    rivals += [h for h in others if h not in rivals and _is_second_score(best, h, features)]
    if rivals:
        asked = [best, *rivals]
        places = {h.scores.places[0] for h in asked if h.scores and h.scores.layout == "one"}
        asked += [h for h in others if _is_both(h, places)][:1]
        raise _which_scores(asked, features, options)
    _ask_of_score(best, features, options)
    rivals = [
        h for h in others
        if h is not best and h.scores == best.scores and _truths(h) != _truths(best)
        and (h in near or _is_second_outcome(best, h, features))
        and ("cut from the score" not in h.evidence or "cut from the score" in best.evidence)
    ]  # fmt: skip
    if rivals:
        order = sorted([best, *rivals], key=lambda h: (_foretells(h), not h.is_whole))
        raise _which_outcome(order, features, options)


def _is_second_score(best: Hypothesis, other: Hypothesis, features: Sequence[Feature]) -> bool:
    """Return whether another column may be a score of the same outcome, such as of a second model.

    However well each does, a person must say which of the two is meant.
    """
    if best.scores is None or other.scores is None or not best.outcome:
        return False
    if not best.scores.layout == other.scores.layout == "one" or best.scores == other.scores:
        return False
    told = {"called a score", "percent"} & other.evidence.keys()
    if not told or _NO_SCORE & other.evidence.keys() or not _same_roles_beside(best, other):
        return False
    own, second = (features[h.scores.places[0]] for h in (best, other) if h.scores)
    alike = own.is_share == second.is_share and own.is_percent == second.is_percent
    alike = alike and not _one_order(own, second)
    rises, others = (h.evidence.get("rises with the score", 0.0) for h in (best, other))
    return alike and others > rises / 2


def _ask_of_score(best: Hypothesis, features: Sequence[Feature], options: Options) -> None:
    """Ask whether a number that nothing calls a score, and that foretells nothing, is one."""
    scores = best.scores
    if scores is None or scores.layout != "one" or not best.is_whole:
        return
    own = features[scores.places[0]]
    told = bool({"called a score", "foretold", "same words"} & best.evidence.keys())
    told = (told or best.prediction is not None) and "called unsure" not in best.evidence
    if told or not own.words or (own.name, "score") in options.roles:
        return
    yes = Answer("It is the score", why_of(best, _OF_SCORE),
                 _change([(own.place, "score")], features, options))  # fmt: skip
    answers = (yes, _no_score({own.place}, features, options))
    likely = not {"called another number", "called unsure"} & best.evidence.keys()
    raise Question(
        f"column {quoted(own.name)}", "no other column that can be the score",
        "Is this the score of the model?", answers if likely else answers[::-1],
    )  # fmt: skip


def _no_score(places: set[int], features: Sequence[Feature], options: Options) -> Answer:
    roles: list[tuple[int, ColumnRole]] = [(place, "group") for place in sorted(places)]
    why = "Then add a column with the model's score to the file."
    return Answer("There is no score", why, _change(roles, features, options))


def _is_second_outcome(best: Hypothesis, other: Hypothesis, features: Sequence[Feature]) -> bool:
    """Return whether the score rises as much with another outcome, or the best is a mere group."""
    one = best.scores is not None and best.scores.layout == "one" and best.prediction is None
    if not one or "called the outcome" in best.evidence:
        return False
    if not other.outcome and other.correct is None:
        told = _TOLD & best.evidence.keys() or bool(says_event({*_kinds_of(best, features)}))
        return "called something else" in best.evidence and not told
    rises, others = (h.evidence.get("rises with the score", 0.0) for h in (best, other))
    cut = "cut from the score" in other.evidence
    if not _TOLD & best.evidence.keys() and rises < _WEAK and "two values" in other.evidence:
        return not _NO_OUTCOME & other.evidence.keys()
    return others > max(0.9 * rises, 1.0) and not cut and "not two values" not in other.evidence


def _kinds_of(hypothesis: Hypothesis, features: Sequence[Feature]) -> frozenset[str]:
    places = hypothesis.outcome[:1]
    return features[places[0]].folded_kinds if places else frozenset()


def _foretells(hypothesis: Hypothesis) -> bool:
    """Return whether the outcome is named as a prediction."""
    evidence = hypothesis.evidence
    return "called a prediction" in evidence and not _TOLD & evidence.keys()


def _is_both(hypothesis: Hypothesis, places: set[int]) -> bool:
    """Return whether a reading takes all of some columns for one a class."""
    scores = hypothesis.scores
    told = {"as many as classes", "largest at the outcome"} <= hypothesis.evidence.keys()
    fits = hypothesis.is_whole and told
    return fits and scores is not None and places == {*scores.places} and len(places) > 1


def _margin(best: Hypothesis, other: Hypothesis) -> float:
    """Return how far another reading must be behind the best one not to be asked about."""
    related = _RELATED & other.evidence.keys()
    if best.scores == other.scores and best.is_whole != other.is_whole:
        if other.is_whole:
            return _OF_PIECES if related else 0.0
        return 0.0 if _RELATED & best.evidence.keys() else MARGIN
    if best.prediction is not None and best.prediction in other.outcome:
        return _OF_TURNED
    own, others = (h.evidence.get("rises with the score", 0.0) for h in (best, other))
    told = bool(_TOLD & other.evidence.keys()) and best.outcome != other.outcome
    return _OF_EVENTS if told and others > max(own / 2, 0) else MARGIN


def _same_order(first: Scores, second: Scores, features: Sequence[Feature]) -> bool:
    if first.layout != "one" or second.layout != "one":
        return False
    return _one_order(features[first.places[0]], features[second.places[0]])


def _same_classes(first: Scores, second: Scores, features: Sequence[Feature]) -> bool:
    if first.layout != "classes" or first.folded_names != second.folded_names:
        return False
    return len(first.places) == len(second.places) and _say_the_same(first, second, features)


def _truths(hypothesis: Hypothesis) -> tuple[int, ...]:
    """Return the columns of what is true, or of whether it was foretold."""
    correct = hypothesis.correct
    return hypothesis.outcome if correct is None else (*hypothesis.outcome, correct)


def _change(
    roles: Iterable[tuple[int, ColumnRole]], features: Sequence[Feature], options: Options
) -> dict[str, object]:
    """Add roles to those that the user has set already."""
    said: dict[str, ColumnRole] = dict(options.roles)
    said.update((features[place].name, role) for place, role in roles)
    return {"roles": tuple(said.items())}


def _which_scores(
    near: Sequence[Hypothesis], features: Sequence[Feature], options: Options
) -> Question:
    answers: dict[tuple[int, ...], Answer] = {}
    asked = {place for h in near if h.scores for place in h.scores.places}
    for h in near:
        if h.scores is None or h.scores.places in answers:
            continue
        places = h.scores.places
        roles = [(place, role) for place, role in _roles_of(h).items() if place in places]
        others: list[tuple[int, ColumnRole]] = [(p, "group") for p in sorted(asked - {*places})]
        said = " and ".join(quoted(features[place].name) for place in places[:2])
        said += f" and {len(places) - 2} more" if len(places) > 2 else ""
        said += ", one a class" if len(places) > 1 else ""
        answers[places] = Answer(
            said, why_of(h, _OF_SCORE), _change([*roles, *others], features, options)
        )
    found = [*answers.values()][:_MOST_ANSWERS]
    named = " or ".join(answer.said for answer in found[:3])
    if not any({"called a score", "named as scores"} & h.evidence.keys() for h in near):
        found.append(_no_score(asked, features, options))
    return Question(
        "columns", f"{len(answers)} readings of the score: {named}",
        "Which of these is the score to evaluate?", tuple(found),
    )  # fmt: skip


def _which_outcome(
    near: Sequence[Hypothesis], features: Sequence[Feature], options: Options
) -> Question:
    answers: dict[tuple[int, ...], Answer] = {}
    asked = {place for h in near for place in _truths(h)}
    for h in near:
        roles = {p: r for p, r in _roles_of(h).items() if r in _TRUTHS}
        others: list[tuple[int, ColumnRole]] = [(p, "group") for p in sorted(asked - {*roles})]
        said = " and ".join(quoted(features[place].name) for place in _truths(h)[:2])
        why = why_of(h, _OF_OUTCOME) if roles else "the outcomes are in another file"
        answers.setdefault(
            _truths(h),
            Answer(
                said or "None of them", why, _change([*roles.items(), *others], features, options)
            ),
        )
    named = " or ".join(answer.said for answer in [*answers.values()] if '"' in answer.said)
    return Question(
        "columns", f"columns that can be the outcome: {named}",
        "Which column says what happened?", tuple(answers.values())[:_MOST_ANSWERS],
    )  # fmt: skip


_TRUTHS = ("outcome", "correct", "prediction")
_OF_OUTCOME = {
    "called the outcome": "named as the outcome",
    "says what happened": "its name says what happened",
    "rises with the score": "rises with the score",
    "called an outcome": "perhaps named as the outcome",
    "called correct": "says whether the prediction was correct",
    "cells say yes and no": "yes or no",
    "cells say what happened": "its cells say what happened",
    "two values": "two values",
}
_OF_SCORE = {
    "rises with the score": "rises with the outcome",
    "called a score": "named as a score",
    "named as scores": "named as scores",
    "sums": "each row sums to 1 or 100",
    "named by the cells": "named by the outcome",
    "largest at the outcome": "the largest is mostly that of the outcome",
    "from 0 to 1": "from 0 to 1",
    "percent": "percent",
}


def why_of(hypothesis: Hypothesis, said_of: Mapping[str, str]) -> str:
    """Return what speaks most for a reading, in one sentence."""
    found = sorted(hypothesis.evidence.items(), key=lambda item: -item[1])
    said = [said_of[name] for name, weight in found if weight > 0 and name in said_of]
    return (", ".join(said[:3]) or "nothing else fits better") + "."


def _reading(
    best: Hypothesis,
    features: Sequence[Feature],
    given: Mapping[int, ColumnRole],
    options: Options,
) -> Reading:
    """Give each column its role and the reason."""
    chosen = _with_prediction(best, features, given)
    matter = _roles_of(chosen)
    roles: list[ColumnRole] = []
    reasons: list[str] = []
    for f in features:
        if f.place in given:
            role, why = given[f.place], ""
        elif f.place in matter:
            role, why = matter[f.place], _reason(f, matter[f.place], chosen)
        else:
            role, why = further_role(f)
        roles.append(role)
        reasons.append(why)
    scores = chosen.scores
    named = any(f.words for f in features)
    names = scores.names if named and scores is not None and scores.layout == "classes" else ()
    event, said = event_of(chosen, features, options)
    found = (*_found(chosen, features), *said)
    doubts = [
        f"Column {quoted(f.name)} is not used as a weight: each row counts once."
        for f, role in zip(features, roles, strict=True)
        if role == "group" and f.is_number and f.key in WEIGHT_KEYS
    ]
    return Reading(tuple(roles), tuple(reasons), names, event, found, tuple(doubts))


def _with_prediction(
    best: Hypothesis, features: Sequence[Feature], given: Mapping[int, ColumnRole]
) -> Hypothesis:
    """Add the file's own predictions to one column a class."""
    if best.scores is None or best.scores.layout != "classes" or best.prediction is not None:
        return best
    taken = {*_roles_of(best), *given}
    n_classes = len(best.scores.places)
    for f in features:
        if f.place in taken or not may_say_classes(f) or (f.is_decided and n_classes > 2):
            continue
        if is_called_prediction(f):
            return replace(best, prediction=f.place)
    return best


def _reason(feature: Feature, role: ColumnRole, best: Hypothesis) -> str:
    said = {name.removeprefix("outcome ") for name, weight in best.evidence.items() if weight > 1}
    if role == "outcome":
        kinds = "two values" if feature.is_two else f"{feature.n_kinds:,} values"
        named = {"called the outcome", "says what happened", "called an outcome"} & said
        parts = [
            kinds if len(best.outcome) == 1 else "0 and 1",
            "named as an outcome" if named else "",
            "rises with the score" if "rises with the score" in said else "",
        ]
    elif role in ("score", "class", "ranked score"):
        parts = [
            "named as a score" if {"called a score", "named as scores"} & said else "",
            "rows sum to 1 or 100" if "sums" in said else "",
            "0 to 1" if feature.is_share else "percent" if feature.is_percent else "numbers",
        ]
    else:
        words = {"prediction": "predicted class", "correct": "says if the prediction was correct"}
        parts = [words.get(role, "most probable classes")]
    return ", ".join(filter(None, parts))


def _found(best: Hypothesis, features: Sequence[Feature]) -> tuple[str, ...]:
    said = []
    if best.scores is not None and not best.outcome and best.correct is None:
        said.append("No column can be the outcome.")
    if best.scores is None:
        said.append("No column can be a score.")
    if len(best.outcome) == 1:
        said.append(f"Outcome: column {quoted(features[best.outcome[0]].name)}.")
    if best.scores is not None and best.scores.layout == "one":
        said.append(f"Score: column {quoted(features[best.scores.places[0]].name)}.")
    return tuple(said)
