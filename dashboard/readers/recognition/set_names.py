"""Which set a name speaks of, and the column that says so of each row, or of some."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.recognition import vocabulary as terms
from dashboard.readers.recognition.groups import in_use
from dashboard.readers.recognition.vocabulary import set_of, words_of
from dashboard.readers.records import (
    Array,
    Column,
    Options,
    RawEvent,
    RawSet,
    Reading,
    Role,
    Sentences,
    Table,
    table_at,
)
from dashboard.readers.refusal import plain, quoted

_SHOWN, _MOST_TEXTS, _FEW = 20, 20, 3
_OF = {"calibration": "the calibration set", "test": "the test set", "training": "for training"}
_OTHER = "train"
"""A text whose rows are in no set."""


def role_of(name: str) -> tuple[Role, str]:
    """Return which set a name speaks of, and the rest of the name.

    Examples
    --------
    >>> role_of("y_val"), role_of("test-logits"), role_of("logits")
    (('calibration', 'y'), ('test', 'logits'), ('rows', 'logits'))
    >>> role_of("calibration.logits"), role_of("out-of-time probs")
    (('calibration', 'logits'), ('test', 'probs'))
    """
    words = _words(name)
    calibration, test = (not known.isdisjoint(words) for known in (terms.CALIBRATION, terms.TEST))
    rest = "_".join(word for word in words if word not in terms.CALIBRATION | terms.TEST)
    if calibration == test:
        return "rows", rest
    return ("calibration" if calibration else "test"), rest


def is_training(name: str) -> bool:
    """Return whether a name speaks of rows that a model was trained on."""
    return (
        not terms.TRAINING.isdisjoint(_words(name))
        or re.search(r"(?<![a-z])in[^a-z]?sample(?![a-z])", name.lower()) is not None
    )


def further_sets(names: Iterable[str]) -> set[str]:
    """Return names of a second set to tune or to test, such as ``holdout`` beside ``test``.

    Examples
    --------
    >>> further_sets(["val_y", "test_y", "holdout_y"]), further_sets(["val_y", "holdout_y"])
    ({'holdout_y'}, set())
    """
    roles = {name: role for name in names if (role := role_of(name)[0]) != "rows"}
    usual = {role for name, role in roles.items() if terms.FURTHER.isdisjoint(_words(name))}
    return {
        name
        for name, role in roles.items()
        if role in usual and not terms.FURTHER.isdisjoint(_words(name))
    }


@lru_cache(maxsize=1000)
def _words(name: str) -> tuple[str, ...]:
    line = "_".join(words_of(name))
    for several, one in terms.SEVERAL:
        line = re.sub(f"(?<![a-z]){several}(?![a-z])", one, line)
    return tuple(word for word in line.split("_") if word)


@dataclass(frozen=True, eq=False)
class Parting(Sentences):
    """The rows of calibration and test set, as a column tells them; or of ``"rows"`` alone."""

    rows: Mapping[Role, NDArray[np.bool_]]

    def of(self, raw: RawSet | RawEvent) -> dict[Role, RawSet | RawEvent]:
        """Return the sets of rows."""
        return {role: raw.rows(rows) for role, rows in self.rows.items()}


def parting_of(column: Column) -> Parting | None:
    """Return how a column names the sets; None where its cells do not name sets.

    Rows of a training set are left out, as a calibrator is fitted on rows that the model has not
    seen. Where only one other set is left, its rows are one set.

    Examples
    --------
    >>> column = Column("split", np.array([0, 1, 2, 1], np.int32), ("train", "val", "test"))
    >>> {role: rows.tolist() for role, rows in parting_of(column).rows.items()}
    {'calibration': [False, True, False, True], 'test': [False, False, True, False]}
    """
    if column.texts is None or column.values.ndim != 1:
        return None
    codes, texts = in_use(column.values, column.texts)
    named = [set_of(text) for text in texts]
    if None in named or len({*named}) < 2:
        return None
    marks = {
        role: np.array([of == role for of in named], dtype=np.bool_)[codes]
        for role in ("calibration", "test", "training")
    }
    names = {
        role: " and ".join(
            plain(t, _SHOWN) for t, of in zip(texts, named, strict=True) if of == role
        )
        for role in marks
    }
    n_training = int(marks["training"].sum())
    repairs: tuple[str, ...] = ()
    if n_training:
        rows = "training row" if n_training == 1 else "training rows"
        repairs = (f"{n_training:,} {rows} left out by column {quoted(column.name)}.",)
    if not names["calibration"] or not names["test"]:
        return Parting({"rows": ~marks["training"]}, repairs=repairs)
    note = (
        f"Column {quoted(column.name)}: {names['calibration']} is the calibration set,"
        f" {names['test']} the test set."
    )
    sets: dict[Role, NDArray[np.bool_]] = {
        "calibration": marks["calibration"],
        "test": marks["test"],
    }
    return Parting(sets, notes=(note,), repairs=repairs)


# Rows of each set, also where some are of neither, or of a further set ------------------------


def rows_of_sets(column: Column, *, by_user: bool) -> Parting | None:
    """Return how a column names the sets; None where its cells do not name sets.

    Rows of a further test set beside one that is called so are left out.

    Examples
    --------
    >>> column = Column("set", np.array([0, 1, 2], np.int32), ("val", "test", "holdout"))
    >>> {role: rows.tolist() for role, rows in rows_of_sets(column, by_user=False).rows.items()}
    {'calibration': [True, False, False], 'test': [False, True, False]}
    """
    if column.texts is None or column.values.ndim != 1:
        return None
    codes, texts = in_use(column.values, column.texts)
    if len(texts) > _MOST_TEXTS:
        return parting_of(column)
    out = further_sets(texts) | ({t for t in texts if set_of(t) is None} if by_user else set())
    if not out or not _both(texts):
        return parting_of(column)
    renamed = tuple(_OTHER if text in out else text for text in texts)
    parting = parting_of(replace(column, values=codes, texts=renamed))
    if parting is None:
        return None
    n_left = len(codes) - sum(int(rows.sum()) for rows in parting.rows.values())
    listed = ", ".join(
        plain(t or "blank", 20) for t in texts if t in out or set_of(t) == "training"
    )
    rows = "row" if n_left == 1 else "rows"
    left = f"{n_left:,} {rows} left out by column {quoted(column.name)}: {listed}."
    return replace(parting, repairs=(left,))


def set_columns(table: Table, reading: Reading) -> list[Column]:
    """Return the columns that name the sets, first those that are called so."""
    columns = reading.columns_of(table, "set")
    return sorted(columns, key=lambda c: not terms.SET_COLUMNS.intersection(words_of(c.name)))


def rows_in_use(
    table: Table, reading: Reading, options: Options
) -> tuple[Table, tuple[str, ...], str | None]:
    """Return a table without rows of no set, whose cells do not matter."""
    for column in set_columns(table, reading) if options.sets != "one" else ():
        rows = rows_of_sets(column, by_user=(column.name, "set") in options.roles)
        if rows is not None:
            in_sets = np.logical_or.reduce([*rows.rows.values()])
            whole = table if in_sets.all() else table_at(table, np.flatnonzero(in_sets))
            return whole, rows.repairs, column.name
    return table, (), None


def rows_by_set(
    table: Table, reading: Reading, options: Options, teller: str | None
) -> tuple[Parting | None, list[Column]]:
    """Return how rows that can be used are parted, and other columns of sets."""
    parting: Parting | None = None
    others = []
    for column in set_columns(table, reading):
        may = options.sets != "one" and parting is None and teller in (None, column.name)
        by_user = (column.name, "set") in options.roles
        rows = rows_of_sets(column, by_user=by_user) if may else None
        if rows is None and column.name != teller:
            others.append(column)
        parting = rows or parting
    return parting, others


def unclear_sets(
    groups: Sequence[Column], of_sets: Sequence[Column], options: Options
) -> list[str]:
    """Return a doubt about each grouping column that may name sets but was not followed."""
    doubts: list[str] = []
    chosen = {name for name, role in options.roles if role == "group"}
    for column in groups if options.sets != "one" else ():
        if column in of_sets:
            doubts.append(
                f"Column {quoted(column.name)} does not say which rows are calibration or test."
            )
        if column in of_sets or column.name in chosen:
            continue
        texts = _few_texts(column)
        if texts is None:
            continue
        codes, kinds = texts
        named = np.array([set_of(text) is not None for text in kinds], dtype=np.bool_)
        name, words = quoted(column.name), {*words_of(column.name)}
        of = {one for word in words if (one := set_of(word)) is not None}
        if _both(kinds) and not named.all():
            doubts.append(
                f"Column {name} names a calibration and a test set in {named[codes].sum():,} of"
                f" {len(codes):,} rows, so all rows are one set. Choose Calibration / test as its"
                " role to leave the others out."
            )
        elif 2 <= len(kinds) <= _FEW and words & terms.SET_COLUMNS and not named.any():
            listed = ", ".join(plain(kind, 20) for kind in kinds)
            doubts.append(
                f"Column {name} ({listed}) may tell a calibration from a test set, but does not say"
                " which is which: all rows are one set. Write val and test into it."
            )
        elif len(kinds) == 2 and words & {"is", "in"} and of:
            doubts.append(
                f"Column {name} says which rows are {_OF[of.pop()]}, but was not followed: all rows"
                " are one set. Write val, test or train into it."
            )
    return doubts


def _few_texts(column: Column) -> tuple[Array, tuple[str, ...]] | None:
    """Return the few different cells of a column, and the place of each row's."""
    if column.unread or column.values.ndim != 1:
        return None
    if column.texts is not None:
        codes, texts = in_use(column.values, column.texts)
        return (codes, texts) if len(texts) <= _MOST_TEXTS else None
    if not {*words_of(column.name)} & (terms.SET_COLUMNS | {"is", "in"}):
        return None
    values, codes = np.unique(column.values, return_inverse=True)
    return (codes, tuple(f"{v:g}" for v in values.tolist())) if len(values) <= _FEW else None


def _both(texts: Iterable[str]) -> bool:
    return {"calibration", "test"} <= {set_of(text) for text in texts}
