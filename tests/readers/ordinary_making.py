"""How an ordinary table is made: a line of columns to cells that belong together.

A column is written ``heading = kind`` or ``heading = kind:arguments``, columns are parted by " | ".
Scores rise with what happens: each row has a hidden logit, the outcome is drawn from it, and the
score is that logit, sharpened and blurred.
"""

import csv
import io
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.records import ColumnRole

_ROLES: Mapping[str, ColumnRole] = {
    "outcome": "outcome", "score": "score", "percent": "score", "signed": "score",
    "logit": "score", "against": "score", "class": "class", "classpercent": "class",
    "classlogit": "class",
    "other": "class", "otherpercent": "class", "happens": "class", "happenspercent": "class",
    "true": "outcome", "index": "outcome", "pred": "prediction", "conf": "score",
    "confpercent": "score", "correct": "correct", "rank": "ranked class",
    "rankp": "ranked score", "set": "set",
}  # fmt: skip
_PERHAPS: Mapping[str, ColumnRole] = {
    "decision": "prediction", "decided": "prediction", "hit": "correct", "decidedone": "prediction"
}  # fmt: skip
_PEOPLE = (
    "Anna Keller,Marc Dupont,Lucía Ortega,Giulia Conti,Tom Becker,Ewa Nowak,Jean Petit,Ana Reis"
)
_NOTES = (
    "called back", "see letter", "ok", "moved house", "no reply", "second visit", "phone, evening"
)  # fmt: skip


@dataclass(frozen=True)
class Ordinary:
    """A table as somebody would export it, and what a person takes its columns for.

    Parameters
    ----------
    name, text : str
        What it is, and the file.
    roles : mapping of str to ColumnRole
        Of the columns that matter; no other may be the outcome, a score, a class or a rank.
    perhaps : mapping of str to ColumnRole
        Columns that may have this role, or none that matters.
    event : str, optional
        The value of the outcome that the score is of; None where it need not be said.
    ask : bool
        A careful person would ask.
    first : tuple of str
        Columns, or values of the outcome, one of which the first answer should name.
    """

    name: str
    text: str
    roles: Mapping[str, ColumnRole]
    perhaps: Mapping[str, ColumnRole] = field(default_factory=dict)
    event: str | None = None
    ask: bool = False
    first: tuple[str, ...] = ()


class _Rows:
    """What is known of the rows of a table before any cell is written."""

    def __init__(
        self, rng: np.random.Generator, n_rows: int, classes: Sequence[str], weak: float
    ) -> None:
        self.rng, self.n_rows, self.classes = rng, n_rows, list(classes)
        spread, base = rng.uniform(1.1, 2.2), rng.uniform(-1.3, 0.6)
        if weak:
            spread, base = weak, -weak
        hidden = spread * rng.normal(size=n_rows)
        self.happens = rng.random(n_rows) < 1 / (1 + np.exp(-hidden - base))
        over = rng.choice([1.0, 1.0, 1.4, 1.8])
        self.logit = over * (hidden + base) + rng.normal(0, 0.35, n_rows)
        self.logits = rng.normal(0, 1.6, (n_rows, max(len(classes), 2)))
        drawn = self.logits + rng.gumbel(size=self.logits.shape)
        self.true = drawn.argmax(axis=1)
        self.logits = over * self.logits
        self.hidden = hidden / spread
        if classes:
            self.hidden = rng.normal(size=n_rows)
        raised = np.exp(self.logits - self.logits.max(axis=1, keepdims=True))
        self.table = raised / raised.sum(axis=1, keepdims=True)
        self.p = 1 / (1 + np.exp(-self.logit))

    def along(self, weight: float) -> NDArray[np.float64]:
        """Draw standard normals that go with what happens."""
        drawn = self.rng.normal(size=self.n_rows)
        return np.asarray(weight * self.hidden + np.sqrt(1 - weight**2) * drawn)


def _numbers(values: NDArray[Any], digits: int) -> list[str]:
    return [f"{value:.{digits}f}" for value in values]


def _spread(rows: _Rows, args: list[str]) -> list[str]:
    """Numbers between two ends, with decimals, and how much they go with what happens."""
    low, high, digits = float(args[0]), float(args[1]), int(args[2])
    weight = float(args[3]) if len(args) > 3 else 0.15
    share = np.clip(0.5 + rows.along(weight) / 5, 0, 1)
    return _numbers(low + (high - low) * share, digits)


def _amounts(rows: _Rows, args: list[str]) -> list[str]:
    middle, digits = float(args[0]), int(args[1])
    return _numbers(middle * np.exp(0.9 * rows.along(0.15)), digits)


