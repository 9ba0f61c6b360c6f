"""Which column is what: told by names, by a sample of rows, or by the user."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from dashboard.readers.classes import (
    class_columns,
    has_fractions,
    label_by_cells,
    one_hot_labels,
)
from dashboard.readers.contents import DEFAULTS, ColumnUse, Contents, Options, Preview
from dashboard.readers.headings import (
    CONFIDENCE,
    HITS,
    INDEX,
    LABELS,
    PREDICTED,
    is_score,
    key_of,
    strip_prefix,
)
from dashboard.readers.named import left_out_sentence
from dashboard.readers.ranked import find_ranked
from dashboard.readers.refusal import FileError, plain, quoted, visible
from dashboard.readers.slices import MAX_COLUMNS, is_number

_PREVIEW_ROWS, _PREVIEW_CLASSES, _PREVIEW_CELL = 10, 20, 60
Sample = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Layout:
    """What each column of a table is.

    Parameters
    ----------
    names : tuple of str or None
        The header; None where there is none.
    numbers : tuple of int
        Columns that hold a number in every row: the classes, the one score, or the scores of
        the first ranks.
    labels, predicted, hits : int, optional
        Column of the true label, of the predicted label, of whether the prediction was right.
    ranked : tuple of int
        Where each row lists its likeliest classes: the columns that name them, as ``numbers``.
    one_hot : tuple of int
        Where each class has a column of labels: those columns, as ``numbers``.
    slices : tuple of int
        Further columns, by which rows can be told apart.
    found : tuple of str
        Sentences.
    by_user : bool
        The user named the class columns.
    width : int
        Number of columns.
    sample : tuple of tuple of str
        The first rows, to be shown.
    """

    names: tuple[str, ...] | None
    numbers: tuple[int, ...]
    labels: int | None = None
    predicted: int | None = None
    hits: int | None = None
    ranked: tuple[int, ...] = ()
    one_hot: tuple[int, ...] = ()
    slices: tuple[int, ...] = ()
    found: tuple[str, ...] = ()
    by_user: bool = False
    width: int = 0
    sample: tuple[tuple[str, ...], ...] = ()

    @property
    def is_event(self) -> bool:
        """Whether the table holds only top-1 scores."""
        compared = self.predicted is not None and self.labels is not None
        judged = (compared or self.hits is not None) and not self.by_user
        return judged and len(self.numbers) == 1 and not self.ranked

    @property
    def codes(self) -> tuple[int, ...]:
        """Columns whose cells are compared, not computed with."""
        beside = (self.predicted, self.hits) if self.is_event else ()
        return tuple(c for c in (self.labels, *beside, *self.ranked) if c is not None)

    @property
    def beside(self) -> tuple[int, ...]:
        """Columns that are read as `SliceColumn`, for whatever they are used."""
        predicted = () if self.is_event or self.predicted is None else (self.predicted,)
        return (*self.slices[:MAX_COLUMNS], *predicted, *self.one_hot)

    @property
    def class_names(self) -> tuple[str, ...] | None:
        """Header of the class columns without their common prefix."""
        return strip_prefix(self.headings) if self.headings else None

    @property
    def headings(self) -> tuple[str, ...] | None:
        """Header of the class columns."""
        if self.names is None or not self.numbers:
            return None
        return tuple(self.names[column].strip() for column in self.numbers)

    @property
    def uses(self) -> dict[str, ColumnUse]:
        """Every column by name, and what it was taken for."""
        return {
            called(self.names, c): self._use(c) for c in range(self.width or len(self.names or ()))
        }

    @property
    def preview(self) -> Preview:
        """The first rows, without the cells of most classes where there are many."""
        hidden = set(self.numbers[_PREVIEW_CLASSES:])
        uses = list(self.uses.items())
        shown = [c for c in range(len(uses)) if c not in hidden]
        return Preview(
            tuple(visible(uses[c][0], _PREVIEW_CELL) for c in shown),
            tuple(uses[c][1] for c in shown),
            tuple(tuple(visible(row[c], _PREVIEW_CELL) for c in shown) for row in self.sample),
        )

    @contextmanager
    def known(self) -> Iterator[None]:
        """Let a refusal carry what the columns are, so that they can be shown and chosen among."""
        try:
            yield
        except FileError as error:
            error.known = error.known or Contents({}, uses=self.uses, preview=self.preview)
            raise

    def column_name(self, column: int) -> str:
        """Call a column by its header, or by its place."""
        if self.names is None or not self.names[column].strip():
            return f"column {column + 1}"
        return f"column {quoted(self.names[column], 30)}"

    def _use(self, column: int) -> ColumnUse:
        if column in self.numbers:
            return "score" if self.is_event or self.ranked else "class"
        single: dict[int | None, ColumnUse] = {
            self.hits: "hit", self.predicted: "prediction", self.labels: "label",
        }  # fmt: skip
        if column in single:
            return single[column]
        if column in self.ranked:
            return "prediction"
        if column in self.one_hot:
            return "label"
        if column in self.slices:
            return "slice"
        return "left out" if self.numbers or self.labels is not None else "undecided"


def called(names: Sequence[str] | None, column: int) -> str:
    """Give the name by which a column is chosen: its header, or its place."""
    return (names[column].strip() if names else "") or f"column {column + 1}"


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
    header: Sequence[str] | None, sample: Sample, options: Options = DEFAULTS
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
    """
    names = None if header is None else tuple(header)
    width = len(sample[0]) if names is None else len(names)
    rows = tuple(tuple(row) for row in sample[:_PREVIEW_ROWS])
    with Layout(names, (), width=width, sample=rows).known():
        return replace(_find(names, sample, options), width=width, sample=rows)


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
    if label is not None and layout.labels != label:
        found = f"column {quoted(called(names, label))} beside scores with right or wrong"
        raise FileError("label_column", found, "no label, or a predicted one beside it")
    return replace(layout, by_user=bool(classes))


