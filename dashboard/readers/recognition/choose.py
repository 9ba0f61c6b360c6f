"""The best reading of a table, or a question where another is nearly as good."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dashboard.readers.recognition import refused
from dashboard.readers.recognition import vocabulary as terms
from dashboard.readers.recognition.columns import (
    Hypothesis,
    Scores,
    happens,
    hypotheses,
    is_called_prediction,
    may_say_classes,
)
from dashboard.readers.recognition.events import event_of
from dashboard.readers.recognition.features import Feature, features_of, may_weigh, says_the_same
from dashboard.readers.recognition.groups import further_role
from dashboard.readers.recognition.proposals import proposals_of
from dashboard.readers.recognition.questions import (
    ask,
    ask_of_statuses,
    ask_of_unusable,
    is_second_pair,
    is_second_score,
    one_order,
    roles_of,
    same_roles_beside,
)
from dashboard.readers.recognition.vocabulary import folded
from dashboard.readers.records import ColumnRole, FileTable, Reading, ReadingOptions
from dashboard.readers.refusal import FileError, quoted

_MATTERS = frozenset(
    {"outcome", "score", "class", "prediction", "correct", "ranked class", "ranked score"}
)

NO_SCORE, NO_OUTCOME = "No column can be a score", "No column is surely the outcome"
_OF_SCORES = {"score", "class", "ranked score"}
_ONE_A_ROW = frozenset({"outcome", "prediction", "correct"})


def recognise(table: FileTable, options: ReadingOptions) -> Reading:
    """Return what each column of a table is for."""
    features = features_of(table)
    given = _given(features, options)
    ranked = sorted(hypotheses(features, given, named=table.named), key=lambda h: -h.total)
    own = (f.place for f in features if table.sheet and f.name == table.sheet)
    known: dict[int, ColumnRole] = {**dict.fromkeys(own, "group"), **given}  # the file has it not
    fitting = [h for h in ranked if _fits(h, known)] or [_as_given(given)]
    best = fitting[0]
    if not roles_of(best) or (not given and best.total <= 0):
        raise refused.no_reading(features)
    best = _of_same_order(best, fitting, features)
    if not _OF_SCORES & {*given.values()}:
        refused.refuse_names(best, features)
        refused.refuse_sums(best, features)
    refused.refuse_words(best, features, options)
    refused.refuse_long(features, table, given, options)
    if "events" not in given.values():
        refused.ask_of_groups(best, features, options)
    refused.ask_of_families(best, fitting, features, options)
    unusable = ask_of_unusable(best, features, given, options)
    ask(best, fitting, features, options)
    ask_of_statuses(best, features, options)
    further: dict[int, str] = {}
    for h in ranked:
        if is_second_pair(best, h):
            further |= dict.fromkeys(roles_of(h), "another label, or its score")
        elif h.scores and is_second_score(best, h, features):
            further[h.scores.places[0]] = "another score"
    further |= dict.fromkeys(_limits_of(best, features), "an end of the score's interval")
    reading = _reading(best, features, given, options, further)
    return replace(reading, doubts=(*unusable, *reading.doubts))


def _limits_of(best: Hypothesis, features: Sequence[Feature]) -> list[int]:
    """Return columns that are called ends of an interval and hold the score in every row."""
    if best.one is None:
        return []
    score = features[best.one]
    values = score.column.values
    named = [
        f for f in features
        if f.place != best.one and f.is_number and {*f.words} & terms.LIMIT_WORDS
    ]  # fmt: skip
    below = [f.place for f in named if (f.column.values <= values).all()]
    above = [f.place for f in named if (f.column.values >= values).all()]
    return [*below, *above] if len(below) == len(above) else []


def _given(features: Sequence[Feature], options: ReadingOptions) -> dict[int, ColumnRole]:
    """Return the roles that the user has set, by the place of the column."""
    places: dict[str, int] = {}
    for f in features:
        places.setdefault(f.name, f.place)
    given: dict[int, ColumnRole] = {}
    for name, role in options.roles:
        if name not in places:
            raise FileError("roles", f"no column {quoted(name)}", "the heading of a column")
        given[places[name]] = role
        if role == "outcome" and features[places[name]].is_date:
            text, wanted = "dates, set to outcome", "1 where it happened and 0 where it did not"
            raise FileError(f"column {quoted(name)}", text, wanted)
        if role in _ONE_A_ROW and features[places[name]].kind == "list":
            raise FileError(f"column {quoted(name)}", f"lists, set to {role}", "one value per row")
    if sum(role == "score" for role in given.values()) > 1:
        raise FileError("roles", "two columns set to score", "one score, or one class each")
    return given


def _fits(hypothesis: Hypothesis, given: Mapping[int, ColumnRole]) -> bool:
    roles = roles_of(hypothesis)
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
    if best.one is None or features[best.one].is_share:
        return best
    own = features[best.one]
    for other in others:
        near = other.total > best.total - 3 and same_roles_beside(best, other)
        score = own if other.one is None else features[other.one]
        if near and score.is_share and one_order(own, score):
            return other
    return best


def _reading(
    best: Hypothesis,
    features: Sequence[Feature],
    given: Mapping[int, ColumnRole],
    options: ReadingOptions,
    further: Mapping[int, str],
) -> Reading:
    """Return each column its role and the reason; ``further`` are other labels and scores."""
    chosen = _with_prediction(best, features, given)
    matter = roles_of(chosen)
    outcome = chosen.outcome if len(chosen.outcome) == 1 and chosen.scores is not None else ()
    followed = _followed(chosen, features, given)
    roles: list[ColumnRole] = []
    reasons: list[str] = []
    for f in features:
        if f.place in given:
            role, why = given[f.place], ""
        elif f.place in matter:
            role, why = matter[f.place], _reason(f, matter[f.place], chosen)
        elif any(says_the_same(features[place], f) for place in outcome):
            role, why = "left out", "equals the outcome"
        elif f.place in further:
            role, why = "left out", further[f.place]
        elif f.place in followed:
            role, why = "left out", "time of follow-up"
        else:
            role, why = further_role(f)
        roles.append(role)
        reasons.append(why)
    scores = chosen.scores
    named = any(f.words for f in features)
    names = scores.names if named and scores is not None and scores.layout == "classes" else ()
    names = _as_cells(names, chosen, features)
    event, remarks = event_of(chosen, features, options)
    notes = (*_notes(chosen, features, given), *remarks)
    proposals = tuple(proposals_of(features, roles, options))
    doubts = [one.doubt for one in proposals]
    doubts += [
        f"Column {quoted(f.name)} equals the outcome, or is its opposite, in all"
        f" {len(f.column.values):,} rows, so it is no subgroup: perhaps one of the two is the"
        " prediction."
        for f, why in zip(features, reasons, strict=True)
        if why == "equals the outcome" and not may_weigh(f)
    ]
    doubts += [*_of_design(features, followed, outcome)]
    return Reading(
        tuple(roles), tuple(reasons), names, event, proposals, notes=notes, doubts=tuple(doubts)
    )


_CHOSEN = (
    "tells cases from controls: if these were chosen, as two controls for each case, the observed"
    " frequency is that of the choice. Give the true share of the event as its prevalence."
)
_FOLLOWED = (
    "seems to say how long each row was followed, which is not taken into account: a row that was"
    " followed for less time than the score looks ahead counts as one without the event, so the"
    " event may be more frequent than it seems. Compare with a Kaplan-Meier estimate."
)


def _of_design(
    features: Sequence[Feature], followed: Sequence[int], outcome: Sequence[int]
) -> Iterator[str]:
    """Doubt what a table says of how long rows were followed, and of how they were chosen."""
    yield from (f"Column {quoted(features[place].name)} {_FOLLOWED}" for place in followed)
    for f in (features[place] for place in outcome):
        if f.is_two and f.folded_kinds <= terms.CASE_VALUES:
            yield f"Column {quoted(f.name)} {_CHOSEN}"


def _as_cells(
    names: tuple[str, ...], best: Hypothesis, features: Sequence[Feature]
) -> tuple[str, ...]:
    """Return whole headings as the names of classes where the outcome has them."""
    if not names or best.scores is None or len(best.outcome) != 1:
        return names
    headings = tuple(features[place].name for place in best.scores.places)
    kinds = features[best.outcome[0]].folded_kinds
    return headings if {*map(folded, headings)} >= kinds > set() else names


def _followed(
    best: Hypothesis, features: Sequence[Feature], given: Mapping[int, ColumnRole]
) -> tuple[int, ...]:
    """Return columns of the time until an event of two values, or until nobody looked any more."""
    if best.one is None or len(best.outcome) != 1 or features[best.outcome[0]].main is None:
        return ()
    outcome = features[best.outcome[0]]
    if not happens(outcome) and outcome.key not in terms.STATUS_KEYS:
        return ()
    return tuple(
        f.place for f in features
        if f.place not in given and f.is_number and f.low >= 0 and not f.is_share
        and not f.counts_up and terms.FOLLOWED.fullmatch(f.key)
        and (f.key != "time" or outcome.key in terms.STATUS_KEYS)
    )  # fmt: skip


def _with_prediction(
    best: Hypothesis, features: Sequence[Feature], given: Mapping[int, ColumnRole]
) -> Hypothesis:
    """Add the file's own predictions to one column a class."""
    if best.scores is None or best.scores.layout != "classes" or best.prediction is not None:
        return best
    taken = {*roles_of(best), *given}
    n_classes = len(best.scores.places)
    for f in features:
        if f.place in taken or not may_say_classes(f) or (f.is_decided and n_classes > 2):
            continue
        if is_called_prediction(f):
            return replace(best, prediction=f.place)
    return best