def _blurred(rows: _Rows, args: list[str]) -> list[str]:
    """Another model's probability."""
    logit = rows.logit + rows.rng.normal(0.2, 0.6, rows.n_rows)
    return _numbers(1 / (1 + np.exp(-logit)), _digits(args, 4))


def _dates(rows: _Rows, args: list[str]) -> list[str]:
    start = datetime(2021 + int(rows.rng.integers(3)), 1, 2, 7, 30, tzinfo=UTC)
    minutes = rows.rng.integers(0, 700 * 24 * 60, rows.n_rows)
    times = [start + timedelta(minutes=int(step)) for step in minutes]
    return [time.strftime(",".join(args) or "%Y-%m-%d") for time in times]


def _ids(rows: _Rows, args: list[str]) -> list[str]:
    first = int(rows.rng.integers(1, 90_000))
    steps = np.cumsum(rows.rng.integers(1, 4, rows.n_rows))
    return [(args[0] if args else "%d") % (first + int(step)) for step in steps]


def _picked(rows: _Rows, args: list[str]) -> list[str]:
    weights = rows.rng.uniform(0.4, 1.6, len(args))
    return [str(text) for text in rows.rng.choice(args, rows.n_rows, p=weights / weights.sum())]


def _flags(rows: _Rows, args: list[str]) -> list[str]:
    """Two values that go a little with what happens."""
    up = rows.along(0.25) > rows.rng.uniform(-0.5, 0.9)
    return [args[0] if one else args[1] for one in up]


def _bands(rows: _Rows, args: list[str]) -> list[str]:
    order = rows.p.argsort().argsort() * len(args) // rows.n_rows
    return [args[place] for place in order]


def _chosen(marks: NDArray[Any], args: list[str]) -> list[str]:
    return [args[0] if mark else args[1] for mark in marks]


def _named(rows: _Rows, places: NDArray[Any], args: list[str]) -> list[str]:
    """Write classes by name, or by number from the one that is given."""
    if args:
        return [str(int(place) + int(args[0])) for place in places]
    return [rows.classes[place] for place in places]


def _digits(args: list[str], default: int) -> int:
    return int(args[0]) if args else default


Maker = Callable[[_Rows, list[str]], list[str]]
_KINDS: Mapping[str, Maker] = {
    "id": _ids,
    "n": lambda rows, args: [str(k + _digits(args, 1)) for k in range(rows.n_rows)],
    "hex": lambda rows, _: [f"{rows.rng.integers(2**40):010x}" for _ in range(rows.n_rows)],
    "date": _dates,
    "num": _spread,
    "amount": _amounts,
    "count": lambda rows, args: [str(k) for k in rows.rng.poisson(float(args[0]), rows.n_rows)],
    "pick": _picked,
    "flag": _flags,
    "band": _bands,
    "person": lambda rows, _: _picked(rows, _PEOPLE.split(",")),
    "note": lambda rows, _: _picked(rows, list(_NOTES)),
    "score": lambda rows, args: _numbers(rows.p, _digits(args, 4)),
    "percent": lambda rows, args: _numbers(100 * rows.p, _digits(args, 1)),
    "signed": lambda rows, args: [f"{c}%" for c in _numbers(100 * rows.p, _digits(args, 1))],
    "logit": lambda rows, args: _numbers(rows.logit, _digits(args, 3)),
    "against": lambda rows, args: _numbers(1 - rows.p, _digits(args, 4)),
    "bound": lambda rows, args: _numbers(1 / (1 + np.exp(-rows.logit - float(args[0]))), 4),
    "second": _blurred,
    "points": lambda rows, _: _numbers(620 - 55 * rows.logit + 30 * rows.along(0), 0),
    "other": lambda rows, args: _numbers(1 - np.round(rows.p, _digits(args, 4)), _digits(args, 4)),
    "happens": lambda rows, args: _numbers(rows.p, _digits(args, 4)),
    "otherpercent": lambda rows, _: _numbers(100 - np.round(100 * rows.p, 1), 1),
    "happenspercent": lambda rows, _: _numbers(100 * rows.p, 1),
    "outcome": lambda rows, args: _chosen(rows.happens, args),
    "outcome2": lambda rows, args: _chosen(
        rows.happens ^ (rows.rng.random(rows.n_rows) < 0.15), args
    ),
    "decision": lambda rows, args: _chosen(rows.p > 0.5, args),
    "set": _picked,
    "true": lambda rows, args: _named(rows, rows.true, args),
    "pred": lambda rows, args: _named(rows, rows.logits.argmax(axis=1), args),
    "decided": lambda rows, args: _named(rows, rows.logits.argmax(axis=1), args),
    "conf": lambda rows, args: _numbers(rows.table.max(axis=1), _digits(args, 4)),
    "confpercent": lambda rows, args: _numbers(100 * rows.table.max(axis=1), _digits(args, 1)),
    "top": lambda rows, args: _numbers(rows.table.max(axis=1), _digits(args, 4)),
    "correct": lambda rows, args: _chosen(rows.logits.argmax(axis=1) == rows.true, args),
    "hit": lambda rows, args: _chosen(rows.logits.argmax(axis=1) == rows.true, args),
    "class": lambda rows, args: _numbers(rows.table[:, int(args[0])], 4),
    "classpercent": lambda rows, args: _numbers(100 * rows.table[:, int(args[0])], 2),
    "classlogit": lambda rows, args: _numbers(rows.logits[:, int(args[0])], 3),
    "rank": lambda rows, args: _named(
        rows, (-rows.logits).argsort(axis=1)[:, int(args[0]) - 1], args[1:]
    ),
    "rankp": lambda rows, args: _numbers(-np.sort(-rows.table, axis=1)[:, int(args[0]) - 1], 4),
}
_NUMBERS = frozenset({
    "num", "amount", "score", "percent", "signed", "logit", "against", "bound", "second", "other",
    "happens", "conf",
    "otherpercent", "happenspercent", "confpercent", "top", "class", "classpercent", "classlogit",
    "rankp",
})  # fmt: skip


