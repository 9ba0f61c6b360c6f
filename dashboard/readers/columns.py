"""Which column is what: told by names, and by a sample of rows."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.readers.named import LABEL_KEYS, left_out_sentence
from dashboard.readers.refusal import FileError, plain, quoted

# Possessive, so that a million digits before a letter cannot make the pattern start over.
NUMBER = re.compile(
    r"\s*+[+-]?(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+\s*+", re.ASCII
)
_LABELS = LABEL_KEYS | {"class", "true", "actual", "obs", "true_class"}
_PREDICTED = frozenset(
    {"pred_label", "predicted_label", "prediction", "predicted", "pred", "y_pred", "pred_class"}
)
_CONFIDENCE = frozenset({"confidence", "conf", "max_prob", "top1", "top_1", "top1_score"})
_HITS = frozenset({"correct", "hit", "hits", "is_correct"})
_INDEX = frozenset(
    {
        "index",
        "id",
        "idx",
        "row",
        "rowid",
        "row_id",
        "sample",
        "sample_id",
        "image_id",
        "rownames",
        "unnamed:_0",
        "fold",
        "split",
        "set",
        "weight",
        "filename",
        "file",
        "path",
        "name",
        "image",
    }
)
_PREFIXES = (
    ".pred_", "logits_", "logit_", "probability_", "proba_", "probs_", "prob_", "scores_", "score_",
    "class_", "pred_", "logits.", "logit.", "prob.", "logit", "prob", "p_", "c",
)  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """What each column of a table is.

    Parameters
    ----------
    names : tuple of str or None
        The header; None where there is none.
    numbers : tuple of int
        Columns that hold a number in every row: the classes, or the one score.
    labels, predicted, hits : int, optional
        Column of the true label, of the predicted label, of whether the prediction was right.
    found : tuple of str
        Sentences.
    """

    names: tuple[str, ...] | None
    numbers: tuple[int, ...]
    labels: int | None = None
    predicted: int | None = None
    hits: int | None = None
    found: tuple[str, ...] = ()

    @property
    def is_event(self) -> bool:
        """Whether the table holds only top-1 scores."""
        return self.predicted is not None or self.hits is not None

    @property
    def codes(self) -> tuple[int, ...]:
        """Columns whose cells are compared, not computed with."""
        return tuple(c for c in (self.labels, self.predicted, self.hits) if c is not None)

    @property
    def class_names(self) -> tuple[str, ...] | None:
        """Header of the class columns without their common prefix."""
        if self.names is None or len(self.numbers) < 2:
            return None
        return strip_prefix([self.names[column] for column in self.numbers])

    def column_name(self, column: int) -> str:
        """Call a column by its header, or by its place."""
        if self.names is None or not self.names[column].strip():
            return f"column {column + 1}"
        return f"column {quoted(self.names[column], 30)}"


def is_number(cell: str) -> bool:
    """Tell a number, in plain decimals with point or comma, perhaps with a percent sign."""
    return NUMBER.fullmatch(cell.strip().removesuffix("%").replace(",", ".", 1)) is not None


def looks_like_header(fields: Sequence[str]) -> bool:
    """Tell a header from data: a known name, running numbers, or mostly words.

    Examples
    --------
    >>> looks_like_header(["0", "1", "label"]), looks_like_header(["0.5", "n/a", "2"])
    (True, False)
    """
    if any(_key(field) in _LABELS for field in fields):
        return True
    if numbers_columns(fields):
        return True
    words = sum(not is_number(field) for field in fields)
    return 2 * words > len(fields) or (len(fields) == 2 and words == 1 and not fields[0].strip())


def numbers_columns(fields: Sequence[str]) -> bool:
    """Tell a header that only counts the columns, as pandas writes one, and names nothing."""
    return len(fields) > 2 and all(field.strip() == str(k) for k, field in enumerate(fields))


def strip_prefix(names: Sequence[str]) -> tuple[str, ...]:
    """Take a prefix such as ``prob_`` off, if all names have it and stay different."""
    for prefix in _PREFIXES:
        short = tuple(n[len(prefix) :].strip() for n in names if n.lower().startswith(prefix))
        usable = len(short) == len(names) and all(short) and len(set(short)) == len(short)
        if usable and (len(prefix) > 4 or prefix.endswith(("_", ".")) or all(map(_digits, short))):
            return short
    return tuple(name.strip() for name in names)


def find_layout(header: Sequence[str] | None, sample: Sequence[Sequence[str]]) -> Layout:
    """Tell the columns apart.

    Parameters
    ----------
    header : sequence of str, optional
        Fields of the first row where it is a header.
    sample : sequence of rows
        The first rows of data, all of the same width.
    """
    if header is None:
        return _without_header(sample)
    names = tuple(header)
    _refuse_twice(names)
    keys = [_key(name) for name in names]
    label = _only(keys, _LABELS, names)
    predicted = _only(keys, _PREDICTED, names)
    hits = _only(keys, _HITS, names)
    taken = {column for column in (label, predicted, hits) if column is not None}
    free = [c for c in range(len(names)) if c not in taken and keys[c] not in _INDEX | {""}]
    confidence = [c for c in free if keys[c] in _CONFIDENCE]
    classes = _classes([c for c in free if c not in confidence], names, sample)
    if not classes and len(confidence) == 1:
        return _event(names, confidence[0], label, predicted, hits)
    if not classes and predicted is not None and hits is None and _has_fractions(predicted, sample):
        classes, predicted = [predicted], None
    if len(classes) == 1 and predicted is not None and label is not None:
        return _event(names, classes[0], label, predicted, None)
    return _plain_layout(names, classes, label)


def _plain_layout(names: tuple[str, ...], classes: list[int], label: int | None) -> Layout:
    unused = [names[c] or "(no name)" for c in range(len(names)) if c not in {*classes, label}]
    if not classes and label is None:
        raise FileError(
            "header", "no column of classes and no label column", "a column a class and a label"
        )
    shown = ", ".join(plain(names[c], 30) for c in classes[:4])
    more = f" and {len(classes) - 4} more" if len(classes) > 4 else ""
    found = (f"Class columns: {shown}{more}.",) if len(classes) > 1 else ()
    if len(classes) == 1:
        if re.search(r"(?<![0-9])0$", names[classes[0]].strip()):
            name = quoted(names[classes[0]], 30)
            raise FileError("header", f"column {name} alone, of class 0", "the score of class 1")
        found = (f"One score column, {plain(names[classes[0]], 30)}, for class 1.",)
    return Layout(names, tuple(classes), labels=label, found=(*found, *left_out_sentence(unused)))


def _event(
    names: tuple[str, ...], score: int, label: int | None, predicted: int | None, hits: int | None
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
    used = {score, label, predicted, hits}
    unused = [name for c, name in enumerate(names) if c not in used]
    return Layout(
        names, (score,), labels=label, predicted=predicted, hits=hits,
        found=left_out_sentence(unused),
    )  # fmt: skip


def _classes(free: list[int], names: tuple[str, ...], sample: Sequence[Sequence[str]]) -> list[int]:
    """Choose the class columns: those with a telling prefix, else all that hold numbers."""
    for prefix in _PREFIXES:
        chosen = [c for c in free if names[c].lower().startswith(prefix)]
        telling = len(prefix) > 4 or prefix.endswith(("_", "."))
        if not telling:
            chosen = [c for c in chosen if _digits(names[c][len(prefix) :])]
        if len(chosen) > 1:
            return chosen
    return [c for c in free if any(is_number(row[c]) for row in sample)]


def _without_header(sample: Sequence[Sequence[str]]) -> Layout:
    """Without names the last column is the label if it holds whole numbers."""
    width = len(sample[0])
    whole = all(re.fullmatch(r"\s*[0-9]+(\.0*)?\s*", row[-1], re.ASCII) for row in sample)
    words = not any(is_number(row[-1]) for row in sample)
    if whole or words:
        found = ("The last column was taken for the label.",) if width > 1 else ()
        return Layout(None, tuple(range(width - 1)), labels=width - 1, found=found)
    return Layout(None, tuple(range(width)))


def _has_fractions(column: int, sample: Sequence[Sequence[str]]) -> bool:
    """Tell a score from a class number, both of which some call a prediction."""
    cells = [row[column].strip() for row in sample]
    return all(map(is_number, cells)) and not all(map(_digits, cells))


def _key(name: str) -> str:
    return re.sub(r"[\s\-]+", "_", name.strip().lower())


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _only(keys: Sequence[str], wanted: frozenset[str], names: Sequence[str]) -> int | None:
    """Find the one column that goes by one of the names."""
    columns = [column for column, key in enumerate(keys) if key in wanted]
    if len(columns) > 1:
        listed = " and ".join(quoted(names[column], 30) for column in columns[:3])
        raise FileError("header", f"columns {listed}, which mean the same", "one column of them")
    return columns[0] if columns else None


def _refuse_twice(names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name.strip() and name.strip() in seen:
            raise FileError("header", f"column {quoted(name)} twice", "different column names")
        seen.add(name.strip())
