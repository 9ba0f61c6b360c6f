"""Which column is what: told by names, by a sample of rows, or by the user."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from dashboard.readers.columns.choice import (
    Choice,
    choose,
    classes_and_label,
    confidence_columns,
    goes_with,
)
from dashboard.readers.columns.classes import (
    numeric_columns,
    one_hot_group,
    one_hot_labels,
    with_fractions,
)
from dashboard.readers.columns.headings import (
    HITS,
    INDEX,
    LABELS,
    PREDICTED,
    WEAK_LABELS,
    is_score,
    key_of,
)
from dashboard.readers.columns.in_turn import classes_in_turn
from dashboard.readers.columns.layout import Layout, called
from dashboard.readers.columns.likeliest import event_layout, left_out, names_rows, ranked_layout
from dashboard.readers.columns.named import TABLE_KEYS
from dashboard.readers.columns.positive import class_of_score, label_beside_decision
from dashboard.readers.columns.ranked import find_ranked
from dashboard.readers.columns.rivals import refuse_rivals
from dashboard.readers.columns.slices import is_number
from dashboard.readers.columns.top_words import compared_words
from dashboard.readers.columns.truths import (
    Sample,
    beside,
    first_is_label,
    has_fractions,
    is_whole,
    label_by_cells,
    label_by_name,
    lone_label,
    lone_outcome,
    one_of,
    prediction_called_label,
)
from dashboard.readers.contents import DEFAULTS, Options
from dashboard.readers.refusal import FileError, plain, quoted

_LIST = re.compile(r"\s*[\[(].*[\])]\s*\Z", re.DOTALL)
_PREVIEW_ROWS = 10


def looks_like_header(fields: Sequence[str]) -> bool:
    """Tell a header from data: a known name, running numbers, or mostly words.

    Examples
    --------
    >>> looks_like_header(["0", "1", "label"]), looks_like_header(["0.5", "n/a", "2"])
    (True, False)
    """
    if any(key_of(field) in LABELS for field in fields):
        return True
    if numbers_columns(fields):
        return True
    words = sum(not is_number(field) for field in fields)
    return 2 * words > len(fields) or (len(fields) == 2 and words == 1 and not fields[0].strip())


def numbers_columns(fields: Sequence[str]) -> bool:
    """Tell a header that only counts the columns, as pandas writes one, and names nothing."""
    return len(fields) > 2 and all(field.strip() == str(k) for k, field in enumerate(fields))


def find_layout(
    header: Sequence[str] | None,
    sample: Sample,
    options: Options = DEFAULTS,
    *,
    numbers: Sequence[int] = (),
) -> Layout:
    """Tell the columns apart.

    Parameters
    ----------
    header : sequence of str, optional
        Fields of the first row where it is a header.
    sample : sequence of rows
        The first rows of data, all of the same width.
    options : Options
        ``label_column`` and ``class_columns`` overrule what would be told.
    numbers : sequence of int
        Of these rows in the file.
    """
    names = None if header is None else tuple(header)
    width = len(sample[0]) if names is None else len(names)
    rows = tuple(tuple(row) for row in sample[:_PREVIEW_ROWS])
    first = tuple(numbers[: len(rows)])
    with Layout(names, (), width=width, sample=rows, numbers_of_rows=first).known():
        layout = _find(names, sample, options)
        return replace(layout, width=width, sample=rows, numbers_of_rows=first)


def _find(names: tuple[str, ...] | None, sample: Sample, options: Options) -> Layout:
    width = len(sample[0]) if names is None else len(names)
    if names is not None:
        _refuse_twice(names)
    label = _chosen(names, width, options.label_column, "label_column")
    classes = [
        c
        for name in options.class_columns
        if (c := _chosen(names, width, name, "class_columns")) is not None
    ]
    if len(set(classes)) < len(classes) or label in classes:
        raise FileError("class_columns", "a column that is chosen twice", "each column once")
    if names is None:
        layout = _without_header(sample, label, classes)
    else:
        layout = _with_header(names, sample, label, classes)
    if label is not None and label not in (layout.labels, *layout.one_hot):
        found = f"column {quoted(called(names, label))} beside scores with right or wrong"
        raise FileError("label_column", found, "no label, or a predicted one beside it")
    return replace(layout, by_user=bool(classes))


def _chosen(names: Sequence[str] | None, width: int, wanted: str | None, field: str) -> int | None:
    """Find the column that the user names."""
    if wanted is None:
        return None
    there = [called(names, c) for c in range(width)]
    if wanted.strip() not in there:
        more = f" and {len(there) - 6:,} more" if len(there) > 6 else ""
        listed = ", ".join(plain(name, 20) for name in there[:6]) + more
        raise FileError(field, f"no column {quoted(wanted)} in the file", f"one of {listed}")
    return there.index(wanted.strip())


def _with_header(
    names: tuple[str, ...], sample: Sample, label: int | None, classes: list[int]
) -> Layout:
    keys = [key_of(name) for name in names]
    by_user = label is not None
    _refuse_lists(names, keys, sample)
    label, predicted, hits = _labels(names, sample, label, classes)
    taken = {label, predicted, hits}
    no_use = INDEX | LABELS | {""}
    free = [
        c
        for c, key in enumerate(keys)
        if c not in taken and (key not in no_use or (key in LABELS and has_fractions(c, sample)))
    ]
    ranks = None if classes else find_ranked(keys, sample, label)
    if ranks is not None:
        return ranked_layout(names, ranks, label, free, sample)
    compared = predicted is not None or hits is not None
    confidence = confidence_columns(keys, free, sample, compared=compared)
    choice = Choice(classes, told=True, by_user=bool(classes), label=label, predicted=predicted)
    if not choice.by_user:
        choice = choose(names, sample, [c for c in free if c not in confidence], label, predicted)
        free = [c for c in free if c != choice.label]
        refuse_rivals(names, choice.classes, free, sample)
        event = _event(names, choice, confidence, hits, free, sample)
        if event is not None:
            return event
    if hits is None and choice.rests_on_predicted(sample):
        choice = choice.of_predicted()
    used = {*choice.classes, *confidence}
    slices = [
        c
        for c in _and_labels(free, keys, choice.label, by_user=by_user)
        if c not in used and not (len(choice.classes) > 1 and is_score(keys[c]))
    ]
    return _plain_layout(names, choice, slices, sample)


def _event(
    names: tuple[str, ...],
    choice: Choice,
    confidence: list[int],
    hits: int | None,
    free: list[int],
    sample: Sample,
) -> Layout | None:
    """Take a lone score beside what was predicted, if the columns are no classes."""
    label, predicted, classes = choice.label, choice.predicted, choice.classes
    if len(confidence) == 1 and _no_classes(choice, confidence[0], hits, names, sample):
        return event_layout(names, confidence[0], (label, predicted, hits), free, sample)
    if len(classes) != 1:
        return None
    others = [c for c in free if c != classes[0]]
    if predicted is None:
        label, predicted = compared_words(names, label, classes[0], others, sample)
    elif label is None:
        label = beside(predicted, names, others, sample, WEAK_LABELS)
    if label is None:
        return None
    return event_layout(names, classes[0], (label, predicted, None), others, sample)


def _no_classes(
    choice: Choice,
    confidence: int,
    hits: int | None,
    names: Sequence[str],
    sample: Sample,
) -> bool:
    """Tell numbers beside the score of the likeliest class that are no classes."""
    classes = choice.classes
    if not classes or choice.told:
        return not classes
    judged = hits is not None or (choice.predicted is not None and choice.label is not None)
    numbered = len(classes) == 1 or not any(has_fractions(c, sample) for c in classes)
    return judged or numbered or not goes_with(choice, confidence, names, sample)


def _labels(
    names: tuple[str, ...], sample: Sample, label: int | None, classes: list[int]
) -> tuple[int | None, int | None, int | None]:
    """Find the true label, the predicted one, and whether the prediction was right."""
    keys = [key_of(name) for name in names]
    pair = None
    if not classes:
        pair = prediction_called_label(keys, sample, label) or classes_in_turn(keys, sample, label)
    if pair is not None:
        return (*pair, None)
    if label is None:
        label = label_beside_decision(keys, names, sample) if not classes else None
    if label is None:
        label = label_by_name(keys, names, sample, classes)
    hits = _only(keys, HITS, names, but=[label, *classes])
    return label, _predicted(keys, names, sample, but=[label, hits, *classes]), hits


def _predicted(
    keys: Sequence[str], names: Sequence[str], sample: Sample, but: Sequence[int | None]
) -> int | None:
    """Find the predicted label; beside it, numbers of that name are its score."""
    columns = [c for c, key in enumerate(keys) if key in PREDICTED and c not in but]
    if len(columns) > 1:
        columns = [c for c in columns if not has_fractions(c, sample)] or columns
    return one_of(columns, names)


def _refuse_lists(names: Sequence[str], keys: Sequence[str], sample: Sample) -> None:
    """Refuse lists inside cells where values are looked for."""
    for c, key in enumerate(keys):
        if (
            (key in TABLE_KEYS or is_score(key))
            and sample
            and all(_LIST.match(row[c]) for row in sample)
        ):
            name = quoted(names[c], 30)
            raise FileError(f"column {name}", "a list in every cell", "one column a class")


def _and_labels(free: list[int], keys: list[str], label: int | None, *, by_user: bool) -> list[int]:
    """Add what would have been the label, where the user names another."""
    if not by_user:
        return free
    return sorted({*free, *(c for c, key in enumerate(keys) if key in LABELS and c != label)})


def _plain_layout(
    names: tuple[str, ...], choice: Choice, slices: list[int], sample: Sample
) -> Layout:
    """Take a table of classes with its labels, or either alone."""
    classes, label = classes_and_label(choice, names, sample)
    if label is None and (not classes or [*classes, *slices] == classes == [0]):
        label = lone_label(names, [*classes, *slices], sample)
        classes = classes if label is None else []
    if not classes and label is None:
        raise FileError(
            "header", "no column of classes and no label column", "a column a class and a label"
        )
    found, doubts, words = list(choice.found), choice.doubts, choice.words
    label, one_hot = _or_one_hot(label, classes, slices, names, sample)
    if label is None and classes and not one_hot:
        group, sure = one_hot_group(slices, names, classes, sample)
        told = _label_by_rows(classes, words, slices, names, sample, but={*group})
        if told is not None:
            label, said, likely = told
            found, doubts = ([], (said,)) if likely else ([said], ())
        one_hot = group if label is None else []
        doubts = (*doubts, *_perhaps_decided(names, one_hot, sure=sure))
    if one_hot:
        found.append(f"Columns of the labels: {_from_to(names, one_hot)}.")
    if label is None and choice.without_label:
        score, classes = quoted(names[classes[0]], 30), [*choice.without_label]
        said = f"No column is sure to be the label. If {score} is the score of class 1, and another"
        doubts = (*doubts, f"{said} column the outcome, choose the column of the labels.")
    if len(classes) > 1:
        shown = ", ".join(plain(names[c], 30) for c in classes[:4])
        more = f" and {len(classes) - 4} more" if len(classes) > 4 else ""
        found.append(f"Class columns: {shown}{more}.")
    if len(classes) == 1:
        words, unsure = _one_score(names, classes[0], label, sample, by_user=choice.by_user)
        doubts = (*doubts, *unsure)
        found.append(f"One score column, {plain(names[classes[0]], 30)}, for class 1.")
    used = {label, *classes, *one_hot}
    slices = [c for c in slices if c not in used]
    return Layout(
        names, tuple(classes), labels=label, predicted=choice.predicted, slices=tuple(slices),
        one_hot=tuple(one_hot), told=words,
        ids=names_rows(names, slices, sample) if label is None or not classes else None,
        found=(*found, *left_out(names, used, slices)), doubts=doubts,
    )  # fmt: skip


def _or_one_hot(
    label: int | None, classes: list[int], slices: list[int], names: tuple[str, ...], sample: Sample
) -> tuple[int | None, list[int]]:
    """Give the label, or instead of it one column a class, of which it may be one."""
    free = slices if label is None else [*slices, label]
    one_hot = one_hot_labels(free, names, classes, sample)
    if not one_hot and label is not None:
        one_hot, _ = one_hot_group(free, names, classes, sample)
    used = label is None or label in one_hot
    return (None, one_hot) if one_hot and used else (label, [])


def _from_to(names: Sequence[str], columns: Sequence[int]) -> str:
    """Name the first and the last of several columns."""
    return f"{plain(names[columns[0]], 30)} to {plain(names[columns[-1]], 30)}"


def _perhaps_decided(names: Sequence[str], columns: Sequence[int], *, sure: bool) -> Iterator[str]:
    if sure or not columns:
        return
    yield (
        f"Columns {_from_to(names, columns)} were taken for the labels: they are called by the"
        " classes, and one of them is 1 in every row. They may be decisions of a model; if so,"
        " choose the column of the labels."
    )


def _label_by_rows(
    classes: list[int],
    words: tuple[str, ...],
    slices: list[int],
    names: tuple[str, ...],
    sample: Sample,
    *,
    but: Collection[int],
) -> tuple[int, str, bool] | None:
    """Find a label that is not called so, what says it, and whether it is only likely."""
    slices = [c for c in slices if c not in but]
    called = dict(zip(classes, words, strict=True)) if words else {}
    heads = [called.get(c, name) for c, name in enumerate(names)]
    by_cells = label_by_cells(heads, classes, slices, sample)
    return by_cells or lone_outcome(names, classes, slices, sample)


def _one_score(
    names: Sequence[str], score: int, label: int | None, sample: Sample, *, by_user: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tell of which class the lone score is."""
    if label is None:
        return class_of_score(names[score], None, ())
    cells = [row[label] for row in sample]
    return class_of_score(names[score], names[label], cells, by_user=by_user)


