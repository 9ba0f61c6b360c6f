"""What is shown of a file beside its numbers: first rows, and columns that both sets have."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from calibcore.binning import round_ranges
from calibcore.data import EventScores, LogitSet, Rows
from calibcore.subgroups import Places, settled_group
from calibcore.validation import Floats
from dashboard.readers.recognition import vocabulary as terms
from dashboard.readers.recognition.groups import FEW_VALUES, NAME, NUMBER_RANGES, ONE_VALUE
from dashboard.readers.recognition.vocabulary import begins, is_owner, key_of, words_of
from dashboard.readers.records import (
    Array,
    ColumnRole,
    ColumnUse,
    Contents,
    FileTable,
    GroupingColumn,
    Preview,
    RawEvent,
    RawSet,
    Reading,
    ReadingOptions,
    Role,
    by_number,
    cell_of,
)
from dashboard.readers.refusal import Answer, Question, percent, plain, quoted, visible

_ROWS, _CLASSES, _COLUMNS, _CELL, _LIKELY = 10, 20, 20, 60, 3
_OUTCOMES, _NUMBERS, _VALUES, _LONG_WORD = 12, 6, 6, 4
_VALUE = 30
_PERIOD = re.compile(r"[12]\d{3}(-\S+)?", re.ASCII)
_IN_COLUMN = re.compile('column "(.*)"', re.DOTALL)
AFTERWARDS = "known only after the outcome"
_USES: dict[ColumnRole, ColumnUse] = {
    "outcome": "label", "score": "score", "class": "class", "prediction": "prediction",
    "correct": "hit", "ranked class": "prediction", "ranked score": "score", "id": "left out",
    "set": "set", "group": "group", "date": "group", "count": "design", "events": "label",
    "weight": "design", "cluster": "design", "left out": "left out",
}  # fmt: skip
_FIRST: tuple[tuple[ColumnRole, ...], ...] = (
    ("outcome",), ("score", "class", "ranked score"), ("prediction", "correct", "ranked class"),
)  # fmt: skip


def uses_of(table: FileTable, reading: Reading) -> dict[str, ColumnUse]:
    """Return what each column was taken for; the only score of an event is a class's."""
    of_top_one = {"prediction", "correct", "ranked class"} & {*reading.roles}
    uses = {c.name: _USES[role] for c, role in zip(table.columns, reading.roles, strict=True)}
    if of_top_one:
        return uses
    return {name: "class" if use == "score" else use for name, use in uses.items()}


def preview_of(table: FileTable, reading: Reading) -> Preview:
    """Return the first rows, what matters standing first; of many classes the first few."""
    groups = [[k for k, role in enumerate(reading.roles) if role in part] for part in _FIRST]
    first = [*chain.from_iterable(part[:_CLASSES] for part in groups)]
    seen = {*chain.from_iterable(groups)}
    rest = [k for k in range(len(table.columns)) if k not in seen]
    order = [*first, *rest[:_COLUMNS]]
    uses = uses_of(table, reading)
    names = [table.columns[k].name for k in order]
    rows = tuple(tuple(visible(row[k], _CELL) for k in order) for row in _cells(table))
    places = np.arange(len(rows)) if table.among is None else np.flatnonzero(table.among)
    return Preview(
        tuple(visible(name, _CELL) for name in names),
        tuple(uses[name] for name in names),
        rows,
        tuple(int(place) + table.first_row for place in places[: len(rows)]),
        roles=tuple(reading.roles[k] for k in order),
        reasons=tuple(reading.reasons[k] for k in order),
    )


def _cells(table: FileTable) -> Sequence[Sequence[str]]:
    """Return the cells of the first rows, as the file has them where that is known."""
    if all(len(row) == len(table.columns) for row in table.shown) and table.shown:
        return table.shown[:_ROWS]
    first = range(min(_ROWS, table.n_rows))
    return [[cell_of(column, k) for column in table.columns] for k in first]