def _chosen(names: Sequence[str] | None, width: int, wanted: str | None, field: str) -> int | None:
    """Find the column that the user names."""
    if wanted is None:
        return None
    there = [called(names, c) for c in range(width)]
    if wanted.strip() not in there:
        listed = ", ".join(plain(name, 20) for name in there[:6])
        raise FileError(field, f"no column {quoted(wanted)} in the file", f"one of {listed}")
    return there.index(wanted.strip())


def _with_header(
    names: tuple[str, ...], sample: Sample, label: int | None, classes: list[int]
) -> Layout:
    keys = [key_of(name) for name in names]
    by_user = label is not None
    label = label if by_user else _only(keys, LABELS, names, but=classes)
    predicted = _only(keys, PREDICTED, names, but=[label, *classes])
    hits = _only(keys, HITS, names, but=[label, *classes])
    taken = {label, predicted, hits}
    no_use = INDEX | LABELS | {""}
    free = [c for c, key in enumerate(keys) if c not in taken and key not in no_use]
    ranks = None if classes else find_ranked(keys, sample, label)
    if ranks is not None:
        return _ranked(names, ranks, label, free)
    confidence = [c for c in free if keys[c] in CONFIDENCE]
    chosen = told = bool(classes)
    if not chosen:
        classes, told = class_columns([c for c in free if c not in confidence], names, sample)
    judged = hits is not None or (predicted is not None and label is not None)
    if len(confidence) == 1 and (not classes or (judged and not told)):
        return _event(names, confidence[0], label, predicted, hits, free)
    if not classes and predicted is not None and hits is None and has_fractions(predicted, sample):
        classes, predicted = [predicted], None
    if len(classes) == 1 and predicted is not None and label is not None and not chosen:
        return _event(names, classes[0], label, predicted, None, free)
    slices = [
        c
        for c in _and_labels(free, keys, label, by_user=by_user)
        if c not in classes and c not in confidence and not (len(classes) > 1 and is_score(keys[c]))
    ]
    return replace(_plain_layout(names, classes, label, slices, sample), predicted=predicted)


def _and_labels(free: list[int], keys: list[str], label: int | None, *, by_user: bool) -> list[int]:
    """Add what would have been the label, where the user names another."""
    if not by_user:
        return free
    return sorted({*free, *(c for c, key in enumerate(keys) if key in LABELS and c != label)})


def _rest(names: tuple[str, ...], used: set[int | None], slices: Sequence[int]) -> tuple[str, ...]:
    """Name the columns that are not used."""
    unused = [
        name or "(no name)" for c, name in enumerate(names) if c not in used and c not in slices
    ]
    return left_out_sentence(unused)