def _reason(feature: Feature, role: ColumnRole, best: Hypothesis) -> str:
    evidence = {
        name.removeprefix("outcome ") for name, weight in best.evidence.items() if weight > 1
    }
    if role == "outcome":
        kinds = "two values" if feature.is_two else f"{feature.n_kinds:,} values"
        named = {"called the outcome", "says what happened", "called an outcome"} & evidence
        parts = [
            kinds if len(best.outcome) == 1 else "0 and 1",
            "named as an outcome" if named else "",
            "goes with the score" if "rises with the score" in evidence else "",
        ]
    elif role in ("score", "class", "ranked score"):
        parts = [
            "named as a score" if {"called a score", "named as scores"} & evidence else "",
            "rows sum to 1 or 100" if "sums" in evidence else "",
            "0 to 1" if feature.is_share else "percent" if feature.is_percent else "numbers",
        ]
    else:
        words = {"prediction": "predicted class", "correct": "says if the prediction was correct"}
        parts = [words.get(role, "most probable classes")]
    return ", ".join(filter(None, parts))


def _notes(
    best: Hypothesis, features: Sequence[Feature], given: Mapping[int, ColumnRole]
) -> tuple[str, ...]:
    notes = []
    if "events" in given.values():
        pass  # which say what happened
    elif best.scores is not None and not best.outcome and best.correct is None:
        why = refused.why_no_outcome(roles_of(best), features)
        notes.append(f"{NO_OUTCOME}: {why}." if why else f"{NO_OUTCOME}.")
    if best.scores is None:
        why = refused.why_no_score(best, features)
        notes.append(f"{NO_SCORE}: {why}." if why else f"{NO_SCORE}.")
    if len(best.outcome) == 1:
        notes.append(f"Outcome: column {quoted(features[best.outcome[0]].name)}.")
    if best.one is not None:
        notes.append(f"Score: column {quoted(features[best.one].name)}.")
    return tuple(notes)