def preview_of_arrays(contents: Contents) -> Preview:
    """Show the first rows of arrays, of many classes the first few."""
    raw = next(iter(contents.sets.values()), None)
    if not isinstance(raw, RawSet):
        return Preview()
    shown: list[tuple[str, ColumnUse, Sequence[object]]] = []
    if raw.table is not None:
        table = raw.table[:, np.newaxis] if raw.table.ndim == 1 else raw.table
        names = raw.headings or raw.class_names or ()
        for k, column in enumerate(table[:_ROWS].T[:_CLASSES]):
            name = names[k] if k < len(names) else f"class {k if raw.table.ndim > 1 else 1}"
            shown.append((name, "class", column.tolist()))
    if raw.labels is not None:
        shown.append(("label", "label", _labels(raw)))
    for column in raw.columns[:_COLUMNS]:
        values = column.values[:_ROWS].tolist()
        texts = column.categories
        cells = values if texts is None else [texts[code] for code in values]
        shown.append((column.name, "group", cells))
    return Preview(
        tuple(visible(name, _CELL) for name, _, _ in shown),
        tuple(use for _, use, _ in shown),
        rows := tuple(
            zip(*([_cell(value) for value in cells] for _, _, cells in shown), strict=True)
        ),
        tuple(range(raw.first_row, raw.first_row + len(rows))),
    )


def which_outcome(
    lacks: tuple[str, str], contents: Contents, options: ReadingOptions
) -> Question | None:
    """Ask which column beside a table without outcomes says what happened; None without any.

    ``lacks``: of what, and which reasons were given. A column that may say so has two values or
    more, and no more than classes or answers; or one and blanks. First comes what words speak for.
    """
    raw, preview = contents.sets.get("rows"), contents.preview or preview_of_arrays(contents)
    if not isinstance(raw, RawSet) or raw.table is None:
        return None
    n_classes = 2 if raw.table.ndim == 1 else raw.table.shape[1]
    values = {column.name: _values_of(column, n_classes) for column in raw.columns}
    scores = set[str]()
    for place, (name, use) in enumerate(zip(preview.headings, preview.uses, strict=True)):
        cells = [row[place] for row in preview.rows]
        why = preview.reasons[place] if preview.reasons else ONE_VALUE
        if preview.roles[place : place + 1] == ("date",):
            values.pop(name, None)
        if use in ("class", "score"):
            scores |= {*words_of(name)}
        if use == "left out" and why == ONE_VALUE and len(different := {*cells}) < len(cells):
            values[name] = tuple(sorted(different))
    by_user = {visible(name, NAME) for name, _ in options.roles}
    full = {visible(name, NAME): name for name in contents.uses}
    likely = [
        name for name, kinds in values.items()
        if len(kinds) > 1 and name in full and name not in by_user
    ]  # fmt: skip
    likely.sort(key=lambda name: (-_speaks_for(name, values[name], scores), len(values[name])))
    if not likely:
        return None
    answers = []
    for name in likely[:_LIKELY]:
        marks = [kind for kind in values[name] if kind]
        change = options.with_roles((full[name], "outcome"))
        why = f"Its values: {', '.join(marks[:_VALUES])}{', ...' * (len(marks) > _VALUES)}."
        if len(marks) == 1:
            change |= {"event": marks[0]}
            why = f"{marks[0]}, or blank where that did not happen."
        answers.append(Answer(f"Take {quoted(name)}", why, change))
    change = options.with_roles(*((full[name], "group") for name in likely))
    none = "The outcomes are in another file, to be added to this one."
    answers.append(Answer("None of these", none, change))
    return Question(*lacks, "Which column says what happened?", tuple(answers))


def _values_of(column: GroupingColumn, n_classes: int) -> tuple[str, ...]:
    """Return the values of a column, none of one with more than an outcome has."""
    if column.categories is not None:
        kinds = tuple(sorted({*column.categories}))
        return kinds if len(kinds) <= max(_OUTCOMES, n_classes) else ()
    known = np.unique(column.values[np.isfinite(column.values)])
    few = len(known) <= max(_NUMBERS, n_classes) and np.array_equal(known, np.rint(known))
    return tuple(f"{value:g}" for value in known.tolist()) if few else ()


