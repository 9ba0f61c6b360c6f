"""Which columns are the classes, by all that stands in a table: headings, sums, labels, scores."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibcore.probabilities import softmax
from dashboard.readers.columns.classes import (
    all_decided,
    class_columns,
    numeric_columns,
    summing,
    value_of,
)
from dashboard.readers.columns.families import find_family, speakers
from dashboard.readers.columns.headings import CONFIDENCE, WEAK_LABELS, key_of
from dashboard.readers.columns.positive import of_two_kinds
from dashboard.readers.columns.slices import is_number
from dashboard.readers.columns.truths import Sample, first_is_label, has_fractions, is_whole
from dashboard.readers.refusal import quoted

_ALIKE = 1e-3
_LEAST = 5


@dataclass(frozen=True)
class Choice:
    """The class columns, and how sure they are.

    Parameters
    ----------
    classes : list of int
        The columns; one alone is the score of class 1.
    told : bool
        Whether names or sums tell them, so that they are no other numbers.
    label, predicted : int, optional
        The columns of the true and of the predicted label, as far as known.
    words : tuple of str
        What the labels call the classes, where the headings say more.
    found, doubts : tuple of str
        Sentences.
    by_user : bool
        The user named the columns.
    without_label : tuple of int
        The class columns if no other column turns out to be the label, where that matters.
    """

    classes: list[int]
    told: bool
    label: int | None = None
    predicted: int | None = None
    words: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    by_user: bool = False
    without_label: tuple[int, ...] = ()

    def has_scores(self, sample: Sample) -> bool:
        """Tell predictions that are fractions: they are the score of class 1."""
        return self.predicted is not None and has_fractions(self.predicted, sample)

    def rests_on_predicted(self, sample: Sample) -> bool:
        """Tell predictions with fractions beside whole numbers that nothing calls classes."""
        if self.told and self.classes:
            return False
        whole = self.label is None and not any(has_fractions(c, sample) for c in self.classes)
        return (whole or not self.classes) and self.has_scores(sample)

    def of_predicted(self) -> "Choice":
        """Take the column of predictions for the score of class 1."""
        return replace(
            self, classes=[c for c in (self.predicted,) if c is not None], predicted=None
        )


def choose(
    names: tuple[str, ...],
    sample: Sample,
    free: list[int],
    label: int | None,
    predicted: int | None,
) -> Choice:
    """Choose the class columns among those that are free.

    Parameters
    ----------
    names, sample : sequence
        The header and the first rows.
    free : list of int
        Columns that nothing else claims.
    label, predicted : int, optional
        Columns of the true and of the predicted label, where their names say so.
    """
    classes, told = class_columns(free, names, sample)
    plain = Choice(classes, told, label, predicted)
    asked = [c for c in (label, predicted) if c is not None]
    spoken = asked[:1] if label is not None else [*asked, *speakers(names, free, sample)]
    plain = replace(plain, doubts=_also_sum(plain, free, names, sample))
    family = find_family(names, numeric_columns(free, sample), spoken, sample, classes)
    if family is not None:
        known = family.label if label is None else label
        return replace(
            plain, classes=[*family.columns], told=True, label=known, words=family.classes
        )
    if label is None:
        return _beside_outcome(plain, sample)
    two = len({row[label] for row in sample}) == 2
    if two and classes and not told and plain.has_scores(sample):
        return plain.of_predicted()
    if len(classes) < 2:
        return plain
    if not told:
        classes = _numbered(classes, label, names, sample)
    classes, found, doubts = of_two_kinds(classes, label, names, sample, told=told)
    told = told or len(classes) < len(plain.classes)
    return replace(plain, classes=classes, told=told, found=found, doubts=(*plain.doubts, *doubts))


def _beside_outcome(choice: Choice, sample: Sample) -> Choice:
    """Take the only numbers with fractions for the score, where others are of two kinds.

    Logits of two classes have fractions both; 0 and 1 beside one of them are an outcome.
    """
    classes = choice.classes
    scores = [c for c in classes if has_fractions(c, sample)]
    if not scores and len(classes) == 2:
        scores = [c for c in classes if not all_decided([c], sample)]
    others = [c for c in classes if c not in scores]
    kinds = {c: {row[c].strip() for row in sample} for c in others}
    whole = all(is_whole(cell) for cells in kinds.values() for cell in cells)
    two = any(len(cells) == 2 for cells in kinds.values())
    if choice.told or len(scores) != 1 or not whole or not two or len(sample) < _LEAST:
        return choice
    return replace(choice, classes=scores, without_label=tuple(classes))


def classes_and_label(
    choice: Choice, names: tuple[str, ...], sample: Sample
) -> tuple[list[int], int | None]:
    """Give the classes and the label; numbers 0 and 1 alone that are called one are the label."""
    classes, label = choice.classes, choice.label
    alone = label is None and len(classes) == 1 and not choice.by_user
    if alone and key_of(names[classes[0]]) in WEAK_LABELS and all_decided(classes, sample):
        return [], classes[0]
    return classes, label


def _also_sum(
    choice: Choice, free: Sequence[int], names: Sequence[str], sample: Sample
) -> tuple[str, ...]:
    """Doubt a choice between columns of which as many others sum to 1 as well."""
    if len(choice.classes) < 2:
        return ()
    chosen = {*choice.classes}
    others = [c for c in free if c not in chosen]
    if len(others) < len(chosen) or len(summing(choice.classes, sample)) < len(chosen):
        return ()
    like = summing(numeric_columns(others, sample), sample)
    # Shares that are 0 or 1 throughout are labels or decisions.
    if len(like) != len(chosen) or all_decided(like, sample) > all_decided(chosen, sample):
        return ()
    first, other = quoted(names[choice.classes[0]], 30), quoted(names[like[0]], 30)
    said = f"Columns from {first} were taken for the classes"
    return (f"{said}; {len(like)} others, from {other}, sum to 1 as well: perhaps they are meant.",)


def _numbered(classes: list[int], label: int, names: Sequence[str], sample: Sample) -> list[int]:
    """Keep the columns that are called by numbers, where all labels are among these."""
    numbered = [c for c in classes if names[c].strip().isdecimal()]
    called = {names[c].strip() for c in numbered}
    told = len(called) > 1 and {row[label].strip() for row in sample} <= called
    return numbered if told else classes


def confidence_columns(
    keys: Sequence[str], free: Sequence[int], sample: Sample, *, compared: bool
) -> list[int]:
    """List the columns of the score of the likeliest class, as their names say."""
    found = [c for c in free if keys[c] in CONFIDENCE]
    if len(found) > 1:
        found = [c for c in found if has_fractions(c, sample)] or found
    if found or not compared:
        return found
    found = [c for c in free if keys[c].rsplit("_", 1)[-1] in ("conf", "confidence")]
    return found if len(found) == 1 else []


def goes_with(choice: Choice, confidence: int, names: Sequence[str], sample: Sample) -> bool:
    """Tell class columns that go with the labels, or with the score of the likeliest class."""
    classes = choice.classes
    weak = [c for c, name in enumerate(names) if key_of(name) in WEAK_LABELS and c not in classes]
    beside = [c for c in (choice.label, choice.predicted, *weak) if c is not None]
    called = {names[c].strip() for c in classes}
    for c in beside:
        cells = {row[c].strip() for row in sample}
        rows = [(row[c], *(row[k] for k in classes)) for row in sample]
        if (len(cells) > 1 and cells <= called) or first_is_label(rows):
            return True
    wanted = [*classes, confidence]
    if not sample or not all(is_number(row[c]) for row in sample for c in wanted):
        return False
    values = np.array([[value_of(row[c]) for c in wanted] for row in sample])
    tops = values[:, :-1].max(axis=1), softmax(values[:, :-1]).max(axis=1)
    return any(bool(np.abs(top - values[:, -1]).max() <= _ALIKE) for top in tops)