def _without_header(sample: Sample, label: int | None, classes: list[int]) -> Layout:
    """Without names the last column is the label if it holds whole numbers or words."""
    width = len(sample[0])
    found: tuple[str, ...] = ()
    if label is None and width - 1 not in classes:
        whole = all(is_whole(row[-1]) and float(row[-1]) >= 0 for row in sample)
        if whole or not any(is_number(row[-1]) for row in sample):
            label = width - 1
            found = ("The last column was taken for the label.",) if width > 1 else ()
        elif not classes and first_is_label(sample):
            label = 0
            found = ("The first column was taken for the label.",)
    rest = [c for c in range(width) if c != label and c not in classes]
    if not classes:
        classes = with_fractions(numeric_columns(rest, sample), sample)
    used = {*classes}
    slices = tuple(c for c in rest if c not in used)
    return Layout(None, tuple(classes), labels=label, slices=slices, found=found)


def _only(
    keys: Sequence[str], wanted: frozenset[str], names: Sequence[str], but: Sequence[int | None]
) -> int | None:
    """Find the one column that goes by one of the names."""
    return one_of([c for c, key in enumerate(keys) if key in wanted and c not in but], names)


def _refuse_twice(names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name.strip() and name.strip() in seen:
            raise FileError("header", f"column {quoted(name)} twice", "different column names")
        seen.add(name.strip())