def _speaks_for(name: str, kinds: Sequence[str], scores: Collection[str]) -> float:
    """Return how much words speak for an outcome: of the score, the heading and the cells."""
    words, key = words_of(name), key_of(name)
    about = [word for word in words if len(word) >= _LONG_WORD]
    alike = any(one.startswith(word[:_LONG_WORD]) for one in scores for word in about)
    called = key in terms.LABEL_KEYS | terms.WEAK_LABEL_KEYS or terms.LABEL_WORDS & {*words}
    stems = terms.EVENT_STEMS + terms.QUIET_STEMS
    happens = begins(words, terms.EVENT_STEMS) + any(begins(words_of(k), stems) for k in kinds)
    return alike + bool(called) + 0.5 * happens - begins(words, terms.GROUP_STEMS)


def shared_columns(
    columns: Mapping[Role, Sequence[GroupingColumn]],
) -> tuple[dict[str, dict[str, GroupingColumn]], tuple[str, ...]]:
    """Keep the columns that all sets have, with the same categories, and name the others."""
    by_name = {role: {column.name: column for column in part} for role, part in columns.items()}
    shared: dict[str, dict[str, GroupingColumn]] = {role: {} for role in columns}
    left = []
    for name in dict.fromkeys(name for part in by_name.values() for name in part):
        parts = {role: part[name] for role, part in by_name.items() if name in part}
        kinds = {column.categories is None for column in parts.values()}
        if len(parts) < len(by_name) or len(kinds) > 1:
            why = "of another kind in one set" if len(kinds) > 1 else "not in both sets"
            left.append(f"Column {plain(name, 40)} cannot be used for grouping: {why}.")
            continue
        for role, column in _alike(parts).items():
            shared[role][name] = column
    return shared, tuple(left)


def besides_prediction(
    columns: dict[str, dict[str, GroupingColumn]], sets: Mapping[Role, Rows]
) -> tuple[dict[str, dict[str, GroupingColumn]], tuple[str, ...]]:
    """Leave out columns that repeat the predicted class, or whether it is right; name them."""
    tables = [rows for rows in sets.values() if isinstance(rows, LogitSet)]
    right = [rows.hits == 1 for rows in sets.values() if isinstance(rows, EventScores)]
    predicted = [rows.given.argmax(axis=1) for rows in tables]
    right += [best == rows.labels for best, rows in zip(predicted, tables, strict=True)]
    repeats = {"whether the predicted class is right": np.concatenate(right)}
    if predicted:
        repeats["the predicted class"] = np.concatenate(predicted)
    left = {}
    for name in next(iter(columns.values()), {}):
        values = np.concatenate([columns[role][name].values for role in sets])
        for what, known in repeats.items():
            if _one_to_one(values, known):
                left[name] = f"Column {plain(name, 40)} says {what}, so it is no subgroup."
    return {
        role: {name: column for name, column in part.items() if name not in left}
        for role, part in columns.items()
    }, tuple(left.values())


def known_afterwards(
    columns: Mapping[str, Mapping[str, GroupingColumn]],
    sets: Mapping[Role, Rows],
    raw: Mapping[Role, RawSet | RawEvent],
    options: ReadingOptions,
) -> dict[str, str]:
    """Return the columns that follow from the outcome, and a sentence on each.

    All rows of one of their groups have the same outcome, though rows with such scores seldom have
    it; or each group has its outcome. What rows belong to, such as a patient, may always have the
    same one; so may a month of which the outcomes are not known yet, but not every month. A column
    that the user chose to group by is none of them.
    """
    chosen = {visible(name, NAME) for name, role in options.roles if role in ("group", "date")}
    labels = np.concatenate([_outcomes(rows) for rows in sets.values()])

    def score_of(k: int) -> Floats:
        return np.concatenate([_probability(rows, k) for rows in sets.values()])

    sentences = {}
    for name in next(iter(columns.values()), {}):
        if name in chosen or is_owner(words_of(name)):
            continue
        parts = [columns[role][name] for role in sets]
        values = np.concatenate([part.values for part in parts])
        places, groups = _groups_of(replace(parts[0], values=values))
        worst = settled_group(labels, places, score_of, in_time=_is_in_time(parts[0]))
        if worst is not None:
            rows = places == worst
            k = int(labels[np.argmax(rows)])
            n_classes = getattr(next(iter(sets.values())), "n_classes", 2)
            mean = float(score_of(1 if n_classes == 2 else k)[rows].mean())
            members = f"{np.count_nonzero(rows):,} rows with {plain(name, 40)} {groups[worst]}"
            sentences[name] = _of_group(name, members, k, mean, sets, raw)
    return sentences