def _plain_layout(
    names: tuple[str, ...],
    classes: list[int],
    label: int | None,
    slices: list[int],
    sample: Sample,
) -> Layout:
    """Take a table of classes with its labels, or either alone."""
    if not classes and label is None:
        raise FileError(
            "header", "no column of classes and no label column", "a column a class and a label"
        )
    found: list[str] = []
    one_hot = one_hot_labels(slices, names, classes, sample) if label is None else []
    if label is None and len(classes) > 1 and not one_hot:
        label = label_by_cells(names, classes, slices, sample)
        if label is not None:
            name = plain(names[label], 30)
            found.append(f"Column {name} was taken for the label: its cells name classes.")
    if len(classes) > 1:
        shown = ", ".join(plain(names[c], 30) for c in classes[:4])
        more = f" and {len(classes) - 4} more" if len(classes) > 4 else ""
        found.append(f"Class columns: {shown}{more}.")
    if len(classes) == 1:
        if re.search(r"(?<![0-9])0$", names[classes[0]].strip()):
            name = quoted(names[classes[0]], 30)
            raise FileError("header", f"column {name} alone, of class 0", "the score of class 1")
        found.append(f"One score column, {plain(names[classes[0]], 30)}, for class 1.")
    used = {label, *classes, *one_hot}
    slices = [c for c in slices if c not in used]
    return Layout(
        names, tuple(classes), labels=label, slices=tuple(slices), one_hot=tuple(one_hot),
        found=(*found, *_rest(names, used, slices)),
    )  # fmt: skip


def _ranked(
    names: tuple[str, ...], ranks: tuple[list[int], list[int]], label: int | None, free: list[int]
) -> Layout:
    """Take lists of the likeliest classes with their scores."""
    if label is None:
        raise FileError("header", "lists of likely classes without a true label", "a label column")
    classes, scores = ranks
    slices = [c for c in free if c not in (*classes, *scores)]
    many = f"{len(scores)} likeliest classes with their scores"
    said = f"Each row lists its {many if len(scores) > 1 else 'likeliest class with its score'}."
    return Layout(
        names, tuple(scores), labels=label, ranked=tuple(classes), slices=tuple(slices),
        found=(said, *_rest(names, {label, *classes, *scores}, slices)),
    )  # fmt: skip


def _event(
    names: tuple[str, ...],
    score: int,
    label: int | None,
    predicted: int | None,
    hits: int | None,
    free: list[int],
) -> Layout:
    """Top-1 scores, right or wrong by comparison of labels or as the file says."""
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
    slices = [c for c in free if c != score and key_of(names[c]) not in CONFIDENCE]
    return Layout(
        names, (score,), labels=label, predicted=predicted, hits=hits, slices=tuple(slices),
        found=_rest(names, {score, label, predicted, hits}, slices),
    )  # fmt: skip


def _without_header(sample: Sample, label: int | None, classes: list[int]) -> Layout:
    """Without names the last column is the label if it holds whole numbers or words."""
    width = len(sample[0])
    found: tuple[str, ...] = ()
    if label is None and width - 1 not in classes:
        whole = all(re.fullmatch(r"\s*[0-9]+(\.0*)?\s*", row[-1], re.ASCII) for row in sample)
        if whole or not any(is_number(row[-1]) for row in sample):
            label = width - 1
            found = ("The last column was taken for the label.",) if width > 1 else ()
    rest = [c for c in range(width) if c != label and c not in classes]
    if not classes:
        classes = [c for c in rest if any(is_number(row[c]) for row in sample)]
    slices = tuple(c for c in rest if c not in classes)
    return Layout(None, tuple(classes), labels=label, slices=slices, found=found)


def _only(
    keys: Sequence[str], wanted: frozenset[str], names: Sequence[str], but: Sequence[int | None]
) -> int | None:
    """Find the one column that goes by one of the names."""
    columns = [c for c, key in enumerate(keys) if key in wanted and c not in but]
    if len(columns) > 1:
        listed = " and ".join(quoted(names[column], 30) for column in columns[:3])
        raise FileError(
            "header", f"columns {listed}, which mean the same",
            "one column of them, or your word on which is the label",
        )  # fmt: skip
    return columns[0] if columns else None


def _refuse_twice(names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name.strip() and name.strip() in seen:
            raise FileError("header", f"column {quoted(name)} twice", "different column names")
        seen.add(name.strip())
