"""Columns that say of which set each row is."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.columns.headings import key_of
from dashboard.readers.columns.roles import role_of
from dashboard.readers.contents import SET_NAMES, Options, RawEvent, RawSet, Role, SliceColumn
from dashboard.readers.refusal import plain, quoted

_COLUMNS = frozenset(
    {"split", "set", "subset", "partition", "dataset", "phase", "usage", "role", "menge", "stage",
     "ensemble", "sample_type", "data_type", "partind"}
)  # fmt: skip
"""Words in the name of a column that says of which set each row is."""

_SURELY = frozenset({"split", "subset", "partition", "usage", "partind"})
"""Those of them that hardly speak of anything else."""

_FEW_SETS = 3
TRAINING = frozenset({"train", "training", "trn", "train_set", "training_set"})
_BESIDE = frozenset({"", "set", "split", "data"})
_ASKING = frozenset({"is", "in", "for"})
_YES, _NO = frozenset({"true", "yes", "t", "y", "1"}), frozenset({"false", "no", "f", "n", "0"})
_SHOWN = 20
_Raw = TypeVar("_Raw", RawSet, RawEvent)


@dataclass(frozen=True, eq=False)
class Parting:
    """The rows of one set, told apart by a column.

    Parameters
    ----------
    column : SliceColumn
        Each of its texts names a set.
    rows : mapping of str to ndarray of bool, shape (n_samples,)
        The rows of ``"calibration"`` and ``"test"``; what is in neither is of the training set.
    """

    column: SliceColumn
    rows: Mapping[Role, NDArray[np.bool_]]

    def of(self, raw: _Raw) -> dict[Role, _Raw]:
        """Give the two sets; the column itself tells no rows of them apart."""
        rest = replace(raw, columns=tuple(c for c in raw.columns if c is not self.column))
        return {role: rest.rows(rows) for role, rows in self.rows.items()}

    @property
    def found(self) -> str:
        """Say which texts were taken for which set."""
        fitted, judged = (_texts_of(self.column, rows) for rows in self.rows.values())
        return (
            f"Column {quoted(self.column.name)} tells the sets apart: {' and '.join(fitted)}"
            f" {'is' if len(fitted) == 1 else 'are'} the calibration set, {' and '.join(judged)}"
            " the test set."
        )

    @property
    def repairs(self) -> tuple[str, ...]:
        """Count the rows that are left out."""
        count = len(self.column.values) - sum(map(np.count_nonzero, self.rows.values()))
        if not count:
            return ()
        rows = "training row was" if count == 1 else "training rows were"
        why = "a calibrator is fitted on rows that the model has not seen"
        return (f"{count:,} {rows} left out: {why}.",)


def parting_of(
    raw: Mapping[Role, RawSet] | Mapping[Role, RawEvent] | Mapping[Role, RawSet | RawEvent],
    options: Options,
) -> Parting | None:
    """Find the one column that says of every row whether it is to fit, to judge, or neither.

    Parameters
    ----------
    raw : mapping of role to RawSet or RawEvent
        As they stood in the file; two sets are told apart already.
    options : Options
        ``sets="one"`` keeps all rows together.

    Returns
    -------
    Parting, optional
        None where no column, or more than one, names both sets and gives each row to one; of
        several the one whose own name says so.
    """
    if options.sets == "one" or "rows" not in raw:
        return None
    found = [made for column in raw["rows"].columns if (made := _parted(column)) is not None]
    if len(found) > 1:
        found = [made for made in found if _is_called_set(made.column.name)]
    return found[0] if len(found) == 1 else None


def _parted(column: SliceColumn) -> Parting | None:
    if not _names_sets(column):
        return None
    of_texts = [set_of(text) for text in column.categories or ()]
    if None in of_texts:
        return None
    roles: tuple[Role, ...] = ("calibration", "test")
    rows = {role: _among(column, [of == role for of in of_texts]) for role in roles}
    return Parting(column, rows) if all(part.any() for part in rows.values()) else None


def _names_sets(column: SliceColumn) -> bool:
    return column.categories is not None and says_sets(column.name, column.categories)


def says_sets(name: str, texts: Collection[str]) -> bool:
    """Tell a column of sets by a word of its name, or by texts that all name sets.

    Texts of one set alone are not enough, unless it is the training set.

    Examples
    --------
    >>> says_sets("data_split", ["a"]), says_sets("x", ["val", "test"]), says_sets("x", ["dev"])
    (True, True, False)
    """
    if _is_called_set(name):
        return True
    named = {set_of(text) for text in texts if text.strip()}
    return None not in named and (len(named) > 1 or "training" in named)


def _is_called_set(name: str) -> bool:
    key = key_of(name)
    return key in _COLUMNS or bool(_COLUMNS.intersection(re.split(r"[^a-z]+", key)))


def set_of(text: str) -> str | None:
    """Tell which set a text names, if it says nothing else.

    Examples
    --------
    >>> set_of("val"), set_of("Test set"), set_of("train"), set_of("test site")
    ('calibration', 'test', 'training', None)
    """
    if key_of(text) in TRAINING:
        return "training"
    role, rest = role_of(text)
    return role if role != "rows" and rest in _BESIDE else None


def _among(column: SliceColumn, chosen: list[bool]) -> NDArray[np.bool_]:
    """Mark the rows of some of the texts."""
    return np.array(chosen, dtype=np.bool_)[column.values]


def _texts_of(column: SliceColumn, rows: NDArray[np.bool_]) -> list[str]:
    """Name the texts that some rows have."""
    texts = column.categories or ()
    counts = np.bincount(column.values[rows], minlength=len(texts))
    return [plain(text, _SHOWN) for text, count in zip(texts, counts, strict=True) if count]


def named_sets(
    raw: Mapping[Role, RawSet] | Mapping[Role, RawEvent], options: Options
) -> Iterator[str]:
    """Doubt rows that a column calls training rows, and a column whose two sets are not kept apart.

    Parameters
    ----------
    raw : mapping of role to RawSet or RawEvent
        As they will be judged.
    options : Options
        With ``sets="one"`` the user has said that the sets are not to be kept apart.
    """
    for role, part in raw.items():
        for column in filter(_names_sets, part.columns):
            texts = column.categories or ()
            count = np.count_nonzero(_among(column, [key_of(text) in TRAINING for text in texts]))
            roles = {role_of(text)[0] for text in texts}
            if count:
                of_set = f" of the {SET_NAMES[role]}" if SET_NAMES[role] else ""
                yield (
                    f"Column {quoted(column.name)} calls {count:,} of {len(column.values):,}"
                    f" rows{of_set} training rows: a model looks better than it is on rows that it"
                    " was trained on; leave them out."
                )
            elif role == "rows" and options.sets == "auto" and {"calibration", "test"} <= roles:
                other = np.count_nonzero(
                    _among(column, [role_of(text)[0] == "rows" for text in texts])
                )
                n_rows = len(column.values)
                of_rows = f" in {n_rows - other:,} of {n_rows:,} rows" if other else ""
                yield (
                    f"Column {quoted(column.name)} tells a calibration set from a test set"
                    f"{of_rows}, but all rows are read as one set and split at random; two files"
                    " keep them apart."
                )
    if options.sets == "auto" and "rows" in raw:
        yield from _asked(raw["rows"])
        yield from _not_understood(raw["rows"])


def _asked(raw: RawSet | RawEvent) -> Iterator[str]:
    """Doubt a column that says of every row whether it is of one set, such as ``is_test``."""
    for column in raw.columns:
        words = {*re.split(r"[^a-z]+", key_of(column.name))}
        of = set_of("_".join(words - _ASKING))
        if not words & _ASKING or of is None or not _is_yes_or_no(column):
            continue
        what = f"of the {of} set" if of != "training" else "training rows"
        yield (
            f"Column {quoted(column.name)} says which rows are {what}, but all rows are read as one"
            " set and split at random; two files keep them apart, or a column with the words val"
            " and test."
        )


def _not_understood(raw: RawSet | RawEvent) -> Iterator[str]:
    """Doubt a column that is called one of sets, in words that name none."""
    for column in raw.columns:
        if not _SURELY.intersection(re.split(r"[^a-z]+", key_of(column.name))):
            continue
        numbers = column.categories is None
        texts = np.unique(column.values).tolist() if numbers else column.categories or ()
        roles = {role_of(str(text))[0] for text in texts}
        training = any(key_of(str(text)) in TRAINING for text in texts)
        if not 1 < len(texts) <= _FEW_SETS or training or {"calibration", "test"} <= roles:
            continue
        shown = ", ".join(f"{text:g}" if numbers else plain(text, _SHOWN) for text in texts)
        yield (
            f"Column {quoted(column.name)} ({shown}) may tell sets apart, but does not say which"
            " is which, so all rows are read as one set and split at random; the words val and"
            " test would keep them apart."
        )


def _is_yes_or_no(column: SliceColumn) -> bool:
    if column.categories is None:
        return bool(np.isin(column.values, (0, 1)).all())
    texts = {text.lower() for text in column.categories}
    return texts <= _YES | _NO and bool(texts & _YES) and bool(texts & _NO)
