"""Tables that give only the likeliest classes: top-1 scores, and lists of classes."""

from collections.abc import Sequence

from dashboard.readers.headings import (
    CONFIDENCE,
    INDEX,
    LABELS,
    WEAK_LABELS,
    WEAK_PREDICTED,
    key_of,
)
from dashboard.readers.layout import Layout
from dashboard.readers.named import left_out_sentence
from dashboard.readers.refusal import FileError, plain, quoted
from dashboard.readers.slices import is_number
from dashboard.readers.truths import Sample, beside, is_other


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
        said = _taken(names, label, "label")
        called = [c for c in others if key_of(names[c]) in WEAK_LABELS]
        if label is None and len(called) == 1:
            label = called[0]
            said = (f"Column {plain(names[label], 30)} was taken for the label.",)
    slices = [c for c in free if c != label]
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
    free = [c for c in free if c != score]
    found: tuple[str, ...] = ()
    if hits is None and label is None and predicted is None:
        called = [c for c in free if key_of(names[c]) in WEAK_LABELS]
        label = called[0] if len(called) == 1 else None
        free = [c for c in free if c != label]
    if hits is None and label is not None and predicted is None:
        predicted = beside(label, names, free, sample, WEAK_PREDICTED)
        found = _taken(names, predicted, "predicted label")
    elif hits is None and predicted is not None and label is None:
        label = beside(predicted, names, free, sample, WEAK_LABELS)
        found = _taken(names, label, "label")
    if predicted is not None and key_of(names[predicted]) in LABELS:
        found = _taken(names, predicted, "predicted label")
    if label is not None and predicted is not None:
        hits = None
    elif hits is not None:
        label = predicted = None
    else:
        raise FileError(
            "header",
            f"column {quoted(names[score])} without a predicted label beside the true one",
            "true_label, pred_label, confidence",
        )
    slices = [c for c in free if c not in (label, predicted) and key_of(names[c]) not in CONFIDENCE]
    return Layout(
        names, (score,), labels=label, predicted=predicted, hits=hits, slices=tuple(slices),
        found=left_out(names, {score, label, predicted, hits}, slices), doubts=found,
    )  # fmt: skip


def _taken(names: Sequence[str], column: int | None, what: str) -> tuple[str, ...]:
    """Say what a column was taken for that its name does not tell."""
    if column is None:
        return ()
    return (f"Column {plain(names[column], 30)} was taken for the {what}: its cells are the same.",)
