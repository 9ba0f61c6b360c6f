"""Questions where another reading of a table is nearly as good, or none is told."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from calibcore.probabilities import softmax
from dashboard.readers.recognition.columns import (
    Hypothesis,
    Scores,
    claims_score,
    outcome_marks,
    sums_to,
)
from dashboard.readers.recognition.features import Feature, says_event, says_the_same, table_of
from dashboard.readers.recognition.groups import names_rows
from dashboard.readers.recognition.outcomes import speaks_of_event
from dashboard.readers.recognition.vocabulary import (
    GROUP_STEMS,
    QUIET_STEMS,
    begins,
    is_called_odds,
    words_of,
)
from dashboard.readers.records import ColumnRole, ReadingOptions
from dashboard.readers.refusal import Answer, Question, quoted

MARGIN = 1.6
"""A reading that is less than this behind the best is asked about."""

_OF_PIECES, _OF_TURNED, _OF_EVENTS = 4.0, 2.6, 4.5
"""As `MARGIN`, where the best has no outcome, where true and predicted class are exchanged, and
where another column is named as an outcome too and rises with the score as well."""

_AS_OUTCOME = frozenset({"called the outcome", "called an outcome", "says what happened"})

_NO_SCORE = frozenset(
    {"called another number", "called unsure", "one of several", "cut from the score",
     "named as an id", "counts up"}
)  # fmt: skip

_NO_OUTCOME = frozenset(
    {"called something else", "cells name sets", "called a prediction",
     "called correct or wrong"}
)  # fmt: skip

_RELATED = _AS_OUTCOME | {"rises with the score", "largest at the outcome", "named by the cells"}

_SOMETHING_ELSE = -1.0
"""Evidence against an outcome, below which a name of an outcome counts for nothing."""

_WEAK = 3.0
"""Evidence of a relation with the score, below which an outcome without a name is asked about."""

_MOST_ANSWERS, _MOST_SCORES, _MOST_STATUSES = 5, 12, 12

_SURELY_FORETOLD = 2.9
"""Evidence of an outcome foretold, from which a number without a name beside others is a score."""

_FEW_ROWS = 10
"""Of fewer rows of an outcome a score may well distinguish all."""

_ROUNDED = 0.0051
"""So far a share may be from the same in whole percent."""


def roles_of(hypothesis: Hypothesis) -> dict[int, ColumnRole]:
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


def same_roles_beside(first: Hypothesis, second: Hypothesis) -> bool:
    """Return whether two readings differ in the score alone."""
    return (first.outcome, first.prediction, first.correct) == (
        second.outcome, second.prediction, second.correct,
    )  # fmt: skip


def one_order(first: Feature, second: Feature) -> bool:
    """Return whether a column beside shares says the same: as percent, or in the same order."""
    if first.is_share == second.is_share:
        return False
    one, two = (table_of([f])[:, 0] for f in (first, second))
    known = np.isfinite(one) & np.isfinite(two)
    other = second if first.is_share else first
    if other.low >= 0 and other.high <= 100:  # a recalibrated score has the same order
        shares, hundreds = (one, two) if first.is_share else (two, one)
        return bool((np.abs(hundreds[known] / 100 - shares[known]) < _ROUNDED).all())
    order = np.lexsort((two[known], one[known]))
    return bool((np.diff(two[known][order]) >= -1e-6).all())


def say_the_same(first: Scores, second: Scores, features: Sequence[Feature]) -> bool:
    """Return whether one group is the softmax, or the percentages, of the other."""
    tables = [table_of([features[place] for place in scores.places]) for scores in (first, second)]
    if tables[0].shape != tables[1].shape or tables[0].shape[1] < 2:
        return False
    shares = []
    for table in tables:
        whole = sums_to(table)
        shares.append(table / whole if whole else softmax(np.nan_to_num(table)))
    return bool(np.nanmax(np.abs(shares[0] - shares[1])) < 0.02)


def ask(
    best: Hypothesis,
    others: Sequence[Hypothesis],
    features: Sequence[Feature],
    options: ReadingOptions,
) -> None:
    """Ask where a reading with another outcome, or with another score, is nearly as good."""
    near = [h for h in others if h is not best and h.total > best.total - _margin(best, h)]
    _ask_which_score(best, near, others, features, options)
    _ask_of_score(best, features, options)
    _ask_of_decision(best, features, options)
    rivals = [
        h for h in others
        if h is not best and h.scores == best.scores and _truths(h) != _truths(best)
        and (h in near or _is_second_outcome(best, h, features))
        and ("cut from the score" not in h.evidence or "cut from the score" in best.evidence)
        and not any(
            says_the_same(features[one], features[other])
            for one in best.outcome for other in h.outcome if _is_of_event(best) and _is_of_event(h)
        )
    ]  # fmt: skip
    if rivals:
        order = sorted(
            [best, *rivals],
            key=lambda h: (
                _foretells(h),
                not h.is_whole,
                -claims_outcome(h) - 1.5 * _by_words(h)[0],
            ),
        )
        raise _which_outcome(order, features, options)


def _ask_which_score(
    best: Hypothesis,
    near: Sequence[Hypothesis],
    others: Sequence[Hypothesis],
    features: Sequence[Feature],
    options: ReadingOptions,
) -> None:
    """Ask where another score is nearly as good, or a second one."""
    own = best.scores and best.scores.places
    rivals = [
        h for h in near
        if h.scores is not None and best.scores is not None and h.scores.places != own
        and not {*h.scores.places} < {*(own or ())} and not {*(own or ())} < {*h.scores.places}
        and not _same_order(best.scores, h.scores, features)
        and not _same_classes(best.scores, h.scores, features)
    ]  # fmt: skip
    rivals += [
        h for h in others
        if h not in rivals
        and (is_second_score(best, h, features) or _is_as_nameless(best, h, features))
    ]  # fmt: skip
    if rivals:
        rivals = _all_alike(best, rivals, others, features)
        likeliests = sorted([best, *rivals], key=lambda h: not _CALLED & h.evidence.keys())
        places = {h.one for h in likeliests if h.one is not None}
        likeliests += [h for h in others if _is_both(h, places)][:1]
        likeliest = {h.scores: h for h in sorted(others, key=_by_words)}
        likeliests = [likeliest[h.scores] if h.scores else h for h in likeliests]
        raise which_scores(likeliests, features, options)


def _by_words(hypothesis: Hypothesis) -> tuple[bool, float]:
    """Return a key: first whether score and outcome are called alike, as of several labels."""
    evidence = hypothesis.evidence
    return {"same words", "two values"} <= evidence.keys(), hypothesis.total


def _is_of_event(hypothesis: Hypothesis) -> bool:
    """Return whether one score is of an event, which an outcome and its opposite both name."""
    one = hypothesis.one is not None and hypothesis.prediction is None
    return one and len(hypothesis.outcome) == 1


def is_second_score(best: Hypothesis, other: Hypothesis, features: Sequence[Feature]) -> bool:
    """Return whether another column is a score too, whatever its scale: a person says which."""
    if best.one is None or other.one in (None, best.one) or not best.outcome:
        return False
    called = {"called a score", "percent"} & other.evidence.keys()
    if not called or _NO_SCORE & other.evidence.keys():
        return False
    if not same_roles_beside(best, other):
        return is_second_pair(best, other)
    own, second = (features[place] for place in (best.one, other.one) if place is not None)
    # A risk factor, or what follows from the outcome, often foretells more than the score does.
    surer = claims_score(second) > claims_score(own) == 0 < other.rises
    return not one_order(own, second) and (surer or other.rises > best.rises / 2)


def _is_as_nameless(best: Hypothesis, other: Hypothesis, features: Sequence[Feature]) -> bool:
    """Return whether nothing names either column the score, and both are shares."""
    if best.one is None or other.one in (None, best.one) or not same_roles_beside(best, other):
        return False
    named = {"called a score", "same words"}
    return not any(
        named & h.evidence.keys() or _NO_SCORE & h.evidence.keys()
        or "from 0 to 1" not in h.evidence for h in (best, other)
    ) and not one_order(features[best.one], features[other.one])  # fmt: skip


def _all_alike(
    best: Hypothesis,
    rivals: Sequence[Hypothesis],
    others: Sequence[Hypothesis],
    features: Sequence[Feature],
) -> list[Hypothesis]:
    """Add further models; a logit beside its own probability, which says the same, goes."""
    more = [h for h in others if h not in rivals and _is_alike(best, h, features)]
    every = [*rivals, *more]
    shares = [h for h in (best, *every) if h.one is not None and features[h.one].is_share]
    return [
        h for h in every
        if not any(h.scores and s.scores and _same_order(h.scores, s.scores, features)
                   for s in shares if s is not h)
    ]  # fmt: skip


def _is_alike(best: Hypothesis, other: Hypothesis, features: Sequence[Feature]) -> bool:
    """Return whether shares rise with the same outcome too, as of a further model or person."""
    if best.one is None or other.one in (None, best.one) or not same_roles_beside(best, other):
        return False
    fits = other.one is not None and all(features[k].is_share for k in (best.one, other.one))
    no_score = _NO_SCORE & other.evidence.keys()
    return fits and not no_score and other.rises > best.rises / 2


def is_second_pair(best: Hypothesis, other: Hypothesis) -> bool:
    """Return whether another score is of another outcome that shares its words: a further label."""
    apart = best.scores != other.scores and not {*_truths(best)} & {*_truths(other)}
    events = _is_of_event(best) and _is_of_event(other)
    named = all(_AS_OUTCOME & h.evidence.keys() for h in (best, other))
    alike = all(_by_words(h)[0] for h in (best, other))
    return apart and events and ((named and other.rises > best.rises / 2) or alike)


def ask_of_unusable(
    best: Hypothesis,
    features: Sequence[Feature],
    given: Mapping[int, ColumnRole],
    options: ReadingOptions,
) -> list[str]:
    """Return which columns are named as what they cannot be, or ask before others are taken."""
    doubts, taken = [], roles_of(best)
    chosen = {"score": best.scores.places if best.scores else (), "outcome": _truths(best)}
    for f in features:
        role, claim, why = _claim_of(f)
        if f.place in taken or given.get(f.place, "left out") != "left out" or not why:
            continue
        if not claim:
            doubts += [f"Column {quoted(f.name)} names no rows: it is {why}."] * names_rows(f)
            continue
        text = f"{why}, so it cannot be the {role}"
        doubts += [f"Column {quoted(f.name)} is {text}."] * bool(f.unusable or not chosen[role])
        _ask_of_blank(best, f, features, options)
        least = claim if f.unusable else 1
        for own in (features[place] for place in chosen[role][:1]):
            weaker = claims_score(own) if role == "score" else own.claims_outcome
            if len(chosen[role]) == 1 and own.place not in given and weaker < least:
                change = _change([(own.place, taken[own.place])], features, options)
                answer = Answer(f"Take {quoted(own.name)}", _IF_NOT, change)
                ask = f"Is {quoted(own.name)} the {role} instead?"
                raise Question(f"column {quoted(f.name)}", text, ask, (answer,))
    return doubts


def _ask_of_blank(
    best: Hypothesis, f: Feature, features: Sequence[Feature], options: ReadingOptions
) -> None:
    """Ask whether cells without a mark mean no, in the only column that can be the outcome."""
    if best.scores is None or _truths(best) or f.n_kinds != 1 or not f.claims_outcome:
        return
    yes = f.kinds[0][0]
    n_blank = len(f.column.values) - int(f.counts.sum())
    if not n_blank:
        return
    change = _change([(f.place, "outcome")], features, options) | {"event": yes}
    unknown = _change([(f.place, "left out")], features, options)
    raise Question(
        f"column {quoted(f.name)}", f.unusable, "Does a blank cell say that it did not happen?",
        (Answer("Yes", f"The blank cells count as {quoted(f'not {yes}', 30)}.", change),
         Answer("No, it is unknown", "Then the outcomes are in another file.", unknown)),
    )  # fmt: skip


def _claim_of(f: Feature) -> tuple[str, int, str]:
    """Return what a heading names, how surely, and why the column cannot be so."""
    score, outcome = 0 if f.is_date else claims_score(f), f.claims_outcome
    in_words = f.kind == "text" and score > 1 and not begins(f.words, GROUP_STEMS)
    why = f.unusable
    if in_words and not why:
        why = f.spelt or f"words such as {quoted(f.kinds[0][0], 20)}"
    return ("score", score, why) if score >= outcome else ("outcome", outcome, why)


_IF_NOT = (
    "If it is not, fill the column and bring the file again; formulas need the values that a"
    " spreadsheet program saves."
)


def ask_of_statuses(best: Hypothesis, features: Sequence[Feature], options: ReadingOptions) -> None:
    """Ask whether a column of several words, of which some are of an event, is the outcome."""
    if best.scores is None or best.outcome or best.correct is not None:
        return
    given = {name for name, _ in options.roles}
    for f in (one for one in features if one.kind == "text" and one.name not in given):
        kinds = f.folded_kinds if 2 < f.n_kinds <= _MOST_STATUSES else frozenset()
        events = {kind for kind in kinds if speaks_of_event(kind)}
        if events and any(begins(words_of(kind), QUIET_STEMS) for kind in kinds - events):
            yes, no = (
                _change([(f.place, role)], features, options) for role in ("outcome", "group")
            )
            text = f"{f.n_kinds} values, such as {quoted(f.kinds[0][0], 20)}"
            raise Question(
                f"column {quoted(f.name)}", text, "Does it say what happened?",
                (Answer("Yes, it is the outcome", "Which of them are the event comes next.", yes),
                 Answer("No", "The outcomes are in another file.", no)),
            )  # fmt: skip


def _ask_of_score(best: Hypothesis, features: Sequence[Feature], options: ReadingOptions) -> None:
    """Ask whether a number that nothing calls a score, and that foretells nothing, is one."""
    if best.one is None or not best.is_whole:
        return
    own = features[best.one]
    sure = bool({"called a score", "same words"} & best.evidence.keys())
    beside = any(
        f.is_number and not f.is_decided and not names_rows(f) and not f.counts_up
        for f in features if f.place not in roles_of(best)
    )  # fmt: skip
    foretold = best.evidence.get("foretold", 0.0)
    unlike = beside and "called another number" in best.evidence
    sure |= not unlike and foretold > (_SURELY_FORETOLD if beside else 0)
    sure = (sure or best.prediction is not None) and "called unsure" not in best.evidence
    odds = is_called_odds(own.name)
    if (sure and not odds) or not own.words or (own.name, "score") in options.roles:
        return
    yes = Answer("It is the score", why_of(best, _OF_SCORE),
                 _change([(own.place, "score")], features, options))  # fmt: skip
    answers = (yes, _no_score({own.place}, features, options))
    likely = not odds and not {"called another number", "called unsure"} & best.evidence.keys()
    raise Question(
        f"column {quoted(own.name)}", "no other column that can be the score",
        "Is this the score of the model?", answers if likely else answers[::-1],
    )  # fmt: skip


def _ask_of_decision(
    best: Hypothesis, features: Sequence[Feature], options: ReadingOptions
) -> None:
    """Ask of an outcome that is one above some score and the other below what decided it."""
    if "cut from the score" not in best.evidence or len(best.outcome) != 1 or best.one is None:
        return
    score, own = features[best.one], features[best.outcome[0]]
    marks = outcome_marks(own)
    if marks is None or (own.name, "outcome") in options.roles:
        return
    values = score.column.values.astype(np.float64)
    yes = max((0, 1), key=lambda kind: np.nanmean(values[marks == kind]))
    others = marks == 1 - yes
    if min((marks == yes).sum(), others.sum()) < _FEW_ROWS:
        return
    kind = quoted(own.kinds[0][(own.main or ())[yes]], 20)
    least = np.nanmin(values[marks == yes])
    if np.nanmax(values[others]) >= least:
        return
    text = f"{kind} in each row with a score of at least {least:.4g}, and in no other"
    answers = [
        Answer(quoted(f.name), "Which of its values are the event may come next.",
               _change([(f.place, "outcome"), (own.place, "left out")], features, options))
        for f in sorted(features, key=lambda f: -f.claims_outcome)
        if f.place not in {score.place, own.place} and 2 <= f.n_kinds <= _MOST_STATUSES
        and (f.kind == "text" or f.whole) and not names_rows(f)
    ][:_MOST_ANSWERS - 2]  # fmt: skip
    raise Question(
        f"column {quoted(own.name)}", text, "What was decided by the score is no outcome. "
        "Which column says what happened?",
        (*answers,
         Answer("None: the score decided it", "The outcomes are in another file.",
                _change([(own.place, "left out")], features, options)),
         Answer(f"{quoted(own.name)} happened so", "Then the score distinguishes all outcomes.",
                _change([(own.place, "outcome")], features, options))),
    )  # fmt: skip


def _no_score(places: set[int], features: Sequence[Feature], options: ReadingOptions) -> Answer:
    roles: list[tuple[int, ColumnRole]] = [(place, "group") for place in sorted(places)]
    why = "Then add a column with the model's score to the file."
    if len(places) > 1:
        why = "Then add a column with one score per row: of several forecasts, such as their mean."
    if any(is_called_odds(features[place].name) for place in places):
        why = "Then add a column of probabilities: of decimal odds, 1 / odds without the margin."
    return Answer("None of these" if len(places) > 1 else "There is no score", why,
                  _change(roles, features, options))  # fmt: skip


def _is_second_outcome(best: Hypothesis, other: Hypothesis, features: Sequence[Feature]) -> bool:
    """Return whether the score rises as much with another outcome, or the best is a mere group."""
    one = best.one is not None and best.prediction is None
    if not one or "called the outcome" in best.evidence:
        return False
    if not other.outcome and other.correct is None:
        kinds = {kind for place in best.outcome[:1] for kind in features[place].folded_kinds}
        of_event = _AS_OUTCOME & best.evidence.keys() or says_event(kinds)
        return "called something else" in best.evidence and not of_event
    weak = not _AS_OUTCOME & best.evidence.keys() and best.rises < _WEAK
    if weak and "two values" in other.evidence:
        return not _NO_OUTCOME & other.evidence.keys()
    other_kinds = {"cut from the score", "not two values", "cells name sets"}
    fits = not other_kinds & other.evidence.keys()
    alone = _by_words(best)[0] and not _by_words(other)[0]
    least = 0.0 if claims_outcome(other) >= claims_outcome(best) and not alone else 0.9
    return fits and other.rises > max(least * best.rises, 1.0)


def claims_outcome(hypothesis: Hypothesis) -> int:
    """Return how surely a heading is of an outcome, from -1 to 2.

    Nothing else tells: a score rises with what it is made of too, and often more.
    """
    evidence = hypothesis.evidence
    if any(evidence.get(name, 0.0) < _SOMETHING_ELSE for name in _NO_OUTCOME):
        return -1
    return 2 if "called the outcome" in evidence else int(bool(_AS_OUTCOME & evidence.keys()))


def _foretells(hypothesis: Hypothesis) -> bool:
    """Return whether the outcome is named as a prediction."""
    evidence = hypothesis.evidence
    return "called a prediction" in evidence and not _AS_OUTCOME & evidence.keys()


def _is_both(hypothesis: Hypothesis, places: set[int]) -> bool:
    """Return whether a reading takes all of some columns for one a class."""
    scores = hypothesis.scores
    fits_classes = {"as many as classes", "largest at the outcome"} <= hypothesis.evidence.keys()
    fits_classes = fits_classes and "no sums" not in hypothesis.evidence
    fits = hypothesis.is_whole and fits_classes
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
    named = bool(_AS_OUTCOME & other.evidence.keys()) and best.outcome != other.outcome
    return _OF_EVENTS if named and other.rises > max(best.rises / 2, 0) else MARGIN


def _same_order(first: Scores, second: Scores, features: Sequence[Feature]) -> bool:
    if first.layout != "one" or second.layout != "one":
        return False
    return one_order(features[first.places[0]], features[second.places[0]])


def _same_classes(first: Scores, second: Scores, features: Sequence[Feature]) -> bool:
    if first.layout != "classes" or first.folded_names != second.folded_names:
        return False
    return len(first.places) == len(second.places) and say_the_same(first, second, features)


def _truths(hypothesis: Hypothesis) -> tuple[int, ...]:
    """Return the columns of what is true, or of whether it was foretold."""
    correct = hypothesis.correct
    return hypothesis.outcome if correct is None else (*hypothesis.outcome, correct)


def _change(
    roles: Iterable[tuple[int, ColumnRole]], features: Sequence[Feature], options: ReadingOptions
) -> dict[str, object]:
    """Add roles to those that the user has set already."""
    by_name: dict[str, ColumnRole] = dict(options.roles)
    by_name.update((features[place].name, role) for place, role in roles)
    return {"roles": tuple(by_name.items())}


def which_scores(
    near: Sequence[Hypothesis], features: Sequence[Feature], options: ReadingOptions
) -> Question:
    """Return the question which of several columns, or groups of them, is the score."""
    answers: dict[tuple[int, ...], Answer] = {}
    all_places = {place for h in near if h.scores for place in h.scores.places}
    lone = [h for h in near if h.one is not None]
    called = {bool(_CALLED & h.evidence.keys()) for h in lone}
    alike = len(called) == 1 and near[0] in lone
    several = len({*map(_truths, lone)}) > 1
    for h in sorted(near, key=_lone_first) if alike else near:
        if h.scores is None or h.scores.places in answers:
            continue
        places = h.scores.places
        truths = _truths(h) if several and h in lone else ()
        text = " and ".join(quoted(features[place].name) for place in places[:2])
        text += f" and {len(places) - 2} more" if len(places) > 2 else ""
        text += ", one a class" if len(places) > 1 else ""
        text += f" of {quoted(features[truths[0]].name)}" if truths else ""
        roles = _chosen(h, {*places, *truths}, near, all_places)
        if truths:  # other outcomes and their scores are no groups
            pairs = {p for other in lone for p in roles_of(other)}
            roles += [(p, "left out") for p in sorted(pairs - {*roles_of(h)})]
        answers[places] = Answer(text, why_of(h, _OF_SCORE), _change(roles, features, options))
    offered = [*answers.values()][:_MOST_SCORES]
    named = " or ".join(answer.label for answer in offered[:3])
    if lone:
        offered.append(_no_score(all_places, features, options))
    return Question(
        "columns", f"{len(answers)} readings of the score: {named}",
        "Which of these is the score to evaluate?", tuple(offered), ranked=not alike,
    )  # fmt: skip


_CALLED = {"called a score", "named as scores", "percent"}


def _lone_first(hypothesis: Hypothesis) -> tuple[int, tuple[int, ...]]:
    places = hypothesis.scores.places if hypothesis.scores else ()
    return len(places), places


def _chosen(
    best: Hypothesis, places: set[int], near: Sequence[Hypothesis], numbers: set[int]
) -> list[tuple[int, ColumnRole]]:
    """Return the roles of a reading, and as groups what would join them in another reading."""
    roles = {p: role for p, role in roles_of(best).items() if p in places}
    more = {p for h in near if roles.items() <= roles_of(h).items() for p in roles_of(h)}
    more = numbers if "class" in roles.values() else more
    others: list[tuple[int, ColumnRole]] = [(p, "group") for p in sorted(more & numbers - {*roles})]
    return [*roles.items(), *others]


def _which_outcome(
    near: Sequence[Hypothesis], features: Sequence[Feature], options: ReadingOptions
) -> Question:
    answers: dict[tuple[int, ...], Answer] = {}
    all_places = {place for h in near for place in _truths(h)}
    for h in near:
        roles = {p for p, role in roles_of(h).items() if role in _TRUTHS}
        changed = _chosen(h, roles, near, all_places)
        text = " and ".join(quoted(features[place].name) for place in _truths(h)[:2])
        why = why_of(h, _OF_OUTCOME) if roles else "The outcomes are in another file."
        answers.setdefault(
            _truths(h), Answer(text or "None of them", why, _change(changed, features, options))
        )
    names = [answer.label for answer in answers.values() if '"' in answer.label]
    if len(names) == 1:
        why = next(one.why for one in answers.values() if one.label in names)
        return Question(
            f"column {names[0]}", f"may be the outcome: {why.rstrip('.')}",
            "Does it say what happened?",
            tuple(
                replace(one, label="Yes, it is the outcome", why="No other column fits.")
                if one.label in names else replace(one, label="No") for one in answers.values()
            ),
        )  # fmt: skip
    named = " or ".join(names)
    return Question(
        "columns", f"columns that can be the outcome: {named}",
        "Which column says what happened?", tuple(answers.values())[:_MOST_ANSWERS],
    )  # fmt: skip


_TRUTHS = ("outcome", "correct", "prediction")

_OF_OUTCOME = {
    "called the outcome": "named as the outcome",
    "says what happened": "its name says what happened",
    "same words": "shares a word with the score",
    "rises with the score": "rises with the score",
    "called an outcome": "perhaps named as the outcome",
    "called correct": "says whether the prediction was correct",
    "cells say yes and no": "yes or no",
    "cells say what happened": "its cells say what happened",
    "two values": "two main values",
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


def why_of(hypothesis: Hypothesis, warnings_of: Mapping[str, str]) -> str:
    """Return what speaks most for a reading, in one sentence."""
    ranked = sorted(hypothesis.evidence.items(), key=lambda item: -item[1])
    reasons = [warnings_of[name] for name, weight in ranked if weight > 0 and name in warnings_of]
    return (", ".join(reasons[:3]) or "nothing else fits better") + "."
