"""Which set a name speaks of, and the column that says so of each row."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.recognition import vocabulary as terms
from dashboard.readers.recognition.groups import in_use
from dashboard.readers.recognition.vocabulary import set_of, words_of
from dashboard.readers.records import Column, RawEvent, RawSet, Role, Sentences
from dashboard.readers.refusal import plain, quoted

_SHOWN = 20


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