def without(contents: Contents, names: Sequence[str]) -> Contents:
    """Return contents of which some grouping columns are left out, with what is shown of them."""
    left = {name for name in contents.uses if visible(name, NAME) in names}
    uses = {name: "left out" if name in left else use for name, use in contents.uses.items()}
    preview = contents.preview or preview_of_arrays(contents)
    if preview.roles:
        marks = [name in names for name in preview.headings]
        rows = zip(marks, preview.uses, preview.roles, preview.reasons, strict=True)
        shown = [
            ("left out", "left out", AFTERWARDS) if mark else tuple(row) for mark, *row in rows
        ]
        of_uses, roles, reasons = zip(*shown, strict=True)
        preview = replace(preview, uses=of_uses, roles=roles, reasons=reasons)
    return replace(contents, uses=uses, preview=preview)


def _is_in_time(column: GroupingColumn) -> bool:
    """Return whether a column holds months or years."""
    texts = [text for text in column.categories or () if text]
    return bool(texts) and all(map(_PERIOD.fullmatch, texts))


def _probability(rows: Rows, k: int) -> Floats:
    if isinstance(rows, EventScores):
        return rows.scores if k else 1 - rows.scores
    return rows.probabilities[:, k]


def _groups_of(column: GroupingColumn) -> tuple[Places, list[str]]:
    """Return the group of each row as Subgroups has them, and how rows of each are described."""
    values = column.values
    if column.categories is not None:
        texts = [f"= {plain(text, _VALUE)}" if text else "left blank" for text in column.categories]
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


def _of_group(
    name: str,
    members: str,
    k: int,
    mean: float,
    sets: Mapping[Role, Rows],
    raw: Mapping[Role, RawSet | RawEvent],
) -> str:
    rows, part = next(iter(sets.values())), next(iter(raw.values()))
    outcome, of = "are right" if k else "are wrong", ""
    if isinstance(rows, LogitSet):
        label = (part.label_name if isinstance(part, RawSet) else None) or ""
        value, column = plain(rows.class_names[k], 30), _IN_COLUMN.fullmatch(label)
        outcome = f"have {column[1]} = {value}" if column else f"are of class {value}"
        of = " of that class" if rows.n_classes > 2 else ""
    return (
        f"All {members} {outcome}, though their mean score{of} is {percent(mean)}: it seems to be"
        f" {AFTERWARDS}, so it is not used for subgroups. To use it all the same, set its role to"
        f" Grouping (--column {plain(name, 40)}=group)."
    )


def _outcomes(rows: Rows) -> Array:
    """Return the class of each row; of top predictions, whether they are right."""
    return (rows.labels if isinstance(rows, LogitSet) else rows.hits).astype(np.int64)


def _one_to_one(first: Array, second: Array) -> bool:
    n_kinds = int(np.count_nonzero(np.bincount(second)))
    if len(np.unique(first[:1000])) > n_kinds:  # as of most numbers
        return False
    kinds, places = np.unique(first, return_inverse=True)
    pairs = places.astype(np.int64) * (second.max() + 1) + second
    return 1 < len(kinds) == n_kinds == len(np.unique(pairs))


def _alike(parts: Mapping[Role, GroupingColumn]) -> dict[Role, GroupingColumn]:
    """Count the categories of both sets alike."""
    texts = [column.categories for column in parts.values() if column.categories is not None]
    together = tuple(sorted({text for part in texts for text in part}, key=by_number))
    place = {text: k for k, text in enumerate(together)}
    return {
        role: column
        if column.categories is None or column.categories == together
        else GroupingColumn(
            column.name,
            np.array([place[text] for text in column.categories], dtype=np.int16)[column.values],
            together,
        )
        for role, column in parts.items()
    }


def _labels(raw: RawSet) -> list[object]:
    values = np.atleast_1d(np.asarray(raw.labels))[:_ROWS]
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if raw.label_texts is not None and values.ndim == 1:
        return [raw.label_texts[int(code)] for code in values]
    return [value if values.ndim == 1 else str(value) for value in values.tolist()]


def _cell(value: object) -> str:
    return visible(f"{value:.6g}" if isinstance(value, float) else str(value), _CELL)
