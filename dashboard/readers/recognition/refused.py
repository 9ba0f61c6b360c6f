"""Tables that no reading fits: names beside sorted scores, long tables, two families of scores."""

from collections.abc import Sequence

import numpy as np

from dashboard.readers.contents import Options
from dashboard.readers.recognition import vocabulary as terms
from dashboard.readers.recognition.candidates import (
    Scores,
    by_affix,
    claims_score,
    may_say_classes,
    speaks_of_scores,
    sums_to,
)
from dashboard.readers.recognition.features import Feature, table_of
from dashboard.readers.recognition.questions import say_the_same, which_scores
from dashboard.readers.recognition.vocabulary import begins, folded, words_of
from dashboard.readers.recognition.weights import Hypothesis, worth
from dashboard.readers.refusal import FileError, quoted
from dashboard.readers.table import Table

_GROUP_SIZES = terms.COUNT_KEYS | {"trials", "total", "size", "n_total", "cases", "exposed"}
_LONGEST, _OFF, _FEW_TEXTS = 2_000_000, 0.02, 10


def refuse_names(best: Hypothesis, features: Sequence[Feature]) -> None:
    """Refuse lists of scores that fall in every row, beside lists of names that were not read."""
    texts = [
        f for f in features
        if f.column.unread.startswith("lists of texts") and {*f.words[-1:]} & terms.CLASS_LIST_WORDS
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


def why_no_score(best: Hypothesis, features: Sequence[Feature]) -> str:
    """Return why no column beside the outcome can be a score: of what matters most, two reasons."""
    outcome = [features[place] for place in best.outcome]
    rest = [f for f in features if f.place not in best.outcome and f.words]
    kinds = frozenset[str]().union(*(f.folded_kinds for f in outcome))
    rest.sort(key=lambda f: not (speaks_of_scores(f.words) or f.column.unread))
    said = ((f, _no_score(f, kinds)) for f in rest)
    return "; ".join([f"{quoted(f.name, 30)} {why}" for f, why in said if why][:2])


def refuse_sums(best: Hypothesis, features: Sequence[Feature]) -> None:
    """Refuse columns called as all values of another that are no numbers, or do not sum to 1."""
    places = best.scores.places if best.scores else ()
    shares = {
        folded(f.name): f for f in features
        if (f.is_share and not f.is_decided) or (f.kind == "text" and f.n_kinds > _FEW_TEXTS)
    }  # fmt: skip
    for f in features:
        own = f.folded_kinds if f.kind == "text" and f.n_kinds <= len(shares) else frozenset()
        if (
            len(own) > 2
            and own <= shares.keys()
            and not own <= {folded(features[k].name) for k in places}
        ):
            members = [shares[name] for name in sorted(own)]
            wanted = f"a sum of 1 in every row: they are called as the values of {quoted(f.name)}"
            if texts := [member for member in members if member.kind == "text"]:
                found = f"is text, such as {quoted((texts[0].column.texts or ('',))[0], 20)}"
                raise FileError(f"column {quoted(texts[0].name)}", found, f"numbers with {wanted}")
            table = table_of(members, members[0].rows)
            if sums_to(table):
                continue
            sums = table.sum(axis=1)
            names = ", ".join(quoted(member.name, 20) for member in members[:4])
            found = f"rows that sum to {np.nanmin(sums):.3g} to {np.nanmax(sums):.3g}"
            raise FileError(f"columns {names}", found, wanted)


def _no_score(feature: Feature, kinds: frozenset[str]) -> str:
    """Return why a column is no score; nothing where it is plainly something else."""
    texts = [text for text in feature.column.texts or () if any(map(str.isdigit, text))]
    if feature.column.unread:
        return f"holds {feature.column.unread}"
    if feature.is_decided:
        return "is 0 or 1, as decisions are"
    if feature.n_kinds > 1 and feature.folded_kinds <= kinds:
        return "says classes, not how likely they are"
    plain = not feature.is_date and claims_score(feature) < 2  # else it is said anyway
    if texts and plain and feature.n_kinds > _FEW_TEXTS:
        return f"is text, such as {quoted(texts[0], 20)}"
    return ""


def refuse_words(best: Hypothesis, features: Sequence[Feature], options: Options) -> None:
    """Refuse values of classes of which one column holds no numbers, though it is called alike."""
    if best.scores is None or best.scores.layout == "ranked" or "sums" in best.evidence:
        return
    said = {name for name, _ in options.roles}
    kinds = {kind for place in best.outcome for kind in features[place].folded_kinds}
    for group in by_affix([f for f in features if f.kind != "list" and f.name not in said]):
        odd = [f for f in features if f.place in group.places and not f.is_number]
        names = {folded(group.names[group.places.index(f.place)]) for f in odd}
        held = {*best.scores.places} < {*group.places}
        if odd and held and (group.is_numbered or names <= kinds):
            text = next((quoted(text, 20) for text in odd[0].column.texts or () if text), "")
            like = quoted(features[best.scores.places[0]].name)
            raise FileError(
                f"column {quoted(odd[0].name)}", f"words, such as {text}" if text else "blank",
                f"numbers, as in column {like}, or the role left out",
            )  # fmt: skip


def refuse_long(features: Sequence[Feature], table: Table) -> None:
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


def refuse_groups(best: Hypothesis, features: Sequence[Feature]) -> None:
    """Refuse rows that each count several, with how many of them had the event."""
    if best.scores is None or best.outcome or best.correct is not None:
        return
    wholes = [f for f in features if f.is_number and f.whole and f.low >= 0]
    wholes = [f for f in wholes if (np.diff(f.column.values) != 1).any()]
    rates = [f for f in features if f.is_share and {*f.words} & terms.LABEL_WORDS]
    for n in wholes:
        counts = [f for f in wholes if f is not n and (f.column.values <= n.column.values).all()]
        for f in (*counts, *rates):
            if n.key in _GROUP_SIZES and n.high > 1:
                raise FileError(
                    f"columns {quoted(n.name)} and {quoted(f.name)}",
                    "rows of groups: how many each holds, and how often the event happened",
                    "one row per case, with its own score and its outcome",
                )


def ask_of_families(
    best: Hypothesis, others: Sequence[Hypothesis], features: Sequence[Feature], options: Options
) -> None:
    """Ask which of two groups of columns of the same classes is meant."""
    if best.scores is None or best.scores.layout != "classes" or not best.scores.names:
        return
    names = {folded(name) for name in best.scores.names}
    for other in (*others, *_second_family(best, features, options)):
        scores = other.scores
        if scores is None or {folded(name) for name in scores.names} != names:
            continue
        if {*scores.places} & {*best.scores.places} or "called unsure" in other.evidence:
            continue
        if not say_the_same(best.scores, scores, features):
            raise which_scores([best, other], features, options)


def _second_family(
    best: Hypothesis, features: Sequence[Feature], options: Options
) -> list[Hypothesis]:
    """Return further columns that end with the names of the classes, such as calibrated ones."""
    if best.scores is None:
        return []
    said = dict(options.roles)
    rest = [
        f for f in features
        if f.is_number and f.place not in best.scores.places and f.name not in said
    ]  # fmt: skip
    places = []
    for name in best.scores.names:
        ends = [f for f in rest if words_of(f.name)[-len(words_of(name)) :] == words_of(name)]
        measures = [f for f in ends if begins(f.words, terms.UNSURE_STEMS) or f.whole]
        if len(ends) != 1 or measures or not words_of(name):
            return []
        places.append(ends[0].place)
    scores = Scores("classes", tuple(places), best.scores.names)
    return [Hypothesis(scores, best.outcome, evidence=worth(named_as_scores=1))]
