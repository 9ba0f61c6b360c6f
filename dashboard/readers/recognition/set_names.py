"""Which set a name speaks of, and the column that says so of each row, or of some."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.recognition import vocabulary as terms
from dashboard.readers.recognition.groups import in_use
from dashboard.readers.records import (
    Array,
    Column,
    FileSentences,
    FileTable,
    Proposal,
    RawEvent,
    RawSet,
    Reading,
    ReadingOptions,
    Role,
    by_number,
    table_at,
)
from dashboard.readers.refusal import Answer, Question, plain, quoted

_SHOWN, _MOST_TEXTS, _FEW = 20, 20, 3
_OF = {"calibration": "the calibration set", "test": "the test set", "training": "for training"}


def role_of(name: str) -> tuple[Role, str]:
    """Return which set a name speaks of, and the rest of the name.

    >>> role_of("y_val"), role_of("test-logits"), role_of("logits")
    (('calibration', 'y'), ('test', 'logits'), ('rows', 'logits'))
    >>> role_of("calibration.logits"), role_of("out-of-time probs")
    (('calibration', 'logits'), ('test', 'probs'))
    """
    words = terms.set_words_of(name)
    calibration, test = (not known.isdisjoint(words) for known in (terms.CALIBRATION, terms.TEST))
    rest = "_".join(word for word in words if word not in terms.CALIBRATION | terms.TEST)
    if calibration == test:
        return "rows", rest
    return ("calibration" if calibration else "test"), rest


def is_training(name: str) -> bool:
    """Return whether a name speaks of rows that a model was trained on."""
    return not terms.TRAINING.isdisjoint(terms.set_words_of(name))


def further_sets(names: Iterable[str]) -> set[str]:
    """Return names of a second set to tune or to test, such as ``holdout`` beside ``test``.

    >>> further_sets(["val_y", "test_y", "holdout_y"]), further_sets(["val_y", "holdout_y"])
    ({'holdout_y'}, set())
    """
    roles = {name: role for name in names if (role := role_of(name)[0]) != "rows"}
    usual = {
        role for name, role in roles.items() if terms.FURTHER.isdisjoint(terms.set_words_of(name))
    }
    return {
        name
        for name, role in roles.items()
        if role in usual and not terms.FURTHER.isdisjoint(terms.set_words_of(name))
    }


@dataclass(frozen=True, eq=False)
class Parting(FileSentences):
    """The rows of calibration and test set, as a column tells them; or of ``"rows"`` alone."""

    rows: Mapping[Role, NDArray[np.bool_]]

    def of(self, raw: RawSet | RawEvent) -> dict[Role, RawSet | RawEvent]:
        """Return the sets of rows."""
        return {role: raw.rows(rows) for role, rows in self.rows.items()}


def rows_of_sets(column: Column, *, by_user: bool = False) -> Parting | None:
    """Return how a column names the sets; None where its cells do not name sets.

    Rows of a training set are left out, as a calibrator is fitted on rows that the model has not
    seen, and those of a further test set. Where one other set is left, its rows are one set.

    >>> column = Column("split", np.array([0, 1, 2, 1], np.int32), ("train", "val", "test"))
    >>> {role: rows.tolist() for role, rows in rows_of_sets(column).rows.items()}
    {'calibration': [False, True, False, True], 'test': [False, False, True, False]}
    """
    few = _few_texts(column) if by_user or column.is_text else None
    if few is None:
        return None
    codes, texts = few
    named, doubts = _named(column, texts), tuple[str, ...]()
    out = further_sets(texts)
    if by_user and len(texts) == 2 and None in named and "" not in texts:
        named, doubts = _of_two(column.name, texts, named)
    elif by_user:
        out |= {text for text, of in zip(texts, named, strict=True) if of is None}
    out = out if {"calibration", "test"} <= {*named} else set()
    named = ["training" if t in out else of for t, of in zip(texts, named, strict=True)]
    if None in named or len({*named}) < 2:
        return None
    marks: dict[Role, NDArray[np.bool_]] = {
        role: np.array([of == role for of in named], dtype=np.bool_)[codes]
        for role in ("calibration", "test")
    }
    names = {
        set_: [
            plain(t or "blank", _SHOWN) for t, of in zip(texts, named, strict=True) if of == set_
        ]
        for set_ in (*marks, "training")
    }
    used = marks["calibration"] | marks["test"]
    repairs = (*_left_out(column, len(used) - int(used.sum()), names["training"] if out else []),)
    if not names["calibration"] or not names["test"]:
        return Parting({"rows": used}, repairs=repairs, doubts=doubts)
    note = (
        f"Column {quoted(column.name)}: {' and '.join(names['calibration'])} is the calibration"
        f" set, {' and '.join(names['test'])} the test set."
    )
    return Parting(marks, notes=(note,), repairs=repairs, doubts=doubts)


def _left_out(column: Column, n_left: int, listed: Sequence[str]) -> Iterator[str]:
    if n_left:
        rows = f"{'' if listed else 'training '}row{'s' * (n_left > 1)}"
        which = f": {', '.join(listed)}" if listed else ""
        yield f"{n_left:,} {rows} left out by column {quoted(column.name)}{which}."


def _named(column: Column, texts: Sequence[str]) -> list[str | None]:
    """Return which set each cell in use names, beside those of rows that were left out before."""
    own = column.texts or ()
    of = dict(zip(own, terms.sets_of(own), strict=True))
    return [of.get(text) for text in texts]


_OTHER = {"calibration": "test", "test": "calibration", "training": "test"}


def _of_two(
    name: str, texts: Sequence[str], named: Sequence[str | None]
) -> tuple[list[str | None], tuple[str, ...]]:
    """Return the sets of two cells by one of them, by the heading, or in order, which is doubted.

    >>> _of_two("split", ["fold 9", "test"], [None, "test"])
    (['calibration', 'test'], ())
    >>> _of_two("holdout", ["0", "1"], [None, None])
    (['calibration', 'test'], ())
    """
    known, flagged = next(filter(None, named), None), flag_of(name)
    yes = [terms.folded(text) in terms.YES for text in texts]
    if known is not None:
        return [of or _OTHER[known] for of in named], ()
    if flagged is not None and sum(yes) == 1:
        return [flagged if its else _OTHER[flagged] for its in yes], ()
    first, second = sorted(texts, key=by_number)
    doubt = (
        f"Only the order of {quoted(first, 20)} and {quoted(second, 20)} in column {quoted(name)}"
        " says which is the calibration set: the first was taken for it."
    )
    return ["calibration" if text == first else "test" for text in texts], (doubt,)


def flag_of(name: str) -> str | None:
    """Return of which set a column of yes and no says by its name whether rows are in it.

    >>> flag_of("is_test"), flag_of("Holdout"), flag_of("test"), flag_of("is_valid")
    ('test', 'test', None, None)
    """
    words = {*terms.set_words_of(name)}
    own = words - terms.FLAG_WORDS - terms.BESIDE_SETS
    known = terms.FLAGS if words & terms.FLAG_WORDS else terms.SURE_FLAGS
    if len(own) != 1 or not own <= known:
        return None
    role = "training" if is_training(name) else role_of(name)[0]
    return None if role == "rows" else role


def set_columns(table: FileTable, reading: Reading) -> list[Column]:
    """Return the columns that name the sets, first those that are called so."""
    columns = reading.columns_of(table, "set")
    return sorted(columns, key=lambda c: not terms.SET_COLUMNS.intersection(terms.words_of(c.name)))


def rows_in_use(
    table: FileTable, reading: Reading, options: ReadingOptions
) -> tuple[FileTable, tuple[str, ...], str | None]:
    """Return a table without rows of no set, whose cells do not matter."""
    for column in set_columns(table, reading) if options.sets != "one" else ():
        rows = rows_of_sets(column, by_user=(column.name, "set") in options.roles)
        if rows is not None:
            in_sets = np.logical_or.reduce([*rows.rows.values()])
            whole = table if in_sets.all() else table_at(table, np.flatnonzero(in_sets))
            return whole, rows.repairs, column.name
    return table, (), None


def rows_by_set(
    table: FileTable, reading: Reading, options: ReadingOptions, teller: str | None
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
    groups: Sequence[Column], of_sets: Sequence[Column], options: ReadingOptions
) -> tuple[list[str], list[Proposal]]:
    """Return doubts about grouping columns that may name sets but were not followed.

    And what is proposed of those that are followed once the user says so.
    """
    doubts: list[str] = []
    proposals: list[Proposal] = []
    chosen = {name for name, role in options.roles if role == "group"}
    for column in groups if options.sets != "one" else ():
        name = quoted(column.name)
        if column in of_sets:
            doubts.append(f"Column {name} does not say which rows are calibration or test.")
        elif column.name not in chosen and (doubt := _unclear(column)):
            parting = rows_of_sets(column, by_user=True)
            doubts.append(doubt if parting else f"{doubt} Write val, test or train into it.")
            if parting is not None:
                proposals.append(_may_tell(column.name, doubt, parting, options))
    return doubts, proposals


def _may_tell(name: str, doubt: str, parting: Parting, options: ReadingOptions) -> Proposal:
    """Propose that a column tells the sets, as it would then be read."""
    why = " ".join((*parting.notes, *parting.repairs))
    answers = (
        Answer("Calibration / test", why, options.with_roles((name, "set"))),
        Answer("A group", "All rows are one set.", options.with_roles((name, "group"))),
    )
    ask = f"Does {quoted(name, 30)} tell a calibration from a test set?"
    return Proposal(doubt, Question(f"column {quoted(name)}", "may tell two sets", ask, answers))


def _unclear(column: Column) -> str:
    """Return why a column may tell sets that it is not followed in; "" where it is none."""
    flagged = flag_of(column.name)
    called = terms.SET_COLUMNS.intersection(terms.set_words_of(column.name))
    few = _few_texts(column) if flagged or called or column.is_text else None
    if few is None:
        return ""
    codes, kinds = few
    named, name = _named(column, kinds), quoted(column.name)
    if {"calibration", "test"} <= {*named} and None in named:
        n_rows = np.array([of is not None for of in named], dtype=np.bool_)[codes].sum()
        return (
            f"Column {name} names a calibration and a test set in {n_rows:,} of {len(codes):,}"
            " rows, so all rows are one set."
        )
    if len(kinds) == 2 and flagged is not None:
        return (
            f"Column {name} says which rows are {_OF[flagged]}, but was not followed: all rows"
            " are one set."
        )
    if 2 <= len(kinds) <= _FEW and called and (None in named or len({*named}) < 2):
        listed = ", ".join(plain(kind, 20) for kind in kinds)
        return (
            f"Column {name} ({listed}) may tell a calibration from a test set, but does not say"
            " which is which: all rows are one set."
        )
    return ""


def _few_texts(column: Column) -> tuple[Array, tuple[str, ...]] | None:
    """Return the few different cells of a column, and the place of each row's."""
    if column.unread or column.values.ndim != 1:
        return None
    if column.texts is not None:
        codes, texts = in_use(column.values, column.texts)
        return (codes, texts) if len(texts) <= _MOST_TEXTS else None
    values, codes = np.unique(column.values, return_inverse=True)
    return (codes, tuple(f"{v:g}" for v in values.tolist())) if len(values) <= _FEW else None