def _parsed(columns: str, classes: Sequence[str]) -> list[tuple[str, str, list[str]]]:
    """Take a line of columns apart; ``*`` and ``#`` in a heading stand for each class."""
    results: list[tuple[str, str, list[str]]] = []
    for part in columns.split(" | "):
        heading, _, rest = part.rpartition("= ")
        heading = heading.strip()
        kind, _, written = rest.strip().partition(":")
        args = written.split(",") if written else []
        if kind in ("class", "classpercent", "classlogit"):
            start = _digits(args, 0)
            names = [
                heading.replace("*", name).replace("#", str(place + start))
                for place, name in enumerate(classes)
            ]
            results += [(name, kind, [str(place)]) for place, name in enumerate(names)]
        else:
            results.append((heading, kind, args))
    return results


def _spoilt(cells: list[str], text: str, one_in: int, rng: np.random.Generator) -> None:
    """Put a text in place of some cells."""
    for row in rng.choice(len(cells), max(1, len(cells) // one_in), replace=False):
        cells[row] = text


def make_table(
    name: str,
    columns: str,
    n_rows: int,
    *,
    sep: str = ",",
    comma: bool = False,
    classes: str = "",
    odd: str | None = None,
    blanks: str = "",
    ask: str = "",
    event: str | None = None,
    weak: float = 0.0,
) -> Ordinary:
    """Write a table.

    Parameters
    ----------
    name, columns, n_rows
        What it is, its columns, and how many rows.
    sep, comma
        Delimiter, and whether commas mark decimals.
    classes : str
        Names of the classes, parted by commas.
    odd : str, optional
        What stands in about two of hundred cells of the scores and the outcome.
    blanks : str
        Heading of a column of which a twentieth is blank.
    ask : str
        Columns or values, parted by "|", one of which the first answer should name.
    event : str, optional
        The event, where it is not the first value of the outcome.
    weak : float
        Where it is set, how far the scores spread; the event is rarer than its opposite by it.
    """
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    names = classes.split(",") if classes else []
    rows, parsed = _Rows(rng, n_rows, names, weak), _parsed(columns, names)
    cells: list[list[str]] = []
    roles: dict[str, ColumnRole] = {}
    for heading, kind, args in parsed:
        written = _KINDS[kind](rows, args)
        if comma and kind in _NUMBERS:
            written = [cell.replace(".", ",") for cell in written]
        if kind in _ROLES:
            roles[heading] = _ROLES[kind]
        if odd is not None and roles.get(heading) in ("outcome", "score", "class"):
            _spoilt(written, odd, 60, rng)
        if heading == blanks:
            _spoilt(written, "", 20, rng)
        cells.append(written)
        if kind == "outcome" and event is None:
            event = args[0]
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=sep, lineterminator="\n")
    writer.writerow(heading for heading, _, _ in parsed)
    writer.writerows(zip(*cells, strict=True))
    perhaps = {heading: _PERHAPS[kind] for heading, kind, _ in parsed if kind in _PERHAPS}
    if "class" in roles.values():
        event = None
    first = tuple(ask.split("|")) if ask else ()
    return Ordinary(name, buffer.getvalue(), roles, perhaps, event, bool(ask), first)
