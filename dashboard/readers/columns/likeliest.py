"""Tables that give only the likeliest classes: top-1 scores, and lists of classes."""

import re
from collections.abc import Sequence

from dashboard.readers.columns.headings import (
    CONFIDENCE,
    INDEX,
    JUDGED,
    LABELS,
    SCORE_WORDS,
    WEAK_HITS,
    WEAK_LABELS,
    WEAK_PREDICTED,
    is_score,
    key_of,
)
from dashboard.readers.columns.layout import Layout
from dashboard.readers.columns.named import left_out_sentence
from dashboard.readers.columns.slices import is_number
from dashboard.readers.columns.truths import Sample, beside, is_other
from dashboard.readers.refusal import FileError, plain, quoted

_NO_SCORES = frozenset(
    {"entropy", "margin", "loss", "losses", "uncertainty", "variance", "var", "std", "sd", "stderr",
     "energy", "perplexity", "error", "brier", "weight", "weights", "distance", "dist", "nll",
     "gini", "epistemic", "aleatoric", "doubt", "time", "age", "threshold", "difficulty"}
)  # fmt: skip
_SCORES = SCORE_WORDS | {
    "conf", "confs", "certainty", "msp", "p", "phat", "likelihood", "top1", "konfidenz", "score1",
}  # fmt: skip
"""Words in names of the score of a predicted class."""

_CHANCES = frozenset({"p", "prob", "proba", "probability", "probabilities"})
"""Those of them that say of a probability what it is of."""

_OTHERS = frozenset({"value", "ood", "anomaly", "outlier", "quality"})
"""Words beside them in names of other scores."""


def left_out(
    names: tuple[str, ...], used: set[int | None], slices: Sequence[int]
) -> tuple[str, ...]:
    """Name the columns that are not used."""
    kept = {*used, *slices}
    unused = [name or "(no name)" for c, name in enumerate(names) if c not in kept]
    return left_out_sentence(unused)


def names_rows(names: tuple[str, ...], free: Sequence[int], sample: Sample) -> int | None:
    """Find the one column that names the rows; that of an index may have no name.

    Where none is called so, it is the first further column of texts that are all different; numbers
    are compared as what they are.
    """
    named = [c for c, name in enumerate(names) if key_of(name) in INDEX]
    found = named or [c for c, name in enumerate(names) if not name.strip()]
    if not found:
        cells = {c: [row[c].strip() for row in sample] for c in free}
        found = [
            c
            for c, texts in cells.items()
            if len(set(texts)) == len(texts) > 1 and not any(map(is_number, texts))
        ][:1]
    return found[0] if len(found) == 1 else None


def ranked_layout(
    names: tuple[str, ...],
    ranks: tuple[list[int], list[int]],
    label: int | None,
    free: list[int],
    sample: Sample,
) -> Layout:
    """Take lists of the likeliest classes with their scores."""
    classes, scores = ranks
    listed = {*classes, *scores}
    free = [c for c in free if c not in listed]
    said: tuple[str, ...] = ()
    if label is None:
        others = [c for c in free if not is_other(names[c])]
        label = beside(classes[0], names, others, sample, WEAK_LABELS)
        said = _taken(names, label, "label", classes[0])
        called = [c for c in others if key_of(names[c]) in WEAK_LABELS]
        if label is None and len(called) == 1:
            label = called[0]
            said = (f"Column {plain(names[label], 30)} was taken for the label.",)
    slices = [c for c in free if c != label]
    if label is None and len(scores) == 1:
        return _top_one_layout(names, scores[0], classes[0], slices, sample)
    many = f"{len(scores)} likeliest classes with their scores"
    lists = f"Each row lists its {many if len(scores) > 1 else 'likeliest class with its score'}."
    return Layout(
        names, tuple(scores), labels=label, ranked=tuple(classes), slices=tuple(slices),
        ids=names_rows(names, slices, sample) if label is None else None,
        found=(lists, *said, *left_out(names, {label, *listed}, slices)),
    )  # fmt: skip


