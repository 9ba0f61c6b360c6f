"""Columns that are known only after the outcome, as a group of theirs always has the same one."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calibcore.binning import round_ranges
from calibcore.blocks import row_blocks
from calibcore.data import EventScores, LogitSet
from calibcore.probabilities import softmax
from calibcore.validation import Floats
from dashboard.readers.recognition.groups import FEW_VALUES, NUMBER_RANGES
from dashboard.readers.recognition.vocabulary import is_owner, words_of
from dashboard.readers.records import (
    ColumnRole,
    Contents,
    Options,
    RawEvent,
    RawSet,
    Role,
    SliceColumn,
)
from dashboard.readers.refusal import percent, plain, visible

_Rows = LogitSet | EventScores
_Columns = Mapping[str, SliceColumn]
_Places = NDArray[np.intp]

_FEWEST = 20
"""Rows of a group below which nothing is said of it."""

_CHANCE = 1e-9
"""Probability of outcomes that are all the same, below which they are no chance."""

_LIKELY = 0.8
"""Mean probability of an outcome from which on a group may well have no other one."""

_NAME, _VALUE = 60, 30
_PERIOD = re.compile(r"[12]\d{3}(-\S+)?", re.ASCII)
_GROUPS: tuple[ColumnRole, ...] = ("group", "date")
WHY = "known only after the outcome"


def known_afterwards(
    columns: Mapping[str, _Columns],
    sets: Mapping[Role, _Rows],
    raw: Mapping[Role, RawSet | RawEvent],
    options: Options,
) -> dict[str, str]:
    """Return the columns that follow from the outcome, and a sentence on each.

    All rows of one of their groups have the same outcome, though rows with such scores seldom have
    it; or each group has its outcome. What rows belong to, such as a patient, may always have the
    same one; so may a month of which the outcomes are not known yet, but not every month. A column
    that the user chose to group by is none of them.
    """
    chosen = {visible(name, _NAME) for name, role in options.roles if role in _GROUPS}
    whole = _Whole(tuple(sets.values()))
    sentences = {}
    for name in next(iter(columns.values()), {}):
        if name in chosen or is_owner(words_of(name)):
            continue
        parts = [columns[role][name] for role in sets]
        values = np.concatenate([part.values for part in parts])
        places, groups = _groups_of(replace(parts[0], values=values))
        worst = whole.no_chance(places, len(groups), in_time=_is_in_time(parts[0]))
        if worst is not None:
            sentences[name] = _sentence(name, groups[worst], places == worst, whole, raw)
    return sentences


def without(contents: Contents, names: Sequence[str]) -> Contents:
    """Return contents of which some grouping columns are left out."""
    left = {name for name in contents.uses if visible(name, _NAME) in names}
    uses = {name: "left out" if name in left else use for name, use in contents.uses.items()}
    preview = contents.preview
    if preview is not None and preview.roles:
        marks = [name in names for name in preview.headings]
        rows = zip(marks, preview.uses, preview.roles, preview.reasons, strict=True)
        shown = [("left out", "left out", WHY) if mark else tuple(row) for mark, *row in rows]
        of_uses, roles, reasons = zip(*shown, strict=True)
        preview = replace(preview, uses=of_uses, roles=roles, reasons=reasons)
    return replace(contents, uses=uses, preview=preview)


@dataclass(frozen=True)
class _Whole:
    """The rows of all sets."""

    sets: tuple[_Rows, ...]

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """Class of each row; of top predictions, whether they are right."""
        each = [rows.labels if isinstance(rows, LogitSet) else rows.hits for rows in self.sets]
        return np.concatenate(each).astype(np.int64)

    def probability(self, k: int) -> Floats:
        """Return the score of a class in each row."""
        return np.concatenate([_probability(rows, k) for rows in self.sets])

    def no_chance(self, places: _Places, n_groups: int, *, in_time: bool) -> int | None:
        """Return the group of which it is the least likely that all have the outcome they have.

        None where chance may be why, or nothing but that the group is as it is. ``places``: group
        of each row; ``in_time``: whether groups are periods.
        """
        sizes = np.bincount(places, minlength=n_groups)
        many = sizes >= _FEWEST
        pure = many & self._alike(places, n_groups)
        decides = np.array_equal(pure, many) and 2 * sizes[many].sum() > places.size
        if in_time and not decides:
            return None
        least, worst = math.log(_CHANCE), None
        for group in np.flatnonzero(pure).tolist():
            rows = places == group
            k = int(self.labels[np.argmax(rows)])
            scores = self.probability(k)
            if not decides and scores[rows].mean() >= _LIKELY:
                continue
            frequency = _frequency(scores, self.labels == k)[rows]
            chance = float(np.log(frequency).sum())
            if (decides or frequency.mean() < _LIKELY) and chance < least:
                least, worst = chance, group
        return worst

    def _alike(self, places: _Places, n_groups: int) -> NDArray[np.bool_]:
        """Mark the groups of which all rows have one label."""
        lowest = np.full(n_groups, self.labels.max())
        highest = np.full(n_groups, self.labels.min())
        np.minimum.at(lowest, places, self.labels)
        np.maximum.at(highest, places, self.labels)
        return np.asarray(lowest == highest)


def _is_in_time(column: SliceColumn) -> bool:
    """Return whether a column holds months or years."""
    texts = [text for text in column.categories or () if text]
    return bool(texts) and all(map(_PERIOD.fullmatch, texts))


def _probability(rows: _Rows, k: int) -> Floats:
    if isinstance(rows, EventScores):
        return rows.scores if k else 1 - rows.scores
    scores = np.empty(rows.n_samples)
    for block in row_blocks(*rows.given.shape):
        given = rows.given[block]
        scores[block] = (softmax(given) if rows.values_kind == "logits" else given)[:, k]
    return scores


def _frequency(scores: Floats, hits: NDArray[np.bool_]) -> Floats:
    """Return the isotonic regression of hits on the score, which is above 0 at each hit."""
    from scipy.optimize import (  # noqa: PLC0415 - a third of a second to import
        isotonic_regression,
    )

    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    rates = np.bincount(place, hits) / counts
    return np.asarray(isotonic_regression(rates, weights=counts).x[place])


def _groups_of(column: SliceColumn) -> tuple[_Places, list[str]]:
    """Return the group of each row as Subgroups has them, and how rows of each are described."""
    values = column.values
    if column.categories is not None:
        texts = [
            f"= {visible(text, _VALUE)}" if text else "left blank" for text in column.categories
        ]
        return values.astype(np.intp), texts
    numbers = values.astype(np.float64)
    different = np.unique(numbers[~np.isnan(numbers)])
    if different.size <= FEW_VALUES:
        names = [f"= {value:.6g}" for value in different.tolist()]
        return np.searchsorted(different, numbers), [*names, "left blank"]
    ranges = round_ranges(numbers, NUMBER_RANGES)
    last = ranges.cuts.size
    names = []
    for k in range(last + 1):
        own = numbers[ranges.places == k]
        low, high = f"{own.min():.6g}", f"{own.max():.6g}"
        names.append(f"of up to {high}" if k == 0 else f"of {low} to {high}")
        if 0 < k == last:
            names[k] = f"of {low} and more"
    return np.where(ranges.places < 0, last + 1, ranges.places), [*names, "left blank"]


def _sentence(
    name: str,
    group: str,
    rows: NDArray[np.bool_],
    whole: _Whole,
    raw: Mapping[Role, RawSet | RawEvent],
) -> str:
    first, part = whole.sets[0], next(iter(raw.values()))
    k = int(whole.labels[np.argmax(rows)])
    shown, of = f"{plain(name, 40)} {group}", "mean score"
    if isinstance(first, EventScores):
        said = "are right" if k else "are wrong"
        mean = whole.probability(1)[rows].mean()
    else:
        label = part.label_name if isinstance(part, RawSet) else None
        value = plain(first.class_names[k], 30)
        said = f"are of class {value}" if label is None else f"have {value} in {label}"
        two = first.n_classes == 2
        mean = whole.probability(1 if two else k)[rows].mean()
        of = of if two else "mean score of that class"
    return (
        f"All {np.count_nonzero(rows):,} rows with {shown} {said}, though their {of} is"
        f" {percent(float(mean))}: it seems to be {WHY}, so it is not used for subgroups. To use it"
        f" all the same, choose Grouping as its role ({name}=group in the command)."
    )