def event_layout(
    names: tuple[str, ...],
    score: int,
    told: tuple[int | None, int | None, int | None],
    free: list[int],
    sample: Sample,
) -> Layout:
    """Top-1 scores, right or wrong by comparison of labels or as the file says."""
    label, predicted, hits = told
    _refuse_doubt(names[score])
    free = [c for c in free if c != score]
    found: tuple[str, ...] = ()
    told_by: tuple[str, ...] = ()
    if hits is None and label is None and predicted is None:
        called = [c for c in free if key_of(names[c]) in WEAK_LABELS]
        label = called[0] if len(called) == 1 else None
        free = [c for c in free if c != label]
    if hits is None and label is not None and predicted is None:
        predicted = beside(label, names, free, sample, WEAK_PREDICTED)
        found = _taken(names, predicted, "predicted label", label)
    elif hits is None and predicted is not None and label is None:
        label = beside(predicted, names, free, sample, WEAK_LABELS)
        found = _taken(names, label, "label", predicted)
    if predicted is not None and label is not None and key_of(names[predicted]) in LABELS:
        found = _taken(names, predicted, "predicted label", label)
    if hits is None and label is None and predicted is None:
        hits = _judged(names, free, sample)
        told_by = () if hits is None else (f"Right or wrong: column {plain(names[hits], 30)}.",)
    if label is not None and predicted is not None:
        hits = None
    elif hits is not None:
        label = predicted = None
    elif predicted is not None:
        return _top_one_layout(names, score, predicted, free, sample)
    else:
        raise FileError(
            "header",
            f"column {quoted(names[score])} without a predicted label beside the true one",
            "true_label, pred_label, confidence",
        )
    slices = _further(names, free, {label, predicted, hits})
    said = f"Scores: column {plain(names[score], 30)}."
    return Layout(
        names, (score,), labels=label, predicted=predicted, hits=hits, slices=tuple(slices),
        found=(said, *told_by, *left_out(names, {score, label, predicted, hits}, slices)),
        doubts=(*found, *_perhaps_another(names[score])),
    )  # fmt: skip


def _top_one_layout(
    names: tuple[str, ...], score: int, predicted: int, free: Sequence[int], sample: Sample
) -> Layout:
    """Top-1 scores whose true classes are in another file."""
    slices = _further(names, free, {predicted})
    said = (
        f"Scores: column {plain(names[score], 30)}, of the classes in column"
        f" {plain(names[predicted], 30)}."
    )
    return Layout(
        names, (score,), predicted=predicted, slices=tuple(slices), top_one=True,
        ids=names_rows(names, slices, sample),
        found=(said, *left_out(names, {score, predicted}, slices)),
        doubts=_perhaps_another(names[score]),
    )  # fmt: skip


def _further(names: Sequence[str], free: Sequence[int], used: set[int | None]) -> list[int]:
    return [c for c in free if c not in used and key_of(names[c]) not in CONFIDENCE]


def _judged(names: Sequence[str], free: Sequence[int], sample: Sample) -> int | None:
    """Find the one column that says right or wrong, or 0 or 1 under the name of a measure of it."""
    found = []
    for c in free:
        kinds = {row[c].strip().lower() for row in sample}
        decided = kinds <= {"0", "1", "0.0", "1.0", "false", "true"}
        said = any(kinds == {*pair} for pair in JUDGED)
        found += [c] if said or (decided and key_of(names[c]) in WEAK_HITS) else []
    return found[0] if len(found) == 1 else None


def _perhaps_another(name: str) -> tuple[str, ...]:
    """Doubt a score that is not called one."""
    key = key_of(name)
    words = {*re.split("[^a-z0-9]+", key)}
    if key in CONFIDENCE or ((is_score(key) or _SCORES & words) and not _OTHERS & words):
        return ()
    said = (
        f"Column {plain(name, 30)} was taken for the score of the predicted class, being the only"
        " one that may be; if it measures something else, call the score confidence in the file."
    )
    return (said,)


def _refuse_doubt(name: str) -> None:
    """Refuse what measures doubt, or a distance, as the score of the predicted class."""
    parts = {*key_of(name).split("_")}
    words = parts & _NO_SCORES
    if words:
        found = f"the {min(words)} of each row, which is no probability"
        if parts & _CHANCES:
            found = f"a probability called one of {min(words)}, and not of the predicted class"
        wanted = "the probability of the predicted class, from 0 to 1"
        raise FileError(f"column {quoted(name, 30)}", found, wanted)


def _taken(names: Sequence[str], column: int | None, what: str, like: int) -> tuple[str, ...]:
    """Say what a column was taken for that its name does not tell, and like which other."""
    if column is None:
        return ()
    name, other = (plain(names[c], 30) for c in (column, like))
    return (f"Column {name} was taken for the {what}: it holds classes that column {other} has.",)
